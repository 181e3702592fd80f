"""The proximal step of bundle methods, against the worst of several linear models.

A step maximises over policies ``q`` the smallest of ``constants[c] + gradients[c] . q``, less
``sum(infoset_reach * KL(q, exp(logits))) / step``. For fixed weights of the models the best ``q``
is a softmax, row by row; the weights minimise the dual by Newton's method on the simplex. Half of
`softness` times their squared length is added: the smooth maximum of Nesterov 2005, "Smooth
minimization of non-smooth functions", section 4.
"""

from functools import partial
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from hogeq.search.population import overlooked
from hogeq.solvers.cuts import Counters, modelled
from hogeq.strategies.arrays import one_hot
from hogeq.support.aliases import Floats, Ints, Singles
from hogeq.support.workers import compute

NEWTON_STEPS = 30  # at most; DECREMENT ends it before
DECREMENT = 1e-13  # of the dual value, in win probability: below it the weights are optimal
SHORTEST = 1e-6  # share of a Newton step
PIECE = 1 << 19  # numbers of an array that one task computes: fewer cost more in calls
UNSEEN = -60.0  # logit of what is no roll: columns beyond the components in the draw's row
RIDGE = 1e-9  # relative; keeps the quadratic of models that are copies of each other definite
LEAST_REACH: Final = 1e-9  # least weight of a row in the divergence
LEAST_WEIGHT: Final = 1e-3  # of a component, so that none is lost for good
CURVED: Final = 1e-7  # least share of the reach that a roll must have to count in the curvature
ALIVE: Final = 1e-6  # weight below which a counter had no part in the last step
ROUNDS: Final = 6  # of adding counters that the step overlooked ...
MORE: Final = 10  # ... so many at a time


class Point(NamedTuple):
    """The learned strategy: n policies, and the probability of each to be drawn before a game."""

    parts: Floats  # (n, G, G, K)
    draw: Floats  # (n,)


class Trial(NamedTuple):
    """Where a proximal step leads, before anybody has responded to it."""

    point: Point
    weights: Floats  # (m,), of all counters; 0 for those whose models the step was not by
    rates: Floats  # (m,), win rates of all counters there, by their models
    saved: float = 0.0  # what the step saves otherwise, in win probability


class _Open(NamedTuple):
    """Rolls that are not ruled out, of some rows: E rolls of O rows, row after row."""

    rolls: Ints  # (E,), indices in the flat policy
    given: NDArray[np.floating]  # (C, E), their gradients
    begun: Floats  # (E,), their logits
    row: Ints  # (E,), which of the O rows each is of
    first: Ints  # (O,), where each row begins
    rate: Floats  # (O,), step size of each row, in logits per unit of the models


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
) -> tuple[Floats, Floats]:
    """Policy (R, K) that maximises its worst model, less a divergence; weights (C,) of the models.

    Logits are (R, K), gradients (C, R, K), constants and the initial weights `start` (C,), and
    `infoset_reach` (R,) is above 0. Rolls whose probability times row weight is at most `least` are
    left out of the curvature. Those that no weights of the models make likelier than `rare`, a
    share of their row's likeliest, get probability 0.
    """
    count = len(gradients)
    flat = gradients.reshape(count, -1)
    parts, sure = _open(logits, gradients, step / infoset_reach, rare)
    constants = constants + flat[:, sure].sum(axis=1, dtype=np.float64)

    def dual(weights: Floats) -> tuple[float, list[Floats], Floats]:
        added = compute(partial(_added, weights.astype(flat.dtype)), parts, local=True)
        value = constants @ weights + sum(one[0] for one in added)
        models = constants + sum(one[2] for one in added) + softness * weights
        return float(value + softness / 2.0 * weights @ weights), [one[1] for one in added], models

    rounding = float(np.finfo(flat.dtype).eps)
    weights = start / start.sum()
    value, likely, models = dual(weights)
    for _ in range(NEWTON_STEPS if count > 1 and parts else 0):
        each = zip(parts, likely, strict=True)
        curvatures = compute(partial(_curvature, least / step), [*each], local=True)
        hessian = sum(curvatures) + softness * np.eye(count)
        goal = _on_simplex(hessian, models, weights)
        ahead = goal - weights
        slope = float(models @ ahead)
        if slope > -DECREMENT:
            break
        length = 1.0
        # Where a step gains less than models are rounded by, a shorter one is no better.
        while length > (SHORTEST if slope < -rounding else 0.5):
            trial = weights + length * ahead
            there = dual(trial)
            if there[0] <= value + 0.1 * length * slope:
                break
            length *= 0.5
        else:
            break
        weights, (value, likely, models) = trial, there
    policy = np.zeros(logits.size)
    policy[sure] = 1.0
    for part, chances in zip(parts, likely, strict=True):
        policy[part.rolls] = chances
    return policy.reshape(logits.shape), weights


