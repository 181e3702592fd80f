"""Runs that are killed, stopped by a signal, or fail."""

import errno
import json
import math
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
import yaml
from matplotlib.figure import Figure
from pydantic import AllowInfNan

from hogeq.cli import main
from hogeq.runs import runner, summary
from hogeq.runs.config import load_config
from hogeq.runs.files import ResultsError, read_metrics
from hogeq.runs.runner import RunError
from hogeq.runs.runner import run_experiment as run
from hogeq.runs.signals import Interrupted
from hogeq.search.attack import attack
from hogeq.solvers import SOLVERS
from hogeq.solvers.regret import CFRPlus
from hogeq.support.parameters import parameters
from tests.cli.calls import said
from tests.runs.trials import ROOT, Killed, numbers, quick, trial, written

# --- resuming ----------------------------------------------------------------------------------


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


@quick
def test_sigkill_at_random_moments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, undisturbed: dict[str, Any]
) -> None:
    monkeypatch.setattr(runner, "SAVE_EVERY", 0.0)  # a checkpoint after every iteration
    forked = multiprocessing.get_context("fork")
    moments = random.Random(0)  # noqa: S311 - a repeatable test
    began = time.monotonic()
    whole = forked.Process(target=run, args=(trial(), tmp_path / "whole", None))
    whole.start()
    whole.join()
    long = time.monotonic() - began
    kills = 0
    for attempt in range(3):
        root = tmp_path / str(attempt)
        resume: Path | None = None
        for _ in range(8):
            process = forked.Process(target=run, args=(trial(), root, resume))
            began = time.monotonic()
            process.start()
            process.join(moments.uniform(0.0, long))
            process.kill()
            process.join()
            if process.exitcode == 0:
                long = min(long, time.monotonic() - began)  # the first was slow, where all is new
                break
            assert process.exitcode == -signal.SIGKILL
            kills += 1
            resume = root / "trial" if (root / "trial").exists() else None
        else:
            run(trial(), root, resume)
        assert numbers(root / "trial") == undisturbed
    assert kills > 0


# --- signals -----------------------------------------------------------------------------------


@pytest.fixture
def signalled(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, int]]:
    """Send a signal in the middle of a chosen iteration."""
    plan: dict[str, int] = {}
    kind = SOLVERS["cfr_plus"]
    real = kind.step

    def step(self: Any, game: Any, state: Any) -> Any:
        if int(state.iteration) + 1 == plan.get("iteration"):
            os.kill(os.getpid(), plan.pop("signal"))
            plan.clear()
        return real(self, game, state)

    monkeypatch.setattr(kind, "step", step)
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    yield plan
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


@quick
@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_solving(
    tmp_path: Path, signalled: dict[str, int], undisturbed: dict[str, Any], signum: signal.Signals
) -> None:
    signalled |= {"iteration": 7, "signal": signum}
    with pytest.raises(Interrupted) as caught:
        run(trial(), tmp_path)
    assert (caught.value.signum, caught.value.iteration) == (signum, 7)
    path = tmp_path / "trial"
    for part in (signum.name, "after iteration 7", f"hogeq run --resume {path}"):
        assert part in str(caught.value)
    manifest = json.loads((path / "manifest.json").read_text())
    assert (manifest["status"], manifest["iterations"]) == ("interrupted", 7)
    run(load_config(path / "config.yaml"), resume=path)
    assert numbers(path) == undisturbed


@quick
@pytest.mark.parametrize("calls", [1, 12])
def test_a_signal_while_measuring(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, undisturbed: dict[str, Any], calls: int
) -> None:
    def interrupted(*arguments: Any) -> Any:
        nonlocal calls
        calls -= 1
        if calls == 0:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(10)
        return attack(*arguments)

    monkeypatch.setattr(summary, "attack", interrupted)
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
    with subprocess.Popen(  # noqa: S603 - our own code
        [sys.executable, "-m", "hogeq.run", file, "--out-root", tmp_path / "r", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        text=True,
    ) as process:
        limit = time.monotonic() + 60
        while not (tmp_path / "r" / "trial" / "manifest.json").exists():
            assert time.monotonic() < limit
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert len(said(err).splitlines()) == 1
    assert "stopped by SIGINT" in err
    assert (tmp_path / "r" / "trial" / "checkpoint.npz").exists()


# --- what goes wrong on the way ----------------------------------------------------------------


@parameters
class Diverging(CFRPlus):
    """CFR+ that has no policy any more from a given iteration on."""

    good: int = 4
    bad: Annotated[float, AllowInfNan(True)] = math.nan

    def average(self, game: Any, state: Any) -> Any:
        policy = super().average(game, state)
        if int(state.iteration) > self.good:
            policy[3, 5, 1] = self.bad
        return policy


@quick
@pytest.mark.parametrize("bad", [math.nan, -0.5])
def test_an_average_that_is_no_policy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], bad: float
) -> None:
    monkeypatch.setitem(SOLVERS, "diverging", Diverging)
    config = trial("solver.name=diverging", f"solver.bad={yaml.safe_dump(bad).split()[0]}")
    with pytest.raises(
        RunError,
        match=r"diverging of .*test_stopped_runs.py failed at iteration 5: .*row 3, column 5",
    ) as caught:
        run(config, tmp_path)
    assert "checkpoint after iteration 3" in str(caught.value)
    assert [row.iteration for row in read_metrics(tmp_path / "trial" / "metrics.csv")] == [1, 2, 3]
    manifest = json.loads((tmp_path / "trial" / "manifest.json").read_text())
    assert (manifest["status"], manifest["iterations"]) == ("failed", 3)
    file = tmp_path / "config.yaml"
    file.write_text(config.to_yaml())
    assert main(["run", str(file), "--out-root", str(tmp_path / "again")]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert len(said(err).splitlines()) == 1


def test_a_figure_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def savefig(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Figure, "savefig", savefig)
    with pytest.raises(ResultsError, match=r"exploitability\.png cannot be written: No space left"):
        run(trial(), tmp_path)


@quick
def test_a_clock_that_jumps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", random.Random(0).random)  # noqa: S311 - as above
    monkeypatch.setattr(runner, "now", iter(["2030-01-01", "1999-01-01"]).__next__)
    summary = run(trial(), tmp_path)
    assert 0 < summary.seconds <= summary.elapsed < 600
    assert [row.seconds for row in summary.metrics] == sorted(
        row.seconds for row in summary.metrics
    )


@quick
def test_an_internal_failure_is_status_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("some bug")

    monkeypatch.setattr(summary, "attack", fail)
    assert main(["run", str(written(tmp_path)), "--out-root", str(tmp_path / "r")]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[-1] == "hogeq: internal failure: ZeroDivisionError: some bug"
    manifest = json.loads((tmp_path / "r" / "trial" / "manifest.json").read_text())
    assert manifest["status"] == "failed"
