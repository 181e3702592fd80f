"""Runs, read from their folders: an index of many, and finished ones."""

import dataclasses
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field, InstanceOf, WithJsonSchema

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
    figures_in,
    finite,
    is_held,
    read_manifest,
    read_metrics,
    readable_manifest,
    reported,
    units_in,
)
from hogeq.search.results import WIN_RATES, Measurement, Units
from hogeq.support.messages import Table, one_line
from hogeq.support.parameters import ParameterError, parameters
from hogeq.support.plugins import load_named
from hogeq.support.yaml import ConfigError, read_yaml

if TYPE_CHECKING:
    from hogeq.games.game import Game
    from hogeq.runs.config import Config
    from hogeq.strategies.strategy import Strategy

_KEY_LENGTH: Final = 200  # of a config's keys by path; they are written out for every value

CUT_OFF: Final = "cut off"  # status of a run whose process ended without noting it


@parameters
class RunRecord:
    """Facts about one run directory; those not known, of a run under way say, are None."""

    path: Path
    name: str
    status: str
    edition: str | None
    solver: str | None
    seed: int | None
    iterations: int | None
    attack: float | None
    bound: float | None
    nash_conv: float | None
    matrix_attack: float | None
    matrix_bound: float | None
    mixture_attack: float | None
    mixture_bound: float | None
    seconds: float | None
    elapsed: float | None
    started: str | None
    version: str | None
    commit: str | None
    config: dict[str, Any] = Field(repr=False)
    units: Annotated[InstanceOf[Units], WithJsonSchema({})] = Field(repr=False)

    def to_json(self) -> dict[str, Any]:
        """Return the run as plain values."""
        fields = {key: value for key, value in vars(self).items() if key != "units"}
        return finite({**fields, "path": str(self.path)})


KEYS: Final = tuple(
    field.name for field in dataclasses.fields(RunRecord) if field.name not in {"config", "units"}
)


def find_runs(root: str | Path) -> tuple[list[RunRecord], dict[Path, str]]:
    """Read every run directory under a folder, itself too; of those that are broken give why."""
    root = Path(root)
    with reported(root, "read"):
        os.scandir(root).close()
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
        return _run(path, manifest, dict(_flat(config)))
    except (OverflowError, ParameterError) as error:
        raise ResultsError(f"{path / MANIFEST}: {error}") from error


def _config_in(path: Path, manifest: Mapping[str, Any]) -> tuple[Any, str]:
    """Give the config of a run as plain values, and where it stands: of champions, the manifest."""
    file = path / CONFIG
    if "config" in manifest and not file.exists():
        return manifest["config"], f"{path / MANIFEST}: config"
    return read_yaml(file), str(file)


def _run(path: Path, manifest: Mapping[str, Any], config: dict[str, Any]) -> RunRecord:
    figures, environment = figures_in(manifest), _part(manifest, "environment")
    ends = {
        f"{prefix}{end}": figures.get(name, {}).get(end)
        for prefix, name in (("", "average_policy"), ("matrix_", "matrix"), ("mixture_", "mixture"))
        for end in ("attack", "bound")
    }
    iterations, seconds = manifest.get("iterations"), manifest.get("solver_seconds")
    if not manifest.get("figures") and (path / METRICS).exists():
        for last in read_metrics(path / METRICS)[-1:]:
            ends |= {end: getattr(last, end) for end in ends if hasattr(last, end)}
            ends = finite({**ends, "matrix_attack": last.purified_attack})
            if not iterations or (isinstance(iterations, int) and last.iteration > iterations):
                iterations, seconds = last.iteration, last.seconds
    status, units = manifest.get("status") or "unknown", units_in(manifest)
    has_payoffs = units is not WIN_RATES and isinstance(ends["attack"], float | int)
    rules = config.get("rules.name", config.get("rules.edition", config.get("rules")))
    return RunRecord(
        path=path,
        name=config.get("name") or path.name,
        status=CUT_OFF if status == "running" and not is_held(path) else status,
        edition=config.get("game", rules),
        solver=config.get("solver.name"),
        seed=config.get("seed"),
        iterations=iterations,
        **ends,
        nash_conv=2.0 * (ends["attack"] - units.even) if has_payoffs else None,
        seconds=seconds,
        elapsed=manifest.get("elapsed_seconds"),
        started=manifest.get("started"),
        version=environment.get("hogeq"),
        commit=_part(environment, "git").get("commit"),
        config=config,
        units=units,
    )


def selected(runs: Sequence[RunRecord], where: Sequence[tuple[str, Any]] = ()) -> list[RunRecord]:
    """Select runs by their columns, and by the keys of their configs."""

    def fits(run: RunRecord) -> bool:
        known = run.config | vars(run)
        return all(
            key in known and (type(known[key]) is bool, known[key]) == (type(value) is bool, value)
            for key, value in where
        )

    return [run for run in runs if fits(run)]


def ordered(runs: Sequence[RunRecord], key: str) -> list[RunRecord]:
    """Sort runs by one of `KEYS`, those that lack it last."""
    return sorted(runs, key=lambda run: (getattr(run, key) is None, getattr(run, key)))


