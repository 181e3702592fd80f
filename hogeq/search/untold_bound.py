"""An upper bound on what wins from a mixture: a responder who remembers all but the draw.

Such a responder is not told which part was drawn. It sees every roll, and by each learns something:
its *belief*, a probability of each part, is updated by Bayes' rule,

    b(i | k)  is in proportion to  b(i) part_i(cell, k)        when k dice are rolled at a cell.

The belief follows from all rolls so far. It is no function of the scores and the memory, since
different rolls can lead to the same of these; so it is kept beside them. The best that the
responder can win from a hidden state is convex in its belief: with any one response it is linear in
who may have been drawn, and the responder takes the best of many. A convex function lies below the
chords between its values. So the value at a belief is at most the mean of the values at beliefs
around it, and one backward induction over a grid of beliefs, with chords in between, gives an upper
bound [1]_.

With the corners alone for a grid the responder is told the draw at once: the crudest bound, the
mean of the full-memory bounds of the parts. A finer grid comes down to what the responder can win.
That may still be more than any matrix does, which forgets.

.. [1] W. S. Lovejoy, "Computationally feasible bounds for partially observed Markov decision
   processes", *Operations Research* 39, 1991.
"""

from functools import partial
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

from hogeq.model.game import HogEngine
from hogeq.model.workspace import Role, WinRate, backward_together
from hogeq.strategies.strategy import Strategy, StrategyLike, strategy_of
from hogeq.support.aliases import Floats, Ints
from hogeq.support.messages import refusal

ROUNDING = 1e-9
"""Likelihoods this close to a point of the grid, in its steps, are on it."""

MOST_BELIEFS = 500
"""Most beliefs of a grid; each has a workspace of its own."""

MOST_BYTES = 2**30
"""Of the workspaces of a grid that was not asked for."""


class Grid(NamedTuple):
    """Beliefs on a simplex, and what finds those around another one.

    A grid point stands for likelihoods of the parts, whole multiples of 1 / `resolution` that sum
    to 1; the belief is the weights of the draw times these. So if `resolution` is a multiple of
    the number of parts, the draw itself is on the grid: equal likelihoods.
    """

    weights: Floats
    """(n,), of the draw, all positive."""
    resolution: int
    points: Ints
    """(N, n), whole numbers of sum `resolution`, in lexicographic order."""
    later: Ints
    """(resolution + n, n), what comes after in that order: binomial coefficients."""

    @classmethod
    def of(cls, weights: Floats, resolution: int) -> "Grid":
        """Make the grid of a resolution."""
        parts = len(weights)
        bars = list(combinations(range(resolution + parts - 1), parts - 1))
        cuts = np.array(bars, np.int64).reshape(len(bars), parts - 1)
        ends = np.full((len(cuts), 1), resolution + parts - 1)
        points = np.diff(np.hstack([-np.ones_like(ends), cuts, ends]), axis=1) - 1
        later = [[comb(left, bars) for bars in range(parts)] for left in range(resolution + parts)]
        return cls(weights, resolution, points, np.array(later))

    @property
    def beliefs(self) -> Floats:
        """(N, n), probability of each part at every point."""
        masses = self.points * self.weights
        return np.asarray(masses / masses.sum(axis=1, keepdims=True))

    def chords(self, beliefs: Floats) -> Floats:
        """Shares of the points around each belief of which it is the mean.

        Parameters
        ----------
        beliefs : float64 (m, n)

        Returns
        -------
        float64 (m, N)
            Rows of sum 1, at most n entries each: the corners of a simplex of Freudenthal's
            triangulation.
        """
        likelihoods = beliefs / self.weights
        likelihoods *= self.resolution / likelihoods.sum(axis=1, keepdims=True)
        # Sums from the right: steps of one unit move a unit from a part to the one before it.
        sums = likelihoods[:, ::-1].cumsum(axis=1)[:, ::-1]
        sums[:, 0] = self.resolution
        floor = np.floor(sums + ROUNDING)
        rest = sums - floor
        rest[rest < ROUNDING] = 0.0
        rest[:, 0] = 0.0
        order = np.argsort(-rest[:, 1:], axis=1, kind="stable") + 1
        found = np.zeros((len(beliefs), len(self.points)))
        rows = np.arange(len(beliefs))
        at = floor.astype(np.int64)
        ones, zeros = (np.full((len(beliefs), 1), value) for value in (1.0, 0.0))
        falling = np.hstack([ones, np.take_along_axis(rest, order, axis=1), zeros])
        shares = falling[:, :-1] - falling[:, 1:]
        for place, share in enumerate(shares.T):
            met = share > 0.0
            found[rows[met], self._indices(at[met])] += share[met]
            if place < order.shape[1]:
                at[rows, order[:, place]] += 1
        # Likelihoods are a mean of the points'; beliefs are, weighted by how likely each is.
        found *= self.points @ self.weights
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    def _indices(self, sums: Ints) -> Ints:
        """Find points (m,) given by their sums from the right (m, n).

        A point is the gaps between bars among `resolution` units; those before it in lexicographic
        order are counted bar by bar.
        """
        bars = sums.shape[1] - 1
        left = sums[:, 1:] + np.arange(bars)[::-1]  # units and bars behind each bar
        last = len(self.points) - 1
        return np.asarray(last - self.later[left, bars - np.arange(bars)].sum(axis=1))


