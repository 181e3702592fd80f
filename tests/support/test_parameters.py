"""Parameters: what is inside their limits passes, what is outside is told with what is allowed."""

import dataclasses
import pickle
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from hogeq.support.messages import refusal
from hogeq.support.parameters import (
    Count,
    ParameterError,
    PositiveShare,
    check,
    keys,
    one_of,
    parameters,
    plain,
)

NAMES = "colour, fast, kicks, kind, rate, starts"
COLOURS = {"red": 1, "green": 2}


@parameters
class Toy:
    """Parameters of every kind."""

    starts: Count = 4
    rate: PositiveShare = 0.5
    kicks: Annotated[int, Field(ge=0)] = 0
    kind: Literal["first", "last"] = "first"
    colour: Annotated[str, one_of(COLOURS)] = "red"
    fast: bool = False

    def __post_init__(self) -> None:
        if self.fast and self.starts > 9:
            raise ValueError(refusal("fast", True, "false with more than 9 starts"))


# --- limits of numbers ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "inside", "outside", "said"),
    [
        (PositiveShare, (0.5, 1), (0, 1.001), "numbers above 0 up to 1"),
        (Annotated[float, Field(ge=0, lt=0.05)], (0, 0.049), (0.05,), "numbers from 0 below 0.05"),
        (Count, (1, 10**9), (0, 10**9 + 1, 2.0, True), "whole numbers from 1 to 1000000000"),
    ],
)
def test_numbers(kind: Any, inside: Any, outside: Any, said: str) -> None:
    for value in inside:
        check(kind, rate=value)
    for value in (*outside, float("nan"), float("inf"), float("-inf")):
        with pytest.raises(ValueError, match=rf"^rate: got {value!r}; allowed: {said}$"):
            check(kind, rate=value)


# --- classes of parameters ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"starts": 0}, "starts: got 0; allowed: whole numbers from 1 to 1000000000"),
        ({"kicks": -1}, "kicks: got -1; allowed: whole numbers from 0"),
        ({"kind": "lst"}, "kind: got 'lst'; allowed: first or last; nearest: last"),
        ({"colour": "gren"}, "colour: got 'gren'; allowed: red, green; nearest: green"),
        ({"fast": 1}, "fast: got 1; allowed: true or false"),
        ({"starts": 10, "fast": True}, "fast: got True; allowed: false with more than 9 starts"),
        ({"strts": 3}, f"strts: unknown key, given 3; allowed: {NAMES}; nearest: starts"),
    ],
)
def test_what_is_refused_is_told_in_one_line(given: dict[str, Any], says: str) -> None:
    with pytest.raises(ParameterError) as caught:
        Toy(**given)
    assert str(caught.value) == says


def test_a_parameter_without_its_name_is_told_by_it() -> None:
    with pytest.raises(ParameterError, match=r"^rate: got 2; allowed"):
        Toy(3, 2)
    with pytest.raises(ParameterError, match=r"^argument 7: unknown key, given 9"):
        Toy(3, 1, 0, "first", "red", False, 9)  # type: ignore[call-arg]


def test_parameters_are_frozen_values() -> None:
    toy = Toy(3, rate=1)
    assert (toy.rate, type(toy.rate)) == (1.0, float)
    assert hash(toy) == hash(Toy(starts=3, rate=1.0))
    assert pickle.loads(pickle.dumps(toy)) == toy  # noqa: S301 - our own
    assert dataclasses.replace(toy, kicks=2).kicks == 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        toy.starts = 4  # type: ignore[misc]
    with pytest.raises(ParameterError, match=r"^starts: got 0"):
        dataclasses.replace(toy, starts=0)


def test_parameters_are_plain_values_by_name() -> None:
    toy = Toy(kicks=2)
    assert keys(Toy) == list(plain(toy)) == ["starts", "rate", "kicks", "kind", "colour", "fast"]
    assert Toy(**plain(toy)) == toy


def test_a_choice_grows_with_its_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(COLOURS, "blue", 3)
    assert Toy(colour="blue").colour == "blue"
