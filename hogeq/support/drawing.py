"""Import matplotlib without what lies in the current folder."""

import sys
from contextlib import chdir
from pathlib import Path


def import_matplotlib() -> None:
    """Import matplotlib while a folder of the package is the current one.

    It reads a file `matplotlibrc` of the current folder, which may be anybody's: that file can
    change pictures, run programs, and up to version 3.10 is evaluated as Python.
    """
    if "matplotlib" not in sys.modules:
        with chdir(Path(__file__).parent):
            import matplotlib  # noqa: F401, ICN001 - read its settings now
