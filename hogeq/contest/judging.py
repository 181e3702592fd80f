"""Submissions of others, judged apart: no link is followed, and whatever one does is its own fault.

What lies in a folder of submissions may change while it is read. So every entry is copied, part by
part without links, into a folder of its own, and the copy is judged: code sees the files beside it
in its student's folder, and nobody else's. What came of it is checked like a file of anybody, since
code had a part in it.
"""

import errno
import json
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path, PurePath
from typing import Any, Final

import numpy as np

from hogeq.contest.submission import Submission, inspect_submission
from hogeq.model.game import HogEngine
from hogeq.strategies.arrays import StrategyError
from hogeq.strategies.files import MAX_BYTES
from hogeq.strategies.sandbox import Fault
from hogeq.strategies.strategy import strategy_of
from hogeq.support.files import open_within, parse_json, read_whole
from hogeq.support.messages import printable, raised, unreadable

MOST_FILES: Final = 10_000
"""Most files and folders in one student's folder."""

DEEPEST: Final = 32
"""Most folders in each other there."""

MOST: Final = 2**53  # bytes, positions, faults of one submission

MOST_TEXTS: Final = 1000  # about one submission
LONGEST: Final = 5000  # most characters of one of them

_OURS: Final = {errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE}
"""Errors of copying that are of this machine, and no entry's."""

_UNSOUND: Final = "cannot be judged: what it answered is no answer"

_LISTS: Final = ("asked", "files", "attempts")  # fields that are tuples of plain values

_ALLOWED: Final = "allowed: files and folders"


def files_within(
    folder: Path, inside: PurePath, is_left_out: Callable[[os.stat_result], bool] = lambda _: False
) -> list[PurePath]:
    """List the files below a folder in a folder; `StrategyError` if there is a link or a device.

    Hidden files and folders are left out, and folders like ``__pycache__``.
    """
    found: list[PurePath] = []
    waiting, met = [inside], 0
    while waiting:
        place = waiting.pop()
        for name, status in listed(folder, place):
            path = place / name
            is_folder = stat.S_ISDIR(status.st_mode)
            is_hidden = name.startswith(".") or (is_folder and name.startswith("__"))
            if is_hidden or is_left_out(status):
                continue
            met += 1
            if met > MOST_FILES or len(path.parts) > len(inside.parts) + DEEPEST:
                allowed = f"{MOST_FILES:,} files and folders, {DEEPEST} deep"
                raise StrategyError(f"{printable(inside)}: holds too much; allowed: {allowed}")
            if is_folder:
                waiting.append(path)
            else:
                check_kind(path, status)
                found.append(path)
    return found


def check_kind(path: PurePath, status: os.stat_result) -> None:
    """Refuse anything but a file, a folder in its place too."""
    if not stat.S_ISREG(status.st_mode):
        kind = "a link" if stat.S_ISLNK(status.st_mode) else "not a file"
        raise StrategyError(f"{printable(path)}: is {kind}; {_ALLOWED}")


def listed(folder: Path, place: PurePath) -> Iterator[tuple[str, os.stat_result]]:
    """List a folder in a folder, each name with its status, in no order."""
    try:
        handle = open_within(folder, place)
        try:
            with os.scandir(handle) as entries:
                yield from [(one.name, one.stat(follow_symlinks=False)) for one in entries]
        finally:
            os.close(handle)
    except OSError as error:
        raise _unreadable(place, error) from error


def _unreadable(path: PurePath, error: OSError) -> StrategyError:
    if error.errno == errno.ELOOP:
        return StrategyError(f"{printable(path)}: is a link; {_ALLOWED}")
    return StrategyError(unreadable(Path(path), error))


# --- judging --------------------------------------------------------------------------------------


