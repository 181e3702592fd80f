"""Simple changes of a strategy that win more: of a rule that a table follows, of a number in code.

For a table: roll b dice, instead of a or of anything, under one condition on the scores. The gain
to first order is the sum over the cells; the best by that are measured exactly. For code: each
whole number in it is changed a little, and the tables that come out are measured.
"""

import ast
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.evaluation.counterfactual import counterfactual_values
from hogeq.evaluation.values import win_rate
from hogeq.model.game import HogEngine
from hogeq.model.shared import shared_workspace
from hogeq.rules.rules import zero_points
from hogeq.rules.turn import land
from hogeq.strategies.arrays import check_matrix
from hogeq.strategies.sandbox import Entry, hear
from hogeq.strategies.strategy import Strategy, policies_of
from hogeq.support.aliases import Floats, Ints, Matrix

MEASURED: Final = 120  # changes of rules that are measured

LISTED: Final = 3

LEAST: Final = 5e-5  # of a gain that is listed

OVERLAP: Final = 0.5  # share of the cells of the smaller of two changes that both may have

FIT: Final = 0.75  # share of what a threshold or a table says that both say

STEPS: Final = (-1, 1, -2, 2, -4, 4, -8, 8)
"""By which numbers in code are changed, all of them by the first before any by the second."""

MOST_NUMBERS: Final = 24

SECONDS: Final = 5.0  # for all tables of changed code


class RuleChange(NamedTuple):
    """A simple change of a table, measured."""

    change: str
    positions: int  # that change
    gain: float  # of win rate


class ConstantChange(NamedTuple):
    """Another number in code, measured."""

    line: int
    column: int
    number: int
    instead: int
    gain: float


class ConstantChanges(NamedTuple):
    """Changes of numbers in code."""

    best: list[ConstantChange]  # one for each number, the best first
    tried: int  # changes that there was time for
    possible: int


class _Candidate(NamedTuple):
    change: str
    cells: NDArray[np.bool_]
    roll: int  # action


def rule_changes(game: HogEngine, matrix: Matrix, against: Strategy) -> list[RuleChange]:
    """Find the simple changes that gain most, the best first."""
    found = counterfactual_values(shared_workspace(game, 2), policies_of(game, matrix, against))
    at = np.take_along_axis(found.values, matrix[..., None].astype(np.int64), axis=2)
    gains, reach = found.values - at, found.infoset_reach
    candidates = [*_by_scores(game, matrix, gains), *_by_points(game, matrix, reach)]
    first = [float(gains[one.cells, one.roll].sum()) for one in candidates]
    rate = win_rate(game, matrix, against, endless_is_draw=True).win_rate
    measured = []
    for place in np.argsort(first)[::-1][:MEASURED]:
        one = candidates[place]
        changed = np.where(one.cells, np.int8(one.roll), matrix)
        cells = (changed != matrix) & (reach > 0.0)
        gain = win_rate(game, changed, against, endless_is_draw=True).win_rate - rate
        measured.append((RuleChange(one.change, int(cells.sum()), gain), cells))
    chosen: list[tuple[RuleChange, NDArray[np.bool_]]] = []
    for change, cells in sorted(measured, key=lambda one: -one[0].gain):
        other = all(
            (cells & taken).sum() <= OVERLAP * min(cells.sum(), taken.sum()) for _, taken in chosen
        )
        if change.gain >= LEAST and other and len(chosen) < LISTED:
            chosen.append((change, cells))
    return [change for change, _ in chosen]


def _by_scores(game: HogEngine, matrix: Matrix, gains: Floats) -> Iterator[_Candidate]:
    """Give for each roll, and each that it replaces, the best conditions to first order.

    A condition holds where a number that the scores give is at least a limit.
    """
    own, other = np.meshgrid(*map(np.arange, matrix.shape), indexing="ij")
    families: tuple[tuple[str, Ints, int], ...] = (
        ("from {} points on", own, 0),
        ("up to {} points", -own, 1 - game.goal),
        ("when the opponent has {} or more", other, 1),
        ("when {} or more ahead", own - other, 1),
        ("when {} or more behind", other - own, 1),
    )
    names = list(map(dice_in_words, game.choices))
    for text, key, least in families:
        limits = np.arange(least, key.max() + 1)[::-1]
        for before in (None, *np.unique(matrix).tolist()):
            where = key >= least
            where = where if before is None else where & (matrix == before)
            sums = np.zeros((len(limits), game.num_actions))
            np.add.at(sums, key.max() - key[where], gains[where])
            best = np.argsort(-sums.cumsum(axis=0), axis=0, kind="stable")[:LISTED]
            instead = "" if before is None else f", not {names[before]},"
            for (_, roll), place in np.ndenumerate(best):
                limit = int(limits[place])
                change = f"{names[roll]}{instead} {text.format(abs(limit))}"
                yield _Candidate(change, where & (key >= limit), roll)


