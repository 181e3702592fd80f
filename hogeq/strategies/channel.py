"""The pipes to the process of an entry: questions out, answers in, each of a checked form.

The forms are those of :mod:`hogeq.strategies.child`. Whatever bytes come, what is heard is numbers,
short printable texts, or that the process was stopped, for a fault in our words.
"""

import contextlib
import json
import os
import re
import secrets
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from threading import Thread
from typing import IO, Final, cast

from hogeq.strategies import child
from hogeq.support.messages import one_line

_BATCH: Final = 1024 if os.name == "posix" else 256
"""Questions that are asked at a time: a pipe holds two batches."""

_CHUNK: Final = 2**16  # bytes that are read at a time

_WAIT: Final = 0.005  # seconds to wait for an answer between two looks at the process

LONGEST: Final = 4096  # bytes of a line

_MOST_NOTES: Final = 200  # lines after the answers


class StoppedError(Exception):
    """The process of an entry gave no answer, for a fault of this kind and in these words."""


CRASH: Final = "crash", "ended without an answer (out of memory or time, or it crashed)"
_FORM: Final = "code", "gave an answer of no form that answers have"
_EARLY: Final = "code", "gave more answers than it was asked for"


class Channel:
    """The pipes to the process of an entry: whole lines, each of a bounded length.

    A thread reads, since not every system can wait for a pipe and a time; a process that has left
    the others is not waited for. Before each batch of questions a random number is asked for, so
    that no answer comes before its question, and the pipe never holds more than two batches.
    """

    def __init__(self, process: subprocess.Popen[bytes], look: Callable[[], None]) -> None:
        self.questions = cast("IO[bytes]", process.stdin)
        self.look = look  # at the process, while it is waited for
        self.parts: SimpleQueue[bytes] = SimpleQueue()
        self.waiting: deque[bytes] = deque()
        self.rest = b""
        self.slowest = 0.0
        answers = os.dup(cast("IO[bytes]", process.stdout).fileno())
        Thread(target=self._read, args=(answers,), daemon=True).start()

    def _read(self, answers: int) -> None:
        with open(answers, "rb", buffering=0) as pipe:
            while part := pipe.read(_CHUNK):
                self.parts.put(part)
        self.parts.put(b"")

    def ask(self, questions: bytes) -> None:
        """Write questions, when there is nothing left of earlier answers."""
        number = b"%d" % secrets.randbelow(10**9)
        with contextlib.suppress(OSError):  # it has ended: that is seen when it is read
            self.questions.write(number + b"\n" + questions)
        if self.line() != number:
            raise StoppedError(*_EARLY)

    def line(self) -> bytes:
        """Read the next line, without its end."""
        asked = time.perf_counter()
        while not self.waiting:
            self.look()
            with contextlib.suppress(Empty):
                part = self.parts.get(timeout=_WAIT)
                if not part:
                    raise StoppedError(*CRASH)
                *lines, self.rest = (self.rest + part).split(b"\n")
                if any(len(line) > LONGEST for line in (self.rest, *lines)):
                    raise StoppedError(*_FORM)
                self.waiting.extend(lines)
        self.slowest = max(self.slowest, time.perf_counter() - asked)
        return self.waiting.popleft()

    def close(self) -> None:
        """Say that there are no more questions."""
        self.questions.close()


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and its children: a sandbox dies with the program that made it."""
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):  # not on Windows
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


Cell = tuple[int, int]
_NUMBER: Final = re.compile(rb"0|-?[1-9][0-9]{0,8}")


class Heard:
    """Answers of an entry's process: as many as there are when it is stopped."""

    def __init__(self) -> None:
        self.is_ready = self.is_loaded = self.prints = False
        self.failed = ""  # why there is no function to ask
        self.name: str | None = None
        self.answers: list[int | str] = []  # numbers, and lines of child.answer
        self.files: list[str] = []
        self.attempts: list[str] = []
        self.seconds: dict[str, float] = {}
        self.fault: tuple[str, str] | None = None  # kind and words

    @property
    def is_stopped(self) -> bool:
        """Whether there are no answers to all questions."""
        return bool(self.failed or self.fault)

    def listen(self, channel: Channel, cells: Sequence[Cell]) -> None:
        """Wait for the file to be loaded, ask for all cells, and hear how it went."""
        if channel.line() != b"ready":
            raise StoppedError(*CRASH)
        self.is_ready = True
        start = time.perf_counter()
        line = channel.line()
        if line == b"?":
            self.failed = "defines no function final_strategy(score, opponent_score)"
        elif line.startswith(b"!"):
            self.failed = f"raised {_text(line)}"
        elif line != b"-":
            self.name = _quoted(line)[: child.LINE]
        self.is_loaded = True
        self.seconds["load"] = time.perf_counter() - start
        if not self.failed:
            self._hear_answers(channel, cells)
        channel.close()
        for _ in range(_MOST_NOTES):
            line = channel.line()
            if line == b".":
                return
            self._hear_note(line)
        raise StoppedError(*_FORM)

    def _hear_answers(self, channel: Channel, cells: Sequence[Cell]) -> None:
        channel.slowest = 0.0
        start = time.perf_counter()
        for first in range(0, len(cells), _BATCH):
            batch = cells[first : first + _BATCH]
            channel.ask(b"".join(b"%d %d\n" % cell for cell in batch))
            for _ in batch:
                self.answers.append(_answer(channel.line()))
        self.seconds["table"] = time.perf_counter() - start
        self.seconds["slowest"] = channel.slowest
        channel.ask(b"")

    def _hear_note(self, line: bytes) -> None:
        if line == b"p":
            self.prints = True
        elif line.startswith(b"f"):
            self.files.append(_quoted(line[1:]))
        elif line.startswith(b"t"):
            self.attempts.append(one_line(_quoted(line[1:])))
        else:
            raise StoppedError(*_FORM)


def _answer(line: bytes) -> int | str:
    """Check the form of an answer: a number, or one of the other forms with its text."""
    if _NUMBER.fullmatch(line):
        return int(line)
    if line[:1] in {b"?", b"!"}:
        return line[:1].decode() + _text(line)
    raise StoppedError(*_FORM)


def _text(line: bytes) -> str:
    """Give the text of a line, as one may print it."""
    if not line.isascii() or not line.decode().isprintable():
        raise StoppedError(*_FORM)
    return one_line(line[1:].decode())


def _quoted(line: bytes) -> str:
    """Read a text in JSON."""
    try:
        text = json.loads(line) if line.startswith(b'"') else None
    except (ValueError, RecursionError):
        text = None
    if not isinstance(text, str):
        raise StoppedError(*_FORM)
    return text
