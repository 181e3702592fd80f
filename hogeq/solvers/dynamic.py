"""Dynamic programming with beliefs about the memory, for Hog alone."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.baselines import second_place
from hogeq.baselines.second_place import countable, respond_to_beliefs
from hogeq.baselines.solved import ignore_memory
from hogeq.model.game import hog_of
from hogeq.model.protocol import Engine, Role
from hogeq.model.shared import shared_workspace
from hogeq.solvers.base import Solver, solver
from hogeq.strategies.strategy import policy_of
from hogeq.support.aliases import Floats
from hogeq.support.messages import HogeqError
from hogeq.support.parameters import PositiveShare, Share, parameters


class DynamicState(NamedTuple):
    """State of a run."""

    policy: Floats  # (G, G, K), one roll in every cell
    beliefs: Floats  # (G, G, H), about the memory, that the policy is for; 0 where there were none
    changed: NDArray[np.int64]  # (), cells in which the last iteration changed the likeliest roll
    iteration: NDArray[np.int64]  # ()


@solver("dynamic")
@parameters
class DynamicProgramming(Solver[DynamicState]):
    """Backward induction, repeated with beliefs from the strategy of the last iteration.

    Beliefs about the memory are its reach probabilities in self-play with errors: averaged over
    iterations where the dynamic program of Huan (2020) [1] can play the rules, otherwise the last
    ones. Contestants used it; it finds no equilibrium under imperfect recall. Without hidden memory
    it gives the tablebase if no errors are modelled.

    Attributes
    ----------
    epsilon : float
        Probability that the opponent errs on a turn and rolls any number of dice.
    tremble : float
        The same in the self-play that beliefs come from; above 0, so that every cell is reached.
    """

    epsilon: Share = 0.0
    tremble: PositiveShare = 0.01

    def init(self, game: Engine) -> DynamicState:
        """State before the first iteration: the tablebase of the rules without memory."""
        game = hog_of(game, "solver dynamic")
        if self.epsilon > 0.0 and not countable(game):
            why = "whose turns do not alternate or do not always score"
            raise HogeqError(
                f"epsilon: {self.epsilon}; allowed: 0 with rules {game.rules.name}, {why}"
            )
        policy = policy_of(game, ignore_memory(game))
        beliefs = np.zeros((game.goal, game.goal, game.memory_size))
        return DynamicState(policy, beliefs, np.array(0, np.int64), np.array(0, np.int64))

    def step(self, game: Engine, state: DynamicState) -> DynamicState:
        game = hog_of(game, "solver dynamic")
        iteration = int(state.iteration) + 1
        beliefs = state.beliefs
        if countable(game):
            met = second_place.exact_distribution(game, state.policy, self.tremble)
            beliefs = beliefs + (met - beliefs) / iteration
            policy = policy_of(game, respond_to_beliefs(game, beliefs, self.epsilon))
        else:
            # The best rolls for the memory as self-play with errors meets it.
            work = shared_workspace(game, 1)
            reach = work.forward(second_place.trembling(game, state.policy, self.tremble)[None])
            improved = state.policy[None].copy()
            work.backward(reach, improved, Role.ASCEND)
            policy = improved[0]
        changed = (policy.argmax(axis=2) != state.policy.argmax(axis=2)).sum()
        return DynamicState(
            policy, beliefs, np.array(changed, np.int64), np.array(iteration, np.int64)
        )

    def average(self, game: Engine, state: DynamicState) -> Floats:
        """Return the last policy (G, G, K): nothing is averaged but beliefs."""
        return state.policy.copy()

    def stats(self, game: Engine, state: DynamicState) -> dict[str, float]:
        return {"changed": float(state.changed)}
