"""Whom the package lets a strategy play against."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from hogeq.baselines.registry import builtins_of
from hogeq.baselines.simple import samples_of
from hogeq.strategies.strategy import Strategy

if TYPE_CHECKING:
    from hogeq.model.game import HogEngine

OPPONENTS: Final = ("ignore_memory", "huan2020", "hog_wild_heuristic")
"""Those of every game in which they have a meaning, beside the strongest."""


def strongest(game: "HogEngine") -> str:
    """Name the strongest opponent that the package has for a game."""
    if not game.has_memory:
        return "optimal"
    return "champion" if builtins_of(game, ["champion"]) else "ignore_memory"


def opponents(game: "HogEngine", names: Iterable[str] | None = None) -> dict[str, Strategy]:
    """Make the strategies of these names that have a meaning in a game.

    By default numbers of dice, the course's samples and the strongest, each table once.
    """
    if names is not None:
        return {name: one.named(name) for name, one in builtins_of(game, names).items()}
    always = [f"always_roll:{dice}" for dice in range(game.num_actions)]
    usual = [*always, *samples_of(game.rules), strongest(game), *OPPONENTS]
    by_table: dict[bytes, Strategy] = {}
    for name, strategy in builtins_of(game, usual).items():
        by_table.setdefault(strategy.array.tobytes(), strategy.named(name))
    return {one.name: one for one in by_table.values()}
