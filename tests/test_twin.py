"""The twin itself: it shares nothing with the package, and says what the documents say.

Figures are those of the two rules documents; numbers in brackets are of docs/sources.md. Examples
of single turns are asked of the twin and of the package in tests/rules/test_worked_examples.py.
"""

import ast
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests import twin
from tests.slow import FEW_EDITIONS, mostly_slow
from tests.twin.editions import EDITIONS
from tests.twin.full_size import ENDLESS, Whole, figures, optimal
from tests.twin.parts import MORE_BOAR, points_of_rolls, rolled
from tests.twin.turn import Landing, Memory, Play, State, switches

START = Memory()


def land(rules: dict[str, Any], score: int, opponent: int) -> Landing:
    return Play(rules).land(score, opponent)


def test_it_imports_nothing_of_the_package() -> None:
    sources = sorted((Path(__file__).parent / "twin").glob("*.py"))
    assert len(sources) >= 5
    for source in sources:
        for node in ast.walk(ast.parse(source.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            roots = {name.split(".")[0] for name in names}
            assert "hogeq" not in roots
            assert "tests" not in roots or all(name.startswith("tests.twin") for name in names)


def test_switches_that_it_does_not_know_are_refused() -> None:
    assert switches({"name": "mine", "goal": 5})["goal"] == 5
    with pytest.raises(ValueError, match=r"twin: .*'moon': 3"):
        switches({"moon": 3})


# --- parts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edition", "dice", "sides"), [("su20", 3, 6), ("fa15", 2, 4), ("sp17", 4, 3)]
)
def test_points_of_every_throw(edition: str, dice: int, sides: int) -> None:
    pig_out = EDITIONS[edition].get("pig_out", 1)
    found: dict[int, Fraction] = {}
    for faces in product(range(1, sides + 1), repeat=dice):
        points = rolled(dice, faces.count(1), sum(faces), pig_out)
        found[points] = found.get(points, Fraction(0)) + Fraction(1, sides**dice)
    assert points_of_rolls(dice, sides, pig_out) == found


# --- turns ----------------------------------------------------------------------------------------


def test_the_order_of_events() -> None:
    """Square Swine, then the landing, then More Boar, then the swap, then the goal."""
    every = {"goal": 100, "square_swine": True}
    # Square Swine makes 49 of 36, and then 49 > 43 is no prime; 36 is none either.
    assert land(every | {"landing": "sus_fuss"}, 25, 90).score == 36
    assert land(every | {"landing": "sus_fuss"}, 36, 90).score == 53  # 49 has three divisors
    # 9 becomes 16: More Boar sees 16 below 27. The other order sees 09.
    boar = every | {"more_boar": "both_digits_smaller"}
    assert land(boar, 9, 27).again
    assert not land(boar, 16, 27).again  # 25, whose 5 is smaller but 2 is not
    # More Boar before the swap: 25 against 50 has it, 50 against 25 has not.
    swap = {"more_boar": "digit_range", "swap": "double"}
    assert land(swap, 24, 12) == Landing(12, 24, None, MORE_BOAR["digit_range"](24, 12))
    assert land(swap, 40, 20) == Landing(20, 40, None, again=False)
    assert land(swap, 105, 210).winner == 0
    # The swap before the goal.
    assert land(EDITIONS["su20"], 100, 0) == Landing(0, 100, 1, again=False)
    assert land(EDITIONS["fa15"], 101, 10) == Landing(10, 101, 1, again=False)


def test_how_much_every_edition_remembers() -> None:
    sizes = {name: len(Play(rules).memories()) for name, rules in EDITIONS.items()}
    hidden = {"su20": 196, "sp20": 196, "fa19": 121, "su21": 16, "fa18": 10, "sp19": 10, "fa17": 16}
    assert sizes == dict.fromkeys(EDITIONS, 1) | hidden | {"fa13": 2, "su17": 2, "su15_contest": 32}


# --- figures of the documents ---------------------------------------------------------------------


def always(dice: int) -> list[Any]:
    table = np.zeros((100, 100, 11))
    table[:, :, dice] = 1.0
    return table.tolist()


@pytest.mark.slow
def test_the_official_server_s_win_rate() -> None:
    match = twin.Match(Play(EDITIONS["su20"]), always(0), always(6))
    assert match.win_rate()[0] == pytest.approx(0.560052926770, abs=5e-13)  # [7]


@pytest.mark.parametrize(
    ("edition", "value", "digits", "first_roll"),
    [
        pytest.param("hw13", 0.5002728824, 10, 4, marks=pytest.mark.slow),
        pytest.param("fa15", 0.4899205974, 10, 4, marks=pytest.mark.slow),
        ("fa22", 0.51736, 5, 3),
    ],
)
def test_verified_values(edition: str, value: float, digits: int, first_roll: int) -> None:
    found, first = optimal(Play(EDITIONS[edition]))
    assert found[1] == pytest.approx(value, abs=0.5000001 * 10**-digits)
    assert first == first_roll


@pytest.mark.slow
def test_the_verified_best_response_to_always_5() -> None:
    won = Whole(Play(EDITIONS["hw13"]), None, 5).won[0, :, 0, 0, 0]
    assert won.mean() == pytest.approx(0.8079894352, abs=5e-11)


# --- the twin's two ways --------------------------------------------------------------------------


@pytest.mark.parametrize("edition", mostly_slow([*EDITIONS, "recurs"], *FEW_EDITIONS, "recurs"))
def test_recursion_and_diagonals_agree(edition: str) -> None:
    """Small games, against best play and against always 2; `recurs` scores 0 for a rolled 1."""
    rules = EDITIONS.get(edition) or EDITIONS["fa15"] | {"piggy_back": False}
    play = Play(rules | {"goal": 6 if "feral_hogs" in rules else 12, "max_dice": 2})
    best = twin.Match(play, None, None)
    value, first_roll = optimal(play)
    assert value == pytest.approx([best.value(0, State(0, 0))] * len(ENDLESS), abs=1e-13)
    assert first_roll == best.best_roll(0, State(0, 0))
    twos = np.tile(np.eye(len(play.rolls()))[2], (play.goal, play.goal, 1)).tolist()
    response = Whole(play, None, 2).won[0, :, 0, 0, 0]
    assert response == pytest.approx(twin.Match(play, None, twos).win_rate()[1:], abs=1e-13)


def test_a_game_that_never_ends() -> None:
    """To roll nothing at (1, 30) and at (30, 1) scores nothing in spring 2022's game."""
    play = Play(EDITIONS["sp22"])
    pairs = {
        frozenset({own, other})
        for own, other in product(range(100), repeat=2)
        if own < other and play.staying(State(own, other), 0) and play.staying(State(other, own), 0)
    }
    assert {frozenset({1, 30}), frozenset({24, 25})} <= pairs
    assert len(pairs) == 50
    with pytest.raises(ValueError, match="twin: the game may never end"):
        twin.Match(play, always(0), always(0)).value(0, State(1, 30))


def test_recurring_positions_by_hand() -> None:
    """One coin to 1 point, heads wins and tails scores nothing: 1/2 + 1/8 + ... = 2/3."""
    play = Play({"goal": 1, "max_dice": 1, "sides": 2, "pig_out": 0})
    match = twin.Match(play, [[[0.0, 1.0]]], [[[0.0, 1.0]]])
    assert match.win_rate() == pytest.approx((1 / 2, 2 / 3, 1 / 3), abs=1e-15)
    assert match.reach()[0, State(0, 0)] == pytest.approx(1.0, abs=1e-15)  # (4/3 + 2/3) / 2


@pytest.mark.slow
def test_a_game_in_which_nobody_wants_to_move() -> None:
    """Spring 2022, whole: at 72 to 75 and at 75 to 72 both players do best to stay for ever."""
    found = figures(EDITIONS["sp22"])
    assert found.value_if_endless_loses < found.value < found.value_if_endless_wins
    assert found.first_roll == 2
