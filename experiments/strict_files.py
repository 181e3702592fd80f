"""JSON and arrays that nobody vouches for: what is unusual is refused in one line."""

import io
import json
import math
import zipfile
from pathlib import Path
from typing import Any, NoReturn

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


def short(name: str, chances: Array, first: Array | None = None) -> float:
    """By how much the sums of rows, or of the spans from first to first, miss 1 at most."""
    demand((chances >= 0.0).all(), f"{name}: a negative probability")
    sums = chances.sum(axis=-1) if first is None else np.add.reduceat(chances, first[:-1])
    found = float(np.abs(sums - 1.0).max())
    demand(found <= SUM, f"{name}: no probabilities, they miss 1 by {found:.1e}")
    most = chances.shape[-1] if first is None else int(np.diff(first).max())
    return found + most * ROUNDING


def rises(array: Array, last: int) -> bool:
    """Whether whole numbers go from 0 to the last and never fall; differences might overflow."""
    ends = len(array) > 1 and array[0] == 0 and array[-1] == last
    return bool(ends and (array[1:] >= array[:-1]).all())


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
    """Read JSON that has each key once and no NaN."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        demand(len(dict(pairs)) == len(pairs), "JSON: a key twice")
        return dict(pairs)

    def constant(name: str) -> NoReturn:
        raise RefusedError(f"JSON: {name} is not a number")

    return json.loads(data.decode(), object_pairs_hook=once, parse_constant=constant)


def arrays_of(data: bytes) -> dict[str, Array]:
    """Read an .npz file that has each array once, as large as its header says, and no objects."""
    found: dict[str, Array] = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        demand(sum(one.file_size for one in members) <= BYTES, f"arrays: over {BYTES} bytes")
        for one in members:
            where, name = f"member {one.filename}", one.filename.removesuffix(".npy")
            demand(name != one.filename and name not in found, f"{where}: twice, or not .npy")
            # zipfile reads no more than file_size bytes of these two kinds, and of no other.
            limited = one.compress_type in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
            demand(limited, f"{where}: neither stored nor deflated")
            stream = io.BytesIO(archive.read(one))
            demand(np.lib.format.read_magic(stream) == (1, 0), f"{where}: not of version 1.0")
            shape, by_columns, kind = np.lib.format.read_array_header_1_0(stream)
            demand(kind.kind in "if", f"{where}: of type {kind}")
            start, buffer = stream.tell(), stream.getvalue()
            fits = start + math.prod(shape) * kind.itemsize == len(buffer)
            demand(fits, f"{where}: not as large as it says")
            order: Any = "F" if by_columns else "C"
            found[name] = np.ndarray(shape, kind, buffer, start, order=order)
    return found


def line_of(error: Exception) -> str:
    """Say in one line why something is refused, whatever was raised."""
    kind = "" if isinstance(error, RefusedError) else f"{type(error).__name__}: "
    return f"refused: {kind}{ascii(str(error))[1:-1]:.300}"
