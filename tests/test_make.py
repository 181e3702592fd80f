"""The first command of a clone: which Python it takes, and what it leaves behind."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

OLD = """#!{python}
import sys
sys.version_info = (3, 9, 18)
exec(sys.argv[2])
"""


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    command = ["make", "--no-print-directory", *arguments]
    # Not as a part of the `make test` that runs this test.
    own = {key: text for key, text in os.environ.items() if not key.startswith(("MAKE", "MF"))}
    return subprocess.run(  # noqa: S603 - our own
        command, cwd=folder, env=own, capture_output=True, text=True, check=False
    )


def test_an_old_python_is_refused_in_a_line_and_leaves_nothing(tmp_path: Path) -> None:
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    old = tmp_path / "python3.9"
    old.write_text(OLD.format(python=sys.executable))
    old.chmod(0o755)
    before = sorted(tmp_path.iterdir())
    for target in ("run", "test"):
        done = make(tmp_path, target, f"PYTHON={old}")
        assert done.returncode == 2
        needs, failed = done.stderr.splitlines()
        allowed = "allowed: make run PYTHON=python3.12"
        assert needs == f"hogeq needs Python 3.11 or newer; {old} is 3.9.18; {allowed}"
        assert failed.startswith("make: ***")
        assert sorted(tmp_path.iterdir()) == before


def test_what_another_python_left_is_cleared(tmp_path: Path) -> None:
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / ".venv").mkdir()
    told = make(tmp_path, "--dry-run", "run", f"PYTHON={sys.executable}").stdout
    assert "echo installing hogeq" in told
    assert f"test -e .venv/.run || {sys.executable} -m venv --clear .venv\n" in told


@pytest.mark.slow
def test_hogeq_is_imported_in_the_folder_that_holds_the_clone(tmp_path: Path) -> None:
    """As `make run` installs it: from a folder hogeq/, Python would make an empty package."""
    pytest.importorskip("setuptools", minversion="77")
    clone, installed = tmp_path / "hogeq", tmp_path / "installed"
    for name in ("hogeq", "pyproject.toml", "README.md", "LICENSE"):
        clone.mkdir(exist_ok=True)
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, clone / name)
    told = make(ROOT, "--dry-run", "--always-make", ".venv/.run").stdout
    key, value = re.findall(r"--config-settings (\w+)=(\w+)", told)[0]
    build = (
        "import sys; from setuptools import build_meta; "
        "build_meta.build_editable(sys.argv[1], {sys.argv[2]: sys.argv[3]})"
    )
    command = [sys.executable, "-c", build, str(installed), key, value]
    subprocess.run(command, cwd=clone, check=True, capture_output=True)  # noqa: S603 - our own
    (wheel,) = installed.iterdir()
    zipfile.ZipFile(wheel).extractall(installed)
    script = (
        "import site, sys; "
        "sys.path = [path for path in sys.path if not path.endswith(sys.argv[2])]; "
        "site.addsitedir(sys.argv[1]); import hogeq; print(hogeq.__file__, hogeq.Game('fa25'))"
    )
    command = [sys.executable, "-c", script, str(installed), str(ROOT)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)  # noqa: S603 - our own
    assert done.stdout.split() == [str(clone / "hogeq" / "__init__.py"), "Game(fa25)"]
