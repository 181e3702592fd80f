"""Many opponents at once: exact win rates, weighted values, and a pool that grows."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hogeq.evaluation.counterfactual import action_values
from hogeq.evaluation.values import win_rate
from hogeq.model.game import HogEngine, compile_game
from hogeq.rules import rules_from
from hogeq.search.attack import attack
from hogeq.search.population import BATCH, CounterPool, Population, gains
from hogeq.search.results import Budget
from hogeq.strategies.arrays import StrategyError, one_hot
from hogeq.strategies.conversion import strategy_of
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
    members, weights = matrices(game, BATCH + 3), np.linspace(0.1, 1.0, BATCH + 3)
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


# --- gains of cells -------------------------------------------------------------------------------

GAME = compile_game(rules_from({"edition": "su20", "goal": 8, "max_dice": 3}))
COUNTER = np.random.default_rng(0).integers(0, 4, (8, 8)).astype(np.int8)
FOUND = gains(GAME, COUNTER, np.full((8, 8), 2))


@pytest.mark.parametrize("counter", [COUNTER.tolist(), one_hot(COUNTER, 4), COUNTER * 1.0])
def test_counters_are_given_as_gains_takes_them(counter: Any) -> None:
    np.testing.assert_array_equal(gains(GAME, counter, np.full((8, 8), 2)).gains, FOUND.gains)
    matrix = strategy_of(GAME, counter).likeliest
    assert FOUND.to_json(matrix, GAME.choices) == FOUND.to_json(COUNTER, GAME.choices)


@pytest.mark.parametrize(
    ("counter", "says"),
    [
        (COUNTER[:7, :7], r"^counter: shape is \(7, 7\); allowed: \(8, 8\)"),
        (COUNTER[0], r"^counter: shape is \(8,\); allowed"),
    ],
)
def test_what_gives_no_list_of_cells(counter: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        list(FOUND.by_gain(counter))


@pytest.mark.parametrize("size", [7, 9])
def test_a_counter_of_another_shape_has_no_plain_values(size: int) -> None:
    says = rf"^counter: shape is \({size}, {size}\); allowed: \(8, 8\)$"
    with pytest.raises(StrategyError, match=says):
        FOUND.to_json(np.zeros((size, size), np.int8), GAME.choices)


@pytest.mark.parametrize("edition", ["su20", "su21", "fa15"])
@pytest.mark.parametrize("pure", [False, True])
def test_a_gain_is_what_the_win_rate_loses_without_the_cell(edition: str, pure: bool) -> None:
    game = compile_game(rules_from({"edition": edition, "goal": 12, "max_dice": 3}))
    policy = np.random.default_rng(4).dirichlet(np.ones(4), game.shape[:2])
    if pure:
        policy = one_hot(policy.argmax(axis=2), 4)
    counter = attack(game, policy, Budget(starts=1, kicks=0)).matrix
    found = gains(game, counter, policy)
    assert np.array_equal(found.usual, policy.argmax(axis=2))
    whole = win_rate(game, counter, policy).win_rate
    for own in range(12):
        for opponent in range(12):
            changed = counter.copy()
            changed[own, opponent] = found.usual[own, opponent]
            loss = whole - win_rate(game, changed, policy).win_rate
            assert found.gains[own, opponent] == pytest.approx(loss, abs=1e-13)
            if counter[own, opponent] == found.usual[own, opponent]:
                assert found.gains[own, opponent] == 0.0
    assert found.gains.max() > 1e-3
    assert found.gains.min() > -1e-12  # a matrix that no change of one cell improves
    assert np.all(found.gains[found.reach == 0.0] == 0.0)


def test_the_cells_that_gain_most_come_first() -> None:
    game = compile_game(rules_from({"edition": "su20", "goal": 12, "max_dice": 3}))
    random = np.random.default_rng(0)
    counter = random.integers(0, 4, (12, 12)).astype(np.int8)
    found = gains(game, counter, random.dirichlet(np.ones(4), (12, 12)))
    listed = list(found.by_gain(counter))
    assert len(listed) == np.count_nonzero(found.gains > 0.0)
    assert [cell.gain for cell in listed] == sorted((cell.gain for cell in listed), reverse=True)
    for cell in listed:
        at = cell.score, cell.opponent
        assert cell[2:] == (found.usual[at], counter[at], found.gains[at])
    shown = found.to_json(counter, range(4))["gains"]
    assert shown == [cell._asdict() for cell in listed[:10]]
