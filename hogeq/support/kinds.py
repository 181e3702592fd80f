"""What a file holds: its first bytes tell, not its name; and the names of strategy files."""

import os
import re
from pathlib import Path
from typing import Final

from hogeq.support.files import opened

EFG: Final = "Gambit's extensive form"
TEXT: Final = "LiteEFG's text"
ARCHIVE: Final = "an archive of arrays"
YAML: Final = "a mapping as YAML"
PACKED: Final = "what a program compressed"
MAX_BYTES: Final = 64 * 2**20  # largest strategy file that is opened at all

SUFFIXES: Final = (".csv", ".tsv", ".txt", ".json", ".npy", ".npz", ".py")
"""Of strategy files in a folder; a file that is named may have any."""

PICKLES: Final = (".pickle", ".pkl", ".p", ".pck", ".joblib")

SUBMISSION: Final = "final_strategy.py"
"""Name of a student's file, whatever else lies in the student's folder."""

IN_FOLDER: Final = "matrix.csv"  # the matrix in the folder of a run

NEEDS_TRUST: Final = "reading a .py runs its code, allowed only with --trust"

_HEAD: Final = 2**20  # bytes that are looked at: comments may come first
_BOM: Final = b"\xef\xbb\xbf"
_PACKED: Final = (  # gzip, bzip2, xz, zstd
    b"\x1f\x8b",
    b"BZh",
    b"\xfd7zXZ\x00",
    b"\x28\xb5\x2f\xfd",
)
_STARTS: Final = {
    EFG: re.compile(rb"\s*EFG\s"),
    # A line of a game, after lines that are empty or comments.
    TEXT: re.compile(rb"(?:[ \t\r]*(?:#[^\n]*)?\n)*+\s*(?:node|infoset)[ \t]+\S+[ \t]"),
    YAML: re.compile(rb"(?:[ \t\r]*(?:#[^\n]*)?\n)*+(?:---\s|[\w.\"'-]+[ \t]*:(?:\s|$))"),
}


def kind_of(path: str | os.PathLike[str]) -> str:
    """Tell what a regular file holds; empty if it is of no known kind, or cannot be read."""
    try:
        with opened(Path(path), 2**63 - 1) as (file, _):
            return kind_of_bytes(file.read(_HEAD) or b"")
    except (OSError, ValueError):  # ValueError: a null character in the name
        return ""


def kind_of_bytes(data: bytes) -> str:
    """Tell what the content of a file is; empty if it is of no known kind."""
    if data.startswith(b"PK\x03\x04"):
        return ARCHIVE
    if data.startswith(_PACKED):
        return PACKED
    head = data[:_HEAD].removeprefix(_BOM)
    return next((kind for kind, start in _STARTS.items() if start.match(head)), "")


def not_a_strategy(data: bytes) -> str:
    """Say what a file holds that is surely no strategy; empty if it may be one."""
    kind = kind_of_bytes(data)
    if kind in {EFG, TEXT}:
        return f"holds {kind}, a game"
    return f"holds {kind}" if kind == PACKED else ""


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a folder; not if it cannot be one."""
    return os.path.isdir(path)  # noqa: PTH112 - unlike Path.is_dir, it never raises