def differing(runs: Sequence[RunRecord]) -> list[str]:
    """List the config keys in which runs differ, apart from those that are fields of a record."""
    apart = {"name", "rules.name", "solver.name", "seed"}
    keys = dict.fromkeys(key for run in runs for key in run.config if key not in apart)
    return [key for key in keys if len({json.dumps(run.config.get(key)) for run in runs}) > 1]


LISTED: Final = (
    *("path", "status", "edition", "forget", "teams", "solver", "seed", "iterations"),
    *("attack", "bound", "nash_conv", "matrix_attack", "mixture_attack", "seconds"),
)
"""Columns of a list of runs."""


def listing(runs: Sequence[RunRecord], root: Path, more: Sequence[str] = ()) -> Table:
    """Lay out runs below `root`, with more keys of their configs."""
    rows = [{**run.config, **vars(run)} for run in runs]
    for row in rows:
        row["path"] = row["path"].relative_to(root) if row["path"] != root else root
    columns = [key for key in LISTED if any(row.get(key) is not None for row in rows)]
    return table_of(rows, [*columns, *more], left=4)


def table_of(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], left: int) -> Table:
    """Lay out runs, or points of a sweep, which have `units`."""
    cells = [[_cell(row.get(key), key, row["units"]) for key in columns] for row in rows]
    titles = [key if "." in key else key.replace("_", " ") for key in columns]
    return Table(cells, ["run" if title == "path" else title for title in titles], left)


def _cell(value: object, column: str, units: Units) -> str:
    if value is None:
        return "-"
    if not isinstance(value, float) or "." in column:
        return one_line(value)
    if column == "seconds":
        return f"{value:.1f}"
    write = {"attack": units.lower, "bound": units.upper}.get(column, units.exact)
    return write(value)


def _directories(root: Path) -> Iterator[Path]:
    marks = {MANIFEST, CHECKPOINT}
    seen: set[str] = set()
    for folder, below, files in os.walk(root, followlinks=True):
        below.sort()
        real = os.path.realpath(folder)
        if real in seen:  # links may lead in a circle
            below.clear()
            continue
        seen.add(real)
        if marks & set(files):
            below.clear()
            yield Path(folder)


def _flat(tree: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        if len(above) + len(str(key)) > _KEY_LENGTH:
            raise ParameterError(f"{one_line(f'{above}{key}', 60)}: no config has a key as long")
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value


def _part(tree: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    part = tree.get(key)
    return part if isinstance(part, Mapping) else {}


# --- finished runs --------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Run:
    """Content of the folder of a finished run."""

    name: str  # of its config
    folder: Path
    config: "Config"
    game: "Game"
    metrics: list[Metrics]  # the lines of `metrics.csv`; none if that is missing
    policy: "Strategy"  # the solver's
    matrix: "Strategy"  # made of the policy
    manifest: dict[str, Any]  # figures, versions, times; empty if `manifest.json` is missing
    mixture: "Strategy | None" = None  # of solvers that look for one

    @property
    def units(self) -> Units:
        """Units of its game."""
        return self.game.units

    @property
    def curve(self) -> tuple[Measurement, ...]:
        """Exploitability of the average policy at the measurements of the run."""
        even = self.units.even
        return tuple(
            Measurement(one.iteration, one.seconds, one.attack - even, one.bound - even)
            for one in self.metrics
        )

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
    from hogeq.games.game import Game
    from hogeq.runs.config import config_from

    path = Path(folder)
    with reported(path, "read"):
        there = {entry.name for entry in path.iterdir()}
    for name in (POLICY, MATRIX):
        if name not in there:
            raise ResultsError(f"{path}: no {name} in it; allowed: directories of finished runs")
    manifest = readable_manifest(path)
    tree, source = _config_in(path, manifest)
    load_named(tree, path, source, trust)
    config = config_from(tree, source)
    game = Game(config.game or config.rules, **config.how)
    return Run(
        config.name,
        path,
        config,
        game,
        read_metrics(path / METRICS) if METRICS in there else [],
        game.strategy(path / POLICY),
        game.strategy(path / MATRIX),
        manifest,
        game.strategy(path / MIXTURE) if MIXTURE in there else None,
    )


def _kind(game: "Game") -> object:
    """Whatever is equal for equal games, whatever they are called."""
    from hogeq.games.hog import Hog

    if isinstance(game, Hog):
        return dataclasses.replace(game.rules, name="any")
    return game.rows.digest()


def load_runs(folders: Sequence[Path], trust: bool = False) -> list[Run]:
    """Read finished runs of one game; those that share a name are called by their folders."""
    runs = [load_run(folder, trust) for folder in folders]
    first = runs[0]
    for run in runs[1:]:
        if _kind(run.game) != _kind(first.game):
            raise ResultsError(
                f"{run.folder} plays {run.config.title} and {first.folder} plays "
                f"{first.config.title}; allowed on one page are runs of one game"
            )
    names = [run.name for run in runs]
    return [
        run if names.count(run.name) == 1 else dataclasses.replace(run, name=str(run.folder))
        for run in runs
    ]
