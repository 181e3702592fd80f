"""Exploitability against seconds of solving, for every solver.

    python experiments/convergence.py --edition su20
    python experiments/convergence.py --edition su21
    python experiments/convergence.py --edition su20 --curves results/convergence_su20.csv

Each solver gets its iterations and a limit of processor seconds spent solving, whichever ends
first; after 1, 2, 3, 5, 8, ... iterations its policy is attacked by a small effort (--curve-...),
and at its end by that of all tables too. Prints a Markdown table of where each solver stood at its
best and at its end, and one of its end by both efforts, and writes results/convergence_EDITION.md,
the curves as .csv and .png, and results/order_EDITION.md. With --curves nothing is computed: the
figure is drawn from such a .csv.
"""

import csv
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from common import EFFORT, HOG, arguments, course, effort, publish, small_game

from hogeq.figures.style import number_log_axis
from hogeq.model.game import HogEngine
from hogeq.search.attack import attack
from hogeq.search.bounds import full_memory_bound
from hogeq.search.results import Budget
from hogeq.solvers import SOLVERS
from hogeq.support.aliases import Floats
from hogeq.support.files import replacing
from hogeq.support.pacing import schedule

PARAMETERS: dict[str, tuple[str, dict[str, Any]]] = {
    "cfr": ("cfr", {"average_weight": "reach", **HOG}),
    "cfr_plus": ("cfr_plus", {"average_weight": "reach", **HOG}),
    "linear": ("linear", {"average_weight": "reach", **HOG}),
    "dcfr": ("dcfr", {"average_weight": "reach", **HOG}),
    "dcfr, tuned": ("dcfr", {"alpha": 1.0, "gamma": 1.0, "average_weight": "reach", **HOG}),
    "pcfr_plus": ("pcfr_plus", {"average_weight": "reach", **HOG}),
    "fsicfr": ("fsicfr", {}),
    "cfr_br": ("cfr_br", {"averaging": "last"}),
    "fictitious": ("fictitious", {"step_size": "square_root", "keep_matrices": False}),
    "double_oracle": ("double_oracle", {"responder_steps": 20}),
    "mirror": ("mirror", {}),
    "bundle": ("bundle", {}),
}

AGAINST_RESPONDERS = ("cfr_br", "bundle", "fictitious", "double_oracle")

# The first eight are of Okabe and Ito, "Color universal design" (2008), yellow left out, the others
# of Paul Tol's muted scheme. None is used twice.
COLOURS = {
    "dcfr": "#0072B2",
    "dcfr, tuned": "#56B4E9",
    "cfr_plus": "#D55E00",
    "pcfr_plus": "#E69F00",
    "mirror": "#009E73",
    "cfr": "#000000",
    "linear": "#CC79A7",
    "fsicfr": "#8C564B",
    "cfr_br": "#332288",
    "bundle": "#AA3377",
    "fictitious": "#117733",
    "double_oracle": "#999933",
}

LEAST = 1e-9  # exploitability that is drawn where none was found


class Point(NamedTuple):
    """A solver on its way."""

    iteration: int
    seconds: float
    attack: float
    bound: float


Curves = dict[str, list[Point]]


def main() -> None:
    """Print and write the table, draw the figure."""
    given = arguments(
        __doc__,
        edition="su20",
        goal=0,
        dice=0,
        iterations=300,
        seconds=120.0,
        curve_starts=1,
        curve_steps=40,
        curve_kicks=10,
        solvers=tuple(PARAMETERS),
        curves="",
        **EFFORT,
    )
    name = f"convergence_{given.edition}"
    if given.curves:
        draw(read(Path(given.curves)), given.out / f"{name}.png")
        return
    game = small_game(given.edition, given.goal, given.dice)
    small = Budget(given.curve_starts, given.curve_steps, kicks=given.curve_kicks)
    curves: Curves = {}
    rows, ends = [], []
    for solver in given.solvers:
        curve, policy = trace(game, *PARAMETERS[solver], given.iterations, given.seconds, small)
        curves[solver] = curve
        best, last = min(curve, key=lambda point: point.attack), curve[-1]
        strong = attack(game, policy, effort(given)).win_rate
        figures = (f"{rate:.6f}" for rate in (last.attack, strong, last.bound))
        ends.append([solver, last.iteration, *figures])
        rows.append(
            [
                solver,
                best.iteration,
                f"{best.attack:.6f}",
                last.iteration,
                f"{last.seconds:.1f}",
                f"{last.attack:.6f}",
                f"{last.bound:.6f}",
            ]
        )
    header = ["solver", "best after", "attack", "iterations", "seconds", "attack", "bound"]
    publish(given.out, name, header, rows)
    efforts = (given.curve_starts, given.curve_kicks), (given.starts, given.kicks)
    header = ["solver", "iterations", *(f"attack, {n} x {kicks}" for n, kicks in efforts), "bound"]
    publish(given.out, f"order_{given.edition}", header, ends)
    write(curves, given.out / f"{name}.csv")
    draw(curves, given.out / f"{name}.png")


