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
from hogeq.trees.beliefs import MOST_DRAWN, BeliefDag
from hogeq.trees.integer_program import ENDED, FINE, SOLVED
from hogeq.trees.sequence_payoffs import against
from hogeq.trees.sequences import SequenceForm

WRITTEN: Final = 4  # entries of a program in the time of an entry of what it is made of


class Mixed(NamedTuple):
    """A mixture of a player, as a flow."""

    dag: BeliefDag
    flow: Floats  # (C,)

    @classmethod
    def of(cls, dag: BeliefDag, weights: Floats) -> "Mixed":
        """Make one of weights of choices, which need not be a flow."""
        return cls(dag, dag.flow(dag.normalised(weights)))

    @property
    def plan(self) -> Floats:
        """Weights of sequences, (S,)."""
        return np.asarray(self.dag.sequences @ self.flow)

    def strategies(self, deadline: Deadline = FOREVER) -> tuple[Strategy, float]:
        """Strategies to be drawn from, with their weights; and the share of the flow they are.

        `MOST_DRAWN` at most, and when the time is over no more, but one at least.
        """
        weights: list[float] = []
        rows: list[Floats] = []
        share = 1.0
        for weight, plan in self.dag.mixture(self.flow):
            if len(rows) == MOST_DRAWN or (rows and deadline.is_over):
                share = sum(weights)
                break
            weights.append(weight)
            rows.append(played(self.dag.form, plan))
        return Strategy.unchecked(np.array(rows), np.array(weights) / sum(weights)), share


def played(form: SequenceForm, plan: Floats) -> Floats:
    """Strategy whose rows average a plan over their refined information sets."""
    weights = np.zeros(form.tree.shape)  # (R, K)
    weights[form.tree.legal] = form.by_actions(plan)
    total = weights.sum(axis=1, keepdims=True)
    return np.where(total > 1e-14, weights / np.maximum(total, 1e-14), form.tree.uniform())


def averaged(form: SequenceForm, mixture: Strategy) -> Floats:
    """Strategy whose rows average a mixture over the ways in which it comes to them."""
    plans = [form.realisation(policy) for policy in mixture.policies]
    plan = sum(chance * plan for chance, plan in zip(mixture.chances, plans, strict=True))
    return played(form, np.asarray(plan))


def solve_restricted(
    payoffs: csr_array, dags: Sequence[BeliefDag], deadline: Deadline
) -> tuple[Floats, Floats] | None:
    """Solve the game restricted to the strategies of two DAGs; give the flows of both.

    None if HiGHS fails, or is not done in time.
    """
    first, second = dags
    if not len(second.row):  # the second player decides nothing: its flow is 1 at the root
        chosen = first.respond(against(payoffs, second.sequences @ np.ones(1), 0))[1]
        return first.flow(chosen), np.ones(1)
    if not len(first.row):
        chosen = second.respond(against(payoffs, first.sequences @ np.ones(1), 1))[1]
        return np.ones(1), second.flow(chosen)
    # Products of sparse arrays: for each sequence, entries before it times entries after it.
    size = sum(len(dag.allowed) + dag.sequences.nnz for dag in dags) + payoffs.nnz
    if deadline.is_over or not deadline.allows(WRITTEN * size):
        return None
    # Payoffs by the first player's choices and the second's sequences, then by both's choices.
    by_sequence = csr_array(FINE * (first.sequences.T @ payoffs))
    mine, theirs = first.equations(), second.equations()
    once = [(np.arange(flow.shape[0]) == 0).astype(float) for flow in (mine, theirs)]
    allowed = second.allowed
    columns = np.bincount(by_sequence.indices, minlength=by_sequence.shape[1])
    entries = columns @ np.diff(second.sequences.indptr)
    if not deadline.allows(WRITTEN * float(entries)):
        return None
    by_choice = (by_sequence @ second.sequences).T
    # Maximise the least payoff, by its dual: `theirs` transposed times values q is at most payoffs.
    upper = block_array([[-by_choice, theirs.T]]).tocsr()[allowed]
    free = np.full(theirs.shape[0], np.inf)
    lower = np.append(np.zeros(len(first.allowed)), -free)
    upper_bounds = np.append(np.where(first.allowed, np.inf, 0.0), free)
    solve = partial(
        interruptible,
        linprog,
        np.concatenate([np.zeros(mine.shape[1]), -once[1]]),
        A_ub=upper,
        b_ub=np.zeros(upper.shape[0]),
        A_eq=block_array([[mine, csr_array((mine.shape[0], theirs.shape[0]))]]),
        b_eq=once[0],
        bounds=np.array([lower, upper_bounds]).T,
    )
    for method in ("highs", "highs-ipm"):  # near ties can be too much for the first
        answer = solve(method=method, options={"time_limit": max(deadline.left, 0.01)})
        if answer.status in ENDED or deadline.is_over:
            break
    if answer.status != SOLVED:
        return None
    second_flow = np.zeros(len(allowed))
    second_flow[allowed] = -answer.ineqlin.marginals
    flows = answer.x[: mine.shape[1]], second_flow
    return flows if all(np.isfinite(flow).all() for flow in flows) else None
