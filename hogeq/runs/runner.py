"""One experiment: solve, measure, purify, export.

Solving is deterministic and a checkpoint holds all of its state, so a run that was cut off at any
moment and resumed ends with the same policy, bit for bit, and the same metrics apart from times.
"""

import contextlib
import dataclasses
import shlex
import time
from bisect import bisect_right
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import numpy as np

from hogeq import Game, GameName, Hog, StrategyError
from hogeq.runs.config import Config, SolverConfig
from hogeq.runs.directory import (
    Checkpoint,
    RunDirectory,
    plugin_facts,
    plugin_path,
    read_checkpoint,
    require_same,
    require_same_game,
)
from hogeq.runs.files import (
    CHECKPOINT,
    CONFIG,
    SCHEMA,
    Metrics,
    ResultsError,
    environment,
    now,
    readable_manifest,
)
from hogeq.runs.signals import Interrupted, Signals
from hogeq.runs.summary import RunSummary, Strategies, export, measure_at_end, measure_strategies
from hogeq.support.messages import ExplainedError, HogeqError, raised, refusal, shown
from hogeq.support.pacing import Pace, schedule
from hogeq.support.parameters import plain
from hogeq.support.plugins import is_ours, named
from hogeq.support.progress import Phase, phase, show_progress, working_time
from hogeq.support.workers import WorkersLostError
from hogeq.support.yaml import ConfigError

RESULTS: Final = Path("results")  # where run directories are made by default
KERNELS: Final = "search", "policies", "full memory", "reach", "hidden states"
"""Kernels that a run needs with any solver: keys of :data:`hogeq.model.compiling.PARTS`."""

SAVE_EVERY: Final = 60.0  # most seconds of solving between two checkpoints


class RunError(ExplainedError):
    """A run that cannot go on; the message is one line."""


def game_of(config: Config) -> Game:
    """Build the game of a config; of a game of Hog, also announce the kernels to compile."""
    if config.game:
        return Game(config.game, **config.how)
    game = Hog(config.rules)
    game.prepare(*KERNELS)
    return game


def initial_state(solver: SolverConfig, game: Game) -> Any:
    """Call the solver's ``init``; an error or a bad result of a plugin raises `HogeqError`."""
    where = named(f"solver {solver.name}", solver.params)
    try:
        state = solver.params.init(game.engine)
    except Exception as error:
        if is_ours(solver.params):
            raise
        raise HogeqError(f"{where}: its init raised {raised(error)}") from error
    if not hasattr(state, "_asdict"):
        problem = f"its init gave {shown(state)}; allowed: a named tuple of arrays"
        raise HogeqError(f"{where}: {problem}")
    return state


