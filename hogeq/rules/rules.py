"""`Rules`, the sizes and switches of one game, and the points of its rolls."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import comb
from typing import Annotated, Final, Literal, NamedTuple, TypeAlias

from pydantic import BeforeValidator, Field

from hogeq.rules.parts import (
    LANDINGS,
    MORE_BOAR,
    SWAPS,
    ZERO_DICE,
    is_prime,
    next_prime,
    square_swine,
)
from hogeq.rules.register import EFFECTS, MEMORY_PARTS, MemoryPart
from hogeq.rules.settings import base_names
from hogeq.rules.tables import SHAPES, check_size, is_table, part_or_table
from hogeq.support.messages import LONGEST_TITLE, HogeqError, is_title, refusal
from hogeq.support.parameters import NotAllowedError, one_of, parameters

_Sides: TypeAlias = Annotated[int, Field(ge=2, le=100)]  # one-sided dice would always show 1
_PigOut: TypeAlias = Annotated[int, Field(ge=0, le=1)] | Literal["count_ones"]


MOST_GOAL: Final = 2000  # highest goal

MOST_DICE: Final = 50  # most dice that a game may have

HOG_WILD_MULTIPLE: Final = 7
"""Hog Wild: the dice change when the sum of both scores is a multiple of this."""

HOG_WILD_SIDES: Final = 4  # Hog Wild: sides of the dice then

HOG_TIED_DIGIT: Final = 7
"""Hog Tied: at most one die counts when the sum of both scores ends in this digit."""

MOST_ANSWER: Final = 1000  # highest number of dice that a strategy may ask for then

TOUCHDOWN: Final = 6
"""Touchdown: points that are a multiple of this gain as many as that multiple."""

FORTY_NINERS: Final = 49  # 49ers: the mover's score at which a 1 does not hurt

FERAL_DISTANCE: Final = 2
"""Feral Hogs: how far the dice rolled must be from the record of the mover's last turn."""

FERAL_BONUS: Final = 3  # Feral Hogs: points that this earns

FERAL_HOGS: Final = ("none", "points", "dice")
"""Record of Feral Hogs: points as in summer 2020 [1] and spring 2020 [6], dice as in fall 2019 [6].
"""

COUNT_ONES: Final = "count_ones"
"""Pig Out of the course's spring 2017 edition [6]: nine dice all showing 1 score 2."""

MOST_COUNTED: Final = 10  # most dice of which such a roll always scores


def _goal(given: object) -> object:
    """Check a goal for both players, or a list of two goals; equal ones become one number."""
    goals = given if isinstance(given, list | tuple) else (given, given)
    are_allowed = all(type(goal) is int and 1 <= goal <= MOST_GOAL for goal in goals)
    if len(goals) != 2 or not are_allowed:
        raise NotAllowedError(
            f"whole numbers from 1 to {MOST_GOAL}, or a list of two, a goal for each player"
        )
    return goals[0] if goals[0] == goals[1] else tuple(goals)


def _title(name: object) -> object:
    """Check the name of a game: one line of printable characters."""
    if not isinstance(name, str) or not is_title(name):
        raise NotAllowedError(
            f"a text that is not empty, of at most {LONGEST_TITLE} printable characters"
        )
    return name


