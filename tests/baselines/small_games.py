"""Small games on which baselines are tried."""

from typing import Any

from hogeq.model.game import HogEngine, compile_game
from hogeq.rules import rules_from

SMALL = {"edition": "su20", "goal": 14, "max_dice": 3}


def game(rules: Any) -> HogEngine:
    return compile_game(rules_from(rules))
