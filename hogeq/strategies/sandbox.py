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
from itertools import chain
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
from hogeq.strategies.strategy import strategy_of_shape
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
            said, error, fault = _listen(process, entry, cells)
    heard = Heard(said, len(cells), fault)
    if heard.fault and not heard.is_ready and heard.fault[0] != "time":
        why = one_line(error[:LONGEST].decode("utf-8", "replace"))
        heard.fault = "crash", f"could not be run here{why and f': {why}'}"
    return heard


def _listen(
    process: subprocess.Popen[bytes], entry: Entry, cells: Sequence[Cell]
) -> tuple[bytes, bytes, tuple[str, str] | None]:
    """Read what a process writes, until it ends or has to be stopped, for a fault that is given."""
    begun, is_boxed = time.monotonic(), bool(isolation().bubblewrap)
    most, wait = LONGEST * (len(cells) + MOST_NOTES), _Wait(entry, cells)
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
        else:
            wait.look(said, passed)
    process.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):  # Windows gives nothing before
        said, error = process.communicate(timeout=_LOOK)
    return said, error, fault


class _Wait:
    """Says what an entry is waited for, each kind once: it loads, is slow, or does not go on."""

    def __init__(self, entry: Entry, cells: Sequence[Cell]) -> None:
        self.entry, self.cells = entry, cells
        self.lines, self.since = 0, 0.0  # heard so far, and when the last one came
        self.told: set[str] = set()

    def look(self, said: bytes, passed: float) -> None:
        lines = said.count(b"\n")
        if lines != self.lines:
            self.lines, self.since = lines, passed
        silent, done = passed - self.since, lines - 2  # after "ready" and its name
        if passed < _PATIENCE or _PATIENCE / 2 < silent < _PATIENCE:
            return
        kind, state = "slow", f"{done:,} of {len(self.cells):,} positions answered"
        if not 0 <= done < len(self.cells):
            kind, state = "loads", "its code is still loading"
        elif silent >= _PATIENCE:
            loop = f"for {_PATIENCE:g} s, perhaps in an endless loop"
            kind, state = "hangs", f"no answer to final_strategy{self.cells[done]} {loop}"
        if kind not in self.told:
            self.told.add(kind)
            most = f"at most {self.entry.seconds:g} s (--time-limit)"
            tell(f"hogeq: waiting for {printable(self.entry.path)}, {most}: {state}")


@contextlib.contextmanager
def _started(entry: Entry, questions: IO[bytes], seed: int) -> Iterator[subprocess.Popen[bytes]]:
    """Start the process of a file, in a sandbox where there is one."""
    path, (bubblewrap, _, options) = entry.path, isolation()
    threads = _MOST_THREADS if bubblewrap else 0
    limits = map(str, (seed, math.ceil(entry.seconds) + 1, _MEMORY, threads))
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
    """Ask a process for every position, and others in other orders, twice: one, or more by chance.

    Each has other hashes and other random numbers, the same ones in every verdict. If the answers
    may depend on random numbers, `_RUNS` processes are asked in all, while there is time.
    """
    goal, max_dice, choices = table
    begun = time.monotonic()
    cells = [(own, other) for own in range(goal) for other in range(goal)]
    again = [cells[index] for index in order_again(len(cells))]
    runs, faults = [hear(entry, cells)], _Faults()
    rolls = dict(zip(cells, runs[0].answers, strict=False))  # less, if it was stopped
    for cell, answer in rolls.items():
        if not (isinstance(answer, int) and answer in choices):
            faults.add(cell, *_no_roll(answer, choices))
    while not runs[-1].is_stopped and (len(runs) == 1 or _may_differ(runs, faults)):
        if len(runs) > 1 and time.monotonic() - begun > entry.seconds:
            break
        runs.append(hear(entry, again, len(runs) + 1))
        for cell, answer in zip(again, runs[-1].answers, strict=False):
            if cell not in faults.cells and answer != rolls[cell]:
                line = f"is {rolls[cell]}, and {_said(answer, again=True)}"
                faults.add(cell, "impure", "", line)
    found = Submission(
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
        fault, asked = _stop(runs[-1], cells if is_first else again, None if is_first else found)
        faulty = (*found.faults, fault)
        return replace(found, faults=faulty, seconds={}, asked=asked if is_first else None)
    if not faults.found:
        rows = np.array([rolls[cell] for cell in cells]).reshape(goal, goal)
        matrix = check_matrix(rows, goal, max_dice, "table", choices[0], choices[-1])
        shape = goal, goal, max_dice + 1 - min(choices[0], 0)
        found = replace(found, strategy=strategy_of_shape(shape, matrix, least=choices[0]))
    files = _files(entry, _each_once(run.files for run in runs))
    return replace(found, files=tuple(map(printable, files)))


def _may_differ(runs: Sequence[Heard], faults: "_Faults") -> bool:
    """Whether another run may give other answers than these, which no run has shown."""
    is_pure = all(kind != "impure" for kind, _ in faults.found)
    return is_pure and len(runs) < _RUNS and any(run.draws or run.may_draw for run in runs)


def _each_once(texts: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(texts)))


class _Faults:
    """Faults of answers: of each kind and likeness the first, with their number."""

    def __init__(self) -> None:
        self.cells: set[Cell] = set()
        self.found: dict[tuple[str, str], Fault] = {}

    def add(self, cell: Cell, kind: str, like: str, line: str) -> None:
        self.cells.add(cell)
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


def _stop(
    heard: Heard, cells: Sequence[Cell], before: Submission | None
) -> tuple[Fault, Cell | None]:
    """Say why a process was stopped, or could not be asked, and where; `before`, if it was not."""
    failed = ("code", heard.failed) if heard.failed else None
    kind, line = failed or heard.fault or CRASH
    count, again = len(heard.answers), "" if before is None else ", asked again,"
    done, positions = (count, len(cells)) if before is None else (before.answered,) * 2
    asked = cells[count] if heard.is_loaded and not failed and count < len(cells) else None
    if asked is not None:
        call = f"final_strategy{asked}{again}"
        line = f"{call} {line}; {done:,} of {positions:,} positions were answered"
    elif failed and before is not None:
        line = f"when run again, {line}"
    elif heard.is_ready and not heard.is_loaded:
        line = f"{line}; its code was still loading"
    return Fault(kind, 1, line), asked


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
