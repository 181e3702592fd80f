"""The proximal bundle method: one step is optimal, many descend, and what comes out is measured."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hogeq.evaluation.win_rates import win_rate
from hogeq.model.game import HogEngine, compile_game
from hogeq.rules import rules_from
from hogeq.search.ascent import random_policy, to_matrix
from hogeq.search.attack import SearchBudget, attack
from hogeq.search.counter_search import CounterSearch, no_trails
from hogeq.solvers import SOLVERS, proximal
from hogeq.solvers.bundle import BundleState, ProximalBundle
from hogeq.solvers.bundle_method import MORE, Point, Trial, step_against_few
from hogeq.solvers.cuts import OF_POLICY, Check, annealed, cut, search
from hogeq.solvers.proximal import proximal_step, soft_maximum
from hogeq.strategies.arrays import one_hot, softmax
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats
from hogeq.support.workers import workers
from tests import toys
from tests.solvers import family


@pytest.fixture(scope="module")
def small() -> HogEngine:
    """Spring-2020 rules to 16 with three dice: recall is imperfect, and a run takes a second."""
    return compile_game(rules_from({"edition": "su20", "goal": 16, "max_dice": 3}))


def modelled_rates(state: BundleState) -> Floats:
    """Win rates of the counters against the policy, by their models."""
    flat = state.gradients.reshape(len(state.pool), -1).astype(np.float64)
    return 1.0 - (state.constants + flat @ state.policy.ravel())


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
    found = proximal_step(logits, gradients, constants, infoset_reach, step, np.ones(models))
    assert found.weights.sum() == pytest.approx(1.0)
    assert (found.weights >= 0.0).all()
    blend = np.tensordot(found.weights, gradients, 1)
    assert found.policy == pytest.approx(softmax(logits + step * blend / infoset_reach[:, None]))
    there = constants + np.tensordot(gradients, found.policy, 2)
    binding = found.weights > 1e-4
    assert there[binding] == pytest.approx(there.min(), abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_a_soft_step_lets_more_models_count(seed: int) -> None:
    random = np.random.default_rng(seed)
    logits = np.log(random.dirichlet(np.ones(4), 12))
    gradients = random.normal(0.0, 0.1, (9, 12, 4))
    given = logits, gradients, random.normal(0.0, 0.05, 9), np.ones(12), 5.0, np.ones(9)
    hard, soft = (proximal_step(*given, softness=softness) for softness in (0.0, 1.0))
    there = given[2] + np.tensordot(gradients, soft.policy, 2)
    binding = soft.weights > 1e-4
    levels = there + soft.weights
    assert levels[binding] == pytest.approx(levels.min(), abs=1e-6)
    assert binding.sum() > (hard.weights > 1e-4).sum()


def test_rolls_that_no_model_wants_are_left_out() -> None:
    random = np.random.default_rng(0)
    logits = np.log(random.dirichlet(np.full(6, 0.05), 40) + 1e-9)
    gradients = random.normal(0.0, 0.1, (5, 40, 6))
    given = logits, gradients, np.zeros(5), np.ones(40), 5.0, np.ones(5)
    whole, some = (proximal_step(*given, rare=rare) for rare in (0.0, 1e-6))
    out = some.policy == 0.0
    assert out.sum() > 20
    assert out.sum(axis=1).max() == 5  # a row with one roll left
    assert whole.policy[out].max() < 1e-6
    assert some.policy == pytest.approx(whole.policy, abs=1e-4)
    assert some.weights == pytest.approx(whole.weights, abs=1e-4)


@pytest.mark.parametrize("rare", [0.0, 1e-6])
def test_parts_of_the_rows_make_the_same_step(rare: float, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    logits = np.log(random.dirichlet(np.full(6, 0.05), 40) + 1e-9)
    gradients = random.normal(0.0, 0.1, (5, 40, 6))
    given = logits, gradients, np.zeros(5), random.uniform(0.1, 1.0, 40), 5.0, np.ones(5)
    whole = proximal_step(*given, rare=rare)
    monkeypatch.setattr(proximal, "PIECE", 70)
    parts = proximal_step(*given, rare=rare)
    assert parts.policy == pytest.approx(whole.policy, abs=1e-7)
    assert parts.weights == pytest.approx(whole.weights, abs=1e-7)


def test_where_all_rolls_but_one_are_ruled_out_they_are_made() -> None:
    logits = np.log(np.array([[1.0 - 1e-9, 1e-9], [1e-9, 1.0 - 1e-9]]))
    gradients = np.array([[[0.3, 0.2], [0.1, 0.0]], [[0.2, 0.3], [0.2, 0.4]]])
    given = logits, gradients, np.array([0.1, 0.0]), np.ones(2), 1e-3, np.ones(2)
    found = proximal_step(*given, rare=1e-5)
    assert np.array_equal(found.policy, np.eye(2))


def test_a_step_ends_where_single_precision_tells_nothing_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Shorter and shorter Newton steps in the noise took three quarters of the time once."""
    random = np.random.default_rng(2)
    logits = np.log(random.dirichlet(np.ones(6), 4000))
    reach = 10.0 ** random.uniform(-8.0, -1.0, 4000)
    reach /= reach.sum()
    gradients = (random.normal(0.5, 0.1, (6, 4000, 6)) * reach[:, None]).astype(np.float32)
    exact = proximal_step(logits, gradients.astype(float), np.zeros(6), reach, 30.0, np.ones(6))
    steps: list[None] = []
    points: list[None] = []
    monkeypatch.setattr(proximal, "_curvature", counted(proximal._curvature, steps))
    monkeypatch.setattr(proximal, "_point", counted(proximal._point, points))
    found = proximal_step(logits, gradients, np.zeros(6), reach, 30.0, np.ones(6))
    assert len(points) <= 2 * len(steps)
    assert found.weights == pytest.approx(exact.weights, abs=1e-3)


