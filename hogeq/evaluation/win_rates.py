"""Exact win rates: sums over all dice, never a sample."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hogeq.model.endless import EndlessError, endless_position
from hogeq.model.game import HogEngine
from hogeq.model.shared import shared_duels, shared_workspace
from hogeq.model.workspace import WinRate
from hogeq.strategies.arrays import as_array, as_policy, check_matrix, check_policy
from hogeq.strategies.mixtures import Mixture, check_mixture, parts_of
from hogeq.strategies.policies import check_game, policy_of


def win_rate(game: HogEngine, a: ArrayLike | Mixture, b: ArrayLike | Mixture) -> WinRate:
    """Exact win rate of strategy `a` against strategy `b`.

    Parameters
    ----------
    game : HogEngine
    a, b : array_like or Mixture
        Each a matrix (G, G), a policy (G, G, K), or a mixture of such: the win rate is the mean
        over what is drawn, each player drawing for itself.

    Returns
    -------
    WinRate
        As probabilities; ``win_rate(a, b) + win_rate(b, a) = 1``.

    Raises
    ------
    ValueError
        If a strategy is malformed, or a game between the two may never end.
    TypeError
        If `game` is none.

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
    return win_rate_of_valid(game, checked(game, a), checked(game, b))


def win_rate_of_valid(
    game: HogEngine,
    a: NDArray[Any] | Mixture,
    b: NDArray[Any] | Mixture,
    *,
    endless_is_draw: bool = False,
) -> WinRate:
    """Exact win rate of strategy `a` against strategy `b`, both of which were checked before.

    Parameters
    ----------
    game : HogEngine
    a, b : arrays or Mixture
        Each a matrix (G, G) or a policy (G, G, K), of any type of number, or a mixture.
    endless_is_draw : bool
        Count a game that never ends as half a win, as the tablebase does.

    Returns
    -------
    WinRate

    Raises
    ------
    EndlessError
        If a game between the two may never end, and that is no draw.
    """
    if isinstance(a, Mixture) or isinstance(b, Mixture):
        return mean_win_rate(
            (weight * other, _of_tables(game, one, two, endless_is_draw))
            for weight, one in parts_of(a)
            for other, two in parts_of(b)
        )
    return _of_tables(game, a, b, endless_is_draw)


def mean_win_rate(found: Iterable[tuple[float, WinRate]]) -> WinRate:
    """Mean of win rates, each with its probability."""
    every = list(found)
    shares = np.array([share for share, _ in every])
    columns = np.array([rate for _, rate in every]).T.copy()
    return WinRate(*(float(np.dot(shares, column)) for column in columns))


def _of_tables(game: HogEngine, a: NDArray[Any], b: NDArray[Any], endless_is_draw: bool) -> WinRate:
    duels = shared_duels(game) if a.ndim == b.ndim == 2 else None
    if duels is not None:
        return duels.win_rate(np.stack([a, b]).astype(np.int64))
    policies = np.stack([as_policy(one, game.num_actions) for one in (a, b)])
    work = shared_workspace(game, 2)
    found = None if endless_is_draw else endless_position(work, policies)
    if found is not None:
        raise EndlessError(
            f"win rate: a game between the two may never end: at {found[0]} to {found[1]} and "
            "from there on both leave the scores as they are; allowed: strategies whose games end"
        )
    return work.win_rate(policies)


def checked(game: HogEngine, strategy: ArrayLike | Mixture) -> NDArray[Any] | Mixture:
    """Check a matrix, a policy or a mixture against a game, and copy it."""
    check_game(game)
    if isinstance(strategy, Mixture):
        return check_mixture(strategy.weights, strategy.parts, game.goal, game.rules.max_dice)
    table = as_array(strategy, "strategy")
    check = check_policy if table.ndim == 3 else check_matrix
    return check(table, game.goal, game.rules.max_dice)


def mover_value(game: HogEngine, strategy: ArrayLike) -> float:
    """Win probability of whoever moves first, both players using one strategy.

    Parameters
    ----------
    game : HogEngine
    strategy : array_like
        A matrix (G, G) or a policy (G, G, K).

    Returns
    -------
    float

    Raises
    ------
    StrategyError
        If the strategy is malformed.

    Examples
    --------
    >>> import hogeq
    >>> rules = hogeq.rules_from({"edition": "su20", "goal": 20, "max_dice": 4})
    >>> game = hogeq.compile_game(rules)
    >>> three = hogeq.builtin("always_roll:3", game)
    >>> round(hogeq.mover_value(game, three), 6)
    0.568755
    """
    policy = policy_of(game, strategy)
    return game.workspace(1).backward(policy[None])[0]
