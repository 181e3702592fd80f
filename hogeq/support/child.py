"""Answer questions about a ``final_strategy``, in a process that `sandbox` starts for it.

Run by path, ``python child.py FILE FOLDER SEED SECONDS BYTES TASKS``. Questions come by standard
input, two scores a line, all before the file is run. Standard output is a line for each of these,
in this order:

- ``ready``, before the file is run;
- ``-``, or the name of its player as JSON, when the file has run; ``?`` if it defines no function;
- for each question, an int, or ``?`` and another value, or ``!`` and the error that was raised;
- at the end, ``f`` and a file of FOLDER that was opened, ``t`` and what was tried, both as JSON,
  ``s`` and the microseconds to load, for all answers and for the slowest one, ``r`` if it drew
  random numbers without a seed of its own, ``n`` if it may have done so, ``p`` if anything was
  printed, and ``.``.

``!`` and an error stand also where the file could not be run. Code in this process can write the
same lines itself, so they are no more than answers: `sandbox` says why that is enough. Nothing of
hogeq is imported: the process starts fast, and the file lies alone in its sandbox.
"""

import io
import json
import os
import random
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib.util import source_from_cache
from pathlib import Path
from reprlib import Repr
from time import perf_counter_ns as clock
from types import FrameType
from typing import Any

# Lines, and marks at the start of lines, as described above.
READY = "ready"
NO_NAME = "-"
NO_FUNCTION = "?"
OTHER_VALUE = "?"
ERROR = "!"
FILE, ATTEMPT, TIMES = "f", "t", "s"
DRAWS, MAY_DRAW, PRINTS = "r", "n", "p"
END = "."
LINE = 200  # most characters of a text in a line
_MOST_FILES = 100  # most files that are noted
_MOST_ATTEMPTS = 20  # most attempts that are noted
_TOO_LARGE = 10**9  # integers from here on are described by their size

# Audit events that are attempts: those of these modules, unless they change the process alone.
_MODULES = ("os.", "socket.", "subprocess.", "shutil.")
_HARMLESS = {"os.putenv", "os.unsetenv", "os.chdir", "os.walk", "os.fwalk"}
_LOOKS = {"open", "os.listdir", "os.scandir"}  # events with a path, which decides


def answer(strategy: Callable[[int, int], Any], own: int, other: int) -> str:
    """Call the function for one position, and write what it returns or raises as a line."""
    try:
        dice = strategy(own, other)
    except BaseException as error:  # noqa: BLE001 - SystemExit too: each question needs a line
        return raised(error)
    # Types are compared, since True == 1 and 6.0 == 6.
    if type(dice) is int and -_TOO_LARGE < dice < _TOO_LARGE:
        return str(dice)
    return OTHER_VALUE + _describe_value(dice)


def raised(error: BaseException) -> str:
    """Write an error as a line, with the innermost line of the entry's file in its traceback."""
    kind = "an error that cannot be written"
    try:
        kind = _one_line(type(error).__name__)
        text = _one_line(f"{kind}: {error}".removesuffix(": "))
    except BaseException:  # noqa: BLE001 - a user's class of errors may raise anything
        text = kind
    place = ""
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if [code.co_filename] == sys.argv[:1]:  # the entry's file
            function = "" if code.co_name == "<module>" else f"in {_one_line(code.co_name[:60])}, "
            place = f" ({function}line {trace.tb_lineno})"
        trace = trace.tb_next
    return ERROR + _shorten(text, LINE - len(place)) + place


def _describe_value(value: Any) -> str:
    """Write a value that is no small integer, with its type."""
    if type(value) is int:
        return f"a whole number of {value.bit_length()} bits (int)"
    short_repr = Repr()
    short_repr.maxother = short_repr.maxstring = 60
    try:
        return _one_line(f"{short_repr.repr(value)} ({type(value).__name__})")
    except BaseException:  # noqa: BLE001 - as above
        return "a value that cannot be written (object)"


def _one_line(text: str) -> str:
    """Write a text in one line of printable ASCII."""
    escaped = ascii(" ".join(text[: 4 * LINE].split()))
    return _shorten(escaped[1:-1], LINE)  # without its quotation marks


def _shorten(text: str, size: int) -> str:
    """Cut a text to at most `size` characters, with dots at its end."""
    return text if len(text) <= size else text[: size - 3] + "..."


