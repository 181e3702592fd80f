"""Dice sums by recurrence against the outcomes summed as they stand."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from hogeq.model.game import HogEngine, compile_game
from hogeq.model.workspace import Role, Workspace
from hogeq.rules import EDITIONS, Rules
from hogeq.strategies.arrays import one_hot

GAMES = {
    "records, one kind of dice": replace(EDITIONS["su20"], goal=30),
    "no memory, gifts, boosted points": replace(EDITIONS["fa15"], goal=30),
    "two kinds of dice on one plane of landings": Rules(
        goal=24, max_dice=7, hog_wild=True, feral_hogs="points"
    ),
    "extra turns with dice of their own": replace(EDITIONS["su21"], goal=24),
}


@cache
def compiled(name: str) -> HogEngine:
    return compile_game(GAMES[name])


def policies(game: HogEngine, share: float) -> NDArray[np.float64]:
    """Draw two policies that use about this share of the rolls."""
    random = np.random.default_rng(7)
    found = random.dirichlet(np.ones(game.num_actions), (2, *game.shape[:2]))
    found *= random.random(found.shape) < share
    found[..., 0] += 1e-3
    normal: NDArray[np.float64] = found / found.sum(axis=-1, keepdims=True)
    return normal


def both_ways(game: HogEngine) -> tuple[Workspace, Workspace]:
    """Make a workspace that always sums by recurrence, and one that never does."""
    always = game.tables._replace(direct_terms=1 << 30)
    never = game.tables._replace(sum_depth=np.zeros_like(game.tables.sum_depth))
    return Workspace(always, 2), Workspace(never, 2)


@pytest.mark.parametrize("name", GAMES)
def test_some_rolls_are_sums(name: str) -> None:
    tables = compiled(name).tables
    assert tables.is_sum.any()
    assert tables.sum_terms + tables.corrections < tables.direct_terms


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("share", [1.0, 0.2])
def test_sums_agree_with_outcomes(name: str, share: float) -> None:
    game = compiled(name)
    played = policies(game, share)
    by_sums, direct = both_ways(game)
    for work in (by_sums, direct):
        work.forward(played)
        work.backward(played, Role.COUNTERFACTUAL)
    assert by_sums.counterfactual_values == pytest.approx(direct.counterfactual_values, abs=1e-13)
    assert by_sums.values == pytest.approx(direct.values, abs=1e-13)
    assert by_sums.reach == pytest.approx(direct.reach, abs=1e-13)
    # What play never reaches holds exactly nothing, though sums take back what they gave too much.
    assert np.array_equal(by_sums.hidden_reach() > 0.0, direct.hidden_reach() > 0.0)


def test_an_edition_that_remembers_dice_keeps_its_outcomes() -> None:
    tables = compile_game(replace(EDITIONS["fa19"], goal=20)).tables
    assert not tables.is_sum.any()
    assert not tables.sum_depth.any()


@pytest.mark.parametrize(
    "rules",
    [*GAMES.values(), replace(EDITIONS["su20"], goal=24, max_dice=5, time_trot=True)],
    ids=[*GAMES, "records and turns counted"],
)
def test_nothing_is_left_of_an_earlier_pass_forward(rules: Rules) -> None:
    game = compile_game(rules)
    played = policies(game, 1.0)
    used, fresh = Workspace(game.tables, 2), Workspace(game.tables, 2)
    used.reach[:] = np.nan
    used.forward(played[::-1].copy())
    for work in (used, fresh):
        work.forward(played)
    assert np.array_equal(used.infoset_reach, fresh.infoset_reach)
    assert np.array_equal(used.hidden_reach(), fresh.hidden_reach())


def test_certain_rows_are_published_as_mixed_ones_are() -> None:
    game = compiled("records, one kind of dice")
    matrices = np.random.default_rng(3).integers(game.num_actions, size=(2, *game.shape[:2]))
    certain = one_hot(matrices, game.num_actions)
    one_by_one = Workspace(game.tables, 2)
    mixed = Workspace(game.tables._replace(only_swaps=False), 2)
    assert game.tables.only_swaps
    rates = [work.win_rate(certain).win_rate for work in (one_by_one, mixed)]
    assert rates[0] == pytest.approx(rates[1], abs=1e-14)
    lanes = game.tables.dimensions.records  # lanes beyond the records are padding
    shape = (2, -1, len(game.tables.lane))
    found, expected = (work.values.reshape(shape)[..., :lanes] for work in (one_by_one, mixed))
    assert found == pytest.approx(expected, abs=1e-13)
