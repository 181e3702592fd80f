"""Properties of one turn under any combination of parts, and its refusals."""

from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hogeq.rules import EDITIONS, Rules, rules_from
from hogeq.rules.memory import Memory, memory_sizes, next_memory, record
from hogeq.rules.parts import LANDINGS, MORE_BOAR, SWAPS, ZERO_DICE
from hogeq.rules.rules import (
    pig_out,
    points_distribution,
    rolled_points,
    zero_points,
)
from hogeq.rules.turn import land, play_turn

FEATURES = st.builds(
    Rules,
    goal=st.integers(1, 300),
    max_dice=st.integers(1, 12),
    sides=st.integers(2, 12),
    zero_dice=st.sampled_from(list(ZERO_DICE)),
    pig_out=st.sampled_from([0, 1]),
    prime_boost=st.booleans(),
    hog_wild=st.booleans(),
    feral_hogs=st.sampled_from(["none", "points", "dice"]),
    square_swine=st.booleans(),
    landing=st.sampled_from(list(LANDINGS)),
    piggy_back=st.booleans(),
    swap=st.sampled_from(list(SWAPS)),
    more_boar=st.sampled_from(list(MORE_BOAR)),
    time_trot=st.booleans(),
    time_trot_period=st.integers(1, 12),
)
"""Any combination of parts."""


@given(FEATURES, st.integers(1, 4), st.integers(2, 6))
def test_distribution_is_that_of_all_rolls(rules: Rules, dice: int, sides: int) -> None:
    rolls = product(range(1, sides + 1), repeat=dice)
    ways = Counter(rolled_points(rules, faces) for faces in rolls)
    expected = {points: Fraction(count, sides**dice) for points, count in ways.items()}
    assert points_distribution(rules, dice, sides) == expected


@given(FEATURES, st.integers(1, 50), st.integers(2, 40))
def test_distribution_sums_to_exactly_one(rules: Rules, dice: int, sides: int) -> None:
    distribution = points_distribution(rules, dice, sides)
    assert sum(distribution.values()) == 1
    assert list(distribution) == sorted(distribution)
    assert distribution[pig_out(rules, 1, dice)] == 1 - Fraction(sides - 1, sides) ** dice


@pytest.mark.parametrize(("dice", "sides"), [(0, 6), (-1, 6), (2, 1)])
def test_distribution_refuses(dice: int, sides: int) -> None:
    with pytest.raises(ValueError, match=f"{dice} dice of {sides} sides"):
        points_distribution(EDITIONS["su20"], dice, sides)


@given(FEATURES, st.integers(0, 299), st.integers(0, 299))
def test_no_dice_never_score_nothing(rules: Rules, score: int, opponent: int) -> None:
    assert zero_points(rules, score, opponent) >= (rules.zero_dice != "hefty_hogs")


@given(FEATURES, st.data())
def test_a_turn_adds_up_and_stays_in_range(rules: Rules, data: st.DataObject) -> None:
    turns, extras, records = memory_sizes(rules)
    below = [turns, extras, records, records]
    memory = Memory(*(data.draw(st.integers(0, size - 1)) for size in below))
    score, opponent = (data.draw(st.integers(0, rules.size - 1)) for _ in range(2))
    dice = data.draw(st.integers(0, rules.max_dice))
    usual = 4 if rules.hog_wild and (score + opponent) % 7 == 0 else rules.sides
    faces = data.draw(st.lists(st.integers(1, usual), min_size=dice, max_size=dice))
    turn = play_turn(rules, score, opponent, memory, dice, faces)

    assert turn.bonus in (0, 3)
    assert turn.given == (dice if rules.piggy_back and 1 in faces and rules.pig_out == 0 else 0)
    if not rules.square_swine and rules.landing == "none":
        before = score + opponent + turn.points + turn.bonus + turn.given
        assert turn.landing.score + turn.landing.opponent == before
    over = max(turn.landing.score, turn.landing.opponent) >= rules.size
    assert (turn.landing.winner is not None) == over
    assert not (over and turn.again)
    assert turn.again >= turn.landing.again
    assert all(0 <= value < size for value, size in zip(turn.memory, (*below, 1), strict=True))
    latest = turn.memory.own if turn.again else turn.memory.opponent
    assert latest == record(rules, dice, turn.points)


@pytest.mark.parametrize(
    ("spec", "sizes"),
    [
        *[("su20", (1, 1, 14)), ("sp20", (1, 1, 14)), ("fa19", (1, 1, 11))],
        *[("su21", (8, 2, 1)), ("fa18", (5, 2, 1))],
        *[(name, (1, 1, 1)) for name in ("hw13", "fa22", "fa15", "sp21")],
        ({"edition": "su21", "time_trot": False}, (1, 2, 1)),
        ({"edition": "su21", "time_trot": False, "extra_turn_sides": 6}, (1, 1, 1)),
        # An extra turn with the usual number of sides still escapes Hog Wild.
        ({"edition": "sp21", "extra_turn_sides": 6, "hog_wild": True}, (1, 2, 1)),
        ({"edition": "su20", "max_dice": 3}, (1, 1, 7)),
    ],
)
def test_memory_sizes(spec: str | dict[str, Any], sizes: tuple[int, int, int]) -> None:
    assert memory_sizes(rules_from(spec)) == sizes


def test_records_of_a_summer_2020_turn() -> None:
    su20 = EDITIONS["su20"]
    assert [record(su20, 5, points) for points in (1, 12, 13, 14, 60)] == [1, 12, 13, 13, 13]


def test_next_memory_keeps_records_with_their_players() -> None:
    rules = rules_from({"feral_hogs": "dice", "time_trot": True, "time_trot_period": 4})
    memory = Memory(turn=3, extra=0, own=7, opponent=9)
    assert next_memory(rules, memory, 5, again=False) == Memory(0, 0, own=9, opponent=5)
    assert next_memory(rules, memory, 5, again=True) == Memory(0, 1, own=5, opponent=9)


@pytest.mark.parametrize(
    ("score", "opponent", "winner"),
    [(99, 99, None), (100, 99, 0), (99, 100, 1), (101, 100, 0), (100, 101, 1), (100, 100, 0)],
)
def test_winner(score: int, opponent: int, winner: int | None) -> None:
    assert land(Rules(), score, opponent).winner == winner


@pytest.mark.parametrize(
    ("score", "opponent", "dice", "faces", "complaint"),
    [
        (100, 0, 1, [2], "score is 100; allowed: 0 to 99"),
        (0, -1, 1, [2], "opponent is -1; allowed: 0 to 99"),
        (0, 0, 11, [2] * 11, "dice is 11; allowed: 0 to 10"),
        (0, 0, 2, [2], "1 faces for 2 dice"),
        (0, 0, 0, [2], "1 faces for 0 dice"),
        (0, 1, 2, [6, 7], "face is 7; allowed: 1 to 6"),
        (3, 4, 1, [5], "face is 5; allowed: 1 to 4"),
    ],
)
def test_play_turn_refuses(
    score: int, opponent: int, dice: int, faces: list[int], complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        play_turn(EDITIONS["hw13"], score, opponent, Memory(), dice, faces)
