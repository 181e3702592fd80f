"""Gains of cells: what a counter-matrix loses without one, and lists of those that gain most."""

from typing import Any

import numpy as np
import pytest

from hogeq.evaluation.values import win_rate
from hogeq.model.game import compile_game
from hogeq.rules import rules_from
from hogeq.search.attack import attack
from hogeq.search.population import gains
from hogeq.search.results import Budget
from hogeq.strategies.arrays import StrategyError, one_hot
from hogeq.strategies.conversion import strategy_of

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
