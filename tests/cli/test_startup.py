"""What is done to start fast changes nothing that is computed; streams and interrupts."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.calls import hogeq, said
from tests.processes import python

ROOT = Path(__file__).parents[2]
COMPARE = f"{sys.executable} -m hogeq compare always_roll:1 always_roll:2 --rules small.yaml"
RULES = f"{sys.executable} -m hogeq rules su20"


def shell(line: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S602 - ourselves
        line,
        shell=True,
        capture_output=True,
        check=False,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


@pytest.mark.slow
def test_the_first_three_commands_compile_once(tmp_path: Path) -> None:
    told = ""
    for line in (
        "export optimal --rules fa25 --player-name Me",
        "check final_strategy.py --rules fa25 --trust",
        "board --rules fa25",
    ):
        kept = {"NUMBA_CACHE_DIR": str(tmp_path / "kept")}
        found = python("-m", "hogeq", *line.split(), cwd=tmp_path, env=kept, timeout=None)
        assert found.returncode == 0, found.stderr
        told += found.stderr
    assert told.count("compiling kernels") == 1


@pytest.mark.slow
def test_what_needs_few_passes_runs_without_a_compiler(tmp_path: Path) -> None:
    code = """
import runpy, sys
sys.modules["numba"] = sys.modules["llvmlite"] = None  # neither can be imported
sys.argv = ["hogeq", *sys.argv[1:]]
runpy.run_module("hogeq", run_name="__main__")
"""
    small = tmp_path / "small.yaml"
    small.write_text("edition: fa25\ngoal: 34\nmax_dice: 4\n")
    for line in ("export optimal --player-name Me", "board", "tablebase"):
        found = python("-c", code, *line.split(), "--rules", small, cwd=tmp_path)
        assert (found.returncode, found.stderr) == (0, "")


# --- streams --------------------------------------------------------------------------------------


def test_standard_output_that_is_closed(folder: Path) -> None:
    found = shell(f"{COMPARE} >&-")
    assert found.returncode == 2
    assert found.stderr == "hogeq: standard output is closed; allowed: a file, say /dev/null\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "buffered"), [(f"{RULES} --json", ""), (f"{COMPARE} --help", "1")]
)
def test_a_full_disk_behind_standard_output(
    folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, buffered: str
) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", buffered)
    found = shell(f"{arguments} >/dev/full")
    assert found.returncode == 2
    assert found.stderr == "hogeq: output cannot be written: No space left on device\n"


@pytest.mark.slow
def test_standard_error_that_is_closed(folder: Path) -> None:
    assert shell(f"{RULES} 2>&-").returncode == 0
    assert shell(f"{COMPARE}.none 2>&-").returncode == 2
    found = shell(f"{RULES} --json 2>&- <&-")
    assert found.returncode == 0
    assert list(json.loads(found.stdout)["editions"]) == ["su20"]


# --- interrupts -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "library"), [("hogeq", "typer"), ("hogeq.run", "pydantic"), ("hogeq", "numba")]
)
def test_an_interrupt_while_modules_are_imported(folder: Path, module: str, library: str) -> None:
    """Any import may be under way; the last one here is of a command's own."""
    code = f"""
import os, runpy, signal, sys
class Finder:
    def find_spec(self, name, *rest):
        if name == {library!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv = ["hogeq", *sys.argv[1:]]
runpy.run_module({module!r}, run_name="__main__")
"""
    arguments = ["small.yaml"] if module == "hogeq.run" else ["tablebase", "--rules", "small.yaml"]
    found = python("-c", code, *arguments, timeout=120)
    assert (found.returncode, found.stdout) == (130, "")
    assert found.stderr.startswith("hogeq: stopped")
    assert found.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        pytest.param(
            *("NUMBA_NUM_THREADS", "0", "numba: Number of threads specified must be > 0"),
            marks=pytest.mark.slow,
        ),
        ("NUMBA_DISABLE_JIT", "1", "NUMBA_DISABLE_JIT: allowed: 0, since hogeq runs compiled code"),
        pytest.param(
            *("NUMBA_OPT", "9", "numba: Environment variable 'NUMBA_OPT' is defined but"),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_settings_of_numba_that_do_not_work_are_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, says: str
) -> None:
    monkeypatch.setenv(name, value)
    found = hogeq("compare", "always_roll:3", "always_roll:4", "--rules", "fa22")
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.startswith(f"hogeq: {says}")
    assert found.stderr.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("game", [("--rules", "fa22"), ("--game", "kuhn_poker")])
def test_settings_of_numba_are_refused_beside_a_file_of_settings_too(
    folder: Path, monkeypatch: pytest.MonkeyPatch, game: tuple[str, str]
) -> None:
    """Beside such a file numba is imported sooner."""
    (folder / ".numba_config.yaml").write_text("opt: 9\n[[[")
    monkeypatch.setenv("NUMBA_NUM_THREADS", "-1")
    found = hogeq("attack", "uniform", *game)
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr == "hogeq: numba: Number of threads specified must be > 0.\n"


@pytest.mark.slow
def test_python_without_docstrings_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONOPTIMIZE", "2")
    found = hogeq("rules", "fa22")
    assert (found.returncode, found.stdout) == (2, "")
    says = "got 2; allowed: 0 or 1, since docstrings say what rules are"
    assert found.stderr == f"hogeq: PYTHONOPTIMIZE: {says}\n"
    monkeypatch.setenv("PYTHONOPTIMIZE", "1")
    assert hogeq("rules", "fa22").returncode == 0


@pytest.mark.slow
def test_pictures_need_no_windows(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "of another program")
    fa22 = ("--rules", "fa22.yaml")
    found = hogeq("tournament", "always_roll:2", "always_roll:3", *fa22, "--plot", "field.png")
    assert (found.returncode, said(found.stderr)) == (0, "")
    assert Path("field.png").read_bytes().startswith(b"\x89PNG")
