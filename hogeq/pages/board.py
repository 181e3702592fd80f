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

from hogeq import Strategy, describe
from hogeq.baselines.registry import builtins_of, is_builtin, names
from hogeq.graph.turns import Way, decided, free_turns, landings, lanes_of, ways_of
from hogeq.model.game import HogEngine, compile_game
from hogeq.pages import frame
from hogeq.pages.book import book
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
from hogeq.strategies.strategy import StrategyLike, strategy_of
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
    """Opponents on the page by name: built-in ones of use in the game, and `more` matrices.

    Where each player has a goal, an opponent plays for the second one.
    """
    if game.has_own_goals:
        game = compile_game(game.rules.for_second(), own_goals=True)
    useless = set()
    if not game.has_memory:  # where nothing is hidden, these two are optimal play
        useless |= {"champion", "ignore_memory"}
    if not game.rules.hog_wild:
        useless.add("hog_wild_heuristic")
    named = builtins_of(game, [spec for spec in OPPONENTS if spec not in useless])
    for name, strategy in more:
        if strategy.kind != "matrix":
            raise BoardError(
                f"--opponent {name}: is no matrix; allowed: tables of dice to roll, one number "
                "for each position"
            )
    return {**named, **dict(more)}


def make(shown: Sequence[Shown]) -> str:
    """Write the HTML page of some games; `BoardError` if the data of one is too large."""
    packed = []
    for entry in shown:
        data = edition_data(*entry)
        data["about"] = {name: _about(name) for name in entry.tables}
        data["book"] = book(entry.game)
        text = frame.pack_text(json.dumps(data, separators=(",", ":")))
        if len(text) > MOST_BYTES:
            raise BoardError(
                f"rules {entry.game.rules.name}: {len(text):,} bytes on the page; allowed: "
                f"{MOST_BYTES:,}: lower goal or max_dice, or give fewer opponents"
            )
        packed.append({"title": entry.title, "packed": text})
    return frame.page(
        f"Hog: {', '.join(entry.title for entry in shown)}",
        frame.part("board.html"),
        styles="board learn",
        scripts=_SCRIPTS,
        data=packed,
    )


def _about(spec: str) -> str:
    """Describe a built-in strategy, its parameters filled in; empty if `spec` names none.

    ``rise:10,6`` has the usage ``rise:THRESHOLD,N``, and "THRESHOLD" in its description becomes 10.
    """
    descriptions = names()  # by usage
    usage = spec
    if spec not in descriptions:
        name = spec.partition(":")[0]
        usages = [known for known in descriptions if known.startswith(f"{name}:")]
        if not usages or not is_builtin(spec):
            return ""
        usage = usages[0]
    parameters = usage.partition(":")[2].split(",")
    arguments = spec.partition(":")[2].split(",")
    argument_of = dict(zip(parameters, arguments, strict=False))
    text = descriptions[usage].partition(":")[0].partition(" (option")[0]
    return re.sub(r"[A-Z]+", lambda word: argument_of.get(word[0], word[0]), text)


# --- the turns of a game as arrays ----------------------------------------------------------------


def edition_data(
    game: HogEngine, title: str, tables: Mapping[str, StrategyLike], start: tuple[int, int] = (0, 0)
) -> dict[str, Any]:
    """Everything that a page knows of a game, fit for JSON.

    `title` is what the page calls the game, `tables` the opponents by name, `start` the scores that
    games begin with. `BoardError` if the game is too large for a browser.
    """
    check_work(game)
    rules = game.rules
    edition_names = names_of(rules)  # none if the rules are no edition's
    serialised: Any = plain(rules)
    if edition_names:
        serialised = title if title in edition_names else rules.name
    return {
        "name": rules.name,
        "rules": serialised,
        "names": list(edition_names),
        "title": title,
        "begins": start,
        "parts": describe(rules),
        "goal": game.goal,
        "choices": rules.choices,
        "usual_sides": rules.sides,
        **_Turns(game).data(),
        **_memory(game),
        "tables": {
            name: strategy_of(game, strategy, name).array.ravel().tolist()
            for name, strategy in tables.items()
        },
    }


