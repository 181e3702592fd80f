"""First-order steps on policies, with the settings of arXiv 2602.15252.

A step takes rows, (R, K, ...), their derivatives and a state, at first None, and gives the next.

- Regret matching (RM), also plus (O. Tammelin, arXiv 1407.5042, 2014) and predictive (G. Farina, C.
  Kroer and T. Sandholm, "Faster game solving via predictive Blackwell approachability", AAAI 2021);
- projected gradient ascent (PGD) and optimistic gradient ascent (OGD);
- AMSGrad (S. J. Reddi, S. Kale and S. Kumar, "On the convergence of Adam and beyond", ICLR 2018).
"""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any, Final

import numpy as np

from hogeq.support.aliases import Floats

TINY: Final = 1e-8  # squares of derivatives below are taken for this

Step = Callable[..., tuple[Floats, Any]]
"""Of policy, derivatives, state and a setting."""


def matching(policy: Floats, slopes: Floats, regrets: Any, *, plus: bool, predicts: bool) -> Any:
    """Regret matching, on derivatives as if they were payoffs."""
    gains = slopes - (policy * slopes).sum(axis=1, keepdims=True)
    regrets = gains + (0.0 if regrets is None else regrets)
    regrets = np.maximum(regrets, 0.0) if plus else regrets
    aimed = np.maximum(regrets + gains * predicts, 0.0)
    total = aimed.sum(axis=1, keepdims=True)
    return np.where(total > 0.0, aimed / np.where(total > 0.0, total, 1.0), policy), regrets


def gradient(policy: Floats, slopes: Floats, _: Any, rate: float) -> Any:
    """Projected gradient ascent."""
    return projected(policy + rate * slopes, np.ones_like(policy)), None


def optimistic(policy: Floats, slopes: Floats, kept: Any, rate: float) -> Any:
    """Optimistic gradient ascent: a second point follows, and the last derivative is expected."""
    even = np.ones_like(policy)
    kept = policy if kept is None else projected(kept + rate * slopes, even)
    return projected(kept + rate * slopes, even), kept


def amsgrad(policy: Floats, slopes: Floats, kept: Any, rate: float, b: float, c: float) -> Any:
    """AMSGrad (Reddi, Kale and Kumar 2018), projected in the norm of its weights."""
    mean, square, most = kept or (0.0, 0.0, 0.0)
    mean = b * mean + (1.0 - b) * slopes
    square = c * square + (1.0 - c) * slopes**2
    most = np.maximum(most, square)
    weights = np.sqrt(np.maximum(most, TINY))
    return projected(policy + rate * mean / weights, weights), (mean, square, most)


def projected(points: Floats, weights: Floats) -> Floats:
    """Nearest probabilities, (R, K, S), by squares that are weighed; illegal points are -inf.

    They are max(0, point - level / weight): with breakpoints in falling order the level follows.
    """
    order = np.argsort(-points * weights, axis=1)
    sorted_points = np.take_along_axis(points, order, 1)
    inverse = 1.0 / np.take_along_axis(weights, order, 1)
    is_real = np.isfinite(sorted_points)
    total = np.cumsum(np.where(is_real, sorted_points, 0.0), axis=1) - 1.0
    levels = total / np.cumsum(np.where(is_real, inverse, 0.0), axis=1)
    counts = (is_real & (sorted_points > levels * inverse)).sum(axis=1, keepdims=True)
    level = np.take_along_axis(levels, np.maximum(counts - 1, 0), 1)
    return np.maximum(points - level / weights, 0.0)


MATCHING: Final[dict[str, Step]] = {
    "RM": partial(matching, plus=False, predicts=False),
    "RM+": partial(matching, plus=True, predicts=False),
    "PRM": partial(matching, plus=False, predicts=True),
    "PRM+": partial(matching, plus=True, predicts=True),
}
RATES: Final = (1e-3, 1e-2, 1e-1, 1.0)  # of PGD and OGD
AMSGRAD: Final = tuple(product(RATES[1:], (0.8, 0.9, 0.99), (0.99, 0.999, 0.9999)))
"""Settings: rates, and how both moments decay."""
