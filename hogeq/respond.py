"""Best responses, and the interval in which the exploitability of a strategy lies.

Under imperfect recall a best response is NP-hard to find, so two numbers are given.  The *attack*
is the win rate of the best counter-matrix found, a true lower bound on what a best response wins.
The *bound* is the win rate of a responder that keeps full memory, one backward induction, a true
upper bound.  Without hidden memory both are the same.
"""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hogeq.evaluate import counterfactual_values, pair, policy_of, quick_workspace, shared_workspace
from hogeq.executor import compute
from hogeq.game import Game
from hogeq.kernels import passes
from hogeq.limits import check
from hogeq.workspace import Workspace

Floats = NDArray[np.float64]
Matrix = NDArray[np.int8]

COOLING = (0.1, 1e-4)  # temperatures of the softmax responder, in win probability
LUKEWARM = 5e-3  # first temperature of a start from the strategy itself
KICK = (0.01, 0.3)  # shares of the cells: few pay in large games, many in small ones
SWEEP_LIMIT = 1000  # coordinate ascent has always ended in fewer than 60
ROUNDING = 1e-6  # in win probability; single precision errs by a tenth of it


@dataclass(frozen=True)
class Effort:
    """How hard to search for a counter-matrix.

    Attributes
    ----------
    starts : int
        Independent starts; the first is the uniform policy, the others are random.
    anneal_steps : int
        Steps of the softmax responder while its temperature falls from 0.1 to 0.0001.
    damping : float
        Share of the way to the softmax that a step goes, above 0 to 1.
    kicks : int
        Rounds of iterated local search after the ascent: 1 to 30 % of the cells are changed at
        random, the ascent is repeated, and the better matrix is kept.  Close to equilibrium they
        find what no number of starts does.
    seed : int
        Of the random starts and kicks.
    jobs : int
        Threads, where no workers are chosen (`hogeq.executor`).  The result does not depend on it.
    """

    starts: int = 4
    anneal_steps: int = 60
    damping: float = 0.5
    kicks: int = 0
    seed: int = 0
    jobs: int = 1

    def __post_init__(self) -> None:
        """Refuse what is no effort."""
        check(self, "starts", "jobs", whole=True, least=1)
        check(self, "anneal_steps", "kicks", whole=True, least=0)
        check(self, "damping", above=0, most=1)


class Attack(NamedTuple):
    """The strongest counter-matrix found."""

    matrix: Matrix
    """(G, G)"""
    win_rate: float
    """Its exact win rate against the strategy attacked."""
    starts: int
    """Independent starts that were tried."""
    sweeps: int
    """Passes of annealing and ascent over the whole table, all starts together."""
    found: tuple[float, ...]
    """Win rate that each start ended with."""


class Interval(NamedTuple):
    """Between these the win rate of a best response lies."""

    attack: float
    bound: float
    effort: Effort


class Gains(NamedTuple):
    """Where a counter-strategy leaves what it counters, and what each cell is worth."""

    usual: Matrix
    """(G, G), most probable roll of the strategy countered, the lower on ties."""
    gains: Floats
    """(G, G), win rate that would be lost by rolling the usual dice at this cell alone."""
    reach: Floats
    """(G, G), probability that the counter-strategy comes to move there."""


def attack(game: Game, strategy: ArrayLike, effort: Effort | None = None) -> Attack:
    """Search for the matrix that wins most against a strategy.

    From every start a softmax responder is annealed, then each cell in turn is set to its best
    roll until none improves.  A responder's action values are weighted by the reach of each hidden
    state under its own play, so every step of the ascent is exact: going backward over the cells,
    what lies before a cell keeps its reach and what lies behind it has its new values.  A strategy
    wins half of the games against itself: if the first start ends with less, another ascent begins
    there, so that no attack does.

    Parameters
    ----------
    game : Game
    strategy : array_like
        A matrix (G, G) or a policy (G, G, K).
    effort : Effort, optional

    Returns
    -------
    Attack
        Never worse with more starts.

    Raises
    ------
    ValueError
        If the strategy is malformed.
    """
    effort = effort or Effort()
    target = policy_of(game, strategy)
    found = compute(
        partial(_search, game, target, effort),
        range(effort.starts),
        min(effort.jobs, effort.starts),
    )
    matrix, win_rate, _ = max(found, key=lambda one: one[1])
    total = sum(sweeps for _, _, sweeps in found)
    if found[0][1] < 0.5:
        mirror = np.stack([target, target])
        rate, sweeps = climb(game, mirror)
        total += sweeps
        if rate > win_rate:
            matrix, win_rate = mirror[0].argmax(axis=-1).astype(np.int8), rate
    return Attack(matrix, win_rate, effort.starts, total, tuple(rate for _, rate, _ in found))


def full_memory_bound(game: Game, strategy: ArrayLike) -> float:
    """Win rate of the best responder that remembers everything, an upper bound on any attack.

    Parameters
    ----------
    game : Game
    strategy : array_like
        A matrix (G, G) or a policy (G, G, K).

    Returns
    -------
    float
    """
    policy = policy_of(game, strategy)
    return game.workspace(2).win_rate(np.stack([policy, policy]), passes.REMEMBER).win_rate


