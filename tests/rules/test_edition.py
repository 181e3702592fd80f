"""The switches of a game: what is accepted, what is refused and with which words."""

import re
from dataclasses import asdict, replace
from typing import Any

import pytest

from hogeq.rules import ALIASES, EDITIONS, Rules, describe, rules_from
from hogeq.rules.edition import NOT_HERE, edition
from hogeq.rules.memory import Memory
from hogeq.rules.parts import MORE_BOAR
from hogeq.rules.turn import land, play_turn
from tests.twin import editions
from tests.twin import turn as twin


def test_editions_carry_their_names() -> None:
    names = "su20 hw13 su21 fa22 fa15 sp20 fa19 fa18 sp21 fa23 su23 su22 sp22 fa21 fa20 su19 sp19"
    older = "sp18 fa17 sp17 su15 fa13 su18 su17 fa14 su15_contest hog12 sp13"
    assert set(EDITIONS) == {*names.split(), *older.split()}
    assert all(rules.name == name for name, rules in EDITIONS.items())


@pytest.mark.parametrize("name", EDITIONS)
def test_editions_are_found_by_name_and_by_their_parts(name: str) -> None:
    rules = EDITIONS[name]
    assert rules_from(name) == rules_from({"edition": name}) == rules
    assert rules_from(asdict(rules)) == rules
    assert twin.switches(rules) == twin.switches(editions.EDITIONS[name])


def test_capitals_do_not_matter_in_names_of_editions() -> None:
    assert rules_from("FA25") == rules_from("fa25")
    assert rules_from({"edition": "Su20"}) == EDITIONS["su20"]


def test_no_semester_is_both_here_and_not_here() -> None:
    assert not set(NOT_HERE) & {*EDITIONS, *ALIASES}


def test_no_edition_takes_another_name_of_one() -> None:
    with pytest.raises(ValueError, match="edition fa25: name is taken by fa23"):
        edition(rules_from({"edition": "su20", "name": "fa25"}))


def test_overrides_change_an_edition_and_its_name() -> None:
    rules = rules_from({"edition": "su20", "goal": 50, "sides": 6})
    assert rules == replace(EDITIONS["su20"], goal=50, name="su20 with goal=50")
    assert rules_from({"edition": "su20", "goal": 50, "name": "short"}).name == "short"
    assert rules_from({"goal": 50}) == Rules(goal=50)
    assert rules_from({}) == Rules(name="custom")


@pytest.mark.parametrize(
    "spec",
    [
        {"edition": "su21", "time_trot": False},  # More Boar still gives extra turns
        {"edition": "su21", "more_boar": "none"},  # and so does Time Trot
        {"edition": "su21", "time_trot": False, "more_boar": "none", "extra_turn_sides": None},
        {"edition": "fa18", "time_trot": False},
        {"edition": "fa15", "piggy_back": False},
        {"goal": 1},
        {"goal": 2000, "max_dice": 50, "sides": 100, "time_trot_period": 64},
    ],
)
def test_accepted(spec: dict[str, Any]) -> None:
    assert {key: getattr(rules_from(spec), key) for key in spec if key != "edition"} == {
        key: value for key, value in spec.items() if key != "edition"
    }


@pytest.mark.parametrize(
    ("field", "value", "allowed"),
    [
        *[("goal", value, "from 1 to 2000") for value in (0, 2001, True, 100.0, "100", None)],
        *[("max_dice", value, "from 1 to 50") for value in (0, 51, False)],
        *[("sides", value, "from 2 to 100") for value in (1, 101)],
        *[("pig_out", value, "from 0 to 1") for value in (2, -1, True)],
        *[("time_trot_period", value, "from 1 to 64") for value in (0, 65)],
        *[("extra_turn_sides", value, "from 2 to 100 or null") for value in (1, True, "8")],
        *[("hog_wild", value, "true or false") for value in (1, "yes", None)],
        *[("piggy_back", 0, "true or false"), ("time_trot", 5, "true or false")],
        ("swap", "doubled", "none, ones_gap_is_tens, double, reversed_digits"),
        ("swap", "doubled", "nearest: double"),
        ("swap", None, "none, ones_gap_is_tens"),
        ("zero_dice", ["one_plus_max_digit"], "whole numbers from 0 to 2000"),
        ("feral_hogs", True, "none, points, dice"),
        ("more_boar", "digitrange", "nearest: digit_range"),
        *[("name", value, "not empty") for value in ("", "  ", 5, None)],
        ("extra_turn_sides", 8, "no extra turns"),
    ],
)
def test_refused_values_name_field_value_and_what_is_allowed(
    field: str, value: object, allowed: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(allowed)) as refusal:
        rules_from({field: value})
    message = str(refusal.value)
    assert message.startswith(f"rules.{field}: got {value!r}; allowed: ")
    assert "\n" not in message


