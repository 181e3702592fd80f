"""Proximal bundle methods: minimise the largest win rate of a growing pool of counters.

Each counter has a linear model of its win rate against a policy, exact where it was taken. An
iteration at the policy p

1. finds the q whose largest modelled win rate plus KL(q, p) / step_size, rows weighted by reach, is
   least (:mod:`hogeq.solvers.proximal`);
2. searches for responses to q, which enter the pool, and takes models anew that shaped the step and
   missed (:mod:`hogeq.solvers.cuts`);
3. moves to q and makes the step size longer if the largest win rate of the pool falls by
   `least_gain` of what the models promised; else it stays, and makes it shorter.

Kiwiel 1990, "Proximity control in bundle methods for convex nondifferentiable minimization",
algorithm 2.1, with the divergence of mirror descent for its distance. No theorem covers this game,
where win rates are linear in one row but not in all together.

Cost: Newton steps over the models of the counters that bind, the sweeps of every search, and a
forward and a backward pass for each component of a cut; searches and cuts run in parallel.
"""

from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field

from hogeq.evaluation.counterfactual import policy_of_mixture
from hogeq.model.protocol import Engine
from hogeq.search.ascent import log_uniform, random_policy, with_random_rolls
from hogeq.search.counter_search import (
    MOST_CROSSED_COUNTERS,
    PERTURBED_SHARES,
    CounterSearch,
    OngoingSearches,
)
from hogeq.search.population import read_counters
from hogeq.solvers.base import Solver, read_start, solver
from hogeq.solvers.cuts import (
    ARRAYS_OF_COUNTERS,
    BundleState,
    Check,
    Point,
    cut,
    modelled_rates,
    search,
)
from hogeq.solvers.proximal import LEAST_WEIGHT, USED_WEIGHT, ProximalProblem, Trial, soft_maximum
from hogeq.solvers.regret import self_played
from hogeq.strategies.arrays import zero_matrices
from hogeq.strategies.conversion import strategy_of
from hogeq.strategies.strategy import Mixture, Strategy
from hogeq.support.aliases import Floats
from hogeq.support.messages import HogeqError, refusal
from hogeq.support.parameters import Count, Natural, NotNegative, Positive, Seed, Share, parameters
from hogeq.support.workers import compute

UNIFORM_SHARE_OF_FILE: Final = 1e-3  # share of the uniform policy in a start from a file
UNIFORM_SHARE_OF_SELF_PLAY: Final = 0.3  # the same in a start from self-play
CHECKED_WEIGHT: Final = 0.02  # above it, a counter's model is checked against its exact win rate
TOLERATED_ERROR: Final = 0.1  # largest tolerated error of a model, as a share of the predicted gain
MISLEADING_ERROR: Final = 0.25  # error, as the same share, above which a model has misled a step
LEAST_STEP_SIZE: Final = 1.0  # least step size, in logits per win probability
FACTOR_IF_ACCEPTED: Final = 1.25  # factor of the step size after a step that is accepted ...
FACTOR_IF_MISLED: Final = 0.5  # ... after one that is not, if a model has misled it ...
FACTOR_IF_REJECTED: Final = 0.93  # ... and if none has
DEEP_FACTOR: Final = 5  # times as many steps of annealing in a deep iteration
LAST_TEMPERATURE: Final = 2e-4  # last temperature of the responses, in win probability
FIRST_TEMPERATURES_NEAR: Final = (2e-3, 1e-2)  # range in a start near the strategy ...
FIRST_TEMPERATURES_FAR: Final = (5e-3, 1e-1)  # ... and of a random start
NEARLY_UNIFORM_CONCENTRATION: Final = 1e3  # concentration of a Dirichlet distribution of rows
DAMPING: Final = 0.6  # of the annealing of responses
LEAST_FLOOR: Final = 1e-12  # floor while sharpening, where `floor` would keep rows mixed


