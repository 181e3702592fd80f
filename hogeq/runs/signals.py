"""Signals, let in only where nothing is lost."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Self


class Interrupted(KeyboardInterrupt):
    """A signal stopped the run; what was computed is saved."""

    def __init__(self, signum: int, directory: Path | None = None, iteration: int = 0) -> None:
        super().__init__(signum)
        self.signum = signum
        self.directory = directory
        self.iteration = iteration

    def __str__(self) -> str:
        name = signal.Signals(self.signum).name
        if self.directory is None:
            return f"stopped by {name}; nothing was written"
        again = f"hogeq run --resume {self.directory}"
        return f"stopped by {name} after iteration {self.iteration}; to continue: {again}"


class Signals(contextlib.ExitStack):
    """SIGINT and SIGTERM as `Interrupted`, raised only where `check` or `at_once` allow it.

    A second signal is raised wherever it comes. Outside the main thread signals are left alone.
    """

    def __init__(self) -> None:
        super().__init__()
        self._caught: int | None = None
        self._at_once = False

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for kind in (signal.SIGINT, signal.SIGTERM):
                self.callback(signal.signal, kind, signal.signal(kind, self._handle))
        return super().__enter__()

    def _handle(self, signum: int, _frame: FrameType | None) -> None:
        again = self._caught is not None
        self._caught = signum
        if again or self._at_once:
            raise Interrupted(signum)

    def check(self) -> None:
        """Raise `Interrupted` if a signal came."""
        if self._caught is not None:
            raise Interrupted(self._caught)

    @contextlib.contextmanager
    def at_once(self) -> Iterator[None]:
        """Let signals interrupt the block: long work that changes no state."""
        self._at_once = True
        try:
            self.check()
            yield
        finally:
            self._at_once = False
