"""Archives of numpy, ``.npz``, that nobody vouches for: nothing in them is run or unpickled."""

import contextlib
import io
import math
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, Any, Final

import numpy as np
import numpy.lib.format as npy
import numpy.typing as npt

from hogeq.support.kinds import require_unpacked
from hogeq.support.messages import HogeqError, refusal

HEADER_BYTES: Final = 2**12  # most bytes of an array's header
COMPRESSED: Final = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}  # as numpy writes archives


@contextlib.contextmanager
def open_archive(file: IO[bytes]) -> Iterator[zipfile.ZipFile]:
    """Open an ``.npz`` file, and refuse it in a line if its zip is broken."""
    try:
        require_unpacked(file.read(16))
        with zipfile.ZipFile(file) as archive:
            _require_arrays(archive.namelist())
            yield archive
    except HogeqError:
        raise
    except (
        EOFError,
        OSError,
        OverflowError,
        TypeError,  # of a device whose read gives None
        RuntimeError,  # encrypted, or of a zip version to come
        ValueError,
        zipfile.BadZipFile,
        zlib.error,
    ) as error:
        is_encrypted = type(error) is RuntimeError
        reason = "a zip that is encrypted" if is_encrypted else "no zip, or one that is not whole"
        raise HogeqError(f"is not an .npz file: {reason}") from error


def _require_arrays(names: list[str]) -> None:
    """Refuse a zip of other files than arrays."""
    if names and not any(name.endswith(".npy") for name in names):
        allowed = "arrays, as numpy.savez writes them; unpack other files first"
        raise HogeqError(refusal("", names, allowed))


def npy_header(start: bytes) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """Read the header of an array in numpy's format from the first bytes of a file.

    Returns its shape, whether it is in Fortran's order, its type, and the byte at which its numbers
    begin.
    """
    file = io.BytesIO(start)  # numpy would read as long a header as the file says
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            version = npy.read_magic(file)
            is_first = version == (1, 0)
            read_header = npy.read_array_header_1_0 if is_first else npy.read_array_header_2_0
            shape, is_fortran, dtype = read_header(file, max_header_size=HEADER_BYTES)
    except Exception as error:  # numpy evaluates a header, which may raise anything
        raise HogeqError("is not an array in numpy's format") from error
    return shape, is_fortran, dtype, file.tell()


def member_shape(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, dtype: npt.DTypeLike, axes: int
) -> tuple[int, ...]:
    """Read the shape of an array of an archive, from its header alone.

    Raises `HogeqError` unless it has this type and number of axes, and as many bytes as it needs.
    """
    name = member.filename.removesuffix(".npy")
    required_type = np.dtype(dtype)
    if member.compress_type not in COMPRESSED:
        raise HogeqError(f"{name}: is not compressed as numpy does it")
    with archive.open(member) as file:
        shape, _, array_type, header_bytes = npy_header(file.read(HEADER_BYTES))
    if array_type.str != required_type.str or len(shape) != axes:
        has = f"has type {array_type.str} and shape {shape}"
        allowed = f"{required_type.str} and {'one axis' if axes == 1 else f'{axes} axes'}"
        raise HogeqError(f"{name}: {has}; allowed: {allowed}")
    num_bytes = member.file_size - header_bytes
    if math.prod(shape) * required_type.itemsize != num_bytes:
        raise HogeqError(f"{name}: has shape {shape}, but {num_bytes} bytes")
    return shape


def read_member(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, dtype: npt.DTypeLike, axes: int
) -> npt.NDArray[Any]:
    """Read an array of an archive; `HogeqError` unless it has this type and number of axes."""
    member_shape(archive, member, dtype, axes)
    with archive.open(member) as file:  # anew: numpy reads the header, too, and the zip's checksum
        return npy.read_array(file, allow_pickle=False)
