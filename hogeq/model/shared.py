"""Workspaces that calls in one thread share."""

from functools import lru_cache
from threading import local

import numpy as np
from numpy.typing import DTypeLike

from hogeq.kernels.duel import can_duel
from hogeq.model.game import Game
from hogeq.model.workspace import Duels, Workspace


def shared_workspace(game: Game, players: int, dtype: DTypeLike = np.float64) -> Workspace:
    """Workspace that calls in one thread share; what it holds lasts until its next use."""
    return _kept.workspace(game, players, np.dtype(dtype))


def quick_workspace(game: Game, players: int) -> Workspace:
    """Shared workspace for what need not be exact: most of a search, weights of an average.

    In single precision in games that have a plan, where that takes half to two thirds of the time.
    """
    return shared_workspace(game, players, np.float64 if game.plan is None else np.float32)


class _Kept(local):
    """What the current thread used last, so that threads never wait for each other's arrays."""

    def __init__(self) -> None:
        self.workspace = lru_cache(maxsize=4)(_workspace)
        self.duels = lru_cache(maxsize=2)(lambda game: Duels(game.tables))


def _workspace(game: Game, players: int, dtype: DTypeLike) -> Workspace:
    return game.workspace(players, dtype)


_kept = _Kept()


def shared_duels(game: Game) -> Duels | None:
    """Arrays for pairs of matrices that calls in one thread share; None if the game has none."""
    return _kept.duels(game) if can_duel(game.tables) else None
