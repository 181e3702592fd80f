"""Reviews: what a choice cost and what was luck, and that nothing else is left."""

import json
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hogeq.analysis.review import Review, review
from hogeq.analysis.transcript import Transcript, parse_transcript
from hogeq.analysis.turns import COSTLIEST, GRADES, Engine, Situation, advance, grade
from hogeq.model.game import HogEngine, compile_game
from hogeq.rules import rules_from
from hogeq.rules.turn import dice_sides

# To 3 points with one coin that shows 1 or 2; rolling nothing scores 1 too. By hand, whoever moves
# first with score s against o wins V(s, o): V(2, o) = V(1, 0) = 1, V(1, 2) = 1/2, V(1, 1) = 3/4,
# V(0, 2) = 0, V(0, 1) = 3/8, V(0, 0) = 13/16, each by rolling the coin.
COIN: dict[str, Any] = {"goal": 3, "max_dice": 1, "sides": 2, "zero_dice": [1, 1, 1]}

EDITIONS = ("su20", "fa19", "su21", "fa18", "fa22", "fa23", "fa15", "sp22")


@cache
def small(edition: str) -> tuple[HogEngine, Engine]:
    game = compile_game(rules_from({"edition": edition, "goal": 20, "max_dice": 3}))
    return game, Engine(game)


def script(rules: Any, *turns: tuple[int, int, list[int], list[int], list[int]]) -> Transcript:
    """Make a transcript from mover, roll, dice, and scores before and after each turn."""
    content = {
        "format": "hogeq transcript",
        "version": 1,
        "rules": rules,
        "players": ["Ann", "Bob"],
        "turns": [
            {"player": mover, "before": before, "roll": roll, "dice": dice}
            | {"points": sum(dice) or 1, "fired": [], "after": after}
            for mover, roll, dice, before, after in turns
        ],
        "winner": next((player for player in (0, 1) if turns[-1][4][player] >= 3), None),
    }
    return parse_transcript(json.dumps(content).encode(), "game")


def test_a_game_by_hand() -> None:
    played = script(
        COIN,
        (0, 0, [], [0, 0], [1, 0]),
        (1, 1, [2], [1, 0], [1, 2]),
        (0, 0, [], [1, 2], [2, 2]),
        (1, 1, [1], [2, 2], [2, 3]),
    )
    found = review(compile_game(played.rules), played)
    figures = [(turn.best_value, turn.value, turn.value_after) for turn in found.turns]
    assert figures == [
        (13 / 16, 5 / 8, 5 / 8),
        (3 / 8, 3 / 8, 1 / 2),
        (1 / 2, 0.0, 0.0),
        (1.0, 1.0, 1.0),
    ]
    assert [turn.loss for turn in found.turns] == [3 / 16, 0.0, 1 / 2, 0.0]
    assert [turn.luck for turn in found.turns] == [0.0, 1 / 8, 0.0, 0.0]
    assert [turn.best for turn in found.turns] == [(1,), (1,), (1,), (0, 1)]
    assert [turn.grade for turn in found.turns] == ["blunder", "best", "blunder", "best"]
    ann, bob = found.tallies
    assert (ann.loss, ann.luck, bob.loss, bob.luck) == (11 / 16, 0.0, 0.0, 1 / 8)
    assert [turn.number for turn in ann.costliest] == [3, 1]
    assert bob.costliest == ()
    assert (found.start, found.result) == ((13 / 16, 3 / 16), (0.0, 1.0))


def test_a_game_that_was_left_ends_with_what_it_was_worth() -> None:
    played = script(COIN, (1, 1, [1], [0, 0], [0, 1]))
    found = review(compile_game(played.rules), played)
    assert (found.start, found.result) == ((3 / 16, 13 / 16), (3 / 8, 5 / 8))


