"""Solvers that respond to a mixture of earlier responses: their average, or an equilibrium.

Fictitious play (Brown 1951; in behaviour strategies Heinrich et al. 2015), and double oracle with
an exact meta-game (McMahan et al. 2003).
"""

from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.evaluation.counterfactual import policy_of_mixture
from hogeq.model.protocol import Engine
from hogeq.model.shared import shared_workspace
from hogeq.search.ascent import random_policy
from hogeq.search.counter_search import CounterSearch, SearchState
from hogeq.search.moves import SearchContext
from hogeq.search.population import Population
from hogeq.solvers.base import Solver, solver
from hogeq.strategies.arrays import likeliest, normalised, one_hot, zero_matrices
from hogeq.strategies.strategy import Mixture, Strategy, strategy_of
from hogeq.support.aliases import Floats, Matrix
from hogeq.support.messages import HogeqError, refusal
from hogeq.support.parameters import Count, Positive, PositiveShare, Seed, parameters
from hogeq.support.workers import compute

SUPPORT = 1e-9  # weights of the meta-game below this are rounding errors


class FictitiousState(NamedTuple):
    """State of a run; n is the number of iterations done."""

    average: Floats  # (G, G, K), behaviour strategy of the average so far
    matrices: NDArray[Any]  # the responses, (n, G, G), or (n, G, G, K) if mixed; empty unless kept
    responder_win: Floats  # (), win rate of the last response against what it responds to
    iteration: NDArray[np.int64]  # ()


@solver("fictitious")
@parameters
class FictitiousPlay(Solver[FictitiousState]):
    """Responses to the mixture of all responses so far (Brown 1951).

    If every response is a best one, the mixture converges to an equilibrium (Robinson 1951); they
    come from a search. The policy is their average: each counts in proportion to how often play
    reaches an information set under it, as in extensive-form fictitious play (XFP, Heinrich et al.
    2015, theorem 7). Under imperfect recall it is another strategy than the mixture.

    Attributes
    ----------
    responder : {"annealed", "ascent", "stochastic"}
        A softmax responder is annealed from the uniform policy. "annealed": it is then made pure
        and improved by one sweep of coordinate ascent. "ascent" ("exact" is its old name): the
        ascent goes on until no change of one cell improves. "stochastic": the softmax at
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
        Keep all responses and respond to their mixture, at a pass for each of them; otherwise to
        the average policy alone, the same under perfect recall, and no theorem's elsewhere.
    """

    GROWS: ClassVar = frozenset({"matrices"})

    responder: Literal["annealed", "ascent", "stochastic", "exact"] = "annealed"
    responder_steps: Count = 14
    hot: Positive = 0.03
    cold: Positive = 3e-4
    damping: PositiveShare = 0.6
    step_size: Literal["harmonic", "square_root"] = "harmonic"
    keep_matrices: bool = True

    def __post_init__(self) -> None:
        """Refuse parameters that contradict each other."""
        if self.cold > self.hot:
            allowed = f"numbers above 0 up to hot, which is {self.hot}"
            raise HogeqError(refusal("cold", self.cold, allowed))

    def init(self, game: Engine) -> FictitiousState:
        mixed = self.keep_matrices and self.responder == "stochastic"
        return FictitiousState(
            np.full(game.shape, 1.0 / game.shape[-1]),
            np.zeros((0, *game.shape)) if mixed else zero_matrices(0, game.shape),
            np.array(0.5),
            np.array(0, np.int64),
        )

    def step(self, game: Engine, state: FictitiousState) -> FictitiousState:
        iteration = int(state.iteration) + 1
        target = self.mixture(game, state) or Strategy.unchecked(state.average)
        response = self._response(game, target)
        wins = Population(game, target.policies).rates_of(response)
        work = shared_workspace(game, 2)
        policies = np.stack([response, state.average])
        new, old = (work.cell_reach(both)[..., None] for both in (policies, policies[[1, 1]]))
        weight = self._step_size(iteration)
        mixed = weight * new * response + (1.0 - weight) * old * state.average
        reached = mixed.sum(axis=-1) > 0.0
        average = state.average.copy()
        average[reached] = normalised(mixed[reached])
        matrices = state.matrices
        if self.keep_matrices:
            new_one = response if self.responder == "stochastic" else likeliest(response)
            matrices = np.concatenate([matrices, new_one[None]])
        rate = np.array(target.chances @ wins)
        return FictitiousState(average, matrices, rate, np.array(iteration, np.int64))

    def average(self, game: Engine, state: FictitiousState) -> Floats:
        return state.average.copy()

    def mixture(self, game: Engine, state: FictitiousState) -> Strategy | None:
        """Mixture of the responses, equal ones together; None if none are kept."""
        if not len(state.matrices):
            return None
        sizes = [self._step_size(number) for number in range(1, len(state.matrices) + 1)]
        # The newest has the size of its step; each step takes as much from all before it.
        left = np.cumprod([1.0, *(1.0 - size for size in sizes[:0:-1])])[::-1]
        matrices, which = np.unique(state.matrices, axis=0, return_inverse=True)
        weights = np.bincount(which.ravel(), sizes * left)
        return strategy_of(game, Mixture(weights / weights.sum(), matrices))

    def stats(self, game: Engine, state: FictitiousState) -> dict[str, float]:
        return {"responder_win": float(state.responder_win)}

    def _step_size(self, iteration: int) -> float:
        return 1.0 / float(iteration if self.step_size == "harmonic" else np.sqrt(iteration))

    def _response(self, game: Engine, target: Strategy) -> Floats:
        """Response to a strategy, (G, G, K)."""
        uniform = np.full(game.shape, 1.0 / game.num_actions)
        steps, cooling = self.responder_steps, (self.hot, self.cold)
        if self.responder == "stochastic":
            context = SearchContext.of(game, target)
            context.policies[0] = uniform
            context.anneal(steps, self.damping, cooling)
            return context.policies[0].copy()
        sweeps = 1 if self.responder == "annealed" else None
        search = CounterSearch(uniform, steps, cooling, self.damping, sweeps)
        return one_hot(search.run(game, target).matrix, game.num_actions)


