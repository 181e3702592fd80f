"""Boxes of policies, and the linear programs and bounds of :mod:`hogeq.trees.maxmin` for them.

Arrays have R rows of K actions; S is the number of sequences of the side. A *step* is the last
action of a sequence: there are n = S - 1, of all sequences but the empty one. A *cell* is a row
and an action, row * K + action.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import OptimizeResult, linprog
from scipy.sparse import block_diag, csr_array, eye_array, hstack, kron, vstack
from scipy.sparse.linalg import spsolve_triangular

from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import PACE
from hogeq.support.workers import interruptible
from hogeq.trees.beliefs import BeliefDag, recall_dag
from hogeq.trees.integer_program import PROGRAM_SCALE, SOLVED
from hogeq.trees.passes import is_deep
from hogeq.trees.restricted import Mixed
from hogeq.trees.sequences import SequenceForm


class Box(NamedTuple):
    """Policies whose probabilities lie between two ends."""

    lower: Floats  # (R, K)
    upper: Floats


class Constraints(NamedTuple):
    """Constraints on rows x and on realisation weights r, for a linear program."""

    box: Box  # bounds of x
    least_weights: Floats  # (S,), lower bounds of r
    most_weights: Floats  # (S,), upper bounds of r
    coefficients: csr_array  # (n, S + R * K), coefficients of r, then of x, in each constraint
    right_sides: Floats  # (n,): coefficients @ (r, x) <= right_sides, or ==
    are_equations: bool = False  # whether these are equations, not inequalities


class Optimum(NamedTuple):
    """Solution of a linear program, and its dual variables."""

    sequence_weights: Floats  # (S,), realisation weights of sequences
    row_probabilities: Floats  # (R, K), probabilities
    value: float
    opponent_weights: Floats  # the opponent's weights of sequences, a mixture
    coupling_prices: Floats  # (n,), dual prices of the constraints that couple weights and rows
    equation_prices: Floats  # (E,), dual prices of the equations of weights and of rows


class BoxBound(NamedTuple):
    """Upper bound on what policies of a box secure."""

    bound: float
    slopes: Floats  # (R, K): moving a probability off its better end loses so much of the bound
    policy: Floats  # (R, K), nearest to the program's plan
    relaxation_gaps: Floats  # (S,), what relaxing the product of each sequence adds to the bound


class MaxminSolution(NamedTuple):
    """A policy, what it secures at least, and what no policy exceeds, shares of the stakes."""

    policy: Floats  # (R, K)
    lower: float
    upper: float
    boxes: int  # number of boxes bounded
    programs: int  # number of linear programs solved


class PolicyPrograms:
    """Linear programs over realisation weights r and rows x of the policies of one side.

    `payoffs`, (S, T), are to this side, by its own sequence and the opponent's.
    """

    def __init__(self, form: SequenceForm, payoffs: csr_array) -> None:
        """Set up the equations that all programs share: of weights and of rows."""
        tree = form.tree
        self.form = form
        self.payoffs = payoffs
        refined = form.refined_of_sequence[1:]
        self.parent_of_step = form.parent_sequence[refined]  # (n,), sequence without the step
        self.cell_of_step = np.flatnonzero(tree.legal)[form.legal_action_of_sequence]  # (n,)
        # (n,): whether the step's row joins several pasts, so that r(sa) = r(s) x(I, a) must hold.
        self.is_shared = np.isin(form.row_of_refined, form.shared_rows)[refined]
        self.num_variables = form.num_sequences, tree.legal.size  # S of r, R * K of x
        # Equations of policies: r is a flow of the sequence form; own rows sum to 1.
        flow_dag = recall_dag(form)
        own_rows = np.flatnonzero(tree.seat == form.player)
        row_sums = kron(
            eye_array(tree.num_rows, format="csr")[own_rows], np.ones((1, tree.num_actions))
        )
        self.equations = csr_array(block_diag((flow_dag.equations(), row_sums)))  # (E, S + R * K)
        self.equation_sides = np.append(flow_dag.inflow, np.ones(len(own_rows)))  # (E,)
        num_terms = sum(self.num_variables) + sum(payoffs.shape) + 8 * len(refined)
        # Relative error of the sums that bounds are made of. By n roundings, of 2**-53 each, it is
        # gamma(n) (Higham, "Accuracy and stability", 2nd ed., lemma 3.1); this is 8 times as much.
        self.relative_error = 4.0 * np.finfo(float).eps * (num_terms + 8 * len(tree.levels))
        self.num_solved = 0  # programs so far
        self._dag: BeliefDag | None = None  # of the opponent in the last program

    def relax(self, box: Box) -> tuple[Constraints, Ints]:
        """Relax r(sa) = r(s) x(I, a) over a box to McCormick's inequalities.

        r are realisation weights of sequences, x the probabilities of actions, in a box of ends
        l <= x <= u and L <= r(s) <= U. Multiplied out, with r(sa) for the product:

        1. (r - L)(x - l) >= 0: r(sa) >= l r(s) + L x - l L
        2. (U - r)(u - x) >= 0: r(sa) >= u r(s) + U x - u U
        3. (r - L)(u - x) >= 0: r(sa) <= u r(s) + L x - u L
        4. (U - r)(x - l) >= 0: r(sa) <= l r(s) + U x - l U

        A row of one past needs no x: 1 and 3 with L = 0 are l r(s) <= r(sa) <= u r(s), which say
        nothing if l is 0 or u is 1.

        Returns the relaxation, and for each of its inequalities the sequence sa.
        """
        least, most = self._weight_bounds(box)
        lower = box.lower.ravel()
        upper = box.upper.ravel()
        shared = np.flatnonzero(self.is_shared)
        alone = np.flatnonzero(~self.is_shared)
        has_lower_end = lower[self.cell_of_step[alone]] != 0.0
        has_upper_end = upper[self.cell_of_step[alone]] != 1.0
        no_weight = np.zeros_like(least)
        at_least = -1.0  # signs: r(sa) is no less, or no more, than the right side
        at_most = 1.0
        blocks, right_sides, sequences = [], [], []
        for sign, steps, ends, weight_ends in (
            (at_least, shared, lower, least),
            (at_least, shared, upper, most),
            (at_most, shared, upper, least),
            (at_most, shared, lower, most),
            (at_least, alone[has_lower_end], lower, no_weight),
            (at_most, alone[has_upper_end], upper, no_weight),
        ):
            # sign (r(sa) - end r(s) - weight_end x(I, a)) <= -sign end weight_end
            end = ends[self.cell_of_step[steps]]
            weight_end = weight_ends[self.parent_of_step[steps]]
            blocks.append(self._couple(steps, sign, -sign * end, -sign * weight_end))
            right_sides.append(-sign * weight_end * end)
            sequences.append(1 + steps)
        coupling = csr_array(vstack(blocks))
        relaxation = Constraints(box, least, most, coupling, np.concatenate(right_sides))
        return relaxation, np.concatenate(sequences)

    def linearise(self, policy: Floats, step: float) -> Constraints:
        """Constrain policies to those within `step` of one, with linearised products.

        Near r', x' the product r(sa) = r(s) x(I, a) becomes
        r(sa) - x'(I, a) r(s) - r'(s) x(I, a) = -r'(s) x'(I, a).
        """
        weights = self.form.realisation(policy)[self.parent_of_step]  # r'
        probabilities = policy.ravel()[self.cell_of_step]  # x'
        every_step = np.arange(len(probabilities))
        coupling = self._couple(every_step, 1.0, -probabilities, -weights)
        tree = self.form.tree
        legal = (tree.seat == self.form.player)[:, None] & tree.legal
        near = Box(np.clip(policy - step, 0.0, legal), np.clip(policy + step, 0.0, legal))
        no_weight = np.zeros(self.num_variables[0])
        right_sides = -weights * probabilities
        return Constraints(
            near, no_weight, no_weight + 1.0, coupling, right_sides, are_equations=True
        )

    def lagrangian_maximum(self, relaxation: Constraints, optimum: Optimum) -> tuple[float, Floats]:
        """Maximise the Lagrangian of a program's multipliers over a box.

        It is linear in r, the realisation weights, and x, the probabilities of rows. So each of
        them is at its upper end if its slope is positive, else at its lower end.

        Returns the maximum, rounded up, and the slopes of x, (R, K).
        """
        box, least, most, coupling, right_sides, _ = relaxation
        sequences, cells = self.num_variables
        coupled_prices = optimum.coupling_prices
        equal_prices = optimum.equation_prices
        slopes = np.append(self.payoffs @ optimum.opponent_weights, np.zeros(cells))
        slopes -= coupling.T @ coupled_prices
        slopes -= self.equations.T @ equal_prices
        lower = np.append(least, box.lower)
        upper = np.append(most, box.upper)
        bound = np.where(slopes > 0.0, upper, lower) @ slopes
        bound += coupled_prices @ right_sides + equal_prices @ self.equation_sides
        # The same sums with absolute values: the rounding error is a share of this size.
        sizes = np.append(abs(self.payoffs) @ optimum.opponent_weights, np.zeros(cells))
        sizes += abs(coupling).T @ coupled_prices + abs(self.equations).T @ abs(equal_prices)
        size = sizes @ upper + coupled_prices @ abs(right_sides)
        size += abs(equal_prices) @ self.equation_sides
        slopes_of_rows = slopes[sequences:].reshape(box.lower.shape)
        return float(bound + self.relative_error * size), slopes_of_rows

    def sum_by_cell(self, figures: Floats) -> Floats:
        """For each action of a row, sum `figures`, (S,), over the sequences that have this step.

        A sequence counts at all its steps, not at the last only. Returns (R * K,).
        """
        sequences, cells = self.num_variables
        # totals[s] = figures[s] + the totals of all sequences one step longer.
        longer = np.arange(1, sequences)
        one_step = np.ones(len(longer)), (self.parent_of_step, longer)
        system = eye_array(sequences, format="csr") - csr_array(one_step, (sequences, sequences))
        totals = spsolve_triangular(system, figures, lower=False, unit_diagonal=True)
        by_cell = np.bincount(self.cell_of_step, totals[1:], cells)
        return np.asarray(by_cell, np.float64)

    def _weight_bounds(self, box: Box) -> tuple[Floats, Floats]:
        """Bound the realisation weight of each sequence in a box, (S,) each, from below and above.

        A weight is the product of the probabilities of the own actions of a sequence.
        """
        # A product for each level, of two roundings at most; twice that.
        margin = 2.0 * len(self.form.tree.levels) * np.finfo(float).eps
        least = self.form.realisation(box.lower)
        most = self.form.realisation(box.upper)
        return least * (1.0 - margin), np.minimum(most * (1.0 + margin), 1.0)

    def _couple(
        self, steps: Ints, after_term: float, before_terms: Floats, cell_terms: Floats
    ) -> csr_array:
        """Make m linear forms, each in two weights of sequences and a probability of a row.

        A step (m,) is an action `a` that follows a sequence `s` at a row `I`. In an exact plan
        r(sa) = r(s) x(I, a), of realisation weights r and probabilities x. The arguments after
        `steps` are the coefficients of r(sa), r(s) and x(I, a). Returns (m, S + R * K), by r and x.
        """
        size = len(steps)
        cells = self.form.num_sequences + self.cell_of_step[steps]
        columns = np.concatenate([1 + steps, self.parent_of_step[steps], cells])
        lines = np.tile(np.arange(size), 3)
        terms = np.concatenate([np.full(size, after_term), before_terms, cell_terms])
        return csr_array((terms, (lines, columns)), (size, sum(self.num_variables)))

    def solve(self, constraints: Constraints, dag: BeliefDag, seconds: float) -> Optimum | None:
        """Maximise by a linear program the payoff that weights r and rows x secure.

        `dag` is the opponent's belief DAG. Returns None if the solver fails or is not done in time.
        In a deep tree it is not begun without time for each entry at every level: HiGHS, which does
        not look at the time in every step, took minutes there.
        """
        tree = self.form.tree
        is_too_long = len(tree.levels) * constraints.coefficients.nnz > PACE * seconds
        if seconds <= 0.0 or (is_deep(tree) and is_too_long):
            return None
        if dag is not self._dag:
            self._dag = dag
            choice_payoffs = (self.payoffs @ dag.plan_matrix).T
            self._choice_losses = csr_array(-choice_payoffs)[dag.allowed_choices]
            self._duals = csr_array(dag.equations().T)[dag.allowed_choices]
        answer = self._run_solver(constraints, seconds)
        self.num_solved += 1
        if answer.status != SOLVED:
            return None
        optimum = self._optimum(answer, dag)
        return optimum if all(np.isfinite(part).all() for part in optimum) else None

    def _run_solver(self, constraints: Constraints, seconds: float) -> OptimizeResult:
        """Solve the linear program over weights r, rows x and the opponent's dual values v.

        v are values at the root and decisions of the opponent's belief DAG: by duality, the payoff
        that r secures is the largest value at the root such that no choice of the opponent gains on
        these values. The first inequalities say so, one for each allowed choice; those that couple
        r and x follow. If they are equations, they come before those of r and of x.
        """
        box, least, most, coupling, coupling_sides, are_equations = constraints
        sequences, cells = self.num_variables
        choices, values = self._duals.shape
        responses = hstack([self._choice_losses, csr_array((choices, cells)), self._duals])
        coupled = hstack([coupling, csr_array((coupling.shape[0], values))])
        equations = hstack([self.equations, csr_array((self.equations.shape[0], values))])
        inequality_sides = np.zeros(choices)
        equation_sides = self.equation_sides
        if are_equations:
            inequalities = responses
            equations = vstack([coupled, equations])
            equation_sides = np.append(coupling_sides, equation_sides)
        else:
            inequalities = vstack([responses, coupled])
            inequality_sides = np.append(inequality_sides, coupling_sides)
        goal = np.zeros(sequences + cells + values)
        goal[sequences + cells] = -PROGRAM_SCALE  # linprog minimises; this is the value at the root
        lower = np.concatenate([least, box.lower.ravel(), np.full(values, -np.inf)])
        upper = np.concatenate([most, box.upper.ravel(), np.full(values, np.inf)])
        return interruptible(
            linprog,
            goal,
            A_ub=inequalities.tocsr(),
            b_ub=inequality_sides,
            A_eq=equations.tocsr(),
            b_eq=equation_sides,
            bounds=np.stack([lower, upper], axis=1),
            method="highs",
            options={"time_limit": seconds},
        )

    def _optimum(self, answer: OptimizeResult, dag: BeliefDag) -> Optimum:
        """Read the solution of a program against a belief DAG, and its dual prices.

        Dual prices of the opponent's choices are the opponent's mixture.
        """
        sequences, cells = self.num_variables
        num_choices = np.count_nonzero(dag.allowed_choices)
        inequality_prices = np.maximum(-answer.ineqlin.marginals, 0.0) / PROGRAM_SCALE
        opponent_choices = np.zeros(dag.num_choices)
        opponent_choices[dag.allowed_choices] = inequality_prices[:num_choices]
        equation_prices = -answer.eqlin.marginals / PROGRAM_SCALE
        return Optimum(
            sequence_weights=answer.x[:sequences],
            row_probabilities=answer.x[sequences : sequences + cells].reshape(self.form.tree.shape),
            value=-answer.fun / PROGRAM_SCALE,
            opponent_weights=Mixed.of(dag, opponent_choices).plan,
            coupling_prices=inequality_prices[num_choices:],
            equation_prices=equation_prices[-len(self.equation_sides) :],
        )


def next_step(step: float, gained: float, promised: float) -> float:
    """Choose the size of a trust region after a step that gained `gained` of what was `promised`.

    It is a quarter after a failed step, half after a poor one, twice as much after a good one.
    """
    if gained <= 0.0:
        return step / 4.0
    if gained < promised / 10.0:
        return step / 2.0
    return min(2.0 * step, 1.0) if gained > 0.7 * promised else step
