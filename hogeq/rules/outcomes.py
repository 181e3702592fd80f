"""The ways in which a turn can end, in one table for all who list them.

A turn ends as it does by chance (the points of the roll), by the memory (a bonus, a forced extra
turn) and by where the scores land. `TurnTable` gives each of these by what it depends on, and all
together as `TurnTable.outcomes`. Probabilities are exact.
"""

from fractions import Fraction
from functools import cache
from typing import NamedTuple

from hogeq.rules.memory import Memory, all_memories, next_memory, record
from hogeq.rules.points import kinds_of_dice, minus_one_points, points_distribution, zero_points
from hogeq.rules.rules import Rules
from hogeq.rules.turn import Landing, bonus, dice_sides, given, land, trots


class Branch(NamedTuple):
    """One result of a roll."""

    points: int
    """Points for the mover, without the bonus."""
    gift: int
    """Points for the opponent."""
    record: int
    """Of `hogeq.rules.memory.record`: how the turn is remembered."""
    probability: Fraction


class MemoryEffect(NamedTuple):
    """Bonus and extra turn by the memory."""

    bonus: int
    """Points for the mover."""
    forced: bool
    """Whether the roll earns an extra turn, wherever it lands."""


class Outcome(NamedTuple):
    """One way in which a turn can end."""

    points: int
    """Of the dice, or for rolling none; without the bonus, before any boost of the new score."""
    probability: Fraction
    score: int
    """The mover's score after the turn."""
    opponent: int
    """The other's score after the turn."""
    winner: int | None
    """0 the mover, 1 the other, None while the game goes on."""
    again: bool
    """Whether the mover takes an extra turn."""
    memory: Memory
    """Of the next player to move."""


class TurnTable:
    """Every way in which a turn of the first player can end, by what it depends on."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.memories = all_memories(rules)
        self._branches: dict[tuple[int, int], tuple[Branch, ...]] = {}
        self._free: dict[int, Branch] = {}  # by points

    def dice_sides(self, score: int, opponent: int, memory: Memory) -> int:
        """Sides of the dice of a turn."""
        return dice_sides(self.rules, score, opponent, memory)

    def branches(self, dice: int, sides: int) -> tuple[Branch, ...]:
        """Results of a choice other than no dice, dice having `sides` sides: points ascending."""
        key = dice, sides
        if dice < 0:
            return (self._branch(dice, minus_one_points(self.rules), Fraction(1)),)
        if key not in self._branches:
            self._branches[key] = tuple(
                self._branch(dice, points, probability)
                for points, probability in points_distribution(self.rules, dice, sides).items()
            )
        return self._branches[key]

    def free(self, score: int, opponent: int) -> Branch:
        """Give the one result of rolling no dice, at the mover's score and the opponent's."""
        points = zero_points(self.rules, score, opponent)
        if points not in self._free:
            self._free[points] = self._branch(0, points, Fraction(1))
        return self._free[points]

    def _branch(self, dice: int, points: int, probability: Fraction) -> Branch:
        gift = given(self.rules, dice, points)
        return Branch(points, gift, record(self.rules, dice, points), probability)

    def memory_effect(self, memory: Memory, dice: int) -> MemoryEffect:
        """Bonus and forced extra turn that the mover's memory adds to rolling `dice` dice."""
        return MemoryEffect(bonus(self.rules, memory, dice), trots(self.rules, memory, dice))

    def land(self, score: int, opponent: int) -> Landing:
        """Where a turn ends that leaves these scores, everything added."""
        return land(self.rules, score, opponent)

    def next_memory(self, memory: Memory, recorded: int, again: bool) -> Memory:
        """Memory of the next player to move."""
        return next_memory(self.rules, memory, recorded, again)

    def most(self) -> tuple[int, int]:
        """Most points that a turn can score, without a bonus, and most that it can give."""
        scores = range(self.rules.size)
        branches = [self.free(score, opponent) for score in scores for opponent in scores]
        for sides in kinds_of_dice(self.rules):
            for dice in self.rules.choices[1:]:
                branches.extend(self.branches(dice, sides))
        return max(branch.points for branch in branches), max(branch.gift for branch in branches)

    def outcomes(self, score: int, opponent: int, memory: Memory, dice: int) -> tuple[Outcome, ...]:
        """List every way in which one turn can end."""
        if dice:
            branches = self.branches(dice, self.dice_sides(score, opponent, memory))
        else:
            branches = (self.free(score, opponent),)
        extra, forced = self.memory_effect(memory, dice)
        ways = []
        for points, gift, recorded, probability in branches:
            there = self.land(score + points + extra, opponent + gift)
            again = there.winner is None and (there.again or forced)
            after = self.next_memory(memory, recorded, again)
            ways.append(
                Outcome(
                    points, probability, there.score, there.opponent, there.winner, again, after
                )
            )
        return tuple(ways)


@cache
def total_rises(rules: Rules) -> bool:
    """Whether every turn raises the sum of both scores, so that no position comes twice.

    A landing never lowers a score, so it is enough that every turn scores or gives something.
    """
    return (rules.pig_out != 0 or rules.piggy_back) and scoreless_turn(rules) is None


@cache
def scoreless_turn(rules: Rules) -> tuple[int, int] | None:
    """First pair of scores, the mover's and the opponent's, at which no dice score 0; or None."""
    scores = range(rules.size)
    for score in scores:
        for opponent in scores:
            if zero_points(rules, score, opponent) == 0:
                return score, opponent
    return None
