"""Belief DAGs as a game for regret minimisers, and equilibria in mixtures by all methods."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import DTypeLike

from hogeq.kernels import dag_flows
from hogeq.search.results import Equilibrium
from hogeq.solvers.regret import DiscountedCFR, RegretState
from hogeq.solvers.solving import Pace
from hogeq.support.aliases import Floats
from hogeq.support.deadline import Deadline
from hogeq.support.messages import HogeqError, refusal
from hogeq.trees import columns
from hogeq.trees.absent import optimum
from hogeq.trees.beliefs import BeliefDag, Choices, dags_of, require_dags
from hogeq.trees.columns import Side, Solving
from hogeq.trees.engine import TreeEngine, TreePasses
from hogeq.trees.flat import FlatTree
from hogeq.trees.restricted import Mixed
from hogeq.trees.rows import is_too_wide, require_cells
from hogeq.trees.sequence_payoffs import against, sequence_payoffs
from hogeq.trees.sequences import sequence_form

METHODS: Final = ("auto", "dag", "columns", "cfr")
SMALL: Final = 2_000  # decisions of both DAGs, from which on CFR is worth its time
DRAWING: Final = 0.2  # share of the time of CFR
FIRST: Final = 5.0  # most seconds of column generation before DAGs are built
BUILDING: Final = 0.2  # share of the time
ROUNDS: Final = 150  # of CFR before column generation
SELDOM: Final = 0.01  # probability of choices that column generation begins without
MOST_BEGUN: Final = 8_000  # decisions with which it begins: a linear program of seconds


class DagEngine(TreeEngine):
    """A tree whose rows are the decisions of the belief DAGs of both players.

    Minimisers of counterfactual regret run here, by loops of its own; nothing else does.
    """

    def __init__(self, tree: FlatTree, dags: Sequence[BeliefDag] = ()) -> None:
        self.tree = tree
        self.dags = [*dags] or require_dags(tree, dags_of(tree))
        self.payoffs = sequence_payoffs(*(dag.form for dag in self.dags))
        require_cells(tree.name, "decisions of belief DAGs", *self.shape)

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of a policy: decisions of both players, and actions."""
        return sum(len(dag.row) for dag in self.dags), self.num_actions

    @property
    def seat_rows(self) -> tuple[slice, slice]:
        """Decisions of each player."""
        first = len(self.dags[0].row)
        return slice(0, first), slice(first, None)

    @property
    def has_memory(self) -> bool:
        """A player comes to a decision in one way."""
        return False

    def weights(self, policy: Floats) -> list[Floats]:
        """Weights of each player's choices, (C,), in a policy of decisions."""
        parts = zip(self.dags, self.seat_rows, strict=True)
        owned = ((dag, policy[rows], np.arange(self.num_actions)) for dag, rows in parts)
        return [
            np.append(1.0, one[every < np.diff(dag.start)[:, None]]) for dag, one, every in owned
        ]

    def mixed(self, policy: Floats) -> list[Mixed]:
        """Mixture of each player that a policy of decisions is."""
        weights = self.weights(policy)
        return [Mixed.of(dag, one) for dag, one in zip(self.dags, weights, strict=True)]

    def workspace(self, players: int, dtype: DTypeLike = np.float64) -> TreePasses:
        """Refuse: the passes of a tree are over its information sets."""
        allowed = "regret minimisers, or the engine of the game"
        has = "decisions of belief DAGs have no passes"
        raise HogeqError(f"{self.tree.name}: {has}; allowed: {allowed}")

    def minimiser(self) -> "DagEngine":  # type: ignore[override]
        """Loops of regret minimisers."""
        return self

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
        dags, rows, strategy = self.dags, self.seat_rows, np.zeros(self.shape)
        predicted = regrets[:0] if prediction is None else prediction
        flows = [np.zeros(len(dag.allowed)) for dag in dags]

        def flow_on(player: int) -> None:
            dag, own = dags[player], strategy[rows[player]]
            places = np.arange(len(own)) * self.num_actions
            shape = dag.ends, dag.source, dag.start
            dag_flows.flow_on(*shape, own.ravel(), places, flows[player])

        for player, (dag, own) in enumerate(zip(dags, rows, strict=True)):
            dag_flows.match_all(regrets[own], predicted[own], dag.start, epsilon, strategy[own])
            flow_on(player)
        plans = [dag.sequences @ flow for dag, flow in zip(dags, flows, strict=True)]
        for factor, turn in product(factors, [(0,), (1,)] if alternating else [(0, 1)]):
            met = [against(self.payoffs, plans[1 - player], player) for player in turn]
            for player, worth in zip(turn, met, strict=True):
                dag, own = dags[player], rows[player]
                dag_flows.learn(
                    dag.ends,
                    dag.source,
                    dag.start,
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
                flow_on(player)
                plans[player] = dag.sequences @ flows[player]


@lru_cache(maxsize=2)
def dag_engine(tree: FlatTree) -> DagEngine:
    """Build the DAGs of a tree once."""
    return DagEngine(tree)


def equilibrium(tree: FlatTree, limit: float | Deadline, method: str = "auto") -> Equilibrium:
    """Solve a game in mixtures by a named method; all but ``cfr`` are :mod:`hogeq.trees.columns`'s.

    ``auto`` first gives a fifth of the time to column generation without DAGs, or half of it to one
    program where nobody forgets. Where DAGs are large, it then begins with what discounted CFR
    plays after some rounds, if that is a small part of them, and else leaves all the time to CFR.
    The best bounds of all are kept. Where there is no time to build DAGs, columns are generated.
    """
    if method not in METHODS:
        raise HogeqError(refusal("method", method, f"one of {', '.join(METHODS)}", METHODS))
    deadline = Deadline.of(limit)
    if any(sequence_form(tree, player).is_absent_minded for player in (0, 1)):
        if method not in {"auto", "columns"}:
            allowed = "auto or columns, where an information set can be met twice in a play"
            raise HogeqError(refusal("method", method, allowed))
        if len({*tree.seat.tolist()}) == 1:
            return optimum(tree, deadline)
        method = "columns"
    if method in {"dag", "columns"}:
        return columns.equilibrium(tree, deadline, method)
    solving = Solving(tree, deadline)
    sides, building = solving.without_dags(), deadline
    if method == "auto":
        seconds = deadline.seconds
        first = min(FIRST, seconds / 5.0) if solving.is_forgetful else seconds / 2.0
        solving.columns(sides, deadline.within(first))
        if solving.is_proved:
            return solving.result(sides, "columns" if solving.is_forgetful else "lp")
        building = deadline.within(BUILDING * seconds)
    found = dags_of(tree, deadline=building)
    dags = require_dags(tree, found) if method == "cfr" or None not in found else []
    is_wide = is_too_wide(sum(len(dag.row) for dag in dags), tree.num_actions)
    if not dags or (is_wide and method == "auto"):
        solving.columns(sides, deadline)
        return solving.result(sides, "columns")
    engine = DagEngine(tree, dags)
    return _by_dags(solving, engine, cfr=method == "cfr" or not solving.is_forgetful)


def _by_dags(solving: Solving, engine: DagEngine, *, cfr: bool) -> Equilibrium:
    """Solve by both DAGs whole if they are small, by a part that CFR finds, or by CFR alone."""
    minimiser, is_small = DiscountedCFR(), engine.shape[0] <= SMALL
    sides, state = [Side(dag.form, dag) for dag in engine.dags], minimiser.init(engine)
    kept, time = None, solving.deadline
    if not cfr and not is_small:
        rounds = time.within(max(time.seconds / 3.0 - time.spent, 0.0))
        state, kept = _begin(engine, minimiser, state, rounds)
    if not cfr and (is_small or kept is not None):
        for side, choices in zip(sides, kept or (), strict=False):
            if len(side.form.inflated.shared):
                side.restrict(choices)
        solving.columns(sides, time)
        return solving.result(sides, "dag" if is_small else "columns")
    # Averages are measured after each tenth more iterations; a part of the time is kept for
    # strategies to be drawn from.
    time = time.within(max(time.left - DRAWING * time.seconds, 0.0))
    done, left = 0, np.inf
    while left > 0.0 and not solving.is_proved:
        average = engine.mixed(minimiser.average(engine, state))
        for player, dag in enumerate(engine.dags):
            bound, _ = dag.respond(against(engine.payoffs, average[1 - player].plan, player))
            solving.learn(average, player, bound)
        left = time.left
        if left > 0.0 or not done:
            fits = left * done / time.spent
            state, more = minimiser.steps(engine, state, int(max(1, min(1 + done // 10, fits))))
            done += more
    solving.iterations = int(state.iteration)
    return solving.result(sides, "cfr")


def _begin(
    engine: DagEngine, minimiser: DiscountedCFR, state: RegretState, deadline: Deadline
) -> tuple[RegretState, list[Choices] | None]:
    """Run some rounds of CFR; give the choices of some weight, None if they are many.

    Of each decision the likeliest choice is one.
    """
    pace = Pace()
    while (left := ROUNDS - int(state.iteration)) > 0 and not deadline.is_over:
        state, _ = pace.steps(minimiser, engine, state, left)
    policy = minimiser.average(engine, state)
    weights = engine.weights(policy)
    mixed = engine.mixed(policy)
    for least in 10.0 ** np.arange(-6, -2):
        kept = []
        for one, shares in zip(mixed, weights, strict=True):
            played = one.dag.allowed & (shares >= SELDOM) & (one.flow >= least)
            played[0] = played[one.dag.likeliest(shares)] = True
            kept.append(played)
        parts = [one.dag.restricted(choices)[0] for one, choices in zip(mixed, kept, strict=True)]
        if sum(len(part.row) for part in parts) <= MOST_BEGUN:
            return state, kept
    return state, None
