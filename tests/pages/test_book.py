"""Why best play looks strange: every figure again, from single turns."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import hogeq
from hogeq.evaluation.tablebase import best_first, solve
from hogeq.model.game import HogEngine, compile_game
from hogeq.pages.book import LEAST, MOST, OFF, Reason, book, reasons, turn_values
from hogeq.rules import EDITIONS, Rules, rules_from
from hogeq.rules.memory import next_memory, record, remembered
from hogeq.rules.rules import points_distribution, rolled_points, zero_points
from hogeq.rules.turn import dice_sides, given, land, memory_effect

Values = NDArray[np.float64]


def small(edition: str) -> HogEngine:
    return compile_game(rules_from({"edition": edition, "goal": 24, "max_dice": 3}))


@pytest.mark.parametrize("edition", EDITIONS)
def test_turns_by_the_games_own_rules_are_those_of_the_tablebase(edition: str) -> None:
    game = small(edition)
    solved = solve(game)
    random = np.random.default_rng(1)
    memories = random.integers(game.memory_size, size=(game.goal, game.goal))
    found = turn_values(game, solved.values, memories, game.rules)
    for own, other in product(range(0, game.goal, 3), repeat=2):
        want = solved.roll_values(own, other)[memories[own, other]]
        np.testing.assert_allclose(found[own, other], want, rtol=0, atol=1e-12)


def without(rules: Rules, rule: str) -> Rules:
    try:
        return replace(rules, **{rule: OFF[rule]})
    except ValueError:  # nothing else gives extra turns
        return replace(rules, **{rule: OFF[rule]}, extra_turn_sides=None)


def by_faces(game: HogEngine, values: Values, place: Reason, rules: Rules, dice: int) -> float:
    """Average over all faces of dice that are rolled in a turn by other rules."""
    own, other, memory = place.own, place.other, game.memories[place.memory]
    before = memory
    if rules.memory == "none":
        memory = memory._replace(state=0)
    sides = dice_sides(game.rules, own, other, before)
    if (rules.hog_wild, rules.memory) != (game.rules.hog_wild, game.rules.memory):
        sides = dice_sides(rules, own, other, memory)
    ways = list(product(range(1, sides + 1), repeat=max(dice, 0)))
    total = 0.0
    for faces in ways:
        points = rolled_points(rules, faces) if dice > 0 else zero_points(rules, own, other)
        points = 1 if dice < 0 else points
        more, gift = memory_effect(rules, memory, dice).bonus, given(rules, dice, points)
        end = land(rules, own + points + more, other + gift)
        if end.winner is not None:
            total += end.winner == 0
            continue
        again = end.again or memory_effect(rules, memory, dice).forced
        after = next_memory(game.rules, before, record(game.rules, dice, points), again)
        index = game.memories.index(after)
        total += (
            values[end.score, end.opponent, index]
            if again
            else 1.0 - values[end.opponent, end.score, index]
        )
    return total / len(ways)


@pytest.mark.parametrize(
    "edition", ["su20", "fa23", "hw13", "su21", "fa15", "fa22", "fa18", "fa13"]
)
def test_reasons_are_those_of_every_way_the_dice_can_fall(edition: str) -> None:
    game = small(edition)
    solved, found = solve(game), reasons(game)
    assert found
    assert edition != "fa13" or any(place.rule == "memory" for place in found)
    for place in found:
        rules = without(game.rules, place.rule)
        rolls = solved.roll_values(place.own, place.other)[place.memory]
        other = [by_faces(game, solved.values, place, rules, dice) for dice in rules.choices]
        if len(other) < len(rolls):  # the choice -1 goes with its rule
            other.append(max(other))
        assert place.best == best_first(rolls)[0]
        assert place.forgot == best_first(other)[0] != place.best
        assert place.cost == pytest.approx(rolls[place.best] - rolls[place.forgot], abs=1e-12)
        assert place.cost >= LEAST
        gains = rolls - np.array(other)
        assert place.gain_best == pytest.approx(gains[place.best], abs=1e-12)
        assert place.gain_forgot == pytest.approx(gains[place.forgot], abs=1e-12)
    for rule in {place.rule for place in found}:
        assert sum(place.rule == rule for place in found) <= MOST


@pytest.mark.slow
def test_a_trap_by_hand() -> None:
    """At 98 to 52 no dice score 6: 104 is twice 52, and the swap hands the game to the other."""
    places = reasons(compile_game(EDITIONS["hw13"]))
    (trap,) = (place for place in places if (place.own, place.other) == (98, 52))
    assert (trap.rule, trap.forgot) == ("swap", 0)
    assert trap.gain_forgot == -1.0
    assert trap.cost > 0.99


def test_the_page_gets_names_and_rounded_figures() -> None:
    game = small("fa23")
    told: Any = json.loads(json.dumps(book(game)))
    assert told["names"] == {"landing": "Sus Fuss"}
    for place, row in zip(reasons(game), told["reasons"], strict=True):
        assert row[:6] == list(place[:6])
        np.testing.assert_allclose(row[6:], place[6:], rtol=0, atol=5.1e-7)


def test_a_game_without_such_rules_has_nothing_strange() -> None:
    assert book(compile_game(Rules(goal=20, max_dice=2))) == {"reasons": [], "names": {}}


# --- a part that remembers something of its own ---------------------------------------------------


class LastPoints(hogeq.MemoryPart):
    """2 more points after a turn of prime points."""

    text = "points of the last turn"
    start = 0

    def update(self, value: Any, dice: int, points: int, again: bool) -> Any:
        del value, dice, again
        return min(points, 12)

    def bonus(self, value: Any, dice: int) -> int:
        del dice
        return 2 if value in {2, 3, 5, 7, 11} else 0


@pytest.mark.usefixtures("registries")
def test_a_turn_without_a_rule_remembers_as_the_game_does() -> None:
    """Without Prime Boost turns have other points, so that values have other numbers."""
    hogeq.rule_part("memory")(LastPoints)
    rules = hogeq.Rules(goal=20, max_dice=3, prime_boost=True, memory="LastPoints")
    game, without = compile_game(rules), replace(rules, prime_boost=False)
    values, known = solve(game).values, remembered(rules).values
    assert known != remembered(without).values
    random = np.random.default_rng(4)
    memories = random.integers(game.memory_size, size=(20, 20))
    found = turn_values(game, values, memories, without)
    part, checked = LastPoints(), 0
    for own, other, dice in product(range(0, 20, 3), range(0, 20, 2), range(4)):
        value = known[game.memories[memories[own, other]].state]
        points = {zero_points(without, own, other): Fraction(1)}
        if dice:
            points = dict(points_distribution(without, dice, 6))
        if not {part.update(value, dice, one, False) for one in points} <= set(known):
            continue
        want = 0.0
        for one, chance in points.items():
            end = land(without, own + one + part.bonus(value, dice), other)
            after = known.index(part.update(value, dice, one, end.again))
            goes_on = 1.0 - values[min(end.opponent, 19), min(end.score, 19), after]
            want += float(chance) * (goes_on if end.winner is None else end.winner == 0)
        assert found[own, other, dice] == pytest.approx(want, abs=1e-12)
        checked += 1
    assert checked > 100
