"""Figures: plain arrays in, pictures out."""

from hogeq.figures.chances import beliefs, distributions
from hogeq.figures.curves import exploitability, intervals, tradeoff
from hogeq.figures.maps import counter, difference, matrix, policy, values, win_rates
from hogeq.figures.style import WIDTH

__all__ = [
    "WIDTH",
    "beliefs",
    "counter",
    "difference",
    "distributions",
    "exploitability",
    "intervals",
    "matrix",
    "policy",
    "tradeoff",
    "values",
    "win_rates",
]
