"""The passes of :mod:`hogeq.model.protocol` over a flat tree, so that every solver runs on it.

Both seats become one strategy by a fair coin: its rows are the information sets of both. A payoff u
counts as the win rate 1/2 + u / (2 M), where M is the largest payoff to either player.

Where a row has fewer than K actions, each of the others means "play a legal one at random". No
algorithm has to know that: uniform rows are uniform over what is legal, and while a row gives the
others no probability, their value is that of the worst legal action, so that regrets never ask for
them. Regret matching then does what it would do on the legal actions alone.
"""

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import DTypeLike
from scipy.sparse import csr_array

from hogeq.model.checked_passes import CheckedPasses
from hogeq.model.protocol import PlainEngine, Reach, Role, Valued, WinRate
from hogeq.model.rows import spread_illegal
from hogeq.support.aliases import Floats, Ints
from hogeq.support.messages import HogeqError
from hogeq.trees.flat import TERMINAL, FlatTree, reach
from hogeq.trees.sequences import sequence_form

if TYPE_CHECKING:
    from hogeq.kernels.sequences import Loops, Sequences


class TreeEngine(PlainEngine):
    """A flat tree, as algorithms know a game."""

    seats_share_rows = pays_wins = False

    def __init__(self, tree: FlatTree) -> None:
        self.tree = tree
        self.forms = sequence_form(tree, 0), sequence_form(tree, 1)
        first, second = (form.rank for form in self.forms)
        for form in self.forms:
            form.require_once()
        if first is None or second is None:
            raise HogeqError(f"{tree.name}: allowed: games whose information sets have an order")
        self.rank: Ints = np.where(tree.seat == 0, first, second)

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
        return any(len(form.shared) for form in self.forms)

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
        """The tree as kernels take it: of each seat, by rank, then by row."""
        from hogeq.kernels.sequences import Sequences

        tree, forms = self.tree, self.forms
        # Refined information sets of both, (J,): by seat, rank and row in place of their forms.
        row = np.concatenate([form.row for form in forms])
        order = np.lexsort((row, self.rank[row], tree.seat[row]))
        place, row = np.argsort(order), row[order]
        legal, seat = tree.num_legal[row], tree.seat[row]
        members = np.flatnonzero(np.diff(row, prepend=-1))
        first = 1 + seat + np.cumsum(legal) - legal  # sequence of each; the roots lie before
        roots = np.array([0, 1 + legal[seat == 0].sum(), 2 + legal.sum()])
        before, at, refined = [], [], []
        places = np.split(place, [len(forms[0].row)])
        for form, root, new_place in zip(forms, roots, places, strict=False):
            # From the numbers of sequences in the form, (S,), to those of the kernels.
            shift = np.append(root, first[new_place] - form.start[:-1])
            new_sequence = shift[1 + form.owner] + np.arange(form.size)
            before.append(new_sequence[form.before])
            at.append(new_sequence[form.at])
            refined.append(np.append(new_place, -1)[form.refined])
        chance = reach(tree, np.ones(self.shape))
        ends = np.flatnonzero((tree.player == TERMINAL) & (tree.shares != 0.0))
        payoffs = csr_array(
            (chance[ends] * tree.shares[ends], (at[0][ends], at[1][ends])), (roots[2], roots[2])
        )
        payoffs = csr_array(payoffs - payoffs.T)  # of both players, each against the other
        nodes = [np.flatnonzero((tree.player == player) & (chance > 0.0)) for player in (0, 1)]
        met_refined = np.concatenate([refined[0][nodes[0]], refined[1][nodes[1]]])
        met_other = np.concatenate([at[1][nodes[0]], at[0][nodes[1]]])
        meetings = csr_array(
            (chance[np.concatenate(nodes)], (met_refined, met_other)), (len(row), roots[2])
        )
        index = np.int32
        return Sequences(
            row=row[members].astype(index),
            legal=legal[members].astype(index),
            members=np.append(members, len(row)).astype(index),
            before=np.concatenate(before)[order].astype(index),
            first=first.astype(index),
            seats=np.array([0, self.seat_rows[0].stop, tree.num_rows], index),
            roots=roots.astype(index),
            end=payoffs.indptr.astype(index),
            end_other=payoffs.indices.astype(index),
            payoff=payoffs.data,
            node=meetings.indptr.astype(index),
            node_other=meetings.indices.astype(index),
            chance=meetings.data,
        )


class TreePasses(CheckedPasses):
    """The passes of :class:`hogeq.model.protocol.Passes` over a tree."""

    def __init__(self, engine: TreeEngine, players: int) -> None:
        super().__init__((players, *engine.shape))
        self._engine, self._loops = engine, engine.minimiser()
        self._rows, self._values = np.zeros(engine.shape[0]), np.zeros(engine.shape)

    def forward(self, policies: Floats, weights: Floats | None = None) -> Reach:
        """Compute the reach of every row of player 0, (R,), and the weights of all sequences."""
        return self._forward(policies, weights, self._rows)

    def _forward(self, policies: Floats, weights: Floats | None, rows: Floats) -> Reach:
        """Pass forward as `forward` does; `rows` takes the reach, or none if it is empty."""
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
        """Compute values, player 0 acting by its role."""
        self._require_latest(reach)
        played = self._plain(policies)
        changes, won = self._loops.backward(
            role, played, reach.rows, self._values, float(temperature), float(damping)
        )
        if played is not policies and role in {Role.ASCEND, Role.SOFTMAX}:
            policies[0] = played[0]
        if len(policies) == 1 and role in {Role.ASCEND, Role.SOFTMAX}:
            rate = self.win_rate(policies)  # of new rows against new rows
            return Valued(rate.first, rate.first, changes, self._values)
        first = float(0.5 + won[0] / 2.0)
        other = first if len(policies) == 1 else float(0.5 - won[1] / 2.0)
        return Valued(first, other, changes, self._values)

    def win_rate(
        self, policies: Floats, role: Role = Role.EVALUATE, weights: Floats | None = None
    ) -> WinRate:
        """Exact win rate of player 0, its role being EVALUATE or FULL_MEMORY."""
        if role == Role.FULL_MEMORY and len(policies) > 2:  # against each, of whom it then knows
            shares = self._shares(weights)
            pair = TreePasses(self._engine, 2)
            opponents = range(1, 1 + len(shares))
            rates = [pair.win_rate(policies[[0, opponent]], role) for opponent in opponents]
            return WinRate(*(float(mean) for mean in shares @ rates))
        reach = self._forward(policies, weights, self._rows[:0])
        met = self.backward(reach, policies, role)
        return WinRate.from_starts(met.first, met.other)
