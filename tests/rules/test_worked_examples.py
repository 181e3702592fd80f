"""The worked examples of the course's pages [6] for the editions that came last."""

from dataclasses import replace

import numpy as np
import pytest

from hogeq.evaluation.win_rates import win_rate
from hogeq.model.game import compile_game
from hogeq.rules import ALIASES, EDITIONS, Rules, names_of, rules_from
from hogeq.rules.memory import Memory
from hogeq.rules.parts import LANDINGS, MORE_BOAR, SWAPS, counted_ones
from hogeq.rules.points import zero_points
from hogeq.rules.turn import play_turn

START = Memory()


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
            12,5=0 56,4=21 40,73=28 72,31=6 9,0=1""",
        ),
    ],
)
def test_no_dice_by_both_scores(edition: str, examples: str) -> None:
    for example in examples.split():
        scores, points = example.split("=")
        score, opponent = map(int, scores.split(","))
        assert zero_points(EDITIONS[edition], score, opponent) == int(points), example


@pytest.mark.parametrize(
    ("edition", "examples"),
    [
        ("su22", "0=1 9=1 13=1 20=4 42=6 60=12 90=18 123=1 584=12 686=10"),
        ("fa21", "3=2 64=8 12=7 61=1 99=2 25=1 5=5 80=4 0=7"),
        ("fa20", "0=6 1=4 2=7 3=4 4=8 10=8 13=10 24=6 37=4 44=12 99=10"),
        ("su19", "35=7 7=10 99=1"),
        ("sp19", "35=4 7=1 99=10"),
        ("sp18", "35=4 7=9 91=10"),
        ("fa17", "35=6 7=8 91=10"),
        ("sp17", "60=11 10=3 24=7 35=6 71=8 0=1"),  # 7, 2 and 5 are prime
        ("su15", "42=5 7=8 0=1"),
    ],
)
def test_no_dice_by_the_opponent_s_score(edition: str, examples: str) -> None:
    for example in examples.split():
        opponent, points = map(int, example.split("="))
        assert {zero_points(EDITIONS[edition], own, opponent) for own in (0, 7, 41)} == {points}


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
    part = LANDINGS[landing]
    for move in moves.split():
        before, after = map(int, move.split(">"))
        assert {part(before, opponent) for opponent in (0, 50, before)} == {after}
    assert all(part(int(score), 3) == int(score) for score in stays.split())
    if landing == "fuzzy_factors":  # all others below 100 stay
        assert [s for s in range(100) if part(s, 0) != s] == [20, 25, 40, 50, 60, 75, 80]


def test_hog_piles() -> None:
    digit, double = LANDINGS["hog_pile_digit"], LANDINGS["hog_pile_double"]
    pairs = [(26, 26), (12, 72), (15, 95), (44, 64), (25, 43)]
    assert [digit(*pair) for pair in pairs] == [32, 14, 20, 48, 25]
    assert [double(9, 9), double(9, 8), double(50, 50)] == [18, 9, 100]


@pytest.mark.parametrize(
    ("registry", "part", "true", "false"),
    [
        (
            SWAPS,
            "leftmost_is_ones",
            "56,35 26,2 8,108 2,2 134,51 10,1",
            "19,19 56,32 123,12 1,2 20,0 10,16",
        ),
        (
            SWAPS,
            "equal_digits_by_place",
            "19,19 12,2 36,35 114,12 18,108 10,16 20,30",
            "19,91 123,12 1,2 20,0 0,0",
        ),
        (SWAPS, "multiple", "20,40 34,17 15,30", "19,91 13,32 1,0 3,0 1,10"),
        (SWAPS, "reversed_digits", "41,114 20,2 67,76 107,70", "13,47 71,107"),
        (  # The pages ask for Swine Align and Pig Pass one by one; here either is enough.
            MORE_BOAR,
            "swine_align_or_pig_pass",
            "11,22 36,24 15,45 12,72 10,10 28,30 22,23 96,98 1,3",
            "27,13 15,0 47,64 5,4 7,10 23,22",
        ),
    ],
)
def test_swaps_and_extra_turns(
    registry: dict[str, object], part: str, true: str, false: str
) -> None:
    function = registry[part]
    assert callable(function)
    for expected, examples in ((True, true), (False, false)):
        for example in examples.split():
            assert function(*map(int, example.split(","))) is expected, example


def test_pig_out_of_spring_2017() -> None:
    assert counted_ones(9, 9) == 2
    assert counted_ones(2, 4) == 2
    sp17 = EDITIONS["sp17"]
    # A turn's points that are prime become the next prime, those of Pig Out too.
    for faces, points in (([3], 5), ([2, 3], 7), ([1, 4], 1), ([1, 2, 3, 1], 3)):
        turn = play_turn(sp17, 1, 0, START, len(faces), faces)
        assert turn.points == points
    with pytest.raises(
        ValueError, match=r"^rules.max_dice: got 11; allowed: .*count_ones"
    ) as refused:
        rules_from({"edition": "sp17", "max_dice": 11})
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("edition", "score", "opponent", "faces", "lands"),
    [
        *[("fa23", 5, 7, [2, 4], 11), ("fa23", 15, 37, [], 23), ("fa23", 2, 3, [4, 4], 11)],
        *[("fa23", 11, 12, [4, 5, 6], 29), ("fa23", 29, 17, [1, 3], 30)],
        *[("fa23", 41, 42, [], 50), ("fa23", 56, 56, [4, 4], 64)],
    ],
)
def test_whole_turns(edition: str, score: int, opponent: int, faces: list[int], lands: int) -> None:
    turn = play_turn(EDITIONS[edition], score, opponent, START, len(faces), faces)
    assert (turn.landing.score, turn.landing.opponent) == (lands, opponent)


def test_a_whole_game_of_fall_2021() -> None:
    rules = replace(EDITIONS["fa21"], goal=15)
    first = play_turn(rules, 0, 0, START, 3, [3, 3, 3])
    assert (first.landing.score, first.landing.opponent) == (9, 0)
    second = play_turn(rules, 0, 9, START, 3, [3, 3, 3])
    assert (second.landing.score, second.landing.winner) == (18, 0)


# --- names ----------------------------------------------------------------------------------------


def test_the_game_of_today_has_eight_names() -> None:
    today = ["sp24", "su24", "fa24", "sp25", "su25", "fa25", "sp26"]
    assert names_of(EDITIONS["fa23"]) == ("fa23", *today)
    assert names_of(EDITIONS["fa22"]) == ("fa22", "sp23")
    assert not set(ALIASES) & set(EDITIONS)
    for alias, name in ALIASES.items():
        assert rules_from(alias) == rules_from({"edition": alias}) == EDITIONS[name]
        assert rules_from({"edition": alias, "goal": 66}).goal == 66
    assert compile_game(rules_from("sp26")) is compile_game(rules_from("fa23"))
    assert names_of(Rules()) == names_of(replace(EDITIONS["fa23"], goal=66)) == ()
    with pytest.raises(ValueError, match=r"unknown edition 'sp27'; .*sp26, su15"):
        rules_from("sp27")


@pytest.mark.parametrize("edition", EDITIONS)
def test_win_rates_of_both_sum_to_one(edition: str) -> None:
    game = compile_game(replace(EDITIONS[edition], goal=15, max_dice=3))
    random = np.random.default_rng(15)
    a, b = random.dirichlet(np.ones(4), (2, 15, 15))
    assert win_rate(game, a, b).win_rate + win_rate(game, b, a).win_rate == pytest.approx(1.0)
    assert win_rate(game, a, a).win_rate == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("dice", "expected"), [((0, 6), 0.560052926770), ((0, 10), 0.571630254755)]
)
def test_win_rates_of_the_official_server(dice: tuple[int, int], expected: float) -> None:
    """Summer 2020's contest server [7], which played with Feral Hogs and Swine Swap."""
    first, second = (np.full((100, 100), number) for number in dice)
    game = compile_game(EDITIONS["su20"])
    assert win_rate(game, first, second).win_rate == pytest.approx(expected, abs=1e-12)
