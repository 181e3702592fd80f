"""Strategies that come from solving a game; importing this module makes their names known."""

from dataclasses import replace
from typing import TYPE_CHECKING

from hogeq.strategy import Matrix, StrategyError, register

if TYPE_CHECKING:
    from hogeq.game import Game

# The kernels are imported where they are used: listing names needs none.


@register("optimal", "play optimally, in rules without hidden memory")
def optimal(game: "Game") -> Matrix:
    """Matrix of the tablebase, the fewest dice on ties.

    Parameters
    ----------
    game : Game
        One without memory.

    Returns
    -------
    int8 array, shape (G, G)

    Raises
    ------
    StrategyError
        If the rules have a memory: the best roll then depends on what no matrix sees.
    """
    if game.has_memory:
        raise StrategyError(
            f"strategy 'optimal': rules {game.rules.name} have hidden memory, allowed are rules "
            "without; ignore_memory plays as if there were none"
        )
    return ignore_memory(game)


@register("ignore_memory", "play optimally as if the rules that need a hidden memory did not exist")
def ignore_memory(game: "Game") -> Matrix:
    """Matrix of the tablebase of the same game without Feral Hogs, Time Trot and other extra dice.

    The dynamic programming of seed 000 that looks at the scores alone.

    Parameters
    ----------
    game : Game

    Returns
    -------
    int8 array, shape (G, G)

    Raises
    ------
    StrategyError
        If positions of the game can recur.
    """
    from hogeq.game import compile_game
    from hogeq.tablebase import solve

    plain = replace(game.rules, feral_hogs="none", time_trot=False, extra_turn_sides=None)
    try:
        return solve(compile_game(plain)).matrix
    except ValueError as error:
        raise StrategyError(f"strategy 'ignore_memory': {error}") from error
