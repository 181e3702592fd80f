"""Results, warnings and refusals, printed here alone; and the workers of a command."""

import errno
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from hogeq.support.files import json_text
from hogeq.support.messages import HogeqError, Table, lines_of, one_line
from hogeq.support.progress import show_progress

if TYPE_CHECKING:
    from hogeq.support.workers import Workers

MAX_MESSAGE_LENGTH = 2000  # characters of a message
DISK_FULL_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}  # or a quota, or a size limit


@dataclass(frozen=True)
class Result:
    """Result of a command.

    `data` is its JSON object, `text` the same for people. The exit status is not 0 after a bad
    result.
    """

    data: Mapping[str, Any]
    text: Sequence[str | Table] = ()
    status: int = 0

    def with_files(self, files: Mapping[str, Path | None]) -> "Result":
        """Add the files that were written, by their keys, if data and text do not name them."""
        data = {**self.data, **{key: files[key] for key in files if key not in self.data}}
        lines = "\n".join(line for line in self.text if isinstance(line, str))
        notes = [
            f"written to {path}" for path in files.values() if path and f"to {path}" not in lines
        ]
        if not self.text:
            return replace(self, data=data, text=[])
        return replace(self, data=data, text=[*self.text, *notes])


def show(result: Result, as_json: bool) -> None:
    """Print a result to standard output."""
    if as_json:
        typer.echo(json_text(result.data))
    else:
        say(*result.text)


def say(*text: str | Table) -> None:
    """Print lines and tables to standard output."""
    if text:
        typer.echo(encodable("\n".join(lines_of(text)), sys.stdout.encoding))


def encodable(text: str, encoding: str | None) -> str:
    """Escape the characters that an encoding lacks."""
    encoding = encoding or "ascii"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def warn(message: object, status: int = 0) -> int:
    """Print one line to standard error, and return the exit status that is passed in."""
    line = one_line(message, MAX_MESSAGE_LENGTH)
    typer.echo(encodable(f"hogeq: {line}", sys.stderr.encoding), err=True)
    return status


@contextmanager
def refusing() -> Iterator[None]:
    """Turn errors of values, types and files in the block into `HogeqError`.

    This is only for code that checks or uses input of the user. Such an error in the middle of a
    computation is a failure of hogeq's own. A `HogeqError`, or an error that names a file, needs no
    such block.
    """
    try:
        yield
    except HogeqError:
        raise
    except (ValueError, TypeError) as error:
        raise HogeqError(str(error)) from error
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise HogeqError(f"{where}{error.strerror or error}") from error


@contextmanager
def computing(on: str | None = None, jobs: int | None = None) -> Iterator["Workers"]:
    """Give the workers that compute in a block, and show progress.

    `on` and `jobs` are the values of --on and --jobs, as :func:`hogeq.support.workers.workers`
    takes them.
    """
    from hogeq.support.workers import ExecutorError, workers

    try:
        with workers(jobs, on) as chosen_workers, show_progress():
            yield chosen_workers
    except ExecutorError as error:
        prefix = "--" if str(error).startswith("on: ") else ""  # the option, not a parameter
        raise HogeqError(f"{prefix}{error}") from error
