"""The game in which a player first picks one entry of a field: its equilibrium.

A mixture of entries is drawn before a game and played to its end, so win rates are linear in the
weights, and the equilibrium is a linear program's.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hogeq.contest.tournament import check_rates
from hogeq.solvers.double_oracle import equilibrium
from hogeq.support.aliases import Floats


class FieldEquilibrium(NamedTuple):
    """Nash equilibrium of a field."""

    weights: Floats
    """(n,), not negative, sum 1. Entries of equal win rates have equal weights; others may have
    other weights in another equilibrium."""
    gap: float
    """By how much the best entry's win rate against the mixture exceeds 1/2: rounding, no more."""


def field_equilibrium(win_rates: ArrayLike) -> FieldEquilibrium:
    """Find a Nash equilibrium of a field: a mixture of entries that none of them beats.

    Parameters
    ----------
    win_rates : array_like of float, shape (n, n)
        Row against column.

    Returns
    -------
    FieldEquilibrium

    Raises
    ------
    ValueError
        If the table is not square or holds anything but probabilities.

    Examples
    --------
    >>> found = field_equilibrium([[0.5, 0.6, 0.4], [0.4, 0.5, 0.7], [0.6, 0.3, 0.5]])
    >>> found.weights.round(6).tolist()
    [0.5, 0.25, 0.25]
    """
    rates = check_rates(win_rates)
    # Of entries with equal rows one plays for all, and they share its weight.
    _, first, group = np.unique(rates.round(12), axis=0, return_index=True, return_inverse=True)
    group = group.reshape(-1)
    one_each = equilibrium(rates[np.ix_(first, first)])
    weights = (one_each / np.bincount(group))[group]
    return FieldEquilibrium(weights, max(0.0, float((rates @ weights).max()) - 0.5))
