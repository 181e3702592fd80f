"""A strategy of a game, checked once: a matrix, a policy, or a mixture of such.

A mixture draws one of its components before a game and plays it to the end. Under imperfect recall
that is more than a policy, which draws anew at every position. See ``docs/mixtures.md``.
"""

import os
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import DTypeLike, NDArray

from hogeq.strategies.arrays import (
    MOST_DICE,
    StrategyError,
    likeliest,
    one_hot,
)
from hogeq.strategies.infosets import (
    NamedRow,
    NamedRows,
    policy_csv,
    policy_frame,
    policy_html,
    policy_json,
)
from hogeq.strategies.writing import MADE_FOR, WEIGHTS, WRITTEN, contest_code, matrix_text
from hogeq.support import html
from hogeq.support.aliases import Floats, Matrix, Policy
from hogeq.support.files import write_arrays, write_whole
from hogeq.support.messages import one_line, printable, refusal

if TYPE_CHECKING:
    from pandas import DataFrame

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
    """Return the shape of a policy that fits tables of Hog; without a policy K is the largest."""
    actions = max((table.shape[2] for table in tables if table.ndim == 3), default=0)
    goal = tables[0].shape[0] if tables[0].ndim else 1
    return goal, goal, actions or MOST_DICE + 1


Kind = Literal["matrix", "policy", "mixture"]


class Sized(Protocol):
    """A game, as far as a strategy needs to know it."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of a policy: rows of information sets, and last the number of actions."""

    @property
    def has_scores(self) -> bool:
        """Whether its rows are pairs of scores, as in Hog."""


@runtime_checkable
class HasRules(Protocol):
    """A game with rules, of Hog or of its own kind."""

    @property
    def rules(self) -> object:
        """Its rules."""


