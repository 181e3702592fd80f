"""The twin's best responses, against all matrices there are; attacks, against best responses."""

from typing import Any

import numpy as np
import pytest

from hogeq.evaluation.values import reach, win_rate
from hogeq.model.game import compile_game
from hogeq.rules import rules_from
from hogeq.search.attack import attack
from hogeq.search.bounds import full_memory_bound
from hogeq.search.results import Budget
from tests.search.games import TINY, best_response, random_policy, small
from tests.twin import Play, every_matrix_wins
from tests.twin.respond import process_of, remember

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("parts", TINY.values(), ids=TINY)
def test_no_matrix_wins_more(parts: dict[str, Any]) -> None:
    game = compile_game(rules_from(parts))
    for seed in range(3):
        policy = random_policy(game, seed)
        found = best_response(game, policy)
        rates = every_matrix_wins(Play(game.rules), policy.policy)[2]
        assert found.is_exact
        assert found.win_rate == found.bound == pytest.approx(rates.max(), abs=1e-12)
        assert win_rate(game, found.rolls, policy).win_rate == pytest.approx(found.win_rate)


@pytest.mark.parametrize("edition", ["su20", "su21", "fa18", "fa19", "fa22"])
def test_the_process_is_the_game(edition: str) -> None:
    game = small(9, 2, edition)
    policy = random_policy(game, 0)
    process = process_of(Play(game.rules), policy.policies, (1.0,))
    assert remember(process).value == pytest.approx(full_memory_bound(game, policy), abs=1e-12)
    matrix = np.random.default_rng(1).integers(0, game.num_actions, (9, 9))
    played = remember(process, matrix.ravel())
    assert played.value == pytest.approx(win_rate(game, matrix, policy).win_rate, abs=1e-12)
    cells = np.zeros(process.cells)
    for level, came in zip(process.levels, played.reach, strict=True):
        np.add.at(cells, level.cell, came)
    met = reach(game, matrix, policy).sum(axis=2)
    np.testing.assert_allclose(cells.reshape(9, 9), met, atol=1e-12)


def test_a_search_cut_short_still_bounds() -> None:
    game = small(10, 3)
    policy = random_policy(game, 0)
    whole, cut = best_response(game, policy), best_response(game, policy, most=8)
    assert cut.nodes <= 8 < whole.nodes
    assert not cut.is_exact
    assert cut.win_rate <= whole.win_rate <= cut.bound < full_memory_bound(game, policy) + 1e-12


@pytest.mark.parametrize(("goal", "dice"), [(10, 3), (11, 2)])
def test_with_kicks_the_attack_misses_no_best_response(goal: int, dice: int) -> None:
    game = small(goal, dice)
    random = np.random.default_rng(goal)
    for strategy in (random_policy(game, 3), random.integers(game.num_actions, size=(goal, goal))):
        found = attack(game, strategy, Budget(starts=4, kicks=20))
        exact = best_response(game, strategy, most=3000)
        assert exact.is_exact
        assert found.win_rate == pytest.approx(exact.win_rate, abs=1e-9)
