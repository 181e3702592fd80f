"""Every example and every statement about single turns that the documents make.

Numbers in brackets are those of docs/sources.md; examples without one are of the course's pages
[6]. The package and the twin are asked together: both must give what the document says.
"""

from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest

from hogeq.model.game import compile_game
from hogeq.rules import ALIASES, EDITIONS, Rules, names_of, rules_from
from hogeq.rules.memory import Memory
from hogeq.rules.parts import LANDINGS, MORE_BOAR, SWAPS, ZERO_DICE, is_prime, next_prime
from hogeq.rules.rules import pig_out, prime_boost, rolled_points, zero_points
from hogeq.rules.turn import (
    Landing,
    Turn,
    TurnTable,
    dice_sides,
    land,
    play_turn,
    throw_of,
    turn_effects,
)
from tests.twin import State, editions, parts
from tests.twin.turn import Memory as TwinMemory
from tests.twin.turn import Play

SU20, HW13, SU21, FA22, FA15, FA19, FA18, SP21 = (
    EDITIONS[name] for name in ("su20", "hw13", "su21", "fa22", "fa15", "fa19", "fa18", "sp21")
)
START = Memory()


@cache
def twin(edition: str) -> Play:
    return Play(editions.EDITIONS[edition])


def no_dice(edition: str, score: int, opponent: int) -> int:
    points = zero_points(EDITIONS[edition], score, opponent)
    assert twin(edition).points(State(score, opponent), 0) == {points: 1}
    return points


def part(name: str, score: int, opponent: int) -> int:
    """Ask a landing, a swap or More Boar."""
    ours, theirs = (
        next(kind[name] for kind in kinds if name in kind)
        for kinds in ((LANDINGS, SWAPS, MORE_BOAR), (parts.LANDINGS, parts.SWAPS, parts.MORE_BOAR))
    )
    result = ours(score, opponent)
    assert type(result) in {int, bool}
    assert theirs(score, opponent) == result
    return int(result)


def played(edition: str, score: int, opponent: int, faces: list[int]) -> Turn:
    """Play a first turn with these faces; none: no dice are rolled."""
    turn = play_turn(EDITIONS[edition], score, opponent, START, len(faces), faces)
    reached = score + turn.points + turn.bonus, opponent + turn.given
    landing = twin(edition).land(*reached)
    assert (landing.score, landing.opponent) == (turn.landing.score, turn.landing.opponent)
    assert landing.winner == turn.landing.winner
    return turn


# --- points ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edition", "examples"),
    [
        ("su20", "0=10 9=1 90=19 57=8 110=21"),
        ("hw13", "42=5 48=9 0=1 60=7 10=2"),  # [2], examples
        ("su21", "14=7 50=9 9=13 156=5"),  # [3], Piggy Points examples 1 to 4
        ("fa22", "0=1 9=19 37=9 109=19"),
        # [5], Free Bacon examples 1 to 3: 5, 9 and 8 points; Hogtimus Prime lifts the 5 to 7
        ("fa15", "42=7 48=9 7=8"),
        # 0; 7^3 = 343: 3-4+3 = 2; 12^3 = 1728: 1-7+2-8 = -12; 109^3 = 1295029: 1-2+9-5+0-2+9 = 10
        ("sp20", "0=1 7=3 12=13 109=11"),
        ("fa19", "0=10 7=10 35=7 99=1 121=9"),
        ("fa18", "0=1 9=1 24=1 90=18 156=4"),
        ("sp21", "0=3 13=4 77=5 109=4"),  # 0; 13^2 = 169; 77^2 = 5929; 109^2 = 11881
        ("su22", "0=1 9=1 13=1 20=4 42=6 60=12 90=18 123=1 584=12 686=10"),
        ("fa21", "3=2 64=8 12=7 61=1 99=2 25=1 5=5 80=4 0=7"),
        # Decimals 762 to 767 of pi are six nines.
        ("fa20", "0=6 1=4 2=7 3=4 4=8 10=8 13=10 24=6 37=4 44=12 99=10 762=12 767=12 768=11"),
        ("su19", "35=7 7=10 99=1"),
        ("sp19", "35=4 7=1 99=10"),
        ("sp18", "35=4 7=9 91=10"),
        ("fa17", "35=6 7=8 91=10"),
        ("sp17", "60=11 10=3 24=7 35=6 71=8 0=1"),  # 7, 2 and 5 are prime
        ("su15", "42=5 7=8 0=1"),
        ("fa14", "42=3 7=8 99=1 0=1"),
        ("su18", "46=5 28=7 5=1 0=1 99=2"),
        ("hog12", "34=4 7=1 42=7 52=11"),  # 42: 5 is prime; 52: 6, 7 after Touchdown, 11
        ("sp13", "34=4 71=8 7=1 50=7"),  # "take_turn(0, 50)": 6 points, a Touchdown
    ],
)
def test_no_dice_by_the_opponents_score(edition: str, examples: str) -> None:
    for example in examples.split():
        opponent, points = map(int, example.split("="))
        assert {no_dice(edition, score, opponent) for score in range(130)} == {points}, example


