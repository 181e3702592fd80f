"""Passes by diagonals against the generic ones."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from hogeq.kernels.diagonals import diagonals_of
from hogeq.model.diagonal_arrays import DiagonalPasses
from hogeq.model.duels import Duels
from hogeq.model.game import HogEngine, compile_game
from hogeq.model.interpreter import Interpreter
from hogeq.model.workspace import Role, Workspace
from hogeq.rules import EDITIONS, Rules
from hogeq.strategies.arrays import one_hot
from tests.evaluation.test_random_games import game_number

EXACT = 1e-12
GAMES = {
    "no memory": replace(EDITIONS["fa22"], goal=31),
    "no dice score by both scores": replace(EDITIONS["fa23"], goal=24),
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
RANDOM = range(60)


def interpreted(game: HogEngine, players: int) -> Workspace:
    return Workspace(game, players, passes=Interpreter(game.rules, game.recurrence, players))


def compare(game: HogEngine, random: np.random.Generator) -> None:
    """Compare all that a workspace gives, for two players and for one."""
    for players in (2, 1):
        diagonals = diagonals_of(game.tables)
        assert diagonals is not None
        fast = Workspace(game, players, passes=DiagonalPasses(game.tables, diagonals, players))
        slow = interpreted(game, players)
        for share in (1.0, 0.3):
            shape = (players, *game.shape)
            played = random.dirichlet(np.ones(game.num_actions), shape[:3])
            played *= random.random(shape) < share
            played[..., random.integers(game.num_actions)] += 1e-3
            played /= played.sum(axis=-1, keepdims=True)
            found, expected = (seen(work, played) for work in (fast, slow))
            for name, one, other in zip(found, found.values(), expected.values(), strict=True):
                np.testing.assert_allclose(one, other, rtol=0.0, atol=EXACT, err_msg=name)
                if "reach" in name:
                    assert np.array_equal(one > 0.0, other > 0.0), name


def seen(work: Workspace, played: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """List results of all passes, by name."""
    found = {"reach of cells": work.cell_reach(played)}
    work.forward(played, keep=True)
    found["reach"] = work.infoset_reach.copy()
    found["hidden reach"] = work.hidden_reach()
    found["averaged"] = np.array(work.backward(played, Role.COUNTERFACTUAL))
    found["counterfactual values"] = work.counterfactual_values.copy()
    for role in (Role.ASCEND, Role.SOFTMAX):
        moved = played.copy()
        found[role.name] = np.array(work.backward(moved, role, temperature=0.1, damping=0.3))
        found[f"policies after {role.name}"] = moved
    goal = played.shape[1]
    memories = found["hidden reach"].shape[2]
    rolls = np.zeros((goal, goal, memories), np.int8)
    found["full memory"] = np.array(work.backward(played, Role.FULL_MEMORY, choice=rolls))
    found["rolls"] = rolls.astype(np.float64)
    found["values of full memory"] = work.hidden_values(goal // 2, goal // 3)
    found["values"] = np.array(work.backward(played, keep=True))
    for player in range(len(played)):
        cells = [work.hidden_values(own, 1, player) for own in range(goal)]
        found[f"hidden values of {player}"] = np.array(cells)
    counted = played.copy()
    counted[0] = 1.0
    work.forward(counted)
    largest = work.infoset_reach.max()
    found["reach of the others"] = work.infoset_reach / largest
    return found


def compare_matrices(game: HogEngine, random: np.random.Generator) -> None:
    duels, slow = Duels(game.tables, diagonals_of(game.tables)), interpreted(game, 2)
    for _ in range(2):  # the second finds the arrays in use
        matrices = random.integers(game.num_actions, size=(2, *game.shape[:2]))
        expected = slow.win_rate(one_hot(matrices, game.num_actions))
        assert duels.win_rate(matrices) == pytest.approx(expected, abs=EXACT)


@pytest.mark.parametrize("name", GAMES)
def test_passes_by_diagonals_are_the_generic_ones(name: str) -> None:
    game = compile_game(GAMES[name])
    assert diagonals_of(game.tables) is not None
    compare(game, np.random.default_rng(0))
    compare_matrices(game, np.random.default_rng(1))


@pytest.mark.parametrize(
    "name", ["no memory", "two kinds of dice", "gifts, boosted points", "a small board"]
)
def test_single_precision_is_as_exact_as_it_can_be(name: str) -> None:
    game, random = compile_game(GAMES[name]), np.random.default_rng(0)
    for players in (2, 1):
        played = random.dirichlet(np.ones(game.num_actions), (players, *game.shape[:2]))
        played[:, :, :, 0] = 0.0  # so that something is never reached
        played /= played.sum(axis=-1, keepdims=True)
        found: list[tuple[NDArray[np.float64], ...]] = []
        for work in (game.workspace(players, np.float32), interpreted(game, players)):
            work.forward(played, keep=True)
            reach = work.hidden_reach()
            rates = np.array(work.backward(played))
            softened = played.copy()
            work.backward(softened, Role.SOFTMAX, temperature=0.1, damping=0.3)
            work.backward(played, Role.COUNTERFACTUAL)
            found.append((reach, work.infoset_reach, rates, work.counterfactual_values, softened))
            np.testing.assert_allclose(softened.sum(axis=-1), 1.0, rtol=0.0, atol=EXACT)
        errors = [np.abs(one - other).max() for one, other in zip(*found, strict=True)]
        assert max(errors[:4]) < 1e-6
        assert errors[4] < 2e-5
        assert not found[0][0][found[1][0] == 0.0].any()


@pytest.mark.parametrize("block", range(0, len(RANDOM), 20))
def test_random_games(block: int) -> None:
    for number in RANDOM[block : block + 20]:
        game, random = game_number(number)
        if not game.positions_recur and diagonals_of(game.tables) is not None:
            try:
                compare(game, random)
                if game.has_duels:
                    compare_matrices(game, random)
            except Exception as difference:
                raise AssertionError(f"game {number}, {game.rules}") from difference


@pytest.mark.parametrize("edition", ["su20", "fa19"])
def test_other_games_have_no_diagonals(edition: str) -> None:
    assert compile_game(replace(EDITIONS[edition], goal=20)).diagonals is None


def test_short_diagonals_of_many_memories_are_left_to_the_generic_passes() -> None:
    games = [compile_game(replace(EDITIONS["su21"], goal=goal)) for goal in (11, 12)]
    assert [game.diagonals is None for game in games] == [True, False]
    assert compile_game(replace(EDITIONS["fa22"], goal=3)).diagonals is not None


def test_a_workspace_is_used_again() -> None:
    """Nothing of one pass is left in the next."""
    game = compile_game(GAMES["extra turns with dice of their own"])
    random = np.random.default_rng(5)
    work = game.workspace(2)
    for _ in range(3):
        matrices = random.integers(game.num_actions, size=(2, *game.shape[:2]))
        played = np.eye(game.num_actions)[matrices]
        fresh = game.workspace(2)
        for one in (work, fresh):
            one.forward(played)
        assert np.array_equal(work.infoset_reach, fresh.infoset_reach)
        assert work.backward(played) == fresh.backward(played)


def test_weights_need_a_pass_that_kept_them() -> None:
    game = compile_game(GAMES["no memory"])
    work = game.workspace(2)
    played = np.full((2, *game.shape), 1.0 / game.num_actions)
    work.cell_reach(played)
    with pytest.raises(RuntimeError, match=r"^reach: the last pass forward kept that of the cells"):
        work.backward(played, Role.COUNTERFACTUAL)
    work.backward(played)
    with pytest.raises(RuntimeError, match=r"^hidden_values: the last pass was not asked"):
        work.hidden_values(0, 0)
