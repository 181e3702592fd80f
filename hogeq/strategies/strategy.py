"""A strategy of a game, checked once: a matrix, a policy, or a mixture of such.

A mixture draws one of its components before a game and plays it to the end. Under imperfect recall
that is more than a policy, which draws anew at every position. See ``docs/mixtures.md``.
"""

import math
import os
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from hogeq.strategies.arrays import (
    HOG_AXES,
    MOST_DICE,
    ROW_SUM_TOLERANCE,
    TABLES,
    StrategyError,
    as_array,
    bad_cells,
    check_table,
    more_precise,
    one_hot,
)
from hogeq.strategies.infosets import PROBABILITY, NamedRow, NamedRows
from hogeq.support import html
from hogeq.support.aliases import Floats, Matrix, Policy
from hogeq.support.messages import ExplainedError, not_installed, one_line, percent, raised, refusal

if TYPE_CHECKING:
    from pandas import DataFrame

SHOWN: Final = 20  # information sets in a notebook

MOST_PARTS: Final = 1000  # most components that a mixture has

ROUNDING: Final = 2.0**-53  # of a sum, for each number in it

SEATS: Final = ("first", "second")


@dataclass(frozen=True, eq=False)
class Mixture:
    """A mixed strategy: one of its parts is drawn before the game and played to its end.

    It is checked where it is used, as a strategy of a game.

    Attributes
    ----------
    weights : array_like (n,)
        Probability of drawing each part: not negative, sum 1. At most 1,000 parts.
    parts : sequence of array_like
        Matrices (G, G) or policies (G, G, K). Of both together policies are made.

    Examples
    --------
    >>> import hogeq
    >>> game = hogeq.Game({"edition": "su20", "goal": 20, "max_dice": 4})
    >>> one, three, four = (game.strategy(f"always_roll:{dice}") for dice in (1, 3, 4))
    >>> drawn = hogeq.Mixture([0.5, 0.5], [one, four])
    >>> round(game.win_rate(drawn, three).win_rate, 6)
    0.375809
    """

    weights: Any
    parts: Any


def shape_like(tables: Sequence[NDArray[Any]]) -> tuple[int, int, int]:
    """Give the shape of a policy for tables of Hog: of as many dice as can be without one."""
    actions = max((table.shape[2] for table in tables if table.ndim == HOG_AXES), default=0)
    goal = tables[0].shape[0] if tables[0].ndim else 1
    return goal, goal, actions or MOST_DICE + 1


def _checked_weights(weights: ArrayLike, parts: int, name: str) -> Floats:
    """Copy of the weights of some parts, float64 (n,)."""
    try:
        given = np.asarray(weights)
    except ValueError as error:  # sequences that differ in length
        raise StrategyError(f"{name}: weights differ in length; allowed: one a part") from error
    if given.dtype.kind not in "iuf" or given.ndim != 1:
        raise StrategyError(
            f"{name}: weights are {given.dtype} of shape {given.shape}; allowed: numbers, (n,)"
        )
    if len(given) != parts or not 1 <= parts <= MOST_PARTS:
        raise StrategyError(
            f"{name}: has {len(given)} weights and {parts} parts; allowed: as many, "
            f"1 to {MOST_PARTS}"
        )
    chances = given.astype(np.float64)
    bad = np.flatnonzero(~((chances >= 0.0) & (chances <= 1.0 + ROW_SUM_TOLERANCE)))
    if len(bad):
        raise StrategyError(
            f"{name}: the weight of part {bad[0] + 1} is {chances[bad[0]]}; allowed: 0 to 1"
        )
    if abs(chances.sum() - 1.0) > ROW_SUM_TOLERANCE:
        raise StrategyError(
            f"{name}: weights sum to {chances.sum()}; allowed: 1 within {ROW_SUM_TOLERANCE}"
            f"{more_precise(given)}"
        )
    total = math.fsum(chances.tolist())
    if abs(total - 1.0) > parts * ROUNDING:  # more than a sum of 1 is rounded by
        chances /= total
    return chances


