"""Passes of one player against many at once, or of many against one; and workspaces to share.

The arrays of a workspace are large (106 MB for two players of su20), so each thread makes one once
and uses it again: those that it used last, by game, number of players and precision. No two threads
ever have the same one. A workspace holds the result of its last pass only: whoever needs a result
for longer copies it, and no generator may yield between a pass and the use of what it filled.
"""

from collections.abc import Callable
from functools import cached_property, lru_cache
from threading import local

import numpy as np
from numpy.typing import DTypeLike

from hogeq.model.game import HogEngine
from hogeq.model.protocol import Engine, MatrixPasses, Meetings
from hogeq.model.workspace import TIE, Passes, Role, Workspace, passes_for
from hogeq.support.aliases import Floats

Choice = Callable[[HogEngine, int, DTypeLike, int], Passes]
"""See :func:`hogeq.model.workspace.passes_for`."""


class ManyWorkspace:
    """The arrays for passes over n pairs of strategies of one game, side by side.

    Each pair is a player, who is improved or evaluated, and an opponent, who follows a policy. Both
    sides may be the same in all pairs. One player who meets n opponents has one row at each cell:
    ascent, softmax steps and counterfactual values are then against the mixture of them by their
    `weights` (n,). n players who meet one opponent are independent of each other.

    As of a :class:`hogeq.model.workspace.Workspace`, attributes hold the result of the last pass
    only: `counterfactual_values` (G, G, K) and `infoset_reach` (G, G) against the mixture, and the
    same against every opponent in `each` (n, G, G, K), without its weight, and `each_reach`.
    """

    def __init__(
        self,
        game: HogEngine,
        pairs: int,
        dtype: DTypeLike = np.float64,
        choose: Choice = passes_for,
    ) -> None:
        self._game, self._dtype, self._choose = game, dtype, choose
        self.pairs = pairs
        self.weights = np.full(pairs, 1.0 / pairs)
        self.counterfactual_values = np.zeros(game.shape)
        self.each = np.zeros((pairs, *game.shape))
        self._single = Workspace(game, 2, dtype, choose(game, 2, dtype, 1))
        self._policies = np.zeros((1 + pairs, *game.shape))
        self._players: Floats | None = None
        self._infoset_reach = np.zeros(game.shape[:2])
        self._each_reach = np.zeros((pairs, *game.shape[:2]))
        self._is_reached = self._acted = False

    @cached_property
    def _together(self) -> Passes:
        """Passes by which a row is set against all opponents at once."""
        return self._choose(self._game, 2, self._dtype, self.pairs)

    @property
    def infoset_reach(self) -> Floats:
        """Reach probability of every cell, the player to move, weighted."""
        if not self._acted:
            self._infoset_reach[:] = np.tensordot(self.weights, self.each_reach, 1)
        return self._infoset_reach

    @property
    def each_reach(self) -> Floats:
        """Reach probability of every cell against each opponent."""
        if not self._is_reached:
            for pair in range(self.pairs):
                self._each_reach[pair] = self._single.cell_reach(self._both(pair))
            self._is_reached = True
        return self._each_reach

    def _both(self, pair: int) -> Floats:
        """Player and opponent of a pair, as they were in the last pass forward."""
        player = self._policies[0] if self._players is None else self._players[pair]
        return np.stack([player, self._policies[1 + pair]])

    def face(self, opponents: Floats, weights: Floats | None = None) -> None:
        """Set the opponents, one for each pair or one for all, and by default equal weights."""
        self.weights = np.full(self.pairs, 1.0 / self.pairs)
        if weights is not None:
            self.weights = np.array(weights, np.float64)
        self._policies[1:] = opponents

    def forward(self, policy: Floats) -> None:
        """Note the policy, (G, G, K), or n of them: what is needed of its reach is known later."""
        if self._game.positions_recur and policy.sum(axis=-1).max() > 1.0 + 1e-9:
            raise ValueError("reach: rows sum to more than 1; allowed where positions can recur: 1")
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
        """Pass over all cells backward; any role but FULL_MEMORY, for the player.

        In games whose positions can recur, the cells of one player who meets a mixture are changed
        all at once: ASCEND then changes only as many cells, those that gain most, as raise its win
        rate.
        """
        if role in (Role.EVALUATE, Role.COUNTERFACTUAL) or policy.ndim == 4:
            return self._one_by_one(policy, role, temperature, damping)
        if self._game.positions_recur:
            met = self._one_by_one(policy, Role.COUNTERFACTUAL)
            if role == Role.SOFTMAX:
                return self._soften(policy, temperature, damping)
            return self._ascend(policy, met)
        passes = self._together
        passes.weights[:] = self.weights
        passes.forward(self._policies, self._each_reach)
        self._policies[0] = policy
        arrays = self.counterfactual_values, self._infoset_reach
        self._infoset_reach[:] = np.tensordot(self.weights, self._each_reach, 1)
        starts, changes = passes.backward(int(role), self._policies, *arrays, temperature, damping)
        self._is_reached = self._acted = True
        policy[:] = self._policies[0]
        return Meetings(starts[:, 0].copy(), starts[:, 1].copy(), np.array(changes))

    def _one_by_one(
        self, policy: Floats, role: Role, temperature: float = 1.0, damping: float = 1.0
    ) -> Meetings:
        """Pass over each pair on its own."""
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
                self.each[pair] = self._single.counterfactual_values
            if role in (Role.ASCEND, Role.SOFTMAX):
                own[:] = both[0]
        self._is_reached |= role != Role.EVALUATE
        if role == Role.COUNTERFACTUAL:
            self.counterfactual_values[:] = np.tensordot(self.weights, self.each, 1)
        first, other, changes = map(np.array, zip(*results, strict=True))
        return Meetings(first, other, changes if policy.ndim == 4 else changes.sum())

    def win_rates(self, policy: Floats) -> Floats:
        """Exact win rate of the player in every pair, float64 (n,)."""
        return self.backward(policy).win_rates

    def _soften(self, policy: Floats, temperature: float, damping: float) -> Meetings:
        """Move all rows towards the softmax of the last values."""
        arrived = self.infoset_reach > 0.0
        values = self.counterfactual_values[arrived] / self.infoset_reach[arrived, None]
        powers = np.exp((values - values.max(axis=1, keepdims=True)) / temperature)
        wanted = powers / powers.sum(axis=1, keepdims=True)
        policy[arrived] += damping * (wanted - policy[arrived])
        return self._one_by_one(policy, Role.EVALUATE)._replace(changes=np.array(0))

    def _ascend(self, policy: Floats, met: Meetings) -> Meetings:
        """Change as many rows, by the last values, as raise the win rate against the mixture."""
        values, reach = self.counterfactual_values.copy(), self.infoset_reach
        gain = values.max(axis=-1) - (policy * values).sum(axis=-1)
        pure = policy.max(axis=-1) == 1.0
        cells = np.flatnonzero((reach > 0.0) & ((gain > TIE * reach) | ~pure))
        cells = cells[np.argsort(-gain.ravel()[cells], kind="stable")]
        rate = float(self.weights @ met.win_rates)
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
        return met._replace(changes=np.array(0))


