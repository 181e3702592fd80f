"""Proximal bundle method: minimise the largest win rate of a growing pool of counter-matrices."""

from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from hogeq.model.game import Game
from hogeq.response.counters import read_counters
from hogeq.response.kicks import Against
from hogeq.response.trails import CROSSED, Trails, after, due, no_trails
from hogeq.solvers.base import Solver, solver
from hogeq.solvers.bundles import (
    ALIVE,
    CURVED,
    LEAST_REACH,
    LEAST_STEP,
    SHAPING,
    TRUSTED,
    Check,
    Depth,
    Start,
    annealed,
    ascents,
    search,
    self_played,
    step_against_few,
)
from hogeq.solvers.cuts import OF_POLICY, Counters, cut
from hogeq.solvers.proximal import proximal_step
from hogeq.strategies.policies import policy_of
from hogeq.support.aliases import Floats, Matrix, Singles
from hogeq.support.parameters import Count, Natural, NotNegative, Positive, Seed, parameters
from hogeq.support.workers import compute

LEAST_FLOOR = 1e-12  # floor while sharpening, where `floor` would keep rows mixed
SOFTENED = 1e-3  # share of the uniform policy in a start from a file


class BundleState(NamedTuple):
    """State of a run; n is the number of counter-matrices in the pool.

    The win rate of the policy against counter c is modelled as ``constants[c]`` plus the sum of
    ``gradients[c]`` times the policy.
    """

    policy: Floats
    """(G, G, K)"""
    pool: Matrix
    """(n, G, G)"""
    gradients: Singles
    """(n, G * G, K), counterfactual values at the policy where each model was last taken."""
    constants: Floats
    """(n,)"""
    reach: Singles
    """(n, G * G), reach probability of every cell at the same policy."""
    weights: Floats
    """(n,), weight of each counter in the last step."""
    used: NDArray[np.int64]
    """(n,), iteration in which each counter last had weight."""
    worst: Floats
    """(), largest win rate of any counter of the pool against the policy, by the models."""
    step_size: Floats
    """(), of the next step, in logits per win probability."""
    recent: Floats
    """(G, G, K), average of the policies of recent iterations."""
    trails: Matrix
    """(t, G, G), where the trails are."""
    kicks_left: NDArray[np.int64]
    """(t,), kicks that each has left; negative where it is to begin."""
    iteration: NDArray[np.int64]
    """()"""


class Move(NamedTuple):
    """Result of one proximal step."""

    policy: Floats
    """(G, G, K)"""
    weights: Floats
    """(m,), of the counters."""
    infoset_reach: Floats
    """(G * G,), weights of the rows in the divergence."""


