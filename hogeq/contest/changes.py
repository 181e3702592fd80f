"""How two tables differ, what each change is worth, and a table made better."""

from collections.abc import Iterator, Sequence
from time import monotonic
from typing import NamedTuple

import numpy as np

from hogeq.contest.field import Answer, Field, ascend, mean_wins
from hogeq.evaluation.win_rates import win_rate
from hogeq.model.game import HogEngine
from hogeq.strategies.arrays import StrategyError, one_hot
from hogeq.strategies.strategy import Strategy, StrategyLike, table_of
from hogeq.support.aliases import Floats, Matrix


class CellChange(NamedTuple):
    """A cell in which two tables differ."""

    score: int
    opponent: int
    before: int
    after: int
    gain: float
    """Gain of win rate by this change alone."""
    reach: float
    """Probability that the first table comes to move there."""


class Difference(NamedTuple):
    """How a table differs from another.

    Examples
    --------
    >>> import hogeq
    >>> game = hogeq.Game({"edition": "fa25", "goal": 20, "max_dice": 4})
    >>> found = game.diff("always_roll:3", "optimal", against="always_roll:2")
    >>> len(found.changes), round(found.after - found.before, 3)
    (336, 0.134)
    """

    before: float
    """Mean win rate of the first table against the opponents."""
    after: float
    """That of the second."""
    match: float
    """Win rate of the second against the first; a game that never ends counts as half a win."""
    changes: tuple[CellChange, ...]
    """The one that gains most first."""
    gains: Floats
    """(G, G), what each change gains alone; 0 where the tables agree."""
    reach: Floats
    """(G, G), of the first table."""

    def __repr__(self) -> str:
        """Say how much changed: the arrays would fill pages."""
        return (
            f"Difference({len(self.changes)} cells, {self.before:.4f} becomes {self.after:.4f}; "
            f"match {self.match:.4f})"
        )


def diff(
    game: HogEngine, first: StrategyLike, second: StrategyLike, against: Sequence[StrategyLike]
) -> Difference:
    """Value every cell of `first` that is another in `second`, against some opponents.

    A win rate is linear in each cell, so what one change gains is exact; changes together may gain
    more or less than their sum. Where positions recur it is exact to first order.
    """
    one, two = (_matrix(game, given) for given in (first, second))
    field = Field(game, [table_of(game, rival) for rival in against])
    before, after = (one_hot(table, game.num_actions) for table in (one, two))
    found = field.measure(before)
    gains = (found.values * (after - before)).sum(axis=-1)
    changes = []
    for own, other in np.argwhere(one != two).tolist():
        rolls = int(one[own, other]), int(two[own, other])
        worth = float(gains[own, other]), float(found.infoset_reach[own, other])
        changes.append(CellChange(own, other, *rolls, *worth))
    match = win_rate(game, two, one, endless_is_draw=True).win_rate
    return Difference(
        float(found.rates.mean()),
        float(field.rates_of(after).mean()),
        match,
        tuple(sorted(changes, key=lambda change: -change.gain)),
        gains,
        found.infoset_reach,
    )


def improvements(
    game: HogEngine,
    table: StrategyLike,
    against: Sequence[StrategyLike],
    cells: int | None = None,
) -> Iterator[Answer]:
    """Change a table step by step so that it wins more on average against some opponents.

    Each table that comes is better than the one before, and the first is the table itself. With
    `cells` one cell is changed at a time, the one that gains most, and at most so many in all.
    """
    start = _matrix(game, table)
    field = Field(game, [table_of(game, rival) for rival in against])
    yield field.answer(start)
    for answer in ascend(field, start.copy(), mean_wins, None if cells is None else 1):
        changed = int((np.asarray(answer.strategy) != start).sum())
        if cells is not None and changed > cells:
            return
        yield answer


def improve(
    game: HogEngine,
    table: StrategyLike,
    against: Sequence[StrategyLike],
    cells: int | None = None,
    seconds: float | None = None,
) -> Matrix:
    """Give the best table that `improvements` finds, within some seconds if they are given."""
    begun = monotonic()
    for answer in improvements(game, table, against, cells):
        best = np.array(answer.strategy, np.int8)
        if seconds is not None and monotonic() - begun > seconds:
            break
    return best


def _matrix(game: HogEngine, given: StrategyLike) -> Matrix:
    found: Strategy = table_of(game, given)
    if found.kind != "matrix":
        raise StrategyError(f"strategy: is a {found.kind}; allowed: a matrix, one roll a position")
    return np.array(found.array, np.int8)
