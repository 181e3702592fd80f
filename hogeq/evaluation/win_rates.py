"""Exact win rates: sums over all dice, never a sample."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hogeq.evaluation.hidden import check_position
from hogeq.model.endless import EndlessError, endless_position
from hogeq.model.game import HogEngine
from hogeq.model.many import shared_duels, shared_workspace
from hogeq.model.workspace import WinRate
from hogeq.rules.memory import Memory
from hogeq.strategies.arrays import one_hot
from hogeq.strategies.strategy import StrategyLike, policies_of, strategy_of, table_of
from hogeq.support.aliases import Floats


def win_rate(
    game: HogEngine,
    a: StrategyLike,
    b: StrategyLike,
    *,
    endless_is_draw: bool = False,
    start: tuple[int, int] = (0, 0),
) -> WinRate:
    """Exact win rate of strategy `a` against strategy `b`; each mixture is drawn for itself.

    A game begins with `start`: the score of the player who moves first, and that of the other.

    An `EndlessError` if a game between the two may never end, unless that counts as half a win, as
    in the tablebase and where a game begins with other scores than 0.
    """
    check_position(game, *start)
    check_position(game, *start[::-1])  # each may be the one who moves first
    one, two = strategy_of(game, a), strategy_of(game, b)

    def of_tables(mine: NDArray[Any], theirs: NDArray[Any]) -> WinRate:
        if start == (0, 0):
            return _of_tables(game, mine, theirs, endless_is_draw)
        return _from_scores(game, mine, theirs, start)

    if len(one.chances) == len(two.chances) == 1:
        return of_tables(one.drawn()[0][1], two.drawn()[0][1])
    return mean_win_rate(
        (weight * other, of_tables(mine, theirs))
        for weight, mine in one.drawn()
        for other, theirs in two.drawn()
    )


def mean_win_rate(found: Iterable[tuple[float, WinRate]]) -> WinRate:
    """Mean of win rates, each with its probability."""
    every = list(found)
    shares = np.array([share for share, _ in every])
    columns = np.array([rate for _, rate in every]).T.copy()
    return WinRate(*(float(np.dot(shares, column)) for column in columns))


def _of_tables(game: HogEngine, a: NDArray[Any], b: NDArray[Any], endless_is_draw: bool) -> WinRate:
    duels = shared_duels(game) if a.ndim == b.ndim == len(game.shape) - 1 else None
    if duels is not None:
        return duels.win_rate(np.stack([a, b]).astype(np.int64))
    policies = np.stack(
        [one_hot(one, game.num_actions) if one.ndim == 2 else one for one in (a, b)]
    )
    work = shared_workspace(game, 2)
    found = None if endless_is_draw else endless_position(work, policies)
    if found is not None:
        raise EndlessError(
            f"win rate: a game between the two may never end: at {found[0]} to {found[1]} and "
            "from there on both leave the scores as they are; allowed: strategies whose games end"
        )
    return work.win_rate(policies)


def _from_scores(
    game: HogEngine, a: NDArray[Any], b: NDArray[Any], start: tuple[int, int]
) -> WinRate:
    """Win rate of games that begin with some scores, and nothing to remember."""
    work, policies = shared_workspace(game, 2), policies_of(game, a, b)
    work.backward(policies, keep=True)
    nothing = game.memories.index(Memory())
    rolls = (work.hidden_values(*start, player)[nothing] for player in (0, 1))
    first, other = (np.dot(one, policy[start]) for one, policy in zip(rolls, policies, strict=True))
    return WinRate.from_starts(float(first), float(other))


def remembering_win_rate(game: HogEngine, rolls: ArrayLike, strategy: StrategyLike) -> WinRate:
    """Exact win rate of a player who knows the hidden memory against one who does not.

    Rolls are whole numbers (G, G, H), dice by own score, opponent's score and memory
    (`HogEngine.memories`); the strategy is a matrix or a policy. A `ValueError` if the rolls are
    malformed, or if positions of a game with hidden memory can recur.
    """
    table = np.asarray(rolls)
    shape = (game.goal, game.goal, game.memory_size)
    if table.shape != shape or table.dtype.kind not in "iu":
        raise ValueError(f"rolls: {table.dtype} {table.shape}; allowed: whole numbers {shape}")
    if table.min() < 0 or table.max() >= game.num_actions:
        raise ValueError(
            f"rolls: {table.min()} to {table.max()}; allowed: 0 to {game.num_actions - 1}"
        )
    if game.has_memory and game.positions_recur:
        raise ValueError(
            f"rules {game.rules.name}: positions can recur and rolls depend on hidden memory; "
            "allowed: rules of which only one is true"
        )
    other = table_of(game, strategy)
    if not game.has_memory:
        return win_rate(game, table[:, :, 0], other)
    policy = other.policy

    def memory_values(player: int, own: int, opponent: int, found: Floats) -> Floats:
        if player == 1:
            return found @ policy[own, opponent]
        chosen = table[own, opponent].astype(np.int64)[:, None]
        return np.take_along_axis(found, chosen, axis=1)[:, 0]

    return WinRate.from_starts(*game.workspace(2).backward_by(memory_values))
