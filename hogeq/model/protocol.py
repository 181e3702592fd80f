"""What algorithms ask of a game: passes over rows of actions, and nothing of its rules.

A game is symmetric and zero-sum: one strategy plays both seats, and a fair coin says which is
first.
Its rows are information sets, laid out in one axis or several; each has as many actions. A policy
has the shape (*rows, K), a matrix (*rows). :class:`hogeq.model.game.HogEngine` is one such game,
with rows for own and opponent's score.
"""

from collections.abc import Hashable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from hogeq.model.workspace import Role, WinRate
from hogeq.support.aliases import Floats, Ints


class Passes(Protocol):
    """Arrays that passes fill, of one player (self-play) or of two: each pass overwrites them."""

    @property
    def counterfactual_values(self) -> Floats:
        """Value of every action of player 0, weighted by reach: the gradient, (*rows, K)."""

    @property
    def infoset_reach(self) -> Floats:
        """Reach probability of every row of player 0, (*rows)."""

    def forward(self, policies: Floats) -> object:
        """Compute reach under policies (Q, *rows, K)."""

    def backward(
        self, policies: Floats, role: Role = ..., *, temperature: float = ..., damping: float = ...
    ) -> tuple[float, float, int]:
        """Compute values, player 0 acting by its role: a sweep.

        Gives the win probability of either player when it moves first, and the rows changed.
        """

    def win_rate(self, policies: Floats, role: Role = ...) -> WinRate:
        """Exact win rate of player 0; by the role FULL_MEMORY, of a responder that remembers."""

    def cell_reach(self, policies: Floats) -> Floats:
        """Reach of every row of player 0, a fresh array."""


class Meetings(NamedTuple):
    """Result of a pass over several pairs of strategies."""

    first: Floats  # (n,), win probability of each player when moving first
    other: Floats  # (n,), win probability of each opponent when that one moves first
    changes: Ints  # number of cells that ASCEND changed: () of the one policy, or (n,) of each

    @property
    def win_rates(self) -> Floats:
        """(n,), win rate of each player against its opponent."""
        return (self.first + 1.0 - self.other) / 2.0


class ManyPasses(Protocol):
    """Passes over n pairs: one player against a mixture of opponents, or n against one."""

    @property
    def each(self) -> Floats:
        """Values of every action against each opponent, (n, *rows, K)."""

    @property
    def each_reach(self) -> Floats:
        """Reach against each opponent, (n, *rows)."""

    def face(self, opponents: Floats, weights: Floats | None = None) -> None:
        """Set the opponents, one for each pair or one for all, and their weights."""

    def forward(self, policy: Floats) -> object:
        """Compute reach of one player, or of n."""

    def backward(
        self, policy: Floats, role: Role = ..., *, temperature: float = ..., damping: float = ...
    ) -> Meetings:
        """Compute values; one player acts alike against all opponents."""

    def win_rates(self, policy: Floats) -> Floats:
        """Exact win rate of the player in every pair, (n,)."""


class MatrixPasses(Protocol):
    """Win rates of two matrices by a way of their own."""

    def win_rate(self, matrices: NDArray[np.int64]) -> WinRate:
        """Exact win rate of the first of two matrices, (2, *rows)."""


class Engine(Hashable, Protocol):
    """A game, as algorithms know it."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of a policy, (*rows, K)."""

    @property
    def num_actions(self) -> int:
        """Number of actions, K."""

    @property
    def payoff_per_win_rate(self) -> float:
        """What the game pays for a win rate of 1, in its own units."""

    @property
    def has_memory(self) -> bool:
        """Whether a row joins states that a player who remembers would tell apart."""

    @property
    def positions_recur(self) -> bool:
        """Whether a row can be reached more than once in a game."""

    @property
    def can_be_endless(self) -> bool:
        """Whether two players can go on for ever."""

    @property
    def seat_rows(self) -> tuple[slice, slice] | None:
        """Rows of each seat; None where one table plays both seats."""

    def quick_dtype(self, pairs: int = 1) -> type[np.floating[Any]]:
        """Precision for what need not be exact, of a player who meets so many at once."""

    def workspace(self, players: int, dtype: DTypeLike = ...) -> Any:
        """Fresh :class:`Passes`."""

    def many(self, pairs: int, dtype: DTypeLike = ...) -> Any:
        """Fresh :class:`ManyPasses`."""

    def duels(self) -> MatrixPasses | None:
        """Fresh :class:`MatrixPasses`; None if matrices are met as policies are."""
