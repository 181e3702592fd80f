"""Searches where positions recur, and play may come to almost nothing or never end."""

from collections.abc import Callable

import numpy as np
import pytest

from hogeq.model.game import HogEngine, compile_game
from hogeq.model.protocol import Passes, Role
from hogeq.model.shared import quick_workspace
from hogeq.rules import rules_from
from hogeq.search.attack import attack
from hogeq.search.bounds import full_memory_bound, respond
from hogeq.search.results import Budget

# Nothing is hidden in it, so the best response that remembers all is one that does not.
RECURS = {"edition": "sp22", "goal": 8, "max_dice": 3}


def small(**changes: object) -> HogEngine:
    return compile_game(rules_from(RECURS | changes))


def random_matrix(game: HogEngine, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(game.num_actions, size=(game.goal, game.goal))


# From the third and the eighteenth annealing came to cells of reach 1e-308, and to no end.
@pytest.mark.parametrize("seed", [0, 3, 18])
def test_an_annealed_attack_with_kicks_ends_with_the_best_response(seed: int) -> None:
    game = small()
    matrix = random_matrix(game, seed)
    found = attack(game, matrix, Budget(2, 10, kicks=40, seed=seed))
    assert found.win_rate == pytest.approx(full_memory_bound(game, matrix), abs=1e-9)


@pytest.mark.parametrize("least", [1e-307, 1e-320])
@pytest.mark.parametrize(
    "rules",
    [
        RECURS,
        {"edition": "su20"},  # compiled for it
        {"edition": "su20", "goal": 20, "max_dice": 4},
        {"edition": "fa22", "goal": 20, "max_dice": 4},  # by diagonals
        {"edition": "su20", "goal": 8, "max_dice": 2, "pig_out": 0},
    ],
)
@pytest.mark.parametrize("passes", [HogEngine.workspace, quick_workspace])
def test_rows_that_are_hardly_ever_reached_stay_policies(
    passes: Callable[[HogEngine, int], Passes], rules: dict[str, object], least: float
) -> None:
    game = compile_game(rules_from(rules))
    policies = np.full((2, *game.shape), 1.0 / game.num_actions)
    # Only these first rolls lead to some of the cells.
    policies[:, 0, 0] = least
    policies[:, 0, 0, 0] = 1.0 - least * (game.num_actions - 1)
    work = passes(game, 2)
    work.backward(work.forward(policies), policies, Role.SOFTMAX, temperature=3e-4, damping=0.5)
    assert policies[0].min() >= 0.0
    assert policies[0].sum(axis=-1) == pytest.approx(1.0, abs=1e-12)


def test_an_interval_of_games_that_never_end_is_one() -> None:
    game = compile_game(rules_from({"goal": 12, "max_dice": 3, "zero_dice": [0] * 12}))
    found = respond(game, np.zeros((12, 12), int), Budget(1, 0, kicks=0))
    assert found.value <= found.bound
