"""What one turn does: from dice to points, to scores, to who moves next and what is remembered.

A turn runs in this order: points (0, 1, or the dice's sum), prime boost, points given away,
bonus, Square Swine, the landing part, More Boar, swap, goal.
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import accumulate
from math import comb
from typing import NamedTuple

from hogeq.rules.edition import Rules
from hogeq.rules.memory import Memory, memory_effect, next_memory, record
from hogeq.rules.parts import (
    COUNT_ONES,
    FERAL_BONUS,
    FERAL_DISTANCE,
    HOG_WILD_MULTIPLE,
    HOG_WILD_SIDES,
    LANDINGS,
    MORE_BOAR,
    SWAPS,
    ZERO_DICE,
    counted_ones,
    prime_boost,
    square_swine,
)
from hogeq.support.messages import shown


class Landing(NamedTuple):
    """Where a turn ends."""

    score: int
    """The mover's score."""
    opponent: int
    """The opponent's score."""
    again: bool
    """Whether More Boar gives the mover an extra turn; never once the game is over."""
    winner: int | None
    """0 the mover, 1 the opponent, None while the game goes on."""


class Turn(NamedTuple):
    """One turn as it was played."""

    points: int
    """Points of the dice, or for rolling none, without the bonus."""
    bonus: int
    """Points of Feral Hogs or of the part `Rules.memory`."""
    given: int
    """Points given to the opponent."""
    landing: Landing
    """Scores after everything."""
    again: bool
    """Whether the mover takes an extra turn, wherever it comes from."""
    memory: Memory
    """Memory of whoever moves next."""


# --- points ---------------------------------------------------------------------------------------


def dice_sides(rules: Rules, score: int, opponent: int, memory: Memory) -> int:
    """Sides of this turn's dice; those of extra turns take precedence over Hog Wild."""
    if memory.extra and rules.extra_turn_sides is not None:
        return rules.extra_turn_sides
    if rules.hog_wild and (score + opponent) % HOG_WILD_MULTIPLE == 0:
        return HOG_WILD_SIDES
    return rules.sides


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
    """Exact distribution of the points of one roll.

    Parameters
    ----------
    rules : Rules
    dice : int
        Dice rolled, at least 1.
    sides : int
        Sides of each die, at least 2.

    Returns
    -------
    dict of int to Fraction
        Points to probability, points ascending; the probabilities sum to exactly 1.

    Raises
    ------
    ValueError
        If `dice` or `sides` is too small.
    """
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


def bonus(rules: Rules, memory: Memory, dice: int) -> int:
    """Add up what the memory adds to a roll.

    Feral Hogs: 3 points if `dice` is 2 away from the record of the mover's last turn. And what the
    part `Rules.memory` gives.
    """
    fires = rules.feral_hogs != "none" and abs(dice - memory.own) == FERAL_DISTANCE
    found = FERAL_BONUS if fires else 0
    if rules.memory != "none":
        found += memory_effect(rules, memory, dice)[0]
    return found


def given(rules: Rules, dice: int, points: int) -> int:
    """Piggy Back: a turn of 0 points gives the opponent one point for each die rolled."""
    return dice if rules.piggy_back and points == 0 else 0


# --- scores and who moves next --------------------------------------------------------------------


def trots(rules: Rules, memory: Memory, dice: int) -> bool:
    """Whether rolling `dice` on this turn earns an extra turn, by Time Trot or `Rules.memory`."""
    on_time = rules.time_trot and memory.turn % rules.time_trot_period == dice
    if rules.memory != "none" and memory_effect(rules, memory, dice)[1]:
        return True
    return on_time and memory.extra == 0


def land(rules: Rules, score: int, opponent: int) -> Landing:
    """Where a turn ends, once its points are counted.

    Square Swine, the landing part, More Boar on the scores that leaves, the swap, then the goal.
    Should both be at the goal, the higher score wins, and the mover if they are equal.

    Parameters
    ----------
    rules : Rules
    score : int
        The mover's, points and bonus added.
    opponent : int
        The opponent's, with what was given.

    Returns
    -------
    Landing
    """
    if rules.square_swine:
        score = square_swine(score)
    score = LANDINGS[rules.landing](score, opponent)
    again = MORE_BOAR[rules.more_boar](score, opponent)
    if SWAPS[rules.swap](score, opponent):
        score, opponent = opponent, score
    if max(score, opponent) < rules.goal:
        return Landing(score, opponent, again, winner=None)
    return Landing(score, opponent, again=False, winner=0 if score >= opponent else 1)


def play_turn(
    rules: Rules, score: int, opponent: int, memory: Memory, dice: int, faces: Sequence[int]
) -> Turn:
    """Play one whole turn with dice that have been rolled.

    Parameters
    ----------
    rules : Rules
    score, opponent : int
        Scores before the turn, both below the goal.
    memory : Memory
        Of the player to move.
    dice : int
        Dice rolled, 0 to `rules.max_dice`.
    faces : sequence of int
        What they show, one number from 1 to `dice_sides` for each die.

    Returns
    -------
    Turn

    Raises
    ------
    ValueError
        If a score, `dice` or a face is out of range, or the number of faces is not `dice`.
    """
    _check("score", score, 0, rules.goal - 1)
    _check("opponent", opponent, 0, rules.goal - 1)
    _check("dice", dice, 0, rules.max_dice)
    if len(faces) != dice:
        raise ValueError(f"turn: {len(faces)} faces for {dice} dice; allowed: one face a die")
    sides = dice_sides(rules, score, opponent, memory)
    for face in faces:
        _check("face", face, 1, sides)

    points = rolled_points(rules, faces) if dice else zero_points(rules, score, opponent)
    extra_points = bonus(rules, memory, dice)
    gift = given(rules, dice, points)
    landing = land(rules, score + points + extra_points, opponent + gift)
    over = landing.winner is not None
    again = not over and (landing.again or trots(rules, memory, dice))
    after = next_memory(rules, memory, record(rules, dice, points), again)
    return Turn(points, extra_points, gift, landing, again, after)


def _check(what: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise ValueError(f"turn: {what} is {shown(value)}; allowed: {low} to {high}")
