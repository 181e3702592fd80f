"""A run directory and its checkpoint, which holds everything that a run needs to go on.

Each file is written whole or not at all, and one process writes a directory at a time.
"""

import contextlib
import dataclasses
import hashlib
import io
import json
import shutil
import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from hogeq import Game, Hog
from hogeq.runs.files import (
    CHECKPOINT,
    CONFIG,
    FIELDS,
    FILES,
    LOCK_FILE,
    MANIFEST,
    METRICS,
    MIXTURE,
    PLUGINS,
    POLICY_TABLE,
    SCHEMA,
    Metrics,
    ResultsError,
    as_results_error,
    finite,
    lock,
    metrics_row,
    metrics_table,
)
from hogeq.support import files
from hogeq.support.archives import open_archive
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.support.messages import HogeqError
from hogeq.support.parameters import plain
from hogeq.support.plugins import Plugin

MAX_CHECKPOINT: Final = 1 << 36  # bytes of the largest file read: more than a machine's memory
_STATE_PREFIX: Final = "state."  # of the names of the solver's arrays in a checkpoint


class RunDirectory(contextlib.ExitStack):
    """A run directory held by this process until `close`, or until the process is gone."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.enter_context(lock(path))

    @classmethod
    def create(cls, root: str | Path, name: str, *, overwrite: bool = False) -> Self:
        """Make the folder ``root/name`` and lock it.

        If the folder exists, `overwrite` removes the files of its run; otherwise it is an error.
        """
        path = Path(root) / name
        with as_results_error(path, "made"), contextlib.suppress(FileExistsError):
            path.mkdir(parents=True)
            return cls(path)
        if not overwrite:
            raise ResultsError(
                f"{path} exists already: --resume {path} continues it, --overwrite replaces it,"
                " --set name=NAME leaves it alone"
            )
        self = cls.resume(path)
        try:
            with as_results_error(path, "emptied"):
                # The checkpoint first: a directory without one starts anew.
                for file in (CHECKPOINT, MIXTURE, POLICY_TABLE, *FILES):
                    (path / file).unlink(missing_ok=True)
                shutil.rmtree(path / PLUGINS, ignore_errors=True)
            self.remove_leftovers()
        except BaseException:
            self.close()
            raise
        return self

    @classmethod
    def resume(cls, path: str | Path) -> Self:
        """Lock an existing run directory; no file of the run is changed."""
        path = Path(path)
        with as_results_error(path, "read"):
            if not path.exists():
                raise ResultsError(f"{path} does not exist: no run to continue")
            if not path.is_dir():
                raise ResultsError(f"{path} is not a folder")
            names = {entry.name for entry in path.iterdir()}
        # A run that was killed at once may leave an empty folder. A config alone makes no run
        # directory: people keep configs in folders of their own.
        if names and not names & {LOCK_FILE, MANIFEST, CHECKPOINT}:
            raise ResultsError(f"{path} is not a run directory: no {MANIFEST} in it; left as it is")
        return cls(path)

    def remove_leftovers(self) -> None:
        """Remove the files that a killed process had not finished writing."""
        with as_results_error(self.path, "tidied"):
            for file in self.path.glob(f"{files.TEMPORARY}*"):
                file.unlink(missing_ok=True)

    def write(self, name: str, content: str | bytes) -> None:
        """Write one file of the directory or of a folder in it, whole or not at all."""
        path = self.path / name
        if path.parent != self.path:
            with as_results_error(path.parent, "made"):
                path.parent.mkdir(exist_ok=True)
        with as_results_error(path, "written"):
            files.write_whole(path, content)

    def write_manifest(self, manifest: Mapping[str, Any]) -> None:
        """Write `manifest.json`; NaN and infinities, which JSON lacks, become null."""
        self.write(MANIFEST, files.json_text(finite(manifest), 2) + "\n")

    def write_metrics(self, metrics: Sequence[Metrics]) -> None:
        """Write `metrics.csv`: numbers in full, so that reading gives them back exactly."""
        self.write(METRICS, files.csv_text(*metrics_table(metrics)))

    def save(self, checkpoint: "Checkpoint") -> None:
        """Write a checkpoint, then `metrics.csv` with its lines."""
        with as_results_error(self.path / CHECKPOINT, "written"):
            write_checkpoint(self.path / CHECKPOINT, checkpoint)
        self.write_metrics(checkpoint.metrics)


# --- plugins --------------------------------------------------------------------------------------


def plugin_path(plugin: Plugin) -> str:
    """Path of a plugin in a run directory."""
    return f"{PLUGINS}/{plugin.file}"


def plugin_facts(plugins: Sequence[Plugin]) -> list[dict[str, str]]:
    """Describe plugins for a manifest: the file's name and a hash of its content."""
    return [{"file": plugin.file, "sha256": plugin.sha256} for plugin in plugins]