@pytest.mark.parametrize(
    ("edition", "examples"),
    [
        (
            "fa23",
            """21,46=9 52,79=15 0,0=1 0,5=1 5,0=15 2,5=6 7,2=21 6,10=15 16,27=12 39,71=6 72,29=1
            42,61=12 82,115=3 99,121=21 109,99=1 727,939=12""",
        ),
        ("su23", "21,46=9 52,79=15 6,10=15"),
        (
            "sp22",
            """5,123=9 5,456=29 3,12345=9 64,67=24 12,72=16 3,56=0 439,709=2 61,16=10 54,56=4
            12,5=0 56,4=21 40,73=28 72,31=6 9,0=1 17,0=1""",
        ),
    ],
)
def test_no_dice_by_both_scores(edition: str, examples: str) -> None:
    for example in examples.split():
        scores, points = example.split("=")
        score, opponent = map(int, scores.split(","))
        assert no_dice(edition, score, opponent) == int(points), example


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


def test_pig_out_of_spring_2017() -> None:
    sp17 = EDITIONS["sp17"]
    assert pig_out(sp17, 9, 9) == pig_out(sp17, 2, 4) == 2
    # A turn's points that are prime become the next prime, those of Pig Out too.
    for faces, points in (([3], 5), ([2, 3], 7), ([1, 4], 1), ([1, 2, 3, 1], 3)):
        turn = play_turn(sp17, 1, 0, START, len(faces), faces)
        assert turn.points == points
    with pytest.raises(
        ValueError, match=r"^rules.max_dice: got 11; allowed: .*count_ones"
    ) as refused:
        rules_from({"edition": "sp17", "max_dice": 11})
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(("total", "sides"), [(0, 4), (7, 4), (35, 4), (6, 6), (8, 6), (15, 6)])
@pytest.mark.parametrize("rules", [HW13, FA15], ids=["hw13", "fa15"])
def test_hog_wild_dice(rules: Rules, total: int, sides: int) -> None:
    assert dice_sides(rules, total // 2, total - total // 2, START) == sides


@pytest.mark.parametrize(
    ("edition", "faces", "points"),
    [
        ("sp13", [6], 7),
        ("sp13", [6, 6], 14),
        ("sp13", [6, 6, 6], 21),
        ("sp13", [4, 6], 10),
        ("sp13", [4, 6, 1], 1),
        ("hog12", [6, 6], 14),
        ("hog12", [5, 6], 13),
        ("hog12", [5, 2], 11),
        ("hog12", [6], 11),  # Touchdown, then the prime
    ],
)
def test_touchdown(edition: str, faces: list[int], points: int) -> None:
    assert played(edition, 1, 0, faces).points == points
    scored = twin(edition).points(State(1, 0), len(faces))
    assert scored[points] >= Fraction(1, 6 ** len(faces))
    assert rolled_points(EDITIONS[edition], faces) == points


def test_at_most_one_die_where_scores_sum_to_a_number_that_ends_in_7() -> None:
    """Spring 2013: seven may be thrown at 1 to 0 and at 5 to 7, one at 7 to 10 and 13 to 24."""
    rules, turns = EDITIONS["sp13"], TurnTable(EDITIONS["sp13"])
    for score, opponent, rolled in ((1, 0, 7), (5, 7, 7), (7, 10, 1), (13, 24, 1), (97, 0, 1)):
        assert throw_of(rules, score, opponent, START).dice(7) == rolled
        state, play = State(score, opponent), twin("sp13")
        assert play.rolled(state, 7) == rolled
        same = turns.outcomes(score, opponent, START, rolled)
        assert turns.outcomes(score, opponent, START, 7) == same
        assert play.branches(state, 7) == play.branches(state, rolled)
        assert turns.outcomes(score, opponent, START, 0) != same
    assert play_turn(rules, 7, 10, START, 7, [3]) == play_turn(rules, 7, 10, START, 1, [3])
    with pytest.raises(ValueError, match="7 faces for 1 dice"):
        play_turn(rules, 7, 10, START, 7, [3] * 7)


def test_a_1_does_no_harm_at_49() -> None:
    """Spring 2013: three 1s score 3, six of them 7 by Touchdown, ten 10."""
    for dice, points in ((3, 3), (6, 7), (10, 10)):
        turn = played("sp13", 49, 1, [1] * dice)
        assert turn.points == points
        scored = twin("sp13").points(State(49, 1), dice)
        assert min(scored) == (4 if points == 3 else points) - (points == 3)
        assert scored[points] >= Fraction(1, 6**dice)
        assert played("sp13", 48, 1, [1] * dice).points == 1
        assert played("sp13", 1, 49, [1] * dice).points == 1
    assert turn_effects(EDITIONS["sp13"], 49, 1, [1] * 6, played("sp13", 49, 1, [1] * 6)) == [
        "rolled 6: 1 1 1 1 1 1, with a 1, 6 points",
        "Touchdown: 7 points instead of 6",
    ]


def test_perfect_piggy() -> None:
    """Summer 2017: a square or a cube brings four-sided dice in, the next takes them out."""
    rules, memory = EDITIONS["su17"], START
    sides = []
    # Points of 4, 8, 1, 25, 27 and 9, primes being raised.
    for faces in ([4], [4, 4], [1], [4, 6, 5, 6, 4], [3] * 9, [3, 6]):
        sides.append(dice_sides(rules, 0, 1, memory))
        state = State(0, 1, TwinMemory(*memory))
        assert twin("su17").sides(state) == sides[-1]
        shown = [min(face, sides[-1]) for face in faces]
        memory = play_turn(rules, 0, 1, memory, len(shown), shown).memory
        points = rolled_points(rules, shown)
        after = twin("su17").after(state.memory, len(shown), points, again=False)
        assert after == TwinMemory(*memory)
    assert sides == [6, 4, 6, 6, 4, 6]


def test_pig_fest() -> None:
    """Summer 2015's contest: after three Pig Outs in a row, or more, 12 points count 36."""
    rules, play, memory = EDITIONS["su15_contest"], twin("su15_contest"), START
    counted = []
    # The first player pigs out four times, scores 12, then 2; the other scores 2 all the time.
    for faces in ([1], [1, 2], [2, 1], [1], [6, 6], [2]):
        for mover, shown in ((0, faces), (1, [2])):
            state = State(1, 2, TwinMemory(*memory))
            turn = play_turn(rules, 1, 2, memory, len(shown), shown)
            twins = [b for b in play.branches(state, len(shown)) if b.points == turn.points]
            assert twins
            assert twins[0].state.memory == turn.memory
            memory = turn.memory
            counted += [turn.points] if mover == 0 else []
            assert mover == 0 or turn.points == 2
    assert counted == [1, 1, 1, 1, 36, 2]
    two = play_turn(rules, 1, 2, play_turn(rules, 1, 2, START, 1, [1]).memory, 2, [3, 4]).memory
    again = play_turn(rules, 1, 2, two, 0, [])  # 3 points, times 1 after one Pig Out
    assert (again.points, again.memory.state) == (3, 0)
    assert play_turn(rules, 1, 2, START, -1, []).points == 1


# --- where a turn lands ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("landing", "moves", "stays"),
    [
        (
            "sus_fuss",
            "4>5 6>7 8>11 9>11 10>11 14>17 21>23 25>29 46>47 62>67 74>79 95>97",
            "1 12 64 67 75 98 100",
        ),
        (
            "fuzzy_factors",
            "20>24 25>29 40>44 50>60 60>64 75>79 80>84",
            "0 1 10 30 35 45 70 90 99 100",
        ),
        ("pigs_on_prime", "1>2 2>3 7>11 13>17 23>29 89>97 97>101", "0 25 32 99"),
    ],
)
def test_landings(landing: str, moves: str, stays: str) -> None:
    for move in moves.split():
        before, after = map(int, move.split(">"))
        assert {part(landing, before, opponent) for opponent in (0, 50, before)} == {after}
    assert all(part(landing, int(score), 3) == int(score) for score in stays.split())
    if landing == "fuzzy_factors":  # all others below 100 stay
        moving = [score for score in range(100) if part(landing, score, 0) != score]
        assert moving == [20, 25, 40, 50, 60, 75, 80]


