"""What users can name: rules and strategies."""

from dataclasses import asdict
from typing import Annotated, Any

from hogeq.cli.inputs import Chosen
from hogeq.cli.options import TrustOption, argument
from hogeq.cli.result import Result, Table, Text, lines_of
from hogeq.rules import ALIASES, EDITIONS, Rules, describe, names_of
from hogeq.rules.memory import all_memories
from hogeq.rules.memory_part import MEMORY_PARTS
from hogeq.rules.parts import COUNT_ONES, FERAL_HOGS, LANDINGS, MORE_BOAR, SWAPS, ZERO_DICE

PARTS = {
    "zero_dice": ZERO_DICE,
    "feral_hogs": FERAL_HOGS,
    "landing": LANDINGS,
    "swap": SWAPS,
    "more_boar": MORE_BOAR,
    "memory": MEMORY_PARTS,
}


def rules_(
    name: Annotated[
        str | None, argument("[RULES]", "An edition, a YAML file or a run, to say all of it.")
    ] = None,
    trust: TrustOption = False,
) -> Result:
    """List the editions, their parts and switches."""
    chosen = (
        list(EDITIONS.values()) if name is None else [Chosen(name, trust).choose(own_goals=True)]
    )
    data = {
        "editions": {rules.name: _facts(rules) for rules in chosen},
        "parts": {key: list(parts) for key, parts in PARTS.items()},
    }
    if name is not None:
        return Result(data, _described(chosen[0], name))
    text: Text = [line for rules in chosen for line in (*_described(rules, rules.name), "")]
    return Result(data, [*text, *_switches()])


def _facts(rules: Rules) -> dict[str, Any]:
    facts = asdict(rules)
    del facts["name"]
    return {
        **facts,
        "semesters": list(names_of(rules)),
        "memory_size": len(all_memories(rules)),
        "parts": [{"part": part, "meaning": meaning} for part, meaning in describe(rules)],
    }


def _described(rules: Rules, asked: str) -> list[str]:
    size = len(all_memories(rules))
    memory = f"hidden memory of {size} values" if size > 1 else "no hidden memory"
    title = f"{asked}, the game of {rules.name}" if asked in ALIASES else rules.name
    also = ", ".join(name for name in names_of(rules)[1:] if name != asked)
    played = f", also {also}" if also else ""
    return [f"{title}{played} ({memory})", *_indented(Table(describe(rules), left=2))]


def _switches() -> list[str]:
    """Say what a YAML file of rule parts may hold."""
    choices = {**PARTS, "pig_out": (0, 1, COUNT_ONES)}
    rows = [("edition", ", ".join([*EDITIONS, *ALIASES]))]
    for key, value in asdict(Rules()).items():
        if key in choices:
            rows.append((key, ", ".join(map(str, choices[key]))))
        elif isinstance(value, bool):
            rows.append((key, "true, false"))
        elif key != "name":
            rows.append((key, "a whole number"))
    heading = "switches of a YAML file, each with its values; an edition, and what differs from it"
    return [heading, *_indented(Table(rows, left=2))]


def _indented(table: Table) -> list[str]:
    return [f"  {line}" for line in lines_of([table])]


def strategies() -> Result:
    """List the strategies that have a name."""
    from hogeq.baselines.registry import names

    known = names()
    return Result({"strategies": known}, [Table(list(known.items()), left=2)])
