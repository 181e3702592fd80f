"""Hog Wild!, players that are optimal with full memory, and commands about baselines."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from hogeq.baselines import full_memory, hog_wild_heuristic, optimal
from hogeq.baselines.registry import builtin
from hogeq.baselines.simple import always_roll
from hogeq.evaluation.tablebase import solve
from hogeq.evaluation.values import belief, win_rate
from hogeq.model.game import compile_game
from hogeq.rules import EDITIONS
from hogeq.strategies.arrays import StrategyError
from tests.baselines.small_games import SMALL, game
from tests.cli.calls import ask

# --- Hog Wild! ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_hog_wild_wins_what_its_author_says() -> None:
    of = compile_game(EDITIONS["hw13"])
    matrix = hog_wild_heuristic(of)
    rate = win_rate(of, matrix, always_roll(of, 5)).win_rate
    assert rate == pytest.approx(0.605, abs=5e-4)  # Hog Wild! [2]


@pytest.mark.parametrize(
    ("own", "opponent", "dice"),
    [
        # Nothing to adjust. Six-sided: 6 dice score 8.70, the most. Four-sided (the sum is 7): 4
        # dice score 4.48, and no dice 5.
        (10, 6, 6),
        (3, 4, 0),
        # Swaps that help. 31 is half of 62: 7 points away, which no dice score for sure; 1 away,
        # which 10 dice score with probability 0.84. 45 is half of 90, the sum calls for four-sided
        # dice, and 2 points away is worth 45 / 4 = 11.25; no dice are worth 10.
        (24, 62, 0),
        (30, 62, 10),
        (43, 90, 1),
        # Four-sided dice for the opponent: no dice make 70 and are worth 6 + 4.25; 1 point makes
        # 63, and 10 dice are worth 7.30 + 0.84 * 4.25.
        (10, 54, 0),
        (8, 54, 10),
        # Twice the points of no dice: 100; 99; 100, which is twice 50 and swaps.
        (92, 30, 0),
        (91, 30, 6),
        (88, 50, 6),
    ],
)
def test_hog_wild_by_hand(own: int, opponent: int, dice: int) -> None:
    assert hog_wild_heuristic(compile_game(EDITIONS["hw13"]))[own, opponent] == dice


# --- optimal players ------------------------------------------------------------------------------


def test_full_memory_is_a_matrix_where_there_is_none() -> None:
    of = game({"edition": "fa22", "goal": 12, "max_dice": 3})
    assert np.array_equal(full_memory(of), optimal(of))
    with pytest.raises(StrategyError, match=r"'full_memory': remembers.*allowed in compare"):
        full_memory(game(SMALL))


# --- commands -------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.yaml").write_text(json.dumps(SMALL))
    return tmp_path


def test_compare_with_full_memory(folder: Path) -> None:
    of = game(SMALL)
    want = solve(of).against(builtin("swap:3,2", of))
    arguments = ("--rules", "small.yaml")
    found = ask("compare", "full_memory", "swap:3,2", *arguments)
    assert [found[name] for name in want._fields] == list(want)
    assert found["win_rate"] > 0.5
    back = ask("compare", "swap:3,2", "full_memory", *arguments)
    assert back["win_rate"] == pytest.approx(1 - want.win_rate, abs=1e-15)
    assert back["first"] == pytest.approx(1 - want.second, abs=1e-15)
    own = ask("compare", "full_memory", "full_memory", *arguments)
    assert own["win_rate"] == 0.5
    assert own["first"] == pytest.approx(solve(of).value, abs=1e-15)
    # Without memory it is any other strategy.
    own = ask("compare", "full_memory", "always_roll:5", "--rules", "hw13")
    assert own["win_rate"] == pytest.approx(0.7208103567, abs=5e-11)  # [8]


def test_beliefs_are_drawn(folder: Path) -> None:
    of = game(SMALL)
    matrix, against = always_roll(of, 2), always_roll(of, 1)
    truth = belief(of, matrix, against, 9, 8)
    assert truth is not None
    position = ["--score", "9", "--opponent", "8", "--rules", "small.yaml", "--plot", "b.png"]
    found = ask("beliefs", "always_roll:2", *position, "--against", "always_roll:1")
    table = {
        (one["own_last"], one["opponent_last"]): one["probability"] for one in found["memories"]
    }
    shares = [table.get((memory.own, memory.opponent), 0.0) for memory in of.memories]
    assert shares == truth.tolist()
    with Image.open(folder / "b.png") as image:
        assert image.format == "PNG"


def test_beliefs_where_turns_do_not_alternate(folder: Path) -> None:
    found = ask("beliefs", "always_roll:5", "--score", "40", "--opponent", "42", "--rules", "su21")
    assert set(found["memories"][0]) == {"turn", "extra", "probability"}