def test_a_period_without_time_trot_is_refused() -> None:
    with pytest.raises(ValueError, match=r"rules\.time_trot_period: got 3; allowed: 8 while"):
        rules_from({"edition": "fa25", "time_trot_period": 3})
    assert rules_from({"edition": "fa25", "time_trot_period": 8}) == rules_from("fa25")
    off = rules_from({"edition": "sp19", "time_trot": False})
    assert rules_from(asdict(off)) == off  # as a run's config has it, period 5 and all


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("su200", "unknown edition 'su200'; .*su19, su20.*nearest: su20"),
        ("fa16", "'fa16' is not here: choices go from -1 to 10, .*sp26, su14[^:]*$"),
        ("Fa16", "'Fa16' is not here: choices go"),
        ("su16", "'su16' is not here: no text of its rules was found; allowed: [^:]*$"),
        ("sp15", "'sp15' is not here: a rule pays the leader"),
        ("2012", "'2012' is not here: named hog12"),
        ("fa21 contest", "'fa21 contest' is not here: each player had a goal"),
        ("sp18-contest", "'sp18-contest' is not here: sp18 with a Time Trot"),
        ("fa11", "'fa11' is not here: its rules are not known; allowed: [^:]*$"),
        ({"edition": "fall22"}, "unknown edition 'fall22'; .*nearest: fa22"),
        ({"edition": None}, "unknown edition None"),
        ({"edition": ["su20"]}, "unknown edition"),
        ({"edtion": "su20"}, "edtion: unknown key, .*nearest: edition"),
        ({"edition": "su20", "max_die": 5}, "max_die: unknown key, .*nearest: max_dice"),
        ({7: 5}, "rules.7: unknown key"),
    ],
)
def test_unknown_names_are_refused_with_the_nearest(spec: Any, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        rules_from(spec)


@pytest.mark.parametrize("spec", [None, 5, ["su20"]])
def test_what_is_no_specification_is_refused(spec: Any) -> None:
    with pytest.raises(TypeError, match="allowed: an edition's name or a mapping"):
        rules_from(spec)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("su20", {"Free Bacon", "Pig Out", "Feral Hogs", "Swap"}),
        ("hw13", {"Free Bacon", "Pig Out", "Hog Wild", "Swap"}),
        ("su21", {"Piggy Points", "Pig Out", "Extra turns", "More Boar", "Time Trot"}),
        ("fa22", {"Pig Tail", "Sow Sad", "Square Swine"}),
        ("fa23", {"Boar Brawl", "Sow Sad", "Sus Fuss"}),
        ("fa18", {"Free Bacon", "Pig Out", "Time Trot", "Swap"}),
        ("sp21", {"Piggy Points", "Pig Out", "More Boar"}),
    ],
)
def test_describe_tells_the_parts_in_play(name: str, parts: set[str]) -> None:
    lines = describe(EDITIONS[name])
    assert {part for part, _ in lines} == parts | {"Goal", "Dice"}
    assert all(meaning and "\n" not in meaning for _, meaning in lines)
    assert ("Goal", "100 points") in lines
    assert any(f"({EDITIONS[name].zero_dice})" in meaning for _, meaning in lines)


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("su20", "points of the player's last turn (without these 3)"),
        ("fa19", "number of dice rolled on the player's last turn"),
    ],
)
def test_describe_tells_what_feral_hogs_compare(name: str, unit: str) -> None:
    assert f"2 away from the {unit}" in dict(describe(EDITIONS[name]))["Feral Hogs"]


def test_parts_look_at_what_they_are_said_to_look_at() -> None:
    """More Boar before the swap, Feral Hogs at points without its own, Square Swine at 0 too."""
    rules, boar = rules_from({"edition": "su21", "swap": "double"}), MORE_BOAR["digit_range"]
    assert dict(describe(rules))["More Boar"].startswith("extra turn if, before the swap, smallest")
    assert "swap" not in dict(describe(EDITIONS["su21"]))["More Boar"]
    differ = [own for own in range(1, 50) if boar(own, 2 * own) != boar(2 * own, own)]
    assert differ
    for own in differ:
        assert land(rules, own, 2 * own) == (2 * own, own, boar(own, 2 * own), None)
    turn = play_turn(EDITIONS["su20"], 0, 0, Memory(), 2, [3, 4])
    assert (turn.points, turn.bonus, turn.memory.opponent) == (7, 3, 7)
    assert turn.landing[:2] == (0, 10)  # 10 to 0 is a swap
    assert land(EDITIONS["fa22"], 0, 50).score == 1
    assert "0 too" in dict(describe(EDITIONS["fa22"]))["Square Swine"]


def test_own_parts_have_the_names_that_the_rules_give_them() -> None:
    parts = dict(describe(rules_from({"edition": "fa25", "zero_dice": [1] * 100})))
    assert {"Sow Sad", "No dice", "Sus Fuss"} <= parts.keys()
