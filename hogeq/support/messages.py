"""Messages of one line."""

import difflib
import reprlib
from collections.abc import Iterable
from typing import Final


def nearest(given: object, known: Iterable[str]) -> str | None:
    if not isinstance(given, str):
        return None
    by_lower = {name.lower(): name for name in sorted(known)}
    found = difflib.get_close_matches(given.lower(), by_lower, n=1, cutoff=0.0)
    return by_lower[found[0]] if found else None


_SHOW: Final = reprlib.Repr()
_SHOW.maxstring = _SHOW.maxother = _SHOW.maxlong = 60


def shown_value(value: object) -> str:
    return shortened(_SHOW.repr(value))


def shortened(text: str) -> str:
    """Keep a message to one line of reasonable length."""
    text = "".join(char if char.isprintable() else "?" for char in text)
    return text if len(text) <= 200 else text[:197] + "..."


def one_line(text: str) -> str:
    return " ".join(text.split())


def error_line(error: BaseException) -> str:
    return one_line(str(error)) or type(error).__name__
