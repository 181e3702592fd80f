"""Strategies as validated policies of a game."""

import numpy as np

from hogeq.strategies.strategy import Sized, StrategyLike, check_game, table_of
from hogeq.support.aliases import Floats, Policy

__all__ = ["check_game", "policies_of", "policy_of"]


def policy_of(game: Sized, strategy: StrategyLike) -> Policy:
    """Policy (G, G, K) of a matrix or a policy, checked: a fresh array."""
    return table_of(game, strategy).policy.copy()


def policies_of(game: Sized, *strategies: StrategyLike) -> Floats:
    """Policies of some strategies, one after the other: float64 (n, G, G, K)."""
    return np.stack([table_of(game, strategy).policy for strategy in strategies])
