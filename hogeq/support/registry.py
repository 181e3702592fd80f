"""Registries of classes by the names that users give them."""

from collections.abc import Callable, MutableMapping
from typing import Any, TypeVar

Registered = TypeVar("Registered", bound=type[Any])


def entering(
    registry: MutableMapping[str, Any], what: str, name: str
) -> Callable[[Registered], Registered]:
    """Class decorator that enters a class into a registry, under a name that is free.

    Parameters
    ----------
    registry : mutable mapping of str to type
    what : str
        What the classes are, for the message.
    name : str

    Raises
    ------
    ValueError
        When the class is decorated: another class has that name.
    """

    def enter(kind: Registered) -> Registered:
        if name in registry:
            raise ValueError(f"{what} {name}: name is taken by {registry[name].__name__}")
        registry[name] = kind
        return kind

    return enter
