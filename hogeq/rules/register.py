"""How rule parts and editions are added from outside the package."""

import operator
from collections.abc import Callable, Hashable, MutableMapping
from functools import wraps
from inspect import getdoc, signature
from typing import Any, Final, NamedTuple, TypeVar

from hogeq.rules.edition import ALIASES, EDITIONS
from hogeq.rules.memory_part import MEMORY_PARTS, MemoryPart
from hogeq.rules.parts import LANDINGS, MORE_BOAR, SWAPS, ZERO_DICE
from hogeq.rules.remembered import remembered
from hogeq.rules.rules import Rules
from hogeq.rules.tables import HIGHEST, MOST_POINTS
from hogeq.support.messages import nearest, one_line, refusal, shown
from hogeq.support.registry import enter

Function = TypeVar("Function", bound=Callable[..., Any])


class Kind(NamedTuple):
    """A kind of part."""

    registry: MutableMapping[str, Any]
    arguments: str
    """What its functions are called with."""
    result: Callable[[object], int | None]
    """The result of a part as it is used; None if it is none."""
    allowed: str


def _whole(given: object, most: int) -> int | None:
    try:
        number = operator.index(given)  # type: ignore[arg-type]
    except TypeError:
        return None
    return number if 0 <= number <= most else None


def _points(given: object) -> int | None:
    return _whole(given, MOST_POINTS)


def _score(given: object) -> int | None:
    return _whole(given, HIGHEST)


def _truth(given: object) -> bool | None:
    return bool(given) if isinstance(given, Hashable) and given in (0, 1) else None


KINDS: Final[dict[str, Kind]] = {
    "zero_dice": Kind(
        ZERO_DICE, "score, opponent", _points, f"whole numbers from 0 to {MOST_POINTS}"
    ),
    "landing": Kind(LANDINGS, "score, opponent", _score, f"whole numbers from 0 to {HIGHEST}"),
    "swap": Kind(SWAPS, "score, opponent", _truth, "True or False"),
    "more_boar": Kind(MORE_BOAR, "score, opponent", _truth, "True or False"),
}
"""The kinds of part that are functions of scores, by the fields of `Rules` that name them."""

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
    if kind not in {*KINDS, MEMORY}:
        known = [*KINDS, MEMORY]
        raise ValueError(refusal("rule_part", kind, ", ".join(known), known))

    def decorate(function: Function) -> Function:
        part = getattr(function, "__name__", "") if name is None else name
        what = f"{kind} part"
        if kind == MEMORY:
            enter(MEMORY_PARTS, what, part, _memory_part(function, f"{what} {part}"))
            return function
        family = KINDS[kind]
        _require_function(function, f"{what} {part}", family.arguments)
        enter(family.registry, what, part, _checked(function, part, f"{kind}: {part}", family))
        return function

    return decorate


def _memory_part(kind: object, where: str) -> MemoryPart:
    if not isinstance(kind, type) or not issubclass(kind, MemoryPart):
        given = f"{where}: got {shown(kind)}"
        raise TypeError(f"{given}; allowed: a subclass of hogeq.MemoryPart")
    if not kind.__doc__ or not kind.text:
        lacking = "text" if kind.__doc__ else "docstring"
        raise ValueError(f"{where}: no {lacking}; both say to people what it is about")
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


def _require_function(function: object, where: str, arguments: str) -> None:
    fits = callable(function)
    if fits:
        try:
            signature(function).bind(*arguments.split(", "))  # type: ignore[arg-type]
        except (TypeError, ValueError):
            fits = False
    if not fits:
        raise ValueError(f"{where}: got {shown(function)}; allowed: a function of ({arguments})")
    if not getdoc(function):
        raise ValueError(f"{where}: no docstring; its first line is what people are shown")


def _checked(function: Callable[..., Any], name: str, where: str, kind: Kind) -> Callable[..., int]:
    """Refuse what is no result of a part of this kind, in one line."""

    @wraps(function)
    def part(*scores: int) -> int:
        at = f"{where} at {kind.arguments} = {', '.join(map(str, scores))}"
        try:
            given = function(*scores)
        except Exception as error:
            raise ValueError(f"{at}: {type(error).__name__}: {one_line(error)}") from error
        result = kind.result(given)
        if result is None:
            raise ValueError(refusal(at, given, kind.allowed))
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
    if rules.memory != "none":
        remembered(rules)  # refuses what is wrong with it
    enter(EDITIONS, "edition", rules.name, rules)
    return rules
