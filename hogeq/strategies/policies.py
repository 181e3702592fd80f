"""Strategies as validated policies of a game."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from hogeq.rules import Rules
from hogeq.strategies.arrays import check_strategy
from hogeq.strategies.mixtures import Mixture, not_a_table
from hogeq.support.aliases import Floats, Policy
from hogeq.support.messages import refusal

if TYPE_CHECKING:
    from hogeq.model.game import HogEngine


def check_game(game: object) -> None:
    """Refuse what is no game, such as its rules or its name, with a `TypeError`."""
    if not isinstance(getattr(game, "rules", None), Rules):
        raise TypeError(refusal("game", game, "a Game, as hogeq.compile_game gives it"))


def policy_of(game: "HogEngine", strategy: ArrayLike | Mixture) -> Policy:
    """Policy of a strategy for a game, validated."""
    check_game(game)
    if isinstance(strategy, Mixture):
        raise not_a_table("strategy", len(strategy))
    return check_strategy(strategy, game.goal, game.rules.max_dice)


def policies_of(game: "HogEngine", *strategies: ArrayLike) -> Floats:
    """Policies of some strategies, one after the other: float64 (n, G, G, K)."""
    return np.stack([policy_of(game, strategy) for strategy in strategies])
