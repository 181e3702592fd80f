"""Payoffs of strategies of a tree against each other, between ends that hold.

A sum in float64 stands where its rounding shows in no digit. Else it is taken again: the payoff of
a play is off by the factor gamma(n) of its n numbers at most, and the plays of which this shows are
valued in fractions, by what their numbers stand for. ``docs/theory.md`` has the theorem. Ends are
apart where these plays are too many, or no doubles stand for the numbers.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Final

import numpy as np

from hogeq.search.units import above, below
from hogeq.search.values import Ends, Value, unseen
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats, Ints
from hogeq.support.short_fractions import meant
from hogeq.trees.exact_numbers import MOST_EXACT, missed, paid_in
from hogeq.trees.flat import PAIRWISE, TERMINAL, FlatTree, payoff, reach

FINER: Final = 16  # times less than what shows: JSON has more digits
ROUNDS: Final = 3  # in which plays are chosen by the payoff that was found before


def value(tree: FlatTree, a: Strategy, b: Strategy) -> Value:
    """Payoff to a strategy against another one, in either seat."""
    a, b = a.whole(), b.whole()
    first, second = 0.0, 0.0
    for weight, mine in zip(a.chances, a.policies, strict=True):
        for chance, theirs in zip(b.chances, b.policies, strict=True):
            first += weight * chance * payoff(tree, mine, theirs)
            second += weight * chance * (2.0 * tree.shift - payoff(tree, theirs, mine))
    mean, (count, unit) = (first + second) / 2.0, tree.rounding
    off = unit * (count + _mixing(a, b))
    found = Value(float(mean), float(first), float(second))
    find_ends = partial(_enclosed_value, tree, a, b, min(abs(mean), abs(first), abs(second)))
    if off > unseen(tree.scale, find_ends.args[-1]):
        return find_ends()
    found.find_ends = find_ends
    return found


def _enclosed_value(tree: FlatTree, a: Strategy, b: Strategy, least: float) -> Value:
    """Enclose payoffs of which the smallest is about `least`."""
    for _ in range(ROUNDS):
        found = _between(tree, a, b, unseen(tree.scale, least) / FINER)
        if all(tree.units.are_one(*pair) for pair in found.ends):
            break
        least = min(map(abs, found))
    return found


def _mixing(a: Strategy, b: Strategy) -> int:
    """Most roundings by which components are weighed and added up."""
    return len(a.chances) * len(b.chances) + 4 * (len(a.chances) + len(b.chances))


def _between(tree: FlatTree, a: Strategy, b: Strategy, enough: float) -> Value:
    total = meant(2.0 * tree.shift)
    first = enclosed(tree, a, b, enough)
    is_same = np.array_equal(a.chances, b.chances) and np.array_equal(a.policies, b.policies)
    least, most = first if is_same else enclosed(tree, b, a, enough)
    off = Fraction(tree.rounding[1]) if tree.is_rounded else 0  # what the total stands for
    second = total - most - off, total - least + off
    mean = ((total - off) / 2, (total + off) / 2) if is_same else None
    return Value.between(first, second, mean)


def enclosed(tree: FlatTree, first: Strategy, second: Strategy, enough: float) -> Ends:
    """Bound the payoff to player 0 where a strategy sits at seat 0, another at seat 1.

    They are apart by some `enough`, if plays in fractions can make them so.
    """
    from hogeq.trees.enclosures import ROUNDING, SAFE, TINY, gamma  # loads what few values need

    ends = np.flatnonzero(tree.player == TERMINAL)
    come = np.zeros(len(ends))
    for weight, mine in zip(first.chances, first.policies, strict=True):
        for chance, theirs in zip(second.chances, second.policies, strict=True):
            joint = np.where(tree.seat[:, None] == 0, mine, theirs)
            come += weight * chance * reach(tree, joint)[ends]
    come[~tree.possible[ends]] = 0.0
    terms = come * tree.paid
    # Each step's number, what the sum of those beside it misses, and a product; the sum of plays.
    step = 3 + max(tree.missed, missed(tree, first), missed(tree, second))
    share = gamma(len(tree.levels) * step + _mixing(first, second) + PAIRWISE + 8)
    # What centring had rounded away, and products that underflow.
    off = share * np.abs(terms) + 4.0 * ROUNDING * (abs(tree.shift) + abs(tree.centre)) * come
    off = SAFE * (off + TINY * tree.largest_payoff * tree.possible[ends])
    order = np.argsort(-off, kind="stable")
    left = np.append(SAFE * np.cumsum(off[order][::-1])[::-1], 0.0)  # by all plays from one on
    count = 0 if tree.is_rounded else min(int((left > enough).sum()), MOST_EXACT)
    middle = Fraction(tree.shift + tree.centre) + Fraction(float(terms[order[count:]].sum()))
    middle += paid_in(tree, order[:count], first, second)
    apart = Fraction(float(left[count]))
    return middle - apart, middle + apart


def gains_between(
    tree: FlatTree,
    first: Strategy,
    second: Strategy,
    rivals: Sequence[Strategy],
    rows: Sequence[int],
    gains: Floats,
) -> dict[int, tuple[float, float]]:
    """Bound what rows of a policy gain if they become those of a second one, each alone.

    Given are the gains of mean payoff, (R,), on average against rivals, as float64 has them. Where
    rounding may show they are taken again in fractions: of all plays through the row.
    """
    count, unit = tree.rounding
    misses = max(missed(tree, one) for one in (first, second, *rivals))
    mixing = sum(_mixing(first, rival) for rival in rivals)
    # Reach, values, their products with the change, and sums; each is in units of a payoff.
    off = 4.0 * unit * (count + len(tree.levels) * misses + mixing + 2 * tree.num_actions + 16)
    found, plays_left = dict[int, tuple[float, float]](), MOST_EXACT
    for row in rows:
        gain = float(gains[row])
        found[row] = gain, gain
        if off <= unseen(tree.scale, gain):
            continue
        found[row] = gain - off, gain + off
        plays = np.empty(0, np.int64) if tree.is_rounded or not plays_left else _through(tree, row)
        cost = 2 * len(rivals) * len(plays)
        if 0 < cost <= plays_left:
            plays_left -= cost
            exact = _exact_gain(tree, first, second, rivals, row, plays)
            found[row] = below(exact), above(exact)
    return found


def _through(tree: FlatTree, row: int) -> Ints:
    """List the plays that meet a row, by the numbers of their ends."""
    is_met = tree.row == row
    for level in tree.levels[1:]:
        is_met[level] |= is_met[tree.parent[level]]
    return np.flatnonzero(is_met[tree.player == TERMINAL])


def _exact_gain(
    tree: FlatTree,
    first: Strategy,
    second: Strategy,
    rivals: Sequence[Strategy],
    row: int,
    plays: Ints,
) -> Fraction:
    """Value the change of a row in fractions; half of the plays are in its seat."""
    policy = first.policy.copy()
    policy[row] = second.policy[row]
    seat, total = int(tree.seat[row]), Fraction()
    for one, sign in ((Strategy.unchecked(policy), 1), (first, -1)):
        for rival in rivals:
            pair = (one, rival) if seat == 0 else (rival, one)
            total += sign * paid_in(tree, plays, *pair)
    return total * (1 - 2 * seat) / (2 * len(rivals))
