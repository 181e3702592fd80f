"""The files of a run's folder: their names, errors and lock, the manifest, and metrics.csv."""

import contextlib
import dataclasses
import datetime as dt
import functools
import importlib.metadata
import io
import math
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from hogeq import WIN_RATES, Units, __version__
from hogeq.support.files import read_whole
from hogeq.support.messages import HogeqError, refusals_of
from hogeq.support.text import csv_rows, parse_json, text_of
from hogeq.support.workers import cores


class ResultsError(HogeqError):
    """A run directory that cannot be made, read or written; the message is one line."""


class HeldError(ResultsError):
    """A folder that another process is writing."""


@contextlib.contextmanager
def as_results_error(path: Path, verb: str) -> Iterator[None]:
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
POLICY_TABLE: Final = "policy.csv"  # with names, of games other than Hog
MATRIX: Final = "matrix.csv"
FINAL_STRATEGY: Final = "final_strategy.py"
EXPLOITABILITY_PLOT: Final = "exploitability.png"
MATRIX_PLOT: Final = "matrix.png"
PLUGINS: Final = "plugins"
MIXTURE: Final = "mixture.npz"  # of solvers that look for one

# Files that every run writes. ``overwrite`` removes them, the mixture and the plugins.
FILES: Final = (
    *(CONFIG, MANIFEST, METRICS, CHECKPOINT, POLICY, MATRIX, FINAL_STRATEGY),
    *(EXPLOITABILITY_PLOT, MATRIX_PLOT),
)

SCHEMA: Final = 1  # version of the layout of a run directory and of its checkpoint

if sys.platform != "win32":
    import fcntl

LOCK_FILE: Final = ".lock"


def lock(path: Path) -> io.BufferedRandom:
    """Lock a folder until the returned file is closed or this process ends.

    Raises `HeldError` if another process has locked it.
    """
    with as_results_error(path, "written"):
        # A link is not followed: it would make a file elsewhere.
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        handle = os.fdopen(os.open(path / LOCK_FILE, flags, 0o666), "ab+")
    for tries_left in reversed(range(10)):  # 9, 8, ..., 0
        try:
            if sys.platform != "win32":
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError as error:
            if not tries_left:
                handle.close()
                raise HeldError(f"{path} is being written by another process") from error
            time.sleep(0.02)  # `is_held` in another process holds a lock for a moment
        except OSError:
            break  # a file system without locks: the run goes on unprotected
    return handle


def is_held(path: str | Path) -> bool:
    """Whether a process is writing in a folder, as far as its file system can tell."""
    if sys.platform == "win32":
        return False
    try:
        # O_NONBLOCK: if the file is a pipe, opening it must not wait for a writer.
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW
        handle = os.open(Path(path) / LOCK_FILE, flags)
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        finally:
            os.close(handle)
    except BlockingIOError:
        return True
    except OSError:  # no lock file, or a file system without locks
        pass
    return False


# --- manifest.json --------------------------------------------------------------------------------

_PACKAGES: Final = (
    *("numpy", "numba", "llvmlite", "scipy", "matplotlib", "pydantic", "loky", "open_spiel"),
)


def now() -> str:
    """Return the time in UTC, to the second, as ISO 8601 has it."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


@functools.cache
def environment() -> dict[str, Any]:
    """Describe the machine: versions, cores, and the commit if hogeq runs from a checkout."""
    versions = {package: version_of(package) for package in _PACKAGES}
    return {
        "hogeq": __version__,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "packages": {package: version for package, version in versions.items() if version},
        "cores": cores(),
        "git": _git(Path(__file__).parent),
    }


def version_of(package: str) -> str | None:
    """Version of an installed package; None if it is not installed."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _git(package: Path) -> dict[str, Any] | None:
    """Commit of the checkout that the package is in, and whether files differ; None if in none."""
    try:
        # Fails unless git tracks this file: an environment may lie in another project's checkout,
        # whose commit would be misleading.
        _ask_git(package, "ls-files", "--error-unmatch", Path(__file__).name)
        return {
            "commit": _ask_git(package, "rev-parse", "HEAD"),
            "dirty": bool(_ask_git(package, "status", "--porcelain", "--untracked-files=no")),
        }
    except (OSError, subprocess.SubprocessError):
        return None


def _ask_git(folder: Path, *arguments: str) -> str:
    """Return what git answers in a folder."""
    return subprocess.run(  # noqa: S603 - fixed arguments
        ["git", *arguments],  # noqa: S607 - whichever git the user has
        cwd=folder,
        capture_output=True,
        check=True,
        text=True,
        timeout=10,
    ).stdout.strip()


