"""The rules there are: rules."""

from dataclasses import asdict
from typing import Annotated, Any

import typer

from hogeq.cli.inputs import load_rules
from hogeq.cli.shell import (
    JsonOption,
    emit,
    table,
)
from hogeq.rules import ALIASES, EDITIONS, Rules, describe, names_of
from hogeq.rules.memory import all_memories
from hogeq.rules.memory_part import MEMORY_PARTS
from hogeq.rules.parts import COUNT_ONES, FERAL_HOGS, LANDINGS, MORE_BOAR, SWAPS, ZERO_DICE


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("rules")(rules_)


def rules_(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[RULES]", help="An edition or a YAML file, to say all of it."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the editions, their parts and switches."""
    chosen = list(EDITIONS.values()) if name is None else [load_rules(name)]
    data = {
        "editions": {rules.name: _facts(rules) for rules in chosen},
        "parts": {
            "zero_dice": list(ZERO_DICE),
            "feral_hogs": list(FERAL_HOGS),
            "landing": list(LANDINGS),
            "swap": list(SWAPS),
            "more_boar": list(MORE_BOAR),
            "memory": list(MEMORY_PARTS),
        },
    }
    if name is None:
        text = "\n\n".join([*(_described(rules) for rules in chosen), _switches()])
    else:
        text = _described(chosen[0], name)
    emit(data, text, as_json)


def _facts(rules: Rules) -> dict[str, Any]:
    facts = asdict(rules)
    del facts["name"]
    return {
        **facts,
        "semesters": list(names_of(rules)),
        "memory_size": len(all_memories(rules)),
        "parts": [{"part": part, "meaning": meaning} for part, meaning in describe(rules)],
    }


def _described(rules: Rules, asked: str = "") -> str:
    size = len(all_memories(rules))
    memory = f"hidden memory of {size} values" if size > 1 else "no hidden memory"
    lines = table(describe(rules), left=2).splitlines()
    title = f"{asked}, the game of {rules.name}" if asked in ALIASES else rules.name
    also = ", ".join(name for name in names_of(rules)[1:] if name != asked)
    played = f", also {also}" if also else ""
    return "\n".join([f"{title}{played} ({memory})", *(f"  {line}" for line in lines)])


def _switches() -> str:
    """Say what a YAML file of rule parts may hold."""
    choices = {
        "zero_dice": ZERO_DICE,
        "pig_out": (0, 1, COUNT_ONES),
        "feral_hogs": FERAL_HOGS,
        "landing": LANDINGS,
        "swap": SWAPS,
        "more_boar": MORE_BOAR,
        "memory": MEMORY_PARTS,
    }
    rows = []
    for key, value in asdict(Rules()).items():
        if key in choices:
            rows.append((key, ", ".join(map(str, choices[key]))))
        elif isinstance(value, bool):
            rows.append((key, "true, false"))
        elif key != "name":
            rows.append((key, "a whole number"))
    lines = table([("edition", ", ".join([*EDITIONS, *ALIASES])), *rows], left=2).splitlines()
    heading = "switches of a YAML file, each with its values; an edition, and what differs from it"
    return "\n".join([heading, *(f"  {line}" for line in lines)])
