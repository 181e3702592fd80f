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
# (2008), which people with any colour vision can tell apart. Line styles and markers differ too,
# for print without colour.
ATTACK: Final = "#D55E00"
BOUND: Final = "#0072B2"
PURIFIED: Final = "#009E73"
MIXED: Final = "#CC79A7"

MINUS_ONE: Final = MIXED  # the choice -1, which is no number of dice
LABEL_SIZE: Final = 8
TICK_SIZE: Final = 7
LINE_WIDTH: Final = 1.2
MARKER_SIZE: Final = 3.5
MAX_LINE_LENGTH: Final = 44  # characters of a line of a title
PANEL: Final = 2.0  # width of a map among several, in inches
MAX_NAMES: Final = 40  # names along an axis that can still be read

UNREACHED: Final = "#d9d9d9"  # colour of positions that play never reaches

LOSS: Final = "#f3f4f5", "#a51923"
"""Colours of a loss, from none to the most, on every picture and page, by its cube root: a
thousandth of the most is still seen. A gain beside losses is blue. Where play never comes, it is
grey. Dark pages begin with their own paper; `LOSS` of pages/grid.js has both."""

MIN_PROBABILITY: Final = 1e-4  # smaller positive probabilities are drawn as this one
_MAX_NAME_LENGTH: Final = 24  # characters of a name along an axis


@contextmanager
def new_figure(
    path: str | Path | None, height: float, width: float = WIDTH, dpi: int = 300
) -> Iterator["Figure"]:
    """Give a figure to draw in a block, then set its sizes, and write it as PNG if it has a path.

    `height` and `width` are in inches. If the block fails, an existing file stays as it was.
    """
    if path is not None and Path(path).suffix.lower() != ".png":
        raise HogeqError(refusal("path", str(path), "a name that ends in .png"))
    import_matplotlib()
    from hogeq.figures.shown import PngFigure

    figure = PngFigure(width, height)
    yield figure
    # Sizes are set here one by one: matplotlib's global settings would change other threads' too.
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
    reach: NDArray[Any] | None = None,
    **look: Any,
) -> "AxesImage":
    """Draw a table (G, G) over both scores as a map of colours.

    It is grey where the reach probability `reach` (G, G) is 0. With a `label` it has a colour bar.
    `note` stands below it, and `look` are options of matplotlib's ``imshow``.
    """
    from matplotlib.colors import ListedColormap
    from matplotlib.ticker import MaxNLocator

    layout: dict[str, Any] = {"origin": "lower", "interpolation": "nearest"}
    image = axes.imshow(table, **layout, **look)
    if reach is not None:
        unreached = np.where(reach > 0.0, np.nan, 0.0)  # NaN is transparent
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
    """Add a colour bar right of a map, with ticks that fit the norm of the map's colours."""
    from matplotlib.colors import BoundaryNorm, FuncNorm, LogNorm
    from matplotlib.ticker import MaxNLocator

    # In the coordinates of the map's axes its height is 1, so that it is as tall as the map.
    bar_axes = axes.inset_axes((1.05, 0.0, 0.05, 1.0))
    bar = axes.figure.colorbar(image, cax=bar_axes, label=label)
    bar.ax.tick_params(which="both", length=0)
    low, high = image.get_clim()
    if isinstance(image.norm, BoundaryNorm):  # of `dice_colours`: a colour for each choice
        first, last = image.norm.boundaries[[0, -1]] + 0.5  # boundaries lie between choices
        step = math.ceil((last - first) / 12)
        bar.set_ticks(np.arange(first, last, step).tolist())
    elif isinstance(image.norm, FuncNorm):  # of `loss_colours`: powers of ten on a cubic scale
        powers = [power for power in 10.0 ** np.arange(-9, 3) if high / 500 < power <= high]
        gains = [-power for power in powers if -power >= low]
        ticks = [*gains, 0.0, *powers]
        bar.set_ticks(ticks, labels=[f"{tick:.9f}".rstrip("0").rstrip(".") for tick in ticks])
    elif not isinstance(image.norm, LogNorm) and high - low > 1.0:  # differences of dice
        bar.locator = MaxNLocator(8, integer=True)
        bar.update_ticks()


def dice_colours(rolls: int, least: int = 0) -> dict[str, Any]:
    """Options of a map of choices, with a colour for each: colour map and norm.

    There are `rolls` choices, the whole numbers from `least` on, which is 0 or -1.
    """
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


def loss_colours(table: NDArray[Any]) -> dict[str, Any]:
    """Options of a map of losses, coloured by their cube root: colour map and norm.

    Colours are those of `LOSS`; negative losses, which are gains, are blue.
    """
    import_matplotlib()
    from matplotlib.colors import FuncNorm, LinearSegmentedColormap

    largest = float(np.abs(table).max()) or 1.0  # if nothing is lost, any positive number will do
    colours = list(LOSS)
    least = 0.0
    if (table < 0.0).any():
        colours = [BOUND, *colours]
        least = -largest
    norm = FuncNorm((np.cbrt, lambda root: root**3), least, largest)
    return {"cmap": LinearSegmentedColormap.from_list("loss", colours), "norm": norm}


def label_outer(panels: NDArray[Any], shown: int) -> None:
    """Remove labels of inner maps of a grid of panels, and hide all after the first `shown`."""
    columns = panels.shape[1]
    for number, axes in enumerate(panels.flat):
        axes.set_visible(number < shown)
        if number % columns:  # not in the left column
            axes.set_ylabel("")
        if number < shown - columns:  # there is another map below
            axes.set_xlabel("")


# --- logarithmic axes -----------------------------------------------------------------------------


