"""The roles of a pass, on rows in numpy: for engines without loops of their own, and searches."""

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels import LEAST_WEIGHT, TIE
from hogeq.support.aliases import Floats, Ints

__all__ = ["TIE", "ascend", "improvable", "plain", "soften", "softmax", "spread_illegal"]


def softmax(scores: Floats) -> Floats:
    """Rows in proportion to the exponentials of the scores; a fresh array."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def soften(
    policy: Floats, values: Floats, reach: Floats, temperature: float, damping: float
) -> None:
    """Move the rows that are reached towards the softmax of their values, given arrival."""
    reached = reach > 0.0
    behind = values[reached] - values[reached].max(axis=-1, keepdims=True)
    wanted = softmax(behind / np.maximum(reach[reached, None] * temperature, LEAST_WEIGHT))
    policy[reached] += damping * (wanted - policy[reached])


def ascend(policy: Floats, values: Floats, reach: Floats) -> int:
    """Set the rows that are reached to their best actions; give how many change.

    Values within `TIE` are as good: a row that is sure of such an action stays, else it takes the
    first of them.
    """
    good = values >= values.max(axis=-1, keepdims=True) - TIE * reach[..., None]
    changes = (reach > 0.0) & ~(good & (policy == 1.0)).any(axis=-1)
    first = good[changes].argmax(axis=-1)
    policy[changes] = 0.0
    policy[(*np.nonzero(changes), first)] = 1.0
    return int(changes.sum())


def improvable(policy: Floats, values: Floats, reach: Floats) -> Ints:
    """Rows that gain by another action or are mixed, in flat order; those that gain most first."""
    gain = values.max(axis=-1) - (policy * values).sum(axis=-1)
    better = (reach > 0.0) & ((gain > TIE * reach) | (policy.max(axis=-1) < 1.0))
    rows = np.flatnonzero(better)
    return rows[np.argsort(-gain.ravel()[rows], kind="stable")]


def spread_illegal(policy: Floats, legal: NDArray[np.bool_]) -> Floats:
    """Spread the probabilities of illegal actions evenly over the legal ones of their rows.

    Rows of ones keep theirs: they say that own actions count 1.
    """
    illegal = np.where(legal, 0.0, policy).sum(axis=-1)
    stays = (policy == 1.0).all(axis=-1) | (illegal <= TIE)
    spread = np.where(stays, 0.0, illegal / np.maximum(legal.sum(axis=1), 1))
    return np.asarray((policy + spread[..., None]) * legal)


def plain(policies: Floats) -> Floats:
    """Policies as kernels are compiled for: contiguous float64, not read-only."""
    return np.require(policies, np.float64, ["C", "W"])
