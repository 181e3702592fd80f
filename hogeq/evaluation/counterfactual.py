"""Counterfactual values of every action at every information set."""

from typing import Literal, NamedTuple, get_args

import numpy as np

from hogeq.model.many import shared_workspace
from hogeq.model.protocol import Engine
from hogeq.model.workspace import Role, Workspace
from hogeq.strategies.strategy import StrategyLike, policies_of
from hogeq.support.aliases import Floats
from hogeq.support.messages import shown

RegretWeight = Literal["reach", "counterfactual", "belief"]
"""How hidden states are weighted: see :func:`action_values`."""


class Counterfactual(NamedTuple):
    """Counterfactual values, from which regrets are computed, and reach probabilities."""

    values: Floats
    """(G, G, K), of every action at every information set."""
    infoset_reach: Floats
    """(G, G), reach probability of every information set: the sum of the weights. Where positions
    recur, the expected number of visits."""


def action_values(
    game: Engine,
    policy: StrategyLike,
    opponent: StrategyLike | None = None,
    weight: RegretWeight = "reach",
) -> Floats:
    """Counterfactual value of every action at every information set, (G, G, K).

    An information set joins hidden states that the scores do not tell apart. The value of an action
    is the sum, over these states, of its win probability, play going on by the strategies, times
    the weight of the state. Under imperfect recall the player's own reach does not cancel, so the
    weight matters.

    "reach" weights a hidden state by its reach probability with a fair coin to say who starts, the
    player's own actions included; by the expected number of visits where positions recur. That is
    the gradient of the win rate in the policy. "counterfactual" leaves the player's own actions out
    (each counts 1), as CFR is defined in Zinkevich et al. (2007), equation 5, which only games have
    whose positions cannot recur. "belief" divides the values of "reach" by the reach of the
    information set: the win probability, given that it is reached. It is 0 where play never comes.
    The opponent plays the same by default.
    """
    if weight not in get_args(RegretWeight):
        raise ValueError(f"weight: {shown(weight)}; allowed: {', '.join(get_args(RegretWeight))}")
    policies = policies_of(game, policy, policy if opponent is None else opponent)
    return counterfactual_values(shared_workspace(game, 2), policies, weight).values


def counterfactual_values(
    work: Workspace, policies: Floats, weight: RegretWeight = "reach"
) -> Counterfactual:
    """Counterfactual values and reach, fresh arrays, from valid policies (Q, G, G, K).

    Row 0 is the player whose actions are valued. A workspace of one player is for self-play, with
    any weight but "counterfactual"; the turns of both seats count then, so that reach is twice what
    two players have.
    """
    if weight == "counterfactual":
        any_action = policies.copy()
        any_action[0] = 1.0
        work.forward(any_action)
    else:
        work.forward(policies)
    work.backward(policies, Role.COUNTERFACTUAL)
    values, infoset_reach = work.counterfactual_values.copy(), work.infoset_reach.copy()
    if weight == "belief":
        reach = infoset_reach[..., None]
        np.divide(values, reach, out=values, where=reach > 0.0)
    return Counterfactual(values, infoset_reach)


def kkt_gap(game: Engine, policy: Floats) -> float:
    """Measure how far a policy is from a stationary point of self-play, in units of win rate.

    The win rate is linear in each row of a policy, so its gradient at the policy against itself is
    exact; the gap is what the best direction gains to first order, all rows taken together. It is 0
    exactly at the policies that meet the Karush-Kuhn-Tucker conditions of a best response to
    themselves, which under imperfect recall is necessary for an equilibrium, not sufficient.
    """
    values = counterfactual_values(shared_workspace(game, 2), np.stack([policy, policy])).values
    return float((values.max(axis=-1) - (values * policy).sum(axis=-1)).sum())
