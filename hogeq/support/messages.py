"""Messages of one line: where, what was given, what is allowed, and the nearest known name."""

import difflib
import reprlib
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, Final, cast

MOST: Final = 200
"""Most characters of what a message quotes."""

LONGEST_TITLE: Final = 200
"""Most characters of what a game or an entrant is called."""

LIKE: Final = 0.6
"""Least likeness, from 0 to 1, of a word that a message suggests."""

LONGEST_WORD: Final = 100
"""Characters of a word that is compared with those known; no known one has as many."""


class BadInputError(ValueError):
    """What a user gave cannot be used; the message is one line. Commands end with it as it is."""


class _Shown(reprlib.Repr):
    """Writes values by walking a few of their parts: the time taken has a bound, too."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 3
        self.maxstring = self.maxother = 60

    def repr_int(self, x: int, level: int) -> str:  # noqa: ARG002 - reprlib's signature
        # Python writes thousands of digits slowly, and more than 4300 not at all.
        return f"<whole number of {x.bit_length()} bits>" if x.bit_length() > 200 else repr(x)

    def repr_bytes(self, x: bytes, level: int) -> str:
        return self.repr_str(cast("Any", x), level)  # cut before it is written

    def repr_instance(self, x: object, level: int) -> str:
        if isinstance(x, Collection):
            return f"<{type(x).__name__} of {len(x)}>"
        return super().repr_instance(x, level)


_SHOWN: Final = _Shown()


def printable(text: object) -> str:
    """Escape, visibly, all that could forge a line: controls, breaks, marks of direction, bytes."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in str(text))


def one_line(what: object, most: int = MOST) -> str:
    """Write a text or an error as one printable line of at most `most` characters."""
    try:
        text = " ".join(str(what).split())
    except Exception:  # noqa: BLE001 - somebody's class of errors may not even say what it is
        text = ""
    if not text and isinstance(what, BaseException):
        text = type(what).__name__
    return _short(text, most)


def shown(value: object) -> str:
    """Write a value as a message repeats it: as Python would in ASCII, but short."""
    text = " ".join(_SHOWN.repr(value).splitlines())
    return _short(text.encode("ascii", "backslashreplace").decode(), MOST)


def is_title(text: str) -> bool:
    """Whether a text can stand in a figure, a page and a line: printable, and of a title's size."""
    return text.isprintable() and not text.isspace() and 0 < len(text) <= LONGEST_TITLE


def shown_path(path: Path) -> str:
    """Write a path as a message repeats it."""
    return printable(path)


def unreadable(path: Path, error: Exception) -> str:
    """Say that a file cannot be read, and why."""
    reason = getattr(error, "strerror", None) or error
    return f"{shown_path(path)}: cannot be read: {one_line(reason)}"


def raised(error: Exception) -> str:
    """Say what somebody's code raised."""
    kind, text = type(error).__name__, one_line(error)
    return kind if text == kind else f"{kind}: {text}"


def nearest(given: object, known: Iterable[str]) -> str:
    """Name the known word most like the one given, as the end of a message, if one is like it."""
    if not isinstance(given, str | list):
        return ""
    by_lower = {name.lower(): name for name in sorted(known)}
    word = given[:LONGEST_WORD] if isinstance(given, str) else shown(given)
    matches = difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=LIKE)
    return f"; nearest: {by_lower[matches[0]]}" if matches else ""


def refusal(path: str, given: object, allowed: str, choices: Iterable[str] = ()) -> str:
    """Say that a value is not allowed."""
    where = f"{path}: " if path else ""
    return f"{where}got {shown(given)}; allowed: {allowed}{nearest(given, choices)}"


def unknown_key(path: str, key: object, given: object, known: Iterable[str]) -> str:
    """Say that a key is not known."""
    word = key if isinstance(key, str) else shown(key)
    where = one_line(f"{path}.{word}" if path else word)
    names = sorted(known)
    return (
        f"{where}: unknown key, given {shown(given)}; allowed: {', '.join(names)}"
        f"{nearest(key, names)}"
    )


def missing(path: str, allowed: str) -> str:
    """Say that a key is not there."""
    return f"{path}: missing; allowed: {allowed}"


def not_installed(what: str, purpose: str, package: str) -> str:
    """Say that an optional library is missing, and how to get it.

    The library is named, not hogeq's extra: pip finds that only if told where hogeq came from.
    """
    return f"{what}: not installed, and needed for {purpose}; pip install {package} brings it"


def _short(text: str, most: int) -> str:
    line = printable(text[: most + 1])
    return line if len(line) <= most else line[: most - 3] + "..."
