"""Code of other people: the judge asks, and their process only answers.

The judge is this process. It gives all questions, two numbers each, and reads one answer to each
from a pipe: a number, or a short text that says what came instead. Each line is checked, and all
else that a process might write is a fault of that entry alone.

That the pipe may be used by the code itself does no harm, and that is the argument: no means
inside a process hides a descriptor from code in the same process, so the pipe must carry nothing
but answers. Code that writes them itself has answered. File names, attempts, times and whether it
prints or draws random numbers are the entry's own word.

With bubblewrap the process sees Python, its libraries and the entry, read-only, and nothing else of
the machine: the file alone, or its folder.
Without bubblewrap it is a plain process with all rights of its user, which one line says.
"""

import contextlib
import functools
import logging
import math
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Final, NamedTuple

from hogeq.support import child
from hogeq.support.bubblewrap import (
    ENTRY,
    HARNESS,
    NO_NAMESPACES,
    OPTIONS,
    PYTHON,
    process_of,
    sandboxed,
)
from hogeq.support.channel import FORM, LONGEST, MOST_NOTES, Cell, EntryOutput
from hogeq.support.messages import HogeqError, one_line, printable
from hogeq.support.progress import tell

_MEMORY: Final = 4 * 2**30  # bytes of address space of a process
_MOST_THREADS: Final = 16  # most threads of the one process of an entry
_MOST_SECONDS: Final = 1e6  # of processor that a process is limited to, however long it may run
_PATIENCE: Final = 5.0  # seconds of silence before a message
_LOOK: Final = 0.015  # seconds between two checks of a process that runs


# --- what isolates --------------------------------------------------------------------------------


class Isolation(NamedTuple):
    """Means by which this system isolates code of others."""

    bubblewrap: str | None  # path of the program; None if it is missing or does not work
    reason: str  # why there is none
    options: tuple[str, ...] = ()  # of bubblewrap that work here

    @property
    def text(self) -> str:
        """One line, as for `hogeq doctor`."""
        if self.bubblewrap:
            return f"by {self.bubblewrap}: it sees Python, libraries and its own folder alone"
        allowed = "it runs with all your rights, under a time limit only"
        return f"not at all: {allowed} ({self.reason})"


@functools.cache
def isolation() -> Isolation:
    """Try out how code of others can be isolated here."""
    if sys.platform != "linux":
        return Isolation(None, "bubblewrap is for Linux alone")
    path = shutil.which("bwrap")
    if path is None:
        return Isolation(None, "bubblewrap is not installed")
    reason = ""
    for newer_options in (NO_NAMESPACES, ()):  # an older bubblewrap works without them
        options = (*OPTIONS, *newer_options)
        try:
            with sandboxed((path, *options), ["-c", "import threading, json"], ()) as process:
                reason = one_line(process.communicate(timeout=10)[1].decode(errors="replace"))
        except (OSError, subprocess.SubprocessError) as error:
            return Isolation(None, one_line(error))
        if process.returncode == 0:
            return Isolation(path, "", options)
    return Isolation(None, reason or "bwrap failed")


def require_isolation() -> None:
    """Refuse to run a folder of others' code where nothing isolates it."""
    if not isolation().bubblewrap:
        raise HogeqError(
            f"code of others: nothing isolates it here ({isolation().reason}); allowed: with "
            "bubblewrap, or with --no-sandbox, by which it runs with all your rights"
        )


@functools.cache
def _warn_once() -> None:
    """Log that code is not isolated; the cache lets only the first call do it."""
    text = "hogeq: the code of a trusted .py is isolated %s"
    logging.getLogger("hogeq").warning(text, isolation().text)


# --- its process ----------------------------------------------------------------------------------


class Entry(NamedTuple):
    """A file to run, and the files that it may see."""

    path: Path
    is_alone: bool  # otherwise with its folder
    seconds: float  # time limit of a process


def run_entry(entry: Entry, cells: Sequence[Cell], seed: int = 1) -> EntryOutput:
    """Run a file in a process of its own, and ask its function for the rolls at cells, in order.

    ``seed`` is of its hashes and of its random numbers.
    """
    with tempfile.TemporaryFile() as questions:
        questions.write(b"".join(b"%d %d\n" % cell for cell in cells))
        questions.seek(0)
        with _start_child(entry, questions, seed) as process:
            written, error, fault = _read_output(process, entry, cells)
    output = EntryOutput(written, len(cells), fault)
    if output.fault and not output.is_ready and output.fault[0] != "time":
        reason = one_line(error[:LONGEST].decode("utf-8", "replace"))
        output.fault = "crash", "could not be run here" + (f": {reason}" if reason else "")
    return output


