"""The maxmin of a side in policies: branch and bound over boxes of its rows.

A policy x gives a sequence s of its side the weight r(s), a product of probabilities, and secures
the least r'Aq over the mixtures q of the opponent: of any best responder, who knows the policy, be
it a forgetful player or a team with a common draw. The most that a policy secures is the side's
value in policies, of teams the TME (von Stengel and Koller, GEB 21, 1997).

**Relaxation.** In a box, l <= x <= u, weights lie between products of ends, L <= r <= U. If action
a of row I follows s, then r(sa) = r(s) x(I, a), and (r(s) - L)(x - l) and its three likes are not
negative: four inequalities linear in r, r(sa) and x (McCormick, Mathematical Programming 10, 1976).
With these, players remember each past but act alike up to the box. With the opponent's dual it is
one linear program (Čermák and others, AAMAS 2017, who refine digits of r instead).

**Bound.** For any mixture q and multipliers, a policy of the box secures at most the Lagrangian's
most over L <= r <= U, l <= x <= u: a sum. So a solver's errors make bounds worse but not wrong
(Neumaier and Shcherbina, Mathematical Programming 99, 2004); ``docs/theory.md`` has the margin.

**Search.** The box of the largest bound is halved at the row that the program's plan breaks most.
The Lagrangian's slopes narrow it to policies that may secure more than the best found. Those are
found by sequential linear programs from the program's plans, and from random policies.
"""

from collections.abc import Iterable
from heapq import heappop, heappush
from typing import Final

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack, vstack
from scipy.sparse.linalg import spsolve_triangular

from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import Deadline
from hogeq.support.workers import interruptible
from hogeq.trees.beliefs import BeliefDag
from hogeq.trees.boxes import Bounded, Box, Coupled, Optimum, Solved, next_step
from hogeq.trees.columns import Side
from hogeq.trees.flat import FlatTree
from hogeq.trees.integer_program import PROGRAM_SCALE, SOLVED
from hogeq.trees.restricted import Mixed, played
from hogeq.trees.sequence_payoffs import sequence_payoffs
from hogeq.trees.shuffling import solving_form
from hogeq.trees.whole_dags import whole_dag

SMALL_GAP: Final = 1e-7  # bounds that are no further apart have met; a share of the stakes
LEAST_IMPROVEMENT: Final = SMALL_GAP / 2.0  # a box must promise more than that to be split
EDGE_SHARE: Final = 0.2  # share of the width of a box that each half has at least
LEAST_SHRINKING: Final = 0.1  # of a probability: a box that shrinks more is bounded again, ...
MOST_ROUNDS: Final = 3  # ... this many times in all
DAG_TIME_SHARE: Final = 0.2  # share of the time for the opponent's belief DAG
THIN_SIDE: Final = 1e-12  # narrowest side of a box that is still split
MOST_RESPONSES: Final = 20  # that are added to the opponent's part for one box
MOST_STEPS: Final = 100  # of one ascent
LONGEST_STEP: Final = 0.25  # first step of an ascent, in probability
SHORTEST_STEP: Final = 1e-7  # an ascent ends below it
LEAST_GAIN: Final = 1e-11  # that a step of an ascent promises


