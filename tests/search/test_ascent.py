"""Ascent and annealing: where they end, and on games whose best responses are known."""

from typing import Any

import numpy as np
import pytest

from hogeq.search.ascent import UNUSED_RANDOM, SearchContext
from tests import toys


@pytest.mark.parametrize("make", [toys.pennies, toys.kuhn, toys.rooms, toys.bits])
def test_ascent_and_annealing_find_the_best_response_of_toys(make: Any) -> None:
    toy = make()
    random = np.random.default_rng(21)
    work = toy.workspace(2)
    for _ in range(5):
        target = random.dirichlet(np.ones(toy.num_actions), toy.shape[0])
        policies = np.stack([np.full(toy.shape, 1.0 / toy.num_actions), target])
        context = SearchContext(toy, None, work, policies, random)
        context.anneal(40, 0.5)
        rate, _ = context.ascend()
        assert rate == pytest.approx(toys.best_response_rate(toy, target), abs=1e-12)


def test_ascent_alone_can_stay_on_a_local_summit() -> None:
    """Who must match a forgotten first move stays at 0.5: each single change loses."""
    toy = toys.Toy(
        toys.Choice(0, 0, (toys.Choice(0, 1, (0.9, 0.2)), toys.Choice(0, 1, (0.0, 0.5))))
    )
    work = toy.workspace(2)
    target = np.array([[0.0, 1.0], [0.0, 1.0]])  # wins 0.5 whenever it has the seat that moves
    ends = {}
    for start in toys.pure_tables(toy, [0, 1]):
        policies = np.stack([start, target])
        context = SearchContext(toy, None, work, policies, UNUSED_RANDOM)
        ends[tuple(start.argmax(axis=1).tolist())] = context.ascend()[0]
    best, local = (0.9 + 0.5) / 2, (0.5 + 0.5) / 2
    assert ends == pytest.approx({(0, 0): best, (0, 1): best, (1, 0): local, (1, 1): local})
    assert toys.best_response_rate(toy, target) == best
