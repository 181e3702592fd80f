"""Lower the exploitability of a policy."""

from typing import Final

import numpy as np

from hogeq.search.branching import Status
from hogeq.solvers.symmetric import MOST, TIE, SymmetricGame, contains
from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import Deadline

NEAR: Final = 0.05  # a step leaves out counters that win less than the best one by more than this
STARTS: Final = 6  # counters of the pool, the latest, from which a search for a response ascends
SMALLEST: Final = 1e-7  # trust region
SURPLUS: Final = 1e-3  # win rate beyond 1/2 against a counter, after which no more is asked for
RADII: Final = (0.1, 0.01, 0.001)  # trust regions in which an equilibrium is moved


def descend(
    game: SymmetricGame, policy: Floats, pool: Ints, deadline: Deadline
) -> tuple[Floats, float, Ints]:
    """Lower the exploitability of a policy (R, K) by linear programs within a trust region.

    1. Linearise the policy's win rate against each counter of the pool, (n, R).
    2. Move within the trust region to where the least of these win rates is largest.
    3. Respond to the policy there; the response joins the pool. Keep the policy, and widen the
       region, if the response wins less than before; else narrow it.

    Gives the policy, the win rate of the best counter found, and the pool.
    """
    lowest, pool = _best_counter_rate(game, policy, pool, deadline)
    radius = 0.5
    models = list[tuple[float, Floats]]()
    while radius > SMALLEST and lowest > 0.5 + TIE and deadline.left:
        models += [_linearised(game, policy, counter) for counter in pool[len(models) :]]
        moved = _step(models, policy, radius)
        rate, pool = _best_counter_rate(game, moved, pool, deadline)
        if rate < lowest:
            policy = moved
            lowest = rate
            radius = min(0.5, 2.0 * radius)
            models = []
        else:
            radius /= 3.0
    return policy, lowest, pool


def _best_counter_rate(
    game: SymmetricGame, policy: Floats, pool: Ints, deadline: Deadline
) -> tuple[float, Ints]:
    """Win rate of the best counter found to a policy, 1/2 if none wins more; the pool with it."""
    search = game.against_policy(policy).respond(pool[-STARTS:], 0.5 + TIE, MOST, deadline)
    if search.status != Status.FOUND:
        return 0.5, pool
    if not contains(pool, search.response):
        pool = np.concatenate([pool, search.response[None]])
    return search.value, pool


def _linearised(game: SymmetricGame, policy: Floats, counter: Ints) -> tuple[float, Floats]:
    """Win rate of a policy against a counter (R,), and its gradient, (R * K,)."""
    # The corners of each row are its pure actions, and last what the policy plays.
    corners = [np.concatenate([game.eye, row[None]]) for row in policy]
    problem = game.graph.against(np.ones(1), game.policy(counter[None]), corners)
    policy_corners = np.full(game.rows, game.actions)
    rate, gradient = problem.gradient(policy_corners)
    return rate, gradient.reshape(game.rows, -1)[:, :-1].ravel()


def _step(models: list[tuple[float, Floats]], policy: Floats, radius: float) -> Floats:
    """Maximise the least win rate of linear models within a trust region; the policy if it fails.

    One variable is added: the least win rate.
    """
    return _moved(models, policy, radius, 0.0)


def centre(game: SymmetricGame, policy: Floats, pool: Ints, deadline: Deadline) -> Floats:
    """Move an equilibrium policy (R, K) off the boundary of all of them, as far as there is room.

    A linear program gives the policy a surplus against every counter that it does not have to win
    just 1/2 against, at most `SURPLUS` each. So fractions near the policy are equilibria, too, if
    it is one of an interval. Gives the policy itself if it is no equilibrium elsewhere.
    """
    for radius in RADII:
        models = [_linearised(game, policy, counter) for counter in pool]
        moved = _moved(models, policy, radius, 0.5, SURPLUS)
        rate, pool = _best_counter_rate(game, moved, pool, deadline)
        if rate <= 0.5 + TIE:
            return moved
    return policy


def _moved(
    models: list[tuple[float, Floats]],
    policy: Floats,
    radius: float,
    base: float,
    most_gain: float | None = None,
) -> Floats:
    """Maximise the sum of gains by a change of a policy within a trust region; itself if it fails.

    Linear models of the win rates are at least `base` plus a gain: each near counter has one of its
    own, from 0 to `most_gain`; if that is None, all have one, of any size. The variables are the
    changes of all probabilities, (R * K,), and the gains.
    """
    from scipy.optimize import linprog

    rates = np.array([rate for rate, _ in models])
    gradients = np.stack([gradient for _, gradient in models])
    near = rates <= max(rates.min(), base) + NEAR
    gains = np.ones((near.sum(), 1))
    gain_bounds: list[tuple[float | None, float | None]] = [(None, None)]
    if most_gain is not None:
        gains = np.eye(near.sum())
        gain_bounds = [(0.0, most_gain)] * near.sum()
    probabilities = policy.ravel()
    row_sums = np.kron(np.eye(len(policy)), np.ones(policy.shape[1]))
    least_changes = np.maximum(-probabilities, -radius)
    largest_changes = np.minimum(1.0 - probabilities, radius)
    step = linprog(
        np.append(np.zeros(len(probabilities)), -np.ones(len(gain_bounds))),
        A_ub=np.column_stack([-gradients[near], gains]),
        b_ub=rates[near] - base,
        A_eq=np.column_stack([row_sums, np.zeros((len(row_sums), len(gain_bounds)))]),
        b_eq=np.zeros(len(row_sums)),
        bounds=[*np.stack([least_changes, largest_changes], axis=1), *gain_bounds],
        method="highs",
    )
    if not step.success:
        return policy
    moved = np.maximum(probabilities + step.x[: len(probabilities)], 0.0).reshape(policy.shape)
    return np.asarray(moved / moved.sum(axis=1, keepdims=True))
