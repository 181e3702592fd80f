"""Units of a game: how its payoffs are written, rounded outward where they are bounds."""

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Final, NamedTuple

from hogeq.model.protocol import Engine
from hogeq.support.messages import at_least, at_most, between, loss, percent
from hogeq.support.short_fractions import is_meant


class Units(NamedTuple):
    """Units of a game: its even value, and how figures and their differences are written.

    Examples
    --------
    >>> import hogeq
    >>> units = hogeq.Game("fa25").units
    >>> units.even, units.exact(0.52), units.figure
    (0.5, '52.00 %', 'win rate')
    """

    even: float
    figure: str  # what is measured
    exact: Callable[[float], str]
    lower: Callable[[float], str]
    upper: Callable[[float], str]
    gap: Callable[..., str]  # writes both ends of an exploitability: (lower, upper, are_one=...)
    gain: Callable[[float], str]  # writes a difference
    axis: str  # of pictures: what an exploitability is
    per_rate: float = 1.0  # worth of a whole win rate: searches count win rates

    @staticmethod
    def of_payoffs(even: float, largest: float, scale: float) -> "Units":
        """Give the units of another game than Hog.

        `even` is the value of an even game, `largest` half of what a whole win rate of a search is
        worth, and `scale` the most that players may expect.
        """
        writer = _PayoffWriter(scale)
        return Units(
            even=even,
            figure="payoff",
            exact=writer.nearest,
            lower=writer.lower,
            upper=writer.upper,
            gap=writer.gap,
            gain=writer.nearest,
            axis="exploitability (NashConv / 2)",
            per_rate=2.0 * largest,
        )

    def value(self, rate: float) -> float:
        """Convert a win rate of a search to these units."""
        return self.even + self.per_rate * (rate - 0.5)

    def ends(self, lower: float, upper: float, are_one: bool) -> tuple[str, str]:
        """Write both ends of an interval, rounded outward unless they are one number."""
        if are_one:
            return self.exact(lower), self.exact(upper)
        return self.lower(lower), self.upper(upper)

    def beyond(self, lower: float, upper: float) -> tuple[float, float]:
        """Give what both ends of an interval are beyond an even game, rounded outward.

        Half of what payoffs sum to may be off by a rounding, unless it is short.
        """
        if not (math.isfinite(lower) and math.isfinite(upper)):
            return lower - self.even, upper - self.even
        least = most = self.even
        if math.ldexp(self.even, FINE) % 1.0 or not is_meant(self.even):
            least, most = (math.nextafter(self.even, end) for end in (-math.inf, math.inf))
        return below(Fraction(lower) - Fraction(most)), above(Fraction(upper) - Fraction(least))

    def are_one(self, lower: float, upper: float) -> bool:
        """Whether two ends are written alike, so that every digit is true of all between them."""
        return self.exact(lower) == self.exact(upper)


DECIMALS: Final = 9  # of payoffs
FINE: Final = 20  # numbers that are what they say are whole in units of 2**-20
HALVES: Final = ("49", "50", "51")  # digits after the last one that is written
POWERS: Final = 1e16  # from which on Python writes numbers with a power of ten
PROVED: Final = 1e-9  # largest gap at which both ends of an interval meet, as win rates

WIN_RATES: Final = Units(
    even=0.5,
    figure="win rate",
    exact=percent,
    lower=at_least,
    upper=at_most,
    gap=between,
    gain=loss,
    axis="exploitability (win rate $-$ 1/2)",
)
"""Units of Hog."""


def is_plain(scale: float) -> bool:
    """Whether payoffs are written without a power of ten, if they are of that scale."""
    return 1e-3 <= scale < 1e9


class _PayoffWriter(NamedTuple):
    """Writes payoffs with ten digits: of plain numbers nine decimals at most."""

    scale: float  # most that players may expect

    def digits(self, payoff: float) -> tuple[int, str]:
        """Give the digits after the point, and the format: plain "f", or with an exponent "e"."""
        if not is_plain(self.scale) or abs(payoff) >= 1e9:
            return DECIMALS, "e"
        power = int(f"{payoff:.{DECIMALS}e}".partition("e")[2])  # of ten
        return DECIMALS - max(power, 0), "f"

    def nearest(self, payoff: float) -> str:
        """Round to the nearest; halfway between two, write a digit more.

        Else what rounding errors have divided would not be written as the one number that it is.
        """
        if not math.isfinite(payoff):
            return str(payoff)
        places, kind = self.digits(payoff)
        two_digits_more = f"{payoff:z.{places + 2}{kind}}".partition("e")[0]
        if two_digits_more[-2:] in HALVES:
            places += 1
        return f"{payoff:z.{places}{kind}}"

    def lower(self, payoff: float) -> str:
        """Round down."""
        return self._rounded(payoff, ROUND_FLOOR)

    def upper(self, payoff: float) -> str:
        """Round up."""
        return self._rounded(payoff, ROUND_CEILING)

    def _rounded(self, payoff: float, rounding: str) -> str:
        """Round exactly, in decimal arithmetic, by a rounding mode of `decimal`."""
        if not math.isfinite(payoff):
            return str(payoff)
        places, kind = self.digits(payoff)
        nearest = Decimal(f"{payoff:.{places}{kind}}")
        last_digit = Decimal(1).scaleb(int(nearest.as_tuple().exponent))
        outward = Decimal(payoff).quantize(last_digit, rounding, Context(prec=700))
        return f"{outward:z.{places}{kind}}"

    def gap(self, lower: float, upper: float, /, *, are_one: bool = False) -> str:
        """Write both ends of an interval, rounded outward, or the number that both are."""
        if are_one or self.nearest(lower) == self.nearest(upper):
            return f"{self.nearest(lower)} to {self.nearest(lower)}"
        return f"{self.lower(lower)} to {self.upper(upper)}"


def below(number: Fraction) -> float:
    """Round a fraction down to a double."""
    nearest = float(number)
    return nearest if Fraction(nearest) <= number else math.nextafter(nearest, -math.inf)


def above(number: Fraction) -> float:
    """Round a fraction up to a double."""
    return -below(-number) + 0.0  # no -0.0


def agreed(lower: float, upper: float) -> tuple[float, float]:
    """Give two ends that are one as a number in the most digits in which they agree, twice.

    They may agree in digits from the first one on, or in those after the point alone. Where they
    agree in none after the point they are given as they are: zeros would stand for the others, but
    in numbers so large that Python writes them with a power of ten.
    """
    if lower == upper:
        return lower, upper
    candidates = []  # digits after the point that agree, and the number that they make
    for kind in ("e", "f"):  # digits from the first one on, or after the point
        for places in range(17, -1, -1):
            written = f"{lower:z.{places}{kind}}"
            if written == f"{upper:z.{places}{kind}}":
                power = int(written.partition("e")[2] or 0)  # of ten
                candidates.append((places - power, float(written)))
                break
    decimals, number = max(candidates, default=(0, 0.0))
    return (number, number) if decimals > 0 or abs(number) >= POWERS else (lower, upper)


def write_rate(game: Engine, rate: float) -> str:
    """Write a win rate that a search counts; of other games than Hog the payoff beyond even."""
    if game.pays_wins:
        return percent(rate)
    return f"{game.payoff_per_win_rate * (rate - 0.5):.6g} beyond even"
