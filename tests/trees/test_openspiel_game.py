"""Hog as OpenSpiel sees it."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pyspiel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hogeq.rules import EDITIONS, rules_from
from hogeq.rules.parts import LANDINGS, MORE_BOAR, ZERO_DICE
from hogeq.rules.rules import FERAL_HOGS
from hogeq.trees.openspiel.game import game_of
from tests.slow import mostly_slow
from tests.trees.openspiel_games import ENDING, random_rules, small_games


def test_the_games_have_every_part_and_size() -> None:
    games = small_games()
    assert {rules.goal for rules in games} == {3, 4, 5, 6, 7, 8}
    assert {rules.max_dice for rules in games} == {1, 2, 3}
    assert {rules.zero_dice for rules in games} == set(ZERO_DICE) - {"hefty_hogs"}
    assert {rules.landing for rules in games} == set(LANDINGS)
    assert {rules.feral_hogs for rules in games} == set(FERAL_HOGS)
    assert {rules.more_boar for rules in games} == set(MORE_BOAR)
    assert len({rules.swap for rules in games}) >= 6
    switches = "hog_wild hog_tied square_swine piggy_back prime_boost touchdown time_trot"
    for switch in switches.split():
        assert {getattr(rules, switch) for rules in games} == {False, True}


def test_a_game_that_forgets_warns_of_best_responses() -> None:
    with pytest.warns(UserWarning, match="best responses, NashConv and exploitability assume"):
        game_of(EDITIONS["su20"])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        game_of(EDITIONS["su20"], memory=True)
        game_of(EDITIONS["fa23"])
    assert not told


@pytest.mark.parametrize("memory", [False, True])
@pytest.mark.parametrize("edition", mostly_slow(ENDING, "fa22", "su20", "su21"))
def test_the_games_pass_openspiel_s_own_test(edition: str, memory: bool) -> None:
    game = game_of(EDITIONS[edition], memory=memory)
    pyspiel.random_sim_test(game, num_sims=2, serialize=True, verbose=False)


def test_the_game_is_loaded_by_name() -> None:
    game = pyspiel.load_game("python_hog(edition=fa22,goal=7,max_dice=2,memory=True)")
    assert game.rules == replace(EDITIONS["fa22"], goal=7, max_dice=2, name=game.rules.name)
    assert game.memory
    assert game.num_distinct_actions() == 3
    assert game.num_players() == 2
    assert (game.min_utility(), game.max_utility(), game.utility_sum()) == (-1.0, 1.0, 0.0)
    assert pyspiel.load_game("python_hog").rules == EDITIONS["su20"]


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.sampled_from(sorted(ENDING)))
def test_all_of_the_rules_are_in_the_game_s_string(seed: int, edition: str) -> None:
    rules = random_rules(np.random.default_rng(seed), edition, 3 + seed % 98)
    if not rules.piggy_back and rules.pig_out == 0:
        rules = replace(rules, pig_out=1)
    again = pyspiel.load_game(str(game_of(rules)))
    assert replace(again.rules, name=rules.name) == rules


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"edition": "su180"}, "unknown edition 'su180'.*nearest"),
        ({"goal": 0}, r"rules\.goal: got 0; allowed: whole numbers from 1"),
        ({"parts": "swap"}, "parts has 'swap'; allowed: name:value"),
        ({"parts": "swop:double"}, r"rules\.swop: unknown key.*nearest: swap"),
        ({"edition": "fa15", "parts": "piggy_back:false"}, "never end"),
    ],
)
def test_parameters_that_make_no_game_are_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message) as refusal:
        pyspiel.load_game("python_hog", parameters)
    assert "\n" not in str(refusal.value)


def test_a_game_that_may_never_end_is_refused() -> None:
    with pytest.raises(ValueError, match=r"never end.*allowed: pig_out 1 or piggy_back true"):
        game_of(replace(EDITIONS["fa15"], piggy_back=False))
    with pytest.raises(ValueError, match=r"never end.*no dice at 0 to 1 .*other than hefty_hogs"):
        game_of(EDITIONS["sp22"])


def first(state: Any, *actions: int) -> Any:
    for action in actions:
        state.apply_action(action)
    return state


def test_a_game_move_by_move() -> None:
    """su20: the coin, 1 die for 1, no dice for 10 - 1 + 0 = 9, 2 dice; see the rules."""
    game = game_of(rules_from({"edition": "su20", "goal": 30, "max_dice": 3}))
    state = game.new_initial_state()
    assert state.is_chance_node()
    assert state.chance_outcomes() == [(0, 0.5), (1, 0.5)]
    assert state.action_to_string(1) == "player 1 begins"
    assert str(state) == "before the coin"
    first(state, 1)
    assert state.current_player() == 1
    assert state.legal_actions() == [0, 1, 2, 3]
    assert state.action_to_string(2) == "roll 2"
    first(state, 1)
    assert state.is_chance_node()
    assert state.chance_outcomes() == [(points, 1 / 6) for points in range(1, 7)]
    assert state.action_to_string(4) == "4 points"
    first(state, 1)
    assert state.current_player() == 0
    assert state.information_state_string(0) == "player 0: 0-1"
    assert state.information_state_string(1) == "player 1: 1-0"
    first(state, 0)  # leaves nothing to chance
    assert state.current_player() == 1
    assert state.information_state_string() == "player 1: 1-9"
    first(state, 3)  # 2 away from the 1 scored before: 3 more points
    assert dict(state.chance_outcomes())[1] == pytest.approx(1 - (5 / 6) ** 3, abs=1e-15)
    first(state, 1)
    assert str(state) == (
        "player 1 begins, player 1 rolls 1 for 1, player 0 rolls 0 for 9, player 1 rolls 3 for 1 "
        "(9-5)"
    )
    assert state.returns() == [0.0, 0.0]
    assert not state.is_terminal()


def test_the_winner_gets_one_and_the_loser_minus_one() -> None:
    game = game_of(rules_from({"edition": "fa22", "goal": 3, "max_dice": 1, "sides": 2}))
    for player in (0, 1):
        state = first(game.new_initial_state(), player, 0)  # 1 point, a square: becomes 4
        assert state.is_terminal()
        assert state.returns() == [1.0 - 2.0 * player, 2.0 * player - 1.0]
        assert f"player {player} wins" in str(state)
