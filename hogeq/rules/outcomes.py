"""The ways in which a turn can end."""

from fractions import Fraction
from typing import NamedTuple

from hogeq.rules import Rules
from hogeq.rules.turn import (
    Memory,
    bonus,
    dice_sides,
    given,
    land,
    next_memory,
    points_distribution,
    record,
    trots,
    zero_points,
)


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
    """Of whoever moves next."""


def outcomes(
    rules: Rules, score: int, opponent: int, memory: Memory, dice: int
) -> tuple[Outcome, ...]:
    """List what can come of one turn.

    Parameters
    ----------
    rules : Rules
    score, opponent : int
        Of the player to move and of the other, both below the goal.
    memory : Memory
        Of the player to move.
    dice : int
        How many are rolled.

    Returns
    -------
    tuple of Outcome
        By points, ascending; probabilities sum to exactly 1.

    Examples
    --------
    >>> from hogeq.rules import EDITIONS
    >>> from hogeq.rules.turn import Memory
    >>> for way in outcomes(EDITIONS["fa22"], 90, 0, Memory(), 1):
    ...     print(way.points, way.probability, way.score, way.winner)
    1 1/6 91 None
    2 1/6 92 None
    3 1/6 93 None
    4 1/6 94 None
    5 1/6 95 None
    6 1/6 96 None
    """
    ways = {zero_points(rules, opponent): Fraction(1)}
    if dice:
        ways = points_distribution(rules, dice, dice_sides(rules, score, opponent, memory))
    extra, trot = bonus(rules, memory, dice), trots(rules, memory, dice)
    found = []
    for points, probability in ways.items():
        there = land(rules, score + points + extra, opponent + given(rules, dice, points))
        again = there.winner is None and (there.again or trot)
        after = next_memory(rules, memory, record(rules, dice, points), again)
        found.append(
            Outcome(points, probability, there.score, there.opponent, there.winner, again, after)
        )
    return tuple(found)


def total_rises(rules: Rules) -> bool:
    """Whether every turn raises the sum of both scores, so that no position comes twice."""
    return rules.pig_out > 0 or rules.piggy_back
