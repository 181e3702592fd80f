"""Dynamic programming over the scores with beliefs about the memory, as contestants did it."""

from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.baselines import delta, second_place
from hogeq.baselines.delta import countable
from hogeq.baselines.second_place import respond_to_beliefs
from hogeq.baselines.solved import ignore_memory
from hogeq.evaluation.beliefs import over_seats
from hogeq.evaluation.hidden import reach
from hogeq.evaluation.tablebase import solve
from hogeq.model.game import HogEngine
from hogeq.model.many import shared_workspace
from hogeq.model.protocol import Engine
from hogeq.model.workspace import Role
from hogeq.solvers.base import Solver, hog_of, solver
from hogeq.strategies.strategy import policy_of
from hogeq.support.aliases import Floats
from hogeq.support.parameters import NotNegative, PositiveShare, Share, parameters

SWEEPS = 50  # most of the ascent to a response; without hidden memory one is enough


class DynamicState(NamedTuple):
    """State of a run."""

    policy: Floats
    """(G, G, K), one roll in every cell except by full memory."""
    beliefs: Floats
    """(G, G, H), beliefs about the memory that the policy is for; 0 where there were none."""
    changed: NDArray[np.int64]
    """(), cells in which the last iteration changed the likeliest roll."""
    iteration: NDArray[np.int64]
    """()"""


@solver("dynamic")
@parameters
class DynamicProgramming(Solver[DynamicState]):
    """Backward induction, repeated with beliefs from the strategy of the last iteration.

    It minimises no regret and finds no equilibrium under imperfect recall: contestants used it, and
    the other solvers are compared with it. Without hidden memory every variant gives the tablebase
    if no errors are modelled.

    Attributes
    ----------
    memory : {"ignore", "full", "counted", "exact", "response"}
        How the memory is treated. "ignore": the tablebase of the rules without it. "full":
        the tablebase of a player who remembers, its rolls as frequent as self-play meets the
        memories that call for them. "counted": the delta distribution of Huan (2020) [1], counts
        of the ways into a memory, :func:`hogeq.baselines.second_place.huan2020` step by step.
        "exact": the same with reach probabilities in self-play for beliefs: averaged over
        iterations where Huan's dynamic program can play the rules, otherwise the last ones.
        "response": the best response found to the strategy before, errors of both included.
    epsilon : float
        Probability that the opponent errs on a turn and rolls any number of dice ("counted",
        "exact", "response").
    tremble : float
        The same in the self-play that beliefs come from ("full", "exact") or that a response is for
        ("response"); above 0, so that every cell is reached.
    weight, draft_weight : float
        Weight of a memory that was never counted, in later iterations and in the first
        ("counted").
    """

    memory: Literal["ignore", "full", "counted", "exact", "response"] = "exact"
    epsilon: Share = 0.0
    tremble: PositiveShare = 0.01
    weight: NotNegative = 0.25
    draft_weight: NotNegative = 1.0

    def init(self, game: Engine) -> DynamicState:
        """State before the first iteration: the tablebase of the rules without memory."""
        game = hog_of(game, "dynamic")
        can_count = countable(game)
        if self.memory == "counted" and not can_count:
            raise ValueError(
                f"memory: counted cannot play rules {game.rules.name}; allowed: rules whose "
                "turns alternate and always score: use ignore, full, exact or response"
            )
        if self.memory == "exact" and self.epsilon > 0.0 and not can_count:
            raise ValueError(
                f"epsilon: {self.epsilon}; allowed: 0 with rules {game.rules.name} and memory exact"
            )
        policy = policy_of(game, ignore_memory(game))
        beliefs = np.zeros((game.goal, game.goal, game.memory_size))
        return DynamicState(policy, beliefs, np.array(0, np.int64), np.array(0, np.int64))

    def step(self, game: Engine, state: DynamicState) -> DynamicState:
        """Do one backward induction."""
        game = hog_of(game, "dynamic")
        iteration = int(state.iteration) + 1
        beliefs = state.beliefs
        if self.memory == "ignore":
            policy = state.policy
        elif self.memory == "full":
            beliefs = self._met(game, state.policy)
            policy = _remembered(game, beliefs)
        elif self.memory == "response":
            policy = self._response(game, state.policy)
        elif countable(game):
            beliefs = self._beliefs(game, state, iteration)
            policy = policy_of(game, respond_to_beliefs(game, beliefs, self.epsilon))
        else:
            policy = self._greedy(game, state.policy)
        changed = (policy.argmax(axis=2) != state.policy.argmax(axis=2)).sum()
        return DynamicState(
            policy, beliefs, np.array(changed, np.int64), np.array(iteration, np.int64)
        )

    def average(self, game: Engine, state: DynamicState) -> Floats:  # noqa: ARG002
        """Return the last policy (G, G, K): nothing is averaged but beliefs."""
        return state.policy.copy()

    def stats(self, game: Engine, state: DynamicState) -> dict[str, float]:  # noqa: ARG002
        """Cells that the last iteration changed."""
        return {"changed": float(state.changed)}

    def _beliefs(self, game: HogEngine, state: DynamicState, iteration: int) -> Floats:
        if self.memory == "exact":
            met = delta.exact_distribution(game, state.policy, self.tremble)
            return state.beliefs + (met - state.beliefs) / iteration
        guess = _first_guess(game)
        if iteration == 1:
            return over_seats(second_place.weights(guess, None, self.draft_weight))
        own = second_place.WALKS * delta.entries(game, state.policy)
        return over_seats(second_place.weights(guess, own, self.weight))

    def _met(self, game: HogEngine, policy: Floats) -> Floats:
        """Distribution of the memory in self-play with errors, (G, G, H)."""
        return over_seats(reach(game, delta.trembling(game, policy, self.tremble))[None])

    def _greedy(self, game: HogEngine, policy: Floats) -> Floats:
        """Best rolls for the memory as self-play with errors meets it."""
        work = shared_workspace(game, 1)
        work.forward(delta.trembling(game, policy, self.tremble)[None])
        improved = policy[None].copy()
        work.backward(improved, Role.ASCEND)
        return improved[0]

    def _response(self, game: HogEngine, policy: Floats) -> Floats:
        """Climb to a best response in play with errors, which come to every cell."""
        work = shared_workspace(game, 2)
        policies = np.stack([policy, delta.trembling(game, policy, self.epsilon)])
        for _ in range(SWEEPS):
            work.forward(np.stack([delta.trembling(game, policies[0], self.tremble), policies[1]]))
            *_, changes = work.backward(policies, Role.ASCEND)
            if changes == 0:
                break
        return policies[0]


@lru_cache(maxsize=2)
def _first_guess(game: HogEngine) -> second_place.PlayCounts:
    return second_place.first_guess(game)


def _remembered(game: HogEngine, beliefs: Floats) -> Floats:
    """Policy that makes each roll as often as a player who remembers would, (G, G, K)."""
    rolls = solve(game).rolls
    policy = np.zeros(game.shape)
    for roll in range(game.num_actions):
        policy[:, :, roll] = (beliefs * (rolls == roll)).sum(axis=2)
    unmet = policy.sum(axis=2) == 0.0
    policy[unmet, rolls[unmet][:, 0]] = 1.0
    return np.asarray(policy / policy.sum(axis=2, keepdims=True))
