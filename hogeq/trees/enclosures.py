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
from hogeq.support.aliases import Floats, Ints
from hogeq.support.deadline import FOREVER, Deadline
from hogeq.support.floats import UNIT_ROUNDOFF
from hogeq.support.short_fractions import short_fraction
from hogeq.trees import flat
from hogeq.trees.beliefs import BeliefDag, TooSlowError, recall_dag
from hogeq.trees.exact_numbers import (
    ExactReach,
    distribution,
    exact_payoff_of_plays,
    most_exact,
    row_sum_error,
)
from hogeq.trees.flat import CHANCE, TERMINAL, FlatTree, reach_by_chance
from hogeq.trees.sequences import SequenceForm
from hogeq.trees.shuffling import solving_form

MOST_NODES: Final = 2_000  # of a tree that is valued in fractions: a fifth of a second
MOST_WORK: Final = 1_000_000  # nodes times depth, choices or decisions times depth and components
MOST_BITS: Final = 4096  # of the denominators of chance in a play
# A program gives 1/3 with an error: probabilities are rounded to fractions that are near.
DENOMINATORS: Final = 1000  # at most
NEAR: Final = 1e-10  # largest distance
TINY: Final = 1e-300  # more than a product loses by underflow
SAFE: Final = 1.0 + 1e-6  # factor of margins, for the roundings of their own computation
PACES: Final = 64  # steps in fractions between two looks at the time

Fractions = list[Fraction]
Item = TypeVar("Item")


def gamma(count: float) -> float:
    """Bound the relative error of n roundings: n u / (1 - n u), or infinity if n u >= 1/2."""
    relative_error = count * UNIT_ROUNDOFF
    return relative_error / (1.0 - relative_error) if relative_error < 0.5 else np.inf


def until_deadline(items: Iterable[Item], deadline: Deadline) -> Iterator[Item]:
    """Pass on items one by one; `TooSlowError` once the deadline is over."""
    for number, item in enumerate(items):
        if number % PACES == 0 and deadline.is_over:
            raise TooSlowError("no time is left for fractions")
        yield item


def round_to_short_fractions(strategy: Strategy) -> Strategy:
    """Round the distributions of a mixture to short fractions that are very near.

    A program gives 1/3 with an error, which alone keeps the bounds on some games' values apart.
    """
    rows = [[_round_distribution(row) for row in policy] for policy in strategy.policies.tolist()]
    policies = np.array(rows).reshape(strategy.policies.shape)
    return Strategy.unchecked_mixture(
        policies, np.array(_round_distribution(strategy.chances.tolist()))
    )


def _round_distribution(probabilities: list[float]) -> list[float]:
    """Round a distribution to short fractions; give it back if they are far or miss the sum 1."""
    short = [Fraction(probability).limit_denominator(DENOMINATORS) for probability in probabilities]
    pairs = zip(short, probabilities, strict=True)
    are_near = all(abs(fraction - probability) <= NEAR for fraction, probability in pairs)
    return [*map(float, short)] if are_near and sum(short) == 1 else probabilities


# --- plans ----------------------------------------------------------------------------------------


class Plan(NamedTuple):
    """Realisation plan: by which probability a player's own actions allow each sequence."""

    form: SequenceForm  # whose S sequences these are
    weights: Floats  # (S,), realisation weights in float64
    roundings: float  # of each weight: the relative error is gamma(roundings) at most
    exact_weights: Fractions | None = None  # (S,), in fractions, if they were computed so


def plan_of(form: SequenceForm, strategy: Strategy, deadline: Deadline = FOREVER) -> Plan:
    """Compute the realisation plan of a behaviour strategy, or of a mixture of such.

    The weight of a sequence is the product of the probabilities of its actions, of a mixture the
    mean over the components. It is a fraction as well if the tree is small and time is left.
    """
    tree = form.tree
    depth = len(tree.levels)
    components = zip(strategy.chances, strategy.policies, strict=True)
    weights = np.asarray(
        sum(probability * form.realisation(policy) for probability, policy in components)
    )
    work = len(strategy.chances) * max(form.num_refined * depth, form.num_sequences)
    if has_fractions(tree) and work <= MOST_WORK:
        with suppress(TooSlowError):
            return Plan(form, weights, 0, _exact_plan(form, strategy, deadline))
    roundings = (flat.MOVE_ROUNDINGS + row_sum_error(tree, strategy)) * depth
    roundings += flat.COMPONENT_ROUNDINGS * len(strategy.chances) + flat.OTHER_ROUNDINGS
    return Plan(form, weights, roundings)


