"""Rules as text: the parts of an edition, and the keys of a YAML file."""

import re
from dataclasses import asdict
from typing import Final

from hogeq import ALIASES, EDITIONS, Rules, describe, rule_facts, rule_parts
from hogeq.support.messages import Table, Text, indented


def mean_points(rules: Rules) -> Text:
    """Lay out the mean points of a turn by number of dice and sides."""
    # By the sides of the dice: a list of the means of 1 die, 2 dice and so on.
    means: dict[int, list[float]] = rule_facts(rules)["mean_points"]
    rows = [
        (num_dice, *(f"{mean:.4f}" for mean in row))
        for num_dice, row in enumerate(zip(*means.values(), strict=True), 1)
    ]
    best = [
        f"{column.index(max(column)) + 1} of {sides} sides, {max(column):.4f}"
        for sides, column in means.items()
    ]
    header = ("dice", *(f"points, {sides}-sided" for sides in means))
    return [Table(rows, header, left=0), "", f"most on average: {'; '.join(best)}"]


def describe_rules(rules: Rules, asked: str) -> list[str]:
    """Lay out the parts of rules; `asked` is the name by which the user asked for them."""
    facts = rule_facts(rules)
    names = facts["semesters"]
    size = facts["memory_size"]
    memory = f"hidden memory of {size} values" if size > 1 else "no hidden memory"
    title = f"{asked}, the game of {rules.name}" if asked in ALIASES else rules.name
    other_names = ", ".join(name for name in names[1:] if name != asked)
    also = f", also {other_names}" if other_names else ""
    return [f"{title}{also} ({memory})", *indented(Table(describe(rules), left=2).lines())]


def list_editions(default: str) -> Text:
    """List all editions, one game in a line with all its names.

    The game of the `default` edition comes first, then the others, the newest first.
    """
    games = [(rule_facts(rules)["semesters"], rules) for rules in EDITIONS.values()]  # and names
    games.sort(key=lambda game: max(map(_year_and_term, game[0])), reverse=True)
    # Sorting is stable: the default comes first, and the others stay in their order.
    games.sort(key=lambda game: default not in game[0])
    default_names, _ = games[0]
    default_names.sort(key=lambda name: name != default)
    rows = []
    for (first, *others), rules in games:
        own = ", ".join(name for name, _ in describe(rules) if name not in {"Goal", "Dice"})
        also = f"; also {', '.join(others)}" if others else ""
        names = f"{first} (default)" if first == default else first
        rows.append((names, _semester(first), own + also))
    count = f"{len(EDITIONS)} games under {len(EDITIONS) + len(ALIASES)} names"
    ways = "hogeq rules fa25 shows one in full, hogeq rules --parts what a file of rules may say"
    return [f"{count}; {ways}", "", Table(rows, ("rules", "semester", "parts"), left=3)]


_TERMS: Final = {"sp": "spring", "su": "summer", "fa": "fall", "hog": "", "hw": ""}
"""Terms by the beginning of an edition's name, in the order of a year."""


def _match_edition(name: str) -> re.Match[str] | None:
    """Split an edition's name, such as fa25, into term and year; None for other names."""
    return re.match(f"({'|'.join(_TERMS)})([0-9]{{2}})(?![0-9])", name)


def _semester(name: str) -> str:
    """Write the term of an edition as "fall 2025"; empty for an edition of a plugin."""
    match = _match_edition(name)
    return f"{_TERMS[match[1]]} 20{match[2]}".strip() if match else ""


def _year_and_term(name: str) -> tuple[int, int]:
    """Give year and number of the term, to sort by; editions of plugins count as the newest."""
    match = _match_edition(name)
    return (int(match[2]), [*_TERMS].index(match[1])) if match else (100, 0)


def list_rule_keys() -> Text:
    """List the keys of a YAML file of rules, their values, and what these mean."""
    rows = [("edition", "a name", "The game that is changed: hogeq rules lists them")]
    parts = rule_parts()  # of the keys that choose a part: texts of the parts by their names
    for key, value in asdict(Rules()).items():
        if key == "name":  # an edition's name, not a rule
            continue
        if key in parts:
            allowed = ""  # the parts follow, a line each
        elif key == "pig_out":
            allowed = "0, 1, count_ones"
        else:
            allowed = "true, false" if isinstance(value, bool) else "a whole number"
        rows.append((key, allowed, _FIELD_TEXTS[key]))
        rows += [("", *part) for part in parts.get(key, {}).items()]
    heading = "keys of a YAML file of rules: an edition, and what differs from it"
    return [heading, "", Table(rows, left=3)]


_FIELD_TEXTS: Final = {
    key: " ".join(about.split()).removesuffix(".")
    for key, about in re.findall(
        r"^ {4}(\w+) : .*\n((?: {8}.*\n)+)", Rules.__doc__ or "", re.MULTILINE
    )
}
"""Descriptions of the fields of `Rules`, from its docstring."""
