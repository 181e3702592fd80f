"""Texts for terminals: lines, and tables in columns."""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

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


def lines_of(text: Sequence[str | Table]) -> list[str]:
    """Lay out a text; names from others cannot break or forge a line."""
    lines: list[str] = []
    for block in text:
        lines += block.lines() if isinstance(block, Table) else [printable(block)]
    return lines
