"""One proximal step of a policy against the worst of several linear models."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from hogeq.strategies.arrays import one_hot
from hogeq.support.aliases import Floats
from hogeq.support.workers import compute

NEWTON_STEPS = 30  # at most; DECREMENT ends it before
DECREMENT = 1e-13  # of the dual value, in win probability: below it the weights are optimal
PIECE = 1 << 14  # numbers of an array that one task computes: they fit in a cache
RIDGE = 1e-9  # relative; keeps the quadratic of models that are copies of each other definite


class Proximal(NamedTuple):
    """Result of a step: R rows, K rolls, C models."""

    policy: Floats
    """(R, K)"""
    weights: Floats
    """(C,), weights of the models, nonnegative with sum 1; their mean alone gives `policy`."""


def proximal_step(
    logits: Floats,
    gradients: NDArray[np.floating],
    constants: Floats,
    infoset_reach: Floats,
    step: float,
    start: Floats,
    least: float = 0.0,
) -> Proximal:
    """Policy that maximises its worst model, less a divergence from the current policy.

    Maximises over policies ``q`` the smallest of ``constants[c] + gradients[c] . q``, less
    ``sum(infoset_reach * KL(q, exp(logits))) / step``. For fixed weights of the models the best
    ``q`` is a softmax, row by row; the weights minimise the dual, smooth and convex, by Newton's
    method on the simplex.

    Parameters
    ----------
    logits : float64 (R, K)
        Logarithms of the current policy.
    gradients : floating (C, R, K)
    constants : float64 (C,)
    infoset_reach : float64 (R,)
        Weight of every row, above 0.
    step : float
        Step size, in logits per unit of the models.
    start : float64 (C,)
        Initial weights, nonnegative.
    least : float
        Rolls whose probability times their row's weight is no more are left out of the curvature:
        the method takes other steps to the same end, each in less time where most rolls are rare.

    Returns
    -------
    Proximal
    """
    count = len(gradients)
    flat = gradients.reshape(count, -1)
    rows = (step / infoset_reach)[:, None]

    def dual(weights: Floats) -> tuple[float, Floats]:
        pulls = (weights.astype(flat.dtype) @ flat).reshape(logits.shape)
        policy = np.empty_like(logits)
        best, scale = np.empty((2, *rows.shape))

        def soften(part: slice) -> None:
            scores = logits[part] + rows[part] * pulls[part]
            np.max(scores, axis=1, keepdims=True, out=best[part])
            scores -= best[part]
            np.exp(scores, out=scores)
            np.sum(scores, axis=1, keepdims=True, out=scale[part])
            np.divide(scores, scale[part], out=policy[part])

        compute(soften, _pieces(len(logits), logits.shape[1]), local=True)
        return float(constants @ weights + ((best + np.log(scale)) / rows).sum()), policy

    weights = start / start.sum()
    value, policy = dual(weights)
    for _ in range(NEWTON_STEPS if count > 1 else 0):
        likely = policy.astype(flat.dtype)
        models = constants + flat @ likely.ravel()
        means = np.einsum("crk,rk->cr", gradients, likely)
        if least > 0.0:
            common = np.flatnonzero(policy * infoset_reach[:, None] > least)
        else:
            common = np.arange(policy.size)
        spread = np.empty((count, len(common)))

        def centre(
            part: slice,
            spread: Floats = spread,
            common: NDArray[np.int64] = common,
            means: NDArray[np.floating] = means,
            scales: Floats = rows * policy,
        ) -> None:
            here = common[part]
            centred = flat[:, here] - means[:, here // logits.shape[1]]
            centred *= np.sqrt(scales.ravel()[here]).astype(flat.dtype)
            # Rounded to single precision, the products of near copies would not be semidefinite.
            spread[:, part] = centred

        compute(centre, _pieces(len(common), count), local=True)
        goal = _on_simplex(spread @ spread.T, models, weights)
        ahead = goal - weights
        slope = float(models @ ahead)
        if slope > -DECREMENT:
            break
        length = 1.0
        while length > 1e-6:
            trial = weights + length * ahead
            there, moved = dual(trial)
            if there <= value + 0.1 * length * slope:
                break
            length *= 0.5
        else:
            break
        weights, value, policy = trial, there, moved
    return Proximal(policy, weights)


def _pieces(rows: int, width: int) -> list[slice]:
    """Parts of an array of so many rows."""
    step = max(1, PIECE // width)
    return [slice(first, first + step) for first in range(0, rows, step)]


def _on_simplex(hessian: Floats, slope: Floats, weights: Floats) -> Floats:
    """Minimiser over the simplex of the quadratic with this Hessian and slope at ``weights``.

    For weights that sum to 1 the quadratic is the squared length of a weighted sum of points, one
    for each weight. The sum nearest to the origin is found by nonnegative least squares with one
    more equation, that the weights sum to 1; its factor only scales the weights found.
    """
    size = np.trace(hessian) / len(hessian)
    if size <= 0.0:
        return one_hot(slope.argmin(), len(hessian))
    root = np.linalg.cholesky(hessian + RIDGE * size * np.eye(len(hessian)))
    wanted = np.linalg.solve(root, hessian @ weights - slope)
    points = root.T - wanted[:, None]
    points /= np.abs(points).max()
    found, _ = nnls(
        np.vstack([points, np.ones(len(hessian))]),
        np.append(np.zeros(len(hessian)), 1.0),
        maxiter=100 * len(hessian),
    )
    return found / found.sum()
