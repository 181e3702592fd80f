"""Points of a roll, their exact distribution and their mean."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import accumulate
from math import comb

from hogeq.rules.parts import COUNT_ONES, HOG_WILD_SIDES, ZERO_DICE, counted_ones, prime_boost
from hogeq.rules.rules import Rules
from hogeq.support.messages import refusal


def zero_points(rules: Rules, score: int, opponent: int) -> int:
    """Points for rolling no dice, at the mover's score and the opponent's."""
    return _boosted(rules, ZERO_DICE[rules.zero_dice](score, opponent))


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


@dataclass(frozen=True)
class ScoreDistribution:
    """Exact distribution of the points of one roll, without any bonus."""

    dice: int
    sides: int
    probability: dict[int, Fraction]

    @property
    def mean(self) -> Fraction:
        """Expected points."""
        return sum((points * chance for points, chance in self.probability.items()), Fraction())

    @property
    def variance(self) -> Fraction:
        """Expected square of the distance from the mean, in points squared."""
        squares = (points**2 * chance for points, chance in self.probability.items())
        return sum(squares, Fraction()) - self.mean**2

    @property
    def pig_out(self) -> Fraction:
        """Probability that a die shows 1."""
        return 1 - Fraction(self.sides - 1, self.sides) ** self.dice


def score_distribution(rules: Rules, dice: int, sides: int | None = None) -> ScoreDistribution:
    """Exact distribution of the points of one roll."""
    sides = rules.sides if sides is None else sides
    for name, value, low, high in (("dice", dice, 1, rules.max_dice), ("sides", sides, 2, 100)):
        if not low <= value <= high:
            raise ValueError(refusal(name, value, f"whole numbers from {low} to {high}"))
    return ScoreDistribution(dice, sides, points_distribution(rules, dice, sides))


def kinds_of_dice(rules: Rules) -> dict[int, str]:
    """List the dice that a game can use."""
    kinds = {rules.sides: "usual dice"}
    if rules.hog_wild:
        kinds.setdefault(HOG_WILD_SIDES, "Hog Wild")
    if rules.extra_turn_sides is not None:
        kinds.setdefault(rules.extra_turn_sides, "extra turns")
    return kinds
