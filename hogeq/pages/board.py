"""The board: some games, the scripts that play them, and one HTML file around both.

A page knows of a game the ways in which its turns can end, as arrays that Python has from the
compiled rules, and no rule by name. A browser computes values from them, by the same backward
induction as `hogeq.evaluation.tablebase` and in float64 too: su20 has 1.96 million hidden states,
and its arrays take 5 KB. So win probabilities against a table that is dropped on the page are as
exact as those of best play.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from hogeq import BASELINES, Hog, Strategy, describe, rule_facts
from hogeq.pages import frame
from hogeq.support.files import json_text
from hogeq.support.messages import HogeqError
from hogeq.support.parameters import plain

MOST_STATES: Final = 8 * 10**6
"""Hidden states that a page keeps in memory, 8 bytes each and for either player."""

MOST_WORK: Final = 5 * 10**8  # outcomes that a page sums up to solve a game: about two seconds
MOST_BYTES: Final = 400 * 10**3  # size of the packed data of one game on a page


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

    game: Hog
    title: str
    tables: Mapping[str, Strategy]  # opponents, matrices by name
    start: tuple[int, int] = (0, 0)
    """Scores that games begin with: of the player who moves first, and of the other."""


def opponents(game: Hog, own_tables: Sequence[tuple[str, Strategy]] = ()) -> dict[str, Strategy]:
    """Opponents on the page by name: built-in ones that suit the game, and `own_tables` matrices.

    If each player has a goal of their own, an opponent plays for the second player's goal.
    """
    game = game.second  # the same game, seen by the second player
    useless = set()
    if len(game.memories) == 1:  # nothing is hidden: these two would equal optimal play
        useless |= {"champion", "ignore_memory"}
    if not game.rules.hog_wild:
        useless.add("hog_wild_heuristic")
    built_in = game.baselines([spec for spec in OPPONENTS if spec not in useless])
    for name, strategy in own_tables:
        if strategy.kind != "matrix":
            raise HogeqError(
                f"--opponent {name}: is no matrix; allowed: tables of dice to roll, one number "
                "for each position"
            )
    return {**built_in, **dict(own_tables)}


def make(shown: Sequence[Shown]) -> str:
    """Write the HTML page of some games; `HogeqError` if the data of one is too large."""
    packed = []
    for entry in shown:
        data = edition_data(entry.game, entry.title, entry.tables, entry.start)
        data["about"] = {name: _about(name) for name in entry.tables}
        data["book"] = entry.game.reasons()
        text = frame.pack_text(json_text(data, compact=True))
        if len(text) > MOST_BYTES:
            raise HogeqError(
                f"board: rules {entry.game.rules.name}: {len(text):,} bytes on the page; allowed: "
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
    """Describe a built-in strategy, with its arguments in place of the parameters' names.

    ``rise:10,6`` has the usage ``rise:THRESHOLD,N``, and "THRESHOLD" in its description becomes 10.
    The text is empty if `spec` names no built-in strategy.
    """
    descriptions = {baseline.usage(name): baseline.text for name, baseline in BASELINES.items()}
    name, _, argument_list = spec.partition(":")
    usage = spec
    if spec not in descriptions:
        # The usage with parameters, as "rise:THRESHOLD,N".
        usages = [text for text in descriptions if text.startswith(f"{name}:")]
        if not usages or name not in BASELINES:
            return ""
        usage = usages[0]
    _, _, parameter_list = usage.partition(":")
    parameters, arguments = parameter_list.split(","), argument_list.split(",")
    argument_of = dict(zip(parameters, arguments, strict=False))
    # Without the details after a colon, and notes on options of the command line.
    before_colon, _, _ = descriptions[usage].partition(":")
    text, _, _ = before_colon.partition(" (option")
    return re.sub(r"[A-Z]+", lambda word: argument_of.get(word[0], word[0]), text)


def edition_data(
    game: Hog, title: str, tables: Mapping[str, Strategy], start: tuple[int, int] = (0, 0)
) -> dict[str, Any]:
    """Collect all data of a game that its page has, as plain values for JSON.

    `title` is what the page calls the game, `tables` the opponents by name, `start` the scores that
    games begin with. `HogeqError` if the game is too large for a browser.
    """
    check_work(game)
    rules = game.rules
    edition_names = rule_facts(rules)["semesters"]
    serialised: Any = plain(rules)
    if edition_names:
        serialised = title if title in edition_names else rules.name
    return {
        "name": rules.name,
        "rules": serialised,
        "names": edition_names,
        "title": title,
        "begins": start,
        "parts": describe(rules),
        "goal": rules.size,
        "choices": rules.choices,
        "usual_sides": rules.sides,
        **game.turn_data,
        "tables": {
            name: game.strategy(strategy).array.ravel().tolist()
            for name, strategy in tables.items()
        },
    }


def check_work(game: Hog) -> None:
    """Raise `HogeqError` if backward induction in a browser would take too long or much memory.

    A way is an action with the dice that scores and memory make of it. A mode has the ways of one
    action at all scores, and sums up their outcomes once for each of its lanes: classes of memories
    after which the next mover's memory depends on the turn in the same way.
    """
    positions = game.rules.size**2
    turns = game.turn_data  # the ways in which turns end, by hidden state and choice
    memories = len(turns["seats"])
    _require_at_most(game, positions * memories, MOST_STATES, "hidden states")
    outcome_lists = turns["lists"]
    list_of_way = turns["ways"]["list"]  # number of the list of outcomes of each way
    outcome_counts = [len(outcome_lists[number]["points"]) for number in list_of_way]
    work = 0  # outcomes that are summed up at one position, at most
    for modes_of_choice in turns["modes"]:
        for mode in modes_of_choice:
            most_outcomes = max(outcome_counts[way] for way in mode["ways"])
            work += len(mode["lanes"]) * most_outcomes
    _require_at_most(game, positions * work, MOST_WORK, "outcomes")


def _require_at_most(game: Hog, count: int, limit: int, noun: str) -> None:
    """Raise `HogeqError` if a count of things, named by the noun, exceeds a limit."""
    if count > limit:
        raise HogeqError(
            f"rules {game.rules.name}: {count:,} {noun} to go through in a browser; "
            f"allowed: {limit:,}: lower goal or max_dice"
        )
