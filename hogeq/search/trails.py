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

from hogeq.model.game import HogEngine
from hogeq.search.kicks import Against, KickTask, kicked
from hogeq.search.moves import ROUNDING, ascend, cool, ith_start, to_matrix, to_pure
from hogeq.search.portfolio import bandits
from hogeq.strategies.arrays import one_hot
from hogeq.strategies.mixtures import Mixture
from hogeq.support.aliases import Floats, Matrix
from hogeq.support.progress import Phase
from hogeq.support.workers import compute

STEPS: Final = 20  # of annealing, at the beginning of a trail
DAMPING: Final = 0.5
CROSSED: Final = 60  # counters, the strongest of a pool, that trails cross with
MATES: Final = 8  # of them, those that one trail may cross with at a time
START, KICKS = 1, 2  # a fourth number of seeds: nothing else that an iteration draws has one


class TrailTask(NamedTuple):
    """One trail, and what it needs to go on."""

    matrix: Matrix
    """(G, G)"""
    new: bool
    """Whether it is to begin."""
    kicks: int
    seed: tuple[int, ...]

    def search(self, against: Against, known: Matrix) -> Matrix:
        """Where it comes to, (G, G); known are counters (m, G, G) to cross with."""
        game = against.game
        random = np.random.default_rng((*self.seed, START))
        if self.new:
            start, cooling = ith_start(game, against.mean(), 2 + int(random.integers(2)), random)
            policies = against.met_by(start)
            cool(against.passes(), policies, STEPS, DAMPING, cooling)
            to_pure(policies[0])
        else:
            policies = against.met_by(one_hot(self.matrix, game.num_actions))
        rate, _ = ascend(against.passes(), policies, least_gain=ROUNDING)
        if len(known) > MATES:
            known = known[random.choice(len(known), MATES, replace=False)]
        # Moves are as likely as in an attack that has learned nothing yet.
        odds = {kind: bandit.odds() for kind, bandit in bandits(game.num_actions).items()}
        seed = (*self.seed, KICKS)
        given = KickTask(to_matrix(policies[0]), rate, None, list(known), self.kicks, seed)
        return kicked(against, odds, Phase("trails"), given, confirm=False).matrix


class Trails(NamedTuple):
    """Searches under way; n is their number."""

    matrices: Matrix
    """(n, G, G), where they are."""
    left: NDArray[np.int64]
    """(n,), kicks that each has left; negative where it is to begin."""


def no_trails(game: HogEngine, number: int, life: int) -> Trails:
    """Trails that are to begin, the first of them with few kicks, so that not all end at once."""
    left = -np.ceil(life * np.arange(1, number + 1) / max(1, number)).astype(np.int64)
    return Trails(np.zeros((number, *game.shape[:-1]), np.int8), left)


def follow(
    game: HogEngine,
    strategy: Floats | Mixture,
    trails: Trails,
    kicks: int,
    life: int,
    known: Matrix,
    seed: tuple[int, ...],
) -> Trails:
    """Let every trail climb against a strategy as it is now, and kick it.

    Parameters
    ----------
    game : HogEngine
    strategy : float64 (G, G, K) or Mixture
        A policy, or a mixture of policies.
    trails : Trails
    kicks : int
        Kicks of each now.
    life : int
        Kicks of each from its beginning to its end.
    known : int8 (m, G, G)
        Counters to cross with.
    seed : tuple of int

    Returns
    -------
    Trails
        Where they are now.
    """
    if isinstance(strategy, Mixture):
        against = Against(game, strategy.parts, strategy.weights)
    else:
        against = Against(game, strategy[None], None)
    found = compute(partial(_gone, against, known), due(trails, kicks, seed))
    return after(trails, found, kicks, life)


def _gone(against: Against, known: Matrix, trail: TrailTask) -> Matrix:
    return trail.search(against, known)


def due(trails: Trails, kicks: int, seed: tuple[int, ...]) -> list[TrailTask]:
    """Give what is to be done: every trail, and its kicks."""
    return [
        TrailTask(matrix, bool(left < 0), kicks, (*seed, place))
        for place, (matrix, left) in enumerate(zip(*trails, strict=True))
    ]


def after(trails: Trails, found: Sequence[Matrix], kicks: int, life: int) -> Trails:
    """Trails when so many kicks more are done, from where each has come to."""
    left = np.abs(trails.left) - kicks
    matrices = np.array(found, np.int8).reshape(trails.matrices.shape)
    return Trails(matrices, np.where(left > 0, left, -life))
