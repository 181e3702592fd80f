"""Passes over several pairs of strategies in large games, by kernels compiled for them."""

from functools import cached_property

import numpy as np
from numpy.typing import DTypeLike

from hogeq.kernels import planned
from hogeq.kernels.plan import Plan, piece_of
from hogeq.kernels.storage import zeros
from hogeq.kernels.view import TablesView
from hogeq.model.game import Game
from hogeq.model.many import DiagonalMany, GenericMany, ManyWorkspace, Meetings
from hogeq.model.workspace import Role
from hogeq.support.aliases import Floats


class _Together:
    """The arrays by which one player meets all opponents, cell by cell: each pair has its own."""

    def __init__(self, game: Game, plan: Plan, pairs: int, dtype: DTypeLike) -> None:
        tables, goal, width = game.tables, game.goal, len(game.tables.lane)
        numbers = plan.constants.dense(piece_of(width, np.dtype(dtype).itemsize * 8))
        self._plan = plan
        self._view = TablesView(tables)
        self._columns = zeros((pairs, 2, goal * plan.places.column), dtype)
        self._masses = zeros((pairs, goal * goal, numbers), dtype)
        self._totals = zeros((game.num_actions * width,), dtype)
        self._arrived = np.zeros((goal, goal))
        self.roots = np.zeros((pairs, 2))

    def forward(self, policies: Floats, weights: Floats, infoset_reach: Floats) -> None:
        """Keep what weights values of the first policy against each other one, in the mixture."""
        infoset_reach[:] = 0.0
        for pair, weight in enumerate(weights):
            planned.forward(
                self._plan,
                self._plan.places,
                self._view,
                policies,
                self._columns[pair],
                self._masses[pair],
                self._arrived,
                1 + pair,
                weight,
            )
            infoset_reach += self._arrived

    def backward(
        self,
        role: Role,
        policies: Floats,
        counterfactual_values: Floats,
        infoset_reach: Floats,
        temperature: float,
        damping: float,
    ) -> int:
        """Improve the first policy on the way; the number of cells that ASCEND changed."""
        changes: int = planned.backward(
            self._plan,
            self._plan.places,
            self._view,
            int(role),
            policies,
            self._masses,
            self._columns,
            self._totals,
            counterfactual_values,
            infoset_reach,
            temperature,
            damping,
            self.roots,
        )
        return changes


class LargeMany(ManyWorkspace):
    """Passes over one pair after the other, by kernels compiled for a large game.

    Each pair's hidden states stay in the second-level cache for as long as they are needed, which
    those of several do not. Only where one row is set for all pairs, in ASCEND and SOFTMAX against
    a mixture, is a cell visited in all of them before the next.
    """

    def __init__(self, game: Game, plan: Plan, pairs: int, dtype: DTypeLike = np.float64) -> None:
        super().__init__(game.tables, pairs)
        self._game = game
        self._plan = plan
        self._dtype = dtype
        self._single = game.workspace(2, dtype)
        self._policies = np.zeros((1 + pairs, *game.shape))
        self._players: Floats | None = None
        self._is_reached = self._acted = False

    @cached_property
    def _together(self) -> _Together:
        return _Together(self._game, self._plan, self.pairs, self._dtype)

    @property
    def infoset_reach(self) -> Floats:
        """Reach of every cell, weighted; see :class:`ManyWorkspace`."""
        if not self._acted:
            self._infoset_reach[:] = np.tensordot(self.weights, self.each_reach, 1)
        return self._infoset_reach

    @property
    def each_reach(self) -> Floats:
        """Reach of every cell against each opponent; see :class:`ManyWorkspace`."""
        if not self._is_reached:
            for pair in range(self.pairs):
                self._each_reach[pair] = self._single.cell_reach(self._both(pair))
            self._is_reached = True
        return self._each_reach

    def _both(self, pair: int) -> Floats:
        """Player and opponent of a pair, as they were in the last pass forward."""
        player = self._policies[0] if self._players is None else self._players[pair]
        return np.stack([player, self._policies[1 + pair]])

    def _face(self, opponents: Floats) -> None:
        self._policies[1:] = opponents

    def forward(self, policy: Floats) -> None:
        """Note the policy: what is needed of its reach is known later."""
        self._players = None if policy.ndim == 3 else policy.copy()
        if policy.ndim == 3:
            self._policies[0] = policy
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
            return self._act(policy, role, temperature, damping)
        results = []
        for pair in range(self.pairs):
            both = self._both(pair)
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

    def _act(self, policy: Floats, role: Role, temperature: float, damping: float) -> Meetings:
        """Change the row of the player at every cell, against all opponents."""
        together = self._together
        together.forward(self._policies, self.weights, self._infoset_reach)
        reached = self._policies[0].copy()
        self._policies[0] = policy
        changes = together.backward(
            role,
            self._policies,
            self.counterfactual_values,
            self._infoset_reach,
            temperature,
            damping,
        )
        policy[:] = self._policies[0]
        self._policies[0] = reached
        self._acted = True
        first, other = together.roots.T.copy()
        return Meetings(first, other, np.array(changes))


def many_workspace(game: Game, pairs: int, dtype: DTypeLike = np.float64) -> ManyWorkspace:
    """Fresh arrays for passes over n pairs of strategies, in the fastest way that a game has."""
    diagonals = game.diagonals
    if diagonals is not None and not diagonals.any_stays and np.dtype(dtype) == np.float64:
        return DiagonalMany(game.tables, diagonals, pairs)
    if game.plan is not None:
        return LargeMany(game, game.plan, pairs, dtype)
    return GenericMany(game.tables, pairs, dtype)
