"""The named parts that editions combine: pure functions of whole scores.

Scores may exceed the goal (a turn is judged before the goal is), so every part takes any score
of 0 or more. Digits are decimal. A part has the text that a person is shown; above it stands its
source, where nothing else is said the course's edition of that term [6]. Numbers in brackets are
those of docs/sources.md.
"""

from decimal import Decimal
from functools import cache
from itertools import count
from math import gcd, isqrt

from hogeq.rules.tables import Parts

# --- whole numbers as parts look at them ----------------------------------------------------------


def digits(number: int) -> list[int]:
    """Decimal digits of `number` as written, first digit first; 0 has the one digit 0."""
    return [int(digit) for digit in str(number)]


def tens(number: int) -> int:
    """Tens digit of `number`, 0 of a one-digit number."""
    return number // 10 % 10


def digit_gap(number: int) -> int:
    """Distance between the tens and the ones digit of `number`."""
    return abs(tens(number) - number % 10)


@cache
def is_prime(number: int) -> bool:
    """Whether `number` is prime; 0 and 1 are not."""
    return number >= 2 and all(number % divisor for divisor in range(2, isqrt(number) + 1))


@cache
def next_prime(number: int) -> int:
    """Smallest prime above `number`."""
    return next(candidate for candidate in count(number + 1) if is_prime(candidate))


@cache
def _divisors(number: int) -> int:
    """Count the divisors of `number`; 0 for 0."""
    return sum(number % divisor == 0 for divisor in range(1, number + 1))


@cache
def _pi(places: int) -> int:
    """Return pi times 10 to the power of `places`, rounded down.

    Machin's formula of 1706: pi = 16 arctan(1/5) - 4 arctan(1/239), in whole numbers.
    """
    guard_digits = 10  # what rounding down of the terms changes is cut off at the end

    def arctan_of_one_over(number: int) -> int:
        """Sum the series 1/n - 1/(3 n^3) + 1/(5 n^5) - ..., scaled."""
        power = 10 ** (places + guard_digits) // number
        total = power
        for odd in range(3, 4 * places, 2):  # at most 25^(-odd / 2): beyond, all terms are 0
            power //= -(number**2)
            total += power // odd
        return total

    return (16 * arctan_of_one_over(5) - 4 * arctan_of_one_over(239)) // 10**guard_digits


