"""Simple changes of a table that win more.

Roll b dice, instead of a or of anything, under one condition on the scores. The gain to first order
is the sum over the cells; the best by that are measured exactly.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.evaluation.counterfactual import counterfactual_values
from hogeq.evaluation.values import win_rate
from hogeq.model.game import HogEngine
from hogeq.model.shared import shared_workspace
from hogeq.rules.rules import zero_points
from hogeq.rules.turn import land
from hogeq.strategies.arrays import at_actions
from hogeq.strategies.conversion import policies_of
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats, Ints, Matrix

MAX_MEASURED: Final = 120  # candidates whose gain is computed exactly
MAX_LISTED: Final = 3  # changes chosen by their cells, and limits tried for each condition
MIN_GAIN: Final = 5e-5  # smallest gain of win rate that is listed
MAX_OVERLAP: Final = 0.5  # share of the cells of the smaller of two changes that both may have
MIN_FIT: Final = 0.75  # least `_Threshold.fit` of a threshold that counts as the table's own

Mask = NDArray[np.bool_]


class RuleChange(NamedTuple):
    """A simple change of a table, measured."""

    change: str
    positions: int  # that change
    gain: float  # of win rate


class _Candidate(NamedTuple):
    text: str  # the change in words
    cells: Mask  # (G, G), where it applies
    action: int  # index of the roll that it plays there
    is_own: bool = False  # whether it moves a threshold that the table has


class _Measured(NamedTuple):
    change: RuleChange
    cells: Mask  # (G, G), that are reached and become another roll
    is_own: bool


class _Threshold(NamedTuple):
    """A number of every position, and the limit of it from which on a table rolls no dice."""

    numbers: Ints  # (G, G)
    limits: list[int]  # its different values, rising
    best: int  # index of the limit that fits the table best
    fit: float  # Jaccard index of the cells without dice by the table and by the best limit
    text: str  # of a limit, a format with one field
    short_text: str  # the same, shorter


def rule_changes(game: HogEngine, matrix: Matrix, against: Strategy) -> list[RuleChange]:
    """Find the simple changes of a matrix, actions (G, G), that gain most, the best first.

    Candidates are ordered by their gain to first order, the sum over their cells. The best
    `MAX_MEASURED`, and the best of the table's own thresholds, are measured exactly.
    """
    counterfactual = counterfactual_values(
        shared_workspace(game, 2), policies_of(game, matrix, against)
    )
    # (G, G, K), of each action in place of the table's
    gains = counterfactual.values - at_actions(counterfactual.values, matrix)[..., None]
    is_reached = counterfactual.infoset_reach > 0.0
    candidates = [
        *_changes_of_score_thresholds(game, matrix, gains),
        *_changes_of_points_thresholds(game, matrix, is_reached),
    ]
    estimates = np.array(
        [gains[candidate.cells, candidate.action].sum() for candidate in candidates]
    )
    order = np.argsort(-estimates, kind="stable").tolist()
    own_thresholds = [index for index in order if candidates[index].is_own][: MAX_MEASURED // 10]
    rate = win_rate(game, matrix, against, endless_is_draw=True).win_rate
    measured = []
    # Each index once, in this order: a threshold of the table may also be among the best.
    for index in dict.fromkeys([*own_thresholds, *order[:MAX_MEASURED]]):
        candidate = candidates[index]
        changed = np.where(candidate.cells, np.int8(candidate.action), matrix)
        changed_cells = (changed != matrix) & is_reached
        gain = win_rate(game, changed, against, endless_is_draw=True).win_rate - rate
        if gain >= MIN_GAIN:
            change = RuleChange(candidate.text, int(changed_cells.sum()), gain)
            measured.append(_Measured(change, changed_cells, candidate.is_own))
    measured.sort(key=lambda entry: -entry.change.gain)
    return sorted(_without_overlaps(measured), key=lambda change: -change.gain)


def _without_overlaps(measured: Sequence[_Measured]) -> list[RuleChange]:
    """Choose up to `MAX_LISTED` changes whose cells differ; `measured` has the best first.

    Two changes differ if they share at most `MAX_OVERLAP` of the cells of the smaller one. The best
    of the table's own thresholds is listed besides, if it is not among them.
    """
    # The best threshold of the student's own kind is listed whatever else changes its cells.
    listed = [entry.change for entry in measured if entry.is_own][:1]
    chosen_cells: list[Mask] = []
    for change, cells, _ in measured:
        is_different = all(
            (cells & chosen).sum() <= MAX_OVERLAP * min(cells.sum(), chosen.sum())
            for chosen in chosen_cells
        )
        if is_different and len(chosen_cells) < MAX_LISTED:
            chosen_cells.append(cells)
            if change not in listed:
                listed.append(change)
    return listed


def _changes_of_score_thresholds(
    game: HogEngine, matrix: Matrix, gains: Floats
) -> Iterator[_Candidate]:
    """Give for each roll, and each roll that it replaces, the best conditions to first order.

    A condition holds where a function of the scores, its key, is at least a limit. ``gains``
    (G, G, K) are the gains in win rate, to first order, of each action in each cell.
    """
    own, other = np.meshgrid(*map(np.arange, matrix.shape), indexing="ij")
    conditions: tuple[tuple[str, Ints, int], ...] = (  # in words, key (G, G), lowest limit
        ("from {} points on", own, 0),
        ("up to {} points", -own, 1 - game.goal),
        ("when the opponent has {} or more", other, 1),
        ("when {} or more ahead", own - other, 1),
        ("when {} or more behind", other - own, 1),
    )
    names = [dice_in_words(dice) for dice in game.choices]
    for text, key, lowest in conditions:
        limits = np.arange(lowest, key.max() + 1)[::-1]  # the highest first
        for replaced in (None, *np.unique(matrix).tolist()):  # None: whatever the table rolls
            where = key >= lowest
            instead = ""
            if replaced is not None:
                where &= matrix == replaced
                instead = f" instead of {names[replaced]}"
            # Row i has the gains of the cells whose key is limits[i]; the highest limit is first,
            # so the sum of rows 0 to i is the gain of all cells whose key is at least limits[i].
            sums = np.zeros((len(limits), game.num_actions))
            np.add.at(sums, key.max() - key[where], gains[where])
            best_limits = np.argsort(-sums.cumsum(axis=0), axis=0, kind="stable")[:MAX_LISTED]
            for (_, action), index in np.ndenumerate(best_limits):
                limit = int(limits[index])
                change = f"{names[action]}{instead} {text.format(abs(limit))}"
                yield _Candidate(change, where & (key >= limit), action)


def _changes_of_points_thresholds(
    game: HogEngine, matrix: Matrix, is_reached: Mask
) -> Iterator[_Candidate]:
    """Give changes that roll no dice from other thresholds on, of the points of no dice.

    Each limit of a threshold gives two changes. One rolls no dice also in all cells from the limit
    on. The other rolls no dice only there, and the table's commonest roll of dice below the limit.
    """
    no_dice = game.choices.index(0)
    rolls_none = matrix == no_dice
    if not (is_reached & ~rolls_none).any():
        return
    commonest_action = int(np.bincount(matrix[is_reached & ~rolls_none]).argmax())
    thresholds = list(_thresholds(game, rolls_none, is_reached))
    best_fit = max(MIN_FIT, *(threshold.fit for threshold in thresholds))
    for threshold in thresholds:
        is_own = threshold.fit == best_fit  # the table follows this threshold, or nearly
        own_limit = threshold.short_text.format(threshold.limits[threshold.best])
        for index, limit in enumerate(threshold.limits):
            holds = threshold.numbers >= limit
            condition = threshold.text.format(limit)
            # A limit below the table's own adds cells without dice, one above it removes some.
            moved_text = f"no dice {condition}, not {own_limit}"
            lowers_own = is_own and index < threshold.best
            raises_own = is_own and index > threshold.best
            text_too = moved_text if lowers_own else f"no dice {condition} too"
            text_only = moved_text if raises_own else f"no dice only {condition}"
            yield _Candidate(text_too, holds & ~rolls_none, no_dice, is_own=lowers_own)
            yield _Candidate(text_only, ~holds & rolls_none, commonest_action, is_own=raises_own)


def _thresholds(game: HogEngine, rolls_none: Mask, is_reached: Mask) -> Iterator[_Threshold]:
    """Fit two thresholds to the cells (G, G) where a table rolls no dice.

    One is of the points that no dice score, the other of the rise of the own score after all other
    rules. The best limit has the largest Jaccard index: of the reached cells where the table or the
    limit says "no dice", the share where both do.
    """
    points = np.empty(rolls_none.shape, np.int64)
    rises = np.empty_like(points)
    for own, other in np.ndindex(points.shape):
        points[own, other] = zero_points(game.rules, own, other)
        landing = land(game.rules, own + points[own, other].item(), other)
        rises[own, other] = landing.score - own
    for numbers, text, short_text in (
        (points, "from {} points on", "from {}"),
        (rises, "where the score rises by {} or more", "by {}"),
    ):
        limits = np.unique(numbers).tolist()
        intersections = [(rolls_none & (numbers >= limit))[is_reached].sum() for limit in limits]
        unions = [(rolls_none | (numbers >= limit))[is_reached].sum() for limit in limits]
        fits = np.divide(intersections, np.maximum(unions, 1))  # no division by 0 if both are empty
        best = int(fits.argmax())
        yield _Threshold(numbers, limits, best, float(fits[best]), text, short_text)


def dice_in_words(number: int) -> str:
    """Name a roll by its number of dice, -1 for the choice -1."""
    return {0: "no dice", 1: "1 die", -1: "-1"}.get(number, f"{number} dice")
