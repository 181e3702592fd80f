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
from typing import Final, NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack, vstack
from scipy.sparse.linalg import spsolve_triangular

from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import Deadline
from hogeq.support.workers import interruptible
from hogeq.trees.beliefs import BeliefDag
from hogeq.trees.columns import Side
from hogeq.trees.flat import FlatTree
from hogeq.trees.integer_program import FINE, SOLVED
from hogeq.trees.restricted import Mixed, played
from hogeq.trees.sequence_payoffs import sequence_payoffs
from hogeq.trees.shuffling import solving_form
from hogeq.trees.whole_dags import whole_dag

MEETING: Final = 1e-7  # largest gap at which the bounds meet, a share of the stakes
TARGET: Final = MEETING / 2.0  # a box that may hold so much more than the best is not split
EDGE: Final = 0.2  # share of a side of a box that each half has at least
AGAIN: Final = 0.1  # shrinking of a side after which a box is bounded again ...
ROUNDS: Final = 3  # ... so often at most
BUILDING: Final = 0.2  # of the time for the opponent's belief DAG
THIN: Final = 1e-12  # side of a box that is not split
RESPONSES: Final = 20  # most by which the opponent's part grows at a box
STEPS: Final = 100  # most of an ascent
LONGEST: Final = 0.25  # step of an ascent, in probability
SHORTEST: Final = 1e-7
LEAST_GAIN: Final = 1e-11  # that a step of an ascent promises


class Box(NamedTuple):
    """Policies whose probabilities lie between two ends."""

    lower: Floats  # (R, K)
    upper: Floats


class Coupled(NamedTuple):
    """Constraints on rows x and on realisation weights r, for a linear program."""

    box: Box  # ends of x
    least: Floats  # (S,), ends of r
    most: Floats
    coupling: csr_array  # (n, S + R * K), coefficients of r and x, ...
    sides: Floats  # ... and what their sums are at most, or equal to


class Optimum(NamedTuple):
    """Solution of a linear program, and its dual variables."""

    weights: Floats  # (S,), realisation weights of sequences
    rows: Floats  # (R, K), probabilities
    value: float
    opponent: Floats  # the opponent's weights of sequences, a mixture
    coupled: Floats  # (n,), multipliers of the constraints that couple weights and rows
    equal: Floats  # (E,), and of equations


class Bounded(NamedTuple):
    """Upper bound on what policies of a box secure."""

    bound: float
    slopes: Floats  # (R, K): moving a probability off its better end loses so much of the bound
    policy: Floats  # (R, K), nearest to the program's plan
    relaxation_gaps: Floats  # (S,), what relaxing the product of each sequence adds to the bound


class Solved(NamedTuple):
    """A policy, what it secures at least, and what no policy exceeds, shares of the stakes."""

    policy: Floats  # (R, K)
    lower: float
    upper: float
    boxes: int  # bounded
    programs: int  # solved


