"""A heat table of a strategy of a game other than Hog: its probabilities by information set."""

import math
from collections.abc import Hashable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from hogeq.figures.style import (
    LABEL_SIZE,
    add_colour_bar,
    literal,
    new_figure,
    shortened,
    wrapped,
)
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats
from hogeq.support.messages import HogeqError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

MAX_INFOSETS: Final = 400  # most that are drawn
MAX_ACTIONS: Final = 30  # most that are drawn, of all these information sets together
PANEL_ROWS: Final = 48  # most information sets below each other
PANEL_COLUMNS: Final = 6  # most panels beside each other
MAX_WIDTH: Final = 24.0  # of the figure, in inches, if it has panels beside each other
_ROW: Final = 0.13  # height of an information set, in inches
_COLUMN: Final = 0.32  # width of an action
_NAME: Final = 1.3  # room for the names of a panel


class _Panel(NamedTuple):
    """Information sets of one player that stand below each other."""

    title: str
    names: list[str]
    probabilities: Floats  # (r, K), NaN where an information set lacks the action


def draw_infosets(strategy: Strategy, path: str | Path | None, title: str) -> "Figure":
    """Draw the probability of every action at every information set, for `figures.policy`.

    A row is an information set, a column is an action by its name; a cell is empty where there is
    no such action. Of more information sets the first `MAX_INFOSETS` are drawn, of more actions the
    first `MAX_ACTIONS`.
    """
    rows = [(row, chances) for row, chances in strategy.listed()]
    shown_rows = rows[:MAX_INFOSETS]
    names = [*dict.fromkeys(str(action) for _, chances in shown_rows for action in chances)]
    if not names:
        raise HogeqError("policy: nobody decides; allowed: strategies of games with decisions")
    actions = names[:MAX_ACTIONS]
    probabilities = _by_action([chances for _, chances in shown_rows], actions)
    heading = title
    if len(shown_rows) < len(rows):
        heading += f"\nthe first {len(shown_rows)} of {len(rows):,} information sets"
    if len(actions) < len(names):
        heading += f"\nthe first {len(actions)} of {len(names):,} actions"
    panels = []
    for seat in dict.fromkeys(row.seat for row, _ in shown_rows):
        own = [number for number, (row, _) in enumerate(shown_rows) if row.seat == seat]
        # Panels of one player have the same height, up to one row.
        for part in np.array_split(own, math.ceil(len(own) / PANEL_ROWS)):
            infosets = [str(shown_rows[number][0].key) for number in part]
            panels.append(_Panel(f"player {seat}", infosets, probabilities[part]))
    panel_width = _NAME + _COLUMN * len(actions)
    most_columns = min(PANEL_COLUMNS, max(1, int(MAX_WIDTH / panel_width)))
    columns = min(len(panels), most_columns)
    lines = math.ceil(len(panels) / columns)
    most_names = max(len(panel.names) for panel in panels)
    width = 0.7 + columns * panel_width
    height = 0.5 + lines * (0.6 + _ROW * most_names)
    with new_figure(path, height, width, dpi=150) as figure:
        grid = figure.subplots(lines, columns, squeeze=False)
        for axes in grid.flat[len(panels) :]:
            axes.set_visible(False)
        for axes, panel in zip(grid.flat, panels, strict=False):
            image = _draw_panel(axes, panel, actions, most_names)
        add_colour_bar(grid.flat[min(columns, len(panels)) - 1], image, "probability")
        if heading:
            titles = map(wrapped, heading.strip().splitlines())
            figure.suptitle("\n".join(titles), fontsize=LABEL_SIZE)
    return figure


def _by_action(rows: list[dict[Hashable, float]], actions: list[str]) -> Floats:
    """Lay out probabilities as a table, (r, K), by the names of K actions; NaN where one lacks."""
    column_of = {action: column for column, action in enumerate(actions)}
    probabilities = np.full((len(rows), len(actions)), np.nan)
    for number, chances in enumerate(rows):
        for action, probability in chances.items():
            if str(action) in column_of:
                probabilities[number, column_of[str(action)]] = probability
    return probabilities


def _draw_panel(axes: "Axes", panel: _Panel, actions: list[str], most_names: int) -> "AxesImage":
    """Draw a panel, with room below it for as many information sets as the longest has."""
    look: dict[str, Any] = {"cmap": "cividis", "vmin": 0.0, "vmax": 1.0, "aspect": "auto"}
    image = axes.imshow(panel.probabilities, interpolation="nearest", **look)
    for (row, column), probability in np.ndenumerate(panel.probabilities):
        if np.isfinite(probability):
            ink = "black" if probability > 0.5 else "white"
            text: dict[str, Any] = {"ha": "center", "va": "center", "color": ink, "fontsize": 5}
            axes.text(column, row, f"{probability:.2f}", **text)
    names = [shortened(name) for name in panel.names]
    axes.set_yticks(range(len(names)), names)
    axes.set_xticks(range(len(actions)), [*map(shortened, actions)], rotation=90)
    axes.set_ylim(most_names - 0.5, -0.5)
    axes.set_title(literal(panel.title))
    return image
