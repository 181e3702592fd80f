"""Figures of how good strategies are: exploitability, intervals, the price of safety."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from hogeq.figures.style import (
    ATTACK,
    BOUND,
    LINE_WIDTH,
    MARKER_SIZE,
    MIXED,
    NAMED,
    PURIFIED,
    ROUNDING,
    TICK_SIZE,
    number_log_axis,
    shortened,
    wrapped,
    write_figure,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SPREAD: Final = 0.6  # of a row: what its seeds take at most

_APART: Final = 0.26  # of a row: between two seeds

_UPPER: Final[dict[str, Any]] = {"marker": "s", "color": BOUND, "mfc": "white", "mew": 0.9}

_LOWER: Final[dict[str, Any]] = {"marker": "o", "color": ATTACK, "mew": 0.0}

_NEAR: Final = 0.06  # of the axes' width and height: numbers closer than this overlap


class Measurement(Protocol):
    """Win rates of responders after some iterations, as a run measures them."""

    @property
    def iteration(self) -> int:
        """Iterations done."""

    @property
    def attack(self) -> float:
        """Win rate of the attack found against the average policy."""

    @property
    def bound(self) -> float:
        """Win rate of the responder with full memory."""

    @property
    def purified_attack(self) -> float:
        """Win rate of the attack found against the matrix."""

    @property
    def mixture_attack(self) -> float:
        """Win rate of the attack found against the mixture; NaN if there is none."""

    @property
    def mixture_bound(self) -> float:
        """Win rate of the responder with full memory who is told what was drawn from it."""


def exploitability(
    metrics: Sequence[Measurement],
    path: str | Path,
    title: str = "",
    purified_bound: float | None = None,
) -> None:
    """Draw the exploitability interval against the iterations, both axes logarithmic.

    Parameters
    ----------
    metrics : sequence of Measurement
        In the order of their iterations; at least one.
    path : str or Path
        The PNG to write.
    title : str
        Drawn above the axes.
    purified_bound : float, optional
        Win rate of the responder with full memory against the last matrix. The line of the attacks
        on the matrices is their lower bound; this is where it may reach at its end.

    Raises
    ------
    ValueError
        There is nothing to draw.
    OSError
        The file cannot be written.
    """
    if not metrics:
        raise ValueError("exploitability: no metrics to draw; allowed: one line or more")
    iterations = np.array([row.iteration for row in metrics])
    names = "attack", "bound", "purified_attack", "mixture_attack", "mixture_bound"
    attack, bound, purified, mixture, mixture_bound = (
        _only_positive(np.array([getattr(row, name) for row in metrics]) - 0.5) for name in names
    )

    last = None if purified_bound is None else purified_bound - 0.5

    def draw(figure: "Figure") -> None:
        axes = figure.add_subplot()
        axes.set_xscale("log")
        axes.set_yscale("log")
        between = "average policy"
        axes.fill_between(iterations, attack, bound, color=BOUND, alpha=0.15, lw=0, label=between)
        for values, colour, style, label in (
            (bound, BOUND, "s--", "its upper bound"),
            (attack, ATTACK, "o-", "its attack found"),
            (purified, PURIFIED, "^:", "purified: attack found"),
            (mixture_bound, MIXED, "s--", "mixture: upper bound"),
            (mixture, MIXED, "o-", "mixture: attack found"),
        ):
            if np.isnan(values).all():
                continue
            axes.plot(
                iterations,
                values,
                style,
                color=colour,
                label=label,
                lw=LINE_WIDTH,
                ms=MARKER_SIZE,
            )
        highest = _only_positive(np.array([np.nan if last is None else last]))
        if np.isfinite(highest).all():
            # The interval of the last matrix, beside that of the policy.
            axes.plot(
                [iterations[-1], iterations[-1]],
                [purified[-1], highest[0]],
                color=PURIFIED,
                ls=":",
                lw=LINE_WIDTH,
                marker="v",
                mfc="white",
                markevery=[1],
                ms=MARKER_SIZE + 1,
                label="purified: upper bound",
            )
        axes.set_xlabel("iterations")
        axes.set_ylabel("exploitability (win rate $-$ 1/2)")
        axes.set_title(wrapped(title))
        drawn = [attack, bound, purified, mixture, mixture_bound, highest]
        _number_log_axes(axes, iterations, np.concatenate(drawn))
        # One checkpoint alone would get an axis from 0.1 iterations.
        axes.set_xlim(iterations[0] / 1.2, iterations[-1] * 1.2)
        axes.grid(which="major", linewidth=0.4, alpha=0.5)
        axes.grid(which="minor", linewidth=0.25, alpha=0.25)
        axes.set_axisbelow(True)
        # Below the axes, where no curve can be.
        figure.legend(
            loc="outside lower center",
            ncols=2,
            frameon=False,
            fontsize=TICK_SIZE,
            labelspacing=0.2,
            columnspacing=1.5,
        )

    write_figure(path, 2.7, draw)


def intervals(
    labels: Sequence[str],
    attacks: Sequence[Sequence[float]],
    bounds: Sequence[Sequence[float]],
    path: str | Path,
    title: str = "",
) -> None:
    """Draw the exploitability intervals of many settings, a line each seed, on a logarithmic axis.

    The lines of one setting lie close together, so that their spread is seen.

    Parameters
    ----------
    labels : sequence of str
        Written left of the lines, the first on top. Of more than `NAMED` settings, those with the
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
    OSError
        The file cannot be written.
    """
    if not labels or not len(labels) == len(attacks) == len(bounds):
        raise ValueError(
            f"intervals: {len(labels)} labels, {len(attacks)} attacks, {len(bounds)} bounds; "
            "allowed: as many of each, one or more"
        )
    order = np.argsort([min(row) for row in attacks], kind="stable")[:NAMED]
    shown = sorted(order.tolist())
    if len(shown) < len(labels):
        title = f"{title}, the best {len(shown)} of {len(labels)}"
    found = np.concatenate([np.asarray(bounds[row]) for row in shown])
    found = np.concatenate([found, *(np.asarray(attacks[row]) for row in shown)]) - 0.5
    least = min(found[found > ROUNDING], default=1e-3) / 1.5

    def draw(figure: "Figure") -> None:
        axes = figure.add_subplot()
        axes.set_xscale("log")
        seeds = max(len(attacks[row]) for row in shown)
        apart = min(_APART, _SPREAD / max(seeds - 1, 1))
        size = MARKER_SIZE if seeds == 1 else max(2.0, MARKER_SIZE - 0.3 * seeds)
        for line, row in enumerate(shown):
            low, high = (
                np.maximum(np.asarray(part[row]) - 0.5, least) for part in (attacks, bounds)
            )
            offsets = apart * (np.arange(len(low)) - (len(low) - 1) / 2.0)
            axes.hlines(line + offsets, low, high, color=BOUND, alpha=0.35, lw=0.8 * size)
            # The one is a dot and fits into the other, so that both are seen where they are equal.
            for values, look, label in (
                (high, _UPPER, "full memory: upper bound"),
                (low, _LOWER, "attack found: lower bound"),
            ):
                axes.plot(
                    values,
                    line + offsets,
                    ls="none",
                    **look,
                    ms=size * (1.5 if values is high else 0.9),
                    label=label if not line else None,
                )
        axes.set_yticks(range(len(shown)), [shortened(labels[row]) for row in shown])
        axes.set_ylim(len(shown) - 0.5, -0.5)
        number_log_axis(axes.xaxis, np.maximum(found, least), 1.5)
        axes.set_xlabel("exploitability (win rate $-$ 1/2)")
        axes.set_title(wrapped(title))
        axes.grid(axis="x", which="both", linewidth=0.4, alpha=0.5)
        axes.set_axisbelow(True)
        if seeds > 1:
            axes.plot([], [], " ", label=f"a line for each of {seeds} seeds")
        figure.legend(
            loc="outside lower center",
            ncols=1,
            frameon=False,
            fontsize=TICK_SIZE,
            labelspacing=0.2,
        )

    each = 0.16 + 0.06 * (max(len(attacks[row]) for row in shown) - 1)
    write_figure(path, 1.5 + each * len(shown), draw)


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
    OSError
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
        axes.plot(attacks, won, "o-", color=BOUND, lw=LINE_WIDTH, ms=MARKER_SIZE, label=numbered)
        figure.legend(loc="outside lower center", frameon=False, fontsize=TICK_SIZE)
        if cap is not None:
            axes.axvline(cap, color=ATTACK, ls="--", lw=LINE_WIDTH)
            axes.annotate(
                "cap",
                (cap, 1.0),
                (2, -8),
                xycoords=("data", "axes fraction"),
                textcoords="offset points",
                fontsize=TICK_SIZE,
                color=ATTACK,
            )
        for share, attack, height in _spread_apart(shares, attacks, won):
            axes.annotate(
                f"{share:.2g}",
                (attack, height),
                (4, -8),
                textcoords="offset points",
                fontsize=TICK_SIZE,
            )
        axes.margins(0.08)
        axes.set_xlabel("attack found (win rate against it)")
        axes.set_ylabel(label)
        axes.set_title(wrapped(title))
        axes.grid(linewidth=0.4, alpha=0.5)
        axes.set_axisbelow(True)

    write_figure(path, 2.9, draw)


def _spread_apart(
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


def _number_log_axes(axes: "Axes", iterations: NDArray[Any], shown: NDArray[Any]) -> None:
    number_log_axis(axes.xaxis, np.maximum(iterations, 1), 3.0)
    number_log_axis(axes.yaxis, shown, 3.0)


def _only_positive(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Leave out what a logarithmic axis cannot show."""
    return np.where(values > 0.0, values, np.nan)
