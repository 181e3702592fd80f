"""One experiment: solve, measure, purify, export; ``python -m hogeq.run CONFIG``.

The runner owns everything that solvers do not: when to measure, what to write, and how to stop.
Solving is deterministic and a checkpoint holds all of its state, so a run that was cut off at any
moment and resumed ends with the same policy, bit for bit, and the same metrics apart from times.
"""

import argparse
import contextlib
import dataclasses
import json
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Final, Literal, NoReturn, Self

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from hogeq import plots, results
from hogeq.config import Config, ConfigError, load_config
from hogeq.evaluate import counterfactual_values, shared_workspace, win_rate
from hogeq.executor import ExecutorError, WorkersLostError, workers
from hogeq.formats import write_strategy
from hogeq.game import Game, compile_game
from hogeq.purify import argmax
from hogeq.respond import Effort, attack, full_memory_bound
from hogeq.results import Checkpoint, Metrics, ResultsError, RunDirectory
from hogeq.strategy import StrategyError, check_policy

SAVE_EVERY: Final = 60.0
"""Most seconds of solving between two checkpoints."""


class RunError(RuntimeError):
    """A run that cannot go on; the message is one line."""


class Interrupted(KeyboardInterrupt):
    """A signal stopped the run; what was computed is saved.

    Attributes
    ----------
    signum : int
        The signal.
    directory : Path or None
        The run directory, if it was begun.
    iteration : int
        Iterations in the checkpoint.
    """

    def __init__(self, signum: int, directory: Path | None = None, iteration: int = 0) -> None:
        super().__init__(signum)
        self.signum = signum
        self.directory = directory
        self.iteration = iteration

    def __str__(self) -> str:
        name = signal.Signals(self.signum).name
        if self.directory is None:
            return f"stopped by {name}; nothing was written"
        again = f"python -m hogeq.run {self.directory / results.CONFIG} --resume {self.directory}"
        return f"stopped by {name} after iteration {self.iteration}; to continue: {again}"


@dataclasses.dataclass(frozen=True)
class Interval:
    """Win rates between which that of a best response lies: attack found, full-memory bound."""

    attack: float
    bound: float


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
        Of the average policy, and of the matrix made of it.
    matrix_against_average : float
        Exact win rate of the matrix against the average policy.
    effort : Effort
        Search effort behind both attacks.
    seconds : float
        Seconds spent in the solver.
    elapsed : float
        Seconds spent on the run, all its parts together.
    """

    directory: Path
    config: Config
    metrics: tuple[Metrics, ...]
    average: Interval
    matrix: Interval
    matrix_against_average: float
    effort: Effort
    seconds: float
    elapsed: float

    @property
    def purification_loss(self) -> float:
        """What purification adds to the win rate of the attacks found."""
        return self.matrix.attack - self.average.attack

    def figures(self) -> dict[str, Any]:
        """Return the final figures as plain values, as the manifest keeps them."""
        return {
            "average_policy": dataclasses.asdict(self.average),
            "matrix": dataclasses.asdict(self.matrix),
            "purification_loss": self.purification_loss,
            "matrix_against_average": self.matrix_against_average,
            "effort": dataclasses.asdict(self.effort),
        }

    def to_json(self) -> dict[str, Any]:
        """Return the summary as plain values."""
        return {
            "name": self.config.name,
            "directory": str(self.directory),
            "rules": self.config.rules.name,
            "solver": self.config.solver.name,
            "iterations": self.config.solver.iterations,
            "seconds": self.seconds,
            "elapsed": self.elapsed,
            **self.figures(),
        }

    def __str__(self) -> str:
        solver = self.config.solver
        lines = [
            f"{self.config.rules.name}, {solver.name}, {solver.iterations} iterations",
            f"{self.elapsed:.1f} s, {self.seconds:.1f} s of them solving",
            "",
            f"{'win rate against':20}{'attack found':>14}{'upper bound':>14}{'exploitability':>20}",
        ]
        for name, interval in (("average policy", self.average), ("matrix", self.matrix)):
            between = f"[{interval.attack - 0.5:.4f}, {interval.bound - 0.5:.4f}]"
            lines.append(f"{name:20}{interval.attack:14.6f}{interval.bound:14.6f}{between:>20}")
        effort = ", ".join(f"{key} {value}" for key, value in _spent(self.effort).items())
        lines += [
            "",
            f"effort of the attack: {effort}",
            f"matrix against average policy: wins {self.matrix_against_average:.6f}",
            f"written to {self.directory}",
        ]
        return "\n".join(lines)


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


def run(
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
    standard error if that is a terminal.

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
        The solver's state is not finite, or its average is no policy. The last good checkpoint is
        kept.
    Interrupted
        A signal came; a checkpoint holds what was done.
    """
    if resume is not None and overwrite:
        raise ResultsError("resume and overwrite exclude each other: continue a run, or replace it")
    solver = config.solver.params
    try:
        game = compile_game(config.rules)
        state = solver.init(game)
    except ValueError as error:
        raise ConfigError(f"config {config.name}: {error}") from error
    with Signals() as signals:
        if resume is None:
            directory = RunDirectory.create(out_root, config.name, overwrite=overwrite)
        else:
            directory = RunDirectory.resume(resume)
        with directory:
            return _Run(config, game, state, directory, signals).whole(quiet)


