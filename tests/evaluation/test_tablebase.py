"""Optimal play against figures, against a plain recursion, and what is built on it."""

import copy
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hogeq.baselines import ignore_memory, optimal
from hogeq.baselines.simple import always_roll
from hogeq.evaluation.tablebase import best_first, solve
from hogeq.evaluation.values import remembering_win_rate, win_rate
from hogeq.evaluation.values import values as strategy_values
from hogeq.model import graph_passes
from hogeq.model.game import HogEngine, compile_game
from hogeq.rules import EDITIONS, Rules, rules_from
from hogeq.rules.memory import Memory
from hogeq.strategies.arrays import StrategyError
from tests.twin import Match, Play
from tests.twin.evaluate import Key

SU21_AS_SP21_ANNOUNCED = {"edition": "su21", "time_trot": False, "extra_turn_sides": None}


def small(edition: str, goal: int = 12, max_dice: int = 3) -> HogEngine:
    return compile_game(rules_from({"edition": edition, "goal": goal, "max_dice": max_dice}))


class Remembering(Match):
    """Player 0 plays rolls by score and memory."""

    def __init__(self, game: HogEngine, rolls: Any, b: Any) -> None:
        super().__init__(Play(game.rules), None, b)
        self.rolls, self.memories = rolls, list(game.memories)

    def _rolls(self, key: Key) -> list[tuple[int, Any]]:
        player, (own, opponent, memory) = key
        if player == 1:
            return super()._rolls(key)
        return [(int(self.rolls[own, opponent, self.memories.index(Memory(*memory))]), None)]


# --- figures --------------------------------------------------------------------------------------


# Reference figures [8]; tests/test_twin.py has those of hw13, fa15 and fa22, and
# tests/evaluation/test_full_size.py the twin's values of every edition.
@pytest.mark.parametrize(
    ("rules", "value", "first_roll"),
    [
        ("su20", 0.5005159690, 2),
        ({"edition": "su20", "feral_hogs": "none"}, 0.5010298598, None),
        ("su21", 0.5504431438, 3),
        (SU21_AS_SP21_ANNOUNCED, 0.5230744513, None),
    ],
)
def test_values_and_first_rolls(rules: Any, value: float, first_roll: int | None) -> None:
    solved = solve(compile_game(rules_from(rules)))
    assert solved.value == pytest.approx(value, abs=5.000001e-11)
    if first_roll is not None:
        assert solved.first_roll == first_roll


@pytest.mark.slow
def test_hog_of_neller_and_presser() -> None:
    # At least one die, a 1 scores 0: 0.529865..., first roll 6, at most 26 dice are ever best.
    spec = {"min_dice": 1, "max_dice": 30, "zero_dice": 0, "pig_out": 0}
    solved = solve(compile_game(rules_from(spec)))
    assert solved.value == pytest.approx(0.5298653942965934, abs=1e-13)
    assert solved.first_roll == 6
    assert solved.rolls.min() == 1
    assert solved.rolls.max() == 26


@pytest.mark.parametrize("edition", ["su20", "fa15", "sp22", "hw13"])
@pytest.mark.parametrize("least", [1, 2])
def test_at_least_so_many_dice_as_in_the_twin(edition: str, least: int) -> None:
    rules = replace(EDITIONS[edition], goal=9, max_dice=3, min_dice=least)
    game, play = compile_game(rules), Play(rules)
    solved = solve(game)
    if edition != "sp22":  # whose endless games the twin leaves open
        assert solved.value == pytest.approx(Match(play, None, None).value(0, play.start))
    assert solved.rolls.min() == least
    one, two = np.random.default_rng(least).dirichlet(np.ones(4), (2, 9, 9))
    assert win_rate(game, one, two).win_rate == pytest.approx(Match(play, one, two).win_rate()[0])


@pytest.mark.slow
@pytest.mark.parametrize(("edition", "rate"), [("hw13", 0.7208103567), ("fa15", 0.8130753649)])
def test_the_matrix_against_always_5(edition: str, rate: float) -> None:
    game = compile_game(EDITIONS[edition])  # reference figures [8]
    assert solve(game).against(always_roll(game, 5)).win_rate == pytest.approx(rate, abs=5e-11)


# --- a player who remembers -----------------------------------------------------------------------