def gains(game: Game, counter: ArrayLike, strategy: ArrayLike) -> Gains:
    """Exact gain of every cell of a counter-strategy over the rolls of what it counters.

    A win rate is linear in each cell, so a cell's gain is the difference of two of its
    counterfactual values.  Gains of several cells do not add up: each counts with the others as
    they are.  Where positions can recur a cell may be met twice, and the gain is so to first order.

    Parameters
    ----------
    game : Game
    counter, strategy : array_like
        Each a matrix (G, G) or a policy (G, G, K).

    Returns
    -------
    Gains

    Raises
    ------
    ValueError
        If a strategy is malformed.
    """
    policies = pair(game, counter, strategy)
    found = counterfactual_values(game.workspace(2), policies)
    usual = policies[1].argmax(axis=2)
    as_usual = np.take_along_axis(found.values, usual[..., None], axis=2)[..., 0]
    won = (found.values * policies[0]).sum(axis=2)
    same = np.take_along_axis(policies[0], usual[..., None], axis=2)[..., 0] == 1.0
    return Gains(usual.astype(np.int8), np.where(same, 0.0, won - as_usual), found.mass)


def exploitability(game: Game, strategy: ArrayLike, effort: Effort | None = None) -> Interval:
    """Interval in which the win rate of a best response to a strategy lies."""
    effort = effort or Effort()
    return Interval(
        attack(game, strategy, effort).win_rate, full_memory_bound(game, strategy), effort
    )


def ascend(
    work: Workspace, policies: Floats, limit: int = SWEEP_LIMIT, least_gain: float = -1.0
) -> tuple[float, int]:
    """Coordinate ascent of player 0 to a matrix that no change of one cell improves.

    Parameters
    ----------
    work : Workspace
        Of two players.
    policies : float64 (2, G, G, K)
        Row 0 is rewritten; it may be mixed to begin with.
    limit : int
        Most sweeps over the table.
    least_gain : float
        A sweep that gains less, in win probability, is the last; rounding alone can lose some.

    Returns
    -------
    tuple of float, int
        Win rate, and sweeps over the table.
    """
    sweeps, changes, rate, gain = 0, -1, -1.0, 1.0
    while changes != 0 and sweeps < limit and gain >= least_gain:
        work.forward(policies)
        first, other, changes = work.backward(policies, passes.GREEDY)
        sweeps += 1
        now = (first + 1.0 - other) / 2.0
        rate, gain = now, now - rate
    return rate, sweeps


def climb(game: Game, policies: Floats, at_least: float = 0.0) -> tuple[float, int]:
    """:func:`ascend` to the end, in single precision as far as that leads and then in double.

    Parameters
    ----------
    game : Game
    policies : float64 (2, G, G, K)
        Row 0 is rewritten.
    at_least : float
        If the single-precision part ends at less, that is the end.

    Returns
    -------
    tuple of float, int
        Win rate, and sweeps over the table.
    """
    rate, sweeps = ascend(quick_workspace(game, 2), policies, least_gain=ROUNDING)
    if rate < at_least - ROUNDING:
        return rate, sweeps
    rate, more = ascend(shared_workspace(game, 2), policies)
    return rate, sweeps + more


def anneal(
    game: Game,
    policies: Floats,
    steps: int,
    damping: float,
    cooling: tuple[float, float] = COOLING,
) -> None:
    """Cool a softmax responder, player 0, against player 1; its policy is rewritten.

    What comes of it is where an ascent begins, and need not be exact.
    """
    work = quick_workspace(game, 2)
    for temperature in np.geomspace(*cooling, steps):
        work.forward(policies)
        work.backward(policies, passes.SOFTEN, temperature=temperature, damping=damping)


def _search(game: Game, target: Floats, effort: Effort, start: int) -> tuple[Matrix, float, int]:
    random = np.random.default_rng([effort.seed, start])
    begun, cooling = beginning(target, start, random)
    policies = np.stack([begun, target])
    anneal(game, policies, effort.anneal_steps, effort.damping, cooling)
    harden(policies[0])
    rate, sweeps = climb(game, policies)
    best = policies[0].copy()
    for _ in range(effort.kicks):
        policies[0] = best
        kick(policies[0], random)
        again, more = climb(game, policies, rate)
        sweeps += more
        if again > rate:
            rate, best = again, policies[0].copy()
    return best.argmax(axis=-1).astype(np.int8), rate, sweeps + effort.anneal_steps


def beginning(
    target: Floats, start: int, random: np.random.Generator
) -> tuple[Floats, tuple[float, float]]:
    """Where a responder starts, by the number of the start, and between which temperatures.

    Far from equilibrium the best counters are found from hot and uniform, close to it from the
    strategy attacked itself, hardly warmed: neither finds what the other does.

    Returns
    -------
    tuple of float64 (G, G, K), (float, float)
        Policy, first and last temperature.
    """
    if start == 0:
        return np.full_like(target, 1.0 / target.shape[-1]), COOLING
    if start == 1:
        return target.copy(), (LUKEWARM, COOLING[1])
    noise = random.dirichlet(np.ones(target.shape[-1]), target.shape[:-1])
    if start % 2 == 0:
        hot = float(np.exp(random.uniform(*np.log([0.1 * COOLING[0], COOLING[0]]))))
        return noise, (hot, COOLING[1])
    share = random.uniform(0.5, 1.0)
    blend = share * target + (1.0 - share) * noise
    hot = float(np.exp(random.uniform(*np.log([0.4 * LUKEWARM, 4.0 * LUKEWARM]))))
    return blend, (hot, COOLING[1])


def harden(policy: Floats) -> None:
    """Put all probability of every row on its most probable roll."""
    best = policy.argmax(axis=-1)
    policy[:] = 0.0
    np.put_along_axis(policy, best[..., None], 1.0, axis=-1)


def kick(policy: Floats, random: np.random.Generator) -> None:
    """Put random rolls into a share of all cells, log-uniform between those of `KICK`."""
    cells = policy.shape[:-1]
    share = np.exp(random.uniform(*np.log(KICK)))
    chosen = random.random(cells) < share
    rolls = random.integers(policy.shape[-1], size=cells)[chosen]
    policy[chosen] = np.eye(policy.shape[-1])[rolls]
