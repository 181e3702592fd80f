"""The arrays that passes over a game fill, and the two passes themselves."""

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from hogeq.kernels import cycles, passes, roles
from hogeq.kernels.diagonals import Diagonals
from hogeq.kernels.storage import zeros
from hogeq.kernels.tables import Tables
from hogeq.kernels.view import TablesView
from hogeq.model.diagonal_arrays import DiagonalArrays
from hogeq.model.memory_passes import MemoryPasses
from hogeq.model.stay_arrays import OrbitArrays, StayArrays
from hogeq.support.aliases import Floats, Ints

TIE = passes.TIE
"""Win probabilities that differ by less than this are ties."""


class Role(IntEnum):
    """What a pass backward does with player 0."""

    EVALUATE = roles.EVALUATE
    """Play the policy as it is."""
    COUNTERFACTUAL = roles.COUNTERFACTUAL
    """Play it, and keep the counterfactual value of every action."""
    ASCEND = roles.ASCEND
    """Set every row to its best action on the way: one sweep of coordinate ascent."""
    SOFTMAX = roles.SOFTMAX
    """Move every row towards the softmax of its action values."""
    FULL_MEMORY = roles.FULL_MEMORY
    """Take the best action in every hidden state, the memory being known."""


MemoryValues = Callable[[int, int, int, Floats], Floats]
"""See :meth:`Workspace.backward_by`."""


class WinRate(NamedTuple):
    """Exact win rate of one strategy against another.

    Examples
    --------
    >>> import hogeq
    >>> game = hogeq.Game({"edition": "su20", "goal": 20, "max_dice": 4})
    >>> two, three = (game.strategy(f"always_roll:{dice}") for dice in (2, 3))
    >>> rate = game.win_rate(two, three)
    >>> abs((rate.first + rate.second) / 2 - rate.win_rate) < 1e-12
    True
    """

    win_rate: float
    """Averaged over a fair coin that says who moves first."""
    first: float
    """When it moves first."""
    second: float
    """When it moves second."""

    @classmethod
    def from_starts(cls, first: float, other: float) -> "WinRate":
        """Win rate from the win probability of each of the two when it moves first."""
        return cls((first + 1.0 - other) / 2.0, first, 1.0 - other)

    def reversed(self) -> "WinRate":
        """Win rate of the other strategy."""
        return WinRate(1.0 - self.win_rate, 1.0 - self.second, 1.0 - self.first)


class Arrivals(NamedTuple):
    """Afterstates that land on a cell, m of them, with the memory slot of whoever moves there."""

    again: Ints
    """(m,) places in `values` of those by whose turn the same player moves again."""
    again_slots: NDArray[np.uint64]
    passed: Ints
    """(m,) those by which the turn passes to the other."""
    passed_slots: NDArray[np.uint64]


