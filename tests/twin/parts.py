"""The parts of the rules by name, from the rules' text.

Every part takes whole scores: the mover's first, the opponent's second. Nothing here comes from
hogeq. Where a part is named after one semester, others may play it too.
"""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import count
from math import gcd, isqrt

PI_DECIMALS = 1000


# --- digits and numbers ---------------------------------------------------------------------------


def ones(score: int) -> int:
    return score % 10


def tens(score: int) -> int:
    return score // 10 % 10


def written(score: int) -> list[int]:
    """Digits from left to right."""
    return [int(digit) for digit in str(score)]


def gap(score: int) -> int:
    return abs(tens(score) - ones(score))


def divisors(number: int) -> int:
    """Count the divisors, 1 and the number itself included; 0 has none here."""
    return sum(number % divisor == 0 for divisor in range(1, number + 1))


def is_prime(number: int) -> bool:
    return divisors(number) == 2


def prime_above(number: int) -> int:
    return next(candidate for candidate in count(number + 1) if is_prime(candidate))


@cache
def decimals_of_pi() -> list[int]:
    """List the leading 3 and the decimals, by Machin's formula in whole numbers."""
    unit = 10 ** (PI_DECIMALS + 10)

    def arctan_of_inverse(number: int) -> int:
        total, power = 0, unit // number
        for odd in count(1, 2):
            if power == 0:
                return total
            total += power // odd if odd % 4 == 1 else -(power // odd)
            power //= number * number
        raise AssertionError

    pi = 4 * (4 * arctan_of_inverse(5) - arctan_of_inverse(239))
    return written(pi)[: PI_DECIMALS + 1]


# --- points for rolling no dice -------------------------------------------------------------------


def alternating_cube_digits(_: int, opponent: int) -> int:
    total = sum(digit * (-1) ** place for place, digit in enumerate(written(opponent**3)))
    return abs(total) + 1


def seventh_digit(_: int, opponent: int) -> int:
    return {1: 1, 2: 4, 3: 2, 4: 8, 5: 5, 0: 7}[opponent % 6]


def hefty_hogs(own: int, opponent: int) -> int:
    if opponent == 0:
        return 1
    value = own
    for digit in reversed(written(opponent)):
        if digit == 0:
            value += 1
        elif digit == 1:
            value *= value
        elif digit == 2:
            value *= 3
        elif digit == 3:
            value //= 4
        elif digit == 4:
            value -= 5
        elif digit == 5:
            value %= 6
        elif digit == 6:
            value = 8 * (value % 7)
        elif digit == 7:
            value = int(value * 8.8)
        elif digit == 8:
            value = int(value / 99 * 15) + 10
    return value % 30


ZERO_DICE: dict[str, Callable[[int, int], int]] = {
    "ten_minus_ones_plus_tens": lambda _, opponent: 10 - ones(opponent) + opponent // 10,
    "one_plus_max_digit": lambda _, opponent: 1 + max(written(opponent)),
    "digit_gap_plus_four": lambda _, opponent: gap(opponent) + 4,
    "twice_digit_gap_plus_one": lambda _, opponent: 2 * gap(opponent) + 1,
    "alternating_cube_digits": alternating_cube_digits,
    "ten_minus_min_digit": lambda _, opponent: 10 - min(tens(opponent), ones(opponent)),
    "twice_tens_minus_ones": lambda _, opponent: max(1, 2 * tens(opponent) - ones(opponent)),
    "min_square_digit_plus_three": lambda _, opponent: min(written(opponent**2)) + 3,
    "boar_brawl": lambda own, opponent: max(1, 3 * abs(tens(opponent) - ones(own))),
    "hefty_hogs": hefty_hogs,
    "seventh_digit": seventh_digit,
    "pi_digit_plus_three": lambda _, opponent: decimals_of_pi()[opponent] + 3,
    "one_plus_min_digit": lambda _, opponent: 1 + min(tens(opponent), ones(opponent)),
    "two_plus_digit_gap": lambda _, opponent: 2 + gap(opponent),
    "one_plus_digit_gap": lambda _, opponent: 1 + gap(opponent),
    "one_plus_tens": lambda _, opponent: 1 + opponent // 10,
    "one_plus_last_product_digit": lambda _, opponent: 1 + ones(tens(opponent) * ones(opponent)),
}


# --- points of a roll -----------------------------------------------------------------------------


def rolled(dice: int, ones_rolled: int, total: int, pig_out: int | str) -> int:
    """Count the points of a roll that shows this many ones and this sum."""
    if ones_rolled == 0:
        return total
    if pig_out == "count_ones":
        return min(ones_rolled, 11 - dice)
    assert isinstance(pig_out, int)
    return pig_out


