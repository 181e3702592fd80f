"""Maps: strategies, values, counters, mixtures and beliefs, and the win rates of a field."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hogeq.figures.heat_tables import draw_infosets
from hogeq.figures.style import (
    LABEL_SIZE,
    MAX_NAMES,
    MIN_PROBABILITY,
    PANEL,
    WIDTH,
    add_colour_bar,
    as_table,
    check_reach,
    check_rolls,
    choices_of,
    dice_colours,
    draw_map,
    label_outer,
    literal,
    loss_colours,
    new_figure,
    shortened,
    wrapped,
)
from hogeq.strategies.strategy import Strategy
from hogeq.support.messages import HogeqError, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_NUMBERED: Final = 6  # largest field whose win rates are written as numbers
_DICE: Final = "dice to roll"
_LOSS: Final = "loss (pp of win rate)"
_GREY: Final = "grey: never reached"
_MIN_OPACITY: Final = 0.15  # opacity of positions that play reaches most rarely


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
    hint = "a policy is drawn by figures.policy, or purify it first"
    checked = as_table(array, "matrix", hint=hint)
    table, least = choices_of(array, checked)  # the least choice is 0 or -1
    if rolls is None:
        rolls = max(int(table.max()) + 1, 11) - least
    check_rolls(table, rolls, "matrix", least)
    colours = dice_colours(rolls, least)
    reach_table = check_reach("matrix", table, reach)
    if reach_table is None:
        with new_figure(path, 2.9) as figure:
            draw_map(figure.subplots(), table, title, _DICE, **colours)
        return figure
    with _two_maps(path, title) as (figure, above, below):
        draw_map(above, table, "all positions", _DICE, **colours)
        rolls_reached = np.where(reach_table > 0.0, table, np.nan)
        note = "grey: never reached; pale: rarely"
        options = {**colours, "alpha": _opacity(reach_table), "reach": reach_table, "note": note}
        draw_map(below, rolls_reached, "where its play comes", _DICE, **options)
    return figure


def policy(
    array: ArrayLike,
    path: str | Path | None = None,
    title: str = "",
    reach: ArrayLike | None = None,
) -> "Figure":
    """Draw a policy: the most probable roll of every position, and below it, its probability.

    Of another game than Hog a strategy is drawn as a heat table: a row for each information set, a
    column for each action, the first 400 rows and 30 columns.

    Parameters
    ----------
    array : array_like of float, shape (G, G, K)
        Probabilities of the rolls; row = own score. Or a `Strategy` of another game.
    reach : array_like of float, shape (G, G), optional
        Probability of coming to move there; grey where play never comes, since a policy there is
        mostly what its solver began with. For Hog alone.

    Examples
    --------
    >>> import hogeq
    >>> solved = hogeq.Game("kuhn").solve("cfr_plus", iterations=20)
    >>> picture = hogeq.figures.policy(solved.strategy, "kuhn.png", "Kuhn poker")
    """
    if isinstance(array, Strategy) and not array.has_scores:
        if reach is not None:
            raise HogeqError("reach: allowed for strategies of Hog, which are drawn by scores")
        return draw_infosets(array, path, title)
    hint = "a matrix is drawn by figures.matrix"
    table = as_table(array, "policy", "(G, G, K)", hint).astype(np.float64)
    reach_table = check_reach("policy", table, reach)
    has_unreached = reach_table is not None and (reach_table <= 0.0).any()
    grey: dict[str, Any] = {"reach": reach_table, "note": _GREY} if has_unreached else {}
    with _two_maps(path, title) as (figure, above, below):
        likeliest_rolls, least = choices_of(array, table.argmax(axis=2))
        colours = dice_colours(table.shape[2], least)
        draw_map(above, likeliest_rolls, "most probable roll", _DICE, **colours, **grey)
        options = {"cmap": "cividis", "vmin": 0.0, "vmax": 1.0, **grey}
        draw_map(below, table.max(axis=2), "its probability", "probability", **options)
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
    reach_table = as_table(reach, "reach")
    if not dice_gap.shape == win_rate_gains.shape == reach_table.shape:
        raise HogeqError(
            f"counter: shapes are {dice_gap.shape}, {win_rate_gains.shape}, {reach_table.shape}"
        )
    gap_reached = np.where(reach_table > 0.0, dice_gap, np.nan)
    largest = max(1, math.ceil(np.nanmax(np.abs(gap_reached), initial=0.0)))  # end of the scale
    losses = np.where(reach_table > 0.0, 100.0 * win_rate_gains, 0.0)
    counter_name, rival_name = map(shortened, names)
    with _two_maps(path, title) as (figure, above, below):
        label = f"dice of {counter_name} less {rival_name}"
        # Blue to red, with a difference of 0 nearly white.
        shades: dict[str, Any] = {"cmap": "RdBu_r", "vmin": -largest, "vmax": largest}
        draw_map(above, gap_reached, "how its rolls differ", label, reach=reach_table, **shades)
        note = f"{_GREY}; blue: a gain" if (losses < 0.0).any() else _GREY
        heading = f"what the rolls of {rival_name} lose"
        shades = loss_colours(losses)
        draw_map(below, losses, heading, _LOSS, note=note, reach=reach_table, **shades)
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
        problem = f"{len(names)} names, shape {table.shape}"
        raise HogeqError(f"win rates: {problem}; allowed: n names, (n, n), n at least 2")
    order = np.argsort(-table.mean(axis=1), kind="stable")
    percentages = 100.0 * table[np.ix_(order, order)]
    num_named = len(names) if len(names) <= 400 else 0  # names of more could not be read
    largest = max(1.0, float(np.abs(percentages - 50.0).max()))  # difference from one half
    extra_inches = 0.13 * max(0, num_named - 8)  # so that names do not overlap
    dots = 300 if num_named <= MAX_NAMES else 130  # pictures of hundreds stay below 30 million dots
    with new_figure(path, 3.2 + extra_inches, WIDTH + extra_inches, dots) as figure:
        axes = figure.subplots()
        options: dict[str, Any] = {"cmap": "RdBu", "vmin": 50.0 - largest, "vmax": 50.0 + largest}
        image = axes.imshow(percentages, interpolation="nearest", **options)
        add_colour_bar(axes, image, "win rate of row against column (%)")
        axes.set_title(wrapped(title))
        axes.set_xlabel("opponent")
        axes.set_ylabel("strategy")
        labels = [shortened(names[entry]) for entry in order[:num_named]]
        axes.xaxis.set_ticks(range(len(labels)), labels, rotation=90)
        axes.yaxis.set_ticks(range(len(labels)), labels, rotation=0)
        if len(names) <= MAX_NUMBERED:
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
    reach_table = np.ones_like(total_entropy) if reach is None else as_table(reach, "reach")
    expected_shape = (len(probabilities), *total_entropy.shape)
    if probabilities.ndim != 1 or component_rolls.shape != expected_shape:
        shapes = f"{probabilities.shape} and {component_rolls.shape}"
        raise HogeqError(f"mixture: shapes are {shapes}; allowed: n parts")
    check_rolls(component_rolls, rolls, "mixture", least)
    shown = np.argsort(-probabilities, kind="stable")[:6].tolist()
    columns = 2 if len(shown) in {1, 2, 4} else 3  # few panels stay empty
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
            rolls_reached = np.where(reach_table > 0.0, component_rolls[component], np.nan)
            colours = dice_colours(rolls, least)
            image = draw_map(axes, rolls_reached, name, reach=reach_table, **colours)
        add_colour_bar(panels.flat[len(shown) - 1], image, "most probable roll")
        label_outer(panels[:rows], len(shown))
        note = _GREY if (reach_table <= 0.0).any() else ""
        for axes, (name, entropy) in zip(panels[rows], entropies.items(), strict=True):
            entropy_reached = np.where(reach_table > 0.0, entropy, np.nan)
            # If all entropies are 0, the end of the scale does not matter but must be positive.
            largest = np.nanmax(entropy_reached, initial=1e-9)
            shades: dict[str, Any] = {"cmap": "magma_r", "vmin": 0.0, "vmax": largest}
            label = "entropy of the roll (bits)"
            draw_map(axes, entropy_reached, name, label, note=note, reach=reach_table, **shades)
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
            # A logarithmic scale cannot show 0, and nothing is drawn where a value is NaN.
            drawn = np.where(
                probabilities > 0.0, np.maximum(probabilities, MIN_PROBABILITY), np.nan
            )
            options: dict[str, Any] = {"cmap": "viridis_r", "norm": LogNorm(MIN_PROBABILITY, 1.0)}
            image = axes.imshow(drawn, aspect="auto", origin="lower", **options)
            for axis, names in ((axes.yaxis, rows[1]), (axes.xaxis, columns[1])):
                # The last value has a label, and of the others as many as there is room for.
                step = math.ceil(len(names) / 8)
                ticks = [*range(0, len(names) - step, step), len(names) - 1]
                axis.set_ticks(ticks, [names[tick] for tick in ticks])
            axes.set_ylabel(rows[0])
            heading = f"{title}\n{name}" if title and axes is maps[0] else name
            axes.set_title(literal(heading))
        maps[-1].set_xlabel(columns[0])
        label = f"probability (below {MIN_PROBABILITY:g}: as {MIN_PROBABILITY:g})"
        figure.colorbar(image, ax=maps.tolist(), label=label)
    return figure


@contextmanager
def _two_maps(path: str | Path | None, title: str) -> Iterator[tuple["Figure", "Axes", "Axes"]]:
    """Give axes for two maps to draw in a block, one above the other, with the same scores."""
    with new_figure(path, 5.6) as figure:
        if title:
            figure.suptitle(wrapped(title), fontsize=LABEL_SIZE)
        above, below = figure.subplots(2, 1, sharex=True)
        yield figure, above, below
        above.label_outer()


def _opacity(reach: NDArray[Any]) -> NDArray[np.float64]:
    """Opacity of positions (G, G) by their reach probability.

    It is 1 from the median of the reached positions on, and falls with the logarithm of the reach
    down to `_MIN_OPACITY`, at `MIN_PROBABILITY` times the median.
    """
    positive = reach[reach > 0.0]
    median = np.median(positive) if positive.size else 1.0
    relative_reach = np.clip(reach / median, MIN_PROBABILITY, 1.0)
    share = 1.0 - np.log(relative_reach) / np.log(MIN_PROBABILITY)  # 0 to 1
    return _MIN_OPACITY + (1.0 - _MIN_OPACITY) * share
