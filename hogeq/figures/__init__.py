"""Figures: plain arrays in, pictures out.

Of any game: `exploitability` of what ``game.solve`` gave, over the iterations, and `policy`, a
strategy; `convergence` of a run's metrics; `intervals` of many settings; `search_course`. Of Hog
alone: `matrix`, `mixture`, `counter`, `beliefs`, and `win_rates` of a field.

Every function returns the figure, which a notebook shows. It takes `path`, the PNG to write if
any, and most take a `title` that stands above. They raise a `ValueError` for arrays that do not fit
and for numbers that cannot be drawn, and an `OSError` if the file cannot be written.

Examples
--------
>>> import hogeq
>>> game = hogeq.Game("su20")
>>> picture = hogeq.figures.matrix(game.strategy("huan2020"), "matrix.png", "huan2020")
"""

from hogeq.figures import text
from hogeq.figures.comparison import exploitability
from hogeq.figures.curves import convergence, intervals, search_course
from hogeq.figures.maps import beliefs, counter, matrix, mixture, policy, win_rates
from hogeq.figures.style import LOSS, MINUS_ONE, WIDTH

__all__ = [
    "LOSS",
    "MINUS_ONE",
    "WIDTH",
    "beliefs",
    "convergence",
    "counter",
    "exploitability",
    "intervals",
    "matrix",
    "mixture",
    "policy",
    "search_course",
    "text",
    "win_rates",
]
