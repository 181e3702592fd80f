"""Passes compiled for games that remember points and whose turns can stay, against generic ones."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from hogeq.kernels.planning import plan_of
from hogeq.model.game import HogEngine, compile_game
from hogeq.model.workspace import Role, Workspace
from hogeq.rules import EDITIONS, Rules

EXACT = 1e-12
GAMES = {
    "swine align": replace(EDITIONS["su20"], goal=24, max_dice=4, pig_out=0),
    "double swap": Rules(
        goal=13,
        max_dice=2,
        sides=3,
        pig_out=0,
        feral_hogs="points",
        swap="double",
        zero_dice="digit_gap_plus_four",
    ),
}


@cache
def compiled(name: str) -> HogEngine:
    return compile_game(GAMES[name])


def planned(game: HogEngine, players: int) -> Workspace:
    plan = plan_of(game.tables, smallest=0)
    assert plan is not None
    return Workspace(game.tables, players, plan=plan)


def drawn(game: HogEngine, players: int, share: float) -> NDArray[np.float64]:
    """Draw policies that use about this share of the rolls."""
    random = np.random.default_rng(5)
    found = random.dirichlet(np.ones(game.num_actions), (players, *game.shape[:2]))
    found *= random.random(found.shape) < share
    found[..., 1] += 1e-3
    normal: NDArray[np.float64] = found / found.sum(axis=-1, keepdims=True)
    return normal


def test_all_kinds_of_pairs_are_there() -> None:
    kinds = set()
    for game in map(compiled, GAMES):
        plan = plan_of(game.tables, smallest=0)
        assert plan is not None
        turns = dict(
            zip(map(tuple, plan.places.order[:, :2].tolist()), plan.places.turns, strict=True)
        )
        kinds |= {
            (int(turn), int(turns[opponent, own]))
            for (own, opponent), turn in turns.items()
            if own < opponent
        }
    # Into the other's mirror image, or of one cell alone; and one of two that leads to the other.
    assert kinds == {(0, 0), (0, 1), (1, 0), (1, 1)}


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("players", [1, 2])
@pytest.mark.parametrize("share", [1.0, 0.3])
def test_passes_are_the_generic_ones(name: str, players: int, share: float) -> None:
    game = compiled(name)
    played = drawn(game, players, share)
    fast, slow = planned(game, players), Workspace(game.tables, players)
    for _ in range(2):  # the second finds the columns in use
        found: list[NDArray[np.float64]] = []
        expected: list[NDArray[np.float64]] = []
        for work, results in ((fast, found), (slow, expected)):
            work.forward(played)
            results.append(work.infoset_reach.copy())
            results.append(np.array(work.backward(played)))
            results.append(np.array(work.backward(played, Role.COUNTERFACTUAL)))
            results.append(work.counterfactual_values.copy())
            for role in (Role.ASCEND, Role.SOFTMAX):
                moved = played.copy()
                results.append(np.array(work.backward(moved, role, temperature=0.1, damping=0.3)))
                results.append(moved)
            results.append(np.array(work.backward(played, keep=True)))
            results.append(work.hidden_values(3, 5))
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=0.0, atol=EXACT)
        assert np.array_equal(found[0] > 0.0, expected[0] > 0.0)


@pytest.mark.parametrize("name", GAMES)
def test_no_sweep_of_the_ascent_loses(name: str) -> None:
    game = compiled(name)
    work = planned(game, 2)
    policies = drawn(game, 2, 1.0)
    rate = work.win_rate(policies).win_rate
    for _ in range(100):
        work.forward(policies)
        first, other, changes = work.backward(policies, Role.ASCEND)
        again = work.win_rate(policies).win_rate
        assert (first + 1.0 - other) / 2.0 == pytest.approx(again, abs=1e-13)
        assert again > rate or changes == 0
        if changes == 0:
            break
        rate = again
    assert changes == 0


def test_a_game_that_hardly_ever_moves_loses_no_digits() -> None:
    # Of twelve coins all show 2 once in 4,096 turns.
    rules = Rules(
        goal=12,
        max_dice=12,
        sides=2,
        pig_out=0,
        feral_hogs="points",
        zero_dice="digit_gap_plus_four",
    )
    game = compile_game(rules)
    patient = np.zeros((2, *game.shape))
    patient[..., -1] = 1.0
    rates = [work.win_rate(patient) for work in (planned(game, 2), Workspace(game.tables, 2))]
    assert rates[0] == pytest.approx(rates[1], abs=1e-13)


def test_single_precision_is_as_exact_as_it_can_be() -> None:
    game = compiled("swine align")
    played = drawn(game, 2, 1.0)
    plan = plan_of(game.tables, smallest=0)
    single, double = (Workspace(game.tables, 2, dtype, plan) for dtype in (np.float32, np.float64))
    for work in (single, double):
        work.forward(played)
        work.backward(played, Role.COUNTERFACTUAL)
    error = np.abs(single.counterfactual_values - double.counterfactual_values).max()
    assert 0.0 < error < 1e-6
