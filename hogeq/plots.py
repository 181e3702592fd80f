"""Figures for papers: exploitability against iterations, strategies as maps.

Each function draws one figure of a journal column's width and writes it as a PNG of 300 dots an
inch, whole or not at all. Matplotlib is imported only when something is drawn, and none of its
global state is used: figures can be drawn in any thread, and no settings of a caller change.
"""

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hogeq.results import Metrics, replacing

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
_OTHER: Final = "opponent score (points)"
_ROLL: Final = "dice to roll"

# Vermilion, blue and bluish green of Okabe and Ito, "Color universal design" (2008): told apart
# with any colour vision; line styles and markers say the same again for print without colour.
_ATTACK: Final = "#D55E00"
_BOUND: Final = "#0072B2"
_PURIFIED: Final = "#009E73"

_LABEL_SIZE: Final = 8
_TICK_SIZE: Final = 7
_LINE_WIDTH: Final = 1.2
_MARKER_SIZE: Final = 3.5
_NAMED: Final = 40  # entries of a field whose names can still be read
_LONGEST_NAME: Final = 24
_UNREACHED: Final = "#d9d9d9"  # positions that play cannot come to
_NEAR: Final = 0.06  # of the axes' width and height: numbers closer than this overlap
_ROUNDING: Final = 1e-9
_WIDEST: Final = 44  # characters of a line of a title
_RAREST: Final = 1e-4  # probability that is told apart from none, and from no smaller one


def exploitability(metrics: Sequence[Metrics], path: str | Path, title: str = "") -> None:
    """Draw the exploitability interval against the iterations, both axes logarithmic.

    Parameters
    ----------
    metrics : sequence of Metrics
        In the order of their iterations; at least one.
    path : str or Path
        The PNG to write.
    title : str
        Drawn above the axes.

    Raises
    ------
    ValueError
        There is nothing to draw.
    ResultsError
        The file cannot be written.
    """
    if not metrics:
        raise ValueError("exploitability: no metrics to draw; allowed: one line or more")
    iterations = np.array([row.iteration for row in metrics])
    attack, bound, purified = (
        _positive(np.array([getattr(row, name) for row in metrics]) - 0.5)
        for name in ("attack", "bound", "purified_attack")
    )

    def draw(figure: "Figure") -> None:
        axes = figure.add_subplot()
        axes.set_xscale("log")
        axes.set_yscale("log")
        between = "average policy, exploitability"
        axes.fill_between(iterations, attack, bound, color=_BOUND, alpha=0.15, lw=0, label=between)
        for values, colour, style, label in (
            (bound, _BOUND, "s--", "its upper bound, full memory"),
            (attack, _ATTACK, "o-", "its lower bound, attack found"),
            (purified, _PURIFIED, "^:", "purified, attack found"),
        ):
            axes.plot(
                iterations,
                values,
                style,
                color=colour,
                label=label,
                lw=_LINE_WIDTH,
                ms=_MARKER_SIZE,
            )
        axes.set_xlabel("iterations")
        axes.set_ylabel("exploitability (win rate $-$ 1/2)")
        axes.set_title(_lines(title))
        _number_log_axes(axes, iterations, np.concatenate([attack, bound, purified]))
        # One checkpoint alone would get an axis from 0.1 iterations.
        axes.set_xlim(iterations[0] / 1.2, iterations[-1] * 1.2)
        axes.grid(which="major", linewidth=0.4, alpha=0.5)
        axes.grid(which="minor", linewidth=0.25, alpha=0.25)
        axes.set_axisbelow(True)
        # Below the axes, where no curve can be.
        figure.legend(loc="outside lower center", ncols=1, frameon=False, fontsize=_TICK_SIZE)

    _write(path, 2.9, draw)