def shared_workspace(game: Engine, players: int, dtype: DTypeLike = np.float64) -> Workspace:
    """Workspace of the calling thread, for one player (self-play) or two.

    What it holds lasts until its next use in the thread, by whatever function.
    """
    work: Workspace = _kept.workspace(game, players, np.dtype(dtype))
    return work


def quick_workspace(game: Engine, players: int) -> Workspace:
    """Shared workspace for what need not be exact: most of a search, weights of an average.

    In single precision where :meth:`hogeq.model.protocol.Engine.quick_dtype` says so.
    """
    return shared_workspace(game, players, game.quick_dtype())


def shared_many(game: Engine, pairs: int, dtype: DTypeLike = np.float64) -> ManyWorkspace:
    """Workspace of the calling thread for n pairs of strategies.

    It lasts as that of :func:`shared_workspace` does, its opponents included.
    """
    work: ManyWorkspace = _kept.many(game, pairs, np.dtype(dtype))
    return work


def quick_many(game: Engine, pairs: int) -> ManyWorkspace:
    """Shared workspace for n pairs of what need not be exact, as :func:`quick_workspace`."""
    return shared_many(game, pairs, game.quick_dtype(pairs))


class _Kept(local):
    """Workspaces of the current thread, those used last."""

    def __init__(self) -> None:
        self.workspace = lru_cache(maxsize=4)(lambda game, *sizes: game.workspace(*sizes))
        self.many = lru_cache(maxsize=2)(lambda game, *sizes: game.many(*sizes))
        self.duels = lru_cache(maxsize=2)(lambda game: game.duels())


_kept = _Kept()


def shared_duels(game: Engine) -> MatrixPasses | None:
    """Arrays of the calling thread for pairs of matrices; None if the game has none."""
    duels: MatrixPasses | None = _kept.duels(game)
    return duels
