"""What every engine's passes check, and keep from a pass forward to the pass backward."""

import numpy as np

from hogeq.model.protocol import Reach
from hogeq.model.rows import plain
from hogeq.support.aliases import Floats
from hogeq.support.messages import HogeqError


class CheckedPasses:
    """Base of passes over policies of one shape, (Q, *rows, K).

    Where play can come to a row again (`recurs`), only policies have reach: rows of ones have none.
    """

    def __init__(self, shape: tuple[int, ...], *, recurs: bool = False) -> None:
        self._shape, self._recurs = shape, recurs
        opponents = max(1, shape[0] - 1)
        self._equal = np.full(opponents, 1.0 / opponents)
        self._latest: Reach | None = None  # of the last pass forward

    def _plain(self, policies: Floats) -> Floats:
        if policies.shape != self._shape:  # kernels would read beyond them
            raise HogeqError(f"policies: shape is {policies.shape}; allowed: {self._shape}")
        return plain(policies)

    def _require_rows(self, policies: Floats) -> None:
        if self._recurs and policies.sum(axis=-1).max(initial=0.0) > 1.0 + 1e-9:
            raise HogeqError(
                "reach: rows that sum to more than 1, allowed where positions can recur are "
                "policies alone (regret_weight: reach or belief)"
            )

    def _require_latest(self, reach: Reach) -> None:
        if reach is not self._latest:
            raise HogeqError("reach: allowed: that of this workspace's last pass forward")

    def _shares(self, weights: Floats | None) -> Floats:
        """Probabilities of the opponents, (n,): equal ones by default."""
        return self._equal if weights is None else np.array(weights, np.float64)