class Workspace:
    """The arrays that passes over one game fill, for one player (self-play) or two.

    Keep one for repeated evaluation: nothing is allocated after the first use. Its attributes are
    internal, and hold the result of the last pass only: every pass overwrites them. Other packages
    call :func:`hogeq.evaluation.counterfactual.counterfactual_values` and its like, which return
    fresh arrays; a solver that reads an attribute copies it, or is done with it before the next
    pass.

    Large memories have passes written for them (:mod:`hogeq.kernels.memory_vectors`), small ones
    passes by diagonals (:mod:`hogeq.kernels.diagonal_values`). They keep neither `values` nor
    `reach` unless :meth:`backward` and :meth:`forward` are asked to, and those by diagonals only
    what :meth:`hidden_values` and :meth:`hidden_reach` give of them.

    Attributes
    ----------
    values : float64 (Q, N)
        Win probability of whoever just moved, by afterstate.
    reach : float64 (Q, N)
        Reach probability of every afterstate, by the player who moved.
    counterfactual_values : float64 (G, G, K)
        Counterfactual value of every roll of player 0.
    infoset_reach : float64 (G, G)
        Reach probability of every cell, player 0 to move.
    """

    def __init__(
        self,
        tables: Tables,
        players: int,
        dtype: DTypeLike = np.float64,
        large: MemoryPasses | None = None,
        diagonals: Diagonals | None = None,
    ) -> None:
        dimensions = tables.dimensions
        goal, num_actions, ring = dimensions.goal, dimensions.num_actions, dimensions.ring
        width = len(tables.lane)
        planes = len(tables.plane_dice)
        ends = 1 + int(tables.plane_again.max())
        afterstates = ends * tables.strides.ends
        self.tables = tables
        self._view = TablesView(tables)
        self._kernels = cycles if tables.has_cycles else passes
        self.players = players
        self.values = zeros((players, afterstates), dtype)
        self.reach = zeros((players, afterstates), dtype)
        self.counterfactual_values = np.zeros((goal, goal, num_actions))
        self.infoset_reach = np.zeros((goal, goal))
        rows = players * goal * ring * planes * num_actions * width
        self._buffer = zeros((rows,), dtype)
        self._flow = zeros((rows,), dtype)
        sums = players * goal * planes * tables.sum_ring * num_actions * width
        self._sums = zeros((sums if tables.sum_depth.any() else 0,), dtype)
        self._slots = dimensions.active_memories * width
        self._diagonal: DiagonalArrays | None = None
        if diagonals is not None:
            if diagonals.orbits.chances:
                self._diagonal = OrbitArrays(tables, diagonals, players)
            elif diagonals.any_stays:
                self._diagonal = StayArrays(tables, diagonals, players)
            else:
                self._diagonal = DiagonalArrays(tables, diagonals, players, dtype=dtype)
        self._values_kept = self._reach_kept = large is None and diagonals is None
        self._values_due = False
        self._weighed = True
        self._large = large

    def forward(self, policies: Floats, *, keep: bool = False) -> None:
        """Fill `infoset_reach` for policies of shape (Q, G, G, K), and `reach` if it is to be kept.

        It always is without a plan; with one it costs a second pass.

        Raises
        ------
        ValueError
            If rows sum to more than 1 in a game whose positions can recur.
        """
        self._pass_forward(policies, keep=keep)

    def cell_reach(self, policies: Floats) -> Floats:
        """Reach probability of every cell under policies, player 0 to move: float64 (G, G).

        As :meth:`forward`, but without the reach of memories, which no pass may use afterwards.

        Raises
        ------
        ValueError
            As :meth:`forward`.
        """
        self._pass_forward(policies, memories=False)
        return self.infoset_reach.copy()

    def _pass_forward(self, policies: Floats, *, keep: bool = False, memories: bool = True) -> None:
        if self.tables.has_cycles and policies.sum(axis=-1).max() > 1.0 + 1e-9:
            raise ValueError(
                "reach: rows that sum to more than 1, allowed where positions can recur are "
                "policies alone (regret_weight: reach or belief)"
            )
        if self._diagonal is not None:
            self._weighed = self._reach_kept = memories
            self._diagonal.forward(_plain(policies), self.infoset_reach, memories=memories)
            return
        self._reach_kept = keep or self._large is None
        if self._large is not None:
            self._weighed = memories
            self._large.forward(_plain(policies), self.infoset_reach[None], memories=memories)
        if self._reach_kept:
            self._kernels.forward(
                self._view, policies, self.reach, self._flow, self._sums, self.infoset_reach
            )

    def backward(
        self,
        policies: Floats,
        role: Role = Role.EVALUATE,
        *,
        temperature: float = 1.0,
        damping: float = 1.0,
        choice: NDArray[np.int8] | None = None,
        keep: bool = False,
    ) -> tuple[float, float, int]:
        """Pass over all cells; see :func:`hogeq.kernels.passes.backward` for roles and the result.

        `values` is filled if it is to be kept, which is for EVALUATE and FULL_MEMORY only, the
        latter always; it costs a large game half as much again. FULL_MEMORY writes the best roll of
        every memory to `choice`, int8 (G, G, H), if that is given: the fewest dice on ties.

        Raises
        ------
        RuntimeError
            If the role needs the reach of memories, and the last pass forward was
            :meth:`cell_reach`.
        """
        fast = self._large is not None or self._diagonal is not None
        self._values_kept = keep or role == Role.FULL_MEMORY or not fast
        if fast and role not in (Role.EVALUATE, Role.FULL_MEMORY) and not self._weighed:
            raise RuntimeError("reach: the last pass forward kept that of the cells alone")
        remembers = role == Role.FULL_MEMORY
        if self._diagonal is not None and (self._diagonal.remembers or not remembers):
            played = _plain(policies)
            none = np.zeros((0, 0, 0), np.int8)
            rolls = none if choice is None else np.require(choice, np.int8, ["C", "W"])
            found: tuple[float, float, int] = self._diagonal.backward(
                int(role),
                played,
                self.counterfactual_values,
                rolls,
                temperature,
                damping,
                keep=self._values_kept,
            )
            self._values_due = self._values_kept
            if choice is not None and rolls is not choice:
                choice[:] = rolls
            if choice is not None:
                self._leave_on_ties(choice)
            if played is not policies and role in (Role.ASCEND, Role.SOFTMAX):
                policies[:] = played
            return found
        if self._large is not None and not self._values_kept:
            played = _plain(policies)
            starts, changes = self._large.backward(
                int(role),
                played,
                self.counterfactual_values,
                self.infoset_reach,
                temperature,
                damping,
            )
            if played is not policies and role in (Role.ASCEND, Role.SOFTMAX):
                policies[:] = played
            return float(starts[0, 0]), float(starts[0, -1]), changes
        self._values_due = False
        chosen = np.zeros(
            (*self.infoset_reach.shape, 0 if choice is None else self._slots), np.int8
        )
        first, last, changes = self._kernels.backward(
            self._view,
            int(role),
            policies,
            self.reach,
            self.values,
            self._buffer,
            self._sums,
            self.counterfactual_values,
            self.infoset_reach,
            chosen,
            temperature,
            damping,
        )
        if choice is not None:
            choice[:] = chosen[:, :, self.tables.memory_slot]
            self._leave_on_ties(choice)
        return first, last, changes

    def _leave_on_ties(self, choice: NDArray[np.int8]) -> None:
        """Where staying for certain is worth no more than another roll, choose the other.

        To stay is worth as much as what follows, be it one's own leaving a turn later.
        """
        certain = self.tables.cycles.certain
        for own, opponent, roll in zip(
            *np.divmod(certain[:, 0], len(choice)), certain[:, 1], strict=True
        ):
            worth = self.hidden_values(own, opponent).copy()
            enough = worth.max(axis=1) - TIE
            worth[:, roll] = -np.inf
            tied = (choice[own, opponent] == roll) & (worth.max(axis=1) >= enough)
            others = (worth >= enough[:, None]).argmax(axis=1)
            choice[own, opponent] = np.where(tied, others, choice[own, opponent])

    def backward_by(self, memory_values: MemoryValues) -> tuple[float, float]:
        """Pass over all cells; a function gives the value of every memory to the player to move.

        So rolls may depend on the memory. The function is called in Python once for each cell and
        player, which takes a second or two in a game to 100.

        Parameters
        ----------
        memory_values : callable
            Of the player, the own and the opponent's score, and the win probability of every roll,
            float64 (H, K); returns that of every memory, (H,).

        Returns
        -------
        tuple of float
            Win probability of each player when moving first.

        Raises
        ------
        ValueError
            If positions of the game can recur.
        """
        found = backward_together(
            [self],
            lambda player, own, opponent, rolled: memory_values(player, own, opponent, rolled[0])[
                None
            ],
        )
        return found[0]

    def begin(self) -> None:
        """Begin a pass of :func:`backward_together`.

        Raises
        ------
        ValueError
            If positions of the game can recur.
        """
        if self.tables.has_cycles:
            raise ValueError("backward_by: allowed: games whose positions do not recur")
        self._values_kept, self._values_due = True, False
        self.values[:, self.tables.fixed_win] = 1.0

    def arrivals(self, own: int, opponent: int) -> Arrivals:
        """Find the afterstates that land on a cell, the same for every workspace of a game."""
        tables = self.tables
        goal, records = tables.dimensions.goal, tables.dimensions.records
        cell = own * goal + opponent
        landing = slice(tables.arrival_start[cell], tables.arrival_start[cell + 1])
        lanes = np.arange(records)[:, None] * tables.strides.records + np.arange(len(tables.lane))
        at = tables.arrival_base[landing, None, None] + lanes
        again = tables.arrival_again[landing].astype(bool)
        slots = tables.next_memory[again.astype(np.int64)]  # arrival, record, lane
        return Arrivals(at[again], slots[again], at[~again], slots[~again])

    def publish(self, player: int, arrivals: Arrivals, values: Floats) -> float:
        """Write a cell's values by memory, (H,), to the afterstates that land on the cell.

        Returns the value of the memory that a game starts with.
        """
        slots = np.zeros(self._slots)
        slots[self.tables.memory_slot] = values
        self.values[player][arrivals.again] = slots[arrivals.again_slots]
        self.values[self.players - 1 - player][arrivals.passed] = 1.0 - slots[arrivals.passed_slots]
        return float(slots[self.tables.start])

    def win_rate(self, policies: Floats, role: Role = Role.EVALUATE) -> WinRate:
        """Exact win rate of player 0 of two, in the role given."""
        first, other, _ = self.backward(policies, role)
        return WinRate.from_starts(first, other)

    def hidden_reach(self) -> Floats:
        """Reach probability of every hidden state, player 0 to move: float64 (G, G, H).

        Raises
        ------
        RuntimeError
            If the last pass forward did not keep `reach`.
        """
        if not self._reach_kept:
            raise RuntimeError("hidden_reach: the last pass was not asked to keep reach")
        if self._diagonal is not None:
            return self._diagonal.reach()
        out = np.zeros((*self.infoset_reach.shape, self._slots), self.reach.dtype)
        passes.hidden_reach(self._view, self.reach, 0, out)
        return out[:, :, self.tables.memory_slot]

    def hidden_values(self, own: int, opponent: int, player: int = 0) -> Floats:
        """Win probability of a player's rolls at a cell, by memory: float64 (H, K).

        Raises
        ------
        RuntimeError
            If the last pass did not keep `values`.
        """
        if not self._values_kept:
            raise RuntimeError("hidden_values: the last pass was not asked to keep values")
        if self._diagonal is not None and self._values_due:
            self._diagonal.fill_values(self.values)
            self._values_due = False
        out = np.zeros((self._slots, self.counterfactual_values.shape[2]), self.values.dtype)
        passes.hidden_values(self._view, self.values[player], own, opponent, out)
        return out[self.tables.memory_slot]


