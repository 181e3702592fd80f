"""Passes by diagonals where turns can stay and something is remembered, against generic ones."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from hogeq.kernels.diagonals import Diagonals, diagonals_of
from hogeq.kernels.orbits import ADD, SET, _Chain
from hogeq.model.game import compile_game
from hogeq.model.workspace import Workspace
from hogeq.rules import EDITIONS, Rules
from tests.kernels.test_diagonals import compare

GAMES = {
    "turns are counted": replace(EDITIONS["fa18"], goal=13, max_dice=3, pig_out=0),
    "two kinds of dice, tails": replace(EDITIONS["su21"], goal=23, max_dice=3, pig_out=0),
    "every turn is the same": Rules(
        goal=7, max_dice=2, pig_out=0, time_trot=True, time_trot_period=1, swap="double"
    ),
    "a period of 3": Rules(goal=7, max_dice=2, pig_out=0, time_trot=True, time_trot_period=3),
}


def diagonals(name: str) -> Diagonals:
    found = diagonals_of(compile_game(GAMES[name]).tables)
    assert found is not None
    return found


@pytest.mark.parametrize("name", GAMES)
def test_passes_are_the_generic_ones(name: str) -> None:
    assert diagonals(name).orbits.chances > 0
    compare(compile_game(GAMES[name]), np.random.default_rng(1))


def test_all_kinds_of_orbits_are_there() -> None:
    corners, apart = set(), False
    for orbits in (diagonals(name).orbits for name in GAMES):
        for kind in range(len(orbits.clear)):
            states = orbits.state[slice(*orbits.state_start[kind : kind + 2])]
            corners.add(1 + int(states[:, 1].max()))
        # Turns of one cell lead to its mirror image and never back.
        apart = apart or bool((orbits.turn[1] * (1.0 - orbits.joined)).any())
    assert corners == {2, 4}
    assert apart


@pytest.mark.parametrize("goal", [1, 2, 9, 24])
def test_every_cell_is_in_an_orbit_of_every_player(goal: int) -> None:
    game = compile_game(replace(EDITIONS["fa18"], goal=goal, pig_out=0))
    found = diagonals_of(game.tables)
    assert found is not None
    orbits, kinds = found.orbits, len(found.orbits.clear)
    for players, total in product((1, 2), range(2 * goal - 1)):
        seen = set()
        for kind in range(kinds):
            at = players - 1, total * kinds + kind
            first, last = orbits.first[at], orbits.first[at[0], at[1] + 1]
            states = orbits.state[slice(*orbits.state_start[kind : kind + 2])]
            for corner in np.unique(states[:, 1]):
                seen |= set(orbits.places[corner, first:last].tolist())
        scores = range(max(0, total - goal + 1), min(total, goal - 1) + 1)
        assert seen == {
            player * found.width + score for player in range(players) for score in scores
        }


@pytest.mark.parametrize("seed", range(20))
def test_elimination_solves_the_equations(seed: int) -> None:
    random = np.random.default_rng(seed)
    states = int(random.integers(1, 7))
    chain = random.random((states, states)) * (random.random((states, states)) < 0.5)
    leaves = random.random(states) + 0.01
    scale = 1.0 / (chain.sum(axis=1) + leaves)
    chain, leaves = chain * scale[:, None], leaves * scale
    slots = [1.0, *[0.0] * states, *leaves]
    moves = []
    for one, other in np.argwhere(chain > 0.0).tolist():
        for share in (0.25, 0.75):  # two ways to the same state
            moves.append((one, other, len(slots)))
            slots.append(share * chain[one, other])
    made = _Chain(list(range(1 + states, 1 + 2 * states)), moves, len(slots))
    given = random.random(states)
    factor, values, visits = made.codes()
    identity = np.eye(states)
    for code, expected in (
        (values, np.linalg.solve(identity - chain, given)),
        (visits, np.linalg.solve(identity - chain.T, given)),
    ):
        work = np.array([*slots, *[0.0] * (made.free - len(slots))])
        work[1 : 1 + states] = given
        for operation, to, one, other in (*factor, *code):
            both = work[one] * work[other]
            if operation == ADD:
                work[to] += both
            else:
                work[to] = both if operation == SET else work[one] / work[other]
        np.testing.assert_allclose(work[1 : 1 + states], expected, rtol=1e-12)


def test_a_game_that_hardly_ever_moves_loses_no_digits() -> None:
    # Of twenty coins all show 2 once in 2**20 turns.
    rules = Rules(goal=5, max_dice=20, sides=2, pig_out=0, time_trot=True, time_trot_period=3)
    game = compile_game(rules)
    assert game.diagonals is not None
    patient = np.zeros((2, *game.shape))
    patient[..., -1] = 1.0
    fast, slow = game.workspace(2), Workspace(game.tables, 2)
    rates = []
    for work in (fast, slow):
        rates.append(work.win_rate(patient))
        work.forward(patient)
    assert rates[0] == pytest.approx(rates[1], rel=1e-13)
    np.testing.assert_allclose(fast.infoset_reach, slow.infoset_reach, rtol=1e-12)
