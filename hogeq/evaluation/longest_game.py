"""How long a game can last."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

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
from hogeq.support.aliases import Ints


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
