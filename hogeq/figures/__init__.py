"""Figures: plain arrays in, pictures out.

Examples
--------
>>> import hogeq
>>> game = hogeq.Game("su20")
>>> hogeq.figures.matrix(game.strategy("huan2020"), "matrix.png", "huan2020")
"""

from hogeq.figures.chances import beliefs, distributions
from hogeq.figures.curves import exploitability, intervals
from hogeq.figures.maps import counter, difference, matrix, policy, values, win_rates
from hogeq.figures.safety import tradeoff
from hogeq.figures.sheets import matrices, mixture
from hogeq.figures.style import WIDTH

__all__ = [
    "WIDTH",
    "beliefs",
    "counter",
    "difference",
    "distributions",
    "exploitability",
    "intervals",
    "matrices",
    "matrix",
    "mixture",
    "policy",
    "tradeoff",
    "values",
    "win_rates",
]