def matrix(array: ArrayLike, path: str | Path, title: str = "", rolls: int | None = None) -> None:
    """Draw a matrix: a colour for every number of dice.

    Parameters
    ----------
    array : array_like of int, shape (G, G)
        Row = own score.
    path : str or Path
        The PNG to write.
    title : str
        Drawn above the map.
    rolls : int, optional
        Number of rolls to choose from, K; by default as many as `array` needs, at least 11.

    Raises
    ------
    ValueError
        `array` is not such a table.
    ResultsError
        The file cannot be written.
    """
    table = _table(array, "matrix")
    needed = int(table.max()) + 1
    rolls = max(needed, 11) if rolls is None else rolls
    if table.min() < 0 or needed > rolls:
        raise ValueError(f"matrix: holds a roll outside 0..{rolls - 1}")

    def draw(figure: "Figure") -> None:
        _draw_rolls(figure, figure.add_subplot(), table, rolls, title)

    _write(path, 2.9, draw)


def policy(array: ArrayLike, path: str | Path, title: str = "") -> None:
    """Draw a policy: the most probable roll of every position, and below it, its probability.

    Parameters
    ----------
    array : array_like of float, shape (G, G, K)
        Probabilities of the rolls; row = own score.
    path : str or Path
        The PNG to write.
    title : str
        Drawn above the maps.

    Raises
    ------
    ValueError
        `array` has another shape.
    ResultsError
        The file cannot be written.
    """
    table = np.asarray(array, dtype=np.float64)
    if table.ndim != 3 or table.shape[0] != table.shape[1] or not table.size:
        raise ValueError(f"policy: shape is {table.shape}; allowed: (G, G, K)")

    def draw(figure: "Figure") -> None:
        above, below = figure.subplots(2, 1, sharex=True)
        _draw_rolls(figure, above, table.argmax(axis=2), table.shape[2], title)
        above.set_xlabel("")
        _draw_values(
            figure, below, table.max(axis=2), "probability of that roll", "cividis", (0.0, 1.0)
        )

    _write(path, 5.4, draw)


def difference(
    first: ArrayLike,
    second: ArrayLike,
    path: str | Path,
    title: str = "",
    names: tuple[str, str] = ("A", "B"),
) -> None:
    """Draw where two strategies differ: dice rolled by the first less dice rolled by the second.

    Parameters
    ----------
    first, second : array_like, shape (G, G) or (G, G, K)
        Matrices or policies; of a policy the expected number of dice is taken.
    path : str or Path
        The PNG to write.
    title : str
        Drawn above the map.
    names : tuple of str
        What to call the two.

    Raises
    ------
    ValueError
        The shapes do not fit.
    ResultsError
        The file cannot be written.
    """
    one, two = _dice(first, "first"), _dice(second, "second")
    if one.shape != two.shape:
        raise ValueError(f"difference: shapes are {one.shape} and {two.shape}; allowed: the same")
    gap = one - two
    reach = max(1, math.ceil(np.abs(gap).max()))
    more, less = (_shortened(name) for name in names)
    label = f"dice of {more} less dice of {less}"
    if len(label) > _WIDEST:
        label = f"dice of {more}\nless dice of {less}"

    def draw(figure: "Figure") -> None:
        # Blue to red through near-white: no difference leaves no ink.
        _draw_values(figure, figure.add_subplot(), gap, label, "RdBu_r", (-reach, reach), title)

    _write(path, 2.9, draw)


