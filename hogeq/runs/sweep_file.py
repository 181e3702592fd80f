"""The file of a sweep, which says which runs it asks for, and its table and figure."""

import dataclasses
import itertools
import json
import math
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

from pydantic import Field

from hogeq import figures
from hogeq.runs.config import (
    Config,
    Name,
    apply_overrides,
    build,
    config_from,
    parse_override,
    set_key,
    tables_read,
)
from hogeq.runs.files import ResultsError, reported
from hogeq.runs.index import read_run
from hogeq.runs.runner import first_state, game_of
from hogeq.search.results import WIN_RATES, Units
from hogeq.support.files import csv_text, write_whole
from hogeq.support.messages import one_line
from hogeq.support.parameters import parameters
from hogeq.support.plugins import load_named
from hogeq.support.yaml import ConfigError, read_yaml

MOST_POINTS: Final = 100_000

TOKEN: Final = ".token"  # noqa: S105 - no secret: tells a shared folder from one of the same name

_LONGEST: Final = 80  # characters of a point's name


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
    """Read a sweep's file, and check every point of it."""
    path = Path(path)
    source = str(path)
    tree = read_yaml(path)
    given = build(_File, tree, source)
    if not given.grid and not given.points:
        raise ConfigError(f"{source}: grid, points: both missing; allowed: either, or both")
    count = math.prod(map(len, given.grid.values())) * max(1, len(given.points))
    if count > MOST_POINTS:
        number = f"{count:,}" if count < 10**12 else "far too many"
        raise ConfigError(f"{source}: {number} points; allowed: at most {MOST_POINTS:,}")
    load_named(tree, path.parent, source, trust)
    base, base_path = given.base, path
    if isinstance(base, str):
        base_path = path.parent / base
        base = read_yaml(base_path)
    base = apply_overrides(base, overrides)
    load_named(base, base_path.parent, one_line(base_path), trust)
    base = tables_read(base, base_path.parent, one_line(base_path))
    keys = tuple(dict.fromkeys([key for point in given.points for key in point] + [*given.grid]))
    if "name" in keys:
        raise ConfigError(f"{source}: name: a sweep names its points itself")
    if "plugins" in keys:
        raise ConfigError(f"{source}: plugins: those of a sweep are of all its points")
    _require_effect(overrides, given, source)
    labels, points = point_labels(keys), []
    for point, values in itertools.product(
        given.points or [{}], itertools.product(*given.grid.values())
    ):
        settings = {**point, **dict(zip(given.grid, values, strict=True))}
        name = _name({labels[key]: value for key, value in settings.items()})
        where = f"{source}: point {name}"
        config = {**base, "name": name}
        for key, value in settings.items():
            set_key(config, key, value, f"{source}: {one_line(key)}")
        read = config_from(tables_read(config, path.parent, where), where)
        points.append(SweepPoint(name, read, settings))
    _require_sound(points, source)
    return Sweep(given.name, keys, tuple(points))


def _require_effect(overrides: Sequence[str], given: _File, source: str) -> None:
    """Refuse to set keys in the base that every point sets again."""
    in_all = [set(point) for point in given.points]
    always = {"name", *given.grid, *(set.intersection(*in_all) if in_all else ())}
    for item in overrides:
        parts = parse_override(item)[0].split(".")
        for key in (".".join(parts[:depth]) for depth in range(1, len(parts) + 1)):
            if key in always:
                why = "a sweep names its points itself" if key == "name" else "every point sets it"
                raise ConfigError(
                    f"--set {one_line(item)}: without effect, as {why}; allowed: keys that not "
                    f"every point of {source} sets"
                )


def point_labels(keys: Sequence[str]) -> dict[str, str]:
    """Shorten keys' paths as far as they stay apart; ``solver.name`` says solver."""
    short = {key: key.removesuffix(".name").rpartition(".")[2] for key in keys}
    taken = list(short.values())
    return {key: label if taken.count(label) == 1 else key for key, label in short.items()}


def _name(settings: Mapping[str, Any]) -> str:
    """Name a point by its own settings alone, so that a sweep may grow."""
    whole = ",".join(f"{label}={setting_text(value)}" for label, value in settings.items())
    plain = re.sub(r"[^A-Za-z0-9._=+,@-]+", "-", whole)
    if plain == whole and len(whole) <= _LONGEST and plain[0].isalnum() and plain[-1] != ".":
        return whole
    return f"{plain[:_LONGEST].lstrip('._=+,@-')}@{sha256(whole.encode()).hexdigest()[:8]}"


