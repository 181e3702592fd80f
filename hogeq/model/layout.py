"""How memory is laid out in lanes, and in which order cells are passed over."""

from functools import cached_property
from itertools import product
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels.tables import KEPT, SCATTERED, SWAPPED, Strides
from hogeq.rules import Rules
from hogeq.rules.memory import Memory, memory_sizes, records_left, states
from hogeq.rules.outcomes import TurnTable
from hogeq.support.aliases import Ints

LANE_STEP = 8  # lanes are padded to whole vectors, so that few widths are ever compiled

STRIP = 8  # higher scores of a strip of cells, whose columns are to fit in a core's cache


class Layout:
    """How memory is split into an active part and a lane, and where afterstates lie.

    The active part (extra turn, own record) decides how rolls play and is forgotten or replaced;
    the lane (state, turn number, opponent's record) is only carried to the next mover, or changed
    on the way by what is recorded of the turn.

    Attributes
    ----------
    kept : int
        Values of either player's own record.
    records : int
        W: what a turn can leave, a player's record and what changes the state.
    active, lanes, width : int
        J, lanes in use, and L with their padding.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.goal = rules.goal
        self.turns, self.extras, self.kept = memory_sizes(rules)
        self.states = states(rules)
        self.records = records_left(rules)
        self.active = self.extras * self.kept
        self.lanes = self.states * self.turns * self.kept
        self.width = 1 if self.lanes == 1 else -(-self.lanes // LANE_STEP) * LANE_STEP

    def slot(self, memory: Memory) -> int:
        """Where a memory is kept: active part times the width, plus the lane."""
        active = memory.extra * self.kept + memory.own
        lane = (memory.state * self.turns + memory.turn) * self.kept + memory.opponent
        return active * self.width + lane

    def memory(self, active: int, lane: int) -> Memory:
        """Memory of an active part and a lane."""
        extra, own = divmod(active, self.kept)
        carried, opponent = divmod(lane, self.kept)
        state, turn = divmod(carried, self.turns)
        return Memory(turn, extra, own, opponent, state)

    @cached_property
    def strides(self) -> Strides:
        """Where afterstates lie: by what one base can score, if points are remembered."""
        width = self.width
        if self.rules.feral_hogs == "points":
            scores = self.records * width
            columns = (self.goal + self.records - 1) * scores
            origin = (self.records - 1) * scores
            return Strides(origin, self.goal * columns, columns, scores, width - scores)
        columns = self.records * self.goal * width
        return Strides(0, self.goal * columns, columns, width, self.goal * width)

    def base(self, end: int, own: int, opponent: int) -> int:
        """Position of an afterstate with record 0."""
        strides = self.strides
        return (
            strides.origin + end * strides.ends + opponent * strides.columns + own * strides.scores
        )

    @overload
    def offset(self, points: int, gift: int, recorded: int) -> int: ...

    @overload
    def offset(self, points: Ints, gift: Ints, recorded: Ints) -> Ints: ...

    def offset(self, points: Any, gift: Any, recorded: Any) -> Any:
        """Distance of an outcome's afterstate from that of no points with record 0."""
        strides = self.strides
        return gift * strides.columns + points * strides.scores + recorded * strides.records


def memory_table(layout: Layout, turns: TurnTable) -> NDArray[np.uint64]:
    """Slot of the next mover's memory by (moves again, record, lane); padding maps to itself."""
    table = np.tile(np.arange(layout.width, dtype=np.uint64), (2, layout.records, 1))
    for again, recorded, lane in product((0, 1), range(layout.records), range(layout.lanes)):
        # The active part does not matter: what is kept of it is the record, given here.
        before = layout.memory(0, lane)
        table[again, recorded, lane] = layout.slot(turns.next_memory(before, recorded, bool(again)))
    return table


def pass_order(goal: int) -> tuple[Ints, Ints]:
    """Order of the cells, and the starts of its runs.

    Strips of the higher score, and in each by the lower, a cell with its mirror image: these are a
    run. A landing leaves both scores as high as the afterstate's or higher, or swaps them, and so
    leads to the same pair of cells or further on.
    """
    own, opponent = (axis.ravel() for axis in np.indices((goal, goal)))
    low, high = np.minimum(own, opponent), np.maximum(own, opponent)
    keys = np.stack([high // STRIP, low, high, own])
    order = np.lexsort(keys[::-1])
    starts = np.flatnonzero(np.diff(keys[:3, order], axis=1, prepend=-1).any(axis=0))
    return order.astype(np.int64), np.append(starts, goal**2).astype(np.int64)


def handover_kinds(layout: Layout, next_memory: NDArray[np.uint64]) -> Ints:
    """How the next mover's memory is made, by again: see :mod:`hogeq.kernels.tables`."""
    record, lane = np.ogrid[: layout.records, : layout.lanes]
    kept = record * layout.width + lane
    swapped = lane * layout.width + record
    found = [SCATTERED, SCATTERED]
    for again in (0, 1):
        table = next_memory[again, :, : layout.lanes]
        if np.array_equal(table, kept):
            found[again] = KEPT
        elif not again and layout.active == layout.lanes and np.array_equal(table, swapped):
            found[again] = SWAPPED
    return np.array(found, np.int64)
