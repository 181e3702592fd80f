"""Sweeps: many runs from one file, side by side, and one table of their results.

What is done is not done again, what was cut off goes on, and a failure stops no other point.
"""

import dataclasses
import itertools
import json
import math
import re
import secrets
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

from pydantic import Field

from hogeq import Game, Hog, figures, warmup
from hogeq.runs.config import (
    Config,
    Name,
    apply_overrides,
    build,
    config_from,
    parse_override,
    read_tables,
    set_key,
)
from hogeq.runs.directory import require_same, require_same_game
from hogeq.runs.files import (
    CONFIG,
    MANIFEST,
    HeldError,
    ResultsError,
    as_results_error,
    lock,
    readable_manifest,
)
from hogeq.runs.index import RunRecord, read_run, table_of
from hogeq.runs.runner import (
    KERNELS,
    RunError,
    game_of,
    initial_state,
    run_experiment,
)
from hogeq.runs.signals import Interrupted, Signals
from hogeq.support.files import csv_text, write_whole
from hogeq.support.messages import Text, one_line
from hogeq.support.parameters import parameters
from hogeq.support.plugins import load_named
from hogeq.support.progress import phase, working_time
from hogeq.support.workers import Workers
from hogeq.support.yaml import ConfigError, read_yaml

MOST_POINTS: Final = 100_000
PATIENCE: Final = 30.0  # seconds to wait for a folder that a dying process may still hold
GRACE: Final = 30.0  # seconds for runs to write a checkpoint when the sweep is stopped
STOPPED: Final = "; what is done is kept, and the same command goes on from it"
MAX_ERROR_LENGTH: Final = 2000  # characters of what went wrong with a point
TOKEN: Final = ".token"  # noqa: S105 - no secret: tells a shared folder from one of the same name
_MAX_NAME_LENGTH: Final = 80  # characters of a point's name, without a hash

# --- the file of a sweep --------------------------------------------------------------------------


class SweepPoint(NamedTuple):
    """One run of a sweep."""

    name: str  # of its config and its run directory
    config: Config
    settings: dict[str, Any]


class Sweep(NamedTuple):
    """A sweep, every point of it checked."""

    name: str
    keys: tuple[str, ...]
    points: tuple[SweepPoint, ...]


@parameters
class _File:
    name: Name
    base: Annotated[
        str | dict[str, Any],
        Field(description="a config, or the path of one seen from this file's folder"),
    ]
    grid: Annotated[
        dict[str, Annotated[list[Any], Field(min_length=1)]],
        Field(description="lists of values by key's path, none empty"),
    ] = Field(default_factory=dict)
    points: Annotated[
        list[Annotated[dict[str, Any], Field(min_length=1)]],
        Field(description="a list of mappings, values by key's path, none empty"),
    ] = Field(default_factory=list)
    plugins: list[str] = Field(default_factory=list)


def load_sweep(path: str | Path, overrides: Sequence[str] = (), trust: bool = False) -> Sweep:
    """Read a sweep's file, and check every point of it.

    A point is the base config with keys set by one of the file's `points` and by one combination of
    the values of its `grid`. `overrides`, such as "seed=1", change the base, and `trust` allows to
    run the code of plugins. Raises `ConfigError` if the file or a point is not valid.
    """
    path = Path(path)
    source = str(path)
    tree = read_yaml(path)
    file = build(_File, tree, source)
    if not file.grid and not file.points:
        raise ConfigError(f"{source}: grid, points: both missing; allowed: either, or both")
    num_points = math.prod(map(len, file.grid.values())) * max(1, len(file.points))
    if num_points > MOST_POINTS:
        number = f"{num_points:,}" if num_points < 10**12 else "far too many"
        raise ConfigError(f"{source}: {number} points; allowed: at most {MOST_POINTS:,}")
    load_named(tree, path.parent, source, trust)
    base = file.base  # plain values of a config, or the name of its file
    base_path = path
    if isinstance(base, str):
        base_path = path.parent / base
        base = read_yaml(base_path)
    base = apply_overrides(base, overrides)
    load_named(base, base_path.parent, one_line(base_path), trust)
    base = read_tables(base, base_path.parent, one_line(base_path))
    keys_of_points = [key for point in file.points for key in point]
    keys = tuple(dict.fromkeys([*keys_of_points, *file.grid]))  # each once, in this order
    if "name" in keys:
        raise ConfigError(f"{source}: name: a sweep names its points itself")
    if "plugins" in keys:
        raise ConfigError(f"{source}: plugins: those of a sweep are of all its points")
    in_all_points = set(file.points[0]).intersection(*file.points) if file.points else set()
    _require_effect(overrides, ["name", *file.grid, *sorted(in_all_points)])
    labels = point_labels(keys)
    points = []
    combinations = itertools.product(*file.grid.values())
    for point, values in itertools.product(file.points or [{}], combinations):
        settings = {**point, **dict(zip(file.grid, values, strict=True))}
        name = _point_name({labels[key]: value for key, value in settings.items()})
        where = f"{source}: point {name}"
        tree = {**base, "name": name}
        for key, value in settings.items():
            set_key(tree, key, value, f"{source}: {one_line(key)}")
        config = config_from(read_tables(tree, path.parent, where), where)
        points.append(SweepPoint(name, config, settings))
    _require_sound(points, source)
    return Sweep(file.name, keys, tuple(points))


