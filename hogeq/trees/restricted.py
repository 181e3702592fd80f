"""A game restricted to the flows of two belief DAGs, and its equilibrium by a linear program."""

from collections.abc import Sequence
from functools import partial
from typing import Final, NamedTuple

import numpy as np
from scipy.optimize import OptimizeResult, linprog
from scipy.sparse import block_array, csr_array

from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.support.workers import interruptible
from hogeq.trees.beliefs import MOST_DRAWN, BeliefDag, mixture_dag
from hogeq.trees.integer_program import ENDED, PROGRAM_SCALE, SOLVED
from hogeq.trees.sequence_payoffs import payoffs_against
from hogeq.trees.sequences import SequenceForm

LEAST_REACH: Final = 1e-14  # of a row: no more is rounding of weights that sum to 1
TIME_PER_ENTRY: Final = 4  # time to build a linear program, per entry of the arrays it is made of


class Mixed(NamedTuple):
    """A mixture of a player, as a flow."""

    dag: BeliefDag
    flow: Floats  # (C,)

    @classmethod
    def of(cls, dag: BeliefDag, weights: Floats) -> "Mixed":
        """Make one of weights of choices, which need not be a flow."""
        return cls(dag, dag.flow(dag.choice_probabilities(weights)))

    @property
    def plan(self) -> Floats:
        """Weights of sequences, (S,)."""
        return np.asarray(self.dag.plan_matrix @ self.flow)

    def as_policy(self) -> "Mixed":
        """Make the mixture of one policy, whose rows are averages over what the player forgets."""
        form = self.dag.form
        policy = policy_of_plan(form, self.plan)
        draw_of_one = np.ones(2)  # choices of the DAG: the begin of play, and the policy
        return Mixed.of(mixture_dag(form, policy[None]), draw_of_one)

    def strategies(self, deadline: Deadline = FOREVER) -> tuple[Strategy, float]:
        """Decompose the flow into strategies and the probabilities of drawing them.

        There are `MOST_DRAWN` strategies at most, and no more once the time is over, but at least
        one. Returns the mixture, and the share of the flow that it covers.
        """
        weights: list[float] = []
        policies: list[Floats] = []
        share = 1.0
        for weight, plan in self.dag.decompose(self.flow):
            if len(policies) == MOST_DRAWN or (policies and deadline.is_over):
                share = sum(weights)
                break
            weights.append(weight)
            policies.append(policy_of_plan(self.dag.form, plan))
        probabilities = np.array(weights) / sum(weights)
        return Strategy.unchecked_mixture(np.array(policies), probabilities), share


def policy_of_plan(form: SequenceForm, plan: Floats) -> Floats:
    """Average a realisation plan, (S,), over the pasts of each row: a policy, (R, K).

    A row's probabilities are those of the plan at its refined information sets, by their weights.
    The opponent's rows, and rows of no weight that is more than rounding, are uniform.
    """
    weights = np.zeros(form.tree.shape)  # (R, K)
    weights[form.tree.legal] = form.action_weights(plan)
    total = weights.sum(axis=1, keepdims=True)
    is_reached = total > LEAST_REACH
    return np.where(is_reached, weights / np.maximum(total, LEAST_REACH), form.tree.uniform())


def average_policy(form: SequenceForm, mixture: Strategy) -> Floats:
    """Average a mixture to one policy, (R, K): each row by how likely each component reaches it.

    Kuhn's construction: with perfect recall it is as good as the mixture.
    """
    plans = [form.realisation(policy) for policy in mixture.policies]
    plan = sum(chance * plan for chance, plan in zip(mixture.chances, plans, strict=True))
    return policy_of_plan(form, np.asarray(plan))


def solve_restricted(
    payoffs: csr_array, dags: Sequence[BeliefDag], deadline: Deadline
) -> tuple[Mixed, Mixed] | None:
    """Solve the zero-sum game restricted to the strategies of two belief DAGs.

    `payoffs`, (S, T), are to the first player, by the sequences of both. Returns the mixtures of
    both players, or None if HiGHS fails or is not done in time.
    """
    first, second = dags
    if not (first.num_decisions and second.num_decisions):
        return _solve_without_choice(payoffs, first, second)
    choice_payoffs = _payoffs_by_choices(payoffs, first, second, deadline)
    if choice_payoffs is None:
        return None
    answer = _solve_program_of_flows(choice_payoffs, first, second, deadline)
    if answer.status != SOLVED:
        return None
    first_flow = answer.x[: first.num_choices]
    second_flow = np.zeros(second.num_choices)
    second_flow[second.allowed_choices] = -answer.ineqlin.marginals  # dual prices
    if not (np.isfinite(first_flow).all() and np.isfinite(second_flow).all()):
        return None
    return Mixed.of(first, first_flow), Mixed.of(second, second_flow)


