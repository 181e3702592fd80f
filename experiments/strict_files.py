"""JSON and arrays that nobody vouches for: what is unusual is refused in one line."""

import io
import json
import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

BYTES = 2**28  # of a file, and of all arrays in it
SUM = 1e-9  # by which probabilities may miss 1
ROUNDING = 2.0**-53

Array = np.ndarray[Any, Any]


class RefusedError(Exception):
    """Something is not as it should be; one line."""


def demand(holds: object, line: str) -> None:
    """Refuse with a line unless something holds."""
    if not holds:
        raise RefusedError(line)


def typed(name: str, array: Array, kind: str, axes: int) -> None:
    """Refuse an array of another type, or with a number that is not finite."""
    demand(array.dtype == np.dtype(f"<{kind}"), f"{name}: its type is {array.dtype}, not {kind}")
    demand(array.ndim == axes, f"{name}: has {array.ndim} axes, not {axes}")
    demand(np.isfinite(array).all(), f"{name}: has numbers that are not finite")


def short(name: str, chances: Array, terms: int) -> float:
    """By how much rows, each of at most so many probabilities, miss a sum of 1 at most."""
    demand((chances >= 0.0).all(), f"{name}: a negative probability")
    found = float(np.abs(chances.sum(axis=-1) - 1.0).max())
    demand(found <= SUM, f"{name}: no probabilities, they miss 1 by {found:.1e}")
    return found + terms * ROUNDING


def rises(name: str, array: Array, last: int) -> None:
    """Refuse numbers that do not go from 0 to the last, or fall; differences might overflow."""
    ends = len(array) > 1 and array[0] == 0 and array[-1] == last
    demand(ends and (array[1:] >= array[:-1]).all(), f"{name}: does not rise from 0 to {last}")


def error(size: float, roundings: float, misses: float) -> float:
    """How far a number may be off: 1.02 M (n u + m e), given M, n and m e."""
    share = roundings * ROUNDING + misses
    demand(share < 1 / 200 and math.isfinite(size), "numbers: too many, or too large")
    return 1.02 * size * share


def read(path: Path) -> bytes:
    """Read a file that is no larger than allowed."""
    demand(path.is_file(), f"{path.name}: is not a file")
    demand(path.stat().st_size <= BYTES, f"{path.name}: has more than {BYTES} bytes")
    return path.read_bytes()


def parse(data: bytes) -> Any:
    """Read JSON that has each key once."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        demand(len(dict(pairs)) == len(pairs), "JSON: a key twice")
        return dict(pairs)

    return json.loads(data.decode(), object_pairs_hook=once)


def arrays_of(data: bytes) -> dict[str, Array]:
    """Read an .npz file that has each array once, no objects, and no more than it may unpack to."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        # zipfile reads no more than file_size bytes of these two kinds, and of no other.
        kinds = {one.compress_type for one in members}
        demand(kinds <= {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}, "arrays: packed otherwise")
        demand(sum(one.file_size for one in members) <= BYTES, f"arrays: over {BYTES} bytes")
        names = {one.filename.removesuffix(".npy"): one for one in members}
        demand(len(names) == len(members), "arrays: one of them twice")
        return {
            name: np.lib.format.read_array(io.BytesIO(archive.read(one)))
            for name, one in names.items()
        }
