"""CFR-BR: a regret minimiser against best responders (Johanson et al. 2012)."""

from functools import partial
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from hogeq.evaluation.counterfactual import Counterfactual, RegretWeight, counterfactual_values
from hogeq.model.protocol import Engine
from hogeq.model.shared import quick_workspace, shared_workspace
from hogeq.search.ascent import (
    UNUSED_RANDOM,
    SearchContext,
    ith_start,
    log_uniform,
    with_random_rolls,
)
from hogeq.search.counter_search import PERTURBED_SHARES, CounterSearch, SearchState
from hogeq.solvers.base import Solver, read_start, solver
from hogeq.solvers.regret import check_weight
from hogeq.strategies.arrays import likeliest, match_regrets, normalised, one_hot, row_sums
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats, Matrix, matrix_type
from hogeq.support.messages import HogeqError, refusal
from hogeq.support.parameters import Count, NotNegative, PositiveShare, Seed, parameters
from hogeq.support.workers import compute

ANNEAL_EVERY = 4  # iterations between two newcomers that are annealed
REGRET_PER_REACH = 0.1  # initial regret of a start from a file, per reach: as after 500 iterations
LEAST_PROBABILITY = 1e-3  # of a roll, in the logarithm of the price of entropy
LEAST_SPREAD = 1e-6  # in win probability; responders closer than this weigh nearly the same


class CFRBRState(NamedTuple):
    """State of a run of `CFRBR`; R is the number of responders."""

    regrets: Floats  # (G, G, K)
    linear_sum: Floats  # (G, G, K), sum of policies weighted by reach and number of the iteration
    older: Floats  # (G, G, K), sum of policies weighted by reach, over the last complete window
    recent: Floats  # (G, G, K), the same over the current window
    counters: Matrix  # (R, G, G), the responders' matrices
    win_rates: Floats  # (R,), of the responders against the last policy
    iteration: NDArray[np.int64]  # ()


