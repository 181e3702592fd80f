"""Purifiers: their base classes, those that treat every cell by itself, and all by name."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Final, TypeVar

import numpy as np

from hogeq.model.protocol import Engine
from hogeq.search.attack import attack
from hogeq.search.results import Budget
from hogeq.strategies.arrays import (
    StrategyError,
    as_array,
    check_matrix,
    check_table,
    draw_actions,
    likeliest,
    one_hot,
)
from hogeq.strategies.conversion import StrategyLike, policy_of
from hogeq.support.aliases import Floats, Matrix, Policy
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.support.messages import HogeqError, raised, refusal
from hogeq.support.parameters import Count, Natural, Seed, Share, check, parameters
from hogeq.support.plugins import Registry, entering, is_ours, named
from hogeq.support.progress import phase
from hogeq.support.workers import WorkersLostError

Kind = TypeVar("Kind", bound="type[Purifier]")

PURIFIERS: Final[Registry[type["Purifier"]]] = Registry()
"""Purifiers by name, as in a config; help and messages list them in this order."""


def purifier(name: str) -> Callable[[Kind], Kind]:
    """Class decorator that registers a purifier.

    Parameters
    ----------
    name : str
        Name of the purifier in a config.

    Raises
    ------
    ValueError
        When the class is decorated: another purifier has that name, or the class lacks a method of
        `Purifier` or the decorator `parameters`.

    Examples
    --------
    >>> import hogeq
    >>> import numpy as np
    >>> from hogeq.purification import Purifier
    >>> from hogeq.support.parameters import parameters
    >>> @hogeq.purifier("fewest_dice")
    ... @parameters
    ... class FewestDice(Purifier):
    ...     "The fewest dice that the policy ever rolls there."
    ...
    ...     def matrix(self, game, policy):
    ...         return np.argmax(np.asarray(policy) > 0, axis=-1)
    >>> game = hogeq.Game({"edition": "fa22", "goal": 10, "max_dice": 2})
    >>> int(game.purify(np.full((10, 10, 3), 1 / 3), "fewest_dice").array.max())
    0
    """
    return entering(PURIFIERS, "purifier", name, Purifier)


class Purifier(ABC):
    """A method that makes a policy into a matrix that can be submitted.

    A purifier is a frozen dataclass of its parameters (`hogeq.support.parameters.parameters`) and
    holds nothing else: the same policy gives the same matrix. How many threads compute is chosen
    around it (`hogeq.support.workers.workers`) and does not change the result.

    Examples
    --------
    >>> import hogeq
    >>> @hogeq.parameters
    ... class Last(hogeq.Purifier):
    ...     def matrix(self, game, policy):
    ...         return policy.shape[-1] - 1 - policy[..., ::-1].argmax(axis=-1)
    >>> game = hogeq.Game({"edition": "su20", "goal": 4, "max_dice": 2})
    >>> int(Last().matrix(game.engine, game.strategy("always_roll:1").policy)[0, 0])
    1
    """

    def __init__(self, **parameters: Any) -> None:  # noqa: B027 - for type checkers
        """Take the parameters by name; the decorator `parameters` replaces this method."""

    @abstractmethod
    def matrix(self, game: Engine, policy: Policy) -> Matrix:
        """Matrix (G, G) made from a policy (G, G, K), or from another matrix (G, G)."""

    def matrix_in_time(self, game: Engine, policy: Policy, deadline: Deadline) -> Matrix:
        """Matrix (G, G), the best so far when the time is over.

        By default that of `matrix`: a purifier that may take long should look at the deadline.
        """
        return self.matrix(game, policy)


def purified(
    method: str,
    chosen: Purifier,
    game: Engine,
    strategy: StrategyLike,
    deadline: Deadline = FOREVER,
) -> Matrix:
    """Make a matrix (G, G) of a strategy by a purifier, whose name in messages is `method`.

    A purifier of a plugin may raise any error, which becomes a `StrategyError`; so does a result
    that is no matrix of the game.
    """
    policy = policy_of(game, strategy)
    if is_ours(chosen):
        return chosen.matrix_in_time(game, policy, deadline)
    where = named(f"purifier {method}", chosen)
    try:
        result = chosen.matrix_in_time(game, policy, deadline)
    except WorkersLostError:
        raise
    except Exception as error:
        raise StrategyError(
            f"{where}: raised {raised(error)} (HOGEQ_DEBUG=1 shows where)"
        ) from error
    shape = game.shape
    if game.has_scores:
        return check_matrix(result, shape[0], shape[-1] - 1, where)
    table = as_array(result, where, str(shape[:-1]))
    if table.ndim == len(shape):  # a policy
        raise StrategyError(f"{where}: has shape {table.shape}; allowed: {shape[:-1]}")
    return check_table(table, shape, where)


def purify(
    game: Engine,
    strategy: StrategyLike,
    method: str = "argmax",
    deadline: Deadline = FOREVER,
    **parameters: Any,
) -> Matrix:
    """Matrix (G, G) made from a policy by one of `PURIFIERS`, with its parameters."""
    if not isinstance(method, str) or method not in PURIFIERS:
        raise HogeqError(refusal("method", method, ", ".join(PURIFIERS), PURIFIERS))
    return purified(method, PURIFIERS[method](**parameters), game, strategy, deadline)


def argmax(game: Engine, policy: StrategyLike) -> Matrix:
    """Most probable roll of every cell, the lower roll on ties."""
    return likeliest(policy_of(game, policy))


def thresholded(game: Engine, policy: StrategyLike, threshold: float) -> Floats:
    """Policy (G, G, K) without rolls less probable than a threshold, normalised.

    A row in which all rolls are less probable makes its likeliest one. Ganzfried, Sandholm and
    Waugh 2012, section 4.
    """
    check(Share, threshold=threshold)
    probabilities = policy_of(game, policy)
    likely = np.where(probabilities >= threshold, probabilities, 0.0)
    is_empty = likely.sum(axis=-1) == 0.0
    likely[is_empty] = one_hot(probabilities[is_empty].argmax(axis=1), game.num_actions)
    return np.asarray(likely / likely.sum(axis=-1, keepdims=True))


@purifier("argmax")
@parameters
class Argmax(Purifier):
    """The most probable roll of every cell."""

    def matrix(self, game: Engine, policy: StrategyLike) -> Matrix:
        """Matrix (G, G) of the most probable rolls, the lower roll on ties."""
        return argmax(game, policy)


@purifier("threshold")
@parameters
class Threshold(Purifier):
    """Draw matrices from the policy without its unlikely rolls; keep the least exploitable.

    Ganzfried, Sandholm and Waugh 2012, section 4. A threshold of 1 gives the argmax, one of 0 draws
    from the whole policy.

    Attributes
    ----------
    samples : int
        Matrices drawn and attacked.
    threshold : float
        Rolls less probable than this are not drawn.
    starts, anneal_steps : int
        Budget of each attack, as of `hogeq.Budget`.
    seed : int
        Seed of the draws and of the attacks.
    """

    samples: Count = 8
    threshold: Share = 0.3
    starts: Count = 2
    anneal_steps: Natural = 30
    seed: Seed = 0

    def matrix(self, game: Engine, policy: StrategyLike) -> Matrix:
        """Least exploitable matrix (G, G) of those drawn."""
        return self.matrix_in_time(game, policy, FOREVER)

    def matrix_in_time(self, game: Engine, policy: StrategyLike, deadline: Deadline) -> Matrix:
        """Least exploitable matrix (G, G) of those drawn in time, at least one."""
        matrices, rates = self.drawn(game, policy, deadline)
        return matrices[rates.argmin()]

    def drawn(
        self, game: Engine, policy: StrategyLike, deadline: Deadline = FOREVER
    ) -> tuple[Matrix, Floats]:
        """Draw matrices (n, G, G) and attack each; give also the attacks' win rates, (n,).

        When the time is over, the last attack is cut short, and no other matrix is drawn.
        """
        likely_rolls = thresholded(game, policy, self.threshold)
        random = np.random.default_rng(self.seed)
        budget = Budget(self.starts, self.anneal_steps, seed=self.seed, kicks=0)
        matrices: list[Matrix] = []
        rates: list[float] = []
        with phase("sampling", self.samples, "matrices") as progress:
            for _ in range(self.samples):
                matrix = draw_actions(likely_rolls, random)
                matrices.append(matrix)
                rates.append(attack(game, matrix, budget, deadline=deadline).win_rate)
                progress.step()
                if deadline.is_over:
                    break
        return np.stack(matrices), np.array(rates)
