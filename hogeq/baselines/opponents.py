"""Whom the package lets a strategy play against."""

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from hogeq.baselines.registry import builtin
from hogeq.baselines.simple import samples_of
from hogeq.strategies.arrays import StrategyError
from hogeq.strategies.strategy import Strategy

if TYPE_CHECKING:
    from hogeq.model.game import HogEngine

OPPONENTS: Final = ("ignore_memory", "huan2020", "hog_wild_heuristic")
"""Those of every game in which they have a meaning, beside the strongest."""


def strongest(game: "HogEngine") -> str:
    """Name the strongest opponent that the package has for a game."""
    if not game.has_memory:
        return "optimal"
    return "champion" if opponents(game, ["champion"]) else "ignore_memory"


def opponents(game: "HogEngine", names: Iterable[str] | None = None) -> dict[str, Strategy]:
    """Make the strategies of these names that have a meaning in a game.

    By default numbers of dice, the course's samples and the strongest, each table once.
    """
    always = [f"always_roll:{dice}" for dice in range(game.num_actions)]
    usual = (*always, *samples_of(game.rules), strongest(game), *OPPONENTS) if names is None else ()
    made: dict[object, Strategy] = {}
    for name in usual or names or ():
        with suppress(StrategyError):
            strategy = builtin(name, game).named(name)
            made.setdefault(strategy.array.tobytes() if usual else name, strategy)
    return {one.name: one for one in made.values()}