def kkt_gap(game: Game, policy: NDArray[np.float64]) -> float:
    """Measure how far a policy is from a stationary point of self-play.

    The win rate is linear in each row of a policy, so its gradient at the policy against itself is
    exact; the gap is what the best direction gains to first order, all rows taken together. It is 0
    exactly at the policies that meet the Karush-Kuhn-Tucker conditions of a best response to
    themselves, which under imperfect recall is necessary for an equilibrium, not sufficient.

    Parameters
    ----------
    game : Game
    policy : float64 (G, G, K)

    Returns
    -------
    float
        Not negative; in units of win rate.
    """
    both = np.stack([policy, policy])
    found = counterfactual_values(shared_workspace(game, 2), both, "reach").values
    return float((found.max(axis=2) - (found * policy).sum(axis=2)).sum())


class _Run:
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
        self.effort = config.measure.attack
        self.started = time.monotonic()
        self.state = state
        self.iteration = 0
        self.seconds = 0.0
        self.elapsed_before = 0.0
        self.metrics: tuple[Metrics, ...] = ()
        self.saved_iteration = 0
        self.saved_at = self.started
        self.whole_state = True  # False while the solver is changing it
        self._restore()
        self.manifest = self._first_manifest()

    def whole(self, quiet: bool) -> RunSummary:
        """Do what is left of the run."""
        directory = self.directory
        directory.sweep()
        directory.write(results.CONFIG, self.config.to_yaml())
        directory.write_manifest(self.manifest)
        directory.write_metrics(self.metrics)  # a death may have come between it and the checkpoint
        try:
            with _progress(self.iterations, self.iteration, quiet) as bar:
                if self.metrics:
                    _show_interval(bar, self.metrics[-1])
                self._solve(bar)
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

    def _solve(self, bar: "tqdm[Any]") -> None:
        moments = set(self.schedule)
        while True:
            measured = bool(self.metrics) and self.metrics[-1].iteration >= self.iteration
            if self.iteration in moments and not measured:
                self.metrics = (*self.metrics, self._measured())
                self._save()
                _show_interval(bar, self.metrics[-1])
            if self.iteration >= self.iterations:
                return
            self._step()
            bar.update()
            self.signals.check()
            if time.monotonic() - self.saved_at > SAVE_EVERY:
                self._average()  # an average that is no policy must not replace a good checkpoint
                self._save()

    def _step(self) -> None:
        began = time.monotonic()
        self.whole_state = False
        self.iteration += 1
        try:
            self.state = self.solver.step(self.game, self.state)
        except (OverflowError, FloatingPointError) as error:
            raise self._failure(error.args[-1]) from error
        self.seconds += time.monotonic() - began
        self._require_finite()
        self.whole_state = True

    def _require_finite(self) -> None:
        """Stop a solver that diverges, before what is saved of it can be lost."""
        for name, value in self.state._asdict().items():
            array = np.asarray(value)
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                at = tuple(np.argwhere(~np.isfinite(array))[0].tolist())
                raise self._failure(f"its {name} is {array[at]}" + (f" at {at}" if at else ""))

    def _failure(self, what: object) -> RunError:
        return RunError(
            f"solver {self.config.solver.name} failed at iteration {self.iteration}: {what};"
            f" {self._saved()}"
        )

    def _average(self) -> NDArray[np.float64]:
        policy = self.solver.average(self.game, self.state)
        rules = self.game.rules
        try:
            return check_policy(policy, rules.goal, rules.max_dice, "its average policy")
        except StrategyError as error:
            raise self._failure(error) from error

    def _measured(self) -> Metrics:
        policy = self._average()
        matrix = argmax(self.game, policy)  # what searches for a better one is for the end
        stats = self.solver.stats(self.game, self.state)
        with self.signals.at_once():
            return Metrics(
                iteration=self.iteration,
                seconds=self.seconds,
                attack=attack(self.game, policy, self.effort).win_rate,
                bound=full_memory_bound(self.game, policy),
                average_regret=float(stats.get("average_regret", np.nan)),
                kkt_gap=kkt_gap(self.game, policy),
                purified_attack=attack(self.game, matrix, self.effort).win_rate,
            )

    # --- the end -------------------------------------------------------------------------------

    def _finish(self) -> RunSummary:
        game, config = self.game, self.config
        policy = self._average()
        last = self.metrics[-1]
        with self.signals.at_once():
            matrix = config.purify.params.matrix(game, policy)
            measured = np.array_equal(matrix, argmax(game, policy))
            found = last.attack, last.purified_attack if measured else 0.0
            final = config.measure.final_attack
            if final is not None or not measured:
                # Both are true lower bounds; a search may be unlucky, and the better one counts.
                effort = final or self.effort
                found = (
                    max(found[0], attack(game, policy, effort).win_rate),
                    max(found[1], attack(game, matrix, effort).win_rate),
                )
            summary = RunSummary(
                directory=self.directory.path,
                config=config,
                metrics=self.metrics,
                average=Interval(found[0], last.bound),
                matrix=Interval(found[1], full_memory_bound(game, matrix)),
                matrix_against_average=win_rate(game, matrix, policy).win_rate,
                effort=final or self.effort,
                seconds=self.seconds,
                elapsed=self._elapsed(),
            )
            self._export(policy, matrix)
            self._draw(matrix)
        return summary

    def _export(self, policy: NDArray[np.float64], matrix: NDArray[np.int8]) -> None:
        for name, array in (
            (results.POLICY, policy),
            (results.MATRIX, matrix),
            (results.FINAL_STRATEGY, matrix),
        ):
            path = self.directory.path / name
            with results.reported(path, "written"):
                write_strategy(path, array, player_name=self.config.name)

    def _draw(self, matrix: NDArray[np.int8]) -> None:
        path = self.directory.path
        rules, solver = self.config.rules.name, self.config.solver.name
        plots.exploitability(self.metrics, path / results.EXPLOITABILITY_PLOT, f"{rules}, {solver}")
        title = f"{rules}, {solver}, {self.config.purify.method} of the average"
        plots.matrix(matrix, path / results.MATRIX_PLOT, title, self.game.rolls)

    # --- what is kept --------------------------------------------------------------------------

    def _restore(self) -> None:
        like = {name: np.asarray(array) for name, array in self.state._asdict().items()}
        grows = getattr(self.solver, "GROWS", ())
        found = self.directory.load(self.config.solver.name, self.fingerprint, like, grows)
        if found is None:
            self._require_same_config()
            return
        if found.iteration > self.iterations:
            raise ResultsError(
                f"{self.directory.path} is at iteration {found.iteration} already; allowed:"
                f" solver.iterations of that or more, not {self.iterations}"
            )
        self.state = self.solver.restore(found.state)
        self.iteration = self.saved_iteration = found.iteration
        self.seconds = found.seconds
        self.elapsed_before = found.elapsed
        # The last line of a run that is now made longer may not belong to the longer one.
        moments = set(self.schedule)
        self.metrics = tuple(row for row in found.metrics if row.iteration in moments)

    def _require_same_config(self) -> None:
        """Go by the config where a run was cut off before its first checkpoint."""
        path = self.directory.path / results.CONFIG
        if path.exists() and load_config(path).fingerprint() != self.fingerprint:
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
        return self.elapsed_before + time.monotonic() - self.started

    def _first_manifest(self) -> dict[str, Any]:
        before = self.directory.manifest() if self.iteration else {}
        return {
            "schema": results.SCHEMA,
            "name": self.config.name,
            "status": "running",
            "config_hash": self.fingerprint,
            "seed": self.config.seed,
            "started": before.get("started", results.now()),
            "ended": None,
            "elapsed_seconds": self.elapsed_before,
            "solver_seconds": self.seconds,
            "resumed_at": [
                *before.get("resumed_at", ()),
                *([self.iteration] * bool(self.iteration)),
            ],
            "iterations": self.iteration,
            "environment": results.environment(),
            "figures": None,
        }

    def _close_manifest(self, status: str, figures: dict[str, Any] | None = None) -> None:
        self.manifest |= {
            "status": status,
            "ended": results.now(),
            "elapsed_seconds": self._elapsed(),
            "solver_seconds": self.seconds,
            "iterations": self.saved_iteration,
            "figures": figures,
        }
        self.directory.write_manifest(self.manifest)