def counter(
    gap: ArrayLike,
    gains: ArrayLike,
    reach: ArrayLike,
    path: str | Path,
    title: str = "",
    names: tuple[str, str] = ("counter", "rival"),
) -> None:
    """Draw where a counter-matrix leaves its rival's rolls, and below, what each cell gains.

    Parameters
    ----------
    gap : array_like of int, shape (G, G)
        Dice of the counter-matrix less those of the rival; row = own score.
    gains : array_like of float, shape (G, G)
        Win rate gained by each cell.
    reach : array_like of float, shape (G, G)
        Probability of coming to move there; cells that are never reached are drawn grey.
    path : str or Path
        The PNG to write.
    title : str
        Drawn above the maps.
    names : tuple of str
        What to call the counter-matrix and its rival.

    Raises
    ------
    ValueError
        The shapes do not fit.
    ResultsError
        The file cannot be written.
    """
    dice, won, met = (
        _table(array, name) for array, name in ((gap, "gap"), (gains, "gains"), (reach, "reach"))
    )
    if not dice.shape == won.shape == met.shape:
        raise ValueError(f"counter: shapes are {dice.shape}, {won.shape}, {met.shape}")
    most = max(1, int(np.abs(dice).max()))
    highest = float(won.max())

    def draw(figure: "Figure") -> None:
        from matplotlib.colors import LogNorm

        above, below = figure.subplots(2, 1, sharex=True)
        shown = np.where(met > 0.0, dice, np.nan)
        label = f"dice of {_shortened(names[0])} less {_shortened(names[1])}"
        _draw_values(figure, above, shown, label, "RdBu_r", (-most, most), title)
        above.set_xlabel("")
        above.set_facecolor(_UNREACHED)
        # Any scale will do where nothing is gained.
        least, most_won = (highest * _RAREST, highest) if highest > 0.0 else (_RAREST, 1.0)
        image = below.imshow(
            np.where(won > 0.0, np.maximum(won, least), np.nan),
            cmap="viridis_r",
            norm=LogNorm(least, most_won),
            origin="lower",
            interpolation="nearest",
            extent=_extent(won),
        )
        # What is not reached is grey; what stays white gains nothing.
        below.imshow(
            np.where(met > 0.0, np.nan, 0.0),
            cmap=_plain(_UNREACHED),
            origin="lower",
            interpolation="nearest",
            extent=_extent(won),
        )
        _bar(figure, below, image, f"win rate gained (below {least:.0e}: as that)")
        _finish_map(below, "")
        below.set_xlabel(f"{_OTHER}\ngrey: never reached; white: no gain")

    _write(path, 5.4, draw)


def intervals(
    labels: Sequence[str],
    attacks: Sequence[Sequence[float]],
    bounds: Sequence[Sequence[float]],
    path: str | Path,
    title: str = "",
) -> None:
    """Draw the exploitability interval of many settings, a line each, on a logarithmic axis.

    Parameters
    ----------
    labels : sequence of str
        Written left of the lines, the first on top. Of more than `_NAMED` settings, those with the
        lowest attacks are drawn.
    attacks, bounds : sequence of sequence of float
        Win rates of each setting's runs, one for every seed: attack found, full-memory bound. What
        is not above 1/2 is no exploitability and is drawn at the axis' left end.
    path : str or Path
        The PNG to write.
    title : str
        Drawn above the axes.

    Raises
    ------
    ValueError
        There is nothing to draw, or the lengths differ.
    ResultsError
        The file cannot be written.
    """
    if not labels or not len(labels) == len(attacks) == len(bounds):
        raise ValueError(
            f"intervals: {len(labels)} labels, {len(attacks)} attacks, {len(bounds)} bounds; "
            "allowed: as many of each, one or more"
        )
    order = np.argsort([min(row) for row in attacks], kind="stable")[:_NAMED]
    shown = sorted(order.tolist())
    if len(shown) < len(labels):
        title = f"{title}, the best {len(shown)} of {len(labels)}"
    found = np.concatenate([np.asarray(bounds[row]) for row in shown])
    found = np.concatenate([found, *(np.asarray(attacks[row]) for row in shown)]) - 0.5
    least = min(found[found > _ROUNDING], default=1e-3) / 1.5

    def draw(figure: "Figure") -> None:
        axes = figure.add_subplot()
        axes.set_xscale("log")
        for line, row in enumerate(shown):
            low, high = (
                np.maximum(np.asarray(part[row]) - 0.5, least) for part in (attacks, bounds)
            )
            axes.hlines(
                [line] * len(low), low, high, color=_BOUND, alpha=0.3 / len(low) + 0.1, lw=4.0
            )
            for values, colour, mark, label in (
                (low, _ATTACK, "o", "attack found: lower bound"),
                (high, _BOUND, "s", "full memory: upper bound"),
            ):
                axes.plot(
                    values,
                    [line] * len(values),
                    mark,
                    color=colour,
                    mfc="none",
                    ms=_MARKER_SIZE,
                    label=label if not line else None,
                )
        axes.set_yticks(range(len(shown)), [_shortened(labels[row]) for row in shown])
        axes.set_ylim(len(shown) - 0.5, -0.5)
        axes.set_xlabel("exploitability (win rate $-$ 1/2)")
        axes.set_title(_lines(title))
        axes.grid(axis="x", which="both", linewidth=0.4, alpha=0.5)
        axes.set_axisbelow(True)
        figure.legend(loc="outside lower center", ncols=1, frameon=False, fontsize=_TICK_SIZE)

    _write(path, 1.5 + 0.16 * len(shown), draw)


