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

from hogeq.rules.settings import act_in_order, explain, is_setting, meaning, set_part, setting_text
from hogeq.support.messages import HogeqError, refusal, shown
from hogeq.support.parameters import NotAllowedError

MOST_POINTS: Final = 2000  # most points that rolling no dice may score: those of the longest game

HIGHEST_LANDING: Final = 10_000  # highest score on which a table may land

MOST_CELLS: Final = 250_000  # most cells of a table: those of a game to 500


IN_ORDER: Final = "+"  # between the names of landings of which the second sees what the first made


class Shape(NamedTuple):
    """Shape and entries of the tables of a field."""

    axes: tuple[str, str]  # names of the rows and the columns of a table of two dimensions
    flat: str  # name of the index of a table of one dimension; empty if there are none
    most: int  # its entries are whole numbers from 0 to this


SHAPES: Final[dict[str, Shape]] = {
    "zero_dice": Shape(("score", "opponent's score"), "opponent's score", MOST_POINTS),
    "landing": Shape(("new score", "opponent's score"), "new score", HIGHEST_LANDING),
    "swap": Shape(("new score", "opponent's score"), "", 1),
    "more_boar": Shape(("new score", "opponent's score"), "", 1),
}
"""By the fields of `hogeq.Rules` that may hold tables."""


