"""Base class of solvers, and the registry of solvers by name."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Final, Generic, NamedTuple, NoReturn, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from hogeq.model.protocol import Engine
from hogeq.strategies.arrays import check_policy
from hogeq.strategies.conversion import StrategyLike
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Policy
from hogeq.support.messages import HogeqError, refusal
from hogeq.support.plugins import Registry, entering

State = TypeVar("State", bound=NamedTuple)
Kind = TypeVar("Kind", bound="type[Solver[Any]]")


class SolverRegistry(Registry[type["Solver[Any]"]]):
    """Solvers by name; a name that is not known is refused with the nearest."""

    def __missing__(self, name: object) -> NoReturn:
        allowed = f"one of {', '.join(sorted(self))}"
        raise UnknownSolverError(refusal("solver", name, allowed, self))


class UnknownSolverError(HogeqError, KeyError):
    """There is no solver of a name; the message is one line."""

    __str__ = ValueError.__str__


SOLVERS: Final = SolverRegistry()
"""Solvers by name, as in a config; help and messages list them in this order."""


def solver(name: str) -> Callable[[Kind], Kind]:
    """Class decorator that registers a solver.

    Parameters
    ----------
    name : str
        Name of the solver in a config.

    Raises
    ------
    ValueError
        When the class is decorated: another solver has that name, or the class lacks a method of
        `Solver` or the decorator `parameters`.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> import hogeq
    >>> import numpy as np
    >>> from hogeq.support.parameters import parameters
    >>> class Nothing(NamedTuple):
    ...     pass
    >>> @hogeq.solver("uniform")
    ... @parameters
    ... class Uniform(hogeq.Solver):
    ...     "Every roll is as likely as any other; there is nothing to learn."
    ...
    ...     def init(self, game):
    ...         return Nothing()
    ...
    ...     def step(self, game, state):
    ...         return state
    ...
    ...     def average(self, game, state):
    ...         return np.full(game.shape, 1 / game.num_actions)
    ...
    ...     def stats(self, game, state):
    ...         return {}
    >>> "uniform" in hogeq.SOLVERS
    True
    """
    return entering(SOLVERS, "solver", name, Solver)


class Solver(ABC, Generic[State]):
    """An iterative algorithm for a strategy that is hard to exploit.

    A solver is a frozen dataclass of its parameters (`hogeq.support.parameters.parameters`) and
    holds nothing else. Everything that changes in a run is in its state, a named tuple of numpy
    arrays. A state can be saved after any iteration, and a run restored from it continues to the
    same bits: random draws therefore depend on nothing but a seed among the parameters and the
    number of the iteration.

    A solver does not measure itself, print or write: the runner does. How many threads compute is
    chosen around it (`hogeq.support.workers.workers`) and does not change the result.

    Attributes
    ----------
    GROWS : frozenset of str
        Names of the arrays of the state whose axes get longer; all others keep the shape that
        `init` gave them.
    FILES : frozenset of str
        Names of the parameters that name files, empty if there is none. Only `init` reads them.

    Examples
    --------
    >>> import hogeq
    >>> game, solver = hogeq.Game("kuhn_poker"), hogeq.SOLVERS["cfr_plus"]()
    >>> isinstance(solver, hogeq.Solver)
    True
    >>> state = solver.step(game.engine, solver.init(game.engine))
    >>> solver.average(game.engine, state).shape == game.engine.shape
    True
    """

    GROWS: ClassVar[frozenset[str]] = frozenset()
    FILES: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, **parameters: Any) -> None:
        """Take the parameters by name; the decorator `parameters` replaces this method."""

    @abstractmethod
    def init(self, game: Engine) -> State:
        """State before the first iteration; a `ValueError` if the game cannot be solved so."""

    @abstractmethod
    def step(self, game: Engine, state: State) -> State:
        """State after one more iteration.

        It may change and reuse the arrays of `state`: do not use that afterwards. All numbers of
        the new state are finite.
        """

    def steps(self, game: Engine, state: State, most: int) -> tuple[State, int]:
        """State after some more iterations, at most `most`, and how many; to the bits of `step`.

        Solvers with compiled loops do many at once, others 1.
        """
        return self.step(game, state), 1

    @abstractmethod
    def average(self, game: Engine, state: State) -> Policy:
        """Policy (G, G, K) after the iterations so far, for most an average; a fresh array."""

    @staticmethod
    def checked(game: Engine, policy: Policy, name: str = "policy") -> Policy:
        """Check a result of `average`; `ValueError` unless it is a policy of the game."""
        return check_policy(policy, game.shape, name, has_scores=game.has_scores)

    def mixture(self, game: Engine, state: State) -> StrategyLike | None:
        """Mixture that a run measures beside the policy; None, unless the solver looks for one."""
        return None

    @abstractmethod
    def stats(self, game: Engine, state: State) -> dict[str, float]:
        """Measures of convergence by name; `average_regret` goes into the metrics of a run."""

    def caveat(self, game: Engine) -> str:
        """Say why no theorem promises convergence on this game; an empty text where one does."""
        return ""

    def restore(self, state: State, arrays: Mapping[str, ArrayLike]) -> State:
        """State of saved arrays, copied, by the names of any state of this solver and game."""
        return state._replace(**{name: np.array(arrays[name]) for name in state._fields})


def read_start(game: Engine, path: str) -> Strategy:
    """Read the file of the strategy that a solver starts from, with the sizes of the game."""
    from hogeq.strategies.files import read_strategy, sizes_of

    return read_strategy(Path(path), **sizes_of(game))
