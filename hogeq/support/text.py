"""Text that nobody vouches for: decoded, and refused by the place at which it is wrong."""

import codecs
import csv
import json
import sys
from collections.abc import Iterator
from io import StringIO
from typing import Any, Final

from hogeq.support.kinds import require_unpacked
from hogeq.support.messages import HogeqError, shown

_QUOTED: Final = 30  # most characters of what a message quotes

_UTF_16: Final = codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE

_VALUE: Final = "a value: a number, true, false, null, a text in double quotes, [...] or {...}"
_OF_JSON: Final = {
    "Expecting value": _VALUE,
    "Expecting property name": "a key in double quotes",
    "Expecting ':'": "a colon after a key",
    "Expecting ','": "a comma before the next one, or the bracket at the end",
    "Illegal trailing comma": "no comma after the last one",
    "Extra data": "one value, and nothing after it",
    "Unterminated string": "a text that ends with a double quote, on its line",
    "Invalid control character": "line breaks and tabs in a text as \\n and \\t",
    "Invalid \\": 'after a backslash in a text one of "\\/bfnrt, or u and four digits',
}
"""What is allowed, by how the message of Python's parser begins."""


def text_of(data: bytes) -> str:
    r"""Decode UTF-8, with its mark at the start or without; lines end with ``\n``.

    `HogeqError` says in a line why bytes are no such text.
    """
    require_unpacked(data)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        other = ", it is UTF-16" if data.startswith(_UTF_16) else ""
        place = f"is not UTF-8 text at byte {error.start}{other}"
        raise HogeqError(f"{place}; allowed: UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def misplaced(text: str, place: int, what: str, allowed: str) -> str:
    """Write where a text is faulty, what stands there and what is allowed.

    `place` is the index of the faulty character, and `what` the fault: "is not JSON".
    """
    place = min(place, len(text))
    line = text.count("\n", 0, place) + 1
    column = place - text.rfind("\n", 0, place)
    rest_of_line = text[place : place + _QUOTED].split("\n", maxsplit=1)[0].rstrip()
    end = "the end of the line" if text[place:].strip() else "the end of the file"
    got = shown(rest_of_line) if rest_of_line else end
    return f"line {line}, column {column}: {what}: got {got}; allowed: {allowed}"


def parse_json(data: bytes | str, *, allow_nan: bool = False) -> Any:
    """Parse JSON; `HogeqError` says in a line why it is none, or has a key twice, or NaN.

    NaN and infinities are allowed with `allow_nan`.
    """
    text = data if isinstance(data, str) else text_of(data)
    try:
        constant = float if allow_nan else _refuse_constant
        return json.loads(text, object_pairs_hook=_make_object, parse_constant=constant)
    except HogeqError:
        raise
    except RecursionError as error:
        raise HogeqError("is not JSON: nested too deeply; allowed: fewer levels") from error
    except json.JSONDecodeError as error:
        matching = (allowed for start, allowed in _OF_JSON.items() if error.msg.startswith(start))
        reason = misplaced(text, error.pos, "is not JSON", next(matching, "JSON"))
        raise HogeqError(reason) from None
    except ValueError:  # Python's limit against slow conversions
        most_digits = sys.get_int_max_str_digits()
        reason = f"is not JSON: has a number of more than {most_digits} digits; allowed: fewer"
        raise HogeqError(reason) from None


def _make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make the dict of an object of JSON; a key that stands twice is refused."""
    entries: dict[str, Any] = {}
    for key, value in pairs:
        if key in entries:
            raise HogeqError(f"key {shown(key)} stands twice; allowed: once")
        entries[key] = value
    return entries


def _refuse_constant(name: str) -> float:
    """Refuse NaN or an infinity, which Python's parser of JSON allows."""
    raise HogeqError(f"is not JSON: got {name}; allowed: finite numbers")


def csv_rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a CSV text, each with the number of its first line.

    `HogeqError` says in a line which row is not valid.
    """
    rows = csv.reader(StringIO(text, newline=""), strict=True)
    number = 1
    try:
        for row in rows:
            yield number, row
            number = rows.line_num + 1
    except csv.Error:
        got = shown(text.split("\n")[number - 1][:_QUOTED])
        allowed = "cells with commas between, at most 131072 characters each, quotes in pairs"
        raise HogeqError(f"line {number}: got {got}; allowed: {allowed}") from None
