"""Bounds on what wins from a mixture: between exact best responses and responders told the draw."""

from decimal import Decimal
from itertools import count
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.evaluation.values import win_rate
from hogeq.model.game import HogEngine, compile_game
from hogeq.rules import rules_from
from hogeq.rules.memory import Memory
from hogeq.rules.turn import Turn, TurnTable
from hogeq.search import bounds
from hogeq.search.attack import attack
from hogeq.search.bounds import BeliefGrid, default_resolution, full_memory_bound, upper_bound
from hogeq.strategies.conversion import strategy_of
from hogeq.strategies.strategy import Mixture
from hogeq.support.aliases import Floats
from hogeq.support.deadline import Deadline
from tests.evaluation.players import RECURRING
from tests.search.games import TINY, best_response, matrices_of, mixture_of, small
from tests.slow import mostly_slow
from tests.twin import Play, every_matrix_wins


class Naive:
    """A responder who remembers the whole game and not the draw, by walking all games."""

    def __init__(self, game: HogEngine, mixture: Mixture) -> None:
        self.turns = TurnTable(game.rules)
        self.parts = strategy_of(game, mixture).policies
        self.rolls = range(game.num_actions)
        start = (0, 0, Memory())
        self.rate = sum(self.wins(*start, mine, mixture.weights) for mine in (True, False)) / 2.0

    def wins(self, own: int, other: int, memory: Memory, mine: bool, drawn: Floats) -> float:
        """Probability that the responder wins, summed over the parts, each as likely as `drawn`."""
        if drawn.sum() == 0.0:
            return 0.0
        if mine:
            return max(self.after(own, other, memory, roll, mine, drawn) for roll in self.rolls)
        return sum(
            self.after(own, other, memory, roll, mine, drawn * self.parts[:, own, other, roll])
            for roll in self.rolls
        )

    def after(self, own: int, other: int, memory: Memory, roll: int, mine: bool, drawn: Any) -> Any:
        ways = self.turns.outcomes(own, other, memory, roll)
        return sum(float(way.probability) * self.end(way, mine, drawn) for way in ways)

    def end(self, way: Turn, mine: bool, drawn: Any) -> Any:
        if way.landing.winner is not None:
            return float((way.landing.winner == 0) == mine) * drawn.sum()
        return self.wins(*way.following, mine == way.again, drawn)


def test_a_bound_for_which_time_ends_is_that_of_full_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game = small(6, 2)
    target = strategy_of(game, matrices_of(game, 2))
    told = full_memory_bound(game, target)
    whole = bounds.bound_in_time(game, target, Deadline(), told, 0.0)
    assert whole == upper_bound(game, target) < told
    valued: list[object] = []
    values_of_drawn = bounds._values_of_drawn

    def counted(*given: Any) -> Floats:
        valued.append(given)
        return values_of_drawn(*given)

    monkeypatch.setattr(bounds, "_values_of_drawn", counted)
    for looks in (2, 5):
        valued.clear()
        deadline = Deadline(looks, count().__next__)
        assert bounds.bound_in_time(game, target, deadline, told, 0.0) == told
        assert len(valued) == looks - 2


def test_no_margin_is_computed_of_a_bound_that_is_far(monkeypatch: pytest.MonkeyPatch) -> None:
    game = compile_game(rules_from(TINY[next(iter(TINY))]))
    monkeypatch.setattr(bounds, "bound_margin", lambda *_: pytest.fail("a margin"))
    assert not bounds.is_half(game, strategy_of(game, mixture_of(game, 2)), 0.6)


@pytest.mark.parametrize("name", TINY)
def test_no_matrix_wins_more_from_a_mixture(name: str) -> None:
    game = compile_game(rules_from(TINY[name]))
    mixture = mixture_of(game, 3)
    rates = sum(
        weight * every_matrix_wins(Play(game.rules), part)[2]
        for weight, part in strategy_of(game, mixture).drawn()
    )
    found = best_response(game, mixture)
    assert found.is_exact
    assert found.win_rate == pytest.approx(float(np.max(rates)), abs=1e-12)
    won = win_rate(game, found.rolls, mixture).win_rate
    assert won == pytest.approx(found.win_rate, abs=1e-12)


@pytest.mark.parametrize("name", mostly_slow(TINY, "points", "turn number"))
@pytest.mark.parametrize("make", [mixture_of, matrices_of])
def test_who_is_not_told_the_draw_learns_it_on_the_way(name: str, make: Any) -> None:
    game = compile_game(rules_from(TINY[name]))
    mixture = make(game, 2)
    untold = Naive(game, mixture).rate
    told = float(np.dot(mixture.weights, [full_memory_bound(game, one) for one in mixture.parts]))
    exact = best_response(game, mixture).win_rate
    bounds = [upper_bound(game, mixture, resolution) for resolution in (1, 2, 4, 16, 64)]
    assert bounds[0] == pytest.approx(told, abs=1e-12)
    assert np.diff(bounds).max() < 1e-12  # each grid refines the one before
    assert exact - 1e-12 <= untold <= bounds[-1] + 1e-12
    assert bounds[-1] == pytest.approx(untold, abs=2e-4)


