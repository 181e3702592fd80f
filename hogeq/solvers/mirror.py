"""Magnetic mirror descent towards logit equilibria of falling temperature."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.evaluation.counterfactual import counterfactual_values
from hogeq.model.many import shared_workspace
from hogeq.model.protocol import Engine
from hogeq.solvers.base import Solver, solver
from hogeq.strategies.arrays import given_arrival, softmax
from hogeq.support.aliases import Floats
from hogeq.support.messages import refusal
from hogeq.support.parameters import Positive, PositiveShare, parameters


class MirrorState(NamedTuple):
    """State of a run."""

    logits: Floats
    """(G, G, K), of the current policy."""
    gap: Floats
    """(), KKT gap of the last policy: the largest gain at one information set, given reach."""
    iteration: NDArray[np.int64]
    """()"""


@solver("mirror")
@parameters
class MirrorDescent(Solver[MirrorState]):
    """Self-play by magnetic mirror descent (Sokota et al. 2023, algorithm 1).

    Each row moves towards the rolls of larger value, given that its information set is reached,
    and is pulled back to the uniform distribution, the magnet. At a fixed temperature the fixed
    point is a logit (agent quantal response) equilibrium; cooling traces a path of them.

    Attributes
    ----------
    rate : float
        Step size, in logits per win probability.
    hot, cold : float
        First and last temperature, in win probability.
    cooling : float
        Factor by which the temperature falls in each iteration until it is `cold`.
    """

    rate: Positive = 20.0
    hot: Positive = 0.1
    cold: Positive = 0.0025
    cooling: PositiveShare = 0.97

    def __post_init__(self) -> None:
        """Refuse parameters that contradict each other."""
        if self.cold > self.hot:
            allowed = f"numbers above 0 up to hot, which is {self.hot}"
            raise ValueError(refusal("cold", self.cold, allowed))

    def init(self, game: Engine) -> MirrorState:
        """State of the uniform policy."""
        return MirrorState(np.zeros(game.shape), np.array(np.inf), np.array(0, np.int64))

    def step(self, game: Engine, state: MirrorState) -> MirrorState:
        """Update all information sets at once."""
        iteration = int(state.iteration) + 1
        temperature = max(self.cold, self.hot * self.cooling ** (iteration - 1))
        policy = softmax(state.logits)
        met = counterfactual_values(shared_workspace(game, 1), policy[None])
        values = given_arrival(met.values, met.infoset_reach)
        gap = (values.max(axis=-1) - (values * policy).sum(axis=-1)).max()
        logits = (state.logits + self.rate * values) / (1.0 + self.rate * temperature)
        logits -= logits.max(axis=-1, keepdims=True)
        return MirrorState(logits, np.array(gap), np.array(iteration, np.int64))

    def average(self, game: Engine, state: MirrorState) -> Floats:  # noqa: ARG002
        """Return the current policy (G, G, K): the method converges without averaging."""
        return softmax(state.logits)

    def stats(self, game: Engine, state: MirrorState) -> dict[str, float]:  # noqa: ARG002
        """KKT gap."""
        return {"kkt_gap": float(state.gap)}
