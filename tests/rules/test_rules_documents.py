"""Every example and every statement about single turns that the documents make.

Numbers in brackets are those of docs/sources.md; what has none is of the course's pages [6].
"""

from dataclasses import replace

import pytest

from hogeq.rules import EDITIONS, Rules
from hogeq.rules.integers import is_prime, next_prime
from hogeq.rules.memory import Memory, next_memory
from hogeq.rules.parts import MORE_BOAR, SWAPS, ZERO_DICE, prime_boost
from hogeq.rules.points import rolled_points, zero_points
from hogeq.rules.turn import Landing, Turn, bonus, dice_sides, land, play_turn, trots

SU20, HW13, SU21, FA22, FA15, SP20, FA19, FA18, SP21 = (
    EDITIONS[name]
    for name in ("su20", "hw13", "su21", "fa22", "fa15", "sp20", "fa19", "fa18", "sp21")
)
START = Memory()


def played(rules: str, score: int, opponent: int, faces: list[int]) -> Turn:
    """Play a first turn with these faces, none meaning that no dice are rolled."""
    return play_turn(EDITIONS[rules], score, opponent, START, len(faces), faces)


# --- points ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edition", "opponent", "points"),
    [
        *[("su20", 0, 10), ("su20", 9, 1), ("su20", 90, 19), ("su20", 57, 8), ("su20", 110, 21)],
        *[("hw13", 42, 5), ("hw13", 48, 9), ("hw13", 0, 1)],  # [2], examples
        # [3], Piggy Points examples 1 to 4
        *[("su21", 14, 7), ("su21", 50, 9), ("su21", 9, 13), ("su21", 156, 5)],
        *[("fa22", 0, 1), ("fa22", 9, 19), ("fa22", 37, 9), ("fa22", 109, 19)],
        # [5], Free Bacon examples 1 to 3: 5, 9 and 8 points; Hogtimus Prime lifts the 5 to 7
        *[("fa15", 42, 7), ("fa15", 48, 9), ("fa15", 7, 8)],
        # 0; 7^3 = 343: 3-4+3 = 2; 12^3 = 1728: 1-7+2-8 = -12; 109^3 = 1295029: 1-2+9-5+0-2+9 = 10
        *[("sp20", 0, 1), ("sp20", 7, 3), ("sp20", 12, 13), ("sp20", 109, 11)],
        *[("fa19", 0, 10), ("fa19", 7, 10), ("fa19", 35, 7), ("fa19", 99, 1), ("fa19", 121, 9)],
        *[("fa18", 0, 1), ("fa18", 9, 1), ("fa18", 24, 1), ("fa18", 90, 18), ("fa18", 156, 4)],
        # 0; 13^2 = 169; 77^2 = 5929; 109^2 = 11881
        *[("sp21", 0, 3), ("sp21", 13, 4), ("sp21", 77, 5), ("sp21", 109, 4)],
    ],
)
def test_points_for_rolling_no_dice(edition: str, opponent: int, points: int) -> None:
    assert {zero_points(EDITIONS[edition], score, opponent) for score in range(130)} == {points}


def test_free_bacon_of_fall_2015_before_primes() -> None:
    bacon = ZERO_DICE[FA15.zero_dice]
    assert [bacon(0, opponent) for opponent in (42, 48, 7)] == [5, 9, 8]


@pytest.mark.parametrize(
    ("edition", "faces", "points"),
    [
        ("su21", [1, 1, 4, 1, 1, 6, 1], 1),  # [3], Sow Sad example 1
        ("su21", [3, 3, 3, 3], 12),  # [3], Sow Sad example 2
        ("su20", [6, 1], 1),
        ("hw13", [1], 1),
        ("fa22", [2, 1, 6], 1),
        ("fa15", [1, 5, 1], 0),  # [5], Piggy Back example
        ("fa15", [6, 6, 7], 23),  # [5], Hogtimus Prime: 19 scores 23
        ("fa15", [2], 3),
        ("fa15", [4], 4),
    ],
)
def test_points_of_a_roll(edition: str, faces: list[int], points: int) -> None:
    assert rolled_points(EDITIONS[edition], faces) == points


def test_primes() -> None:
    assert [n for n in range(32) if is_prime(n)] == [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31]
    assert [next_prime(n) for n in (0, 2, 7, 19, 89)] == [2, 3, 11, 23, 97]
    assert [prime_boost(n) for n in (0, 1, 2, 4, 17, 19)] == [0, 1, 3, 4, 19, 23]


