"""Workspaces that a thread uses again, whatever the engine.

The arrays of a workspace are large (106 MB for two players of su20), so each thread makes one once
and uses it again: those that it used last, by game, number of players and precision. No two threads
ever have the same one. What a pass returns lasts until the next use of the workspace in the thread,
by whatever function: copy what you need for longer, and let no generator yield in between.
"""

from functools import lru_cache
from threading import local

import numpy as np
from numpy.typing import DTypeLike

from hogeq.model.protocol import Engine, MatrixPasses, Minimiser, Passes


class _Kept(local):
    """Workspaces of the current thread, those used last."""

    def __init__(self) -> None:
        self.workspace = lru_cache(maxsize=4)(self._make)
        self.mixture = lru_cache(maxsize=2)(self._make)  # n times as large
        self.duels = lru_cache(maxsize=2)(lambda game: game.duels())
        self.minimiser = lru_cache(maxsize=2)(lambda game: game.minimiser())

    @staticmethod
    def _make(game: Engine, players: int, dtype: DTypeLike) -> Passes:
        return game.workspace(players, dtype)


_kept = _Kept()


def shared_workspace(game: Engine, players: int, dtype: DTypeLike = np.float64) -> Passes:
    """Workspace of the calling thread, for so many policies: 1 is self-play."""
    kept = _kept.workspace if players <= 2 else _kept.mixture
    return kept(game, players, np.dtype(dtype))


def quick_workspace(game: Engine, players: int) -> Passes:
    """Shared workspace for passes that need not be exact: most of a search, weights of an average.

    In single precision where :meth:`hogeq.model.protocol.Engine.quick_dtype` says so.
    """
    return shared_workspace(game, players, game.quick_dtype(max(1, players - 1)))


def shared_duels(game: Engine) -> MatrixPasses | None:
    """Arrays of the calling thread for pairs of matrices; None if the game has none."""
    duels: MatrixPasses | None = _kept.duels(game)
    return duels


def shared_minimiser(game: Engine) -> Minimiser | None:
    """Loops of the calling thread for regret minimisers; None if the game has none."""
    minimiser: Minimiser | None = _kept.minimiser(game)
    return minimiser