def inspect_apart(
    game: HogEngine,
    folder: Path,
    path: PurePath,
    *,
    flat: bool,
    trust: bool,
    time_limit: float,
    note: Callable[[Path], object] = Path,
) -> Submission:
    """Look at a copy of a file of a folder as a contest would; whatever happens is its fault.

    `flat` says that what lies beside it belongs to others. `note` is called with the copy.
    """
    try:
        with copied(folder, path, alone=flat or not trust or path.suffix.lower() != ".py") as copy:
            place = f"{copy.parent}{os.sep}"
            note(copy)
            try:
                found = inspect_submission(copy, game.rules, trust, time_limit=time_limit)
            except StrategyError as error:
                line = _without(place, str(error))
                return refused(line.removeprefix(f"{printable(copy.name)}: "))
        return submission_from(_without(place, facts(found)), game)
    except StrategyError as error:
        line = str(error).removeprefix(f"{printable(folder)}/")
        return refused(line.removeprefix(f"{printable(path)}: "))
    except Exception as error:  # one entry never stops the others
        if isinstance(error, OSError) and error.errno in _OURS:
            raise
        return refused(f"cannot be judged: {raised(error)}")


@contextmanager
def copied(folder: Path, path: PurePath, *, alone: bool) -> Iterator[Path]:
    """Copy a file of a folder for the time of a block, `alone` or with its neighbours."""
    files = {path} if alone else {path, *files_within(folder, path.parent)}
    with tempfile.TemporaryDirectory(
        prefix="hogeq-entry-", ignore_cleanup_errors=True
    ) as temporary:
        place, left = Path(temporary).resolve(), MAX_BYTES
        for file in sorted(files):
            target = place / file.relative_to(path.parent)
            try:
                content = read_whole(file, left, within=folder)
            except OSError as error:
                raise _unreadable(folder / file, error) from error
            left -= len(content)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        yield place / path.name


def refused(line: str) -> Submission:
    """Make the submission that was not looked at."""
    return Submission(0, None, None, (Fault("unread", 1, line),), {}, 0)


def _without(place: str, given: Any) -> Any:
    """Take the folder of the copy out of all texts: it is another each time."""
    if isinstance(given, str):
        return given.replace(place, "").replace(printable(place), "")
    if isinstance(given, dict):
        return {key: _without(place, value) for key, value in given.items()}
    return [_without(place, one) for one in given] if isinstance(given, list | tuple) else given


# --- submissions as plain values ------------------------------------------------------------------


def facts(submission: Submission) -> dict[str, Any]:
    """Give a submission as plain values, its table as two digits a cell."""
    one = submission.strategy
    table = None if one is None else one.dice.tobytes().hex()
    return {**asdict(replace(submission, strategy=None)), "strategy": table}


def submission_from(given: object, game: HogEngine) -> Submission:
    """Make a submission of plain values that may be anybody's; `StrategyError` if they are none."""
    try:
        one = parse_json(json.dumps(given))  # no NaN, nothing endless
        table = one["strategy"]
        if table is not None:
            cells = np.frombuffer(bytes.fromhex(table), np.int8)
            table = strategy_of(game, cells.reshape(game.goal, game.goal))
        lists = {key: tuple(one[key]) for key in _LISTS if one.get(key) is not None}
        faults = tuple(Fault(*fault) for fault in one["faults"])
        found = Submission(**{**one, **lists, "strategy": table, "faults": faults})
        counts = [found.size, found.answered, *(found.asked or ())]
        counts += [times for _, times, _ in faults]
        texts = ["" if found.name is None else found.name, *found.files, *found.attempts]
        texts += [text for kind, _, line in faults for text in (kind, line)]
        is_sound = (
            (table is None) == bool(faults)
            and all(type(count) is int and 0 <= count <= MOST for count in counts)
            and all(type(text) is str and len(text) <= LONGEST for text in texts)
            and len(texts) <= MOST_TEXTS
            and len(found.asked or (0, 0)) == 2
            and (not found.seconds or {*found.seconds} == {"load", "table", "slowest"})
            and all(type(time) in {int, float} and time >= 0 for time in found.seconds.values())
            and all(type(flag) is bool for flag in (found.alone or False, found.prints))
        )
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
        raise StrategyError(_UNSOUND) from error
    if not is_sound:
        raise StrategyError(_UNSOUND)
    return found
