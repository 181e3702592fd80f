import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from hogeq.baselines.registry import BASELINES, baseline, builtin, find_strategy, names
from hogeq.rules import EDITIONS, Rules, rules_from
from hogeq.strategies.arrays import StrategyError
from hogeq.support.aliases import Matrix
from tests.baselines.small_games import rules_only as game

if TYPE_CHECKING:
    from hogeq.model.game import HogEngine


SU20 = game(EDITIONS["su20"])


def test_always_roll() -> None:
    assert np.array_equal(builtin("always_roll:6", SU20), np.full((100, 100), 6))
    assert np.array_equal(builtin("always_roll: 0", SU20), np.zeros((100, 100)))


def test_builtins_give_valid_matrices_in_every_edition() -> None:
    samples = [one.partition(":")[0] + ":5,6" for one in names() if one.endswith(":THRESHOLD,N")]
    for edition in EDITIONS:
        small = rules_from({"edition": edition, "goal": 12, "max_dice": 6})
        for spec in ["always_roll:2", "bacon:5,2", "swap:5,2", "hog_wild_heuristic", *samples]:
            assert builtin(spec, game(small)).kind == "matrix"


def test_bacon_by_hand() -> None:
    # su20: 10 - ones + tens points for rolling none.
    matrix = builtin("bacon:12,5", SU20).array
    points = np.array([10 - o % 10 + o // 10 for o in range(100)])
    assert np.array_equal(matrix, np.tile(np.where(points >= 12, 0, 5), (100, 1)))


def test_swap_by_hand() -> None:
    # su20 swaps if the ones digits differ by the opponent's tens digit.
    matrix = builtin("swap:9,6", SU20).array
    # Against 25, 0 dice score 7. From 6: 13 and 25, |3 - 5| = 2, a swap that helps.
    assert matrix[6, 25] == 0
    # From 26: 33, ones digits 3 and 5, a swap that hurts; 7 points would not do anyway.
    assert matrix[26, 25] == 6
    # Against 20, 0 dice score 12. From 30: 42, |2 - 0| = 2: 12 points, but a swap that hurts.
    assert matrix[30, 20] == 6
    # From 31: 43, |3 - 0| is not 2: no swap, and 12 points are enough.
    assert matrix[31, 20] == 0
    # Against 28, 0 dice score 4. From 30: 34, |4 - 8| is not 2: no swap, and too few points.
    assert matrix[30, 28] == 6


def test_without_a_swap_in_the_rules_swap_is_bacon() -> None:
    fa22 = game(EDITIONS["fa22"])
    assert np.array_equal(builtin("swap:9,5", fa22), builtin("bacon:9,5", fa22))


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("alway_roll:6", r"unknown name.*; nearest: always_roll$"),
        ("", "unknown name"),
        ("always_roll", "0 parameters given.*always_roll:N"),
        ("always_roll:", "N is ''"),
        ("always_roll:1,2", "2 parameters given"),
        ("always_roll:11", "N is 11; allowed: 0 to 10"),
        ("always_roll:-1", "N is -1; allowed: 0 to 10"),
        ("always_roll:6.0", "N is '6.0'"),
        ("always_roll:\u0661", "N is "),
        ("always_roll:" + "9" * 10_000, "N is '999"),
        ("bacon:8", "1 parameters given.*bacon:CUTOFF,N"),
        ("bacon:x,5", "CUTOFF is 'x'"),
        ("nonsense\n" * 3, "unknown name"),
    ],
)
def test_a_bad_name_is_refused_in_one_line(spec: str, says: str) -> None:
    with pytest.raises(StrategyError, match=says) as caught:
        builtin(spec, SU20)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("spec", "of", "says"),
    [
        ("always_roll:3", SU20.rules, "^game: got Rules.*; allowed: a Game"),
        (None, SU20, "^spec: got None; allowed: the name of a strategy"),
        (SU20, "always_roll:3", "^spec: got .*; allowed: the name of a strategy"),
    ],
)
def test_a_name_and_a_game_stand_in_their_places(spec: Any, of: Any, says: str) -> None:
    with pytest.raises(TypeError, match=says):
        builtin(spec, of)


@pytest.mark.usefixtures("registries")
def test_names_list_what_can_be_registered() -> None:
    @baseline("middle:A,B", "the mean of A and B")
    def middle(of: "HogEngine", low: int, high: int) -> Matrix:
        return np.full((of.goal, of.goal), (low + high) // 2, np.int8)

    assert names()["middle:A,B"] == "the mean of A and B"
    assert names()["always_roll:N"]
    assert np.array_equal(builtin("middle:-2,8", SU20), np.full((100, 100), 3))


@pytest.mark.usefixtures("registries")
def test_all_names_are_shown_with_a_line_each() -> None:
    lines = repr(BASELINES).splitlines()
    assert lines == [f"{usage}: {text}" for usage, text in names().items()]
    assert "always_roll:N: roll N dice, whatever the scores" in lines


def test_a_baseline_that_cannot_be_one() -> None:
    def rolls(of: "HogEngine", dice: int) -> Matrix:
        return np.full((of.goal, of.goal), dice, np.int8)

    for usage, make, why in (
        ("swap:CUTOFF,N", rolls, "a function of a game and 2 whole numbers"),
        ("two dice:N", rolls, "baseline: got 'two dice'; allowed: a name of 1 to 60 letters"),
        ("bacon:N", rolls, "baseline bacon: name is taken"),
        ("new:N", 3, "baseline 'new:N': got 3; allowed: a function of a game and 1 whole numbers"),
    ):
        with pytest.raises(ValueError, match=re.escape(why)):
            baseline(usage, "")(make)  # type: ignore[type-var]
    assert "new:N" not in names()


def test_a_strategy_is_a_name_or_a_file(tmp_path: Path) -> None:
    small = game(Rules(goal=2, max_dice=4))
    path = tmp_path / "m.json"
    path.write_text(json.dumps([[0, 1], [2, 4]]))
    assert find_strategy(str(path), small).array.tolist() == [[0, 1], [2, 4]]
    assert find_strategy("always_roll:3", small).array.tolist() == [[3, 3], [3, 3]]
    with pytest.raises(StrategyError, match=r"nearest: always_roll.*\.csv, "):
        find_strategy("alwaysroll:3", small)
    with pytest.raises(StrategyError, match="cannot be read: No such file"):
        find_strategy(str(tmp_path / "missing.csv"), small)
    (tmp_path / "mat.pickle").write_bytes(b"table")
    with pytest.raises(StrategyError, match="pickles are refused"):
        find_strategy(str(tmp_path / "mat.pickle"), small)
