"""Belief DAGs as a game for regret minimisers, and equilibria in mixtures by all methods.

A *belief DAG* (:mod:`hogeq.trees.beliefs`) is a graph of a player's decisions, each of which sets
one information set; its flows are the player's mixtures. A *choice* is an action at a decision.
"""

from collections.abc import Sequence
from functools import lru_cache, partial
from itertools import product
from typing import Final

import numpy as np

from hogeq.kernels import dag_flows
from hogeq.kernels.row_roles import RegretTables
from hogeq.search.results import Equilibrium
from hogeq.solvers.iterates import mix_iterates
from hogeq.solvers.regret import DiscountedCFR, RegretState
from hogeq.support.aliases import Floats
from hogeq.support.deadline import Deadline
from hogeq.support.messages import HogeqError, refusal
from hogeq.support.pacing import Pace
from hogeq.trees import columns
from hogeq.trees.absent_results import solve_absent_minded
from hogeq.trees.beliefs import BeliefDag, Mask
from hogeq.trees.columns import Side, Solving
from hogeq.trees.flat import FlatTree
from hogeq.trees.restricted import Mixed
from hogeq.trees.rows import is_too_wide, require_cells
from hogeq.trees.sequence_payoffs import payoffs_against, sequence_payoffs
from hogeq.trees.sequences import sequence_form
from hogeq.trees.whole_dags import build_dags, require_dags

METHODS: Final = ("auto", "dag", "columns", "cfr")
MOST_WHOLE_DECISIONS: Final = 2_000  # of both DAGs, in one linear program of all choices
DRAWING_SHARE: Final = 0.2  # of the time of CFR, in which strategies are drawn from mixtures
FIRST_SECONDS: Final = 5.0  # most seconds of column generation before DAGs are built
BUILDING_SHARE: Final = 0.2  # share of the time for the DAGs
MIXING_SHARE: Final = 0.5  # of the time left, for mixing iterates if DAGs are too large
CFR_ROUNDS: Final = 150  # of CFR before column generation
LEAST_PROBABILITY: Final = 0.01  # column generation begins without less probable choices ...
LEAST_FLOWS: Final = 10.0 ** np.arange(-6, -2)  # ... or reached less often than one of these
MOST_LIKELY_DECISIONS: Final = 8_000  # decisions with which it begins: a linear program of seconds


