"""Progress and time of a long computation.

An algorithm writes its steps, and the best found so far, down in a :class:`Phase`, from any thread.
Nothing is shown unless :func:`show_progress` is around it, as in the commands: then a thread of its
own reads the phases a few times a second, and shows a bar for each on a terminal, or a plain line
now and then elsewhere. Recorded times are without those of compiling kernels.
"""

import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from threading import Event, Lock, RLock, Thread
from typing import TYPE_CHECKING, Any, Final, TextIO

from hogeq.support.messages import percent

if TYPE_CHECKING:
    from tqdm import tqdm

INTERVAL: Final = 0.2  # seconds between two looks at the phases
PATIENCE: Final = 0.3
"""Seconds that a phase lasts before it gets a bar: what is done at once would only flicker."""

LINE_SECONDS: Final = 5.0  # least seconds between two plain lines, and before the first one
HEARTBEAT: Final = 30.0  # seconds after which a plain line comes even if nothing was found


class Phase:
    """One part of a computation, and how far it is; in another process it is not shown.

    Attributes
    ----------
    name, unit : str
        What people are shown; without a unit the steps are shown in per cent.
    total : int or None
        Number of steps, if it is known.
    done : int
        Steps done so far.
    """

    def __init__(self, name: str, total: int | None = None, unit: str = "", done: int = 0) -> None:
        """Begin a phase; it is shown once it is open in a display."""
        self.name = name
        self.total = total
        self.unit = unit
        self.done = done
        self.began = time.monotonic()
        self.doing = ""  # present activity
        self.figure = ""  # last measurement
        self.write: Callable[[float], str] = percent  # writes win rates
        self._best = float("-inf")
        self._lock = Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        """Send the name alone to another process."""
        return Phase, (self.name,)

    def step(self, count: int = 1, doing: str | None = None) -> None:
        """Count steps done; show the next activity, if it has changed."""
        with self._lock:
            self.done += count
        if doing is not None:
            self.doing = doing

    def reach(self, done: int) -> None:
        """Set the number of steps done, unless more are."""
        with self._lock:
            self.done = max(self.done, done)

    def now(self, doing: str) -> None:
        """Show the present activity."""
        self.doing = doing

    def found(self, win_rate: float) -> None:
        """Show a win rate if it is the best so far."""
        with self._lock:
            if win_rate > self._best:
                self._best = win_rate
                self.measured(f"best {self.write(win_rate)}")

    def measured(self, figure: str) -> None:
        """Show the figure of the last measurement, a text."""
        self.figure = figure

    @property
    def text(self) -> str:
        """The present activity, and the figure."""
        return ", ".join(filter(None, (self.doing, self.figure)))

    @property
    def steps(self) -> str:
        """Steps done, and of how many; empty without a unit and a total."""
        if self.unit:
            of = "" if self.total is None else f"/{self.total}"
            return f"{self.done}{of} {self.unit}"
        return f"{100 * self.done // self.total} %" if self.total else ""

    @property
    def line(self) -> str:
        """Name, steps, time and text in one line."""
        minutes, seconds = divmod(int(time.monotonic() - self.began), 60)
        parts = (f"{self.name} {self.steps}".rstrip(), f"{minutes}:{seconds:02d}", self.text)
        return ", ".join(filter(None, parts))


