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
from dataclasses import replace
from fractions import Fraction
from heapq import heappop, heappush
from typing import Final, NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack, vstack
from scipy.sparse.linalg import spsolve_triangular

from hogeq.search.results import Equilibrium, InPolicies
from hogeq.search.units import above, below
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import Deadline
from hogeq.support.messages import HogeqError
from hogeq.trees.beliefs import BeliefDag, whole_dag
from hogeq.trees.columns import Side
from hogeq.trees.enclosures import Payoffs, plan_of
from hogeq.trees.flat import FlatTree
from hogeq.trees.integer_program import FINE
from hogeq.trees.responses import settle
from hogeq.trees.restricted import Mixed, averaged, played
from hogeq.trees.sequence_payoffs import sequence_payoffs, stakes, unmoved
from hogeq.trees.shuffling import solving_form
from hogeq.trees.strategies import seated

MEETING: Final = 1e-7  # largest gap at which the bounds meet, a share of the stakes
TARGET: Final = MEETING / 2.0  # a box that may hold so much more than the best is not split
EDGE: Final = 0.2  # share of a side of a box that each half has at least
AGAIN: Final = 0.1  # shrinking of a side after which a box is bounded again ...
ROUNDS: Final = 3  # ... so often at most
PARTS: Final = 50  # components of a mixture that are tried alone
BUILDING: Final = 0.2  # of the time for the opponent's belief DAG
PROVING: Final = 0.1  # share of the time in which what was found is valued with a margin
THIN: Final = 1e-12  # side of a box that is not split
RESPONSES: Final = 20  # most by which the opponent's part grows at a box
STEPS: Final = 100  # most of an ascent
LONGEST: Final = 0.25  # step of an ascent, in probability
SHORTEST: Final = 1e-7
LEAST_GAIN: Final = 1e-11  # that a step of an ascent promises


class Box(NamedTuple):
    """Policies with rows between two ends."""

    lower: Floats  # (R, K)
    upper: Floats


class Optimum(NamedTuple):
    """Result of a linear program, and its dual variables."""

    weights: Floats  # (S,), of sequences
    rows: Floats  # (R, K)
    value: float
    opponent: Floats  # its plan
    coupled: Floats  # multipliers of the constraints that couple weights and rows
    equal: Floats  # and of equations


class Bounded(NamedTuple):
    """Bound on what policies of a box secure."""

    bound: float
    slopes: Floats  # (R, K): moving a probability off its better end loses so much of the bound
    policy: Floats  # (R, K), nearest to the program's plan
    lifts: Floats  # (S,), what each product, being free, adds to the bound at that policy


class Solved(NamedTuple):
    """A policy, what it secures at least, and what no policy exceeds, shares of the stakes."""

    policy: Floats  # (R, K)
    lower: float
    upper: float
    boxes: int
    programs: int