@parameters
class BundleMethod(Solver[BundleState]):
    """Descend the largest win rate of any counter-matrix against the learned strategy.

    Each iteration moves to where the worst of the linear models of a pool of counters is best, held
    near by a divergence that weights rows by reach; responds to that; and adds the responses to the
    pool. The step is kept if it is better by a share of what the models predicted.

    Attributes
    ----------
    step_size : float
        First step size, in logits per win probability; it adapts.
    least_gain : float
        Least share of the predicted gain that a step must reach to be kept.
    pool_size : int
        Most counters in the pool; those without weight for longest are dropped.
    responses : int
        Responses annealed in each iteration, from near the strategy and at random in turn.
    ascents : int
        Counters of largest weight from which a further response ascends.
    responder_steps : int
        Steps of annealing.
    responder_sweeps : int
        Most sweeps of coordinate ascent.
    deep_every : int
        Every so many iterations responses anneal in five times the steps, and ascend to the end.
    trails : int
        Searches for counters that go on from iteration to iteration.
    kicks : int
        Kicks of each trail in an iteration.
    life : int
        Kicks after which a trail ends and another begins.
    largest_step : float
        Largest step size. A small one helps late, when policies wander about the best one.
    softness : float
        How far above a common level counters win, per weight in a step; 0: the worst alone count.
    averaging : {"last", "recent"}
        The best so far, or the average over recent iterations, with trails harder to attack.
    window : int
        Each new policy is one part in so many of the average.
    floor : float
        Least probability of a roll, so that none is lost for good.
    start : str
        Strategy file to begin with; by default a hundred iterations of discounted CFR.
    counters : str
        File of counters that the pool starts with, such as an earlier search met.
    seed : int
        Seed of the responses' starts.
    """

    FILES: ClassVar = frozenset({"start", "counters"})
    GROWS: ClassVar = frozenset(ARRAYS_OF_COUNTERS)

    step_size: Positive = 30.0
    least_gain: Annotated[float, Field(gt=0, lt=1)] = 0.1
    pool_size: Annotated[int, Field(ge=10, le=10**5)] = 300
    responses: Count = 2
    ascents: Natural = 2
    responder_steps: Count = 12
    responder_sweeps: Count = 3
    deep_every: Count = 10
    trails: Natural = 0
    kicks: Count = 5
    life: Count = 100
    largest_step: Positive = 1000.0
    softness: NotNegative = 0.0
    averaging: Literal["last", "recent"] = "last"
    window: Count = 30
    floor: Annotated[float, Field(gt=0, lt=0.05)] = 1e-5
    start: str = ""
    counters: str = ""
    seed: Seed = 0

    def step(self, game: Engine, state: BundleState) -> BundleState:
        """State after one more iteration of the bundle method.

        1. Take a proximal step by the linear models: a trial point, which is a strategy.
        2. Respond to it: new counters join the pool, and models that missed are taken anew.
        3. Move there if the largest win rate of a counter falls by enough of the fall that the
           models promised. Change the step size by how well they did.
        4. Add the strategy to the average over recent iterations.
        """
        iteration = int(state.iteration) + 1
        point = state.point
        component_rates = modelled_rates(state, point.components)
        current_rates = 1.0 - component_rates @ point.draw  # of the counters
        if len(current_rates):
            trial = self._proximal_trial(state, component_rates, iteration)
        else:
            trial = Trial(point, np.zeros(0), current_rates)
        promised_maximum = soft_maximum(trial.rates, self.softness)
        fall = current_rates.max(initial=0.0) - trial.rates.max(initial=0.0)
        hoped_gain = float(fall + trial.entropy_gain)
        state, error = self._respond(game, state, trial, hoped_gain, iteration)

        # Both points are compared by the models of the new pool.
        changed = np.flatnonzero(state.used == iteration)
        current_rates = _with_changes(state, current_rates, point, changed)
        trial_rates = _with_changes(state, trial.rates, trial.point, changed)
        current_maximum = soft_maximum(current_rates, self.softness)
        trial_maximum = soft_maximum(trial_rates, self.softness)
        promised_gain = current_maximum - promised_maximum + trial.entropy_gain
        gain = current_maximum - trial_maximum + trial.entropy_gain
        is_accepted = gain >= self.least_gain * promised_gain
        if is_accepted:
            state = state._replace(parts=trial.point.components, draw=trial.point.draw)
        new_rates = trial_rates if is_accepted else current_rates
        is_misled = error > MISLEADING_ERROR * abs(promised_gain)
        state = state._replace(
            worst=np.array(float(new_rates.max())),
            step_size=np.array(self._next_step_size(state, is_accepted, is_misled)),
            iteration=np.array(iteration, np.int64),
        )
        share = 1.0 / min(iteration, self.window)
        for average, newest in zip(state.recent_point, state.point, strict=True):
            np.add(average, share * (newest - average), out=average)
        return state

    def _next_step_size(self, state: BundleState, is_accepted: bool, is_misled: bool) -> float:
        """Lengthen the step size after a step that is accepted, and shorten it after another.

        It is shortened more if a model misled the step: it missed a counter's win rate by much.
        """
        if is_accepted:
            factor = FACTOR_IF_ACCEPTED
        else:
            factor = FACTOR_IF_MISLED if is_misled else FACTOR_IF_REJECTED
        step_size = max(LEAST_STEP_SIZE, factor * float(state.step_size))
        return min(step_size, self.largest_step)

    def stats(self, game: Engine, state: BundleState) -> dict[str, float]:
        """Largest modelled win rate of a counter, and the number of counters of some weight."""
        shaping = float((state.weights > CHECKED_WEIGHT).sum())
        return {"responder_win": float(state.worst), "support": shaping}

    def _final_point(self, state: BundleState) -> Point:
        """Strategy that the run gives: the best so far, or the average over recent iterations."""
        return state.recent_point if self.averaging == "recent" else state.point

    def _proximal_trial(self, state: BundleState, component_rates: Floats, iteration: int) -> Trial:
        """Take a proximal step by the models of the m counters of the pool.

        `component_rates`, (m, n), are the win rates of the n components against them.
        """
        return ProximalProblem(
            state=state,
            logits=np.log(state.parts),
            component_rates=component_rates,
            floor=self.floor,
            entropy_price=0.0,
            softness=self.softness,
        ).solve()

    def _respond(
        self, game: Engine, state: BundleState, trial: Trial, hoped_gain: float, iteration: int
    ) -> tuple[BundleState, float]:
        """Search for responses to the trial point of a step, and add them to the pool of counters.

        A model is linear in the strategy: the win rate against one counter. Models that shaped the
        step are taken anew if they miss a counter's win rate by more than a share of `hoped_gain`.
        Returns the new state, and the largest error of a model.
        """
        strategy = Strategy.unchecked_mixture(*trial.point)
        random = np.random.default_rng([self.seed, iteration])
        ongoing = OngoingSearches(state.trails, state.kicks_left)
        strongest = state.pool[np.argsort(-trial.rates, kind="stable")[:MOST_CROSSED_COUNTERS]]
        shaping = np.flatnonzero(trial.weights > CHECKED_WEIGHT)  # indices of counters
        largest_error = TOLERATED_ERROR * max(hoped_gain, 0.0) + USED_WEIGHT
        checks = [
            Check(state.pool[index], float(trial.rates[index]), largest_error) for index in shaping
        ]
        searched = search(
            game,
            strategy,
            self._response_searches(game, state, trial, iteration, random),
            ongoing.list_searches(game, strategy, strongest, self.kicks, (self.seed, iteration)),
            state.pool,
            checks,
        )
        ongoing = ongoing.with_results(searched.reached, self.kicks, self.life)
        state = state._replace(
            trails=ongoing.matrices,
            kicks_left=ongoing.kicks_left,
            weights=trial.weights,
            used=np.where(trial.weights > USED_WEIGHT, iteration, state.used),
        )
        state = state.renewed(
            shaping[searched.failed], searched.responses, searched.cuts, iteration, self.pool_size
        )
        return state, float(searched.errors.max(initial=0.0))

    def _initial_state(self, game: Engine, parts: Floats, draw: Floats) -> BundleState:
        """State at the components of a mixture and their weights; the pool is that of the file.

        `parts` (n, G, G, K) are policies, and `draw` (n,) their probabilities.
        """
        ongoing = OngoingSearches.to_begin(game, self.trails, self.life)
        components = len(draw)
        rows = int(np.prod(game.shape[:-1]))
        state = BundleState(
            parts=parts,
            draw=draw,
            pool=zero_matrices(0, game.shape),
            gradients=np.zeros((0, components, rows, game.num_actions), np.float32),
            constants=np.zeros((0, components)),
            reach=np.zeros((0, components, rows), np.float32),
            weights=np.zeros(0),
            used=np.zeros(0, np.int64),
            worst=np.array(1.0),
            step_size=np.array(self.step_size),
            recent=parts.copy(),
            recent_draw=draw.copy(),
            trails=ongoing.matrices,
            kicks_left=ongoing.kicks_left,
            iteration=np.array(0, np.int64),
        )
        if not self.counters:
            return state
        matrices = read_counters(Path(self.counters), game)
        distinct = list({matrix.tobytes(): matrix for matrix in matrices}.values())
        cuts = compute(partial(cut, game, Strategy.unchecked_mixture(parts, draw)), distinct)
        none_failed = np.zeros(0, np.int64)
        state = state.renewed(none_failed, distinct, cuts, iteration=0, most=len(distinct))
        worst = (1.0 - modelled_rates(state, parts) @ draw).max()
        return state._replace(worst=np.array(float(worst)))

    def _response_searches(
        self, game: Engine, state: BundleState, trial: Trial, iteration: int, random: Generator
    ) -> list[CounterSearch]:
        """List searches for responses to the strategy that a proximal step leads to.

        1. Ascend from a component of it; each has its turn.
        2. Anneal from near the strategy and from a random policy in turn.
        3. Ascend from the counters of largest weight in the step.

        In a deep iteration, every so many, searches anneal in more steps, and ascend to the end.
        """
        components, draw = trial.point
        mean_policy = np.tensordot(draw, components, 1)
        deep_iterations, remainder = divmod(iteration, self.deep_every)
        is_deep = remainder == 0
        # Deep and other iterations take turns of their own.
        turn = deep_iterations if is_deep else iteration - deep_iterations
        steps = self.responder_steps * (DEEP_FACTOR if is_deep else 1)
        sweeps = None if is_deep else self.responder_sweeps
        searches = [CounterSearch(components[turn % len(components)], sweeps=sweeps)]
        for number in range(self.responses):
            is_near = (turn + number) % 2 == 0
            share = random.uniform(0.5, 1.0) if is_near else 0.0
            noise = random_policy(game, random, NEARLY_UNIFORM_CONCENTRATION if is_deep else 1.0)
            first_temperature = log_uniform(
                random, FIRST_TEMPERATURES_NEAR if is_near else FIRST_TEMPERATURES_FAR
            )
            policy = share * mean_policy + (1.0 - share) * noise
            cooling = (first_temperature, LAST_TEMPERATURE)
            searches.append(CounterSearch(policy, steps, cooling, DAMPING, sweeps))
        heaviest = np.argsort(-trial.weights, kind="stable")[: self.ascents]
        searches += [CounterSearch(state.pool[index], sweeps=sweeps) for index in heaviest]
        return searches


