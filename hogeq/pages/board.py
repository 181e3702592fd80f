"""The board: some games, the scripts that play them, and one HTML file around both.

A page knows of a game the ways in which its turns can end, as arrays that Python has from the
compiled rules, and no rule by name. A browser computes values from them, by the same backward
induction as `hogeq.evaluation.tablebase` and in float64 too: su20 has 1.96 million hidden states,
and its arrays take 5 KB. So win probabilities against a table that is dropped on the page are as
exact as those of best play.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np

from hogeq.baselines.registry import builtins_of, is_builtin, names
from hogeq.graph.turns import Way, decided, free_turns, landings, lanes_of, ways_of
from hogeq.model.game import HogEngine, compile_game
from hogeq.pages import frame
from hogeq.pages.book import book
from hogeq.rules import describe
from hogeq.rules.edition import names_of
from hogeq.rules.memory import Memory, memory_columns, memory_texts
from hogeq.rules.register import title as title_of
from hogeq.rules.rules import Throw, boosted, minus_one_points, pig_out
from hogeq.rules.turn import (
    Branch,
    TurnTable,
    again_effect,
    bonus_effects,
    gift_effects,
    landing_effects,
    points_effects,
)
from hogeq.strategies.strategy import Strategy, StrategyLike, strategy_of
from hogeq.support.messages import BadInputError
from hogeq.support.parameters import plain

MOST_STATES: Final = 8 * 10**6
"""Hidden states that a page keeps in memory, 8 bytes each and for either player."""

MOST_WORK: Final = 5 * 10**8  # outcomes that a page goes through to solve a game: some two seconds

MOST_BYTES: Final = 400 * 10**3  # size of one game on a page


class BoardError(BadInputError):
    """A page that cannot be made; the message is one line."""


OPPONENTS: Final = ("champion", "ignore_memory", "hog_wild_heuristic", "rise:10,6", "always_roll:6")
"""Built-in tables that can be played against, where the game has them."""

ALWAYS: Final = ("perfect", "friend")
"""Players of every game, as players.js names them."""

_SCRIPTS: Final = (
    "scheme numbers unpack elements edition values levels reach dice game reader players faces "
    "odds screens newgame transcript address grades kept record play know reasons graph learn "
    "train grid map book board"
)


class Shown(NamedTuple):
    """A game on the page."""

    game: HogEngine
    title: str
    tables: Mapping[str, StrategyLike]  # opponents, matrices by name
    start: tuple[int, int] = (0, 0)
    """Scores that games begin with: of the player who moves first, and of the other."""


def opponents(
    game: HogEngine, more: Sequence[tuple[str, Strategy]] = ()
) -> dict[str, StrategyLike]:
    """Tables to play against, by name; they have the second of two goals."""
    if game.has_own_goals:
        game = compile_game(game.rules.for_second(), own_goals=True)
    # Where nothing is hidden, there is nothing to ignore: that is optimal play.
    idle = dict.fromkeys(("champion", "ignore_memory"), not game.has_memory)
    idle |= {"hog_wild_heuristic": not game.rules.hog_wild}
    named = builtins_of(game, [spec for spec in OPPONENTS if not idle.get(spec, False)])
    for name, strategy in more:
        if strategy.kind != "matrix":
            raise BoardError(
                f"--opponent {name}: is no matrix; allowed: tables of dice to roll, one number "
                "for each position"
            )
    return {**named, **dict(more)}


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


# --- the turns of a game as arrays ----------------------------------------------------------------


def edition_data(
    game: HogEngine,
    title: str,
    tables: Mapping[str, StrategyLike],
    start: tuple[int, int] = (0, 0),
) -> dict[str, Any]:
    """Everything that a page knows of a game, fit for JSON."""
    check_work(game)
    rules, named = game.rules, names_of(game.rules)
    return {
        "name": rules.name,
        "rules": (title if title in named else rules.name) if named else plain(rules),
        "names": list(named),
        "title": title,
        "begins": start,
        "parts": describe(rules),
        "goal": game.goal,
        "choices": rules.choices,
        "usual_sides": rules.sides,
        **_Turns(game).data(),
        **_memory(game),
        "tables": {
            name: strategy_of(game, one, name).array.ravel().tolist()
            for name, one in tables.items()
        },
    }


def check_work(game: HogEngine) -> None:
    """Refuse a game that a browser would take too long for, or has no room for."""
    cells, turns = game.goal**2, _Turns(game)
    _refuse(game, cells * len(turns.seat), MOST_STATES, "hidden states")
    sizes = [len(turns.branches(way)) for way in turns.ways]
    modes = [mode for modes in turns.sums()["modes"] for mode in modes]
    work = sum(len(mode["lanes"]) * max(sizes[way] for way in mode["ways"]) for mode in modes)
    _refuse(game, cells * work, MOST_WORK, "outcomes")


class _Turns:
    """Ways to roll, the outcomes of each, and the landings of scores."""

    def __init__(self, game: HogEngine) -> None:
        self.game, self.rules = game, replace(game.rules, goal=game.goal)
        self.turns = TurnTable(self.rules)
        self.situation, number, self.ways = ways_of(self.rules)
        lane = lanes_of(self.rules).lane
        # Where each player has a goal, whose turn it is counts as a part of the memory.
        seats = np.arange(2 if game.has_own_goals else 1)
        self.seat = np.repeat(seats, game.memory_size)  # by memory, as the lane
        self.lane = np.tile(lane, len(seats)) + self.seat * (lane.max() + 1)
        self.number = np.tile(number, (1, len(seats), 1))  # by situation, memory and choice
        self.texts: dict[tuple[str, ...], int] = {(): 0}
        self.lists: list[dict[str, Any]] = []  # what ways to roll can score

    def text(self, lines: Sequence[str]) -> int:
        """Give the number of some lines about effects."""
        return self.texts.setdefault(tuple(lines), len(self.texts))

    def branches(self, way: Way) -> Sequence[Branch]:
        """List the outcomes of a way to roll; no dice in one of its positions."""
        choice = self.rules.choices[way.action]
        return self.turns.branches(choice, way.throw) if choice else [self.turns.free(0, 0)]

    def data(self) -> dict[str, Any]:
        """Give all arrays; a text is given by its number."""
        rules = self.rules
        free, first = self._free({way.throw.scores for way in self.ways})
        rolls: dict[tuple[Throw, int], int] = {}
        columns = []
        for action, throw, bonus, forced in self.ways:
            dice = throw.dice(rules.choices[action])
            if dice and (throw, dice) not in rolls:
                rolls[throw, dice] = self._roll(throw, dice)
            place = rolls[throw, dice] if dice else first[throw.scores]
            told = self.text(bonus_effects(rules, bonus))
            columns.append((place, dice, throw.sides, bonus, int(forced), told))
        names = ("list", "dice", "sides", "bonus", "forced", "told")
        landed = self._landings()
        return {
            "ways": dict(zip(names, zip(*columns, strict=True), strict=True)),
            # By situation, memory and choice the way to roll; by position the situation, and what
            # is to be added to the list of a way without dice.
            "number": self.number.reshape(len(self.number), -1).tolist(),
            "situations": self.situation.ravel().tolist(),
            "free": free,
            "seats": self.seat.tolist(),
            "lane": self.lane.tolist(),
            **self.sums(),
            "lists": self.lists,
            **landed,
            "texts": list(self.texts),
            "extra": [again_effect(rules, landed=one) for one in (False, True)],
            "minus": title_of(rules.memory),
        }

    def sums(self) -> dict[str, Any]:
        """List sums over outcomes of rolls: memories that play and hand over alike share one.

        By choice its ways to roll, by situation, with the lanes that need them; by memory and
        choice the place of its sum.
        """
        modes, slots, first = [], [], 0
        for choice in range(self.game.num_actions):
            columns = np.vstack([self.number[:, :, choice], self.seat, self.lane])
            alike, place = np.unique(columns, axis=1, return_inverse=True)
            found: dict[tuple[int, ...], dict[str, Any]] = {}
            for sum_, (*ways, seat, one) in enumerate(alike.T.tolist(), first):
                new = {"ways": ways, "seat": seat, "first": sum_, "lanes": []}
                found.setdefault((*ways, seat), new)["lanes"].append(one)
            modes.append(list(found.values()))
            slots.append(first + place.ravel())
            first += alike.shape[1]
        return {"modes": modes, "slots": np.transpose(slots).ravel().tolist(), "sums": first}

    def _add(self, branches: Sequence[Branch], plains: Sequence[tuple[int, int, int]]) -> int:
        """Add a list of outcomes; `plains`: points shown, the outcome, and a text."""
        points, gifts, records, chances = zip(*branches, strict=True)
        told = [self.text(gift_effects(gift)) for gift in gifts]
        columns = {"points": points, "gifts": gifts, "records": records, "told": told}
        self.lists.append({**columns, "chances": list(map(float, chances)), "plains": plains})
        return len(self.lists) - 1

    def _roll(self, throw: Throw, dice: int) -> int:
        """Add the outcomes of dice: by the number of ones if these hurt, otherwise by the sum."""
        rules, branches = self.rules, self.turns.branches(dice, throw)
        if dice < 0:
            shown = minus_one_points(rules)
            told = points_effects(rules, shown, branches[0].points, boosted=False)
            return self._add(branches, [(shown, 0, self.text(told))])
        ones = [pig_out(rules, one + 1, dice) for one in range(dice)] if throw.ones_hurt else []
        sums = range(dice * (2 if ones else 1), dice * throw.sides + 1)
        unscored = self.turns.branches(dice, throw._replace(scores=0))
        place_of = {one.points: place for place, one in enumerate(unscored)}
        plains = []
        for shown in sorted({*ones, *sums}):
            outcome = place_of[boosted(rules, shown)]
            told = points_effects(rules, shown, branches[outcome].points)
            plains.append((shown, outcome, self.text(told)))
        place = self._add(branches, plains)
        self.lists[place]["ones"] = ones
        return place

    def _free(self, scores: set[int]) -> tuple[list[int], dict[int, int]]:
        """Add the outcomes of no dice; by position the place in these lists, and their begin."""
        bare = replace(self.rules, prime_boost=False, touchdown=False)
        points = np.stack([free_turns(one).points.ravel() for one in (bare, self.rules)])
        kinds, example, kind = np.unique(points, axis=1, return_index=True, return_inverse=True)
        first = {}
        for one in sorted(scores):
            first[one] = len(self.lists)
            for shown, cell in zip(kinds[0].tolist(), example.tolist(), strict=True):
                own, other = divmod(cell, self.game.goal)
                branch = self.turns.free(own, other, one)
                told = points_effects(self.rules, shown, branch.points)
                self._add([branch], [(shown, 0, self.text(told))])
        return kind.ravel().tolist(), first

    def _landings(self) -> dict[str, Any]:
        """Landings of a turn's scores: how far each moves, and the next mover or the winner.

        Where each player has a goal, that depends on whose turn it is.
        """
        ends = landings(self.rules)
        _, own, opponent = ends
        reached, other = np.indices(own.shape)
        landed = np.zeros_like(own)
        for pair in np.argwhere((own != reached) | (opponent != other)).tolist():
            landed[tuple(pair)] = self.text(landing_effects(self.rules, *pair))
        goals = self.game.rules.goals
        by_seat = [decided(ends, *one) for one in dict.fromkeys((goals, goals[::-1]))]
        return {
            "others": own.shape[1],
            "moves": [(own - reached).ravel().tolist(), (opponent - other).ravel().tolist()],
            "kinds": [kind.ravel().tolist() for kind in by_seat],
            "landed": landed.ravel().tolist(),
        }


def _memory(game: HogEngine) -> dict[str, Any]:
    """Memories by number: their texts, the first that of the goals, and which one follows."""
    rules, goals, size = game.rules, game.rules.goals, game.memory_size
    seats = range(2 if game.has_own_goals else 1)
    columns, texts = memory_columns(rules), [memory_texts(rules, one) for one in game.memories]
    if game.has_own_goals:
        columns = ["goals", *columns]
        own = [f"{mine} against {theirs}" for mine, theirs in (goals, goals[::-1])]
        texts = [[own[seat], *text] for seat in seats for text in texts]
    following = lanes_of(replace(rules, goal=game.goal)).following
    other, start = seats[-1], game.memories.index(Memory())
    # By whether the same player moves again, then by record and lane.
    follows = [
        np.concatenate(
            [following[again] + size * abs(seat - other * (not again)) for seat in seats], 1
        )
        for again in (0, 1)
    ]
    return {
        "columns": columns,
        "memories": texts,
        "goals": [goals, goals[::-1]],
        "starts": [start, start + size * other],
        "following": [one.ravel().tolist() for one in follows],
    }


def _refuse(game: HogEngine, count: int, most: int, what: str) -> None:
    if count > most:
        raise BoardError(
            f"rules {game.rules.name}: {count:,} {what} to go through in a browser; "
            f"allowed: {most:,}: lower goal or max_dice"
        )
