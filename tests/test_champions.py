"""The champions that are shipped: their figures are computed anew, and their names work."""

import ast
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

import hogeq
from hogeq.baselines import solved
from hogeq.baselines.registry import builtin, find_strategy
from hogeq.cli import main
from hogeq.evaluation.values import win_rate
from hogeq.model.game import HogEngine, compile_game
from hogeq.pages import report as page
from hogeq.rules import EDITIONS, Rules, rules_from
from hogeq.runs.config import config_from
from hogeq.search.attack import attack
from hogeq.search.bounds import full_memory_bound, upper_bound
from hogeq.search.results import Budget
from hogeq.strategies.arrays import StrategyError
from hogeq.strategies.files import read_strategy, sizes_of

pytestmark = pytest.mark.slow

CHAMPIONS = Path(__file__).parent.parent / "results" / "champions"
FOLDERS = sorted(CHAMPIONS.glob("*/manifest.json"))
BEATEN = ["huan2020", "ignore_memory", *(f"always_roll:{dice}" for dice in range(11))]


@pytest.fixture(scope="module", params=FOLDERS, ids=lambda path: path.parent.name)
def manifest(request: pytest.FixtureRequest) -> Path:
    assert isinstance(request.param, Path)
    return request.param


@pytest.fixture(scope="module")
def game(manifest: Path) -> HogEngine:
    return compile_game(rules_from({"edition": manifest.parent.name}))


@pytest.mark.parametrize(
    ("kind", "file"), [("average_policy", "policy.npz"), ("matrix", "matrix.csv")]
)
def test_the_interval_is_what_the_manifest_says(
    manifest: Path, game: HogEngine, kind: str, file: str
) -> None:
    figures = json.loads(manifest.read_text(encoding="utf-8"))["figures"][kind]
    strategy = read_strategy(manifest.parent / file, **sizes_of(game))
    counter = read_strategy(manifest.parent / f"counter_to_{Path(file).stem}.csv", **sizes_of(game))
    most = max(figures["attack"], figures.get("known", 0.0))
    assert win_rate(game, counter, strategy).win_rate == pytest.approx(most, abs=1e-10)
    assert full_memory_bound(game, strategy) == pytest.approx(figures["bound"], abs=1e-10)
    effort, seeds, kicks = figures["effort"], figures["seeds"], figures["kicks"]
    last_half, left, saturated = figures["saturation"].values()
    assert max(figures["found"]) == max(seeds.values()) == figures["attack"]
    assert figures["attack_without_kicks"] <= figures["attack"]
    assert len(figures["found"]) == effort["starts"] >= 16
    assert seeds[str(effort["seed"])] == figures["attack"]
    assert kicks.keys() == seeds.keys()
    assert kicks[str(effort["seed"])] == effort["kicks"]
    assert effort["kicks"] >= 40
    assert max(kicks.values()) >= 320
    assert len(seeds) > 1
    assert 0.0 <= last_half <= left
    assert saturated == (left < 3e-4)
    assert config_from(figures["config"]).rules == game.rules


def test_the_mixture_is_what_the_manifest_says() -> None:
    found = sorted(file.parent.name for file in CHAMPIONS.glob("*/mixture.npz"))
    assert found == sorted(solved.editions("champion:mixture")) == ["su20", "su21"]
    for edition in found:
        game = compile_game(rules_from({"edition": edition}))
        folder = CHAMPIONS / edition
        figures = json.loads((folder / "manifest.json").read_text("utf-8"))["figures"]["mixture"]
        mixture = solved.shipped("champion:mixture")(game)
        counter = read_strategy(folder / "counter_to_mixture.csv")
        won = win_rate(game, counter, mixture).win_rate
        assert won == pytest.approx(figures["attack"], abs=1e-10)
        assert upper_bound(game, mixture) == pytest.approx(figures["bound"], abs=1e-10)
        assert (folder / "mixture.npz").stat().st_size < 2 * 2**20


def test_an_attack_begins_with_the_counter_that_is_shipped(manifest: Path) -> None:
    figures = json.loads(manifest.read_text(encoding="utf-8"))["figures"]
    game = hogeq.Hog(manifest.parent.name)
    budget = Budget(starts=1, anneal_steps=0, kicks=0)
    for name, kind in (("champion", "matrix"), ("champion:policy", "average_policy")):
        most = max(figures[kind]["attack"], figures[kind].get("known", 0.0))
        target = game.strategy(game.strategy(name).array)  # by whatever name
        assert attack(game.engine, target, budget).win_rate < most
        assert game.attack(target, budget).win_rate >= most - 1e-12
        assert solved.counters(game.engine, game.strategy(target.array[::-1])) == []


