"""Sweeps: many runs from one file, side by side, and one table of their results.

What is done is not done again, what was cut off goes on, and a failure stops no other point.
"""

import dataclasses
import secrets
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Final

from hogeq.game import Game
from hogeq.model.compiling import compile_now
from hogeq.runs.config import Config, load_config
from hogeq.runs.directory import RunDirectory, require_same_game, require_same_plugins
from hogeq.runs.files import (
    CONFIG,
    LOCK_FILE,
    MANIFEST,
    HeldError,
    ResultsError,
    lock,
    readable_manifest,
    reported,
)
from hogeq.runs.index import read_run, table_of
from hogeq.runs.runner import KERNELS, Interrupted, RunError, Signals, game_of, run_experiment
from hogeq.runs.sweep_file import TOKEN, Sweep, SweepPoint, identity, table_row, write_table
from hogeq.search.results import Units
from hogeq.support.files import write_whole
from hogeq.support.messages import Text, one_line
from hogeq.support.progress import phase, working_time
from hogeq.support.workers import Workers
from hogeq.support.yaml import ConfigError

PATIENCE: Final = 30.0  # seconds to wait for a folder that a dying process may still hold
SWEPT: Final = ("point", "status", "attack", "bound", "nash_conv", "matrix_attack", "seconds")
"""Columns of a sweep's text."""
GRACE: Final = 30.0  # seconds for runs to write a checkpoint when the sweep is stopped
STOPPED: Final = "; what is done is kept, and the same command goes on from it"
LONGEST: Final = 2000  # characters of what went wrong with a point


@dataclasses.dataclass(frozen=True)
class SweepSummary:
    """Results of a sweep."""

    directory: Path
    rows: list[dict[str, Any]]
    units: list[Units]  # of each row
    done_before: int
    seconds: float
    lacks: str = ""  # why there is no picture

    @property
    def failures(self) -> list[dict[str, Any]]:
        """The lines of the points that failed."""
        return [row for row in self.rows if row["error"]]

    def to_json(self) -> dict[str, Any]:
        """Return the summary as plain values."""
        return {
            "directory": str(self.directory),
            "points": len(self.rows),
            "done_before": self.done_before,
            "failed": len(self.failures),
            "seconds": self.seconds,
            "rows": self.rows,
        }

    def text(self) -> Text:
        """Lay it out, as the command prints it."""
        pairs = zip(self.rows, self.units, strict=True)
        rows = [{**row, "units": units} for row, units in pairs]
        counts = f"{len(rows)} points, {self.done_before} of them done before"
        return [
            table_of(rows, [key for key in SWEPT if key in rows[0]], left=2),
            "",
            f"{counts}, {len(self.failures)} failed; {self.seconds:.1f} s",
            f"written to {self.directory}" + f"; {self.lacks}" * bool(self.lacks),
        ]


def compute_point(
    folder: Path, token: str, overwrite: bool, config: Config
) -> str | dict[str, bytes]:
    """Run one point where the sweep's folder is, or give its files, or an error."""
    try:
        if _sees(folder, token):
            _run_in_place(config, folder, overwrite)
            return ""
        with tempfile.TemporaryDirectory(prefix="hogeq-") as scratch:
            path = run_experiment(config, scratch, quiet=True).directory
            written = (file for file in path.rglob("*") if file.is_file())
            return {
                file.relative_to(path).as_posix(): file.read_bytes()
                for file in written
                if file.name != LOCK_FILE
            }
    except (ConfigError, ResultsError, RunError, Interrupted) as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 - a bug in one point must not stop the others
        return f"internal failure: {type(error).__name__}: {error}"


def _sees(folder: Path, token: str) -> bool:
    try:
        return (folder / TOKEN).read_text() == token
    except (OSError, ValueError):
        return False


def _run_in_place(config: Config, folder: Path, overwrite: bool) -> None:
    path = folder / config.name
    limit = time.monotonic() + PATIENCE
    while True:
        resume = path if path.exists() and not overwrite else None
        try:
            run_experiment(config, folder, resume, overwrite, quiet=True)
        except HeldError:
            if time.monotonic() > limit:
                raise
            time.sleep(0.5)
        else:
            return


