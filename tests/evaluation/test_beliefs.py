"""Distributions over the hidden memory."""

from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.evaluation.values import fold
from hogeq.rules import EDITIONS
from hogeq.rules.memory import all_memories, axes


class Parity(hogeq.MemoryPart):
    """An extra turn for two dice after an odd number of them."""

    start = 0
    text = "were the dice rolled last odd?"

    def update(self, value: Any, dice: int, points: int, again: bool) -> Any:
        del value, points, again
        return dice % 2

    def effect(self, rules: Any, score: int, opponent: int, memory: Any, dice: int) -> Any:
        del rules, score, opponent
        return 0, memory == 1 and dice == 2


FOLDED: dict[str, dict[str, Any]] = {
    **{name: {"edition": name} for name in EDITIONS},
    "records and turns": {"feral_hogs": "points", "time_trot": True, "time_trot_period": 3},
    "a part": {"memory": "Parity", "extra_turn_sides": 8},
    "a part with turns": {"memory": "Parity", "time_trot": True, "time_trot_period": 3},
    "a part with extra turns": {"memory": "Parity", "time_trot": True, "time_trot_period": 1},
}


@pytest.mark.usefixtures("registries")
@pytest.mark.parametrize("name", FOLDED)
def test_folding_sums_over_what_has_no_axis(name: str) -> None:
    hogeq.rule_part("memory")(Parity)
    rules = hogeq.rules_from({"goal": 9, "max_dice": 2, **FOLDED[name]})
    memories = all_memories(rules)
    shares = np.random.default_rng(0).dirichlet(np.ones(len(memories)), (2, 3))
    folded = fold(rules, shares)
    assert folded.shape == (2, 3, *(len(axis.ticks) for axis in axes(rules)))
    want = np.zeros_like(folded)
    for index, memory in enumerate(memories):
        at = (memory.turn, memory.extra)
        if rules.feral_hogs != "none":
            at = (memory.own, memory.opponent)
        elif rules.memory != "none":
            at = (memory.state, memory.turn if "with turns" in name else memory.extra)
        want[..., *at] += shares[..., index]
    assert folded == pytest.approx(want, abs=1e-15)
    np.testing.assert_array_equal(fold(rules, shares[1, 2]), folded[1, 2])
