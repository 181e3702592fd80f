"""Ascent and annealing of a responder, by passes of a game: the parts of every search."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from hogeq.model.protocol import Engine, Passes, Role
from hogeq.model.shared import quick_workspace, shared_workspace
from hogeq.strategies.arrays import one_hot
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats, Matrix
from hogeq.support.deadline import FOREVER, Deadline

TEMPERATURES = (0.1, 1e-4)  # temperatures of the softmax responder, in win probability
WARM_TEMPERATURE = 5e-3  # first temperature of a start from the strategy itself
SWEEP_LIMIT = 1000  # of coordinate ascent, which has always ended in fewer than 60
LEAST_GAIN_OF_STAYING = 1e-12  # in win probability, for a change to a draw for ever to count
SINGLE_ERROR = 1e-6  # in win probability; single precision errs by a tenth of it
ANY_GAIN: Final = -1.0  # less than any gain: an ascent goes on whatever a sweep gains
ANY_RATE: Final = -1.0  # less than any win rate: an ascent goes on whatever it may reach
UNUSED_RANDOM: Final = np.random.default_rng(0)  # where nothing is left to chance


@dataclass
class SearchContext:
    """A responder to a strategy, and the passes by which a search improves it, in one thread."""

    game: Engine
    weights: Floats | None  # (n,), by which one of several opponents is drawn; None if it is one
    work: Passes  # the passes of the search
    policies: Floats  # (1 + n, G, G, K): the responder, changed in place, and its opponents
    random: np.random.Generator
    partners: Sequence[Matrix] = ()  # matrices (G, G) of other searches, to cross with
    roll: int = 0  # the roll of which a move by one roll makes more
    deadline: Deadline = FOREVER  # after which every part ends as soon as it can

    @classmethod
    def of(
        cls,
        game: Engine,
        strategy: Strategy,
        seed: Sequence[int] = (),
        partners: Sequence[Matrix] = (),
        deadline: Deadline = FOREVER,
    ) -> "SearchContext":
        """Prepare a search for a response to a strategy, in the precision of searches.

        Row 0 of the policies is not yet set. Without a seed nothing may be drawn.
        """
        weights = strategy.chances if len(strategy.chances) > 1 else None
        policies = np.concatenate([np.empty((1, *game.shape)), strategy.policies])
        work = quick_workspace(game, len(policies))
        random = np.random.default_rng(seed) if seed else UNUSED_RANDOM
        return cls(game, weights, work, policies, random, partners, deadline=deadline)

    def ascend(
        self,
        limit: int = SWEEP_LIMIT,
        least_gain: float = ANY_GAIN,
        to_beat: float = ANY_RATE,
        *,
        is_exact: bool = False,
    ) -> tuple[float, int]:
        """Coordinate ascent: make every row of the responder its best roll, sweep by sweep.

        A sweep is one pass over the table, in double precision if `is_exact`. The ascent ends after
        a sweep that changes nothing, is number `limit`, gains less than `least_gain`, could not
        reach the win rate `to_beat` by the same gain again, or ends after the deadline. Returns the
        win rate and the number of sweeps.
        """
        work = shared_workspace(self.game, len(self.policies)) if is_exact else self.work
        rate = -1.0
        for sweeps in range(1, limit + 1):
            reach = work.forward(self.policies, self.weights)
            swept = work.backward(reach, self.policies, Role.ASCEND)  # changes row 0 of them
            gain = swept.win_rate - rate
            rate = swept.win_rate
            is_hopeless = sweeps > 1 and rate + gain < to_beat
            if swept.changes == 0 or gain < least_gain or is_hopeless or self.deadline.is_over:
                return rate, sweeps
        return rate, limit

    def climb(self) -> tuple[float, int]:
        """Ascend to a local optimum, in the precision of searches first and then in double.

        Against one opponent the ascent is repeated while the responder gains by staying for ever at
        some position. Returns the win rate and the number of sweeps over the table.
        """
        total_sweeps = 0
        # Most sweeps are quick ones; the last, in double, finds the gains that were below rounding.
        if not self.deadline.is_over:
            _, total_sweeps = self.ascend(least_gain=SINGLE_ERROR)
        rate, sweeps = self.ascend(is_exact=True)
        total_sweeps += sweeps
        while len(self.policies) == 2 and self._stay_for_ever(rate):
            rate, sweeps = self.ascend(is_exact=True)
            total_sweeps += sweeps
        return rate, total_sweeps

    def _stay_for_ever(self, rate: float) -> bool:
        """Change one row so that both players stay at a position for ever, if that draw wins more.

        `rate` is the win rate of the responder. True if a row was changed.
        """
        # No sweep of an ascent finds such a change: to stay once is worth as much as to play on.
        # A cell is a pair of scores, and `row` its action probabilities, changed in place.
        for cell, staying_action in self.game.ways_to_stay(self.policies):
            row = self.policies[0][cell]
            row_before = row.copy()
            row[:] = np.arange(len(row)) == staying_action
            new_rate = shared_workspace(self.game, 2).win_rate(self.policies).win_rate
            if new_rate > rate + LEAST_GAIN_OF_STAYING:
                return True
            row[:] = row_before
        return False

    def anneal(
        self,
        steps: int,
        damping: float,
        cooling: tuple[float, float] = TEMPERATURES,
        progress: Callable[[], object] = lambda: None,
    ) -> None:
        """Anneal the responder by softmax steps, each a pass over the table.

        The temperature falls geometrically through `steps` values, from the first of `cooling` to
        the second. Each step moves every row by the share `damping` towards the softmax of its
        values, and calls `progress`.
        """
        for temperature in np.geomspace(*cooling, steps):
            if self.deadline.is_over:
                break
            reach = self.work.forward(self.policies, self.weights)
            self.work.backward(
                reach, self.policies, Role.SOFTMAX, temperature=temperature, damping=damping
            )
            progress()


def random_policy(game: Engine, random: np.random.Generator, concentration: float = 1.0) -> Floats:
    """Policy (G, G, K) whose rows are drawn from a Dirichlet distribution, uniform by default."""
    return random.dirichlet(np.full(game.num_actions, concentration), game.shape[:-1])


def log_uniform(random: np.random.Generator, limits: tuple[float, float]) -> float:
    """Draw a number whose logarithm is uniform between those of two limits."""
    return float(np.exp(random.uniform(*np.log(limits))))


def ith_start(
    game: Engine, target: Floats, start: int, random: np.random.Generator
) -> tuple[Floats, tuple[float, float]]:
    """Give the policy (G, G, K) from which annealing number `start` begins, and its temperatures.

    `target` (G, G, K) is the policy attacked. Start 0 is uniform, 1 is the target; later even
    numbers are random policies, odd ones the target blended with a random policy. The temperatures
    are the first and the last, in win probability.
    """
    # Far from equilibrium the best counter-strategies are found by cooling the uniform policy from
    # a high temperature; close to it, by cooling the target itself from a low one.
    if start == 0:
        return np.full_like(target, 1.0 / target.shape[-1]), TEMPERATURES
    if start == 1:
        return target.copy(), (WARM_TEMPERATURE, TEMPERATURES[1])
    noise = random_policy(game, random)
    if start % 2 == 0:
        first_temperature = log_uniform(random, (0.1 * TEMPERATURES[0], TEMPERATURES[0]))
        return noise, (first_temperature, TEMPERATURES[1])
    share = random.uniform(0.5, 1.0)
    blend = share * target + (1.0 - share) * noise
    first_temperature = log_uniform(random, (0.4 * WARM_TEMPERATURE, 4.0 * WARM_TEMPERATURE))
    return blend, (first_temperature, TEMPERATURES[1])


def to_pure(policy: Floats) -> None:
    """Make a policy pure, in place: every row makes its most probable roll, the lower on ties."""
    policy[:] = one_hot(policy.argmax(axis=-1), policy.shape[-1])


def with_random_rolls(
    matrix: Matrix, share: float, num_actions: int, random: np.random.Generator
) -> Matrix:
    """Matrix with random rolls in some cells, each chosen with chance `share`."""
    cells = random.random(matrix.shape) < share
    changed = matrix.copy()
    changed[cells] = random.integers(num_actions, size=int(cells.sum()))
    return changed
