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

LINE = 200  # most characters of a text that is told

_MOST_TOLD = 100  # files, and 20 attempts
_MOST_TRIED = 20
_DIGITS = 10**9  # numbers from here on are told by their size

# Of the audit events of these modules, all but those that change the process alone.
_MODULES = ("os.", "socket.", "subprocess.", "shutil.")
_HARMLESS = {"os.putenv", "os.unsetenv", "os.chdir", "os.walk", "os.fwalk"}
_LOOKS = {"open", "os.listdir", "os.scandir"}


def answer(strategy: Callable[[int, int], Any], own: int, other: int) -> str:
    """Ask for one position, and write the answer as a line."""
    try:
        dice = strategy(own, other)
    except BaseException as error:  # noqa: BLE001 - SystemExit too: this must answer
        return raised(error)
    # By type: True == 1, and 6.0 == 6.
    if type(dice) is int and -_DIGITS < dice < _DIGITS:
        return str(dice)
    return f"?{_described(dice)}"


def raised(error: BaseException) -> str:
    """Write an error as a line, with the last frame of the file that raised it."""
    kind, where, trace = "an error that cannot be written", "", error.__traceback__
    try:
        kind = _one_line(type(error).__name__)
        text = _one_line(f"{kind}: {error}".removesuffix(": "))
    except BaseException:  # noqa: BLE001 - somebody's class of errors may raise anything
        text = kind
    while trace is not None:
        code = trace.tb_frame.f_code
        if [code.co_filename] == sys.argv[:1]:
            frame = "" if code.co_name == "<module>" else f"in {_one_line(code.co_name[:60])}, "
            where = f" ({frame}line {trace.tb_lineno})"
        trace = trace.tb_next
    most = LINE - len(where)
    return f"!{text if len(text) <= most else f'{text[: most - 3]}...'}{where}"


def _described(value: Any) -> str:
    if type(value) is int:
        return f"a whole number of {value.bit_length()} bits (int)"
    shorter = Repr()
    shorter.maxother = shorter.maxstring = 60
    try:
        return _one_line(f"{shorter.repr(value)} ({type(value).__name__})")
    except BaseException:  # noqa: BLE001 - as above
        return "a value that cannot be written (object)"


def _one_line(text: str) -> str:
    line = ascii(" ".join(text[: 4 * LINE].split()))[1:-1]
    return line if len(line) <= LINE else line[: LINE - 3] + "..."


class _Chance:
    """Sources of random numbers, seeded by the judge, so that a run can be repeated.

    These are `random`, `os.urandom` and what draws from them: `secrets`, `uuid` and numpy. Clocks,
    addresses of objects and threads are not.
    """

    def __init__(self, seed: int, folder: str) -> None:
        self._is_drawn, self._folder = False, f"{folder}{os.sep}"
        source = random.Random(seed)  # noqa: S311 - it has to repeat
        shared = random._inst  # noqa: SLF001 - whose methods random.random() and others are
        shared.seed(seed)
        self._shared = shared
        self._start: Any = shared.getstate()  # None once the entry has given its own seed
        seeded = random.Random.seed

        def urandom(size: int, /) -> bytes:
            self._note()
            return source.randbytes(size)

        def seed_by(one: random.Random, a: Any = None, version: int = 2) -> None:
            if a is None:
                self._note()
                a = source.getrandbits(64)
            elif one is shared:
                self._is_drawn, self._start = self.is_drawn, None
            seeded(one, a, version)

        os.urandom = random._urandom = urandom  # type: ignore[attr-defined]  # noqa: SLF001
        random.Random.seed = seed_by  # type: ignore[method-assign,assignment]
        random.seed = shared.seed

    @property
    def is_drawn(self) -> bool:
        """Whether numbers were drawn without a seed of the entry."""
        start = self._start
        return self._is_drawn or (start is not None and self._shared.getstate() != start)

    def _note(self) -> None:
        """Note a draw, unless it is a library's while that is imported."""
        frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - inspect loads slowly
        while frame is not None and "importlib._bootstrap" not in frame.f_code.co_filename:
            if frame.f_code.co_filename.startswith(self._folder):
                self._is_drawn = True
            frame = frame.f_back


class _Output(io.TextIOWrapper):
    """Standard output of the strategy: text is lost, and its use is noted."""

    is_used = False

    def write(self, text: str, /) -> int:
        _Output.is_used = True
        return super().write(text)


