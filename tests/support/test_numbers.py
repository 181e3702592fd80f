"""Numbers for people: per cent, percentage points, and nothing shown as what it is not."""

import pytest

from hogeq.support.numbers import between, counted, duration, percent, pp


@pytest.mark.parametrize(
    ("probability", "digits", "text"),
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
def test_per_cent(probability: float, digits: int, text: str) -> None:
    assert percent(probability, digits) == text


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
    assert between(0.02397, 0.09659) == "2.40 to 9.66 pp"
    assert between(0.02397, 0.09659, 4) == "2.3970 to 9.6590 pp"
    assert between(-1e-9, 0.1) == "0.00 to 10.00 pp"


def test_times_and_counts() -> None:
    seconds = {12.3: "12 s", 0.0951: "95 ms", 2.64e-6: "2.6 us", 0.99961: "1000 ms", 1e-9: "0.0 us"}
    assert {given: duration(given) for given in seconds} == seconds
    assert [counted(number, "start") for number in (1, 2000)] == ["1 start", "2,000 starts"]
