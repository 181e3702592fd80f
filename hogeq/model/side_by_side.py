"""Passes over several pairs of strategies whose matches lie side by side."""

from functools import cached_property

import numpy as np
from numpy.typing import DTypeLike

from hogeq.kernels import packed, planned
from hogeq.kernels.diagonals import Diagonals
from hogeq.kernels.plan import PIECE, Plan, piece_of
from hogeq.kernels.planning import packed_plan
from hogeq.kernels.storage import zeros
from hogeq.kernels.tables import Tables
from hogeq.kernels.view import TablesView
from hogeq.model.game import HogEngine
from hogeq.model.many import DiagonalMany, GenericMany, ManyWorkspace, Meetings
from hogeq.model.match_arrays import MatchArrays
from hogeq.model.workspace import Role
from hogeq.support.aliases import Floats

MATCHES = 8  # side by side by diagonals: one cell of doubles, or two of singles, is a vector
FEWEST = 5  # matches on average in a pack of so many that is worth it
LARGEST_KEPT = 1 << 25  # bytes of a pack's reach that may fit a third-level cache
LEAST_IN_USE = 0.75  # of a lane, where matches are better passed forward one after the other


def _pack_of(pairs: int) -> int:
    """Choose how many matches lie side by side, so that most of them are in use."""
    return 2 if pairs == 2 else 4 if pairs <= 4 else 8


def plan_of_packs(tables: Tables, plan: Plan, pairs: int, bits: int) -> Plan:
    """Plan of the packs of so many matches in all, in numbers of so many bits.

    Matches are passed forward one after the other where a pack keeps much reach. Each then has its
    columns in the second-level cache, but computes the padding of its lanes, and its reach is
    turned side by side later.
    """
    one, each = plan.constants, _pack_of(pairs)
    numbers = each * tables.dimensions.goal**2 * one.dense(piece_of(one.lanes, bits))
    is_large = numbers * bits // 8 >= LARGEST_KEPT
    apart = not one.by_vector and is_large and one.records / one.lanes >= LEAST_IN_USE
    return packed_plan(tables, plan, each, bits, apart=apart)


