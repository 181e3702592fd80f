"""Strategies as OpenSpiel's tabular policies, and back."""

import numpy as np
import pytest
from open_spiel.python.policy import TabularPolicy, python_policy_to_pyspiel_policy

from hogeq.rules import rules_from
from hogeq.strategies.profiles import seat_tables
from hogeq.trees.openspiel import to_tabular
from hogeq.trees.openspiel.game import game_of
from tests.trees.openspiel_games import small_games, two_policies


@pytest.mark.parametrize("number", [0, 7, 12])
def test_policies_come_back(number: int) -> None:
    rules = small_games()[number]
    game, (a, b) = game_of(rules), two_policies(rules, number)
    policy = to_tabular(game, a, b)
    compiled = python_policy_to_pyspiel_policy(policy)
    for player, table in enumerate((a, b)):
        reached = [
            state.scores(player) for state in policy.states if state.current_player() == player
        ]
        uniform = np.full_like(table, 1 / table.shape[2])
        for given in (policy, compiled):
            found = seat_tables(given, rules, "policy")[player]
            for own, opponent in np.ndindex(table.shape[:2]):
                expected = table if (own, opponent) in reached else uniform
                np.testing.assert_array_equal(found[own, opponent], expected[own, opponent])


def test_a_matrix_is_played_by_both_players_unless_the_second_has_one() -> None:
    rules = rules_from({"edition": "su20", "goal": 3, "max_dice": 2})
    game = game_of(rules)
    ones, twos = np.ones((3, 3), int), np.full((3, 3), 2)
    both, pair = to_tabular(game, ones), to_tabular(game, ones, twos)
    for state in both.states:
        player = state.current_player()
        assert both.action_probabilities(state)[1] == 1.0
        assert pair.action_probabilities(state)[1 + player] == 1.0


def test_policies_with_memory_have_no_table() -> None:
    rules = rules_from({"edition": "su20", "goal": 3, "max_dice": 1})
    game = game_of(rules, memory=True)
    policy = to_tabular(game, np.ones((3, 3), int))
    assert {policy.action_probabilities(state)[1] for state in policy.states} == {1.0}


def test_malformed_strategies_are_refused() -> None:
    rules = rules_from({"edition": "su20", "goal": 3, "max_dice": 1})
    game = game_of(rules)
    with pytest.raises(ValueError, match="row 0, column 0"):
        to_tabular(game, np.full((3, 3), 2))
    policy = TabularPolicy(game)
    policy.action_probability_array[:] = 0.3
    with pytest.raises(ValueError, match=r"policy: state .*, sum 1"):
        seat_tables(policy, rules, "policy")
