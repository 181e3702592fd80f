"""The board: some games, the scripts that play them, and one HTML file around both."""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

import numpy as np

from hogeq.baselines.registry import builtin, is_builtin, names
from hogeq.model.game import HogEngine
from hogeq.pages import frame, pack
from hogeq.pages.book import book
from hogeq.pages.edition import MOST_BYTES, BoardError, edition_data
from hogeq.strategies.arrays import StrategyError
from hogeq.support.aliases import Matrix

OPPONENTS: Final = ("champion", "ignore_memory", "hog_wild_heuristic", "rise:10,6", "always_roll:6")
"""Built-in tables that can be played against, where the game has them."""

_SHARED: Final = ("scheme.js", "numbers.js", "unpack.js")

_SCRIPTS: Final = (
    "elements.js",
    "edition.js",
    "values.js",
    "reach.js",
    "dice.js",
    "game.js",
    "reader.js",
    "players.js",
    "faces.js",
    "odds.js",
    "screens.js",
    "newgame.js",
    "transcript.js",
    "grades.js",
    "play.js",
    "know.js",
    "reasons.js",
    "graph.js",
    "learn.js",
    "train.js",
    "grid.js",
    "map.js",
    "book.js",
    "board.js",
)

_STYLES: Final = ("board.css", "learn.css")


class Shown(NamedTuple):
    """A game on the page."""

    game: HogEngine
    title: str
    """What people call it."""
    tables: Mapping[str, Matrix]
    """That can be played against, by name."""


def opponents(game: HogEngine, more: Sequence[tuple[str, Any]] = ()) -> dict[str, Matrix]:
    """Give the tables that a page has to play against."""
    # Where nothing is hidden, there is nothing to ignore: that is perfect play.
    idle = {"ignore_memory": not game.has_memory, "hog_wild_heuristic": not game.rules.hog_wild}
    found: dict[str, Any] = {}
    for spec in OPPONENTS:
        if not idle.get(spec, False):
            with suppress(StrategyError):  # not in this game
                found[spec] = builtin(spec, game)
    found |= dict(more)
    for name, strategy in found.items():
        if not (isinstance(strategy, np.ndarray) and strategy.ndim == 2):
            raise BoardError(
                f"--opponent {name}: is no matrix; allowed: tables of dice to roll, one number "
                "for each position"
            )
    return found


def make(shown: Sequence[Shown]) -> str:
    """Make the page."""
    packed = []
    for one in shown:
        data = edition_data(one.game, one.tables, one.title)
        data["about"] = {name: _about(name) for name in one.tables}
        data["book"] = book(one.game)
        text = pack.text(json.dumps(data, separators=(",", ":")))
        if len(text) > MOST_BYTES:
            raise BoardError(
                f"rules {one.game.rules.name}: {len(text):,} bytes on the page; allowed: "
                f"{MOST_BYTES:,}: lower goal or max_dice, or give fewer opponents"
            )
        packed.append({"title": one.title, "packed": text})
    return frame.page(
        f"Hog: {', '.join(one.title for one in shown)}",
        frame.part("board.html"),
        style=frame.parts(_STYLES),
        script="\n".join((frame.parts(_SHARED), frame.parts(_SCRIPTS))),
        data=frame.packed(packed),
    )


def _about(spec: str) -> str:
    """Say what a built-in table does, its parameters filled in; nothing of others."""
    listed = names()
    head, _, given = spec.partition(":")
    usages = [usage for usage in listed if usage == spec or usage.startswith(f"{head}:")]
    if spec not in listed and not (usages and is_builtin(spec)):
        return ""
    usage = spec if spec in listed else usages[0]
    text = listed[usage].partition(":")[0].partition(" (option")[0]
    values = dict(zip(usage.partition(":")[2].split(","), given.split(","), strict=False))
    return re.sub(r"[A-Z]+", lambda word: values.get(word[0], word[0]), text)