def told_bound(game: HogEngine, strategy: Strategy) -> float:
    """Win rate of the best responder who remembers everything and is told what was drawn."""
    work = game.workspace(2)
    both = [np.stack([policy, policy]) for policy in strategy.policies]
    return float(
        strategy.chances @ [work.win_rate(pair, Role.FULL_MEMORY).win_rate for pair in both]
    )


def usual_resolution(game: HogEngine, strategy: Strategy) -> int:
    """Resolution of a grid that has the draw on it: the components; or 1 if that is too much.

    More than a gibibyte is, as in su20 for more than three components; and positions that recur
    are.
    """
    parts = len(strategy.chances)
    number = comb(2 * parts - 1, parts - 1)
    if parts == 1 or number > MOST_BELIEFS or game.positions_recur:
        return 1
    values = 2 * 8 * game.goal**2 * game.memory_size
    return parts if number * values <= MOST_BYTES else 1


def mixture_bound(game: HogEngine, strategy: StrategyLike, resolution: int = 1) -> float:
    """Upper bound on any attack on a mixture, by a responder who remembers all but the draw.

    Parameters
    ----------
    game : HogEngine
    strategy : StrategyLike
    resolution : int
        Of the grid of beliefs. At 1 the responder is told the draw: the crudest bound, the mean of
        those of the components. Multiples of their number are best. The passes, and the memory,
        grow as C(resolution + n - 1, n - 1) for n components.

    Returns
    -------
    float
        Win rate that no responder exceeds who is not told the draw.

    Raises
    ------
    ValueError
        If the strategy is malformed, the grid has more than 500 beliefs, or positions can recur.
    """
    target = strategy_of(game, strategy)
    if resolution == 1:
        return told_bound(game, target)
    parts = len(target.chances)
    number = comb(resolution + parts - 1, parts - 1) if resolution > 0 else 0
    if not 1 <= number <= MOST_BELIEFS:
        raise ValueError(
            refusal(
                "resolution",
                resolution,
                f"1 or more, of which {parts} components make at most {MOST_BELIEFS} beliefs",
            )
        )
    grid = Grid.of(target.chances, resolution)
    works = [game.workspace(2) for _ in grid.points]
    roots = backward_together(works, partial(_responding, grid, target.policies))
    rates = np.array([WinRate.from_starts(*root).win_rate for root in roots])
    return float((grid.chords(target.chances[None]) @ rates)[0])


def _responding(
    grid: Grid, policies: Floats, player: int, own: int, opponent: int, rolled: Floats
) -> Floats:
    """Values (N, H) of the memories: the best roll of player 0, what was drawn of player 1."""
    if player == 0:
        return np.asarray(rolled.max(axis=2))
    joint = grid.beliefs * policies[:, own, opponent].T[:, None]  # (K, N, n)
    total = joint.sum(axis=2)
    met = total > 0.0
    shares = np.zeros((*total.shape, len(grid.points)))
    shares[met] = grid.chords(joint[met] / total[met, None]) * total[met, None]
    return np.asarray(np.einsum("knm,mhk->nh", shares, rolled, optimize=True))
