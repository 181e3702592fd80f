"""Limits of numbers: what is inside passes, what is outside is told with what is allowed."""

from types import SimpleNamespace
from typing import Any

import pytest

from hogeq.support.limits import check, check_number


@pytest.mark.parametrize(
    ("limits", "inside", "outside", "said"),
    [
        ({"least": 1}, (1, 2.5), (0, 0.999), "from 1"),
        ({"above": 0}, (1e-9,), (0, -1), "above 0"),
        ({"above": 0, "most": 1}, (0.5, 1), (0, 1.001), "above 0 up to 1"),
        ({"least": 0, "below": 0.05}, (0, 0.049), (0.05, -1e-9), "from 0 below 0.05"),
    ],
)
def test_numbers(limits: dict[str, Any], inside: Any, outside: Any, said: str) -> None:
    for value in inside:
        check(SimpleNamespace(rate=value), "rate", **limits)
    for value in (*outside, float("nan"), float("inf"), float("-inf")):
        with pytest.raises(ValueError, match=rf"^rate: {value!r}, allowed are numbers {said}$"):
            check(SimpleNamespace(rate=value), "rate", **limits)


def test_ranges_are_said_as_ranges() -> None:
    for value in (0, 0.5, 1):
        check_number("share", value, least=0, most=1)
    for value in (-1e-9, 1.5, float("nan")):
        with pytest.raises(ValueError, match=rf"^share: {value!r}, allowed are 0 to 1$"):
            check_number("share", value, least=0, most=1)


def test_whole_numbers() -> None:
    for whole in (1, 10**400):
        check_number("jobs", whole, whole=True, least=1)
    for value in (0, 2.0, True, float("inf")):
        said = rf"^jobs: {value!r}, allowed are whole numbers from 1$"
        with pytest.raises(ValueError, match=said):
            check_number("jobs", value, whole=True, least=1)


def test_the_first_name_outside_is_told() -> None:
    given = SimpleNamespace(starts=1, jobs=0, sweeps=0)
    with pytest.raises(ValueError, match=r"^jobs: 0"):
        check(given, "starts", "jobs", "sweeps", least=1)
