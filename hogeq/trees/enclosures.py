"""Ends of payoffs that hold whatever float64 rounds: in fractions, or with a margin by a theorem.

Searches and programs work on float64 numbers and prove nothing. What they find, strategies of one
side, is valued here again: the payoffs of the other side's sequences against them, what a strategy
gets of these, and the most that any strategy gets. ``docs/theory.md`` has the theorems.

**Fractions.** A tree of at most `MOST_NODES` nodes is valued without rounding, by the numbers that
its own stand for (:mod:`hogeq.trees.exact_numbers`). What there is no time for in fractions has
margins, and so has a tree with a number that no double stands for.

**Margins.** In other trees every number stands for one within a rounding of it. With u = 2**-53
a product of n such numbers, and a sum of n products by their sizes, is off by the factor
gamma(n) = n u / (1 - n u) at most (Higham, "Accuracy and stability of numerical algorithms", 2002,
lemma 3.1). Best responses add up with every sum rounded upward, so none of them gets more.
"""

import math
from collections.abc import Iterable, Iterator
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple, TypeVar

import numpy as np

from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.trees.beliefs import BeliefDag, TooSlowError, remembering
from hogeq.trees.exact_numbers import MOST_EXACT, distribution, meant, missed, paid_in
from hogeq.trees.flat import TERMINAL, FlatTree, reach
from hogeq.trees.sequences import SequenceForm
from hogeq.trees.shuffling import solving_form

MOST_NODES: Final = 2_000  # of a tree that is valued in fractions: a fifth of a second
MOST_WORK: Final = 1_000_000  # nodes times depth, choices or decisions times depth and components
MOST_BITS: Final = 4096  # of the denominators of chance in a play
MEANT: Final = 1000  # denominators of probabilities that a program gives with an error
NEAR: Final = 1e-10  # of probabilities to fractions that may be meant
ROUNDING: Final = 2.0**-53  # u
TINY: Final = 1e-300  # more than a product loses by underflow
SAFE: Final = 1.0 + 1e-6  # more than the roundings of a margin itself come to
PACES: Final = 64  # steps in fractions between two looks at the time

Fractions = list[Fraction]
Item = TypeVar("Item")


def gamma(count: float) -> float:
    """Bound the relative error of so many roundings."""
    return count * ROUNDING / (1.0 - count * ROUNDING) if count * ROUNDING < 0.5 else np.inf


def in_time(items: Iterable[Item], deadline: Deadline) -> Iterator[Item]:
    """Go through items; `TooSlowError` when the time is over."""
    for number, one in enumerate(items):
        if number % PACES == 0 and deadline.is_over:
            raise TooSlowError("no time is left for fractions")
        yield one


def shortened(strategy: Strategy) -> Strategy:
    """Round distributions of a mixture to fractions of small denominators that are all but they.

    A program gives 1/3 with an error, which is all that keeps the ends of some games apart.
    """
    policies, chances = strategy.policies.tolist(), strategy.chances.tolist()
    rows = np.array([[_shortened(row) for row in policy] for policy in policies])
    return Strategy.unchecked(rows.reshape(strategy.policies.shape), np.array(_shortened(chances)))


def _shortened(numbers: list[float]) -> list[float]:
    short = [Fraction(one).limit_denominator(MEANT) for one in numbers]
    are_near = all(abs(one - two) <= NEAR for one, two in zip(short, numbers, strict=True))
    return [*map(float, short)] if are_near and sum(short) == 1 else numbers


# --- plans ----------------------------------------------------------------------------------------


class Plan(NamedTuple):
    """Realisation weights of a player's sequences, (S,)."""

    weights: Floats
    roundings: float  # each is off by the factor gamma of so many
    exact: Fractions | None = None  # or none is, and these are the weights


def plan_of(form: SequenceForm, strategy: Strategy, deadline: Deadline = FOREVER) -> Plan:
    """Plan of a strategy: a policy, or a mixture of such."""
    tree = form.tree
    chances, policies = strategy.chances, strategy.policies
    weights = sum(
        chance * form.realisation(one) for chance, one in zip(chances, policies, strict=True)
    )
    depth = len(tree.levels)
    work = len(chances) * max(len(form.row) * depth, form.size)
    if fits(tree) and work <= MOST_WORK:
        with suppress(TooSlowError):
            return Plan(np.asarray(weights), 0, _exact_plan(form, strategy, deadline))
    steps = (3 + missed(tree, strategy)) * depth
    return Plan(np.asarray(weights), steps + 4 * len(chances) + 8)