Kind = Literal["matrix", "policy", "mixture"]


class Sized(Protocol):
    """A game, as far as a strategy needs to know it."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of a policy: rows of information sets, and last the number of actions."""


@dataclass(frozen=True, eq=False, repr=False)
class Strategy:
    """A strategy of a game, checked once when it is made; :func:`strategy_of` makes it.

    Attributes
    ----------
    kind : {"matrix", "policy", "mixture"}
        A pure, a behaviour or a mixed strategy.
    array : array
        A matrix, int8 (G, G): dice to roll by own and opponent's score, the choice -1 being
        K - 1, the last action. A policy, float64
        (G, G, K): probability of every roll. Of a mixture its components, one after the other:
        (n, G, G) or (n, G, G, K). Not to be written to.
    weights : float64 (n,)
        Probability of each component; ``[1.0]`` unless it is a mixture.
    shape : tuple of int
        Shape of a policy of its game, (G, G, K).
    least : int
        Lowest choice: the fewest dice, or -1 in games whose last action is that.
    name : str
        Of a built-in, of the player of a file, of the file itself, of a function; or empty.
    rows : NamedRows, optional
        The names of its information sets and actions, those of its game; the strategies that
        methods of a game give have them. They are not copied and not pickled.
    seat : int, optional
        Seat of a game tree in which it plays alone, 0 or 1: rows of the other seat mean nothing.
        None if it plays in both, as every strategy of Hog does.

    Examples
    --------
    >>> import hogeq
    >>> game = hogeq.Game({"edition": "su20", "goal": 20, "max_dice": 4})
    >>> three = game.strategy("always_roll:3")
    >>> three.kind, three.array.shape
    ('matrix', (20, 20))
    >>> three[12, 15]  # own score 12, opponent 15: dice, and the probability of each
    {0: 0.0, 1: 0.0, 2: 0.0, 3: 1.0, 4: 0.0}
    >>> solved = hogeq.Game("kuhn_poker").equilibrium()
    >>> {action: round(share, 4) for action, share in solved.profile["2b"].items()}  # the king
    {'Pass': 0.0, 'Bet': 1.0}
    """

    kind: Kind
    array: NDArray[Any]
    weights: Floats
    shape: tuple[int, ...]
    least: int = 0
    name: str = ""
    seat: int | None = None
    rows: NamedRows | None = None

    @classmethod
    def unchecked(cls, policies: Floats, weights: Floats | None = None) -> "Strategy":
        """Strategy of policies that a solver has made: one (G, G, K), or several with weights."""
        if weights is None or len(weights) == 1:
            policy = policies if weights is None else policies[0]
            return cls("policy", policy.copy(), np.ones(1), policy.shape)
        return cls("mixture", policies.copy(), weights.copy(), policies.shape[1:])

    def __post_init__(self) -> None:
        """Protect the arrays."""
        self.array.setflags(write=False)
        self.weights.setflags(write=False)

    def __repr__(self) -> str:
        """Name the strategy, its kind and its sizes: the numbers would fill pages."""
        size = " x ".join(map(str, self.shape))
        number = f"; {len(self.weights)} components" if self.kind == "mixture" else ""
        alone = "" if self.seat is None else f"; {SEATS[self.seat]} seat alone"
        name = f"{self.name}; " if self.name else ""
        return f"Strategy({name}{self.kind}; {size}{number}{alone})"

    def _repr_html_(self) -> str | None:
        """Draw the most probable rolls, in a notebook; of other games, write the first rows."""
        if len(self.shape) != HOG_AXES:
            return self._first_rows()
        dice = range(self.shape[-1] + min(self.least, 0))
        return html.dice_map(self.likeliest, [*dice, *range(self.least, 0)], repr(self))

    def _first_rows(self) -> str | None:
        if self.rows is None or self.kind == "mixture":
            return None
        lines = [
            (row.key, ", ".join(f"{action} {percent(one)}" for action, one in chances.items()))
            for row, chances in islice(self._listed(), SHOWN)
        ]
        shown = f"; {SHOWN} of {self.shape[0]:,} information sets" * (self.shape[0] > SHOWN)
        return html.table(lines, ("information set", "probabilities"), f"{self!r}{shown}")

    def __getstate__(self) -> dict[str, Any]:
        """Leave the names of its game behind: they may be large, and of anybody's classes."""
        return {**self.__dict__, "rows": None}

    # --- by name ----------------------------------------------------------------------------------

    __iter__ = None  # one asks for an information set, and not for the first

    def __getitem__(self, infoset: Hashable) -> dict[Hashable, float]:
        """Probabilities at an information set, by action.

        Parameters
        ----------
        infoset
            Its name; or its player and its name, where both players have one. In Hog the own score
            and the opponent's.

        Raises
        ------
        StrategyError
            If there is no such information set, it is of a seat that the strategy does not play, or
            this is a mixture, which draws one of its components before the game.
        """
        names = self._names
        row = names.find(infoset)
        if self.seat not in {None, row.seat}:
            allowed = f"those of the {SEATS[self.seat or 0]} seat, which the strategy plays alone"
            raise StrategyError(refusal("infoset", infoset, allowed))
        return self._chances(row)

    def to_dict(self) -> dict[Hashable, dict[Hashable, float]]:
        """Probabilities by information set and action.

        In Hog by the own score and the opponent's, and the dice. Of a strategy of one seat, those
        of its player.

        Examples
        --------
        >>> import hogeq
        >>> uniform = hogeq.Game("kuhn_poker").strategy("uniform")
        >>> uniform.to_dict()["0pb"]
        {'Pass': 0.5, 'Bet': 0.5}
        """
        return {row.key: chances for row, chances in self._listed()}

    def to_frame(self) -> "DataFrame":
        """Put the probabilities into a pandas frame: a line for each action.

        Columns are player, infoset and action, in Hog score, opponent and dice; and probability.

        Raises
        ------
        ExplainedError
            If pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ExplainedError(not_installed("pandas", "to_frame", "pandas")) from error
        names, policy = self._names, self.policy
        return pd.DataFrame(
            [
                (*cells, float(policy[place]))
                for cells, place in names.places.items()
                if self.seat in {None, cells[0]}
            ],
            columns=[*names.columns, PROBABILITY],
        )

    @property
    def _names(self) -> NamedRows:
        if self.rows is None:
            allowed = "game.strategy(it), which has the names of its game"
            raise StrategyError(f"strategy: its information sets have no names; allowed: {allowed}")
        return self.rows

    def _listed(self) -> Iterator[tuple[NamedRow, dict[Hashable, float]]]:
        for row in self._names.listed():
            if self.seat in {None, row.seat}:
                yield row, self._chances(row)

    def _chances(self, row: NamedRow) -> dict[Hashable, float]:
        entry = self.unmixed().array[row.place]
        if self.kind == "matrix":
            entry = np.arange(len(row.actions)) == entry
        return dict(zip(row.actions, entry[: len(row.actions)].astype(float).tolist(), strict=True))

    def named(self, name: str) -> "Strategy":
        """Give it a name, as one printable line."""
        return replace(self, name=one_line(name))

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """Be its array where numpy or a figure asks for one; always a copy."""
        return self.array.astype(self.array.dtype if dtype is None else dtype)

    @property
    def components(self) -> NDArray[Any]:
        """The components, (n, ...); a matrix or a policy is one."""
        return self.array if self.kind == "mixture" else self.array[None]

    @property
    def dice(self) -> NDArray[Any]:
        """The array; a matrix, or matrices, with -1 for that choice."""
        if self.least >= 0 or not self.is_pure:
            return self.array
        return np.where(self.array == self.shape[-1] - 1, np.int8(-1), self.array)

    @property
    def is_pure(self) -> bool:
        """Whether every component is a matrix."""
        return self.components.ndim == len(self.shape)

    @cached_property
    def chances(self) -> Floats:
        """Probabilities of the components that can be drawn, (m,)."""
        return self.weights[self.weights > 0.0]

    @cached_property
    def policies(self) -> Floats:
        """The components that can be drawn, as policies, float64 (m, G, G, K)."""
        drawn = self.components[self.weights > 0.0]
        policies = one_hot(drawn, self.shape[-1]) if self.is_pure else drawn
        policies.setflags(write=False)
        return policies

    @property
    def policy(self) -> Policy:
        """The matrix or the policy as a policy, float64 (G, G, K).

        Raises
        ------
        StrategyError
            If it is a mixture, which no policy is.
        """
        return self.unmixed().policies[0]

    @property
    def mean(self) -> Policy:
        """Mean of the components as policies, weighted; of one component itself."""
        if len(self.chances) == 1:
            return self.policies[0]
        return np.tensordot(self.chances, self.policies, 1)

    @property
    def likeliest(self) -> Matrix:
        """Most probable roll of every row of the mean, the lower on ties, int8 (G, G)."""
        return self.array if self.kind == "matrix" else self.mean.argmax(axis=-1).astype(np.int8)

    def drawn(self) -> list[tuple[float, NDArray[Any]]]:
        """List the components that can be drawn, each with its probability."""
        pairs = zip(self.weights.tolist(), self.components, strict=True)
        return [(weight, component) for weight, component in pairs if weight > 0.0]

    def unmixed(self, name: str = "strategy") -> "Strategy":
        """Be itself; `StrategyError` for a mixture, where a matrix or a policy is needed."""
        if self.kind == "mixture":
            raise StrategyError(
                f"{name}: is a mixture of {len(self.weights)} strategies, one of which is drawn "
                "before a game; allowed here: a matrix or a policy; hogeq export MIXTURE --part 1 "
                "--out part.npz writes a part"
            )
        return self

    def whole(self, name: str = "strategy") -> "Strategy":
        """Be itself; `StrategyError` for a strategy of one seat, where one of both is needed."""
        if self.seat is not None:
            called = self.name if name == "strategy" and self.name else name
            raise StrategyError(
                f"{called}: plays in the {SEATS[self.seat]} seat alone, and the rows of the "
                f"{SEATS[1 - self.seat]} are missing; allowed: a strategy of both seats: the "
                ".profile of an equilibrium, or game.joined(FIRST, SECOND)"
            )
        return self

    def write(self, path: str | os.PathLike[str], player_name: str | None = None) -> None:
        """Write it in the format of the path's suffix, whole or not at all.

        Parameters
        ----------
        path : path
            Ends in ``.csv``, ``.txt``, ``.json``, ``.npy``, ``.npz`` or ``.py``. A policy, and any
            strategy of another game than Hog, is a table in ``.csv``, with the names of information
            sets and actions; in ``.json`` it has the form of OpenSpiel; and there is ``.npy`` and
            ``.npz``. A mixture, or a strategy of one seat, is written to ``.npz`` alone.
        player_name : str, optional
            For ``.py``, and needed there: what the contest calls the entrant.

        Raises
        ------
        StrategyError
            If the suffix is unknown or not for this kind, or `player_name` is blank.
        OSError
            If the file cannot be written; what was there before is still there.
        """
        from hogeq.strategies.files import write_strategy

        if player_name is not None and Path(path).suffix.lower() != ".py":
            raise StrategyError(refusal("player_name", player_name, "for a .py alone"))
        write_strategy(path, self, player_name)


class Fault(NamedTuple):
    """One kind of fault of a file."""

    kind: str
    """"code", "time", "crash", "raises", "range", "impure", "name", "shape", "files" or "unread".

    "time" and "crash" may be of the machine: another call may find another verdict.
    """
    times: int
    line: str  # about the first of them


@dataclass(frozen=True)
class Submission:
    """A file that was read: a strategy, or faults."""

    size: int  # bytes of the file
    name: str | None  # of its player or team, if the file says it
    strategy: Strategy | None  # None if there is any fault
    faults: tuple[Fault, ...]  # every kind of fault and of bad value once, with its count
    seconds: dict[str, float]
    """``load``, ``table`` (every position once) and ``slowest`` (one call), as a ``.py`` says
    itself; empty if it is none."""
    answered: int  # positions that have an answer, good or bad, of G * G
    asked: tuple[int, int] | None = None
    """Position that a ``.py`` was asked for when it was stopped; None if it was not."""
    files: tuple[str, ...] = ()
    """Other files of its folder that a ``.py`` opened, printable, as it says itself."""
    alone: bool | None = None
    """Whether a ``.py`` gives its table with no other file; None if it has no valid table."""
    prints: bool = False  # whether a ``.py`` printed anything, as it says; the text is lost
    draws: bool = False  # whether it drew random numbers without a seed of its own, as it says
    attempts: tuple[str, ...] = ()
    """What else a ``.py`` tried to reach, printable: its own words, for the staff alone."""
    key: str = ""  # hash of the files that were judged, of an entry in a folder


Rule: TypeAlias = Callable[[int, int], int]


class HasStrategy(Protocol):
    """A result of a search or a solver, which stands for its strategy."""

    @property
    def strategy(self) -> Strategy:
        """The strategy that was found."""


class HasProfile(Protocol):
    """A result with a strategy for each seat, which stands for both."""

    @property
    def profile(self) -> Strategy:
        """Both, as one strategy."""


StrategyLike: TypeAlias = Strategy | Mixture | ArrayLike | Rule | HasStrategy | HasProfile
"""A strategy, or what one is made of: a mixture, a matrix, a policy, or a function that says how
many dice to roll by both scores, the own one first; or a result that has one."""


def of_result(given: Any) -> Any:
    """Strategy of a result: the `profile` of an equilibrium, the `strategy` of others."""
    found = getattr(given, "profile", getattr(given, "strategy", None))
    return found if isinstance(found, Strategy) else given


def least_choice(game: Sized) -> int:
    """Lowest choice of a game: -1 where its last action is that, otherwise the fewest dice."""
    rules = getattr(game, "rules", None)
    return getattr(rules, "least_answer", 0)


def strategy_of(game: Sized, given: StrategyLike, name: str = "strategy") -> Strategy:
    """Make a checked strategy of a game; one that was checked is returned as it is.

    Raises
    ------
    StrategyError
        If it is malformed, naming the first bad cell, or of another game, or of one seat alone.
    TypeError
        If `game` is none.
    """
    check_game(game)
    return strategy_of_shape(game.shape, given, name, least_choice(game)).whole(name)


def strategy_of_shape(
    shape: tuple[int, ...] | None, given: StrategyLike, name: str = "strategy", least: int = 0
) -> Strategy:
    """Make a checked strategy of any game whose policies have a shape; None: its own, of Hog.

    Where `least` is -1, a matrix may hold that for the last action; fewer dice than `least` are as
    many.
    """
    given = of_result(given)
    if isinstance(given, Strategy):
        if shape not in {None, given.shape}:
            raise StrategyError(f"{name}: is of shape {given.shape}; allowed: {shape}")
        return given
    if isinstance(given, Mixture):
        return _mixed(given, shape, "mixture" if name == "strategy" else name, least)
    if callable(given) and not hasattr(given, "__array__"):
        return _answered(given, shape, name, least)
    table = as_array(given, name)
    if table.ndim == 0:
        raise StrategyError(refusal(name, given, f"{TABLES}, or a function of two scores"))
    shape = shape or shape_like([table])
    if least < 0 and table.ndim == len(shape) - 1:
        table = np.where(table == least, shape[-1] - 1, table)
    table = check_table(table, shape, name)
    kind: Kind = "policy" if table.ndim == len(shape) else "matrix"
    if kind == "matrix" and least > 0:  # where nothing wins, algorithms give the first action
        table = np.maximum(table, np.int8(least))
    return Strategy(kind, table, np.ones(1), shape, least)


def _answered(function: Rule, shape: tuple[int, ...] | None, name: str, least: int) -> Strategy:
    """Ask a function for every position, twice: it must depend on the scores alone."""
    called = getattr(function, "__name__", type(function).__name__)
    if shape is None or len(shape) != HOG_AXES:
        raise StrategyError(f"{name}: is a function of two scores; allowed: in games of Hog")
    table = np.full(shape[:2], None)
    cells = list(np.ndindex(table.shape))
    for cell in cells + cells[::-1]:
        where = f"{name}: {called}{cell}"
        try:
            answer = function(*cell)
        except Exception as error:
            raise StrategyError(f"{where} raised {raised(error)}") from error
        for _, line in bad_cells([[answer]], 1, shape[-1] - 1 + min(least, 0), least):
            raise StrategyError(f"{where} {line.removeprefix('cell (row 0, column 0) ')}")
        if table[cell] not in {None, answer}:
            is_other = f"is {table[cell]}, and {answer} when asked again"
            raise StrategyError(f"{where} {is_other}: it must depend on the scores alone")
        table[cell] = answer
    found = strategy_of_shape(shape, table.astype(int), name, least)
    return found if called == "<lambda>" else found.named(called)


def _mixed(given: Mixture, shape: tuple[int, ...] | None, name: str, least: int) -> Strategy:
    """Check and copy a mixture."""
    try:
        parts = list(given.parts)
    except TypeError as error:
        allowed = "a list of parts, each a matrix (G, G) or a policy (G, G, K)"
        raise StrategyError(refusal(name, given.parts, allowed)) from error
    tables = []
    for number, part in enumerate(parts, 1):
        where = f"{name}, part {number}"
        asked = _answered(part, shape, where, least) if callable(part) else part
        tables.append(as_array(asked, where))
    weights = _checked_weights(given.weights, len(tables), name)
    shape = shape or shape_like(tables)
    pure = all(table.ndim != len(shape) for table in tables)
    # One by one into the array: there may be many.
    checked = np.empty(
        (len(tables), *(shape[:-1] if pure else shape)), np.int8 if pure else np.float64
    )
    for number, table in enumerate(tables):
        part = strategy_of_shape(shape, table, f"{name}, part {number + 1}", least).array
        checked[number] = part if part.ndim == checked.ndim - 1 else one_hot(part, shape[-1])
    return Strategy("mixture", checked, weights, shape, least)


def joined(seats: NDArray[np.int8], first: Strategy, second: Strategy) -> Strategy:
    """Make one strategy for both seats of a tree, whose rows have `seats` (R,).

    A player draws from the strategy of its own seat. The other's draw means nothing to it, so both
    may be one: each component of the result has a component of either.
    """
    ends = [np.cumsum(one.chances) for one in (first, second)]
    cuts = np.unique(np.concatenate(ends).clip(max=1.0))
    cuts[-1] = 1.0
    middles = (cuts + np.concatenate([[0.0], cuts[:-1]])) / 2.0
    mine, theirs = (
        one.policies[np.searchsorted(end, middles).clip(max=len(end) - 1)]
        for one, end in zip((first, second), ends, strict=True)
    )
    policies: Floats = np.where(seats[:, None] == 0, mine, theirs)
    return replace(Strategy.unchecked(policies, np.diff(cuts, prepend=0.0)), rows=first.rows)


def table_of(game: Sized, given: StrategyLike) -> Strategy:
    """Check a matrix or a policy; a mixture is refused."""
    return strategy_of(game, given).unmixed()


def policy_of(game: Sized, strategy: StrategyLike) -> Policy:
    """Policy (G, G, K) of a matrix or a policy, checked: a fresh array."""
    return table_of(game, strategy).policy.copy()


def policies_of(game: Sized, *strategies: StrategyLike) -> Floats:
    """Policies of some strategies, one after the other: float64 (n, G, G, K)."""
    return np.stack([table_of(game, strategy).policy for strategy in strategies])


def check_game(game: object) -> None:
    """Refuse other things than a game, such as its rules or its name, with a `TypeError`."""
    if not isinstance(getattr(game, "shape", None), tuple) or isinstance(game, np.ndarray):
        raise TypeError(refusal("game", game, "a Game, as hogeq.compile_game gives it"))
