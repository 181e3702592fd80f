"""How memory is laid out in lanes, and in which order cells are passed over."""

from itertools import product

import numpy as np
from numpy.typing import NDArray

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


def memory_table(layout: Layout, turns: TurnTable) -> NDArray[np.uint64]:
    """Slot of the next mover's memory by (moves again, record, lane); padding maps to itself."""
    table = np.tile(np.arange(layout.width, dtype=np.uint64), (2, layout.records, 1))
    for again, recorded, lane in product((0, 1), range(layout.records), range(layout.lanes)):
        # The active part does not matter: what is kept of it is the record, given here.
        before = layout.memory(0, lane)
        table[again, recorded, lane] = layout.slot(turns.next_memory(before, recorded, bool(again)))
    return table


def pass_order(goal: int, strip: int = STRIP) -> tuple[Ints, Ints]:
    """Order the cells forward, by own and opponent's score: none leads to one before it.

    Strips of the higher score, and in each by the lower, a cell with its mirror image. A landing
    leaves both scores as high as the afterstate's or higher, or swaps them, and so leads to the
    same pair of cells or further on.
    """
    own, opponent = (axis.ravel() for axis in np.indices((goal, goal)))
    low, high = np.minimum(own, opponent), np.maximum(own, opponent)
    order = np.lexsort([own, high, low, high // strip])
    return own[order], opponent[order]


def swaps_records(layout: Layout, next_memory: NDArray[np.uint64]) -> bool:
    """Whether passing the turn makes nothing of the memory but an exchange of the records."""
    record, lane = np.ogrid[: layout.records, : layout.lanes]
    swapped = lane * layout.width + record
    table = next_memory[0, :, : layout.lanes]
    return layout.active == layout.lanes and np.array_equal(table, swapped)
