"""Runs, read from their folders: what is under a folder and came of it, and finished runs."""

import dataclasses
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic import Field

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
    config_in_manifest,
    finite,
    is_held,
    read_manifest,
    read_metrics,
    readable_manifest,
    reported,
)
from hogeq.support.messages import one_line
from hogeq.support.parameters import ParameterError, parameters
from hogeq.support.yaml import ConfigError, read_yaml

if TYPE_CHECKING:
    from hogeq.game import Game
    from hogeq.runs.config import Config
    from hogeq.strategies.strategy import Strategy

_KEY_LENGTH: Final = 200  # of a config's keys by path; they are written out for every value

CUT_OFF: Final = "cut off"
"""Status of a run whose process ended without noting it."""

STATUSES: Final = ("complete", "running", "interrupted", "failed", CUT_OFF, "unknown")
"""What becomes of runs; unknown where the manifest does not say."""


@parameters
class RunRecord:
    """What is known of one run directory; what is not, of a run under way say, is None."""

    path: Path
    name: str
    status: str
    edition: str | None
    solver: str | None
    seed: int | None
    iterations: int | None
    attack: float | None
    bound: float | None
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

    def to_json(self) -> dict[str, Any]:
        """Return the run as plain values."""
        row = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return finite({**row, "path": str(self.path)})


KEYS: Final = tuple(field.name for field in dataclasses.fields(RunRecord) if field.name != "config")
"""What runs can be sorted by."""


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


def read_run(path: str | Path, config: Mapping[str, Any] | None = None) -> RunRecord:
    """Read one run directory."""
    path = Path(path)
    manifest = read_manifest(path)
    if config is None:
        file = path / CONFIG
        champion = config_in_manifest(path, manifest)
        config = read_yaml(file) if champion is None else champion
        if not isinstance(config, Mapping):
            raise ResultsError(f"{file} is not what a run writes: no mapping in it")
    try:
        return _run(path, manifest, dict(_flat(config)))
    except ParameterError as error:
        raise ResultsError(f"{path / MANIFEST}: {error}") from error


def _run(path: Path, manifest: Mapping[str, Any], config: dict[str, Any]) -> RunRecord:
    if not manifest.get("figures"):
        manifest = {**manifest, **_last_measured(path, manifest)}
    environment = _part(manifest, "environment")
    status = manifest.get("status")
    if status == "running" and not is_held(path):
        status = CUT_OFF
    rules = config.get("rules.name", config.get("rules.edition", config.get("rules")))
    figures = _part(manifest, "figures")
    ends = {
        f"{prefix}{end}": _part(figures, name).get(end)
        for prefix, name in (("", "average_policy"), ("matrix_", "matrix"), ("mixture_", "mixture"))
        for end in ("attack", "bound")
    }
    return RunRecord(
        path=path,
        name=config.get("name") or path.name,
        status=status or "unknown",
        edition=config.get("game", rules),
        solver=config.get("solver.name"),
        seed=config.get("seed"),
        iterations=manifest.get("iterations"),
        **ends,
        seconds=manifest.get("solver_seconds"),
        elapsed=manifest.get("elapsed_seconds"),
        started=manifest.get("started"),
        version=environment.get("hogeq"),
        commit=_part(environment, "git").get("commit"),
        config=config,
    )


def selected(
    runs: Sequence[RunRecord],
    *,
    solver: str | None = None,
    edition: str | None = None,
    status: str | None = None,
    where: Sequence[tuple[str, Any]] = (),
) -> list[RunRecord]:
    """Select runs by what made them and what became of them."""
    return [
        run
        for run in runs
        if solver in {None, run.solver}
        and (edition is None or f"{run.edition} ".startswith(f"{edition} "))
        and status in {None, run.status}
        and all(
            key in run.config
            and run.config[key] == value
            and isinstance(run.config[key], bool) == isinstance(value, bool)
            for key, value in where
        )
    ]


