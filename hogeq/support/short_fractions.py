"""The short fraction or decimal that a float64 number stands for."""

from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final

SHORT: Final = (1, 64, 1000, 10**6, 3 * 10**7)  # denominators that tell fractions apart
DIGITS: Final = 12  # of decimals that numbers stand for
WHOLE: Final = 2.0**53  # beyond which numbers are whole, and decimals that are not are shorter


@lru_cache(2**16)
def meant(number: float) -> Fraction:
    """Give the fraction that a number stands for.

    It is the shortest that rounds to it, if there is one of a small denominator, or a short
    decimal; else the number itself.
    """
    whole = Fraction(number)
    for most in SHORT if abs(number) < WHOLE else ():
        short = whole.limit_denominator(most)
        if float(short) == number:
            return short
    decimal = repr(number)
    return Fraction(decimal) if len(Decimal(decimal).as_tuple().digits) <= DIGITS else whole


def is_meant(number: float) -> bool:
    """Whether a number stands for itself."""
    return meant(number) == Fraction(number)
