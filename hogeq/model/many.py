"""Passes of one player against many opponents at once, or of many players against one."""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from hogeq.kernels import cycles, many, passes
from hogeq.kernels.diagonals import Diagonals
from hogeq.kernels.passes import TIE
from hogeq.kernels.storage import zeros
from hogeq.kernels.tables import Tables
from hogeq.kernels.view import TablesView
from hogeq.model.diagonal_arrays import DiagonalArrays
from hogeq.model.workspace import Role
from hogeq.support.aliases import Floats, Ints


class Meetings(NamedTuple):
    """Result of a pass over several pairs of strategies."""

    first: Floats
    """(n,), win probability of each player when moving first."""
    other: Floats
    """(n,), win probability of each opponent when that one moves first."""
    changes: Ints
    """Number of cells that ASCEND changed: () of the one policy, or (n,) of each."""

    @property
    def win_rates(self) -> Floats:
        """(n,), win rate of each player against its opponent."""
        return (self.first + 1.0 - self.other) / 2.0


class ManyWorkspace(ABC):
    """The arrays for passes over n pairs of strategies of one game, side by side.

    Each pair is a player, who is improved or evaluated, and an opponent, who follows a policy. Both
    sides may be the same in all pairs. One player who meets n opponents has one row at each cell:
    coordinate ascent, softmax steps and counterfactual values are then against the mixture of
    them, of which one is drawn before the game by their weights. n players who meet one opponent
    are independent of each other.

    As of a :class:`hogeq.model.workspace.Workspace`, attributes hold the result of the last pass
    only.

    Attributes
    ----------
    weights : float64 (n,)
        Of the opponents in the mixture.
    counterfactual_values : float64 (G, G, K)
        Of every roll against the mixture: the weighted sum over the opponents. Of one player only.
    infoset_reach : float64 (G, G)
        Reach probability of every cell, the player to move, weighted likewise.
    each : float64 (n, G, G, K)
        Counterfactual value of every roll of the player against each opponent, without its weight.
    each_reach : float64 (n, G, G)
        Reach probability of every cell against each opponent.
    """

    def __init__(self, tables: Tables, pairs: int) -> None:
        goal, num_actions = tables.dimensions.goal, tables.dimensions.num_actions
        self.tables = tables
        self.pairs = pairs
        self.weights = np.full(pairs, 1.0 / pairs)
        self.counterfactual_values = np.zeros((goal, goal, num_actions))
        self._infoset_reach = np.zeros((goal, goal))
        self._each = np.zeros((pairs, goal, goal, num_actions))
        self._each_reach = np.zeros((pairs, goal, goal))

    @property
    def infoset_reach(self) -> Floats:
        """Reach probability of every cell, the player to move, weighted."""
        return self._infoset_reach

    @property
    def each(self) -> Floats:
        """Counterfactual values of one player against each opponent."""
        return self._each

    @property
    def each_reach(self) -> Floats:
        """Reach probability of every cell against each opponent."""
        return self._each_reach

    def face(self, opponents: Floats, weights: Floats | None = None) -> None:
        """Set the opponents, until others are set.

        Parameters
        ----------
        opponents : float64 (n, G, G, K) or (G, G, K)
            One for each pair, or one for all. They are copied.
        weights : float64 (n,), optional
            Of the opponents in the mixture; by default equal.
        """
        self.weights = np.full(self.pairs, 1.0 / self.pairs)
        if weights is not None:
            self.weights = np.array(weights, np.float64)
        self._face(opponents)

    @abstractmethod
    def _face(self, opponents: Floats) -> None:
        """Copy the opponents."""

    @abstractmethod
    def forward(self, policy: Floats) -> None:
        """Fill `infoset_reach` and `each_reach`, and keep what backward passes need.

        Parameters
        ----------
        policy : float64 (G, G, K) or (n, G, G, K)
            Of one player, or of n.

        Raises
        ------
        ValueError
            If rows sum to more than 1 in a game whose positions can recur.
        """

    @abstractmethod
    def backward(
        self,
        policy: Floats,
        role: Role = Role.EVALUATE,
        *,
        temperature: float = 1.0,
        damping: float = 1.0,
    ) -> Meetings:
        """Pass over all cells backward; any role but FULL_MEMORY, for the player.

        In games whose positions can recur, the cells of one player who meets a mixture are changed
        all at once: ASCEND then changes only as many cells, those that gain most, as raise its win
        rate.

        Parameters
        ----------
        policy : float64 (G, G, K) or (n, G, G, K)
            As of :meth:`forward`. ASCEND and SOFTMAX rewrite it.
        role : Role
        temperature, damping : float
            Of SOFTMAX: in win probability, and share of the way to the softmax.

        Returns
        -------
        Meetings
        """

    def win_rates(self, policy: Floats) -> Floats:
        """Exact win rate of the player in every pair, float64 (n,)."""
        return self.backward(policy).win_rates