def _exact_plan(form: SequenceForm, strategy: Strategy, deadline: Deadline) -> Fractions:
    """Compute the realisation plan, (S,), of a strategy in fractions.

    The weight of a sequence is the product of the probabilities of its actions, of a mixture the
    mean over the components.
    """
    exact = [Fraction()] * form.num_sequences
    num_legal = form.tree.num_legal.tolist()
    components = zip(distribution(strategy.chances.tolist()), strategy.policies, strict=True)
    for probability, policy in components:
        if not probability:
            continue
        rows = until_deadline(zip(policy.tolist(), num_legal, strict=True), deadline)
        of_rows = [distribution(row[:count]) for row, count in rows]
        of_infosets = [of_rows[row] for row in form.row_of_refined.tolist()]
        flow = _exact_flow(recall_dag(form), of_infosets, deadline)
        for sequence, weight in enumerate(flow):
            if weight:
                exact[sequence] += probability * weight
    return exact


def _exact_flow(dag: BeliefDag, shares: Iterable[Fractions], deadline: Deadline) -> Fractions:
    """Compute the flow through a belief DAG in fractions, (C,).

    `shares` are the probabilities of the choices of each decision, decision by decision.
    """
    choices_into: list[list[int]] = [[] for _ in dag.row_of_decision]
    for choice, decision in zip(dag.edge_source.tolist(), dag.edge_target.tolist(), strict=True):
        choices_into[decision].append(choice)
    flow = [Fraction(1)]  # of the begin; those of each decision are appended
    for sources, of_choices in until_deadline(zip(choices_into, shares, strict=True), deadline):
        inflow = sum((flow[choice] for choice in sources), Fraction())
        flow += [inflow * share if inflow and share else Fraction() for share in of_choices]
    return flow


def plan_of_flow(dag: BeliefDag, flow: Floats, deadline: Deadline = FOREVER) -> Plan:
    """Compute the realisation plan of a flow, (C,), through a belief DAG; it may be inexact.

    The plan is a fraction as well if the tree is small, time is left, and choices take whole
    sequences. Those of a draw of policies take shares of them.
    """
    probabilities = dag.choice_probabilities(flow)
    tree = dag.form.tree
    weights = dag.plan_matrix @ dag.flow(probabilities)
    takes_whole_sequences = bool((dag.plan_matrix.data == 1.0).all())
    if (
        takes_whole_sequences
        and has_fractions(tree)
        and dag.num_decisions * len(tree.levels) <= MOST_WORK
    ):
        with suppress(TooSlowError):
            return Plan(dag.form, weights, 0, _exact_plan_of_shares(dag, probabilities, deadline))
    # A probability takes a sum and a quotient, a choice a sum and a product, a sequence a sum.
    roundings = len(dag.edge_source) + dag.num_choices + 5 * dag.num_decisions
    roundings += flat.MOVE_ROUNDINGS * len(tree.levels) + flat.OTHER_ROUNDINGS
    return Plan(dag.form, weights, roundings)


def _exact_plan_of_shares(dag: BeliefDag, shares: Floats, deadline: Deadline) -> Fractions:
    """Compute realisation weights of sequences, (S,), in fractions, from `shares` of choices, (C,).

    The shares are the probabilities, at each decision of the belief DAG, of its choices. A choice
    has the flow that they send through it; a sequence the sum of the flow of choices that take it.
    """
    decisions = pairwise(dag.choice_offsets.tolist())  # ranges of their choices
    exact_shares = (distribution(shares[begin:end].tolist()) for begin, end in decisions)
    flow = _exact_flow(dag, exact_shares, deadline)
    weights = [Fraction()] * dag.plan_matrix.shape[0]
    entries = dag.plan_matrix.tocoo()
    pairs = zip(entries.row.tolist(), entries.col.tolist(), strict=True)
    for sequence, choice in until_deadline(pairs, deadline):
        if flow[choice]:
            weights[sequence] += flow[choice]
    return weights