@cache
def points_of_rolls(
    dice: int, sides: int, pig_out: int | str, *, harmless: bool = False
) -> dict[int, Fraction]:
    """Give the probability of each number of points, of all rolls of this many dice."""
    ways = Counter({(0, 0): 1})
    for _ in range(dice):
        more: Counter[tuple[int, int]] = Counter()
        for (ones_rolled, total), number in ways.items():
            for face in range(1, sides + 1):
                more[ones_rolled + (face == 1), total + face] += number
        ways = more
    points: Counter[int] = Counter()
    for (ones_rolled, total), number in ways.items():
        points[rolled(dice, 0 if harmless else ones_rolled, total, pig_out)] += number
    return {gained: Fraction(number, sides**dice) for gained, number in sorted(points.items())}


def touchdown(points: int) -> int:
    return points * 7 // 6 if points % 6 == 0 else points


def is_perfect(points: int) -> bool:
    """Whether these points are a square or a cube, but not 1."""
    return points > 1 and points in {power for n in range(points) for power in (n**2, n**3)}


def prime_boost(points: int) -> int:
    return prime_above(points) if is_prime(points) else points


# --- where a score lands --------------------------------------------------------------------------


def square_swine(score: int) -> int:
    root = isqrt(score)
    return (root + 1) ** 2 if root * root == score else score


def fuzzy_factors(score: int, _: int) -> int:
    common = gcd(score, 100)
    return score + 2 * tens(common) if common > 10 else score


def hog_pile_digit(score: int, opponent: int) -> int:
    return score + ones(score) if ones(score) == ones(opponent) else score


LANDINGS: dict[str, Callable[[int, int], int]] = {
    "none": lambda score, _: score,
    "sus_fuss": lambda score, _: prime_above(score) if divisors(score) in {3, 4} else score,
    "fuzzy_factors": fuzzy_factors,
    "pigs_on_prime": lambda score, _: (
        prime_above(score) if is_prime(score) or score == 1 else score
    ),
    "hog_pile_digit": hog_pile_digit,
    "hog_pile_double": lambda score, opponent: 2 * score if score == opponent else score,
}


# --- swaps, of the mover's new score and the opponent's -------------------------------------------


def power_of_three_digits(score: int, opponent: int) -> bool:
    digits = str(3 ** (score + opponent))
    return digits[0] == digits[-1]


def equal_digits_by_place(score: int, opponent: int) -> bool:
    while score > 0 and opponent > 0:
        if ones(score) == ones(opponent):
            return True
        score, opponent = score // 10, opponent // 10
    return False


def multiple(score: int, opponent: int) -> bool:
    if score <= 1 or opponent <= 1:
        return False
    return score % opponent == 0 or opponent % score == 0


def ends_product(score: int) -> int:
    digits = written(score)
    return digits[0] * digits[-1]


SWAPS: dict[str, Callable[[int, int], bool]] = {
    "none": lambda *_: False,
    "ones_gap_is_tens": lambda score, opponent: (
        abs(ones(score) - ones(opponent)) == opponent % 100 // 10
    ),
    "double": lambda score, opponent: score == 2 * opponent or opponent == 2 * score,
    "reversed_digits": lambda score, opponent: (
        tens(score) == ones(opponent) and ones(score) == tens(opponent)
    ),
    "power_of_three_digits": power_of_three_digits,
    "digit_products": lambda score, opponent: ends_product(score) == ends_product(opponent),
    "equal_digit_gaps": lambda score, opponent: gap(score) == gap(opponent),
    "leftmost_is_ones": lambda score, opponent: written(score)[0] == ones(opponent),
    "ones_is_tens": lambda score, opponent: ones(score) == tens(opponent),
    "equal_digits_by_place": equal_digits_by_place,
    "multiple": multiple,
}


# --- extra turns, of the mover's new score and the opponent's -------------------------------------


def digit_range(score: int, opponent: int) -> bool:
    mine, theirs = written(score), written(opponent)
    return min(mine) < min(theirs) and max(mine) > max(theirs)


def both_digits_smaller(score: int, opponent: int) -> bool:
    mine, theirs = f"{score:02d}", f"{opponent:02d}"
    return mine[0] < theirs[0] and mine[1] < theirs[1]


def swine_align_or_pig_pass(score: int, opponent: int) -> bool:
    aligned = score > 0 and opponent > 0 and gcd(score, opponent) >= 10
    return aligned or 0 < opponent - score < 3


MORE_BOAR: dict[str, Callable[[int, int], bool]] = {
    "none": lambda *_: False,
    "digit_range": digit_range,
    "both_digits_smaller": both_digits_smaller,
    "swine_align_or_pig_pass": swine_align_or_pig_pass,
}


# --- points more and extra turns, by both scores as the turn begins, and the dice -----------------


EFFECTS: dict[str, Callable[[int, int, int], tuple[int, bool]]] = {
    "none": lambda *_: (0, False),
    "lucky_thirteen": lambda own, _, __: (2 if own in range(0, 2000, 13) else 0, False),
    "close_race": lambda own, opponent, dice: (
        max(0, dice) if own == opponent + 1 else 0,
        own < opponent,
    ),
}
"""Those of no edition are here: tests register them in hogeq too."""
