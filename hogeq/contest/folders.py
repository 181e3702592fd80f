"""The entries of a field, as names, patterns and folders of submissions list them.

A folder in a folder is one student's; a file in it is an entry of its own. Of a student's files
those called ``final_strategy.py`` count, or all strategy files where there is none, and of several
the last by name in natural order (``attempt10`` after ``attempt9``): a copy keeps its name, and not
its time. Of a run its matrix counts. Links are followed nowhere: a submission that has one is not
valid.

What lies in a folder may change while it is read, so each part of a path is opened in the part
before it.
"""

import errno
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from glob import has_magic, iglob
from itertools import islice, takewhile
from pathlib import Path, PurePath
from typing import Final, NamedTuple

from hogeq import BASELINES, StrategyError
from hogeq.support.files import read_whole, scan_within
from hogeq.support.kinds import IN_FOLDER, MAX_BYTES, PICKLES, SUBMISSION, SUFFIXES, is_folder
from hogeq.support.messages import printable, unreadable

MOST_MATCHES: Final = 10_000  # most files of a pattern: a whole disk would take too long
MOST_FILES: Final = 10_000  # most files and folders in one student's folder
DEEPEST: Final = 32  # most levels of folders there

ARCHIVES: Final = (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar")
_RUN: Final = {IN_FOLDER, "manifest.json"}  # files of a run's folder
_ALLOWED: Final = "allowed: files and folders"

_SUFFIXES: Final = f"allowed: names ending in {', '.join(SUFFIXES)}"


def is_builtin(name: str) -> bool:
    """Whether a text begins with the name of a strategy, so that it means no file."""
    return name.partition(":")[0] in BASELINES


class Entrant(NamedTuple):
    """An entry of a field: a strategy that is named, or a file that was found in a folder."""

    name: str  # as it was named; of a file in a folder its path there
    folder: Path | None = None  # where it was found, among files of others
    earlier: tuple[str, ...] = ()  # files of the same student that do not count, printable
    fault: str = ""  # why there is nothing to judge

    @property
    def path(self) -> PurePath:
        """The file, in its folder if it has one."""
        return PurePath(self.name)

    @property
    def entry(self) -> str:
        """Name or path, as a user of the command knows it."""
        return str(self.folder / self.name) if self.folder else self.name

    @property
    def file(self) -> str:
        """The file as it lies in the folder, printable."""
        return printable(self.path)

    @property
    def student(self) -> str:
        """Name of the student's folder, or of the file; printable."""
        return printable(self.path.parts[0])

    @property
    def is_code(self) -> bool:
        """Whether it may be a program."""
        return self.path.suffix.lower() == ".py"


_StatusTest = Callable[[os.stat_result], bool]  # of a file by its status


def named_entries(names: Iterable[str], unless: Iterable[Path] = ()) -> list[Entrant]:
    """List the entries that names stand for: built-in strategies, files, folders and patterns.

    The files `unless`, which the caller writes, are left out of folders and patterns. Files come in
    natural order, each once; a built-in strategy named twice is two entries.
    """
    is_written = _make_file_test(unless)
    entries: list[Entrant] = []
    known_files: set[str] = set()
    for name in names:
        if is_builtin(name) or not name:  # an empty name is refused when it is read
            entries.append(Entrant(name))
            continue
        if has_magic(name) and not os.path.lexists(name):
            entrants = _match_pattern(name, is_written)
        elif is_folder(name) and not all((Path(name) / file).exists() for file in _RUN):
            entrants = _list_folder(Path(name), is_written)
            if not entrants:
                raise StrategyError(f"{printable(name)}: holds no strategy file; {_SUFFIXES}")
        else:
            entrants = [Entrant(name)]
        for entrant in entrants:
            file = _without_links(entrant.entry)
            if entrant.fault or file not in known_files:
                entries.append(entrant)
            if not entrant.fault:
                known_files.add(file)
    return entries


def _without_links(file: str) -> str:
    """Follow all links on the way to a file; a name that no file can have stays as it is."""
    try:
        return os.path.realpath(file)
    except ValueError:  # a null character in the name: it is refused when it is read
        return file


def entrants(folder: Path, unless: Iterable[Path]) -> list[Entrant]:
    """List the submissions of a folder, by name, without the files `unless`, which are written."""
    return _list_folder(folder, _make_file_test(unless))


def _make_file_test(paths: Iterable[Path]) -> _StatusTest:
    """Make the test whether a file, by its status, is one of those at `paths`."""
    statuses = [path.stat() for path in paths if path.exists()]
    return lambda status: any(os.path.samestat(status, other) for other in statuses)


def _match_pattern(pattern: str, is_written: _StatusTest) -> list[Entrant]:
    """List the entries that a pattern stands for: a folder is a student's."""
    matches = list(islice(iglob(pattern, recursive=True), MOST_MATCHES + 1))  # noqa: PTH207
    if not matches:
        raise StrategyError(f"{printable(pattern)}: matches no file")
    if len(matches) > MOST_MATCHES:
        allowed = "allowed: patterns that match fewer"
        raise StrategyError(
            f"{printable(pattern)}: matches more than {MOST_MATCHES:,} files; {allowed}"
        )
    # The folder is what comes before the first part with a wildcard.
    folder = Path(*takewhile(lambda part: not has_magic(part), Path(pattern).parts))
    paths = [Path(match).relative_to(folder) for match in in_order(matches)]
    parents = {parent for path in paths for parent in path.parents}
    entrants_or_none = (
        _make_entrant(folder, path, (folder / path).lstat(), is_written)
        for path in paths
        if path not in parents  # of a folder and its files the files count
    )
    return [entrant for entrant in entrants_or_none if entrant is not None]


def _list_folder(folder: Path, is_written: _StatusTest) -> list[Entrant]:
    """List the entries of a folder: strategy files, archives, and all that is no file.

    Those that cannot be judged have a fault.
    """
    status_by_name = dict(scan_folder(folder, PurePath()))
    entrants_or_none = []
    for name in in_order(status_by_name):
        path = PurePath(name)
        status = status_by_name[name]
        may_count = is_strategy_file(path) or path.suffix.lower() in ARCHIVES
        if may_count or not stat.S_ISREG(status.st_mode):
            entrants_or_none.append(_make_entrant(folder, path, status, is_written))
    return [entrant for entrant in entrants_or_none if entrant is not None]


def _make_entrant(
    folder: Path, path: PurePath, status: os.stat_result, is_written: _StatusTest
) -> Entrant | None:
    """Make the entry of a file, or of a student's folder; None if it is hidden or written."""
    entrant = Entrant(str(path), folder)
    if is_written(status) or path.name.startswith((".", "__")):
        return None
    try:
        if stat.S_ISDIR(status.st_mode):
            return _make_student_entrant(folder, path, is_written)
        check_kind(path, status)
    except StrategyError as error:
        return entrant._replace(fault=str(error))
    if path.suffix.lower() in ARCHIVES:
        return entrant._replace(fault="is an archive; allowed: a file, or a folder of files")
    return entrant


def _make_student_entrant(folder: Path, path: PurePath, is_written: _StatusTest) -> Entrant:
    """Make the entry of a student's folder: the file that counts, and those that do not.

    `StrategyError` if there is none.
    """
    files = files_within(folder, path, is_written)
    may_count = [file for file in files if is_strategy_file(file) and file.name[:2] != "__"]
    if {path / name for name in _RUN} <= {*files}:  # the folder of a run
        may_count = [path / IN_FOLDER]
    if not may_count:
        others = ", ".join(printable(file.relative_to(path)) for file in files[:3])
        holds = "holds no strategy file" + (f", but {others}" if others else "")
        raise StrategyError(f"{printable(path)}: {holds}; {_SUFFIXES}")
    submitted = [file for file in may_count if file.name == SUBMISSION] or may_count
    *earlier, chosen = in_order(map(str, submitted))
    return Entrant(chosen, folder, tuple(map(printable, earlier)))


def is_strategy_file(path: PurePath) -> bool:
    """Whether a file in a folder has the name of a strategy."""
    is_note = path.name.lower().startswith((".", "readme"))
    return path.suffix.lower() in SUFFIXES + PICKLES and not is_note


def in_order(names: Iterable[str]) -> list[str]:
    """Sort names naturally: ``a2`` before ``a10``."""
    return sorted(names, key=lambda name: (_natural_key(name), name))


def _natural_key(name: str) -> list[tuple[int, str]]:
    """Split a name into its numbers, which sort by value, and texts, with -1 before all numbers."""
    return [
        (int(part), "") if part.isdecimal() and len(part) < 19 else (-1, part)
        for part in re.split(r"([0-9]+)", name)
    ]


# --- folders that may change while they are read --------------------------------------------------


def read_with_neighbours(
    folder: Path, path: PurePath, *, alone: bool
) -> Iterator[tuple[PurePath, bytes]]:
    """Yield the path and the bytes of a file of a folder, and unless `alone` of its neighbours.

    Neighbours are all files in and below the file's own folder; the paths start there.
    """
    files = {path} if alone else {path, *files_within(folder, path.parent)}
    bytes_left = MAX_BYTES  # for all files together
    for file in sorted(files):
        try:
            content = read_whole(file, bytes_left, within=folder)
        except OSError as error:
            raise _unreadable(file, error) from error
        bytes_left -= len(content)
        yield file.relative_to(path.parent), content


def files_within(
    folder: Path, inside: PurePath, is_left_out: _StatusTest = lambda _: False
) -> list[PurePath]:
    """List the files in and below the folder `inside` of a folder, as paths from the latter.

    Left out are hidden files and folders, folders like ``__pycache__``, and files for whose status
    `is_left_out` is true. `StrategyError` if there is a link or a device, or too much.
    """
    files: list[PurePath] = []
    folders_to_list = [inside]
    count = 0  # of files and folders
    while folders_to_list:
        parent = folders_to_list.pop()
        for name, status in scan_folder(folder, parent):
            path = parent / name
            is_directory = stat.S_ISDIR(status.st_mode)
            is_hidden = name.startswith(".") or (is_directory and name.startswith("__"))
            if is_hidden or is_left_out(status):
                continue
            count += 1
            if count > MOST_FILES or len(path.parts) > len(inside.parts) + DEEPEST:
                allowed = f"{MOST_FILES:,} files and folders, {DEEPEST} deep"
                raise StrategyError(f"{printable(inside)}: holds too much; allowed: {allowed}")
            if is_directory:
                folders_to_list.append(path)
            else:
                check_kind(path, status)
                files.append(path)
    return files


def check_kind(path: PurePath, status: os.stat_result) -> None:
    """Refuse a path whose status is not that of a regular file."""
    if not stat.S_ISREG(status.st_mode):
        kind = "a link" if stat.S_ISLNK(status.st_mode) else "not a file"
        raise StrategyError(f"{printable(path)}: is {kind}; {_ALLOWED}")


def scan_folder(folder: Path, inside: PurePath) -> Sequence[tuple[str, os.stat_result]]:
    """List a folder in a folder, each name with its status, in no order."""
    try:
        return scan_within(folder, inside)
    except OSError as error:
        raise _unreadable(inside, error) from error


def _unreadable(path: PurePath, error: OSError) -> StrategyError:
    """Make the error for a path that cannot be read."""
    if error.errno == errno.ELOOP:  # links are not followed
        return StrategyError(f"{printable(path)}: is a link; {_ALLOWED}")
    return StrategyError(unreadable(Path(path), error))
