"""Sizes, colours, maps and axes of all figures, and writing them."""

import math
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hogeq.strategies.arrays import as_array
from hogeq.strategies.strategy import Strategy
from hogeq.support.drawing import import_matplotlib
from hogeq.support.files import replacing
from hogeq.support.messages import EXACT, HogeqError, refusal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

WIDTH: Final = 3.4  # width of a figure, in inches: one column of a two-column journal

# Vermilion, blue, bluish green and reddish purple of Okabe and Ito, "Color universal design"
# (2008): told apart with any colour vision; line styles and markers say the same again for print
# without colour.
ATTACK: Final = "#D55E00"
BOUND: Final = "#0072B2"
PURIFIED: Final = "#009E73"
MIXED: Final = "#CC79A7"

MINUS_ONE: Final = MIXED  # the choice -1, which is no number of dice
LABEL_SIZE: Final = 8
TICK_SIZE: Final = 7
LINE_WIDTH: Final = 1.2
MARKER_SIZE: Final = 3.5
WIDEST: Final = 44  # characters of a line of text
PANEL: Final = 2.0  # inches: width of a map among several
NAMED: Final = 40  # entries of a field whose names can still be read

UNREACHED: Final = "#d9d9d9"  # positions that play cannot come to

LOSS: Final = "#f3f4f5", "#a51923"
"""Colours of a loss, from none to the most, on every picture and page, by its cube root: a
thousandth of the most is still seen. A gain beside losses is blue. Where play never comes, it is
grey. Dark pages begin with their own paper; `LOSS` of pages/grid.js has both."""

RAREST: Final = 1e-4  # probability that is told apart from none, and from no smaller one
_LONGEST_NAME: Final = 24


@contextmanager
def new_figure(
    path: str | Path | None, height: float, width: float = WIDTH, dpi: int = 300
) -> Iterator["Figure"]:
    """Draw a figure in a block, sizes in inches; with a path write it as PNG, whole or not."""
    if path is not None and Path(path).suffix.lower() != ".png":
        raise HogeqError(refusal("path", str(path), "a name that ends in .png"))
    import_matplotlib()
    from hogeq.figures.shown import PngFigure

    figure = PngFigure(width, height)
    yield figure
    # Sizes are set one by one, since matplotlib's settings are shared by all threads.
    bars = [bar for axes in figure.axes for bar in axes.child_axes]
    for axes in (*figure.axes, *bars):
        axes.tick_params(labelsize=TICK_SIZE, width=0.6)
        axes.tick_params(which="minor", width=0.4)
        for text in (axes.title, axes.xaxis.label, axes.yaxis.label):
            text.set_fontsize(LABEL_SIZE)
        for spine in axes.spines.values():
            spine.set_linewidth(0.6)
    if path is not None:
        with replacing(path) as temporary:
            figure.write_png(temporary, dpi)


# --- maps -----------------------------------------------------------------------------------------


def draw_map(
    axes: "Axes",
    table: NDArray[Any],
    title: str = "",
    label: str = "",
    *,
    note: str = "",
    met: NDArray[Any] | None = None,
    **look: Any,
) -> "AxesImage":
    """Draw a table (G, G) over both scores, grey where the reach probability `met` is 0.

    With a `label` it has a colour bar. `note` stands below it; `look` are matplotlib's options.
    """
    from matplotlib.colors import ListedColormap
    from matplotlib.ticker import MaxNLocator

    layout: dict[str, Any] = {"origin": "lower", "interpolation": "nearest"}
    image = axes.imshow(table, **layout, **look)
    if met is not None:
        unreached = np.where(met > 0.0, np.nan, 0.0)  # nothing is drawn where it is NaN
        axes.imshow(unreached, cmap=ListedColormap([UNREACHED]), **layout)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(6, integer=True, steps=[1, 2, 5, 10]))
    axes.set_xlabel(f"opponent score (points)\n{note}" if note else "opponent score (points)")
    axes.set_ylabel("own score (points)")
    axes.set_title(wrapped(title))
    if label:
        add_colour_bar(axes, image, label)
    return image


