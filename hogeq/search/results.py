"""Results of searches and solvers for every game: a response, an interval, an equilibrium.

Figures are in the game's own units: win rates in Hog, where 1/2 is even, and elsewhere payoffs,
where 0 is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.search.budget import Budget
from hogeq.search.units import PROVED, WIN_RATES, Units, above, agreed, below, write_rate
from hogeq.strategies.strategy import Strategy, joined
from hogeq.support import html
from hogeq.support.aliases import Matrix

if TYPE_CHECKING:
    from hogeq.search.attack import SearchResult

__all__ = [
    "FULL_INFORMATION",
    "PROVED",
    "WIN_RATES",
    "Budget",
    "Equilibrium",
    "InPolicies",
    "Interval",
    "Measurement",
    "Response",
    "Units",
    "write_rate",
]

FULL_INFORMATION: Final = "full information"


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
        knows what was drawn), ``full_memory``, ``proved``, ``seats``, ``method``, ``seconds``;
        ``seat_bounds``, if those of a proved response agree with ``seats`` in no digit after the
        point; and the course of the search, if there was one.
        """
        value, bound, full_memory, seats, seat_bounds = self._written
        data: dict[str, Any] = {"attack": value, "bound": bound}
        if self.is_told:
            data["bound_told"] = full_memory
        data |= {
            "full_memory": full_memory,
            "proved": self.is_proved,
            "seats": list(seats),
            "method": self.method,
            "seconds": self.seconds,
        }
        if self.is_proved and seats != seat_bounds:
            data["seat_bounds"] = list(seat_bounds)
        if self.search is not None:
            data |= self.search.to_json(self.units)
        return data

    @property
    def ends(self) -> tuple[float, float]:
        """What the response surely gets, and what surely no response exceeds."""
        return self.value - self.margin, self.bound + self.margin

    @property
    def _written(self) -> tuple[float, float, float, tuple[float, ...], tuple[float, ...]]:
        """Value, bound, full memory, seats, their bounds; if it is proved, in digits that are."""
        if not self.is_proved:  # the response's own figure is to the nearest
            bound = self.bound + self.margin
            return self.value, bound, self.full_memory + self.margin, self.seats, self.seats
        value, bound = agreed(*self.ends)
        full_memory = bound if self.full_memory == self.bound else self.full_memory
        least, most = self.seats, self.seat_bounds
        if most is None:  # in Hog, where the margin is of the mean of both
            error = 2.0 * self.margin
            least, most = (least[0] - error, least[1] - error), (least[0] + error, least[1] + error)
        least, most = zip(*map(agreed, least, most), strict=True)
        return value, bound, full_memory, least, most

    def rows(self) -> list[tuple[str, str, str]]:
        """Lay out both ends and their meaning, as the command prints them."""
        lower, upper = self.units.ends(self.value, self.bound, self.is_proved)
        full_memory = self.units.upper(self.full_memory)
        seats = ""
        if self.units is not WIN_RATES:
            write = self.units.exact if self.is_proved else self.units.lower
            first, second = self._written[3]
            seats = f", mean of {write(first)} and {write(second)} by seat"
        bounds_full_memory = self.method in {"full memory", FULL_INFORMATION}
        if self.is_proved and bounds_full_memory:
            return [("attack", lower, f"best response, exact{seats}")]
        proved = "; proved to be best" if self.is_proved else ""
        attack = ("attack", lower, f"best response found{seats}{proved}")
        if self.units is WIN_RATES:
            responder = "best responder that remembers everything"
        elif self.method == FULL_INFORMATION:
            responder = "best responder that sees everything"
        else:
            responder = "best responder with perfect recall"
        strongest = "best responder that is told the draw as well" if self.is_told else responder
        if not bounds_full_memory:
            bound = ("bound", upper, f"no response has more: by {self.method}")
            return [attack, bound, ("full memory", full_memory, strongest)]
        if self.is_told and self.bound != self.full_memory:
            bound = ("bound", upper, f"{responder} but the draw")
            return [attack, bound, ("bound", full_memory, strongest)]
        return [attack, ("bound", upper, strongest)]

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
        return agreed(*ends) if self._are_one else ends

    @property
    def _are_one(self) -> bool:
        """Whether both are proved to be one; of a response beside a large constant they may not."""
        units = self.response.units
        return self.response.is_proved and units.are_one(self.lower, self.upper)

    def rows(self) -> list[tuple[str, str, str]]:
        """Lay out both ends and their meaning."""
        written = self.response.units.gap(self.lower, self.upper, are_one=self._are_one)
        return [("exploitability", written, "gain of a best response beyond an even game")]


