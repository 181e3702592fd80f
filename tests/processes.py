"""Python in a process of its own, which finds this checkout wherever it starts."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def python(*words: str | Path, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run Python with arguments; `env` is added to the environment, the rest is for `run`."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **more.pop("env", {})}
    settings: dict[str, Any] = {"capture_output": True, "timeout": 300, **more}
    command = [sys.executable, *words]
    return subprocess.run(  # noqa: S603 - our own
        command, env=environment, check=False, text=True, **settings
    )


def printed(*words: str | Path, **more: Any) -> str:
    """Run Python, which ends with status 0, and give what it prints."""
    found = python(*words, **more)
    assert found.returncode == 0, found.stderr
    return found.stdout
