"""Files that are written whole or not at all, and read whole or refused."""

import contextlib
import errno
import json
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import IO, Any, Final

from hogeq.support.messages import printable

TEMPORARY: Final = ".tmp-"  # prefix of files that are not complete yet


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Write a file whole or not at all: a block writes to the path that it gets, a temporary file.

    After the block that file takes the place of the one at `path`; if the block fails, it is gone.
    """
    path = Path(path)
    temporary = path.with_name(f"{TEMPORARY}{secrets.token_hex(4)}-{path.name}")
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        # A message should not have the temporary name; errors of a full disk have no name at all.
        if error.filename in {None, temporary, str(temporary)}:
            error.filename = str(path)
        raise
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file whole or not at all; text as UTF-8, lone surrogates escaped."""
    if isinstance(content, str):
        content = content.encode("utf-8", "backslashreplace")
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def write_arrays(path: str | os.PathLike[str], *, compress: bool = True, **arrays: Any) -> None:
    """Write arrays by name to an ``.npz`` file, whole or not at all; none may need a pickle."""
    import numpy as np

    for name, array in arrays.items():
        if np.asarray(array).dtype.hasobject:
            raise TypeError(f"{name} is an array of objects, which only a pickle could keep")
    # By a file, since to a path that ends in ".NPZ" numpy adds ".npz".
    with replacing(path) as temporary, temporary.open("wb") as file:
        (np.savez_compressed if compress else np.savez)(file, **arrays)


_FORMULA: Final = re.compile("(^|;)([\\s\"']*)(?=[-=+@\uff0d\uff1d\uff0b\uff20])")
"""Where a spreadsheet begins to compute: at the start of a cell, or where it may split one."""


def csv_text(header: Iterable[str], rows: Iterable[Sequence[object]]) -> str:
    """Write a table as CSV; floats have all their digits, and no text is a formula."""
    return "".join(f"{','.join(map(_cell, row))}\n" for row in (header, *rows))


def _cell(value: object) -> str:
    """Write a cell: text is escaped, and no spreadsheet takes it for a formula or for two cells."""
    if not isinstance(value, str):
        return "" if value is None else str(value)
    text = _FORMULA.sub(r"\1\2'", printable(value))
    return '"{}"'.format(text.replace('"', '""')) if set(text) & set(',;"') else text


def json_text(value: object, indent: int | None = None, *, compact: bool = False) -> str:
    """Write plain values as JSON, and paths as texts; NaN and infinities raise `ValueError`."""
    separators = (",", ":") if compact else None
    return json.dumps(
        value, indent=indent, separators=separators, allow_nan=False, default=os.fspath
    )


def json_entries(value: Mapping[str, Any] | Sequence[Any]) -> list[str]:
    """Write the entries of a list, or those of an object with their keys, each as JSON."""
    if isinstance(value, Mapping):
        return [f"{json_text(key)}: {json_text(entry)}" for key, entry in value.items()]
    return [json_text(entry) for entry in value]


def json_lines(value: Mapping[str, Any] | Sequence[Any]) -> str:
    """Write a list or an object as JSON, one entry a line."""
    start, end = "{}" if isinstance(value, Mapping) else "[]"
    return "\n".join([start, ",\n".join(json_entries(value)), end, ""])


@contextlib.contextmanager
def opened(
    path: str | os.PathLike[str], most: int, *, within: Path | None = None
) -> Iterator[tuple[IO[bytes], int]]:
    """Open a regular file of at most `most` bytes; anything else is refused and not waited for.

    With `within` it is a path in that folder, and nothing on the way to it may be a link.
    """

    def opener(name: str, flags: int) -> int:
        if within is not None:
            return open_within(within, PurePath(name))
        # Without waiting for a program that might write into a pipe.
        return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))

    # The open file is examined and not the path, where another may stand by now.
    with open(path, "rb", opener=opener) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "is not a file", os.fspath(path))
        if status.st_size > most:
            raise OSError(errno.EFBIG, f"is larger than {most} bytes", os.fspath(path))
        try:
            yield file, status.st_size
        except OSError as error:  # of a read, which names no file
            error.filename = error.filename or os.fspath(path)
            raise


def read_whole(path: str | os.PathLike[str], most: int, *, within: Path | None = None) -> bytes:
    """Read a regular file, as `opened` opens it."""
    with opened(path, most, within=within) as (file, size):
        data = file.read(size + 1) or b""  # None where a device would wait
    if len(data) > size:
        raise OSError(errno.EBUSY, "grew while it was read", os.fspath(path))
    return data


def open_within(folder: Path, path: PurePath) -> int:
    """Open a path in a folder for reading; `OSError` if there is a link on its way.

    Each part is opened in the folder that was opened before it, so that nobody can put a link there
    in the meantime.
    """
    if path.is_absolute() or ".." in path.parts:
        raise OSError(errno.EINVAL, "leads out of its folder", os.fspath(path))
    if os.open not in os.supports_dir_fd:
        return os.open(_without_links(folder, path), os.O_RDONLY | getattr(os, "O_BINARY", 0))
    handle = os.open(folder, os.O_RDONLY)
    for part in path.parts:
        above = handle
        try:
            handle = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=above)
        finally:
            os.close(above)
    return handle


def scan_within(folder: Path, path: PurePath) -> list[tuple[str, os.stat_result]]:
    """List a folder in a folder, each name with its status; `OSError` if a link is on its way."""
    has_handles = os.scandir in os.supports_fd
    opened_folder = open_within(folder, path) if has_handles else _without_links(folder, path)
    try:
        with os.scandir(opened_folder) as entries:
            return [(entry.name, entry.stat(follow_symlinks=False)) for entry in entries]
    finally:
        if isinstance(opened_folder, int):
            os.close(opened_folder)


def _without_links(folder: Path, path: PurePath) -> Path:
    """Return the path of a file in a folder; `OSError` if there is a link on its way.

    Another may stand there when it is opened: on Windows no more can be done.
    """
    for reached in (path, *path.parents[:-1]):
        if (folder / reached).resolve() != folder.resolve() / reached:
            raise OSError(errno.ELOOP, "is a link", os.fspath(folder / reached))
    return folder / path


@contextlib.contextmanager
def redirected(stream: int, to: int | None = None) -> Iterator[None]:
    """Redirect a stream of the process, descriptor 1 or 2, to another, in a block; None: nowhere.

    So output of compiled code is caught, too.
    """
    sys.stdout.flush()
    original = os.dup(stream)
    try:
        with Path(os.devnull).open("wb") as null_device:
            os.dup2(null_device.fileno() if to is None else to, stream)
        yield
    finally:
        os.dup2(original, stream)
        os.close(original)


def _sync_folder(folder: Path) -> None:
    """Write a folder to the disk, if the file system can: else a rename in it may be lost."""
    if sys.platform == "win32":
        return
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
