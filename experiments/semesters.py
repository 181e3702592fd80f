"""Hog by semester: what moving first is worth, how long a game lasts, what is optimal.

    python experiments/semesters.py

prints a table and writes it to results/semesters.md, draws results/semesters.png, and one sheet of
optimal tables for each family of editions into docs/figures/editions/.

The value is that of whoever moves first, both players remembering everything. Where nothing is
hidden the tables are the solution; elsewhere they are the best that ignores the memory
(`ignore_memory`).
The turns are those of a whole game between two players of that table, on average.
"""

import math
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
from common import arguments, publish

from hogeq.baselines.registry import builtin
from hogeq.evaluation.tablebase import solve
from hogeq.evaluation.values import reach
from hogeq.figures.style import PANEL, dice_colours, draw_map, label_outer, new_figure
from hogeq.model.game import compile_game
from hogeq.rules import ALIASES, EDITIONS
from hogeq.support.aliases import Matrix, Policy
from hogeq.support.files import replacing

FAMILIES = {
    "boar-brawl": ("fa23", "su23"),
    "landings": ("fa22", "su22", "sp22", "fa21"),
    "extra-turns": ("fa20", "sp21"),
    "feral-hogs": ("su20", "sp20", "fa19"),
    "time-trot": ("su21", "sp19", "fa18", "fa17"),
    "swine-swap": ("hw13", "fa15", "su15", "sp17", "sp18", "su19"),
}
PARTS_OF_A_YEAR = ("sp", "su", "fa", "hw", "hog")
SHEETS = Path("docs/figures/editions")


class Measured(NamedTuple):
    """What was computed of one edition."""

    value: float
    first_roll: int
    turns: float
    hidden: int
    table: Matrix | Policy


def measure(edition: str) -> Measured:
    """Solve one edition."""
    game = compile_game(EDITIONS[edition])
    best = solve(game)
    table = builtin("ignore_memory", game).array
    turns = 2 * float(reach(game, table).sum())
    return Measured(best.value, best.first_roll, turns, game.memory_size, table)


def semesters() -> dict[str, str]:
    """Give every semester's edition, by time."""
    played = {name: name for name in EDITIONS} | ALIASES

    def time(term: str) -> tuple[int, int]:
        part, year = re.findall("[a-z]+|[0-9]+", term)[:2]
        return int(year), PARTS_OF_A_YEAR.index(part)

    return {term: played[term] for term in sorted(played, key=time)}


def draw(path: Path, measured: dict[str, Measured]) -> None:
    """Draw value and length by semester."""
    from matplotlib.figure import Figure

    terms = semesters()
    figure = Figure(figsize=(9, 5), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    places = np.arange(len(terms))
    for hidden, colour, label in (
        (False, "#0072B2", "nothing hidden: exact"),
        (True, "#D55E00", "hidden memory: with full memory"),
    ):
        chosen = [
            place
            for place, edition in enumerate(terms.values())
            if (measured[edition].hidden > 1) == hidden
        ]
        found = [measured[list(terms.values())[place]] for place in chosen]
        first = [100 * (one.value - 0.5) for one in found]
        above.vlines(chosen, 0, first, colour, linewidth=1.5)
        above.plot(chosen, first, "o", color=colour, markersize=5, label=label)
        below.plot(chosen, [one.turns for one in found], "o", color=colour, markersize=5)
    above.axhline(0, color="black", linewidth=0.8)
    above.set_ylabel("moving first is worth\n(points of win rate)")
    below.set_ylabel("turns of a game\nof equals")
    below.set_ylim(bottom=0)
    labels = [term if term == edition else f"{term} = {edition}" for term, edition in terms.items()]
    below.set_xticks(places, labels, rotation=60, ha="right", rotation_mode="anchor")
    above.legend(frameon=False, loc="upper left")
    for axes in (above, below):
        axes.grid(axis="y", alpha=0.4, linewidth=0.4)
        axes.spines[["top", "right"]].set_visible(False)
    with replacing(path) as temporary:
        figure.savefig(temporary, format="png", dpi=130, metadata={"Software": None})


def draw_sheet(path: Path, tables: dict[str, Matrix | Policy]) -> None:
    """Draw matrices side by side, in rows of up to four."""
    columns = len(tables) if len(tables) <= 4 else 3
    rows = math.ceil(len(tables) / columns)
    size = PANEL * rows + 0.6, PANEL * columns + 0.9
    with new_figure(path, *size, dpi=150) as figure:
        panels = figure.subplots(rows, columns, squeeze=False)
        for axes, (name, table) in zip(panels.flat, tables.items(), strict=False):
            image = draw_map(axes, table, name, **dice_colours(11))
        label_outer(panels, len(tables))
        bar = figure.colorbar(image, ax=panels, label="dice to roll", shrink=0.9, aspect=25)
        bar.set_ticks(range(11))


def main() -> None:
    """Print the table, draw the pictures."""
    given = arguments(__doc__, sheets=str(SHEETS))
    measured = {edition: measure(edition) for edition in dict.fromkeys(semesters().values())}
    rows = []
    for edition, one in measured.items():
        also = [term for term, same in semesters().items() if same == edition != term]
        advantage = f"{100 * (one.value - 0.5):+.2f}"
        rows.append([edition, " ".join(also), f"{one.value:.10f}", advantage, one.first_roll])
        rows[-1].append(f"{one.turns:.1f}")
    header = ["edition", "played again", "mover's value", "moving first is worth, points"]
    publish(given.out, "semesters", [*header, "first roll", "turns of a game"], rows)
    draw(given.out / "semesters.png", measured)
    sheets = Path(given.sheets)
    sheets.mkdir(parents=True, exist_ok=True)
    for family, editions in FAMILIES.items():
        tables = {edition: measured[edition].table for edition in editions}
        draw_sheet(sheets / f"{family}.png", tables)


if __name__ == "__main__":
    main()
