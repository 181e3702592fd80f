"""The most probable roll of a strategy at each position."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hogeq.support.aliases import Matrix


def usual_rolls(strategy: NDArray[Any]) -> Matrix:
    """Most probable roll at every position.

    Parameters
    ----------
    strategy : array, (G, G) or (G, G, K)
        A matrix or a policy.

    Returns
    -------
    int (G, G)
        A matrix as it is; of a policy the fewest dice of those that tie.
    """
    rolls: Matrix = strategy if strategy.ndim == 2 else strategy.argmax(axis=2)
    return rolls


def positions_by_roll(strategy: NDArray[Any], num_actions: int) -> list[int]:
    """Count the positions at which each number of dice is the most probable roll.

    Parameters
    ----------
    strategy : array, (G, G) or (G, G, K)
        A matrix or a policy.
    num_actions : int
        K, rolls to choose from.

    Returns
    -------
    list of int, length K
        They sum to the number of positions.
    """
    counts: list[int] = np.bincount(
        usual_rolls(strategy).ravel().astype(np.int64), minlength=num_actions
    ).tolist()
    return counts
