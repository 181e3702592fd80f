"""The bound on the rounding of a gain, against gains in rational numbers."""

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.evaluation.counterfactual import (
    UNPROVED_ERROR,
    counterfactual_values,
    gain_error,
    gains_alone,
    gains_and_error,
    kkt_gap,
)
from hogeq.evaluation.values import win_rate
from hogeq.model.game import compile_game
from hogeq.model.protocol import Role
from hogeq.trees.positions import of_rules
from tests.evaluation.test_enclosures import Walk
from tests.runs.trials import trial


class Ladder(hogeq.GameRules):
    """Many steps, at each of which the player picks one of two odds to rise."""

    ODDS = (0.1, 0.7)
    players = 1

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def initial(self) -> Any:
        return 0, 0, -1

    def to_move(self, state: Any) -> int:
        if state[0] == self.steps:
            return hogeq.END
        return 0 if state[2] < 0 else hogeq.CHANCE

    def actions(self, state: Any) -> Any:  # noqa: ARG002 - always two
        return [0, 1]

    def chances(self, state: Any) -> Any:
        odds = self.ODDS[state[2]]
        return [(1, odds), (0, 1.0 - odds)]

    def next(self, state: Any, action: Any) -> Any:
        step, height, pick = state
        return (step, height, action) if pick < 0 else (step + 1, height + action, -1)

    def knows(self, state: Any, player: int) -> Any:  # noqa: ARG002 - there is one
        return state[0]

    def payoffs(self, state: Any) -> Any:
        return [1.0 / (1.0 + state[1])]

    def exact_value(self, policy: Any) -> Fraction:
        values = [Fraction(1.0 / (1.0 + height)) for height in range(self.steps + 1)]
        for row in policy[::-1].tolist():
            rise = sum((Fraction(p) * Fraction(q) for p, q in zip(row, self.ODDS, strict=True)))
            values = [rise * up + (1 - rise) * stay for stay, up in pairwise(values)]
        return values[0]


@pytest.mark.parametrize("steps", [2, 40])
def test_the_bound_holds_of_gains_in_rational_numbers(steps: int) -> None:
    rules = Ladder(steps)
    game = hogeq.Game(of_rules(rules))
    order = np.argsort([int(key) for key in game.rows.keys])  # rows by step
    share = np.random.default_rng(steps).integers(0, 2**20, (2, steps)) / 2**20
    before, after = np.stack([share, 1.0 - share], axis=2)
    policies = np.stack([before, before])
    work = game.engine.workspace(2)
    values = work.backward(work.forward(policies), policies, Role.COUNTERFACTUAL).values
    first_order = 2.0 * (values * (after - before)).sum(axis=1)  # a player has one of two seats
    gains = gains_alone(game.engine, policies, np.ones(1), after, first_order)
    error = gain_error(game.engine, 1)
    assert 0.0 < error < 1e-10
    for row in range(steps):
        changed = before.copy()
        changed[row] = after[row]
        exact_gain = rules.exact_value(changed[order]) - rules.exact_value(before[order])
        missed = abs(Fraction(gains[row]) * Fraction(game.engine.payoff_per_win_rate) - exact_gain)
        assert missed <= error * game.engine.payoff_per_win_rate, row


def test_where_positions_recur_no_bound_is_proved() -> None:
    assert gain_error(hogeq.Game(of_rules(Walk(2))).engine, 1) == UNPROVED_ERROR


class Ring(hogeq.GameRules):
    """Two players in turn pick the winner of a round that nearly never comes."""

    players = 2

    def __init__(self, places: int, leave: float) -> None:
        self.places, self.leave = places, leave

    def initial(self) -> Any:
        return 0, 0, ""

    def to_move(self, state: Any) -> int:
        place, player, picked = state
        if place < 0:
            return hogeq.END
        return hogeq.CHANCE if picked else player

    def actions(self, state: Any) -> Any:  # noqa: ARG002 - always two
        return ["lose", "win"]

    def chances(self, state: Any) -> Any:  # noqa: ARG002 - always the same
        stay = 0.5 - self.leave / 2.0
        return [(0, self.leave), (1, stay), (-1, stay)]

    def next(self, state: Any, action: Any) -> Any:
        place, player, picked = state
        if not picked:
            return place, player, action
        if action == 0:
            return -1, player, picked
        return (place + action) % self.places, 1 - player, ""

    def knows(self, state: Any, player: int) -> Any:  # noqa: ARG002 - the mover's own row
        return state[1]

    def payoffs(self, state: Any) -> Any:
        _, player, picked = state
        first_wins = (picked == "win") == (player == 0)
        return (1.0, -1.0) if first_wins else (-1.0, 1.0)


@pytest.mark.parametrize("leave", [0.003, pytest.param(0.00011, marks=pytest.mark.slow)])
def test_where_iteration_ends_early_the_error_of_a_gain_says_so(leave: float) -> None:
    """The first player moves last with probability 1 / (2 - leave), and then wins, not half."""
    game = hogeq.Game(of_rules(Ring(258, leave)))  # one block, too large to be eliminated
    policy = game.strategy("uniform").policy
    after = policy.copy()
    first_row = int(np.flatnonzero(game.rows.seat == 0)[0])
    after[first_row] = [0.0, 1.0]
    policies = np.stack([policy, policy])
    gains, error = gains_and_error(game.engine, policies, np.ones(1), after, np.zeros(2))
    in_one_of_two_seats = Fraction(1, 4) / (2 - Fraction(leave))
    assert abs(Fraction(gains[first_row]) - in_one_of_two_seats) <= error
    assert error > 100.0 * UNPROVED_ERROR if leave < 0.001 else error < 5.0 * UNPROVED_ERROR


class Luck(Ladder):
    """The same with the first odds alone, so that nobody moves."""

    def initial(self) -> Any:
        return 0, 0, 0

    def next(self, state: Any, action: Any) -> Any:
        step, height, pick = state
        return step + 1, height + action, pick


def test_where_nobody_moves_nothing_differs() -> None:
    game = hogeq.Game(of_rules(Luck(5)))
    assert game.diff("uniform", "uniform").changes == ()


# --- the gap of stationarity ----------------------------------------------------------------------


def test_kkt_gap_is_the_steepest_rate_of_improvement() -> None:
    """Against a difference quotient of exact win rates, on random policies."""
    game = compile_game(trial().rules)
    policies = np.random.default_rng(1).dirichlet(np.ones(3), (5, 10, 10))
    for policy in policies:
        both = np.stack([policy, policy])
        gradient = counterfactual_values(game.workspace(2), both, "reach").values
        best = (gradient == gradient.max(axis=2, keepdims=True)).astype(float)
        best /= best.sum(axis=2, keepdims=True)
        step = 1e-6
        there = win_rate(game, (1 - step) * policy + step * best, policy).win_rate
        assert kkt_gap(game, policy) == pytest.approx((there - 0.5) / step, rel=1e-4)
        assert kkt_gap(game, policy) > 0