def tradeoff(
    shares: Sequence[float],
    attacks: Sequence[float],
    won: Sequence[float],
    path: str | Path,
    title: str = "",
    label: str = "mean win rate against the field",
    cap: float | None = None,
) -> None:
    """Draw what winning from a field costs in safety: a point for every share of free opponents.

    Parameters
    ----------
    shares : sequence of float
        Written beside the points, where they leave each other room.
    attacks : sequence of float
        Win rate of the strongest counter-matrix found.
    won : sequence of float
        What is won from the field.
    path : str or Path
        The PNG to write.
    title : str
        Drawn above the axes.
    label : str
        What is won, with its unit.
    cap : float, optional
        Drawn as a line: the attack that is allowed.

    Raises
    ------
    ValueError
        There is nothing to draw, or the lengths differ.
    ResultsError
        The file cannot be written.
    """
    if not len(shares) or not len(shares) == len(attacks) == len(won):
        raise ValueError(
            f"tradeoff: {len(shares)} shares, {len(attacks)} attacks, {len(won)} results; "
            "allowed: as many of each, one or more"
        )

    def draw(figure: "Figure") -> None:
        axes = figure.add_subplot()
        numbered = "numbers: share of opponents free to exploit"
        axes.plot(attacks, won, "o-", color=_BOUND, lw=_LINE_WIDTH, ms=_MARKER_SIZE, label=numbered)
        figure.legend(loc="outside lower center", frameon=False, fontsize=_TICK_SIZE)
        if cap is not None:
            axes.axvline(cap, color=_ATTACK, ls="--", lw=_LINE_WIDTH)
            axes.annotate(
                "cap",
                (cap, 1.0),
                (2, -8),
                xycoords=("data", "axes fraction"),
                textcoords="offset points",
                fontsize=_TICK_SIZE,
                color=_ATTACK,
            )
        for share, attack, height in _apart(shares, attacks, won):
            axes.annotate(
                f"{share:.2g}",
                (attack, height),
                (4, -8),
                textcoords="offset points",
                fontsize=_TICK_SIZE,
            )
        axes.margins(0.08)
        axes.set_xlabel("attack found (win rate against it)")
        axes.set_ylabel(label)
        axes.set_title(_lines(title))
        axes.grid(linewidth=0.4, alpha=0.5)
        axes.set_axisbelow(True)

    _write(path, 2.9, draw)


