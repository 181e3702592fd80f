"""Strategies that are code of other people: the judge asks, and their process only answers.

The judge is this process. It gives all questions, positions, and reads one answer to each from a
pipe: a number, or a short text that says what came instead. Each line is checked, and all else that
a process might write is a fault of that entry alone. Ranges and purity are found here.

That the pipe may be used by the code itself does no harm, and that is the argument: no means
inside a process hides a descriptor from code in the same process, so the pipe must carry nothing
but answers. Code that writes them itself has answered. The table of its answers is what a contest
plays, whether a function gave them or not, and a second process, with other hashes and asked in
another order, has to give the same. File names, attempts, times and whether it prints are the
entry's own word: they are shown as such, and no verdict depends on them.

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
from collections.abc import Iterator, Sequence
from dataclasses import replace
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
from hogeq.strategies.channel import CRASH, FORM, LONGEST, MOST_NOTES, Cell, Heard
from hogeq.strategies.strategy import Fault, Submission, strategy_of_shape
from hogeq.support.messages import BadInputError, one_line, printable
from hogeq.support.progress import tell

_MEMORY: Final = 4 * 2**30  # bytes of address space of a process

_MOST_THREADS: Final = 16  # of the one process of an entry

_PATIENCE: Final = 5.0  # seconds of silence before a message

_LOOK: Final = 0.015  # seconds between two looks at a process that is waited for

_MOST_KINDS: Final = 20  # of faults


# --- what isolates --------------------------------------------------------------------------------


class Isolation(NamedTuple):
    """Means by which this system isolates code of others."""

    bubblewrap: str | None  # path of the program; None if it is missing or does not work
    reason: str  # why there is none
    options: tuple[str, ...] = ()  # that it takes here

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
    for more in (NO_NAMESPACES, ()):
        options = (*OPTIONS, *more)
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
    seconds: float


def hear(entry: Entry, cells: Sequence[Cell], seed: int = 1) -> Heard:
    """Run a file in a process of its own, and ask it for cells."""
    with tempfile.TemporaryFile() as questions:
        questions.write(b"".join(b"%d %d\n" % cell for cell in cells))
        questions.seek(0)
        with _started(entry, questions, seed) as process:
            said, error, fault = _listen(process, entry, LONGEST * (len(cells) + MOST_NOTES))
    heard = Heard(said, len(cells), fault)
    if heard.fault and not heard.is_ready and heard.fault[0] != "time":
        why = one_line(error[:LONGEST].decode("utf-8", "replace"))
        heard.fault = "crash", f"could not be run here{why and f': {why}'}"
    return heard


def _listen(
    process: subprocess.Popen[bytes], entry: Entry, most: int
) -> tuple[bytes, bytes, tuple[str, str] | None]:
    """Read what a process writes, until it ends or has to be stopped, for a fault that is given."""
    begun, patience, is_boxed = time.monotonic(), _PATIENCE, bool(isolation().bubblewrap)
    fault: tuple[str, str] | None = None
    while fault is None:
        try:
            said, error = process.communicate(timeout=_LOOK)
        except subprocess.TimeoutExpired as waiting:
            said, error = waiting.output or b"", waiting.stderr or b""
        else:
            return said, error, FORM if len(said) > most else None
        passed = time.monotonic() - begun
        if len(said) > most:
            fault = FORM
        elif passed >= entry.seconds:
            fault = "time", f"gave no answer within {entry.seconds:g} seconds"
        elif is_boxed and said and _is_crowd(process.pid):
            allowed = f"1 process of {_MOST_THREADS} threads"
            fault = "code", f"started other processes or too many threads; allowed: {allowed}"
        elif passed >= patience:
            patience = math.inf
            tell(f"hogeq: waiting for {printable(entry.path)}, at most {entry.seconds:g} s")
    process.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):  # Windows gives nothing before
        said, error = process.communicate(timeout=_LOOK)
    return said, error, fault


@contextlib.contextmanager
def _started(entry: Entry, questions: IO[bytes], seed: int) -> Iterator[subprocess.Popen[bytes]]:
    """Start the process of a file, in a sandbox where there is one."""
    path, (bubblewrap, _, options) = entry.path, isolation()
    limits = map(str, (math.ceil(entry.seconds) + 1, _MEMORY, _MOST_THREADS if bubblewrap else 0))
    if bubblewrap:
        file = f"{ENTRY}/{path.name}"
        shown = (str(path), file) if entry.is_alone else (str(path.parent), ENTRY)
        code = [HARNESS, file, ENTRY, *limits]
        mounts = ("--ro-bind", *shown, "--chdir", ENTRY)
        with sandboxed((bubblewrap, *options), code, mounts, seed, questions) as process:
            yield process
        return
    _warn_once()
    with tempfile.TemporaryDirectory(prefix="hogeq-") as empty:
        if entry.is_alone:
            path = Path(shutil.copy(path, empty))
        command = [sys.executable, *PYTHON, child.__file__, str(path), str(path.parent), *limits]
        with process_of(command, str(path.parent), seed, questions) as process:
            yield process


def _is_crowd(pid: int) -> bool:
    """Whether there is more in a sandbox than its first process, that of Python, and threads."""
    with contextlib.suppress(OSError, ValueError):
        (first,) = _children(pid)
        (python, *others) = _children(first)
        threads = len(list(Path(f"/proc/{python}/task").iterdir()))
        return bool(others or threads > _MOST_THREADS or _children(python))
    return False


def _children(pid: int) -> list[int]:
    """List the processes that the threads of one have started."""
    texts = (task.read_text() for task in Path(f"/proc/{pid}/task").glob("*/children"))
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
    choices: range  # those above are cut to the most dice


def _may_see(folder: Path, name: str) -> bool:
    """Whether an entry may see its folder, no home nor above one, and has a use for it."""
    places = [tempfile.gettempdir()]
    with contextlib.suppress(RuntimeError):
        places.append(str(Path.home()))
    if any(Path(place).resolve().is_relative_to(folder) for place in places):
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
    """Ask a process for every position, and another one in other orders, twice."""
    goal, max_dice, choices = table
    cells = [(own, other) for own in range(goal) for other in range(goal)]
    again = [cells[index] for index in order_again(len(cells))]
    first = hear(entry, cells)
    if first.is_stopped:
        return _stopped(first, cells, None)
    second = hear(entry, again, 2)
    if second.is_stopped:
        return _stopped(second, again, len(cells))
    rolls = dict(zip(cells, first.answers, strict=True))
    faults = _Faults()
    for cell, answer in rolls.items():
        if not (isinstance(answer, int) and answer in choices):
            faults.add(cell, *_no_roll(answer, choices))
            rolls[cell] = 0
    changed = set(faults.cells)
    for cell, answer in zip(again, second.answers, strict=True):
        if cell not in changed and answer != rolls[cell]:
            changed.add(cell)
            faults.add(cell, "impure", "", f"is {rolls[cell]}, and {_said(answer, again=True)}")
    strategy = None
    if not faults.found:
        rows = np.array([rolls[cell] for cell in cells]).reshape(goal, goal)
        matrix = check_matrix(rows, goal, max_dice, "table", choices[0], choices[-1])
        shape = goal, goal, max_dice + 1 - choices[0]
        strategy = strategy_of_shape(shape, matrix, least=choices[0])
    return Submission(
        0,
        first.name,
        strategy,
        faults.ranked(),
        first.seconds,
        len(cells),
        files=tuple(map(printable, _files(entry, [*first.files, *second.files]))),
        prints=first.prints or second.prints,
        attempts=tuple(dict.fromkeys([*first.attempts, *second.attempts])),
    )


class _Faults:
    """Faults of answers: of each kind and likeness the first, with their number."""

    def __init__(self) -> None:
        self.cells: list[Cell] = []
        self.found: dict[tuple[str, str], Fault] = {}

    def add(self, cell: Cell, kind: str, like: str, line: str) -> None:
        self.cells.append(cell)
        if len(self.found) >= _MOST_KINDS and (kind, like) not in self.found:
            like = ""
        first = Fault(kind, 0, f"final_strategy({cell[0]}, {cell[1]}) {line}")
        fault = self.found.get((kind, like), first)
        self.found[kind, like] = fault._replace(times=fault.times + 1)

    def ranked(self) -> tuple[Fault, ...]:
        order = ("raises", "range", "impure")
        return tuple(sorted(self.found.values(), key=lambda fault: order.index(fault.kind)))


def _no_roll(answer: int | str, choices: range) -> tuple[str, str, str]:
    """Give the kind of a fault, its likeness to others, and the answer in place of a roll."""
    line = _said(answer)
    if line.startswith("raised "):
        return "raises", line.partition(":")[0], line
    negative = isinstance(answer, int) and answer < 0
    line = f"{line} (int)" if isinstance(answer, int) else line
    like = "below 0" if negative else line.rpartition(" ")[2]
    return "range", like, f"{line}; allowed: ints from {choices[0]} to {choices[-1]}"


def _said(answer: int | str, *, again: bool = False) -> str:
    if isinstance(answer, str) and answer.startswith("!"):
        return f"when asked again raised {answer[1:]}" if again else f"raised {answer[1:]}"
    value = answer[1:] if isinstance(answer, str) else answer
    pure = "it must depend on the scores alone"
    return f"{value} when asked again: {pure}" if again else f"is {value}"


def _stopped(heard: Heard, cells: Sequence[Cell], answered: int | None) -> Submission:
    """Verdict on a strategy that was stopped, or could not be asked; `answered` before, if any."""
    failed = ("code", heard.failed) if heard.failed else None
    kind, line = failed or heard.fault or CRASH
    count, is_first = len(heard.answers), answered is None
    done, positions = (count, len(cells)) if answered is None else (answered, answered)
    asked = cells[count] if heard.is_loaded and not failed and count < len(cells) else None
    if asked is not None:
        call = f"final_strategy{asked}{'' if is_first else ', asked again,'}"
        line = f"{call} {line}; {done:,} of {positions:,} positions were answered"
    elif failed and not is_first:
        line = f"when run again, {line}"
    elif heard.is_ready and not heard.is_loaded:
        line = f"{line}; its code was still loading"
    fault, tried = Fault(kind, 1, line), tuple(heard.attempts)
    asked = asked if is_first else None
    return Submission(0, None, None, (fault,), {}, done, asked, attempts=tried)


def _files(entry: Entry, named: Sequence[str]) -> tuple[str, ...]:
    """Of the files that an entry says it opened, those that there are in its folder."""
    folder, found = entry.path.parent, set()
    for name in named if not entry.is_alone else ():
        path = Path(os.path.normpath(folder / name))
        with contextlib.suppress(OSError, ValueError):  # ValueError: it lies elsewhere
            inside = str(path.relative_to(folder))
            if path != entry.path and path.is_file():
                found.add(inside)
    return tuple(sorted(found))
