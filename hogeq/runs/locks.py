"""One process writes a folder at a time."""

import io
import os
import sys
import time
from pathlib import Path
from typing import Final

from hogeq.runs.errors import HeldError, reported

if sys.platform != "win32":
    import fcntl

LOCK_FILE: Final = ".lock"


def lock(path: Path) -> io.BufferedRandom:
    """Hold a folder until the file returned is closed, or this process is gone.

    Raises
    ------
    HeldError
        Another process holds it.
    ResultsError
        It cannot be written.
    """
    with reported(path, "written"):
        handle = (path / LOCK_FILE).open("ab+")
    try:
        if sys.platform != "win32":
            _flock(handle)
    except BlockingIOError as error:
        handle.close()
        raise HeldError(f"{path} is being written by another process") from error
    except OSError:
        pass  # a file system without locks; the run matters more than the guard
    return handle  # the lock goes when this file is closed, and so when its process dies


def _flock(handle: io.BufferedRandom) -> None:
    for tries_left in reversed(range(10)):
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not tries_left:
                raise
            time.sleep(0.02)  # somebody may only be looking: `is_held`
    return None


def is_held(path: str | Path) -> bool:
    """Whether a process is writing in a folder, as far as its file system can tell."""
    if sys.platform == "win32":
        return False
    try:
        # A pipe in its place is not waited for.
        handle = os.open(Path(path) / LOCK_FILE, os.O_RDONLY | os.O_NONBLOCK)
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        finally:
            os.close(handle)
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False
