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
from hogeq.support.files import parse_json
from hogeq.support.messages import shown

SCORE: Final = {"score", "own", "own_score", "my_score", "player", "player_score", "row", "s"}
OPPONENT: Final = {"opponent", "opponent_score", "opp", "opp_score", "other", "other_score", "o"}
ROLLS: Final = {
    *("rolls", "roll", "best_roll", "num_rolls", "dice", "num_dice", "action", "strategy", "value")
}

_NAMES: Final = ("name", "player_name", "team_name", "player", "team")
_KEY_LENGTH: Final = 40  # of an object's keys, in characters
_KEY: Final = re.compile(r"\s*[(\[]?\s*([0-9]{1,4})(?:\s*,\s*|\s+)([0-9]{1,4})\s*[)\]]?\s*")
_MOST_KEYS: Final = 8  # of an object that holds a table under one of them
_BEFORE_LIST: Final = 2000  # characters of a program before its list
_BRACKETS: Final = str.maketrans("{}()", "[][]")


class Form(NamedTuple):
    """A table as a file says it, its cells not checked."""

    rows: Any  # rows of numbers and texts, an array, or a mixture
    form: str = ""  # how it was recognised; empty for rows of cells
    player_name: str | None = None  # what the file calls its player


def read_text(text: str, goal: int, max_dice: int, *, is_json: bool = False) -> Form:
    """Read a table from text in any known form."""
    start = text.lstrip()
    if is_json or start[:1] in {"[", "{"}:
        try:
            content = parse_json(text, allow_nan=True)
        except ValueError as error:
            if is_json and start[:1] in {"", "[", "{"}:
                raise StrategyError(str(error)) from error
        else:
            return _from_object(content, goal)
    declared = re.search(r"(?:^|[=(])\s*(?=[\[{(]\s*[\[{(])", start[:_BEFORE_LIST])
    if declared:
        return _from_brackets(start[declared.end() :], goal)
    return _from_lines(text.splitlines(), goal, max_dice)


