"""Sweeps: the same bytes on one process, on several and on a cluster, whatever dies on the way."""

import csv
import errno
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from hogeq import figures
from hogeq.baselines.registry import builtin
from hogeq.contest.tournament import round_robin
from hogeq.model.game import compile_game
from hogeq.response.search import SearchBudget, attack
from hogeq.rules import rules_from
from hogeq.runs import runner
from hogeq.runs.config import config_from
from hogeq.runs.directory import RunDirectory
from hogeq.runs.errors import ConfigError, ResultsError
from hogeq.runs.filenames import (
    CHECKPOINT,
    CONFIG,
    FILES,
    FINAL_STRATEGY,
    MANIFEST,
    MATRIX,
    METRICS,
    POLICY,
)
from hogeq.runs.locks import lock
from hogeq.runs.runner import run_experiment as run
from hogeq.runs.sweep import (
    PointTask,
    SweepSummary,
    _is_complete,
    _keep_files,
    compute_point,
    run_sweep,
)
from hogeq.runs.sweep_file import TOKEN, load_sweep
from hogeq.runs.sweep_table import FIGURE, PARQUET, TABLE, TIME_COLUMNS
from hogeq.solvers.double_oracle import DoubleOracle
from hogeq.support.workers import ExecutorError, Remote, WorkersLostError, workers

pytest.importorskip("distributed", reason="sweeps on a cluster need the extra 'cluster'")

ROOT = Path(__file__).parents[2]
BASE: dict[str, Any] = {
    "rules": {"edition": "su20", "goal": 8, "max_dice": 2},
    "solver": {"name": "cfr_plus", "iterations": 6},
    "measure": {"attack": {"starts": 1, "anneal_steps": 3}},
}
GRID: dict[str, Any] = {"rules.edition": ["su20", "fa22"], "seed": [0, 1]}
LONG = 1500  # iterations: enough to be killed in
ENDLESS = 100 * LONG  # on any machine
GAME = compile_game(rules_from({"edition": "su20", "goal": 12, "max_dice": 3}))

# What must not depend on where, when and how often a run was begun.
KEPT = tuple(name for name in FILES if name not in {MANIFEST, METRICS, CHECKPOINT})


def written(folder: Path, **parts: Any) -> Path:
    path = folder / "sweep.yaml"
    path.write_text(yaml.safe_dump({"name": "trial", "base": BASE, **parts}))
    return path


def contents(folder: Path) -> dict[str, bytes]:
    """Everything a sweep leaves, apart from times."""
    with (folder / TABLE).open() as file:
        rows = [list(row.items()) for row in csv.DictReader(file)]
    found = {
        f"{path.parent.name}/{path.name}": path.read_bytes()
        for path in folder.glob("*/*")
        if path.name in KEPT
    }
    assert not list(folder.glob("**/.tmp*"))
    table = json.dumps([row[: -len(TIME_COLUMNS)] for row in rows]).encode()
    return {**found, "table": table, "figure": (folder / FIGURE).read_bytes()}


