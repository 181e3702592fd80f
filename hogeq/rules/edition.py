"""`EDITIONS`, the rules that were played; rules from names and mappings, and in words."""

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields, replace
from inspect import getdoc
from itertools import chain
from pathlib import Path
from typing import Any, Final

from hogeq.rules.memory import all_memories, memory_tables
from hogeq.rules.parts import LANDINGS, MORE_BOAR, NO_DICE, SWAPS, ZERO_DICE
from hogeq.rules.register import EFFECTS, MEMORY_PARTS, PARTS, title
from hogeq.rules.rules import COUNT_ONES, FERAL_HOGS, Rules, kinds_of_dice
from hogeq.rules.settings import (
    SAYS,
    TITLE,
    base_names,
    changes,
    is_setting,
    own_words,
    parameters_of,
)
from hogeq.rules.tables import SHAPES, is_table
from hogeq.rules.turn import part_name
from hogeq.support.messages import (
    HogeqError,
    is_title,
    nearest,
    one_line,
    refusal,
    shown,
    unknown_key,
)
from hogeq.support.parameters import ParameterError
from hogeq.support.plugins import enter
from hogeq.support.yaml import parse_yaml

_SEMESTER: Final = "(sp|su|fa)[0-9]{2}(_contest|_project)?"  # how semesters are called

SOW_SAD = {"twice_digit_gap_plus_one", "boar_brawl", "sus_fuss"}
"""Parts of the terms that call a rolled 1 Sow Sad, from fall 2022 on, beside Square Swine."""

_FILE: Final = Path(__file__).with_name("editions.yaml")
_KNOWN: Final = parse_yaml(_FILE.read_text("utf-8"), _FILE.name)

EDITIONS: dict[str, Rules] = {}
"""Rules of the contests by semester: ``EDITIONS["su20"]`` is summer 2020."""

for _name, _parts in _KNOWN["editions"].items():
    _base = EDITIONS[_parts.pop("edition")] if "edition" in _parts else Rules()
    EDITIONS[_name] = replace(_base, name=_name, **_parts)

ALIASES: dict[str, str] = _KNOWN["aliases"]
"""Semesters that played an edition of another's name: ``ALIASES["sp26"]`` is ``"fa23"``."""

NOT_HERE: Final[dict[str, str]] = _KNOWN["not_here"]
"""Semesters that have no name here, and why."""


def names_of(rules: Rules) -> tuple[str, ...]:
    """List the semesters whose game these rules are, the edition's own name first."""
    if EDITIONS.get(rules.name) != rules:
        return ()
    return rules.name, *(alias for alias, name in ALIASES.items() if name == rules.name)


def rules_from(spec: str | Mapping[str, Any]) -> Rules:
    """Rules from an edition's name or from a mapping of parts.

    Parameters
    ----------
    spec : str or mapping
        A key of `EDITIONS` or of `ALIASES`, or fields of `Rules` by name. A mapping may name the
        `edition` that its other fields override; without one they override the defaults of
        `Rules`. Unless the mapping gives a `name`, an edition with changes is named after both.

    Returns
    -------
    Rules

    Raises
    ------
    TypeError
        If `spec` is neither.
    ValueError
        If the edition or a key is unknown, if a value is refused by `Rules`, or if an edition is
        given another period of Time Trot without Time Trot.

    Examples
    --------
    >>> import hogeq
    >>> hogeq.rules_from("su20").swap
    'ones_gap_is_tens'
    >>> hogeq.rules_from("sp26").name
    'fa23'
    >>> hogeq.rules_from({"edition": "su20", "goal": 50}).name
    'su20 with goal=50'
    """
    if isinstance(spec, str):
        return _edition(spec)
    if not isinstance(spec, Mapping):
        raise TypeError(refusal("rules", spec, "an edition's name or a mapping"))
    known = ["edition", *(field.name for field in fields(Rules))]
    spec = _parts_to_fields(spec)
    for key, value in spec.items():
        if key not in known:
            raise HogeqError(unknown_key("rules", key, value, known))
    overrides = {key: value for key, value in spec.items() if key != "edition"}
    base = _edition(spec["edition"]) if "edition" in spec else Rules()
    try:
        rules = replace(base, **overrides)
    except ParameterError as error:
        raise HogeqError(f"rules.{error}") from error
    memory_tables(rules)  # refuses a faulty memory part before anything runs
    if "edition" not in spec:
        return rules
    if rules.time_trot_period != base.time_trot_period and not rules.time_trot:
        allowed = f"{base.time_trot_period} while time_trot is false: no extra turns by it"
        raise HogeqError(refusal("rules.time_trot_period", rules.time_trot_period, allowed))
    changed = {key: value for key, value in overrides.items() if value != getattr(base, key)}
    if "name" in overrides or not changed:
        return rules
    name = str(spec["edition"]).lower()
    base_name = name if name in ALIASES else base.name  # a semester may play another's edition
    return replace(rules, name=_name_with_changes(base_name, rules, changed))


