"""The passes of :mod:`hogeq.model.protocol` over a flat tree, so that every solver runs on it.

Both seats become one strategy by a fair coin: its rows are the information sets of both. A payoff u
counts as the win rate 1/2 + u / (2 M), where M is the largest payoff to either player.

Where a row has fewer than K actions, each of the others means "play a legal one at random". No
algorithm has to know that: uniform rows are uniform over what is legal, and while a row gives the
others no probability, their value is that of the worst legal action, so that regrets never ask for
them. Regret matching then does what it would do on the legal actions alone.
"""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import DTypeLike

from hogeq.model.protocol import Meetings
from hogeq.model.workspace import TIE, Role, WinRate
from hogeq.support.aliases import Floats, Ints
from hogeq.trees.flat import FlatTree, node_values, reach, seated
from hogeq.trees.sequences import sequence_form

ROUNDING: Final = 1e-12  # largest probability or share of a payoff that may be rounding alone


class TreeEngine:
    """A flat tree, as algorithms know a game."""

    positions_recur = False
    can_be_endless = False

    def __init__(self, tree: FlatTree) -> None:
        self.tree = tree
        self.forms = sequence_form(tree, 0), sequence_form(tree, 1)
        first, second = (form.rank for form in self.forms)
        if first is None or second is None:
            raise ValueError(f"{tree.name}: allowed: games whose information sets have an order")
        self.rank: Ints = np.where(tree.seat == 0, first, second)
        self.own = [np.flatnonzero(tree.player == seat) for seat in (0, 1)]
        self.moved = [np.flatnonzero(tree.mover == seat) for seat in (0, 1)]
        self.largest_payoff = tree.largest_payoff

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of a policy, (R, K)."""
        return self.tree.num_rows, self.tree.num_actions

    @property
    def seat_rows(self) -> tuple[slice, slice]:
        """Rows of each seat, those of the first ahead."""
        first = int((self.tree.seat == 0).sum())
        return slice(0, first), slice(first, None)

    @property
    def num_actions(self) -> int:
        """Most actions of a row, K."""
        return self.tree.num_actions

    @property
    def has_memory(self) -> bool:
        """Whether some row joins different pasts of its player."""
        return any(len(form.shared) for form in self.forms)

    def legal(self, policy: Floats) -> Floats:
        """Spread the probabilities of illegal actions evenly over the legal ones of their rows."""
        illegal = self.illegal(policy)
        # Rows of ones stay: they say that own actions count 1.
        ones = (policy == 1.0).all(axis=-1)
        spread = np.where(ones, 0.0, illegal / self.tree.num_legal)
        return (policy + spread[..., None]) * self.tree.legal

    def illegal(self, policy: Floats) -> Floats:
        """Probability of illegal actions in every row; 0 where it may be rounding alone."""
        total = np.where(self.tree.legal, 0.0, policy).sum(axis=-1)
        return np.where(total > ROUNDING, total, 0.0)

    def gradient(self, values: Floats, policy: Floats, reach: Floats) -> Floats:
        """Values of actions less their row's mean; ties are 0 to the last digit."""
        legal = self.tree.legal
        mean = np.where(legal, values, 0.0).sum(axis=1) / self.tree.num_legal
        centred = values - mean[:, None]
        tied = np.abs(centred) <= ROUNDING * reach[:, None]
        centred = np.where(legal & ~tied, centred, 0.0)
        # Illegal actions are worth that mean if the policy plays them, else as little as the worst.
        played = self.illegal(policy) > 0.0
        return np.where(legal | played[:, None], centred, centred.min(axis=1, keepdims=True))

    @property
    def payoff_per_win_rate(self) -> float:
        """Payoff that counts as a win rate of 1."""
        return 2.0 * self.largest_payoff

    def win_rate(self, payoff: float) -> float:
        """Count a payoff as a win rate."""
        return 0.5 + payoff / (2.0 * self.largest_payoff)

    def quick_dtype(self, pairs: int = 1) -> type[np.floating[Any]]:  # noqa: ARG002 - of the protocol
        """Precision for what need not be exact."""
        return np.float64

    def workspace(self, players: int, dtype: DTypeLike = np.float64) -> "TreeWorkspace":  # noqa: ARG002
        """Fresh arrays for passes of one player (self-play) or two."""
        return TreeWorkspace(self, players)

    def many(self, pairs: int, dtype: DTypeLike = np.float64) -> "TreeMany":  # noqa: ARG002
        """Fresh arrays for passes over n pairs."""
        return TreeMany(self, pairs)

    def duels(self) -> None:
        """Matrices are met as policies are."""

    def rows_by_rank(self) -> Iterator[Ints]:
        """Rows that do not meet in a play, together, those that come last in plays first."""
        for rank in range(int(self.rank.max(initial=0)), -1, -1):
            yield np.flatnonzero(self.rank == rank)

    def set_rows(
        self,
        policy: Floats,
        rows: Ints,
        values: Floats,
        reach: Floats,
        how: tuple[Role, float, float],
    ) -> int:
        """Set rows that are reached by role, temperature and damping; count what ASCEND changed."""
        role, temperature, damping = how
        rows = rows[reach[rows] > 0.0]
        at = np.where(self.tree.legal[rows], values[rows], -np.inf)
        best = at.max(axis=1, keepdims=True)
        if role == Role.SOFTMAX:
            powers = np.exp((at - best) / (reach[rows, None] * temperature))
            policy[rows] += damping * (powers / powers.sum(axis=1, keepdims=True) - policy[rows])
            return 0
        good = at >= best - TIE * reach[rows, None]
        stays = (good & (policy[rows] == 1.0)).any(axis=1)
        policy[rows[~stays]] = np.eye(policy.shape[1])[good[~stays].argmax(axis=1)]
        return int((~stays).sum())


