"""The configs that come with hogeq load, and run on a game small enough for a test."""

import json
from pathlib import Path

import pytest

from hogeq.model.game import compile_game
from hogeq.runs.config import load_config
from hogeq.runs.index import read_run
from hogeq.runs.runner import run_experiment as run
from hogeq.search.bounds import full_memory_bound, upper_bound
from hogeq.solvers import SOLVERS
from hogeq.strategies.files import read_strategy
from tests.search.games import best_response

FOLDER = Path(__file__).parents[2] / "configs"
SWEEPS = {"averaging.yaml", "sweep.yaml"}
CONFIGS = sorted(path for path in FOLDER.glob("*.yaml") if path.name not in SWEEPS)
OF_HOG = [path for path in CONFIGS if path.name != "teams.yaml"]
TINY = [
    "rules.goal=5",
    "rules.max_dice=2",
    "solver.iterations=2",
    "measure.attack={starts: 1, anneal_steps: 2}",
    "measure.final_attack=null",
]


def test_every_solver_has_a_config() -> None:
    assert {load_config(path).solver.name for path in CONFIGS} >= SOLVERS.keys()


@pytest.mark.slow
@pytest.mark.parametrize("path", OF_HOG, ids=[path.stem for path in OF_HOG])
def test_a_shipped_config_runs(path: Path, tmp_path: Path) -> None:
    assert load_config(path).name == path.stem
    summary = run(load_config(path, TINY), tmp_path)
    assert (tmp_path / path.stem / "matrix.csv").exists()
    assert 0.5 - 1e-9 <= summary.average.lower <= summary.average.upper <= 1.0


@pytest.mark.slow
def test_a_mixture_is_kept_and_measured_and_goes_on(tmp_path: Path) -> None:
    options = [*TINY, "rules.goal=6", "solver.parts=2"]
    path = FOLDER / "mixture_bundle.yaml"
    longer = load_config(path, [*options, "solver.iterations=5"])
    run(load_config(path, options), tmp_path / "cut")
    run(longer, tmp_path / "cut", resume=tmp_path / "cut" / "mixture_bundle")
    summary = run(longer, tmp_path / "whole")
    cut, whole = (tmp_path / kind / "mixture_bundle" / "mixture.npz" for kind in ("cut", "whole"))
    assert cut.read_bytes() == whole.read_bytes()
    drawn = read_strategy(whole, 6, 2)
    game = compile_game(longer.rules)
    assert summary.mixture is not None
    assert summary.mixture.lower <= best_response(game, drawn).win_rate + 1e-9
    assert summary.mixture.upper == upper_bound(game, drawn, 2)
    figures = json.loads((whole.parent / "manifest.json").read_text("utf-8"))["figures"]
    ends = {"attack": summary.mixture.lower, "bound": summary.mixture.upper}
    assert ends.items() <= figures["mixture"].items()
    assert "mixture" in summary.intervals
    last = summary.metrics[-1]
    assert last.mixture_attack == summary.mixture.lower
    assert last.mixture_bound == full_memory_bound(game, drawn)
    record = read_run(whole.parent)
    assert (record.mixture_attack, record.mixture_bound) == (ends["attack"], ends["bound"])
    (whole.parent / "manifest.json").write_text("{}", "utf-8")
    assert read_run(whole.parent).mixture_bound == last.mixture_bound
    # A run of another solver in its place leaves no mixture behind.
    other = load_config(FOLDER / "cfr_plus.yaml", [*TINY, "name=mixture_bundle"])
    run(other, tmp_path / "whole", overwrite=True)
    assert not whole.exists()


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["dcfr", "pcfr_plus"])
def test_teams_learn_a_mixture_and_go_on_bit_for_bit(variant: str, tmp_path: Path) -> None:
    path = FOLDER / "teams.yaml"
    options = [f"solver.variant={variant}", "measure.every=10"]
    longer = load_config(path, [*options, "solver.iterations=40"])
    run(load_config(path, [*options, "solver.iterations=15"]), tmp_path / "cut")
    summary = run(longer, tmp_path / "cut", resume=tmp_path / "cut" / "teams")
    run(longer, tmp_path / "whole")
    for file in ("mixture.npz", "policy.npz"):
        cut, whole = (tmp_path / kind / "teams" / file for kind in ("cut", "whole"))
        assert cut.read_bytes() == whole.read_bytes()
    assert summary.mixture is not None
    assert 0.0 <= summary.mixture.lower <= summary.mixture.upper < 0.05
