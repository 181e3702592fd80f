"""Parts of the rules that remember something between turns: what each of them declares."""

from collections.abc import Hashable
from typing import Any, ClassVar, Final


class MemoryPart:
    """Base of a part of the rules that remembers something between turns.

    A subclass defines the values of the memory and their effects. hogeq finds all values by trying
    every turn, beginning with `start`, and then computes with tables of them. All methods are pure.
    The first line of the subclass's docstring describes the rule to people.

    A value is seen from the side of the player to move. `update` returns the value of the next
    player to move. So a value that belongs to one player is stored in a pair, and `update` swaps
    the pair.

    Attributes
    ----------
    start : hashable
        Value before the first turn.
    text : str
        Name of the memory for people: ``"opponent's last dice"``.
    minus_one : int or None
        Points of the choice -1, at least 1; None if there is no such choice.
    more_sides : tuple of int
        Sides that `sides` may give, beside those of the usual dice and of extra turns.

    Examples
    --------
    >>> import hogeq
    >>> @hogeq.rule_part("memory")
    ... class Stubborn(hogeq.MemoryPart):
    ...     "1 more point for rolling as many dice as at the player's own last turn."
    ...
    ...     start = None, None  # of the mover, of the other
    ...     text = "last dice of the mover and of the other"
    ...
    ...     def update(self, value, dice, points, again):
    ...         return (dice, value[1]) if again else (value[1], dice)
    ...
    ...     def bonus(self, value, dice):
    ...         return 1 if dice == value[0] else 0
    >>> rules = hogeq.Rules(name="stubborn", goal=10, max_dice=2, memory="Stubborn")
    >>> len(hogeq.Game(rules).memories)
    13
    """

    start: ClassVar[Hashable] = None
    text: ClassVar[str] = ""
    minus_one: ClassVar[int | None] = None
    more_sides: ClassVar[tuple[int, ...]] = ()

    def update(self, value: Any, dice: int, points: int, again: bool) -> Hashable:
        """Return the value after a turn.

        Parameters
        ----------
        value : hashable
            Value before it.
        dice : int
            Dice rolled; -1 for that choice.
        points : int
            Points of the dice, or for rolling none, without any bonus.
        again : bool
            Whether the same player moves again.

        Returns
        -------
        hashable
            Value of the next player to move. All turns together lead to few values.
        """
        del value, dice, points, again
        return self.start

    def bonus(self, value: Any, dice: int) -> int:
        """Return the mover's extra points for rolling so many dice."""
        del value, dice
        return 0

    def again(self, value: Any, dice: int) -> bool:
        """Return whether rolling so many dice earns an extra turn, at any scores."""
        del value, dice
        return False

    def sides(self, value: Any, sides: int) -> int:
        """Return the sides of the mover's dice, which would have `sides` without this part."""
        del value
        return sides

    def shown(self, value: Any) -> str:
        """Write a value for people."""
        return "none" if value is None else str(value)


class HamHijinks(MemoryPart):
    """Choosing -1 scores 1 point and exchanges four- and six-sided dice until it is chosen again.

    Source: the course's fall 2013 contest [6].
    """

    start = "no"
    text = "dice exchanged"
    minus_one = 1
    more_sides = (4, 6)

    def update(self, value: Any, dice: int, points: int, again: bool) -> Hashable:
        """Return whether the dice are exchanged after a turn."""
        del points, again
        return {"no": "yes", "yes": "no"}[value] if dice == -1 else value

    def sides(self, value: Any, sides: int) -> int:
        """Return the sides of the mover's dice."""
        return {4: 6, 6: 4}.get(sides, sides) if value == "yes" else sides


MEMORY_PARTS: Final[dict[str, MemoryPart]] = {"none": MemoryPart(), "ham_hijinks": HamHijinks()}
"""Memories beside those of Feral Hogs and Time Trot, by name; "none" remembers nothing."""

_SMALL: Final = frozenset(("by", "in", "of", "on", "or", "the", "to"))


def title(name: str) -> str:
    """Name a part for people: ``sus_fuss`` is Sus Fuss."""
    words = name.split("_")
    return " ".join(word if word in _SMALL else f"{word[:1].upper()}{word[1:]}" for word in words)
