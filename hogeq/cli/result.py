"""Results of commands, printed here alone: as text, or as JSON."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import typer

from hogeq.support.messages import printable


class Table(NamedTuple):
    """Rows in columns, the first `left` of them flush left and the others right."""

    rows: Sequence[Sequence[object]]
    header: Sequence[str] = ()
    left: int = 1

    def lines(self) -> list[str]:
        """Lay out the rows."""
        cells = [[printable(cell) for cell in row] for row in self.rows]
        if self.header:
            cells.insert(0, list(self.header))
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        return [
            "  ".join(
                cell.ljust(width) if column < self.left else cell.rjust(width)
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in cells
        ]


Text: TypeAlias = list[str | Table]  # lines, an empty one between blocks, and tables


@dataclass(frozen=True)
class Result:
    """Result of a command.

    `data` is its JSON object, `text` the same for people. The exit status is not 0 after a bad
    result.
    """

    data: Mapping[str, Any]
    text: Sequence[str | Table] = ()
    status: int = 0


def lines_of(text: Sequence[str | Table]) -> list[str]:
    """Lay out a text; names from others cannot break or forge a line."""
    lines: list[str] = []
    for block in text:
        lines += block.lines() if isinstance(block, Table) else [printable(block)]
    return lines


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