def _name_with_changes(base_name: str, rules: Rules, changed: Mapping[str, Any]) -> str:
    """Name rules after an edition and the fields that they change, ``su20 with goal=50``.

    Where that is too long for a title, the number of changes stands for them.
    """
    texts = []
    for field, value in changed.items():
        if field in SHAPES and is_setting(value):
            texts.append(title(getattr(rules, field)))
        elif field in SHAPES and is_table(value):
            texts.append(f"{field}=table")
        else:
            texts.append(f"{field}={value}")
    full_name = f"{base_name} with {', '.join(texts)}"
    return full_name if is_title(full_name) else f"{base_name} with {len(texts)} changes"


def _parts_to_fields(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Rewrite keys that name a part, ``sus_fuss: {divisors: 3}``, as the field of that part.

    The example becomes ``landing: {sus_fuss: {divisors: 3}}``. Other keys stay as they are.
    """
    field_of_part = {
        name: field for field, parts in PARTS.items() for name in parts if name != "none"
    }
    values: dict[str, Any] = {}
    for key, value in spec.items():
        field = field_of_part.get(key, key)
        is_part = field != key
        if field in values or (is_part and field in spec):
            raise HogeqError(f"rules.{one_line(key)}: {field} is given too; allowed: one of them")
        values[field] = {key: value} if is_part else value
    return values


def edition(rules: Rules) -> Rules:
    """Enter rules among the editions, under their name.

    Parameters
    ----------
    rules : Rules

    Returns
    -------
    Rules
        The same.

    Raises
    ------
    TypeError
        These are no rules.
    ValueError
        There is an edition of that name, or another name of one.

    Examples
    --------
    >>> import hogeq
    >>> changes = {"edition": "su20", "name": "tiny", "goal": 20, "max_dice": 4}
    >>> _ = hogeq.edition(hogeq.rules_from(changes))
    >>> hogeq.rules_from("tiny").goal
    20
    """
    if not isinstance(rules, Rules):
        raise TypeError(refusal("edition", rules, "Rules, as hogeq.rules_from gives them"))
    if rules.name in ALIASES:
        raise HogeqError(f"edition {rules.name}: name is taken by {ALIASES[rules.name]}")
    memory_tables(rules)  # refuses a faulty memory part
    enter(EDITIONS, "edition", rules.name, rules)
    return rules


def describe(rules: Rules) -> list[tuple[str, str]]:
    """Describe the rules in play, part by part, for people to read.

    Parameters
    ----------
    rules : Rules

    Returns
    -------
    list of (part, meaning)
        In the order in which the parts act in a turn; parts not in play are left out.

    Examples
    --------
    >>> import hogeq
    >>> dict(hogeq.describe(hogeq.rules_from("fa22")))["Square Swine"]
    'a new score that is a perfect square, 0 too, becomes the next one'
    """
    all_parts = chain(
        _dice_parts(rules), _points_parts(rules), _score_parts(rules), _plugin_parts(rules)
    )
    return [(name, meaning) for is_in_play, name, meaning in all_parts if is_in_play]


DescribedPart = tuple[bool, str, str]
"""Whether a part is in play, its name and its meaning."""


def _dice_parts(rules: Rules) -> list[DescribedPart]:
    """Describe the goals, and which dice a turn has."""
    goals = " and ".join(map(str, dict.fromkeys(rules.goals)))
    return [
        (True, "Goal", f"{goals} points"),
        (True, "Dice", f"{rules.min_dice} to {rules.max_dice}, {rules.sides}-sided"),
        (
            rules.hog_wild,
            "Hog Wild",
            "4-sided dice when the scores sum to a multiple of 7, or to 0",
        ),
        (
            rules.hog_tied,
            "Hog Tied",
            "at most one die when the scores sum to a number that ends in 7",
        ),
        (
            rules.extra_turn_sides is not None,
            "Extra turns",
            f"are rolled with {rules.extra_turn_sides}-sided dice",
        ),
    ]


def _points_parts(rules: Rules) -> list[DescribedPart]:
    """Describe the parts that turn a roll into points."""
    pig_out_points = {
        0: "0 points",
        1: "1 point",
        COUNT_ONES: "min(number of 1s, 11 - dice) points",
    }
    parts_in_play = {*base_names(rules.zero_dice), *base_names(rules.landing)}
    calls_it_sow_sad = bool(parts_in_play & SOW_SAD) or rules.square_swine
    zero_dice = base_names(rules.zero_dice)[0]
    is_nameless = is_table(zero_dice) or zero_dice.isdecimal()
    zero_dice_title = NO_DICE.get(zero_dice, "No dice" if is_nameless else title(zero_dice))
    feral_record = {
        "points": "points of the player's last turn (without these 3)",
        "dice": "number of dice rolled on the player's last turn",
    }.get(rules.feral_hogs)
    return [
        (
            not rules.min_dice,
            own_words(rules.zero_dice, TITLE)
            or f"{zero_dice_title} {changes(rules.zero_dice)}".rstrip(),
            own_words(rules.zero_dice, SAYS)
            or f"rolling no dice scores {_meaning(ZERO_DICE[rules.zero_dice])}",
        ),
        (
            True,
            "Sow Sad" if calls_it_sow_sad else "Pig Out",
            f"a rolled 1 makes the whole roll worth {pig_out_points[rules.pig_out]}",
        ),
        (rules.forty_niners, "49ers", "at an own score of 49 a 1 does no harm: dice are summed"),
        (rules.touchdown, "Touchdown", "points that are a multiple of 6 gain a sixth"),
        (rules.prime_boost, "Hogtimus Prime", "prime points become the next prime"),
        (
            rules.piggy_back,
            "Piggy Back",
            "a turn of 0 points gives the opponent a point per die rolled",
        ),
        (
            rules.feral_hogs != "none",
            "Feral Hogs",
            f"3 more points if the dice are 2 away from the {feral_record}",
        ),
    ]


def _score_parts(rules: Rules) -> list[DescribedPart]:
    """Describe the parts that act on new scores, and those that give extra turns."""
    time_trot = f"extra turn for rolling (turn number mod {rules.time_trot_period}) dice"
    before_swap = "" if rules.swap == "none" else ", before the swap,"
    return [
        (
            rules.square_swine,
            "Square Swine",
            "a new score that is a perfect square, 0 too, becomes the next one",
        ),
        (
            rules.landing != "none",
            part_name(rules, "landing"),
            own_words(rules.landing, SAYS) or f"a new score {_meaning(LANDINGS[rules.landing])}",
        ),
        (
            rules.more_boar != "none",
            own_words(rules.more_boar, TITLE) or "More Boar",
            own_words(rules.more_boar, SAYS)
            or f"extra turn if{before_swap} {_meaning(MORE_BOAR[rules.more_boar])}",
        ),
        (rules.time_trot, "Time Trot", f"{time_trot}, unless this turn is an extra one"),
        (
            rules.swap != "none",
            own_words(rules.swap, TITLE) or "Swap",
            own_words(rules.swap, SAYS) or f"scores trade places if {_meaning(SWAPS[rules.swap])}",
        ),
    ]


def _plugin_parts(rules: Rules) -> list[DescribedPart]:
    """Describe the parts `memory` and `effect`, each with its name in a configuration."""
    memory_part = type(MEMORY_PARTS[rules.memory])
    effect = EFFECTS[rules.effect]
    return [
        (rules.memory != "none", title(rules.memory), _meaning(memory_part, rules.memory)),
        (rules.effect != "none", title(rules.effect), _meaning(effect, rules.effect)),
    ]


def is_semester(name: str) -> bool:
    """Whether a text names an edition, or a semester that has none in `EDITIONS`."""
    normalised = re.sub(r"[ _-]+", "_", name.lower())
    is_known = name in EDITIONS or normalised in {*EDITIONS, *ALIASES, *NOT_HERE}
    return is_known or re.fullmatch(_SEMESTER, normalised) is not None


def _edition(name: object) -> Rules:
    """Return the rules of an edition or alias by its name; `HogeqError` if there is none."""
    known = sorted([*EDITIONS, *ALIASES])
    if isinstance(name, str) and name in EDITIONS:  # names of users may have capitals
        return EDITIONS[name]
    lower = name.lower() if isinstance(name, str) else ""
    if lower not in known:
        allowed = f"allowed: {', '.join(known)}"
        if is_semester(lower):
            reason = NOT_HERE.get(re.sub(r"[ _-]+", "_", lower), "its rules are not known")
            raise HogeqError(f"rules: {shown(name)} is not here: {reason}; {allowed}")
        raise HogeqError(f"rules: unknown edition {shown(name)}; {allowed}{nearest(name, known)}")
    return EDITIONS[ALIASES.get(lower, lower)]


def _meaning(part: Callable[..., object], name: str | None = None) -> str:
    """Return the first line about a part, and in brackets the name that a configuration uses."""
    summary = (getdoc(part) or part.__name__).splitlines()[0].removesuffix(".") or part.__name__
    return f"{summary[0].lower()}{summary[1:]} ({name or part.__name__})"


# --- rules as plain values ------------------------------------------------------------------------

_VALUES = {**PARTS, "feral_hogs": FERAL_HOGS, "memory": MEMORY_PARTS, "effect": EFFECTS}
"""By key of a file of rules, the values that it may have: parts by name, or names alone."""


def rule_parts() -> dict[str, dict[str, str]]:
    """List the values that each key of a YAML file of rules may have, with their meanings.

    Examples
    --------
    >>> import hogeq
    >>> hogeq.rule_parts()["swap"]["none"], "sus_fuss" in hogeq.rule_parts()["landing"]
    ('', True)
    """
    return {key: {name: _meaning_of(key, name) for name in parts} for key, parts in _VALUES.items()}


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
    parts: Any = _VALUES[key]
    if name == "none" or not hasattr(parts, "keys"):  # values without a description
        return ""
    part = type(parts[name]) if key == "memory" else parts[name]
    line = (getdoc(part) or "").partition("\n")[0].removesuffix(".")
    parameters = ", ".join(parameters_of(part)) if key in PARTS else ""
    return f"{line} ({parameters})" if parameters else line
