"""Figures of the games of 2012 to 2018 that others published, or that a program of its own gave.

The sources are those of docs/sources.md: [6], and an evaluator written from the rules alone.
"""

from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.contest.submission import inspect_submission
from hogeq.rules import EDITIONS
from hogeq.strategies.arrays import StrategyError


def entry_of_2013(score: int, opponent: int) -> int:
    """Roll as an entry of spring 2013 does, whose author says: 64.2 % against always 5."""
    total = score + opponent
    tied, wild = total % 10 == 7, total > 0 and total % 7 == 0
    bacon = 1 + opponent // 10
    bacon += bacon // 6 if bacon % 6 == 0 else 0
    after = total + bacon
    pays = (tied and bacon >= 4) or (wild and bacon >= 5) or (tied and wild and bacon >= 3)
    harms = after % 10 == 7 or after % 7 == 0 or score + bacon == 49
    if score == 49:
        return 49
    if score + bacon >= 100 or (opponent <= 95 and (pays or harms)):
        return 0
    if wild:
        return 4
    if score == 48 or (opponent >= 90 and opponent - score >= 42):
        return 10
    return 6 if opponent - score >= 10 else 5


TABLE = [[entry_of_2013(score, opponent) for opponent in range(100)] for score in range(100)]


@pytest.mark.parametrize(
    ("rules", "value", "first_roll"),
    [
        ("hog12", 0.5132475100074733, 2),
        ({"edition": "hog12", "touchdown": False, "prime_boost": False}, 0.5025754066588553, 5),
        ("fa14", 0.49951430657121343, 4),
    ],
)
def test_values_and_first_rolls(rules: Any, value: float, first_roll: int) -> None:
    game = hogeq.Game(rules)
    assert game.tablebase().value == pytest.approx(value, abs=1e-12)
    assert game.analyze(0, 0).rolls[0].dice == first_roll


@pytest.mark.slow
def test_five_dice_against_four_in_summer_2017() -> None:
    rate = hogeq.Game("su17").win_rate("always_roll:5", "always_roll:4").win_rate
    assert rate == pytest.approx(0.4972588933458396, abs=1e-12)


def test_the_entry_of_2013_wins_as_often_as_its_author_says(tmp_path: Any) -> None:
    """It asks for 49 dice at 49 points: as many as are allowed are rolled."""
    path = tmp_path / "entry.csv"
    path.write_text("\n".join(",".join(map(str, row)) for row in TABLE))
    game = hogeq.Game("sp13")
    rate = game.win_rate(game.strategy(str(path)), "always_roll:5").win_rate
    assert rate == pytest.approx(0.6424949390401937, abs=1e-12)
    looked_at = inspect_submission(path, EDITIONS["sp13"])
    assert looked_at.strategy is not None
    np.testing.assert_array_equal(looked_at.strategy.array, np.minimum(TABLE, 10))


def test_more_dice_than_the_most_are_refused_where_nothing_cuts_them(tmp_path: Any) -> None:
    path = tmp_path / "entry.csv"
    path.write_text("\n".join(",".join(map(str, row)) for row in TABLE))
    with pytest.raises(StrategyError, match=r"\(row 49, column 0\) is 49; allowed: .* 0 to 10"):
        hogeq.Game("hw13").strategy(str(path))
    path.write_text("\n".join(",".join(["1001"] * 100) for _ in range(100)))
    with pytest.raises(StrategyError, match=r"is 1001; allowed: whole numbers from 0 to 1000"):
        hogeq.Game("sp13").strategy(str(path))


@pytest.mark.parametrize("answer", ["49", "10", "11"])
def test_code_may_ask_for_more_dice_where_they_are_cut(tmp_path: Any, answer: str) -> None:
    path = tmp_path / "entry.py"
    path.write_text(f"def final_strategy(score, opponent_score):\n    return {answer}\n")
    looked_at = inspect_submission(path, EDITIONS["hog12"], trust=True)
    assert looked_at.strategy is not None
    assert (looked_at.strategy.array == 10).all()
    always = hogeq.Game("hog12")
    ten = always.strategy("always_roll:10")
    assert always.win_rate(looked_at.strategy, ten).win_rate == pytest.approx(0.5, abs=1e-12)
