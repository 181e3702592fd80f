"""What a file holds: its first bytes tell, not its name; and the names of strategy files."""

import os
import re
from pathlib import Path
from typing import Final

from hogeq.support.files import opened
from hogeq.support.messages import HogeqError

EFG: Final = "Gambit's extensive form"
TEXT: Final = "LiteEFG's text"
ARCHIVE: Final = "an archive of arrays"
ARRAY: Final = "an array in numpy's format"
YAML: Final = "a mapping as YAML"
CODE: Final = "Python code"
MAX_BYTES: Final = 64 * 2**20  # largest strategy file that is opened at all

SUFFIXES: Final = (".csv", ".tsv", ".txt", ".json", ".npy", ".npz", ".py")
"""Suffixes of strategy files in a folder; a file that a user names may have any."""

PICKLES: Final = (".pickle", ".pkl", ".p", ".pck", ".joblib")  # suffixes of refused files

SUBMISSION: Final = "final_strategy.py"
"""Name of a student's file, whatever else lies in the student's folder."""

IN_FOLDER: Final = "matrix.csv"  # the matrix in the folder of a run

NEEDS_TRUST: Final = "reading a .py runs its code, allowed only with --trust"

_HEAD: Final = 2**20  # first bytes that tell the kind: comments may come before it
_BOM: Final = b"\xef\xbb\xbf"  # mark of UTF-8
_PACKERS: Final = {
    "gzip": re.compile(rb"\x1f\x8b"),
    "bzip2": re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"),
    "xz": re.compile(rb"\xfd7zXZ\x00"),
    "zstd": re.compile(rb"\x28\xb5\x2f\xfd"),
    "7-Zip": re.compile(rb"7z\xbc\xaf\x27\x1c"),
    "RAR": re.compile(rb"Rar!\x1a\x07"),
}
"""How compressed files begin, by program."""
_STARTS: Final = {
    EFG: re.compile(rb"\s*EFG\s"),
    # A line of a game, after lines that are empty or comments.
    TEXT: re.compile(rb"(?:[ \t]*(?:#[^\n]*)?\n)*+\s*(?:node|infoset)[ \t]+\S+[ \t]"),
    YAML: re.compile(
        rb"(?:[ \t]*(?:#[^\n]*)?\n)*+(?:---\s|(?!\"{3}|'{3})[\w.\"'-]+[ \t]*:(?:\s|$))"
    ),
    # A line of Python, whatever is before it: a docstring may look like a table. A list is one.
    CODE: re.compile(
        rb"(?ms:.*?)(?m:^)(?:(?:async )?def \w+\(|class \w+[(:]|from [\w.]+ import |"
        rb"import [\w.]+(?: as \w+)?[ \t]*(?m:$)|final_strategy[ \t]*=(?!\s*[\[{(]\s*[\[{(]))"
    ),
}


def kind_of(path: str | os.PathLike[str]) -> str:
    """Name the kind of a regular file by its content; empty if it is unknown or unreadable."""
    try:
        with opened(Path(path), 2**63 - 1) as (file, _):
            return kind_of_bytes(file.read(_HEAD) or b"")
    except (OSError, ValueError):  # ValueError: a null character in the name
        return ""


def kind_of_bytes(data: bytes) -> str:
    """Name the kind of a content; empty if it is unknown."""
    if data.startswith(b"PK\x03\x04"):
        return ARCHIVE
    if data.startswith(b"\x93NUMPY"):
        return ARRAY
    head = data[:_HEAD].removeprefix(_BOM).replace(b"\r", b"\n")
    return next((kind for kind, start in _STARTS.items() if start.match(head)), "")


def not_a_strategy(data: bytes) -> str:
    """Describe a content that is surely no strategy; empty if it may be one."""
    kind = kind_of_bytes(data)
    if kind == CODE:
        return "holds Python code, and its name does not end in .py"
    return f"holds {kind}, a game; --game takes it" if kind in {EFG, TEXT} else ""


def require_unpacked(data: bytes) -> None:
    """Refuse a content that is compressed; an archive of arrays is allowed."""
    packer = next((name for name, start in _PACKERS.items() if start.match(data)), "")
    if packer:
        raise HogeqError(f"is compressed by {packer}; allowed: its content, unpack it first")


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a folder; not if it cannot be one."""
    return os.path.isdir(path)  # noqa: PTH112 - unlike Path.is_dir, it never raises
