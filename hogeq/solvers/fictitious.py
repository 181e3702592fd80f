"""Fictitious play in behaviour strategies (Heinrich et al. 2015) and over matrices (Brown 1951)."""

from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.model.many import shared_workspace
from hogeq.model.protocol import Engine
from hogeq.search.ascent import anneal, to_matrix
from hogeq.search.counter_search import CounterSearch
from hogeq.search.moves import SearchContext
from hogeq.solvers.base import Solver, solver
from hogeq.strategies.arrays import normalised, one_hot
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats, Matrix
from hogeq.support.messages import refusal
from hogeq.support.parameters import Count, Positive, PositiveShare, parameters


class FictitiousState(NamedTuple):
    """State of a run; n is the number of iterations done."""

    average: Floats
    """(G, G, K), behaviour strategy of the average so far."""
    matrices: NDArray[np.int8]
    """(n, G, G), the responses, whose uniform mixture is the average; empty unless kept."""
    responder_win: Floats
    """(), win rate of the last response against the average."""
    iteration: NDArray[np.int64]
    """()"""


@solver("fictitious")
@parameters
class FictitiousPlay(Solver[FictitiousState]):
    """Best responses to the average of best responses.

    A response enters the average in proportion to how often play reaches each information set
    under it: the update of extensive-form fictitious play (XFP, Heinrich et al. 2015, theorem 7).
    Under perfect recall that is the same as mixing the responses themselves; here it is not, and
    the mixture is kept in `matrices` if `keep_matrices` is set.

    Attributes
    ----------
    responder : {"annealed", "exact", "stochastic"}
        How a response is found, always by annealing a softmax responder from the uniform policy.
        "annealed": it is then made pure and improved by one sweep of coordinate ascent. "exact":
        the ascent goes on until no change of one cell improves. "stochastic": the softmax at
        temperature `cold`, left mixed.
    responder_steps : int
        Steps of annealing.
    hot, cold : float
        First and last temperature, in win probability.
    damping : float
        Share of the way to the softmax that a step goes.
    step_size : {"harmonic", "square_root"}
        Weight of the newest response: 1 / n, or 1 / sqrt(n), which forgets.
    keep_matrices : bool
        Keep all responses in the state, n matrices.
    """

    GROWS: ClassVar = frozenset({"matrices"})

    responder: Literal["annealed", "exact", "stochastic"] = "annealed"
    responder_steps: Count = 14
    hot: Positive = 0.03
    cold: Positive = 3e-4
    damping: PositiveShare = 0.6
    step_size: Literal["harmonic", "square_root"] = "harmonic"
    keep_matrices: bool = False

    def __post_init__(self) -> None:
        """Refuse parameters that contradict each other."""
        if self.cold > self.hot:
            allowed = f"numbers above 0 up to hot, which is {self.hot}"
            raise ValueError(refusal("cold", self.cold, allowed))
        if self.keep_matrices and self.responder == "stochastic":
            raise ValueError(refusal("keep_matrices", True, "false where responses stay mixed"))

    def init(self, game: Engine) -> FictitiousState:
        """State of the uniform policy."""
        return FictitiousState(
            np.full(game.shape, 1.0 / game.shape[-1]),
            np.zeros((0, *game.shape[:-1]), np.int8),
            np.array(0.5),
            np.array(0, np.int64),
        )

    def step(self, game: Engine, state: FictitiousState) -> FictitiousState:
        """Respond to the average, and mix the response into it."""
        iteration = int(state.iteration) + 1
        response, matrix = self._response(game, state.average)
        policies = np.stack([response, state.average])
        work = shared_workspace(game, 2)
        rate = work.win_rate(policies).win_rate
        weight = 1.0 / (iteration if self.step_size == "harmonic" else np.sqrt(iteration))
        new, old = (work.cell_reach(both)[..., None] for both in (policies, policies[[1, 1]]))
        mixed = weight * new * response + (1.0 - weight) * old * state.average
        reached = mixed.sum(axis=-1) > 0.0
        average = state.average.copy()
        average[reached] = normalised(mixed[reached])
        matrices = state.matrices
        if self.keep_matrices:
            matrices = np.concatenate([matrices, matrix[None]])
        return FictitiousState(average, matrices, np.array(rate), np.array(iteration, np.int64))

    def average(self, game: Engine, state: FictitiousState) -> Floats:  # noqa: ARG002
        """Behaviour strategy (G, G, K) of the average."""
        return state.average.copy()

    def stats(self, game: Engine, state: FictitiousState) -> dict[str, float]:  # noqa: ARG002
        """Win rate of the last response."""
        return {"responder_win": float(state.responder_win)}

    def _response(self, game: Engine, average: Floats) -> tuple[Floats, Matrix]:
        """Response to the average: a policy (G, G, K), and its most probable rolls."""
        target, uniform = Strategy.unchecked(average), np.full_like(average, 1 / game.num_actions)
        how = self.responder_steps, (self.hot, self.cold), self.damping
        if self.responder == "stochastic":
            context = SearchContext.of(game, target)
            context.policies[0] = uniform
            anneal(context.work, context.policies, how[0], how[2], how[1])
            return context.policies[0].copy(), to_matrix(context.policies[0])
        sweeps = 1 if self.responder == "annealed" else None
        matrix = CounterSearch(uniform, *how, sweeps).run(game, target).matrix
        return one_hot(matrix, game.num_actions), matrix