def ordered(runs: Sequence[RunRecord], key: str) -> list[RunRecord]:
    """Sort runs by one of `KEYS`, those that lack it last."""
    have = [run for run in runs if getattr(run, key) is not None]
    have.sort(key=lambda run: getattr(run, key))
    return have + [run for run in runs if getattr(run, key) is None]


def differing(runs: Sequence[RunRecord]) -> list[str]:
    """List the config keys in which runs differ, apart from those that are fields of a record."""
    apart = {"name", "rules.name", "solver.name", "seed"}
    keys = dict.fromkeys(key for run in runs for key in run.config if key not in apart)
    return [key for key in keys if len({json.dumps(run.config.get(key)) for run in runs}) > 1]


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


def _last_measured(path: Path, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Read the last line of `metrics.csv`, for a run whose manifest has no figures yet."""
    rows = read_metrics(path / METRICS) if (path / METRICS).exists() else []
    if not rows:
        return {}
    last = rows[-1]
    measured: dict[str, Any] = {
        "figures": {
            "average_policy": {"attack": last.attack, "bound": last.bound},
            "matrix": {"attack": last.purified_attack},
        }
    }
    if not isnan(last.mixture_attack):
        mixture = {"attack": last.mixture_attack, "bound": last.mixture_bound}
        measured["figures"]["mixture"] = mixture
    done = manifest.get("iterations") or 0
    if isinstance(done, int) and last.iteration > done:
        return {**measured, "iterations": last.iteration, "solver_seconds": last.seconds}
    return measured


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
    """What the folder of a finished run holds.

    Attributes
    ----------
    name : str
        Of its config.
    folder : Path
    config : Config
    game : Game
    metrics : list of Metrics
        The lines of `metrics.csv`; none if that is missing.
    policy, matrix : Strategy
        The solver's policy, and the matrix made of it.
    manifest : dict
        What `manifest.json` says: figures, versions, times; empty if that is missing.
    mixture : Strategy or None
        Of solvers that look for one.
    """

    name: str
    folder: Path
    config: "Config"
    game: "Game"
    metrics: list[Metrics]
    policy: "Strategy"
    matrix: "Strategy"
    manifest: dict[str, Any]
    mixture: "Strategy | None" = None

    def __repr__(self) -> str:
        """Name the run."""
        return f"Run({self.name}; {self.game.rules.name}, {self.config.solver.name})"


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
    from hogeq.game import Game
    from hogeq.runs.config import config_from, load_config

    path = Path(folder)
    with reported(path, "read"):
        there = {entry.name for entry in path.iterdir()}
    for name in (POLICY, MATRIX):
        if name not in there:
            raise ResultsError(f"{path}: no {name} in it; allowed: directories of finished runs")
    manifest = readable_manifest(path)
    champion = config_in_manifest(path, manifest)
    if champion is not None:
        config = config_from(champion, f"{path / MANIFEST}: config")
    elif CONFIG in there:
        config = load_config(path / CONFIG, trust=trust)
    else:
        raise ResultsError(f"{path}: no {CONFIG} in it, nor a config in its manifest")
    if config.game:
        raise ResultsError(f"{path}: plays {config.game}; allowed here: runs of Hog")
    game = Game(config.rules)
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


def load_runs(folders: Sequence[Path], trust: bool = False) -> list[Run]:
    """Read finished runs of one game; those that share a name are called by their folders."""
    runs = [load_run(folder, trust) for folder in folders]
    first = runs[0]
    for run in runs[1:]:
        rules = dataclasses.replace(run.game.rules, name=first.game.rules.name)
        if rules != first.game.rules:
            raise ResultsError(
                f"{run.folder} plays {run.game.rules.name} and {first.folder} plays "
                f"{first.game.rules.name}; allowed on one page are runs of one game"
            )
    names = [run.name for run in runs]
    return [
        run if names.count(run.name) == 1 else dataclasses.replace(run, name=str(run.folder))
        for run in runs
    ]
