"""A responder that knows every state and pays dual prices for its actions, and their changes.

Sizes: C positions; the responder moves at O of them, its *own*; R rows, H memories, K actions, U
ways to play that one kind of position has at most, J lanes of the memory. An information set (row)
has m own positions, each with all H memories: n states. What rows' prices,
cuts and maxima are: :mod:`hogeq.model.priced`.
"""

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np

from hogeq.graph.graph import Graph
from hogeq.kernels import priced, row_maxima
from hogeq.kernels.arrays import Play
from hogeq.kernels.priced import Responder
from hogeq.kernels.row_maxima import PricePass
from hogeq.model.graph_passes import scratch_for
from hogeq.model.pass_graph import pass_graph_of
from hogeq.support.aliases import Floats, Ints
from hogeq.support.messages import HogeqError

WIDTH = 8  # numbers side by side in a pass over a rise of prices, and fewest in any
ABSENT = -1  # number of a position that is not the player's own
MOST_MAXIMA = WIDTH - 1  # of one pass; the last number is the fall of the responder's value


def width_of(actions: int) -> int:
    """Numbers side by side in a pass over the prices of all actions: a power of two."""
    return max(WIDTH, 1 << (actions - 1).bit_length())


class SeatPasses:
    """What passes over one graph need, whatever the other player's policy is.

    `order`, if given, is one of all positions (C,) that is better for a cache; it is taken only if
    no turn leads back in it.
    """

    def __init__(self, graph: Graph, seat: int, order: Ints | None) -> None:
        """Order the positions, and number those at which the player of the seat moves."""
        self.graph, self.seat = graph, seat
        self._predecessors, self._predecessor_start = _predecessors(graph)
        if order is None or not self._is_topological(order):
            order = np.arange(graph.positions)
        self.pass_graph = pass_graph_of(graph)._replace(position_order=order.astype(np.int32))
        self.payoff = graph.payoff if seat == 0 else graph.total - graph.payoff  # (T,)
        self.scratch = scratch_for(self.pass_graph, 1)
        self.positions = np.flatnonzero(graph.player == seat)  # (O,) at which the player moves
        # (C,), number of a position among the own.
        self.own_index = np.full(graph.positions, ABSENT)
        self.own_index[self.positions] = np.arange(len(self.positions))
        self._row = graph.row[self.positions].astype(np.int64)  # (O,)
        self._sorted_by_row = np.argsort(self._row, kind="stable")
        sorted_rows = self._row[self._sorted_by_row]
        self._row_start = np.searchsorted(sorted_rows, np.arange(graph.rows + 1))

    @property
    def num_slots(self) -> int:
        """Number of pairs of a way to play and a lane that a position has at most, U * J."""
        return len(self.scratch.way_reach)

    @property
    def num_ways(self) -> int:
        """Number of ways to play that a position has at most, U."""
        return self.num_slots // self.pass_graph.next_memory.shape[1]

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

    @cached_property
    def price_pass(self) -> PricePass:
        """Allocate the arrays of a pass over the dual prices of one row, an information set.

        They have room for :func:`width_of` K numbers side by side, one for each action.
        """
        own, memories, actions = self.shape
        positions, width = self.graph.positions, width_of(actions)
        return PricePass(
            predecessors=self._predecessors.astype(np.int32),
            predecessor_start=self._predecessor_start,
            relation=np.zeros(positions, np.uint8),
            state_maxima=np.zeros(positions * memories * width),
            price_cuts=np.zeros(self.shape),
            way_value_falls=np.zeros((own, self.num_slots)),
            end_maxima=np.zeros(len(self.scratch.end_values) * width),
            slot_maxima=np.zeros(self.num_slots * width),
            gains=np.zeros((self.num_ways, self.num_ways)),
            has_gains=np.zeros(self.num_ways, np.uint8),
            values_now=np.zeros(actions),
            values_after=np.zeros(actions),
            reduced_costs=np.zeros(actions),
            memories_by_lane=np.argsort(self.graph.lane, kind="stable"),
        )

    def set_row_prices(self, row: int, row_prices: Floats) -> Ints:
        """Set maxima in a row's states to its prices, (m, H, width); return its positions, (m,).

        They are dual prices of the row's actions. A pass backward takes the maxima, the most that a
        responder can pay of each from a state on, from there.
        """
        members = self.positions[self.positions_of_row(row)]
        width = row_prices.shape[-1]
        self.state_maxima(width)[members] = row_prices.reshape(len(members), -1, width)
        return members

    def state_maxima(self, width: int) -> Floats:
        """Most paid of a row's prices from each state on, in `width` columns: (C, H, width)."""
        shape = self.graph.positions, self.graph.memories, width
        return self.price_pass.state_maxima[: math.prod(shape)].reshape(shape)

    def count_before(self, row: int) -> int:
        """Count the own positions from which play can come to a row, and those of the row.

        -1 if a play can meet the row twice.
        """
        row_positions = self.positions[self.positions_of_row(row)]
        return int(
            row_maxima.find_positions_before_row(
                self.pass_graph, self.own_index, self.price_pass, row_positions
            )
        )

    def numbers_among(self, listed: Ints) -> Ints:
        """Index of each own position in a list of own positions, (O,); `ABSENT` if not listed."""
        index = np.full(len(self.positions), ABSENT)
        index[listed] = np.arange(len(listed))
        return index

    def mean_at_start(self, width: int) -> Floats:
        """Mean over the start states of the maxima of prices of the last pass, (width,)."""
        position, memory = self.graph.start.T
        # Positions that the pass left out have numbers of an earlier pass.
        chances = self.graph.start_chance * (self.price_pass.relation[position] > 0)
        return np.asarray(chances @ self.state_maxima(width)[position, memory])

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


