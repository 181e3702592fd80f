"""Strategies that are code of other people: the verdict on the answers of their processes.

A process of :mod:`hogeq.support.sandbox` answers for every position. Ranges and purity are found
here. The table of the answers is what a contest plays, whether a function gave them or not, and a
second process, with other hashes and random numbers, and asked in another order, has to give the
same; eight processes, if one says that it draws random numbers. What else an entry says of itself
is shown as such, and no verdict depends on it.

The first process sees the file alone. If that gives no valid table, another sees its folder.
"""

import contextlib
import os
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain, product
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

import numpy as np

from hogeq.strategies.arrays import check_matrix
from hogeq.strategies.conversion import strategy_of_shape
from hogeq.strategies.strategy import Strategy
from hogeq.strategies.submissions import Fault, Submission
from hogeq.support import child
from hogeq.support.channel import CRASH, Cell, EntryOutput
from hogeq.support.messages import printable
from hogeq.support.sandbox import Entry, run_entry

_MOST_KINDS: Final = 20  # most groups of faults
_RUNS: Final = 8  # processes of code that draws random numbers: tables differ if chance matters


def examine(
    path: Path, goal: int, max_dice: int, time_limit: float, least: int = 0, most: int = 0
) -> Submission:
    """Run a trusted file, and judge its answer for every position.

    It is run with nothing beside it. If that gives no valid table, and there are other files in its
    folder, it is run again and sees them.

    Parameters
    ----------
    path : Path
        Its ``final_strategy`` is asked.
    goal, max_dice : int
        Sizes of the game.
    time_limit : float
        Seconds that each process is given.
    least, most : int
        Lowest and highest answer allowed; those above `max_dice` count as that.
    """
    path = path.parent.resolve() / path.name
    table = _TableSizes(goal, max_dice, range(least, max(most, max_dice) + 1))
    verdict_alone = _judge_answers(Entry(path, is_alone=True, seconds=time_limit), table)
    kinds = {fault.kind for fault in verdict_alone.faults}
    if not kinds:
        return replace(verdict_alone, alone=True)
    if kinds & {"time", "crash"} or not _may_see_folder(path.parent, path.name):
        return verdict_alone
    verdict = _judge_answers(Entry(path, is_alone=False, seconds=time_limit), table)
    return replace(verdict, alone=None if verdict.faults else False)


class _TableSizes(NamedTuple):
    """Sizes of the table of answers."""

    goal: int
    max_dice: int
    choices: range  # answers allowed; those above max_dice are cut to it


def _may_see_folder(folder: Path, name: str) -> bool:
    """Whether the file `name` may see its folder, and has a use for it.

    It may not if a home or the folder of temporary files lies in it. It has a use for other files.
    """
    private_folders = [tempfile.gettempdir()]
    with contextlib.suppress(RuntimeError):
        private_folders.append(str(Path.home()))
    if any(Path(private).resolve().is_relative_to(folder) for private in private_folders):
        return False
    with contextlib.suppress(OSError):
        return any(other.name not in {name, "__pycache__"} for other in folder.iterdir())
    return False


def order_again(count: int) -> list[int]:
    """Return the order in which `count` positions are asked for twice more: shuffled, and reversed.

    So an answer that depends on earlier calls differs.
    """
    order = list(range(count))
    Random(0).shuffle(order)  # noqa: S311 - any other order will do
    return [*order, *reversed(order)]


def _judge_answers(entry: Entry, table: _TableSizes) -> Submission:
    """Ask processes of an entry for its whole table, and judge the answers.

    1. A process is asked for every position. Each answer has to be a number of dice.
    2. Another is asked twice for every position, in other orders. It has to answer the same.
    3. If answers may depend on random numbers, `_RUNS` processes are asked in all, in time.

    Each has other hashes and other random numbers, the same ones in every verdict.
    """
    cells = list(product(range(table.goal), range(table.goal)))
    cells_again = [cells[index] for index in order_again(len(cells))]
    runs, faults = _run_processes(entry, cells, cells_again, table.choices)
    rolls = dict(zip(cells, runs[0].answers, strict=False))  # fewer, if it was stopped
    submission = Submission(
        size=0,  # the caller has it
        name=runs[0].name,
        faults=faults.ranked(),
        seconds=runs[0].seconds,
        answered=len(rolls),
        prints=any(run.prints for run in runs),
        draws=any(run.draws for run in runs),
        attempts=_unique_texts(run.attempts for run in runs),
    )
    if runs[-1].is_stopped:
        is_first = len(runs) == 1
        asked_cells = cells if is_first else cells_again
        fault, asked = _describe_stop(runs[-1], asked_cells, None if is_first else len(rolls))
        return replace(submission, faults=(*submission.faults, fault), seconds={}, asked=asked)
    if not submission.faults:
        submission = replace(submission, strategy=_make_strategy(list(rolls.values()), table))
    files = _list_files(entry, _unique_texts(run.files for run in runs))
    return replace(submission, files=tuple(map(printable, files)))


def _run_processes(
    entry: Entry, cells: Sequence[Cell], cells_again: Sequence[Cell], choices: range
) -> tuple[list[EntryOutput], "_Faults"]:
    """Ask processes of an entry for all cells, the first in one order and others in another.

    Returns their outputs, and the faults of their answers: those of the first that are no rolls,
    and those of others that differ from them.
    """
    started = time.monotonic()
    runs = [run_entry(entry, cells)]
    rolls = dict(zip(cells, runs[0].answers, strict=False))  # fewer, if it was stopped
    faults = _Faults()
    for cell, answer in rolls.items():
        if not (isinstance(answer, int) and answer in choices):
            faults.add(cell, *_describe_bad_roll(answer, choices))
    while not runs[-1].is_stopped and _needs_another_run(runs, faults):
        if len(runs) > 1 and time.monotonic() - started > entry.seconds:
            break
        runs.append(run_entry(entry, cells_again, len(runs) + 1))
        for cell, answer in zip(cells_again, runs[-1].answers, strict=False):
            if cell not in faults.cells and answer != rolls[cell]:
                line = f"is {rolls[cell]}, and {_describe_answer(answer, again=True)}"
                faults.add(cell, "impure", "", line)
    return runs, faults


