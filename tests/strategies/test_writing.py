import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import hogeq
from hogeq.strategies.arrays import StrategyError
from hogeq.strategies.conversion import strategy_of_shape
from hogeq.strategies.files import read_strategy
from hogeq.strategies.writing import WRITTEN, contest_code
from tests.strategies.strategy_files import MATRIX, file, in_one_folder


@settings(in_one_folder, max_examples=40)
@given(st.data(), st.sampled_from([suffix for suffix in WRITTEN if suffix != ".py"]))
def test_matrices_come_back(tmp_path: Path, data: st.DataObject, suffix: str) -> None:
    goal, dice = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 50))
    matrix = data.draw(hnp.arrays(np.int8, (goal, goal), elements=st.integers(0, dice)))
    path = tmp_path / f"matrix{suffix}"
    strategy_of_shape(None, matrix).write(path)
    back = read_strategy(path, goal, dice)
    assert back.array.dtype == np.int8
    assert np.array_equal(back, matrix)


@settings(in_one_folder, max_examples=40)
@given(
    st.integers(0, 2**32),
    st.sampled_from([".npy", ".npz"]),
    st.integers(1, 9),
    st.sampled_from([0, -1]),
)
def test_policies_come_back(tmp_path: Path, seed: int, suffix: str, goal: int, least: int) -> None:
    policy = np.random.default_rng(seed).dirichlet(np.ones(goal + 1 - least) / 3, (goal, goal))
    path = tmp_path / f"policy{suffix}"
    strategy_of_shape(None, policy).write(path)
    back = read_strategy(path, goal, goal, least=least)
    assert back.array.dtype == np.float64
    assert np.array_equal(back, policy)


@pytest.mark.parametrize("suffix", [*WRITTEN, ".NPY", ".NPZ"])
def test_a_whole_game_comes_back(tmp_path: Path, suffix: str) -> None:
    matrix = np.random.default_rng(1).integers(0, 11, (100, 100))
    name = "someone" if suffix == ".py" else None
    strategy_of_shape(None, matrix).write(tmp_path / f"m{suffix}", name)
    assert np.array_equal(read_strategy(tmp_path / f"m{suffix}", trust=True), matrix)


def test_a_matrix_file_is_lines_of_integers(tmp_path: Path) -> None:
    strategy_of_shape(None, MATRIX).write(tmp_path / "m.csv")
    assert (tmp_path / "m.csv").read_text() == "0,1,2,3\n4,5,6,7\n8,9,10,11\n12,0,0,1\n"


def test_a_policy_is_not_written_as_text(tmp_path: Path) -> None:
    policy = np.full((2, 2, 2), 0.5)
    for suffix in [".csv", ".txt", ".json", ".py"]:
        with pytest.raises(StrategyError, match=r"policy can be written to \.npz"):
            strategy_of_shape(None, policy).write(tmp_path / f"p{suffix}")
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_valid_is_not_written(tmp_path: Path) -> None:
    path = file(tmp_path, "m.csv", "before")
    with pytest.raises(StrategyError, match=r"cell \(row 0, column 1\) is -1"):
        strategy_of_shape(None, np.array([[0, -1], [0, 0]])).write(path)
    with pytest.raises(StrategyError, match=r"cell \(row 0, column 1\) is one too many"):
        strategy_of_shape(None, MATRIX[:1]).write(path)
    with pytest.raises(StrategyError, match=r"suffix '\.xls'"):
        strategy_of_shape(None, MATRIX).write(tmp_path / "m.xls")
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = file(tmp_path, "m.csv", "before")

    def no_space(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(OSError, match="No space"):
        strategy_of_shape(None, MATRIX).write(path)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


# --- the file for the contest ---------------------------------------------------------------------


@pytest.mark.parametrize("least", [0, -1])
@pytest.mark.parametrize("most", [9, 10, 35, 36, 50])
def test_the_contests_file_answers_every_cell(most: int, least: int) -> None:
    matrix = np.random.default_rng(most).integers(least, most + 1, (100, 100))
    matrix[0, 0] = least
    matrix[99, 99] = most
    source = contest_code(matrix.astype(np.int8), "Hog \"'\\\n{x} \u00fc")
    assert "import" not in source
    namespace: dict[str, Any] = {}
    exec(source, namespace)  # noqa: S102 - as the contest does
    assert namespace["PLAYER_NAME"] == "Hog \"'\\\n{x} \u00fc"
    answers = [[namespace["final_strategy"](s, o) for o in range(100)] for s in range(100)]
    assert answers == matrix.tolist()
    assert {type(dice) for row in answers for dice in row} == {int}


@pytest.mark.parametrize("player_name", ["", "  \n", None, 5, "\ud800"])
def test_a_player_needs_a_name(player_name: Any, tmp_path: Path) -> None:
    with pytest.raises(StrategyError, match="player name"):
        contest_code(MATRIX, player_name)
    with pytest.raises(StrategyError, match="player name"):
        strategy_of_shape(None, MATRIX).write(tmp_path / "final_strategy.py", player_name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "thing", [None, 3, "0000", [], [1, 2], [[1, 2], [3]], np.zeros((0, 0)), np.zeros((0, 0, 3))]
)
def test_what_is_no_table_is_not_written(tmp_path: Path, thing: Any) -> None:
    for path in (tmp_path / "m.csv", tmp_path / "m.npy"):
        with pytest.raises(StrategyError, match="allowed: "):
            strategy_of_shape(None, thing).write(path)
    assert not list(tmp_path.iterdir())


def test_a_name_of_a_player_that_no_table_holds(tmp_path: Path) -> None:
    game = hogeq.Game({"edition": "fa22", "goal": 6, "max_dice": 2})
    with pytest.raises(StrategyError, match=r"player_name: got 'Me'; allowed: for a \.py alone"):
        game.strategy("always_roll:2").write(tmp_path / "me.csv", "Me")
    assert not (tmp_path / "me.csv").exists()
