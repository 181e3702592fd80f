"""Dynamic programming over the scores alone, given a belief about the hidden memory.

With a belief every roll earns the bonus of Feral Hogs with a known probability, and backward
induction over the scores gives a matrix: Huan (2020) [1], "The Final Strategy".
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from hogeq.baselines.diagonals import Diagonals, diagonals_of
from hogeq.support.aliases import Floats, Matrix
from hogeq.support.parameters import Share, check

if TYPE_CHECKING:
    from hogeq.model.game import HogEngine


def respond_to_beliefs(game: "HogEngine", beliefs: ArrayLike, epsilon: float = 0.0) -> Matrix:
    """Matrix that is optimal if the memory is always distributed as believed.

    Backward induction over the scores. Neither player knows more than the belief, and the opponent
    errs: with probability `epsilon` a turn of the opponent's rolls a uniformly random number of
    dice (Huan 2020 [1], "Error Modeling").
    """
    from hogeq.model.workspace import TIE

    turns = diagonals_of(game)
    check(Share, epsilon=epsilon)
    shares = np.asarray(beliefs, np.float64)
    shape = (turns.goal, turns.goal, turns.records**2)
    if shares.shape != shape:
        raise ValueError(f"beliefs: shape is {shares.shape}; allowed: {shape}")
    lucky = shares.reshape(*shape[:2], turns.records, turns.records).sum(axis=3) @ turns.fires
    matrix = np.zeros((turns.goal, turns.goal), np.int8)
    worth = np.stack([turns.won, turns.won])  # of an afterstate to its mover: me, the opponent
    for total in range(2 * turns.goal - 2, -1, -1):
        own, opponent = turns.cells(total)
        chance = lucky[own, opponent]
        cells = np.zeros((2, turns.goal * turns.goal))
        for player in (0, 1):
            plain, fed = _roll_values(turns, total, worth[player])
            # Where no bonus can be earned, `fed` may belong to no position at all.
            value = np.where(chance > 0.0, chance * fed, 0.0)
            value += np.where(chance < 1.0, (1.0 - chance) * plain, 0.0)
            best = value.max(axis=1)
            if player == 0:
                matrix[own, opponent] = (value >= best[:, None] - TIE).argmax(axis=1)
            else:
                best = (1.0 - epsilon) * best + epsilon * value.mean(axis=1)
            cells[player, own * turns.goal + opponent] = best
        at, other, cell = turns.arrivals(total)
        worth[:, at, other] = 1.0 - cells[::-1, cell]
    return matrix


def _roll_values(turns: Diagonals, total: int, worth: Floats) -> tuple[Floats, Floats]:
    """Values of the rolls of a diagonal, (n, K) each: without the bonus, and with it."""
    own, opponent = turns.cells(total)
    rolled = turns.rolled[total]
    values = worth[own[:, None] + rolled.gain, opponent[:, None]] @ rolled.chance.T
    plain, fed = values[:, : turns.num_actions], values[:, turns.num_actions :]
    scored = own + turns.zero[own, opponent]
    plain[:, 0] = worth[scored, opponent]
    fed[:, 0] = worth[scored + turns.bonus, opponent]
    return plain, fed
