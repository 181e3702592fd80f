"""Sheets: several maps side by side: matrices, and the parts of a mixture."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hogeq.figures.style import (
    LABEL_SIZE,
    UNREACHED,
    as_table,
    colour_bar,
    dice_colours,
    literal,
    wrapped,
    write_figure,
)
from hogeq.support.numbers import percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PANEL: Final = 2.0  # inches

_PARTS: Final = 6  # of a mixture: as many are drawn, the likeliest

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


def mixture(
    weights: ArrayLike,
    usual: ArrayLike,
    total: ArrayLike,
    drawn: ArrayLike,
    path: str | Path,
    title: str = "",
    rolls: int = 11,
    reach: ArrayLike | None = None,
) -> None:
    """Draw a mixture: its parts, where the draw decides, and how uncertain each roll is.

    Parameters
    ----------
    weights : array_like of float, shape (n,)
        Probability of each part. The likeliest six are drawn.
    usual : array_like of int, shape (n, G, G)
        Most probable roll of each part; row = own score.
    total, drawn : array_like of float, shape (G, G)
        Entropy of the roll in bits, and how much of it the draw accounts for. Where there is a
        third column, what is left to the parts is drawn too.
    path : str or Path
        The PNG to write.
    title : str
        Drawn above.
    rolls : int
        Number of rolls to choose from, K.
    reach : array_like of float, shape (G, G), optional
        Probability of coming to move there; grey where play never does.

    Raises
    ------
    ValueError
        The shapes do not fit, or a roll is outside ``0..K - 1``.
    OSError
        The file cannot be written.
    """
    chances = np.asarray(weights, np.float64)
    parts = np.asarray(usual)
    decided, whole = as_table(drawn, "drawn"), as_table(total, "total")
    met = np.ones_like(whole) if reach is None else as_table(reach, "reach")
    if chances.ndim != 1 or parts.shape != (len(chances), *whole.shape):
        raise ValueError(f"mixture: shapes are {chances.shape} and {parts.shape}; allowed: n parts")
    if parts.min() < 0 or parts.max() >= rolls:
        raise ValueError(f"mixture: holds a roll outside 0..{rolls - 1}")
    order = np.argsort(-chances, kind="stable")[:_PARTS].tolist()
    columns = 2 if len(order) in {1, 2, 4} else 3
    rows = math.ceil(len(order) / columns)
    maps = {"decided by the draw": decided}
    if columns == 3:
        maps["left to the parts"] = np.maximum(whole - decided, 0.0)  # not negative by rounding
    maps["uncertain in all"] = whole
    few = len(order) < len(chances)
    above = f"{title}\nthe {len(order)} likeliest of {len(chances)} parts" if few else title

    def draw(figure: "Figure") -> None:
        panels = figure.subplots(rows + 1, columns, squeeze=False)
        named = {
            f"part {part + 1}: {percent(chances[part])}": np.where(met > 0.0, parts[part], np.nan)
            for part in order
        }
        _draw_parts(figure, panels[:rows], named, rolls)
        entropies = {name: np.where(met > 0.0, one, np.nan) for name, one in maps.items()}
        _draw_entropies(figure, panels[rows], entropies, grey=bool((met <= 0.0).any()))
        ticks = np.arange(0, parts.shape[1], max(1, parts.shape[1] // 4))
        for axes in panels.flat:
            axes.set_xticks(ticks)
            axes.set_yticks(ticks)
        for axes in panels[:, 0]:
            axes.set_ylabel("own score")
        if above:
            lines = above.strip().split("\n")
            figure.suptitle("\n".join(map(wrapped, lines)), fontsize=LABEL_SIZE)

    write_figure(path, _PANEL * (rows + 1) + 0.7, draw, width=_PANEL * columns + 1.1, dpi=150)


def _draw_parts(
    figure: "Figure", panels: NDArray[Any], usual: Mapping[str, NDArray[Any]], rolls: int
) -> None:
    colours, norm = dice_colours(rolls)
    for axes in panels.flat[len(usual) :]:
        axes.set_visible(False)
    for axes, (name, table) in zip(panels.flat, usual.items(), strict=False):
        image = axes.imshow(table, cmap=colours, norm=norm, origin="lower", interpolation="nearest")
        axes.set_facecolor(UNREACHED)
        axes.set_title(name)
    bar = colour_bar(figure, panels.flat[len(usual) - 1], image, "most probable roll")
    bar.set_ticks(np.arange(0, rolls, math.ceil(rolls / 12)).tolist())


def _draw_entropies(
    figure: "Figure", panels: NDArray[Any], maps: Mapping[str, NDArray[Any]], *, grey: bool
) -> None:
    for axes, (name, table) in zip(panels, maps.items(), strict=True):
        known = table[np.isfinite(table)]
        most = max(float(known.max(initial=0.0)), 1e-9)  # any will do where nothing is uncertain
        image = axes.imshow(
            table, cmap="magma_r", vmin=0.0, vmax=most, origin="lower", interpolation="nearest"
        )
        axes.set_facecolor(UNREACHED)
        axes.set_title(name)
        axes.set_xlabel("opponent's score" + grey * "\ngrey: never reached")
        colour_bar(figure, axes, image, "entropy of the roll (bits)")
