"""Belief DAGs as a game for regret minimisers, and equilibria in mixtures by all methods."""

from dataclasses import replace
from functools import lru_cache
from itertools import product
from time import perf_counter
from typing import Final

import numpy as np
from numpy.typing import DTypeLike

from hogeq.kernels import dag_flows
from hogeq.model.protocol import Passes, Precision
from hogeq.search.results import Equilibrium, InPolicies
from hogeq.solvers.base import SOLVERS
from hogeq.solvers.regret import DiscountedCFR, RegretState
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats
from hogeq.support.messages import refusal
from hogeq.trees import exact
from hogeq.trees.beliefs import MOST, BeliefDag, Choices
from hogeq.trees.engine import TreeEngine
from hogeq.trees.exact import Mixed, against, sequence_payoffs, whole_dag
from hogeq.trees.flat import FlatTree
from hogeq.trees.sequences import sequence_form

METHODS: Final = ("auto", "dag", "columns", "cfr")
SMALL: Final = 2_000  # decisions of both DAGs, from which on CFR is worth its time
DRAWING: Final = 0.2  # share of the time of CFR
FIRST: Final = 5.0  # most seconds of column generation before DAGs are built
BUILT: Final = 200_000  # entries of a DAG for each second: a tenth of the time
ROUNDS: Final = 150  # of CFR before column generation
SELDOM: Final = 0.01  # probability of choices that column generation begins without
MOST_BEGUN: Final = 8_000  # decisions with which it begins: a linear program of seconds


class DagEngine:
    """A tree whose rows are the decisions of the belief DAGs of both players.

    Minimisers of counterfactual regret run here by :class:`DagMinimiser`; nothing else does.
    """

    has_memory = positions_recur = False

    def __init__(self, tree: FlatTree, most: int = MOST) -> None:
        self.tree = tree
        forms = sequence_form(tree, 0), sequence_form(tree, 1)
        self.dags: list[BeliefDag] = []
        for player, form in enumerate(forms):
            dag = whole_dag(form, most)
            if dag is None:
                raise ValueError(
                    f"{tree.name}: player {player} has a belief DAG that is too large, or rows in"
                    " no order; allowed: other games, or method columns"
                )
            self.dags.append(dag)
        self.payoffs = sequence_payoffs(*forms)
        first, second = (len(dag.row) for dag in self.dags)
        self.num_actions = tree.num_actions
        self.shape = first + second, self.num_actions
        self.seat_rows = slice(0, first), slice(first, None)

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

    def workspace(self, players: int, dtype: DTypeLike = np.float64) -> Passes:
        """No pass runs over decisions."""
        raise NotImplementedError

    def duels(self) -> None:
        """Matrices are met as policies are."""

    def minimiser(self) -> "DagMinimiser":
        """Fresh loops of regret minimisers."""
        return DagMinimiser(self)

    def mixed(self, policy: Floats) -> list[Mixed]:
        """Mixture of each player that a policy of decisions is."""
        weights = [np.append(1.0, policy[rows]) for rows in self.seat_rows]
        return [Mixed.of(dag, one) for dag, one in zip(self.dags, weights, strict=True)]


class DagMinimiser:
    """The loops of :class:`hogeq.model.protocol.Minimiser` over both DAGs, and arrays for them."""

    def __init__(self, engine: DagEngine) -> None:
        self.engine, self.strategy = engine, np.zeros(engine.shape)

    def run(
        self,
        regrets: Floats,
        prediction: Floats | None,
        strategy_sum: Floats,
        factors: Floats,
        *,
        alternating: bool,
        plus: bool,
        epsilon: float,
    ) -> None:
        """Do an iteration for each row of `factors`, in place."""
        dags, rows, strategy = self.engine.dags, self.engine.seat_rows, self.strategy
        predicted = regrets[:0] if prediction is None else prediction
        for dag, own in zip(dags, rows, strict=True):
            dag_flows.match_all(regrets[own], predicted[own], dag.legal, epsilon, strategy[own])
        flows = [dag.flow(strategy[own]) for dag, own in zip(dags, rows, strict=True)]
        plans = [dag.sequences @ flow for dag, flow in zip(dags, flows, strict=True)]
        for factor, turn in product(factors, [(0,), (1,)] if alternating else [(0, 1)]):
            met = [against(self.engine.payoffs, plans[1 - player], player) for player in turn]
            for player, worth in zip(turn, met, strict=True):
                dag, own = dags[player], rows[player]
                dag_flows.learn(
                    dag.ends,
                    dag.source,
                    dag.legal,
                    factor,
                    plus,
                    epsilon,
                    flows[player],
                    dag.sequences.T @ (worth / 2.0),  # of win rates
                    regrets[own],
                    predicted[own],
                    strategy_sum[own],
                    strategy[own],
                )
                flows[player] = dag.flow(strategy[own])
                plans[player] = dag.sequences @ flows[player]


@lru_cache(maxsize=2)
def dag_engine(tree: FlatTree, most: int) -> DagEngine:
    """Build the DAGs of a tree once."""
    return DagEngine(tree, most)