class Measurement(NamedTuple):
    """How exploitable a solver's strategy was on its way.

    Examples
    --------
    >>> import hogeq
    >>> curve = hogeq.Game("kuhn_poker").solve("cfr_plus", 5).curve
    >>> [measurement.iteration for measurement in curve]
    [1, 2, 3, 5]
    """

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
    """``lp``, one linear program; ``columns``, column generation, or double oracle; ``iterates`` of
    CFR+, weighed by a linear program; ``tablebase``, optimal play by the scores; ``branch and
    bound``, of one absent-minded player; or a solver."""
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
        data: dict[str, Any] = {"lower": ends[0], "upper": ends[1]}
        if self.secured is not None:
            data["secured"] = list(self.secured)
        data |= {"proved": self.is_proved, "method": self.method, "seconds": self.seconds}
        return {**data, **self.effort}

    def rows(self) -> list[tuple[str, str, str]]:
        """Lay out both ends and their meaning, as the command prints them."""
        lower, upper = self.units.ends(self.lower, self.upper, self.is_proved)
        figure = self.units.figure
        first, second = self.sides
        if self.secured is None:  # `strategies` are the whole mixtures
            proved = "; proved" if self.is_proved else ""
            return [
                ("lower", lower, f"{figure} that {first} secures{proved}"),
                ("upper", upper, f"{figure} that {second} allows"),
            ]
        given_lower = self.units.lower(self.secured[0])
        given_upper = self.units.upper(self.secured[1])
        given = "by the part of the mixture that is given"
        return [
            ("lower", lower, f"value of the game at least: by the whole mixture of {first}"),
            ("upper", upper, f"value of the game at most: by the whole mixture of {second}"),
            ("lower, given", given_lower, f"{figure} that {first} secures {given}"),
            ("upper, given", given_upper, f"{figure} that {second} allows {given}"),
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
        """Least and most that the side loses by drawing apart, rounded outward.

        Values are those of player 0, of which the second side allows more by policies.
        """
        mixed, apart = self.mixtures, self
        if self.player == 0:
            least = Fraction(mixed.lower) - Fraction(apart.upper)
            most = Fraction(mixed.upper) - Fraction(apart.lower)
        else:
            least = Fraction(apart.lower) - Fraction(mixed.upper)
            most = Fraction(apart.upper) - Fraction(mixed.lower)
        return max(below(least), 0.0), max(above(most), 0.0)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values, without the policies.

        ``lower``, ``upper``, ``proved``, ``price``, ``method``, ``boxes``, ``programs``,
        ``seconds``; and ``second``, the same of the other side.
        """
        data: dict[str, Any] = {
            "lower": self.lower,
            "upper": self.upper,
            "proved": self.is_proved,
            "price": list(self.price),
            "method": self.method,
            **self.effort,
            "seconds": self.seconds,
        }
        if self.second is not None:
            data["second"] = self.second.to_json()
        return data

    def rows(self) -> list[tuple[str, str, str]]:
        """Lay out both ends and the price of each side, as the command prints them."""
        units = self.mixtures.units
        side = self.mixtures.sides[self.player]
        lower, upper = units.ends(self.lower, self.upper, False)
        least, most = units.ends(*self.price, False)
        if self.player == 0:
            lower_says = f"a policy of {side} secures it"
            upper_says = f"no policy of {side} secures more"
        else:
            lower_says = f"no policy of {side} allows less"
            upper_says = f"a policy of {side} allows no more"
        proved = "; proved" if self.is_proved else ""
        rows = [
            ("lower, policies", lower, f"{lower_says}{proved}"),
            ("upper, policies", upper, upper_says),
            ("price", f"{least} to {most}", f"of uncorrelation, to {side}"),
        ]
        return rows if self.second is None else rows + self.second.rows()
