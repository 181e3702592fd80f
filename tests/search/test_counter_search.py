"""Trails: searches for counters that go on while a strategy changes."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from hogeq.model.game import HogEngine, compile_game
from hogeq.rules import rules_from
from hogeq.search.counter_search import OngoingSearches
from hogeq.strategies.arrays import one_hot
from hogeq.strategies.strategy import Strategy
from tests.solvers import family


@pytest.fixture(scope="module")
def game() -> HogEngine:
    return compile_game(rules_from({"edition": "su20", "goal": 10, "max_dice": 2}))


@pytest.fixture(scope="module")
def policy(game: HogEngine) -> Any:
    solver, state = family.run(game, "dcfr", 30, regret_weight="reach", alternating=False)
    return Strategy.unchecked(solver.average(game, state))


@pytest.fixture(scope="module")
def none(game: HogEngine) -> Any:
    return np.zeros((0, game.goal, game.goal), np.int8)


def rates(game: HogEngine, matrices: Any, policy: Any) -> list[float]:
    work = game.workspace(2)
    return [
        work.win_rate(np.stack([one_hot(m, game.num_actions), policy.policy])).win_rate
        for m in matrices
    ]


def test_trails_take_turns_to_begin(game: HogEngine, policy: Any, none: Any) -> None:
    trails = OngoingSearches.to_begin(game, 3, 12)
    assert trails.kicks_left.tolist() == [-4, -8, -12]
    left = []
    for iteration in range(4):
        trails = trails.run(game, policy, none, 4, 12, (0, iteration))
        left.append(trails.kicks_left.tolist())
    assert left == [[-12, 4, 8], [8, -12, 4], [4, 8, -12], [-12, 4, 8]]


def test_a_trail_never_falls_until_it_ends(game: HogEngine, policy: Any, none: Any) -> None:
    trails, found = OngoingSearches.to_begin(game, 2, 1000), []
    for iteration in range(4):
        trails = trails.run(game, policy, none, 5, 1000, (3, iteration))
        found.append(rates(game, trails.matrices, policy))
    for before, after in pairwise(found):
        assert all(late >= soon - 1e-9 for soon, late in zip(before, after, strict=True))
    assert min(found[-1]) > 0.5


def test_a_trail_that_begins_forgets_where_it_was(game: HogEngine, policy: Any, none: Any) -> None:
    here = np.ones((1, game.goal, game.goal), np.int8)
    fresh = OngoingSearches.to_begin(game, 1, 10)
    moved = OngoingSearches(here, fresh.kicks_left)
    one, two = (each.run(game, policy, none, 3, 10, (1, 1)) for each in (fresh, moved))
    assert np.array_equal(one.matrices, two.matrices)
    on = OngoingSearches(one.matrices, one.kicks_left).run(game, policy, none, 3, 10, (1, 2))
    assert rates(game, on.matrices, policy)[0] >= rates(game, one.matrices, policy)[0] - 1e-9
