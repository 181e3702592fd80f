"""Parts of the rules that remember something between turns: what each of them declares."""

from collections.abc import Hashable
from typing import Any, ClassVar, Final


class MemoryPart:
    """Base of a part of the rules that remembers something between turns.

    A subclass says what is remembered, by which values, and what it does. Everything else follows:
    values are found by trying what turns can do, beginning with `start`, and all that computes
    reads them from tables. All methods are pure. The first line of the subclass's docstring says
    the rule to people.

    A value is seen from the side of the player to move. `update` gives that of whoever moves next,
    so what belongs to the mover alone is kept as a pair, and the pair turned round.

    Attributes
    ----------
    start : hashable
        What is remembered before the first turn.
    text : str
        What is remembered, for people: ``"opponent's last dice"``.

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

    def update(self, value: Any, dice: int, points: int, again: bool) -> Hashable:
        """Give what is remembered after a turn.

        Parameters
        ----------
        value : hashable
            What was remembered before it.
        dice : int
            Dice rolled.
        points : int
            Points of the dice, or for rolling none, without any bonus.
        again : bool
            Whether the same player moves again.

        Returns
        -------
        hashable
            Of whoever moves next. All turns together lead to few values.
        """
        del value, dice, points, again
        return self.start

    def bonus(self, value: Any, dice: int) -> int:
        """Give more points for the mover, if so many dice are rolled."""
        del value, dice
        return 0

    def again(self, value: Any, dice: int) -> bool:
        """Tell whether rolling so many dice earns an extra turn, wherever it lands."""
        del value, dice
        return False

    def shown(self, value: Any) -> str:
        """Write a value for people."""
        return "none" if value is None else str(value)


MEMORY_PARTS: Final[dict[str, MemoryPart]] = {"none": MemoryPart()}
"""What rules may remember besides Feral Hogs and Time Trot; "none" remembers nothing."""

_SMALL: Final = frozenset(("by", "in", "of", "on", "or", "the", "to"))


def title(name: str) -> str:
    """Name a part for people: ``sus_fuss`` is Sus Fuss."""
    words = name.split("_")
    return " ".join(word if word in _SMALL else f"{word[:1].upper()}{word[1:]}" for word in words)
