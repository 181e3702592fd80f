"""Tables in the place of parts: points of no dice, swaps, extra turns and landings.

A table is kept as its own text, ``"[3,1,4]"`` say: so rules stay hashable, and a config or another
process that has the rules has the table.

==========  ==========================================  ===========================================
field       the table is indexed by                     beyond its end
==========  ==========================================  ===========================================
zero_dice   opponent's score, or score and opponent's   never asked: both are below the goal
landing     new score, or new score and opponent's      the score stays
swap        new score and opponent's                    no swap
more_boar   new score and opponent's                    no extra turn
==========  ==========================================  ===========================================

Every table covers all scores below the goal, and may be larger. New scores are those with points
and bonus, and may exceed the goal.
"""

import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache, wraps
from typing import Any, Final, NamedTuple

from pydantic import BeforeValidator

from hogeq.rules.settings import explain, in_order, is_setting, meaning, set_part, setting_text
from hogeq.support.messages import HogeqError, refusal, shown
from hogeq.support.parameters import NotAllowedError

MOST_POINTS: Final = 2000  # most points that rolling no dice may score: those of the longest game

HIGHEST: Final = 10_000  # highest score on which a table may land

MOST_CELLS: Final = 250_000  # most cells of a table: those of a game to 500


IN_ORDER: Final = "+"  # between the names of landings of which the second sees what the first made


class Shape(NamedTuple):
    """Shape and entries of the tables of a field."""

    axes: tuple[str, str]  # names of the rows and the columns of a table of two dimensions
    flat: str  # name of the index of a table of one dimension; empty if there are none
    most: int  # its entries are whole numbers from 0 to this


SHAPES: Final[dict[str, Shape]] = {
    "zero_dice": Shape(("score", "opponent's score"), "opponent's score", MOST_POINTS),
    "landing": Shape(("new score", "opponent's score"), "new score", HIGHEST),
    "swap": Shape(("new score", "opponent's score"), "", 1),
    "more_boar": Shape(("new score", "opponent's score"), "", 1),
}
"""By the fields of `hogeq.Rules` that may hold tables."""


class Parts(dict[str, Callable[..., Any]]):
    """Parts of one kind by name; tables, numbers and parts with parameters are so by their text."""

    def __init__(self, field: str, parts: Mapping[str, tuple[str, Callable[..., Any]]]) -> None:
        super().__init__({name: part for name, (_, part) in parts.items()})
        self.field = field
        self._set: dict[str, Callable[..., Any]] = {}  # parts with parameters, by their text
        for name, (template, part) in parts.items():
            part.__name__ = name
            explain(part, template)

    def __setitem__(self, name: str, part: Callable[..., Any]) -> None:
        """Enter a part; what was made of one of that name is made anew."""
        self._set.clear()
        super().__setitem__(name, part)

    def __missing__(self, text: str) -> Callable[..., Any]:
        """Make the function of a table, a number, parameters, or landings that act in order."""
        if is_table(text):
            return _part(self.field, text)
        if is_setting(text):
            if text not in self._set:
                self._set[text] = self._within(set_part(self, text))
            return self._set[text]
        if self.field == "zero_dice" and text.isdecimal():
            return _number(int(text))
        if self.field != "landing" or IN_ORDER not in text:
            raise KeyError(text)
        steps = [self[name] for name in text.split(IN_ORDER)]

        def part(score: int, opponent: int) -> int:
            for step in steps:
                score = step(score, opponent)
            return score

        part.__name__ = text
        part.__doc__ = in_order([meaning(step, {}) for step in steps])
        return part

    def _within(self, part: Callable[..., Any]) -> Callable[..., Any]:
        """Refuse what a part with parameters gives and no part of this kind may."""
        most, is_landing = SHAPES[self.field].most, self.field == "landing"

        @wraps(part)
        def checked(score: int, opponent: int) -> Any:
            found, least = part(score, opponent), score if is_landing else 0
            if not least <= found <= most:
                where = f"{self.field}: {part.__name__} at score, opponent = {score}, {opponent}"
                raise HogeqError(refusal(where, found, f"whole numbers from {least} to {most}"))
            return found

        return checked


def is_table(value: object) -> bool:
    """Whether the value of a field is a table: a list, or the text of one."""
    return isinstance(value, list | tuple) or (isinstance(value, str) and value.startswith("["))


def part_or_table(parts: Parts) -> BeforeValidator:
    """Allow the names that are known when a value is given, and tables."""
    shape = SHAPES[parts.field]
    kinds = "a list of numbers, or of lists" if shape.flat else "a list of lists"

    def check(value: object) -> object:
        if is_table(value):
            return table_text(parts.field, value)
        if is_setting(value):
            return setting_text(parts, value, parts.field == "landing")
        if parts.field == "zero_dice" and _is_number(value):
            return str(int(str(value)))
        names = [value] if parts.field != "landing" else str(value).split(IN_ORDER)
        if not isinstance(value, str) or not all(name in parts for name in names):
            more = f"a number from 0 to {MOST_POINTS}, " * (parts.field == "zero_dice")
            raise NotAllowedError(
                f"{', '.join(parts)}, {more}a part with parameters as a mapping, or a table: "
                f"{kinds}, or a .csv file",
                parts,
            )
        return value

    return BeforeValidator(check)