def counted(function: Callable[..., Any], calls: list[None]) -> Callable[..., Any]:
    def call(*given: Any) -> Any:
        calls.append(None)
        return function(*given)

    return call


def test_a_soft_maximum_is_the_largest_mean_with_a_price_on_weights() -> None:
    rates = np.array([0.52, 0.519, 0.51, 0.3])
    assert soft_maximum(rates, 0.0) == 0.52
    for softness in (1e-4, 0.004, 0.05):
        shares = np.linspace(0.0, 1.0, 51)
        grid = np.array([w for w in product(shares, repeat=3) if sum(w) <= 1.0])
        grid = np.column_stack([grid, 1.0 - grid.sum(axis=1)])
        best = (grid @ rates - softness / 2.0 * (grid**2).sum(axis=1)).max()
        assert soft_maximum(rates, softness) == pytest.approx(best, abs=softness * 2e-3)


def test_copies_of_a_model_change_nothing() -> None:
    random = np.random.default_rng(0)
    logits = np.log(random.dirichlet(np.ones(3), 5))
    gradients = random.normal(0.0, 0.1, (2, 5, 3))
    once = proximal_step(logits, gradients, np.zeros(2), np.ones(5), 5.0, np.ones(2))
    twice = proximal_step(
        logits, np.repeat(gradients, 2, axis=0), np.zeros(4), np.ones(5), 5.0, np.ones(4)
    )
    assert twice.policy == pytest.approx(once.policy, abs=1e-6)


def test_the_first_policy_is_self_play_softened() -> None:
    toy: Any = toys.pennies()
    solver, state = family.run(toy, "dcfr", 100, average_weight="reach")
    expected = 0.7 * solver.average(toy, state) + 0.3 / 2
    assert ProximalBundle().init(toy).policy == pytest.approx(expected, abs=1e-12)


