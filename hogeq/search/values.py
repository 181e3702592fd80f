"""Payoffs of two strategies, in the digits that hold."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from operator import add
from typing import Any, Final, NamedTuple

from hogeq.search.units import Units, above, agreed, below, is_plain

Ends = tuple[Fraction, Fraction]

UNSEEN: Final = 1e-11  # error of a payoff that shows in no digit


def unseen(scale: float, payoff: float) -> float:
    """Give the error of a payoff that shows in no digit."""
    return UNSEEN if is_plain(scale) else UNSEEN * abs(payoff)


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
        return [
            units.exact(pair[0]) if units.are_one(*pair) else units.gap(*pair)
            for pair in self._pairs
        ]

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
