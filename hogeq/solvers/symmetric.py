"""Symmetric games of imperfect recall in mixtures, by a double oracle with exact best responses."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from hogeq.model.protocol import Engine
from hogeq.search.branching import (
    MOST_RELAXATIONS,
    ResponseGraph,
    ResponseProblem,
    ResponseSearch,
    Status,
)
from hogeq.search.double_oracle import double_oracle_rounds
from hogeq.search.folding import folded
from hogeq.search.matrix_games import PoolGame, equalising_weights, nash_of_matrix
from hogeq.search.results import Equilibrium
from hogeq.strategies.conversion import strategy_of
from hogeq.strategies.strategy import Mixture
from hogeq.support.aliases import Floats, Ints, matrix_type
from hogeq.support.deadline import FOREVER, Deadline

TIE_MARGIN: Final = 1e-10  # win rates this close to 1/2 count as 1/2 until they are proved
PROOF_RELAXATIONS: Final = 20_000  # most of a proof with prices; without, ten times as many


class SymmetricGame:
    """A game in which both players have the same rows and all actions are legal.

    The graph is of one player; the other one is fixed.
    """

    def __init__(self, graph: ResponseGraph) -> None:
        self.graph = graph
        self.rows, self.actions = graph.legal.shape
        self.eye = np.eye(self.actions)  # pure actions, (K, K)

    @property
    def initial_pool(self) -> Ints:
        """Pool (1, R) of one matrix, which takes the first action in every row."""
        return np.zeros((1, self.rows), np.int64)

    def policy(self, matrix: Ints) -> Floats:
        """Matrix (..., R) as a policy (..., R, K)."""
        return np.asarray(self.eye[matrix])

    def against(
        self, matrices: Ints, weights: Floats | None = None, corners: Sequence[Floats] | None = None
    ) -> ResponseProblem:
        """Pose a response to a mixture of matrices (n, R), of equal weights if none are given."""
        count = len(matrices)
        weights = np.full(count, 1.0 / count) if weights is None else weights
        return self.graph.against(weights, self.policy(matrices), corners)

    def win_rates(self, matrix: Ints, matrices: Ints) -> Floats:
        """Win rate of a matrix (R,) against each of some matrices, (n, R)."""
        # Each row has one corner, the matrix's action, so that the problem takes little memory.
        problem = self.against(matrices, corners=[*self.policy(matrix)[:, None]])
        return problem.values(np.zeros(self.rows, np.int64))

    def pose_folded(
        self,
        weights: Floats,
        policies: Floats,
        corners: Sequence[Floats] | None = None,
        deadline: Deadline = FOREVER,
    ) -> ResponseProblem | None:
        """Pose the problem of a response to a mixture of policies (n, R, K), folded into chance.

        A relaxed responder with full memory then knows of the draw only what play has shown.
        `corners` (c, K) of each row are the distributions that a response may play there, by
        default its pure actions. None if the time is over before.
        """
        graph = folded(self.graph, weights, policies, deadline)
        return None if graph is None else graph.without_opponents(corners)

    def prove_unbeaten(
        self, weights: Floats, matrices: Ints, most_relaxations: int, deadline: Deadline
    ) -> ResponseSearch:
        """Prove by branch and bound that no response to a mixture of matrices (n, R) wins over 1/2.

        The result has the response that wins more, if the search finds one instead.
        """
        problem = self.pose_folded(weights, self.policy(matrices), deadline=deadline)
        if problem is None:
            return ResponseSearch.not_begun()
        return problem.branch_and_bound(0.5 + TIE_MARGIN, most_relaxations, deadline)

    def against_policy(self, policy: Floats) -> ResponseProblem:
        """Pose the problem of a response to one policy (R, K)."""
        return self.graph.against(np.ones(1), policy[None])


class Oracle(PoolGame):
    """A pool of matrices (n, R) of a symmetric game, to which exact best responses are added.

    If branch and bound closed the last search, the equilibrium of the pool is one of the game.
    """

    def __init__(
        self, game: SymmetricGame, pool: Ints, most_relaxations: int = MOST_RELAXATIONS
    ) -> None:
        payoffs = np.stack([game.win_rates(matrix, pool) for matrix in pool])
        super().__init__(pool, payoffs, self.solve(payoffs))
        self.game = game
        self.most_relaxations = most_relaxations  # of each proof
        self.search = ResponseSearch.not_begun()  # the last one, for a response to an equilibrium

    @staticmethod
    def solve(payoffs: Floats) -> Floats:
        """Weights (n,) of an equilibrium of payoffs (n, n), exact up to rounding."""
        return equalising_weights(payoffs, nash_of_matrix(payoffs, TIE_MARGIN))

    def respond(self, player: int, mixtures: tuple[Floats, Ints], deadline: Deadline) -> bool:
        """Search for a response that wins more than 1/2, by ascent, else by branch and bound."""
        weights, matrices = mixtures
        starts = [*matrices, self.pool[-1]]  # of the ascent: the components, and the newest matrix
        response, rate = self.game.against(matrices, weights).ascend(starts, deadline)
        self.search = ResponseSearch.succeeded(response, rate)
        if rate <= 0.5 + TIE_MARGIN:
            # Branch and bound finds a better one, or proves that there is none.
            self.search = self.game.prove_unbeaten(
                weights, matrices, self.most_relaxations, deadline
            )
        if self.search.status != Status.FOUND:
            return False
        win_rates = self.game.win_rates(self.search.response, self.pool)  # against all of the pool
        return self.add(self.search.response, win_rates)


def minimal_support(oracle: PoolGame) -> Floats:
    """Weights (n,) of an equilibrium of the pool from which no component can be dropped.

    1. Try to drop each component, the lightest first: a linear program looks for an equilibrium of
       the others.
    2. If there is one, go on with it.

    In the end no equilibrium of the pool, so none of the game, has some but not all of the
    components that are left, up to the tolerance of linear programs. Other matrices may make an
    equilibrium of fewer components.
    """
    from scipy.optimize import linprog

    payoffs = oracle.payoffs
    weights = oracle.weights.copy()
    for dropped in np.argsort(weights):
        if weights[dropped] <= 0.0 or (weights > 0.0).sum() == 1:
            continue
        used = np.flatnonzero((weights > 0.0) & (np.arange(len(weights)) != dropped))
        solution = linprog(
            np.zeros(len(used)),
            A_ub=payoffs[:, used],
            b_ub=np.full(len(payoffs), 0.5 + TIE_MARGIN / 10),
            A_eq=np.ones((1, len(used))),
            b_eq=[1.0],
            method="highs",
            options={"primal_feasibility_tolerance": TIE_MARGIN},
        )
        if solution.success:
            weights = np.zeros(len(weights))
            weights[used] = solution.x
            weights = equalising_weights(payoffs, weights)
    return weights


def dyadic_weights(weights: Floats) -> Floats:
    """Round weights to multiples of 2**-40 that sum to 1, so that they are exact in float64."""
    numerators = np.round(weights / weights.sum() * 2.0**40)
    numerators[numerators.argmax()] += 2.0**40 - numerators.sum()
    return numerators / 2.0**40


def in_mixtures(game: SymmetricGame, engine: Engine, deadline: Deadline) -> Equilibrium | None:
    """Solve a game in mixtures by a double oracle with exact best responses; None without a proof.

    Then look for a simpler equilibrium: one of the components alone, or else a mixture from which
    no component can be dropped. If that is proved anew, it replaces the mixture.
    """
    oracle = Oracle(game, game.initial_pool)
    num_rounds = len(list(double_oracle_rounds(oracle, deadline)))
    if oracle.search.status != Status.CLOSED:
        return None
    weights, bound = _simplify(game, oracle, deadline)
    used = weights > 0.0
    tables = oracle.pool[used].reshape(-1, *engine.shape[:-1])
    tables = tables.astype(matrix_type(engine.num_actions))
    mixture = Mixture(weights[used], tables)
    strategy = strategy_of(engine, mixture if len(tables) > 1 else tables[0])
    return Equilibrium(
        lower=1.0 - bound,
        upper=bound,
        strategies=(strategy, strategy),
        is_proved=False,  # the caller decides it, who knows how far the passes round
        method="double oracle",
        effort={"iterations": num_rounds, "components": [len(tables)] * 2},
        seconds=deadline.spent,
    )


def _simplify(game: SymmetricGame, oracle: Oracle, deadline: Deadline) -> tuple[Floats, float]:
    """Look for an equilibrium of fewer components than the proved one of an oracle's pool.

    Returns its weights (n,) and the proved bound on responses to it; those of the oracle if no
    simpler one is proved in time.
    """
    pure_weights = np.eye(len(oracle.pool))
    candidates = [pure_weights[member] for member in list_unbeaten(oracle)]
    candidates.append(minimal_support(oracle))
    for weights in candidates:
        used = weights > 0.0
        search = game.prove_unbeaten(weights[used], oracle.pool[used], PROOF_RELAXATIONS, deadline)
        if search.status == Status.CLOSED:
            return weights, search.bound
    return oracle.weights, oracle.search.bound


def list_unbeaten(oracle: PoolGame) -> list[int]:
    """List members of the pool that no other beats, the heaviest in the mixture first."""
    best_rate_against = oracle.payoffs.max(axis=0)  # of any member, against each
    heaviest_first = np.argsort(-oracle.weights, kind="stable")
    is_unbeaten = best_rate_against[heaviest_first] <= 0.5 + TIE_MARGIN
    return [int(member) for member in heaviest_first[is_unbeaten]]
