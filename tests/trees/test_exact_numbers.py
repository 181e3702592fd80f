"""Numbers of games: fractions and decimals, and those that no double stands for."""

import math
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import hogeq
from hogeq.search.values import written_between
from hogeq.support.short_fractions import short_fraction
from hogeq.trees import columns
from hogeq.trees.gambit import from_efg
from hogeq.trees.positions import of_rules
from hogeq.trees.responses import respond_in_both_seats
from hogeq.trees.rules import from_rules
from hogeq.trees.saved import load_tree_file, save_tree
from tests.own_rules import Choice


@pytest.mark.parametrize(
    ("number", "fraction"),
    [
        (1 / 3, Fraction(1, 3)),
        (0.1, Fraction(1, 10)),
        (3e-12, Fraction(3, 10**12)),
        (1.5e23, Fraction(15 * 10**22)),
        (-2.5e-299, Fraction(-25, 10**300)),
        (3.0000000000000004e-11, Fraction(3.0000000000000004e-11)),
        (10_000_000 / 10_000_003, Fraction(10_000_000, 10_000_003)),
        (math.pi, Fraction(math.pi)),
        (0.0, Fraction()),
    ],
)
def test_numbers_stand_for_short_fractions_and_decimals(number: float, fraction: Fraction) -> None:
    assert short_fraction(number) == fraction
    assert float(short_fraction(number)) == number


# --- numbers that no double stands for ------------------------------------------------------------

COIN = """EFG 2 R "coin" {{ "One" "Two" }}
c "" 1 "" {{ "h" {heads} "l" {tails} }} 0
p "" 1 1 "x" {{ "a" "b" }} 0
t "" 1 "" {{ {high}, -{high} }}
t "" 2 "" {{ {low}, -{low} }}
t "" 3 "" {{ {lost}, {won} }}
"""


@pytest.mark.parametrize(
    ("heads", "high", "low", "lost", "value"),
    [
        ("1/2", 10**16 + 1, 10**16, -(10**16), Fraction(1, 2)),
        (
            "12345678901/98765432109",
            86419753208000001,
            86419753208000000,
            -12345678901000000,
            Fraction(12345678901, 98765432109),
        ),
        ("12345678901/98765432109", "86419753208/1000", 1, "-12345678901/1000", Fraction()),
        ("0.1234567890123456789", "1/3", 0, "-2/7", None),
    ],
)
def test_nothing_is_proved_of_other_numbers_than_those_of_the_file(
    tmp_path: Path, heads: str, high: int | str, low: int, lost: int | str, value: Fraction | None
) -> None:
    tails = 1 - Fraction(heads)
    if value is None:
        value = Fraction(heads) * Fraction(high) + tails * Fraction(lost)
    numbers = {"heads": heads, "tails": tails, "high": high, "low": low, "lost": lost}
    file = tmp_path / "coin.efg"
    file.write_text(COIN.format(**numbers, won=-Fraction(str(lost))))
    tree = from_efg(file)
    assert tree.is_rounded
    save_tree(tree, tmp_path / "coin.npz")
    again = load_tree_file(tmp_path / "coin.npz")
    for one in (tree, again):
        found = columns.solve_by_columns(one, 5.0)
        told = found.to_json()
        assert Fraction(found.lower) <= value <= Fraction(found.upper)
        if found.is_proved:
            assert told["lower"] == pytest.approx(float(value), rel=1e-12)
            assert found.units.exact(told["lower"]) == found.units.exact(float(value))
        response = respond_in_both_seats(one, one.uniform(), 5.0)
        best = Fraction(response.seats[0]), Fraction(response.seat_bounds[0])  # type: ignore[index]
        assert best[0] <= value <= best[1]


@pytest.mark.parametrize(
    ("players", "teams", "first", "value"),
    [
        (1, None, [10**16 + 1], Fraction(10**16 + 1)),
        (1, None, [Decimal(10**16 + 1)], Fraction(10**16 + 1)),
        (3, "01/2", [Decimal(10**16 + 1), Decimal(-(10**16)), -1], Fraction(1)),
        (3, "02/1", [2**53 + 1, -(2**53) - 1, 0], Fraction(2**53 + 1)),
        (3, "01/2", [10**16 + 1, -(10**16), -1], Fraction(1)),
        (3, "01/2", [10**17 + 3, -(10**17), -3], Fraction(3)),
        (3, "01/2", [0.1, 0.2, -0.3], Fraction(3, 10)),
        (
            3,
            "01/2",
            [Fraction(10**17, 3), Fraction(1 - 10**17, 3), Fraction(-1, 3)],
            Fraction(1, 3),
        ),
    ],
)
def test_numbers_of_a_game_in_python_are_those_it_gives(
    players: int, teams: str | None, first: Sequence[Any], value: Fraction
) -> None:
    tree = from_rules(Choice(players, first, [0] * players), teams=teams)
    found = columns.solve_by_columns(tree, 2.0)
    assert Fraction(found.lower) <= value <= Fraction(found.upper)
    assert found.upper - found.lower <= 1e-9 * max(1.0, abs(float(value)))


