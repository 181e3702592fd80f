"""The passes of :mod:`hogeq.model.protocol` over a flat tree, so that every solver runs on it.

Both seats become one strategy by a fair coin: its rows are the information sets of both. A payoff u
counts as the win rate 1/2 + u / (2 M), where M is the largest payoff to either player.

Where a row has fewer than K actions, each of the others means "play a legal one at random". No
algorithm has to know that: uniform rows are uniform over what is legal, and while a row gives the
others no probability, their value is that of the worst legal action, so that regrets never ask for
them. Regret matching then does what it would do on the legal actions alone.
"""

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import DTypeLike
from scipy.sparse import csr_array

from hogeq.model.protocol import Precision, Reach, Role, Valued, WinRate
from hogeq.model.rows import TIE, plain
from hogeq.support.aliases import Floats, Ints
from hogeq.trees.flat import TERMINAL, FlatTree, reach
from hogeq.trees.sequences import SequenceForm, sequence_form

if TYPE_CHECKING:
    from hogeq.kernels.sequences import Sequences


class TreeEngine:
    """A flat tree, as algorithms know a game."""

    positions_recur = False

    def __init__(self, tree: FlatTree) -> None:
        self.tree = tree
        self.forms = sequence_form(tree, 0), sequence_form(tree, 1)
        first, second = (form.rank for form in self.forms)
        if first is None or second is None:
            raise ValueError(f"{tree.name}: allowed: games whose information sets have an order")
        self.rank: Ints = np.where(tree.seat == 0, first, second)

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
        legal = self.tree.legal
        illegal = np.where(legal, 0.0, policy).sum(axis=-1)
        # Rows of ones stay: they say that own actions count 1.
        stays = (policy == 1.0).all(axis=-1) | (illegal <= TIE)
        spread = np.where(stays, 0.0, illegal / self.tree.num_legal)
        return (policy + spread[..., None]) * legal

    @property
    def payoff_per_win_rate(self) -> float:
        """Payoff that counts as a win rate of 1."""
        return 2.0 * self.tree.largest_payoff

    def win_rate(self, payoff: float) -> float:
        """Count a payoff as a win rate."""
        return 0.5 + payoff / self.payoff_per_win_rate

    def ways_to_stay(self, policies: Floats) -> list[tuple[tuple[int, ...], int]]:  # noqa: ARG002
        """No play is endless."""
        return []

    def quick_dtype(self, opponents: int = 1) -> Precision:  # noqa: ARG002 - of the protocol
        """Precision of sums that need not be exact."""
        return np.float64

    def workspace(self, players: int, dtype: DTypeLike = np.float64) -> "TreePasses":  # noqa: ARG002
        """Fresh passes for so many policies."""
        return TreePasses(self, players)

    def duels(self) -> None:
        """Matrices are met as policies are."""

    def minimiser(self) -> "TreeMinimiser":
        """Fresh loops of regret minimisers."""
        return TreeMinimiser(self)

    @cached_property
    def sequences(self) -> "Sequences":
        """The tree as kernels take it."""
        from hogeq.kernels.sequences import Sequences

        tree, index = self.tree, np.int32
        first = _Side.of(self.forms[0], self.rank, 0)
        second = _Side.of(self.forms[1], self.rank, first.stop)
        row = np.concatenate([first.row, second.row])
        members = np.flatnonzero(np.diff(row, prepend=-1))
        chance = reach(tree, np.ones(self.shape))
        ends = np.flatnonzero((tree.player == TERMINAL) & (tree.shares != 0.0))
        size = second.stop
        payoffs = csr_array(
            (chance[ends] * tree.shares[ends], (first.at[ends], second.at[ends])), (size, size)
        )
        nodes = [np.flatnonzero((tree.player == seat) & (chance > 0.0)) for seat in (0, 1)]
        refined = first.refined[nodes[0]], len(first.row) + second.refined[nodes[1]]
        others = second.at[nodes[0]], first.at[nodes[1]]
        meetings = csr_array(
            (
                chance[np.concatenate(nodes)],
                (np.concatenate(refined), np.concatenate(others)),
            ),
            (len(row), size),
        )
        return Sequences(
            row=row[members].astype(index),
            legal=tree.num_legal[row[members]].astype(index),
            members=np.append(members, len(row)).astype(index),
            before=np.concatenate([first.before, second.before]).astype(index),
            first=np.concatenate([first.first, second.first]).astype(index),
            seats=np.array([0, self.seat_rows[0].stop, tree.num_rows], index),
            roots=np.array([0, first.stop, second.stop], index),
            end=payoffs.indptr.astype(index),
            end_other=payoffs.indices.astype(index),
            payoff=payoffs.data,
            node=meetings.indptr.astype(index),
            node_other=meetings.indices.astype(index),
            chance=meetings.data,
        )


