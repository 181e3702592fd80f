"""Strategy files: their formats, and reading them with suspicion.

========== ================================== ===================================
suffix     matrix                             policy
========== ================================== ===================================
.csv .tsv  G lines of G numbers               a line for each number of dice
.txt       the same
.json      list of G lists                    states of OpenSpiel
.npy       array (G, G)                       array (G, G, K)
.npz       array ``matrix``                   array ``policy``
.py        function ``final_strategy``
========== ================================== ===================================

That is how :mod:`hogeq.strategies.writing` writes them, but for .tsv. What is in a file decides how
it is read: text may have any of the forms of :mod:`hogeq.strategies.forms`, a policy those of
:mod:`hogeq.strategies.infosets`, and a ``.py`` that only defines a list is read without running it.
A table of G + 1 rows and columns has cells for the goal too, at which nobody is asked. A mixture is
an ``.npz`` of ``weights`` (n,) and ``matrices`` (n, G, G) or ``policies`` (n, G, G, K). A strategy
of one seat of a game tree has the number of its ``seat`` beside the rest. An ``.npz`` names its
``game``, and of other games than Hog only those with the same rows read it.

Reading runs no code, except that of a ``.py`` that is trusted, and that in a process of its own.
Whatever the bytes of a file are, it gives a valid array or raises `StrategyError`.
"""

import contextlib
import io
import math
import os
import re
import shlex
import stat
from collections.abc import Container, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import IO, TYPE_CHECKING, Any, Final, TypedDict

import numpy as np
import numpy.lib.format as npy
import numpy.typing as npt

from hogeq.strategies.arrays import StrategyError, bad_cells, check_matrix
from hogeq.strategies.conversion import rules_of, strategy_of_shape
from hogeq.strategies.forms import Form, read_code, read_text, without_goal
from hogeq.strategies.infosets import NamedRows
from hogeq.strategies.strategy import Mixture, Sized, Strategy
from hogeq.strategies.submissions import Fault, Submission
from hogeq.strategies.writing import MADE_FOR, MIXTURE_NAMES, TABLE_NAMES, WEIGHTS
from hogeq.support.archives import COMPRESSED, HEADER_BYTES, npy_header, open_archive
from hogeq.support.files import read_whole
from hogeq.support.kinds import (
    IN_FOLDER,
    MAX_BYTES,
    NEEDS_TRUST,
    PICKLES,
    SUBMISSION,
    SUFFIXES,
    is_folder,
    not_a_strategy,
    require_unpacked,
)
from hogeq.support.messages import (
    LONGEST_TITLE,
    one_line,
    printable,
    refusals_of,
    shown,
    unreadable,
)
from hogeq.support.text import text_of

if TYPE_CHECKING:
    from hogeq.rules import Rules

TEXT_BYTES_PER_CELL: Final = 128
"""Largest text file, per cell; numbers as long as ``6.000000000000000000e+00`` take 25."""

LIST_BYTES_PER_CELL: Final = 32
"""Largest ``.py``, per cell, that may be a list alone: to see that takes a second."""

_MOST_UNRUN_BYTES: Final = 2**16  # so many more, for code around the list

# Python up to 3.11.7 counts the depth of syntax trees once for all threads: two at once may fail.
_ONE_PARSER: Final = Lock()

