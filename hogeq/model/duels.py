"""Win rates of two matrices, by kernels that compute the one roll that each makes."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels.diagonals import Diagonals
from hogeq.kernels.duel import DuelArrays, can_duel, duel, duel_arrays
from hogeq.kernels.storage import zeros
from hogeq.kernels.tables import Tables
from hogeq.kernels.view import TablesView
from hogeq.kernels.windowed import LENGTH, common_record, windowed_arrays, windowed_duel
from hogeq.model.diagonal_arrays import DiagonalArrays
from hogeq.model.workspace import WinRate, Workspace
from hogeq.support.aliases import Floats, Ints

CACHE = 2 << 20  # bytes of a second-level cache


def suits_duels(diagonals: Diagonals) -> bool:
    """Whether the sums of two players, who meet by diagonals, stay in the second-level cache.

    If not, it is quicker to sum the outcomes of the one roll that a matrix makes.
    """
    return 2 * diagonals.sum_size * np.dtype(np.float64).itemsize < CACHE


class Duels:
    """The arrays for win rates of two matrices, one pair after the other.

    Raises
    ------
    ValueError
        If the game has no diagonals, and its memory is not such that
        :func:`hogeq.kernels.duel.can_duel` holds.
    """

    def __init__(self, tables: Tables, diagonals: Diagonals | None = None) -> None:
        self._diagonal: DiagonalArrays | None = None
        self._passes: Workspace | None = None
        if diagonals is not None:
            if suits_duels(diagonals):
                self._diagonal = DiagonalArrays(tables, diagonals, 2)
            else:
                self._passes = Workspace(tables, 2)
                self._rolls = np.eye(tables.dimensions.num_actions)
            return
        if not can_duel(tables):
            raise ValueError("duels: allowed: games that only swap records between turns")
        self.tables = tables
        self._view = TablesView(tables)
        self._windowed = windowed_arrays(tables) if common_record(tables) >= 0 else None
        self._few = tables.dimensions.num_actions
        if self._windowed is not None:
            lengths = self._windowed[0].rolls[:, LENGTH]
            self._few = int(np.argmax(lengths > 0)) if lengths.any() else self._few

    @cached_property
    def _plain(self) -> tuple[DuelArrays, Floats, Ints]:
        dimensions = self.tables.dimensions
        afterstates = 2 * dimensions.goal * (dimensions.goal + dimensions.ring - 1)
        worth = zeros((afterstates * 2 * len(self.tables.lane),), np.float64)
        return duel_arrays(self.tables), worth, np.zeros(afterstates, np.int64)

    def win_rate(self, matrices: NDArray[np.int64]) -> WinRate:
        """Exact win rate of the first of two matrices, int64 (2, G, G)."""
        if self._passes is not None:
            return self._passes.win_rate(self._rolls[matrices])
        if self._diagonal is not None:
            first, other = self._diagonal.match(matrices)
        elif self._windowed is not None and matrices.max() >= self._few:
            arrays, scratch = self._windowed
            first, other = windowed_duel(self._view, arrays, matrices, scratch)
        else:
            first, other = duel(self._view, self._plain[0], matrices, *self._plain[1:])
        return WinRate.from_starts(first, other)