class _Side(NamedTuple):
    """Sequences of a player in the order of kernels: by rank, then by row."""

    row: Ints  # (J,)
    before: Ints  # (J,)
    first: Ints  # (J,)
    at: Ints  # (N,), sequence at every node
    refined: Ints  # (N,), refined information set at nodes of the player
    stop: int  # number after that of the last sequence

    @classmethod
    def of(cls, form: SequenceForm, rank: Ints, root: int) -> "_Side":
        """Lay out a player's sequences, the root being of a given number."""
        order = np.lexsort((form.row, rank[form.row]))
        place = np.argsort(order)
        row, most = form.row[order], form.tree.num_actions
        legal = form.tree.num_legal[row]
        first = root + 1 + np.cumsum(legal) - legal

        # By the numbers of the form; -1 where the player does not move.
        numbers = np.append(root, first[place][:, None] + np.arange(most))
        before, at = numbers[form.before[order]], numbers[form.at]
        refined = np.append(place, -1)[form.refined]
        return cls(row, before, first, at, refined, root + 1 + int(legal.sum()))


class TreePasses:
    """The passes of :class:`hogeq.model.protocol.Passes` over a tree."""

    def __init__(self, engine: TreeEngine, players: int) -> None:
        self._engine, self._tree = engine, engine.sequences
        self._shape = players, *engine.shape
        self._equal = np.full(max(1, players - 1), 1.0 / max(1, players - 1))
        sizes = int(self._tree.roots[2])
        self._own, self._other, self._worth = (np.zeros(sizes) for _ in range(3))
        self._rows, self._values = np.zeros(engine.shape[0]), np.zeros(engine.shape)
        self._latest: Reach | None = None

    def forward(self, policies: Floats, weights: Floats | None = None) -> Reach:
        """Compute the reach of every row of player 0, and weigh all sequences."""
        return self._forward(policies, weights, self._rows)

    def _forward(self, policies: Floats, weights: Floats | None, rows: Floats) -> Reach:
        from hogeq.kernels import sequences

        shares = self._equal if weights is None else np.array(weights, np.float64)
        weighed = self._own, self._other, self._worth
        sequences.forward(self._tree, self._plain(policies), shares, *weighed, rows)
        self._latest = Reach(rows, shares)
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
        """Compute values, player 0 acting by its role."""
        from hogeq.kernels import sequences

        if reach is not self._latest:
            raise ValueError("reach: allowed: that of this workspace's last pass forward")
        played = self._plain(policies)
        arrays = self._own, self._other, self._worth, reach.rows, self._values
        changes = sequences.backward(
            int(role), self._tree, played, *arrays, float(temperature), float(damping)
        )
        if played is not policies and role in {Role.ASCEND, Role.SOFTMAX}:
            policies[0] = played[0]
        if len(policies) == 1 and role in {Role.ASCEND, Role.SOFTMAX}:
            rate = self.win_rate(policies)  # of new rows against new rows
            return Valued(rate.first, rate.first, int(changes), self._values)
        won = self._worth[self._tree.roots[:2]] / 2.0
        first, other = 0.5 + won[0], 0.5 + (won[0] if len(policies) == 1 else -won[1])
        return Valued(float(first), float(other), int(changes), self._values)

    def win_rate(
        self, policies: Floats, role: Role = Role.EVALUATE, weights: Floats | None = None
    ) -> WinRate:
        """Exact win rate of player 0, its role being EVALUATE or FULL_MEMORY."""
        if role == Role.FULL_MEMORY and len(policies) > 2:  # against each, of whom it then knows
            shares = self._equal if weights is None else weights
            pair = TreePasses(self._engine, 2)
            each = [pair.win_rate(policies[[0, 1 + one]], role) for one in range(len(shares))]
            return WinRate(*(float(mean) for mean in shares @ each))
        reach = self._forward(policies, weights, self._rows[:0])
        met = self.backward(reach, policies, role)
        return WinRate.from_starts(met.first, met.other)

    def _plain(self, policies: Floats) -> Floats:
        if policies.shape != self._shape:  # kernels would read beyond them
            raise ValueError(f"policies: shape is {policies.shape}; allowed: {self._shape}")
        return plain(policies)


class TreeMinimiser:
    """The loops of :class:`hogeq.model.protocol.Minimiser` over a tree, and arrays for them."""

    def __init__(self, engine: TreeEngine) -> None:
        from hogeq.kernels import sequences

        self._tree = tree = engine.sequences
        size = int(tree.roots[2])
        self._policy, self._values = np.zeros(engine.shape), np.zeros(engine.num_actions)
        self._weights, self._worth, self._ones = np.zeros(size), np.zeros(size), np.ones(size)
        uniform = np.full((1, *engine.shape), 1.0 / engine.num_actions)
        scratch = self._weights, self._weights, self._worth, self._values[:0]
        sequences.forward(tree, uniform, np.ones(1), *scratch)
        meetings = csr_array((tree.chance, tree.node_other, tree.node), (len(tree.before), size))
        self._visits = meetings @ self._weights  # by chance and an opponent at random

    def run(
        self,
        regrets: Floats,
        prediction: Floats | None,
        strategy_sum: Floats,
        factors: Floats,
        *,
        alternating: bool,
        plus: bool,
        epsilon: float,
    ) -> None:
        """Do an iteration for each row of `factors`, in place."""
        from hogeq.kernels import sequences

        sequences.minimise(
            self._tree,
            regrets,
            strategy_sum[:0] if prediction is None else prediction,
            strategy_sum,
            factors,
            alternating,
            plus,
            epsilon,
            self._visits,
            self._ones,
            self._policy,
            self._weights,
            self._worth,
            self._values,
        )
