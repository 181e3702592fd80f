"""A figure of several solvers or runs: how exploitable their strategies are, one over the other."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from hogeq.figures.curves import chart, number_iterations
from hogeq.figures.style import (
    ATTACK,
    BOUND,
    LINE_WIDTH,
    MARKER_SIZE,
    MIXED,
    PURIFIED,
    number_log_axis,
)
from hogeq.search.results import Units
from hogeq.support.messages import HogeqError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STYLES: Final = "o-", "s--", "^:", "v-."
_COLOURS: Final = BOUND, ATTACK, PURIFIED, MIXED
_LOOKS: Final = [
    (_STYLES[(place + turn) % 4], colour)
    for turn in range(4)
    for place, colour in enumerate(_COLOURS)
]
"""Line style and colour of each curve; neither comes twice in the first four."""


class Point(Protocol):
    """Exploitability of a strategy after some iterations."""

    @property
    def iteration(self) -> int:
        """Iterations done."""

    @property
    def lower(self) -> float:
        """What an attack gains."""

    @property
    def upper(self) -> float:
        """What no response exceeds."""


class Solved(Protocol):
    """What ``game.solve`` and ``hogeq.load_run`` give."""

    @property
    def curve(self) -> Sequence[Point]:
        """The measurements."""

    @property
    def units(self) -> Units:
        """Units of the game."""


def exploitability(
    solved: Mapping[str, Solved], path: str | Path | None = None, title: str = ""
) -> "Figure":
    """Draw how exploitable strategies are by the iterations, both axes logarithmic.

    A line is the upper bound; a band below it reaches to the attack found, where they differ.

    Parameters
    ----------
    solved : mapping of str to Solution or Run
        What ``game.solve`` or ``hogeq.load_run`` gave, by the name in the legend; 1 to 16, of games
        in which an exploitability means the same.

    Examples
    --------
    >>> import hogeq
    >>> game = hogeq.Game("kuhn_poker")
    >>> solved = {name: game.solve(name, 50) for name in ("cfr", "cfr_plus")}
    >>> picture = hogeq.figures.exploitability(solved, "solvers.png", "Kuhn poker")
    """
    if not 1 <= len(solved) <= len(_LOOKS):
        raise HogeqError(f"exploitability: {len(solved)} curves; allowed: 1 to {len(_LOOKS)}")
    axis, *others = dict.fromkeys(one.units.axis for one in solved.values())
    if others:
        allowed = "games in which an exploitability means the same"
        raise HogeqError(f"exploitability: {axis} and {others[0]}; allowed: {allowed}")
    curves = {name: [at for at in one.curve if at.iteration > 0] for name, one in solved.items()}
    for name, points in curves.items():
        if not points:
            allowed = "one after an iteration, or more"
            raise HogeqError(f"exploitability: {name} has no measurement; allowed: {allowed}")
    first = min(points[0].iteration for points in curves.values())
    last = max(points[-1].iteration for points in curves.values())
    with chart(path, 2.6, title, None, columns=2) as (figure, axes):
        axes.set_xscale("log")
        shown = list[float]()
        for (style, colour), (name, points) in zip(_LOOKS, curves.items(), strict=False):
            iterations = [at.iteration for at in points]
            lower, upper = [at.lower for at in points], [at.upper for at in points]
            shown += lower + upper
            axes.fill_between(iterations, lower, upper, color=colour, alpha=0.15, lw=0)
            look: dict[str, Any] = {"color": colour, "lw": LINE_WIDTH, "ms": MARKER_SIZE}
            axes.plot(iterations, upper, style, label=name, **look)
        axes.set_xlabel("iterations")
        axes.set_ylabel(axis)
        axes.set_xlim(first / 1.2, max(last, 1.2 * first) * 1.2)
        number_iterations(axes, first, last)
        number_log_axis(axes.yaxis, np.array(shown), 3.0)
    return figure
