"""The runner: what a run leaves, and that nothing which happens to it is lost."""

import dataclasses
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

import numpy as np
import pytest
import yaml
from matplotlib.figure import Figure
from pydantic import AllowInfNan

from hogeq import figures
from hogeq.cli import main
from hogeq.evaluation.counterfactual import counterfactual_values
from hogeq.evaluation.stationarity import kkt_gap
from hogeq.evaluation.win_rates import win_rate
from hogeq.model.game import compile_game
from hogeq.purification import purify
from hogeq.response.bounds import full_memory_bound
from hogeq.response.search import attack
from hogeq.runs import runner
from hogeq.runs.config import Config, config_from, load_config
from hogeq.runs.directory import RunDirectory
from hogeq.runs.environment import environment
from hogeq.runs.errors import ConfigError, ResultsError, replacing
from hogeq.runs.filenames import (
    CHECKPOINT,
    CONFIG,
    FILES,
    FINAL_STRATEGY,
    MANIFEST,
    MATRIX,
    METRICS,
    POLICY,
    SCHEMA,
)
from hogeq.runs.metrics import read_metrics
from hogeq.runs.overrides import apply_overrides
from hogeq.runs.runner import RunError, schedule
from hogeq.runs.runner import run_experiment as run
from hogeq.runs.signals import Interrupted
from hogeq.solvers import SOLVERS
from hogeq.solvers.regret import CFRPlus
from hogeq.strategies.arrays import check_policy
from hogeq.strategies.read import read_strategy
from hogeq.support.parameters import parameters

ROOT = Path(__file__).parents[2]

TREE: dict[str, Any] = {
    "name": "trial",
    "rules": {"edition": "su20", "goal": 10, "max_dice": 2},
    "solver": {"name": "cfr_plus", "iterations": 12},
    "measure": {"attack": {"starts": 1, "anneal_steps": 4}},
}


def trial(*overrides: str) -> Config:
    return config_from(apply_overrides(TREE, overrides))


def written(path: Path, *overrides: str) -> Path:
    file = path / "config.yaml"
    file.write_text(trial(*overrides).to_yaml())
    return file


