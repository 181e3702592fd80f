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
from hogeq.support.numbers import percent
from hogeq.support.parameters import Count, Natural, Seed, parameters
from hogeq.support.progress import phase


class SearchState(NamedTuple):
    """State of a search; n is the number of counters in the pool."""

    matrix: Matrix
    """(G, G), the best so far."""
    rate: Floats
    """(), win rate of the best counter of the pool against it."""
    pool: Matrix
    """(n, G, G)"""
    radius: Floats
    """(), most cells that the next round may change."""
    iteration: NDArray[np.int64]
    """(), rounds done."""


@purifier("local_search")
@parameters
class LocalSearch(Purifier):
    """Change cells so that the best counter wins less, attack the result, and repeat.

    A round starts from the best matrix so far. A linear program
    (:func:`hogeq.purification.programs.best_moves`) chooses changes of at most `radius` cells after
    which the best counter of the pool wins least; they are made only if exact evaluation confirms
    them. Then counters of the pool climb further, and new ones are annealed, against the candidate.
    If the best of them wins less than before, the candidate is the new matrix and the radius grows;
    otherwise the pool has new counters and the radius shrinks. It is a bundle method whose trust
    region is the number of changed cells.

    Attributes
    ----------
    rounds : int
        Number of rounds.
    radius : int
        Most cells that the first round may change.
    start : {"argmax", "round"}
        How a policy becomes the first matrix; a matrix given is the first one itself.
    warm : int
        Number of the strongest counters that climb further in each round.
    starts, anneal_steps : int
        Budget of each attack: see :class:`hogeq.response.search.SearchBudget`.
    most : int
        Most counters in the pool; those that win least are dropped.
    active : int
        Number of the strongest counters in the linear program; exact evaluation uses all.
    seed : int
        Seed of the attacks.
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
        """Matrix (G, G), the best of all rounds."""
        state = self.init(game, policy)
        with phase("searching near it", self.rounds, "rounds") as told:
            for _ in range(self.rounds):
                state = self.step(game, state)
                told.measured(f"attack {percent(float(state.rate))}, pool {len(state.pool)}")
                told.step()
        return state.matrix

    def init(self, game: Game, strategy: ArrayLike, counters: Matrix | None = None) -> SearchState:
        """State before the first round.

        Parameters
        ----------
        game : Game
        strategy : array_like
            A matrix (G, G) or a policy (G, G, K).
        counters : int8 (n, G, G), optional
            Counters that the pool starts with.
        """
        first = Round(seed=self.seed).matrix if self.start == "round" else argmax
        matrix = first(game, strategy)
        pool = CounterPool(game, counters)
        policy = one_hot(matrix, game.num_actions)
        pool.search(policy, self.starts, self.anneal_steps, [self.seed, 0])
        rate = pool.rates_against(policy).max()
        return SearchState(
            matrix, np.array(rate), pool.members, np.array(float(self.radius)), np.array(0)
        )

    def step(self, game: Game, state: SearchState) -> SearchState:
        """Do one round."""
        iteration = int(state.iteration) + 1
        pool = CounterPool(game, state.pool)
        matrix = self._descended(game, pool, state.matrix, max(1, int(state.radius)))
        candidate = one_hot(matrix, game.num_actions)
        rate = pool.climb(candidate, self.warm)
        if rate < float(state.rate):
            seed = [self.seed, iteration]
            rate = max(rate, pool.search(candidate, self.starts, self.anneal_steps, seed))
        better = rate < float(state.rate)
        best = matrix if better else state.matrix
        policy = one_hot(best, game.num_actions)
        if not better:  # counters to the candidate may lead to counters to the best matrix
            pool.climb(policy, self.warm)
            pool.search(policy, 1, self.anneal_steps, [self.seed, iteration, 1])
        rates = pool.rates_against(policy)
        pool.shrink(policy, self.most)
        radius = float(state.radius) * (1.5 if better else 0.95)
        return SearchState(
            best,
            np.array(rates.max()),
            pool.members,
            np.array(np.clip(radius, 1.0, matrix.size)),
            np.array(iteration),
        )

    def _descended(self, game: Game, pool: CounterPool, matrix: Matrix, radius: int) -> Matrix:
        """Change at most `radius` cells so that the best counter of the pool wins less, (G, G)."""
        slopes = pool.part(one_hot(matrix, game.num_actions), self.active).slopes(
            one_hot(matrix, game.num_actions)
        )
        worst, left, count = slopes.rates.max(), radius, radius
        while count >= 1:
            moves = best_moves(slopes, one_hot(matrix, game.num_actions) == 0.0, count)
            candidate = _changed(matrix, moves)
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


def _changed(matrix: Matrix, moves: Moves) -> Matrix:
    """Matrix after the moves whose share of their cell is more than half."""
    changed = matrix.copy()
    whole = moves.shares > 0.5
    changed[moves.own[whole], moves.opponent[whole]] = moves.rolls[whole]
    return changed
