"""Local search on a matrix against a growing pool of counter-matrices.

Changes are chosen by the linear program ``min t: rates + changes @ x <= t``, ``x`` a share of every
allowed move, at most 1 in a cell and so many in all, as if effects added up. Columns are generated:
in each round those of negative reduced cost enter, until there are none.
"""

from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.model.protocol import Engine
from hogeq.purification.base import SearchPurifier, argmax, purifier
from hogeq.search.counter_search import Trails
from hogeq.search.population import CounterPool, Slopes, overlooked
from hogeq.strategies.arrays import one_hot
from hogeq.strategies.strategy import StrategyLike
from hogeq.support.aliases import Floats, Ints, Matrix
from hogeq.support.parameters import Count, Seed, parameters

CUTS: Final = 8  # most linear programs for one candidate of a radius
CUT: Final = 16  # counters that each adds to the next
WORTH: Final = 1e-9  # win rate; what gains less is a rounding error
COLUMN_WORTH: Final = 1e-10  # win rate; a column that gains less is one
GENERATIONS: Final = 30  # of columns of a linear program; 3 to 8 are usual


class LocalState(NamedTuple):
    """State of a search; n is the number of counters in the pool."""

    matrix: Matrix  # (G, G), the best so far
    rate: Floats  # (), win rate of the best counter of the pool against it
    pool: Matrix  # (n, G, G)
    radius: Floats  # (), most cells that the next round may change
    iteration: NDArray[np.int64]  # (), rounds done
    trails: Matrix  # (t, G, G), where the trails are
    kicks_left: NDArray[np.int64]  # (t,), kicks that each has left; negative where it is to begin
    former: Matrix  # (G, G), the matrix before the last one that was accepted
    former_rate: Floats  # (), win rate of the best counter met so far against it


@purifier("local_search")
@parameters
class LocalSearch(SearchPurifier[LocalState]):
    """Change cells so that the best counter wins less, attack the result, and repeat.

    A linear program chooses changes of at most `radius` cells after which the best counter of the
    pool wins least; they are made if exact evaluation confirms them. Then the candidate is attacked
    until a counter beats it or it has passed all `trials`. If it passes, it is the new matrix and
    the radius grows, otherwise the radius shrinks: a bundle method whose trust region is the number
    of changed cells. If later counters beat it more than the matrix before it, that one comes back.

    Attributes
    ----------
    rounds : int
        Number of rounds.
    radius : int
        Most cells that the first round may change.
    warm : int
        Number of the strongest counters that climb further in each round.
    trails, kicks, life : int
        Searches for counters, kicks of each at a time, and kicks after which it begins anew.
    trials : int
        Times that every trail is kicked before a candidate is accepted.
    counters : str
        File of counters that the pool starts with: a checkpoint of `bundle` or a search, a matrix.
    most : int
        Most counters in the pool; those that win least are dropped.
    active : int
        Number of the strongest counters in the first linear program.
    seed : int
        Seed of the attacks.
    """

    STATE: ClassVar = LocalState

    rounds: Count = 40
    radius: Count = 64
    warm: Count = 3
    trails: Count = 8
    kicks: Count = 3
    life: Count = 60
    trials: Count = 4
    counters: str = ""
    most: Count = 128
    active: Count = 32
    seed: Seed = 0

    def init(self, game: Engine, strategy: StrategyLike) -> LocalState:
        matrix = argmax(game, strategy)
        policy = one_hot(matrix, game.num_actions)
        pool, trails = self._begun(game, policy)
        rate, radius = np.array(pool.rates_against(policy).max()), np.array(float(self.radius))
        best = matrix, rate, pool.members, radius, np.array(0)
        return LocalState(*best, *trails, matrix.copy(), rate.copy())

    def step(self, game: Engine, state: LocalState) -> LocalState:
        iteration = int(state.iteration) + 1
        pool, trails = CounterPool(game, state.pool), Trails(state.trails, state.kicks_left)
        matrix = self._planned(game, pool, state.matrix, max(1, int(state.radius)))
        candidate = one_hot(matrix, game.num_actions)
        pool.climb(candidate, self.warm)
        better = pool.rates_against(candidate).max() < float(state.rate)
        if better:
            seed = self.seed, iteration
            seeds = [seed, *((*seed, 2, trial) for trial in range(1, self.trials))]
            trails, better = self._withstood(pool, candidate, trails, float(state.rate), seeds)
        best = matrix if better else state.matrix
        policy = one_hot(best, game.num_actions)
        if not better:  # counters to the candidate may lead to counters to the best matrix
            pool.climb(policy, self.warm)
            trails = self._attacked(pool, policy, trails, (self.seed, iteration, 1))
        former, met = (state.matrix, state.rate) if better else (state.former, state.former_rate)
        new = CounterPool(game, pool.members[len(state.pool) :])
        rates = new.rates_against(one_hot(former, game.num_actions))
        former_rate = max(float(met), rates.max(initial=0.0))
        if pool.rates_against(policy).max() > former_rate:  # accepted too soon
            best, policy = former, one_hot(former, game.num_actions)
        rate = pool.rates_against(policy).max()
        # What beats the candidate says where not to go from here.
        pool.shrink(self.most, policy, candidate)
        radius = float(state.radius) * (1.5 if better else 0.95)
        return LocalState(
            best,
            np.array(rate),
            pool.members,
            np.array(np.clip(radius, 1.0, matrix.size)),
            np.array(iteration),
            *trails,
            former,
            np.array(former_rate),
        )

    def _planned(self, game: Engine, pool: CounterPool, matrix: Matrix, radius: int) -> Matrix:
        """Change at most `radius` cells so that the best counter wins less."""
        left, count = radius, radius
        while count >= 1:
            candidate = self._foreseen(game, pool, matrix, count)
            left -= int((candidate != matrix).sum())
            count = min(count, left) if (candidate != matrix).any() else count // 4
            matrix = candidate
        return matrix

    def _foreseen(self, game: Engine, pool: CounterPool, matrix: Matrix, count: int) -> Matrix:
        """Make at most `count` changes by programs, each with the counters that the last missed."""
        policy = one_hot(matrix, game.num_actions)
        best, least = matrix, pool.rates_against(policy).max()
        active = pool.strongest(policy, self.active)
        slopes = CounterPool(game, pool.members[active]).slopes(policy)
        for _ in range(CUTS):
            moves = best_moves(slopes, policy == 0.0, count)
            whole = moves.shares > 0.5
            candidate = matrix.copy()
            candidate[tuple(axis[whole] for axis in moves.cells)] = moves.rolls[whole]
            rates = pool.rates_against(one_hot(candidate, game.num_actions))
            if rates.max() < least - WORTH:
                best, least = candidate, rates.max()
            foreseen = max(moves.expected, rates[active].max()) + WORTH
            new = overlooked(rates, foreseen, active, CUT)
            if len(new) == 0:
                break
            more = CounterPool(game, pool.members[new]).slopes(policy)
            slopes = Slopes(*map(np.concatenate, zip(slopes, more, strict=True)))
            active = np.append(active, new)
        return best