def _is_number(value: object) -> bool:
    is_one = type(value) is int or (isinstance(value, str) and re.fullmatch("[0-9]{1,9}", value))
    return bool(is_one) and 0 <= int(str(value)) <= MOST_POINTS


def _number(points: int) -> Callable[..., int]:
    def part(score: int, opponent: int) -> int:
        del score, opponent
        return points

    part.__name__ = str(points)
    part.__doc__ = f"{points} point{'' if points == 1 else 's'}, at any scores."
    return part


def _parsed(text: str) -> Any:
    if not re.fullmatch(r"[\[\]0-9,\s]{2,2000000}", text):
        raise NotAllowedError("the text of a table: digits, commas and brackets")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise NotAllowedError("the text of a table, its brackets in pairs") from None


def table_text(field: str, given: Any) -> str:
    """Check a table, and write it as the text by which rules hold it."""
    shape, rows = SHAPES[field], list(_parsed(given) if isinstance(given, str) else given)
    flat = not rows or not isinstance(rows[0], list | tuple)
    if flat and not shape.flat:
        raise NotAllowedError(f"a list of lists, by {' and '.join(shape.axes)}")
    rows = [rows] if flat else rows
    if not rows[0]:
        raise NotAllowedError("a table of at least one cell")
    if len(rows) * len(rows[0]) > MOST_CELLS:
        raise NotAllowedError(f"a table of at most {MOST_CELLS:,} cells")
    for score, row in enumerate(rows):
        where = f"{shape.axes[0]} {score}"
        if not isinstance(row, list | tuple) or len(row) != len(rows[0]):
            size = len(row) if isinstance(row, list | tuple) else "no"
            raise NotAllowedError(
                f"rows of the same length; the first has {len(rows[0])} cells, that of {where} "
                f"has {size}"
            )
        where = shape.flat if flat else f"{where}, {shape.axes[1]}"
        for index, cell in enumerate(row):
            least = 0 if field != "landing" else index if flat else score
            is_number = type(cell) is int or (type(cell) is bool and shape.most == 1)
            if not is_number or not least <= cell <= shape.most:
                why = f", no landing lowers a score: at least {least}" if least else ""
                raise NotAllowedError(
                    f"whole numbers from 0 to {shape.most}{why}; {shown(cell)} stands at "
                    f"{where} {index}"
                )
    cells = [list(map(int, row)) for row in rows]
    return json.dumps(cells[0] if flat else cells, separators=(",", ":"))


def _rows(text: str) -> tuple[list[list[int]], bool]:
    """Read a table; a table of one dimension is one row, and then True comes with it."""
    table = json.loads(text)
    flat = not isinstance(table[0], list)
    return [table] if flat else table, flat


def check_size(field: str, text: str, goal: int) -> None:
    """Refuse a table that does not cover all scores below the goal."""
    (rows, flat), shape = _rows(text), SHAPES[field]
    sizes = [(shape.flat, len(rows[0]))]
    if not flat:
        sizes = list(zip(shape.axes, (len(rows), len(rows[0])), strict=True))
    for what, size in sizes:
        if size < goal:
            allowed = (
                f"a table that covers every {what} from 0 to {goal - 1}; it ends at {size - 1}"
            )
            raise HogeqError(refusal(field, json.loads(text), allowed))


@lru_cache(maxsize=64)
def _part(field: str, text: str) -> Callable[[int, int], Any]:
    (rows, flat), shape = _rows(text), SHAPES[field]
    flat_index = 1 if field == "zero_dice" else 0

    def part(score: int, opponent: int) -> int:
        row, column = (0, (score, opponent)[flat_index]) if flat else (score, opponent)
        if row >= len(rows) or column >= len(rows[0]):
            return score if field == "landing" else 0
        return rows[row][column] if shape.most > 1 else bool(rows[row][column])

    size = f"{len(rows)} x {len(rows[0])}"
    content = f"{size}, by {' and '.join(shape.axes)}"
    if flat:
        first = ", ".join(map(str, rows[0][:6])) + (", ..." if len(rows[0]) > 6 else "")
        content = f"{first} at {shape.flat} 0, 1, ..."
    part.__name__ = "table"
    part.__doc__ = f"{'becomes what' if field == 'landing' else 'What'} a table says: {content}."
    if shape.most == 1:
        pairs = sum(map(sum, rows))
        part.__doc__ = f"A table of {size} says so, for {pairs} pairs of scores."
    return part