class DagEngine:
    """A game tree of two players for regret minimisers: its rows are D decisions of belief DAGs.

    A belief DAG is a graph of a player's decisions, each at one information set, whose flows are
    the player's mixtures. A policy, (D, K), has the rows of the first player, then those of the
    second. The class has the methods of Rows and Minimiser in :mod:`hogeq.model.protocol`, and no
    passes.
    """

    has_scores = seats_share_rows = positions_recur = False
    has_memory = False  # a player comes to a decision in one way

    def __init__(self, tree: FlatTree, dags: Sequence[BeliefDag] = ()) -> None:
        """Take the belief DAGs of both players, or build them if none are given."""
        self.tree, self.num_actions = tree, tree.num_actions
        self.dags = [*dags] or require_dags(tree, build_dags(tree))
        self.payoffs = sequence_payoffs(*(dag.form for dag in self.dags))
        require_cells(tree.name, "decisions of belief DAGs", *self.shape)

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of a policy, (D, K): decisions of both players, and actions."""
        return sum(dag.num_decisions for dag in self.dags), self.num_actions

    @property
    def seat_rows(self) -> tuple[slice, slice]:
        """Decisions of each player."""
        first = self.dags[0].num_decisions
        return slice(0, first), slice(first, None)

    def choice_probabilities(self, policy: Floats) -> list[Floats]:
        """Pack the probabilities of a policy, (D, K), of all decisions: (C,) for each player.

        A decision is a node of a player's belief DAG. Choice 0 is the begin of play, of probability
        1; the others are the actions of each decision, one decision after the other.
        """
        actions = np.arange(self.num_actions)
        probabilities = []
        for dag, rows in zip(self.dags, self.seat_rows, strict=True):
            num_choices = np.diff(dag.choice_offsets)[:, None]  # of each decision, K at most
            is_choice = actions < num_choices
            probabilities.append(np.append(1.0, policy[rows][is_choice]))
        return probabilities

    def mixed(self, policy: Floats) -> list[Mixed]:
        """Make each player's mixture of a policy, (D, K), of all decisions of both belief DAGs."""
        pairs = zip(self.dags, self.choice_probabilities(policy), strict=True)
        return [Mixed.of(dag, probabilities) for dag, probabilities in pairs]

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
        """Do an iteration of regret minimisation for each row of `factors`, in place.

        A decision is a node of a player's belief DAG, a choice an action there; a sequence is what
        the player met and did so far. `regrets`, `prediction` and `strategy_sum` are tables of all
        decisions of both players, (D, K). A row of `factors` has the weight of the iteration in the
        average, and the discounts of positive and of negative regrets. `plus` cuts negative regrets
        to 0, and `epsilon` is the least probability of an action.

        1. Match regrets at all decisions. This gives strategies (probabilities at decisions), flows
           (of choices, from the begin of play), and sequence weights (the same of sequences).
        2. Value each sequence of a player against the other's sequence weights.
        3. Update regrets from the last decision to the first, then strategy, flow and weights; both
           players at once, or one after the other if `alternating`.
        """
        predicted = regrets[:0] if prediction is None else prediction  # an empty table: none
        strategy = np.zeros(self.shape)
        flows = [np.zeros(dag.num_choices) for dag in self.dags]
        tables = [
            RegretTables(regrets[rows], predicted[rows], strategy_sum[rows])
            for rows in self.seat_rows
        ]
        strategies = [strategy[rows] for rows in self.seat_rows]
        sequence_weights = list[Floats]()
        for player, dag in enumerate(self.dags):
            dag_flows.match_all(dag.kernel_dag, tables[player], epsilon, strategies[player])
            self._fill_flow(player, strategies[player], flows[player])
            sequence_weights.append(dag.plan_matrix @ flows[player])
        turns = [(0,), (1,)] if alternating else [(0, 1)]
        for factor, players in product(factors, turns):
            # Both are valued before either changes, if they are updated at once.
            sequence_values = [
                payoffs_against(self.payoffs, sequence_weights[1 - player], player)
                for player in players
            ]
            for player, values in zip(players, sequence_values, strict=True):
                dag, flow = self.dags[player], flows[player]
                choice_values = dag.plan_matrix.T @ (values / 2.0)  # in units of win rates
                settings = factor, plus, epsilon
                arrays = flow, choice_values, strategies[player]
                dag_flows.learn(dag.kernel_dag, tables[player], *settings, *arrays)
                self._fill_flow(player, strategies[player], flow)
                sequence_weights[player] = dag.plan_matrix @ flow

    def _fill_flow(self, player: int, strategy: Floats, flow: Floats) -> None:
        """Fill a player's flow, (C,): the probability with which its play makes each choice.

        A choice is an action at a decision of the belief DAG; `strategy`, (D, K), has its
        probability there.
        """
        first_actions = np.arange(len(strategy)) * self.num_actions  # in the flat strategy
        kernel_dag = self.dags[player].kernel_dag
        dag_flows.flow_on(kernel_dag, strategy.ravel(), first_actions, flow)


@lru_cache(maxsize=2)
def dag_engine(tree: FlatTree) -> DagEngine:
    """Build the belief DAGs of both players of a tree, as rows for regret minimisers; cached."""
    return DagEngine(tree)


