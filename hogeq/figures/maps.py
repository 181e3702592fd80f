"""Maps: strategies, values and counters over both scores, and the win rates of a field."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hogeq.figures.style import (
    LABEL_SIZE,
    RAREST,
    WIDEST,
    WIDTH,
    add_colour_bar,
    as_table,
    check_rolls,
    draw_map,
    finite,
    of_dice,
    of_numbers,
    of_rare,
    shortened,
    wrapped,
    write_figure,
)
from hogeq.strategies.arrays import as_array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FEW_NAMES: Final = 8

_FINE_NAMES: Final = 40

_MOST_NAMES: Final = 400  # of a field; more cannot be read

_PER_NAME: Final = 0.13  # inches beside a field's map for each name beyond these

_DICE: Final = "dice to roll"

_GREY: Final = "grey: never reached"

_ONE_MAP: Final = 2.9  # inches: height of one

_TWO_MAPS: Final = 5.6  # of two, one above the other

_PALEST: Final = 0.15  # opacity of positions that play hardly ever comes to

_ROUNDING: Final = 1e-9


def matrix(
    array: ArrayLike,
    path: str | Path,
    title: str = "",
    rolls: int | None = None,
    reach: ArrayLike | None = None,
) -> None:
    """Draw a matrix: a colour for every number of dice.

    Parameters
    ----------
    array : array_like of int, shape (G, G)
        Row = own score.
    rolls : int, optional
        Number of rolls to choose from, K; by default as many as `array` needs, at least 11.
    reach : array_like of float, shape (G, G), optional
        Probability of coming to move there. With it, the matrix is drawn a second time below: grey
        where play never comes, and the paler, the more rarely it does.
    """
    table = finite(as_table(array, "matrix"), "matrix")
    rolls = max(int(table.max()) + 1, 11) if rolls is None else rolls
    check_rolls(table, rolls, "matrix")
    met = _reach("matrix", table, reach)

    def draw(figure: "Figure") -> None:
        if met is None:
            draw_map(figure.subplots(), table, title, _DICE, **of_dice(rolls))
            return
        above, below = _two_maps(figure, title)
        draw_map(above, table, "all positions", _DICE, **of_dice(rolls))
        reached = np.where(met > 0.0, table, np.nan)
        note = "grey: never reached; pale: rarely"
        look = {**of_dice(rolls), "alpha": _opacity(met), "met": met, "note": note}
        draw_map(below, reached, "where its play comes", _DICE, **look)
        above.label_outer()

    write_figure(path, _ONE_MAP if met is None else _TWO_MAPS, draw)


def policy(
    array: ArrayLike, path: str | Path, title: str = "", reach: ArrayLike | None = None
) -> None:
    """Draw a policy: the most probable roll of every position, and below it, its probability.

    Parameters
    ----------
    array : array_like of float, shape (G, G, K)
        Probabilities of the rolls; row = own score.
    reach : array_like of float, shape (G, G), optional
        Probability of coming to move there; grey where play never comes, since a policy there is
        mostly what its solver began with.
    """
    table = finite(as_array(array, "policy", "(G, G, K)"), "policy").astype(np.float64)
    if table.ndim != 3 or table.shape[0] != table.shape[1] or not table.size:
        raise ValueError(f"policy: shape is {table.shape}; allowed: (G, G, K)")
    met = _reach("policy", table, reach)
    if met is not None and (met > 0.0).all():
        met = None

    def draw(figure: "Figure") -> None:
        above, below = _two_maps(figure, title)
        grey: dict[str, Any] = {"met": met, "note": "" if met is None else _GREY}
        usual, look = table.argmax(axis=2), of_dice(table.shape[2])
        draw_map(above, usual, "most probable roll", _DICE, **look, **grey)
        chance, look = table.max(axis=2), of_numbers(0.0, 1.0)
        draw_map(below, chance, "its probability", "probability", **look, **grey)
        above.label_outer()

    write_figure(path, _TWO_MAPS, draw)


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
    names : tuple of str
        Names of the two.
    """
    one, two = _expected_dice(first, "first"), _expected_dice(second, "second")
    if one.shape != two.shape:
        raise ValueError(f"difference: shapes are {one.shape} and {two.shape}; allowed: the same")
    more, less = (shortened(name) for name in names)
    dice = "mean dice" if np.ndim(first) == 3 or np.ndim(second) == 3 else "dice"
    label = f"{dice} of {more} less {dice} of {less}"
    if len(label) > WIDEST:
        label = f"{dice} of {more}\nless {dice} of {less}"

    def draw(figure: "Figure") -> None:
        draw_map(figure.subplots(), one - two, title, label, **_of_difference(one - two))

    write_figure(path, _ONE_MAP, draw)


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
    names : tuple of str
        Names of the counter-matrix and its rival.
    """
    dice, won, met = (
        finite(as_table(array, name), name)
        for array, name in ((gap, "gap"), (gains, "gains"), (reach, "reach"))
    )
    if not dice.shape == won.shape == met.shape:
        raise ValueError(f"counter: shapes are {dice.shape}, {won.shape}, {met.shape}")
    highest = max(float(won.max()), 0.0) or 1.0  # any scale will do where nothing is gained

    def draw(figure: "Figure") -> None:
        above, below = _two_maps(figure, title)
        gap = np.where(met > 0.0, dice, np.nan)
        label = f"dice of {shortened(names[0])} less {shortened(names[1])}"
        draw_map(above, gap, "how its rolls differ", label, met=met, **_of_difference(gap))
        note = f"{_GREY}; white: no gain"
        label = f"win rate gained (below {highest * RAREST:.0e}: as that)"
        look = {**of_rare(won, highest), "met": met, "note": note}
        draw_map(below, title="what that gains", label=label, **look)
        above.label_outer()

    write_figure(path, _TWO_MAPS, draw)


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
    label : str
        Name of the numbers, with their unit.
    """
    table = as_table(array, "values").astype(np.float64)
    known = table[np.isfinite(table)]
    # Probabilities may miss their range by rounding.
    inside = known.size == 0 or (known.min() >= -_ROUNDING and known.max() <= 1.0 + _ROUNDING)
    low, high = (0.0, 1.0) if inside else (float(known.min()), float(known.max()))
    note = "white: never reached" if known.size < table.size else ""

    def draw(figure: "Figure") -> None:
        draw_map(figure.subplots(), table, title, label, note=note, **of_numbers(low, high))

    write_figure(path, _ONE_MAP, draw)


