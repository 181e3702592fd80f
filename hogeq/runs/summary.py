"""Measurements and results of a run, and the files with them."""

import dataclasses
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hogeq import WIN_RATES, Budget, Game, Hog, Saturation, Strategy, Units, figures
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
    as_results_error,
)
from hogeq.support.aliases import Matrix, Policy
from hogeq.support.deadline import Deadline
from hogeq.support.messages import EXACT, LONGEST_NAME, ROUNDED, Table, Text, counted
from hogeq.support.parameters import plain
from hogeq.support.progress import Phase, phase

# --- measuring ------------------------------------------------------------------------------------


class Measured(NamedTuple):
    """Ends between which a best response lies, in the game's units, as a run measured them."""

    lower: float  # of the best response found
    upper: float  # of a responder with full memory
    saturation: Saturation | None = None  # of the search; None if there was none, or no need of it
    seats: tuple[float, float] | None = None  # payoffs in each seat, of games other than Hog


class Strategies(NamedTuple):
    """The strategies of a solver: its average policy, and its mixture if it looks for one."""

    policy: Policy
    mixture: Strategy | None


def response_interval(
    game: Game, strategy: Strategy | Policy | Matrix, budget: Budget, *, bounds: bool = True
) -> Measured:
    """Enclose the win rate or payoff of a best response to a strategy.

    The lower end is the best response that a search finds, the upper end is a bound. In a game tree
    where nothing is forgotten both are exact. Without `bounds` the upper end in Hog is 1.
    """
    target = game.strategy(strategy)
    if not isinstance(game, Hog):
        exact_seconds = budget.exact_seconds or 0.0
        response = game.attack(target, dataclasses.replace(budget, exact_seconds=exact_seconds))
        saturation = None if response.search is None else response.search.saturation
        # In this form a proved value is one number, not the two floats that enclose it.
        values = response.to_json()
        lower, upper = values["attack"], values["bound"]
        if game.units.even:
            # That number has the digits that are proved; less the even value it would have others.
            lower, upper = response.ends
        first, second = values["seats"]
        return Measured(lower, upper, saturation, (first, second))
    deadline = Deadline(inf if budget.seconds is None else budget.seconds)
    # A responder who is told which policy of a mixture was drawn: the crudest and fastest bound.
    known_draws = 1 if target.kind == "mixture" else None
    upper = game.bound(target, known_draws) if bounds else 1.0
    search = game.search(target, budget, deadline)
    return Measured(search.win_rate, upper, search.saturation)


def measure_strategies(game: Game, strategies: Strategies, budget: Budget) -> dict[str, float]:
    """Measure the strategies of an iteration; returns fields of `Metrics`, by name."""
    fields: dict[str, float] = {}
    num_strategies = 2 if strategies.mixture is None else 3
    with phase("measuring", num_strategies, "strategies") as progress:
        if strategies.mixture is not None:
            progress.now("the mixture")
            interval = response_interval(game, strategies.mixture, budget)
            fields |= {"mixture_attack": interval.lower, "mixture_bound": interval.upper}
            progress.step()
        progress.now("the average policy")
        interval = response_interval(game, strategies.policy, budget)
        fields |= {"attack": interval.lower, "bound": interval.upper}
        if interval.seats is not None:
            # The game is zero-sum, and the policy plays both seats: NashConv is twice its
            # exploitability.
            fields["nash_conv"] = 2.0 * game.units.beyond(interval.lower, interval.upper)[0]
            fields["response_0"], fields["response_1"] = interval.seats
        progress.step(doing="its matrix")
        # Only the most probable actions: the purifier of the config is for the end of the run.
        matrix = game.strategy(strategies.policy).likeliest
        fields["kkt_gap"] = game.kkt_gap(strategies.policy)
        fields["purified_attack"] = response_interval(game, matrix, budget, bounds=False).lower
        return fields


def measure_at_end(
    game: Game,
    measure: MeasureConfig,
    strategies: Strategies,
    matrix: Matrix,
    last: Metrics,
    progress: Phase,
) -> dict[str, Any]:
    """Measure the strategies of a finished run; returns fields of `RunSummary`, by name.

    `last` has the latest measurements, and `matrix` is the purified policy. The policy and the
    matrix are measured again if the config has a final attack, or if the matrix is not that of the
    most probable actions, which `last` has. Intervals are the intersection of both measurements.
    """
    is_matrix_measured = np.array_equal(matrix, game.strategy(strategies.policy).likeliest)
    renew = measure.final_attack is not None or not is_matrix_measured
    budget = measure.final_effort
    average = Measured(last.attack, last.bound)
    if renew:
        progress.now("final attack on the average policy")
        average = _measure_and_intersect(game, strategies.policy, budget, average)
    progress.step()
    matrix_attack = last.purified_attack if is_matrix_measured else -np.inf
    purified = Measured(matrix_attack, game.bound(matrix))
    if renew:
        progress.now("final attack on the matrix")
        purified = _measure_and_intersect(game, matrix, budget, purified)
    mixture = None
    if strategies.mixture is not None:
        progress.now("the mixture")
        mixture = Measured(last.mixture_attack, game.bound(strategies.mixture))
        if measure.final_attack is not None:
            progress.now("final attack on the mixture")
            mixture = _measure_and_intersect(game, strategies.mixture, budget, mixture)
    return {
        "average": average,
        "matrix": purified,
        "mixture": mixture,
        "matrix_against_average": game.value(matrix, strategies.policy).mean,
        "units": game.units,
    }