def _pi_digit(place: int) -> int:
    """Return the digit of pi at a decimal place; place 0 is the leading 3."""
    places = 1000 * (1 + place // 1000)  # a thousand at a time, for the cache
    return _pi(places) // 10 ** (places - place) % 10


def _hefty_hogs(score: int, opponent: int) -> int:
    """Change a score by one step for each digit of the opponent's, last digit first; modulo 30.

    The steps are those of the course's spring 2022 edition.
    """
    step_of_digit = (
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
    for digit in reversed(digits(opponent)):
        score = step_of_digit[digit](score)
    return score % 30


@cache
def _ends_as_it_begins(exponent: int) -> bool:
    """Whether 3 to a power begins and ends with the same digit."""
    power = Decimal(3**exponent).as_tuple().digits  # Python writes out no integer of its length
    return power[0] == power[-1]


def _two_digits(number: int) -> tuple[int, int]:
    """First two digits of `number`, a one-digit number with a leading 0."""
    return divmod(int(str(number)[:2]), 10)


def square_swine(score: int) -> int:
    """Raise a perfect square to the next one, leave other scores alone (Square Swine).

    Source: Tong (2023) [4]: 100 becomes 121.
    """
    root = isqrt(score)
    return (root + 1) ** 2 if root**2 == score else score


# --- parts ----------------------------------------------------------------------------------------

ZERO_DICE = Parts(
    "zero_dice",
    {
        # Free Bacon of Huan (2020) [1]. All the tens count, 11 of them at 110.
        "ten_minus_ones_plus_tens": (
            "10 - ones digit + tens, of the opponent's score",
            lambda _, other: 10 - other % 10 + other // 10,
        ),
        # Free Bacon of Hog Wild! [2] and fall 2015 [5]
        "one_plus_max_digit": (
            "{plus} + the largest digit of the opponent's score",
            lambda _, other, *, plus=1: plus + max(digits(other)),
        ),
        # The summer 2021 contest [3]
        "digit_gap_plus_four": (
            "|tens - ones| + {plus}, of the opponent's last two digits",
            lambda _, other, *, plus=4: digit_gap(other) + plus,
        ),
        # Fall 2022, the game of Tong (2023) [4]
        "twice_digit_gap_plus_one": (
            "{factor} x |tens - ones| + {plus}, of the opponent's last two digits",
            lambda _, other, *, factor=2, plus=1: factor * digit_gap(other) + plus,
        ),
        # Spring 2020
        "alternating_cube_digits": (
            (
                "1 + |alternating sum of the digits of the opponent's score cubed|, first digit "
                "positive"
            ),
            lambda _, other: 1 + abs(sum(digits(other**3)[::2]) - sum(digits(other**3)[1::2])),
        ),
        # Fall 2019
        "ten_minus_min_digit": (
            "10 - the smaller of the opponent's tens and ones digits",
            lambda _, other: 10 - min(tens(other), other % 10),
        ),
        # Fall 2018
        "twice_tens_minus_ones": (
            "{factor} x tens - ones digit of the opponent's score, at least {least}",
            lambda _, other, *, factor=2, least=1: max(least, factor * tens(other) - other % 10),
        ),
        # Spring 2021
        "min_square_digit_plus_three": (
            "{plus} + the smallest digit of the opponent's score squared",
            lambda _, other, *, plus=3: min(digits(other * other)) + plus,
        ),
        # Spring 2019
        "one_plus_min_digit": (
            "{plus} + the smaller of the opponent's tens and ones digits",
            lambda _, other, *, plus=1: plus + min(tens(other), other % 10),
        ),
        # Spring 2018
        "two_plus_digit_gap": (
            "{plus} + |tens - ones|, of the opponent's last two digits",
            lambda _, other, *, plus=2: plus + digit_gap(other),
        ),
        # Fall 2014
        "one_plus_digit_gap": (
            "{plus} + |tens - ones|, of the opponent's last two digits",
            lambda _, other, *, plus=1: plus + digit_gap(other),
        ),
        # Spring 2013. All the tens count, 11 of them at 110.
        "one_plus_tens": (
            "{plus} + the tens of the opponent's score",
            lambda _, other, *, plus=1: plus + other // 10,
        ),
        # Summer 2018
        "one_plus_last_product_digit": (
            "{plus} + the last digit of the product of the opponent's tens and ones digits",
            lambda _, other, *, plus=1: plus + tens(other) * (other % 10) % 10,
        ),
        # Fall 2020
        "pi_digit_plus_three": (
            "{plus} + the n-th decimal of pi at an opponent's score of n, the leading 3 at 0",
            lambda _, other, *, plus=3: _pi_digit(other) + plus,
        ),
        # Fall 2021
        "seventh_digit": (
            "N-th decimal of 1/7 at an opponent's score of n, 7 at 0",
            lambda _, other: (1, 4, 2, 8, 5, 7)[(other - 1) % 6],
        ),
        # Spring 2022. 1 if the opponent has 0. Alone among these it can be 0.
        "hefty_hogs": (
            (
                "Mover's score after a step for each digit of the opponent's, ones digit first, "
                "modulo 30"
            ),
            lambda score, other: _hefty_hogs(score, other) if other else 1,
        ),
        # Fall 2023, played in every term since
        "boar_brawl": (
            "{factor} x |the opponent's tens digit - the mover's ones digit|, at least {least}",
            lambda score, other, *, factor=3, least=1: max(
                least, factor * abs(tens(other) - score % 10)
            ),
        ),
    },
)
"""(Mover's score, opponent's score) -> points for rolling no dice."""

NO_DICE = {
    **dict.fromkeys(ZERO_DICE, "Free Bacon"),
    "digit_gap_plus_four": "Piggy Points",
    "twice_digit_gap_plus_one": "Pig Tail",
    "alternating_cube_digits": "No dice",
    "min_square_digit_plus_three": "Piggy Points",
    "seventh_digit": "Picky Piggy",
    "hefty_hogs": "Hefty Hogs",
    "boar_brawl": "Boar Brawl",
}
"""The course's names of rolling no dice."""

LANDINGS = Parts(
    "landing",
    {
        "none": ("Stays as it is", lambda score, _: score),
        # Fall 2023. 1 and the score itself count.
        "sus_fuss": (
            "Becomes the next prime if it has {divisors} divisors",
            lambda score, _, *, divisors=(3, 4): (
                next_prime(score) if _divisors(score) in divisors else score
            ),
        ),
        # Summer 2023. 100 stays, its tens digit being 0.
        "fuzzy_factors": (
            (
                "Gains {factor} x the tens digit of its greatest common divisor with 100, if that "
                "divisor exceeds 10"
            ),
            lambda score, _, *, factor=2: (
                score + factor * tens(gcd(score, 100)) if gcd(score, 100) > 10 else score
            ),
        ),
        # Summer 2022, whose tests count 1 as prime
        "pigs_on_prime": (
            "Becomes the next prime if it is prime, or 1",
            lambda score, _: next_prime(score) if score == 1 or is_prime(score) else score,
        ),
        # Hog Pile of spring 2022
        "hog_pile_digit": (
            "Gains its last digit if the opponent's score ends in the same",
            lambda score, other: score + score % 10 if score % 10 == other % 10 else score,
        ),
        # Hog Pile of fall 2021
        "hog_pile_double": (
            "Doubles if it equals the opponent's",
            lambda score, other: 2 * score if score == other else score,
        ),
    },
)
"""(Mover's new score, opponent's score) -> the score that the new one becomes, never a lower."""

SWAPS = Parts(
    "swap",
    {
        "none": ("Never", lambda _, __: False),
        # Huan (2020) [1]
        "ones_gap_is_tens": (
            "Ones digits differ by exactly the opponent's tens digit",
            lambda score, other: abs(score % 10 - other % 10) == tens(other),
        ),
        # Hog Wild! [2]
        "double": (
            "One score is exactly double the other",
            lambda score, other: score == 2 * other or other == 2 * score,
        ),
        # Fall 2015 [5]. Scores are zero-padded, so 80 and 8 swap.
        "reversed_digits": (
            "Last two digits of one score are those of the other reversed",
            lambda score, other: (tens(score), score % 10) == (other % 10, tens(other)),
        ),
        # Spring 2020
        "power_of_three_digits": (
            "3 to the power of both scores' sum begins and ends with the same digit",
            lambda score, other: _ends_as_it_begins(score + other),
        ),
        # Fall 2019. A one-digit score d gives d x d.
        "digit_products": (
            "Leftmost x rightmost digit is the same for both scores",
            lambda score, other: digits(score)[0] * (score % 10) == digits(other)[0] * (other % 10),
        ),
        # Fall 2018
        "equal_digit_gaps": (
            "|tens - ones| is the same for both scores",
            lambda score, other: digit_gap(score) == digit_gap(other),
        ),
        # Summer 2019
        "leftmost_is_ones": (
            "Leftmost digit of the mover is the opponent's ones digit",
            lambda score, other: digits(score)[0] == other % 10,
        ),
        # Summer 2018
        "ones_is_tens": (
            "Ones digit of the mover is the opponent's tens digit",
            lambda score, other: score % 10 == tens(other),
        ),
        # Spring 2019. Places that only one of them has do not count.
        "equal_digits_by_place": (
            (
                "Both scores, neither 0, have the same digit in one place: the ones, the tens, "
                "and so on"
            ),
            lambda score, other: (
                min(score, other) > 0
                and any(x == y for x, y in zip(str(score)[::-1], str(other)[::-1], strict=False))
            ),
        ),
        # Spring 2018 and fall 2017
        "multiple": (
            "Both scores exceed 1, and one is a multiple of the other",
            lambda score, other: (
                min(score, other) > 1 and max(score, other) % min(score, other) == 0
            ),
        ),
    },
)
"""(Mover's new score, opponent's score) -> do the two trade scores?"""

MORE_BOAR = Parts(
    "more_boar",
    {
        "none": ("Never", lambda _, __: False),
        # The summer 2021 contest [3]. Digits as written: a one-digit score has one digit.
        "digit_range": (
            "Smallest digit of the mover is below the opponent's, and largest above",
            lambda score, other: (
                min(digits(score)) < min(digits(other)) and max(digits(score)) > max(digits(other))
            ),
        ),
        # Spring 2021. One-digit scores are read with a leading 0.
        "both_digits_smaller": (
            "First two digits of the mover are each below the opponent's, in order",
            lambda score, other: all(
                x < y for x, y in zip(_two_digits(score), _two_digits(other), strict=True)
            ),
        ),
        # Swine Align and Pig Pass of fall 2020
        "swine_align_or_pig_pass": (
            "Scores share a factor of 10 or more, neither being 0, or the mover is 1 or 2 behind",
            lambda score, other: (
                (min(score, other) > 0 and gcd(score, other) >= 10) or 0 < other - score < 3
            ),
        ),
    },
)
"""(Mover's new score, opponent's score) -> does the mover take an extra turn?"""