@solver("bundle")
@parameters
class ProximalBundle(Solver[BundleState]):
    """Descend the largest win rate that any counter-matrix has against the policy.

    The win rate against one counter is linear in each row of the policy, with counterfactual
    values for its gradient. Each iteration moves to the policy that does best against the worst
    of the linear models of a pool of counters, held near the current policy by a Kullback-Leibler
    divergence that weights rows by reach; responds to it; and adds the responses to the pool. The
    policy is kept if it is better by a share of what the models predicted; if not, the pool
    has better models all the same. This is the proximal bundle method (Kiwiel, Proximity control
    in bundle methods for convex nondifferentiable minimization, 1990, algorithm 2.1) with the
    divergence of mirror descent for its distance. No theorem covers this game, where the win rate
    is linear in one row but not in all together: the method ends in a local minimum that depends on
    its start, and only an attack can measure how good that is.

    With `sharpen` entropy has a price, which rises from iteration to iteration: what is minimised
    is the largest win rate plus the price times the entropies of the rows, weighted by reach.
    Entropy is concave, so its tangent at the current policy is an upper bound; with the tangent in
    its place, a step is an ordinary step from a power of the policy, normalised. Rows become pure
    one by one, those first where mixing matters least, while the others adapt.

    Attributes
    ----------
    step_size : float
        First step size, in logits per win probability; it adapts.
    least_gain : float
        Least share of the predicted gain that a step must reach to be kept.
    pool_size : int
        Most counters in the pool; those without weight for longest are dropped.
    responses : int
        Responses annealed in each iteration, from near the policy and at random in turn.
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
        (:mod:`hogeq.response.trails`).
    kicks : int
        Kicks of each trail in an iteration.
    life : int
        Kicks after which a trail ends and another begins.
    largest_step : float
        Largest step size. A small one helps late, when each step answers some counters and is
        beaten by others: then policies only wander about the best one.
    averaging : {"last", "recent"}
        What `average` returns: the current policy, the best so far, or the average over recent
        iterations, which with trails is harder to attack.
    window : int
        The average is the mean of so many iterations at first; then each new policy is one part
        in so many of it.
    floor : float
        Least probability of a roll, so that none is lost for good; not used while sharpening.
    sharpen : float
        Rise of the price of entropy in an iteration, in win probability per nat.
    start : str
        Strategy file to begin with; by default the average of a hundred iterations of self-play
        (discounted CFR), from which it ends lower than from the uniform policy.
    counters : str
        File of counters that the pool starts with
        (:func:`hogeq.response.counters.read_counters`). While sharpening those help that a search
        for a matrix met before: they win little from a mixed policy, and are not found near it.
    seed : int
        Seed of the responses' starts.
    """

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
    averaging: Literal["last", "recent"] = "last"
    window: Count = 30
    floor: Annotated[float, Field(gt=0, lt=0.05)] = 1e-5
    sharpen: NotNegative = 0.0
    start: str = ""
    counters: str = ""
    seed: Seed = 0

    def init(self, game: Game) -> BundleState:
        """State before the first iteration.

        Raises
        ------
        OSError, ValueError
            A file of `start` or `counters` cannot be read, or holds nothing of this game.
        """
        policy = self._first_policy(game)
        rows, rolls = policy.size // policy.shape[-1], policy.shape[-1]
        state = BundleState(
            policy,
            np.zeros((0, *policy.shape[:-1]), np.int8),
            np.zeros((0, rows, rolls), np.float32),
            np.zeros(0),
            np.zeros((0, rows), np.float32),
            np.zeros(0),
            np.zeros(0, np.int64),
            np.array(1.0),
            np.array(self.step_size),
            policy.copy(),
            *no_trails(game, self.trails, self.life),
            np.array(0, np.int64),
        )
        if not self.counters:
            return state
        read = read_counters(Path(self.counters), game)
        known = list({matrix.tobytes(): matrix for matrix in read}.values())
        cuts = compute(partial(cut, Against(game, policy[None], None)), known)
        counters = Counters.of(state).renewed(np.zeros(0, np.int64), known, cuts, 0, len(known))
        state = state._replace(**counters._asdict())
        return state._replace(worst=np.array(win_rates(state, policy).max()))

    def step(self, game: Game, state: BundleState) -> BundleState:
        """Step from the policy, respond to where it leads, and keep it if it is better."""
        iteration = int(state.iteration) + 1
        price = self.sharpen * iteration
        trial, weights, infoset_reach = self._move(state, price)
        modelled = win_rates(state, trial)
        promised = modelled.max(initial=0.0)
        saved = price * float(infoset_reach @ (entropies(state.policy) - entropies(trial)))

        # Models that shaped the step and predicted its outcome badly are taken anew.
        shaping = np.flatnonzero(weights > SHAPING)
        trusted = TRUSTED * max(float(state.worst) - promised + saved, 0.0) + ALIVE
        trails = Trails(state.trails, state.kicks_left)
        searched = search(
            Against(game, trial[None], None),
            OF_POLICY,
            self._starts(game, state, trial, weights, iteration),
            due(trails, self.kicks, (self.seed, iteration)),
            state.pool,
            np.argsort(-modelled, kind="stable")[: CROSSED if self.trails else 0],
            [Check(state.pool[one], float(modelled[one]), trusted) for one in shaping],
        )
        trails = after(trails, searched.reached, self.kicks, self.life)
        state = state._replace(trails=trails.matrices, kicks_left=trails.left)
        checked, cuts = searched.checked, searched.cuts
        reached = max(
            promised, checked.rates.max(initial=0.0), *(1.0 - float(one.won) for one in cuts), 0.0
        )

        used = np.where(weights > ALIVE, iteration, state.used)
        state = state._replace(weights=weights, used=used)
        counters = Counters.of(state).renewed(
            shaping[checked.failed], searched.responses, cuts, iteration, self.pool_size
        )
        state = state._replace(**counters._asdict())
        worst = float(win_rates(state, state.policy).max())
        gain = worst - promised + saved
        kept = worst - reached + saved >= self.least_gain * gain
        misled = checked.errors.max(initial=0.0) > 0.25 * abs(gain)
        factor = 0.5 if misled else 1.25 if kept else 0.93
        step_size = min(max(LEAST_STEP, factor * float(state.step_size)), self.largest_step)
        state = state._replace(
            policy=trial if kept else state.policy,
            worst=np.array(reached if kept else worst),
            step_size=np.array(step_size),
            iteration=np.array(iteration, np.int64),
        )
        state.recent[...] += (state.policy - state.recent) / min(iteration, self.window)
        return state

    def average(self, game: Game, state: BundleState) -> Floats:  # noqa: ARG002
        """Policy (G, G, K): the best so far, or the average over recent iterations."""
        return (state.policy if self.averaging == "last" else state.recent).copy()

    def stats(self, game: Game, state: BundleState) -> dict[str, float]:  # noqa: ARG002
        """Largest win rate of a known counter, and how many shaped the last step."""
        return {
            "responder_win": float(state.worst),
            "support": float((state.weights > SHAPING).sum()),
        }

    def _first_policy(self, game: Game) -> Floats:
        uniform = np.full(game.shape, 1.0 / game.shape[-1])
        if self.start:
            from hogeq.strategies.read import read_strategy

            table = read_strategy(Path(self.start), game.goal, game.rules.max_dice)
            return (1.0 - SOFTENED) * policy_of(game, table) + SOFTENED * uniform
        return 0.7 * self_played(game) + 0.3 * uniform

    def _move(self, state: BundleState, price: float) -> Move:
        """Take one proximal step."""
        rows = state.policy.reshape(-1, state.policy.shape[-1])
        if len(state.pool) == 0:
            return Move(state.policy, np.zeros(0), np.zeros(len(rows)))
        logits = (1.0 + price * float(state.step_size)) * np.log(rows)
        logits -= np.logaddexp.reduce(logits, axis=1, keepdims=True)
        floor = LEAST_FLOOR if price > 0.0 else self.floor

        def step(active: NDArray[np.int64], begun: Floats) -> tuple[Move, Floats]:
            infoset_reach = np.maximum(
                state.reach[active].mean(axis=0, dtype=np.float64), LEAST_REACH
            )
            found = proximal_step(
                logits,
                state.gradients[active],
                state.constants[active],
                infoset_reach,
                float(state.step_size),
                begun[active] + len(active) ** -2.0,
                CURVED,
                floor,
            )
            moved = np.maximum(found.policy, floor)
            moved /= moved.sum(axis=1, keepdims=True)
            weights = np.zeros(len(state.pool))
            weights[active] = found.weights
            moved = moved.reshape(state.policy.shape)
            return Move(moved, weights, infoset_reach), win_rates(state, moved)

        return step_against_few(state.weights, win_rates(state, state.policy), step)

    def _starts(
        self, game: Game, state: BundleState, policy: Floats, weights: Floats, iteration: int
    ) -> list[Start]:
        """List the starts of responses to a policy."""
        random = np.random.default_rng([self.seed, iteration])
        depth = Depth.of(iteration, self.deep_every, self.responder_steps, self.responder_sweeps)
        return [
            Start(policy, depth.sweeps),
            *annealed(game, policy, self.responses, depth, random),
            *ascents(state.pool, weights, self.ascents, depth.sweeps),
        ]


def win_rates(state: BundleState, policy: Floats) -> Floats:
    """Modelled win rate of every counter against a policy: float64 (n,)."""
    gradients = state.gradients.reshape(len(state.pool), policy.size)
    return 1.0 - (state.constants + gradients @ policy.reshape(-1).astype(gradients.dtype))


def entropies(policy: Floats) -> Floats:
    """Entropy of every row in nats, float64 (G * G,), of a policy (G, G, K) without zeros."""
    rows = policy.reshape(-1, policy.shape[-1])
    return -(rows * np.log(rows)).sum(axis=1)