def _measure_and_intersect(
    game: Game, strategy: Strategy | Policy | Matrix, budget: Budget, before: Measured
) -> Measured:
    """Measure a strategy again, and intersect the interval with that of a measurement before."""
    new = response_interval(game, strategy, budget)
    # Both searches give valid lower bounds, and the new one may be the worse.
    return new._replace(lower=max(before.lower, new.lower), upper=min(before.upper, new.upper))


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
    def budget(self) -> Budget:
        """Effort of the search behind the attacks."""
        return self.config.measure.final_effort

    @property
    def intervals(self) -> dict[str, Measured]:
        """The intervals by strategy."""
        intervals = {"average policy": self.average, "matrix": self.matrix}
        return intervals if self.mixture is None else {"mixture": self.mixture, **intervals}

    def figures(self) -> dict[str, Any]:
        """Return the final figures as plain values, as the manifest keeps them."""
        figures: dict[str, Any] = {}
        for name, interval in self.intervals.items():
            ends: dict[str, Any] = {"attack": interval.lower, "bound": interval.upper}
            if self.units is not WIN_RATES:  # of games other than Hog
                # In a zero-sum game NashConv of a strategy for both seats is twice this.
                exploitability = self.units.beyond(interval.lower, interval.upper)[0]
                ends["nash_conv"] = 2.0 * exploitability
            if interval.saturation:
                ends["saturation"] = interval.saturation.to_json()
            figures[name.replace(" ", "_")] = ends
        return {
            **figures,
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
        solver = self.config.solver
        units = self.units
        rows = []
        footnote = []
        for name, interval in self.intervals.items():
            mark = ""
            saturation = interval.saturation
            if saturation and saturation.left is not None and not saturation.saturated:
                mark = "*"
                footnote = ["* by an estimate, twice as many kicks would find more than 0.03 pp"]
            lower, upper, *_ = interval
            rounding = ROUNDED if units.figure == "win rate" else 0.0  # payoffs include it
            are_one = upper - lower <= EXACT  # but for rounding
            # Such a gap, or rounding, may show in the digits.
            are_one = are_one and units.are_one(lower - rounding, upper + rounding)
            ends = units.ends(lower, upper, are_one)
            exploitability = units.gap(*units.beyond(lower, upper), are_one=are_one)
            rows.append((name, *ends, exploitability, mark))
        effort = plain(self.budget)
        if not effort["until_saturated"]:
            del effort["until_saturated"], effort["most_kicks"]  # the limit belongs to it
        efforts = [f"{key} {value}" for key, value in effort.items() if value is not None]
        header = (f"{units.figure} against", "attack found", "upper bound", "exploitability", "")
        against_average = units.exact(self.matrix_against_average)
        caveat = f"; {self.caveat}" if self.caveat else ""
        return [
            f"{self.config.title}, {solver.name}, {solver.iterations} iterations{caveat}",
            f"{self.elapsed:.1f} s, {self.seconds:.1f} s of them solving",
            "",
            Table(rows, header),
            "",
            f"effort of the attack: {', '.join(efforts)}",
            *footnote,
            f"matrix against average policy: {units.figure} {against_average}",
            f"written to {self.directory}",
        ]


def export(game: Game, strategies: Strategies, matrix: Matrix, summary: RunSummary) -> None:
    """Write the strategies of a run, and draw its matrix and the exploitability over time."""
    folder = summary.directory
    config = summary.config
    strategy_files: dict[str, Strategy | Policy | Matrix | None] = {
        MIXTURE: strategies.mixture,
        POLICY: strategies.policy,
    }
    if isinstance(game, Hog):
        strategy_files |= {MATRIX: matrix, FINAL_STRATEGY: matrix}
    else:
        pure_policy = np.eye(strategies.policy.shape[-1])[matrix]
        strategy_files |= {POLICY_TABLE: strategies.policy, MATRIX: pure_policy}
    for file, strategy in strategy_files.items():
        if strategy is not None:
            with as_results_error(folder / file, "written"):
                player_name = config.name[:LONGEST_NAME] if file == FINAL_STRATEGY else None
                game.strategy(strategy).write(folder / file, player_name)
    title = f"{config.title}, {config.solver.name}"
    efforts = _effort_text(config.measure.attack), _effort_text(summary.budget)
    if not isinstance(game, Hog) and not game.engine.has_memory:
        efforts = "", ""  # responses are exact
    with as_results_error(folder / EXPLOITABILITY_PLOT, "written"):
        figures.convergence(
            summary.metrics,
            folder / EXPLOITABILITY_PLOT,
            title,
            {name: (ends.lower, ends.upper) for name, ends in summary.intervals.items()},
            efforts,
            summary.units,
        )
    if isinstance(game, Hog):
        title = f"{title}, {config.purify.method} of the average"
        reach = game.reach(matrix).sum(axis=2)  # (G, G)
        shown_matrix = game.strategy(matrix)
        with as_results_error(folder / MATRIX_PLOT, "written"):
            path = folder / MATRIX_PLOT
            figures.matrix(shown_matrix, path, title, game.rules.num_actions, reach)


def _effort_text(budget: Budget) -> str:
    """Describe the effort of a search, for the legend of a figure."""
    starts = counted(budget.starts, "start")
    steps = counted(budget.anneal_steps, "anneal step")
    kicks = counted(budget.kicks, "kick")
    return f"{starts}, {steps}, {kicks}{' or more' if budget.until_saturated else ''}"
