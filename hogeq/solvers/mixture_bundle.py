"""The proximal bundle method, of several policies and how likely each is drawn."""

from functools import partial
from typing import Annotated

import numpy as np
from pydantic import Field

from hogeq.evaluation.counterfactual import policy_of_mixture
from hogeq.model.protocol import Engine
from hogeq.search.ascent import perturbed, random_policy
from hogeq.search.counter_search import PERTURBED_SHARES, CounterSearch
from hogeq.solvers.base import solver, start_of
from hogeq.solvers.bundle import BundleMethod, BundleState, counters_of, self_played
from hogeq.solvers.cuts import cut, modelled
from hogeq.solvers.proximal import LEAST_WEIGHT, Trial
from hogeq.strategies.strategy import Mixture, Strategy, strategy_of
from hogeq.support.aliases import Floats
from hogeq.support.messages import refusal
from hogeq.support.parameters import Count, Natural, Share, parameters
from hogeq.support.workers import compute


@solver("mixture_bundle")
@parameters
class MixtureBundle(BundleMethod):
    """Descend the largest win rate that any counter-matrix has against a mixture.

    As `bundle`, of several policies and their weights at once: in the divergence rows weigh as much
    as play of their part reaches them, times the part's weight, and the draw weighs 1, as a row
    that every game reaches. Responders meet the whole mixture and are not told what was drawn.

    Parts begin apart, or they would stay alike. With `patience` a mixture grows: it begins with one
    part, and when progress ends the likeliest part is split in two.

    Attributes
    ----------
    parts : int
        Policies in the mixture, 1 to 64. If `start` has fewer, the likeliest are split.
    spread : float
        Share of a random policy in the start of every part, and of one that is split off.
    patience : int
        Iterations over which the worst known counters are averaged: if they win no less than over
        as many before, a part is split, until there are `parts`. 0: all are there from the first.
    perturbed : int
        Counters, drawn by weight, that are perturbed before further responses ascend from them.
    """

    parts: Annotated[Count, Field(le=64)] = 4
    spread: Share = 0.5
    patience: Natural = 0
    perturbed: Natural = 4

    def init(self, game: Engine) -> BundleState:
        parts, draw = self._first(game)
        random = np.random.default_rng(self.seed)
        parts = np.stack([self._apart(game, part, random) for part in parts])
        return self._begun(game, parts, draw, self.patience)

    def step(self, game: Engine, state: BundleState) -> BundleState:
        """Step from the mixture, and let it grow when progress ends."""
        state = super().step(game, state)
        if not self.patience or len(state.draw) == self.parts:
            return state
        watched = np.append(state.watched[1:], state.worst)
        state = state._replace(watched=watched)
        earlier, lately = watched.reshape(2, self.patience).mean(axis=1)
        return self._split(game, state) if lately >= earlier else state

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
            number = 1 if self.patience else self.parts
            return np.stack([self_played(game)] * number), np.full(number, 1.0 / number)
        read = start_of(game, self.start)
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

    def _split(self, game: Engine, state: BundleState) -> BundleState:
        """State after half of the likeliest part's weight went to a new part, near it."""
        likeliest = int(state.draw.argmax())
        random = np.random.default_rng([self.seed, int(state.iteration), len(state.draw)])
        part = self._apart(game, state.parts[likeliest], random)[None]

        def halved(draw: Floats) -> Floats:
            halves = np.append(draw, draw[likeliest] / 2.0)
            halves[likeliest] /= 2.0
            return halves

        cuts = compute(partial(cut, game, Strategy.unchecked(part[0])), list(state.pool))
        state = state._replace(
            gradients=np.concatenate([state.gradients, [one.gradients for one in cuts]], axis=1),
            constants=np.concatenate([state.constants, [one.constants for one in cuts]], axis=1),
            reach=np.concatenate([state.reach, [one.reach for one in cuts]], axis=1),
            parts=np.concatenate([state.parts, part]),
            draw=halved(state.draw),
            recent=np.concatenate([state.recent, part]),
            recent_draw=halved(state.recent_draw),
            watched=np.ones_like(state.watched),
        )
        worst = (1.0 - modelled(counters_of(state), state.parts) @ state.draw).max()
        return state._replace(worst=np.array(float(worst)))

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
                matrix = perturbed(state.pool[counter], PERTURBED_SHARES, game.num_actions, random)
                starts.append(CounterSearch(matrix, sweeps=longer))
        return starts
