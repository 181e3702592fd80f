"""What a run measures on its way and comes to, and the files of it that others read."""

import dataclasses
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from hogeq import figures
from hogeq.evaluation.values import kkt_gap, reach, win_rate
from hogeq.model.game import HogEngine
from hogeq.purification import argmax
from hogeq.runs.config import Config, MeasureConfig
from hogeq.runs.files import (
    EXPLOITABILITY_PLOT,
    FINAL_STRATEGY,
    MATRIX,
    MATRIX_PLOT,
    MIXTURE,
    POLICY,
    Metrics,
    reported,
)
from hogeq.search.attack import SearchBudget, attack
from hogeq.search.bounds import Interval, full_memory_bound, upper_bound
from hogeq.strategies.files import write_strategy
from hogeq.strategies.strategy import StrategyLike, policies_of, strategy_of
from hogeq.support.aliases import Matrix, Policy
from hogeq.support.files import csv_text, write_arrays, write_whole
from hogeq.support.messages import counted
from hogeq.support.parameters import plain
from hogeq.support.progress import Phase, phase
from hogeq.trees.engine import TreeEngine

# --- measuring ------------------------------------------------------------------------------------


def schedule(iterations: int, every: int | Literal["log"]) -> list[int]:
    """List the iterations after which to measure, the last one always among them."""
    if every != "log":
        return [*range(every, iterations, every), iterations]
    moments, moment, following = [], 1, 2
    while moment < iterations:
        moments.append(moment)
        moment, following = following, moment + following
    return [*moments, iterations]


class Strategies(NamedTuple):
    """The strategies of a solver: its average policy, and its mixture if it looks for one."""

    policy: Policy
    mixture: StrategyLike | None


def measured(
    game: HogEngine | TreeEngine,
    strategies: Strategies,
    budget: SearchBudget,
) -> dict[str, float]:
    """Measure the strategies of an iteration: fields of `Metrics`."""
    on_mixture = mixture_bound = np.nan
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
        return {
            "attack": on_policy,
            "bound": full_memory_bound(game, strategies.policy),
            "kkt_gap": kkt_gap(game, strategies.policy),
            "purified_attack": attack(game, matrix, budget).win_rate,
            "mixture_attack": on_mixture,
            "mixture_bound": mixture_bound,
        }


