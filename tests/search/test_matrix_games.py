"""Matrix games with known equilibria, and pools of strategies."""

import numpy as np
import pytest

from hogeq.search.matrix_games import (
    PoolGame,
    contains,
    equalising_weights,
    matrix_game,
    nash_of_matrix,
)

ROCK = np.array([[0.5, 0.0, 1.0], [1.0, 0.5, 0.0], [0.0, 1.0, 0.5]])


def test_rock_paper_scissors() -> None:
    value, rows, columns = matrix_game(ROCK)
    assert value == pytest.approx(0.5)
    np.testing.assert_allclose([columns, rows], 1 / 3, atol=1e-9)
    np.testing.assert_allclose(
        equalising_weights(ROCK, np.array([0.3, 0.3, 0.4])), 1 / 3, atol=1e-12
    )


def test_meta_game_is_solved_exactly() -> None:
    assert nash_of_matrix(ROCK) == pytest.approx(1 / 3)
    random = np.random.default_rng(0).random((8, 8))
    payoffs = np.triu(random, 1) + np.tril(1.0 - random.T, -1) + np.eye(8) / 2
    weights = nash_of_matrix(payoffs)
    assert weights.sum() == pytest.approx(1.0)
    assert (weights @ payoffs).min() >= 0.5 - 1e-12


def test_a_strategy_joins_a_pool_once() -> None:
    game = PoolGame(np.array([[0, 0]]), np.full((1, 1), 0.5), np.ones(1))
    assert game.add(np.array([0, 1]), ROCK[1, :1])
    assert game.add(np.array([1, 1]), ROCK[2, :2])
    assert not game.add(np.array([0, 1]), ROCK[1])
    assert game.pool.tolist() == [[0, 0], [0, 1], [1, 1]]
    assert game.payoffs.tolist() == ROCK.tolist()
    assert game.weights == pytest.approx(1 / 3)


def test_a_pool_may_be_empty() -> None:
    assert not contains(np.zeros((0, 2, 2)), np.zeros((2, 2)))
    assert contains(np.zeros((1, 2, 2)), np.zeros((2, 2)))
