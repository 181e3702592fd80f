"""The named parts that editions combine: pure functions of whole scores.

Scores may exceed the goal (a turn is judged before the goal is), so every part takes any score
of 0 or more. Digits are decimal. The first line of a part's docstring is what a person is shown.
Numbers in brackets are those of docs/sources.md.
"""

from collections.abc import Callable
from functools import cache
from itertools import count
from math import isqrt

HOG_WILD_MULTIPLE = 7
"""Hog Wild: the dice change when the sum of both scores is a multiple of this."""

HOG_WILD_SIDES = 4
"""Hog Wild: sides of the dice then."""

FERAL_DISTANCE = 2
"""Feral Hogs: how far the dice rolled must be from the record of the mover's last turn."""

FERAL_BONUS = 3
"""Feral Hogs: points that this earns."""

# --- digits and numbers ---------------------------------------------------------------------------


def digits(number: int) -> list[int]:
    """Decimal digits of `number` as written, first digit first; 0 has the one digit 0."""
    return [int(digit) for digit in str(number)]


def last_two_digits(number: int) -> tuple[int, int]:
    """Tens and ones digit of `number`; the tens digit of a one-digit number is 0."""
    return number // 10 % 10, number % 10


def first_two_digits(number: int) -> tuple[int, int]:
    """First two digits of `number`, a one-digit number being read with a leading 0."""
    first, second, *_ = digits(number) if number >= 10 else [0, number]
    return first, second


def digit_gap(number: int) -> int:
    """Distance between the tens and the ones digit of `number`."""
    tens, ones = last_two_digits(number)
    return abs(tens - ones)


@cache
def is_prime(number: int) -> bool:
    """Tell whether `number` is prime; 0 and 1 are not."""
    return number >= 2 and all(number % divisor for divisor in range(2, isqrt(number) + 1))


@cache
def next_prime(number: int) -> int:
    """Smallest prime above `number`."""
    return next(candidate for candidate in count(number + 1) if is_prime(candidate))


def prime_boost(points: int) -> int:
    """Raise prime points to the next prime, leave others alone (Hogtimus Prime).

    Source: [5] (fall 2015): a sum of 19 scores 23, and 1 is not prime.
    """
    return next_prime(points) if is_prime(points) else points


def is_square(number: int) -> bool:
    """Tell whether `number` is a perfect square; 0 is."""
    return isqrt(number) ** 2 == number


def next_square(number: int) -> int:
    """Smallest perfect square above `number`."""
    return (isqrt(number) + 1) ** 2


def square_swine(score: int) -> int:
    """Raise a perfect square to the next one, leave other scores alone (Square Swine).

    Source: Tong (2023) [4]: 100 becomes 121.
    """
    return next_square(score) if is_square(score) else score


# --- points for rolling no dice, from the opponent's score ----------------------------------------


def ten_minus_ones_plus_tens(opponent: int) -> int:
    """10 - ones digit + tens, of the opponent's score.

    Free Bacon. All the tens count, 11 of them at 110. Source: Huan (2020) [1].
    """
    return 10 - opponent % 10 + opponent // 10


def one_plus_max_digit(opponent: int) -> int:
    """1 + the largest digit of the opponent's score.

    Free Bacon. Source: Hog Wild! [2] and fall 2015 [5].
    """
    return 1 + max(digits(opponent))


def digit_gap_plus_four(opponent: int) -> int:
    """|tens - ones| + 4, of the opponent's last two digits.

    Piggy Points. Source: the summer 2021 contest [3].
    """
    return digit_gap(opponent) + 4


def twice_digit_gap_plus_one(opponent: int) -> int:
    """2 x |tens - ones| + 1, of the opponent's last two digits.

    Pig Tail. Source: the course's fall 2022 edition [6], the game of Tong (2023) [4].
    """
    return 2 * digit_gap(opponent) + 1


def alternating_cube_digits(opponent: int) -> int:
    """1 + |alternating sum of the digits of the opponent's score cubed|, first digit positive.

    Source: the course's spring 2020 edition [6].
    """
    cube = digits(opponent**3)
    return 1 + abs(sum(cube[::2]) - sum(cube[1::2]))


def ten_minus_min_digit(opponent: int) -> int:
    """10 - the smaller of the opponent's tens and ones digits.

    Free Bacon. Source: the course's fall 2019 edition [6].
    """
    return 10 - min(last_two_digits(opponent))


def twice_tens_minus_ones(opponent: int) -> int:
    """2 x tens - ones digit of the opponent's score, at least 1.

    Free Bacon. Source: the course's fall 2018 edition [6].
    """
    tens, ones = last_two_digits(opponent)
    return max(1, 2 * tens - ones)


