"""The board: what its page computes in a real browser, against Python."""

import random
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

from hogeq import Hog
from hogeq.evaluation.tablebase import solve
from hogeq.evaluation.values import reach
from hogeq.model.game import HogEngine, compile_game
from hogeq.pages import board, frame
from hogeq.pages.board import Shown, make
from hogeq.rules import EDITIONS, describe, rules_from
from hogeq.rules.memory import Memory
from hogeq.rules.register import EFFECTS, MEMORY_PARTS, MemoryPart
from hogeq.rules.turn import TurnTable, play_turn, throw_of, turn_effects
from hogeq.search.bounds import full_memory_bound
from hogeq.strategies.conversion import policy_of
from tests.browsers import Tab
from tests.slow import mostly_slow


class Stubborn(MemoryPart):
    """2 more points for as many dice as last time; another turn for none after one."""

    start = None, None
    text = "last dice of both"

    def update(self, value: Any, dice: int, points: int, again: bool) -> Any:
        del points
        return (dice, value[1]) if again else (value[1], dice)

    def effect(self, rules: Any, score: int, opponent: int, memory: Any, dice: int) -> Any:
        del rules, score, opponent
        return 2 if dice == memory[0] else 0, memory[0] == 1 and dice == 0


def lucky_thirteen(rules: Any, score: int, opponent: int, memory: Any, dice: int) -> int:
    """2 more points if the mover's score is a multiple of 13."""
    del rules, opponent, memory, dice
    return 2 if score % 13 == 0 else 0


def close_race(rules: Any, score: int, opponent: int, memory: Any, dice: int) -> tuple[int, bool]:
    """1 more point a die for a lead of 1, and an extra turn for none at a deficit."""
    del rules, memory
    return max(dice, 0) * (score - opponent == 1), dice == 0 and score < opponent


SMALL: dict[str, dict[str, Any]] = {
    **{name: {"edition": name, "goal": 14, "max_dice": 3} for name in EDITIONS},
    "cycles": {"edition": "fa15", "piggy_back": False, "goal": 12, "max_dice": 3},
    "trot": {"edition": "fa18", "goal": 10, "max_dice": 4, "time_trot_period": 3},
    "wild": {"edition": "su21", "hog_wild": True, "goal": 12, "max_dice": 2},
    "tables": {
        "goal": 6,
        "max_dice": 2,
        "zero_dice": [3, 1, 4, 1, 5, 9],
        "landing": [0, 2, 2, 4, 5, 5, 6],
        "swap": [[int(own == 5) for _ in range(6)] for own in range(6)],
        "feral_hogs": "dice",
    },
    "two goals": {"edition": "fa22", "goal": [9, 14], "max_dice": 3},
    "two goals, hidden": {"edition": "su20", "goal": [12, 10], "max_dice": 3},
    "stubborn": {"goal": 10, "max_dice": 2, "memory": "Stubborn"},
    "lucky": {
        "edition": "fa23",
        "goal": 30,
        "max_dice": 3,
        "effect": "lucky_thirteen",
        "landing": "sus_fuss+hog_pile_digit",
    },
    "close": {
        "edition": "su20",
        "goal": 16,
        "max_dice": 2,
        "effect": "close_race",
        "hog_tied": True,
        "memory": "Stubborn",
    },
    "at 49": {"edition": "sp13", "goal": 52, "max_dice": 2},
    "idle": {"goal": 9, "max_dice": 1, "pig_out": 0, "zero_dice": [0] * 9},
    "large": {"edition": "su20", "goal": 40, "max_dice": 10},
}
"""Every part of the rules, in games that Python and a browser both solve at once."""


def mixed_table(game: HogEngine) -> np.ndarray[Any, Any]:
    """Give a table that rolls this and that."""
    own, other = np.indices((game.goal, game.goal))
    return ((3 * own + 5 * other) % game.num_actions).astype(np.int8)


def both_seats(game: HogEngine) -> list[HogEngine]:
    """Give the game as each of its seats has it: one, where the goal is one."""
    other = [compile_game(game.rules.for_second(), own_goals=True)] if game.has_own_goals else []
    return [game, *other]


def is_inside(game: HogEngine, own: int, other: int) -> bool:
    return own < game.rules.goals[0] and other < game.rules.goals[1]