class Moves(NamedTuple):
    """Cells to make pure, m moves; several moves can share a cell."""

    cells: tuple[Ints, ...]  # index of each by axis, each (m,)
    rolls: Ints
    shares: Floats  # both (m,); a share of 1 is the whole cell
    expected: float  # win rate of the best counter if effects added up


def best_moves(slopes: Slopes, allowed: NDArray[np.bool_], count: int) -> Moves:
    """Choose of the moves allowed (G, G, K) those after which the best counter wins least."""
    number, *shape = slopes.changes.shape
    rolls = shape[-1]
    changes = slopes.changes.reshape(number, -1, rolls)
    rows = allowed.reshape(-1, rolls)
    count = min(count, int(rows.any(axis=1).sum()))
    weights = np.zeros(number)
    weights[slopes.rates.argmax()] = 1.0
    cell_price, move_price = np.zeros(len(rows)), 0.0
    columns: Ints = np.zeros(0, np.int64)
    shares, expected = np.zeros(0), float(slopes.rates.max())
    for _ in range(GENERATIONS if count else 0):
        scores = np.where(rows, np.tensordot(weights, changes, 1), np.inf)
        choice = scores.argmin(axis=1)
        costs = scores[np.arange(len(rows)), choice] + cell_price
        worth = costs < move_price - COLUMN_WORTH
        order = np.flatnonzero(worth)[np.argsort(costs[worth], kind="stable")[: 2 * count]]
        new = np.setdiff1d(order * rolls + choice[order], columns)
        if len(new) == 0:
            break
        columns = np.concatenate([columns, new])
        flat = changes.reshape(number, -1)[:, columns]
        result = _program(slopes.rates, flat, columns // rolls, count)
        shares, expected = result.x[:-1], float(result.x[-1])
        prices = -result.ineqlin.marginals
        weights = prices[:number]
        cell_price = np.zeros(len(rows))
        cell_price[np.unique(columns // rolls)] = prices[number:-1]
        move_price = -float(prices[-1])
    used = shares > 1e-9
    *cells, roll = np.unravel_index(columns[used], shape)
    return Moves(tuple(cells), roll, shares[used], expected)


def _program(rates: Floats, changes: Floats, cells: Ints, count: int) -> Any:
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, hstack, vstack

    number, size = changes.shape
    _, place = np.unique(cells, return_inverse=True)
    groups = csr_array((np.ones(size), (place, np.arange(size))))
    above = vstack(
        [
            csr_array(np.column_stack([changes, -np.ones(number)])),
            hstack([groups, csr_array((groups.shape[0], 1))]),
            csr_array(np.append(np.ones(size), 0.0)[None]),
        ]
    )
    result = linprog(
        np.append(np.zeros(size), 1.0),
        A_ub=above.tocsr(),
        b_ub=np.concatenate([-rates, np.ones(groups.shape[0]), [count]]),
        bounds=[*[(0.0, None)] * size, (None, None)],
        method="highs",
    )
    if not result.success:
        raise RuntimeError(f"purify: linear program of {size} moves: {result.message}")
    return result