def _exact_plan(form: SequenceForm, strategy: Strategy, deadline: Deadline) -> Fractions:
    exact = [Fraction()] * form.size
    chances, counts = distribution(strategy.chances.tolist()), form.tree.num_legal.tolist()
    for chance, policy in zip(chances, strategy.policies, strict=True):
        if chance:
            rows = in_time(zip(policy.tolist(), counts, strict=True), deadline)
            shares = [distribution(row[:count]) for row, count in rows]
            pasts = zip(form.before.tolist(), form.row.tolist(), strict=True)
            weights = [Fraction(1)]
            for sequence, row in in_time(pasts, deadline):
                comes = weights[sequence]
                weights += [comes * one if comes and one else Fraction() for one in shares[row]]
            for sequence, weight in enumerate(weights):
                if weight:
                    exact[sequence] += chance * weight
    return exact


def plan_of_flow(dag: BeliefDag, flow: Floats, deadline: Deadline = FOREVER) -> Plan:
    """Plan of the mixture of a belief DAG that has nearly a flow, which need not be one."""
    shares = dag.normalised(flow)
    tree, weights = dag.form.tree, dag.sequences @ dag.flow(shares)
    is_pure = bool((dag.sequences.data == 1.0).all())
    if is_pure and fits(tree) and len(dag.row) * len(tree.levels) <= MOST_WORK:
        with suppress(TooSlowError):
            return Plan(weights, 0, _exact_plan_of_shares(dag, shares, deadline))
    # A sum and a quotient make a share, a sum and a product a choice, a sum a sequence.
    steps = len(dag.source) + len(dag.allowed) + len(dag.row) * 4
    return Plan(weights, steps + len(dag.row) + 3 * len(tree.levels) + 8)


def _exact_plan_of_shares(dag: BeliefDag, shares: Floats, deadline: Deadline) -> Fractions:
    into: list[list[int]] = [[] for _ in dag.row]
    for source, target in zip(dag.source.tolist(), dag.target.tolist(), strict=True):
        into[target].append(source)
    exact = [Fraction(1)]
    parts = zip(into, pairwise(dag.start.tolist()), strict=True)
    for sources, (begin, end) in in_time(parts, deadline):
        comes = sum((exact[one] for one in sources), Fraction())
        exact += [comes * one if one else one for one in distribution(shares[begin:end].tolist())]
    taken = dag.sequences.tocoo()
    found = [Fraction()] * dag.sequences.shape[0]
    pairs = zip(taken.row.tolist(), taken.col.tolist(), strict=True)
    for sequence, choice in in_time(pairs, deadline):
        if exact[choice]:
            found[sequence] += exact[choice]
    return found


# --- payoffs --------------------------------------------------------------------------------------


class Numbers(NamedTuple):
    """The numbers of a tree in fractions."""

    chance: Fractions  # by which chance lets play come to each end, (E,)
    paid: Fractions  # to player 0 there
    total: Fraction  # both players' payoffs


def fits(tree: FlatTree) -> bool:
    """Whether a tree is valued in fractions."""
    return numbers_of(tree) is not None


