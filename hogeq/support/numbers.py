"""Probabilities and their differences, times and counts as people read them.

Probabilities are given in per cent, differences of them in percentage points, pp, so that 52.44 %
is 0.24 pp more than 52.20 %. What is not nothing is never shown as if it were: a
probability of 1e-9 reads "<0.01 %", and one that falls short of certainty by as much ">99.99 %".
"""

from typing import Final

DIGITS: Final = 2
"""Decimals of per cents and percentage points, unless a user asks for more."""

EXACT: Final = 1e-12
"""What rounding alone may make of nothing."""


def percent(probability: float, digits: int = DIGITS) -> str:
    """Write a probability in per cent."""
    unit = 10.0**-digits
    share = 100.0 * probability
    if probability > EXACT and share < unit / 2.0:
        return f"<{unit:.{digits}f} %"
    if probability < 1.0 - EXACT and 100.0 - share < unit / 2.0:
        return f">{100.0 - unit:.{digits}f} %"
    return f"{abs(share):.{digits}f} %"


def pp(difference: float, digits: int = DIGITS, *, signed: bool = True) -> str:
    """Write a difference of probabilities in percentage points."""
    unit = 10.0**-digits
    size = 100.0 * abs(difference)
    if abs(difference) > EXACT and size < unit / 2.0:
        return f"<{unit:.{digits}f} pp"
    sign = "-" if difference < -EXACT else "+" if signed and difference > EXACT else ""
    return f"{sign}{size:.{digits}f} pp"


def between(lower: float, upper: float, digits: int = DIGITS) -> str:
    """Write an interval of differences in percentage points."""
    return f"{100.0 * lower:z.{digits}f} to {100.0 * upper:z.{digits}f} pp"


def duration(seconds: float) -> str:
    """Write a short time in the unit that fits, to two figures."""
    units = {"s": 1.0, "ms": 1e-3, "us": 1e-6}
    unit, size = next((one for one in units.items() if seconds >= one[1]), ("us", 1e-6))
    number = seconds / size
    if number >= 100.0:
        number = 10.0 * round(number / 10.0)
    return f"{number:.{0 if number >= 9.95 else 1}f} {unit}"


def counted(number: int, noun: str) -> str:
    """Write how many there are of something."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
