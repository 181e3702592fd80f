"""The proximal step of bundle methods, against the worst of several linear models.

A step maximises over policies ``q`` the smallest of ``constants[c] + gradients[c] . q``, less
``sum(infoset_reach * KL(q, exp(logits))) / step``. For fixed weights of the models the best ``q``
is a softmax, row by row; the weights minimise the dual by Newton's method on the simplex. Half of
`softness` times their squared length is added: the smooth maximum of Nesterov 2005, "Smooth
minimization of non-smooth functions", section 4.

An action is *open* if the step may give it a probability other than 0 and 1.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from hogeq.search.population import find_overlooked
from hogeq.solvers.cuts import BundleState, Point, modelled_rates
from hogeq.strategies.arrays import one_hot
from hogeq.support.aliases import Floats, Ints, Singles
from hogeq.support.workers import compute

NEWTON_STEPS = 30  # at most; LEAST_DECREMENT ends the method before
LEAST_DECREMENT = 1e-13  # of the dual value, in win probability: below it the weights are optimal
LEAST_NEWTON_SHARE = 1e-6  # least share of a Newton step that is tried
NUMBERS_PER_TASK = 1 << 19  # numbers of an array that one task computes: fewer cost more in calls
IMPOSSIBLE_LOGIT = -60.0  # of a column beyond the components, in the row of the draw
RIDGE = 1e-9  # relative; keeps the quadratic of models that are copies of each other definite
LEAST_REACH: Final = 1e-9  # least weight of a row in the divergence
LEAST_WEIGHT: Final = 1e-3  # of a component, so that none is lost for good
LEAST_CURVED_SHARE: Final = 1e-7  # of the reach, for a roll to count in the curvature
USED_WEIGHT: Final = 1e-6  # weight below which a counter had no part in the last step
LEAST_EXCESS: Final = 1e-6  # a counter is overlooked that wins by more than this above the level
MOST_ROUNDS: Final = 6  # of adding counters that the step overlooked ...
MOST_ADDED: Final = 10  # ... at most so many at a time


class Trial(NamedTuple):
    """The strategy that a proximal step leads to, before a search for responses to it."""

    point: Point
    weights: Floats  # (m,), dual weights of all counters; 0 for those that the step left out
    rates: Floats  # (m,), win rates of all counters against the point, by their models
    entropy_gain: float = 0.0  # price of entropy times the entropy lost, in win probability


class _OpenActions(NamedTuple):
    """E open actions of O rows, row after row, and their entries of C linear models.

    An action is open if the step may give it a probability other than 0 and 1.
    """

    actions: Ints  # (E,), indices in the flat policy
    gradients: NDArray[np.floating]  # (C, E)
    logits: Floats  # (E,), before the step
    row_of_action: Ints  # (E,), which of the O rows each is of
    first_action_of_row: Ints  # (O,), where each row begins
    row_step: Floats  # (O,), step size of each row, in logits per unit of the models


class _DualPoint(NamedTuple):
    """The dual function of a proximal step at weights of the models."""

    value: float  # upper bound on the worst model less the divergence, over all policies
    probabilities: list[Floats]  # of the open actions, an array (E,) for each `_OpenActions`
    gradient: Floats  # (C,), value of each model at the best policy, and softness times its weight

    @classmethod
    def at(
        cls, parts: Sequence[_OpenActions], constants: Floats, softness: float, weights: Floats
    ) -> "_DualPoint":
        """Add up the terms of the rows of all parts, and of the models' constants (C,)."""
        terms = compute(partial(_dual_term, weights), parts, local=True)
        value = constants @ weights + sum(row_values for row_values, _, _ in terms)
        gradient = constants + sum(models for _, _, models in terms) + softness * weights
        value += softness / 2.0 * weights @ weights
        return cls(float(value), [probabilities for _, probabilities, _ in terms], gradient)


