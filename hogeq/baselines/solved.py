"""Strategies that solving made: tablebases, and tables shipped with the package.

Champions are the least exploitable strategies found so far. ``champions/EDITION/`` holds a matrix,
a policy, the strongest counter found to each, and a manifest with the interval of each and the
config that made it. ``experiments/champion.py`` maintains it. ``huan2020`` is one table too:
``docs/huan2020.md`` describes its method, and ``experiments/second_place.py`` rebuilds it.
"""

from collections.abc import Callable
from dataclasses import replace
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Final

import numpy as np

from hogeq.baselines.registry import baseline
from hogeq.rules import EDITIONS, Rules, names_of
from hogeq.rules.memory import all_memories
from hogeq.strategies.arrays import StrategyError
from hogeq.strategies.conversion import StrategyLike, strategy_of
from hogeq.strategies.files import read_strategy, sizes_of
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Matrix
from hogeq.support.progress import tell

if TYPE_CHECKING:
    from hogeq.model.game import HogEngine

# --- tablebases -----------------------------------------------------------------------------------


@baseline("optimal", "play optimally, in rules without hidden memory")
def optimal(game: "HogEngine") -> Matrix:
    """Matrix of the tablebase, the fewest dice on ties."""
    if game.has_memory:
        raise StrategyError(
            f"strategy 'optimal': rules {game.rules.name} have hidden memory; allowed: rules "
            "without; ignore_memory plays as if there were none"
        )
    return _tablebase_matrix("optimal", game.rules)


@baseline("ignore_memory", "play optimally as if the rules that need a hidden memory did not exist")
def ignore_memory(game: "HogEngine") -> Matrix:
    """Matrix of the tablebase of the same game without rules that remember: Feral Hogs, ...

    The dynamic programming of Huan (2020) [1] that looks at the scores alone.
    """
    return _tablebase_matrix("ignore_memory", game.rules.without_memory())


@baseline("full_memory", "play optimally, remembering everything; only to be compared")
def full_memory(game: "HogEngine") -> Matrix:
    """Matrix of the tablebase; refused where the tablebase remembers more than the scores."""
    if game.has_memory:
        raise StrategyError(
            f"strategy 'full_memory': remembers what no matrix of rules {game.rules.name} sees, "
            "allowed in compare, and in tablebase --against"
        )
    return _tablebase_matrix("full_memory", game.rules)


def _tablebase_matrix(name: str, rules: Rules) -> Matrix:
    """Optimal matrix by the tablebase of these rules; errors name the strategy `name`."""
    from hogeq.evaluation.tablebase import solve
    from hogeq.model.game import compile_game

    try:
        return solve(compile_game(rules, own_goals=True)).matrix
    except ValueError as error:
        raise StrategyError(f"strategy '{name}': {error}") from error


# --- shipped tables -------------------------------------------------------------------------------

SHIPPED: Final = files("hogeq.baselines") / "champions"  # a folder for each edition

FILES: Final = {
    "champion": ("matrix.csv", "matrix"),
    "champion:policy": ("policy.npz", "policy"),
    "champion:mixture": ("mixture.npz", "mixture"),
    "huan2020": ("huan2020.csv", "matrix"),
}
"""File and kind of each shipped table, by its name."""


def editions(name: str) -> list[str]:
    """List the editions that have a table of this name."""
    file, _ = FILES[name]
    return [edition for edition in EDITIONS if (SHIPPED / edition / file).is_file()]


def about(name: str) -> str:
    """Describe a shipped table in one line, with the editions that have it."""
    known = ", ".join(editions(name))
    if not name.startswith("champion"):
        return f"second place of summer 2020, by counted guesses of the memory: {known}"
    _, kind = FILES[name]
    return f"the least exploitable {kind} found so far: {known}; optimal where nothing is hidden"


def shipped(name: str) -> "Callable[[HogEngine], StrategyLike]":
    """Make the function that reads the shipped table of this name for the rules in force."""

    def read(game: "HogEngine") -> StrategyLike:
        """Read the table for the game's edition; `StrategyError` if none is shipped.

        Where nothing is hidden, a champion is the optimal matrix.
        """
        file, kind = FILES[name]
        edition = _shipped_for(name, game.rules)
        if edition is not None:
            with as_file(SHIPPED / edition / file) as path:
                return read_strategy(path, **sizes_of(game))
        hides_nothing = len(all_memories(game.rules)) == 1
        if hides_nothing and name.startswith("champion"):
            tell(f"hogeq: {name}: nothing is hidden by these rules, so it is the optimal matrix")
            return _tablebase_matrix(name, game.rules)
        rules_names = ", ".join(names_of(game.rules) or [game.rules.name])
        other_tables = [other for other in FILES if _shipped_for(other, game.rules) is not None]
        instead = f"; {rules_names} has {' and '.join(other_tables)}" if other_tables else ""
        raise StrategyError(
            f"strategy {name!r}: no {kind} is shipped for {rules_names}; "
            f"allowed: {', '.join(editions(name))}, with no part or size changed{instead}"
        )

    return read


def counters(game: "HogEngine", strategy: Strategy) -> list[Matrix]:
    """Read the shipped counter-matrix to a strategy if it is a champion; else an empty list."""
    for name, (file, kind) in FILES.items():
        edition = _shipped_for(name, game.rules) if kind == strategy.kind else None
        if edition is None:
            continue
        champion = strategy_of(game, shipped(name)(game))
        if not np.array_equal(champion.array, strategy.array):
            continue
        if not np.array_equal(champion.weights, strategy.weights):
            continue
        stem = file.partition(".")[0]
        counter_file = SHIPPED / edition / f"counter_to_{stem}.csv"
        if counter_file.is_file():
            with as_file(counter_file) as path:
                return [read_strategy(path, **sizes_of(game)).array]
    return []


def _shipped_for(name: str, rules: Rules) -> str | None:
    """Find the edition with these rules, whatever their name, if it has a table of this name."""
    for edition in editions(name):
        if replace(EDITIONS[edition], name=rules.name) == rules:
            return edition
    return None


for _name in FILES:
    baseline(_name, about(_name))(shipped(_name))
