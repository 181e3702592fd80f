"""The hidden memory at a position, and guesses of it."""

import numpy as np
import pytest

from hogeq.contest.guesses import memory_at
from hogeq.evaluation.analysis import UnreachedError
from hogeq.evaluation.hidden import belief, reach
from hogeq.model.game import compile_game
from hogeq.rules import rules_from

RANDOM = np.random.default_rng(0)
ONE, TWO = RANDOM.dirichlet(np.ones(4), (2, 12, 12))


def test_belief_and_guesses() -> None:
    game = compile_game(rules_from({"edition": "su20", "goal": 12, "max_dice": 3}))
    found = memory_at(game, ONE, 3, 5, TWO)
    np.testing.assert_array_equal(found.belief, belief(game, ONE, TWO, 3, 5))
    assert found.reach == reach(game, ONE, TWO)[3, 5].sum()
    assert found.distance(found.belief) == 0.0
    assert np.all(np.diff(found.belief[found.order()]) <= 0.0)
    for guess in (found.counted, found.looked_up):
        assert guess is not None
        assert guess.sum() == pytest.approx(1.0)
        assert 0.0 < found.distance(guess) < 1.0
    with pytest.raises(UnreachedError, match="never comes to 11 points against 0"):
        memory_at(game, np.zeros((12, 12), int), 11, 0)


def test_no_guess_where_turns_do_not_alternate() -> None:
    game = compile_game(rules_from({"edition": "sp21", "goal": 12, "max_dice": 3}))
    assert game.rules.time_trot or game.rules.gives_extra_turns
    found = memory_at(game, ONE, 3, 5)
    assert found.counted is found.looked_up is None


def test_a_policy_of_whole_numbers_is_a_policy() -> None:
    game = compile_game(rules_from({"edition": "su20", "goal": 12, "max_dice": 3}))
    pure = np.eye(4)[RANDOM.integers(1, 4, (12, 12))]
    one, other = (memory_at(game, pure.astype(kind), 0, 0) for kind in (float, int))
    assert one.counted is not None
    np.testing.assert_array_equal(one.counted, other.counted)