_TEXT_TABLE: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\w+\s*=\s*)?[\[{(]?[\s\d\[{(\"'+-]")
"""How text begins that is a table, whatever the name of its file."""


def read_strategy(
    path: str | os.PathLike[str],
    goal: int = 100,
    max_dice: int = 10,
    trust: bool = False,
    *,
    time_limit: float = 60.0,
    least: int = 0,
    most: int = 0,
) -> Strategy:
    """Read a matrix, a policy or a mixture from a file of any known format, or a run's folder.

    Parameters
    ----------
    path : path
    goal, max_dice : int
        Sizes of the game.
    trust : bool
        Whether the code of a ``.py`` may be run, in processes of its own.
    time_limit : float
        Seconds that each of these is given.
    least, most : int
        Lowest and highest number that a matrix may hold; those above `max_dice` become `max_dice`,
        and -1 is the last action. `max_dice` if `most` is lower.

    Raises
    ------
    StrategyError
        If the file holds no valid strategy, or code that may not be run.
    """
    path = Path(path)
    if is_folder(path):
        if not os.access(path / IN_FOLDER, os.F_OK):
            raise StrategyError(
                f"{printable(path)}: is not a file, and as a folder has no {IN_FOLDER}; "
                f"allowed: directories of finished runs{_inside(path)}"
            )
        path /= IN_FOLDER
    sizes: Sizes = {"goal": goal, "max_dice": max_dice, "least": least, "most": most}
    submission, form = inspect_with_form(path, trust, time_limit, sizes)
    if submission.strategy is None:
        read_as = f" (read as {form})" if form else ""
        raise StrategyError(f"{printable(path)}{read_as}: {submission.faults[0].line}")
    return submission.strategy.named((submission.name or "").strip() or str(path))


class Sizes(TypedDict):
    """Sizes of a game's tables, as `read_strategy` takes them."""

    goal: int
    max_dice: int
    least: int  # lowest number of dice that a table may hold, or -1
    most: int  # highest number that it may hold; those above max_dice are cut to it


def sizes_of(game: Sized) -> Sizes:
    """Return the sizes of a game's tables."""
    rules = rules_of(game)
    if rules is not None:
        return _sizes_by(rules)
    last_action = game.shape[-1] - 1
    return {"goal": game.shape[0], "max_dice": last_action, "least": 0, "most": last_action}


def _sizes_by(rules: "Rules") -> Sizes:
    """Return the sizes of tables by rules of Hog."""
    return {
        "goal": rules.size,
        "max_dice": rules.max_dice,
        "least": rules.least_answer,
        "most": rules.most_answer,
    }


def inspect(
    path: str | os.PathLike[str], rules: "Rules", *, trust: bool = False, time_limit: float = 60.0
) -> Submission:
    r"""Read a strategy file for a game of Hog, and list every fault of its table.

    Parameters
    ----------
    path : path
    rules : Rules
    trust : bool
        Whether the code of a ``.py`` may be run, in processes of its own.
    time_limit : float
        Seconds that each of these is given.

    Raises
    ------
    StrategyError
        If there is nothing to look at, or code that may not be run.

    Examples
    --------
    >>> from pathlib import Path
    >>> import hogeq
    >>> _ = Path("table.csv").write_text("2,3,1\n0,1,9\n1,1,1\n", "utf-8")
    >>> found = hogeq.inspect("table.csv", hogeq.rules_from({"goal": 3, "max_dice": 4}))
    >>> [(fault.kind, fault.times) for fault in found.faults]
    [('range', 1)]
    """
    submission, form = inspect_with_form(Path(path), trust, time_limit, _sizes_by(rules))
    return replace(submission, is_code=form is None)


def inspect_with_form(
    path: Path, trust: bool, time_limit: float, sizes: Sizes
) -> tuple[Submission, str | None]:
    """Read a file as a strategy or the faults of its table; and the form of the table.

    The form is a text (see `Form.form`), or None if the file is code, which is run: with its file
    alone, and if that gives no valid table, once more with its folder. `StrategyError` if there is
    no table to look at.
    """
    data = read_bytes(path)
    name = printable(path)
    goal, max_dice, least, most = sizes["goal"], sizes["max_dice"], sizes["least"], sizes["most"]
    table = read_form(path, data, goal, max_dice, least)
    if table is None:
        if not trust:
            raise StrategyError(f"{name}: {NEEDS_TRUST}")
        from hogeq.strategies.programs import examine  # here: most commands run no code of others

        submission = examine(path, goal, max_dice, time_limit, least, most)
        return replace(submission, size=len(data)), None
    submission, form = _inspect_table(table, name, sizes)
    return replace(submission, size=len(data)), form


def _inspect_table(table: Form, name: str, sizes: Sizes) -> tuple[Submission, str]:
    """Check a table that was read: its strategy or its faults, and the form that it has.

    `name` begins messages. A mixture or a policy that is no valid one raises `StrategyError`.
    """
    goal, max_dice, least, most = sizes["goal"], sizes["max_dice"], sizes["least"], sizes["most"]
    rows = table.rows
    shape = goal, goal, max_dice + 1 - min(least, 0)
    player_name = table.player_name and table.player_name[:LONGEST_TITLE]
    submission = Submission(0, player_name, answered=goal * goal)  # the caller has its size
    if isinstance(rows, Mixture) or (isinstance(rows, np.ndarray) and rows.ndim > 2):
        strategy = strategy_of_shape(shape, rows, name, least, has_scores=True)
        return replace(submission, strategy=strategy), ""
    num_cells = sum(len(row) for row in rows if isinstance(row, list | np.ndarray))
    submission = replace(submission, answered=min(goal * goal, num_cells))
    try:
        matrix = check_matrix(rows, goal, max_dice, name, least, most)
    except StrategyError:
        faults = _table_faults(rows, goal, max(most, max_dice), least)
        return replace(submission, faults=tuple(faults)), table.form
    strategy = strategy_of_shape(shape, matrix, name, least, has_scores=True)
    return replace(submission, strategy=strategy), table.form


def _table_faults(rows: Any, goal: int, max_dice: int, least: int) -> Iterator[Fault]:
    """Yield the faults of a table: each kind of `bad_cells` once, with its count and first line."""
    lines_by_kind: dict[str, list[str]] = {}
    for kind, line in bad_cells(rows, goal, max_dice, least):
        lines_by_kind.setdefault(kind, []).append(line)
    for kind, lines in lines_by_kind.items():
        yield Fault("shape" if kind == "shape" else "range", len(lines), lines[0])


def read_form(path: Path, data: bytes, goal: int, max_dice: int, least: int = 0) -> Form | None:
    """Read the table of a file, its cells not checked; None if the file is code to run.

    `data` is the content of the file. `StrategyError` if it holds no table, or is a pickle.
    """
    suffix = path.suffix.lower()
    # Every pickle of protocol 2 and later begins with the byte 0x80.
    if suffix in PICKLES or (suffix != ".py" and data[:1] == b"\x80"):
        raise _pickle_refused(path)
    with refusals_of(printable(path), StrategyError), _ONE_PARSER:
        table = _read_data(suffix, data, goal, max_dice, least)
        return None if table is None else without_goal(table, goal)


def _read_data(suffix: str, data: bytes, goal: int, max_dice: int, least: int) -> Form | None:
    """Read a table by the content of a file: numpy's formats, then code, then text.

    The suffix decides only where the content does not: of code, and of bytes that begin as neither.
    None if it is code to run.
    """
    require_unpacked(data)
    if data.startswith(npy.MAGIC_PREFIX):
        return Form(_npy_array(io.BytesIO(data)))
    shapes = {(goal, goal), (goal, goal, max_dice + 1 - min(least, 0))}
    if data.startswith(b"PK\x03\x04"):
        return _read_archive(data, shapes)
    if suffix == ".py":
        is_short = len(data) <= _MOST_UNRUN_BYTES + LIST_BYTES_PER_CELL * goal * goal
        return read_code(data, goal) if is_short else None
    other_content = not_a_strategy(data)
    if other_content:
        raise StrategyError(f"{other_content}; allowed: strategies")
    if not _TEXT_TABLE.match(data):  # then the reader of the suffix says what is wrong
        if suffix == ".npy":
            return Form(_npy_array(io.BytesIO(data)))
        if suffix == ".npz":
            return _read_archive(data, shapes)
    _check_size(len(data), min(2**20 + TEXT_BYTES_PER_CELL * goal * goal, MAX_BYTES))
    return read_text(text_of(data), goal, max_dice, is_json=suffix == ".json")


def _pickle_refused(path: Path) -> StrategyError:
    """Make the error for a pickle, with a command that converts one to JSON."""
    target = path.with_suffix(".json")
    code = (
        "import json, pickle; "
        "name = lambda key: ','.join(map(str, key)) if isinstance(key, tuple) else str(key); "
        "plain = lambda one: {name(key): plain(n) for key, n in one.items()} "
        "if isinstance(one, dict) else [plain(n) for n in one] if isinstance(one, (list, tuple)) "
        "else getattr(one, 'tolist', lambda: one)(); "
        f"table = pickle.load(open({str(path)!a}, 'rb')); "
        f"json.dump(plain(table), open({str(target)!a}, 'w'))"
    )
    return StrategyError(
        f"{printable(path)}: pickles are refused, since opening one can run any code; convert one "
        f"that you trust by: python3 -c {shlex.quote(code)}"
    )


def file_size(path: Path) -> int:
    """Return the size in bytes of a file; `StrategyError` if it is not regular or too large."""
    try:
        status = path.stat()
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        raise StrategyError(unreadable(path, error)) from error
    with refusals_of(printable(path), StrategyError):
        if stat.S_ISDIR(status.st_mode):
            raise StrategyError(f"is a folder; allowed: a file{_inside(path)}")
        if not stat.S_ISREG(status.st_mode):
            raise StrategyError("is not a file")
        _check_size(status.st_size, MAX_BYTES)
    return status.st_size


def _inside(folder: Path) -> str:
    """End a message about a folder with its strategy file: a submission's, or the first by name.

    Empty if there is none.
    """
    with contextlib.suppress(OSError):
        names = sorted(file.name for file in folder.iterdir() if file.suffix.lower() in SUFFIXES)
        chosen = SUBMISSION if SUBMISSION in names else next(iter(names), None)
        return f"; nearest: {printable(folder / chosen)}" if chosen else ""
    return ""


def _check_size(size: int, most: int) -> None:
    """Refuse a file of more than `most` bytes."""
    if size > most:
        raise StrategyError(f"has {size} bytes; allowed: {most} for a strategy")


def read_bytes(path: Path) -> bytes:
    """Read a regular file that is not too large; anything else is refused in a line."""
    file_size(path)
    try:
        return read_whole(path, MAX_BYTES)
    except OSError as error:
        raise StrategyError(unreadable(path, error)) from error


def read_arrays(
    path: Path, shapes: Mapping[str, tuple[int, ...]], rows: NamedRows
) -> tuple[npt.NDArray[Any], npt.NDArray[Any] | None, int | None]:
    """Read the strategy of a game other than Hog from an ``.npz`` file.

    Parameters
    ----------
    path : path
    shapes : mapping
        Shape of an array by each name that it may have. The file holds one of them.
    rows : NamedRows
        The names of the game's information sets. A file made for others is refused.

    Returns
    -------
    array
        Of its shape, or with `weights` (n,) n of that shape.
    weights : array or None
        Not checked; None unless the file has them.
    seat : int or None
        The seat that the strategy plays alone, 0 or 1.
    """
    data = read_bytes(path)
    with refusals_of(printable(path), StrategyError), _ONE_PARSER:
        arrays = _arrays_in(data, {*shapes, "weights", "seat", *MADE_FOR})
        _require_same_rows(arrays, rows.rows_sha256 or b"", rows.name)
        weights = arrays.pop("weights", None)
        seat = arrays.pop("seat", None)
        if seat is not None and (seat.shape or seat.item() not in {0, 1}):
            raise StrategyError(f"seat is {shown(seat.tolist())}; allowed: 0 or 1")
        names = [*arrays]
        if len(names) != 1 or names[0] not in shapes:
            raise StrategyError(f"holds {shown(names)}; allowed: one of {', '.join(shapes)}")
        table = arrays[names[0]]
        shape = shapes[names[0]]
        if weights is not None:
            shape = weights.size, *shape
        if table.shape != shape:
            raise StrategyError(f"has shape {table.shape}; allowed: {shape}")
    return table, weights, None if seat is None else int(seat)


def _arrays_in(data: bytes, known: Container[str]) -> dict[str, npt.NDArray[Any]]:
    """Read the arrays of an ``.npz`` file that have a known name; all of them if none has.

    Names that say only for which game the file was made do not count as known.
    """
    with open_archive(io.BytesIO(data)) as archive:
        every_member = [
            (member.filename.removesuffix(".npy"), member) for member in archive.infolist()
        ]
        members = [(name, member) for name, member in every_member if name in known]
        if all(name in MADE_FOR for name, _ in members):
            members = every_member
        names = [name for name, _ in members]
        if {"parent", "num_legal"} <= {name for name, _ in every_member}:
            raise StrategyError("holds a game tree; allowed: strategies; --game takes games")
        if len({*names}) < len(names):
            raise StrategyError(f"holds {shown(names)}; allowed: each name once")
        if any(member.compress_type not in COMPRESSED for _, member in members):
            raise StrategyError("is not compressed as numpy does it")
        arrays = {}
        for name, member in members:
            with archive.open(member) as file, refusals_of(name, StrategyError):
                arrays[name] = _npy_array(file)
        return arrays


def _require_same_rows(arrays: dict[str, npt.NDArray[Any]], digest: bytes, allowed: str) -> None:
    """Refuse a file made for a game whose information sets have another hash than `digest`.

    Removes the arrays that say so from `arrays`. `allowed` names the game in the message.
    """
    if "game" not in arrays or arrays["game"].ndim != 1:
        return
    game, rows_digest = (arrays.pop(name, np.zeros(0)).tobytes() for name in MADE_FOR)
    if rows_digest != digest:
        name = one_line(game.decode(errors="replace"))
        raise StrategyError(
            f"is a strategy of {name}, whose information sets or actions are others; "
            f"allowed: strategies of {allowed}"
        )


def _read_archive(data: bytes, shapes: Container[tuple[int, ...]]) -> Form:
    """Read the matrix, policy or mixture of Hog in an ``.npz`` file.

    A table of another name counts if it is the only array, or the only one of the `shapes`.
    """
    arrays = _arrays_in(data, {*TABLE_NAMES, *MIXTURE_NAMES, WEIGHTS, *MADE_FOR})
    _require_same_rows(arrays, b"", "games of Hog")
    tables: list[str] = [name for name in TABLE_NAMES if name in arrays]
    mixtures = [name for name in MIXTURE_NAMES if name in arrays]
    weights = arrays.get(WEIGHTS)
    if not (tables or mixtures) and weights is None:
        tables = [
            name for name, array in arrays.items() if len(arrays) == 1 or array.shape in shapes
        ]
    if len(tables) == 1 and not mixtures and weights is None:
        return Form(arrays[tables[0]])
    if len(mixtures) == 1 and not tables and weights is not None:
        return Form(Mixture(weights, arrays[mixtures[0]]))
    raise StrategyError(
        f"holds {shown([*arrays]) if arrays else 'no array'}; allowed: `matrix` or `policy`, "
        "or for a mixture `weights` and `matrices` or `policies`, or one table of any name"
    )


def _npy_array(file: IO[bytes]) -> npt.NDArray[Any]:
    """Read one array of numbers in numpy's format, as many bytes as its header says."""
    start = file.read(HEADER_BYTES)
    shape, is_fortran, dtype, length = npy_header(start)
    if dtype.kind not in "iuf" or dtype.itemsize > 8:
        raise StrategyError(
            f"holds values of type {shown(dtype.str)}; allowed: whole and floating numbers"
        )
    size = math.prod(shape) * dtype.itemsize
    # The policies of a mixture, (n, G, G, K), become float64, whatever they were.
    size_in_memory = math.prod(shape) * 8 if len(shape) == 4 else 0
    if max(size, size_in_memory) > MAX_BYTES:
        raise StrategyError(f"has shape {shape}; allowed: up to {MAX_BYTES} bytes")
    body = start[length : length + size]
    body += file.read(size - len(body))
    if len(body) < size:
        raise StrategyError(f"ends before its array of shape {shape} does")
    return np.frombuffer(body, dtype).reshape(shape, order="F" if is_fortran else "C")
