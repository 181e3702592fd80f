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
from hogeq.strategies.strategy import Strategy, policies_of
from hogeq.support.aliases import Floats, Ints, Matrix

MEASURED: Final = 120  # changes of rules that are measured
LISTED: Final = 3
LEAST: Final = 5e-5  # of a gain that is listed
OVERLAP: Final = 0.5  # share of the cells of the smaller of two changes that both may have
FIT: Final = 0.75  # share of what a threshold or a table says that both say

Mask = NDArray[np.bool_]


class RuleChange(NamedTuple):
    """A simple change of a table, measured."""

    change: str
    positions: int  # that change
    gain: float  # of win rate


class _Candidate(NamedTuple):
    change: str  # in words
    cells: Mask  # (G, G), where it applies
    action: int  # that it takes there
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
    fit: float  # share of the positions on which table and limit agree, of those of either
    text: str  # of a limit
    short_text: str


def rule_changes(game: HogEngine, matrix: Matrix, against: Strategy) -> list[RuleChange]:
    """Find the simple changes of a matrix, actions (G, G), that gain most, the best first.

    Candidates are ordered by their gain to first order, the sum over their cells. The best
    `MEASURED`, and the best of the table's own thresholds, are measured exactly.
    """
    found = counterfactual_values(shared_workspace(game, 2), policies_of(game, matrix, against))
    played_values = np.take_along_axis(found.values, matrix[..., None].astype(np.int64), axis=2)
    gains = found.values - played_values  # (G, G, K), of each action in place of the table's
    is_reached = found.infoset_reach > 0.0
    candidates = [*_by_scores(game, matrix, gains), *_by_points(game, matrix, is_reached)]
    estimates = np.array([gains[one.cells, one.action].sum() for one in candidates])
    order = np.argsort(-estimates, kind="stable").tolist()
    own = [index for index in order if candidates[index].is_own][: MEASURED // 10]
    rate = win_rate(game, matrix, against, endless_is_draw=True).win_rate
    measured = []
    for index in dict.fromkeys([*own, *order[:MEASURED]]):
        candidate = candidates[index]
        changed = np.where(candidate.cells, np.int8(candidate.action), matrix)
        cells = (changed != matrix) & is_reached
        gain = win_rate(game, changed, against, endless_is_draw=True).win_rate - rate
        if gain >= LEAST:
            change = RuleChange(candidate.change, int(cells.sum()), gain)
            measured.append(_Measured(change, cells, candidate.is_own))
    measured.sort(key=lambda one: -one.change.gain)
    return sorted(_different(measured), key=lambda change: -change.gain)


def _different(measured: Sequence[_Measured]) -> list[RuleChange]:
    """Choose changes of which no two have most cells in common, from those that gain most on."""
    # The best threshold of the student's own kind is listed whatever else changes its cells.
    listed = [one.change for one in measured if one.is_own][:1]
    chosen_cells: list[Mask] = []
    for change, cells, _ in measured:
        is_different = all(
            (cells & chosen).sum() <= OVERLAP * min(cells.sum(), chosen.sum())
            for chosen in chosen_cells
        )
        if is_different and len(chosen_cells) < LISTED:
            chosen_cells.append(cells)
            if change not in listed:
                listed.append(change)
    return listed


def _by_scores(game: HogEngine, matrix: Matrix, gains: Floats) -> Iterator[_Candidate]:
    """Give for each roll, and each that it replaces, the best conditions to first order.

    A condition holds where a number that the scores give, the key, is at least a limit. ``gains``
    (G, G, K) are those of each action in each cell.
    """
    own, other = np.meshgrid(*map(np.arange, matrix.shape), indexing="ij")
    conditions: tuple[tuple[str, Ints, int], ...] = (  # in words, key (G, G), lowest limit
        ("from {} points on", own, 0),
        ("up to {} points", -own, 1 - game.goal),
        ("when the opponent has {} or more", other, 1),
        ("when {} or more ahead", own - other, 1),
        ("when {} or more behind", other - own, 1),
    )
    names = list(map(dice_in_words, game.choices))
    for text, key, lowest in conditions:
        limits = np.arange(lowest, key.max() + 1)[::-1]  # the highest first
        for replaced in (None, *np.unique(matrix).tolist()):  # None: whatever the table rolls
            where = key >= lowest
            instead = ""
            if replaced is not None:
                where &= matrix == replaced
                instead = f" instead of {names[replaced]}"
            # Sums of the gains of the cells of one key; then of all from a limit on.
            sums = np.zeros((len(limits), game.num_actions))
            np.add.at(sums, key.max() - key[where], gains[where])
            best_limits = np.argsort(-sums.cumsum(axis=0), axis=0, kind="stable")[:LISTED]
            for (_, action), index in np.ndenumerate(best_limits):
                limit = int(limits[index])
                change = f"{names[action]}{instead} {text.format(abs(limit))}"
                yield _Candidate(change, where & (key >= limit), action)


def _by_points(game: HogEngine, matrix: Matrix, is_reached: Mask) -> Iterator[_Candidate]:
    """Give other thresholds of the points from which on no dice are rolled.

    For each there are two changes: no dice there too, or only there, and elsewhere the usual roll.
    """
    no_dice = game.choices.index(0)
    rolls_none = matrix == no_dice
    if not (is_reached & ~rolls_none).any():
        return
    usual_action = int(np.bincount(matrix[is_reached & ~rolls_none]).argmax())
    thresholds = list(_thresholds(game, rolls_none, is_reached))
    best_fit = max(FIT, *(threshold.fit for threshold in thresholds))
    for threshold in thresholds:
        is_own = threshold.fit == best_fit  # the table has this threshold, or nearly
        own_limit = threshold.short_text.format(threshold.limits[threshold.best])
        for index, limit in enumerate(threshold.limits):
            condition = threshold.text.format(limit)
            moved = f"no dice {condition}, not {own_limit}"
            is_lower = is_own and index < threshold.best
            is_higher = is_own and index > threshold.best
            more = moved if is_lower else f"no dice {condition} too"
            less = moved if is_higher else f"no dice only {condition}"
            holds = threshold.numbers >= limit
            yield _Candidate(more, holds & ~rolls_none, no_dice, is_lower)
            yield _Candidate(less, ~holds & rolls_none, usual_action, is_higher)


def _thresholds(game: HogEngine, rolls_none: Mask, is_reached: Mask) -> Iterator[_Threshold]:
    """Fit thresholds, of points and of the rise of the score, to where a table rolls no dice."""
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
        both = [(rolls_none & (numbers >= limit))[is_reached].sum() for limit in limits]
        either = [(rolls_none | (numbers >= limit))[is_reached].sum() for limit in limits]
        fits = np.divide(both, np.maximum(either, 1))
        best = int(fits.argmax())
        yield _Threshold(numbers, limits, best, float(fits[best]), text, short_text)


def dice_in_words(number: int) -> str:
    """Name a roll."""
    return {0: "no dice", 1: "1 die", -1: "-1"}.get(number, f"{number} dice")
