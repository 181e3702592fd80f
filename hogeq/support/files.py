"""Files that are written whole or not at all, and read whole or refused."""

import contextlib
import csv
import errno
import io
import json
import os
import secrets
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from hogeq.support.messages import printable, shown

TEMPORARY: Final = ".tmp-"  # prefix of files that are not complete yet


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Write a file whole or not at all: what is written to the path given takes its place."""
    path = Path(path)
    temporary = path.with_name(f"{TEMPORARY}{secrets.token_hex(4)}-{path.name}")
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        if error.filename in {temporary, str(temporary)}:  # nobody knows it by that name
            error.filename = str(path)
        raise
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file whole or not at all; text as UTF-8, with what that cannot hold escaped."""
    if isinstance(content, str):
        content = content.encode("utf-8", "backslashreplace")
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def write_arrays(path: str | os.PathLike[str], **arrays: Any) -> None:
    """Write arrays by name to an ``.npz`` file, whole or not at all."""
    import numpy as np

    with replacing(path) as temporary:
        np.savez_compressed(temporary, **arrays)


def csv_text(header: Iterable[str], rows: Iterable[Sequence[object]]) -> str:
    """Write a table as CSV; floats have all their digits, and what others named is escaped."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in (header, *rows):
        writer.writerow(printable(cell) if isinstance(cell, str) else cell for cell in row)
    return text.getvalue()


def read_whole(path: str | os.PathLike[str], most: int) -> bytes:
    """Read a regular file of at most `most` bytes; anything else is refused and not waited for."""

    def opened(name: str, flags: int) -> int:
        # Not to wait for whoever might write into a pipe.
        return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))

    # What was opened is asked what it is, since what stands at a path may change.
    with open(path, "rb", opener=opened) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "is not a file", os.fspath(path))
        if status.st_size > most:
            raise OSError(errno.EFBIG, f"is larger than {most} bytes", os.fspath(path))
        data = file.read(status.st_size + 1)
    if len(data) > status.st_size:
        raise OSError(errno.EBUSY, "grew while it was read", os.fspath(path))
    return data


def parse_json(data: bytes | str, *, allow_nan: bool = False) -> Any:
    """Read JSON, no key twice and no NaN in it; `ValueError` says in a line what it is instead."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        entries: dict[str, Any] = {}
        for key, value in pairs:
            if key in entries:
                raise _NotJSONError(f"key {shown(key)} stands twice")
            entries[key] = value
        return entries

    def constant(name: str) -> float:
        if allow_nan:
            return float(name)
        raise _NotJSONError(f"is not JSON: {name}")

    try:
        text = data if isinstance(data, str) else data.decode("utf-8-sig")
        return json.loads(text, object_pairs_hook=unique, parse_constant=constant)
    except _NotJSONError:
        raise
    except UnicodeDecodeError as error:
        raise _NotJSONError(f"is not UTF-8 text at byte {error.start}") from error
    except (ValueError, RecursionError) as error:  # ValueError: also a number of 5000 digits
        raise _NotJSONError(f"is not JSON: {error}") from error


class _NotJSONError(ValueError):
    """Bytes that are no JSON; the message is one line."""


def _sync_folder(folder: Path) -> None:
    # A rename is on the disk only once its folder is. Not every file system can, and none must.
    if sys.platform == "win32":
        return
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
