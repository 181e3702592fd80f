"""The fractions that float64 numbers stand for.

A number stands for the shortest fraction that rounds to it, if there is one of a small denominator,
or for a short decimal, else for itself; probabilities that then do not sum to 1 have the difference
put on the largest of them.
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final

SHORT: Final = (1, 64, 1000, 10**6, 3 * 10**7)  # denominators that tell fractions apart
DIGITS: Final = 12  # of decimals that they stand for
WHOLE: Final = 2.0**53  # beyond which numbers are whole, and decimals that are not are shorter

Fractions = list[Fraction]


@lru_cache(2**16)
def meant(number: float) -> Fraction:
    """Give the fraction that a number stands for."""
    whole = Fraction(number)
    for most in SHORT if abs(number) < WHOLE else ():
        short = whole.limit_denominator(most)
        if float(short) == number:
            return short
    decimal = repr(number)
    return Fraction(decimal) if len(Decimal(decimal).as_tuple().digits) <= DIGITS else whole


def is_held(number: Fraction | float) -> bool:
    """Whether the double nearest to a number stands for it."""
    if isinstance(number, float) or (isinstance(number, int) and abs(number) <= WHOLE):
        return True
    return meant(float(number)) == number


def are_held(chances: Sequence[Fraction | float]) -> bool:
    """Whether the doubles nearest to probabilities stand for them."""
    if not any(isinstance(one, Fraction) for one in chances):
        return True
    return distribution(map(float, chances)) == [*chances]


def distribution(numbers: Iterable[float]) -> Fractions:
    """Give the probabilities that numbers stand for, of sum 1."""
    given = [*numbers]
    short = [meant(one) for one in given]
    if sum(short) == 1 or not short:
        return short
    found = [Fraction(one) for one in given]
    largest = max(range(len(found)), key=found.__getitem__)
    found[largest] += 1 - sum(found)
    return found if found[largest] >= 0 else [one / sum(short) for one in short]