def add_colour_bar(axes: "Axes", image: "AxesImage", label: str) -> None:
    """Add a colour bar right of a map; the norm of its colours tells which ticks it needs."""
    from matplotlib.colors import BoundaryNorm, FuncNorm, LogNorm
    from matplotlib.ticker import MaxNLocator

    # Inside the axes' own frame of reference it is as tall as the map, whatever its shape.
    within = axes.inset_axes((1.05, 0.0, 0.05, 1.0))
    bar = axes.figure.colorbar(image, cax=within, label=label)
    bar.ax.tick_params(which="both", length=0)
    low, high = image.get_clim()
    if isinstance(image.norm, BoundaryNorm):  # of `of_dice`: a colour for each choice
        first, last = image.norm.boundaries[[0, -1]] + 0.5
        step = math.ceil((last - first) / 12)
        bar.set_ticks(np.arange(first, last, step).tolist())
    elif isinstance(image.norm, FuncNorm):  # of `of_loss`: powers of ten on a cubic scale
        powers = [power for power in 10.0 ** np.arange(-9, 3) if high / 500 < power <= high]
        gains = [-power for power in powers if -power >= low]
        ticks = [*gains, 0.0, *powers]
        bar.set_ticks(ticks, labels=[f"{tick:.9f}".rstrip("0").rstrip(".") for tick in ticks])
    elif not isinstance(image.norm, LogNorm) and high - low > 1.0:  # differences of dice
        bar.locator = MaxNLocator(8, integer=True)
        bar.update_ticks()


def of_dice(rolls: int, least: int = 0) -> dict[str, Any]:
    """Options of a map with a colour for each of so many choices, from `least` on: 0 or -1."""
    import_matplotlib()
    import matplotlib as mpl
    from matplotlib.colors import BoundaryNorm, ListedColormap

    has_minus_one = least == -1
    num_dice = rolls - 1 if has_minus_one else rolls
    colours = [*mpl.colormaps["viridis"](np.linspace(0.0, 1.0, num_dice))]
    if has_minus_one:
        colours = [MINUS_ONE, *colours]
    boundaries = np.arange(rolls + 1) + least - 0.5  # each choice lies between two
    return {"cmap": ListedColormap(colours), "norm": BoundaryNorm(boundaries, rolls)}


def of_loss(table: NDArray[Any]) -> dict[str, Any]:
    """Options of a map of losses, coloured by their cube root (`LOSS`); negative ones are gains."""
    import_matplotlib()
    from matplotlib.colors import FuncNorm, LinearSegmentedColormap

    largest = float(np.abs(table).max()) or 1.0  # any scale will do where nothing is lost
    colours = list(LOSS)
    least = 0.0
    if (table < 0.0).any():
        colours = [BOUND, *colours]
        least = -largest
    norm = FuncNorm((np.cbrt, lambda root: root**3), least, largest)
    return {"cmap": LinearSegmentedColormap.from_list("loss", colours), "norm": norm}


def label_outer(panels: NDArray[Any], shown: int) -> None:
    """Leave labels at the outer maps alone, and hide the panels after the first `shown`."""
    columns = panels.shape[1]
    for number, axes in enumerate(panels.flat):
        axes.set_visible(number < shown)
        if number % columns:  # not the leftmost
            axes.set_ylabel("")
        if number < shown - columns:  # another one lies below
            axes.set_xlabel("")


# --- logarithmic axes -----------------------------------------------------------------------------