def test_whoever_hands_the_win_over_ends_with_nothing() -> None:
    """From 5 all Ann rolls a 5: 10 is double 5, the scores trade places, and Bob has won."""
    rules = {"edition": "hw13", "goal": 9, "max_dice": 1, "hog_wild": False}
    game = compile_game(rules_from(rules))
    played = Transcript.of([(5,), (5,), (5,)], game.rules, ("Ann", "Bob"))
    found = review(game, played)
    assert (found.turns[-1].before.mover, played.end.winner) == (0, 1)
    assert (found.turns[-1].value_after, found.result) == (0.0, (0.0, 1.0))


def test_grades() -> None:
    costs = 0.0, 1e-13, 1e-6, 0.00499, 0.005, 0.02, 0.05, 1.0
    names = "best best good good inaccuracy mistake blunder blunder"
    assert [grade(cost) for cost in costs] == names.split()


def test_games_by_other_rules_are_refused() -> None:
    played = script(COIN, (1, 1, [1], [0, 0], [0, 1]))
    with pytest.raises(ValueError, match="review: a game by custom; allowed: one by fa22"):
        review(small("fa22")[0], played)


# --- random games ---------------------------------------------------------------------------------


def random_game(edition: str, seed: int, choices: list[int], leave: int) -> Review:
    """Review a game in which both players roll what a list says, again and again."""
    game = small(edition)[0]
    rules, random = game.rules, np.random.default_rng(seed)
    place, rolls = Situation.start(seed % 2), list[tuple[int, ...]]()
    while place.winner is None and len(rolls) < leave:
        dice = choices[len(rolls) % len(choices)]
        sides = dice_sides(rules, *place.view, place.memory)
        rolls.append(tuple(random.integers(1, sides + 1, dice).tolist()))
        place = advance(rules, place, rolls[-1]).after
    played = Transcript.of(rolls, rules, ("Ann", "Bob"), seed % 2, seed)
    again = parse_transcript(played.to_json().encode(), "game")
    assert again == played
    return review(game, again)


games = given(
    st.sampled_from(EDITIONS),
    st.integers(0, 2**32 - 1),
    st.lists(st.integers(0, 3), min_size=1, max_size=9),
    st.integers(1, 60),
)


@settings(max_examples=60)
@games
def test_reviews_leave_nothing_over(
    edition: str, seed: int, choices: list[int], leave: int
) -> None:
    found = random_game(edition, seed, choices, leave)
    for player in (0, 1):
        own, other = found.tallies[player], found.tallies[1 - player]
        total = found.start[player] - own.loss + own.luck + other.loss - other.luck
        assert total == pytest.approx(found.result[player], abs=1e-11)
    end = found.transcript.end
    if end.winner is not None:
        assert found.result == ((1.0, 0.0) if end.winner == 0 else (0.0, 1.0))
    for turn in found.turns:
        assert turn.loss >= 0.0
        assert turn.value <= turn.best_value
        assert (turn.grade == "best") == (turn.dice in turn.best)
    for tally in found.tallies:
        assert sum(tally.grades.values()) == tally.moves
        assert set(tally.grades) == set(GRADES)
        costs = [turn.loss for turn in tally.costliest]
        assert costs == sorted(costs, reverse=True)
        assert len(costs) <= COSTLIEST
    json.dumps(found.to_json(), allow_nan=False)


@pytest.mark.slow
@settings(max_examples=25)
@games
def test_luck_is_nothing_on_average(
    edition: str, seed: int, choices: list[int], leave: int
) -> None:
    """Every way in which the dice could have fallen, one by one, averages to the roll's value."""
    found = random_game(edition, seed, choices, leave)
    rules, engine = found.transcript.rules, small(edition)[1]
    for turn in found.turns[:4]:
        place, dice = turn.before, turn.dice
        sides = dice_sides(rules, *place.view, place.memory)
        ways = list(product(range(1, sides + 1), repeat=dice))
        mean = sum(worth(engine, place, advance(rules, place, way).after) for way in ways)
        assert mean / len(ways) == pytest.approx(turn.value, abs=1e-10)


def worth(engine: Engine, place: Situation, after: Situation) -> float:
    """Win probability of whoever moves at `place`, once the turn is over."""
    if after.winner is not None:
        return float(after.winner == place.mover)
    value = float(engine.values(after).max())
    return value if after.mover == place.mover else 1.0 - value
