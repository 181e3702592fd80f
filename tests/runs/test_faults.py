"""Faults, tried: each ends in a clear line, nothing is lost, no file is half-written.

The table in docs/faults.md lists them all, and the files of this folder that try them.
"""

import contextlib
import errno
import json
import math
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
import yaml
from pydantic import AllowInfNan

from hogeq.cli import main
from hogeq.model.game import compile_game
from hogeq.runs import runner
from hogeq.runs.config import config_from
from hogeq.runs.files import (
    CHECKPOINT,
    CONFIG,
    FINAL_STRATEGY,
    MANIFEST,
    MATRIX,
    POLICY,
    ResultsError,
)
from hogeq.runs.runner import RunError
from hogeq.runs.runner import run_experiment as run
from hogeq.runs.signals import Interrupted
from hogeq.solvers import SOLVERS
from hogeq.solvers.regret import CFRPlus
from hogeq.support.parameters import parameters
from hogeq.support.workers import workers
from tests.cli.calls import said
from tests.runs.trials import ROOT, TREE, numbers, trial

pytestmark = pytest.mark.usefixtures("plain_figures")

SHORT = "solver.iterations=5"


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("no-fault")
    run(trial(SHORT), folder)
    return numbers(folder / "trial")


# --- the disk -------------------------------------------------------------------------------------


