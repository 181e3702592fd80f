"""Payoffs of strategies of a tree against each other, between ends that hold.

A sum in float64 stands where its rounding shows in no digit. Else it is taken again: the payoff of
a play is off by the factor gamma(n) of its n numbers at most, and the plays of which this shows are
valued in fractions, by what their numbers stand for. ``docs/theory.md`` has the theorem. Ends are
apart where these plays are too many, or no doubles stand for the numbers.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property, partial
from typing import Final

import numpy as np

from hogeq.graph.levels import spans
from hogeq.search.units import above, below
from hogeq.search.values import Ends, Value, invisible_error
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats, Ints
from hogeq.support.floats import UNIT_ROUNDOFF
from hogeq.support.short_fractions import short_fraction
from hogeq.trees import flat
from hogeq.trees.exact_numbers import (
    ExactReach,
    chance_of,
    exact_payoff_of_ends,
    exact_payoff_of_plays,
    most_exact,
    mover_of,
    row_sum_error,
)
from hogeq.trees.flat import PAIRWISE, TERMINAL, FlatTree, payoff, reach
from hogeq.trees.passes import add_up

PRECISION_RATIO: Final = 16  # bounds are closer than the last digit printed: JSON has more
MOST_ROUNDS: Final = 3  # of enclosing, each with a tolerance by the payoff of the last


def value(tree: FlatTree, a: Strategy, b: Strategy) -> Value:
    """Compute the payoff to strategy `a` against `b`, in either seat and in the mean of both.

    Computed in float64; if rounding might show in the digits that are printed, it is enclosed by
    exact payoffs instead. The value can enclose itself later, by its `find_ends`.
    """
    a = a.whole()
    b = b.whole()
    first = 0.0  # payoff in the first seat
    second = 0.0
    for a_weight, a_policy in zip(a.chances, a.policies, strict=True):
        for b_weight, b_policy in zip(b.chances, b.policies, strict=True):
            first += a_weight * b_weight * payoff(tree, a_policy, b_policy)
            second += a_weight * b_weight * (2.0 * tree.shift - payoff(tree, b_policy, a_policy))
    mean = (first + second) / 2.0
    num_roundings, unit = tree.payoff_rounding
    error = unit * (num_roundings + _count_mixing_roundings(a, b))
    result = Value(float(mean), float(first), float(second))
    smallest = min(abs(mean), abs(first), abs(second))
    find_ends = partial(_enclosed_value, tree, a, b, smallest)
    if error > invisible_error(tree.scale, smallest):
        return find_ends()
    result.find_ends = find_ends
    return result


def _enclosed_value(tree: FlatTree, a: Strategy, b: Strategy, least: float) -> Value:
    """Bound payoffs of `a` against `b` until both ends print alike; the smallest is about `least`.

    Each round has a tolerance by the smallest payoff of the last one.
    """
    for _ in range(MOST_ROUNDS):
        enclosed_value = _enclose_seats(
            tree, a, b, invisible_error(tree.scale, least) / PRECISION_RATIO
        )
        if all(tree.units.are_one(lower, upper) for lower, upper in enclosed_value.ends):
            break
        least = min(map(abs, enclosed_value))
    return enclosed_value


def _count_mixing_roundings(a: Strategy, b: Strategy) -> int:
    """Bound the number of roundings by which components of two mixtures are weighed and added up.

    There is a sum over all pairs of components, of products of their probabilities.
    """
    num_pairs = len(a.chances) * len(b.chances)
    return num_pairs + flat.COMPONENT_ROUNDINGS * (len(a.chances) + len(b.chances))


def _enclose_seats(tree: FlatTree, a: Strategy, b: Strategy, tolerance: float) -> Value:
    """Enclose the payoff to `a` against `b` in both seats, each within `tolerance` if possible.

    In seat 1 it is the sum of both players' payoffs less that to `b` in seat 0. The sum has an
    error of its own if numbers of the game were rounded.
    """
    total = short_fraction(2.0 * tree.shift)  # of the payoffs to both players
    first = enclose_payoff(tree, a, b, tolerance)
    is_same = np.array_equal(a.chances, b.chances) and np.array_equal(a.policies, b.policies)
    lower, upper = first if is_same else enclose_payoff(tree, b, a, tolerance)  # of `b` in seat 0
    total_error = Fraction(tree.payoff_rounding[1]) if tree.is_rounded else 0
    second = total - upper - total_error, total - lower + total_error
    # A strategy gets half of the total against itself.
    mean = ((total - total_error) / 2, (total + total_error) / 2) if is_same else None
    return Value.between(first, second, mean)


def enclose_payoff(tree: FlatTree, first: Strategy, second: Strategy, tolerance: float) -> Ends:
    """Bound the payoff to player 0, where `first` plays in seat 0 and `second` in seat 1.

    1. Compute the term of every terminal node, probability times payoff, and bound its error.
    2. Sum in float64 as many terms of small errors as `tolerance` allows.
    3. Compute the others, as many as `most_exact` allows, in fractions.
    """
    from hogeq.trees.enclosures import SAFE  # loads what few values need

    terms, errors = _terms_and_errors(tree, first, second)
    order = np.argsort(-errors, kind="stable")  # the largest errors first
    # Sum of the errors from each term, in this order, to the last.
    errors_from = np.append(SAFE * np.cumsum(errors[order][::-1])[::-1], 0.0)
    num_exact = int((errors_from > tolerance).sum())
    num_exact = 0 if tree.is_rounded else min(num_exact, most_exact(tree))
    middle = Fraction(tree.shift + tree.centre) + Fraction(float(terms[order[num_exact:]].sum()))
    middle += exact_payoff_of_plays(tree, order[:num_exact], first, second)
    radius = Fraction(float(errors_from[num_exact]))
    return middle - radius, middle + radius


def _terms_and_errors(tree: FlatTree, first: Strategy, second: Strategy) -> tuple[Floats, Floats]:
    """Compute probability times payoff of every terminal node, (E,), and bounds on errors, (E,).

    A term's error has three parts. Its relative error is that of a product of probabilities, with
    roundings for each move (and misses where a row does not sum to 1), for the components of the
    mixtures, and for the sum of all terms. Payoffs that were centred around 0 had some digits
    rounded away. A product that is too small for a double is off by `TINY`.
    """
    from hogeq.trees.enclosures import SAFE, TINY, gamma

    ends = np.flatnonzero(tree.player == TERMINAL)
    probability = np.zeros(len(ends))
    for first_weight, first_policy in zip(first.chances, first.policies, strict=True):
        for second_weight, second_policy in zip(second.chances, second.policies, strict=True):
            joint = np.where(tree.seat[:, None] == 0, first_policy, second_policy)
            probability += first_weight * second_weight * reach(tree, joint)[ends]
    probability[~tree.is_possible[ends]] = 0.0
    terms = probability * tree.terminal_payoffs
    misses = max(tree.chance_sum_error, row_sum_error(tree, first), row_sum_error(tree, second))
    num_roundings = len(tree.levels) * (flat.MOVE_ROUNDINGS + misses)
    num_roundings += _count_mixing_roundings(first, second)
    num_roundings += PAIRWISE + flat.OTHER_ROUNDINGS  # the sum of all plays, and the rest
    level = abs(tree.shift) + abs(tree.centre)
    relative_part = gamma(num_roundings) * np.abs(terms)
    missed_by_centring = flat.CENTRING_ROUNDINGS * UNIT_ROUNDOFF * level * probability
    underflow = TINY * tree.largest_payoff * tree.is_possible[ends]
    return terms, SAFE * (relative_part + missed_by_centring + underflow)


def gains_between(
    tree: FlatTree,
    first: Strategy,
    second: Strategy,
    rivals: Sequence[Strategy],
    rows: Sequence[int],
    gains: Floats,
) -> dict[int, tuple[float, float]]:
    """Bound what rows (information sets) of a policy gain by becoming those of another, each alone.

    The policies are `first` and `second`; `gains` are those of mean payoff, (R,), on average
    against rivals, in float64. Where rounding may show they are computed again in fractions, from
    all plays through the row, as long as these are few. Returns bounds by row.
    """
    error = _error_of_gains(tree, first, second, rivals)
    exact = _ExactGains(tree, first, second, rivals)
    bounds: dict[int, tuple[float, float]] = {}
    plays_left = 0 if tree.is_rounded else most_exact(tree)
    for row in rows:
        gain = float(gains[row])
        bounds[row] = gain, gain
        if error <= invisible_error(tree.scale, gain):
            continue
        bounds[row] = gain - error, gain + error
        if not plays_left:
            continue
        num_plays = exact.num_plays(row)
        if 0 < num_plays <= plays_left:
            plays_left -= num_plays
            exact_gain = exact.gain(row)
            bounds[row] = below(exact_gain), above(exact_gain)
    return bounds


def _error_of_gains(
    tree: FlatTree, first: Strategy, second: Strategy, rivals: Sequence[Strategy]
) -> float:
    """Bound the rounding error of what a row gains by a change of policy, in float64."""
    count, unit = tree.payoff_rounding
    misses = max(row_sum_error(tree, strategy) for strategy in (first, second, *rivals))
    mixing = sum(_count_mixing_roundings(first, rival) for rival in rivals)
    # Reach, values, their products with the change, and sums; each is in units of a payoff.
    roundings = count + len(tree.levels) * misses + mixing
    roundings += 2 * tree.num_actions + 2 * flat.OTHER_ROUNDINGS
    return float(4.0 * unit * roundings)  # two policies, each by its reach and its values


class _ExactGains:
    """What rows of a policy gain by becoming those of another, each alone, in fractions."""

    def __init__(
        self, tree: FlatTree, first: Strategy, second: Strategy, rivals: Sequence[Strategy]
    ) -> None:
        """Set up the movers: chance, and in either seat the first policy and all rivals."""
        self.tree = tree
        self.plays = _PlaysThroughRows(tree)
        self.changed_policy = second.policy
        self.num_rivals = len(rivals)
        self.chance = chance_of(tree)
        self.own_reach = [ExactReach(tree, seat, first.policy) for seat in (0, 1)]
        self.others = [[mover_of(tree, 1 - seat, rival) for rival in rivals] for seat in (0, 1)]

    def num_plays(self, row: int) -> int:
        """Count the plays to be valued for a row: by each rival, before and after the change."""
        return 2 * self.num_rivals * int(self.plays.counts[row])

    def gain(self, row: int) -> Fraction:
        """Compute what a row gains, in the mean payoff of both seats, on average against rivals."""
        seat = int(self.tree.seat[row])
        ends = self.plays.of(row)
        own_reach = self.own_reach[seat]
        changed_reach = own_reach.with_row(row, self.changed_policy[row])
        total = Fraction()
        for rival in self.others[seat]:
            for reach_by_own, sign in ((changed_reach, 1), (own_reach, -1)):
                movers = [self.chance, [(Fraction(1), reach_by_own)], rival]
                total += sign * exact_payoff_of_ends(self.tree, ends, movers)
        # Payoffs are those of player 0, and half of the plays are in the seat.
        return total * (1 - 2 * seat) / (2 * self.num_rivals)


class _PlaysThroughRows:
    """The plays that meet each row, by their terminal nodes: found row by row on demand."""

    def __init__(self, tree: FlatTree) -> None:
        self.tree = tree

    @cached_property
    def _first_visits(self) -> Ints:
        """Nodes at which a play meets an information set (row) for the first time, row by row."""
        from hogeq.trees.sequences import sequence_form  # imports scipy

        nodes = []
        for player in (0, 1):
            form = sequence_form(self.tree, player)
            own_nodes = np.flatnonzero(self.tree.player == player)
            nodes.append(own_nodes[form.visits[form.refined_of_node[own_nodes]] == 1])
        first_visits = np.concatenate(nodes)
        return first_visits[np.argsort(self.tree.row[first_visits], kind="stable")]

    @cached_property
    def counts(self) -> Ints:
        """Number of plays through each row, (R,)."""
        tree = self.tree
        num_ends = (tree.player == TERMINAL).astype(np.int64)  # (N,), at the node and below
        add_up(tree, num_ends)
        nodes = self._first_visits
        counts = np.zeros(tree.num_rows, np.int64)
        np.add.at(counts, tree.row[nodes], num_ends[nodes])
        return counts

    @cached_property
    def _begins(self) -> Ints:
        """Index in `_first_visits` of the first node of each row, and of the end, (R + 1,)."""
        rows = self.tree.row[self._first_visits]
        return np.searchsorted(rows, np.arange(self.tree.num_rows + 1))

    def of(self, row: int) -> Ints:
        """List the ends of the plays through a row: walk down from where it is met first."""
        nodes = self._first_visits[self._begins[row] : self._begins[row + 1]]
        first_child = self.tree.child_offsets
        ends = []
        while len(nodes):
            ends.append(nodes[self.tree.player[nodes] == TERMINAL])
            nodes = spans(first_child[nodes], first_child[nodes + 1])
        return np.sort(np.concatenate(ends))
