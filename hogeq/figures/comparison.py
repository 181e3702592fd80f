"""A figure of several solvers or runs: how exploitable their strategies are, one over the other."""

from collections.abc import Mapping, Sequence
from inspect import getattr_static
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
from hogeq.search.results import PROVED, Budget, Measurement, Units
from hogeq.support.messages import HogeqError, one_line, shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STYLES: Final = "o-", "s--", "^:", "v-."
_COLOURS: Final = BOUND, ATTACK, PURIFIED, MIXED
_LOOKS: Final = [
    (_STYLES[(number + shift) % 4], colour)
    for shift in range(4)
    for number, colour in enumerate(_COLOURS)
]
"""Line style and colour of each curve; the first four differ in both."""


class Solved(Protocol):
    """Result of ``game.solve`` or ``hogeq.load_run``, of which a curve can be drawn."""

    @property
    def curve(self) -> Sequence[Measurement]:
        """The measurements."""

    @property
    def units(self) -> Units:
        """Units of the game."""


def exploitability(
    solved: Solved | Mapping[str, Solved], path: str | Path | None = None, title: str = ""
) -> "Figure":
    """Draw the exploitability of strategies over the iterations, both axes logarithmic.

    A line is the upper bound. A band below it reaches down to the lower bound, the attack found.

    Parameters
    ----------
    solved : Solution or Run, or mapping of str to them
        What ``game.solve`` or ``hogeq.load_run`` gave; several of them by the name in the legend, 1
        to 16, of games in which an exploitability means the same.

    Notes
    -----
    The first use of a solution measures its ``curve``, after 100 iterations at eleven of them,
    with the effort ``solution.curve_budget``. Where that leaves an interval, the effort stands
    below the axes. Inside ``with hogeq.show_progress():`` it shows how far it is.

    Examples
    --------
    >>> import hogeq
    >>> game = hogeq.Game("kuhn_poker")
    >>> solved = {name: game.solve(name, 50) for name in ("cfr", "cfr_plus")}
    >>> picture = hogeq.figures.exploitability(solved, "solvers.png", "Kuhn poker")
    """
    if not isinstance(solved, Mapping):
        _require_curve("solved", solved)
        solved = {"upper bound": solved}
    if not 1 <= len(solved) <= len(_LOOKS):
        raise HogeqError(f"exploitability: {len(solved)} curves; allowed: 1 to {len(_LOOKS)}")
    for name, result in solved.items():
        _require_curve(f"solved[{shown(name)}]", result)
    # Labels of the axis, without duplicates: one if all games have the same units.
    axis_label, *other_labels = dict.fromkeys(result.units.axis for result in solved.values())
    if other_labels:
        allowed = "games in which an exploitability means the same"
        raise HogeqError(f"exploitability: {axis_label} and {other_labels[0]}; allowed: {allowed}")
    curves = {}
    for name, result in solved.items():
        # A logarithmic axis has no room for iteration 0.
        curves[name] = [point for point in result.curve if point.iteration > 0]
        if not curves[name]:
            allowed = "one after an iteration, or more"
            raise HogeqError(f"exploitability: {name} has no measurement; allowed: {allowed}")
    budgets = {name: getattr(result, "curve_budget", None) for name, result in solved.items()}
    caption = _effort(budgets, curves)
    first = min(points[0].iteration for points in curves.values())
    last = max(points[-1].iteration for points in curves.values())
    with chart(path, 2.6, title, caption, columns=2) as (figure, axes):
        axes.set_xscale("log")
        drawn_values: list[float] = []
        for (style, colour), (name, points) in zip(_LOOKS, curves.items(), strict=False):
            iterations = [point.iteration for point in points]
            lower = [point.lower for point in points]
            upper = [point.upper for point in points]
            drawn_values += lower + upper
            axes.fill_between(iterations, lower, upper, color=colour, alpha=0.15, lw=0)
            look: dict[str, Any] = {"color": colour, "lw": LINE_WIDTH, "ms": MARKER_SIZE}
            axes.plot(iterations, upper, style, label=name, **look)
        axes.set_xlabel("iterations")
        axes.set_ylabel(axis_label)
        axes.set_xlim(first / 1.2, max(last, 1.2 * first) * 1.2)
        number_iterations(axes, first, last)
        number_log_axis(axes.yaxis, np.array(drawn_values), 3.0)
    return figure


def _effort(
    budgets: Mapping[str, Budget | None], curves: Mapping[str, Sequence[Measurement]]
) -> str | None:
    """Say by what attacks the curves were measured, a line each if these differ.

    None if they are not known, or if nothing was searched for: both ends of all intervals agree.
    """
    efforts = {}
    for name, budget in budgets.items():
        has_gap = any(point.upper - point.lower > PROVED for point in curves[name])
        if budget is not None and has_gap:
            limit = "" if budget.seconds is None else f", at most {budget.seconds:g} s each"
            efforts[name] = f"attacks of {budget}{limit}"
    if len({*efforts.values()}) == 1:
        return next(iter(efforts.values()))
    return "\n".join(f"{name}: {effort}" for name, effort in efforts.items()) or None


def _require_curve(where: str, result: object) -> None:
    """Refuse what has no curve; `where` begins the message. No curve is computed for it."""
    if getattr_static(result, "curve", None) is None:
        kind = one_line(type(result).__name__)
        article = "an" if kind[0].lower() in "aeiou" else "a"
        allowed = "a Solution or Run, or a mapping of names to them"
        raise HogeqError(f"{where}: got {article} {kind}; allowed: {allowed}")