def test_hog_piles() -> None:
    pairs = [(26, 26), (12, 72), (15, 95), (44, 64), (25, 43)]
    assert [part("hog_pile_digit", *pair) for pair in pairs] == [32, 14, 20, 48, 25]
    pairs = [(9, 9), (9, 8), (10, 9), (50, 50)]
    assert [part("hog_pile_double", *pair) for pair in pairs] == [18, 9, 10, 100]


@pytest.mark.parametrize(
    ("name", "true", "false"),
    [
        ("ones_gap_is_tens", "36,33 33,36 25,41 5,5 100,0", "41,25"),  # |6 - 3| = 3
        ("double", "10,20 100,50", "20,5"),
        ("reversed_digits", "19,91 80,8 109,90 41,114 20,2 67,76 107,70", "8,8 13,47 71,107"),
        # 3^4 = 81, 3^3 = 27, 3^10 = 59049, 3^7 = 2187, 3^2 = 9, 3^8 = 6561, 3^11 = 177147
        ("power_of_three_digits", "0,2", "3,1 2,1 4,6 5,3 4,7"),
        ("digit_products", "3,19 103,13 10,0", "3,13"),
        ("equal_digit_gaps", "57,42 5,50 156,10", "5,55"),
        (
            "leftmost_is_ones",
            "56,35 26,2 8,108 2,2 134,51 10,1",
            "19,19 56,32 123,12 1,2 20,0 10,16",
        ),
        (
            "equal_digits_by_place",
            "19,19 12,2 36,35 114,12 18,108 10,16 20,30",
            "19,91 123,12 1,2 20,0 0,0",
        ),
        ("multiple", "20,40 34,17 15,30", "19,91 13,32 1,0 3,0 1,10"),
        # [3], More Boar examples 1 to 4
        ("digit_range", "25,43 26,43 109,18 30,2", "32,33 7,10 3,2"),
        ("both_digits_smaller", "13,24 5,16 109,21", "13,23 5,6 109,19"),
        (  # The pages ask for Swine Align and Pig Pass one by one; here either is enough.
            "swine_align_or_pig_pass",
            "11,22 36,24 15,45 12,72 10,10 28,30 22,23 96,98 1,3 2,4",
            "27,13 15,0 47,64 5,4 7,10 23,22 22,25",
        ),
    ],
)
def test_swaps_and_extra_turns(name: str, true: str, false: str) -> None:
    for expected, examples in ((True, true), (False, false)):
        for example in examples.split():
            assert part(name, *map(int, example.split(","))) is int(expected), example


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
        *[("fa23", 5, 7, [2, 4], (11, 7), None), ("fa23", 15, 37, [], (23, 37), None)],
        *[("fa23", 2, 3, [4, 4], (11, 3), None), ("fa23", 11, 12, [4, 5, 6], (29, 12), None)],
        *[("fa23", 29, 17, [1, 3], (30, 17), None), ("fa23", 41, 42, [], (50, 42), None)],
        ("fa23", 56, 56, [4, 4], (64, 56), None),
        *[("fa21", 0, 9, [3, 3, 3], (18, 9), None), ("fa22", 10, 3, [6], (25, 3), None)],
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


