"""Win rates of two matrices, by kernels that compute the one roll that each makes."""

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels.memory_duel import DuelShape, write_duel
from hogeq.kernels.program import Program, zeros
from hogeq.kernels.tables import Tables
from hogeq.model.cell_passes import CellPasses
from hogeq.model.layout import pass_order
from hogeq.model.memory_passes import members_of, suit_memory_vectors
from hogeq.model.workspace import WinRate


def can_duel(tables: Tables) -> bool:
    """Whether matrices meet by :mod:`hogeq.kernels.memory_duel`."""
    return suit_memory_vectors(tables) and bool(
        (tables.zero_points == tables.zero_points[:, :1]).all()
        and (tables.zero_record == tables.zero_record[:, :1]).all()
    )


class Duels:
    """The arrays for win rates of two matrices, one pair after the other."""

    def __init__(self, passes: "MemoryDuel | CellPasses") -> None:
        self._passes = passes

    def win_rate(self, matrices: NDArray[np.int64]) -> WinRate:
        """Exact win rate of the first of two matrices, int64 (2, G, G)."""
        return WinRate.from_starts(*self._passes.starts(matrices))


class MemoryDuel:
    """The arrays for win rates of two matrices, one pair after the other."""

    def __init__(self, tables: Tables) -> None:
        dimensions, lanes = tables.dimensions, len(tables.lane)
        goal, kind = dimensions.goal, tables.plane_dice[0]
        scores = goal + dimensions.ring - 1
        members = members_of(tables)
        self._members = zeros((dimensions.num_actions, lanes), np.float64)
        for roll, some in enumerate(members):
            self._members[roll, list(some)] = 1.0
        opponent, score = np.divmod(tables.arrival_row, goal)
        afterstates = 2 * goal * scores
        self._start = divmod(tables.start, lanes)
        self._starts = np.zeros((2, 2, lanes))
        self._program = Program(write_duel, DuelShape(lanes, dimensions.num_actions))
        self._numbers = goal, scores
        self._before = (
            np.column_stack(pass_order(goal)).ravel(),
            tables.terminal_win[kind].ravel(),
            np.append(tables.outcome_start[kind], len(tables.outcome_prob)),
            tables.outcome_stop[kind].ravel(),
            np.append(tables.outcome_prob, np.ones(goal)),
            np.append(tables.outcome_points, tables.zero_points[kind, 0]),
            np.append(tables.outcome_record, tables.zero_record[kind, 0]),
            np.where(list(map(bool, members)), dimensions.ring - 1, 0),
            self._members.ravel(),
            opponent * scores + score,
            tables.arrival_start,
        )
        self._after = (
            zeros((afterstates * 2 * lanes,), np.float64),
            np.zeros(afterstates, np.int64),
            self._starts.ravel(),
        )

    def starts(self, matrices: NDArray[np.int64]) -> tuple[float, float]:
        """Win probability of each of two matrices, int64 (2, G, G), when it moves first."""
        self._program(self._numbers, (*self._before, matrices.reshape(-1), *self._after))
        active, lane = self._start
        value, lost = self._starts[:, :, lane].T
        won = value - self._members[matrices[:, 0, 0], active] * lost
        return float(won[0]), float(won[1])