def test_a_sum_of_payoffs_is_what_fractions_come_to() -> None:
    """It was taken as 0 if it was small beside the payoffs."""
    whole = [10**13, 5 - 10**13]
    tree = from_rules(Choice(2, whole, whole))
    assert 2.0 * tree.shift == 5.0
    assert respond_in_both_seats(tree, tree.uniform(), 2.0).value == 2.5
    with pytest.raises(hogeq.HogeqError, match="payoffs sum to 0, at the first end to 5"):
        from_rules(Choice(2, whole, [1, -1]))
    sloppy = [0.1 * 3, -0.3]
    assert from_rules(Choice(2, [1.0, -1.0], sloppy)).shift == 0.0


@pytest.mark.parametrize(
    ("total", "ends"),
    [
        (Fraction(10**10 + 1, 10), (Fraction(5 * 10**8) + Fraction(2, 5), Fraction(5 * 10**8))),
        (Fraction(10**10 + 1, 10), (Fraction(5 * 10**8) + Fraction(1, 7), Fraction(5 * 10**8))),
        (Fraction(10**14) + Fraction(1, 4), (Fraction(1, 3), Fraction(0))),
        (2 * 10**10 + Fraction(1, 5), (10**10 + Fraction(4, 10), 10**10 + Fraction(1, 10))),
        (Fraction(3, 10), (Fraction(1, 5), Fraction(1, 10))),
        (Fraction(1, 3), (Fraction(1, 10**9), Fraction(0))),
    ],
)
def test_what_a_response_gains_has_no_digit_of_a_constant_sum(
    total: Fraction, ends: Sequence[Fraction]
) -> None:
    """Half of the sum was taken off in float64: 0.4 was 0.399999976, and nothing -0.000000119."""
    game = hogeq.Game(Choice(2, *([end, total - end] for end in ends)))
    worse = [[0.0, 1.0]]  # plays the second end
    for policy, gain in ((worse, ends[0] - ends[1]), ([[1.0, 0.0]], Fraction())):
        found = game.exploitability(policy)
        assert 0.0 <= found.lower <= gain / 2 <= found.upper
        told = found.to_json()
        ends_told = told["lower"], told["upper"]
        assert ends_told[0] != ends_told[1] or ends_told[0] == pytest.approx(float(gain / 2))
        whole = game.nash_conv(policy)
        assert 0.0 <= whole.lower <= gain <= whole.upper
        for (_, text, _), true in ((found.rows()[0], gain / 2), (whole.rows()[0], gain)):
            lower, _, upper = text.partition(" to ")
            if upper not in ("", lower):
                assert Fraction(lower) <= true <= Fraction(upper)
            else:
                assert abs(Fraction(lower) - true) <= Fraction(1, 10**9)
    # Payoffs were centred by what their doubles miss, too.
    assert game.diff(worse, [[1.0, 0.0]]).gains[0] == pytest.approx(
        float(ends[0] - ends[1]) / 2, rel=1e-10
    )


