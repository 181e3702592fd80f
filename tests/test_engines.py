"""Every promise of the protocol, over every engine."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from hogeq.graph.graph import Graph
from hogeq.graph.hog import of_hog
from hogeq.kernels import arrays
from hogeq.model.game import HogEngine
from hogeq.model.graph_engine import GraphEngine
from hogeq.model.protocol import Engine, Role
from hogeq.model.rows import softmax
from hogeq.model.shared import quick_workspace, shared_duels, shared_workspace
from hogeq.strategies.arrays import normalised, one_hot
from hogeq.support.aliases import Floats
from hogeq.trees.engine import TreeEngine
from hogeq.trees.graphs import of_tree
from tests import toys
from tests.engines import ENGINES, InCells, drawn, engine_of, graph_of, hog
from tests.slow import mostly_slow
from tests.toy_engine import TwoNumbers

WEIGHTS = np.array([0.5, 0.2, 0.3])


TINY: dict[str, Callable[[], Any]] = {
    "graph layout": lambda: hog(HogEngine, "su20", 2, max_dice=2),
    "positions recur": lambda: hog(HogEngine, "sp22", 2, max_dice=2),
    "cells": lambda: hog(InCells, "su21", 2, max_dice=3),
    "graph": lambda: graph_of("sp22", 2, max_dice=2),
    "tree": toys.bits,
    "tree of imperfect recall": toys.forgetful_rock_paper_scissors,
}
"""So small that all matrices can be tried."""


@pytest.fixture(params=ENGINES)
def game(request: pytest.FixtureRequest) -> Any:
    return engine_of(request.param)


def rate(game: Engine, policies: Floats) -> float:
    return game.workspace(len(policies)).win_rate(policies).win_rate


# --- what the protocol says -----------------------------------------------------------------------


def test_an_engine_says_what_it_is(game: Engine) -> None:
    assert game.shape[-1] == game.num_actions
    assert isinstance(hash(game), int)
    assert game.quick_dtype() in {np.float32, np.float64}
    assert game.quick_dtype(3) in {np.float32, np.float64}
    for place, action in game.ways_to_stay(drawn(game, 2)):
        assert drawn(game, 1)[0][place].shape == (game.num_actions,)
        assert 0 <= action < game.num_actions


def test_kernels_know_the_roles_by_their_numbers() -> None:
    assert {role.name: int(role) for role in Role} == {
        name: getattr(arrays, name) for name in Role.__members__
    }


@pytest.mark.parametrize("players", [1, 2, 4])
def test_shapes_and_types(game: Engine, players: int) -> None:
    policies = drawn(game, players)
    work = game.workspace(players)
    reach = work.forward(policies)
    assert reach.rows.shape == game.shape[:-1]
    assert reach.rows.dtype == np.float64
    assert reach.weights == pytest.approx(1.0 / max(1, players - 1))
    met = work.backward(reach, policies, Role.COUNTERFACTUAL)
    assert met.values.shape == game.shape
    assert met.values.dtype == np.float64
    assert (type(met.first), type(met.other), met.changes) == (float, float, 0)
    assert met.win_rate == pytest.approx(work.win_rate(policies).win_rate, abs=1e-12)
    np.testing.assert_array_equal(policies, drawn(game, players))
    rows = reach.rows.copy()
    fresh = work.cell_reach(policies)
    assert fresh == pytest.approx(rows, abs=1e-14)
    work.forward(drawn(game, players, 1))
    assert fresh == pytest.approx(rows, abs=1e-14)


def test_win_rates_of_two_add_up_and_alike_are_even(game: Engine) -> None:
    one, two = drawn(game, 2)
    work = game.workspace(2)
    forth, back = (work.win_rate(np.stack(pair)) for pair in ([one, two], [two, one]))
    assert 0.0 < forth.win_rate < 1.0
    assert back == pytest.approx(forth.reversed(), abs=1e-12)
    alike = work.win_rate(np.stack([one, one]))
    assert alike.win_rate == pytest.approx(0.5, abs=1e-12)
    assert game.workspace(1).win_rate(one[None]).first == pytest.approx(alike.first, abs=1e-12)


def test_reach_in_self_play_is_of_both_seats(game: Engine) -> None:
    (one,) = drawn(game, 1)
    alone, two = game.workspace(1), game.workspace(2)
    here, there = alone.forward(one[None]), two.forward(np.stack([one, one]))
    assert here.rows == pytest.approx(2.0 * there.rows, abs=1e-12)
    met = alone.backward(here, one[None], Role.COUNTERFACTUAL)
    both = two.backward(there, np.stack([one, one]), Role.COUNTERFACTUAL)
    assert met.values == pytest.approx(2.0 * both.values, abs=1e-12)


def with_row(policy: Floats, row: tuple[int, ...], numbers: Any) -> Floats:
    """Copy a policy with another row."""
    changed = policy.copy()
    changed[row] = numbers
    return changed


def test_own_actions_may_count_one_each(game: Engine) -> None:
    """Reach is linear in a row, so that a row of ones is the sum of its actions."""
    one, two = drawn(game, 2)
    work, actions = game.workspace(2), np.eye(game.num_actions)

    def reach(row: tuple[int, ...], numbers: Any) -> Floats:
        return work.cell_reach(np.stack([with_row(one, row, numbers), two]))

    if game.positions_recur:
        with pytest.raises(ValueError, match="rows that sum to more than 1"):
            reach((0, 0), 1.0)
        return
    for row in list(np.ndindex(*game.shape[:-1]))[:4]:
        without = reach(row, 0.0)
        expected = without + sum(reach(row, action) - without for action in actions)
        assert reach(row, 1.0) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("players", mostly_slow([2, 4], 2))
def test_values_are_the_slope_of_the_win_rate(game: Engine, players: int) -> None:
    """The win rate is linear in each row that a play meets once."""
    policies, step = drawn(game, players), 1e-6 if game.positions_recur else 1.0
    work = game.workspace(players)
    values = work.backward(work.forward(policies), policies, Role.COUNTERFACTUAL).values.copy()
    before, random = rate(game, policies), np.random.default_rng(2)
    for row in np.ndindex(*game.shape[:-1]):
        changed = policies.copy()
        action = random.integers(game.num_actions)
        changed[0][row] += step * (np.eye(game.num_actions)[action] - policies[0][row])
        rise = values[row] @ (changed[0][row] - policies[0][row])
        assert rate(game, changed) - before == pytest.approx(rise, abs=1e-12), row


def test_rows_are_weighed_by_the_reach_that_is_given(game: Engine) -> None:
    """Values are linear in reach, and reach is linear in a row of the policy believed."""
    one, two = drawn(game, 2)
    work, actions = game.workspace(2), np.eye(game.num_actions)

    def values(believed: Floats) -> Floats:
        reach = work.forward(np.stack([believed, two]))
        met = work.backward(reach, np.stack([one, two]), Role.COUNTERFACTUAL)
        return met.values.copy()

    differs = False
    for row in list(np.ndindex(*game.shape[:-1]))[:4]:
        first, last, mean = (
            values(with_row(one, row, numbers))
            for numbers in (actions[0], actions[-1], (actions[0] + actions[-1]) / 2.0)
        )
        differs |= bool(np.abs(first - last).max() > 1e-6)
        if not game.positions_recur:
            assert mean == pytest.approx((first + last) / 2.0, abs=1e-12)
    assert differs


@pytest.mark.parametrize("name", TINY)
@pytest.mark.parametrize("players", [2, 4])
def test_sweeps_end_where_no_row_alone_gains(name: str, players: int) -> None:
    game: Engine = TINY[name]()
    others, weights = drawn(game, players - 1), WEIGHTS[: players - 1]
    weights = weights / weights.sum()
    rows = int(np.prod(game.shape[:-1]))
    work = game.workspace(players)

    def won(rolls: tuple[int, ...]) -> float:
        pure = one_hot(np.reshape(rolls, game.shape[:-1]), game.num_actions)
        return work.win_rate(np.stack([pure, *others]), weights=weights).win_rate

    every = {rolls: won(rolls) for rolls in product(range(game.num_actions), repeat=rows)}
    ends = set()
    for start in list(every)[:: max(1, len(every) // 60)]:
        pure = one_hot(np.reshape(start, game.shape[:-1]), game.num_actions)
        policies, now = np.stack([pure, *others]), every[start]
        for _ in range(50):
            swept = work.backward(work.forward(policies, weights), policies, Role.ASCEND)
            rolls = tuple(policies[0].argmax(axis=-1).ravel().tolist())
            assert set(np.unique(policies[0])) <= {0.0, 1.0}
            np.testing.assert_array_equal(policies[1:], others)
            assert swept.win_rate == pytest.approx(every[rolls], abs=1e-12)
            assert every[rolls] >= now - 1e-12
            now = every[rolls]
            if swept.changes == 0:
                break
        assert swept.changes == 0
        ends.add(rolls)
        for row, action in product(range(rows), range(game.num_actions)):
            beside = (*rolls[:row], action, *rolls[row + 1 :])
            assert every[beside] <= now + 1e-11
    assert max(every[end] for end in ends) == pytest.approx(max(every.values()), abs=1e-11)


@pytest.mark.parametrize("players", [2, 4])
def test_sweeps_count_what_they_change_and_never_lose(game: Engine, players: int) -> None:
    work, sweeps = game.workspace(players), 0
    for seed in range(6):
        policies = drawn(game, players, seed)
        policies[1:] = policies[1:].round()  # rows far from even, some of which are lost
        policies[1:] = normalised(policies[1:])
        now = rate(game, policies)
        for _ in range(50):
            before = policies[0].copy()
            swept = work.backward(work.forward(policies), policies, Role.ASCEND)
            assert swept.changes == (policies[0] != before).any(axis=-1).sum()
            assert swept.win_rate == pytest.approx(rate(game, policies), abs=1e-12)
            assert swept.win_rate >= now - 1e-12
            now, sweeps = swept.win_rate, sweeps + 1
            if swept.changes == 0:
                break
        assert swept.changes == 0
    assert sweeps > 6


def test_softmax_cools_to_the_sweep_and_heats_to_the_uniform_row(game: Engine) -> None:
    policies = drawn(game, 2)
    work = game.workspace(2)

    def moved(role: Role, **settings: float) -> Floats:
        now = policies.copy()
        work.backward(work.forward(now), now, role, **settings)
        return now[0]

    reached = work.cell_reach(policies) > 0.0
    uniform = moved(Role.SOFTMAX, temperature=1e9)
    assert uniform[reached] == pytest.approx(1.0 / game.num_actions, abs=1e-6)
    half = moved(Role.SOFTMAX, temperature=1e9, damping=0.5)
    assert half == pytest.approx((uniform + policies[0]) / 2.0, abs=1e-6)
    # While rows hardly move, each goes towards the softmax of its values given arrival.
    reach = work.forward(policies)
    rows = reach.rows.copy()
    met = work.backward(reach, policies, Role.COUNTERFACTUAL).values[reached]
    wanted = softmax(met / rows[reached][:, None] / 0.1)
    step = moved(Role.SOFTMAX, temperature=0.1, damping=1e-6) - policies[0]
    assert step[reached] / 1e-6 == pytest.approx(wanted - policies[0][reached], abs=1e-4)
    warm = moved(Role.SOFTMAX, temperature=0.05)
    assert warm.sum(axis=-1) == pytest.approx(1.0, abs=1e-12)
    assert rate(game, np.stack([warm, policies[1]])) > rate(game, np.stack([uniform, policies[1]]))
    cold = moved(Role.SOFTMAX, temperature=1e-9)
    swept = rate(game, np.stack([moved(Role.ASCEND), policies[1]]))
    assert rate(game, np.stack([cold, policies[1]])) == pytest.approx(swept, abs=1e-6)


def test_a_player_who_remembers_wins_more_where_something_is_forgotten(game: Engine) -> None:
    policies = drawn(game, 2)
    known = game.workspace(2).win_rate(policies, Role.FULL_MEMORY).win_rate
    work = game.workspace(2)
    for _ in range(20):
        swept = work.backward(work.forward(policies), policies, Role.ASCEND)
    assert known >= swept.win_rate - 1e-12
    if not game.has_memory:
        assert known == pytest.approx(swept.win_rate, abs=1e-12)


def test_against_a_mixture_all_is_the_mean_over_its_parts(game: Engine) -> None:
    policy, *others = drawn(game, 4)
    together, one = game.workspace(4), game.workspace(2)
    policies = np.stack([policy, *others])
    reach = together.forward(policies, WEIGHTS)
    met = together.backward(reach, policies, Role.COUNTERFACTUAL)
    rows, values, starts = np.zeros(game.shape[:-1]), np.zeros(game.shape), np.zeros(2)
    known = 0.0
    for weight, other in zip(WEIGHTS, others, strict=True):
        pair = np.stack([policy, other])
        here = one.forward(pair)
        rows += weight * here.rows
        alone = one.backward(here, pair, Role.COUNTERFACTUAL)
        values += weight * alone.values
        starts += weight * np.array([alone.first, alone.other])
        known += weight * one.win_rate(pair, Role.FULL_MEMORY).win_rate
    assert reach.rows == pytest.approx(rows, abs=1e-12)
    assert met.values == pytest.approx(values, abs=1e-12)
    assert (met.first, met.other) == pytest.approx(tuple(starts), abs=1e-12)
    assert together.win_rate(policies, weights=WEIGHTS).win_rate == pytest.approx(met.win_rate)
    all_known = together.win_rate(policies, Role.FULL_MEMORY, WEIGHTS).win_rate
    assert all_known == pytest.approx(known, abs=1e-12)


@pytest.mark.parametrize("role", [Role.ASCEND, Role.SOFTMAX])
def test_opponents_who_are_alike_are_one(game: Engine, role: Role) -> None:
    policy, other = drawn(game, 2)
    several, single = np.stack([policy, other, other, other]), np.stack([policy, other])
    for policies in (several, single):
        work = game.workspace(len(policies))
        work.backward(work.forward(policies), policies, role, temperature=0.02, damping=0.5)
    if game.positions_recur:  # rows are changed all at once
        assert rate(game, several[:2]) > rate(game, np.stack([policy, other]))
    else:
        assert several[0] == pytest.approx(single[0], abs=1e-9)


def test_matrices_meet_as_the_policies_that_they_are(game: Engine) -> None:
    duels, random = game.duels(), np.random.default_rng(1)
    for _ in range(3 if duels else 0):
        assert duels is not None
        matrices = random.integers(game.num_actions, size=(2, *game.shape[:-1]))
        expected = game.workspace(2).win_rate(one_hot(matrices, game.num_actions))
        assert duels.win_rate(matrices) == pytest.approx(expected, abs=1e-12)


def everything(game: Engine, work: Any, policies: Floats) -> list[Any]:
    """Do all passes, one after the other."""
    found: list[Any] = [work.cell_reach(policies), *work.win_rate(policies)]
    for role in (Role.COUNTERFACTUAL, Role.ASCEND, Role.SOFTMAX):
        moved = policies.copy()
        met = work.backward(work.forward(moved), moved, role, temperature=0.05, damping=0.5)
        values = met.values.copy() if role == Role.COUNTERFACTUAL else np.zeros(game.shape)
        found += [met.first, met.other, values, moved]
    return found


@pytest.mark.parametrize("players", [1, 2, 4])
def test_the_same_passes_give_the_same_bits(game: Engine, players: int) -> None:
    work, policies = game.workspace(players), drawn(game, players)
    first = everything(game, work, policies)
    everything(game, work, drawn(game, players, 1))
    for one, other in product([first], [everything(game, work, policies)]):
        for left, right in zip(one, other, strict=True):
            assert np.array_equal(left, right)
    fresh = everything(game, game.workspace(players), policies)
    assert all(np.array_equal(*pair) for pair in zip(first, fresh, strict=True))


@pytest.mark.parametrize("players", mostly_slow([1, 2, 4], 2))
def test_single_precision_is_near(game: Engine, players: int) -> None:
    policies = drawn(game, players)
    exact, quick = (game.workspace(players, dtype) for dtype in (np.float64, np.float32))
    rough = quick.forward(policies)
    assert rough.rows == pytest.approx(exact.forward(policies).rows, abs=1e-5)
    values = quick.backward(rough, policies, Role.COUNTERFACTUAL).values
    reach = exact.forward(policies)
    assert values == pytest.approx(
        exact.backward(reach, policies, Role.COUNTERFACTUAL).values, abs=1e-5
    )
    assert quick.win_rate(policies) == pytest.approx(exact.win_rate(policies), abs=1e-5)


@pytest.mark.parametrize("name", ["memories", "tree"])
def test_policies_of_another_number_are_refused(name: str) -> None:
    game = engine_of(name)
    with pytest.raises(ValueError, match=r"policies: shape is \(3, .*\); allowed: \(2, "):
        game.workspace(2).win_rate(drawn(game, 3))


@pytest.mark.parametrize("name", ["graph layout", "tree"])
def test_reach_is_that_of_the_last_pass_forward(name: str) -> None:
    game = engine_of(name)
    work, policies = game.workspace(2), drawn(game, 2)
    for overwrite in (work.forward, work.cell_reach):
        stale = work.forward(policies)
        overwrite(policies)
        with pytest.raises(ValueError, match="that of this workspace's last pass forward"):
            work.backward(stale, policies, Role.ASCEND)


def test_a_thread_finds_its_workspace_again(game: Engine) -> None:
    assert shared_workspace(game, 2) is shared_workspace(game, 2)
    assert quick_workspace(game, 3) is quick_workspace(game, 3)
    assert shared_duels(game) is shared_duels(game)
    if not isinstance(game, TwoNumbers):
        assert shared_workspace(game, 1) is not shared_workspace(game, 2)


# --- every engine is the graph --------------------------------------------------------------------

OF_GRAPHS = ("graph layout", "positions recur", "cells", "memories", "tree")
SAME: dict[str, Callable[[], Any]] = {
    **{name: ENGINES[name] for name in (*OF_GRAPHS, "tree of imperfect recall")},
    "forgetful": toys.forgetful_rock_paper_scissors,
}


def of_engine(engine: Any) -> Graph:
    """Compile an engine's game to a graph."""
    return of_tree(engine.tree) if isinstance(engine, TreeEngine) else of_hog(engine.rules)


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("seed", range(3))
def test_every_engine_does_as_the_graph(name: str, seed: int) -> None:
    engine = SAME[name]()
    graph = GraphEngine(of_engine(engine))
    random = np.random.default_rng(seed)
    players = int(random.choice([1, 2, 3]))
    policies = drawn(engine, players, seed)
    weights = random.dirichlet(np.ones(max(1, players - 1)))
    shape = (players, *graph.shape)
    works = engine.workspace(players), graph.workspace(players)
    played = policies, policies.reshape(shape).copy()
    reach = [work.forward(own, weights) for work, own in zip(works, played, strict=True)]
    assert reach[0].rows.ravel() == pytest.approx(reach[1].rows, abs=1e-12)
    met = [
        work.backward(one, own, Role.COUNTERFACTUAL)
        for work, one, own in zip(works, reach, played, strict=True)
    ]
    assert met[0].first == pytest.approx(met[1].first, abs=1e-12)
    assert met[0].other == pytest.approx(met[1].other, abs=1e-12)
    slopes = [one.values.reshape(graph.shape) for one in met]
    slopes = [one - one[:, :1] for one in slopes]  # rows sum to 1
    assert slopes[0] == pytest.approx(slopes[1], abs=1e-12)
    if isinstance(engine, HogEngine):
        full = [
            work.win_rate(own, Role.FULL_MEMORY, weights)
            for work, own in zip(works, played, strict=True)
        ]
        assert full[0] == pytest.approx(full[1], abs=1e-12)
    role = Role(int(random.choice([Role.ASCEND, Role.SOFTMAX])))
    if players > 1:
        moved = [
            work.backward(work.forward(own, weights), own, role, temperature=0.1)
            for work, own in zip(works, played, strict=True)
        ]
        assert moved[0].win_rate == pytest.approx(moved[1].win_rate, abs=1e-12)
        assert played[0].reshape(shape) == pytest.approx(played[1], abs=1e-10)
