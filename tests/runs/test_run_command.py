"""`hogeq run`, on the command line."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hogeq.cli import main
from hogeq.runs.files import read_metrics
from hogeq.runs.runner import run_experiment as run
from hogeq.support.numbers import between, percent
from tests.runs.trials import ROOT, numbers, quick, trial, written


def spoken(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = main(["run", *(str(argument) for argument in arguments)])
    return status, *capsys.readouterr()


@quick
def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = "--set", "solver.iterations=3", "--out-root", tmp_path / "r", "--json"
    status, out, err = spoken(capsys, written(tmp_path), *options)
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert found["iterations"] == 3
    assert found["directory"] == str(tmp_path / "r" / "trial")
    manifest = json.loads((tmp_path / "r" / "trial" / "manifest.json").read_text())
    assert {key: found[key] for key in manifest["figures"]} == manifest["figures"]


@quick
def test_the_summary_says_what_people_want_to_know(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = spoken(capsys, written(tmp_path), "--out-root", tmp_path / "r")
    assert (status, err) == (0, "")
    figures = json.loads((tmp_path / "r" / "trial" / "manifest.json").read_text())["figures"]
    for name in ("average_policy", "matrix"):
        low, high = figures[name]["attack"], figures[name]["bound"]
        line = next(line for line in out.splitlines() if line.startswith(name.replace("_", " ")))
        want = f"{percent(low)} {percent(high)} {between(low - 0.5, high - 0.5)}"
        assert line.split()[-8:] == want.split()
    for part in ("cfr_plus", "12 iterations", "starts 1", "anneal_steps 4", str(tmp_path / "r")):
        assert part in out


@quick
def test_resume_and_overwrite_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], undisturbed: dict[str, Any]
) -> None:
    file, root = written(tmp_path), tmp_path / "r"
    short = ("--set", "solver.iterations=5")
    assert spoken(capsys, file, *short, "--out-root", root)[0] == 0
    assert spoken(capsys, file, "--out-root", root)[0] == 2
    longer = ("--set", "solver.iterations=12")
    assert spoken(capsys, "--resume", root / "trial", *longer)[0] == 0  # its folder is enough
    assert numbers(root / "trial") == undisturbed
    assert spoken(capsys, file, *short, "--out-root", root, "--overwrite")[0] == 0
    assert read_metrics(root / "trial" / "metrics.csv")[-1].iteration == 5


@pytest.mark.slow
def test_the_module_is_the_command() -> None:
    said = [
        subprocess.run(  # noqa: S603 - our own code
            [sys.executable, "-m", *module, *arguments],
            check=False,
            capture_output=True,
            text=True,
            cwd=ROOT,
        )
        for arguments in (["--help"], ["none.yaml"])
        for module in (["hogeq", "run"], ["hogeq.run"])
    ]
    assert [one.returncode for one in said] == [0, 0, 2, 2]
    assert (said[0].stdout, said[2].stderr) == (said[1].stdout, said[3].stderr)
    assert "CONFIG" in said[0].stdout
    assert "none.yaml" in said[2].stderr


BAD_ARGUMENTS = [
    (["CONFIG", "--set", "solver.iteratons=9"], ["solver.iteratons", "nearest: iterations"]),
    (["CONFIG", "--resume", "RUN", "--overwrite"], ["--overwrite", "--resume"]),
    (["CONFIG", "--resume", "none"], ["none", "does not exist"]),
    (["CONFIG", "--resume", "."], ["not a run directory"]),
    (["CONFIG", "--resume", "CONFIG"], ["not a folder"]),
    (["CONFIG", "--resume", "RUN", "--set", "rules.goal=9"], ["another config"]),
    (["CONFIG", "--resume", "RUN", "--set", "solver.iterations=1"], ["at iteration 3 already"]),
    (["CONFIG"], ["exists already", "--resume", "--overwrite"]),
    (["CONFIG", "--out-root", "CONFIG"], ["cannot be made"]),
    (["none.yaml"], ["none.yaml", "No such file"]),
    ([], ["CONFIG", "--help"]),
]


@quick
def test_bad_input_is_one_line_status_2_and_touches_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = {"CONFIG": str(written(Path())), "RUN": "results/trial"}
    run(trial("solver.iterations=3"), "results")

    def everything() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}

    before = everything()
    for arguments, parts in BAD_ARGUMENTS:
        status, out, err = spoken(capsys, *(names.get(part, part) for part in arguments))
        assert (status, out) == (2, ""), arguments
        assert len(err.splitlines()) == 1, arguments
        for part in parts:
            assert part in err, arguments
    assert everything() == before