def _read_output(
    process: subprocess.Popen[bytes], entry: Entry, cells: Sequence[Cell]
) -> tuple[bytes, bytes, tuple[str, str] | None]:
    """Read standard output and error of a process until it ends or has to be killed.

    It is killed when its time is over, it writes too much, or it starts other processes. Returns
    output, error, and (kind, line) of the fault for which it was killed, or None.
    """
    started = time.monotonic()
    is_sandboxed = bool(isolation().bubblewrap)
    most_bytes = LONGEST * (len(cells) + MOST_NOTES)  # a line for each answer and note
    messages = _WaitMessages(entry, cells)
    fault: tuple[str, str] | None = None
    while fault is None:
        try:
            written, error = process.communicate(timeout=_LOOK)
        except subprocess.TimeoutExpired as timeout:  # it has all that was written so far
            written = timeout.output or b""
            error = timeout.stderr or b""
        else:
            return written, error, FORM if len(written) > most_bytes else None
        seconds = time.monotonic() - started
        if len(written) > most_bytes:
            fault = FORM
        elif seconds >= entry.seconds:
            fault = "time", f"gave no answer within {entry.seconds:g} seconds"
        elif is_sandboxed and written and _has_other_processes(process.pid):
            allowed = f"1 process of {_MOST_THREADS} threads"
            fault = "code", f"started other processes or too many threads; allowed: {allowed}"
        else:
            messages.update(written, seconds)
    process.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):  # Windows gives nothing before
        written, error = process.communicate(timeout=_LOOK)
    return written, error, fault


class _WaitMessages:
    """Messages about an entry that takes long: it still loads, is slow, or does not answer."""

    def __init__(self, entry: Entry, cells: Sequence[Cell]) -> None:
        self.entry = entry
        self.cells = cells
        self.lines = 0  # number of lines that the process has written so far
        self.last_line_time = 0.0  # seconds after its start
        self.shown: set[str] = set()  # kinds of messages: each is shown once

    def update(self, written: bytes, seconds: float) -> None:
        """Show a message if one is due, by all output so far and the seconds since the start."""
        lines = written.count(b"\n")
        if lines != self.lines:
            self.lines = lines
            self.last_line_time = seconds
        silence = seconds - self.last_line_time
        # After some silence it may be slow or hang: that is decided when the silence is longer.
        if seconds < _PATIENCE or _PATIENCE / 2 < silence < _PATIENCE:
            return
        answered = lines - 2  # after "ready" and its name
        if not 0 <= answered < len(self.cells):
            self._show("loads", "its code is still loading")
        elif silence >= _PATIENCE:
            loop = f"for {_PATIENCE:g} s, perhaps in an endless loop"
            self._show("hangs", f"no answer to final_strategy{self.cells[answered]} {loop}")
        else:
            self._show("slow", f"{answered:,} of {len(self.cells):,} positions answered")

    def _show(self, kind: str, state: str) -> None:
        if kind not in self.shown:
            self.shown.add(kind)
            limit = f"at most {self.entry.seconds:g} s (--time-limit)"
            tell(f"hogeq: waiting for {printable(self.entry.path)}, {limit}: {state}")


@contextlib.contextmanager
def _start_child(
    entry: Entry, questions: IO[bytes], seed: int
) -> Iterator[subprocess.Popen[bytes]]:
    """Start `child` for a file, in a sandbox where there is one; kill it at the end of the block.

    ``questions`` is its standard input.
    """
    bubblewrap, _, options = isolation()
    threads = _MOST_THREADS if bubblewrap else 0
    cpu_seconds = math.ceil(min(_MOST_SECONDS, entry.seconds)) + 1
    limits = [str(number) for number in (seed, cpu_seconds, _MEMORY, threads)]
    path = entry.path
    if bubblewrap:
        file = f"{ENTRY}/{path.name}"
        mount = (str(path), file) if entry.is_alone else (str(path.parent), ENTRY)
        command = [HARNESS, file, ENTRY, *limits]
        mounts = ("--ro-bind", *mount, "--chdir", ENTRY)
        with sandboxed((bubblewrap, *options), command, mounts, seed, questions) as process:
            yield process
        return
    _warn_once()
    with tempfile.TemporaryDirectory(prefix="hogeq-") as empty:
        if entry.is_alone:
            path = Path(shutil.copy(path, empty))
        command = [sys.executable, *PYTHON, child.__file__, str(path), str(path.parent), *limits]
        with process_of(command, str(path.parent), seed, questions) as process:
            yield process


def _has_other_processes(bubblewrap: int) -> bool:
    """Whether a sandbox has other processes than one Python, or too many threads.

    `bubblewrap` is the id of its process. That starts the first process of the sandbox, and this
    starts Python.
    """
    with contextlib.suppress(OSError, ValueError):  # ValueError: Python is not there yet, or gone
        (first,) = _child_processes(bubblewrap)
        (python, *others) = _child_processes(first)
        threads = len(list(Path(f"/proc/{python}/task").iterdir()))
        return bool(others or threads > _MOST_THREADS or _child_processes(python))
    return False


def _child_processes(process: int) -> list[int]:
    """List the ids of the processes that the threads of a process have started."""
    texts = (thread.read_text() for thread in Path(f"/proc/{process}/task").glob("*/children"))
    return [int(number) for text in texts for number in text.split()]
