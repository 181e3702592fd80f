"""All-play-all between strategies, exact, ranked by the contest's rule.

A match is won by a win rate strictly above 0.500001. Entries are ranked by matches won; equal
counts share a rank and the next rank skips.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hogeq.evaluation.values import win_rate
from hogeq.model.game import HogEngine, compile_game
from hogeq.strategies.conversion import StrategyLike, strategy_of
from hogeq.strategies.strategy import Mixture, Strategy
from hogeq.support import html
from hogeq.support.aliases import Floats
from hogeq.support.messages import EXACT, HogeqError, percent, refusal
from hogeq.support.workers import compute, width

WIN = 0.500001  # a match is won by a win rate strictly above this. Source: the contest's server
ROUNDING = 1e-9  # by how much a win rate may be outside of 0 to 1
MAX_BLOCK = 8  # matches of a worker's task: few, since strategies are sent to the worker

_Match = tuple[Strategy, Strategy, tuple[int, int] | None]  # with both goals, if they have own ones


class Standing(NamedTuple):
    """One entry's result.

    Examples
    --------
    >>> import hogeq
    >>> [(one.entry, one.rank, one.wins) for one in hogeq.rank([[0.5, 0.4], [0.6, 0.5]])]
    [(1, 1, 1), (0, 2, 0)]
    """

    entry: int
    """Its index in the list given."""
    rank: int
    """1 for the most matches won; equal counts share a rank."""
    wins: int
    """Matches won."""
    ties: int
    """Matches that neither won."""


class WinRates(np.ndarray[Any, np.dtype[np.float64]]):
    """Win rates of a field, float64 (n, n), row against column, with the entries' names.

    Examples
    --------
    >>> import hogeq
    >>> rates = hogeq.WinRates.of([[0.5, 0.4], [0.6, 0.5]])
    >>> rates.means(), rates.lowest(), rates.ranks()[0].entry
    ([0.4, 0.6], [(0.4, 1), (0.6, 0)], 1)
    >>> rates.equilibrium()[0].tolist()
    [0.0, 1.0]
    """

    WIN = WIN
    names: tuple[str, ...] = ()  # of a part of the table: none

    @staticmethod
    def is_above(rates: Floats | float, threshold: float) -> Any:
        """Whether win rates are above a threshold by more than rounding.

        Rounding makes 1/2 more or less. So tables that play alike wherever play comes are a tie,
        also by a threshold of 1/2.
        """
        return rates > threshold + EXACT

    @classmethod
    def of(cls, table: ArrayLike, names: Sequence[str] = ()) -> "WinRates":
        """Check a table of win rates; a copy of it."""
        rates = check_rates(table).view(cls)
        rates.names = tuple(names)
        return rates

    def means(self) -> list[float]:
        """Mean win rate of every entry against the others."""
        rates = check_rates(self)
        np.fill_diagonal(rates, 0.0)
        means: list[float] = (rates.sum(axis=1) / (len(rates) - 1)).tolist()
        return means

    def lowest(self) -> list[tuple[float, int]]:
        """Lowest win rate of every entry, and against whom: of ties, the one given first."""
        rates = check_rates(self)
        np.fill_diagonal(rates, np.inf)
        return list(zip(rates.min(axis=1).tolist(), rates.argmin(axis=1).tolist(), strict=True))

    def ranks(
        self, threshold: float = WIN, tie_break: Iterable[float] | None = None
    ) -> list[Standing]:
        """Rank the field by matches won, as :func:`rank` does."""
        return rank(self, threshold, tie_break)

    def equilibrium(self) -> tuple[Floats, float]:
        """Nash equilibrium of the game in which both players choose an entry to play for them.

        Returns the weights of the entries, (n,), and their exploitability: how much more than 1/2
        the best entry wins against them, which is rounding. Entries whose win rates are equal have
        equal weights.
        """
        # Imported here, since it imports scipy's optimisers.
        from hogeq.search.matrix_games import nash_of_matrix

        rates = check_rates(self)
        # Entries with equal rows form a group. Its first entry plays for it, and all share the
        # weight equally.
        _, first, group = np.unique(rates.round(12), axis=0, return_index=True, return_inverse=True)
        # The number of each entry's group; some versions of numpy give (n, 1).
        group = group.reshape(-1)
        group_weights = nash_of_matrix(rates[np.ix_(first, first)])
        weights = (group_weights / np.bincount(group))[group]
        best_win_rate = float((rates @ weights).max())
        return weights, max(0.0, best_win_rate - 0.5)

    def _repr_html_(self) -> str | None:
        """Write the ranks and all win rates, in a notebook."""
        if not self.names:  # as of a slice of the table
            return None
        ranked = self.ranks()
        order = [standing.entry for standing in ranked]
        rows = [
            (
                standing.rank,
                self.names[standing.entry],
                standing.wins,
                *map(percent, self[standing.entry, order]),
            )
            for standing in ranked
        ]
        header = ("rank", "name", "won", *(f"against {standing.rank}" for standing in ranked))
        return html.table(rows, header, "Win rate of row against column")


def round_robin(
    game: HogEngine,
    strategies: Sequence[StrategyLike],
    progress: Callable[[], object] = lambda: None,
    known: Floats | None = None,
    start: tuple[int, int] = (0, 0),
    goals: Sequence[int] | None = None,
) -> Floats:
    """Exact win rate of every strategy against every other, float64 (n, n), row against column.

    The diagonal is 1/2, and a game that never ends counts as half a win. `known` (n, n) has win
    rates that need not be computed again, and NaN for the others; `progress` is called after each
    other pair. With `goals` each strategy has a goal of its own, at most the goal of the rules.
    """
    tables = [
        strategy_of(game, strategy, f"strategy {number}")
        for number, strategy in enumerate(strategies, 1)
    ]
    game.rules.require_one_goal()
    rates = np.full((len(tables), len(tables)), np.nan) if known is None else known.copy()
    np.fill_diagonal(rates, 0.5)
    pairs = [pair for pair in combinations(range(len(tables)), 2) if np.isnan(rates[pair])]
    if goals is not None:
        _check_goals(goals, len(tables), game.goal)
        # Pairs with the same goals are neighbours, so that each pair of goals is compiled once.
        ordered = [(a, b) if goals[a] <= goals[b] else (b, a) for a, b in pairs]
        pairs = sorted(ordered, key=lambda pair: (goals[pair[1]], goals[pair[0]]))
    # At least four tasks for each worker, so that none waits long for the last.
    block_size = max(1, min(MAX_BLOCK, len(pairs) // (4 * width())))
    blocks = [pairs[first : first + block_size] for first in range(0, len(pairs), block_size)]

    tasks: list[list[_Match]] = [
        [(tables[a], tables[b], None if goals is None else (goals[a], goals[b])) for a, b in block]
        for block in blocks
    ]

    def report(block: int) -> None:
        for _ in blocks[block]:
            progress()

    computed = compute(partial(_play, game, start), tasks, report)
    for (a, b), rate in zip(chain(*blocks), chain(*computed), strict=True):
        rates[a, b] = rate
        rates[b, a] = 1.0 - rate
    return rates


def _play(game: HogEngine, start: tuple[int, int], matches: Sequence[_Match]) -> list[float]:
    """Compute the win rate of the first strategy of each match."""
    rates = []
    for first, second, goals in matches:
        match_game = game
        pair = [first, second]
        if goals is not None:
            match_game = compile_game(replace(game.rules, goal=goals), own_goals=True)
            pair = [_without_high_scores(match_game, strategy) for strategy in pair]
        rates.append(win_rate(match_game, *pair, endless_is_draw=True, start=start).win_rate)
    return rates


def _without_high_scores(game: HogEngine, strategy: Strategy) -> Strategy:
    """Cut a strategy to the scores below the goal of the game, which is the larger of two."""
    goal = game.goal
    if strategy.kind == "mixture":
        return strategy_of(game, Mixture(strategy.weights, strategy.array[:, :goal, :goal]))
    return strategy_of(game, strategy.array[:goal, :goal])


def _check_goals(goals: Sequence[int], number: int, largest: int) -> None:
    """Require as many goals as there are strategies, each from 1 to the largest."""
    are_in_range = all(type(goal) is int and 1 <= goal <= largest for goal in goals)
    if len(goals) != number or not are_in_range:
        allowed = f"{number} whole numbers from 1 to {largest}, the goal of the rules"
        raise HogeqError(refusal("goals", list(goals), allowed))


def rank(
    win_rates: ArrayLike, threshold: float = WIN, tie_break: Iterable[float] | None = None
) -> list[Standing]:
    """Rank a field by matches won.

    Parameters
    ----------
    win_rates : array_like of float, shape (n, n)
        Row against column. The diagonal is ignored.
    threshold : float
        A match is won by a win rate strictly above this, at least 1/2. A rate that exceeds it by no
        more than rounding, 1e-12, is not above.
    tie_break : iterable of float, optional
        A number of each entry: of entries that win as many matches the higher ranks first.

    Returns
    -------
    list of Standing
        Best first; of equals the one that was given first.

    Raises
    ------
    ValueError
        If the table is not square or holds anything but probabilities outside its diagonal, or if
        `tie_break` has another number of entries.

    Examples
    --------
    >>> import hogeq
    >>> hogeq.rank([[0.5, 0.4], [0.6, 0.5]])[0]
    Standing(entry=1, rank=1, wins=1, ties=0)
    """
    rates = check_rates(win_rates, diagonal=False)
    if not 0.5 <= threshold < 1.0:
        raise HogeqError(refusal("threshold", threshold, "numbers from 0.5 to below 1"))
    is_won = WinRates.is_above(rates, threshold)  # row against column
    np.fill_diagonal(is_won, val=False)
    wins = is_won.sum(axis=1).tolist()
    # Of an entry's n - 1 matches, those that neither it (row) nor the other (column) wins.
    ties = (len(is_won) - 1 - is_won.sum(axis=1) - is_won.sum(axis=0)).tolist()
    tie_breaks = [0.0] * len(wins) if tie_break is None else [float(one) for one in tie_break]
    if len(tie_breaks) != len(wins):
        allowed = f"{len(wins)}, one for each entry"
        raise HogeqError(refusal("tie_break", f"{len(tie_breaks)} numbers", allowed))
    keys = list(zip(wins, tie_breaks, strict=True))
    standings = []
    for entry in sorted(range(len(wins)), key=keys.__getitem__, reverse=True):
        num_better = sum(key > keys[entry] for key in keys)
        standings.append(Standing(entry, 1 + num_better, wins[entry], ties[entry]))
    return standings


def check_rates(win_rates: ArrayLike, *, diagonal: bool = True) -> Floats:
    """Validate a table of win rates, (n, n), and return a copy clipped to 0 to 1.

    With ``diagonal=False`` the diagonal may hold anything, and is 1/2 in the copy.
    """
    try:
        rates = np.array(win_rates, np.float64)
    except (TypeError, ValueError) as error:  # rows that differ in length, texts
        raise HogeqError(refusal("win rates", win_rates, "numbers, (n, n)")) from error
    if rates.ndim != 2 or rates.shape[0] != rates.shape[1] or not rates.size:
        raise HogeqError(f"win rates: shape is {rates.shape}; allowed: (n, n), n at least 1")
    if not diagonal:
        np.fill_diagonal(rates, 0.5)
    bad = np.argwhere(~((rates >= -ROUNDING) & (rates <= 1.0 + ROUNDING)))
    if len(bad):
        row, column = bad[0]
        raise HogeqError(
            f"win rates: cell (row {row}, column {column}) is {rates[row, column]}; allowed: 0 to 1"
        )
    others = rates + rates.T  # what a row wins its column loses
    np.fill_diagonal(others, 1.0)
    bad = np.argwhere(np.abs(others - 1.0) > 2.0 * ROUNDING)
    if len(bad):
        row, column = bad[0]
        raise HogeqError(
            f"win rates: cell (row {row}, column {column}) is {rates[row, column]}; allowed: 1 "
            f"less the {rates[column, row]} of cell (row {column}, column {row})"
        )
    return np.clip(rates, 0.0, 1.0)