def proximal_step(
    logits: Floats,
    gradients: NDArray[np.floating],
    constants: Floats,
    infoset_reach: Floats,
    step: float,
    start: Floats,
    least_reach: float = 0.0,
    rare: float = 0.0,
    softness: float = 0.0,
) -> tuple[Floats, Floats]:
    """Policy (R, K) that maximises its worst model, less a divergence; weights (C,) of the models.

    Model c is ``constants[c] + gradients[c] . policy``; the divergence is that from the softmax of
    the logits, in each row weighted by reach over `step`.

    1. Rule out actions that no weights of the models make likelier than `rare`, a share of their
       row's likeliest: they get probability 0.
    2. From the weights `start`, (C,), minimise the dual by Newton's method with backtracking.
    3. Return the softmax policy of these weights.

    Logits are (R, K), gradients (C, R, K), constants (C,), and `infoset_reach` (R,) is above 0.
    Actions whose probability times row weight is at most `least_reach` are left out of the Hessian.
    Half of `softness` times the squared length of the weights is added to the dual.
    """
    count = len(gradients)
    flat_gradients = gradients.reshape(count, -1)
    open_parts, forced_actions = _split_open_actions(logits, gradients, step / infoset_reach, rare)
    # Actions of probability 1 add a constant to each model.
    constants = constants + flat_gradients[:, forced_actions].sum(axis=1, dtype=np.float64)

    dual = partial(_DualPoint.at, open_parts, constants, softness)
    rounding = float(np.finfo(flat_gradients.dtype).eps)
    weights = start / start.sum()
    current = dual(weights)
    has_choice = count > 1 and open_parts
    for _ in range(NEWTON_STEPS if has_choice else 0):
        pairs = [*zip(open_parts, current.probabilities, strict=True)]
        hessian_terms = compute(partial(_hessian_term, least_reach / step), pairs, local=True)
        hessian = sum(hessian_terms) + softness * np.eye(count)
        direction = _quadratic_minimiser(hessian, current.gradient, weights) - weights
        step_taken = _backtrack(dual, weights, current, direction, rounding)
        if step_taken is None:
            break
        weights, current = step_taken
    policy = np.zeros(logits.size)
    policy[forced_actions] = 1.0
    for part, probabilities in zip(open_parts, current.probabilities, strict=True):
        policy[part.actions] = probabilities
    return policy.reshape(logits.shape), weights


def _backtrack(
    dual: Callable[[Floats], _DualPoint],
    weights: Floats,
    current: _DualPoint,
    direction: Floats,
    rounding: float,
) -> tuple[Floats, _DualPoint] | None:
    """Step from weights (C,) in a direction (C,), by half as much until the dual falls enough.

    `current` is the dual at the weights, and `rounding` the relative error of the models. Returns
    the new weights and the dual there; None if no step lowers it enough: then they are optimal.
    """
    slope = float(current.gradient @ direction)
    if slope > -LEAST_DECREMENT:
        return None
    # If a whole step gains less than models are rounded by, a shorter one is no better.
    shortest = LEAST_NEWTON_SHARE if slope < -rounding else 0.5
    length = 1.0
    while length > shortest:
        new_weights = weights + length * direction
        new = dual(new_weights)
        if new.value <= current.value + 0.1 * length * slope:  # Armijo's condition
            return new_weights, new
        length *= 0.5
    return None


def _dual_term(weights: Floats, part: _OpenActions) -> tuple[float, Floats, NDArray[np.floating]]:
    """Contribution of the rows of a part to the dual of a proximal step, at weights (C,) of models.

    A part has open actions, those that the step may play, of some rows. Returns its value, a sum of
    log-sum-exps; the softmax probabilities of the open actions, (E,); and the values of the models
    at them, (C,).
    """
    model = weights.astype(part.gradients.dtype) @ part.gradients  # mean of all models
    scores = part.logits + part.row_step[part.row_of_action] * model
    largest_scores = np.maximum.reduceat(scores, part.first_action_of_row)  # of each row
    scores -= largest_scores[part.row_of_action]  # so that no exponential overflows
    np.exp(scores, out=scores)
    row_sums = np.add.reduceat(scores, part.first_action_of_row)
    probabilities = scores / row_sums[part.row_of_action]
    value = float(((largest_scores + np.log(row_sums)) / part.row_step).sum())
    return value, probabilities, part.gradients @ probabilities.astype(part.gradients.dtype)


