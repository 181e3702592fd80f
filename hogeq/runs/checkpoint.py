"""Checkpoints: everything that a run, or a search for a matrix, needs to go on."""

import dataclasses
import hashlib
import io
import json
import math
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hogeq.model.game import HogEngine
from hogeq.purification.base import SearchPurifier, State
from hogeq.runs.files import CONFIG, SCHEMA, ResultsError, replacing
from hogeq.runs.metrics import Metrics, columns, metrics_row, table
from hogeq.support.messages import one_line
from hogeq.support.parameters import plain

_STATE: Final = "state."

_HEADERS: Final[dict[tuple[int, ...], Any]] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


@dataclasses.dataclass(frozen=True)
class Checkpoint:
    """Everything a run needs to go on."""

    solver: str
    fingerprint: str
    iteration: int
    seconds: float
    elapsed: float
    metrics: tuple[Metrics, ...]
    state: Mapping[str, NDArray[Any]]


def packed(checkpoint: Checkpoint) -> bytes:
    """Write a checkpoint as the bytes of an ``.npz`` file; no array may need a pickle."""
    rows = np.array(table(checkpoint.metrics), dtype=np.float64)
    file = io.BytesIO()
    arrays: dict[str, Any] = {
        "schema": np.int64(SCHEMA),
        "solver": np.str_(checkpoint.solver),
        "fingerprint": np.str_(checkpoint.fingerprint),
        "iteration": np.int64(checkpoint.iteration),
        "seconds": np.float64(checkpoint.seconds),
        "elapsed": np.float64(checkpoint.elapsed),
        "metrics": rows.reshape(-1, len(columns(checkpoint.metrics))),
        **{_STATE + name: np.asarray(array) for name, array in checkpoint.state.items()},
    }
    for name, array in arrays.items():
        if array.dtype.hasobject:
            raise TypeError(f"{name} is {array.dtype}, which only a pickle could keep")
    np.savez(file, **arrays)
    return file.getvalue()


def unpacked(
    data: bytes,
    path: Path,
    solver: str,
    fingerprint: str,
    like: Mapping[str, NDArray[Any]],
    grows: Collection[str],
) -> Checkpoint:
    """Read a checkpoint back, and check that it can go on."""
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
            iteration=_iterations(arrays["iteration"]),
            seconds=float(arrays["seconds"]),
            elapsed=float(arrays["elapsed"]),
            metrics=tuple(metrics_row(row) for row in arrays["metrics"].tolist()),
            state=state,
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise ResultsError(f"{path} is not a whole checkpoint: {_why(error)}") from error


def _iterations(given: NDArray[Any]) -> int:
    done = int(given)
    if done < 0:
        raise ValueError(f"iteration is {done}; allowed: 0 or more")
    return done


def _arrays(data: bytes, path: Path) -> dict[str, NDArray[Any]]:
    try:
        _require_plain(data)
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            # A member that is no array comes as bytes.
            members = {name: archive[name] for name in archive.files}
            return {name: array for name, array in members.items() if isinstance(array, np.ndarray)}
    # Broken bytes fail in the zip, the deflate or the array reader, each with its own errors.
    except Exception as error:
        raise ResultsError(
            f"{path} is truncated or not a checkpoint: {_why(error)}; --overwrite starts anew"
        ) from error


def _require_plain(data: bytes) -> None:
    """Refuse what would take more memory than its bytes do, with a `ValueError`."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        if any(member.compress_type != zipfile.ZIP_STORED for member in members):
            raise ValueError("it is compressed, which no run does")
        if sum(member.file_size for member in members) > len(data):
            raise ValueError("its members overlap")
        for member in members:
            with archive.open(member) as file:
                if file.read(6) != np.lib.format.MAGIC_PREFIX:
                    continue  # no array, and not read as one
                read = _HEADERS[tuple(file.read(2))]
                shape, _, dtype = read(file)
                if math.prod(shape) * dtype.itemsize > member.file_size:
                    raise ValueError("an array ends before its shape says")


def _why(error: BaseException) -> str:
    return one_line(error)


# --- searches -------------------------------------------------------------------------------------


def saved_rounds(
    game: HogEngine, search: SearchPurifier[State], strategy: NDArray[Any], path: Path
) -> Iterator[State]:
    """Do the rounds that are left, with the same bits as if they had never been interrupted."""
    made_by = _made_by(game, search, strategy)
    state = _state(path, made_by, search.STATE) if path.exists() else search.init(game, strategy)
    yield state
    for later in search.rounds_from(game, state):
        with replacing(path) as temporary, temporary.open("wb") as file:
            np.savez(file, made_by=np.str_(made_by), **later._asdict())
        yield later


def _made_by(game: HogEngine, search: SearchPurifier[State], strategy: NDArray[Any]) -> str:
    """Hash what the state of a search depends on, the number of rounds left out."""
    parameters = plain(search)
    del parameters["rounds"]
    table = hashlib.sha256(np.ascontiguousarray(strategy).data).hexdigest()
    text = json.dumps([plain(game.rules), parameters, strategy.dtype.str, table], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _state(path: Path, made_by: str, kind: Any) -> Any:
    try:
        with path.open("rb") as file, np.load(file) as arrays:
            members = {name: arrays[name] for name in ("made_by", *kind._fields)}
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise ResultsError(f"{path} is not the checkpoint of a search: {error}") from error
    if str(members.pop("made_by")) != made_by:
        raise ResultsError(
            f"{path} is of another search; allowed: one of this strategy by these rules and "
            "parameters, rounds aside"
        )
    return kind(**members)
