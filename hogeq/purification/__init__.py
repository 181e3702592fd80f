"""Purifiers: from a policy to a matrix that can be submitted.

Their contract is in the base class `Purifier`. To add one, write a file with a subclass that has
the decorators `purifier` and `parameters`, and add the file to the imports below. All but argmax
search, and judge matrices by attacks on them.
"""

from typing import Any

from numpy.typing import ArrayLike

from hogeq.model.game import HogEngine
from hogeq.purification.base import PURIFIERS, Purifier, purified, purifier

# Each registers itself when it is imported; help and messages list them in this order.
# isort: off
from hogeq.purification import sampling, rounding, local_search, integer  # noqa: F401
# isort: on

from hogeq.purification.sampling import argmax, thresholded
from hogeq.support.aliases import Matrix
from hogeq.support.messages import refusal

__all__ = ["PURIFIERS", "Purifier", "argmax", "purified", "purifier", "purify", "thresholded"]


def purify(game: HogEngine, policy: ArrayLike, method: str = "argmax", **parameters: Any) -> Matrix:
    """Matrix made from a policy by a named purifier.

    Parameters
    ----------
    game : HogEngine
    policy : array_like
        (G, G, K), or a matrix (G, G).
    method : str
        One of `PURIFIERS`.
    **parameters
        Parameters of the purifier.

    Returns
    -------
    int8 (G, G)

    Raises
    ------
    ValueError
        If there is no such purifier, or a parameter or the policy is refused.

    Examples
    --------
    >>> import hogeq
    >>> rules = hogeq.rules_from({"edition": "su20", "goal": 20, "max_dice": 4})
    >>> game = hogeq.compile_game(rules)
    >>> uniform = [[[0.2] * 5] * 20] * 20
    >>> hogeq.purify(game, uniform, "threshold", seed=1).shape
    (20, 20)
    """
    if not isinstance(method, str) or method not in PURIFIERS:
        raise ValueError(refusal("method", method, ", ".join(PURIFIERS), PURIFIERS))
    return purified(method, PURIFIERS[method](**parameters), game, policy)
