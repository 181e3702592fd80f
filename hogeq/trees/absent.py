"""Decisions of a player who may meet an information set again: absent-mindedness.

With the others' rows fixed, the payoff to a policy x is a polynomial: a sum over sequences s of
payoff(s) times the product of x(I, a) over the steps of s. A row that is met m times has degree m,
and no pure policy need be best (Piccione and Rubinstein, GEB 20, 1997). The derivative by x(I, a)
is a sum over the pasts of I: reach times what follows a.

**Search.** Regret matching+ on the derivatives from several starts; then rows one at a time, along
lines to the ends of the simplex: the payoff is a polynomial in one number there, and the best is
among the roots of its derivative.

**Bound.** Rows met again lie in boxes; others, in which the payoff is linear, have some of their
actions. Two bounds hold over a box: (a) a player who remembers the own past (the coarsest
refinement with perfect recall) and acts within the box at each past; (b) the same at one point of
the box, plus the most that intervals of the derivative allow. ``docs/absent-mindedness.md`` has the
proofs. Branch and bound halves boxes, and sets of actions; its steps are the proof of the bound.
Boxes and bounds are rounded outward.
"""

from heapq import heappop, heappush
from typing import Final, NamedTuple

import numpy as np
from numpy.polynomial import Chebyshev
from scipy.sparse import csr_array

from hogeq.kernels import box_passes
from hogeq.search.results import PROVED
from hogeq.strategies.arrays import one_hot
from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.support.floats import UNIT_ROUNDOFF
from hogeq.trees.flat import TERMINAL, FlatTree, reach
from hogeq.trees.rows import require_cells
from hogeq.trees.sequences import SequenceForm, sequence_form

STARTS: Final = 12  # policies, one of them uniform, that regret matching starts from
ROUNDS: Final = 500  # of regret matching
SWEEPS: Final = 200  # most sweeps over the rows in one ascent
DEGREE: Final = 64  # largest degree of an interpolated polynomial
ENTRIES: Final = 1_000_000  # most numbers in an array over several policies
LINE_ENTRIES: Final = 2**24  # the same in a line search: their payoffs after all pasts
LEAVES: Final = 2**26  # most numbers in the boxes that wait to be split
THIN: Final = 1e-12  # width of a box that is not split
LEAST_GAIN: Final = 1e-14  # of a line search, as a share of the stakes: rounding gains less
WORTH_ASCENDING: Final = 1e-12  # the same, by which a policy in a box must improve on the best
ENDING_SHARE: Final = 1.0 / 32.0  # of the largest gap that counts as proved: the search ends there


class Step(NamedTuple):
    """A split of a leaf into two; new leaves are numbered in turn, after the root, which is 0."""

    leaf: int  # number of the leaf that is split
    row: int
    # Whose probability is cut; -1 splits the row's actions into a first and second half.
    action: int
    cut: float  # largest probability in the first leaf and smallest in the second; 0 without one


class Leaf(NamedTuple):
    """A box of rows, (R, K), that is not split yet."""

    number: int
    bound: float  # upper bound on the payoff in the box that it is a half of
    lower: Floats
    upper: Floats


WaitingLeaf = tuple[float, int, int, Leaf]
"""Negated bound of a leaf, its number, the row to split, and the leaf itself."""


class Solved(NamedTuple):
    """A policy, its payoff, and an upper bound on that of every policy, proved by steps."""

    policy: Floats  # (R, K)
    value: float
    bound: float
    steps: list[Step]


class _Gaps(NamedTuple):
    kkt: float  # CDT: largest gain of moving to an action of one row, by the derivative, in float64
    edt: tuple[float, float]  # EDT: bounds on the largest gain of changing one row
    ex_ante: tuple[float, float]  # bounds on the largest gain of another policy


class Gaps(_Gaps):
    """What a policy falls short by in three solution concepts; each implies the one before.

    Tewolde et al., IJCAI 2023, of one player; IJCAI 2024, of players against each other.
    """

    cdt: tuple[float, float] = (0.0, 0.0)
    """Lower and upper bound on `kkt`."""


