"""Parts with a memory of their own, against the twin, which remembers what they give it."""

from collections import defaultdict
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

import hogeq
from hogeq.evaluation.tablebase import solve
from hogeq.evaluation.values import belief, win_rate
from hogeq.model.game import HogEngine, compile_game
from hogeq.rules.memory import memory_fields
from hogeq.rules.register import MEMORY_PARTS
from hogeq.search.attack import attack
from hogeq.search.bounds import full_memory_bound
from hogeq.strategies.arrays import one_hot
from hogeq.support.aliases import Floats, Matrix
from tests.twin import Match, Memory, Play, State

pytestmark = pytest.mark.usefixtures("registries")


class Echo(hogeq.MemoryPart):
    """2 more points for rolling as many dice as the opponent rolled last."""

    text = "opponent's last dice"

    def update(self, value: Any, dice: int, points: int, again: bool) -> Any:
        del points
        return value if again else dice

    def effect(self, rules: Any, score: int, opponent: int, memory: Any, dice: int) -> int:
        del rules, score, opponent
        return 2 if dice == memory else 0


class Streak(hogeq.MemoryPart):
    """An extra turn for rolling no dice after two turns, of anybody, that scored at least 4."""

    text = "turns of at least 4 points in a row"
    start = 0

    def update(self, value: Any, dice: int, points: int, again: bool) -> Any:
        del dice, again
        return min(value + 1, 2) if points >= 4 else 0

    def effect(self, rules: Any, score: int, opponent: int, memory: Any, dice: int) -> Any:
        del rules, score, opponent
        return 0, memory == 2 and dice == 0


class Miser(hogeq.MemoryPart):
    """1 more point for one die, and an extra turn for two if behind, after a turn of 1 point."""

    text = "did the mover, did the other score 1 point last?"
    start = False, False

    def update(self, value: Any, dice: int, points: int, again: bool) -> Any:
        del dice
        return (points == 1, value[1]) if again else (value[1], points == 1)

    def effect(self, rules: Any, score: int, opponent: int, memory: Any, dice: int) -> Any:
        del rules
        return int(memory[0] and dice == 1), memory[0] and dice == 2 and score < opponent

    def shown(self, value: Any) -> str:
        return " and ".join("yes" if one else "no" for one in value)


class PlayWithPart(Play):
    """The twin's turns, with what a part says, asked in its own words."""

    def __init__(self, part: hogeq.MemoryPart, rules: hogeq.Rules) -> None:
        super().__init__({**asdict(rules), "memory": "none"})
        self.part, self.rules = part, rules
        self.start = State(0, 0, Memory(state=part.start))

    def effect(self, state: State, dice: int) -> tuple[int, bool]:
        more, again = super().effect(state, dice)
        given = self.part.effect(self.rules, *state[:2], state.memory[4], dice)
        bonus, also = given if isinstance(given, tuple) else (given, False)
        return more + bonus, again or also

    def after(self, memory: tuple[Any, ...], dice: int, points: int, again: bool) -> Memory:
        following = super().after(memory, dice, points, again)
        return following._replace(state=self.part.update(memory[4], dice, points, again))


PARTS = (Echo, Streak, Miser)
GAMES: dict[str, dict[str, Any]] = {
    "plain": {"goal": 10, "sides": 4},
    "feral hogs on dice": {"goal": 9, "sides": 4, "feral_hogs": "dice"},
    "feral hogs on points": {
        "goal": 8,
        "sides": 3,
        "max_dice": 1,
        "feral_hogs": "points",
        "swap": "double",
    },
    "time trot": {"goal": 9, "sides": 3, "time_trot": True, "time_trot_period": 3},
}


def game_of(
    kind: type[hogeq.MemoryPart], changes: dict[str, Any]
) -> tuple[HogEngine, PlayWithPart]:
    hogeq.rule_part("memory")(kind)
    base = {"zero_dice": "twice_digit_gap_plus_one", "max_dice": 2}
    rules = hogeq.Rules(name=kind.__name__, memory=kind.__name__, **{**base, **changes})
    return compile_game(rules), PlayWithPart(kind(), rules)