def solve_tree(tree: FlatTree, limit: float | Deadline, method: str = "auto") -> Equilibrium:
    """Find an equilibrium of a game tree in mixtures by a named method, in so many seconds.

    ``dag`` (one linear program over both players' belief DAGs) and ``columns`` (a double oracle
    over pure strategies) are those of :mod:`hogeq.trees.columns`; ``cfr`` runs discounted CFR over
    belief DAGs. ``auto`` continues until the bounds on the value meet or the time is over, and
    keeps the best bounds:

    1. Generate columns without DAGs in a fifth of the time; or, if nobody forgets, solve one linear
       program in half of it.
    2. Build the belief DAGs. If there is no time for that, mix iterates of CFR+ in half of the rest
       (:mod:`hogeq.solvers.iterates`), and continue with step 1.
    3. Solve small DAGs whole by a linear program. Of large ones take the part that discounted CFR
       plays after some rounds, if it is small enough, and generate columns.
    4. Else leave all the time to CFR.
    """
    if method not in METHODS:
        raise HogeqError(refusal("method", method, f"one of {', '.join(METHODS)}", METHODS))
    deadline = Deadline.of(limit)
    if any(sequence_form(tree, player).is_absent_minded for player in (0, 1)):
        return _solve_absent_minded(tree, deadline, method)
    if method in {"dag", "columns"}:
        return columns.solve_by_columns(tree, deadline, method)
    solving = Solving(tree, deadline)
    building_deadline = deadline
    if method == "auto":
        seconds = deadline.seconds
        first_seconds = min(FIRST_SECONDS, seconds / 5.0) if solving.is_forgetful else seconds / 2.0
        solving.run_double_oracle(deadline.within(first_seconds))
        if solving.is_proved:
            return solving.result("columns" if solving.is_forgetful else "lp")
        building_deadline = deadline.within(BUILDING_SHARE * seconds)
    built = build_dags(tree, deadline=building_deadline)  # None in place of one that took too long
    # `require_dags` refuses any that took too long.
    dags = require_dags(tree, built) if method == "cfr" or None not in built else []
    is_wide = is_too_wide(sum(dag.num_decisions for dag in dags), tree.num_actions)
    if not dags or (is_wide and method == "auto"):
        return _solve_without_dags(solving)
    engine = DagEngine(tree, dags)
    if method == "cfr" or not solving.is_forgetful:
        return _solve_by_cfr(solving, engine, DiscountedCFR().init(engine))
    return _solve_by_dags(solving, engine)


def _solve_absent_minded(tree: FlatTree, deadline: Deadline, method: str) -> Equilibrium:
    """Solve a tree in which a play can meet an information set twice, so few methods apply.

    The optimum of a single player is found by branch and bound. For two players a double oracle
    generates columns (strategies) and solves the game among them.
    """
    if method not in {"auto", "columns"}:
        allowed = "auto or columns, where an information set can be met twice in a play"
        raise HogeqError(refusal("method", method, allowed))
    has_one_player = len(set(tree.seat.tolist())) == 1
    if has_one_player:
        return solve_absent_minded(tree, deadline)
    return columns.solve_by_columns(tree, deadline, "columns")


def _solve_without_dags(solving: Solving) -> Equilibrium:
    """Mix iterates of CFR+ in half of the time; if the bounds do not meet, generate columns.

    A linear program finds the best mixture of the iterates. Columns are pure strategies, or parts
    of belief DAGs, of a restricted game, which a double oracle extends by best responses. `solving`
    keeps the best bounds and strategies. The method of the result is the one that its bounds come
    from.
    """
    ends_before = solving.ends
    mix_iterates(solving, solving.deadline.share(MIXING_SHARE))
    mixed_ends = solving.ends
    if not solving.is_proved:
        solving.run_double_oracle(solving.deadline)
    # Iterates improved the bounds, and columns did not improve them further.
    is_mixed = ends_before != mixed_ends == solving.ends
    return solving.result("iterates" if is_mixed else "columns")


def _solve_by_dags(solving: Solving, engine: DagEngine) -> Equilibrium:
    """Solve a tree by linear programs over both belief DAGs, or over parts that CFR plays.

    A belief DAG is a graph of a player's decisions, whose flows are mixtures; a choice is an action
    there. Small DAGs are solved whole. For large ones discounted CFR runs some rounds, at most a
    third of the time, and column generation begins with its likely choices. If these are too many,
    CFR continues alone.
    """
    minimiser = DiscountedCFR()
    solving.sides = [Side(dag.form, dag) for dag in engine.dags]
    deadline = solving.deadline
    num_decisions, _ = engine.shape
    if num_decisions <= MOST_WHOLE_DECISIONS:
        solving.run_double_oracle(deadline)
        return solving.result("dag")
    state = minimiser.init(engine)
    third_left = max(deadline.seconds / 3.0 - deadline.spent, 0.0)
    rounds_deadline = deadline.within(third_left)
    state = _run_rounds(engine, minimiser, state, rounds_deadline)
    likely_choices = _find_likely_choices(engine, minimiser.average(engine, state))
    if likely_choices is None:
        return _solve_by_cfr(solving, engine, state)
    for side, choices in zip(solving.sides, likely_choices, strict=True):
        player_forgets = len(side.form.inflated.shared_rows) > 0
        if player_forgets:
            side.restrict(choices)
    solving.run_double_oracle(deadline)
    return solving.result("columns")