def _by_points(game: HogEngine, matrix: Matrix, reach: Floats) -> Iterator[_Candidate]:
    """Give other thresholds of the points from which on no dice are rolled."""
    rules, cells, no = game.rules, list(np.ndindex(matrix.shape)), game.choices.index(0)
    points = np.array([zero_points(rules, *cell) for cell in cells]).reshape(matrix.shape)
    scored = np.array(
        [
            land(rules, own + zero_points(rules, own, other), other).score - own
            for own, other in cells
        ]
    ).reshape(matrix.shape)
    met, none = reach > 0.0, matrix == no
    if not (met & ~none).any():
        return
    usual = int(np.bincount(matrix[met & ~none]).argmax())
    for verb, table in (("score", points), ("bring", scored)):
        steps = np.unique(table).tolist()
        both = [(none & (table >= step))[met].sum() for step in steps]
        either = [(none | (table >= step))[met].sum() for step in steps]
        fits = np.divide(both, np.maximum(either, 1))
        best = int(fits.argmax())
        now = f", not {steps[best]}" if fits[best] >= FIT else ""
        for place, step in enumerate(steps):
            points_from = f"where they {verb} {step} points or more"
            lower, higher = (now if place < best else ""), (now if place > best else "")
            yield _Candidate(f"no dice {points_from}{lower}", (table >= step) & ~none, no)
            yield _Candidate(f"no dice only {points_from}{higher}", (table < step) & none, usual)


def dice_in_words(number: int) -> str:
    """Name a roll."""
    return {0: "no dice", 1: "1 die", -1: "-1"}.get(number, f"{number} dice")


# --- numbers in code ------------------------------------------------------------------------------


def constant_changes(
    game: HogEngine, path: Path, matrix: Matrix, against: Strategy
) -> ConstantChanges | None:
    """Try other numbers in a trusted file, which is run alone; None if it has none, or too many."""
    try:
        source = path.read_text("utf-8")
        numbers = list(_numbers(source))
    except (UnicodeDecodeError, SyntaxError):
        return None
    if not 0 < len(numbers) <= MOST_NUMBERS:
        return None
    changes = [(one, one.value + step) for step in STEPS for one in numbers]
    texts = [_with_number(source, one, number) for one, number in changes]
    least, most, dice = min(game.choices), game.rules.most_answer, game.rules.max_dice
    tables = _ask_variants(texts, game.goal, range(least, most + 1), SECONDS)
    rate = win_rate(game, matrix, against, endless_is_draw=True).win_rate
    best: dict[tuple[int, int], ConstantChange] = {}
    for (one, number), table in zip(changes, tables, strict=False):
        if table is None:
            continue
        changed = check_matrix(table, game.goal, dice, "changed code", least, most)
        gain = win_rate(game, changed, against, endless_is_draw=True).win_rate - rate
        place = one.line, one.column
        if gain >= LEAST and (place not in best or gain > best[place].gain):
            best[place] = ConstantChange(*place, one.value, number, gain)
    ranked = sorted(best.values(), key=lambda one: -one.gain)
    return ConstantChanges(ranked[:LISTED], len(tables), len(changes))


class _Number(NamedTuple):
    """A whole number in a program."""

    line: int
    column: int  # in bytes, as its length
    length: int
    value: int


def _numbers(source: str) -> Iterator[_Number]:
    """Give the whole numbers in the functions of a program, and those that it names."""
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.FunctionDef | ast.Assign | ast.AnnAssign):
            for node in ast.walk(statement):
                if isinstance(node, ast.Constant) and type(node.value) is int:
                    text = str(node.value)
                    # Within an f-string places are not those of the file.
                    if ast.get_source_segment(source, node) == text:
                        yield _Number(node.lineno, node.col_offset, len(text), node.value)


def _with_number(source: str, place: _Number, number: int) -> str:
    lines = source.encode().splitlines(keepends=True)
    line, text = lines[place.line - 1], b"%d" % number if number >= 0 else b"(%d)" % number
    lines[place.line - 1] = line[: place.column] + text + line[place.column + place.length :]
    return b"".join(lines).decode()


_VARIANTS: Final = """
TEXTS, GOAL, LEAST, BASE, EACH = {!r}
made = {{}}

def table(variant):
    names = {{"__name__": "final_strategy"}}
    exec(TEXTS[variant], names)
    rolls = [names["final_strategy"](own, other) for own in range(GOAL) for other in range(GOAL)]
    good = all(type(one) is int and LEAST <= one < LEAST + BASE for one in rolls)
    return rolls + [LEAST] * EACH if good else None

def final_strategy(variant, first):
    if variant not in made:
        made[variant] = None
        made[variant] = table(variant)
    number = 0
    for roll in made[variant][first : first + EACH]:
        number = number * BASE + roll - LEAST
    return number
"""
"""A program that asks several programs, and gives some rolls at a time, as digits of a number."""


def _ask_variants(
    texts: Sequence[str], goal: int, choices: range, seconds: float
) -> list[NDArray[np.int64] | None]:
    """Ask variants of a trusted program for their tables, (G, G) each, in one process.

    As many as there is time for; None for one that fails.
    """
    base, each = max(2, len(choices)), 1
    while base ** (each + 1) < 10**9:
        each += 1
    code = _VARIANTS.format((list(texts), goal, choices[0], base, each))
    firsts = range(0, goal * goal, each)
    cells = [(variant, first) for variant in range(len(texts)) for first in firsts]
    with tempfile.TemporaryDirectory(prefix="hogeq-") as folder:
        path = Path(folder, "variants.py")
        path.write_text(code, "utf-8")
        answers = hear(Entry(path, True, seconds), cells).answers
    tables: list[NDArray[np.int64] | None] = []
    for begin in range(0, len(answers) - len(firsts) + 1, len(firsts)):
        packed = answers[begin : begin + len(firsts)]
        if not all(isinstance(one, int) and 0 <= one < base**each for one in packed):
            tables.append(None)
            continue
        powers = base ** np.arange(each - 1, -1, -1)
        rolls = np.array(packed, np.int64)[:, None] // powers % base + choices[0]
        tables.append(rolls.ravel()[: goal * goal].reshape(goal, goal))
    return tables