def backward_together(
    works: Sequence[Workspace], memory_values: MemoryValues
) -> list[tuple[float, float]]:
    """Pass over all cells of some workspaces side by side; a function joins their values.

    Parameters
    ----------
    works : sequence of Workspace
        n of them, of one game and of as many players.
    memory_values : callable
        Of the player, the own and the opponent's score, and the win probability of every roll in
        each workspace, float64 (n, H, K); gives that of every memory, (n, H).

    Returns
    -------
    list of (float, float)
        For each workspace, win probability of each player when moving first.

    Raises
    ------
    ValueError
        If positions of the game can recur.
    """
    for work in works:
        work.begin()
    goal, players = works[0].tables.dimensions.goal, works[0].players
    roots = [[0.0] * players for _ in works]
    for total in range(2 * goal - 2, -1, -1):
        for own in range(max(0, total - goal + 1), min(total, goal - 1) + 1):
            opponent = total - own
            arrivals = works[0].arrivals(own, opponent)
            for player in range(players):
                rolled = [work.hidden_values(own, opponent, player) for work in works]
                found = memory_values(player, own, opponent, np.stack(rolled))
                for root, work, values in zip(roots, works, found, strict=True):
                    root[player] = work.publish(player, arrivals, values)
    return [(root[0], root[-1]) for root in roots]


def _plain(policies: Floats) -> Floats:
    """Policies as kernels are compiled for: contiguous float64, not read-only."""
    return np.require(policies, np.float64, ["C", "W"])
