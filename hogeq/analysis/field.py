"""One strategy against a whole field: the one that wins most, and the gains of its changes.

A player meets one rival and does not know which, so the value of a roll is the mean of its
counterfactual values against the rivals. Annealing and ascent change all cells at once, unlike
those against a single rival (:mod:`hogeq.search.ascent`). So a step of the ascent that does not
raise the objective is halved, down to the one cell that gains most.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from math import inf
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.analysis.tournament import WIN, WinRates
from hogeq.model.game import HogEngine
from hogeq.model.rows import improvable
from hogeq.search.ascent import random_policy, with_random_rolls
from hogeq.search.attack import search_steps
from hogeq.search.counter_search import PROGRESS_OF_ASCENT
from hogeq.search.population import Measured, Population
from hogeq.search.results import Budget
from hogeq.strategies.arrays import StrategyError, likeliest, one_hot
from hogeq.strategies.conversion import StrategyLike, strategy_of, table_of
from hogeq.support.aliases import Floats, Matrix
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.support.messages import HogeqError, percent, shown
from hogeq.support.progress import Phase, phase

Objective = Literal["mean", "beaten"]

STEP_LIMIT: Final = 1000  # steps of an ascent; every ascent so far took fewer than 100
PERTURBED_SHARE: Final = 0.03  # share of the cells that a perturbation changes
MAX_TARGETS: Final = 8  # rivals not yet beaten that are tried one by one
WIN_EDGES: Final = (0.03, 0.01, 0.003, 0.001)  # widths of the smooth step at a win, used in turn


Score = Callable[[Floats], tuple[float, Floats]]
"""Score of win rates (n,) against the rivals, the greater the better, and its gradient."""


def mean_wins(rates: Floats) -> tuple[float, Floats]:
    """Score by the mean win rate."""
    return float(rates.mean()), np.full(len(rates), 1.0 / len(rates))


def smooth_wins(width: float, rates: Floats) -> tuple[float, Floats]:
    """Score by the share of rivals beaten, a win being a smooth step of this width."""
    wins = _smooth_step(rates, width)
    return float(wins.mean()), wins * (1.0 - wins) / (width * len(rates))


def shortfall(target: NDArray[np.bool_], width: float, rates: Floats) -> tuple[float, Floats]:
    """Score by minus the sum of what the win rates against some rivals lack to a win.

    `target` (n,) marks the rivals. The kink at a win is smoothed over the given width.
    """
    missing = np.logaddexp(0.0, (WIN - rates[target]) / width)  # a smooth max(0, x)
    gradient = np.where(target, 1.0 - _smooth_step(rates, width), 0.0)
    return -width * float(missing.sum()), gradient


def _smooth_step(rates: Floats, width: float) -> Floats:
    """Rise from 0 to 1 at a win, as the logistic function does."""
    return 0.5 + 0.5 * np.tanh((rates - WIN) / (2.0 * width))


class Answer(NamedTuple):
    """Best strategy found against a field, with its exact win rates."""

    strategy: NDArray[np.int8] | Floats  # (G, G), or (G, G, K) where a policy was asked for
    win_rates: Floats  # (n,), against every rival; NaN if there was no time to play them

    @property
    def mean(self) -> float:
        """Mean win rate."""
        return float(self.win_rates.mean())

    @property
    def beaten(self) -> int:
        """Number of matches won, by a win rate above 0.500001 by more than rounding."""
        return int(self.is_won.sum())

    @property
    def is_won(self) -> NDArray[np.bool_]:
        """Whether it wins the match against each rival, (n,): the rule of :func:`hogeq.rank`."""
        return np.asarray(WinRates.is_above(self.win_rates, WIN))

    def to_json(self) -> dict[str, Any]:
        """Return the win rates as plain values, without the strategy."""
        return {"win_rates": self.win_rates.tolist(), "mean": self.mean, "beaten": self.beaten}

    def rows(self, names: Sequence[str]) -> list[tuple[str, str, str]]:
        """Lay out the win rates against the rivals of these names."""
        rows = [
            (name, percent(rate), "beaten" if is_won else "")
            for name, rate, is_won in zip(
                names, self.win_rates.tolist(), self.is_won.tolist(), strict=True
            )
        ]
        return [*rows, ("mean", percent(self.mean), f"{self.beaten} of {len(rows)} beaten")]

    def rank(self, objective: Objective) -> tuple[float, ...]:
        """Give the key by which answers are compared: higher is better."""
        return (self.mean,) if objective == "mean" else (self.beaten, self.mean)


class Field(Population):
    """Population of all that the n rivals may play, components of mixtures by their weights."""

    def __init__(self, game: HogEngine, rivals: Sequence[StrategyLike]) -> None:
        """List all policies that the rivals may play, and which belong to which rival."""
        if not len(rivals):
            raise HogeqError("field: 0 strategies; allowed: 1 or more")
        strategies = [strategy_of(game, rival) for rival in rivals]
        policies = [policy for strategy in strategies for policy in strategy.policies]
        super().__init__(game, policies)
        self.weights = np.full(len(rivals), 1.0 / len(rivals))
        # Row i of the matrix has the chances of the policies of rival i, and 0 for other policies.
        owners = np.repeat(np.arange(len(rivals)), [len(one.chances) for one in strategies])
        chances = np.concatenate([strategy.chances for strategy in strategies])
        self.shares = one_hot(owners, len(rivals)).T * chances  # (n, policies)

    def rates_of(self, policy: Floats, deadline: Deadline = FOREVER) -> Floats:
        """Exact win rate of a policy (G, G, K) against every rival, float64 (n,).

        Raises `TimeoutError` if the time does not suffice for all.
        """
        return self.shares @ super().rates_of(policy, deadline)

    def measure(
        self, policy: Floats, weights: Floats | None = None, deadline: Deadline = FOREVER
    ) -> Measured:
        """Counterfactual values and reach of a policy against the rivals, by weights (n,)."""
        rival_weights = self.weights if weights is None else weights
        measured = super().measure(policy, rival_weights @ self.shares, deadline)
        return measured._replace(rates=self.shares @ measured.rates)

    def answer(self, strategy: Matrix | Floats) -> Answer:
        """Judge a valid strategy, a matrix or a policy."""
        return Answer(strategy, self.rates_of(strategy_of(self.game, strategy).policy))


def answer_field(
    game: HogEngine,
    rivals: Sequence[StrategyLike],
    objective: Objective = "mean",
    budget: Budget | None = None,
) -> Answer:
    """Search for the matrix with the best mean win rate, or for the one that beats most rivals.

    `objective` is "mean" or "beaten". The result is the best of `budget.starts` searches.
    """
    if objective not in {"mean", "beaten"}:
        raise HogeqError(f"objective: {shown(objective)}; allowed: mean, beaten")
    budget = budget or Budget(kicks=0)
    field = Field(game, rivals)
    answers: list[Answer] = []
    with phase("field", budget.starts * search_steps(budget)) as progress:
        for start in range(budget.starts):
            answers.append(_search(field, objective, budget, progress, start))
            best = _best(answers, objective)
            beaten = f"{best.beaten} of {len(rivals)} beaten"
            progress.measured(f"best {percent(best.mean)}, {beaten}")
    return best


def _search(
    field: Field, objective: Objective, budget: Budget, progress: Phase, start: int
) -> Answer:
    """Search from one start by iterated local search.

    1. Anneal a policy against the rivals: the uniform one at start 0, then random ones.
    2. Take the likeliest roll of every cell, and ascend from this matrix.
    3. `budget.kicks` times: perturb the best matrix, and ascend again.
    """
    game = field.game
    random = np.random.default_rng([budget.seed, start])
    policy = np.full(game.shape, 1.0 / game.num_actions)
    weights = field.weights
    if start > 0:
        policy = random_policy(game, random)
        if objective == "beaten":
            # Who can be beaten together is not known: each start leans to some of the rivals.
            weights = random.dirichlet(np.ones(len(weights)))
    start_text = f"start {start + 1} of {budget.starts}"
    progress.now(f"{start_text}, annealing")
    field.anneal(
        policy, budget.anneal_steps, budget.damping, weights=weights, progress=progress.step
    )
    progress.now(f"{start_text}, ascent")
    best = _climb(field, likeliest(policy), objective)
    progress.step(PROGRESS_OF_ASCENT)
    for perturbation in range(1, budget.kicks + 1):
        best_matrix = np.array(best.strategy, np.int8)
        perturbed = with_random_rolls(best_matrix, PERTURBED_SHARE, game.num_actions, random)
        answer = _climb(field, perturbed, objective)
        best = _best([best, answer], objective)
        progress.step(PROGRESS_OF_ASCENT, f"{start_text}, kick {perturbation}/{budget.kicks}")
    return best


def _climb(field: Field, matrix: Matrix, objective: Objective) -> Answer:
    """Ascend from a matrix (G, G), changed in place; return the best answer on the way.

    For "mean" the score is the mean win rate. "beaten" counts wins, which has no gradient, so:

    1. Ascend by smoothed shares of rivals beaten, whose steps get ever sharper.
    2. For the rivals that are nearest to being beaten, one by one, ascend by the shortfall against
       this rival and all rivals beaten so far.
    3. Ascend by the mean win rate.
    """
    best = field.answer(matrix.copy())
    if objective == "mean":
        return _best([best, *ascend(field, matrix, mean_wins)], objective)
    for width in WIN_EDGES:
        best = _best([best, *ascend(field, matrix, partial(smooth_wins, width))], objective)
    nearest_first = np.argsort(-best.win_rates)
    unbeaten = nearest_first[~best.is_won[nearest_first]]
    for rival in unbeaten[:MAX_TARGETS]:
        target = best.is_won
        target[rival] = True
        score = partial(shortfall, target, WIN_EDGES[1])
        ascent = ascend(field, np.array(best.strategy, np.int8), score)
        best = _best([best, *ascent], objective)
    ascent = ascend(field, np.array(best.strategy, np.int8), mean_wins)
    return _best([best, *ascent], objective)


def _best(answers: Iterable[Answer], objective: Objective) -> Answer:
    """Give the best of some answers by the objective, of equals the first."""
    return max(answers, key=lambda answer: answer.rank(objective))


def ascend(
    field: Field,
    matrix: Matrix,
    score: Score,
    max_cells: int | None = None,
    deadline: Deadline = FOREVER,
    rates: Floats | None = None,
) -> Iterator[Answer]:
    """Raise a score step by step until no step raises it; yield the answer after each step.

    1. Order the cells by what their best roll gains to first order, by the score's gradient.
    2. Change the first of them to their best rolls: twice as many cells as in the last step, at
       most `max_cells`.
    3. While the score does not rise, change half as many. Stop if not even one cell raises it.

    A step costs one counterfactual evaluation, and one of win rates for each size tried. None is
    begun if less time is left than the longest so far took, and one that the end of the time cuts
    short does not count. `matrix` (G, G) is changed in place; `rates`, (n,), are its win rates, if
    the time spent so far was for them.
    """
    num_actions = field.game.num_actions
    begun = 0.0
    if rates is None:
        begun = deadline.spent
        rates = field.rates_of(one_hot(matrix, num_actions))
    # Seconds of a step; of the first it is known that it computes such win rates, and more.
    longest = deadline.spent - begun
    step_size = matrix.size  # number of cells
    for _ in range(STEP_LIMIT):
        begun = deadline.spent
        if deadline.left < longest:
            return
        current_score, weights = score(rates)
        policy = one_hot(matrix, num_actions)
        try:
            measured = field.measure(policy, weights, deadline)
        except TimeoutError:
            return
        cells = improvable(policy, measured.values, measured.infoset_reach)
        best_actions = measured.values.argmax(axis=2).astype(np.int8).ravel()
        step_size = min(2 * step_size, len(cells), max_cells or matrix.size)
        while step_size > 0:
            changed = matrix.copy()
            changed.ravel()[cells[:step_size]] = best_actions[cells[:step_size]]
            try:
                changed_rates = field.rates_of(one_hot(changed, num_actions), deadline)
            except TimeoutError:
                return
            if score(changed_rates)[0] > current_score:
                break
            step_size //= 2
        if step_size == 0:
            return
        matrix[...] = changed
        rates = changed_rates
        longest = max(longest, deadline.spent - begun)
        yield Answer(changed, rates)


def improvements(
    game: HogEngine,
    table: StrategyLike,
    against: Sequence[StrategyLike],
    cells: int | None = None,
    seconds: float | None = None,
) -> Iterator[Answer]:
    """Improve a table step by step, so that it wins more on average against some opponents.

    Yields the table itself first, and then after each step a better one. With `cells` a step
    changes one cell, the one that gains most (to first order, where positions recur), and at most
    `cells` of them change in all. With `seconds` no step is begun that would end later, if it took
    as long as the longest before it; the time is looked at between opponents, too. If it does not
    suffice to play the table itself against all of them, its win rates are NaN.
    """
    deadline = Deadline(inf if seconds is None else seconds)
    start = matrix_of(game, table)
    field = Field(game, [table_of(game, rival) for rival in against])
    try:
        rates = field.rates_of(one_hot(start, game.num_actions), deadline)
    except TimeoutError:
        yield Answer(start, np.full(len(against), np.nan))
        return
    yield Answer(start, rates)
    cells_of_step = None if cells is None else 1
    for answer in ascend(field, start.copy(), mean_wins, cells_of_step, deadline, rates):
        num_changed = int((np.asarray(answer.strategy) != start).sum())
        if cells is not None and num_changed > cells:
            return
        yield answer


def matrix_of(game: HogEngine, strategy: StrategyLike) -> Matrix:
    """Give the actions (G, G) of a strategy, which has to be a matrix."""
    table = table_of(game, strategy)
    if table.kind != "matrix":
        raise StrategyError(f"strategy: is a {table.kind}; allowed: a matrix, one roll a position")
    return np.array(table.array, np.int8)
