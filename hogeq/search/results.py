"""Results of searches and solvers for every game: a response, an interval, an equilibrium.

Figures are in the game's own units: win rates in Hog, where 1/2 is even, and elsewhere payoffs,
where 0 is.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hogeq.model.protocol import Engine
from hogeq.search.budget import Budget
from hogeq.strategies.strategy import Strategy, joined
from hogeq.support import html
from hogeq.support.aliases import Matrix
from hogeq.support.messages import at_least, at_most, between, loss, percent

if TYPE_CHECKING:
    from hogeq.search.attack import SearchResult

__all__ = [
    "PROVED",
    "WIN_RATES",
    "Budget",
    "Equilibrium",
    "InPolicies",
    "Interval",
    "Response",
    "Units",
]


class Gap(Protocol):
    """Writes both ends of an exploitability, as one number if they are known to be one."""

    def __call__(self, lower: float, upper: float, /, *, are_one: bool = False) -> str:
        """Write them."""


class Units(NamedTuple):
    """Units of a game: its even value, and how figures and their differences are written."""

    even: float
    figure: str  # what is measured
    exact: Callable[[float], str]
    lower: Callable[[float], str]
    upper: Callable[[float], str]
    gap: "Gap"  # writes both ends of an exploitability
    gain: Callable[[float], str]  # writes a difference
    axis: str  # of pictures: what an exploitability is
    per_rate: float = 1.0  # worth of a whole win rate: searches count win rates

    def value(self, rate: float) -> float:
        """Convert a win rate of a search to these units."""
        return self.even + self.per_rate * (rate - 0.5)

    def ends(self, lower: float, upper: float, are_one: bool) -> tuple[str, str]:
        """Write both ends of an interval, rounded outward unless they are one number."""
        if are_one:
            return self.exact(lower), self.exact(upper)
        return self.lower(lower), self.upper(upper)

    def are_one(self, lower: float, upper: float) -> bool:
        """Whether two ends are written alike, so that every digit is true of all between them."""
        return self.exact(lower) == self.exact(upper)


DECIMALS: Final = 9  # of payoffs
HALVES: Final = ("49", "50", "51")  # digits after the last one that is written
FULL_INFORMATION: Final = "full information"
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


def payoffs(even: float, largest: float, scale: float) -> Units:
    """Give the units of another game; `scale` is the most that players may expect.

    Ten digits are written, of plain numbers nine decimals at most; of ends outward. A figure
    halfway between two of these has a digit more, lest rounding divide what is one.
    """

    def form(payoff: float) -> tuple[int, str]:
        has_point = is_plain(scale) and abs(payoff) < 1e9
        power = int(f"{payoff:.{DECIMALS}e}".partition("e")[2]) if has_point else 0
        return DECIMALS - max(power, 0), "f" if has_point else "e"

    def write(payoff: float) -> str:
        if not math.isfinite(payoff):
            return str(payoff)
        places, kind = form(payoff)
        fine = f"{payoff:z.{places + 2}{kind}}".partition("e")[0]
        return f"{payoff:z.{places + (fine[-2:] in HALVES)}{kind}}"

    def toward(payoff: float, rounding: str) -> str:
        if not math.isfinite(payoff):
            return str(payoff)
        places, kind = form(payoff)
        nearest = Decimal(f"{payoff:.{places}{kind}}")
        place = Decimal(1).scaleb(int(nearest.as_tuple().exponent))
        outward = Decimal(payoff).quantize(place, rounding, Context(prec=700))
        return f"{outward:z.{places}{kind}}"

    def lower(payoff: float) -> str:
        return toward(payoff, ROUND_FLOOR)

    def upper(payoff: float) -> str:
        return toward(payoff, ROUND_CEILING)

    def gap(least: float, most: float, *, are_one: bool = False) -> str:
        is_one = are_one or write(least) == write(most)
        ends = (write(least),) * 2 if is_one else (lower(least), upper(most))
        return " to ".join(ends)

    return Units(
        even=even,
        figure="payoff",
        exact=write,
        lower=lower,
        upper=upper,
        gap=gap,
        gain=write,
        axis="exploitability (NashConv / 2)",
        per_rate=2.0 * largest,
    )


def below(number: Fraction) -> float:
    """Round down."""
    near = float(number)
    return near if Fraction(near) <= number else math.nextafter(near, -math.inf)


def above(number: Fraction) -> float:
    """Round up."""
    return -below(-number)


def agreed(lower: float, upper: float) -> tuple[float, float]:
    """Give two ends that are one as a number in the most digits in which they agree, twice.

    They may agree in digits from the first one on, or in those after the point alone. Where they
    agree in none after the point they are given as they are: zeros would stand for the others.
    """
    if lower == upper:
        return lower, upper
    found = []
    for form in "ef":
        alike = (n for n in range(17, -1, -1) if f"{lower:z.{n}{form}}" == f"{upper:z.{n}{form}}")
        places = next(alike, None)
        if places is not None:
            written = f"{lower:z.{places}{form}}"
            power = int(written.partition("e")[2] or 0)
            found.append((places - power, float(written)))  # digits after the point
    decimals, number = max(found, default=(0, 0.0))
    return (number, number) if decimals > 0 else (lower, upper)


def write_rate(game: Engine, rate: float) -> str:
    """Write a win rate that a search counts; of other games than Hog the payoff beyond even."""
    if game.seat_rows is None:
        return percent(rate)
    return f"{game.payoff_per_win_rate * (rate - 0.5):.6g} beyond even"


@dataclass(frozen=True, eq=False, repr=False)
class Response:
    """The best response found to a strategy, and an upper bound on all responses.

    Examples
    --------
    >>> import hogeq
    >>> found = hogeq.Game("kuhn_poker").attack("uniform")
    >>> round(found.value, 6), found.is_proved  # NashConv of the uniform policy is twice that
    (0.458333, True)
    """

    strategy: Strategy
    """The response, in either seat: pure, unless a responder is absent-minded."""
    value: float
    """What it gets, exactly: the mean over both seats."""
    bound: float
    """What no response exceeds."""
    full_memory: float
    """What a responder gets by full memory in Hog, where a mixture's draw is told, too; elsewhere
    by perfect recall, of the own past alone; of games by their positions by seeing everything."""
    is_proved: bool
    """Whether it is a best response: both agree in every digit that is written, and within 1e-9 of
    the stakes. Both hold whatever was rounded."""
    method: str
    """What the bound is of: ``full memory``, ``full information``, ``belief DAG``, ``enumeration``,
    ``integer program`` or, if a responder is absent-minded, ``branch and bound``."""
    seconds: float
    """Spent on it."""
    seats: tuple[float, float]
    """What it gets in the first seat, and in the second."""
    seat_bounds: tuple[float, float] | None = None
    """What no response exceeds in each seat, where that is known."""
    units: Units = WIN_RATES
    """How it is written."""
    search: "SearchResult | None" = None
    """Course of the search; None where none was needed."""
    is_told: bool = False
    """Whether who forgets nothing is told, too, what was drawn from a mixture."""
    margin: float = 0.0
    """Most that rounding moved `value` or `bound` by; 0 where both are rounded outward."""

    @property
    def effort(self) -> dict[str, Any]:
        """The budget, and the sweeps made."""
        if self.search is None:
            return {}
        return {**self.search.budget.fields(), "sweeps": self.search.sweeps}

    @property
    def win_rate(self) -> float:
        """The value, in games of Hog a win rate."""
        return self.value

    @property
    def matrix(self) -> Matrix:
        """The response as a matrix, an action for every row."""
        return self.strategy.likeliest

    def __repr__(self) -> str:
        """Say both ends."""
        proved = ", proved" if self.is_proved else ""
        return f"Response(value={self.value:z.6f}, bound={self.bound:z.6f}{proved})"

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values, without the response itself.

        ``attack`` (its value), ``bound``, ``bound_told`` (of a mixture in Hog, where the responder
        knows what was drawn), ``full_memory``, ``proved``, ``seats``, ``method``, ``seconds``; and
        the course of the search, if there was one.
        """
        value, bound, full, seats = self._written
        return {
            "attack": value,
            "bound": bound,
            **({"bound_told": full} if self.is_told else {}),
            "full_memory": full,
            "proved": self.is_proved,
            "seats": list(seats),
            "method": self.method,
            "seconds": self.seconds,
            **({} if self.search is None else self.search.to_json(self.units)),
        }

    @property
    def ends(self) -> tuple[float, float]:
        """What the response surely gets, and what surely no response exceeds."""
        return self.value - self.margin, self.bound + self.margin

    @property
    def _written(self) -> tuple[float, float, float, tuple[float, float]]:
        """Value, bound, full memory and seats; if it is proved, in the digits that are."""
        if not self.is_proved:
            most, full = self.bound + self.margin, self.full_memory + self.margin
            return self.value, most, full, self.seats  # the response's own figure to the nearest
        (value, bound), seats = agreed(*self.ends), self.seats
        if self.seat_bounds is not None:
            (one, _), (two, _) = map(agreed, self.seats, self.seat_bounds)
            seats = one, two
        return value, bound, bound if self.full_memory == self.bound else self.full_memory, seats

    def rows(self) -> list[tuple[str, str, str]]:
        """Lay out both ends and their meaning, as the command prints them."""
        proved = "; proved to be best" if self.is_proved else ""
        lower, upper = self.units.ends(self.value, self.bound, self.is_proved)
        remembers, seats = "best responder that remembers everything", ""
        if self.units is not WIN_RATES:
            write = self.units.exact if self.is_proved else self.units.lower
            first, second = map(write, self._written[3])
            sees = self.method == FULL_INFORMATION
            remembers = (
                f"best responder {'that sees everything' if sees else 'with perfect recall'}"
            )
            seats = f", mean of {first} and {second} by seat"
        is_full = self.method in {"full memory", FULL_INFORMATION}
        if self.is_proved and is_full:
            return [("attack", lower, f"best response, exact{seats}")]
        told = "best responder that is told the draw as well" if self.is_told else remembers
        rows = [("attack", lower, f"best response found{seats}{proved}")]
        if not is_full:
            rows.append(("bound", upper, f"no response has more: by {self.method}"))
            rows.append(("full memory", self.units.upper(self.full_memory), told))
        elif self.is_told and self.bound != self.full_memory:
            rows.append(("bound", upper, f"{remembers} but the draw"))
            rows.append(("bound", self.units.upper(self.full_memory), told))
        else:
            rows.append(("bound", upper, told))
        return rows

    def lines(self) -> list[str]:
        """Say how the search went, as the command prints it."""
        lines = [] if self.search is None else self.search.lines(self.units)
        return lines[:1] if self.is_proved else lines

    def _repr_html_(self) -> str:
        """Write the figures, in a notebook."""
        return html.table(self.rows(), ("", "value", "meaning"), "Best response")