@lru_cache(maxsize=4)
def numbers_of(tree: FlatTree) -> Numbers | None:
    """Give the numbers of a small tree in fractions; None if they would be too long."""
    if tree.is_rounded or tree.num_nodes > MOST_NODES:
        return None
    if tree.num_nodes * len(tree.levels) > MOST_WORK:
        return None
    odds, parents = tree.odds.tolist(), tree.parent[tree.after_chance]
    starts = np.flatnonzero(np.diff(parents, prepend=-1)).tolist()
    exact: Fractions = []
    for start, end in pairwise([*starts, len(odds)]):
        exact += distribution(odds[start:end])
    long = math.lcm(*{one.denominator // (one.denominator & -one.denominator) for one in exact})
    level = Fraction(tree.shift + tree.centre)
    paid = [meant(one + float(level)) if level else meant(one) for one in tree.paid.tolist()]
    longest = math.lcm(*{one.denominator // (one.denominator & -one.denominator) for one in paid})
    if max(long.bit_length() * len(tree.levels), longest.bit_length()) > MOST_BITS:
        return None
    reached = [Fraction(1)] * tree.num_nodes
    for node, chance in zip(tree.after_chance.tolist(), exact, strict=True):
        reached[node] = chance
    for node, parent in enumerate(tree.parent.tolist()):
        if node:
            come = reached[parent]
            reached[node] = come * reached[node] if reached[node] != 1 else come
    ends = np.flatnonzero(tree.player == TERMINAL).tolist()
    return Numbers([reached[end] for end in ends], paid, meant(2.0 * tree.shift))


class Payoffs:
    """Payoffs of a player's sequences against a plan of the other, in the game's own units.

    A strategy gets `level` and, for each sequence, `unit` times `middle`, which is off by `radius`.
    In fractions the level is what a player gets who remembers the own past, and the others are what
    each action loses to the best: all that the player cannot change is taken off. When the time is
    over, no more is done in fractions.
    """

    def __init__(
        self,
        tree: FlatTree,
        player: int,
        plan: Plan,
        deadline: Deadline = FOREVER,
        form: SequenceForm | None = None,
    ) -> None:
        self.deadline = deadline
        self.form, other = form or solving_form(tree, player), solving_form(tree, 1 - player)
        ends = np.flatnonzero(tree.player == TERMINAL)
        at, met = self.form.at[ends], other.at[ends]
        size = self.form.size
        numbers, sign = numbers_of(tree), 1 - 2 * player
        self.total = 2 * Fraction(tree.shift) if numbers is None else numbers.total
        self.exact: Fractions | None = None
        if numbers is not None and plan.exact is not None and size <= MOST_WORK:
            with suppress(TooSlowError):
                self.exact = self._exactly(numbers, player, plan.exact)
                self.lost = self._take_off()
                self.rescale(max(map(abs, self.lost)))
                return
            self.exact = None
        come = reach(tree, np.ones((tree.num_rows, tree.num_actions)))
        come = np.where(tree.possible, come, 0.0)[ends] * plan.weights[met]
        self.level = Fraction(tree.shift) + sign * Fraction(tree.centre)
        alone = np.flatnonzero((at == 0) & (met == 0))
        decided = np.ones(len(ends), bool)
        if not tree.is_rounded and len(alone) <= MOST_EXACT:
            self.level += sign * paid_in(tree, alone)
            decided[alone] = False
        self.unit = Fraction(tree.largest_payoff) * Fraction(tree.expected)
        worth = sign * decided * come * (tree.shares[ends] / tree.expected)
        self.middle = np.bincount(at, worth, size).astype(np.float64)
        count = np.bincount(at, minlength=size)
        # Numbers, their sums, products and the quotient; those that add up; what centring had
        # rounded away.
        roundings = (3 + tree.missed) * len(tree.levels) + plan.roundings + 8 + count
        share = roundings * ROUNDING / (1.0 - np.minimum(roundings * ROUNDING, 0.5))
        self.radius = share * np.bincount(at, np.abs(worth), size) + TINY * count
        level = abs(tree.shift) + abs(tree.centre)
        if level:
            missed = 4.0 * ROUNDING * level / float(self.unit)
            self.radius += missed * np.bincount(at, come, size)
        self.radius *= SAFE

    def _exactly(self, numbers: Numbers, player: int, plan: Fractions) -> Fractions:
        tree, other = self.form.tree, solving_form(self.form.tree, 1 - player)
        ends = np.flatnonzero(tree.player == TERMINAL)
        at, met = self.form.at[ends].tolist(), other.at[ends].tolist()
        found = [Fraction()] * self.form.size
        each = zip(at, met, numbers.chance, numbers.paid, strict=True)
        for sequence, theirs, chance, paid in in_time(each, self.deadline):
            weight = plan[theirs]
            if weight and chance:
                own = paid if player == 0 else numbers.total - paid
                found[sequence] += chance * weight * own
        return found

    def _take_off(self) -> Fractions:
        assert self.exact is not None  # noqa: S101 - set before
        rest, starts = [*self.exact], self.form.start.tolist()
        befores = self.form.before.tolist()
        for refined in in_time(range(len(befores) - 1, -1, -1), self.deadline):
            part = slice(*starts[refined : refined + 2])
            after = rest[part]
            best = max(after)
            if best:
                rest[part] = [one - best for one in after]
                rest[befores[refined]] += best
        self.level, rest[0] = rest[0], Fraction()
        return rest

    def rescale(self, unit: Fraction) -> None:
        """Measure losses in fractions by a unit, and cut them off at twice that.

        No sequence of a pure strategy that loses a unit or less changes by this, and every other
        pure strategy still loses more than a unit.
        """
        self.unit = unit or Fraction(1)
        most = -2 * self.unit
        self.middle = np.array(
            [float(max(one, most) / self.unit) if one else 0.0 for one in self.lost]
        )
        self.radius = 2.0 * ROUNDING * np.abs(self.middle) + (self.middle < 0.0) * TINY
        self.radius[self.middle == -2.0] = 0.0

    @property
    def most_each(self) -> Floats:
        """Upper ends of the payoffs of sequences, (S,)."""
        upper = np.nextafter(self.middle + self.radius, np.inf)
        return np.where(self.radius > 0.0, upper, self.middle)

    def payoff(self, share: float) -> Fraction:
        """Payoff of so many units."""
        return self.level + self.unit * Fraction(share)

    def most(self, dag: BeliefDag) -> Fraction:
        """Most that any mixture of a belief DAG gets, at most."""
        if self.exact is not None and dag.sequences.nnz + len(dag.source) <= MOST_WORK // 4:
            with suppress(TooSlowError):
                return self.level + _risen(dag, self.lost, self.deadline)
        taken = dag.sequences
        count = int(np.bincount(taken.indices, minlength=1).max(initial=1))
        radius = self.radius + gamma(count + 2) * (np.abs(self.middle) + self.radius)
        worth = np.nextafter(taken.T @ self.middle + SAFE * (taken.T @ radius), np.inf)
        return self.payoff(dag.most(worth))

    def moved(self, payoffs: Floats, unit: float, bound: float) -> Fraction:
        """Bound what any strategy gets here by a bound on what it gets of others, `unit` times.

        By no strategy do the two differ more than for a player who remembers the own past.
        """
        dag, size = remembering(self.form), Fraction(unit)
        if self.exact is not None:
            with suppress(TooSlowError):
                both = in_time(zip(self.exact, payoffs.tolist(), strict=True), self.deadline)
                apart = [one - size * Fraction(two) if one or two else one for one, two in both]
                return _risen(dag, apart, self.deadline) + size * Fraction(bound)
        same = float(self.unit / size)
        middle = same * self.middle
        sizes = np.abs(middle) + np.abs(payoffs) + same * self.radius
        worth = middle - payoffs + SAFE * (same * self.radius + 6.0 * ROUNDING * sizes) + TINY
        return self.level + size * (Fraction(self.form.most(worth)) + Fraction(bound))

    def least_of(self, plan: Plan) -> Fraction:
        """Payoff of a plan of the player, at least."""
        return self.ends_of(plan)[0]

    def ends_of(self, plan: Plan) -> tuple[Fraction, Fraction]:
        """Payoff of a plan of the player, at least and at most; one number in fractions."""
        if self.exact is not None and plan.exact is not None:
            with suppress(TooSlowError):
                pairs = in_time(zip(self.lost, plan.exact, strict=True), self.deadline)
                gained = (one * two for one, two in pairs if one and two)
                value = self.level + sum(gained, Fraction())
                return value, value
        met = plan.weights > 0.0
        weights, middle, radius = plan.weights[met], self.middle[met], self.radius[met]
        if self.exact is not None:
            whole = Payoffs.__new__(Payoffs)  # without what rescaling cut off
            vars(whole).update(vars(self))
            whole.rescale(max(map(abs, self.lost)))
            whole.exact = None
            return whole.ends_of(plan)
        total = math.fsum((weights * middle).tolist())
        off = math.fsum((weights * radius).tolist())
        off += gamma(plan.roundings + 3) * math.fsum((weights * (np.abs(middle) + radius)).tolist())
        apart = SAFE * off + TINY
        lower, upper = (
            math.nextafter(total - apart, -math.inf),
            math.nextafter(total + apart, math.inf),
        )
        return self.payoff(lower), self.payoff(upper)


def _risen(dag: BeliefDag, payoffs: Fractions, deadline: Deadline) -> Fraction:
    """Most that choices of a belief DAG get of the payoffs of sequences."""
    worth = [Fraction()] * len(dag.allowed)
    taken = dag.sequences.tocoo()
    pairs = zip(taken.row.tolist(), taken.col.tolist(), strict=True)
    for sequence, choice in in_time(pairs, deadline):
        if payoffs[sequence]:
            worth[choice] += payoffs[sequence]
    starts, allowed = dag.start.tolist(), dag.allowed.tolist()
    ends, source = dag.ends.tolist(), dag.source.tolist()
    for at in in_time(range(len(dag.row) - 1, -1, -1), deadline):
        best = max(worth[one] for one in range(*starts[at : at + 2]) if allowed[one])
        for edge in source[ends[at] : ends[at + 1]] if best else ():
            worth[edge] += best
    return worth[0]
