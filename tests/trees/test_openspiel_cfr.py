"""Iterates of CFR: ours against OpenSpiel's.

OpenSpiel's routines walk the tree of histories and know nothing of our tables, so agreement to
1e-12 on random small games is evidence for both.
"""

from typing import Any

import numpy as np
import pytest
from open_spiel.python.algorithms import cfr

from hogeq.model.game import compile_game
from hogeq.rules import Rules, rules_from
from hogeq.solvers import SOLVERS
from hogeq.trees.audit import audit
from hogeq.trees.openspiel import from_tabular
from hogeq.trees.openspiel.game import game_of, information_state
from tests.trees.openspiel_games import GAMES, Floats, same, small_games


def regrets_of(solver: Any, rules: Rules) -> Floats:
    """Cumulative regrets of OpenSpiel's Python solvers, (2, G, G, K), in win probability."""
    found = np.zeros((2, rules.size, rules.size, rules.num_actions))
    for player, own, opponent in np.ndindex(*found.shape[:3]):
        node = solver._info_state_nodes.get(information_state(player, own, opponent))
        if node is not None:
            for roll, regret in node.cumulative_regret.items():
                found[player, own, opponent, roll] = regret
    return found / 2.0


@pytest.mark.parametrize("plus", [False, True], ids=["cfr", "cfr_plus"])
@pytest.mark.parametrize("number", GAMES)
def test_a_simultaneous_iteration_is_openspiel_s(number: int, plus: bool) -> None:
    """From the same regrets: where rolls tie, rounding decides what is played next.

    OpenSpiel keeps a table for each player. The coin makes the players alike, so simultaneous
    updates keep the tables equal, and equal to our one.
    """
    rules = small_games()[number]
    game = compile_game(rules)
    theirs = cfr._CFRSolver(
        game_of(rules), alternating_updates=False, linear_averaging=False, regret_matching_plus=plus
    )
    ours: Any = SOLVERS["cfr_plus" if plus else "cfr"](regret_weight="counterfactual")
    for _ in range(3):
        regrets = regrets_of(theirs, rules)
        same(regrets[0], regrets[1])
        state = ours.init(game)
        state.regrets[0] = regrets[0]
        played = from_tabular(theirs._game, theirs.current_policy())
        met = played != 1.0 / game.num_actions
        same(ours.current(state)[met], played[met])
        theirs.evaluate_and_update_policy()
        state = ours.step(game, state)
        same(state.regrets[0], regrets_of(theirs, rules)[0])
    assert np.abs(state.regrets).max() > 1e-3


@pytest.mark.parametrize(
    "spec",
    [
        {"edition": "fa22", "goal": 4, "max_dice": 1, "sides": 2},
        {"edition": "fa15", "goal": 3, "max_dice": 1, "sides": 6},
        {"edition": "fa15", "goal": 2, "max_dice": 3, "sides": 3},
    ],
)
def test_averages_are_openspiel_s_where_nothing_is_forgotten(spec: dict[str, Any]) -> None:
    """There own reach is the same at all histories of an information set, and weights alike."""
    rules = rules_from(spec)
    assert audit(rules).findings["perfect recall"].holds
    game, theirs = compile_game(rules), game_of(rules)
    solver = cfr._CFRSolver(
        theirs, alternating_updates=False, linear_averaging=False, regret_matching_plus=False
    )
    ours = SOLVERS["cfr"](regret_weight="counterfactual")
    state = ours.init(game)
    for _ in range(20):
        solver.evaluate_and_update_policy()
        state = ours.step(game, state)
    average = from_tabular(theirs, solver.average_policy())
    np.testing.assert_allclose(ours.average(game, state), average, rtol=0, atol=1e-9)
    assert np.ptp(average, axis=2).max() > 0.1