class Decision:
    """The payoff of a player as a polynomial in its rows, and passes over S policies, (R, K, S).

    A *past* is a refined information set: a row and the own actions that led to it. There are J.
    """

    def __init__(self, form: SequenceForm, payoffs: Floats, unit: float = 1.0) -> None:
        """Lay out the payoffs of a form's sequences, (S,), as a polynomial in the player's rows.

        A sequence is the own actions so far, a past an information set (row) after one of them. The
        polynomial is the sum over sequences of payoff times the product of the probabilities of its
        actions; a row that a play meets again has a power. `payoffs` are against fixed others;
        `unit` is that of the stakes, the most that players can expect.

        Arrays for passes over the pasts come first, then the largest sums of payoffs, by which
        rounding errors are bounded.
        """
        self.form = form
        self.unit = unit  # differences of payoffs are compared with shares of it
        self.legal = form.tree.legal  # (R, K)
        num_pasts = form.num_refined
        num_rows, num_actions = self.legal.shape
        require_cells(form.tree.name, "ways to come to information sets", num_pasts, num_actions)
        # Passes give every past K sequences: 1 + j * K + a takes action a at past j; 0 is empty.
        padded = 1 + form.refined_of_sequence * num_actions + form.action_of_sequence  # (S,)
        padded[0] = 0
        self.parent_sequence = padded[form.parent_sequence]  # (J,), of each past
        self.payoffs = np.zeros(1 + num_pasts * num_actions)  # by sequence, times others' reach
        self.payoffs[padded] = payoffs
        self.policy_entries = max(len(self.payoffs), self.legal.size)  # of the arrays of a policy
        self.row_of_past = np.ascontiguousarray(form.row_of_refined)  # (J,), for compiled passes
        self.own_rows = np.unique(form.row_of_refined)
        self.visits: Ints = np.zeros(num_rows, np.int64)  # most visits of a play to each row
        np.maximum.at(self.visits, form.row_of_refined, form.visits)
        self.repeatable_rows = np.flatnonzero(self.visits > 1)  # rows that a play can meet again
        # (R, J), 1 at the pasts of each row.
        ones = np.ones(num_pasts)
        past = np.arange(num_pasts)
        self.pasts_of_rows = csr_array((ones, (form.row_of_refined, past)), (num_rows, num_pasts))
        # Each payoff with its size: the largest sum bounds every play's, whatever the signs.
        sizes = form.perfect_recall_values(np.abs(payoffs))[0]
        self.largest_payoff = float(sizes[0])
        # (J,), the same from each past on.
        self.largest_payoff_after = np.maximum.reduceat(sizes[1:], form.sequence_offsets[:-1] - 1)

    @classmethod
    def of(cls, tree: FlatTree, policy: Floats, player: int = 0) -> "Decision":
        """Make the decision of a player against a policy, (R, K), in the game's own payoffs."""
        form = sequence_form(tree, player)
        ends = tree.player == TERMINAL
        own_payoff = tree.shift + (tree.payoff + tree.centre) * (1.0 - 2.0 * player)
        weighed = np.where(tree.is_possible, reach(tree, policy, player) * own_payoff, 0.0)[ends]
        payoffs = np.bincount(form.sequence_of_node[ends], weighed, form.num_sequences)
        return cls(form, payoffs.astype(np.float64), tree.scale)

    def _expected_payoffs(self, policies: Floats) -> tuple[Floats, Floats]:
        """Compute the expected payoff of policies, (S,), and after every action, (J, K, S)."""
        payoffs = np.repeat(self.payoffs[:, None], policies.shape[2], axis=1)
        box_passes.value_policies(self.parent_sequence, self.row_of_past, policies, payoffs)
        return payoffs[0], payoffs[1:].reshape(-1, *policies.shape[1:])

    def _largest_payoffs(
        self, lower: Floats, upper: Floats, sign: int = 1
    ) -> tuple[Floats, Floats]:
        """Compute the largest payoff in boxes, (S,), and after every action, (J, K, S).

        The pasts of a row may act apart, each within the row's box. With sign -1 it is the least.
        """
        payoffs = np.repeat(sign * self.payoffs[:, None], lower.shape[2], axis=1)
        box_passes.value_boxes(self.parent_sequence, self.row_of_past, lower, upper, payoffs)
        return sign * payoffs[0], sign * payoffs[1:].reshape(-1, *lower.shape[1:])

    def _reach_pasts(self, policies: Floats) -> Floats:
        """Compute the probability that the own actions lead to every past, (J, 1, S)."""
        reach = np.empty((len(self.payoffs), policies.shape[2]))
        box_passes.reach_sequences(self.parent_sequence, self.row_of_past, policies, reach)
        return reach[self.parent_sequence, None]

    def _sum_over_pasts(self, by_past: Floats) -> Floats:
        """Sum numbers by past, (J, ...), over the pasts of each row, (R, ...)."""
        flat = self.pasts_of_rows @ by_past.reshape(len(by_past), -1)
        return np.asarray(flat).reshape(-1, *by_past.shape[1:])

    def values(self, policies: Floats) -> tuple[Floats, Floats, Floats]:
        """Compute payoffs, (S,), derivatives, (R, K, S), and KKT gaps of rows, (R, S).

        Of S policies, (R, K, S), at once; a row is an information set. The gap of a row is the
        largest derivative by one of its actions less the policy's mean.
        """
        payoffs, after = self._expected_payoffs(policies)
        slopes = self._sum_over_pasts(self._reach_pasts(policies) * after)
        best = np.where(self.legal[..., None], slopes, -np.inf).max(axis=1)
        return payoffs, slopes, best - (policies * slopes).sum(axis=1)

    def value(self, policy: Floats) -> float:
        """Compute the payoff of a policy, (R, K)."""
        return float(self._expected_payoffs(policy[..., None])[0][0])

    def _line_search(self, policy: Floats, row: int) -> Floats:
        """Find the best policy, (R, K), on the lines from a row's distribution to its pure actions.

        On a line the payoff is a polynomial whose degree is the row's visits. It is interpolated at
        Chebyshev nodes, and the roots of its derivative are tried. Of many actions those of the
        largest derivatives have lines.
        """
        actions = np.flatnonzero(self.legal[row])
        num_nodes = min(int(self.visits[row]), DEGREE) + 1
        policies_of_line = max(num_nodes, 3)
        most_in_table = ENTRIES // (4 * policy.size)
        most_in_passes = LINE_ENTRIES // (policies_of_line * self.policy_entries)
        most_lines = max(2, min(most_in_table, most_in_passes))
        if len(actions) > most_lines:
            slopes = self.values(policy[..., None])[1][row, actions, 0]
            actions = actions[np.argsort(-slopes, kind="stable")[:most_lines]]
        nodes = (1.0 - np.cos(np.pi * (np.arange(num_nodes) + 0.5) / num_nodes)) / 2.0
        policies = _on_lines(policy, row, actions, np.tile(nodes, (len(actions), 1)))
        at_nodes = self._expected_payoffs(policies)[0]
        # Three candidates a line: stay, the best root of the derivative, and the pure action.
        shares = np.tile([0.0, 0.0, 1.0], (len(actions), 1))
        for line, payoffs in enumerate(at_nodes.reshape(len(actions), num_nodes)):
            curve = Chebyshev.fit(nodes, payoffs, num_nodes - 1, domain=[0.0, 1.0])
            roots = np.clip(np.append(np.real(curve.deriv().roots()), 0.0), 0.0, 1.0)
            shares[line, 1] = roots[curve(roots).argmax()]
        candidates = _on_lines(policy, row, actions, shares)
        return np.asarray(candidates[..., self._expected_payoffs(candidates)[0].argmax()])

    def ascend(self, policy: Floats, rows: Ints, deadline: Deadline = FOREVER) -> Floats:
        """Improve rows of a policy, (R, K), one at a time until none gains or the time is over.

        Coordinate ascent by line searches. A row that a play visits more than once has a polynomial
        payoff; else it is linear, and the derivative says whether it can gain (`gaps`).
        """
        least_gain = LEAST_GAIN * self.unit
        for _ in range(SWEEPS):
            value, _, gaps = self.values(policy[..., None])
            # A payoff that is not linear in a row may rise further off, whatever the derivative.
            can_improve = (gaps[rows, 0] > least_gain) | (self.visits[rows] > 1)
            for row in rows[can_improve].tolist():
                if deadline.is_over:
                    return policy
                candidate = self._line_search(policy, row)
                if self.value(candidate) > self.value(policy) + least_gain:
                    policy = candidate
            if self.value(policy) <= value[0] + least_gain:
                break
        return policy

    def search(self, rows: Ints, start: Floats, deadline: Deadline) -> Floats:
        """Find a good policy, (R, K), that differs from a start in the given rows alone.

        1. Regret matching+ on the derivatives, from the uniform policy and random ones at once.
        2. Ascents from the best policy so far and from the three best of the last round.
        """
        random = np.random.default_rng(0)
        legal = self.legal[..., None]
        num_starts = min(STARTS, max(1, ENTRIES // self.policy_entries))
        if not deadline.allows(num_starts * self.policy_entries):
            return start
        weights = random.exponential(size=(*start.shape, num_starts)) * legal
        weights[..., 0] = self.legal  # the first policy is uniform
        policies = np.repeat(start[..., None], num_starts, axis=2)  # (R, K, num_starts)
        policies[rows] = (weights / weights.sum(axis=1, keepdims=True))[rows]
        regrets = np.zeros_like(policies)
        best = start
        for _ in range(ROUNDS):
            values, slopes, _ = self.values(policies)
            if values.max() > self.value(best):
                best = policies[..., values.argmax()].copy()
            if deadline.is_over:
                return best
            gains = slopes - (policies * slopes).sum(axis=1, keepdims=True)
            regrets = np.maximum(regrets + gains * legal, 0.0)
            total = regrets.sum(axis=1, keepdims=True)
            # A row without regrets stays as it is.
            matched = np.where(total > 0.0, regrets / np.where(total > 0.0, total, 1.0), policies)
            policies[rows] = matched[rows]
        ascent_starts = [best, *(policies[..., number] for number in np.argsort(-values)[:3])]
        return max((self.ascend(begin, rows, deadline) for begin in ascent_starts), key=self.value)

    def bound_boxes(self, lower: Floats, upper: Floats) -> tuple[Floats, Floats, Floats]:
        """Bound the payoff over S boxes of rows, (R, K, S), by the lower of two bounds.

        A box has a lower and an upper end for each probability; a past is a row (information set)
        and the own actions before it.

        (a) The payoff of a player with perfect recall, who may act differently at the pasts of a
        row, but within the box. (b) The same with rows that can be met again at the centre of the
        box, plus the most that moving them from there can gain, by intervals of the derivatives.

        Returns upper bounds, (S,); scores of rows, (R, S), by how much each loosens the bounds; and
        the middles of the intervals of derivatives, (R, K, S).
        """
        memory_bound, high = self._largest_payoffs(lower, upper)  # (a); payoffs after actions
        low = self._largest_payoffs(lower, upper, -1)[1]
        least_reach = self._reach_pasts(lower)
        most_reach = self._reach_pasts(upper)
        centre = middle_policies(lower, upper)
        # First part of the score: the gain in (a) as the pasts of a row may act differently.
        apart = most_reach[:, 0] * _most_in_boxes(high, lower, upper, self.row_of_past)
        joint = self._sum_over_pasts(most_reach * high)
        together = _most_in_boxes(joint, lower, upper, np.arange(len(lower)))
        score = np.maximum(self._sum_over_pasts(apart) - together, 0.0)
        # Two distributions differ by numbers of sum 0: what all actions of a past share cancels.
        level = ((high + low) / 2.0 * centre[self.row_of_past]).sum(axis=1, keepdims=True)
        high -= level
        low -= level
        # Interval of each derivative in the box: a payoff takes the reach that makes it extreme.
        top = self._sum_over_pasts(np.where(high > 0.0, most_reach, least_reach) * high)
        bottom = self._sum_over_pasts(np.where(low > 0.0, least_reach, most_reach) * low)
        middle = (top + bottom) / 2.0
        radius = (top - bottom) / 2.0
        # Second part of the score: the uncertainty of the derivatives times the widths of the box.
        score = score + ((upper - lower) * radius).sum(axis=1)
        centre_bound = self._bound_from_centre(lower, upper, centre, middle, radius)  # (b)
        bound = np.minimum(memory_bound, centre_bound)
        return bound + self._margin(most_reach), score, middle

    def _bound_from_centre(
        self, lower: Floats, upper: Floats, centre: Floats, middle: Floats, radius: Floats
    ) -> Floats:
        """Bound the payoff over boxes, (S,), by that at the centre of rows that are met again.

        To it comes the most that moving these rows from there can add: the derivative by each
        probability is in `middle` -+ `radius`. All arguments are (R, K, S).
        """
        again = self.repeatable_rows
        pinned_lower = lower.copy()
        pinned_upper = upper.copy()
        pinned_lower[again] = centre[again]
        pinned_upper[again] = centre[again]
        at_centre = self._largest_payoffs(pinned_lower, pinned_upper)[0]
        gain = _most_in_boxes(middle[again], lower, upper, again)
        gain -= (middle * centre)[again].sum(axis=1)
        slack = (np.maximum(upper - centre, centre - lower) * radius)[again].sum(axis=(0, 1))
        return np.asarray(at_centre + gain.sum(axis=0) + slack)

    def _margin(self, most_reach: Floats) -> Floats:
        """Bound the rounding errors of the bounds of boxes, (S,), by the largest reach, (J, 1, S).

        n roundings of sums of a size move them by n units of roundoff to first order (gamma_n of
        Higham); the factor 2 covers the rest. ``docs/absent-mindedness.md`` counts them.
        """
        num_pasts = len(self.largest_payoff_after)
        num_actions = self.legal.shape[1]
        num_levels = len(self.form.refined_by_depth) + 1
        roundings = num_levels * (4 * num_actions + 8) + 2 * num_pasts + 16
        reached_payoffs = self.largest_payoff_after @ most_reach[:, 0]
        sums = self.largest_payoff + (num_actions + 3.0) * reached_payoffs
        return np.asarray(2.0 * UNIT_ROUNDOFF * roundings * sums)

    @property
    def largest_margin(self) -> float:
        """Bound on the rounding errors of the bound of any box."""
        return float(self._margin(np.ones((self.form.num_refined, 1, 1)))[0])

    def solve(
        self,
        limit: float | Deadline,
        start: Floats | None = None,
        rows: Ints | None = None,
        enough: float = np.inf,
    ) -> Solved:
        """Maximise the payoff over some rows by branch and bound; the bound is proved.

        1. Search for a good policy.
        2. Bound each new box, and try a policy in it.
        3. Split the boxes of the highest bounds, and go to 2 until value and bound meet.

        `rows` are by default all; others stay as in `start`, (R, K), by default uniform. A value
        above `enough` ends it; so does, if that is finite, a bound below it.
        """
        deadline = Deadline.of(limit)
        rows = self.own_rows if rows is None else rows
        start = self.form.tree.uniform() if start is None else start
        policy = self.search(rows, start, deadline.share(1.0 / 3.0))
        value = self.value(policy)
        lower = start.copy()
        upper = start.copy()
        lower[rows] = 0.0
        upper[rows] = self.legal[rows]
        leaves = [Leaf(0, np.inf, *tighten(lower, upper))]  # new ones, to be bounded together
        waiting: list[WaitingLeaf] = []  # a heap
        steps: list[Step] = []
        closed_bound = -np.inf  # highest bound of a leaf that is not split
        once = np.setdiff1d(rows, self.repeatable_rows)
        # A row of one past that is met once needs no split: its bounds are exact.
        inexact = np.intersect1d(np.union1d(self.repeatable_rows, self.form.shared_rows), rows)
        least = ENDING_SHARE * PROVED * self.unit + self.largest_margin
        while True:
            lower = np.stack([leaf.lower for leaf in leaves], axis=2)
            upper = np.stack([leaf.upper for leaf in leaves], axis=2)
            bounds, scores, slopes = self.bound_boxes(lower, upper)
            candidates = _policies_in_boxes(lower, upper, slopes, once)
            values = self._expected_payoffs(candidates)[0]
            if values.max() > value + WORTH_ASCENDING * self.unit:
                policy = self.ascend(candidates[..., values.argmax()], rows, deadline)
                value = self.value(policy)
            for leaf, own_bound, score in zip(leaves, bounds, scores.T, strict=True):
                bound = min(own_bound, leaf.bound)
                row = _row_to_split(leaf, inexact, score)
                if row is None:
                    closed_bound = max(closed_bound, bound)
                else:
                    heappush(waiting, (-bound, leaf.number, row, leaf))
            target = value + 2.0 * least if enough == np.inf else enough + least
            open_bound = -waiting[0][0] if waiting else -np.inf
            is_over = deadline.is_over or len(waiting) * start.size > LEAVES
            if open_bound <= target or value > enough or is_over:
                return Solved(policy, value, float(max(value, closed_bound, open_bound)), steps)
            leaves = self._split_highest(waiting, target, steps)

    def _split_highest(
        self, waiting: list[WaitingLeaf], target: float, steps: list[Step]
    ) -> list[Leaf]:
        """Split the waiting leaves of the highest bounds above a target; return their halves.

        The splits are appended to `steps`. As many leaves are split as arrays have room for.
        """
        most_leaves = ENTRIES // (8 * self.policy_entries)  # at a time, and one more
        leaves: list[Leaf] = []
        while waiting and -waiting[0][0] > target and len(leaves) <= most_leaves:
            negated_bound, _, row, leaf = heappop(waiting)
            step, (first, second) = self._split(leaf, row)
            number = 1 + 2 * len(steps)  # the root is leaf 0, and each step makes two leaves
            steps.append(step)
            leaves.append(Leaf(number, -negated_bound, *first))
            leaves.append(Leaf(number + 1, -negated_bound, *second))
        return leaves

    def _split(self, leaf: Leaf, row: int) -> tuple[Step, list[tuple[Floats, Floats]]]:
        """Split a box of policies in one row: return the step, and the ends of both halves.

        Where the row can be met again, its longest side is halved. Else the payoff is linear in it,
        pure actions suffice, and the actions that are left are parted.
        """
        if self.visits[row] <= 1:
            return Step(leaf.number, row, action=-1, cut=0.0), _part_actions(leaf, row)
        lower = leaf.lower
        upper = leaf.upper
        action = int((upper[row] - lower[row]).argmax())
        cut = float(upper[row, action] + lower[row, action]) / 2.0
        first_upper = upper.copy()
        first_upper[row, action] = cut
        second_lower = lower.copy()
        second_lower[row, action] = cut
        halves = [tighten(lower, first_upper), tighten(second_lower, upper)]
        return Step(leaf.number, row, action, cut), halves

    def gaps(self, policy: Floats, limit: float | Deadline = 10.0, missed: float = 0.0) -> Gaps:
        """Measure how far a policy, (R, K), is from each solution concept.

        `missed` is the most by which the payoffs are off for any policy; bounds are rounded outward
        by it. A row that there is no time for gains no more than all rows together.
        """
        deadline = Deadline.of(limit)
        if not len(self.own_rows):  # there is nothing to decide
            return Gaps(0.0, (0.0, 0.0), (0.0, 0.0))
        (value,), _, gaps = self.values(policy[..., None])
        margin = 2.0 * (self.largest_margin + missed)
        once = np.setdiff1d(self.own_rows, self.repeatable_rows)
        # The payoff is linear in a row that is met once: its KKT gap is the gain of changing it.
        edt = [(0.0, 0.0), *((gap - margin, gap + margin) for gap in gaps[once, 0].tolist())]
        num_solved = 0
        for row in self.repeatable_rows:
            if num_solved and deadline.is_over:
                break
            row_limit = deadline.share(1.0 / (1 + len(self.repeatable_rows) - num_solved))
            solved = self.solve(row_limit, policy, np.array([row]))
            edt.append((solved.value - value - margin, solved.bound - value + margin))
            num_solved += 1
        best = self.solve(deadline, policy)
        least = float(best.value - value - margin)
        most = float(best.bound - value + margin)
        if num_solved < len(self.repeatable_rows):
            edt.append((0.0, best.bound - value + margin))
        edt_least, edt_most = (float(max(ends)) for ends in zip(*edt, strict=True))
        ex_ante = max(least, edt_least), max(most, edt_most)  # another row is another policy
        kkt = float(gaps.max(initial=0.0))
        result = Gaps(kkt, (edt_least, edt_most), ex_ante)
        result.cdt = max(0.0, kkt - margin), kkt + margin
        return result


def _row_to_split(leaf: Leaf, rows: Ints, scores: Floats) -> int | None:
    """Choose the row of a leaf with the highest score, (R,), of some rows that are wide; or None.

    A row is wide if the interval of one of its probabilities is wider than `THIN`.
    """
    is_wide = (leaf.upper - leaf.lower)[rows].max(axis=1, initial=0.0) > THIN
    if not is_wide.any():
        return None
    return int(rows[np.where(is_wide, scores[rows], -np.inf).argmax()])


def _part_actions(leaf: Leaf, row: int) -> list[tuple[Floats, Floats]]:
    """Part the actions of a row that a box allows in two halves; return the ends of both boxes.

    A half of one action takes it with probability 1.
    """
    halves = []
    for actions in np.array_split(np.flatnonzero(leaf.upper[row] > 0.0), 2):
        lower = leaf.lower.copy()
        upper = leaf.upper.copy()
        upper[row] = 0.0
        upper[row, actions] = 1.0
        if len(actions) == 1:
            lower[row, actions] = 1.0
        halves.append((lower, upper))
    return halves


def _on_lines(policy: Floats, row: int, actions: Ints, shares: Floats) -> Floats:
    """Mix a row of a policy, (R, K), with m of its pure actions, (m,): policies (R, K, m * n).

    `shares`, (m, n), are those of each action, in n policies.
    """
    pure_rows = one_hot(actions, policy.shape[1])
    rows = (1.0 - shares[..., None]) * policy[row] + shares[..., None] * pure_rows[:, None]
    policies = np.repeat(policy[..., None], shares.size, axis=2)
    policies[row] = rows.reshape(-1, policy.shape[1]).T
    return policies


def _policies_in_boxes(lower: Floats, upper: Floats, slopes: Floats, once: Ints) -> Floats:
    """Choose a policy in each box by the derivatives, (R, K, S) each.

    It is the middle of the box; but rows `once`, which are met once, take their best action left.
    """
    policies = middle_policies(lower, upper)
    best = np.where(upper[once] > 0.0, slopes[once], -np.inf).argmax(axis=1)
    policies[once] = np.moveaxis(one_hot(best, policies.shape[1]), 2, 1)
    return policies


def _most_in_boxes(values: Floats, lower: Floats, upper: Floats, rows: Ints) -> Floats:
    """Compute the largest mean of values, (n, K, S), by a distribution in the box of a row; (n, S).

    The rows, (n,), are numbers of rows of the boxes, (R, K, S).
    """
    most = np.empty((len(rows), values.shape[2]))
    flat = np.ascontiguousarray(values).reshape(-1, values.shape[2])
    box_passes.most_in_boxes(rows, flat, lower, upper, most)
    return most


def middle_policies(lower: Floats, upper: Floats) -> Floats:
    """Return a distribution inside each box, (R, K, ...), by the ends of its probabilities.

    The same share of each side of the box is added to its lower end, so that the sum is 1.
    """
    widths = upper - lower
    missing = 1.0 - lower.sum(axis=1, keepdims=True)
    total = widths.sum(axis=1, keepdims=True)
    # A box of no width has one point, and no share to add.
    return np.asarray(lower + widths * missing / np.where(total > 0.0, total, 1.0))


def tighten(lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Shrink boxes, (R, K), to the smallest ones that have the same distributions of sum 1.

    An action has at least what the others' upper ends leave to it, and at most what their lower
    ends leave. The ends are rounded outward.
    """
    rounding = 2.0 * UNIT_ROUNDOFF * (lower.shape[1] + 4)  # sums of K ends up to 1, twice over
    least = np.maximum(lower, 1.0 - upper.sum(axis=1, keepdims=True) + upper - rounding)
    most = np.minimum(upper, 1.0 - lower.sum(axis=1, keepdims=True) + lower + rounding)
    return np.minimum(least, most), most
