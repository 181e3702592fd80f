"""`EDITIONS`, the rules that were played; rules from names and mappings, and in words."""

import re
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from inspect import getdoc
from typing import Any, Final

from hogeq.rules.memory import remembered
from hogeq.rules.parts import LANDINGS, MORE_BOAR, NO_DICE, SWAPS, ZERO_DICE
from hogeq.rules.register import EFFECTS, MEMORY_PARTS, title
from hogeq.rules.rules import COUNT_ONES, Rules
from hogeq.rules.tables import SHAPES, is_table
from hogeq.support.messages import is_title, nearest, refusal, shown, unknown_key
from hogeq.support.parameters import ParameterError
from hogeq.support.plugins import enter

_SEMESTER: Final = "(sp|su|fa)[0-9]{2}(_contest|_project)?"

SOW_SAD = {"twice_digit_gap_plus_one", "boar_brawl"}
"""Ways to score without dice of the terms that call a rolled 1 Sow Sad, from fall 2022 on."""

_MAX_DIGIT: Final[dict[str, Any]] = {"zero_dice": "one_plus_max_digit"}
_WILD: Final[dict[str, Any]] = {**_MAX_DIGIT, "hog_wild": True}
_TIED: Final[dict[str, Any]] = {
    **dict.fromkeys(("touchdown", "hog_wild", "hog_tied"), True),
    "zero_dice": "one_plus_tens",
}
_REVERSED: Final[dict[str, Any]] = {**_WILD, "swap": "reversed_digits"}
_FERAL: Final[dict[str, Any]] = {"feral_hogs": "points"}
_PRIME: Final[dict[str, Any]] = {"prime_boost": True, "swap": "double"}
_TROT: Final[dict[str, Any]] = {"time_trot": True, "time_trot_period": 5}
_TROT_8: Final[dict[str, Any]] = {"time_trot": True, "time_trot_period": 8}

EDITIONS: dict[str, Rules] = {
    name: Rules(name=name, **parts)
    for name, parts in {
        # Summer 2020: Huan (2020) [1]; numbers as in docs/sources.md.
        "su20": {**_FERAL, "zero_dice": "ten_minus_ones_plus_tens", "swap": "ones_gap_is_tens"},
        "hw13": {**_WILD, "swap": "double"},  # Hog Wild! [2]
        # The fall 2013 contest [6], on the rules of Hog Wild!
        "fa13": {**_WILD, "swap": "double", "memory": "ham_hijinks"},
        # Summer 2021 contest, as announced [3]. Results of the course's spring 2021 contest,
        # which announced the same extra turns, fit only time_trot=False and extra_turn_sides=6.
        "su21": {
            **_TROT_8,
            "zero_dice": "digit_gap_plus_four",
            "more_boar": "digit_range",
            "extra_turn_sides": 8,
        },
        # Fall 2022, the game of Hogfish: Tong (2023) [4].
        "fa22": {"zero_dice": "twice_digit_gap_plus_one", "square_swine": True},
        "fa15": {**_REVERSED, "pig_out": 0, "piggy_back": True, "prime_boost": True},  # [5]
        # The course's spring 2020, fall 2019, fall 2018 and spring 2021 contests [6].
        "sp20": {
            **_FERAL,
            "zero_dice": "alternating_cube_digits",
            "swap": "power_of_three_digits",
        },
        "fa19": {
            "zero_dice": "ten_minus_min_digit",
            "feral_hogs": "dice",
            "swap": "digit_products",
        },
        "fa18": {**_TROT, "zero_dice": "twice_tens_minus_ones", "swap": "equal_digit_gaps"},
        "sp21": {"zero_dice": "min_square_digit_plus_three", "more_boar": "both_digits_smaller"},
        # The rest is of the course's pages and public tests too [6].
        "fa23": {"zero_dice": "boar_brawl", "landing": "sus_fuss"},
        "su23": {"zero_dice": "boar_brawl", "landing": "fuzzy_factors"},
        "su22": {"zero_dice": "twice_tens_minus_ones", "landing": "pigs_on_prime"},
        # Rolling no dice can score nothing, so that positions recur.
        "sp22": {"zero_dice": "hefty_hogs", "landing": "hog_pile_digit"},
        "fa21": {"zero_dice": "seventh_digit", "landing": "hog_pile_double"},
        # The project's game; the rules of that term's contest are not known.
        "fa20": {"zero_dice": "pi_digit_plus_three", "more_boar": "swine_align_or_pig_pass"},
        "su19": {"zero_dice": "ten_minus_min_digit", "swap": "leftmost_is_ones"},
        # The contest; time_trot=False is the project's game.
        "sp19": {**_TROT, "zero_dice": "one_plus_min_digit", "swap": "equal_digits_by_place"},
        # The project's game; Time Trot of that term's contest is not known.
        "sp18": {"zero_dice": "two_plus_digit_gap", "swap": "multiple"},
        # The contest; time_trot=False is the project's game.
        "fa17": {**_MAX_DIGIT, **_TROT_8, "swap": "multiple"},
        "sp17": {**_WILD, **_PRIME, "pig_out": "count_ones"},
        "su15": _REVERSED,
        "su15_contest": {**_REVERSED, "memory": "pig_fest"},
        # The projects' games; the contest of fall 2014 had bids for the first move, that of summer
        # 2018 a Time Trot whose period is not known.
        "fa14": {"zero_dice": "one_plus_digit_gap", "hog_wild": True, "swap": "double"},
        "su18": {"zero_dice": "one_plus_last_product_digit", "swap": "ones_is_tens"},
        "su17": {**_MAX_DIGIT, **_PRIME, "memory": "perfect_piggy"},
        "hog12": {**_TIED, "prime_boost": True},  # 2012
        "sp13": {**_TIED, "forty_niners": True},
    }.items()
}
"""Rules of the contests by semester: ``EDITIONS["su20"]`` is summer 2020."""

