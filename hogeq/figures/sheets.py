"""Sheets: several matrices side by side, in one scale of colours."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import ArrayLike

from hogeq.figures.style import as_table, dice_colours, literal, write_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PANEL: Final = 2.0  # inches

_ONE_ROW: Final = 4  # this many stand side by side; more of them in rows of three


def matrices(tables: Mapping[str, ArrayLike], path: str | Path, rolls: int = 11) -> None:
    """Draw matrices side by side: a colour for every number of dice, the same in all.

    Parameters
    ----------
    tables : mapping of str to array_like of int, shape (G, G)
        By what stands above each; row = own score.
    path : str or Path
        The PNG to write.
    rolls : int
        Number of rolls to choose from, K.

    Raises
    ------
    ValueError
        There is no table, or one is malformed or holds a roll outside ``0..K - 1``.
    OSError
        The file cannot be written.
    """
    shown = {name: as_table(table, name) for name, table in tables.items()}
    if not shown:
        raise ValueError("matrices: there are none; allowed: one or more")
    for name, table in shown.items():
        if table.min() < 0 or table.max() >= rolls:
            raise ValueError(f"{name}: holds a roll outside 0..{rolls - 1}")
    columns = len(shown) if len(shown) <= _ONE_ROW else 3
    rows = math.ceil(len(shown) / columns)

    def draw(figure: "Figure") -> None:
        panels = figure.subplots(rows, columns, squeeze=False)
        colours, norm = dice_colours(rolls)
        for axes in panels.flat[len(shown) :]:
            axes.set_visible(False)
        for axes, (name, table) in zip(panels.flat, shown.items(), strict=False):
            image = axes.imshow(
                table, cmap=colours, norm=norm, origin="lower", interpolation="nearest"
            )
            axes.set_title(literal(name))
            axes.set_xticks(np.arange(0, len(table), max(1, len(table) // 4)))
            axes.set_yticks(np.arange(0, len(table), max(1, len(table) // 4)))
        for axes in panels[:, 0]:
            axes.set_ylabel("own score")
        for axes in panels.flat[max(0, len(shown) - columns) : len(shown)]:
            axes.set_xlabel("opponent's score")
        bar = figure.colorbar(image, ax=panels, label="dice to roll", shrink=0.9, aspect=25)
        bar.set_ticks(range(rolls))
        bar.ax.tick_params(which="both", length=0)

    write_figure(path, _PANEL * rows + 0.6, draw, width=_PANEL * columns + 0.9, dpi=150)
