"""Strategies as arrays: what is valid, and rows of probabilities as solvers need them.

A *matrix* is an int8 array of shape (G, G): ``matrix[s, o]`` dice are rolled by a player with score
``s`` against ``o``. A *policy* is a float64 array of shape (G, G, K): ``policy[s, o, k]`` is the
probability of rolling ``k`` dice. G is the goal, K = max_dice + 1.
"""

import math
from collections.abc import Sequence
from typing import Any, NoReturn, TypeGuard

import numpy as np
import numpy.typing as npt

from hogeq.support.aliases import Floats, Matrix, Policy
from hogeq.support.messages import shown

# Rows of a policy may miss 1 by what float64 arithmetic leaves, and by no more: a win rate counts
# from 1e-6 on.
ROW_SUM_TOLERANCE = 1e-9

TABLES = "a matrix (G, G) or a policy (G, G, K)"

MOST_DICE = 127
"""Most dice that a matrix can hold, being int8."""


class StrategyError(ValueError):
    """A strategy, or the file or the name that should give one, is not valid."""


# --- checks ---------------------------------------------------------------------------------------


def check_matrix(array: Any, goal: int, max_dice: int, name: str = "matrix") -> Matrix:
    """Check a table of dice to roll, and copy it."""
    _check_goal(goal, name)
    if isinstance(array, np.ndarray):
        if array.ndim != 2:
            raise StrategyError(f"{name}: has shape {array.shape}; {_allowed(goal)}")
        if array.dtype.kind in "iuf" and array.shape == (goal, goal):
            # NaN fails every comparison.
            good = (array >= 0) & (array <= max_dice) & (array == np.trunc(array))
            if good.all():
                return array.astype(np.int8)
        array = array[: goal + 1, : goal + 1].tolist()
    return _check_rows(array, goal, max_dice, name)


def cell_fault(value: object, max_dice: int) -> str:
    """Name the kind of a bad cell; empty if it is good."""
    # By type, since True == 1; and 6.0 is a whole number.
    if type(value) is float and not value.is_integer():
        return "fraction" if math.isfinite(value) else "no number"
    if type(value) is int or type(value) is float:
        return "negative" if value < 0 else "large" if value > max_dice else ""
    return type(value).__name__


def cell_line(row: int, column: int, value: object, max_dice: int) -> str:
    """Describe a bad cell, and what is allowed."""
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
    """Convert a table to an array; `StrategyError` if its rows differ in length."""
    try:
        return np.asarray(given)
    except ValueError as error:
        raise StrategyError(f"{name}: rows differ in length; allowed: {allowed}") from error


def more_precise(given: npt.NDArray[Any]) -> str:
    """End of a message about probabilities that have too few digits."""
    if given.dtype.kind != "f" or given.dtype.itemsize >= np.dtype(np.float64).itemsize:
        return ""
    return f"; {given.dtype} is too coarse: give it as float64, divided by its sums"


def _check_rows(rows: Any, goal: int, max_dice: int, name: str) -> Matrix:
    if not _is_row(rows):
        raise StrategyError(f"{name}: is {shown(rows)}; {_allowed(goal)}")
    matrix = np.empty((goal, goal), np.int8)
    for row, cells in enumerate(rows):
        if row == goal:
            _refuse(row, 0, "one too many", goal, name)
        if not _is_row(cells):
            raise StrategyError(f"{name}: row {row} is {shown(cells)}; {_allowed(goal)}")
        for column, cell in enumerate(cells):
            if column == goal:
                _refuse(row, column, "one too many", goal, name)
            value = cell.item() if isinstance(cell, np.generic) else cell
            if cell_fault(value, max_dice):
                raise StrategyError(f"{name}: {cell_line(row, column, value, max_dice)}")
            matrix[row, column] = value
        if len(cells) < goal:
            _refuse(row, len(cells), "missing", goal, name)
    if len(rows) < goal:
        _refuse(len(rows), 0, "missing", goal, name)
    return matrix


def _is_row(value: object) -> TypeGuard[Sequence[Any]]:
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _check_goal(goal: int, name: str) -> None:
    if goal < 1:
        raise StrategyError(f"{name}: has no cells; allowed: {TABLES}, G at least 1")


def _refuse(row: int, column: int, fault: str, goal: int, name: str) -> NoReturn:
    raise StrategyError(f"{name}: cell (row {row}, column {column}) is {fault}; {_allowed(goal)}")


def _allowed(goal: int) -> str:
    return f"allowed: {goal} rows of {goal} whole numbers"


# --- rows of probabilities ------------------------------------------------------------------------


def one_hot(actions: npt.ArrayLike, num_actions: int) -> Policy:
    """Probabilities of a player who takes one action for certain."""
    return np.eye(num_actions)[np.asarray(actions)]


def normalised(total: Floats, otherwise: Floats | None = None) -> Floats:
    """Scale rows to sum to 1; a row without positive sum is that of `otherwise`, or uniform."""
    sums = row_sums(total)
    empty = sums <= 0.0
    rows = total / np.where(empty, 1.0, sums)[..., None]
    rows[empty] = 1.0 / total.shape[-1] if otherwise is None else otherwise[empty]
    # A second time, since rows of tiny sums can miss 1 by more than rounding allows.
    rows /= row_sums(rows)[..., None]
    return rows


def row_sums(rows: Floats) -> Floats:
    """Add up the last axis: where it is short, several times as fast as numpy's own sum."""
    return np.einsum("...k->...", rows)


def match_regrets(regrets: Floats, epsilon: float = 0.0) -> Floats:
    """Match regrets: rows in proportion to positive regrets, no entry below `epsilon`."""
    matched = normalised(np.maximum(regrets, 0.0))
    if epsilon == 0.0:
        return matched
    return epsilon + (1.0 - regrets.shape[-1] * epsilon) * matched


def softmax(scores: Floats) -> Floats:
    """Rows in proportion to the exponentials of the scores; a fresh array."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def given_arrival(values: Floats, infoset_reach: Floats) -> Floats:
    """Divide counterfactual values by the reach of their rows; zero where play never comes."""
    rows = infoset_reach[..., None]
    return np.divide(values, rows, out=np.zeros_like(values), where=rows > 0.0)
