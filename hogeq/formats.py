"""Strategy files: read with suspicion, written whole.

========== ======================================== ===================================
suffix     matrix                                   policy
========== ======================================== ===================================
.csv .txt  G lines of G numbers, comma or space
.json      list of G lists, or an object of G * G
           entries
.npy       array (G, G)                             array (G, G, K)
.npz       array ``matrix``                         array ``policy``
.py        function ``final_strategy``
========== ======================================== ===================================

An object's keys are the two scores, own first, with a comma or space between and, if you like,
brackets around: ``"12,30"``, ``"(12, 30)"``, ``"[12, 30]"``, ``"12 30"``.

Reading runs no code, except that of a ``.py`` that is trusted, and that in a process of its own.
Whatever the bytes of a file are, it gives a valid array or raises `StrategyError`.
"""

import contextlib
import io
import json
import math
import os
import re
import selectors
import shlex
import signal
import stat
import subprocess
import sys
import time
import zipfile
import zlib
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, cast

import numpy as np
import numpy.typing as npt

from hogeq import _ask_strategy
from hogeq.files import write_whole
from hogeq.strategy import (
    Matrix,
    Policy,
    StrategyError,
    builtin,
    check_matrix,
    check_policy,
    is_builtin,
    is_policy,
    names,
    nearest,
    shown,
)

if TYPE_CHECKING:
    from hogeq.game import Game

MAX_BYTES: Final = 64 * 2**20
"""Largest file that is opened at all."""

TEXT_BYTES_PER_CELL: Final = 128
"""Largest text file, per cell; numbers as long as ``6.000000000000000000e+00`` take 25."""

SUFFIXES: Final = (".csv", ".txt", ".json", ".npy", ".npz", ".py")

_PICKLES: Final = (".pickle", ".pkl", ".p", ".pck", ".joblib")
_MEMBERS: Final = ("matrix.npy", "policy.npy")  # of an .npz file
_MOST_DICE: Final = 127  # what int8 holds
_TRUSTED_MEMORY: Final = 4 * 2**30  # bytes of address space for a .py
_CHUNK: Final = 2**16
_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"  # as int(text, 36) reads them


# --- reading --------------------------------------------------------------------------------------


def read_strategy(
    path: str | os.PathLike[str],
    goal: int = 100,
    max_dice: int = 10,
    trust: bool = False,
    *,
    time_limit: float = 60.0,
) -> Matrix | Policy:
    """Read a strategy from a file of any known format.

    Parameters
    ----------
    path : path
        Its suffix says the format: see the module's table.
    goal : int
        G, points that win.
    max_dice : int
        Most dice a turn may roll; K is one more.
    trust : bool
        Whether the code in a ``.py`` file may be run. It runs in a process of its own, which may
        write no file, but is otherwise free to do what its user may do.
    time_limit : float
        Seconds that such code is given.

    Returns
    -------
    int8 array, shape (G, G), or float64 array, shape (G, G, K)

    Raises
    ------
    StrategyError
        If the file cannot be read, is too large, is of an unknown or refused format, or does not
        hold a valid strategy: a bad cell is named, the first in reading order.
    """
    path = Path(path)
    name = _label(path)
    if path.suffix.lower() in _PICKLES:
        raise _pickle_refused(path)
    suffix = _known_suffix(path)
    if suffix == ".py":
        _readable_size(path, MAX_BYTES)
        if not trust:
            raise StrategyError(f"{name}: reading a .py runs its code, allowed only with --trust")
        return check_matrix(_ask(path, goal, max_dice, time_limit), goal, max_dice, name)
    if suffix in {".npy", ".npz"}:
        data = _read_bytes(path, MAX_BYTES)
        if data[:1] == b"\x80":  # every pickle of protocol 2 and later starts so
            raise _pickle_refused(path)
        array = _read_npy(io.BytesIO(data), name) if suffix == ".npy" else _read_npz(data, name)
        check = check_policy if is_policy(array) else check_matrix
        return check(array, goal, max_dice, name)
    most = 2**20 + TEXT_BYTES_PER_CELL * goal * goal
    text = _decode(_read_bytes(path, min(most, MAX_BYTES)), name)
    rows = _parse_json(text, goal, name) if suffix == ".json" else _parse_table(text)
    return check_matrix(rows, goal, max_dice, name)


