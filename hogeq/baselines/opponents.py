"""Opponents that the package lets a strategy play against."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from hogeq.baselines.registry import builtin
from hogeq.baselines.simple import samples_of
from hogeq.strategies.arrays import StrategyError
from hogeq.strategies.strategy import Strategy

if TYPE_CHECKING:
    from hogeq.model.game import HogEngine

OPPONENTS: Final = ("ignore_memory", "huan2020", "hog_wild_heuristic")
"""Opponents in every game in which they have a meaning, beside the strongest."""


def strongest(game: "HogEngine") -> str:
    """Name the strongest opponent that the package has for a game."""
    if not game.has_memory:
        return "optimal"
    return "champion" if opponents(game, ["champion"]) else "ignore_memory"


def opponents(game: "HogEngine", names: Iterable[str] | None = None) -> dict[str, Strategy]:
    """Make the strategies of these names that have a meaning in a game, by name.

    By default they are constant numbers of dice, the course's samples and the strongest, each table
    once.
    """
    if names is not None:
        return {strategy.name: strategy for strategy in _with_meaning(game, names)}
    always = [f"always_roll:{dice}" for dice in range(game.num_actions)]
    default_names = [*always, *samples_of(game.rules), strongest(game), *OPPONENTS]
    by_table: dict[bytes, Strategy] = {}
    for strategy in _with_meaning(game, default_names):
        by_table.setdefault(strategy.array.tobytes(), strategy)
    return {strategy.name: strategy for strategy in by_table.values()}


def _with_meaning(game: "HogEngine", names: Iterable[str]) -> Iterator[Strategy]:
    """Make the strategies of these names; leave out those that the game's rules refuse."""
    for name in names:
        with suppress(StrategyError):
            yield builtin(name, game).named(name)