@pytest.fixture(scope="module")
def all_games() -> Iterator[dict[str, HogEngine]]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(MEMORY_PARTS, "Stubborn", Stubborn())
        for part in (lucky_thirteen, close_race):
            patched.setitem(EFFECTS, part.__name__, part)
        compiled = {name: rules_from(spec) for name, spec in SMALL.items()}
        yield {name: compile_game(rules, own_goals=True) for name, rules in compiled.items()}


@pytest.fixture(scope="module")
def opened(
    browser: Any, all_games: dict[str, HogEngine], tmp_path_factory: pytest.TempPathFactory
) -> Tab:
    """Open a page of all small games."""
    path = tmp_path_factory.mktemp("board") / "board.html"
    shown = []
    for name, game in all_games.items():
        hog = Hog(game.rules)
        shown.append(Shown(hog, name, {"mixed": hog.strategy(mixed_table(game))}))
    path.write_text(make(shown), "utf-8")
    return Tab(browser, path, reduced_motion="reduce")


# --- what the page computes ------------------------------------------------------------------

OPEN = "const board = new Board(JSON.parse(document.getElementById('data').textContent));"

EDITION = f"{OPEN} const e = await board.editionAt(place);"


def asked(tab: Tab, script: str, place: int, **more: Any) -> Any:
    """Run a script on the page, `e` being one of its games."""
    names = ", ".join(more)
    return tab.page.evaluate(
        f"async ({{place, {names}}}) => {{ {EDITION} {script} }}", {"place": place, **more}
    )


@pytest.mark.parametrize("name", mostly_slow(SMALL, *(set(SMALL) - {"close", "large"})))
def test_every_probability_is_that_of_python(
    opened: Tab, all_games: dict[str, HogEngine], name: str
) -> None:
    game, place = all_games[name], list(SMALL).index(name)
    found = asked(
        opened,
        """const v = await e.solved();
        const rolls = [];
        for (let s = 0; s < e.goal; s++) for (let o = 0; o < e.goal; o++)
          for (let m = 0; m < e.memorySize; m++) {
            const [mine, theirs] = e.goals[e.seats[m]];
            const isAsked = step === 1 || (s * 7 + o * 3 + m) % step === 0;
            if (isAsked && s < mine && o < theirs) rolls.push(...v.rolls(s, o, m));
          }
        return rolls;""",
        place,
        step=37 if name == "large" else 1,
    )
    seats = [solve(one) for one in both_seats(game)]
    step = 37 if name == "large" else 1
    expected = [
        row
        for own, other in product(range(game.goal), repeat=2)
        for solved in seats
        if is_inside(solved.game, own, other)
        for memory, row in enumerate(solved.roll_values(own, other))
        if step == 1 or (own * 7 + other * 3 + memory) % step == 0
    ]
    np.testing.assert_allclose(found, np.concatenate(expected), atol=2e-13)


@pytest.mark.parametrize("name", [name for name in SMALL if name != "large"])
def test_values_against_a_table_are_those_of_a_responder_who_remembers(
    opened: Tab, all_games: dict[str, HogEngine], name: str
) -> None:
    game, place = all_games[name], list(SMALL).index(name)
    first, second = asked(
        opened,
        """const v = await e.against("mixed", e.tables.get("mixed"));
        return [v.value(0, 0, e.starts[0], 0), 1 - v.value(0, 0, e.starts[1], 1)];""",
        place,
    )
    bound = full_memory_bound(game, policy_of(game, mixed_table(game)))
    assert (first + second) / 2 == pytest.approx(bound, abs=1e-12)


@pytest.mark.parametrize("name", ["su20", "su21", "fa19", "fa22", "fa13", "sp22", "cycles"])
def test_reach_and_belief_are_those_of_python(
    opened: Tab, all_games: dict[str, HogEngine], name: str
) -> None:
    game, place = all_games[name], list(SMALL).index(name)
    found = asked(
        opened,
        "const r = await e.reach('mixed', e.tables.get('mixed')); return Array.from(r.masses);",
        place,
    )
    expected = reach(game, mixed_table(game))
    np.testing.assert_allclose(np.array(found).reshape(expected.shape), expected, atol=1e-13)


