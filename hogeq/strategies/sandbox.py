"""Strategies that are code of other people: run in a process of their own, with limits."""

import contextlib
import functools
import json
import logging
import math
import os
import selectors
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Final, NamedTuple, cast

from hogeq.strategies import child
from hogeq.support.messages import one_line, printable
from hogeq.support.progress import tell

_TRUSTED_MEMORY: Final = 4 * 2**30  # bytes of address space for a .py

_PATIENCE: Final = 5.0  # seconds of silence before a message

_log: Final = logging.getLogger("hogeq")

# Errors of reading JSON that is no answer.
_NO_ANSWER: Final = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)

_CHUNK: Final = 2**16  # bytes that are read at a time

_PAUSE: Final = 0.005  # seconds in which bytes gather before they are read

# Processes, messages between them, network and names of its own; files to read only.
_NAMESPACES: Final = (
    *("--unshare-all", "--cap-drop", "ALL", "--die-with-parent"),
    *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--"),
)


class Fault(NamedTuple):
    """One kind of fault of a submission."""

    kind: str  # "code", "time", "raises", "range", "impure", "name" or "shape"
    times: int
    line: str  # about the first of them


class Answers(NamedTuple):
    """Answers of a trusted file. Not checked: its process may have written anything."""

    table: list[list[int]] | None
    """Dice to roll, 0 where the answer is no roll; None if there is no function to ask."""
    faults: tuple[Fault, ...]
    player_name: str | None  # ``PLAYER_NAME``, or else ``TEAM_NAME``; None if that is no text
    seconds: dict[str, float]
    """``load``, ``table`` (every position once) and ``slowest`` (one call)."""
    files: tuple[str, ...]  # other files that it opened, outside of Python and the system
    answered: int  # positions that it answered, rightly or not
    asked: tuple[int, int] | None
    """Position it was asked for when it was stopped; None if it was not."""
    prints: bool = False  # whether it printed anything; the text is lost


class Isolation(NamedTuple):
    """Means by which this system isolates code of others."""

    bubblewrap: str | None
    """Path of the program that makes namespaces; None if it is missing or may not make them."""
    reason: str  # why there is none
    filters_calls: bool  # whether the kernel refuses all system calls but those of our list

    @property
    def text(self) -> str:
        """One line, as for `hogeq doctor`."""
        names = (
            f"namespaces by {self.bubblewrap}"
            if self.bubblewrap
            else f"no namespaces: {self.reason}"
        )
        if self.filters_calls:
            return f"system calls by a list of those allowed; {names}"
        return names if self.bubblewrap else NOT_ISOLATED


NOT_ISOLATED: Final = (
    "by a process and a time limit only: it can change files, open connections and act on other "
    "processes"
)


@functools.cache
def isolation() -> Isolation:
    """Try out how code of others can be isolated here."""
    path, reason = _tried_bubblewrap() if sys.platform == "linux" else (None, "none here")
    return Isolation(path, reason, child.can_confine())


def _tried_bubblewrap() -> tuple[str | None, str]:
    path = shutil.which("bwrap")
    if path is None:
        return None, "bwrap is not installed"
    command = [path, *_NAMESPACES, sys.executable, "-I", "-S", "-c", ""]
    try:
        tried = subprocess.run(command, capture_output=True, timeout=10, check=False)  # noqa: S603
    except (OSError, subprocess.SubprocessError) as error:
        return None, one_line(error)
    if tried.returncode != 0:
        return None, one_line(tried.stderr.decode(errors="replace")) or "bwrap failed"
    return path, ""


@functools.cache
def _warn_once() -> None:
    _log.warning("hogeq: this system isolates the code of a trusted .py %s", NOT_ISOLATED)


def examine(path: Path, goal: int, max_dice: int, time_limit: float, least: int = 0) -> Answers:
    """Run a trusted file in a process of its own, and ask its strategy for every position."""
    means = isolation()
    if not (means.bubblewrap or means.filters_calls):
        _warn_once()
    most = 2**17 + 16 * goal * goal  # bytes that an honest answer takes
    apart = (means.bubblewrap, *_NAMESPACES) if means.bubblewrap else ()
    limits = math.ceil(time_limit) + 1, _TRUSTED_MEMORY, int(means.filters_calls)
    options = goal, least, max_dice, *limits
    process = subprocess.Popen(  # noqa: S603 - the user trusts this file
        # -I: neither our environment nor the current folder; -B: no bytecode left behind.
        [
            *apart,
            *(sys.executable, "-I", "-B", child.__file__, str(path.absolute())),
            *map(str, options),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=path.absolute().parent,
        env={"PATH": os.defpath},
        start_new_session=True,
    )
    pipe = cast("IO[bytes]", process.stdout)
    try:
        answer, in_time = _read_until(pipe, printable(path), time_limit, most)
    finally:
        # Also what it started, if that is still there.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        pipe.close()
    if not in_time:
        return _stopped(answer, goal, "time", f"gave no answer within {time_limit:g} seconds")
    return parse_answer(answer, goal)


def parse_answer(answer: bytes, goal: int) -> Answers:
    """Read what the process of a file wrote."""
    try:
        reply = json.loads(answer)
        faults = tuple(
            Fault(one_line(one["kind"]), int(one["count"]), one_line(one["line"], 500))
            for one in reply["faults"]
        )
        table = reply.get("table")
        if table is None and not faults:
            raise ValueError
        name = reply.get("player_name")
        return Answers(
            table,
            faults,
            name if isinstance(name, str) else None,
            {str(key): float(value) for key, value in reply.get("seconds", {}).items()},
            tuple(map(str, reply.get("files", ()))),
            0 if table is None else goal * goal,
            None,
            reply.get("prints") is True,
        )
    except _NO_ANSWER:
        line = "ended without an answer (out of memory or time, or it crashed)"
        return _stopped(answer, goal, "code", line)


def _stopped(answer: bytes, goal: int, kind: str, line: str) -> Answers:
    """Answers of a strategy that was stopped: its progress, by the marks that its process left."""
    positions = goal * goal
    calls = answer.count(child.CALLED)
    if child.LOADED not in answer or calls >= 2 * positions:
        loading = "" if child.LOADED in answer else "; its code was still loading"
        return Answers(None, (Fault(kind, 1, f"{line}{loading}"),), None, {}, (), 0, None)
    again = calls >= positions
    index = child.order_again(positions)[calls - positions] if again else calls
    answered = min(calls, positions)
    asked = divmod(index, goal)
    call = f"final_strategy({asked[0]}, {asked[1]}){', asked again,' if again else ''}"
    line = f"{call} {line}; {answered:,} of {positions:,} positions were answered"
    return Answers(None, (Fault(kind, 1, line),), None, {}, (), answered, asked)


def _read_until(pipe: IO[bytes], name: str, seconds: float, most: int) -> tuple[bytes, bool]:
    """Read everything from a pipe up to `most` bytes, and whether it ended within some time."""
    parts: list[bytes] = []
    said_at, deadline = (time.monotonic() + wait for wait in (_PATIENCE, seconds))
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while most:
            until = min(said_at, deadline)
            if time.monotonic() >= deadline or not selector.select(until - time.monotonic()):
                if until == deadline:
                    return b"".join(parts), False
                tell(f"hogeq: waiting for {name}, at most {seconds:g} s")
                said_at = math.inf
                continue
            part = os.read(pipe.fileno(), min(most, _CHUNK))
            if not part:
                break
            parts.append(part)
            most -= len(part)
            time.sleep(_PAUSE)
    return b"".join(parts), True
