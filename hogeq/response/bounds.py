"""The interval in which the win rate of a best response lies."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hogeq.evaluation.win_rates import policy_of
from hogeq.model.game import Game
from hogeq.model.workspace import Role
from hogeq.response.search import SearchBudget, attack


class Interval(NamedTuple):
    """Between these the win rate of a best response lies."""

    attack: float
    bound: float
    effort: SearchBudget


def full_memory_bound(game: Game, strategy: ArrayLike) -> float:
    """Win rate of the best responder that remembers everything, an upper bound on any attack.

    Parameters
    ----------
    game : Game
    strategy : array_like
        A matrix (G, G) or a policy (G, G, K).

    Returns
    -------
    float
    """
    policy = policy_of(game, strategy)
    return game.workspace(2).win_rate(np.stack([policy, policy]), Role.FULL_MEMORY).win_rate


def exploitability(game: Game, strategy: ArrayLike, effort: SearchBudget | None = None) -> Interval:
    """Interval in which the win rate of a best response to a strategy lies."""
    effort = effort or SearchBudget()
    return Interval(
        attack(game, strategy, effort).win_rate, full_memory_bound(game, strategy), effort
    )
