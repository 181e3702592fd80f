"""Units of a game: how its payoffs are written, rounded outward where they are bounds."""

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Final, NamedTuple

from hogeq.evaluation.rounding import EXACT_BITS
from hogeq.model.protocol import Engine
from hogeq.support.messages import at_least, at_most, between, loss, percent
from hogeq.support.short_fractions import stands_for_itself


class Units(NamedTuple):
    """Units of a game: its even value, and how figures and their differences are written.

    Examples
    --------
    >>> import hogeq
    >>> units = hogeq.Game("fa25").units
    >>> units.even, units.exact(0.52), units.figure
    (0.5, '52.00 %', 'win rate')
    """

    even: float  # value of an even game
    figure: str  # what figures measure: "win rate" or "payoff"
    exact: Callable[[float], str]  # writes a figure, rounded to the nearest
    lower: Callable[[float], str]  # writes a lower bound, rounded down
    upper: Callable[[float], str]  # writes an upper bound, rounded up
    gap: Callable[..., str]  # writes both ends of an exploitability: (lower, upper, are_one=...)
    gain: Callable[[float], str]  # writes a difference
    axis: str  # of pictures: what an exploitability is
    per_rate: float = 1.0  # payoff of a whole win rate: searches count win rates

    def __repr__(self) -> str:
        """Name what figures measure; the functions that write them would fill lines."""
        return f"Units({self.figure}, even at {self.even:g})"

    @staticmethod
    def of_payoffs(even: float, largest: float, scale: float) -> "Units":
        """Give the units of a game other than Hog, whose figures are payoffs.

        `even` is the value of an even game. `scale` is the largest payoff that players may expect,
        which sets the number of digits. A win rate of 1 in a search counts as `largest` beyond
        even, and a win rate of 0 as `largest` below.
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
        """Subtract the even value from both ends of an interval, rounding outward."""
        if not (math.isfinite(lower) and math.isfinite(upper)):
            return lower - self.even, upper - self.even
        least_even = self.even
        most_even = self.even
        # The even value is half of the payoffs' sum. Unless it has few binary digits, and stands
        # for itself, it may be rounded: the true one is between the doubles next to it.
        if math.ldexp(self.even, EXACT_BITS) % 1.0 or not stands_for_itself(self.even):
            least_even = math.nextafter(self.even, -math.inf)
            most_even = math.nextafter(self.even, math.inf)
        lower_gap = Fraction(lower) - Fraction(most_even)
        upper_gap = Fraction(upper) - Fraction(least_even)
        return below(lower_gap), above(upper_gap)

    def are_one(self, lower: float, upper: float) -> bool:
        """Whether two ends are written alike, so that every digit is true of all between them."""
        return self.exact(lower) == self.exact(upper)


DECIMALS: Final = 9  # digits after the first one of a payoff that is written
NEARLY_HALF: Final = ("49", "50", "51")  # next two digits of a number about halfway between two
LEAST_WITH_EXPONENT: Final = 1e16  # Python writes numbers from this on with a power of ten
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
        """Give the number of decimals, and the format: plain "f", or with an exponent "e"."""
        if not is_plain(self.scale) or abs(payoff) >= 1e9:
            return DECIMALS, "e"
        power_of_ten = int(f"{payoff:.{DECIMALS}e}".partition("e")[2])
        return DECIMALS - max(power_of_ten, 0), "f"

    def nearest(self, payoff: float) -> str:
        """Write a payoff rounded to the nearest; halfway between two, with a digit more.

        Otherwise two ends of an interval that are one number but for rounding errors could round
        apart, and be written as two.
        """
        if not math.isfinite(payoff):
            return str(payoff)
        decimals, kind = self.digits(payoff)
        two_digits_more = f"{payoff:z.{decimals + 2}{kind}}".partition("e")[0]
        if two_digits_more[-2:] in NEARLY_HALF:
            decimals += 1
        return f"{payoff:z.{decimals}{kind}}"

    def lower(self, payoff: float) -> str:
        """Round down."""
        return self._rounded(payoff, ROUND_FLOOR)

    def upper(self, payoff: float) -> str:
        """Round up."""
        return self._rounded(payoff, ROUND_CEILING)

    def _rounded(self, payoff: float, rounding: str) -> str:
        """Write a payoff rounded in exact decimal arithmetic, by a rounding mode of `decimal`."""
        if not math.isfinite(payoff):
            return str(payoff)
        decimals, kind = self.digits(payoff)
        nearest = Decimal(f"{payoff:.{decimals}{kind}}")
        last_digit = Decimal(1).scaleb(int(nearest.as_tuple().exponent))
        # 700 digits are more than any double needs here.
        outward = Decimal(payoff).quantize(last_digit, rounding, Context(prec=700))
        return f"{outward:z.{decimals}{kind}}"

    def gap(self, lower: float, upper: float, /, *, are_one: bool = False) -> str:
        """Write both ends of an interval, rounded outward; if they are one number, that twice."""
        if are_one or self.nearest(lower) == self.nearest(upper):
            return f"{self.nearest(lower)} to {self.nearest(lower)}"
        return f"{self.lower(lower)} to {self.upper(upper)}"


def below(number: Fraction) -> float:
    """Round a fraction down, to the largest double that is not above it."""
    nearest = float(number)
    return nearest if Fraction(nearest) <= number else math.nextafter(nearest, -math.inf)


def above(number: Fraction) -> float:
    """Round a fraction up, to the smallest double that is not below it."""
    return -below(-number) + 0.0  # no -0.0


def agreed(lower: float, upper: float) -> tuple[float, float]:
    """Round both ends of a narrow interval to the most digits in which they agree.

    Returns the rounded number twice. Where the ends agree in no digit after the point they are
    returned as they are, since the rounded number would end in zeros that are not proved; but for
    numbers so large that Python writes them with a power of ten.
    """
    if lower == upper:
        return lower, upper
    candidates = []  # pairs: number of decimals in which the ends agree, and the rounded number
    for kind in ("e", "f"):  # rounded to significant digits, or to decimals
        for places in range(17, -1, -1):
            written = f"{lower:z.{places}{kind}}"
            if written == f"{upper:z.{places}{kind}}":
                power_of_ten = int(written.partition("e")[2] or 0)
                candidates.append((places - power_of_ten, float(written)))
                break
    decimals, number = max(candidates, default=(0, 0.0))
    is_proved = decimals > 0 or abs(number) >= LEAST_WITH_EXPONENT
    return (number, number) if is_proved else (lower, upper)


def write_rate(game: Engine, rate: float) -> str:
    """Write a win rate of a search: in Hog as such, in other games as the payoff beyond even."""
    if game.pays_wins:
        return percent(rate)
    return f"{game.payoff_per_win_rate * (rate - 0.5):.6g} beyond even"
