"""Sweeps: what is skipped, goes on or fails, and the table of it."""

import csv
import json
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from hogeq.cli import main
from hogeq.runs import runner
from hogeq.runs.config import config_from
from hogeq.runs.directory import RunDirectory
from hogeq.runs.files import CONFIG, FILES, METRICS, ResultsError, lock, read_metrics
from hogeq.runs.index import find_runs
from hogeq.runs.runner import run_experiment as run
from hogeq.runs.sweep import FIGURE, TABLE, TOKEN, compute_point, load_sweep
from hogeq.support.workers import Remote
from hogeq.support.yaml import ConfigError
from tests.cli.calls import ok, said
from tests.runs.sweeps import BASE, GRID, ROOT, contents, here, manifest, written
from tests.runs.trials import quick

# --- what is done, cut off, failed ----------------------------------------------------------------


@pytest.mark.slow
@quick
def test_what_is_done_is_skipped_and_what_was_cut_off_goes_on(tmp_path: Path) -> None:
    path = written(tmp_path, grid=GRID)
    whole = here(path, tmp_path / "whole")
    assert [row["status"] for row in whole.to_json()["rows"]] == ["complete"] * 4

    first, second, *_ = load_sweep(path).points
    root = tmp_path / "cut"
    run(first.config, root / "trial")
    before = {file: file.stat().st_mtime_ns for file in (root / "trial" / first.name).iterdir()}
    short = load_sweep(path, ["solver.iterations=3"]).points[1]
    run(short.config, root / "trial")
    third = load_sweep(path).points[2]
    run(third.config, root / "trial")  # ... and killed before it had written more than its config:
    for name in {*FILES} - {CONFIG}:
        (root / "trial" / third.name / name).unlink()
    assert here(path, root).done_before == 1
    assert before == {file: file.stat().st_mtime_ns for file in before}
    assert manifest(root / "trial" / second.name)["resumed_at"] == [3]
    assert contents(root / "trial") == contents(tmp_path / "whole" / "trial")
    assert here(path, root).done_before == 4
    assert here(path, root, overwrite=True).done_before == 0


@quick
def test_runs_of_another_config_are_left_alone(tmp_path: Path) -> None:
    path = written(tmp_path, grid=GRID)
    here(path, tmp_path)
    for override in ("rules.goal=9", "solver.iterations=2"):
        with pytest.raises(ResultsError, match=r"another config: --overwrite"):
            here(path, tmp_path, override)
    with pytest.raises(ResultsError, match="is a run directory"):
        here(written(tmp_path, grid=GRID, name="edition=su20,seed=0"), tmp_path / "trial")
    written(tmp_path, grid=GRID)
    with RunDirectory.resume(tmp_path / "trial" / "edition=su20,seed=0"):
        found = here(path, tmp_path)  # done, so nobody has to wait for it
    assert found.done_before == 4
    held = lock(tmp_path / "trial")
    with held, pytest.raises(ResultsError, match="another process"):
        here(path, tmp_path)


@pytest.mark.slow
@quick
def test_a_point_that_fails_is_in_the_table_and_stops_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    diverging = {"solver": {"name": "dcfr", "gamma": 1000.0, "iterations": 6}}
    path = written(
        tmp_path, points=[diverging, {"solver.name": "cfr_plus"}, {"solver.name": "cfr"}]
    )
    crew = Remote(lambda: ThreadPoolExecutor(1), 1)
    command = import_module("hogeq.cli.commands.runs")
    monkeypatch.setattr(command, "computing", lambda *_: nullcontext(crew))

    solve = runner._Runner._solve

    def buggy(self: Any, progress: Any) -> None:
        if self.config.solver.name == "cfr_plus":
            raise ZeroDivisionError("some bug")
        solve(self, progress)

    with monkeypatch.context() as patch:
        patch.setattr(runner._Runner, "_solve", buggy)
        assert main(["sweep", str(path), "--out-root", str(tmp_path), "--json"]) == 1
    out, err = capsys.readouterr()
    rows = json.loads(out)["rows"]
    assert [row["status"] for row in rows] == ["failed", "failed", "complete"]
    assert rows[1]["error"] == "internal failure: ZeroDivisionError: some bug"
    line, _ = said(err).splitlines()
    for part in ("solver dcfr failed at iteration 3: Numerical result", "'gamma': 1000.0"):
        assert part in line
    again = here(path, tmp_path)
    assert (again.done_before, len(again.failures)) == (1, 1)


@pytest.mark.slow
@quick
def test_a_run_that_another_process_still_holds_is_waited_for(tmp_path: Path) -> None:
    point = load_sweep(written(tmp_path, grid={"seed": [0]})).points[0]
    (tmp_path / TOKEN).write_text("right")
    held = RunDirectory.create(tmp_path, point.name)
    timer = threading.Timer(1.0, held.close)
    timer.start()
    compute = partial(compute_point, tmp_path, "right", False)
    assert compute(point.config) == ""
    assert not timer.is_alive()
    assert manifest(tmp_path / point.name)["status"] == "complete"
    with RunDirectory.resume(tmp_path / point.name), pytest.MonkeyPatch.context() as patch:
        patch.setattr("hogeq.runs.sweep.PATIENCE", 0.0)
        result = compute(point.config)
    assert str(result).endswith("is being written by another process")


