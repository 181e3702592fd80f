"""Strategies as arrays: what is valid, and policies from matrices.

A *matrix* is an int8 array of shape (G, G): ``matrix[s, o]`` dice are rolled by a player with score
``s`` against ``o``. A *policy* is a float64 array of shape (G, G, K): ``policy[s, o, k]`` is the
probability of rolling ``k`` dice. G is the goal, K = max_dice + 1.
"""

import math
from collections.abc import Sequence
from typing import Any, NoReturn, TypeGuard

import numpy as np
import numpy.typing as npt

from hogeq.support.aliases import Matrix, Policy
from hogeq.support.messages import shown

# Rows of a policy may miss 1 by what float64 arithmetic leaves, and by no more: a win rate counts
# from 1e-6 on.
ROW_SUM_TOLERANCE = 1e-9

TABLES = "a matrix (G, G) or a policy (G, G, K)"

MOST_DICE = 127
"""Most dice that a matrix can hold, being int8."""


class StrategyError(ValueError):
    """A strategy, or the file or the name that should give one, is not valid."""


def check_matrix(array: Any, goal: int, max_dice: int, name: str = "matrix") -> Matrix:
    """Check a table of dice to roll, and copy it."""
    _check_goal(goal, name)
    if not isinstance(array, np.ndarray):
        if not _is_whole_table(array, goal):
            return _check_rows(array, goal, max_dice, name)
        array = np.array(array)
    if array.dtype.kind not in "iuf":
        # Objects, texts, truth values: one by one, to name the first that is no number.
        return _check_rows(array.tolist(), goal, max_dice, name)
    if array.shape != (goal, goal):
        _refuse_shape(array.shape, goal, name)
    # Not a number fails every comparison.
    good = (array >= 0) & (array <= max_dice) & (array == np.trunc(array))
    if not good.all():
        row, column = map(int, np.argwhere(~good)[0])
        line = cell_line(row, column, array[row, column].item(), max_dice)
        raise StrategyError(f"{name}: {line}")
    return array.astype(np.int8)


def cell_fault(value: object, max_dice: int) -> str:
    """Name the kind of a bad cell; empty if it is good."""
    # By type, since True == 1; and 6.0 is a whole number.
    if type(value) is float and not value.is_integer():
        return "fraction" if math.isfinite(value) else "no number"
    if type(value) is int or type(value) is float:
        return "negative" if value < 0 else "large" if value > max_dice else ""
    return type(value).__name__


def cell_line(row: int, column: int, value: object, max_dice: int) -> str:
    """Say that a cell is bad, and what is allowed."""
    where = f"cell (row {row}, column {column}) is {shown(value)}"
    return f"{where}; allowed: whole numbers from 0 to {max_dice}"


def check_policy(array: Any, goal: int, max_dice: int, name: str = "policy") -> Policy:
    """Check a table of roll probabilities, and copy it."""
    _check_goal(goal, name)
    shape = (goal, goal, max_dice + 1)
    given = as_array(array, name, f"shape {shape}")
    if given.dtype.kind not in "iuf":
        raise StrategyError(f"{name}: holds {given.dtype} values; allowed: float64 numbers")
    if given.shape != shape:
        raise StrategyError(f"{name}: has shape {given.shape}; allowed: {shape}")
    policy = given.astype(np.float64)
    good = (policy >= 0) & (policy <= 1 + ROW_SUM_TOLERANCE)
    if not good.all():
        row, column, roll = (int(index) for index in np.argwhere(~good)[0])
        raise StrategyError(
            f"{name}: cell (row {row}, column {column}) rolls {roll} dice with probability "
            f"{policy[row, column, roll]}; allowed: 0 to 1"
        )
    sums = policy.sum(axis=2)
    off = np.abs(sums - 1) > ROW_SUM_TOLERANCE
    if off.any():
        row, column = (int(index) for index in np.argwhere(off)[0])
        raise StrategyError(
            f"{name}: cell (row {row}, column {column}) has probabilities that sum to "
            f"{sums[row, column]}; allowed: 1 within {ROW_SUM_TOLERANCE}{more_precise(given)}"
        )
    return policy


