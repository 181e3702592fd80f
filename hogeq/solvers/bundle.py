"""Proximal bundle methods: minimise the largest win rate of a growing pool of counters."""

from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from hogeq.evaluation.mixtures import policy_of_mixture
from hogeq.model.protocol import Engine
from hogeq.search.ascent import perturbed, random_policy
from hogeq.search.counter_search import PERTURBED_SHARES, CounterSearch, no_trails
from hogeq.solvers.base import solver
from hogeq.solvers.bundle_method import LEAST_WEIGHT, SHAPING, BundleMethod, Point, Trial
from hogeq.solvers.cuts import (
    OF_PARTS,
    OF_POLICY,
    Counters,
    Depth,
    Modelling,
    cut_of_parts,
    modelled,
)
from hogeq.solvers.regret import DiscountedCFR
from hogeq.strategies.strategy import Strategy, mixture_of_shape
from hogeq.support.aliases import Floats, Matrix, Singles
from hogeq.support.messages import refusal
from hogeq.support.parameters import Count, Natural, NotNegative, Share, parameters
from hogeq.support.workers import compute

SELF_PLAY: Final = 100  # iterations of the default start
SOFTENED: Final = 1e-3  # share of the uniform policy in a start from a file
UNIFORM: Final = 0.3  # the same in a start from self-play

BY_PART: Final = frozenset({"parts", "draw", "recent", "recent_draw"})
"""Arrays that grow with the number of parts."""


def self_played(game: Engine) -> Floats:
    """Policy (G, G, K) by a hundred iterations of discounted CFR, averaged."""
    solver = DiscountedCFR(average_weight="reach")
    state = solver.init(game)
    for _ in range(SELF_PLAY):
        state = solver.step(game, state)
    return solver.average(game, state)


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


@solver("bundle")
@parameters
class ProximalBundle(BundleMethod[BundleState]):
    """Descend the largest win rate that any counter-matrix has against the policy.

    With `sharpen` entropy has a price, which rises from iteration to iteration: what is minimised
    is the largest win rate plus the price times the entropies of the rows, weighted by reach.
    Entropy is concave, so its tangent at the current policy is an upper bound; with the tangent in
    its place, a step is an ordinary step from a power of the policy, normalised. Rows become pure
    one by one, those first where mixing matters least, while the others adapt. Counters that a
    search for a matrix met before help then (`counters`): they win little from a mixed policy, and
    are not found near it. `floor` is not used.

    Attributes
    ----------
    sharpen : float
        Rise of the price of entropy in an iteration, in win probability per nat.
    """

    GROWS: ClassVar = frozenset(Counters._fields)
    MODELLING: ClassVar[Modelling] = OF_POLICY

    sharpen: NotNegative = 0.0

    def init(self, game: Engine) -> BundleState:
        """State before the first iteration."""
        uniform = np.full(game.shape, 1.0 / game.shape[-1])
        if self.start:
            from hogeq.strategies.files import read_strategy

            read = read_strategy(Path(self.start), game.shape[0], game.num_actions - 1)
            policy = read.unmixed(self.start).policy
            policy = (1.0 - SOFTENED) * policy + SOFTENED * uniform
        else:
            policy = (1.0 - UNIFORM) * self_played(game) + UNIFORM * uniform
        state = BundleState(
            policy,
            *Counters.none(game),
            np.array(1.0),
            np.array(self.step_size),
            policy.copy(),
            *no_trails(game, self.trails, self.life),
            np.array(0, np.int64),
        )
        return self._begun(game, state)

    def average(self, game: Engine, state: BundleState) -> Floats:  # noqa: ARG002
        """Policy (G, G, K): the best so far, or the average over recent iterations."""
        return (state.policy if self.averaging == "last" else state.recent).copy()

    def stats(self, game: Engine, state: BundleState) -> dict[str, float]:  # noqa: ARG002
        """Largest win rate of a known counter, and how many shaped the last step."""
        return {
            "responder_win": float(state.worst),
            "support": float((state.weights > SHAPING).sum()),
        }

    def _point(self, state: BundleState) -> Point:
        return Point(state.policy[None], np.ones(1))

    def _recent(self, state: BundleState) -> Point:
        return Point(state.recent[None], np.ones(1))

    def _moved(self, state: BundleState, point: Point) -> BundleState:
        return state._replace(policy=point.parts[0])

    def _price(self, iteration: int) -> float:
        return self.sharpen * iteration

    def _logits(self, parts: Floats, raised: float) -> Floats:
        logits = raised * np.log(parts)
        return np.asarray(logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True))