def _require_effect(overrides: Sequence[str], keys: Sequence[str]) -> None:
    """Raise `ConfigError` if an override sets a key of the base that every point sets again."""
    for override in overrides:
        path, _ = parse_override(override)
        set_again = [key for key in keys if path == key or path.startswith(f"{key}.")]
        if set_again:
            allowed = f"keys other than {', '.join(set_again)}, which every point sets"
            raise ConfigError(f"--set {one_line(override)}: without effect; allowed: {allowed}")


def point_labels(keys: Sequence[str]) -> dict[str, str]:
    """Give each key a label: the last part of its path if no other key has the same.

    For ``solver.name`` the part is solver.
    """
    last_parts = {key: key.removesuffix(".name").rpartition(".")[2] for key in keys}
    all_parts = list(last_parts.values())
    return {key: part if all_parts.count(part) == 1 else key for key, part in last_parts.items()}


def _point_name(settings: Mapping[str, Any]) -> str:
    """Name a point by its settings, such as "solver=dcfr,seed=1".

    The name does not depend on other points, so that points can be added to a sweep. If the
    settings have characters that a folder's name must not have, or are too long, the name is cut
    and ends with a hash of them.
    """
    text = ",".join(f"{label}={setting_text(value)}" for label, value in settings.items())
    allowed_text = re.sub(r"[^A-Za-z0-9._=+,@-]+", "-", text)
    is_valid_name = allowed_text == text and text[0].isalnum() and text[-1] != "."
    if is_valid_name and len(text) <= _MAX_NAME_LENGTH:
        return text
    start = allowed_text[:_MAX_NAME_LENGTH].lstrip("._=+,@-")
    return f"{start}@{sha256(text.encode()).hexdigest()[:8]}"


def setting_text(value: object) -> str:
    """Write a setting for a name or a table: a text as it is, anything else as JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(value, separators=(",", ":"), default=str)


def config_identity(config: Mapping[str, Any]) -> str:
    """Serialise a resolved config without the keys that its run's numbers do not depend on.

    Each section has the seed that it uses, so that the config's own seed does not matter.
    """
    return json.dumps({**config, "name": "", "seed": 0}, sort_keys=True)


def _require_sound(points: Sequence[SweepPoint], source: str) -> None:
    """Raise `ConfigError` if two points are the same run, or if a solver refuses its game."""
    point_of: dict[str, SweepPoint] = {}  # by the identity of its config
    accepted = set()  # pairs of game and solver already tried; iterations and seed do not matter
    for point in points:
        config = point.config
        other = point_of.setdefault(config_identity(config.resolved()), point)
        if other is not point:
            raise ConfigError(
                f"{source}: points {other.name} and {point.name} are the same run: given twice, or "
                "what sets them apart is set again by a nearer key"
            )
        solver = dataclasses.replace(config.solver, iterations=1, seed=0)
        game_and_solver = repr((config.title, config.rules, solver))
        if game_and_solver not in accepted:
            try:
                initial_state(config.solver, game_of(config))
            except ValueError as error:
                raise ConfigError(f"{source}: point {point.name}: {error}") from error
            accepted.add(game_and_solver)


# --- computing ------------------------------------------------------------------------------------


class SweepRow(NamedTuple):
    """A point of a sweep, and the record of its run: a line of the sweep's table."""

    point: SweepPoint
    record: RunRecord  # "failed", and no more, if the point has no run that can be read
    error: str | None

    def to_json(self, columns: Sequence[str]) -> dict[str, Any]:
        """Return the values of columns: the point, its settings, status, error, figures, times."""
        values = {
            **self.point.settings,
            "point": self.point.name,
            "status": self.record.status,
            "error": self.error,
            **{key: getattr(self.record, key) for key in (*FIGURE_COLUMNS, *TIME_COLUMNS)},
        }
        return {column: values.get(column) for column in columns}


