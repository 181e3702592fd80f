"""Local search on a matrix against a growing pool of counter-matrices."""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hogeq.model.game import Game
from hogeq.purification.base import Purifier, purifier
from hogeq.purification.programs import Moves, best_moves
from hogeq.purification.rounding import Round
from hogeq.purification.sampling import argmax
from hogeq.response.population import CounterPool
from hogeq.strategies.arrays import one_hot
from hogeq.support.aliases import Floats, Matrix
from hogeq.support.parameters import Count, Natural, Seed, parameters
from hogeq.support.progress import progress_bar


class SearchState(NamedTuple):
    """Everything a search knows; n is the number of counters in the pool."""

    matrix: Matrix
    """(G, G), the best so far."""
    rate: Floats
    """(), win rate of the best counter known to it."""
    pool: Matrix
    """(n, G, G)"""
    radius: Floats
    """(), most cells that the next round may change."""
    iteration: NDArray[np.int64]
    """(), rounds done."""


@purifier("local_search")
@parameters
class LocalSearch(Purifier):
    """Rounds of changing the cells that the pool likes least, and of attacking the outcome.

    A round starts from the best matrix known. A linear program picks the changes of at most
    `radius` cells after which the best counter of the pool wins least; they are made only as far
    as exact evaluation confirms them. Then the pool climbs, and new counters are annealed, against
    what came out. If the best of them wins less than before, that is the new matrix and the radius
    grows; otherwise the pool has learnt, and the radius shrinks (a bundle method, with the changed
    cells as its trust region).

    Attributes
    ----------
    rounds : int
        Rounds in all.
    radius : int
        Cells that the first round may change.
    start : {"argmax", "round"}
        How a policy becomes the first matrix; a matrix is taken as it is.
    warm : int
        Counters of the pool that climb in each round.
    starts, anneal_steps : int
        Effort of each attack: see :class:`hogeq.response.search.SearchBudget`.
    most : int
        Counters kept; those that win least go.
    active : int
        Of those, how many that win most the linear program looks at; all of them judge the outcome.
    seed : int
        Of the attacks.
    """

    rounds: Count = 40
    radius: Count = 64
    start: Literal["argmax", "round"] = "argmax"
    warm: Count = 3
    starts: Count = 2
    anneal_steps: Natural = 30
    most: Count = 128
    active: Count = 32
    seed: Seed = 0

    def matrix(self, game: Game, policy: ArrayLike) -> Matrix:
        """Matrix (G, G), the best that the rounds found."""
        state = self.init(game, policy)
        with progress_bar("searching", self.rounds, "it") as bar:
            for _ in range(self.rounds):
                state = self.step(game, state)
                bar.set_postfix_str(f"attack {float(state.rate):.5f}, pool {len(state.pool)}")
                bar.update()
        return state.matrix

    def init(self, game: Game, strategy: ArrayLike, counters: Matrix | None = None) -> SearchState:
        """State before the first round.

        Parameters
        ----------
        game : Game
        strategy : array_like
            A matrix (G, G) or a policy (G, G, K).
        counters : int8 (n, G, G), optional
            Counters known already.
        """
        if self.start == "round" and np.ndim(strategy) == 3:
            matrix = Round(seed=self.seed).matrix(game, strategy)
        else:
            matrix = argmax(game, strategy)
        pool = CounterPool(game, counters)
        policy = one_hot(matrix, game.num_actions)
        pool.search(policy, self.starts, self.anneal_steps, [self.seed, 0])
        rate = pool.rates_against(policy).max()
        return SearchState(
            matrix, np.array(rate), pool.members, np.array(float(self.radius)), np.array(0)
        )

    def step(self, game: Game, state: SearchState) -> SearchState:
        """One round."""
        iteration = int(state.iteration) + 1
        pool = CounterPool(game, state.pool)
        matrix = self._descended(game, pool, state.matrix, max(1, int(state.radius)))
        rate = pool.climb(one_hot(matrix, game.num_actions), self.warm)
        if rate < float(state.rate):
            found = pool.search(
                one_hot(matrix, game.num_actions),
                self.starts,
                self.anneal_steps,
                [self.seed, iteration],
            )
            rate = max(rate, found)
        better = rate < float(state.rate)
        best = matrix if better else state.matrix
        if not better:  # what beat the candidate may, taken further, beat the matrix that is kept
            pool.climb(one_hot(best, game.num_actions), self.warm)
            pool.search(
                one_hot(best, game.num_actions), 1, self.anneal_steps, [self.seed, iteration, 1]
            )
        rates = pool.rates_against(one_hot(best, game.num_actions))
        pool.shrink(one_hot(best, game.num_actions), self.most)
        radius = float(state.radius) * (1.5 if better else 0.95)
        return SearchState(
            best,
            np.array(rates.max()),
            pool.members,
            np.array(np.clip(radius, 1.0, matrix.size)),
            np.array(iteration),
        )

    def _descended(self, game: Game, pool: CounterPool, matrix: Matrix, radius: int) -> Matrix:
        """Change at most `radius` cells so that the best counter of the pool wins less."""
        slopes = pool.part(one_hot(matrix, game.num_actions), self.active).slopes(
            one_hot(matrix, game.num_actions)
        )
        worst, left, count = slopes.rates.max(), radius, radius
        while count >= 1:
            moves = best_moves(slopes, one_hot(matrix, game.num_actions) == 0.0, count)
            candidate = made(matrix, moves)
            rate = pool.rates_against(one_hot(candidate, game.num_actions)).max()
            if rate < worst - 1e-9:
                left -= int((candidate != matrix).sum())
                matrix, worst = candidate, rate
                slopes = pool.part(one_hot(matrix, game.num_actions), self.active).slopes(
                    one_hot(matrix, game.num_actions)
                )
                count = min(count, left)
            else:
                count //= 4
        return matrix


def made(matrix: Matrix, moves: Moves) -> Matrix:
    """Matrix after the moves that have more than half of their cell."""
    changed = matrix.copy()
    whole = moves.shares > 0.5
    changed[moves.own[whole], moves.opponent[whole]] = moves.rolls[whole]
    return changed
