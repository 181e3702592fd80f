"""All-play-all between strategies, exact, ranked by the contest's rule.

A match is won by a win rate strictly above 0.500001.  Entries are ranked by matches won; equal
counts share a rank and the next rank skips.
"""

from collections.abc import Callable, Sequence
from itertools import combinations
from threading import local
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hogeq.evaluate import policy_of
from hogeq.game import Game
from hogeq.workspace import Workspace

Floats = NDArray[np.float64]

WIN = 0.500001
"""A match is won by a win rate strictly above this. Source: the contest's server."""


class Standing(NamedTuple):
    """One entry's result."""

    entry: int
    """Its place in the list that was given."""
    rank: int
    """1 for the most matches won; equal counts share a rank."""
    wins: int
    """Matches won."""


def play(
    game: Game,
    strategies: Sequence[ArrayLike],
    jobs: int = 1,
    progress: Callable[[], object] | None = None,
) -> Floats:
    """Exact win rate of every strategy against every other.

    Parameters
    ----------
    game : Game
    strategies : sequence of array_like
        Each a matrix (G, G) or a policy (G, G, K).
    jobs : int
        Threads. The result does not depend on it.
    progress : callable, optional
        Called in this thread after each pair.

    Returns
    -------
    float64 (n, n)
        Row against column, averaged over who moves first; 1/2 on the diagonal.

    Raises
    ------
    ValueError
        If a strategy is malformed, or `jobs` is below 1.
    """
    from concurrent.futures import ThreadPoolExecutor

    if jobs < 1:
        raise ValueError(f"jobs: {jobs}, allowed are whole numbers from 1")
    policies = _Policies(game, strategies)
    rates = np.full((len(strategies), len(strategies)), 0.5)
    pairs = list(combinations(range(len(strategies)), 2))
    kept = local()

    def match(pair: tuple[int, int]) -> float:
        if not hasattr(kept, "work"):
            kept.work = game.workspace(2)
            kept.pair = np.empty((2, *game.shape))
        work: Workspace = kept.work
        for seat, entry in enumerate(pair):
            policies.write(entry, kept.pair[seat])
        return work.win_rate(kept.pair).win_rate

    with ThreadPoolExecutor(jobs) as pool:
        try:
            for (a, b), rate in zip(pairs, pool.map(match, pairs), strict=True):
                rates[a, b], rates[b, a] = rate, 1.0 - rate
                if progress is not None:
                    progress()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return rates


class _Policies:
    """Strategies as given, since policies of a large field would not fit in memory."""

    def __init__(self, game: Game, strategies: Sequence[ArrayLike]) -> None:
        self.tables = []
        for strategy in strategies:
            table = np.asarray(strategy)
            policy_of(game, table)  # refuses what is malformed
            self.tables.append(table)

    def write(self, entry: int, out: Floats) -> None:
        table = self.tables[entry]
        if table.ndim == 3:
            out[:] = table
        else:
            out[:] = 0.0
            np.put_along_axis(out, table.astype(np.int64)[..., None], 1.0, axis=-1)


def rank(win_rates: ArrayLike) -> list[Standing]:
    """Rank a field by matches won.

    Parameters
    ----------
    win_rates : array_like of float, shape (n, n)
        Row against column. The diagonal is not looked at.

    Returns
    -------
    list of Standing
        Best first; of equals the one that was given first.

    Raises
    ------
    ValueError
        If it is not such a table of probabilities.
    """
    rates = np.asarray(win_rates, np.float64)
    if rates.ndim != 2 or rates.shape[0] != rates.shape[1]:
        raise ValueError(f"win rates: shape is {rates.shape}, allowed is (n, n)")
    bad = np.argwhere(~((rates >= 0.0) & (rates <= 1.0)))
    if len(bad):
        row, column = bad[0]
        raise ValueError(
            f"win rates: cell (row {row}, column {column}) is {rates[row, column]}, "
            "allowed are 0 to 1"
        )
    won = rates > WIN
    np.fill_diagonal(won, val=False)
    wins = won.sum(axis=1).tolist()
    order = sorted(range(len(wins)), key=lambda entry: -wins[entry])
    return [Standing(entry, 1 + sum(w > wins[entry] for w in wins), wins[entry]) for entry in order]
