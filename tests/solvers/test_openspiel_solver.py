"""The solver `openspiel`, and what is left without OpenSpiel."""

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hogeq.model.game import HogEngine, compile_game
from hogeq.rules import EDITIONS, rules_from
from hogeq.search.bounds import full_memory_bound
from hogeq.solvers import SOLVERS
from hogeq.strategies.arrays import match_regrets
from hogeq.trees.openspiel import _alive, _iterate, _new, tables_of

SOLVED_BY = ("cfr", "cfr_plus", "external_mccfr", "outcome_mccfr")


def short(edition: str = "fa22", goal: int = 6, max_dice: int = 2) -> HogEngine:
    return compile_game(
        rules_from({"edition": edition, "goal": goal, "max_dice": max_dice, "sides": 2})
    )


@pytest.mark.parametrize("algorithm", SOLVED_BY)
def test_where_nothing_is_hidden_openspiel_s_solvers_close_the_interval(algorithm: str) -> None:
    game = short()
    solver = SOLVERS["openspiel"](
        algorithm=algorithm, repeats=500 if algorithm.endswith("mccfr") else 4, seed=1
    )
    state, gaps = solver.init(game), []
    for _ in range(5):
        state = solver.step(game, state)
        gaps.append(full_memory_bound(game, solver.average(game, state)) - 0.5)
    assert gaps[-1] < 0.06
    assert gaps[-1] < 0.9 * gaps[0]
    assert 0.0 < solver.stats(game, state)["average_regret"] < 0.1
    assert int(state.iteration) == 5


@pytest.mark.parametrize("algorithm", SOLVED_BY)
def test_it_goes_on_as_openspiel_s_solver_left_alone_also_when_saved(algorithm: str) -> None:
    game = compile_game(rules_from({"edition": "su20", "goal": 4, "max_dice": 1}))
    solver = SOLVERS["openspiel"](algorithm=algorithm, repeats=3, seed=5)
    state = solver.init(game)
    np.testing.assert_array_equal(solver.average(game, state), 0.5)
    for _ in range(2):
        state = solver.step(game, state)
    saved = {name: array.copy() for name, array in state._asdict().items()}
    state = solver.step(game, solver.step(game, state))
    _alive.clear()
    again = solver.restore(state, saved)
    again = solver.step(game, solver.step(game, again))
    alone = _new(algorithm, game.rules, 5)
    _iterate(alone, 12)
    expected = tables_of(game.rules, alone.__getstate__())
    for one in (state, again):
        found = tables_of(game.rules, one.text.tobytes().decode())
        np.testing.assert_array_equal(found, expected)
        average = match_regrets(expected[1].sum(axis=0))
        np.testing.assert_allclose(solver.average(game, one), average, rtol=0, atol=1e-15)
    assert solver.stats(game, again) == solver.stats(game, state)


def test_regret_is_measured_as_by_our_own_solver() -> None:
    game = compile_game(rules_from({"edition": "su20", "goal": 4, "max_dice": 2}))
    theirs = SOLVERS["openspiel"](algorithm="cfr")
    ours = SOLVERS["cfr"](alternating=True, regret_weight="counterfactual")
    figures = [
        solver.stats(game, solver.step(game, solver.init(game)))["average_regret"]
        for solver in (theirs, ours)
    ]
    assert figures[0] == pytest.approx(figures[1], abs=1e-12)


def test_games_too_big_for_openspiel_are_refused() -> None:
    game = compile_game(rules_from({"edition": "su20", "goal": 12, "max_dice": 4}))
    with pytest.raises(ValueError, match=r"cfr_plus walks a tree of more than 2,0.* nodes"):
        SOLVERS["openspiel"](algorithm="cfr_plus").init(game)
    solver = SOLVERS["openspiel"](algorithm="outcome_mccfr", repeats=20)
    state = solver.step(game, solver.init(game))
    assert not math.isclose(solver.average(game, state)[0, 0].max(), 1 / 5)


def test_states_of_an_unknown_format_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown format; allowed: version 1"):
        tables_of(EDITIONS["su20"], "[Meta]\nVersion: 2\n[SolverValuesTable]\n")


def test_without_openspiel_only_its_solver_is_missing(tmp_path: Path) -> None:
    (tmp_path / "spiel.yaml").write_text(
        "name: spiel\nrules: {edition: su20, goal: 4, max_dice: 1}\n"
        "solver: {name: openspiel, iterations: 1}\n"
    )
    code = (
        "import sys; sys.modules['pyspiel'] = None; "
        "from hogeq.cli import main; sys.exit(main(['run', 'spiel.yaml']))"
    )
    found = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert found.returncode == 2
    assert found.stderr.count("\n") == 1
    assert "OpenSpiel: not installed" in found.stderr
    assert not (tmp_path / "results").exists()
