"""Purifiers that treat every cell by itself: the likeliest roll, or a draw from the likely ones."""

import numpy as np

from hogeq.model.protocol import Engine
from hogeq.purification.base import Purifier, purifier
from hogeq.search.attack import SearchBudget, attack
from hogeq.strategies.arrays import one_hot
from hogeq.strategies.strategy import StrategyLike, policy_of
from hogeq.support.aliases import Floats, Matrix
from hogeq.support.parameters import Count, Natural, Seed, Share, check, parameters
from hogeq.support.progress import phase


def argmax(game: Engine, policy: StrategyLike) -> Matrix:
    """Most probable roll of every cell, the lower roll on ties."""
    return policy_of(game, policy).argmax(axis=-1).astype(np.int8)


def thresholded(game: Engine, policy: StrategyLike, threshold: float) -> Floats:
    """Policy without its unlikely rolls (Ganzfried, Sandholm and Waugh 2012, section 4)."""
    check(Share, threshold=threshold)
    rows = policy_of(game, policy)
    kept = np.where(rows >= threshold, rows, 0.0)
    none = kept.sum(axis=-1) == 0.0
    kept[none] = one_hot(rows[none].argmax(axis=1), game.num_actions)
    return np.asarray(kept / kept.sum(axis=-1, keepdims=True))


@purifier("argmax")
@parameters
class Argmax(Purifier):
    """The most probable roll of every cell."""

    def matrix(self, game: Engine, policy: StrategyLike) -> Matrix:
        return argmax(game, policy)


@purifier("threshold")
@parameters
class Threshold(Purifier):
    """Draw matrices from the policy without its unlikely rolls; keep the least exploitable.

    They are drawn cell by cell and judged by an attack on each. A threshold of 1 gives the argmax.

    Attributes
    ----------
    samples : int
        Matrices drawn and attacked.
    threshold : float
        Rolls less probable than this are not drawn: see :func:`thresholded`.
    starts, anneal_steps : int
        Budget of each attack: see :class:`hogeq.search.attack.SearchBudget`.
    seed : int
        Seed of the draws and of the attacks.
    """

    samples: Count = 8
    threshold: Share = 0.3
    starts: Count = 2
    anneal_steps: Natural = 30
    seed: Seed = 0

    def matrix(self, game: Engine, policy: StrategyLike) -> Matrix:
        drawn, rates = self.drawn(game, policy)
        return drawn[rates.argmin()]

    def drawn(self, game: Engine, policy: StrategyLike) -> tuple[Matrix, Floats]:
        """Matrices drawn, (n, G, G), and the win rate of the attack found on each, (n,)."""
        cumulative = thresholded(game, policy, self.threshold).cumsum(axis=-1)
        random = np.random.default_rng(self.seed)
        budget = SearchBudget(self.starts, self.anneal_steps, seed=self.seed)
        drawn, rates = [], []
        with phase("sampling", self.samples, "matrices") as progress:
            for _ in range(self.samples):
                # Scaled, since a row may sum to a little less than 1.
                limits = random.random(cumulative.shape[:-1])[..., None] * cumulative[..., -1:]
                drawn.append((cumulative <= limits).sum(axis=-1).astype(np.int8))
                rates.append(attack(game, drawn[-1], budget).win_rate)
                progress.step()
        return np.stack(drawn), np.array(rates)


@purifier("sample")
@parameters
class Sample(Threshold):
    """Matrices drawn from the whole policy: `Threshold` without a threshold."""

    threshold: Share = 0.0
