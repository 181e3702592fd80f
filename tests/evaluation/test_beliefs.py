"""Distributions over the hidden memory."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.baselines.delta import over_seats
from hogeq.evaluation.hidden import fold, total_variation
from hogeq.rules import EDITIONS
from hogeq.rules.memory import all_memories, axes


@pytest.mark.parametrize("edition", EDITIONS)
def test_folding_sums_over_what_has_no_axis(edition: str) -> None:
    rules = EDITIONS[edition]
    memories = all_memories(rules)
    shares = np.random.default_rng(0).dirichlet(np.ones(len(memories)), 3)
    folded = fold(rules, shares)
    assert folded.shape == (3, *(len(axis.ticks) for axis in axes(rules)))
    want = np.zeros_like(folded)
    remembers_records = rules.feral_hogs != "none"
    for index, memory in enumerate(memories):
        at = (memory.own, memory.opponent) if remembers_records else (memory.turn, memory.extra)
        want[:, *at] += shares[:, index]
    assert folded == pytest.approx(want, abs=1e-15)


class Parity(hogeq.MemoryPart):
    """An extra turn for two dice after an odd number of them."""

    start = 0
    text = "were the dice rolled last odd?"

    def update(self, value: Any, dice: int, points: int, again: bool) -> Any:
        del value, points, again
        return dice % 2

    def again(self, value: Any, dice: int) -> bool:
        return value == 1 and dice == 2


@pytest.mark.usefixtures("registries")
@pytest.mark.parametrize("period", [None, 1, 3])
@pytest.mark.parametrize("shape", [(), (2,), (2, 3)])
def test_what_a_part_remembers_is_folded_by_turn_or_by_extra_turn(
    period: int | None, shape: tuple[int, ...]
) -> None:
    hogeq.rule_part("memory")(Parity)
    trot: dict[str, Any] = {"time_trot": True, "time_trot_period": period} if period else {}
    rules = hogeq.Rules(goal=9, max_dice=2, memory="Parity", extra_turn_sides=8, **trot)
    memories = all_memories(rules)
    shares = np.random.default_rng(0).dirichlet(np.ones(len(memories)), shape)
    folded = fold(rules, shares)
    assert folded.shape == (*shape, *(len(axis.ticks) for axis in axes(rules)))
    assert folded.shape == (*shape, 2, 3 if period == 3 else 2)
    want = np.zeros_like(folded)
    for index, memory in enumerate(memories):
        want[..., memory.state, memory.turn if period == 3 else memory.extra] += shares[..., index]
    assert folded == pytest.approx(want, abs=1e-15)


@pytest.mark.parametrize("shape", [(), (2,), (2, 3)])
def test_distributions_of_any_number_are_folded_one_by_one(shape: tuple[int, ...]) -> None:
    rules = replace(EDITIONS["su20"], max_dice=2, time_trot=True, time_trot_period=3)
    shares = np.random.default_rng(0).dirichlet(np.ones(len(all_memories(rules))), shape)
    folded = fold(rules, shares)
    for at in np.ndindex(*shape):
        assert np.array_equal(folded[at], fold(rules, shares[at]))
        assert folded[at].sum() == pytest.approx(1.0)


def test_seats_count_alike_where_both_have_weight() -> None:
    weights = np.array([[[2.0, 2.0], [1.0, 0.0], [0.0, 0.0]], [[0.0, 5.0], [0.0, 0.0], [0.0, 0.0]]])
    assert over_seats(weights).tolist() == [[0.25, 0.75], [1.0, 0.0], [0.0, 0.0]]


def test_total_variation_by_hand() -> None:
    assert total_variation([[1.0, 0.0], [0.5, 0.5]], [[0.0, 1.0], [0.25, 0.75]]).tolist() == [
        1.0,
        0.25,
    ]