def number_log_axis(axis: "Axis", values: NDArray[Any], decades: float) -> None:
    """Give an axis a logarithmic scale for values from 0, with ticks in plain digits.

    At most so many decades have ticks at 2 and 5 times powers of ten, too. Zeros lie at the lower
    end: there the scale is linear up to the least of the others. No value lies off the axis, not
    even one that matplotlib leaves out of its limits, as results right of the curves.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, SymmetricalLogLocator

    def plain(value: float, _position: int | None = None) -> str:
        return f"{value:.10f}".rstrip("0").rstrip(".") if value < 1 else f"{value:g}"

    positive = values[np.isfinite(values) & (values > EXACT)]
    least = positive.min(initial=1.0)
    largest = positive.max(initial=1e-3)
    digits = (1.0,) if np.log10(largest / least) > decades else (1.0, 2.0, 5.0)
    name = "x" if axis is axis.axes.xaxis else "y"
    set_scale = getattr(axis.axes, f"set_{name}scale")
    set_limits = getattr(axis.axes, f"set_{name}lim")
    if (values <= EXACT).any():
        set_scale("symlog", linthresh=least, linscale=0.5)
        high = max(axis.get_view_interval())
        set_limits(0.0, positive.max(initial=high) if positive.size else least)
        axis.set_major_locator(SymmetricalLogLocator(base=10.0, linthresh=least, subs=digits))
        upper_end = max(axis.get_view_interval())
        ticks = [0.0, *(tick for tick in axis.get_majorticklocs() if least <= tick <= upper_end)]
        axis.set_ticks(ticks, labels=list(map(plain, ticks)))
    else:
        set_scale("log")
        low, high = axis.get_view_interval()
        set_limits(positive.min(initial=low), positive.max(initial=high))
        axis.set_major_locator(LogLocator(subs=digits))
        axis.set_major_formatter(FuncFormatter(plain))
    axis.set_minor_formatter(NullFormatter())


# --- arrays and texts -----------------------------------------------------------------------------


def as_table(array: ArrayLike, name: str, shape: str = "(G, G)") -> NDArray[Any]:
    """Check that an array has a shape, (G, G) or (G, G, K), and holds finite numbers alone."""
    table = as_array(array, name, shape)
    num_axes = len(shape.split(","))
    is_square = len(set(table.shape[:2])) <= 1
    if table.ndim != num_axes or not is_square or not table.size:
        raise HogeqError(f"{name}: shape is {table.shape}; allowed: {shape}")
    if table.dtype.kind not in "biuf":
        raise HogeqError(f"{name}: holds {table.dtype} values; allowed: numbers")
    bad_cells = np.argwhere(~np.isfinite(table)).tolist()
    if bad_cells:
        where = ", ".join(map(str, bad_cells[0]))
        value = table[tuple(bad_cells[0])]
        raise HogeqError(f"{name}: cell ({where}) is {value}; allowed: numbers")
    return table


def reach_beside(name: str, table: NDArray[Any], reach: ArrayLike | None) -> NDArray[Any] | None:
    """Check a table of reach probabilities beside a matrix or a policy."""
    if reach is None:
        return None
    met = as_table(reach, "reach")
    if met.shape != table.shape[:2]:
        raise HogeqError(f"{name}: shapes are {table.shape} and {met.shape}; allowed: the same G")
    return met


def check_rolls(table: NDArray[Any], rolls: int, name: str, least: int = 0) -> None:
    """Check that a table holds so many choices from the least on."""
    if table.min() < least or table.max() >= rolls + least:
        raise HogeqError(f"{name}: holds a roll outside {least}..{rolls + least - 1}")


def choices_of(given: ArrayLike, actions: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """Choices by position of actions (G, G), and the least choice: -1 of a `Strategy` with it."""
    if not isinstance(given, Strategy) or given.least == 0:
        return actions, 0
    last_action = given.shape[-1] - 1
    return np.where(actions == last_action, given.least, actions), given.least


def wrapped(title: str) -> str:
    """Break a title that is wider than the figure; names in it are no formulas."""
    return literal("\n".join(textwrap.wrap(title, WIDEST)))


def shortened(name: str) -> str:
    """Keep the end of a long name, which of paths says most; it is no formula."""
    return literal(name if len(name) <= _LONGEST_NAME else "..." + name[3 - _LONGEST_NAME :])


def literal(text: str) -> str:
    """Escape dollar signs, between which matplotlib takes text for a formula."""
    return text.replace("$", r"\$")
