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
from hogeq.contest.folders import DEEPEST, MOST_FILES, files_within, in_order, listed
from hogeq.support.files import read_whole
from hogeq.support.messages import BadInputError, HogeqError, one_line, printable, refusals_of
from hogeq.support.text import text_of
from hogeq.support.yaml import parse_yaml

METADATA: Final = "submission_metadata.yml"
MOST_BYTES: Final = 16 * 2**20  # of the files of one student
MOST_TOTAL: Final = 4 * 2**30  # of those of all
MOST_METADATA: Final = 64 * 2**20  # of the metadata, which hold all results of tests
MOST_MEMBERS: Final = 500_000  # files of a zip
_HIDDEN: Final = (".", "__MACOSX")  # files of systems begin so
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
    """Whether a path is a zip; of devices and pipes the end, where that stands, never comes."""
    return os.path.isfile(path) and zipfile.is_zipfile(path)  # noqa: PTH113 - never raises


def submissions_in(source: Path) -> list[Submission]:
    """List the submissions of a zip or a folder in natural order; `BadInputError` if it is none."""
    where = printable(source)
    if not (source.is_dir() or is_zip(source)):
        raise BadInputError(f"{where}: is neither a folder nor a zip")
    try:
        listing = _in_folder(source) if source.is_dir() else _in_zip(source)
        members = [file for file in listing if not file.path.parts[0].startswith(_HIDDEN)]
        folders = {file.path.parts[0] for file in members}
        if len(folders) == 1 and all(len(file.path.parts) > 1 for file in members):
            (zipped,) = folders
            members = [file._replace(path=file.path.relative_to(zipped)) for file in members]
        submitters: dict[str, list[dict[str, str]]] = {}  # by submission, of Gradescope
        for path, read in members:
            if path == PurePath(METADATA):
                data = read(MOST_METADATA)
                with refusals_of(f"{where}: {METADATA}"):
                    text = text_of(data)
                submitters = _submitters(f"{text}\n", f"{where}: {METADATA}")
    except BadInputError:
        raise
    except _BROKEN as error:
        raise BadInputError(f"{where}: cannot be read: {_reason(error)}") from error
    found: dict[str, Submission] = {}
    for member in members:
        name, *inside = member.path.parts
        people = submitters.get(name, [{"account": name}])
        canvas = None if inside or submitters else _CANVAS.fullmatch(name)
        if canvas:
            student, number, file = canvas.groups()
            name = f"{student}_{number}".strip("_")
            inside = [_COPY.sub("", file)]
            people = [{"id": number, "name": student}]
        if member.path.name != METADATA:
            own = member._replace(path=PurePath(*inside or [name]))  # in the student's folder
            found.setdefault(name, Submission(name, people, [])).members.append(own)
    return [found[name] for name in in_order(found)]


def _reason(error: Exception) -> str:
    """Say why a submission cannot be read, in the system's words or, of a zip, in ours."""
    if isinstance(error, HogeqError):
        return one_line(error)
    # A place before the first byte, of which a damaged zip may tell, is an invalid argument.
    if isinstance(error, OSError) and error.errno not in {None, errno.EINVAL}:
        return one_line(error.strerror)
    return "it is no zip, or one damaged or encrypted"


def _in_folder(source: Path) -> Iterator[Member]:
    """List the files of a folder; a folder of a student that has anything else is not read."""
    for name, status in listed(source, PurePath()):
        path = PurePath(name)
        try:
            files = files_within(source, path) if stat.S_ISDIR(status.st_mode) else [path]
        except StrategyError as error:
            yield Member(path / "unread", partial(_refuse, str(error)))
        else:
            yield from (Member(file, partial(_read, source, file)) for file in files)


def _read(source: Path, path: PurePath, most: int) -> bytes:
    return read_whole(path, most, within=source)


def _refuse(reason: str, _: int) -> bytes:
    raise StrategyError(reason)


def _in_zip(file: Path | IO[bytes]) -> Iterator[Member]:
    """List the files of a zip."""
    archive = zipfile.ZipFile(file)
    if len(archive.infolist()) > MOST_MEMBERS:
        raise HogeqError(f"holds more than {MOST_MEMBERS:,} files")
    for info in archive.infolist():
        kind = stat.S_IFMT(info.external_attr >> 16)  # 0 where the zip does not say it
        path = PurePath(info.filename)
        if kind not in {0, stat.S_IFREG, stat.S_IFDIR}:
            yield Member(path, partial(_refuse, f"{printable(path)}: is a link, or not a file"))
        elif not info.is_dir() and path.parts:
            yield Member(path, partial(_unzip, archive, info))


def _unzip(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> bytes:
    with archive.open(info) as file:
        return file.read(most + 1)


def _submitters(text: str, where: str) -> dict[str, list[dict[str, str]]]:
    """Read who handed in each submission; dates and results of tests are passed over."""
    submitters = {}
    for name, section in _SECTION.findall(text):
        match = _PEOPLE.search(section)
        people = parse_yaml(match[1], f"{where}: {one_line(name)}") if match else None
        submitters[name.strip("'\"")] = [
            {str(key).lstrip(":"): str(value) for key, value in one.items() if value is not None}
            for one in people or []
            if isinstance(one, dict)
        ]
    return submitters


def unpack(submission: Submission, folder: Path, total: int) -> tuple[int, str]:
    """Write the files of a submission into a new folder; give its bytes, and what is wrong.

    `total` are the bytes of all before it; `BadInputError` if all together are too many.
    """
    used = 0  # bytes
    waiting = list(submission.members)  # to which the files of a zip among them are added
    folder.mkdir()
    try:
        for number, (path, read) in enumerate(waiting):
            data = read(MOST_BYTES - used)
            used += len(data)
            if used > MOST_BYTES or number >= MOST_FILES or len(path.parts) > DEEPEST:
                allowed = f"{MOST_FILES:,} files, {MOST_BYTES:,} bytes, folders {DEEPEST} deep"
                return used, f"holds too much; allowed: {allowed}"
            if path.is_absolute() or ".." in path.parts or "\\" in str(path):
                return used, f"{printable(path)}: leads out of its folder"
            is_outer = number < len(submission.members)  # a zip in a zip stays one
            if path.suffix.lower() == ".zip" and is_outer:
                waiting += _in_zip(io.BytesIO(data))
                continue
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
    except StrategyError as error:
        return used, str(error)
    except _BROKEN as error:
        return used, f"cannot be unpacked: {_reason(error)}"
    if used + total > MOST_TOTAL:
        raise BadInputError(f"submissions: hold more than {MOST_TOTAL:,} bytes")
    return used, ""
