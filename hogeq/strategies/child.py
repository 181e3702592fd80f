"""Ask a ``final_strategy`` for every position, in a process that `sandbox` starts for it.

Run by path, ``python -I child.py FILE GOAL LEAST MAX_DICE SECONDS BYTES CONFINE``. It writes one
JSON object to standard output, as `main` describes it. White space before it shows the progress:
`LOADED` when the file has run, `CALLED` after each call. Output of the strategy is lost. Nothing of
hogeq is imported: the process starts fast and shares nothing with ours.

With CONFINE 1 the process gives up, for good, all system calls but those of a list, by seccomp
[1]_. The list has what reads files, what uses memory, time and threads of its own, and nothing that
changes a file or reaches another process. Every call that is not on it, of this or of any later
kernel, is refused. A few calls are made here by ctypes: the packages that wrap them want a library
that is not installed everywhere.

.. [1] Linux kernel documentation, "Seccomp BPF".
"""

import builtins
import ctypes
import io
import json
import os
import signal
import struct
import sys
from collections.abc import Callable
from importlib.util import source_from_cache
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

LOADED, CALLED = b"\n", b" "

_MOST_KINDS = 20  # of faults
_MOST_FILES = 100
_NAME_LENGTH = 2000  # most characters of a player's name


def main(file: str, goal: int, choices: range, tell: Callable[[bytes], object]) -> dict[str, Any]:
    """Run a file and ask what it defines, every position twice.

    The result has ``faults``, dicts of ``kind``, ``count`` and ``line``, about the first of them;
    ``files``, paths of other files that it opened; and if there is a function ``table``, answers by
    both scores, 0 where one is no roll; ``player_name``, str or None; ``seconds``, of ``load``,
    ``table`` and ``slowest``, one call.
    """
    # Last, so that files beside the strategy cannot stand in for the standard library.
    sys.path.append(str(Path(file).parent))
    namespace: dict[str, Any] = {"__name__": "final_strategy", "__file__": file}
    start = perf_counter()
    opened: set[str] = set()
    try:
        code = compile(Path(file).read_bytes(), file, "exec")
        _watch(opened)
        exec(code, namespace)  # noqa: S102 - what this process is for
        strategy = namespace.get("final_strategy")
        if not callable(strategy):
            return _failed("defines no function final_strategy(score, opponent_score)")
        load = perf_counter() - start
        tell(LOADED)
        answers = _ask(strategy, goal, choices, tell)
    except BaseException as error:  # noqa: BLE001 - SystemExit too: this must answer
        return _failed(_raised(error))
    answers["seconds"]["load"] = load
    name = namespace.get("PLAYER_NAME", namespace.get("TEAM_NAME"))
    answers["player_name"] = name[:_NAME_LENGTH] if type(name) is str else None
    answers["files"] = _others(opened, file)
    return answers


def _failed(line: str) -> dict[str, Any]:
    return {"faults": [{"kind": "code", "count": 1, "line": line}]}


class _Output(io.TextIOWrapper):
    """Standard output of the strategy: text is lost, and its use is noted."""

    is_used = False

    def write(self, text: str, /) -> int:
        _Output.is_used = True
        return super().write(text)


def order_again(count: int) -> list[int]:
    """Order in which positions are asked for again: answers may not depend on earlier calls."""
    order = list(range(count))
    Random(0).shuffle(order)  # noqa: S311 - any other order will do
    return order


def _ask(
    strategy: Callable[[int, int], Any], goal: int, choices: range, tell: Callable[[bytes], object]
) -> dict[str, Any]:
    """Ask for every position twice; of each kind of fault the first is kept, and the count."""
    faults: dict[tuple[str, str], dict[str, Any]] = {}

    def note(kind: str, like: str, cell: tuple[int, int], line: str) -> None:
        if len(faults) >= _MOST_KINDS and (kind, like) not in faults:
            like = ""
        first = {"kind": kind, "count": 0, "line": "final_strategy({}, {}) {}".format(*cell, line)}
        faults.setdefault((kind, like), first)["count"] += 1

    cells = [(score, opponent) for score in range(goal) for opponent in range(goal)]
    rolls: dict[tuple[int, int], int] = {}
    slowest = 0.0
    start = perf_counter()
    for cell in cells:
        called = perf_counter()
        dice, error = _call(strategy, cell)
        kind = type(dice).__name__
        if error is not None:
            note("raises", type(error).__name__, cell, _raised(error))
        else:
            slowest = max(slowest, perf_counter() - called)
            # By type: True == 1, and 6.0 == 6.
            if type(dice) is int and dice in choices:
                rolls[cell] = dice
            else:
                like = f"{kind} below 0" if type(dice) is int and dice < 0 else kind
                allowed = f"ints from {choices[0]} to {choices[-1]}"
                line = f"is {_one_line(repr(dice))} ({kind}); allowed: {allowed}"
                note("range", like, cell, line)
        tell(CALLED)
    seconds = perf_counter() - start
    for index in order_again(len(cells)):
        cell = cells[index]
        if cell in rolls:
            again, error = _call(strategy, cell)
            if error is not None:
                line = f"is {rolls[cell]}, and when asked again {_raised(error)}"
                note("impure", "", cell, line)
            elif type(again) is not int or again != rolls[cell]:
                line = f"is {rolls[cell]}, and {_one_line(repr(again))} when asked again"
                note("impure", "", cell, f"{line}: it must depend on the scores alone")
        tell(CALLED)
    order = ("raises", "range", "impure")
    return {
        "faults": sorted(faults.values(), key=lambda fault: order.index(fault["kind"])),
        "table": [[rolls.get((own, other), 0) for other in range(goal)] for own in range(goal)],
        "seconds": {"table": seconds, "slowest": slowest},
    }


