"""A run directory: what is in it, written so that no moment of it is half-written.

Every file is written beside its place and moved there whole; a checkpoint holds everything that a
run needs to go on, its lines of `metrics.csv` included; one process writes a directory at a time.
"""

import contextlib
import csv
import dataclasses
import datetime as dt
import functools
import importlib.metadata
import io
import json
import math
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from hogeq import __version__, files

if sys.platform != "win32":
    import fcntl

SCHEMA: Final = 1
"""Version of the layout of a run directory and of its checkpoint."""

CONFIG: Final = "config.yaml"
MANIFEST: Final = "manifest.json"
METRICS: Final = "metrics.csv"
CHECKPOINT: Final = "checkpoint.npz"
POLICY: Final = "policy.npz"
MATRIX: Final = "matrix.csv"
FINAL_STRATEGY: Final = "final_strategy.py"
EXPLOITABILITY_PLOT: Final = "exploitability.png"
MATRIX_PLOT: Final = "matrix.png"

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
"""What a run writes, and all that ``overwrite`` removes."""

_LOCK: Final = ".lock"
_STATE: Final = "state."
_PACKAGES: Final = ("numpy", "numba", "llvmlite", "scipy", "matplotlib", "pydantic", "joblib")


class ResultsError(ValueError):
    """A run directory that cannot be made, read or written; the message is one line."""


class HeldError(ResultsError):
    """A folder that another process is writing."""


@dataclasses.dataclass(frozen=True)
class Metrics:
    """One line of `metrics.csv`.

    Attributes
    ----------
    iteration : int
        Iterations done.
    seconds : float
        Seconds spent in the solver's iterations so far: measuring left out, compilation included.
    attack, bound : float
        Win rate of the strongest counter-matrix found against the average policy, and of the
        responder with full memory: exploitability is between them, less 1/2.
    average_regret : float
        The solver's own figure; NaN where it has none.
    kkt_gap : float
        How far the average policy is from a stationary point of self-play.
    purified_attack : float
        Win rate of the strongest counter-matrix found against the purified average policy.
    """

    iteration: int
    seconds: float
    attack: float
    bound: float
    average_regret: float
    kkt_gap: float
    purified_attack: float


COLUMNS: Final = tuple(field.name for field in dataclasses.fields(Metrics))


@dataclasses.dataclass(frozen=True)
class Checkpoint:
    """Everything a run needs to go on.

    Attributes
    ----------
    solver : str
        Name of the solver.
    fingerprint : str
        What the run's numbers depend on, hashed: `Config.fingerprint`.
    iteration : int
        Iterations done.
    seconds : float
        Seconds spent in them.
    elapsed : float
        Seconds spent on the run, measuring included.
    metrics : tuple of Metrics
        The lines of `metrics.csv` so far.
    state : mapping of str to ndarray
        The solver's state.
    """

    solver: str
    fingerprint: str
    iteration: int
    seconds: float
    elapsed: float
    metrics: tuple[Metrics, ...]
    state: Mapping[str, NDArray[Any]]


