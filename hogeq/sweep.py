"""Sweeps: many runs from one file, side by side, and one table of what came of them.

A sweep is a list of points, each a config of its own with a run directory of its own. What is done
is not done again, what was cut off goes on, and a point that fails does not stop the others.
"""

import csv
import dataclasses
import io
import itertools
import json
import math
import re
import secrets
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field

from hogeq import plots, results, runs
from hogeq.config import (
    NAME_ALLOWED,
    Config,
    ConfigError,
    Strict,
    apply_overrides,
    check_name,
    checked,
    config_from,
    load_config,
    read_yaml,
    set_keys,
)
from hogeq.executor import Workers
from hogeq.game import compile_game
from hogeq.results import HeldError, ResultsError, RunDirectory
from hogeq.run import Interrupted, RunError, Signals, run

MOST_POINTS: Final = 100_000

TABLE: Final = "table.csv"
PARQUET: Final = "table.parquet"
FIGURE: Final = "summary.png"

PATIENCE: Final = 30.0
"""Seconds to wait for a run directory that a process, given up or dying, may still hold."""

GRACE: Final = 30.0
"""Seconds that runs are given to write a checkpoint when the sweep is stopped."""

_TOKEN: Final = ".token"  # noqa: S105 - no secret: tells a shared folder from one of the same name
_LONGEST: Final = 80  # characters of a point's name


@dataclasses.dataclass(frozen=True)
class Point:
    """One run of a sweep.

    Attributes
    ----------
    config : Config
        Its name is that of the run directory.
    settings : dict
        What the sweep sets, by the keys' paths.
    """

    config: Config
    settings: dict[str, Any]

    @property
    def name(self) -> str:
        """Name of the run directory."""
        return self.config.name

    def __str__(self) -> str:
        return ", ".join(f"{key}={_text(value)}" for key, value in self.settings.items())


@dataclasses.dataclass(frozen=True)
class Sweep:
    """A sweep, every point of it checked.

    Attributes
    ----------
    name : str
        Of the folder that its run directories are in.
    keys : tuple of str
        Paths of the keys that points set.
    points : tuple of Point
    """

    name: str
    keys: tuple[str, ...]
    points: tuple[Point, ...]


@dataclasses.dataclass(frozen=True)
class Summary:
    """What a sweep came to.

    Attributes
    ----------
    directory : Path
    rows : list of dict
        The lines of the table, one a point.
    done_before : int
        Points that were there already, whole.
    seconds : float
    notes : tuple of str
        What a user should know.
    """

    directory: Path
    rows: list[dict[str, Any]]
    done_before: int
    seconds: float
    notes: tuple[str, ...]

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


# --- from a file to points ------------------------------------------------------------------------


class _File(Strict):
    name: Annotated[str, Field(description=NAME_ALLOWED)]
    base: Annotated[
        str | dict[str, Any],
        Field(description="a config, or the path of one seen from this file's folder"),
    ]
    grid: dict[str, Annotated[list[Any], Field(min_length=1)]] = Field(
        default_factory=dict, description="lists of values by key's path, none empty"
    )
    points: list[Annotated[dict[str, Any], Field(min_length=1)]] = Field(
        default_factory=list, description="a list of mappings, values by key's path, none empty"
    )


def load_sweep(path: str | Path, overrides: Sequence[str] = ()) -> Sweep:
    """Read a sweep's file, and check every point of it.

    Parameters
    ----------
    path : str or Path
        A YAML file: ``name``; ``base``, a config or the path of one; ``grid``, lists of values by
        key, every combination a point; ``points``, settings one by one, each crossed with the grid.
    overrides : sequence of str
        ``key=value``, set in the base.

    Returns
    -------
    Sweep

    Raises
    ------
    ConfigError
        The file is no sweep, or a point of it is refused.
    """
    path = Path(path)
    source = str(path)
    given = checked(_File, read_yaml(path), "", source)
    check_name(given.name, source)
    if not given.grid and not given.points:
        raise ConfigError(f"{source}: grid, points: both missing; allowed: either, or both")
    count = math.prod(map(len, given.grid.values())) * max(1, len(given.points))
    if count > MOST_POINTS:
        raise ConfigError(f"{source}: {count:,} points; allowed: at most {MOST_POINTS:,}")
    base = given.base
    if isinstance(base, str):
        base = read_yaml(path.parent / base)
    base = apply_overrides(base, overrides)
    keys = tuple(dict.fromkeys([key for point in given.points for key in point] + [*given.grid]))
    if "name" in keys:
        raise ConfigError(f"{source}: name: a sweep names its points itself")
    labels = _labels(keys)
    points = tuple(
        _point(base, settings, labels, source) for settings in _settings(given.points, given.grid)
    )
    _require_distinct(points, source)
    _require_possible(points, source)
    return Sweep(given.name, keys, points)


