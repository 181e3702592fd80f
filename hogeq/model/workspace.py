"""Passes over one game, and what they leave behind."""

from collections.abc import Callable, Sequence
from enum import IntEnum
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from hogeq.kernels import interpreter, recurrence
from hogeq.model.cell_passes import CellPasses
from hogeq.model.interpreter import Interpreter
from hogeq.model.memory_passes import MemoryPasses
from hogeq.support.aliases import Floats, Ints
from hogeq.support.messages import BadInputError

if TYPE_CHECKING:
    from hogeq.model.game import HogEngine

TIE = interpreter.TIE


class Passes(Protocol):
    """Passes of one player, in self-play or against n opponents.

    Policies are (1, G, G, K) in self-play, else (1 + n, G, G, K), the player's first.
    """

    weights: Floats  # (n,), of the opponents in the mixture against which rows are set

    def forward(self, policies: Floats, infoset_reach: Floats, *, memories: bool = True) -> None:
        """Fill the reach of the player's cells against each opponent, (n, G, G).

        Keep what weights values, unless that of `memories` is not needed.
        """

    def backward(
        self,
        role: int,
        policies: Floats,
        action_values: Floats,
        infoset_reach: Floats,
        temperature: float,
        damping: float,
    ) -> tuple[Floats, int]:
        """Pass over all cells; any role but FULL_MEMORY, for the player, against all opponents.

        Counterfactual values, (G, G, K), and reach, (G, G), are those against the mixture.
        Returns the win probability of each player when moving first, (n, Q), and how many rows
        ASCEND changed.
        """


def passes_for(
    game: "HogEngine", players: int, dtype: DTypeLike = np.float64, matches: int = 1
) -> Passes:
    """Choose the layout of a game's numbers, and make arrays for passes over it.

    Compiling takes seconds, and pays in large games only. There, if much is remembered, a vector
    holds the memories of a cell; else it holds cells of one diagonal. Everything else is
    interpreted: small games, and rules of which no edition is made.
    """
    if game.has_large_memory:
        return MemoryPasses(game.tables, players, dtype, matches)
    if game.has_cell_vectors:
        return CellPasses(game.tables, players, dtype, matches)
    return Interpreter(game.rules, game.recurrence, players, matches)


class Role(IntEnum):
    """What a pass backward does with player 0."""

    EVALUATE = recurrence.EVALUATE  # play the policy as it is
    COUNTERFACTUAL = recurrence.COUNTERFACTUAL
    """Play it, and keep the counterfactual value of every action."""
    ASCEND = recurrence.ASCEND
    """Set every row to its best action on the way: one sweep of coordinate ascent."""
    SOFTMAX = recurrence.SOFTMAX  # move every row towards the softmax of its action values
    FULL_MEMORY = recurrence.FULL_MEMORY
    """Take the best action in every hidden state, the memory being known."""


MemoryValues = Callable[[int, int, int, Floats], Floats]  # see :meth:`Workspace.backward_by`


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


