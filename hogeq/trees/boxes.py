"""Boxes of policies, and the linear programs and bounds of :mod:`hogeq.trees.maxmin` for them.

Arrays have R rows of K actions; S is the number of sequences of the side.
"""

from typing import NamedTuple

from scipy.sparse import csr_array

from hogeq.support.aliases import Floats


class Box(NamedTuple):
    """Policies whose probabilities lie between two ends."""

    lower: Floats  # (R, K)
    upper: Floats


class Coupled(NamedTuple):
    """Constraints on rows x and on realisation weights r, for a linear program."""

    box: Box  # bounds of x
    least_weights: Floats  # (S,), lower bounds of r
    most_weights: Floats  # (S,), upper bounds of r
    coefficients: csr_array  # (n, S + R * K), coefficients of r, then of x, in each constraint
    right_sides: Floats  # (n,): coefficients @ (r, x) <= right_sides, or ==


class Optimum(NamedTuple):
    """Solution of a linear program, and its dual variables."""

    sequence_weights: Floats  # (S,), realisation weights of sequences
    row_probabilities: Floats  # (R, K), probabilities
    value: float
    opponent_weights: Floats  # the opponent's weights of sequences, a mixture
    coupling_prices: Floats  # (n,), dual prices of the constraints that couple weights and rows
    equation_prices: Floats  # (E,), dual prices of the equations of weights and of rows


class Bounded(NamedTuple):
    """Upper bound on what policies of a box secure."""

    bound: float
    slopes: Floats  # (R, K): moving a probability off its better end loses so much of the bound
    policy: Floats  # (R, K), nearest to the program's plan
    relaxation_gaps: Floats  # (S,), what relaxing the product of each sequence adds to the bound


class Solved(NamedTuple):
    """A policy, what it secures at least, and what no policy exceeds, shares of the stakes."""

    policy: Floats  # (R, K)
    lower: float
    upper: float
    boxes: int  # number of boxes bounded
    programs: int  # number of linear programs solved


def next_step(step: float, gained: float, promised: float) -> float:
    """Size of a trust region after a step that gained `gained` where the program `promised` more.

    A quarter after a failed step, half after a poor one, twice as much after a good one.
    """
    if gained <= 0.0:
        return step / 4.0
    if gained < promised / 10.0:
        return step / 2.0
    return min(2.0 * step, 1.0) if gained > 0.7 * promised else step
