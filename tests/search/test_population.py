"""Many opponents at once: exact win rates, weighted values, and a pool that grows."""

import numpy as np
import pytest
from numpy.typing import NDArray

from hogeq.evaluation.counterfactual import action_values
from hogeq.evaluation.values import win_rate
from hogeq.model.game import HogEngine, compile_game
from hogeq.rules import rules_from
from hogeq.search.attack import attack
from hogeq.search.population import MEMBERS_PER_BATCH, CounterPool, Population
from hogeq.search.results import Budget
from hogeq.strategies.arrays import one_hot
from hogeq.support.aliases import Floats


@pytest.fixture(scope="module")
def game() -> HogEngine:
    return compile_game(rules_from({"edition": "su20", "goal": 12, "max_dice": 3}))


@pytest.fixture(scope="module")
def policy(game: HogEngine) -> Floats:
    return np.random.default_rng(0).dirichlet(np.ones(game.num_actions), game.shape[:2])


def matrices(game: HogEngine, count: int) -> NDArray[np.int8]:
    shape = (count, *game.shape[:2])
    return np.random.default_rng(1).integers(game.num_actions, size=shape, dtype=np.int8)


def test_rates_are_exact_from_both_sides(game: HogEngine, policy: Floats) -> None:
    members = [*matrices(game, 3), policy]
    population = Population(game, members)
    for rate, other, member in zip(
        population.rates_of(policy), population.rates_against(policy), members, strict=True
    ):
        assert rate == pytest.approx(win_rate(game, policy, member).win_rate, abs=1e-12)
        assert rate + other == pytest.approx(1.0, abs=1e-12)


def test_values_are_weighted_by_member(game: HogEngine, policy: Floats) -> None:
    members, weights = (
        matrices(game, MEMBERS_PER_BATCH + 3),
        np.linspace(0.1, 1.0, MEMBERS_PER_BATCH + 3),
    )
    population = Population(game, members, weights)
    found = population.measure(policy)
    each = [action_values(game, policy, member) for member in members]
    np.testing.assert_allclose(found.values, np.tensordot(weights, each, 1), atol=1e-12)
    np.testing.assert_allclose(found.rates, population.rates_of(policy), atol=1e-12)
    alone = population.measure(policy, one_hot(2, len(members)))
    np.testing.assert_allclose(alone.values, each[2], atol=1e-12)


def test_annealing_raises_the_mean_win_rate(game: HogEngine, policy: Floats) -> None:
    population = Population(game, matrices(game, 3))
    begun, steps = policy.copy(), list[None]()
    before = population.rates_of(begun).mean()
    population.anneal(begun, 12, 0.5, progress=lambda: steps.append(None))
    assert population.rates_of(begun).mean() > before + 0.1
    assert len(steps) == 12


def test_a_pool_keeps_what_it_finds_once(game: HogEngine, policy: Floats) -> None:
    pool = CounterPool(game, matrices(game, 4))
    rates = pool.rates_against(policy)
    pool.climb(policy, 3)
    size = len(pool.members)
    assert len(np.unique(pool.members, axis=0)) == size > 4
    best = attack(game, policy, Budget(starts=8, kicks=5)).win_rate
    assert rates.max() < pool.rates_against(policy).max() <= best + 0.02
    pool.add(pool.members)
    assert len(pool.members) == size