def _needs_another_run(runs: Sequence[EntryOutput], faults: "_Faults") -> bool:
    """Whether another process should be asked: a second one always, more if chance may matter.

    No more than `_RUNS` are, and none once two answers for one position differed.
    """
    if len(runs) == 1:
        return True
    is_pure = all(kind != "impure" for kind, _ in faults.first)
    return is_pure and len(runs) < _RUNS and any(run.draws or run.may_draw for run in runs)


def _make_strategy(rolls: Sequence[int | str], table: _TableSizes) -> Strategy:
    """Make the strategy of a valid table; `rolls` are its cells row by row, (G * G,)."""
    goal, max_dice, choices = table
    rows = np.array(rolls).reshape(goal, goal)
    matrix = check_matrix(rows, goal, max_dice, "table", choices[0], choices[-1])
    shape = goal, goal, max_dice + 1 - min(choices[0], 0)
    return strategy_of_shape(shape, matrix, least=choices[0], has_scores=True)


def _unique_texts(texts: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Join sequences of texts, each text once, in the order of its first place."""
    return tuple(dict.fromkeys(chain.from_iterable(texts)))


class _Faults:
    """Faults of answers, grouped: the first of each group, with the number of its faults."""

    def __init__(self) -> None:
        self.cells: set[Cell] = set()  # those that have a fault
        self.first: dict[tuple[str, str], Fault] = {}  # by kind and group

    def add(self, cell: Cell, kind: str, group: str, line: str) -> None:
        """Count a fault of a cell, and keep its message if it is the first of its kind and group.

        Kinds are "raises", "range" and "impure". The message is the call, then `line`. Once there
        are `_MOST_KINDS` groups, all new ones of a kind are counted together.
        """
        self.cells.add(cell)
        if len(self.first) >= _MOST_KINDS and (kind, group) not in self.first:
            group = ""
        new = Fault(kind, 0, f"final_strategy({cell[0]}, {cell[1]}) {line}")
        fault = self.first.get((kind, group), new)
        self.first[kind, group] = fault._replace(times=fault.times + 1)

    def ranked(self) -> tuple[Fault, ...]:
        """List the first faults: errors, then answers that are no rolls, then other answers."""
        order = ("raises", "range", "impure")
        return tuple(sorted(self.first.values(), key=lambda fault: order.index(fault.kind)))


def _describe_bad_roll(answer: int | str, choices: range) -> tuple[str, str, str]:
    """Describe an answer that is no roll, as `_Faults.add` takes it: kind, group and line.

    Answers of one group have the same error, the same type, or are too low.
    """
    text = _describe_answer(answer)
    if text.startswith("raised "):
        error = text.partition(":")[0]
        return "raises", error, text
    if isinstance(answer, int):
        group = "below 0" if answer < 0 else "(int)"
        text = f"{text} (int)"
    else:
        group = text.rpartition(" ")[2]  # its type, in brackets
    return "range", group, f"{text}; allowed: ints from {choices[0]} to {choices[-1]}"


def _describe_answer(answer: int | str, *, again: bool = False) -> str:
    """Describe an answer of a process, the first or one when it was asked `again`.

    That is a number; or a text whose first character says whether it is an error, `child.ERROR`, or
    a value that is no number.
    """
    if isinstance(answer, str) and answer.startswith(child.ERROR):
        return f"when asked again raised {answer[1:]}" if again else f"raised {answer[1:]}"
    value = answer[1:] if isinstance(answer, str) else answer
    if again:
        return f"{value} when asked again: it must depend on the scores alone"
    return f"is {value}"


def _describe_stop(
    output: EntryOutput, cells: Sequence[Cell], answered_before: int | None
) -> tuple[Fault, Cell | None]:
    """Describe why a process was stopped, or had no function; of the first, where it was stopped.

    ``cells`` are in the order of the questions. ``answered_before`` is the number of positions that
    an earlier process answered, None if this is the first one.
    """
    is_first = answered_before is None
    if output.load_failure:
        line = output.load_failure if is_first else f"when run again, {output.load_failure}"
        return Fault("code", 1, line), None
    kind, line = output.fault or CRASH
    count = len(output.answers)
    if output.is_loaded and count < len(cells):
        again = "" if is_first else ", asked again,"
        answered = f"{count:,} of {len(cells):,}"
        if answered_before is not None:
            answered = f"{answered_before:,} of {answered_before:,}"
        line = f"final_strategy{cells[count]}{again} {line}; {answered} positions were answered"
        return Fault(kind, 1, line), cells[count] if is_first else None
    if output.is_ready and not output.is_loaded:
        line = f"{line}; its code was still loading"
    return Fault(kind, 1, line), None


def _list_files(entry: Entry, opened: Sequence[str]) -> tuple[str, ...]:
    """List the other files in an entry's folder among those that it says it `opened`, sorted.

    Names are relative to the folder.
    """
    if entry.is_alone:
        return ()
    folder = entry.path.parent
    files = set()
    for name in opened:
        path = Path(os.path.normpath(folder / name))
        with contextlib.suppress(OSError, ValueError):  # ValueError: it lies elsewhere
            relative = str(path.relative_to(folder))
            if path != entry.path and path.is_file():
                files.add(relative)
    return tuple(sorted(files))
