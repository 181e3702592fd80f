"""The named parts that editions combine: pure functions of whole scores.

Scores may exceed the goal (a turn is judged before the goal is), so every part takes any score
of 0 or more. Digits are decimal. The first line of a part's docstring is what a person is shown.
Numbers in brackets are those of docs/sources.md.
"""

from collections.abc import Callable
from decimal import Decimal
from functools import cache
from math import gcd, isqrt

from hogeq.rules.integers import (
    digit_gap,
    digits,
    divisors,
    is_prime,
    last_two_digits,
    next_prime,
    pi_digit,
)
from hogeq.rules.tables import Parts

ZERO_DICE = Parts("zero_dice")
"""(Mover's score, opponent's score) -> points for rolling no dice; 0 only in `hefty_hogs`."""

LANDINGS = Parts("landing")
"""(Mover's new score, opponent's score) -> the score that the new one becomes, never a lower."""

SWAPS = Parts("swap")
"""(Mover's new score, opponent's score) -> do the two trade scores?"""

MORE_BOAR = Parts("more_boar")
"""(Mover's new score, opponent's score) -> does the mover take an extra turn?"""

# --- points for rolling no dice, from the mover's score and the opponent's ------------------------


@ZERO_DICE.add
def ten_minus_ones_plus_tens(_score: int, opponent: int) -> int:
    """10 - ones digit + tens, of the opponent's score.

    Free Bacon. All the tens count, 11 of them at 110. Source: Huan (2020) [1].
    """
    return 10 - opponent % 10 + opponent // 10


@ZERO_DICE.add
def one_plus_max_digit(_score: int, opponent: int) -> int:
    """1 + the largest digit of the opponent's score.

    Free Bacon. Source: Hog Wild! [2] and fall 2015 [5].
    """
    return 1 + max(digits(opponent))


@ZERO_DICE.add
def digit_gap_plus_four(_score: int, opponent: int) -> int:
    """|tens - ones| + 4, of the opponent's last two digits.

    Piggy Points. Source: the summer 2021 contest [3].
    """
    return digit_gap(opponent) + 4


@ZERO_DICE.add
def twice_digit_gap_plus_one(_score: int, opponent: int) -> int:
    """2 x |tens - ones| + 1, of the opponent's last two digits.

    Pig Tail. Source: the course's fall 2022 edition [6], the game of Tong (2023) [4].
    """
    return 2 * digit_gap(opponent) + 1


@ZERO_DICE.add
def alternating_cube_digits(_score: int, opponent: int) -> int:
    """1 + |alternating sum of the digits of the opponent's score cubed|, first digit positive.

    Source: the course's spring 2020 edition [6].
    """
    cube = digits(opponent**3)
    return 1 + abs(sum(cube[::2]) - sum(cube[1::2]))


@ZERO_DICE.add
def ten_minus_min_digit(_score: int, opponent: int) -> int:
    """10 - the smaller of the opponent's tens and ones digits.

    Free Bacon. Source: the course's fall 2019 edition [6].
    """
    return 10 - min(last_two_digits(opponent))


@ZERO_DICE.add
def twice_tens_minus_ones(_score: int, opponent: int) -> int:
    """2 x tens - ones digit of the opponent's score, at least 1.

    Free Bacon. Source: the course's fall 2018 edition [6].
    """
    tens, ones = last_two_digits(opponent)
    return max(1, 2 * tens - ones)


@ZERO_DICE.add
def min_square_digit_plus_three(_score: int, opponent: int) -> int:
    """3 + the smallest digit of the opponent's score squared.

    Piggy Points. Source: the course's spring 2021 edition [6].
    """
    return min(digits(opponent * opponent)) + 3


@ZERO_DICE.add
def one_plus_min_digit(_score: int, opponent: int) -> int:
    """1 + the smaller of the opponent's tens and ones digits.

    Free Bacon. Source: the course's spring 2019 edition [6].
    """
    return 1 + min(last_two_digits(opponent))


@ZERO_DICE.add
def two_plus_digit_gap(_score: int, opponent: int) -> int:
    """2 + |tens - ones|, of the opponent's last two digits.

    Free Bacon. Source: the course's spring 2018 edition [6].
    """
    return 2 + digit_gap(opponent)


@ZERO_DICE.add
def one_plus_digit_gap(_score: int, opponent: int) -> int:
    """1 + |tens - ones|, of the opponent's last two digits.

    Free Bacon. Source: the course's fall 2014 edition [6].
    """
    return 1 + digit_gap(opponent)


