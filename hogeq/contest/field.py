"""One strategy against a whole field: the one that wins most, and what that costs in safety.

A player meets one rival and does not know which, so the value of a roll is the mean of its
counterfactual values against the rivals. Annealing and ascent change all cells at once, unlike
those against a single rival (:mod:`hogeq.search.ascent`). So a step of the ascent that does not
raise the objective is halved, down to the one cell that gains most.

Safety is gained as in Johanson, Zinkevich and Bowling (2007), "Computing robust
counter-strategies": in the restricted game a share of the opponents plays as the field does, and
the others are free to exploit. Regret matching stands in for the equilibrium of that game, which
under imperfect recall no method is known to find; attacks judge the result.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hogeq.contest.tournament import WIN
from hogeq.evaluation.counterfactual import counterfactual_values
from hogeq.model.game import HogEngine
from hogeq.model.workspace import TIE
from hogeq.search.ascent import random_policy, to_matrix, with_random_rolls
from hogeq.search.attack import SearchBudget, attack, search_steps
from hogeq.search.bounds import full_memory_bound
from hogeq.search.counter_search import ASCENT
from hogeq.search.population import Measured, Population
from hogeq.strategies.arrays import match_regrets, normalised, one_hot
from hogeq.strategies.strategy import StrategyLike, policy_of, strategy_of
from hogeq.support.aliases import Floats, Matrix
from hogeq.support.messages import BadInputError, percent, shown
from hogeq.support.parameters import Count, Share, check
from hogeq.support.progress import Phase, phase, tell_steps

Objective = Literal["mean", "beaten"]

STEP_LIMIT: Final = 1000  # of an ascent, which has always ended in fewer than 100
PERTURBED_SHARE: Final = 0.03  # of the cells, changed by a perturbation
TARGETS: Final = 8  # rivals not yet beaten that are tried one by one
WIN_EDGES: Final = (0.03, 0.01, 0.003, 0.001)  # widths of the smooth step at a win, used in turn
BISECTIONS: Final = 6  # of the share of free opponents: to 1/64
EXPLORED: Final = 1e-3  # least probability of a roll while learning, so that every cell is reached

HEAD_START: Final = 0.02  # initial regret of the rolls of the first strategy, in win rate

CURVE_SHARES: Final = (0.0, 0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0)
"""Shares of free opponents that show a trade-off well."""

Score = Callable[[Floats], tuple[float, Floats]]
"""Score of win rates (n,) against the rivals, the greater the better, and its gradient."""


def mean_wins(rates: Floats) -> tuple[float, Floats]:
    """Score by the mean win rate."""
    return float(rates.mean()), np.full(len(rates), 1.0 / len(rates))


def smooth_wins(width: float) -> Score:
    """Score by the share of rivals beaten, a win being a smooth step of this width."""

    def score(rates: Floats) -> tuple[float, Floats]:
        wins = _smooth_step(rates, width)
        return float(wins.mean()), wins * (1.0 - wins) / (width * len(rates))

    return score


def shortfall(target: NDArray[np.bool_], width: float) -> Score:
    """Score by minus the win rate missing to a win against some rivals, smoothed."""

    def score(rates: Floats) -> tuple[float, Floats]:
        short = np.logaddexp(0.0, (WIN - rates[target]) / width)
        return -width * float(short.sum()), np.where(target, 1.0 - _smooth_step(rates, width), 0.0)

    return score


def _smooth_step(rates: Floats, width: float) -> Floats:
    """Rise from 0 to 1 at a win, as the logistic function does."""
    return 0.5 + 0.5 * np.tanh((rates - WIN) / (2.0 * width))


class Answer(NamedTuple):
    """Best strategy found against a field, with its exact win rates."""

    strategy: NDArray[np.int8] | Floats
    """(G, G), or (G, G, K) where a policy was asked for."""
    win_rates: Floats
    """(n,), against every rival."""

    @property
    def mean(self) -> float:
        """Mean win rate."""
        return float(self.win_rates.mean())

    @property
    def beaten(self) -> int:
        """Number of matches won, by a win rate above 0.500001."""
        return int((self.win_rates > WIN).sum())

    def rank(self, objective: Objective) -> tuple[float, ...]:
        """Give the key by which answers are compared: higher is better."""
        return (self.mean,) if objective == "mean" else (self.beaten, self.mean)


class Field(Population):
    """Population of all that the n rivals may play; rivals have equal weights.

    A rival that is a mixture plays one of its components, by their weights.
    """

    def __init__(self, game: HogEngine, rivals: Sequence[StrategyLike]) -> None:
        if not len(rivals):
            raise ValueError("field: 0 strategies; allowed: 1 or more")
        played = [strategy_of(game, rival) for rival in rivals]
        super().__init__(game, [policy for one in played for policy in one.policies])
        self.weights = np.full(len(rivals), 1.0 / len(rivals))
        owners = np.repeat(np.arange(len(rivals)), [len(one.chances) for one in played])
        chances = np.concatenate([one.chances for one in played])
        self._shares = one_hot(owners, len(rivals)).T * chances

    def rates_of(self, policy: Floats) -> Floats:
        """Exact win rate of a policy (G, G, K) against every rival, float64 (n,)."""
        return self._shares @ super().rates_of(policy)

    def measure(self, policy: Floats, weights: Floats | None = None) -> Measured:
        """Counterfactual values and reach of a policy against the rivals, by weights (n,)."""
        rivals = self.weights if weights is None else weights
        found = super().measure(policy, rivals @ self._shares)
        return found._replace(rates=self._shares @ found.rates)

    def answer(self, strategy: Matrix | Floats) -> Answer:
        """Judge a valid strategy, a matrix or a policy."""
        return Answer(strategy, self.rates_of(strategy_of(self.game, strategy).policy))


def answer_field(
    game: HogEngine,
    rivals: Sequence[StrategyLike],
    objective: Objective = "mean",
    budget: SearchBudget | None = None,
) -> Answer:
    """Search for the matrix that does best against a field.

    "mean" is the mean win rate; "beaten" the number of rivals beaten and, of equals, the mean. With
    more starts or perturbations the answer is never worse.
    """
    if objective not in {"mean", "beaten"}:
        raise ValueError(f"objective: {shown(objective)}; allowed: mean, beaten")
    budget = budget or SearchBudget()
    field = Field(game, rivals)
    answers: list[Answer] = []
    with phase("field", budget.starts * search_steps(budget)) as progress:
        for start in range(budget.starts):
            answers.append(_search(field, objective, budget, progress, start))
            best = max(answers, key=lambda answer: answer.rank(objective))
            beaten = f"{best.beaten} of {len(rivals)} beaten"
            progress.measured(f"best {percent(best.mean)}, {beaten}")
    return best


def _search(
    field: Field, objective: Objective, budget: SearchBudget, progress: Phase, start: int
) -> Answer:
    game = field.game
    random = np.random.default_rng([budget.seed, start])
    policy = np.full(game.shape, 1.0 / game.num_actions)
    weights = field.weights
    if start > 0:
        policy = random_policy(game, random)
        if objective == "beaten":
            # Who can be beaten together is not known: each start leans to some of the rivals.
            weights = random.dirichlet(np.ones(len(weights)))
    which = f"start {start + 1} of {budget.starts}"
    progress.now(f"{which}, annealing")
    field.anneal(
        policy, budget.anneal_steps, budget.damping, weights=weights, progress=progress.step
    )
    progress.now(f"{which}, ascent")
    best = _climb(field, to_matrix(policy), objective)
    progress.step(ASCENT)
    for kick in range(1, budget.perturbations + 1):
        kept = np.array(best.strategy, np.int8)
        matrix = with_random_rolls(kept, PERTURBED_SHARE, game.num_actions, random)
        again = _climb(field, matrix, objective)
        best = max(best, again, key=lambda answer: answer.rank(objective))
        progress.step(ASCENT, f"{which}, kick {kick}/{budget.perturbations}")
    return best


def _climb(field: Field, matrix: Matrix, objective: Objective) -> Answer:
    """Ascend, for "beaten" on ever sharper scores; the best matrix on the way.

    `matrix` is rewritten.
    """
    best = field.answer(matrix.copy())

    def climb(score: Score) -> None:
        nonlocal best
        for answer in ascend(field, matrix, score):
            best = max(best, answer, key=lambda answer: answer.rank(objective))

    if objective == "mean":
        climb(mean_wins)
        return best
    for width in WIN_EDGES:
        climb(smooth_wins(width))
    # One more rival each time, those beaten already among them: the nearest to a win first.
    missed = [rival for rival in np.argsort(-best.win_rates) if best.win_rates[rival] <= WIN]
    for rival in missed[:TARGETS]:
        target = best.win_rates > WIN
        target[rival] = True
        matrix = np.array(best.strategy, np.int8)
        climb(shortfall(target, WIN_EDGES[1]))
    matrix = np.array(best.strategy, np.int8)
    climb(mean_wins)
    return best


def ascend(field: Field, matrix: Matrix, score: Score, most: int | None = None) -> Iterator[Answer]:
    """Raise a score until no step does; the matrix is rewritten, and given after every step.

    A step changes at most `most` cells, those that gain most.
    """
    rolls = field.game.num_actions
    rates = field.rates_of(one_hot(matrix, rolls))
    size = matrix.size
    for _ in range(STEP_LIMIT):
        reached, weights = score(rates)
        found = field.measure(one_hot(matrix, rolls), weights)
        present = np.take_along_axis(found.values, matrix[..., None].astype(np.int64), axis=2)
        gains = (found.values.max(axis=2) - present[..., 0]).ravel()
        better = np.argsort(-gains, kind="stable")
        better = better[gains[better] > TIE * found.infoset_reach.ravel()[better]]
        choice = found.values.argmax(axis=2).astype(np.int8).ravel()
        size = min(2 * size, len(better), most or matrix.size)
        while size > 0:
            changed = matrix.copy()
            cells = better[:size]
            changed.ravel()[cells] = choice[cells]
            after = field.rates_of(one_hot(changed, rolls))
            if score(after)[0] > reached:
                break
            size //= 2
        if size == 0:
            return
        matrix[...], rates = changed, after
        yield Answer(changed, rates)


# --- safety ---------------------------------------------------------------------------------------


class Point(NamedTuple):
    """One point of the trade-off between winning against a field and being hard to exploit."""

    share: float
    """Share of opponents that are free to exploit, p: 0 answers the field, 1 plays safe."""
    answer: Answer
    attack: float
    """Win rate of the strongest counter-matrix found against it."""
    bound: float
    """Win rate of the best responder with full memory."""


class FieldStudy(NamedTuple):
    """Best strategy found against a field, and the price of safety there."""

    answer: Answer
    """The one to play."""
    chosen: Point | None
    """The point of that answer, where a cap was asked for."""
    points: list[Point]
    """All points that were computed, by share."""


class CapError(BadInputError):
    """No strategy was found that the attacks leave below the cap."""


def restricted_response(
    field: Field,
    share: float,
    objective: Objective = "mean",
    *,
    start: ArrayLike | None = None,
    steps: int = 100,
) -> Floats:
    """Policy (G, G, K) for a field of which a share is free to exploit it.

    This is a restricted Nash response: regret matching+ of both sides of the restricted game, the
    free opponent's too; regrets are weighted by full reach, steps averaged linearly. The others are
    weighted equally, or for "beaten" more if the win rate is near a win. Starting from the answer
    to the field alone gives a better result.
    """
    check(Share, share=share)
    check(Count, steps=steps)
    game = field.game
    work = game.workspace(2)
    regrets, free_regrets, total = (np.zeros(game.shape) for _ in range(3))
    score = mean_wins if objective == "mean" else smooth_wins(WIN_EDGES[0])
    weights = field.weights
    if start is not None:
        first = policy_of(game, start)
        regrets += HEAD_START * field.measure(first, weights).infoset_reach[..., None] * first
    for step in tell_steps("regret matching", range(1, steps + 1)):
        policy, free = (match_regrets(these, EXPLORED) for these in (regrets, free_regrets))
        values, infoset_reach = np.zeros(game.shape), np.zeros(game.shape[:2])
        if share < 1.0:
            found = field.measure(policy, (1.0 - share) * weights)
            values += found.values
            infoset_reach += found.infoset_reach
            weights = score(found.rates)[1]
            weights /= weights.sum()
        if share > 0.0:
            seen = counterfactual_values(work, np.stack([policy, free]))
            values += share * seen.values
            infoset_reach += share * seen.infoset_reach
        total += step * infoset_reach[..., None] * match_regrets(regrets)
        _learn(regrets, policy, values)
        if share > 0.0:
            pair = np.stack([free, match_regrets(regrets, EXPLORED)])
            _learn(free_regrets, free, counterfactual_values(work, pair).values)
    return normalised(total)


def _learn(regrets: Floats, policy: Floats, values: Floats) -> None:
    regrets += values - (values * policy).sum(axis=-1, keepdims=True)
    np.maximum(regrets, 0.0, out=regrets)


def study_field(
    game: HogEngine,
    rivals: Sequence[StrategyLike],
    objective: Objective = "mean",
    *,
    cap: float | None = None,
    shares: Sequence[float] = (),
    mixed: bool = False,
    budget: SearchBudget | None = None,
    steps: int = 100,
) -> FieldStudy:
    """Search for the best strategy against a field, optionally with a cap and a trade-off curve.

    `cap` is the win rate that the strongest attack found may have, from 0.5 to 1: the share of free
    opponents is bisected. `shares` are the points of the curve. Points are policies if `mixed`,
    else the matrices of their most probable rolls. Without a cap the answer is that to the field
    alone, or of the least of `shares`. `CapError` if nothing keeps the cap.
    """
    if cap is not None and not 0.5 <= cap <= 1.0:
        raise ValueError(f"cap: {shown(cap)}; allowed: win rates from 0.5 to 1")
    for share in shares:
        check(Share, share=share)
    budget = budget or SearchBudget()
    alone = answer_field(game, rivals, objective, budget)
    if cap is None and not shares:
        return FieldStudy(alone, None, [])
    field = Field(game, rivals)
    points: dict[float, Point] = {}
    judged = len(shares) if cap is None else len(shares) + 2 + BISECTIONS
    with phase("trade-off", judged, "points") as progress:

        def judge(share: float) -> Point:
            progress.now(f"{share:.3g} free")
            answer = alone
            if share > 0.0:  # against the field alone a matrix is as good as any policy
                policy = restricted_response(
                    field, share, objective, start=alone.strategy, steps=steps
                )
                answer = field.answer(policy if mixed else to_matrix(policy))
            attacked = attack(game, answer.strategy, budget).win_rate
            bound = full_memory_bound(game, answer.strategy)
            points[share] = Point(share, answer, attacked, bound)
            progress.step()
            progress.measured(f"attack {percent(attacked)}")
            return points[share]

        if cap is not None and judge(0.0).attack > cap:
            judge(1.0)
            low, high = 0.0, 1.0
            for _ in range(BISECTIONS):
                middle = (low + high) / 2.0
                is_kept = judge(middle).attack <= cap
                low, high = (low, middle) if is_kept else (middle, high)
        below = [] if cap is None else [one for one in points.values() if one.attack <= cap]
        if cap is not None and not below:
            lowest = min(points.values(), key=lambda one: one.attack)
            raise CapError(
                f"cap: {cap!r}, but every {'policy' if mixed else 'matrix'} found is attacked with "
                f"more; the lowest attack is {lowest.attack:.6f}, of the one with {lowest.share:g} "
                "of the opponents free"
            )
        chosen = max(below, key=lambda one: one.answer.rank(objective), default=None)
        for share in sorted(set(shares) - set(points)):
            judge(share)
    curve = sorted(points.values(), key=lambda point: point.share)
    return FieldStudy((chosen or curve[0]).answer, chosen, curve)
