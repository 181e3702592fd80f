"""Strategies that are code of other people: the judge asks, and their process only answers.

The judge is this process. It writes questions, positions, into a pipe, and reads one answer to each
from another: a number, or a short text that says what came instead. Each line is checked as it
arrives, and all else that a process might write is a fault of that entry alone. Ranges, purity and
times are found here.

That the channel may be used by the code itself does no harm, and that is the argument: no means
inside a process hides a descriptor from code in the same process, so the channel must carry nothing
but answers. Code that writes them itself has answered. The table of its answers is what a contest
plays, whether a function gave them or not, and a second process, with other hashes and asked in
another order, has to give the same. File names, attempts and whether it prints are the entry's own
word: they are shown as such, and no verdict depends on them.

With bubblewrap the process sees Python, its libraries and the entry, read-only, and nothing else of
the machine: first the file alone and, if that does not answer and the caller allows it, its folder.
Without bubblewrap it is a plain process with all rights of its user, which one line says.
"""

import contextlib
import functools
import json
import logging
import math
import os
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextvars import copy_context
from itertools import islice
from pathlib import Path
from random import Random
from typing import IO, Final, NamedTuple, cast

from hogeq.strategies import child
from hogeq.support.messages import BadInputError, one_line, printable
from hogeq.support.progress import tell

_MEMORY: Final = 4 * 2**30  # bytes of address space of a process

_MOST_THREADS: Final = 16  # of the one process of an entry

_PATIENCE: Final = 5.0  # seconds of silence before a message

_LOOK: Final = 0.02  # seconds between two looks at a process that is waited for

_BATCH: Final = 256  # questions that are asked at a time: both pipes hold as many lines

_CHUNK: Final = 2**16  # bytes that are read at a time

_LONGEST: Final = 4096  # bytes of a line

_MOST_KINDS: Final = 20  # of faults

_MOST_NOTES: Final = 200  # lines after the answers

_HARNESS, _ENTRY = "/harness.py", "/entry"  # in a sandbox

_log: Final = logging.getLogger("hogeq")


class Fault(NamedTuple):
    """One kind of fault of a submission."""

    kind: str
    """"code", "time", "crash", "raises", "range", "impure", "name", "shape" or "unread".

    "time" and "crash" may be of the machine: another call may find another verdict.
    """
    times: int
    line: str  # about the first of them


class Answers(NamedTuple):
    """Answers of a trusted file, as the judge found them."""

    table: list[list[int]] | None
    """Dice to roll, 0 where the answer is no roll; None if there is no function to ask."""
    faults: tuple[Fault, ...]
    player_name: str | None  # ``PLAYER_NAME``, or else ``TEAM_NAME``; None if that is no text
    seconds: dict[str, float]
    """``load``, ``table`` (every position once) and ``slowest`` (longest wait for an answer)."""
    files: tuple[str, ...]  # other files of its folder that it opened, as it says
    answered: int  # positions that it answered, rightly or not
    asked: tuple[int, int] | None
    """Position it was asked for when it was stopped; None if it was not."""
    prints: bool = False  # whether it printed anything, as it says; the text is lost
    alone: bool | None = None
    """Whether its file alone gives the table; None if there is no table."""
    attempts: tuple[str, ...] = ()
    """What else it tried to reach, in its own words, printable: for the judge's eyes."""


# --- what isolates --------------------------------------------------------------------------------


class Isolation(NamedTuple):
    """Means by which this system isolates code of others."""

    bubblewrap: tuple[str, ...]
    """Command that makes a sandbox; empty if there is none or it does not work."""
    reason: str  # why there is none

    @property
    def text(self) -> str:
        """One line, as for `hogeq doctor`."""
        if self.bubblewrap:
            return f"by {self.bubblewrap[0]}: it sees Python, libraries and its own folder alone"
        return f"{NOT_ISOLATED} ({self.reason})"


NOT_ISOLATED: Final = "not at all: it runs with all your rights, under a time limit only"

_OPTIONS: Final = (
    *("--unshare-all", "--unshare-user", "--uid", "65534", "--gid", "65534"),
    *("--hostname", "entry", "--cap-drop", "ALL", "--new-session", "--die-with-parent"),
)
_NO_NAMESPACES: Final = ("--disable-userns", "--assert-userns-disabled")  # from bubblewrap 0.8 on

