"""What searches and solvers give for every game: a response, an interval, an equilibrium.

Figures are in the game's own units: win rates in Hog, where 1/2 is even, and elsewhere payoffs,
where 0 is.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from hogeq.strategies.strategy import Strategy
from hogeq.support import html
from hogeq.support.aliases import Matrix
from hogeq.support.messages import at_least, at_most, between, percent, refusal
from hogeq.support.parameters import (
    Count,
    Natural,
    NotNegative,
    PositiveShare,
    Seed,
    parameters,
)

if TYPE_CHECKING:
    from hogeq.search.attack import SearchResult


class Value(NamedTuple):
    """Payoff to one strategy against another."""

    mean: float
    """Averaged over both seats."""
    first: float
    """In the first seat; in Hog, when it moves first."""
    second: float
    """In the second seat."""


class Units(NamedTuple):
    """How a game counts: what is even, and how ends of an interval are written."""

    even: float
    figure: str  # what is measured
    exact: Callable[[float], str]
    lower: Callable[[float], str]
    upper: Callable[[float], str]
    gap: Callable[[float, float], str]  # writes both ends of an exploitability
    axis: str  # of pictures: what an exploitability is

    def ends(self, lower: float, upper: float, are_one: bool) -> tuple[str, str]:
        """Write both ends of an interval, rounded outward unless they are one number."""
        if are_one:
            return self.exact(lower), self.exact(upper)
        return self.lower(lower), self.upper(upper)


PROVED: Final = 1e-9  # largest gap at which both ends of an interval meet, as win rates

WIN_RATES: Final = Units(
    even=0.5,
    figure="win rate",
    exact=percent,
    lower=at_least,
    upper=at_most,
    gap=between,
    axis="exploitability (win rate $-$ 1/2)",
)
"""Units of Hog."""


@parameters
class Budget:
    """Effort of a search for a response.

    Attributes
    ----------
    starts : int
        Starts. The first is the uniform policy, the second the strategy attacked; then come random
        policies, and in turn with them the strategy blended with one.
    anneal_steps : int
        Steps of the softmax responder while its temperature falls from 0.1 to 0.0001.
    damping : float
        Share of the way to the softmax that a step goes, above 0 to 1.
    kicks : int
        Kicks for each start after its ascent: a move (:mod:`hogeq.search.moves`) changes the
        matrix, the ascent is repeated, and the better matrix is kept. Close to equilibrium this
        finds counters that no number of starts does.
    seed : int
        Seed of the random starts and kicks.
    until_saturated : bool
        Whether to go on with kicks until twice the effort would find less than 0.0003, by
        :func:`hogeq.search.attack.saturation`.
    most_kicks : int
        Most kicks for each start then, and then alone.
    seconds : float, optional
        When to make no more kicks; how many there were then depends on the machine.
    exact_seconds : float, optional
        Limit of an integer program, where the responder forgets and the search proves nothing. By
        default 60, and 0 in Hog.

    Examples
    --------
    >>> Budget(starts=16, kicks=100).anneal_steps
    60
    """

    starts: Count = 4
    anneal_steps: Natural = 60
    damping: PositiveShare = 0.5
    kicks: Natural = 20
    seed: Seed = 0
    until_saturated: bool = False
    most_kicks: Natural = 1600
    seconds: NotNegative | None = None
    exact_seconds: NotNegative | None = None

    def __post_init__(self) -> None:
        """Refuse a number of kicks that nothing would ask for."""
        if self.most_kicks != Budget.most_kicks and not self.until_saturated:
            allowed = "another than 1600 only with until_saturated"
            raise ValueError(refusal("most_kicks", self.most_kicks, allowed))
        if self.until_saturated and self.most_kicks < self.kicks:
            allowed = f"the {self.kicks} kicks or more"
            raise ValueError(refusal("most_kicks", self.most_kicks, allowed))

    def fields(self) -> dict[str, Any]:
        """Give the effort as it stands in JSON."""
        given = ("starts", "anneal_steps", "damping", "kicks", "seed")
        return {name: getattr(self, name) for name in given}


@dataclass(frozen=True, eq=False, repr=False)
class Response:
    """The best response to a strategy that was found, and what no response exceeds.

    Examples
    --------
    >>> import hogeq
    >>> found = hogeq.Game("kuhn_poker").attack("uniform")
    >>> round(found.value, 6), found.is_proved  # NashConv of the uniform policy is twice that
    (0.458333, True)
    """

    strategy: Strategy
    """The response, pure, in either seat."""
    value: float
    """What it gets, exactly: the mean over both seats."""
    bound: float
    """What no response exceeds."""
    full_memory: float
    """What a responder gets who forgets nothing of the own past."""
    is_proved: bool
    """Whether both meet within 1e-9 of the stakes: it is a best response."""
    method: str
    """What the bound is of: ``full memory`` or ``integer program``."""
    seconds: float
    """Spent on it."""
    seats: tuple[float, float]
    """What it gets in the first seat, and in the second."""
    units: Units = WIN_RATES
    """How it is written."""
    search: "SearchResult | None" = None
    """Course of the search; None where none was needed."""

    @property
    def effort(self) -> dict[str, Any]:
        """The budget that was asked for, and what was spent."""
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
        return f"Response(value={self.value:.6f}, bound={self.bound:.6f}{proved})"

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values, without the response itself."""
        return {
            "attack": self.value,
            "bound": self.bound,
            "full_memory": self.full_memory,
            "proved": self.is_proved,
            "seats": list(self.seats),
            "method": self.method,
            "seconds": self.seconds,
            **({} if self.search is None else self.search.to_json()),
        }

    def rows(self) -> list[tuple[str, str, str]]:
        """Lay out both ends and what they mean, as the command prints them."""
        meaning = {
            "full memory": "no response has more: a responder who remembers everything",
            "integer program": "no response has more: by an integer program",
        }[self.method]
        proved = "; proved to be best" if self.is_proved else ""
        lower, upper = self.units.ends(self.value, self.bound, self.is_proved)
        rows = [
            ("attack", lower, f"best response found{proved}"),
            ("bound", upper, meaning),
        ]
        if self.method != "full memory":
            rows.append(
                ("full memory", self.units.upper(self.full_memory), "responder with perfect recall")
            )
        return rows

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
    response: Response | None = None
    """What made both ends; None where they were read from a file."""

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        made = {} if self.response is None else self.response.to_json()
        return {**made, "lower": self.lower, "upper": self.upper}


