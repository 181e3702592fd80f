"""Faults, tried: each ends in a clear line, nothing is lost, no file is half-written.

The table in docs/faults.md lists them all, and the files of this folder that try them.
"""

import contextlib
import errno
import multiprocessing
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
import yaml
from matplotlib.figure import Figure
from pydantic import AllowInfNan

from hogeq import Hog
from hogeq.cli import main
from hogeq.model.game import compile_game
from hogeq.runs import runner
from hogeq.runs.config import load_config
from hogeq.runs.files import CHECKPOINT, CONFIG, MANIFEST, METRICS, ResultsError, read_metrics
from hogeq.runs.runner import RunError
from hogeq.runs.runner import run_experiment as run
from hogeq.runs.signals import Interrupted
from hogeq.solvers import SOLVERS
from hogeq.solvers.regret import CFRPlus
from hogeq.support.parameters import parameters
from hogeq.support.workers import workers
from tests.cli.calls import said
from tests.runs.sweeps import manifest
from tests.runs.trials import ROOT, TREE, Killed, numbers, quick, trial, written
from tests.slow import mostly_slow
from tests.solvers.family import TREES_ALONE

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


@quick
@pytest.mark.parametrize("share", mostly_slow(range(6), 0))
def test_a_disk_that_is_full_at_any_file(
    tmp_path: Path, undisturbed: dict[str, Any], share: int
) -> None:
    with full_after(10**9) as done:
        run(trial(), tmp_path)
    assert numbers(tmp_path / "trial") == undisturbed
    for writes in range(share, done[0], 6):
        root = tmp_path / str(writes)
        with full_after(writes), pytest.raises(ResultsError, match="No space left") as caught:
            run(trial(), root)
        assert str(root / "trial") in str(caught.value)
        for path in root.rglob("*"):
            assert path.is_dir() or path.name == ".lock" or path.stat().st_size, "half a file"
            assert ".tmp" not in path.name
        run(trial(), resume=root / "trial")
        assert numbers(root / "trial") == undisturbed


def test_a_figure_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def savefig(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Figure, "savefig", savefig)
    with pytest.raises(ResultsError, match=r"exploitability\.png cannot be written: No space left"):
        run(trial(), tmp_path)


def as_nobody(work: Callable[[], object]) -> str:
    """Do something without the rights of root, and give the error."""
    receive, send = multiprocessing.get_context("fork").Pipe(duplex=False)

    def child() -> None:
        if os.geteuid() == 0:
            os.setgid(65534)
            os.setuid(65534)
        try:
            work()
            send.send("")
        except Exception as error:  # noqa: BLE001 - the test looks at it
            send.send(str(error))

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join()
    assert receive.poll(), "no answer"
    answer: str = receive.recv()
    return answer


@pytest.mark.slow
@quick
def test_a_folder_that_may_only_be_read(undisturbed: dict[str, Any]) -> None:
    # Folders of pytest's own may be entered by their owner alone.
    with tempfile.TemporaryDirectory() as name:
        root, path = Path(name), Path(name) / "trial"
        run(trial("solver.iterations=3"), root)
        path.chmod(0o555)
        root.chmod(0o555)
        try:
            new = as_nobody(lambda: run(trial("name=new"), root))
            assert new == f"{root / 'new'} cannot be made: Permission denied"
            again = as_nobody(lambda: run(trial(), resume=path))
            assert "cannot be written: Permission denied" in again
        finally:
            root.chmod(0o755)
            path.chmod(0o755)
        run(trial(), resume=path)
        assert numbers(path) == undisturbed


# --- killed at any moment -------------------------------------------------------------------------


@pytest.mark.slow
@quick
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_death_at_any_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, undisturbed: dict[str, Any], after: bool
) -> None:
    """Death just before or just after each file is put in its place."""
    real = Path.replace
    left = 0

    def replace(self: Path, target: Path) -> Path:
        nonlocal left
        left -= 1
        if left == 0 and not after:
            raise Killed
        placed = real(self, target)
        if left == 0:
            raise Killed
        return placed

    monkeypatch.setattr(Path, "replace", replace)
    deaths = 0
    while True:
        root = tmp_path / str(deaths)
        left = deaths + 1
        try:
            run(trial(), root)
        except Killed:
            deaths += 1
        else:
            break
        run(trial(), resume=root / "trial")
        assert numbers(root / "trial") == undisturbed
    assert deaths > 2 * 6  # checkpoint and metrics of every measurement


