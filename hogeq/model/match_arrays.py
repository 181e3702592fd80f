"""The arrays by which one player meets many opponents by diagonals, matches side by side."""

import numpy as np
from numpy.typing import DTypeLike

from hogeq.kernels import match_reach, match_values
from hogeq.kernels.diagonals import Diagonals
from hogeq.kernels.storage import zeros
from hogeq.kernels.view import TablesView
from hogeq.model.many import Meetings
from hogeq.model.workspace import Role
from hogeq.support.aliases import Floats


class MatchArrays:
    """Passes of one player against all opponents, in packs of M matches.

    Symbols of shapes are those of :mod:`hogeq.kernels.diagonals`.

    Parameters
    ----------
    diagonals : Diagonals
        The game by diagonals for M matches, without turns that stay.
    opponents : float64 (n, G, G, K)
    dtype : dtype
        As the diagonals are.
    """

    def __init__(self, diagonals: Diagonals, opponents: Floats, dtype: DTypeLike) -> None:
        self._game = game = diagonals
        self._view = TablesView(game)
        self._pairs = len(opponents)
        self._matches = matches = len(game.match)
        packs, numbers = -(-self._pairs // matches), len(game.lane)
        pages = len(game.page_end)
        own = 2 * game.memories
        self._known = zeros((2 * packs, pages, game.known_page), dtype)
        self._worth = zeros((2 * packs, own, game.worth_page), dtype)
        # A page ends with the constants 0 and 1 of each match.
        for array in (self._known, self._worth):
            array[:, :, -matches:] = 1.0
        self._arrived = zeros((2, own, game.worth_page), dtype)
        self._inflow = zeros((2 * pages * game.known_page,), dtype)
        self._sums = zeros((2 * packs, game.sum_size), dtype)
        self._found = zeros((packs * game.lines * numbers,), dtype)
        self._row = zeros((game.num_actions * numbers,), dtype)
        self._averages = zeros(((game.num_actions + 1) * numbers,), dtype)
        self._scratch = zeros((pages * numbers,), dtype)
        blocks = packs * (2 * game.goal - 1) * game.blocks
        self._weights = zeros((blocks * game.memories * numbers,), dtype)
        self._rows = zeros((blocks * game.num_actions * numbers,), dtype)
        self._begun = zeros((packs, numbers), dtype)
        self._places = np.zeros(len(game.sides) * game.sum_rows, np.int64)
        self._roots = zeros((packs, 2, numbers), dtype)
        self.face(opponents)

    def face(self, opponents: Floats) -> None:
        """Set the opponents, which are copied."""
        game, matches = self._game, self._matches
        own, opponent = np.indices((game.goal, game.goal))
        cells = len(game.lane) // matches
        shape = -1, 2 * game.goal - 1, game.blocks, game.num_actions, cells, matches
        rows = self._rows.reshape(shape)
        for pair, policy in enumerate(opponents):
            pack, match = divmod(pair, matches)
            rows[pack, own + opponent, opponent // cells, :, opponent % cells, match] = policy

    def forward(self, policy: Floats, weights: Floats, infoset_reach: Floats) -> None:
        """Keep what weights values of the policy against every opponent, in the mixture."""
        infoset_reach[:] = 0.0
        self._begun[:, : self._matches].flat[: self._pairs] = weights / 2.0
        for pack, begun in enumerate(self._begun):
            match_reach.forward(
                self._view,
                policy,
                self._rows,
                begun,
                self._weights,
                self._inflow,
                self._sums[:2],
                self._arrived,
                self._found,
                self._row,
                self._scratch,
                infoset_reach,
                pack,
                self._places,
            )

    def backward(
        self,
        role: Role,
        policy: Floats,
        counterfactual_values: Floats,
        infoset_reach: Floats,  # noqa: ARG002 - as of other arrays
        temperature: float,
        damping: float,
    ) -> Meetings:
        """Improve the policy on the way."""
        changes: int = match_values.backward(
            self._view,
            int(role),
            policy,
            self._rows,
            self._weights,
            self._known,
            self._sums,
            self._worth,
            self._found,
            self._row,
            self._averages,
            counterfactual_values,
            temperature,
            damping,
            self._places,
            self._roots.reshape(-1),
        )
        roots = self._roots[:, :, : self._matches].astype(np.float64)
        first, other = roots.swapaxes(0, 1).reshape(2, -1)[:, : self._pairs]
        return Meetings(first, other, np.array(changes))
