"""Distributions: of the points of a roll, and of the hidden memory."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from hogeq.figures.style import draw_rare, literal, shared_bar, wrapped, write_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def distributions(
    kinds: Mapping[str, Sequence[Mapping[int, float]]], path: str | Path, title: str = ""
) -> None:
    """Draw the distribution of the points of every roll; impossible points are blank.

    Parameters
    ----------
    kinds : mapping of str to sequence of mappings
        By kind of dice: probabilities by points, of 1 die, of 2 dice, and so on.
    """
    most = max((len(rolls) for rolls in kinds.values()), default=0)
    if not most or any(not roll for rolls in kinds.values() for roll in rolls):
        raise ValueError("distributions: nothing to draw; allowed: one roll or more of each kind")

    def draw(figure: "Figure") -> None:
        from matplotlib.ticker import MaxNLocator

        panels = figure.subplots(len(kinds), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        highest = max(max(roll) for rolls in kinds.values() for roll in rolls)
        extent = (-0.5, highest + 0.5, 0.5, most + 0.5)
        for axes, (kind, rolls) in zip(panels, kinds.items(), strict=True):
            chances = np.zeros((most, highest + 1))
            for row, roll in zip(chances, rolls, strict=False):
                row[list(roll)] = list(roll.values())
            image = draw_rare(axes, chances, aspect="auto", extent=extent)
            axes.set_ylabel("dice rolled")
            axes.set_title(wrapped(f"{title}, {kind}" if title else kind))
            axes.yaxis.set_major_locator(MaxNLocator(10, integer=True))
        panels[-1].set_xlabel("points scored by the roll")
        panels[-1].xaxis.set_major_locator(MaxNLocator(8, integer=True, steps=[1, 2, 5, 10]))
        shared_bar(figure, image, panels.tolist())

    write_figure(path, 0.6 + 1.7 * len(kinds), draw)


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
            image = draw_rare(axes, shares, aspect="auto")
            for axis, names in ((axes.yaxis, rows[1]), (axes.xaxis, columns[1])):
                # The last is labelled, and of the others as many as there is room for.
                step = math.ceil(len(names) / 8)
                ticks = [*range(0, len(names) - step, step), len(names) - 1]
                axis.set_ticks(ticks, [names[tick] for tick in ticks])
            axes.set_ylabel(rows[0])
            above = f"{title}\n{name}" if title and axes is panels[0] else name
            axes.set_title(literal(above))
        panels[-1].set_xlabel(columns[0])
        shared_bar(figure, image, panels.tolist())

    write_figure(path, 0.8 + 2.2 * len(tables), draw)