def _spent(effort: Effort) -> dict[str, Any]:
    return {key: value for key, value in dataclasses.asdict(effort).items() if key != "jobs"}


# --- progress ----------------------------------------------------------------------------------


def _progress(total: int, done: int, quiet: bool) -> "tqdm[Any]":
    return tqdm(
        total=total,
        initial=done,
        desc="solving",
        unit="it",
        file=sys.stderr,
        disable=quiet or not sys.stderr.isatty(),
        dynamic_ncols=True,
    )


def _show_interval(bar: "tqdm[Any]", row: Metrics) -> None:
    bar.set_postfix_str(f"exploitability [{row.attack - 0.5:.4f}, {row.bound - 0.5:.4f}]")


# --- signals -----------------------------------------------------------------------------------


class Signals:
    """SIGINT and SIGTERM as `Interrupted`, raised only where `check` or `at_once` allow it.

    A second signal is raised wherever it comes. Outside the main thread signals are left alone.
    """

    _KINDS: Final = (signal.SIGINT, signal.SIGTERM)

    def __init__(self) -> None:
        self._caught: int | None = None
        self._at_once = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for kind in self._KINDS:
                self._before[kind] = signal.signal(kind, self._handle)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for name, handler in self._before.items():
            signal.signal(name, handler)

    def _handle(self, signum: int, _frame: FrameType | None) -> None:
        again = self._caught is not None
        self._caught = signum
        if again or self._at_once:
            raise Interrupted(signum)

    def check(self) -> None:
        """Raise what has been caught."""
        if self._caught is not None:
            raise Interrupted(self._caught)

    @contextlib.contextmanager
    def at_once(self) -> Iterator[None]:
        """Let signals interrupt the block: long work that changes no state."""
        self._at_once = True
        try:
            self.check()
            yield
        finally:
            self._at_once = False


