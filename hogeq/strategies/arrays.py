"""Strategies as arrays: their checks, and rows of probabilities as solvers need them.

A *matrix* is an array of shape (G, G): ``matrix[s, o]`` dice are rolled by a player with score
``s`` against ``o``. A *policy* is a float64 array of shape (G, G, K): ``policy[s, o, k]`` is the
probability of rolling ``k`` dice. G is the goal, K = max_dice + 1.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt

from hogeq.support.aliases import Floats, Matrix, Policy, matrix_type
from hogeq.support.floats import UNIT_ROUNDOFF
from hogeq.support.messages import HogeqError, raised, shown

# Rows of a policy may miss 1 by what float64 arithmetic leaves, and by no more: a win rate counts
# from 1e-6 on.
ROW_SUM_TOLERANCE = 1e-9
ROUNDED_SUM = 1e-12  # more than rounding alone makes a sum of probabilities miss 1

TABLES = "a matrix (G, G) or a policy (G, G, K)"

MOST_PARTS = 1000  # most components that a mixture has


MOST_DICE = 127  # most dice that a matrix can hold, being int8


Rule: TypeAlias = Callable[[int, int], int]
"""Dice to roll by both scores, the own one first."""


class StrategyError(HogeqError):
    """A strategy, or the file or the name that should give one, is not valid.

    Examples
    --------
    >>> import hogeq
    >>> try:
    ...     hogeq.Game("fa25").strategy("optimum")
    ... except hogeq.StrategyError as error:
    ...     print(error.where)
    strategy 'optimum'
    """


# --- checks ---------------------------------------------------------------------------------------


def check_matrix(
    array: Any, goal: int, max_dice: int, name: str = "matrix", least: int = 0, most: int = 0
) -> Matrix:
    """Check a table of dice, and copy it as a matrix, int8 (goal, goal).

    Cells are whole numbers from `least` to `most`, or to `max_dice` if that is higher. Those above
    `max_dice` become `max_dice`. The choice -1 becomes the action after all dice, `max_dice` + 1.
    Otherwise the first bad cell is named in a `StrategyError`.
    """
    most = max(most, max_dice)
    # Usual tables are checked at once; what fails is checked cell by cell, for the message.
    table = np.array(array) if _are_plain_rows(array) else array
    if isinstance(table, np.ndarray) and table.dtype.kind in "iuf" and table.shape == (goal, goal):
        # NaN fails every comparison.
        is_good = (table >= least) & (table <= most) & (table == np.trunc(table))
        if is_good.all():
            return _actions_of_dice(table, max_dice)
    for _, line in bad_cells(array, goal, most, least):
        raise StrategyError(f"{name}: {line}")
    return _actions_of_dice(np.array([list(row) for row in array], np.int16), max_dice)


def _actions_of_dice(table: npt.NDArray[Any], max_dice: int) -> Matrix:
    """Turn numbers of dice into numbers of actions: at most `max_dice`, and -1 the one after."""
    dice = np.minimum(table, max_dice)
    return np.where(dice < 0, max_dice + 1, dice).astype(np.int8)


def _are_plain_rows(rows: Any) -> bool:
    """Whether these are lists of one length of plain numbers, which numpy reads all at once."""
    if not isinstance(rows, list) or {*map(type, rows)} != {list} or len({*map(len, rows)}) > 1:
        return False
    return {*map(type, chain.from_iterable(rows))} <= {int, float}


def bad_cells(rows: Any, goal: int, max_dice: int, least: int = 0) -> Iterator[tuple[str, str]]:
    """Yield the faults of a table of dice to roll, row by row: the kind of each, and a line.

    Kinds are "shape" and those of `_cell_fault`. Allowed are whole numbers from `least` to
    `max_dice`.
    """
    allowed = f"allowed: {goal} rows of {goal} whole numbers"
    if isinstance(rows, np.ndarray):
        if rows.ndim != 2:
            yield "shape", f"has shape {rows.shape}; {allowed}"
            return
        rows = rows[: goal + 1, : goal + 1].tolist()  # one cell too many suffices for the message
    if not _is_row(rows):
        yield "shape", f"is {shown(rows)}; {allowed}"
        return
    for row, cells in enumerate(rows[:goal]):
        if not _is_row(cells):
            yield "shape", f"row {row} is {shown(cells)}; {allowed}"
            continue
        for column, cell in enumerate(cells[:goal]):
            value = cell.item() if isinstance(cell, np.generic) else cell
            kind = _cell_fault(value, max_dice, least)
            if kind:
                range_allowed = f"allowed: whole numbers from {least} to {max_dice}"
                yield kind, f"{_name_row((row, column))} is {shown(value)}; {range_allowed}"
        if len(cells) != goal:
            fault = "missing" if len(cells) < goal else "one too many"
            cell = _name_row((row, min(goal, len(cells))))
            yield "shape", f"{cell} is {fault}; {allowed}"
    if len(rows) != goal:
        fault = "missing" if len(rows) < goal else "one too many"
        cell = _name_row((min(goal, len(rows)), 0))
        yield "shape", f"{cell} is {fault}; {allowed}"


def _cell_fault(value: object, max_dice: int, least: int) -> str:
    """Name the kind of a bad cell: fraction, no number, negative, large, or its type; else empty.

    A float such as 6.0 counts as a whole number.
    """
    # Types are compared, since True == 1.
    if type(value) is float and not value.is_integer():
        return "fraction" if math.isfinite(value) else "no number"
    if type(value) is int or type(value) is float:
        return "negative" if value < least else "large" if value > max_dice else ""
    return type(value).__name__


def check_policy(
    array: Any, shape: tuple[int, ...], name: str = "policy", *, has_scores: bool = False
) -> Policy:
    """Check the action probabilities of Hog, (G, G, K), or of any other game, and copy them.

    Each has to be from 0 to 1, and those of a row to sum to 1, within `ROW_SUM_TOLERANCE`. A row of
    Hog that misses 1 by more than rounding is divided by its sum: win rates are exact.
    """
    probabilities = as_array(array, name, f"shape {shape}")
    if probabilities.dtype.kind not in "iuf":
        raise StrategyError(f"{name}: holds {probabilities.dtype} values; allowed: float64 numbers")
    if probabilities.shape != shape:
        raise StrategyError(f"{name}: has shape {probabilities.shape}; allowed: {shape}")
    policy = probabilities.astype(np.float64)
    is_probability = (policy >= 0) & (policy <= 1 + ROW_SUM_TOLERANCE)  # False for NaN
    for *row, action in np.argwhere(~is_probability):
        does = f"rolls {action} dice" if has_scores else f"takes action {action}"
        raise StrategyError(
            f"{name}: {_name_row(row)} {does} with probability {policy[*row, action]}; "
            "allowed: 0 to 1"
        )
    sums = policy.sum(axis=-1)
    for index in np.argwhere(np.abs(sums - 1) > ROW_SUM_TOLERANCE):
        raise StrategyError(
            f"{name}: {_name_row(index)} has probabilities that sum to {sums[tuple(index)]}; "
            f"allowed: 1 within {ROW_SUM_TOLERANCE}{more_precise(probabilities)}"
        )
    if has_scores:
        misses = np.abs(sums - 1.0) > ROUNDED_SUM
        policy[misses] /= sums[misses][:, None]
    return policy


def check_table(
    array: Any, shape: tuple[int, ...], name: str = "strategy", *, has_scores: bool = False
) -> npt.NDArray[Any]:
    """Check a matrix or a policy of a game, which its number of axes tells apart, and copy it.

    `shape` is that of a policy of the game, whose rows are pairs of scores if it `has_scores`, as
    in Hog; `name` begins messages.
    """
    if shape[0] < 1:
        raise StrategyError(f"{name}: has no cells; allowed: {TABLES}, G at least 1")
    table = as_array(array, name, TABLES if has_scores else f"{shape} or {shape[:-1]}")
    is_policy = table.ndim == len(shape)
    if name == "strategy":  # it has no name of its own: messages say which of the two it is
        name = "policy" if is_policy else "matrix"
    if is_policy:
        return check_policy(table, shape, name, has_scores=has_scores)
    if has_scores:
        return check_matrix(table, shape[0], shape[-1] - 1, name)
    has_shape = table.shape == shape[:-1] and table.dtype.kind in "iu"
    if not has_shape or not ((table >= 0) & (table < shape[-1])).all():
        values = f"{table.dtype} values of shape {table.shape}"
        fault = "actions out of range" if has_shape else values
        allowed = f"actions {shape[:-1]} from 0 to {shape[-1] - 1}, or probabilities {shape}"
        raise StrategyError(f"{name}: has {fault}; allowed: {allowed}")
    return table.astype(matrix_type(shape[-1]))


def name_of_function(function: Rule) -> str:
    """Name a function, or the class of what can be called like one."""
    return str(getattr(function, "__name__", type(function).__name__))


def table_of_function(
    function: Rule, shape: tuple[int, ...], name: str, least: int = 0
) -> npt.NDArray[Any]:
    """Ask a function for every position, twice: it must depend on the scores alone.

    `shape` is that of a policy, (G, G, K), and `least` the lowest number allowed. Returns the
    numbers of dice, int (G, G).
    """
    function_name = name_of_function(function)
    max_dice = shape[-1] - 1 + min(least, 0)
    table = np.full(shape[:2], None)
    cells = list(np.ndindex(table.shape))
    for cell in cells + cells[::-1]:  # the second time in the other order
        where = f"{name}: {function_name}{cell}"
        try:
            answer = function(*cell)
        except Exception as error:
            raise StrategyError(f"{where} raised {raised(error)}") from error
        for _, line in bad_cells([[answer]], 1, max_dice, least):
            raise StrategyError(f"{where} {line.removeprefix('cell (row 0, column 0) ')}")
        if table[cell] not in {None, answer}:
            answers = f"is {table[cell]}, and {answer} when asked again"
            raise StrategyError(f"{where} {answers}: it must depend on the scores alone")
        table[cell] = answer
    return table.astype(int)


def check_weights(weights: npt.ArrayLike, parts: int, name: str) -> Floats:
    """Check and copy the weights of the components of a mixture, float64 (n,).

    They have to be from 0 to 1 and to sum to 1, within `ROW_SUM_TOLERANCE`. A sum that misses 1 by
    more than rounding can is divided out. `parts` is n.
    """
    try:
        array = np.asarray(weights)
    except ValueError as error:  # sequences that differ in length
        raise StrategyError(f"{name}: weights differ in length; allowed: one a part") from error
    if array.dtype.kind not in "iuf" or array.ndim != 1:
        raise StrategyError(
            f"{name}: weights are {array.dtype} of shape {array.shape}; allowed: numbers, (n,)"
        )
    if len(array) != parts or not 1 <= parts <= MOST_PARTS:
        raise StrategyError(
            f"{name}: has {len(array)} weights and {parts} parts; allowed: as many, "
            f"1 to {MOST_PARTS}"
        )
    chances = array.astype(np.float64)
    is_probability = (chances >= 0.0) & (chances <= 1.0 + ROW_SUM_TOLERANCE)  # False for NaN
    bad = np.flatnonzero(~is_probability)
    if len(bad):
        raise StrategyError(
            f"{name}: the weight of part {bad[0] + 1} is {chances[bad[0]]}; allowed: 0 to 1"
        )
    if abs(chances.sum() - 1.0) > ROW_SUM_TOLERANCE:
        raise StrategyError(
            f"{name}: weights sum to {chances.sum()}; allowed: 1 within {ROW_SUM_TOLERANCE}"
            f"{more_precise(array)}"
        )
    total = math.fsum(chances.tolist())
    # Weights that miss 1 by no more than rounding of their sum stay untouched.
    if abs(total - 1.0) > parts * UNIT_ROUNDOFF:
        chances /= total
    return chances


def as_array(table: Any, name: str, allowed: str = TABLES) -> npt.NDArray[Any]:
    """Convert a table to an array; `StrategyError` if its rows differ in length."""
    try:
        return np.asarray(table)
    except ValueError as error:
        raise StrategyError(f"{name}: rows differ in length; allowed: {allowed}") from error


def more_precise(array: npt.NDArray[Any]) -> str:
    """End a message about sums that miss 1, where the type of the numbers has too few digits."""
    if array.dtype.kind != "f" or array.dtype.itemsize >= 8:  # float64 has 8 bytes
        return ""
    return f"; {array.dtype} is too coarse: give it as float64, divided by its sums"


def _name_row(row: Iterable[int]) -> str:
    """Name a row of a policy by its index, which in Hog is a cell of a matrix."""
    index = tuple(row)
    return "cell (row {}, column {})".format(*index) if len(index) == 2 else f"row {index[0]}"


def _is_row(value: object) -> TypeGuard[Sequence[Any]]:
    """Whether a value is a sequence of cells; texts are none."""
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


# --- rows of probabilities ------------------------------------------------------------------------


def one_hot(actions: npt.ArrayLike, num_actions: int) -> Policy:
    """Make the policies (..., K) that choose the actions (...) for certain."""
    chosen = np.asarray(actions)
    # Rows of an identity matrix would be shorter to write, and take K * K numbers.
    rows = np.zeros((*chosen.shape, num_actions))
    np.put_along_axis(rows, chosen[..., None], 1.0, axis=-1)
    return rows


def zero_matrices(number: int, shape: tuple[int, ...]) -> Matrix:
    """Make matrices (number, ...) that take action 0; `shape` is that of a policy of the game."""
    return np.zeros((number, *shape[:-1]), matrix_type(shape[-1]))


def likeliest(policy: Policy) -> Matrix:
    """Return the most probable action of every row of a policy, (..., K), the lowest on ties."""
    return policy.argmax(axis=-1).astype(matrix_type(policy.shape[-1]))


def draw_actions(policy: Policy, random: np.random.Generator) -> Matrix:
    """Draw an action of every row of a policy, (..., K), by inverse transform sampling."""
    num_actions = policy.shape[-1]
    cumulative = policy.cumsum(axis=-1)
    # Scaled: a row may sum to a little less than 1.
    drawn = random.random(cumulative.shape[:-1]) * cumulative[..., -1]
    actions = (cumulative <= drawn[..., None]).sum(axis=-1)
    return np.minimum(actions, num_actions - 1).astype(matrix_type(num_actions))


def normalised(total: Floats, otherwise: Floats | None = None) -> Floats:
    """Scale rows, the last axis, to sum to 1, as a copy.

    A row without positive sum becomes that of `otherwise`, of the same shape; by default uniform.
    """
    sums = row_sums(total)
    is_empty = sums <= 0.0
    rows = total / np.where(is_empty, 1.0, sums)[..., None]
    rows[is_empty] = 1.0 / total.shape[-1] if otherwise is None else otherwise[is_empty]
    # A second time, since rows of tiny sums can miss 1 by more than rounding allows.
    rows /= row_sums(rows)[..., None]
    return rows


def row_sums(rows: Floats) -> Floats:
    """Add up the last axis: where it is short, several times as fast as numpy's own sum."""
    return np.einsum("...k->...", rows)


def match_regrets(regrets: Floats, epsilon: float = 0.0) -> Floats:
    """Match regrets (..., K): rows in proportion to positive regrets, no entry below `epsilon`.

    A row without positive regret becomes uniform.
    """
    matched = normalised(np.maximum(regrets, 0.0))
    if epsilon == 0.0:
        return matched
    return epsilon + (1.0 - regrets.shape[-1] * epsilon) * matched


def at_actions(table: Floats, actions: npt.NDArray[np.integer]) -> Floats:
    """Entries of a table (..., K) at one action of each row, (...)."""
    return np.take_along_axis(table, actions[..., None].astype(np.int64), axis=-1)[..., 0]


def given_arrival(values: Floats, infoset_reach: Floats) -> Floats:
    """Divide counterfactual values (..., K) by the reach of their rows (...); 0 where that is 0."""
    rows = infoset_reach[..., None]
    return np.divide(values, rows, out=np.zeros_like(values), where=rows > 0.0)
