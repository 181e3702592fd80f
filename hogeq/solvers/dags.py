"""Belief DAGs as a game for regret minimisers, and equilibria in mixtures by all methods."""

from collections.abc import Iterator
from functools import lru_cache, reduce
from time import perf_counter
from typing import Any, Final

import numpy as np
from numpy.typing import DTypeLike, NDArray

from hogeq.model.protocol import Engine, Precision, Reach, Role, Valued, WinRate
from hogeq.model.rows import TIE
from hogeq.search.results import Equilibrium, InPolicies
from hogeq.solvers.base import SOLVERS, Solver
from hogeq.solvers.regret import DiscountedCFR
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats, Ints
from hogeq.support.messages import refusal
from hogeq.trees import exact
from hogeq.trees.beliefs import MOST, Choices
from hogeq.trees.engine import TreeEngine
from hogeq.trees.exact import Mixed, against, sequence_payoffs, whole_dag
from hogeq.trees.flat import FlatTree
from hogeq.trees.sequences import sequence_form

METHODS: Final = ("auto", "dag", "columns", "cfr")
SMALL: Final = 2_000  # decisions of both DAGs, from which on CFR is worth its time
ROUNDS: Final = 150  # of CFR before column generation
SELDOM: Final = 0.01  # probability of choices that column generation begins without
MOST_BEGUN: Final = 8_000  # decisions with which it begins: a linear program of seconds


class RowsEngine:
    """Rows of which some have fewer than K actions."""

    positions_recur = False
    legal_actions: NDArray[np.bool_]  # (R, K)
    num_legal: Ints  # (R,)

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of a policy, (R, K)."""
        return len(self.num_legal), self.num_actions

    @property
    def num_actions(self) -> int:
        """Most actions of a row, K."""
        return self.legal_actions.shape[1]

    def legal(self, policy: Floats) -> Floats:
        """Spread the probabilities of illegal actions evenly over the legal ones of their rows."""
        illegal = self.illegal(policy)
        # Rows of ones stay: they say that own actions count 1.
        ones = (policy == 1.0).all(axis=-1)
        spread = np.where(ones, 0.0, illegal / self.num_legal)
        return np.asarray((policy + spread[..., None]) * self.legal_actions)

    def illegal(self, policy: Floats) -> Floats:
        """Probability of illegal actions in every row; 0 where it may be rounding alone."""
        total = np.einsum("...k,...k->...", policy, ~self.legal_actions)
        return np.where(total > TIE, total, 0.0)

    def gradient(self, values: Floats, policy: Floats, reach: Floats) -> Floats:
        """Values of actions less their row's mean; ties are 0 to the last digit."""
        legal = self.legal_actions
        mean = np.einsum("rk,rk->r", values, legal) / self.num_legal
        centred = values - mean[:, None]
        tied = np.abs(centred) <= TIE * reach[:, None]
        centred = np.where(legal & ~tied, centred, 0.0)
        # Illegal actions are worth that mean if the policy plays them, else as little as the worst.
        played = self.illegal(policy) > 0.0
        return np.where(legal | played[:, None], centred, least_of_rows(centred))


def least_of_rows(values: Floats) -> Floats:
    """Least of each row, (R, 1); numpy's own is slow along a short axis."""
    return np.asarray(reduce(np.minimum, values.T)[:, None])


class DagEngine(RowsEngine):
    """A tree whose rows are the decisions of the belief DAGs of both players."""

    has_memory = False

    def __init__(self, tree: FlatTree) -> None:
        self.tree = tree
        forms = sequence_form(tree, 0), sequence_form(tree, 1)
        dags = [whole_dag(form) for form in forms]
        for player, dag in enumerate(dags):
            if dag is None:
                raise ValueError(
                    f"{tree.name}: player {player} has a belief DAG that is too large, or rows in"
                    " no order; allowed: other games, or method columns"
                )
        self.dags = [dag for dag in dags if dag is not None]
        self.payoffs = sequence_payoffs(*forms)
        self.legal_actions = np.concatenate([dag.legal for dag in self.dags])
        self.num_legal = self.legal_actions.sum(axis=1)
        first = len(self.dags[0].row)
        self.seat_rows = slice(0, first), slice(first, None)
        self._last = [Mixed.of(dag, np.zeros(len(dag.allowed))) for dag in self.dags]
        self._given = [np.zeros(dag.legal.shape) for dag in self.dags]

    @property
    def payoff_per_win_rate(self) -> float:
        """Payoff that counts as a win rate of 1."""
        return 2.0 * self.tree.largest_payoff

    def ways_to_stay(self, policies: Floats) -> list[tuple[tuple[int, ...], int]]:
        """No play is endless."""
        return []

    def quick_dtype(self, opponents: int = 1) -> Precision:
        """Precision of sums that need not be exact."""
        return np.float64

    def workspace(self, players: int, dtype: DTypeLike = np.float64) -> "DagPasses":
        """Give passes, which keep no arrays."""
        return DagPasses(self)

    def duels(self) -> None:
        """Matrices are met as policies are."""

    def minimiser(self) -> None:
        """Regret minimisers use passes."""

    def mixed(self, policy: Floats) -> list[Mixed]:
        """Mixture of each player that a policy of decisions is."""
        for player, rows in enumerate(self.seat_rows):
            if not np.array_equal(policy[rows], self._given[player]):  # else it is known
                dag = self.dags[player]
                self._given[player] = policy[rows].copy()
                self._last[player] = Mixed(dag, dag.flow(self.legal(policy)[rows]))
        return [*self._last]


