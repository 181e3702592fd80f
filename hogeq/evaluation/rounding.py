"""How far rounding moves what passes compute, as docs/exact-response.md, "Rounding", proves it.

Each operation on doubles multiplies its result by 1 + d, with d at most u, the unit roundoff, in
size; k such factors move it by at most u k / (1 - u k) (Higham, "Accuracy and Stability of
Numerical Algorithms", 2nd ed., Lemma 3.1).
"""

from typing import Final

from hogeq.support.floats import UNIT_ROUNDOFF

# (1 + u)**n (1 + e)**m - 1 is at most this times n u + m e, if that is below 1/200: so products of
# errors of n operations and m sums of probabilities are covered (docs/benchmark.md).
SECOND_ORDER: Final = 1.02
EXACT_BITS: Final = 20  # an exact payoff is a multiple of 2**-20; any other may be rounded
UNDERFLOW: Final = 1e-300  # more than numbers too small for relative errors add up to


def value_roundings(outcomes: int, actions: int) -> int:
    """Count the roundings of a value in one turn: a mean over actions of means over outcomes.

    For each outcome a product and a sum, for each action the same, and 4 of chances and
    probabilities that are rounded themselves, of payoffs and of prices.
    """
    return 2 * outcomes + 2 * actions + 4


def priced_turn_error(outcomes: int, actions: int, missed: float) -> float:
    """Bound the error of a turn in a pass in which rows pay prices, as a share of the largest size.

    That is more than `value_roundings`, and three roundings of a price and of the row's part of it,
    of numbers up to twice the largest size: a value less a price. `missed` is by how much chances
    of a turn may miss a sum of 1.
    """
    return (4 * outcomes + 2 * actions + 14) * 2.0 * UNIT_ROUNDOFF + missed
