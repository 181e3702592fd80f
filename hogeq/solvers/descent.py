"""Lower the exploitability of a policy."""

from typing import Final

import numpy as np

from hogeq.search.branching import Status
from hogeq.search.matrix_games import contains
from hogeq.solvers.symmetric import PROOF_RELAXATIONS, TIE_MARGIN, SymmetricGame
from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import Deadline

MODELLED_GAP: Final = 0.05  # counters are modelled that win at most so much less than the best
NUM_STARTS: Final = 6  # latest counters of the pool, from which a search for a response ascends
LAST_RADIUS: Final = 1e-7  # trust region, at which a descent ends
MOST_COUNTED_GAIN: Final = 1e-3  # most win rate beyond 1/2 against a counter that counts as a gain
CENTRING_RADII: Final = (0.1, 0.01, 0.001)  # trust regions in which an equilibrium is moved


def descend(
    game: SymmetricGame, policy: Floats, pool: Ints, deadline: Deadline
) -> tuple[Floats, float, Ints]:
    """Lower the exploitability of a policy (R, K) by linear programs within a trust region.

    1. Linearise the policy's win rate against each counter-matrix of the pool, (n, R).
    2. Move within the trust region to where the least of these win rates is largest.
    3. Search for a response to the policy there, which joins the pool. If it wins less than that to
       the old policy, take the new one and widen the region; else narrow the region.

    Returns the policy, the win rate of the best counter found to it, and the pool.
    """
    lowest_rate, pool = _best_counter_rate(game, policy, pool, deadline)
    radius = 0.5
    models = list[tuple[float, Floats]]()  # of the policy, for the first counters of the pool
    while radius > LAST_RADIUS and lowest_rate > 0.5 + TIE_MARGIN and deadline.left:
        models += [linearise(game, policy, game.policy(counter)) for counter in pool[len(models) :]]
        new_policy = maximise_least_rate(models, policy, radius)
        rate, pool = _best_counter_rate(game, new_policy, pool, deadline)
        if rate < lowest_rate:
            policy = new_policy
            lowest_rate = rate
            radius = min(0.5, 2.0 * radius)
            models = []  # those of the old policy
        else:
            radius /= 3.0
    return policy, lowest_rate, pool


def _best_counter_rate(
    game: SymmetricGame, policy: Floats, pool: Ints, deadline: Deadline
) -> tuple[float, Ints]:
    """Search for a counter to a policy; its win rate, and the pool to which it is added.

    The win rate is 1/2 if no counter wins more, or if the search does not end.
    """
    search = game.against_policy(policy).respond(
        pool[-NUM_STARTS:], 0.5 + TIE_MARGIN, PROOF_RELAXATIONS, deadline
    )
    if search.status != Status.FOUND:
        return 0.5, pool
    if not contains(pool, search.response):
        pool = np.concatenate([pool, search.response[None]])
    return search.value, pool


def linearise(game: SymmetricGame, policy: Floats, opponent: Floats) -> tuple[float, Floats]:
    """Win rate of a policy (R, K) against an opponent's, and its gradient, (R * K,)."""
    # Each row has K + 1 corners: its pure actions, and last its distribution in the policy.
    corners = [np.concatenate([game.eye, row[None]]) for row in policy]
    problem = game.graph.against(np.ones(1), opponent[None], corners)
    policy_corners = np.full(game.rows, game.actions)
    rate, gradient = problem.gradient(policy_corners)
    return rate, gradient.reshape(game.rows, -1)[:, :-1].ravel()


def maximise_least_rate(
    models: list[tuple[float, Floats]], policy: Floats, radius: float
) -> Floats:
    """Change a policy so that its least modelled win rate is largest in a trust region."""
    return _maximise_gains(models, policy, radius, 0.0)


def centre(game: SymmetricGame, policy: Floats, pool: Ints, deadline: Deadline) -> Floats:
    """Move an equilibrium policy (R, K) into the interior of the set of all of them.

    A linear program lets the policy win more than 1/2, by at most `MOST_COUNTED_GAIN`, against each
    counter of the pool (n, R) that does not win just 1/2 against every equilibrium. If the
    equilibria have an interior, fractions near the policy then are equilibria, too. Returns the
    policy itself if none of the moves leads to an equilibrium.
    """
    for radius in CENTRING_RADII:
        models = [linearise(game, policy, game.policy(counter)) for counter in pool]
        new_policy = _maximise_gains(models, policy, radius, 0.5, MOST_COUNTED_GAIN)
        rate, pool = _best_counter_rate(game, new_policy, pool, deadline)
        if rate <= 0.5 + TIE_MARGIN:
            return new_policy
    return policy


def _maximise_gains(
    models: list[tuple[float, Floats]],
    policy: Floats,
    radius: float,
    base: float,
    most_gain: float | None = None,
) -> Floats:
    """Change a policy (R, K) within a trust region so that a sum of gains is largest.

    `models` are pairs of a win rate and its gradient (R * K,), for each counter. A linear program
    asks that the modelled win rate against each counter that wins nearly most is at least `base`
    plus a gain. If `most_gain` is None, all counters share one gain, of any size, so that the least
    win rate is maximised; else each has its own, from 0 to `most_gain`. The variables are the
    changes of all probabilities, (R * K,), and the gains. Returns the policy itself if the program
    fails.
    """
    from scipy.optimize import linprog

    rates = np.array([rate for rate, _ in models])
    gradients = np.stack([gradient for _, gradient in models])
    is_near = rates <= max(rates.min(), base) + MODELLED_GAP
    if most_gain is None:
        gain_columns = np.ones((is_near.sum(), 1))
        gain_bounds: list[tuple[float | None, float | None]] = [(None, None)]
    else:
        gain_columns = np.eye(is_near.sum())
        gain_bounds = [(0.0, most_gain)] * is_near.sum()
    probabilities = policy.ravel()
    row_sums = np.kron(np.eye(len(policy)), np.ones(policy.shape[1]))
    least_changes = np.maximum(-probabilities, -radius)
    largest_changes = np.minimum(1.0 - probabilities, radius)
    solution = linprog(
        np.append(np.zeros(len(probabilities)), -np.ones(len(gain_bounds))),
        A_ub=np.column_stack([-gradients[is_near], gain_columns]),
        b_ub=rates[is_near] - base,
        A_eq=np.column_stack([row_sums, np.zeros((len(row_sums), len(gain_bounds)))]),
        b_eq=np.zeros(len(row_sums)),
        bounds=[*np.stack([least_changes, largest_changes], axis=1), *gain_bounds],
        method="highs",
    )
    if not solution.success:
        return policy
    changes = solution.x[: len(probabilities)]
    new_policy = np.maximum(probabilities + changes, 0.0).reshape(policy.shape)
    return np.asarray(new_policy / new_policy.sum(axis=1, keepdims=True))
