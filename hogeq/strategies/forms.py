"""The forms in which people keep a table as text, recognised by their content.

A table has one row for each own score. Where a form names its scores, names decide; what could be
read in two ways is refused. What is no form known here comes back as rows of texts and numbers, so
that whoever checks them names the first bad cell.
"""

import ast
import csv
import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain, product
from typing import Any, Final, NamedTuple

import numpy as np

from hogeq.strategies.arrays import StrategyError
from hogeq.support.messages import shown
from hogeq.support.text import parse_json

# Titles of columns: of the own score, the opponent's score, and the dice to roll.
SCORE: Final = {"score", "own", "own_score", "my_score", "player", "player_score", "row", "s"}
OPPONENT: Final = {"opponent", "opponent_score", "opp", "opp_score", "other", "other_score", "o"}
ROLLS: Final = {
    *("rolls", "roll", "best_roll", "num_rolls", "dice", "num_dice", "action", "strategy", "value")
}

_NAMES: Final = ("name", "player_name", "team_name", "player", "team")  # keys of a player's name
_KEY_LENGTH: Final = 40  # most characters of a key of two scores
_KEY: Final = re.compile(r"\s*[(\[]?\s*([0-9]{1,4})(?:\s*,\s*|\s+)([0-9]{1,4})\s*[)\]]?\s*")
_MOST_KEYS: Final = 8  # most keys of an object that holds a table under one of them
_BEFORE_LIST: Final = 2000  # most characters of a program before its list
_BRACKETS: Final = str.maketrans("{}()", "[][]")  # those of C, Java and tuples to those of lists


class Form(NamedTuple):
    """A table as a file says it, its cells not checked."""

    rows: Any  # rows of numbers and texts, an array, or a mixture
    form: str = ""  # how it was recognised; empty for rows of cells
    player_name: str | None = None  # what the file calls its player


class _CellValue(NamedTuple):
    """A cell of a table, as an object or a list of records has it."""

    own: int
    other: int
    value: Any
    where: str  # ends the message that the cell stands twice: "in record 3 too"


def read_text(text: str, goal: int, max_dice: int, *, is_json: bool = False) -> Form:
    """Read a table from text in any known form: JSON, printed lists, or lines of cells."""
    start = text.lstrip()
    if is_json or start[:1] in {"[", "{"}:
        try:
            content = parse_json(text, allow_nan=True)
        except ValueError as error:  # lists as numpy or C writes them begin alike
            if is_json and start[:1] in {"", "[", "{"}:
                raise StrategyError(str(error)) from error
        else:
            return _from_object(content, goal)
    # Two brackets at the start, or after an equals sign or a bracket of a declaration.
    declaration = re.search(r"(?:^|[=(])\s*(?=[\[{(]\s*[\[{(])", start[:_BEFORE_LIST])
    if declaration:
        return _from_brackets(start[declaration.end() :], goal)
    return _from_lines(text.splitlines(), goal, max_dice)


