"""Arguments in the wrong place, and tables of no game or another: one line, from every function."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hogeq.analysis.tournament import round_robin
from hogeq.evaluation.counterfactual import action_values
from hogeq.evaluation.tablebase import analyze
from hogeq.evaluation.values import belief, components_at, mean_values, reach, values, win_rate
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
@pytest.mark.parametrize(
    "table", [[[1, 2], [3]], *map(np.zeros, [(6, 5), (6, 6, 4), (6,), (5, 5, 3)])]
)
def test_what_is_no_strategy_of_the_game(ask: Callable[[Any, Any], object], table: Any) -> None:
    with pytest.raises(StrategyError, match=r"^\w+( 2)?: .*; allowed: [^\n]*$"):
        ask(GAME, table)


@pytest.mark.parametrize("ask", ASK.values(), ids=ASK)
def test_rules_are_no_game(ask: Callable[[Any, Any], object]) -> None:
    with pytest.raises(TypeError, match=r"^game: got Rules.*; allowed: a Game, as hogeq\.compile"):
        ask(GAME.rules, ONE)
