"""Strategies that are somebody's code: run in a process of their own, with limits."""

import contextlib
import functools
import json
import logging
import math
import os
import selectors
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, cast

from hogeq.strategies import child
from hogeq.strategies.arrays import StrategyError
from hogeq.support.messages import one_line, shown_path
from hogeq.support.progress import tell

_TRUSTED_MEMORY: Final = 4 * 2**30  # bytes of address space for a .py

_PATIENCE: Final = 5.0  # seconds of silence before what is waited for is said

_log: Final = logging.getLogger("hogeq")

# What comes of reading JSON that is no answer.
_NO_ANSWER: Final = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)

_CHUNK: Final = 2**16  # bytes that are read at a time


class Fault(NamedTuple):
    """One kind of thing that is wrong with a submission."""

    kind: str
    """"code", "raises", "range", "impure", "name" or "shape"."""
    times: int
    """How often it was found."""
    told: tuple[str, ...]
    """A line about each of the first of them."""


class Answers(NamedTuple):
    """What a trusted file answered. Not checked: its process may have written anything."""

    table: list[list[int]] | None
    """Dice to roll, 0 where the answer is no roll; None if there is no function to ask."""
    faults: tuple[Fault, ...]
    """In the order in which they were found."""
    player_name: str | None
    """What it calls its player; None if it is no text."""
    seconds: dict[str, float]
    """``load``, ``table`` (every cell once) and ``slowest`` (one call); empty without a table."""


def ask(path: Path, goal: int, max_dice: int, time_limit: float) -> list[list[int]]:
    """Run a trusted file in a process of its own, and ask its strategy for every cell.

    Parameters
    ----------
    path : Path
        A Python file that defines ``final_strategy(score, opponent_score)``.
    goal, max_dice : int
        Scores asked for are below `goal`; dice from 0 to `max_dice` are allowed.
    time_limit : float
        Seconds.

    Returns
    -------
    list of list of int
        What it answered, not checked: the process may have written anything.

    Raises
    ------
    StrategyError
        It did not answer in time, crashed, or said what is wrong.
    """
    found = examine(path, goal, max_dice, time_limit)
    if found.faults:
        raise StrategyError(f"{shown_path(path)}: {found.faults[0].told[0]}")
    return found.table or []


def examine(path: Path, goal: int, max_dice: int, time_limit: float) -> Answers:
    """Run a trusted file as `ask` does, and tell all that is wrong with it.

    Raises
    ------
    StrategyError
        It did not answer in time, or crashed.
    """
    name = shown_path(path)
    most = 2**17 + 8 * goal * goal  # bytes that an honest answer takes
    # -I: neither our environment nor the current folder; -B: no bytecode left behind.
    command = [sys.executable, "-I", "-B", child.__file__, str(path.absolute())]
    sizes = (goal, max_dice, math.ceil(time_limit) + 1, _TRUSTED_MEMORY)
    process = subprocess.Popen(  # noqa: S603 - the user trusts this file
        [*command, *map(str, sizes)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=path.absolute().parent,
        env={"PATH": os.defpath},
        start_new_session=True,
    )
    pipe = cast("IO[bytes]", process.stdout)
    try:
        answer = _read_until(pipe, name, time_limit, most)
    finally:
        # Also what it started, if that is still there.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        pipe.close()
    if answer is None:
        raise StrategyError(f"{name}: gave no answer within {time_limit:g} seconds")
    return parse_answer(answer, name)


def parse_answer(answer: bytes, name: str) -> Answers:
    """Read what the process of the file `name` wrote.

    Raises
    ------
    StrategyError
        It is no answer.
    """
    try:
        reply = json.loads(answer)
        if reply.get("free"):
            _say_once(tuple(map(str, reply["free"])))
        return _answers(reply)
    except _NO_ANSWER as error:
        raise StrategyError(
            f"{name}: ended without an answer (out of memory or time, or it crashed)"
        ) from error


@functools.cache
def _say_once(free: tuple[str, ...]) -> None:
    may = one_line(", ".join(free))
    _log.warning("hogeq: this system does not keep the code of a trusted .py from this: %s", may)


def _answers(reply: Any) -> Answers:
    faults = tuple(
        Fault(one_line(one["kind"]), int(one["count"]), tuple(map(_told, one["told"])))
        for one in reply["faults"]
    )
    if any(not one.told for one in faults) or ("table" not in reply and not faults):
        raise ValueError
    name = reply.get("player_name")
    seconds = {str(key): float(value) for key, value in reply.get("seconds", {}).items()}
    return Answers(reply.get("table"), faults, name if isinstance(name, str) else None, seconds)


def _told(line: object) -> str:
    return one_line(line, 500)


def _read_until(pipe: IO[bytes], name: str, seconds: float, most: int) -> bytes | None:
    """Read everything from a pipe up to `most` bytes; None if it is still open after some time."""
    parts: list[bytes] = []
    said_at, deadline = (time.monotonic() + wait for wait in (_PATIENCE, seconds))
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while most:
            until = min(said_at, deadline)
            if not selector.select(max(0.0, until - time.monotonic())):
                if until == deadline:
                    return None
                tell(f"hogeq: waiting for {name}, at most {seconds:g} s")
                said_at = math.inf
                continue
            part = os.read(pipe.fileno(), min(most, _CHUNK))
            if not part:
                break
            parts.append(part)
            most -= len(part)
    return b"".join(parts)