def _added(
    weights: NDArray[np.floating], part: _Open
) -> tuple[float, Floats, NDArray[np.floating]]:
    """Give the rows' part in the dual, probabilities of their rolls, and models added (C,)."""
    scores = part.begun + part.rate[part.row] * (weights @ part.given)
    best = np.maximum.reduceat(scores, part.first)
    scores -= best[part.row]
    np.exp(scores, out=scores)
    scale = np.add.reduceat(scores, part.first)
    likely = scores / scale[part.row]
    value = float(((best + np.log(scale)) / part.rate).sum())
    return value, likely, part.given @ likely.astype(part.given.dtype)


def _curvature(least: float, at: tuple[_Open, Floats]) -> Floats:
    """Sum products of the gradients, less their rows' means, by the probabilities: (C, C)."""
    part, likely = at
    heavy = np.flatnonzero(likely > least * part.rate[part.row])
    chances, row = likely[heavy], part.row[heavy]
    first = np.flatnonzero(np.diff(row, prepend=-1))
    place = np.repeat(np.arange(len(first)), np.diff(first, append=len(row)))
    shares = (chances / np.add.reduceat(chances, first)[place]).astype(part.given.dtype)
    near = np.take(part.given, heavy, axis=1)
    means = np.add.reduceat(near * shares, first, axis=1)
    near -= np.take(means, place, axis=1)
    near *= np.sqrt(part.rate[row] * chances).astype(part.given.dtype)
    # Rounded to single precision, the products of near copies would not be semidefinite.
    spread = near.astype(np.float64)
    return spread @ spread.T


