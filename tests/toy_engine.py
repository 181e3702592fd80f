"""An engine in plain numpy: draw a card, write two numbers, the second without sight of the first.

Both players do so at once. A hand (card, first, second) scores ``card + first * second + second``,
and beats another the surer the further it is ahead. A policy has two rows a card: (2, C, K).
"""

import numpy as np
from numpy.typing import DTypeLike, NDArray

from hogeq.model.protocol import PlainEngine, Reach, Role, Valued, WinRate
from hogeq.model.rows import ascend, soften

Floats = NDArray[np.float64]


class TwoNumbers(PlainEngine):
    """The game, and its passes: nothing is kept between them."""

    num_actions = 3
    shape = 2, 4, 3
    has_memory = True  # the second row of a card joins what was written first
    seats_share_rows = True  # one table plays both seats
    seat_rows = slice(None), slice(None)
    pays_wins = True
    payoff_per_win_rate = 2.0  # a win pays 1, a loss -1

    def __init__(self) -> None:
        card, one, two = np.indices((*self.shape[1:], self.num_actions))
        score = (card + one * two + two).astype(float)
        ahead = np.subtract.outer(score, score)
        self.wins = 1.0 / (1.0 + np.exp(-ahead))  # (C, K, K, C, K, K)
        self.chance = np.array([0.1, 0.2, 0.3, 0.4])  # of every card

    def workspace(self, players: int, dtype: DTypeLike = np.float64) -> "TwoNumbers":  # noqa: ARG002
        """Give the passes, which need no arrays."""
        return self

    def forward(self, policies: Floats, weights: Floats | None = None) -> Reach:
        """Compute reach: of the rows, and of every card with the number written first."""
        seats = 2.0 if len(policies) == 1 else 1.0  # in self-play both are player 0's
        first = seats * self.chance[:, None] * policies[0, 0]
        rows = np.stack([seats * self.chance, first.sum(axis=1)])
        return Reach(rows, self._shares(policies, weights), [first])

    def cell_reach(self, policies: Floats) -> Floats:
        """Reach of every row of player 0, a fresh array."""
        return self.forward(policies).rows

    def backward(
        self,
        reach: Reach,
        policies: Floats,
        role: Role,
        *,
        temperature: float = 1.0,
        damping: float = 1.0,
    ) -> Valued:
        """Compute values, player 0 acting by its role; what comes last is set first."""
        (first,), changes = reach.states, 0
        worth = self._worth(policies, reach.weights)
        values = np.zeros(self.shape)
        for stage in (1, 0):
            if stage == 1:
                values[1] = np.einsum("cij,ci->cj", worth, first)
            else:
                values[0] = np.einsum("cij,cj->ci", worth, policies[0, 1]) * reach.rows[0, :, None]
            if role == Role.ASCEND:
                changes += ascend(policies[0, stage], values[stage], reach.rows[stage])
            elif role == Role.SOFTMAX:
                row = policies[0, stage], values[stage], reach.rows[stage]
                soften(*row, temperature, damping)
        rate = self.win_rate(policies, weights=reach.weights).win_rate
        return Valued(rate, 1.0 - rate, changes, values)

    def win_rate(
        self, policies: Floats, role: Role = Role.EVALUATE, weights: Floats | None = None
    ) -> WinRate:
        """Exact win rate of player 0; by FULL_MEMORY it sees what it wrote first."""
        shares = self._shares(policies, weights)
        if role == Role.FULL_MEMORY:
            each = [self._worth(policies[[0, 1 + one]], np.ones(1)) for one in range(len(shares))]
            rate = float(shares @ [self.chance @ worth.max(axis=(1, 2)) for worth in each])
        else:
            rate = float((self._hands(policies[0]) * self._worth(policies, shares)).sum())
        return WinRate.from_starts(rate, 1.0 - rate)

    def _worth(self, policies: Floats, shares: Floats) -> Floats:
        """Win probability of every hand of player 0, (C, K, K)."""
        others = policies[min(1, len(policies) - 1) :]
        met = np.tensordot(shares, [self._hands(other) for other in others], 1)
        return np.asarray(np.tensordot(self.wins, met, 3))

    def _hands(self, policy: Floats) -> Floats:
        """Probability of every hand, (C, K, K)."""
        return np.einsum("c,ci,cj->cij", self.chance, policy[0], policy[1])

    def _shares(self, policies: Floats, weights: Floats | None) -> Floats:
        count = max(1, len(policies) - 1)
        return np.full(count, 1.0 / count) if weights is None else np.asarray(weights)