def _solve_by_cfr(solving: Solving, engine: DagEngine, state: RegretState) -> Equilibrium:
    """Continue discounted CFR over belief DAGs from a state, until bounds meet or time is over.

    A belief DAG is a graph whose flows are a player's mixtures. The bounds are the payoffs of best
    responses to the average mixtures, computed whenever the number of iterations has grown by a
    tenth. The last `DRAWING_SHARE` of the time is for drawing the strategies of the result.
    """
    minimiser = DiscountedCFR()
    solving.sides = [Side(dag.form, dag) for dag in engine.dags]
    whole_deadline = solving.deadline
    drawing_seconds = DRAWING_SHARE * whole_deadline.seconds
    deadline = whole_deadline.within(max(whole_deadline.left - drawing_seconds, 0.0))
    iterations = 0
    seconds_left = np.inf
    while seconds_left > 0.0 and not solving.is_proved:
        average = engine.mixed(minimiser.average(engine, state))
        for player, dag in enumerate(engine.dags):
            sequence_values = payoffs_against(engine.payoffs, average[1 - player].plan, player)
            bound, _ = dag.respond(sequence_values)
            solving.record_bound(average, player, bound)
        seconds_left = deadline.left
        if seconds_left > 0.0 or iterations == 0:
            most_in_time = seconds_left * iterations / deadline.spent
            wanted = int(max(1, min(1 + iterations // 10, most_in_time)))
            state, new_iterations = minimiser.iterate_by_loops(engine, state, wanted)
            iterations += new_iterations
    solving.iterations = int(state.iteration)
    return solving.result("cfr")


def _run_rounds(
    engine: DagEngine, minimiser: DiscountedCFR, state: RegretState, deadline: Deadline
) -> RegretState:
    """Continue CFR over belief DAGs to `CFR_ROUNDS` iterations, or until the time is over."""
    pace = Pace()
    steps = partial(minimiser.iterate_by_loops, engine)
    while int(state.iteration) < CFR_ROUNDS and not deadline.is_over:
        state, _ = pace.steps(steps, state, CFR_ROUNDS - int(state.iteration))
    return state


def _find_likely_choices(engine: DagEngine, policy: Floats) -> list[Mask] | None:
    """Mark the choices of each player's belief DAG, (C,), that a policy, (D, K), is likely to make.

    A choice is an action at a decision, a node of the DAG. The likeliest one of each decision is
    always marked. Others need at least `LEAST_PROBABILITY` at the decision, and a least probability
    that play makes them. The latter is raised, through `LEAST_FLOWS`, until few enough decisions
    are reached for a linear program. None if they are too many in the end.
    """
    by_player = engine.choice_probabilities(policy)
    mixtures = engine.mixed(policy)
    for least_flow in LEAST_FLOWS:
        likely_choices = []
        num_decisions = 0
        for mixture, probabilities in zip(mixtures, by_player, strict=True):
            dag = mixture.dag
            is_reached = mixture.flow >= least_flow
            is_likely = dag.allowed_choices & (probabilities >= LEAST_PROBABILITY) & is_reached
            is_likely[0] = True  # the begin of play
            is_likely[dag.likeliest_choices(probabilities)] = True
            likely_choices.append(is_likely)
            restricted, *_ = dag.restrict(is_likely)
            num_decisions += restricted.num_decisions
        if num_decisions <= MOST_LIKELY_DECISIONS:
            return likely_choices
    return None
