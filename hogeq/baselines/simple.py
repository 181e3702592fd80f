"""Strategies of one line: always the same dice, no dice for enough points, no dice for a swap."""

from typing import TYPE_CHECKING

import numpy as np

from hogeq.rules.outcomes import TurnTable
from hogeq.support.aliases import Matrix

if TYPE_CHECKING:
    from hogeq.model.game import HogEngine


def always_roll(game: "HogEngine", dice: int) -> Matrix:
    """Matrix that rolls `dice` dice everywhere."""
    return np.full((game.goal, game.goal), dice, np.int8)


def bacon(game: "HogEngine", cutoff: int, dice: int) -> Matrix:
    """Matrix that rolls no dice where that scores `cutoff` points or more, else `dice`."""
    matrix = always_roll(game, dice)
    turns = TurnTable(game.rules)
    for score in range(game.goal):
        for opponent in range(game.goal):
            if turns.free(score, opponent).points >= cutoff:
                matrix[score, opponent] = 0
    return matrix


def swap(game: "HogEngine", cutoff: int, dice: int) -> Matrix:
    """Matrix that rolls no dice for a good swap, or for `cutoff` points and no bad one.

    A swap is good if it leaves the mover ahead and bad if it leaves the mover behind. Feral Hogs
    are not counted: they depend on what a strategy may not see.
    """
    matrix = always_roll(game, dice)
    turns = TurnTable(game.rules)
    for score in range(game.goal):
        for opponent in range(game.goal):
            points = turns.free(score, opponent).points
            landing = turns.land(score + points, opponent)
            # Only a swap changes the score of the player who is not moving.
            swapped = landing.opponent != opponent
            ahead = landing.score > landing.opponent
            if ahead if swapped else points >= cutoff:
                matrix[score, opponent] = 0
    return matrix
