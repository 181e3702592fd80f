import numpy as np
import pytest

from hogeq.evaluation.counterfactual import counterfactual_values, kkt_gap
from hogeq.evaluation.values import win_rate
from hogeq.model.game import compile_game
from tests.runs.trials import trial


def test_kkt_gap_is_the_steepest_rate_of_improvement() -> None:
    """Against a difference quotient of exact win rates, on random policies."""
    game = compile_game(trial().rules)
    policies = np.random.default_rng(1).dirichlet(np.ones(3), (5, 10, 10))
    for policy in policies:
        both = np.stack([policy, policy])
        gradient = counterfactual_values(game.workspace(2), both, "reach").values
        best = (gradient == gradient.max(axis=2, keepdims=True)).astype(float)
        best /= best.sum(axis=2, keepdims=True)
        step = 1e-6
        there = win_rate(game, (1 - step) * policy + step * best, policy).win_rate
        assert kkt_gap(game, policy) == pytest.approx((there - 0.5) / step, rel=1e-4)
        assert kkt_gap(game, policy) > 0