def values(
    array: ArrayLike,
    path: str | Path,
    title: str = "",
    label: str = "win probability of the player to move",
) -> None:
    """Draw a number for every position, of the player to move.

    Parameters
    ----------
    array : array_like of float, shape (G, G)
        Row = own score. NaN is left white: a position that play cannot reach.
    path : str or Path
        The PNG to write.
    title : str
        Drawn above the map.
    label : str
        What the numbers are, with their unit.

    Raises
    ------
    ValueError
        `array` is not square.
    ResultsError
        The file cannot be written.
    """
    table = _table(array, "values").astype(np.float64)
    known = table[np.isfinite(table)]
    # Probabilities may miss their range by rounding.
    inside = known.size == 0 or (known.min() >= -_ROUNDING and known.max() <= 1.0 + _ROUNDING)
    limits = (0.0, 1.0) if inside else (float(known.min()), float(known.max()))

    def draw(figure: "Figure") -> None:
        axes = figure.add_subplot()
        _draw_values(figure, axes, table, label, "cividis", limits, title)
        if known.size < table.size:
            axes.set_xlabel(f"{_OTHER}\nwhite: never reached")

    _write(path, 2.9, draw)


def distributions(
    kinds: Mapping[str, Sequence[Mapping[int, float]]], path: str | Path, title: str = ""
) -> None:
    """Draw the distribution of the points of every roll.

    Parameters
    ----------
    kinds : mapping of str to sequence of mappings
        By kind of dice: probabilities by points, of 1 die, of 2 dice, and so on.
    path : str or Path
        The PNG to write.
    title : str
        Drawn above the axes.

    Raises
    ------
    ValueError
        There is nothing to draw.
    ResultsError
        The file cannot be written.
    """
    most = max((len(rolls) for rolls in kinds.values()), default=0)
    if not most or any(not roll for rolls in kinds.values() for roll in rolls):
        raise ValueError("distributions: nothing to draw; allowed: one roll or more of each kind")

    def draw(figure: "Figure") -> None:
        from matplotlib.colors import LogNorm
        from matplotlib.ticker import MaxNLocator

        panels = figure.subplots(len(kinds), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        highest = max(max(roll) for rolls in kinds.values() for roll in rolls)
        for axes, (kind, rolls) in zip(panels, kinds.items(), strict=True):
            chances = np.zeros((most, highest + 1))
            for row, roll in zip(chances, rolls, strict=False):
                row[list(roll)] = list(roll.values())
            image = axes.imshow(
                np.where(chances > 0.0, np.maximum(chances, _RAREST), np.nan),  # blank: impossible
                cmap="viridis_r",
                norm=LogNorm(_RAREST, 1.0),
                origin="lower",
                interpolation="nearest",
                aspect="auto",
                extent=(-0.5, highest + 0.5, 0.5, most + 0.5),
            )
            axes.set_ylabel("dice rolled")
            axes.set_title(_lines(f"{title}, {kind}" if title else kind))
            axes.yaxis.set_major_locator(MaxNLocator(10, integer=True))
        panels[-1].set_xlabel("points scored by the roll")
        panels[-1].xaxis.set_major_locator(MaxNLocator(8, integer=True, steps=[1, 2, 5, 10]))
        label = f"probability (below {_RAREST:g}: as {_RAREST:g})"
        bar = figure.colorbar(image, ax=panels.tolist(), label=label)
        bar.ax.tick_params(labelsize=_TICK_SIZE)
        bar.ax.yaxis.label.set_fontsize(_LABEL_SIZE)

    _write(path, 0.6 + 1.7 * len(kinds), draw)


def beliefs(
    panels: Mapping[str, ArrayLike],
    path: str | Path,
    rows: tuple[str, Sequence[str]],
    columns: tuple[str, Sequence[str]],
    title: str = "",
) -> None:
    """Draw distributions of the hidden memory beside each other, on one scale of colours.

    Parameters
    ----------
    panels : mapping of str to array_like, shape (m, n)
        Probabilities, by what to write above them.
    path : str or Path
        The PNG to write.
    rows, columns : (str, sequence of str)
        What the two parts of the memory are, and the names of their m and n values.
    title : str
        Drawn above the first panel.

    Raises
    ------
    ValueError
        There is nothing to draw, or a shape does not fit the names.
    ResultsError
        The file cannot be written.
    """
    shape = len(rows[1]), len(columns[1])
    tables = {name: np.asarray(array, np.float64) for name, array in panels.items()}
    for name, shares in tables.items():
        if shares.shape != shape:
            raise ValueError(f"beliefs: {name} has shape {shares.shape}; allowed: {shape}")
    if not tables or 0 in shape:
        raise ValueError("beliefs: nothing to draw; allowed: one panel or more")

    def draw(figure: "Figure") -> None:
        from matplotlib.colors import LogNorm

        norm = LogNorm(_RAREST, 1.0)
        for axes, (name, shares) in zip(
            figure.subplots(len(tables), 1, sharex=True, squeeze=False)[:, 0],
            tables.items(),
            strict=True,
        ):
            image = axes.imshow(
                np.where(shares > 0.0, np.maximum(shares, _RAREST), np.nan),  # blank: impossible
                cmap="viridis_r",
                norm=norm,
                origin="lower",
                interpolation="nearest",
                aspect="auto",
            )
            for axis, names in ((axes.yaxis, rows[1]), (axes.xaxis, columns[1])):
                # The last is labelled, and of the others as many as there is room for.
                step = math.ceil(len(names) / 8)
                places = [*range(0, len(names) - step, step), len(names) - 1]
                axis.set_ticks(places, [names[place] for place in places])
            axes.set_ylabel(rows[0])
            axes.set_title(f"{title}\n{name}" if title and axes is figure.axes[0] else name)
        figure.axes[-1].set_xlabel(columns[0])
        label = f"probability (below {_RAREST:g}: as {_RAREST:g})"
        bar = figure.colorbar(image, ax=list(figure.axes), label=label)
        bar.ax.tick_params(labelsize=_TICK_SIZE)
        bar.ax.yaxis.label.set_fontsize(_LABEL_SIZE)

    _write(path, 0.8 + 2.2 * len(tables), draw)


def win_rates(array: ArrayLike, names: Sequence[str], path: str | Path, title: str = "") -> None:
    """Draw the win rates of a field, entries that fare alike side by side.

    Rows and columns are in the order of a hierarchical clustering of the rows: average linkage on
    Euclidean distances, leaves ordered so that neighbours are as close as can be.

    Parameters
    ----------
    array : array_like of float, shape (n, n)
        Win rate of row against column; at least two entries.
    names : sequence of str, length n
    path : str or Path
        The PNG to write.
    title : str
        Drawn above the map.

    Raises
    ------
    ValueError
        `array` is no such table, or the names are not as many.
    ResultsError
        The file cannot be written.
    """
    table = _table(array, "win rates").astype(np.float64)
    if len(names) != len(table) or len(table) < 2 or not np.isfinite(table).all():
        raise ValueError(
            f"win rates: {len(names)} names, shape {table.shape}; allowed: n names, numbers (n, n)"
        )

    def draw(figure: "Figure") -> None:
        from scipy.cluster.hierarchy import dendrogram, linkage

        tree = linkage(table, "average", optimal_ordering=True)
        order = dendrogram(tree, no_plot=True)["leaves"]
        axes = figure.add_subplot()
        reach = max(0.01, float(np.abs(table - 0.5).max()))
        image = axes.imshow(
            table[np.ix_(order, order)],
            cmap="RdBu",
            vmin=0.5 - reach,
            vmax=0.5 + reach,
            interpolation="nearest",
        )
        _bar(figure, axes, image, "win rate of row against column")
        axes.set_title(_lines(title))
        axes.set_xlabel("opponent")
        axes.set_ylabel("strategy")
        if len(names) > _NAMED:
            axes.set_xticks([])
            axes.set_yticks([])
            return
        labels = [_shortened(names[entry]) for entry in order]
        places = range(len(labels))
        for axis, turn in ((axes.xaxis, 90), (axes.yaxis, 0)):
            axis.set_ticks(places, labels, rotation=turn)
            for text in axis.get_ticklabels():
                text.set_parse_math(False)

    _write(path, 3.2, draw)


# --- parts of figures --------------------------------------------------------------------------


def _write(path: str | Path, height: float, draw: Callable[["Figure"], None]) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    FigureCanvasAgg(figure)
    draw(figure)
    # Sizes are set one by one, since matplotlib's settings are shared by all threads.
    bars = [bar for axes in figure.axes for bar in axes.child_axes]
    for axes in (*figure.axes, *bars):
        axes.tick_params(labelsize=_TICK_SIZE, width=0.6)
        axes.tick_params(which="minor", width=0.4)
        for text in (axes.title, axes.xaxis.label, axes.yaxis.label):
            text.set_fontsize(_LABEL_SIZE)
        for spine in axes.spines.values():
            spine.set_linewidth(0.6)
    with replacing(path) as temporary:
        # No date, no version: the same numbers give the same bytes.
        figure.savefig(temporary, format="png", dpi=DPI, metadata={"Software": None})


def _draw_rolls(
    figure: "Figure", axes: "Axes", table: NDArray[Any], rolls: int, title: str
) -> None:
    import matplotlib as mpl
    from matplotlib.colors import BoundaryNorm, ListedColormap

    colours = ListedColormap(mpl.colormaps["viridis"](np.linspace(0.0, 1.0, rolls)))
    image = axes.imshow(
        table,
        cmap=colours,
        norm=BoundaryNorm(np.arange(rolls + 1) - 0.5, rolls),
        origin="lower",
        interpolation="nearest",
        extent=_extent(table),
    )
    bar = _bar(figure, axes, image, _ROLL)
    bar.set_ticks(np.arange(0, rolls, math.ceil(rolls / 12)).tolist())
    _finish_map(axes, title)


def _draw_values(
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
        extent=_extent(table),
    )
    bar = _bar(figure, axes, image, label)
    if limits[1] - limits[0] > 1.0:  # dice; else probabilities
        bar.locator = MaxNLocator(8, integer=True)
        bar.update_ticks()
    _finish_map(axes, title)


def _plain(colour: str) -> "ListedColormap":
    from matplotlib.colors import ListedColormap

    return ListedColormap([colour])


def _apart(
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


def _bar(figure: "Figure", axes: "Axes", image: "AxesImage", label: str) -> "Colorbar":
    # Inside the axes' own frame of reference it is as tall as the map, whatever its shape.
    bar = figure.colorbar(image, cax=axes.inset_axes((1.05, 0.0, 0.05, 1.0)), label=label)
    bar.ax.tick_params(which="both", length=0)
    return bar


def _finish_map(axes: "Axes", title: str) -> None:
    from matplotlib.ticker import MaxNLocator

    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(6, integer=True, steps=[1, 2, 5, 10]))
    axes.set_xlabel(_OTHER)
    axes.set_ylabel(_OWN)
    axes.set_title(_lines(title))


def _number_log_axes(axes: "Axes", iterations: NDArray[Any], shown: NDArray[Any]) -> None:
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


def _extent(table: NDArray[Any]) -> tuple[float, float, float, float]:
    rows, columns = table.shape
    return (-0.5, columns - 0.5, -0.5, rows - 0.5)


def _positive(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Leave out what a logarithmic axis cannot show."""
    return np.where(values > 0.0, values, np.nan)


def _table(array: ArrayLike, name: str) -> NDArray[Any]:
    table = np.asarray(array)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or not table.size:
        raise ValueError(f"{name}: shape is {table.shape}; allowed: (G, G)")
    return table


def _dice(array: ArrayLike, name: str) -> NDArray[np.float64]:
    table = np.asarray(array, dtype=np.float64)
    if table.ndim == 3:
        table = table @ np.arange(table.shape[2])
    return _table(table, name)


def _lines(title: str) -> str:
    """Break a title that is wider than the figure."""
    return "\n".join(textwrap.wrap(title, _WIDEST))


def _shortened(name: str) -> str:
    """Keep the end of a long name: of paths the telling part."""
    return name if len(name) <= _LONGEST_NAME else "..." + name[3 - _LONGEST_NAME :]