def read_code(source: bytes, goal: int) -> Form | None:
    """Read a ``.py`` that only defines a table, without running it; None if it does more."""
    try:
        statements = ast.parse(source).body
        values = {
            node.targets[0].id: ast.literal_eval(node.value)
            for node in statements
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None
    texts = [node for node in statements if isinstance(node, ast.Expr)]
    is_data = all(isinstance(node.value, ast.Constant) for node in texts)
    if not is_data or len(values) + len(texts) != len(statements):
        return None
    tables = [value for value in values.values() if isinstance(value, list | tuple | dict)]
    if len(tables) != 1:
        return None
    read = _from_object(_plain(tables[0]), goal)
    called = values.get("PLAYER_NAME", values.get("TEAM_NAME"))
    return Form(read.rows, "Python's list", called if isinstance(called, str) else None)


def without_goal(table: Form, goal: int) -> Form:
    """Leave out a last row and column for the goal itself, at which nobody is asked."""
    rows, size = table.rows, goal + 1
    if not isinstance(rows, list):
        is_larger = isinstance(rows, np.ndarray) and rows.shape == (size, size)
        return table._replace(rows=rows[:goal, :goal]) if is_larger else table
    is_larger = len(rows) == size and all(isinstance(r, list) and len(r) == size for r in rows)
    return table._replace(rows=[row[:goal] for row in rows[:goal]]) if is_larger else table


def _plain(value: Any) -> Any:
    """Give Python's tuples and keys as JSON would have them."""
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    return value


# --- objects --------------------------------------------------------------------------------------


def _from_object(content: Any, goal: int) -> Form:
    if isinstance(content, list):
        if content and all(isinstance(one, dict) for one in content):
            header = list(content[0])
            if any(list(one) != header for one in content):
                raise StrategyError("is a list of records whose keys differ")
            records = [list(one.values()) for one in content]
            return Form(_from_records(header, records, goal), "a list of records")
        return Form(content)
    if not isinstance(content, dict):
        raise StrategyError(
            f"is {shown(content)}; allowed: a list of {goal} lists of {goal} numbers "
            f"or an object of {goal * goal} numbers"
        )
    if content.get("format") == "hogeq transcript":
        raise StrategyError("is a saved game; allowed: a table; `hogeq review` opens games")
    tables = [value for value in content.values() if isinstance(value, list | dict)]
    if len(tables) == 1 and len(content) <= _MOST_KEYS and goal > 1:
        called = (content[key] for key in content if key.lower() in _NAMES)
        player = next((one for one in called if isinstance(one, str)), None)
        return _from_object(tables[0], goal)._replace(player_name=player)
    if tables and len(tables) == len(content) and not all(map(_scores, content)):
        rows = {
            own: cells if isinstance(cells, dict) else dict(enumerate(cells))
            for own, cells in content.items()
        }
        keys = {f"{own},{other}": cell for own, row in rows.items() for other, cell in row.items()}
        return Form(_by_keys(keys, goal), "an object of rows by score")
    return Form(_by_keys(content, goal))


def _by_keys(entries: dict[str, Any], goal: int) -> list[list[Any]]:
    """Fill a table from an object whose keys are two scores, the own first."""
    found: list[tuple[int, int, Any, str]] = []
    for key, value in entries.items():
        scores = _scores(key)
        cell = (int(scores[1]), int(scores[2])) if scores else (goal + 1, goal)
        if max(cell) > goal:
            raise StrategyError(
                f"key {shown(key)}; allowed: two scores from 0 to {goal - 1}, "
                'own first, as "12,30" or "(12, 30)"'
            )
        found.append((*cell, value, f"as {shown(key)} too"))
    return _filled(found, goal)


def _scores(key: str) -> re.Match[str] | None:
    """Find the two scores of a key."""
    # The pattern takes quadratic time where spaces are many.
    return _KEY.fullmatch(key) if len(key) <= _KEY_LENGTH else None


def _from_records(
    header: Sequence[str], records: Iterable[Sequence[Any]], goal: int
) -> list[list[Any]]:
    """Fill a table from records of two scores and a number of dice, by the names of the columns."""
    titles = list(map(_title, header))
    columns = []
    for known in (SCORE, OPPONENT, ROLLS):
        matches = [column for column, title in enumerate(titles) if title in known]
        if len(matches) != 1:
            raise StrategyError(
                f"has columns {shown(list(header))}; allowed: one called "
                "score, one opponent_score and one rolls"
            )
        columns += matches
    found: list[tuple[int, int, Any, str]] = []
    for number, record in enumerate(records, 1):
        if len(record) != len(header):
            raise StrategyError(f"record {number} has {len(record)} of {len(header)} cells")
        own, other, rolls = (record[column] for column in columns)
        if not all(type(one) is int and 0 <= one <= goal for one in (own, other)):
            scores = f"{shown(own)} and {shown(other)}"
            raise StrategyError(f"record {number} has scores {scores}; allowed: 0 to {goal - 1}")
        found.append((own, other, rolls, f"in record {number} too"))
    return _filled(found, goal)


def _filled(entries: list[tuple[int, int, Any, str]], goal: int) -> list[list[Any]]:
    """Fill a table from cells and their values; the text tells a cell that stands twice.

    At the goal nobody is asked: such cells are left out.
    """
    cells: dict[tuple[int, int], Any] = {}
    for row, column, value, again in entries:
        if (row, column) in cells:
            raise StrategyError(f"cell (row {row}, column {column}) stands twice, {again}")
        cells[row, column] = value
    for row, column in product(range(goal), range(goal)):
        if (row, column) not in cells:
            where = f"cell (row {row}, column {column})"
            raise StrategyError(f"{where} is missing; allowed: {goal * goal} entries")
    return [[cells[row, column] for column in range(goal)] for row in range(goal)]


# --- text -----------------------------------------------------------------------------------------


def _from_brackets(text: str, goal: int) -> Form:
    """Read lists as Python, numpy, C or Java write them."""
    if "..." in text:
        raise StrategyError("is a list printed with parts left out (...); allowed: all of it")
    text = text.translate(_BRACKETS)
    rows = re.findall(r"\[([^\[\]]*)\]", text)
    rest = re.sub(r"\[[^\[\]]*\]", "", text)
    if not re.fullmatch(r"\s*\[[\s,]*\](?:[\s,]*dtype=[\w.]+)?[\s;,\]]*", rest):
        raise StrategyError(f"is no list of {goal} lists of {goal} numbers")
    number = cache(_number)
    cells = [row.rstrip().removesuffix(",") for row in rows]
    split = [row.split(",") if "," in row else row.split() for row in cells]
    return Form([[number(cell) for cell in row] for row in split], "printed lists")


def _from_lines(lines: Sequence[str], goal: int, max_dice: int) -> Form:
    lines = [line for line in lines if line.strip()]
    digits = re.compile(rf"\s*[0-9aA]{{{goal}}}\s*")
    if goal > 1 and len(lines) == goal and all(digits.fullmatch(line) for line in lines):
        cells = [[int(cell, 36) for cell in line.strip()] for line in lines]
        return Form(cells, "one digit a cell")
    rows = _cells(lines)
    if not rows:
        return Form(rows)
    player = None
    if all(isinstance(cell, str) for cell in rows[0]):
        titles = set(map(_title, rows[0]))
        if titles & SCORE and titles & OPPONENT:
            found = _from_records(rows[0], rows[1:], goal)
            return Form(found, "a line for each position")
    if len(rows) > goal and len(rows[0]) != len(rows[1]) and lines[0].strip()[0].isalpha():
        player = lines[0].strip().rstrip(",;")
        rows = _cells(lines[1:])
    if goal > 1 and len(rows) >= goal * goal:
        filled = _without_header(rows, goal)
        if filled is not None:
            return Form(filled, "a line for each position", player)
    if all(row[-1] == "" for row in rows):  # a separator ends each line
        rows = [row[:-1] for row in rows]
    table = _without_labels(rows, goal, max_dice)
    if table is not None:
        return Form(table, "cells beside their scores", player)
    return Form(rows, "", player)


def _without_header(rows: list[list[Any]], goal: int) -> list[list[Any]] | None:
    """Fill a table from lines of own score, opponent's, dice and a chance that is not all whole."""
    widths = {len(row) for row in rows}
    if widths == {3}:
        raise StrategyError(
            f"has {len(rows)} lines of 3 cells and no header; allowed: a first line that "
            "says which column is score, opponent_score and rolls"
        )
    if widths != {4} or {*map(type, chain.from_iterable(rows))} != {int, float}:
        return None
    own, other, rolls, chance = zip(*rows, strict=True)
    whole = {*map(type, (*own, *other, *rolls))} == {int}
    if not whole or not all(0 <= one <= 1 for one in chance):
        return None
    if sum((row[0] - row[1]) * row[3] for row in rows) < 0:
        raise StrategyError(
            "has lines of 4 cells and no header, whose chance falls with the first; "
            "allowed: the own score first, or a first line that names the columns"
        )
    return _from_records(("score", "opponent", "rolls", "chance"), rows, goal)


def _title(cell: str) -> str:
    return re.sub(r"[^a-z]+", "_", cell.lower()).strip("_")


def _cells(lines: Sequence[str]) -> list[list[Any]]:
    """Split lines by semicolons, commas or white space, whichever is in most of them."""
    number = cache(_number)  # a table has few different cells ...
    counts = {mark: sum(mark in line for line in lines) for mark in ",;"}
    mark = max(counts, key=lambda one: counts[one])

    @cache  # ... and one of a million rows has few different rows
    def row(line: str) -> list[Any]:
        try:
            cells = next(csv.reader([line], delimiter=mark)) if counts[mark] else line.split()
        except csv.Error:
            return [line]
        return [number(cell) for cell in cells]

    return [row(line) for line in lines]


def _without_labels(rows: list[list[Any]], goal: int, max_dice: int) -> list[list[Any]] | None:
    """Give the cells of a table whose first row or column is the scores; None if it has neither."""
    for size in (goal, goal + 1):
        scores = list(range(size))
        above = len(rows) == size + 1 and rows[0][-size:] == scores
        below = rows[1:] if above else rows
        beside = [row[0] for row in below] == scores and {*map(len, below)} == {size + 1}
        corner = rows[0][0] if above and len(rows[0]) > size else ""
        if above and beside and isinstance(corner, str) and size > 1:
            if re.search(r"opp|other", corner.lower()):
                raise StrategyError(
                    f"has the corner {shown(corner)}, by which rows may be the opponent's "
                    "scores; allowed: an empty corner, and a row for each own score"
                )
            return [row[1:] for row in below]
        if above != beside and corner == "" and goal - 1 > max_dice:
            return [row[1:] for row in below] if beside else below
    return None


def _number(cell: str) -> int | float | str:
    """Turn a cell into a number if it is one; otherwise keep it, for a message to show."""
    cell = cell.strip()
    # int() and float() alone take more than a table should hold, 1_0 say.
    if re.fullmatch(r"[+-]?[0-9]{1,9}", cell):
        return int(cell)
    if re.fullmatch(r"[+-]?[0-9]{1,30}\.[0-9]{0,30}([eE][+-]?[0-9]{1,3})?", cell):
        return float(cell)
    return cell