class Parts(dict[str, Callable[..., Any]]):
    """Parts of one kind, a function by name or text.

    A name was entered. The text of a table, of a number or of a part with parameters is no key: its
    function is made when it is looked up.
    """

    def __init__(self, field: str, parts: Mapping[str, tuple[str, Callable[..., Any]]]) -> None:
        """Enter the parts of a field of `Rules`, each with the text that people are shown."""
        super().__init__({name: part for name, (_, part) in parts.items()})
        self.field = field
        self._with_parameters: dict[str, Callable[..., Any]] = {}  # by the text of a setting
        for name, (template, part) in parts.items():
            part.__name__ = name
            explain(part, template)

    def __setitem__(self, name: str, part: Callable[..., Any]) -> None:
        """Enter a part; functions that were made from a part of that name are made anew."""
        self._with_parameters.clear()
        super().__setitem__(name, part)

    def __missing__(self, text: str) -> Callable[..., Any]:
        """Make the function of a table, a number, parameters, or landings that act in order.

        `dict` calls this for a key that it does not have. The function is not entered: so the keys
        stay the names of parts.
        """
        if is_table(text):
            return _table_function(self.field, text)
        if is_setting(text):
            if text not in self._with_parameters:
                self._with_parameters[text] = self._within_range(set_part(self, text))
            return self._with_parameters[text]
        if self.field == "zero_dice" and text.isdecimal():
            return _constant_function(int(text))
        if self.field != "landing" or IN_ORDER not in text:
            raise KeyError(text)
        steps = [self[name] for name in text.split(IN_ORDER)]
        return act_in_order(steps, text, [meaning(step, {}) for step in steps])

    def _within_range(self, part: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a part so that a result which is out of range for its kind raises `HogeqError`."""
        most = SHAPES[self.field].most

        @wraps(part)
        def checked(score: int, opponent: int) -> Any:
            """Call the wrapped rule part at two scores, and refuse a result out of range."""
            result = part(score, opponent)
            least = score if self.field == "landing" else 0  # no landing lowers a score
            if not least <= result <= most:
                where = f"{self.field}: {part.__name__} at score, opponent = {score}, {opponent}"
                raise HogeqError(refusal(where, result, f"whole numbers from {least} to {most}"))
            return result

        return checked


def is_table(value: object) -> bool:
    """Whether the value of a field is a table: a list, or the text of one."""
    return isinstance(value, list | tuple) or (isinstance(value, str) and value.startswith("["))


def part_or_table(parts: Parts) -> BeforeValidator:
    """Make the validator of a field of `Rules` whose value names a part, or is a table.

    The validator returns the value as rules hold it, a text, or raises `NotAllowedError`. Names are
    looked up when it runs: plugins may have entered parts since.
    """
    shape = SHAPES[parts.field]
    table_forms = "a list of numbers, or of lists" if shape.flat else "a list of lists"

    def check(value: object) -> object:
        """Return the value of the field as a text; `NotAllowedError` if it names no part."""
        if is_table(value):
            return table_text(parts.field, value)
        if is_setting(value):
            return setting_text(parts, value, parts.field == "landing")
        if parts.field == "zero_dice" and _is_number(value):
            return str(int(str(value)))
        names = [value] if parts.field != "landing" else str(value).split(IN_ORDER)
        if not isinstance(value, str) or not all(name in parts for name in names):
            number = f"a number from 0 to {MOST_POINTS}, " if parts.field == "zero_dice" else ""
            raise NotAllowedError(
                f"{', '.join(parts)}, {number}a part with parameters as a mapping, or a table: "
                f"{table_forms}, or a .csv file",
                parts,
            )
        return value

    return BeforeValidator(check)


def _is_number(value: object) -> bool:
    """Whether a value is a number of points, or the text of one, as `zero_dice` takes it."""
    is_text = isinstance(value, str) and re.fullmatch("[0-9]{1,9}", value) is not None
    is_whole = type(value) is int or is_text
    return is_whole and 0 <= int(str(value)) <= MOST_POINTS


def _constant_function(points: int) -> Callable[..., int]:
    """Make a part that gives the same points at any scores."""

    def part(score: int, opponent: int) -> int:
        del score, opponent
        return points

    part.__name__ = str(points)
    part.__doc__ = f"{points} point{'' if points == 1 else 's'}, at any scores."
    return part


def _parse_table(text: str) -> Any:
    """Parse the text of a table, nested lists of whole numbers as JSON."""
    if not re.fullmatch(r"[\[\]0-9,\s]{2,2000000}", text):
        raise NotAllowedError("the text of a table: digits, commas and brackets")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise NotAllowedError("the text of a table, its brackets in pairs") from None


def table_text(field: str, given: Any) -> str:
    """Check a table of a field of `Rules`, and write it as the text by which rules hold it.

    `given` is a list of numbers, a list of lists, or the text of one.
    """
    shape = SHAPES[field]
    rows = list(_parse_table(given) if isinstance(given, str) else given)
    is_flat = not rows or not isinstance(rows[0], list | tuple)
    if is_flat and not shape.flat:
        raise NotAllowedError(f"a list of lists, by {' and '.join(shape.axes)}")
    rows = [rows] if is_flat else rows
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
        where = shape.flat if is_flat else f"{where}, {shape.axes[1]}"
        for index, cell in enumerate(row):
            least = 0
            if field == "landing":  # no landing lowers the mover's new score
                least = index if is_flat else score
            _check_cell(cell, least, shape.most, f"{where} {index}")
    cells = [list(map(int, row)) for row in rows]
    return json.dumps(cells[0] if is_flat else cells, separators=(",", ":"))


def _check_cell(cell: Any, least: int, most: int, where: str) -> None:
    """Refuse a cell of a table that is no number from `least` to `most`; `where` names it.

    Where `most` is 1, it may be True or False.
    """
    is_number = type(cell) is int or (type(cell) is bool and most == 1)
    if not is_number or not least <= cell <= most:
        why = f", no landing lowers a score: at least {least}" if least else ""
        raise NotAllowedError(
            f"whole numbers from 0 to {most}{why}; {shown(cell)} stands at {where}"
        )


def _read_rows(text: str) -> tuple[list[list[int]], bool]:
    """Read the text of a table that was checked.

    Returns its rows, and whether it is flat: a table of one dimension is one row.
    """
    table = json.loads(text)
    is_flat = not isinstance(table[0], list)
    return [table] if is_flat else table, is_flat


def check_size(field: str, text: str, goal: int) -> None:
    """Refuse a table that does not cover all scores below the goal."""
    rows, is_flat = _read_rows(text)
    shape = SHAPES[field]
    if is_flat:
        sizes = [(shape.flat, len(rows[0]))]
    else:
        sizes = [(shape.axes[0], len(rows)), (shape.axes[1], len(rows[0]))]
    for index_name, size in sizes:
        if size < goal:
            scores = f"every {index_name} from 0 to {goal - 1}"
            allowed = f"a table that covers {scores}; it ends at {size - 1}"
            raise HogeqError(refusal(field, json.loads(text), allowed))


@lru_cache(maxsize=64)
def _table_function(field: str, text: str) -> Callable[[int, int], Any]:
    """Make the part that looks up a table of a field of `Rules`, from the table's text.

    Beyond its end a table of landings gives the score itself, others 0 or False.
    """
    rows, is_flat = _read_rows(text)
    shape = SHAPES[field]
    is_flag = shape.most == 1  # entries 0 and 1 mean False and True

    def part(score: int, opponent: int) -> int:
        # Look up the entry for the mover's score and the opponent's.
        row, column = score, opponent
        if is_flat:
            row = 0
            column = opponent if field == "zero_dice" else score
        if row >= len(rows) or column >= len(rows[0]):
            return score if field == "landing" else 0
        return bool(rows[row][column]) if is_flag else rows[row][column]

    part.__name__ = "table"
    part.__doc__ = _describe_table(field, rows, is_flat)
    return part


def _describe_table(field: str, rows: list[list[int]], is_flat: bool) -> str:
    """Describe a table of a field of `Rules`: its size and axes, or of a flat one its beginning."""
    shape = SHAPES[field]
    size = f"{len(rows)} x {len(rows[0])}"
    is_flag = shape.most == 1
    if is_flag:
        pairs = sum(map(sum, rows))
        return f"A table of {size} says so, for {pairs} pairs of scores."
    content = f"{size}, by {' and '.join(shape.axes)}"
    if is_flat:
        first_entries = ", ".join(map(str, rows[0][:6])) + (", ..." if len(rows[0]) > 6 else "")
        content = f"{first_entries} at {shape.flat} 0, 1, ..."
    return f"{'becomes what' if field == 'landing' else 'What'} a table says: {content}."
