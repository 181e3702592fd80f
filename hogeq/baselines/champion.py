"""The champions: the least exploitable strategies found so far, shipped with the package.

``champions/EDITION/`` holds a matrix, a policy, the strongest counter found to each, and a manifest
with the interval of each and the config that made it. ``experiments/champion.py`` keeps it.
"""

from collections.abc import Callable
from dataclasses import replace
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Final

from hogeq.baselines.registry import baseline
from hogeq.rules import EDITIONS, Rules
from hogeq.rules.memory import all_memories
from hogeq.strategies.arrays import StrategyError
from hogeq.strategies.read import read_any
from hogeq.strategies.strategy import AnyStrategy

if TYPE_CHECKING:
    from hogeq.model.game import HogEngine

SHIPPED: Final = files("hogeq.baselines") / "champions"
"""A folder for each edition."""

FILES: Final = {
    "champion": ("matrix.csv", "matrix"),
    "champion:policy": ("policy.npz", "policy"),
    "champion:mixture": ("mixture.npz", "mixture"),
}
"""File and kind of each champion, by its name."""


def editions(name: str) -> list[str]:
    """List the editions that have a champion of this name."""
    file, _ = FILES[name]
    return [edition for edition in EDITIONS if (SHIPPED / edition / file).is_file()]


def about(name: str) -> str:
    """Say in one line what a champion is, and of which editions there is one."""
    _, kind = FILES[name]
    shipped = ", ".join(editions(name))
    return f"the least exploitable {kind} found so far: {shipped or 'none yet'}"


def champion(name: str) -> "Callable[[HogEngine], AnyStrategy]":
    """Give what reads the champion of this name for the rules in force."""

    def read(game: "HogEngine") -> AnyStrategy:
        file, kind = FILES[name]
        edition = _shipped_for(name, game.rules)
        if edition is not None:
            with as_file(SHIPPED / edition / file) as path:
                return read_any(path, game.goal, game.rules.max_dice)
        if len(all_memories(game.rules)) == 1:
            raise StrategyError(
                f"strategy {name!r}: none is shipped for {game.rules.name}, "
                "where nothing is hidden; allowed: optimal, which is the solution"
            )
        others = [other for other in FILES if _shipped_for(other, game.rules) is not None]
        instead = f"; {game.rules.name} has {' and '.join(others)}" if others else ""
        raise StrategyError(
            f"strategy {name!r}: no {kind} is shipped for {game.rules.name}; "
            f"allowed: {', '.join(editions(name))}, with no part or size changed{instead}"
        )

    return read


def _shipped_for(name: str, rules: Rules) -> str | None:
    """Give the edition of these rules, however they are called, if it has this champion."""
    for edition in editions(name):
        if replace(EDITIONS[edition], name=rules.name) == rules:
            return edition
    return None


for _name in FILES:
    baseline(_name, about(_name))(champion(_name))
