"""Solvers of mixtures: what no policy can do, and models that are exact where they were taken."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hogeq.evaluation.values import win_rate
from hogeq.model.game import HogEngine, compile_game
from hogeq.rules import rules_from
from hogeq.solvers import SOLVERS
from hogeq.solvers.cuts import cut
from hogeq.strategies.arrays import one_hot
from hogeq.strategies.conversion import strategy_of_shape
from hogeq.strategies.strategy import Strategy
from tests.solvers.family import run

COINS = {
    "goal": 4,
    "max_dice": 2,
    "sides": 2,
    "zero_dice": "alternating_cube_digits",
    "time_trot": True,
    "time_trot_period": 2,
}
QUICK = {"responder_steps": 4, "deep_every": 5}


@pytest.fixture(scope="module")
def coins() -> HogEngine:
    """Give the game of docs/mixtures.md: the value of policies is 1/2 + 1/216."""
    return compile_game(rules_from(COINS))


@pytest.fixture(scope="module")
def small() -> HogEngine:
    """Give su20 to 8 points with two dice."""
    return compile_game(rules_from({"edition": "su20", "goal": 8, "max_dice": 2}))


def exploited(game: HogEngine, mixture: Any) -> float:
    """Win rate, less 1/2, of the best of the matrices that matter in the game of two coins."""
    best = 0.0
    for first, then in ((1, 0), (1, 2), (2, 0), (2, 2)):
        rolls = np.zeros((4, 4), int)
        rolls[0, 0], rolls[0, 1], rolls[1, 1] = 2, first, then
        best = max(best, win_rate(game, rolls, mixture).win_rate)
    return best - 0.5


def test_two_parts_come_to_the_equilibrium_and_one_cannot(coins: HogEngine) -> None:
    solver, state = run(coins, "mixture_bundle", 30, parts=2, **QUICK)
    assert exploited(coins, solver.mixture(coins, state)) < 1e-4
    assert exploited(coins, solver.average(coins, state)) >= 1 / 216
    solver, state = run(coins, "mixture_bundle", 20, parts=1, **QUICK)
    assert 1 / 216 <= exploited(coins, solver.mixture(coins, state)) < 0.006


def test_models_are_exact_where_they_were_taken_and_steps_are_kept_if_better(
    small: HogEngine,
) -> None:
    solver: Any = SOLVERS["mixture_bundle"](parts=3, **QUICK)
    state = solver.init(small)
    assert len(np.unique(state.parts.reshape(3, -1), axis=0)) == 3
    worst = []
    for _ in range(6):
        state = solver.step(small, state)
        mixture = solver.mixture(small, state)
        rates = [win_rate(small, counter, mixture).win_rate for counter in state.pool]
        assert max(rates) <= state.worst + 2e-3
        worst.append(max(rates))
    assert worst[-1] < worst[0]
    one = np.array([win_rate(small, part, state.pool[0]).win_rate for part in state.parts])
    fresh = cut(small, Strategy.unchecked_mixture(state.parts, state.draw), state.pool[0])
    rows = fresh.gradients.reshape(3, -1)
    np.testing.assert_allclose(
        fresh.constants + (rows * state.parts.reshape(3, -1)).sum(axis=1), one, atol=1e-6
    )


def test_a_file_with_fewer_parts_is_split(small: HogEngine, tmp_path: Path) -> None:
    solver, state = run(small, "mixture_bundle", 2, parts=2, **QUICK)
    file = tmp_path / "two.npz"
    strategy_of_shape(None, solver.mixture(small, state)).write(file)
    options = {"start": str(file), "spread": 0.0, **QUICK}
    four = SOLVERS["mixture_bundle"](parts=4, **options).init(small)
    assert four.draw.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(
        np.tensordot(four.draw, four.parts, 1), np.tensordot(state.draw, state.parts, 1), atol=1e-4
    )
    with pytest.raises(ValueError, match=r"start: got .*mixture of 2.*; allowed: of 1 to 1 parts"):
        SOLVERS["mixture_bundle"](parts=1, **options).init(small)


@pytest.mark.parametrize(("name", "options"), [("bundle", {}), ("mixture_bundle", {"parts": 2})])
def test_trails_and_the_average_over_recent_iterations(
    small: HogEngine, name: str, options: dict[str, int]
) -> None:
    how: dict[str, Any] = {"averaging": "recent", "window": 2, "largest_step": 5.0, **QUICK}
    solver: Any = SOLVERS[name](trails=2, kicks=1, life=3, **options, **how)
    last: Any = SOLVERS[name](**options)
    state = solver.init(small)
    policies = []
    for _ in range(3):
        state = solver.step(small, state)
        policies.append((state.parts, state.draw))
        pool = {matrix.tobytes() for matrix in state.pool}
        assert {matrix.tobytes() for matrix in state.trails} <= pool
    assert state.step_size <= 5.0
    parts, draw = (
        np.average(each, axis=0, weights=[0.25, 0.25, 0.5]) for each in zip(*policies, strict=True)
    )
    if name == "bundle":
        np.testing.assert_allclose(solver.average(small, state), parts[0], atol=1e-12)
        np.testing.assert_array_equal(last.average(small, state), policies[-1][0][0])
        return
    np.testing.assert_allclose(solver.mixture(small, state).array, parts, atol=1e-12)
    np.testing.assert_allclose(solver.mixture(small, state).weights, draw, atol=1e-12)
    np.testing.assert_array_equal(last.mixture(small, state).array, policies[-1][0])


@pytest.mark.parametrize(("name", "options"), [("bundle", {}), ("mixture_bundle", {"parts": 2})])
def test_softness_lets_more_counters_shape_a_step(
    small: HogEngine, name: str, options: dict[str, int]
) -> None:
    weights = {}
    for softness in (0.0, 0.05):
        solver: Any = SOLVERS[name](softness=softness, **options, **QUICK)
        state = solver.init(small)
        first = solver.step(small, state)
        for _ in range(8):
            state = solver.step(small, state)
        assert state.worst < first.worst
        weights[softness] = np.sort(state.weights)
    assert (weights[0.05] > 1e-6).sum() > (weights[0.0] > 1e-6).sum()
    assert weights[0.05][-1] < weights[0.0][-1]


def test_solvers_of_policies_have_no_mixture(coins: HogEngine) -> None:
    solver, state = run(coins, "cfr_plus", 1)
    assert solver.mixture(coins, state) is None


# --- fictitious -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_fictitious_play_draws_a_b_and_c_as_the_equilibrium_does(coins: HogEngine) -> None:
    """Robinson 1951; responses to the average policy settle where 0.0036 is lost."""
    solver, state = run(coins, "fictitious", 300, responder="ascent")
    mixture = solver.mixture(coins, state)
    drawn: dict[tuple[int, int], float] = {}
    for weight, rolls in zip(mixture.weights, mixture.policies.argmax(axis=-1), strict=True):
        at = int(rolls[0, 1]), int(rolls[1, 1])
        drawn[at] = drawn.get(at, 0.0) + weight
    expected = {(1, 0): 3 / 9, (1, 2): 4 / 9, (2, 0): 2 / 9, (2, 2): 0.0}  # A, B, C, D
    assert {at: drawn.get(at, 0.0) for at in expected} == pytest.approx(expected, abs=0.015)
    assert exploited(coins, mixture) < 0.001
    assert exploited(coins, solver.average(coins, state)) > 1 / 216 - 1e-12


@pytest.mark.parametrize("step_size", ["harmonic", "square_root"])
def test_a_response_is_drawn_as_its_step_and_those_after_it_leave(
    coins: HogEngine, step_size: str
) -> None:
    solver, state = run(coins, "fictitious", 9, step_size=step_size)
    weights = np.zeros(0)
    for number in range(1, 10):
        size = 1 / number if step_size == "harmonic" else number**-0.5
        weights = np.append((1.0 - size) * weights, size)
    given = Strategy.unchecked_mixture(one_hot(state.matrices, coins.num_actions), weights)
    mixture = solver.mixture(coins, state)
    for known in (given.mean, solver.average(coins, state)):
        one, two = (win_rate(coins, known, each).win_rate for each in (given, mixture))
        assert one == pytest.approx(two, abs=1e-12)
    assert len(mixture.weights) < 9


# --- double_oracle --------------------------------------------------------------------------------


def test_a_double_oracle_gives_the_equilibrium_of_its_meta_game(coins: HogEngine) -> None:
    solver, state = run(coins, "double_oracle", 25)
    drawn = solver.mixture(coins, state)
    assert drawn.is_pure
    assert exploited(coins, drawn) < 1e-9
    for row, one in zip(state.payoffs, state.pool, strict=True):
        rates = [win_rate(coins, one, other).win_rate for other in state.pool]
        np.testing.assert_allclose(row, rates, atol=1e-12)
    assert exploited(coins, solver.average(coins, state)) >= 1 / 216
