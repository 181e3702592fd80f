"""Small games on which baselines are tried."""

from types import SimpleNamespace
from typing import Any, cast

from hogeq.model.game import HogEngine, compile_game
from hogeq.rules import Rules, rules_from

SMALL = {"edition": "su20", "goal": 14, "max_dice": 3}


def game(rules: Any) -> HogEngine:
    return compile_game(rules_from(rules))


def rules_only(rules: Rules) -> HogEngine:
    """Give what a strategy that needs only the rules needs of a game: it waits for no kernels."""
    shape = rules.size, rules.size, rules.max_dice + 1
    return cast(
        "HogEngine", SimpleNamespace(rules=rules, goal=rules.size, shape=shape, has_scores=True)
    )