def _open(
    logits: Floats, gradients: NDArray[np.floating], rates: Floats, rare: float
) -> tuple[list[_Open], Ints]:
    """Parts of the rolls not ruled out, and indices of the only roll left of all other rows."""
    is_open = np.ones(logits.shape, np.bool_)
    base = logits.argmax(axis=1)

    def rule_out(part: slice) -> None:
        here = gradients[:, part]
        rows = np.arange(here.shape[1])
        known = base[part]
        most = (here - here[:, rows, known, None]).max(axis=0)
        ahead = logits[part] - logits[part][rows, known, None] + rates[part, None] * most
        is_open[part] = ahead > np.log(rare)

    if rare > 0.0:
        compute(rule_out, _pieces(len(logits), gradients[:, 0].size), local=True)
    number = is_open.sum(axis=1)
    rows, alone = np.flatnonzero(number > 1), np.flatnonzero(number == 1)
    width = logits.shape[1]
    flat = gradients.reshape(len(gradients), -1)

    def opened(part: slice) -> _Open:
        here = rows[part]
        row, roll = np.nonzero(is_open[here])
        rolls = here[row] * width + roll
        given = np.take(flat, rolls, axis=1)
        first = np.flatnonzero(np.diff(row, prepend=-1))
        return _Open(rolls, given, logits.ravel()[rolls], row, first, rates[here])

    left = int(number[rows].sum()) * len(gradients)
    pieces = _pieces(len(rows), left // max(1, len(rows)))
    return compute(opened, pieces, local=True), alone * width + base[alone]


def _pieces(rows: int, width: int) -> list[slice]:
    """Parts of an array of so many rows."""
    step = max(1, PIECE // max(1, width))
    return [slice(first, min(first + step, rows)) for first in range(0, rows, step)]


def _on_simplex(hessian: Floats, slope: Floats, weights: Floats) -> Floats:
    """Minimiser over the simplex of the quadratic with this Hessian and slope at ``weights``."""
    # For weights that sum to 1 the quadratic is the squared length of a weighted sum of points. The
    # sum nearest to the origin is found by nonnegative least squares with one more equation, that
    # the weights sum to 1; its factor only scales the weights found.
    size = np.trace(hessian) / len(hessian)
    if size <= 0.0:
        return one_hot(slope.argmin(), len(hessian))
    root = np.linalg.cholesky(hessian + RIDGE * size * np.eye(len(hessian)))
    wanted = np.linalg.solve(root, hessian @ weights - slope)
    points = root.T - wanted[:, None]
    points /= np.abs(points).max()
    nearest, _ = nnls(
        np.vstack([points, np.ones(len(hessian))]),
        np.append(np.zeros(len(hessian)), 1.0),
        maxiter=100 * len(hessian),
    )
    return nearest / nearest.sum()


def soft_maximum(rates: Floats, softness: float) -> float:
    """Largest mean of win rates (n,), less half of `softness` times its weights' squared length."""
    if len(rates) == 0:
        return 0.0
    level = level_of(rates, softness)
    if softness == 0.0:
        return level
    weights = np.maximum(rates - level, 0.0) / softness
    return float(weights @ (rates - softness / 2.0 * weights))


def level_of(rates: Floats, softness: float) -> float:
    """Win rate above which counters count in the soft maximum."""
    ordered = np.sort(rates)[::-1]
    levels = (np.cumsum(ordered) - softness) / np.arange(1, len(rates) + 1)
    return float(levels[np.flatnonzero(ordered >= levels)[-1]]) if softness else float(ordered[0])


def trial(
    models: Counters,
    point: Point,
    logits: Floats,
    won: Floats,
    size: float,
    floor: float,
    price: float,
    softness: float,
) -> Trial:
    """Step from a point, with win rates `won` (m, n) there, by the few counters that bind.

    Logits (n, G, G, K) are those of the point's rows, and `price` is that of entropy.
    """
    parts, draw = point
    rolls = parts.shape[-1]
    before = parts.reshape(-1, rolls)
    last = len(before)
    logits = logits.reshape(last, rolls)
    if len(parts) > 1:  # the draw is one more row, where next to nothing goes to what is no part
        wider = np.full((last + 1, max(rolls, len(draw))), UNSEEN)
        wider[:last, :rolls], wider[last, : len(draw)] = logits, np.log(draw)
        logits = wider

    def step(active: Ints, begun: Floats) -> Trial:
        reach = models.reach[active].mean(axis=0, dtype=np.float64) * draw[:, None]
        reach = np.maximum(reach, LEAST_REACH).ravel()
        policy, weights = proximal_step(
            logits,
            *_of_components(models, won, draw, active, logits.shape[1]),
            np.append(reach, 1.0) if len(parts) > 1 else reach,
            size,
            begun[active] + len(active) ** -2.0,
            CURVED,
            floor,
            softness,
        )
        moved = np.maximum(policy[:last, :rolls], floor)
        moved /= moved.sum(axis=-1, keepdims=True)
        drawn = draw
        if len(parts) > 1:
            drawn = np.maximum(policy[last, : len(parts)], LEAST_WEIGHT)
            drawn = drawn / drawn.sum()
        each = np.zeros(len(models.pool))
        each[active] = weights
        saved = price * float(reach @ (_entropies(before) - _entropies(moved))) if price else 0.0
        there = Point(moved.reshape(parts.shape), drawn)
        return Trial(there, each, 1.0 - modelled(models, there.parts) @ drawn, saved)

    # By the models of the few counters that bind: the likely ones, then those overlooked.
    here, weights = 1.0 - won @ draw, models.weights
    active = np.flatnonzero((weights > ALIVE) | (here >= np.sort(here)[-MORE:][0]))
    for _ in range(ROUNDS):
        found = step(active, weights)
        weights, there = found.weights, found.rates
        missed = overlooked(there, level_of(there[active], softness) + ALIVE, active, MORE)
        if len(missed) == 0:
            break
        active = np.append(active, missed)
    return found


def _of_components(
    models: Counters, won: Floats, draw: Floats, active: Ints, width: int
) -> tuple[Singles, Floats]:
    """Gradients and constants of some counters; one component has no row of the draw."""
    parts, rows, rolls = models.gradients.shape[1:]
    if parts == 1:
        return models.gradients[active, 0], models.constants[active, 0]
    last = parts * rows
    gradients = np.zeros((len(active), last + 1, width), np.float32)
    shares = np.repeat(draw.astype(np.float32), rows)[:, None]

    def weigh(place: int) -> None:
        gradient = models.gradients[active[place]].reshape(last, rolls)
        np.multiply(gradient, shares, out=gradients[place, :last, :rolls])

    compute(weigh, range(len(active)), local=True)
    gradients[:, last, :parts] = won[active]
    # At the current weights the row of the draw adds what the constants hold already.
    return gradients, (models.constants[active] - won[active]) @ draw


def _entropies(rows: Floats) -> Floats:
    """Entropy of every row in nats, float64 (R,), of rows (R, K) without zeros."""
    return -(rows * np.log(rows)).sum(axis=1)
