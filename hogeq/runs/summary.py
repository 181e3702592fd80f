"""Measurements and results of a run, and the files with them."""

import dataclasses
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hogeq import figures
from hogeq.evaluation.counterfactual import kkt_gap
from hogeq.games.game import Game
from hogeq.games.hog import Hog
from hogeq.purification import argmax
from hogeq.runs.config import Config, MeasureConfig
from hogeq.runs.files import (
    EXPLOITABILITY_PLOT,
    FINAL_STRATEGY,
    MATRIX,
    MATRIX_PLOT,
    MIXTURE,
    POLICY,
    POLICY_TABLE,
    Metrics,
    reported,
)
from hogeq.search.attack import Saturation, attack
from hogeq.search.bounds import SEARCHING, full_memory_bound
from hogeq.search.results import WIN_RATES, Budget, Units
from hogeq.strategies.arrays import one_hot
from hogeq.strategies.infosets import policy_csv
from hogeq.strategies.strategy import StrategyLike
from hogeq.support.aliases import Matrix, Policy
from hogeq.support.deadline import Deadline
from hogeq.support.files import write_whole
from hogeq.support.messages import EXACT, Table, Text, counted
from hogeq.support.parameters import plain
from hogeq.support.progress import Phase, phase

# --- measuring ------------------------------------------------------------------------------------


class Measured(NamedTuple):
    """Ends between which a best response lies, in the game's units, as a run measured them."""

    lower: float
    """Of the best response found."""
    upper: float
    """Of a responder with full memory."""
    budget: Budget
    """Effort of the search."""
    saturation: Saturation | None = None
    """Whether that has saturated; None where it was not searched again, or had no need to be."""
    seats: tuple[float, float] | None = None
    """Of games other than Hog: payoff of the response in each seat."""


class Strategies(NamedTuple):
    """The strategies of a solver: its average policy, and its mixture if it looks for one."""

    policy: Policy
    mixture: StrategyLike | None


def attacked(
    game: Game, strategy: StrategyLike, budget: Budget, *, bounds: bool = True
) -> Measured:
    """Attack a strategy; where nothing is forgotten in a tree, the response is exact."""
    target = game.strategy(strategy)
    if not isinstance(game, Hog):
        limit = budget.exact_seconds or 0.0
        found = game.attack(target, dataclasses.replace(budget, exact_seconds=limit))
        course = None if found.search is None else found.search.saturation
        told = found.to_json()  # of what is proved one number, not the two that enclose it
        first, second = told["seats"]
        return Measured(told["attack"], told["bound"], budget, course, (first, second))
    deadline = Deadline(inf if budget.seconds is None else budget.seconds)
    upper = full_memory_bound(game.engine, target) if bounds else 1.0
    search = attack(game.engine, target, budget, deadline=deadline.share(SEARCHING))
    return Measured(search.win_rate, upper, budget, search.saturation)


def measured(game: Game, strategies: Strategies, budget: Budget) -> dict[str, float]:
    """Measure the strategies of an iteration: fields of `Metrics`."""
    found: dict[str, float] = {}
    with phase("measuring", 2 + (strategies.mixture is not None), "strategies") as progress:
        if strategies.mixture is not None:
            progress.now("the mixture")
            one = attacked(game, strategies.mixture, budget)
            found |= {"mixture_attack": one.lower, "mixture_bound": one.upper}
            progress.step()
        progress.now("the average policy")
        one = attacked(game, strategies.policy, budget)
        found |= {"attack": one.lower, "bound": one.upper}
        if one.seats is not None:
            found["nash_conv"] = 2.0 * (one.lower - game.units.even)
            found["response_0"], found["response_1"] = one.seats
        progress.step(doing="its matrix")
        matrix = argmax(game.engine, strategies.policy)  # searches for a better one come at the end
        gap = kkt_gap(game.engine, strategies.policy)
        found["kkt_gap"] = gap * game.engine.payoff_per_win_rate
        found["purified_attack"] = attacked(game, matrix, budget, bounds=False).lower
        return found


def concluded(
    game: Game,
    measure: MeasureConfig,
    strategies: Strategies,
    matrix: Matrix,
    last: Metrics,
    progress: Phase,
) -> dict[str, Any]:
    """Attack for the last time: fields of `RunSummary`."""
    final = measure.final_attack
    budget = final or measure.attack
    measured_before = np.array_equal(matrix, argmax(game.engine, strategies.policy))

    def interval(
        name: str, strategy: StrategyLike, before: float, bound: float, again: bool
    ) -> Measured:
        if not again:
            return Measured(before, bound, budget)
        progress.now(f"final attack on the {name}")
        found = attacked(game, strategy, budget)
        # Both are true lower bounds; a search may be unlucky, and the better one counts.
        return found._replace(lower=max(before, found.lower), upper=min(bound, found.upper))

    again = final is not None or not measured_before
    average = interval("average policy", strategies.policy, last.attack, last.bound, again)
    progress.step()
    before = last.purified_attack if measured_before else -np.inf
    of_matrix = interval("matrix", matrix, before, game.bound(matrix), again)
    of_mixture = None
    if strategies.mixture is not None:
        progress.now("the mixture")
        before, bound = last.mixture_attack, game.bound(strategies.mixture)
        of_mixture = interval("mixture", strategies.mixture, before, bound, final is not None)
    return {
        "average": average,
        "matrix": of_matrix,
        "mixture": of_mixture,
        "budget": budget,
        "matrix_against_average": game.value(matrix, strategies.policy).mean,
        "units": game.units,
    }


