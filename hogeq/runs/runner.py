"""One experiment: solve, measure, purify, export.

The runner owns everything that solvers do not: when to measure, what to write, and how to stop.
Solving is deterministic and a checkpoint holds all of its state, so a run that was cut off at any
moment and resumed ends with the same policy, bit for bit, and the same metrics apart from times.
"""

import contextlib
import dataclasses
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from hogeq import figures
from hogeq.evaluation.hidden import reach
from hogeq.evaluation.stationarity import kkt_gap
from hogeq.evaluation.win_rates import win_rate
from hogeq.model.compiling import expect
from hogeq.model.game import Game, compile_game
from hogeq.purification import argmax
from hogeq.response.bounds import Interval, full_memory_bound, upper_bound
from hogeq.response.saturation import Saturation
from hogeq.response.search import SearchBudget, attack
from hogeq.runs import plugins
from hogeq.runs.checkpoint import Checkpoint
from hogeq.runs.config import Config, recorded_config
from hogeq.runs.directory import RunDirectory
from hogeq.runs.environment import environment, now
from hogeq.runs.errors import ConfigError, ResultsError, reported
from hogeq.runs.filenames import (
    CONFIG,
    EXPLOITABILITY_PLOT,
    FINAL_STRATEGY,
    MATRIX,
    MATRIX_PLOT,
    MIXTURE,
    POLICY,
    SCHEMA,
)
from hogeq.runs.metrics import Metrics
from hogeq.runs.signals import Interrupted, Signals
from hogeq.runs.summary import RunSummary
from hogeq.strategies.arrays import StrategyError, check_policy
from hogeq.strategies.mixtures import Mixture
from hogeq.strategies.write import write_strategy
from hogeq.support.clock import working_time
from hogeq.support.executors import WorkersLostError
from hogeq.support.messages import raised, shown
from hogeq.support.numbers import between, counted
from hogeq.support.progress import Phase, phase, show_progress

KERNELS: Final = "search", "policies", "full memory", "reach", "hidden states"
"""What a run needs of :data:`hogeq.model.compiling.PARTS`, whatever its solver."""

SAVE_EVERY: Final = 60.0
"""Most seconds of solving between two checkpoints."""


class RunError(RuntimeError):
    """A run that cannot go on; the message is one line."""


def schedule(iterations: int, every: int | Literal["log"]) -> list[int]:
    """List the iterations after which to measure, the last one always among them.

    Parameters
    ----------
    iterations : int
        Number of iterations of the run, at least 1.
    every : int or "log"
        Distance between two measurements; "log": Fibonacci numbers 1, 2, 3, 5, 8, ..., evenly
        spaced on a logarithmic axis.

    Returns
    -------
    list of int
        Ascending.
    """
    moments = []
    moment, following = (1, 2) if every == "log" else (every, 2 * every)
    while moment < iterations:
        moments.append(moment)
        step = moment if every == "log" else every
        moment, following = following, following + step
    return [*moments, iterations]


def run_experiment(
    config: Config,
    out_root: str | Path = "results",
    resume: str | Path | None = None,
    overwrite: bool = False,
    *,
    quiet: bool = False,
) -> RunSummary:
    """Run one experiment and write its run directory.

    Everything is checked before anything is written. SIGINT and SIGTERM end the run with a
    checkpoint if it runs in the main thread; elsewhere signals are left alone. Progress goes to
    standard error.

    Parameters
    ----------
    config : Config
    out_root : str or Path
        Run directories are made here, each named after its config.
    resume : str or Path, optional
        A run directory to continue, instead of a new one.
    overwrite : bool
        Replace an existing run directory of this name.
    quiet : bool
        Show no progress.

    Returns
    -------
    RunSummary

    Raises
    ------
    ConfigError
        The game or the solver refuses the config.
    ResultsError
        The run directory cannot be made, continued or written.
    RunError
        The solver's state is not finite, or its average is no policy, or a solver that is not
        hogeq's own raised an error. The last good checkpoint is kept.
    Interrupted
        A signal came; a checkpoint holds what was done.

    Examples
    --------
    >>> from pathlib import Path
    >>> import hogeq
    >>> _ = Path("small.yaml").write_text(
    ...     "{name: small, rules: {edition: fa22, goal: 10, max_dice: 2},"
    ...     " solver: {name: dcfr, iterations: 3}}",
    ...     "utf-8",
    ... )
    >>> summary = hogeq.run_experiment(hogeq.load_config("small.yaml"), quiet=True)
    >>> summary.directory.as_posix(), (summary.directory / "matrix.csv").exists()
    ('results/small', True)
    """
    if resume is not None and overwrite:
        raise ResultsError("resume and overwrite exclude each other: continue a run, or replace it")
    try:
        game = compile_game(config.rules)
        expect(game, *KERNELS)
        state = plugins.first_state(config.solver.name, config.solver.params, game)
    except ValueError as error:
        raise ConfigError(f"config {config.name}: {error}") from error
    with Signals() as signals:
        if resume is None:
            directory = RunDirectory.create(out_root, config.name, overwrite=overwrite)
        else:
            directory = RunDirectory.resume(resume)
        with directory:
            return _Runner(config, game, state, directory, signals).whole(quiet)