@ZERO_DICE.add
def one_plus_tens(_score: int, opponent: int) -> int:
    """1 + the tens of the opponent's score.

    Free Bacon. All the tens count, 11 of them at 110. Source: the course's spring 2013 edition [6].
    """
    return 1 + opponent // 10


@ZERO_DICE.add
def one_plus_last_product_digit(_score: int, opponent: int) -> int:
    """1 + the last digit of the product of the opponent's tens and ones digits.

    Free Bacon. Source: the course's summer 2018 edition [6].
    """
    tens, ones = last_two_digits(opponent)
    return 1 + tens * ones % 10


@ZERO_DICE.add
def pi_digit_plus_three(_score: int, opponent: int) -> int:
    """3 + the n-th decimal of pi at an opponent's score of n, the leading 3 at 0.

    Free Bacon. Source: the course's fall 2020 edition [6].
    """
    return pi_digit(opponent) + 3


@ZERO_DICE.add
def seventh_digit(_score: int, opponent: int) -> int:
    """N-th decimal of 1/7 at an opponent's score of n, 7 at 0.

    Picky Piggy. Source: the course's fall 2021 edition [6].
    """
    return (1, 4, 2, 8, 5, 7)[(opponent - 1) % 6]


@ZERO_DICE.add
def hefty_hogs(score: int, opponent: int) -> int:
    """Mover's score after a step for each digit of the opponent's, ones digit first, modulo 30.

    Hefty Hogs. 1 if the opponent has 0. Can be 0. Source: the course's spring 2022 edition [6].
    """
    if opponent == 0:
        return 1
    value = score
    for digit in reversed(digits(opponent)):
        value = _HEFTY_STEPS[digit](value)
    return value % 30


_HEFTY_STEPS: tuple[Callable[[int], int], ...] = (
    lambda value: value + 1,
    lambda value: value**2,
    lambda value: 3 * value,
    lambda value: value // 4,
    lambda value: value - 5,
    lambda value: value % 6,
    lambda value: 8 * (value % 7),
    lambda value: int(value * 8.8),
    lambda value: int(value / 99 * 15) + 10,
    lambda value: value,
)
"""Steps of Hefty Hogs, by digit."""


@ZERO_DICE.add
def boar_brawl(score: int, opponent: int) -> int:
    """3 x |the opponent's tens digit - the mover's ones digit|, at least 1.

    Boar Brawl. Source: the course's fall 2023 edition [6], played in every term since.
    """
    return max(1, 3 * abs(last_two_digits(opponent)[0] - score % 10))


# --- the score that the mover's new score becomes, from it and the opponent's ---------------------


def unchanged(score: int, _opponent: int) -> int:
    """Stays as it is."""
    return score


LANDINGS["none"] = unchanged


def square_swine(score: int) -> int:
    """Raise a perfect square to the next one, leave other scores alone (Square Swine).

    Source: Tong (2023) [4]: 100 becomes 121.
    """
    root = isqrt(score)
    return (root + 1) ** 2 if root**2 == score else score


@LANDINGS.add
def sus_fuss(score: int, _opponent: int) -> int:
    """Becomes the next prime if it has 3 or 4 divisors.

    Sus Fuss. 1 and the score itself count. Source: the course's fall 2023 edition [6].
    """
    return next_prime(score) if divisors(score) in (3, 4) else score


@LANDINGS.add
def fuzzy_factors(score: int, _opponent: int) -> int:
    """Gains 2 x the tens digit of its greatest common divisor with 100, if that divisor exceeds 10.

    Fuzzy Factors. 100 stays, its tens digit being 0. Source: the course's summer 2023 edition [6].
    """
    factor = gcd(score, 100)
    return score + 2 * last_two_digits(factor)[0] if factor > 10 else score


@LANDINGS.add
def pigs_on_prime(score: int, _opponent: int) -> int:
    """Becomes the next prime if it is prime, or 1.

    Pigs on Prime. Source: the course's summer 2022 edition [6], whose tests count 1 as prime.
    """
    return next_prime(score) if score == 1 or is_prime(score) else score


@LANDINGS.add
def hog_pile_digit(score: int, opponent: int) -> int:
    """Gains its last digit if the opponent's score ends in the same.

    Hog Pile. Source: the course's spring 2022 edition [6].
    """
    return score + score % 10 if score % 10 == opponent % 10 else score


@LANDINGS.add
def hog_pile_double(score: int, opponent: int) -> int:
    """Doubles if it equals the opponent's.

    Hog Pile. Source: the course's fall 2021 edition [6].
    """
    return 2 * score if score == opponent else score


# --- swaps and extra turns, from the mover's new score and the opponent's -------------------------


