"""Dynamic programs beside the kernels: a player who remembers, and how long a game can last.

Win rates here are of players who see the hidden memory as well as the scores; those of strategies
that see the scores alone are in :mod:`hogeq.evaluate`.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hogeq.evaluate import policy_of, win_rate
from hogeq.game import Game
from hogeq.kernels import passes
from hogeq.rules import Rules
from hogeq.rules.turn import (
    Memory,
    bonus,
    dice_sides,
    given,
    land,
    memory_sizes,
    next_memory,
    points_distribution,
    record,
    trots,
    zero_points,
)
from hogeq.workspace import WinRate, Workspace

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]


# --- a player who remembers -----------------------------------------------------------------------


def remembering_win_rate(game: Game, rolls: ArrayLike, strategy: ArrayLike) -> WinRate:
    """Exact win rate of a player who knows the hidden memory against one who does not.

    Parameters
    ----------
    game : Game
    rolls : array_like of int, shape (G, G, H)
        Dice rolled by own score, opponent's score and memory (`Game.memories`).
    strategy : array_like
        The other's, a matrix (G, G) or a policy (G, G, K).

    Returns
    -------
    WinRate
        Of the player who remembers.

    Raises
    ------
    ValueError
        If `rolls` has another shape or rolls that the game has not, or `strategy` is malformed.
    """
    table = np.asarray(rolls)
    shape = (game.goal, game.goal, game.memory_size)
    if table.shape != shape or table.dtype.kind not in "iu":
        raise ValueError(f"rolls: {table.dtype} {table.shape}, allowed are whole numbers {shape}")
    if table.min() < 0 or table.max() >= game.rolls:
        raise ValueError(
            f"rolls: {table.min()} to {table.max()}, allowed are 0 to {game.rolls - 1}"
        )
    if game.has_memory and game.tables.has_cycles:
        raise ValueError(
            f"rules {game.rules.name}: positions can recur and rolls depend on hidden memory, "
            "allowed are rules of which only one is true"
        )
    policy = policy_of(game, strategy)
    if not game.has_memory:
        return win_rate(game, table[:, :, 0], policy)
    work = game.workspace(2)
    work.values[:, game.tables.fixed_win] = 1.0
    roots = [0.0, 0.0]
    slots = np.zeros(work.slots)
    for total in range(2 * game.goal - 2, -1, -1):
        for own in range(max(0, total - game.goal + 1), min(total, game.goal - 1) + 1):
            opponent = total - own
            for player in (0, 1):
                found = _roll_values(work, player, own, opponent)[game.memory_slot]
                if player == 0:
                    chosen = table[own, opponent].astype(np.int64)[:, None]
                    slots[game.memory_slot] = np.take_along_axis(found, chosen, axis=1)[:, 0]
                else:
                    slots[game.memory_slot] = found @ policy[own, opponent]
                _publish(work, player, own, opponent, slots)
                roots[player] = float(slots[game.tables.start])
    first, other = roots
    return WinRate((first + 1.0 - other) / 2.0, first, 1.0 - other)


def _roll_values(work: Workspace, player: int, own: int, opponent: int) -> Floats:
    """Win probability of a player's rolls in every memory slot, (J * L, K)."""
    out = np.zeros((work.slots, work.row_values.shape[2]))
    passes.hidden_values(work.tables, work.values[player], own, opponent, out)
    return out


def _publish(work: Workspace, player: int, own: int, opponent: int, slots: Floats) -> None:
    """Write a cell's values by memory slot to the afterstates that land on the cell."""
    tables = work.tables
    goal, _, records, *_ = tables.sizes
    stride = tables.strides.records
    width = len(tables.lane)
    cell = own * goal + opponent
    arrivals = slice(tables.arrival_start[cell], tables.arrival_start[cell + 1])
    lanes = np.arange(records)[:, None] * stride + np.arange(width)
    at = tables.arrival_base[arrivals, None, None] + lanes
    again = tables.arrival_again[arrivals].astype(bool)
    values = slots[tables.next_memory[again.astype(np.int64)]]  # arrival, record, lane
    work.values[player][at[again]] = values[again]
    work.values[1 - player][at[~again]] = 1.0 - values[~again]


# --- the longest game -----------------------------------------------------------------------------


class _Outcomes(NamedTuple):
    """One way in which a turn can end, for all cells of a diagonal at once."""

    gain: int | Ints
    """Points added to the mover's score: one number, or one for each cell (n,)."""
    gift: int | Ints
    """Points given to the opponent, likewise."""
    recorded: int | Ints
    """What will be remembered of the turn, likewise."""
    forced: bool
    """Whether Time Trot gives an extra turn."""
    memories: Ints
    """Memories from which it can happen."""


def longest_game(rules: Rules) -> int | None:
    """Longest that a game can last.

    Both players and all dice work together to prolong it.

    Parameters
    ----------
    rules : Rules

    Returns
    -------
    int or None
        Turns of both players together, extra turns counted; None if there is no limit, since a
        turn can leave both scores as they were.

    Notes
    -----
    Seed 003 (Hogfish) derives 181 turns for its game, twice 91 less 1.
    """
    if rules.pig_out == 0 and not rules.piggy_back:
        return None
    return _LongestGame(rules).turns()


