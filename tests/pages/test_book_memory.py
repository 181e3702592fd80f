"""Reasons for rolls where a part of the rules remembers something of its own."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.evaluation.tablebase import solve
from hogeq.model.game import compile_game
from hogeq.pages.book import turn_values
from hogeq.rules.memory import remembered
from hogeq.rules.rules import points_distribution, zero_points
from hogeq.rules.turn import land

pytestmark = pytest.mark.usefixtures("registries")


class LastPoints(hogeq.MemoryPart):
    """2 more points after a turn of prime points."""

    text = "points of the last turn"
    start = 0

    def update(self, value: Any, dice: int, points: int, again: bool) -> Any:
        del value, dice, again
        return min(points, 12)

    def bonus(self, value: Any, dice: int) -> int:
        del dice
        return 2 if value in {2, 3, 5, 7, 11} else 0


def test_a_turn_without_a_rule_remembers_as_the_game_does() -> None:
    """Without Prime Boost turns have other points, so that values have other numbers."""
    hogeq.rule_part("memory")(LastPoints)
    rules = hogeq.Rules(goal=20, max_dice=3, prime_boost=True, memory="LastPoints")
    game, without = compile_game(rules), replace(rules, prime_boost=False)
    values, known = solve(game).values, remembered(rules).values
    assert known != remembered(without).values
    random = np.random.default_rng(4)
    memories = random.integers(game.memory_size, size=(20, 20))
    found = turn_values(game, values, memories, without)
    part, checked = LastPoints(), 0
    for own, other, dice in product(range(0, 20, 3), range(0, 20, 2), range(4)):
        value = known[game.memories[memories[own, other]].state]
        points = {zero_points(without, own, other): Fraction(1)}
        if dice:
            points = dict(points_distribution(without, dice, 6))
        if not {part.update(value, dice, one, False) for one in points} <= set(known):
            continue
        want = 0.0
        for one, chance in points.items():
            end = land(without, own + one + part.bonus(value, dice), other)
            after = known.index(part.update(value, dice, one, end.again))
            goes_on = 1.0 - values[min(end.opponent, 19), min(end.score, 19), after]
            want += float(chance) * (goes_on if end.winner is None else end.winner == 0)
        assert found[own, other, dice] == pytest.approx(want, abs=1e-12)
        checked += 1
    assert checked > 100