def require_same(
    directory: Path, manifest_before: Mapping[str, Any], fingerprint: str, plugins: Sequence[Plugin]
) -> None:
    """Raise `ResultsError` if a run was made with other plugins, or from another config.

    `manifest_before` is the manifest of the run directory, empty if it has none; `fingerprint` and
    `plugins` are of the config that is to continue the run.
    """
    if manifest_before.get("plugins") not in (None, plugin_facts(plugins)):
        names = ", ".join(plugin.file for plugin in plugins) or "none"
        raise ResultsError(
            f"{directory} was made with other plugins: {names} now; --overwrite starts anew"
        )
    if manifest_before.get("config_hash") not in {None, fingerprint}:
        raise ResultsError(
            f"{directory} was made from another config: --overwrite replaces it, another name"
            " leaves it alone; to go on, rules, solver and measure must be the same"
        )


def require_same_game(
    directory: Path, manifest_before: Mapping[str, Any], name: str, game: Game
) -> None:
    """Raise `ResultsError` if a game has changed since the manifest of a run was written.

    `name` is the game's name in the config. The rules of Hog are part of the config, so that a game
    of Hog cannot change.
    """
    if isinstance(game, Hog):
        return
    game_before = manifest_before.get("game")
    if not isinstance(game_before, Mapping):
        raise ResultsError(
            f"{directory} was made by hogeq 0.2, which counted payoffs as win rates; --overwrite"
            " starts anew"
        )
    if game_before.get("tree_sha256") != game.rows.digest():
        raise ResultsError(
            f"{directory} is of another game: that of {name} has changed since; --overwrite starts"
            " anew"
        )


# --- the checkpoint of a run ----------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Checkpoint:
    """Everything a run needs to go on."""

    solver: str  # its name
    fingerprint: str  # of the config
    iteration: int
    seconds: float  # spent in the solver
    elapsed: float  # seconds spent on the run
    metrics: tuple[Metrics, ...]
    state: Mapping[str, NDArray[Any]]  # of the solver