@pytest.fixture
def plain_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip drawing, which is slow, where a test is about something else."""

    def draw(_: object, path: Path, *__: object) -> None:
        with replacing(path) as temporary:
            temporary.write_text("figure")

    monkeypatch.setattr(figures, "exploitability", draw)
    monkeypatch.setattr(figures, "matrix", draw)


quick = pytest.mark.usefixtures("plain_figures")


def numbers(path: Path) -> dict[str, Any]:
    """Everything in a run directory that must not depend on what happened on the way."""
    rows = [dataclasses.asdict(row) for row in read_metrics(path / METRICS)]
    with np.load(path / CHECKPOINT) as checkpoint:
        state = {
            name: checkpoint[name].tobytes()
            for name in checkpoint.files
            if name.startswith("state.")
        }
    manifest = json.loads((path / MANIFEST).read_text())
    return {
        "files": {file.name for file in path.iterdir()},
        "policy": (path / POLICY).read_bytes(),
        "matrix": (path / MATRIX).read_bytes(),
        "strategy": (path / FINAL_STRATEGY).read_bytes(),
        "config": (path / CONFIG).read_bytes(),
        "metrics": [repr({**row, "seconds": None}) for row in rows],
        "state": state,
        "figures": manifest["figures"],
        "status": manifest["status"],
    }


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("undisturbed")
    run(trial(), folder)
    return numbers(folder / "trial")


# --- when to measure ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("iterations", "every", "expected"),
    [
        (1, "log", [1]),
        (2, "log", [1, 2]),
        (200, "log", [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 200]),
        (144, "log", [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144]),
        (10, 1, list(range(1, 11))),
        (10, 4, [4, 8, 10]),
        (8, 4, [4, 8]),
        (3, 100, [3]),
    ],
)
def test_schedule(iterations: int, every: Any, expected: list[int]) -> None:
    assert schedule(iterations, every) == expected


# --- what a run leaves -------------------------------------------------------------------------


def test_a_run_directory_is_whole_and_consistent(tmp_path: Path) -> None:
    config = trial("measure.final_attack={starts: 3, anneal_steps: 8}")
    summary = run(config, tmp_path / "new" / "results")
    path = tmp_path / "new" / "results" / "trial"
    assert summary.directory == path
    assert {file.name for file in path.iterdir()} == {*FILES, ".lock"}
    assert load_config(path / "config.yaml") == config

    game = compile_game(config.rules)
    policy = check_policy(read_strategy(path / "policy.npz", 10, 2), 10, 2)
    matrix = read_strategy(path / "matrix.csv", 10, 2)
    np.testing.assert_array_equal(matrix, purify(game, policy))
    namespace: dict[str, Any] = {}
    exec((path / "final_strategy.py").read_text(), namespace)  # noqa: S102 - our own file
    answers = [
        [namespace["final_strategy"](own, other) for other in range(10)] for own in range(10)
    ]
    np.testing.assert_array_equal(matrix, answers)

    rows = read_metrics(path / "metrics.csv")
    assert tuple(rows) == summary.metrics
    assert [row.iteration for row in rows] == [1, 2, 3, 5, 8, 12]
    last = rows[-1]
    curve = config.measure.attack
    assert last.attack == attack(game, policy, curve).win_rate
    assert last.bound == full_memory_bound(game, policy)
    assert last.purified_attack == attack(game, matrix, curve).win_rate
    assert last.kkt_gap == kkt_gap(game, policy)
    for row in rows:
        assert 0.5 - 1e-12 <= row.attack <= row.bound <= 1.0
        assert row.average_regret >= 0.0

    final = config.measure.final_attack
    assert summary.effort == final
    assert summary.average.lower == max(last.attack, attack(game, policy, final).win_rate)
    assert summary.average.upper == last.bound
    assert summary.matrix.lower == max(last.purified_attack, attack(game, matrix, final).win_rate)
    assert summary.matrix.upper == full_memory_bound(game, matrix)
    assert summary.matrix_against_average == win_rate(game, matrix, policy).win_rate
    assert summary.purification_loss == summary.matrix.lower - summary.average.lower

    manifest = json.loads((path / "manifest.json").read_text())
    assert manifest["figures"] == summary.figures()
    assert manifest["status"] == "complete"
    assert manifest["config_hash"] == config.fingerprint()
    assert manifest["schema"] == SCHEMA
    assert (manifest["seed"], manifest["iterations"]) == (0, 12)
    assert manifest["started"] <= manifest["ended"]
    assert 0 < manifest["solver_seconds"] <= manifest["elapsed_seconds"]
    assert manifest["environment"] == environment()


@quick
def test_without_a_final_effort_the_last_measurement_counts(tmp_path: Path) -> None:
    summary = run(trial(), tmp_path)
    last = summary.metrics[-1]
    assert (summary.average.lower, summary.matrix.lower) == (last.attack, last.purified_attack)
    assert summary.effort == trial().measure.attack


@quick
@pytest.mark.parametrize("edition", ["su20", "fa22"])
def test_the_average_policy_of_a_longer_run_is_less_exploitable(
    tmp_path: Path, edition: str
) -> None:
    rules = f"rules={{edition: {edition}, goal: 12, max_dice: 3}}"
    summary = run(trial(rules, "solver.iterations=60"), tmp_path)
    first, last = summary.metrics[0], summary.metrics[-1]
    assert last.attack < first.attack
    assert last.kkt_gap < first.kkt_gap
    if edition != "su20":  # no memory: the interval closes
        assert summary.average.lower == pytest.approx(summary.average.upper, abs=1e-9)


@quick
def test_two_runs_are_equal(tmp_path: Path, undisturbed: dict[str, Any]) -> None:
    run(trial(), tmp_path)
    assert numbers(tmp_path / "trial") == undisturbed


def test_kkt_gap_is_the_steepest_rate_of_improvement() -> None:
    """Against a difference quotient of exact win rates, on random policies."""
    game = compile_game(trial().rules)
    policies = np.random.default_rng(1).dirichlet(np.ones(3), (5, 10, 10))
    for policy in policies:
        both = np.stack([policy, policy])
        gradient = counterfactual_values(game.workspace(2), both, "reach").values
        best = (gradient == gradient.max(axis=2, keepdims=True)).astype(float)
        best /= best.sum(axis=2, keepdims=True)
        step = 1e-6
        there = win_rate(game, (1 - step) * policy + step * best, policy).win_rate
        assert kkt_gap(game, policy) == pytest.approx((there - 0.5) / step, rel=1e-4)
        assert kkt_gap(game, policy) > 0


# --- existing directories ----------------------------------------------------------------------


@quick
def test_an_existing_directory_is_refused_and_untouched(tmp_path: Path) -> None:
    run(trial(), tmp_path)
    before = {file: file.read_bytes() for file in (tmp_path / "trial").iterdir()}
    with pytest.raises(ResultsError, match="exists already"):
        run(trial("solver.iterations=3"), tmp_path)
    assert {file: file.read_bytes() for file in (tmp_path / "trial").iterdir()} == before
    summary = run(trial("solver.iterations=3"), tmp_path, overwrite=True)
    assert summary.metrics[-1].iteration == 3


@quick
def test_a_directory_in_use_is_refused(tmp_path: Path) -> None:
    with (
        RunDirectory.create(tmp_path, "trial"),
        pytest.raises(ResultsError, match="another process"),
    ):
        run(trial(), tmp_path, overwrite=True)


def test_resume_and_overwrite_exclude_each_other(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="exclude each other"):
        run(trial(), tmp_path, resume=tmp_path, overwrite=True)


@pytest.mark.parametrize(
    "override",
    ["solver.epsilon=0.9", "rules={edition: su20, goal: 2000, max_dice: 50}"],
)
def test_what_the_game_or_the_solver_refuses_is_refused_before_anything_is_written(
    tmp_path: Path, override: str
) -> None:
    with pytest.raises(ConfigError, match="trial"):
        run(trial(override), tmp_path / "results")
    assert not list(tmp_path.iterdir())


# --- resuming ----------------------------------------------------------------------------------


@quick
def test_resuming_a_finished_run_changes_nothing(
    tmp_path: Path, undisturbed: dict[str, Any]
) -> None:
    run(trial(), tmp_path)
    summary = run(trial(), resume=tmp_path / "trial")
    assert numbers(tmp_path / "trial") == undisturbed
    assert summary.metrics[-1].iteration == 12
    manifest = json.loads((tmp_path / "trial" / "manifest.json").read_text())
    assert manifest["resumed_at"] == [12]


@quick
def test_a_run_made_longer_equals_a_long_one(tmp_path: Path, undisturbed: dict[str, Any]) -> None:
    run(trial("solver.iterations=7"), tmp_path)
    run(trial(), resume=tmp_path / "trial")
    assert numbers(tmp_path / "trial") == undisturbed


@quick
@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("solver.iterations=5", "at iteration 12 already"),
        ("rules.goal=11", "another config"),
        ("solver.averaging=uniform", "another config"),
        ("solver.name=cfr", "made by solver cfr_plus, not by cfr"),
    ],
)
def test_another_run_is_not_resumed(tmp_path: Path, override: str, words: str) -> None:
    run(trial(), tmp_path)
    before = {file: file.read_bytes() for file in (tmp_path / "trial").iterdir()}
    with pytest.raises(ResultsError, match=words):
        run(trial(override), resume=tmp_path / "trial")
    assert {file: file.read_bytes() for file in (tmp_path / "trial").iterdir()} == before


@quick
def test_a_run_cut_off_before_its_first_checkpoint(
    tmp_path: Path, undisturbed: dict[str, Any]
) -> None:
    run(trial(), tmp_path)
    (tmp_path / "trial" / "checkpoint.npz").unlink()
    with pytest.raises(ResultsError, match="another config"):
        run(trial("rules.goal=11"), resume=tmp_path / "trial")
    run(trial(), resume=tmp_path / "trial")
    assert numbers(tmp_path / "trial") == undisturbed


class Killed(BaseException):
    """Stands in for a death at a given moment."""


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
    for attempt in range(6):
        root = tmp_path / str(attempt)
        resume: Path | None = None
        for _ in range(8):
            process = forked.Process(target=run, args=(trial(), root, resume))
            process.start()
            process.join(moments.uniform(0.0, long))
            process.kill()
            process.join()
            if process.exitcode == 0:
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
    for part in (signum.name, "after iteration 7", f"{path}/config.yaml --resume {path}"):
        assert part in str(caught.value)
    manifest = json.loads((path / "manifest.json").read_text())
    assert (manifest["status"], manifest["iterations"]) == ("interrupted", 7)
    run(load_config(path / "config.yaml"), resume=path)
    assert numbers(path) == undisturbed


@quick
@pytest.mark.parametrize("calls", [1, 4, 12])
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

    monkeypatch.setattr(runner, "attack", interrupted)
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


@pytest.mark.parametrize(("signum", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_command_stops_in_order(tmp_path: Path, signum: signal.Signals, status: int) -> None:
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
        process.send_signal(signum)
        out, err = process.communicate(timeout=60)
    assert process.returncode == status
    assert out == ""
    assert len(err.splitlines()) == 1
    assert f"stopped by {signum.name}" in err
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
@pytest.mark.parametrize("bad", [math.nan, math.inf, -0.5])
def test_an_average_that_is_no_policy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], bad: float
) -> None:
    monkeypatch.setitem(SOLVERS, "diverging", Diverging)
    config = trial("solver.name=diverging", f"solver.bad={yaml.safe_dump(bad).split()[0]}")
    with pytest.raises(
        RunError, match=r"diverging failed at iteration 5: .*row 3, column 5"
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
    assert len(err.splitlines()) == 1


@quick
def test_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, undisturbed: dict[str, Any]
) -> None:
    real = Path.write_bytes
    left = 12

    def write_bytes(self: Path, data: bytes) -> int:
        nonlocal left
        left -= 1
        if left < 0:
            real(self, data[: len(data) // 2])
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(self, data)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", write_bytes)
        with pytest.raises(ResultsError, match="No space left") as caught:
            run(trial(), tmp_path)
    assert "holds the checkpoint after iteration" in str(caught.value)
    assert not list((tmp_path / "trial").glob(".tmp*"))
    run(trial(), resume=tmp_path / "trial")
    assert numbers(tmp_path / "trial") == undisturbed


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

    monkeypatch.setattr(runner, "attack", fail)
    assert main(["run", str(written(tmp_path)), "--out-root", str(tmp_path / "r")]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[-1] == "hogeq: internal failure: ZeroDivisionError: some bug"
    manifest = json.loads((tmp_path / "r" / "trial" / "manifest.json").read_text())
    assert manifest["status"] == "failed"


# --- the command -------------------------------------------------------------------------------


def spoken(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = main(["run", *(str(argument) for argument in arguments)])
    return status, *capsys.readouterr()


@quick
def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = spoken(
        capsys,
        written(tmp_path),
        "--set",
        "solver.iterations=3",
        "--out-root",
        tmp_path / "r",
        "--json",
    )
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
        assert line.split()[-4:] == [
            f"{low:.6f}",
            f"{high:.6f}",
            f"[{low - 0.5:.4f},",
            f"{high - 0.5:.4f}]",
        ]
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
    assert spoken(capsys, file, "--resume", root / "trial")[0] == 0
    assert numbers(root / "trial") == undisturbed
    assert spoken(capsys, file, *short, "--out-root", root, "--overwrite")[0] == 0
    assert read_metrics(root / "trial" / "metrics.csv")[-1].iteration == 5


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
    (["CONFIG", "--set", "solver.iterations=0"], ["solver.iterations", "got 0"]),
    (["CONFIG", "--set", "solver.iteratons=9"], ["solver.iteratons", "nearest: iterations"]),
    (["CONFIG", "--set", "rules.goal=0"], ["rules.goal", "got 0"]),
    (["CONFIG", "--set", "rules.sides=-1"], ["rules.sides", "got -1"]),
    (["CONFIG", "--set", "name=../trial"], ["name", "'../trial'"]),
    (["CONFIG", "--set", "measure.attack.starts=-1"], ["measure.attack.starts", "-1"]),
    (["CONFIG", "--set", "solver.epsilon=0.9"], ["epsilon", "0.9"]),
    (["CONFIG", "--set", "name"], ["--set name", "key=value"]),
    (["CONFIG", "--set"], ["--set", "--help"]),
    (["CONFIG", "--sat", "a=b"], ["--sat", "--help"]),
    (["CONFIG", "--resume", "RUN", "--overwrite"], ["--overwrite", "--resume"]),
    (["CONFIG", "--resume", "none"], ["none", "does not exist"]),
    (["CONFIG", "--resume", "."], ["not a run directory"]),
    (["CONFIG", "--resume", "CONFIG"], ["not a folder"]),
    (["CONFIG", "--resume", "RUN", "--set", "rules.goal=9"], ["another config"]),
    (["CONFIG", "--resume", "RUN", "--set", "solver.iterations=1"], ["at iteration 3 already"]),
    (["CONFIG"], ["exists already", "--resume", "--overwrite"]),
    (["CONFIG", "--out-root", "CONFIG"], ["cannot be made"]),
    (["none.yaml"], ["none.yaml", "No such file"]),
    (["."], [".", "directory"]),
    ([], ["CONFIG", "--help"]),
]


@pytest.mark.parametrize(
    ("arguments", "parts"), BAD_ARGUMENTS, ids=lambda part: " ".join(part)[:50]
)
def test_bad_input_is_one_line_status_2_and_touches_nothing(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    plain_figures: None,
    arguments: list[str],
    parts: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    file = written(Path())
    run(trial("solver.iterations=3"), "results")
    names = {"CONFIG": str(file), "RUN": "results/trial"}

    def everything() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}

    before = everything()
    status, out, err = spoken(capsys, *(names.get(part, part) for part in arguments))
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1
    for part in parts:
        assert part in err
    assert everything() == before
