"""Trails: searches for counters that go on while a solver learns."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hogeq.model.game import Game, compile_game
from hogeq.rules import rules_from
from hogeq.runs.config import config_from
from hogeq.runs.runner import run_experiment
from hogeq.solvers import SOLVERS
from hogeq.solvers.trails import Trails, follow, no_trails
from hogeq.strategies.arrays import one_hot
from hogeq.strategies.mixtures import Mixture
from hogeq.support.workers import workers
from tests.solvers import family

RULES = {"edition": "su20", "goal": 10, "max_dice": 2}
OPTIONS: dict[str, dict[str, Any]] = {
    "bundle": {"trails": 3, "kicks": 2, "life": 4},
    "cfr_br": {"trails": 3, "kicks": 2, "life": 4, "responders": 4},
}


@pytest.fixture(scope="module")
def game() -> Game:
    return compile_game(rules_from(RULES))


@pytest.fixture(scope="module")
def policy(game: Game) -> Any:
    _, state = family.run(game, "dcfr", 30)
    return SOLVERS["dcfr"]().average(game, state)


@pytest.fixture(scope="module")
def none(game: Game) -> Any:
    return np.zeros((0, game.goal, game.goal), np.int8)


def test_trails_against_a_mixture(game: Game, policy: Any, none: Any) -> None:
    alone = follow(game, policy, no_trails(game, 2, 4), 2, 4, none, (0, 1))
    twice = Mixture([0.5, 0.5], [policy, policy])
    # What is drawn makes no difference here but for rounding, so trails find as much.
    both = follow(game, twice, no_trails(game, 2, 4), 2, 4, none, (0, 1))
    np.testing.assert_array_equal(alone.left, both.left)
    np.testing.assert_allclose(
        rates(game, alone.matrices, policy), rates(game, both.matrices, policy), atol=1e-3
    )


def rates(game: Game, matrices: Any, policy: Any) -> list[float]:
    work = game.workspace(2)
    rolls = policy.shape[-1]
    return [work.win_rate(np.stack([one_hot(m, rolls), policy])).win_rate for m in matrices]


def test_trails_take_turns_to_begin(game: Game, policy: Any, none: Any) -> None:
    trails = no_trails(game, 3, 12)
    assert trails.left.tolist() == [-4, -8, -12]
    left = []
    for iteration in range(4):
        trails = follow(game, policy, trails, 4, 12, none, (0, iteration))
        left.append(trails.left.tolist())
    assert left == [[-12, 4, 8], [8, -12, 4], [4, 8, -12], [-12, 4, 8]]


def test_a_trail_never_falls_until_it_ends(game: Game, policy: Any, none: Any) -> None:
    trails, found = no_trails(game, 2, 1000), []
    for iteration in range(4):
        trails = follow(game, policy, trails, 5, 1000, none, (3, iteration))
        found.append(rates(game, trails.matrices, policy))
    for before, after in pairwise(found):
        assert all(late >= soon - 1e-9 for soon, late in zip(before, after, strict=True))
    assert min(found[-1]) > 0.5


def test_a_trail_that_begins_forgets_where_it_was(game: Game, policy: Any, none: Any) -> None:
    here = np.ones((1, game.goal, game.goal), np.int8)
    fresh = no_trails(game, 1, 10)
    moved = Trails(here, fresh.left)
    one, two = (follow(game, policy, each, 3, 10, none, (1, 1)) for each in (fresh, moved))
    assert np.array_equal(one.matrices, two.matrices)
    on = follow(game, policy, Trails(one.matrices, one.left), 3, 10, none, (1, 2))
    assert rates(game, on.matrices, policy)[0] >= rates(game, one.matrices, policy)[0] - 1e-9


def test_the_bundle_learns_from_trails(game: Game) -> None:
    solver, state = family.run(game, "bundle", 2, **OPTIONS["bundle"])
    pool = {matrix.tobytes() for matrix in state.pool}
    assert {matrix.tobytes() for matrix in state.trails} <= pool
    assert np.array_equal(solver.average(game, state), state.policy)
    averaged = SOLVERS["bundle"](**OPTIONS["bundle"], averaging="recent")
    assert np.array_equal(averaged.average(game, state), state.recent)
    assert state.recent.sum(axis=-1) == pytest.approx(1.0)


def test_its_steps_have_a_largest_size(game: Game) -> None:
    _, state = family.run(game, "bundle", 6, largest_step=2.0)
    assert float(state.step_size) <= 2.0


def test_a_trail_that_ends_takes_the_place_of_the_weakest_responder(game: Game) -> None:
    _, state = family.run(game, "cfr_br", 1, **OPTIONS["cfr_br"])
    assert state.kicks_left.tolist() == [-4, 1, 2]
    uniform = np.full(game.shape, 1 / game.num_actions)
    known = {matrix.tobytes() for matrix in state.counters}
    assert state.trails[0].tobytes() in known
    assert state.win_rates.max() == pytest.approx(max(rates(game, state.trails[:1], uniform)))
    assert len(state.counters) == len(state.win_rates) == 4


@pytest.mark.parametrize("name", OPTIONS)
def test_threads_and_pauses_change_no_byte(name: str, game: Game, tmp_path: Path) -> None:
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
