"""Search for a best response to a strategy: the attack.

Under imperfect recall a best response is NP-hard to find, so it is searched for. The win rate of
the best counter-matrix found is a true lower bound on what a best response wins;
:mod:`hogeq.response.bounds` has the upper bound and the interval between the two.
"""

from functools import partial
from itertools import count
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field

from hogeq.model.game import Game
from hogeq.response.moves import climb, ith_start, perturb, respond, to_matrix
from hogeq.strategies.policies import policy_of
from hogeq.support.aliases import Floats, Matrix
from hogeq.support.parameters import Count, Natural, PositiveShare, Seed, parameters
from hogeq.support.progress import Phase, phase
from hogeq.support.workers import compute

ASCENT = 6
"""Steps of annealing that take about as long as an ascent; for the progress that is shown."""


@parameters
class SearchBudget:
    """Search budget: how many starts, steps and perturbations a search for a response gets.

    Attributes
    ----------
    starts : int
        Independent starts; the first is the uniform policy, the others are random.
    anneal_steps : int
        Steps of the softmax responder while its temperature falls from 0.1 to 0.0001.
    damping : float
        Share of the way to the softmax that a step goes, above 0 to 1.
    perturbations : int
        Rounds of iterated local search after the ascent: 1 to 30 % of the cells are changed at
        random, the ascent is repeated, and the better matrix is kept. Close to equilibrium this
        finds counters that no number of starts does. Config files and the command line call it
        `kicks`.
    seed : int
        Seed of the random starts and perturbations.

    Examples
    --------
    >>> SearchBudget(starts=16, perturbations=100).anneal_steps
    60
    """

    starts: Count = 4
    anneal_steps: Natural = 60
    damping: PositiveShare = 0.5
    perturbations: Annotated[Natural, Field(alias="kicks")] = 0
    seed: Seed = 0


class ResponseFound(NamedTuple):
    """The strongest counter-matrix found.

    Examples
    --------
    >>> import hogeq
    >>> rules = hogeq.rules_from({"edition": "su20", "goal": 20, "max_dice": 4})
    >>> game = hogeq.compile_game(rules)
    >>> three = hogeq.builtin("always_roll:3", game)
    >>> found = hogeq.attack(game, three, hogeq.SearchBudget(starts=2))
    >>> found.matrix.shape, len(found.found)
    ((20, 20), 2)
    """

    matrix: Matrix
    """(G, G)"""
    win_rate: float
    """Its exact win rate against the strategy attacked."""
    budget: SearchBudget
    """Budget of the search."""
    sweeps: int
    """Sweeps over the whole table, annealing and ascent, summed over the starts."""
    found: tuple[float, ...]
    """Win rate that each start ended with."""


def attack(game: Game, strategy: ArrayLike, budget: SearchBudget | None = None) -> ResponseFound:
    """Search for the matrix that wins most against a strategy.

    From every start a softmax responder is annealed, then each cell in turn is set to its best
    roll until no change of one cell improves. Action values are weighted by the reach of each
    hidden state under the responder's own play. The ascent goes backward over the cells: the reach
    of a cell depends on cells not yet changed, its values on cells already changed, so every step
    is exact. A strategy wins half of the games against itself: if the first start ends below 1/2,
    another ascent starts from the strategy itself, so that no attack wins less.

    Parameters
    ----------
    game : Game
    strategy : array_like
        A matrix (G, G) or a policy (G, G, K).
    budget : SearchBudget, optional

    Returns
    -------
    ResponseFound
        With more starts its win rate is never lower.

    Raises
    ------
    ValueError
        If the strategy is malformed.

    Examples
    --------
    >>> import hogeq
    >>> rules = hogeq.rules_from({"edition": "su20", "goal": 20, "max_dice": 4})
    >>> game = hogeq.compile_game(rules)
    >>> three = hogeq.builtin("always_roll:3", game)
    >>> found = hogeq.attack(game, three)
    >>> round(found.win_rate, 4)
    0.6974
    >>> abs(hogeq.win_rate(game, found.matrix, three).win_rate - found.win_rate) < 1e-12
    True
    """
    budget = budget or SearchBudget()
    target = policy_of(game, strategy)
    steps = search_steps(budget)
    with phase("attack", budget.starts * steps) as told:
        found = compute(
            partial(_search, game, target, budget, told),
            range(budget.starts),
            lambda start: told.reach((start + 1) * steps),
        )
    matrix, win_rate, _ = max(found, key=lambda one: one[1])
    total = sum(sweeps for _, _, sweeps in found)
    if found[0][1] < 0.5:
        mirror = np.stack([target, target])
        rate, sweeps = climb(game, mirror)
        total += sweeps
        if rate > win_rate:
            matrix, win_rate = to_matrix(mirror[0]), rate
    return ResponseFound(matrix, win_rate, budget, total, tuple(rate for _, rate, _ in found))


def search_steps(budget: SearchBudget) -> int:
    """Count the steps of one start, as its progress is shown."""
    return budget.anneal_steps + ASCENT * (1 + budget.perturbations)


def _search(
    game: Game, target: Floats, budget: SearchBudget, told: Phase, start: int
) -> tuple[Matrix, float, int]:
    which = f"start {start + 1} of {budget.starts}"
    annealed = count(1)

    def report() -> None:
        told.step(1, f"{which}, annealing {next(annealed)}/{steps}")

    random = np.random.default_rng([budget.seed, start])
    first, cooling = ith_start(game, target, start, random)
    policies = np.stack([first, target])
    steps, damping = budget.anneal_steps, budget.damping
    rate, sweeps = respond(game, policies, steps, damping, cooling, progress=report)
    told.step(ASCENT)
    told.found(rate)
    best = policies[0].copy()
    for kick in range(1, budget.perturbations + 1):
        policies[0] = best
        perturb(policies[0], random)
        again, more = climb(game, policies, rate)
        sweeps += more
        if again > rate:
            rate, best = again, policies[0].copy()
            told.found(rate)
        told.step(ASCENT, f"{which}, kick {kick}/{budget.perturbations}")
    return to_matrix(best), rate, sweeps + budget.anneal_steps