def min_square_digit_plus_three(opponent: int) -> int:
    """3 + the smallest digit of the opponent's score squared.

    Piggy Points. Source: the course's spring 2021 edition [6].
    """
    return min(digits(opponent * opponent)) + 3


# --- swaps and extra turns, from the mover's new score and the opponent's -------------------------


def never(score: int, opponent: int) -> bool:
    """Never."""
    del score, opponent
    return False


def ones_gap_is_tens(score: int, opponent: int) -> bool:
    """Ones digits differ by exactly the opponent's tens digit.

    Swine Swap. Source: Huan (2020) [1].
    """
    tens, ones = last_two_digits(opponent)
    return abs(score % 10 - ones) == tens


def double(score: int, opponent: int) -> bool:
    """One score is exactly double the other.

    Swine Swap. Source: Hog Wild! [2].
    """
    return score == 2 * opponent or opponent == 2 * score


def reversed_digits(score: int, opponent: int) -> bool:
    """Last two digits of one score are those of the other reversed.

    Swine Swap. Scores are zero-padded, so 80 and 8 swap. Source: fall 2015 [5].
    """
    return last_two_digits(score) == last_two_digits(opponent)[::-1]


def power_of_three_digits(score: int, opponent: int) -> bool:
    """3 to the power of both scores' sum begins and ends with the same digit.

    Swine Swap. Source: the course's spring 2020 edition [6].
    """
    return _ends_as_it_begins(score + opponent)


@cache
def _ends_as_it_begins(exponent: int) -> bool:
    power: int = 3**exponent
    last = power % 10
    # Python refuses to write out integers of thousands of digits: drop low ones in blocks first.
    while power >= 10**1000:
        power //= 10**1000
    return digits(power)[0] == last


def digit_products(score: int, opponent: int) -> bool:
    """Leftmost x rightmost digit is the same for both scores.

    Swine Swap. A one-digit score d gives d x d. Source: the course's fall 2019 edition [6].
    """
    return _digit_product(score) == _digit_product(opponent)


def _digit_product(number: int) -> int:
    written = digits(number)
    return written[0] * written[-1]


def equal_digit_gaps(score: int, opponent: int) -> bool:
    """|tens - ones| is the same for both scores.

    Swine Swap. Source: the course's fall 2018 edition [6].
    """
    return digit_gap(score) == digit_gap(opponent)


def digit_range(score: int, opponent: int) -> bool:
    """Smallest digit of the mover is below the opponent's, and largest above.

    More Boar. Digits as written: a one-digit score has one digit.
    Source: the summer 2021 contest [3].
    """
    own, other = digits(score), digits(opponent)
    return min(own) < min(other) and max(own) > max(other)


def both_digits_smaller(score: int, opponent: int) -> bool:
    """First two digits of the mover are each below the opponent's, in order.

    More Boar. One-digit scores are read with a leading 0.
    Source: the course's spring 2021 edition [6].
    """
    own, other = first_two_digits(score), first_two_digits(opponent)
    return own[0] < other[0] and own[1] < other[1]


# --- registries: the names a configuration may use ------------------------------------------------

ZERO_DICE: dict[str, Callable[[int], int]] = {
    "ten_minus_ones_plus_tens": ten_minus_ones_plus_tens,
    "one_plus_max_digit": one_plus_max_digit,
    "digit_gap_plus_four": digit_gap_plus_four,
    "twice_digit_gap_plus_one": twice_digit_gap_plus_one,
    "alternating_cube_digits": alternating_cube_digits,
    "ten_minus_min_digit": ten_minus_min_digit,
    "twice_tens_minus_ones": twice_tens_minus_ones,
    "min_square_digit_plus_three": min_square_digit_plus_three,
}
"""Opponent's score -> points for rolling no dice (at least 1 in every part)."""

SWAPS: dict[str, Callable[[int, int], bool]] = {
    "none": never,
    "ones_gap_is_tens": ones_gap_is_tens,
    "double": double,
    "reversed_digits": reversed_digits,
    "power_of_three_digits": power_of_three_digits,
    "digit_products": digit_products,
    "equal_digit_gaps": equal_digit_gaps,
}
"""(Mover's new score, opponent's score) -> do the two trade scores?"""

MORE_BOAR: dict[str, Callable[[int, int], bool]] = {
    "none": never,
    "digit_range": digit_range,
    "both_digits_smaller": both_digits_smaller,
}
"""(Mover's new score, opponent's score) -> does the mover take an extra turn?"""

FERAL_HOGS: tuple[str, ...] = ("none", "points", "dice")
"""What the dice rolled must be 2 away from, of the mover's last turn, to earn 3 points.

"points" as in summer 2020 [1] and spring 2020 [6], "dice" as in fall 2019 [6].
"""