def random_matrices(game: HogEngine) -> list[Matrix]:
    random = np.random.default_rng(0)
    shape = game.goal, game.goal
    return [random.integers(0, game.num_actions, shape).astype(np.int8) for _ in range(2)]


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("kind", PARTS)
def test_parts_are_played_as_they_are_written(kind: type[hogeq.MemoryPart], name: str) -> None:
    game, play = game_of(kind, GAMES[name])
    a, b = random_matrices(game)
    one, two = (one_hot(matrix, game.num_actions) for matrix in (a, b))
    assert win_rate(game, a, b) == pytest.approx(Match(play, one, two).win_rate(), abs=1e-12)
    best = Match(play, None, None).value(0, play.start)
    assert solve(game).value == pytest.approx(best, abs=1e-12)
    bound = Match(play, None, one).win_rate()[0]
    assert full_memory_bound(game, a) == pytest.approx(bound, abs=1e-12)
    found = attack(game, a, hogeq.Budget(starts=2, anneal_steps=10, kicks=0))
    exact = Match(play, one_hot(found.matrix, game.num_actions), one).win_rate()[0]
    assert found.win_rate == pytest.approx(exact, abs=1e-12)
    assert found.win_rate <= bound + 1e-12


def lucky_thirteen(rules: Any, score: int, opponent: int, memory: Any, dice: int) -> int:
    """2 more points if the mover's score is a multiple of 13."""
    del rules, opponent, memory, dice
    return 2 if score % 13 == 0 else 0


def close_race(
    rules: hogeq.Rules, score: int, opponent: int, memory: Any, dice: int
) -> tuple[int, bool]:
    """1 more point a die for a lead of 1, and an extra turn for the player behind."""
    assert rules.goal == 15
    assert memory in {None, "no", "yes"}
    return max(dice, 0) * (score - opponent == 1), score < opponent


@pytest.mark.parametrize("more", [{}, {"memory": "ham_hijinks", "feral_hogs": "dice"}])
@pytest.mark.parametrize("effect", [lucky_thirteen, close_race])
def test_effects_see_all_that_a_turn_begins_with(effect: Any, more: dict[str, Any]) -> None:
    hogeq.rule_part("effect")(effect)
    spec = {
        "edition": "fa23",
        "goal": 15,
        "max_dice": 2,
        "hog_tied": True,
        "effect": effect.__name__,
        "landing": "hog_pile_double+sus_fuss",
    }
    game = compile_game(hogeq.rules_from(spec | more))
    play = Play(asdict(game.rules))
    a, b = random_matrices(game)
    one, two = (one_hot(matrix, game.num_actions) for matrix in (a, b))
    assert win_rate(game, a, b) == pytest.approx(Match(play, one, two).win_rate(), abs=1e-12)
    best = Match(play, None, None).value(0, play.start)
    assert solve(game).value == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("kind", PARTS)
def test_beliefs_are_over_what_the_part_remembers(kind: type[hogeq.MemoryPart]) -> None:
    game, play = game_of(kind, GAMES["plain"])
    matrix = random_matrices(game)[0]
    policy = one_hot(matrix, game.num_actions)
    expected: Any = defaultdict(lambda: defaultdict(float))
    for (_, state), reached in Match(play, policy, policy).reach().items():
        expected[state[:2]][play.part.shown(state.memory[4])] += float(reached)
    for cell, weights in expected.items():
        shares = belief(game, matrix, None, *cell)
        assert shares is not None
        there = {
            memory_fields(game.rules, memory)["remembered"]: share
            for memory, share in zip(game.memories, shares.tolist(), strict=True)
            if share
        }
        total = sum(weights.values())
        assert there == pytest.approx({key: weight / total for key, weight in weights.items()})