class Maxmin:
    """A side that plays a policy against a best responder."""

    def __init__(self, tree: FlatTree, player: int, limit: float | Deadline) -> None:
        self.tree, self.deadline = tree, Deadline.of(limit)
        self.form, other = solving_form(tree, player), solving_form(tree, 1 - player)
        payoffs = sequence_payoffs(solving_form(tree, 0), solving_form(tree, 1))
        self.payoffs = csr_array(payoffs if player == 0 else -payoffs.T)  # by own sequence
        self.opponent = Side(other, whole_dag(other, deadline=self.deadline.share(BUILDING)))
        self.own = tree.seat == player
        form = self.form
        # Each action at each refined information set: sequences before and after, and its cell.
        self.after, refined = np.arange(1, form.size), form.owner[1:]
        self.before = form.before[refined]
        self.cell = np.flatnonzero(tree.legal)[form.cells]
        self.is_shared = np.isin(form.row, form.shared)[refined]
        self.sizes = form.size, tree.legal.size
        self.equations, self.once = self._equations()
        terms = sum(self.sizes) + sum(self.payoffs.shape) + 8 * len(self.after)
        self.rounding = 4.0 * np.finfo(float).eps * (terms + 8 * len(tree.levels))
        self.best, self.policy, self.programs, self.grown = -np.inf, tree.uniform(), 0, 0
        self.random = np.random.default_rng(0)
        self._dag: BeliefDag | None = None
        # Programs have all mixtures of an opponent who remembers; of another a part, which grows.
        left = self._left(tree.uniform())
        first = self.opponent.best(left, -np.inf, Deadline(0.0), deadline=self.deadline)
        if self.opponent.whole is None:
            self.opponent.takes(first)
        elif len(other.inflated.shared) and first.choices is not None:
            self.opponent.restrict(first.choices)

    def _equations(self) -> tuple[csr_array, Floats]:
        """Weights flow on, and own rows sum to 1."""
        form, (sequences, cells), actions = self.form, self.sizes, self.tree.num_actions
        count, rows = len(form.row), np.flatnonzero(self.own)
        into = 1 + form.owner, np.arange(sequences)
        out = 1 + np.arange(count), form.before
        ones = np.append(np.ones(sequences), -np.ones(count))
        ends = tuple(np.append(one, two) for one, two in zip(into, out, strict=True))
        flow = csr_array((ones, ends), (1 + count, sequences + cells))
        owned = (rows[:, None] * actions + np.arange(actions)).ravel()
        places = np.arange(len(rows)).repeat(actions), owned
        sums = csr_array((np.ones(len(places[0])), places), (len(rows), cells))
        sums = hstack([csr_array((len(rows), sequences)), sums])
        once = np.concatenate([[1.0], np.zeros(count), np.ones(len(rows))])
        return csr_array(vstack([flow, sums])), once

    def _by_cell(self, lifts: Floats) -> Floats:
        """Add up, for each cell, what is lifted at the sequences from it on."""
        steps = np.ones(len(self.after)), (self.before, self.after)
        onward = eye_array(self.sizes[0], format="csr") - csr_array(steps, (self.sizes[0],) * 2)
        total = spsolve_triangular(onward, lifts, lower=False, unit_diagonal=True)
        return np.asarray(np.bincount(self.cell, total[self.after], self.sizes[1]), np.float64)

    # --- policies ---------------------------------------------------------------------------------

    def normalised(self, policy: Floats) -> Floats:
        """Own rows of a policy, each with sum 1; the opponent's are uniform and not used."""
        rows = np.where(self.tree.legal, np.maximum(policy, 0.0), 0.0)
        total = rows.sum(axis=1, keepdims=True)
        fine = self.own[:, None] & (total > 0.0)
        return np.where(fine, rows / np.where(total > 0.0, total, 1.0), self.tree.uniform())

    def secured(self, policy: Floats) -> float:
        """Bound what a policy secures from below; keep it if that is the most so far."""
        time = self.deadline.share(0.25)  # where a program responds
        answer = self.opponent.best(self._left(policy), -self.best, time)
        self.grown += self.opponent.takes(answer)
        value = float(-answer.bound - self.rounding)
        if value > self.best:
            self.best, self.policy = value, policy
        return value

    def _left(self, policy: Floats) -> Floats:
        """Payoff of each of the opponent's sequences against a policy."""
        return np.asarray(-(self.payoffs.T @ self.form.realisation(policy)))

    def ascend(self, policy: Floats) -> float:
        """Move by linear programs over products linearised at a policy, in a trust region."""
        policy, step = self.normalised(policy), LONGEST
        value, own = self.secured(policy), self.own[:, None] & self.tree.legal
        for _ in range(STEPS):
            if step < SHORTEST or self.deadline.is_over:
                break
            weights, flat = self.form.realisation(policy), policy.ravel()
            chances = flat[self.cell]
            coupling = self._coupling(
                np.ones(len(chances)),
                self.after,
                -chances,
                self.before,
                -weights[self.before],
                self.cell,
            )
            near = Box(*(np.clip(policy + side * step, 0.0, own) for side in (-1.0, 1.0)))
            least, most = np.zeros(self.sizes[0]), np.ones(self.sizes[0])
            products = -weights[self.before] * chances
            found = self._program(coupling, products, near, (least, most), is_equal=True)
            if found is None:
                step /= 4.0
                continue
            promised = found.value - value
            if promised < LEAST_GAIN:
                break
            moved, grown = self.normalised(found.rows), self.grown
            gained = self.secured(moved) - value
            if gained > 0.0:
                policy, value = moved, value + gained
            if self.grown > grown and gained < promised / 2.0:
                continue  # the program did not know that response
            if gained <= 0.0 and found.value <= self.best + TARGET:
                break  # it is another top, and a lower one
            if gained < promised / 10.0:
                step /= 2.0 if gained > 0.0 else 4.0
            elif gained > 0.7 * promised:
                step = min(2.0 * step, 1.0)
        return value

    # --- boxes ------------------------------------------------------------------------------------

    def bounded(self, box: Box) -> Bounded | None:
        """Bound a box; None if the program fails or is not done in time."""
        weights = least, most = self._products(box)
        coupling, sides, after = self._products_apart(box, weights)
        found = self._program(coupling, sides, box, weights)
        for _ in range(RESPONSES):
            if found is None or not self._grows(found):
                break
            found = self._program(coupling, sides, box, weights) or found
        if found is None:
            return None
        payoffs, none = self.payoffs @ found.opponent, np.zeros(self.sizes[1])
        slopes = np.append(payoffs, none) - coupling.T @ found.coupled
        slopes -= self.equations.T @ found.equal
        size = np.append(abs(self.payoffs) @ found.opponent, none)
        size += abs(coupling).T @ found.coupled + abs(self.equations).T @ abs(found.equal)
        lower, upper = np.append(least, box.lower), np.append(most, box.upper)
        bound = np.where(slopes > 0.0, upper, lower) @ slopes
        bound += found.coupled @ sides + found.equal @ self.once
        size = size @ upper + found.coupled @ abs(sides) + abs(found.equal) @ self.once
        policy = self.normalised(played(self.form, found.weights))
        at = np.append(self.form.realisation(policy), policy)
        slack = found.coupled * np.maximum(sides - coupling @ at, 0.0)
        return Bounded(
            float(bound + self.rounding * size),
            slopes[self.sizes[0] :].reshape(box.lower.shape),
            policy,
            np.bincount(after, slack, self.sizes[0]).astype(np.float64),
        )

    def _products_apart(
        self, box: Box, weights: tuple[Floats, Floats]
    ) -> tuple[csr_array, Floats, Ints]:
        """Give McCormick's inequalities: coefficients, right sides, the sequence after of each."""
        (least, most), ends = weights, (box.lower.ravel(), box.upper.ravel())
        shared = self.is_shared
        after, before, cell = self.after[shared], self.before[shared], self.cell[shared]
        (low, high), one = (end[cell] for end in ends), np.ones(len(after))
        thin, thick = least[before], most[before]
        parts = [
            self._coupling(-one, after, low, before, thin, cell),  # (r - L)(x - l) >= 0
            self._coupling(-one, after, high, before, thick, cell),  # (U - r)(u - x) >= 0
            self._coupling(one, after, -high, before, -thin, cell),  # (r - L)(u - x) >= 0
            self._coupling(one, after, -low, before, -thick, cell),  # (U - r)(x - l) >= 0
        ]
        sides, products = [thin * low, thick * high, -thin * high, -thick * low], [after] * 4
        for sign, end, whole in zip((-1.0, 1.0), ends, (0.0, 1.0), strict=True):
            # A row of one past lies in the box without probabilities of its own.
            cut = ~shared & (end[self.cell] != whole)
            after, before, cell = self.after[cut], self.before[cut], self.cell[cut]
            none = np.zeros(len(after))
            parts.append(self._coupling(none + sign, after, -sign * end[cell], before, none, cell))
            sides, products = [*sides, none], [*products, after]
        return csr_array(vstack(parts)), np.concatenate(sides), np.concatenate(products)

    def _grows(self, found: Optimum) -> bool:
        """Take the response to a program's plan into the opponent's part, if it gains there."""
        side = self.opponent
        if side.whole is not None and side.kept is None:
            return False
        left = -(self.payoffs.T @ found.weights)
        answer = side.best(left, -found.value, Deadline(0.0), deadline=self.deadline)
        if answer.payoff <= LEAST_GAIN - found.value or not side.takes(answer):
            return False
        self.grown += 1
        return True

    def _products(self, box: Box) -> tuple[Floats, Floats]:
        """Least and most weight of each sequence, rounded outward."""
        margin = 2.0 * len(self.tree.levels) * np.finfo(float).eps
        least, most = self.form.realisation(box.lower), self.form.realisation(box.upper)
        return least * (1.0 - margin), np.minimum(most * (1.0 + margin), 1.0)

    def narrowed(self, box: Box, found: Bounded) -> Box | None:
        """Leave out policies that secure no more than the best; None if no other is left."""
        slack = (found.bound - self.best) * (1.0 + 1e-9)
        width = np.where(found.slopes == 0.0, np.inf, slack / np.maximum(abs(found.slopes), 1e-300))
        lower = np.where(found.slopes > 0.0, box.upper - width, box.lower)
        upper = np.where(found.slopes < 0.0, box.lower + width, box.upper)
        lower, upper = np.maximum(lower, box.lower), np.minimum(upper, box.upper)
        # Rows sum to 1.
        rest = 1.0 - upper.sum(axis=1, keepdims=True) + upper
        room = 1.0 - lower.sum(axis=1, keepdims=True) + lower
        error = 4.0 * np.finfo(float).eps * lower.shape[1]
        own = self.own[:, None]
        lower = np.where(own, np.maximum(lower, rest - error), box.lower)
        upper = np.where(own, np.minimum(upper, room + error), box.upper)
        return None if (lower > upper).any() else Box(lower, upper)

    def solve(self, starts: Iterable[Floats], ceiling: float) -> Solved:
        """Search until bounds meet or the time is over; `ceiling` is a bound that is known."""
        self.secured(self.tree.uniform())
        for start in starts:
            if not self.deadline.is_over:
                self.secured(self.normalised(start))
        if self.best + TARGET < ceiling:
            self.ascend(self.policy)
        legal = (self.tree.legal & self.own[:, None]).astype(float)
        waiting: list[tuple[float, int, Box]] = [(-ceiling, 0, Box(np.zeros_like(legal), legal))]
        closed, number, boxes = -np.inf, 0, 0
        while waiting and -waiting[0][0] > self.best + TARGET and not self.deadline.is_over:
            above, _, box = heappop(waiting)
            boxes += 1
            bound, halves = self._taken(box, -above, boxes)
            if not halves:
                closed = max(closed, bound)
            for half in halves:
                number += 1
                heappush(waiting, (-bound, number, half))
        top = -waiting[0][0] if waiting else -np.inf
        return Solved(self.policy, self.best, max(self.best, closed, top), boxes, self.programs)

    def _taken(self, box: Box, bound: float, boxes: int) -> tuple[float, list[Box]]:
        """Bound, narrow and halve a box; there are no halves if it is closed.

        It is bounded again while that makes it much smaller. Policies are sought from its plan, at
        the boxes 1, 2, 4, 8, ... even if that secures less than the best.
        """
        for _ in range(ROUNDS):
            found, known = self.bounded(box), self.best
            if found is None:
                break
            bound = min(bound, found.bound)
            if self.secured(found.policy) > known or boxes & (boxes - 1) == 0:
                self.ascend(found.policy)
            left = self.narrowed(box, found)
            if left is None or bound <= self.best + TARGET:
                return bound if left is not None else -np.inf, []
            shrunk = (box.upper - box.lower - (left.upper - left.lower)).max(initial=0.0)
            box = left
            if shrunk < AGAIN:
                break
        if boxes & (boxes - 1) == 0:
            self.ascend(self.random.exponential(size=self.tree.legal.shape))
        return bound, self._halves(box, found)

    def _halves(self, box: Box, found: Bounded | None) -> list[Box]:
        """Split a box at the cell whose products lift the bound most; none if it is thin."""
        wide = (box.upper - box.lower).ravel()
        score, middle = np.where(wide > THIN, wide, 0.0), (box.lower + box.upper) / 2.0
        if found is not None:
            lifts = score * self._by_cell(found.lifts)
            score, middle = (lifts if lifts.any() else score), found.policy
        cell = int(score.argmax())
        if score[cell] <= 0.0:
            return []
        low, high = box.lower.ravel()[cell], box.upper.ravel()[cell]
        edge = EDGE * (high - low)
        cut = min(max(float(middle.ravel()[cell]), low + edge), high - edge)
        halves = [Box(box.lower.copy(), box.upper.copy()) for _ in range(2)]
        halves[0].upper.ravel()[cell] = halves[1].lower.ravel()[cell] = cut
        return halves

    # --- programs ---------------------------------------------------------------------------------

    def _coupling(
        self, own: Floats, after: Ints, early: Floats, before: Ints, row: Floats, cell: Ints
    ) -> csr_array:
        """Make rows of three entries: at the sequence after, at that before, and at the cell."""
        places = np.concatenate([after, before, self.sizes[0] + cell])
        lines = np.tile(np.arange(len(after)), 3)
        size = len(after), sum(self.sizes)
        return csr_array((np.concatenate([own, early, row]), (lines, places)), size)

    def _program(
        self,
        coupling: csr_array,
        sides: Floats,
        box: Box,
        weights: tuple[Floats, Floats],
        *,
        is_equal: bool = False,
    ) -> Optimum | None:
        """Maximise what weights secure, by the dual of the opponent's response."""
        dag, left = self.opponent.dag, self.deadline.left
        if left <= 0.0:
            return None
        if dag is not self._dag:
            worth = (self.payoffs @ dag.sequences).T
            self._dag, self._duals = dag, dag.equations().T
            self._met = csr_array(-worth)[dag.allowed]
            self._duals = csr_array(self._duals)[dag.allowed]
        met, duals, (sequences, cells) = self._met, self._duals, self.sizes
        choices, values = duals.shape
        responses = hstack([met, csr_array((choices, cells)), duals])
        coupled, equations = (
            hstack([one, csr_array((one.shape[0], values))]) for one in (coupling, self.equations)
        )
        upper, most, equal, once = [responses], [np.zeros(choices)], [equations], [self.once]
        if is_equal:
            equal, once = [coupled, equations], [sides, self.once]
        else:
            upper, most = [responses, coupled], [np.zeros(choices), sides]
        goal = np.zeros(sequences + cells + values)
        goal[sequences + cells] = -FINE
        lower = np.concatenate([weights[0], box.lower.ravel(), np.full(values, -np.inf)])
        higher = np.concatenate([weights[1], box.upper.ravel(), np.full(values, np.inf)])
        answer = linprog(
            goal,
            A_ub=vstack(upper).tocsr(),
            b_ub=np.concatenate(most),
            A_eq=vstack(equal).tocsr(),
            b_eq=np.concatenate(once),
            bounds=np.stack([lower, higher], axis=1),
            method="highs",
            options={"time_limit": left},
        )
        self.programs += 1
        if answer.status != 0:
            return None
        multipliers = np.maximum(-answer.ineqlin.marginals, 0.0) / FINE
        plan = np.zeros(len(dag.allowed))
        plan[dag.allowed] = multipliers[:choices]
        prices = -answer.eqlin.marginals / FINE
        found = Optimum(
            answer.x[:sequences],
            answer.x[sequences : sequences + cells].reshape(box.lower.shape),
            -answer.fun / FINE,
            Mixed.of(dag, plan).plan,
            multipliers[choices:],
            prices[-len(self.once) :],
        )
        return found if all(np.isfinite(one).all() for one in found) else None


