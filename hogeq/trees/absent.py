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

from dataclasses import replace
from fractions import Fraction
from heapq import heappop, heappush
from typing import Final, NamedTuple

import numpy as np
from numpy.polynomial import Chebyshev
from scipy.sparse import csr_array

from hogeq.kernels import box_passes
from hogeq.search.results import PROVED, Equilibrium, Units
from hogeq.search.units import above, agreed, below
from hogeq.strategies.arrays import one_hot
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.trees.enclosures import ROUNDING, Payoffs, plan_of
from hogeq.trees.flat import TERMINAL, FlatTree, reach
from hogeq.trees.rows import require_cells
from hogeq.trees.sequences import INFLATING, SequenceForm, sequence_form
from hogeq.trees.shuffling import solving_form
from hogeq.trees.teams import side_names

STARTS: Final = 12
ROUNDS: Final = 500  # of regret matching
SWEEPS: Final = 200  # over the rows, of an ascent
DEGREE: Final = 64  # most of a polynomial on a line
ENTRIES: Final = 1_000_000  # of the arrays of a pass over several policies
LEAVES: Final = 2**26  # most numbers of the boxes that wait
THIN: Final = 1e-12  # box that is not halved
FINEST: Final = 1e-12  # unit of gaps, a share of what is lost at most


class Step(NamedTuple):
    """A split of a leaf; the leaves it makes are numbered on, after the root, 0."""

    leaf: int
    row: int
    action: int  # -1: the first half of the actions that the row has left, and the second
    cut: float  # else probabilities up to here, and from here on


class Leaf(NamedTuple):
    """A box of rows, (R, K), that is not split yet."""

    number: int
    bound: float  # on payoffs in the box that it is a part of
    lower: Floats
    upper: Floats


class Solved(NamedTuple):
    """A policy, its payoff, and a bound on that of every policy, proved by steps."""

    policy: Floats  # (R, K)
    value: float
    bound: float
    steps: list[Step]


class _Gaps(NamedTuple):
    kkt: float  # CDT: most that moving to an action of one row gains, in the digits that hold
    edt: tuple[float, float]  # EDT: most that another row gains, at least and at most
    ex_ante: tuple[float, float]  # most that another policy gains, at least and at most


class Gaps(_Gaps):
    """What a policy falls short by in three solution concepts; each implies the one before.

    Tewolde et al., IJCAI 2023, of one player; IJCAI 2024, of players against each other.
    """

    cdt: tuple[float, float] = (0.0, 0.0)
    """What `kkt`, which is by the derivative, is at least and at most."""


