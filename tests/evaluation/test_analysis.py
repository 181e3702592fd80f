"""Every roll at a position, against the values by memory that it is made of."""

from typing import Any

import numpy as np
import pytest

from hogeq.evaluation.tablebase import UnreachedError, analyze, solve
from hogeq.evaluation.values import belief, hidden_action_values, mean_values, reach, values
from hogeq.model.game import compile_game
from hogeq.rules import rules_from
from hogeq.rules.memory import Memory
from hogeq.strategies.arrays import StrategyError

GAME = compile_game(rules_from({"edition": "su20", "goal": 12, "max_dice": 3}))
PLAIN = compile_game(rules_from({"edition": "fa22", "goal": 12, "max_dice": 3}))
POLICY = np.random.default_rng(0).dirichlet(np.ones(4), (12, 12))
MATRIX = np.random.default_rng(1).integers(0, 4, (12, 12))


def test_optimal_play_from_a_known_memory() -> None:
    memory = GAME.memories[7]
    found = analyze(GAME, 3, 5, memory=memory)
    want = solve(GAME).roll_values(3, 5)[7]
    assert (found.source, found.memory) == ("given", memory)
    assert [roll.win_probability for roll in found.rolls] == want[
        [r.dice for r in found.rolls]
    ].tolist()
    assert found.rolls[0].win_probability == want.max()
    assert [roll.loss for roll in found.rolls] == sorted(roll.loss for roll in found.rolls)
    assert {roll.played for roll in found.rolls} == {None}


def test_memory_where_none_is_given() -> None:
    start = analyze(GAME, 0, 0)
    assert (start.source, start.memory) == ("start", Memory())
    average = analyze(GAME, 3, 5, POLICY)
    shares = belief(GAME, POLICY, None, 3, 5)
    assert shares is not None
    want = shares @ hidden_action_values(GAME, POLICY, None, [(3, 5)])[0]
    assert (average.source, average.memory) == ("belief", None)
    for roll in average.rolls:
        assert roll.win_probability == want[roll.dice]
        assert roll.played == POLICY[3, 5, roll.dice]


def test_optimal_play_after_a_past_that_makes_the_belief() -> None:
    found = analyze(GAME, 3, 5, past=POLICY)
    shares = belief(GAME, POLICY, None, 3, 5)
    assert shares is not None
    want = shares @ solve(GAME).roll_values(3, 5)
    assert (found.source, found.memory) == ("belief", None)
    assert {roll.dice: roll.win_probability for roll in found.rolls} == dict(enumerate(want))
    plain = analyze(PLAIN, 3, 5, past=MATRIX)  # nothing is hidden, whatever was played
    assert (plain.source, plain.memory) == ("start", Memory())
    assert plain.rolls == analyze(PLAIN, 3, 5).rolls


def test_a_position_where_play_never_comes() -> None:
    stay = np.zeros((12, 12), int)  # nobody rolls: some scores are jumped over
    never = np.argwhere(reach(GAME, stay).sum(axis=2) == 0.0)[0].tolist()
    own, other = never
    with pytest.raises(UnreachedError, match=f"never comes to {own} points"):
        analyze(GAME, own, other, stay)
    assert np.isnan(mean_values(GAME, stay)[tuple(never)])


def test_mean_values_are_averaged_over_the_belief() -> None:
    found = mean_values(GAME, POLICY, MATRIX)
    shares = belief(GAME, POLICY, MATRIX, 3, 5)
    assert shares is not None
    assert found[3, 5] == pytest.approx(shares @ values(GAME, POLICY, MATRIX)[3, 5], abs=1e-14)
    np.testing.assert_array_equal(mean_values(PLAIN, MATRIX), values(PLAIN, MATRIX)[:, :, 0])


@pytest.mark.parametrize(
    ("score", "opponent"), [(-1, 0), (0, -1), (6, 0), (0, 6), (1.0, 0), (True, 0)]
)
def test_scores_out_of_range_are_refused(score: Any, opponent: Any) -> None:
    game = compile_game(rules_from({"edition": "su20", "goal": 6, "max_dice": 2}))
    table = np.zeros((6, 6), np.int8)
    for ask in (
        lambda: analyze(game, score, opponent),
        lambda: analyze(game, score, opponent, table),
        lambda: belief(game, table, table, score, opponent),
        lambda: solve(game).roll_values(score, opponent),
    ):
        with pytest.raises(ValueError, match=r"(score|opponent): got .*; allowed: .* from 0 to 5"):
            ask()


@pytest.mark.parametrize("game", [GAME, PLAIN])
@pytest.mark.parametrize("past", [np.zeros((2, 2)), "x", np.full((12, 12, 4), 0.3)])
def test_the_past_is_checked_also_where_it_makes_no_belief(game: Any, past: Any) -> None:
    with pytest.raises(StrategyError, match="allowed"):
        analyze(game, 3, 3, past=past)


def test_a_memory_and_a_past_that_would_say_it_exclude_each_other() -> None:
    with pytest.raises(ValueError, match="past: allowed only without memory"):
        analyze(GAME, 3, 3, memory=Memory(), past=POLICY)


@pytest.mark.parametrize("memory", [Memory(turn=5), 5, Memory(own=99), Memory(state=-1)])
def test_a_memory_of_another_game_is_told_with_those_of_this_one(memory: Any) -> None:
    says = (
        r"^memory: got (Memory\(|5).*; allowed: .* turn 0, extra 0, own 0 to 6, opponent 0 to 6, "
    )
    with pytest.raises(ValueError, match=says):
        analyze(GAME, 3, 3, memory=memory)