ALIASES: dict[str, str] = {
    **dict.fromkeys(("sp24", "su24", "fa24", "sp25", "su25", "fa25", "sp26"), "fa23"),
    "sp23": "fa22",
    "sp14": "fa13",
    "su14": "fa13",
}
"""Semesters that played an edition of another's name: ``ALIASES["sp26"]`` is ``"fa23"`` [6]."""


NOT_HERE: Final[dict[str, str]] = {
    "2012": "named hog12",
    "fa12": "a game of 2012 is named hog12; whether fall 2012 played it is not known",
    "sp15": "a rule pays the leader",
    "sp16": "no text of its rules was found",
    "su16": "no text of its rules was found",
    "fa16": "choices go from -1 to 10, and both players see which dice are exchanged",
    "sp13_contest": "no text of its rules was found",
    "fa14_contest": "bids say who begins, and with how many points; the game is fa14",
    "sp17_contest": "sp17 with a choice of -1, Pork Chop, of which no full text was found",
    "sp18_contest": "sp18 with a Time Trot whose period is not known",
    "su18_contest": "su18 with a Time Trot whose period is not known",
    "fa20_contest": "its rules are not known; the project's game is fa20",
    "fa21_contest": "each player had a goal: {edition: fa21, goal: [80, 100]}",
}
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
    >>> rules_from("su20").swap
    'ones_gap_is_tens'
    >>> rules_from("sp26").name
    'fa23'
    >>> rules_from({"edition": "su20", "goal": 50}).name
    'su20 with goal=50'
    """
    if isinstance(spec, str):
        return _edition(spec)
    if not isinstance(spec, Mapping):
        raise TypeError(refusal("rules", spec, "an edition's name or a mapping"))
    known = ["edition", *(field.name for field in fields(Rules))]
    for key, value in spec.items():
        if key not in known:
            raise ValueError(unknown_key("rules", key, value, known))
    overrides = {key: value for key, value in spec.items() if key != "edition"}
    base = _edition(spec["edition"]) if "edition" in spec else Rules()
    try:
        rules = replace(base, **overrides)
    except ParameterError as error:
        raise ValueError(f"rules.{error}") from error
    remembered(rules)  # refuses a faulty memory part before anything runs
    if "edition" not in spec:
        return rules
    if rules.time_trot_period != base.time_trot_period and not rules.time_trot:
        allowed = f"{base.time_trot_period} while time_trot is false: no extra turns by it"
        raise ValueError(refusal("rules.time_trot_period", rules.time_trot_period, allowed))
    changes = [
        f"{key}={'table' if key in SHAPES and is_table(value) else value}"
        for key, value in overrides.items()
        if value != getattr(base, key)
    ]
    if "name" in overrides or not changes:
        return rules
    whole = f"{base.name} with {', '.join(changes)}"
    short = f"{base.name} with {len(changes)} changes"
    return replace(rules, name=whole if is_title(whole) else short)


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
        raise ValueError(f"edition {rules.name}: name is taken by {ALIASES[rules.name]}")
    remembered(rules)  # refuses a faulty memory part
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
    >>> dict(describe(rules_from("fa22")))["Square Swine"]
    'a new score that is a perfect square becomes the next one'
    """
    no_dice = ZERO_DICE[rules.zero_dice]
    points = {0: "0 points", 1: "1 point", COUNT_ONES: "min(number of 1s, 11 - dice) points"}
    one = "Sow Sad" if rules.zero_dice in SOW_SAD else "Pig Out"
    unit = "points scored" if rules.feral_hogs == "points" else "number of dice rolled"
    feral = f"3 more points if the dice are 2 away from the {unit} on the player's last turn"
    sides, always = rules.extra_turn_sides, True
    goals = " and ".join(map(str, dict.fromkeys(rules.goals)))
    landing = "New score" if is_table(rules.landing) else title(rules.landing)
    on_time = f"extra turn for rolling (turn number mod {rules.time_trot_period}) dice"
    memory = type(MEMORY_PARTS[rules.memory])
    parts = (
        (always, "Goal", f"{goals} points"),
        (always, "Dice", f"0 to {rules.max_dice}, {rules.sides}-sided"),
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
        (sides is not None, "Extra turns", f"are rolled with {sides}-sided dice"),
        (
            always,
            NO_DICE.get(rules.zero_dice, "No dice"),
            f"rolling no dice scores {_meaning(no_dice)}",
        ),
        (always, one, f"a rolled 1 makes the whole roll worth {points[rules.pig_out]}"),
        (rules.forty_niners, "49ers", "at an own score of 49 a 1 does no harm: dice are summed"),
        (rules.touchdown, "Touchdown", "points that are a multiple of 6 gain a sixth"),
        (rules.prime_boost, "Hogtimus Prime", "prime points become the next prime"),
        (
            rules.piggy_back,
            "Piggy Back",
            "a turn of 0 points gives the opponent a point per die rolled",
        ),
        (rules.feral_hogs != "none", "Feral Hogs", feral),
        (
            rules.square_swine,
            "Square Swine",
            "a new score that is a perfect square becomes the next one",
        ),
        (rules.landing != "none", landing, f"a new score {_meaning(LANDINGS[rules.landing])}"),
        (
            rules.more_boar != "none",
            "More Boar",
            f"extra turn if {_meaning(MORE_BOAR[rules.more_boar])}",
        ),
        (rules.time_trot, "Time Trot", f"{on_time}, unless this turn is an extra one"),
        (
            rules.swap != "none",
            "Swap",
            f"scores trade places if {_meaning(SWAPS[rules.swap])}",
        ),
        (rules.memory != "none", title(rules.memory), _meaning(memory, rules.memory)),
        (
            rules.effect != "none",
            title(rules.effect),
            _meaning(EFFECTS[rules.effect], rules.effect),
        ),
    )
    return [(name, meaning) for there, name, meaning in parts if there]