# --- payoffs --------------------------------------------------------------------------------------


class Numbers(NamedTuple):
    """The numbers of a tree in fractions."""

    reach_by_chance: Fractions  # (E,), reach of each terminal node by the moves of chance
    terminal_payoffs: Fractions  # (E,), payoff to player 0
    payoff_sum: Fraction  # sum of both players' payoffs


def has_fractions(tree: FlatTree) -> bool:
    """Whether a tree is valued in fractions."""
    return exact_numbers_of(tree) is not None


@lru_cache(maxsize=4)
def exact_numbers_of(tree: FlatTree) -> Numbers | None:
    """Convert the probabilities of chance and the payoffs of a tree to fractions, once.

    None if the tree is too large, its numbers are rounded already, or fractions would have too many
    digits.
    """
    is_small = tree.num_nodes <= MOST_NODES and tree.num_nodes * len(tree.levels) <= MOST_WORK
    if tree.is_rounded or not is_small:
        return None
    by_chance = ExactReach(tree, CHANCE)
    nodes = tree.nodes_after_chance
    probabilities = [*map(by_chance.step, tree.parent[nodes].tolist(), nodes.tolist())]
    level = Fraction(tree.shift + tree.centre)  # the tree's payoffs are relative to it
    offset = float(level)
    paid = [
        short_fraction(number + offset) if level else short_fraction(number)
        for number in tree.terminal_payoffs.tolist()
    ]
    # The probability of a play is a product of one step of each level at most.
    bits_of_play = _bits_of_denominators(probabilities) * len(tree.levels)
    if max(bits_of_play, _bits_of_denominators(paid)) > MOST_BITS:
        return None
    ends = np.flatnonzero(tree.player == TERMINAL).tolist()
    return Numbers([*map(by_chance.of, ends)], paid, short_fraction(2.0 * tree.shift))


