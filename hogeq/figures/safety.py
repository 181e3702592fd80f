"""The figure of the price of safety: what is won from a field, and what is lost to an attack."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hogeq.figures.style import (
    ATTACK,
    BOUND,
    LINE_WIDTH,
    MARKER_SIZE,
    TICK_SIZE,
    wrapped,
    write_figure,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NEAR: Final = 0.06  # of the axes' width and height: numbers closer than this overlap


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
