"""Runs: what they leave, and how they go on."""

import datetime as dt
import json
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hogeq.evaluation.counterfactual import kkt_gap
from hogeq.evaluation.values import win_rate
from hogeq.model.game import compile_game
from hogeq.purification import purify
from hogeq.runs.config import load_config
from hogeq.runs.files import (
    FILES,
    MANIFEST,
    METRICS,
    POLICY,
    SCHEMA,
    ResultsError,
    environment,
    metrics_table,
    read_metrics,
)
from hogeq.runs.runner import run_experiment as run
from hogeq.search.attack import attack
from hogeq.search.bounds import full_memory_bound
from hogeq.strategies.arrays import check_policy
from hogeq.strategies.files import read_strategy
from hogeq.support.progress import compiled_seconds, compiling
from hogeq.support.yaml import ConfigError
from tests.runs.trials import ROOT, numbers, quick, trial

# --- what a run leaves -------------------------------------------------------------------------


def test_a_run_directory_is_whole_and_consistent(tmp_path: Path) -> None:
    config = trial("measure.final_attack={starts: 3, anneal_steps: 8}")
    summary = run(config, tmp_path / "new" / "results")
    path = tmp_path / "new" / "results" / "trial"
    assert summary.directory == path
    assert {file.name for file in path.iterdir()} == {*FILES, ".lock"}
    assert load_config(path / "config.yaml") == config

    game = compile_game(config.rules)
    policy = check_policy(read_strategy(path / "policy.npz", 10, 2), (10, 10, 3))
    matrix = read_strategy(path / "matrix.csv", 10, 2)
    np.testing.assert_array_equal(matrix, purify(game, policy))
    namespace: dict[str, Any] = {}
    exec((path / "final_strategy.py").read_text(), namespace)  # noqa: S102 - our own file
    answers = [
        [namespace["final_strategy"](own, other) for other in range(10)] for own in range(10)
    ]
    np.testing.assert_array_equal(matrix, answers)

    rows = read_metrics(path / "metrics.csv")
    np.testing.assert_equal(metrics_table(rows), metrics_table(summary.metrics))
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
    assert summary.budget == final
    assert summary.average.lower == max(last.attack, attack(game, policy, final).win_rate)
    assert summary.average.upper == last.bound
    assert summary.matrix.lower == max(last.purified_attack, attack(game, matrix, final).win_rate)
    assert summary.matrix.upper == full_memory_bound(game, matrix)
    assert summary.matrix_against_average == win_rate(game, matrix, policy).win_rate
    purification_loss = summary.matrix.lower - summary.average.lower
    assert summary.figures()["purification_loss"] == purification_loss

    manifest = json.loads((path / "manifest.json").read_text())
    assert manifest["figures"] == summary.figures()
    assert manifest["status"] == "complete"
    assert manifest["config_hash"] == config.fingerprint()
    assert manifest["schema"] == SCHEMA
    assert (manifest["seed"], manifest["iterations"]) == (0, 12)
    assert manifest["started"] <= manifest["ended"]
    assert 0 < manifest["solver_seconds"] <= manifest["elapsed_seconds"]
    assert manifest["environment"] == environment()
    assert str(ROOT) not in json.dumps(manifest["environment"])


