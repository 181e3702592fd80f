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

from hogeq.model.checked_passes import CheckedPasses
from hogeq.model.protocol import PlainEngine, Reach, Role, Valued, WinRate
from hogeq.model.rows import spread_illegal
from hogeq.support.aliases import Floats, Ints
from hogeq.support.messages import HogeqError
from hogeq.trees.flat import TERMINAL, FlatTree, reach_by_chance
from hogeq.trees.packed import first_entries
from hogeq.trees.sequences import sequence_form

if TYPE_CHECKING:
    from hogeq.kernels.sequences import Loops, Sequences


class TreeEngine(PlainEngine):
    """A flat tree, as algorithms know a game."""

    seats_share_rows = pays_wins = False

    def __init__(self, tree: FlatTree) -> None:
        """Rank the rows of a tree; refuse absent-mindedness, and rows without an order in plays."""
        self.tree = tree
        self.forms = sequence_form(tree, 0), sequence_form(tree, 1)
        first_rank, second_rank = (form.rank_of_row for form in self.forms)
        for form in self.forms:
            form.require_once()
        if first_rank is None or second_rank is None:
            raise HogeqError(f"{tree.name}: allowed: games whose information sets have an order")
        self.rank: Ints = np.where(tree.seat == 0, first_rank, second_rank)  # (R,)

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of a policy, (R, K)."""
        return self.tree.shape

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
        return any(len(form.shared_rows) for form in self.forms)

    def legal(self, policy: Floats) -> Floats:
        """Spread the probabilities of illegal actions evenly over the legal ones of their rows."""
        return spread_illegal(policy, self.tree.legal)

    @property
    def payoff_per_win_rate(self) -> float:
        """Payoff that counts as a win rate of 1."""
        return 2.0 * self.tree.largest_payoff

    def workspace(self, players: int, dtype: DTypeLike = np.float64) -> "TreePasses":  # noqa: ARG002
        """Fresh passes for so many policies."""
        return TreePasses(self, players)

    def minimiser(self) -> "Loops":
        """Fresh arrays of the compiled loops, which passes take too."""
        from hogeq.kernels.sequences import Loops

        return Loops(self.sequences)

    @cached_property
    def sequences(self) -> "Sequences":
        """The tree as kernels take it: sequences of both seats, each by rank, then by row.

        Refined information sets of both seats have one numbering, and so have their sequences: the
        empty sequence of seat 0, its other ones, then those of seat 1. An *end* is a pair of
        sequences with which plays end; a *meeting* is a refined information set, with the sequence
        that the other player has there. Packed lists hold the ends of each sequence, and the
        meetings of each refined information set.
        """
        from hogeq.kernels.sequences import Sequences

        tree = self.tree
        order = self._order_of_refined
        row_of_refined = np.concatenate([form.row_of_refined for form in self.forms])[order]
        num_legal = tree.num_legal[row_of_refined]
        seat = tree.seat[row_of_refined]
        first_refined = np.flatnonzero(np.diff(row_of_refined, prepend=-1))  # of each row
        # (J,); before the sequences of a player comes its empty one.
        first_sequence = 1 + seat + first_entries(num_legal)
        num_sequences = 2 + num_legal.sum()
        root_sequences = np.array([0, 1 + num_legal[seat == 0].sum(), num_sequences])
        first, second = self._numberings(first_sequence, root_sequences)
        parent_sequence = np.append(first.parent_sequence, second.parent_sequence)[order]
        chance = reach_by_chance(tree)
        payoffs = self._payoffs_of_both(chance, first, second, num_sequences)
        meetings = self._meetings(chance, first, second, num_sequences)
        index = np.int32
        return Sequences(
            policy_row=row_of_refined[first_refined].astype(index),
            num_legal=num_legal[first_refined].astype(index),
            refined_offsets=np.append(first_refined, len(row_of_refined)).astype(index),
            parent_sequence=parent_sequence.astype(index),
            first_sequence=first_sequence.astype(index),
            player_row_offsets=np.array([0, self.seat_rows[0].stop, tree.num_rows], index),
            root_sequences=root_sequences.astype(index),
            terminal_offsets=payoffs.indptr.astype(index),
            terminal_other_sequence=payoffs.indices.astype(index),
            terminal_payoff=payoffs.data,
            meeting_offsets=meetings.indptr.astype(index),
            meeting_other_sequence=meetings.indices.astype(index),
            meeting_chance=meetings.data,
        )

    @cached_property
    def _order_of_refined(self) -> Ints:
        """Refined information sets of both forms, (J,), sorted by seat, rank of the row and row.

        Those of seat 1 have the numbers that follow those of seat 0.
        """
        row = np.concatenate([form.row_of_refined for form in self.forms])
        return np.lexsort((row, self.rank[row], self.tree.seat[row]))

    def _numberings(
        self, first_sequence: Ints, root_sequences: Ints
    ) -> tuple["_Numbering", "_Numbering"]:
        """Translate numbers of sequences and refined information sets to those of the kernels.

        `first_sequence`, (J,), is the first sequence of each refined information set, in the order
        of kernels; `root_sequences` are the empty sequences of both seats, and one number more.
        """
        new_number = np.argsort(self._order_of_refined)  # of each, by its number in the forms
        first_form, second_form = self.forms
        split = first_form.num_refined
        numberings = []
        for form, root, new_refined in (
            (first_form, root_sequences[0], new_number[:split]),
            (second_form, root_sequences[1], new_number[split:]),
        ):
            shift = np.append(root, first_sequence[new_refined] - form.sequence_offsets[:-1])
            new_sequence = shift[1 + form.refined_of_sequence] + np.arange(form.num_sequences)
            numbering = _Numbering(
                new_sequence[form.parent_sequence],
                new_sequence[form.sequence_of_node],
                np.append(new_refined, -1)[form.refined_of_node],  # -1 stays -1
            )
            numberings.append(numbering)
        return numberings[0], numberings[1]

    def _payoffs_of_both(
        self, chance: Floats, first: "_Numbering", second: "_Numbering", num_sequences: int
    ) -> csr_array:
        """Sum payoffs by the sequences of both players, (S, S), each player's against the other's.

        They are shares of the largest payoff, times the reach by chance of terminal nodes, (N,).
        """
        tree = self.tree
        ends = np.flatnonzero((tree.player == TERMINAL) & (tree.payoff_shares != 0.0))
        expected = chance[ends] * tree.payoff_shares[ends]
        sequences = first.sequence_of_node[ends], second.sequence_of_node[ends]
        payoffs = csr_array((expected, sequences), (num_sequences, num_sequences))
        return csr_array(payoffs - payoffs.T)

    def _meetings(
        self, chance: Floats, first: "_Numbering", second: "_Numbering", num_sequences: int
    ) -> csr_array:
        """Sum the reach by chance of the nodes of each refined information set, (J, S).

        Columns are the sequences of the other player at these nodes. `chance`, (N,), is the reach
        by chance of each node.
        """
        tree = self.tree
        first_nodes = np.flatnonzero((tree.player == 0) & (chance > 0.0))
        second_nodes = np.flatnonzero((tree.player == 1) & (chance > 0.0))
        refined = np.append(
            first.refined_of_node[first_nodes], second.refined_of_node[second_nodes]
        )
        others = np.append(
            second.sequence_of_node[first_nodes], first.sequence_of_node[second_nodes]
        )
        chances = chance[np.append(first_nodes, second_nodes)]
        shape = len(self._order_of_refined), num_sequences
        return csr_array((chances, (refined, others)), shape)


class _Numbering(NamedTuple):
    """Sequences and refined information sets of a player by their numbers in kernels."""

    parent_sequence: Ints  # of each refined information set, in the order of the player's form
    sequence_of_node: Ints  # (N,)
    refined_of_node: Ints  # (N,), -1 where the player does not move


class TreePasses(CheckedPasses):
    """The passes of :class:`hogeq.model.protocol.Passes` over a tree."""

    def __init__(self, engine: TreeEngine, players: int) -> None:
        super().__init__((players, *engine.shape))
        self._engine = engine
        self._loops = engine.minimiser()
        self._rows = np.zeros(engine.shape[0])
        self._values = np.zeros(engine.shape)

    def forward(self, policies: Floats, weights: Floats | None = None) -> Reach:
        """Compute the reach of every row of player 0, (R,), and the weights of all sequences.

        `policies`, (P, R, K), are player 0's and those of its opponents, with their weights.
        """
        return self._forward(policies, weights, self._rows)

    def _forward(self, policies: Floats, weights: Floats | None, rows: Floats) -> Reach:
        """Compute the reach into `rows`, (R,), or that of sequences alone if `rows` is empty."""
        shares = self._shares(weights)
        self._loops.forward(self._plain(policies), shares, rows)
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
        """Compute win rates and action values after `forward`, player 0 acting by its role.

        The roles ASCEND and SOFTMAX change the rows of player 0, ``policies[0]``, in place.
        """
        self._require_latest(reach)
        plain_policies = self._plain(policies)  # contiguous ones, as compiled loops read them
        changes, payoffs = self._loops.backward(
            role, plain_policies, reach.rows, self._values, float(temperature), float(damping)
        )
        changes_rows = role in {Role.ASCEND, Role.SOFTMAX}
        if plain_policies is not policies and changes_rows:
            policies[0] = plain_policies[0]
        if len(policies) == 1 and changes_rows:
            rate = self.win_rate(policies)  # of new rows against new rows
            return Valued(rate.first, rate.first, changes, self._values)
        first = float(0.5 + payoffs[0] / 2.0)
        other = first if len(policies) == 1 else float(0.5 - payoffs[1] / 2.0)
        return Valued(first, other, changes, self._values)

    def win_rate(
        self, policies: Floats, role: Role = Role.EVALUATE, weights: Floats | None = None
    ) -> WinRate:
        """Compute the exact win rate of player 0, whose role is EVALUATE or FULL_MEMORY.

        With full memory it knows which opponent was drawn: the rate is the mean over opponents.
        """
        if role == Role.FULL_MEMORY and len(policies) > 2:
            shares = self._shares(weights)
            pair = TreePasses(self._engine, 2)
            opponents = range(1, 1 + len(shares))
            rates = [pair.win_rate(policies[[0, opponent]], role) for opponent in opponents]
            return WinRate(*(float(mean) for mean in shares @ rates))
        reach = self._forward(policies, weights, self._rows[:0])
        values = self.backward(reach, policies, role)
        return WinRate.from_starts(values.first, values.other)
