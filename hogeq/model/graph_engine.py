"""Any graph as algorithms know a game: the reference of every other engine.

A payoff u of player 0 counts as the win rate 1/2 + (u - c) / d, where c is the mean of its largest
and its smallest payoff and d their difference: one affine map, made when the engine is built.

Where positions have mirrors, as in Hog, the start has both cases of the coin, and a pass is of
player 0 alone. Elsewhere the coin says which seat a strategy takes: a pass for each.
"""

from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import DTypeLike

from hogeq.graph.endless import State, Staying, staying_actions, ways_to_stay
from hogeq.graph.graph import NATURE, Graph
from hogeq.model.checked_passes import CheckedPasses
from hogeq.model.graph_passes import GraphPasses
from hogeq.model.pass_graph import pass_graph_of
from hogeq.model.protocol import PlainEngine, Reach, Role, Valued, WinRate
from hogeq.model.rows import TIE, spread_illegal
from hogeq.support.aliases import Floats
from hogeq.support.messages import HogeqError, refusal
from hogeq.support.short_fractions import short_fraction


class GraphEngine(PlainEngine):
    """A graph, as algorithms know a game.

    A row with fewer than K actions takes another for one of them at random, as in
    :class:`hogeq.trees.engine.TreeEngine`. FULL_MEMORY knows the whole state: in a tree of hidden
    cards that is more than perfect recall.
    """

    pays_wins = False

    def __init__(self, graph: Graph) -> None:
        """Map payoffs to win rates from 0 to 1; refuse seats that share rows without mirrors."""
        low, high = float(graph.paid.min()), float(graph.paid.max())
        payoff_range = (high - low) or 1.0
        middle = (low + high) / 2.0
        distances = graph.paid - middle
        if abs(middle) > payoff_range:
            # Large payoffs, close together: the difference of two doubles misses that of the
            # decimals or fractions that they stand for, so these are subtracted instead.
            exact_middle = (short_fraction(low) + short_fraction(high)) / 2
            payoff_range = float(short_fraction(high) - short_fraction(low)) or 1.0
            distances = np.array(
                [float(short_fraction(u) - exact_middle) for u in graph.paid.tolist()]
            )
        self.payoff_per_win_rate = payoff_range
        win_rates = 0.5 + distances / payoff_range
        payoff = win_rates[: len(graph.payoff)]
        endless = None if graph.endless is None else float(win_rates[-1])  # the last of `paid`
        self.graph = replace(graph, payoff=payoff, total=1.0, endless=endless)
        self.seats_share_rows = len(pass_graph_of(self.graph).mirror_position) > 0
        self.own_rows = [graph.rows_of(player) for player in (0, 1)]
        if not self.seats_share_rows and np.isin(self.own_rows[0], self.own_rows[1]).any():
            allowed = "graphs whose players see rows of their own, or whose positions have mirrors"
            raise HogeqError(refusal("graph", repr(graph), allowed))

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of a policy, (R, K)."""
        return self.graph.rows, self.graph.num_actions

    @property
    def num_actions(self) -> int:
        """Most actions of a row, K."""
        return self.graph.num_actions

    @cached_property
    def has_memory(self) -> bool:
        """Whether some row joins several states of its player: memories, or positions."""
        if self.graph.memories > 1:
            return True
        moves = self.graph.player != NATURE
        rows = np.stack([self.graph.player[moves], self.graph.row[moves]])
        return np.unique(rows, axis=1).shape[1] < rows.shape[1]

    @property
    def positions_recur(self) -> bool:
        """Whether a row can be reached more than once in a play."""
        return bool(pass_graph_of(self.graph).block_recurs.any())

    @property
    def seat_rows(self) -> tuple[slice, slice]:
        """Rows of each seat; all rows twice where one table plays both."""
        if self.seats_share_rows:
            return slice(None), slice(None)
        first = len(self.own_rows[0])
        return slice(0, first), slice(first, None)

    @cached_property
    def _staying(self) -> dict[State, list[Staying]]:
        """Actions after which play stays in the same level, whatever chance does, by state."""
        return staying_actions(self.graph)

    def ways_to_stay(self, policies: Floats) -> list[tuple[tuple[int, ...], int]]:
        """List rows and actions by which player 0 of two could stay for ever."""
        played = self.legal(policies)
        ways = ways_to_stay(self.graph, self._staying, played) if self._staying else []
        return [((row,), action) for row, action in ways]

    def workspace(self, players: int, dtype: DTypeLike = np.float64) -> "GraphWorkspace":  # noqa: ARG002
        """Fresh passes for so many policies."""
        return GraphWorkspace(self, players)

    def legal(self, policy: Floats) -> Floats:
        """Spread the probabilities of illegal actions evenly over the legal ones of their rows."""
        return spread_illegal(policy, self.graph.legal)


class GraphWorkspace(CheckedPasses):
    """The passes of :class:`hogeq.model.protocol.Passes` over a graph."""

    def __init__(self, engine: GraphEngine, players: int) -> None:
        """Make the passes of each seat: one pass if mirrored positions serve both."""
        super().__init__((players, *engine.shape), recurs=engine.positions_recur)
        self._engine = engine
        mirrored = engine.seats_share_rows
        opponents = len(self._equal)
        self._seats = [
            GraphPasses(engine.graph, opponents, seat, use_mirrors=mirrored and players == 1)
            for seat in ((0,) if mirrored else (0, 1))
        ]
        # Share of the games in which player 0 has the seat of a pass. In self-play it has both;
        # with mirrors the starts of one pass are both.
        self._seat_share = 1.0 if mirrored or players == 1 else 0.5

    def forward(self, policies: Floats, weights: Floats | None = None) -> Reach:
        """Compute the reach of every row of player 0 against opponents drawn by `weights`, (n,)."""
        legal_policies = self._legal(policies)
        opponent_weights = self._shares(weights)
        self._require_rows(policies)
        seat_reaches = (opponent_weights @ seat.forward(legal_policies) for seat in self._seats)
        rows = sum(seat_reaches) * self._seat_share
        self._latest = Reach(np.asarray(rows), opponent_weights)
        return self._latest

    def cell_reach(self, policies: Floats) -> Floats:
        """Reach of every row of player 0, a fresh array."""
        return self.forward(policies).rows.copy()

    def backward(
        self,
        reach: Reach,
        policies: Floats,
        role: Role,
        *,
        temperature: float = 1.0,
        damping: float = 1.0,
    ) -> Valued:
        """Compute values under `policies` (Q, R, K), player 0 acting by its role.

        ASCEND and SOFTMAX change the rows of player 0, ``policies[0]``, in place. `reach` is that
        of the last pass forward. Returns the win probabilities of player 0 and of the opponents in
        the first seat, how many rows ASCEND changed, and counterfactual values, (R, K).
        """
        self._require_latest(reach)
        legal_policies = self._legal(policies)
        before = legal_policies[0].copy()
        results = [
            seat.backward(role, legal_policies, reach.weights, temperature, damping)
            for seat in self._seats
        ]
        changes = sum(changed for _, changed in results)
        # Only COUNTERFACTUAL has values; of other roles a table stands in, which nobody reads.
        values = self._values(policies[0]) if role == Role.COUNTERFACTUAL else before
        if role in {Role.ASCEND, Role.SOFTMAX}:
            is_new = (legal_policies[0] != before).any(axis=-1)
            policies[0][is_new] = legal_policies[0][is_new]
            if len(policies) == 1:
                rate = self.win_rate(policies)  # of new rows against new rows
                return Valued(rate.first, rate.first, changes, values)
        starts = [values_at_starts for values_at_starts, _ in results]
        first, other = self._in_first_seat(starts, reach.weights, len(policies))
        return Valued(first, other, changes, values)

    def win_rate(
        self, policies: Floats, role: Role = Role.EVALUATE, weights: Floats | None = None
    ) -> WinRate:
        """Exact win rate of player 0, its role being EVALUATE or FULL_MEMORY."""
        legal_policies = self._legal(policies)
        opponent_weights = self._shares(weights)
        both_respond = len(policies) == 1 and role == Role.FULL_MEMORY
        starts = [
            seat.backward(role, legal_policies, opponent_weights, both_respond=both_respond)[0]
            for seat in self._seats
        ]
        return WinRate.from_starts(*self._in_first_seat(starts, opponent_weights, len(policies)))

    @property
    def error(self) -> float:
        """Bound on what iteration may have missed in the last pass, as a win rate."""
        return max(seat.error for seat in self._seats)

    def _in_first_seat(
        self, starts: list[Floats], weights: Floats, players: int
    ) -> tuple[float, float]:
        """Win probability in the first seat: of player 0, and of its opponents, drawn by `weights`.

        `starts` has for each seat of player 0 that was passed over its win probabilities from the
        starts, (opponents, starts). Where both seats share rows there is one such pass, with two
        starts: player 0 in the first seat, and in the second. In self-play, of one player, both
        results are the same.
        """
        if self._engine.seats_share_rows:
            first, second = weights @ starts[0]
        else:
            chances = self._engine.graph.start_chance
            first, second = (weights @ (values @ chances) for values in starts)
        other = first if players == 1 else 1.0 - second
        return float(first), float(other)

    def _values(self, policy: Floats) -> Floats:
        """Counterfactual values of all actions of player 0, (R, K), over both seats.

        Of an illegal action the mean of the legal ones if `policy` plays illegal ones, since it
        takes one of those at random; else the least of them.
        """
        legal, total = self._engine.graph.legal, np.zeros(self._engine.shape)
        for seat in self._seats:
            own = self._engine.own_rows[seat.me]
            total[own] += self._seat_share * seat.action_values[own]
        total[~legal] = 0.0
        mean = total.sum(axis=1) / np.maximum(legal.sum(axis=1), 1)
        least = np.where(legal, total, np.inf).min(axis=1)
        plays_illegal = np.where(legal, 0.0, policy).sum(axis=1) > TIE
        value_of_illegal = np.where(plays_illegal, mean, least)
        return np.where(legal, total, value_of_illegal[:, None])

    def _legal(self, policies: Floats) -> Floats:
        """Check policies, (Q, R, K), and spread the probabilities of illegal actions, in a copy."""
        return self._engine.legal(self._plain(policies))