@solver("cfr_br")
@parameters
class CFRBR(Solver[CFRBRState]):
    """Regret matching+ against annealed best responders.

    1. Replace the weakest responders by the strongest, perturbed and improved by ascent; in every
       fourth iteration the first newcomer is a softmax response instead, annealed and made pure.
    2. Improve all others by coordinate ascent against the current policy.
    3. Weight each responder by ``exp(-d / 2m)``, where d is how much lower its win rate is than the
       highest, and m is the median absolute deviation of their win rates.
    4. Update regrets against the mixture of responders, cut them at 0, and match them.

    Cost: the sweeps of every ascent, and a forward and a backward pass for each responder.

    With exact best responses and perfect recall the current strategy converges with high
    probability (Johanson et al. 2012, theorem 4). Neither holds here, so the state has all three:
    the current strategy, a windowed average and a linear average.

    Attributes
    ----------
    responders : int
        Responders in the population, 1 to 100,000.
    newcomers : int
        Number of responders replaced in every iteration, the weakest.
    responder_steps : int
        Steps of annealing of a new responder, or most sweeps of its ascent after a perturbation.
    responder_sweeps : int
        Most sweeps of the ascent of the others.
    damping : float
        Share of the way to the softmax that a step goes.
    averaging : {"last", "window", "linear"}
        The current policy, the average over the last complete window and the current one, or that
        of all iterations, iteration t weighted by t.
    window : int
        Length of a window, in iterations.
    regret_weight : {"reach", "counterfactual", "belief"}
        As of `cfr`.
    sharpen : float
        Rise of the price of entropy in an iteration, in win probability per nat: the policy becomes
        pure row by row.
    start : str
        Strategy file to begin with; by default the uniform policy.
    seed : int
        Seed of the responders' starts.
    """

    FILES: ClassVar = frozenset({"start"})

    responders: Annotated[Count, Field(le=10**5)] = 16  # a matrix each
    newcomers: Count = 1
    responder_steps: Count = 20
    responder_sweeps: Count = 1
    damping: PositiveShare = 0.6
    averaging: Literal["last", "window", "linear"] = "window"
    window: Count = 50
    regret_weight: RegretWeight = "reach"
    sharpen: NotNegative = 0.0
    start: str = ""
    seed: Seed = 0

    def __post_init__(self) -> None:
        """Refuse parameters that contradict each other."""
        if self.newcomers > self.responders:
            allowed = f"whole numbers from 1 to responders, which is {self.responders}"
            raise HogeqError(refusal("newcomers", self.newcomers, allowed))

    def init(self, game: Engine) -> CFRBRState:
        """State with random responders, at the policy of the start file or the uniform one."""
        check_weight(game, self.regret_weight)
        regrets = np.zeros(game.shape)
        if self.start:
            # Regret matching gives the policy of the file where regrets are proportional to it.
            policy = read_start(game, self.start).unmixed(self.start).policy
            infoset_reach = game.workspace(2).cell_reach(np.stack([policy, policy]))
            regrets = REGRET_PER_REACH * infoset_reach[..., None] * policy
        random = np.random.default_rng(self.seed)
        shape = (self.responders, *game.shape[:-1])
        kind: Any = matrix_type(game.num_actions)
        return CFRBRState(
            regrets=regrets,
            linear_sum=np.zeros(game.shape),
            older=np.zeros(game.shape),
            recent=np.zeros(game.shape),
            counters=random.integers(game.num_actions, size=shape, dtype=kind),
            win_rates=np.zeros(self.responders),
            iteration=np.array(0, np.int64),
        )

    def step(self, game: Engine, state: CFRBRState) -> CFRBRState:
        """State after one more iteration of regret matching+ against a mixture of responders.

        1. Take the policy of the current regrets, and improve the responders against it.
        2. Sum the policy's counterfactual values and reach against them, by their weights.
        3. Update the regrets, cut them at 0, and add the policy to the averages.

        Arrays of the state are changed in place.
        """
        iteration = int(state.iteration) + 1
        policy = match_regrets(state.regrets)
        responders, against_each = self._improve_responders(game, state, policy, iteration)
        win_rates = np.array([responder.rate for responder in responders])
        values = np.zeros(game.shape)
        infoset_reach = np.zeros(game.shape[:-1])
        for weight, played in zip(_mixture_weights(win_rates), against_each, strict=True):
            values += weight * played.values
            infoset_reach += weight * played.infoset_reach
        if self.sharpen:  # add the gradient of a price on entropy
            price = self.sharpen * iteration
            row_weights = 1.0 if self.regret_weight == "belief" else infoset_reach[..., None]
            values += price * row_weights * np.log(np.maximum(policy, LEAST_PROBABILITY))
        state.regrets[...] += values - row_sums(values * policy)[..., None]
        np.maximum(state.regrets, 0.0, out=state.regrets)
        reached_policy = infoset_reach[..., None] * policy
        state.linear_sum[...] += iteration * reached_policy
        state.recent[...] += reached_policy
        if iteration % self.window == 0:  # the current window is complete, and another begins
            state.older[...] = state.recent
            state.recent[...] = 0.0
        return state._replace(
            counters=np.array([responder.matrix for responder in responders]),
            win_rates=win_rates,
            iteration=np.array(iteration, np.int64),
        )

    def average(self, game: Engine, state: CFRBRState) -> Floats:
        """Policy (G, G, K) by `averaging`; rows that no iteration reached are the current ones."""
        current = match_regrets(state.regrets)
        if self.averaging == "last":
            return current
        if self.averaging == "window":
            return normalised(state.older + state.recent, current)
        return normalised(state.linear_sum, current)

    def stats(self, game: Engine, state: CFRBRState) -> dict[str, float]:
        """Regret summed over rows, per iteration, and the largest win rate of a responder."""
        regret = float(state.regrets.max(axis=-1).sum())
        return {
            "average_regret": regret / max(1, int(state.iteration)),
            "responder_win": float(state.win_rates.max()),
        }

    def caveat(self, game: Engine) -> str:
        """Say that the theorem asks for exact best responses."""
        return "no guarantee: responses come from a search"

    def _improve_responders(
        self, game: Engine, state: CFRBRState, policy: Floats, iteration: int
    ) -> tuple[list[SearchState], list[Counterfactual]]:
        """Improve the responders against a policy (G, G, K), and value it against each of them.

        Newcomers come first. They replace the weakest responders of the state, and begin at the
        strongest ones.
        """
        best_first = np.argsort(-state.win_rates, kind="stable")
        strongest = state.counters[best_first[: self.responders - self.newcomers]]
        parents = state.counters[best_first[: self.newcomers]]
        # Searches take long, so any workers run them. The others take one sweep and one pass, less
        # than to send them to another process, so they stay in this one.
        searches = self._newcomer_searches(game, policy, parents, iteration)
        target = Strategy.unchecked(policy)
        newcomers = compute(partial(CounterSearch.run, game=game, strategy=target), searches)
        tasks: list[SearchState | Matrix] = [*newcomers, *strongest]
        results = compute(partial(self._improve_and_value, game, policy), tasks, local=True)
        return [responder for responder, _ in results], [played for _, played in results]

    def _newcomer_searches(
        self, game: Engine, policy: Floats, parents: Matrix, iteration: int
    ) -> list[CounterSearch]:
        """List searches for new responders to a policy, one for each parent, a matrix (G, G).

        In some iterations the first anneals from a start of its own. All others ascend from their
        parent, in which a share of the rolls is random.
        """
        anneal_every = ANNEAL_EVERY if self.responders > 1 else 1
        start_number, remainder = divmod(iteration - 1, anneal_every)
        searches = []
        for number, parent in enumerate(parents):
            random = np.random.default_rng([self.seed, iteration, number])
            if number == 0 and remainder == 0:
                start, cooling = ith_start(game, policy, start_number, random)
                search = CounterSearch(
                    start,
                    steps=self.responder_steps,
                    cooling=cooling,
                    damping=self.damping,
                    sweeps=self.responder_sweeps,
                )
            else:
                share = log_uniform(random, PERTURBED_SHARES)
                matrix = with_random_rolls(parent, share, game.num_actions, random)
                search = CounterSearch(matrix, sweeps=self.responder_steps)
            searches.append(search)
        return searches

    def _improve_and_value(
        self, game: Engine, policy: Floats, responder: SearchState | Matrix
    ) -> tuple[SearchState, Counterfactual]:
        """Improve a responder by a few sweeps of ascent, and value a policy (G, G, K) against it.

        A matrix (G, G) has still to ascend. A newcomer, the result of a search, already has.
        """
        matrix = responder.matrix if isinstance(responder, SearchState) else responder
        policies = np.stack([one_hot(matrix, game.num_actions), policy])
        work = quick_workspace(game, 2)
        if not isinstance(responder, SearchState):
            context = SearchContext(game, None, work, policies, UNUSED_RANDOM)
            rate, _ = context.ascend(self.responder_sweeps)  # changes policies[0]
            responder = SearchState(likeliest(policies[0]), rate)
        if self.regret_weight == "counterfactual":
            # Own actions count as 1, so sums are too large for single precision.
            work = shared_workspace(game, 2)
        policy_first = policies[::-1].copy()
        return responder, counterfactual_values(work, policy_first, self.regret_weight)


def _mixture_weights(win_rates: Floats) -> Floats:
    """Weights (n,) of responders, falling with the distance from the highest win rate."""
    deviation = float(np.median(np.abs(win_rates - np.median(win_rates))))
    spread = max(2.0 * deviation, LEAST_SPREAD)
    weights = np.exp((win_rates - win_rates.max()) / spread)
    return weights / weights.sum()
