"""Proximal bundle method: minimise the largest win rate of a growing pool of counter-matrices."""

from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.model.protocol import Engine
from hogeq.search.counter_search import no_trails
from hogeq.solvers.base import solver
from hogeq.solvers.bundles import SHAPING, BundleMethod, Point, self_played
from hogeq.solvers.cuts import OF_POLICY, Counters, Modelling
from hogeq.strategies.strategy import policy_of
from hogeq.support.aliases import Floats, Matrix, Singles
from hogeq.support.parameters import NotNegative, parameters

SOFTENED = 1e-3  # share of the uniform policy in a start from a file
UNIFORM = 0.3  # the same in a start from self-play
ALONE = np.ones(1)


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

    def _first_policy(self, game: Engine) -> Floats:
        uniform = np.full(game.shape, 1.0 / game.shape[-1])
        if self.start:
            from hogeq.strategies.read import read_strategy

            table = read_strategy(Path(self.start), game.shape[0], game.num_actions - 1)
            return (1.0 - SOFTENED) * policy_of(game, table) + SOFTENED * uniform
        return (1.0 - UNIFORM) * self_played(game) + UNIFORM * uniform

    def _point(self, state: BundleState) -> Point:
        return Point(state.policy[None], ALONE)

    def _moved(self, state: BundleState, point: Point) -> BundleState:
        return state._replace(policy=point.parts[0])

    def _remember(self, state: BundleState, share: float) -> None:
        state.recent[...] += share * (state.policy - state.recent)

    def _models(self, state: BundleState) -> Counters:
        return Counters(
            state.pool,
            state.gradients[:, None],
            state.constants[:, None],
            state.reach[:, None],
            state.weights,
            state.used,
        )

    def _price(self, iteration: int) -> float:
        return self.sharpen * iteration

    def _logits(self, parts: Floats, raised: float) -> Floats:
        logits = raised * np.log(parts)
        return np.asarray(logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True))