def test_responses_start_near_the_policy_and_far_from_it_in_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    toy: Any = toys.pennies()
    begun: list[tuple[Any, float]] = []

    def noted(*given: Any) -> list[CounterSearch]:
        searches = annealed(*given)
        begun.extend((one.start, one.cooling[0]) for one in searches)
        return searches

    monkeypatch.setattr("hogeq.solvers.bundle_method.annealed", noted)
    solver = ProximalBundle(responses=60)
    first = solver.init(toy)
    policy = first.policy.copy()
    solver.step(toy, first)
    far, near = begun[::2], begun[1::2]
    assert len(far) == len(near) == 30
    for start, hot in near:
        assert (start >= 0.5 * policy - 1e-12).all()
        assert 2e-3 <= hot <= 1e-2
    assert not all((start >= 0.5 * policy).all() for start, _ in far)
    assert all(5e-3 <= hot <= 1e-1 for _, hot in far)
    assert max(hot for _, hot in far) > 2e-2


# --- many -----------------------------------------------------------------------------------------


def test_the_pool_is_modelled_well_and_holds_the_worst(small: HogEngine) -> None:
    state = run(small, 15)
    work = small.workspace(2)
    exact = [
        work.win_rate(np.stack([one_hot(counter, small.num_actions), state.policy])).win_rate
        for counter in state.pool
    ]
    modelled = modelled_rates(state)
    shaping = state.weights > 0.05
    assert shaping.sum() >= 2
    assert modelled[shaping] == pytest.approx(np.array(exact)[shaping], abs=2e-4)
    assert float(state.worst) == pytest.approx(max(exact), abs=2e-4)


def test_it_ends_far_below_where_it_starts(small: HogEngine) -> None:
    budget = SearchBudget(starts=4, anneal_steps=20)
    solver = ProximalBundle()
    before = attack(small, solver.init(small).policy, budget).win_rate
    after = attack(small, run(small, 40).policy, budget).win_rate
    assert after - 0.5 < 0.05 * (before - 0.5)


def test_a_full_pool_drops_what_was_used_least(small: HogEngine) -> None:
    state = run(small, 12, pool_size=12)
    assert len(state.pool) == 12
    assert (state.used[state.weights > 1e-6] == 12).all()


def test_a_pool_that_is_larger_than_asked_keeps_its_size(small: HogEngine) -> None:
    state = run(small, 15)
    before = len(state.pool)
    assert before > 11
    after = ProximalBundle(pool_size=10).step(small, state)
    assert {len(value) for value in (after.pool, after.gradients, after.reach)} == {before}
    assert (after.used == 16).any()


def test_sharpening_ends_with_a_matrix() -> None:
    plain, sharp = (run(toys.pennies(), 60, sharpen=sharpen).policy for sharpen in (0.0, 0.05))
    assert plain.max() < 0.7  # the equilibrium plays one side a third of the time
    assert sharp.max(axis=1) == pytest.approx(1.0, abs=1e-6)


def test_a_start_from_a_file(small: HogEngine, tmp_path: Any) -> None:
    policy = np.random.default_rng(0).dirichlet(
        np.ones(small.num_actions), (small.goal, small.goal)
    )
    np.savez(tmp_path / "start.npz", policy=policy)
    state = ProximalBundle(start=str(tmp_path / "start.npz")).init(small)
    assert state.policy == pytest.approx(policy, abs=1e-3)


