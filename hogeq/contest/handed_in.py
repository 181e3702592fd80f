"""Submissions as Gradescope and Canvas (bCourses) hand them out: a zip, or its folder unpacked.

Gradescope: ``assignment_N_export/submission_N/...``, and ``submission_metadata.yml`` says who
handed in what. Canvas: ``smithbob_LATE_USER_FILE_final_strategy.py``, all files in one folder. Each
student's files go into a folder of that student's own, under their own names; a zip among them is
unpacked. Only regular files are taken, a bounded number of bytes for each student: whatever else a
student hands in is a fault of that submission alone.
"""

import errno
import io
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path, PurePath
from typing import IO, Final, NamedTuple

from hogeq import StrategyError
from hogeq.contest.folders import DEEPEST, MOST_FILES, files_within, in_order, scan_folder
from hogeq.support.files import read_whole
from hogeq.support.messages import HogeqError, one_line, printable, refusals_of
from hogeq.support.text import text_of
from hogeq.support.yaml import parse_yaml

METADATA: Final = "submission_metadata.yml"
MOST_BYTES: Final = 16 * 2**20  # most bytes of the files of one student
MOST_TOTAL: Final = 4 * 2**30  # most bytes of those of all students
MOST_METADATA: Final = 64 * 2**20  # most bytes of the metadata, which hold all results of tests
MOST_MEMBERS: Final = 500_000  # most files of a zip
_HIDDEN: Final = (".", "__MACOSX")  # names of files that operating systems add begin so
_CANVAS: Final = re.compile(r"([^_]*)_?(?:LATE_)?(anon_[^_]+|[0-9]+)_[0-9]+_(.+)", re.DOTALL)
_COPY: Final = re.compile(r"-[0-9]+(?=\.\w+$)")  # in a name that Canvas has met before
_SECTION: Final = re.compile(r"^([^\s#:-].*?):[ \t]*\n((?:[ -].*\n|\n)*)", re.MULTILINE)
_PEOPLE: Final = re.compile(r"^  :submitters:.*\n((?:  - .*\n|    .*\n)*)", re.MULTILINE)
_BROKEN: Final = (OSError, EOFError, RuntimeError, ValueError, zipfile.BadZipFile, zlib.error)


class Member(NamedTuple):
    """A file that was handed in."""

    path: PurePath
    read: Callable[[int], bytes]  # one byte more than so many at most; or `StrategyError`


class Submission(NamedTuple):
    """The files of one submission, and who handed them in: what is known of them, by kind."""

    name: str
    submitters: list[dict[str, str]]
    members: list[Member]


def is_zip(path: Path) -> bool:
    """Whether a path is a zip; devices and pipes, whose end may never come, are not read."""
    return os.path.isfile(path) and zipfile.is_zipfile(path)  # noqa: PTH113 - never raises


def submissions_in(source: Path) -> list[Submission]:
    """List the submissions of a zip or a folder in natural order; `HogeqError` if it is none.

    1. List the files. If all lie in one folder, as in a zip of it, their paths begin below that.
    2. Read from the metadata of Gradescope, if there are any, who handed in what.
    3. Group the files: by their folder, or by the number of the student in Canvas' names.
    """
    where = printable(source)
    if not (source.is_dir() or is_zip(source)):
        raise HogeqError(f"{where}: is neither a folder nor a zip")
    try:
        listing = _list_folder(source) if source.is_dir() else _list_zip(source)
        members = [file for file in listing if not file.path.parts[0].startswith(_HIDDEN)]
        folders = {file.path.parts[0] for file in members}
        if len(folders) == 1 and all(len(file.path.parts) > 1 for file in members):
            (outer_folder,) = folders
            members = [file._replace(path=file.path.relative_to(outer_folder)) for file in members]
        submitters: dict[str, list[dict[str, str]]] = {}  # by submission, of Gradescope
        for path, read in members:
            if path == PurePath(METADATA):
                data = read(MOST_METADATA)
                with refusals_of(f"{where}: {METADATA}"):
                    text = text_of(data)
                submitters = _read_submitters(f"{text}\n", f"{where}: {METADATA}")
    except HogeqError:
        raise
    except _BROKEN as error:
        raise HogeqError(f"{where}: cannot be read: {_reason(error)}") from error
    submissions: dict[str, Submission] = {}
    for member in members:
        name, *parts_inside = member.path.parts
        people = submitters.get(name, [{"account": name}])
        canvas_name = None if parts_inside or submitters else _CANVAS.fullmatch(name)
        if canvas_name:
            student, number, file = canvas_name.groups()
            name = f"{student}_{number}".strip("_")
            parts_inside = [_COPY.sub("", file)]
            people = [{"id": number, "name": student}]
        if member.path.name != METADATA:
            member_inside = member._replace(path=PurePath(*parts_inside or [name]))
            submission = submissions.setdefault(name, Submission(name, people, []))
            submission.members.append(member_inside)
    return [submissions[name] for name in in_order(submissions)]


