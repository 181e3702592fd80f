"""Protocol of a game for algorithms: passes over rows of actions, and nothing of its rules.

A game is symmetric and zero-sum: one strategy plays both seats, and a fair coin says which is
first. Its rows are information sets, laid out in one axis or several; each has as many actions. A
policy has the shape (*rows, K), a matrix (*rows).

Every pass is of one player, whose policy is the first of `policies` (Q, *rows, K). It plays itself
(Q = 1), or an opponent (Q = 2), or n of them (Q = 1 + n), of which one is drawn by `weights` (n,),
by default equal ones. `tests/test_engines.py` asks all this of every engine, and has one written
in numpy as an example.
"""

from collections.abc import Hashable, Sequence
from enum import IntEnum
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from hogeq.support.aliases import Floats, Ints

Precision: TypeAlias = type[np.float32] | type[np.float64]


class Role(IntEnum):
    """How player 0 acts in a pass."""

    EVALUATE = 0  # play the policy as it is
    COUNTERFACTUAL = 1  # play it, and give the counterfactual value of every action
    ASCEND = 2  # set every row to its best action on the way: one sweep of coordinate ascent
    SOFTMAX = 3  # move every row towards the softmax of its action values
    FULL_MEMORY = 4  # take the best action in every hidden state, nothing being forgotten


class WinRate(NamedTuple):
    """Exact win rate of one strategy against another.

    Examples
    --------
    >>> import hogeq
    >>> game = hogeq.Game({"edition": "su20", "goal": 20, "max_dice": 4})
    >>> two, three = (game.strategy(f"always_roll:{dice}") for dice in (2, 3))
    >>> rate = game.win_rate(two, three)
    >>> abs((rate.first + rate.second) / 2 - rate.win_rate) < 1e-12
    True
    """

    win_rate: float
    """Averaged over a fair coin that says who moves first."""
    first: float
    """When it moves first."""
    second: float
    """When it moves second."""

    @classmethod
    def from_starts(cls, first: float, other: float) -> "WinRate":
        """Win rate from the win probability of each of the two when it moves first."""
        return cls((first + 1.0 - other) / 2.0, first, 1.0 - other)

    def reversed(self) -> "WinRate":
        """Win rate of the other strategy."""
        return WinRate(1.0 - self.win_rate, 1.0 - self.second, 1.0 - self.first)


class Reach(NamedTuple):
    """Reach under some policies: the result of a pass forward, for a pass backward.

    Its arrays belong to the workspace, and last until its next pass forward.
    """

    rows: Floats
    """(*rows), probability that player 0 comes to move there; in self-play, of both seats."""
    weights: Floats
    """(n,), of the opponents."""
    states: Sequence[Floats] = ()
    """What else the engine's own pass backward needs."""


class Valued(NamedTuple):
    """Result of a pass backward."""

    first: float
    """Win probability of player 0 when it moves first."""
    other: float
    """Win probability of the opponent when that one moves first."""
    changes: int
    """Number of rows that ASCEND changed."""
    values: Floats
    """(*rows, K), of COUNTERFACTUAL: the value of every action of player 0, weighted by reach: the
    gradient of its win rate. It belongs to the workspace, and lasts until the next pass."""

    @property
    def win_rate(self) -> float:
        """Win rate of player 0."""
        return (self.first + 1.0 - self.other) / 2.0


class Passes(Protocol):
    """Passes over a game, and the arrays that they fill."""

    def forward(self, policies: Floats, weights: Floats | None = None) -> Reach:
        """Compute reach."""

    def backward(
        self,
        reach: Reach,
        policies: Floats,
        role: Role,
        *,
        temperature: float = ...,
        damping: float = ...,
    ) -> Valued:
        """Compute values, player 0 acting by its role: COUNTERFACTUAL, ASCEND or SOFTMAX.

        Rows are weighted by the reach given, which may be that of another policy of player 0. The
        last two roles rewrite the rows of player 0, in place. ASCEND keeps an action that ties with
        the best.
        """

    def win_rate(
        self, policies: Floats, role: Role = ..., weights: Floats | None = None
    ) -> WinRate:
        """Exact win rate of player 0, its role being EVALUATE or FULL_MEMORY."""

    def cell_reach(self, policies: Floats) -> Floats:
        """Reach of every row of player 0, a fresh array."""


class MatrixPasses(Protocol):
    """Win rates of two matrices by a way of their own."""

    def win_rate(self, matrices: Ints) -> WinRate:
        """Exact win rate of the first of two matrices, (2, *rows)."""


class Minimiser(Protocol):
    """Iterations of regret minimisers in self-play, by loops of an engine's own.

    Counterfactual regrets, averages by own reach: `hogeq.solvers.regret` has them by passes.
    """

    def run(
        self,
        regrets: Floats,
        prediction: Floats | None,
        strategy_sum: Floats,
        factors: Floats,
        *,
        alternating: bool,
        plus: bool,
        epsilon: float,
    ) -> None:
        """Do iterations, changing tables (*rows, K) in place: of regrets, and of what is averaged.

        Each row of `factors`, (n, 3), is an iteration: its weight in the average, and the discounts
        of positive and of negative regrets after it.
        """


class Rows(Hashable, Protocol):
    """Rows of actions of both seats: what a table over them needs, and no passes."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of a policy, (*rows, K)."""

    @property
    def num_actions(self) -> int:
        """Number of actions, K."""

    @property
    def has_scores(self) -> bool:
        """Whether its rows are pairs of scores, the own and the other one, as in Hog: (G, G)."""

    @property
    def seats_share_rows(self) -> bool:
        """Whether both seats see the same rows, so that one table plays both."""

    @property
    def seat_rows(self) -> tuple[slice, slice]:
        """Rows of each seat; all rows twice where the seats share them."""

    @property
    def has_memory(self) -> bool:
        """Whether a row joins states that a player with full memory would tell apart."""

    @property
    def positions_recur(self) -> bool:
        """Whether a row can be reached more than once in a game."""


class Engine(Rows, Protocol):
    """A game, as algorithms know it: its rows, and passes over them."""

    @property
    def payoff_per_win_rate(self) -> float:
        """Payoff of a win rate of 1, in the game's own units."""

    @property
    def pays_wins(self) -> bool:
        """Whether its units are win rates, and no payoffs."""

    def ways_to_stay(self, policies: Floats) -> list[tuple[tuple[int, ...], int]]:
        """List rows and actions by which player 0 of two could make the game endless."""

    def quick_dtype(self, opponents: int = 1) -> Precision:
        """Precision for passes that need not be exact, against so many opponents."""

    def workspace(self, players: int, dtype: DTypeLike = ...) -> Passes:
        """Fresh passes for so many policies, Q."""

    def duels(self) -> MatrixPasses | None:
        """Fresh passes for pairs of matrices; None if they are met as policies are."""

    def minimiser(self) -> Minimiser | None:
        """Fresh loops of regret minimisers; None if these are to use passes."""


class PlainEngine:
    """Base of engines without single precision, loops of their own, or play that can be endless."""

    has_scores = False

    @property
    def positions_recur(self) -> bool:
        """No row can be reached more than once in a play."""
        return False

    def ways_to_stay(self, policies: Floats) -> list[tuple[tuple[int, ...], int]]:  # noqa: ARG002
        """No play is endless."""
        return []

    def quick_dtype(self, opponents: int = 1) -> Precision:  # noqa: ARG002
        """Double precision is as fast."""
        return np.float64

    def duels(self) -> MatrixPasses | None:
        """Matrices are met as policies are."""
        return None

    def minimiser(self) -> Minimiser | None:
        """Regret minimisers use the passes."""
        return None
