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
from scipy.sparse import csr_array

from hogeq.support.aliases import Floats
from hogeq.support.deadline import Deadline
from hogeq.trees.boxes import (
    Box,
    BoxBound,
    Constraints,
    MaxminSolution,
    Optimum,
    PolicyPrograms,
    next_step,
)
from hogeq.trees.columns import Side
from hogeq.trees.flat import FlatTree
from hogeq.trees.restricted import policy_of_plan
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
        """Set up the linear programs of the side of `player`, and the strategies of the opponent.

        A program holds all mixtures of an opponent with perfect recall. Of any other it holds those
        of a few pure strategies, the first of which responds to uniform play. Best responses to
        solutions of programs are added.
        """
        self.tree = tree
        self.deadline = Deadline.of(limit)
        self.is_own_row = tree.seat == player  # (R,), which rows are this side's
        self.form = solving_form(tree, player)
        opponent_form = solving_form(tree, 1 - player)
        payoffs = sequence_payoffs(solving_form(tree, 0), solving_form(tree, 1))
        # Payoff to this side, (S, T), by its own sequence and the opponent's.
        self.payoffs = csr_array(payoffs if player == 0 else -payoffs.T)
        self.programs = PolicyPrograms(self.form, self.payoffs)
        time_to_build = self.deadline.share(DAG_TIME_SHARE)
        self.opponent = Side(opponent_form, whole_dag(opponent_form, deadline=time_to_build))
        self.best_value = -np.inf  # most that a policy is known to secure
        self.best_policy = tree.uniform()  # the policy that secures it
        self.responses_added = 0  # responses that the opponent's part has grown by
        self.random = np.random.default_rng(0)
        against_uniform = self._response_payoffs(tree.uniform())
        response = self.opponent.respond(
            against_uniform, -np.inf, Deadline(0.0), deadline=self.deadline
        )
        if self.opponent.whole_dag is None:
            self.opponent.add(response, self.deadline.share(DAG_TIME_SHARE))
        elif len(opponent_form.inflated.shared_rows) and response.choices is not None:
            self.opponent.restrict(response.choices)

    def normalise(self, policy: Floats) -> Floats:
        """Scale own rows of a policy, (R, K), to sum 1; the opponent's become uniform."""
        rows = np.where(self.tree.legal, np.maximum(policy, 0.0), 0.0)
        total = rows.sum(axis=1, keepdims=True)
        is_used = self.is_own_row[:, None] & (total > 0.0)
        return np.where(is_used, rows / np.where(total > 0.0, total, 1.0), self.tree.uniform())

    def try_policy(self, policy: Floats) -> float:
        """Keep a policy if it secures more than the best so far; return what it secures.

        That is a lower bound, by the opponent's best response, which is also added to the
        opponent's part of a restricted game.
        """
        program_limit = self.deadline.share(0.25)  # if the response needs an integer program
        payoffs = self._response_payoffs(policy)
        response = self.opponent.respond(payoffs, -self.best_value, program_limit)
        self.responses_added += self.opponent.add(response, self.deadline)
        value = float(-response.bound - self.programs.relative_error)
        if value > self.best_value:
            self.best_value = value
            self.best_policy = policy
        return value

    def _response_payoffs(self, policy: Floats) -> Floats:
        """Compute the payoff to the opponent of each of its sequences, (T,), against a policy."""
        return np.asarray(-(self.payoffs.T @ self.form.realisation(policy)))

    def ascend(self, policy: Floats) -> float:
        """Improve a policy by sequential linear programs; return what it secures in the end.

        1. A program with linearised products finds the best policy within a step of this one.
        2. Move there if a best response confirms that it secures more.
        3. Take smaller steps where that is much less than the program promised, else larger ones.

        Stops at a local maximum, when steps are too small, or when the time is over.
        """
        policy = self.normalise(policy)
        value = self.try_policy(policy)
        step = LONGEST_STEP
        for _ in range(MOST_STEPS):
            if step < SHORTEST_STEP or self.deadline.is_over:
                break
            optimum = self._solve_program(self.programs.linearise(policy, step))
            if optimum is None:
                step /= 4.0
                continue
            promised = optimum.value - value
            if promised < LEAST_GAIN:
                break
            candidate = self.normalise(optimum.row_probabilities)
            responses_before = self.responses_added
            gained = self.try_policy(candidate) - value
            if gained > 0.0:
                policy = candidate
                value = value + gained
            if self.responses_added > responses_before and gained < promised / 2.0:
                continue  # the program lacked that response: solve it again, with the same step
            if gained <= 0.0 and optimum.value <= self.best_value + LEAST_IMPROVEMENT:
                break  # nothing nearby can be better than the best policy so far
            step = next_step(step, gained, promised)
        return value

    def bound_box(self, box: Box) -> BoxBound | None:
        """Bound what policies of a box secure; None if the program fails or is not done in time.

        A box has a lower and an upper end for each probability of a policy.

        1. Solve the relaxation; add the opponent's response to it and solve again, while that
           response gains.
        2. Maximise the Lagrangian of the program's multipliers over the box.
        """
        relaxation, sequences = self.programs.relax(box)
        optimum = self._solve_program(relaxation)
        for _ in range(MOST_RESPONSES):
            if optimum is None or not self._add_response(optimum):
                break
            optimum = self._solve_program(relaxation) or optimum
        if optimum is None:
            return None
        bound, slopes = self.programs.lagrangian_maximum(relaxation, optimum)
        policy = self.normalise(policy_of_plan(self.form, optimum.sequence_weights))
        # At true products an inequality has slack; times its multiplier, that raised the bound.
        point = np.append(self.form.realisation(policy), policy)
        slack = np.maximum(relaxation.right_sides - relaxation.coefficients @ point, 0.0)
        gaps = np.bincount(sequences, optimum.coupling_prices * slack, self.form.num_sequences)
        return BoxBound(bound, slopes, policy, gaps.astype(np.float64))

    def _solve_program(self, constraints: Constraints) -> Optimum | None:
        """Solve a program against the opponent's part; None if it fails or time is over."""
        return self.programs.solve(constraints, self.opponent.restricted_dag, self.deadline.left)

    def _add_response(self, optimum: Optimum) -> bool:
        """Add the opponent's best response to a program's plan, if it gains on the program's value.

        The program then holds mixtures of this response and of those it had. Returns whether the
        response was added.
        """
        opponent = self.opponent
        if opponent.whole_dag is not None and opponent.kept_choices is None:
            return False  # its whole belief DAG is in the program, with all mixtures
        payoffs = -(self.payoffs.T @ optimum.sequence_weights)  # to the opponent, as is the value
        value = -optimum.value
        # No time for an integer program: a heuristic response will do.
        response = opponent.respond(payoffs, value, Deadline(0.0), deadline=self.deadline)
        if response.payoff <= LEAST_GAIN + value or not opponent.add(response, self.deadline):
            return False
        self.responses_added += 1
        return True

    def narrow(self, box: Box, bounded: BoxBound) -> Box | None:
        """Shrink a box to the policies that may secure more than the best so far.

        A box has a lower and an upper end for each probability of a policy, (R, K). `bounded` has
        an upper bound on what its policies secure, and the slopes of the bound, (R, K): positive
        where the upper end of a probability is the better one. A probability that moves by `width`
        off its better end lowers the bound to the best known value, so that end limits the box.
        Returns None if the box has no policy that may be better.
        """
        slopes = bounded.slopes
        slack = (bounded.bound - self.best_value) * (1.0 + 1e-9)  # its roundings are far smaller
        width = np.where(slopes == 0.0, np.inf, slack / np.maximum(abs(slopes), 1e-300))
        lower = np.where(slopes > 0.0, box.upper - width, box.lower)
        upper = np.where(slopes < 0.0, box.lower + width, box.upper)
        lower = np.maximum(lower, box.lower)
        upper = np.minimum(upper, box.upper)
        # Rows sum to 1: each probability is 1 minus the sum of the others.
        least_by_sum = 1.0 - upper.sum(axis=1, keepdims=True) + upper
        most_by_sum = 1.0 - lower.sum(axis=1, keepdims=True) + lower
        rounding = 4.0 * np.finfo(float).eps * lower.shape[1]  # K sums of numbers up to 1, 8-fold
        is_own = self.is_own_row[:, None]
        lower = np.where(is_own, np.maximum(lower, least_by_sum - rounding), box.lower)
        upper = np.where(is_own, np.minimum(upper, most_by_sum + rounding), box.upper)
        return None if (lower > upper).any() else Box(lower, upper)

    def solve(self, starts: Iterable[Floats], ceiling: float) -> MaxminSolution:
        """Search by branch and bound until bounds meet or the time is over.

        Of the waiting boxes, the one of the largest bound is halved first. `starts` are policies,
        (R, K), to be tried first; `ceiling` is a known upper bound, a share of the stakes.
        """
        self.try_policy(self.tree.uniform())
        for start in starts:
            if not self.deadline.is_over:
                self.try_policy(self.normalise(start))
        if self.best_value + LEAST_IMPROVEMENT < ceiling and not self.deadline.is_over:
            self.ascend(self.best_policy)
        legal = (self.tree.legal & self.is_own_row[:, None]).astype(float)
        root = Box(np.zeros_like(legal), legal)
        # A heap of boxes: smallest negated bound first, then the order in which they were made.
        waiting: list[tuple[float, int, Box]] = [(-ceiling, 0, root)]
        closed_bound = -np.inf  # largest bound of the boxes that are not split
        num_made = 0  # boxes made by halving
        num_bounded = 0
        while waiting and not self.deadline.is_over:
            largest_bound = -waiting[0][0]
            if largest_bound <= self.best_value + LEAST_IMPROVEMENT:
                break
            _, _, box = heappop(waiting)
            num_bounded += 1
            bound, halves = self._bound_and_halve(box, largest_bound, num_bounded)
            if not halves:
                closed_bound = max(closed_bound, bound)
            for half in halves:
                num_made += 1
                heappush(waiting, (-bound, num_made, half))
        open_bound = -waiting[0][0] if waiting else -np.inf
        bound = max(self.best_value, closed_bound, open_bound)
        return MaxminSolution(
            self.best_policy, self.best_value, bound, num_bounded, self.programs.num_solved
        )

    def _bound_and_halve(self, box: Box, bound: float, boxes: int) -> tuple[float, list[Box]]:
        """Bound, narrow and halve a box; return its bound, and no halves if it need not be split.

        `bound` is the bound known so far, `boxes` the number of boxes up to this one. A box is
        bounded again while narrowing makes it much smaller. The policy of a bound's linear program
        begins a local search, an ascent, if it secures more than the best policy; at the boxes 1,
        2, 4, 8, ... in any case, and so does a random policy.
        """
        is_power_of_two = boxes.bit_count() == 1
        for _ in range(MOST_ROUNDS):
            bounded = self.bound_box(box)
            if bounded is None:
                break
            bound = min(bound, bounded.bound)
            best_before = self.best_value
            if self.try_policy(bounded.policy) > best_before or is_power_of_two:
                self.ascend(bounded.policy)
            narrower = self.narrow(box, bounded)
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

    def _halves(self, box: Box, bounded: BoxBound | None) -> list[Box]:
        """Split a box in two, at the cell whose relaxed products raise the bound most.

        The cut is at the program's policy, but not too near to an edge. Where no product is
        relaxed, it is the box's longest side. A box whose sides are all thin is not split.
        """
        widths = (box.upper - box.lower).ravel()
        scores = np.where(widths > THIN_SIDE, widths, 0.0)  # (R * K,)
        cut_policy = (box.lower + box.upper) / 2.0
        if bounded is not None:
            cut_policy = bounded.policy
            gap_scores = scores * self.programs.sum_by_cell(bounded.relaxation_gaps)
            if gap_scores.any():
                scores = gap_scores
        cell = int(scores.argmax())
        if scores[cell] <= 0.0:
            return []
        low = box.lower.ravel()[cell]
        high = box.upper.ravel()[cell]
        edge = EDGE_SHARE * (high - low)
        cut = min(max(float(cut_policy.ravel()[cell]), low + edge), high - edge)
        lower = box.lower.copy()
        upper = box.upper.copy()
        lower.ravel()[cell] = cut
        upper.ravel()[cell] = cut
        return [Box(box.lower, upper), Box(lower, box.upper)]
