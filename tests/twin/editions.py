"""Every edition as a mapping of switches, from the two rules documents."""

from typing import Any

from tests.twin.turn import SWITCHES

FA15: dict[str, Any] = {
    "zero_dice": "one_plus_max_digit",
    "pig_out": 0,
    "piggy_back": True,
    "prime_boost": True,
    "hog_wild": True,
    "swap": "reversed_digits",
}

SU15: dict[str, Any] = FA15 | {"pig_out": 1, "piggy_back": False, "prime_boost": False}

TIED: dict[str, Any] = {
    "zero_dice": "one_plus_tens",
    "touchdown": True,
    "hog_wild": True,
    "hog_tied": True,
}

EDITIONS: dict[str, dict[str, Any]] = {
    "su20": {
        "zero_dice": "ten_minus_ones_plus_tens",
        "feral_hogs": "points",
        "swap": "ones_gap_is_tens",
    },
    "hw13": {"zero_dice": "one_plus_max_digit", "hog_wild": True, "swap": "double"},
    "fa13": {
        "zero_dice": "one_plus_max_digit",
        "hog_wild": True,
        "swap": "double",
        "memory": "ham_hijinks",
    },
    "su21": {
        "zero_dice": "digit_gap_plus_four",
        "more_boar": "digit_range",
        "time_trot": True,
        "time_trot_period": 8,
        "extra_turn_sides": 8,
    },
    "fa22": {"zero_dice": "twice_digit_gap_plus_one", "square_swine": True},
    "fa15": FA15,
    "sp20": {
        "zero_dice": "alternating_cube_digits",
        "feral_hogs": "points",
        "swap": "power_of_three_digits",
    },
    "fa19": {"zero_dice": "ten_minus_min_digit", "feral_hogs": "dice", "swap": "digit_products"},
    "fa18": {
        "zero_dice": "twice_tens_minus_ones",
        "swap": "equal_digit_gaps",
        "time_trot": True,
        "time_trot_period": 5,
    },
    "sp21": {"zero_dice": "min_square_digit_plus_three", "more_boar": "both_digits_smaller"},
    "fa23": {"zero_dice": "boar_brawl", "landing": "sus_fuss"},
    "su23": {"zero_dice": "boar_brawl", "landing": "fuzzy_factors"},
    "su22": {"zero_dice": "twice_tens_minus_ones", "landing": "pigs_on_prime"},
    "sp22": {"zero_dice": "hefty_hogs", "landing": "hog_pile_digit"},
    "fa21": {"zero_dice": "seventh_digit", "landing": "hog_pile_double"},
    "fa20": {"zero_dice": "pi_digit_plus_three", "more_boar": "swine_align_or_pig_pass"},
    "su19": {"zero_dice": "ten_minus_min_digit", "swap": "leftmost_is_ones"},
    "sp19": {
        "zero_dice": "one_plus_min_digit",
        "swap": "equal_digits_by_place",
        "time_trot": True,
        "time_trot_period": 5,
    },
    "sp18": {"zero_dice": "two_plus_digit_gap", "swap": "multiple"},
    "fa17": {
        "zero_dice": "one_plus_max_digit",
        "swap": "multiple",
        "time_trot": True,
        "time_trot_period": 8,
    },
    "sp17": {
        "zero_dice": "one_plus_max_digit",
        "pig_out": "count_ones",
        "prime_boost": True,
        "hog_wild": True,
        "swap": "double",
    },
    "su15": SU15,
    "su15_contest": SU15 | {"memory": "pig_fest"},
    "fa14": {"zero_dice": "one_plus_digit_gap", "hog_wild": True, "swap": "double"},
    "su18": {"zero_dice": "one_plus_last_product_digit", "swap": "ones_is_tens"},
    "su17": {
        "zero_dice": "one_plus_max_digit",
        "prime_boost": True,
        "swap": "double",
        "memory": "perfect_piggy",
    },
    "hog12": TIED | {"prime_boost": True},
    "sp13": TIED | {"forty_niners": True},
}

SAME: dict[str, str] = {"sp23": "fa22", "sp14": "fa13", "su14": "fa13"} | dict.fromkeys(
    ("sp24", "su24", "fa24", "sp25", "su25", "fa25", "sp26"), "fa23"
)
"""Semesters that played another's game."""

assert all(rules.keys() <= SWITCHES.keys() for rules in EDITIONS.values())
