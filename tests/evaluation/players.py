"""Players, and games in which positions recur, that tests share."""

import numpy as np

from hogeq.rules import Rules
from hogeq.strategies.arrays import one_hot
from hogeq.support.aliases import Floats

EXACT = 1e-12  # largest difference between two exact results

RECURRING = {
    "primes": Rules(
        goal=15,
        max_dice=3,
        pig_out=0,
        prime_boost=True,
        hog_wild=True,
        swap="reversed_digits",
        zero_dice="one_plus_max_digit",
    ),
    "many dice": Rules(goal=6, max_dice=12, sides=3, pig_out=0),
    "double swap": Rules(goal=13, max_dice=3, pig_out=0, swap="double", hog_wild=True),
    "extra turns": Rules(
        goal=14, max_dice=2, pig_out=0, zero_dice="one_plus_max_digit", more_boar="digit_range"
    ),
    "extra dice": Rules(
        goal=12, max_dice=2, pig_out=0, more_boar="both_digits_smaller", extra_turn_sides=4
    ),
    "no way back": Rules(goal=11, max_dice=2, pig_out=0, square_swine=True, swap="double"),
    "time trot": Rules(
        goal=7, max_dice=3, pig_out=0, time_trot=True, time_trot_period=3, extra_turn_sides=3
    ),
    "points": Rules(goal=5, max_dice=2, pig_out=0, feral_hogs="points", swap="double"),
    "everything": Rules(
        goal=5,
        max_dice=1,
        sides=3,
        pig_out=0,
        feral_hogs="dice",
        time_trot=True,
        time_trot_period=2,
        more_boar="digit_range",
        swap="reversed_digits",
        zero_dice="twice_tens_minus_ones",
    ),
}
"""Turns can score nothing, and leave the total as it was."""


def random_policy(random: np.random.Generator, shape: tuple[int, int, int], kind: str) -> Floats:
    """Make a policy that is mixed everywhere, mixed with many rolls left out, or pure."""
    policy = random.dirichlet(np.ones(shape[2]), shape[:2])
    if kind == "sparse":
        policy *= random.random(shape) < 0.5
        policy[policy.sum(axis=2) == 0.0, 0] = 1.0
        policy /= policy.sum(axis=2, keepdims=True)
    if kind == "pure":
        policy = one_hot(policy.argmax(axis=2), shape[2])
    return policy