class Workspace:
    """Passes over one game, for one player (self-play) or two, and the arrays that they fill.

    Keep one for repeated evaluation: nothing is allocated after the first use. Its attributes are
    internal, and hold the result of the last pass only: `counterfactual_values` (G, G, K) of player
    0, and `infoset_reach` (G, G) of its cells. Functions of :mod:`hogeq.evaluation` return fresh
    arrays; a solver that reads an attribute copies it, or is done with it before the next pass.

    Most games have fast passes (:func:`passes_for`), which keep nothing by memory. What is to be
    kept, and a player with full memory, is interpreted.
    """

    def __init__(
        self,
        game: "HogEngine",
        players: int,
        dtype: DTypeLike = np.float64,
        passes: Passes | None = None,
    ) -> None:
        self._game = game
        self.players = players
        self.counterfactual_values = np.zeros(game.shape)
        self._reach = np.zeros((1, *game.shape[:2]))
        self.infoset_reach = self._reach[0]
        self._passes = passes or passes_for(game, players, dtype)
        self._is_fast = not isinstance(self._passes, Interpreter)
        self._values_kept = self._reach_kept = self._weighed = False

    @property
    def has_own_goals(self) -> bool:
        """Whether each player has a goal of its own."""
        return self._game.has_own_goals

    @property
    def certain_turns(self) -> Ints:
        """Turns that stay for certain; see :class:`hogeq.model.components.Recurrence`."""
        recurrence = self._game.recurrence
        return np.zeros((0, 4), np.int64) if recurrence is None else recurrence.certain

    @cached_property
    def _interpreter(self) -> Interpreter:
        if isinstance(self._passes, Interpreter):
            return self._passes
        return Interpreter(self._game.rules, self._game.recurrence, self.players)

    def forward(self, policies: Floats, *, keep: bool = False) -> None:
        """Fill `infoset_reach` for policies of shape (Q, G, G, K).

        The reach of every memory is there too if it is to be `kept`, which may cost a second pass.
        """
        self._pass_forward(policies, memories=True)
        self._reach_kept = keep or not self._is_fast
        if keep and self._is_fast:
            self._interpreter.forward(_plain(policies), self._reach)

    def cell_reach(self, policies: Floats, player: int = 0) -> Floats:
        """Reach probability of every cell under policies, a player to move: float64 (G, G).

        As :meth:`forward`, but without the reach of memories, which no pass may use afterwards.
        """
        if player and not self._game.has_own_goals:
            policies = np.ascontiguousarray(policies[::-1])
        self._pass_forward(policies, memories=False)
        if player and self._game.has_own_goals:
            return self._interpreter.cell_reach(player).reshape(self.infoset_reach.shape)
        return self.infoset_reach.copy()

    def _pass_forward(self, policies: Floats, *, memories: bool) -> None:
        if self._game.positions_recur and policies.sum(axis=-1).max() > 1.0 + 1e-9:
            raise ValueError(
                "reach: rows that sum to more than 1, allowed where positions can recur are "
                "policies alone (regret_weight: reach or belief)"
            )
        self._weighed, self._reach_kept = memories, False
        self._passes.forward(_plain(policies), self._reach, memories=memories)

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
        """Pass over all cells backward; a role says how the rolls of player 0 come about.

        Values are there for :meth:`hidden_values` if they are to be kept, which is for EVALUATE
        only, or the role is FULL_MEMORY. That writes the best roll of every memory to `choice`,
        int8 (G, G, H), if it is given: the fewest dice on ties.
        """
        if role not in (Role.EVALUATE, Role.FULL_MEMORY) and not self._weighed:
            raise RuntimeError("reach: the last pass forward kept that of the cells alone")
        played = _plain(policies)
        self._values_kept = keep or role == Role.FULL_MEMORY or not self._is_fast
        arrays = self.counterfactual_values, self.infoset_reach, temperature, damping
        if role == Role.FULL_MEMORY:
            rolls = None if choice is None else np.require(choice, np.int8, ["C", "W"])
            starts, changes = self._interpreter.backward(int(role), played, *arrays, rolls)
            if choice is not None and rolls is not None and rolls is not choice:
                choice[:] = rolls
        else:
            passes = self._interpreter if self._values_kept else self._passes
            starts, changes = passes.backward(int(role), played, *arrays)
        if played is not policies and role in (Role.ASCEND, Role.SOFTMAX):
            policies[:] = played
        return float(starts[0, 0]), float(starts[0, -1]), changes

    def backward_by(self, memory_values: MemoryValues) -> tuple[float, float]:
        """Pass over all cells; a function gives the value of every memory to the player to move.

        So rolls may depend on the memory. The function is called in Python once for each cell and
        player, which takes a second or two in a game to 100.
        """
        found = backward_together(
            [self],
            lambda player, own, opponent, rolled: memory_values(player, own, opponent, rolled[0])[
                None
            ],
        )
        return found[0]

    def begin(self) -> None:
        """Begin a pass of :func:`backward_together`."""
        if self._game.positions_recur:
            raise ValueError("backward_by: allowed: games whose positions do not recur")
        self._values_kept = True

    def publish(self, player: int, own: int, opponent: int, values: Floats) -> float:
        """Set what a cell's memories, (H,), are worth to a player who moves there.

        Returns the value of the memory that a game starts with.
        """
        return self._interpreter.publish(own * self._game.goal + opponent, player, values)

    def win_rate(self, policies: Floats, role: Role = Role.EVALUATE) -> WinRate:
        """Exact win rate of player 0 of two, in the role given."""
        first, other, _ = self.backward(policies, role)
        return WinRate.from_starts(first, other)

    def hidden_reach(self) -> Floats:
        """Reach probability of every hidden state, player 0 to move: float64 (G, G, H)."""
        if not self._reach_kept:
            raise RuntimeError("hidden_reach: the last pass was not asked to keep reach")
        shape = *self.infoset_reach.shape, self._game.memory_size
        return self._interpreter.reach[0, 0, : shape[0] * shape[1]].reshape(shape).copy()

    def hidden_values(self, own: int, opponent: int, player: int = 0) -> Floats:
        """Win probability of a player's rolls at a cell, by memory: float64 (H, K)."""
        if not self._values_kept:
            raise RuntimeError("hidden_values: the last pass was not asked to keep values")
        return self._interpreter.hidden_values(own * self._game.goal + opponent, player)


