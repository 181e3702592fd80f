"""Strategies as arrays, and the ones that are known by name.

A *matrix* is an int8 array of shape (G, G): ``matrix[s, o]`` dice are rolled by a player with score
``s`` against ``o``. A *policy* is a float64 array of shape (G, G, K): ``policy[s, o, k]`` is the
probability of rolling ``k`` dice. G is the goal, K = max_dice + 1.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from difflib import get_close_matches
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeAlias, TypeGuard, TypeVar

import numpy as np
import numpy.typing as npt

from hogeq.rules.turn import land, zero_points

if TYPE_CHECKING:
    from hogeq.game import Game

Matrix: TypeAlias = npt.NDArray[np.int8]
Policy: TypeAlias = npt.NDArray[np.float64]

# Rows of a policy may miss 1 by what float64 arithmetic leaves, and by no more: a win rate counts
# from 1e-6 on.
ROW_SUM_TOLERANCE = 1e-9

_SHOWN = 60  # characters of a bad value that a message repeats


class StrategyError(ValueError):
    """A strategy, or the file or the name that should give one, is not valid."""


# --- validation -----------------------------------------------------------------------------------


def check_matrix(array: Any, goal: int, max_dice: int, name: str = "matrix") -> Matrix:
    """Copy a table of dice to roll, once every cell is known to be good.

    Parameters
    ----------
    array : array or sequence of sequences, shape (goal, goal)
        Whole numbers from 0 to `max_dice`, of any integer or floating type. Row = own score.
    goal : int
        Points that win.
    max_dice : int
        Most dice a turn may roll, at most 127.
    name : str
        What messages call the table.

    Returns
    -------
    int8 array, shape (goal, goal)
        Shares no memory with `array`.

    Raises
    ------
    StrategyError
        If a cell is missing, one too many, not a whole number, or out of range. The message names
        the first such cell in reading order.
    """
    if not isinstance(array, np.ndarray):
        return _check_rows(array, goal, max_dice, name)
    if array.dtype.kind not in "iuf":
        # Objects, texts, truth values: one by one, to name the first that is no number.
        return _check_rows(array.tolist(), goal, max_dice, name)
    if array.shape != (goal, goal):
        _refuse_shape(array.shape, goal, name)
    # Not a number fails every comparison.
    good = (array >= 0) & (array <= max_dice) & (array == np.trunc(array))
    if not good.all():
        row, column = np.argwhere(~good)[0]
        _refuse_cell(int(row), int(column), array[row, column].item(), max_dice, name)
    return array.astype(np.int8)


def check_policy(array: Any, goal: int, max_dice: int, name: str = "policy") -> Policy:
    """Copy a table of roll probabilities, once every row is known to be a distribution.

    Parameters
    ----------
    array : array, shape (goal, goal, max_dice + 1)
        Not negative; each row ``array[s, o]`` sums to 1 within 1e-9. Rows are not rescaled.
    goal : int
        Points that win.
    max_dice : int
        Most dice a turn may roll.
    name : str
        What messages call the table.

    Returns
    -------
    float64 array, shape (goal, goal, max_dice + 1)
        Shares no memory with `array`.

    Raises
    ------
    StrategyError
        If the shape is wrong, or a probability negative or no number, or a row does not sum to 1.
        The message names the first bad cell in reading order.
    """
    shape = (goal, goal, max_dice + 1)
    try:
        given = np.asarray(array)
    except ValueError as error:  # sequences that differ in length
        raise StrategyError(f"{name}: rows differ in length, allowed is shape {shape}") from error
    if given.dtype.kind not in "iuf":
        raise StrategyError(f"{name}: holds {given.dtype} values, allowed are float64 numbers")
    if given.shape != shape:
        raise StrategyError(f"{name}: has shape {given.shape}, allowed is {shape}")
    policy = given.astype(np.float64)
    good = (policy >= 0) & (policy <= 1 + ROW_SUM_TOLERANCE)
    if not good.all():
        row, column, roll = (int(index) for index in np.argwhere(~good)[0])
        raise StrategyError(
            f"{name}: cell (row {row}, column {column}) rolls {roll} dice with probability "
            f"{policy[row, column, roll]}, allowed are 0 to 1"
        )
    sums = policy.sum(axis=2)
    off = np.abs(sums - 1) > ROW_SUM_TOLERANCE
    if off.any():
        row, column = (int(index) for index in np.argwhere(off)[0])
        raise StrategyError(
            f"{name}: cell (row {row}, column {column}) has probabilities that sum to "
            f"{sums[row, column]}, allowed is 1 within {ROW_SUM_TOLERANCE}"
        )
    return policy


def is_policy(array: npt.NDArray[Any]) -> TypeGuard[Policy]:
    """Whether a valid strategy is a policy; otherwise it is a matrix."""
    return array.ndim == 3


def as_policy(strategy: npt.NDArray[Any], rolls: int) -> Policy:
    """Give any valid strategy as a policy.

    Parameters
    ----------
    strategy : matrix or policy, shape (G, G) or (G, G, K)
    rolls : int
        K, the number of rolls to choose from, 0 dice included.

    Returns
    -------
    float64 array, shape (G, G, K)
        A fresh array, also where `strategy` is a policy.
    """
    if is_policy(strategy):
        return strategy.astype(np.float64)
    policy: Policy = np.equal.outer(strategy, np.arange(rolls)).astype(np.float64)
    return policy


def _check_rows(rows: Any, goal: int, max_dice: int, name: str) -> Matrix:
    if not _is_row(rows):
        raise StrategyError(f"{name}: is {shown(rows)}, {_allowed(goal)}")
    matrix = np.empty((goal, goal), np.int8)
    for row, cells in enumerate(rows):
        if row == goal:
            _refuse_excess(row, 0, goal, name)
        if not _is_row(cells):
            raise StrategyError(f"{name}: row {row} is {shown(cells)}, {_allowed(goal)}")
        for column, cell in enumerate(cells):
            if column == goal:
                _refuse_excess(row, column, goal, name)
            value = cell.item() if isinstance(cell, np.generic) else cell
            # By type, since True == 1; and 6.0 is a whole number.
            whole = type(value) is int or (type(value) is float and value.is_integer())
            if not (whole and 0 <= value <= max_dice):
                _refuse_cell(row, column, value, max_dice, name)
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


def _refuse_shape(shape: tuple[int, ...], goal: int, name: str) -> NoReturn:
    if len(shape) != 2:
        raise StrategyError(f"{name}: has shape {shape}, {_allowed(goal)}")
    rows, columns = shape
    if rows == 0 or columns < goal:
        _refuse_gap(0, columns if rows else 0, goal, name)
    if columns > goal:
        _refuse_excess(0, goal, goal, name)
    if rows < goal:
        _refuse_gap(rows, 0, goal, name)
    _refuse_excess(goal, 0, goal, name)


def _refuse_cell(row: int, column: int, value: object, max_dice: int, name: str) -> NoReturn:
    raise StrategyError(
        f"{name}: cell (row {row}, column {column}) is {shown(value)}, "
        f"allowed are whole numbers from 0 to {max_dice}"
    )


def _refuse_gap(row: int, column: int, goal: int, name: str) -> NoReturn:
    raise StrategyError(f"{name}: cell (row {row}, column {column}) is missing, {_allowed(goal)}")


def _refuse_excess(row: int, column: int, goal: int, name: str) -> NoReturn:
    raise StrategyError(
        f"{name}: cell (row {row}, column {column}) is one too many, {_allowed(goal)}"
    )


def _allowed(goal: int) -> str:
    return f"allowed are {goal} rows of {goal} whole numbers"


def shown(value: object) -> str:
    """Give a bad value as a message repeats it: printable ASCII, not too long."""
    text = ascii(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


# --- strategies by name ---------------------------------------------------------------------------


class Builtin(NamedTuple):
    """A strategy that has a name."""

    parameters: tuple[str, ...]
    """Names of the whole numbers to be given after the colon."""
    about: str
    """One line for people."""
    make: Callable[..., Matrix | Policy]
    """Called with the game, one int for each parameter, and options by name."""
    options: Mapping[str, float]
    """Numbers that may be given by name, and what they are if they are not."""

    def usage(self, name: str) -> str:
        """How to write it, ``name:PARAMETER,...``."""
        return f"{name}:{','.join(self.parameters)}" if self.parameters else name


_BUILTINS: dict[str, Builtin] = {}

_Maker = TypeVar("_Maker", bound=Callable[..., Matrix | Policy])


def register(usage: str, about: str) -> Callable[[_Maker], _Maker]:
    """Make a function the maker of a strategy that users can name.

    Parameters
    ----------
    usage : str
        The name, and after a colon what its parameters are called: ``"bacon:CUTOFF,N"``.
        Parameters are whole numbers; one called N is a number of dice and is checked as such.
    about : str
        One line for people.

    Returns
    -------
    decorator
        For a function of the game and one int for each parameter. Its keyword-only parameters,
        all with an int or float as default, are options: users may write ``name:option=value``.
    """
    name, _, parameters = usage.partition(":")

    def enter(make: _Maker) -> _Maker:
        options = {
            option.name: option.default
            for option in signature(make).parameters.values()
            if option.kind is Parameter.KEYWORD_ONLY
        }
        wanted = tuple(parameters.split(",")) if parameters else ()
        _BUILTINS[name] = Builtin(wanted, about, make, options)
        return make

    return enter


def names() -> dict[str, str]:
    """List the strategies that have a name.

    Returns
    -------
    dict of str to str
        How to write each, with its parameters, and one line about it, which ends with its options.
    """
    return {entry.usage(name): entry.about + _options(entry) for name, entry in _BUILTINS.items()}


def _options(entry: Builtin) -> str:
    defaults = ",".join(f"{option}={value}" for option, value in entry.options.items())
    return f" (options :{defaults})" if defaults else ""


def is_builtin(spec: str) -> bool:
    """Whether `spec` starts with the name of a built-in strategy."""
    return spec.partition(":")[0] in _BUILTINS


def nearest(given: str, known: Collection[str]) -> str:
    """Say which known name is meant, as the end of a message: ``" (nearest: x)"``, or nothing."""
    close = get_close_matches(given, known, n=1)
    return f" (nearest: {close[0]})" if close else ""


def builtin(spec: str, game: "Game") -> Matrix | Policy:
    """Make a strategy that is known by name.

    Parameters
    ----------
    spec : str
        A name, with its parameters after a colon, and after them its options:
        ``"always_roll:6"``, ``"huan2020:epsilon=0.02"``. See `names`.
    game : Game
        The game it is to play.

    Returns
    -------
    int8 array, shape (G, G), or float64 array, shape (G, G, K)
        A fresh array.

    Raises
    ------
    StrategyError
        If the name is unknown, or a parameter missing, one too many, not whole or out of range,
        or an option unknown, given twice, no number or out of range.
    """
    name, colon, rest = spec.partition(":")
    if name not in _BUILTINS:
        allowed = ", ".join(names()) + nearest(name, _BUILTINS)
        raise StrategyError(f"strategy {shown(spec)}: unknown name, allowed are {allowed}")
    entry = _BUILTINS[name]
    texts = rest.split(",") if colon else []
    options = _given_options(spec, entry, [text for text in texts if "=" in text])
    given = [text for text in texts if "=" not in text]
    if len(given) != len(entry.parameters):
        raise StrategyError(
            f"strategy {shown(spec)}: {len(given)} parameters given, "
            f"to be written as {entry.usage(name)}"
        )
    arguments = []
    for parameter, text in zip(entry.parameters, given, strict=True):
        # Nine digits are more than any parameter can use, and int() is slow on thousands.
        if not re.fullmatch(r"\s*[+-]?[0-9]{1,9}\s*", text):
            raise StrategyError(
                f"strategy {shown(spec)}: {parameter} is {shown(text)}, "
                f"allowed is a whole number in {entry.usage(name)}"
            )
        number = int(text)
        if parameter == "N" and not 0 <= number <= game.rules.max_dice:
            raise StrategyError(
                f"strategy {shown(spec)}: N is {number}, allowed are 0 to {game.rules.max_dice}"
            )
        arguments.append(number)
    return entry.make(game, *arguments, **options)


def _given_options(spec: str, entry: Builtin, texts: Sequence[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for text in texts:
        option, _, value = (part.strip() for part in text.partition("="))
        if option not in entry.options:
            allowed = ", ".join(entry.options) or "none"
            raise StrategyError(
                f"strategy {shown(spec)}: unknown option {shown(option)}, allowed are {allowed}"
            )
        if option in found:
            raise StrategyError(f"strategy {shown(spec)}: option {option} is given twice")
        whole = isinstance(entry.options[option], int)
        fraction = "" if whole else r"(\.[0-9]{0,17})?(e[+-]?[0-9]{1,2})?"
        if not re.fullmatch(rf"[+-]?[0-9]{{1,9}}{fraction}", value):
            kind = "a whole number" if whole else "a number"
            raise StrategyError(
                f"strategy {shown(spec)}: {option} is {shown(value)}, allowed is {kind}"
            )
        found[option] = int(value) if whole else float(value)
    return found


@register("always_roll:N", "roll N dice, whatever the scores")
def always_roll(game: "Game", dice: int) -> Matrix:
    """Matrix that rolls `dice` dice everywhere."""
    return np.full((game.goal, game.goal), dice, np.int8)


@register("bacon:CUTOFF,N", "roll 0 dice for at least CUTOFF points, else N")
def bacon(game: "Game", cutoff: int, dice: int) -> Matrix:
    """Matrix that rolls no dice where that scores `cutoff` points or more, else `dice`."""
    matrix = always_roll(game, dice)
    matrix[:, _zero_points(game) >= cutoff] = 0
    return matrix


@register("swap:CUTOFF,N", "as bacon, but roll 0 for any swap that helps and for none that hurts")
def swap(game: "Game", cutoff: int, dice: int) -> Matrix:
    """Matrix that rolls no dice for a good swap, or for `cutoff` points and no bad one.

    A swap is good if it leaves the mover ahead and bad if it leaves the mover behind. Feral Hogs
    are not counted: they depend on what a strategy may not see.

    Parameters
    ----------
    game : Game
    cutoff : int
        Least points that are worth rolling no dice.
    dice : int
        Dice to roll otherwise.

    Returns
    -------
    int8 array, shape (G, G)
    """
    matrix = always_roll(game, dice)
    for opponent, points in enumerate(_zero_points(game).tolist()):
        for score in range(game.goal):
            landing = land(game.rules, score + points, opponent)
            # Only a swap changes the score of the player who is not moving.
            swapped = landing.opponent != opponent
            ahead = landing.score > landing.opponent
            if ahead if swapped else points >= cutoff:
                matrix[score, opponent] = 0
    return matrix


def _zero_points(game: "Game") -> npt.NDArray[np.int64]:
    """Points for rolling no dice, shape (G,), by the opponent's score."""
    return np.array([zero_points(game.rules, opponent) for opponent in range(game.goal)])
