"""The proximal bundle method: one step is optimal, many descend, and what comes out is measured."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from hogeq.evaluation.values import win_rate
from hogeq.model.game import HogEngine, compile_game
from hogeq.model.rows import softmax
from hogeq.rules import rules_from
from hogeq.search.ascent import random_policy
from hogeq.search.attack import attack
from hogeq.search.counter_search import CounterSearch, OngoingSearches
from hogeq.search.results import Budget
from hogeq.solvers.bundle import ProximalBundle
from hogeq.solvers.cuts import BundleState, Check, cut, search
from hogeq.solvers.proximal import proximal_step, soft_maximum
from hogeq.strategies.arrays import likeliest, one_hot
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats
from hogeq.support.workers import workers
from tests import toys


@pytest.fixture(scope="module")
def small() -> HogEngine:
    """Spring-2020 rules to 16 with three dice: recall is imperfect, and a run takes a second."""
    return compile_game(rules_from({"edition": "su20", "goal": 16, "max_dice": 3}))


def modelled_rates(state: BundleState) -> Floats:
    """Win rates of the counters against the policy, by their models."""
    flat = state.gradients.reshape(len(state.pool), -1).astype(np.float64)
    return 1.0 - (state.constants[:, 0] + flat @ state.parts.ravel())


def run(game: Any, iterations: int, **options: Any) -> BundleState:
    solver = ProximalBundle(**options)
    state = solver.init(game)
    for _ in range(iterations):
        state = solver.step(game, state)
    return state


# --- one step -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("step", [0.3, 10.0])
def test_a_step_is_optimal(seed: int, step: float) -> None:
    """The Karush-Kuhn-Tucker conditions of a concave problem are met only where it is solved."""
    random = np.random.default_rng(seed)
    models, rows, rolls = random.integers(1, 9), 12, 4
    logits = np.log(random.dirichlet(np.ones(rolls), rows))
    gradients = random.normal(0.0, 0.1, (models, rows, rolls))
    constants = random.normal(0.0, 0.05, models)
    infoset_reach = random.uniform(0.1, 1.0, rows)
    begun = np.ones(models)
    policy, weights = proximal_step(logits, gradients, constants, infoset_reach, step, begun)
    assert weights.sum() == pytest.approx(1.0)
    assert (weights >= 0.0).all()
    blend = np.tensordot(weights, gradients, 1)
    assert policy == pytest.approx(softmax(logits + step * blend / infoset_reach[:, None]))
    there = constants + np.tensordot(gradients, policy, 2)
    binding = weights > 1e-4
    assert there[binding] == pytest.approx(there.min(), abs=1e-6)


def test_a_soft_maximum_is_the_largest_mean_with_a_price_on_weights() -> None:
    rates = np.array([0.52, 0.519, 0.51, 0.3])
    assert soft_maximum(rates, 0.0) == 0.52
    for softness in (1e-4, 0.004, 0.05):
        shares = np.linspace(0.0, 1.0, 51)
        grid = np.array([w for w in product(shares, repeat=3) if sum(w) <= 1.0])
        grid = np.column_stack([grid, 1.0 - grid.sum(axis=1)])
        best = (grid @ rates - softness / 2.0 * (grid**2).sum(axis=1)).max()
        assert soft_maximum(rates, softness) == pytest.approx(best, abs=softness * 2e-3)


# --- many -----------------------------------------------------------------------------------------


def test_the_pool_is_modelled_well_and_holds_the_worst(small: HogEngine) -> None:
    state = run(small, 15)
    work = small.workspace(2)
    exact = [
        work.win_rate(np.stack([one_hot(counter, small.num_actions), *state.parts])).win_rate
        for counter in state.pool
    ]
    modelled = modelled_rates(state)
    shaping = state.weights > 0.05
    assert ProximalBundle().stats(small, state)["support"] >= shaping.sum() >= 2
    assert modelled[shaping] == pytest.approx(np.array(exact)[shaping], abs=2e-4)
    assert float(state.worst) == pytest.approx(max(exact), abs=2e-4)


def test_it_ends_far_below_where_it_starts(small: HogEngine) -> None:
    budget = Budget(starts=4, anneal_steps=20, kicks=0)
    solver = ProximalBundle()
    before = attack(small, solver.init(small).parts[0], budget).win_rate
    after = attack(small, run(small, 25).parts[0], budget).win_rate
    assert after - 0.5 < 0.05 * (before - 0.5)


def test_sharpening_ends_with_a_matrix() -> None:
    plain, sharp = (run(toys.pennies(), 60, sharpen=sharpen).parts[0] for sharpen in (0.0, 0.05))
    assert plain.max() < 0.7  # the equilibrium plays one side a third of the time
    assert sharp.max(axis=1) == pytest.approx(1.0, abs=1e-6)


def test_a_pool_from_a_file(small: HogEngine, tmp_path: Any) -> None:
    """Counters known before have models from the first, each once."""
    found = run(small, 5)
    np.savez(tmp_path / "known.npz", pool=np.concatenate([found.pool, found.pool[:2]]))
    np.savez(tmp_path / "start.npz", policy=found.parts[0])
    files: Any = {"start": str(tmp_path / "start.npz"), "counters": str(tmp_path / "known.npz")}
    state = ProximalBundle(**files).init(small)
    np.testing.assert_array_equal(state.pool, found.pool)
    work = small.workspace(2)
    exact = [
        work.win_rate(np.stack([one_hot(counter, small.num_actions), *state.parts])).win_rate
        for counter in state.pool
    ]
    assert modelled_rates(state) == pytest.approx(exact, abs=1e-6)
    assert float(state.worst) == pytest.approx(max(exact), abs=1e-6)
    after = ProximalBundle(**files).step(small, state)
    np.testing.assert_array_equal(after.pool[: len(state.pool)], state.pool)
    assert (after.weights[: len(state.pool)] > 0.0).any()


def test_bits_reach_the_best_that_a_policy_can() -> None:
    toy = toys.bits()
    state = run(toy, 40)
    # No behaviour strategy is below 1/8, and mixtures are: see test_solvers.
    assert toys.exploitability(toy, state.parts[0]) == pytest.approx(1 / 8, abs=1e-6)


# --- searches and models --------------------------------------------------------------------------


def test_searches_model_what_they_find_and_known_models_that_miss_by_more_than_is_trusted(
    small: HogEngine,
) -> None:
    random = np.random.default_rng(0)
    policy, *others = (random_policy(small, random) for _ in range(5))
    pool = np.array([likeliest(other) for other in others])
    target = Strategy.unchecked(policy)
    starts = [
        CounterSearch(pool[0], sweeps=1),
        CounterSearch(policy),
        CounterSearch(policy),
        CounterSearch(others[0], 3, sweeps=2),
    ]
    first = OngoingSearches.to_begin(small, 3, 10)
    trails = first.list_searches(small, target, pool[:0], 2, (0, 1))
    rates = [win_rate(small, counter, policy).win_rate for counter in pool]
    off = [0.02, 0.01, -0.02, 0.0]
    checks = [
        Check(counter, rate + by, 0.015) for counter, rate, by in zip(pool, rates, off, strict=True)
    ]
    found = search(small, target, starts, trails, pool, checks)
    assert found.errors == pytest.approx(np.abs(off), abs=1e-12)
    assert list(found.failed) == [0, 2]
    known = {counter.tobytes() for counter in pool}
    new = [counter.tobytes() for counter in found.responses]
    assert len({*new}) == len(new)
    assert not known & {*new}
    by_themselves = [start.run(small, target).matrix for start in starts]
    gone = [trail.run(small, target).matrix for trail in trails]
    assert np.array_equal(found.reached, gone)
    for counter in [*by_themselves, *gone]:
        assert counter.tobytes() in {*new, *known}
    assert by_themselves[1].tobytes() in new
    for counter, model in zip([*pool[[0, 2]], *found.responses], found.cuts, strict=True):
        expected = cut(small, target, counter)
        assert model.constants == expected.constants
        assert np.array_equal(model.gradients, expected.gradients)

    with workers(2):
        by_two = search(small, target, starts, trails, pool, checks)
    assert np.array_equal(by_two.responses, found.responses)
    assert np.array_equal(by_two.errors, found.errors)
    # What the pool holds is not modelled again.
    pool = np.concatenate([pool, found.responses])
    again = search(small, target, starts, trails, pool, [])
    assert (again.responses, again.cuts) == ([], [])


def test_a_pool_is_never_larger_than_it_may_be(small: HogEngine) -> None:
    state = run(small, 1, pool_size=10, responses=30)
    assert len({counter.tobytes() for counter in state.pool}) == len(state.pool) == 10
    target = Strategy.unchecked(state.parts[0])
    for counter, gradients in zip(state.pool, state.gradients, strict=True):
        assert np.array_equal(gradients, cut(small, target, counter).gradients)
