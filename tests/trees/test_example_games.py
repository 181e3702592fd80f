"""Games that ship as examples, by their positions: published values."""

import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import hogeq
from hogeq.trees import full_information
from hogeq.trees.positions import of_rules
from hogeq.trees.rules import named_rules

GAMES = Path(__file__).parents[2] / "examples" / "games"


@cache
def example(name: str) -> str:
    """Register a game that ships as an example."""
    sys.path.insert(0, str(GAMES))
    try:
        import_module(name)
    finally:
        sys.path.remove(str(GAMES))
    return name


# --- published values -----------------------------------------------------------------------------

# Boyan and Moore's Pig: the values of hold or roll for the first player, by independent programs.
PIG_ONE = {4: 0.8191660739385934, 6: 0.7762597556267906, 40: 0.5485745271091017}


@pytest.mark.parametrize("goal", [4, 6, pytest.param(40, marks=pytest.mark.slow)])
def test_pig_of_boyan_and_moore_has_its_values(goal: int) -> None:
    rules = named_rules(f"{example('pig_one')}(goal={goal})")
    assert rules is not None
    held = of_rules(rules)
    solved = full_information.solve(held.graph, held.units)
    assert solved.value == pytest.approx(PIG_ONE[goal], abs=1e-13)
    assert solved.ends[0] <= solved.value <= solved.ends[1]
    assert solved.error < 1e-13


def test_piglet_is_solved_by_hand() -> None:
    """Neller and Presser's Piglet to 2: P(1,1) = 2/3, P(1,0) = 4/5, P(0,1) = 2/5, P(0,0) = 4/7.

    At 1 against 1 who throws wins p = 1/2 + (1 - p) / 2, so 2/3. At 1 against 0 it is
    4/5 = 1/2 + (1 - q) / 2 with q of the other at 0 against 1, who wins 2/5 by throwing on.
    """
    game = hogeq.Game(example("piglet"))
    assert game.tablebase().value == pytest.approx(4 / 7, abs=1e-14)
    for scores, value in {(1, 1): 2 / 3, (1, 0): 4 / 5, (0, 1): 2 / 5}.items():
        found = game.analyze((*scores, 0, 0, False))
        assert found.actions[0].value == pytest.approx(value, abs=1e-14)
    assert [one.action for one in game.analyze((0, 0, 1, 1, False)).actions] == ["throw", "hold"]


@pytest.mark.slow
def test_pig_to_100_has_its_published_value() -> None:
    """Neller and Presser, "Optimal play of the dice game Pig" (2004): 0.5306 for the first."""
    game: Any = hogeq.Game(example("pig"))
    solved = game.tablebase()
    assert round(solved.value, 4) == 0.5306
    assert solved.error < 1e-12
    # Their figure of the policy: at 0 to 0 it holds at 21 points.
    best = {turn: game.analyze((0, 0, turn, 0, False)).actions[0].action for turn in (20, 21)}
    assert best == {20: "roll", 21: "hold"}


def test_the_examples_have_thirty_lines_at_most() -> None:
    """Of the class itself, blank lines and its first docstring apart."""
    for path in GAMES.glob("*.py"):
        lines = path.read_text("utf-8").partition("class ")[2].splitlines()
        assert len([line for line in lines if line.strip()]) <= 32, path.name


def test_a_game_without_end_is_held_by_its_positions() -> None:
    game = hogeq.Game(f"{example('pig')}(goal=8)")
    assert str(game).startswith("Game(pig(goal=8): ")
    assert "positions" in str(game)
    assert game.graph.recurring.any()
    assert not isinstance(game, hogeq.Hog)
    solved = game.equilibrium()
    assert solved.is_proved
    assert solved.lower == pytest.approx(game.tablebase().value, abs=1e-12)
    assert game.exploitability(solved).upper < 1e-12
    assert game.value(solved).first == pytest.approx(solved.lower, abs=1e-12)
    response = game.attack("uniform")
    assert response.is_proved
    mean = game.value(response.strategy, "uniform").mean
    assert mean == pytest.approx(response.value, abs=1e-12)
    assert game.bound("uniform") == pytest.approx(response.value, abs=1e-12)
    with pytest.raises(ValueError, match=r"^pig\(goal=8\): is held by its .* positions") as error:
        game.audit()
    assert "\n" not in str(error.value)