@pytest.mark.parametrize("edition", ["su20", "su21", "fa19", "fa18", "fa15"])
def test_a_remembering_player_agrees_with_the_twin(edition: str) -> None:
    game = small(edition, goal=10)
    random = np.random.default_rng(5)
    rolls = random.integers(game.num_actions, size=(game.goal, game.goal, game.memory_size))
    policy = random.dirichlet(np.ones(game.num_actions), (game.goal, game.goal))
    found = remembering_win_rate(game, rolls, policy)
    expected = Remembering(game, rolls, policy).win_rate()
    assert found == pytest.approx(expected, abs=1e-12)
    full = solve(game).rolls
    expected = Remembering(game, full, policy).win_rate()
    assert solve(game).against(policy) == pytest.approx(expected, abs=1e-12)


def test_one_who_remembers_plays_where_positions_recur_or_something_is_hidden() -> None:
    recurs, both = (
        compile_game(Rules(goal=12, max_dice=3, pig_out=0, feral_hogs=feral))
        for feral in ("none", "dice")
    )
    assert (recurs.has_memory, recurs.positions_recur) == (False, True)
    assert (both.has_memory, both.positions_recur) == (True, True)
    one, three = always_roll(recurs, 1), always_roll(recurs, 3)
    found = remembering_win_rate(recurs, one[:, :, None], three)
    assert found == win_rate(recurs, one, three)
    rolls = np.ones((12, 12, both.memory_size), int)
    with pytest.raises(ValueError, match="positions can recur and rolls depend on hidden memory"):
        remembering_win_rate(both, rolls, three)


# --- refusals and ties ----------------------------------------------------------------------------


def test_a_matrix_needs_rules_without_memory() -> None:
    with pytest.raises(
        ValueError, match="have 49 memories, allowed for a matrix are rules without"
    ):
        _ = solve(small("su20")).matrix


def test_best_first_takes_fewer_dice_on_a_tie() -> None:
    assert best_first([0.3, 0.5, 0.5 + 5e-13, 0.1, 0.5 + 3e-12]) == [4, 1, 2, 0, 3]


# --- built-ins ------------------------------------------------------------------------------------


def test_ignore_memory_is_optimal_where_there_is_none_to_ignore() -> None:
    game = small("hw13", goal=20)
    assert np.array_equal(ignore_memory(game), solve(game).matrix)
    assert np.array_equal(optimal(game), solve(game).matrix)


@pytest.mark.parametrize("edition", ["su20", "su21", "fa18", "fa19"])
def test_ignore_memory_plays_as_if_there_were_none(edition: str) -> None:
    game = small(edition, goal=20)
    plain = replace(
        game.rules, feral_hogs="none", time_trot=False, extra_turn_sides=None, name="plain"
    )
    other = compile_game(plain)
    assert not other.has_memory
    matrix = ignore_memory(game)
    # Certified in the plain game: no roll is better than the matrix's, play going on by it.
    best = solve(other)
    assert strategy_values(other, matrix) == pytest.approx(best.values, abs=1e-12)


def test_optimal_is_refused_with_hidden_memory() -> None:
    with pytest.raises(StrategyError, match="have hidden memory; allowed: rules without"):
        optimal(small("su20"))


def test_it_travels_and_is_told_in_a_line() -> None:
    found = solve(small("fa22"))
    sent = pickle.loads(pickle.dumps(found))  # noqa: S301 - our own
    for copied in (sent, copy.deepcopy(found)):
        np.testing.assert_array_equal(copied.rolls, found.rolls)
        np.testing.assert_array_equal(copied.roll_values(3, 4), found.roll_values(3, 4))
    assert len(repr(found)) < 300
    assert "_work" not in repr(found)


def test_a_game_that_goes_on_for_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eighteen coins without a 1 are rare, and any other throw leaves the scores as they are."""
    monkeypatch.setattr(graph_passes, "MOST_DENSE", 0)  # by iteration, as large blocks are
    coins = {"max_dice": 18, "min_dice": 18, "sides": 2}
    rules = rules_from({"goal": 2, **coins, "pig_out": 0, "zero_dice": [0, 0]})
    game = compile_game(rules)
    long = "game: play goes on for too long to be valued; allowed: rules and strategies"
    with pytest.raises(ValueError, match=long):
        solve(game)
    with pytest.raises(ValueError, match=long):
        strategy_values(game, np.full((2, 2), 18))
    monkeypatch.undo()
    by_elimination = compile_game(replace(rules, name="same"))
    assert solve(by_elimination).opening()[0] == pytest.approx(0.50000095, abs=1e-8)
    monkeypatch.setattr(graph_passes, "MOST_DENSE", 0)
    never = compile_game(rules_from({"goal": 2, "max_dice": 1, "sides": 2, "zero_dice": [0, 0]}))
    rolls_nothing = np.zeros((2, 2), np.int64)
    # Play without end is half a win at once, so that nothing is missed.
    assert (strategy_values(never, rolls_nothing) == 0.5).all()
