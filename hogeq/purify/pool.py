"""A growing pool of counter-matrices, and the changes of a strategy that they like least.

A win rate is linear in each row of a policy, so one pass forward and one back give the exact effect
of every change of a single cell on what a counter wins.  Effects of several cells do not add up
exactly: what is chosen by their sums must be evaluated before it is believed.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.evaluate import shared_workspace
from hogeq.executor import in_threads
from hogeq.game import Game
from hogeq.kernels import passes
from hogeq.respond import anneal, climb, harden

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Matrix = NDArray[np.int8]

DAMPING = 0.5
GENERATIONS = 30  # of columns of the linear program; 3 to 8 are usual
WORTH = 1e-10  # win rate below which a further column is rounding


class Slopes(NamedTuple):
    """First-order effects on n counters of making single cells pure."""

    rates: Floats
    """(n,), win rate of every counter now."""
    changes: Floats
    """(n, G, G, K), what would be added to it if this cell rolled so many dice for sure."""
    reach: Floats
    """(n, G, G), probability that the strategy comes to move at a cell."""


class Moves(NamedTuple):
    """Cells to be made pure; rows of one cell can share it."""

    own: Ints
    opponent: Ints
    rolls: Ints
    shares: Floats
    """All four (m,); a share of 1 is the whole cell."""
    expected: float
    """What the best counter would win if effects added up."""


class Pool:
    """Counter-matrices, and passes of a strategy against all of them.

    Attributes
    ----------
    matrices : int8 (n, G, G)
    """

    def __init__(self, game: Game, matrices: Matrix | None = None, jobs: int = 1) -> None:
        self.game = game
        empty = np.zeros((0, *game.shape[:2]), np.int8)
        self.matrices: Matrix = empty if matrices is None else np.array(matrices, np.int8)
        self._jobs = jobs

    def rates(self, policy: Floats) -> Floats:
        """Exact win rate of every counter against a policy (G, G, K), float64 (n,)."""

        def rate(matrix: Matrix) -> float:
            work = shared_workspace(self.game, 2)
            return work.win_rate(np.stack([self._one_hot(matrix), policy])).win_rate

        return np.array(in_threads(rate, self.matrices, self._jobs))

    def slopes(self, policy: Floats, most: int | None = None) -> Slopes:
        """Effects of all changes of single cells of a policy (G, G, K).

        On the `most` counters that win most, the oldest on ties; by default on all of them.
        """
        chosen = self.matrices
        if most is not None and most < len(chosen):
            order = np.argsort(-self.rates(policy), kind="stable")
            chosen = chosen[np.sort(order[:most])]

        def slope(matrix: Matrix) -> tuple[float, Floats, Floats]:
            work = shared_workspace(self.game, 2)
            policies = np.stack([policy, self._one_hot(matrix)])
            work.forward(policies)
            first, other, _ = work.backward(policies, passes.MEASURE)
            kept = (work.row_values * policy).sum(axis=2, keepdims=True)
            return (1.0 - first + other) / 2.0, kept - work.row_values, work.mass.copy()

        rates, changes, reach = zip(*in_threads(slope, chosen, self._jobs), strict=True)
        return Slopes(np.array(rates), np.stack(changes), np.stack(reach))

    def climb(self, policy: Floats, warm: int) -> float:
        """Let the `warm` counters that win most climb further; keep them, return the best rate."""
        order = np.argsort(-self.rates(policy), kind="stable")[:warm]

        def further(start: int) -> tuple[float, Matrix]:
            return self._climbed(self._one_hot(self.matrices[start]), policy)

        return self._keep(in_threads(further, order, self._jobs))

    def attack(self, policy: Floats, starts: int, anneal_steps: int, seed: list[int]) -> float:
        """Search for new counters as :func:`hogeq.respond.attack` does; the best rate."""

        def search(start: int) -> tuple[float, Matrix]:
            random = np.random.default_rng([*seed, start])
            first = random.dirichlet(np.ones(self.game.rolls), policy.shape[:2])
            policies = np.stack([first, policy])
            anneal(self.game, policies, anneal_steps, DAMPING)
            harden(policies[0])
            return self._climbed(policies[0], policy)

        return self._keep(in_threads(search, range(starts), self._jobs))

    def shrink(self, policy: Floats, most: int) -> None:
        """Keep only the `most` counters that win most against a policy, the oldest on ties."""
        if len(self.matrices) > most:
            kept = np.argsort(-self.rates(policy), kind="stable")[:most]
            self.matrices = self.matrices[np.sort(kept)]

    def _climbed(self, start: Floats, policy: Floats) -> tuple[float, Matrix]:
        policies = np.stack([start, policy])
        rate, _ = climb(self.game, policies)
        return rate, policies[0].argmax(axis=2).astype(np.int8)

    def _keep(self, found: list[tuple[float, Matrix]]) -> float:
        for _, matrix in found:
            if not (self.matrices == matrix).all(axis=(1, 2)).any():
                self.matrices = np.concatenate([self.matrices, matrix[None]])
        return max(rate for rate, _ in found)

    def _one_hot(self, matrix: Matrix) -> Floats:
        return np.eye(self.game.rolls)[matrix]


def best_moves(
    slopes: Slopes, allowed: NDArray[np.bool_], count: int, *, exactly: bool = False
) -> Moves:
    """Choose the moves after which the best counter wins least, if effects added up.

    The linear program ``min t: rates + changes @ x <= t``, ``x`` a share of every allowed move,
    at most 1 in a cell and `count` in all.  A vertex has at most as many fractional cells as there
    are counters.  Columns are generated: those that the dual prices find worth it enter, until
    there are none.

    Parameters
    ----------
    slopes : Slopes
    allowed : bool (G, G, K)
        Moves to choose from.
    count : int
        Moves in all, at most.
    exactly : bool
        Make just so many (or as many as there are cells with an allowed move).

    Returns
    -------
    Moves

    Raises
    ------
    RuntimeError
        If the linear program is not solved.
    """
    number, *_, rolls = slopes.changes.shape
    shape = slopes.changes.shape[1:]
    changes = slopes.changes.reshape(number, -1, rolls)
    rows = allowed.reshape(-1, rolls)
    count = min(count, int(rows.any(axis=1).sum()))
    weights = np.zeros(number)
    weights[slopes.rates.argmax()] = 1.0
    cell_price, move_price = np.zeros(len(rows)), np.inf if exactly else 0.0
    columns: Ints = np.zeros(0, np.int64)
    shares, expected = np.zeros(0), float(slopes.rates.max())
    for _ in range(GENERATIONS if count else 0):
        scores = np.where(rows, np.tensordot(weights, changes, 1), np.inf)
        choice = scores.argmin(axis=1)
        costs = scores[np.arange(len(rows)), choice] + cell_price
        worth = costs < move_price - WORTH
        order = np.flatnonzero(worth)[np.argsort(costs[worth], kind="stable")[: 2 * count]]
        new = np.setdiff1d(order * rolls + choice[order], columns)
        if len(new) == 0:
            break
        columns = np.concatenate([columns, new])
        result = _program(
            slopes.rates, changes.reshape(number, -1)[:, columns], columns // rolls, count, exactly
        )
        shares, expected = result.x[:-1], float(result.x[-1])
        prices = -result.ineqlin.marginals
        weights = prices[:number]
        cell_price = np.zeros(len(rows))
        cell_price[np.unique(columns // rolls)] = prices[number : len(prices) - (not exactly)]
        move_price = float(result.eqlin.marginals[0]) if exactly else -float(prices[-1])
    used = shares > 1e-9
    own, opponent, roll = np.unravel_index(columns[used], shape)
    return Moves(own, opponent, roll, shares[used], expected)


def _program(rates: Floats, changes: Floats, cells: Ints, count: int, exactly: bool) -> Any:
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, hstack, vstack

    number, size = changes.shape
    _, place = np.unique(cells, return_inverse=True)
    groups = csr_array((np.ones(size), (place, np.arange(size))))
    total = np.append(np.ones(size), 0.0)[None]
    above = vstack(
        [
            csr_array(np.column_stack([changes, -np.ones(number)])),
            hstack([groups, csr_array((groups.shape[0], 1))]),
            *([] if exactly else [csr_array(total)]),
        ]
    )
    limits = np.concatenate([-rates, np.ones(groups.shape[0]), [] if exactly else [count]])
    result = linprog(
        np.append(np.zeros(size), 1.0),
        A_ub=above.tocsr(),
        b_ub=limits,
        A_eq=total if exactly else None,
        b_eq=[count] if exactly else None,
        bounds=[*[(0.0, None)] * size, (None, None)],
        method="highs",
    )
    if not result.success:
        raise RuntimeError(f"purify: linear program of {size} moves: {result.message}")
    return result