def number_log_axis(axis: "Axis", values: NDArray[Any], decades: float) -> None:
    """Give an axis a logarithmic scale for values from 0, with ticks in plain digits.

    Zeros are drawn at the lower end: the scale is linear from 0 to the least positive value. The
    limits contain all `values`, also those drawn with a shift, which matplotlib does not count.
    Ticks are at powers of ten, and if the values span at most `decades` powers of ten, also at 2
    and 5 times these.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, SymmetricalLogLocator

    positive = values[np.isfinite(values) & (values > EXACT)]
    least = positive.min(initial=1.0)
    largest = positive.max(initial=1e-3)
    digits = (1.0,) if np.log10(largest / least) > decades else (1.0, 2.0, 5.0)  # of the ticks
    name = "x" if axis is axis.axes.xaxis else "y"
    set_scale = getattr(axis.axes, f"set_{name}scale")
    set_limits = getattr(axis.axes, f"set_{name}lim")
    if (values <= EXACT).any():  # zeros, up to rounding
        set_scale("symlog", linthresh=least, linscale=0.5)
        high = max(axis.get_view_interval())
        set_limits(0.0, positive.max(initial=high) if positive.size else least)
        axis.set_major_locator(SymmetricalLogLocator(base=10.0, linthresh=least, subs=digits))
        upper_end = max(axis.get_view_interval())
        ticks = [0.0, *(tick for tick in axis.get_majorticklocs() if least <= tick <= upper_end)]
        axis.set_ticks(ticks, labels=list(map(_plain_number, ticks)))
    else:
        set_scale("log")
        low, high = axis.get_view_interval()
        set_limits(positive.min(initial=low), positive.max(initial=high))
        axis.set_major_locator(LogLocator(subs=digits))
        axis.set_major_formatter(FuncFormatter(_plain_number))
    axis.set_minor_formatter(NullFormatter())


def _plain_number(value: float, _position: int | None = None) -> str:
    """Write a number of an axis without an exponent; matplotlib passes the tick's position, too."""
    return f"{value:.10f}".rstrip("0").rstrip(".") if value < 1 else f"{value:g}"


# --- arrays and texts -----------------------------------------------------------------------------


def as_table(array: ArrayLike, name: str, shape: str = "(G, G)", hint: str = "") -> NDArray[Any]:
    """Validate an array of finite numbers with the shape "(G, G)" or "(G, G, K)", and return it.

    `hint` ends the refusal of an array that has one axis more or less: it names what draws that.
    """
    if isinstance(array, Strategy) and not array.has_scores:
        allowed = "strategies of Hog; figures.exploitability takes any game, as figures.policy does"
        raise HogeqError(f"{name}: has no scores; allowed: {allowed}")
    for attribute in ("strategy", "profile"):
        if isinstance(getattr(array, attribute, None), Strategy):  # a result
            allowed = f"its .{attribute}, or arrays"
            raise HogeqError(f"{name}: got {type(array).__name__}; allowed: {allowed}")
    table = as_array(array, name, shape)
    num_axes = len(shape.split(","))
    is_square = len(set(table.shape[:2])) <= 1
    if table.ndim != num_axes or not is_square or not table.size:
        is_other_kind = {table.ndim, num_axes} == {2, 3} and is_square
        allowed = f"{shape}; {hint}" if is_other_kind and hint else shape
        raise HogeqError(f"{name}: shape is {table.shape}; allowed: {allowed}")
    if table.dtype.kind not in "biuf":
        raise HogeqError(f"{name}: holds {table.dtype} values; allowed: numbers")
    bad_cells = np.argwhere(~np.isfinite(table)).tolist()
    if bad_cells:
        where = ", ".join(map(str, bad_cells[0]))
        value = table[tuple(bad_cells[0])]
        raise HogeqError(f"{name}: cell ({where}) is {value}; allowed: numbers")
    return table


def check_reach(name: str, table: NDArray[Any], reach: ArrayLike | None) -> NDArray[Any] | None:
    """Validate reach probabilities (G, G), if any, that belong to a matrix or policy `table`."""
    if reach is None:
        return None
    reach_table = as_table(reach, "reach")
    if reach_table.shape != table.shape[:2]:
        shapes = f"{table.shape} and {reach_table.shape}"
        raise HogeqError(f"{name}: shapes are {shapes}; allowed: the same G")
    return reach_table


def check_rolls(table: NDArray[Any], rolls: int, name: str, least: int = 0) -> None:
    """Check that all choices in a table are among the `rolls` whole numbers from `least` on."""
    if table.min() < least or table.max() >= rolls + least:
        raise HogeqError(f"{name}: holds a roll outside {least}..{rolls + least - 1}")


def choices_of(array: ArrayLike, actions: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """Turn actions (G, G) into choices, numbers of dice or -1; also give the least choice.

    An action is its number of dice, but in games with the choice -1 that is the last action. Only a
    `Strategy` knows of such a game; in other arrays the least choice is 0.
    """
    if not isinstance(array, Strategy) or array.least == 0:
        return actions, 0
    last_action = array.shape[-1] - 1
    return np.where(actions == last_action, array.least, actions), array.least


def wrapped(title: str) -> str:
    """Break a title into lines as wide as the figure, with dollar signs escaped."""
    return literal("\n".join(textwrap.wrap(title, MAX_LINE_LENGTH)))


def shortened(name: str) -> str:
    """Cut a long name to its end, the telling part of a path, with dollar signs escaped."""
    if len(name) > _MAX_NAME_LENGTH:
        name = "..." + name[3 - _MAX_NAME_LENGTH :]
    return literal(name)


def literal(text: str) -> str:
    """Escape dollar signs, between which matplotlib takes text for a formula."""
    return text.replace("$", r"\$")