def equilibrium(tree: FlatTree, seconds: float, method: str = "auto") -> Equilibrium:
    """Solve a game in mixtures by a named method; all but ``cfr`` are :mod:`hogeq.trees.exact`'s.

    ``auto`` first gives a tenth of the time to column generation without DAGs. Where these are
    large, it then begins with what discounted CFR plays after some rounds, if that is a small part
    of the DAGs, and else leaves all the time to CFR.
    """
    if method not in METHODS:
        raise ValueError(refusal("method", method, f"one of {', '.join(METHODS)}", METHODS))
    begun, forms = perf_counter(), (sequence_form(tree, 0), sequence_form(tree, 1))
    forgetful = any(len(form.inflated.shared) for form in forms)
    if method in {"dag", "columns"} or (method == "auto" and not forgetful):
        return exact.equilibrium(tree, seconds, method)
    if method == "auto":
        found = exact.equilibrium(tree, min(FIRST, seconds / 10.0), "columns")
        if found.is_proved:
            return replace(found, seconds=perf_counter() - begun)
        seconds -= perf_counter() - begun
    try:
        engine = dag_engine(tree, MOST if method == "cfr" else min(MOST, int(BUILT * seconds)))
    except ValueError:
        if method == "cfr":
            raise
        return exact.equilibrium(tree, seconds, "columns")
    is_small, start = engine.shape[0] <= SMALL, None
    minimiser = DiscountedCFR()
    state = minimiser.init(engine)
    if method == "auto" and not is_small:
        while state.iteration < ROUNDS and perf_counter() < begun + seconds / 3.0:
            state, _ = minimiser.steps(engine, state, 10)
        start = _support(engine, minimiser.average(engine, state))
    if method == "auto" and (is_small or start is not None):
        left = begun + seconds - perf_counter()
        return exact.equilibrium(tree, left, wholes=engine.dags, start=start)
    return _by_cfr(engine, minimiser, state, seconds, begun)


def _by_cfr(
    engine: DagEngine,
    minimiser: DiscountedCFR,
    state: RegretState,
    seconds: float,
    begun: float,
) -> Equilibrium:
    """Go on with CFR, and measure averages after each tenth more iterations.

    A part of the time, `DRAWING`, is kept for strategies to be drawn from.
    """
    bounds, started, done = [np.inf, np.inf], perf_counter(), 0
    best = engine.mixed(state.strategy_sum[0])
    while True:
        average = engine.mixed(minimiser.average(engine, state))
        for player, dag in enumerate(engine.dags):
            bound, _ = dag.respond(against(engine.payoffs, average[1 - player].plan, player))
            if bound < bounds[player]:
                bounds[player], best[1 - player] = bound, average[1 - player]
        now = perf_counter()
        left = begun + (1.0 - DRAWING) * seconds - now
        if (state.iteration and left <= 0.0) or sum(bounds) <= exact.MEETING:
            break
        fits = left * done / (now - started)
        state, more = minimiser.steps(engine, state, int(max(1, min(1 + done // 10, fits))))
        done += more
    lower, upper = sorted((-bounds[1], bounds[0]))
    sides = [exact.Side(dag.form, dag, None) for dag in engine.dags]
    iterations = int(state.iteration)
    found = sides, engine.payoffs, (lower, upper), best, "cfr", iterations, begun
    return exact.solved(*found, begun + seconds)


def _support(engine: DagEngine, policy: Floats) -> list[Choices] | None:
    """Choices of some weight in each DAG, and the likeliest elsewhere; None if they are many."""
    mixed = engine.mixed(policy)
    for least in 10.0 ** np.arange(-6, -2):
        kept = []
        for one, rows in zip(mixed, engine.seat_rows, strict=True):
            probability, flow = policy[rows], one.flow[1:].reshape(policy[rows].shape)
            likeliest = np.where(one.dag.legal, probability, -1.0).argmax(axis=1)
            played = one.dag.legal & (probability >= SELDOM) & (flow >= least)
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
    if not tree.num_rows:
        raise ValueError(f"{tree.name}: nobody decides; allowed: games with decisions")
    begun, ends = perf_counter(), [-np.inf, np.inf]
    engine, run = TreeEngine(tree), SOLVERS["bundle"]()
    best = [Strategy.unchecked(tree.uniform())] * 2
    state = run.init(engine)
    while True:
        policy = Strategy.unchecked(engine.legal(run.average(engine, state)))
        for player in (0, 1):
            secures = _secured(tree, policy, player)
            if secures > ends[player] if player == 0 else secures < ends[player]:
                ends[player], best[player] = secures, policy
        last = perf_counter() - begun
        if last >= seconds:
            break
        while perf_counter() - begun < min(1.1 * last, seconds):
            state = run.step(engine, state)
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
    bound = exact.best_response(form, worth, 10.0, dag=whole).bound
    sign = -1.0 if player == 0 else 1.0
    return sign * bound * exact.stakes(tree) + tree.shift + tree.centre
