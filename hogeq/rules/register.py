"""How rule parts are added: `MemoryPart`, of parts that remember, and `rule_part`, of all kinds."""

import operator
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from functools import partial, wraps
from inspect import getdoc, signature
from typing import Any, ClassVar, Final, TypeVar

from hogeq.rules.parts import LANDINGS, MORE_BOAR, SWAPS, ZERO_DICE
from hogeq.rules.settings import TITLE, Value, base_names, changes, explain, own_words
from hogeq.rules.tables import IN_ORDER, SHAPES
from hogeq.support.messages import HogeqError, nearest, one_line, refusal, shown
from hogeq.support.plugins import enter

Function = TypeVar("Function", bound=Callable[..., Any])


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
    ...     def effect(self, rules, score, opponent, memory, dice):
    ...         return 1 if dice == memory[0] else 0
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

    def effect(
        self, rules: Any, score: int, opponent: int, memory: Any, dice: int
    ) -> int | tuple[int, bool]:
        """Return the mover's extra points for rolling so many dice.

        Parameters
        ----------
        rules : Rules
            The game; of two goals it has the higher one.
        score, opponent : int
            Scores at the start of the turn, the mover's and the other's.
        memory : hashable
            Value of the part `Rules.memory`; None without one.
        dice : int
            Dice rolled; -1 for that choice.

        Returns
        -------
        int or (int, bool)
            The points; or these, and whether the roll earns an extra turn.
        """
        del rules, score, opponent, memory, dice
        return 0

    def sides(self, value: Any, sides: int) -> int:
        """Return the sides of the mover's dice, which would have `sides` without this part."""
        del value
        return sides

    def scored(self, value: Any, dice: int, points: int) -> int:
        """Return the points of a turn, never fewer than the `points` that `update` is given."""
        del value, dice
        return points

    def shown(self, value: Any) -> str:
        """Write a value for people."""
        return "none" if value is None else str(value)


class HamHijinks(MemoryPart):
    """Choosing -1 scores 1 point and exchanges four- and six-sided dice until it is chosen again.

    Source: the course's fall 2013 contest [6].
    """

    start: ClassVar[Hashable] = "no"
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


class PigFest(HamHijinks):
    """Choosing -1 is as in Ham Hijinks; points count times the mover's Pig Outs in a row, to 3.

    A Pig Out's do not. Source: the course's summer 2015 contest [6].
    """

    start = "no", 0, 0  # whether the dice are exchanged; Pig Outs of the mover and of the other
    text = "dice exchanged, Pig Outs in a row of the mover and of the other"

    def update(self, value: Any, dice: int, points: int, again: bool) -> Hashable:
        """Return the value after a turn."""
        exchanged, own, other = value
        exchanged = super().update(exchanged, dice, points, again)
        own = min(own + 1, 3) if dice > 0 and points == 1 else 0
        return (exchanged, own, other) if again else (exchanged, other, own)

    def sides(self, value: Any, sides: int) -> int:
        """Return the sides of the mover's dice."""
        return super().sides(value[0], sides)

    def scored(self, value: Any, dice: int, points: int) -> int:
        """Return the points of a turn."""
        return points if dice > 0 and points == 1 else points * max(1, value[1])

    def shown(self, value: Any) -> str:
        """Write a value for people."""
        return "{}, {}, {}".format(*value)


class PerfectPiggy(MemoryPart):
    """Points that are a square or a cube, but not 1, bring four-sided dice in, and out again.

    Source: the course's summer 2017 edition [6].
    """

    start = "no"
    text = "four-sided dice"
    more_sides = (4,)

    def update(self, value: Any, dice: int, points: int, again: bool) -> Hashable:
        """Return whether the dice are four-sided after a turn."""
        del dice, again
        perfect = any(points == root**power for power in (2, 3) for root in range(2, points))
        return {"no": "yes", "yes": "no"}[value] if perfect else value

    def sides(self, value: Any, sides: int) -> int:
        """Return the sides of the mover's dice."""
        return 4 if value == "yes" else sides


MEMORY_PARTS: Final[dict[str, MemoryPart]] = {
    "none": MemoryPart(),
    "ham_hijinks": HamHijinks(),
    "pig_fest": PigFest(),
    "perfect_piggy": PerfectPiggy(),
}
"""Memories beside those of Feral Hogs and Time Trot, by name; "none" remembers nothing."""

_SMALL: Final = frozenset(("and", "by", "in", "of", "on", "or", "the", "to"))


def title(name: str) -> str:
    """Name a part for people: ``sus_fuss`` is Sus Fuss, with 3 if that is its parameter."""
    own = own_words(name, TITLE)
    if own is not None:
        return own
    words = IN_ORDER.join(base_names(name)).replace(IN_ORDER, "_and_").split("_")
    usual = " ".join(word if word in _SMALL else f"{word[:1].upper()}{word[1:]}" for word in words)
    return f"{usual} {changes(name)}".rstrip()


