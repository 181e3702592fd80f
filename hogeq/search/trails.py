"""Trails: long searches for counters to a strategy that changes while they go on.

The strongest counters to a policy near equilibrium are hardly alike: they differ in a third of what
they roll, and a policy that answers one of them is as weak against the next. An attack finds them
by a hundred kicks from a random start, passing through weaker ones. A search that only follows the
strongest known therefore never meets them. A trail begins where a start of an attack does and has
its kicks a few at a time, each time against the policy of today; when it has had them all it ends,
and another begins. What a trail has found is evaluated anew anyway, so it climbs in single
precision where that is quicker.
"""

from collections.abc import Sequence
from functools import partial
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.model.protocol import Engine
from hogeq.search.ascent import ith_start
from hogeq.search.counter_search import CounterSearch, run
from hogeq.search.moves import first_odds
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Matrix
from hogeq.support.workers import compute

STEPS: Final = 20  # of annealing, at the beginning of a trail
CROSSED: Final = 60  # counters, the strongest of a pool, that trails cross with
MATES: Final = 8  # of them, those that one trail may cross with at a time
START, KICKS = 1, 2  # a fourth number of seeds: nothing else that an iteration draws has one


class Trails(NamedTuple):
    """Searches under way; n is their number."""

    matrices: Matrix
    """(n, G, G), where they are."""
    left: NDArray[np.int64]
    """(n,), kicks that each has left; negative where it is to begin."""

    def searches(
        self, game: Engine, strategy: Strategy, known: Matrix, kicks: int, seed: tuple[int, ...]
    ) -> list[CounterSearch]:
        """List what is to be done: so many kicks of each; known are counters to cross with."""
        odds = first_odds(game.num_actions)
        found = []
        for place, (matrix, left) in enumerate(zip(*self, strict=True)):
            random = np.random.default_rng((*seed, place, START))
            steps, cooling, start = 0, (1.0, 1.0), matrix
            if left < 0:
                steps, number = STEPS, 2 + int(random.integers(2))
                start, cooling = ith_start(game, strategy.mean, number, random)
            mates = known
            if len(known) > MATES:
                mates = known[random.choice(len(known), MATES, replace=False)]
            found.append(
                CounterSearch(
                    start,
                    steps,
                    cooling,
                    is_exact=False,
                    kicks=kicks,
                    seed=(*seed, place, KICKS),
                    odds=odds,
                    mates=list(mates),
                )
            )
        return found

    def after(self, found: Sequence[Matrix], kicks: int, life: int) -> "Trails":
        """Trails when so many kicks more are done, from where each has come to."""
        left = np.abs(self.left) - kicks
        matrices = np.array(found, np.int8).reshape(self.matrices.shape)
        return Trails(matrices, np.where(left > 0, left, -life))

    def followed(
        self,
        game: Engine,
        strategy: Strategy,
        known: Matrix,
        kicks: int,
        life: int,
        seed: tuple[int, ...],
    ) -> "Trails":
        """Let every trail climb against a strategy as it is now, and kick it."""
        searches = self.searches(game, strategy, known, kicks, seed)
        found = compute(partial(run, game, strategy), searches)
        return self.after([state.matrix for state in found], kicks, life)


def no_trails(game: Engine, number: int, life: int) -> Trails:
    """Trails that are to begin, the first of them with few kicks, so that not all end at once."""
    left = -np.ceil(life * np.arange(1, number + 1) / max(1, number)).astype(np.int64)
    return Trails(np.zeros((number, *game.shape[:-1]), np.int8), left)
