"""Solvers that learn against trails."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hogeq.model.game import HogEngine, compile_game
from hogeq.rules import rules_from
from hogeq.runs.config import config_from
from hogeq.runs.runner import run_experiment
from hogeq.solvers import SOLVERS
from hogeq.strategies.strategy import Strategy
from hogeq.support.workers import workers
from tests.search.test_follow import rates
from tests.solvers import family

RULES = {"edition": "su20", "goal": 10, "max_dice": 2}
OPTIONS: dict[str, dict[str, Any]] = {
    "bundle": {"trails": 3, "kicks": 2, "life": 4},
    "cfr_br": {"trails": 3, "kicks": 2, "life": 4, "responders": 4},
}


@pytest.fixture(scope="module")
def game() -> HogEngine:
    return compile_game(rules_from(RULES))


def test_the_bundle_learns_from_trails(game: HogEngine) -> None:
    solver, state = family.run(game, "bundle", 2, **OPTIONS["bundle"])
    pool = {matrix.tobytes() for matrix in state.pool}
    assert {matrix.tobytes() for matrix in state.trails} <= pool
    assert np.array_equal(solver.average(game, state), state.policy)
    averaged = SOLVERS["bundle"](**OPTIONS["bundle"], averaging="recent")
    assert np.array_equal(averaged.average(game, state), state.recent)
    assert state.recent.sum(axis=-1) == pytest.approx(1.0)


def test_how_much_the_average_of_the_bundle_recalls(game: HogEngine) -> None:
    solver = SOLVERS["bundle"](**OPTIONS["bundle"], averaging="recent", window=2)
    state = solver.init(game)
    policies = []
    for _ in range(3):
        state = solver.step(game, state)
        policies.append(state.policy.copy())
    expected = 0.25 * policies[0] + 0.25 * policies[1] + 0.5 * policies[2]
    np.testing.assert_allclose(solver.average(game, state), expected, atol=1e-12)
    assert np.abs(policies[0] - policies[2]).max() > 1e-3


def test_its_steps_have_a_largest_size(game: HogEngine) -> None:
    _, state = family.run(game, "bundle", 6, largest_step=2.0)
    assert float(state.step_size) <= 2.0


def test_a_trail_that_ends_takes_the_place_of_the_weakest_responder(game: HogEngine) -> None:
    _, state = family.run(game, "cfr_br", 1, **OPTIONS["cfr_br"])
    assert state.kicks_left.tolist() == [-4, 1, 2]
    uniform = Strategy.unchecked(np.full(game.shape, 1 / game.num_actions))
    known = {matrix.tobytes() for matrix in state.counters}
    assert state.trails[0].tobytes() in known
    assert state.win_rates.max() == pytest.approx(max(rates(game, state.trails[:1], uniform)))
    assert len(state.counters) == len(state.win_rates) == 4


@pytest.mark.parametrize("name", OPTIONS)
def test_threads_and_pauses_change_no_byte(name: str, game: HogEngine, tmp_path: Path) -> None:
    _, one = family.run(game, name, 3, **OPTIONS[name])
    with workers(2):
        _, two = family.run(game, name, 3, **OPTIONS[name])
    for key, value in one._asdict().items():
        assert np.array_equal(value, getattr(two, key)), key

    def config(iterations: int) -> Any:
        solver = {"name": name, "iterations": iterations, **OPTIONS[name]}
        measure = {"attack": {"starts": 1, "anneal_steps": 2}}
        return config_from({"name": name, "rules": RULES, "solver": solver, "measure": measure})

    run_experiment(config(2), tmp_path / "cut")
    run_experiment(config(3), tmp_path / "cut", resume=tmp_path / "cut" / name)
    run_experiment(config(3), tmp_path / "whole")
    cut, whole = (
        np.load(tmp_path / kind / name / "policy.npz")["policy"] for kind in ("cut", "whole")
    )
    assert np.array_equal(cut, whole)
