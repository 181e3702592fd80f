"""Boxes of distributions: lower and upper ends of the probability of each action in each row."""

import numpy as np

from hogeq.support.aliases import Floats
from hogeq.trees.enclosures import ROUNDING


def middles(lower: Floats, upper: Floats) -> Floats:
    """Return a distribution inside each box, (R, K, ...), by the ends of its probabilities.

    The same share of each side of the box is added to its lower end, so that the sum is 1.
    """
    widths = upper - lower
    missing = 1.0 - lower.sum(axis=1, keepdims=True)
    total = widths.sum(axis=1, keepdims=True)
    # A box of no width has one point, and no share to add.
    return np.asarray(lower + widths * missing / np.where(total > 0.0, total, 1.0))


def tightened(lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Shrink boxes, (R, K), to the smallest ones that have the same distributions of sum 1.

    An action has at least what the others' upper ends leave to it, and at most what their lower
    ends leave. The ends are rounded outward.
    """
    rounding = 2.0 * ROUNDING * (lower.shape[1] + 4)
    least = np.maximum(lower, 1.0 - upper.sum(axis=1, keepdims=True) + upper - rounding)
    most = np.minimum(upper, 1.0 - lower.sum(axis=1, keepdims=True) + lower + rounding)
    return np.minimum(least, most), most