class DagPasses:
    """Passes for counterfactual regrets: own choices count 1."""

    def __init__(self, engine: DagEngine) -> None:
        self.engine = engine

    def forward(self, policies: Floats, weights: Floats | None = None) -> Reach:
        """Compute nothing: own choices count 1, and those of others are summed up backward."""
        share = np.ones(1) if weights is None else weights
        return Reach(np.ones(len(policies[0])), share)

    def cell_reach(self, policies: Floats) -> Floats:
        """Flow into every decision."""
        both = self.engine.mixed(policies[0])
        return np.concatenate(
            [np.einsum("dk->d", one.flow[1:].reshape(len(one.dag.row), -1)) for one in both]
        )

    def backward(
        self,
        reach: Reach,
        policies: Floats,
        role: Role,
        *,
        temperature: float = 1.0,
        damping: float = 1.0,
    ) -> Valued:
        """Compute counterfactual values of choices."""
        del temperature, damping
        assert role == Role.COUNTERFACTUAL  # noqa: S101 - all that regrets ask for
        engine = self.engine
        own, plans = engine.legal(policies[0]), [one.plan for one in engine.mixed(policies[-1])]
        values = np.empty(engine.shape)
        for player, (dag, rows) in enumerate(zip(engine.dags, engine.seat_rows, strict=True)):
            met = against(engine.payoffs, plans[1 - player], player)
            worth = np.asarray(dag.sequences.T @ met) / 2.0
            dag.values(worth, own[rows])
            values[rows] = worth[1:].reshape(-1, engine.num_actions)
        return Valued(0.5, 0.5, 0, engine.gradient(values, policies[0], reach.rows))

    def win_rate(
        self, policies: Floats, role: Role = Role.EVALUATE, weights: Floats | None = None
    ) -> WinRate:
        """No search runs over decisions."""
        raise NotImplementedError


@lru_cache(maxsize=2)
def dag_engine(tree: FlatTree) -> DagEngine:
    """Build the DAGs of a tree once."""
    return DagEngine(tree)


def states(solver: Solver[Any], game: Engine) -> Iterator[Any]:
    """Give the state of a solver before the first iteration, and after each."""
    state = solver.init(game)
    while True:
        yield state
        state = solver.step(game, state)


def equilibrium(tree: FlatTree, seconds: float, method: str = "auto") -> Equilibrium:
    """Solve a game in mixtures by a named method; all but ``cfr`` are :mod:`hogeq.trees.exact`'s.

    Where DAGs are large, ``auto`` begins column generation with what discounted CFR plays after
    some rounds, if that is a small part of the DAGs, and else leaves all the time to CFR.
    """
    if method not in METHODS:
        raise ValueError(refusal("method", method, f"one of {', '.join(METHODS)}", METHODS))
    begun, forms = perf_counter(), (sequence_form(tree, 0), sequence_form(tree, 1))
    forgetful = any(len(form.inflated.shared) for form in forms)
    if method in {"dag", "columns"} or (method == "auto" and not forgetful):
        return exact.equilibrium(tree, seconds, method)
    try:
        engine = dag_engine(tree)
    except ValueError:
        if method == "cfr":
            raise
        return exact.equilibrium(tree, seconds, "columns")
    is_small, start = len(engine.num_legal) <= SMALL, None
    if method == "auto" and not is_small:
        start = _begun(engine, begun + seconds / 3.0)
    if method == "auto" and (is_small or start is not None):
        left = begun + seconds - perf_counter()
        return exact.equilibrium(tree, left, wholes=engine.dags, start=start)
    return _by_cfr(engine, seconds, begun)


