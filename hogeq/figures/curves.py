"""Figures of how good strategies are: exploitability over time, and intervals side by side."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from hogeq.figures.style import (
    ATTACK,
    BOUND,
    LINE_WIDTH,
    MARKER_SIZE,
    MIXED,
    NAMED,
    PURIFIED,
    TICK_SIZE,
    WIDTH,
    number_log_axis,
    place_of_zero,
    shortened,
    wrapped,
    write_figure,
)
from hogeq.support.numbers import EXACT, counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SPREAD: Final = 0.6  # of a row: what its seeds take at most

_APART: Final = 0.26  # of a row: between two seeds

_UPPER: Final[dict[str, Any]] = {"marker": "s", "color": BOUND, "mfc": "white", "mew": 0.9}

_LOWER: Final[dict[str, Any]] = {"marker": "o", "color": ATTACK, "mew": 0.0}

_TICKS_APART: Final = 0.09  # of a logarithmic axis: two of its labels

_CURVES: Final = (  # the first and the second bound the average policy
    ("bound", BOUND, "s--", "its upper bound"),
    ("attack", ATTACK, "o-", "its attack found"),
    ("purified_attack", PURIFIED, "^:", "purified: attack found"),
    ("mixture_bound", MIXED, "s--", "mixture: upper bound"),
    ("mixture_attack", MIXED, "o-", "mixture: attack found"),
)

_FOUND: Final[dict[str, Any]] = {"marker": "*", "ls": "none", "ms": 7, "mec": "white", "mew": 0.3}

_HIGHEST: Final[dict[str, Any]] = {"marker": "v", "ls": "none", "ms": 5, "mfc": "white"}

_DOWN: Final = 7  # matplotlib's CARETDOWN, whose tip is the point

_ASIDE: Final = 0.035  # of the axes' width: between the results at the last iteration

_RESULTS: Final = {  # colours of the attack and of the bound
    "average policy": (ATTACK, BOUND),
    "matrix": (PURIFIED, PURIFIED),
    "mixture": (MIXED, MIXED),
}


class Measurement(Protocol):
    """Win rates of responders after some iterations, as a run measures them."""

    @property
    def iteration(self) -> int:
        """Iterations done."""

    @property
    def attack(self) -> float:
        """Win rate of the attack found against the average policy."""

    @property
    def bound(self) -> float:
        """Win rate of the responder with full memory."""

    @property
    def purified_attack(self) -> float:
        """Win rate of the attack found against the matrix."""

    @property
    def mixture_attack(self) -> float:
        """Win rate of the attack found against the mixture; NaN if there is none."""

    @property
    def mixture_bound(self) -> float:
        """Win rate of the responder with full memory who is told what was drawn from it."""


def exploitability(
    metrics: Sequence[Measurement],
    path: str | Path,
    title: str = "",
    result: Mapping[str, tuple[float, float]] | None = None,
    efforts: tuple[str, str] = ("", ""),
) -> None:
    """Draw the exploitability interval against the iterations, both axes logarithmic.

    Of one measurement there is no curve: its intervals are drawn as :func:`intervals` does.

    Parameters
    ----------
    metrics : sequence of Measurement
        In the order of their iterations; at least one.
    path : str or Path
        The PNG to write.
    title : str
        Drawn above the axes.
    result : mapping of str to tuple of float, optional
        Attack and bound by which the run ends, win rates, of its "average policy", "matrix" and
        "mixture". They are marked at the last iteration: a result may have been attacked harder
        than the curves.
    efforts : tuple of str
        Effort of the attacks of the curves, and of the result; said below the axes.

    Raises
    ------
    ValueError
        There is nothing to draw, or nothing that a logarithmic axis can show.
    OSError
        The file cannot be written.
    """
    _require_lines(metrics)
    if len(metrics) == 1:
        _draw_only(metrics[0], path, title, result, efforts)
        return
    iterations = np.array([row.iteration for row in metrics])
    curves = {name: np.array([getattr(row, name) for row in metrics]) - 0.5 for name, *_ in _CURVES}
    ends = {name: np.array(ends) - 0.5 for name, ends in (result or {}).items()}
    shown = np.concatenate([*curves.values(), *ends.values()])
    zero = place_of_zero(shown)
    # The curve stays what it was measured to be; the interval is what is known in the end.
    lowest = curves["attack"].copy()
    if "average policy" in ends:
        lowest[-1] = max(lowest[-1], ends["average policy"][0])

    def draw(figure: "Figure") -> None:
        axes = figure.add_subplot()
        axes.set_xscale("log")
        axes.set_yscale("log")
        low, high = (_shown_from(zero, one) for one in (lowest, curves["bound"]))
        between = "average policy"
        axes.fill_between(iterations, low, high, color=BOUND, alpha=0.15, lw=0, label=between)
        for number, (name, colour, style, label) in enumerate(_CURVES):
            if not np.isnan(curves[name]).all():
                _draw_curve(axes, iterations, curves[name], zero, number, colour, style, label)
        for place, (name, interval) in enumerate(sorted(ends.items()), 1):
            _draw_result(axes, iterations[-1], _shown_from(zero, interval), name, place)
        if ends:
            axes.plot([], [], **_FOUND, color="dimgrey", label="result: attack found")
            axes.plot([], [], **_HIGHEST, color="dimgrey", label="result: upper bound")
        axes.set_xlabel("iterations")
        axes.set_ylabel("exploitability (win rate $-$ 1/2)")
        axes.set_title(wrapped(title))
        whole = np.log(1.44 * iterations[-1] / iterations[0]) / (1.0 - _ASIDE * len(ends))
        axes.set_xlim(iterations[0] / 1.2, iterations[0] / 1.2 * np.exp(whole))
        _number_iterations(axes, iterations[0], iterations[-1])
        some = bool((shown <= EXACT).any())
        if some:
            axes.set_ylim(zero, axes.get_ylim()[1] if (shown > EXACT).any() else 1.0)
        number_log_axis(axes.yaxis, shown, 3.0, zero if some else None)
        axes.grid(which="major", linewidth=0.4, alpha=0.5)
        axes.grid(which="minor", linewidth=0.25, alpha=0.25)
        axes.set_axisbelow(True)
        # Below the axes, where no curve can be.
        figure.legend(
            loc="outside lower center",
            ncols=2,
            frameon=False,
            fontsize=TICK_SIZE,
            labelspacing=0.2,
            columnspacing=1.5,
            title=_told(efforts, bool(ends)),
            title_fontsize=TICK_SIZE,
            alignment="left",
        )

    write_figure(path, 3.0, draw)


def _require_lines(metrics: Sequence[Measurement]) -> None:
    if not metrics:
        raise ValueError("exploitability: no metrics to draw; allowed: one line or more")
    first = metrics[0].iteration
    if first < 1:
        raise ValueError(f"exploitability: a line at iteration {first}; allowed: 1 or more")


def _draw_only(
    row: Measurement,
    path: str | Path,
    title: str,
    result: Mapping[str, tuple[float, float]] | None,
    efforts: tuple[str, str],
) -> None:
    """Draw one measurement, and what is known better of its strategies."""
    known = {
        "average policy": (row.attack, row.bound),
        "matrix": (row.purified_attack, np.nan),
        "mixture": (row.mixture_attack, row.mixture_bound),
    }
    known = {name: ends for name, ends in known.items() if not np.isnan(ends[0])}
    known |= result or {}
    after = f"after {counted(row.iteration, 'iteration')}"
    intervals(
        list(known),
        [[attack] for attack, _ in known.values()],
        [[bound] for _, bound in known.values()],
        path,
        f"{title}, {after}" if title else after,
        _told((efforts[1],) * 2 if result else efforts, False),
    )


def _draw_curve(
    axes: "Axes",
    iterations: NDArray[Any],
    values: NDArray[np.float64],
    zero: float,
    number: int,
    colour: str,
    style: str,
    label: str,
) -> None:
    """Draw one curve; where it is 0, its markers point down from the axes' lower edge."""
    nothing = values <= EXACT
    bound = style.startswith("s")  # hollow, so that both are seen where they are equal
    look: dict[str, Any] = {"color": colour, "mfc": "white" if bound else colour, "mew": 0.9}
    axes.plot(
        iterations,
        _shown_from(zero, values),
        style,
        **look,
        label=label,
        lw=LINE_WIDTH,
        ms=MARKER_SIZE + 1.5 * bound,
        markevery=np.flatnonzero(~nothing).tolist(),
    )
    if nothing.any():
        axes.plot(
            iterations[nothing],
            np.full(nothing.sum(), zero),
            marker=_DOWN,
            ls="none",
            **look,
            ms=MARKER_SIZE + 0.7 * (len(_CURVES) - number),
            clip_on=False,
        )


