"""Numbers that mean something: parameters are refused in one line that says what is allowed."""

import math


def check(
    given: object,
    *names: str,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    below: float | None = None,
) -> None:
    """Refuse attributes outside their limits, and those that are no number or without end.

    Parameters
    ----------
    given : object
        Whose attributes are checked.
    *names : str
        Attributes that share the limits.
    least, above : float, optional
        Lower limit, itself allowed or not.
    most, below : float, optional
        Upper limit, itself allowed or not.

    Raises
    ------
    ValueError
        With the name, the value and what is allowed.
    """
    for name in names:
        value = getattr(given, name)
        inside = (
            math.isfinite(value)
            and (least is None or value >= least)
            and (above is None or value > above)
            and (most is None or value <= most)
            and (below is None or value < below)
        )
        if not inside:
            limits = (("from", least), ("above", above), ("up to", most), ("below", below))
            said = " ".join(f"{word} {limit:g}" for word, limit in limits if limit is not None)
            raise ValueError(f"{name}: {value!r}, allowed are numbers {said}")
