"""Mixtures: mixed strategies, one of several strategies being drawn before a game.

Under imperfect recall they are more than policies, which draw anew at every position: what was
drawn is played to the end, so the rolls at different positions go together. See
``docs/mixtures.md``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hogeq.strategies.arrays import (
    MOST_DICE,
    ROW_SUM_TOLERANCE,
    StrategyError,
    as_array,
    check_matrix,
    check_policy,
    is_policy,
    more_precise,
    one_hot,
)
from hogeq.support.aliases import Floats, Matrix, Policy
from hogeq.support.messages import refusal

MOST_PARTS: Final = 1000
"""Most strategies that one mixture is made of."""


@dataclass(frozen=True, eq=False)
class Mixture:
    """A mixed strategy: one of its parts is drawn before the game and played to its end.

    Attributes
    ----------
    weights : float64 (n,)
        Probability of drawing each part: not negative, sum 1. At most 1,000 parts.
    parts : array (n, G, G) or (n, G, G, K)
        Matrices, as int8, or policies, as float64. Of matrices and policies together, given with
        as many dice as the policies have, policies are made.

    Raises
    ------
    StrategyError
        If weights or parts are malformed or differ in number.

    Examples
    --------
    >>> import hogeq
    >>> game = hogeq.Game({"edition": "su20", "goal": 20, "max_dice": 4})
    >>> one, three, four = (game.strategy(f"always_roll:{dice}") for dice in (1, 3, 4))
    >>> drawn = hogeq.Mixture([0.5, 0.5], [one, four])
    >>> round(game.win_rate(drawn, three).win_rate, 6)
    0.375809
    """

    weights: Floats
    parts: NDArray[Any]

    def __init__(self, weights: ArrayLike, parts: Sequence[ArrayLike] | NDArray[Any]) -> None:
        """Check the weights, and that the parts are tables of one game."""
        try:
            given = list(parts)
        except TypeError as error:
            allowed = "a list of parts, each a matrix (G, G) or a policy (G, G, K)"
            raise StrategyError(refusal("mixture", parts, allowed)) from error
        tables = [as_array(part, f"mixture, part {number}") for number, part in enumerate(given, 1)]
        chances = check_weights(weights, len(tables), "mixture")
        dimensions = {table.ndim for table in tables}
        if not dimensions <= {2, 3}:
            raise StrategyError(
                f"mixture: parts have {sorted(dimensions)} axes; allowed: matrices (G, G) and "
                "policies (G, G, K)"
            )
        actions = max((table.shape[2] for table in tables if table.ndim == 3), default=0)
        most = actions - 1 if actions else MOST_DICE
        some = actions > 0
        self._set(
            chances, _checked_parts(tables, len(tables[0]), most, "mixture", as_policies=some)
        )

    def _set(self, weights: Floats, parts: NDArray[Any]) -> None:
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "parts", parts)

    def __len__(self) -> int:
        """Count the parts."""
        return len(self.weights)

    @property
    def kind(self) -> str:
        """What the parts are: ``"matrices"`` or ``"policies"``."""
        return "matrices" if self.parts.ndim == 3 else "policies"

    def drawn(self) -> list[tuple[float, NDArray[Any]]]:
        """List the parts that can be drawn, each with its weight."""
        return [
            (float(weight), part)
            for weight, part in zip(self.weights, self.parts, strict=True)
            if weight > 0.0
        ]

    def draw(self, random: np.random.Generator) -> int:
        """Draw a part: its index."""
        return int(random.choice(len(self), p=self.weights / self.weights.sum()))

    def policies(self, num_actions: int) -> Floats:
        """Give the parts as policies of a game with K actions, float64 (n, G, G, K).

        Raises
        ------
        StrategyError
            If a part makes a roll that is no action, or has another number of them.
        """
        matrices = self.parts.ndim == 3
        least = int(self.parts.max()) + 1 if matrices else self.parts.shape[3]
        allowed = f"whole numbers from {least}" if matrices else str(least)
        whole = isinstance(num_actions, int | np.integer)
        if not whole or not (least <= num_actions if matrices else least == num_actions):
            raise StrategyError(refusal("num_actions", num_actions, f"{allowed}, by the parts"))
        return one_hot(self.parts, int(num_actions)) if matrices else self.parts.copy()


AnyStrategy: TypeAlias = Matrix | Policy | Mixture
"""What can be read from a file."""


def parts_of(strategy: NDArray[Any] | Mixture) -> list[tuple[float, NDArray[Any]]]:
    """List what may be played, with its probability: the parts drawn, or the strategy itself."""
    return strategy.drawn() if isinstance(strategy, Mixture) else [(1.0, strategy)]


def check_weights(weights: ArrayLike, parts: int, name: str) -> Floats:
    """Check the weights of some parts, and copy them: float64 (n,), or `StrategyError`."""
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
    return chances


def check_mixture(
    weights: ArrayLike, parts: NDArray[Any], goal: int, max_dice: int, name: str = "mixture"
) -> Mixture:
    """Check weights and parts against the sizes of a game."""
    mixture = Mixture.__new__(Mixture)
    chances = check_weights(weights, len(parts), name)
    policies = parts.ndim == 4
    checked = _checked_parts(parts, goal, max_dice, name, as_policies=policies)
    mixture._set(chances, checked)  # noqa: SLF001
    return mixture


def _checked_parts(
    parts: Sequence[NDArray[Any]] | NDArray[Any],
    goal: int,
    max_dice: int,
    name: str,
    *,
    as_policies: bool,
) -> NDArray[Any]:
    """Check parts one by one, and copy each once: there may be many."""
    shape = (len(parts), goal, goal, max_dice + 1)
    checked = np.empty(shape) if as_policies else np.empty(shape[:3], np.int8)
    for number, part in enumerate(parts, 1):
        check = check_policy if part.ndim == 3 else check_matrix
        table = check(part, goal, max_dice, f"{name}, part {number}")
        checked[number - 1] = (
            one_hot(table, max_dice + 1) if as_policies > is_policy(table) else table
        )
    return checked


def not_a_table(name: str, count: int) -> StrategyError:
    """Say that a mixture stands where one matrix or policy must, and what to do."""
    return StrategyError(
        f"{name}: is a mixture of {count} strategies, one of which is drawn before a game; allowed "
        "here: a matrix or a policy; hogeq export MIXTURE --part 1 --out part.npz writes a part"
    )