# --- command -----------------------------------------------------------------------------------


def command(
    config: str | Path,
    overrides: Sequence[str] = (),
    *,
    out_root: str | Path = "results",
    resume: str | Path | None = None,
    overwrite: bool = False,
    on: str | None = None,
    as_json: bool = False,
) -> int:
    """Load a config, run it, print what came of it, and give the exit status.

    Parameters
    ----------
    config : str or Path
        A YAML file.
    overrides : sequence of str
        ``key=value``, as `load_config` takes them.
    out_root, resume, overwrite
        As in `run`.
    on : str, optional
        Who computes best responses, as `hogeq.executor.workers` has it; threads if not given.
    as_json : bool
        Print one JSON object instead of a table.

    Returns
    -------
    int
        0; 2 after one line on bad input; 1 after an internal failure; 128 + the signal's number if
        one stopped the run.
    """

    def work() -> None:
        loaded = load_config(config, overrides)
        with workers(on, results.cores()) if on else contextlib.nullcontext():
            summary = run(loaded, out_root, resume, overwrite)
        _print(summary, as_json)

    return _guarded(work)


def _print(summary: RunSummary, as_json: bool) -> None:
    if as_json:
        print(json.dumps(results.finite(summary.to_json()), allow_nan=False))
    else:
        print(summary)


def _guarded(work: Callable[[], None]) -> int:
    try:
        work()
    except (ConfigError, ResultsError, ExecutorError) as error:
        return _said(error, 2)
    except (RunError, WorkersLostError) as error:
        return _said(error, 1)
    except Interrupted as stop:
        return _said(stop, 128 + stop.signum)
    except KeyboardInterrupt:
        return _said("stopped before anything was written", 128 + signal.SIGINT)
    except Exception as error:  # noqa: BLE001 - whatever it is, the status must say so
        traceback.print_exc()
        return _said(f"internal failure: {type(error).__name__}: {error}", 1)
    return 0


def _said(what: object, status: int) -> int:
    print(f"hogeq: {' '.join(str(what).split())}", file=sys.stderr)
    return status


class _Parser(argparse.ArgumentParser):
    """Refuses in one line, as everything else does."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"hogeq: {message}; see {self.prog} --help\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``python -m hogeq.run``.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments; by default those of the process.

    Returns
    -------
    int
        Exit status, as `command` gives it.
    """
    parser = _Parser(
        prog="python -m hogeq.run", description="Solve, measure, purify and export one experiment."
    )
    parser.add_argument("config", metavar="CONFIG", help="YAML file; configs/cfr.yaml say")
    parser.add_argument(
        "--set",
        dest="overrides",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="set a key of the config: solver.iterations=50 (may be given again)",
    )
    parser.add_argument("--out-root", default="results", metavar="DIR", help="where runs are kept")
    parser.add_argument(
        "--on", metavar="WHERE", help="best responses on local (processes) or dask://HOST:PORT"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--resume", metavar="DIR", help="continue the run in this directory")
    place.add_argument("--overwrite", action="store_true", help="replace a run of the same name")
    given = parser.parse_args(argv)
    return command(
        given.config,
        given.overrides,
        out_root=given.out_root,
        resume=given.resume,
        overwrite=given.overwrite,
        on=given.on,
        as_json=given.json,
    )


if __name__ == "__main__":
    sys.exit(main())
