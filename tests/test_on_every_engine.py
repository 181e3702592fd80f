"""Every solver and purifier, on every engine."""

import sys
from pathlib import Path
from subprocess import run
from typing import Any

import numpy as np
import pytest

from hogeq.model.protocol import Engine
from hogeq.purification import PURIFIERS, purify
from hogeq.solvers import SOLVERS, regret
from hogeq.strategies.conversion import strategy_of
from tests.engines import ENGINES, drawn, engine_of
from tests.solvers.family import FAMILY, TREES_ALONE

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "engine.md"
SOLVING: dict[str, dict[str, Any]] = {
    "cfr_br": {"responders": 2, "newcomers": 1},
    "bundle": {"trails": 1, "kicks": 1, "life": 2},
    "mixture_bundle": {"parts": 2},
}
PURIFYING: dict[str, dict[str, Any]] = {
    "threshold": {"samples": 2},
    "integer": {"rounds": 1, "trails": 1},
}
WITH_LOOPS = {"tree", "tree of imperfect recall"}  # compiled loops over sequences


@pytest.fixture(params=ENGINES)
def game(request: pytest.FixtureRequest) -> Any:
    return engine_of(request.param)


@pytest.mark.parametrize("name", sorted(SOLVERS.keys() - TREES_ALONE))
def test_every_solver_runs(game: Engine, name: str) -> None:
    options = SOLVING.get(name, {})
    if name in FAMILY and game.positions_recur:
        options = {"regret_weight": "reach"}
    solver = SOLVERS[name](**options)
    if name == "fsicfr" and game.positions_recur:
        with pytest.raises(ValueError, match="positions cannot recur"):
            solver.init(game)
        return
    state = solver.init(game)
    for _ in range(2):
        state = solver.step(game, state)
    average = solver.average(game, state)
    assert average.shape == game.shape
    assert average.sum(axis=-1) == pytest.approx(1.0, abs=1e-9)
    assert average.min() >= 0.0


def test_engines_with_loops_are_known() -> None:
    having = {engine for engine in ENGINES if engine_of(engine).minimiser() is not None}
    assert having == WITH_LOOPS


@pytest.mark.parametrize("epsilon", [0.0, 0.05])
@pytest.mark.parametrize("alternating", [False, True])
@pytest.mark.parametrize("name", FAMILY)
@pytest.mark.parametrize("game", sorted(WITH_LOOPS), indirect=True)
def test_loops_minimise_regret_as_the_passes_do(
    game: Engine, name: str, alternating: bool, epsilon: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    solver: Any = SOLVERS[name](alternating=alternating, epsilon=epsilon)
    single, several, passes = (solver.init(game) for _ in range(3))
    for _ in range(12):
        single = solver.step(game, single)
    for most in (1, 4, 7):
        several, done = solver.steps(game, several, most)
        assert done == most
    monkeypatch.setattr(regret, "shared_minimiser", lambda _: None)
    for _ in range(12):
        passes, done = solver.steps(game, passes, 7)
        assert done == 1
    for one, other, third in zip(single, several, passes, strict=True):
        np.testing.assert_array_equal(one, other)
        assert third == pytest.approx(one, abs=1e-12)


@pytest.mark.parametrize("name", PURIFIERS)
def test_every_purifier_runs(game: Engine, name: str) -> None:
    matrix = purify(game, drawn(game, 1)[0], name, **PURIFYING.get(name, {}))
    assert matrix.shape == game.shape[:-1]
    assert strategy_of(game, matrix).kind == "matrix"


def test_a_tree_needs_no_compiler() -> None:
    code = (
        "import sys, hogeq.trees.engine; "
        "print(*sorted({'numba', 'llvmlite'} & sys.modules.keys()), end='')"
    )
    done = run(  # noqa: S603 - this Python
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert done.stdout == ""


def test_the_page_shows_the_engine_that_is_tested() -> None:
    source = Path(__file__).with_name("toy_engine.py").read_text()
    assert source in PAGE.read_text()
