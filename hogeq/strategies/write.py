"""Writing strategy files, whole or not at all."""

import io
import json
import os
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from hogeq.strategies.arrays import MOST_DICE, TABLES, StrategyError, as_array, check_matrix
from hogeq.strategies.strategy import Mixture, Strategy, StrategyLike, shape_like, strategy_of_shape
from hogeq.support.files import write_whole
from hogeq.support.messages import refusal, shown, shown_path

LONGEST_NAME: Final = 64
"""Most characters of a player's name."""

SUFFIXES: Final = (".csv", ".txt", ".json", ".npy", ".npz", ".py")

_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"  # as int(text, 36) reads them


def _suffix(path: Path) -> str:
    """Give a path's suffix in lower case, one of `SUFFIXES`, or raise `StrategyError`."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        given = f"suffix {path.suffix!a}" if suffix else "a name without suffix"
        raise StrategyError(f"{shown_path(path)}: {given}; allowed: {', '.join(SUFFIXES)}")
    return suffix


def write_strategy(
    path: str | os.PathLike[str],
    given: StrategyLike,
    goal: int | None = None,
    max_dice: int | None = None,
    player_name: str | None = None,
) -> None:
    """Write a strategy in the format of the path's suffix, whole or not at all."""
    path = Path(path)
    suffix, name = _suffix(path), shown_path(path)
    strategy = _checked(given, goal, max_dice)
    arrays: dict[str, Any] = {strategy.kind: strategy.array}
    if strategy.kind == "mixture":
        if suffix != ".npz":
            raise StrategyError(f"{name}: a mixture can be written to .npz, not {suffix}")
        kind = "matrices" if strategy.is_pure else "policies"
        arrays = {"weights": strategy.weights, kind: strategy.array}
    elif strategy.kind == "policy" and suffix not in {".npy", ".npz"}:
        raise StrategyError(f"{name}: a policy can be written to .npz and .npy, not {suffix}")
    if suffix == ".py":
        data = export_python(strategy.array, player_name or "").encode()
    elif suffix in {".npy", ".npz"}:
        file = io.BytesIO()
        if suffix == ".npy":
            np.save(file, strategy.array)
        else:
            np.savez_compressed(file, **arrays)
        data = file.getvalue()
    else:
        data = _text(strategy.array.tolist(), suffix).encode()
    write_whole(path, data)


def _checked(given: StrategyLike, goal: int | None, max_dice: int | None) -> Strategy:
    """Check a strategy against the sizes given, or those of its shape."""
    if isinstance(given, Strategy):
        return given
    table = given.parts[0] if isinstance(given, Mixture) else as_array(given, "strategy")
    if table.ndim not in {2, 3}:
        raise StrategyError(refusal("strategy", given, f"{TABLES}, or a mixture"))
    like = shape_like([table])
    goal = like[0] if goal is None else goal
    actions = like[2] if max_dice is None else max_dice + 1
    return strategy_of_shape((goal, goal, actions), given)


def _text(table: list[list[int]], suffix: str) -> str:
    if suffix == ".json":
        return "[\n" + ",\n".join(json.dumps(row) for row in table) + "\n]\n"
    separator = "," if suffix == ".csv" else " "
    return "".join(separator.join(map(str, row)) + "\n" for row in table)


def check_player_name(name: str) -> None:
    """Refuse a name that a contest does not take or that a ``.py`` cannot hold."""
    if not isinstance(name, str) or not name.strip():
        raise StrategyError(f"player name {shown(name)}: allowed: a text that is not blank")
    if len(name) > LONGEST_NAME:
        allowed = f"1 to {LONGEST_NAME} characters"
        raise StrategyError(f"player name {shown(name)}: has {len(name)}; allowed: {allowed}")
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise StrategyError(f"player name {shown(name)}: is not valid Unicode") from error


def export_python(matrix: npt.ArrayLike, player_name: str) -> str:
    """Text of the file that a contest entrant submits."""
    check_player_name(player_name)
    given = as_array(matrix, "matrix")
    if given.ndim != 2:
        raise StrategyError(refusal("matrix", matrix, "a matrix (G, G)"))
    table = check_matrix(matrix, len(given), MOST_DICE).tolist()
    most = max(max(row) for row in table)
    if most < len(_DIGITS):
        about = "one character for each opponent's score, a = 10 and so on"
        cells = [[_DIGITS[dice] for dice in row] for row in table]
        answer = f"int(ROLLS[score][opponent_score], {len(_DIGITS)})"
    else:
        about = "two hexadecimal digits for each opponent's score"
        cells = [[f"{dice:02x}" for dice in row] for row in table]
        answer = "int(ROLLS[score][2 * opponent_score : 2 * opponent_score + 2], 16)"
    rolls = "\n".join(f'    "{"".join(row)}",' for row in cells)
    return f'''"""A strategy for Hog, as a table."""

PLAYER_NAME = {player_name!r}

# Dice to roll: one line for each own score, {about}.
ROLLS = (
{rolls}
)


def final_strategy(score, opponent_score):
    """Return how many dice to roll with `score` against `opponent_score`."""
    return {answer}
'''