def is_semester(name: str) -> bool:
    """Whether a text names an edition, or a semester that has none here."""
    written = re.sub(r"[ _-]+", "_", name.lower())
    known = name in EDITIONS or written in {*EDITIONS, *ALIASES, *NOT_HERE}
    return known or re.fullmatch(_SEMESTER, written) is not None


def _edition(name: object) -> Rules:
    known = sorted([*EDITIONS, *ALIASES])
    if isinstance(name, str) and name in EDITIONS:  # names of users may have capitals
        return EDITIONS[name]
    lower = name.lower() if isinstance(name, str) else ""
    if lower not in known:
        allowed = f"allowed: {', '.join(known)}"
        if is_semester(lower):
            why = NOT_HERE.get(re.sub(r"[ _-]+", "_", lower), "its rules are not known")
            raise ValueError(f"rules: {shown(name)} is not here: {why}; {allowed}")
        raise ValueError(f"rules: unknown edition {shown(name)}; {allowed}{nearest(name, known)}")
    return EDITIONS[ALIASES.get(lower, lower)]


def _meaning(part: Callable[..., object], name: str | None = None) -> str:
    # The part's own first line, and the name by which a configuration asks for it.
    summary = (getdoc(part) or part.__name__).splitlines()[0].removesuffix(".") or part.__name__
    return f"{summary[0].lower()}{summary[1:]} ({name or part.__name__})"
