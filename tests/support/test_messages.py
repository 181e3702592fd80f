"""Messages: what they show is bounded, and so is the work of showing it; numbers for people."""

import os
import pickle
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.support.messages import (
    ROUNDED,
    HogeqError,
    Table,
    at_least,
    at_most,
    between,
    counted,
    digits,
    duration,
    listed_actions,
    nearest,
    one_line,
    percent,
    pp,
    printable,
    refusal,
    shown,
    unknown_key,
)


def bomb(levels: int = 40) -> list[Any]:
    """Nine to the power of `levels` texts, in a few hundred objects."""
    value: list[Any] = ["x"] * 9
    for _ in range(levels):
        value = [value] * 9
    return value


@pytest.mark.parametrize(
    "value",
    [
        bomb(),
        {"a" * 2**20: "b" * 2**20},
        -(2**10_000_000),
        {str(n): n for n in range(10**5)}.keys(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_huge_is_shown_at_once(value: object) -> None:
    start = time.perf_counter()
    for text in (shown(value), refusal("a", value, "b", ["c"]), unknown_key("a", "b", value, "c")):
        assert text.isascii()
        assert len(text) < 300
    assert len(nearest(value, ["x"])) < 30
    assert time.perf_counter() - start < 1


def test_what_is_small_is_shown_as_python_writes_it() -> None:
    for value in (5, -0.5, "a", b"a", None, True, [1, "b"], {"a": [1]}, (1,), 10**30):
        assert shown(value) == repr(value)


def test_a_list_that_holds_itself() -> None:
    value: list[Any] = []
    value.append(value)
    assert shown(value) == "[[[[...]]]]"


def test_one_line_of_anything() -> None:
    assert one_line("a\n\tb\x1b[2J\ud800") == r"a b\x1b[2J\ud800"
    assert len(one_line("ab" * 10**6)) == 200
    assert one_line(ValueError()) == "ValueError"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Zoé 🐗 \\n", "Zoé 🐗 \\n"),
        ("a\nb\r\t\x1b[31m\a\x00\x7f", r"a\nb\r\t\x1b[31m\x07\x00\x7f"),
        ("\x9b2J\x85\u2028\u2029", r"\x9b2J\x85\u2028\u2029"),
        ("\u202eback\u2066\u200e\u200b\ufeff", r"\u202eback\u2066\u200e\u200b\ufeff"),
        (os.fsdecode(b"team\xff.csv"), r"team\udcff.csv"),
        (Path("a\nb.csv"), r"a\nb.csv"),
    ],
)
def test_what_forges_a_line_is_escaped(text: object, line: str) -> None:
    assert printable(text) == line
    assert printable(line) == line


@pytest.mark.parametrize(
    ("given", "known", "found"),
    [
        ("nope", ["sp26", "su20"], ""),
        ("rules", ["plugins", "landing"], ""),
        ("Su2O", ["su20", "fa22"], "; nearest: su20"),
        ("CFR+", ["cfr", "cfr_plus"], "; nearest: cfr_plus"),
        ("cfr+", ["cfr", "dcfr"], "; nearest: cfr"),
    ],
)
def test_only_what_is_near_is_suggested(given: str, known: list[str], found: str) -> None:
    assert nearest(given, known) == found


# --- numbers --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("probability", "decimals", "text"),
    [
        (0.5244, 2, "52.44 %"),
        (0.52443712345678, 10, "52.4437123457 %"),
        (1e-16, 2, "0.00 %"),
        (1.0 - 1e-16, 2, "100.00 %"),
        (4e-5, 2, "<0.01 %"),
        (1.0 - 4e-5, 2, ">99.99 %"),
        (0.004, 0, "<1 %"),
    ],
)
def test_per_cent(probability: float, decimals: int, text: str) -> None:
    before = digits.set(decimals)
    assert percent(probability) == text
    digits.reset(before)


def test_bounds_are_rounded_outward() -> None:
    assert (at_least(0.56999), at_most(0.56001)) == ("56.99 %", "56.01 %")
    assert at_most(0.55924000001) == "55.93 %"
    assert (at_least(0.5), at_most(0.5)) == ("49.99 %", "50.01 %")  # passes may have rounded it
    assert (at_least(0.5, error=0.0), at_most(0.5, error=0.0)) == ("50.00 %", "50.00 %")
    assert at_least(0.5 - 2.0**-53, error=0.0) == "49.99 %"
    assert at_most(0.5 + 2.0**-52, error=0.0) == "50.01 %"
    assert (at_least(0.0), at_most(0.0, error=0.0), at_most(1.0)) == (
        "0.00 %",
        "0.00 %",
        "100.00 %",
    )


@pytest.mark.parametrize("decimals", [0, 2, 5, 9, 14])
def test_bounds_of_any_digits_are_rounded_outward(
    decimals: int, request: pytest.FixtureRequest
) -> None:
    """A win rate of passes is off by less than 1e-8: text holds of all between."""
    before = digits.set(decimals)
    request.addfinalizer(lambda: digits.reset(before))
    error = Fraction(ROUNDED)
    unit = Fraction(1, 10 ** (decimals + 2))
    in_few_digits = (np.arange(1001) / 1000).tolist()
    for rate in [*in_few_digits, *np.random.default_rng(1).random(500).tolist()]:
        low, high = (Fraction(text[:-2]) / 100 for text in (at_least(rate), at_most(rate)))
        assert low <= max(Fraction(rate) - error, Fraction(0))
        assert high >= min(Fraction(rate) + error, Fraction(1))
        assert high - low <= 2 * error + 2 * unit
        texts = at_least(rate, error=0.0), at_most(rate, error=0.0)
        low, high = (Fraction(text[:-2]) / 100 for text in texts)
        assert low <= Fraction(rate) <= high <= low + unit


