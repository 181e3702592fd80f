"""Workspaces that calls in one thread share."""

from functools import lru_cache
from threading import get_ident

import numpy as np
from numpy.typing import DTypeLike

from hogeq.kernels.duel import can_duel
from hogeq.model.game import Game
from hogeq.model.workspace import Duels, Workspace


def shared_workspace(game: Game, players: int, dtype: DTypeLike = np.float64) -> Workspace:
    """Workspace that calls in one thread share; what it holds lasts until its next use."""
    return _kept_workspace(game, players, np.dtype(dtype), get_ident())


def quick_workspace(game: Game, players: int) -> Workspace:
    """Shared workspace for what need not be exact: most of a search, weights of an average.

    In single precision in games that have a plan, where that takes half to two thirds of the time.
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
    """Arrays for pairs of matrices that calls in one thread share; None if the game has none."""
    return _kept_duels(game, get_ident()) if can_duel(game.tables) else None


@lru_cache(maxsize=4)
def _kept_duels(game: Game, thread: int) -> Duels:  # noqa: ARG001
    return Duels(game.tables)