class RunDirectory:
    """A run directory held by this process until `close`, or until the process is gone.

    Use `create` or `resume`, and ``with``.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = lock(path)

    @classmethod
    def create(cls, root: str | Path, name: str, *, overwrite: bool = False) -> Self:
        """Make ``root/name`` and hold it.

        Parameters
        ----------
        root : str or Path
            Where run directories live; made if missing.
        name : str
            Name of the run: one component of a path.
        overwrite : bool
            Allow an existing run directory. The files of the old run are removed, others stay.

        Raises
        ------
        ResultsError
            The directory exists (without `overwrite`), is no run directory, is being written by
            another process, or cannot be made.
        """
        path = Path(root) / name
        if not name or name in {".", ".."} or Path(name).name != name:
            raise ResultsError(f"a run cannot be named {name!r}: it names one folder")
        with reported(path, "made"):
            Path(root).mkdir(parents=True, exist_ok=True)
            try:
                path.mkdir()
                made = True
            except FileExistsError:
                made = False
        if made:
            try:
                return cls(path)
            except ResultsError:
                with contextlib.suppress(OSError):
                    shutil.rmtree(path)
                raise
        if not overwrite:
            raise ResultsError(
                f"{path} exists already: --resume {path} continues it, --overwrite replaces it,"
                " --set name=NAME leaves it alone"
            )
        _require_run_directory(path)
        self = cls(path)
        try:
            with reported(path, "emptied"):
                # The checkpoint first: a directory without one starts anew.
                for file in (CHECKPOINT, *FILES):
                    (path / file).unlink(missing_ok=True)
            self.sweep()
        except BaseException:
            self.close()
            raise
        return self

    @classmethod
    def resume(cls, path: str | Path) -> Self:
        """Hold an existing run directory; nothing in it is changed.

        Raises
        ------
        ResultsError
            It is missing, no run directory, or being written by another process.
        """
        path = Path(path)
        _require_run_directory(path)
        return cls(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the directory."""
        self._lock.close()

    def sweep(self) -> None:
        """Remove what a killed process was in the middle of writing."""
        with reported(self.path, "tidied"):
            for file in self.path.glob(f"{files.TEMPORARY}*"):
                file.unlink(missing_ok=True)

    def write(self, name: str, content: str | bytes) -> None:
        """Write one file of the directory, whole or not at all.

        Raises
        ------
        ResultsError
            It cannot be written; the file is as it was before.
        """
        with replacing(self.path / name) as temporary:
            temporary.write_bytes(content.encode() if isinstance(content, str) else content)

    def write_manifest(self, manifest: Mapping[str, Any]) -> None:
        """Write `manifest.json`; NaN and infinities, which JSON has not, become null."""
        self.write(MANIFEST, json.dumps(finite(manifest), indent=2, allow_nan=False) + "\n")

    def write_metrics(self, metrics: Sequence[Metrics]) -> None:
        """Write `metrics.csv`: numbers in full, so that reading gives them back exactly."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows([repr(value) for value in dataclasses.astuple(row)] for row in metrics)
        self.write(METRICS, text.getvalue())

    def save(self, checkpoint: Checkpoint) -> None:
        """Write a checkpoint, then `metrics.csv` with its lines."""
        self.write(CHECKPOINT, _packed(checkpoint))
        self.write_metrics(checkpoint.metrics)

    def load(
        self,
        solver: str,
        fingerprint: str,
        like: Mapping[str, NDArray[Any]],
        grows: Collection[str] = (),
    ) -> Checkpoint | None:
        """Read the checkpoint of a run that is to go on.

        Parameters
        ----------
        solver, fingerprint : str
            What the checkpoint must have been made by, and from.
        like : mapping of str to ndarray
            A state of this solver for this game: names, shapes and types that must be found again.
        grows : collection of str
            Names of arrays that may have become longer.

        Returns
        -------
        Checkpoint or None
            None if there is none: the run was cut off before its first.

        Raises
        ------
        ResultsError
            The checkpoint is truncated or otherwise broken, from another version, solver or config.
        """
        path = self.path / CHECKPOINT
        if not path.exists():
            return None
        with reported(path, "read"):
            data = path.read_bytes()
        return _unpacked(data, path, solver, fingerprint, like, grows)

    def manifest(self) -> dict[str, Any]:
        """Read `manifest.json`; empty if it is missing or broken, as nothing depends on it."""
        try:
            found = json.loads((self.path / MANIFEST).read_bytes())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}


# --- files -------------------------------------------------------------------------------------


@contextlib.contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Write a file whole or not at all.

    Yields a path in the same folder, with the same suffix, to write to. When the block ends well,
    what was written there is forced to the disk and takes the place of `path`; if it does not,
    `path` stays as it was.

    Raises
    ------
    ResultsError
        Writing failed: no space, no permission, no such folder.
    """
    path = Path(path)
    with reported(path, "written"), files.replacing(path) as temporary:
        yield temporary


