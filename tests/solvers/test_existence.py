"""Whether equilibria in policies exist: games with known answers, and the parts of the decision."""

from fractions import Fraction
from itertools import count, product
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.rules.turn import denominator
from hogeq.search.branching import ResponseGraph, Status
from hogeq.search.matrix_games import PoolGame
from hogeq.search.rationals import ExactStates, solve_equations, to_floats, to_fractions
from hogeq.solvers import existence
from hogeq.solvers.descent import MODELLED_GAP, centre
from hogeq.solvers.symmetric import (
    TIE_MARGIN,
    SymmetricGame,
    dyadic_weights,
    minimal_support,
)
from hogeq.support.deadline import Deadline

TWO_COINS: dict[str, Any] = {  # docs/mixtures.md proves 1/216 by hand
    "goal": 4,
    "max_dice": 2,
    "sides": 2,
    "zero_dice": "alternating_cube_digits",
    "time_trot": True,
    "time_trot_period": 2,
}


def test_the_two_coin_game_has_none() -> None:
    found = hogeq.Game(TWO_COINS).existence(30.0)
    assert (found.kind, found.exists) == ("none", False)
    assert 0.001 < found.lower <= 1 / 216 <= found.upper + 1e-12
    assert found.upper < 4 * found.lower
    assert found.components == 3


@pytest.mark.parametrize(
    ("edition", "goal", "dice", "kind"),
    [
        ("su20", 8, 2, "matrix"),
        ("fa18", 8, 2, "policy"),
        ("sp19", 8, 2, "policy"),
        ("sp20", 12, 3, "policy"),  # a row's share of one action may lie in an interval
    ],
)
def test_what_exists_is_not_beaten(edition: str, goal: int, dice: int, kind: str) -> None:
    game = hogeq.Game({"edition": edition, "goal": goal, "max_dice": dice})
    found = game.existence(60.0)
    assert (found.kind, found.exists, found.lower, found.upper) == (kind, True, 0.0, 0.0)
    policy = found.policy.reshape(game.engine.shape)
    assert game.attack(policy, hogeq.Budget(starts=4, kicks=5)).value == pytest.approx(0.5)


def test_a_matrix_wins_of_each_of_a_pool_what_all_actions_laid_out_say() -> None:
    game = hogeq.Game({"edition": "fa18", "goal": 6, "max_dice": 2})
    engine = game.engine
    uniform = np.full(engine.shape, 1.0 / engine.num_actions)
    symmetric = SymmetricGame(ResponseGraph.of(engine.graph.against(uniform)))
    shape = 5, symmetric.rows
    pool = np.random.default_rng(0).integers(engine.num_actions, size=shape)
    wins = symmetric.win_rates(pool[0], pool)
    np.testing.assert_array_equal(wins, symmetric.against(pool).values(pool[0]))
    own, *others = pool.reshape(5, *engine.shape[:-1])
    rates = [game.win_rate(own, other).win_rate for other in (own, *others)]
    assert wins == pytest.approx(rates, abs=1e-12)


def test_a_policy_moves_off_a_pool_that_it_beats() -> None:
    """Then no counter is near 1/2: those are near that win most."""
    game = hogeq.Game({"edition": "su20", "goal": 5, "max_dice": 1})
    engine = game.engine
    uniform = np.full(engine.shape, 1.0 / engine.num_actions)
    symmetric = SymmetricGame(ResponseGraph.of(engine.graph.against(uniform)))
    policy = game.existence(10.0).policy
    matrices = np.random.default_rng(0).integers(engine.num_actions, size=(50, symmetric.rows))
    rates = symmetric.against_policy(policy)
    beaten = matrices[[rates.value(matrix) < 0.5 - 2.0 * MODELLED_GAP for matrix in matrices]]
    assert len(beaten)
    moved = centre(symmetric, policy, beaten, Deadline())
    assert symmetric.against_policy(moved).respond([], 0.5 + TIE_MARGIN).status == Status.CLOSED


def test_coins_decided_by_all_matrices() -> None:
    """A game of few matrices: the answer is that of the whole matrix game."""
    game = hogeq.Game({"edition": "su20", "goal": 2, "max_dice": 2, "sides": 2})
    found = game.existence(10.0)
    assert found.exists
    every = [np.array(one).reshape(2, 2) for one in product(range(3), repeat=4)]
    rates = [game.win_rate(one, found.policy.reshape(2, 2, 3)).win_rate for one in every]
    assert max(rates) == pytest.approx(0.5)


def test_what_full_memory_wins_against_the_equilibrium() -> None:
    for edition, goal, dice in (("su20", 8, 2), ("fa13", 5, 1), ("fa18", 7, 2)):
        game = hogeq.Game({"edition": edition, "goal": goal, "max_dice": dice})
        found = game.existence(60.0)
        response = game.attack(found.policy.reshape(game.engine.shape), hogeq.Budget(starts=1))
        assert found.exists
        assert found.memory == pytest.approx(response.bound - 0.5, abs=1e-9)
    assert hogeq.Game({"edition": "fa22", "goal": 5, "max_dice": 2}).existence().memory == 0.0
    mixed = hogeq.Game(TWO_COINS).existence(30.0)
    assert mixed.memory is not None
    assert mixed.memory > 0.0


