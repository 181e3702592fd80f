"""Values of all rolls at once, against those of one cell after another by the kernel."""

from typing import Any

import numpy as np
import pytest

from hogeq.evaluation.one_turn import follow_with, roll_values, values_at
from hogeq.model.game import compile_game
from hogeq.model.hidden import hidden_values
from hogeq.rules import rules_from

GOAL = 9


@pytest.mark.parametrize("edition", ["fa25", "su20", "su21", "fa13", "sp13", "sp22"])
def test_all_cells_as_one_after_another(edition: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hogeq.evaluation.one_turn.MOST_ENTRIES", 500)  # in several parts
    game = compile_game(rules_from({"edition": edition, "goal": GOAL, "max_dice": 3}))
    plays = np.random.default_rng(0).dirichlet(np.ones(game.num_actions), (2, GOAL, GOAL))
    passes = hidden_values(game, plays)
    met = np.zeros(GOAL**2, np.int64)
    for cells, rolls in roll_values(passes):
        met[cells] += 1
        for cell, found in zip(cells.tolist(), rolls, strict=True):
            at = passes.at(*divmod(cell, GOAL))
            assert found == pytest.approx(at, abs=1e-14)
            assert values_at(passes, *divmod(cell, GOAL)) == pytest.approx(at, abs=1e-14)
    assert (met == 1).all()


@pytest.mark.parametrize("seats", [1, 2])
def test_what_follows_is_worth_what_it_is_set_to(seats: int) -> None:
    game: Any = compile_game(rules_from({"edition": "fa25", "goal": GOAL, "max_dice": 3}))
    passes = game.interpreter(seats)
    follow_with(passes, np.full((GOAL, GOAL, 1), 0.25), np.full((GOAL, GOAL, 1), 0.75))
    ((_, rolls),) = [(cells, rolls) for cells, rolls in roll_values(passes, 0)]
    # After one die at 0 to 0 nobody has won, and the other moves.
    assert rolls[0, 0, 1] == pytest.approx(0.25)
