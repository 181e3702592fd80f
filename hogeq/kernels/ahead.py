"""Kernels that are compiled by other processes while this one compiles the first of them.

numba compiles one kernel at a time in a process, and most commands need several. Whoever knows
which says so beforehand (:func:`expect`), which costs nothing: only when a kernel is missing, the
list is asked for, and what else is missing is shared out among as many processes as there are
cores. This one does its own share while it waits for a kernel of theirs, and compiles that itself
if they do not deliver.
"""

import atexit
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, BinaryIO

from numba.core import config
from numba.core.serialize import dumps

from hogeq.kernels.cache import Kernel, ask_first, problem
from hogeq.support.workers import cores

PATIENCE = 120.0  # seconds after which a helper is not waited for

_PROGRAM = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    "from hogeq.kernels.ahead import help_out; help_out(sys.stdin.buffer)"
)
_expected: Callable[[], Iterable[Kernel]] | None = None
_helpers: "list[tuple[subprocess.Popen[bytes], set[str]]]" = []
_own: list[Kernel] = []


def expect(listed: Callable[[], Iterable[Kernel]]) -> None:
    """Say what lists the missing kernels that are about to be needed, instead of the last list."""
    global _expected  # noqa: PLW0603 - one for the process
    _expected = listed


def provides(kernel: Kernel) -> bool:
    """Whether a helper has compiled a missing kernel; wait if it is about to."""
    global _expected
    listed, _expected = _expected, None
    if listed is not None and not problem():
        others = {other.file: other for other in listed() if other.file != kernel.file}
        width = max(1, cores())
        shares = [list(others.values())[first::width] for first in range(width)]
        _own[:] = shares.pop()
        for share in filter(None, shares):
            _hire(share)
    helper = next((process for process, files in _helpers if kernel.file in files), None)
    give_up = time.monotonic() + PATIENCE
    while helper and helper.poll() is None and not kernel.is_kept() and time.monotonic() < give_up:
        if _own:
            _own.pop(0).compile()
        else:
            time.sleep(0.01)
    return helper is not None and kernel.is_kept()


def _hire(share: list[Kernel]) -> None:
    environment = dict(os.environ)
    if config.CACHE_DIR:
        environment["NUMBA_CACHE_DIR"] = str(config.CACHE_DIR)
    with suppress(OSError, ValueError):
        process = subprocess.Popen(  # noqa: S603 - this Python
            [sys.executable, "-P", "-c", _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        _helpers.append((process, {kernel.file for kernel in share}))
        with process.stdin as pipe:  # type: ignore[union-attr]
            pipe.write(pickle.dumps(sys.path) + dumps(share))


def dismiss() -> None:
    """End what helpers still do."""
    for process, _ in _helpers:
        process.kill()
        process.wait()
    _helpers.clear()


def help_out(given: BinaryIO) -> None:
    """Compile the kernels whose list is read: what a helper does."""
    kernels: list[Any] = pickle.load(given)  # noqa: S301 - from who started this process
    for kernel in kernels:
        kernel.compile()


ask_first(provides)
atexit.register(dismiss)