@dataclass(frozen=True, eq=False, repr=False)
class Equilibrium:
    """Strategies of both sides in mixtures, and what the value of the game lies between.

    Examples
    --------
    >>> import hogeq
    >>> solved = hogeq.Game("kuhn_poker").equilibrium()
    >>> round(solved.lower, 6), solved.is_proved  # Kuhn 1950: -1/18
    (-0.055556, True)
    """

    lower: float
    """Payoff to the first player that the first strategy secures."""
    upper: float
    """Payoff to the first player that the second strategy allows."""
    strategies: tuple[Strategy, Strategy]
    """Of the first player and of the second; rows of the other seat are not used."""
    is_proved: bool
    """Whether both ends meet within 1e-9 of the stakes."""
    method: str
    """``lp``, one linear program; ``columns``, pools that grow by best responses; ``tablebase``,
    optimal play by the scores; or a solver."""
    effort: Mapping[str, Any]
    """Rounds, and the components of each strategy."""
    seconds: float
    """Spent on it."""
    units: Units = WIN_RATES
    """How it is written."""

    def __repr__(self) -> str:
        """Say both ends."""
        proved = ", proved" if self.is_proved else ""
        return f"Equilibrium({self.lower:.6f} to {self.upper:.6f}{proved}; {self.method})"

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values, without the strategies."""
        return {
            "lower": self.lower,
            "upper": self.upper,
            "proved": self.is_proved,
            "method": self.method,
            "seconds": self.seconds,
            **self.effort,
        }

    def rows(self) -> list[tuple[str, str, str]]:
        """Lay out both ends and what they mean, as the command prints them."""
        proved = "; proved" if self.is_proved else ""
        lower, upper = self.units.ends(self.lower, self.upper, self.is_proved)
        return [
            ("lower", lower, f"payoff that player 0 secures{proved}"),
            ("upper", upper, "payoff that player 1 allows"),
        ]

    def _repr_html_(self) -> str:
        """Write the figures, in a notebook."""
        return html.table(self.rows(), ("", "value", "meaning"), "Equilibrium in mixtures")
