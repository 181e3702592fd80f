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
"""Lower and upper bound on a payoff."""

INVISIBLE_ERROR: Final = 1e-11  # error of a payoff that shows in no digit


def invisible_error(scale: float, payoff: float) -> float:
    """Give the largest error of a payoff that shows in no digit that is written."""
    return INVISIBLE_ERROR if is_plain(scale) else INVISIBLE_ERROR * abs(payoff)


def written_between(units: "Units", lower: float, upper: float) -> str:
    """Write the number between two ends in the digits that hold; where these are fewer, both."""
    if units.are_one(lower, upper):
        return units.exact(lower)
    return units.gap(lower, upper)


class _Payoffs(NamedTuple):
    """Payoff to a strategy against another, in floating point."""

    mean: float
    """Averaged over both seats."""
    first: float
    """In the first seat; in Hog, when it moves first."""
    second: float
    """In the second seat."""


class Value(_Payoffs):
    """Payoff to one strategy against another: `mean`, `first` and `second`."""

    find_ends: "Callable[[], Value] | None" = None
    """Computes the ends later, on demand, where no digit that is written depends on them."""

    @cached_property
    def ends(self) -> tuple[tuple[float, float], ...]:
        """Lower and upper bound on each of the three payoffs, rounding included; of Hog none."""
        return () if self.find_ends is None else self.find_ends().ends

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the ends, and not the function that computes them."""
        return {"ends": self.ends}

    @classmethod
    def between(
        cls, first: Ends, second: Ends, mean: Ends | None = None, found: Sequence[Fraction] = ()
    ) -> "Value":
        """Make a value of bounds on the payoffs in the first seat, the second, and their mean.

        The bounds become `ends`, rounded outward; those on the mean are by default the means of the
        others. The payoffs are the two `found` in the seats, or else the middles of the bounds.
        """
        lower_sum, upper_sum = map(add, first, second)
        all_ends = [mean or (lower_sum / 2, upper_sum / 2), first, second]
        if found:
            payoffs = [sum(found, Fraction()) / 2, *found]
        else:
            payoffs = [(lower + upper) / 2 for lower, upper in all_ends]
        value = cls(*map(float, payoffs))
        value.ends = tuple((below(lower), above(upper)) for lower, upper in all_ends)
        return value

    def written(self, units: "Units") -> list[str]:
        """Write the three payoffs, each as one number if its ends are written alike, else both."""
        return [written_between(units, *ends) for ends in self._ends_or_payoffs]

    def to_json(self, units: "Units") -> dict[str, Any]:
        """Return the payoffs in proved digits: ``payoff`` (the mean), ``first``, ``second``.

        If the command writes both ends of any of them, or if the ends of any agree in no digit
        after the point, there are ``ends``, too: lower and upper bounds by these keys.
        """
        keys = ("payoff", "first", "second")
        all_ends = self._ends_or_payoffs
        all_are_one = all(units.are_one(*ends) for ends in all_ends)
        payoffs = []
        for payoff, ends in zip(self, all_ends, strict=True):
            lower, upper = agreed(*ends)  # one number, twice, in the digits in which they agree
            payoffs.append(min(max(payoff, lower), upper))
            all_are_one = all_are_one and lower == upper
        values: dict[str, Any] = dict(zip(keys, payoffs, strict=True))
        if not all_are_one:
            values["ends"] = dict(zip(keys, map(list, all_ends), strict=True))
        return values

    @property
    def _ends_or_payoffs(self) -> tuple[tuple[float, float], ...]:
        """Lower and upper bound on each payoff; where there are none, the payoff twice."""
        return self.ends or tuple((payoff, payoff) for payoff in self)


def mean_of(values: Sequence[Value], scale: float) -> tuple[float, tuple[float, float]]:
    """Average the mean payoffs of values; also give a lower and an upper bound on the average.

    Both bounds are the average itself if no value has an error that shows in a digit.
    """
    mean = sum(value.mean for value in values) / len(values)
    off = max(invisible_error(scale, value.mean) for value in values)
    if off <= invisible_error(scale, mean) and all(value.find_ends is not None for value in values):
        return mean, (mean, mean)
    lower, upper = (
        sum((Fraction(value.ends[0][end]) for value in values), Fraction()) / len(values)
        for end in (0, 1)
    )
    return float((lower + upper) / 2), (below(lower), above(upper))


def gains_by_values(
    value: Callable[[Strategy, Strategy], Value],
    first: Strategy,
    rivals: Sequence[Strategy],
    changes: Mapping[int, Floats],
    gains: Floats,
    scale: float,
    gain_error: float,
) -> dict[int, tuple[float, float]]:
    """Bound what changed rows of a policy gain, each alone, on average against rivals.

    `changes` has the new probabilities of each row that changes, by its number. `gains` (R,) are
    by reach and action values, with an error of at most `gain_error`. Where that may show in a
    digit, a gain is the difference of two values: of the policy, and of the policy with that row
    alone changed. Returns a lower and an upper bound on each gain, by row.
    """
    bounds = {row: (float(gains[row]), float(gains[row])) for row in changes}
    _, (least_before, most_before) = mean_of([value(first, rival) for rival in rivals], scale)
    for row, changed in changes.items():
        if gain_error > invisible_error(scale, gains[row]):
            policy = first.policy.copy()
            policy[row] = changed
            one = Strategy.unchecked(policy)
            _, (least_after, most_after) = mean_of([value(one, rival) for rival in rivals], scale)
            lower = Fraction(least_after) - Fraction(most_before)
            upper = Fraction(most_after) - Fraction(least_before)
            bounds[row] = below(lower), above(upper)
    return bounds