class TreeWorkspace:
    """The passes of :class:`hogeq.model.protocol.Passes` over a tree."""

    def __init__(self, engine: TreeEngine, players: int) -> None:
        self.engine, self.players = engine, players
        self.counterfactual_values = np.zeros(engine.shape)
        self.infoset_reach = np.zeros(engine.shape[0])
        self._reach: list[Floats] = []

    def _seatings(self, policies: Floats) -> Iterator[tuple[tuple[int, int], Floats]]:
        """List who sits where: the player at each seat, and the rows that both play."""
        tree = self.engine.tree
        legal = self.engine.legal(policies)
        for player in range(self.players):
            players = player, self.players - 1 - player
            yield players, seated(tree, legal[players[0]], legal[players[1]])

    def forward(self, policies: Floats) -> None:
        """Compute the reach of every node, by who sits where, and of every row of player 0."""
        engine, tree = self.engine, self.engine.tree
        self._reach = []
        self.infoset_reach[:] = 0.0
        for players, joint in self._seatings(policies):
            reached = reach(tree, joint) / self.players
            self._reach.append(reached)
            for seat in (0, 1):
                if players[seat] == 0:
                    nodes = engine.own[seat]
                    self.infoset_reach += np.bincount(
                        tree.row[nodes], reached[nodes], tree.num_rows
                    )

    def cell_reach(self, policies: Floats) -> Floats:
        """Reach of every row of player 0, a fresh array."""
        self.forward(policies)
        return self.infoset_reach.copy()

    def measure(self, policies: Floats) -> tuple[Floats, list[float]]:
        """Gradient by the reach of the last pass forward, and win rates by who sits where."""
        engine, tree = self.engine, self.engine.tree
        gradient = np.zeros(tree.num_rows * tree.num_actions)
        rates = []
        for (players, joint), reached in zip(self._seatings(policies), self._reach, strict=True):
            values = node_values(tree, joint)
            rates.append(engine.win_rate(float(values[0])))
            for seat in (0, 1):
                if players[seat] == 0:
                    nodes = engine.moved[seat]
                    won = reached[tree.parent[nodes]] * values[nodes]
                    scale = (1.0 - 2.0 * seat) / (2.0 * engine.largest_payoff)
                    gradient += scale * np.bincount(tree.edge[nodes], won, len(gradient))
        rows = gradient.reshape(engine.shape)
        return engine.gradient(rows, policies[0], self.infoset_reach), rates

    def backward(
        self,
        policies: Floats,
        role: Role = Role.EVALUATE,
        *,
        temperature: float = 1.0,
        damping: float = 1.0,
    ) -> tuple[float, float, int]:
        """Compute values, player 0 acting by its role; see :class:`hogeq.model.protocol.Passes`."""
        if role == Role.FULL_MEMORY:
            return self._remember(policies)
        if role == Role.COUNTERFACTUAL:
            self.counterfactual_values[:], rates = self.measure(policies)
            return rates[0], rates[-1], 0
        changes = 0
        if role != Role.EVALUATE:
            values, reached = self.counterfactual_values, self.infoset_reach
            how = role, temperature, damping
            for rows in self.engine.rows_by_rank():
                values[rows] = self.measure(policies)[0][rows]
                changes += self.engine.set_rows(policies[0], rows, values, reached, how)
        tree = self.engine.tree
        rates = [
            self.engine.win_rate(float(node_values(tree, joint)[0]))
            for _, joint in self._seatings(policies)
        ]
        return rates[0], rates[-1], changes

    def _remember(self, policies: Floats) -> tuple[float, float, int]:
        """Let player 0 forget nothing of the own past."""
        first, second = self.engine.forms
        legal = self.engine.legal(policies)[-1]
        as_first, _ = first.respond_with_full_memory(first.payoffs(legal))
        if self.players == 1:
            rate = 0.5 + as_first / 2.0
            return rate, rate, 0
        as_second, _ = second.respond_with_full_memory(second.payoffs(legal))
        return 0.5 + as_first / 2.0, 0.5 - as_second / 2.0, 0

    def win_rate(self, policies: Floats, role: Role = Role.EVALUATE) -> WinRate:
        """Exact win rate of player 0 of two, in the role given."""
        first, other, _ = self.backward(policies, role)
        return WinRate.from_starts(first, other)


