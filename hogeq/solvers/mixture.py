"""CFR-BR in the space of mixtures: several parts against responders to all of them together."""

from functools import partial
from typing import Annotated, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from hogeq.evaluation.mixtures import policy_of_mixture
from hogeq.model.many import ManyWorkspace, quick_many
from hogeq.model.protocol import Engine
from hogeq.model.workspace import Role
from hogeq.search.ascent import random_policy, to_matrix
from hogeq.search.counter_search import run
from hogeq.solvers.base import Solver, solver
from hogeq.solvers.cfr_br import INERTIA, newcomers, responder_weights
from hogeq.strategies.arrays import match_regrets, normalised, one_hot, row_sums
from hogeq.strategies.strategy import Mixture, Strategy
from hogeq.support.aliases import Floats, Matrix
from hogeq.support.messages import refusal
from hogeq.support.parameters import Count, PositiveShare, Seed, parameters
from hogeq.support.workers import compute


class MixtureState(NamedTuple):
    """State of a run of n parts against R responders."""

    regrets: Floats
    """(n, G, G, K), of each part for its rolls."""
    draw_regrets: Floats
    """(n,), of the draw for the parts."""
    older: Floats
    """(n, G, G, K), sum of policies weighted by reach, over the last complete window."""
    recent: Floats
    """(n, G, G, K), the same over the current window."""
    older_draws: Floats
    """(n,), sum of the weights of the parts, over the last complete window."""
    recent_draws: Floats
    """(n,), the same over the current window."""
    counters: Matrix
    """(R, G, G), the responders' matrices."""
    win_rates: Floats
    """(R,), of the responders against the last mixture."""
    iteration: NDArray[np.int64]
    """()"""


class MixtureResponse(NamedTuple):
    """Response of one responder to a mixture."""

    counter: Matrix
    """(G, G)"""
    win_rates: Floats
    """(n,), of the counter against each part."""
    values: Floats
    """(n, G, G, K), counterfactual values of each part's rolls against the counter."""
    infoset_reach: Floats
    """(n, G, G), reach of each part's cells."""