def concluded(
    game: HogEngine | TreeEngine,
    measure: MeasureConfig,
    strategies: Strategies,
    matrix: Matrix,
    last: Metrics,
    progress: Phase,
) -> dict[str, Any]:
    """Attack for the last time: what a `RunSummary` says of each strategy."""
    final = measure.final_attack
    budget = final or measure.attack
    measured_before = np.array_equal(matrix, argmax(game, strategies.policy))

    def interval(
        name: str, strategy: StrategyLike, before: float, bound: float, again: bool
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
        if isinstance(game, HogEngine):
            bound = upper_bound(game, strategies.mixture)
        else:
            bound = full_memory_bound(game, strategies.mixture)
        before = last.mixture_attack
        of_mixture = interval("mixture", strategies.mixture, before, bound, final is not None)
    if isinstance(game, HogEngine):
        rate = win_rate(game, matrix, strategies.policy)
    else:
        rate = game.workspace(2).win_rate(policies_of(game, matrix, strategies.policy))
    return {
        "average": average,
        "matrix": of_matrix,
        "mixture": of_mixture,
        "budget": budget,
        "matrix_against_average": rate.win_rate,
        "largest_payoff": game.largest_payoff if isinstance(game, TreeEngine) else None,
    }


# --- the end --------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class RunSummary:
    """What a finished run comes to.

    Attributes
    ----------
    directory : Path
        The run directory.
    config : Config
    metrics : tuple of Metrics
        The lines of `metrics.csv`.
    average, matrix : Interval
        Win rates of a best response to the average policy, and to the matrix made of it.
    matrix_against_average : float
        Exact win rate of the matrix against the average policy.
    budget : SearchBudget
        Of the search behind the attacks.
    seconds, elapsed : float
        Seconds spent in the solver, and on the whole run.
    mixture : Interval, optional
        As `average`, of the mixture, if the solver looks for one.
    largest_payoff : float, optional
        Of a game other than Hog, where a payoff u counts as the win rate 1/2 + u / (2 largest).
    caveat : str
        Reason why no theorem promises that the solver converges on the game; empty if one does.

    Examples
    --------
    >>> from pathlib import Path
    >>> import hogeq
    >>> _ = Path("tiny.yaml").write_text(
    ...     "{name: tiny, rules: {edition: fa22, goal: 10, max_dice: 2},"
    ...     " solver: {name: dcfr, iterations: 3}}",
    ...     "utf-8",
    ... )
    >>> summary = hogeq.run_experiment(hogeq.load_config("tiny.yaml"), quiet=True)
    >>> summary.average.lower <= summary.average.upper
    True
    """

    directory: Path
    config: Config
    metrics: tuple[Metrics, ...]
    average: Interval
    matrix: Interval
    matrix_against_average: float
    budget: SearchBudget
    seconds: float
    elapsed: float
    mixture: Interval | None = None
    largest_payoff: float | None = None
    caveat: str = ""

    @property
    def intervals(self) -> dict[str, Interval]:
        """The intervals by what they are of."""
        named = {"mixture": self.mixture, "average policy": self.average, "matrix": self.matrix}
        return {name: one for name, one in named.items() if one is not None}

    def figures(self) -> dict[str, Any]:
        """Return the final figures as plain values, as the manifest keeps them."""
        ends = {
            name.replace(" ", "_"): {
                "attack": one.lower,
                "bound": one.upper,
                **({"saturation": one.saturation.to_json()} if one.saturation else {}),
            }
            for name, one in self.intervals.items()
        }
        return {
            **ends,
            "purification_loss": self.matrix.lower - self.average.lower,
            "matrix_against_average": self.matrix_against_average,
            **({} if self.largest_payoff is None else {"largest_payoff": self.largest_payoff}),
            "effort": plain(self.budget),
        }

    def to_json(self) -> dict[str, Any]:
        """Return the summary as plain values."""
        return {
            "name": self.config.name,
            "directory": str(self.directory),
            "rules": self.config.title,
            "solver": self.config.solver.name,
            "iterations": self.config.solver.iterations,
            "caveat": self.caveat,
            "seconds": self.seconds,
            "elapsed": self.elapsed,
            **self.figures(),
        }


def export(
    game: HogEngine | TreeEngine, strategies: Strategies, matrix: Matrix, summary: RunSummary
) -> None:
    """Write and draw the strategies of a run, and how exploitable they were over time."""
    folder, config = summary.directory, summary.config
    if isinstance(game, TreeEngine):
        with reported(folder / POLICY, "written"):
            _export_other(game, strategies, matrix, folder)
    else:
        for file, strategy in (
            (MIXTURE, strategies.mixture),
            (POLICY, strategies.policy),
            (MATRIX, matrix),
            (FINAL_STRATEGY, matrix),
        ):
            if strategy is not None:
                with reported(folder / file, "written"):
                    made = strategy_of(game, strategy)
                    write_strategy(folder / file, made, player_name=config.name)
    title = f"{config.title}, {config.solver.name}"
    with reported(folder / EXPLOITABILITY_PLOT, "written"):
        figures.exploitability(
            summary.metrics,
            folder / EXPLOITABILITY_PLOT,
            title,
            {name: (one.lower, one.upper) for name, one in summary.intervals.items()},
            (_effort(config.measure.attack), _effort(summary.budget)),
        )
    if isinstance(game, HogEngine):
        title = f"{title}, {config.purify.method} of the average"
        with reported(folder / MATRIX_PLOT, "written"):
            met, drawn = reach(game, matrix).sum(axis=2), strategy_of(game, matrix)
            figures.matrix(drawn, folder / MATRIX_PLOT, title, game.num_actions, met)


def _export_other(game: TreeEngine, strategies: Strategies, matrix: Matrix, folder: Path) -> None:
    """Write the strategies of a run of another game than Hog."""
    write_arrays(folder / POLICY, policy=strategies.policy)
    if strategies.mixture is not None:
        target = strategy_of(game, strategies.mixture)
        policies = game.legal(target.policies)
        write_arrays(folder / MIXTURE, weights=target.chances, strategies=policies)
    tree = game.tree
    actions = np.where(matrix < tree.num_legal, matrix, 0)
    rows = zip(tree.seat.tolist(), tree.names, actions.tolist(), strict=True)
    write_whole(folder / MATRIX, csv_text(("player", "information set", "action"), rows))


def _effort(budget: SearchBudget) -> str:
    spent = (budget.starts, "start"), (budget.anneal_steps, "anneal step")
    kicks = counted(budget.perturbations, "kick") + " or more" * budget.until_saturated
    return ", ".join([*(counted(*one) for one in spent), kicks])
