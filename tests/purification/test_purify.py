"""From a policy to a matrix, and what that costs."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hogeq.model.game import HogEngine, compile_game
from hogeq.model.protocol import Engine
from hogeq.purification import PURIFIERS, argmax, purify, thresholded
from hogeq.purification.base import Purifier, Threshold
from hogeq.rules import rules_from
from hogeq.search.attack import attack
from hogeq.search.results import Budget
from hogeq.strategies.arrays import StrategyError, one_hot
from tests import toys
from tests.refusals import refuses
from tests.toy_engine import TwoNumbers

QUICK: dict[str, dict[str, Any]] = {
    "argmax": {},
    "threshold": {"samples": 3},
    "integer": {"rounds": 2, "trails": 2, "kicks": 2, "trials": 1},
}


@pytest.fixture
def game() -> HogEngine:
    return compile_game(rules_from({"edition": "su20", "goal": 6, "max_dice": 3}))


@pytest.fixture
def policy() -> Any:
    return np.random.default_rng(5).dirichlet(np.ones(4), (6, 6))


# --- cell by cell ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "roll"),
    [
        ([0.25, 0.25, 0.25, 0.25], 0),
        ([0.0, 0.5, 0.0, 0.5], 1),
        ([0.2, 0.2, 0.3, 0.3], 2),
        ([0.1, 0.2, 0.3, 0.4], 3),
    ],
)
def test_on_ties_the_lower_roll_is_taken(game: HogEngine, row: list[float], roll: int) -> None:
    policy = np.full((6, 6, 4), [1.0, 0.0, 0.0, 0.0])
    policy[2, 5] = row
    matrix = purify(game, policy, "argmax")
    assert matrix[2, 5] == roll
    assert np.count_nonzero(matrix) == (roll > 0)


def test_a_matrix_and_its_policy_come_back_as_they_are(game: HogEngine, policy: Any) -> None:
    matrix = np.random.default_rng(6).integers(0, 4, (6, 6)).astype(np.int8)
    np.testing.assert_array_equal(argmax(game, matrix), matrix)
    for method in ("argmax", "threshold"):
        np.testing.assert_array_equal(purify(game, one_hot(matrix, 4), method), matrix)
    assert not np.shares_memory(argmax(game, matrix), matrix)
    found = purify(game, policy, "threshold", threshold=1.0, samples=1)
    np.testing.assert_array_equal(found, argmax(game, policy))


def test_thresholds_cut_what_is_unlikely_and_leave_the_rest_in_proportion(game: HogEngine) -> None:
    policy = np.full((6, 6, 4), [0.5, 0.3, 0.2, 0.0])
    assert thresholded(game, policy, 0.0)[1, 2] == pytest.approx([0.5, 0.3, 0.2, 0.0])
    assert thresholded(game, policy, 0.25)[1, 2] == pytest.approx([0.625, 0.375, 0.0, 0.0])
    at_it = np.full((6, 6, 4), [0.5, 0.25, 0.25, 0.0])  # what is as large as the threshold stays
    np.testing.assert_array_equal(thresholded(game, at_it, 0.25), at_it)
    for all_gone in (0.6, 1.0):
        np.testing.assert_array_equal(thresholded(game, policy, all_gone)[1, 2], [1, 0, 0, 0])


def test_draws_follow_the_policy_and_the_best_is_kept(game: HogEngine) -> None:
    policy = np.full((6, 6, 4), [0.5, 0.0, 0.2, 0.3])
    sample = Threshold(samples=40, threshold=0.0, seed=3)
    drawn, rates = sample.drawn(game, policy)
    shares = np.bincount(drawn.ravel(), minlength=4) / drawn.size
    assert shares == pytest.approx(policy[0, 0], abs=0.05)
    assert shares[1] == 0.0
    best = sample.matrix(game, policy)
    np.testing.assert_array_equal(best, drawn[rates.argmin()])
    budget = Budget(sample.starts, sample.anneal_steps, seed=3, kicks=0)
    assert rates.min() == attack(game, best, budget).win_rate < rates.max()


# --- all of them ----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", PURIFIERS)
def test_every_method_gives_a_matrix_and_the_same_one_again(
    method: str, game: HogEngine, policy: Any
) -> None:
    given = policy.copy()
    matrix = purify(game, policy, method, **QUICK[method])
    assert matrix.dtype == np.int8
    assert matrix.shape == (6, 6)
    assert matrix.min() >= 0
    assert matrix.max() <= 3
    np.testing.assert_array_equal(matrix, purify(game, policy, method, **QUICK[method]))
    np.testing.assert_array_equal(policy, given)


@pytest.mark.parametrize("method", PURIFIERS)
def test_what_is_no_policy_is_refused(game: HogEngine, method: str) -> None:
    refuses(lambda: purify(game, np.full((6, 6, 4), 0.3), method, **QUICK[method]), "allowed")


@pytest.mark.parametrize(
    ("method", "given", "says"),
    [
        (["argmax"], {}, r"^method: got \['argmax'\]; allowed: "),
        ("argmax", {"seed": 0}, "^seed: unknown key, given 0; allowed: none$"),
    ],
)
def test_arguments_of_no_purifier(game: HogEngine, method: Any, given: Any, says: str) -> None:
    refuses(lambda: purify(game, np.full((6, 6, 4), 0.25), method, **given), says)


@pytest.mark.parametrize("kind", [toys.kuhn, TwoNumbers])
def test_purifiers_of_ones_own_work_on_every_game(
    kind: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    game = kind()

    class Last(Purifier):
        def matrix(self, game: Engine, policy: Any) -> Any:  # noqa: ARG002
            return np.full(game.shape[:-1], game.num_actions - 1)

    class Mixed(Purifier):
        def matrix(self, game: Engine, policy: Any) -> Any:  # noqa: ARG002
            return policy

    monkeypatch.setitem(PURIFIERS, "last", Last)
    monkeypatch.setitem(PURIFIERS, "mixed", Mixed)
    uniform = np.full(game.shape, 1.0 / game.num_actions)
    assert (purify(game, uniform, "last") == game.num_actions - 1).all()
    refuses(lambda: purify(game, uniform, "mixed"), r"has shape \(.*; allowed: \(", StrategyError)
