"""The experiment that keeps champions, and attacks them anew."""

import json
from pathlib import Path

import numpy as np
import pytest

from hogeq.baselines import builtin
from hogeq.evaluation.values import win_rate
from hogeq.model.game import HogEngine, compile_game
from hogeq.rules import rules_from
from hogeq.search.attack import Saturation, SearchResult
from hogeq.search.results import Budget
from hogeq.strategies.conversion import strategy_of_shape
from hogeq.strategies.files import read_strategy
from hogeq.strategies.strategy import Strategy
from tests.running import FOLDER, Run

pytestmark = pytest.mark.slow


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> "Run":
    monkeypatch.syspath_prepend(str(FOLDER))
    return Run(tmp_path, monkeypatch)


def test_a_champion_is_kept_and_attacked_anew(table: Run, tmp_path: Path) -> None:
    effort = "--edition fa22 --starts 1 --kicks 0 --jobs 1"
    for dice in (5, 1):
        strategy_of_shape(None, np.full((100, 100), dice, np.int8)).write(
            tmp_path / f"always_{dice}.csv"
        )
    np.savez(tmp_path / "known.npz", pool=np.full((1, 100, 100), 5, np.int8))
    kept = tmp_path / "champions" / "fa22"
    first = f"--matrix {tmp_path / 'always_5.csv'} --matrix-note five --seeds 3"
    for arguments in (
        first,
        f"--matrix {tmp_path / 'always_1.csv'} --matrix-note one --seeds 4",
        f"--matrix {kept / 'matrix.csv'} --seeds 5 --counters {tmp_path / 'known.npz'}",
        f"--matrix {kept / 'matrix.csv'} --seeds 3",
    ):
        (row,) = table("champion", f"{effort} {arguments}", "champions")
        assert (read_strategy(kept / "matrix.csv").array == 5).all()
    figures = json.loads((kept / "manifest.json").read_text("utf-8"))["figures"]["matrix"]
    assert figures["kicks"] == {"3": 0, "5": 0}
    assert figures["seeds"] == pytest.approx(dict.fromkeys("35", figures["attack"]), abs=1e-12)
    assert figures["note"] == "five"
    game = compile_game(rules_from("fa22"))
    counter = read_strategy(kept / "counter_to_matrix.csv")
    won = win_rate(game, counter, builtin("always_roll:5", game)).win_rate
    assert won == pytest.approx(figures["attack"], abs=1e-12)
    assert row["attack found"] == f"{won:.6f}"
    assert row["upper bound"] == row["full memory"]
    assert won <= float(row["upper bound"]) < won + 1e-6
    assert row["known counters"] == "0.500000"


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[int, int], float]:
    """Stub of attacks: what they find by the dice that a matrix rolls, and the seed.

    Counters roll as many dice as the seed says.
    """
    rates: dict[tuple[int, int], float] = {}

    def stub(game: HogEngine, strategy: Strategy, budget: Budget) -> SearchResult:
        rate = rates[int(strategy.array[0, 0]), budget.seed]
        counter = np.full((game.goal, game.goal), budget.seed, np.int8)
        told, curve = Saturation(0.0, 1.0 - rate), ((1, rate),)
        return SearchResult(counter, rate, budget, 1, (rate,), told, {}, curve)

    monkeypatch.setattr("hogeq.search.attack.attack", stub)
    return rates


@pytest.mark.parametrize(
    ("effort", "rates", "seeds", "kicks", "strongest"),
    [
        ("--kicks 320", {3: 0.509, 4: 0.506}, {3: 0.51, 4: 0.506}, {3: 320, 4: 320}, 3),
        ("--kicks 640", {3: 0.51, 4: 0.512}, {3: 0.51, 4: 0.512}, {3: 640, 4: 640}, 4),
        # Other starts find what more kicks had not, or do not find it again.
        ("--kicks 100 --starts 64", {4: 0.512}, {3: 0.51, 4: 0.512}, {3: 320, 4: 100}, 4),
        ("--kicks 640 --starts 1", {3: 0.502}, {3: 0.51, 4: 0.505}, {3: 320, 4: 320}, 3),
    ],
)
def test_a_weaker_attack_leaves_what_a_stronger_one_found(
    table: Run,
    found: dict[tuple[int, int], float],
    effort: str,
    rates: dict[int, float],
    seeds: dict[int, float],
    kicks: dict[int, int],
    strongest: int,
) -> None:
    kept = table.out / "champions" / "fa22"
    strategy_of_shape(None, np.full((100, 100), 5, np.int8)).write(table.out / "five.csv")
    found |= {(5, 3): 0.51, (5, 4): 0.505}
    champion = "--edition fa22 --jobs 1 --matrix"
    table("champion", f"{champion} {table.out / 'five.csv'} --kicks 320 --seeds 3 4", "champions")
    found |= {(5, seed): rate for seed, rate in rates.items()}
    again = " ".join(map(str, rates))
    table("champion", f"{champion} {kept / 'matrix.csv'} {effort} --seeds {again}", "champions")
    figures = json.loads((kept / "manifest.json").read_text("utf-8"))["figures"]["matrix"]
    assert figures["seeds"] == {str(seed): rate for seed, rate in seeds.items()}
    assert figures["kicks"] == {str(seed): number for seed, number in kicks.items()}
    assert figures["attack"] == max(figures["seeds"].values()) == max(figures["found"])
    assert figures["effort"]["seed"] == strongest
    assert figures["effort"]["kicks"] == kicks[strongest]
    assert figures["saturation"]["left"] == 1.0 - figures["attack"]
    assert (read_strategy(kept / "counter_to_matrix.csv").array == strongest).all()
    least = max(kicks.values())
    with pytest.raises(SystemExit, match=f"--kicks: got {least - 1}; allowed: from {least}, "):
        table.start("champion", f"{champion} {table.out / 'five.csv'} --kicks {least - 1}")


def test_a_champion_is_worth_what_the_strongest_counter_known_leaves(
    table: Run, found: dict[tuple[int, int], float], capsys: pytest.CaptureFixture[str]
) -> None:
    kept = table.out / "champions" / "fa22" / "matrix.csv"
    for dice in (5, 6, 7, 8):
        strategy_of_shape(None, np.full((100, 100), dice, np.int8)).write(table.out / f"{dice}.csv")
    champion = f"--edition fa22 --jobs 1 --seeds 3 --matrix {table.out}"
    found |= {(5, 3): 0.501, (7, 3): 0.503, (8, 3): 0.504}
    # Six dice win 0.503934 against five, more than the attack found.
    table("champion", f"{champion}/5.csv --counters {table.out}/6.csv", "champions")
    table("champion", f"{champion}/8.csv", "champions")
    assert "champion so far: attack 0.503934" in capsys.readouterr().out
    assert (read_strategy(kept).array == 5).all()
    manifest = kept.parent / "manifest.json"
    text = manifest.read_text("utf-8")
    manifest.write_text(text.replace('"known":', '"known_effort": "hours", "known":'), "utf-8")
    table("champion", f"{champion}/8.csv", "champions")
    assert "champion so far: attack 0.501000" in capsys.readouterr().out
    manifest.write_text(text, "utf-8")
    table("champion", f"{champion}/7.csv", "champions")
    assert "champion so far: attack 0.503934" in capsys.readouterr().out
    assert (read_strategy(kept).array == 7).all()
