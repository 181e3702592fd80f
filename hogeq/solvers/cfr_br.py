"""CFR-BR: a regret minimiser against best responders (Johanson et al. 2012)."""

from functools import partial
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from hogeq.evaluation.counterfactual import Counterfactual, RegretWeight, counterfactual_values
from hogeq.model.protocol import Engine
from hogeq.model.shared import quick_workspace, shared_workspace
from hogeq.search.ascent import ascend, ith_start, log_uniform, with_random_rolls
from hogeq.search.counter_search import PERTURBED_SHARES, CounterSearch
from hogeq.solvers.base import Solver, read_start, solver
from hogeq.solvers.regret import check_weight
from hogeq.strategies.arrays import likeliest, match_regrets, normalised, one_hot, row_sums
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats, Matrix, matrix_type
from hogeq.support.messages import HogeqError, refusal
from hogeq.support.parameters import Count, NotNegative, PositiveShare, Seed, parameters
from hogeq.support.workers import compute

ANNEAL_EVERY = 4  # iterations
INERTIA = 0.1  # initial regret of a start from a file, per reach: as after 500 iterations
LEAST_PROBABILITY = 1e-3  # of a roll, in the logarithm of the price of entropy
LEAST_SPREAD = 1e-6  # in win probability; responders closer than this weigh nearly the same


class CFRBRState(NamedTuple):
    """State of a run."""

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

    In every iteration the weakest responders are replaced by new ones, all responders improve by
    coordinate ascent, and regrets are updated against their mixture. A new responder is one of the
    strongest, perturbed and improved by ascent; in every fourth iteration the first of them is a
    softmax response instead, annealed and made pure. The weight of a responder in the mixture is
    ``exp(-d / 2m)``, where d is how much lower its win rate is than the highest, and m is the
    median absolute deviation of their win rates.

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
        check_weight(game, self.regret_weight)
        regrets, linear, older, recent = (np.zeros(game.shape) for _ in range(4))
        if self.start:
            policy = read_start(game, self.start).unmixed(self.start).policy
            infoset_reach = game.workspace(2).cell_reach(np.stack([policy, policy]))
            regrets = INERTIA * infoset_reach[..., None] * policy
        random = np.random.default_rng(self.seed)
        shape = (self.responders, *game.shape[:-1])
        kind: Any = matrix_type(game.num_actions)
        counters = random.integers(game.num_actions, size=shape, dtype=kind)
        won = np.zeros(self.responders)
        done = np.array(0, np.int64)
        return CFRBRState(regrets, linear, older, recent, counters, won, done)

    def step(self, game: Engine, state: CFRBRState) -> CFRBRState:
        iteration = int(state.iteration) + 1
        policy = match_regrets(state.regrets)
        order = np.argsort(-state.win_rates, kind="stable")
        strongest = state.counters[order[: self.responders - self.newcomers]]
        parents = state.counters[order[: self.newcomers]]
        target = Strategy.unchecked(policy)
        # What takes long goes to any workers; one sweep and one pass are done before they would be.
        searches = self._newcomers(game, policy, parents, iteration)
        ended = compute(partial(CounterSearch.run, game=game, strategy=target), searches)
        climbed: list[tuple[Matrix, float | None]] = [(one.matrix, one.rate) for one in ended]
        climbed += [(counter, None) for counter in strongest]
        responses = compute(partial(self._valued, game, policy), climbed, local=True)
        counters, win_rates = (np.array([one[at] for one in responses]) for at in (0, 1))
        values, infoset_reach = np.zeros(game.shape), np.zeros(game.shape[:-1])
        spread = 2.0 * float(np.median(np.abs(win_rates - np.median(win_rates))))
        weights = np.exp((win_rates - win_rates.max()) / max(spread, LEAST_SPREAD))
        weights /= weights.sum()
        for share, (_, _, met) in zip(weights, responses, strict=True):
            values += share * met.values
            infoset_reach += share * met.infoset_reach
        if self.sharpen:
            price = self.sharpen * iteration
            visited = 1.0 if self.regret_weight == "belief" else infoset_reach[..., None]
            values += price * visited * np.log(np.maximum(policy, LEAST_PROBABILITY))
        state.regrets[...] += values - row_sums(values * policy)[..., None]
        np.maximum(state.regrets, 0.0, out=state.regrets)
        visits = infoset_reach[..., None] * policy
        state.linear_sum[...] += iteration * visits
        state.recent[...] += visits
        if iteration % self.window == 0:
            state.older[...] = state.recent
            state.recent[...] = 0.0
        done = np.array(iteration, np.int64)
        return state._replace(counters=counters, win_rates=win_rates, iteration=done)

    def average(self, game: Engine, state: CFRBRState) -> Floats:
        last = match_regrets(state.regrets)
        if self.averaging == "last":
            return last
        window = self.averaging == "window"
        return normalised(state.older + state.recent if window else state.linear_sum, last)

    def stats(self, game: Engine, state: CFRBRState) -> dict[str, float]:
        regret = float(state.regrets.max(axis=-1).sum())
        return {
            "average_regret": regret / max(1, int(state.iteration)),
            "responder_win": float(state.win_rates.max()),
        }

    def caveat(self, game: Engine) -> str:
        """Say that the theorem asks for exact best responses."""
        return "no guarantee: responses come from a search"

    def _newcomers(
        self, game: Engine, policy: Floats, parents: Matrix, iteration: int
    ) -> list[CounterSearch]:
        """List searches for new responders: one may anneal, others perturb a parent."""
        searches = []
        for place, parent in enumerate(parents):
            random = np.random.default_rng([self.seed, iteration, place])
            start, rest = divmod(iteration - 1, ANNEAL_EVERY if self.responders > 1 else 1)
            if place == 0 and rest == 0:
                first, cooling = ith_start(game, policy, start, random)
                how = self.responder_steps, cooling, self.damping, self.responder_sweeps
                searches.append(CounterSearch(first, *how))
            else:
                share = log_uniform(random, PERTURBED_SHARES)
                matrix = with_random_rolls(parent, share, game.num_actions, random)
                searches.append(CounterSearch(matrix, sweeps=self.responder_steps))
        return searches

    def _valued(
        self, game: Engine, policy: Floats, climbed: tuple[Matrix, float | None]
    ) -> tuple[Matrix, float, Counterfactual]:
        """Let a responder ascend, unless it has; it, its win rate, values of the policy's rolls."""
        counter, win_rate = climbed
        policies = np.stack([one_hot(counter, policy.shape[-1]), policy])
        work = quick_workspace(game, 2)
        if win_rate is None:
            win_rate, _ = ascend(work, policies, self.responder_sweeps)
        if self.regret_weight == "counterfactual":  # rows of ones: sums beyond single precision
            work = shared_workspace(game, 2)
        met = counterfactual_values(work, policies[::-1].copy(), self.regret_weight)
        return likeliest(policies[0]), win_rate, met
