"""SIGINT and SIGTERM, which stop a run or a sweep at a moment that leaves no half state."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Self


class Interrupted(KeyboardInterrupt):
    """A signal stopped the run; its state is saved."""

    def __init__(self, signum: int, then: str) -> None:
        super().__init__(signum, then)
        self.signum = signum
        self.then = then

    def __str__(self) -> str:
        return f"stopped by {signal.Signals(self.signum).name}{self.then}"


class Signals(contextlib.ExitStack):
    """Context in which SIGINT and SIGTERM raise `Interrupted` at moments that leave no half state.

    A signal is noted, and raised by the next `check`. It is raised at once within a block of
    `interruptible`, or if it is the second one. `then` ends the message of the error.
    """

    def __init__(self, then: str = "; nothing was written") -> None:
        super().__init__()
        self.then = then
        self._caught: int | None = None
        self._at_once = False

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():  # others cannot set handlers
            for kind in (signal.SIGINT, signal.SIGTERM):
                self.callback(signal.signal, kind, signal.signal(kind, self._handle))
        return super().__enter__()

    def _handle(self, signum: int, _frame: FrameType | None) -> None:
        is_repeated = self._caught is not None
        self._caught = signum
        if is_repeated or self._at_once:
            raise Interrupted(signum, self.then)

    def check(self) -> None:
        """Raise `Interrupted` if a signal came."""
        if self._caught is not None:
            raise Interrupted(self._caught, self.then)

    @contextlib.contextmanager
    def interruptible(self) -> Iterator[None]:
        """Let signals interrupt the block: long work that changes no state."""
        self._at_once = True
        try:
            self.check()
            yield
        finally:
            self._at_once = False
