"""How rule parts and editions are added from outside the package."""

import operator
from collections.abc import Callable, Hashable
from contextlib import suppress
from functools import wraps
from inspect import getdoc, signature
from typing import Any, Final, TypeVar

from hogeq.rules.edition import ALIASES, EDITIONS
from hogeq.rules.memory import remembered
from hogeq.rules.memory_part import MEMORY_PARTS, MemoryPart
from hogeq.rules.parts import LANDINGS, MORE_BOAR, SWAPS, ZERO_DICE
from hogeq.rules.rules import Rules
from hogeq.rules.tables import SHAPES
from hogeq.support.messages import nearest, one_line, refusal, shown
from hogeq.support.plugins import enter

Function = TypeVar("Function", bound=Callable[..., Any])


PARTS: Final = {parts.field: parts for parts in (ZERO_DICE, LANDINGS, SWAPS, MORE_BOAR)}
"""Parts that are functions of the mover's score and the opponent's, by the field of `Rules`."""

MEMORY: Final = "memory"
"""The kind of part that remembers something between turns."""


def rule_part(kind: str, name: str | None = None) -> Callable[[Function], Function]:
    """Make a function a part that rules can name.

    Parameters
    ----------
    kind : {"zero_dice", "landing", "swap", "more_boar", "memory"}
        The field of `Rules` that may name it.
    name : str, optional
        Its name there; by default that of the function or class.

    Returns
    -------
    decorator
        For a pure function of whole scores, which may exceed the goal; of the kind "memory", for a
        subclass of `hogeq.MemoryPart`. The first line of its docstring is what people are shown.

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
    if kind not in {*PARTS, MEMORY}:
        known = [*PARTS, MEMORY]
        raise ValueError(refusal("rule_part", kind, ", ".join(known), known))

    def decorate(function: Function) -> Function:
        part = getattr(function, "__name__", "") if name is None else name
        what = f"{kind} part"
        if kind == MEMORY:
            enter(MEMORY_PARTS, what, part, _memory_part(function, f"{what} {part}"))
            return function
        _require_function(function, f"{what} {part}")
        enter(PARTS[kind], what, part, _checked(function, part, kind))
        return function

    return decorate


def _memory_part(kind: object, where: str) -> MemoryPart:
    if not isinstance(kind, type) or not issubclass(kind, MemoryPart):
        given = f"{where}: got {shown(kind)}"
        raise TypeError(f"{given}; allowed: a subclass of hogeq.MemoryPart")
    if not kind.__doc__ or not kind.text:
        lacking = "text" if kind.__doc__ else "docstring"
        raise ValueError(f"{where}: no {lacking}; both explain it to people")
    methods = [
        name
        for name, value in vars(MemoryPart).items()
        if callable(value) and not name.startswith("_")
    ]
    for name in dir(kind):
        if not name.startswith("_") and name not in methods and callable(getattr(kind, name)):
            allowed = f"{', '.join(methods)}, and names that begin with _"
            raise ValueError(
                f"{where}: unknown method {one_line(name)}; allowed: {allowed}"
                f"{nearest(name, methods)}"
            )
    return kind()


def _require_function(function: object, where: str) -> None:
    fits = callable(function)
    if fits:
        try:
            signature(function).bind(0, 0)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            fits = False
    if not fits:
        raise ValueError(
            f"{where}: got {shown(function)}; allowed: a function of (score, opponent)"
        )
    if not getdoc(function):
        raise ValueError(f"{where}: no docstring; its first line is what people are shown")


def _checked(function: Callable[..., Any], name: str, kind: str) -> Callable[..., int]:
    """Refuse a result that is none of a part of this kind, in one line."""
    most = SHAPES[kind].most
    allowed = "True or False" if most == 1 else f"whole numbers from 0 to {most}"

    @wraps(function)
    def part(score: int, opponent: int) -> int:
        where = f"{kind}: {name} at score, opponent = {score}, {opponent}"
        try:
            given = function(score, opponent)
        except Exception as error:
            raise ValueError(f"{where}: {type(error).__name__}: {one_line(error)}") from error
        result = -1
        if most > 1:
            with suppress(TypeError):
                result = operator.index(given)
        elif isinstance(given, Hashable) and given in (0, 1):
            result = bool(given)
        if not 0 <= result <= most:
            raise ValueError(refusal(where, given, allowed))
        return result

    part.__name__, part.__doc__ = name, getdoc(function)
    return part


def edition(rules: Rules) -> Rules:
    """Enter rules among the editions, under their name.

    Parameters
    ----------
    rules : Rules

    Returns
    -------
    Rules
        The same.

    Raises
    ------
    TypeError
        These are no rules.
    ValueError
        There is an edition of that name, or another name of one.

    Examples
    --------
    >>> import hogeq
    >>> changes = {"edition": "su20", "name": "tiny", "goal": 20, "max_dice": 4}
    >>> _ = hogeq.edition(hogeq.rules_from(changes))
    >>> hogeq.rules_from("tiny").goal
    20
    """
    if not isinstance(rules, Rules):
        raise TypeError(refusal("edition", rules, "Rules, as hogeq.rules_from gives them"))
    if rules.name in ALIASES:
        raise ValueError(f"edition {rules.name}: name is taken by {ALIASES[rules.name]}")
    remembered(rules)  # refuses a faulty memory part
    enter(EDITIONS, "edition", rules.name, rules)
    return rules