def trace(
    game: HogEngine,
    name: str,
    parameters: dict[str, Any],
    iterations: int,
    limit: float,
    budget: Budget,
) -> tuple[list[Point], Floats]:
    """Run a solver and give iterations, seconds, attack and bound on the way, and the policy."""
    solver = SOLVERS[name](**parameters)
    states, curve = course(game, solver), []
    done, seconds = 0, 0.0
    for moment in schedule(iterations, "log"):
        while done < moment and seconds < limit:
            state, seconds = next(states)
            done += 1
        policy = solver.average(game, state)
        found = attack(game, policy, budget).win_rate
        curve.append(Point(done, seconds, found, full_memory_bound(game, policy)))
        if done < moment:
            break
    return curve, policy


def write(curves: Curves, path: Path) -> None:
    """Write curves as a table, a line for each point."""
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["solver", *Point._fields])
        for solver, curve in curves.items():
            writer.writerows([solver, *point] for point in curve)


def read(path: Path) -> Curves:
    """Read curves back."""
    curves: Curves = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            point = Point(
                int(row["iteration"]),
                float(row["seconds"]),
                float(row["attack"]),
                float(row["bound"]),
            )
            curves.setdefault(row["solver"], []).append(point)
    return curves


def draw(curves: Curves, path: Path) -> None:
    """Draw the attacks against the seconds: self-play, and solvers that answer responders."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    parts = {
        "self-play": [name for name in curves if name not in AGAINST_RESPONDERS],
        "against responders": [name for name in curves if name in AGAINST_RESPONDERS],
    }
    parts = {title: names for title, names in parts.items() if names}
    figure = Figure(figsize=(4.8 * len(parts), 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, len(parts), sharey=True, squeeze=False)[0]
    shown = np.array([point.attack - 0.5 for curve in curves.values() for point in curve])
    shown = np.maximum(shown, LEAST)
    for axes, (title, names) in zip(panels, parts.items(), strict=True):
        axes.set_xscale("log")
        axes.set_yscale("log")
        for name in names:
            axes.plot(
                [max(point.seconds, 1e-3) for point in curves[name]],
                [max(point.attack - 0.5, LEAST) for point in curves[name]],
                color=COLOURS[name],
                marker="o",
                ms=2.5,
                lw=1.3,
            )
        seconds = np.array([max(p.seconds, 1e-3) for name in names for p in curves[name]])
        number_log_axis(axes.xaxis, seconds, 1.5)
        number_log_axis(axes.yaxis, shown, 3.0)
        axes.set_xlabel("processor seconds of solving")
        axes.set_title(title, fontsize=11)
        axes.grid(alpha=0.4, linewidth=0.4)
    panels[0].set_ylabel("attack found (win rate $-$ 1/2)")
    low, high = np.log10(panels[0].get_ylim())
    for axes, names in zip(panels, parts.values(), strict=True):
        ends = {name: max(curves[name][-1].attack - 0.5, LEAST) for name in names}
        heights = {name: (np.log10(end) - low) / (high - low) for name, end in ends.items()}
        for name, height in spread(heights, 0.05).items():
            last = max(curves[name][-1].seconds, 1e-3), ends[name]
            # From the line's end to its name beside the axes.
            axes.annotate(
                name,
                last,
                (1.03, height),
                textcoords="axes fraction",
                color=COLOURS[name],
                fontsize=9,
                va="center",
                annotation_clip=False,
                arrowprops={
                    "arrowstyle": "-",
                    "color": COLOURS[name],
                    "lw": 0.6,
                    "alpha": 0.6,
                    "shrinkA": 0,
                    "shrinkB": 2,
                },
            )
    with replacing(path) as temporary:
        figure.savefig(temporary, format="png", dpi=150, metadata={"Software": None})


def spread(heights: dict[str, float], least: float) -> dict[str, float]:
    """Move heights apart, in their order, until all are so far from their neighbours."""
    names = sorted(heights, key=heights.__getitem__)
    found = np.array([heights[name] for name in names])
    steps = least * np.arange(len(names))
    # Isotonic regression of what is left after equal steps: the least sum of squared moves.
    blocks: list[list[float]] = []
    for value in found - steps:
        blocks.append([value, 1.0])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (one, many), (two, more) = blocks[-2:]
            blocks[-2:] = [[(one * many + two * more) / (many + more), many + more]]
    level = np.concatenate([np.full(int(size), value) for value, size in blocks])
    return dict(zip(names, (level + steps).tolist(), strict=True))


if __name__ == "__main__":
    main()
