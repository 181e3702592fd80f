"""A clock that stands still while kernels are compiled, which says nothing of an algorithm."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_lock = Lock()
_compiling = 0  # threads, and calls of one thread within each other
_since = 0.0
_seconds = 0.0


def working_time() -> float:
    """Seconds since some moment, without those in which a thread of this process compiled."""
    with _lock:
        now = time.monotonic()
        return now - _seconds - (now - _since if _compiling else 0.0)


def compiled_seconds() -> float:
    """Seconds that this process has spent on compiling."""
    with _lock:
        return _seconds + (time.monotonic() - _since if _compiling else 0.0)


@contextmanager
def compiling() -> Iterator[None]:
    """Stop the clock in a block."""
    begin_compiling()
    try:
        yield
    finally:
        end_compiling()


def begin_compiling() -> None:
    """Stop the clock, until `end_compiling` was called as often."""
    global _compiling, _since  # noqa: PLW0603 - one clock for the process
    with _lock:
        if not _compiling:
            _since = time.monotonic()
        _compiling += 1


def end_compiling() -> None:
    """Let the clock go on."""
    global _compiling, _seconds  # noqa: PLW0603
    with _lock:
        _compiling -= 1
        if not _compiling:
            _seconds += time.monotonic() - _since
