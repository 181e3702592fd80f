"""Distributions: of the points of a roll, and of the hidden memory."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from hogeq.figures.style import LABEL_SIZE, RAREST, TICK_SIZE, literal, wrapped, write_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
    OSError
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
                np.where(chances > 0.0, np.maximum(chances, RAREST), np.nan),  # blank: impossible
                cmap="viridis_r",
                norm=LogNorm(RAREST, 1.0),
                origin="lower",
                interpolation="nearest",
                aspect="auto",
                extent=(-0.5, highest + 0.5, 0.5, most + 0.5),
            )
            axes.set_ylabel("dice rolled")
            axes.set_title(wrapped(f"{title}, {kind}" if title else kind))
            axes.yaxis.set_major_locator(MaxNLocator(10, integer=True))
        panels[-1].set_xlabel("points scored by the roll")
        panels[-1].xaxis.set_major_locator(MaxNLocator(8, integer=True, steps=[1, 2, 5, 10]))
        label = f"probability (below {RAREST:g}: as {RAREST:g})"
        bar = figure.colorbar(image, ax=panels.tolist(), label=label)
        bar.ax.tick_params(labelsize=TICK_SIZE)
        bar.ax.yaxis.label.set_fontsize(LABEL_SIZE)

    write_figure(path, 0.6 + 1.7 * len(kinds), draw)


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
    OSError
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

        norm = LogNorm(RAREST, 1.0)
        for axes, (name, shares) in zip(
            figure.subplots(len(tables), 1, sharex=True, squeeze=False)[:, 0],
            tables.items(),
            strict=True,
        ):
            image = axes.imshow(
                np.where(shares > 0.0, np.maximum(shares, RAREST), np.nan),  # blank: impossible
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
            above = f"{title}\n{name}" if title and axes is figure.axes[0] else name
            axes.set_title(literal(above))
        figure.axes[-1].set_xlabel(columns[0])
        label = f"probability (below {RAREST:g}: as {RAREST:g})"
        bar = figure.colorbar(image, ax=list(figure.axes), label=label)
        bar.ax.tick_params(labelsize=TICK_SIZE)
        bar.ax.yaxis.label.set_fontsize(LABEL_SIZE)

    write_figure(path, 0.8 + 2.2 * len(tables), draw)
