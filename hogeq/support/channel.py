"""What the process of an entry writes, each line of a checked form.

The forms are those of :mod:`hogeq.support.child`. Whatever bytes come, what is heard is numbers,
short printable texts, or that the process was stopped, for a fault in our words.
"""

import json
import re
from collections.abc import Iterator
from typing import Final

from hogeq.support import child
from hogeq.support.messages import one_line

LONGEST: Final = 4096  # most bytes of a line
MOST_NOTES: Final = 200  # most lines after the answers

CRASH: Final = "crash", "ended without an answer (out of memory or time, or it crashed)"
FORM: Final = "code", "gave an answer of no form that answers have"


class _FormError(Exception):
    """A line of no form that answers have."""


Cell = tuple[int, int]  # of a question: of a strategy, own score and opponent's
_NUMBER: Final = re.compile(rb"0|-?[1-9][0-9]{0,8}")
_TIMES: Final = re.compile(rb"s([0-9]{1,12}) ([0-9]{1,12}) ([0-9]{1,12})")


class EntryOutput:
    """What the process of an entry wrote until it ended, or was killed for a fault (kind, line).

    ``data`` is its standard output, and ``questions`` the number of questions.
    """

    def __init__(self, data: bytes, questions: int, fault: tuple[str, str] | None = None) -> None:
        """Read the output line by line; what is of no known form is a fault."""
        self.is_ready = False  # it has started
        self.is_loaded = False  # the file has run, or raised an error
        self.load_failure = ""  # why there is no function to ask; empty if there is one
        self.name: str | None = None  # of its player
        self.answers: list[int | str] = []  # numbers, and other lines of child.answer
        # The rest is what the process says of itself, at the end.
        self.prints = False
        self.draws = False  # random numbers without a seed of its own
        self.may_draw = False
        self.files: list[str] = []  # of its folder that it opened
        self.attempts: list[str] = []  # to reach other things
        self.seconds: dict[str, float] = {}  # as `Submission.seconds`
        self.fault = fault
        lines = iter(data.split(b"\n")[:-1])
        try:
            self._read(lines, questions)
        except StopIteration:
            self.fault = self.fault or CRASH
        except _FormError:
            self.fault = FORM

    @property
    def is_stopped(self) -> bool:
        """Whether some questions have no answer, or the output has another fault."""
        return bool(self.load_failure or self.fault)

    def _read(self, lines: Iterator[bytes], questions: int) -> None:
        """Read all lines, in the order that `child` describes.

        `StopIteration` if they end early, and `_FormError` if one is of no known form.
        """
        if next(lines) != child.READY.encode():
            raise StopIteration
        self.is_ready = True
        line = next(lines)
        if line == child.NO_FUNCTION.encode():
            self.load_failure = "defines no function final_strategy(score, opponent_score)"
        elif line.startswith(child.ERROR.encode()):
            self.load_failure = f"raised {_printable_text(line[1:])}"
        elif line != child.NO_NAME.encode():
            self.name = _json_text(line)[: child.LINE]
        self.is_loaded = True
        if not self.load_failure:
            for _ in range(questions):
                self.answers.append(_read_answer(next(lines)))
        for _ in range(MOST_NOTES):
            line = next(lines)
            if line == child.END.encode() and next(lines, None) is None:
                return
            self._read_note(line)
        raise _FormError

    def _read_note(self, line: bytes) -> None:
        """Read one of the lines after the answers."""
        times = _TIMES.fullmatch(line)
        if line == child.PRINTS.encode():
            self.prints = True
        elif line == child.DRAWS.encode():
            self.draws = True
        elif line == child.MAY_DRAW.encode():
            self.may_draw = True
        elif line.startswith(child.FILE.encode()):
            self.files.append(_json_text(line[1:]))
        elif line.startswith(child.ATTEMPT.encode()):
            self.attempts.append(one_line(_json_text(line[1:])))
        elif times:
            load, table, slowest = (int(microseconds) / 1e6 for microseconds in times.groups())
            self.seconds = {"load": load, "table": table, "slowest": slowest}
        else:
            raise _FormError


def _read_answer(line: bytes) -> int | str:
    """Read an answer: a number; or a text that begins with the mark of an error or other value."""
    if _NUMBER.fullmatch(line):
        return int(line)
    mark = line[:1].decode(errors="replace")
    if mark in {child.OTHER_VALUE, child.ERROR}:
        return mark + _printable_text(line[1:])
    raise _FormError


def _printable_text(text: bytes) -> str:
    """Check that a text is short and of printable ASCII."""
    if len(text) >= LONGEST or not text.isascii() or not text.decode().isprintable():
        raise _FormError
    return one_line(text.decode())


def _json_text(line: bytes) -> str:
    """Read a line that is one text in JSON; `_FormError` if it is another."""
    if not line.startswith(b'"') or len(line) > LONGEST:
        raise _FormError
    try:
        text = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _FormError from error
    if not isinstance(text, str):
        raise _FormError
    return text
