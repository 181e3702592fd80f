"""Which rolls can be played where, as the search for recurring positions takes it."""

from itertools import product

import numpy as np
import pytest

from hogeq.model.components import _modes, _plain_rolls
from hogeq.model.game import compile_game
from hogeq.rules import rules_from


@pytest.mark.parametrize("hog_wild", [False, True])
@pytest.mark.parametrize("feral_hogs", ["points", "dice"])
def test_rolls_without_a_bonus_are_those_of_any_memory(feral_hogs: str, hog_wild: bool) -> None:
    """With Time Trot, some rolls bring an extra turn in memories other than the first alone."""
    game = compile_game(
        rules_from(
            {
                "goal": 8,
                "max_dice": 3,
                "sides": 4,
                "feral_hogs": feral_hogs,
                "time_trot": True,
                "hog_wild": hog_wild,
            }
        )
    )
    tables = game.tables
    situations, num_actions = tables.default_mode.shape
    expected = np.zeros((situations, num_actions, len(tables.plane_dice)), bool)
    memories = range(tables.dimensions.active_memories)
    for place, memory, lane in product(range(situations), memories, range(len(tables.lane))):
        cell = np.flatnonzero(tables.situation.ravel() == place)[:1]
        (modes,) = _modes(tables, cell, np.array([memory]), np.array([lane]))
        for roll, mode in enumerate(modes):
            if not tables.mode_bonus[mode]:
                expected[place, roll, tables.mode_plane[mode]] = True
    np.testing.assert_array_equal(_plain_rolls(tables), expected)
