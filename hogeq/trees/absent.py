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

from fractions import Fraction
from heapq import heappop, heappush
from typing import Any, Final, NamedTuple

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
from hogeq.trees.sequences import SequenceForm, sequence_form
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
        self.legal, count, actions = form.tree.legal, len(form.row), form.tree.num_actions
        require_cells(form.tree.name, "ways to come to information sets", count, actions)
        # Here all refined information sets have K sequences: 1 + j * K + a takes action a at j.
        place = 1 + form.owner * actions + np.arange(form.size) - form.start[form.owner]
        place[0] = 0
        self.before = place[form.before]
        self.payoffs = np.zeros(1 + count * actions)  # others and chance weighed in
        self.payoffs[place] = payoffs
        self.row = np.ascontiguousarray(form.row)  # (J,), as compiled passes read it
        self.rows, shape = np.unique(form.row), (form.tree.num_rows, count)
        self.visits: Ints = np.zeros(shape[0], np.int64)  # most of each row in a play
        np.maximum.at(self.visits, form.row, form.visits)
        self.again = np.flatnonzero(self.visits > 1)
        self.by_row = csr_array((np.ones(count), (form.row, np.arange(count))), shape)
        sizes = form.remember(np.abs(payoffs))[0]
        self.size = float(sizes[0])  # most that payoffs of a play can come to, whatever their signs
        self.sizes = np.maximum.reduceat(sizes[1:], form.start[:-1] - 1)

    @classmethod
    def of(cls, tree: FlatTree, policy: Floats, player: int = 0) -> "Decision":
        """Decide for a player in the game's own payoffs, the other playing a policy, (R, K)."""
        form, ends, sign = sequence_form(tree, player), tree.player == TERMINAL, 1.0 - 2.0 * player
        own = tree.shift + (tree.payoff + tree.centre) * sign
        won = np.where(tree.possible, reach(tree, policy, player) * own, 0.0)[ends]
        payoffs = np.bincount(form.at[ends], won, form.size)
        return cls(form, payoffs.astype(np.float64), tree.expected * tree.largest_payoff)

    def _worth(self, policies: Floats) -> tuple[Floats, Floats]:
        """Payoff of policies, (S,), and after every step, (J, K, S)."""
        worth = np.repeat(self.payoffs[:, None], policies.shape[2], axis=1)
        box_passes.value_policies(self.before, self.row, policies, worth)
        return worth[0], worth[1:].reshape(-1, *policies.shape[1:])

    def _most_worth(self, lower: Floats, upper: Floats, sign: int = 1) -> tuple[Floats, Floats]:
        """Most, or with sign -1 least, that boxes allow, (S,), and after every step, (J, K, S)."""
        worth = np.repeat(sign * self.payoffs[:, None], lower.shape[2], axis=1)
        box_passes.value_boxes(self.before, self.row, lower, upper, worth)
        return sign * worth[0], sign * worth[1:].reshape(-1, *lower.shape[1:])

    def _reach(self, policies: Floats) -> Floats:
        """Probability of coming to every past by the own actions, (J, 1, S)."""
        reach = np.empty((len(self.payoffs), policies.shape[2]))
        box_passes.reach_sequences(self.before, self.row, policies, reach)
        return reach[self.before, None]

    def _per_row(self, by_past: Floats) -> Floats:
        """Sum over the pasts of each row, (R, ...)."""
        flat = self.by_row @ by_past.reshape(len(by_past), -1)
        return np.asarray(flat).reshape(-1, *by_past.shape[1:])

    def values(self, policies: Floats) -> tuple[Floats, Floats, Floats]:
        """Payoffs, (S,), derivatives, (R, K, S), and KKT gaps of rows: best less mean, (R, S)."""
        worth, after = self._worth(policies)
        slopes = self._per_row(self._reach(policies) * after)
        best = np.where(self.legal[..., None], slopes, -np.inf).max(axis=1)
        return worth, slopes, best - (policies * slopes).sum(axis=1)

    def value(self, policy: Floats) -> float:
        """Payoff of a policy, (R, K)."""
        return float(self._worth(policy[..., None])[0][0])

    def _along(self, policy: Floats, row: int) -> Floats:
        """Best policy on the lines from a row to the ends of its simplex, the likeliest if many."""
        acts = np.flatnonzero(self.legal[row])
        if len(acts) > (most := max(2, ENTRIES // (4 * policy.size))):
            slopes = self.values(policy[..., None])[1][row, acts, 0]
            acts = acts[np.argsort(-slopes, kind="stable")[:most]]
        ends = one_hot(acts, policy.shape[1])

        def moved(shares: Floats) -> Floats:  # (ends, n): (R, K, ends * n)
            rows = (1.0 - shares[..., None]) * policy[row] + shares[..., None] * ends[:, None]
            policies = np.repeat(policy[..., None], shares.size, axis=2)
            policies[row] = rows.reshape(-1, policy.shape[1]).T
            return policies

        count = min(int(self.visits[row]), DEGREE) + 1
        at = (1.0 - np.cos(np.pi * (np.arange(count) + 0.5) / count)) / 2.0
        met = self._worth(moved(np.tile(at, (len(ends), 1))))[0].reshape(len(ends), count)
        shares = np.tile([0.0, 0.0, 1.0], (len(ends), 1))  # stay, the best between, go
        for line, best in zip(met, shares, strict=True):
            curve = Chebyshev.fit(at, line, count - 1, domain=[0.0, 1.0])
            roots = np.clip(np.append(np.real(curve.deriv().roots()), 0.0), 0.0, 1.0)
            best[1] = roots[curve(roots).argmax()]
        policies = moved(shares)
        return np.asarray(policies[..., self._worth(policies)[0].argmax()])

    def ascend(self, policy: Floats, rows: Ints, deadline: Deadline = FOREVER) -> Floats:
        """Improve some rows one at a time until none can be improved or the time is over."""
        least = 1e-14 * self.unit
        for _ in range(SWEEPS):
            value, _, gaps = self.values(policy[..., None])
            for row in rows[(gaps[rows, 0] > least) | (self.visits[rows] > 1)].tolist():
                if deadline.is_over:
                    return policy
                moved = self._along(policy, row)
                if self.value(moved) > self.value(policy) + least:
                    policy = moved
            if self.value(policy) <= value[0] + least:
                break
        return policy

    def search(self, rows: Ints, start: Floats, deadline: Deadline) -> Floats:
        """Find a good policy that differs from a start in some rows alone, (R, K)."""
        random, count = np.random.default_rng(0), max(1, ENTRIES // len(self.payoffs))
        drawn = random.exponential(size=(*start.shape, min(STARTS, count))) * self.legal[..., None]
        drawn[..., 0] = self.legal
        policies = np.repeat(start[..., None], drawn.shape[2], axis=2)
        policies[rows] = (drawn / drawn.sum(axis=1, keepdims=True))[rows]
        regrets, tops = np.zeros_like(policies), [start]
        for _ in range(ROUNDS):
            values, slopes, _ = self.values(policies)
            if values.max() > self.value(tops[0]):
                tops[0] = policies[..., values.argmax()].copy()
            if deadline.is_over:
                return tops[0]
            gains = slopes - (policies * slopes).sum(axis=1, keepdims=True)
            regrets = np.maximum(regrets + gains * self.legal[..., None], 0.0)
            total = regrets.sum(axis=1, keepdims=True)
            moved = np.where(total > 0.0, regrets / np.where(total > 0.0, total, 1.0), policies)
            policies[rows] = moved[rows]
        tops += [policies[..., one] for one in np.argsort(-values)[:3]]
        return max((self.ascend(one, rows, deadline) for one in tops), key=self.value)

    def bounds(self, lower: Floats, upper: Floats) -> tuple[Floats, Floats, Floats]:
        """Bounds of boxes, (S,), how much each row adds to them, (R, S), and mean derivatives."""
        bound, high = self._most_worth(lower, upper)
        low = self._most_worth(lower, upper, -1)[1]
        least, most, centre = self._reach(lower), self._reach(upper), middles(lower, upper)
        rows = np.arange(len(lower))
        apart = most[:, 0] * _most(high, lower, upper, self.row)
        together = _most(self._per_row(most * high), lower, upper, rows)
        score = self._per_row(apart) - together
        # What all actions of a past have in common moves no probability.
        level = ((high + low) / 2.0 * centre[self.row]).sum(axis=1, keepdims=True)
        high, low = high - level, low - level
        top = self._per_row(np.where(high > 0.0, most, least) * high)
        bottom = self._per_row(np.where(low > 0.0, least, most) * low)
        middle, half = (top + bottom) / 2.0, (top - bottom) / 2.0
        score = np.maximum(score, 0.0) + ((upper - lower) * half).sum(axis=1)
        at, pinned = self.again, (lower.copy(), upper.copy())
        pinned[0][at] = pinned[1][at] = centre[at]
        moved = _most(middle[at], lower, upper, at) - (middle * centre)[at].sum(axis=1)
        slack = (np.maximum(upper - centre, centre - lower) * half)[at].sum(axis=(0, 1))
        bound = np.minimum(bound, self._most_worth(*pinned)[0] + moved.sum(axis=0) + slack)
        return bound + self._margin(most), score, middle

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
        deadline, rows = Deadline.of(limit), self.rows if rows is None else rows
        start = self.form.tree.uniform() if start is None else start
        policy = self.search(rows, start, deadline.share(1.0 / 3.0))
        value, steps, number, closed = self.value(policy), list[Step](), 1, -np.inf
        lower, upper = start.copy(), start.copy()
        lower[rows], upper[rows] = 0.0, self.legal[rows]
        splits = np.intersect1d(np.union1d(self.again, self.form.shared), rows)
        pure = np.setdiff1d(rows, self.again)
        waiting: list[Any] = []
        margin = float(self._margin(np.ones((len(self.sizes), 1, 1)))[0])
        most = ENTRIES // (8 * len(self.payoffs))  # boxes at once, one more at least
        ahead = [(0, np.inf, *tightened(lower, upper))]
        while True:
            boxes = [np.stack([one[side] for one in ahead], axis=2) for side in (2, 3)]
            bounds, scores, slopes = self.bounds(*boxes)
            tried = middles(*boxes)
            best = np.where(boxes[1][pure] > 0.0, slopes[pure], -np.inf).argmax(axis=1)
            tried[pure] = np.moveaxis(one_hot(best, tried.shape[1]), 2, 1)
            worth = self._worth(tried)[0]
            if worth.max() > value + 1e-12 * self.unit:
                policy = self.ascend(tried[..., worth.argmax()], rows, deadline)
                value = self.value(policy)
            for (leaf, before, *box), bound, score in zip(ahead, bounds, scores.T, strict=True):
                wide = (box[1] - box[0])[splits].max(axis=1, initial=0.0) > THIN
                if wide.any():
                    row = int(splits[np.where(wide, score[splits], -np.inf).argmax()])
                    heappush(waiting, (-min(bound, before), leaf, row, *box))
                else:
                    closed = max(closed, min(bound, before))
            least = PROVED * self.unit / 32.0 + margin
            met = value + 2.0 * least if enough == np.inf else enough + least
            top = -waiting[0][0] if waiting else -np.inf
            is_over = deadline.is_over or len(waiting) * lower.size > LEAVES
            if top <= met or value > enough or is_over:
                return Solved(policy, value, float(max(value, closed, top)), steps)
            ahead = []
            while waiting and -waiting[0][0] > met and len(ahead) <= most:
                bound, leaf, row, *box = heappop(waiting)
                step, children = self._split(leaf, row, *box)
                steps.append(step)
                ahead += [(number + place, -bound, *one) for place, one in enumerate(children)]
                number += len(children)

    def _split(self, leaf: int, row: int, lower: Floats, upper: Floats) -> tuple[Step, Any]:
        """Halve a box in a row that is met again, at its longest side; of others the actions."""
        boxes = [(lower.copy(), upper.copy()) for _ in range(2)]
        if self.visits[row] > 1:
            action = int((upper[row] - lower[row]).argmax())
            cut = float(upper[row, action] + lower[row, action]) / 2.0
            boxes[0][1][row, action] = boxes[1][0][row, action] = cut
            return Step(leaf, row, action, cut), [tightened(*box) for box in boxes]
        left = np.flatnonzero(upper[row] > 0.0)
        for box, half in zip(boxes, np.array_split(left, 2), strict=True):
            box[1][row] = 0.0
            box[1][row, half] = 1.0
            if len(half) == 1:
                box[0][row, half] = 1.0
        return Step(leaf, row, -1, 0.0), boxes

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
        pure = np.setdiff1d(self.rows, self.again)
        edt = [(0.0, 0.0), *((gap - margin, gap + margin) for gap in gaps[pure, 0].tolist())]
        done = 0
        for row in self.again:
            if done and deadline.is_over:
                break
            one = self.solve(
                deadline.share(1.0 / (1 + len(self.again) - done)), policy, np.array([row])
            )
            edt.append((one.value - value - margin, one.bound - value + margin))
            done += 1
        best = self.solve(deadline, policy)
        if done < len(self.again):
            edt.append((0.0, best.bound - value + margin))
        least, most = (float(max(ends)) for ends in zip(*edt, strict=True))
        moved = float(best.value - value - margin), float(best.bound - value + margin)
        ex_ante = max(moved[0], least), max(moved[1], least)
        kkt = float(gaps.max(initial=0.0))
        found = Gaps(kkt, (least, most), ex_ante)
        found.cdt = max(0.0, kkt - margin), kkt + margin
        return found


def gaps_of(tree: FlatTree, strategy: Strategy, player: int, deadline: Deadline) -> Gaps:
    """Measure a player's part of a policy against the other's, in the game's own units.

    Payoffs that the player cannot change are taken off before anything is rounded; in any tree
    those of plays in which the player never moves.
    """
    plan = plan_of(solving_form(tree, 1 - player), strategy, deadline)
    payoffs = Payoffs(tree, player, plan, deadline, sequence_form(tree, player))
    payoffs.middle[0] = payoffs.radius[0] = 0.0
    decision, unit = Decision(payoffs.form, payoffs.middle), float(payoffs.unit)
    found = decision.gaps(strategy.policy, deadline, payoffs.form.most(payoffs.radius))
    ends = found.edt, found.ex_ante, found.cdt
    edt, ex_ante, cdt = ((unit * least, unit * most) for least, most in ends)
    lower, upper = agreed(*cdt)
    gaps = Gaps(min(max(unit * found.kkt, lower), upper), edt, ex_ante)
    gaps.cdt = cdt
    return gaps


def _most(worth: Floats, lower: Floats, upper: Floats, rows: Ints) -> Floats:
    """Most that probabilities in boxes of rows, (n,), are worth, (n, S), of (n, K, S)."""
    most = np.empty((len(rows), worth.shape[2]))
    flat = np.ascontiguousarray(worth).reshape(-1, worth.shape[2])
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
        found = decision.solve(deadline, start)
        plan = plan_of(form, Strategy.unchecked(found.policy), payoffs.deadline)
        value = payoffs.least_of(plan)
        bound = max(payoffs.payoff(found.bound), value)
        is_met = found.bound - found.value <= PROVED * decision.unit
        is_one = units.are_one(below(value), above(bound))
        if is_one or not is_met or decision.unit < FINEST or deadline.is_over:
            return found, value, bound, is_one and is_met
        decision.unit /= 16.0
        start = found.policy


def optimum(tree: FlatTree, limit: float | Deadline) -> Equilibrium:
    """Solve a problem of one absent-minded player: the ex ante optimal policy, and a bound."""
    deadline, player = Deadline.of(limit), int(tree.seat[0])
    nobody = Strategy.unchecked(tree.uniform())
    plan = plan_of(solving_form(tree, 1 - player), nobody, deadline)
    payoffs = Payoffs(tree, player, plan, deadline)
    found, value, bound, is_proved = settled(payoffs, deadline, tree.units)
    ends, both = (value, bound), (Strategy.unchecked(found.policy),) * 2
    if player == 1:  # what player 0 is left with
        ends = payoffs.total - bound, payoffs.total - value
    lower, upper = below(ends[0]), above(ends[1])
    is_proved &= tree.units.are_one(lower, upper)
    how = "branch and bound", {"iterations": len(found.steps), "components": [1, 1]}
    spent = deadline.spent
    return Equilibrium(
        lower, upper, both, is_proved, *how, spent, tree.units, side_names(tree.sides)
    )