def _settings(
    points: Sequence[Mapping[str, Any]], grid: Mapping[str, Sequence[Any]]
) -> Iterator[dict[str, Any]]:
    for point in points or [{}]:
        for values in itertools.product(*grid.values()):
            yield {**point, **dict(zip(grid, values, strict=True))}


def _point(
    base: Mapping[str, Any], settings: dict[str, Any], labels: Mapping[str, str], source: str
) -> Point:
    name = _name({labels[key]: value for key, value in settings.items()})
    tree = {**set_keys(base, settings, source), "name": name}
    return Point(config_from(tree, f"{source}: point {name}"), settings)


def _labels(keys: Sequence[str]) -> dict[str, str]:
    """Shorten keys' paths as far as they stay apart; ``solver.name`` says solver."""
    short = {}
    for key in keys:
        parts = key.removesuffix(".name").split(".")
        short[key] = parts[-1]
    taken = list(short.values())
    return {key: label if taken.count(label) == 1 else key for key, label in short.items()}


def _name(settings: Mapping[str, Any]) -> str:
    """Name a point by its own settings alone, so that a sweep may grow."""
    whole = ",".join(f"{label}={_text(value)}" for label, value in settings.items())
    plain = re.sub(r"[^A-Za-z0-9._=+,@-]+", "-", whole)
    if plain == whole and len(whole) <= _LONGEST and plain[0].isalnum():
        return whole
    return f"{plain[:_LONGEST].lstrip('._=+,@-')}@{sha256(whole.encode()).hexdigest()[:8]}"


def _text(value: object) -> str:
    return (
        value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), default=str)
    )


def _identity(config: Config) -> str:
    """Write down what a run's numbers depend on, and nothing else."""
    tree = config.resolved()
    del tree["name"], tree["seed"]
    for effort in (tree["measure"]["attack"], tree["measure"]["final_attack"] or {}):
        effort.pop("jobs", None)
    return json.dumps(tree, sort_keys=True)


def _require_distinct(points: Sequence[Point], source: str) -> None:
    seen: dict[str, Point] = {}
    for point in points:
        other = seen.setdefault(_identity(point.config), point)
        if other is not point:
            raise ConfigError(
                f"{source}: points {other.name} and {point.name} are the same run: given twice, or "
                "what sets them apart is set again by a nearer key"
            )


def _require_possible(points: Sequence[Point], source: str) -> None:
    """Refuse what the game or the solver would refuse, once for each kind of it."""
    tried = set()
    for point in points:
        config = point.config
        solver = dataclasses.replace(config.solver, iterations=1, seed=0)
        kind = repr((config.rules, solver))
        if kind not in tried:
            try:
                config.solver.params.init(compile_game(config.rules))
            except ValueError as error:
                raise ConfigError(f"{source}: point {point.name}: {error}") from error
            tried.add(kind)


# --- one point, wherever it is computed -----------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Task:
    """A point on its way to a worker.

    Attributes
    ----------
    config : Config
    folder : str
        The sweep's folder, where the sweep was started.
    token : str
        What a file in that folder says. A worker that reads it there sees the same folder.
    overwrite : bool
        Replace a run that is there.
    """

    config: Config
    folder: str
    token: str
    overwrite: bool


@dataclasses.dataclass(frozen=True)
class Report:
    """What a worker says of a point.

    Attributes
    ----------
    error : str
        Empty: the run is complete.
    files : dict
        Contents of the run directory by name, if the worker could not write it in its place.
    """

    error: str = ""
    files: dict[str, bytes] = dataclasses.field(default_factory=dict)


