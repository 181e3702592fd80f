"""Zero-sum matrix games, and the symmetric ones of pools of strategies."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hogeq.support.aliases import Floats
from hogeq.support.deadline import Deadline

NEGLIGIBLE_WEIGHT = 1e-9  # weights of an equilibrium below this are rounding errors


class PoolGame:
    """Symmetric game restricted to a pool of n strategies, and an equilibrium of it.

    With a method `respond` it is a :class:`hogeq.search.double_oracle.RestrictedGame`.
    """

    players = (0,)

    def __init__(self, pool: NDArray[Any], payoffs: Floats, weights: Floats) -> None:
        self.pool = pool  # (n, ...), the strategies
        self.payoffs = payoffs  # (n, n), win rate of row against column
        self.weights = weights  # (n,), of an equilibrium

    def equilibrium(self, deadline: Deadline) -> tuple[Floats, NDArray[Any]] | None:
        """Give weights and strategies of the components; None if the time is over."""
        used = self.weights > 0.0
        return (self.weights[used], self.pool[used]) if deadline.left else None

    def add(self, strategy: NDArray[Any], win_rates: Floats) -> bool:
        """Add a strategy of win rates (n,) against the pool; False if the pool has it already."""
        if contains(self.pool, strategy):
            return False
        against_itself = np.full((1, 1), 0.5)
        column = 1.0 - win_rates[:, None]
        self.payoffs = np.block([[self.payoffs, column], [win_rates[None], against_itself]])
        self.pool = np.concatenate([self.pool, strategy[None]])
        self.weights = self.solve(self.payoffs)
        return True

    @staticmethod
    def solve(payoffs: Floats) -> Floats:
        """Weights (n,) of an equilibrium of payoffs (n, n)."""
        return nash_of_matrix(payoffs)


def contains(pool: NDArray[Any], strategy: NDArray[Any]) -> bool:
    """Whether a pool (n, ...) has a strategy (...)."""
    axes = tuple(range(1, pool.ndim))
    return bool((pool == strategy).all(axis=axes).any())


def nash_of_matrix(payoffs: Floats, tolerance: float = 1e-7) -> Floats:
    """Weights (n,) of an equilibrium of a symmetric zero-sum matrix game.

    `payoffs` (n, n) are those to the player of rows. No column wins more than the value by more
    than the tolerance.
    """
    _, weights, _ = matrix_game(payoffs, tolerance)
    return drop_negligible(weights)


def drop_negligible(weights: Floats) -> Floats:
    """Set negligible weights (n,) to 0, which are rounding errors, and make the sum 1 again."""
    kept = np.where(weights > NEGLIGIBLE_WEIGHT, weights, 0.0)
    return kept / kept.sum()


def matrix_game(payoffs: Floats, tolerance: float = 1e-7) -> tuple[float, Floats, Floats]:
    """Solve a zero-sum matrix game of payoffs (n, m) to the player of rows.

    Returns the value, and optimal weights of rows (n,) and of columns (m,). A linear program
    maximises the value v with weights @ payoffs >= v in every column, up to the tolerance; its dual
    variables are the weights of columns.
    """
    from scipy.optimize import linprog

    # The variables are the weights of rows and, last, the value.
    rows, columns = payoffs.shape
    result = linprog(
        np.append(np.zeros(rows), -1.0),
        A_ub=np.column_stack([-payoffs.T, np.ones(columns)]),
        b_ub=np.zeros(columns),
        A_eq=np.append(np.ones(rows), 0.0)[None],
        b_eq=[1.0],
        bounds=[*[(0.0, None)] * rows, (None, None)],
        method="highs",
        options={"primal_feasibility_tolerance": tolerance},
    )
    if not result.success:
        raise RuntimeError(f"matrix game of {rows} x {columns}: {result.message}")
    row_weights = np.maximum(result.x[:-1], 0.0)
    column_weights = np.maximum(-result.ineqlin.marginals, 0.0)
    value = float(result.x[-1])
    return value, row_weights / row_weights.sum(), column_weights / column_weights.sum()


def equalising_weights(payoffs: Floats, weights: Floats) -> Floats:
    """Make the weights (n,) of an equilibrium exact, by the equations that hold in its support.

    All matrices in the support win 1/2 against the mixture, and the weights sum to 1. Least squares
    solve that, from the weights of a linear program; these stay if a weight would be negative.
    `payoffs` (n, n) are win rates of row against column.
    """
    used = np.flatnonzero(weights > NEGLIGIBLE_WEIGHT)
    ones = np.ones((1, len(used)))
    equations = np.concatenate([payoffs[np.ix_(used, used)] - 0.5, ones])
    right_side = np.append(np.zeros(len(used)), 1.0)
    start = weights[used] / weights[used].sum()
    correction = np.linalg.lstsq(equations, right_side - equations @ start, rcond=None)[0]
    solution = start + correction
    if (solution < 0.0).any():
        solution = start
    equalising = np.zeros(len(weights))
    equalising[used] = solution / solution.sum()
    return equalising
