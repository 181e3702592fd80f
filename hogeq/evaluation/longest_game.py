"""How long a game can last."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from hogeq.rules import Rules
from hogeq.rules.memory import Memory, records_left
from hogeq.rules.outcomes import MemoryEffect, TurnTable, total_rises
from hogeq.support.aliases import Ints


class _TurnEnd(NamedTuple):
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
    """Most turns that a game can last, if both players and all dice prolong it.

    Parameters
    ----------
    rules : Rules

    Returns
    -------
    int or None
        Turns of both players together, extra turns counted; None if there may be no limit, since
        a turn can leave the sum of the scores as it was.

    Notes
    -----
    Tong (2023) [4] derives 181 turns for its game, twice 91 less 1.
    """
    if not total_rises(rules):
        return None
    return _LongestGame(rules).turns()


class _LongestGame:
    """Most turns still to come by cell and memory, from the highest total score down.

    A turn always raises the total, so the cells of a diagonal can be done at once.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.table = TurnTable(rules)
        memories = self.table.memories
        place = {memory: index for index, memory in enumerate(memories)}
        self.start = place[Memory()]
        self.following = np.array(  # (2, W, H): moves again, record, memory
            [
                [
                    [place[self.table.next_memory(memory, recorded, again)] for memory in memories]
                    for recorded in range(records_left(rules))
                ]
                for again in (False, True)
            ]
        )
        self.by_sides: dict[tuple[int, ...], list[_TurnEnd]] = {}

    def turns(self) -> int:
        goal, count = self.rules.goal, len(self.table.memories)
        self._land()
        longest = np.zeros((goal * goal, count), np.int32)
        for total in range(2 * goal - 2, -1, -1):
            every = np.arange(max(0, total - goal + 1), min(total, goal - 1) + 1)
            for sides, own in self._by_sides(every, total):
                opponent = total - own
                best = np.zeros((len(own), count), np.int32)
                for outcome in (*self._zero(own, opponent), *self._rolled(sides)):
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
        goal, (most_points, most_given) = self.rules.goal, self.table.most()
        bonuses = [
            self.table.memory_effect(memory, roll).bonus
            for memory in self.table.memories
            for roll in range(self.rules.max_dice + 1)
        ]
        own, other = goal + most_points + max(bonuses), goal + most_given
        self.same = np.zeros((own, other), np.int64)
        self.other = np.zeros_like(self.same)
        self.again = np.zeros((own, other), bool)
        self.open = np.zeros((own, other), bool)
        for score in range(own):
            for opponent in range(other):
                landing = self.table.land(score, opponent)
                if landing.winner is None:
                    self.same[score, opponent] = landing.score * goal + landing.opponent
                    self.other[score, opponent] = landing.opponent * goal + landing.score
                    self.again[score, opponent] = landing.again
                    self.open[score, opponent] = True

    def _by_sides(self, every: Ints, total: int) -> Iterator[tuple[tuple[int, ...], Ints]]:
        """Cells of a diagonal, grouped by the dice of usual and of extra turns."""
        kinds = [
            tuple(self.table.dice_sides(own, total - own, Memory(extra=extra)) for extra in (0, 1))
            for own in every.tolist()
        ]
        for sides in dict.fromkeys(kinds):
            yield sides, every[[kind == sides for kind in kinds]]

    def _zero(self, own: Ints, opponent: Ints) -> Iterator[_TurnEnd]:
        """Ways to end a turn of no dice."""
        cells = zip(own.tolist(), opponent.tolist(), strict=True)
        free = [self.table.free(*cell)[:3] for cell in cells]
        points, gifts, recorded = np.array(free, np.int64).T
        for (extra, forced), members in self._by_effect(0).items():
            yield _TurnEnd(points + extra, gifts, recorded, forced, np.array(members))

    def _by_effect(self, roll: int) -> dict[MemoryEffect, list[int]]:
        groups: dict[MemoryEffect, list[int]] = {}
        for index, memory in enumerate(self.table.memories):
            groups.setdefault(self.table.memory_effect(memory, roll), []).append(index)
        return groups

    def _rolled(self, sides: tuple[int, ...]) -> list[_TurnEnd]:
        """Ways to end a turn of one die or more, dice of usual and of extra turns given."""
        if sides in self.by_sides:
            return self.by_sides[sides]
        groups: dict[tuple[int, int, int, bool], list[int]] = {}
        for roll in range(1, self.rules.max_dice + 1):
            branches = [self.table.branches(roll, kind) for kind in sides]
            for index, memory in enumerate(self.table.memories):
                extra, forced = self.table.memory_effect(memory, roll)
                for points, gift, recorded, _ in branches[memory.extra]:
                    members = groups.setdefault((points + extra, gift, recorded, forced), [])
                    if not members or members[-1] != index:
                        members.append(index)
        found = [_TurnEnd(*key, np.array(members)) for key, members in groups.items()]
        self.by_sides[sides] = found
        return found
