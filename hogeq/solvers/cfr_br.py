"""CFR-BR: a regret minimiser against a best responder (Johanson et al. 2012)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.evaluate import RegretWeight, counterfactual_values, shared_workspace
from hogeq.game import Game
from hogeq.limits import check
from hogeq.respond import anneal, ascend, harden
from hogeq.solvers.matching import match_regrets, normalised

Floats = NDArray[np.float64]


class CFRBRState(NamedTuple):
    """Everything a run knows."""

    regrets: Floats
    """(G, G, K)"""
    linear_sum: Floats
    """(G, G, K), policies by reach and iteration."""
    older: Floats
    """(G, G, K), policies by reach, of the last whole window."""
    recent: Floats
    """(G, G, K), the same of the window that has begun."""
    fixed: NDArray[np.int8]
    """(G, G), roll to which a cell has been rounded, -1 while it is mixed."""
    responder_win: Floats
    """(), win rate of the last responder."""
    iteration: NDArray[np.int64]
    """()"""


@dataclass(frozen=True)
class CFRBR:
    """Regret matching+ against an annealed best responder.

    The responder is found anew in every iteration: a softmax response cooled from `hot` to `cold`,
    then hardened and improved by coordinate ascent.  Where the best response is exact and recall
    perfect, the current strategy converges with high probability (Johanson et al. 2012,
    theorem 4); here neither holds, so all three readings of the run are kept.

    With `round_from` the policy is turned into a matrix on the way (progressive rounding): from
    that iteration on, every `round_every` iterations the surest `round_share` of the cells still
    mixed are fixed to their best roll, while regrets go on adapting the others.

    Attributes
    ----------
    responder_steps : int
        Steps of cooling.
    responder_sweeps : int
        Sweeps of coordinate ascent at most.
    hot, cold : float
        Temperatures, in win probability.
    damping : float
        Share of the way to the softmax that a step goes.
    averaging : {"last", "window", "linear"}
        What `average` returns: the current policy, the average over the last one to two windows,
        or that over all iterations weighted by their number.
    window : int
        Iterations.
    regret_weight : {"reach", "counterfactual", "belief"}
        See :mod:`hogeq.solvers.regret`.
    round_from : int
        Iteration at which rounding begins; 0 for never.
    round_every : int
        Iterations between two roundings.
    round_share : float
        Share of the mixed cells that each of them fixes, at least one cell.
    """

    responder_steps: int = 14
    responder_sweeps: int = 1
    hot: float = 0.03
    cold: float = 3e-4
    damping: float = 0.6
    averaging: Literal["last", "window", "linear"] = "window"
    window: int = 50
    regret_weight: RegretWeight = "reach"
    round_from: int = 0
    round_every: int = 10
    round_share: float = 0.05

    def __post_init__(self) -> None:
        """Refuse parameters that mean nothing."""
        check(self, "responder_steps", "responder_sweeps", "window", "round_every", least=1)
        check(self, "hot", "cold", above=0)
        check(self, "cold", most=self.hot)
        check(self, "damping", "round_share", above=0, most=1)
        check(self, "round_from", least=0)

    def init(self, game: Game) -> CFRBRState:
        """State before the first iteration, whose strategy is uniform."""
        regrets, linear_sum, older, recent = (np.zeros(game.shape) for _ in range(4))
        fixed = np.full(game.shape[:-1], -1, np.int8)
        iteration = np.array(0, np.int64)
        return CFRBRState(regrets, linear_sum, older, recent, fixed, np.array(0.5), iteration)

    def restore(self, arrays: Mapping[str, Any]) -> CFRBRState:
        """State from saved arrays, by the names of its fields."""
        return CFRBRState(**{name: np.array(arrays[name]) for name in CFRBRState._fields})

    def step(self, game: Game, state: CFRBRState) -> CFRBRState:
        """One best response, and one update of every information set against it."""
        iteration = int(state.iteration) + 1
        rounds = iteration - self.round_from
        if self.round_from and rounds >= 0 and rounds % self.round_every == 0:
            self._round(state)
        policy = self._current(state)
        work = shared_workspace(game, 2)
        policies = np.stack([np.full_like(policy, 1.0 / policy.shape[-1]), policy])
        anneal(game, policies, self.responder_steps, self.damping, (self.hot, self.cold))
        harden(policies[0])
        rate, _ = ascend(work, policies, self.responder_sweeps)
        policies = policies[::-1].copy()
        found = counterfactual_values(work, policies, self.regret_weight)
        state.regrets[...] += found.values - (found.values * policy).sum(axis=-1, keepdims=True)
        np.maximum(state.regrets, 0.0, out=state.regrets)
        visits = found.mass[..., None] * policy
        state.linear_sum[...] += iteration * visits
        state.recent[...] += visits
        if iteration % self.window == 0:
            state.older[...] = state.recent
            state.recent[...] = 0.0
        return state._replace(responder_win=np.array(rate), iteration=np.array(iteration, np.int64))

    def average(self, game: Game, state: CFRBRState) -> Floats:  # noqa: ARG002
        """Policy (G, G, K) that the averaging asks for."""
        if self.averaging == "last":
            return self._current(state)
        if self.averaging == "window":
            return normalised(state.older + state.recent, self._current(state))
        return normalised(state.linear_sum, self._current(state))

    def stats(self, game: Game, state: CFRBRState) -> dict[str, float]:  # noqa: ARG002
        """Average regret per iteration, and the last responder's win rate."""
        regret = float(state.regrets.max(axis=-1).sum())
        return {
            "average_regret": regret / max(1, int(state.iteration)),
            "responder_win": float(state.responder_win),
        }

    def _current(self, state: CFRBRState) -> Floats:
        policy = match_regrets(state.regrets)
        rounded = state.fixed >= 0
        policy[rounded] = np.eye(policy.shape[-1])[state.fixed[rounded]]
        return policy

    def _round(self, state: CFRBRState) -> None:
        """Fix the surest of the cells still mixed, judged by the windowed average."""
        mixed = np.argwhere(state.fixed < 0)
        if len(mixed) == 0:
            return
        average = normalised(state.older + state.recent)
        sure = average[tuple(mixed.T)].max(axis=-1)
        count = max(1, round(self.round_share * len(mixed)))
        chosen = tuple(mixed[np.argsort(-sure, kind="stable")[:count]].T)
        state.fixed[chosen] = average[chosen].argmax(axis=-1)