# By processor: its number in seccomp, and that of shmget. Segments of System V are the memory that
# no limit of a process counts.
_SHMGET: Final = {"x86_64": (0xC000003E, 29), "aarch64": (0xC00000B7, 194)}


@functools.cache
def isolation() -> Isolation:
    """Try out how code of others can be isolated here."""
    if sys.platform != "linux":
        return Isolation((), "bubblewrap is for Linux alone")
    path = shutil.which("bwrap")
    if path is None:
        return Isolation((), "bubblewrap is not installed")
    reason = ""
    for more in (_NO_NAMESPACES, ()):
        command = (path, *_OPTIONS, *more)
        try:
            with _sandbox(command, ["-c", "import threading, json"], ()) as process:
                reason = one_line(process.communicate(timeout=10)[1].decode(errors="replace"))
        except (OSError, subprocess.SubprocessError) as error:
            return Isolation((), one_line(error))
        if process.returncode == 0:
            return Isolation(command, "")
    return Isolation((), reason or "bwrap failed")


def require_isolation() -> None:
    """Refuse to run a folder of others' code where nothing isolates it."""
    if not isolation().bubblewrap:
        raise BadInputError(
            f"code of others: nothing isolates it here ({isolation().reason}); allowed: with "
            "bubblewrap, or with --no-sandbox, by which it runs with all your rights"
        )


@functools.cache
def _warn_once() -> None:
    _log.warning("hogeq: the code of a trusted .py is isolated %s", isolation().text)


# Nothing from the current folder or a home, and no bytecode left behind.
_PYTHON: Final = ("-P", "-s", "-B")


