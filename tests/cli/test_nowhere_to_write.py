"""A package that may only be read, and no home to write to."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_compare_works_and_says_so(folder: Path) -> None:
    """Root may write anywhere, so the home is a file, below which there is no folder to make."""
    package = folder / "installed"
    shutil.copytree(ROOT / "hogeq", package / "hogeq", ignore=shutil.ignore_patterns("__pycache__"))
    for path in [package, *package.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    (folder / "home").write_text("no folder")
    (folder / "tmp").mkdir()
    home = str(folder / "home")
    environment = {
        **{key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"},
        "HOME": home,
        "XDG_CACHE_HOME": f"{home}/cache",
        "TMPDIR": str(folder / "tmp"),
        "PYTHONPATH": str(package),
    }
    command = [sys.executable, "-m", "hogeq", "compare", "always_roll:1", "always_roll:2"]
    found = [
        subprocess.run(  # noqa: S603 - our own command
            [*command, "--rules", "small.yaml", "--json"],
            capture_output=True,
            check=False,
            text=True,
            env=environment,
            cwd=folder,
        )
        for _ in range(2)
    ]
    for path in [package, *package.rglob("*")]:
        path.chmod(0o755)
    first, second = found
    lines = "hogeq: compiling kernels, once\nhogeq: compiled kernels cannot be kept in "
    for process in found:
        assert (process.returncode, process.stderr.count("\n")) == (0, 2), process.stderr
        assert process.stderr.startswith(lines)
    assert first.stdout == second.stdout
