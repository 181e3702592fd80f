"""Lower the exploitability of a policy."""

from typing import Final

import numpy as np

from hogeq.search.branching import Status
from hogeq.solvers.symmetric import MOST, TIE, SymmetricGame
from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import Deadline

NEAR: Final = 0.05  # a step leaves out counters that win less than the best one by more
SMALLEST: Final = 1e-7  # trust region


def descend(
    game: SymmetricGame, policy: Floats, pool: Ints, deadline: Deadline
) -> tuple[Floats, float, Ints]:
    """Lower the exploitability of a policy (R, K) by linear programs within a trust region.

    Gives the policy, the win rate of the best counter found, and the counters (n, R).
    """
    lowest, pool = _exploit(game, policy, pool, deadline)
    radius, lines = 0.5, list[tuple[float, Floats]]()
    while radius > SMALLEST and lowest > 0.5 + TIE and deadline.left:
        lines += [_line(game, policy, counter) for counter in pool[len(lines) :]]
        moved = _step(lines, policy, radius)
        rate, pool = _exploit(game, moved, pool, deadline)
        if rate < lowest:
            policy, lowest, radius, lines = moved, rate, min(0.5, 2.0 * radius), []
        else:
            radius /= 3.0
    return policy, lowest, pool


def _exploit(
    game: SymmetricGame, policy: Floats, pool: Ints, deadline: Deadline
) -> tuple[float, Ints]:
    """Win rate of the best counter found, 1/2 if none is; and the pool with it."""
    closing = game.alone(policy).respond(pool[-6:], 0.5 + TIE, MOST, deadline)
    if closing.status != Status.FOUND:
        return 0.5, pool
    if not (pool == closing.response).all(axis=1).any():
        pool = np.concatenate([pool, closing.response[None]])
    return closing.value, pool


def _line(game: SymmetricGame, policy: Floats, counter: Ints) -> tuple[float, Floats]:
    """Win rate of a policy against a counter, and its gradient, (R * K,)."""
    corners = [np.concatenate([game.eye, row[None]]) for row in policy]
    problem = game.graph.against(np.ones(1), game.policy(counter[None]), corners)
    rate, gains = problem.gradient(np.full(game.rows, game.actions))
    return rate, gains.reshape(game.rows, -1)[:, :-1].ravel()


def _step(lines: list[tuple[float, Floats]], policy: Floats, radius: float) -> Floats:
    """Maximise the least win rate to first order; the policy itself if that fails."""
    from scipy.optimize import linprog

    rates, slopes = np.array([rate for rate, _ in lines]), np.stack([slope for _, slope in lines])
    near, now = rates <= rates.min() + NEAR, policy.ravel()
    sums = np.kron(np.eye(len(policy)), np.ones(policy.shape[1]))
    ends = np.stack([np.maximum(-now, -radius), np.minimum(1.0 - now, radius)], axis=1)
    step = linprog(
        np.append(np.zeros(len(now)), -1.0),
        A_ub=np.column_stack([-slopes[near], np.ones(near.sum())]),
        b_ub=rates[near],
        A_eq=np.column_stack([sums, np.zeros(len(sums))]),
        b_eq=np.zeros(len(sums)),
        bounds=[*ends, (None, None)],
        method="highs",
    )
    if not step.success:
        return policy
    moved = np.maximum(now + step.x[:-1], 0.0).reshape(policy.shape)
    return np.asarray(moved / moved.sum(axis=1, keepdims=True))