def find_strategy(
    spec: str, game: "Game", trust: bool = False, *, time_limit: float = 60.0
) -> Matrix | Policy:
    """Give what a user calls a strategy: one known by name, or a file.

    Parameters
    ----------
    spec : str
        ``"always_roll:6"``, or a path.
    game : Game
        The game it is to play.
    trust, time_limit
        As for `read_strategy`.

    Returns
    -------
    int8 array, shape (G, G), or float64 array, shape (G, G, K)

    Raises
    ------
    StrategyError
        If it is neither, or as `builtin` and `read_strategy` say.
    """
    if is_builtin(spec):
        return builtin(spec, game)
    if Path(spec).suffix.lower() not in SUFFIXES + _PICKLES:
        known = [usage.partition(":")[0] for usage in names()]
        raise StrategyError(
            f"strategy {shown(spec)}: no built-in, allowed are {', '.join(names())}"
            f"{nearest(spec.partition(':')[0], known)}; and no file ending in {', '.join(SUFFIXES)}"
        )
    return read_strategy(spec, game.goal, game.rules.max_dice, trust, time_limit=time_limit)


def _label(path: Path) -> str:
    text = str(path)
    return text if text.isprintable() else ascii(text)


def _known_suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        given = f"suffix {path.suffix!a}" if suffix else "a name without suffix"
        raise StrategyError(f"{_label(path)}: {given}, allowed are {', '.join(SUFFIXES)}")
    return suffix


def _pickle_refused(path: Path) -> StrategyError:
    target = path.with_suffix(".json")
    code = (
        "import json, pickle; "
        f"table = pickle.load(open({str(path)!a}, 'rb')); "
        f"json.dump([[int(n) for n in row] for row in table], open({str(target)!a}, 'w'))"
    )
    return StrategyError(
        f"{_label(path)}: pickles are refused, since opening one can run any code; convert one "
        f"that you trust by: python3 -c {shlex.quote(code)}"
    )


def _readable_size(path: Path, most: int) -> int:
    """Give the bytes of a regular file, once they are known to be no more than `most`."""
    try:
        found = path.stat()
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        reason = getattr(error, "strerror", None) or error
        raise StrategyError(f"{_label(path)}: cannot be read: {reason}") from error
    if not stat.S_ISREG(found.st_mode):
        raise StrategyError(f"{_label(path)}: is not a file")
    if found.st_size > most:
        raise StrategyError(
            f"{_label(path)}: has {found.st_size} bytes, allowed are {most} for a strategy"
        )
    return found.st_size


def _read_bytes(path: Path, most: int) -> bytes:
    size = _readable_size(path, most)
    try:
        with path.open("rb") as file:
            return file.read(size)
    except OSError as error:
        raise StrategyError(f"{_label(path)}: cannot be read: {error.strerror}") from error


# --- text -----------------------------------------------------------------------------------------


