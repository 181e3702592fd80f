"""Purifiers: from a policy to a matrix that can be submitted.

Their contract is in the base class `Purifier`. To add one, write a file with a subclass that has
the decorators `purifier` and `parameters`, and add the file to the imports below. All but argmax
search, and judge matrices by attacks on them.
"""

from typing import Any

from hogeq.model.protocol import Engine
from hogeq.purification.base import PURIFIERS, Purifier, argmax, purified, purifier, thresholded

# Each registers itself when it is imported; help and messages list them in this order.
# isort: off
from hogeq.purification import local_search, integer  # noqa: F401
# isort: on

from hogeq.strategies.strategy import StrategyLike
from hogeq.support.aliases import Matrix
from hogeq.support.messages import refusal

__all__ = ["PURIFIERS", "Purifier", "argmax", "purified", "purifier", "purify", "thresholded"]


def purify(
    game: Engine, strategy: StrategyLike, method: str = "argmax", **parameters: Any
) -> Matrix:
    """Matrix (G, G) made from a policy by one of `PURIFIERS`, with its parameters."""
    if not isinstance(method, str) or method not in PURIFIERS:
        raise ValueError(refusal("method", method, ", ".join(PURIFIERS), PURIFIERS))
    return purified(method, PURIFIERS[method](**parameters), game, strategy)
