"""One proximal step of a policy against the worst of several linear models."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from hogeq.strategies.arrays import one_hot
from hogeq.support.aliases import Floats, Ints
from hogeq.support.workers import compute

NEWTON_STEPS = 30  # at most; DECREMENT ends it before
DECREMENT = 1e-13  # of the dual value, in win probability: below it the weights are optimal ...
ROUNDING = 0.05  # ... or below this share of what the models' precision can tell apart at 1
PIECE = 1 << 14  # numbers of an array that one task computes: they fit in a cache
RIDGE = 1e-9  # relative; keeps the quadratic of models that are copies of each other definite


class Proximal(NamedTuple):
    """Result of a step: R rows, K rolls, C models."""

    policy: Floats
    """(R, K)"""
    weights: Floats
    """(C,), weights of the models, nonnegative with sum 1; their mean alone gives `policy`."""


class _Open(NamedTuple):
    """Rolls that are not ruled out, and their rows: E rolls of O rows, row after row."""

    rolls: Ints
    """(E,), indices in the flat policy."""
    row: Ints
    """(E,), which of the O rows each is of."""
    first: Ints
    """(O,), where each row begins."""
    rows: Ints
    """(O,), indices of the rows."""
    sure: Ints
    """(R - O,), indices in the flat policy of the only roll left of each other row."""


def proximal_step(
    logits: Floats,
    gradients: NDArray[np.floating],
    constants: Floats,
    infoset_reach: Floats,
    step: float,
    start: Floats,
    least: float = 0.0,
    rare: float = 0.0,
    softness: float = 0.0,
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
    rare : float
        Rolls that no weights of the models make likelier than this share of their row's likeliest
        are left out from the first; they get probability 0.
    softness : float
        Half of it times the squared length of the weights is added to what they minimise. So more
        models than the worst count: each by how far it is below a common level, divided by this.

    Returns
    -------
    Proximal
    """
    count = len(gradients)
    flat = gradients.reshape(count, -1)
    rates = step / infoset_reach
    left = _open(logits, gradients, rates, rare)
    given = np.empty((count, len(left.rolls)), flat.dtype)

    def take(part: slice) -> None:
        np.take(flat, left.rolls[part], axis=1, out=given[:, part])

    compute(take, _pieces(len(left.rolls), count), local=True)
    constants = constants + flat[:, left.sure].sum(axis=1, dtype=np.float64)
    begun, rate = logits.ravel()[left.rolls], rates[left.rows]
    each = rate[left.row]

    def dual(weights: Floats) -> tuple[float, Floats]:
        scores = begun + each * (weights.astype(flat.dtype) @ given)
        best = np.maximum.reduceat(scores, left.first)
        scores -= best[left.row]
        np.exp(scores, out=scores)
        scale = np.add.reduceat(scores, left.first)
        value = constants @ weights + ((best + np.log(scale)) / rate).sum()
        return float(value + softness / 2.0 * weights @ weights), scores / scale[left.row]

    least_slope = max(DECREMENT, ROUNDING * float(np.finfo(flat.dtype).eps))
    weights = start / start.sum()
    value, likely = dual(weights) if len(left.rolls) else (0.0, np.empty(0))
    for _ in range(NEWTON_STEPS if count > 1 and len(left.rolls) else 0):
        models = constants + given @ likely.astype(flat.dtype) + softness * weights
        spread = _spread(given, likely, rate, left.row, least / step)
        hessian = spread @ spread.T + softness * np.eye(count)
        goal = _on_simplex(hessian, models, weights)
        ahead = goal - weights
        slope = float(models @ ahead)
        if slope > -least_slope:
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
        weights, value, likely = trial, there, moved
    policy = np.zeros(logits.size)
    policy[left.sure] = 1.0
    policy[left.rolls] = likely
    return Proximal(policy.reshape(logits.shape), weights)


def _spread(
    given: NDArray[np.floating], likely: Floats, rate: Floats, row: Ints, least: float
) -> Floats:
    """Gradients less their rows' means, so scaled that their products are the curvature."""
    heavy = np.flatnonzero(likely > least * rate[row])
    chances, row = likely[heavy], row[heavy]
    first = np.flatnonzero(np.diff(row, prepend=-1))
    place = np.repeat(np.arange(len(first)), np.diff(first, append=len(row)))
    shares = (chances / np.add.reduceat(chances, first)[place]).astype(given.dtype)
    scales = np.sqrt(rate[row] * chances).astype(given.dtype)
    spread = np.empty((len(given), len(heavy)))

    def centre(part: slice) -> None:
        begin = first[part.start]
        here = slice(begin, first[part.stop] if part.stop < len(first) else len(heavy))
        near = given[:, heavy[here]]
        means = np.add.reduceat(near * shares[here], first[part] - begin, axis=1)
        near -= means[:, place[here] - part.start]
        near *= scales[here]
        # Rounded to single precision, the products of near copies would not be semidefinite.
        spread[:, here] = near

    compute(centre, _pieces(len(first), 4 * len(given)), local=True)
    return spread


def _open(logits: Floats, gradients: NDArray[np.floating], rates: Floats, rare: float) -> _Open:
    """Rule out rolls that no weights of the models make likelier than `rare`."""
    kept = np.ones(logits.shape, np.bool_)
    base = logits.argmax(axis=1)

    def rule_out(part: slice) -> None:
        here = gradients[:, part]
        rows = np.arange(here.shape[1])
        known = base[part]
        most = (here - here[:, rows, known, None]).max(axis=0)
        ahead = logits[part] - logits[part][rows, known, None] + rates[part, None] * most
        kept[part] = ahead > np.log(rare)

    if rare > 0.0:
        compute(rule_out, _pieces(len(logits), gradients[:, 0].size), local=True)
    number = kept.sum(axis=1)
    rows = np.flatnonzero(number > 1)
    row, roll = np.nonzero(kept[rows])
    first = np.concatenate([[0], np.cumsum(number[rows])[:-1]]) if len(rows) else rows
    alone = np.flatnonzero(number == 1)
    width = logits.shape[1]
    return _Open(rows[row] * width + roll, row, first, rows, alone * width + base[alone])


def _pieces(rows: int, width: int) -> list[slice]:
    """Parts of an array of so many rows."""
    step = max(1, PIECE // width)
    return [slice(first, min(first + step, rows)) for first in range(0, rows, step)]


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