def _environment(seed: int) -> dict[str, str]:
    """Variables of a process of an entry; none of ours."""
    threads = {f"{kind}_NUM_THREADS": "1" for kind in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
    # A Python that finds its library beside itself needs /proc for that.
    library = {"LD_LIBRARY_PATH": f"{sys.base_prefix}/lib"} if sys.platform == "linux" else {}
    system = {key: os.environ[key] for key in ("SYSTEMROOT",) if key in os.environ}
    return {"PATH": os.defpath, "PYTHONHASHSEED": str(seed), **threads, **library, **system}


@functools.cache
def _mounts() -> tuple[str, ...]:
    """Options of bubblewrap that show Python and the system's libraries, and no folder above."""
    program = os.path.realpath(sys.executable)
    shown = ["/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib", "/nix/store", "/gnu/store"]
    prefixes = dict.fromkeys((sys.base_prefix, sys.base_exec_prefix, sys.prefix))
    shown += [f"{prefix}/{lib}" for prefix in prefixes for lib in ("lib", "lib64")]
    shown += [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")]
    shown += [path for path in sys.path if path.endswith(("/site-packages", "/dist-packages"))]
    shown += [f"{sys.prefix}/pyvenv.cfg", "/etc/ld.so.cache", program]
    options: list[str] = []
    for path in dict.fromkeys(shown):
        options += ("--ro-bind-try", path, path)
    if program != sys.executable:
        options += ("--symlink", program, sys.executable)
    for path in ("/lib", "/lib32", "/lib64"):
        if Path(path).is_symlink():
            options += ("--symlink", str(Path(path).readlink()), path)
        else:
            options += ("--ro-bind-try", path, path)
    for device in ("null", "zero", "urandom"):
        options += ("--dev-bind", f"/dev/{device}", f"/dev/{device}")
    return (*options, "--ro-bind", child.__file__, _HARNESS)


@contextlib.contextmanager
def _sandbox(
    bubblewrap: Sequence[str], code: Sequence[str], options: Sequence[str], seed: int = 1
) -> Iterator[subprocess.Popen[bytes]]:
    """Start Python in a sandbox, with more options of bubblewrap."""
    # A pipe holds it until bubblewrap reads it.
    ours, theirs = os.pipe()
    try:
        os.write(theirs, _filter())
        os.close(theirs)
        filtered = ("--seccomp", str(ours)) if _filter() else ()
        apart = (*bubblewrap, *_mounts(), *filtered, *options, "--remount-ro", "/", "--")
        with _process([*apart, sys.executable, *_PYTHON, *code], "/", (ours,), seed) as process:
            yield process
    finally:
        os.close(ours)


def _filter() -> bytes:
    """Write the rules of seccomp: no segments of shared memory, nor calls of other processors."""
    if os.uname().machine not in _SHMGET:
        return b""
    processor, shmget = _SHMGET[os.uname().machine]
    load, equal, at_least, give, refused = 0x20, 0x15, 0x35, 0x06, 0x00050001  # EPERM
    rules = (
        (load, 0, 0, 4),
        (equal, 0, 4, processor),
        (load, 0, 0, 0),
        (equal, 2, 0, shmget),
        (at_least, 1, 0, 0x40000000),  # the other numbers of x86-64
        (give, 0, 0, 0x7FFF0000),  # allowed
        (give, 0, 0, refused),
    )
    return b"".join(struct.pack("HBBI", *rule) for rule in rules)


@contextlib.contextmanager
def _process(
    command: Sequence[str], folder: str, descriptors: Sequence[int], seed: int
) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(  # noqa: S603 - the user trusts this file
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=_environment(seed),
        pass_fds=descriptors,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            with contextlib.suppress(OSError):
                cast("IO[bytes]", pipe).close()


# --- the channel ----------------------------------------------------------------------------------


class _StoppedError(Exception):
    """The process of an entry gave no answer, for a fault of this kind and in these words."""


_CRASH: Final = "crash", "ended without an answer (out of memory or time, or it crashed)"
_FORM: Final = "code", "gave an answer of no form that answers have"
_EARLY: Final = "code", "gave more answers than it was asked for"


class _Channel:
    """The pipes to the process of an entry: whole lines, each of a bounded length."""

    def __init__(self, questions: IO[bytes], answers: IO[bytes]) -> None:
        self.questions, self.answers = questions, answers
        self.is_over = threading.Event()  # the process was killed: nothing more is read
        self.waiting: deque[bytes] = deque()
        self.rest = b""
        self.slowest = 0.0

    def ask(self, questions: bytes) -> None:
        """Write questions, when there is nothing left of earlier answers."""
        if self.waiting or self.rest:
            raise _StoppedError(*_EARLY)
        with contextlib.suppress(OSError):  # it has ended: that is seen when it is read
            self.questions.write(questions)
            self.questions.flush()

    def line(self) -> bytes:
        """Read the next line, without its end."""
        while not self.waiting:
            asked = time.perf_counter()
            part = self._read()
            self.slowest = max(self.slowest, time.perf_counter() - asked)
            if not part:
                raise _StoppedError(*_CRASH)
            *lines, self.rest = (self.rest + part).split(b"\n")
            if len(self.rest) > _LONGEST or any(len(line) > _LONGEST for line in lines):
                raise _StoppedError(*_FORM)
            self.waiting.extend(lines)
        return self.waiting.popleft()

    def close(self) -> None:
        """Say that there are no more questions."""
        with contextlib.suppress(OSError):
            self.questions.close()

    def _read(self) -> bytes:
        if sys.platform != "win32":
            # What a process without a sandbox left behind may keep its end open.
            poll = select.poll()
            poll.register(self.answers, select.POLLIN)
            while not poll.poll(100):
                if self.is_over.is_set():
                    return b""
        return os.read(self.answers.fileno(), _CHUNK)


Cell = tuple[int, int]
_NUMBER: Final = re.compile(rb"0|-?[1-9][0-9]{0,8}")


class _Heard:
    """What the process of an entry has said: as much of it as there is when it is stopped."""

    def __init__(self) -> None:
        self.is_ready = self.is_loaded = self.prints = False
        self.failed = ""  # why there is no function to ask
        self.name: str | None = None
        self.answers: list[int | str] = []  # numbers, and lines of child.answer
        self.files: list[str] = []
        self.attempts: list[str] = []
        self.seconds: dict[str, float] = {}
        self.fault: tuple[str, str] | None = None  # kind and words

    def listen(self, channel: _Channel, cells: Sequence[Cell], once: int) -> None:
        """Wait for the file to be loaded, ask for all cells, and hear how it went."""
        if channel.line() != b"ready":
            raise _StoppedError(*_CRASH)
        self.is_ready = True
        start = time.perf_counter()
        self._hear_load(channel.line())
        self.is_loaded = True
        self.seconds["load"] = time.perf_counter() - start
        if not self.failed:
            self._hear_answers(channel, cells, once)
            channel.ask(b"")
        channel.close()
        for _ in range(_MOST_NOTES):
            line = channel.line()
            if line == b".":
                return
            self._hear_note(line)
        raise _StoppedError(*_FORM)

    def _hear_answers(self, channel: _Channel, cells: Sequence[Cell], once: int) -> None:
        channel.slowest = 0.0
        start = time.perf_counter()
        rest = iter(cells)
        while batch := list(islice(rest, min(_BATCH, once - len(self.answers) or _BATCH))):
            channel.ask(b"".join(b"%d %d\n" % cell for cell in batch))
            for _ in batch:
                self.answers.append(_answer(channel.line()))
            if len(self.answers) == once:
                self.seconds["table"] = time.perf_counter() - start
                self.seconds["slowest"] = channel.slowest

    def _hear_load(self, line: bytes) -> None:
        if line == b"?":
            self.failed = "defines no function final_strategy(score, opponent_score)"
        elif line.startswith(b"!"):
            self.failed = f"raised {_text(line)}"
        elif line != b"-":
            self.name = _quoted(line)[: child.LINE]

    def _hear_note(self, line: bytes) -> None:
        if line == b"p":
            self.prints = True
        elif line.startswith(b"f"):
            self.files.append(_quoted(line[1:]))
        elif line.startswith(b"t"):
            self.attempts.append(one_line(_quoted(line[1:])))
        else:
            raise _StoppedError(*_FORM)


def _answer(line: bytes) -> int | str:
    """Check the form of an answer: a number, or one of the other forms with its text."""
    if _NUMBER.fullmatch(line):
        return int(line)
    if line[:1] in {b"?", b"!"}:
        return line[:1].decode() + _text(line)
    raise _StoppedError(*_FORM)


def _text(line: bytes) -> str:
    """Give the text of a line, as one may print it."""
    if not line.isascii() or not line.decode().isprintable():
        raise _StoppedError(*_FORM)
    return one_line(line[1:].decode())


def _quoted(line: bytes) -> str:
    """Read a text in JSON."""
    try:
        text = json.loads(line) if line.startswith(b'"') else None
    except (ValueError, RecursionError):
        text = None
    if not isinstance(text, str):
        raise _StoppedError(*_FORM)
    return text


# --- its process ----------------------------------------------------------------------------------


class _Entry(NamedTuple):
    """A file to run, and what it may see."""

    path: Path
    folder: Path | None  # None: the file alone
    seconds: float


def _hear(entry: _Entry, cells: Sequence[Cell], once: int, seed: int) -> _Heard:
    """Run a file in a process of its own, and ask it for cells; `once` of them are timed."""
    heard = _Heard()
    with contextlib.ExitStack() as stack:
        process = stack.enter_context(_started(entry, seed))
        channel = _Channel(cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout))
        watch = _Watch(process, heard, entry, channel.is_over)
        thread = threading.Thread(target=copy_context().run, args=(watch.run,), daemon=True)
        thread.start()
        try:
            heard.listen(channel, cells, once)
        except _StoppedError as stopped:
            heard.fault = watch.fault or cast("tuple[str, str]", stopped.args)
        finally:
            watch.ended.set()
            thread.join()
            watch.kill()
        if not heard.is_ready and watch.fault is None:
            said = one_line(
                cast("IO[bytes]", process.stderr).read(_LONGEST).decode("utf-8", "replace")
            )
            heard.fault = "crash", f"could not be run here{said and f': {said}'}"
    return heard


@contextlib.contextmanager
def _started(entry: _Entry, seed: int) -> Iterator[subprocess.Popen[bytes]]:
    """Start the process of a file, in a sandbox where there is one."""
    path, where, bubblewrap = entry.path, entry.folder, isolation().bubblewrap
    limits = map(str, (math.ceil(entry.seconds) + 1, _MEMORY, _MOST_THREADS if bubblewrap else 0))
    if bubblewrap:
        file = f"{_ENTRY}/{path.name if where is None else path.relative_to(where)}"
        shown = (str(path), file) if where is None else (str(where), _ENTRY)
        options = ("--ro-bind", *shown, "--chdir", str(Path(file).parent))
        with _sandbox(bubblewrap, [_HARNESS, file, _ENTRY, *limits], options, seed) as process:
            yield process
        return
    _warn_once()
    with tempfile.TemporaryDirectory(prefix="hogeq-") as empty:
        if where is None:
            where, path = Path(empty), Path(shutil.copy(path, empty))
        code = [child.__file__, str(path), str(where), *limits]
        with _process([sys.executable, *_PYTHON, *code], str(path.parent), (), seed) as process:
            yield process


class _Watch:
    """Looks at a process while the judge waits for it, and kills it when it has to."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        heard: _Heard,
        entry: _Entry,
        is_over: threading.Event,
    ) -> None:
        self.process, self.heard, self.entry, self.is_over = process, heard, entry, is_over
        self.ended = threading.Event()
        self.fault: tuple[str, str] | None = None
        self.counts = bool(isolation().bubblewrap)

    def run(self) -> None:
        """Look again and again, until the process has ended."""
        seconds = self.entry.seconds
        told_at, deadline = (time.monotonic() + wait for wait in (_PATIENCE, seconds))
        while not self.ended.wait(min(_LOOK, max(0.0, deadline - time.monotonic()))):
            if time.monotonic() >= deadline:
                self.fault = "time", f"gave no answer within {seconds:g} seconds"
            elif self.counts and self.heard.is_ready and _is_crowd(self.process.pid):
                allowed = f"1 process of {_MOST_THREADS} threads"
                line = f"started other processes or too many threads; allowed: {allowed}"
                self.fault = "code", line
            if self.fault:
                self.kill()
                return
            if time.monotonic() >= told_at:
                tell(f"hogeq: waiting for {printable(self.entry.path)}, at most {seconds:g} s")
                told_at = math.inf

    def kill(self) -> None:
        """Kill the process, and what it started: a sandbox dies with the program that made it."""
        with contextlib.suppress(OSError):
            if sys.platform == "win32":
                self.process.kill()
            else:
                os.killpg(self.process.pid, signal.SIGKILL)
        self.is_over.set()


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
    tasks = Path(f"/proc/{pid}/task").iterdir()
    texts = ((task / "children").read_text() for task in tasks)
    return [int(number) for text in texts for number in text.split()]


# --- the verdict ----------------------------------------------------------------------------------


def examine(
    path: Path,
    goal: int,
    max_dice: int,
    time_limit: float,
    least: int = 0,
    folder: Path | None = None,
) -> Answers:
    """Run a trusted file, and judge what it answers for every position.

    It is run with nothing beside it. If that gives no valid table, and `folder` is a folder that
    it lies in and that has other files, it is run again and sees that folder.
    """
    path = path.parent.resolve() / path.name
    choices = range(least, max_dice + 1)
    alone = _judged(_Entry(path, None, time_limit), goal, choices)
    kinds = {fault.kind for fault in alone.faults}
    if not kinds:
        return alone._replace(alone=True)
    if kinds & {"time", "crash"} or folder is None or not _may_see(folder.resolve(), path):
        return alone
    beside = _judged(_Entry(path, folder.resolve(), time_limit), goal, choices)
    return beside._replace(alone=None if beside.faults else False)


def _may_see(folder: Path, path: Path) -> bool:
    """Whether an entry may see a folder: not a home or above it, nor all temporary files."""
    known = [tempfile.gettempdir()]
    with contextlib.suppress(RuntimeError):
        known.append(str(Path.home()))
    real = Path(os.path.realpath(folder))
    if any(Path(os.path.realpath(one)).is_relative_to(real) for one in known):
        return False
    with contextlib.suppress(OSError):
        return any(other.name not in {path.name, "__pycache__"} for other in folder.iterdir())
    return False


def order_again(count: int) -> list[int]:
    """Order in which positions are asked for again: answers may not depend on earlier calls."""
    order = list(range(count))
    Random(0).shuffle(order)  # noqa: S311 - any other order will do
    return [*order, *reversed(order)]


def _judged(entry: _Entry, goal: int, choices: range) -> Answers:
    """Ask a process for every position, and another one in other orders, twice."""
    cells = [(own, other) for own in range(goal) for other in range(goal)]
    first = _hear(entry, cells, len(cells), 1)
    if first.failed or first.fault:
        return _stopped(first, cells, len(cells), first)
    faults = _Faults()
    rolls = {
        cell: answer
        for cell, answer in zip(cells, first.answers, strict=True)
        if faults.is_roll(cell, answer, choices)
    }
    again = [cells[index] for index in order_again(len(cells))]
    second = _hear(entry, again, len(again), 2)
    if second.failed or second.fault:
        return _stopped(second, again, len(cells), first)
    differ = set()
    for cell, answer in zip(again, second.answers, strict=True):
        if cell in rolls and answer != rolls[cell] and cell not in differ:
            differ.add(cell)
            faults.note("impure", "", cell, f"is {rolls[cell]}, and {_again(answer)}")
    return Answers(
        [[int(rolls.get((own, other), 0)) for other in range(goal)] for own in range(goal)],
        faults.in_order(),
        first.name,
        first.seconds,
        _files(entry, [*first.files, *second.files]),
        len(cells),
        None,
        first.prints or second.prints,
        None,
        tuple(dict.fromkeys([*first.attempts, *second.attempts])),
    )


class _Faults:
    """Faults of answers: of each kind and likeness the first, and how many there are."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, str], Fault] = {}

    def note(self, kind: str, like: str, cell: Cell, line: str) -> None:
        """Count a fault."""
        if len(self.found) >= _MOST_KINDS and (kind, like) not in self.found:
            like = ""
        first = Fault(kind, 0, f"final_strategy({cell[0]}, {cell[1]}) {line}")
        fault = self.found.get((kind, like), first)
        self.found[kind, like] = fault._replace(times=fault.times + 1)

    def is_roll(self, cell: Cell, answer: int | str, choices: range) -> bool:
        """Whether an answer is a roll; what it is instead is counted."""
        if isinstance(answer, int) and answer in choices:
            return True
        if isinstance(answer, str) and answer.startswith("!"):
            self.note("raises", answer[1:].partition(":")[0], cell, f"raised {answer[1:]}")
            return False
        value = f"{answer} (int)" if isinstance(answer, int) else answer[1:]
        like = "below 0" if isinstance(answer, int) and answer < 0 else value.rpartition(" ")[2]
        allowed = f"ints from {choices[0]} to {choices[-1]}"
        self.note("range", like, cell, f"is {value}; allowed: {allowed}")
        return False

    def in_order(self) -> tuple[Fault, ...]:
        """List them by their kinds."""
        order = ("raises", "range", "impure")
        return tuple(sorted(self.found.values(), key=lambda fault: order.index(fault.kind)))


def _again(answer: int | str) -> str:
    if isinstance(answer, str) and answer.startswith("!"):
        return f"when asked again raised {answer[1:]}"
    value = answer[1:] if isinstance(answer, str) else answer
    return f"{value} when asked again: it must depend on the scores alone"


def _stopped(heard: _Heard, cells: Sequence[Cell], positions: int, first: _Heard) -> Answers:
    """Answers of a strategy that was stopped, or that could not be asked."""
    failed = ("code", heard.failed) if heard.failed else None
    kind, line = failed or heard.fault or _CRASH
    is_again, count = heard is not first, len(heard.answers)
    answered, asked = (positions, None) if is_again else (count, None)
    if failed and is_again:
        line = f"when run again, {line}"
    elif heard.is_ready and not heard.is_loaded:
        line = f"{line}; its code was still loading"
    elif heard.is_loaded and not failed and count < len(cells):
        asked = cells[count]
        call = f"final_strategy({asked[0]}, {asked[1]}){', asked again,' if is_again else ''}"
        line = f"{call} {line}; {answered:,} of {positions:,} positions were answered"
    fault = Fault(kind, 1, line)
    return Answers(None, (fault,), None, {}, (), answered, asked, attempts=tuple(heard.attempts))


def _files(entry: _Entry, named: Sequence[str]) -> tuple[str, ...]:
    """Of the files that an entry says it opened, those that there are in its folder."""
    folder, found = entry.folder, set()
    for name in named if folder is not None else ():
        path = Path(os.path.normpath(cast("Path", folder) / name))
        with contextlib.suppress(OSError, ValueError):
            if path.is_relative_to(cast("Path", folder)) and path != entry.path and path.is_file():
                found.add(str(path.relative_to(cast("Path", folder))))
    return tuple(sorted(found))
