"""The passes over the graph of a game of Hog, as a layout."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hogeq.graph.graph import Graph
from hogeq.kernels.arrays import FULL_MEMORY
from hogeq.model.graph_passes import GraphPasses
from hogeq.model.pass_graph import pass_graph_of
from hogeq.model.protocol import Reach
from hogeq.support.aliases import Floats, Ints


class GraphLayout:
    """Values and reach of every hidden state of a game, in double precision.

    Player 0 is the player of a pass. Where each player has a goal of its own, player 0 has the
    first; in self-play one strategy moves for both. `totals_rise` says that every turn raises the
    total score.
    """

    def __init__(
        self,
        graph: Graph,
        shape: tuple[int, int, int],
        players: int,
        matches: int = 1,
        *,
        totals_rise: bool,
    ) -> None:
        """Make the passes, and find the position of each player and cell; `shape` is (G, G, K)."""
        size, _, actions = shape
        num_cells = size**2
        mirrored = players == 1 and len(pass_graph_of(graph).mirror_position) > 0
        order = near_first(graph, size) if totals_rise else None
        self.passes = GraphPasses(graph, matches, use_mirrors=mirrored, rows=num_cells, order=order)
        self.graph, self.players, self._size = graph, players, size
        # By player and cell; -1 where play never comes.
        self._position: Ints = np.full((2, num_cells), -1)
        self._position[graph.player, graph.row] = np.arange(graph.positions)
        self.action_values = self.passes.action_values.reshape(size, size, actions)
        self.each_reach = self.passes.row_reach.reshape(matches, size, size)

    def forward(self, policies: Floats, *, memories: bool = True) -> Floats:
        """Compute the reach of the player's cells against each opponent: `each_reach`, (n, G, G).

        `policies` are (1 + n, G, G, K), the player's first, or one alone in self-play.
        """
        del memories  # they are there in any case
        self.passes.forward(self._by_row(policies))
        return self.each_reach

    def backward(
        self, role: int, policies: Floats, reach: Reach, temperature: float, damping: float
    ) -> tuple[Floats, int]:
        """Compute the values of all states, the player acting by its role.

        COUNTERFACTUAL fills `action_values`, (G, G, K); ASCEND and SOFTMAX change the first of the
        `policies`; in FULL_MEMORY both players take their best rolls in self-play. `reach` is that
        of the mixture of opponents. Returns the win probability of each player when moving first,
        (n, players), and how many rows ASCEND changed.
        """
        both_respond = role == FULL_MEMORY and self.players == 1
        rows = self._by_row(policies)
        weights = np.ascontiguousarray(reach.weights, np.float64)
        starts, changes = self.passes.backward(
            role, rows, weights, temperature, damping, both_respond=both_respond
        )
        # Starts are player 0 moving first, and second; the other wins what player 0 does not.
        first, other = starts[:, 0], 1.0 - starts[:, 1]
        win_probabilities = [first] if self.players == 1 else [first, other]
        return np.stack(win_probabilities, axis=1), changes

    @staticmethod
    def _by_row(policies: Floats) -> Floats:
        return policies.reshape(len(policies), -1, policies.shape[-1])

    def of_states(self, states: NDArray[Any]) -> NDArray[Any]:
        """Copy player 0's part of an array by state, (C, H), to (G, G, H); 0 if never reached."""
        position = self._position[0]
        by_cell = np.where((position >= 0)[:, None], states[position], 0).astype(states.dtype)
        return by_cell.reshape(self._size, self._size, -1)


def near_first(graph: Graph, size: int) -> Ints:
    """Order positions, (C,), so that neighbouring cells, which the same cells follow, are close.

    What follows them is then still in the cache. Totals must rise: then turns only raise the lower
    and the higher of two scores, so that what follows a position comes later.
    """
    own, opponent = np.divmod(graph.row.astype(np.int64), size)
    low, high = np.minimum(own, opponent), np.maximum(own, opponent)
    return np.lexsort((graph.player, low, high, low // 2, high // 2))
