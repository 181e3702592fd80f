"""Symmetric games of imperfect recall in mixtures, by a double oracle with exact best responses."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from hogeq.model.protocol import Engine
from hogeq.search.branching import MOST_QUESTIONS, Closing, ResponseGraph, Responses, Status
from hogeq.search.folding import folded
from hogeq.search.results import Equilibrium
from hogeq.solvers.responses import SUPPORT, equilibrium
from hogeq.strategies.strategy import Mixture, strategy_of
from hogeq.support.aliases import Floats, Ints, matrix_type
from hogeq.support.deadline import Deadline

TIE: Final = 1e-10  # win rates this close to 1/2 count as 1/2 until they are proved
MOST: Final = 200_000  # relaxations of one proof


class Oracle(NamedTuple):
    """A pool of matrices, and an equilibrium of it."""

    pool: Ints  # (n, R)
    payoffs: Floats  # (n, n), win rate of row against column
    weights: Floats  # (n,)
    closing: Closing  # of the mixture against all matrices

    @property
    def mixture(self) -> tuple[Floats, Ints]:
        """Weights (n,) and matrices (n, R) of the components."""
        used = self.weights > 0.0
        return self.weights[used], self.pool[used]


class SymmetricGame:
    """A game in which both players have the same rows and all actions are legal.

    The graph is of one player; the other one is fixed.
    """

    def __init__(self, graph: ResponseGraph) -> None:
        self.graph = graph
        self.rows, self.actions = graph.legal.shape
        self.eye = np.eye(self.actions)

    @property
    def first(self) -> Ints:
        """First action of each row, a pool of one, (1, R)."""
        return np.zeros((1, self.rows), np.int64)

    def policy(self, matrix: Ints) -> Floats:
        """Matrix (..., R) as a policy (..., R, K)."""
        return np.asarray(self.eye[matrix])

    def against(
        self,
        matrices: Ints,
        weights: Floats | None = None,
        corners: Sequence[Floats] | None = None,
    ) -> Responses:
        """Responses to a mixture of matrices (n, R), of equal weights if none are given."""
        count = len(matrices)
        weights = np.full(count, 1.0 / count) if weights is None else weights
        return self.graph.against(weights, self.policy(matrices), corners)

    def folded(
        self, weights: Floats, matrices: Ints, corners: Sequence[Floats] | None = None
    ) -> Responses:
        """Responses to a mixture of matrices (n, R), of which play tells only what it shows."""
        return folded(self.graph, weights, self.policy(matrices)).without_opponents(corners)

    def alone(self, policy: Floats) -> Responses:
        """Responses to one policy (R, K)."""
        return self.graph.against(np.ones(1), policy[None])


def double_oracle(
    game: SymmetricGame, deadline: Deadline, pool: Ints, most: int = MOST_QUESTIONS
) -> Iterator[Oracle]:
    """Add a best response to the equilibrium of a pool (n, R) to it, until none gains.

    Each yields an equilibrium of the pool; the last is one of the game if its search is closed,
    which it is by at most so many relaxations.
    """
    payoffs = np.stack([game.against(pool).values(matrix) for matrix in pool])
    weights = polished(payoffs, equilibrium(payoffs, TIE))
    while deadline.left:
        used = np.flatnonzero(weights > 0.0)
        response, rate = game.against(pool[used], weights[used]).ascend(pool[[*used, -1]])
        closing = Closing.found(response, rate)
        if rate <= 0.5 + TIE:
            closing = game.folded(weights[used], pool[used]).close(0.5 + TIE, most, deadline)
        yield Oracle(pool, payoffs, weights, closing)
        if closing.status != Status.FOUND:
            return
        wins = game.against(pool).values(closing.response)
        pool = np.concatenate([pool, closing.response[None]])
        payoffs = np.block([[payoffs, 1.0 - wins[:, None]], [wins[None], np.full((1, 1), 0.5)]])
        weights = polished(payoffs, equilibrium(payoffs, TIE))


def polished(payoffs: Floats, weights: Floats) -> Floats:
    """Solve the equations of the components of an equilibrium: all win 1/2."""
    used = np.flatnonzero(weights > SUPPORT)
    ones = np.ones((1, len(used)))
    matrix = np.concatenate([payoffs[np.ix_(used, used)] - 0.5, ones])
    begin = weights[used] / weights[used].sum()
    goal = np.append(np.zeros(len(used)), 1.0)
    step = np.linalg.lstsq(matrix, goal - matrix @ begin, rcond=None)[0]
    better = begin + step
    if (better < 0.0).any():
        better = begin
    found = np.zeros(len(weights))
    found[used] = better / better.sum()
    return found


def fewer(oracle: Oracle) -> Floats:
    """Drop components of an equilibrium of the pool, one after the other, where others suffice.

    In the end none can be dropped: no equilibrium of the pool, so none of the game, has some but
    not all of the components that are left. (If some suffice, so do more.) It is checked by linear
    programs, up to their tolerance. Other matrices may make an equilibrium of fewer components.
    """
    from scipy.optimize import linprog

    payoffs, kept = oracle.payoffs, oracle.weights.copy()
    for one in np.argsort(kept):
        if kept[one] <= 0.0 or (kept > 0.0).sum() == 1:
            continue
        used = np.flatnonzero((kept > 0.0) & (np.arange(len(kept)) != one))
        found = linprog(
            np.zeros(len(used)),
            A_ub=payoffs[:, used],
            b_ub=np.full(len(payoffs), 0.5 + TIE / 10),
            A_eq=np.ones((1, len(used))),
            b_eq=[1.0],
            method="highs",
            options={"primal_feasibility_tolerance": TIE},
        )
        if found.success:
            kept = np.zeros(len(kept))
            kept[used] = found.x
            kept = polished(payoffs, kept)
    return kept


def dyadic(weights: Floats) -> Floats:
    """Round weights to multiples of 2**-40 that sum to 1."""
    found = np.round(weights / weights.sum() * 2.0**40)
    found[found.argmax()] += 2.0**40 - found.sum()
    return found / 2.0**40


def in_mixtures(game: SymmetricGame, engine: Engine, deadline: Deadline) -> Equilibrium | None:
    """Solve a game in mixtures by a double oracle that an exact response ends; None if none does.

    A component that is an equilibrium alone is given in place of the mixture.
    """
    steps = list(double_oracle(game, deadline, game.first))
    if not steps or steps[-1].closing.status != Status.CLOSED:
        return None
    oracle, bound = steps[-1], steps[-1].closing.bound
    weights, pool = oracle.mixture
    less = fewer(oracle)
    single = [np.arange(len(less)) == one for one in candidates(oracle)]
    for chosen in [one.astype(float) for one in single] + [less]:
        used = chosen > 0.0
        problem = game.folded(chosen[used], oracle.pool[used])
        closing = problem.close(0.5 + TIE, MOST, deadline)
        if closing.status == Status.CLOSED:
            weights, pool, bound = chosen[used], oracle.pool[used], closing.bound
            break
    tables = pool.reshape(-1, *engine.shape[:-1]).astype(matrix_type(engine.num_actions))
    found = strategy_of(engine, Mixture(weights, tables) if len(tables) > 1 else tables[0])
    return Equilibrium(
        lower=1.0 - bound,
        upper=bound,
        strategies=(found, found),
        is_proved=False,  # which who knows what passes round can say
        method="double oracle",
        effort={"iterations": len(steps), "components": [len(tables)] * 2},
        seconds=deadline.spent,
    )


def candidates(oracle: Oracle) -> list[int]:
    """Matrices of the pool that none of it beats, the heaviest in the mixture first."""
    worst = oracle.payoffs.max(axis=0)
    order = np.argsort(-oracle.weights, kind="stable")
    return [int(one) for one in order[worst[order] <= 0.5 + TIE]]