def _decode(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise StrategyError(f"{name}: is not UTF-8 text at byte {error.start}") from error


def _parse_table(text: str) -> list[list[int | float | str]]:
    return [
        [_number(cell) for cell in (line.split(",") if "," in line else line.split())]
        for line in text.splitlines()
        if line.strip()
    ]


def _number(cell: str) -> int | float | str:
    """Turn a cell into a number if it is one; else keep it, for a message to show."""
    cell = cell.strip()
    # int() and float() alone take more than a table should hold, 1_0 say.
    if re.fullmatch(r"[+-]?[0-9]{1,9}", cell):
        return int(cell)
    if re.fullmatch(r"[+-]?[0-9]{1,30}\.[0-9]{0,30}([eE][+-]?[0-9]{1,3})?", cell):
        return float(cell)
    return cell


def _parse_json(text: str, goal: int, name: str) -> list[Any]:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        entries: dict[str, Any] = {}
        for key, value in pairs:
            if key in entries:
                raise StrategyError(f"{name}: key {shown(key)} stands twice")
            entries[key] = value
        return entries

    try:
        content = json.loads(text, object_pairs_hook=unique)
    except StrategyError:
        raise
    except (ValueError, RecursionError) as error:  # ValueError: also a number of 5000 digits
        raise StrategyError(f"{name}: is not JSON: {error}") from error
    if isinstance(content, list):
        return content
    if isinstance(content, dict):
        return _rows_of(content, goal, name)
    raise StrategyError(
        f"{name}: is {shown(content)}, allowed are a list of {goal} lists of {goal} numbers "
        f"and an object of {goal * goal} numbers"
    )


def _rows_of(entries: dict[str, Any], goal: int, name: str) -> list[list[Any]]:
    cells: dict[tuple[int, int], Any] = {}
    for key, value in entries.items():
        scores = re.fullmatch(
            r"\s*[(\[]?\s*([0-9]{1,4})(?:\s*,\s*|\s+)([0-9]{1,4})\s*[)\]]?\s*", key
        )
        cell = (int(scores[1]), int(scores[2])) if scores else (goal, goal)
        if max(cell) >= goal:
            raise StrategyError(
                f"{name}: key {shown(key)}, allowed are two scores from 0 to {goal - 1}, "
                'own first, as "12,30" or "(12, 30)"'
            )
        if cell in cells:
            raise StrategyError(
                f"{name}: cell (row {cell[0]}, column {cell[1]}) stands twice, as {shown(key)} too"
            )
        cells[cell] = value
    for row in range(goal):
        for column in range(goal):
            if (row, column) not in cells:
                raise StrategyError(
                    f"{name}: cell (row {row}, column {column}) is missing, "
                    f"allowed are {goal * goal} entries"
                )
    return [[cells[row, column] for column in range(goal)] for row in range(goal)]


# --- arrays ---------------------------------------------------------------------------------------


def _read_npz(data: bytes, name: str) -> npt.NDArray[Any]:
    try:
        # Decompressed no further than the array's own header says.
        with (
            zipfile.ZipFile(io.BytesIO(data)) as archive,
            archive.open(_the_array(archive, name)) as member,
        ):
            return _read_npy(member, name)
    except StrategyError:
        raise
    except (
        EOFError,
        NotImplementedError,  # of zip versions to come
        OSError,
        OverflowError,
        RuntimeError,  # encrypted
        ValueError,
        zipfile.BadZipFile,
        zlib.error,
    ) as error:
        raise StrategyError(f"{name}: is not an .npz file: {_one_line(error)}") from error


def _the_array(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    found = [member for member in archive.infolist() if member.filename in _MEMBERS]
    if len(found) != 1:
        raise StrategyError(
            f"{name}: holds {len(found)} of the arrays `matrix` and `policy`, allowed is 1"
        )
    if found[0].compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        raise StrategyError(f"{name}: is not compressed as numpy does it")
    return found[0]


def _read_npy(file: IO[bytes], name: str) -> npt.NDArray[Any]:
    """Read one array of numbers.

    numpy's own reader evaluates the header as Python and takes its word for the size.
    """
    prefix = file.read(8)
    width = 2 if prefix[6:7] == b"\x01" else 4
    if prefix[:6] != b"\x93NUMPY":
        raise StrategyError(f"{name}: is not an array in numpy's format")
    header = file.read(min(int.from_bytes(file.read(width), "little"), _CHUNK))
    descr = re.search(rb"'descr'\s*:\s*'([^']*)'", header)
    order = re.search(rb"'fortran_order'\s*:\s*(True|False)", header)
    shape = re.search(rb"'shape'\s*:\s*\(([0-9, ]{0,60})\)", header)
    if not (descr and order and shape):
        raise StrategyError(f"{name}: has a header that says no type, order and shape")
    if not re.fullmatch(rb"[<>|=]?([iu][1248]|f[248])", descr[1]):
        raise StrategyError(
            f"{name}: holds values of type {shown(descr[1].decode('latin-1'))}, "
            "allowed are whole and floating numbers"
        )
    dtype = np.dtype(descr[1].decode())
    sizes = tuple(int(size) for size in re.findall(rb"[0-9]+", shape[1]))
    count = math.prod(sizes)
    if len(sizes) not in {2, 3} or count * dtype.itemsize > MAX_BYTES:
        raise StrategyError(
            f"{name}: has shape {sizes}, allowed are matrices (G, G) and policies (G, G, K)"
        )
    body = file.read(count * dtype.itemsize)
    if len(body) < count * dtype.itemsize:
        raise StrategyError(f"{name}: ends before its array of shape {sizes} does")
    flat = np.frombuffer(body, dtype)
    return flat.reshape(sizes, order="F" if order[1] == b"True" else "C")


def _one_line(error: BaseException) -> str:
    return " ".join(ascii(str(error))[1:-1].split()) or type(error).__name__


# --- code -----------------------------------------------------------------------------------------


def _ask(path: Path, goal: int, max_dice: int, time_limit: float) -> list[list[int]]:
    """Run a trusted file in a process of its own; its table, not yet checked."""
    name = _label(path)
    most = 2**16 + 8 * goal * goal  # bytes that an honest answer takes
    # -I: neither our environment nor the current folder; -B: no bytecode left behind.
    command = [sys.executable, "-I", "-B", _ask_strategy.__file__, str(path.absolute())]
    sizes = (goal, max_dice, math.ceil(time_limit) + 1, _TRUSTED_MEMORY)
    process = subprocess.Popen(  # noqa: S603 - the user trusts this file
        [*command, *map(str, sizes)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=path.absolute().parent,
        env={"PATH": os.defpath},
        start_new_session=True,
    )
    pipe = cast("IO[bytes]", process.stdout)
    try:
        answer = _read_until(pipe, time.monotonic() + time_limit, most)
    finally:
        # Also what it started, if that is still there.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        pipe.close()
    if answer is None:
        raise StrategyError(f"{name}: gave no answer within {time_limit:g} seconds")
    try:
        reply = json.loads(answer)
        if "table" in reply:
            table: list[list[int]] = reply["table"]
            return table
        error = str(reply["error"])
    except (ValueError, RecursionError, TypeError, KeyError):
        error = "ended without an answer (out of memory or time, or it crashed)"
    raise StrategyError(f"{name}: {error}")


def _read_until(pipe: IO[bytes], deadline: float, most: int) -> bytes | None:
    """Everything from a pipe up to `most` bytes; None if it is still open at the deadline."""
    parts: list[bytes] = []
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while most:
            if not selector.select(max(0.0, deadline - time.monotonic())):
                return None
            part = os.read(pipe.fileno(), min(most, _CHUNK))
            if not part:
                break
            parts.append(part)
            most -= len(part)
    return b"".join(parts)


# --- writing --------------------------------------------------------------------------------------


def write_strategy(
    path: str | os.PathLike[str],
    array: npt.NDArray[Any],
    goal: int | None = None,
    max_dice: int | None = None,
    player_name: str | None = None,
) -> None:
    """Write a strategy in the format that the path's suffix says, whole or not at all.

    Parameters
    ----------
    path : path
        Ends in one of `SUFFIXES`; for a policy, in ``.npz`` or ``.npy``. An existing file is
        replaced.
    array : matrix or policy
        Checked first. Read back, it is the same to the last bit.
    goal, max_dice : int, optional
        Those of the game, to check against; by default what the array's shape says.
    player_name : str, optional
        For ``.py``, and needed there: see `export_python`.

    Raises
    ------
    StrategyError
        If the array is not valid, the suffix unknown or not for a policy, or `player_name` blank.
    OSError
        If the file cannot be written; what was there before is still there.
    """
    path = Path(path)
    suffix = _known_suffix(path)
    name = _label(path)
    strategy: Matrix | Policy
    goal = len(array) if goal is None else goal
    if is_policy(array):
        strategy = check_policy(array, goal, array.shape[2] - 1 if max_dice is None else max_dice)
        if suffix not in {".npy", ".npz"}:
            raise StrategyError(f"{name}: a policy can be written to .npz and .npy, not {suffix}")
    else:
        strategy = check_matrix(array, goal, _MOST_DICE if max_dice is None else max_dice)
    if suffix == ".py":
        write_whole(path, export_python(strategy, player_name or "").encode())
    elif suffix in {".npy", ".npz"}:
        file = io.BytesIO()
        if suffix == ".npy":
            np.save(file, strategy, allow_pickle=False)
        else:
            key = "policy" if is_policy(strategy) else "matrix"
            arrays: dict[str, Any] = {key: strategy}
            np.savez_compressed(file, **arrays)
        write_whole(path, file.getvalue())
    else:
        write_whole(path, _text(strategy.tolist(), suffix).encode())


def _text(table: list[list[int]], suffix: str) -> str:
    if suffix == ".json":
        return "[\n" + ",\n".join(json.dumps(row) for row in table) + "\n]\n"
    separator = "," if suffix == ".csv" else " "
    return "".join(separator.join(map(str, row)) + "\n" for row in table)


def export_python(matrix: npt.NDArray[Any], player_name: str) -> str:
    """Text of the file that a contest entrant submits.

    Parameters
    ----------
    matrix : array, shape (G, G)
        Dice to roll, row = own score.
    player_name : str
        What the contest calls the entrant.

    Returns
    -------
    str
        Python source without imports, that defines ``PLAYER_NAME`` and
        ``final_strategy(score, opponent_score)`` for scores below G.

    Raises
    ------
    StrategyError
        If `matrix` is not valid, or `player_name` blank or not to be written in UTF-8.
    """
    if not isinstance(player_name, str) or not player_name.strip():
        raise StrategyError(
            f"player name {shown(player_name)}: allowed is a text that is not blank"
        )
    try:
        player_name.encode()
    except UnicodeEncodeError as error:
        raise StrategyError(f"player name {shown(player_name)}: is not valid Unicode") from error
    table = check_matrix(matrix, len(matrix), _MOST_DICE).tolist()
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
