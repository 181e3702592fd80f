"""Results of commands, printed here alone: as text, or as JSON."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import typer

from hogeq.support.messages import Table, lines_of


@dataclass(frozen=True)
class Result:
    """Result of a command.

    `data` is its JSON object, `text` the same for people. The exit status is not 0 after a bad
    result.
    """

    data: Mapping[str, Any]
    text: Sequence[str | Table] = ()
    status: int = 0


def show(result: Result, as_json: bool) -> None:
    """Print a result to standard output."""
    if as_json:
        typer.echo(json_text(result.data))
    else:
        say(*result.text)


def json_text(data: Mapping[str, Any], indent: int | None = None) -> str:
    """Write plain values, and paths as texts, as JSON."""
    return json.dumps(data, indent=indent, allow_nan=False, default=os.fspath)


def say(*text: str | Table) -> None:
    """Print lines and tables to standard output."""
    if text:
        typer.echo(encodable("\n".join(lines_of(text)), sys.stdout.encoding))


def encodable(text: str, encoding: str | None) -> str:
    """Escape the characters that an encoding lacks."""
    encoding = encoding or "ascii"
    return text.encode(encoding, "backslashreplace").decode(encoding)
