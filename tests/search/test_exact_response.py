"""Exact best responses, against all matrices there are; bounds, against exact best responses."""

from typing import Any

import numpy as np
import pytest
from research.branch_and_bound import best_response
from research.priced_bound import largest_reach, priced_bound
from research.process import decision_process, remember, value_of

from hogeq.evaluation.values import reach, win_rate
from hogeq.model.game import compile_game
from hogeq.rules import rules_from
from hogeq.search.attack import attack
from hogeq.search.bounds import full_memory_bound
from hogeq.search.results import Budget
from tests.search.games import TINY, random_policy, small
from tests.twin import Play, every_matrix_wins

pytestmark = pytest.mark.slow  # of tools outside the package

POLICIES = 3


@pytest.mark.parametrize("parts", TINY.values(), ids=TINY)
def test_no_matrix_wins_more(parts: dict[str, Any]) -> None:
    game = compile_game(rules_from(parts))
    for seed in range(POLICIES):
        policy = random_policy(game, seed)
        found = best_response(game, policy, start=np.zeros((game.goal, game.goal), np.int8))
        rates = every_matrix_wins(Play(game.rules), policy.policy)[2]
        assert found.is_exact
        assert found.win_rate == found.bound == pytest.approx(rates.max(), abs=1e-12)
        assert win_rate(game, found.rolls, policy).win_rate == pytest.approx(found.win_rate)


@pytest.mark.parametrize("edition", ["su20", "su21", "fa18", "fa19", "fa22"])
def test_the_process_is_the_game(edition: str) -> None:
    game = small(9, 2, edition)
    policy = random_policy(game, 0)
    process = decision_process(game, policy)
    assert remember(process).value == pytest.approx(full_memory_bound(game, policy), abs=1e-12)
    matrix = np.random.default_rng(1).integers(0, game.num_actions, (9, 9))
    rate = win_rate(game, matrix, policy).win_rate
    assert value_of(process, matrix.ravel()) == pytest.approx(rate, abs=1e-12)
    cells = np.zeros(process.sets)
    optimum = remember(process, matrix.ravel())
    for level, infoset_reach in zip(process.levels, optimum.occupancy, strict=True):
        np.add.at(cells, level.set, infoset_reach)
    met = reach(game, matrix, policy).sum(axis=2)
    np.testing.assert_allclose(cells.reshape(9, 9), met, atol=1e-12)


def test_a_search_cut_short_still_bounds() -> None:
    game = small(10, 3)
    policy = random_policy(game, 0)
    whole = best_response(game, policy)
    cut = best_response(game, policy, most=8)
    assert cut.nodes <= 8 < whole.nodes
    assert not cut.is_exact
    assert cut.win_rate <= whole.win_rate <= cut.bound < full_memory_bound(game, policy) + 1e-12
    # What it starts from is never lost.
    for most in (4, 8, 12):
        kept = best_response(game, policy, start=whole.rolls.astype(np.int8), most=most)
        assert kept.win_rate == whole.win_rate


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"edition": "fa15", "goal": 9, "piggy_back": False}, "total score"),
        ({"edition": "su20"}, "1,960,000 hidden states"),
    ],
)
def test_games_that_cannot_be_listed_are_refused(parts: dict[str, Any], words: str) -> None:
    game = compile_game(rules_from(parts))
    with pytest.raises(ValueError, match=f"{words}.* allowed:"):
        decision_process(game, np.zeros((game.goal, game.goal), np.int8))


# --- the bound from prices ------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(POLICIES))
def test_any_prices_bound_every_matrix(seed: int) -> None:
    game = small(6, 2, "su21" if seed == 0 else "su20")
    policy = random_policy(game, seed)
    process = decision_process(game, policy)
    exact = best_response(game, policy)
    assert exact.is_exact
    most = largest_reach(process)
    random = np.random.default_rng(seed)
    for size in (0.0, 0.01, 0.3):
        prices = [size * random.random(level.win.shape) for level in process.levels]
        assert priced_bound(process, most, prices) >= exact.win_rate - 1e-12
    none = [np.zeros(level.win.shape) for level in process.levels]
    free = priced_bound(process, most, none)
    assert free == pytest.approx(full_memory_bound(game, policy), abs=1e-12)
    with pytest.raises(ValueError, match="below 0"):
        priced_bound(process, most, [price - 1.0 for price in none])
    with pytest.raises(ValueError, match="longer"):
        priced_bound(process, most, [*none, none[0]])


@pytest.mark.parametrize(("goal", "dice"), [(10, 3), (11, 2)])
def test_with_kicks_the_attack_misses_no_best_response(goal: int, dice: int) -> None:
    game = small(goal, dice)
    random = np.random.default_rng(goal)
    cells = game.shape[:2]
    for strategy in (random_policy(game, 3), random.integers(game.num_actions, size=cells)):
        found = attack(game, strategy, Budget(starts=4, kicks=20))
        exact = best_response(game, strategy, start=np.zeros(cells, np.int8), most=3000)
        assert exact.is_exact
        assert found.win_rate == pytest.approx(exact.win_rate, abs=1e-9)