MAX_BYTES: Final = 1 << 20  # of the largest manifest read; a run writes some thousand


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a run directory."""
    path = folder / MANIFEST
    with as_results_error(path, "read"):
        data = read_whole(path, MAX_BYTES)
    with refusals_of(str(path), ResultsError):
        manifest = parse_json(data, allow_nan=True)
    if not isinstance(manifest, dict):
        raise ResultsError(f"{path} is not what a run writes: no mapping in it")
    return manifest


def readable_manifest(folder: Path) -> dict[str, Any]:
    """Read a manifest on which nothing depends: empty if it is missing or broken."""
    try:
        return read_manifest(folder)
    except ResultsError:
        return {}


def figures_in(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Give the valid final figures of a manifest: by strategy, and the "effort" of all.

    Those of a strategy have numbers "attack" and "bound", in Hog win rates, and may have an
    "effort" of their own. Values of other types are left out, since users may edit a manifest.
    """
    figures = manifest.get("figures")
    if not isinstance(figures, dict):
        return {}
    is_payoff = manifest.get("game") is not None
    valid: dict[str, Any] = {}
    for name in ("average_policy", "matrix", "mixture"):
        ends = figures.get(name)
        if not isinstance(ends, dict):
            continue
        attack_and_bound: list[Any] = [ends.get("attack"), ends.get("bound")]
        are_numbers = all(isinstance(end, float | int) for end in attack_and_bound)
        if are_numbers and (is_payoff or all(0 <= end <= 1 for end in attack_and_bound)):
            valid[name] = dict(ends)
            if not isinstance(ends.get("effort"), dict):
                valid[name].pop("effort", None)
    if isinstance(figures.get("effort"), dict):
        valid["effort"] = figures["effort"]
    return valid


def units_in(manifest: Mapping[str, Any]) -> Units:
    """Give the units of a run's figures: win rates in Hog, and in all runs of hogeq 0.2."""
    game = manifest.get("game")
    if not isinstance(game, Mapping):
        return WIN_RATES
    game = {"even": 0.0, "scale": 1.0, **game}  # older manifests lack these two
    try:
        return Units.of_payoffs(*(float(game[key]) for key in ("even", "largest_payoff", "scale")))
    except (KeyError, OverflowError, TypeError, ValueError):  # a broken manifest
        return Units.of_payoffs(even=0.0, largest=1.0, scale=1.0)


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
    """One line of `metrics.csv`; a figure that the solver does not have is NaN."""

    iteration: int
    seconds: float  # of the solver, without measuring and compiling
    attack: float  # what the best response found gets from the average policy
    bound: float  # that of a responder with full memory
    average_regret: float
    kkt_gap: float
    purified_attack: float  # against the matrix of the policy's most probable actions
    mixture_attack: float = math.nan
    mixture_bound: float = math.nan
    nash_conv: float = math.nan  # of the average policy, of games other than Hog: at least
    response_0: float = math.nan  # payoff of the best response found in each seat
    response_1: float = math.nan

    def exploitability(self, units: Units) -> str:
        """Write the interval of the exploitability: the mixture's, if there is one."""
        has_mixture = not math.isnan(self.mixture_attack)
        lower = self.mixture_attack if has_mixture else self.attack
        upper = self.mixture_bound if has_mixture else self.bound
        return f"exploitability {units.gap(*units.beyond(lower, upper))}"


MAX_METRICS: Final = 1 << 26  # bytes of the largest `metrics.csv` read: half a million lines
FIELDS: Final = tuple(field.name for field in dataclasses.fields(Metrics))
COLUMNS: Final = FIELDS[:7]  # of all runs; others have a column if a line has them


def metrics_table(metrics: Sequence[Metrics]) -> tuple[list[str], list[list[float]]]:
    """Give the column names and the lines of `metrics.csv`; optional columns without numbers go."""
    rows = [dataclasses.asdict(row) for row in metrics]
    columns = []
    for name in FIELDS:
        is_empty = all(math.isnan(row[name]) for row in rows)
        if name in COLUMNS or not is_empty:
            columns.append(name)
    return columns, [[row[name] for name in columns] for row in rows]


def read_metrics(path: str | Path) -> list[Metrics]:
    """Read `metrics.csv`, whose columns are `COLUMNS` and any of the other `FIELDS`."""
    path = Path(path)
    with as_results_error(path, "read"):
        data = read_whole(path, MAX_METRICS)
    with refusals_of(str(path), ResultsError):
        lines = [row for _, row in csv_rows(text_of(data))]
    header = lines[0] if lines else []
    if tuple(header[: len(COLUMNS)]) != COLUMNS or not set(FIELDS).issuperset(header):
        raise ResultsError(f"{path}: line 1 must be {','.join(COLUMNS)}")
    rows = []
    for number, line in enumerate(lines[1:], start=2):
        try:
            rows.append(metrics_row(dict(zip(header, map(float, line), strict=True))))
        except (ValueError, OverflowError) as error:
            raise ResultsError(
                f"{path}: line {number} must be {len(header)} numbers, the first whole"
            ) from error
    return rows


def metrics_row(values: dict[str, Any]) -> Metrics:
    """Make a line of `metrics.csv` from its numbers, by column.

    Raises `ValueError` or `OverflowError` if the iteration is no whole number.
    """
    if values["iteration"] != int(values["iteration"]):
        raise HogeqError(values)
    return Metrics(**values | {"iteration": int(values["iteration"])})
