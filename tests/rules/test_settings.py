"""Parts with parameters and names of one's own play what a table of the same numbers plays."""

import json
import pickle
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.evaluation.values import win_rate
from hogeq.model.game import compile_game
from hogeq.rules.edition import EDITIONS, describe
from hogeq.rules.parts import LANDINGS, ZERO_DICE
from hogeq.rules.reading import find_rules
from hogeq.rules.register import PARTS
from hogeq.rules.settings import parameters_of

GOAL = 12
SIZES = {"goal": GOAL, "max_dice": 2, "sides": 4}


def divisors(number: int) -> int:
    return sum(number % one == 0 for one in range(1, number + 1))


def following_prime(number: int) -> int:
    return next(one for one in range(number + 1, 10**4) if divisors(one) == 2)


def big_boar(own: int, other: int) -> int:
    return max(2, 5 * abs(other // 10 % 10 - own % 10))


def landed(own: int) -> int:
    raised = following_prime(own) if divisors(own) == 3 else own
    return raised + 0


SAME: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"zero_dice": 3}, {"zero_dice": [3] * GOAL}),
    ({"zero_dice": "3"}, {"zero_dice": [3] * GOAL}),
    (
        {"zero_dice": {"boar_brawl": {"factor": 5, "least": 2}}},
        {"zero_dice": [[big_boar(own, other) for other in range(GOAL)] for own in range(GOAL)]},
    ),
    ({"zero_dice": {"one_plus_tens": 4}}, {"zero_dice": [4 + one // 10 for one in range(GOAL)]}),
    (
        {"landing": {"sus_fuss": 3}, "zero_dice": 1},
        {"landing": [landed(one) for one in range(60)], "zero_dice": 1},
    ),
    (
        {"landing": {"sus_fuss": {"divisors": [2, 3]}, "hog_pile_double": None}},
        {
            "landing": [
                [
                    raised * 2 if raised == other else raised
                    for other in range(60)
                    for raised in [following_prime(own) if divisors(own) in (2, 3) else own]
                ]
                for own in range(60)
            ]
        },
    ),
]


@pytest.mark.parametrize(("given", "table"), SAME)
def test_a_part_with_parameters_plays_its_table(
    given: dict[str, Any], table: dict[str, Any]
) -> None:
    games = [compile_game(hogeq.rules_from({**SIZES, **one})) for one in (given, table)]
    a, b = np.random.default_rng(0).dirichlet(np.ones(3), (2, GOAL, GOAL))
    one, two = (win_rate(game, a, b) for game in games)
    assert one == pytest.approx(two, abs=1e-15)
    usual = win_rate(compile_game(hogeq.rules_from(SIZES)), a, b)
    assert one != pytest.approx(usual, abs=1e-6)


def test_rules_keep_parameters_as_text() -> None:
    rules = hogeq.rules_from({"zero_dice": {"boar_brawl": 2}, "landing": {"sus_fuss": [3]}})
    assert rules.zero_dice == '{"boar_brawl":{"factor":2}}'
    again = hogeq.rules_from({"zero_dice": rules.zero_dice, "landing": rules.landing})
    assert again == rules == pickle.loads(pickle.dumps(rules))  # noqa: S301 - our own
    assert hash(again) == hash(rules)
    assert json.loads(rules.landing) == {"sus_fuss": {"divisors": [3]}}
    # What is as usual is left out.
    usual: list[Any] = [None, {}, 3]
    for one in usual:
        assert hogeq.rules_from({"zero_dice": {"boar_brawl": one}}).zero_dice == "boar_brawl"
    both = {"sus_fuss": {"divisors": [3, 4]}, "fuzzy_factors": 2}
    assert hogeq.rules_from({"landing": both}).landing == "sus_fuss+fuzzy_factors"


def test_a_part_may_stand_as_a_key() -> None:
    short = hogeq.rules_from({"edition": "fa25", "boar_brawl": 2, "sus_fuss": {"divisors": 3}})
    long = {"zero_dice": {"boar_brawl": 2}, "landing": {"sus_fuss": 3}}
    assert short == hogeq.rules_from({"edition": "fa25", **long})
    assert short.name == "fa25 with Boar Brawl with 2, Sus Fuss with 3"
    assert hogeq.rules_from({"double": None}).swap == "double"
    pairs: list[dict[str, Any]] = [{"sus_fuss": 3, "fuzzy_factors": 2}, {"double": {}, "swap": "x"}]
    for given in pairs:
        with pytest.raises(hogeq.HogeqError, match="is given too; allowed: one of them"):
            hogeq.rules_from(given)


def test_fewer_dice_than_the_least_are_refused() -> None:
    game = hogeq.Game({"edition": "fa25", "min_dice": 2, "goal": 20, "name": "two"})
    assert dict(describe(game.rules))["Dice"] == "2 to 10, 6-sided"
    assert "Boar Brawl" not in dict(describe(game.rules))
    for given in ("always_roll:1", lambda _own, _other: 1):
        with pytest.raises(hogeq.HogeqError, match=r"allowed: (whole numbers from )?2 to 10"):
            game.strategy(given)
    assert game.strategy(np.zeros((20, 20), np.int8)).array.min() == 2
    assert {one.dice for one in game.analyze(3, 4).rolls} == set(range(2, 11))
    assert game.win_rate("full_memory", "always_roll:2").win_rate > 0.5


@pytest.mark.parametrize(
    ("more", "most"), [({"max_dice": 3}, 3), ({"hog_tied": True}, 1), ({"edition": "fa13"}, 0)]
)
def test_the_fewest_dice_that_rules_may_ask_for(more: dict[str, Any], most: int) -> None:
    assert hogeq.rules_from({**more, "min_dice": most}).min_dice == most
    with pytest.raises(hogeq.HogeqError, match=f"^rules.min_dice: got {most + 1}; allowed: 0 to"):
        hogeq.rules_from({**more, "min_dice": most + 1})


def test_people_are_told_the_parameters() -> None:
    told = dict(describe(hogeq.rules_from({"edition": "fa25", "zero_dice": {"boar_brawl": 2}})))
    assert told["Boar Brawl with 2"] == (
        "rolling no dice scores 2 x |the opponent's tens digit - the mover's ones digit|,"
        " at least 1 (boar_brawl factor 2)"
    )
    assert "Sow Sad" in told
    given = {"boar_brawl": 2, "title": "Big Boar", "says": "No dice score twice something"}
    told = dict(describe(hogeq.rules_from({"zero_dice": given, "landing": {"sus_fuss": 3}})))
    assert told["Big Boar"] == given["says"]
    assert told["Sus Fuss with 3"].startswith("a new score becomes the next prime if it has 3 div")
    told = dict(describe(hogeq.rules_from({"zero_dice": 1, "swap": {"double": {}, "title": "X"}})))
    assert told["No dice"] == "rolling no dice scores 1 point, at any scores (1)"
    assert told["X"].startswith("scores trade places if ")


def test_no_text_of_a_part_has_braces_left() -> None:
    for rules in EDITIONS.values():
        assert not any("{" in line for line in dict(describe(rules)).values())
    for parts, (own, other) in product(PARTS.values(), ((0, 0), (27, 68))):
        for name, part in parts.items():
            assert "{" not in (part.__doc__ or "")
            changed = parts[json.dumps({name: parameters_of(part)})]
            assert changed(own, other) == part(own, other)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"zero_dice": {"boar_brawl": -1}}, "from 0 to 10000 as factor of boar_brawl; it is -1"),
        ({"zero_dice": {"boar_brawl": True}}, "it is True"),
        ({"zero_dice": {"boar_brawl": [1, 2]}}, "it is [1, 2]"),
        ({"zero_dice": {"boar_brawl": {"times": 2}}}, "the parameters factor, least of boar_brawl"),
        ({"zero_dice": {"bore_brawl": 2}}, "; nearest: boar_brawl"),
        ({"zero_dice": {"hefty_hogs": 3}}, "no parameter of hefty_hogs"),
        ({"zero_dice": {"boar_brawl": 2, "one_plus_tens": 3}}, "one part with its parameters"),
        ({"zero_dice": {}}, "one part with its parameters"),
        ({"zero_dice": {"title": "Nothing"}}, "one part with its parameters"),
        ({"zero_dice": {"boar_brawl": 2, "title": ""}}, "title: a text of at most 200"),
        ({"zero_dice": {"boar_brawl": 2, "says": 3}}, "says: a text of at most 200"),
        ({"zero_dice": "{]"}, "the text of a mapping, as JSON"),
        ({"zero_dice": -1}, "a number from 0 to 2000"),
        ({"zero_dice": 2001}, "a number from 0 to 2000"),
        ({"swap": 1}, "a part with parameters as a mapping"),
        ({"landing": {"sus_fuss": {"divisors": []}}}, "or a list of them as divisors of sus_fuss"),
    ],
)
def test_settings_that_are_refused(given: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=f"^rules.{next(iter(given))}: ") as refused:
        hogeq.rules_from(given)
    assert "\n" not in str(refused.value)
    assert why in str(refused.value)


