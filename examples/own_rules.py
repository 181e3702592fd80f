"""Rules of your own: a swap when both scores end in the same digit, and what it does to play."""

import hogeq


@hogeq.rule_part("swap")
def same_ones_digit(score: int, opponent: int) -> bool:
    """Both scores end in the same digit."""
    return score % 10 == opponent % 10


parts = {"edition": "fa22", "goal": 30, "max_dice": 5}
for swap in ("none", "same_ones_digit"):
    rules = hogeq.rules_from({**parts, "swap": swap, "name": f"swap {swap}"})
    tablebase = hogeq.Game(rules).tablebase()
    print(f"{rules.name}: first roll {tablebase.first_roll}, it wins {tablebase.value:.6f}")
for part, meaning in hogeq.describe(rules):
    print(f"  {part}: {meaning}")
