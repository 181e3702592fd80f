"""Small games on which we are compared with OpenSpiel."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from hogeq.rules import EDITIONS, Rules
from hogeq.rules.parts import LANDINGS, SWAPS, ZERO_DICE
from hogeq.rules.rules import FERAL_HOGS
from hogeq.rules.turn import total_rises
from hogeq.support.aliases import Floats
from hogeq.trees.tree import HogRules, count_nodes


def same(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12)


def choose(random: np.random.Generator, values: Any) -> Any:
    return list(values)[random.integers(len(values))]


def random_rules(random: np.random.Generator, edition: str, goal: int) -> Rules:
    """Give an edition in small, half of the time with other parts mixed in."""
    base = replace(
        EDITIONS[edition],
        goal=goal,
        max_dice=int(random.integers(1, 4 if goal < 6 else 3)),
        sides=int(random.integers(2, 7 if goal < 6 else 4)),
    )
    if random.random() < 0.5:
        return base
    piggy_back = bool(random.random() < 0.3)
    return replace(
        base,
        swap=choose(random, SWAPS),
        zero_dice=choose(random, [part for part in ZERO_DICE if part != "hefty_hogs"]),
        # Not both: every size of memory is a compilation of its own.
        feral_hogs="none" if base.time_trot else choose(random, FERAL_HOGS),
        square_swine=bool(random.random() < 0.3),
        landing=choose(random, LANDINGS),
        prime_boost=bool(random.random() < 0.3),
        touchdown=bool(random.random() < 0.3),
        hog_tied=bool(random.random() < 0.3),
        pig_out=0 if piggy_back else 1,
        piggy_back=piggy_back,
    )


ENDING = [edition for edition, rules in EDITIONS.items() if total_rises(rules)]
"""The editions whose games must end."""


@cache
def small_games() -> list[Rules]:
    """One game of every edition or its parts among others, goals 3 to 8, 50 to 1,200 nodes.

    None in which no dice may score nothing, since those may never end.
    """
    random = np.random.default_rng(19)
    found: list[Rules] = []
    for edition in ENDING:
        while True:
            rules = random_rules(random, edition, 3 + len(found) % 6)
            sizes = count_nodes(HogRules(rules), most=1200)
            if sizes.exact and sizes.nodes >= 50:
                break
        found.append(rules)
    return found


GAMES = range(len(ENDING))


def two_policies(rules: Rules, seed: int) -> tuple[Floats, Floats]:
    shape = rules.size, rules.size
    a, b = np.random.default_rng(seed).dirichlet(np.ones(rules.num_actions), (2, *shape))
    return a, b
