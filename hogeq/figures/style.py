"""What all figures share: sizes, colours, axes, and how they are written."""

import math
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hogeq.support.files import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colorbar import Colorbar
    from matplotlib.colors import ListedColormap
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

WIDTH: Final = 3.4
"""Width of a figure, in inches: one column of a two-column journal."""

DPI: Final = 300

_OWN: Final = "own score (points)"

OTHER: Final = "opponent score (points)"

_ROLL: Final = "dice to roll"

# Vermilion, blue and bluish green of Okabe and Ito, "Color universal design" (2008): told apart
# with any colour vision; line styles and markers say the same again for print without colour.
ATTACK: Final = "#D55E00"

BOUND: Final = "#0072B2"

PURIFIED: Final = "#009E73"

LABEL_SIZE: Final = 8

TICK_SIZE: Final = 7

LINE_WIDTH: Final = 1.2

MARKER_SIZE: Final = 3.5

NAMED: Final = 40  # entries of a field whose names can still be read

_LONGEST_NAME: Final = 24

UNREACHED: Final = "#d9d9d9"  # positions that play cannot come to

_NEAR: Final = 0.06  # of the axes' width and height: numbers closer than this overlap

ROUNDING: Final = 1e-9

WIDEST: Final = 44  # characters of a line of a title

RAREST: Final = 1e-4  # probability that is told apart from none, and from no smaller one


def write_figure(path: str | Path, height: float, draw: Callable[["Figure"], None]) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    FigureCanvasAgg(figure)
    draw(figure)
    # Sizes are set one by one, since matplotlib's settings are shared by all threads.
    bars = [bar for axes in figure.axes for bar in axes.child_axes]
    for axes in (*figure.axes, *bars):
        axes.tick_params(labelsize=TICK_SIZE, width=0.6)
        axes.tick_params(which="minor", width=0.4)
        for text in (axes.title, axes.xaxis.label, axes.yaxis.label):
            text.set_fontsize(LABEL_SIZE)
        for spine in axes.spines.values():
            spine.set_linewidth(0.6)
    with replacing(path) as temporary:
        # No date, no version: the same numbers give the same bytes.
        figure.savefig(temporary, format="png", dpi=DPI, metadata={"Software": None})


def draw_rolls(figure: "Figure", axes: "Axes", table: NDArray[Any], rolls: int, title: str) -> None:
    import matplotlib as mpl
    from matplotlib.colors import BoundaryNorm, ListedColormap

    colours = ListedColormap(mpl.colormaps["viridis"](np.linspace(0.0, 1.0, rolls)))
    image = axes.imshow(
        table,
        cmap=colours,
        norm=BoundaryNorm(np.arange(rolls + 1) - 0.5, rolls),
        origin="lower",
        interpolation="nearest",
        extent=cell_extent(table),
    )
    bar = colour_bar(figure, axes, image, _ROLL)
    bar.set_ticks(np.arange(0, rolls, math.ceil(rolls / 12)).tolist())
    finish_map(axes, title)


def draw_values(
    figure: "Figure",
    axes: "Axes",
    table: NDArray[Any],
    label: str,
    colours: str,
    limits: tuple[float, float],
    title: str = "",
) -> None:
    from matplotlib.ticker import MaxNLocator

    image = axes.imshow(
        table,
        cmap=colours,
        vmin=limits[0],
        vmax=limits[1],
        origin="lower",
        interpolation="nearest",
        extent=cell_extent(table),
    )
    bar = colour_bar(figure, axes, image, label)
    if limits[1] - limits[0] > 1.0:  # dice; else probabilities
        bar.locator = MaxNLocator(8, integer=True)
        bar.update_ticks()
    finish_map(axes, title)


def plain_numbers(colour: str) -> "ListedColormap":
    from matplotlib.colors import ListedColormap

    return ListedColormap([colour])


def spread_apart(
    shares: Sequence[float], attacks: Sequence[float], won: Sequence[float]
) -> list[tuple[float, float, float]]:
    """Points of a curve that can be numbered without touching, the first and the last for sure."""
    points = sorted(zip(shares, attacks, won, strict=True))
    wide = max(attacks) - min(attacks) or 1.0
    tall = max(won) - min(won) or 1.0
    kept: list[tuple[float, float, float]] = []
    for point in [points[0], points[-1], *points[1:-1]]:
        near = [
            abs(point[1] - other[1]) < 2.0 * _NEAR * wide
            and abs(point[2] - other[2]) < _NEAR * tall
            for other in kept
        ]
        if not any(near):
            kept.append(point)
    return kept


def colour_bar(figure: "Figure", axes: "Axes", image: "AxesImage", label: str) -> "Colorbar":
    # Inside the axes' own frame of reference it is as tall as the map, whatever its shape.
    bar = figure.colorbar(image, cax=axes.inset_axes((1.05, 0.0, 0.05, 1.0)), label=label)
    bar.ax.tick_params(which="both", length=0)
    return bar


def finish_map(axes: "Axes", title: str) -> None:
    from matplotlib.ticker import MaxNLocator

    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(6, integer=True, steps=[1, 2, 5, 10]))
    axes.set_xlabel(OTHER)
    axes.set_ylabel(_OWN)
    axes.set_title(lines_of_text(title))


def number_log_axes(axes: "Axes", iterations: NDArray[Any], shown: NDArray[Any]) -> None:
    """Label 1, 2 and 5 of each decade in plain digits: short ranges have few powers of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    def plain(value: float, _position: int | None = None) -> str:
        return f"{value:.10f}".rstrip("0").rstrip(".") if value < 1 else f"{value:g}"

    wide = math.log10(max(iterations[-1], 2) / max(iterations[0], 1)) > 3
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0,) if wide else (1.0, 2.0, 5.0)))
    known = shown[np.isfinite(shown)]
    tall = known.size > 0 and math.log10(known.max() / known.min()) > 3
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0,) if tall else (1.0, 2.0, 5.0)))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(plain))
        axis.set_minor_formatter(NullFormatter())


def cell_extent(table: NDArray[Any]) -> tuple[float, float, float, float]:
    rows, columns = table.shape
    return (-0.5, columns - 0.5, -0.5, rows - 0.5)


def only_positive(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Leave out what a logarithmic axis cannot show."""
    return np.where(values > 0.0, values, np.nan)


def as_table(array: ArrayLike, name: str) -> NDArray[Any]:
    table = np.asarray(array)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or not table.size:
        raise ValueError(f"{name}: shape is {table.shape}; allowed: (G, G)")
    return table


def dice_ticks(array: ArrayLike, name: str) -> NDArray[np.float64]:
    table = np.asarray(array, dtype=np.float64)
    if table.ndim == 3:
        table = table @ np.arange(table.shape[2])
    return as_table(table, name)


def lines_of_text(title: str) -> str:
    """Break a title that is wider than the figure."""
    return "\n".join(textwrap.wrap(title, WIDEST))


def shortened(name: str) -> str:
    """Keep the end of a long name: of paths the telling part."""
    return name if len(name) <= _LONGEST_NAME else "..." + name[3 - _LONGEST_NAME :]