def _draw_result(
    axes: "Axes", iteration: int, ends: NDArray[np.float64], name: str, place: int
) -> None:
    """Draw an interval right of the curves' ends, which it would hide."""
    from matplotlib.transforms import ScaledTranslation

    shift = ScaledTranslation(place * _ASIDE * WIDTH * 0.8, 0.0, axes.figure.dpi_scale_trans)
    look: dict[str, Any] = {"transform": axes.transData + shift, "zorder": 3}
    colours = _RESULTS[name]
    axes.plot([iteration] * 2, ends, ls=":", color=colours[0], lw=LINE_WIDTH, **look)
    # The star comes last, so that it is seen where both are equal.
    for end, marker in ((1, _HIGHEST), (0, _FOUND)):
        axes.plot(iteration, ends[end], **marker, color=colours[end], clip_on=False, **look)


def _shown_from(zero: float, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Draw nothing, of which there is no logarithm, at `zero`."""
    return np.where(values <= EXACT, zero, values)


def _told(efforts: tuple[str, str], two: bool) -> str | None:
    """Say the effort of the curves and, if there are `two` and they differ, that of the result."""
    curves, result = efforts
    if two and curves != result:
        return f"curves: attacks of {curves}\nresult: attacks of {result}"
    return f"attacks of {curves}" if curves else None


def intervals(
    labels: Sequence[str],
    attacks: Sequence[Sequence[float]],
    bounds: Sequence[Sequence[float]],
    path: str | Path,
    title: str = "",
    caption: str | None = None,
) -> None:
    """Draw the exploitability intervals of many settings, a line each seed, on a logarithmic axis.

    The lines of one setting lie close together, so that their spread is seen.

    Parameters
    ----------
    labels : sequence of str
        Written left of the lines, the first on top. Of more than `NAMED` settings, those with the
        lowest attacks are drawn.
    attacks, bounds : sequence of sequence of float
        Win rates of each setting's runs, one for every seed: attack found, upper bound, NaN where
        there is none. What is not above 1/2 is no exploitability: 0, at the axis' left end.
    path : str or Path
        The PNG to write.
    title : str
        Drawn above the axes.
    caption : str, optional
        Said below the axes.

    Raises
    ------
    ValueError
        There is nothing to draw, or the lengths differ.
    OSError
        The file cannot be written.
    """
    if not labels or not len(labels) == len(attacks) == len(bounds):
        raise ValueError(
            f"intervals: {len(labels)} labels, {len(attacks)} attacks, {len(bounds)} bounds; "
            "allowed: as many of each, one or more"
        )
    if not all(len(row) == len(attacks[place]) > 0 for place, row in enumerate(bounds)):
        raise ValueError("intervals: a setting without runs; allowed: as many attacks as bounds")
    order = np.argsort([min(row) for row in attacks], kind="stable")[:NAMED]
    shown = sorted(order.tolist())
    if len(shown) < len(labels):
        title = f"{title}, the best {len(shown)} of {len(labels)}"
    found = np.concatenate([np.asarray(bounds[row]) for row in shown])
    found = np.concatenate([found, *(np.asarray(attacks[row]) for row in shown)]) - 0.5
    zero = place_of_zero(found)

    def draw(figure: "Figure") -> None:
        axes = figure.add_subplot()
        axes.set_xscale("log")
        seeds = max(len(attacks[row]) for row in shown)
        apart = min(_APART, _SPREAD / max(seeds - 1, 1))
        size = MARKER_SIZE if seeds == 1 else max(2.0, MARKER_SIZE - 0.3 * seeds)
        for line, row in enumerate(shown):
            low, high = (
                _shown_from(zero, np.asarray(part[row]) - 0.5) for part in (attacks, bounds)
            )
            offsets = apart * (np.arange(len(low)) - (len(low) - 1) / 2.0)
            axes.hlines(line + offsets, low, high, color=BOUND, alpha=0.35, lw=0.8 * size)
            # The one is a dot and fits into the other, so that both are seen where they are equal.
            for values, look, label in (
                (high, _UPPER, "full memory: upper bound"),
                (low, _LOWER, "attack found: lower bound"),
            ):
                axes.plot(
                    values,
                    line + offsets,
                    ls="none",
                    **look,
                    ms=size * (1.5 if values is high else 0.9),
                    label=label if not line else None,
                )
        axes.set_yticks(range(len(shown)), [shortened(labels[row]) for row in shown])
        axes.set_ylim(len(shown) - 0.5, -0.5)
        some = bool((found <= EXACT).any())
        if some and not (found > EXACT).any():
            axes.set_xlim(zero / 1.5, 1.0)
        number_log_axis(axes.xaxis, found, 1.5, zero if some else None)
        axes.set_xlabel("exploitability (win rate $-$ 1/2)")
        axes.set_title(wrapped(title))
        axes.grid(axis="x", which="both", linewidth=0.4, alpha=0.5)
        axes.set_axisbelow(True)
        if seeds > 1:
            axes.plot([], [], " ", label=f"a line for each of {seeds} seeds")
        figure.legend(
            loc="outside lower center",
            ncols=1,
            frameon=False,
            fontsize=TICK_SIZE,
            labelspacing=0.2,
            title=caption,
            title_fontsize=TICK_SIZE,
            alignment="left",
        )

    each = 0.16 + 0.06 * (max(len(attacks[row]) for row in shown) - 1)
    write_figure(path, 1.5 + each * len(shown), draw)


def _number_iterations(axes: "Axes", first: int, last: int) -> None:
    """Label whole numbers: 1, 2, 5, 10, ..., the last and the first, as far as there is room."""
    from matplotlib.ticker import NullFormatter

    left, right = axes.get_xlim()
    room = _TICKS_APART * np.log(right / left)
    whole = [
        digit * 10**power
        for power in range(len(str(last)))
        for digit in range(1, 10)
        if first <= digit * 10**power <= last
    ]
    powers = [number for number in whole if str(number).rstrip("0") == "1"]
    others = [number for number in whole if str(number).rstrip("0") in {"2", "5"}]
    ticks = _apart([*powers, *others, int(last), int(first)], room)
    axes.set_xticks(ticks, list(map(str, ticks)))
    axes.set_xticks(whole, minor=True)
    axes.xaxis.set_minor_formatter(NullFormatter())


def _apart(numbers: Sequence[int], room: float) -> list[int]:
    kept: list[int] = []
    for number in numbers:
        if all(abs(np.log(number / other)) > room for other in kept):
            kept.append(number)
    return sorted(kept)