class _Runner:
    """One run on its way: what has been done, and what is saved of it."""

    def __init__(
        self,
        config: Config,
        game: Game,
        state: Any,
        directory: RunDirectory,
        signals: "Signals",
    ) -> None:
        self.config = config
        self.game = game
        self.solver = config.solver.params
        self.directory = directory
        self.signals = signals
        self.fingerprint = config.fingerprint()
        self.iterations = config.solver.iterations
        self.schedule = schedule(self.iterations, config.measure.every)
        self.budget = config.measure.attack
        self.started = working_time()
        self.state = state
        self.iteration = 0
        self.seconds = 0.0
        self.elapsed_before = 0.0
        self.metrics: tuple[Metrics, ...] = ()
        self.saved_iteration = 0
        self.saved_at = time.monotonic()
        self.whole_state = True  # False while the solver is changing it
        self._restore()
        self.manifest = self._first_manifest()

    def whole(self, quiet: bool) -> RunSummary:
        """Do what is left of the run."""
        directory = self.directory
        directory.remove_leftovers()
        for plugin in self.config.plugins:
            directory.write(plugins.kept_as(plugin), plugin.code)
        directory.write(CONFIG, self.config.to_yaml())
        directory.write_manifest(self.manifest)
        directory.write_metrics(self.metrics)  # a death may have come between it and the checkpoint
        try:
            with show_progress(visible=not quiet):
                with phase("solving", self.iterations, "it", done=self.iteration) as told:
                    if self.metrics:
                        _tell(told, self.metrics[-1])
                    self._solve(told)
                summary = self._finish()
        except Interrupted as stop:
            if self.whole_state:
                self._save()
            self._close_manifest("interrupted")
            raise Interrupted(stop.signum, directory.path, self.saved_iteration) from None
        except ResultsError as error:
            raise ResultsError(f"{error}; {self._saved()}") from error
        except Exception:
            with contextlib.suppress(ResultsError):
                self._close_manifest("failed")
            raise
        self._close_manifest("complete", figures=summary.figures())
        return summary

    # --- solving -------------------------------------------------------------------------------

    def _solve(self, told: Phase) -> None:
        moments = set(self.schedule)
        while True:
            measured = bool(self.metrics) and self.metrics[-1].iteration >= self.iteration
            if self.iteration in moments and not measured:
                self.metrics = (*self.metrics, self._measured())
                self._save()
                _tell(told, self.metrics[-1])
            if self.iteration >= self.iterations:
                return
            self._step()
            told.step()
            self.signals.check()
            if time.monotonic() - self.saved_at > SAVE_EVERY:
                self._average()  # an average that is no policy must not replace a good checkpoint
                self._save()

    def _step(self) -> None:
        began = working_time()
        self.whole_state = False
        self.iteration += 1
        self.state = self._asked(self.solver.step)
        self.seconds += working_time() - began
        self._require_finite()
        self.whole_state = True

    def _asked(self, method: Callable[[Game, Any], Any]) -> Any:
        """Call a method of the solver; whatever is raised in one of a plugin is its failure."""
        try:
            return method(self.game, self.state)
        except (OverflowError, FloatingPointError) as error:
            raise self._failure(error.args[-1]) from error
        except Exception as error:
            if plugins.is_ours(self.solver) or isinstance(error, WorkersLostError):
                raise
            what = f"{raised(error)} (HOGEQ_DEBUG=1 shows where)"
            raise self._failure(what) from error

    def _require_finite(self) -> None:
        """Stop a solver that diverges, before what is saved of it can be lost."""
        if not hasattr(self.state, "_asdict"):
            raise self._failure(f"its step gave {shown(self.state)}")
        for name, value in self.state._asdict().items():
            array = np.asarray(value)
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                at = tuple(np.argwhere(~np.isfinite(array))[0].tolist())
                raise self._failure(f"its {name} is {array[at]}" + (f" at {at}" if at else ""))

    def _failure(self, what: object) -> RunError:
        return RunError(
            f"{plugins.named(self.config.solver.name, self.solver)} failed at iteration"
            f" {self.iteration}: {what}; {self._saved()}"
        )

    def _average(self) -> NDArray[np.float64]:
        policy = self._asked(self.solver.average)
        rules = self.game.rules
        try:
            return check_policy(policy, rules.goal, rules.max_dice, "its average policy")
        except StrategyError as error:
            raise self._failure(error) from error

    def _measured(self) -> Metrics:
        policy = self._average()
        matrix = argmax(self.game, policy)  # what searches for a better one is for the end
        stats = self._asked(self.solver.stats)
        mixture = self._asked(self.solver.mixture)
        strategies = 2 if mixture is None else 3
        on_mixture, mixture_bound = np.nan, np.nan
        with self.signals.at_once(), phase("measuring", strategies, "strategies") as told:
            if mixture is not None:
                told.now("the mixture")
                on_mixture = attack(self.game, mixture, self.budget).win_rate
                mixture_bound = full_memory_bound(self.game, mixture)
                told.step()
            told.now("the average policy")
            on_policy = attack(self.game, policy, self.budget).win_rate
            told.step(doing="its matrix")
            return Metrics(
                iteration=self.iteration,
                seconds=self.seconds,
                attack=on_policy,
                bound=full_memory_bound(self.game, policy),
                average_regret=float(stats.get("average_regret", np.nan)),
                kkt_gap=kkt_gap(self.game, policy),
                purified_attack=attack(self.game, matrix, self.budget).win_rate,
                mixture_attack=on_mixture,
                mixture_bound=mixture_bound,
            )

    # --- the end -------------------------------------------------------------------------------

    def _finish(self) -> RunSummary:
        game, config = self.game, self.config
        policy = self._average()
        last = self.metrics[-1]
        with self.signals.at_once(), phase("finishing", 3, "steps") as told:
            told.now(f"purification by {config.purify.method}")
            matrix = config.purify.params.matrix(game, policy)
            measured = np.array_equal(matrix, argmax(game, policy))
            found = last.attack, last.purified_attack if measured else 0.0
            searches: list[Saturation | None] = [None, None]
            told.step()
            final = config.measure.final_attack
            budget = final or self.budget
            if final is not None or not measured:
                # Both are true lower bounds; a search may be unlucky, and the better one counts.
                told.now("final attack on the average policy")
                on_policy = attack(game, policy, budget)
                told.step(doing="final attack on the matrix")
                on_matrix = attack(game, matrix, budget)
                found = max(found[0], on_policy.win_rate), max(found[1], on_matrix.win_rate)
                searches = [on_policy.saturation, on_matrix.saturation]
            told.reach(3)
            told.now("files and figures")
            summary = RunSummary(
                directory=self.directory.path,
                config=config,
                metrics=self.metrics,
                average=Interval(found[0], last.bound, budget, searches[0]),
                matrix=Interval(found[1], full_memory_bound(game, matrix), budget, searches[1]),
                matrix_against_average=win_rate(game, matrix, policy).win_rate,
                budget=budget,
                seconds=self.seconds,
                elapsed=self._elapsed(),
            )
            mixture = self._asked(self.solver.mixture)
            if mixture is not None:
                told.now("the mixture")
                interval = Interval(last.mixture_attack, upper_bound(game, mixture), budget)
                if final is not None:
                    on_mixture = attack(game, mixture, budget)
                    most = max(interval.lower, on_mixture.win_rate)
                    interval = interval._replace(lower=most, saturation=on_mixture.saturation)
                summary = dataclasses.replace(summary, mixture=interval)
            self._export(policy, matrix, mixture)
            self._draw(matrix, summary)
        return summary

    def _export(
        self, policy: NDArray[np.float64], matrix: NDArray[np.int8], mixture: Mixture | None
    ) -> None:
        for name, array in (
            (MIXTURE, mixture),
            (POLICY, policy),
            (MATRIX, matrix),
            (FINAL_STRATEGY, matrix),
        ):
            if array is None:
                continue
            path = self.directory.path / name
            with reported(path, "written"):
                write_strategy(path, array, player_name=self.config.name)

    def _draw(self, matrix: NDArray[np.int8], summary: RunSummary) -> None:
        path = self.directory.path
        rules, solver = self.config.rules.name, self.config.solver.name
        with reported(path / EXPLOITABILITY_PLOT, "written"):
            figures.exploitability(
                self.metrics,
                path / EXPLOITABILITY_PLOT,
                f"{rules}, {solver}",
                {name: (one.lower, one.upper) for name, one in summary.intervals.items()},
                (_effort(self.budget), _effort(summary.budget)),
            )
        title = f"{rules}, {solver}, {self.config.purify.method} of the average"
        with reported(path / MATRIX_PLOT, "written"):
            met = reach(self.game, matrix).sum(axis=2)
            figures.matrix(matrix, path / MATRIX_PLOT, title, self.game.num_actions, met)

    # --- what is kept --------------------------------------------------------------------------

    def _restore(self) -> None:
        plugins.require_same_plugins(self.directory.path, self.config.plugins)
        like = {name: np.asarray(array) for name, array in self.state._asdict().items()}
        found = self.directory.load(
            self.config.solver.name, self.fingerprint, like, self.solver.GROWS
        )
        if found is None:
            self._require_same_config()
            return
        if found.iteration > self.iterations:
            raise ResultsError(
                f"{self.directory.path} is at iteration {found.iteration} already; allowed:"
                f" solver.iterations of that or more, not {self.iterations}"
            )
        self.state = self.solver.restore(self.state, found.state)
        self.iteration = self.saved_iteration = found.iteration
        self.seconds = found.seconds
        self.elapsed_before = found.elapsed
        # The last line of a run that is now made longer may not belong to the longer one.
        moments = set(self.schedule)
        self.metrics = tuple(row for row in found.metrics if row.iteration in moments)

    def _require_same_config(self) -> None:
        """Go by the config where a run was cut off before its first checkpoint."""
        path = self.directory.path / CONFIG
        if path.exists() and recorded_config(path).fingerprint() != self.fingerprint:
            raise ResultsError(
                f"{path} is another config: rules, solver and measure must be the same"
            )

    def _save(self) -> None:
        self.directory.save(
            Checkpoint(
                solver=self.config.solver.name,
                fingerprint=self.fingerprint,
                iteration=self.iteration,
                seconds=self.seconds,
                elapsed=self._elapsed(),
                metrics=self.metrics,
                state=self.state._asdict(),
            )
        )
        self.saved_iteration = self.iteration
        self.saved_at = time.monotonic()

    def _saved(self) -> str:
        path = self.directory.path
        if not self.saved_iteration:
            return f"{path} holds no checkpoint yet"
        return f"{path} holds the checkpoint after iteration {self.saved_iteration}"

    def _elapsed(self) -> float:
        return self.elapsed_before + working_time() - self.started

    def _first_manifest(self) -> dict[str, Any]:
        before = self.directory.manifest() if self.iteration else {}
        started, resumed = before.get("started"), before.get("resumed_at")
        return {
            "schema": SCHEMA,
            "name": self.config.name,
            "status": "running",
            "config_hash": self.fingerprint,
            "seed": self.config.seed,
            "started": started if isinstance(started, str) else now(),
            "ended": None,
            "elapsed_seconds": self.elapsed_before,
            "solver_seconds": self.seconds,
            "resumed_at": [
                *(resumed if isinstance(resumed, list) else ()),
                *([self.iteration] * bool(self.iteration)),
            ],
            "iterations": self.iteration,
            "environment": environment(),
            "plugins": plugins.facts(self.config.plugins),
            "figures": None,
        }

    def _close_manifest(self, status: str, figures: dict[str, Any] | None = None) -> None:
        self.manifest |= {
            "status": status,
            "ended": now(),
            "elapsed_seconds": self._elapsed(),
            "solver_seconds": self.seconds,
            "iterations": self.saved_iteration,
            "figures": figures,
        }
        self.directory.write_manifest(self.manifest)


def _tell(told: Phase, row: Metrics) -> None:
    found = row.attack, row.bound
    if not np.isnan(row.mixture_attack):
        found = row.mixture_attack, row.mixture_bound
    told.measured(f"exploitability {between(found[0] - 0.5, found[1] - 0.5)}")


def _effort(budget: SearchBudget) -> str:
    spent = (budget.starts, "start"), (budget.anneal_steps, "anneal step")
    kicks = counted(budget.perturbations, "kick") + " or more" * budget.until_saturated
    return ", ".join([*(counted(*one) for one in spent), kicks])