@dataclasses.dataclass(frozen=True)
class SweepSummary:
    """Results of a sweep."""

    directory: Path
    rows: list[SweepRow]
    columns: list[str]  # of its table
    done_before: int
    seconds: float
    no_figure_reason: str = ""  # why there is no picture

    @property
    def failures(self) -> list[SweepRow]:
        """The lines of the points that failed."""
        return [row for row in self.rows if row.error]

    def to_json(self) -> dict[str, Any]:
        """Return the summary as plain values."""
        return {
            "directory": str(self.directory),
            "points": len(self.rows),
            "done_before": self.done_before,
            "failed": len(self.failures),
            "seconds": self.seconds,
            "rows": [row.to_json(self.columns) for row in self.rows],
        }

    def text(self) -> Text:
        """Lay out the table of the points, and counts, as ``hogeq sweep`` prints them."""
        counts = f"{len(self.rows)} points, {self.done_before} of them done before"
        problem = f"; {self.no_figure_reason}" if self.no_figure_reason else ""
        rows = [{**row.to_json(self.columns), "units": row.record.units} for row in self.rows]
        return [
            table_of(rows, [key for key in SWEPT if key in self.columns], left=2),
            "",
            f"{counts}, {len(self.failures)} failed; {self.seconds:.1f} s",
            f"written to {self.directory}{problem}",
        ]


def compute_point(folder: Path, token: str, overwrite: bool, config: Config) -> str:
    """Run one point in the sweep's folder; return an error message, empty if the run succeeds.

    `token` is the content of a file of the folder. It shows that a worker on another machine has
    the same folder and not another one of the same path.
    """
    try:
        is_shared = (folder / TOKEN).read_text() == token
    except (OSError, ValueError):
        is_shared = False
    if not is_shared:
        return f"{folder}: its worker does not see this folder; allowed: one that all workers share"
    try:
        _run_in_place(config, folder, overwrite)
    except (ConfigError, ResultsError, RunError, Interrupted) as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 - a bug in one point must not stop the others
        return f"internal failure: {type(error).__name__}: {error}"
    return ""


def _run_in_place(config: Config, folder: Path, overwrite: bool) -> None:
    """Start or resume a run; wait up to `PATIENCE` while another process locks its folder.

    A process that was stopped just now may hold the lock for a moment.
    """
    path = folder / config.name
    give_up_time = time.monotonic() + PATIENCE
    while True:
        resume = path if path.exists() and not overwrite else None
        try:
            run_experiment(config, folder, resume, overwrite, quiet=True)
        except HeldError:
            if time.monotonic() > give_up_time:
                raise
            time.sleep(0.5)
        else:
            return


def run_sweep(
    sweep: Sweep, workers: Workers, out_root: str | Path = "results", *, overwrite: bool = False
) -> SweepSummary:
    """Compute the points of a sweep that are not complete, and write its table and its figure.

    The runs are in the folder ``out_root/NAME``, and with `overwrite` all are computed again.
    """
    started = working_time()
    folder = Path(out_root).absolute() / sweep.name
    with as_results_error(folder, "made"):
        folder.mkdir(parents=True, exist_ok=True)
    if (folder / MANIFEST).exists():
        raise ResultsError(f"{folder} is a run directory; give the sweep another name")
    with lock(folder), Signals(STOPPED) as signals, signals.interruptible():
        games: dict[str, Game] = {}  # by title, built once for all points
        points_left = [
            point for point in sweep.points if overwrite or not _is_complete(point, folder, games)
        ]
        done_before = len(sweep.points) - len(points_left)
        if workers.here:
            rules = {point.config.rules for point in points_left if not point.config.game}
            warmup(map(Hog, rules), KERNELS)
        errors = _compute_points(points_left, workers, folder, overwrite, done_before)
        rows = [table_row(point, folder, errors.get(point.name)) for point in sweep.points]
        columns = ["point", *sweep.keys, "status", "error", *FIGURE_COLUMNS, *TIME_COLUMNS]
        if all(row.record.nash_conv is None for row in rows):
            columns.remove("nash_conv")  # Hog has win rates instead
        no_figure_reason = write_table(sweep, rows, columns, folder)
    seconds = working_time() - started
    return SweepSummary(folder, rows, columns, done_before, seconds, no_figure_reason)


def _is_complete(point: SweepPoint, folder: Path, games: dict[str, Game]) -> bool:
    """Whether the folder has the point's run, finished.

    Raises `ResultsError` if it has a run of another config or game. `games` has the games built so
    far by title, and gets new ones.
    """
    path = folder / point.name
    if not (path / CONFIG).exists():
        return False
    config = point.config
    manifest = readable_manifest(path)
    require_same(path, manifest, config.fingerprint(), config.plugins)
    try:
        record = read_run(path)
    except ResultsError:
        return False  # cut off before its first manifest
    if (record.iterations or 0) > config.solver.iterations:
        raise ResultsError(
            f"{path} has more iterations, by another config: --overwrite replaces it"
        )
    stored_config = read_yaml(path / CONFIG)
    if record.status != "complete" or config_identity(stored_config) != config_identity(
        config.resolved()
    ):
        return False
    if config.game:
        if config.title not in games:
            games[config.title] = game_of(config)
        require_same_game(path, manifest, config.game, games[config.title])
    return True


