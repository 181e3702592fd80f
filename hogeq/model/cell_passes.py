"""Passes over games with small memories, by kernels written for their terms."""

import numpy as np
from numpy.typing import DTypeLike

from hogeq.kernels.cell_reach import write_reach
from hogeq.kernels.cell_values import write_values
from hogeq.kernels.program import Program, zeros
from hogeq.kernels.recurrence import EVALUATE
from hogeq.model.cell_layout import CellLayout, by_total
from hogeq.model.protocol import WinRate
from hogeq.model.tables import Tables
from hogeq.support.aliases import Floats, Ints


class CellPasses:
    """Passes of one player (self-play), or of one player against n opponents."""

    def __init__(
        self, tables: Tables, players: int, dtype: DTypeLike = np.float64, matches: int = 1
    ) -> None:
        cells = 64 // np.dtype(dtype).itemsize
        layout = CellLayout(tables, cells)
        shape, board = layout.shape, layout.board
        seats = matches * players
        self._players, self._matches, self._board = players, matches, board
        self._values = Program(write_values, shape, dtype)
        self._reach_program = Program(write_reach, shape, dtype)
        self._tables = (
            layout.landing.ravel(),
            layout.no_dice.ravel(),
            layout.handover.ravel(),
            layout.groups.ravel(),
            by_total(tables.situation),
            layout.source.ravel(),
        )
        self._edge = layout.edge.astype(dtype).ravel()
        pairs = layout.stays.astype(dtype).ravel(), zeros((seats * 4 * board.width,), dtype)
        sums = zeros((seats * layout.blocks * shape.sums * cells,), dtype)
        lines = zeros((matches * shape.lines * cells,), dtype)
        row = zeros(((shape.num_actions + 1) * cells,), np.float64)
        averages = zeros((shape.num_actions * cells,), dtype)
        landed = zeros((shape.pages * cells,), dtype)
        afterstates = zeros((seats * shape.pages, layout.afterstate_page), dtype)
        values = zeros((seats * 2 * shape.memories, layout.cell_page), dtype)
        afterstates[:, -1] = values[:, -1] = 1.0
        work = afterstates.reshape(-1), values.reshape(-1), sums, lines
        self._value_arrays = *work, row, averages, *pairs
        afterstates = zeros((players * shape.pages * layout.afterstate_page,), dtype)
        visits = zeros((players * 2 * shape.memories * layout.cell_page,), dtype)
        self._reach_arrays = afterstates, visits, sums, lines, landed, *pairs
        totals = 2 * board.goal - 1
        self._reach = zeros((matches, totals * shape.memories * board.width), dtype)
        self._starts, self._changes = np.zeros((matches, players)), np.zeros(2)

    def forward(self, policies: Floats, infoset_reach: Floats, *, memories: bool = True) -> None:
        """Fill the reach of cells; see :meth:`hogeq.model.workspace.Layout.forward`."""
        for match in range(self._matches):
            begun = 1.0 / self._players
            numbers = int(memories), self._players, 1 + match, begun, *self._board
            filled = self._reach[match], infoset_reach[match].reshape(-1)
            work = policies.reshape(-1), *self._reach_arrays
            self._reach_program(numbers, (*self._tables, *work, *filled))

    def backward(
        self,
        role: int,
        policies: Floats,
        weights: Floats,
        action_values: Floats,
        infoset_reach: Floats,
        temperature: float,
        damping: float,
    ) -> tuple[Floats, int]:
        """Pass over all cells; see :meth:`hogeq.model.workspace.Layout.backward`."""
        are_matrices = int(policies.ndim == 3)
        counts = int(role), are_matrices, self._players, self._matches
        read = policies.reshape(-1), self._reach.reshape(-1), weights, infoset_reach.reshape(-1)
        filled = self._starts.reshape(-1), action_values.reshape(-1), self._changes
        arrays = *self._tables, self._edge, *read, *self._value_arrays, *filled
        self._values((*counts, temperature, damping, *self._board), arrays)
        return self._starts, int(self._changes[0])

    def win_rate(self, matrices: Ints) -> WinRate:
        """Exact win rate of the first of two matrices, int64 (2, G, G)."""
        nothing = np.zeros(0)
        rolls = matrices.astype(np.float64)
        starts, _ = self.backward(EVALUATE, rolls, np.ones(1), nothing, nothing, 1.0, 1.0)
        return WinRate.from_starts(*starts[0].tolist())