def test_a_pool_from_a_file(small: HogEngine, tmp_path: Any) -> None:
    """Counters known before have models from the first, each once."""
    found = run(small, 5)
    np.savez(tmp_path / "known.npz", pool=np.concatenate([found.pool, found.pool[:2]]))
    np.savez(tmp_path / "start.npz", policy=found.policy)
    files: Any = {"start": str(tmp_path / "start.npz"), "counters": str(tmp_path / "known.npz")}
    state = ProximalBundle(**files).init(small)
    np.testing.assert_array_equal(state.pool, found.pool)
    work = small.workspace(2)
    exact = [
        work.win_rate(np.stack([one_hot(counter, small.num_actions), state.policy])).win_rate
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
    assert toys.exploitability(toy, state.policy) == pytest.approx(1 / 8, abs=1e-6)


def test_rounds_begin_with_the_weights_of_the_round_before() -> None:
    """The first counters win 0.6 here; after a step by them the last one wins most."""
    here = np.array([*np.full(MORE, 0.6), 0.5])
    begun = []

    def step(active: NDArray[np.int64], weights: Floats) -> Trial:
        begun.append(weights)
        found = np.zeros(len(here))
        found[active] = 1.0 / len(active)
        return Trial(Point(np.zeros((1, 1, 1, 1)), np.ones(1)), found, 1.1 - here)

    last = step_against_few(np.zeros(len(here)), here, step)
    assert begun[0].sum() == 0.0
    assert begun[1] == pytest.approx(np.append(np.full(MORE, 1.0 / MORE), 0.0))
    assert last.weights == pytest.approx(1.0 / len(here))


# --- searches and models --------------------------------------------------------------------------


def test_searches_model_what_they_find_and_known_models_that_miss_by_more_than_is_trusted(
    small: HogEngine,
) -> None:
    random = np.random.default_rng(0)
    policy, *others = (random_policy(small, random) for _ in range(5))
    pool = np.array([to_matrix(other) for other in others])
    target = Strategy.unchecked(policy)
    starts = [
        CounterSearch(pool[0], sweeps=1),
        CounterSearch(policy),
        CounterSearch(policy),
        CounterSearch(others[0], 3, sweeps=2),
    ]
    trails = no_trails(small, 3, 10).searches(small, target, pool[:0], 2, (0, 1))
    rates = [win_rate(small, counter, policy).win_rate for counter in pool]
    off = [0.02, 0.01, -0.02, 0.0]
    checks = [
        Check(counter, rate + by, 0.015) for counter, rate, by in zip(pool, rates, off, strict=True)
    ]
    found = search(small, target, OF_POLICY, starts, trails, pool, checks)
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
        by_two = search(small, target, OF_POLICY, starts, trails, pool, checks)
    assert np.array_equal(by_two.responses, found.responses)
    assert np.array_equal(by_two.errors, found.errors)
    # What the pool holds is not modelled again.
    pool = np.concatenate([pool, found.responses])
    again = search(small, target, OF_POLICY, starts, trails, pool, [])
    assert (again.responses, again.cuts) == ([], [])


def test_deep_iterations_respond_from_near_and_from_far_in_turn(small: HogEngine) -> None:
    random, policy = np.random.default_rng(0), np.full(small.shape, 1 / small.num_actions)
    policy[..., 0] += 5.0
    policy /= policy.sum(axis=-1, keepdims=True)
    near: dict[bool, list[bool]] = {True: [], False: []}
    for iteration in range(1, 41):
        depth = ProximalBundle()._depth(iteration)
        (start,) = annealed(small, policy, 1, depth, random)
        begun: Any = start.start
        near[depth.deep].append(bool(np.mean(begun[..., 0]) > 0.5))
    for turns in near.values():
        assert turns[::2] == [turns[0]] * len(turns[::2])
        assert turns[1::2] == [not turns[0]] * len(turns[1::2])


def test_a_pool_is_never_larger_than_it_may_be(small: HogEngine) -> None:
    state = run(small, 1, pool_size=10, responses=30)
    assert len({counter.tobytes() for counter in state.pool}) == len(state.pool) == 10
    target = Strategy.unchecked(state.policy)
    for counter, gradients in zip(state.pool, state.gradients, strict=True):
        assert np.array_equal(gradients, cut(small, target, counter).gradients)


@pytest.mark.parametrize(
    ("name", "options"), [("bundle", {}), ("mixture_bundle", {"parts": 6, "patience": 1})]
)
def test_all_that_an_iteration_draws_is_drawn_apart(
    small: HogEngine, name: str, options: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numpy pads seeds with zeros, so (1, 2) and (1, 2, 0) are one stream."""
    solver: Any = SOLVERS[name](trails=6, kicks=1, seed=1, **options)
    state, drawn, given = solver.init(small), [], np.random.default_rng

    def noted(seed: Any) -> np.random.Generator:
        drawn.append(tuple(np.random.SeedSequence(seed).generate_state(4)))
        return given(seed)

    monkeypatch.setattr(np.random, "default_rng", noted)
    for _ in range(6):
        state = solver.step(small, state)
    assert len(set(drawn)) == len(drawn) >= 6 * (1 + 6)