def write_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint; no array may need a pickle."""
    files.write_arrays(
        path,
        compress=False,
        schema=np.int64(SCHEMA),
        solver=checkpoint.solver,
        fingerprint=checkpoint.fingerprint,
        iteration=np.int64(checkpoint.iteration),
        seconds=checkpoint.seconds,
        elapsed=checkpoint.elapsed,
        metrics=np.array([dataclasses.astuple(row) for row in checkpoint.metrics], np.float64),
        **{_STATE_PREFIX + name: array for name, array in checkpoint.state.items()},
    )


def read_checkpoint(
    path: Path,
    solver: str,
    fingerprint: str,
    first_state: Mapping[str, NDArray[Any]],
    grows: Collection[str] = (),
) -> Checkpoint:
    """Read a checkpoint, and check that a run of this solver and config can go on from it.

    `first_state` has the arrays of the solver's initial state, by name. Those of the checkpoint
    must have the same names, types and shapes, but arrays named in `grows` may have any length.
    Raises `ResultsError` if anything does not fit.
    """
    arrays = _read_arrays(path, "; --overwrite starts anew")
    schema = arrays.get("schema")
    if schema is None or schema.ndim or schema.dtype.kind != "i":
        raise ResultsError(f"{path} is not a checkpoint of a run: no schema version in it")
    if schema.item() != SCHEMA:
        raise ResultsError(
            f"{path} has schema version {schema.item()}, and this version of hogeq reads {SCHEMA}"
        )
    made_by = str(arrays.get("solver", "none"))
    if made_by != solver:
        raise ResultsError(f"{path} was made by solver {made_by}, not by {solver}")
    if str(arrays.get("fingerprint")) != fingerprint:
        raise ResultsError(
            f"{path} was made from another config: rules, solver and measure must be those"
            f" of {path.with_name(CONFIG)}"
        )
    state = {
        name.removeprefix(_STATE_PREFIX): array
        for name, array in arrays.items()
        if name.startswith(_STATE_PREFIX)
    }
    for name in sorted({*first_state, *state}):
        if name not in state or name not in first_state:
            problem = "lacks" if name in first_state else "has an unknown"
            raise ResultsError(f"{path} {problem} array {name} for solver {solver}")
        array = state[name]
        expected = np.asarray(first_state[name])
        can_grow = name in grows and array.ndim == expected.ndim
        if array.dtype != expected.dtype or not (array.shape == expected.shape or can_grow):
            raise ResultsError(
                f"{path}: array {name} is {array.dtype} {array.shape}, and this game needs"
                f" {expected.dtype} {expected.shape}"
            )
    try:
        iteration = int(arrays["iteration"])
        seconds = float(arrays["seconds"])
        elapsed = float(arrays["elapsed"])
        rows = arrays["metrics"].tolist()
        metrics = tuple(metrics_row(dict(zip(FIELDS, row, strict=False))) for row in rows)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        problem = "iteration, seconds, elapsed or metrics are not numbers of a run"
        raise ResultsError(f"{path} is not a whole checkpoint: {problem}") from error
    if iteration < 0:
        where = f"{path} is not a whole checkpoint"
        raise ResultsError(f"{where}: iteration is {iteration}; allowed: 0 or more")
    return Checkpoint(solver, fingerprint, iteration, seconds, elapsed, metrics, state)


def _read_arrays(path: Path, advice: str = "") -> dict[str, NDArray[Any]]:
    """Read the arrays of an ``.npz`` file, by name.

    Raises `ResultsError`, whose message ends with `advice`, if the file is broken.
    """
    with as_results_error(path, "read"):
        data = files.read_whole(path, MAX_CHECKPOINT)
    # Broken bytes fail in the zip, the deflate or the array reader, each with its own errors.
    try:
        with open_archive(io.BytesIO(data)):
            pass
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            members = archive.zip.infolist()
            is_uncompressed = all(member.compress_type == zipfile.ZIP_STORED for member in members)
            if is_uncompressed and sum(member.file_size for member in members) <= len(data):
                contents = {name: archive[name] for name in archive.files}
                # Numpy gives a member that is no array as bytes.
                return {
                    name: array for name, array in contents.items() if isinstance(array, np.ndarray)
                }
        # Such a file may need far more memory than its size, so it is not unpacked.
        reason = "its members are compressed or overlap"
    except HogeqError as error:
        reason = str(error)
    except Exception:  # noqa: BLE001
        reason = "its members are damaged, or no arrays of numbers"
    raise ResultsError(f"{path} is truncated or not a checkpoint: {reason}{advice}")


# --- the checkpoint of a search -------------------------------------------------------------------


def saved_rounds(
    game: Hog,
    search: Any,
    strategy: NDArray[Any],
    path: Path,
    deadline: Deadline = FOREVER,
) -> Iterator[Any]:
    """Do the remaining rounds of a search, and save its state at `path` after each.

    `search` is a purifier that works in rounds, and `strategy` what it purifies. If `path` exists,
    the search goes on from there, as if it had not been interrupted. Yields the state at the start
    and after each round that ends in time. Raises `TimeoutError` if the time is over before that.
    """
    parameters = plain(search)
    del parameters["rounds"]  # a search may go on for more rounds than it began with
    strategy_hash = hashlib.sha256(np.ascontiguousarray(strategy).data).hexdigest()
    # The file says by which search it was made: a hash of everything that its states depend on.
    search_facts = [plain(game.rules), parameters, strategy.dtype.str, strategy_hash]
    made_by = hashlib.sha256(json.dumps(search_facts, sort_keys=True).encode()).hexdigest()
    if path.exists():
        arrays = _read_arrays(path)
        if arrays.keys() != {"made_by", *search.STATE._fields}:
            raise ResultsError(f"{path} is not a checkpoint of a search")
        if str(arrays.pop("made_by")) != made_by:
            raise ResultsError(
                f"{path} is of another search; allowed: one of this strategy by these rules and "
                "parameters, rounds aside"
            )
        state = search.STATE(**arrays)
    else:
        state = search.init(game.engine, strategy, deadline)
    yield state
    for state_after in search.rounds_from(game.engine, state, deadline):
        with as_results_error(path, "written"):
            files.write_arrays(path, compress=False, made_by=made_by, **state_after._asdict())
        yield state_after
