"""Turns in numpy, one and all of a game, against the kernels of the passes."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hogeq.model import state_values
from hogeq.model.game import HogEngine, compile_game
from hogeq.model.graph_layout import GraphLayout
from hogeq.model.one_turn import follow_with, roll_values, values_at
from hogeq.model.protocol import Reach, Role
from hogeq.rules import rules_from
from hogeq.support.aliases import Floats

GOAL = 9


def by_kernel(game: HogEngine, policies: Floats, role: Role) -> GraphLayout:
    """Pass backward by the kernels."""
    passes = game.graph_layout(len(policies))
    passes.backward(role, policies.copy(), Reach(np.zeros(0), np.ones(1)), 1.0, 1.0)
    return passes


@pytest.mark.parametrize("edition", ["fa25", "su20", "su21", "fa13", "sp13", "sp22"])
def test_all_cells_are_worth_what_the_kernel_says(
    edition: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hogeq.model.one_turn.MOST_ENTRIES", 500)  # in several parts
    game = compile_game(rules_from({"edition": edition, "goal": GOAL, "max_dice": 3}))
    plays = np.random.default_rng(0).dirichlet(np.ones(game.num_actions), (2, GOAL, GOAL))
    passes = by_kernel(game, plays, Role.EVALUATE)
    worth = passes.of_states(passes.passes.values[0])
    met = np.zeros(GOAL**2, np.int64)
    for cells, rolls in roll_values(passes):
        met[cells] += 1
        for cell, found in zip(cells.tolist(), rolls, strict=True):
            at = divmod(cell, GOAL)
            assert found @ plays[0][at] == pytest.approx(worth[at], abs=1e-14)
            assert found == pytest.approx(values_at(passes, at[0], at[1]), abs=0.0)
            rolled = values_at(passes, at[0], at[1], player=1) @ plays[1][at]
            position = np.flatnonzero((game.graph.player == 1) & (game.graph.row == cell))
            assert 1.0 - rolled == pytest.approx(passes.passes.values[0][position[0]], abs=1e-14)
    assert (met == 1).all()


@pytest.mark.parametrize("goal", [GOAL, (GOAL, 7)])
@pytest.mark.parametrize("edition", ["fa25", "fa22", "sp13", "fa15"])
def test_games_without_memory_are_valued_as_by_the_kernel(edition: str, goal: Any) -> None:
    rules = rules_from({"edition": edition, "goal": GOAL, "max_dice": 3})
    game = compile_game(replace(rules, goal=goal), own_goals=True)
    assert not game.has_memory
    assert not game.positions_recur
    plays = np.random.default_rng(0).dirichlet(np.ones(game.num_actions), (2, GOAL, GOAL))
    for policies in (plays, plays[:1]):
        values = by_kernel(game, policies, Role.EVALUATE).passes.values
        found = state_values.hidden_values(game, policies)
        np.testing.assert_allclose(found.passes.values, values, rtol=0, atol=1e-14)
        kernel = by_kernel(game, policies, Role.FULL_MEMORY)
        rolls, first, found = state_values.best_rolls(game, policies)
        np.testing.assert_allclose(found.passes.values, kernel.passes.values, rtol=0, atol=1e-14)
        np.testing.assert_array_equal(rolls, kernel.of_states(kernel.passes.choice))
        assert rolls.dtype == kernel.passes.choice.dtype
        assert first == pytest.approx(kernel.passes.values[0][tuple(game.graph.start[0])])
    passes = game.graph_layout(2)
    passes.forward(plays)
    reach = passes.of_states(passes.passes.reach[0])
    np.testing.assert_allclose(state_values.hidden_reach(game, plays), reach, rtol=0, atol=1e-14)
    assert reach[0, 0] >= 0.5


@pytest.mark.parametrize("seats", [1, 2])
def test_what_follows_is_worth_what_it_is_set_to(seats: int) -> None:
    game: Any = compile_game(rules_from({"edition": "fa25", "goal": GOAL, "max_dice": 3}))
    passes = game.graph_layout(seats)
    follow_with(passes, np.full((GOAL, GOAL, 1), 0.25), np.full((GOAL, GOAL, 1), 0.75))
    # After one die at 0 to 0 nobody has won, and the other moves.
    assert values_at(passes, 0, 0)[0, 1] == pytest.approx(0.25)
