"""Beliefs: distributions over the hidden memory."""

import numpy as np
from numpy.typing import ArrayLike

from hogeq.rules import Rules
from hogeq.rules.memory import memory_sizes, states
from hogeq.support.aliases import Floats


def fold(rules: Rules, shares: ArrayLike) -> Floats:
    """Lay a distribution over the memory out along the axes of `hogeq.rules.memory.axes`.

    Shares are (..., H), the table (..., rows, columns). Parts of the memory that have no axis are
    summed over.
    """
    turns, extras, records = memory_sizes(rules)
    table = np.asarray(shares, np.float64)
    parts = table.reshape(*table.shape[:-1], states(rules), turns, extras, records, records)
    if records > 1:
        return parts.sum(axis=(-5, -4, -3))
    whole = parts[..., 0, 0]  # state, turn, extra turn
    if rules.memory == "none":
        return whole[..., 0, :, :]
    return whole.sum(axis=-1 if turns > 1 else -2)


def over_seats(weights: ArrayLike) -> Floats:
    """Distribution of the memory, averaged over the two seats.

    The mean of the two seats' distributions, since a strategy does not see its seat; where one seat
    has no weight, the other's alone, as in Huan (2020) [1]. A seat is 0 for who moved first in the
    game and 1 for the other.

    Weights (2, ..., H) are those of each memory by seat, not negative. The result, (..., H), sums
    to 1, or to 0 where no seat has weight.
    """
    table = np.asarray(weights, np.float64)
    sums = table.sum(axis=-1, keepdims=True)
    shares = np.divide(table, sums, out=np.zeros_like(table), where=sums > 0.0)
    seats = np.maximum((sums > 0.0).sum(axis=0), 1)
    return np.asarray(shares.sum(axis=0) / seats)


def total_variation(one: ArrayLike, other: ArrayLike) -> Floats:
    """Total variation distance of two distributions: half the summed absolute differences."""
    gap = np.asarray(one, np.float64) - np.asarray(other, np.float64)
    return np.asarray(np.abs(gap).sum(axis=-1) / 2.0)
