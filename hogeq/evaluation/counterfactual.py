"""Counterfactual values of every roll at every information set."""

from typing import Literal, NamedTuple

import numpy as np

from hogeq.model.workspace import Role, Workspace
from hogeq.support.aliases import Floats

RegretWeight = Literal["reach", "counterfactual", "belief"]


class Counterfactual(NamedTuple):
    """What regret is made of."""

    values: Floats
    """(G, G, K), of every roll, weighted as asked."""
    infoset_reach: Floats
    """(G, G), reach probability of every cell, the weights' sum."""


def counterfactual_values(
    work: Workspace, policies: Floats, weight: RegretWeight = "reach"
) -> Counterfactual:
    """Counterfactual value of every roll of player 0 at every information set.

    An information set here joins hidden states that the player's own rolls reach with different
    probability, so the player's own reach does not cancel as it does under perfect recall.

    Parameters
    ----------
    work : Workspace
        Of two players, or of one for self-play (any weight but "counterfactual").
    policies : float64 (Q, G, G, K)
    weight : {"reach", "counterfactual", "belief"}
        "reach" weights a hidden state by its full reach probability, the player's own rolls
        included: the exact gradient of the win rate, since no information set is met twice.
        "counterfactual" leaves the player's own rolls out (each counts 1), as CFR is defined in
        Zinkevich et al. 2007, equation 5.  "belief" divides the first by the reach of the
        information set: the value given that it is reached.

    Returns
    -------
    Counterfactual
        Arrays of the workspace: copy what must outlive its next use.
    """
    if weight == "counterfactual":
        open_minded = policies.copy()
        open_minded[0] = 1.0
        work.forward(open_minded)
    else:
        work.forward(policies)
    work.backward(policies, Role.COUNTERFACTUAL)
    if weight == "belief":
        np.divide(
            work.counterfactual_values,
            work.infoset_reach[..., None],
            out=work.counterfactual_values,
            where=work.infoset_reach[..., None] > 0.0,
        )
    return Counterfactual(work.counterfactual_values, work.infoset_reach)
