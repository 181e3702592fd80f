"""Distributions over the hidden memory."""

import numpy as np
import pytest

from hogeq.evaluation.beliefs import fold, over_seats, total_variation
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


def test_seats_count_alike_where_both_have_weight() -> None:
    weights = np.array([[[2.0, 2.0], [1.0, 0.0], [0.0, 0.0]], [[0.0, 5.0], [0.0, 0.0], [0.0, 0.0]]])
    assert over_seats(weights).tolist() == [[0.25, 0.75], [1.0, 0.0], [0.0, 0.0]]


def test_total_variation_by_hand() -> None:
    assert total_variation([[1.0, 0.0], [0.5, 0.5]], [[0.0, 1.0], [0.25, 0.75]]).tolist() == [
        1.0,
        0.25,
    ]
