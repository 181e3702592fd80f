"""Passes by vectors of memories are those of the kernels for any game, and of matrices alike."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from hogeq.kernels.memory_vectors import Shape
from hogeq.model.game import HogEngine, compile_game
from hogeq.model.interpreter import Interpreter
from hogeq.model.memory_passes import MemoryDuel, MemoryPasses, memory_shape, suit_memory_vectors
from hogeq.model.workspace import Role, Workspace
from hogeq.rules import EDITIONS, Rules
from hogeq.strategies.arrays import one_hot
from hogeq.support.aliases import Floats

SU20, FA19 = EDITIONS["su20"], EDITIONS["fa19"]
GAMES = {
    "su20": replace(SU20, goal=30),
    "sp20": replace(EDITIONS["sp20"], goal=21),
    "fa19": replace(FA19, goal=30),
    "a goal that few turns reach": replace(SU20, goal=5),
    "lanes of 8": replace(SU20, goal=20, max_dice=3),
    "lanes of 24": replace(SU20, goal=27, max_dice=15),
    "four sides": replace(SU20, goal=30, max_dice=4, sides=4),
}


@cache
def compiled(name: str) -> HogEngine:
    game = compile_game(GAMES[name])
    assert suit_memory_vectors(game.tables, smallest=0), name
    return game


def policies(game: HogEngine, share: float = 1.0) -> Floats:
    """Draw two policies that use about this share of the rolls."""
    random = np.random.default_rng(7)
    found = random.dirichlet(np.ones(game.num_actions), (2, *game.shape[:2]))
    found *= random.random(found.shape) < share
    found[..., 0] += 1e-3
    normal: Floats = found / found.sum(axis=-1, keepdims=True)
    return normal


def both_ways(game: HogEngine, players: int, dtype: type = np.float64) -> tuple[Workspace, ...]:
    """Make a workspace with passes by vectors of memories, and one without."""
    large = MemoryPasses(game.tables, players, dtype)
    plain = Interpreter(game.rules, game.recurrence, players)
    fast = Workspace(game, players, dtype, large)
    return fast, Workspace(game, players, passes=plain)


def results_of(work: Workspace, played: Floats) -> list[Floats]:
    work.forward(played)
    results: list[Floats] = [work.infoset_reach.copy()]
    results.append(np.array(work.backward(played, Role.COUNTERFACTUAL)))
    results.append(work.counterfactual_values.copy())
    for role in (Role.ASCEND, Role.SOFTMAX):
        moved = played.copy()
        results.append(np.array(work.backward(moved, role, temperature=0.1, damping=0.3)))
        results.append(moved)
    return results


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize(("players", "share"), [(1, 1.0), (2, 0.2)])
def test_passes_are_those_of_other_kernels(name: str, players: int, share: float) -> None:
    game = compiled(name)
    played = policies(game, share)[:players]
    fast, slow = both_ways(game, players)
    results_of(fast, played[:, ::-1])  # what lies in the columns then does not matter
    found, expected = results_of(fast, played), results_of(slow, played)
    for one, other in zip(found, expected, strict=True):
        assert one == pytest.approx(other, abs=1e-12)
    assert np.array_equal(found[0] > 0.0, expected[0] > 0.0)


def test_single_precision_is_as_exact_as_it_can_be() -> None:
    game = compiled("su20")
    played = policies(game)
    single, double = both_ways(game, 2, np.float32)
    for work in (single, double):
        work.forward(played)
        work.backward(played, Role.COUNTERFACTUAL)
    error = np.abs(single.counterfactual_values - double.counterfactual_values).max()
    assert 0.0 < error < 1e-6


def test_policies_may_lie_in_any_layout() -> None:
    game = compiled("su20")
    played = policies(game)
    fast, slow = both_ways(game, 2)
    spread = np.zeros((*played.shape, 2))
    spread[..., 0] = played
    for work, rows in ((slow, played), (fast, spread[..., 0])):
        work.forward(rows)
        work.backward(rows, Role.ASCEND)
    assert np.array_equal(spread[..., 0], played)


def test_what_was_not_kept_is_refused() -> None:
    game = compiled("su20")
    played = policies(game)
    work, _ = both_ways(game, 2)
    cells = work.cell_reach(played)
    with pytest.raises(RuntimeError, match=r"^reach: the last pass forward kept that of the cells"):
        work.backward(played, Role.COUNTERFACTUAL)
    work.forward(played)
    with pytest.raises(RuntimeError, match=r"^hidden_reach: the last pass was not asked"):
        work.hidden_reach()
    work.forward(played, keep=True)
    assert cells == pytest.approx(work.hidden_reach().sum(axis=2), abs=1e-13)
    work.backward(played)
    with pytest.raises(RuntimeError, match=r"^hidden_values: the last pass was not asked"):
        work.hidden_values(0, 0)
    work.backward(played, keep=True)
    assert work.hidden_values(0, 0).shape == (game.memory_size, game.num_actions)


@pytest.mark.parametrize("name", [name for name in GAMES if name != "lanes of 24"])
def test_matrices_meet_as_the_policies_that_they_are(name: str) -> None:
    game = compiled(name)
    duel, work = MemoryDuel(game.tables), both_ways(game, 2)[1]
    random = np.random.default_rng(3)
    for _ in range(3):  # the second and third find the arrays in use
        matrices = random.integers(game.num_actions, size=(2, *game.shape[:2]))
        expected = work.backward(one_hot(matrices, game.num_actions))[:2]
        assert duel.starts(matrices) == pytest.approx(expected, abs=1e-13)


def test_kernels_are_the_same_at_most_goals() -> None:
    shapes: set[Shape] = {
        memory_shape(compile_game(replace(SU20, goal=goal)).tables) for goal in (100, 120)
    }
    assert len(shapes) == 1


@pytest.mark.parametrize(
    "rules",
    [
        *(replace(EDITIONS[edition], goal=20) for edition in ("su21", "fa15", "fa22", "fa18")),
        replace(SU20, goal=20, max_dice=5, hog_wild=True),
        replace(SU20, goal=20, max_dice=5, piggy_back=True, pig_out=0),
        replace(SU20, goal=20, max_dice=5, more_boar="digit_range"),
        replace(SU20, goal=20, max_dice=5, square_swine=True),
    ],
    ids=["su21", "fa15", "fa22", "fa18", "dice", "gifts", "extra turns", "landings"],
)
def test_other_games_have_other_layouts(rules: Rules) -> None:
    assert not suit_memory_vectors(compile_game(rules).tables, smallest=0)