def never(score: int, opponent: int) -> bool:
    """Never."""
    del score, opponent
    return False


SWAPS["none"] = MORE_BOAR["none"] = never


@SWAPS.add
def ones_gap_is_tens(score: int, opponent: int) -> bool:
    """Ones digits differ by exactly the opponent's tens digit.

    Swine Swap. Source: Huan (2020) [1].
    """
    tens, ones = last_two_digits(opponent)
    return abs(score % 10 - ones) == tens


@SWAPS.add
def double(score: int, opponent: int) -> bool:
    """One score is exactly double the other.

    Swine Swap. Source: Hog Wild! [2].
    """
    return score == 2 * opponent or opponent == 2 * score


@SWAPS.add
def reversed_digits(score: int, opponent: int) -> bool:
    """Last two digits of one score are those of the other reversed.

    Swine Swap. Scores are zero-padded, so 80 and 8 swap. Source: fall 2015 [5].
    """
    return last_two_digits(score) == last_two_digits(opponent)[::-1]


@SWAPS.add
def power_of_three_digits(score: int, opponent: int) -> bool:
    """3 to the power of both scores' sum begins and ends with the same digit.

    Swine Swap. Source: the course's spring 2020 edition [6].
    """
    return _ends_as_it_begins(score + opponent)


@cache
def _ends_as_it_begins(exponent: int) -> bool:
    power = Decimal(3**exponent).as_tuple().digits  # Python writes out no integer of its length
    return power[0] == power[-1]


@SWAPS.add
def digit_products(score: int, opponent: int) -> bool:
    """Leftmost x rightmost digit is the same for both scores.

    Swine Swap. A one-digit score d gives d x d. Source: the course's fall 2019 edition [6].
    """
    own, other = digits(score), digits(opponent)
    return own[0] * own[-1] == other[0] * other[-1]


@SWAPS.add
def equal_digit_gaps(score: int, opponent: int) -> bool:
    """|tens - ones| is the same for both scores.

    Swine Swap. Source: the course's fall 2018 edition [6].
    """
    return digit_gap(score) == digit_gap(opponent)


@SWAPS.add
def leftmost_is_ones(score: int, opponent: int) -> bool:
    """Leftmost digit of the mover is the opponent's ones digit.

    Swine Swap. Source: the course's summer 2019 edition [6].
    """
    return digits(score)[0] == opponent % 10


@SWAPS.add
def ones_is_tens(score: int, opponent: int) -> bool:
    """Ones digit of the mover is the opponent's tens digit.

    Swine Swap. Source: the course's summer 2018 edition [6].
    """
    return score % 10 == last_two_digits(opponent)[0]


@SWAPS.add
def equal_digits_by_place(score: int, opponent: int) -> bool:
    """Both scores, neither 0, have the same digit in one place: the ones, the tens, and so on.

    Swine Swap. Places that only one of them has do not count.
    Source: the course's spring 2019 edition [6].
    """
    while score and opponent:
        if score % 10 == opponent % 10:
            return True
        score, opponent = score // 10, opponent // 10
    return False


@SWAPS.add
def multiple(score: int, opponent: int) -> bool:
    """Both scores exceed 1, and one is a multiple of the other.

    Swine Swap. Source: the course's spring 2018 and fall 2017 editions [6].
    """
    small, large = sorted((score, opponent))
    return small > 1 and large % small == 0


@MORE_BOAR.add
def digit_range(score: int, opponent: int) -> bool:
    """Smallest digit of the mover is below the opponent's, and largest above.

    More Boar. Digits as written: a one-digit score has one digit.
    Source: the summer 2021 contest [3].
    """
    own, other = digits(score), digits(opponent)
    return min(own) < min(other) and max(own) > max(other)


@MORE_BOAR.add
def both_digits_smaller(score: int, opponent: int) -> bool:
    """First two digits of the mover are each below the opponent's, in order.

    More Boar. One-digit scores are read with a leading 0.
    Source: the course's spring 2021 edition [6].
    """
    own, other = (divmod(int(str(number)[:2]), 10) for number in (score, opponent))
    return own[0] < other[0] and own[1] < other[1]


@MORE_BOAR.add
def swine_align_or_pig_pass(score: int, opponent: int) -> bool:
    """Scores share a factor of 10 or more, neither being 0, or the mover is 1 or 2 behind.

    Swine Align and Pig Pass. Source: the course's fall 2020 edition [6].
    """
    aligned = score > 0 and opponent > 0 and gcd(score, opponent) >= 10
    return aligned or 0 < opponent - score < 3