def _compute_points(
    points: Sequence[SweepPoint], workers: Workers, folder: Path, overwrite: bool, done_before: int
) -> dict[str, str]:
    """Run points by workers; return the error messages of those that failed, by name."""
    token = secrets.token_hex(16)
    with as_results_error(folder / TOKEN, "written"):
        write_whole(folder / TOKEN, token)
    compute = partial(compute_point, folder, token, overwrite)
    errors: dict[str, str] = {}
    with (
        phase("sweep", done_before + len(points), "points", done=done_before) as progress,
        closing(workers.outcomes(compute, [point.config for point in points], GRACE)) as outcomes,
    ):
        for index, result in outcomes:
            name = points[index].name
            if isinstance(result, Exception):
                text = one_line(result, MAX_ERROR_LENGTH)
                errors[name] = f"no worker could compute it: {type(result).__name__}: {text}"
            elif result:  # the error message that `compute_point` returns
                errors[name] = one_line(result, MAX_ERROR_LENGTH)
            progress.step()
            progress.measured(f"{len(errors)} failed" if errors else "")
    (folder / TOKEN).unlink(missing_ok=True)
    return errors


# --- the table and the picture --------------------------------------------------------------------

TABLE: Final = "table.csv"
FIGURE: Final = "summary.png"
FIGURE_COLUMNS: Final = (
    *("iterations", "attack", "bound", "nash_conv", "matrix_attack", "matrix_bound"),
)
TIME_COLUMNS: Final = ("seconds", "elapsed")
SWEPT: Final = ("point", "status", "attack", "bound", "nash_conv", "matrix_attack", "seconds")
"""Columns of a sweep's text."""


def table_row(point: SweepPoint, folder: Path, error: str | None) -> SweepRow:
    """Read the run of a point; `error` says why it failed, if it did."""
    try:
        return SweepRow(point, read_run(folder / point.name), error)
    except (ConfigError, ResultsError) as broken:
        record = RunRecord(folder / point.name, point.name, "failed")
        return SweepRow(point, record, error or str(broken))


def write_table(
    sweep: Sweep, rows: Sequence[SweepRow], columns: Sequence[str], folder: Path
) -> str:
    """Write a sweep's table and draw its figure; return why there is no figure, if there is none.

    Points with other units cannot share the axis of a figure.
    """
    with as_results_error(folder / TABLE, "written"):
        cells = ([_cell(value) for value in row.to_json(columns).values()] for row in rows)
        write_whole(folder / TABLE, csv_text(columns, cells))
    measured = [row for row in rows if row.record.attack is not None]
    with as_results_error(folder / FIGURE, "written"):
        if len({row.record.units.axis for row in measured}) > 1:
            (folder / FIGURE).unlink(missing_ok=True)
            return f"no {FIGURE}: it would have win rates beside payoffs"
        if measured:
            _draw(sweep, measured, folder / FIGURE)
    return ""


def _cell(value: object) -> object:
    """Give a cell of a CSV table: a finite number as it is, any other value as a text.

    Spreadsheets take a text that begins with a minus sign for a formula.
    """
    is_number = type(value) is int or (isinstance(value, float) and math.isfinite(value))
    return value if is_number or value is None else setting_text(value)


def _draw(sweep: Sweep, rows: Sequence[SweepRow], path: Path) -> None:
    """Draw the exploitability of every row; rows that differ only in their seeds are one line."""
    keys = [key for key in sweep.keys if key.rpartition(".")[2] != "seed"]
    labels = point_labels(keys)
    # Ends of the intervals, one for each seed, by a text about the other settings.
    attacks: dict[str, list[float]] = {}
    bounds: dict[str, list[float]] = {}
    for row in rows:
        texts = []
        for key in keys:
            value = row.point.settings.get(key)
            if isinstance(value, str):
                texts.append(value)  # a solver's name, say, needs no label
            elif value is not None:
                texts.append(f"{labels[key]} {setting_text(value)}")
        setting = ", ".join(filter(None, texts)) or "all seeds"
        ends: Any = row.record.attack, row.record.bound
        lower, upper = row.record.units.beyond(*ends)
        attacks.setdefault(setting, []).append(lower)
        bounds.setdefault(setting, []).append(upper)
    figures.intervals(
        list(attacks),
        list(attacks.values()),
        list(bounds.values()),
        path,
        sweep.name,
        units=rows[0].record.units._replace(even=0.0),
    )
