"""Gains of cells: what lists of them take and refuse."""

from typing import Any

import numpy as np
import pytest

from hogeq.model.game import compile_game
from hogeq.rules import rules_from
from hogeq.search.gains import gains, largest_gains
from hogeq.strategies.arrays import one_hot
from hogeq.strategies.strategy import strategy_of

GAME = compile_game(rules_from({"edition": "su20", "goal": 8, "max_dice": 3}))
COUNTER = np.random.default_rng(0).integers(0, 4, (8, 8)).astype(np.int8)
FOUND = gains(GAME, COUNTER, np.full((8, 8), 2))


@pytest.mark.parametrize("counter", [COUNTER.tolist(), one_hot(COUNTER, 4), COUNTER * 1.0])
def test_counters_are_given_as_gains_takes_them(counter: Any) -> None:
    np.testing.assert_array_equal(gains(GAME, counter, np.full((8, 8), 2)).gains, FOUND.gains)
    assert largest_gains(FOUND, strategy_of(GAME, counter)) == largest_gains(FOUND, COUNTER)
    assert largest_gains(FOUND, COUNTER, 0) == []


@pytest.mark.parametrize(
    ("counter", "count", "says"),
    [
        (COUNTER, -3, r"^count: got -3; allowed: whole numbers from 0$"),
        (COUNTER, 2.0, r"^count: got 2\.0; allowed"),
        (COUNTER, True, r"^count: got True; allowed"),
        (COUNTER[:7, :7], 3, r"^counter: shape is \(7, 7\); allowed: \(8, 8\)"),
        (COUNTER[0], 3, r"^counter: shape is \(8,\); allowed"),
    ],
)
def test_what_gives_no_list_of_cells(counter: Any, count: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        largest_gains(FOUND, counter, count)


def test_gains_are_shown_in_a_line() -> None:
    assert repr(FOUND) == f"Gains(8 x 8 cells, of which one gains at most {FOUND.gains.max():.3g})"
