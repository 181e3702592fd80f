"""Ask a ``final_strategy`` for every cell, in a process that `hogeq.strategies.read` starts for it.

Run by path, ``python -I child.py FILE GOAL MAX_DICE SECONDS BYTES``; one JSON object goes
to standard output, as `main` describes it, with ``free``: what the system could not forbid. What
the strategy itself prints is lost. Nothing of hogeq is imported: its process starts fast and shares
nothing with ours.

Before the file is run the process gives up, for good, what a strategy has no use for. Linux has two
means for that, both open to every user. Landlock [1]_ forbids what makes, changes, moves or removes
files, TCP, and signals to others. A seccomp filter [2]_ refuses the calls that Landlock does not
look at: those that change a file's mode, owner, times or attributes, sockets, and new processes
(threads are allowed), so that limits on one process are limits on all of it, and none is left
behind. Both are a few calls, made here by ctypes: the packages that wrap them are young.

.. [1] Linux kernel documentation, "Landlock: unprivileged access control".
.. [2] Linux kernel documentation, "Seccomp BPF".
"""

import ctypes
import json
import os
import signal
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

TOLD = 5
"""Faults of each kind that are told one by one; all are counted."""


def main(file: str, goal: int, max_dice: int) -> dict[str, Any]:
    """Run a file and ask what it defines, every cell twice.

    Parameters
    ----------
    file : str
        Path of a Python file.
    goal, max_dice : int
        Scores asked for are below `goal`; dice from 0 to `max_dice` are allowed.

    Returns
    -------
    dict
        ``faults``, list of dict: ``kind``, ``count`` and ``told``, lines about the first of them;
        and if a function was found ``table``, list of `goal` lists of `goal` answers, 0 where one
        is no roll; ``player_name``, str or None; ``seconds``, dict of float: ``load``, ``table``
        and ``slowest``, of one call.
    """
    # Last, so that files beside the strategy cannot stand in for the standard library.
    sys.path.append(str(Path(file).parent))
    namespace: dict[str, Any] = {"__name__": "final_strategy", "__file__": file}
    start = perf_counter()
    try:
        code = compile(Path(file).read_bytes(), file, "exec")
        exec(code, namespace)  # noqa: S102 - what this process is for
        strategy = namespace.get("final_strategy")
        if not callable(strategy):
            return _failed("defines no function final_strategy(score, opponent_score)")
        load = perf_counter() - start
        found = _ask(strategy, goal, max_dice)
    except BaseException as error:  # noqa: BLE001 - SystemExit too: this must answer
        return _failed(_raised(error))
    found["seconds"]["load"] = load
    name = namespace.get("PLAYER_NAME")
    found["player_name"] = name[:_NAME_LENGTH] if type(name) is str else None
    return found


def _failed(line: str) -> dict[str, Any]:
    return {"faults": [{"kind": "code", "count": 1, "told": [line]}]}


class _Faults:
    """Faults of the cells, by kind, the worst kind first."""

    def __init__(self) -> None:
        self.kinds: dict[str, list[str]] = {"raises": [], "range": [], "impure": []}
        self.counts = dict.fromkeys(self.kinds, 0)

    def add(self, kind: str, score: int, opponent: int, line: str) -> None:
        self.counts[kind] += 1
        if self.counts[kind] <= TOLD:
            self.kinds[kind].append(f"final_strategy({score}, {opponent}) {line}")

    def told(self) -> list[dict[str, Any]]:
        return [
            {"kind": kind, "count": self.counts[kind], "told": told}
            for kind, told in self.kinds.items()
            if told
        ]


def _ask(strategy: Callable[[int, int], Any], goal: int, max_dice: int) -> dict[str, Any]:
    faults = _Faults()
    cells = [(score, opponent) for score in range(goal) for opponent in range(goal)]
    answers: dict[tuple[int, int], int] = {}
    slowest = 0.0
    start = perf_counter()
    for cell in cells:
        called = perf_counter()
        try:
            dice = strategy(*cell)
        except BaseException as error:  # noqa: BLE001 - as above
            faults.add("raises", *cell, _raised(error))
            continue
        slowest = max(slowest, perf_counter() - called)
        # By type: True == 1, and 6.0 == 6.
        if type(dice) is int and 0 <= dice <= max_dice:
            answers[cell] = dice
        else:
            given = f"{_one_line(repr(dice))} ({type(dice).__name__})"
            faults.add("range", *cell, f"is {given}; allowed: ints from 0 to {max_dice}")
    seconds = perf_counter() - start
    # In another order: an answer that depends on the calls before it is found out.
    again_in = list(answers)
    Random(0).shuffle(again_in)  # noqa: S311 - any order will do
    for cell in again_in:
        before = answers[cell]
        try:
            again = strategy(*cell)
        except BaseException as error:  # noqa: BLE001 - as above
            faults.add("impure", *cell, f"is {before}, and when asked again {_raised(error)}")
            continue
        if type(again) is not int or again != before:
            line = f"is {before}, and {_one_line(repr(again))} when asked again"
            faults.add("impure", *cell, f"{line}: it must depend on the scores alone")
    return {
        "faults": faults.told(),
        "table": [[answers.get((own, other), 0) for other in range(goal)] for own in range(goal)],
        "seconds": {"table": seconds, "slowest": slowest},
    }


def _raised(error: BaseException) -> str:
    kind, said = type(error).__name__, str(error)
    return f"raised {_one_line(f'{kind}: {said}' if said else kind)}"


