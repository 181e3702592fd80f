"""Passes whose vectors run over memories, or over cells of a diagonal, against interpreted ones."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hogeq.evaluation.counterfactual import counterfactual_values
from hogeq.model.cell_passes import CellPasses, suit_cell_vectors
from hogeq.model.game import HogEngine, compile_game
from hogeq.model.graph_layout import GraphLayout
from hogeq.model.memory_passes import (
    STRIP,
    MemoryDuel,
    MemoryPasses,
    pass_order,
    suit_memory_vectors,
)
from hogeq.model.protocol import Reach, Role, WinRate
from hogeq.model.rows import TIE
from hogeq.model.workspace import Layout
from hogeq.rules import EDITIONS, Rules
from hogeq.strategies.arrays import one_hot
from hogeq.support.aliases import Floats
from tests.evaluation.test_random_games import game_number
from tests.slow import mostly_slow

EXACT = 1e-12
SU20, FA22, SU21 = (EDITIONS[name] for name in ("su20", "fa22", "su21"))
MEMORIES = {
    "su20": replace(SU20, goal=30),
    "sp20": replace(EDITIONS["sp20"], goal=21),
    "fa19": replace(EDITIONS["fa19"], goal=30),
    "a goal that few turns reach": replace(SU20, goal=5),
    "lanes of 8": replace(SU20, goal=20, max_dice=3),
    "lanes of 24": replace(SU20, goal=27, max_dice=15),
    "four sides": replace(SU20, goal=30, max_dice=4, sides=4),
}
CELLS = {
    "no memory": replace(FA22, goal=31),
    "two kinds of dice": replace(EDITIONS["hw13"], goal=30, max_dice=4),
    "dice are exchanged": replace(EDITIONS["fa13"], goal=30),
    "gifts, boosted points": replace(EDITIONS["fa15"], goal=30),
    "ones are counted": replace(EDITIONS["sp17"], goal=22),
    "extra turns": replace(EDITIONS["fa20"], goal=26),
    "turns are counted": replace(EDITIONS["fa18"], goal=25),
    "extra turns with dice of their own": replace(SU21, goal=20),
    "few dice of many sides": replace(FA22, goal=20, max_dice=1, sides=12),
    "many dice of few sides": Rules(goal=17, max_dice=12, sides=2),
    "a small board": replace(SU21, goal=3, max_dice=2),
}
RANDOM = 12


def compiled(name: str) -> tuple[HogEngine, Callable[..., Layout]]:
    """Compile a game; also what makes its passes."""
    if name in MEMORIES:
        game = compile_game(MEMORIES[name])
        assert suit_memory_vectors(game.tables, smallest=0), name
        return game, MemoryPasses
    game = compile_game(CELLS[name])
    assert suit_cell_vectors(game.tables), name
    return game, CellPasses


def interpreted(game: HogEngine, players: int) -> GraphLayout:
    return game.graph_layout(players)


def random_policies(game: HogEngine, random: np.random.Generator, count: int) -> Any:
    """Draw policies, some of whose rolls are never made."""
    shape = (count, *game.shape)
    played = random.dirichlet(np.ones(game.num_actions), shape[:3])
    played *= random.random(shape) < random.choice([0.3, 1.0])
    played[..., random.integers(game.num_actions)] += 1e-3
    return played / played.sum(axis=-1, keepdims=True)


def results(passes: Layout, policies: Floats) -> dict[str, Any]:
    """List what all passes fill, by name."""
    (reach,) = passes.forward(policies).copy()
    found: dict[str, Any] = {"reach": reach}
    for role in (Role.EVALUATE, Role.COUNTERFACTUAL, Role.ASCEND, Role.SOFTMAX):
        moved = policies.copy()
        starts, changes = passes.backward(role, moved, Reach(reach, np.ones(1)), 0.1, 0.3)
        found[f"starts, {role.name}"] = starts[0].copy()
        found[f"changes, {role.name}"] = changes
        found[f"policies, {role.name}"] = moved
        if role == Role.COUNTERFACTUAL:
            found["action values"] = passes.action_values.copy()
    return found


def compare(game: HogEngine, make: Callable[..., Layout], seed: int, most: int = 2) -> None:
    random = np.random.default_rng(seed)
    for players in (2, 1)[:most]:
        passes, slow = make(game.tables, players), interpreted(game, players)
        for _ in range(2):  # the second finds the arrays in use
            policies = random_policies(game, random, players)
            found, expected = results(passes, policies), results(slow, policies)
            for name in found:
                np.testing.assert_allclose(
                    found[name], expected[name], rtol=0.0, atol=EXACT, err_msg=name
                )
            assert ((found["reach"] > 0.0) == (expected["reach"] > 0.0)).all()


@pytest.mark.parametrize(
    "name",
    mostly_slow(
        [*MEMORIES, *CELLS],
        *("su20", "sp20", "fa19", "no memory", "gifts, boosted points"),
        "extra turns with dice of their own",
    ),
)
def test_passes_are_the_interpreted_ones(name: str) -> None:
    compare(*compiled(name), 0)


@pytest.mark.slow
def test_random_games() -> None:
    for number in range(RANDOM):
        game, _ = game_number(number)
        if game.totals_rise and suit_cell_vectors(game.tables):
            try:
                compare(game, CellPasses, number)
            except Exception as difference:
                raise AssertionError(f"game {number}, {game.rules}") from difference


def test_turns_that_stay_are_interpreted() -> None:
    game = compile_game(replace(EDITIONS["sp22"], goal=34))
    assert isinstance(game.layout(2), GraphLayout)
    assert game.duels() is None  # matrices may never end: that is asked of policies


MATRICES = [name for name in MEMORIES if name != "lanes of 24"]


@pytest.mark.parametrize("name", [*MATRICES, "no memory", "turns are counted"])
def test_matrices_meet_as_the_policies_that_they_are(name: str) -> None:
    game, make = compiled(name)
    duel = MemoryDuel(game.tables) if make is MemoryPasses else CellPasses(game.tables, 2)
    slow, random = interpreted(game, 2), np.random.default_rng(3)
    unread = Reach(np.zeros(game.shape[:2]), np.ones(1)), 1.0, 1.0
    for _ in range(3):  # the second and third find the arrays in use
        matrices = random.integers(game.num_actions, size=(2, *game.shape[:2]))
        policies = one_hot(matrices, game.num_actions)
        expected, _ = slow.backward(Role.EVALUATE, policies, *unread)
        met = WinRate.from_starts(*expected[0])
        assert duel.win_rate(matrices) == pytest.approx(met, abs=EXACT)


@pytest.mark.parametrize(
    "name", mostly_slow(["su20", "no memory", "gifts, boosted points", "turns are counted"], "su20")
)
def test_single_precision_is_as_exact_as_it_can_be(name: str) -> None:
    game, make = compiled(name)
    policies = random_policies(game, np.random.default_rng(0), 2)
    found = results(make(game.tables, 2, np.float32), policies)
    expected = results(interpreted(game, 2), policies)
    for one in ("reach", "starts, EVALUATE", "action values"):
        error = np.abs(found[one] - expected[one]).max()
        assert 0.0 < error < 1e-6, one
    soft = "policies, SOFTMAX"
    np.testing.assert_allclose(found[soft].sum(axis=-1), 1.0, rtol=0.0, atol=EXACT)
    np.testing.assert_allclose(found[soft], expected[soft], rtol=0.0, atol=2e-5)
    assert not found["reach"][expected["reach"] == 0.0].any()


@pytest.mark.parametrize(
    ("rules", "kind"),
    [
        (SU20, MemoryPasses),
        (replace(FA22, goal=32), CellPasses),
        (replace(FA22, goal=31), GraphLayout),
        (SU21, CellPasses),
        (replace(EDITIONS["sp22"], goal=31), GraphLayout),
    ],
)
def test_large_games_alone_are_worth_vectors(rules: Rules, kind: type) -> None:
    assert isinstance(compile_game(rules).layout(1), kind)


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
def test_vectors_of_memories_are_for_turns_that_swap_alone(rules: Rules) -> None:
    assert not suit_memory_vectors(compile_game(rules).tables, smallest=0)


# --- against many at once -------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("opponents", [2, 3, 8, 11])
@pytest.mark.parametrize("name", ["a goal that few turns reach", "a small board"])
def test_any_number_of_opponents(name: str, opponents: int, dtype: type) -> None:
    game, make = compiled(name)
    policies = random_policies(game, np.random.default_rng(0), 1 + opponents)
    weights = np.random.default_rng(1).dirichlet(np.ones(opponents))
    found = []
    for passes in (make(game.tables, 2, dtype, opponents), game.graph_layout(2, opponents)):
        each, moved = passes.forward(policies).copy(), policies.copy()
        reach = Reach(np.tensordot(weights, each, 1), weights)
        starts, _ = passes.backward(Role.SOFTMAX, moved, reach, 0.05, 0.5)
        found.append((each, starts.copy(), moved))
    for left, right in zip(*found, strict=True):
        assert left == pytest.approx(right, abs=EXACT if dtype == np.float64 else 2e-5)


@pytest.mark.parametrize("name", ["a goal that few turns reach", "a small board"])
@pytest.mark.parametrize("role", [Role.ASCEND, Role.SOFTMAX])
def test_a_sweep_changes_one_cell_after_the_other(name: str, role: Role) -> None:
    """The slow twin asks for exact values against the mixture anew before every cell."""
    game, _ = compiled(name)
    policies, weights = random_policies(game, np.random.default_rng(2), 4), np.full(3, 1.0 / 3.0)
    slow, work = policies.copy(), game.workspace(4)
    reach = work.forward(policies, weights)
    rows = reach.rows.copy()
    swept = work.backward(reach, policies, role, temperature=0.02, damping=0.5)
    for own, opponent in np.column_stack(pass_order(game.goal, STRIP))[::-1].tolist():
        here = rows[own, opponent]
        met = counterfactual_values(work, slow).values[own, opponent]
        row = slow[0, own, opponent]
        if here == 0.0:
            continue
        if role == Role.ASCEND:
            good = met >= met.max() - TIE * here
            if row[good].max() != 1.0:
                row[:] = np.arange(len(row)) == np.argmax(good)
        else:
            powers = np.exp((met - met.max()) / (0.02 * here))
            row += 0.5 * (powers / powers.sum() - row)
    assert policies[0] == pytest.approx(slow[0], abs=1e-10)
    assert swept.win_rate == pytest.approx(work.win_rate(slow).win_rate, abs=1e-12)
