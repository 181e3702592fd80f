"""The champions kept in the repository: their figures are computed anew."""

import json
from pathlib import Path

import numpy as np
import pytest

from hogeq.baselines.registry import builtin
from hogeq.evaluation.win_rates import win_rate
from hogeq.model.game import Game, compile_game
from hogeq.response.bounds import full_memory_bound
from hogeq.response.search import SearchBudget, attack
from hogeq.rules import rules_from
from hogeq.runs.config import config_from
from hogeq.runs.jobs import without_jobs
from hogeq.strategies.read import read_strategy

CHAMPIONS = Path(__file__).parent.parent / "results" / "champions"
FOLDERS = sorted(CHAMPIONS.glob("*/manifest.json"))
BEATEN = ["huan2020", "ignore_memory", *(f"always_roll:{dice}" for dice in range(11))]


@pytest.fixture(scope="module", params=FOLDERS, ids=lambda path: path.parent.name)
def manifest(request: pytest.FixtureRequest) -> Path:
    assert isinstance(request.param, Path)
    return request.param


@pytest.fixture(scope="module")
def game(manifest: Path) -> Game:
    return compile_game(rules_from({"edition": manifest.parent.name}))


@pytest.mark.parametrize(
    ("kind", "file"), [("average_policy", "policy.npz"), ("matrix", "matrix.csv")]
)
def test_the_interval_is_what_the_manifest_says(
    manifest: Path, game: Game, kind: str, file: str
) -> None:
    figures = json.loads(manifest.read_text(encoding="utf-8"))["figures"][kind]
    strategy = read_strategy(manifest.parent / file)
    counter = read_strategy(manifest.parent / f"counter_to_{Path(file).stem}.csv")
    assert win_rate(game, counter, strategy).win_rate == pytest.approx(figures["attack"], abs=1e-10)
    assert full_memory_bound(game, strategy) == pytest.approx(figures["bound"], abs=1e-10)
    assert max(figures["found"]) == figures["attack"]
    assert len(figures["found"]) == figures["effort"]["starts"] >= 16
    assert figures["effort"]["kicks"] >= 40
    assert figures["attack_without_kicks"] <= figures["attack"]
    assert config_from(without_jobs(figures["config"])).rules == game.rules


def test_an_attack_with_other_seeds_finds_little_more(manifest: Path, game: Game) -> None:
    figures = json.loads(manifest.read_text(encoding="utf-8"))["figures"]["matrix"]
    found = attack(
        game, read_strategy(manifest.parent / "matrix.csv"), SearchBudget(starts=2, seed=31)
    )
    assert found.win_rate <= figures["attack"] + 2e-3


def test_the_matrix_beats_what_has_a_name(manifest: Path, game: Game) -> None:
    matrix = read_strategy(manifest.parent / "matrix.csv")
    names = BEATEN if manifest.parent.name == "su20" else BEATEN[1:]
    rates = {name: win_rate(game, matrix, builtin(name, game)).win_rate for name in names}
    assert min(rates.values()) > 0.515, rates


def test_there_is_a_champion_of_either_edition_whose_memory_matters_most() -> None:
    assert {folder.parent.name for folder in FOLDERS} >= {"su20", "su21"}


def test_policies_are_small_files() -> None:
    for folder in FOLDERS:
        assert (folder.parent / "policy.npz").stat().st_size < 2 * 2**20
        assert np.load(folder.parent / "policy.npz")["policy"].dtype == np.float64