def _bits_of_denominators(numbers: Fractions) -> int:
    """Count the bits of a common denominator, leaving out factors of two, which cost no time."""
    denominators = {number.denominator for number in numbers}
    odd_parts = [number // (number & -number) for number in denominators]
    return math.lcm(*odd_parts).bit_length()


class Payoffs:
    """Payoffs of a player's sequences against a plan of the other, in the game's own units.

    A strategy gets `level` plus the sum over its sequences of `unit` times a number between
    `midpoints` - `radii` and `midpoints` + `radii`, (S,) each. In fractions, (S,) each,
    `exact_payoffs` are those of sequences, and `exact_losses` what they lose to the best one at
    their information set; the level is then the payoff with perfect recall. Without time there are
    no fractions.
    """

    def __init__(
        self,
        tree: FlatTree,
        player: int,  # 0 or 1, whose payoffs these are
        plan: Plan,  # of the other player
        deadline: Deadline = FOREVER,
        form: SequenceForm | None = None,  # of the player; by default its `solving_form`
    ) -> None:
        """Compute the payoffs: in fractions if the tree and its plans allow it, else in float64."""
        self.deadline = deadline
        self.form = form or solving_form(tree, player)
        numbers = exact_numbers_of(tree)
        self.payoff_sum = 2 * Fraction(tree.shift) if numbers is None else numbers.payoff_sum
        self.exact_payoffs: Fractions | None = None
        is_small = self.form.num_sequences <= MOST_WORK
        if numbers is not None and plan.exact_weights is not None and is_small:
            with suppress(TooSlowError):
                self.exact_payoffs = self._payoffs_in_fractions(numbers, player, plan)
                self.exact_losses = self._subtract_best(self.exact_payoffs)
                self.rescale(max(map(abs, self.exact_losses)))
                return
            self.exact_payoffs = None
        self._set_intervals(tree, player, plan)

    def _payoffs_in_fractions(self, numbers: Numbers, player: int, plan: Plan) -> Fractions:
        """Compute the payoffs of sequences, (S,), in fractions, by the other's exact plan."""
        payoffs = [Fraction()] * self.form.num_sequences
        other_weights = plan.exact_weights or []
        sequences = [array.tolist() for array in self._sequences_at_ends(plan)]
        ends = zip(*sequences, numbers.reach_by_chance, numbers.terminal_payoffs, strict=True)
        for own_sequence, other_sequence, chance, paid in until_deadline(ends, self.deadline):
            weight = other_weights[other_sequence]
            if weight and chance:
                own_payoff = paid if player == 0 else numbers.payoff_sum - paid
                payoffs[own_sequence] += chance * weight * own_payoff
        return payoffs

    def _sequences_at_ends(self, plan: Plan) -> tuple[Ints, Ints]:
        """Give the sequences of the player and of the other's plan at terminal nodes, (E,) each."""
        ends = np.flatnonzero(self.form.tree.player == TERMINAL)
        return self.form.sequence_of_node[ends], plan.form.sequence_of_node[ends]

    def _subtract_best(self, payoffs: Fractions) -> Fractions:
        """Subtract from each sequence, and what follows it, the best at its information set.

        The level becomes the payoff of a best response with perfect recall, and a loss is left to
        each sequence, (S,): 0, or below 0.
        """
        self.level, *values = _exact_values(recall_dag(self.form), payoffs, self.deadline)
        losses = [Fraction()]  # of the empty sequence; those of each infoset are appended
        for begin, end in pairwise((self.form.sequence_offsets - 1).tolist()):
            best = max(values[begin:end])
            losses += [value - best for value in values[begin:end]]
        return losses

    def _set_intervals(self, tree: FlatTree, player: int, plan: Plan) -> None:
        """Enclose the payoffs of sequences in float64: each in midpoint -+ radius, in units.

        A radius is the relative error of n roundings, gamma(n) = n u / (1 - n u) (Higham 2002,
        lemma 3.1), times the sum of the sizes of a sequence's terms. `level` is a constant that is
        added to all payoffs, `unit` the stakes: the most that players can expect.
        """
        size = self.form.num_sequences
        ends = np.flatnonzero(tree.player == TERMINAL)
        own_sequence, other_sequence = self._sequences_at_ends(plan)
        sign = 1 - 2 * player  # the payoffs of the tree are player 0's
        by_chance = reach_by_chance(tree)
        # (E,), reach of terminal nodes by chance and the other player.
        end_reach = np.where(tree.is_possible, by_chance, 0.0)[ends] * plan.weights[other_sequence]
        self.level = Fraction(tree.shift) + sign * Fraction(tree.centre)
        by_chance_alone = np.flatnonzero((own_sequence == 0) & (other_sequence == 0))
        is_counted = np.ones(len(ends), bool)
        if not tree.is_rounded and len(by_chance_alone) <= most_exact(tree):
            self.level += sign * exact_payoff_of_plays(tree, by_chance_alone)
            is_counted[by_chance_alone] = False
        self.unit = Fraction(tree.largest_payoff) * Fraction(tree.largest_expected_share)
        payoffs = tree.payoff_shares[ends] / tree.largest_expected_share
        weighted_payoffs = sign * is_counted * end_reach * payoffs
        self.midpoints = np.bincount(own_sequence, weighted_payoffs, size).astype(np.float64)
        num_ends = np.bincount(own_sequence, minlength=size)  # of each sequence
        sizes = np.bincount(own_sequence, np.abs(weighted_payoffs), size)
        self.radii = _relative_errors(tree, plan, num_ends) * sizes + TINY * num_ends
        level = abs(tree.shift) + abs(tree.centre)
        if level:  # centring had rounded some of each payoff away
            missed_by_centring = flat.CENTRING_ROUNDINGS * UNIT_ROUNDOFF * level / float(self.unit)
            self.radii += missed_by_centring * np.bincount(own_sequence, end_reach, size)
        self.radii *= SAFE

    def rescale(self, unit: Fraction) -> None:
        """Convert the exact losses to doubles, in units of `unit`, cut off at two units.

        Sets `midpoints` and `radii`, half the widths of the intervals of losses. No sequence
        of a pure strategy that loses a unit or less is cut off, and every other pure strategy still
        loses more than a unit.
        """
        self.unit, self.midpoints, self.radii = self._losses_in_units(unit)

    def _losses_in_units(self, unit: Fraction) -> tuple[Fraction, Floats, Floats]:
        """Divide the exact losses of sequences by a unit, in float64; losses of two units are cut.

        Returns the unit, 1 in place of 0; and midpoints and radii, (S,) each: a loss is in its
        midpoint -+ its radius, which encloses the roundings of the division and of the result.
        """
        unit = unit or Fraction(1)
        cut_off = -2 * unit
        midpoints = np.array(
            [float(max(loss, cut_off) / unit) if loss else 0.0 for loss in self.exact_losses]
        )
        radii = 2.0 * UNIT_ROUNDOFF * np.abs(midpoints) + (midpoints < 0.0) * TINY
        radii[midpoints == -2.0] = 0.0  # cut off: the number is exact
        return unit, midpoints, radii

    @property
    def upper_ends(self) -> Floats:
        """Upper ends of the payoffs of sequences, (S,)."""
        upper = np.nextafter(self.midpoints + self.radii, np.inf)
        return np.where(self.radii > 0.0, upper, self.midpoints)

    def payoff(self, share: float) -> Fraction:
        """Convert a number of units to a payoff in the game's own units."""
        return self.level + self.unit * Fraction(share)

    def best_response_bound(self, dag: BeliefDag) -> Fraction:
        """Bound from above the payoff of a best response among the mixtures of a belief DAG.

        In fractions if there is time; else by the upper ends of intervals, with the error gamma(n)
        of sums of n products, and a backward pass whose sums are rounded upward.
        """
        num_entries = dag.plan_matrix.nnz + len(dag.edge_source)
        if self.exact_payoffs is not None and num_entries <= MOST_WORK // 4:
            with suppress(TooSlowError):
                return self.level + _exact_values(dag, self.exact_losses, self.deadline)[0]
        sequences = dag.plan_matrix  # (S, C), by choices
        # A choice sums so many products, each of which is rounded.
        num_products = int(np.bincount(sequences.indices, minlength=1).max(initial=1))
        radius = self.radii + gamma(num_products + 2) * (np.abs(self.midpoints) + self.radii)
        upper = np.nextafter(sequences.T @ self.midpoints + SAFE * (sequences.T @ radius), np.inf)
        return self.payoff(dag.upper_bound(upper))

    def moved_bound(self, payoffs: Floats, unit: float, bound: float) -> Fraction:
        """Bound the payoff of any strategy by a `bound` proved for nearly the same payoffs.

        These, `payoffs` (S,) of the player's sequences, and their bound are in units of `unit`. A
        strategy gets more by the exact payoffs than by these by no more than a best response with
        perfect recall gets where sequences pay the differences: that is added to the bound.
        """
        exact_unit = Fraction(unit)
        most_apart = None
        if self.exact_payoffs is not None:
            with suppress(TooSlowError):
                most_apart = self._most_apart_exactly(self.exact_payoffs, payoffs, exact_unit)
        if most_apart is None:
            most_apart = self._most_apart(payoffs, exact_unit)
        return most_apart + exact_unit * Fraction(bound)

    def _most_apart_exactly(
        self, exact_payoffs: Fractions, payoffs: Floats, unit: Fraction
    ) -> Fraction:
        """Compute the best response with perfect recall to exact payoffs less others, in fractions.

        The others, (S,), are in units of `unit`. Raises `TooSlowError` without time.
        """
        both = zip(exact_payoffs, payoffs.tolist(), strict=True)
        differences = [
            exact - unit * Fraction(payoff) if exact or payoff else exact
            for exact, payoff in until_deadline(both, self.deadline)
        ]
        return _exact_values(recall_dag(self.form), differences, self.deadline)[0]

    def _most_apart(self, payoffs: Floats, unit: Fraction) -> Fraction:
        """Bound the best response with perfect recall to these payoffs less others, by intervals.

        The others, (S,), are in units of `unit`. The bound contains the level.
        """
        ratio = float(self.unit / unit)  # converts midpoints and radii to units of `unit`
        middle = ratio * self.midpoints
        radius = ratio * self.radii
        sizes = np.abs(middle) + np.abs(payoffs) + radius
        # The ratio, its products, the sums and the margin itself: six roundings of these sizes.
        margin = SAFE * (radius + 6.0 * UNIT_ROUNDOFF * sizes)
        share = self.form.upper_bound(middle - payoffs + margin + TINY)
        return self.level + unit * Fraction(share)

    def least_payoff(self, policy: Floats) -> Fraction:
        """Bound from below the payoff that a policy of the player, (R, K), gets."""
        plan = plan_of(self.form, Strategy.unchecked(policy), self.deadline)
        return self.payoff_bounds(plan)[0]

    def payoff_bounds(self, plan: Plan) -> tuple[Fraction, Fraction]:
        """Bound the payoff of the player's own plan from below and above; in fractions both agree.

        A plan has the realisation weights of the player's sequences. Without an exact plan, losses
        must not be cut off: they are converted anew.
        """
        if self.exact_payoffs is not None and plan.exact_weights is not None:
            with suppress(TooSlowError):
                both = zip(self.exact_losses, plan.exact_weights, strict=True)
                pairs = until_deadline(both, self.deadline)
                products = (loss * weight for loss, weight in pairs if loss and weight)
                value = self.level + sum(products, Fraction())
                return value, value
        unit, midpoints, radii = self.unit, self.midpoints, self.radii
        if self.exact_payoffs is not None:
            unit, midpoints, radii = self._losses_in_units(max(map(abs, self.exact_losses)))
        lower, upper = _bounds_of_sum(plan, midpoints, radii)
        return self.level + unit * Fraction(lower), self.level + unit * Fraction(upper)


def _relative_errors(tree: FlatTree, plan: Plan, num_ends: Ints) -> Floats:
    """Bound the relative errors of sums of payoffs, (S,), by a plan, over `num_ends` plays each.

    Counts roundings of numbers, their sums, products and the quotient; then of those that add up.
    """
    roundings = (flat.MOVE_ROUNDINGS + tree.chance_sum_error) * len(tree.levels) + num_ends
    roundings += plan.roundings + flat.OTHER_ROUNDINGS
    first_order = roundings * UNIT_ROUNDOFF
    return np.asarray(first_order / (1.0 - np.minimum(first_order, 0.5)))


def _bounds_of_sum(plan: Plan, midpoints: Floats, radii: Floats) -> tuple[float, float]:
    """Bound the sum of payoffs of sequences, (S,), each by its weight in a plan.

    A payoff is in its midpoint -+ its radius. Sums are rounded once.
    """
    is_played = plan.weights > 0.0
    weights = plan.weights[is_played]
    middle = midpoints[is_played]
    radius = radii[is_played]
    value = math.fsum((weights * middle).tolist())
    error = math.fsum((weights * radius).tolist())
    sizes = math.fsum((weights * (np.abs(middle) + radius)).tolist())
    error += gamma(plan.roundings + 3) * sizes
    margin = SAFE * error + TINY
    return math.nextafter(value - margin, -math.inf), math.nextafter(value + margin, math.inf)


def _exact_values(dag: BeliefDag, payoffs: Fractions, deadline: Deadline) -> Fractions:
    """Compute the values of the choices of a belief DAG, (C,), in fractions, with all that follows.

    A belief DAG is the decision problem of a player who forgets, as a graph: a decision is what it
    can know at one time, with several choices; edges lead from choices to later decisions. Values
    are by backward induction; that of choice 0, the begin, is the value of a best response.

    1. A choice gets the payoffs, (S,), of the sequences of own actions that it takes.
    2. From the last decision to the first, the best choice of a decision is added to each choice
       that leads there.
    """
    values = [Fraction()] * dag.num_choices
    entries = dag.plan_matrix.tocoo()
    pairs = zip(entries.row.tolist(), entries.col.tolist(), strict=True)
    for sequence, choice in until_deadline(pairs, deadline):
        if payoffs[sequence]:
            values[choice] += payoffs[sequence]
    allowed = dag.allowed_choices.tolist()
    sources = dag.edge_source.tolist()
    # Of each decision its choices, and the edges to it: the first, and the one after the last.
    choices = pairwise(dag.choice_offsets.tolist())
    edges = pairwise(dag.kernel_dag.edge_offsets.tolist())
    decisions = [*zip(choices, edges, strict=True)]
    for (begin, end), (first_edge, end_edge) in until_deadline(reversed(decisions), deadline):
        best = max(values[choice] for choice in range(begin, end) if allowed[choice])
        if best:
            for choice_before in sources[first_edge:end_edge]:
                values[choice_before] += best
    return values
