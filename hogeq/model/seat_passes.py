"""Arrays of one graph that backward inductions share, for the player in one seat.

Sizes: C positions; the player moves at O of them, its *own*; R rows, H memories, K actions, U ways
to play that one kind of position has at most, J lanes of the memory.
"""

import numpy as np

from hogeq.graph.graph import Graph
from hogeq.kernels import priced as kernels
from hogeq.kernels.priced import ClaimPass
from hogeq.model.graph_passes import scratch_for
from hogeq.model.pass_graph import pass_graph_of
from hogeq.support.aliases import Floats, Ints

WIDTH = 8  # numbers side by side in a pass over claims
ABSENT = -1  # number of a position that is not the player's own


class SeatPasses:
    """What passes over one graph need, whatever the other player's policy is.

    `order`, if given, is one of all positions (C,) that is better for a cache; it is taken only if
    no turn leads back in it. Payoffs are divided by `scale`.
    """

    def __init__(self, graph: Graph, seat: int, order: Ints | None, scale: float) -> None:
        self.graph, self.seat = graph, seat
        self._predecessors, self._predecessor_start = _predecessors(graph)
        if order is None or not self._is_topological(order):
            order = np.arange(graph.positions)
        self.pass_graph = pass_graph_of(graph)._replace(position_order=order.astype(np.int32))
        payoff_of_seat = graph.payoff if seat == 0 else graph.total - graph.payoff
        self.payoff = payoff_of_seat / scale  # (T,)
        self.scratch = scratch_for(self.pass_graph, 1)
        self.positions = np.flatnonzero(graph.player == seat)  # (O,) at which the player moves
        # (C,), number of a position among the own.
        self.own_index = np.full(graph.positions, ABSENT)
        self.own_index[self.positions] = np.arange(len(self.positions))
        self._row = graph.row[self.positions].astype(np.int64)  # (O,)
        self._sorted_by_row = np.argsort(self._row, kind="stable")
        sorted_rows = self._row[self._sorted_by_row]
        self._row_start = np.searchsorted(sorted_rows, np.arange(graph.rows + 1))
        self._claim_passes: dict[int, ClaimPass] = {}  # by width

    @property
    def num_slots(self) -> int:
        """Number of pairs of a way to play and a lane that a position has at most, U * J."""
        return len(self.scratch.way_reach)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Shape of the prices of actions, (O, H, K)."""
        return len(self.positions), self.graph.memories, self.graph.num_actions

    def positions_of_row(self, row: int) -> Ints:
        """Own positions in an information set (row), (m,), by their numbers among the own."""
        if row >= self.graph.rows:
            return np.zeros(0, np.int64)
        return self._sorted_by_row[self._row_start[row] : self._row_start[row + 1]]

    def sum_by_row(self, numbers: Floats) -> Floats:
        """Sum numbers of the own positions, (O,), for each row: (R,)."""
        return np.bincount(self._row, numbers, self.graph.rows).astype(np.float64)

    def claim_pass(self, width: int) -> ClaimPass:
        """Return the arrays of a pass over claims, of `width` numbers side by side; made once.

        Arrays that do not depend on the width are shared by all widths.
        """
        if width not in self._claim_passes:
            own, memories, actions = self.shape
            positions = self.graph.positions
            ways = self.num_slots // self.pass_graph.next_memory.shape[1]
            shared = next(iter(self._claim_passes.values()), None)
            self._claim_passes[width] = ClaimPass(
                predecessors=shared.predecessors if shared else self._predecessors.astype(np.int32),
                predecessor_start=self._predecessor_start,
                relation=shared.relation if shared else np.zeros(positions, np.uint8),
                state_worths=np.zeros(positions * memories * width),
                price_cuts=shared.price_cuts if shared else np.zeros(self.shape),
                way_value_falls=(
                    shared.way_value_falls if shared else np.zeros((own, self.num_slots))
                ),
                end_worths=np.zeros(len(self.scratch.end_values) * width),
                slot_worths=np.zeros(self.num_slots * width),
                gains=np.zeros((ways, ways)),
                has_gains=np.zeros(ways, np.uint8),
                actions=np.zeros((2, actions)),
                memories_by_lane=np.argsort(self.graph.lane, kind="stable"),
            )
        return self._claim_passes[width]

    def count_before(self, row: int) -> int:
        """Count the own positions from which play can come to a row, and those of the row.

        -1 if a play can meet the row twice.
        """
        row_positions = self.positions[self.positions_of_row(row)]
        claim_pass = self.claim_pass(WIDTH)
        count = kernels.count_before(self.pass_graph, self.own_index, claim_pass, row_positions)
        return int(count)

    def numbers_among(self, listed: Ints) -> Ints:
        """Index of each own position in a list of own positions, (O,); `ABSENT` if not listed."""
        index = np.full(len(self.positions), ABSENT)
        index[listed] = np.arange(len(listed))
        return index

    def mean_at_start(self, width: int) -> Floats:
        """Mean over the start states of the worths of claims of the last pass, (width,)."""
        claim_pass = self.claim_pass(width)
        position, memory = self.graph.start.T
        worths = claim_pass.state_worths.reshape(self.graph.positions, -1, width)
        # Positions that the pass left out have numbers of an earlier pass.
        chances = self.graph.start_chance * (claim_pass.relation[position] > 0)
        return np.asarray(chances @ worths[position, memory])

    def bytes_of_responder(self) -> int:
        """Bytes of the arrays that a responder adds: prices, values and choices."""
        own, memories, actions = self.shape
        bytes_of_state = 8 * (actions + 2) + 3  # eight for each double, one for each small number
        return own * (memories * bytes_of_state + 8 * self.num_slots)

    def _is_topological(self, order: Ints) -> bool:
        """Whether an order has every position once, and after all its predecessors."""
        positions = self.graph.positions
        rank = np.full(positions, -1)  # index of each position in the order
        rank[order] = np.arange(len(order))
        if len(order) != positions or (rank < 0).any():
            return False
        rank_of_successor = np.repeat(rank, np.diff(self._predecessor_start))
        return bool((rank[self._predecessors] < rank_of_successor).all())


def _predecessors(graph: Graph) -> tuple[Ints, Ints]:
    """List the positions from which a turn leads to each position.

    Returns all of them one after another, and where that of each position begins, (C + 1,).
    """
    count = graph.positions
    position, entry = graph.ends
    successor = graph.next[entry].astype(np.int64)
    goes_on = successor >= 0  # else play ends
    edges = np.sort(successor[goes_on] * count + position[goes_on])  # successor, then predecessor
    edges = edges[np.flatnonzero(np.diff(edges, prepend=-1))]  # np.unique takes 30 times as long
    start = np.searchsorted(edges // count, np.arange(count + 1))
    return edges % count, start
