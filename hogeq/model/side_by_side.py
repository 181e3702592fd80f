"""Passes over several pairs of strategies, by kernels that hold them side by side."""

from functools import cached_property

import numpy as np
from numpy.typing import DTypeLike

from hogeq.kernels import side_by_side
from hogeq.kernels.interleaving import InterleavedPlan
from hogeq.kernels.plan import Plan, plan_of
from hogeq.kernels.storage import zeros
from hogeq.kernels.tables import Tables
from hogeq.kernels.view import TablesView
from hogeq.model.game import Game
from hogeq.model.many import DiagonalMany, GenericMany, ManyWorkspace, Meetings
from hogeq.model.workspace import Role
from hogeq.support.aliases import Floats

SMALLEST = 1 << 17  # afterstates of a player below which passes are too short to compile any


class InterleavedMany(ManyWorkspace):
    """Passes over all pairs at once, one number of a vector for each.

    Arithmetic is done for as many pairs as a vector holds at what two or three cost one after the
    other, but so many hidden states do not fit the second-level cache unless the goal is small.
    """

    def __init__(
        self, tables: Tables, plan: Plan, pairs: int, dtype: DTypeLike = np.float64
    ) -> None:
        super().__init__(tables, pairs)
        goal, num_actions = tables.dimensions.goal, tables.dimensions.num_actions
        least = 32 // np.dtype(dtype).itemsize  # numbers of half a vector of the machine
        width = least if pairs <= least else 2 * least
        groups = -(-pairs // width)
        self._plan = InterleavedPlan(plan.constants, width, len(tables.lane))
        constants = self._plan.constants
        self._columns = side_by_side.columns_of(tables, plan, self._plan)
        self._view = TablesView(tables)
        lines = 2 * goal * constants.row
        self._shape = groups, width
        self._states = zeros((groups, 2, goal * self._columns.column), dtype)
        self._rolls = zeros((groups, lines * constants.bases), dtype)
        self._sums = zeros((groups, lines * constants.ring), dtype)
        self._masses = zeros((groups, goal * goal * constants.weights), dtype)
        self._averages = zeros((goal * goal, groups, num_actions, width), np.float64)
        self._arrived = zeros((goal * goal, groups, width), np.float64)
        self._starts = zeros((constants.active * width,), dtype)
        self._spots = np.zeros(constants.sides - 1, np.int64)
        self._same = zeros((num_actions, width), np.float64)
        self._weights = np.zeros(groups * width)
        self._given: Floats | None = None
        self._opponents: Floats | None = None
        self._opponent: Floats | None = None

    @property
    def each(self) -> Floats:
        """Counterfactual values against each opponent; see :class:`ManyWorkspace`."""
        found = np.empty((self.pairs, *self.counterfactual_values.shape))
        pairs = self._averages.transpose(1, 3, 0, 2).reshape(-1, *self._averages.shape[::2])
        found.reshape(self.pairs, -1, found.shape[-1])[:, self.tables.cell_order] = pairs[
            : self.pairs
        ]
        return found

    @property
    def each_reach(self) -> Floats:
        """Reach of every cell against each opponent; see :class:`ManyWorkspace`."""
        found = np.empty((self.pairs, *self._infoset_reach.shape))
        pairs = self._arrived.reshape(len(self._arrived), -1).T[: self.pairs]
        found.reshape(self.pairs, -1)[:, self.tables.cell_order] = pairs
        return found

    def _face(self, opponents: Floats) -> None:
        self._weights[: self.pairs] = self.weights
        if self._given is not None and np.array_equal(self._given, opponents):
            return  # which takes a tenth of putting them next to each other
        self._given = opponents.copy()
        self._opponents = self._packed(opponents) if opponents.ndim == 4 else None
        self._opponent = _plain(self._given) if opponents.ndim == 3 else None

    def _packed(self, policies: Floats) -> Floats:
        """Put the pairs of a group next to each other; the last is repeated to fill it."""
        groups, width = self._shape
        which = np.minimum(np.arange(groups * width), self.pairs - 1).reshape(groups, width)
        packed = zeros((groups, *policies.shape[1:], width), np.float64)
        for group in range(groups):
            for place, pair in enumerate(which[group]):
                packed[group, ..., place] = policies[pair]
        return packed

    def forward(self, policy: Floats) -> None:
        """Fill `infoset_reach`; see :meth:`ManyWorkspace.forward`."""
        several = policy.ndim == 4
        side_by_side.forward(
            self._plan,
            self._columns,
            self._view,
            None if several else _plain(policy),
            self._packed(policy) if several else None,
            self._opponent,
            self._opponents,
            self._masses,
            self._states,
            self._rolls,
            self._sums,
            self._arrived,
            self._spots,
            self._same,
        )
        self._infoset_reach.reshape(-1)[self.tables.cell_order] = (
            self._arrived.reshape(len(self._arrived), -1) @ self._weights
        )

    def backward(
        self,
        policy: Floats,
        role: Role = Role.EVALUATE,
        *,
        temperature: float = 1.0,
        damping: float = 1.0,
    ) -> Meetings:
        """Pass over all cells backward; see :meth:`ManyWorkspace.backward`."""
        several = policy.ndim == 4
        played = self._packed(policy) if several else _plain(policy)
        roots, changes = side_by_side.backward(
            self._plan,
            self._columns,
            self._view,
            int(role),
            None if several else played,
            played if several else None,
            self._opponent,
            self._opponents,
            self._weights,
            self._masses,
            self._states,
            self._rolls,
            self._sums,
            self._averages,
            self._arrived,
            self.counterfactual_values,
            self._infoset_reach,
            temperature,
            damping,
            self._starts,
            self._spots,
            self._same,
        )
        if role in (Role.ASCEND, Role.SOFTMAX):
            width = self._shape[1]
            if several:
                for pair in range(self.pairs):
                    policy[pair] = played[pair // width, ..., pair % width]
            elif played is not policy:
                policy[:] = played
        first, other = roots[:, : self.pairs]
        return Meetings(first, other, changes[: self.pairs] if several else changes[0])


class LargeMany(ManyWorkspace):
    """Passes over one pair after the other, by kernels compiled for a large game.

    Each pair's hidden states stay in the second-level cache for as long as they are needed, which
    those of several do not. Only where one row is set for all pairs, in ASCEND and SOFTMAX against
    a mixture, are they passed over side by side.
    """

    def __init__(self, game: Game, plan: Plan, pairs: int, dtype: DTypeLike = np.float64) -> None:
        super().__init__(game.tables, pairs)
        self._plan = plan
        self._dtype = dtype
        self._single = game.workspace(2, dtype)
        self._both = np.zeros((pairs, 2, *game.shape))
        self._is_reached = self._acted = False

    @cached_property
    def _together(self) -> InterleavedMany:
        return InterleavedMany(self.tables, self._plan, self.pairs, self._dtype)

    @property
    def infoset_reach(self) -> Floats:
        """Reach of every cell, weighted; see :class:`ManyWorkspace`."""
        if self._acted:
            return self._together.infoset_reach
        return np.tensordot(self.weights, self.each_reach, 1)

    @property
    def each(self) -> Floats:
        """Counterfactual values against each opponent; see :class:`ManyWorkspace`."""
        return self._together.each if self._acted else self._each

    @property
    def each_reach(self) -> Floats:
        """Reach of every cell against each opponent; see :class:`ManyWorkspace`."""
        if self._acted:
            return self._together.each_reach
        if not self._is_reached:
            for pair, both in enumerate(self._both):
                self._each_reach[pair] = self._single.cell_reach(both)
            self._is_reached = True
        return self._each_reach

    def _face(self, opponents: Floats) -> None:
        self._both[:, 1] = opponents

    def forward(self, policy: Floats) -> None:
        """Note the policy: what is needed of its reach is known later."""
        self._both[:, 0] = policy
        self._is_reached = self._acted = False

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
        if acts and policy.ndim == 3:
            together = self._together
            together.face(self._both[:, 1], self.weights)
            together.forward(self._both[0, 0])
            found = together.backward(policy, role, temperature=temperature, damping=damping)
            self._acted = True
            self.counterfactual_values[:] = together.counterfactual_values
            return found
        results = []
        for pair, both in enumerate(self._both):
            if role != Role.EVALUATE:
                self._single.forward(both)
                self._each_reach[pair] = self._single.infoset_reach
            both[0] = policy if policy.ndim == 3 else policy[pair]
            results.append(
                self._single.backward(both, role, temperature=temperature, damping=damping)
            )
            if role == Role.COUNTERFACTUAL:
                self._each[pair] = self._single.counterfactual_values
            if acts:
                policy[pair] = both[0]
        self._is_reached |= role != Role.EVALUATE
        if role == Role.COUNTERFACTUAL:
            self.counterfactual_values[:] = np.tensordot(self.weights, self._each, 1)
        first, other, changes = map(np.array, zip(*results, strict=True))
        return Meetings(first, other, changes if policy.ndim == 4 else changes.sum())


def many_workspace(game: Game, pairs: int, dtype: DTypeLike = np.float64) -> ManyWorkspace:
    """Fresh arrays for passes over n pairs of strategies, in the fastest way that a game has."""
    if game.diagonals is not None and np.dtype(dtype) == np.float64:
        return DiagonalMany(game.tables, game.diagonals, pairs)
    if game.plan is not None:
        return LargeMany(game, game.plan, pairs, dtype)
    plan = plan_of(game.tables, smallest=SMALLEST)
    if plan is not None:
        return InterleavedMany(game.tables, plan, pairs, dtype)
    return GenericMany(game.tables, pairs, dtype)


def _plain(policy: Floats) -> Floats:
    """Policy as kernels are compiled for: contiguous float64, not read-only."""
    return np.require(policy, np.float64, ["C", "W"])