def test_beliefs_that_hardly_move_count() -> None:
    """In most cells one component makes another roll once in 5e8 games: that tells a little.

    Such beliefs counted as unmoved, and some matrix won more than the bound.
    """
    game = compile_game(rules_from({"edition": "fa22", "goal": 10, "max_dice": 3}))
    most_above = -np.inf
    for seed in range(12):
        random = np.random.default_rng(seed)
        rolls, others = random.integers(0, 4, (2, 10, 10))
        differs = random.random((10, 10, 1)) < 0.5
        table = np.eye(4)[rolls]
        nearly = (1.0 - 1.9e-9) * table + 1.9e-9 * np.eye(4)[(rolls + 1) % 4]
        mixture = Mixture([0.5, 0.5], [table, np.where(differs, np.eye(4)[others], nearly)])
        target = strategy_of(game, mixture)
        found = attack(game, target, hogeq.Budget(starts=2, kicks=0)).win_rate
        bound = upper_bound(game, target, 2)
        most_above = max(most_above, found - bound - bounds.bound_margin(game, bound, target))
    assert most_above <= 0.0


def test_a_proved_response_wins_no_more_than_full_memory_is_said_to() -> None:
    """Its digits are rounded, the bound with knowledge of the draw was not, and had no margin."""
    seen = 0
    for seed in range(30):
        random = np.random.default_rng(seed)
        game = hogeq.Game({"edition": "sp17", "goal": 3, "max_dice": 1, "sides": 3})
        actions = game.engine.num_actions
        tables = np.eye(actions)[random.integers(actions, size=(2, 3, 3))]
        mixture = hogeq.Mixture(random.dirichlet([1, 1]), tables)
        found = game.attack(mixture, hogeq.Budget(starts=1, kicks=0))
        written = found.to_json()
        assert written["bound_told"] == written["full_memory"] >= written["attack"]
        if found.is_proved and found.bound < found.full_memory:
            seen += 1
            assert written["full_memory"] >= found.full_memory + found.margin
    assert seen > 5


@pytest.mark.parametrize("missed", [-9e-10, 9e-10])
def test_rows_that_miss_1_leave_room(missed: float) -> None:
    """Such a policy stands for the one whose rows are divided by their sums."""
    game = hogeq.Game({"edition": "fa22", "goal": 20, "max_dice": 3})
    policy = np.random.default_rng(0).dirichlet(np.ones(4), (20, 20))
    truth = game.attack(policy).value
    assert game.win_rate((1.0 + missed) * policy, "always_roll:1").win_rate == pytest.approx(
        game.win_rate(policy, "always_roll:1").win_rate, abs=1e-14
    )
    found = game.attack((1.0 + missed) * policy)
    assert found.ends[0] <= truth <= found.ends[1]
    written = found.to_json()
    if found.is_proved:
        digits = Decimal(str(written["attack"])).as_tuple().exponent
        assert round(truth, -int(digits)) == written["attack"] == written["bound"]


def test_known_mixtures() -> None:
    game = small(9, 2)
    same = matrices_of(game, 1)
    one = full_memory_bound(game, same.parts[0])
    twice = Mixture([0.0, 0.4, 0.6], [1 - same.parts[0] // 2, same.parts[0], same.parts[0]])
    for resolution in (1, 5):
        assert upper_bound(game, twice, resolution) == pytest.approx(one, abs=1e-9)
    assert full_memory_bound(game, twice) == pytest.approx(one, abs=1e-12)


@pytest.mark.parametrize(("parts", "resolution"), [(1, 3), (2, 5), (3, 4), (4, 8), (5, 2)])
def test_chords_have_the_belief_for_their_mean(parts: int, resolution: int) -> None:
    random = np.random.default_rng(parts)
    weights = random.dirichlet(np.ones(parts))
    grid = BeliefGrid.of(weights, resolution)
    corners = np.eye(parts)
    beliefs = np.concatenate([random.dirichlet(np.ones(parts), 50), corners, grid.beliefs])
    shares = grid.interpolation_weights(beliefs)
    assert shares.min() >= 0.0
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(shares @ grid.beliefs, beliefs, atol=1e-8)
    assert (shares > 0.0).sum(axis=1).max() <= parts
    # What is on the grid needs no chord, whatever rounding did to it.
    assert ((shares[-len(grid.points) :] > 0.0).sum(axis=1) == 1).all()
    if resolution % parts == 0:
        assert grid.interpolation_weights(weights[None]).max() == pytest.approx(1.0)


def test_the_grid_that_is_taken_has_the_draw_on_it_where_that_can_be() -> None:
    game, recurring = small(9, 2), compile_game(RECURRING["primes"])
    for parts, resolution in ((1, 1), (2, 2), (3, 3), (8, 1)):
        assert default_resolution(game, strategy_of(game, matrices_of(game, parts))) == resolution
        mixture = matrices_of(recurring, parts)
        assert default_resolution(recurring, strategy_of(recurring, mixture)) == 1
        told = upper_bound(recurring, mixture, 1)
        assert told == pytest.approx(full_memory_bound(recurring, mixture), abs=1e-12)


def test_what_cannot_be_bounded() -> None:
    game = small(9, 2)
    mixture = matrices_of(game, 8)
    with pytest.raises(ValueError, match="resolution: got 0; allowed: 1 or more"):
        upper_bound(game, mixture, 0)
    with pytest.raises(
        ValueError, match=r"resolution: got 8; .* 8 components make at most 500 beliefs"
    ):
        upper_bound(game, mixture, 8)
    recurring = compile_game(RECURRING["primes"])
    with pytest.raises(ValueError, match="positions do not recur"):
        upper_bound(recurring, matrices_of(recurring, 2), 2)
    with pytest.raises(ValueError, match="resolution: got 3; allowed: for mixtures, not for a m"):
        hogeq.Game(game.rules).bound("always_roll:2", 3)