class _Together:
    """The arrays by which one player meets all opponents, cell by cell, in packs of matches."""

    def __init__(self, game: HogEngine, plan: Plan, opponents: Floats, dtype: DTypeLike) -> None:
        tables, goal, num_actions = game.tables, game.goal, game.num_actions
        bits = np.dtype(dtype).itemsize * 8
        self.pairs = pairs = len(opponents)
        self._plan = plan_of_packs(tables, plan, pairs, bits)
        self._view = TablesView(tables)
        constants, places = self._plan.constants, self._plan.places
        self._each = each = constants.pairs
        packs, lanes = -(-pairs // each), constants.lanes
        piece = PIECE * 64 // bits
        self._vector, self._match = (0,) * piece, (0,) * each
        self._columns = zeros((packs, 2, places.columns * places.column), dtype)
        self._near = zeros((constants.dense(piece),), dtype)
        self._shares = zeros((packs, each), dtype)
        kept = 1, goal * goal, len(self._near)
        if constants.apart:
            kept = each, goal * goal, plan.constants.dense(piece_of(constants.apart, bits))
        self._masses = zeros((packs, *kept), dtype)
        self._single = plan
        alone = plan.places.columns * plan.places.column if constants.apart else 0
        self._column = zeros((2, alone), dtype)
        self._both = np.empty((2, *game.shape))
        self._totals = zeros((num_actions * lanes,), dtype)
        self._arrived = zeros((lanes,), dtype)
        self._starts = zeros((packs, 2, lanes), dtype)
        self._begun = zeros((packs, 2, lanes), dtype)
        self._rows = zeros(((packs * goal * goal + 1) * num_actions * each,), dtype)
        self._wins = places.wins.astype(dtype)
        self.face(opponents)

    def face(self, opponents: Floats) -> None:
        """Set the opponents, who stay as they are until others are set."""
        self._opponents = opponents
        cells, num_actions = opponents[0, :, :, 0].size, opponents.shape[-1]
        shape = len(self._columns), cells, num_actions, self._each
        rows = self._rows[: np.prod(shape)].reshape(shape)
        for pair, opponent in enumerate(opponents):
            pack, match = divmod(pair, self._each)
            rows[pack, :, :, match] = opponent.reshape(cells, num_actions)

    def _by_match(self, numbers: Floats) -> Floats:
        """Give those of the memory before the first turn, match by match, of lanes of packs."""
        lane = self._plan.constants.start % self._plan.constants.lanes
        found: Floats = numbers.reshape(len(numbers), 2, -1, self._each)[:, :, lane]
        return found

    def forward(self, policy: Floats, weights: Floats, infoset_reach: Floats) -> None:
        """Keep what weights values of the policy against every opponent, in the mixture."""
        infoset_reach[:] = 0.0
        self._shares.ravel()[: self.pairs] = weights
        if self._plan.constants.apart:
            self._one_by_one(policy, infoset_reach)
            return
        self._by_match(self._begun)[:, 0] = self._shares / 2.0
        for pack in range(len(self._begun)):
            packed.forward(
                self._plan,
                self._plan.places,
                self._view,
                policy,
                self._rows,
                self._begun[pack],
                self._columns[pack],
                self._masses[pack, 0],
                self._arrived,
                infoset_reach,
                pack,
                self._vector,
                self._match,
            )

    def _one_by_one(self, policy: Floats, infoset_reach: Floats) -> None:
        """Pass one match forward after the other, whose columns stay in the cache."""
        reach = np.empty_like(infoset_reach)
        self._both[0] = policy
        for pair, opponent in enumerate(self._opponents):
            pack, match = divmod(pair, self._each)
            self._both[1] = opponent
            planned.forward(
                self._single,
                self._single.places,
                self._view,
                self._both,
                self._column,
                self._masses[pack, match],
                reach,
            )
            infoset_reach += self._shares[pack, match] * reach

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
        changes: int = packed.backward(
            self._plan,
            self._plan.places,
            self._view,
            int(role),
            policy,
            self._rows,
            self._masses,
            self._shares,
            self._near,
            self._columns,
            self._totals,
            self._starts,
            counterfactual_values,
            infoset_reach,
            temperature,
            damping,
            self._wins,
            self._vector,
            self._match,
        )
        roots = 1.0 - self._by_match(self._starts).astype(np.float64).swapaxes(0, 1)
        first, other = roots.reshape(2, -1)[:, : self.pairs]
        return Meetings(first, other, np.array(changes))


class LargeMany(ManyWorkspace):
    """Passes over one pair after the other, by kernels compiled for a large game or by diagonals.

    Each pair's hidden states stay in the second-level cache for as long as they are needed, which
    those of several do not. Only where one row is set for all pairs, in ASCEND and SOFTMAX against
    a mixture, is a cell visited in all of them before the next, their numbers side by side.
    """

    def __init__(
        self, game: HogEngine, layout: Plan | Diagonals, pairs: int, dtype: DTypeLike = np.float64
    ) -> None:
        super().__init__(game.tables, pairs)
        self._game = game
        self._layout = layout
        self._dtype = dtype
        self._single = game.workspace(2, dtype)
        self._policies = np.zeros((1 + pairs, *game.shape))
        self._players: Floats | None = None
        self._is_reached = self._acted = False

    @cached_property
    def _together(self) -> _Together | MatchArrays:
        opponents = self._policies[1:]
        if isinstance(self._layout, Diagonals):
            return MatchArrays(self._layout, opponents, self._dtype)
        return _Together(self._game, self._layout, opponents, self._dtype)

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
    if game.plan is not None and not game.positions_recur:
        return LargeMany(game, game.plan, pairs, dtype)
    return GenericMany(game.tables, pairs, dtype)
