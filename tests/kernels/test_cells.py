"""Passes whose vectors run over cells of a diagonal, against interpreted ones."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hogeq.model.cell_layout import stay_in_pairs, suit_cell_vectors
from hogeq.model.cell_passes import CellPasses
from hogeq.model.game import HogEngine, compile_game
from hogeq.model.interpreter import Interpreter
from hogeq.model.workspace import Role, Workspace, passes_for
from hogeq.rules import EDITIONS, Rules
from hogeq.strategies.arrays import one_hot
from tests.evaluation.test_random_games import game_number

EXACT = 1e-12
GAMES = {
    "no memory": replace(EDITIONS["fa22"], goal=31),
    "two kinds of dice": replace(EDITIONS["hw13"], goal=30, max_dice=4),
    "gifts, boosted points": replace(EDITIONS["fa15"], goal=30),
    "ones are counted": replace(EDITIONS["sp17"], goal=22),
    "extra turns": replace(EDITIONS["fa20"], goal=26),
    "turns are counted": replace(EDITIONS["fa18"], goal=25),
    "extra turns with dice of their own": replace(EDITIONS["su21"], goal=20),
    "few dice of many sides": replace(EDITIONS["fa22"], goal=20, max_dice=1, sides=12),
    "many dice of few sides": Rules(goal=17, max_dice=12, sides=2),
    "a small board": replace(EDITIONS["su21"], goal=3, max_dice=2),
}
RANDOM = 12


def interpreted(game: HogEngine, players: int) -> Workspace:
    return Workspace(game, players, passes=Interpreter(game.rules, game.recurrence, players))


def random_policies(game: HogEngine, random: np.random.Generator, count: int) -> Any:
    """Draw policies, some of whose rolls are never made."""
    shape = (count, *game.shape)
    played = random.dirichlet(np.ones(game.num_actions), shape[:3])
    played *= random.random(shape) < random.choice([0.3, 1.0])
    played[..., random.integers(game.num_actions)] += 1e-3
    return played / played.sum(axis=-1, keepdims=True)


def results(passes: CellPasses, policies: NDArray[np.float64]) -> dict[str, Any]:
    """List what all passes of one match fill, by name."""
    reach, values = np.zeros(policies.shape[1:3]), np.zeros(policies.shape[1:])
    passes.forward(policies, reach[None])
    found: dict[str, Any] = {"reach": reach}
    for role in (Role.EVALUATE, Role.COUNTERFACTUAL, Role.ASCEND, Role.SOFTMAX):
        moved = policies.copy()
        starts, changes = passes.backward(role, moved, values, reach, 0.1, 0.3)
        found[f"starts, {role.name}"] = starts[0].copy()
        found[f"changes, {role.name}"] = changes
        found[f"policies, {role.name}"] = moved
    return {**found, "action values": values}


def expected_results(work: Workspace, policies: NDArray[np.float64]) -> dict[str, Any]:
    work.forward(policies)
    found: dict[str, Any] = {"reach": work.infoset_reach.copy()}
    for role in (Role.EVALUATE, Role.COUNTERFACTUAL, Role.ASCEND, Role.SOFTMAX):
        moved = policies.copy()
        first, other, changes = work.backward(moved, role, temperature=0.1, damping=0.3)
        found[f"starts, {role.name}"] = np.array([first, other][: len(policies)])
        found[f"changes, {role.name}"] = changes
        found[f"policies, {role.name}"] = moved
        if role == Role.COUNTERFACTUAL:
            found["action values"] = work.counterfactual_values.copy()
    return found


def compare(game: HogEngine, random: np.random.Generator, most: int = 2) -> None:
    for players in (2, 1)[:most]:
        passes, slow = CellPasses(game.tables, players), interpreted(game, players)
        for _ in range(2):  # the second finds the arrays in use
            policies = random_policies(game, random, players)
            expected = expected_results(slow, policies)
            for name, found in results(passes, policies).items():
                np.testing.assert_allclose(
                    found, expected[name], rtol=0.0, atol=EXACT, err_msg=name
                )
                if name == "reach":
                    assert ((found > 0.0) == (expected[name] > 0.0)).all()


@pytest.mark.parametrize("name", GAMES)
def test_passes_over_cells_are_the_interpreted_ones(name: str) -> None:
    game = compile_game(GAMES[name])
    assert suit_cell_vectors(game.tables)
    compare(game, np.random.default_rng(0))


def test_turns_that_stay_feed_cells_in_pairs() -> None:
    game = compile_game(replace(EDITIONS["sp22"], goal=34))
    assert stay_in_pairs(game.tables)
    assert isinstance(passes_for(game, 2), CellPasses)
    assert game.duels() is None  # matrices may never end: that is asked of policies
    compare(game, np.random.default_rng(0), 1)
    # In self-play the rows of a pair are set at once, and not one after the other.
    passes, slow = passes_for(game, 1), interpreted(game, 1)
    never_leaves = np.zeros((1, *game.shape))
    never_leaves[..., 0] = 1.0
    for policies in (random_policies(game, np.random.default_rng(1), 1), never_leaves):
        reach, values = np.zeros(game.shape[:2]), np.zeros(game.shape)
        if policies is not never_leaves:
            passes.forward(policies, reach[None])
            slow.forward(policies)
            np.testing.assert_allclose(reach, slow.infoset_reach, rtol=0.0, atol=EXACT)
            passes.backward(Role.COUNTERFACTUAL, policies, values, reach, 1.0, 1.0)
            slow.backward(policies, Role.COUNTERFACTUAL)
            expected = slow.counterfactual_values
            np.testing.assert_allclose(values, expected, rtol=0.0, atol=EXACT)
        starts, _ = passes.backward(Role.EVALUATE, policies, values, reach, 1.0, 1.0)
        assert starts[0, 0] == pytest.approx(slow.backward(policies)[0], abs=EXACT)


def test_matrices_meet_as_policies_do() -> None:
    for name in ("no memory", "turns are counted"):
        game, random = compile_game(GAMES[name]), np.random.default_rng(1)
        passes, slow = CellPasses(game.tables, 2), interpreted(game, 2)
        for _ in range(2):
            matrices = random.integers(game.num_actions, size=(2, *game.shape[:2]))
            first, other, _ = slow.backward(one_hot(matrices, game.num_actions))
            assert passes.starts(matrices) == pytest.approx((first, other), abs=EXACT)


def test_long_diagonals_alone_are_worth_vectors() -> None:
    for edition, goal, kind in (
        ("fa22", 32, CellPasses),
        ("fa22", 31, Interpreter),
        ("su21", 100, CellPasses),
        ("sp22", 31, Interpreter),
    ):
        assert isinstance(passes_for(compile_game(replace(EDITIONS[edition], goal=goal)), 1), kind)


def test_random_games() -> None:
    for number in range(RANDOM):
        game, random = game_number(number)
        if not game.positions_recur and suit_cell_vectors(game.tables):
            try:
                compare(game, random)
            except Exception as difference:
                raise AssertionError(f"game {number}, {game.rules}") from difference


@pytest.mark.parametrize("name", ["no memory", "gifts, boosted points", "turns are counted"])
def test_single_precision_is_as_exact_as_it_can_be(name: str) -> None:
    game, random = compile_game(GAMES[name]), np.random.default_rng(0)
    passes, slow = CellPasses(game.tables, 2, np.float32), interpreted(game, 2)
    policies = random_policies(game, random, 2)
    found, expected = results(passes, policies), expected_results(slow, policies)
    for one in ("reach", "starts, EVALUATE", "action values"):
        np.testing.assert_allclose(found[one], expected[one], rtol=0.0, atol=1e-6)
    soft = "policies, SOFTMAX"
    np.testing.assert_allclose(found[soft].sum(axis=-1), 1.0, rtol=0.0, atol=EXACT)
    np.testing.assert_allclose(found[soft], expected[soft], rtol=0.0, atol=2e-5)
    assert not found["reach"][expected["reach"] == 0.0].any()


@pytest.mark.parametrize("edition", ["fa22", "su21", "fa15"])
def test_rows_are_set_against_a_mixture(edition: str) -> None:
    """The same as against opponents one after the other, weighed."""
    game = compile_game(replace(EDITIONS[edition], goal=13, max_dice=3))
    policies = random_policies(game, np.random.default_rng(0), 4)
    together, alone = CellPasses(game.tables, 2, matches=3), CellPasses(game.tables, 2)
    together.weights[:] = weights = np.array([0.5, 0.2, 0.3])
    reach = np.zeros((3, *game.shape[:2]))
    together.forward(policies, reach)
    mixed = np.tensordot(weights, reach, 1)
    values = np.zeros(game.shape)
    together.backward(Role.COUNTERFACTUAL, policies, values, mixed, 1.0, 1.0)
    expected = np.zeros(game.shape)
    for opponent, weight, each in zip(policies[1:], weights, reach, strict=True):
        both, one = np.stack([policies[0], opponent]), np.zeros(game.shape)
        reached = np.zeros(game.shape[:2])
        alone.forward(both, reached[None])
        np.testing.assert_allclose(each, reached, rtol=0.0, atol=EXACT)
        alone.backward(Role.COUNTERFACTUAL, both, one, reached, 1.0, 1.0)
        expected += weight * one
    np.testing.assert_allclose(values, expected, rtol=0.0, atol=EXACT)
    moved = policies.copy()
    starts, changes = together.backward(Role.ASCEND, moved, values, mixed, 1.0, 1.0)
    assert changes == (moved[0] != policies[0]).any(axis=-1).sum() > 0
    for opponent, found in zip(policies[1:], starts, strict=True):
        both = np.stack([moved[0], opponent])
        rates, _ = alone.backward(Role.EVALUATE, both, values, mixed, 1.0, 1.0)
        np.testing.assert_allclose(found, rates[0], rtol=0.0, atol=EXACT)
