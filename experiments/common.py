"""What the experiments share: arguments, small games, solved strategies, a table, a figure."""

import argparse
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np

from hogeq.figures.style import number_log_axis
from hogeq.model.game import HogEngine, compile_game
from hogeq.rules import rules_from
from hogeq.search.results import Budget
from hogeq.solvers import SOLVERS
from hogeq.solvers.base import Solver
from hogeq.support.aliases import Floats
from hogeq.support.files import replacing

Points = Sequence[tuple[float, float]]

EFFORT: Final = {"starts": 16, "anneal_steps": 60, "kicks": 20, "seed": 1_000_003}
"""Options of the attack that tables quote, unless their page says otherwise.

No training uses that seed.
"""

HOG: Final = {"regret_weight": "reach", "alternating": False}
"""Parameters of CFR's variants on Hog, where the weights of their papers do badly."""

DECADES = 2.0  # up to which 2 and 5 of each are labelled too


def arguments(about: str | None, **defaults: Any) -> argparse.Namespace:
    """Parse the command line: ``--out DIR`` and one option for each default, of its type.

    Parameters
    ----------
    about : str
        The experiment's docstring.
    **defaults
        Names and defaults; a tuple takes any number of values.
    """
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path("results"), help="folder (results)")
    for name, default in defaults.items():
        several = isinstance(default, tuple)
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            type=type(default[0] if several else default),
            nargs="+" if several else None,
            default=default,
            help=f"({default})",
        )
    return parser.parse_args()


def effort(given: argparse.Namespace) -> Budget:
    """Give the effort of an attack, by the options of `EFFORT`."""
    kicks, seed = given.kicks, given.seed
    return Budget(given.starts, given.anneal_steps, kicks=kicks, seed=seed)


def small_game(edition: str, goal: int, dice: int) -> HogEngine:
    """Compile an edition to another goal and number of dice; 0 is what the edition has."""
    sizes = {"goal": goal, "max_dice": dice}
    return compile_game(
        rules_from({"edition": edition, **{key: size for key, size in sizes.items() if size}})
    )


def solved(game: HogEngine, name: str, iterations: int, **parameters: Any) -> Floats:
    """Run a solver and give its policy."""
    solver = SOLVERS[name](**parameters)
    state = solver.init(game)
    for _ in range(iterations):
        state = solver.step(game, state)
    return np.asarray(solver.average(game, state))


def course(game: HogEngine, solver: Solver[Any]) -> Iterator[tuple[Any, float]]:
    """Run a solver without end: its state after each iteration, and its processor seconds so far.

    Seconds count its first state too, but neither what is compiled first nor what is done with a
    state before the next is asked for.
    """
    solver.step(game, solver.init(game))
    began = time.process_time()
    state = solver.init(game)
    seconds = time.process_time() - began
    while True:
        began = time.process_time()
        state = solver.step(game, state)
        seconds += time.process_time() - began
        yield state, seconds


def publish(out: Path, name: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table in Markdown, each row as it comes, and write it to ``out/name.md``."""
    text = ""
    for row in chain([header, ["---"] * len(header)], rows):
        line = f"| {' | '.join(map(str, row))} |\n"
        print(line, end="", flush=True)
        text += line
    out.mkdir(parents=True, exist_ok=True)
    with replacing(out / f"{name}.md") as path:
        path.write_text(text, encoding="utf-8")


def draw(
    out: Path,
    name: str,
    panels: Mapping[str, Mapping[str, Points]],
    up: str,
    *,
    logarithmic: bool = True,
) -> None:
    """Draw lines to ``out/name.png``.

    Parameters
    ----------
    out : Path
    name : str
    panels : mapping of str to mapping of str to points
        What goes to the right, one panel each; in it the lines by their names.
    up : str
        What goes up.
    logarithmic : bool
        Both axes.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.5 * len(panels), 4.5), layout="constrained")
    labels: dict[str, Any] = {}
    for index, (right, lines) in enumerate(panels.items()):
        axes = figure.add_subplot(1, len(panels), index + 1)
        if logarithmic:
            axes.set_xscale("log")
            axes.set_yscale("log")
        for number, (label, points) in enumerate(lines.items()):
            marker = "os^Dvx+*<>ph"[number % 12]
            style = "-" if number < 10 else "--"  # from here on colours come again
            (labels[label],) = axes.plot(
                *zip(*points, strict=True), marker=marker, ms=3, lw=1, linestyle=style
            )
        if logarithmic:
            every = np.array([point for points in lines.values() for point in points])
            number_log_axis(axes.xaxis, every[:, 0], DECADES)
            number_log_axis(axes.yaxis, every[:, 1], DECADES)
        axes.set_xlabel(right)
        axes.set_ylabel(up)
        axes.grid(alpha=0.4, linewidth=0.4)
    columns = 2 + len(panels)
    figure.legend(
        labels.values(), labels.keys(), loc="outside lower center", ncols=columns, frameon=False
    )
    out.mkdir(parents=True, exist_ok=True)
    with replacing(out / f"{name}.png") as path:
        figure.savefig(path, format="png", dpi=150, metadata={"Software": None})
