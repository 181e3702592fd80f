"""What the process of an entry writes, each line of a checked form.

The forms are those of :mod:`hogeq.strategies.child`. Whatever bytes come, what is heard is numbers,
short printable texts, or that the process was stopped, for a fault in our words.
"""

import json
import re
from collections.abc import Iterator
from typing import Final

from hogeq.strategies import child
from hogeq.support.messages import one_line

LONGEST: Final = 4096  # bytes of a line

MOST_NOTES: Final = 200  # lines after the answers

CRASH: Final = "crash", "ended without an answer (out of memory or time, or it crashed)"
FORM: Final = "code", "gave an answer of no form that answers have"


class _FormError(Exception):
    """A line of no form that answers have."""


Cell = tuple[int, int]
_NUMBER: Final = re.compile(rb"0|-?[1-9][0-9]{0,8}")
_TIMES: Final = re.compile(rb"s([0-9]{1,12}) ([0-9]{1,12}) ([0-9]{1,12})")


class Heard:
    """Answers of an entry's process to so many questions: all that there are when it is stopped."""

    def __init__(self, data: bytes, questions: int, fault: tuple[str, str] | None = None) -> None:
        self.is_ready = self.is_loaded = self.prints = False
        self.draws = self.may_draw = False  # random numbers without a seed of its own
        self.failed = ""  # why there is no function to ask
        self.name: str | None = None
        self.answers: list[int | str] = []  # numbers, and lines of child.answer
        self.files: list[str] = []
        self.attempts: list[str] = []
        self.seconds: dict[str, float] = {}
        self.fault = fault  # kind and words
        lines = iter(data.split(b"\n")[:-1])
        try:
            self._read(lines, questions)
        except StopIteration:
            self.fault = self.fault or CRASH
        except _FormError:
            self.fault = FORM

    @property
    def is_stopped(self) -> bool:
        """Whether there are no answers to all questions."""
        return bool(self.failed or self.fault)

    def _read(self, lines: Iterator[bytes], questions: int) -> None:
        if next(lines) != b"ready":
            raise StopIteration
        self.is_ready = True
        line = next(lines)
        if line == b"?":
            self.failed = "defines no function final_strategy(score, opponent_score)"
        elif line.startswith(b"!"):
            self.failed = f"raised {_text(line)}"
        elif line != b"-":
            self.name = _quoted(line)[: child.LINE]
        self.is_loaded = True
        for _ in range(0 if self.failed else questions):
            self.answers.append(_answer(next(lines)))
        for _ in range(MOST_NOTES):
            line = next(lines)
            if line == b"." and next(lines, None) is None:
                return
            self._read_note(line)
        raise _FormError

    def _read_note(self, line: bytes) -> None:
        times = _TIMES.fullmatch(line)
        if line == b"p":
            self.prints = True
        elif line == b"r":
            self.draws = True
        elif line == b"n":
            self.may_draw = True
        elif line.startswith(b"f"):
            self.files.append(_quoted(line[1:]))
        elif line.startswith(b"t"):
            self.attempts.append(one_line(_quoted(line[1:])))
        elif times:
            keys = ("load", "table", "slowest")
            self.seconds = {
                key: int(time) / 1e6 for key, time in zip(keys, times.groups(), strict=True)
            }
        else:
            raise _FormError


def _answer(line: bytes) -> int | str:
    """Check the form of an answer: a number, or one of the other forms with its text."""
    if _NUMBER.fullmatch(line):
        return int(line)
    if line[:1] in {b"?", b"!"}:
        return line[:1].decode() + _text(line)
    raise _FormError


def _text(line: bytes) -> str:
    """Give the text of a line, as one may print it."""
    if len(line) > LONGEST or not line.isascii() or not line.decode().isprintable():
        raise _FormError
    return one_line(line[1:].decode())


def _quoted(line: bytes) -> str:
    """Read a text in JSON."""
    try:
        text = json.loads(line) if line.startswith(b'"') and len(line) <= LONGEST else None
    except (ValueError, RecursionError):
        text = None
    if not isinstance(text, str):
        raise _FormError
    return text
