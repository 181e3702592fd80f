"""The most probable roll of a strategy at each position."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hogeq.support.aliases import Matrix


def usual_rolls(strategy: NDArray[Any]) -> Matrix:
    """Most probable roll at every position."""
    rolls: Matrix = strategy if strategy.ndim == 2 else strategy.argmax(axis=2)
    return rolls


def positions_by_roll(strategy: NDArray[Any], num_actions: int) -> list[int]:
    """Count the positions at which each number of dice is the most probable roll."""
    counts: list[int] = np.bincount(
        usual_rolls(strategy).ravel().astype(np.int64), minlength=num_actions
    ).tolist()
    return counts