def _hessian_term(least: float, part_and_probabilities: tuple[_OpenActions, Floats]) -> Floats:
    """Contribution of the rows of a part to the dual's Hessian, (C, C).

    It is the covariance of the C models' gradients in each row, by the probabilities (E,) of its
    actions, times the row's step size. Actions of probability at most `least` times the row's step
    size are left out.
    """
    part, all_probabilities = part_and_probabilities
    likely = np.flatnonzero(all_probabilities > least * part.row_step[part.row_of_action])
    probabilities = all_probabilities[likely]
    row = part.row_of_action[likely]
    first = _row_starts(row)
    # Number of each action's row among the rows that are left.
    row_number = np.repeat(np.arange(len(first)), np.diff(first, append=len(row)))
    row_sums = np.add.reduceat(probabilities, first)
    shares = (probabilities / row_sums[row_number]).astype(part.gradients.dtype)
    centred = np.take(part.gradients, likely, axis=1)
    means = np.add.reduceat(centred * shares, first, axis=1)
    centred -= np.take(means, row_number, axis=1)
    centred *= np.sqrt(part.row_step[row] * probabilities).astype(part.gradients.dtype)
    # Rounded to single precision, the products of near copies would not be semidefinite.
    double = centred.astype(np.float64)
    return double @ double.T


