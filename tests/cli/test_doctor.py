"""What is compiled: doctor and warmup."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hogeq.cli import app
from tests.cli.calls import ask, hogeq, ok


@pytest.mark.slow
def test_warmup_compiles_all_that_doctor_looks_for() -> None:
    result = CliRunner().invoke(app, ["warmup", "--rules", "hw13", "--jobs", "1", "--json"])
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    told = ask("doctor", "--rules", "hw13")
    assert told["compiled"] == {
        "hw13": dict.fromkeys(
            ["matrices", "policies", "search", "full memory", "hidden states", "certificates"], True
        )
    }
    assert told["cache"]["kernels"] == found["kernels"] >= 5
    assert told["cache"]["folder"] == found["folder"]
    assert "for hw13" in ok("doctor", "--rules", "hw13")
    again = json.loads(CliRunner().invoke(app, ["warmup", "--rules", "hw13", "--json"]).stdout)
    assert again["compiled"] == 0


@pytest.mark.parametrize(
    ("written", "status"), [(False, 0), pytest.param(True, 1, marks=pytest.mark.slow)]
)
def test_doctor_says_what_is_missing_and_whether_anything_can_be_kept(
    written: bool, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "kept"
    if written:
        place.write_text("a file, where the folder should be")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(place))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    rules = tmp_path / "wide.yaml"
    rules.write_text("{edition: su21, goal: 6, max_dice: 2}")
    # A process of its own: in this one other tests have compiled.
    result = hogeq("doctor", "--rules", str(rules), "--json")
    assert result.returncode == status, result.stderr
    found = json.loads(result.stdout)
    assert found["cache"]["writable"] is (status == 0)
    assert found["cache"]["kernels"] == 0
    assert not any(found["compiled"][str(rules)].values())
    assert found["vector_bits"] in {64, 128, 256, 512}
    assert found["packages"]["numba"]


# --- nowhere to write -----------------------------------------------------------------------------

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
