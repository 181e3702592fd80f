"""Random games of all parts, against the twin: `HOGEQ_FUZZ_GAMES=5000 pytest` for more of them.

Game number n is always the same one, so a failure names its game.
"""

import os
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from hogeq.evaluation.counterfactual import RegretWeight, counterfactual_values
from hogeq.evaluation.tablebase import solve
from hogeq.evaluation.values import reach, win_rate
from hogeq.graph.endless import EndlessError
from hogeq.model.game import HogEngine, compile_game
from hogeq.rules import Rules, parts
from hogeq.search.attack import attack
from hogeq.search.bounds import full_memory_bound
from hogeq.search.results import Budget
from hogeq.support.aliases import Floats
from tests import twin
from tests.evaluation.players import EXACT, random_policy
from tests.slow import fast_and_slow, mostly_slow
from tests.twin.evaluate import ENDLESS
from tests.twin.parts import LANDINGS, MORE_BOAR, SWAPS, ZERO_DICE
from tests.twin.turn import SWITCHES

GAMES = int(os.environ.get("HOGEQ_FUZZ_GAMES", "200"))
BLOCK = 5
BLOCKS = fast_and_slow([0], range(BLOCK, GAMES, BLOCK))  # by the number of their first game
# Cells times rolls times memories: what keeps the twin at a fraction of a second.
MOST_STATES = 4000
MOST_MEMORIES = 200
DRAW = 0.5  # what a game that never ends is worth
QUICK = Budget(starts=1, anneal_steps=4, kicks=0)

PARTS: dict[str, Any] = {
    "zero_dice": ZERO_DICE,
    "swap": SWAPS,
    "more_boar": MORE_BOAR,
    "landing": LANDINGS,
}
NAMES = {field.name for field in fields(Rules)}


def names_of(part: str) -> list[str]:
    """List what both the package and the twin have."""
    ours: dict[str, Any] = {
        "zero_dice": parts.ZERO_DICE,
        "swap": parts.SWAPS,
        "more_boar": parts.MORE_BOAR,
        "landing": parts.LANDINGS,
    }
    return [name for name in PARTS[part] if name in ours[part]]


def random_switches(random: np.random.Generator) -> dict[str, Any]:
    """Combine any parts, to a goal that the twin has the patience for."""

    def one_of(*choices: Any) -> Any:
        return choices[random.integers(len(choices))]

    def whole(low: int, high: int) -> int:
        return int(random.integers(low, high + 1))

    while True:
        on: dict[str, Any] = {
            "max_dice": whole(1, 5),
            "sides": whole(2, 8),
            "pig_out": one_of(0, 1, 1, "count_ones"),
            "feral_hogs": one_of("none", "none", "none", "points", "dice"),
        }
        on |= {part: one_of("none", *names_of(part)) for part in PARTS if part != "zero_dice"}
        on["zero_dice"] = one_of(*names_of("zero_dice"))
        for switch in ("prime_boost", "hog_wild", "square_swine", "piggy_back", "time_trot"):
            on[switch] = one_of(True, False, False)
        if on["time_trot"]:
            on["time_trot_period"] = whole(1, 8)
        if on["time_trot"] or on["more_boar"] != "none":
            on["extra_turn_sides"] = one_of(None, whole(2, 8))
        memories = len(twin.Play(on).memories())
        affordable = (MOST_STATES / (memories * (on["max_dice"] + 1))) ** 0.5
        on["goal"] = min(whole(4, 14), max(4, int(affordable)))
        if memories <= MOST_MEMORIES:
            return {name: value for name, value in on.items() if name in NAMES}


def game_number(number: int, **forced: Any) -> tuple[HogEngine, np.random.Generator]:
    """Draw until the package takes it: it refuses memory where positions may recur too often."""
    random = np.random.default_rng(number)
    while True:
        rules = Rules(**random_switches(random) | forced)
        try:
            return compile_game(rules, own_goals=True), random
        except ValueError as refusal:
            if "could go on for ever" in str(refusal):
                assert rules.time_trot or twin.can_stay_for_ever(twin.Play(rules))
            else:
                raise


def compare(game: HogEngine, random: np.random.Generator) -> None:
    play = twin.Play(game.rules)
    if game.positions_recur:
        assert game.can_be_endless == twin.can_stay_for_ever(play)
    kind = str(random.choice(["mixed", "sparse", "pure"]))
    a: Floats = random_policy(random, game.shape, kind)
    b: Floats = random_policy(random, game.shape, "mixed")
    if both_end(game, play, a, b):
        compare_policies(game, play, a, b)
    compare_best_play(game, play, b)
    one, two = (random_policy(random, game.shape, "pure") for _ in range(2))
    if both_end(game, play, one, two):
        matrices = one.argmax(axis=2), two.argmax(axis=2)
        assert win_rate(game, *matrices) == pytest.approx(win_rate(game, one, two), abs=EXACT)


def both_end(game: HogEngine, play: twin.Play, a: Floats, b: Floats) -> bool:
    """Say whether every game between two ends; the package and the twin must agree."""
    match = twin.Match(play, a.tolist(), b.tolist())
    try:
        expected = match.win_rate()
    except ValueError as endless:
        if str(endless) != ENDLESS:
            raise
        with pytest.raises(EndlessError, match="may never end"):
            win_rate(game, a, b)
        drawn = twin.Match(play, a.tolist(), b.tolist(), DRAW).win_rate()
        found = win_rate(game, a, b, endless_is_draw=True)
        assert found == pytest.approx(drawn, abs=EXACT)
        return False
    assert win_rate(game, a, b) == pytest.approx(expected, abs=EXACT)
    return True


