"""Kernels that are compiled by other processes while this one compiles the first of them.

numba compiles one kernel at a time in a process, and most commands need several. Whoever knows
which says so beforehand (:func:`expect`), which costs nothing: only when a kernel is missing, the
list is asked for, and what else is missing is shared out among as many processes as there are
cores. They fill the cache. This process waits for a kernel of theirs when it comes to need it, and
compiles it itself if they do not deliver.
"""

import atexit
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, BinaryIO, NamedTuple

from numba.core import config
from numba.core.serialize import dumps

from hogeq.kernels.cache import Kernel, ask_first, compiling_quietly, foretell, writable
from hogeq.support.workers import cores

START = 0.6  # seconds until a new process compiles
PATIENCE = 10.0  # times the seconds that a helper should take, after which it is not waited for
POLL = 0.01  # seconds

_PROGRAM = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    "from hogeq.kernels.ahead import help_out; help_out(sys.stdin.buffer)"
)


class _Helper(NamedTuple):
    """A process that compiles kernels."""

    process: "subprocess.Popen[bytes]"
    files: frozenset[str]
    give_up: float
    """Time of the clock until which it is waited for."""

    def is_at_work(self) -> bool:
        return self.process.poll() is None and time.monotonic() < self.give_up


class _Crew:
    """Who compiles: one process and its helpers."""

    def __init__(self) -> None:
        self.expected: Callable[[], Iterable[Kernel]] | None = None
        self._helpers: list[_Helper] = []
        self._own: list[Kernel] = []

    def provides(self, kernel: Kernel) -> bool:
        """Whether a helper has compiled a missing kernel; wait if it is about to."""
        expected, self.expected = self.expected, None
        if expected is not None and writable():
            self._share_out(kernel, expected())
        helper = next((one for one in self._helpers if kernel.file in one.files), None)
        if helper is None:
            return False
        while helper.is_at_work() and not kernel.is_kept():
            if self._own:
                with compiling_quietly():
                    self._own.pop(0).compile()
            else:
                time.sleep(POLL)
        return kernel.is_kept()

    def dismiss(self) -> None:
        """End what helpers still do."""
        for helper in self._helpers:
            helper.process.kill()
            helper.process.wait()
        self._helpers.clear()

    def _share_out(self, first: Kernel, expected: Iterable[Kernel]) -> None:
        """Give each kernel to whom is done with it soonest, the longest first."""
        others = {kernel.file: kernel for kernel in expected if kernel.file != first.file}
        shares: list[list[Kernel]] = [[] for _ in range(max(1, cores()))]
        ends = [first.seconds] + [START] * (len(shares) - 1)
        for kernel in sorted(others.values(), key=lambda one: -one.seconds):
            share = min(range(len(ends)), key=lambda x: ends[x] + kernel.seconds)
            shares[share].append(kernel)
            ends[share] += kernel.seconds
        self._own = shares[0]
        foretell(
            max(end for end, share in zip(ends, [[first], *shares[1:]], strict=True) if share),
            ends[0],
        )
        for share, end in zip(shares[1:], ends[1:], strict=True):
            if share:
                self._hire(share, end)

    def _hire(self, share: list[Kernel], seconds: float) -> None:
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
            files = frozenset(kernel.file for kernel in share)
            give_up = time.monotonic() + PATIENCE * seconds
            self._helpers.append(_Helper(process, files, give_up))
            with process.stdin as pipe:  # type: ignore[union-attr]
                pipe.write(pickle.dumps(sys.path) + dumps(share))


_crew = _Crew()
ask_first(_crew.provides)
atexit.register(_crew.dismiss)


def expect(listed: Callable[[], Iterable[Kernel]]) -> None:
    """Say what is about to be needed, instead of what was said before.

    Parameters
    ----------
    listed : callable
        Called when the first kernel is missing; gives those that are.
    """
    _crew.expected = listed


def help_out(given: BinaryIO) -> None:
    """Compile the kernels whose list is read: what a helper does."""
    with compiling_quietly():
        kernels: list[Any] = pickle.load(given)  # noqa: S301 - from who started this process
        for kernel in kernels:
            kernel.compile()