def _by_cfr(engine: DagEngine, seconds: float, begun: float) -> Equilibrium:
    """Run discounted CFR until the time is over; measure averages after each tenth more of it."""
    minimiser, bounds, last = DiscountedCFR(), [np.inf, np.inf], 0.0
    best = engine.mixed(np.full(engine.shape, 1.0 / engine.num_actions))
    for iterations, state in enumerate(states(minimiser, engine)):
        now = perf_counter() - begun
        if iterations and now < min(1.1 * last, seconds):
            continue
        average = engine.mixed(minimiser.average(engine, state))
        for player, dag in enumerate(engine.dags):
            bound, _ = dag.respond(against(engine.payoffs, average[1 - player].plan, player))
            if bound < bounds[player]:
                bounds[player], best[1 - player] = bound, average[1 - player]
        last = perf_counter() - begun
        if last >= seconds or sum(bounds) <= exact.MEETING:
            break
    lower, upper = sorted((-bounds[1], bounds[0]))
    sides = [exact.Side(dag.form, dag, None) for dag in engine.dags]
    ends = lower, upper
    return exact.solved(sides, engine.payoffs, ends, best, "cfr", iterations, begun)


def _begun(engine: DagEngine, end: float) -> list[Choices] | None:
    """Give the choices of CFR after some rounds, with which column generation begins."""
    minimiser = DiscountedCFR()
    for number, state in enumerate(states(minimiser, engine)):
        if number == ROUNDS or perf_counter() > end:
            return _support(engine, minimiser.average(engine, state))
    return None


def _support(engine: DagEngine, policy: Floats) -> list[Choices] | None:
    """Choices of some weight in each DAG, and the likeliest elsewhere; None if they are many."""
    mixed, legal = engine.mixed(policy), engine.legal(policy)
    for least in 10.0 ** np.arange(-6, -2):
        kept = []
        for one, rows in zip(mixed, engine.seat_rows, strict=True):
            probability, flow = legal[rows], one.flow[1:].reshape(legal[rows].shape)
            likeliest = np.where(one.dag.legal, probability, -1.0).argmax(axis=1)
            played = (probability >= SELDOM) & (flow >= least)
            played[np.arange(len(played)), likeliest] = True
            kept.append(np.append(True, played))
        parts = [one.dag.restricted(choices)[0] for one, choices in zip(mixed, kept, strict=True)]
        if sum(len(part.row) for part in parts) <= MOST_BEGUN:
            return kept
    return None


def in_policies(tree: FlatTree, solved: Equilibrium, seconds: float) -> InPolicies:
    """Search for the policies that secure most, by the solver ``bundle`` for so many seconds.

    A policy is a mixture too, so no team secures more by it than the value in mixtures.
    """
    begun, ends = perf_counter(), [-np.inf, np.inf]
    engine, run = TreeEngine(tree), SOLVERS["bundle"]()
    best = [Strategy.unchecked(tree.uniform())] * 2
    last = 0.0
    for state in states(run, engine):
        now = perf_counter() - begun
        if now < min(1.1 * last, seconds):
            continue
        policy = Strategy.unchecked(engine.legal(run.average(engine, state)))
        for player in (0, 1):
            secures = _secured(tree, policy, player)
            if secures > ends[player] if player == 0 else secures < ends[player]:
                ends[player], best[player] = secures, policy
        last = perf_counter() - begun
        if last >= seconds:
            break
    return InPolicies(
        lower=min(ends[0], solved.upper),
        upper=max(ends[1], solved.lower),
        strategies=(best[0], best[1]),
        mixtures=solved,
        seconds=perf_counter() - begun,
    )


def _secured(tree: FlatTree, policy: Strategy, player: int) -> float:
    """Payoff to player 0 that the policy of a player is proved to secure."""
    form = sequence_form(tree, 1 - player)
    worth = exact.payoffs_against(policy, form)
    whole = exact.dags_of(tree, MOST)[1 - player]
    if whole is None:
        bound = exact.best_response(form, worth, 10.0).bound
    else:
        bound = whole.respond(worth)[0]
    sign = -1.0 if player == 0 else 1.0
    return sign * bound * exact.stakes(tree) + tree.shift + tree.centre
