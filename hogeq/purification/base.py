"""Base class of purifiers, and the registry of purifiers by name."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Final, TypeVar

from numpy.typing import ArrayLike

from hogeq.model.game import Game
from hogeq.support.aliases import Matrix
from hogeq.support.registry import entering

Kind = TypeVar("Kind", bound="type[Purifier]")

PURIFIERS: Final[dict[str, type["Purifier"]]] = {}
"""Purifiers by name, as in a config; help and messages list them in this order."""


def purifier(name: str) -> Callable[[Kind], Kind]:
    """Class decorator that registers a purifier.

    Parameters
    ----------
    name : str
        Name of the purifier in a config.

    Raises
    ------
    ValueError
        When the class is decorated: another purifier has that name, or the class lacks a method of
        `Purifier` or the decorator `parameters`.

    Examples
    --------
    >>> import hogeq
    >>> import numpy as np
    >>> from hogeq.purification import Purifier
    >>> from hogeq.support.parameters import parameters
    >>> @hogeq.purifier("fewest_dice")
    ... @parameters
    ... class FewestDice(Purifier):
    ...     "The fewest dice that the policy ever rolls there."
    ...
    ...     def matrix(self, game, policy):
    ...         return np.argmax(np.asarray(policy) > 0, axis=-1).astype(np.int8)
    >>> rules = hogeq.rules_from({"edition": "fa22", "goal": 10, "max_dice": 2})
    >>> game = hogeq.compile_game(rules)
    >>> int(hogeq.purify(game, np.full(game.shape, 1 / 3), "fewest_dice").max())
    0
    """
    return entering(PURIFIERS, "purifier", name, Purifier)


class Purifier(ABC):
    """A method that makes a policy into a matrix that can be submitted.

    A purifier is a frozen dataclass of its parameters (`hogeq.support.parameters.parameters`) and
    holds nothing else. Random draws depend on nothing but a seed among the parameters: the same
    policy gives the same matrix. How many threads compute is chosen around it
    (`hogeq.support.workers.workers`) and does not change the result.
    """

    def __init__(self, **parameters: Any) -> None:  # noqa: B027 - for type checkers
        """Take the parameters by name; the decorator `parameters` replaces this method."""

    @abstractmethod
    def matrix(self, game: Game, policy: ArrayLike) -> Matrix:
        """Matrix (G, G) made from a policy (G, G, K), or from another matrix (G, G).

        Raises
        ------
        ValueError
            If the policy is malformed.
        """