# --- the end --------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class RunSummary:
    """Results of a finished run.

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
    """The run directory."""
    config: Config
    metrics: tuple[Metrics, ...]
    """The lines of `metrics.csv`."""
    average: Measured
    """Of a best response to the average policy."""
    matrix: Measured
    """The same of the matrix made of it."""
    matrix_against_average: float
    """Exact win rate or payoff of the matrix against the average policy."""
    budget: Budget
    """Of the search behind the attacks."""
    seconds: float
    """Spent in the solver."""
    elapsed: float
    """Seconds spent on the whole run."""
    mixture: Measured | None = None
    """As `average`, of the mixture, if the solver looks for one."""
    units: Units = WIN_RATES
    """How figures are written: win rates in Hog, payoffs elsewhere."""
    caveat: str = ""
    """Reason why no theorem promises convergence on the game; empty if one does."""

    @property
    def intervals(self) -> dict[str, Measured]:
        """The intervals by strategy."""
        named = {"mixture": self.mixture, "average policy": self.average, "matrix": self.matrix}
        return {name: one for name, one in named.items() if one is not None}

    def figures(self) -> dict[str, Any]:
        """Return the final figures as plain values, as the manifest keeps them."""
        is_hog = self.units is WIN_RATES
        ends = {
            name.replace(" ", "_"): {
                "attack": one.lower,
                "bound": one.upper,
                **({} if is_hog else {"nash_conv": 2.0 * (one.lower - self.units.even)}),
                **({"saturation": one.saturation.to_json()} if one.saturation else {}),
            }
            for name, one in self.intervals.items()
        }
        return {
            **ends,
            "purification_loss": self.matrix.lower - self.average.lower,
            "matrix_against_average": self.matrix_against_average,
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

    def text(self) -> Text:
        """Lay out the final intervals, and the effort behind them."""
        solver, units, spent = self.config.solver, self.units, plain(self.budget)
        rows = []
        for name, one in self.intervals.items():
            search = one.saturation
            is_marked = search is not None and search.left is not None and not search.saturated
            spread = units.gap(one.lower - units.even, one.upper - units.even)
            ends = units.ends(one.lower, one.upper, are_one=one.upper - one.lower <= EXACT)
            rows.append((name, *ends, spread, "*" * is_marked))
        if not spent["until_saturated"]:
            del spent["until_saturated"], spent["most_kicks"]
        effort = ", ".join(f"{key} {one}" for key, one in spent.items() if one is not None)
        header = (f"{units.figure} against", "attack found", "upper bound", "exploitability", "")
        gets = units.exact(self.matrix_against_average)
        return [
            f"{self.config.title}, {solver.name}, {solver.iterations} iterations"
            + f"; {self.caveat}" * bool(self.caveat),
            f"{self.elapsed:.1f} s, {self.seconds:.1f} s of them solving",
            "",
            Table(rows, header),
            "",
            f"effort of the attack: {effort}",
            *["* by an estimate, twice as many kicks would find more than 0.03 pp"]
            * any(row[-1] for row in rows),
            f"matrix against average policy: {units.figure} {gets}",
            f"written to {self.directory}",
        ]


def export(game: Game, strategies: Strategies, matrix: Matrix, summary: RunSummary) -> None:
    """Write and draw the strategies of a run, and how exploitable they were over time."""
    folder, config = summary.directory, summary.config
    written = [(MIXTURE, strategies.mixture), (POLICY, strategies.policy)]
    if isinstance(game, Hog):
        written += [(MATRIX, matrix), (FINAL_STRATEGY, matrix)]
    for file, strategy in written:
        if strategy is not None:
            with reported(folder / file, "written"):
                author = config.name if file == FINAL_STRATEGY else None
                game.strategy(strategy).write(folder / file, author)
    if not isinstance(game, Hog):
        for file, rows in (
            (POLICY_TABLE, strategies.policy),
            (MATRIX, one_hot(matrix, game.engine.num_actions)),
        ):
            with reported(folder / file, "written"):
                write_whole(folder / file, policy_csv(game.rows, rows))
    title = f"{config.title}, {config.solver.name}"
    efforts = _effort(config.measure.attack), _effort(summary.budget)
    if not isinstance(game, Hog) and not game.engine.has_memory:
        efforts = "", ""  # responses are exact
    with reported(folder / EXPLOITABILITY_PLOT, "written"):
        figures.convergence(
            summary.metrics,
            folder / EXPLOITABILITY_PLOT,
            title,
            {name: (one.lower, one.upper) for name, one in summary.intervals.items()},
            efforts,
            summary.units,
        )
    if isinstance(game, Hog):
        title = f"{title}, {config.purify.method} of the average"
        with reported(folder / MATRIX_PLOT, "written"):
            met, drawn = game.reach(matrix).sum(axis=2), game.strategy(matrix)
            figures.matrix(drawn, folder / MATRIX_PLOT, title, game.engine.num_actions, met)


def _effort(budget: Budget) -> str:
    spent = (budget.starts, "start"), (budget.anneal_steps, "anneal step")
    kicks = counted(budget.kicks, "kick") + " or more" * budget.until_saturated
    return ", ".join([*(counted(*one) for one in spent), kicks])
