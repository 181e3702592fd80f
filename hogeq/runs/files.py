"""The files of a run's folder: their names, errors and lock, the manifest, and metrics.csv."""

import contextlib
import csv
import dataclasses
import io
import json
import math
import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from hogeq.support import files
from hogeq.support.files import read_whole
from hogeq.support.messages import BadInputError, one_line


class ResultsError(BadInputError):
    """A run directory that cannot be made, read or written; the message is one line."""


class HeldError(ResultsError):
    """A folder that another process is writing."""


@contextlib.contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """As :func:`hogeq.support.files.replacing`, with a `ResultsError` if that fails."""
    with reported(Path(path), "written"), files.replacing(path) as temporary:
        yield temporary


@contextlib.contextmanager
def reported(path: Path, verb: str) -> Iterator[None]:
    """Turn an `OSError` of the block into a `ResultsError`: "PATH cannot be VERB: reason"."""
    try:
        yield
    except OSError as error:
        raise ResultsError(f"{path} cannot be {verb}: {error.strerror or error}") from error


CONFIG: Final = "config.yaml"
MANIFEST: Final = "manifest.json"
METRICS: Final = "metrics.csv"
CHECKPOINT: Final = "checkpoint.npz"
POLICY: Final = "policy.npz"
MATRIX: Final = "matrix.csv"
FINAL_STRATEGY: Final = "final_strategy.py"
EXPLOITABILITY_PLOT: Final = "exploitability.png"
MATRIX_PLOT: Final = "matrix.png"
PLUGINS: Final = "plugins"

MIXTURE: Final = "mixture.npz"
"""Of solvers that look for a mixture."""

FILES: Final = (
    CONFIG,
    MANIFEST,
    METRICS,
    CHECKPOINT,
    POLICY,
    MATRIX,
    FINAL_STRATEGY,
    EXPLOITABILITY_PLOT,
    MATRIX_PLOT,
)
"""What every run writes; with a mixture and the plugins, all that ``overwrite`` removes."""

SCHEMA: Final = 1
"""Version of the layout of a run directory and of its checkpoint."""


if sys.platform != "win32":
    import fcntl

LOCK_FILE: Final = ".lock"


def lock(path: Path) -> io.BufferedRandom:
    """Hold a folder until the file returned is closed, or this process is gone."""
    with reported(path, "written"):
        handle = (path / LOCK_FILE).open("ab+")
    for tries_left in reversed(range(10)):
        try:
            if sys.platform != "win32":
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError as error:
            if not tries_left:
                handle.close()
                raise HeldError(f"{path} is being written by another process") from error
            time.sleep(0.02)  # somebody may only be looking: `is_held`
        except OSError:
            break  # a file system without locks; the run matters more than the guard
    return handle


def is_held(path: str | Path) -> bool:
    """Whether a process is writing in a folder, as far as its file system can tell."""
    if sys.platform == "win32":
        return False
    try:
        # A pipe in its place is not waited for.
        handle = os.open(Path(path) / LOCK_FILE, os.O_RDONLY | os.O_NONBLOCK)
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        finally:
            os.close(handle)
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False


MAX_BYTES: Final = 1 << 20
"""Size of the largest manifest read; a run writes some thousand."""

MAX_DEPTH: Final = 50
"""Most lists and mappings within each other."""


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a run directory."""
    path = folder / MANIFEST
    with reported(path, "read"):
        data = read_whole(path, MAX_BYTES)
    try:
        manifest = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ResultsError(f"{path} is truncated or not JSON") from error
    level = [manifest]
    for _ in range(MAX_DEPTH):
        nested = [list(one.values()) if isinstance(one, dict) else one for one in level]
        level = [part for one in nested if isinstance(one, list) for part in one]
    if level:
        raise ResultsError(f"{path} is not what a run writes: nested too deeply")
    if not isinstance(manifest, dict):
        raise ResultsError(f"{path} is not what a run writes: no mapping in it")
    return manifest


def readable_manifest(folder: Path) -> dict[str, Any]:
    """Read a manifest on which nothing depends: empty if it is missing or broken."""
    try:
        return read_manifest(folder)
    except ResultsError:
        return {}


def config_in_manifest(folder: Path, manifest: Mapping[str, Any]) -> Any | None:
    """Give the config that a manifest holds, as plain values that are not checked yet.

    Champions keep the config that made them there; every other run has a `config.yaml`, and None
    is returned.
    """
    return None if (folder / CONFIG).exists() else manifest.get("config")


def figures_in(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Give the final figures of a manifest; what is no figure counts as missing."""
    figures = manifest.get("figures")
    known = figures if isinstance(figures, dict) else {}
    read: dict[str, Any] = {}
    for name in ("average_policy", "matrix", "mixture"):
        one = known.get(name)
        if isinstance(one, dict) and all(
            isinstance(one.get(end), float | int) and 0 <= one[end] <= 1
            for end in ("attack", "bound")
        ):
            has_effort = isinstance(one.get("effort"), dict)
            read[name] = {key: v for key, v in one.items() if key != "effort" or has_effort}
    return read | {"effort": known["effort"]} if isinstance(known.get("effort"), dict) else read