def read_metrics(path: str | Path) -> list[Metrics]:
    """Read `metrics.csv`.

    Raises
    ------
    ResultsError
        It cannot be read, or is not such a file: the message names the line.
    """
    path = Path(path)
    with reported(path, "read"):
        try:
            lines = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
        except (UnicodeDecodeError, csv.Error) as error:
            raise ResultsError(f"{path}: not a table of metrics: {error}") from error
    if not lines or tuple(lines[0]) != COLUMNS:
        raise ResultsError(f"{path}: line 1 must be {','.join(COLUMNS)}")
    rows = []
    for number, line in enumerate(lines[1:], start=2):
        try:
            rows.append(_metrics([float(value) for value in line]))
        except (ValueError, OverflowError) as error:
            raise ResultsError(
                f"{path}: line {number} must be {len(COLUMNS)} numbers, the first whole"
            ) from error
    return rows


def finite(value: Any) -> Any:
    """Copy plain values with NaN and infinities as None, since JSON has neither."""
    if isinstance(value, Mapping):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


@contextlib.contextmanager
def reported(path: Path, verb: str) -> Iterator[None]:
    """Turn an `OSError` of the block into a `ResultsError`: "PATH cannot be VERB: reason"."""
    try:
        yield
    except OSError as error:
        raise ResultsError(f"{path} cannot be {verb}: {error.strerror or error}") from error


def _require_run_directory(path: Path) -> None:
    with reported(path, "read"):
        if not path.exists():
            raise ResultsError(f"{path} does not exist: no run to continue")
        if not path.is_dir():
            raise ResultsError(f"{path} is not a folder")
        found = {entry.name for entry in path.iterdir()}
    # A killed run may have got no further than an empty folder. A config alone says nothing: it may
    # be one that people keep in their own folder.
    if found and not found & {_LOCK, MANIFEST, CHECKPOINT}:
        raise ResultsError(f"{path} is not a run directory: no {MANIFEST} in it; left as it is")


def lock(path: Path) -> io.BufferedRandom:
    """Hold a folder until the file returned is closed, or this process is gone.

    Raises
    ------
    HeldError
        Another process holds it.
    ResultsError
        It cannot be written.
    """
    with reported(path, "written"):
        handle = (path / _LOCK).open("ab+")
    try:
        if sys.platform != "win32":
            _flock(handle)
    except BlockingIOError as error:
        handle.close()
        raise HeldError(f"{path} is being written by another process") from error
    except OSError:
        pass  # a file system without locks; the run matters more than the guard
    return handle  # the lock goes when this file is closed, and so when its process dies


def _flock(handle: io.BufferedRandom) -> None:
    for tries_left in reversed(range(10)):
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not tries_left:
                raise
            time.sleep(0.02)  # somebody may only be looking: `is_held`
    return None


def is_held(path: str | Path) -> bool:
    """Whether a process is writing in a folder, as far as its file system can tell."""
    if sys.platform == "win32":
        return False
    try:
        with (Path(path) / _LOCK).open("rb") as handle:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False


# --- checkpoints -------------------------------------------------------------------------------


def _metrics(row: Sequence[float]) -> Metrics:
    iteration, *others = row
    if iteration != int(iteration) or len(row) != len(COLUMNS):
        raise ValueError(row)
    return Metrics(int(iteration), *others)


def _packed(checkpoint: Checkpoint) -> bytes:
    table = np.array(
        [dataclasses.astuple(row) for row in checkpoint.metrics], dtype=np.float64
    ).reshape(-1, len(COLUMNS))
    file = io.BytesIO()
    arrays: dict[str, Any] = {
        "schema": np.int64(SCHEMA),
        "solver": np.str_(checkpoint.solver),
        "fingerprint": np.str_(checkpoint.fingerprint),
        "iteration": np.int64(checkpoint.iteration),
        "seconds": np.float64(checkpoint.seconds),
        "elapsed": np.float64(checkpoint.elapsed),
        "metrics": table,
        **{_STATE + name: np.asarray(array) for name, array in checkpoint.state.items()},
    }
    for name, array in arrays.items():
        if array.dtype.hasobject:
            raise TypeError(f"{name} is {array.dtype}, which only a pickle could keep")
    np.savez(file, **arrays)
    return file.getvalue()


