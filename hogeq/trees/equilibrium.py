"""Equilibrium in mixtures of pure strategies, by double oracle with exact responses.

McMahan, Gordon and Blum, "Planning in the presence of cost functions controlled by an adversary",
ICML 2003. Under imperfect recall a mixture draws one pure strategy before the game and keeps to it;
an equilibrium among mixtures exists, one among behaviour strategies need not.
"""

from time import perf_counter
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog

from hogeq.support.aliases import Floats
from hogeq.trees.exact import MEETING, Opponent, best_response
from hogeq.trees.flat import FlatTree
from hogeq.trees.passes import payoff
from hogeq.trees.sequences import sequence_form


class Equilibrium(NamedTuple):
    """Mixtures of both players, and where the value of the game lies."""

    lower: float
    """Payoff to player 0 that the first mixture secures, at least."""
    upper: float
    """Payoff to player 0 that the second mixture allows, at most."""
    mixtures: tuple[Opponent, Opponent]
    iterations: int

    @property
    def is_proved(self) -> bool:
        """Whether both bounds meet."""
        return self.upper - self.lower <= MEETING


def solve_matrix(payoffs: Floats) -> tuple[Floats, Floats]:
    """Optimal mixtures of a matrix game whose rows maximise."""
    rows, columns = payoffs.shape
    answer = linprog(
        np.concatenate([np.zeros(rows), [-1.0]]),
        A_ub=np.hstack([-payoffs.T, np.ones((columns, 1))]),
        b_ub=np.zeros(columns),
        A_eq=np.concatenate([np.ones(rows), [0.0]])[None],
        b_eq=[1.0],
        bounds=[(0.0, None)] * rows + [(None, None)],
        method="highs",
    )
    first = np.maximum(answer.x[:-1], 0.0)
    second = np.maximum(-answer.ineqlin.marginals, 0.0)
    return first / first.sum(), second / second.sum()


def equilibrium(tree: FlatTree, seconds: float) -> Equilibrium:
    """Solve a game in mixtures of pure strategies.

    Parameters
    ----------
    tree : FlatTree
    seconds : float
        Limit; when it is over, the bounds reached so far are given.

    Raises
    ------
    ValueError
        If a player may meet an information set twice in a play.
    """
    end = perf_counter() + seconds
    forms = [sequence_form(tree, player) for player in (0, 1)]
    pools: list[list[Floats]] = [[], []]
    start = np.eye(tree.num_actions)[np.zeros(tree.num_rows, np.int64)]
    for pool in pools:
        pool.append(start)
    table = np.array([[payoff(tree, start, start)]])
    lower, upper, best = -np.inf, np.inf, [Opponent.alone(start)] * 2
    iterations = 0
    while True:
        iterations += 1
        weights = solve_matrix(table)
        mixtures = [
            Opponent(chosen[chosen > 0.0], np.array(pool)[chosen > 0.0])
            for chosen, pool in zip(weights, pools, strict=True)
        ]
        left = max(end - perf_counter(), 0.0)
        answers = [best_response(forms[i], mixtures[1 - i], left / 2.0) for i in (0, 1)]
        if answers[0].bound < upper:
            upper, best[1] = answers[0].bound, mixtures[1]
        if -answers[1].bound > lower:
            lower, best[0] = -answers[1].bound, mixtures[0]
        value = float(weights[0] @ table @ weights[1])
        gains = answers[0].payoff - value, answers[1].payoff + value
        if upper - lower <= MEETING or max(gains) <= MEETING or perf_counter() >= end:
            return Equilibrium(lower, upper, (best[0], best[1]), iterations)
        if gains[0] > MEETING:
            pools[0].append(answers[0].strategy)
            new = [payoff(tree, answers[0].strategy, one) for one in pools[1]]
            table = np.vstack([table, new])
        if gains[1] > MEETING:
            pools[1].append(answers[1].strategy)
            new = [payoff(tree, one, answers[1].strategy) for one in pools[0]]
            table = np.hstack([table, np.array(new)[:, None]])
