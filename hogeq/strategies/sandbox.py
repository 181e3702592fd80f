"""Strategies that are code of other people: the judge asks, and their process only answers.

The judge is this process. It gives all questions, positions, and reads one answer to each from a
pipe: a number, or a short text that says what came instead. Each line is checked, and all else that
a process might write is a fault of that entry alone. Ranges and purity are found here.

That the pipe may be used by the code itself does no harm, and that is the argument: no means
inside a process hides a descriptor from code in the same process, so the pipe must carry nothing
but answers. Code that writes them itself has answered. The table of its answers is what a contest
plays, whether a function gave them or not, and a second process, with other hashes and random
numbers, and asked in another order, has to give the same; eight processes, if one says that it
draws random numbers. File names, attempts, times and whether it prints or draws are the entry's own
word: they are shown as such, and no verdict depends on them.

With bubblewrap the process sees Python, its libraries and the entry, read-only, and nothing else of
the machine: first the file alone and, if that gives no valid table, its folder.
Without bubblewrap it is a plain process with all rights of its user, which one line says.
"""

import contextlib
import functools
import logging
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, product
from pathlib import Path
from random import Random
from typing import IO, Final, NamedTuple

import numpy as np

from hogeq.strategies import child
from hogeq.strategies.arrays import check_matrix
from hogeq.strategies.bubblewrap import (
    ENTRY,
    HARNESS,
    NO_NAMESPACES,
    OPTIONS,
    PYTHON,
    process_of,
    sandboxed,
)
from hogeq.strategies.channel import CRASH, FORM, LONGEST, MOST_NOTES, Cell, EntryOutput
from hogeq.strategies.strategy import Strategy, strategy_of_shape
from hogeq.strategies.submissions import Fault, Submission
from hogeq.support.messages import BadInputError, one_line, printable
from hogeq.support.progress import tell

_MEMORY: Final = 4 * 2**30  # bytes of address space of a process
_MOST_THREADS: Final = 16  # of the one process of an entry
_PATIENCE: Final = 5.0  # seconds of silence before a message
_LOOK: Final = 0.015  # seconds between two looks at a process that is waited for
_MOST_KINDS: Final = 20  # of faults
_RUNS: Final = 8  # of code that draws random numbers: each is another table, if chance matters


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
        raise BadInputError(
            f"code of others: nothing isolates it here ({isolation().reason}); allowed: with "
            "bubblewrap, or with --no-sandbox, by which it runs with all your rights"
        )


@functools.cache
def _warn_once() -> None:
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
        with _started(entry, questions, seed) as process:
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

    The third value is (kind, line) of the fault for which it was killed, None if there is none.
    """
    started = time.monotonic()
    is_sandboxed = bool(isolation().bubblewrap)
    most_bytes = LONGEST * (len(cells) + MOST_NOTES)
    messages = _WaitMessages(entry, cells)
    fault: tuple[str, str] | None = None
    while fault is None:
        try:
            written, error = process.communicate(timeout=_LOOK)
        except subprocess.TimeoutExpired as waiting:  # with all that was written so far
            written = waiting.output or b""
            error = waiting.stderr or b""
        else:
            return written, error, FORM if len(written) > most_bytes else None
        passed = time.monotonic() - started
        if len(written) > most_bytes:
            fault = FORM
        elif passed >= entry.seconds:
            fault = "time", f"gave no answer within {entry.seconds:g} seconds"
        elif is_sandboxed and written and _has_other_processes(process.pid):
            allowed = f"1 process of {_MOST_THREADS} threads"
            fault = "code", f"started other processes or too many threads; allowed: {allowed}"
        else:
            messages.update(written, passed)
    process.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):  # Windows gives nothing before
        written, error = process.communicate(timeout=_LOOK)
    return written, error, fault


class _WaitMessages:
    """Messages about an entry that is waited for: it loads, is slow or does not go on."""

    def __init__(self, entry: Entry, cells: Sequence[Cell]) -> None:
        self.entry, self.cells = entry, cells
        self.lines = 0  # that the process has written so far
        self.last_line_time = 0.0  # seconds after its start
        self.shown: set[str] = set()  # kinds of messages: each is shown once

    def update(self, written: bytes, passed: float) -> None:
        """Show a message if one is due, by all output so far and the seconds since the start."""
        lines = written.count(b"\n")
        if lines != self.lines:
            self.lines = lines
            self.last_line_time = passed
        silence = passed - self.last_line_time
        if passed < _PATIENCE or _PATIENCE / 2 < silence < _PATIENCE:
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
def _started(entry: Entry, questions: IO[bytes], seed: int) -> Iterator[subprocess.Popen[bytes]]:
    """Start `child` for a file, in a sandbox where there is one; kill it at the end of the block.

    ``questions`` is its standard input.
    """
    bubblewrap, _, options = isolation()
    threads = _MOST_THREADS if bubblewrap else 0
    cpu_seconds = math.ceil(entry.seconds) + 1
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
    """Whether a sandbox, by the process id of bubblewrap, has more than one Python and its threads.

    Bubblewrap starts the first process of the sandbox, which starts Python.
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