class OracleState(NamedTuple):
    """State of a run; n is the number of matrices in the pool."""

    pool: Matrix  # (n, G, G)
    payoffs: Floats  # (n, n), exact win rates of row against column
    weights: Floats  # (n,), equilibrium of the meta-game
    responder_win: Floats  # (), win rate of the last response against what it responds to
    iteration: NDArray[np.int64]  # ()


@solver("double_oracle")
@parameters
class DoubleOracle(Solver[OracleState]):
    """Add a response to the equilibrium of a pool of matrices to that pool, again and again.

    Attributes
    ----------
    responder_steps : int
        Steps of annealing; each costs one pass per matrix in the mixture.
    damping : float
        Share of the way to the softmax that a step goes.
    responders : int
        Searches for each response, of which the best counts, side by side: the first starts from
        the newest response, the others at random.
    seed : int
        Of the random starts.
    """

    GROWS: ClassVar = frozenset({"pool", "payoffs", "weights"})

    responder_steps: Count = 30
    damping: PositiveShare = 0.5
    responders: Count = 1
    seed: Seed = 0

    def init(self, game: Engine) -> OracleState:
        return OracleState(
            zero_matrices(1, game.shape),
            np.full((1, 1), 0.5),
            np.ones(1),
            np.array(0.5),
            np.array(0, np.int64),
        )

    def step(self, game: Engine, state: OracleState) -> OracleState:
        answers = compute(partial(self._respond, game, state), range(self.responders))
        new = max(answers, key=lambda answer: answer.rate).matrix
        wins = Population(game, state.pool).rates_of(one_hot(new, game.num_actions))
        rate = float(wins @ state.weights)
        iteration = np.array(int(state.iteration) + 1, np.int64)
        if (state.pool == new).all(axis=tuple(range(1, new.ndim + 1))).any():
            return state._replace(responder_win=np.array(rate), iteration=iteration)
        pool = np.concatenate([state.pool, new[None]])
        payoffs = np.block(
            [[state.payoffs, 1.0 - wins[:, None]], [wins[None], np.full((1, 1), 0.5)]]
        )
        return OracleState(pool, payoffs, equilibrium(payoffs), np.array(rate), iteration)

    def mixture(self, game: Engine, state: OracleState) -> Strategy:
        mixed = state.weights > 0.0
        return strategy_of(game, Mixture(state.weights[mixed], state.pool[mixed]))

    def average(self, game: Engine, state: OracleState) -> Floats:
        """Policy (G, G, K): the components, weighted by their reach; the mixture is better."""
        return policy_of_mixture(game, state.weights, Population(game, state.pool).policies)

    def stats(self, game: Engine, state: OracleState) -> dict[str, float]:
        return {
            "responder_win": float(state.responder_win),
            "support": float((state.weights > 0.0).sum()),
        }

    def _respond(self, game: Engine, state: OracleState, start: int) -> SearchState:
        """Respond to the mixture from one start."""
        policy = 0.5 * Population(game, state.pool[-1:]).policies[0] + 0.5 / game.num_actions
        if start > 0:
            random = np.random.default_rng([self.seed, int(state.iteration), start])
            policy = random_policy(game, random)
        search = CounterSearch(policy, self.responder_steps, damping=self.damping)
        return search.run(game, self.mixture(game, state))


def equilibrium(payoffs: Floats, tolerance: float = 1e-7) -> Floats:
    """Equilibrium weights of a symmetric zero-sum matrix game; none wins more by the tolerance."""
    _, weights, _ = matrix_game(payoffs, tolerance)
    weights = np.where(weights > SUPPORT, weights, 0.0)
    return weights / weights.sum()


def matrix_game(payoffs: Floats, tolerance: float = 1e-7) -> tuple[float, Floats, Floats]:
    """Value of a matrix game to its rows, and optimal weights of rows and of columns."""
    from scipy.optimize import linprog

    rows, columns = payoffs.shape
    # Maximise v with weights @ payoffs >= v in every column.
    result = linprog(
        np.append(np.zeros(rows), -1.0),
        A_ub=np.column_stack([-payoffs.T, np.ones(columns)]),
        b_ub=np.zeros(columns),
        A_eq=np.append(np.ones(rows), 0.0)[None],
        b_eq=[1.0],
        bounds=[*[(0.0, None)] * rows, (None, None)],
        method="highs",
        options={"primal_feasibility_tolerance": tolerance},
    )
    if not result.success:
        raise RuntimeError(f"matrix game of {rows} x {columns}: {result.message}")
    weights = [np.maximum(result.x[:-1], 0.0), np.maximum(-result.ineqlin.marginals, 0.0)]
    row_weights, column_weights = (one / one.sum() for one in weights)
    return float(result.x[-1]), row_weights, column_weights
