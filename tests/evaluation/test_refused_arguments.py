"""Arguments in the wrong place, and ragged tables: one line, from every function."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hogeq.contest.tournament import round_robin
from hogeq.evaluation.counterfactual import action_values
from hogeq.evaluation.mixtures import components_at
from hogeq.evaluation.tablebase import analyze
from hogeq.evaluation.values import belief, mean_values, reach, values, win_rate
from hogeq.model.game import compile_game
from hogeq.rules import rules_from
from hogeq.search.attack import attack
from hogeq.search.population import gains
from hogeq.strategies.arrays import StrategyError

GAME = compile_game(rules_from({"edition": "su20", "goal": 6, "max_dice": 2}))
ONE = np.ones((6, 6), np.int8)
ASK: dict[str, Callable[[Any, Any], object]] = {
    "win_rate": lambda game, table: win_rate(game, ONE, table),
    "values": values,
    "mean_values": mean_values,
    "reach": reach,
    "belief": lambda game, table: belief(game, table, None, 1, 1),
    "analyze": lambda game, table: analyze(game, 1, 1, table),
    "action_values": action_values,
    "components_at": lambda game, table: components_at(game, table, 1, 1),
    "gains": lambda game, table: gains(game, table, ONE),
    "attack": attack,
    "round_robin": lambda game, table: round_robin(game, [ONE, table]),
}


@pytest.mark.parametrize("ask", ASK.values(), ids=ASK)
@pytest.mark.parametrize("ragged", [[[1, 2], [3]], [[[0.5, 0.5], [1.0]]]])
def test_ragged_tables_are_no_strategies(ask: Callable[[Any, Any], object], ragged: Any) -> None:
    with pytest.raises(StrategyError, match=r"^strategy( 2)?: rows differ in length; allowed: "):
        ask(GAME, ragged)


@pytest.mark.parametrize("ask", ASK.values(), ids=ASK)
def test_rules_are_no_game(ask: Callable[[Any, Any], object]) -> None:
    with pytest.raises(TypeError, match=r"^game: got Rules.*; allowed: a Game, as hogeq\.compile"):
        ask(GAME.rules, ONE)