class _Display:
    """Shows the phases that are open, the outermost first: a bar each, or one plain line.

    A thread of its own draws them, until `end` is called.
    """

    def __init__(self, stream: TextIO) -> None:
        """Start the thread that draws to a stream: bars if that is a terminal."""
        self.stream = stream
        self.has_bars = False
        with suppress(OSError, ValueError):  # bars need a terminal that knows its width
            self.has_bars = stream.isatty() and os.get_terminal_size(stream.fileno()).columns > 0
        self.bars: dict[Phase, tqdm[Any] | None] = {}  # None: not drawn yet
        self.lock = RLock()
        self._began = time.monotonic()
        self._last_line_time = self._began
        self._last_figures: list[str] = []  # those of the last plain line
        self._over = Event()
        self._clock = Thread(target=self._run, name="progress", daemon=True)
        self._clock.start()

    def push(self, phase: Phase) -> None:
        """Show a phase inside those that are open."""
        with self.lock:
            self.bars[phase] = None

    def pop(self, phase: Phase) -> None:
        """Show a phase no longer, as it has ended."""
        with self.lock, suppress(OSError, ValueError):
            bar = self.bars.pop(phase)
            if bar is not None:
                bar.close()

    def end(self) -> None:
        self._over.set()
        self._clock.join()

    def write(self, line: str) -> None:
        """Write a line, above the bars if there are any."""
        with self.lock, suppress(OSError, ValueError):
            self._last_line_time = time.monotonic()
            if self.has_bars:
                from tqdm import tqdm

                tqdm.write(line, file=self.stream)
            else:
                print(line, file=self.stream, flush=True)

    def _run(self) -> None:
        """Draw the phases every `INTERVAL` seconds, in the thread of the display."""
        with suppress(OSError, ValueError):  # the stream is gone: nobody is looking
            while not self._over.wait(INTERVAL):
                with self.lock:
                    draw = self._draw_bars if self.has_bars else self._draw_line
                    draw()

    def _draw_bars(self) -> None:
        """Draw or update the bar of each phase; a new phase, and those inside it, have to wait."""
        for phase, old_bar in self.bars.items():
            if time.monotonic() - phase.began < PATIENCE:
                return
            bar = old_bar or self._new_bar(phase)
            self.bars[phase] = bar
            bar.n = phase.done
            bar.total = phase.total
            bar.set_postfix_str(phase.text)

    def _new_bar(self, phase: Phase) -> "tqdm[Any]":
        from tqdm import tqdm

        options: dict[str, Any] = {"file": self.stream, "leave": False, "dynamic_ncols": True}
        unit = f" {phase.unit or 'steps'}"
        return tqdm(desc=phase.name, total=phase.total, unit=unit, initial=phase.done, **options)

    def _draw_line(self) -> None:
        """Write a line about all phases, if enough time has passed and something is new."""
        now = time.monotonic()
        seconds_since_line = now - self._last_line_time
        # The longer it takes, the rarer the lines: a log of hours need not be long.
        pause = max(LINE_SECONDS, min(HEARTBEAT, (now - self._began) / 50.0))
        if not self.bars or seconds_since_line < pause:
            return
        figures = [f"{phase.name} {phase.figure}" for phase in self.bars]
        if figures != self._last_figures or seconds_since_line >= HEARTBEAT:
            self._last_figures = figures
            self.write(f"hogeq: {'; '.join(phase.line for phase in self.bars)}")


# --- who looks ------------------------------------------------------------------------------------

_display: ContextVar[_Display | None] = ContextVar("progress", default=None)  # of this thread
_open_displays: list[_Display] = []  # of all threads


@contextmanager
def show_progress(*, visible: bool = True) -> Iterator[None]:
    """Show the progress of a block on standard error.

    Inside another such block, that one goes on.

    Parameters
    ----------
    visible : bool
        False hides it instead, whatever the block around shows.

    Examples
    --------
    >>> import hogeq
    >>> game = hogeq.Game({"edition": "su20", "goal": 20, "max_dice": 4})
    >>> with hogeq.show_progress():
    ...     found = game.attack(game.strategy("always_roll:3"))
    >>> round(found.win_rate, 4)
    0.6974
    """
    if visible and _display.get() is not None:
        yield
        return
    display = _Display(sys.stderr) if visible else None
    token = _display.set(display)
    if display is not None:
        _open_displays.append(display)
    try:
        yield
    finally:
        _display.reset(token)
        if display is not None:
            _open_displays.remove(display)
            display.end()


@contextmanager
def phase(name: str, total: int | None = None, unit: str = "", *, done: int = 0) -> Iterator[Phase]:
    """Open a phase of the computation for a block; phases may be nested."""
    new_phase = Phase(name, total, unit, done)
    display = _display.get()
    if display is None:
        yield new_phase
        return
    display.push(new_phase)
    try:
        yield new_phase
    finally:
        display.pop(new_phase)


def tell(line: str) -> None:
    """Write a line above the bars if any thread shows some, and else by the logger `hogeq`."""
    display = _display.get() or (_open_displays[-1] if _open_displays else None)
    if display is None:
        logging.getLogger("hogeq").warning("%s", line)
    else:
        display.write(line)


# --- recorded times -------------------------------------------------------------------------------

_clock_lock = Lock()
_compiling = 0  # calls of `begin_compiling` that did not end, of all threads
_since = 0.0  # when the first of them began
_seconds = 0.0  # spent on compiling before


def working_time() -> float:
    """Seconds since some moment, without those in which a thread of this process compiled."""
    return time.monotonic() - compiled_seconds()


def compiled_seconds() -> float:
    """Seconds that this process has spent on compiling."""
    with _clock_lock:
        return _seconds + (time.monotonic() - _since if _compiling else 0.0)


@contextmanager
def compiling() -> Iterator[None]:
    """Stop the clock of `working_time` in a block."""
    begin_compiling()
    try:
        yield
    finally:
        end_compiling()


def begin_compiling() -> None:
    """Stop the clock of `working_time`, until `end_compiling` was called as often."""
    global _compiling, _since  # noqa: PLW0603 - one clock for the process
    with _clock_lock:
        if not _compiling:
            _since = time.monotonic()
        _compiling += 1


def end_compiling() -> None:
    """Let the clock of `working_time` go on, if no other call of `begin_compiling` is open."""
    global _compiling, _seconds  # noqa: PLW0603
    with _clock_lock:
        _compiling -= 1
        if not _compiling:
            _seconds += time.monotonic() - _since