class Decision:
    """The payoff of a player as a polynomial in its rows, and passes over policies (R, K, S)."""

    def __init__(self, form: SequenceForm, payoffs: Floats, unit: float = 1.0) -> None:
        self.form = form
        self.unit = unit  # the stakes, which payoffs are compared by
        self.legal = form.tree.legal  # (R, K)
        pasts, actions, num_rows = len(form.row), form.tree.num_actions, form.tree.num_rows
        require_cells(form.tree.name, "ways to come to information sets", pasts, actions)
        # Here every past has K sequences: 1 + j * K + a takes action a at the past j.
        padded = 1 + form.owner * actions + np.arange(form.size) - form.start[form.owner]
        padded[0] = 0
        self.before = padded[form.before]  # (J,), sequence that leads to each past
        self.payoffs = np.zeros(1 + pasts * actions)  # by sequence; others and chance weighed in
        self.payoffs[padded] = payoffs
        self.entries = max(len(self.payoffs), self.legal.size)  # of an array of one policy
        self.row = np.ascontiguousarray(form.row)  # (J,), as compiled passes read it
        self.rows = np.unique(form.row)
        self.visits: Ints = np.zeros(num_rows, np.int64)  # most of each row in a play
        np.maximum.at(self.visits, form.row, form.visits)
        self.again = np.flatnonzero(self.visits > 1)  # rows that a play can meet again
        # (R, J), 1 at the pasts of each row.
        self.by_row = csr_array((np.ones(pasts), (form.row, np.arange(pasts))), (num_rows, pasts))
        sizes = form.remember(np.abs(payoffs))[0]
        self.size = float(sizes[0])  # most that payoffs of a play can come to, whatever their signs
        self.sizes = np.maximum.reduceat(sizes[1:], form.start[:-1] - 1)  # (J,), after each past

    @classmethod
    def of(cls, tree: FlatTree, policy: Floats, player: int = 0) -> "Decision":
        """Decide for a player in the game's own payoffs, the other playing a policy, (R, K)."""
        form, ends = sequence_form(tree, player), tree.player == TERMINAL
        own_payoff = tree.shift + (tree.payoff + tree.centre) * (1.0 - 2.0 * player)
        weighed = np.where(tree.possible, reach(tree, policy, player) * own_payoff, 0.0)[ends]
        payoffs = np.bincount(form.at[ends], weighed, form.size)
        return cls(form, payoffs.astype(np.float64), tree.expected * tree.largest_payoff)

    def _expected(self, policies: Floats) -> tuple[Floats, Floats]:
        """Give the expected payoff of policies, (S,), and after every action, (J, K, S)."""
        payoffs = np.repeat(self.payoffs[:, None], policies.shape[2], axis=1)
        box_passes.value_policies(self.before, self.row, policies, payoffs)
        return payoffs[0], payoffs[1:].reshape(-1, *policies.shape[1:])

    def _most_expected(self, lower: Floats, upper: Floats, sign: int = 1) -> tuple[Floats, Floats]:
        """Give the most, or with sign -1 the least, if the pasts of a row act apart in boxes."""
        payoffs = np.repeat(sign * self.payoffs[:, None], lower.shape[2], axis=1)
        box_passes.value_boxes(self.before, self.row, lower, upper, payoffs)
        return sign * payoffs[0], sign * payoffs[1:].reshape(-1, *lower.shape[1:])

    def _reach(self, policies: Floats) -> Floats:
        """Probability of coming to every past by the own actions, (J, 1, S)."""
        reach = np.empty((len(self.payoffs), policies.shape[2]))
        box_passes.reach_sequences(self.before, self.row, policies, reach)
        return reach[self.before, None]

    def _sum_over_pasts(self, by_past: Floats) -> Floats:
        """Sum what is by past, (J, ...), over the pasts of each row, (R, ...)."""
        flat = self.by_row @ by_past.reshape(len(by_past), -1)
        return np.asarray(flat).reshape(-1, *by_past.shape[1:])

    def values(self, policies: Floats) -> tuple[Floats, Floats, Floats]:
        """Payoffs, (S,), derivatives, (R, K, S), and KKT gaps of rows: best less mean, (R, S)."""
        payoffs, after = self._expected(policies)
        slopes = self._sum_over_pasts(self._reach(policies) * after)
        best = np.where(self.legal[..., None], slopes, -np.inf).max(axis=1)
        return payoffs, slopes, best - (policies * slopes).sum(axis=1)

    def value(self, policy: Floats) -> float:
        """Payoff of a policy, (R, K)."""
        return float(self._expected(policy[..., None])[0][0])

    def _line_search(self, policy: Floats, row: int) -> Floats:
        """Best policy, (R, K), on the lines from a row to pure actions, the likeliest if many.

        On a line the payoff is a polynomial whose degree is the row's visits: it is interpolated at
        Chebyshev nodes, and the roots of its derivative are tried.
        """
        actions = np.flatnonzero(self.legal[row])
        most_lines = max(2, ENTRIES // (4 * policy.size))
        if len(actions) > most_lines:
            slopes = self.values(policy[..., None])[1][row, actions, 0]
            actions = actions[np.argsort(-slopes, kind="stable")[:most_lines]]
        pure_rows = one_hot(actions, policy.shape[1])

        def on_lines(shares: Floats) -> Floats:  # of pure actions, (lines, n): (R, K, lines * n)
            rows = (1.0 - shares[..., None]) * policy[row] + shares[..., None] * pure_rows[:, None]
            policies = np.repeat(policy[..., None], shares.size, axis=2)
            policies[row] = rows.reshape(-1, policy.shape[1]).T
            return policies

        count = min(int(self.visits[row]), DEGREE) + 1
        nodes = (1.0 - np.cos(np.pi * (np.arange(count) + 0.5) / count)) / 2.0
        at_nodes = self._expected(on_lines(np.tile(nodes, (len(actions), 1))))[0]
        shares = np.tile([0.0, 0.0, 1.0], (len(actions), 1))  # stay, the best between, go
        for line, payoffs in enumerate(at_nodes.reshape(len(actions), count)):
            curve = Chebyshev.fit(nodes, payoffs, count - 1, domain=[0.0, 1.0])
            roots = np.clip(np.append(np.real(curve.deriv().roots()), 0.0), 0.0, 1.0)
            shares[line, 1] = roots[curve(roots).argmax()]
        policies = on_lines(shares)
        return np.asarray(policies[..., self._expected(policies)[0].argmax()])

    def ascend(self, policy: Floats, rows: Ints, deadline: Deadline = FOREVER) -> Floats:
        """Improve some rows one at a time until none can be improved or the time is over."""
        least_gain = 1e-14 * self.unit
        for _ in range(SWEEPS):
            value, _, gaps = self.values(policy[..., None])
            can_improve = (gaps[rows, 0] > least_gain) | (self.visits[rows] > 1)
            for row in rows[can_improve].tolist():  # one that is met again may, whatever its gap
                if deadline.is_over:
                    return policy
                candidate = self._line_search(policy, row)
                if self.value(candidate) > self.value(policy) + least_gain:
                    policy = candidate
            if self.value(policy) <= value[0] + least_gain:
                break
        return policy

    def search(self, rows: Ints, start: Floats, deadline: Deadline) -> Floats:
        """Find a good policy, (R, K), that differs from a start in some rows alone.

        Regret matching+ on derivatives from random policies; then ascents from the best of these.
        """
        random, legal = np.random.default_rng(0), self.legal[..., None]
        starts = min(STARTS, max(1, ENTRIES // self.entries))
        if not deadline.allows(starts * self.entries):
            return start
        weights = random.exponential(size=(*start.shape, starts)) * legal
        weights[..., 0] = self.legal  # the first is uniform
        policies = np.repeat(start[..., None], starts, axis=2)  # (R, K, starts)
        policies[rows] = (weights / weights.sum(axis=1, keepdims=True))[rows]
        regrets, best = np.zeros_like(policies), start
        for _ in range(ROUNDS):
            values, slopes, _ = self.values(policies)
            if values.max() > self.value(best):
                best = policies[..., values.argmax()].copy()
            if deadline.is_over:
                return best
            gains = slopes - (policies * slopes).sum(axis=1, keepdims=True)
            regrets = np.maximum(regrets + gains * legal, 0.0)
            total = regrets.sum(axis=1, keepdims=True)
            matched = np.where(total > 0.0, regrets / np.where(total > 0.0, total, 1.0), policies)
            policies[rows] = matched[rows]
        starts_of_ascent = [best, *(policies[..., place] for place in np.argsort(-values)[:3])]
        return max((self.ascend(one, rows, deadline) for one in starts_of_ascent), key=self.value)

    def bounds(self, lower: Floats, upper: Floats) -> tuple[Floats, Floats, Floats]:
        """Bound payoffs over boxes of rows, (R, K, S) each, by (a) and (b) of the module.

        Returns bounds, (S,), how much each row adds to them, (R, S), and middles of derivatives.
        """
        memory_bound, high = self._most_expected(lower, upper)  # (a)
        low = self._most_expected(lower, upper, -1)[1]
        least_reach, most_reach = self._reach(lower), self._reach(upper)
        centre = middles(lower, upper)
        # What (a) gains as the pasts of a row may act apart.
        apart = most_reach[:, 0] * _most_in_boxes(high, lower, upper, self.row)
        joint = self._sum_over_pasts(most_reach * high)
        together = _most_in_boxes(joint, lower, upper, np.arange(len(lower)))
        score = np.maximum(self._sum_over_pasts(apart) - together, 0.0)
        # What all actions of a past have in common moves no probability.
        level = ((high + low) / 2.0 * centre[self.row]).sum(axis=1, keepdims=True)
        high, low = high - level, low - level
        # Ends of the derivatives in the box.
        top = self._sum_over_pasts(np.where(high > 0.0, most_reach, least_reach) * high)
        bottom = self._sum_over_pasts(np.where(low > 0.0, least_reach, most_reach) * low)
        middle, half = (top + bottom) / 2.0, (top - bottom) / 2.0
        score = score + ((upper - lower) * half).sum(axis=1)
        # (b): rows that are met again at their centre, and what moving them from there can add.
        again = self.again
        pinned = lower.copy(), upper.copy()
        pinned[0][again] = pinned[1][again] = centre[again]
        at_centre = self._most_expected(*pinned)[0]
        moved = _most_in_boxes(middle[again], lower, upper, again)
        moved -= (middle * centre)[again].sum(axis=1)
        slack = (np.maximum(upper - centre, centre - lower) * half)[again].sum(axis=(0, 1))
        bound = np.minimum(memory_bound, at_centre + moved.sum(axis=0) + slack)
        return bound + self._margin(most_reach), score, middle

    def _margin(self, most: Floats) -> Floats:
        """Bound the rounding errors of the bounds of boxes, (S,), whose reach is (J, 1, S) at most.

        ``docs/absent-mindedness.md`` counts them.
        """
        pasts, actions = len(self.sizes), self.legal.shape[1]
        steps = (len(self.form.levels) + 1) * (4 * actions + 8) + 2 * pasts + 16
        sums = self.size + (actions + 3.0) * (self.sizes @ most[:, 0])
        return np.asarray(2.0 * ROUNDING * steps * sums)

    def solve(
        self,
        limit: float | Deadline,
        start: Floats | None = None,
        rows: Ints | None = None,
        enough: float = np.inf,
    ) -> Solved:
        """Maximise over some rows, by default all, the others being those of a start, (R, K).

        A value above `enough` ends it, if finite a bound below it too.
        """
        deadline = Deadline.of(limit)
        rows = self.rows if rows is None else rows
        start = self.form.tree.uniform() if start is None else start
        policy = self.search(rows, start, deadline.share(1.0 / 3.0))
        value = self.value(policy)
        lower, upper = start.copy(), start.copy()
        lower[rows], upper[rows] = 0.0, self.legal[rows]
        leaves = [Leaf(0, np.inf, *tightened(lower, upper))]  # to be bounded, together
        waiting: list[tuple[float, int, int, Leaf]] = []  # negated bound, number, row to split
        steps: list[Step] = []
        number, closed_bound = 1, -np.inf  # of the next leaf; of leaves that are not split
        once = np.setdiff1d(rows, self.again)
        # Of rows of one past that are met once bounds are exact: these are not split.
        inexact = np.intersect1d(np.union1d(self.again, self.form.shared), rows)
        margin = float(self._margin(np.ones((len(self.sizes), 1, 1)))[0])
        most_leaves = ENTRIES // (8 * self.entries)  # at once, one more at least
        while True:
            lower = np.stack([leaf.lower for leaf in leaves], axis=2)
            upper = np.stack([leaf.upper for leaf in leaves], axis=2)
            bounds, scores, slopes = self.bounds(lower, upper)
            # A policy of each box: its middle, but in rows that are met once the best actions.
            tried = middles(lower, upper)
            best = np.where(upper[once] > 0.0, slopes[once], -np.inf).argmax(axis=1)
            tried[once] = np.moveaxis(one_hot(best, tried.shape[1]), 2, 1)
            values = self._expected(tried)[0]
            if values.max() > value + 1e-12 * self.unit:
                policy = self.ascend(tried[..., values.argmax()], rows, deadline)
                value = self.value(policy)
            for leaf, own_bound, score in zip(leaves, bounds, scores.T, strict=True):
                bound = min(own_bound, leaf.bound)
                is_wide = (leaf.upper - leaf.lower)[inexact].max(axis=1, initial=0.0) > THIN
                if is_wide.any():
                    row = int(inexact[np.where(is_wide, score[inexact], -np.inf).argmax()])
                    heappush(waiting, (-bound, leaf.number, row, leaf))
                else:
                    closed_bound = max(closed_bound, bound)
            least = PROVED * self.unit / 32.0 + margin
            target = value + 2.0 * least if enough == np.inf else enough + least
            open_bound = -waiting[0][0] if waiting else -np.inf
            is_over = deadline.is_over or len(waiting) * start.size > LEAVES
            if open_bound <= target or value > enough or is_over:
                return Solved(policy, value, float(max(value, closed_bound, open_bound)), steps)
            leaves = []
            while waiting and -waiting[0][0] > target and len(leaves) <= most_leaves:
                negated_bound, _, row, leaf = heappop(waiting)
                step, halves = self._split(leaf, row)
                steps.append(step)
                for half in halves:
                    leaves.append(Leaf(number, -negated_bound, *half))
                    number += 1

    def _split(self, leaf: Leaf, row: int) -> tuple[Step, list[tuple[Floats, Floats]]]:
        """Halve a box in a row that is met again, at its longest side; of others the actions."""
        lower, upper = leaf.lower, leaf.upper
        if self.visits[row] > 1:
            action = int((upper[row] - lower[row]).argmax())
            cut = float(upper[row, action] + lower[row, action]) / 2.0
            higher_end, lower_end = lower.copy(), upper.copy()
            higher_end[row, action] = lower_end[row, action] = cut
            halves = [tightened(lower, lower_end), tightened(higher_end, upper)]
            return Step(leaf.number, row, action, cut), halves
        halves = []
        for actions in np.array_split(np.flatnonzero(upper[row] > 0.0), 2):
            least, most = lower.copy(), upper.copy()
            most[row] = 0.0
            most[row, actions] = 1.0
            if len(actions) == 1:
                least[row, actions] = 1.0
            halves.append((least, most))
        return Step(leaf.number, row, -1, 0.0), halves

    def gaps(self, policy: Floats, limit: float | Deadline = 10.0, missed: float = 0.0) -> Gaps:
        """Measure how far a policy, (R, K), is from each solution concept.

        A row that there is no time for gains no more than all rows together. Ends are rounded
        outward, where payoffs of no policy are off by more than `missed`.
        """
        deadline = Deadline.of(limit)
        if not len(self.rows):  # there is nothing to decide
            return Gaps(0.0, (0.0, 0.0), (0.0, 0.0))
        (value,), _, gaps = self.values(policy[..., None])
        margin = 2.0 * (float(self._margin(np.ones((len(self.sizes), 1, 1)))[0]) + missed)
        once = np.setdiff1d(self.rows, self.again)
        # The payoff is linear in a row that is met once: its gap is the gain of another row.
        edt = [(0.0, 0.0), *((gap - margin, gap + margin) for gap in gaps[once, 0].tolist())]
        done = 0
        for row in self.again:
            if done and deadline.is_over:
                break
            time = deadline.share(1.0 / (1 + len(self.again) - done))
            solved = self.solve(time, policy, np.array([row]))
            edt.append((solved.value - value - margin, solved.bound - value + margin))
            done += 1
        best = self.solve(deadline, policy)
        least, most = float(best.value - value - margin), float(best.bound - value + margin)
        if done < len(self.again):
            edt.append((0.0, best.bound - value + margin))
        edt_least, edt_most = (float(max(ends)) for ends in zip(*edt, strict=True))
        ex_ante = max(least, edt_least), max(most, edt_most)  # another row is another policy
        kkt = float(gaps.max(initial=0.0))
        found = Gaps(kkt, (edt_least, edt_most), ex_ante)
        found.cdt = max(0.0, kkt - margin), kkt + margin
        return found


def gaps_of(tree: FlatTree, strategy: Strategy, player: int, deadline: Deadline) -> Gaps:
    """Measure a player's part of a policy against the other's, in the game's own units.

    Payoffs that the player cannot change are taken off before anything is rounded; in any tree
    those of plays in which the player never moves.
    """
    sequence_form(tree, 1 - player).inflate(deadline.share(INFLATING))  # else it takes all its time
    plan = plan_of(solving_form(tree, 1 - player), strategy, deadline)
    payoffs = Payoffs(tree, player, plan, deadline, sequence_form(tree, player))
    payoffs.middle[0] = payoffs.radius[0] = 0.0
    form, rows = _own_rows(payoffs.form)
    decision, unit = Decision(form, payoffs.middle), float(payoffs.unit)
    policy = strategy.policy[rows, : form.tree.num_actions]
    shares = decision.gaps(policy, deadline, form.most(payoffs.radius))
    enclosed = shares.edt, shares.ex_ante, shares.cdt
    edt, ex_ante, cdt = ((unit * least, unit * most) for least, most in enclosed)
    lower, upper = agreed(*cdt)
    gaps = Gaps(min(max(unit * shares.kkt, lower), upper), edt, ex_ante)
    gaps.cdt = cdt
    return gaps


def _own_rows(form: SequenceForm) -> tuple[SequenceForm, Ints]:
    """Leave the rows of others out, which may be many and wide; give the rows that are left."""
    tree, rows = form.tree, np.unique(form.row)
    names = [tree.names[row] for row in rows]
    own = replace(tree, seat=tree.seat[rows], num_legal=tree.num_legal[rows], names=names)
    return replace(form, tree=own, row=np.searchsorted(rows, form.row)), rows


def _most_in_boxes(values: Floats, lower: Floats, upper: Floats, rows: Ints) -> Floats:
    """Most mean of values, (n, K, S), by probabilities of rows, (n,), in boxes of all; (n, S)."""
    most = np.empty((len(rows), values.shape[2]))
    flat = np.ascontiguousarray(values).reshape(-1, values.shape[2])
    box_passes.most_in_boxes(rows, flat, lower, upper, most)
    return most


def middles(lower: Floats, upper: Floats) -> Floats:
    """Probabilities in boxes, as far from all lower ends towards the upper ones."""
    room, left = upper - lower, 1.0 - lower.sum(axis=1, keepdims=True)
    total = room.sum(axis=1, keepdims=True)
    return np.asarray(lower + room * left / np.where(total > 0.0, total, 1.0))


def tightened(lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Leave out of boxes, (R, K), what no probabilities reach, since they sum to 1; no more."""
    rounding = 2.0 * ROUNDING * (lower.shape[1] + 4)
    least = np.maximum(lower, 1.0 - upper.sum(axis=1, keepdims=True) + upper - rounding)
    most = np.minimum(upper, 1.0 - lower.sum(axis=1, keepdims=True) + lower + rounding)
    return np.minimum(least, most), most


def settled(
    payoffs: Payoffs,
    limit: float | Deadline,
    units: Units,
    finer: float = 1.0,
    start: Floats | None = None,
) -> tuple[Solved, Fraction, Fraction, bool]:
    """Decide by payoffs against a plan; give ends of the optimum, and whether they are one.

    Where ends are within the gap that is asked for, `finer` times the usual one, and still are not
    written alike, less is asked. `start`, (R, K), is a policy to begin with.
    """
    form, deadline = payoffs.form, Deadline.of(limit)
    decision = Decision(form, payoffs.most_each)
    decision.unit *= finer
    while True:
        solved = decision.solve(deadline, start)
        plan = plan_of(form, Strategy.unchecked(solved.policy), payoffs.deadline)
        value = payoffs.least_of(plan)
        bound = max(payoffs.payoff(solved.bound), value)
        is_met = solved.bound - solved.value <= PROVED * decision.unit
        are_one = units.are_one(below(value), above(bound))
        if are_one or not is_met or decision.unit < FINEST or deadline.is_over:
            return solved, value, bound, are_one and is_met
        decision.unit /= 16.0
        start = solved.policy


def optimum(tree: FlatTree, limit: float | Deadline) -> Equilibrium:
    """Solve a problem of one absent-minded player: the ex ante optimal policy, and a bound."""
    deadline, player = Deadline.of(limit), int(tree.seat[0])
    uniform = Strategy.unchecked(tree.uniform())  # of the other, who decides nothing
    plan = plan_of(solving_form(tree, 1 - player), uniform, deadline)
    payoffs = Payoffs(tree, player, plan, deadline)
    solved, value, bound, is_proved = settled(payoffs, deadline, tree.units)
    least, most = value, bound
    if player == 1:  # what player 0 is left with
        least, most = payoffs.total - bound, payoffs.total - value
    lower, upper = below(least), above(most)
    is_proved = is_proved and tree.units.are_one(lower, upper)
    policies = (Strategy.unchecked(solved.policy),) * 2
    how = "branch and bound", {"iterations": len(solved.steps), "components": [1, 1]}
    spent, sides = deadline.spent, side_names(tree.sides)
    return Equilibrium(lower, upper, policies, is_proved, *how, spent, tree.units, sides)
