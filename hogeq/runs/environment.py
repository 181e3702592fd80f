"""What made a run: versions, cores, commit, time."""

import contextlib
import datetime as dt
import functools
import importlib.metadata
import platform
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from hogeq import __version__
from hogeq.runs.config import Config, facts
from hogeq.runs.files import SCHEMA
from hogeq.support.workers import cores

_PACKAGES: Final = ("numpy", "numba", "llvmlite", "scipy", "matplotlib", "pydantic", "joblib")
_TOOLS: Final = {"dev", "docs"}


def now() -> str:
    """Return the time in UTC, to the second, as ISO 8601 has it."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


@functools.cache
def environment() -> dict[str, Any]:
    """Describe what computes: versions, cores, and the commit if hogeq runs from a checkout."""
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


def first_manifest(
    config: Config, before: Mapping[str, Any], files: list[dict[str, str]], iteration: int
) -> dict[str, Any]:
    """Say what makes a run; `before` is the manifest of one that is gone on with."""
    started, resumed, read = (before.get(key) for key in ("started", "resumed_at", "files"))
    resumed_at = resumed if isinstance(resumed, list) else []
    return {
        "schema": SCHEMA,
        "name": config.name,
        "status": "running",
        "config_hash": config.fingerprint(),
        "seed": config.seed,
        "started": started if isinstance(started, str) else now(),
        "ended": None,
        "elapsed_seconds": 0.0,
        "solver_seconds": 0.0,
        "resumed_at": [*resumed_at, iteration] if iteration else resumed_at,
        "iterations": iteration,
        "environment": environment(),
        "plugins": facts(config.plugins),
        "files": read if isinstance(read, list) else files,
        "figures": None,
    }


@functools.cache
def extras() -> dict[str, str | None]:
    """Give the version of what each optional extra installs; None if that is missing."""
    versions: dict[str, str | None] = {}
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        for needed in importlib.metadata.requires("hogeq") or ():
            named = re.match(r"""([\w.-]+).*extra == ['"]([\w-]+)['"]""", needed)
            if named and named[2] not in _TOOLS:
                versions[named[2]] = None
                with contextlib.suppress(importlib.metadata.PackageNotFoundError):
                    versions[named[2]] = importlib.metadata.version(named[1])
    return versions


def vector_bits() -> int:
    """Give the width of the processor's vectors, which sets the speed of kernels."""
    from llvmlite import binding

    has = binding.get_host_cpu_features()
    widths = (("avx512f", 512), ("avx", 256), ("sse2", 128), ("neon", 128))
    return next((width for name, width in widths if has.get(name)), 64)


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