# --- the verdict ----------------------------------------------------------------------------------


def examine(
    path: Path, goal: int, max_dice: int, time_limit: float, least: int = 0, most: int = 0
) -> Submission:
    """Run a trusted file, and judge its answer for every position.

    It is run with nothing beside it. If that gives no valid table, and there are other files in its
    folder, it is run again and sees them.
    """
    path = path.parent.resolve() / path.name
    table = _Table(goal, max_dice, range(least, max(most, max_dice) + 1))
    alone = _judged(Entry(path, True, time_limit), table)
    kinds = {fault.kind for fault in alone.faults}
    if not kinds:
        return replace(alone, alone=True)
    if kinds & {"time", "crash"} or not _may_see(path.parent, path.name):
        return alone
    beside = _judged(Entry(path, False, time_limit), table)
    return replace(beside, alone=None if beside.faults else False)


class _Table(NamedTuple):
    """Sizes of the table that is asked for."""

    goal: int
    max_dice: int
    choices: range  # answers allowed; those above max_dice are cut to it


def _may_see(folder: Path, name: str) -> bool:
    """Whether an entry may see its folder, no home nor above one, and has a use for it."""
    private_folders = [tempfile.gettempdir()]
    with contextlib.suppress(RuntimeError):
        private_folders.append(str(Path.home()))
    if any(Path(private).resolve().is_relative_to(folder) for private in private_folders):
        return False
    with contextlib.suppress(OSError):
        return any(other.name not in {name, "__pycache__"} for other in folder.iterdir())
    return False


def order_again(count: int) -> list[int]:
    """Order in which positions are asked for again: answers may not depend on earlier calls."""
    order = list(range(count))
    Random(0).shuffle(order)  # noqa: S311 - any other order will do
    return [*order, *reversed(order)]


def _judged(entry: Entry, table: _Table) -> Submission:
    """Ask processes of an entry for its whole table, and judge the answers.

    1. A process is asked for every position. Each answer has to be a number of dice.
    2. Another is asked twice for every position, in other orders. It has to answer the same.
    3. If answers may depend on random numbers, `_RUNS` processes are asked in all, in time.

    Each has other hashes and other random numbers, the same ones in every verdict.
    """
    started = time.monotonic()
    cells = list(product(range(table.goal), range(table.goal)))
    cells_again = [cells[index] for index in order_again(len(cells))]
    runs = [run_entry(entry, cells)]
    rolls = dict(zip(cells, runs[0].answers, strict=False))  # fewer, if it was stopped
    faults = _Faults()
    for cell, answer in rolls.items():
        if not (isinstance(answer, int) and answer in table.choices):
            faults.add(cell, *_roll_fault(answer, table.choices))
    while not runs[-1].is_stopped and _needs_another_run(runs, faults):
        if len(runs) > 1 and time.monotonic() - started > entry.seconds:
            break
        runs.append(run_entry(entry, cells_again, len(runs) + 1))
        for cell, answer in zip(cells_again, runs[-1].answers, strict=False):
            if cell not in faults.cells and answer != rolls[cell]:
                line = f"is {rolls[cell]}, and {_answer_text(answer, again=True)}"
                faults.add(cell, "impure", "", line)
    submission = Submission(
        0,
        runs[0].name,
        None,
        faults.ranked(),
        runs[0].seconds,
        len(rolls),
        prints=any(run.prints for run in runs),
        draws=any(run.draws for run in runs),
        attempts=_each_once(run.attempts for run in runs),
    )
    if runs[-1].is_stopped:
        is_first = len(runs) == 1
        asked_cells = cells if is_first else cells_again
        fault, asked = _stop_fault(runs[-1], asked_cells, None if is_first else len(rolls))
        return replace(submission, faults=(*submission.faults, fault), seconds={}, asked=asked)
    if not submission.faults:
        submission = replace(submission, strategy=_strategy(list(rolls.values()), table))
    files = _files(entry, _each_once(run.files for run in runs))
    return replace(submission, files=tuple(map(printable, files)))