@pytest.mark.slow
@quick
def test_sigkill_in_any_iteration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, undisturbed: dict[str, Any]
) -> None:
    monkeypatch.setattr(runner, "SAVE_EVERY", 0.0)  # a checkpoint after every iteration
    kind, path = SOLVERS["cfr_plus"], tmp_path / "trial"
    step = kind.step

    def killed(self: Any, game: Any, state: Any) -> Any:
        if int(state.iteration) == deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        return step(self, game, state)

    for deadly in range(12):
        with monkeypatch.context() as patch:
            patch.setattr(kind, "step", killed)
            resume = path if path.exists() else None
            process = multiprocessing.get_context("fork").Process(
                target=run, args=(trial(), tmp_path, resume)
            )
            process.start()
            process.join()
        assert process.exitcode == -signal.SIGKILL
        with np.load(path / CHECKPOINT) if deadly else contextlib.nullcontext({}) as saved:
            assert int(saved.get("iteration", 0)) == deadly
    run(trial(), resume=path)
    assert numbers(path) == undisturbed


# --- signals --------------------------------------------------------------------------------------


@quick
@pytest.mark.parametrize(
    ("solver", "signum", "jobs"),
    [
        ("cfr_plus", signal.SIGINT, 1),
        pytest.param("cfr_br", signal.SIGTERM, 2, marks=pytest.mark.slow),
        pytest.param("bundle", signal.SIGTERM, 2, marks=pytest.mark.slow),
    ],
)
def test_a_signal_while_solving(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, solver: str, signum: signal.Signals, jobs: int
) -> None:
    config = trial(f"solver={{name: {solver}, iterations: 6}}")
    with workers(1):
        run(config, tmp_path / "whole")
    kind = type(config.solver.params)
    step, path = kind.step, tmp_path / "cut" / "trial"

    def signalled(self: Any, game: Any, state: Any) -> Any:
        if int(state.iteration) == 3:
            os.kill(os.getpid(), signum)
        return step(self, game, state)

    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with monkeypatch.context() as patch:
        patch.setattr(kind, "step", signalled)
        with pytest.raises(Interrupted) as caught:
            run(config, tmp_path / "cut")
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
    assert caught.value.signum == signum
    for part in (signum.name, "after iteration 4", f"hogeq run --resume {path}"):
        assert part in str(caught.value)
    assert (manifest(path)["status"], manifest(path)["iterations"]) == ("interrupted", 4)
    with workers(jobs):  # goes on with any number of threads
        run(load_config(path / CONFIG), resume=path)
    assert numbers(path) == numbers(tmp_path / "whole" / "trial")


@quick
@pytest.mark.parametrize("calls", mostly_slow([1, 12], 1))
def test_a_signal_while_measuring(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, undisturbed: dict[str, Any], calls: int
) -> None:
    def interrupted(*arguments: Any, **more: Any) -> Any:
        nonlocal calls
        calls -= 1
        if calls == 0:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(10)
        return search(*arguments, **more)

    search = Hog.search
    monkeypatch.setattr(Hog, "search", interrupted)
    with pytest.raises(Interrupted):
        run(trial(), tmp_path)
    run(trial(), resume=tmp_path / "trial")
    assert numbers(tmp_path / "trial") == undisturbed


@quick
def test_other_threads_leave_signals_alone(tmp_path: Path, undisturbed: dict[str, Any]) -> None:
    thread = threading.Thread(target=run, args=(trial(), tmp_path))
    thread.start()
    thread.join()
    assert numbers(tmp_path / "trial") == undisturbed