class _Notes:
    """Files of its folder that the code opens, and its attempts to reach others."""

    def __init__(self, folder: str) -> None:
        self.files: dict[str, None] = {}
        self.tried: dict[str, None] = {}
        self.folder = f"{folder}{os.sep}"
        # This file too: a warning reads its lines.
        system = ("/usr", "/lib", "/lib64", "/dev", __file__)
        libraries = (sys.prefix, sys.base_prefix, *sys.path, *system)
        self.known = tuple(f"{library}{os.sep}" for library in libraries if library)

    def __call__(self, event: str, details: tuple[Any, ...]) -> None:
        if event in _LOOKS:
            path = details[0] if details else None
            if isinstance(path, str | bytes | Path):
                writes = event == "open" and details[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
                absolute = os.path.abspath(os.fsdecode(path))  # noqa: PTH100 - as fast as it can
                self._look(event, absolute, bool(writes))
        elif event.startswith(_MODULES) and event not in _HARMLESS:
            # Not written by their own code, which may do anything.
            words = [str(one) for one in details if type(one) in {str, bytes, int, tuple}]
            self._try(" ".join([event, *words]))

    def _look(self, event: str, path: str, writes: bool) -> None:
        if writes and path != os.devnull:
            self._try(f"open to write {path}")
        elif path.startswith(self.folder):
            if event == "open" and len(self.files) < _MOST_TOLD:
                with suppress(ValueError):  # it is no file of bytecode
                    path = source_from_cache(path)
                self.files[path.removeprefix(self.folder)] = None
        elif not f"{path}{os.sep}".startswith((self.folder, *self.known)):
            self._try(f"{event} {path}")

    def _try(self, what: str) -> None:
        if len(self.tried) < _MOST_TRIED:
            self.tried[_one_line(what)] = None


def _limit(seconds: int, size: int, tasks: int) -> None:
    try:
        import resource
    except ImportError:  # Windows has none
        return
    for kind, most in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, size),
        (resource.RLIMIT_FSIZE, 0),  # no file is written
        (resource.RLIMIT_NOFILE, 256),
        (resource.RLIMIT_CORE, 0),
        *([(resource.RLIMIT_NPROC, tasks)] if tasks else []),
    ):
        _, hard = resource.getrlimit(kind)
        if hard == resource.RLIM_INFINITY or hard > most:
            resource.setrlimit(kind, (most, most))


def _load(file: str, notes: _Notes) -> tuple[Any, str]:
    """Run the file; give its function, and the line that says how it went."""
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
        return None, "?"
    name = namespace.get("PLAYER_NAME", namespace.get("TEAM_NAME"))
    return strategy, json.dumps(name[:LINE]) if type(name) is str else "-"


def _run() -> None:
    file, folder, seed, *limits = sys.argv[1:7]
    # What the strategy prints must not mix with the answers, nor may it read the questions.
    questions, answers = os.fdopen(0, "rb", closefd=False).read().splitlines(), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        os.dup2(nowhere, standard)
    sys.stdout = sys.__stdout__ = _Output(os.fdopen(1, "wb", closefd=False))  # type: ignore[misc]
    _limit(*map(int, limits))

    def tell(line: str) -> None:
        os.write(answers, line.encode() + b"\n")

    tell("ready")
    notes, chance, slowest, begun = _Notes(folder), _Chance(int(seed), folder), 0, clock()
    strategy, line = _load(file, notes)
    tell(line)
    loaded = asked = clock()
    for question in questions if strategy is not None else ():
        own, other = map(int, question.split())
        tell(answer(strategy, own, other))
        slowest, asked = max(slowest, clock() - asked), clock()
    for mark, texts in (("f", notes.files), ("t", notes.tried)):
        for text in texts:
            tell(mark + json.dumps(text[:LINE]))
    tell("s{} {} {}".format(*(time // 1000 for time in (loaded - begun, asked - loaded, slowest))))
    for mark, holds in (
        ("r", chance.is_drawn),
        ("n", "numpy.random" in sys.modules),  # whose own generator is not looked into
        ("p", _Output.is_used),
    ):
        if holds:
            tell(mark)
    tell(".")


if __name__ == "__main__":
    _run()
    # No exit handlers, no waiting for threads that were left behind.
    os._exit(0)
