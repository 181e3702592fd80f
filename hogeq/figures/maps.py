"""Maps: strategies, values, counters, mixtures and beliefs, and the win rates of a field."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hogeq.figures.style import (
    LABEL_SIZE,
    NAMED,
    PANEL,
    RAREST,
    WIDTH,
    add_colour_bar,
    as_table,
    check_rolls,
    choices_of,
    draw_map,
    label_outer,
    literal,
    new_figure,
    of_dice,
    of_loss,
    reach_beside,
    shortened,
    wrapped,
)
from hogeq.support.messages import HogeqError, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NUMBERED: Final = 6  # entries of a field whose win rates are written
_DICE: Final = "dice to roll"
_LOSS: Final = "loss (pp of win rate)"
_GREY: Final = "grey: never reached"
_PALEST: Final = 0.15  # opacity of positions that play hardly ever comes to


def matrix(
    array: ArrayLike,
    path: str | Path | None = None,
    title: str = "",
    rolls: int | None = None,
    reach: ArrayLike | None = None,
) -> "Figure":
    """Draw a matrix: a colour for every number of dice.

    Parameters
    ----------
    array : array_like of int, shape (G, G)
        Row = own score. A `Strategy` knows whether its last action is the choice -1.
    rolls : int, optional
        Number of rolls to choose from, K; by default as many as `array` needs, at least 11.
    reach : array_like of float, shape (G, G), optional
        Probability of coming to move there. With it, the matrix is drawn a second time below: grey
        where play never comes, and the paler, the more rarely it does.
    """
    table, least = choices_of(array, as_table(array, "matrix"))
    rolls = max(int(table.max()) + 1, 11) - least if rolls is None else rolls
    check_rolls(table, rolls, "matrix", least)
    colours = of_dice(rolls, least)
    met = reach_beside("matrix", table, reach)
    if met is None:
        with new_figure(path, 2.9) as figure:
            draw_map(figure.subplots(), table, title, _DICE, **colours)
        return figure
    with _two_maps(path, title) as (figure, above, below):
        draw_map(above, table, "all positions", _DICE, **colours)
        reached = np.where(met > 0.0, table, np.nan)
        note = "grey: never reached; pale: rarely"
        look = {**colours, "alpha": _opacity(met), "met": met, "note": note}
        draw_map(below, reached, "where its play comes", _DICE, **look)
    return figure


def policy(
    array: ArrayLike,
    path: str | Path | None = None,
    title: str = "",
    reach: ArrayLike | None = None,
) -> "Figure":
    """Draw a policy: the most probable roll of every position, and below it, its probability.

    Parameters
    ----------
    array : array_like of float, shape (G, G, K)
        Probabilities of the rolls; row = own score.
    reach : array_like of float, shape (G, G), optional
        Probability of coming to move there; grey where play never comes, since a policy there is
        mostly what its solver began with.
    """
    table = as_table(array, "policy", "(G, G, K)").astype(np.float64)
    met = reach_beside("policy", table, reach)
    hides = met is not None and (met <= 0.0).any()
    grey: dict[str, Any] = {"met": met, "note": _GREY} if hides else {}
    with _two_maps(path, title) as (figure, above, below):
        usual, least = choices_of(array, table.argmax(axis=2))
        colours = of_dice(table.shape[2], least)
        draw_map(above, usual, "most probable roll", _DICE, **colours, **grey)
        look = {"cmap": "cividis", "vmin": 0.0, "vmax": 1.0, **grey}
        draw_map(below, table.max(axis=2), "its probability", "probability", **look)
    return figure


def counter(
    gap: ArrayLike,
    gains: ArrayLike,
    reach: ArrayLike,
    path: str | Path | None = None,
    title: str = "",
    names: tuple[str, str] = ("counter", "rival"),
) -> "Figure":
    """Draw the cells where a counter-matrix differs from its rival, and below, their losses.

    Parameters
    ----------
    gap : array_like of int, shape (G, G)
        Dice of the counter-matrix less those of the rival; row = own score.
    gains : array_like of float, shape (G, G)
        Win rate gained by each cell: what the rival's roll loses; negative where it is better.
    reach : array_like of float, shape (G, G)
        Probability of coming to move there; cells that are never reached are drawn grey.
    names : tuple of str
        Names of the counter-matrix and its rival.
    """
    dice_gap = as_table(gap, "gap")
    win_rate_gains = as_table(gains, "gains")
    met = as_table(reach, "reach")
    if not dice_gap.shape == win_rate_gains.shape == met.shape:
        raise HogeqError(
            f"counter: shapes are {dice_gap.shape}, {win_rate_gains.shape}, {met.shape}"
        )
    gap_reached = np.where(met > 0.0, dice_gap, np.nan)
    largest = max(1, math.ceil(np.nanmax(np.abs(gap_reached), initial=0.0)))
    losses = np.where(met > 0.0, 100.0 * win_rate_gains, 0.0)
    counter_name, rival_name = map(shortened, names)
    with _two_maps(path, title) as (figure, above, below):
        label = f"dice of {counter_name} less {rival_name}"
        # Blue to red through near-white: no difference leaves no ink.
        look: dict[str, Any] = {"cmap": "RdBu_r", "vmin": -largest, "vmax": largest, "met": met}
        draw_map(above, gap_reached, "how its rolls differ", label, **look)
        note = f"{_GREY}; blue: a gain" if (losses < 0.0).any() else _GREY
        look = {**of_loss(losses), "met": met, "note": note}
        draw_map(below, losses, f"what the rolls of {rival_name} lose", _LOSS, **look)
    return figure


def win_rates(
    array: ArrayLike, names: Sequence[str], path: str | Path | None = None, title: str = ""
) -> "Figure":
    """Draw the win rates of a field, those with the most wins on average on top.

    Parameters
    ----------
    array : array_like of float, shape (n, n)
        Win rate of row against column; at least two entries.
    names : sequence of str, length n
    """
    table = as_table(array, "win rates").astype(np.float64)
    if len(names) != len(table) or len(table) < 2:
        given = f"{len(names)} names, shape {table.shape}"
        raise HogeqError(f"win rates: {given}; allowed: n names, (n, n), n at least 2")
    order = np.argsort(-table.mean(axis=1), kind="stable")
    percentages = 100.0 * table[np.ix_(order, order)]
    num_named = len(names) if len(names) <= 400 else 0  # more cannot be read
    largest = max(1.0, float(np.abs(percentages - 50.0).max()))  # difference from one half
    inches = 0.13 * max(0, num_named - 8)  # added, so that names do not overlap
    dots = 300 if num_named <= NAMED else 130  # pictures of hundreds stay below 30 million dots
    with new_figure(path, 3.2 + inches, WIDTH + inches, dots) as figure:
        axes = figure.subplots()
        look: dict[str, Any] = {"cmap": "RdBu", "vmin": 50.0 - largest, "vmax": 50.0 + largest}
        image = axes.imshow(percentages, interpolation="nearest", **look)
        add_colour_bar(axes, image, "win rate of row against column (%)")
        axes.set_title(wrapped(title))
        axes.set_xlabel("opponent")
        axes.set_ylabel("strategy")
        labels = [shortened(names[entry]) for entry in order[:num_named]]
        axes.xaxis.set_ticks(range(len(labels)), labels, rotation=90)
        axes.yaxis.set_ticks(range(len(labels)), labels, rotation=0)
        if len(names) <= NUMBERED:
            for (row, column), percentage in np.ndenumerate(percentages):
                ink = "white" if abs(percentage - 50.0) > 0.6 * largest else "black"
                text: dict[str, Any] = {"ha": "center", "va": "center", "color": ink, "fontsize": 7}
                axes.text(column, row, f"{percentage:.1f}", **text)
    return figure


def mixture(
    weights: ArrayLike,
    likeliest: ArrayLike,
    total: ArrayLike,
    drawn: ArrayLike,
    path: str | Path | None = None,
    title: str = "",
    rolls: int = 11,
    reach: ArrayLike | None = None,
    least: int = 0,
) -> "Figure":
    """Draw a mixture: its components, where the draw decides, and how uncertain each roll is.

    Parameters
    ----------
    weights : array_like of float, shape (n,)
        Probability of each component. The likeliest six are drawn.
    likeliest : array_like of int, shape (n, G, G)
        Most probable roll of each component; row = own score.
    total, drawn : array_like of float, shape (G, G)
        Entropy of the roll in bits, and how much of it the draw decides. Where there is a third
        column, the rest of it is drawn too.
    rolls : int
        Number of rolls to choose from, K.
    reach : array_like of float, shape (G, G), optional
        Probability of coming to move there; grey where play never does.
    least : int
        Least of the rolls: 0, or -1.
    """
    probabilities = np.asarray(weights, np.float64)
    component_rolls = np.asarray(likeliest)
    draw_entropy = as_table(drawn, "drawn")
    total_entropy = as_table(total, "total")
    met = np.ones_like(total_entropy) if reach is None else as_table(reach, "reach")
    wanted = (len(probabilities), *total_entropy.shape)
    if probabilities.ndim != 1 or component_rolls.shape != wanted:
        shapes = f"{probabilities.shape} and {component_rolls.shape}"
        raise HogeqError(f"mixture: shapes are {shapes}; allowed: n parts")
    check_rolls(component_rolls, rolls, "mixture", least)
    shown = np.argsort(-probabilities, kind="stable")[:6].tolist()
    columns = 2 if len(shown) in {1, 2, 4} else 3
    rows = math.ceil(len(shown) / columns)
    entropies = {"decided by the draw": draw_entropy}
    if columns == 3:
        entropies["left to the components"] = np.maximum(total_entropy - draw_entropy, 0.0)
    entropies["uncertain in all"] = total_entropy
    heading = title
    if len(shown) < len(probabilities):
        heading += f"\nthe {len(shown)} likeliest of {len(probabilities)} components"
    height = PANEL * (rows + 1) + 0.7
    with new_figure(path, height, PANEL * columns + 1.1, dpi=150) as figure:
        panels = figure.subplots(rows + 1, columns, squeeze=False)
        for axes, component in zip(panels.flat, shown, strict=False):
            name = f"component {component + 1}: {percent(probabilities[component])}"
            rolls_reached = np.where(met > 0.0, component_rolls[component], np.nan)
            image = draw_map(axes, rolls_reached, name, met=met, **of_dice(rolls, least))
        add_colour_bar(panels.flat[len(shown) - 1], image, "most probable roll")
        label_outer(panels[:rows], len(shown))
        note = _GREY if (met <= 0.0).any() else ""
        for axes, (name, entropy) in zip(panels[rows], entropies.items(), strict=True):
            entropy_reached = np.where(met > 0.0, entropy, np.nan)
            # Any scale will do where nothing is uncertain.
            largest = np.nanmax(entropy_reached, initial=1e-9)
            look: dict[str, Any] = {"cmap": "magma_r", "vmin": 0.0, "vmax": largest, "note": note}
            draw_map(axes, entropy_reached, name, "entropy of the roll (bits)", met=met, **look)
        label_outer(panels[rows:], columns)
        if heading:
            lines = map(wrapped, heading.strip().splitlines())
            figure.suptitle("\n".join(lines), fontsize=LABEL_SIZE)
    return figure


def beliefs(
    panels: Mapping[str, ArrayLike],
    path: str | Path | None,
    rows: tuple[str, Sequence[str]],
    columns: tuple[str, Sequence[str]],
    title: str = "",
) -> "Figure":
    """Draw distributions of the hidden memory below each other, on one scale of colours.

    Parameters
    ----------
    panels : mapping of str to array_like, shape (m, n)
        Probabilities, by the title of each.
    rows, columns : (str, sequence of str)
        Name of each of the two parts of the memory, and the names of its m or n values.
    """
    from matplotlib.colors import LogNorm

    shape = len(rows[1]), len(columns[1])
    tables = {name: np.asarray(array, np.float64) for name, array in panels.items()}
    for name, shares in tables.items():
        if shares.shape != shape:
            raise HogeqError(f"beliefs: {name} has shape {shares.shape}; allowed: {shape}")
    if not tables or 0 in shape:
        raise HogeqError("beliefs: nothing to draw; allowed: one panel or more")
    with new_figure(path, 0.8 + 2.2 * len(tables)) as figure:
        maps = figure.subplots(len(tables), 1, sharex=True, squeeze=False)[:, 0]
        for axes, (name, probabilities) in zip(maps, tables.items(), strict=True):
            # Nothing is drawn for 0.
            drawn = np.where(probabilities > 0.0, np.maximum(probabilities, RAREST), np.nan)
            look: dict[str, Any] = {"cmap": "viridis_r", "norm": LogNorm(RAREST, 1.0)}
            image = axes.imshow(drawn, aspect="auto", origin="lower", **look)
            for axis, names in ((axes.yaxis, rows[1]), (axes.xaxis, columns[1])):
                # The last is labelled, and of the others as many as there is room for.
                step = math.ceil(len(names) / 8)
                ticks = [*range(0, len(names) - step, step), len(names) - 1]
                axis.set_ticks(ticks, [names[tick] for tick in ticks])
            axes.set_ylabel(rows[0])
            heading = f"{title}\n{name}" if title and axes is maps[0] else name
            axes.set_title(literal(heading))
        maps[-1].set_xlabel(columns[0])
        label = f"probability (below {RAREST:g}: as {RAREST:g})"
        figure.colorbar(image, ax=maps.tolist(), label=label)
    return figure


@contextmanager
def _two_maps(path: str | Path | None, title: str) -> Iterator[tuple["Figure", "Axes", "Axes"]]:
    """Draw two maps in a block, one above the other, on axes of the same scores."""
    with new_figure(path, 5.6) as figure:
        if title:
            figure.suptitle(wrapped(title), fontsize=LABEL_SIZE)
        above, below = figure.subplots(2, 1, sharex=True)
        yield figure, above, below
        above.label_outer()


def _opacity(reach: NDArray[Any]) -> NDArray[np.float64]:
    """Opacity by reach probability, (G, G): full above the median, then falling logarithmically."""
    positive = reach[reach > 0.0]
    median = np.median(positive) if positive.size else 1.0
    relative_reach = np.clip(reach / median, RAREST, 1.0)
    share = 1.0 - np.log(relative_reach) / np.log(RAREST)
    return _PALEST + (1.0 - _PALEST) * share
