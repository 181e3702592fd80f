"""Errors of run directories, and the blocks that raise them instead of `OSError`."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from hogeq.support import files


class ResultsError(ValueError):
    """A run directory that cannot be made, read or written; the message is one line."""


class HeldError(ResultsError):
    """A folder that another process is writing."""


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


@contextlib.contextmanager
def reported(path: Path, verb: str) -> Iterator[None]:
    """Turn an `OSError` of the block into a `ResultsError`: "PATH cannot be VERB: reason"."""
    try:
        yield
    except OSError as error:
        raise ResultsError(f"{path} cannot be {verb}: {error.strerror or error}") from error