def run_experiment(
    config: Config,
    out_root: str | Path = RESULTS,
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
    ConfigError, ResultsError
        The game or the solver refuses the config; the run directory cannot be made or written.
    RunError
        The solver fails. The last good checkpoint stays.
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
        raise ResultsError(
            "--resume and --overwrite exclude each other: continue a run, or replace it"
        )
    if resume is not None and Path(out_root) not in {RESULTS, Path(resume).parent}:
        raise ResultsError(refusal("out_root", str(out_root), "without resume, which names all"))
    try:
        game = game_of(config)
        solver = config.solver
        params: Any = solver.params
        if resume is not None and (Path(resume) / CHECKPOINT).exists():
            # The checkpoint has what the solver read from its files, which may be gone.
            params = dataclasses.replace(params, **dict.fromkeys(params.FILES, ""))
            solver = dataclasses.replace(solver, params=params)
        state = initial_state(solver, game)
        files_read = []  # for the manifest
        for key in sorted(params.FILES):
            file = getattr(params, key)
            if file:
                digest = sha256(Path(file).read_bytes()).hexdigest()
                files_read.append({"key": key, "file": file, "sha256": digest})
    except (OSError, ValueError) as error:
        raise ConfigError(f"config {config.name}: {error}") from error
    with Signals() as signals:
        if resume is None:
            directory = RunDirectory.create(out_root, config.name, overwrite=overwrite)
        else:
            directory = RunDirectory.resume(resume)
        with directory:
            return _Runner(config, game, state, directory, signals).finish(files_read, quiet)


@dataclasses.dataclass
class _Runner:
    """One run under way: its state, and how much of it is saved."""

    config: Config
    game: Game
    state: Any  # the solver's, a named tuple of arrays
    directory: RunDirectory
    signals: Signals
    iteration: int = 0  # iterations done
    seconds: float = 0.0  # spent in the solver
    elapsed_before: float = 0.0  # seconds that the run took before it was resumed
    metrics: tuple[Metrics, ...] = ()
    saved_iteration: int = 0  # that of the last checkpoint
    is_state_whole: bool = True  # False while the solver changes its state

    def __post_init__(self) -> None:
        """Schedule the measurements, and restore the state of a checkpoint if there is one."""
        self.solver: Any = self.config.solver.params
        self.fingerprint = self.config.fingerprint()
        self.manifest_before = readable_manifest(self.directory.path)
        self.iterations = self.config.solver.iterations
        # Iterations after which to measure, ascending.
        self.schedule = schedule(self.iterations, self.config.measure.every)
        self.scheduled = set(self.schedule)
        self.pace = Pace()
        self.started = working_time()
        self.saved_at = time.monotonic()
        self._restore()

    def finish(self, files_read: list[dict[str, str]], quiet: bool) -> RunSummary:
        """Do the rest of the run, and write its manifest before and after.

        `files_read` describes the files that parameters of the solver name.
        """
        directory = self.directory
        self.manifest = self._first_manifest(files_read)
        directory.remove_leftovers()
        for plugin in self.config.plugins:
            directory.write(plugin_path(plugin), plugin.code)
        directory.write(CONFIG, self.config.to_yaml())
        self._write_manifest("running")
        # A process killed between the two writes has left metrics that are older than the state.
        directory.write_metrics(self.metrics)
        try:
            with show_progress(visible=not quiet):
                with phase("solving", self.iterations, "it", done=self.iteration) as progress:
                    self._solve(progress)
                summary = self._conclude()
        except Interrupted as stop:
            if self.is_state_whole:
                self._save()
            self._write_manifest("interrupted")
            trust = ["--trust"] if self.config.plugins else []
            command = shlex.join(["hogeq", "run", "--resume", str(directory.path), *trust])
            then = f" after iteration {self.saved_iteration}; to continue: {command}"
            raise Interrupted(stop.signum, then) from None
        except ResultsError as error:
            raise ResultsError(f"{error}; {self._checkpoint_text()}") from error
        except Exception:
            with contextlib.suppress(ResultsError):
                self._write_manifest("failed")
            raise
        self._write_manifest("complete", figures=summary.figures())
        return summary

    # --- solving -------------------------------------------------------------------------------

    def _solve(self, progress: Phase) -> None:
        """Iterate to the end: measure and save at iterations of the schedule, and save between."""
        while True:
            is_measured = bool(self.metrics) and self.metrics[-1].iteration >= self.iteration
            if self.iteration in self.scheduled and not is_measured:
                self.metrics = (*self.metrics, self._measure())
                self._save()
            if self.metrics:
                progress.measured(self.metrics[-1].exploitability(self.game.units))
            if self.iteration >= self.iterations:
                return
            next_measured = self.schedule[bisect_right(self.schedule, self.iteration)]
            progress.step(self._iterate(next_measured - self.iteration))
            self.signals.check()
            if time.monotonic() - self.saved_at > SAVE_EVERY:
                # Called only to raise an error if the state gives no valid strategies: such a
                # state must not replace a good checkpoint.
                self._strategies()
                self._save()

    def _iterate(self, max_steps: int) -> int:
        """Do 1 to `max_steps` iterations of the solver, and return their number."""
        start = working_time()
        self.is_state_whole = False
        self.iteration += 1  # before the call, since an error names this iteration
        self.state, num_done = self._call(
            lambda game, state: self.pace.steps(partial(self.solver.steps, game), state, max_steps)
        )
        self.iteration += num_done - 1
        self.seconds += working_time() - start
        # A state with NaN or infinities must not replace a good checkpoint.
        if not hasattr(self.state, "_asdict"):
            raise self._failure(f"its step gave {shown(self.state)}")
        for name, value in self.state._asdict().items():
            array = np.asarray(value)
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                index = tuple(np.argwhere(~np.isfinite(array))[0].tolist())
                position = f" at {index}" if index else ""
                raise self._failure(f"its {name} is {array[index]}{position}")
        self.is_state_whole = True
        return num_done

    def _call(self, method: Callable[[Any, Any], Any]) -> Any:
        """Call a method of the solver; numeric errors, and all of a plugin, become `RunError`."""
        try:
            return method(self.game.engine, self.state)
        except (OverflowError, FloatingPointError) as error:
            raise self._failure(error.args[-1]) from error
        except Exception as error:
            if is_ours(self.solver) or isinstance(error, WorkersLostError):
                raise
            problem = f"{raised(error)} (HOGEQ_DEBUG=1 shows where)"
            raise self._failure(problem) from error

    def _failure(self, problem: object) -> RunError:
        """Make the error of a solver that failed, with the iteration and what is saved."""
        return RunError(
            f"{named(f'solver {self.config.solver.name}', self.solver)} failed at iteration"
            f" {self.iteration}: {problem}; {self._checkpoint_text()}"
        )

    def _strategies(self) -> Strategies:
        """Ask the solver for its strategies; raise `RunError` if they are invalid in the game."""
        game = self.game
        policy_name = "its average policy"
        policy = self._call(self.solver.average)
        mixture = self._call(self.solver.mixture)
        try:
            policy = self.solver.checked(game.engine, policy, policy_name)
            mixture = None if mixture is None else game.playable(mixture, "its mixture")
            return Strategies(game.playable(policy, policy_name).policy, mixture)
        except ValueError as error:
            raise self._failure(error) from error

    def _measure(self) -> Metrics:
        """Measure the strategies of this iteration, as a line of `metrics.csv`."""
        strategies = self._strategies()
        regret = float(self._call(self.solver.stats).get("average_regret", np.nan))
        with self.signals.interruptible():
            fields = measure_strategies(self.game, strategies, self.config.measure.attack)
        return Metrics(self.iteration, self.seconds, average_regret=regret, **fields)

    def _conclude(self) -> RunSummary:
        """Purify the final policy, measure for the last time, and write strategies and figures."""
        game = self.game
        config = self.config
        strategies = self._strategies()
        with self.signals.interruptible(), phase("finishing", 3, "steps") as progress:
            method = config.purify.method
            progress.now(f"purification by {method}")
            try:
                parameters = plain(config.purify.params)
                matrix = game.purify(strategies.policy, method, **parameters).array
            except StrategyError as error:
                raise RunError(f"{error}; {self._checkpoint_text()}") from error
            progress.step()
            last = self.metrics[-1]
            results = measure_at_end(game, config.measure, strategies, matrix, last, progress)
            progress.reach(3)  # all steps
            progress.now("files and figures")
            summary = RunSummary(
                directory=self.directory.path,
                config=config,
                metrics=self.metrics,
                **results,
                seconds=self.seconds,
                elapsed=self._elapsed(),
                caveat=self.solver.caveat(game.engine),
            )
            export(game, strategies, matrix, summary)
        return summary

    # --- what is saved -------------------------------------------------------------------------

    def _first_manifest(self, files_read: list[dict[str, str]]) -> dict[str, Any]:
        """Describe the run for its manifest, as plain values; a resumed run keeps start and files.

        Of a game other than Hog it has the source, and a hash of its tree or positions.
        """
        before = self.manifest_before if self.iteration else {}
        started = before.get("started")
        files = before.get("files")
        resumed_at = before.get("resumed_at")
        if not isinstance(resumed_at, list):
            resumed_at = []
        if self.iteration:
            resumed_at = [*resumed_at, self.iteration]
        manifest = {
            "schema": SCHEMA,
            "name": self.config.name,
            "config_hash": self.fingerprint,
            "seed": self.config.seed,
            "started": started if isinstance(started, str) else now(),
            "resumed_at": resumed_at,  # iterations
            "environment": environment(),
            "plugins": plugin_facts(self.config.plugins),
        }
        if not isinstance(self.game, Hog):
            file = Path(self.config.game)
            is_file = file.is_file() and bool(GameName(file).tree_suffix)
            digest = sha256(file.read_bytes()).hexdigest() if is_file else None
            manifest["game"] = {**self.game.rows.facts(), "file_sha256": digest}
        manifest["files"] = files if isinstance(files, list) else files_read
        return manifest

    def _write_manifest(self, status: str, figures: dict[str, Any] | None = None) -> None:
        """Write the manifest with the present status, times and saved iteration."""
        state = {
            "status": status,
            "ended": None if status == "running" else now(),
            "elapsed_seconds": self._elapsed(),
            "solver_seconds": self.seconds,
            "iterations": self.saved_iteration,
            "figures": figures,
        }
        self.directory.write_manifest({**self.manifest, **state})

    def _restore(self) -> None:
        """Go on from the checkpoint of the folder, if it has one; it has to be of this run."""
        folder = self.directory.path
        path = folder / CHECKPOINT
        before = self.manifest_before
        require_same(folder, before, self.fingerprint, self.config.plugins)
        if not path.exists():
            return
        require_same_game(folder, before, self.config.game, self.game)
        solver_name = self.config.solver.name
        arrays = self.state._asdict()
        saved = read_checkpoint(path, solver_name, self.fingerprint, arrays, self.solver.GROWS)
        if saved.iteration > self.iterations:
            raise ResultsError(
                f"{folder} is at iteration {saved.iteration} already; allowed:"
                f" solver.iterations of that or more, not {self.iterations}"
            )
        seed = before.get("seed", self.config.seed)
        if seed != self.config.seed:
            allowed = f"{seed}, that of the run"
            raise ResultsError(refusal(f"{folder}: seed", self.config.seed, allowed))
        self.state = self.solver.restore(self.state, saved.state)
        self.iteration = saved.iteration
        self.saved_iteration = saved.iteration
        self.seconds = saved.seconds
        self.elapsed_before = saved.elapsed
        # The last measurement of the shorter run need not be in the schedule of a longer one.
        self.metrics = tuple(row for row in saved.metrics if row.iteration in self.scheduled)

    def _save(self) -> None:
        """Write a checkpoint of the present state, and the metrics so far."""
        checkpoint = Checkpoint(
            solver=self.config.solver.name,
            fingerprint=self.fingerprint,
            iteration=self.iteration,
            seconds=self.seconds,
            elapsed=self._elapsed(),
            metrics=self.metrics,
            state=self.state._asdict(),
        )
        self.directory.save(checkpoint)
        self.saved_iteration = self.iteration
        self.saved_at = time.monotonic()

    def _checkpoint_text(self) -> str:
        """Say what an error leaves behind: the folder and its last checkpoint."""
        saved = self.saved_iteration
        checkpoint = f"the checkpoint after iteration {saved}" if saved else "no checkpoint yet"
        return f"{self.directory.path} holds {checkpoint}"

    def _elapsed(self) -> float:
        """Seconds spent on the run, with those before it was resumed."""
        return self.elapsed_before + working_time() - self.started