class _RandomSources:
    """Seeds all random numbers of Python, so that a run can be repeated, and notes their use.

    It replaces functions of `random` and `os.urandom`, on which `secrets`, `uuid` and numpy draw.
    Clocks, addresses of objects and threads stay random. Draws by code in `folder` are noted.
    """

    def __init__(self, seed: int, folder: str) -> None:
        """Replace Python's sources of random numbers by seeded ones."""
        self._folder = f"{folder}{os.sep}"
        self._is_drawn = False
        self._system = random.Random(seed)  # noqa: S311 - in place of the system's; it has to repeat
        # The generator of which random.random() and others are methods.
        self._shared = random._inst  # noqa: SLF001
        self._shared.seed(seed)
        self._start: Any = self._shared.getstate()  # None once the entry has given its own seed
        self._original_seed = random.Random.seed

        # A function and no bound method: as an attribute of the class it gets the generator.
        def seed_generator(generator: random.Random, a: Any = None, version: int = 2) -> None:
            self._seed(generator, a, version)

        os.urandom = random._urandom = self._urandom  # type: ignore[attr-defined]  # noqa: SLF001
        random.Random.seed = seed_generator  # type: ignore[method-assign,assignment]
        random.seed = self._shared.seed

    def _urandom(self, size: int, /) -> bytes:
        self._note_draw()
        return self._system.randbytes(size)

    def _seed(self, generator: random.Random, a: Any, version: int) -> None:
        """Seed a generator with `a`, or if that is None with a number that repeats."""
        if a is None:
            self._note_draw()
            a = self._system.getrandbits(64)
        elif generator is self._shared:
            self._is_drawn = self.is_drawn  # up to now: later draws of it are seeded
            self._start = None
        self._original_seed(generator, a, version)

    @property
    def is_drawn(self) -> bool:
        """Whether numbers were drawn without a seed of the entry."""
        start = self._start
        return self._is_drawn or (start is not None and self._shared.getstate() != start)

    def _note_draw(self) -> None:
        """Note a draw by code of the entry, unless it imports a library that draws."""
        frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - inspect loads slowly
        while frame is not None and "importlib._bootstrap" not in frame.f_code.co_filename:
            if frame.f_code.co_filename.startswith(self._folder):
                self._is_drawn = True
            frame = frame.f_back


class _Output(io.TextIOWrapper):
    """Standard output of the strategy: text is lost, and that there was any is noted."""

    is_used = False

    def write(self, text: str, /) -> int:
        _Output.is_used = True
        return super().write(text)


