"""Sheets of several maps: the components of a mixture, the beliefs about the memory."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hogeq.figures.style import (
    LABEL_SIZE,
    RAREST,
    TICK_SIZE,
    add_colour_bar,
    as_table,
    check_rolls,
    draw_map,
    literal,
    of_dice,
    of_numbers,
    of_rare,
    wrapped,
    write_figure,
)
from hogeq.support.numbers import percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PANEL: Final = 2.0  # inches

_PARTS: Final = 6  # of a mixture: as many are drawn, the likeliest


def mixture(
    weights: ArrayLike,
    likeliest: ArrayLike,
    total: ArrayLike,
    drawn: ArrayLike,
    path: str | Path,
    title: str = "",
    rolls: int = 11,
    reach: ArrayLike | None = None,
) -> None:
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
    """
    chances = np.asarray(weights, np.float64)
    parts = np.asarray(likeliest)
    decided, whole = as_table(drawn, "drawn"), as_table(total, "total")
    met = np.ones_like(whole) if reach is None else as_table(reach, "reach")
    if chances.ndim != 1 or parts.shape != (len(chances), *whole.shape):
        raise ValueError(f"mixture: shapes are {chances.shape} and {parts.shape}; allowed: n parts")
    check_rolls(parts, rolls, "mixture")
    order = np.argsort(-chances, kind="stable")[:_PARTS].tolist()
    columns = 2 if len(order) in {1, 2, 4} else 3
    rows = math.ceil(len(order) / columns)
    entropies = {"decided by the draw": decided}
    if columns == 3:
        entropies["left to the components"] = np.maximum(whole - decided, 0.0)  # rounding
    entropies["uncertain in all"] = whole
    few = len(order) < len(chances)
    above = f"{title}\nthe {len(order)} likeliest of {len(chances)} components" if few else title

    def draw(figure: "Figure") -> None:
        panels = figure.subplots(rows + 1, columns, squeeze=False)
        for axes, part in zip(panels.flat, order, strict=False):
            name = f"component {part + 1}: {percent(chances[part])}"
            usual = np.where(met > 0.0, parts[part], np.nan)
            image = draw_map(axes, usual, name, met=met, **of_dice(rolls))
        add_colour_bar(panels.flat[len(order) - 1], image, "most probable roll")
        label_outer(panels[:rows], len(order))
        note = "grey: never reached" if (met <= 0.0).any() else ""
        for axes, (name, table) in zip(panels[rows], entropies.items(), strict=True):
            known = np.where(met > 0.0, table, np.nan)
            # Any scale will do where nothing is uncertain.
            look = of_numbers(0.0, np.nanmax(known, initial=1e-9), "magma_r")
            draw_map(axes, known, name, "entropy of the roll (bits)", met=met, note=note, **look)
        label_outer(panels[rows:], columns)
        if above:
            lines = above.strip().split("\n")
            figure.suptitle("\n".join(map(wrapped, lines)), fontsize=LABEL_SIZE)

    write_figure(path, PANEL * (rows + 1) + 0.7, draw, width=PANEL * columns + 1.1, dpi=150)


def beliefs(
    panels: Mapping[str, ArrayLike],
    path: str | Path,
    rows: tuple[str, Sequence[str]],
    columns: tuple[str, Sequence[str]],
    title: str = "",
) -> None:
    """Draw distributions of the hidden memory below each other, on one scale of colours.

    Parameters
    ----------
    panels : mapping of str to array_like, shape (m, n)
        Probabilities, by the title of each.
    rows, columns : (str, sequence of str)
        Name of each of the two parts of the memory, and the names of its m or n values.
    """
    shape = len(rows[1]), len(columns[1])
    tables = {name: np.asarray(array, np.float64) for name, array in panels.items()}
    for name, shares in tables.items():
        if shares.shape != shape:
            raise ValueError(f"beliefs: {name} has shape {shares.shape}; allowed: {shape}")
    if not tables or 0 in shape:
        raise ValueError("beliefs: nothing to draw; allowed: one panel or more")

    def draw(figure: "Figure") -> None:
        panels = figure.subplots(len(tables), 1, sharex=True, squeeze=False)[:, 0]
        for axes, (name, shares) in zip(panels, tables.items(), strict=True):
            look = of_rare(shares)
            image = axes.imshow(look.pop("table"), aspect="auto", origin="lower", **look)
            for axis, names in ((axes.yaxis, rows[1]), (axes.xaxis, columns[1])):
                # The last is labelled, and of the others as many as there is room for.
                step = math.ceil(len(names) / 8)
                ticks = [*range(0, len(names) - step, step), len(names) - 1]
                axis.set_ticks(ticks, [names[tick] for tick in ticks])
            axes.set_ylabel(rows[0])
            above = f"{title}\n{name}" if title and axes is panels[0] else name
            axes.set_title(literal(above))
        panels[-1].set_xlabel(columns[0])
        bar = figure.colorbar(
            image, ax=panels.tolist(), label=f"probability (below {RAREST:g}: as {RAREST:g})"
        )
        bar.ax.tick_params(labelsize=TICK_SIZE)
        bar.ax.yaxis.label.set_fontsize(LABEL_SIZE)

    write_figure(path, 0.8 + 2.2 * len(tables), draw)


def label_outer(panels: NDArray[Any], shown: int) -> None:
    """Leave labels at the outer maps alone, and hide the panels after those that are shown."""
    columns = panels.shape[1]
    for number, axes in enumerate(panels.flat):
        axes.set_visible(number < shown)
        if number % columns:
            axes.set_ylabel("")
        if number < shown - columns:
            axes.set_xlabel("")