class Interval(NamedTuple):
    """Lower and upper bound on a number that is too hard to compute.

    Examples
    --------
    >>> import hogeq
    >>> game = hogeq.Game({"edition": "su20", "goal": 20, "max_dice": 4})
    >>> interval = game.exploitability("always_roll:3", hogeq.Budget(starts=2, kicks=0))
    >>> round(interval.lower, 4), round(interval.upper, 4)
    (0.1974, 0.2015)
    """

    lower: float
    """From the strongest response found."""
    upper: float
    """From a bound on all responses."""
    response: Response
    """Source of both ends, with its method, effort and seconds."""

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values, with those of the response."""
        lower, upper = self._written
        return {**self.response.to_json(), "lower": lower, "upper": upper}

    @property
    def _written(self) -> tuple[float, float]:
        """Both ends, outward; if they are proved to be one, that number."""
        margin = self.response.margin
        ends = self.lower - margin, self.upper + margin
        return agreed(*ends) if self.response.is_proved else ends

    def rows(self) -> list[tuple[str, str, str]]:
        """Lay out both ends and their meaning."""
        is_proved = self.response.is_proved
        written = self.response.units.gap(self.lower, self.upper, are_one=is_proved)
        return [("exploitability", written, "gain of a best response beyond an even game")]


class Measurement(NamedTuple):
    """How exploitable a solver's strategy was on its way."""

    iteration: int
    seconds: float
    """Spent on solving until then."""
    lower: float
    upper: float