def _split_open_actions(
    logits: Floats, gradients: NDArray[np.floating], row_steps: Floats, rare: float
) -> tuple[list[_OpenActions], Ints]:
    """Open actions, in parts for workers; and the only action left of every other row.

    An action is ruled out if, whatever the weights of the models, the step leaves its logit
    log(`rare`) or more below that of its row's likeliest action. Logits are (R, K), gradients of
    the C models (C, R, K) and step sizes of rows (R,); the second result has indices in the flat
    policy.
    """
    is_open = np.ones(logits.shape, np.bool_)
    if rare > 0.0:
        rule_out = partial(_find_open_actions, logits, gradients, row_steps, rare)
        slices = _row_slices(len(logits), gradients[:, 0].size)
        is_open = np.concatenate(compute(rule_out, slices, local=True))
    open_count = is_open.sum(axis=1)
    open_rows = np.flatnonzero(open_count > 1)
    forced_rows = np.flatnonzero(open_count == 1)
    forced_actions = forced_rows * logits.shape[1] + logits[forced_rows].argmax(axis=1)
    numbers = int(open_count[open_rows].sum()) * len(gradients)  # of all open gradients
    slices = _row_slices(len(open_rows), numbers // max(1, len(open_rows)))
    gather = partial(_gather_open_actions, logits, gradients, row_steps, is_open)
    parts = compute(gather, [open_rows[part] for part in slices], local=True)
    return parts, forced_actions


def _find_open_actions(
    logits: Floats, gradients: NDArray[np.floating], row_steps: Floats, rare: float, part: slice
) -> NDArray[np.bool_]:
    """Mark the open actions in a slice of the rows: those that the step may make likely enough.

    Each is compared with its row's likeliest action, whatever the weights of the models.
    """
    # An action's logit rises by the row's step size times a mean of its gradients at most.
    part_gradients = gradients[:, part]
    rows = np.arange(part_gradients.shape[1])
    likeliest = logits[part].argmax(axis=1)
    most_gained = (part_gradients - part_gradients[:, rows, likeliest, None]).max(axis=0)
    logit_gap = logits[part] - logits[part][rows, likeliest, None]
    return logit_gap + row_steps[part, None] * most_gained > np.log(rare)


def _gather_open_actions(
    logits: Floats,
    gradients: NDArray[np.floating],
    row_steps: Floats,
    is_open: NDArray[np.bool_],
    rows: Ints,
) -> _OpenActions:
    """Gather the open actions of some rows, with their entries of all linear models.

    Open are actions that the step may play in rows (information sets) with several such.
    """
    row, action = np.nonzero(is_open[rows])
    actions = rows[row] * logits.shape[1] + action  # indices in the flat policy
    part_gradients = np.take(gradients.reshape(len(gradients), -1), actions, axis=1)
    part_logits = logits.ravel()[actions]
    first = _row_starts(row)
    return _OpenActions(actions, part_gradients, part_logits, row, first, row_steps[rows])


def _row_starts(row: Ints) -> Ints:
    """Index at which each row begins, in ascending row numbers (E,), one for each action."""
    return np.flatnonzero(np.diff(row, prepend=-1))


def _row_slices(rows: int, width: int) -> list[slice]:
    """Slices of an array of so many rows, with about `NUMBERS_PER_TASK` numbers each."""
    step = max(1, NUMBERS_PER_TASK // max(1, width))
    return [slice(first, min(first + step, rows)) for first in range(0, rows, step)]


def _quadratic_minimiser(hessian: Floats, slope: Floats, weights: Floats) -> Floats:
    """Weights in the simplex that minimise a quadratic of this Hessian, and slope at `weights`."""
    # For weights that sum to 1 the quadratic is the squared length of a weighted sum of points, the
    # columns of a Cholesky factor moved by a vector. The sum nearest to the origin comes from
    # nonnegative least squares with one more equation, that the weights sum to 1. The solution is a
    # multiple of these weights, so it is normalised in the end.
    count = len(hessian)
    size = np.trace(hessian) / count
    if size <= 0.0:
        return one_hot(slope.argmin(), count)
    root = np.linalg.cholesky(hessian + RIDGE * size * np.eye(count))
    centre = np.linalg.solve(root, hessian @ weights - slope)
    points = root.T - centre[:, None]
    points /= np.abs(points).max()
    equations = np.vstack([points, np.ones(count)])
    right_side = np.append(np.zeros(count), 1.0)
    nearest, _ = nnls(equations, right_side, maxiter=100 * count)
    return nearest / nearest.sum()


def soft_maximum(rates: Floats, softness: float) -> float:
    """Largest mean of win rates (n,), less half of `softness` times its weights' squared length."""
    if len(rates) == 0:
        return 0.0
    level = soft_maximum_level(rates, softness)
    if softness == 0.0:
        return level
    weights = np.maximum(rates - level, 0.0) / softness
    return float(weights @ (rates - softness / 2.0 * weights))


def soft_maximum_level(rates: Floats, softness: float) -> float:
    """Win rate above which counters, of rates (n,), have weight in the soft maximum.

    The weights are ``max(rates - level, 0) / softness``, and sum to 1. Without softness the level
    is the largest rate.
    """
    largest_first = np.sort(rates)[::-1]
    if not softness:
        return float(largest_first[0])
    # levels[i] is the level if the i + 1 largest rates have weight. The last index at which that
    # rate is not below its level is the right one.
    levels = (np.cumsum(largest_first) - softness) / np.arange(1, len(rates) + 1)
    return float(levels[np.flatnonzero(largest_first >= levels)[-1]])


class ProximalProblem(NamedTuple):
    """A proximal step from a point of n components against the models of m counters.

    A point is a mixture: a policy (G, G, K) for each component, and the draw, their probabilities.
    The model of a counter is its win rate, made linear in every row around some earlier point.
    """

    state: BundleState  # with the point and the models
    logits: Floats  # (n, G, G, K), of the policies from which the step's divergence is measured
    component_rates: Floats  # (m, n), of every component against every counter, by the models
    floor: float  # least probability of an action
    entropy_price: float  # in win probability per nat
    softness: float

    def solve(self) -> Trial:
        """Take a proximal step by the models of the few counters that bind.

        1. Begin with the counters that had weight in the last step, and the strongest ones.
        2. Step by their models.
        3. Add the strongest of the counters that by their models win more after the step than those
           of weight, and repeat for a few rounds, until there are none.
        """
        counter_rates = 1.0 - self.component_rates @ self.state.point.draw
        row_logits = self._row_logits()
        weights = self.state.weights
        least_of_strongest = np.sort(counter_rates)[-MOST_ADDED:][0]
        active = np.flatnonzero((weights > USED_WEIGHT) | (counter_rates >= least_of_strongest))
        for _ in range(MOST_ROUNDS):
            trial = self._step_by(active, weights, row_logits)
            weights = trial.weights
            level = soft_maximum_level(trial.rates[active], self.softness)
            overlooked_counters = find_overlooked(
                trial.rates, level + LEAST_EXCESS, active, MOST_ADDED
            )
            if len(overlooked_counters) == 0:
                break
            active = np.append(active, overlooked_counters)
        return trial

    def _row_logits(self) -> Floats:
        """Logits from which the step moves: of all rows of n components, and of their draw.

        The draw, the probabilities of the components, is treated as one more row, unless n is 1.
        Rows are then as wide as the larger of K and n; `IMPOSSIBLE_LOGIT` fills their unused
        columns.
        """
        components, draw = self.state.point
        actions = components.shape[-1]
        logits = self.logits.reshape(-1, actions)
        if len(components) == 1:
            return logits
        width = max(actions, len(draw))
        with_draw = np.full((len(logits) + 1, width), IMPOSSIBLE_LOGIT)
        with_draw[:-1, :actions] = logits
        with_draw[-1, : len(draw)] = np.log(draw)
        return with_draw

    def _step_by(self, active: Ints, start: Floats, row_logits: Floats) -> Trial:
        """Take a proximal step by the models of some counters only.

        `active` has their indices, `start` (m,) the weights of all counters in the last step, and
        `row_logits` the logits of all rows. If there are several components, their draw is one more
        row, the last one, which every game reaches. New rows have no probability below the floor.
        """
        components, draw = self.state.point
        is_mixture = len(components) > 1
        old_rows = components.reshape(-1, components.shape[-1])
        num_rows, actions = old_rows.shape
        reach = self.state.reach[active].mean(axis=0, dtype=np.float64) * draw[:, None]
        reach = np.maximum(reach, LEAST_REACH).ravel()
        gradients, constants = self._linear_models(active, row_logits.shape[1])
        reach_of_draw = 1.0
        policy, active_weights = proximal_step(
            row_logits,
            gradients,
            constants,
            np.append(reach, reach_of_draw) if is_mixture else reach,
            float(self.state.step_size),
            start[active] + len(active) ** -2.0,  # so that each counter has some weight
            least_reach=LEAST_CURVED_SHARE,
            rare=self.floor,
            softness=self.softness,
        )
        new_rows = np.maximum(policy[:num_rows, :actions], self.floor)
        new_rows /= new_rows.sum(axis=-1, keepdims=True)
        if is_mixture:
            draw = np.maximum(policy[num_rows, : len(components)], LEAST_WEIGHT)
            draw = draw / draw.sum()
        weights = np.zeros(len(self.state.pool))
        weights[active] = active_weights
        entropy_gain = 0.0
        if self.entropy_price:
            entropy_lost = _entropies(old_rows) - _entropies(new_rows)
            entropy_gain = self.entropy_price * float(reach @ entropy_lost)
        new_point = Point(new_rows.reshape(components.shape), draw)
        rates = 1.0 - modelled_rates(self.state, new_point.components) @ new_point.draw
        return Trial(new_point, weights, rates, entropy_gain)

    def _linear_models(self, active: Ints, width: int) -> tuple[Singles, Floats]:
        """Linear models of C counters: win rates by the rows of all components, and by their draw.

        `active` has the counters' indices. A mixture draws a component: these probabilities are the
        last row. Returns gradients (C, rows, width), in which those of a component are weighted by
        its probability, and the last row has the components' win rates; and constants (C,).
        """
        components, rows, actions = self.state.gradients.shape[1:]
        if components == 1:
            return self.state.gradients[active, 0], self.state.constants[active, 0]
        draw_row = components * rows  # index of the row of the draw, the last one
        gradients = np.zeros((len(active), draw_row + 1, width), np.float32)
        draw_of_row = np.repeat(self.state.point.draw.astype(np.float32), rows)[:, None]

        def weigh(number: int) -> None:
            """Fill the gradients of an active counter, weighted by the draw."""
            gradient = self.state.gradients[active[number]].reshape(draw_row, actions)
            np.multiply(gradient, draw_of_row, out=gradients[number, :draw_row, :actions])

        compute(weigh, range(len(active)), local=True)
        component_rates = self.component_rates[active]
        gradients[:, draw_row, :components] = component_rates
        # At the current weights the row of the draw adds the win rates, which are in the constants
        # already.
        return gradients, (self.state.constants[active] - component_rates) @ self.state.point.draw


def _entropies(rows: Floats) -> Floats:
    """Entropy of every row in nats, float64 (R,), of rows (R, K) without zeros."""
    return -(rows * np.log(rows)).sum(axis=1)
