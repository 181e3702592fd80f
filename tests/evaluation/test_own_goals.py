"""A goal for each player; test_random_games compares such games with the twin."""

import pickle
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.evaluation.tablebase import solve
from hogeq.evaluation.values import win_rate
from hogeq.model.game import compile_game
from hogeq.rules import Rules, rules_from
from hogeq.rules.turn import land
from tests import twin
from tests.evaluation.players import EXACT, random_policy


def pair(*goals: int, edition: str = "fa21", **changes: Any) -> Rules:
    return rules_from({"edition": edition, "max_dice": 3, "goal": list(goals), **changes})


def test_rules() -> None:
    rules = pair(5, 9)
    assert (rules.goal, rules.goals, rules.size) == ((5, 9), (5, 9), 9)
    assert rules.for_second() == pair(9, 5, name=rules.name)
    same = rules_from({"goal": [7, 7]})
    assert same == rules_from({"goal": 7})
    assert same.for_second() is same
    for goal in ([7], [7, 8, 9], [0, 5], [5, 2001], [5, 5.0], [True, 5], []):
        with pytest.raises(ValueError, match=r"rules\.goal: got .*; allowed: whole numbers"):
            rules_from({"goal": goal})


def test_who_wins_if_both_have_their_goals() -> None:
    """A swap can bring it about; by hand, to 10 and to 15."""
    rules = pair(10, 15, edition="hw13")  # scores trade places if one is double the other
    assert land(rules, 14, 7).winner is None  # 7 and 14: each has too few
    assert rules.for_second().goals == (15, 10)
    assert land(rules.for_second(), 14, 7).winner == 1
    assert land(rules, 24, 12).winner == 1  # 12 and 24: 2 past 10, and 9 past 15
    assert land(rules, 12, 24).winner == 0  # 24 and 12
    assert land(pair(10, 22, edition="hw13"), 24, 12).winner == 0  # as far past: the mover


@pytest.mark.parametrize("edition", ["fa21", "su20", "fa22"])
def test_who_is_named_first_does_not_matter(edition: str) -> None:
    rules = pair(9, 14, edition=edition)
    game, other = (compile_game(one, own_goals=True) for one in (rules, rules.for_second()))
    random = np.random.default_rng(3)
    a, b = (random_policy(random, game.shape, "mixed") for _ in range(2))
    rate = win_rate(game, a, b)
    assert win_rate(other, b, a).reversed() == pytest.approx(rate, abs=EXACT)
    start = win_rate(game, a, b, start=(6, 2))
    play = twin.Play(rules)
    match = twin.Match(play, a.tolist(), b.tolist())
    assert start.first == pytest.approx(match.value(0, twin.State(6, 2)), abs=EXACT)
    assert start.second == pytest.approx(1 - match.value(1, twin.State(6, 2)), abs=EXACT)
    assert solve(game).value == pytest.approx(
        twin.Match(play, None, None).value(0, twin.State(0, 0)), abs=EXACT
    )


def test_who_takes_a_game() -> None:
    game = hogeq.Game(pair(9, 14))
    other = hogeq.Game(game.rules.for_second())
    optimal = game.tablebase()
    rate = game.win_rate("optimal", "optimal")
    assert rate.first == pytest.approx(optimal.value, abs=EXACT)
    assert rate.second == pytest.approx(1 - other.tablebase().value, abs=EXACT)
    assert game.bound("optimal") == pytest.approx(rate.win_rate, abs=EXACT)
    assert game.attack("optimal").win_rate == pytest.approx(rate.win_rate, abs=EXACT)
    assert game.analyze(8, 13).rolls[0].win_probability == 1.0
    assert optimal.values[8, 13, 0] == pytest.approx(1.0, abs=EXACT)
    assert game.reach("optimal").shape == (14, 14, 1)
    for score, opponent in ((9, 0), (0, 14)):
        with pytest.raises(ValueError, match="allowed: whole numbers from 0 to"):
            game.analyze(score, opponent)
    assert pickle.loads(pickle.dumps(optimal)).value == optimal.value  # noqa: S301 - our own


def test_where_one_strategy_plays_both_is_refused() -> None:
    game = hogeq.Game(pair(9, 14))
    for refused in (
        lambda: game.engine,
        lambda: compile_game(game.rules),
        lambda: game.exploitability("optimal"),
        lambda: game.improve("optimal"),
        lambda: game.round_robin(["optimal", "always_roll:1"]),
        lambda: hogeq.audit(game.rules),
    ):
        with pytest.raises(ValueError, match=r"^rules\.goal: got \[9, 14\]; allowed: one number"):
            refused()


def test_a_goal_for_each_entry_of_a_field() -> None:
    game = hogeq.Game({"edition": "fa21", "goal": 20, "max_dice": 3})
    random = np.random.default_rng(8)
    tables = random.integers(0, 4, (4, 20, 20))
    policy = random_policy(random, game.engine.shape, "mixed")
    weights = [0.25, 0.75]
    field = [tables[0], policy, tables[1], hogeq.Mixture(weights, tables[2:])]
    goals = [20, 9, 9, 14]

    def to(size: int) -> list[Any]:
        cut = tables[:, :size, :size]
        return [cut[0], policy[:size, :size], cut[1], hogeq.Mixture(weights, cut[2:])]

    rates = game.round_robin(field, (2, 1), goals)
    np.testing.assert_allclose(rates + rates.T, 1.0, rtol=0, atol=EXACT)
    for row, column in np.ndindex(rates.shape):
        if row != column:
            small = hogeq.Game(pair(goals[row], goals[column]))
            known = to(small.rules.size)
            expected = small.win_rate(known[row], known[column], start=(2, 1)).win_rate
            assert rates[row, column] == pytest.approx(expected, abs=EXACT)
    for bad in ([20, 9, 9], [20, 9, 9, 21], [20, 9, 9, 0]):
        with pytest.raises(ValueError, match=r"^goals: got .*; allowed: 4 whole numbers from 1 to"):
            game.round_robin(field, goals=bad)
