"""What a contest would say of a file: everything that is wrong with it, not the first thing only.

:func:`hogeq.strategies.read.read_strategy` reads a strategy or refuses it in one line. A contestant
wants the whole list.
"""

import base64
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hogeq.strategies.arrays import check_matrix, is_policy
from hogeq.strategies.read import file_size, read_rows
from hogeq.strategies.sandbox import Fault, examine
from hogeq.support.aliases import Matrix
from hogeq.support.messages import shown

TOLD: Final = 5
"""Faults of each kind that are told one by one; all are counted."""

LONGEST_NAME: Final = 1024
"""A player's name in base64 has fewer characters. Source: the contest's server."""


@dataclass(frozen=True)
class Submission:
    """A file, as a contest would look at it.

    Attributes
    ----------
    size : int
        Bytes of the file.
    player_name : str or None
        What it calls its player; None if it is no ``.py`` or has none.
    matrix : int8 (G, G) or None
        Dice to roll; None if anything is wrong.
    faults : tuple of Fault
        All that is wrong, each kind once.
    seconds : dict of str to float
        ``load``, ``table`` (every cell once) and ``slowest`` (one call); empty if it is no ``.py``.
    """

    size: int
    player_name: str | None
    matrix: Matrix | None
    faults: tuple[Fault, ...]
    seconds: dict[str, float]


def inspect_submission(
    path: Path, goal: int, max_dice: int, trust: bool = False, *, time_limit: float = 60.0
) -> Submission:
    """Look at a file as a contest would.

    Parameters
    ----------
    path, goal, max_dice, trust, time_limit
        As for `hogeq.strategies.read.read_strategy`.

    Returns
    -------
    Submission

    Raises
    ------
    StrategyError
        If there is nothing to look at: the file cannot be read, is of no known format, is code that
        is not trusted, or gave no answer.

    Examples
    --------
    >>> path = Path("final_strategy.py")
    >>> _ = path.write_text("def final_strategy(score, opponent_score): return 11 - score")
    >>> found = inspect_submission(path, goal=20, max_dice=10, trust=True)
    >>> [(fault.kind, fault.times) for fault in found.faults]
    [('name', 1), ('range', 180)]
    >>> found.faults[1].told[0]
    'final_strategy(0, 0) is 11 (int); allowed: ints from 0 to 10'
    """
    size = file_size(path)
    if path.suffix.lower() == ".py" and trust:
        answers = examine(path, goal, max_dice, time_limit)
        faults = (*_name_faults(answers.player_name), *answers.faults)
        if answers.faults and answers.faults[0].kind == "code":
            faults = answers.faults  # a file that does not run has no name either
        matrix = None if faults else check_matrix(answers.table, goal, max_dice, str(path))
        return Submission(size, answers.player_name, matrix, faults, answers.seconds)
    rows = read_rows(path, goal, max_dice, trust, time_limit=time_limit)
    faults = tuple(_table_faults(rows, goal, max_dice))
    matrix = None if faults else check_matrix(rows, goal, max_dice, str(path))
    return Submission(size, None, matrix, faults, {})


def _name_faults(name: str | None) -> list[Fault]:
    if name is None:
        return [Fault("name", 1, ("PLAYER_NAME is missing or no text",))]
    if not name.strip():
        return [Fault("name", 1, ("PLAYER_NAME is blank",))]
    try:
        length = len(base64.encodebytes(name.encode()))
    except UnicodeEncodeError:
        return [Fault("name", 1, (f"PLAYER_NAME {shown(name)} is not valid Unicode",))]
    if length >= LONGEST_NAME:
        return [Fault("name", 1, (f"PLAYER_NAME is too long: {len(name)} characters",))]
    return []


def _table_faults(rows: list[Any] | NDArray[Any], goal: int, max_dice: int) -> list[Fault]:
    """List what is wrong with a table that was read, shapes first."""
    if isinstance(rows, np.ndarray):
        if is_policy(rows):
            line = "is a policy, a probability for each roll; allowed: one roll for each position"
            return [Fault("shape", 1, (line,))]
        rows = rows.tolist()
    shapes, cells = _Lines(), _Lines()
    if len(rows) != goal:
        given = len(rows)
        shapes.add(lambda: f"has {given} rows; allowed: {goal} rows of {goal} whole numbers")
    for row, values in enumerate(rows):
        if not isinstance(values, list):
            shapes.add(_row_line, row, values, goal)
            continue
        if len(values) != goal:
            shapes.add(_row_line, row, values, goal)
        for column, value in enumerate(values):
            whole = type(value) is int or (type(value) is float and value.is_integer())
            if not (whole and 0 <= value <= max_dice):
                cells.add(_cell_line, row, column, value, max_dice)
    return [
        Fault(kind, lines.times, tuple(lines.told))
        for kind, lines in (("shape", shapes), ("range", cells))
        if lines.times
    ]


class _Lines:
    """Counts lines, and writes the first of them: a large file may have a million faults."""

    def __init__(self) -> None:
        self.times = 0
        self.told: list[str] = []

    def add(self, line: Callable[..., str], *of: Any) -> None:
        self.times += 1
        if self.times <= TOLD:
            self.told.append(line(*of))


def _row_line(row: int, values: object, goal: int) -> str:
    given = f"has {len(values)} cells" if isinstance(values, list) else f"is {shown(values)}"
    return f"row {row} {given}; allowed: {goal} whole numbers"


def _cell_line(row: int, column: int, value: object, max_dice: int) -> str:
    where = f"cell (row {row}, column {column}) is {shown(value)}"
    return f"{where}; allowed: whole numbers from 0 to {max_dice}"