def run_sweep(
    sweep: Sweep,
    workers: Workers,
    out_root: str | Path = "results",
    *,
    overwrite: bool = False,
) -> SweepSummary:
    """Compute the rest of a sweep, and write its table and its figure."""
    started = working_time()
    folder = Path(out_root).absolute() / sweep.name
    with reported(folder, "made"):
        folder.mkdir(parents=True, exist_ok=True)
    if (folder / MANIFEST).exists():
        raise ResultsError(f"{folder} is a run directory; give the sweep another name")
    with lock(folder), Signals(STOPPED) as signals, signals.at_once():
        games: dict[str, Game] = {}
        left = [one for one in sweep.points if overwrite or not _is_complete(one, folder, games)]
        done_before = len(sweep.points) - len(left)
        if workers.here:
            compile_now({point.config.rules for point in left if not point.config.game}, KERNELS)
        errors = _computed(left, workers, folder, overwrite, done_before)
        lines = [
            table_row(point, sweep.keys, folder, errors.get(point.name)) for point in sweep.points
        ]
        rows, units = [row for row, _ in lines], [one for _, one in lines]
        if all(row["nash_conv"] is None for row in rows):  # of Hog
            for row in rows:
                del row["nash_conv"]
        lacks = write_table(sweep, rows, units, folder)
    return SweepSummary(folder, rows, units, done_before, working_time() - started, lacks)


def _is_complete(point: SweepPoint, folder: Path, games: dict[str, Game]) -> bool:
    """Whether a point's run is there and whole; refuse one of another config or game."""
    path = folder / point.name
    if not (path / CONFIG).exists():
        return False
    require_same_plugins(path, point.config.plugins)
    there, wanted = load_config(path / CONFIG), point.config
    try:
        record = read_run(path, there.resolved())
    except ResultsError:
        record = None  # cut off before its first manifest
    longer = record is not None and (record.iterations or 0) > wanted.solver.iterations
    if longer or there.fingerprint() != wanted.fingerprint():
        raise ResultsError(
            f"{path} is a run of another config: --overwrite replaces it, another name of the"
            " sweep leaves it alone"
        )
    whole = record is not None and record.status == "complete"
    if not whole or identity(there) != identity(wanted):
        return False
    if wanted.game:
        if wanted.title not in games:
            games[wanted.title] = game_of(wanted)
        require_same_game(path, readable_manifest(path), wanted.game, games[wanted.title])
    return True


def _computed(
    points: Sequence[SweepPoint],
    workers: Workers,
    folder: Path,
    overwrite: bool,
    done_before: int,
) -> dict[str, str]:
    """Compute points; give the errors of those that failed."""
    token = secrets.token_hex(16)
    with reported(folder / TOKEN, "written"):
        write_whole(folder / TOKEN, token)
    compute = partial(compute_point, folder, token, overwrite)
    errors: dict[str, str] = {}
    with (
        phase("sweep", done_before + len(points), "points", done=done_before) as progress,
        closing(workers.outcomes(compute, [one.config for one in points], GRACE)) as outcomes,
    ):
        for index, result in outcomes:
            name = points[index].name
            if isinstance(result, Exception):
                why = one_line(result, LONGEST)
                errors[name] = f"no worker could compute it: {type(result).__name__}: {why}"
            elif isinstance(result, dict):
                _keep_files(result, folder, name)
            elif result:
                errors[name] = one_line(result, LONGEST)
            progress.step()
            progress.measured(f"{len(errors)} failed" if errors else "")
    (folder / TOKEN).unlink(missing_ok=True)
    return errors


def _keep_files(contents: Mapping[str, bytes], folder: Path, name: str) -> None:
    """Write the files of a run that a worker sent; the manifest comes last and makes it whole."""
    with RunDirectory.create(folder, name, overwrite=(folder / name).exists()) as directory:
        for file in sorted(contents, key=MANIFEST.__eq__):
            directory.write(file, contents[file])
