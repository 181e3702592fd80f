"""Progressive rounding: cells become pure in stages, the mixed ones adapt."""

import numpy as np
from numpy.typing import NDArray

from hogeq.model.many import shared_workspace
from hogeq.model.protocol import Engine
from hogeq.purification.base import Purifier, purifier
from hogeq.purification.programs import best_moves
from hogeq.search.population import CounterPool, Slopes
from hogeq.strategies.arrays import one_hot
from hogeq.strategies.strategy import StrategyLike, policy_of
from hogeq.support.aliases import Floats, Matrix
from hogeq.support.numbers import percent
from hogeq.support.parameters import (
    Count,
    Natural,
    NotNegative,
    Positive,
    PositiveShare,
    Seed,
    parameters,
)
from hogeq.support.progress import phase

SURE = 0.999  # a row with this probability on one roll is made pure


@purifier("round")
@parameters
class Round(Purifier):
    """Make some of the surest mixed cells pure, let the others adapt, and repeat.

    A linear program (:func:`hogeq.purification.programs.best_moves`) chooses which of the surest
    cells become pure, and with which roll: it minimises the win rate of the best counter of a pool,
    so that rounding errors cancel instead of adding up. In between, the mixed rows take
    multiplicative steps against the counters, weighted by a softmax of their win rates, and new
    counters are searched for.

    Attributes
    ----------
    share : float
        Share of the mixed cells that a stage makes pure, at least one cell.
    steps : int
        Adaptations after each stage.
    rate : float
        Step size of an adaptation, in logits per win probability.
    temperature : float
        Of the softmax over counters, in win probability.
    support : float
        Rolls less probable than this share of the row's likeliest are not considered.
    anneal_steps : int
        Steps of annealing in the search for a new counter, which has one start at each choice.
    warm : int
        Number of the strongest counters that climb further at each choice.
    attempts : int
        Most choices in a stage; it chooses again if a new counter wins more.
    slack : float
        Win rate that a new counter may add before a stage chooses again.
    caution : float
        Price of giving a cell an unlikely roll: win rate per reach and probability missing.
    most : int
        Most counters in the pool; those that win least are dropped.
    seed : int
        Seed of the searches.
    """

    share: PositiveShare = 0.1
    steps: Natural = 3
    rate: Positive = 20.0
    temperature: Positive = 1e-3
    support: PositiveShare = 0.2
    anneal_steps: Natural = 30
    warm: Count = 2
    attempts: Count = 4
    slack: NotNegative = 2e-4
    caution: NotNegative = 1e-3
    most: Count = 48
    seed: Seed = 0

    def matrix(self, game: Engine, policy: StrategyLike) -> Matrix:
        """Matrix (G, G) after the last stage."""
        rows = policy_of(game, policy)
        pool = CounterPool(game)
        pool.search(rows, 2, self.anneal_steps, [self.seed, 0])
        mixed = _settle(rows, np.ones(rows.shape[:-1], bool))
        size, stage = int(mixed.sum()), 0
        with phase("rounding", size, "cells") as told:
            while mixed.any():
                stage += 1
                rate = self._fix(game, pool, rows, mixed, stage)
                for _ in range(self.steps):
                    self._adapt(rows, mixed, pool.slopes(rows))
                _settle(rows, mixed)
                pool.shrink(rows, self.most)
                told.measured(f"attack {percent(rate)}, pool {len(pool.members)}")
                told.reach(size - int(mixed.sum()))
        return rows.argmax(axis=-1).astype(np.int8)

    def _fix(
        self, game: Engine, pool: CounterPool, rows: Floats, mixed: NDArray[np.bool_], stage: int
    ) -> float:
        """Make a share of the mixed cells pure; `rows` and `mixed` are rewritten in place.

        If a new counter wins much more after a choice, the choice is repeated with that counter in
        the pool. Returns the win rate of the best counter.
        """
        count = max(1, round(self.share * int(mixed.sum())))
        likeliest = rows.max(axis=-1)
        anywhere = self._reach(game, rows)
        least, kept = np.inf, (rows, mixed)
        for attempt in range(self.attempts):
            slopes = pool.slopes(rows)
            reach = np.maximum(slopes.reach.max(axis=0), anywhere)
            allowed = candidates(rows, mixed, reach, 3 * count, self.support)
            doubts = anywhere[..., None] * (likeliest[..., None] - rows)
            wary = slopes._replace(changes=slopes.changes + self.caution * doubts)
            trial, left = rows.copy(), mixed.copy()
            moves = best_moves(wary, allowed, count, exactly=True)
            for move in np.argsort(-moves.shares, kind="stable")[:count]:
                cell = tuple(axis[move] for axis in moves.cells)
                if left[cell]:
                    trial[cell] = one_hot(moves.rolls[move], rows.shape[-1])
                    left[cell] = False
            before = max(slopes.rates.max(), pool.rates_against(trial).max())
            climbed = pool.climb(trial, self.warm)
            found = pool.search(trial, 1, self.anneal_steps, [self.seed, stage, attempt])
            rate = max(climbed, found)
            if rate < least:
                least, kept = rate, (trial, left)
            if rate <= before + self.slack:
                break
        rows[:], mixed[:] = kept
        return least

    def _reach(self, game: Engine, rows: Floats) -> Floats:
        """Reach of the cells when the opponent rolls at random, (G, G)."""
        work = shared_workspace(game, 2)
        return work.cell_reach(np.stack([rows, np.full_like(rows, 1.0 / game.num_actions)]))

    def _adapt(self, rows: Floats, mixed: NDArray[np.bool_], slopes: Slopes) -> None:
        """Take one multiplicative step with the mixed rows, in place."""
        weights = np.exp((slopes.rates - slopes.rates.max()) / self.temperature)
        weights /= weights.sum()
        reach = np.tensordot(weights, slopes.reach, 1)[mixed][:, None]
        slope = np.tensordot(weights, slopes.changes, 1)[mixed]
        given = np.divide(slope, reach, out=np.zeros_like(slope), where=reach > 0.0)
        moved = rows[mixed] * np.exp(-self.rate * given)
        rows[mixed] = moved / moved.sum(axis=1, keepdims=True)


def candidates(
    rows: Floats, mixed: NDArray[np.bool_], reach: Floats, most: int, support: float
) -> NDArray[np.bool_]:
    """Likely rolls of the surest mixed cells, the moves that a stage chooses from."""
    likeliest = rows.max(axis=-1)
    doubt = np.where(mixed, reach * (1.0 - likeliest), np.inf)
    surest = np.zeros(mixed.shape, bool)
    surest.flat[np.argsort(doubt, axis=None, kind="stable")[:most]] = True
    likely = rows >= support * likeliest[..., None]
    return likely & (surest & mixed)[..., None]


def _settle(rows: Floats, mixed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Make nearly pure rows pure; both arrays are rewritten in place, the second returned."""
    sure = mixed & (rows.max(axis=-1) >= SURE)
    rows[sure] = one_hot(rows[sure].argmax(axis=1), rows.shape[-1])
    mixed &= ~sure
    return mixed