class _AccessNotes:
    """Audit hook: files of its folder that the code opens, and its attempts to reach others."""

    def __init__(self, folder: str) -> None:
        """Watch a folder; what Python itself reads, in the folders of libraries, is not noted."""
        self.files: dict[str, None] = {}  # relative to the folder, each once
        self.attempts: dict[str, None] = {}
        self._folder = f"{folder}{os.sep}"
        # Python reads these by itself; this file, too, to show its lines in a warning.
        system = ("/usr", "/lib", "/lib64", "/dev", __file__)
        libraries = (sys.prefix, sys.base_prefix, *sys.path, *system)
        self._libraries = tuple(f"{library}{os.sep}" for library in libraries if library)

    def __call__(self, event: str, details: tuple[Any, ...]) -> None:
        """Take an audit event of Python, with the arguments that it documents."""
        if event in _LOOKS:
            path = details[0] if details else None
            if isinstance(path, str | bytes | Path):
                writes = event == "open" and details[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
                absolute = os.path.abspath(os.fsdecode(path))  # noqa: PTH100 - as fast as it can
                self._note_access(event, absolute, bool(writes))
        elif event.startswith(_MODULES) and event not in _HARMLESS:
            # Only values of these types are written: those of others would run their own code.
            words = [str(value) for value in details if type(value) in {str, bytes, int, tuple}]
            self._note_attempt(" ".join([event, *words]))

    def _note_access(self, event: str, path: str, writes: bool) -> None:
        """Note a file or folder that is opened or listed, by its absolute path."""
        if writes and path != os.devnull:
            self._note_attempt(f"open to write {path}")
        elif path.startswith(self._folder):
            if event == "open" and len(self.files) < _MOST_FILES:
                with suppress(ValueError):  # raised unless it is a file of bytecode
                    path = source_from_cache(path)
                self.files[path.removeprefix(self._folder)] = None
        elif not f"{path}{os.sep}".startswith((self._folder, *self._libraries)):
            self._note_attempt(f"{event} {path}")

    def _note_attempt(self, attempt: str) -> None:
        if len(self.attempts) < _MOST_ATTEMPTS:
            self.attempts[_one_line(attempt)] = None


def _limit_resources(cpu_seconds: int, memory: int, threads: int) -> None:
    """Limit the resources of this process; `memory` is address space in bytes, 0 threads no limit.

    A limit is only ever lowered.
    """
    try:
        import resource
    except ImportError:  # Windows has none
        return
    limits = {
        resource.RLIMIT_CPU: cpu_seconds,
        resource.RLIMIT_AS: memory,
        resource.RLIMIT_FSIZE: 0,  # no file is written
        resource.RLIMIT_NOFILE: 256,
        resource.RLIMIT_CORE: 0,
    }
    if threads:
        limits[resource.RLIMIT_NPROC] = threads
    for kind, limit in limits.items():
        _, hard = resource.getrlimit(kind)
        if hard == resource.RLIM_INFINITY or hard > limit:
            resource.setrlimit(kind, (limit, limit))


def _load(file: str, notes: _AccessNotes) -> tuple[Any, str]:
    """Run the file; return its function, or None, and the line with its name or what is wrong.

    `notes` become an audit hook before it runs.
    """
    namespace: dict[str, Any] = {"__name__": "final_strategy", "__file__": file}
    # Last, so that files beside the strategy cannot stand in for the standard library.
    sys.path.append(str(Path(file).parent))
    sys.argv = [file]
    try:
        code = compile(Path(file).read_bytes(), file, "exec")
        sys.addaudithook(notes)
        exec(code, namespace)  # noqa: S102 - what this process is for
    except BaseException as error:  # noqa: BLE001 - as above
        return None, raised(error)
    strategy = namespace.get("final_strategy")
    if not callable(strategy):
        return None, NO_FUNCTION
    name = namespace.get("PLAYER_NAME", namespace.get("TEAM_NAME"))
    return strategy, json.dumps(name[:LINE]) if type(name) is str else NO_NAME


def _run() -> None:
    """Answer the questions on standard input; the lines are those listed at the top of this file.

    1. Read all questions, and move standard output out of reach of the code.
    2. Limit resources, seed random numbers, and run the file.
    3. Answer each question, then write the notes.
    """
    file, folder, seed, *limits = sys.argv[1:7]
    # What the strategy prints must not mix with the answers, nor may it read the questions.
    questions = os.fdopen(0, "rb", closefd=False).read().splitlines()
    answers = os.dup(1)
    null_device = os.open(os.devnull, os.O_RDWR)
    for standard_stream in range(3):
        os.dup2(null_device, standard_stream)
    sys.stdout = sys.__stdout__ = _Output(os.fdopen(1, "wb", closefd=False))  # type: ignore[misc]
    _limit_resources(*map(int, limits))

    def write_line(line: str) -> None:
        os.write(answers, line.encode() + b"\n")

    write_line(READY)
    notes = _AccessNotes(folder)
    sources = _RandomSources(int(seed), folder)
    start_time = clock()
    strategy, line = _load(file, notes)
    write_line(line)
    load_time = last_time = clock()
    slowest = 0
    for question in questions if strategy is not None else ():
        own, other = map(int, question.split())
        write_line(answer(strategy, own, other))
        slowest = max(slowest, clock() - last_time)
        last_time = clock()
    for mark, texts in ((FILE, notes.files), (ATTEMPT, notes.attempts)):
        for text in texts:
            write_line(mark + json.dumps(text[:LINE]))
    nanoseconds = (load_time - start_time, last_time - load_time, slowest)
    write_line(TIMES + " ".join(str(time // 1000) for time in nanoseconds))
    if sources.is_drawn:
        write_line(DRAWS)
    if "numpy.random" in sys.modules:  # draws of numpy's generators are not noted
        write_line(MAY_DRAW)
    if _Output.is_used:
        write_line(PRINTS)
    write_line(END)


if __name__ == "__main__":
    _run()
    # No exit handlers, no waiting for threads that were left behind.
    os._exit(0)
