"""Properties of one turn under any combination of parts, and its refusals."""

from collections import Counter
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hogeq.rules import EDITIONS, Rules, rules_from
from hogeq.rules.memory import Memory, next_memory
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
