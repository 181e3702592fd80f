"""Workspaces that the calls of one thread share.

The arrays of a workspace are large (106 MB for two players of su20), and a search or a solver
runs thousands of passes. So a workspace is made once and used again: each thread keeps those that
it used last, by game, number of players and precision. However many threads there are, none makes
another one lose its arrays, and they go when the thread ends.

This is safe because no two threads ever have the same workspace, and within a thread one call ends
before the next begins. What remains is a rule for callers: a workspace holds the result of its last
pass only. Whoever needs a result for longer copies it; the public functions of
:mod:`hogeq.evaluation` return fresh arrays, so their callers need not. For the same reason no
generator may yield between a pass and the use of what it filled.
"""

from functools import lru_cache
from threading import local

import numpy as np
from numpy.typing import DTypeLike

from hogeq.model.many import ManyWorkspace
from hogeq.model.protocol import Engine, MatrixPasses
from hogeq.model.workspace import Workspace


def shared_workspace(game: Engine, players: int, dtype: DTypeLike = np.float64) -> Workspace:
    """Workspace of the calling thread, for one player (self-play) or two.

    What it holds lasts until its next use in the thread, by whatever function.
    """
    return _kept.workspace(game, players, np.dtype(dtype))


def quick_workspace(game: Engine, players: int) -> Workspace:
    """Shared workspace for what need not be exact: most of a search, weights of an average.

    In single precision where :meth:`hogeq.model.protocol.Engine.quick_dtype` says so.
    """
    return shared_workspace(game, players, game.quick_dtype())


def shared_many(game: Engine, pairs: int, dtype: DTypeLike = np.float64) -> ManyWorkspace:
    """Workspace of the calling thread for n pairs of strategies.

    It lasts as that of :func:`shared_workspace` does, its opponents included.
    """
    return _kept.many(game, pairs, np.dtype(dtype))


def quick_many(game: Engine, pairs: int) -> ManyWorkspace:
    """Shared workspace for n pairs of what need not be exact, as :func:`quick_workspace`."""
    return shared_many(game, pairs, game.quick_dtype(pairs))


class _Kept(local):
    """Workspaces of the current thread, those used last."""

    def __init__(self) -> None:
        self.workspace = lru_cache(maxsize=4)(_workspace)
        self.many = lru_cache(maxsize=2)(_many)
        self.duels = lru_cache(maxsize=2)(_duels)


def _workspace(game: Engine, players: int, dtype: DTypeLike) -> Workspace:
    work: Workspace = game.workspace(players, dtype)
    return work


def _many(game: Engine, pairs: int, dtype: DTypeLike) -> ManyWorkspace:
    work: ManyWorkspace = game.many(pairs, dtype)
    return work


def _duels(game: Engine) -> MatrixPasses | None:
    return game.duels()


_kept = _Kept()


def shared_duels(game: Engine) -> MatrixPasses | None:
    """Arrays of the calling thread for pairs of matrices; None if the game has none."""
    return _kept.duels(game)
