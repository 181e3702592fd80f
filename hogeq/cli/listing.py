"""Rules as text: the parts of an edition, and the keys of a YAML file."""

import re
from dataclasses import asdict
from typing import Final

from hogeq import ALIASES, EDITIONS, Rules, describe, rule_facts, rule_parts
from hogeq.support.messages import Table, Text


def mean_points(rules: Rules) -> Text:
    """Lay out the mean points of a turn by number of dice and sides."""
    means: dict[int, list[float]] = rule_facts(rules)["mean_points"]
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
    facts = rule_facts(rules)
    size, names = facts["memory_size"], facts["semesters"]
    memory = f"hidden memory of {size} values" if size > 1 else "no hidden memory"
    title = f"{asked}, the game of {rules.name}" if asked in ALIASES else rules.name
    also = ", ".join(name for name in names[1:] if name != asked)
    played = f", also {also}" if also else ""
    return [
        f"{title}{played} ({memory})",
        *(f"  {line}" for line in Table(describe(rules), left=2).lines()),
    ]


def listed(default: str) -> Text:
    """List the names of all games, a line each: that of the default first, then from today back."""
    games = [(rule_facts(rules)["semesters"], rules) for rules in EDITIONS.values()]
    games.sort(key=lambda game: max(map(_when, game[0])), reverse=True)
    games.sort(key=lambda game: default not in game[0])
    games[0][0].sort(key=lambda name: name != default)
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
"""By the beginning of an edition's name, in the order of a year."""


def _written(name: str) -> re.Match[str] | None:
    return re.match(f"({'|'.join(_TERMS)})([0-9]{{2}})(?![0-9])", name)


def _semester(name: str) -> str:
    """Write the term of an edition for people; empty of one of a plugin."""
    written = _written(name)
    return f"{_TERMS[written[1]]} 20{written[2]}".strip() if written else ""


def _when(name: str) -> tuple[int, int]:
    """Give year and term of an edition; one of a plugin is of today."""
    written = _written(name)
    return (int(written[2]), [*_TERMS].index(written[1])) if written else (100, 0)


def switches() -> Text:
    """List the keys of a YAML file of rules, their values, and what these mean."""
    rows = [("edition", "a name", "The game that is changed: hogeq rules lists them")]
    known = rule_parts()
    for key, value in asdict(Rules()).items():
        if key == "name":
            continue
        kinds = {"pig_out": "0, 1, count_ones", **dict.fromkeys(known, "")}
        usual = "true, false" if isinstance(value, bool) else "a whole number"
        rows.append((key, kinds.get(key, usual), _ABOUT[key]))
        rows += [("", *part) for part in known.get(key, {}).items()]
    heading = "keys of a YAML file of rules: an edition, and what differs from it"
    return [heading, "", Table(rows, left=3)]


_ABOUT: Final = {
    key: " ".join(about.split()).removesuffix(".")
    for key, about in re.findall(
        r"^ {4}(\w+) : .*\n((?: {8}.*\n)+)", Rules.__doc__ or "", re.MULTILINE
    )
}
"""What each field of rules is, in the words of their docstring."""
