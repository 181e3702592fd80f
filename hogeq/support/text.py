"""Text that nobody vouches for: decoded, and refused by the place at which it is wrong."""

import codecs
import csv
import json
import sys
from collections.abc import Iterator
from io import StringIO
from typing import Any, Final

from hogeq.support.kinds import require_unpacked
from hogeq.support.messages import BadInputError, shown

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

    `BadInputError` says in a line why bytes are no such text.
    """
    require_unpacked(data)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        other = ", it is UTF-16" if data.startswith(_UTF_16) else ""
        place = f"is not UTF-8 text at byte {error.start}{other}"
        raise BadInputError(f"{place}; allowed: UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def misplaced(text: str, place: int, what: str, allowed: str) -> str:
    """Say where a text is not `what` it should be, what stands there, and what is allowed there."""
    place = min(place, len(text))
    line = text.count("\n", 0, place) + 1
    column = place - text.rfind("\n", 0, place)
    ahead = text[place : place + _QUOTED].split("\n", maxsplit=1)[0].rstrip()
    after = "the end of the line" if text[place:].strip() else "the end of the file"
    got = shown(ahead) if ahead else after
    return f"line {line}, column {column}: {what}: got {got}; allowed: {allowed}"


def parse_json(data: bytes | str, *, allow_nan: bool = False) -> Any:
    """Read JSON, no key twice and no NaN in it; `BadInputError` says in a line why it is none."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        entries: dict[str, Any] = {}
        for key, value in pairs:
            if key in entries:
                raise BadInputError(f"key {shown(key)} stands twice; allowed: once")
            entries[key] = value
        return entries

    def constant(name: str) -> float:
        if allow_nan:
            return float(name)
        raise BadInputError(f"is not JSON: got {name}; allowed: finite numbers")

    text = data if isinstance(data, str) else text_of(data)
    try:
        return json.loads(text, object_pairs_hook=unique, parse_constant=constant)
    except BadInputError:
        raise
    except RecursionError as error:
        raise BadInputError("is not JSON: nested too deeply; allowed: fewer levels") from error
    except json.JSONDecodeError as error:
        known = (words for start, words in _OF_JSON.items() if error.msg.startswith(start))
        reason = misplaced(text, error.pos, "is not JSON", next(known, "JSON"))
        raise BadInputError(reason) from None
    except ValueError:
        most = sys.get_int_max_str_digits()
        reason = f"is not JSON: has a number of more than {most} digits; allowed: fewer"
        raise BadInputError(reason) from None


def csv_rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Give the rows of a CSV file, each with the number of its first line.

    `BadInputError` says in a line which one is not valid.
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
        raise BadInputError(f"line {number}: got {got}; allowed: {allowed}") from None
