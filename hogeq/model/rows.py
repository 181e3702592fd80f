"""The roles of a pass, on rows in numpy: for engines without loops of their own, and searches."""

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels import LEAST_WEIGHT, TIE
from hogeq.support.aliases import Floats, Ints

__all__ = ["TIE", "ascend", "improvable", "plain", "soften", "softmax", "spread_illegal"]


def softmax(scores: Floats) -> Floats:
    """Rows in proportion to the exponentials of the scores; a fresh array."""
    # The largest score is subtracted, so that no exponential overflows.
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def soften(
    policy: Floats, values: Floats, reach: Floats, temperature: float, damping: float
) -> None:
    """Move the reached rows of a policy a share `damping` of the way to a softmax, in place.

    `policy` and `values` are (*rows, K), `reach` (*rows). Values are weighted by reach: the softmax
    is of values given that play comes to the row, divided by the temperature.
    """
    is_reached = reach > 0.0
    scores = values[is_reached] - values[is_reached].max(axis=-1, keepdims=True)
    weights = np.maximum(reach[is_reached, None] * temperature, LEAST_WEIGHT)
    target = softmax(scores / weights)
    policy[is_reached] += damping * (target - policy[is_reached])


def ascend(policy: Floats, values: Floats, reach: Floats) -> int:
    """Set the reached rows of a policy to their best actions, in place; return how many change.

    `policy` and `values`, weighted by reach, are (*rows, K), `reach` (*rows). Values within `TIE`
    of the best are as good: a row that is sure of such an action stays, else it takes the first.
    """
    is_best = values >= values.max(axis=-1, keepdims=True) - TIE * reach[..., None]
    is_sure = (is_best & (policy == 1.0)).any(axis=-1)
    changes = (reach > 0.0) & ~is_sure
    first_best = is_best[changes].argmax(axis=-1)
    policy[changes] = 0.0
    policy[(*np.nonzero(changes), first_best)] = 1.0
    return int(changes.sum())


def improvable(policy: Floats, values: Floats, reach: Floats) -> Ints:
    """List the reached rows that gain by another action, or are mixed; those that gain most first.

    As indices in flat order. `policy` and `values`, weighted by reach, are (*rows, K).
    """
    gain = values.max(axis=-1) - (policy * values).sum(axis=-1)
    is_mixed = policy.max(axis=-1) < 1.0
    is_improvable = (reach > 0.0) & ((gain > TIE * reach) | is_mixed)
    rows = np.flatnonzero(is_improvable)
    return rows[np.argsort(-gain.ravel()[rows], kind="stable")]


def spread_illegal(policy: Floats, legal: NDArray[np.bool_]) -> Floats:
    """Spread the probabilities of illegal actions evenly over the legal ones of their rows.

    Rows of ones keep theirs: they say that own actions count 1. At most `TIE` may be rounding.
    """
    illegal_mass = np.where(legal, 0.0, policy).sum(axis=-1)
    stays = (policy == 1.0).all(axis=-1) | (illegal_mass <= TIE)
    num_legal = np.maximum(legal.sum(axis=1), 1)
    extra = np.where(stays, 0.0, illegal_mass / num_legal)
    return np.asarray((policy + extra[..., None]) * legal)


def plain(policies: Floats) -> Floats:
    """Policies as kernels are compiled for: contiguous float64, not read-only."""
    return np.require(policies, np.float64, ["C", "W"])
