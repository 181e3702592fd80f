"""The roles of a pass, on rows in numpy: for engines without loops of their own, and searches."""

import numpy as np

from hogeq.kernels import LEAST_WEIGHT, TIE
from hogeq.support.aliases import Floats, Ints

__all__ = ["TIE", "ascend", "improvable", "plain", "soften", "softmax"]


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


def plain(policies: Floats) -> Floats:
    """Policies as kernels are compiled for: contiguous float64, not read-only."""
    return np.require(policies, np.float64, ["C", "W"])