def compute_point(task: Task) -> Report:
    """Run one point: in its place if that can be seen from here, or in a folder of its own.

    Returns
    -------
    Report
        Whatever happens, so that no error has to travel.
    """
    folder, config = Path(task.folder), task.config
    try:
        if _sees(folder, task.token):
            _run_in_place(config, folder, task.overwrite)
            return Report()
        with tempfile.TemporaryDirectory(prefix="hogeq-") as scratch:
            path = run(config, scratch, quiet=True).directory
            return Report(files={name: (path / name).read_bytes() for name in results.FILES})
    except (ConfigError, ResultsError, RunError, Interrupted) as error:
        return Report(str(error))
    except Exception as error:  # noqa: BLE001 - a bug in one point must not stop the others
        return Report(f"internal failure: {type(error).__name__}: {error}")


def _sees(folder: Path, token: str) -> bool:
    try:
        return (folder / _TOKEN).read_text() == token
    except (OSError, ValueError):
        return False


def _run_in_place(config: Config, folder: Path, overwrite: bool) -> None:
    path = folder / config.name
    limit = time.monotonic() + PATIENCE
    while True:
        resume = path if path.exists() and not overwrite else None
        try:
            run(config, folder, resume, overwrite, quiet=True)
        except HeldError:
            if time.monotonic() > limit:
                raise
            time.sleep(0.5)
        else:
            return


# --- all points -----------------------------------------------------------------------------------


def run_sweep(
    sweep: Sweep,
    workers: Workers,
    out_root: str | Path = "results",
    *,
    overwrite: bool = False,
    progress: Callable[[int, int], object] = lambda _done, _failed: None,
) -> Summary:
    """Compute what is left of a sweep, and write its table and its figure.

    Parameters
    ----------
    sweep : Sweep
    workers : Workers
        Who computes.
    out_root : str or Path
        The sweep's folder is made here.
    overwrite : bool
        Do all points anew.
    progress : callable, optional
        Told how many points have ended, and how many of them failed.

    Returns
    -------
    Summary

    Raises
    ------
    ResultsError
        The folder cannot be made or written, is in use, or holds other runs.
    WorkersLostError
        There is nobody left to compute.
    Interrupted
        A signal came; what was computed is kept.
    """
    started = time.monotonic()
    folder = Path(out_root).absolute() / sweep.name
    with results.reported(folder, "made"):
        folder.mkdir(parents=True, exist_ok=True)
    if (folder / results.MANIFEST).exists():
        raise ResultsError(f"{folder} is a run directory; give the sweep another name")
    with results.lock(folder), Signals() as signals, signals.at_once():
        left = [point for point in sweep.points if overwrite or not _is_complete(point, folder)]
        done_before = len(sweep.points) - len(left)
        progress(done_before, 0)
        errors = _computed(left, workers, folder, overwrite, done_before, progress)
        rows = [_row(point, sweep.keys, folder, errors.get(point.name)) for point in sweep.points]
        notes = _write(sweep, rows, folder)
    return Summary(folder, rows, done_before, time.monotonic() - started, notes)


def _is_complete(point: Point, folder: Path) -> bool:
    """Whether a point's run is there and whole; refuse one of another config."""
    path = folder / point.name
    if not (path / results.CONFIG).exists():
        return False
    there, wanted = load_config(path / results.CONFIG), point.config
    try:
        found = runs.read(path, there.resolved())
    except ResultsError:
        found = None  # cut off before its first manifest
    longer = found is not None and (found.iterations or 0) > wanted.solver.iterations
    if longer or there.fingerprint() != wanted.fingerprint():
        raise ResultsError(
            f"{path} is a run of another config: --overwrite replaces it, another name of the"
            " sweep leaves it alone"
        )
    whole = found is not None and found.status == "complete"
    return whole and _identity(there) == _identity(wanted)


def _computed(
    points: Sequence[Point],
    workers: Workers,
    folder: Path,
    overwrite: bool,
    ended: int,
    progress: Callable[[int, int], object],
) -> dict[str, str]:
    """Compute points; give the errors of those that failed."""
    token = secrets.token_hex(16)
    with results.replacing(folder / _TOKEN) as temporary:
        temporary.write_text(token)
    tasks = [Task(point.config, str(folder), token, overwrite) for point in points]
    errors: dict[str, str] = {}
    with closing(workers.outcomes(compute_point, tasks, GRACE)) as outcomes:
        for index, report in outcomes:
            name = points[index].name
            if isinstance(report, Exception):
                errors[name] = (
                    f"no worker could compute it: {type(report).__name__}: {_line(report)}"
                )
            elif report.error:
                errors[name] = _line(report.error)
            elif report.files:
                _keep(report.files, folder, name)
            ended += 1
            progress(ended, len(errors))
    (folder / _TOKEN).unlink(missing_ok=True)
    return errors


