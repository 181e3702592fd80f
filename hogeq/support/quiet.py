"""Silence of compiled libraries that print what nobody asked for."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def quiet() -> Iterator[None]:
    """Drop what is written to the process's standard output, by any thread, in the meantime.

    HiGHS, SciPy's solver of integer programs, leaves a line of its developers' there now and then,
    whatever its options say; it would spoil a command's JSON.
    """
    sys.stdout.flush()
    with Path(os.devnull).open("wb") as nowhere:
        output = os.dup(1)
        try:
            os.dup2(nowhere.fileno(), 1)
            yield
        finally:
            os.dup2(output, 1)
            os.close(output)
