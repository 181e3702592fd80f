"""The board: some games, the scripts that play them, and one HTML file around both.

A page knows of a game its rules alone, as whole tables. A browser computes values from them, by the
same backward induction as `hogeq.evaluation.tablebase` and in float64 too: su20 has 1.96 million
hidden states, and its rules take 5 KB. So win probabilities against a table that is dropped on the
page are as exact as those of best play.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, Final, NamedTuple

import numpy as np

from hogeq.baselines.registry import builtins_of, is_builtin, names
from hogeq.model.game import HogEngine, compile_game
from hogeq.pages import frame
from hogeq.pages.book import book
from hogeq.rules import describe
from hogeq.rules.edition import names_of
from hogeq.rules.memory import (
    Memory,
    all_memories,
    memory_columns,
    memory_texts,
    next_memory,
    record,
    records_left,
)
from hogeq.rules.parts import LANDINGS, MORE_BOAR, SWAPS, square_swine
from hogeq.rules.rules import (
    HOG_WILD_MULTIPLE,
    kinds_of_dice,
    prime_boost,
    zero_points,
)
from hogeq.rules.turn import TurnTable, dice_sides, memory_effect, turn_parts
from hogeq.support.aliases import Matrix
from hogeq.support.messages import BadInputError
from hogeq.support.parameters import plain

MOST_STATES: Final = 8 * 10**6
"""Hidden states that a page keeps in memory, 8 bytes each and for either player."""

MOST_WORK: Final = 5 * 10**8  # outcomes that a page goes through to solve a game: some two seconds

MOST_BYTES: Final = 400 * 10**3  # size of one game on a page

AGAIN: Final = 2
"""Flag of a pair of new scores after which More Boar gives an extra turn; a swap is 1."""


class BoardError(BadInputError):
    """A page that cannot be made; the message is one line."""


OPPONENTS: Final = ("champion", "ignore_memory", "hog_wild_heuristic", "rise:10,6", "always_roll:6")
"""Built-in tables that can be played against, where the game has them."""

ALWAYS: Final = ("perfect", "friend")
"""Players of every game, as players.js names them."""

_SCRIPTS: Final = (
    "scheme numbers unpack elements edition values reach dice game reader players faces odds "
    "screens newgame transcript address grades play know reasons graph learn train grid map book "
    "board"
)


class Shown(NamedTuple):
    """A game on the page."""

    game: HogEngine
    title: str
    tables: Mapping[str, Matrix]  # opponents, by name
    start: tuple[int, int] = (0, 0)
    """Scores that games begin with: of the player who moves first, and of the other."""


def opponents(game: HogEngine, more: Sequence[tuple[str, Any]] = ()) -> dict[str, Matrix]:
    """Tables to play against, by name; they have the second of two goals."""
    if game.has_own_goals:
        game = compile_game(game.rules.for_second(), own_goals=True)
    # Where nothing is hidden, there is nothing to ignore: that is perfect play.
    idle = {"ignore_memory": not game.has_memory, "hog_wild_heuristic": not game.rules.hog_wild}
    named = builtins_of(game, [spec for spec in OPPONENTS if not idle.get(spec, False)])
    tables = {name: one.array for name, one in named.items()} | dict(more)
    for name, strategy in tables.items():
        if not (isinstance(strategy, np.ndarray) and strategy.ndim == 2):
            raise BoardError(
                f"--opponent {name}: is no matrix; allowed: tables of dice to roll, one number "
                "for each position"
            )
    return tables


def make(shown: Sequence[Shown]) -> str:
    """Make the page."""
    packed = []
    for one in shown:
        data = edition_data(*one)
        data["about"] = {name: _about(name) for name in one.tables}
        data["book"] = book(one.game)
        text = frame.pack_text(json.dumps(data, separators=(",", ":")))
        if len(text) > MOST_BYTES:
            raise BoardError(
                f"rules {one.game.rules.name}: {len(text):,} bytes on the page; allowed: "
                f"{MOST_BYTES:,}: lower goal or max_dice, or give fewer opponents"
            )
        packed.append({"title": one.title, "packed": text})
    return frame.page(
        f"Hog: {', '.join(one.title for one in shown)}",
        frame.part("board.html"),
        styles="board learn",
        scripts=_SCRIPTS,
        data=packed,
    )


def _about(spec: str) -> str:
    """Describe a built-in table, its parameters filled in; empty for others."""
    listed = names()
    head, _, given = spec.partition(":")
    usages = [usage for usage in listed if usage == spec or usage.startswith(f"{head}:")]
    if spec not in listed and not (usages and is_builtin(spec)):
        return ""
    usage = spec if spec in listed else usages[0]
    text = listed[usage].partition(":")[0].partition(" (option")[0]
    values = dict(zip(usage.partition(":")[2].split(","), given.split(","), strict=False))
    return re.sub(r"[A-Z]+", lambda word: values.get(word[0], word[0]), text)


# --- the rules of a game as tables ----------------------------------------------------------------


def edition_data(
    game: HogEngine,
    title: str,
    tables: Mapping[str, Matrix],
    start: tuple[int, int] = (0, 0),
) -> dict[str, Any]:
    """Everything that a page knows of a game, fit for JSON."""
    check_work(game)
    rules, goal = game.rules, game.goal
    turns = TurnTable(rules)
    kinds = list(kinds_of_dice(rules))
    return {
        "name": rules.name,
        "rules": rules.name if names_of(rules) else plain(rules),
        "names": list(names_of(rules)),
        "title": title,
        "begins": start,
        "parts": describe(rules),
        "goal": goal,
        "choices": rules.choices,
        "kinds": kinds,
        "wild_multiple": HOG_WILD_MULTIPLE,
        "branches": [
            [[], *(_branches(turns, dice, sides) for dice in rules.choices[1:])] for sides in kinds
        ],
        "pig_out": rules.pig_out,
        "boost": _boost(turns) if rules.prime_boost else None,
        **_free(turns),
        **_landings(turns),
        **_memory(game, turns),
        "named": turn_parts(rules)._asdict(),
        "tables": {name: np.asarray(matrix).ravel().tolist() for name, matrix in tables.items()},
    }


def check_work(game: HogEngine) -> None:
    """Refuse a game that a browser would take too long for, or has no room for."""
    cells, turns = game.goal**2, TurnTable(game.rules)
    _refuse(game, cells * game.memory_size, MOST_STATES, "hidden states")
    memory = _memory(game, turns)
    # Memories under which a roll plays alike, and is followed alike, share its sum.
    sums = set()
    for *alike, following, bonus, forced, seat in zip(
        *memory["dice"],
        *(memory[name] for name in ("next", "bonus", "forced", "seats")),
        strict=True,
    ):
        after = tuple(map(tuple, following))
        effects = zip(range(game.num_actions), bonus, forced, strict=True)
        sums |= {(*effect, after, *alike, seat) for effect in effects}
    kinds = kinds_of_dice(game.rules)
    sizes = [
        max(len(turns.branches(dice, sides)) for sides in kinds) if dice else 1
        for dice in game.choices
    ]
    _refuse(game, cells * sum(sizes[one[0]] for one in sums), MOST_WORK, "outcomes")


def _branches(turns: TurnTable, dice: int, sides: int) -> list[list[float]]:
    """Points, gifts, records and probabilities of a roll."""
    points, gifts, records, chances = zip(*turns.branches(dice, sides), strict=True)
    return [list(points), list(gifts), list(records), list(map(float, chances))]


def _boost(turns: TurnTable) -> list[int]:
    """Points of a roll after the boost, by those before it."""
    rules = turns.rules
    most = max(*kinds_of_dice(rules), 1) * rules.max_dice
    return [prime_boost(points) for points in range(most + 1)]


def _free(turns: TurnTable) -> dict[str, Any]:
    """Points of rolling no dice by both scores, before any boost and after, and their records."""
    rules = turns.rules
    pairs = list(product(range(rules.size), repeat=2))
    points = [zero_points(rules, *pair) for pair in pairs]
    plain = replace(rules, prime_boost=False)
    return {
        "free": points,
        "free_plain": [zero_points(plain, *p) for p in pairs] if rules.prime_boost else None,
        "free_records": [record(rules, 0, one) for one in range(max(points) + 1)],
    }


def _landings(turns: TurnTable) -> dict[str, Any]:
    """How far new scores move, and whether they swap or earn a turn."""
    rules = turns.rules
    points, gift = turns.most()
    bonus = max(
        memory_effect(rules, memory, dice).bonus
        for memory in all_memories(rules)
        for dice in rules.choices
    )
    scores, others = rules.size + points + bonus, rules.size + gift
    becomes, flags = [], []
    for score, other in product(range(scores), range(others)):
        squared = square_swine(score) if rules.square_swine else score
        landed = LANDINGS[rules.landing](squared, other)
        again, swap = MORE_BOAR[rules.more_boar](landed, other), SWAPS[rules.swap](landed, other)
        becomes.append(landed - score)
        flags.append(int(swap) + AGAIN * int(again))
    return {"others": others, "becomes": becomes, "told": flags, "square": rules.square_swine}


def _memory(game: HogEngine, turns: TurnTable) -> dict[str, Any]:
    """Memories by number: their texts, what they add to each roll, and which one follows.

    Where each player has a goal, whose turn it is counts as a part of the memory, the first part.
    """
    rules, goals = turns.rules, turns.rules.goals
    kinds = kinds_of_dice(rules)
    seats = (0, 1) if game.has_own_goals else (0,)
    number = {memory: index for index, memory in enumerate(product(seats, game.memories))}
    effects = [
        [memory_effect(rules, memory, dice) for dice in rules.choices] for _, memory in number
    ]
    columns, texts = memory_columns(rules), [memory_texts(rules, memory) for _, memory in number]
    if game.has_own_goals:
        columns = ["goals", *columns]
        own = [f"{mine} against {theirs}" for mine, theirs in (goals, goals[::-1])]
        texts = [[own[seat], *text] for (seat, _), text in zip(number, texts, strict=True)]
    return {
        "columns": columns,
        "memories": texts,
        "goals": [goals, goals[::-1]],
        "seats": [seat for seat, _ in number],
        "starts": [number[seats[0], Memory()], number[seats[-1], Memory()]],
        # Kinds of dice by memory, first without Hog Wild, then with it.
        "dice": [
            [kinds.index(dice_sides(rules, total, 0, memory)) for _, memory in number]
            for total in (1, 0)
        ],
        "bonus": [[effect.bonus for effect in row] for row in effects],
        "forced": [[int(effect.forced) for effect in row] for row in effects],
        # By memory, then whether the same player moves again, then record.
        "next": [
            [
                [
                    number[mover, next_memory(rules, memory, left, again)]
                    for left in range(records_left(rules))
                ]
                for again, mover in ((False, seats[-1 - seat]), (True, seat))
            ]
            for seat, memory in number
        ],
    }


def _refuse(game: HogEngine, count: int, most: int, what: str) -> None:
    if count > most:
        raise BoardError(
            f"rules {game.rules.name}: {count:,} {what} to go through in a browser; "
            f"allowed: {most:,}: lower goal or max_dice"
        )