class MixtureBundleState(NamedTuple):
    """State of a run; n is the number of components, m of the counter-matrices in the pool.

    The win rate of component p against counter c is modelled as ``constants[c, p]`` plus the sum of
    ``gradients[c, p]`` times the component.
    """

    parts: Floats
    """(n, G, G, K)"""
    draw: Floats
    """(n,), weights of the components."""
    pool: Matrix
    """(m, G, G)"""
    gradients: Singles
    """(m, n, G * G, K), counterfactual values at the components where each model was last taken."""
    constants: Floats
    """(m, n)"""
    reach: Singles
    """(m, n, G * G), reach probability of every cell at the same components."""
    weights: Floats
    """(m,), weight of each counter in the last step."""
    used: NDArray[np.int64]
    """(m,), iteration in which each counter last had weight."""
    worst: Floats
    """(), largest win rate of any counter of the pool against the mixture, by the models."""
    step_size: Floats
    """(), of the next step, in logits per win probability."""
    recent: Floats
    """(n, G, G, K), average of the components over recent iterations."""
    recent_draw: Floats
    """(n,), the same of their weights."""
    trails: Matrix
    """(t, G, G), where the trails are."""
    kicks_left: NDArray[np.int64]
    """(t,), see :class:`hogeq.search.counter_search.Trails`."""
    watched: Floats
    """(2 p,), `worst` of the last iterations since a part was split, the newest last; before, 1."""
    iteration: NDArray[np.int64]
    """()"""