@parameters
class Rules:
    """The rules of one game: sizes, and which parts are in play.

    Attributes
    ----------
    name : str
        What to call this game: 1 to 200 printable characters.
    goal : int or tuple of int
        Points that win, 1 to 2000: of both players, or of each.
    max_dice : int
        Most dice a turn may roll, 1 to 50.
    min_dice : int
        Fewest dice a turn may roll, 0 to `max_dice`; who rolls fewer loses the game.
    sides : int
        Sides of the usual dice, 2 to 100.
    zero_dice : str
        Points for rolling no dice.
    pig_out : {0, 1, "count_ones"}
        Points of a turn in which any die shows 1; "count_ones": c ones among k dice score
        min(c, 11 - k), for 10 dice at most.
    prime_boost : bool
        Prime points become the next prime (Hogtimus Prime).
    touchdown : bool
        Points that are a multiple of 6 gain a sixth, before Hogtimus Prime.
    hog_wild : bool
        Four-sided dice when the two scores' sum is a multiple of 7, 0 included.
    hog_tied : bool
        At most one die when the two scores' sum ends in 7. More dice than a turn allows are no
        fault: as many as it allows are rolled.
    forty_niners : bool
        A 1 does not hurt a mover who has 49 points: the dice are summed.
    feral_hogs : {"none", "points", "dice"}
        3 more points when the dice rolled are 2 away from the points, these 3 left out, or the
        dice, of the mover's last turn.
    square_swine : bool
        A mover's new score that is a perfect square, 0 too, becomes the next one.
    landing : str
        What the mover's new score becomes, after Square Swine; several, with + between them, act in
        this order.
    piggy_back : bool
        A turn of 0 points gives the opponent as many points as dice were rolled.
    swap : str
        When the scores trade places, by the new scores.
    more_boar : str
        When the mover's score earns an extra turn, by the scores before a swap.
    time_trot : bool
        An extra turn for rolling as many dice as the turn's number modulo the period.
    time_trot_period : int
        That period, 1 to 64; of no effect without `time_trot`.
    extra_turn_sides : int or None
        Sides of the dice of extra turns, 2 to 100; None for the usual dice.
    memory : str
        What else is remembered between turns.
    effect : str
        Points and extra turns by all that a turn begins with.

    Raises
    ------
    ValueError
        If a field has the wrong type or a value out of range, or if switches contradict.

    Notes
    -----
    `zero_dice`, `landing`, `swap` and `more_boar` are keys of `register.PARTS`. They take a table
    too, as lists: see :mod:`hogeq.rules.tables`; or a part with parameters, as a mapping: see
    :mod:`hogeq.rules.settings`. `zero_dice` takes a number. `memory` is a key of
    `register.MEMORY_PARTS`, and `effect` one of `register.EFFECTS`.

    Examples
    --------
    >>> import hogeq
    >>> rules = hogeq.Rules(name="short", goal=20, swap="double")
    >>> rules.goal, rules.swap, rules.time_trot
    (20, 'double', False)
    """

    name: Annotated[str, BeforeValidator(_title)] = "custom"
    goal: Annotated[int | tuple[int, int], BeforeValidator(_goal)] = 100
    max_dice: Annotated[int, Field(ge=1, le=MOST_DICE)] = 10
    min_dice: Annotated[int, Field(ge=0, le=MOST_DICE)] = 0
    sides: _Sides = 6
    zero_dice: Annotated[str, part_or_table(ZERO_DICE)] = "ten_minus_ones_plus_tens"
    pig_out: _PigOut = 1
    prime_boost: bool = False
    touchdown: bool = False
    hog_wild: bool = False
    hog_tied: bool = False
    forty_niners: bool = False
    feral_hogs: Annotated[str, one_of(FERAL_HOGS)] = "none"
    square_swine: bool = False
    landing: Annotated[str, part_or_table(LANDINGS)] = "none"
    piggy_back: bool = False
    swap: Annotated[str, part_or_table(SWAPS)] = "none"
    more_boar: Annotated[str, part_or_table(MORE_BOAR)] = "none"
    time_trot: bool = False
    time_trot_period: Annotated[int, Field(ge=1, le=64)] = 8
    extra_turn_sides: _Sides | None = None
    memory: Annotated[str, one_of(MEMORY_PARTS)] = "none"
    effect: Annotated[str, one_of(EFFECTS)] = "none"

    def __post_init__(self) -> None:
        """Refuse switches that contradict each other."""
        if self.extra_turn_sides is not None and not self.gives_extra_turns:
            allowed = "null while time_trot is false and more_boar is none: no extra turns"
            raise HogeqError(refusal("extra_turn_sides", self.extra_turn_sides, allowed))
        if self.pig_out == COUNT_ONES and self.max_dice > MOST_COUNTED:
            allowed = f"1 to {MOST_COUNTED} while pig_out is {COUNT_ONES}, min(c, 11 - k) points"
            raise HogeqError(refusal("max_dice", self.max_dice, allowed))
        if MEMORY_PARTS[self.memory].minus_one:
            highest = 0
        else:
            highest = 1 if self.hog_tied else self.max_dice
        if self.min_dice > highest:
            allowed = f"0 to {highest}: max_dice, 1 with hog_tied, and 0 where -1 is a choice"
            raise HogeqError(refusal("min_dice", self.min_dice, allowed))
        for field in SHAPES:
            if is_table(getattr(self, field)):
                check_size(field, getattr(self, field), self.size)

    @property
    def goals(self) -> tuple[int, int]:
        """The goal of each player: of the first, which is to move, and of the second."""
        return self.goal if isinstance(self.goal, tuple) else (self.goal, self.goal)

    @property
    def size(self) -> int:
        """Scores that a table covers, from 0 on: the higher goal."""
        return max(self.goals)

    def for_second(self) -> "Rules":
        """Return the same rules as the second player has them: with the goals exchanged."""
        return self if self.goals[0] == self.goals[1] else replace(self, goal=self.goals[::-1])

    def require_one_goal(self) -> None:
        """Refuse a goal for each player, where one strategy plays both."""
        if isinstance(self.goal, tuple):
            two = "compare, attack, tablebase, analyze, play, review and board"
            allowed = f"one number here; {two} take two"
            raise HogeqError(refusal("rules.goal", list(self.goal), allowed))

    def without_memory(self) -> "Rules":
        """Return the same rules without Feral Hogs, Time Trot and memory parts."""
        return replace(
            self, feral_hogs="none", time_trot=False, extra_turn_sides=None, memory="none"
        )

    @property
    def least_answer(self) -> int:
        """Lowest number that a strategy may give: the fewest dice, or -1 where that is a choice."""
        return min(self.min_dice, self.choices[-1])

    @property
    def most_answer(self) -> int:
        """Highest number that a strategy may give: with Hog Tied more dice than allowed are cut."""
        return max(self.max_dice, MOST_ANSWER) if self.hog_tied else self.max_dice

    @property
    def choices(self) -> tuple[int, ...]:
        """Choices of a player, by number of the action: 0 to the most dice, and -1 last."""
        minus_one = MEMORY_PARTS[self.memory].minus_one
        return (*range(self.max_dice + 1), *(() if minus_one is None else (-1,)))

    @property
    def num_actions(self) -> int:
        """Number of choices, K."""
        return len(self.choices)

    @property
    def gives_extra_turns(self) -> bool:
        """Whether any part in play can give an extra turn."""
        return self.time_trot or self.more_boar != "none" or self.has_effects

    @property
    def has_effects(self) -> bool:
        """Whether a part has an effect of its own, beside Feral Hogs and Time Trot."""
        part = type(MEMORY_PARTS[self.memory])
        return self.effect != "none" or part.effect is not MemoryPart.effect

    def part(self, field: str, score: int, opponent: int) -> int:
        """Ask the part `zero_dice`, `landing`, `swap` or `more_boar` about two scores."""
        return _PARTS[field][getattr(self, field)](score, opponent)

    def part_names(self, field: str) -> list[str]:
        """Names of the parts that a field joins, without their settings."""
        return base_names(getattr(self, field))

    def points(self, faces: Sequence[int], score: int, opponent: int) -> int:
        """Points of dice that show `faces`; of none, those for rolling no dice at two scores."""
        return rolled_points(self, faces) if faces else zero_points(self, score, opponent)

    def mean_points(self, dice: int, sides: int) -> float:
        """Mean points of a roll of one or more dice."""
        if dice < self.min_dice:
            return 0.0
        distribution = points_distribution(self, dice, sides)
        return float(sum(points * probability for points, probability in distribution.items()))

    def landed(self, score: int, opponent: int) -> int:
        """Score that a turn leaves, before a swap, where its points lead to `score`."""
        return self.part("landing", square_swine(score) if self.square_swine else score, opponent)


