"""Random games of all parts, against the twin: `HOGEQ_FUZZ_GAMES=5000 pytest` for more of them.

Game number n is always the same one, so a failure names its game.
"""

import os
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from hogeq.evaluation.counterfactual import action_values
from hogeq.evaluation.hidden import reach
from hogeq.evaluation.tablebase import solve
from hogeq.evaluation.win_rates import win_rate
from hogeq.model.game import Game, compile_game
from hogeq.response.bounds import full_memory_bound
from hogeq.response.search import SearchBudget, attack
from hogeq.rules import Rules, parts
from tests import twin
from tests.evaluation.players import EXACT, Floats, random_policy
from tests.twin.parts import LANDINGS, MORE_BOAR, SWAPS, ZERO_DICE
from tests.twin.turn import SWITCHES

GAMES = int(os.environ.get("HOGEQ_FUZZ_GAMES", "200"))
BLOCK = 20
# Cells times rolls times memories: what keeps the twin at a fraction of a second.
MOST_STATES = 4000
MOST_MEMORIES = 200
QUICK = SearchBudget(starts=1, anneal_steps=4)

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
        # Hefty Hogs, whose games may have no value, is compared edition by edition.
        on["zero_dice"] = one_of(*[name for name in names_of("zero_dice") if name != "hefty_hogs"])
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


def game_number(number: int) -> tuple[Game, np.random.Generator]:
    """Draw until the package takes it: it refuses to remember much where positions recur."""
    random = np.random.default_rng(number)
    while True:
        rules = Rules(**random_switches(random))
        try:
            return compile_game(rules), random
        except ValueError as refusal:
            if "unknowns where positions can recur" not in str(refusal):
                raise


def compare(game: Game, random: np.random.Generator) -> None:
    play = twin.Play(game.rules)
    kind = str(random.choice(["mixed", "sparse", "pure"]))
    a: Floats = random_policy(random, game.shape, kind)
    b: Floats = random_policy(random, game.shape, "mixed")
    match = twin.Match(play, a.tolist(), b.tolist())
    assert win_rate(game, a, b) == pytest.approx(match.win_rate(), abs=EXACT)

    visits = match.reach()
    expected = np.zeros(game.shape[:2])
    for (player, state), visited in visits.items():
        expected[state[:2]] += float(visited) * (player == 0)
    found = reach(game, a, b).sum(axis=2)
    np.testing.assert_allclose(found, expected, rtol=EXACT, atol=EXACT)

    worth, _ = twin.counterfactual(play, a, b, own_reach=True)
    np.testing.assert_allclose(action_values(game, a, b), worth, rtol=EXACT, atol=EXACT)

    remembers = twin.Match(play, None, b.tolist()).win_rate()[0]
    assert full_memory_bound(game, b) == pytest.approx(remembers, abs=EXACT)
    if game.memory_size == 1:
        response = attack(game, b, QUICK)
        assert response.win_rate == pytest.approx(remembers, abs=EXACT)
        pure = np.eye(game.num_actions)[response.matrix].tolist()
        assert twin.Match(play, pure, b.tolist()).win_rate()[0] == pytest.approx(
            remembers, abs=EXACT
        )

    best = twin.Match(play, None, None)
    start = twin.State(0, 0)
    solved = solve(game)
    assert solved.value == pytest.approx(best.value(0, start), abs=EXACT)
    assert solved.first_roll == best.best_roll(0, start)


@pytest.mark.parametrize("block", range(0, GAMES, BLOCK))
def test_random_games(block: int) -> None:
    for number in range(block, min(block + BLOCK, GAMES)):
        game, random = game_number(number)
        try:
            compare(game, random)
        except Exception as difference:
            raise AssertionError(f"game {number}, {game.rules}") from difference


def test_the_twin_has_every_part() -> None:
    assert set(parts.ZERO_DICE) <= set(ZERO_DICE)
    assert set(parts.SWAPS) <= set(SWAPS)
    assert set(parts.MORE_BOAR) <= set(MORE_BOAR)
    assert set(parts.LANDINGS) <= set(LANDINGS)
    # What a plugin remembers has no edition and no document: its tests are its own.
    assert NAMES - {"name", "memory"} == set(SWITCHES)


def test_the_games_have_all_there_is() -> None:
    """What the first games combine: every part, recurring positions, every kind of memory."""
    games = [game_number(number)[0] for number in range(200)]
    for switch in PARTS:
        assert {getattr(game.rules, switch) for game in games} == set(names_of(switch)) - {
            "hefty_hogs"
        }
    assert sum(game.positions_recur for game in games) >= 20
    assert sum(game.memory_size == 1 for game in games) >= 50
    assert sum(game.memory_size > 1 for game in games) >= 50
