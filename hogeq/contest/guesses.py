"""The hidden memory at a position: its distribution, and how contestants would have guessed it."""

from dataclasses import dataclass

from numpy.typing import ArrayLike

from hogeq.baselines.delta import countable
from hogeq.baselines.second_place import guess_by_counting
from hogeq.evaluation.analysis import UnreachedError
from hogeq.evaluation.hidden import check_position, reach, total_variation
from hogeq.model.game import HogEngine
from hogeq.strategies.strategy import policy_of
from hogeq.support.aliases import Floats


@dataclass(frozen=True, eq=False)
class MemoryAt:
    """The hidden memory at a position; distributions are (H,), in the order of `memories`."""

    reach: float
    """Probability of coming to move there in a game."""
    belief: Floats
    counted: Floats | None
    """Guess by counting the ways into each memory in the strategies' own play; None where turns do
    not alternate, which counting takes for granted."""
    looked_up: Floats | None
    """Guess of the second place of summer 2020: the ways in perfect play first, then in the
    strategies' own, then 1/4 each."""

    def distance(self, guess: Floats) -> float:
        """Total variation distance of a guess from the exact distribution."""
        return float(total_variation(self.belief, guess))

    def order(self) -> list[int]:
        """Order the memories, by index: the most probable first, those that tie as they come."""
        return sorted(range(len(self.belief)), key=lambda index: (-self.belief[index], index))


def memory_at(
    game: HogEngine,
    strategy: ArrayLike,
    score: int,
    opponent: int,
    against: ArrayLike | None = None,
) -> MemoryAt:
    """Distribution of the hidden memory at a position, with guesses of it.

    `UnreachedError` if play never comes there.
    """
    check_position(game, score, opponent)
    state_reach = reach(game, strategy, against)[score, opponent]
    cell_reach = float(state_reach.sum())
    if cell_reach <= 0.0:
        raise UnreachedError(f"play never comes to {score} points against {opponent}")
    counted = looked_up = None
    if countable(game):
        # As policies: a whole-numbered table of three axes would be taken for rolls by memory.
        mine = policy_of(game, strategy)
        theirs = None if against is None else policy_of(game, against)
        guesses = guess_by_counting(game, mine, theirs)
        counted, looked_up = (guess[score, opponent] for guess in guesses)
    return MemoryAt(cell_reach, state_reach / cell_reach, counted, looked_up)
