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
        Sides that `sides` may return, beside those of ordinary dice and of extra turns.

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

    start = "no", 0, 0  # whether the dice are exchanged; Pig Outs of the mover and of the opponent
    text = "dice exchanged, Pig Outs in a row of the mover and of the other"

    def update(self, value: Any, dice: int, points: int, again: bool) -> Hashable:
        """Return the value after a turn, from the side of the next player to move."""
        exchanged, own, opponent = value
        exchanged = super().update(exchanged, dice, points, again)
        is_pig_out = dice > 0 and points == 1
        own = min(own + 1, 3) if is_pig_out else 0
        return (exchanged, own, opponent) if again else (exchanged, opponent, own)

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
        is_perfect = any(points == root**power for power in (2, 3) for root in range(2, points))
        return {"no": "yes", "yes": "no"}[value] if is_perfect else value

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
"""Words that titles do not capitalise."""


def title(name: str) -> str:
    """Name a part for people: ``sus_fuss`` is Sus Fuss, with 3 if that is its parameter.

    `name` may also be the text of a setting, which may have a title, or of landings with + between.
    """
    own_title = own_words(name, TITLE)
    if own_title is not None:
        return own_title
    words = IN_ORDER.join(base_names(name)).replace(IN_ORDER, "_and_").split("_")
    capitalised = [word if word in _SMALL else f"{word[:1].upper()}{word[1:]}" for word in words]
    return f"{' '.join(capitalised)} {changes(name)}".rstrip()


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
        """Check a function, or for "memory" a class, and enter it under its name."""
        part = getattr(function, "__name__", "") if name is None else name
        what = f"{kind} part"
        where = f"{what} {part}"
        if kind == MEMORY:
            enter(MEMORY_PARTS, what, part, _make_memory_part(function, where))
        elif kind == EFFECT:
            _require_function(function, where, ("rules", "score", "opponent", "memory", "dice"))
            enter(EFFECTS, what, part, function)
        else:
            _require_function(function, where, ("score", "opponent"))
            enter(PARTS[kind], what, part, _with_checked_result(function, part, kind))
        return function

    return decorate


def _make_memory_part(part_class: object, where: str) -> MemoryPart:
    """Check a subclass of `MemoryPart`, and make its one instance; `where` begins messages.

    A public method that `MemoryPart` lacks is refused: it may be a misspelt one.
    """
    if not isinstance(part_class, type) or not issubclass(part_class, MemoryPart):
        got = f"{where}: got {shown(part_class)}"
        raise TypeError(f"{got}; allowed: a subclass of hogeq.MemoryPart")
    if not part_class.__doc__ or not part_class.text:
        lacking = "text" if part_class.__doc__ else "docstring"
        raise HogeqError(f"{where}: no {lacking}; both explain it to people")
    methods = [
        name
        for name, value in vars(MemoryPart).items()
        if callable(value) and not name.startswith("_")
    ]
    for name in dir(part_class):
        is_known = name.startswith("_") or name in methods
        if not is_known and callable(getattr(part_class, name)):
            allowed = f"{', '.join(methods)}, and names that begin with _"
            raise HogeqError(
                f"{where}: unknown method {one_line(name)}; allowed: {allowed}"
                f"{nearest(name, methods)}"
            )
    return part_class()


def _require_function(function: object, where: str, parameters: Sequence[str]) -> None:
    """Refuse what is no function of so many parameters, or has no docstring."""
    try:
        signature(function).bind(*parameters)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        got = f"{where}: got {shown(function)}"
        raise HogeqError(f"{got}; allowed: a function of ({', '.join(parameters)})") from error
    if not getdoc(function):
        raise HogeqError(f"{where}: no docstring; its first line is what people are shown")


def asked(call: Callable[[], str], function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a user's function; an exception becomes a `HogeqError` of one line.

    `call` returns the text of the call, with which the message begins.
    """
    try:
        return function(*arguments)
    except Exception as error:
        raise HogeqError(f"{call()}: {type(error).__name__}: {one_line(error)}") from error


def _with_checked_result(function: Callable[..., Any], name: str, kind: str) -> Callable[..., int]:
    """Wrap a user's part of two scores so that a result not allowed for its kind is refused.

    The wrapper has the part's name and the text that people are shown, its docstring.
    """
    most = SHAPES[kind].most  # 1: the part answers True or False
    allowed = "True or False" if most == 1 else f"whole numbers from 0 to {most}"

    @wraps(function)
    def part(score: int, opponent: int, **settings: Value) -> int:
        # Call the user's function with its parameters, and check the answer.
        def call() -> str:
            return f"{kind}: {name} at score, opponent = {score}, {opponent}"

        answer = asked(call, partial(function, **settings), score, opponent)
        result = -1  # no result of a part: stays so if the answer is of a wrong type
        if most > 1:
            with suppress(TypeError):
                result = operator.index(answer)
        elif isinstance(answer, Hashable) and answer in (0, 1):
            result = bool(answer)
        if not 0 <= result <= most:
            raise HogeqError(refusal(call(), answer, allowed))
        return result

    part.__name__ = name
    explain(part, getdoc(function) or name)
    return part
