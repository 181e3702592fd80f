"""Fixed-strategy iteration CFR over the graph of the game (Neller and Hnath 2011)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.evaluation.counterfactual import RegretWeight, counterfactual_values
from hogeq.model.many import shared_workspace
from hogeq.model.protocol import Engine
from hogeq.solvers.base import Solver, solver
from hogeq.strategies.arrays import match_regrets, normalised
from hogeq.support.aliases import Floats
from hogeq.support.parameters import parameters


class FSICFRState(NamedTuple):
    """State of a run."""

    regrets: Floats
    """(G, G, K), average over the iterations."""
    older: Floats
    """(G, G, K), sum of strategies weighted by own reach, between the last two doublings."""
    recent: Floats
    """(G, G, K), the same since the last doubling."""
    iteration: NDArray[np.int64]
    """()"""


@solver("fsicfr")
@parameters
class FSICFR(Solver[FSICFRState]):
    """CFR with one forward and one backward sweep of the game's graph per iteration.

    Strategies stay fixed during an iteration. A forward pass sums, over all paths to a position,
    the probability of the player's own rolls (for the average) and that of the opponent's rolls and
    the dice (for the regrets); a backward pass computes the values. Huan (2020) [1] proposed it
    for Hog. The paper samples chance and divides
    regrets by the visits of a position; here the dice are summed exactly, every position is
    visited equally often in each iteration, and the quotient is the average over iterations.

    Early strategies are dropped as in the paper, section 5: whenever the number of iterations
    doubles, the average loses its part from before the last doubling.

    Attributes
    ----------
    regret_weight : {"counterfactual", "reach", "belief"}
        See :mod:`hogeq.solvers.regret`; the paper uses the first. With "belief" rows that are
        hardly ever reached learn too.
    """

    regret_weight: RegretWeight = "counterfactual"

    def init(self, game: Engine) -> FSICFRState:
        """State before the first iteration, whose strategy is uniform."""
        if game.positions_recur:
            raise ValueError("fsicfr: allowed: games whose positions cannot recur")
        regrets, older, recent = (np.zeros(game.shape) for _ in range(3))
        return FSICFRState(regrets, older, recent, np.array(0, np.int64))

    def step(self, game: Engine, state: FSICFRState) -> FSICFRState:
        """Sweep forward and back, and update every information set."""
        iteration = int(state.iteration) + 1
        policy = match_regrets(state.regrets)
        work = shared_workspace(game, 2)
        own_reach = work.cell_reach(np.stack([policy, np.ones_like(policy)]))
        found = counterfactual_values(work, np.stack([policy, policy]), self.regret_weight)
        regret = found.values - (found.values * policy).sum(axis=-1, keepdims=True)
        state.regrets[...] += (regret - state.regrets) / iteration
        state.recent[...] += own_reach[..., None] * policy
        if iteration & (iteration - 1) == 0:
            state.older[...] = state.recent
            state.recent[...] = 0.0
        return state._replace(iteration=np.array(iteration, np.int64))

    def average(self, game: Engine, state: FSICFRState) -> Floats:  # noqa: ARG002
        """Average strategy (G, G, K) of the later iterations."""
        return normalised(state.older + state.recent, match_regrets(state.regrets))

    def stats(self, game: Engine, state: FSICFRState) -> dict[str, float]:  # noqa: ARG002
        """Average regret summed over information sets."""
        return {"average_regret": float(np.maximum(state.regrets, 0.0).max(axis=-1).sum())}
