"""The passes of :mod:`hogeq.model.protocol` over a flat tree, so that every solver runs on it.

Both seats become one strategy by a fair coin: its rows are the information sets of both. A payoff u
counts as the win rate 1/2 + u / (2 M), where M is the largest payoff to either player.

Where a row has fewer than K actions, each of the others means "play a legal one at random". No
algorithm has to know that: uniform rows are uniform over what is legal, and while a row gives the
others no probability, their value is that of the worst legal action, so that regrets never ask for
them. Regret matching then does what it would do on the legal actions alone.
"""

from collections.abc import Iterator
from functools import reduce
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from hogeq.model import rows as row_roles
from hogeq.model.protocol import Precision, Reach, Role, Valued, WinRate
from hogeq.support.aliases import Floats, Ints
from hogeq.trees.flat import FlatTree, node_values, reach, seated
from hogeq.trees.sequences import sequence_form

ROUNDING: Final = 1e-12  # largest probability or share of a payoff that may be rounding alone

Play: TypeAlias = tuple[float, tuple[int, ...], Floats]
"""How often one policy meets another, the seats of player 0, and the rows that both play."""


class RowsEngine:
    """Rows of which some have fewer than K actions."""

    positions_recur = False
    legal_actions: NDArray[np.bool_]  # (R, K)
    num_legal: Ints  # (R,)

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of a policy, (R, K)."""
        return len(self.num_legal), self.num_actions

    @property
    def num_actions(self) -> int:
        """Most actions of a row, K."""
        return self.legal_actions.shape[1]

    def legal(self, policy: Floats) -> Floats:
        """Spread the probabilities of illegal actions evenly over the legal ones of their rows."""
        illegal = self.illegal(policy)
        # Rows of ones stay: they say that own actions count 1.
        ones = (policy == 1.0).all(axis=-1)
        spread = np.where(ones, 0.0, illegal / self.num_legal)
        return np.asarray((policy + spread[..., None]) * self.legal_actions)

    def illegal(self, policy: Floats) -> Floats:
        """Probability of illegal actions in every row; 0 where it may be rounding alone."""
        total = np.einsum("...k,...k->...", policy, ~self.legal_actions)
        return np.where(total > ROUNDING, total, 0.0)

    def gradient(self, values: Floats, policy: Floats, reach: Floats) -> Floats:
        """Values of actions less their row's mean; ties are 0 to the last digit."""
        legal = self.legal_actions
        mean = np.einsum("rk,rk->r", values, legal) / self.num_legal
        centred = values - mean[:, None]
        tied = np.abs(centred) <= ROUNDING * reach[:, None]
        centred = np.where(legal & ~tied, centred, 0.0)
        # Illegal actions are worth that mean if the policy plays them, else as little as the worst.
        played = self.illegal(policy) > 0.0
        return np.where(legal | played[:, None], centred, least_of_rows(centred))


class TreeEngine(RowsEngine):
    """A flat tree, as algorithms know a game."""

    def __init__(self, tree: FlatTree) -> None:
        self.tree, self.legal_actions, self.num_legal = tree, tree.legal, tree.num_legal
        self.forms = sequence_form(tree, 0), sequence_form(tree, 1)
        first, second = (form.rank for form in self.forms)
        if first is None or second is None:
            raise ValueError(f"{tree.name}: allowed: games whose information sets have an order")
        self.rank: Ints = np.where(tree.seat == 0, first, second)
        self.own = [np.flatnonzero(tree.player == seat) for seat in (0, 1)]
        self.moved = [np.flatnonzero(tree.mover == seat) for seat in (0, 1)]
        self.largest_payoff = tree.largest_payoff

    @property
    def seat_rows(self) -> tuple[slice, slice]:
        """Rows of each seat, those of the first ahead."""
        first = int((self.tree.seat == 0).sum())
        return slice(0, first), slice(first, None)

    @property
    def has_memory(self) -> bool:
        """Whether some row joins different pasts of its player."""
        return any(len(form.shared) for form in self.forms)

    @property
    def payoff_per_win_rate(self) -> float:
        """Payoff that counts as a win rate of 1."""
        return 2.0 * self.largest_payoff

    def win_rate(self, payoff: float) -> float:
        """Count a payoff as a win rate."""
        return 0.5 + payoff / (2.0 * self.largest_payoff)

    def ways_to_stay(self, policies: Floats) -> list[tuple[tuple[int, ...], int]]:  # noqa: ARG002
        """No play is endless."""
        return []

    def quick_dtype(self, opponents: int = 1) -> Precision:  # noqa: ARG002 - of the protocol
        """Precision of sums that need not be exact."""
        return np.float64

    def workspace(self, players: int, dtype: DTypeLike = np.float64) -> "TreePasses":  # noqa: ARG002
        """Give passes, which keep no arrays."""
        return TreePasses(self)

    def duels(self) -> None:
        """Matrices are met as policies are."""


