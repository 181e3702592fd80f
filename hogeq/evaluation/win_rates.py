"""Exact win rates: sums over all dice, never a sample."""

import numpy as np
from numpy.typing import ArrayLike

from hogeq.model.game import Game
from hogeq.model.shared import shared_duels, shared_workspace
from hogeq.model.workspace import WinRate
from hogeq.strategies.arrays import check_matrix
from hogeq.strategies.policies import policies_of, policy_of


def win_rate(game: Game, a: ArrayLike, b: ArrayLike) -> WinRate:
    """Exact win rate of strategy `a` against strategy `b`.

    Parameters
    ----------
    game : Game
    a, b : array_like
        Each a matrix (G, G) or a policy (G, G, K).

    Returns
    -------
    WinRate
        As probabilities; ``win_rate(a, b) + win_rate(b, a) = 1``.

    Raises
    ------
    ValueError
        If a strategy is malformed.

    Examples
    --------
    To 4 points with one die of two sides, a square raised to the next: no dice score 1, hence 4.

    >>> from hogeq.model.game import compile_game
    >>> from hogeq.rules import rules_from
    >>> rules = rules_from({"edition": "fa22", "goal": 4, "max_dice": 1, "sides": 2})
    >>> game = compile_game(rules)
    >>> win_rate(game, np.zeros((4, 4)), np.ones((4, 4))).first
    1.0
    """
    tables = [np.asarray(a), np.asarray(b)]
    duels = shared_duels(game) if all(table.ndim == 2 for table in tables) else None
    if duels is None:
        return shared_workspace(game, 2).win_rate(policies_of(game, a, b))
    most = game.rules.max_dice
    return duels.win_rate(
        np.stack([check_matrix(table, game.goal, most) for table in tables]).astype(np.int64)
    )


def mover_value(game: Game, strategy: ArrayLike) -> float:
    """Win probability at the start of whoever moves first, both playing `strategy`.

    Examples
    --------
    >>> import hogeq
    >>> rules = hogeq.rules_from({"edition": "su20", "goal": 20, "max_dice": 4})
    >>> game = hogeq.compile_game(rules)
    >>> three = hogeq.builtin("always_roll:3", game)
    >>> round(hogeq.mover_value(game, three), 6)
    0.568755
    """
    return game.workspace(1).backward(policy_of(game, strategy)[None])[0]