_NAME_LENGTH = 2000  # characters of a player's name that are told


def _one_line(text: str) -> str:
    line = ascii(" ".join(text.split()))[1:-1]
    return line if len(line) <= 200 else line[:197] + "..."


def _limit(seconds: int, size: int) -> None:
    try:
        import resource
    except ImportError:  # not on Windows: the time limit of the parent remains
        return
    for kind, most in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, size),
        (resource.RLIMIT_FSIZE, 0),  # no file is written
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        if hard == resource.RLIM_INFINITY or hard > most:
            resource.setrlimit(kind, (most, most))


# --- what the process gives up --------------------------------------------------------------------

_PDEATHSIG, _SECCOMP, _NO_NEW_PRIVS = 1, 22, 38  # of prctl
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # system calls, on every processor

# Rights of Landlock, as bits. Since its first version: write to files; remove, and make, files of
# every kind. Versions 2, 3 and 5 added: move to another folder, truncate, control devices.
_WRITE, _TRUNCATE = 1 << 1, 1 << 14
_FILES = _WRITE | sum(1 << bit for bit in range(4, 13))
_ADDED = {2: 1 << 13, 3: _TRUNCATE, 5: 1 << 15}

# By processor: its number in seccomp, `clone`, and the calls that are refused. On x86-64: socket,
# fork, vfork; chmod, fchmod, chown, fchown, lchown; ptrace, utime; the six that set and remove
# attributes; utimes, fchownat, futimesat, fchmodat, utimensat. On 64-bit ARM: those six, fchmod,
# fchmodat, fchownat, fchown, utimensat, ptrace, socket.
_X86 = (41, 57, 58, *range(90, 95), 101, 132, 188, 189, 190, 197, 198, 199)
_CALLS = {
    "x86_64": (0xC000003E, 56, (*_X86, 235, 260, 261, 268, 280)),
    "aarch64": (0xC00000B7, 220, (5, 6, 7, 14, 15, 16, 52, 53, 54, 55, 88, 117, 198)),
}
# The same on both: io_uring_setup, fchmodat2, setxattrat, removexattrat.
_NEWER_CALLS = (425, 452, 463, 466)
_CLONE3 = 435


def confine() -> list[str]:
    """Give up what a strategy has no use for.

    Returns
    -------
    list of str
        What the system could not forbid.
    """
    if sys.platform != "linux":
        return ["change files", "open connections", "leave processes behind"]
    system = ctypes.CDLL(None, use_errno=True)
    system.prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # it does not outlive us
    system.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0)  # what both means ask for
    free = [] if _give_up_files(system) else ["change files"]
    return free if _give_up_calls(system) else [*free, "open connections", "leave processes behind"]


def _give_up_files(system: Any) -> bool:
    version = system.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    if version < 1:
        return False
    rights = _FILES | sum(bit for since, bit in _ADDED.items() if version >= since)
    fields = [rights, *([3] if version >= 4 else []), *([3] if version >= 6 else [])]
    ruleset = system.syscall(
        _CREATE_RULESET,
        struct.pack(f"{len(fields)}Q", *fields),
        ctypes.c_size_t(8 * len(fields)),
        0,
    )
    if ruleset < 0:
        return False
    # What is written there is lost, as people want it.
    nowhere = os.open(os.devnull, os.O_RDWR)
    allowed = struct.pack("=Qi", (_WRITE | _TRUNCATE) & rights, nowhere)
    system.syscall(_ADD_RULE, ruleset, 1, allowed, 0)
    done = system.syscall(_RESTRICT_SELF, ruleset, 0) == 0
    os.close(nowhere)
    os.close(ruleset)
    return done and version >= 3  # before, files could be emptied


def _give_up_calls(system: Any) -> bool:
    machine = os.uname().machine
    if machine not in _CALLS or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    number, clone, calls = _CALLS[machine]
    load, equal, at_least, has_bit, give = 0x20, 0x15, 0x35, 0x45, 0x06
    refuse, unknown, allow = 0x00050001, 0x00050026, 0x7FFF0000  # EPERM, ENOSYS, go on
    program = [
        (load, 0, 0, 4),
        (equal, 1, 0, number),
        (give, 0, 0, refuse),  # a 32-bit call
        (load, 0, 0, 0),
        (at_least, 0, 1, 0x40000000),
        (give, 0, 0, refuse),  # the other numbers that x86-64 has
        (equal, 0, 1, _CLONE3),
        (give, 0, 0, unknown),  # so that threads are made by `clone`, whose flags can be looked at
    ]
    for call in (*calls, *_NEWER_CALLS):
        program += [(equal, 0, 1, call), (give, 0, 0, refuse)]
    program += [
        (equal, 1, 0, clone),
        (give, 0, 0, allow),
        (load, 0, 0, 16),
        (has_bit, 0, 1, 0x10000),  # a thread
        (give, 0, 0, allow),
        (give, 0, 0, refuse),
    ]
    steps = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in program))
    filter_ = struct.pack("H6xP", len(program), ctypes.addressof(steps))
    done: bool = system.prctl(_SECCOMP, 2, filter_, 0, 0) == 0
    return done


if __name__ == "__main__":
    # What the strategy prints must not mix with the answer.
    answer = os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    _limit(int(sys.argv[4]), int(sys.argv[5]))
    free = confine()
    found = main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    reply = json.dumps({**found, "free": free}).encode()
    while reply:
        reply = reply[os.write(answer, reply) :]
    # No exit handlers, no waiting for threads that were left behind.
    os._exit(0)