def least_of_rows(values: Floats) -> Floats:
    """Least of each row, (R, 1); numpy's own is slow along a short axis."""
    return np.asarray(reduce(np.minimum, values.T)[:, None])


class TreePasses:
    """The passes of :class:`hogeq.model.protocol.Passes` over a tree."""

    def __init__(self, engine: TreeEngine) -> None:
        self.engine = engine

    def forward(self, policies: Floats, weights: Floats | None = None) -> Reach:
        """Compute the reach of every row of player 0, and of every node in each play."""
        tree, infosets = self.engine.tree, np.zeros(self.engine.shape[0])
        states = []
        for share, seats, joint in self._plays(policies, weights):
            states.append(share * reach(tree, joint))
            for seat in seats:
                nodes = self.engine.own[seat]
                infosets += np.bincount(tree.row[nodes], states[-1][nodes], tree.num_rows)
        return Reach(infosets, _shares(policies, weights), states)

    def cell_reach(self, policies: Floats) -> Floats:
        """Reach of every row of player 0, a fresh array."""
        return self.forward(policies).rows

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
        engine, changes = self.engine, 0
        if role == Role.COUNTERFACTUAL:
            values = self._gradient(reach, policies)
            return Valued(*self._starts(policies, reach.weights), 0, values)
        values = np.zeros(engine.shape)
        for rank in range(int(engine.rank.max(initial=0)), -1, -1):
            rows = np.flatnonzero(engine.rank == rank)  # which do not meet in a play
            values[rows] = self._gradient(reach, policies)[rows]
            legal = np.where(engine.tree.legal[rows], values[rows], -np.inf)
            set_to, here = policies[0, rows], reach.rows[rows]
            if role == Role.SOFTMAX:
                row_roles.soften(set_to, legal, here, temperature, damping)
            else:
                changes += row_roles.ascend(set_to, legal, here)
            policies[0, rows] = set_to
        return Valued(*self._starts(policies, reach.weights), changes, values)

    def win_rate(
        self, policies: Floats, role: Role = Role.EVALUATE, weights: Floats | None = None
    ) -> WinRate:
        """Exact win rate of player 0, its role being EVALUATE or FULL_MEMORY."""
        if role == Role.FULL_MEMORY:
            return self._remember(policies, _shares(policies, weights))
        return WinRate.from_starts(*self._starts(policies, weights))

    def _plays(self, policies: Floats, weights: Floats | None) -> Iterator[Play]:
        """List the plays that may come about: share, seats of player 0, and the rows of both."""
        tree, legal = self.engine.tree, self.engine.legal(policies)
        if len(policies) == 1:
            yield 1.0, (0, 1), seated(tree, legal[0], legal[0])
            return
        for share, other in zip(_shares(policies, weights) / 2.0, legal[1:], strict=True):
            yield share, (0,), seated(tree, legal[0], other)
            yield share, (1,), seated(tree, other, legal[0])

    def _starts(self, policies: Floats, weights: Floats | None) -> tuple[float, float]:
        """Win probability of the player to move first: player 0, and the opponent."""
        starts = np.zeros(2)
        for share, seats, joint in self._plays(policies, weights):
            won = self.engine.win_rate(float(node_values(self.engine.tree, joint)[0]))
            for seat in seats:
                starts[seat] += share * 2.0 / len(seats) * won
        return float(starts[0]), float(starts[1])

    def _gradient(self, reach: Reach, policies: Floats) -> Floats:
        """Value of every action of player 0, weighted by reach."""
        engine, tree = self.engine, self.engine.tree
        gradient = np.zeros(tree.num_rows * tree.num_actions)
        plays = self._plays(policies, reach.weights)
        for (_, seats, joint), reached in zip(plays, reach.states, strict=True):
            values = node_values(tree, joint)
            for seat in seats:
                nodes = engine.moved[seat]
                won = reached[tree.parent[nodes]] * values[nodes]
                scale = (1.0 - 2.0 * seat) / (2.0 * engine.largest_payoff)
                gradient += scale * np.bincount(tree.edge[nodes], won, len(gradient))
        return engine.gradient(gradient.reshape(engine.shape), policies[0], reach.rows)

    def _remember(self, policies: Floats, weights: Floats) -> WinRate:
        """Let player 0 forget nothing of the own past."""
        starts = np.zeros(2)
        for weight, other in zip(weights, self.engine.legal(policies[1:]), strict=True):
            for seat, form in enumerate(self.engine.forms):
                won, _ = form.respond_with_full_memory(form.payoffs(other))
                starts[seat] += weight * (0.5 + (0.5 - seat) * won)
        return WinRate.from_starts(float(starts[0]), float(starts[1]))


def _shares(policies: Floats, weights: Floats | None) -> Floats:
    count = max(1, len(policies) - 1)
    return np.full(count, 1.0 / count) if weights is None else weights