def _solve_without_choice(
    payoffs: csr_array, first: BeliefDag, second: BeliefDag
) -> tuple[Mixed, Mixed]:
    """Solve a game in which a player decides nothing: it has one flow, to which the other responds.

    `payoffs`, (S, T), are to the first player, by the sequences of both.
    """
    first_plan, second_plan = (
        Mixed.of(dag, np.zeros(dag.num_choices)).plan for dag in (first, second)
    )
    _, first_choices = first.respond(payoffs_against(payoffs, second_plan, 0))
    _, second_choices = second.respond(payoffs_against(payoffs, first_plan, 1))
    return Mixed.of(first, first_choices), Mixed.of(second, second_choices)


def _payoffs_by_choices(
    payoffs: csr_array, first: BeliefDag, second: BeliefDag, deadline: Deadline
) -> csr_array | None:
    """Sum payoffs by the sequences of both players, (S, T), to those by the choices of both DAGs.

    Returns payoffs to the first player by the second player's choices, then the first one's,
    times `PROGRAM_SCALE`; None if there is no time to build a linear program of them.
    """
    # Products of sparse arrays: for each sequence, entries before it times entries after it.
    size = sum(dag.num_choices + dag.plan_matrix.nnz for dag in (first, second)) + payoffs.nnz
    if deadline.is_over or not deadline.allows(TIME_PER_ENTRY * size):
        return None
    by_sequence = csr_array(PROGRAM_SCALE * (first.plan_matrix.T @ payoffs))
    entries_by_sequence = np.bincount(by_sequence.indices, minlength=by_sequence.shape[1])
    num_entries = entries_by_sequence @ np.diff(second.plan_matrix.indptr)
    if not deadline.allows(TIME_PER_ENTRY * float(num_entries)):
        return None
    return (by_sequence @ second.plan_matrix).T


def _solve_program_of_flows(
    choice_payoffs: csr_array, first: BeliefDag, second: BeliefDag, deadline: Deadline
) -> OptimizeResult:
    """Maximise by a linear program the least payoff of the first player's flow.

    Its variables are the flow f >= 0 of the first player, then values v at the root and decisions
    of the second. By duality the least payoff over the second player's flows is the largest v at
    the root such that no choice of the second pays the first less than v allows (Koller, Megiddo
    and von Stengel, 1996). The dual prices of these inequalities, one for each allowed choice, are
    the second player's flow. `choice_payoffs` are as `_payoffs_by_choices` makes them.
    """
    first_equations = first.equations()
    second_equations = second.equations()
    num_values = second_equations.shape[0]
    # Transposed equations times values are at most the payoffs, for each choice of the second.
    inequalities = block_array([[-choice_payoffs, second_equations.T]]).tocsr()
    inequalities = inequalities[second.allowed_choices]
    unbounded = np.full(num_values, np.inf)
    lower = np.append(np.zeros(first.num_choices), -unbounded)
    upper = np.append(np.where(first.allowed_choices, np.inf, 0.0), unbounded)
    no_values = csr_array((first_equations.shape[0], num_values))
    solve = partial(
        interruptible,
        linprog,
        np.append(np.zeros(first.num_choices), -second.inflow),  # minus the value at the root
        A_ub=inequalities,
        b_ub=np.zeros(inequalities.shape[0]),
        A_eq=block_array([[first_equations, no_values]]),
        b_eq=first.inflow,
        bounds=np.array([lower, upper]).T,
    )
    for method in ("highs", "highs-ipm"):  # the simplex method can fail on near ties
        answer = solve(method=method, options={"time_limit": max(deadline.left, 0.01)})
        if answer.status in ENDED or deadline.is_over:
            break
    return answer