def _call(
    strategy: Callable[[int, int], Any], cell: tuple[int, int]
) -> tuple[Any, BaseException | None]:
    try:
        return strategy(*cell), None
    except BaseException as error:  # noqa: BLE001 - as above
        return None, error


def _raised(error: BaseException) -> str:
    kind, text = type(error).__name__, str(error)
    return f"raised {_one_line(f'{kind}: {text}' if text else kind)}"


def _one_line(text: str) -> str:
    line = ascii(" ".join(text.split()))[1:-1]
    return line if len(line) <= 200 else line[:197] + "..."


def _watch(opened: set[str]) -> None:
    """Note the path of every file that is opened from now on."""

    def note(event: str, details: tuple[Any, ...]) -> None:
        if event == "open" and len(opened) < 10 * _MOST_FILES:
            path = details[0]
            if type(path) in {str, bytes}:
                opened.add(os.path.abspath(os.fsdecode(path)))  # noqa: PTH100 - as fast as it can
            elif isinstance(path, Path):
                opened.add(str(path.absolute()))

    sys.addaudithook(note)


def _others(opened: set[str], file: str) -> list[str]:
    """Paths that belong neither to Python nor to the system, and are not the file itself."""
    known = tuple(f"{folder}{os.sep}" for folder in (sys.prefix, sys.base_prefix, "/proc", "/sys"))
    files = set()
    for path in opened:
        cached = f"{os.sep}__pycache__{os.sep}" in path and path.endswith(".pyc")
        source = source_from_cache(path) if cached else path
        if not source.startswith((*known, f"{os.sep}dev{os.sep}")) and Path(source).is_file():
            files.add(source)
    return sorted(files - {file})[:_MOST_FILES]


def _limit(seconds: int, size: int) -> None:
    try:
        import resource
    except ImportError:  # not on Windows: the time limit of the parent remains
        return
    for kind, most in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, size),
        (resource.RLIMIT_FSIZE, 0),  # no file is written
        (resource.RLIMIT_NOFILE, 256),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        if hard == resource.RLIM_INFINITY or hard > most:
            resource.setrlimit(kind, (most, most))


# --- the system calls that remain -----------------------------------------------------------------

# Name, number on x86-64, on 64-bit ARM; "-" where a processor has none.
ALLOWED_CALLS = """
read 0 63, readv 19 65, pread64 17 67, preadv 295 69, write 1 64, writev 20 66, lseek 8 62
close 3 57, close_range 436 436, dup 32 23, dup2 33 -, dup3 292 24, pipe 22 -, pipe2 293 59
stat 4 -, lstat 6 -, fstat 5 80, newfstatat 262 79, statx 332 291, statfs 137 43, fstatfs 138 44
access 21 -, faccessat 269 48, faccessat2 439 439, readlink 89 -, readlinkat 267 78
getdents64 217 61, getcwd 79 17, chdir 80 49, fchdir 81 50, fadvise64 221 223
mmap 9 222, munmap 11 215, mremap 25 216, mprotect 10 226, madvise 28 233, brk 12 214
futex 202 98, set_robust_list 273 99, rseq 334 293, membarrier 324 283, getcpu 309 168
sched_yield 24 124, sched_getaffinity 204 123, exit 60 93, exit_group 231 94
rt_sigaction 13 134, rt_sigprocmask 14 135, rt_sigreturn 15 139, sigaltstack 131 132
restart_syscall 219 128, getpid 39 172, gettid 186 178, getppid 110 173, getuid 102 174
geteuid 107 175, getgid 104 176, getegid 108 177, uname 63 160, sysinfo 99 179
getrlimit 97 163, getrusage 98 165, times 100 153, time 201 -, gettimeofday 96 169
clock_gettime 228 113, clock_getres 229 114, clock_nanosleep 230 115, nanosleep 35 101
poll 7 -, ppoll 271 73, select 23 -, pselect6 270 72, getrandom 318 278
"""
# By processor: its number in seccomp, the column above, and those calls of which only some forms
# are allowed: open, openat, ioctl, fcntl, clone, prlimit64.
_PROCESSORS = {
    "x86_64": (0xC000003E, 1, (2, 257, 16, 72, 56, 302)),
    "aarch64": (0xC00000B7, 2, (None, 56, 29, 25, 220, 261)),
}
_CLONE3 = 435