@solver("mixture_bundle")
@parameters
class MixtureBundle(BundleMethod[MixtureBundleState]):
    """Descend the largest win rate that any counter-matrix has against a mixture.

    As `bundle`, of several policies and their weights at once. The win rate against one counter is
    linear in the weights and in each row of each part. A step moves all of them to where the worst
    of the linear models is best, held near by a Kullback-Leibler divergence: rows weigh as much in
    it as play of their part reaches them, times the part's weight, and the draw weighs 1, as a row
    that every game reaches. Responders meet the whole mixture and are not told what was drawn.

    Parts begin apart, or they would stay alike, and they stay apart where that pays. With
    `patience` a mixture grows: it begins with one part, and when progress ends the likeliest part
    is split in two.

    Attributes
    ----------
    parts : int
        Number of policies in the mixture, 1 to 64: a file of more, at full size, is not read. Of a
        file of fewer the likeliest are split, at once or by `patience`.
    spread : float
        Share of a random policy in the start of every part, and of one that is split off.
    patience : int
        Iterations, p. When the worst known counters of the last p win on average no less than those
        of the p before, a part is split, until there are `parts`; 0: all are there from the first.
    perturbed : int
        Counters, drawn by weight, that are perturbed before a further response ascends from them,
        in up to three times as many sweeps.
    """

    GROWS: ClassVar = frozenset(Counters._fields) | BY_PART
    MODELLING: ClassVar[Modelling] = OF_PARTS

    parts: Annotated[Count, Field(le=64)] = 4
    spread: Share = 0.5
    patience: Natural = 0
    perturbed: Natural = 4

    def init(self, game: Engine) -> MixtureBundleState:
        """State before the first iteration."""
        parts, draw = self._first(game)
        random = np.random.default_rng(self.seed)
        parts = np.stack([self._apart(game, part, random) for part in parts])
        state = MixtureBundleState(
            parts,
            draw,
            *Counters.none(game, len(draw)),
            np.array(1.0),
            np.array(self.step_size),
            parts.copy(),
            draw.copy(),
            *no_trails(game, self.trails, self.life),
            np.ones(2 * self.patience),
            np.array(0, np.int64),
        )
        return self._begun(game, state)

    def step(self, game: Engine, state: MixtureBundleState) -> MixtureBundleState:
        """Step from the mixture, and let it grow when progress ends."""
        state = super().step(game, state)
        if not self.patience or len(state.draw) == self.parts:
            return state
        watched = np.append(state.watched[1:], state.worst)
        state = state._replace(watched=watched)
        earlier, lately = watched.reshape(2, self.patience).mean(axis=1)
        return self._split(game, state) if lately >= earlier else state

    def mixture(self, game: Engine, state: MixtureBundleState) -> Strategy:
        """Mixture: the best so far, or the average over recent iterations."""
        parts, draw = self._averaged(state)
        return mixture_of_shape(game.shape, draw, parts)

    def average(self, game: Engine, state: MixtureBundleState) -> Floats:
        """Policy (G, G, K): the mixture's parts, weighted by their reach.

        Under imperfect recall the mixture itself is a different strategy, and a better one.
        """
        parts, draw = self._averaged(state)
        return policy_of_mixture(game, draw, parts)

    def stats(self, game: Engine, state: MixtureBundleState) -> dict[str, float]:  # noqa: ARG002
        """Largest win rate of a known counter, how many shaped the last step, the parts drawn."""
        return {
            "responder_win": float(state.worst),
            "support": float((state.weights > SHAPING).sum()),
            "drawn": float(np.exp(-np.sum(state.draw * np.log(state.draw)))),
        }

    def _first(self, game: Engine) -> tuple[Floats, Floats]:
        """Parts and weights before they are spread."""
        if not self.start:
            number = 1 if self.patience else self.parts
            return np.stack([self_played(game)] * number), np.full(number, 1.0 / number)
        from hogeq.strategies.files import read_strategy

        read = read_strategy(Path(self.start), game.shape[0], game.num_actions - 1)
        parts, draw = list(read.policies), list(read.chances)
        if len(parts) > self.parts:
            allowed = f"of 1 to {self.parts} parts, as solver.parts says"
            raise ValueError(refusal("start", f"a mixture of {len(parts)}", allowed))
        while len(parts) < self.parts and not self.patience:
            largest = int(np.argmax(draw))
            draw[largest] /= 2.0
            draw.append(draw[largest])
            parts.append(parts[largest].copy())
        weights = np.maximum(draw, LEAST_WEIGHT)
        return np.stack(parts), weights / weights.sum()

    def _apart(self, game: Engine, part: Floats, random: np.random.Generator) -> Floats:
        """Part (G, G, K) to begin with, by `spread` away from the one given."""
        part = (1.0 - self.spread) * part + self.spread * random_policy(game, random)
        part = np.maximum(part, self.floor)
        return part / part.sum(axis=-1, keepdims=True)

    def _split(self, game: Engine, state: MixtureBundleState) -> MixtureBundleState:
        """State after half of the likeliest part's weight went to a new part, near it."""
        likeliest = int(state.draw.argmax())
        random = np.random.default_rng([self.seed, int(state.iteration), len(state.draw)])
        part = self._apart(game, state.parts[likeliest], random)[None]
        halved = state.draw.copy()
        halved[likeliest] /= 2.0
        recent_halved = state.recent_draw.copy()
        recent_halved[likeliest] /= 2.0
        cuts = compute(partial(cut_of_parts, game, Strategy.unchecked(part[0])), list(state.pool))
        state = state._replace(
            parts=np.concatenate([state.parts, part]),
            draw=np.append(halved, halved[likeliest]),
            recent=np.concatenate([state.recent, part]),
            recent_draw=np.append(recent_halved, recent_halved[likeliest]),
            gradients=np.concatenate([state.gradients, [one.gradients for one in cuts]], axis=1),
            constants=np.concatenate([state.constants, [one.constants for one in cuts]], axis=1),
            reach=np.concatenate([state.reach, [one.reach for one in cuts]], axis=1),
            watched=np.ones_like(state.watched),
        )
        worst = (1.0 - modelled(Counters.of(state), state.parts) @ state.draw).max()
        return state._replace(worst=np.array(float(worst)))

    def _averaged(self, state: MixtureBundleState) -> Point:
        return self._point(state) if self.averaging == "last" else self._recent(state)

    def _point(self, state: MixtureBundleState) -> Point:
        return Point(state.parts, state.draw)

    def _recent(self, state: MixtureBundleState) -> Point:
        return Point(state.recent, state.recent_draw)

    def _moved(self, state: MixtureBundleState, point: Point) -> MixtureBundleState:
        return state._replace(parts=point.parts, draw=point.draw)

    def _starts(
        self,
        game: Engine,
        state: MixtureBundleState,
        trial: Trial,
        depth: Depth,
        random: np.random.Generator,
    ) -> list[CounterSearch]:
        starts = super()._starts(game, state, trial, depth, random)
        if len(trial.weights):
            longer = None if depth.deep else 3 * self.responder_sweeps
            chances = trial.weights / trial.weights.sum()
            for counter in random.choice(len(chances), self.perturbed, p=chances):
                matrix = perturbed(state.pool[counter], PERTURBED_SHARES, game.num_actions, random)
                starts.append(CounterSearch(matrix, sweeps=longer))
        return starts
