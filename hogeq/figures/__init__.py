"""Figures: plain arrays in, pictures out."""

from hogeq.figures.curves import exploitability, intervals, tradeoff
from hogeq.figures.maps import counter, difference, matrix, policy, values
from hogeq.figures.style import WIDTH
from hogeq.figures.tables import beliefs, distributions, win_rates

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
