"""Whole numbers as parts of the rules look at them: digits, primes, divisors."""

from functools import cache
from itertools import count
from math import isqrt


def digits(number: int) -> list[int]:
    """Decimal digits of `number` as written, first digit first; 0 has the one digit 0."""
    return [int(digit) for digit in str(number)]


def last_two_digits(number: int) -> tuple[int, int]:
    """Tens and ones digit of `number`; the tens digit of a one-digit number is 0."""
    return number // 10 % 10, number % 10


def digit_gap(number: int) -> int:
    """Distance between the tens and the ones digit of `number`."""
    tens, ones = last_two_digits(number)
    return abs(tens - ones)


@cache
def is_prime(number: int) -> bool:
    """Whether `number` is prime; 0 and 1 are not."""
    return number >= 2 and all(number % divisor for divisor in range(2, isqrt(number) + 1))


@cache
def next_prime(number: int) -> int:
    """Smallest prime above `number`."""
    return next(candidate for candidate in count(number + 1) if is_prime(candidate))


@cache
def divisors(number: int) -> int:
    """Count the divisors of `number`; 0 for 0."""
    return sum(number % divisor == 0 for divisor in range(1, number + 1))


def pi_digit(place: int) -> int:
    """Digit of pi at a decimal place; place 0 is the leading 3."""
    places = 1000 * (1 + place // 1000)
    return _pi(places) // 10 ** (places - place) % 10


@cache
def _pi(places: int) -> int:
    """Pi times 10 to the power of `places`, rounded down: Machin's formula of 1706."""
    guard = 10

    def arctan(inverse: int) -> int:
        total = term = 10 ** (places + guard) // inverse
        for odd in range(3, 4 * places, 2):
            term //= -(inverse**2)
            total += term // odd
        return total

    return (16 * arctan(5) - 4 * arctan(239)) // 10**guard