@pytest.mark.slow
@quick
def test_recorded_seconds_are_without_compiling(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = trial("solver.iterations=2")
    step = type(config.solver.params).step

    def compiles_first(*given: Any) -> Any:
        with compiling():
            time.sleep(1.0)
        return step(*given)

    monkeypatch.setattr(type(config.solver.params), "step", compiles_first)
    summary = run(config, tmp_path, quiet=True)
    manifest = json.loads((tmp_path / "trial" / MANIFEST).read_text())
    metrics = read_metrics(tmp_path / "trial" / METRICS)
    spent = compiled_seconds()
    assert spent >= 2.0
    assert max(summary.seconds, manifest["solver_seconds"], metrics[-1].seconds) < 1.0
    begun, ended = (dt.datetime.fromisoformat(manifest[key]) for key in ("started", "ended"))
    assert manifest["elapsed_seconds"] < (ended - begun).total_seconds() + 1.0 - 2.0


@pytest.mark.parametrize(
    "override", ["solver.epsilon=0.9", "rules={edition: su20, goal: 2000, max_dice: 50}"]
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
    last = summary.metrics[-1]
    assert last.iteration == 12
    # Without a final effort the last measurement counts.
    assert (summary.average.lower, summary.matrix.lower) == (last.attack, last.purified_attack)
    assert summary.budget == trial().measure.attack
    manifest = json.loads((tmp_path / "trial" / "manifest.json").read_text())
    assert manifest["resumed_at"] == [12]


@pytest.mark.slow
def test_a_run_may_have_a_longer_name_than_a_player(tmp_path: Path) -> None:
    """Points of sweeps have names of up to 89 characters; a player's has 64."""
    name = "seed-0-solver.name-dcfr-" + "x" * 65
    folder = run(trial(f"name={name}", "solver.iterations=2"), tmp_path, quiet=True).directory
    namespace: dict[str, Any] = {}
    exec((folder / "final_strategy.py").read_text(), namespace)  # noqa: S102 - our own file
    assert namespace["PLAYER_NAME"] == name[:64]


@pytest.mark.slow
def test_a_manifest_that_no_run_wrote_stops_no_run(tmp_path: Path) -> None:
    run(trial("solver.iterations=1"), tmp_path)
    path = tmp_path / "trial" / "manifest.json"
    path.write_text('{"started": [], "resumed_at": 3, "figures": 3}')
    run(trial("solver.iterations=2"), resume=tmp_path / "trial")
    manifest = json.loads(path.read_text())
    assert manifest["resumed_at"] == [1]
    assert manifest["started"].startswith("20")


@quick
@pytest.mark.parametrize(
    ("solver", "keys"),
    [
        ("cfr_br", ["start"]),
        pytest.param("mixture_bundle", ["start", "counters"], marks=pytest.mark.slow),
    ],
)
def test_files_that_a_run_began_with_are_known_and_may_go(
    tmp_path: Path, solver: str, keys: list[str]
) -> None:
    files = {"start": tmp_path / "start.npy", "counters": tmp_path / "counters.npz"}
    goal = trial().rules.goal
    np.save(files["start"], np.full((goal, goal), 2, np.int8))
    np.savez(files["counters"], pool=np.full((1, goal, goal), 1, np.int8))
    given = [f"solver.{key}={files[key]}" for key in keys]
    begun = [f"solver={{name: {solver}, iterations: 2}}", *given]
    longer = trial(*begun, "solver.iterations=4")
    run(trial(*begun), tmp_path / "begun")
    run(longer, tmp_path / "whole")
    hashes = {key: sha256(files[key].read_bytes()).hexdigest() for key in keys}
    for file in files.values():
        file.unlink()
    with pytest.raises(ConfigError, match=r"config trial: .*(start|counters)\.np[yz]"):
        run(longer, tmp_path / "anew")
    assert not (tmp_path / "anew").exists()
    run(longer, resume=tmp_path / "begun" / "trial")
    for root in (tmp_path / "begun", tmp_path / "whole"):
        read = json.loads((root / "trial" / MANIFEST).read_text())["files"]
        assert {one["key"]: one["sha256"] for one in read} == hashes
    one, other = (tmp_path / root / "trial" / POLICY for root in ("begun", "whole"))
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.slow
def test_a_run_made_longer_keeps_no_line_off_its_schedule(tmp_path: Path) -> None:
    run(trial("solver.iterations=5", "measure.every=2"), tmp_path)
    path = tmp_path / "trial" / METRICS
    assert [row.iteration for row in read_metrics(path)] == [2, 4, 5]
    run(trial("solver.iterations=8", "measure.every=2"), resume=tmp_path / "trial")
    assert [row.iteration for row in read_metrics(path)] == [2, 4, 6, 8]


@pytest.mark.slow
def test_a_run_does_not_go_on_by_another_seed(tmp_path: Path) -> None:
    """Its config names the seed of each part, which another seed of the whole would not change."""
    run(trial("solver.iterations=1"), tmp_path)
    path = tmp_path / "trial"
    config = (path / "config.yaml").read_text()
    assert config.count("seed: 0\n") > 2
    other = load_config(path / "config.yaml", ["seed=9"])
    with pytest.raises(ResultsError, match="seed: got 9; allowed: 0, that of the run"):
        run(other, resume=path)
    assert (path / "config.yaml").read_text() == config


@pytest.mark.slow
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