def _reason(error: Exception) -> str:
    """Explain why a submission cannot be read, in the system's words or, of a zip, in our own."""
    if isinstance(error, HogeqError):
        return one_line(error)
    # Where a damaged zip points before its first byte, the system says "invalid argument".
    if isinstance(error, OSError) and error.errno not in {None, errno.EINVAL}:
        return one_line(error.strerror)
    return "it is no zip, or one damaged or encrypted"


def _list_folder(source: Path) -> Iterator[Member]:
    """Yield the files of a folder; reading one raises if its student's folder has a link."""
    for name, status in scan_folder(source, PurePath()):
        path = PurePath(name)
        try:
            files = files_within(source, path) if stat.S_ISDIR(status.st_mode) else [path]
        except StrategyError as error:
            yield Member(path / "unread", partial(_refuse, str(error)))
        else:
            yield from (Member(file, partial(_read, source, file)) for file in files)


def _read(source: Path, path: PurePath, most: int) -> bytes:
    """Read a file of a folder, of at most so many bytes."""
    return read_whole(path, most, within=source)


def _refuse(reason: str, _: int) -> bytes:
    """Take the place of `_read` for a file that is not taken."""
    raise StrategyError(reason)


def _list_zip(file: Path | IO[bytes]) -> Iterator[Member]:
    """Yield the files of a zip; reading a link raises `StrategyError`."""
    archive = zipfile.ZipFile(file)
    if len(archive.infolist()) > MOST_MEMBERS:
        raise HogeqError(f"holds more than {MOST_MEMBERS:,} files")
    for info in archive.infolist():
        # The upper half is the mode of Unix; the kind is 0 where the zip does not have one.
        kind = stat.S_IFMT(info.external_attr >> 16)
        path = PurePath(info.filename)
        if kind not in {0, stat.S_IFREG, stat.S_IFDIR}:
            yield Member(path, partial(_refuse, f"{printable(path)}: is a link, or not a file"))
        elif not info.is_dir() and path.parts:
            yield Member(path, partial(_unzip, archive, info))


def _unzip(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> bytes:
    """Read a file of a zip, of which the directory may lie about the size: `most` + 1 bytes."""
    with archive.open(info) as file:
        return file.read(most + 1)


def _read_submitters(text: str, where: str) -> dict[str, list[dict[str, str]]]:
    """Read from Gradescope's metadata who handed in each submission: what is known, by kind.

    Only the part about people is parsed as YAML: dates and results of tests may be very long.
    """
    submitters = {}
    for name, section in _SECTION.findall(text):
        match = _PEOPLE.search(section)
        people = parse_yaml(match[1], f"{where}: {one_line(name)}") if match else None
        submitters[name.strip("'\"")] = [
            {str(key).lstrip(":"): str(value) for key, value in person.items() if value is not None}
            for person in people or []
            if isinstance(person, dict)
        ]
    return submitters


def unpack(submission: Submission, folder: Path, total: int) -> tuple[int, str]:
    """Write the files of a submission into a new folder; files of a zip among them, too.

    Returns the bytes of its files, and why it is not valid, or an empty text. `total` are the bytes
    of all submissions before it; `HogeqError` if all together are too many.
    """
    num_bytes = 0
    queue = list(submission.members)  # to which the files of a zip among them are added
    folder.mkdir()
    try:
        for number, (path, read) in enumerate(queue):
            data = read(MOST_BYTES - num_bytes)
            num_bytes += len(data)
            if num_bytes > MOST_BYTES or number >= MOST_FILES or len(path.parts) > DEEPEST:
                allowed = f"{MOST_FILES:,} files, {MOST_BYTES:,} bytes, folders {DEEPEST} deep"
                return num_bytes, f"holds too much; allowed: {allowed}"
            if path.is_absolute() or ".." in path.parts or "\\" in str(path):
                return num_bytes, f"{printable(path)}: leads out of its folder"
            is_outer = number < len(submission.members)  # a zip in a zip is not unpacked
            if path.suffix.lower() == ".zip" and is_outer:
                queue += _list_zip(io.BytesIO(data))
                continue
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
    except StrategyError as error:
        return num_bytes, str(error)
    except _BROKEN as error:
        return num_bytes, f"cannot be unpacked: {_reason(error)}"
    if num_bytes + total > MOST_TOTAL:
        raise HogeqError(f"submissions: hold more than {MOST_TOTAL:,} bytes")
    return num_bytes, ""