@pytest.mark.parametrize("name", [name for name in SMALL if name != "large"])
def test_every_turn_is_played_as_python_plays_it(
    opened: Tab, all_games: dict[str, HogEngine], name: str
) -> None:
    game, place = all_games[name], list(SMALL).index(name)
    table, number = TurnTable(game.rules), {m: i for i, m in enumerate(game.memories)}
    generator = random.Random(name)  # noqa: S311 - a test's own
    memories = generator.sample(list(game.memories), min(5, game.memory_size))
    pairs = [pair for pair in product(range(game.goal), repeat=2) if is_inside(game, *pair)]
    turns, ways, played = [], [], []

    def after(memory: Memory, again: bool) -> int:
        """Give a memory its number on the page, the first player's before the other's."""
        return number[memory] + game.memory_size * (game.has_own_goals and not again)

    for own, other in generator.sample(pairs, 30) + [(49, 3)] * 9 * (name == "at 49"):
        memory = generator.choice(memories)
        dice = generator.choice(game.choices)
        throw = throw_of(game.rules, own, other, memory)
        dice = throw.dice(dice)
        faces = [generator.randint(1, throw.sides) for _ in range(dice)] if dice >= 0 else None
        turns.append([own, other, number[memory], faces])
        ways.append(
            [
                [
                    *(way.points, float(way.probability), way.landing.score, way.landing.opponent),
                    *(way.landing.winner, way.again, after(way.memory, way.again)),
                ]
                for way in table.outcomes(own, other, memory, dice)
            ]
        )
        turn = play_turn(game.rules, own, other, memory, dice, faces or [])
        landing = turn.landing
        played.append(
            [
                *turn[:3],
                *(landing.score, landing.opponent, landing.winner, turn.again),
                after(turn.memory, turn.again),
                *turn_effects(game.rules, own, other, faces, turn),
            ]
        )
    found = asked(
        opened,
        """return turns.map(([own, other, m, faces]) => {
          const t = e.play(own, other, m, faces);
          return [
            e.outcomes(own, other, m, e.choiceOf(faces)).map((w) =>
              [w.points, w.probability, w.score, w.opponent, w.winner, w.again, w.memory]),
            [t.points, t.bonus, t.gift, t.score, t.opponent, t.winner, t.again, t.memory,
              ...t.effects],
          ];
        });""",
        place,
        turns=turns,
    )
    assert found == [[way, one] for way, one in zip(ways, played, strict=True)]


def test_scripts_name_no_part_of_the_rules() -> None:
    named = {part for rules in EDITIONS.values() for part, _ in describe(rules)}
    named -= {"Goal", "Dice", "No dice"}
    scripts = {name: frame.part(f"{name}.js") for name in board._SCRIPTS.split()}
    scripts["players"] = scripts["players"].replace('"Hog Wild heuristic"', "")  # a strategy
    found = [(name, part) for name, text in scripts.items() for part in named if part in text]
    assert not found


@pytest.mark.parametrize(("dice", "told"), [(0, "play never ends"), (1, "1.20 times")])
def test_play_that_never_ends_or_comes_back(opened: Tab, dice: int, told: str) -> None:
    table = f"new Uint8Array(81).fill({dice})"
    script = f"const r = await e.reach('{dice}', {table}); return r.said(0, 0);"
    assert asked(opened, script, list(SMALL).index("idle")) == told


def faces_of(seed: int, turn: int, count: int, sides: int) -> list[int]:
    """Roll dice as `dice.js` says: MurmurHash3's finaliser, then Mulberry32."""
    word = 0xFFFFFFFF

    def mixed(bits: int) -> int:
        bits &= word
        bits = (bits ^ bits >> 16) * 0x85EBCA6B & word
        bits = (bits ^ bits >> 13) * 0xC2B2AE35 & word
        return bits ^ bits >> 16

    state = mixed(mixed(seed) + (turn + 1) * 0x9E3779B9)
    found: list[int] = []
    while len(found) < count:
        state = state + 0x6D2B79F5 & word
        bits = (state ^ state >> 15) * (state | 1) & word
        bits ^= bits + ((bits ^ bits >> 7) * (bits | 61) & word) & word
        bits ^= bits >> 14
        if bits < 2**32 - 2**32 % sides:
            found.append(1 + bits % sides)
    return found


def test_dice_follow_from_the_seed_and_are_fair(opened: Tab) -> None:
    asked_for = [[seed, turn, 10, sides] for seed, turn, sides in product((0, 7), (0, 5), (4, 6))]
    found = opened.page.evaluate("(all) => all.map((one) => rollDice(...one))", asked_for)
    assert found == [faces_of(*one) for one in asked_for]
    counts = np.zeros(6)
    for seed in range(2000):
        for face in faces_of(seed, 1, 3, 6):
            counts[face - 1] += 1
    assert ((counts - 1000) ** 2 / 1000).sum() < 20.5  # chi-squared of 5 degrees, 0.1 %