def check_work(game: HogEngine) -> None:
    """Refuse a game whose backward induction takes a browser too long, or too much memory."""
    positions = game.goal**2
    turns = _Turns(game)
    _require_at_most(game, positions * len(turns.seat), MOST_STATES, "hidden states")
    outcome_counts = [len(turns.branches(way)) for way in turns.ways]
    work = 0  # outcomes that are summed up at one position
    for modes_of_choice in turns.sums()["modes"]:
        for mode in modes_of_choice:
            most_outcomes = max(outcome_counts[way] for way in mode["ways"])
            work += len(mode["lanes"]) * most_outcomes
    _require_at_most(game, positions * work, MOST_WORK, "outcomes")


class _Turns:
    """All turns of a game as arrays: ways to roll, the outcomes of each, landings of scores.

    A way to roll is an action with the dice, the bonus and the rest that a position and a memory
    make of it (`hogeq.graph.turns.Way`). A lane is a class of memories after which the next
    mover's memory depends on the turn in the same way.
    """

    def __init__(self, game: HogEngine) -> None:
        self.game = game
        self.rules = replace(game.rules, goal=game.goal)
        self.turns = TurnTable(self.rules)
        self.situation, number, self.ways = ways_of(self.rules)  # (G, G); (S, H, K); W of them
        lane = lanes_of(self.rules).lane
        # Where each player has a goal, the seat of the mover counts as a part of the memory:
        # memory m of seat s has the number s * H + m.
        seats = np.arange(2 if game.has_own_goals else 1)
        self.seat = np.repeat(seats, game.memory_size)  # (seats * H,), as the lane
        self.lane = np.tile(lane, len(seats)) + self.seat * (lane.max() + 1)
        self.number = np.tile(number, (1, len(seats), 1))  # (S, seats * H, K), a way to roll
        self.texts: dict[tuple[str, ...], int] = {(): 0}  # number of each text, lines of it
        self.lists: list[dict[str, Any]] = []  # outcomes of rolls, as `_add_outcomes` makes them

    def text(self, lines: Sequence[str]) -> int:
        """Give a text its number: lines about the effects of rules, a new text the next number."""
        return self.texts.setdefault(tuple(lines), len(self.texts))

    def branches(self, way: Way) -> Sequence[Branch]:
        """List the outcomes of a way to roll; for no dice the one at the scores 0 and 0."""
        choice = self.rules.choices[way.action]
        if choice == 0:
            return [self.turns.free(0, 0)]
        return self.turns.branches(choice, way.throw)

    def data(self) -> dict[str, Any]:
        """Give all arrays by name, as edition.js reads them; a text is given by its number."""
        rules = self.rules
        kind_of_free, first_free_list = self._add_free({way.throw.scores for way in self.ways})
        list_of_roll: dict[tuple[Throw, int], int] = {}
        rows = []
        for action, throw, bonus, forced in self.ways:
            dice = throw.dice(rules.choices[action])
            if dice == 0:
                outcome_list = first_free_list[throw.scores]
            else:
                if (throw, dice) not in list_of_roll:
                    list_of_roll[throw, dice] = self._add_roll(throw, dice)
                outcome_list = list_of_roll[throw, dice]
            bonus_text = self.text(bonus_effects(rules, bonus))
            rows.append((outcome_list, dice, throw.sides, bonus, int(forced), bonus_text))
        names = ("list", "dice", "sides", "bonus", "forced", "told")
        columns = zip(*rows, strict=True)
        landed = self._landings()  # before the texts are listed, since it adds some
        return {
            "ways": dict(zip(names, columns, strict=True)),
            # By situation, memory and choice the way to roll; by position the situation, and what
            # is to be added to the list of a way without dice.
            "number": self.number.reshape(len(self.number), -1).tolist(),
            "situations": self.situation.ravel().tolist(),
            "free": kind_of_free,
            "seats": self.seat.tolist(),
            "lane": self.lane.tolist(),
            **self.sums(),
            "lists": self.lists,
            **landed,
            "texts": list(self.texts),
            "extra": [again_effect(rules, landed=landed_so) for landed_so in (False, True)],
            "minus": title_of(rules.memory),
        }

    def sums(self) -> dict[str, Any]:
        """List the sums over outcomes that values need: one for each class of memories.

        Of one choice, memories share a sum if they have the same way to roll in every situation,
        the same seat and the same lane. A mode is all that sums of the same ways and seat have in
        common; its sums are numbered from `first`, one for each of its lanes. "modes" has a list of
        modes for each choice, "slots" the number of the sum by memory and choice, flat.
        """
        modes_by_choice = []
        slots = []
        num_sums = 0
        for choice in range(self.game.num_actions):
            columns = np.vstack([self.number[:, :, choice], self.seat, self.lane])  # (S + 2, H)
            classes, class_of_memory = np.unique(columns, axis=1, return_inverse=True)
            modes: dict[tuple[int, ...], dict[str, Any]] = {}
            for sum_number, (*ways, seat, lane) in enumerate(classes.T.tolist(), num_sums):
                key = (*ways, seat)
                if key not in modes:
                    modes[key] = {"ways": ways, "seat": seat, "first": sum_number, "lanes": []}
                modes[key]["lanes"].append(lane)
            modes_by_choice.append(list(modes.values()))
            slots.append(num_sums + class_of_memory.ravel())
            num_sums += classes.shape[1]
        by_memory = np.transpose(slots)
        return {"modes": modes_by_choice, "slots": by_memory.ravel().tolist(), "sums": num_sums}

    def _add_outcomes(
        self, branches: Sequence[Branch], results: Sequence[tuple[int, int, int]]
    ) -> int:
        """Add a list of outcomes of one roll, and give its number.

        `results` are what dice can show: the points shown, the index in `branches` of the outcome
        that rules make of them, and the number of a text about that.
        """
        points, gifts, records, probabilities = zip(*branches, strict=True)
        outcomes = {
            "points": points,
            "gifts": gifts,
            "records": records,
            "told": [self.text(gift_effects(gift)) for gift in gifts],
            "chances": [float(probability) for probability in probabilities],
            "plains": results,
        }
        self.lists.append(outcomes)
        return len(self.lists) - 1

    def _add_roll(self, throw: Throw, dice: int) -> int:
        """Add the outcomes of a roll of dice, or of the choice -1; give the number of the list.

        `throw` says how dice are thrown: their sides, whether ones hurt (Pig Out: then the points
        depend on their number alone, otherwise they are the sum), and `scores`, how the hidden
        memory changes the points. Its branches have the points after the rules that boost them.
        """
        rules = self.rules
        branches = self.turns.branches(dice, throw)
        if dice < 0:
            shown = minus_one_points(rules)
            effects = points_effects(rules, shown, branches[0].points, boosted=False)
            return self._add_outcomes(branches, [(shown, 0, self.text(effects))])
        pig_out_points = []
        least_face = 1
        if throw.ones_hurt:
            pig_out_points = [pig_out(rules, ones, dice) for ones in range(1, dice + 1)]
            least_face = 2
        sums = range(dice * least_face, dice * throw.sides + 1)
        # The same branches in the same order, with the points before the memory changes them.
        unchanged = self.turns.branches(dice, throw._replace(scores=0))
        outcome_of = {branch.points: index for index, branch in enumerate(unchanged)}
        results = []
        for shown in sorted({*pig_out_points, *sums}):
            outcome = outcome_of[boosted(rules, shown)]
            effects = points_effects(rules, shown, branches[outcome].points)
            results.append((shown, outcome, self.text(effects)))
        number = self._add_outcomes(branches, results)
        self.lists[number]["ones"] = pig_out_points
        return number

    def _add_free(self, scores: set[int]) -> tuple[list[int], dict[int, int]]:
        """Add the outcomes of rolling no dice: a list of one outcome for each kind of position.

        Positions are of one kind if no dice score the same there, before and after the rules that
        boost points. `scores` are the ways in which the memory changes points (`Throw.scores`).
        Gives the kind by position, flat, and by each of `scores` the number of the list of kind 0.
        """
        unboosted = replace(self.rules, prime_boost=False, touchdown=False)
        points = np.stack([free_turns(rules).points.ravel() for rules in (unboosted, self.rules)])
        kinds, examples, kind_of = np.unique(points, axis=1, return_index=True, return_inverse=True)
        first_list = {}
        for score_change in sorted(scores):
            first_list[score_change] = len(self.lists)
            for shown, position in zip(kinds[0].tolist(), examples.tolist(), strict=True):
                own, other = divmod(position, self.game.goal)
                branch = self.turns.free(own, other, score_change)
                effects = points_effects(self.rules, shown, branch.points)
                self._add_outcomes([branch], [(shown, 0, self.text(effects))])
        return kind_of.ravel().tolist(), first_list

    def _landings(self) -> dict[str, Any]:
        """Landings by the two scores that a turn leaves, the mover's and the opponent's, flat.

        "moves": by how much a landing changes each score; "kinds": the next mover or the winner, by
        seat of the mover where each player has a goal; "landed": the number of a text about it;
        "others": the number of opponent's scores, which is the length of a row.
        """
        ends = landings(self.rules)
        own_left, other_left = np.indices(ends.own.shape)
        is_changed = (ends.own != own_left) | (ends.opponent != other_left)
        text_numbers = np.zeros_like(ends.own)
        for own, other in np.argwhere(is_changed).tolist():
            text_numbers[own, other] = self.text(landing_effects(self.rules, own, other))
        goals = self.game.rules.goals
        goals_by_seat = dict.fromkeys((goals, goals[::-1]))  # one if both are equal
        kinds = [decided(ends, *seat_goals) for seat_goals in goals_by_seat]
        own_moves = ends.own - own_left
        other_moves = ends.opponent - other_left
        return {
            "others": ends.own.shape[1],
            "moves": [own_moves.ravel().tolist(), other_moves.ravel().tolist()],
            "kinds": [kind.ravel().tolist() for kind in kinds],
            "landed": text_numbers.ravel().tolist(),
        }