def as_array(given: Any, name: str, allowed: str = TABLES) -> npt.NDArray[Any]:
    """Give what should be a table as an array; `StrategyError` if its rows differ in length."""
    try:
        return np.asarray(given)
    except ValueError as error:
        raise StrategyError(f"{name}: rows differ in length; allowed: {allowed}") from error


def more_precise(given: npt.NDArray[Any]) -> str:
    """Say what to do with probabilities of few digits, as the end of a message."""
    if given.dtype.kind != "f" or given.dtype.itemsize >= np.dtype(np.float64).itemsize:
        return ""
    return f"; {given.dtype} is too coarse: give it as float64, divided by its sums"


def is_policy(array: npt.NDArray[Any]) -> TypeGuard[Policy]:
    """Whether a valid strategy is a policy; otherwise it is a matrix."""
    return array.ndim == 3


def check_strategy(strategy: npt.ArrayLike, goal: int, max_dice: int) -> Policy:
    """Check a matrix or a policy, and give it as a policy."""
    table = as_array(strategy, "strategy")
    if table.ndim == 3:
        return check_policy(table, goal, max_dice)
    return one_hot(check_matrix(table, goal, max_dice), max_dice + 1)


def one_hot(actions: npt.ArrayLike, num_actions: int) -> Policy:
    """Probabilities of a player who takes one action for certain."""
    return np.eye(num_actions)[np.asarray(actions)]


def as_policy(strategy: npt.NDArray[Any], num_actions: int) -> Policy:
    """Give any valid strategy as a policy."""
    if is_policy(strategy):
        return strategy.astype(np.float64)
    return one_hot(strategy.astype(np.intp), num_actions)


def _is_whole_table(rows: Any, goal: int) -> bool:
    """Tell, much faster than cell by cell, whether rows are lists of ints of the right length."""
    return (
        type(rows) is list
        and len(rows) == goal
        and all(type(row) is list and len(row) == goal for row in rows)
        and set().union(*(map(type, row) for row in rows)) == {int}
    )


def _check_rows(rows: Any, goal: int, max_dice: int, name: str) -> Matrix:
    if not _is_row(rows):
        raise StrategyError(f"{name}: is {shown(rows)}; {_allowed(goal)}")
    matrix = np.empty((goal, goal), np.int8)
    for row, cells in enumerate(rows):
        if row == goal:
            _refuse_excess(row, 0, goal, name)
        if not _is_row(cells):
            raise StrategyError(f"{name}: row {row} is {shown(cells)}; {_allowed(goal)}")
        for column, cell in enumerate(cells):
            if column == goal:
                _refuse_excess(row, column, goal, name)
            value = cell.item() if isinstance(cell, np.generic) else cell
            if cell_fault(value, max_dice):
                raise StrategyError(f"{name}: {cell_line(row, column, value, max_dice)}")
            matrix[row, column] = value
        if len(cells) < goal:
            _refuse_gap(row, len(cells), goal, name)
    if len(rows) < goal:
        _refuse_gap(len(rows), 0, goal, name)
    return matrix


def _is_row(value: object) -> TypeGuard[Sequence[Any]]:
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _check_goal(goal: int, name: str) -> None:
    if goal < 1:
        raise StrategyError(f"{name}: has no cells; allowed: {TABLES}, G at least 1")


def _refuse_shape(shape: tuple[int, ...], goal: int, name: str) -> NoReturn:
    if len(shape) != 2:
        raise StrategyError(f"{name}: has shape {shape}; {_allowed(goal)}")
    rows, columns = shape
    if rows == 0 or columns < goal:
        _refuse_gap(0, columns if rows else 0, goal, name)
    if columns > goal:
        _refuse_excess(0, goal, goal, name)
    if rows < goal:
        _refuse_gap(rows, 0, goal, name)
    _refuse_excess(goal, 0, goal, name)


def _refuse_gap(row: int, column: int, goal: int, name: str) -> NoReturn:
    raise StrategyError(f"{name}: cell (row {row}, column {column}) is missing; {_allowed(goal)}")


def _refuse_excess(row: int, column: int, goal: int, name: str) -> NoReturn:
    raise StrategyError(
        f"{name}: cell (row {row}, column {column}) is one too many; {_allowed(goal)}"
    )


def _allowed(goal: int) -> str:
    return f"allowed: {goal} rows of {goal} whole numbers"