def test_a_worker_that_sees_another_folder_writes_nothing(tmp_path: Path) -> None:
    point = load_sweep(written(tmp_path, grid={"seed": [0]})).points[0]
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / TOKEN).write_text("of another sweep")
    for folder in (tmp_path, tmp_path / "there"):
        found = compute_point(folder, "right", False, point.config)
        assert found.startswith(f"{folder}: its worker does not see this folder; allowed: ")
        assert not (folder / point.name).exists()


# --- the table ------------------------------------------------------------------------------------


@pytest.mark.slow
@quick
def test_the_table_is_tidy(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        grid={"measure.every": ["log", 2]},
        points=[{"solver.iterations": 4}, {"solver.averaging": "uniform"}],
    )
    found = here(path, tmp_path)
    with (found.directory / TABLE).open() as file:
        lines = list(csv.DictReader(file))
    assert [line["measure.every"] for line in lines] == ["log", "2"] * 2
    assert lines[0]["solver.averaging"] == ""
    for line, row in zip(lines, found.to_json()["rows"], strict=True):
        assert [*line] == list(row)
        assert float(line["attack"]) == row["attack"]
        figures = manifest(found.directory / line["point"])["figures"]
        assert row["matrix_bound"] == figures["matrix"]["bound"]


EFG = 'EFG 2 R "g" { "1" "2" }\n'
PENNIES = (
    EFG
    + 'p "" 1 1 "" { "h" "t" } 0\n'
    + "".join(
        'p "" 2 1 "" { "h" "t" } 0\n'
        f't "" {2 * row + 1} "" {{ {a} }}\nt "" {2 * row + 2} "" {{ {b} }}\n'
        for row, a, b in ((0, "4 2", "2 4"), (1, "2 4", "4 2"))
    )
)
CHOICE = EFG + 'p "" 1 1 "" { "a" "b" } 0\nt "" 1 "" { 1 -1 }\nt "" 2 "" { -1 1 }\n'


