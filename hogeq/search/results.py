"""Results of searches and solvers for every game: responses, equilibria, values, exploitability.

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
from hogeq.strategies.conversion import joined
from hogeq.strategies.strategy import Strategy
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

    Attributes
    ----------
    strategy : Strategy
        The response, in either seat: pure, unless a responder is absent-minded.
    value : float
        Payoff of the response, exactly: the mean over both seats.
    bound : float
        Upper bound on the payoff of every response.
    full_memory : float
        Payoff of a stronger responder. In Hog it has full memory and knows a mixture's draw. In
        other games it has perfect recall, of its own past alone; in games by their positions it
        sees everything.
    is_proved : bool
        Whether it is a best response: `value` and `bound` agree in every digit that is written, and
        within 1e-9 of the stakes. Both hold in spite of rounding.
    method : str
        Method of the bound: ``full memory``, ``full information``, ``belief DAG``, ``enumeration``,
        ``integer program`` or, if a responder is absent-minded, ``branch and bound``.
    seconds : float
        Time spent on it.
    seats : tuple of float
        Payoff of the response in the first seat, and in the second.
    seat_bounds : tuple of float, optional
        Upper bound on all responses in each seat, where that is known.
    units : Units
        How figures are written.
    search : SearchResult, optional
        Course of the search; None where none was needed.
    is_told : bool
        Whether the stronger responder of `full_memory` knows the draw of a mixture.
    margin : float
        Largest error of `value` or `bound` by rounding; 0 where both are rounded outward.

    Examples
    --------
    >>> import hogeq
    >>> found = hogeq.Game("kuhn_poker").attack("uniform")
    >>> round(found.value, 6), found.is_proved  # NashConv of the uniform policy is twice that
    (0.458333, True)
    """

    strategy: Strategy
    value: float
    bound: float
    full_memory: float
    is_proved: bool
    method: str
    seconds: float
    seats: tuple[float, float]
    seat_bounds: tuple[float, float] | None = None
    units: Units = WIN_RATES
    search: "SearchResult | None" = None
    is_told: bool = False
    margin: float = 0.0

    @property
    def effort(self) -> dict[str, Any]:
        """The budget of the search, and the number of its sweeps; empty if there was none."""
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
        """Write the value and the bound, and whether they prove a best response."""
        proved = ", proved" if self.is_proved else ""
        return f"Response(value={self.value:z.6f}, bound={self.bound:z.6f}{proved})"

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values, without the response itself.

        ``attack`` (its value), ``bound``, ``bound_told`` (of a mixture in Hog, on a responder who
        knows the draw), ``full_memory``, ``proved``, ``seats``, ``method``, ``seconds``;
        ``seat_bounds``, if those of a proved response agree with ``seats`` in no digit after the
        point; and the course of the search, if there was one.
        """
        # If the response is proved to be best, its figures have only the digits that are proved, of
        # which the last may be rounded up, beyond the bound by full memory. Else bounds are rounded
        # up, and payoffs of the response are to the nearest.
        value = self.value
        bound = self.bound + self.margin
        full_memory = self.full_memory + self.margin
        if self.is_proved:
            value, bound = agreed(*self.ends)
            full_memory = bound if self.full_memory == self.bound else max(bound, full_memory)
        seats, seat_bounds = self._written_seats
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
        """Lower bound on the payoff of the response, and upper bound on all, rounding included."""
        return self.value - self.margin, self.bound + self.margin

    @property
    def _written_seats(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Payoff and bound in each seat as they are written: if proved, in the digits proved."""
        if not self.is_proved:
            return self.seats, self.seats
        error = 2.0 * self.margin  # in Hog, where the margin is that of the mean of both seats
        ends = [(payoff - error, payoff + error) for payoff in self.seats]
        if self.seat_bounds is not None:
            ends = list(zip(self.seats, self.seat_bounds, strict=True))
        (first, first_bound), (second, second_bound) = (agreed(*pair) for pair in ends)
        return (first, second), (first_bound, second_bound)

    def rows(self) -> list[tuple[str, str, str]]:
        """Lay out the attack's value and its bounds, each with a name and its meaning."""
        lower, upper = self.units.ends(*self.ends, self.is_proved)
        full_memory = self.units.upper(self.full_memory + self.margin)
        seats = ""
        if self.units is not WIN_RATES:
            write = self.units.exact if self.is_proved else self.units.lower
            (first, second), _ = self._written_seats
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


