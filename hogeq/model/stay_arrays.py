"""The arrays that passes by diagonals fill where turns can stay, and the passes themselves."""

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels import orbit_reach, orbit_values, roles, stay_reach, stay_values
from hogeq.kernels.diagonals import CELLS, Diagonals
from hogeq.kernels.storage import zeros
from hogeq.kernels.tables import Tables
from hogeq.kernels.view import TablesView
from hogeq.model.diagonal_arrays import DiagonalArrays
from hogeq.support.aliases import Floats


class StayArrays(DiagonalArrays):
    """As :class:`hogeq.model.diagonal_arrays.DiagonalArrays`, against one opponent only."""

    def __init__(self, tables: Tables, diagonals: Diagonals, seats: int) -> None:
        super().__init__(tables, diagonals, seats)
        game, blocks = diagonals, seats * diagonals.blocks
        self._whole = TablesView(tables)
        self._lines = zeros(((blocks + 1) * (game.lines + 1) * CELLS,), np.float64)
        self._played = zeros((blocks * game.num_actions * CELLS,), np.float64)
        cells = (seats * game.width,)
        self._rest, self._stay, self._leave, self._won, self._onward = (
            zeros(cells, np.float64) for _ in range(5)
        )
        most = 2 * int(np.diff(tables.cycles.entry_start).max(initial=0))
        self._chained = (
            np.zeros(most, np.int64),
            np.zeros((most, game.num_actions)),
            np.zeros((most, most)),
            np.zeros(most),
            np.zeros(most),
        )

    def forward(
        self, policies: Floats, infoset_reach: Floats, *, memories: bool = True, pair: int = 0
    ) -> None:
        """Fill `infoset_reach`, and what weights values if `memories` are asked for."""
        stay_reach.forward(
            self._view,
            policies,
            self.weights[pair] if memories else self.weights[:0, 0],
            self._inflow,
            self._sums,
            self._arrived,
            self._found,
            self._played,
            self._scratch,
            self._won,
            self._stay,
            self._leave,
            infoset_reach,
            self._rows,
            self.seats,
        )

    def backward(
        self,
        role: int,
        policies: Floats,
        counterfactual_values: Floats,
        choice: NDArray[np.int8],
        temperature: float,
        damping: float,
        *,
        keep: bool = False,
        weights: Floats | None = None,
    ) -> tuple[float, float, int]:
        """Pass over all cells, as :meth:`hogeq.model.diagonal_arrays.DiagonalArrays.backward`."""
        given = self.weights if weights is None else weights
        weighted = role in (roles.COUNTERFACTUAL, roles.ASCEND, roles.SOFTMAX)
        remembers = role == roles.FULL_MEMORY
        changes = stay_values.backward(
            self._view,
            self._whole,
            role,
            policies,
            given[0] if weighted else None,
            self._known,
            self._sums,
            self._worth,
            self._lines,
            self._played,
            self._averages,
            self._rest,
            self._stay,
            self._leave,
            self._won,
            self._onward,
            counterfactual_values if weighted else None,
            choice if remembers else None,
            self._chained if remembers else None,
            self._kept if keep else self._kept[:0],
            temperature,
            damping,
            self._rows,
            self._roots,
        )
        return float(self._roots[0]), float(self._roots[-CELLS]), int(changes)


class OrbitArrays(DiagonalArrays):
    """The same where something is remembered; any role but FULL_MEMORY."""

    remembers = False

    def __init__(self, tables: Tables, diagonals: Diagonals, seats: int) -> None:
        super().__init__(tables, diagonals, seats)
        game, blocks = diagonals, seats * diagonals.blocks
        self._lines = zeros((blocks * (game.lines + 1) * CELLS,), np.float64)
        self._played = zeros((blocks * game.num_actions * CELLS,), np.float64)
        self._before = zeros((game.blocks * game.num_actions * CELLS,), np.float64)
        rows = game.memories * seats * game.width
        self._given = zeros((rows + game.orbits.chances * seats * game.width,), np.float64)
        self._won, self._visits = (zeros((rows,), np.float64) for _ in range(2))
        self._slots = zeros((game.orbits.slots * CELLS,), np.float64)
        self._moved = zeros((game.width,), np.float64)

    def forward(
        self, policies: Floats, infoset_reach: Floats, *, memories: bool = True, pair: int = 0
    ) -> None:
        """Fill `infoset_reach`, and what weights values if `memories` are asked for."""
        orbit_reach.forward(
            self._view,
            policies,
            self.weights[pair] if memories else self.weights[:0, 0],
            self._inflow,
            self._sums,
            self._arrived,
            self._found,
            self._played,
            self._scratch,
            self._given,
            self._slots,
            self._visits,
            infoset_reach,
            self._rows,
            self.seats,
        )

    def backward(
        self,
        role: int,
        policies: Floats,
        counterfactual_values: Floats,
        choice: NDArray[np.int8],  # noqa: ARG002 - of FULL_MEMORY
        temperature: float,
        damping: float,
        *,
        keep: bool = False,
        weights: Floats | None = None,
    ) -> tuple[float, float, int]:
        """Pass over all cells, as :meth:`hogeq.model.diagonal_arrays.DiagonalArrays.backward`."""
        given = self.weights if weights is None else weights
        weighted = role in (roles.COUNTERFACTUAL, roles.ASCEND, roles.SOFTMAX)
        changes = orbit_values.backward(
            self._view,
            role,
            policies,
            given[0] if weighted else None,
            self._known,
            self._sums,
            self._worth,
            self._lines,
            self._played,
            self._before,
            self._averages,
            self._given,
            self._slots,
            self._won,
            self._moved,
            counterfactual_values if weighted else None,
            self._kept if keep else self._kept[:0],
            temperature,
            damping,
            self._rows,
            self._roots,
        )
        return float(self._roots[0]), float(self._roots[-CELLS]), int(changes)
