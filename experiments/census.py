"""Which small games of Hog have an equilibrium in policies: a census, with proofs.

    python experiments/census.py                       # all that is not there yet
    python experiments/census.py --goals 14 --editions su20 --dice 2 --sides 6 --seconds 600
    python experiments/census.py --again 1             # all that is decided there
    python experiments/check_existence.py results/existence/proofs

Writes a line of results/existence/census.jsonl for each game as soon as it is decided, and its
proof to results/existence/proofs; games that are there are passed over, unless they are open and
there are more seconds now. With `again` those that are decided there are decided again, and no
others. What is proved is never replaced by less. Then results/existence.md,
results/existence_memory.md and results/existence.png are made of all lines. Seconds are the
processor's.
"""

import argparse
import gzip
import json
import time
from decimal import ROUND_DOWN, ROUND_UP, Decimal
from itertools import product
from pathlib import Path
from typing import Any

from common import arguments, publish

import hogeq
from hogeq.support.files import replacing

EDITIONS = ("su20", "sp20", "su21", "fa18", "fa19", "sp19", "fa17", "fa13")
FORMAT = "equilibria of hog 1"
LETTERS = {
    "matrix": ("pure", "#9ecae1"),
    "policy": ("policy", "#3182bd"),
    "none": ("none", "#d95f02"),
    "open": ("open", "#ffffff"),
}
STRENGTH = {"open": 0, "none": 1, "policy": 1, "matrix": 2}  # by what is proved
Line = dict[str, Any]


def main() -> None:
    """Decide what is left, and make the table."""
    given = arguments(
        __doc__,
        editions=EDITIONS,
        goals=tuple(range(4, 15)),
        dice=(1, 2, 3),
        sides=(6, 2),
        seconds=30.0,
        again=0,
    )
    folder = given.out / "existence"
    (folder / "proofs").mkdir(parents=True, exist_ok=True)
    lines = read(folder / "census.jsonl")
    for goal, sides, dice, edition in product(given.goals, given.sides, given.dice, given.editions):
        name = f"{edition}-{goal}x{dice}" + ("" if sides == 6 else f"-{sides}_sides")
        known = lines.get(name)
        is_decided = known and known["kind"] != "open"
        if bool(given.again) != bool(is_decided):
            continue
        if known and not is_decided and known["limit"] >= given.seconds:
            continue
        rules = {"edition": edition, "goal": goal, "max_dice": dice, "sides": sides}
        lines[name] = line = decided(name, rules, given.seconds, folder / "proofs", known)
        print(json.dumps(line), flush=True)
        with replacing(folder / "census.jsonl") as path:
            path.write_text("".join(f"{json.dumps(one)}\n" for one in lines.values()), "utf-8")
    tables(given, lines)


def read(path: Path) -> dict[str, Line]:
    """Read the lines of games by their names."""
    text = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {line["name"]: line for line in map(json.loads, text)}


def decided(
    name: str, rules: dict[str, Any], seconds: float, proofs: Path, known: Line | None
) -> Line:
    """Decide one game, and write its proof, unless a proof that is there shows more."""
    found = hogeq.Game(rules).existence(seconds, time.process_time)
    facts = {**found.to_json(), "lower": rounded_down(found.lower)}
    facts["seconds"] = round(found.seconds, 2)
    line = {"name": name, **rules, **facts, "limit": seconds}
    if known and rank(known) > rank(line):
        return joined(known, line)
    if found.proof:
        proof = {
            "format": FORMAT,
            "rules": rules,
            "kind": found.kind,
            "lower": rounded_down(found.lower),
        }
        data = json.dumps({**proof, **found.proof}).encode()
        with replacing(proofs / f"{name}.json.gz") as path:
            path.write_bytes(gzip.compress(data, mtime=0))
    return joined(line, known) if known else line


def rank(line: Line) -> tuple[int, float]:
    """Order what is proved of a game."""
    return STRENGTH[line["kind"]], line["lower"]


def joined(better: Line, other: Line) -> Line:
    """Add to what is proved of a game what another run knows: its upper bound, an equilibrium."""
    line = {**better, "upper": min(better["upper"], other["upper"])}
    if not better["components"]:
        line |= {name: other[name] for name in ("components", "memory")}
    return line


def rounded_down(lower: float) -> float:
    """Round to two digits, and less than that: a checker has margins of its own."""
    digit = Decimal(0.999 * lower)
    return float(digit.quantize(Decimal(1).scaleb(digit.adjusted() - 1), ROUND_DOWN))


def tables(given: argparse.Namespace, lines: dict[str, Line]) -> None:
    """Write tables, a line for each edition, sides and dice, a column for each goal."""
    goals = sorted({line["goal"] for line in lines.values()})
    cells = {(one["edition"], one["sides"], one["max_dice"], one["goal"]): one
             for one in lines.values()}  # fmt: skip
    kinds = sorted(
        {key[:3] for key in cells}, key=lambda key: (-key[1], EDITIONS.index(key[0]), key[2])
    )
    for name, write in (("existence", written), ("existence_memory", remembered)):
        rows = (
            [*key, *(write(cells.get((*key, goal), {"kind": "not tried"})) for goal in goals)]
            for key in kinds
        )
        publish(given.out, name, ["edition", "sides", "dice", *goals], rows)
    picture(given.out, goals, kinds, cells)


def picture(out: Path, goals: list[int], kinds: list[Any], cells: dict[Any, Line]) -> None:
    """Draw the table: a square for each game, its colour by what is known."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(1.5 + 0.5 * len(goals), 1.2 + 0.22 * len(kinds)), layout="constrained")
    axes = figure.add_subplot()
    for kind, (letter, colour) in LETTERS.items():
        points = [
            (goals.index(goal), place)
            for place, key in enumerate(kinds)
            for goal in goals
            if cells.get((*key, goal), {}).get("kind") == kind
        ]
        if points:
            x, y = zip(*points, strict=True)
            axes.scatter(x, y, s=70, marker="s", color=colour, edgecolor="0.4", label=letter)
    axes.set_xticks(range(len(goals)), [str(goal) for goal in goals])
    names = [
        f"{edition}, {dice} " + ("dice" if sides == 6 else "coins")
        for edition, sides, dice in kinds
    ]
    axes.set_yticks(range(len(kinds)), names, fontsize=7)
    axes.invert_yaxis()
    axes.set_xlabel("goal")
    figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    with replacing(out / "existence.png") as path:
        figure.savefig(path, format="png", dpi=120, metadata={"Software": None})


def above(upper: float) -> str:
    """Write two digits, rounded up."""
    digit = Decimal(upper)
    return f"{digit.quantize(Decimal(1).scaleb(digit.adjusted() - 1), ROUND_UP):.1e}"


def written(line: Line) -> str:
    """Write what is known of a game."""
    others = {"matrix": "pure", "none": "**none**", "not tried": ""}
    known = others.get(line["kind"], str(line["kind"]))
    upper = line.get("upper", 0.0)
    if line["kind"] == "none" and upper < 0.5:
        return f"{known}, {Decimal(str(line['lower'])):.1e} to {above(upper)}"
    return f"{known}, at most {above(upper)}" if 0.0 < upper < 0.5 else known


def remembered(line: Line) -> str:
    """Write what full memory wins beyond 1/2 against the equilibrium, in percentage points."""
    memory = line.get("memory")
    return "" if memory is None else f"{abs(100.0 * memory):.2f}"


if __name__ == "__main__":
    main()
