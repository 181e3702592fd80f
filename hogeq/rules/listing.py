"""Rules as plain values and as text: the parts of an edition, and the keys of a YAML file."""

from dataclasses import asdict
from typing import Any

from hogeq.rules.edition import ALIASES, EDITIONS, describe, names_of
from hogeq.rules.memory import all_memories
from hogeq.rules.register import EFFECTS, MEMORY_PARTS, PARTS
from hogeq.rules.rules import COUNT_ONES, FERAL_HOGS, Rules, Throw, kinds_of_dice
from hogeq.rules.turn import TurnTable
from hogeq.support.messages import Table, Text

KNOWN = {**PARTS, "feral_hogs": FERAL_HOGS, "memory": MEMORY_PARTS, "effect": EFFECTS}


def facts(rules: Rules) -> dict[str, Any]:
    """Give rules as plain values, with their semesters, parts and mean points."""
    facts, turns = asdict(rules), TurnTable(rules)
    del facts["name"]
    return {
        **facts,
        "semesters": list(names_of(rules)),
        "memory_size": len(all_memories(rules)),
        "parts": [{"part": part, "meaning": meaning} for part, meaning in describe(rules)],
        "mean_points": {
            sides: [turns.mean(dice, Throw(sides)) for dice in range(1, rules.max_dice + 1)]
            for sides in kinds_of_dice(rules)
        },
    }


def mean_points(rules: Rules) -> Text:
    """Lay out the mean points of a turn by number of dice and sides."""
    means: dict[int, list[float]] = facts(rules)["mean_points"]
    rows = [
        (count, *(f"{mean:.4f}" for mean in row))
        for count, row in enumerate(zip(*means.values(), strict=True), 1)
    ]
    best = [
        f"{column.index(max(column)) + 1} of {sides} sides, {max(column):.4f}"
        for sides, column in means.items()
    ]
    header = ("dice", *(f"points, {sides}-sided" for sides in means))
    return [Table(rows, header, left=0), "", f"most on average: {'; '.join(best)}"]


def described(rules: Rules, asked: str) -> list[str]:
    """Lay out the parts of rules, by the name that was asked for."""
    size = len(all_memories(rules))
    memory = f"hidden memory of {size} values" if size > 1 else "no hidden memory"
    title = f"{asked}, the game of {rules.name}" if asked in ALIASES else rules.name
    also = ", ".join(name for name in names_of(rules)[1:] if name != asked)
    played = f", also {also}" if also else ""
    return [
        f"{title}{played} ({memory})",
        *(f"  {line}" for line in Table(describe(rules), left=2).lines()),
    ]


def switches() -> list[str]:
    """List the keys of a YAML file of rule parts, with their values."""
    choices = {**KNOWN, "pig_out": (0, 1, COUNT_ONES)}
    rows = [("edition", ", ".join([*EDITIONS, *ALIASES]))]
    for key, value in asdict(Rules()).items():
        if key in choices:
            rows.append((key, ", ".join(map(str, choices[key]))))
        elif isinstance(value, bool):
            rows.append((key, "true, false"))
        elif key != "name":
            rows.append((key, "a whole number"))
    heading = "switches of a YAML file, each with its values; an edition, and what differs from it"
    return [heading, *(f"  {line}" for line in Table(rows, left=2).lines())]
