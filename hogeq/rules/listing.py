"""Rules as plain values: the parts of an edition, and what the keys of a YAML file may say."""

from dataclasses import asdict
from inspect import getdoc
from typing import Any

from hogeq.rules.edition import describe, names_of
from hogeq.rules.memory import all_memories
from hogeq.rules.register import EFFECTS, MEMORY_PARTS, PARTS
from hogeq.rules.rules import FERAL_HOGS, Rules, kinds_of_dice
from hogeq.rules.settings import parameters_of

_KNOWN = {**PARTS, "feral_hogs": FERAL_HOGS, "memory": MEMORY_PARTS, "effect": EFFECTS}
"""By key of a file of rules, the values that it may have: parts by name, or names alone."""


def rule_parts() -> dict[str, dict[str, str]]:
    """List the values that each key of a YAML file of rules may have, with their meanings.

    Examples
    --------
    >>> import hogeq
    >>> hogeq.rule_parts()["swap"]["none"], "sus_fuss" in hogeq.rule_parts()["landing"]
    ('', True)
    """
    return {key: {name: _meaning_of(key, name) for name in parts} for key, parts in _KNOWN.items()}


def rule_facts(rules: Rules) -> dict[str, Any]:
    """Return rules as plain values, with their semesters, parts and mean points.

    Examples
    --------
    >>> import hogeq
    >>> facts = hogeq.rule_facts(hogeq.rules_from("fa25"))
    >>> facts["memory_size"], facts["mean_points"][6][:2]
    (1, [3.5, 5.861111111111111])
    """
    facts = asdict(rules)
    del facts["name"]
    return {
        **facts,
        "semesters": list(names_of(rules)),
        "memory_size": len(all_memories(rules)),
        "parts": [{"part": part, "meaning": meaning} for part, meaning in describe(rules)],
        "mean_points": {
            sides: [rules.mean_points(dice, sides) for dice in range(1, rules.max_dice + 1)]
            for sides in kinds_of_dice(rules)
        },
    }


def _meaning_of(key: str, name: str) -> str:
    """Return the first line about a value of a key, with the parameters of a part in brackets."""
    parts: Any = _KNOWN[key]
    if name == "none" or not hasattr(parts, "keys"):  # values without a description
        return ""
    part = type(parts[name]) if key == "memory" else parts[name]
    line = (getdoc(part) or "").partition("\n")[0].removesuffix(".")
    parameters = ", ".join(parameters_of(part)) if key in PARTS else ""
    return f"{line} ({parameters})" if parameters else line
