"""Points of a roll, and their exact distribution."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import accumulate
from math import comb

from hogeq.rules.memory_part import MEMORY_PARTS
from hogeq.rules.parts import COUNT_ONES, HOG_WILD_SIDES, ZERO_DICE, counted_ones, prime_boost
from hogeq.rules.rules import Rules


def zero_points(rules: Rules, score: int, opponent: int) -> int:
    """Points for rolling no dice, at the mover's score and the opponent's."""
    return _boosted(rules, ZERO_DICE[rules.zero_dice](score, opponent))


def minus_one_points(rules: Rules) -> int:
    """Points of the choice -1, where it is one."""
    return MEMORY_PARTS[rules.memory].minus_one or 0


def rolled_points(rules: Rules, faces: Sequence[int]) -> int:
    """Points of one roll of one or more dice that shows `faces`."""
    ones = faces.count(1)
    return _boosted(rules, pig_out(rules, ones, len(faces)) if ones else sum(faces))


def pig_out(rules: Rules, ones: int, dice: int) -> int:
    """Points of a roll of which so many dice, at least one, show 1; before any boost."""
    return counted_ones(ones, dice) if rules.pig_out == COUNT_ONES else int(rules.pig_out)


def points_distribution(rules: Rules, dice: int, sides: int) -> dict[int, Fraction]:
    """Exact distribution of the points of one roll."""
    if dice < 1 or sides < 2:
        least = "allowed: at least 1 die and 2 sides"
        raise ValueError(f"points_distribution: {dice} dice of {sides} sides; {least}")
    ways: Counter[int] = Counter()
    for ones in range(1, dice + 1):
        points = _boosted(rules, pig_out(rules, ones, dice))
        ways[points] += comb(dice, ones) * (sides - 1) ** (dice - ones)
    for total, count in enumerate(sums_without_ones(dice, sides)):
        if count:
            ways[_boosted(rules, total)] += count
    return {points: Fraction(ways[points], sides**dice) for points in sorted(ways)}


@cache
def sums_without_ones(dice: int, sides: int) -> tuple[int, ...]:
    """Count the rolls of `dice` dice that show no 1, by their sum."""
    # One more die slides a window of its sides - 1 faces over the sums before it, a difference of
    # two running totals.
    if dice == 0:
        return (1,)
    before = sums_without_ones(dice - 1, sides)
    running = [0, *accumulate(before)]
    last = len(before)
    return tuple(
        running[max(0, min(total - 1, last))] - running[max(0, min(total - sides, last))]
        for total in range(last + sides)
    )


def _boosted(rules: Rules, points: int) -> int:
    return prime_boost(points) if rules.prime_boost else points


def kinds_of_dice(rules: Rules) -> tuple[int, ...]:
    """Sides of the dice that a game can use, the usual ones first."""
    sides = [rules.sides]
    if rules.hog_wild:
        sides.append(HOG_WILD_SIDES)
    if rules.extra_turn_sides is not None:
        sides.append(rules.extra_turn_sides)
    sides.extend(MEMORY_PARTS[rules.memory].more_sides)
    return tuple(dict.fromkeys(sides))
