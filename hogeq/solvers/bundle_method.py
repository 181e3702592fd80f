"""The proximal bundle method, of one policy or of several and how likely each is drawn."""

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from hogeq.model.protocol import Engine
from hogeq.search.counter_search import CROSSED, CounterSearch, Trails
from hogeq.search.population import read_counters
from hogeq.solvers.base import Solver, State
from hogeq.solvers.cuts import (
    Check,
    Counters,
    Depth,
    Modelling,
    annealed,
    modelled,
    search,
)
from hogeq.solvers.proximal import (
    entropies,
    level_of,
    of_components,
    proximal_step,
    soft_maximum,
    with_row,
)
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats
from hogeq.support.parameters import Count, Natural, NotNegative, Positive, Seed, parameters
from hogeq.support.workers import compute

LEAST_REACH: Final = 1e-9  # least weight of a row in the divergence
SHAPING: Final = 0.02  # weight above which a counter's model is checked against exact evaluation
TRUSTED: Final = 0.1  # largest tolerated error of a model, as a share of the predicted gain
MISLED: Final = 0.25  # largest error, as the same share, after which a step is not made shorter
ALIVE: Final = 1e-6  # weight below which a counter had no part in the last step
LEAST_STEP: Final = 1.0  # least step size, in logits per win probability
LONGER, SHORTER, FAILED = 1.25, 0.5, 0.93  # factors: step accepted; models misled it; neither
DEEP: Final = 5  # times as many steps of annealing in a deep iteration
ROUNDS: Final = 6  # of adding counters that the step overlooked ...
MORE: Final = 10  # ... so many at a time
LEAST_FLOOR: Final = 1e-12  # floor while sharpening, where `floor` would keep rows mixed
LEAST_WEIGHT: Final = 1e-3  # of a component, so that none is lost for good
CURVED: Final = 1e-7  # least share of the reach that a roll must have to count in the curvature


class Point(NamedTuple):
    """What is learned: n policies, and how likely each is drawn before a game."""

    parts: Floats
    """(n, G, G, K)"""
    draw: Floats
    """(n,)"""


class Trial(NamedTuple):
    """Where a proximal step leads, before anybody has responded to it."""

    point: Point
    weights: Floats
    """(m,), of all counters; 0 for those whose models the step was not by."""
    rates: Floats
    """(m,), win rates of all counters there, by their models."""
    saved: float = 0.0
    """What the step saves otherwise, in win probability."""


