"""Refusals, warnings, and the workers of a command."""

import errno
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from hogeq.cli.result import encodable
from hogeq.support.messages import BadInputError, one_line
from hogeq.support.progress import show_progress

if TYPE_CHECKING:
    from hogeq.support.workers import Workers

LONGEST = 2000  # characters of a message
NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}  # a disk is full


def warn(what: object, status: int = 0) -> int:
    """Print one line to standard error and give back the exit status."""
    line = one_line(what, LONGEST)
    typer.echo(encodable(f"hogeq: {line}", sys.stderr.encoding), err=True)
    return status


@contextmanager
def refusing() -> Iterator[None]:
    """Count errors of values, types and files in the block as bad input.

    Only for code that uses input of the user: such an error from the middle of a computation is a
    failure of ours. A `BadInputError`, or an error that names a file, needs no such block.
    """
    try:
        yield
    except BadInputError:
        raise
    except (ValueError, TypeError) as error:
        raise BadInputError(str(error)) from error
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise BadInputError(f"{where}{error.strerror or error}") from error


@contextmanager
def computing(on: str | None = None, jobs: int | None = None) -> Iterator["Workers"]:
    """Choose the workers of a block (:func:`hogeq.support.workers.workers`); show progress."""
    from hogeq.support.workers import ExecutorError, WorkersLostError, workers

    try:
        with workers(jobs, on) as chosen, show_progress():
            yield chosen
    except ExecutorError as error:
        where = "--" if str(error).startswith("on: ") else ""
        raise BadInputError(f"{where}{error}") from error
    except WorkersLostError as error:
        raise typer.Exit(warn(f"{error}; what is done is kept", 1)) from None