class TreeMany:
    """The passes of :class:`hogeq.model.protocol.ManyPasses`, one pair after the other."""

    def __init__(self, engine: TreeEngine, pairs: int) -> None:
        self.engine = engine
        self.works = [TreeWorkspace(engine, 2) for _ in range(pairs)]
        self.each = np.zeros((pairs, *engine.shape))
        self.weights = np.full(pairs, 1.0 / pairs)
        self.opponents = self.each

    @property
    def each_reach(self) -> Floats:
        """Reach against each opponent, (n, R)."""
        return np.array([work.infoset_reach for work in self.works])

    def face(self, opponents: Floats, weights: Floats | None = None) -> None:
        """Set the opponents, one for each pair or one for all, and their weights."""
        pairs = len(self.works)
        self.opponents = np.broadcast_to(opponents, (pairs, *self.engine.shape)).copy()
        self.weights = np.full(pairs, 1.0 / pairs) if weights is None else np.array(weights)

    def _pairs(self, policy: Floats) -> list[Floats]:
        players = np.broadcast_to(policy, self.opponents.shape)
        return [np.stack(pair) for pair in zip(players, self.opponents, strict=True)]

    def forward(self, policy: Floats) -> None:
        """Compute reach, pair by pair."""
        for work, policies in zip(self.works, self._pairs(policy), strict=True):
            work.forward(policies)

    def backward(
        self,
        policy: Floats,
        role: Role = Role.EVALUATE,
        *,
        temperature: float = 1.0,
        damping: float = 1.0,
    ) -> Meetings:
        """Set the one row that meets all opponents, or value those of each player."""
        changes = 0
        groups = self.engine.rows_by_rank() if role in {Role.ASCEND, Role.SOFTMAX} else ()
        for rows in groups:
            self._measure(policy)
            values = np.tensordot(self.weights, self.each, 1)
            reach = self.weights @ self.each_reach
            how = role, temperature, damping
            changes += self.engine.set_rows(policy, rows, values, reach, how)
        if role == Role.COUNTERFACTUAL:
            self._measure(policy)
        results = [
            work.backward(pair) for work, pair in zip(self.works, self._pairs(policy), strict=True)
        ]
        first, other, _ = map(np.array, zip(*results, strict=True))
        return Meetings(first, other, np.array(changes))

    def _measure(self, policy: Floats) -> None:
        for place, (work, pair) in enumerate(zip(self.works, self._pairs(policy), strict=True)):
            self.each[place], _ = work.measure(pair)

    def win_rates(self, policy: Floats) -> Floats:
        """Exact win rate of the player in every pair, (n,)."""
        return self.backward(policy).win_rates