_PARTS: Final = {"zero_dice": ZERO_DICE, "landing": LANDINGS, "swap": SWAPS, "more_boar": MORE_BOAR}


# --- points ---------------------------------------------------------------------------------------


def zero_points(rules: Rules, score: int, opponent: int) -> int:
    """Points for rolling no dice, at the mover's score and the opponent's."""
    return boosted(rules, ZERO_DICE[rules.zero_dice](score, opponent))


def minus_one_points(rules: Rules) -> int:
    """Points of the choice -1, where it is one."""
    return MEMORY_PARTS[rules.memory].minus_one or 0


class Throw(NamedTuple):
    """How dice are thrown on a turn."""

    sides: int
    most: int = MOST_DICE  # of more dice, these are rolled
    ones_hurt: bool = True
    way_to_score: int = 0  # number of how a memory part changes points: `MemoryTables.points_after`

    def dice(self, choice: int) -> int:
        """Dice that a choice rolls; -1 stays."""
        return min(choice, self.most)


def rolled_points(rules: Rules, faces: Sequence[int], *, ones_hurt: bool = True) -> int:
    """Points of one roll of one or more dice that shows `faces`."""
    ones = faces.count(1) if ones_hurt else 0
    return boosted(rules, pig_out(rules, ones, len(faces)) if ones else sum(faces))


