"""Names of information sets and actions that are the same text in every process.

Rows of a strategy are in the order of the texts of what players know, and files name actions by
their texts. Python writes a set in an order that hangs on random hashes, and an object without a
text of its own by its address.
"""

from collections.abc import Hashable, Iterable
from typing import Any

from hogeq.support.messages import HogeqError, one_line


class NoLastingNameError(HogeqError):
    """Refusal of an object whose text is another one in each process; the reason alone."""


class SortedSet(frozenset[Any]):
    """A frozen set that is written in the order of its elements' texts."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Write it as Python does, but for the order."""
        return f"frozenset({{{', '.join(sorted(map(repr, self)))}}})" if self else "frozenset()"


def lasting_name(name: Any) -> Hashable:
    """Return an equal object whose text is the same in every process.

    Frozen sets, also in tuples of any depth, are written in a fixed order. `NoLastingNameError` if
    the object has no text but its address.

    Examples
    --------
    >>> str(lasting_name(("hand", frozenset({"ace", "queen", "king"}))))
    "('hand', frozenset({'ace', 'king', 'queen'}))"
    """
    kind: Any = type(name)
    if kind is frozenset:
        return SortedSet(map(lasting_name, name))
    if kind is tuple:
        return tuple(map(lasting_name, name))
    if kind.__repr__ is object.__repr__ and kind.__str__ is object.__str__:
        raise NoLastingNameError(
            f"{one_line(kind.__name__)}: names an information set or an action, but has no text of "
            "its own; allowed: texts, numbers, tuples and frozen sets, or classes with __repr__"
        )
    str(name)  # an error of its own is to come here, where messages know the history
    hashable: Hashable = name
    return hashable


def in_lasting_order(names: Iterable[Hashable]) -> Iterable[Hashable]:
    """Sort the names of a set by their texts, as it has no lasting order; leave others as given."""
    if isinstance(names, set | frozenset):
        return sorted(names, key=lambda name: str(lasting_name(name)))
    return names


def number_of(name: Hashable, numbers: dict[Hashable, int]) -> int:
    """Return the number of a name; a new name gets the next one, and a lasting text as its key."""
    number = numbers.get(name)
    if number is None:
        number = numbers[lasting_name(name)] = len(numbers)
    return number
