"""A strategy of a game, checked once: a matrix, a policy, or a mixture of such."""

import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from hogeq.strategies.arrays import (
    ROW_SUM_TOLERANCE,
    StrategyError,
    as_array,
    check_matrix,
    check_policy,
    one_hot,
)
from hogeq.strategies.mixtures import Mixture, check_mixture, not_a_table
from hogeq.support.aliases import Floats, Matrix, Policy
from hogeq.support.messages import refusal

Kind = Literal["matrix", "policy", "mixture"]

HOG_AXES = 3
"""Axes of a policy of Hog: own score, opponent's score, dice."""


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
    array : array
        A matrix, int8 (G, G): dice to roll by own and opponent's score. A policy, float64
        (G, G, K): probability of every roll. Of a mixture its components, one after the other:
        (n, G, G) or (n, G, G, K). Not to be written to.
    weights : float64 (n,)
        Probability of each component; ``[1.0]`` unless it is a mixture.
    shape : tuple of int
        Shape of a policy of its game, (G, G, K).

    Examples
    --------
    >>> import hogeq
    >>> game = hogeq.Game({"edition": "su20", "goal": 20, "max_dice": 4})
    >>> three = game.strategy("always_roll:3")
    >>> three.kind, three.array.shape
    ('matrix', (20, 20))
    """

    kind: Kind
    array: NDArray[Any]
    weights: Floats
    shape: tuple[int, ...]

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
        """Name the kind and the sizes: the numbers would fill pages."""
        size = " x ".join(map(str, self.shape))
        number = f"; {len(self.weights)} components" if self.kind == "mixture" else ""
        return f"Strategy({self.kind}; {size}{number})"

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """Be its array where numpy or a figure asks for one; always a copy."""
        return self.array.astype(self.array.dtype if dtype is None else dtype)

    @property
    def components(self) -> NDArray[Any]:
        """What may be drawn before the game, (n, ...); a matrix or a policy is one component."""
        return self.array if self.kind == "mixture" else self.array[None]

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
        found = one_hot(drawn, self.shape[-1]) if self.is_pure else drawn
        found.setflags(write=False)
        return found

    @property
    def policy(self) -> Policy:
        """The matrix or the policy as a policy, float64 (G, G, K).

        Raises
        ------
        StrategyError
            If it is a mixture, which no policy is.
        """
        return self.policies[0] if self.kind != "mixture" else self._refuse()

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
        """List the components that can be drawn, as they are, each with its probability."""
        return [
            (float(weight), component)
            for weight, component in zip(self.weights, self.components, strict=True)
            if weight > 0.0
        ]

    def as_mixture(self) -> Mixture:
        """Give its components and their probabilities."""
        return Mixture(self.weights, self.components)

    def write(self, path: str | os.PathLike[str], player_name: str | None = None) -> None:
        """Write it in the format of the path's suffix, whole or not at all.

        Parameters
        ----------
        path : path
            Ends in ``.csv``, ``.txt``, ``.json``, ``.npy``, ``.npz`` or ``.py``; for a policy in
            ``.npy`` or ``.npz``, for a mixture in ``.npz``.
        player_name : str, optional
            For ``.py``, and needed there: what the contest calls the entrant.

        Raises
        ------
        StrategyError
            If the suffix is unknown or not for this kind, or `player_name` is blank.
        OSError
            If the file cannot be written; what was there before is still there.
        """
        from hogeq.strategies.write import write_strategy

        given = self.as_mixture() if self.kind == "mixture" else self.array
        write_strategy(path, given, self.shape[0], self.shape[-1] - 1, player_name)

    def _refuse(self) -> Policy:
        raise not_a_table("strategy", len(self.weights))


StrategyLike: TypeAlias = Strategy | Mixture | ArrayLike
"""What stands for a strategy: one, a mixture, a matrix or a policy."""


def strategy_of(game: Sized, given: StrategyLike, name: str = "strategy") -> Strategy:
    """Check what stands for a strategy of a game; one that was checked is returned as it is.

    Raises
    ------
    StrategyError
        If it is malformed, naming the first bad cell, or of another game.
    TypeError
        If `game` is none.
    """
    check_game(game)
    if isinstance(given, Strategy):
        if given.shape != game.shape:
            raise StrategyError(f"{name}: is of shape {given.shape}; allowed: {game.shape}")
        return given
    if len(game.shape) != HOG_AXES:
        return _of_rows(game.shape, given, name)
    goal, _, num_actions = game.shape
    if isinstance(given, Mixture):
        drawn = check_mixture(given.weights, given.parts, goal, num_actions - 1)
        return Strategy("mixture", drawn.parts, drawn.weights, game.shape)
    table = as_array(given, name)
    # The messages of matrices and of policies say which of the two was taken for one.
    if table.ndim == HOG_AXES:
        return _alone("policy", check_policy(table, goal, num_actions - 1), game.shape)
    return _alone("matrix", check_matrix(table, goal, num_actions - 1), game.shape)


def table_of(game: Sized, given: StrategyLike, name: str = "strategy") -> Strategy:
    """Check a matrix or a policy; a mixture is refused."""
    found = strategy_of(game, given, name)
    if found.kind == "mixture":
        raise not_a_table(name, len(found.weights))
    return found


def _alone(kind: Kind, table: NDArray[Any], shape: tuple[int, ...]) -> Strategy:
    return Strategy(kind, table, np.ones(1), shape)


def _of_rows(shape: tuple[int, ...], given: StrategyLike, name: str) -> Strategy:
    """Check a strategy of a game that is not Hog, whose rows are of any shape."""
    if isinstance(given, Mixture):
        parts = np.stack([_of_rows(shape, part, name).policy for part in given.parts])
        return Strategy("mixture", parts, given.weights.copy(), shape)
    table = as_array(given, name, f"shape {shape} or {shape[:-1]}")
    if table.shape == shape[:-1] and table.dtype.kind in "iu":
        if table.min(initial=0) < 0 or table.max(initial=0) >= shape[-1]:
            allowed = f"actions 0 to {shape[-1] - 1}"
            raise StrategyError(f"{name}: has actions out of range; allowed: {allowed}")
        return _alone("matrix", table.astype(np.int8), shape)
    sums_to_one = table.shape == shape and table.dtype.kind in "iuf"
    sums_to_one = sums_to_one and bool(
        (table >= 0.0).all() and (np.abs(table.sum(axis=-1) - 1.0) <= ROW_SUM_TOLERANCE).all()
    )
    if not sums_to_one:
        allowed = f"actions {shape[:-1]}, or rows {shape} of probabilities that sum to 1"
        raise StrategyError(f"{name}: {table.dtype} {table.shape}; allowed: {allowed}")
    return _alone("policy", table.astype(np.float64), shape)


def check_game(game: object) -> None:
    """Refuse what is no game, such as its rules or its name, with a `TypeError`."""
    if not isinstance(getattr(game, "shape", None), tuple) or isinstance(game, np.ndarray):
        raise TypeError(refusal("game", game, "a Game, as hogeq.compile_game gives it"))
