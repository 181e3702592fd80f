"""How far a policy is from a stationary point of self-play."""

import numpy as np
from numpy.typing import NDArray

from hogeq.evaluation.counterfactual import counterfactual_values
from hogeq.model.game import HogEngine
from hogeq.model.shared import shared_workspace


def kkt_gap(game: HogEngine, policy: NDArray[np.float64]) -> float:
    """Measure how far a policy is from a stationary point of self-play.

    The win rate is linear in each row of a policy, so its gradient at the policy against itself is
    exact; the gap is what the best direction gains to first order, all rows taken together. It is 0
    exactly at the policies that meet the Karush-Kuhn-Tucker conditions of a best response to
    themselves, which under imperfect recall is necessary for an equilibrium, not sufficient.

    Parameters
    ----------
    game : HogEngine
    policy : float64 (G, G, K)

    Returns
    -------
    float
        Not negative; in units of win rate.
    """
    both = np.stack([policy, policy])
    found = counterfactual_values(shared_workspace(game, 2), both, "reach").values
    return float((found.max(axis=2) - (found * policy).sum(axis=2)).sum())
