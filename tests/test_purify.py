"""From a policy to a matrix, and what that costs."""

import re

import numpy as np
import pytest

from hogeq.evaluate import win_rate
from hogeq.game import Game, compile_game
from hogeq.purify import METHODS, argmax, purify
from hogeq.rules import rules_from
from tests.naive import Match, Play


@pytest.fixture
def game() -> Game:
    return compile_game(rules_from({"edition": "su20", "goal": 6, "max_dice": 3}))


def test_argmax_takes_the_most_probable_roll(game: Game) -> None:
    policy = np.random.default_rng(5).dirichlet(np.ones(4), (6, 6))
    matrix = purify(game, policy)
    assert matrix.dtype == np.int8
    assert matrix.shape == (6, 6)
    for own in range(6):
        for opponent in range(6):
            row = policy[own, opponent].tolist()
            assert matrix[own, opponent] == row.index(max(row))
    assert len(set(matrix.flat)) == 4


@pytest.mark.parametrize(
    ("row", "roll"),
    [
        ([0.25, 0.25, 0.25, 0.25], 0),
        ([0.0, 0.5, 0.0, 0.5], 1),
        ([0.2, 0.2, 0.3, 0.3], 2),
        ([0.1, 0.2, 0.3, 0.4], 3),
    ],
)
def test_on_ties_the_lower_roll_is_taken(game: Game, row: list[float], roll: int) -> None:
    policy = np.full((6, 6, 4), [1.0, 0.0, 0.0, 0.0])
    policy[2, 5] = row
    matrix = purify(game, policy, "argmax")
    assert matrix[2, 5] == roll
    assert np.count_nonzero(matrix) == (roll > 0)


def test_a_matrix_and_its_policy_come_back_as_they_are(game: Game) -> None:
    matrix = np.random.default_rng(6).integers(0, 4, (6, 6)).astype(np.int8)
    np.testing.assert_array_equal(argmax(game, matrix), matrix)
    np.testing.assert_array_equal(purify(game, np.eye(4)[matrix]), matrix)
    assert not np.shares_memory(argmax(game, matrix), matrix)


def test_what_purifying_costs_is_measured_exactly(game: Game) -> None:
    policy, opponent = np.random.default_rng(7).dirichlet(np.ones(4), (2, 6, 6))
    matrix = purify(game, policy)
    play = Play(game.rules)
    expected = (
        Match(play, np.eye(4)[matrix], opponent).win_rate()[0]
        - Match(play, policy, opponent).win_rate()[0]
    )
    found = win_rate(game, matrix, opponent).win_rate - win_rate(game, policy, opponent).win_rate
    assert found == pytest.approx(expected, abs=1e-12)
    assert abs(found) > 1e-3


def test_unknown_methods_are_refused_with_those_there_are(game: Game) -> None:
    policy = np.full((6, 6, 4), 0.25)
    with pytest.raises(ValueError, match=re.escape(", ".join(METHODS))) as refusal:
        purify(game, policy, "argmin")
    assert "'argmin'" in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_what_is_no_policy_is_refused(game: Game) -> None:
    with pytest.raises(ValueError, match="allowed"):
        purify(game, np.full((6, 6, 4), 0.3))
