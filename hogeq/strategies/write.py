"""Writing strategy files, whole or not at all."""

import io
import json
import os
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from hogeq.strategies.arrays import (
    MOST_DICE,
    TABLES,
    StrategyError,
    as_array,
    check_matrix,
    check_policy,
    is_policy,
)
from hogeq.strategies.mixtures import Mixture, check_mixture
from hogeq.strategies.read import known_suffix
from hogeq.support.aliases import Matrix, Policy
from hogeq.support.files import write_whole
from hogeq.support.messages import refusal, shown, shown_path

LONGEST_NAME: Final = 64
"""Most characters of a player's name."""

_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"  # as int(text, 36) reads them


def write_strategy(
    path: str | os.PathLike[str],
    array: npt.ArrayLike | Mixture,
    goal: int | None = None,
    max_dice: int | None = None,
    player_name: str | None = None,
) -> None:
    """Write a strategy in the format of the path's suffix, whole or not at all."""
    path = Path(path)
    suffix = known_suffix(path)
    name = shown_path(path)
    if isinstance(array, Mixture):
        _write_mixture(path, array, goal, max_dice)
        return
    strategy = _checked(array, goal, max_dice)
    if is_policy(strategy) and suffix not in {".npy", ".npz"}:
        raise StrategyError(f"{name}: a policy can be written to .npz and .npy, not {suffix}")
    if suffix == ".py":
        write_whole(path, export_python(strategy, player_name or "").encode())
    elif suffix in {".npy", ".npz"}:
        file = io.BytesIO()
        if suffix == ".npy":
            np.save(file, strategy)
        else:
            key = "policy" if is_policy(strategy) else "matrix"
            arrays: dict[str, Any] = {key: strategy}
            np.savez_compressed(file, **arrays)
        write_whole(path, file.getvalue())
    else:
        write_whole(path, _text(strategy.tolist(), suffix).encode())


def _checked(array: npt.ArrayLike, goal: int | None, max_dice: int | None) -> Matrix | Policy:
    """Check a table against the sizes given, or those of its shape."""
    table = as_array(array, "strategy")
    if table.ndim not in {2, 3}:
        raise StrategyError(refusal("strategy", array, f"{TABLES}, or a mixture"))
    goal = len(table) if goal is None else goal
    if is_policy(table):
        return check_policy(table, goal, table.shape[2] - 1 if max_dice is None else max_dice)
    # As it was given: cells of several types have one in an array.
    return check_matrix(array, goal, MOST_DICE if max_dice is None else max_dice)


def _write_mixture(path: Path, mixture: Mixture, goal: int | None, max_dice: int | None) -> None:
    parts = mixture.parts
    name = shown_path(path)
    most = MOST_DICE if parts.ndim == 3 else parts.shape[3] - 1
    mixture = check_mixture(
        mixture.weights,
        parts,
        parts.shape[1] if goal is None else goal,
        most if max_dice is None else max_dice,
        name,
    )
    if known_suffix(path) != ".npz":
        raise StrategyError(f"{name}: a mixture can be written to .npz, not {known_suffix(path)}")
    file = io.BytesIO()
    arrays: dict[str, Any] = {"weights": mixture.weights, mixture.kind: mixture.parts}
    np.savez_compressed(file, **arrays)
    write_whole(path, file.getvalue())


def _text(table: list[list[int]], suffix: str) -> str:
    if suffix == ".json":
        return "[\n" + ",\n".join(json.dumps(row) for row in table) + "\n]\n"
    separator = "," if suffix == ".csv" else " "
    return "".join(separator.join(map(str, row)) + "\n" for row in table)


def check_player_name(name: str) -> None:
    """Refuse what a contest does not take or a ``.py`` cannot say, with a `StrategyError`."""
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