def setting_text(value: object) -> str:
    """Write a setting for a name or a table: a text as it is, anything else as JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(value, separators=(",", ":"), default=str)


def identity(config: Config) -> str:
    """Write down the keys that a run's numbers depend on, and nothing else."""
    tree = config.resolved()
    del tree["name"], tree["seed"]
    return json.dumps(tree, sort_keys=True)


def _require_sound(points: Sequence[SweepPoint], source: str) -> None:
    """Refuse points that are one run, or that the game or the solver would refuse."""
    seen: dict[str, SweepPoint] = {}
    tried = set()
    for point in points:
        config = point.config
        other = seen.setdefault(identity(config), point)
        if other is not point:
            raise ConfigError(
                f"{source}: points {other.name} and {point.name} are the same run: given twice, or "
                "what sets them apart is set again by a nearer key"
            )
        solver = dataclasses.replace(config.solver, iterations=1, seed=0)
        kind = repr((config.title, config.rules, solver))
        if kind not in tried:  # once for each kind of it
            try:
                first_state(config.solver, game_of(config))
            except ValueError as error:
                raise ConfigError(f"{source}: point {point.name}: {error}") from error
            tried.add(kind)


TABLE: Final = "table.csv"

FIGURE: Final = "summary.png"

FIGURE_COLUMNS: Final = (
    *("iterations", "attack", "bound", "nash_conv", "matrix_attack", "matrix_bound"),
)

TIME_COLUMNS: Final = ("seconds", "elapsed")


def table_row(
    point: SweepPoint, keys: Sequence[str], folder: Path, error: str | None
) -> tuple[dict[str, Any], Units]:
    """Make the line of a point: its settings, its run's figures; and their units."""
    try:
        record = vars(read_run(folder / point.name, point.config.resolved()))
    except (ConfigError, ResultsError) as broken:
        record = {"status": "failed"}
        error = error or str(broken)
    row = {
        "point": point.name,
        **{key: point.settings.get(key) for key in keys},
        "status": record["status"],
        "error": error,
        **{key: record.get(key) for key in (*FIGURE_COLUMNS, *TIME_COLUMNS)},
    }
    return row, record.get("units", WIN_RATES)


def write_table(
    sweep: Sweep, rows: Sequence[Mapping[str, Any]], units: Sequence[Units], folder: Path
) -> str:
    """Write a sweep's table, and draw its figure; or say why there is none."""
    cells = ([_cell(value) for value in row.values()] for row in rows)
    with reported(folder / TABLE, "written"):
        write_whole(folder / TABLE, csv_text(rows[0], cells))
    known = [one for row, one in zip(rows, units, strict=True) if row["attack"] is not None]
    with reported(folder / FIGURE, "written"):
        if len({one.axis for one in known}) > 1:
            (folder / FIGURE).unlink(missing_ok=True)
            return f"no {FIGURE}: it would have win rates beside payoffs"
        _draw(sweep, rows, units, folder / FIGURE)
    return ""


def _cell(value: object) -> object:
    """Give a cell of a table: a number as it is, so that one below 0 is not taken for a formula."""
    is_number = type(value) is int or (isinstance(value, float) and math.isfinite(value))
    return value if is_number or value is None else setting_text(value)


def _draw(
    sweep: Sweep, rows: Sequence[Mapping[str, Any]], units: Sequence[Units], path: Path
) -> None:
    """Draw the interval of every setting, seeds of one setting in one line."""
    apart = [key for key in sweep.keys if key.rpartition(".")[2] != "seed"]
    labels = point_labels(apart)
    lines: dict[str, list[tuple[float, float]]] = {}
    for row, one in zip(rows, units, strict=True):
        if row["attack"] is not None:
            about = ", ".join(
                row[key] if isinstance(row[key], str) else f"{labels[key]} {setting_text(row[key])}"
                for key in apart
                if row[key] not in ("", None)
            )
            ends = row["attack"] - one.even, row["bound"] - one.even
            lines.setdefault(about or "all seeds", []).append(ends)
            drawn = one
    if lines:
        figures.intervals(
            list(lines),
            [[lower for lower, _ in group] for group in lines.values()],
            [[upper for _, upper in group] for group in lines.values()],
            path,
            sweep.name,
            units=drawn._replace(even=0.0),
        )
