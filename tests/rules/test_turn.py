"""One turn: points, how it can end, what it did in words, and what is refused."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hogeq.rules import EDITIONS, Rules, rules_from
from hogeq.rules.memory import Memory, all_memories, next_memory
from hogeq.rules.parts import LANDINGS, MORE_BOAR, SWAPS, ZERO_DICE
from hogeq.rules.rules import Throw, pig_out, points_distribution, rolled_points, zero_points
from hogeq.rules.turn import (
    TurnTable,
    land,
    play_turn,
    scoreless_turn,
    throw_of,
    total_rises,
    turn_effects,
)
from tests import twin
from tests.slow import FEW_EDITIONS

FEATURES = st.builds(
    Rules,
    goal=st.integers(1, 300),
    max_dice=st.integers(1, 12),
    sides=st.integers(2, 12),
    zero_dice=st.sampled_from(list(ZERO_DICE)),
    pig_out=st.sampled_from([0, 1]),
    prime_boost=st.booleans(),
    touchdown=st.booleans(),
    hog_wild=st.booleans(),
    hog_tied=st.booleans(),
    forty_niners=st.booleans(),
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


@given(FEATURES, st.integers(1, 4), st.integers(2, 6), st.booleans())
def test_distribution_is_that_of_all_rolls(rules: Rules, dice: int, sides: int, hurt: bool) -> None:
    rolls = product(range(1, sides + 1), repeat=dice)
    ways = Counter(rolled_points(rules, faces, ones_hurt=hurt) for faces in rolls)
    expected = {points: Fraction(count, sides**dice) for points, count in ways.items()}
    assert points_distribution(rules, dice, sides, ones_hurt=hurt) == expected


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


# --- how a turn can end ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edition", "least"),
    [
        *((name, 0) for name in FEW_EDITIONS),
        *(("su20", 1), ("fa15", 2), ("su21", 3)),
        *(
            pytest.param(name, 0, marks=pytest.mark.slow)
            for name in EDITIONS
            if name not in FEW_EDITIONS
        ),
    ],
)
def test_turns_end_as_in_the_twin(edition: str, least: int) -> None:
    rules = replace(EDITIONS[edition], goal=12, max_dice=3, min_dice=least)
    play, turns = twin.Play(rules), TurnTable(rules)
    for state in play.states()[:: 7 if len(play.states()) > 500 else 1]:
        own, opponent, memory = state
        for dice in play.rolls():
            ours = turns.outcomes(own, opponent, Memory(*memory), dice)
            assert sum(way.probability for way in ours) == 1
            assert [way.points for way in ours] == sorted(way.points for way in ours)
            found = {
                (
                    way.points,
                    way.probability,
                    way.landing.winner,
                    way.again,
                    way.following if way.landing.winner is None else (),
                )
                for way in ours
            }
            assert found == {
                (b.points, b.chance, b.winner, b.again, tuple(b.state) if b.winner is None else ())
                for b in play.branches(state, dice)
            }


@pytest.mark.parametrize("edition", EDITIONS)
def test_no_turn_scores_or_gives_more_than_the_most(edition: str) -> None:
    turns = TurnTable(replace(EDITIONS[edition], goal=12, max_dice=3))
    points, gifts = turns.most_points_and_gift()
    found = [
        branch
        for throw in {
            throw_of(turns.rules, own, 0, memory)
            for own, memory in product(range(8), all_memories(turns.rules))
        }
        for dice in range(1, 4)
        for branch in turns.branches(dice, throw)
    ] + [turns.branch_of_no_dice(*cell) for cell in product(range(12), repeat=2)]
    assert max(branch.points for branch in found) == points
    assert max(branch.gift for branch in found) == gifts


def test_the_total_rises_unless_a_turn_can_score_and_give_nothing() -> None:
    fa15, sp22 = EDITIONS["fa15"], EDITIONS["sp22"]
    assert total_rises(EDITIONS["su20"])
    assert total_rises(fa15)  # what scores nothing is given to the opponent
    assert not total_rises(replace(fa15, piggy_back=False))
    assert not total_rises(sp22)
    assert scoreless_turn(fa15) is None
    found = scoreless_turn(sp22)
    assert found is not None
    assert zero_points(sp22, *found) == 0
    assert all(zero_points(sp22, *pair) for pair in product(range(100), repeat=2) if pair < found)


@pytest.mark.slow
def test_longest_game_of_hogfish() -> None:
    """Fall 2022: a game lasts at most 181 turns, Tong (2023) [4]."""
    rules = EDITIONS["fa22"]
    turns = TurnTable(rules)
    rolled = {branch.points for dice in range(1, 11) for branch in turns.branches(dice, Throw(6))}
    longest: dict[tuple[int, int], int] = {}
    for total in range(2 * rules.size - 2, -1, -1):
        for own in range(max(0, total - rules.size + 1), min(rules.size, total + 1)):
            other = total - own
            ends = [
                land(rules, own + points, other)
                for points in {*rolled, turns.branch_of_no_dice(own, other).points}
            ]
            longest[own, other] = 1 + max(
                0 if there.winner is not None else longest[there.opponent, there.score]
                for there in ends
            )
    assert longest[0, 0] == 181


# --- in words -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edition", "scores", "faces", "memory", "lines"),
    [  # by hand
        ("su20", (5, 30), (2, 6), {}, "rolled 2: 2 6, 8 points; Feral Hogs: 3 points more"),
        ("su20", (0, 0), (), {}, "rolled no dice, 10 points; Swap: the scores trade places"),
        ("su20", (5, 30), (1, 6), {"own": 9}, "rolled 2: 1 6, with a 1, 1 point"),
        ("fa22", (94, 7), (6,), {}, "rolled 1: 6, 6 points; Square Swine: 100 becomes 121"),
        (
            *("fa15", (2, 9), (1, 4), {}),
            "rolled 2: 1 4, with a 1, 0 points; Piggy Back: 2 points to the other",
        ),
        (
            *("fa15", (2, 9), (6, 6, 4, 3), {}),
            "rolled 4: 6 6 4 3, 19 points; Hogtimus Prime: 23 points instead of 19",
        ),
        ("su21", (0, 50), (3, 4), {"turn": 2}, "rolled 2: 3 4, 7 points; Time Trot: an extra turn"),
        (
            "su21",
            (40, 22),
            (4, 6),
            {"turn": 5},
            "rolled 2: 4 6, 10 points; More Boar: an extra turn",
        ),
    ],
)
def test_effects(
    edition: str,
    scores: tuple[int, int],
    faces: tuple[int, ...],
    memory: dict[str, int],
    lines: str,
) -> None:
    rules = EDITIONS[edition]
    turn = play_turn(rules, *scores, Memory(**memory), len(faces), faces)
    assert turn_effects(rules, *scores, faces, turn) == lines.split("; ")
