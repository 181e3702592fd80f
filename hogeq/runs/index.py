"""Runs, read from their folders: an index of many, and finished ones."""

import dataclasses
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field, InstanceOf, WithJsonSchema

import hogeq
from hogeq.runs.files import (
    CHECKPOINT,
    CONFIG,
    MANIFEST,
    MATRIX,
    METRICS,
    MIXTURE,
    POLICY,
    Metrics,
    ResultsError,
    as_results_error,
    figures_in,
    finite,
    is_held,
    read_manifest,
    read_metrics,
    readable_manifest,
    units_in,
)
from hogeq.support.messages import Table, one_line
from hogeq.support.parameters import ParameterError, parameters
from hogeq.support.plugins import load_named
from hogeq.support.yaml import ConfigError, read_yaml

if TYPE_CHECKING:
    from hogeq.runs.config import Config

_MAX_KEY_LENGTH: Final = 200  # of a config's keys by path; they are written out for every value
CUT_OFF: Final = "cut off"  # status of a run whose process ended without noting it


@parameters
class RunRecord:
    """Facts about one run directory; those not known, of a run under way say, are None."""

    path: Path
    name: str
    status: str
    edition: str | None = None
    solver: str | None = None
    seed: int | None = None
    iterations: int | None = None
    attack: float | None = None
    bound: float | None = None
    nash_conv: float | None = None
    matrix_attack: float | None = None
    matrix_bound: float | None = None
    mixture_attack: float | None = None
    mixture_bound: float | None = None
    seconds: float | None = None
    elapsed: float | None = None
    started: str | None = None
    version: str | None = None
    commit: str | None = None
    config: dict[str, Any] = Field(default_factory=dict, repr=False)
    units: Annotated[InstanceOf[hogeq.Units], WithJsonSchema({})] = Field(
        default_factory=lambda: hogeq.WIN_RATES, repr=False
    )

    def to_json(self) -> dict[str, Any]:
        """Return the run as plain values."""
        fields = {key: value for key, value in vars(self).items() if key != "units"}
        return finite({**fields, "path": str(self.path)})


KEYS: Final = tuple(
    field.name for field in dataclasses.fields(RunRecord) if field.name not in {"config", "units"}
)


def find_runs(root: str | Path) -> tuple[list[RunRecord], dict[Path, str]]:
    """Read every run directory under a folder, and the folder itself if it is one.

    Returns the records, and an error message for each directory that is broken.
    """
    root = Path(root)
    with as_results_error(root, "read"):
        os.scandir(root).close()  # raises an error if the folder cannot be read
    records: list[RunRecord] = []
    broken: dict[Path, str] = {}
    for path in _directories(root):
        try:
            records.append(read_run(path))
        except (ConfigError, ResultsError) as error:
            broken[path] = str(error)
    return records, broken


def read_run(path: str | Path) -> RunRecord:
    """Read one run directory."""
    path = Path(path)
    manifest = read_manifest(path)
    config, _ = _config_in(path, manifest)
    if not isinstance(config, Mapping):
        raise ResultsError(f"{path / CONFIG} is not what a run writes: no mapping in it")
    try:
        return _record(path, manifest, dict(_flatten(config)))
    except (OverflowError, ParameterError) as error:
        raise ResultsError(f"{path / MANIFEST}: {error}") from error


def _config_in(path: Path, manifest: Mapping[str, Any]) -> tuple[Any, str]:
    """Give the config of a run as plain values, and the name of its source for messages."""
    file = path / CONFIG
    if "config" in manifest and not file.exists():  # folders of champions have it in the manifest
        return manifest["config"], f"{path / MANIFEST}: config"
    return read_yaml(file), str(file)