def pig_out(rules: Rules, ones: int, dice: int) -> int:
    """Points of a roll of which so many dice, at least one, show 1; before any boost."""
    if rules.pig_out == COUNT_ONES:
        return min(ones, MOST_COUNTED + 1 - dice)
    return int(rules.pig_out)


def points_distribution(
    rules: Rules, dice: int, sides: int, *, ones_hurt: bool = True
) -> dict[int, Fraction]:
    """Return the probability of each number of points of one roll, boosts included, ascending.

    1. For each number of ones c from 1: C(dice, c) (sides - 1)^(dice - c) rolls are Pig Outs. This
       step is left out if ones do not hurt.
    2. Other rolls score their sum. `sums_without_ones` counts those of faces 2 to `sides`.
    """
    if dice < 1 or sides < 2:
        least = "allowed: at least 1 die and 2 sides"
        raise HogeqError(f"points_distribution: {dice} dice of {sides} sides; {least}")
    ways: Counter[int] = Counter()
    for ones in range(1, dice + 1) if ones_hurt else ():
        points = boosted(rules, pig_out(rules, ones, dice))
        ways[points] += comb(dice, ones) * (sides - 1) ** (dice - ones)
    # If ones do not hurt, they count: faces 1 to n are faces 2 to n + 1, each less 1.
    shift = 0 if ones_hurt else 1
    for total, count in enumerate(sums_without_ones(dice, sides + shift)):
        if count:
            ways[boosted(rules, total - shift * dice)] += count
    return {points: Fraction(ways[points], sides**dice) for points in sorted(ways)}


@cache
def sums_without_ones(dice: int, sides: int) -> tuple[int, ...]:
    """Count the rolls of `dice` dice that show no 1, by their sum: entry s is the count for s."""
    if dice == 0:
        return (1,)
    counts = sums_without_ones(dice - 1, sides)
    # The last die shows 2 to `sides`: the dice before it have the sum total - sides to total - 2.
    return tuple(
        sum(counts[max(0, total - sides) : max(0, total - 1)])
        for total in range(len(counts) + sides)
    )


def prime_boost(points: int) -> int:
    """Raise prime points to the next prime, leave others alone (Hogtimus Prime).

    Source: [5] (fall 2015): a sum of 19 scores 23, and 1 is not prime.
    """
    return next_prime(points) if is_prime(points) else points


def touchdown(points: int) -> int:
    """Add a sixth to points that are a multiple of 6, leave others alone (Touchdown).

    Source: spring 2013 [6]: 12 points are 14. Hogtimus Prime comes after it: 6 points are 11.
    """
    return points if points % TOUCHDOWN else points + points // TOUCHDOWN


def boosted(rules: Rules, points: int) -> int:
    """Points of a roll, or of no dice, after Touchdown and Hogtimus Prime."""
    points = touchdown(points) if rules.touchdown else points
    return prime_boost(points) if rules.prime_boost else points


def kinds_of_dice(rules: Rules) -> tuple[int, ...]:
    """List the sides of all dice that a game can use, those of ordinary turns first."""
    sides = [rules.sides]
    if rules.hog_wild:
        sides.append(HOG_WILD_SIDES)
    if rules.extra_turn_sides is not None:
        sides.append(rules.extra_turn_sides)
    sides.extend(MEMORY_PARTS[rules.memory].more_sides)
    return tuple(dict.fromkeys(sides))