class Maxmin:
    """Search for the policy of a side that secures most against a best responder."""

    def __init__(self, tree: FlatTree, player: int, limit: float | Deadline) -> None:
        self.tree, self.deadline = tree, Deadline.of(limit)
        self.own = tree.seat == player  # (R,)
        form = self.form = solving_form(tree, player)
        opponent_form = solving_form(tree, 1 - player)
        payoffs = sequence_payoffs(solving_form(tree, 0), solving_form(tree, 1))
        # To this side, by own sequence and the opponent's.
        self.payoffs = csr_array(payoffs if player == 0 else -payoffs.T)
        time_to_build = self.deadline.share(BUILDING)
        self.opponent = Side(opponent_form, whole_dag(opponent_form, deadline=time_to_build))
        # The last steps of all sequences but the empty one: T = S - 1 actions at pasts.
        refined = form.owner[1:]
        self.after = np.arange(1, form.size)  # (T,), the sequence with the step
        self.before = form.before[refined]  # (T,), and the one without it
        self.cell = np.flatnonzero(tree.legal)[form.cells]  # (T,), row * K + action
        self.is_shared = np.isin(form.row, form.shared)[refined]  # (T,): the row has more pasts
        self.sizes = form.size, tree.legal.size  # S and R * K, a program's own variables
        self.equations, self.equation_sides = self._equations()
        terms = sum(self.sizes) + sum(self.payoffs.shape) + 8 * len(self.after)
        self.rounding = 4.0 * np.finfo(float).eps * (terms + 8 * len(tree.levels))
        self.best, self.policy = -np.inf, tree.uniform()  # most known to be secured, and by what
        self.programs, self.responses_added = 0, 0  # solved; to the opponent's part
        self.random = np.random.default_rng(0)
        self._program_dag: BeliefDag | None = None
        # Programs have all mixtures of an opponent who remembers; of another a part, which grows.
        against_uniform = self._response_payoffs(tree.uniform())
        first = self.opponent.best(against_uniform, -np.inf, Deadline(0.0), deadline=self.deadline)
        if self.opponent.whole is None:
            self.opponent.add(first, self.deadline.share(BUILDING))
        elif len(opponent_form.inflated.shared) and first.choices is not None:
            self.opponent.restrict(first.choices)

    def _equations(self) -> tuple[csr_array, Floats]:
        """Give the equations of weights r and rows x: coefficients, (E, S + R * K), right sides.

        The empty sequence has weight 1; sequences that go on from a refined information set sum to
        the one before it; own rows sum to 1.
        """
        form, actions = self.form, self.tree.num_actions
        sequences, cells = self.sizes
        infosets, own_rows = len(form.row), np.flatnonzero(self.own)
        lines = np.append(1 + form.owner, 1 + np.arange(infosets))
        columns = np.append(np.arange(sequences), form.before)
        signs = np.append(np.ones(sequences), -np.ones(infosets))
        width = sequences + cells
        flow = csr_array((signs, (lines, columns)), (1 + infosets, width))
        lines = np.arange(len(own_rows)).repeat(actions)
        columns = sequences + (own_rows[:, None] * actions + np.arange(actions)).ravel()
        row_sums = csr_array((np.ones(len(lines)), (lines, columns)), (len(own_rows), width))
        sides = np.concatenate([[1.0], np.zeros(infosets), np.ones(len(own_rows))])
        return csr_array(vstack([flow, row_sums])), sides

    def _sum_by_cell(self, figures: Floats) -> Floats:
        """Sum figures of sequences, (S,), over all that pass through each cell, (R * K,)."""
        sequences, cells = self.sizes
        # totals[s] = figures[s] + the totals of all sequences one step longer.
        steps = np.ones(len(self.after)), (self.before, self.after)
        system = eye_array(sequences, format="csr") - csr_array(steps, (sequences, sequences))
        totals = spsolve_triangular(system, figures, lower=False, unit_diagonal=True)
        return np.asarray(np.bincount(self.cell, totals[self.after], cells), np.float64)

    def normalised(self, policy: Floats) -> Floats:
        """Own rows of a policy, each with sum 1; the opponent's are uniform and not used."""
        rows = np.where(self.tree.legal, np.maximum(policy, 0.0), 0.0)
        total = rows.sum(axis=1, keepdims=True)
        is_used = self.own[:, None] & (total > 0.0)
        return np.where(is_used, rows / np.where(total > 0.0, total, 1.0), self.tree.uniform())

    def secured(self, policy: Floats) -> float:
        """Bound what a policy secures from below; keep it if that is the most so far."""
        program_limit = self.deadline.share(0.25)  # where the opponent responds by a program
        answer = self.opponent.best(self._response_payoffs(policy), -self.best, program_limit)
        self.responses_added += self.opponent.add(answer, self.deadline)
        value = float(-answer.bound - self.rounding)
        if value > self.best:
            self.best, self.policy = value, policy
        return value

    def _response_payoffs(self, policy: Floats) -> Floats:
        """Payoff to the opponent of each of its sequences against a policy."""
        return np.asarray(-(self.payoffs.T @ self.form.realisation(policy)))

    def ascend(self, policy: Floats) -> float:
        """Improve a policy by sequential linear programs; give what it secures in the end.

        1. A program with linearised products finds the best policy within a step of this one.
        2. Move there if a best response confirms that it secures more.
        3. Take smaller steps where that is much less than the program promised, else larger ones.
        """
        policy = self.normalised(policy)
        value = self.secured(policy)
        step = LONGEST
        for _ in range(STEPS):
            if step < SHORTEST or self.deadline.is_over:
                break
            optimum = self._linearised(policy, step)
            if optimum is None:
                step /= 4.0
                continue
            promised = optimum.value - value
            if promised < LEAST_GAIN:
                break
            candidate = self.normalised(optimum.rows)
            responses_before = self.responses_added
            gained = self.secured(candidate) - value
            if gained > 0.0:
                policy, value = candidate, value + gained
            if self.responses_added > responses_before and gained < promised / 2.0:
                continue  # the program did not know that response
            if gained <= 0.0 and optimum.value <= self.best + TARGET:
                break  # it is another local maximum, and no better one
            step = next_step(step, gained, promised)
        return value

    def _linearised(self, policy: Floats, step: float) -> Optimum | None:
        """Maximise over policies within a step of one, r(sa) = r(s) x(I, a) linearised there."""
        weights = self.form.realisation(policy)[self.before]
        chances = policy.ravel()[self.cell]
        every_step, ones = np.arange(len(chances)), np.ones(len(chances))
        coupling = self._coupling(every_step, ones, -chances, -weights)
        legal = self.own[:, None] & self.tree.legal
        near = Box(np.clip(policy - step, 0.0, legal), np.clip(policy + step, 0.0, legal))
        no_weight = np.zeros(self.sizes[0])
        coupled = Coupled(near, no_weight, no_weight + 1.0, coupling, -weights * chances)
        return self._program(coupled, is_equal=True)

    def bounded(self, box: Box) -> Bounded | None:
        """Bound what policies of a box secure; None if the program fails or is not done in time.

        1. Solve the relaxation, again with the opponent's response to it as long as that gains.
        2. Maximise the Lagrangian of the program's multipliers over the box.
        """
        relaxation, after = self._mccormick(box)
        optimum = self._program(relaxation)
        for _ in range(RESPONSES):
            if optimum is None or not self._grows(optimum):
                break
            optimum = self._program(relaxation) or optimum
        if optimum is None:
            return None
        bound, slopes = self._lagrangian_maximum(relaxation, optimum)
        policy = self.normalised(played(self.form, optimum.weights))
        # At true products an inequality has slack; times its multiplier, that raised the bound.
        point = np.append(self.form.realisation(policy), policy)
        slack = np.maximum(relaxation.sides - relaxation.coupling @ point, 0.0)
        gaps = np.bincount(after, optimum.coupled * slack, self.sizes[0]).astype(np.float64)
        return Bounded(bound, slopes, policy, gaps)

    def _lagrangian_maximum(self, relaxation: Coupled, optimum: Optimum) -> tuple[float, Floats]:
        """Maximise the Lagrangian over a box; give the maximum, rounded up, and slopes, (R, K).

        It is linear, so each weight and probability is at the end that its slope's sign says.
        """
        box, least, most, coupling, sides = relaxation
        sequences, cells = self.sizes
        coupled, equal = optimum.coupled, optimum.equal
        slopes = np.append(self.payoffs @ optimum.opponent, np.zeros(cells))
        slopes -= coupling.T @ coupled
        slopes -= self.equations.T @ equal
        lower, upper = np.append(least, box.lower), np.append(most, box.upper)
        bound = np.where(slopes > 0.0, upper, lower) @ slopes
        bound += coupled @ sides + equal @ self.equation_sides
        # The same sums of sizes, which rounding errors are a share of.
        sizes = np.append(abs(self.payoffs) @ optimum.opponent, np.zeros(cells))
        sizes += abs(coupling).T @ coupled + abs(self.equations).T @ abs(equal)
        size = sizes @ upper + coupled @ abs(sides) + abs(equal) @ self.equation_sides
        return float(bound + self.rounding * size), slopes[sequences:].reshape(box.lower.shape)

    def _mccormick(self, box: Box) -> tuple[Coupled, Ints]:
        """Give McCormick's inequalities, and the sequence after the step that each is of, (n,)."""
        least_weight, most_weight = self._products(box)
        lower, upper = box.lower.ravel(), box.upper.ravel()
        shared = np.flatnonzero(self.is_shared)
        low, high = lower[self.cell[shared]], upper[self.cell[shared]]
        least, most = (ends[self.before[shared]] for ends in (least_weight, most_weight))
        ones = np.ones(len(low))
        parts = [
            self._coupling(shared, -ones, low, least),  # (r - L)(x - l) >= 0
            self._coupling(shared, -ones, high, most),  # (U - r)(u - x) >= 0
            self._coupling(shared, ones, -high, -least),  # (r - L)(u - x) >= 0
            self._coupling(shared, ones, -low, -most),  # (U - r)(x - l) >= 0
        ]
        sides = [least * low, most * high, -least * high, -most * low]
        after = [self.after[shared]] * 4
        # A row of one past needs no x: l r(s) <= r(sa) <= u r(s), where that says something.
        for sign, ends, trivial_end in ((-1.0, lower, 0.0), (1.0, upper, 1.0)):
            cut = np.flatnonzero(~self.is_shared & (ends[self.cell] != trivial_end))
            zeros = np.zeros(len(cut))
            parts.append(self._coupling(cut, zeros + sign, -sign * ends[self.cell[cut]], zeros))
            sides.append(zeros)
            after.append(self.after[cut])
        coupling = csr_array(vstack(parts))
        relaxation = Coupled(box, least_weight, most_weight, coupling, np.concatenate(sides))
        return relaxation, np.concatenate(after)

    def _grows(self, optimum: Optimum) -> bool:
        """Take the response to a program's plan into the opponent's part, if it gains there."""
        side = self.opponent
        if side.whole is not None and side.kept is None:
            return False  # all mixtures are in the program
        payoffs, value = -(self.payoffs.T @ optimum.weights), -optimum.value  # to the opponent
        answer = side.best(payoffs, value, Deadline(0.0), deadline=self.deadline)
        if answer.payoff <= LEAST_GAIN + value or not side.add(answer, self.deadline):
            return False
        self.responses_added += 1
        return True

    def _products(self, box: Box) -> tuple[Floats, Floats]:
        """Least and most weight of each sequence in a box, (S,) each, rounded outward."""
        margin = 2.0 * len(self.tree.levels) * np.finfo(float).eps
        least, most = self.form.realisation(box.lower), self.form.realisation(box.upper)
        return least * (1.0 - margin), np.minimum(most * (1.0 + margin), 1.0)

    def narrowed(self, box: Box, bounded: Bounded) -> Box | None:
        """Leave out policies that secure no more than the best; None if no other is left.

        At `width` from its better end a probability loses all by which the bound exceeds the best.
        """
        slopes = bounded.slopes
        slack = (bounded.bound - self.best) * (1.0 + 1e-9)
        width = np.where(slopes == 0.0, np.inf, slack / np.maximum(abs(slopes), 1e-300))
        lower = np.where(slopes > 0.0, box.upper - width, box.lower)
        upper = np.where(slopes < 0.0, box.lower + width, box.upper)
        lower, upper = np.maximum(lower, box.lower), np.minimum(upper, box.upper)
        # Rows sum to 1: each probability is what the others leave.
        least_left = 1.0 - upper.sum(axis=1, keepdims=True) + upper
        most_left = 1.0 - lower.sum(axis=1, keepdims=True) + lower
        error = 4.0 * np.finfo(float).eps * lower.shape[1]
        own = self.own[:, None]
        lower = np.where(own, np.maximum(lower, least_left - error), box.lower)
        upper = np.where(own, np.minimum(upper, most_left + error), box.upper)
        return None if (lower > upper).any() else Box(lower, upper)

    def solve(self, starts: Iterable[Floats], ceiling: float) -> Solved:
        """Search until bounds meet or the time is over; `ceiling` is a bound that is known.

        Branch and bound, the box of the largest bound first. `starts` are policies, (R, K).
        """
        self.secured(self.tree.uniform())
        for start in starts:
            if not self.deadline.is_over:
                self.secured(self.normalised(start))
        if self.best + TARGET < ceiling and not self.deadline.is_over:
            self.ascend(self.policy)
        legal = (self.tree.legal & self.own[:, None]).astype(float)
        root = Box(np.zeros_like(legal), legal)
        waiting: list[tuple[float, int, Box]] = [(-ceiling, 0, root)]  # the bound negated
        closed_bound = -np.inf  # of boxes that are not split
        number = boxes = 0
        while waiting and -waiting[0][0] > self.best + TARGET and not self.deadline.is_over:
            negated_bound, _, box = heappop(waiting)
            boxes += 1
            bound, halves = self._bound_and_halve(box, -negated_bound, boxes)
            if not halves:
                closed_bound = max(closed_bound, bound)
            for half in halves:
                number += 1
                heappush(waiting, (-bound, number, half))
        open_bound = -waiting[0][0] if waiting else -np.inf
        bound = max(self.best, closed_bound, open_bound)
        return Solved(self.policy, self.best, bound, boxes, self.programs)

    def _bound_and_halve(self, box: Box, bound: float, boxes: int) -> tuple[float, list[Box]]:
        """Bound, narrow and halve a box, the number `boxes`; there are no halves if it is closed.

        It is bounded again while that makes it much smaller. Policies are sought from its plan, at
        the boxes 1, 2, 4, 8, ... even if that secures less than the best.
        """
        is_power_of_two = boxes.bit_count() == 1
        for _ in range(ROUNDS):
            bounded = self.bounded(box)
            if bounded is None:
                break
            bound = min(bound, bounded.bound)
            best_before = self.best
            if self.secured(bounded.policy) > best_before or is_power_of_two:
                self.ascend(bounded.policy)
            narrower = self.narrowed(box, bounded)
            if narrower is None:
                return -np.inf, []
            if bound <= self.best + TARGET:
                return bound, []
            shrinking = (box.upper - box.lower) - (narrower.upper - narrower.lower)
            box = narrower
            if shrinking.max(initial=0.0) < AGAIN:
                break
        if is_power_of_two:
            self.ascend(self.random.exponential(size=self.tree.legal.shape))
        return bound, self._halves(box, bounded)

    def _halves(self, box: Box, bounded: Bounded | None) -> list[Box]:
        """Split a box, near its policy, at the cell whose products raise the bound most.

        At the longest side if nothing is known of that; there are no halves if the box is thin.
        """
        sides = (box.upper - box.lower).ravel()
        scores = np.where(sides > THIN, sides, 0.0)  # (R * K,)
        middle = (box.lower + box.upper) / 2.0
        if bounded is not None:
            middle = bounded.policy
            gap_scores = scores * self._sum_by_cell(bounded.relaxation_gaps)
            if gap_scores.any():
                scores = gap_scores
        cell = int(scores.argmax())
        if scores[cell] <= 0.0:
            return []
        low, high = box.lower.ravel()[cell], box.upper.ravel()[cell]
        edge = EDGE * (high - low)
        cut = min(max(float(middle.ravel()[cell]), low + edge), high - edge)
        lower, upper = box.lower.copy(), box.upper.copy()
        lower.ravel()[cell] = upper.ravel()[cell] = cut
        return [Box(box.lower, upper), Box(lower, box.upper)]

    def _coupling(
        self, steps: Ints, after_terms: Floats, before_terms: Floats, cell_terms: Floats
    ) -> csr_array:
        """Make a line for each of some steps, of coefficients of r(sa), r(s) and x(I, a), (n,)."""
        after, before, cell = self.after[steps], self.before[steps], self.cell[steps]
        columns = np.concatenate([after, before, self.sizes[0] + cell])
        lines = np.tile(np.arange(len(after)), 3)
        terms = np.concatenate([after_terms, before_terms, cell_terms])
        return csr_array((terms, (lines, columns)), (len(after), sum(self.sizes)))

    def _program(self, constraints: Coupled, *, is_equal: bool = False) -> Optimum | None:
        """Maximise what weights r and rows x secure; None if that fails or is not done in time.

        Other variables are the opponent's values at decisions of its belief DAG, the dual's.
        """
        box, least, most, coupling, sides = constraints
        dag, time_left = self.opponent.dag, self.deadline.left
        if time_left <= 0.0:
            return None
        if dag is not self._program_dag:
            self._program_dag = dag
            choice_payoffs = (self.payoffs @ dag.sequences).T
            self._choice_losses = csr_array(-choice_payoffs)[dag.allowed]
            self._duals = csr_array(dag.equations().T)[dag.allowed]
        sequences, cells = self.sizes
        choices, values = self._duals.shape
        responses = hstack([self._choice_losses, csr_array((choices, cells)), self._duals])
        coupled = hstack([coupling, csr_array((coupling.shape[0], values))])
        equations = hstack([self.equations, csr_array((self.equations.shape[0], values))])
        at_most, at_most_sides = responses, np.zeros(choices)
        equal, equal_sides = equations, self.equation_sides
        if is_equal:
            equal, equal_sides = vstack([coupled, equal]), np.append(sides, equal_sides)
        else:
            at_most, at_most_sides = vstack([at_most, coupled]), np.append(at_most_sides, sides)
        goal = np.zeros(sequences + cells + values)
        goal[sequences + cells] = -FINE  # the value at the root
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
        self.programs += 1
        if answer.status != SOLVED:
            return None
        multipliers = np.maximum(-answer.ineqlin.marginals, 0.0) / FINE
        opponent_choices = np.zeros(len(dag.allowed))
        opponent_choices[dag.allowed] = multipliers[:choices]
        prices = -answer.eqlin.marginals / FINE
        optimum = Optimum(
            weights=answer.x[:sequences],
            rows=answer.x[sequences : sequences + cells].reshape(box.lower.shape),
            value=-answer.fun / FINE,
            opponent=Mixed.of(dag, opponent_choices).plan,
            coupled=multipliers[choices:],
            equal=prices[-len(self.equation_sides) :],
        )
        return optimum if all(np.isfinite(part).all() for part in optimum) else None


def next_step(step: float, gained: float, promised: float) -> float:
    """Size of a trust region after a step that gained so much of what a program promised."""
    if gained <= 0.0:
        return step / 4.0
    if gained < promised / 10.0:
        return step / 2.0
    return min(2.0 * step, 1.0) if gained > 0.7 * promised else step