class GenericMany(ManyWorkspace):
    """Passes over one pair after the other; backward cell by cell where a row is shared."""

    def __init__(self, tables: Tables, pairs: int, dtype: DTypeLike = np.float64) -> None:
        super().__init__(tables, pairs)
        dimensions = tables.dimensions
        goal, num_actions, ring = dimensions.goal, dimensions.num_actions, dimensions.ring
        width, planes = len(tables.lane), len(tables.plane_dice)
        ends = 1 + int(tables.plane_again.max())
        self._view = TablesView(tables)
        self._kernels = cycles if tables.has_cycles else passes
        self._values = zeros((pairs, 2, ends * tables.strides.ends), dtype)
        self._reach = zeros((pairs, 2, ends * tables.strides.ends), dtype)
        rows = 2 * goal * ring * planes * num_actions * width
        self._buffer = zeros((pairs, rows), dtype)
        self._flow = zeros((rows,), dtype)
        sums = 2 * goal * planes * tables.sum_ring * num_actions * width
        self._sums = zeros((sums if tables.sum_depth.any() else 0,), dtype)
        self._opponents = np.zeros((pairs, goal, goal, num_actions))
        self._none = np.zeros((goal, goal, 0), np.int8)

    def _face(self, opponents: Floats) -> None:
        self._opponents[:] = opponents

    def forward(self, policy: Floats) -> None:
        """Fill `infoset_reach` and `each_reach`; see :meth:`ManyWorkspace.forward`."""
        if self.tables.has_cycles and policy.sum(axis=-1).max() > 1.0 + 1e-9:
            raise ValueError("reach: rows sum to more than 1; allowed where positions can recur: 1")
        for pair in range(self.pairs):
            both = np.stack([_of_pair(policy, pair), self._opponents[pair]])
            self._kernels.forward(
                self._view, both, self._reach[pair], self._flow, self._sums, self._each_reach[pair]
            )
        self._infoset_reach[:] = np.tensordot(self.weights, self._each_reach, 1)

    def backward(
        self,
        policy: Floats,
        role: Role = Role.EVALUATE,
        *,
        temperature: float = 1.0,
        damping: float = 1.0,
    ) -> Meetings:
        """Pass over all cells backward; see :meth:`ManyWorkspace.backward`."""
        if policy.ndim == 4:
            return self._one_by_one(policy, role, temperature, damping)
        if self.tables.has_cycles:
            acts = role in (Role.ASCEND, Role.SOFTMAX)
            found = self._one_by_one(policy, Role.COUNTERFACTUAL if acts else role)
            if role == Role.SOFTMAX:
                return self._soften(policy, temperature, damping)
            return self._ascend(policy, found) if role == Role.ASCEND else found
        (first, other), changes = many.backward(
            self._view,
            int(role),
            policy,
            self._opponents,
            self.weights,
            self._reach,
            self._values,
            self._buffer,
            self.counterfactual_values,
            self._infoset_reach,
            self._each,
            temperature,
            damping,
        )
        return Meetings(first, other, np.array(changes))

    def _one_by_one(
        self, policy: Floats, role: Role, temperature: float = 1.0, damping: float = 1.0
    ) -> Meetings:
        """Pass over each pair on its own; the sums over all of them."""
        found = []
        for pair in range(self.pairs):
            both = np.stack([_of_pair(policy, pair), self._opponents[pair]])
            result = self._kernels.backward(
                self._view,
                int(role),
                both,
                self._reach[pair],
                self._values[pair],
                self._buffer[pair],
                self._sums,
                self._each[pair],
                self._each_reach[pair],
                self._none,
                temperature,
                damping,
            )
            if role in (Role.ASCEND, Role.SOFTMAX):
                policy[pair] = both[0]
            found.append(result)
        first, other, changes = map(np.array, zip(*found, strict=True))
        self.counterfactual_values[:] = np.tensordot(self.weights, self._each, 1)
        return Meetings(first, other, changes)

    def _soften(self, policy: Floats, temperature: float, damping: float) -> Meetings:
        """Move all rows towards the softmax of the last values."""
        arrived = self._infoset_reach > 0.0
        values = self.counterfactual_values[arrived] / self._infoset_reach[arrived, None]
        powers = np.exp((values - values.max(axis=1, keepdims=True)) / temperature)
        wanted = powers / powers.sum(axis=1, keepdims=True)
        policy[arrived] += damping * (wanted - policy[arrived])
        return self._one_by_one(policy, Role.EVALUATE)._replace(changes=np.array(0))

    def _ascend(self, policy: Floats, found: Meetings) -> Meetings:
        """Change as many rows, by the last values, as raise the win rate against the mixture."""
        values, reach = self.counterfactual_values.copy(), self._infoset_reach
        gain = values.max(axis=-1) - (policy * values).sum(axis=-1)
        pure = policy.max(axis=-1) == 1.0
        cells = np.flatnonzero((reach > 0.0) & ((gain > TIE * reach) | ~pure))
        cells = cells[np.argsort(-gain.ravel()[cells], kind="stable")]
        rate = float(self.weights @ found.win_rates)
        while len(cells):
            own, opponent = np.divmod(cells, len(policy))
            changed = policy.copy()
            changed[own, opponent] = np.eye(policy.shape[2])[values[own, opponent].argmax(axis=-1)]
            after = self._one_by_one(changed, Role.EVALUATE)
            gained = float(self.weights @ after.win_rates) - rate
            if gained > 0.0 or (gained >= -TIE and not pure[own, opponent].any()):
                policy[:] = changed
                return after._replace(changes=np.array(len(cells)))
            cells = cells[: len(cells) // 2]
        return found._replace(changes=np.array(0))


class DiagonalMany(ManyWorkspace):
    """Passes by diagonals (:mod:`hogeq.kernels.diagonal_values`): a row that is shared is one.

    Its blocks of cells go through all pairs one after the other. Passes that set no common row are
    over one pair after the other, whose sums stay in the cache.
    """

    def __init__(
        self, tables: Tables, diagonals: Diagonals, pairs: int, dtype: DTypeLike = np.float64
    ) -> None:
        super().__init__(tables, pairs)
        self._together = DiagonalArrays(tables, diagonals, 2, pairs, dtype)
        self._alone = DiagonalArrays(tables, diagonals, 2, dtype=dtype)
        self._policies = np.zeros((1 + pairs, *self.counterfactual_values.shape))
        self._two = np.zeros((2, *self.counterfactual_values.shape))

    def _face(self, opponents: Floats) -> None:
        self._policies[1:] = opponents

    def forward(self, policy: Floats) -> None:
        """Fill `infoset_reach` and `each_reach`; see :meth:`ManyWorkspace.forward`."""
        for pair in range(self.pairs):
            if pair == 0 or policy.ndim == 4:
                self._policies[0] = _of_pair(policy, pair)
            self._together.forward(self._policies, self.each_reach[pair], pair=pair)
        self.infoset_reach[:] = np.tensordot(self.weights, self.each_reach, 1)

    def backward(
        self,
        policy: Floats,
        role: Role = Role.EVALUATE,
        *,
        temperature: float = 1.0,
        damping: float = 1.0,
    ) -> Meetings:
        """Pass over all cells backward; see :meth:`ManyWorkspace.backward`."""
        acts = role in (Role.ASCEND, Role.SOFTMAX)
        if policy.ndim == 4 or not acts:
            return self._one_by_one(policy, role, temperature, damping)
        self._policies[0] = policy
        self._together.shares[:] = self.weights
        _, _, changes = self._together.backward(
            int(role), self._policies, self.counterfactual_values, _NONE, temperature, damping
        )
        policy[:] = self._policies[0]
        first, other = self._together.roots.T
        return Meetings(first, other, np.array(changes))

    def _one_by_one(
        self, policy: Floats, role: Role, temperature: float, damping: float
    ) -> Meetings:
        found = []
        for pair in range(self.pairs):
            if pair == 0 or policy.ndim == 4:
                self._two[0] = _of_pair(policy, pair)
            self._two[1] = self._policies[1 + pair]
            weights = self._together.weights[pair : pair + 1]
            result = self._alone.backward(
                int(role), self._two, self.each[pair], _NONE, temperature, damping, weights=weights
            )
            if role in (Role.ASCEND, Role.SOFTMAX):
                policy[pair] = self._two[0]
            found.append(result)
        first, other, changes = map(np.array, zip(*found, strict=True))
        if role == Role.COUNTERFACTUAL:
            self.counterfactual_values[:] = np.tensordot(self.weights, self.each, 1)
        return Meetings(first, other, changes)


_NONE = np.zeros((0, 0, 0), np.int8)


def _of_pair(policy: Floats, pair: int) -> Floats:
    return policy if policy.ndim == 3 else policy[pair]
