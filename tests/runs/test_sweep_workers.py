"""Sweeps: the same bytes on one process, on several and on a cluster, whatever dies on the way."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hogeq.model.game import compile_game
from hogeq.rules import rules_from
from hogeq.runs.files import CHECKPOINT, FINAL_STRATEGY, MATRIX, POLICY
from hogeq.solvers import SOLVERS
from hogeq.support.workers import ExecutorError, Remote, WorkersLostError, workers
from tests.cli.calls import said
from tests.runs.sweeps import (
    ENDLESS,
    KEPT,
    LONG,
    ROOT,
    contents,
    here,
    manifest,
    spoken,
    until,
    written,
)
from tests.runs.trials import quick

pytestmark = pytest.mark.slow

pytest.importorskip("distributed", reason="sweeps on a cluster need the extra 'cluster'")

# --- workers --------------------------------------------------------------------------------------


def test_a_task_that_kills_its_process_every_time_is_given_up_alone() -> None:
    harmless = int(signal.SIGWINCH)
    tasks = [harmless, int(signal.SIGKILL), harmless, harmless]
    with workers(2, on="local") as crew:
        found = dict(crew.outcomes(signal.raise_signal, tasks))
    assert isinstance(found.pop(1), BrokenExecutor)
    assert found == dict.fromkeys((0, 2, 3))


@pytest.mark.parametrize("on", ["spark", "dask://", "dask://host:port", "dask://a:65536"])
def test_nobody_to_compute(on: str) -> None:
    with pytest.raises(ExecutorError, match="allowed: local"), workers(1, on):
        pass


def test_dask_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ExecutorError, match="Dask: not installed, and needed"):
        workers(1, "dask://127.0.0.1:1").__enter__()


class Cluster:
    """A scheduler and workers, processes of this machine that only it can reach."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.workers: list[subprocess.Popen[bytes]] = []
        self.scheduler = self._started("scheduler", "--port", "0", "--host", "127.0.0.1")

    @property
    def on(self) -> str:
        """Its address; empty while its file is not there, or not yet whole."""
        try:
            address: str = json.loads((self.folder / "scheduler.json").read_text())["address"]
        except (FileNotFoundError, json.JSONDecodeError):
            return ""
        return address.replace("tcp://", "dask://")

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
        dask = sys.executable, "-m", "dask", kind, "--scheduler-file", file, "--no-dashboard"
        return subprocess.Popen(  # noqa: S603 - Dask's own command
            [*dask, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT
        )


@contextmanager
def cluster_in(folder: Path) -> Iterator[Cluster]:
    cluster = Cluster(folder)
    try:
        until(lambda: cluster.on)
        yield cluster
    finally:
        cluster.close()


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster_in(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


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
        assert (command.returncode, said(err)) == (0, "")
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
    assert (command.returncode, said(err)) == (0, "")
    assert "2 points, 0 of them done before, 0 failed" in out
    assert [len(manifest(path)["resumed_at"]) for path in runs] in ([0, 1], [1, 0])
    want = here(path, tmp_path / "alone", longer).directory
    for run_ in runs:
        for name in (POLICY, MATRIX, FINAL_STRATEGY):
            assert (run_ / name).read_bytes() == (want / run_.name / name).read_bytes()


def test_a_scheduler_that_goes_away(tmp_path: Path) -> None:
    with cluster_in(tmp_path) as cluster:
        cluster.grow(1)
        with workers(1, cluster.on) as crew:
            outcomes = crew.outcomes(time.sleep, [0.0, 60.0])
            assert next(outcomes) == (0, None)
            cluster.close()
            with pytest.raises(WorkersLostError, match="scheduler is gone"):
                next(outcomes)


def test_a_signal_stops_a_sweep_with_checkpoints(tmp_path: Path) -> None:
    path = written(tmp_path, grid={"seed": [0, 1]})
    longer = f"solver.iterations={ENDLESS}"
    options = ("--set", longer, "--out-root", tmp_path, "--jobs", 2)
    command = spoken("sweep", path, *options, start_new_session=True)
    runs = [tmp_path / "trial" / f"seed={seed}" for seed in (0, 1)]
    until(lambda: all((path / CHECKPOINT).exists() for path in runs))
    os.kill(command.pid, signal.SIGTERM)
    out, err = command.communicate(timeout=60)
    assert (command.returncode, out) == (143, "")
    assert len(said(err).splitlines()) == 1
    assert "stopped by SIGTERM" in err
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


KILLED_AT = 20  # tasks sent


def test_training_gives_the_same_bits_on_workers_though_one_is_killed(
    monkeypatch: pytest.MonkeyPatch, cluster: Cluster
) -> None:
    game = compile_game(rules_from({"edition": "su20", "goal": 12, "max_dice": 2}))

    def trained() -> dict[str, Any]:
        solver: Any = SOLVERS["bundle"](trails=3, kicks=2, life=4, deep_every=2)
        state = solver.init(game)
        for _ in range(4):
            state = solver.step(game, state)
        return dict(state._asdict())

    submitted = Remote._submit
    sent: list[tuple[Any, ...]] = []

    def noted(crew: Remote, pool: Any, work: tuple[Any, ...]) -> Any:
        sent.append(work)
        if len(sent) == KILLED_AT:
            cluster.workers[0].kill()
        return submitted(crew, pool, work)

    want = trained()
    monkeypatch.setattr(Remote, "_submit", noted)
    with workers(1, cluster.on):
        found = trained()
    assert cluster.workers[0].wait(10) == -signal.SIGKILL
    assert len(sent) > 2 * KILLED_AT
    for name, array in want.items():
        np.testing.assert_array_equal(found[name], array, name)
