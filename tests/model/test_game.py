"""The compiler: what a game is made of, and that its turns are those of the rules."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hogeq.evaluation.values import hidden_action_values
from hogeq.model.game import MEMORY_LIMIT, compile_game, required_bytes
from hogeq.rules import EDITIONS, Rules, rules_from
from tests.slow import FEW_EDITIONS, mostly_slow
from tests.twin import Match, Play, State


@pytest.mark.parametrize("name", mostly_slow(EDITIONS, *FEW_EDITIONS, "sp22"))
def test_sizes_of_every_edition(name: str) -> None:
    game = compile_game(EDITIONS[name])
    choices = 12 if name in {"fa13", "su15_contest"} else 11
    assert (game.goal, game.num_actions, game.shape) == (100, choices, (100, 100, choices))
    assert [*map(tuple, game.memories)] == [*map(tuple, Play(game.rules).memories())]
    assert game.memory_size == len(game.memories)
    assert game.has_memory is (game.memory_size > 1)
    assert required_bytes(game.rules) < 1 << 30


@pytest.mark.parametrize(
    ("spec", "cycles"),
    [
        *[(name, name == "sp22") for name in EDITIONS],
        ({"edition": "fa15", "piggy_back": False}, True),
        ({"pig_out": 0}, True),
        ({"pig_out": 0, "piggy_back": True}, False),
        ({"pig_out": 1, "piggy_back": True}, False),
        # A square at the goal's doorstep wins at once, so nothing ever stays: 0 becomes 1.
        ({"goal": 1, "max_dice": 1, "pig_out": 0, "square_swine": True}, False),
    ],
)
def test_games_that_can_stand_still_are_known(spec: str | dict[str, Any], cycles: bool) -> None:
    assert compile_game(rules_from(spec)).positions_recur is cycles


def test_a_game_too_large_for_memory_is_refused_in_one_line() -> None:
    rules = Rules(goal=2000, max_dice=50, feral_hogs="points")
    assert required_bytes(rules) > MEMORY_LIMIT
    with pytest.raises(
        ValueError, match=r"^rules: .*2000.* needs 356\.7 GiB; allowed: 4: lower goal or max_dice$"
    ) as refusal:
        compile_game(rules)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("rules", ["su20", {"edition": "su20"}, None])
def test_what_is_no_rules_is_not_compiled(rules: Any) -> None:
    with pytest.raises(TypeError, match=r"^rules: got .*; allowed: Rules, as hogeq\.rules_from "):
        compile_game(rules)


@pytest.mark.parametrize(
    ("edition", "says"),
    [("su20", "su20 with goal=5, max_dice=2; 36 memories"), ("fa22", ".*; 1 memory")],
)
def test_a_game_is_shown_in_a_line_and_compiled_once(edition: str, says: str) -> None:
    rules = {"edition": edition, "goal": 5, "max_dice": 2}
    game = compile_game(rules_from(rules))
    assert re.fullmatch(rf"HogEngine\({says}\)", repr(game))
    assert compile_game(rules_from(rules)) is game


@pytest.mark.parametrize("name", mostly_slow(EDITIONS, *FEW_EDITIONS))
def test_the_estimate_of_memory_is_values_and_reach_and_six_tables(name: str) -> None:
    rules = replace(EDITIONS[name], goal=40)
    passes = compile_game(rules).graph_layout(2).passes
    table = 8 * 40 * 40 * rules.num_actions
    assert required_bytes(rules) == passes.values.nbytes + passes.reach.nbytes + 6 * table


# Scores near the end of a full-size game: few turns are left, so the plain recursion reaches the
# end, and digits, squares, primes and swaps around 90 to 110 all come up.
LATE_CELLS = [(99, 99), (99, 95), (95, 99), (98, 96), (96, 98), (97, 97)]


@pytest.mark.parametrize("name", mostly_slow(EDITIONS, *FEW_EDITIONS))
def test_late_turns_of_every_edition_play_as_the_rules_say(name: str) -> None:
    rules = EDITIONS[name]
    game = compile_game(rules)
    random = np.random.default_rng(2020)
    a, b = random.dirichlet(np.ones(game.num_actions), (2, 100, 100))
    match = Match(Play(rules), a, b)
    found = hidden_action_values(game, a, b, LATE_CELLS)
    # Of su20's 196 memories eight, first and last included: all of them would take long.
    chosen = np.unique(np.linspace(0, game.memory_size - 1, 8).astype(int))
    expected = [
        [
            [match.action_value(0, State(*cell, game.memories[m]), dice) for dice in game.choices]
            for m in chosen
        ]
        for cell in LATE_CELLS
    ]
    assert found.shape == (len(LATE_CELLS), game.memory_size, game.num_actions)
    np.testing.assert_allclose(found[:, chosen], expected, rtol=0, atol=1e-12)