def _memory(game: HogEngine) -> dict[str, Any]:
    """Memories of the mover by number: texts about each, the first one, and which one follows.

    Where each player has a goal, memory m of the player with the second one has number H + m.
    "following" has two flat arrays, after a turn that passes and after one that earns another: the
    next mover's memory by the record of the turn and the mover's lane (`hogeq.graph.turns.Lanes`).
    """
    rules = game.rules
    goals = rules.goals
    size = game.memory_size
    seats = range(2 if game.has_own_goals else 1)
    columns = memory_columns(rules)
    texts = [memory_texts(rules, memory) for memory in game.memories]
    if game.has_own_goals:
        columns = ["goals", *columns]
        goal_texts = [f"{goals[0]} against {goals[1]}", f"{goals[1]} against {goals[0]}"]
        texts = [[goal_texts[seat], *text] for seat in seats for text in texts]
    passed, earned_again = lanes_of(replace(rules, goal=game.goal)).following
    next_seats = reversed(seats)
    after_pass = [passed + size * next_seat for next_seat in next_seats]
    after_again = [earned_again + size * seat for seat in seats]
    start = game.memories.index(Memory())
    return {
        "columns": columns,
        "memories": texts,
        "goals": [goals, goals[::-1]],
        "starts": [start, start + size * seats[-1]],
        "following": [
            np.concatenate(by_seat, axis=1).ravel().tolist()
            for by_seat in (after_pass, after_again)
        ],
    }


def _require_at_most(game: HogEngine, count: int, most: int, what: str) -> None:
    if count > most:
        raise BoardError(
            f"rules {game.rules.name}: {count:,} {what} to go through in a browser; "
            f"allowed: {most:,}: lower goal or max_dice"
        )