def refused(kind: type[hogeq.MemoryPart]) -> str:
    hogeq.rule_part("memory")(kind)
    try:
        with pytest.raises(ValueError, match=r"^memory: ") as error:
            hogeq.rules_from({"goal": 9, "max_dice": 2, "memory": kind.__name__})
    finally:
        del MEMORY_PARTS[kind.__name__]
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(
    ("attributes", "why"),
    [
        (
            {"start": 0, "update": lambda _, value, *__: value + 1},
            "more than 64 values, the last 64; allowed: at most 64",
        ),
        (
            {"update": lambda _, value, dice, *__: value + dice},
            "update(None, 0, 2, False): TypeError: unsupported",
        ),
        ({"update": lambda _, __, dice, *___: [dice]}, "update: got [0]; allowed: a hashable"),
        (
            {"effect": lambda *asked: -(asked[-1] == 1)},
            "Odd: effect at score, opponent = 0, 0, memory None, 1 dice: got -1; allowed: whole",
        ),
        ({"effect": lambda *_: (1, "perhaps")}, "0 dice: got (1, 'perhaps'); allowed: whole"),
        ({"effect": lambda *_: []}, "0 dice: got []; allowed: whole numbers from 0 to 100, or"),
        ({"effect": lambda *_: 1 // 0}, "memory None, 0 dice: ZeroDivisionError: integer"),
    ],
)
def test_memories_that_are_refused(attributes: dict[str, Any], why: str) -> None:
    for name, value in attributes.items():
        if name != "start":
            value.__name__ = name
    assert why in refused(type("Odd", (Echo,), {"__doc__": "Odd.", **attributes}))


def test_unknown_methods_and_what_is_no_part_are_refused() -> None:
    class Misspelt(Echo):
        """Has a method that nobody asks."""

        def effects(self, dice: int) -> int:
            return self._helper(dice)

        def _helper(self, dice: int) -> int:
            return dice

    methods = "update, effect, sides, scored, shown, and names that begin with _; nearest: effect"
    with pytest.raises(ValueError, match=f"unknown method effects; allowed: {methods}"):
        hogeq.rule_part("memory")(Misspelt)
    with pytest.raises(TypeError, match=r"memory part int: got <class 'int'>; allowed: a subclass"):
        hogeq.rule_part("memory")(int)


def test_what_is_told_of_a_memory() -> None:
    game, _ = game_of(Echo, {"goal": 10, "sides": 4})
    assert dict(hogeq.describe(game.rules))["Echo"].startswith("2 more points for rolling as many")
    late = "\n    Told late.\n    "
    for name, docstring, told in (("late", late, "told late"), ("dot", ".", "kind")):
        hogeq.rule_part("memory", name)(type("Kind", (Echo,), {"__doc__": docstring}))
        rules = hogeq.Rules(goal=6, max_dice=1, memory=name)
        assert f"{told} ({name})" in dict(hogeq.describe(rules)).values()
    shares = belief(game, np.ones((10, 10), np.int8), None, 4, 3)
    assert isinstance(shares, np.ndarray)
    table: Floats = shares
    assert table.argmax() == game.memories.index(Memory(state=2))
    small: dict[str, Any] = {"goal": 6, "max_dice": 1, "sides": 3}
    plain, echo = (hogeq.audit(hogeq.Rules(**small, memory=name)) for name in ("none", "Echo"))
    assert echo.histories < plain.histories  # with more points, games are shorter


def test_openspiel_plays_a_part_with_a_memory() -> None:
    pytest.importorskip("pyspiel")
    from hogeq.trees.openspiel.game import game_of as in_openspiel

    rules = {"zero_dice": "twice_digit_gap_plus_one", "goal": 7, "max_dice": 1, "sides": 3}
    game, play = game_of(Echo, rules)
    ones = one_hot(np.ones((7, 7), int), 2)

    def wins(state: Any) -> float:
        if state.is_terminal():
            return float(state.returns()[0] > 0)
        if state.is_chance_node():
            return sum(p * wins(state.child(roll)) for roll, p in state.chance_outcomes())
        return wins(state.child(1))

    root = in_openspiel(game.rules, memory=True).new_initial_state()
    assert wins(root) == pytest.approx(0.5)  # both seats play the same
    first = root.child(0)
    assert wins(first) == pytest.approx(Match(play, ones, ones).value(0, play.start), abs=1e-12)


class Tired(hogeq.MemoryPart):
    """1 more point until somebody has rolled a die."""

    text = "state"
    start = "fresh"

    def update(self, value: Any, dice: int, points: int, again: bool) -> Any:
        del points, again
        return "tired" if dice else value

    def effect(self, rules: Any, score: int, opponent: int, memory: Any, dice: int) -> int:
        del rules, score, opponent, dice
        return int(memory == "fresh")


def test_scores_at_which_play_stays_only_by_a_memory_that_is_not_met_there_end() -> None:
    hogeq.rule_part("memory")(Tired)
    rules = hogeq.rules_from(
        {"goal": 2, "max_dice": 1, "sides": 2, "zero_dice": 0, "pig_out": 0, "memory": "Tired"}
    )
    game = compile_game(rules)
    none = np.zeros((2, 2), np.int8)
    tired = np.array([[1, 0], [0, 0]], np.int8)  # one die at 0 to 0, and none from there on
    assert win_rate(game, none, none).first == 1.0
    with pytest.raises(ValueError, match="may never end: at 0 to 1"):
        win_rate(game, tired, tired)
