"""Counters that a search begins with, from a file."""

import zipfile
import zlib
from pathlib import Path
from typing import Final

import numpy as np

from hogeq.model.protocol import Engine
from hogeq.strategies.arrays import StrategyError
from hogeq.strategies.read import read_strategy
from hogeq.support.aliases import Matrix
from hogeq.support.messages import shown_path, unreadable

POOLS: Final = ("pool", "state.pool", "state.counters")
"""Names of the array in checkpoints, of searches and of the solvers that keep counters."""


def read_counters(path: Path, game: Engine) -> Matrix:
    """Read counter-matrices, int8 (n, G, G)."""
    found = _pool(path) if path.suffix.lower() == ".npz" else None
    if found is None:
        table = read_strategy(path, game.shape[0], game.num_actions - 1)
        if table.ndim != len(game.shape) - 1:
            raise StrategyError(f"{shown_path(path)}: a policy; allowed: matrices")
        return table[None].astype(np.int8)
    cells = game.shape[:-1]
    if found.ndim != 1 + len(cells) or found.shape[1:] != cells or found.dtype != np.int8:
        raise StrategyError(
            f"{shown_path(path)}: got counters {found.dtype} {found.shape}; "
            f"allowed: int8 (n, {', '.join(map(str, cells))})"
        )
    if found.size and not 0 <= found.min() <= found.max() < game.num_actions:
        most = game.num_actions - 1
        raise StrategyError(f"{shown_path(path)}: a roll out of range; allowed: 0 to {most}")
    return found


def _pool(path: Path) -> Matrix | None:
    """Array of an ``.npz`` that holds a pool; None if it holds none."""
    try:
        with path.open("rb") as file, np.load(file) as arrays:
            names = [name for name in POOLS if name in arrays]
            return arrays[names[0]] if names else None
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise StrategyError(unreadable(path, error)) from error