def finite(value: Any) -> Any:
    """Copy plain values with NaN and infinities as None, since JSON has neither."""
    if isinstance(value, Mapping):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


# --- metrics.csv ----------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Metrics:
    """One line of `metrics.csv`.

    Attributes
    ----------
    iteration : int
        Iterations done.
    seconds : float
        Seconds spent in the solver's iterations so far, without measuring and compiling kernels.
    attack, bound : float
        Win rate of the strongest counter-matrix found against the average policy, and of the
        responder with full memory: exploitability is between them, less 1/2.
    average_regret : float
        The solver's own figure; NaN where it has none.
    kkt_gap : float
        How far the average policy is from a stationary point of self-play.
    purified_attack : float
        Win rate of the strongest counter-matrix found against the purified average policy.
    mixture_attack, mixture_bound : float
        As `attack` and `bound`, of the mixture, the responder being told what was drawn; NaN if the
        solver looks for none.
    """

    iteration: int
    seconds: float
    attack: float
    bound: float
    average_regret: float
    kkt_gap: float
    purified_attack: float
    mixture_attack: float = math.nan
    mixture_bound: float = math.nan


MAX_METRICS: Final = 1 << 26
"""Size of the largest `metrics.csv` read: half a million lines."""

_ALL: Final = tuple(field.name for field in dataclasses.fields(Metrics))

COLUMNS: Final = _ALL[:-2]
"""Of every run."""

MIXTURE_COLUMNS: Final = _ALL
"""Of the runs of solvers that look for a mixture."""


def columns(metrics: Iterable[Metrics]) -> tuple[str, ...]:
    """Name the columns of the lines of one run."""
    return COLUMNS if all(math.isnan(row.mixture_attack) for row in metrics) else MIXTURE_COLUMNS


def table(metrics: Sequence[Metrics]) -> list[tuple[float, ...]]:
    """Give the lines of one run as numbers, in the order of its columns."""
    width = len(columns(metrics))
    return [dataclasses.astuple(row)[:width] for row in metrics]


def read_metrics(path: str | Path) -> list[Metrics]:
    """Read `metrics.csv`."""
    path = Path(path)
    with reported(path, "read"):
        try:
            text = read_whole(path, MAX_METRICS).decode()
            lines = list(csv.reader(text.splitlines()))
        except (UnicodeDecodeError, csv.Error) as error:
            raise ResultsError(f"{path}: not a table of metrics: {one_line(error)}") from error
    if not lines or tuple(lines[0]) not in (COLUMNS, MIXTURE_COLUMNS):
        raise ResultsError(f"{path}: line 1 must be {','.join(COLUMNS)}")
    rows = []
    for number, line in enumerate(lines[1:], start=2):
        try:
            values = [float(value) for _, value in zip(lines[0], line, strict=True)]
            rows.append(metrics_row(values))
        except (ValueError, OverflowError) as error:
            raise ResultsError(
                f"{path}: line {number} must be {len(lines[0])} numbers, the first whole"
            ) from error
    return rows


def metrics_row(row: Sequence[float]) -> Metrics:
    """Make a line of its numbers; `ValueError` or `OverflowError` if they are not such a line."""
    iteration, *others = row
    if iteration != int(iteration) or len(row) not in {len(COLUMNS), len(MIXTURE_COLUMNS)}:
        raise ValueError(row)
    return Metrics(int(iteration), *others)
