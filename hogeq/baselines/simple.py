"""Strategies of one line: always the same dice, no dice for enough points, no dice for a swap."""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hogeq.baselines.registry import register
from hogeq.rules.turn import land, zero_points
from hogeq.support.aliases import Matrix

if TYPE_CHECKING:
    from hogeq.model.game import Game


@register("always_roll:N", "roll N dice, whatever the scores")
def always_roll(game: "Game", dice: int) -> Matrix:
    """Matrix that rolls `dice` dice everywhere."""
    return np.full((game.goal, game.goal), dice, np.int8)


@register("bacon:CUTOFF,N", "roll 0 dice for at least CUTOFF points, else N")
def bacon(game: "Game", cutoff: int, dice: int) -> Matrix:
    """Matrix that rolls no dice where that scores `cutoff` points or more, else `dice`."""
    matrix = always_roll(game, dice)
    matrix[:, _zero_points(game) >= cutoff] = 0
    return matrix


@register("swap:CUTOFF,N", "as bacon, but roll 0 for any swap that helps and for none that hurts")
def swap(game: "Game", cutoff: int, dice: int) -> Matrix:
    """Matrix that rolls no dice for a good swap, or for `cutoff` points and no bad one.

    A swap is good if it leaves the mover ahead and bad if it leaves the mover behind. Feral Hogs
    are not counted: they depend on what a strategy may not see.

    Parameters
    ----------
    game : Game
    cutoff : int
        Least points that are worth rolling no dice.
    dice : int
        Dice to roll otherwise.

    Returns
    -------
    int8 array, shape (G, G)
    """
    matrix = always_roll(game, dice)
    for opponent, points in enumerate(_zero_points(game).tolist()):
        for score in range(game.goal):
            landing = land(game.rules, score + points, opponent)
            # Only a swap changes the score of the player who is not moving.
            swapped = landing.opponent != opponent
            ahead = landing.score > landing.opponent
            if ahead if swapped else points >= cutoff:
                matrix[score, opponent] = 0
    return matrix


def _zero_points(game: "Game") -> npt.NDArray[np.int64]:
    """Points for rolling no dice, shape (G,), by the opponent's score."""
    return np.array([zero_points(game.rules, opponent) for opponent in range(game.goal)])
