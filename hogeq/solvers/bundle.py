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
"""

from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from hogeq.evaluation.counterfactual import policy_of_mixture
from hogeq.model.protocol import Engine
from hogeq.search.ascent import log_uniform, random_policy, with_random_rolls
from hogeq.search.counter_search import (
    CROSSED,
    PERTURBED_SHARES,
    CounterSearch,
    Trails,
    no_trails,
)
from hogeq.search.population import read_counters
from hogeq.solvers.base import Solver, solver, start_of
from hogeq.solvers.cuts import Check, Counters, cut, modelled, search
from hogeq.solvers.proximal import ALIVE, LEAST_WEIGHT, Point, Trial, soft_maximum, trial
from hogeq.solvers.regret import DiscountedCFR
from hogeq.strategies.strategy import Mixture, Strategy, strategy_of
from hogeq.support.aliases import Floats, Matrix, Singles
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.support.messages import HogeqError, refusal
from hogeq.support.parameters import (
    Count,
    Natural,
    NotNegative,
    Positive,
    Seed,
    Share,
    parameters,
)
from hogeq.support.workers import compute

SELF_PLAY: Final = 100  # iterations of the default start
SOFTENED: Final = 1e-3  # share of the uniform policy in a start from a file
UNIFORM: Final = 0.3  # the same in a start from self-play
SHAPING: Final = 0.02  # weight above which a counter's model is checked against exact evaluation
TRUSTED: Final = 0.1  # largest tolerated error of a model, as a share of the predicted gain
MISLED: Final = 0.25  # largest error, as the same share, after which a step is not made shorter
LEAST_STEP: Final = 1.0  # least step size, in logits per win probability
LONGER, SHORTER, FAILED = 1.25, 0.5, 0.93  # factors: step accepted; models misled it; neither
DEEP: Final = 5  # times as many steps of annealing in a deep iteration
COLD: Final = 2e-4  # last temperature of the responses, in win probability
NEAR_HEAT: Final = (2e-3, 1e-2)  # range of the first temperature of a start near the strategy ...
FAR_HEAT: Final = (5e-3, 1e-1)  # ... and of a random start
NEARLY_UNIFORM: Final = 1e3  # concentration of a Dirichlet distribution
DAMPING: Final = 0.6  # of the annealing of responses
LEAST_FLOOR: Final = 1e-12  # floor while sharpening, where `floor` would keep rows mixed


class BundleState(NamedTuple):
    """State of a run; n components, of a policy one, m counter-matrices in the pool.

    The win rate of a counter is constants plus gradients times the components.
    """

    parts: Floats  # (n, G, G, K)
    draw: Floats  # (n,), weights of the components
    pool: Matrix  # (m, G, G)
    gradients: Singles  # (m, n, G * G, K), counterfactual values where each was last taken
    constants: Floats  # (m, n)
    reach: Singles  # (m, n, G * G), reach probability of every cell there
    weights: Floats  # (m,), weight of each counter in the last step
    used: NDArray[np.int64]  # (m,), iteration in which each counter last had weight
    worst: Floats  # (), largest win rate of any counter against the mixture, by the models
    step_size: Floats  # (), of the next step, in logits per win probability
    recent: Floats  # (n, G, G, K), average of the components over recent iterations
    recent_draw: Floats  # (n,), the same of their weights
    trails: Matrix  # (t, G, G), where the trails are
    kicks_left: NDArray[np.int64]  # (t,), kicks that each has left; negative where it is to begin
    iteration: NDArray[np.int64]  # ()


def counters_of(state: BundleState) -> Counters:
    """Give the pool of a state, with its models."""
    models = state.gradients, state.constants, state.reach
    return Counters(state.pool, *models, state.weights, state.used)


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
    GROWS: ClassVar = frozenset(Counters._fields)

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
        """Step, respond to where that leads, and go there if it is better."""
        iteration = int(state.iteration) + 1
        point = _at(state)
        won = modelled(counters_of(state), point.parts)
        here = 1.0 - won @ point.draw
        there = self._trial(state, won, iteration) if len(here) else Trial(point, np.zeros(0), here)
        promised = soft_maximum(there.rates, self.softness)
        hoped = here.max(initial=0.0) - there.rates.max(initial=0.0) + there.saved
        state, error = self._answered(game, state, there, float(hoped), iteration)

        # Most models are as they were.
        counters = counters_of(state)
        changed = np.flatnonzero(state.used == iteration)

        def renewed(rates: Floats, at: Point) -> Floats:
            every = np.zeros(len(counters.pool))
            every[: len(rates)] = rates
            every[changed] = 1.0 - modelled(counters, at.parts, changed) @ at.draw
            return every

        here, rates = renewed(here, point), renewed(there.rates, there.point)
        worst = soft_maximum(here, self.softness)
        gain = worst - promised + there.saved
        reached = worst - soft_maximum(rates, self.softness) + there.saved
        accepted = reached >= self.least_gain * gain
        factor = LONGER if accepted else SHORTER if error > MISLED * abs(gain) else FAILED
        step_size = max(LEAST_STEP, factor * float(state.step_size))
        if accepted:
            state = state._replace(parts=there.point.parts, draw=there.point.draw)
        state = state._replace(
            worst=np.array(float((rates if accepted else here).max())),
            step_size=np.array(min(step_size, self.largest_step)),
            iteration=np.array(iteration, np.int64),
        )
        share = 1.0 / min(iteration, self.window)
        for recent, newest in zip(_lately(state), _at(state), strict=True):
            np.add(recent, share * (newest - recent), out=recent)
        return state

    def stats(self, game: Engine, state: BundleState) -> dict[str, float]:
        shaping = float((state.weights > SHAPING).sum())
        return {"responder_win": float(state.worst), "support": shaping}

    def _result(self, state: BundleState) -> Point:
        """Give the strategy that comes of a state in the end."""
        return _lately(state) if self.averaging == "recent" else _at(state)

    def _trial(self, state: BundleState, won: Floats, iteration: int) -> Trial:
        """Take one proximal step from where a state is, with win rates `won` there."""
        point, size = _at(state), float(state.step_size)
        how = size, self.floor, 0.0, self.softness
        return trial(counters_of(state), point, np.log(point.parts), won, *how)

    def _answered(
        self, game: Engine, state: BundleState, trial: Trial, hoped: float, iteration: int
    ) -> tuple[BundleState, float]:
        """Respond to where a step leads: a state with more counters, and the largest error."""
        shaping = np.flatnonzero(trial.weights > SHAPING)
        # Models that shaped it are taken anew where they miss by a share of what is hoped for.
        trusted = TRUSTED * max(hoped, 0.0) + ALIVE
        trails = Trails(state.trails, state.kicks_left)
        strategy = Strategy.unchecked(*trial.point)
        random = np.random.default_rng([self.seed, iteration])
        crossed = state.pool[np.argsort(-trial.rates, kind="stable")[:CROSSED]]
        searched = search(
            game,
            strategy,
            self._starts(game, state, trial, iteration, random),
            trails.searches(game, strategy, crossed, self.kicks, (self.seed, iteration)),
            state.pool,
            [Check(state.pool[one], float(trial.rates[one]), trusted) for one in shaping],
        )
        trails = trails.after(searched.reached, self.kicks, self.life)
        used = np.where(trial.weights > ALIVE, iteration, state.used)
        state = state._replace(
            trails=trails.matrices, kicks_left=trails.left, weights=trial.weights, used=used
        )
        counters = counters_of(state).renewed(
            shaping[searched.failed], searched.responses, searched.cuts, iteration, self.pool_size
        )
        return state._replace(**counters._asdict()), float(searched.errors.max(initial=0.0))

    def _begun(self, game: Engine, parts: Floats, draw: Floats) -> BundleState:
        """State at components and their weights, whose pool has the counters of the file."""
        state = BundleState(
            parts,
            draw,
            *Counters.none(game, len(draw)),
            np.array(1.0),
            np.array(self.step_size),
            parts.copy(),
            draw.copy(),
            *no_trails(game, self.trails, self.life),
            np.array(0, np.int64),
        )
        if not self.counters:
            return state
        read = read_counters(Path(self.counters), game)
        known = list({matrix.tobytes(): matrix for matrix in read}.values())
        cuts = compute(partial(cut, game, Strategy.unchecked(parts, draw)), known)
        none = np.zeros(0, np.int64)
        counters = counters_of(state).renewed(none, known, cuts, 0, len(known))
        worst = (1.0 - modelled(counters, parts) @ draw).max()
        return state._replace(**counters._asdict(), worst=np.array(float(worst)))

    def _starts(
        self,
        game: Engine,
        state: BundleState,
        trial: Trial,
        iteration: int,
        random: np.random.Generator,
    ) -> list[CounterSearch]:
        """List the starts of responses to where a step leads."""
        parts, draw = trial.point
        mean = np.tensordot(draw, parts, 1)
        turn, rest = divmod(iteration, self.deep_every)
        deep = rest == 0
        turn = turn if deep else iteration - turn  # of those as deep, to take turns by
        steps = self.responder_steps * (DEEP if deep else 1)
        sweeps = None if deep else self.responder_sweeps
        starts = [CounterSearch(parts[turn % len(parts)], sweeps=sweeps)]
        for place in range(self.responses):  # from near the strategy and at random in turn
            near = (turn + place) % 2 == 0
            share = random.uniform(0.5, 1.0) if near else 0.0
            noise = random_policy(game, random, NEARLY_UNIFORM if deep else 1.0)
            heat = log_uniform(random, NEAR_HEAT if near else FAR_HEAT)
            at = share * mean + (1.0 - share) * noise
            starts.append(CounterSearch(at, steps, (heat, COLD), DAMPING, sweeps))
        heaviest = np.argsort(-trial.weights, kind="stable")[: self.ascents]
        return starts + [CounterSearch(state.pool[one], sweeps=sweeps) for one in heaviest]


def _at(state: BundleState) -> Point:
    """Give where a state is."""
    return Point(state.parts, state.draw)


def _lately(state: BundleState) -> Point:
    """Give the average over recent iterations, in the arrays of the state."""
    return Point(state.recent, state.recent_draw)


def self_played(game: Engine, deadline: Deadline = FOREVER) -> Floats:
    """Policy (G, G, K) by a hundred iterations of discounted CFR, averaged; fewer without time."""
    solver = DiscountedCFR(average_weight="reach", regret_weight="reach", alternating=False)
    state = solver.init(game)
    for _ in range(SELF_PLAY):
        state = solver.step(game, state)
        if deadline.is_over:
            break
    return solver.average(game, state)


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
        if self.start:
            share, policy = SOFTENED, start_of(game, self.start).unmixed(self.start).policy
        else:
            share, policy = UNIFORM, self_played(game)
        policy = (1.0 - share) * policy + share * np.full(game.shape, 1.0 / game.shape[-1])
        return self._begun(game, policy[None], np.ones(1))

    def average(self, game: Engine, state: BundleState) -> Floats:
        """Policy (G, G, K): the best so far, or the average over recent iterations."""
        return self._result(state).parts[0].copy()

    def _trial(self, state: BundleState, won: Floats, iteration: int) -> Trial:
        """Step from a power of the policy, normalised, with a price of entropy."""
        # Entropy is concave: its tangent at the policy, an upper bound, is in its place.
        size, price = float(state.step_size), self.sharpen * iteration
        logits = (1.0 + price * size) * np.log(state.parts)
        logits -= np.logaddexp.reduce(logits, axis=-1, keepdims=True)
        how = size, LEAST_FLOOR if price else self.floor, price, self.softness
        return trial(counters_of(state), _at(state), logits, won, *how)


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
        parts, draw = self._first(game)
        random = np.random.default_rng(self.seed)
        for place, part in enumerate(parts):
            apart = (1.0 - self.spread) * part + self.spread * random_policy(game, random)
            apart = np.maximum(apart, self.floor)
            parts[place] = apart / apart.sum(axis=-1, keepdims=True)
        return self._begun(game, parts, draw)

    def mixture(self, game: Engine, state: BundleState) -> Strategy:
        parts, draw = self._result(state)
        return strategy_of(game, Mixture(draw, parts))

    def average(self, game: Engine, state: BundleState) -> Floats:
        """Policy (G, G, K): the mixture's parts, weighted by their reach; the mixture is better."""
        parts, draw = self._result(state)
        return policy_of_mixture(game, draw, parts)

    def stats(self, game: Engine, state: BundleState) -> dict[str, float]:
        drawn = float(np.exp(-np.sum(state.draw * np.log(state.draw))))
        return {**super().stats(game, state), "drawn": drawn}

    def _first(self, game: Engine) -> tuple[Floats, Floats]:
        """Parts and weights before they are spread."""
        if not self.start:
            return np.stack([self_played(game)] * self.parts), np.full(self.parts, 1.0 / self.parts)
        read = start_of(game, self.start)
        parts, draw = list(read.policies), list(read.chances)
        if len(parts) > self.parts:
            allowed = f"of 1 to {self.parts} parts, as solver.parts says"
            raise HogeqError(refusal("start", f"a mixture of {len(parts)}", allowed))
        while len(parts) < self.parts:
            largest = int(np.argmax(draw))
            draw[largest] /= 2.0
            draw.append(draw[largest])
            parts.append(parts[largest].copy())
        weights = np.maximum(draw, LEAST_WEIGHT)
        return np.stack(parts), weights / weights.sum()

    def _starts(
        self,
        game: Engine,
        state: BundleState,
        trial: Trial,
        iteration: int,
        random: np.random.Generator,
    ) -> list[CounterSearch]:
        starts = super()._starts(game, state, trial, iteration, random)
        if len(trial.weights):
            longer = 3 * self.responder_sweeps if iteration % self.deep_every else None
            chances = trial.weights / trial.weights.sum()
            for counter in random.choice(len(chances), self.perturbed, p=chances):
                share, kept = log_uniform(random, PERTURBED_SHARES), state.pool[counter]
                matrix = with_random_rolls(kept, share, game.num_actions, random)
                starts.append(CounterSearch(matrix, sweeps=longer))
        return starts