def _keep(contents: Mapping[str, bytes], folder: Path, name: str) -> None:
    """Write the files of a run that a worker sent, the manifest last: with it the run is whole."""
    with RunDirectory.create(folder, name, overwrite=(folder / name).exists()) as directory:
        for file in sorted(contents, key=results.MANIFEST.__eq__):
            directory.write(file, contents[file])


# --- the table and the figure ---------------------------------------------------------------------

_FIGURES: Final = ("iterations", "attack", "bound", "matrix_attack", "matrix_bound")
_TIMES: Final = ("seconds", "elapsed")


def _row(point: Point, keys: Sequence[str], folder: Path, error: str | None) -> dict[str, Any]:
    try:
        found = vars(runs.read(folder / point.name, point.config.resolved()))
    except (ConfigError, ResultsError) as broken:
        found = {"status": "failed"}
        error = error or str(broken)
    return {
        "point": point.name,
        **{key: point.settings.get(key) for key in keys},
        "status": found["status"],
        "error": error,
        **{key: found.get(key) for key in (*_FIGURES, *_TIMES)},
    }


def _write(sweep: Sweep, rows: Sequence[Mapping[str, Any]], folder: Path) -> tuple[str, ...]:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(rows[0])
    writer.writerows(
        [["" if cell is None else _text(cell) for cell in row.values()] for row in rows]
    )
    with results.replacing(folder / TABLE) as temporary:
        temporary.write_text(text.getvalue(), encoding="utf-8")
    notes = _write_parquet(sweep, rows, folder / PARQUET)
    _draw(sweep, rows, folder / FIGURE)
    return notes


def _write_parquet(sweep: Sweep, rows: Sequence[Mapping[str, Any]], path: Path) -> tuple[str, ...]:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        path.unlink(missing_ok=True)  # an older one would not be of these rows
        return (
            f"{path.name} is not written: pyarrow is not installed; pip install 'hogeq[parquet]'",
        )
    kinds = {
        **dict.fromkeys(("point", "status", "error"), pa.string()),
        "iterations": pa.int64(),
        **dict.fromkeys((*_FIGURES[1:], *_TIMES), pa.float64()),
    }
    columns = {}
    for name in rows[0]:
        cells = [row[name] for row in rows]
        if name in sweep.keys:
            columns[name] = pa.array(_uniform(cells))
        else:
            columns[name] = pa.array(cells, kinds[name])
    with results.replacing(path) as temporary:
        parquet.write_table(pa.table(columns), temporary)
    return ()


def _uniform(cells: Sequence[Any]) -> list[Any]:
    """Leave a column of numbers or of switches as it is, and write out every other."""
    known = [cell for cell in cells if cell is not None]
    numbers = all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in known)
    if numbers and any(isinstance(cell, float) for cell in known):
        return [cell if cell is None else float(cell) for cell in cells]
    if numbers or all(isinstance(cell, bool) for cell in known):
        return list(cells)
    return [cell if cell is None else _text(cell) for cell in cells]


def _draw(sweep: Sweep, rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Draw the interval of every setting, seeds of one setting in one line."""
    apart = [key for key in sweep.keys if key.rpartition(".")[2] != "seed"]
    labels = _labels(apart)
    lines: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["attack"] is not None:
            about = ", ".join(
                row[key] if isinstance(row[key], str) else f"{labels[key]} {_text(row[key])}"
                for key in apart
            )
            lines.setdefault(about or "all seeds", []).append(row)
    if lines:
        plots.intervals(
            list(lines),
            [[row["attack"] for row in group] for group in lines.values()],
            [[row["bound"] for row in group] for group in lines.values()],
            path,
            sweep.name,
        )


def _line(error: object) -> str:
    return " ".join(str(error).split()) or type(error).__name__