def _with_changes(
    state: BundleState, rates: Floats, point: Point, changed: NDArray[np.int64]
) -> Floats:
    """Win rates (m,) of all counters at a point: those before, but for the `changed` models.

    A model is the linear function that stands for the win rate against one counter.
    """
    updated = np.zeros(len(state.pool))
    updated[: len(rates)] = rates
    updated[changed] = 1.0 - modelled_rates(state, point.components, changed) @ point.draw
    return updated


@solver("bundle")
@parameters
class ProximalBundle(BundleMethod):
    """Descend the largest win rate that any counter-matrix has against the policy.

    With `sharpen` entropy has a price, which rises from iteration to iteration: what is minimised
    is the largest win rate plus the price times the entropies of the rows, weighted by reach. Rows
    become pure one by one, those first where mixing matters least, while the others adapt. Then
    `floor` is not used, and counters that a search for a matrix met before help (`counters`).

    Attributes
    ----------
    sharpen : float
        Rise of the price of entropy in an iteration, in win probability per nat.
    """

    sharpen: NotNegative = 0.0

    def init(self, game: Engine) -> BundleState:
        """State at the policy of the start file or of self-play, mixed with the uniform policy."""
        if self.start:
            policy = read_start(game, self.start).unmixed(self.start).policy
            uniform_share = UNIFORM_SHARE_OF_FILE
        else:
            policy, _ = self_played(game)
            uniform_share = UNIFORM_SHARE_OF_SELF_PLAY
        uniform = np.full(game.shape, 1.0 / game.shape[-1])
        policy = (1.0 - uniform_share) * policy + uniform_share * uniform
        return self._initial_state(game, policy[None], np.ones(1))

    def average(self, game: Engine, state: BundleState) -> Floats:
        """Policy (G, G, K): the best so far, or the average over recent iterations."""
        return self._final_point(state).components[0].copy()

    def _proximal_trial(self, state: BundleState, component_rates: Floats, iteration: int) -> Trial:
        """Take a proximal step with a price of entropy, which rises with the iterations."""
        # Entropy is concave: its tangent at the policy, an upper bound, replaces it. That is a step
        # from a power of the policy, normalised.
        price = self.sharpen * iteration
        logits = (1.0 + price * float(state.step_size)) * np.log(state.parts)
        logits -= np.logaddexp.reduce(logits, axis=-1, keepdims=True)
        return ProximalProblem(
            state=state,
            logits=logits,
            component_rates=component_rates,
            floor=LEAST_FLOOR if price else self.floor,
            entropy_price=price,
            softness=self.softness,
        ).solve()


