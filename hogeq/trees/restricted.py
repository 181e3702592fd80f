"""A game restricted to the flows of two belief DAGs, and its equilibrium by a linear program."""

from collections.abc import Sequence
from functools import partial
from typing import Final, NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import block_array, csr_array

from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.support.workers import interruptible
from hogeq.trees.beliefs import MOST_DRAWN, BeliefDag, drawing
from hogeq.trees.integer_program import ENDED, PROGRAM_SCALE, SOLVED
from hogeq.trees.sequence_payoffs import against
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
        """Average each row over what the player forgets (`played`): the mixture of one policy."""
        form = self.dag.form
        policy = played(form, self.plan)
        draw_of_one = np.ones(2)  # choices of the DAG: the begin of play, and the policy
        return Mixed.of(drawing(form, policy[None]), draw_of_one)

    def strategies(self, deadline: Deadline = FOREVER) -> tuple[Strategy, float]:
        """Decompose the flow into strategies and the probabilities of drawing them.

        There are `MOST_DRAWN` strategies at most, and no more once the time is over, but at least
        one. Returns the mixture, and the share of the flow that it covers.
        """
        weights: list[float] = []
        policies: list[Floats] = []
        share = 1.0
        for weight, plan in self.dag.mixture(self.flow):
            if len(policies) == MOST_DRAWN or (policies and deadline.is_over):
                share = sum(weights)
                break
            weights.append(weight)
            policies.append(played(self.dag.form, plan))
        return Strategy.unchecked_mixture(
            np.array(policies), np.array(weights) / sum(weights)
        ), share


def played(form: SequenceForm, plan: Floats) -> Floats:
    """Policy (R, K) whose rows average a plan, (S,), over their refined information sets.

    The opponent's rows, and rows of no weight that is more than rounding, are uniform.
    """
    weights = np.zeros(form.tree.shape)  # (R, K)
    weights[form.tree.legal] = form.action_weights(plan)
    total = weights.sum(axis=1, keepdims=True)
    is_reached = total > LEAST_REACH
    return np.where(is_reached, weights / np.maximum(total, LEAST_REACH), form.tree.uniform())


def averaged(form: SequenceForm, mixture: Strategy) -> Floats:
    """Policy (R, K) whose rows average a mixture by how likely each component reaches them.

    Kuhn's construction: with perfect recall it is as good as the mixture.
    """
    plans = [form.realisation(policy) for policy in mixture.policies]
    plan = sum(chance * plan for chance, plan in zip(mixture.chances, plans, strict=True))
    return played(form, np.asarray(plan))


def solve_restricted(
    payoffs: csr_array, dags: Sequence[BeliefDag], deadline: Deadline
) -> tuple[Mixed, Mixed] | None:
    """Solve the zero-sum game restricted to the strategies of two belief DAGs.

    The first player's flow maximises the least payoff over the second's. By duality that is one
    linear program: flow f >= 0 and values v at the second player's decisions, such that no choice
    of the second pays the first less than v allows; maximise v at the root (Koller, Megiddo and von
    Stengel, 1996). The dual prices are the second player's flow.

    `payoffs`, (S, T), are to the first player, by the sequences of both. Returns the mixtures of
    both players, or None if HiGHS fails or is not done in time.
    """
    first, second = dags
    if not (first.num_decisions and second.num_decisions):
        # Who decides nothing has one flow, to which the other responds.
        plans = [Mixed.of(dag, np.zeros(dag.num_choices)).plan for dag in dags]
        sequence_values = against(payoffs, plans[1], 0), against(payoffs, plans[0], 1)
        return (
            Mixed.of(first, first.respond(sequence_values[0])[1]),
            Mixed.of(second, second.respond(sequence_values[1])[1]),
        )
    # Products of sparse arrays: for each sequence, entries before it times entries after it.
    size = sum(dag.num_choices + dag.plan_matrix.nnz for dag in dags) + payoffs.nnz
    if deadline.is_over or not deadline.allows(TIME_PER_ENTRY * size):
        return None
    # Payoffs by the first player's choices and the second's sequences, then by both's choices.
    by_sequence = csr_array(PROGRAM_SCALE * (first.plan_matrix.T @ payoffs))
    first_equations, second_equations = first.equations(), second.equations()
    # Right sides of the equations of a flow: it is 1 at the root, the first equation.
    first_sides, second_sides = (
        (np.arange(equations.shape[0]) == 0).astype(float)
        for equations in (first_equations, second_equations)
    )
    allowed = second.allowed_choices
    entries_by_sequence = np.bincount(by_sequence.indices, minlength=by_sequence.shape[1])
    num_entries = entries_by_sequence @ np.diff(second.plan_matrix.indptr)
    if not deadline.allows(TIME_PER_ENTRY * float(num_entries)):
        return None
    by_choice = (by_sequence @ second.plan_matrix).T
    # Transposed equations times values are at most the payoffs, for each choice of the second.
    upper = block_array([[-by_choice, second_equations.T]]).tocsr()[allowed]
    free = np.full(second_equations.shape[0], np.inf)  # values have no bounds
    lower = np.append(np.zeros(first.num_choices), -free)
    upper_bounds = np.append(np.where(first.allowed_choices, np.inf, 0.0), free)
    no_values = csr_array((first_equations.shape[0], second_equations.shape[0]))
    solve = partial(
        interruptible,
        linprog,
        np.concatenate([np.zeros(first_equations.shape[1]), -second_sides]),
        A_ub=upper,
        b_ub=np.zeros(upper.shape[0]),
        A_eq=block_array([[first_equations, no_values]]),
        b_eq=first_sides,
        bounds=np.array([lower, upper_bounds]).T,
    )
    for method in ("highs", "highs-ipm"):  # the simplex method can fail on near ties
        answer = solve(method=method, options={"time_limit": max(deadline.left, 0.01)})
        if answer.status in ENDED or deadline.is_over:
            break
    if answer.status != SOLVED:
        return None
    first_flow = answer.x[: first_equations.shape[1]]
    second_flow = np.zeros(len(allowed))
    second_flow[allowed] = -answer.ineqlin.marginals
    if not (np.isfinite(first_flow).all() and np.isfinite(second_flow).all()):
        return None
    return Mixed.of(first, first_flow), Mixed.of(second, second_flow)
