"""Messages of one line: where, what was given, what is allowed, and the nearest known name."""

import difflib
import reprlib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

MOST: Final = 200
"""Most characters of what a message quotes."""

_SHOWN: Final = reprlib.Repr()
_SHOWN.maxstring = _SHOWN.maxother = _SHOWN.maxlong = 60


def one_line(what: object, most: int = MOST) -> str:
    """Write a text or an error as one printable line of at most `most` characters."""
    text = " ".join(str(what).split())
    if not text and isinstance(what, BaseException):
        text = type(what).__name__
    return _short(text, most)


def shown(value: object) -> str:
    """Write a value as a message repeats it: as Python would in ASCII, but short."""
    text = " ".join(_SHOWN.repr(value).splitlines())
    return _short(text.encode("ascii", "backslashreplace").decode(), MOST)


def shown_path(path: Path) -> str:
    """Write a path as a message repeats it."""
    text = str(path)
    return text if text.isprintable() else ascii(text)


def nearest(given: object, known: Iterable[str], cutoff: float = 0.0) -> str:
    """Name the known word most like the one given, as the end of a message.

    Parameters
    ----------
    given : object
        What was written; only texts, and lists of them, are like others.
    known : iterable of str
    cutoff : float
        Least likeness, from 0 to 1.

    Returns
    -------
    str
        ``"; nearest: x"``, or nothing.
    """
    if not isinstance(given, str | list):
        return ""
    by_lower = {name.lower(): name for name in sorted(known)}
    found = difflib.get_close_matches(str(given).lower(), by_lower, n=1, cutoff=cutoff)
    return f"; nearest: {by_lower[found[0]]}" if found else ""


def refusal(path: str, given: object, allowed: str, choices: Iterable[str] = ()) -> str:
    """Say that a value is not allowed.

    Parameters
    ----------
    path : str
        Of its key; empty if there is none.
    given : object
    allowed : str
    choices : iterable of str
        Words among those allowed, of which the nearest is named.
    """
    where = f"{path}: " if path else ""
    return f"{where}got {shown(given)}; allowed: {allowed}{nearest(given, choices)}"


def unknown_key(path: str, key: object, given: object, known: Iterable[str]) -> str:
    """Say that a key is not known.

    Parameters
    ----------
    path : str
        Of the mapping that holds the key; empty at the top.
    key, given : object
        The key and its value.
    known : iterable of str
    """
    where = one_line(f"{path}.{key}" if path else key)
    names = sorted(known)
    return (
        f"{where}: unknown key, given {shown(given)}; allowed: {', '.join(names)}"
        f"{nearest(key, names)}"
    )


def missing(path: str, allowed: str) -> str:
    """Say that a key is not there."""
    return f"{path}: missing; allowed: {allowed}"


def _short(text: str, most: int) -> str:
    text = "".join(char if char.isprintable() else "?" for char in text)
    return text if len(text) <= most else text[: most - 3] + "..."