@pytest.mark.slow
def test_games_are_swept_in_their_own_units(
    in_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("pennies.efg").write_text(PENNIES)
    Path("choice.efg").write_text(CHOICE)
    base = {key: part for key, part in BASE.items() if key != "rules"}
    base["solver"] = {"name": "cfr", "iterations": 1}  # whose average is uniform
    drawn: list[Any] = []
    monkeypatch.setattr(
        "hogeq.figures.intervals", lambda *given, units: drawn.append((given, units))
    )
    grid = {"game": ["pennies.efg", "choice.efg"], "forget": ["", "own_actions"], "seed": [0, 1]}
    found = here(written(in_folder, base=base, grid=grid), in_folder)
    # Best responses to the uniform policy, by hand: 3 in either seat, which is even; 1 and 0.
    wanted = {"pennies.efg": (3.0, 0.0), "choice.efg": (0.5, 1.0)}
    for row in found.to_json()["rows"]:
        assert (row["attack"], row["nash_conv"]) == pytest.approx(wanted[row["game"]], abs=1e-12)
    (((labels, lower, _, _, _), units),) = drawn
    assert labels == [f"{more}{game}" for more in ("", "own_actions, ") for game in wanted]
    assert np.subtract(lower, units.even).tolist() == [[0, 0], [0.5, 0.5]] * 2
    assert "NashConv" in units.axis
    assert "nash_conv" in (found.directory / TABLE).read_text().partition("\n")[0].split(",")
    # Run directories say the same, and metrics of their own.
    listed = {run.name: run for run in find_runs(found.directory)[0]}
    assert {run.edition for run in listed.values()} == set(wanted)
    for row in found.to_json()["rows"]:
        assert listed[row["point"]].nash_conv == row["nash_conv"]
        metrics = read_metrics(found.directory / row["point"] / METRICS)
        assert metrics[-1].nash_conv == pytest.approx(row["nash_conv"], abs=1e-12)
    (found.directory / FIGURE).touch()
    points = [{"game": "choice.efg"}, {"rules": BASE["rules"]}]
    mixed = here(written(in_folder, base=base, points=points), in_folder)
    assert "win rates beside payoffs" in mixed.no_figure_reason
    assert len(drawn) == 1
    assert not (mixed.directory / FIGURE).exists()
    first, second = ok("runs", str(mixed.directory), "--sort", "nash_conv").splitlines()[-2:]
    assert "1.000000000" in first
    assert "%" not in first
    assert "%" in second
    assert "1.000000000" not in second
    assert here(written(in_folder, base=base, grid=grid), in_folder).done_before == 8
    Path("pennies.efg").write_text(PENNIES.replace("4 2", "5 1"))
    with pytest.raises(ResultsError, match=r"another game: that of pennies\.efg has changed since"):
        here(written(in_folder, base=base, grid=grid), in_folder)


# --- the file of a sweep --------------------------------------------------------------------------


def test_a_grid_is_every_combination_and_points_are_crossed_with_it(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        grid={"seed": [0, 3]},
        points=[
            {"solver.name": "cfr"},
            {"solver": {"name": "dcfr", "alpha": 2.0, "iterations": 4}},
        ],
    )
    found = load_sweep(path, ["rules.goal=9"])
    assert found.keys == ("solver.name", "solver", "seed")
    settings = [
        (point.config.solver.name, point.config.solver.iterations, point.config.seed)
        for point in found.points
    ]
    assert settings == [("cfr", 6, 0), ("cfr", 6, 3), ("dcfr", 4, 0), ("dcfr", 4, 3)]
    assert {point.config.rules.goal for point in found.points} == {9}
    assert len({point.name for point in found.points}) == 4
    first = found.points[0]
    want = {**BASE, "name": first.name, "seed": 0}
    want = {
        **want,
        "rules": {**BASE["rules"], "goal": 9},
        "solver": {"name": "cfr", "iterations": 6},
    }
    assert first.config == config_from(want)


def test_names_say_what_is_set_and_stay_when_a_sweep_grows(tmp_path: Path) -> None:
    names = [point.name for point in load_sweep(written(tmp_path, grid=GRID)).points]
    assert names == [
        f"edition={edition},seed={seed}" for edition in ("su20", "fa22") for seed in (0, 1)
    ]
    grown = {"rules.edition": ["fa22", "sp21", "su20"], "seed": [0, 1, 2]}
    more = load_sweep(written(tmp_path, grid=grown)).points
    assert set(names) < {point.name for point in more}
    odd = load_sweep(written(tmp_path, grid={"rules": [{"edition": "su20", "goal": 9}, "fa22"]}))
    for point in odd.points:
        assert len(point.name) < 100


def test_the_base_may_be_a_file_beside(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(yaml.safe_dump({**BASE, "name": "base"}))
    path = written(tmp_path, base="base.yaml", grid=GRID)
    assert load_sweep(path) == load_sweep(written(tmp_path, grid=GRID))
    assert len(load_sweep(ROOT / "configs" / "sweep.yaml").points) == 8
    assert len(load_sweep(ROOT / "configs" / "averaging.yaml").points) == 6


def test_the_page_shows_the_sweep_that_is_there() -> None:
    text = (ROOT / "docs" / "sweeps.md").read_text("utf-8")
    shown, slurm = (
        re.search(rf"```{kind}\n(.*?)```", text, re.DOTALL) for kind in ("yaml", "python")
    )
    assert shown is not None
    assert slurm is not None
    assert yaml.safe_load(shown[1]) == yaml.safe_load((ROOT / "configs/sweep.yaml").read_text())
    compile(slurm[1], "slurm.py", "exec")


REFUSED = [
    ({}, ["grid, points: both missing"]),
    ({"grid": {"seed": []}}, ["grid", "none empty"]),
    ({"grids": {"seed": [1]}}, ["grids", "unknown key", "nearest: grid"]),
    ({"grid": {"name": ["a"]}}, ["a sweep names its points itself"]),
    ({"grid": {"solver.iteratons": [1]}}, ["iteratons=1", "nearest: iterations"]),
    ({"grid": {"seed": [0, 0]}}, ["seed=0 and seed=0", "same run"]),
    ({"grid": {"solver..name": ["cfr"]}}, ["solver..name", "not a key's path"]),
    ({"points": [{"rules.goal": 2000, "rules.max_dice": 50}]}, ["goal=2000", "GiB"]),
    ({"grid": {"seed": [*range(400)], "rules.goal": [*range(400)]}}, ["160,000 points"]),
    ({"grid": GRID, "base": "none.yaml"}, ["none.yaml", "cannot be read"]),
]


@pytest.mark.parametrize(("parts", "words"), REFUSED, ids=lambda part: str(part)[:40])
def test_what_cannot_be_run_is_refused_in_one_line_before_anything_runs(
    tmp_path: Path, parts: dict[str, Any], words: list[str]
) -> None:
    with pytest.raises(ConfigError) as caught:
        load_sweep(written(tmp_path, **parts))
    message = str(caught.value)
    assert message.isprintable()
    assert str(tmp_path) in message
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    ("override", "parts"),
    [
        ("solver.name=cfr", {"grid": {"solver.name": ["cfr", "dcfr"]}}),
        ("rules.goal=9", {"grid": {"rules": [{"edition": "fa22", "goal": 8}]}}),
    ],
)
def test_what_every_point_sets_again_is_not_set_in_the_base(
    tmp_path: Path, override: str, parts: dict[str, Any]
) -> None:
    with pytest.raises(ConfigError, match=f"^--set {override}: without effect") as caught:
        load_sweep(written(tmp_path, **parts), [override])
    assert caught.value.args[0].isprintable()


def test_what_some_points_set_is_set_in_the_base_for_the_others(tmp_path: Path) -> None:
    path = written(tmp_path, points=[{"seed": 1}, {"rules.goal": 7}])
    seeds = [point.config.seed for point in load_sweep(path, ["seed=5"]).points]
    assert seeds == [1, 5]