def test_a_whole_game_of_fall_2021() -> None:
    rules = replace(EDITIONS["fa21"], goal=15)
    first = play_turn(rules, 0, 0, START, 3, [3, 3, 3])
    assert (first.landing.score, first.landing.opponent) == (9, 0)
    second = play_turn(rules, 0, 9, START, 3, [3, 3, 3])
    assert (second.landing.score, second.landing.winner) == (18, 0)


# --- names and win rates --------------------------------------------------------------------------


def test_the_game_of_today_has_eight_names() -> None:
    today = ["sp24", "su24", "fa24", "sp25", "su25", "fa25", "sp26"]
    assert names_of(EDITIONS["fa23"]) == ("fa23", *today)
    assert names_of(EDITIONS["fa22"]) == ("fa22", "sp23")
    assert names_of(EDITIONS["fa13"]) == ("fa13", "sp14", "su14")
    assert ALIASES == editions.SAME
    assert not set(ALIASES) & set(EDITIONS)
    for alias, name in ALIASES.items():
        assert rules_from(alias) == rules_from({"edition": alias}) == EDITIONS[name]
        assert rules_from({"edition": alias, "goal": 66}).goal == 66
    assert compile_game(rules_from("sp26")) is compile_game(rules_from("fa23"))
    assert names_of(Rules()) == names_of(replace(EDITIONS["fa23"], goal=66)) == ()
    with pytest.raises(ValueError, match=r"'sp27' is not here: .*sp26, su14, su15"):
        rules_from("sp27")