@pytest.mark.slow
def test_the_command_stops_in_order(tmp_path: Path) -> None:
    file = written(tmp_path, "solver.iterations=1000000", "measure.every=1000000")
    path = tmp_path / "r" / "trial"
    with subprocess.Popen(  # noqa: S603 - our own code
        [sys.executable, "-m", "hogeq.run", file, "--out-root", tmp_path / "r", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        text=True,
    ) as process:
        limit = time.monotonic() + 60
        while not (path / MANIFEST).exists():
            assert time.monotonic() < limit
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert len(said(err).splitlines()) == 1
    assert "stopped by SIGINT" in err
    assert (path / CHECKPOINT).exists()


# --- solvers that diverge -------------------------------------------------------------------------


@parameters
class Diverging(CFRPlus):
    """CFR+ that spoils its regrets or its average in the fourth iteration."""

    regret: Annotated[float, AllowInfNan(True)] | None = None
    share: Annotated[float, AllowInfNan(True)] | None = None

    def step(self, game: Any, state: Any) -> Any:
        state = super().step(game, state)
        if self.regret is not None and int(state.iteration) == 4:
            state.regrets[..., 2, 3, 1] = self.regret  # which no average shows
        return state

    def average(self, game: Any, state: Any) -> Any:
        policy = super().average(game, state)
        if self.share is not None and int(state.iteration) == 4:
            policy[3, 5, 1] = self.share
        return policy


@quick
@pytest.mark.parametrize(
    ("override", "says"),
    [
        ("regret=.nan", r"its regrets is nan at \(.*2, 3, 1\)"),
        ("regret=-.inf", r"its regrets is -inf at \(.*2, 3, 1\)"),
        ("share=.nan", "its average policy: .*row 3, column 5"),
        ("share=-0.5", "its average policy: .*row 3, column 5"),
    ],
)
def test_a_state_that_is_not_finite_never_becomes_a_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, override: str, says: str
) -> None:
    monkeypatch.setitem(SOLVERS, "diverging", Diverging)
    monkeypatch.setattr(runner, "SAVE_EVERY", 0.0)  # a checkpoint after every iteration
    path = tmp_path / "trial"
    start = f"^solver diverging of {re.escape(__file__)} failed at iteration 4: {says}"
    with pytest.raises(RunError, match=f"{start}.*; {path} holds the checkpoint after iteration 3"):
        run(trial("solver.name=diverging", f"solver.{override}"), tmp_path)
    assert (manifest(path)["status"], manifest(path)["iterations"]) == ("failed", 3)
    assert [row.iteration for row in read_metrics(path / METRICS)] == [1, 2, 3]
    with np.load(path / CHECKPOINT) as saved:
        assert saved["iteration"] == 3
        assert all(np.isfinite(saved[name]).all() for name in saved if "state" in name)


@quick
def test_numbers_that_overflow_are_the_solvers_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config.yaml").write_text(
        yaml.safe_dump({**TREE, "solver": {"name": "dcfr", "gamma": 1000.0, "iterations": 5}})
    )
    assert main(["run", str(tmp_path / "config.yaml"), "--out-root", str(tmp_path)]) == 1
    failed = "hogeq: solver dcfr failed at iteration 3: Numerical result out of range"
    kept = f"{tmp_path / 'trial'} holds the checkpoint after iteration 2"
    assert capsys.readouterr() == ("", f"{failed}; {kept}\n")


@pytest.mark.parametrize("name", sorted(SOLVERS.keys() - TREES_ALONE))
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


@quick
def test_an_internal_failure_is_status_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("some bug")

    monkeypatch.setattr(Hog, "search", fail)
    assert main(["run", str(written(tmp_path)), "--out-root", str(tmp_path / "r")]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[-1] == "hogeq: internal failure: ZeroDivisionError: some bug"
    assert manifest(tmp_path / "r" / "trial")["status"] == "failed"


# --- clocks ---------------------------------------------------------------------------------------


@pytest.mark.slow
@quick
def test_a_clock_that_jumps_between_two_parts_of_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, undisturbed: dict[str, Any]
) -> None:
    path = tmp_path / "trial"
    with monkeypatch.context() as patch:
        patch.setattr(runner, "now", lambda: "2031-01-01T00:00:00+00:00")
        patch.setattr(time, "time", random.Random(0).random)  # noqa: S311 - a repeatable test
        run(trial("solver.iterations=3"), tmp_path)
    for file in path.iterdir():
        os.utime(file, (2e9, 2e9))  # written in the future
    found = run(trial(), resume=path)
    assert numbers(path) == undisturbed
    assert manifest(path)["started"] == "2031-01-01T00:00:00+00:00"
    seconds = [row.seconds for row in found.metrics]
    assert seconds == sorted(seconds)
    assert 0 < seconds[-1] <= found.seconds <= found.elapsed < 600


# --- any number of threads and processes ----------------------------------------------------------


def test_every_fault_of_the_table_is_tried() -> None:
    table = (ROOT / "docs" / "faults.md").read_text("utf-8")
    named = [
        (file, test.strip().removesuffix("..."))
        for cell in re.findall(r"`(test_\w+: [^`]*)`", " ".join(table.split()))
        for file, _, test in [cell.partition(":")]
    ]
    assert len(named) > 20
    for file, test in named:
        # Rooms may have test files of one name.
        texts = [path.read_text("utf-8") for path in (ROOT / "tests").rglob(f"{file}.py")]
        assert any(f"def test_{test}" in text for text in texts), (file, test)