@parameters
class BundleMethod(Solver[State]):
    """Descend the largest win rate that any counter-matrix has against what is learned.

    The win rate against one counter is linear in each row of a policy, with counterfactual
    values for its gradient. Each iteration moves to where the worst of the linear models of a pool
    of counters is best, held near by a Kullback-Leibler divergence that weights rows by reach;
    responds to that; and adds the responses to the pool. The step is kept if it is better by a
    share of what the models predicted; if not, the pool has better models all the same. This is the
    proximal bundle method (Kiwiel, Proximity control in bundle methods for convex nondifferentiable
    minimization, 1990, algorithm 2.1) with the divergence of mirror descent for its distance. No
    theorem covers this game, where the win rate is linear in one row but not in all together: the
    method ends in a local minimum that depends on its start, and only an attack can measure how
    good that is.

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
        Number of counters, those of largest weight, from which a further response ascends.
    responder_steps : int
        Steps of annealing.
    responder_sweeps : int
        Most sweeps of coordinate ascent.
    deep_every : int
        Every `deep_every`-th iteration is deep: responses anneal in five times the steps, random
        ones from a nearly uniform policy, and ascend to the end.
    trails : int
        Searches for counters that go on from iteration to iteration
        (:mod:`hogeq.search.counter_search`).
    kicks : int
        Kicks of each trail in an iteration.
    life : int
        Kicks after which a trail ends and another begins.
    largest_step : float
        Largest step size. A small one helps late, when each step answers some counters and is
        beaten by others: then policies only wander about the best one.
    softness : float
        In win probability: how far above a common level the known counters win, per weight that
        they have in a step (:func:`soft_maximum`). 0: the worst alone count.
    averaging : {"last", "recent"}
        What is given in the end: the strategy of now, the best so far, or the average over recent
        iterations, part by part, which with trails is harder to attack.
    window : int
        The average is the mean of so many iterations at first; then each new policy is one part
        in so many of it.
    floor : float
        Least probability of a roll, so that none is lost for good.
    start : str
        Strategy file to begin with; by default the average of a hundred iterations of self-play
        (discounted CFR), from which it ends lower than from the uniform policy.
    counters : str
        File of counters that the pool starts with
        (:func:`hogeq.search.population.read_counters`), such as an earlier search met.
    seed : int
        Seed of the responses' starts.
    """

    FILES: ClassVar = frozenset({"start", "counters"})
    MODELLING: ClassVar[Modelling]

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

    def step(self, game: Engine, state: State) -> State:
        """Step, respond to where that leads, and go there if it is better."""
        now: Any = state
        iteration = int(now.iteration) + 1
        point = self._point(now)
        won = modelled(Counters.of(now), point.parts)
        here = 1.0 - won @ point.draw
        trial = self._trial(now, won, here, iteration)
        promised = soft_maximum(trial.rates, self.softness)
        hoped = here.max(initial=0.0) - trial.rates.max(initial=0.0) + trial.saved
        now, error = self._answered(game, now, trial, float(hoped), iteration)

        # Most models are as they were.
        counters = Counters.of(now)
        changed = np.flatnonzero(now.used == iteration)

        def renewed(rates: Floats, at: Point) -> Floats:
            every = np.zeros(len(counters.pool))
            every[: len(rates)] = rates
            every[changed] = 1.0 - modelled(counters, at.parts, changed) @ at.draw
            return every

        here, there = renewed(here, point), renewed(trial.rates, trial.point)
        worst = soft_maximum(here, self.softness)
        gain = worst - promised + trial.saved
        reached = worst - soft_maximum(there, self.softness) + trial.saved
        accepted = reached >= self.least_gain * gain
        factor = LONGER if accepted else SHORTER if error > MISLED * abs(gain) else FAILED
        step_size = max(LEAST_STEP, factor * float(now.step_size))
        if accepted:
            now = self._moved(now, trial.point)
        now = now._replace(
            worst=np.array(float((there if accepted else here).max())),
            step_size=np.array(min(step_size, self.largest_step)),
            iteration=np.array(iteration, np.int64),
        )
        share = 1.0 / min(iteration, self.window)
        for recent, newest in zip(self._recent(now), self._point(now), strict=True):
            recent[...] += share * (newest - recent)
        return now

    def _answered(
        self, game: Engine, state: Any, trial: Trial, hoped: float, iteration: int
    ) -> tuple[Any, float]:
        """Respond to where a step leads: a state with more counters, and the largest error.

        Models that shaped the step are taken anew where they miss by a share of what is hoped for.
        """
        shaping = np.flatnonzero(trial.weights > SHAPING)
        trusted = TRUSTED * max(hoped, 0.0) + ALIVE
        trails = Trails(state.trails, state.kicks_left)
        strategy = Strategy.unchecked(*trial.point)
        random = np.random.default_rng([self.seed, iteration])
        crossed = state.pool[np.argsort(-trial.rates, kind="stable")[:CROSSED]]
        searched = search(
            game,
            strategy,
            self.MODELLING,
            self._starts(game, state, trial, self._depth(iteration), random),
            trails.searches(game, strategy, crossed, self.kicks, (self.seed, iteration)),
            state.pool,
            [Check(state.pool[one], float(trial.rates[one]), trusted) for one in shaping],
        )
        trails = trails.after(searched.reached, self.kicks, self.life)
        used = np.where(trial.weights > ALIVE, iteration, state.used)
        state = state._replace(
            trails=trails.matrices, kicks_left=trails.left, weights=trial.weights, used=used
        )
        counters = Counters.of(state).renewed(
            shaping[searched.failed], searched.responses, searched.cuts, iteration, self.pool_size
        )
        return state._replace(**counters._asdict()), float(searched.errors.max(initial=0.0))

    def _begun(self, game: Engine, state: State) -> State:
        """State whose pool has the counters of the file."""
        if not self.counters:
            return state
        now: Any = state
        read = read_counters(Path(self.counters), game)
        known = list({matrix.tobytes(): matrix for matrix in read}.values())
        point = self._point(state)
        cuts = compute(partial(self.MODELLING.cut, game, Strategy.unchecked(*point)), known)
        none = np.zeros(0, np.int64)
        counters = Counters.of(now).renewed(none, known, cuts, 0, len(known))
        worst = (1.0 - modelled(counters, point.parts) @ point.draw).max()
        return now._replace(**counters._asdict(), worst=np.array(float(worst)))

    @abstractmethod
    def _point(self, state: State) -> Point:
        """Give where a state is."""

    @abstractmethod
    def _recent(self, state: State) -> Point:
        """Give the average over recent iterations, whose arrays are then changed in place."""

    @abstractmethod
    def _moved(self, state: State, point: Point) -> State:
        """Give a state that is elsewhere."""

    def _price(self, iteration: int) -> float:  # noqa: ARG002 - for those in which one rises
        """Price of entropy in an iteration."""
        return 0.0

    def _logits(self, parts: Floats, raised: float) -> Floats:  # noqa: ARG002 - as above
        """Logarithms of the rows, raised to a power and normalised."""
        return np.log(parts)

    def _trial(self, state: State, won: Floats, here: Floats, iteration: int) -> Trial:
        """Take one proximal step from where a state is.

        `won` (m, n) and `here` (m,) are win rates there, by the models: of every component against
        every counter, and of the counters.
        """
        now: Any = state
        point, size = self._point(state), float(now.step_size)
        models = Counters.of(state).by_component(len(point.parts))
        if len(models.pool) == 0:
            return Trial(point, np.zeros(0), here)
        parts, rows, rolls = models.gradients.shape[1:]
        last = parts * rows
        price = self._price(iteration)
        floor = LEAST_FLOOR if price > 0.0 else self.floor
        logits = self._logits(point.parts, 1.0 + price * size).reshape(last, rolls)
        if parts > 1:
            logits = with_row(logits, np.log(point.draw))

        def step(active: NDArray[np.int64], begun: Floats) -> Trial:
            reach = models.reach[active].mean(axis=0, dtype=np.float64) * point.draw[:, None]
            reach = np.maximum(reach, LEAST_REACH).ravel()
            result = proximal_step(
                logits,
                *of_components(models, won, point.draw, active, logits.shape[1]),
                np.append(reach, 1.0) if parts > 1 else reach,
                size,
                begun[active] + len(active) ** -2.0,
                CURVED,
                floor,
                self.softness,
            )
            moved = np.maximum(result.policy[:last, :rolls], floor)
            moved /= moved.sum(axis=-1, keepdims=True)
            draw = point.draw
            if parts > 1:
                draw = np.maximum(result.policy[last, :parts], LEAST_WEIGHT)
                draw = draw / draw.sum()
            weights = np.zeros(len(models.pool))
            weights[active] = result.weights
            saved = 0.0
            if price > 0.0:
                saved = price * float(
                    reach @ (entropies(point.parts.reshape(last, rolls)) - entropies(moved))
                )
            there = Point(moved.reshape(point.parts.shape), draw)
            return Trial(there, weights, 1.0 - modelled(models, there.parts) @ there.draw, saved)

        return step_against_few(now.weights, here, step, self.softness)

    def _starts(
        self, game: Engine, state: State, trial: Trial, depth: Depth, random: np.random.Generator
    ) -> list[CounterSearch]:
        """List the starts of responses to where a step leads."""
        now: Any = state
        parts, draw = trial.point
        mean = np.tensordot(draw, parts, 1)
        heaviest = np.argsort(-trial.weights, kind="stable")[: self.ascents]
        return [
            CounterSearch(parts[depth.turn % len(parts)], sweeps=depth.sweeps),
            *annealed(game, mean, self.responses, depth, random),
            *(CounterSearch(now.pool[counter], sweeps=depth.sweeps) for counter in heaviest),
        ]

    def _depth(self, iteration: int) -> Depth:
        """Give how far the responses of an iteration go."""
        times, rest = divmod(iteration, self.deep_every)
        if rest == 0:
            return Depth(deep=True, turn=times, steps=DEEP * self.responder_steps, sweeps=None)
        return Depth(False, iteration - times, self.responder_steps, self.responder_sweeps)


def step_against_few(
    weights: Floats,
    here: Floats,
    step: Callable[[NDArray[np.int64], Floats], Trial],
    softness: float = 0.0,
) -> Trial:
    """Step by the models of the few counters that bind: the likely ones, then those overlooked."""
    active = np.flatnonzero((weights > ALIVE) | (here >= np.sort(here)[-MORE:][0]))
    for _ in range(ROUNDS):
        found = step(active, weights)
        weights, there = found.weights, found.rates
        level = level_of(there[active], softness)
        missed = np.setdiff1d(np.flatnonzero(there > level + ALIVE), active)
        if len(missed) == 0:
            break
        active = np.append(active, missed[np.argsort(-there[missed], kind="stable")][:MORE])
    return found