_WRITES = 0x402243  # of open's flags: write, both, create, truncate, signal, without a name
_TERMINAL = (0x5401, 0x5450, 0x5451)  # of ioctl: is it one; close when a program starts, or not
_HANDLES = (0, 1, 2, 3, 1030)  # of fcntl: copies, flags
_THREAD, _THREADS = 0x10000, 0x7D0F00  # of clone: what makes a thread, all that its makers set

_PDEATHSIG, _SECCOMP, _NO_NEW_PRIVS = 1, 22, 38  # of prctl


def can_confine() -> bool:
    """Ask the kernel, without effect, whether it filters system calls."""
    if sys.platform != "linux" or os.uname().machine not in _PROCESSORS:
        return False
    if ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    system = ctypes.CDLL(None, use_errno=True)
    system.prctl(_SECCOMP, 2, None, 0, 0)
    return ctypes.get_errno() == 14  # EFAULT: it does, but nothing is no filter


def confine() -> bool:
    """Give up every system call that is not allowed by name, and outlive no parent."""
    system = ctypes.CDLL(None, use_errno=True)
    system.prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    program = _program(os.uname().machine)
    steps = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in program))
    rules = struct.pack("H6xP", len(program), ctypes.addressof(steps))
    system.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0)  # a condition for filters
    done: bool = system.prctl(_SECCOMP, 2, rules, 0, 0) == 0
    return done


def _program(machine: str) -> list[tuple[int, int, int, int]]:
    """Write the filter: steps of (operation, steps to skip if true, if false, number)."""
    number, column, (*opens, ioctl, fcntl, clone, prlimit) = _PROCESSORS[machine]
    rows = [row.split() for line in ALLOWED_CALLS.split("\n") for row in line.split(", ") if row]
    load, equal, has_bit, give = 0x20, 0x15, 0x45, 0x06
    refuse = (give, 0, 0, 0x00050001)  # EPERM
    unknown = (give, 0, 0, 0x00050026)  # ENOSYS
    allow = (give, 0, 0, 0x7FFF0000)

    def argument(index: int, half: int = 0) -> tuple[int, int, int, int]:
        return (load, 0, 0, 16 + 8 * index + 4 * half)

    def only(call: int, *steps: tuple[int, int, int, int]) -> list[tuple[int, int, int, int]]:
        return [(equal, 0, len(steps), call), *steps]

    def one_of(index: int, values: tuple[int, ...]) -> list[tuple[int, int, int, int]]:
        tests = [step for value in values for step in ((equal, 0, 1, value), allow)]
        return [argument(index), *tests, refuse]

    program = [(load, 0, 0, 4), (equal, 1, 0, number), refuse, (load, 0, 0, 0)]
    for row in rows:
        if row[column] != "-":
            program += only(int(row[column]), allow)
    for index, call in enumerate(opens):
        if call is not None:
            program += only(call, argument(1 + index), (has_bit, 0, 1, _WRITES), refuse, allow)
    program += only(ioctl, *one_of(1, _TERMINAL))
    program += only(fcntl, *one_of(1, _HANDLES))
    others = ~_THREADS & 0xFFFFFFFF
    thread = [(has_bit, 1, 0, _THREAD), refuse, (has_bit, 0, 1, others), refuse, allow]
    program += only(clone, argument(0), *thread)
    # Limits may be read, of this process: the first and, both halves of it, the third are 0.
    zeros = [
        step
        for part in (argument(0), argument(2), argument(2, 1))
        for step in (part, (equal, 1, 0, 0), refuse)
    ]
    program += only(prlimit, *zeros, allow)
    # As if it were not there, so that threads are made by clone, whose flags can be looked at.
    program += only(_CLONE3, unknown)
    return [*program, refuse]


def _run() -> None:
    # Output of the strategy must not mix with the answer.
    answer = os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    sys.stdout = sys.__stdout__ = _Output(os.fdopen(1, "wb", closefd=False))  # type: ignore[misc]
    goal, least, max_dice, seconds, size, confined = map(int, sys.argv[2:8])
    _limit(seconds, size)
    if confined:
        if not confine():
            return
        given = builtins.open
        # No file is opened for writing, this one for all who silence what they print.
        builtins.open = lambda file, *rest, **options: given(  # type: ignore[assignment]
            os.dup(nowhere) if type(file) is str and file == os.devnull else file, *rest, **options
        )
    choices = range(least, max_dice + 1)
    result = main(sys.argv[1], goal, choices, lambda mark: os.write(answer, mark))
    result["prints"] = _Output.is_used
    # White space marks the progress, and stands nowhere else.
    reply = json.dumps(result, separators=(",", ":")).encode()
    while reply:
        reply = reply[os.write(answer, reply) :]


if __name__ == "__main__":
    _run()
    # No exit handlers, no waiting for threads that were left behind.
    os._exit(0)