def manifest(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((path / MANIFEST).read_text())
    return found


def until(true: Callable[[], object], seconds: float = 60.0) -> None:
    limit = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < limit
        time.sleep(0.02)


@pytest.fixture
def plain_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip drawing, which is slow, where a test is about something else."""

    def draw(*arguments: Any, **_: Any) -> None:
        path = next(argument for argument in arguments if isinstance(argument, Path))
        path.write_text("figure")

    for name in ("exploitability", "matrix", "intervals"):
        monkeypatch.setattr(figures, name, draw)


quick = pytest.mark.usefixtures("plain_figures")


def here(path: Path, root: Path, *overrides: str, **options: Any) -> SweepSummary:
    """Run a sweep in a thread of this process."""
    with ThreadPoolExecutor(1) as pool:
        return run_sweep(load_sweep(path, overrides), Remote(lambda: pool, 1, 1), root, **options)


def spoken(*arguments: object, **options: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603 - our own code
        [sys.executable, "-m", "hogeq", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        text=True,
        **options,
    )


# --- from a file to points ------------------------------------------------------------------------


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
    ({"grid": {"seed": 1}}, ["grid", "lists of values"]),
    ({"points": [{}]}, ["points", "none empty"]),
    ({"grids": {"seed": [1]}}, ["grids", "unknown key", "nearest: grid"]),
    ({"grid": {"name": ["a"]}}, ["a sweep names its points itself"]),
    ({"grid": {"solver.iteratons": [1]}}, ["iteratons=1", "nearest: iterations"]),
    ({"grid": {"seed": [0, -1]}}, ["point seed=-1", "seed", "got -1"]),
    ({"grid": {"seed": [0, 0]}}, ["seed=0 and seed=0", "same run"]),
    ({"grid": {"solver..name": ["cfr"]}}, ["solver..name", "not a key's path"]),
    ({"grid": {"solver.name.x": ["cfr"]}}, ["solver.name", "has no keys"]),
    ({"points": [{"rules.goal": 2000, "rules.max_dice": 50}]}, ["goal=2000", "GiB"]),
    ({"grid": {"seed": [*range(400)], "rules.goal": [*range(400)]}}, ["160,000 points"]),
    ({"grid": GRID, "base": "none.yaml"}, ["none.yaml", "cannot be read"]),
    ({"grid": GRID, "name": "../up"}, ["name", "a folder's name"]),
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


# --- what is done, cut off, failed ----------------------------------------------------------------


@quick
def test_what_is_done_is_skipped_and_what_was_cut_off_goes_on(tmp_path: Path) -> None:
    path = written(tmp_path, grid=GRID)
    whole = here(path, tmp_path / "whole")
    assert [row["status"] for row in whole.rows] == ["complete"] * 4

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
    shown: list[tuple[int, int]] = []
    found = here(path, root, progress=lambda ended, failed: shown.append((ended, failed)))
    assert found.done_before == 1
    assert shown == [(1, 0), (2, 0), (3, 0), (4, 0)]
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


@quick
def test_a_point_that_fails_is_in_the_table_and_stops_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, grid=GRID)
    whole = contents(here(path, tmp_path / "whole").directory)
    folder = tmp_path / "trial"
    with monkeypatch.context() as patch:

        def fail(rules: Any) -> Any:
            if rules.name.startswith("fa22"):
                raise ZeroDivisionError("some bug")
            return compile_game(rules)

        patch.setattr(runner, "compile_game", fail)
        found = here(path, tmp_path)
    assert [row["status"] for row in found.rows] == ["complete", "complete", "failed", "failed"]
    (row, _) = found.failures
    assert (row["rules.edition"], row["seed"], row["attack"]) == ("fa22", 0, None)
    assert row["error"] == "internal failure: ZeroDivisionError: some bug"
    assert here(path, tmp_path).done_before == 2
    assert contents(folder) == whole


@quick
def test_a_run_that_another_process_still_holds_is_waited_for(tmp_path: Path) -> None:
    point = load_sweep(written(tmp_path, grid={"seed": [0]})).points[0]
    (tmp_path / TOKEN).write_text("right")
    held = RunDirectory.create(tmp_path, point.name)
    timer = threading.Timer(1.0, held.close)
    timer.start()
    assert (
        compute_point(PointTask(point.config, str(tmp_path), "right", overwrite=False)).error == ""
    )
    assert not timer.is_alive()
    assert manifest(tmp_path / point.name)["status"] == "complete"
    with RunDirectory.resume(tmp_path / point.name), pytest.MonkeyPatch.context() as patch:
        patch.setattr("hogeq.runs.sweep.PATIENCE", 0.0)
        result = compute_point(PointTask(point.config, str(tmp_path), "right", overwrite=False))
    assert result.error.endswith("is being written by another process")


@quick
def test_a_broken_checkpoint_is_that_points_failure(tmp_path: Path) -> None:
    path = written(tmp_path, grid=GRID)
    here(path, tmp_path, "solver.iterations=3")
    broken = tmp_path / "trial" / "edition=fa22,seed=1" / CHECKPOINT
    broken.write_bytes(broken.read_bytes()[:100])
    found = here(path, tmp_path)
    (row,) = found.failures
    assert row["point"] == "edition=fa22,seed=1"
    assert "truncated or not a checkpoint" in row["error"]
    assert [row["status"] for row in found.rows[:3]] == ["complete"] * 3


# --- the table ------------------------------------------------------------------------------------


@quick
def test_the_table_is_tidy_and_the_same_in_both_formats(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs the extra 'parquet'")
    path = written(
        tmp_path,
        grid={"measure.every": ["log", 2]},
        points=[{"solver.iterations": 4}, {"solver.averaging": "uniform"}],
    )
    found = here(path, tmp_path)
    table = parquet.read_table(found.directory / PARQUET)
    assert table.to_pylist()[0]["solver.averaging"] is None
    assert table.column("measure.every").to_pylist() == ["log", "2"] * 2
    kinds = {"solver.iterations": "int64", "iterations": "int64", "attack": "double"}
    for name, kind in {**kinds, "error": "string", "measure.every": "string"}.items():
        assert str(table.schema.field(name).type) == kind
    with (found.directory / TABLE).open() as file:
        lines = list(csv.DictReader(file))
    for line, row, raw in zip(lines, table.to_pylist(), found.rows, strict=True):
        assert list(line) == list(row) == list(raw)
        assert float(line["attack"]) == row["attack"] == raw["attack"]
        figures = manifest(found.directory / line["point"])["figures"]
        assert raw["matrix_bound"] == figures["matrix"]["bound"]


@quick
def test_without_pyarrow_there_is_a_line_and_no_stale_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, grid={"seed": [0]})
    (tmp_path / "trial").mkdir()
    (tmp_path / "trial" / PARQUET).write_text("of another day")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    found = here(path, tmp_path)
    assert found.notes == (
        "table.parquet is not written: pyarrow is not installed; pip install 'hogeq[parquet]'",
    )
    assert {file.name for file in found.directory.iterdir() if file.is_file()} == {
        ".lock",
        TABLE,
        FIGURE,
    }


def test_the_figure_shows_the_best_of_very_many(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    labels = [f"goal {goal}" for goal in range(60)]
    attacks = [[0.5 + goal / 200, 0.5] for goal in range(60)]
    figures.intervals(labels, attacks, [[0.9, 0.8]] * 60, path, "many")
    assert path.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ValueError, match="60 labels, 60 attacks, 0 bounds"):
        figures.intervals(labels, attacks, [], path)


def test_a_figure_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def intervals(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    path = written(tmp_path, grid={"seed": [0]})
    monkeypatch.setattr(figures, "intervals", intervals)
    with pytest.raises(ResultsError, match=r"summary\.png cannot be written: No space left"):
        here(path, tmp_path)


# --- workers --------------------------------------------------------------------------------------


def test_a_worker_that_sees_another_folder_sends_its_files(tmp_path: Path) -> None:
    point = load_sweep(written(tmp_path, grid={"seed": [5]})).points[0]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / TOKEN).write_text("right")
    seen = compute_point(PointTask(point.config, str(tmp_path / "in"), "right", overwrite=False))
    assert (seen.error, seen.files) == ("", {})
    blind = compute_point(PointTask(point.config, str(tmp_path / "in"), "wrong", overwrite=False))
    assert set(blind.files) == set(FILES)
    _keep_files(blind.files, tmp_path / "out", point.name)
    for name in KEPT:
        here_, there = (tmp_path / side / point.name / name for side in ("in", "out"))
        assert here_.read_bytes() == there.read_bytes()
    assert _is_complete(point, tmp_path / "out")


def test_a_task_that_kills_its_process_every_time_is_given_up_alone() -> None:
    harmless = int(signal.SIGWINCH)
    tasks = [harmless, int(signal.SIGKILL), harmless, harmless]
    with workers(2, on="local") as crew:
        found = dict(crew.outcomes(signal.raise_signal, tasks))
    assert isinstance(found.pop(1), BrokenExecutor)
    assert found == dict.fromkeys((0, 2, 3))


@pytest.mark.parametrize("on", ["", "spark", "dask://", "dask://127.0.0.1", "dask://host:port"])
def test_nobody_to_compute(on: str) -> None:
    with pytest.raises(ExecutorError, match="allowed: local"), workers(1, on):
        pass


def test_dask_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ExecutorError, match=r"pip install 'hogeq\[cluster\]'"):
        workers(1, "dask://127.0.0.1:1").__enter__()


class Cluster:
    """A scheduler and workers, processes of this machine that only it can reach."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.scheduler = self._started("scheduler", "--port", "0", "--host", "127.0.0.1")
        until((folder / "scheduler.json").exists)
        self.address = json.loads((folder / "scheduler.json").read_text())["address"]
        self.workers: list[subprocess.Popen[bytes]] = []

    @property
    def on(self) -> str:
        return self.address.replace("tcp://", "dask://")

    def grow(self, to: int) -> None:
        self.workers = [worker for worker in self.workers if worker.poll() is None]
        while len(self.workers) < to:
            options = ("--nthreads", "1", "--no-nanny", "--local-directory", str(self.folder))
            self.workers.append(self._started("worker", *options))

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()

    def _started(self, kind: str, *options: str) -> subprocess.Popen[bytes]:
        file = str(self.folder / "scheduler.json")
        return subprocess.Popen(  # noqa: S603 - Dask's own command
            [
                sys.executable,
                "-m",
                "dask",
                kind,
                "--scheduler-file",
                file,
                "--no-dashboard",
                *options,
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=ROOT,
        )


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    cluster = Cluster(tmp_path_factory.mktemp("cluster"))
    yield cluster
    cluster.close()


@pytest.fixture
def cluster(started: Cluster) -> Cluster:
    started.grow(2)
    return started


def test_one_process_two_processes_and_a_cluster_leave_the_same_bytes(
    tmp_path: Path, cluster: Cluster
) -> None:
    path = written(tmp_path, grid={"rules.edition": ["su20", "fa22"]})
    want = contents(here(path, tmp_path / "one").directory)
    assert len(want) == 2 * len(KEPT) + 2
    for name, options in {
        "two": ("--on", "local", "--jobs", "2"),
        "cluster": ("--on", cluster.on),
    }.items():
        command = spoken("sweep", path, "--out-root", tmp_path / name, "--json", *options)
        out, err = command.communicate(timeout=100)
        assert (command.returncode, err) == (0, "")
        found = json.loads(out)
        assert (found["points"], found["failed"], found["done_before"]) == (2, 0, 0)
        assert contents(tmp_path / name / "trial") == want


@quick
def test_a_worker_killed_in_mid_sweep_costs_time_and_nothing_else(
    tmp_path: Path, cluster: Cluster
) -> None:
    path = written(tmp_path, grid={"seed": [0, 1]})
    longer = f"solver.iterations={LONG}"
    options = ("--set", longer, "--out-root", tmp_path, "--on", cluster.on)
    command = spoken("sweep", path, *options)
    runs = [tmp_path / "trial" / f"seed={seed}" for seed in (0, 1)]
    until(lambda: all((path / CHECKPOINT).exists() for path in runs))
    cluster.workers[0].kill()
    out, err = command.communicate(timeout=100)
    assert (command.returncode, err) == (0, "")
    assert "2 points, 0 of them done before, 0 failed" in out
    assert [len(manifest(path)["resumed_at"]) for path in runs] in ([0, 1], [1, 0])
    want = here(path, tmp_path / "alone", longer).directory
    for run_ in runs:
        for name in (POLICY, MATRIX, FINAL_STRATEGY):
            assert (run_ / name).read_bytes() == (want / run_.name / name).read_bytes()


def test_a_task_that_always_fails_is_reported_with_its_config(
    tmp_path: Path, cluster: Cluster
) -> None:
    diverging = {"solver": {"name": "dcfr", "gamma": 1000.0, "iterations": 6}}
    path = written(tmp_path, points=[diverging, {"solver.name": "cfr"}])
    command = spoken("sweep", path, "--out-root", tmp_path, "--on", cluster.on, "--json")
    out, err = command.communicate(timeout=100)
    assert command.returncode == 1
    (line,) = err.splitlines()
    for part in ("solver dcfr failed at iteration 3: Numerical result", "'gamma': 1000.0"):
        assert part in line
    assert [row["status"] for row in json.loads(out)["rows"]] == ["failed", "complete"]


def test_a_scheduler_that_goes_away(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path)
    cluster.grow(1)
    try:
        with workers(1, cluster.on) as crew:
            outcomes = crew.outcomes(time.sleep, [0.0, 60.0])
            assert next(outcomes) == (0, None)
            cluster.close()
            with pytest.raises(WorkersLostError, match="scheduler is gone"):
                next(outcomes)
    finally:
        cluster.close()


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_a_sweep_with_checkpoints(tmp_path: Path, signum: signal.Signals) -> None:
    path = written(tmp_path, grid={"seed": [0, 1]})
    longer = f"solver.iterations={ENDLESS}"
    options = ("--set", longer, "--out-root", tmp_path, "--jobs", 2)
    command = spoken("sweep", path, *options, start_new_session=True)
    runs = [tmp_path / "trial" / f"seed={seed}" for seed in (0, 1)]
    until(lambda: all((path / CHECKPOINT).exists() for path in runs))
    os.kill(command.pid, signum)
    out, err = command.communicate(timeout=60)
    assert (command.returncode, out) == (128 + signum, "")
    assert len(err.splitlines()) == 1
    assert f"stopped by {signum.name}" in err
    until(lambda: not _anyone(command.pid), 10)
    for run_ in runs:
        assert manifest(run_)["status"] == "interrupted"
        assert 0 < manifest(run_)["iterations"] < ENDLESS


def _anyone(group: int) -> bool:
    """Whether any process of a group is there."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


# --- the same executor elsewhere ------------------------------------------------------------------


def test_attacks_tournaments_and_oracles_do_not_depend_on_who_computes(cluster: Cluster) -> None:
    field = [builtin(name, GAME) for name in ("always_roll:1", "always_roll:3", "ignore_memory")]
    solver = DoubleOracle(responder_steps=4, responders=3)

    def everything() -> list[Any]:
        found = attack(GAME, field[2], SearchBudget(starts=4, anneal_steps=5, perturbations=2))
        state = solver.step(GAME, solver.step(GAME, solver.init(GAME)))
        return [found.matrix, found.found, round_robin(GAME, field), *state]

    want = everything()
    for jobs, on in ((3, None), (2, "local"), (2, cluster.on)):
        with workers(jobs, on):
            found = everything()
        for one, two in zip(found, want, strict=True):
            np.testing.assert_array_equal(one, two)


def test_more_responders_find_no_worse_a_response() -> None:
    one, many = (DoubleOracle(responder_steps=2, responders=count) for count in (1, 6))
    state = one.step(GAME, one.step(GAME, one.init(GAME)))
    rates = [float(solver.step(GAME, state).responder_win) for solver in (one, many)]
    assert rates[1] >= rates[0]