@pytest.mark.parametrize(("total", "sides"), [(0, 4), (7, 4), (35, 4), (6, 6), (8, 6), (15, 6)])
@pytest.mark.parametrize("rules", [HW13, FA15], ids=["hw13", "fa15"])
def test_hog_wild_dice(rules: Rules, total: int, sides: int) -> None:
    assert dice_sides(rules, total // 2, total - total // 2, START) == sides


# --- Feral Hogs -----------------------------------------------------------------------------------


def test_feral_hogs_of_summer_2020() -> None:
    assert [k for k in range(11) if bonus(SU20, START, k)] == [2]  # a first turn of two dice
    assert [k for k in range(11) if bonus(SU20, Memory(own=2), k)] == [0, 4]  # 0 dice count too
    assert [k for k in range(11) if bonus(SU20, Memory(own=12), k)] == [10]
    assert [k for k in range(11) if bonus(SU20, Memory(own=13), k)] == []
    assert bonus(SU20, Memory(opponent=2), 4) == 0
    assert bonus(SU20, Memory(own=2), 4) == 3


def test_feral_hogs_remembers_points_without_the_bonus() -> None:
    turn = play_turn(SU20, 0, 0, START, 2, [2, 2])
    assert (turn.points, turn.bonus, turn.landing.score) == (4, 3, 7)
    assert turn.memory == Memory(own=0, opponent=4)  # of the other player, who moves next


def test_feral_hogs_of_fall_2019_remembers_dice() -> None:
    turn = play_turn(FA19, 0, 2, START, 3, [6, 6, 6])
    assert (turn.bonus, turn.memory) == (0, Memory(own=0, opponent=3))
    assert [k for k in range(11) if bonus(FA19, Memory(own=3), k)] == [1, 5]


def test_a_swap_leaves_each_player_their_own_memory() -> None:
    turn = play_turn(SU20, 30, 33, Memory(own=5, opponent=9), 1, [6])
    assert (turn.landing.score, turn.landing.opponent) == (33, 36)
    assert turn.memory == Memory(own=9, opponent=6)


# --- where a turn lands ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("swap", "score", "opponent", "swaps"),
    [
        *[("ones_gap_is_tens", 36, 33, True), ("ones_gap_is_tens", 33, 36, True)],  # |6 - 3| = 3
        *[("ones_gap_is_tens", 25, 41, True), ("ones_gap_is_tens", 41, 25, False)],
        *[("ones_gap_is_tens", 5, 5, True), ("ones_gap_is_tens", 100, 0, True)],
        *[("double", 10, 20, True), ("double", 100, 50, True), ("double", 20, 5, False)],
        *[("reversed_digits", 19, 91, True), ("reversed_digits", 80, 8, True)],
        *[("reversed_digits", 109, 90, True), ("reversed_digits", 8, 8, False)],
        # 3^4 = 81, 3^3 = 27, 3^10 = 59049, 3^7 = 2187, 3^2 = 9, 3^8 = 6561, 3^11 = 177147
        *[("power_of_three_digits", 3, 1, False), ("power_of_three_digits", 2, 1, False)],
        *[("power_of_three_digits", 4, 6, False), ("power_of_three_digits", 0, 2, True)],
        *[("power_of_three_digits", 5, 3, False), ("power_of_three_digits", 4, 7, False)],
        *[("digit_products", 3, 19, True), ("digit_products", 103, 13, True)],
        *[("digit_products", 10, 0, True), ("digit_products", 3, 13, False)],
        *[("equal_digit_gaps", 57, 42, True), ("equal_digit_gaps", 5, 50, True)],
        *[("equal_digit_gaps", 156, 10, True), ("equal_digit_gaps", 5, 55, False)],
    ],
)
def test_swaps(swap: str, score: int, opponent: int, swaps: bool) -> None:
    assert SWAPS[swap](score, opponent) is swaps


def test_powers_of_three_beyond_what_python_writes_out() -> None:
    # The first digits of 3^n are those of 10^(n log10 3 mod 1), and 3^n ends in 1, 3, 9, 7 in turn:
    # 3^9100 = 635...1, 3^9102 = 572...9, 3^9119 = 739...7 (4,342 digits and more).
    swapping = [n for n in (9100, 9102, 9119) if SWAPS["power_of_three_digits"](n - 100, 100)]
    assert swapping == [9119]
    # For shorter powers the text itself is the reference.
    for exponent in range(1, 2500):
        text = str(3**exponent)
        assert SWAPS["power_of_three_digits"](exponent, 0) is (text[0] == text[-1])


@pytest.mark.parametrize(
    ("rule", "score", "opponent", "extra"),
    [
        # [3], More Boar examples 1 to 4
        *[("digit_range", 25, 43, True), ("digit_range", 32, 33, False)],
        *[("digit_range", 7, 10, False), ("digit_range", 26, 43, True)],
        *[
            ("digit_range", 109, 18, True),
            ("digit_range", 30, 2, True),
            ("digit_range", 3, 2, False),
        ],
        *[("both_digits_smaller", 13, 24, True), ("both_digits_smaller", 13, 23, False)],
        *[("both_digits_smaller", 5, 16, True), ("both_digits_smaller", 5, 6, False)],
        *[("both_digits_smaller", 109, 21, True), ("both_digits_smaller", 109, 19, False)],
    ],
)
def test_more_boar(rule: str, score: int, opponent: int, extra: bool) -> None:
    assert MORE_BOAR[rule](score, opponent) is extra


