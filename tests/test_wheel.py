"""The wheel holds all that hogeq needs, and works where no checkout is."""

import email
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.processes import printed

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
SOURCES = ("hogeq", "pyproject.toml", "README.md", "LICENSE")
BUILD = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("setuptools", minversion="77")
    source, built = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("built")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, source / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, source)
    command = [sys.executable, "-c", BUILD, str(built)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)  # noqa: S603 - our own
    (found,) = built.iterdir()
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel alone, apart from the checkout."""
    folder = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    command = [*pip, "--no-compile", "--target", str(folder), str(wheel)]
    subprocess.run(command, check=True)  # noqa: S603 - our own
    return folder


def hogeq(installed: Path, cwd: Path, *arguments: str) -> str:
    """Run hogeq as installed, in a folder that holds nothing of the project."""
    path = {"PYTHONPATH": str(installed)}
    return printed("-P", "-m", "hogeq", *arguments, cwd=cwd, env=path)


def test_every_file_of_the_package_is_in_it(wheel: Path) -> None:
    shipped = set(zipfile.ZipFile(wheel).namelist())
    files = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "hogeq").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {"hogeq/py.typed", "hogeq/__init__.pyi", "hogeq/pages/report.html"} <= files
    assert {"hogeq/pages/board.html", "hogeq/pages/board.css", "hogeq/pages/play.js"} <= files
    assert "hogeq/baselines/champions/su20/policy.npz" in files
    assert files <= shipped, files - shipped
    assert {name for name in shipped - files if ".dist-info/" not in name} == set()


def _is_openspiel(requirement: str) -> bool:
    return requirement.startswith("open_spiel") and "extra ==" not in requirement


def test_its_metadata_say_what_it_is(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    said = email.message_from_bytes(archive.read(name))
    assert (said["Name"], said["License-Expression"]) == ("hogeq", "MIT")
    assert said["Requires-Python"] == ">=3.11"
    assert {"openspiel", "report", "cluster", "gambit"} <= set(said.get_all("Provides-Extra", []))
    (needed,) = (one for one in said.get_all("Requires-Dist", []) if _is_openspiel(one))
    for system, machine, has_wheels in (
        ("linux", "x86_64", True),
        ("linux", "aarch64", True),
        ("linux", "riscv64", False),
        ("darwin", "arm64", True),
        ("darwin", "x86_64", False),
        ("win32", "AMD64", True),
        ("win32", "ARM64", False),
    ):
        place = {"sys_platform": system, "platform_machine": machine, "python_version": "3.11"}
        marker = Requirement(needed).marker
        assert marker is not None
        assert marker.evaluate(place) is has_wheels, place
    assert str(said.get_payload()).startswith("# hogeq")


def test_it_works_where_no_checkout_is(installed: Path, tmp_path: Path) -> None:
    where = "import hogeq, sys; sys.stdout.write(hogeq.__file__)"
    told = printed("-P", "-c", where, cwd=tmp_path, env={"PYTHONPATH": str(installed)})
    assert told == str(installed / "hogeq" / "__init__.py")
    assert "champion:policy" in hogeq(installed, tmp_path, "strategies")
    told = hogeq(installed, tmp_path, "compare", "champion", "always_roll:6", "--rules", "su20")
    assert told.startswith("champion against always_roll:6, su20\n\nwin rate ")
    hogeq(installed, tmp_path, "export", "champion", "--rules", "su20", "--player-name", "Me")
    assert "PLAYER_NAME = 'Me'" in (tmp_path / "final_strategy.py").read_text(encoding="utf-8")
    assert {path.name for path in tmp_path.iterdir()} == {"final_strategy.py"}
