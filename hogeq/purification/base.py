"""What every purifier is, and the registry by which purifiers are named."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Final, TypeVar

from numpy.typing import ArrayLike

from hogeq.model.game import Game
from hogeq.support.aliases import Matrix

Kind = TypeVar("Kind", bound="type[Purifier]")

PURIFIERS: Final[dict[str, type["Purifier"]]] = {}
"""Purifiers by the names that a config gives them, in the order in which they are listed."""


def purifier(name: str) -> Callable[[Kind], Kind]:
    """Register a class of purifiers.

    Parameters
    ----------
    name : str
        What a config calls it.

    Raises
    ------
    ValueError
        By the decorator: another purifier has that name.
    """

    def register(kind: Kind) -> Kind:
        if name in PURIFIERS:
            raise ValueError(f"purifier {name}: name is taken by {PURIFIERS[name].__name__}")
        PURIFIERS[name] = kind
        return kind

    return register


class Purifier(ABC):
    """A way from a policy to a matrix that can be submitted.

    A purifier is a frozen dataclass of parameters (`hogeq.support.parameters.parameters`). Random
    draws come from a seed among them. How many threads compute is chosen around it
    (`hogeq.support.workers`), and the result does not depend on it.
    """

    def __init__(self, **parameters: Any) -> None:  # noqa: B027 - for type checkers
        """Take the parameters by name; the decorator `parameters` makes the real one."""

    @abstractmethod
    def matrix(self, game: Game, policy: ArrayLike) -> Matrix:
        """Matrix (G, G) made of a policy (G, G, K), or of another matrix (G, G).

        Raises
        ------
        ValueError
            If the policy is malformed.
        """
