"""What a roll scores: exact distributions of points and their means."""

from dataclasses import dataclass
from fractions import Fraction

from hogeq.rules import Rules
from hogeq.rules.parts import HOG_WILD_SIDES
from hogeq.rules.turn import points_distribution
from hogeq.support.messages import refusal


@dataclass(frozen=True)
class ScoreDistribution:
    """Exact distribution of the points of one roll, without any bonus.

    Attributes
    ----------
    dice, sides : int
        Dice rolled, and sides of each.
    probability : dict of int to Fraction
        By points, ascending; sums to exactly 1.
    """

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
    """Exact distribution of the points of one roll.

    Parameters
    ----------
    rules : Rules
    dice : int
        Dice rolled, 1 to ``rules.max_dice``.
    sides : int, optional
        Sides of each die, at least 2; by default those of the rules' usual dice.

    Returns
    -------
    ScoreDistribution

    Raises
    ------
    ValueError
        If `dice` or `sides` is out of range.
    """
    sides = rules.sides if sides is None else sides
    for name, value, low, high in (("dice", dice, 1, rules.max_dice), ("sides", sides, 2, 100)):
        if not low <= value <= high:
            raise ValueError(refusal(name, value, f"whole numbers from {low} to {high}"))
    return ScoreDistribution(dice, sides, points_distribution(rules, dice, sides))


def kinds_of_dice(rules: Rules) -> dict[int, str]:
    """List the dice that a game can use.

    Parameters
    ----------
    rules : Rules

    Returns
    -------
    dict of int to str
        Sides of the dice, and when they are rolled; the usual dice first.
    """
    kinds = {rules.sides: "usual dice"}
    if rules.hog_wild:
        kinds.setdefault(HOG_WILD_SIDES, "Hog Wild")
    if rules.extra_turn_sides is not None:
        kinds.setdefault(rules.extra_turn_sides, "extra turns")
    return kinds