def in_policies(tree: FlatTree, solved: Equilibrium, limit: float | Deadline) -> InPolicies:
    """Enclose what each side secures by a policy; the value in mixtures is a bound of both."""
    if not tree.num_rows:
        raise HogeqError(f"{tree.name}: nobody decides; allowed: games with decisions")
    deadline = Deadline.of(limit)
    shared = [len(solving_form(tree, player).shared) for player in (0, 1)]
    first = int(shared[1] < shared[0])  # who forgets less, and may need no time
    one = one_side(tree, solved, first, deadline.share(0.5))
    known = (solved.lower, min(solved.upper, one.upper))
    if first == 0:
        known = (max(solved.lower, one.lower), solved.upper)
    ends = replace(solved, lower=known[0], upper=known[1])
    other = one_side(tree, ends, 1 - first, deadline)
    both = (one, other) if first == 0 else (other, one)
    return replace(both[0], mixtures=solved, second=replace(both[1], mixtures=solved))


def one_side(
    tree: FlatTree, solved: Equilibrium, player: int, limit: float | Deadline
) -> InPolicies:
    """Enclose what one side secures by a policy."""
    deadline, sign = Deadline.of(limit), 1.0 - 2.0 * player
    unit, level = stakes(tree), tree.shift + tree.centre
    search = Maxmin(tree, player, deadline.share(1.0 - PROVING))
    mixture = solved.strategies[player]
    starts = np.concatenate([mixture.policies[:PARTS], averaged(search.form, mixture)[None]])
    known = solved.upper if player == 0 else solved.lower
    alone = unmoved(solving_form(tree, 0), solving_form(tree, 1))  # least and most
    wider, other = alone if player == 0 else alone[::-1]
    ceiling = sign * (known - level - float(wider)) / unit + search.rounding
    result = search.solve(starts[::-1], ceiling)
    policy = Strategy.unchecked(result.policy)
    payoffs = Payoffs(tree, 1 - player, plan_of(search.form, policy, deadline), deadline)
    most = settle(payoffs, deadline, dag=search.opponent.whole, deadline=deadline).most
    secured = most if player else payoffs.total - most
    bound = Fraction(level) + other + int(sign) * Fraction(unit) * Fraction(result.upper)
    least, greatest = sorted((secured, bound))
    return InPolicies(
        lower=below(least),
        upper=above(greatest),
        strategy=seated(tree, policy, player),
        is_proved=bool(result.upper - result.lower <= MEETING),
        method="branch and bound",
        effort={"boxes": result.boxes, "programs": result.programs},
        mixtures=solved,
        seconds=deadline.spent,
        player=player,
    )
