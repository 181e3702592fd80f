"""The expected-points player of "Hog Wild!" [2]."""

from typing import TYPE_CHECKING

import numpy as np

from hogeq.baselines.registry import baseline
from hogeq.rules import Rules
from hogeq.rules.memory import Memory
from hogeq.rules.outcomes import TurnTable
from hogeq.rules.parts import HOG_WILD_MULTIPLE
from hogeq.support.aliases import Matrix

if TYPE_CHECKING:
    from hogeq.model.game import HogEngine

FORCED_DICE_BONUS = 4.25
"""Points that [2] holds it to be worth that the opponent must roll four-sided dice."""


@baseline("hog_wild_heuristic", "expected points with the three adjustments of Hog Wild!")
def hog_wild_heuristic(game: "HogEngine") -> Matrix:
    """Matrix that rolls for the most points, three adjustments made, in the order of [2].

    Every roll starts with its expected points. A swap that helps, if one number of points brings
    it about, raises the roll that is likeliest to score that number to the points gained times
    that chance: no dice where they score it for sure, the most dice for 1 point, one die for 2
    points up to its sides. What leaves the opponent with four-sided dice gains 4.25 points: no
    dice where they do so for sure, and the most dice, times their chance of 1 point, where 1
    point does. No dice are always rolled where twice their points reach the goal and cause no
    swap. The fewest dice win ties.
    """
    turns = TurnTable(game.rules)
    matrix = np.zeros((game.goal, game.goal), np.int8)
    means = {
        sides: _means(turns, sides)
        for sides in {turns.dice_sides(own, 0, Memory()) for own in range(HOG_WILD_MULTIPLE)}
    }
    for own in range(game.goal):
        for opponent in range(game.goal):
            sides = turns.dice_sides(own, opponent, Memory())
            points = [float(turns.free(own, opponent).points), *means[sides]]
            _seek_swap(turns, own, opponent, sides, points)
            _force_dice(turns, own, opponent, sides, points)
            _finish(turns, own, opponent, points)
            matrix[own, opponent] = np.argmax(points)
    return matrix


def _means(turns: TurnTable, sides: int) -> list[float]:
    """Give the expected points of one die and more."""
    means = []
    for roll in range(1, turns.rules.max_dice + 1):
        ways = turns.branches(roll, sides)
        means.append(float(sum(way.points * way.probability for way in ways)))
    return means


def _chance_of_one(rules: Rules, sides: int) -> float:
    """Probability that the most dice show a 1."""
    return 1.0 - ((sides - 1) / sides) ** rules.max_dice


def _seek_swap(turns: TurnTable, own: int, opponent: int, sides: int, points: list[float]) -> None:
    """Raise the rolls that bring about a swap that helps: own score half the opponent's."""
    if turns.rules.swap != "double" or own > opponent or opponent % 2:
        return
    needed = opponent // 2 - own
    if needed <= 0:
        return
    gained = opponent - (own + needed)
    if needed == turns.free(own, opponent).points:
        points[0] = max(points[0], gained)
    if needed == 1:
        points[-1] = max(points[-1], gained * _chance_of_one(turns.rules, sides))
    if 2 <= needed <= sides:
        points[1] = max(points[1], gained / sides)


def _force_dice(turns: TurnTable, own: int, opponent: int, sides: int, points: list[float]) -> None:
    """Raise the rolls after which the scores' sum calls for four-sided dice."""
    if not turns.rules.hog_wild:
        return
    total = own + opponent
    if (total + turns.free(own, opponent).points) % HOG_WILD_MULTIPLE == 0:
        points[0] += FORCED_DICE_BONUS
    if (total + 1) % HOG_WILD_MULTIPLE == 0:
        points[-1] += FORCED_DICE_BONUS * _chance_of_one(turns.rules, sides)


def _finish(turns: TurnTable, own: int, opponent: int, points: list[float]) -> None:
    """Roll no dice where twice their points would win."""
    reached = own + 2 * turns.free(own, opponent).points
    if reached >= turns.rules.goal and turns.land(reached, opponent).opponent == opponent:
        points[0] = float(turns.rules.goal)
