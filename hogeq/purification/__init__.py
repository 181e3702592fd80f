"""From a policy to a matrix that can be submitted: one method a file, all with one call.

A method is a frozen dataclass of parameters; ``matrix`` makes the matrix.  Except for argmax they
all search, and judge what they find by attacking it.
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hogeq.model.game import Game
from hogeq.purification.local_search import LocalSearch, SearchState
from hogeq.purification.rounding import Round
from hogeq.purification.sampling import Argmax, Sample, Threshold, argmax, thresholded

__all__ = ["METHODS", "Method", "SearchState", "argmax", "purify", "thresholded"]


class Method(Protocol):
    """What every method does."""

    def matrix(self, game: Game, policy: ArrayLike) -> NDArray[np.int8]:
        """Matrix (G, G) made of a policy, or of another matrix."""


METHODS: dict[str, type[Any]] = {
    "argmax": Argmax,
    "threshold": Threshold,
    "sample": Sample,
    "round": Round,
    "local_search": LocalSearch,
}


def purify(
    game: Game, policy: ArrayLike, method: str = "argmax", **parameters: Any
) -> NDArray[np.int8]:
    """Matrix made from a policy by a named method.

    Parameters
    ----------
    game : Game
    policy : array_like
        (G, G, K), or a matrix (G, G).
    method : str
        One of `METHODS`.
    **parameters
        Of the method.

    Returns
    -------
    int8 (G, G)

    Raises
    ------
    ValueError
        If there is no such method, or a parameter or the policy is refused.
    """
    if method not in METHODS:
        raise ValueError(f"purify.method: {method!r}, allowed are {', '.join(METHODS)}")
    chosen: Method = METHODS[method](**parameters)
    return chosen.matrix(game, policy)
