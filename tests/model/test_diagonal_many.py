"""Passes by diagonals over many pairs are the generic ones."""

from dataclasses import replace

import numpy as np
import pytest

from hogeq.model.game import compile_game
from hogeq.model.many import DiagonalMany, GenericMany
from hogeq.model.side_by_side import FEWEST, MATCHES, LargeMany, many_workspace
from hogeq.model.workspace import Role
from hogeq.rules import EDITIONS
from hogeq.support.aliases import Floats

PAIRS = 3
WEIGHTS = np.array([0.5, 0.2, 0.3])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("edition", ["fa22", "su21", "fa15"])
@pytest.mark.parametrize("players", [1, PAIRS])
def test_many_pairs(edition: str, players: int, dtype: type) -> None:
    game = compile_game(replace(EDITIONS[edition], goal=13, max_dice=3))
    fast, slow = many_workspace(game, PAIRS, dtype), GenericMany(game.tables, PAIRS)
    assert isinstance(fast, DiagonalMany)
    random = np.random.default_rng(0)
    policies = random.dirichlet(np.ones(game.num_actions), (players + PAIRS, *game.shape[:2]))
    policy = policies[0] if players == 1 else policies[:players]
    found: list[Floats] = []
    expected: list[Floats] = []
    for work, results in ((fast, found), (slow, expected)):
        for _ in range(2):  # the second finds the arrays in use
            work.face(policies[players:], WEIGHTS)
            work.forward(policy)
            results.extend([work.infoset_reach.copy(), work.each_reach.copy()])
            results.append(work.win_rates(policy))
            results.append(work.backward(policy, Role.COUNTERFACTUAL).win_rates)
            results.extend([work.counterfactual_values.copy(), work.each.copy()])
            # Rolls that are nearly as good are ties in double precision alone.
            for role in (Role.ASCEND, Role.SOFTMAX)[dtype == np.float32 :]:
                moved = policy.copy()
                met = work.backward(moved, role, temperature=0.02, damping=0.5)
                results.extend([met.first, met.other, met.changes.astype(np.float64)])
                results.append(moved)
    close = 1e-12 if dtype == np.float64 else 2e-5
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=0.0, atol=close)


# A pack that is not full, one that is, and two; doubles are one cell to a vector, singles two.
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("edition", "pairs", "goal"),
    [("fa22", FEWEST, 13), ("su21", MATCHES, 12), ("fa18", 10, 13), ("fa15", 6, 14)],
)
def test_matches_side_by_side(edition: str, pairs: int, goal: int, dtype: type) -> None:
    """An edition that raises landings, that knows many memories, that gives turns, and points."""
    game = compile_game(replace(EDITIONS[edition], goal=goal, max_dice=3))
    fast, slow = many_workspace(game, pairs, dtype), GenericMany(game.tables, pairs)
    assert isinstance(fast, LargeMany)
    random = np.random.default_rng(1)
    weights = random.dirichlet(np.ones(pairs))
    found: list[Floats] = []
    expected: list[Floats] = []
    for work, results in ((fast, found), (slow, expected)):
        draw = np.random.default_rng(2)
        for role in (Role.SOFTMAX, Role.ASCEND):  # the second finds the arrays in use
            policies = draw.dirichlet(np.ones(game.num_actions), (1 + pairs, *game.shape[:2]))
            policy = policies[0]
            policy[3:, 5] = np.eye(game.num_actions)[1]  # some cells are not reached
            work.face(policies[1:], weights)
            work.forward(policy)
            met = work.backward(policy, role, temperature=0.02, damping=0.5)
            results.extend([policy, met.first, met.other, work.infoset_reach.copy()])
            if dtype == np.float64:  # rolls that are nearly as good are ties there alone
                results.append(met.changes.astype(np.float64))
    close = 1e-12 if dtype == np.float64 else 2e-5
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=0.0, atol=close)


def test_most_of_a_pack_is_in_use() -> None:
    game = compile_game(replace(EDITIONS["fa22"], goal=13, max_dice=2))
    kinds = {pairs: type(many_workspace(game, pairs)) for pairs in (4, 5, 8, 9, 10, 16)}
    assert [pairs for pairs, kind in kinds.items() if kind is DiagonalMany] == [4, 9]


def test_a_row_that_is_set_against_many_is_the_best_one() -> None:
    """In single precision it may be another that is as good to six digits."""
    game = compile_game(replace(EDITIONS["su21"], goal=20, max_dice=3))
    work, exact = many_workspace(game, PAIRS, np.float32), many_workspace(game, PAIRS)
    random = np.random.default_rng(2)
    policy, *opponents = random.dirichlet(np.ones(game.num_actions), (1 + PAIRS, *game.shape[:2]))
    found = []
    for one in (work, exact):
        moved = policy.copy()
        one.face(np.array(opponents), WEIGHTS)
        for _ in range(4):
            one.forward(moved)
            one.backward(moved, Role.ASCEND)
        exact.face(np.array(opponents), WEIGHTS)
        found.append(WEIGHTS @ exact.win_rates(moved))
    assert found[0] == pytest.approx(found[1], abs=1e-3)
    assert found[0] > WEIGHTS @ exact.win_rates(policy) + 0.05