def test_what_a_parameter_leads_to_is_checked_when_it_is_played() -> None:
    with pytest.raises(ValueError, match=r"^zero_dice: boar_brawl factor 999 at score, opp"):
        compile_game(hogeq.rules_from({**SIZES, "zero_dice": {"boar_brawl": 999}}))
    assert ZERO_DICE["boar_brawl"](17, 23) == 15
    assert LANDINGS['{"sus_fuss":{"divisors":[3]}}'](49, 0) == 53


def test_a_file_of_rules_names_its_plugin(tmp_path: Path, registries: Any) -> None:
    registries()
    (tmp_path / "fa27.py").write_text(
        "import hogeq\n"
        "@hogeq.rule_part('zero_dice')\n"
        "def loud_boar(score, opponent, *, times=4):\n"
        '    "{times} x the ones digit, and one.\\n\\nA second line."\n'
        "    return times * (score % 10) + 1\n"
    )
    path = tmp_path / "fa27.yaml"
    path.write_text("plugins: [fa27.py]\nedition: fa25\nzero_dice: {loud_boar: 5}\n")
    with pytest.raises(ValueError, match=r"fa27.py: a plugin is somebody's code, .* --trust"):
        find_rules(path)
    rules = find_rules(path, trust=True)
    assert dict(describe(rules))["Loud Boar with 5"].startswith(
        "rolling no dice scores 5 x the ones digit, and one (loud_boar times 5)"
    )
    part = ZERO_DICE[rules.zero_dice]
    assert part(13, 0) == 16
    assert part.__doc__ == "5 x the ones digit, and one."
    assert ZERO_DICE[rules.zero_dice] is part  # made once, not for every pair of scores
