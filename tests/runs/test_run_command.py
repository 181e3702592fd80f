"""`hogeq run`, on the command line."""

import json
from pathlib import Path
from typing import Any

from hogeq.runs.files import MANIFEST, METRICS, read_metrics
from hogeq.runs.runner import run_experiment as run
from hogeq.search.results import WIN_RATES
from hogeq.support.messages import EXACT, between
from tests.cli.calls import ask, ok, refused
from tests.runs.trials import numbers, quick, trial, written


@quick
def test_the_summary_says_what_people_want_to_know(tmp_path: Path) -> None:
    out = ok("run", str(written(tmp_path)), "--out-root", str(tmp_path / "r"))
    figures = json.loads((tmp_path / "r" / "trial" / MANIFEST).read_text())["figures"]
    for name in ("average_policy", "matrix"):
        low, high = figures[name]["attack"], figures[name]["bound"]
        line = next(line for line in out.splitlines() if line.startswith(name.replace("_", " ")))
        first, second = WIN_RATES.ends(low, high, are_one=high - low <= EXACT)
        want = f"{first} {second} {between(low - 0.5, high - 0.5)}"
        assert line.split()[-8:] == want.split()
    for part in ("cfr_plus", "12 iterations", "starts 1", "anneal_steps 4", str(tmp_path / "r")):
        assert part in out


@quick
def test_resume_and_overwrite_from_the_command_line(
    tmp_path: Path, undisturbed: dict[str, Any]
) -> None:
    file, path = str(written(tmp_path)), tmp_path / "r" / "trial"
    root = ("--out-root", str(tmp_path / "r"))
    found = ask("run", file, "--set", "solver.iterations=5", *root)
    assert (found["iterations"], found["directory"]) == (5, str(path))
    figures = json.loads((path / MANIFEST).read_text())["figures"]
    assert {key: found[key] for key in figures} == figures
    refused("run", file, *root)
    ok("run", "--resume", str(path), "--set", "solver.iterations=12")  # its folder is enough
    assert numbers(path) == undisturbed
    ok("run", file, "--set", "solver.iterations=5", *root, "--overwrite")
    assert read_metrics(path / METRICS)[-1].iteration == 5


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
def test_bad_input_is_one_line_status_2_and_touches_nothing(in_folder: Path) -> None:
    names = {"CONFIG": str(written(Path())), "RUN": "results/trial"}
    run(trial("solver.iterations=3"), "results")

    def everything() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}

    before = everything()
    for arguments, parts in BAD_ARGUMENTS:
        line = refused("run", *(names.get(part, part) for part in arguments))
        for part in parts:
            assert part in line, arguments
    assert everything() == before
