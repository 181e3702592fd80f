"""Numbers that mean something: parameters are refused in one line that says what is allowed."""

import math
from typing import TypedDict, Unpack


class Limits(TypedDict, total=False):
    """What a number may be, besides finite; a limit that is not given does not exist."""

    whole: bool
    """An int, not a float without fraction, nor a bool."""
    least: float
    """Lower limit, itself allowed."""
    above: float
    """Lower limit, itself not allowed."""
    most: float
    """Upper limit, itself allowed."""
    below: float
    """Upper limit, itself not allowed."""


def check(given: object, *names: str, **limits: Unpack[Limits]) -> None:
    """Refuse attributes as :func:`check_number` does.

    Parameters
    ----------
    given : object
        Whose attributes are checked.
    *names : str
        Attributes that share the limits.
    **limits
        See :class:`Limits`.

    Raises
    ------
    ValueError
        With the name, the value and what is allowed.
    """
    for name in names:
        check_number(name, getattr(given, name), **limits)


def check_number(name: str, value: float, **limits: Unpack[Limits]) -> None:
    """Refuse a number outside its limits, and what is no number or without end.

    Parameters
    ----------
    name : str
        What the message calls it.
    value : float
    **limits
        See :class:`Limits`.

    Raises
    ------
    ValueError
        With the name, the value and what is allowed.
    """
    inside = (
        (type(value) is int if limits.get("whole") else math.isfinite(value))
        and value >= limits.get("least", -math.inf)
        and value > limits.get("above", -math.inf)
        and value <= limits.get("most", math.inf)
        and value < limits.get("below", math.inf)
    )
    if not inside:
        raise ValueError(f"{name}: {value!r}, allowed are {_said(limits)}")


def _said(limits: Limits) -> str:
    if "least" in limits and "most" in limits:
        return f"{limits['least']:g} to {limits['most']:g}"
    words = (
        ("from", limits.get("least")),
        ("above", limits.get("above")),
        ("up to", limits.get("most")),
        ("below", limits.get("below")),
    )
    said = [f"{word} {limit:g}" for word, limit in words if limit is not None]
    return " ".join(["whole numbers" if limits.get("whole") else "numbers", *said])
