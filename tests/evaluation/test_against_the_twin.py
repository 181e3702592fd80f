"""Exact evaluation of small games, against the slow twin."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

from hogeq.evaluation.counterfactual import RegretWeight, action_values, counterfactual_values
from hogeq.evaluation.tablebase import solve
from hogeq.evaluation.values import belief, hidden_action_values, reach, values, win_rate
from hogeq.model.game import HogEngine, compile_game
from hogeq.rules import EDITIONS, Rules, rules_from
from hogeq.search.bounds import full_memory_bound
from hogeq.strategies.arrays import one_hot
from hogeq.support.aliases import Floats
from tests.evaluation.players import EXACT, RECURRING, random_policy
from tests.slow import mostly_slow
from tests.twin import Match, Play, State, arrays, counterfactual

# Every edition at sizes that the twin can manage, several of them past a score of 10 so that digits
# matter, with both widths to which memory is padded.
SMALL: dict[str, dict[str, Any]] = {
    "su20": {"edition": "su20", "goal": 11, "max_dice": 3},
    "su20, short": {"edition": "su20", "goal": 6, "max_dice": 2},
    "su20, many dice": {"edition": "su20", "goal": 5, "max_dice": 6},
    "hw13": {"edition": "hw13", "goal": 20, "max_dice": 3},
    "fa13": {"edition": "fa13", "goal": 18, "max_dice": 3},
    "su21": {"edition": "su21", "goal": 12, "max_dice": 3},
    "sp21 as su21": {"edition": "su21", "goal": 14, "time_trot": False, "extra_turn_sides": 6},
    "fa22": {"edition": "fa22", "goal": 20, "max_dice": 3},
    "fa15": {"edition": "fa15", "goal": 20, "max_dice": 3},
    "sp20": {"edition": "sp20", "goal": 9, "max_dice": 4},
    "fa19": {"edition": "fa19", "goal": 11, "max_dice": 4},
    "fa18": {"edition": "fa18", "goal": 13, "max_dice": 3},
    "sp21": {"edition": "sp21", "goal": 16, "max_dice": 4},
    "fa23": {"edition": "fa23", "goal": 24, "max_dice": 3},
    "su23": {"edition": "su23", "goal": 30, "max_dice": 2},
    "su22": {"edition": "su22", "goal": 20, "max_dice": 3},
    "sp22": {"edition": "sp22", "goal": 16, "max_dice": 3},
    "fa21": {"edition": "fa21", "goal": 20, "max_dice": 3},
    "fa20": {"edition": "fa20", "goal": 23, "max_dice": 3},
    "su19": {"edition": "su19", "goal": 16, "max_dice": 3},
    "sp19": {"edition": "sp19", "goal": 12, "max_dice": 3},
    "sp18": {"edition": "sp18", "goal": 16, "max_dice": 3},
    "fa17": {"edition": "fa17", "goal": 11, "max_dice": 3},
    "sp17": {"edition": "sp17", "goal": 16, "max_dice": 4},
    "su15": {"edition": "su15", "goal": 16, "max_dice": 3},
    "su15_contest": {"edition": "su15_contest", "goal": 8, "max_dice": 3},
    "fa14": {"edition": "fa14", "goal": 20, "max_dice": 3},
    "su18": {"edition": "su18", "goal": 16, "max_dice": 3},
    "su17": {"edition": "su17", "goal": 16, "max_dice": 3},
    "hog12": {"edition": "hog12", "goal": 24, "max_dice": 3},
    "hog12, feral dice": {"edition": "hog12", "goal": 12, "max_dice": 3, "feral_hogs": "dice"},
    "sp13": {"edition": "sp13", "goal": 52, "max_dice": 2},
    # A bonus is no higher score where the score itself says the points of no dice.
    "fa23, feral points": {"edition": "fa23", "goal": 12, "max_dice": 3, "feral_hogs": "points"},
    "fa23, feral dice": {"edition": "fa23", "goal": 12, "max_dice": 1, "feral_hogs": "dice"},
}


class Case(NamedTuple):
    game: HogEngine
    play: Play
    a: Floats
    b: Floats
    match: Match


@cache
def case(name: str) -> Case:
    game = compile_game(RECURRING.get(name) or rules_from(SMALL[name]))
    random = np.random.default_rng(61)
    a, b = (random_policy(random, game.shape, kind) for kind in ("mixed", "sparse"))
    play = Play(game.rules)
    return Case(game, play, a, b, Match(play, a, b))


FAST = "su20, short", "fa22", "hw13", "fa20", "fa23, feral dice", "no way back", "time trot"


@pytest.fixture(params=mostly_slow([*SMALL, *RECURRING], *FAST))
def small(request: pytest.FixtureRequest) -> Case:
    return case(request.param)


def test_small_games_cover_every_edition() -> None:
    assert {spec["edition"] for spec in SMALL.values()} == set(EDITIONS)


def test_win_rates_and_values_at_every_hidden_state(small: Case) -> None:
    rate = win_rate(small.game, small.a, small.b)
    assert rate == pytest.approx(small.match.win_rate(), abs=EXACT)
    expected = arrays(small.play, lambda state: small.match.value(0, state))
    found = values(small.game, small.a, small.b)
    assert found.shape == (*small.game.shape[:2], small.game.memory_size)
    np.testing.assert_allclose(found, expected, rtol=0, atol=EXACT)
    rolls = small.play.rolls()
    expected = arrays(
        small.play, lambda state: [small.match.action_value(0, state, dice) for dice in rolls]
    )
    found = hidden_action_values(small.game, small.a, small.b)
    np.testing.assert_allclose(found.reshape(expected.shape), expected, rtol=0, atol=EXACT)
    some = [(3, 1), (0, 4), (3, 1)]
    asked = hidden_action_values(small.game, small.a, small.b, some)
    np.testing.assert_array_equal(asked, [found[own * small.game.goal + o] for own, o in some])


def test_reach_and_beliefs(small: Case) -> None:
    met = small.match.reach()
    expected = arrays(small.play, lambda state: met[0, state])
    found = reach(small.game, small.a, small.b)
    np.testing.assert_allclose(found, expected, rtol=0, atol=EXACT)
    if not small.game.positions_recur:  # beliefs ask whether reach is positive: 1e-19 is, too
        np.testing.assert_array_equal(found > 0.0, expected > 0.0)
    for cell in ((0, 0), (2, 3), (small.game.goal - 1, 4)):
        shares = belief(small.game, small.a, small.b, *cell)
        weights = expected[cell]
        if weights.sum() == 0.0:
            assert shares is None
            continue
        assert shares is not None
        np.testing.assert_allclose(shares, weights / weights.sum(), rtol=0, atol=EXACT)


@pytest.mark.parametrize("weight", ["reach", "counterfactual", "belief"])
def test_counterfactual_values(small: Case, weight: RegretWeight) -> None:
    if small.game.positions_recur and weight == "counterfactual":
        pytest.skip("weights without own reach are refused where positions recur")
    expected, infoset_reach = expected_counterfactual(small, weight, small.b)
    found = counterfactual_values(small.game.workspace(2), np.stack([small.a, small.b]), weight)
    np.testing.assert_allclose(found.infoset_reach, infoset_reach, rtol=EXACT, atol=EXACT)
    np.testing.assert_allclose(found.values, expected, rtol=EXACT, atol=1e-10)
    same = action_values(small.game, small.a, small.b, weight)
    np.testing.assert_array_equal(same, found.values)


def expected_counterfactual(case: Case, weight: RegretWeight, b: Floats) -> tuple[Floats, Floats]:
    own_reach = weight != "counterfactual"
    expected, met = counterfactual(case.play, case.a, b, own_reach=own_reach)
    if weight == "belief":
        expected[met > 0.0] /= met[met > 0.0][:, None]
    return expected, met


def test_self_play(small: Case) -> None:
    """In it reach and counterfactual values count both seats."""
    itself = Match(small.play, small.a, small.a)
    found = win_rate(small.game, small.a, small.a, endless_is_draw=True).first
    assert found == pytest.approx(itself.value(0, State(0, 0)), abs=EXACT)
    cell = (small.game.goal - 2, 1)
    expected = [itself.value(0, State(*cell, memory)) for memory in small.game.memories]
    np.testing.assert_allclose(values(small.game, small.a)[cell], expected, rtol=0, atol=EXACT)
    met = itself.reach()
    here = arrays(small.play, lambda state: met[0, state])
    np.testing.assert_allclose(reach(small.game, small.a), here, rtol=0, atol=EXACT)
    weights: list[RegretWeight] = ["reach", "belief"]
    for weight, seats in zip(weights, (2.0, 1.0), strict=True):
        worth, _ = expected_counterfactual(small, weight, small.a)
        alone = counterfactual_values(small.game.workspace(1), small.a[None], weight)
        np.testing.assert_allclose(alone.infoset_reach, 2.0 * here.sum(axis=2), atol=EXACT)
        np.testing.assert_allclose(alone.values, seats * worth, rtol=EXACT, atol=1e-10)
        same = action_values(small.game, small.a, None, weight)
        np.testing.assert_allclose(same, worth, rtol=EXACT, atol=1e-10)


def test_action_values_are_fresh_and_take_matrices() -> None:
    small = case("su20")
    matrix = small.a.argmax(axis=2)
    found = action_values(small.game, matrix, small.b)
    kept = found.copy()
    pure = one_hot(matrix, small.game.num_actions)
    np.testing.assert_array_equal(action_values(small.game, pure, small.b), kept)
    action_values(small.game, small.b)
    np.testing.assert_array_equal(found, kept)


def test_action_values_refuse_what_is_malformed() -> None:
    small = case("su20")
    with pytest.raises(
        ValueError, match=r"^weight: 'own'; allowed: reach, counterfactual, belief$"
    ):
        action_values(small.game, small.a, weight="own")  # type: ignore[arg-type]
    for policy, opponent in ((small.a[:-1], None), (small.a, small.b * 0.5)):
        with pytest.raises(ValueError, match="allowed: "):
            action_values(small.game, policy, opponent)


def test_player_with_full_memory(small: Case) -> None:
    expected = Match(small.play, None, small.b).win_rate()[0]
    assert full_memory_bound(small.game, small.b) == pytest.approx(expected, abs=EXACT)


def test_best_play_of_two_who_remember(small: Case) -> None:
    best = Match(small.play, None, None)
    solved = solve(small.game)
    assert solved.value == pytest.approx(best.value(0, State(0, 0)), abs=EXACT)
    expected = arrays(small.play, lambda state: best.best_roll(0, state))
    np.testing.assert_array_equal(np.array(small.game.choices)[solved.rolls], expected)
    expected = arrays(small.play, lambda state: best.value(0, state))
    np.testing.assert_allclose(solved.values, expected, rtol=0, atol=EXACT)
    for own, other in ((0, 0), (small.game.goal - 2, 1)):
        rolls = [
            [best.action_value(0, State(own, other, memory), dice) for dice in small.play.rolls()]
            for memory in small.game.memories
        ]
        np.testing.assert_allclose(solved.roll_values(own, other), rolls, rtol=0, atol=EXACT)


def test_a_game_that_every_turn_ends() -> None:
    """To 1 point with Square Swine, a score of 0 counts 1: whatever is rolled wins."""
    game = compile_game(Rules(goal=1, square_swine=True))
    matrix = np.zeros((1, 1), np.int8)
    assert win_rate(game, matrix, matrix) == (0.5, 1.0, 0.0)