def test_an_attack_with_other_seeds_finds_little_more(manifest: Path, game: HogEngine) -> None:
    figures = json.loads(manifest.read_text(encoding="utf-8"))["figures"]["matrix"]
    found = attack(
        game,
        read_strategy(manifest.parent / "matrix.csv", **sizes_of(game)),
        Budget(starts=2, seed=31, kicks=0),
    )
    assert found.win_rate <= figures["attack"] + 2e-3


def test_the_matrix_beats_what_has_a_name(manifest: Path, game: HogEngine) -> None:
    matrix = read_strategy(manifest.parent / "matrix.csv", **sizes_of(game))
    edition = manifest.parent.name
    names = BEATEN if edition == "su20" else BEATEN[1:]
    rates = {name: win_rate(game, matrix, builtin(name, game)).win_rate for name in names}
    # In fa13 a matrix cannot mix, so what is least exploitable loses to some: to ignore_memory.
    least = {"su20": 0.515, "su21": 0.515, "fa13": 0.475}.get(edition, 0.5)
    assert min(rates.values()) > least, rates
    assert rates.get("huan2020", 1.0) > 0.52


# --- their names ----------------------------------------------------------------------------------


def uncompiled(rules: Rules) -> HogEngine:
    shape = rules.size, rules.size, rules.num_actions
    known = SimpleNamespace(
        rules=rules,
        goal=rules.size,
        num_actions=rules.num_actions,
        choices=rules.choices,
        shape=shape,
        has_scores=True,
    )
    return cast("HogEngine", known)


@pytest.mark.parametrize(
    ("name", "file"), [("champion", "matrix.csv"), ("champion:policy", "policy.npz")]
)
def test_a_champion_has_a_name(manifest: Path, name: str, file: str) -> None:
    edition = manifest.parent.name
    kept = read_strategy(manifest.parent / file, **sizes_of(uncompiled(EDITIONS[edition])))
    renamed = replace(EDITIONS[edition], name="the same, written out in a file")
    for rules in (EDITIONS[edition], renamed):
        assert np.array_equal(find_strategy(name, uncompiled(rules)), kept)
    assert edition in solved.about(name)


@pytest.mark.parametrize(
    ("rules", "name", "says"),
    [
        ({"edition": "sp19"}, "champion:mixture", "no mixture is shipped for sp19; allowed: su20"),
        ({"edition": "sp14"}, "champion:mixture", "shipped for fa13, sp14, su14; allowed: su20, "),
        ({"edition": "fa18", "goal": 50}, "champion", "for fa18 with goal=50; allowed: su20, "),
        ({"edition": "su20", "swap": "none"}, "champion", "su21.*, with no part or size changed$"),
        ({"edition": "su20"}, "champion:mean", "as champion or champion:policy or champion:mix"),
    ],
)
def test_rules_without_a_champion_say_so(rules: dict[str, object], name: str, says: str) -> None:
    with pytest.raises(StrategyError, match=says) as caught:
        builtin(name, uncompiled(rules_from(rules)))
    assert "\n" not in str(caught.value)


def test_where_nothing_is_hidden_the_champion_is_the_optimal_matrix(
    caplog: pytest.LogCaptureFixture,
) -> None:
    game = compile_game(rules_from({"edition": "fa25", "goal": 12, "max_dice": 3}))
    for name in ("champion", "champion:policy", "champion:mixture"):
        assert np.array_equal(builtin(name, game), builtin("optimal", game))
    said = "hogeq: champion: nothing is hidden by these rules, so it is the optimal matrix"
    assert caplog.messages[0] == said


def test_one_line_makes_the_file_to_submit(
    in_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", "champion", "--rules", "su20", "--player-name", "Me"]) == 0
    assert "written to final_strategy.py" in capsys.readouterr().out
    submitted = in_folder / "final_strategy.py"
    source = submitted.read_text(encoding="utf-8")
    assert "PLAYER_NAME = 'Me'" in source
    assert not [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import)]
    kept = read_strategy(CHAMPIONS / "su20" / "matrix.csv")
    assert np.array_equal(read_strategy(submitted, trust=True), kept)


def test_the_report_plays_against_the_champion(game: HogEngine) -> None:
    assert "champion" in [entry.name for entry in page.entries(hogeq.Hog(game.rules), ())]
