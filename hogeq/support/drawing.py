"""Import matplotlib without what lies in the current folder."""

import os
import sys
from contextlib import chdir
from pathlib import Path

from hogeq.support.messages import HogeqError, refusal


def import_matplotlib() -> None:
    """Import matplotlib while a folder of the package is the current one.

    It reads a file `matplotlibrc` of the current folder, which may be anybody's: that file can
    change pictures, run programs, and up to version 3.10 is evaluated as Python. A file that the
    user's environment names is refused if it is a device or a pipe, which may never end.
    """
    if "matplotlib" not in sys.modules:
        with chdir(Path(__file__).parent):
            _require_file_of_settings()
            import matplotlib  # noqa: F401, ICN001 - read its settings now


def _require_file_of_settings() -> None:
    """Refuse a `MATPLOTLIBRC` that is there, but is neither a file nor a folder with one."""
    given = os.environ.get("MATPLOTLIBRC", "")
    for path in (Path(given), Path(given, "matplotlibrc")) if given else ():
        if path.exists() and not path.is_dir() and not path.is_file():
            raise HogeqError(refusal("MATPLOTLIBRC", given, "a file of settings, or its folder"))
