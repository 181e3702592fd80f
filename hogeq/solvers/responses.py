"""Solvers that respond to a mixture of earlier responses: fictitious play, and double oracle."""

from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.evaluation.counterfactual import policy_of_mixture
from hogeq.model.protocol import Engine
from hogeq.model.shared import shared_workspace
from hogeq.search.ascent import SearchContext, random_policy
from hogeq.search.counter_search import CounterSearch
from hogeq.search.double_oracle import double_oracle_rounds
from hogeq.search.matrix_games import PoolGame
from hogeq.search.population import Population
from hogeq.solvers.base import Solver, solver
from hogeq.strategies.arrays import likeliest, normalised, one_hot, zero_matrices
from hogeq.strategies.conversion import strategy_of
from hogeq.strategies.strategy import Mixture, Strategy
from hogeq.support.aliases import Floats, Matrix
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.support.messages import HogeqError, refusal
from hogeq.support.parameters import Count, Positive, PositiveShare, Seed, parameters
from hogeq.support.workers import compute


class FictitiousState(NamedTuple):
    """State of a run of `FictitiousPlay`; n is the number of iterations done."""

    average: Floats  # (G, G, K), behaviour strategy of the average so far
    matrices: NDArray[Any]  # the responses, (n, G, G), or (n, G, G, K) if mixed; empty unless kept
    responder_win: Floats  # (), win rate of the last response against what it responds to
    iteration: NDArray[np.int64]  # ()


@solver("fictitious")
@parameters
class FictitiousPlay(Solver[FictitiousState]):
    """Responses to the mixture of all responses so far (Brown 1951).

    1. Search for a response to the mixture, or to the average policy.
    2. Add it to the mixture by its `step_size`.
    3. Add it to the average policy: each response counts in proportion to how often play reaches
       an information set under it, as in extensive-form fictitious play (XFP, Heinrich et al. 2015,
       theorem 7). Under imperfect recall that is another strategy than the mixture.

    If every response is a best one, the mixture converges to an equilibrium (Robinson 1951); they
    come from a search. Cost: each step of the search makes a pass for each response kept.

    Attributes
    ----------
    responder : {"annealed", "ascent", "stochastic"}
        A softmax responder is annealed from the uniform policy. "annealed": it is then made pure
        and improved by one sweep of coordinate ascent. "ascent": the ascent goes on until no
        change of one cell improves. "stochastic": the softmax at temperature `cold`, left mixed.
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

    responder: Literal["annealed", "ascent", "stochastic"] = "annealed"
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
        """State at the uniform policy, without responses."""
        responses_are_mixed = self.keep_matrices and self.responder == "stochastic"
        no_policies = np.zeros((0, *game.shape))
        no_matrices = zero_matrices(0, game.shape)
        return FictitiousState(
            average=np.full(game.shape, 1.0 / game.shape[-1]),
            matrices=no_policies if responses_are_mixed else no_matrices,
            responder_win=np.array(0.5),
            iteration=np.array(0, np.int64),
        )

    def step(self, game: Engine, state: FictitiousState) -> FictitiousState:
        """State after one more response.

        It is to the mixture of earlier responses if these are kept, else to the average policy. Its
        weight in both is the step size.
        """
        iteration = int(state.iteration) + 1
        target = self.mixture(game, state) or Strategy.unchecked(state.average)
        response = self._response(game, target)
        win_rates = Population(game, target.policies).rates_of(response)
        average = self._mix_into_average(game, state.average, response, self._step_size(iteration))
        matrices = state.matrices
        if self.keep_matrices:
            newest = response if self.responder == "stochastic" else likeliest(response)
            matrices = np.concatenate([matrices, newest[None]])
        rate = np.array(target.chances @ win_rates)
        return FictitiousState(average, matrices, rate, np.array(iteration, np.int64))

    @staticmethod
    def _mix_into_average(game: Engine, average: Floats, response: Floats, weight: float) -> Floats:
        """Mix a response of some weight into the average policy (G, G, K).

        Each row of the two counts in proportion to its reach against the average policy. Rows that
        are never reached stay as they are.
        """
        work = shared_workspace(game, 2)
        response_reach = work.cell_reach(np.stack([response, average]))[..., None]
        average_reach = work.cell_reach(np.stack([average, average]))[..., None]
        rows = weight * response_reach * response + (1.0 - weight) * average_reach * average
        is_reached = rows.sum(axis=-1) > 0.0
        mixed = average.copy()
        mixed[is_reached] = normalised(rows[is_reached])
        return mixed

    def average(self, game: Engine, state: FictitiousState) -> Floats:
        """Average policy (G, G, K), rows weighted by their reach under each response."""
        return state.average.copy()

    def mixture(self, game: Engine, state: FictitiousState) -> Strategy | None:
        """Mixture of all responses so far, equal ones together; None if there are none.

        A response has the weight of its step size, times the shares that all later steps leave.
        """
        if not len(state.matrices):
            return None
        sizes = [self._step_size(number) for number in range(1, len(state.matrices) + 1)]
        # A step of size s leaves 1 - s of the weights of all responses before it. From the last
        # step back to the second, these shares multiply; nothing comes after the last response.
        shares_left = [1.0 - size for size in reversed(sizes[1:])]
        remaining = np.cumprod([1.0, *shares_left])[::-1]
        matrices, index = np.unique(state.matrices, axis=0, return_inverse=True)
        weights = np.bincount(index.ravel(), sizes * remaining)
        return strategy_of(game, Mixture(weights / weights.sum(), matrices))

    def stats(self, game: Engine, state: FictitiousState) -> dict[str, float]:
        """Win rate of the last response."""
        return {"responder_win": float(state.responder_win)}

    def _step_size(self, iteration: int) -> float:
        """Weight of the response of an iteration when it is added."""
        return 1.0 / float(iteration if self.step_size == "harmonic" else np.sqrt(iteration))

    def _response(self, game: Engine, target: Strategy) -> Floats:
        """Search for a response to a strategy by annealing from the uniform policy, (G, G, K).

        It stays mixed if the responder is "stochastic"; else it is made pure and ascends.
        """
        uniform = np.full(game.shape, 1.0 / game.num_actions)
        steps = self.responder_steps
        cooling = self.hot, self.cold
        if self.responder == "stochastic":
            context = SearchContext.of(game, target)
            context.policies[0] = uniform
            context.anneal(steps, self.damping, cooling)  # changes policies[0]
            return context.policies[0].copy()
        sweeps = 1 if self.responder == "annealed" else None  # None: until no change improves
        search = CounterSearch(uniform, steps, cooling, self.damping, sweeps)
        return one_hot(search.run(game, target).matrix, game.num_actions)


class OracleState(NamedTuple):
    """State of a run of `DoubleOracle`; n is the number of matrices in the pool."""

    pool: Matrix  # (n, G, G)
    payoffs: Floats  # (n, n), exact win rates of row against column
    weights: Floats  # (n,), equilibrium of the meta-game
    responder_win: Floats  # (), win rate of the last response against what it responds to
    iteration: NDArray[np.int64]  # ()


@solver("double_oracle")
@parameters
class DoubleOracle(Solver[OracleState]):
    """Add a response to the equilibrium of a pool of matrices to that pool (McMahan et al. 2003).

    1. Search for a response to the equilibrium mixture of the pool.
    2. Add it to the pool, with its exact win rates against all members.
    3. Solve the matrix game of the pool by a linear program.

    If responses are best ones, the mixture is an equilibrium when none is new. Cost: a pass for
    each matrix of the mixture and step of the search, and one for each matrix of the pool.

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
        """State with a pool of one matrix, action 0 everywhere."""
        return OracleState(
            pool=zero_matrices(1, game.shape),
            payoffs=np.full((1, 1), 0.5),
            weights=np.ones(1),
            responder_win=np.array(0.5),
            iteration=np.array(0, np.int64),
        )

    def step(self, game: Engine, state: OracleState) -> OracleState:
        """State after one more response to the equilibrium of the pool, by several searches.

        The best response joins the pool, whose matrix game is solved anew. If the pool has it
        already, pool and equilibrium stay.
        """
        restricted = SearchedPool(self, game, state)
        next(double_oracle_rounds(restricted, FOREVER))
        return OracleState(
            pool=restricted.pool,
            payoffs=restricted.payoffs,
            weights=restricted.weights,
            responder_win=np.array(restricted.responder_win),
            iteration=np.array(int(state.iteration) + 1, np.int64),
        )

    def mixture(self, game: Engine, state: OracleState) -> Strategy:
        """Equilibrium of the pool, without matrices of no weight."""
        used = state.weights > 0.0
        return strategy_of(game, Mixture(state.weights[used], state.pool[used]))

    def average(self, game: Engine, state: OracleState) -> Floats:
        """Policy (G, G, K): the components, weighted by their reach; the mixture is better."""
        return policy_of_mixture(game, state.weights, Population(game, state.pool).policies)

    def stats(self, game: Engine, state: OracleState) -> dict[str, float]:
        """Win rate of the last response, and the number of matrices in the equilibrium."""
        return {
            "responder_win": float(state.responder_win),
            "support": float((state.weights > 0.0).sum()),
        }


