"""The short fraction or decimal that a float64 number stands for."""

from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final

SHORT: Final = (1, 64, 1000, 10**6, 3 * 10**7)
"""Largest denominators that are tried; fractions with such ones differ by 1e-15 or more."""

DIGITS: Final = 12  # most digits of a decimal that a number stands for
WHOLE: Final = 2.0**53  # from here on all numbers of float64 are whole


@lru_cache(2**16)
def short_fraction(number: float) -> Fraction:
    """Return the fraction that a number stands for: 1/3 for 0.3333333333333333.

    1. A fraction with a small denominator that float64 rounds to the number, if there is one.
    2. Else its shortest decimal, if that has at most `DIGITS` digits.
    3. Else the number itself, exactly.
    """
    exact_value = Fraction(number)
    for most in SHORT if abs(number) < WHOLE else ():
        fraction = exact_value.limit_denominator(most)
        if float(fraction) == number:
            return fraction
    decimal = repr(number)  # the shortest that rounds to the number
    num_digits = len(Decimal(decimal).as_tuple().digits)
    return Fraction(decimal) if num_digits <= DIGITS else exact_value


def stands_for_itself(number: float) -> bool:
    """Whether a number stands for itself."""
    return short_fraction(number) == Fraction(number)