@dataclass(frozen=True, eq=False, repr=False)
class Equilibrium:
    """Strategies of both sides in mixtures, and bounds on the value of the game.

    Examples
    --------
    >>> import hogeq
    >>> solved = hogeq.Game("kuhn_poker").equilibrium()
    >>> round(solved.lower, 6), solved.is_proved  # Kuhn 1950: -1/18
    (-0.055556, True)
    >>> solved.profile  # one strategy for both seats
    Strategy(policy; 12 x 2)
    """

    lower: float
    """What the value of the game is at least: the first player's mixture secures it."""
    upper: float
    """What it is at most: the second player's mixture allows it."""
    strategies: tuple[Strategy, Strategy]
    """Of the first player and of the second, each in its own seat alone; see `profile`."""
    is_proved: bool
    """Whether what `strategies` secure and allow agrees in every digit that is written, and within
    1e-9 of the stakes. Both ends hold whatever was rounded."""
    method: str
    """``lp``, one linear program; ``columns``, column generation, or double oracle; ``tablebase``,
    optimal play by the scores; ``branch and bound``, of one absent-minded player; or a solver."""
    effort: Mapping[str, Any]
    """Rounds, and the components of each strategy."""
    seconds: float
    """Spent on it."""
    units: Units = WIN_RATES
    """How it is written."""
    sides: tuple[str, str] = ("player 0", "player 1")
    """Names of both, of a team with its members."""
    secured: tuple[float, float] | None = None
    """What `strategies` secure and allow where they are a part of the mixtures that were found,
    which had too many; None where they are all, and secure both ends."""
    seats: NDArray[np.int8] | None = None
    """Seat of every row of a tree, (R,); None in Hog, where both players are alike."""

    @cached_property
    def profile(self) -> Strategy:
        """One strategy for both seats: `strategies`, joined; in Hog the first of them."""
        if self.seats is None:
            return self.strategies[0]
        return joined(self.seats, *self.strategies)

    def __repr__(self) -> str:
        """Say both ends."""
        proved = ", proved" if self.is_proved else ""
        return f"Equilibrium({self.lower:z.6f} to {self.upper:z.6f}{proved}; {self.method})"

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values, without the strategies.

        ``lower``, ``upper``, ``proved``, ``method``, ``seconds``, ``iterations``, ``components``;
        and ``secured`` and ``shares``, if the strategies are a part of the mixtures.
        """
        ends = agreed(self.lower, self.upper) if self.is_proved else (self.lower, self.upper)
        return {
            "lower": ends[0],
            "upper": ends[1],
            **({} if self.secured is None else {"secured": list(self.secured)}),
            "proved": self.is_proved,
            "method": self.method,
            "seconds": self.seconds,
            **self.effort,
        }

    def rows(self) -> list[tuple[str, str, str]]:
        """Lay out both ends and their meaning, as the command prints them."""
        proved = "; proved" if self.is_proved else ""
        lower, upper = self.units.ends(self.lower, self.upper, self.is_proved)
        figure, part, (one, two) = self.units.figure, self.secured, self.sides
        if part is None:
            return [
                ("lower", lower, f"{figure} that {one} secures{proved}"),
                ("upper", upper, f"{figure} that {two} allows"),
            ]
        given = "by the part of the mixture that is given"
        return [
            ("lower", lower, f"value of the game at least: by the whole mixture of {one}"),
            ("upper", upper, f"value of the game at most: by the whole mixture of {two}"),
            ("lower, given", self.units.lower(part[0]), f"{figure} that {one} secures {given}"),
            ("upper, given", self.units.upper(part[1]), f"{figure} that {two} allows {given}"),
        ]

    def _repr_html_(self) -> str:
        """Write the figures, in a notebook."""
        return html.table(self.rows(), ("", "value", "meaning"), "Equilibrium in mixtures")


@dataclass(frozen=True, eq=False, repr=False)
class InPolicies:
    """Value of a side in policies: the most that it secures without a common draw.

    Of a team it is the TME value; that in mixtures is TMECor. The price of uncorrelation is the
    difference of both. All figures are payoffs to player 0, in Hog win rates.

    Examples
    --------
    >>> import hogeq
    >>> found = hogeq.Game("3K3", teams="01/2").in_policies(seconds=60.0)
    >>> abs(found.lower) < 1e-6, found.is_proved  # drawing apart costs this team nothing
    (True, True)
    """

    lower: float
    """What the value is at least: the side's policy secures it."""
    upper: float
    """What it is at most: by no policy does the side secure more."""
    strategy: Strategy
    """The policy, of a tree in the seat of the side alone; see `profile`."""
    is_proved: bool
    """Whether both ends meet within 1e-7 of the stakes."""
    method: str
    """``branch and bound``."""
    effort: Mapping[str, Any]
    """Boxes of policies that were bounded, and linear programs solved."""
    mixtures: Equilibrium
    """Equilibrium in mixtures, by which a side secures as much or more."""
    seconds: float
    """Spent on the search."""
    player: int = 0
    """The side. Of the second one the value is the least that it allows, so `upper` is secured."""
    second: "InPolicies | None" = None
    """The same of the second side; None in Hog, whose players are alike."""

    def __repr__(self) -> str:
        """Say both ends."""
        proved = ", proved" if self.is_proved else ""
        return f"InPolicies({self.lower:z.6f} to {self.upper:z.6f}{proved}; {self.method})"

    @cached_property
    def profile(self) -> Strategy:
        """One policy for both seats, of each side its own; in Hog the policy."""
        if self.second is None or self.mixtures.seats is None:
            return self.strategy
        return joined(self.mixtures.seats, self.strategy, self.second.strategy)

    @property
    def price(self) -> tuple[float, float]:
        """Least and most that the side loses by drawing apart."""
        known = self.mixtures.lower, self.mixtures.upper
        first, second = (known, (self.lower, self.upper))[:: -1 if self.player else 1]
        least = below(Fraction(first[0]) - Fraction(second[1]))
        most = above(Fraction(first[1]) - Fraction(second[0]))
        return max(least, 0.0), max(most, 0.0)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values, without the policies.

        ``lower``, ``upper``, ``proved``, ``price``, ``method``, ``boxes``, ``programs``,
        ``seconds``; and ``second``, the same of the other side.
        """
        return {
            "lower": self.lower,
            "upper": self.upper,
            "proved": self.is_proved,
            "price": list(self.price),
            "method": self.method,
            **self.effort,
            "seconds": self.seconds,
            **({} if self.second is None else {"second": self.second.to_json()}),
        }

    def rows(self) -> list[tuple[str, str, str]]:
        """Lay out both ends and the price of each side, as the command prints them."""
        units, side = self.mixtures.units, self.mixtures.sides[self.player]
        lower, upper = units.ends(self.lower, self.upper, False)
        proved = "; proved" if self.is_proved else ""
        ends = [f"a policy of {side} secures it", f"no policy of {side} secures more"]
        if self.player:
            ends = [f"no policy of {side} allows less", f"a policy of {side} allows no more"]
        least, most = units.ends(*self.price, False)
        return [
            ("lower, policies", lower, f"{ends[0]}{proved}"),
            ("upper, policies", upper, ends[1]),
            ("price", f"{least} to {most}", f"of uncorrelation, to {side}"),
            *([] if self.second is None else self.second.rows()),
        ]