PARTS: Final = {parts.field: parts for parts in (ZERO_DICE, LANDINGS, SWAPS, MORE_BOAR)}
"""Parts that are functions of the mover's score and the opponent's, by the field of `Rules`."""

EFFECTS: Final[dict[str, Callable[..., Any]]] = {"none": MEMORY_PARTS["none"].effect}
"""Functions that add points or extra turns, with the signature of `MemoryPart.effect`, by name."""

MEMORY: Final = "memory"  # the kind of part that remembers something between turns

EFFECT: Final = "effect"  # the kind of part that is a function of all that a turn begins with


def rule_part(kind: str, name: str | None = None) -> Callable[[Function], Function]:
    """Make a function a part that rules can name.

    Parameters
    ----------
    kind : {"zero_dice", "landing", "swap", "more_boar", "effect", "memory"}
        The field of `Rules` that may name it.
    name : str, optional
        Its name there; by default that of the function or class.

    Returns
    -------
    decorator
        For a pure function of whole scores, which may exceed the goal; of the kind "effect", of
        (rules, score, opponent, memory, dice), as `hogeq.MemoryPart.effect` is; of the kind
        "memory", for a subclass of `hogeq.MemoryPart`. The first line of its docstring is what
        people are shown.

    Raises
    ------
    ValueError
        There is no such kind; or, when the function is decorated: its name is taken, or it is no
        function of such scores. A part that raises or gives anything else than what is allowed is
        refused when a game is compiled.

    Examples
    --------
    >>> import hogeq
    >>> @hogeq.rule_part("swap")
    ... def same_last_digit(score, opponent):
    ...     "The last digits of both scores are the same."
    ...     return score % 10 == opponent % 10
    >>> hogeq.Rules(swap="same_last_digit").swap
    'same_last_digit'
    """
    known = [*PARTS, EFFECT, MEMORY]
    if kind not in known:
        raise HogeqError(refusal("rule_part", kind, ", ".join(known), known))

    def decorate(function: Function) -> Function:
        part = getattr(function, "__name__", "") if name is None else name
        what = f"{kind} part"
        if kind == MEMORY:
            enter(MEMORY_PARTS, what, part, _memory_part(function, f"{what} {part}"))
            return function
        names = ("rules", "score", "opponent", "memory", "dice")
        _require_function(function, f"{what} {part}", names if kind == EFFECT else names[1:3])
        if kind == EFFECT:
            enter(EFFECTS, what, part, function)
        else:
            enter(PARTS[kind], what, part, _checked(function, part, kind))
        return function

    return decorate


def _memory_part(kind: object, where: str) -> MemoryPart:
    if not isinstance(kind, type) or not issubclass(kind, MemoryPart):
        given = f"{where}: got {shown(kind)}"
        raise TypeError(f"{given}; allowed: a subclass of hogeq.MemoryPart")
    if not kind.__doc__ or not kind.text:
        lacking = "text" if kind.__doc__ else "docstring"
        raise HogeqError(f"{where}: no {lacking}; both explain it to people")
    methods = [
        name
        for name, value in vars(MemoryPart).items()
        if callable(value) and not name.startswith("_")
    ]
    for name in dir(kind):
        if not name.startswith("_") and name not in methods and callable(getattr(kind, name)):
            allowed = f"{', '.join(methods)}, and names that begin with _"
            raise HogeqError(
                f"{where}: unknown method {one_line(name)}; allowed: {allowed}"
                f"{nearest(name, methods)}"
            )
    return kind()


def _require_function(function: object, where: str, names: Sequence[str]) -> None:
    try:
        signature(function).bind(*names)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        given = f"{where}: got {shown(function)}"
        raise HogeqError(f"{given}; allowed: a function of ({', '.join(names)})") from error
    if not getdoc(function):
        raise HogeqError(f"{where}: no docstring; its first line is what people are shown")


def asked(call: Callable[[], str], function: Callable[..., Any], *given: Any) -> Any:
    """Ask a function of somebody's; an error that it raises is one line, after the call's text."""
    try:
        return function(*given)
    except Exception as error:
        raise HogeqError(f"{call()}: {type(error).__name__}: {one_line(error)}") from error


def _checked(function: Callable[..., Any], name: str, kind: str) -> Callable[..., int]:
    """Refuse a result that is none of a part of this kind, in one line."""
    most = SHAPES[kind].most
    allowed = "True or False" if most == 1 else f"whole numbers from 0 to {most}"

    @wraps(function)
    def part(score: int, opponent: int, **settings: Value) -> int:
        def call() -> str:
            return f"{kind}: {name} at score, opponent = {score}, {opponent}"

        given, result = asked(call, partial(function, **settings), score, opponent), -1
        if most > 1:
            with suppress(TypeError):
                result = operator.index(given)
        elif isinstance(given, Hashable) and given in (0, 1):
            result = bool(given)
        if not 0 <= result <= most:
            raise HogeqError(refusal(call(), given, allowed))
        return result

    part.__name__ = name
    explain(part, getdoc(function) or name)
    return part
