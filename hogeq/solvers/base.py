"""What every solver is, and the registry by which solvers are named."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from hogeq.model.game import Game
from hogeq.support.aliases import Policy

State = TypeVar("State", bound=NamedTuple)
Kind = TypeVar("Kind", bound="type[Solver[Any]]")

SOLVERS: Final[dict[str, type["Solver[Any]"]]] = {}
"""Solvers by the names that a config gives them, in the order in which they are listed."""


def solver(name: str) -> Callable[[Kind], Kind]:
    """Register a class of solvers.

    Parameters
    ----------
    name : str
        What a config calls it.

    Raises
    ------
    ValueError
        By the decorator: another solver has that name.
    """

    def register(kind: Kind) -> Kind:
        if name in SOLVERS:
            raise ValueError(f"solver {name}: name is taken by {SOLVERS[name].__name__}")
        SOLVERS[name] = kind
        return kind

    return register


class Solver(ABC, Generic[State]):
    """An iterative algorithm for a strategy that is hard to exploit.

    A solver is a frozen dataclass of parameters (`hogeq.support.parameters.parameters`) and holds
    nothing else: all that a run knows is in its state, a named tuple of numpy arrays, which can
    be saved after any iteration and gives the same run again. So must all random draws: they come
    from a seed among the parameters and the number of the iteration.

    A solver does not measure itself, print or write: the runner does. How many threads compute is
    chosen around it (`hogeq.support.workers`), and the result does not depend on it.

    Attributes
    ----------
    GROWS : frozenset of str
        Arrays of the state that get longer from iteration to iteration; all others keep the shape
        that `init` gave them.
    """

    GROWS: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, **parameters: Any) -> None:
        """Take the parameters by name; the decorator `parameters` makes the real one."""

    @abstractmethod
    def init(self, game: Game) -> State:
        """State before the first iteration.

        Raises
        ------
        ValueError
            If the solver cannot play this game with these parameters.
        """

    @abstractmethod
    def step(self, game: Game, state: State) -> State:
        """State after one more iteration.

        The arrays of the state that is given may be changed and reused: it is of no use any more.
        All numbers of the new state are finite.
        """

    @abstractmethod
    def average(self, game: Game, state: State) -> Policy:
        """Policy (G, G, K) that the iterations so far stand for, a fresh array."""

    @abstractmethod
    def stats(self, game: Game, state: State) -> dict[str, float]:
        """Figures on convergence, by name; `average_regret` goes into the metrics of a run."""

    def restore(self, state: State, arrays: Mapping[str, ArrayLike]) -> State:
        """State made of saved arrays.

        Parameters
        ----------
        state : State
            Any state of this solver for the same game, of `init` say.
        arrays : mapping
            Arrays by the names of the state's fields.
        """
        return state._replace(**{name: np.array(arrays[name]) for name in state._fields})
