"""The validator of entries: it lists all faults of a file, not the first alone.

:func:`hogeq.strategies.files.read_strategy` reads a strategy or refuses it in one line. Contestants
and those who run a tournament want the whole list.
"""

import re
import shlex
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from hogeq.rules import Rules
from hogeq.strategies.arrays import StrategyError, bad_cells, check_matrix
from hogeq.strategies.files import ask_code, check_player_name, read_bytes, read_form
from hogeq.strategies.sandbox import Fault
from hogeq.strategies.strategy import Mixture, Strategy, strategy_of_shape
from hogeq.support.messages import LONGEST_TITLE, printable


@dataclass(frozen=True)
class Submission:
    """A file, as a contest would look at it."""

    size: int  # bytes of the file
    name: str | None  # name of its player or team; None if it is no ``.py`` or has none
    strategy: Strategy | None  # a matrix; None if there is any fault
    faults: tuple[Fault, ...]  # every kind of fault and of bad value once, with its count
    seconds: dict[str, float]
    """``load``, ``table`` (every position once) and ``slowest`` (one call); empty if no ``.py``."""
    answered: int  # positions that have an answer, good or bad, of G * G
    asked: tuple[int, int] | None = None
    """Position that a ``.py`` was asked for when it was stopped; None if it was not."""
    files: tuple[str, ...] = ()
    """Other files of its folder that a ``.py`` opened, printable, as it says itself."""
    alone: bool | None = None
    """Whether a ``.py`` gives its table with no other file; None if it has no valid table."""
    prints: bool = False  # whether a ``.py`` printed anything, as it says; the text is lost
    attempts: tuple[str, ...] = ()
    """What else a ``.py`` tried to reach, printable: its own words, for the staff alone."""
    key: str = ""  # hash of the files that were judged, of an entry in a folder


def contest_asks_name(rules: Rules) -> bool:
    """Whether the contest of an edition, from fall 2016 on, asked its entries for a name."""
    semester = re.match(r"(sp|su|fa)([0-9]{2})(?![0-9])", rules.name)
    terms = "sp", "su", "fa"
    return semester is not None and (int(semester[2]), terms.index(semester[1])) >= (16, 2)


def inspect_submission(
    path: Path, rules: Rules, trust: bool = False, *, time_limit: float = 60.0
) -> Submission:
    """Look at a file as a contest would; `StrategyError` if there is nothing to look at.

    Code is run with its file alone, and if that gives no valid table, once more with its folder.
    """
    data, name = read_bytes(path), printable(path)
    goal, max_dice, least, most = rules.size, rules.max_dice, min(rules.choices), rules.most_answer
    shape = goal, goal, rules.num_actions
    read = read_form(path, data, goal, max_dice, least)
    if read is None:
        answers = ask_code(path, trust, goal, most, time_limit, least)
        fields = answers._asdict() | {"files": tuple(map(printable, answers.files))}
        table = fields.pop("table")
        if table is not None:  # code that does not run has no name either
            is_asked = contest_asks_name(rules)
            fields["faults"] = (*_name_faults(answers.name, is_asked), *answers.faults)
        found = Submission(len(data), strategy=None, **fields)
    else:
        table = read.rows
        if isinstance(table, Mixture):
            strategy_of_shape(shape, table).unmixed(name)
        cells = sum(len(row) for row in table if isinstance(row, list | np.ndarray))
        called = read.player_name and read.player_name[:LONGEST_TITLE]
        found = Submission(len(data), called, None, (), {}, min(goal * goal, cells))
    if found.faults:
        return found
    try:
        matrix = check_matrix(table, goal, max_dice, name, least, most)
    except StrategyError:
        return replace(found, faults=tuple(_table_faults(table, goal, most, least)))
    return replace(found, strategy=strategy_of_shape(shape, matrix, name, least))


def as_one_file(found: Submission, path: Path, rules: str) -> Submission:
    """Judge a file as a contest that takes one does: other files that it needs are a fault."""
    if found.alone is not False:
        return found
    export = ["hogeq", "export", str(path), "--rules", rules, "--trust", "--out", "one.py"]
    line = f"needs {', '.join(found.files) or 'other files'}; allowed: one file alone"
    cure = f"{line}; this command makes one: {shlex.join(export)}"
    return replace(found, strategy=None, faults=(*found.faults, Fault("files", 1, cure)))


def _name_faults(name: str | None, is_asked: bool) -> list[Fault]:
    if name is None:
        line = "PLAYER_NAME is missing or no text"
        return [Fault("name", 1, line)] if is_asked else []
    try:
        check_player_name(name)
    except StrategyError as error:
        return [Fault("name", 1, str(error))]
    return []


def _table_faults(rows: Any, goal: int, max_dice: int, least: int) -> list[Fault]:
    """List the faults of a table, each kind once."""
    if isinstance(rows, np.ndarray) and rows.ndim != 2:
        line = "is a policy, a probability for each roll; allowed: one roll for each position"
        return [Fault("shape", 1, line)]
    counts: Counter[str] = Counter()
    lines: dict[str, str] = {}
    for kind, line in bad_cells(rows, goal, max_dice, least):
        counts[kind] += 1
        lines.setdefault(kind, line)
    return [
        Fault("shape" if kind == "shape" else "range", times, lines[kind])
        for kind, times in counts.items()
    ]
