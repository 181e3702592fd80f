"""Mixtures of few policies as counters to a box: how much they win, and that they are dyadic."""

from itertools import product

import numpy as np

import hogeq
from hogeq.solvers.counter_policies import (
    MOST_POLICIES,
    PROBABILITY_UNIT,
    CounterPolicies,
    dyadic_policies,
)
from hogeq.solvers.symmetric import SymmetricGame
from hogeq.support.deadline import Deadline

GAME = {"edition": "fa18", "goal": 4, "max_dice": 2, "sides": 2}


def small_game() -> SymmetricGame:
    return hogeq.Game(GAME)._symmetric()


def test_few_policies_win_more_than_the_heaviest_matrices() -> None:
    """Against all responses of a small box, which are tried one by one."""
    game = small_game()
    draw = np.random.default_rng(0)
    matrices = draw.integers(0, game.actions, (MOST_POLICIES + 4, game.rows))
    weights = draw.dirichlet(np.ones(len(matrices)))
    free_rows = [1, 4, 5, 8]
    corners = [game.eye[:1]] * game.rows
    for row in free_rows:
        corners[row] = game.eye
    responses = np.zeros((1, game.rows), np.int64)
    search = CounterPolicies(game, corners, responses, Deadline())
    heaviest = game.policy(matrices[np.argsort(-weights)[:MOST_POLICIES]])
    rate_of_matrices, _ = search.optimise_weights(heaviest)
    found = search.search(weights, matrices)
    assert len(found.weights) == len(found.policies) <= MOST_POLICIES
    for numbers, unit in ((found.weights, 2.0**-40), (found.policies, PROBABILITY_UNIT)):
        assert (numbers / unit == np.round(numbers / unit)).all()
        assert (numbers.sum(axis=-1) == 1.0).all()
    every = np.zeros((game.actions ** len(free_rows), game.rows), np.int64)
    every[:, free_rows] = list(product(range(game.actions), repeat=len(free_rows)))
    rate = 1.0 - (search.win_rates(found.policies, every) @ found.weights).max()
    assert rate > rate_of_matrices + 0.01
    known = 1.0 - (search.win_rates(found.policies, search.responses) @ found.weights).max()
    assert abs(rate - known) < 1e-5  # ascent finds the best responses here


def test_without_time_it_gives_the_heaviest_matrices() -> None:
    game = small_game()
    matrices = np.random.default_rng(1).integers(0, game.actions, (MOST_POLICIES + 2, game.rows))
    responses = np.zeros((1, game.rows), np.int64)
    search = CounterPolicies(game, game.graph.pure, responses, Deadline(0.0))
    found = search.search(np.arange(1.0, MOST_POLICIES + 3.0), matrices)
    heaviest = [matrix.tolist() for matrix in matrices[2:]]
    assert all(policy.argmax(axis=-1).tolist() in heaviest for policy in found.policies)


def test_rounded_rows_sum_to_one() -> None:
    policies = np.random.default_rng(2).dirichlet(np.full(7, 0.1), (3, 50))
    rounded = dyadic_policies(policies)
    assert (rounded >= 0.0).all()
    assert (rounded.sum(axis=-1) == 1.0).all()
    assert np.abs(rounded - policies).max() <= 7 * PROBABILITY_UNIT