def _needs_another_run(runs: Sequence[EntryOutput], faults: "_Faults") -> bool:
    """Whether another process may give other answers than these, which no run has shown."""
    if len(runs) == 1:
        return True
    is_pure = all(kind != "impure" for kind, _ in faults.first)
    return is_pure and len(runs) < _RUNS and any(run.draws or run.may_draw for run in runs)


def _strategy(rolls: Sequence[int | str], table: _Table) -> Strategy:
    """Make the strategy of a valid table, its rolls given row by row, (G * G,)."""
    goal, max_dice, choices = table
    rows = np.array(rolls).reshape(goal, goal)
    matrix = check_matrix(rows, goal, max_dice, "table", choices[0], choices[-1])
    shape = goal, goal, max_dice + 1 - min(choices[0], 0)
    return strategy_of_shape(shape, matrix, least=choices[0])


def _each_once(texts: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(texts)))


class _Faults:
    """Faults of answers, grouped: the first of each group, with the number of its faults."""

    def __init__(self) -> None:
        self.cells: set[Cell] = set()  # that have a fault
        self.first: dict[tuple[str, str], Fault] = {}  # by kind and group

    def add(self, cell: Cell, kind: str, group: str, line: str) -> None:
        """Count a fault; if there are too many groups, all new ones of a kind are one."""
        self.cells.add(cell)
        if len(self.first) >= _MOST_KINDS and (kind, group) not in self.first:
            group = ""
        new = Fault(kind, 0, f"final_strategy({cell[0]}, {cell[1]}) {line}")
        fault = self.first.get((kind, group), new)
        self.first[kind, group] = fault._replace(times=fault.times + 1)

    def ranked(self) -> tuple[Fault, ...]:
        """List the first faults: errors, then answers that are no rolls, then other answers."""
        order = ("raises", "range", "impure")
        return tuple(sorted(self.first.values(), key=lambda fault: order.index(fault.kind)))


def _roll_fault(answer: int | str, choices: range) -> tuple[str, str, str]:
    """Describe an answer that is no roll: the kind of its fault, its group and a line."""
    text = _answer_text(answer)
    if text.startswith("raised "):
        error = text.partition(":")[0]
        return "raises", error, text
    if isinstance(answer, int):
        group = "below 0" if answer < 0 else "(int)"
        text = f"{text} (int)"
    else:
        group = text.rpartition(" ")[2]  # its type, in brackets
    return "range", group, f"{text}; allowed: ints from {choices[0]} to {choices[-1]}"


def _answer_text(answer: int | str, *, again: bool = False) -> str:
    """Describe an answer, a number or a text with the mark of `child` for an error or a value."""
    if isinstance(answer, str) and answer.startswith(child.ERROR):
        return f"when asked again raised {answer[1:]}" if again else f"raised {answer[1:]}"
    value = answer[1:] if isinstance(answer, str) else answer
    if again:
        return f"{value} when asked again: it must depend on the scores alone"
    return f"is {value}"


def _stop_fault(
    output: EntryOutput, cells: Sequence[Cell], answered_before: int | None
) -> tuple[Fault, Cell | None]:
    """Describe why a process was stopped, or had no function; of the first, where it was stopped.

    ``cells`` are in the order of the questions. ``answered_before`` is the number of positions that
    an earlier process answered, None if this is the first one.
    """
    is_first = answered_before is None
    if output.load_failure:
        line = output.load_failure if is_first else f"when run again, {output.load_failure}"
        return Fault("code", 1, line), None
    kind, line = output.fault or CRASH  # one that is stopped has a fault
    count = len(output.answers)
    if output.is_loaded and count < len(cells):
        again = "" if is_first else ", asked again,"
        answered = f"{count:,} of {len(cells):,}"
        if answered_before is not None:
            answered = f"{answered_before:,} of {answered_before:,}"
        line = f"final_strategy{cells[count]}{again} {line}; {answered} positions were answered"
        return Fault(kind, 1, line), cells[count] if is_first else None
    if output.is_ready and not output.is_loaded:
        line = f"{line}; its code was still loading"
    return Fault(kind, 1, line), None


def _files(entry: Entry, opened: Sequence[str]) -> tuple[str, ...]:
    """List the other files in the folder of an entry among those that it says it opened."""
    if entry.is_alone:
        return ()
    folder = entry.path.parent
    files = set()
    for name in opened:
        path = Path(os.path.normpath(folder / name))
        with contextlib.suppress(OSError, ValueError):  # ValueError: it lies elsewhere
            relative = str(path.relative_to(folder))
            if path != entry.path and path.is_file():
                files.add(relative)
    return tuple(sorted(files))
