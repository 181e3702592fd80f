"""The content of strategy files, as hogeq writes them, by their suffixes."""

from typing import Final

from hogeq.strategies.arrays import StrategyError
from hogeq.support.aliases import Matrix
from hogeq.support.files import json_lines
from hogeq.support.messages import player_name_fault

WRITTEN: Final = (".csv", ".txt", ".json", ".npy", ".npz", ".py")
"""Suffixes of files that can be written."""

TABLE_NAMES: Final = "matrix", "policy"
MIXTURE_NAMES: Final = "matrices", "policies"  # of the components of a mixture
WEIGHTS: Final = "weights"
MADE_FOR: Final = "game", "rows_sha256"  # name and hash of a game other than Hog, as bytes
"""Names of the arrays in an ``.npz`` file."""

_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"  # as int(text, 36) reads them


def matrix_text(matrix: Matrix, suffix: str) -> str:
    """Write a matrix as lines of dice, for a ``.csv``, ``.txt`` or ``.json`` file."""
    rows = matrix.tolist()
    if suffix == ".json":
        return json_lines(rows)
    separator = "," if suffix == ".csv" else " "
    return "".join(separator.join(map(str, row)) + "\n" for row in rows)


def contest_code(matrix: Matrix, player_name: str) -> str:
    """Write the Python file that a contest entrant submits: a table of characters, and a function.

    `matrix` holds numbers of dice (G, G), and -1 for that choice.
    """
    fault = player_name_fault(player_name)
    if fault:
        raise StrategyError(fault)
    cells, meaning, expression = _encode_cells(matrix)
    rolls = "\n".join(f'    "{"".join(row)}",' for row in cells)
    return f'''"""A strategy for Hog, as a table."""

PLAYER_NAME = {player_name!r}

# Dice to roll: one line for each own score, {meaning}.
ROLLS = (
{rolls}
)


def final_strategy(score, opponent_score):
    """Return how many dice to roll with `score` against `opponent_score`."""
    return {expression}
'''


def _encode_cells(matrix: Matrix) -> tuple[list[list[str]], str, str]:
    """Write each cell of a matrix (G, G) of dice as a character, or as two if dice are too many.

    Returns the texts of the cells; what a row of them means, in words; and the Python expression
    that reads a cell of `ROLLS`, by `score` and `opponent_score`.
    """
    table = matrix.tolist()
    most_dice = max(max(row) for row in table)
    has_minus_one = bool(matrix.min() < 0)
    if most_dice >= len(_DIGITS):
        offset = 1 if has_minus_one else 0
        meaning = "two hexadecimal digits for each opponent's score"
        expression = "int(ROLLS[score][2 * opponent_score : 2 * opponent_score + 2], 16)"
        if has_minus_one:
            meaning += ", the dice + 1"
            expression += " - 1"
        return [[f"{dice + offset:02x}" for dice in row] for row in table], meaning, expression
    if has_minus_one:
        meaning = "one character for each opponent's score, - for -1, a = 10 and so on"
        # The character for a number n stands at n + 1.
        expression = f'"-{_DIGITS}".index(ROLLS[score][opponent_score]) - 1'
        characters = {-1: "-", **dict(enumerate(_DIGITS))}
        return [[characters[dice] for dice in row] for row in table], meaning, expression
    meaning = "one character for each opponent's score, a = 10 and so on"
    expression = f"int(ROLLS[score][opponent_score], {len(_DIGITS)})"
    return [[_DIGITS[dice] for dice in row] for row in table], meaning, expression