@solver("mixture")
@parameters
class MixtureSolver(Solver[MixtureState]):
    """Regret matching+ in the parts of a mixture, against responders to the whole.

    As `cfr_br`, but the policy is a mixture of several, of which one is drawn before a game. The
    responders improve by coordinate ascent against the mixture, each cell exactly; none is told
    what was drawn. Every part has regrets of its own, and meets the same responders, weighted as in
    `cfr_br`; the weights of the parts are matched to regrets as well. The parts start from random
    policies, or they would stay alike.

    Attributes
    ----------
    parts : int
        Number of policies in the mixture, 1 to 64: a file of more, at full size, is not read.
    responders : int
        Responders in the population, 1 to 100,000. More parts need more.
    newcomers : int
        Number of responders replaced in every iteration, the weakest.
    responder_steps : int
        Steps of annealing of a new responder, or most sweeps of its ascent after a perturbation.
    responder_sweeps : int
        Most sweeps of the ascent of the others.
    damping : float
        Share of the way to the softmax that a step goes.
    averaging : {"last", "window"}
        What `mixture` returns: the current policies and weights, or their averages over the last
        complete window and the current one, part by part.
    window : int
        Length of a window, in iterations. The first ones are shorter and end after iterations 1, 2,
        4 and so on, so that random starts are soon forgotten.
    seed : int
        Seed of the parts' and the responders' starts.
    """

    parts: Annotated[Count, Field(le=64)] = 4
    responders: Annotated[Count, Field(le=10**5)] = 48
    newcomers: Count = 4
    responder_steps: Count = 20
    responder_sweeps: Count = 1
    damping: PositiveShare = 0.6
    averaging: Literal["last", "window"] = "window"
    window: Count = 50
    seed: Seed = 0

    def __post_init__(self) -> None:
        """Refuse parameters that contradict each other."""
        if self.newcomers > self.responders:
            allowed = f"whole numbers from 1 to responders, which is {self.responders}"
            raise ValueError(refusal("newcomers", self.newcomers, allowed))

    def init(self, game: Engine) -> MixtureState:
        """State before the first iteration: random parts, equally likely."""
        random = np.random.default_rng(self.seed)
        work = game.workspace(2)
        regrets = np.zeros((self.parts, *game.shape))
        for part in regrets:
            policy = random_policy(game, random)
            reach = work.cell_reach(np.stack([policy, policy]))
            part[:] = INERTIA * reach[..., None] * policy
        shape = (self.responders, *game.shape[:-1])
        return MixtureState(
            regrets,
            np.zeros(self.parts),
            np.zeros_like(regrets),
            np.zeros_like(regrets),
            np.zeros(self.parts),
            np.zeros(self.parts),
            random.integers(game.shape[-1], size=shape, dtype=np.int8),
            np.zeros(self.responders),
            np.array(0, np.int64),
        )

    def step(self, game: Engine, state: MixtureState) -> MixtureState:
        """Improve the responders, and update every part and the weights against them."""
        iteration = int(state.iteration) + 1
        policies, weights = match_regrets(state.regrets), match_regrets(state.draw_regrets)
        order = np.argsort(-state.win_rates, kind="stable")
        kept = state.counters[order[: self.responders - self.newcomers]]
        # What takes long goes to any workers; one sweep and one pass are done before they would be.
        drawn = Strategy("mixture", policies.copy(), weights.copy(), game.shape)
        parents = state.counters[order[: self.newcomers]]
        searches = newcomers(self, game, drawn.mean, parents, iteration)
        found = [search.matrix for search in compute(partial(run, game, drawn), searches)]
        work = partial(_valued, game, policies, weights)
        responses = [
            *compute(partial(work, 0), found, local=True),
            *compute(partial(work, self.responder_sweeps), kept, local=True),
        ]
        rates = np.array([response.win_rates for response in responses])
        win_rates = rates @ weights
        shares = responder_weights(win_rates)
        values, infoset_reach = np.zeros(state.regrets.shape), np.zeros(state.regrets.shape[:-1])
        for share, response in zip(shares, responses, strict=True):
            values += share * response.values
            infoset_reach += share * response.infoset_reach
        state.regrets[...] += values - row_sums(values * policies)[..., None]
        np.maximum(state.regrets, 0.0, out=state.regrets)
        won = 1.0 - shares @ rates
        draws = np.maximum(state.draw_regrets + won - weights @ won, 0.0)
        state.recent[...] += infoset_reach[..., None] * policies
        recent_draws = state.recent_draws + weights
        older_draws = state.older_draws
        if iteration % self.window == 0 or iteration in self._first_windows():
            state.older[...] = state.recent
            state.recent[...] = 0.0
            older_draws, recent_draws = recent_draws, np.zeros(self.parts)
        return state._replace(
            draw_regrets=draws,
            older_draws=older_draws,
            recent_draws=recent_draws,
            counters=np.array([response.counter for response in responses]),
            win_rates=win_rates,
            iteration=np.array(iteration, np.int64),
        )

    def mixture(self, game: Engine, state: MixtureState) -> Mixture:  # noqa: ARG002
        """Mixture after the iterations so far, averaged as `averaging` says."""
        return Mixture(*self._drawn(state))

    def _drawn(self, state: MixtureState) -> tuple[Floats, Floats]:
        """Weights and policies after the iterations so far."""
        policies, weights = match_regrets(state.regrets), match_regrets(state.draw_regrets)
        if self.averaging == "window":
            policies = normalised(state.older + state.recent, policies)
            weights = normalised((state.older_draws + state.recent_draws)[None], weights[None])[0]
        return weights, policies

    def average(self, game: Engine, state: MixtureState) -> Floats:
        """Policy (G, G, K): the mixture's parts, weighted by their reach.

        Under imperfect recall the mixture itself is a different strategy, and a better one.
        """
        return policy_of_mixture(game, *self._drawn(state))

    def stats(self, game: Engine, state: MixtureState) -> dict[str, float]:  # noqa: ARG002
        """Average regret per iteration, the strongest responder's win rate, the parts drawn."""
        weights = match_regrets(state.draw_regrets)
        regret = float(weights @ state.regrets.max(axis=-1).sum(axis=(1, 2)))
        return {
            "average_regret": regret / max(1, int(state.iteration)),
            "responder_win": float(state.win_rates.max()),
            "drawn": float(np.exp(-np.sum(weights * np.log(np.maximum(weights, 1e-300))))),
        }

    def _first_windows(self) -> list[int]:
        return [2**power for power in range(self.window.bit_length()) if 2**power < self.window]


def _ascend(work: ManyWorkspace, policy: Floats, sweeps: int) -> None:
    for _ in range(sweeps):
        work.forward(policy)
        if not work.backward(policy, Role.ASCEND).changes:
            break


def _valued(
    game: Engine, policies: Floats, weights: Floats, sweeps: int, counter: Matrix
) -> MixtureResponse:
    """Let a responder ascend, and value the rolls of every part against it."""
    work = quick_many(game, len(policies))
    work.face(policies, weights)
    policy = one_hot(counter, game.num_actions)
    _ascend(work, policy, sweeps)
    work.face(policy)
    work.forward(policies)
    met = work.backward(policies.copy(), Role.COUNTERFACTUAL)
    return MixtureResponse(
        to_matrix(policy), 1.0 - met.win_rates, work.each.copy(), work.each_reach.copy()
    )
