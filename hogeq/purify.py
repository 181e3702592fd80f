"""From a policy to a matrix that can be submitted."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hogeq.evaluate import policy_of
from hogeq.game import Game

METHODS = ("argmax",)


def purify(game: Game, policy: ArrayLike, method: str = "argmax") -> NDArray[np.int8]:
    """Matrix made from a policy by a named method.

    Parameters
    ----------
    game : Game
    policy : array_like
        (G, G, K)
    method : str
        One of `METHODS`.

    Returns
    -------
    int8 (G, G)

    Raises
    ------
    ValueError
        If there is no such method.
    """
    if method not in METHODS:
        raise ValueError(f"purify.method: {method!r}, allowed are {', '.join(METHODS)}")
    return argmax(game, policy)


def argmax(game: Game, policy: ArrayLike) -> NDArray[np.int8]:
    """Most probable roll of every cell, the lower roll on ties.

    Parameters
    ----------
    game : Game
    policy : array_like
        (G, G, K), or a matrix (G, G), which comes back as it is.

    Returns
    -------
    int8 (G, G)
    """
    return policy_of(game, policy).argmax(axis=2).astype(np.int8)
