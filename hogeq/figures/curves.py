"""Figures of how good strategies are: exploitability over time, and intervals."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from hogeq.figures.style import (
    ATTACK,
    BOUND,
    LINE_WIDTH,
    MARKER_SIZE,
    MAX_NAMES,
    MIXED,
    PURIFIED,
    TICK_SIZE,
    WIDTH,
    new_figure,
    number_log_axis,
    shortened,
    wrapped,
)
from hogeq.search.results import WIN_RATES, Units
from hogeq.support.messages import HogeqError, counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Of each curve: field of the metrics, colour, style of the line, label. The first two are of the
# average policy.
_CURVES: Final = (
    ("bound", BOUND, "s--", "its upper bound"),
    ("attack", ATTACK, "o-", "its attack found"),
    ("purified_attack", PURIFIED, "^:", "purified: attack found"),
    ("mixture_bound", MIXED, "s--", "mixture: upper bound"),
    ("mixture_attack", MIXED, "o-", "mixture: attack found"),
)

_ATTACK_MARKER: Final[dict[str, Any]] = {
    "marker": "*",
    "ls": "none",
    "ms": 7,
    "mec": "white",
    "mew": 0.3,
}
_BOUND_MARKER: Final[dict[str, Any]] = {"marker": "v", "ls": "none", "ms": 5, "mfc": "white"}

_RESULT_SPACING: Final = 0.035  # between results at the last iteration, as a share of the width

_RESULT_COLOURS: Final = {  # colours of the attack and of the bound
    "average policy": (ATTACK, BOUND),
    "matrix": (PURIFIED, PURIFIED),
    "mixture": (MIXED, MIXED),
}


def convergence(
    metrics: Sequence[Any],
    path: str | Path | None = None,
    title: str = "",
    result: Mapping[str, tuple[float, float]] | None = None,
    efforts: tuple[str, str] = ("", ""),
    units: Units = WIN_RATES,
) -> "Figure":
    """Draw the exploitability intervals of one run over the iterations, both axes logarithmic.

    A single measurement makes no curve, and is drawn as :func:`intervals` draws one.

    Parameters
    ----------
    metrics : sequence of Metrics
        The measurements of a run (``hogeq.load_run(folder).metrics``), at least one.
    result : mapping of str to tuple of float, optional
        Attack and bound at the end of the run, win rates, of its "average policy", "matrix" and
        "mixture". They are marked at the last iteration: a result may have been attacked harder
        than the curves.
    efforts : tuple of str
        Effort of the attacks of the curves and of the result, written below the axes.
    units : Units
        Of the game: what is even (``hogeq.Game(...).units``).
    """
    first = metrics[0].iteration if metrics else 0
    if first < 1:
        problem = f"a line at iteration {first}" if metrics else "no metrics to draw"
        raise HogeqError(f"convergence: {problem}; allowed: 1 or more")
    if len(metrics) == 1:
        return _draw_one_measurement(metrics[0], path, title, result, efforts, units)
    iterations = np.array([row.iteration for row in metrics])
    # Exploitability: what a response gets above an even game.
    curves = {
        name: np.array([getattr(row, name) for row in metrics]) - units.even for name, *_ in _CURVES
    }
    results = {name: np.array(ends) - units.even for name, ends in (result or {}).items()}
    # The band ends at the final result, which may be tighter than the curve's last measurement.
    lower = curves["attack"].copy()
    if "average policy" in results:
        lower[-1] = max(lower[-1], results["average policy"][0])
    caption = f"attacks of {efforts[0]}" if efforts[0] else None
    if results and efforts[0] != efforts[1]:
        caption = f"curves: attacks of {efforts[0]}\nresult: attacks of {efforts[1]}"
    with chart(path, height=3.0, title=title, caption=caption, columns=2) as (figure, axes):
        axes.set_xscale("log")
        band: dict[str, Any] = {"color": BOUND, "alpha": 0.15, "lw": 0, "label": "average policy"}
        axes.fill_between(iterations, lower, curves["bound"], **band)
        _draw_curves(axes, iterations, curves)
        for number, (name, interval) in enumerate(sorted(results.items()), 1):
            _draw_result(axes, iterations[-1], interval, name, number)
        if results:  # without data: these two only add entries to the legend
            axes.plot([], [], **_ATTACK_MARKER, color="dimgrey", label="result: attack found")
            axes.plot([], [], **_BOUND_MARKER, color="dimgrey", label="result: upper bound")
        axes.set_xlabel("iterations")
        axes.set_ylabel(units.axis)
        axes.set_xlim(_limits_with_room(iterations, len(results)))
        number_iterations(axes, iterations[0], iterations[-1])
        number_log_axis(axes.yaxis, np.concatenate([*curves.values(), *results.values()]), 3.0)
        axes.grid(which="minor", linewidth=0.25, alpha=0.25)
    return figure


def _draw_curves(
    axes: "Axes", iterations: NDArray[np.int64], curves: Mapping[str, NDArray[np.float64]]
) -> None:
    """Draw the curves of `_CURVES` over the iterations; those without numbers are left out."""
    for name, colour, style, label in _CURVES:
        if np.isnan(curves[name]).all():
            continue
        look: dict[str, Any] = {"color": colour, "lw": LINE_WIDTH, "mew": 0.9, "label": label}
        if style.startswith("s"):  # hollow squares, in which a dot of the same value is seen
            look |= {"mfc": "white", "ms": MARKER_SIZE + 1.5}
        else:
            look |= {"mfc": colour, "ms": MARKER_SIZE}
        axes.plot(iterations, curves[name], style, clip_on=False, **look)


def _limits_with_room(iterations: NDArray[np.int64], num_results: int) -> tuple[float, float]:
    """Compute limits of a logarithmic axis with curves, and room for results right of them.

    The curves have a margin of a factor 1.2 on either side. Each result has a share of the width.
    """
    left_end = iterations[0] / 1.2
    log_width_of_curves = np.log(1.44 * iterations[-1] / iterations[0])
    share_of_results = _RESULT_SPACING * num_results
    log_width = log_width_of_curves / (1.0 - share_of_results)
    return left_end, left_end * np.exp(log_width)


def _draw_one_measurement(
    row: Any,
    path: str | Path | None,
    title: str,
    result: Mapping[str, tuple[float, float]] | None,
    efforts: tuple[str, str],
    units: Units,
) -> "Figure":
    """Draw the intervals of a single measurement, or the run's final `result` in their place.

    `row` is the line of metrics, `result` has attack and bound by strategy, and `efforts` are those
    of the measurement and of the result.
    """
    measured = {
        "average policy": (row.attack, row.bound),
        "matrix": (row.purified_attack, np.nan),
        "mixture": (row.mixture_attack, row.mixture_bound),
    }
    shown = {name: ends for name, ends in measured.items() if not np.isnan(ends[0])}
    shown |= result or {}
    after = f"after {counted(row.iteration, 'iteration')}"
    effort = efforts[1] if result else efforts[0]
    return intervals(
        list(shown),
        [[attack] for attack, _ in shown.values()],
        [[bound] for _, bound in shown.values()],
        path,
        f"{title}, {after}" if title else after,
        f"attacks of {effort}" if effort else None,
        units,
    )


def _draw_result(
    axes: "Axes", iteration: int, ends: NDArray[np.float64], name: str, number: int
) -> None:
    """Draw the final attack and bound of a strategy, right of the ends of the curves.

    The `number` of the result, from 1, says how far to the right, so that results do not overlap.
    """
    from matplotlib.transforms import ScaledTranslation

    distance = number * _RESULT_SPACING * WIDTH * 0.8  # inches: axes have some 0.8 of the width
    shift = ScaledTranslation(distance, 0.0, axes.figure.dpi_scale_trans)
    look: dict[str, Any] = {"transform": axes.transData + shift, "zorder": 3}
    attack, bound = ends
    attack_colour, bound_colour = _RESULT_COLOURS[name]
    axes.plot([iteration, iteration], ends, ls=":", color=attack_colour, lw=LINE_WIDTH, **look)
    axes.plot(iteration, bound, **_BOUND_MARKER, color=bound_colour, clip_on=False, **look)
    # The star comes last, so that it is seen where both are equal.
    axes.plot(iteration, attack, **_ATTACK_MARKER, color=attack_colour, clip_on=False, **look)


def search_course(
    curve: Sequence[tuple[int, float]],
    bound: float,
    path: str | Path | None = None,
    title: str = "",
    unit: str = "win rate",
) -> "Figure":
    """Draw the best value of a search over the sweeps spent, and an upper bound on all values.

    Parameters
    ----------
    curve : sequence of tuple of int and float
        Sweeps and best value, in the order of the search.
    unit : str
        What is counted: "win rate" or "payoff".
    """
    sweeps, best = zip(*curve, strict=True)
    with chart(path, height=2.4, title=title, caption=None) as (figure, axes):
        look: dict[str, Any] = {"lw": LINE_WIDTH, "ms": MARKER_SIZE}
        axes.step(sweeps, best, "o-", where="post", color=ATTACK, label="best found", **look)
        axes.axhline(bound, ls="--", color=BOUND, lw=LINE_WIDTH, label="upper bound")
        axes.set_xlabel("sweeps")
        axes.set_ylabel(unit)
    return figure


def intervals(
    labels: Sequence[str],
    attacks: Sequence[Sequence[float]],
    bounds: Sequence[Sequence[float]],
    path: str | Path | None = None,
    title: str = "",
    caption: str | None = None,
    units: Units = WIN_RATES,
) -> "Figure":
    """Draw the exploitability intervals of many settings, a line each seed, on a logarithmic axis.

    The lines of one setting lie close together, so that their spread is seen.

    Parameters
    ----------
    labels : sequence of str
        Written left of the lines, the first on top. Of more than 40 settings, those with the
        lowest attacks are drawn.
    attacks, bounds : sequence of sequence of float
        Win rates of each setting's runs, one for every seed: attack found, upper bound, NaN where
        there is none. An exploitability of 0 or less is drawn at the axis' left end.
    caption : str, optional
        Written below the axes.
    """
    if not labels or not len(labels) == len(attacks) == len(bounds):
        raise HogeqError(
            f"intervals: {len(labels)} labels, {len(attacks)} attacks, {len(bounds)} bounds; "
            "allowed: as many of each, one or more"
        )
    if not all(len(row) == len(attacks[number]) > 0 for number, row in enumerate(bounds)):
        raise HogeqError("intervals: a setting without runs; allowed: as many attacks as bounds")
    by_attack = np.argsort([min(row) for row in attacks], kind="stable")
    shown = sorted(by_attack[:MAX_NAMES].tolist())  # numbers of settings, in the given order
    if len(shown) < len(labels):
        title = f"{title}, the best {len(shown)} of {len(labels)}"
    num_seeds = max(len(attacks[setting]) for setting in shown)
    # Between two lines of one setting; the distance between two settings is 1.
    distance = min(0.26, 0.6 / max(num_seeds - 1, 1))
    heights_by_setting = []
    for row, setting in enumerate(shown):
        num_lines = len(attacks[setting])
        heights_by_setting.append(row + distance * (np.arange(num_lines) - (num_lines - 1) / 2.0))
    heights = np.concatenate(heights_by_setting)
    low = np.concatenate([np.asarray(attacks[setting]) - units.even for setting in shown])
    high = np.concatenate([np.asarray(bounds[setting]) - units.even for setting in shown])
    height = 1.5 + (0.16 + 0.06 * (num_seeds - 1)) * len(shown)
    with chart(path, height, title, caption, axis="x", which="both") as (figure, axes):
        marker_size = MARKER_SIZE if num_seeds == 1 else max(2.0, MARKER_SIZE - 0.3 * num_seeds)
        axes.hlines(heights, low, high, color=BOUND, alpha=0.35, lw=0.8 * marker_size)
        # A dot in a hollow square: both are seen where they are equal.
        look: dict[str, Any] = {"color": BOUND, "mfc": "white", "mew": 0.9, "clip_on": False}
        label = "full memory: upper bound"
        axes.plot(high, heights, "s", ms=1.5 * marker_size, label=label, **look)
        look = {"color": ATTACK, "mew": 0.0, "clip_on": False}
        label = "attack found: lower bound"
        axes.plot(low, heights, "o", ms=0.9 * marker_size, label=label, **look)
        axes.set_yticks(range(len(shown)), [shortened(labels[setting]) for setting in shown])
        axes.set_ylim(len(shown) - 0.5, -0.5)
        number_log_axis(axes.xaxis, np.concatenate([low, high]), 1.5)
        axes.set_xlabel(units.axis)
        if num_seeds > 1:  # an entry of the legend without a line
            axes.plot([], [], " ", label=f"a line for each of {num_seeds} seeds")
    return figure


@contextmanager
def chart(
    path: str | Path | None,
    height: float,
    title: str,
    caption: str | None,
    columns: int = 1,
    **lines: Any,
) -> Iterator[tuple["Figure", "Axes"]]:
    """Give axes with a grid to draw on in a block, and then add a legend below them.

    `height` is in inches, `caption` stands above the entries of the legend, `columns` is the number
    of columns of the legend, and `lines` are matplotlib's options of the grid.
    """
    with new_figure(path, height) as figure:
        axes = figure.subplots()
        axes.set_title(wrapped(title))
        axes.grid(linewidth=0.4, alpha=0.5, **lines)
        axes.set_axisbelow(True)
        yield figure, axes
        figure.legend(
            loc="outside lower center",
            ncols=columns,
            frameon=False,
            fontsize=TICK_SIZE,
            labelspacing=0.2,
            columnspacing=1.5,
            title=caption,
            title_fontsize=TICK_SIZE,
            alignment="left",
        )


def number_iterations(axes: "Axes", first: int, last: int) -> None:
    """Label a logarithmic axis of iterations with whole numbers.

    In order of preference these are powers of ten, then 2 and 5 times powers of ten, the last and
    the first iteration. A number that is too near to an earlier one is left out.
    """
    from matplotlib.ticker import NullFormatter

    left, right = axes.get_xlim()
    least_distance = 0.09 * np.log(right / left)  # between two labels, as a logarithm
    round_numbers = [
        digit * 10**power
        for power in range(len(str(last)))
        for digit in range(1, 10)
        if first <= digit * 10**power <= last
    ]
    powers_of_ten = [number for number in round_numbers if str(number).rstrip("0") == "1"]
    twos_and_fives = [number for number in round_numbers if str(number).rstrip("0") in {"2", "5"}]
    labelled: list[int] = []
    for number in (*powers_of_ten, *twos_and_fives, int(last), int(first)):
        if all(abs(np.log(number / other)) > least_distance for other in labelled):
            labelled.append(number)
    labelled.sort()
    axes.set_xticks(labelled, list(map(str, labelled)))
    axes.set_xticks(round_numbers, minor=True)
    axes.xaxis.set_minor_formatter(NullFormatter())