def read_code(source: bytes, goal: int) -> Form | None:
    """Read a ``.py`` that only defines a table, without running it; None if it does more.

    It may also define the player's name and other plain values, and have docstrings.
    """
    try:
        statements = ast.parse(source).body
        values = {
            node.targets[0].id: ast.literal_eval(node.value)
            for node in statements
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None
    expressions = [node for node in statements if isinstance(node, ast.Expr)]
    are_docstrings = all(isinstance(node.value, ast.Constant) for node in expressions)
    # Fewer values: a statement of another kind, or a name that is assigned twice.
    if not are_docstrings or len(values) + len(expressions) != len(statements):
        return None
    tables = [value for value in values.values() if isinstance(value, list | tuple | dict)]
    if len(tables) != 1:
        return None
    rows = _from_object(_as_json_values(tables[0]), goal).rows
    player_name = values.get("PLAYER_NAME", values.get("TEAM_NAME"))
    return Form(rows, "Python's list", player_name if isinstance(player_name, str) else None)


def without_goal(table: Form, goal: int) -> Form:
    """Leave out a last row and column for the goal itself, where the game is over."""
    rows = table.rows
    size = goal + 1
    if isinstance(rows, np.ndarray) and rows.shape == (size, size):
        return table._replace(rows=rows[:goal, :goal])
    if not isinstance(rows, list) or len(rows) != size:
        return table
    if all(isinstance(row, list) and len(row) == size for row in rows):
        return table._replace(rows=[row[:goal] for row in rows[:goal]])
    return table


def _as_json_values(value: Any) -> Any:
    """Make lists of Python's tuples, and texts of the keys of its dictionaries."""
    if isinstance(value, list | tuple):
        return [_as_json_values(element) for element in value]
    if isinstance(value, dict):
        return {str(key): _as_json_values(element) for key, element in value.items()}
    return value


# --- objects --------------------------------------------------------------------------------------


def _from_object(content: Any, goal: int) -> Form:
    """Read a table from a value of JSON.

    That is a list of rows or records, an object of cells by two scores, one of rows by own score,
    or an object that holds one of these.
    """
    if isinstance(content, list):
        return _from_list(content, goal)
    if not isinstance(content, dict):
        raise StrategyError(
            f"is {shown(content)}; allowed: a list of {goal} lists of {goal} numbers "
            f"or an object of {goal * goal} numbers"
        )
    if content.get("format") == "hogeq transcript":
        raise StrategyError("is a saved game; allowed: a table; `hogeq review` opens games")
    tables = [value for value in content.values() if isinstance(value, list | dict)]
    # One table among a few keys. In a game to 1 point, the one row of a table looks the same.
    if len(tables) == 1 and len(content) <= _MOST_KEYS and goal > 1:
        names = [content[key] for key in content if key.lower() in _NAMES]
        player = next((name for name in names if isinstance(name, str)), None)
        return _from_object(tables[0], goal)._replace(player_name=player)
    # Rows by own score; keys of two scores would be cells whose values are faulty.
    are_rows = len(tables) == len(content) and any(_read_key(key) is None for key in content)
    if tables and are_rows:
        cells_by_key: dict[str, Any] = {}
        for own, row in content.items():
            cells = row if isinstance(row, dict) else dict(enumerate(row))
            cells_by_key |= {f"{own},{other}": value for other, value in cells.items()}
        return Form(_from_keys(cells_by_key, goal), "an object of rows by score")
    return Form(_from_keys(content, goal))


def _from_list(content: list[Any], goal: int) -> Form:
    """Read a table from a list of JSON: of rows, or of records with equal keys."""
    if not content or not all(isinstance(record, dict) for record in content):
        return Form(content)
    header = list(content[0])
    if any(list(record) != header for record in content):
        raise StrategyError("is a list of records whose keys differ")
    records = [list(record.values()) for record in content]
    return Form(_from_records(header, records, goal), "a list of records")


def _from_keys(values: dict[str, Any], goal: int) -> list[list[Any]]:
    """Fill a table from an object whose keys are two scores, the own first."""
    cells = []
    for key, value in values.items():
        scores = _read_key(key)
        if scores is None or max(scores) > goal:
            raise StrategyError(
                f"key {shown(key)}; allowed: two scores from 0 to {goal - 1}, "
                'own first, as "12,30" or "(12, 30)"'
            )
        cells.append(_CellValue(*scores, value, f"as {shown(key)} too"))
    return _fill_table(cells, goal)


def _read_key(key: str) -> tuple[int, int] | None:
    """Read the two scores of a key; None if it has another form."""
    if len(key) > _KEY_LENGTH:  # the pattern takes quadratic time where spaces are many
        return None
    match = _KEY.fullmatch(key)
    return None if match is None else (int(match[1]), int(match[2]))


def _from_records(
    header: Sequence[str], records: Iterable[Sequence[Any]], goal: int
) -> list[list[Any]]:
    """Fill a table from records of two scores and a number of dice.

    The titles in `header` say which columns these are; others are ignored.
    """
    titles = list(map(_normalise_title, header))
    columns: list[int] = []  # of the own score, the opponent's and the dice
    for names in (SCORE, OPPONENT, ROLLS):
        matches = [column for column, title in enumerate(titles) if title in names]
        if len(matches) != 1:
            raise StrategyError(
                f"has columns {shown(list(header))}; allowed: one called "
                "score, one opponent_score and one rolls"
            )
        columns += matches
    cells = []
    for number, record in enumerate(records, 1):
        if len(record) != len(header):
            raise StrategyError(f"record {number} has {len(record)} of {len(header)} cells")
        own, other, rolls = (record[column] for column in columns)
        if not all(type(score) is int and 0 <= score <= goal for score in (own, other)):
            scores = f"{shown(own)} and {shown(other)}"
            raise StrategyError(f"record {number} has scores {scores}; allowed: 0 to {goal - 1}")
        cells.append(_CellValue(own, other, rolls, f"in record {number} too"))
    return _fill_table(cells, goal)


def _fill_table(cells: list[_CellValue], goal: int) -> list[list[Any]]:
    """Fill a table, goal rows of goal values, from its cells in any order.

    Cells at the goal, where the game is over, are left out.
    """
    values: dict[tuple[int, int], Any] = {}
    for row, column, value, where in cells:
        if (row, column) in values:
            raise StrategyError(f"cell (row {row}, column {column}) stands twice, {where}")
        values[row, column] = value
    for row, column in product(range(goal), range(goal)):
        if (row, column) not in values:
            cell = f"cell (row {row}, column {column})"
            raise StrategyError(f"{cell} is missing; allowed: {goal * goal} entries")
    return [[values[row, column] for column in range(goal)] for row in range(goal)]


# --- text -----------------------------------------------------------------------------------------


def _from_brackets(text: str, goal: int) -> Form:
    """Read lists as Python, numpy, C or Java write them."""
    if "..." in text:
        raise StrategyError("is a list printed with parts left out (...); allowed: all of it")
    text = text.translate(_BRACKETS)
    rows = re.findall(r"\[([^\[\]]*)\]", text)  # innermost brackets
    around_rows = re.sub(r"\[[^\[\]]*\]", "", text)
    # What is left has to be one pair of brackets, with commas, and what ends a declaration.
    if not re.fullmatch(r"\s*\[[\s,]*\](?:[\s,]*dtype=[\w.]+)?[\s;,\]]*", around_rows):
        raise StrategyError(f"is no list of {goal} lists of {goal} numbers")
    parse = cache(_parse_cell)  # a table has few different cells
    table = []
    for row in rows:
        line = row.rstrip().removesuffix(",")
        cells = line.split(",") if "," in line else line.split()
        table.append([parse(cell) for cell in cells])
    return Form(table, "printed lists")


def _from_lines(lines: Sequence[str], goal: int, max_dice: int) -> Form:
    """Read a table from lines, in the first of these forms that fits.

    1. One digit a cell, ``a`` for 10.
    2. A line for each position, below a line of titles.
    3. A line for each position, without titles.
    4. Rows of cells, with or without the scores beside and above them.

    Above the last two there may be a line with the player's name.
    """
    lines = [line for line in lines if line.strip()]
    digits = re.compile(rf"\s*[0-9aA]{{{goal}}}\s*")
    if goal > 1 and len(lines) == goal and all(digits.fullmatch(line) for line in lines):
        cells = [[int(digit, 36) for digit in line.strip()] for line in lines]
        return Form(cells, "one digit a cell")
    rows = _split_lines(lines)
    if not rows:
        return Form(rows)
    if all(isinstance(cell, str) for cell in rows[0]):
        titles = set(map(_normalise_title, rows[0]))
        if titles & SCORE and titles & OPPONENT:
            table = _from_records(rows[0], rows[1:], goal)
            return Form(table, "a line for each position")
    player_name = None
    if len(rows) > goal and len(rows[0]) != len(rows[1]) and lines[0].strip()[0].isalpha():
        player_name = lines[0].strip().rstrip(",;")
        rows = _split_lines(lines[1:])
    if goal > 1 and len(rows) >= goal * goal:
        by_position = _from_untitled_records(rows, goal)
        if by_position is not None:
            return Form(by_position, "a line for each position", player_name)
    if all(row[-1] == "" for row in rows):  # a separator ends each line
        rows = [row[:-1] for row in rows]
    unlabelled = _remove_labels(rows, goal, max_dice)
    if unlabelled is not None:
        return Form(unlabelled, "cells beside their scores", player_name)
    return Form(rows, "", player_name)


def _from_untitled_records(rows: list[list[Any]], goal: int) -> list[list[Any]] | None:
    """Fill a table from lines of own score, opponent's score, dice and chance to win.

    None if a line is not three whole numbers and one from 0 to 1, or if all chances are whole
    numbers: then the lines may be rows of four cells.
    """
    widths = {len(row) for row in rows}
    if widths == {3}:
        raise StrategyError(
            f"has {len(rows)} lines of 3 cells and no header; allowed: a first line that "
            "says which column is score, opponent_score and rolls"
        )
    if widths != {4} or {*map(type, chain.from_iterable(rows))} != {int, float}:
        return None
    for *whole_numbers, chance in rows:
        if any(type(number) is not int for number in whole_numbers) or not 0 <= chance <= 1:
            return None
    # The chance to win rises with the own score: else the first score may be the opponent's.
    correlation = sum((own - other) * chance for own, other, _, chance in rows)
    if correlation < 0:
        raise StrategyError(
            "has lines of 4 cells and no header, whose chance falls with the first; "
            "allowed: the own score first, or a first line that names the columns"
        )
    return _from_records(("score", "opponent", "rolls", "chance"), rows, goal)


def _normalise_title(cell: str) -> str:
    """Write the title of a column in lower case, with an underscore for all but letters."""
    return re.sub(r"[^a-z]+", "_", cell.lower()).strip("_")


def _split_lines(lines: Sequence[str]) -> list[list[Any]]:
    """Split lines by commas or semicolons, whichever is in most of them, or else by white space.

    Cells that are numbers become so; others stay texts.
    """
    counts = {mark: sum(mark in line for line in lines) for mark in ",;"}
    separator = max(counts, key=lambda mark: counts[mark])
    has_separator = counts[separator] > 0
    parse = cache(_parse_cell)  # a table has few different cells ...

    @cache  # ... and one of a million rows has few different rows
    def split_line(line: str) -> list[Any]:
        """Split a line into cells; one that is no valid CSV is one cell."""
        if not has_separator:
            return [parse(cell) for cell in line.split()]
        try:
            cells = next(csv.reader([line], delimiter=separator))
        except csv.Error:
            return [line]
        return [parse(cell) for cell in cells]

    return [split_line(line) for line in lines]


def _remove_labels(rows: list[list[Any]], goal: int, max_dice: int) -> list[list[Any]] | None:
    """Remove a first row and a first column of the scores 0, 1, ...; None if there are none.

    If only one of the two is there, it is removed if its scores are too high to be dice.
    """
    for size in (goal, goal + 1):  # with the goal itself, where the game is over, or without
        scores = list(range(size))
        has_top_labels = len(rows) == size + 1 and rows[0][-size:] == scores
        below = rows[1:] if has_top_labels else rows
        are_all_longer = all(len(row) == size + 1 for row in below)
        has_side_labels = [row[0] for row in below] == scores and are_all_longer
        corner = rows[0][0] if has_top_labels and len(rows[0]) > size else ""
        if has_top_labels and has_side_labels and isinstance(corner, str) and size > 1:
            if re.search(r"opp|other", corner.lower()):
                raise StrategyError(
                    f"has the corner {shown(corner)}, by which rows may be the opponent's "
                    "scores; allowed: an empty corner, and a row for each own score"
                )
            return [row[1:] for row in below]
        if has_top_labels != has_side_labels and corner == "" and goal - 1 > max_dice:
            return [row[1:] for row in below] if has_side_labels else below
    return None


def _parse_cell(cell: str) -> int | float | str:
    """Turn a cell into a number if it is one; otherwise return its text, for a message to show."""
    cell = cell.strip()
    # int() and float() alone accept texts that no table should hold: 1_0, nan.
    if re.fullmatch(r"[+-]?[0-9]{1,9}", cell):
        return int(cell)
    if re.fullmatch(r"[+-]?[0-9]{1,30}\.[0-9]{0,30}([eE][+-]?[0-9]{1,3})?", cell):
        return float(cell)
    return cell
