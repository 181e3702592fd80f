"""Simple changes of a table that win more.

Roll b dice, instead of a or of anything, under one condition on the scores. The gain to first order
is the sum over the cells; the best by that are measured exactly.
"""

from collections.abc import Iterator
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


class RuleChange(NamedTuple):
    """A simple change of a table, measured."""

    change: str
    positions: int  # that change
    gain: float  # of win rate


class _Candidate(NamedTuple):
    change: str
    cells: NDArray[np.bool_]
    roll: int  # action
    is_own: bool = False  # whether it moves a threshold that the table has


def rule_changes(game: HogEngine, matrix: Matrix, against: Strategy) -> list[RuleChange]:
    """Find the simple changes that gain most, the best first."""
    found = counterfactual_values(shared_workspace(game, 2), policies_of(game, matrix, against))
    at = np.take_along_axis(found.values, matrix[..., None].astype(np.int64), axis=2)
    gains, reach = found.values - at, found.infoset_reach
    candidates = [*_by_scores(game, matrix, gains), *_by_points(game, matrix, reach)]
    first = [float(gains[one.cells, one.roll].sum()) for one in candidates]
    rate = win_rate(game, matrix, against, endless_is_draw=True).win_rate
    order = np.argsort(first)[::-1].tolist()
    own = [place for place in order if candidates[place].is_own][: MEASURED // 10]
    measured = []
    for place in dict.fromkeys([*own, *order[:MEASURED]]):
        one = candidates[place]
        changed = np.where(one.cells, np.int8(one.roll), matrix)
        cells = (changed != matrix) & (reach > 0.0)
        gain = win_rate(game, changed, against, endless_is_draw=True).win_rate - rate
        if gain >= LEAST:
            change = RuleChange(one.change, int(cells.sum()), gain)
            measured.append((change, cells, one.is_own))
    measured.sort(key=lambda one: -one[0].gain)
    # The best threshold of the student's own kind is listed whatever else changes its cells.
    listed = [change for change, _, is_own in measured if is_own][:1]
    chosen: list[NDArray[np.bool_]] = []
    for change, cells, _ in measured:
        other = all(
            (cells & taken).sum() <= OVERLAP * min(cells.sum(), taken.sum()) for taken in chosen
        )
        if other and len(chosen) < LISTED:
            chosen.append(cells)
            listed += [change] if change not in listed else []
    return sorted(listed, key=lambda change: -change.gain)


def _by_scores(game: HogEngine, matrix: Matrix, gains: Floats) -> Iterator[_Candidate]:
    """Give for each roll, and each that it replaces, the best conditions to first order.

    A condition holds where a number that the scores give is at least a limit.
    """
    own, other = np.meshgrid(*map(np.arange, matrix.shape), indexing="ij")
    families: tuple[tuple[str, Ints, int], ...] = (
        ("from {} points on", own, 0),
        ("up to {} points", -own, 1 - game.goal),
        ("when the opponent has {} or more", other, 1),
        ("when {} or more ahead", own - other, 1),
        ("when {} or more behind", other - own, 1),
    )
    names = list(map(dice_in_words, game.choices))
    for text, key, least in families:
        limits = np.arange(least, key.max() + 1)[::-1]
        for before in (None, *np.unique(matrix).tolist()):
            where = key >= least
            where = where if before is None else where & (matrix == before)
            sums = np.zeros((len(limits), game.num_actions))
            np.add.at(sums, key.max() - key[where], gains[where])
            best = np.argsort(-sums.cumsum(axis=0), axis=0, kind="stable")[:LISTED]
            instead = "" if before is None else f" instead of {names[before]}"
            for (_, roll), place in np.ndenumerate(best):
                limit = int(limits[place])
                change = f"{names[roll]}{instead} {text.format(abs(limit))}"
                yield _Candidate(change, where & (key >= limit), roll)


def _by_points(game: HogEngine, matrix: Matrix, reach: Floats) -> Iterator[_Candidate]:
    """Give other thresholds of the points from which on no dice are rolled."""
    rules, cells, no = game.rules, list(np.ndindex(matrix.shape)), game.choices.index(0)
    points = np.array([zero_points(rules, *cell) for cell in cells]).reshape(matrix.shape)
    scored = np.array(
        [
            land(rules, own + zero_points(rules, own, other), other).score - own
            for own, other in cells
        ]
    ).reshape(matrix.shape)
    met, none = reach > 0.0, matrix == no
    if not (met & ~none).any():
        return
    usual = int(np.bincount(matrix[met & ~none]).argmax())
    families = []
    for table, on, before in (
        (points, "from {} points on", "from {}"),
        (scored, "where the score rises by {} or more", "by {}"),
    ):
        steps = np.unique(table).tolist()
        both = [(none & (table >= step))[met].sum() for step in steps]
        either = [(none | (table >= step))[met].sum() for step in steps]
        fits = np.divide(both, np.maximum(either, 1))
        families.append((float(fits.max()), int(fits.argmax()), steps, table, on, before))
    closest = max(FIT, *(fit for fit, *_ in families))
    for fit, best, steps, table, on, before in families:
        is_own = fit == closest  # the table has this threshold, or nearly
        for place, step in enumerate(steps):
            begin = on.format(step)
            moved = f"no dice {begin}, not {before.format(steps[best])}"
            lower, higher = (is_own and place < best), (is_own and place > best)
            more = moved if lower else f"no dice {begin} too"
            less = moved if higher else f"no dice only {begin}"
            yield _Candidate(more, (table >= step) & ~none, no, lower)
            yield _Candidate(less, (table < step) & none, usual, higher)


def dice_in_words(number: int) -> str:
    """Name a roll."""
    return {0: "no dice", 1: "1 die", -1: "-1"}.get(number, f"{number} dice")
