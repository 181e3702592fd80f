"""What a run measures of its strategies: on the way, and at the end."""

from typing import Final, NamedTuple

import numpy as np

from hogeq.evaluation.counterfactual import kkt_gap
from hogeq.model.game import HogEngine
from hogeq.purification import argmax
from hogeq.runs.config import MeasureConfig
from hogeq.runs.metrics import Metrics
from hogeq.search.attack import SearchBudget, attack
from hogeq.search.bounds import Interval, full_memory_bound, upper_bound
from hogeq.strategies.strategy import Mixture, Strategy, StrategyLike
from hogeq.support.aliases import Matrix, Policy
from hogeq.support.progress import Phase, phase
from hogeq.trees.engine import TreeEngine

KERNELS: Final = "search", "policies", "full memory", "reach", "hidden states"
"""What a run needs of :data:`hogeq.model.compiling.PARTS`, whatever its solver."""


class Strategies(NamedTuple):
    """What a solver gives."""

    policy: Policy
    mixture: Mixture | Strategy | None


def measured(
    game: HogEngine | TreeEngine,
    strategies: Strategies,
    budget: SearchBudget,
    *,
    iteration: int,
    seconds: float,
    average_regret: float,
) -> Metrics:
    """Measure what a solver gives on the way."""
    on_mixture, mixture_bound = np.nan, np.nan
    with phase("measuring", 2 + (strategies.mixture is not None), "strategies") as progress:
        if strategies.mixture is not None:
            progress.now("the mixture")
            on_mixture = attack(game, strategies.mixture, budget).win_rate
            mixture_bound = full_memory_bound(game, strategies.mixture)
            progress.step()
        progress.now("the average policy")
        on_policy = attack(game, strategies.policy, budget).win_rate
        progress.step(doing="its matrix")
        matrix = argmax(game, strategies.policy)  # what searches for a better one is for the end
        return Metrics(
            iteration=iteration,
            seconds=seconds,
            attack=on_policy,
            bound=full_memory_bound(game, strategies.policy),
            average_regret=average_regret,
            kkt_gap=kkt_gap(game, strategies.policy),
            purified_attack=attack(game, matrix, budget).win_rate,
            mixture_attack=on_mixture,
            mixture_bound=mixture_bound,
        )


class Concluded(NamedTuple):
    """What a run comes to."""

    average: Interval
    matrix: Interval
    mixture: Interval | None
    budget: SearchBudget


def concluded(
    game: HogEngine | TreeEngine,
    measure: MeasureConfig,
    strategies: Strategies,
    matrix: Matrix,
    last: Metrics,
    progress: Phase,
) -> Concluded:
    """Attack for the last time."""
    final = measure.final_attack
    budget = final or measure.attack
    measured_before = np.array_equal(matrix, argmax(game, strategies.policy))

    def interval(
        name: str,
        strategy: StrategyLike,
        before: float,
        bound: float,
        again: bool,
    ) -> Interval:
        if not again:
            return Interval(before, bound, budget)
        progress.now(f"final attack on the {name}")
        response = attack(game, strategy, budget)
        # Both are true lower bounds; a search may be unlucky, and the better one counts.
        return Interval(max(before, response.win_rate), bound, budget, response.saturation)

    again = final is not None or not measured_before
    average = interval("average policy", strategies.policy, last.attack, last.bound, again)
    progress.step()
    before = last.purified_attack if measured_before else 0.0
    of_matrix = interval("matrix", matrix, before, full_memory_bound(game, matrix), again)
    of_mixture = None
    if strategies.mixture is not None:
        progress.now("the mixture")
        bound = full_memory_bound(game, strategies.mixture)
        if isinstance(game, HogEngine):
            bound = upper_bound(game, strategies.mixture)
        before = last.mixture_attack
        of_mixture = interval("mixture", strategies.mixture, before, bound, final is not None)
    return Concluded(average, of_matrix, of_mixture, budget)