def _unpacked(
    data: bytes,
    path: Path,
    solver: str,
    fingerprint: str,
    like: Mapping[str, NDArray[Any]],
    grows: Collection[str],
) -> Checkpoint:
    arrays = _arrays(data, path)
    schema = arrays.get("schema")
    if schema is None or schema.ndim or schema.dtype.kind != "i":
        raise ResultsError(f"{path} is not a checkpoint of a run: no schema version in it")
    if schema.item() != SCHEMA:
        raise ResultsError(
            f"{path} has schema version {schema.item()}, and this version of hogeq reads {SCHEMA}"
        )
    found_solver = str(arrays.get("solver", "none"))
    if found_solver != solver:
        raise ResultsError(f"{path} was made by solver {found_solver}, not by {solver}")
    if str(arrays.get("fingerprint")) != fingerprint:
        raise ResultsError(
            f"{path} was made from another config: rules, solver and measure must be those"
            f" of {path.with_name(CONFIG)}"
        )
    state = {
        name.removeprefix(_STATE): array
        for name, array in arrays.items()
        if name.startswith(_STATE)
    }
    for name in sorted({*like, *state}):
        if name not in state or name not in like:
            which = "lacks" if name in like else "has an unknown"
            raise ResultsError(f"{path} {which} array {name} for solver {solver}")
        got, want = state[name], np.asarray(like[name])
        longer = name in grows and got.ndim == want.ndim
        if got.dtype != want.dtype or (got.shape != want.shape and not longer):
            raise ResultsError(
                f"{path}: array {name} is {got.dtype} {got.shape}, and this game needs"
                f" {want.dtype} {want.shape}"
            )
    try:
        return Checkpoint(
            solver=solver,
            fingerprint=fingerprint,
            iteration=int(arrays["iteration"]),
            seconds=float(arrays["seconds"]),
            elapsed=float(arrays["elapsed"]),
            metrics=tuple(_metrics(row) for row in arrays["metrics"].tolist()),
            state=state,
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise ResultsError(f"{path} is not a whole checkpoint: {_one_line(error)}") from error


def _arrays(data: bytes, path: Path) -> dict[str, NDArray[Any]]:
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            # A member that is no array comes as bytes.
            found = {name: archive[name] for name in archive.files}
            return {name: array for name, array in found.items() if isinstance(array, np.ndarray)}
    # Broken bytes fail in the zip, the deflate or the array reader, each with its own errors.
    except Exception as error:
        raise ResultsError(
            f"{path} is truncated or not a checkpoint: {_one_line(error)}; --overwrite starts anew"
        ) from error


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 100 else text[:97] + "..."


# --- what made a run ---------------------------------------------------------------------------


def now() -> str:
    """Return the time in UTC, to the second, as ISO 8601 has it."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


@functools.cache
def environment() -> dict[str, Any]:
    """Describe what computes: versions, cores, and the commit if hogeq runs from a checkout.

    Returns
    -------
    dict
        ``hogeq``, ``python``, ``platform`` : str; ``packages`` : versions by name; ``cores`` : int,
        those this process may use; ``git`` : ``commit`` and ``dirty``, or None.
    """
    versions = {}
    for package in _PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[package] = importlib.metadata.version(package)
    return {
        "hogeq": __version__,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "packages": versions,
        "cores": cores(),
        "git": _git(Path(__file__).parent),
    }


def cores() -> int:
    """Count the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _git(package: Path) -> dict[str, Any] | None:
    def ask(*arguments: str) -> str:
        return subprocess.run(  # noqa: S603 - fixed arguments
            ["git", *arguments],  # noqa: S607 - whichever git the user has
            cwd=package,
            capture_output=True,
            check=True,
            text=True,
            timeout=10,
        ).stdout.strip()

    try:
        # Installed somewhere below another project's checkout, its commit would say nothing.
        ask("ls-files", "--error-unmatch", Path(__file__).name)
        return {
            "commit": ask("rev-parse", "HEAD"),
            "dirty": bool(ask("status", "--porcelain", "--untracked-files=no")),
        }
    except (OSError, subprocess.SubprocessError):
        return None
