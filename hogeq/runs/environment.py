"""What made a run: versions, cores, commit, time."""

import contextlib
import datetime as dt
import functools
import importlib.metadata
import platform
import subprocess
from pathlib import Path
from typing import Any, Final

from hogeq import __version__
from hogeq.support.workers import cores

_PACKAGES: Final = ("numpy", "numba", "llvmlite", "scipy", "matplotlib", "pydantic", "joblib")


def now() -> str:
    """Return the time in UTC, to the second, as ISO 8601 has it."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


@functools.cache
def environment() -> dict[str, Any]:
    """Describe what computes: versions, cores, and the commit if hogeq runs from a checkout.

    Returns
    -------
    dict
        ``hogeq``, ``python``, ``platform`` : str; ``packages`` : versions by name; ``cores`` : int,
        those this process may use; ``git`` : ``commit`` and ``dirty``, or None.
    """
    versions = {}
    for package in _PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[package] = importlib.metadata.version(package)
    return {
        "hogeq": __version__,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "packages": versions,
        "cores": cores(),
        "git": _git(Path(__file__).parent),
    }


def _git(package: Path) -> dict[str, Any] | None:
    def ask(*arguments: str) -> str:
        return subprocess.run(  # noqa: S603 - fixed arguments
            ["git", *arguments],  # noqa: S607 - whichever git the user has
            cwd=package,
            capture_output=True,
            check=True,
            text=True,
            timeout=10,
        ).stdout.strip()

    try:
        # In a folder inside another project's checkout, that project's commit would say nothing.
        ask("ls-files", "--error-unmatch", Path(__file__).name)
        return {
            "commit": ask("rev-parse", "HEAD"),
            "dirty": bool(ask("status", "--porcelain", "--untracked-files=no")),
        }
    except (OSError, subprocess.SubprocessError):
        return None