BESIDE = """EFG 2 R "beside" {{ "One" "Two" }}
c "" 1 "" {{ "h" 1/2 "t" 1/4 "u" 1/4 }} 0
p "" 1 1 "x" {{ "a" "b" }} 0
t "" 1 "" {{ {first} -{first} }}
t "" 2 "" {{ {second} -{second} }}
p "" 1 1 "x" {{ "a" "b" }} 0
t "" 3 "" {{ 1/10 -1/10 }}
t "" 4 "" {{ 1/5 -1/5 }}
t "" 5 "" {{ {first} -{first} }}
"""


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("1000000000001/10", "1000000000003/10"),  # of which doubles lose the change
        ("1234567.1234567891", "1234567.1234567893"),  # for which no double stands
        ("10000000000000001", "10000000000000002"),
        ("0.1234567890123456", "0.1234567890123457"),
        ("1/3", "2/3"),
    ],
)
def test_what_a_change_gains_is_true_as_written(tmp_path: Path, first: str, second: str) -> None:
    file = tmp_path / "beside.efg"
    file.write_text(BESIDE.format(first=first, second=second))
    game = hogeq.Game(file)
    rivals: Any = [[[0.5, 0.5]], "uniform"]
    found = game.diff([[1.0, 0.0]], [[0.0, 1.0]], rivals)
    gain = (Fraction(second) - Fraction(first)) / 4 + Fraction(1, 80)
    gains = {"before": -gain / 2, "after": gain / 2, "match": gain, "alone": gain}
    (change,), told = found.changes, found.to_json()
    ends = [*found.ends, *found.gain_ends]
    for (lower, upper), number in zip(ends, gains.values(), strict=True):
        written = written_between(game.units, lower, upper)
        if game.units.are_one(lower, upper):
            digits = written.partition("e")[0].partition(".")[2]
            power = int(written.partition("e")[2] or 0)
            assert abs(Fraction(written) - number) <= Fraction(51, 100) * Fraction(10) ** (
                power - len(digits)
            )
        else:
            assert Fraction(lower) <= number <= Fraction(upper)
    if "/" in first:  # in fractions, and as they are
        assert written_between(game.units, *ends[-1]) == game.units.exact(float(gain))
    elif first != "0.1234567890123456":  # which shows in no digit beside 1/80
        assert told["changes"][0]["ends"] == [*ends[-1]]
        assert told["ends"]["match"] == [*ends[2]]
    assert change.gain == pytest.approx(float(gain), abs=1e-12 + ends[-1][1] - ends[-1][0])


def test_optimal_play_is_no_nearer_than_the_payoffs_that_were_given() -> None:
    best = 10**17 + 3
    game: Any = hogeq.Game(Choice(2, [best, -best], [best - 1, 1 - best]))
    solved = game.tablebase()
    assert Fraction(solved.ends[0]) <= best <= Fraction(solved.ends[1])


def test_json_gives_the_bounds_of_a_seat_whose_digits_do_not_agree() -> None:
    ends = 8999999999999.854, 9000000000000.125
    found = hogeq.Game("kuhn_poker").attack("uniform")
    apart = replace(found, seats=(ends[0], 0.25), seat_bounds=(ends[1], 0.25)).to_json()
    assert apart["seats"] == [ends[0], 0.25]
    assert apart["seat_bounds"] == [ends[1], 0.25]
    large = replace(found, seats=(6.999999999999e299, 0.0), seat_bounds=(7.000000000001e299, 0.0))
    assert large.to_json()["seats"] == [7e299, 0.0]
    assert "seat_bounds" not in large.to_json()


def test_floats_are_added_to_fractions_and_decimals_as_what_they_stand_for() -> None:
    rules = Choice(2, [0.1, Fraction(999, 10)], [Decimal("0.7"), 99.3])
    assert from_rules(rules).shift == of_rules(rules).graph.total / 2 == 50.0
    third = Decimal(1) / 3  # of 28 digits
    with pytest.raises(hogeq.HogeqError, match="is not zero-sum: payoffs sum to"):
        from_rules(Choice(2, [0, 1], [third, Fraction(2, 3)]))


@pytest.mark.parametrize("number", ["nan", "snan", "inf", "-inf", "1e999999999", "1e-999999999"])
def test_a_decimal_that_is_no_payoff_is_refused_in_a_line(number: str) -> None:
    rules = Choice(1, [0], [Decimal(number)])
    for build in (from_rules, of_rules):
        with pytest.raises(hogeq.HogeqError, match=r"number: got Decimal.*; allowed: finite ones"):
            build(rules)


def test_positions_refuse_decimals_that_no_double_stands_for() -> None:
    with pytest.raises(hogeq.HogeqError, match="payoffs, and a sum of both players', that a doub"):
        of_rules(Choice(1, [0], [Decimal(10**16 + 1)]))


@pytest.mark.parametrize(
    ("one", "other"), [("999999998.449548", "1000000001.870259"), ("1234567890.123457", "0.1")]
)
def test_values_in_policies_are_of_the_numbers_of_the_file(
    tmp_path: Path, one: str, other: str
) -> None:
    """Bounds were of the payoffs as they are when a level near them is taken off."""
    file = tmp_path / "choices.efg"
    file.write_text(
        'EFG 2 R "choices" { "One" "Two" }\n'
        'p "" 1 1 "x" { "a" "b" } 0\np "" 2 1 "y" { "c" } 0\n'
        f't "" 1 "" {{ {one} -{one} }}\nt "" 2 "" {{ {other} -{other} }}\n'
    )
    value = max(Fraction(one), Fraction(other))
    found = hogeq.Game(file).in_policies(2.0)
    for side in (found, found.second):
        assert side is not None
        assert Fraction(side.lower) <= value <= Fraction(side.upper)