def test_no_component_can_be_dropped() -> None:
    rock = np.array([[0.5, 0.0, 1.0], [1.0, 0.5, 0.0], [0.0, 1.0, 0.5]])
    payoffs = np.block([[rock, rock], [rock, rock]])  # each strategy twice
    every = np.full(6, 1 / 6)
    weights = minimal_support(PoolGame(np.zeros((6, 1), int), payoffs, every))
    assert (weights > 0.0).sum() == 3
    assert weights.max() == pytest.approx(1 / 3)
    assert (payoffs @ weights).max() == pytest.approx(0.5)


@pytest.mark.parametrize("looks", range(6))
def test_without_time_it_is_open(looks: int) -> None:
    """The time is over when the clock has been looked at so often."""
    game = hogeq.Hog({"edition": "su20", "goal": 6, "max_dice": 2})
    clock = count().__next__
    found = game.existence(looks, clock)
    assert (found.exists, found.lower, found.kind) == (None, 0.0, "open")
    response = game.attack(found.policy.reshape(game.engine.shape), hogeq.Budget(starts=1))
    assert response.value - 0.5 <= found.upper <= response.bound - 0.5 + 1e-9


def test_time_is_that_of_all_deadlines(monkeypatch: pytest.MonkeyPatch) -> None:
    """In it compiling does not count: a first call decides as much as a second one."""
    game = hogeq.Game({"edition": "su20", "goal": 6, "max_dice": 2})
    assert game.existence(seconds=60.0).exists
    monkeypatch.setattr(Deadline, "usual_clock", staticmethod(count(step=60.0).__next__))
    assert game.existence(seconds=60.0).exists is None


@pytest.mark.parametrize("edition", ["su20", "fa13"])
def test_chances_of_too_many_dice_are_not_taken_for_fractions(edition: str) -> None:
    """Their common denominator is beyond whole numbers that doubles tell apart, or int64 holds."""
    game = hogeq.Hog({"edition": edition, "goal": 4, "max_dice": 26})
    found = game.existence(20.0)
    assert (found.kind, found.lower) == ("open", 0.0)
    assert 0.0 < found.upper < 1e-10
    uniform = np.full(game.engine.shape, 1.0 / game.engine.num_actions)
    graph = ResponseGraph.of(game.graph.against(uniform))
    with pytest.raises(ValueError, match=r"denominator: got .*; allowed: at most"):
        ExactStates(graph, denominator(game.rules))


def test_boxes_need_no_proof_of_the_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the policy's exploitability is too hard to prove, the upper end is full memory's."""
    monkeypatch.setattr(existence, "PROOF_RELAXATIONS", 0)
    found = hogeq.Game(TWO_COINS).existence(30.0)
    assert found.kind == "none"
    assert 0.001 < found.lower <= 1 / 216 < found.upper


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("kuhn_poker", "games of Hog"),
        ({"edition": "su20"}, "lower goal"),
        ("sp22", "recur"),
        ({"edition": "su20", "goal": 4, "max_dice": 2, "pig_out": 0}, "recur"),
    ],
)
def test_other_games_are_refused(given: Any, says: str) -> None:
    pytest.importorskip("pyspiel") if given == "kuhn_poker" else None
    with pytest.raises(ValueError, match=says):
        hogeq.Game(given).existence(1.0)


def test_probabilities_are_rounded_to_small_denominators() -> None:
    known = [[Fraction(19, 199), Fraction(180, 199), Fraction(0)], [Fraction(1, 3)] * 3]
    off = np.array([[1e-9, -1e-9, 0.0], [1e-9, 2e-9, -3e-9]])
    assert to_fractions(to_floats(known) + off, 256) == known
    assert to_fractions(np.array([[0.0, 1.0], [1.0, 0.0]]), 1) == [[0, 1], [1, 0]]
    draws = np.random.default_rng(0).dirichlet(np.ones(5), 100)
    rows = to_fractions(draws, 256)
    assert all(sum(row) == 1 and min(row) >= 0 for row in rows)
    assert np.abs(to_floats(rows) - draws).max() < 5 / 256


def test_small_parts() -> None:
    third = [Fraction(1, 3)] * 3
    lines = [[0, 1, -1, 0], [-1, 0, 1, 0], [1, -1, 0, 0], [1, 1, 1, 1]]
    assert solve_equations([[Fraction(one) for one in line] for line in lines]) == third
    assert solve_equations([[Fraction(0), Fraction(0)]]) is None
    assert solve_equations([[Fraction(1), Fraction(1)], [Fraction(1), Fraction(2)]]) is None
    shares = dyadic_weights(np.array([1.0, 2.0, 4.0]))
    assert shares.sum() == 1.0
    assert (shares * 2**40 % 1 == 0).all()


def test_both_ends_are_written_rounded_outward() -> None:
    found = existence.Existence(
        kind="none",
        lower=1.23456e-5,
        upper=2.34512e-5,
        policy=np.ones((1, 1)),
        components=3,
        memory=None,
        proof={},
        seconds=0.0,
    )
    assert [figure for _, figure, _ in found.rows()][1:3] == ["1.234e-05", "2.346e-05"]
    assert repr(found) == "Existence(none; 1.23e-05 to 2.35e-05)"