def _vector(width: int) -> tuple[float, ...]:
    """Zeros that tell a kernel by their type how many numbers go side by side."""
    return (0.0,) * width


class PriceRise(NamedTuple):
    """A rise of the dual prices of one row's actions in its n states, and the cuts that it allows.

    The row is an information set. Responders could steer towards its states, where actions are
    dear; cuts of the prices of actions before the row keep them from it. See
    :mod:`hogeq.search.lifted_bound`.
    """

    actions: Ints  # (A,), the actions whose prices rise, the first by most
    price_rises: Floats  # (A, n), of each of them in each state
    value_fall: Floats  # (n,), by how much the responder's value falls in each state
    covered_share: float  # share of what steering towards the rise gains that cuts cover
    cut_share: float  # largest share of an action's reduced cost by which its price is cut

    @property
    def num_maxima(self) -> int:
        """Number of maxima that a pass computes: the last may be that of several actions."""
        return min(len(self.actions), MOST_MAXIMA)


class RowPrices(NamedTuple):
    """One row's part of a responder's prices: those in the row, and cuts before it."""

    own_positions: Ints  # (j,), from which play can come to the row, and those of the row
    prices: Floats  # (j, H, K)


class PricedResponder:
    """A responder to one policy of the other player, at prices of 0 first.

    `passes` has what does not depend on the policy, `arrays` its prices and values. Payoffs are
    divided by `scale`.
    """

    def __init__(self, passes: SeatPasses, policy: Floats, scale: float) -> None:
        """Allocate prices of 0, values and choices of a responder to a policy, (R, K)."""
        own, memories, _ = passes.shape
        positions = passes.graph.positions
        self.passes = passes
        self.arrays = Responder(
            play=Play(passes.seat, policy[None].copy(), 0),
            payoff=passes.payoff / scale,
            own_index=passes.own_index,
            prices=np.zeros(passes.shape),
            is_reachable=np.ones((positions, memories), np.uint8),
            is_used_way=np.ones((own, passes.num_ways), np.uint8),
            values=np.zeros((positions, memories)),
            way_values=np.zeros((own, passes.num_slots)),
            best_action=np.full((own, memories), -1, np.int8),
            largest_size=np.zeros(1),
        )

    def begin(self) -> None:
        """Find the states and the ways that play can reach, and solve the responder.

        A way is a distribution over the ends of a turn, by which an action is played in some
        memories; situations, kinds of position, number their ways from 0.
        """
        passes, arrays, pass_graph = self.passes, self.arrays, self.passes.pass_graph
        lanes = pass_graph.next_memory.shape[1]
        arrays.is_reachable[:] = self.reach_of_states() > 0.0
        way_numbers = pass_graph.action_slot // lanes  # (S, K, H), by situation
        situation = pass_graph.situation[passes.positions]  # (O,)
        is_reachable = arrays.is_reachable[passes.positions] > 0  # (O, H)
        for way in range(passes.num_ways):
            is_played = (way_numbers == way).any(axis=1)  # (S, H), by some action
            arrays.is_used_way[:, way] = (is_reachable & is_played[situation]).any(axis=1)
        self.remember()

    def remember(self) -> None:
        """Solve the responder by one backward induction at its prices."""
        priced.remember(self.passes.pass_graph, self.arrays, self.passes.scratch)

    @property
    def value(self) -> float:
        """Expected payoff less prices: the mean over starts."""
        graph = self.passes.graph
        return float(self.arrays.values[tuple(graph.start.T)] @ graph.start_chance)

    def reach_of_states(self) -> Floats:
        """Reach of all states, (C, H), by the actions chosen; by all actions before any is."""
        graph = self.passes.graph
        reach = np.zeros(self.arrays.values.shape)
        np.add.at(reach, tuple(graph.start.T), graph.start_chance)
        priced.reach(self.passes.pass_graph, self.arrays, self.passes.scratch, reach)
        return reach

    def reduced_costs(self, row: int) -> Floats:
        """Reduced cost of each of K actions in a row's n states, (K, n): its loss against the best.

        An action is worth what its turn leads to, less its dual price. A row is an information set
        of m positions, each with all H memories, so n is m * H. Costs are 0 where play never comes.
        """
        passes, arrays = self.passes, self.arrays
        members = passes.positions_of_row(row)  # (m,), numbers among the own positions
        positions = passes.positions[members]  # (m,)
        situations = passes.pass_graph.situation[positions]
        # (m, H, K), the number of the turn that an action plays, among all of its position.
        slots = passes.pass_graph.action_slot[situations].transpose(0, 2, 1)
        turn_values = arrays.way_values[members[:, None, None], slots]
        action_values = turn_values - arrays.prices[members]
        state_values = arrays.values[positions]  # (m, H), of the best action
        costs = np.maximum(state_values[..., None] - action_values, 0.0)
        costs[arrays.is_reachable[positions] == 0] = 0.0
        return np.asarray(costs.reshape(-1, costs.shape[2]).T)

    # --- rises of prices ---

    def value_rise(self, row: int, rise: PriceRise) -> tuple[Floats, float]:
        """Value a rise of a row's dual prices by one pass: maxima, and the fall of the own value.

        Prices rise of some actions in the n states of one row (information set). An action's
        maximum is the most that a responder who takes it in the whole row can pay of the rise.
        Returns the maxima in the order of `rise.actions`, (num_maxima,), the last as an upper bound
        for all that are left, and by how much the responder's value falls.

        The pass goes backward from the row's states to the starts with `WIDTH` numbers in each
        state, the columns: for each action that gets dearer, the most that can be paid of its rise
        from there on, and in the last how far the responder's value falls there. On its way it
        plans cuts: an action before the row after which more of the rise can be paid than after the
        best action gets a lower price, which :meth:`charge` subtracts afterwards.
        """
        passes, count = self.passes, rise.num_maxima
        columns = np.zeros((len(rise.value_fall), WIDTH))  # in the row's states
        columns[:, -1] = rise.value_fall
        if count:
            columns[:, :count] = rise.price_rises[:count].T
            # Actions for which there is no column share the last one, as the best of them.
            columns[:, count - 1] = rise.price_rises[count - 1 :].max(axis=0)
        # Share of what each column gains by another action before the row that cuts are to cover.
        covered_shares = np.zeros(WIDTH)
        covered_shares[:count] = rise.covered_share
        row_positions = passes.set_row_prices(row, columns)
        is_met_once = row_maxima.value_rise(
            passes.pass_graph,
            self.arrays,
            passes.price_pass,
            row_positions,
            covered_shares,
            rise.cut_share,
            _vector(WIDTH),
        )
        _require_once(row, is_met_once)
        start_maxima = passes.mean_at_start(WIDTH)
        return start_maxima[:count], float(start_maxima[-1])

    def no_prices(self) -> RowPrices:
        """Prices of 0, (j, H, K), of the j positions from which the last pass's row is reached.

        They are stored as the row's own part of the responder's prices, to be revised later.
        """
        passes = self.passes
        positions = np.flatnonzero(passes.price_pass.relation[passes.positions])
        return RowPrices(positions, np.zeros((len(positions), *passes.shape[1:])))

    def charge(self, row: int, rise: PriceRise, stored: RowPrices | None) -> None:
        """Charge a rise: raise the dual prices of a row, and subtract the cuts of the last pass.

        The row is an information set of m positions with H memories each; cuts lower the prices of
        actions before it, as :meth:`value_rise` of the same rise has planned. `stored` is the row's
        own part of the prices, changed alike; None if it is not stored.
        """
        passes, prices = self.passes, self.arrays.prices
        members = passes.positions_of_row(row)  # (m,), numbers among the own positions
        charged = np.zeros((len(members), *passes.shape[1:]))  # (m, H, K)
        charged[:, :, rise.actions] = rise.price_rises.T.reshape(*charged.shape[:2], -1)
        stored_positions = members[:0] if stored is None else stored.own_positions
        stored_prices = charged[:0] if stored is None else stored.prices
        stored_index = passes.numbers_among(stored_positions)
        pass_arguments = passes.pass_graph, self.arrays, passes.price_pass
        row_maxima.apply_cuts(*pass_arguments, stored_index, stored_prices, _vector(WIDTH))
        prices[members] += charged
        self._note_largest(charged, prices[members])
        if stored is not None:
            stored.prices[stored_index[members]] += charged
            self._note_largest(stored.prices[stored_index[members]])

    # --- revisions ---

    def revise(self, row: int, stored: RowPrices, more: Floats, cut_share: float) -> Floats:
        """Raise dual prices in a row by `more`, (K, n), and move cuts before it: the maxima, (K,).

        An action's maximum is the most that a responder can pay of the row's prices if it takes
        this action in the whole row. `stored` is the row's part of the prices, revised in place;
        `cut_share` the largest share of an action's reduced cost by which its price is cut.
        """
        passes, prices = self.passes, self.arrays.prices
        members = passes.positions_of_row(row)
        is_reachable = self.arrays.is_reachable[passes.positions[members]] > 0  # (m, H)
        charged = more.T.reshape(len(members), -1, len(more))  # (m, H, K)
        charged = np.where(is_reachable[..., None], charged, 0.0)
        index = np.searchsorted(stored.own_positions, members)
        stored.prices[index] += charged
        prices[members] += charged
        self._note_largest(stored.prices[index], prices[members])
        return self._revise(row, stored, stored.prices[index], cut_share, restored_share=1.0)

    def most_reach(self, row: int, stored: RowPrices) -> float:
        """Return the highest reach of a row that the responder can have, whatever it plays.

        It is the most paid of a price of 1 on every state and action, without cuts before the row.
        """
        members = self.passes.positions_of_row(row)
        ones = np.ones((len(members), *stored.prices.shape[1:]))
        no_prices = stored._replace(prices=np.zeros_like(stored.prices))
        return float(self._revise(row, no_prices, ones, cut_share=0.0, restored_share=0.0).max())

    def _revise(
        self,
        row: int,
        stored: RowPrices,
        row_prices: Floats,
        cut_share: float,
        restored_share: float,
    ) -> Floats:
        """Value all dual prices of a row, (m, H, K), by one pass, which moves cuts: maxima, (K,).

        An action's maximum is the most that a responder who takes it in the whole row can pay of
        its prices; cuts lower prices of actions before the row. `cut_share` is the largest share of
        reduced costs that is cut, `restored_share` the share of needless cuts that is undone.
        Columns of the pass are actions, then idle ones to a power of two.
        """
        passes = self.passes
        positions, memories, actions = row_prices.shape
        width = width_of(actions)
        idle = np.full(width, -2.0 * row_maxima.NO_MAXIMUM)
        idle[:actions] = 0.0
        columns = np.zeros((positions, memories, width))
        columns[:, :, :actions] = row_prices
        is_met_once = row_maxima.revise(
            passes.pass_graph,
            self.arrays,
            passes.price_pass,
            passes.scratch,
            passes.set_row_prices(row, columns),
            passes.numbers_among(stored.own_positions),
            stored.prices,
            idle,
            cut_share,
            restored_share,
            _vector(width),
        )
        _require_once(row, is_met_once)
        return passes.mean_at_start(width)[:actions]

    def _note_largest(self, *arrays: Floats) -> None:
        """Raise `largest_size` to the largest size of the numbers of some arrays."""
        largest_size = self.arrays.largest_size
        for array in arrays:
            largest_size[0] = max(largest_size[0], float(np.abs(array).max(initial=0.0)))


def _require_once(row: int, is_met_once: bool) -> None:
    """Refuse dual prices of a row (information set) that a play can meet twice."""
    if not is_met_once:
        raise HogeqError(f"row {row}: can be met twice in a play; allowed: once, to claim")


def _predecessors(graph: Graph) -> tuple[Ints, Ints]:
    """List the positions from which a turn leads to each position.

    Returns all of them one after another, and where those of each position begin, (C + 1,).
    """
    count = graph.positions
    position, entry = graph.ends
    successor = graph.next[entry].astype(np.int64)
    goes_on = successor >= 0  # else play ends
    edges = np.sort(successor[goes_on] * count + position[goes_on])  # successor, then predecessor
    edges = edges[np.flatnonzero(np.diff(edges, prepend=-1))]  # np.unique takes 30 times as long
    start = np.searchsorted(edges // count, np.arange(count + 1))
    return edges % count, start