class Maxmin:
    """Search for the policy of a side that secures most against a best responder."""

    def __init__(self, tree: FlatTree, player: int, limit: float | Deadline) -> None:
        self.tree, self.deadline = tree, Deadline.of(limit)
        self.is_own_row = tree.seat == player  # (R,), which rows are this side's
        form = self.form = solving_form(tree, player)
        opponent_form = solving_form(tree, 1 - player)
        payoffs = sequence_payoffs(solving_form(tree, 0), solving_form(tree, 1))
        # Payoff to this side, (S, T), by its own sequence and the opponent's.
        self.payoffs = csr_array(payoffs if player == 0 else -payoffs.T)
        time_to_build = self.deadline.share(DAG_TIME_SHARE)
        self.opponent = Side(opponent_form, whole_dag(opponent_form, deadline=time_to_build))
        # The last steps of all sequences but the empty one: n = S - 1 actions at pasts.
        refined = form.refined_of_sequence[1:]
        self.sequence_of_step = np.arange(1, form.num_sequences)  # (n,), sequence with the step
        self.parent_of_step = form.parent_sequence[refined]  # (n,), sequence without it
        # (n,), row * K + action of the step.
        self.cell_of_step = np.flatnonzero(tree.legal)[form.legal_action_of_sequence]
        # (n,): whether the step's row joins several pasts, so that r(sa) = r(s) x(I, a) must hold.
        self.is_shared = np.isin(form.row_of_refined, form.shared_rows)[refined]
        self.num_variables = form.num_sequences, tree.legal.size  # S of r, R * K of x
        self.equations, self.equation_sides = self._equations()
        num_terms = sum(self.num_variables) + sum(self.payoffs.shape) + 8 * len(refined)
        # Relative error of the sums that bounds are made of. By n roundings, of 2**-53 each, it is
        # gamma(n) (Higham, "Accuracy and stability", 2nd ed., lemma 3.1); this is 8 times as much.
        self.relative_error = 4.0 * np.finfo(float).eps * (num_terms + 8 * len(tree.levels))
        self.best_value = -np.inf  # most that a policy is known to secure
        self.best_policy = tree.uniform()  # the policy that secures it
        self.num_programs = 0  # linear programs solved
        self.responses_added = 0  # responses that the opponent's part has grown by
        self.random = np.random.default_rng(0)
        self._program_dag: BeliefDag | None = None
        # A program holds all mixtures of an opponent with perfect recall. Of any other it holds
        # those of a few pure strategies, and best responses to its solutions are added.
        against_uniform = self._response_payoffs(tree.uniform())
        response = self.opponent.best(
            against_uniform, -np.inf, Deadline(0.0), deadline=self.deadline
        )
        if self.opponent.whole_dag is None:
            self.opponent.add(response, self.deadline.share(DAG_TIME_SHARE))
        elif len(opponent_form.inflated.shared_rows) and response.choices is not None:
            self.opponent.restrict(response.choices)

    def _equations(self) -> tuple[csr_array, Floats]:
        """Make the linear equations that weights r and rows x of a policy satisfy.

        1. The empty sequence has weight 1.
        2. At a refined information set the weights of the sequences that end there sum to that of
           the sequence before it.
        3. The probabilities of each own row sum to 1.

        Returns coefficients, (E, S + R * K), those of r first, and right sides, (E,).
        """
        form = self.form
        num_actions = self.tree.num_actions
        sequences, cells = self.num_variables
        num_refined = form.num_refined
        own_rows = np.flatnonzero(self.is_own_row)
        width = sequences + cells
        # Equations 1 and 2. The empty sequence has owner -1, so that its equation is line 0.
        lines = np.append(1 + form.refined_of_sequence, 1 + np.arange(num_refined))
        columns = np.append(np.arange(sequences), form.parent_sequence)
        signs = np.append(np.ones(sequences), -np.ones(num_refined))
        flow = csr_array((signs, (lines, columns)), (1 + num_refined, width))
        # Equations 3.
        lines = np.arange(len(own_rows)).repeat(num_actions)
        columns = sequences + (own_rows[:, None] * num_actions + np.arange(num_actions)).ravel()
        row_sums = csr_array((np.ones(len(lines)), (lines, columns)), (len(own_rows), width))
        right_sides = np.concatenate([[1.0], np.zeros(num_refined), np.ones(len(own_rows))])
        return csr_array(vstack([flow, row_sums])), right_sides

    def _sum_by_cell(self, figures: Floats) -> Floats:
        """For each cell (row * K + action), sum `figures`, (S,), over the sequences with that step.

        A sequence counts at all its steps, not at the last only. Returns (R * K,).
        """
        sequences, cells = self.num_variables
        # totals[s] = figures[s] + the totals of all sequences one step longer.
        one_step = np.ones(len(self.sequence_of_step)), (self.parent_of_step, self.sequence_of_step)
        system = eye_array(sequences, format="csr") - csr_array(one_step, (sequences, sequences))
        totals = spsolve_triangular(system, figures, lower=False, unit_diagonal=True)
        by_cell = np.bincount(self.cell_of_step, totals[self.sequence_of_step], cells)
        return np.asarray(by_cell, np.float64)

    def normalised(self, policy: Floats) -> Floats:
        """Own rows of a policy, each with sum 1; the opponent's are uniform and not used."""
        rows = np.where(self.tree.legal, np.maximum(policy, 0.0), 0.0)
        total = rows.sum(axis=1, keepdims=True)
        is_used = self.is_own_row[:, None] & (total > 0.0)
        return np.where(is_used, rows / np.where(total > 0.0, total, 1.0), self.tree.uniform())

    def secured(self, policy: Floats) -> float:
        """Bound what a policy secures from below, and update the best policy so far.

        The bound is by the opponent's best response, which is also added to the opponent's part.
        """
        program_limit = self.deadline.share(0.25)  # if the response needs an integer program
        payoffs = self._response_payoffs(policy)
        response = self.opponent.best(payoffs, -self.best_value, program_limit)
        self.responses_added += self.opponent.add(response, self.deadline)
        value = float(-response.bound - self.relative_error)
        if value > self.best_value:
            self.best_value, self.best_policy = value, policy
        return value

    def _response_payoffs(self, policy: Floats) -> Floats:
        """Payoff to the opponent of each of its sequences against a policy."""
        return np.asarray(-(self.payoffs.T @ self.form.realisation(policy)))

    def ascend(self, policy: Floats) -> float:
        """Improve a policy by sequential linear programs; return what it secures in the end.

        1. A program with linearised products finds the best policy within a step of this one.
        2. Move there if a best response confirms that it secures more.
        3. Take smaller steps where that is much less than the program promised, else larger ones.

        Stops at a local maximum, when steps are too small, or when the time is over.
        """
        policy = self.normalised(policy)
        value = self.secured(policy)
        step = LONGEST_STEP
        for _ in range(MOST_STEPS):
            if step < SHORTEST_STEP or self.deadline.is_over:
                break
            optimum = self._linearised(policy, step)
            if optimum is None:
                step /= 4.0
                continue
            promised = optimum.value - value
            if promised < LEAST_GAIN:
                break
            candidate = self.normalised(optimum.row_probabilities)
            responses_before = self.responses_added
            gained = self.secured(candidate) - value
            if gained > 0.0:
                policy, value = candidate, value + gained
            if self.responses_added > responses_before and gained < promised / 2.0:
                continue  # the program lacked that response: solve it again, with the same step
            if gained <= 0.0 and optimum.value <= self.best_value + LEAST_IMPROVEMENT:
                break  # nothing nearby can be better than the best policy so far
            step = next_step(step, gained, promised)
        return value

    def _linearised(self, policy: Floats, step: float) -> Optimum | None:
        """Maximise what policies secure within `step` of one, with linearised products.

        Near r', x' the product r(sa) = r(s) x(I, a) becomes
        r(sa) - x'(I, a) r(s) - r'(s) x(I, a) = -r'(s) x'(I, a).
        """
        weights = self.form.realisation(policy)[self.parent_of_step]  # r'
        probabilities = policy.ravel()[self.cell_of_step]  # x'
        every_step = np.arange(len(probabilities))
        ones = np.ones(len(probabilities))
        coupling = self._coupling(every_step, ones, -probabilities, -weights)
        legal = self.is_own_row[:, None] & self.tree.legal
        near = Box(np.clip(policy - step, 0.0, legal), np.clip(policy + step, 0.0, legal))
        no_weight = np.zeros(self.num_variables[0])
        coupled = Coupled(near, no_weight, no_weight + 1.0, coupling, -weights * probabilities)
        return self._program(coupled, is_equal=True)

    def bounded(self, box: Box) -> Bounded | None:
        """Bound what policies of a box secure; None if the program fails or is not done in time.

        1. Solve the relaxation; add the opponent's response to it and solve again, while that
           response gains.
        2. Maximise the Lagrangian of the program's multipliers over the box.
        """
        relaxation, after = self._mccormick(box)
        optimum = self._program(relaxation)
        for _ in range(MOST_RESPONSES):
            if optimum is None or not self._adds_response(optimum):
                break
            optimum = self._program(relaxation) or optimum
        if optimum is None:
            return None
        bound, slopes = self._lagrangian_maximum(relaxation, optimum)
        policy = self.normalised(played(self.form, optimum.sequence_weights))
        # At true products an inequality has slack; times its multiplier, that raised the bound.
        point = np.append(self.form.realisation(policy), policy)
        slack = np.maximum(relaxation.right_sides - relaxation.coefficients @ point, 0.0)
        num_sequences, _ = self.num_variables
        gaps = np.bincount(after, optimum.coupling_prices * slack, num_sequences)
        return Bounded(bound, slopes, policy, gaps.astype(np.float64))

    def _lagrangian_maximum(self, relaxation: Coupled, optimum: Optimum) -> tuple[float, Floats]:
        """Maximise the Lagrangian of a program's multipliers over a box.

        It is linear in r and x, so each of them is at its upper end if its slope is positive, else
        at its lower end.

        Returns the maximum, rounded up, and the slopes of x, (R, K).
        """
        box, least, most, coupling, right_sides = relaxation
        sequences, cells = self.num_variables
        coupled_prices, equal_prices = optimum.coupling_prices, optimum.equation_prices
        slopes = np.append(self.payoffs @ optimum.opponent_weights, np.zeros(cells))
        slopes -= coupling.T @ coupled_prices
        slopes -= self.equations.T @ equal_prices
        lower, upper = np.append(least, box.lower), np.append(most, box.upper)
        bound = np.where(slopes > 0.0, upper, lower) @ slopes
        bound += coupled_prices @ right_sides + equal_prices @ self.equation_sides
        # The same sums with absolute values: the rounding error is a share of this size.
        sizes = np.append(abs(self.payoffs) @ optimum.opponent_weights, np.zeros(cells))
        sizes += abs(coupling).T @ coupled_prices + abs(self.equations).T @ abs(equal_prices)
        size = sizes @ upper + coupled_prices @ abs(right_sides)
        size += abs(equal_prices) @ self.equation_sides
        slopes_of_rows = slopes[sequences:].reshape(box.lower.shape)
        return float(bound + self.relative_error * size), slopes_of_rows

    def _mccormick(self, box: Box) -> tuple[Coupled, Ints]:
        """Relax r(sa) = r(s) x(I, a) over a box to McCormick's inequalities.

        Returns the relaxation, and for each of its inequalities the sequence sa, (n,).
        """
        least_weight, most_weight = self._weight_bounds(box)
        lower, upper = box.lower.ravel(), box.upper.ravel()
        # At rows that join several pasts: l and u bound x(I, a), L and U bound r(s).
        shared = np.flatnonzero(self.is_shared)
        low = lower[self.cell_of_step[shared]]
        high = upper[self.cell_of_step[shared]]
        least = least_weight[self.parent_of_step[shared]]
        most = most_weight[self.parent_of_step[shared]]
        ones = np.ones(len(low))
        blocks = [
            self._coupling(shared, -ones, low, least),  # (r - L)(x - l) >= 0
            self._coupling(shared, -ones, high, most),  # (U - r)(u - x) >= 0
            self._coupling(shared, ones, -high, -least),  # (r - L)(u - x) >= 0
            self._coupling(shared, ones, -low, -most),  # (U - r)(x - l) >= 0
        ]
        right_sides = [least * low, most * high, -least * high, -most * low]
        after = [self.sequence_of_step[shared]] * 4
        # A row of one past needs no x: l r(s) <= r(sa) <= u r(s), unless l is 0 or u is 1.
        for sign, ends, trivial_end in ((-1.0, lower, 0.0), (1.0, upper, 1.0)):
            steps = np.flatnonzero(~self.is_shared & (ends[self.cell_of_step] != trivial_end))
            zeros = np.zeros(len(steps))
            before_terms = -sign * ends[self.cell_of_step[steps]]
            blocks.append(self._coupling(steps, zeros + sign, before_terms, zeros))
            right_sides.append(zeros)
            after.append(self.sequence_of_step[steps])
        coupling = csr_array(vstack(blocks))
        relaxation = Coupled(box, least_weight, most_weight, coupling, np.concatenate(right_sides))
        return relaxation, np.concatenate(after)

    def _adds_response(self, optimum: Optimum) -> bool:
        """Add the opponent's best response to a program's plan; False if that gains nothing.

        The program then holds mixtures of this response and of those it had.
        """
        opponent = self.opponent
        if opponent.whole_dag is not None and opponent.kept_choices is None:
            return False  # its whole belief DAG is in the program, with all mixtures
        payoffs, value = -(self.payoffs.T @ optimum.sequence_weights), -optimum.value  # its own
        # No time for an integer program: a heuristic response will do.
        response = opponent.best(payoffs, value, Deadline(0.0), deadline=self.deadline)
        if response.payoff <= LEAST_GAIN + value or not opponent.add(response, self.deadline):
            return False
        self.responses_added += 1
        return True

    def _weight_bounds(self, box: Box) -> tuple[Floats, Floats]:
        """Least and most realisation weight of each sequence in a box, (S,), rounded outward."""
        # A product for each level, of two roundings at most; twice that.
        margin = 2.0 * len(self.tree.levels) * np.finfo(float).eps
        least, most = self.form.realisation(box.lower), self.form.realisation(box.upper)
        return least * (1.0 - margin), np.minimum(most * (1.0 + margin), 1.0)

    def narrowed(self, box: Box, bounded: Bounded) -> Box | None:
        """Shrink a box to the policies that may secure more than the best so far.

        A probability that moves by `width` off its better end lowers the bound to the best known
        value. Returns None if the box has no policy that may be better.
        """
        slopes = bounded.slopes
        slack = (bounded.bound - self.best_value) * (1.0 + 1e-9)  # its roundings are far smaller
        width = np.where(slopes == 0.0, np.inf, slack / np.maximum(abs(slopes), 1e-300))
        lower = np.where(slopes > 0.0, box.upper - width, box.lower)
        upper = np.where(slopes < 0.0, box.lower + width, box.upper)
        lower, upper = np.maximum(lower, box.lower), np.minimum(upper, box.upper)
        # Rows sum to 1: each probability is 1 minus the sum of the others.
        least_by_sum = 1.0 - upper.sum(axis=1, keepdims=True) + upper
        most_by_sum = 1.0 - lower.sum(axis=1, keepdims=True) + lower
        rounding = 4.0 * np.finfo(float).eps * lower.shape[1]  # K sums of numbers up to 1, 8-fold
        is_own = self.is_own_row[:, None]
        lower = np.where(is_own, np.maximum(lower, least_by_sum - rounding), box.lower)
        upper = np.where(is_own, np.minimum(upper, most_by_sum + rounding), box.upper)
        return None if (lower > upper).any() else Box(lower, upper)

    def solve(self, starts: Iterable[Floats], ceiling: float) -> Solved:
        """Search by branch and bound until bounds meet or the time is over.

        Of the waiting boxes, the one of the largest bound is halved first. `starts` are policies,
        (R, K), to be tried first; `ceiling` is a known upper bound, a share of the stakes.
        """
        self.secured(self.tree.uniform())
        for start in starts:
            if not self.deadline.is_over:
                self.secured(self.normalised(start))
        if self.best_value + LEAST_IMPROVEMENT < ceiling and not self.deadline.is_over:
            self.ascend(self.best_policy)
        legal = (self.tree.legal & self.is_own_row[:, None]).astype(float)
        root = Box(np.zeros_like(legal), legal)
        # A heap of boxes: smallest negated bound first, then the order in which they were made.
        waiting: list[tuple[float, int, Box]] = [(-ceiling, 0, root)]
        closed_bound = -np.inf  # largest bound of the boxes that are not split
        number = boxes = 0
        while (
            waiting
            and -waiting[0][0] > self.best_value + LEAST_IMPROVEMENT
            and not self.deadline.is_over
        ):
            negated_bound, _, box = heappop(waiting)
            boxes += 1
            bound, halves = self._bound_and_halve(box, -negated_bound, boxes)
            if not halves:
                closed_bound = max(closed_bound, bound)
            for half in halves:
                number += 1
                heappush(waiting, (-bound, number, half))
        open_bound = -waiting[0][0] if waiting else -np.inf
        bound = max(self.best_value, closed_bound, open_bound)
        return Solved(self.best_policy, self.best_value, bound, boxes, self.num_programs)

    def _bound_and_halve(self, box: Box, bound: float, boxes: int) -> tuple[float, list[Box]]:
        """Bound, narrow and halve a box; return its bound, and no halves if it need not be split.

        `bound` is the bound known so far, `boxes` the number of boxes up to this one. A box is
        bounded again while narrowing makes it much smaller. A plan that secures more than the best
        policy begins an ascent. At the boxes 1, 2, 4, 8, ... any plan does, and a random policy.
        """
        is_power_of_two = boxes.bit_count() == 1
        for _ in range(MOST_ROUNDS):
            bounded = self.bounded(box)
            if bounded is None:
                break
            bound = min(bound, bounded.bound)
            best_before = self.best_value
            if self.secured(bounded.policy) > best_before or is_power_of_two:
                self.ascend(bounded.policy)
            narrower = self.narrowed(box, bounded)
            if narrower is None:
                return -np.inf, []  # no policy of the box is better than the best
            if bound <= self.best_value + LEAST_IMPROVEMENT:
                return bound, []
            shrinking = (box.upper - box.lower) - (narrower.upper - narrower.lower)
            box = narrower
            if shrinking.max(initial=0.0) < LEAST_SHRINKING:
                break
        if is_power_of_two:
            self.ascend(self.random.exponential(size=self.tree.legal.shape))
        return bound, self._halves(box, bounded)

    def _halves(self, box: Box, bounded: Bounded | None) -> list[Box]:
        """Split a box in two, at the cell whose relaxed products raise the bound most.

        The cut is at the program's policy, but not too near to an edge. Where no product is
        relaxed, it is the box's longest side. A box whose sides are all thin is not split.
        """
        widths = (box.upper - box.lower).ravel()
        scores = np.where(widths > THIN_SIDE, widths, 0.0)  # (R * K,)
        cut_policy = (box.lower + box.upper) / 2.0
        if bounded is not None:
            cut_policy = bounded.policy
            gap_scores = scores * self._sum_by_cell(bounded.relaxation_gaps)
            if gap_scores.any():
                scores = gap_scores
        cell = int(scores.argmax())
        if scores[cell] <= 0.0:
            return []
        low, high = box.lower.ravel()[cell], box.upper.ravel()[cell]
        edge = EDGE_SHARE * (high - low)
        cut = min(max(float(cut_policy.ravel()[cell]), low + edge), high - edge)
        lower, upper = box.lower.copy(), box.upper.copy()
        lower.ravel()[cell] = cut
        upper.ravel()[cell] = cut
        return [Box(box.lower, upper), Box(lower, box.upper)]

    def _coupling(
        self, steps: Ints, after_terms: Floats, before_terms: Floats, cell_terms: Floats
    ) -> csr_array:
        """Make one line of coefficients for each of n steps, (n, S + R * K).

        The arguments are the coefficients, (n,), of r(sa), r(s) and x(I, a) of each step.
        """
        after, before = self.sequence_of_step[steps], self.parent_of_step[steps]
        columns = np.concatenate([after, before, self.num_variables[0] + self.cell_of_step[steps]])
        lines = np.tile(np.arange(len(after)), 3)
        terms = np.concatenate([after_terms, before_terms, cell_terms])
        return csr_array((terms, (lines, columns)), (len(after), sum(self.num_variables)))

    def _program(self, constraints: Coupled, *, is_equal: bool = False) -> Optimum | None:
        """Maximise by a linear program what weights r and rows x secure.

        Its variables are r, x, and the opponent's values at the decisions of its belief DAG: by
        duality, what r secures is the largest value at the root such that no choice of the
        opponent gains on these values. Constraints that couple r and x are inequalities, or
        equations if `is_equal`. Returns None if the solver fails or is not done in time.
        """
        box, least, most, coupling, coupling_sides = constraints
        dag, time_left = self.opponent.restricted_dag, self.deadline.left
        if time_left <= 0.0:
            return None
        if dag is not self._program_dag:
            self._program_dag = dag
            choice_payoffs = (self.payoffs @ dag.plan_matrix).T
            self._choice_losses = csr_array(-choice_payoffs)[dag.allowed_choices]
            self._duals = csr_array(dag.equations().T)[dag.allowed_choices]
        sequences, cells = self.num_variables
        choices, values = self._duals.shape
        # No choice of the opponent gains: its value, by the duals, less the payoff is at most 0.
        responses = hstack([self._choice_losses, csr_array((choices, cells)), self._duals])
        coupled = hstack([coupling, csr_array((coupling.shape[0], values))])
        equations = hstack([self.equations, csr_array((self.equations.shape[0], values))])
        at_most, at_most_sides = responses, np.zeros(choices)
        equal, equal_sides = equations, self.equation_sides
        if is_equal:
            equal = vstack([coupled, equal])
            equal_sides = np.append(coupling_sides, equal_sides)
        else:
            at_most = vstack([at_most, coupled])
            at_most_sides = np.append(at_most_sides, coupling_sides)
        goal = np.zeros(sequences + cells + values)
        goal[sequences + cells] = -PROGRAM_SCALE  # linprog minimises; this is the value at the root
        lower = np.concatenate([least, box.lower.ravel(), np.full(values, -np.inf)])
        upper = np.concatenate([most, box.upper.ravel(), np.full(values, np.inf)])
        answer = interruptible(
            linprog,
            goal,
            A_ub=at_most.tocsr(),
            b_ub=at_most_sides,
            A_eq=equal.tocsr(),
            b_eq=equal_sides,
            bounds=np.stack([lower, upper], axis=1),
            method="highs",
            options={"time_limit": time_left},
        )
        self.num_programs += 1
        if answer.status != SOLVED:
            return None
        multipliers = np.maximum(-answer.ineqlin.marginals, 0.0) / PROGRAM_SCALE
        opponent_choices = np.zeros(dag.num_choices)
        opponent_choices[dag.allowed_choices] = multipliers[:choices]
        prices = -answer.eqlin.marginals / PROGRAM_SCALE
        optimum = Optimum(
            sequence_weights=answer.x[:sequences],
            row_probabilities=answer.x[sequences : sequences + cells].reshape(box.lower.shape),
            value=-answer.fun / PROGRAM_SCALE,
            opponent_weights=Mixed.of(dag, opponent_choices).plan,
            coupling_prices=multipliers[choices:],
            equation_prices=prices[-len(self.equation_sides) :],
        )
        return optimum if all(np.isfinite(part).all() for part in optimum) else None