@dataclass(frozen=True, eq=False, repr=False)
class Equilibrium:
    """Strategies of both sides in mixtures, and bounds on the value of the game.

    `profile` is the strategy of both seats, ``strategies[0]`` and ``strategies[1]`` are those of
    each alone. The value lies between `lower` and `upper`, which are it if `is_proved`.

    Attributes
    ----------
    lower : float
        Lower bound on the value of the game: the first player's mixture secures it.
    upper : float
        Upper bound on the value: the second player's mixture allows no more.
    strategies : tuple of Strategy
        Of the first player and of the second, each in its own seat alone; see `profile`.
    is_proved : bool
        Whether the payoffs that `strategies` secure and allow agree in every digit that is written,
        and within 1e-9 of the stakes. Both ends hold in spite of rounding.
    method : str
        ``lp``, one linear program; ``columns``, column generation, or double oracle; ``iterates``
        of CFR+, weighed by a linear program; ``tablebase``, optimal play by the scores; ``branch
        and bound``, of one absent-minded player; or a solver.
    effort : mapping
        Rounds, and the components of each strategy.
    seconds : float
        Time spent on it.
    units : Units
        How figures are written.
    sides : tuple of str
        Names of both sides, of a team with its members.
    secured : tuple of float, optional
        Payoffs that `strategies` secure and allow if they are only a part of the mixtures that were
        computed, which had too many components; None if they are all, and secure both ends.
    seats : int8 (R,), optional
        Seat of every row of a tree, (R,); None in Hog, where both players are alike.

    Examples
    --------
    >>> import hogeq
    >>> solved = hogeq.Game("kuhn_poker").equilibrium()
    >>> round(solved.lower, 6), solved.is_proved  # Kuhn 1950: -1/18
    (-0.055556, True)
    >>> solved.profile  # one strategy for both seats
    Strategy(policy; 12 x 2)
    >>> solved.strategies[1]
    Strategy(policy; 12 x 2; second seat alone)
    """

    lower: float
    upper: float
    strategies: tuple[Strategy, Strategy]
    is_proved: bool
    method: str
    effort: Mapping[str, Any]
    seconds: float
    units: Units = WIN_RATES
    sides: tuple[str, str] = ("player 0", "player 1")
    secured: tuple[float, float] | None = None
    seats: NDArray[np.int8] | None = None

    @cached_property
    def profile(self) -> Strategy:
        """One strategy for both seats: `strategies`, joined; in Hog the first of them."""
        if self.seats is None:
            return self.strategies[0]
        return joined(self.seats, *self.strategies)

    def __repr__(self) -> str:
        """Write both bounds on the value, whether they meet, and the method."""
        proved = "proved" if self.is_proved else "not proved"
        return f"Equilibrium({self.lower:z.6f} to {self.upper:z.6f}, {proved}; {self.method})"

    if not TYPE_CHECKING:  # a type checker would believe that every attribute exists

        def __getattr__(self, name: str) -> Any:
            """Raise for a missing attribute, and say where its value and its strategy are.

            Python calls this when it does not find an attribute.
            """
            if name not in {"value", "strategy"}:
                return object.__getattribute__(self, name)  # raises its own error
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {name!r}; the value lies between "
                ".lower and .upper; .profile is the strategy of both",
                name=name,
                obj=self,
            )

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
        """Lay out both bounds on the value, as the command prints them.

        A row has a name, a figure and its meaning. If the strategies are only a part of the
        mixtures that were computed, there are two more rows for what that part secures.
        """
        lower, upper = self.units.ends(self.lower, self.upper, self.is_proved)
        figure = self.units.figure
        first, second = self.sides
        if self.secured is None:  # `strategies` are the whole mixtures
            proved = "; proved" if self.is_proved else ""
            return [
                ("lower", lower, f"{figure} that {first} secures{proved}"),
                ("upper", upper, f"{figure} that {second} allows"),
            ]
        secured_lower = self.units.lower(self.secured[0])
        secured_upper = self.units.upper(self.secured[1])
        by_part = "by the part of the mixture that is given"
        return [
            ("lower", lower, f"value of the game at least: by the whole mixture of {first}"),
            ("upper", upper, f"value of the game at most: by the whole mixture of {second}"),
            ("lower, given", secured_lower, f"{figure} that {first} secures {by_part}"),
            ("upper, given", secured_upper, f"{figure} that {second} allows {by_part}"),
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
    """Lower bound on the value: the side's policy secures it."""
    upper: float
    """Upper bound on the value: by no policy does the side secure more."""
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
    """The side. The value of side 1 is the least that it allows, so its policy secures `upper`."""
    second: "InPolicies | None" = None
    """The same of the second side; None in Hog, whose players are alike."""

    def __repr__(self) -> str:
        """Write both bounds on the value, whether they meet, and the method."""
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
        """Price of uncorrelation: bounds on the loss of the side by policies instead of a mixture.

        Both are rounded outward, and at least 0. Values are payoffs to player 0: by policies side 0
        secures less of them than by a mixture, and side 1 allows more.
        """
        mixtures = self.mixtures
        if self.player == 0:
            least_price = Fraction(mixtures.lower) - Fraction(self.upper)
            most_price = Fraction(mixtures.upper) - Fraction(self.lower)
        else:
            least_price = Fraction(self.lower) - Fraction(mixtures.upper)
            most_price = Fraction(self.upper) - Fraction(mixtures.lower)
        return max(below(least_price), 0.0), max(above(most_price), 0.0)

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
        """Lay out both bounds on the value and the price of uncorrelation, for each side."""
        units = self.mixtures.units
        side = self.mixtures.sides[self.player]
        lower, upper = units.ends(self.lower, self.upper, are_one=False)
        least_price, most_price = units.ends(*self.price, are_one=False)
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
            ("price", f"{least_price} to {most_price}", f"of uncorrelation, to {side}"),
        ]
        return rows if self.second is None else rows + self.second.rows()


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
    """From the strongest response found; rounding is subtracted."""
    upper: float
    """From a bound on all responses; rounding is added."""
    response: Response
    """Source of both ends, with its method, effort and seconds."""

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values, with those of the response."""
        ends = self.lower, self.upper
        lower, upper = agreed(*ends) if self._are_one else ends
        return {**self.response.to_json(), "lower": lower, "upper": upper}

    @property
    def _are_one(self) -> bool:
        """Whether both ends are proved to be one number, in all digits that are written."""
        units = self.response.units
        if units is WIN_RATES:  # the digits of a win rate are those of its distance from 1/2
            return self.response.is_proved
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
