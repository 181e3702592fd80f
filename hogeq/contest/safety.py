"""Trade-off between winning against a field and being hard to exploit."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hogeq.contest.field import Answer, Field, answer_field, rank_of
from hogeq.contest.objectives import (
    WIN_EDGES,
    MeanWins,
    Objective,
    Score,
    SmoothWins,
    check_objective,
)
from hogeq.evaluation.counterfactual import counterfactual_values
from hogeq.model.game import HogEngine
from hogeq.search.attack import SearchBudget, attack
from hogeq.search.bounds import full_memory_bound
from hogeq.search.moves import to_matrix
from hogeq.strategies.mixtures import Mixture
from hogeq.strategies.policies import policy_of
from hogeq.strategies.rows import match_regrets, normalised
from hogeq.support.aliases import Floats
from hogeq.support.messages import shown
from hogeq.support.numbers import percent
from hogeq.support.parameters import Count, Share, check
from hogeq.support.progress import phase, tell_steps

BISECTIONS = 6  # of the share of free opponents: to 1/64

EXPLORED = 1e-3  # least probability of a roll while learning, so that every cell is reached

CURVE_SHARES = (0.0, 0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0)
"""Shares of free opponents that show a trade-off well."""

HEAD_START = 0.02  # initial regret of the rolls of the first strategy, in win rate


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


class CapError(ValueError):
    """No strategy was found that the attacks leave below the cap."""


def restricted_response(
    game: HogEngine,
    rivals: Sequence[ArrayLike | Mixture],
    share: float,
    objective: Objective = "mean",
    *,
    start: ArrayLike | None = None,
    steps: int = 100,
) -> Floats:
    """Policy for a field of which a share is free to exploit it: a restricted Nash response.

    Regret matching+ of both sides of the restricted game, the free opponent's too; regrets are
    weighted by full reach, steps averaged linearly.

    Parameters
    ----------
    game : HogEngine
    rivals : sequence of array_like or Mixture
        Each a matrix (G, G) or a policy (G, G, K).
    share : float
        Of opponents that are free, from 0 to 1.
    objective : {"mean", "beaten"}
        How the other opponents are weighted: equally, or more if the win rate is near a win.
    start : array_like, optional
        Strategy of the first step, uniform by default. Starting from the answer to the field alone
        gives a better result.
    steps : int
        At least 1.

    Returns
    -------
    float64 (G, G, K)

    Raises
    ------
    ValueError
        If something is malformed or out of range.
    """
    check_objective(objective)
    check(Share, share=share)
    check(Count, steps=steps)
    first = None if start is None else policy_of(game, start)
    return _restricted(Field(game, rivals), share, objective, first, steps)


def _restricted(
    field: Field,
    share: float,
    objective: Objective,
    first: Floats | None,
    steps: int,
) -> Floats:
    game = field.game
    work = game.workspace(2)
    regrets, free_regrets, total = (np.zeros(game.shape) for _ in range(3))
    score: Score = MeanWins() if objective == "mean" else SmoothWins(WIN_EDGES[0])
    weights = field.weights
    if first is not None:
        regrets += HEAD_START * field.measure(first, weights).infoset_reach[..., None] * first
    for step in tell_steps("regret matching", range(1, steps + 1)):
        policy, free = (match_regrets(these, EXPLORED) for these in (regrets, free_regrets))
        values, infoset_reach = np.zeros(game.shape), np.zeros(game.shape[:2])
        if share < 1.0:
            found = field.measure(policy, (1.0 - share) * weights)
            values += found.values
            infoset_reach += found.infoset_reach
            weights = score.weights(found.rates)
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


def tradeoff(
    game: HogEngine,
    rivals: Sequence[ArrayLike | Mixture],
    shares: Sequence[float],
    objective: Objective = "mean",
    *,
    mixed: bool = False,
    budget: SearchBudget | None = None,
    steps: int = 100,
) -> list[Point]:
    """Compute points of the trade-off between winning against a field and safety.

    Parameters
    ----------
    game : HogEngine
    rivals : sequence of array_like or Mixture
        Each a matrix (G, G) or a policy (G, G, K).
    shares : sequence of float
        Shares of free opponents, from 0 to 1.
    objective : {"mean", "beaten"}
    mixed : bool
        Judge policies; otherwise the matrices of their most probable rolls.
    budget : SearchBudget, optional
        Of the attacks, and of the answer to the field alone.
    steps : int
        Of the regret matching.

    Returns
    -------
    list of Point
        By share, ascending.

    Raises
    ------
    ValueError
        If something is malformed or out of range.
    """
    judge = _Judge(game, rivals, objective, mixed, budget or SearchBudget(), steps)
    wanted = sorted(set(shares))
    found = []
    with phase("trade-off", len(wanted), "points") as told:
        for share in wanted:
            told.now(f"{share:.3g} free")
            found.append(judge.point(share))
            told.step()
            told.measured(f"attack {percent(found[-1].attack)}")
    return found


def answer_below(
    game: HogEngine,
    rivals: Sequence[ArrayLike | Mixture],
    cap: float,
    objective: Objective = "mean",
    *,
    mixed: bool = False,
    budget: SearchBudget | None = None,
    steps: int = 100,
) -> tuple[Point, list[Point]]:
    """Search for the best strategy against a field on which attacks win no more than a cap.

    The share of free opponents is bisected between 0 and 1.

    Parameters
    ----------
    game : HogEngine
    rivals : sequence of array_like or Mixture
        Each a matrix (G, G) or a policy (G, G, K).
    cap : float
        Win rate that the strongest attack found may have, from 0.5 to 1.
    objective, mixed, budget, steps
        As in :func:`tradeoff`.

    Returns
    -------
    Point, list of Point
        The best that keeps the cap, and all that were tried, by share.

    Raises
    ------
    CapError
        If no strategy found keeps the cap; the message has the lowest attack.
    ValueError
        If something is malformed or out of range.
    """
    if not 0.5 <= cap <= 1.0:
        raise ValueError(f"cap: {shown(cap)}; allowed: win rates from 0.5 to 1")
    judge = _Judge(game, rivals, objective, mixed, budget or SearchBudget(), steps)
    tried: list[Point] = []
    with phase("cap", 2 + BISECTIONS, "points") as told:

        def judged(share: float) -> Point:
            told.now(f"{share:.3g} free")
            tried.append(judge.point(share))
            told.step()
            told.measured(f"attack {percent(tried[-1].attack)}")
            return tried[-1]

        if judged(0.0).attack > cap:
            judged(1.0)
            low, high = 0.0, 1.0
            for _ in range(BISECTIONS):
                point = judged((low + high) / 2.0)
                if point.attack <= cap:
                    high = point.share
                else:
                    low = point.share
    tried.sort(key=lambda point: point.share)
    kept = [point for point in tried if point.attack <= cap]
    if not kept:
        lowest = min(tried, key=lambda point: point.attack)
        kind = "policy" if mixed else "matrix"
        raise CapError(
            f"cap: {cap!r}, but every {kind} found is attacked with more; the lowest attack is "
            f"{lowest.attack:.6f}, of the one with {lowest.share:g} of the opponents free"
        )
    return max(kept, key=lambda point: rank_of(point.answer, objective)), tried


def study_field(
    game: HogEngine,
    rivals: Sequence[ArrayLike | Mixture],
    objective: Objective = "mean",
    *,
    cap: float | None = None,
    shares: Sequence[float] = (),
    mixed: bool = False,
    budget: SearchBudget | None = None,
    steps: int = 100,
) -> FieldStudy:
    """Search for the best strategy against a field, optionally with a cap and a trade-off curve.

    Parameters
    ----------
    game : HogEngine
    rivals : sequence of array_like or Mixture
        Each a matrix (G, G) or a policy (G, G, K).
    objective : {"mean", "beaten"}
    cap : float, optional
        As in :func:`answer_below`; by default attacks on the answer are not looked at.
    shares : sequence of float
        Points of the curve, as in :func:`tradeoff`; `CURVE_SHARES` say.
    mixed, budget, steps
        As in :func:`tradeoff`.

    Returns
    -------
    FieldStudy
        Without a cap its answer is the answer to the field alone, or that of the least of `shares`.

    Raises
    ------
    CapError
        If nothing keeps the cap.
    ValueError
        If something is malformed or out of range.
    """
    points: list[Point] = []
    chosen: Point | None = None
    if cap is not None:
        chosen, points = answer_below(
            game,
            rivals,
            cap,
            objective,
            mixed=mixed,
            budget=budget,
            steps=steps,
        )
    if shares:
        known = {point.share for point in points}
        left = [share for share in shares if share not in known]
        if left:
            points += tradeoff(
                game, rivals, left, objective, mixed=mixed, budget=budget, steps=steps
            )
        points.sort(key=lambda point: point.share)
    if chosen is not None:
        return FieldStudy(chosen.answer, chosen, points)
    if points:
        return FieldStudy(points[0].answer, None, points)
    return FieldStudy(answer_field(game, rivals, objective, budget), None, [])


class _Judge:
    """Finds the answer for a share of free opponents, and attacks it."""

    def __init__(
        self,
        game: HogEngine,
        rivals: Sequence[ArrayLike | Mixture],
        objective: Objective,
        mixed: bool,
        budget: SearchBudget,
        steps: int,
    ) -> None:
        self.game, self.rivals, self.objective, self.mixed = game, rivals, objective, mixed
        self.budget, self.steps = budget, steps
        self._alone = answer_field(game, rivals, objective, budget)

    def point(self, share: float) -> Point:
        answer = self._answer(share)
        found = attack(self.game, answer.strategy, self.budget)
        bound = full_memory_bound(self.game, answer.strategy)
        return Point(share, answer, found.win_rate, bound)

    def _answer(self, share: float) -> Answer:
        if share == 0.0:  # a matrix is as good as any policy
            return self._alone
        policy = restricted_response(
            self.game,
            self.rivals,
            share,
            self.objective,
            start=self._alone.strategy,
            steps=self.steps,
        )
        field = Field(self.game, self.rivals)
        return field.answer(policy if self.mixed else to_matrix(policy))