@pytest.mark.parametrize(
    ("difference", "signed", "text"),
    [
        (0.0024, True, "+0.24 pp"),
        (-0.0024, True, "-0.24 pp"),
        (-0.0024, False, "-0.24 pp"),
        (-1e-16, True, "0.00 pp"),
        (3e-5, True, "<0.01 pp"),
    ],
)
def test_points(difference: float, signed: bool, text: str) -> None:
    assert pp(difference, signed=signed) == text


def test_intervals() -> None:
    assert between(0.02397, 0.09651) == "2.39 to 9.66 pp"
    before = digits.set(4)
    assert between(0.02397, 0.09659) == "2.3969 to 9.6591 pp"  # passes may have rounded them
    digits.reset(before)
    assert between(0.0, 0.1 + 1e-13) == "0.00 to 10.01 pp"
    # Equal ends are no proof.
    assert between(0.14357, 0.14357) == "14.35 to 14.36 pp"
    assert between(0.0, 0.0) == "0.00 to 0.01 pp"
    assert between(0.14357 - 1e-10, 0.14357 + 1e-10, are_one=True) == "14.36 pp, exact"
    # One number, but not in these digits.
    assert between(0.14355 - 1e-10, 0.14355 + 1e-10, are_one=True) == "14.35 to 14.36 pp"
    assert between(0.14355 - 2e-9, 0.14355 - 2e-9, are_one=True) == "14.35 pp, exact"


def test_times_and_counts() -> None:
    seconds = {12.3: "12 s", 0.0951: "95 ms", 2.64e-6: "2.6 us", 0.99961: "1000 ms", 1e-9: "0.0 us"}
    assert {given: duration(given) for given in seconds} == seconds
    assert [counted(number, "start") for number in (1, 2000)] == ["1 start", "2,000 starts"]


# --- what hogeq refuses ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("refused", "where", "got", "allowed"),
    [
        (lambda: hogeq.Hog("su20", forget="order"), "forget", "order", "for games other than Hog"),  # type: ignore[arg-type]
        (
            lambda: hogeq.Game("su20").solve("cfr_plus", 0),
            "iterations",
            0,
            "whole numbers from 1 to 1000000000",
        ),
        (lambda: hogeq.SOLVERS["cfr_pls"], "solver", "cfr_pls", "one of bundle, cfr"),
        (lambda: hogeq.load_config("no.yaml"), "no.yaml", "cannot be read: No such file", ""),
        (lambda: hogeq.Game("su20").strategy("always:3"), "strategy 'always:3'", "no built-in", ""),
        (lambda: hogeq.Game("su20").attack("always_roll:4", 3), "budget", 3, "a hogeq.Budget"),  # type: ignore[arg-type]
        (lambda: hogeq.Game("su20").strategy([[1]]), "matrix", "cell (row 0,", "100 rows o"),
        (lambda: hogeq.Game("su20").gaps, "su20", "has no gaps", "games that have a tree"),  # type: ignore[attr-defined]
    ],
)
def test_an_error_says_where_what_was_given_and_what_is_allowed(
    refused: Callable[[], object], where: str, got: object, allowed: str
) -> None:
    with pytest.raises(hogeq.HogeqError) as caught:
        refused()
    error = caught.value
    assert isinstance(error, ValueError)
    assert error.where == where
    assert error.got == got if isinstance(got, int) else str(error.got).startswith(str(got))
    assert error.allowed.startswith(allowed)
    assert "\n" not in str(error)
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    assert (str(again), again.where, again.allowed) == (str(error), error.where, error.allowed)


def test_an_error_keeps_what_was_given_and_sends_its_text() -> None:
    given = [lambda: 1]  # which no other process can have
    error = HogeqError(refusal("here", given, "numbers", ["numbers"]))
    assert error.got is given
    assert pickle.loads(pickle.dumps(error)).got == shown(given)  # noqa: S301 - our own
    assert HogeqError().where == HogeqError("short").allowed == ""


def test_of_very_many_actions_the_likeliest_are_listed() -> None:
    assert listed_actions([("check", 0.25), ("bet", 0.75)]) == "check 25.00 %, bet 75.00 %"
    many = [(f"a{number}", 0.0) for number in range(200_000)]
    many[7] = "a7", 0.125
    many[150_000] = "a150000", 0.875
    text = listed_actions(many)
    assert text.startswith("a0 0.00 %, ")
    assert "a7 12.50 %" in text
    assert text.endswith(", a150000 87.50 %, and 199,900 more")
    assert len(listed_actions(many[:100]).split(", ")) == 100


def test_a_cell_of_a_table_is_not_as_long_as_a_name_may_be() -> None:
    lines = Table([("x" * 10**6, 1), ("y", 2)], ("name", "number")).lines()
    assert max(map(len, lines)) < 11_000
    assert lines[1].endswith("xxx...       1")