class _LongestGame:
    """Most turns still to come by cell and memory, from the highest total score down.

    A turn always raises the total, so the cells of a diagonal can be done at once.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        turns, extras, records = memory_sizes(rules)
        self.memories = [
            Memory(turn, extra, own, opponent)
            for turn in range(turns)
            for extra in range(extras)
            for own in range(records)
            for opponent in range(records)
        ]
        place = {memory: index for index, memory in enumerate(self.memories)}
        self.start = place[Memory()]
        self.following = np.array(  # (2, W, H): moves again, record, memory
            [
                [
                    [place[next_memory(rules, memory, kept, again)] for memory in self.memories]
                    for kept in range(records)
                ]
                for again in (False, True)
            ]
        )
        self.by_sides: dict[tuple[int, ...], list[_Outcomes]] = {}

    def turns(self) -> int:
        goal, count = self.rules.goal, len(self.memories)
        self._land()
        longest = np.zeros((goal * goal, count), np.int32)
        for total in range(2 * goal - 2, -1, -1):
            every = np.arange(max(0, total - goal + 1), min(total, goal - 1) + 1)
            for sides, own in self._by_sides(every, total):
                opponent = total - own
                best = np.zeros((len(own), count), np.int32)
                for outcome in (*self._zero(opponent), *self._rolled(sides)):
                    at = own + outcome.gain, opponent + outcome.gift
                    again = (self.again[at] | outcome.forced).astype(np.int64)
                    cell = np.where(again, self.same[at], self.other[at])
                    after = self.following[again, outcome.recorded][:, outcome.memories]
                    more = longest[cell[:, None], after] * self.open[at][:, None]
                    at_most = best[:, outcome.memories]
                    best[:, outcome.memories] = np.maximum(at_most, more)
                longest[own * goal + opponent] = best + 1
        return int(longest[0, self.start])

    def _land(self) -> None:
        """Tabulate landings by the scores a turn leaves: next cell, extra turn, game not over."""
        rules, goal = self.rules, self.rules.goal
        kinds = {
            dice_sides(rules, own, 0, Memory(extra=extra)) for own in range(8) for extra in (0, 1)
        }
        rolled = [
            (points, given(rules, roll, points))
            for sides in kinds
            for roll in range(1, rules.max_dice + 1)
            for points in points_distribution(rules, roll, sides)
        ]
        free = [
            (points, given(rules, 0, points)) for points in self._free(np.arange(goal)).tolist()
        ]
        feral = max(
            bonus(rules, memory, roll)
            for memory in self.memories
            for roll in range(rules.max_dice + 1)
        )
        own = goal + feral + max(points for points, _ in rolled + free)
        other = goal + max(gift for _, gift in rolled + free)
        self.same = np.zeros((own, other), np.int64)
        self.other = np.zeros_like(self.same)
        self.again = np.zeros((own, other), bool)
        self.open = np.zeros((own, other), bool)
        for score in range(own):
            for opponent in range(other):
                landing = land(rules, score, opponent)
                if landing.winner is None:
                    self.same[score, opponent] = landing.score * goal + landing.opponent
                    self.other[score, opponent] = landing.opponent * goal + landing.score
                    self.again[score, opponent] = landing.again
                    self.open[score, opponent] = True

    def _by_sides(self, every: Ints, total: int) -> Iterator[tuple[tuple[int, ...], Ints]]:
        """Cells of a diagonal, grouped by the dice of usual and of extra turns."""
        kinds = [
            tuple(dice_sides(self.rules, own, total - own, Memory(extra=extra)) for extra in (0, 1))
            for own in every.tolist()
        ]
        for sides in dict.fromkeys(kinds):
            yield sides, every[[kind == sides for kind in kinds]]

    def _free(self, opponent: Ints) -> Ints:
        return np.array([zero_points(self.rules, score) for score in opponent.tolist()])

    def _zero(self, opponent: Ints) -> Iterator[_Outcomes]:
        """Ways to end a turn of no dice."""
        rules, points = self.rules, self._free(opponent)
        gifts = np.array([given(rules, 0, gained) for gained in points.tolist()])
        kept = np.array([record(rules, 0, gained) for gained in points.tolist()])
        groups: dict[tuple[int, bool], list[int]] = {}
        for index, memory in enumerate(self.memories):
            key = bonus(rules, memory, 0), trots(rules, memory, 0)
            groups.setdefault(key, []).append(index)
        for (extra, forced), members in groups.items():
            yield _Outcomes(points + extra, gifts, kept, forced, np.array(members))

    def _rolled(self, sides: tuple[int, ...]) -> list[_Outcomes]:
        """Ways to end a turn of one die or more, dice of usual and of extra turns given."""
        if sides in self.by_sides:
            return self.by_sides[sides]
        rules = self.rules
        groups: dict[tuple[int, int, int, bool], list[int]] = {}
        for roll in range(1, rules.max_dice + 1):
            points = [tuple(points_distribution(rules, roll, kind)) for kind in sides]
            for index, memory in enumerate(self.memories):
                extra, forced = bonus(rules, memory, roll), trots(rules, memory, roll)
                for gained in points[memory.extra]:
                    gift, kept = given(rules, roll, gained), record(rules, roll, gained)
                    members = groups.setdefault((gained + extra, gift, kept, forced), [])
                    if not members or members[-1] != index:
                        members.append(index)
        found = [_Outcomes(*key, np.array(members)) for key, members in groups.items()]
        self.by_sides[sides] = found
        return found
