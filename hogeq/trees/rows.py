"""Rows of a strategy of a game other than Hog: the information sets of both seats."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hogeq.strategies.arrays import as_array
from hogeq.support.aliases import Floats, Ints
from hogeq.support.messages import printable

ROW_SUM: Final = 1e-9  # by which the sum of a row, or of a node of chance, may differ from 1


class Rows:
    """A game whose strategies have a row for every information set, R of them, of K actions.

    A strategy covers the information sets of both seats: float64 (R, K), rows of player 0 first.
    Where a row has fewer than K actions, the others have probability 0.
    """

    seat: NDArray[np.int8]  # (R,), whose row it is
    num_legal: Ints  # (R,)
    names: Sequence[Any]  # (R,), what the player knows there, in the game's words

    @property
    def num_rows(self) -> int:
        """Number of information sets of both players, R."""
        return len(self.seat)

    @cached_property
    def num_actions(self) -> int:
        """Most actions of an information set, K."""
        return int(self.num_legal.max(initial=1))

    @cached_property
    def legal(self) -> NDArray[np.bool_]:
        """Legal actions of each row, (R, K)."""
        return np.arange(self.num_actions) < self.num_legal[:, None]

    @cached_property
    def labels(self) -> list[list[str]]:
        """Names of each row's actions."""
        raise NotImplementedError

    def uniform(self) -> Floats:
        """Strategy that plays every legal action alike, (R, K)."""
        return self.legal / self.num_legal[:, None]

    def check_strategy(self, given: ArrayLike, name: str = "strategy") -> Floats:
        """Check probabilities of legal actions, (R, K); scale sums of nearly 1."""
        numbers, shape = as_array(given, name), (self.num_rows, self.num_actions)
        if numbers.dtype.kind not in "iuf":
            raise ValueError(f"{name}: holds {numbers.dtype} values; allowed: float64 numbers")
        if numbers.shape != shape:
            raise ValueError(f"{name}: has shape {numbers.shape}; allowed: {shape}")
        rows = numbers.astype(np.float64)
        wrong = ~(np.isfinite(rows) & (rows >= 0.0)) | ((rows > 0.0) & ~self.legal)
        sums = rows.sum(axis=1)
        bad = np.flatnonzero(wrong.any(axis=1) | (np.abs(sums - 1.0) > ROW_SUM))
        if len(bad):
            raise ValueError(
                f"{name}: information set {bad[0]} ({printable(self.names[bad[0]])}): allowed:"
                " probabilities of legal actions that sum to 1"
            )
        rounding = np.abs(sums - 1.0) <= np.finfo(float).eps * self.num_legal
        return rows / np.where(rounding, 1.0, sums)[:, None]