def _final_figures(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Give the final figures of a manifest by fields of `RunRecord`, None for those it lacks."""
    figures = figures_in(manifest)
    fields = {}
    for name, prefix in (("average_policy", ""), ("matrix", "matrix_"), ("mixture", "mixture_")):
        ends = figures.get(name, {})
        fields[f"{prefix}attack"] = ends.get("attack")
        fields[f"{prefix}bound"] = ends.get("bound")
    return fields


def _record(path: Path, manifest: Mapping[str, Any], config: dict[str, Any]) -> RunRecord:
    """Make the record of a run, with its final figures or else those measured last.

    `config` has the values of the config by path, such as "solver.name".
    """
    environment = _mapping_at(manifest, "environment")
    figures = _final_figures(manifest)
    iterations = manifest.get("iterations")
    seconds = manifest.get("solver_seconds")
    has_metrics = not manifest.get("figures") and (path / METRICS).exists()
    metrics = read_metrics(path / METRICS) if has_metrics else []
    if metrics:
        last = metrics[-1]
        figures |= {key: getattr(last, key) for key in figures if hasattr(last, key)}
        figures = finite({**figures, "matrix_attack": last.purified_attack})
        # A running process writes metrics more often than the manifest.
        if not iterations or (isinstance(iterations, int) and last.iteration > iterations):
            iterations = last.iteration
            seconds = last.seconds
    status = manifest.get("status") or "unknown"
    if status == "running" and not is_held(path):
        status = CUT_OFF
    units = units_in(manifest)
    nash_conv = None
    if units is not hogeq.WIN_RATES and isinstance(figures["attack"], float | int):
        nash_conv = 2.0 * units.beyond(figures["attack"], figures["attack"])[0]
    rules = config.get("rules.name", config.get("rules.edition", config.get("rules")))
    return RunRecord(
        path=path,
        name=config.get("name") or path.name,
        status=status,
        edition=config.get("game", rules),
        solver=config.get("solver.name"),
        seed=config.get("seed"),
        iterations=iterations,
        **figures,
        nash_conv=nash_conv,
        seconds=seconds,
        elapsed=manifest.get("elapsed_seconds"),
        started=manifest.get("started"),
        version=environment.get("hogeq"),
        commit=_mapping_at(environment, "git").get("commit"),
        config=config,
        units=units,
    )


def select_runs(runs: Sequence[RunRecord], where: Sequence[tuple[str, Any]]) -> list[RunRecord]:
    """Select runs whose columns, or keys of their configs, all have the values asked for."""
    chosen = []
    for run in runs:
        values = run.config | vars(run)
        if all(key in values and _is_same(values[key], wanted) for key, wanted in where):
            chosen.append(run)
    return chosen


def _is_same(value: object, wanted: object) -> bool:
    """Whether two values are equal and both or neither are booleans: in Python True == 1."""
    return value == wanted and isinstance(value, bool) == isinstance(wanted, bool)


def sort_runs(runs: Sequence[RunRecord], key: str) -> list[RunRecord]:
    """Sort runs by one of `KEYS`, those that lack it last."""
    return sorted(runs, key=lambda run: (getattr(run, key) is None, getattr(run, key)))


def differing_keys(runs: Sequence[RunRecord]) -> list[str]:
    """List the config keys in which runs differ, apart from those that are fields of a record."""
    in_fields = {"name", "rules.name", "solver.name", "seed"}
    keys = dict.fromkeys(key for run in runs for key in run.config if key not in in_fields)
    return [key for key in keys if len({json.dumps(run.config.get(key)) for run in runs}) > 1]


LIST_COLUMNS: Final = (
    *("path", "status", "edition", "forget", "teams", "solver", "seed", "iterations"),
    *("attack", "bound", "nash_conv", "matrix_attack", "mixture_attack", "seconds"),
)
"""Columns of a list of runs."""


def table_of_runs(runs: Sequence[RunRecord], root: Path, config_keys: Sequence[str] = ()) -> Table:
    """Lay out runs below `root` as a table; `config_keys` are config keys that are columns too."""
    rows = [{**run.config, **vars(run)} for run in runs]
    for row in rows:
        row["path"] = row["path"].relative_to(root) if row["path"] != root else root
    columns = [key for key in LIST_COLUMNS if any(row.get(key) is not None for row in rows)]
    return table_of(rows, [*columns, *config_keys], left=4)


def table_of(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], left: int) -> Table:
    """Lay out rows as a table, in which numbers are written by the `units` of their row.

    The rows are runs or points of a sweep; the first `left` columns are aligned to the left.
    """
    cells = [[_cell_text(row.get(key), key, row["units"]) for key in columns] for row in rows]
    titles = [key if "." in key else key.replace("_", " ") for key in columns]
    return Table(cells, ["run" if title == "path" else title for title in titles], left)


def _cell_text(value: object, column: str, units: hogeq.Units) -> str:
    """Write the value of a column: of a field of `RunRecord`, or of a config key."""
    if value is None:
        return "-"
    if not isinstance(value, float) or "." in column:  # config keys have dots; they are no figures
        return one_line(value)
    if column == "seconds":
        return f"{value:.1f}"
    write = {"attack": units.lower, "bound": units.upper}.get(column, units.exact)
    return write(value)


def _directories(root: Path) -> Iterator[Path]:
    """Find the run directories under a folder, the folder itself included.

    Folders inside a run directory are not searched, and each folder is visited once.
    """
    visited: set[str] = set()
    for folder, subfolders, files in os.walk(root, followlinks=True):
        # `os.walk` visits the folders of this list, in its order, after it is changed here.
        subfolders.sort()
        real_path = os.path.realpath(folder)
        if real_path in visited:  # links may lead in a circle
            subfolders.clear()
            continue
        visited.add(real_path)
        if MANIFEST in files or CHECKPOINT in files:
            subfolders.clear()
            yield Path(folder)


def _flatten(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Give the values of nested mappings with their paths, such as ``solver.name``."""
    for key, value in tree.items():
        path = f"{prefix}{key}"
        if len(path) > _MAX_KEY_LENGTH:
            raise ParameterError(f"{one_line(path, 60)}: no config has a key as long")
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{path}.")
        else:
            yield path, value


def _mapping_at(tree: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Value of a key if it is a mapping; otherwise an empty one."""
    value = tree.get(key)
    return value if isinstance(value, Mapping) else {}


# --- finished runs --------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Run:
    """Content of the folder of a finished run."""

    name: str  # of its config
    folder: Path
    config: "Config"
    game_now: "hogeq.Game"  # may have changed since
    metrics: list[Metrics]  # the lines of `metrics.csv`; none if that is missing
    policy: "hogeq.Strategy"  # the solver's
    matrix: "hogeq.Strategy"  # made of the policy
    manifest: dict[str, Any]  # figures, versions, times; empty if `manifest.json` is missing
    mixture: "hogeq.Strategy | None" = None  # of solvers that look for one

    @property
    def game(self) -> "hogeq.Game":
        """Game of the run, refused if its file has changed since."""
        if not isinstance(self.game_now, hogeq.Hog):
            hogeq.GameName(self.folder).require_unchanged(self.game_now.rows.digest())
        return self.game_now

    @property
    def units(self) -> hogeq.Units:
        """Units of its figures."""
        return units_in(self.manifest) if self.manifest else self.game_now.units

    @property
    def curve(self) -> tuple[hogeq.Measurement, ...]:
        """Exploitability of the average policy at the measurements of the run."""
        beyond = self.units.beyond
        return tuple(
            hogeq.Measurement(row.iteration, row.seconds, *beyond(row.attack, row.bound))
            for row in self.metrics
        )

    @property
    def curve_budget(self) -> hogeq.Budget:
        """Effort of the attack at each point of `curve`."""
        return self.config.measure.attack

    def __repr__(self) -> str:
        """Name the run."""
        return f"Run({self.name}; {self.config.title}, {self.config.solver.name})"


def load_run(folder: str | os.PathLike[str], trust: bool = False) -> Run:
    """Read the folder of a finished run.

    Parameters
    ----------
    folder : path
    trust : bool
        Whether the code of the run's plugins may be run.

    Raises
    ------
    ConfigError, ResultsError, StrategyError
        One of its files cannot be read, or is not what a run writes.

    Examples
    --------
    >>> from pathlib import Path
    >>> import hogeq
    >>> _ = Path("short.yaml").write_text(
    ...     "{name: short, rules: {edition: fa22, goal: 10, max_dice: 2},"
    ...     " solver: {name: dcfr, iterations: 3}}",
    ...     "utf-8",
    ... )
    >>> summary = hogeq.run_experiment(hogeq.load_config("short.yaml"), quiet=True)
    >>> run = hogeq.load_run(summary.directory)
    >>> run.policy.kind, run.metrics[-1].iteration
    ('policy', 3)
    """
    from hogeq.runs.config import config_from

    path = Path(folder)
    with as_results_error(path, "read"):
        files = {entry.name for entry in path.iterdir()}
    for name in (POLICY, MATRIX):
        if name not in files:
            raise ResultsError(f"{path}: no {name} in it; allowed: directories of finished runs")
    manifest = readable_manifest(path)
    tree, source = _config_in(path, manifest)
    load_named(tree, path, source, trust)
    config = config_from(tree, source)
    game = hogeq.Game(config.game or config.rules, **config.how)
    return Run(
        name=config.name,
        folder=path,
        config=config,
        game_now=game,
        metrics=read_metrics(path / METRICS) if METRICS in files else [],
        policy=game.strategy(path / POLICY),
        matrix=game.strategy(path / MATRIX),
        manifest=manifest,
        mixture=game.strategy(path / MIXTURE) if MIXTURE in files else None,
    )


def _game_identity(game: "hogeq.Game") -> object:
    """Value that is equal for two games if they are the same apart from their names."""
    if isinstance(game, hogeq.Hog):
        return dataclasses.replace(game.rules, name="any")
    return game.rows.digest()


def load_runs(folders: Sequence[Path], trust: bool = False) -> list[Run]:
    """Read finished runs, which have to be of one game; runs that share a name get their path."""
    runs = [load_run(folder, trust) for folder in folders]
    first = runs[0]
    for run in runs[1:]:
        if _game_identity(run.game) != _game_identity(first.game):
            raise ResultsError(
                f"{run.folder} plays {run.config.title} and {first.folder} plays "
                f"{first.config.title}; allowed on one page are runs of one game"
            )
    names = [run.name for run in runs]
    return [
        run if names.count(run.name) == 1 else dataclasses.replace(run, name=str(run.folder))
        for run in runs
    ]
