"""JSON and arrays that nobody vouches for: what is unusual is refused in one line."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

BYTES = 2**28  # of a file, and of all arrays in it

Array = np.ndarray[Any, Any]


class RefusedError(Exception):
    """Something is not as it should be; one line."""


def demand(holds: object, line: str) -> None:
    """Refuse with a line unless something holds."""
    if not holds:
        raise RefusedError(line)


def typed(name: str, array: Array, kind: str, axes: int) -> None:
    """Refuse an array of another type or shape, or with a number that is not finite."""
    fits = (array.dtype, array.ndim) == (np.dtype(f"<{kind}"), axes)
    demand(fits and np.isfinite(array).all(), f"{name}: not {axes} axes of finite {kind}")


def rises(name: str, array: Array, last: int) -> None:
    """Refuse numbers that do not go from 0 to the last, or fall; differences might overflow."""
    ends = len(array) > 1 and array[0] == 0 and array[-1] == last
    demand(ends and (array[1:] >= array[:-1]).all(), f"{name}: does not rise from 0 to {last}")


def read(path: Path) -> bytes:
    """Read a file that is no larger than allowed."""
    fits = path.is_file() and path.stat().st_size <= BYTES
    demand(fits, f"{path.name}: is not a file of at most {BYTES} bytes")
    return path.read_bytes()


def parse(data: bytes) -> Any:
    """Read JSON that has each key once."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        demand(len(dict(pairs)) == len(pairs), "JSON: a key twice")
        return dict(pairs)

    return json.loads(data.decode(), object_pairs_hook=once)


def arrays_of(data: bytes) -> dict[str, Array]:
    """Read an .npz file that has each array once, no objects, and no more than it may unpack to."""
    with np.load(io.BytesIO(data)) as archive:
        members = archive.zip.infolist()
        # zipfile reads no more than file_size bytes of these two kinds, and of no other.
        kinds = {one.compress_type for one in members}
        demand(kinds <= {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}, "arrays: packed otherwise")
        demand(sum(one.file_size for one in members) <= BYTES, f"arrays: over {BYTES} bytes")
        demand(len({*archive.files}) == len(members), "arrays: one of them twice")
        return dict(archive)
