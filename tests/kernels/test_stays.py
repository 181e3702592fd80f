"""Passes by diagonals where turns can stay, against the generic ones."""

from dataclasses import replace

import numpy as np
import pytest

from hogeq.kernels.diagonals import diagonals_of
from hogeq.model.game import compile_game
from hogeq.model.workspace import Role, Workspace
from hogeq.rules import EDITIONS, Rules
from tests.kernels.test_diagonals import compare

EXACT = 1e-12
GAMES = {
    "no dice can score nothing": replace(EDITIONS["sp22"], goal=40, max_dice=3),
    "every roll can score nothing": replace(EDITIONS["fa22"], goal=21, pig_out=0, max_dice=4),
    "two kinds of dice, swaps": Rules(
        goal=22, max_dice=3, pig_out=0, swap="double", hog_wild=True, prime_boost=True
    ),
    "swaps of one of two": Rules(goal=20, max_dice=2, pig_out=0, swap="ones_gap_is_tens"),
    "many dice": Rules(goal=6, max_dice=12, sides=3, pig_out=0),
}


@pytest.mark.parametrize("name", GAMES)
def test_passes_are_the_generic_ones(name: str) -> None:
    game = compile_game(GAMES[name])
    diagonals = diagonals_of(game.tables)
    assert diagonals is not None
    assert diagonals.stays.pair.any()
    compare(game, np.random.default_rng(0))


def test_all_kinds_of_cells_are_there() -> None:
    found = [diagonals_of(compile_game(rules).tables) for rules in GAMES.values()]
    stays = [one.stays for one in found if one is not None]
    assert len(stays) == len(GAMES)
    assert any(one.tail.any() for one in stays)
    assert any(one.beyond.any() for one in stays)
    turned = [(one.partner != np.arange(one.partner.shape[1])) & (one.pair > 0.0) for one in stays]
    kept = [(one.partner == np.arange(one.partner.shape[1])) & (one.pair > 0.0) for one in stays]
    assert any(one.any() for one in turned)
    assert any(one[1:].any() for one in kept)


@pytest.mark.parametrize(
    "rules",
    [
        Rules(goal=14, max_dice=2, pig_out=0, more_boar="digit_range"),
        Rules(goal=7, max_dice=2, pig_out=0, feral_hogs="dice"),
    ],
)
def test_extra_turns_and_memory_are_left_to_the_generic_passes(rules: Rules) -> None:
    game = compile_game(rules)
    assert game.positions_recur
    assert game.diagonals is None


def test_a_game_that_never_ends_is_worth_a_half() -> None:
    """At 72 to 75, where neither rolls in spring 2022."""
    game = compile_game(EDITIONS["sp22"])
    matrix = np.full((100, 100), 5)
    matrix[72, 75] = matrix[75, 72] = 0
    played = np.repeat(np.eye(11)[matrix][None], 2, axis=0)
    work, slow = game.workspace(2), Workspace(game.tables, 2)
    for one in (work, slow):
        one.backward(played, keep=True)
        for scores in ((72, 75), (75, 72)):
            for player in range(2):
                assert one.hidden_values(*scores, player)[0, 0] == 0.5
    rates = [one.backward(played, Role.EVALUATE) for one in (work, slow)]
    assert rates[0] == pytest.approx(rates[1], abs=EXACT)


def test_a_workspace_is_used_again() -> None:
    """Nothing of one pass is left in the next."""
    game = compile_game(GAMES["no dice can score nothing"])
    random = np.random.default_rng(5)
    work = game.workspace(2)
    for _ in range(3):
        played = random.dirichlet(np.ones(game.num_actions), (2, *game.shape[:2]))
        fresh = game.workspace(2)
        for one in (work, fresh):
            one.forward(played)
        assert np.array_equal(work.infoset_reach, fresh.infoset_reach)
        assert work.backward(played) == fresh.backward(played)
