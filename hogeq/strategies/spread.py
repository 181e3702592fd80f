"""How much a mixture's parts differ, position by position, in bits."""

from typing import NamedTuple

import numpy as np

from hogeq.strategies.mixtures import Mixture
from hogeq.support.aliases import Floats


class Spread(NamedTuple):
    """Uncertainty of the next roll at every position, and how much of it the draw accounts for."""

    mean: Floats
    """(G, G, K), probability of every roll, the weights being those of the draw."""
    total: Floats
    """(G, G), entropy of the roll to one who knows neither the draw nor the game so far."""
    drawn: Floats
    """(G, G), the part of it that goes if the draw is told: the mutual information of draw and
    roll, the Jensen-Shannon divergence of the parts' rows. 0 where all parts play alike."""


def spread(mixture: Mixture, num_actions: int) -> Spread:
    """Split the entropy of each roll into what is drawn before the game and what is rolled anew."""
    policies = mixture.policies(num_actions)
    mean = np.tensordot(mixture.weights, policies, axes=1)
    within = np.tensordot(mixture.weights, entropy(policies), axes=1)
    total = entropy(mean)
    return Spread(mean, total, np.maximum(total - within, 0.0))


def entropy(rows: Floats) -> Floats:
    """Entropy in bits of distributions along the last axis."""
    logs = np.log2(rows, out=np.zeros_like(rows), where=rows > 0.0)
    return np.asarray(-np.einsum("...k,...k->...", rows, logs))
