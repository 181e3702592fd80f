"""Workspaces that the calls of one thread share.

The arrays of a workspace are large (100 MB for two players of su20), and a search or a solver
runs thousands of passes. So a workspace is made once and used again: the functions here keep those
used last, by game, number of players, precision and *thread*.

This is safe because no two threads ever have the same workspace, and within a thread one call ends
before the next begins. What remains is a rule for callers: a workspace holds the result of its last
pass only. Whoever needs a result for longer copies it; the public functions of
:mod:`hogeq.evaluation` return fresh arrays, so their callers need not. For the same reason no
generator may yield between a pass and the use of what it filled.

The identifier of a thread that has ended can be given to a new one, which then finds the old
workspace: every pass fills what it reads, so nothing of the old thread is seen.
"""

from functools import lru_cache
from threading import get_ident

import numpy as np
from numpy.typing import DTypeLike

from hogeq.kernels.duel import can_duel
from hogeq.model.game import Game
from hogeq.model.workspace import Duels, Workspace


def shared_workspace(game: Game, players: int, dtype: DTypeLike = np.float64) -> Workspace:
    """Workspace of the calling thread, for one player (self-play) or two.

    What it holds lasts until its next use in the thread, by whatever function.
    """
    return _kept_workspace(game, players, np.dtype(dtype), get_ident())


def quick_workspace(game: Game, players: int) -> Workspace:
    """Shared workspace for what need not be exact: most of a search, weights of an average.

    In single precision in large games, where that takes half to two thirds of the time.
    """
    return shared_workspace(game, players, np.float64 if game.plan is None else np.float32)


@lru_cache(maxsize=12)
def _kept_workspace(
    game: Game,
    players: int,
    dtype: DTypeLike,
    thread: int,  # noqa: ARG001
) -> Workspace:
    return game.workspace(players, dtype)


def shared_duels(game: Game) -> Duels | None:
    """Arrays of the calling thread for pairs of matrices; None if the game has none."""
    return _kept_duels(game, get_ident()) if can_duel(game.tables) else None


@lru_cache(maxsize=4)
def _kept_duels(game: Game, thread: int) -> Duels:  # noqa: ARG001
    return Duels(game.tables)
