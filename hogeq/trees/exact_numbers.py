"""The fractions that float64 numbers stand for.

A number stands for a short one that rounds to it (:mod:`hogeq.support.short_fractions`), if there
is one, else for itself. Probabilities that then do not sum to 1 are divided by their sum. Trees and
games by their positions read numbers so.
"""

from collections.abc import Iterable, Sequence
from copy import copy
from fractions import Fraction
from typing import Final

import numpy as np

from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats, Ints
from hogeq.support.short_fractions import WHOLE, short_fraction
from hogeq.trees.flat import CHANCE, TERMINAL, FlatTree

BITS: Final = 120  # significant bits of probabilities that are quotients
MOST_EXACT: Final = 50_000  # most plays that are valued in fractions, in some two seconds
# Denominators grow with each level of a tree: a sum takes time as the square of their digits, and
# the reach of all nodes on a path as much memory.
MOST_WORK: Final = 10**10  # most plays times the square of the number of levels
MOST_LEVELS: Final = 5_000  # with paths of 100 MB

Fractions = list[Fraction]


def is_exact_double(number: Fraction | float) -> bool:
    """Whether the double nearest to a number stands for it."""
    if isinstance(number, float) or (isinstance(number, int) and abs(number) <= WHOLE):
        return True
    return short_fraction(float(number)) == number


def are_exact_doubles(chances: Sequence[Fraction | float]) -> bool:
    """Whether the doubles nearest to probabilities stand for them."""
    if not any(isinstance(chance, Fraction) for chance in chances):
        return True
    return distribution(map(float, chances)) == [*chances]


def distribution(numbers: Iterable[float]) -> Fractions:
    """Return the probabilities, of sum 1, that numbers of a distribution stand for.

    They are short fractions if those sum to 1. Else each number is divided by the sum of all, and
    the largest probability takes what rounding leaves.
    """
    numbers = [*numbers]
    short = [short_fraction(number) for number in numbers]
    if sum(short) == 1 or not short:
        return short
    total = sum(map(Fraction, numbers)) or Fraction(1)  # numbers may all be 0
    quotients = [_rounded(Fraction(number) / total) for number in numbers]
    largest = max(range(len(quotients)), key=quotients.__getitem__)
    quotients[largest] += 1 - sum(quotients)
    return quotients


def _rounded(quotient: Fraction) -> Fraction:
    """Round a fraction to `BITS` significant bits; its denominator is then a power of two."""
    places = BITS + quotient.denominator.bit_length() - quotient.numerator.bit_length()
    return Fraction(round(quotient * 2**places), 2**places)


def row_sum_error(tree: FlatTree, strategy: Strategy) -> float:
    """Bound by how many roundings of 2**-53 the probabilities of a row may miss the sum 1.

    Rows of zeros are left out: a realisation plan never comes to them.
    """
    sums = strategy.policies.sum(axis=2)
    return tree.sum_error(sums[sums > 0.0])


def most_exact(tree: FlatTree) -> int:
    """Return the number of plays of a tree that may be valued in fractions."""
    num_levels = len(tree.levels)
    return min(MOST_EXACT, MOST_WORK // num_levels**2) if num_levels <= MOST_LEVELS else 0


class ExactReach:
    """Reach probabilities of nodes of a tree, in fractions, by the steps of one mover alone.

    The mover is a player with a policy, (R, K), or chance.
    """

    def __init__(self, tree: FlatTree, mover: int, policy: Floats | None = None) -> None:
        self.tree, self.mover, self.policy = tree, mover, policy
        self.reached = {0: Fraction(1)}  # by node, computed once
        self.distributions: dict[int, Fractions] = {}  # by information set, or by node of chance
        self.changed_row: tuple[int, Fractions] | None = None  # its number, and its probabilities

    def with_row(self, row: int, probabilities: Floats) -> "ExactReach":
        """Give the reach of a policy that differs in one row, (K,); all others are shared."""
        changed = copy(self)
        changed.reached = {0: Fraction(1)}
        num_legal = int(self.tree.num_legal[row])
        changed.changed_row = row, distribution(probabilities[:num_legal].tolist())
        return changed

    def of(self, node: int) -> Fraction:
        """Return the reach probability of a node: the product of the mover's steps on its path."""
        tree = self.tree
        path: list[int] = []  # nodes not yet known, from the last one up
        while node not in self.reached:
            path.append(node)
            node = int(tree.parent[node])
        probability = self.reached[node]
        for child in reversed(path):
            if probability and tree.player[node] == self.mover:
                probability *= self.step(node, child)
            self.reached[child] = probability
            node = child
        return probability

    def step(self, node: int, child: int) -> Fraction:
        """Return the probability of the mover's step from a node to one of its children."""
        tree = self.tree
        # Children of a node lie side by side, so the parents of all nodes are in rising order.
        first_child = int(np.searchsorted(tree.parent, np.int32(node)))
        key = node if self.policy is None else int(tree.row[node])
        if self.changed_row is not None and self.changed_row[0] == key:
            return self.changed_row[1][child - first_child]
        if key not in self.distributions:
            end = int(np.searchsorted(tree.parent, np.int32(node), side="right"))
            if self.policy is None:
                probabilities = tree.chance[first_child:end]
            else:
                probabilities = self.policy[key, : end - first_child]
            self.distributions[key] = distribution(probabilities.tolist())
        return self.distributions[key][child - first_child]


Mover = list[tuple[Fraction, ExactReach]]
"""Chance, or a strategy: its components, each by weight and the reach by its steps."""


def mover_of(tree: FlatTree, player: int, strategy: Strategy) -> Mover:
    """Make a mover of a strategy in a seat, 0 or 1."""
    weights = distribution(strategy.chances.tolist())
    reaches = [ExactReach(tree, player, policy) for policy in strategy.policies]
    return [*zip(weights, reaches, strict=True)]


def chance_of(tree: FlatTree) -> Mover:
    """Make a mover of chance."""
    return [(Fraction(1), ExactReach(tree, CHANCE))]


def exact_payoff_of_plays(tree: FlatTree, plays: Ints, *strategies: Strategy) -> Fraction:
    """Sum the payoffs to player 0 at some terminal nodes, each by its reach probability.

    `plays` are numbers of terminal nodes in their order. The level of all payoffs,
    ``tree.shift + tree.centre``, is left out. With strategies of both players they count in the
    reach; without any, the moves of chance count alone.
    """
    movers = [mover_of(tree, player, strategy) for player, strategy in enumerate(strategies)]
    ends = np.flatnonzero(tree.player == TERMINAL)[plays]
    return exact_payoff_of_ends(tree, ends, [chance_of(tree), *movers])


def exact_payoff_of_ends(tree: FlatTree, ends: Ints, movers: Sequence[Mover]) -> Fraction:
    """Sum the payoffs to player 0 at terminal nodes, `ends`, each times the reach by the movers.

    Movers are chance and strategies. The level of all payoffs, ``tree.shift + tree.centre``, is
    left out. A mover keeps the reach of the nodes that it was asked for.
    """
    level = tree.shift + tree.centre
    total = Fraction()
    for end, paid in zip(ends.tolist(), tree.payoff[ends].tolist(), strict=True):
        probability = Fraction(1)
        for components in movers:
            if probability:
                steps = (weight * reach.of(end) for weight, reach in components)
                probability *= sum(steps, Fraction())
        if probability:
            total += probability * (short_fraction(paid + level) - Fraction(level))
    return total