def compare_policies(game: HogEngine, play: twin.Play, a: Floats, b: Floats) -> None:
    visits = twin.Match(play, a.tolist(), b.tolist()).reach()
    expected = np.zeros(game.shape[:2])
    for (player, state), visited in visits.items():
        expected[state[:2]] += float(visited) * (player == 0)
    reached = reach(game, a, b).sum(axis=2)
    np.testing.assert_allclose(reached, expected, rtol=EXACT, atol=EXACT)

    weights: list[RegretWeight] = ["reach", "counterfactual"]
    for weight in weights[: 1 if game.positions_recur else 2]:
        own_reach = weight == "reach"
        worth, met = twin.counterfactual(play, a, b, own_reach=own_reach, endless=DRAW)
        found = counterfactual_values(game.workspace(2), np.stack([a, b]), weight)
        np.testing.assert_allclose(found.values, worth, rtol=EXACT, atol=EXACT)
        np.testing.assert_allclose(found.infoset_reach, met, rtol=EXACT, atol=EXACT)


def compare_best_play(game: HogEngine, play: twin.Play, b: Floats) -> None:
    remembers = twin.Match(play, None, b.tolist(), DRAW).win_rate()[0]
    assert full_memory_bound(game, b) == pytest.approx(remembers, abs=EXACT)
    if game.memory_size == 1:
        response = attack(game, b, QUICK)
        assert response.win_rate == pytest.approx(remembers, abs=EXACT)
        pure = np.eye(game.num_actions)[response.matrix].tolist()
        found = twin.Match(play, pure, b.tolist(), DRAW).win_rate()[0]
        assert found == pytest.approx(remembers, abs=EXACT)

    best = twin.Match(play, None, None, DRAW)
    start = twin.State(0, 0)
    solved = solve(game)
    assert solved.value == pytest.approx(best.value(0, start), abs=EXACT)
    assert solved.first_roll == best.best_roll(0, start)


@pytest.mark.parametrize("block", BLOCKS)
def test_random_games(block: int) -> None:
    for number in range(block, min(block + BLOCK, GAMES)):
        game, random = game_number(number)
        try:
            compare(game, random)
        except Exception as difference:
            raise AssertionError(f"game {number}, {game.rules}") from difference


@pytest.mark.parametrize("block", BLOCKS)
def test_random_games_to_a_goal_for_each_player(block: int) -> None:
    for number in range(block, min(block + BLOCK, GAMES)):
        goals = game_number(number)[0].goal, 3 + number % 5
        game, random = game_number(number, goal=goals[:: 1 - 2 * (number % 2)])
        try:
            compare(game, random)
        except Exception as difference:
            raise AssertionError(f"game {number}, {game.rules}") from difference


@pytest.mark.parametrize("number", mostly_slow(range(11), 0, 1))
def test_random_games_in_which_dice_are_exchanged(number: int) -> None:
    plain = {"feral_hogs": "none", "time_trot": False, "extra_turn_sides": None}
    game, random = game_number(
        number, memory="ham_hijinks", hog_wild=number % 2 == 0, sides=6, goal=10 + number, **plain
    )
    assert (game.rules.choices[-1], game.memory_size) == (-1, 2)
    compare(game, random)


@pytest.mark.parametrize("number", [14, 142])
def test_games_in_which_scores_can_stay_and_the_position_not_come_back(number: int) -> None:
    compare(*game_number(number, pig_out=0, piggy_back=False))


@pytest.mark.slow
def test_games_that_may_never_end() -> None:
    """Hefty Hogs scores 0 at some scores, and two who roll no dice there stay for ever."""
    endless = []
    # In the last three a draw is the most that a response can have at some scores.
    for number in (*range(40), 133, 146, 186):
        game, random = game_number(number, zero_dice="hefty_hogs")
        play = twin.Play(game.rules)
        a, b = (random_policy(random, game.shape, kind) for kind in ("sparse", "pure"))
        for policy in (a, b):
            policy[random.random(game.shape[:2]) < 0.7] = np.eye(game.num_actions)[0]
        try:
            endless.append(not both_end(game, play, a, b))
            compare_best_play(game, play, b)
        except Exception as difference:
            raise AssertionError(f"game {number}, {game.rules}") from difference
    assert 5 < sum(endless) < 38


def test_the_twin_has_every_part() -> None:
    assert set(parts.ZERO_DICE) <= set(ZERO_DICE)
    assert set(parts.SWAPS) <= set(SWAPS)
    assert set(parts.MORE_BOAR) <= set(MORE_BOAR)
    assert set(parts.LANDINGS) <= set(LANDINGS)
    assert NAMES - {"name"} == set(SWITCHES)


@pytest.mark.slow
def test_the_games_have_all_there_is() -> None:
    """What the first games combine: every part, recurring positions, every kind of memory."""
    games = [game_number(number)[0] for number in range(200)]
    for switch in PARTS:
        assert {getattr(game.rules, switch) for game in games} == set(names_of(switch))
    assert sum(game.positions_recur for game in games) >= 20
    assert sum(game.memory_size == 1 for game in games) >= 50
    assert sum(game.memory_size > 1 for game in games) >= 50
