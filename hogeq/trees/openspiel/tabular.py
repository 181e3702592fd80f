"""Strategies as OpenSpiel's tabular policies, and back."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from open_spiel.python.policy import TabularPolicy

from hogeq.strategies.arrays import check_policy
from hogeq.strategies.strategy import strategy_of_shape
from hogeq.support.aliases import Floats
from hogeq.trees.openspiel.game import NAME, information_state, rules_of


def to_tabular(game: Any, first: ArrayLike, second: ArrayLike | None = None) -> Any:
    """Give strategies as a tabular policy of OpenSpiel."""
    rules = rules_of(game.get_parameters())
    shape = (rules.goal, rules.goal, rules.max_dice + 1)
    tables = [
        strategy_of_shape(shape, given).policy
        for given in (first, first if second is None else second)
    ]
    policy = TabularPolicy(game)
    for row, state in zip(policy.action_probability_array, policy.states, strict=True):
        player = state.current_player()
        row[:] = tables[player][state.scores(player)]
    return policy


def from_tabular(game: Any, policy: Any, player: int = 0) -> Floats:
    """Give one player's part of a tabular policy of OpenSpiel as a policy."""
    parameters = game.get_parameters()
    if parameters["memory"]:
        raise ValueError(f"{NAME}: a policy of the game with memory; allowed: memory=False")
    rules = rules_of(parameters)
    known = policy.policy_table() if hasattr(policy, "policy_table") else policy.to_dict()
    shape = (rules.goal, rules.goal, rules.max_dice + 1)
    table = np.full(shape, 1.0 / shape[2])
    for own in range(rules.goal):
        for opponent in range(rules.goal):
            row = known.get(information_state(player, own, opponent))
            if row is not None:
                table[own, opponent] = 0.0
                for action, probability in row:
                    table[own, opponent, action] = probability
    return check_policy(table, rules.goal, rules.max_dice, "OpenSpiel's policy")