@solver("mixture_bundle")
@parameters
class MixtureBundle(BundleMethod):
    """Descend the largest win rate that any counter-matrix has against a mixture.

    As `bundle`, of several policies and their weights at once: in the divergence rows weigh as much
    as play of their part reaches them, times the part's weight, and the draw weighs 1, as a row
    that every game reaches. Responders meet the whole mixture and are not told what was drawn.
    Parts begin apart, or they would stay alike.

    Attributes
    ----------
    parts : int
        Policies in the mixture, 1 to 64. If `start` has fewer, the likeliest are split.
    spread : float
        Share of a random policy in the start of every part.
    perturbed : int
        Counters, drawn by weight, that are perturbed before further responses ascend from them.
    """

    parts: Annotated[Count, Field(le=64)] = 4
    spread: Share = 0.5
    perturbed: Natural = 4

    def init(self, game: Engine) -> BundleState:
        """State at the components of the start, each mixed with a random policy of its own."""
        components, draw = self._components_of_start(game)
        random = np.random.default_rng(self.seed)
        # Components that begin alike would stay alike.
        for number, component in enumerate(components):
            noise = random_policy(game, random)
            blend = (1.0 - self.spread) * component + self.spread * noise
            blend = np.maximum(blend, self.floor)
            components[number] = blend / blend.sum(axis=-1, keepdims=True)
        return self._initial_state(game, components, draw)

    def mixture(self, game: Engine, state: BundleState) -> Strategy:
        """Mixture of the components: the best so far, or the average over recent iterations."""
        components, draw = self._final_point(state)
        return strategy_of(game, Mixture(draw, components))

    def average(self, game: Engine, state: BundleState) -> Floats:
        """Policy (G, G, K): the components, weighted by their reach; the mixture is better."""
        components, draw = self._final_point(state)
        return policy_of_mixture(game, draw, components)

    def stats(self, game: Engine, state: BundleState) -> dict[str, float]:
        """Add the effective number of components: the exponential of the draw's entropy."""
        draw_entropy = -np.sum(state.draw * np.log(state.draw))
        return {**super().stats(game, state), "drawn": float(np.exp(draw_entropy))}

    def _components_of_start(self, game: Engine) -> tuple[Floats, Floats]:
        """Components (n, G, G, K) and weights (n,) of the strategy to begin with.

        If it has too few components, the likeliest is split in two until they are enough.
        """
        if not self.start:
            policy, _ = self_played(game)
            equal_policies = np.stack([policy] * self.parts)
            return equal_policies, np.full(self.parts, 1.0 / self.parts)
        start = read_start(game, self.start)
        policies = list(start.policies)
        draw = list(start.chances)
        if len(policies) > self.parts:
            allowed = f"of 1 to {self.parts} parts, as solver.parts says"
            raise HogeqError(refusal("start", f"a mixture of {len(policies)}", allowed))
        while len(policies) < self.parts:
            largest = int(np.argmax(draw))
            draw[largest] /= 2.0
            draw.append(draw[largest])
            policies.append(policies[largest].copy())
        weights = np.maximum(draw, LEAST_WEIGHT)
        return np.stack(policies), weights / weights.sum()

    def _response_searches(
        self, game: Engine, state: BundleState, trial: Trial, iteration: int, random: Generator
    ) -> list[CounterSearch]:
        """Add ascents from counters of the pool, drawn by weight, with a share of random rolls."""
        searches = super()._response_searches(game, state, trial, iteration, random)
        if len(trial.weights) == 0:
            return searches
        is_deep = iteration % self.deep_every == 0
        sweeps = None if is_deep else 3 * self.responder_sweeps
        probabilities = trial.weights / trial.weights.sum()
        for index in random.choice(len(probabilities), self.perturbed, p=probabilities):
            share = log_uniform(random, PERTURBED_SHARES)
            matrix = with_random_rolls(state.pool[index], share, game.num_actions, random)
            searches.append(CounterSearch(matrix, sweeps=sweeps))
        return searches