@dataclass(frozen=True, eq=False, repr=False)
class Strategy:
    """A strategy of a game, checked once when it is made; ``game.strategy`` makes it.

    ``strategy[infoset]`` gives the probabilities at an information set, by action.
    ``game.infosets`` lists the information sets; in Hog they are the own score and the opponent's.

    Attributes
    ----------
    kind : {"matrix", "policy", "mixture"}
        A pure, a behaviour or a mixed strategy.
    array : array
        A matrix, int8 (G, G): dice to roll by own and opponent's score; K - 1 is the choice -1,
        the last action. A policy, float64 (G, G, K): probability of every roll. Of a mixture its
        components, one after the other: (n, G, G) or (n, G, G, K). Not to be written to.
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
    has_scores : bool
        Whether its rows are pairs of scores, as in Hog.

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
    has_scores: bool = False

    @classmethod
    def unchecked(cls, policy: Floats) -> "Strategy":
        """Make a strategy of a policy (G, G, K) or (R, K), copied and not checked.

        Its game is not known: a policy of the shape (G, G, K) counts as one of Hog.
        """
        has_scores = policy.ndim == 3 and policy.shape[0] == policy.shape[1]
        return cls("policy", policy.copy(), np.ones(1), policy.shape, has_scores=has_scores)

    @classmethod
    def unchecked_mixture(cls, policies: Floats, weights: Floats) -> "Strategy":
        """Make a mixture of policies (n, G, G, K) by weights (n,), copied and not checked.

        A single policy is no mixture. The shape says whether it is of Hog, as in `unchecked`.
        """
        first = cls.unchecked(policies[0])
        if len(weights) == 1:
            return first
        return replace(first, kind="mixture", array=policies.copy(), weights=weights.copy())

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
        if self.has_scores:
            dice = range(self.shape[-1] + min(self.least, 0))
            return html.dice_map(self.likeliest, [*dice, *range(self.least, 0)], repr(self))
        if self.rows is None or self.kind == "mixture":
            return None
        return policy_html(self.listed(), self.shape[0], repr(self))

    def __getstate__(self) -> dict[str, Any]:
        """Pickle it without the names of its game, which may be large and of a user's classes."""
        return {**self.__dict__, "rows": None}

    # --- by name ----------------------------------------------------------------------------------

    __iter__ = None  # without it Python would iterate by `__getitem__` of 0, 1, ...

    def __getitem__(self, infoset: Hashable) -> dict[Hashable, float]:
        """Return the probabilities at an information set, by action.

        Parameters
        ----------
        infoset
            Its name; or its player and its name, where both players have one. In Hog the own score
            and the opponent's.

        Raises
        ------
        StrategyError
            If there is no such information set, it is of a seat that the strategy does not play, or
            this is a mixture, which draws one of its components before the game. For an unknown
            name the message quotes the nearest one; of games other than Hog ``game.rows.names``
            lists all.
        """
        row = self._names.find(infoset)
        if self.seat not in {None, row.seat}:
            allowed = f"those of the {SEATS[self.seat or 0]} seat, which the strategy plays alone"
            raise StrategyError(refusal("infoset", infoset, allowed))
        return self._chances(row)

    def to_dict(self) -> dict[Hashable, dict[Hashable, float]]:
        """Return the probabilities by information set and action.

        In Hog by the own score and the opponent's, and the dice. Of a strategy of one seat, those
        of its player.

        Examples
        --------
        >>> import hogeq
        >>> uniform = hogeq.Game("kuhn_poker").strategy("uniform")
        >>> uniform.to_dict()["0pb"]
        {'Pass': 0.5, 'Bet': 0.5}
        """
        return {row.key: chances for row, chances in self.listed()}

    def to_frame(self) -> "DataFrame":
        """Put the probabilities into a pandas frame: a line for each action.

        Columns are player, infoset and action, in Hog score, opponent and dice; and probability.

        Raises
        ------
        ExplainedError
            If pandas is not installed.
        """
        return policy_frame(self._names, self.policy, self.seat)

    @property
    def _names(self) -> NamedRows:
        """The names of the game's information sets; `StrategyError` without them."""
        if self.rows is None:
            allowed = "game.strategy(it), which has the names of its game"
            raise StrategyError(f"strategy: its information sets have no names; allowed: {allowed}")
        return self.rows

    def listed(self) -> Iterator[tuple[NamedRow, dict[Hashable, float]]]:
        """List the information sets, each with its probabilities."""
        for row in self._names.listed():
            if self.seat in {None, row.seat}:
                yield row, self._chances(row)

    def _chances(self, row: NamedRow) -> dict[Hashable, float]:
        """Return the probabilities at an information set, by the names of its actions."""
        num_actions = len(row.actions)
        entry = self.unmixed().array[row.place]  # of a matrix an action, of a policy (K,)
        if self.kind == "matrix":
            entry = np.arange(num_actions) == entry
        return dict(zip(row.actions, entry[:num_actions].astype(float).tolist(), strict=True))

    def named(self, name: str) -> "Strategy":
        """Return the strategy with a name, made one printable line."""
        return replace(self, name=one_line(name))

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """Return a copy of its array, where numpy or a figure asks for one."""
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
        return np.where(self.array == self.shape[-1] - 1, -1, self.array).astype(self.array.dtype)

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
        """Most probable roll of every row of the mean, the lower on ties, (G, G)."""
        return self.array if self.kind == "matrix" else likeliest(self.mean)

    def drawn(self) -> list[tuple[float, NDArray[Any]]]:
        """List the components that can be drawn, each with its probability."""
        pairs = zip(self.weights.tolist(), self.components, strict=True)
        return [(weight, component) for weight, component in pairs if weight > 0.0]

    def unmixed(self, name: str = "strategy") -> "Strategy":
        """Return itself, where a matrix or a policy is needed; a mixture raises `StrategyError`."""
        if self.kind == "mixture":
            raise StrategyError(
                f"{name}: is a mixture of {len(self.weights)} strategies, one of which is drawn "
                "before a game; allowed here: a matrix or a policy; hogeq export MIXTURE --part 1 "
                "--out part.npz writes a part"
            )
        return self

    def whole(self, name: str = "strategy") -> "Strategy":
        """Return itself, where both seats are needed; one of one seat raises `StrategyError`."""
        if self.seat is not None:
            where = self.name if name == "strategy" and self.name else name
            raise StrategyError(
                f"{where}: plays in the {SEATS[self.seat]} seat alone, and the rows of the "
                f"{SEATS[1 - self.seat]} are missing; allowed: a strategy of both seats: the "
                ".profile of an equilibrium, or game.joined(FIRST, SECOND)"
            )
        return self

    def write(self, path: str | os.PathLike[str], player_name: str | None = None) -> None:
        """Write it in the format of the path's suffix, whole or not at all.

        ``game.strategy(path)`` reads it.

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
        path = Path(path)
        if player_name is not None and path.suffix.lower() != ".py":
            raise StrategyError(refusal("player_name", player_name, "for a .py alone"))
        if path.suffix.lower() == ".npz":
            write_arrays(path, **self._arrays())
        else:
            write_whole(path, self._content(path, player_name or ""))

    def _content(self, path: Path, player_name: str) -> bytes:
        """Return the content of its file at `path`, which is no ``.npz``."""
        suffix = path.suffix.lower()
        name = printable(path)
        if suffix not in WRITTEN:
            got = f"suffix {path.suffix!a}" if suffix else "a name without suffix"
            raise StrategyError(f"{name}: {got}; allowed: {', '.join(WRITTEN)}")
        if self.kind == "mixture" or self.seat is not None:
            kind = "mixture" if self.kind == "mixture" else "strategy of one seat"
            raise StrategyError(f"{name}: a {kind} can be written to .npz, not {suffix}")
        if suffix == ".npy":
            file = BytesIO()
            np.save(file, self.dice)
            return file.getvalue()
        # A matrix of Hog is lines of dice; of another game such lines would lack the names of rows.
        if self.kind == "policy" or not self.has_scores:
            writers = {".csv": policy_csv, ".json": policy_json}
            if self.rows is None or suffix not in writers:
                allowed = ", ".join([".npz", ".npy", *(() if self.rows is None else writers)])
                raise StrategyError(
                    f"{name}: a {self.kind} can be written to {allowed}, not {suffix}"
                )
            return writers[suffix](self.rows, self.policy).encode()
        if suffix == ".py":
            return contest_code(self.dice, player_name).encode()
        return matrix_text(self.dice, suffix).encode()

    def _arrays(self) -> dict[str, Any]:
        """Return its arrays in an ``.npz`` file, by their names."""
        arrays: dict[str, Any] = {self.kind: self.dice}
        if self.kind == "mixture":
            components = "matrices" if self.is_pure else "policies"
            arrays = {WEIGHTS: self.weights, components: self.dice}
        if self.seat is not None:
            arrays["seat"] = np.int8(self.seat)
        if self.rows is not None and self.rows.rows_sha256 is not None:
            made_for = self.rows.name.encode(errors="replace"), self.rows.rows_sha256
            for key, value in zip(MADE_FOR, made_for, strict=True):
                arrays[key] = np.frombuffer(value, np.uint8)
        return arrays