@contextlib.contextmanager
def full_after(writes: int) -> Iterator[list[int]]:
    """Have a disk that takes so many files, then half of one, then nothing."""
    real, done = Path.write_bytes, [0]

    def write_bytes(self: Path, data: bytes) -> int:
        done[0] += 1
        if done[0] > writes:
            with contextlib.suppress(OSError):
                real(self, data[: len(data) // 2])
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(self, data)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "write_bytes", write_bytes)
        yield done


def test_a_disk_that_is_full_at_any_file(tmp_path: Path, undisturbed: dict[str, Any]) -> None:
    with full_after(10**9) as done:
        run(trial(SHORT), tmp_path)
    assert numbers(tmp_path / "trial") == undisturbed
    for writes in range(done[0]):
        root = tmp_path / str(writes)
        with full_after(writes), pytest.raises(ResultsError, match="No space left") as caught:
            run(trial(SHORT), root)
        assert str(root / "trial") in str(caught.value)
        for name, data in everything(root).items():
            assert data or name.endswith(".lock"), "half a file"
            assert ".tmp" not in name
        run(trial(SHORT), resume=root / "trial")
        assert numbers(root / "trial") == undisturbed


def as_nobody(work: Callable[[Path], object], folder: Path) -> str:
    """Do something in a folder without the rights of root, and give the error."""
    receive, send = multiprocessing.get_context("fork").Pipe(duplex=False)

    def child() -> None:
        if os.geteuid() == 0:
            os.setgid(65534)
            os.setuid(65534)
        try:
            work(folder)
            send.send("")
        except Exception as error:  # noqa: BLE001 - the test looks at it
            send.send(str(error))

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join()
    assert receive.poll(), "no answer"
    answer: str = receive.recv()
    return answer


def test_a_folder_that_may_only_be_read(undisturbed: dict[str, Any]) -> None:
    # Folders of pytest's own may be entered by their owner alone.
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        run(trial("solver.iterations=3"), root)
        for path in (root / "trial", root):
            path.chmod(0o555)
        before = everything(root)
        try:
            new = as_nobody(lambda root: run(trial("name=new"), root), root)
            assert new == f"{root / 'new'} cannot be made: Permission denied"
            again = as_nobody(lambda root: run(trial(SHORT), resume=root / "trial"), root)
            assert "cannot be written: Permission denied" in again
            assert everything(root) == before
        finally:
            for path in (root, root / "trial"):
                path.chmod(0o755)
        run(trial(SHORT), resume=root / "trial")
        assert numbers(root / "trial") == undisturbed


# --- checkpoints ----------------------------------------------------------------------------------


def foreign(path: Path) -> bytes:
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive}
    other = path.with_suffix(".other.npz")
    np.savez(other, **(arrays | {"fingerprint": np.str_("f" * 64)}))
    data = other.read_bytes()
    other.unlink()
    return data


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda path: path.read_bytes()[:-40], "truncated or not a checkpoint"),
        (foreign, "was made from another config"),
    ],
    ids=["truncated", "foreign"],
)
def test_a_checkpoint_that_is_no_good_is_refused_and_left(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    spoil: Callable[[Path], bytes],
    words: str,
) -> None:
    run(trial("solver.iterations=3"), tmp_path)
    path = tmp_path / "trial"
    (path / CHECKPOINT).write_bytes(spoil(path / CHECKPOINT))
    before = everything(path)
    longer = ("--set", "solver.iterations=5", "--out-root", str(tmp_path))
    assert main(["run", str(path / CONFIG), *longer, "--resume", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(said(err).splitlines()) == 1
    assert words in err
    assert str(path / CHECKPOINT) in err
    assert everything(path) == before


# --- two processes --------------------------------------------------------------------------------


@pytest.mark.slow
def test_two_processes_that_want_one_directory(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(trial("solver.iterations=2000").to_yaml())
    started = [
        subprocess.Popen(  # noqa: S603 - our own code
            [sys.executable, "-m", "hogeq.run", tmp_path / "config.yaml", "--out-root", tmp_path],
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            cwd=ROOT,
            text=True,
        )
        for _ in range(2)
    ]
    told = {process.wait(): process.communicate()[1] for process in started}
    assert sorted(told) == [0, 2], told
    (line,) = said(told[2]).splitlines()
    assert "exists already" in line or "being written by another process" in line
    run(trial("solver.iterations=2000"), tmp_path / "alone")
    for name in (POLICY, MATRIX, FINAL_STRATEGY):
        one, other = (root / "trial" / name for root in (tmp_path, tmp_path / "alone"))
        assert one.read_bytes() == other.read_bytes()


# --- solvers that diverge -------------------------------------------------------------------------


@parameters
class Poisoned(CFRPlus):
    """CFR+ whose regrets are spoilt in its fourth iteration, where no average shows it."""

    bad: Annotated[float, AllowInfNan(True)] | None = None

    def step(self, game: Any, state: Any) -> Any:
        state = super().step(game, state)
        if self.bad is not None and int(state.iteration) == 4:
            state.regrets[..., 2, 3, 1] = self.bad
        return state


@pytest.mark.parametrize("bad", [math.nan, -math.inf])
def test_a_state_that_is_not_finite_never_becomes_a_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bad: float
) -> None:
    monkeypatch.setitem(SOLVERS, "poisoned", Poisoned)
    monkeypatch.setattr(runner, "SAVE_EVERY", 0.0)  # a checkpoint after every iteration
    config = trial(SHORT, "solver.name=poisoned", f"solver.bad={yaml.safe_dump(bad).split()[0]}")
    with pytest.raises(RunError) as caught:
        run(config, tmp_path)
    path = tmp_path / "trial"
    told = str(caught.value)
    start = f"solver poisoned of {__file__} failed at iteration 4: its regrets is {bad} at "
    assert told.startswith(start)
    assert "2, 3, 1" in told
    assert told.endswith(f"{path} holds the checkpoint after iteration 3")
    manifest = json.loads((path / MANIFEST).read_text())
    assert (manifest["status"], manifest["iterations"]) == ("failed", 3)
    with np.load(path / CHECKPOINT) as saved:
        assert saved["iteration"] == 3
        assert all(np.isfinite(saved[name]).all() for name in saved if "state" in name)


def test_numbers_that_overflow_are_the_solvers_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config.yaml").write_text(
        yaml.safe_dump({**TREE, "solver": {"name": "dcfr", "gamma": 1000.0, "iterations": 5}})
    )
    assert main(["run", str(tmp_path / "config.yaml"), "--out-root", str(tmp_path)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        "hogeq: solver dcfr failed at iteration 3: Numerical result out of range;"
        f" {tmp_path / 'trial'} holds the checkpoint after iteration 2\n"
    )


@pytest.mark.parametrize("name", sorted(set(SOLVERS) - {"openspiel"}))
def test_no_solver_has_a_state_that_is_not_finite(name: str) -> None:
    """What the runner takes for divergence must not be a solver's way of saying something."""
    config = trial(f"solver.name={name}")
    game, solver = compile_game(config.rules), config.solver.params
    state = solver.init(game)
    for _ in range(3):
        state = solver.step(game, state)
        for value in state:
            array = np.asarray(value)
            assert array.dtype.kind in "iu" or np.isfinite(array).all()


# --- clocks ---------------------------------------------------------------------------------------


def test_a_clock_that_jumps_between_two_parts_of_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, undisturbed: dict[str, Any]
) -> None:
    path = tmp_path / "trial"
    with monkeypatch.context() as patch:
        patch.setattr(runner, "now", lambda: "2031-01-01T00:00:00+00:00")
        patch.setattr(time, "time", lambda: 1.9e9)
        run(trial("solver.iterations=3"), tmp_path)
    for file in path.iterdir():
        os.utime(file, (2e9, 2e9))  # written in the future
    run(trial(SHORT), resume=path)
    assert numbers(path) == undisturbed
    manifest = json.loads((path / MANIFEST).read_text())
    assert manifest["started"] == "2031-01-01T00:00:00+00:00"
    assert manifest["elapsed_seconds"] < 600


# --- any number of threads, processes and parts ---------------------------------------------------


@pytest.mark.slow
def test_the_same_seeds_give_the_same_bytes_for_any_number_of_workers(
    tmp_path: Path, undisturbed: dict[str, Any]
) -> None:
    oracle = {"name": "double_oracle", "iterations": 3, "responders": 2, "responder_steps": 3}
    tree = {**TREE, "solver": oracle}
    found = []
    for name, where in (
        ("one", contextlib.nullcontext()),
        ("threads", workers(3)),
        ("processes", workers(2, on="local")),
    ):
        with where:
            run(config_from(tree), tmp_path / name)
        found.append(numbers(tmp_path / name / "trial"))
    assert found[0] == found[1] == found[2]
    with workers(3):
        run(trial(SHORT), tmp_path)
    assert numbers(tmp_path / "trial") == undisturbed


@pytest.mark.parametrize("name", ["cfr_br", "bundle"])
def test_a_run_goes_on_with_any_number_of_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    tree = {**TREE, "solver": {"name": name, "iterations": 6}}
    config = config_from(tree)
    with workers(1):
        run(config, tmp_path / "whole")
    kind = type(config.solver.params)
    step = kind.step

    def interrupted(self: Any, game: Any, state: Any) -> Any:
        if int(state.iteration) == 3:
            os.kill(os.getpid(), signal.SIGTERM)
        return step(self, game, state)

    with monkeypatch.context() as patch, workers(1):
        patch.setattr(kind, "step", interrupted)
        with pytest.raises(Interrupted):
            run(config, tmp_path / "cut")
    with workers(2):
        run(config, resume=tmp_path / "cut" / "trial")
    assert numbers(tmp_path / "cut" / "trial") == numbers(tmp_path / "whole" / "trial")


def test_every_fault_of_the_table_is_tried() -> None:
    table = (ROOT / "docs" / "faults.md").read_text("utf-8")
    named = [
        (file, test.strip().removesuffix("..."))
        for cell in re.findall(r"`(test_\w+: [^`]*)`", " ".join(table.split()))
        for file, _, test in [cell.partition(":")]
    ]
    assert len(named) > 20
    for file, test in named:
        (path,) = (ROOT / "tests").rglob(f"{file}.py")
        assert f"def test_{test}" in path.read_text(), (file, test)