class SearchedPool(PoolGame):
    """The pool of a state, to which a solver adds the best result of several searches."""

    def __init__(self, solver: DoubleOracle, game: Engine, state: OracleState) -> None:
        super().__init__(state.pool, state.payoffs, state.weights)
        self.solver = solver
        self.game = game
        self.iteration = int(state.iteration)  # iterations done before
        self.responder_win = 0.5  # win rate of the last response against the equilibrium

    def respond(self, player: int, mixtures: tuple[Floats, Matrix], deadline: Deadline) -> bool:
        """Search for a response to the equilibrium, from so many starts, and add the best."""
        game = self.game
        target = strategy_of(game, Mixture(*mixtures))
        searches = [self._make_search(start) for start in range(self.solver.responders)]
        results = compute(partial(CounterSearch.run, game=game, strategy=target), searches)
        response = max(results, key=lambda result: result.rate).matrix
        win_rates = Population(game, self.pool).rates_of(one_hot(response, game.num_actions))
        self.responder_win = float(win_rates @ self.weights)
        return self.add(response, win_rates)

    def _make_search(self, start: int) -> CounterSearch:
        """Pose the search from start number `start`.

        Start 0 is the mean of the newest matrix and the uniform policy; others are random policies.
        """
        game = self.game
        if start == 0:
            policy = 0.5 * one_hot(self.pool[-1], game.num_actions) + 0.5 / game.num_actions
        else:
            random = np.random.default_rng([self.solver.seed, self.iteration, start])
            policy = random_policy(game, random)
        return CounterSearch(policy, self.solver.responder_steps, damping=self.solver.damping)
