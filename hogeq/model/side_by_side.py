"""Passes over several pairs of strategies whose matches lie side by side."""

from functools import cached_property

import numpy as np
from numpy.typing import DTypeLike

from hogeq.kernels.diagonals import Diagonals
from hogeq.kernels.tables import Tables
from hogeq.model.game import HogEngine
from hogeq.model.many import DiagonalMany, GenericMany, ManyWorkspace, Meetings
from hogeq.model.match_arrays import MatchArrays
from hogeq.model.memory_passes import MemoryPasses
from hogeq.model.workspace import Role
from hogeq.support.aliases import Floats

MATCHES = 8  # side by side by diagonals: one cell of doubles, or two of singles, is a vector
FEWEST = 5  # matches on average in a pack of so many that is worth it


class _Together:
    """The arrays by which one player meets all opponents, cell by cell."""

    def __init__(self, tables: Tables, opponents: Floats, dtype: DTypeLike) -> None:
        self._passes = MemoryPasses(tables, 2, dtype, len(opponents))
        self._policies = np.empty((1 + len(opponents), *opponents.shape[1:]))
        self._each_reach = np.empty(opponents.shape[:3])
        self.face(opponents)

    def face(self, opponents: Floats) -> None:
        """Set the opponents, who stay as they are until others are set."""
        self._policies[1:] = opponents

    def forward(self, policy: Floats, weights: Floats, infoset_reach: Floats) -> None:
        """Keep what weights values of the policy against every opponent, in the mixture."""
        self._policies[0] = policy
        self._passes.weights[:] = weights
        self._passes.forward(self._policies, self._each_reach)
        infoset_reach[:] = np.tensordot(weights, self._each_reach, 1)

    def backward(
        self,
        role: Role,
        policy: Floats,
        counterfactual_values: Floats,
        infoset_reach: Floats,
        temperature: float,
        damping: float,
    ) -> Meetings:
        """Improve the policy on the way."""
        self._policies[0] = policy
        starts, changes = self._passes.backward(
            role, self._policies, counterfactual_values, infoset_reach, temperature, damping
        )
        policy[:] = self._policies[0]
        return Meetings(starts[:, 0].copy(), starts[:, 1].copy(), np.array(changes))


class LargeMany(ManyWorkspace):
    """Passes over one pair after the other, by kernels compiled for a large game or by diagonals.

    Each pair's hidden states stay in the second-level cache for as long as they are needed, which
    those of several do not. Only where one row is set for all pairs, in ASCEND and SOFTMAX against
    a mixture, is a cell visited in all of them before the next, their numbers side by side.
    """

    def __init__(
        self,
        game: HogEngine,
        diagonals: Diagonals | None,
        pairs: int,
        dtype: DTypeLike = np.float64,
    ) -> None:
        super().__init__(game.tables, pairs)
        self._game = game
        self._diagonals = diagonals
        self._dtype = dtype
        self._single = game.workspace(2, dtype)
        self._policies = np.zeros((1 + pairs, *game.shape))
        self._players: Floats | None = None
        self._is_reached = self._acted = False

    @cached_property
    def _together(self) -> _Together | MatchArrays:
        opponents = self._policies[1:]
        if self._diagonals is not None:
            return MatchArrays(self._diagonals, opponents, self._dtype)
        return _Together(self._game.tables, opponents, self._dtype)

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
        if "_together" in self.__dict__:
            self._together.face(self._policies[1:])

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
        if acts and policy.ndim == 3 and self.pairs > 1:
            return self._act(policy, role, temperature, damping)
        results = []
        for pair in range(self.pairs):
            both = self._both(pair)
            if role != Role.EVALUATE:
                self._single.forward(both)
                self._each_reach[pair] = self._single.infoset_reach
            own = policy if policy.ndim == 3 else policy[pair]
            both[0] = own
            results.append(
                self._single.backward(both, role, temperature=temperature, damping=damping)
            )
            if role == Role.COUNTERFACTUAL:
                self._each[pair] = self._single.counterfactual_values
            if acts:
                own[:] = both[0]
        self._is_reached |= role != Role.EVALUATE
        if role == Role.COUNTERFACTUAL:
            self.counterfactual_values[:] = np.tensordot(self.weights, self._each, 1)
        first, other, changes = map(np.array, zip(*results, strict=True))
        return Meetings(first, other, changes if policy.ndim == 4 else changes.sum())

    def _act(self, policy: Floats, role: Role, temperature: float, damping: float) -> Meetings:
        """Change the row of the player at every cell, against all opponents."""
        self._together.forward(self._policies[0], self.weights, self._infoset_reach)
        self._acted = True
        played = np.require(policy, np.float64, ["C", "W"])
        found = self._together.backward(
            role, played, self.counterfactual_values, self._infoset_reach, temperature, damping
        )
        if played is not policy:
            policy[:] = played
        return found


def many_workspace(game: HogEngine, pairs: int, dtype: DTypeLike = np.float64) -> ManyWorkspace:
    """Fresh arrays for passes over n pairs of strategies, in the fastest way that a game has."""
    diagonals = game.diagonals_of(dtype)
    if diagonals is not None and not diagonals.any_stays:
        is_full = pairs >= FEWEST * -(-pairs // MATCHES)
        abreast = game.diagonals_of(dtype, MATCHES) if is_full else None
        if abreast is not None:
            return LargeMany(game, abreast, pairs, dtype)
        return DiagonalMany(game.tables, diagonals, pairs, dtype)
    if game.has_large_memory:
        return LargeMany(game, None, pairs, dtype)
    return GenericMany(game.tables, pairs, dtype)
