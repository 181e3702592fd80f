"""Why best play looks strange: every figure again, from single turns."""

import json
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hogeq.analysis.book import MAX_PER_RULE, MIN_COST, Reason, book, fires, reasons
from hogeq.analysis.losses import RULES_OFF, turn_values
from hogeq.evaluation.tablebase import best_first, solve
from hogeq.model.game import HogEngine, compile_game
from hogeq.rules import EDITIONS, Rules, rules_from
from hogeq.rules.memory import next_memory, record
from hogeq.rules.rules import rolled_points, zero_points
from hogeq.rules.turn import dice_sides, effect, given, land, part_name, play_turn, turn_effects
from tests.slow import FEW_EDITIONS, mostly_slow

Values = NDArray[np.float64]


def small(edition: str) -> HogEngine:
    return compile_game(rules_from({"edition": edition, "goal": 24, "max_dice": 3}))


@pytest.mark.parametrize(
    "edition",
    mostly_slow([name for name in EDITIONS if name not in {"sp22", "fa21"}], *FEW_EDITIONS),
)
def test_turns_by_the_games_own_rules_are_those_of_the_tablebase(edition: str) -> None:
    game = small(edition)
    solved = solve(game)
    random = np.random.default_rng(1)
    memories = random.integers(game.memory_size, size=(game.goal, game.goal))
    weights = np.eye(game.memory_size)[memories]
    found = turn_values(game, solved.values[None], weights, game.rules)
    assert found is not None
    for own, other in product(range(0, game.goal, 3), repeat=2):
        want = solved.roll_values(own, other)[memories[own, other]]
        np.testing.assert_allclose(found[own, other], want, rtol=0, atol=1e-12)


def by_faces(game: HogEngine, values: Values, place: Reason, rules: Rules, dice: int) -> float:
    """Average over all faces of dice that are rolled in a turn by other rules."""
    own, other, memory = place.own, place.other, game.memories[place.memory]
    sides = dice_sides(rules, own, other, memory)
    ways = list(product(range(1, sides + 1), repeat=max(dice, 0)))
    total = 0.0
    for faces in ways:
        points = rolled_points(rules, faces) if dice > 0 else zero_points(rules, own, other)
        points = 1 if dice < 0 else points
        more, gift = effect(rules, own, other, memory, dice).bonus, given(rules, dice, points)
        end = land(rules, own + points + more, other + gift)
        if end.winner is not None:
            total += end.winner == 0
            continue
        again = end.again or effect(rules, own, other, memory, dice).forced
        after = next_memory(game.rules, memory, record(game.rules, dice, points), again)
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
    for place in found:
        rules = replace(game.rules, **{place.rule: RULES_OFF[place.rule]})
        rolls = solved.roll_values(place.own, place.other)[place.memory]
        other = [by_faces(game, solved.values, place, rules, dice) for dice in rules.choices]
        assert place.best == best_first(rolls)[0]
        assert place.forgot == best_first(other)[0] != place.best
        assert place.cost == pytest.approx(rolls[place.best] - rolls[place.forgot], abs=1e-12)
        assert place.cost >= MIN_COST
        gains = rolls - np.array(other)
        assert place.gain_best == pytest.approx(gains[place.best], abs=1e-12)
        assert place.gain_forgot == pytest.approx(gains[place.forgot], abs=1e-12)
    for rule in {place.rule for place in found}:
        assert sum(place.rule == rule for place in found) <= MAX_PER_RULE


@pytest.mark.slow
def test_a_trap_by_hand() -> None:
    """At 98 to 52 no dice score 6: 104 is twice 52, and the swap hands the game to the other."""
    places = reasons(compile_game(EDITIONS["hw13"]))
    (trap,) = (place for place in places if (place.own, place.other) == (98, 52))
    assert (trap.rule, trap.forgot) == ("swap", 0)
    assert trap.gain_forgot == -1.0
    assert trap.cost > 0.99


def test_the_page_gets_places_and_texts() -> None:
    game = small("fa23")
    told: Any = json.loads(json.dumps(book(game)))
    assert told
    for place, (name, *where, best, helps, text) in zip(reasons(game), told, strict=True):
        assert (name, best) == ("Sus Fuss", place.best)
        assert where == [place.own, place.other, place.memory]
        gain = place.gain_best if helps else -place.gain_forgot
        assert gain == max(place.gain_best, -place.gain_forgot)
        assert f" {'is worth' if helps else 'takes'} {100 * gain:.2f} pp. A player who" in text
        assert text.endswith(f", and loses {100 * place.cost:.2f} pp.")


FIRING: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    ({"edition": "fa23", "square_swine": True}, ("landing", "square_swine")),
    ({"edition": "fa22", "landing": "sus_fuss"}, ("landing", "square_swine")),
    ({"edition": "su21"}, ("more_boar",)),
    ({"edition": "fa15"}, ("swap", "piggy_back", "prime_boost")),
]


@pytest.mark.parametrize(("spec", "rules"), FIRING)
def test_rules_fire_as_often_as_they_do_in_turns(
    spec: dict[str, Any], rules: tuple[str, ...]
) -> None:
    game = compile_game(rules_from({**spec, "goal": 40, "max_dice": 4}))
    named = {"landing": part_name(game.rules, "landing"), "square_swine": "Square Swine"}
    told = []
    for number, (own, other) in enumerate([(20, 17), (24, 17), (32, 24), (1, 8), (13, 31)], 5):
        memory = number % game.memory_size
        view = own, other, game.memories[memory]
        for dice, rule in product((1, 3), rules):
            head = named.get(rule, rule.replace("_", " ").title())
            ways = list(product(range(1, dice_sides(game.rules, *view) + 1), repeat=dice))
            turns = [(faces, play_turn(game.rules, *view, dice, faces)) for faces in ways]
            lines = [turn_effects(game.rules, own, other, *one) for one in turns]
            often = sum(any(one.startswith(f"{head}: ") for one in line) for line in lines)
            fired = fires(game, Reason(rule, own, other, memory, 0, 0, 0.0, 0.0, 0.0), dice)
            assert fired == (None if rule == "prime_boost" else pytest.approx(often / len(ways)))
            told.append(fired or 0.0)
    assert max(told) > 0.0


def test_a_game_without_such_rules_has_nothing_strange() -> None:
    assert book(compile_game(Rules(goal=20, max_dice=2))) == []
    assert book(small("sp22")) == []  # positions recur
