"""Strategies that are, or contain, the solution of a game."""

from dataclasses import replace
from typing import TYPE_CHECKING

from hogeq.baselines.registry import baseline
from hogeq.rules import EDITIONS, Rules
from hogeq.strategies.arrays import StrategyError
from hogeq.support.aliases import Matrix

if TYPE_CHECKING:
    from hogeq.model.game import HogEngine


@baseline("optimal", "play optimally, in rules without hidden memory")
def optimal(game: "HogEngine") -> Matrix:
    """Matrix of the tablebase, the fewest dice on ties."""
    if game.has_memory:
        raise StrategyError(
            f"strategy 'optimal': rules {game.rules.name} have hidden memory; allowed: rules "
            "without; ignore_memory plays as if there were none"
        )
    return _solution("optimal", game.rules)


@baseline("ignore_memory", "play optimally as if the rules that need a hidden memory did not exist")
def ignore_memory(game: "HogEngine") -> Matrix:
    """Matrix of the tablebase of the same game without what remembers: Feral Hogs, Time Trot, ...

    The dynamic programming of Huan (2020) [1] that looks at the scores alone.
    """
    return _solution("ignore_memory", game.rules.without_memory())


@baseline("full_memory", "play optimally, remembering everything; only to be compared")
def full_memory(game: "HogEngine") -> Matrix:
    """Matrix of the tablebase; refused where the tablebase remembers more than the scores.

    :func:`hogeq.evaluation.tablebase.full_memory_win_rate` gives its win rate there.
    """
    if game.has_memory:
        raise StrategyError(
            f"strategy 'full_memory': remembers what no matrix of rules {game.rules.name} sees, "
            "allowed in compare, and in tablebase --against"
        )
    return _solution("full_memory", game.rules)


@baseline("fa15_optimal", "play optimally by the rules of fa15, whatever the rules in force")
def fa15_optimal(game: "HogEngine") -> Matrix:
    """Matrix of the tablebase of edition fa15, of the game's goal and most dice.

    In fa15 itself it is `optimal`; elsewhere it is a player who brought the wrong rules.
    """
    return _of_edition("fa15", game)


@baseline("fa22_optimal", "play optimally by the rules of fa22, whatever the rules in force")
def fa22_optimal(game: "HogEngine") -> Matrix:
    """Matrix of the tablebase of edition fa22, of the game's goal and most dice.

    In fa22 itself it is `optimal`; elsewhere it is a player who brought the wrong rules.
    """
    return _of_edition("fa22", game)


def _of_edition(edition: str, game: "HogEngine") -> Matrix:
    rules = replace(EDITIONS[edition], goal=game.goal, max_dice=game.rules.max_dice)
    return _solution(f"{edition}_optimal", rules)


def _solution(name: str, rules: Rules) -> Matrix:
    from hogeq.evaluation.tablebase import solve
    from hogeq.model.game import compile_game

    try:
        return solve(compile_game(rules)).matrix
    except ValueError as error:
        raise StrategyError(f"strategy '{name}': {error}") from error