@pytest.mark.parametrize(
    ("score", "lands"), [(1, 4), (2, 2), (15, 15), (16, 25), (64, 81), (81, 100), (100, 121)]
)
def test_square_swine_of_fall_2022(score: int, lands: int) -> None:
    winner = 0 if lands >= 100 else None
    assert land(FA22, score, 3) == Landing(lands, 3, again=False, winner=winner)


@pytest.mark.parametrize(
    ("edition", "score", "opponent", "faces", "ends", "winner"),
    [
        ("hw13", 5, 20, [5], (20, 10), None),  # [2], Swine Swap example 1
        ("hw13", 90, 50, [4, 2, 4], (50, 100), 1),  # [2], Swine Swap example 2
        ("fa15", 13, 91, [2, 4], (91, 19), None),  # [5], Swine Swap example 1
        ("fa15", 66, 8, [2, 4, 4, 4], (8, 80), None),  # [5], Swine Swap example 2
        ("fa15", 90, 90, [2, 2, 2, 2, 2, 3, 4], (90, 109), 1),  # [5], Swine Swap example 3
        ("fa15", 20, 30, [1, 5, 1], (20, 33), None),  # [5], Piggy Back example
        ("fa15", 20, 99, [1], (20, 100), 1),  # Piggy Back may win for the opponent ...
        ("fa15", 10, 95, [1] * 6, (101, 10), 0),  # ... unless a swap, 10 for 101, takes it back
        ("su20", 94, 0, [6], (0, 100), 1),  # a swap can hand over the win
    ],
)
def test_whole_turns(
    edition: str,
    score: int,
    opponent: int,
    faces: list[int],
    ends: tuple[int, int],
    winner: int | None,
) -> None:
    turn = played(edition, score, opponent, faces)
    assert (turn.landing.score, turn.landing.opponent) == ends
    assert turn.landing.winner == winner


# --- extra turns ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("rules", "period"), [(SU21, 8), (FA18, 5)], ids=["su21", "fa18"])
def test_time_trot(rules: Rules, period: int) -> None:
    for turn in range(period):
        assert [k for k in range(11) if trots(rules, Memory(turn), k)] == [turn]
        assert not any(trots(rules, Memory(turn, extra=1), k) for k in range(11))
    assert next_memory(rules, Memory(period - 1), 0, again=False) == Memory(0)


def test_time_trot_counts_extra_turns_and_is_rearmed_by_a_normal_one() -> None:
    first = play_turn(FA18, 0, 0, START, 0, [])
    assert (first.again, first.memory) == (True, Memory(turn=1, extra=1))
    second = play_turn(FA18, 1, 0, first.memory, 1, [3])
    assert (second.again, second.memory) == (False, Memory(turn=2))
    third = play_turn(FA18, 0, 4, second.memory, 2, [3, 4])
    assert (third.again, third.memory) == (True, Memory(turn=3, extra=1))


def test_more_boar_chains_with_eight_sided_dice_in_summer_2021() -> None:
    first = play_turn(SU21, 20, 43, Memory(turn=4), 1, [5])  # More Boar example 1: 25 against 43
    assert first.landing == Landing(25, 43, again=True, winner=None)
    assert first.memory == Memory(turn=5, extra=1)
    assert dice_sides(SU21, 25, 43, first.memory) == 8
    second = play_turn(SU21, 25, 43, first.memory, 3, [1, 8, 8])  # example 4: 26, More Boar again
    assert (second.landing.score, second.again) == (26, True)
    assert second.memory == Memory(turn=6, extra=1)


def test_six_sided_extra_turns_by_default() -> None:
    assert dice_sides(FA18, 3, 4, Memory(extra=1)) == 6
    assert dice_sides(SP21, 3, 4, START) == 6


def test_dice_of_extra_turns_come_before_hog_wild() -> None:
    rules = replace(SU21, hog_wild=True)
    assert dice_sides(rules, 3, 4, START) == 4
    assert dice_sides(rules, 3, 4, Memory(extra=1)) == 8


def test_no_extra_turn_once_the_game_is_over() -> None:
    turn = play_turn(SU21, 99, 22, Memory(turn=1), 1, [6])  # 105 has digits on both sides of 22's
    assert turn.landing == Landing(105, 22, again=False, winner=0)
    assert not turn.again
