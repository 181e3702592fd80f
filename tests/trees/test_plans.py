"""Plans that a side draws from play as the mixture does."""

import numpy as np
import pytest

import hogeq
from hogeq.strategies.strategy import Strategy
from hogeq.trees.flat import payoff, reach
from hogeq.trees.strategies import list_plans


@pytest.mark.parametrize("player", [0, 1])
def test_plans_play_as_the_mixture_does(player: int) -> None:
    tree, random = hogeq.Game("3K3", teams="01/2").tree, np.random.default_rng(3)
    pure = np.eye(tree.num_actions)[random.integers(tree.num_legal, size=(5, tree.num_rows))]
    strategy = Strategy.unchecked_mixture(
        np.array([*pure, pure[0], tree.uniform()]), np.array([0.3, 0.1, 0.1, 0.1, 0.1, 0.2, 0.1])
    )
    found = list_plans(tree, strategy, player)
    assert found[0].probability == pytest.approx(0.5)  # two components are one plan
    assert sum(one.probability for one in found) == pytest.approx(1.0)
    other = np.array([random.dirichlet([1.0, 1.0]) for _ in range(tree.num_rows)])

    def worth(policy: np.ndarray) -> float:
        first, second = (policy, other) if player == 0 else (other, policy)
        return payoff(tree, first, second)

    parts = zip(strategy.chances, strategy.policies, strict=True)
    mixed = sum(chance * worth(policy) for chance, policy in parts)
    assert sum(one.probability * worth(one.policy) for one in found) == pytest.approx(mixed)
    for one in found:
        own = np.where(tree.seat[:, None] == player, one.policy, other)
        come = np.zeros(tree.num_rows, bool)
        come[tree.row[(reach(tree, own) > 0.0) & (tree.row >= 0)]] = True
        plays = one.policy.sum(axis=1) > 0.0
        assert (plays == (come & (tree.seat == player))).all()
        row = int(np.flatnonzero(plays)[0])
        assert sum(one.actions(tree, row).values()) == pytest.approx(1.0)
        assert not one.actions(tree, int(np.flatnonzero(~plays)[0]))
