"""The arrays that passes by diagonals fill, and the passes themselves."""

import numpy as np
from numpy.typing import DTypeLike, NDArray

from hogeq.kernels import diagonal_reach, diagonal_values, roles
from hogeq.kernels.diagonals import Diagonals
from hogeq.kernels.storage import zeros
from hogeq.kernels.tables import Tables
from hogeq.kernels.view import TablesView
from hogeq.support.aliases import Floats


class DiagonalArrays:
    """What :class:`hogeq.model.workspace.Workspace` has of a game whose memory is small.

    Symbols of shapes are those of :mod:`hogeq.kernels.diagonals`; Q is the number of players.

    Parameters
    ----------
    tables : Tables
        The game, and ...
    diagonals : Diagonals
        ... the same by diagonals.
    seats : int
        1 for self-play, or 2.
    pairs : int
        Opponents that player 0 meets at once, each in a match of its own.
    dtype : dtype
        float64 or float32, as the diagonals are.

    Attributes
    ----------
    shares : float64 (pairs,)
        Of the opponents in a mixture.
    weights : (pairs, 2 G - 1, H, width)
        Reach of player 0's memories in the last pass forward, of the precision of the arrays.
    remembers : bool
        Whether FULL_MEMORY is among the roles.
    """

    remembers = True

    def __init__(
        self,
        tables: Tables,
        diagonals: Diagonals,
        seats: int,
        pairs: int = 1,
        dtype: DTypeLike = np.float64,
    ) -> None:
        self.tables, self.game, self.seats = tables, diagonals, seats
        game, players = diagonals, seats * pairs
        self._block = cells = len(game.lane)
        self._view = TablesView(game)
        pages, own_pages = len(game.page_end), 2 * game.memories
        self._totals = 2 * game.goal - 1
        self._known = zeros((players, pages, game.known_page), dtype)
        self._inflow = zeros((seats * pages * game.known_page,), dtype)
        self._worth = zeros((players, own_pages, game.worth_page), dtype)
        self._arrived = zeros((seats, own_pages, game.worth_page), dtype)
        # A page ends with the constants 0 and 1.
        for array in (self._known, self._worth):
            array[:, :, 1 - cells] = 1.0
        self._sums = zeros((players, game.sum_size), dtype)
        self._found = zeros((pairs * (game.lines + 1) * cells,), dtype)
        self._row, self._averages = zeros((2, game.num_actions * cells), dtype)
        single = np.dtype(dtype) == np.float32
        self._given = zeros((game.num_actions * cells,), np.float64) if single else self._row
        self._scratch = zeros((pages * cells,), dtype)
        self._rows = np.zeros(len(game.sides) * game.sum_rows, np.int64)
        self._roots = zeros((players * cells,), dtype)
        self.weights = zeros((pairs, self._totals, game.memories, game.width), dtype)
        self.shares = np.ones(pairs)
        self._kept = zeros((players, self._totals, game.memories, game.width), dtype)
        own, opponent = np.indices((game.goal, game.goal))
        self._cells = own + opponent, slice(None), opponent

    def forward(
        self, policies: Floats, infoset_reach: Floats, *, memories: bool = True, pair: int = 0
    ) -> None:
        """Fill `infoset_reach`, and what weights values if `memories` are asked for.

        Of player 0, first of the policies, and one opponent, each after it.
        """
        diagonal_reach.forward(
            self._view,
            policies,
            self.weights[pair] if memories else self.weights[:0, 0],
            self._inflow,
            self._sums,
            self._arrived,
            self._found,
            self._row,
            self._scratch,
            infoset_reach,
            self._rows,
            self.seats,
            1 + pair,
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
        """Pass over all cells, as :meth:`hogeq.model.workspace.Workspace.backward`.

        `choice` is (G, G, H), or empty if it is not asked for; `weights` are those of the last pass
        forward, unless given.
        """
        given = self.weights if weights is None else weights
        weighted = role in (roles.COUNTERFACTUAL, roles.ASCEND, roles.SOFTMAX)
        changes = diagonal_values.backward(
            self._view,
            role,
            policies,
            self.shares,
            given if weighted else None,
            self._known,
            self._sums,
            self._worth,
            self._found,
            self._given,
            self._row,
            self._averages,
            counterfactual_values if weighted else None,
            choice if role == roles.FULL_MEMORY else None,
            self._kept if keep else self._kept[:0],
            temperature,
            damping,
            self._rows,
            self._roots,
        )
        return float(self._roots[0]), float(self._roots[-self._block]), int(changes)

    @property
    def roots(self) -> Floats:
        """Win probabilities in the last pass of each player when moving first, (pairs, seats)."""
        return self._roots[:: self._block].reshape(-1, self.seats).astype(np.float64)

    def match(self, matrices: NDArray[np.int64]) -> tuple[float, float]:
        """Win probability of each of two matrices, (2, G, G), when it moves first."""
        diagonal_values.match(
            self._view,
            matrices,
            self._known,
            self._sums,
            self._worth,
            self._found,
            self._row,
            self._rows,
            self._roots,
        )
        return float(self._roots[0]), float(self._roots[self._block])


class DiagonalPasses:
    """Passes by diagonals; see :class:`hogeq.model.passes.Passes`."""

    def __init__(
        self,
        tables: Tables,
        diagonals: Diagonals,
        players: int,
        dtype: DTypeLike = np.float64,
        matches: int = 1,
    ) -> None:
        self._arrays = DiagonalArrays(tables, diagonals, players, matches, dtype)
        self.weights = self._arrays.shares
        self.weights[:] = 1.0 / matches

    def forward(self, policies: Floats, infoset_reach: Floats, *, memories: bool = True) -> None:
        """Fill the reach of cells against each opponent, (n, G, G)."""
        for pair, cells in enumerate(infoset_reach):
            self._arrays.forward(policies, cells, memories=memories, pair=pair)

    def backward(
        self,
        role: int,
        policies: Floats,
        action_values: Floats,
        infoset_reach: Floats,  # noqa: ARG002 - it is there
        temperature: float,
        damping: float,
    ) -> tuple[Floats, int]:
        """Pass over all cells, for the player, against all opponents."""
        none = np.zeros((0, 0, 0), np.int8)
        _, _, changes = self._arrays.backward(
            role, policies, action_values, none, temperature, damping
        )
        return self._arrays.roots, changes