def backward_together(
    works: Sequence[Workspace], memory_values: MemoryValues
) -> list[tuple[float, float]]:
    """Pass over all cells of some workspaces side by side; a function joins their values."""
    for work in works:
        work.begin()
    goal, players = len(works[0].infoset_reach), works[0].players
    roots = [[0.0] * players for _ in works]
    for total in range(2 * goal - 2, -1, -1):
        for own in range(max(0, total - goal + 1), min(total, goal - 1) + 1):
            opponent = total - own
            for player in range(players):
                rolled = [work.hidden_values(own, opponent, player) for work in works]
                found = memory_values(player, own, opponent, np.stack(rolled))
                for root, work, values in zip(roots, works, found, strict=True):
                    root[player] = work.publish(player, own, opponent, values)
    return [(root[0], root[-1]) for root in roots]


def _plain(policies: Floats) -> Floats:
    """Policies as kernels are compiled for: contiguous float64, not read-only."""
    return np.require(policies, np.float64, ["C", "W"])


# --- games that never end: two strategies that leave the scores as they are, turn after turn ------


class EndlessError(BadInputError):
    """Two strategies between which a game may never end."""


def endless_position(work: Workspace, policies: Floats) -> tuple[int, int] | None:
    """Find scores, the mover's first, from which a game never ends; policies are (2, G, G, K)."""
    certain = work.certain_turns
    if not len(certain):
        return None
    half, cell = np.divmod(certain[:, 0], policies.shape[1] ** 2)
    for_ever = _for_ever(certain, _staying(certain, policies))
    for player in np.flatnonzero(for_ever.any(axis=1)):
        reach = work.cell_reach(policies, int(player)).ravel()
        moves = half == player * work.has_own_goals
        met = cell[for_ever[player] & moves & (reach[cell] > 0.0)]
        if len(met):
            own, opponent = divmod(int(met[0]), policies.shape[1])
            return own, opponent
    return None


def ways_to_stay(work: Workspace, policies: Floats) -> list[tuple[int, int, int]]:
    """List scores and rolls by which player 0 of policies (2, G, G, K) could stay for ever.

    Staying there, and wherever player 0 comes to move before that again, is for ever, since the
    other player stays too.
    """
    certain = work.certain_turns
    if not len(certain):
        return []
    stays = _staying(certain, policies)
    can = np.stack([np.ones_like(stays[0]), stays[1]])
    goal = policies.shape[1]
    found = certain[_for_ever(certain, can)[0] & ~stays[0] & (certain[:, 0] < goal**2)]
    return [(*divmod(cell, goal), roll) for cell, roll, *_ in found.tolist()]


def _staying(certain: Ints, policies: Floats) -> NDArray[np.bool_]:
    """Whether a player always plays the turns that stay for certain, (2, n), n of them."""
    cell, roll = certain[:, :2].T
    goal, num_actions = policies.shape[1], policies.shape[3]
    rows = policies.reshape(2, goal * goal, num_actions)[:, cell % goal**2]
    only = (rows > 0.0).sum(axis=2) == 1
    return np.asarray(only & (rows[:, np.arange(len(cell)), roll] > 0.0))


def _for_ever(certain: Ints, for_ever: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Of turns that stay, by the player to move, those after which all that follow stay too."""
    cell, _, target, again = certain.T
    place = np.full(certain[:, [0, 2]].max() + 1, -1)
    place[cell] = np.arange(len(cell))
    mover = np.where(again, [[0], [1]], [[1], [0]])
    while True:
        goes_on = for_ever & for_ever[mover, place[target]]
        if (goes_on == for_ever).all():
            return for_ever
        for_ever = goes_on
