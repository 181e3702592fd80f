"""Payoffs of two strategies, in the digits that hold."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from operator import add
from typing import Any, Final, NamedTuple

from hogeq.search.units import Units, above, agreed, below, is_plain
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats

Ends = tuple[Fraction, Fraction]

UNSEEN: Final = 1e-11  # error of a payoff that shows in no digit
ROUNDED: Final = 2.0**-40  # more than rounding moves a gain by, a share of the payoffs


def unseen(scale: float, payoff: float) -> float:
    """Give the error of a payoff that shows in no digit."""
    return UNSEEN if is_plain(scale) else UNSEEN * abs(payoff)


def written_between(units: "Units", lower: float, upper: float) -> str:
    """Write the number between two ends in the digits that hold; where these are fewer, both."""
    if units.are_one(lower, upper):
        return units.exact(lower)
    return units.gap(lower, upper)


class _Payoffs(NamedTuple):
    mean: float
    """Averaged over both seats."""
    first: float
    """In the first seat; in Hog, when it moves first."""
    second: float
    """In the second seat."""


class Value(_Payoffs):
    """Payoff to one strategy against another: `mean`, `first` and `second`."""

    find_ends: "Callable[[], Value] | None" = None
    """Finds ends where no digit that is written needed them."""

    @cached_property
    def ends(self) -> tuple[tuple[float, float], ...]:
        """What each of the three is at least and at most, whatever was rounded; of Hog none."""
        return () if self.find_ends is None else self.find_ends().ends

    def __getstate__(self) -> dict[str, Any]:
        """Leave behind what the ends are found by."""
        return {"ends": self.ends}

    @classmethod
    def between(
        cls, first: Ends, second: Ends, mean: Ends | None = None, found: Sequence[Fraction] = ()
    ) -> "Value":
        """Give what was `found` in both seats, or else the middle of ends; these round outward."""
        lower, upper = map(add, first, second)
        pairs = mean or (lower / 2, upper / 2), first, second
        numbers = [(least + most) / 2 for least, most in pairs]
        if found:
            numbers = [sum(found, Fraction()) / 2, *found]
        value = cls(*map(float, numbers))
        value.ends = tuple((below(least), above(most)) for least, most in pairs)
        return value

    def written(self, units: "Units") -> list[str]:
        """Write each number in the digits that hold; where these are fewer, both its ends."""
        return [written_between(units, *pair) for pair in self._pairs]

    def to_json(self, units: "Units") -> dict[str, Any]:
        """Return it as plain values in the digits that hold: ``payoff``, ``first``, ``second``.

        Where the command writes both ends of one, or they agree in no digit after the point, there
        are ``ends``, too: all three by these keys.
        """
        keys, pairs = ("payoff", "first", "second"), self._pairs
        numbers, are_one = [], all(units.are_one(*pair) for pair in pairs)
        for one, pair in zip(self, pairs, strict=True):
            lower, upper = agreed(*pair)
            numbers.append(min(max(one, lower), upper))
            are_one = are_one and lower == upper
        found: dict[str, Any] = dict(zip(keys, numbers, strict=True))
        if not are_one:
            found["ends"] = dict(zip(keys, map(list, pairs), strict=True))
        return found

    @property
    def _pairs(self) -> tuple[tuple[float, float], ...]:
        return self.ends or tuple((one, one) for one in self)


def mean_of(values: Sequence[Value], scale: float) -> tuple[float, tuple[float, float]]:
    """Average the means of values; and its ends, which are one if rounding shows in no digit."""
    mean = sum(value.mean for value in values) / len(values)
    off = max(unseen(scale, value.mean) for value in values)
    if off <= unseen(scale, mean) and all(value.find_ends is not None for value in values):
        return mean, (mean, mean)
    lower, upper = (
        sum(Fraction(value.ends[0][end]) for value in values) / len(values) for end in (0, 1)
    )
    return float((lower + upper) / 2), (below(lower), above(upper))


def gains_by_values(
    value: Callable[[Strategy, Strategy], Value],
    first: Strategy,
    rivals: Sequence[Strategy],
    changes: Mapping[int, Floats],
    gains: Floats,
    scale: float,
) -> dict[int, tuple[float, float]]:
    """Bound what changed rows of a policy gain, each alone, on average against rivals.

    Where rounding may show in the gains given, (R,), they are differences of two values.
    """
    found = {row: (float(gains[row]), float(gains[row])) for row in changes}
    _, before = mean_of([value(first, rival) for rival in rivals], scale)
    for row, changed in changes.items():
        if ROUNDED * scale > unseen(scale, gains[row]):
            policy = first.policy.copy()
            policy[row] = changed
            one = Strategy.unchecked(policy)
            _, after = mean_of([value(one, rival) for rival in rivals], scale)
            lower, upper = (Fraction(after[end]) - Fraction(before[1 - end]) for end in (0, 1))
            found[row] = below(lower), above(upper)
    return found