def win_rates(array: ArrayLike, names: Sequence[str], path: str | Path, title: str = "") -> None:
    """Draw the win rates of a field, entries that fare alike side by side.

    Rows and columns are in the order of a hierarchical clustering of the rows: average linkage on
    Euclidean distances, leaves ordered so that neighbours are as close as can be.

    Parameters
    ----------
    array : array_like of float, shape (n, n)
        Win rate of row against column; at least two entries.
    names : sequence of str, length n
    """
    table = as_table(array, "win rates").astype(np.float64)
    if len(names) != len(table) or len(table) < 2 or not np.isfinite(table).all():
        raise ValueError(
            f"win rates: {len(names)} names, shape {table.shape}; allowed: n names, numbers (n, n)"
        )

    def draw(figure: "Figure") -> None:
        from scipy.cluster.hierarchy import dendrogram, linkage

        tree = linkage(table, "average", optimal_ordering=True)
        order = dendrogram(tree, no_plot=True)["leaves"]
        axes = figure.subplots()
        reach = max(0.01, float(np.abs(table - 0.5).max()))
        image = axes.imshow(
            table[np.ix_(order, order)],
            cmap="RdBu",
            vmin=0.5 - reach,
            vmax=0.5 + reach,
            interpolation="nearest",
        )
        add_colour_bar(axes, image, "win rate of row against column")
        axes.set_title(wrapped(title))
        axes.set_xlabel("opponent")
        axes.set_ylabel("strategy")
        if len(names) > _MOST_NAMES:
            axes.set_xticks([])
            axes.set_yticks([])
            return
        labels = [shortened(names[entry]) for entry in order]
        for axis, turn in ((axes.xaxis, 90), (axes.yaxis, 0)):
            axis.set_ticks(range(len(labels)), labels, rotation=turn)

    named = len(names) if len(names) <= _MOST_NAMES else 0
    more = _PER_NAME * max(0, named - _FEW_NAMES)  # so that names do not overlap
    dots = 300 if named <= _FINE_NAMES else 130  # pictures of hundreds stay below 30 million dots
    write_figure(path, 3.2 + more, draw, width=WIDTH + more, dpi=dots)


def _two_maps(figure: "Figure", title: str) -> "tuple[Axes, Axes]":
    if title:
        figure.suptitle(wrapped(title), fontsize=LABEL_SIZE)
    above, below = figure.subplots(2, 1, sharex=True)
    return above, below


def _opacity(reach: NDArray[Any]) -> NDArray[np.float64]:
    """Opacity by reach: full for the half reached most, then falling with its logarithm."""
    met = reach[reach > 0.0]
    median = np.median(met) if met.size else 1.0
    share = 1.0 - np.log(np.clip(reach / median, RAREST, 1.0)) / np.log(RAREST)
    return _PALEST + (1.0 - _PALEST) * share


def _of_difference(gap: NDArray[Any]) -> dict[str, Any]:
    """Look of a map of differences, blue to red through near-white: none leaves no ink."""
    most = max(1, math.ceil(np.nanmax(np.abs(gap), initial=0.0)))
    return of_numbers(-most, most, "RdBu_r")


def _reach(name: str, table: NDArray[Any], reach: ArrayLike | None) -> NDArray[Any] | None:
    """Check a table of reach probabilities beside a matrix or a policy."""
    if reach is None:
        return None
    met = finite(as_table(reach, "reach"), "reach")
    if met.shape != table.shape[:2]:
        raise ValueError(f"{name}: shapes are {table.shape} and {met.shape}; allowed: the same G")
    return met


def _expected_dice(array: ArrayLike, name: str) -> NDArray[np.float64]:
    table = finite(as_array(array, name), name).astype(np.float64)
    if table.ndim == 3:
        table = table @ np.arange(table.shape[2])
    return as_table(table, name)
