"""The second place of summer 2020: dynamic programming over a counted delta distribution.

Huan (2020) [1] is its author's report, with the code. ``docs/huan2020.md`` lists what it leaves
open, and which choices come closest to the published results.
"""

from typing import TYPE_CHECKING, Annotated, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field

from hogeq.baselines import delta
from hogeq.baselines.registry import baseline
from hogeq.baselines.solved import ignore_memory
from hogeq.strategies.arrays import StrategyError
from hogeq.support.aliases import Floats, Matrix
from hogeq.support.parameters import NotNegative, PositiveShare, Share, check

if TYPE_CHECKING:
    from hogeq.model.game import HogEngine

# The report's comparison plays both seats, and so walks the same game twice when a strategy plays
# itself: its counts, measured against the default weight, are twice the ways into a state.
WALKS = 2.0
UNCOUNTED = 0.25  # weight in the report of a memory state that was never counted

_Rounds: TypeAlias = Annotated[int, Field(ge=0, le=1000)]


class PlayCounts(NamedTuple):
    """Counts of the ways into the memory states that need no strategy's self-play."""

    possible: delta.Counts
    """(2, G, G, H), by seat: above 0 where some play leads."""
    perfect: delta.Counts
    """Of the same shape: counts of two players who remember everything and play best."""


def first_guess(game: "HogEngine") -> PlayCounts:
    """Count the ways into memory states, of any play and of perfect play."""
    from hogeq.evaluation.tablebase import solve

    return PlayCounts(delta.entries(game), WALKS * delta.entries(game, solve(game).rolls))


def respond_to_beliefs(game: "HogEngine", beliefs: ArrayLike, epsilon: float = 0.0) -> Matrix:
    """Matrix that is optimal if the memory is always distributed as believed.

    Backward induction over the scores. Neither player knows more than the belief, and the opponent
    errs: with probability `epsilon` a turn of the opponent's rolls a uniformly random number of
    dice (Huan 2020 [1], "Error Modeling").
    """
    from hogeq.model.workspace import TIE

    turns = delta.diagonals_of(game)
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


def _roll_values(turns: delta.Diagonals, total: int, worth: Floats) -> tuple[Floats, Floats]:
    """Values of the rolls of a diagonal, (n, K) each: without the bonus, and with it."""
    own, opponent = turns.cells(total)
    rolled = turns.rolled[total]
    values = worth[own[:, None] + rolled.gain, opponent[:, None]] @ rolled.chance.T
    plain, fed = values[:, : turns.num_actions], values[:, turns.num_actions :]
    scored = own + turns.zero[own, opponent]
    plain[:, 0] = worth[scored, opponent]
    fed[:, 0] = worth[scored + turns.bonus, opponent]
    return plain, fed


def weights(counts: PlayCounts, own: delta.Counts | None, default: float) -> Floats:
    """Weight of every memory state, as Huan (2020) [1] looks it up.

    Its count in perfect play; where that is 0, its count in a strategy's play against itself;
    where that is 0 too, the default; and nothing where no play leads.
    """
    backup = np.full(counts.perfect.shape, default, np.float64)
    if own is not None:
        np.copyto(backup, own, where=own > 0)
    np.copyto(backup, counts.perfect, where=counts.perfect > 0)
    backup[counts.possible == 0] = 0.0
    return backup


@baseline("huan2020", "second place of summer 2020: counted guesses of the memory")
def huan2020(
    game: "HogEngine",
    *,
    weight: float = UNCOUNTED,
    epsilon: float = 0.01,
    rounds: int = 1,
    draft_weight: float = 1.0,
) -> Matrix:
    """Matrix of the method of Huan (2020) [1], in full.

    A draft guesses the memory by the counts of perfect play alone. Then, `rounds` times, the
    matrix plays itself, those counts fill the gaps, and a new matrix is made.
    """
    try:
        check(NotNegative, weight=weight, draft_weight=draft_weight)
        check(_Rounds, rounds=rounds)
        check(Share, epsilon=epsilon)
        guess = first_guess(game)
    except ValueError as error:
        raise StrategyError(f"strategy 'huan2020': {error}") from error
    beliefs = delta.over_seats(weights(guess, None, draft_weight))
    matrix = respond_to_beliefs(game, beliefs, epsilon)
    for _ in range(rounds):
        own = WALKS * delta.entries(game, matrix)
        beliefs = delta.over_seats(weights(guess, own, weight))
        matrix = respond_to_beliefs(game, beliefs, epsilon)
    return matrix


class MemoryGuesses(NamedTuple):
    """Distributions of the memory as counting guesses them."""

    counted: Floats
    """(G, G, H), by the strategy's own play: sums to 1, or to 0 where it never comes."""
    looked_up: Floats
    """(G, G, H), by :func:`weights`, perfect play first: sums to 1 wherever any play can come."""


def guess_by_counting(
    game: "HogEngine",
    strategy: ArrayLike,
    against: ArrayLike | None = None,
) -> MemoryGuesses:
    """Guess the memory as Huan (2020) [1] does, from the play of `strategy` against itself."""
    own = WALKS * delta.own_entries(game, strategy, against)
    looked_up = weights(first_guess(game), own, UNCOUNTED)
    return MemoryGuesses(delta.over_seats(own), delta.over_seats(looked_up))


@baseline("delta_distribution", "as huan2020, but the memory as probable as it is in self-play")
def delta_distribution(
    game: "HogEngine", *, epsilon: float = 0.01, rounds: int = 20, tremble: float = 0.01
) -> Matrix:
    """Matrix of the method of Huan (2020) [1], counts replaced by reach probabilities.

    The report names this as future work.

    Round after round the matrix plays itself, and a new matrix is made from the distribution of
    the memory in all rounds so far, each counting alike.
    """
    try:
        check(PositiveShare, tremble=tremble)
        check(_Rounds, rounds=rounds)
        matrix = ignore_memory(game)
        mean = np.zeros((game.goal, game.goal, game.memory_size))
        for number in range(1, rounds + 1):
            mean += (delta.exact_distribution(game, matrix, tremble) - mean) / number
            matrix = respond_to_beliefs(game, mean, epsilon)
    except ValueError as error:
        raise StrategyError(f"strategy 'delta_distribution': {error}") from error
    return matrix
