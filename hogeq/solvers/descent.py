"""Lower the exploitability of a policy."""

import numpy as np

from hogeq.search.branching import Status
from hogeq.solvers.symmetric import MOST, TIE, SymmetricGame
from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import Deadline

SMALLEST = 1e-9  # a loss below it is none until it is proved


def descend(  # noqa: C901 - one loop
    game: SymmetricGame, policy: Floats, pool: Ints, deadline: Deadline
) -> tuple[Floats, float, Ints]:
    """Lower the exploitability of a policy by linear programs within a trust region.

    Gives the policy, the win rate of the best counter found, and the counters.
    """
    from scipy.optimize import linprog

    legal = game.graph.legal & (game.graph.legal.sum(axis=1, keepdims=True) > 1)
    rows, actions = np.nonzero(legal)
    sums = np.zeros((game.rows, len(rows)))
    sums[rows, np.arange(len(rows))] = 1.0
    radius, best = 0.5, np.inf

    def worst(one: Floats, pool: Ints) -> tuple[float, Ints]:
        problem = game.alone(one)
        counter, rate = game.best(problem, pool[-6:])
        if rate <= 0.5 + SMALLEST:
            closing = problem.close(0.5 + TIE, None, MOST, deadline)
            if closing.status == Status.FOUND:
                found, rate = problem.improve(closing.response)
                counter = found - problem.corners.first[:-1]
            rate = max(rate, 0.5)
        if not (pool == counter).all(axis=1).any():
            pool = np.concatenate([pool, counter[None]])
        return rate, pool

    best, pool = worst(policy, pool)
    while radius > 1e-7 and best > 0.5 + TIE / 10 and deadline.left:
        corners = [
            np.concatenate([game.eye[legal], one[None]])
            for legal, one in zip(game.graph.legal, policy, strict=True)
        ]
        last = np.cumsum([len(one) for one in corners]) - 1
        lines, rates = list[Floats](), list[float]()
        for counter in pool:
            problem = game.against(np.ones(1), game.policy(counter[None]), corners)
            rate, gain = problem.gradient(last)
            rates.append(rate)
            slope = np.zeros((game.rows, game.actions))
            slope[game.graph.legal] = np.delete(gain, last)
            lines.append(slope[rows, actions])
        slopes, now = np.stack(lines), policy[rows, actions]
        near = np.array(rates) <= min(rates) + 0.05
        while radius > 1e-7:
            found = linprog(
                np.append(np.zeros(len(rows)), -1.0),
                A_ub=np.column_stack([-slopes[near], np.ones(near.sum())]),
                b_ub=np.array(rates)[near],
                A_eq=np.column_stack([sums[legal.any(axis=1)], np.zeros(legal.any(axis=1).sum())]),
                b_eq=np.zeros(legal.any(axis=1).sum()),
                bounds=[
                    *zip(np.maximum(-now, -radius), np.minimum(1.0 - now, radius), strict=True),
                    (None, None),
                ],
                method="highs",
            )
            if not found.success:
                radius /= 4.0
                continue
            moved = policy.copy()
            moved[rows, actions] = np.maximum(now + found.x[:-1], 0.0)
            moved /= moved.sum(axis=1, keepdims=True)
            rate, pool = worst(moved, pool)
            if rate < best:
                policy, best, radius = moved, rate, min(0.5, 2.0 * radius)
                break
            radius /= 3.0
            if len(pool) > len(rates):
                break
    return policy, best, pool
