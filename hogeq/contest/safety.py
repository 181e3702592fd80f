"""Trade-off between winning against a field and being hard to exploit.

Safety is gained as in Johanson, Zinkevich and Bowling (2007), "Computing robust
counter-strategies": in the restricted game a share of the opponents plays as the field does, and
the others are free to exploit. Regret matching stands in for the equilibrium of that game, which
under imperfect recall no method is known to find; attacks judge the result.
"""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hogeq.contest.field import (
    WIN_EDGES,
    Answer,
    Field,
    Objective,
    answer_field,
    mean_wins,
    smooth_wins,
)
from hogeq.evaluation.counterfactual import counterfactual_values
from hogeq.model.game import HogEngine
from hogeq.search.ascent import to_matrix
from hogeq.search.attack import SearchBudget, attack
from hogeq.search.bounds import full_memory_bound
from hogeq.strategies.arrays import match_regrets, normalised
from hogeq.strategies.strategy import StrategyLike, policy_of
from hogeq.support.aliases import Floats
from hogeq.support.messages import BadInputError, shown
from hogeq.support.numbers import percent
from hogeq.support.parameters import Count, Share, check
from hogeq.support.progress import Phase, phase, tell_steps

BISECTIONS: Final = 6  # of the share of free opponents: to 1/64

EXPLORED: Final = 1e-3  # least probability of a roll while learning, so that every cell is reached

CURVE_SHARES: Final = (0.0, 0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0)
"""Shares of free opponents that show a trade-off well."""

HEAD_START: Final = 0.02  # initial regret of the rolls of the first strategy, in win rate


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

    def judge(share: float, progress: Phase) -> Point:
        progress.now(f"{share:.3g} free")
        answer = alone
        if share > 0.0:  # against the field alone a matrix is as good as any policy
            policy = restricted_response(field, share, objective, start=alone.strategy, steps=steps)
            answer = field.answer(policy if mixed else to_matrix(policy))
        attacked = attack(game, answer.strategy, budget).win_rate
        bound = full_memory_bound(game, answer.strategy)
        points[share] = Point(share, answer, attacked, bound)
        progress.step()
        progress.measured(f"attack {percent(attacked)}")
        return points[share]

    chosen = None
    if cap is not None:
        _bisect(judge, cap)
        chosen = _best_below(cap, list(points.values()), objective, "policy" if mixed else "matrix")
    missing = sorted(set(shares) - set(points))
    if missing:
        with phase("trade-off", len(missing), "points") as progress:
            for share in missing:
                judge(share, progress)
    curve = sorted(points.values(), key=lambda point: point.share)
    return FieldStudy((chosen or curve[0]).answer, chosen, curve)


def _bisect(judge: Callable[[float, Phase], Point], cap: float) -> None:
    """Judge ever nearer shares to the least that keeps a cap."""
    with phase("cap", 2 + BISECTIONS, "points") as progress:
        if judge(0.0, progress).attack <= cap:
            return
        judge(1.0, progress)
        low, high = 0.0, 1.0
        for _ in range(BISECTIONS):
            middle = (low + high) / 2.0
            if judge(middle, progress).attack <= cap:
                high = middle
            else:
                low = middle


def _best_below(cap: float, tried: Sequence[Point], objective: Objective, kind: str) -> Point:
    below = [point for point in tried if point.attack <= cap]
    if not below:
        lowest = min(tried, key=lambda point: point.attack)
        raise CapError(
            f"cap: {cap!r}, but every {kind} found is attacked with more; the lowest attack is "
            f"{lowest.attack:.6f}, of the one with {lowest.share:g} of the opponents free"
        )
    return max(below, key=lambda point: point.answer.rank(objective))
