"""The second place of summer 2020: dynamic programming over a counted delta distribution.

Huan (2020) [1] is its author's report, with the code. ``docs/huan2020.md`` lists what it leaves
open, and which choices come closest to the published results.
"""

from typing import TYPE_CHECKING, Annotated, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field

from hogeq.baselines import delta
from hogeq.baselines.belief_response import respond_to_beliefs
from hogeq.baselines.tablebases import ignore_memory
from hogeq.evaluation.beliefs import over_seats
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
    """(2, G, G, H), or (2, H) of a cell, by seat: above 0 where some play leads."""
    perfect: delta.Counts
    """Of the same shape: counts of two players who remember everything and play best."""


def first_guess(game: "HogEngine", cell: tuple[int, int] | None = None) -> PlayCounts:
    """Count the ways into memory states, of any play and of perfect play."""
    from hogeq.evaluation.tablebase import solve

    possible = delta.entries(game, cell=cell)
    return PlayCounts(possible, WALKS * delta.entries(game, solve(game).rolls, cell=cell))


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
    beliefs = over_seats(weights(guess, None, draft_weight))
    matrix = respond_to_beliefs(game, beliefs, epsilon)
    for _ in range(rounds):
        own = WALKS * delta.entries(game, matrix)
        beliefs = over_seats(weights(guess, own, weight))
        matrix = respond_to_beliefs(game, beliefs, epsilon)
    return matrix


class MemoryGuesses(NamedTuple):
    """Distributions of the memory as counting guesses them."""

    counted: Floats
    """(G, G, H), or (H,) of a cell: by the strategy's own play.

    Sums to 1, or to 0 where it never comes."""
    looked_up: Floats
    """Of the same shape: by :func:`weights`, perfect play first.

    Sums to 1 wherever any play can come."""


def guess_by_counting(
    game: "HogEngine",
    strategy: ArrayLike,
    against: ArrayLike | None = None,
    cell: tuple[int, int] | None = None,
) -> MemoryGuesses:
    """Guess the memory as Huan (2020) [1] does, when `strategy` is what has played itself."""
    own = WALKS * delta.own_entries(game, strategy, against, cell)
    looked_up = weights(first_guess(game, cell), own, UNCOUNTED)
    return MemoryGuesses(over_seats(own), over_seats(looked_up))


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
