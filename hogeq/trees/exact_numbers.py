"""The fractions that float64 numbers stand for.

A number stands for a short one that rounds to it (:mod:`hogeq.support.short_fractions`), if there
is one, else for itself. Probabilities that then do not sum to 1 are divided by their sum. Trees and
games by their positions read numbers so.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Final

import numpy as np

from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats, Ints
from hogeq.support.short_fractions import WHOLE, meant
from hogeq.trees.flat import CHANCE, TERMINAL, FlatTree

BITS: Final = 120  # of probabilities that are quotients
MOST_EXACT: Final = 50_000  # plays that are valued in fractions, in some two seconds

Fractions = list[Fraction]


def is_held(number: Fraction | float) -> bool:
    """Whether the double nearest to a number stands for it."""
    if isinstance(number, float) or (isinstance(number, int) and abs(number) <= WHOLE):
        return True
    return meant(float(number)) == number


def are_held(chances: Sequence[Fraction | float]) -> bool:
    """Whether the doubles nearest to probabilities stand for them."""
    if not any(isinstance(one, Fraction) for one in chances):
        return True
    return distribution(map(float, chances)) == [*chances]


def distribution(numbers: Iterable[float]) -> Fractions:
    """Give the probabilities that numbers stand for, of sum 1."""
    given = [*numbers]
    short = [meant(one) for one in given]
    if sum(short) == 1 or not short:
        return short
    total = sum(map(Fraction, given)) or Fraction(1)
    found = [_long(Fraction(one) / total) for one in given]
    largest = max(range(len(found)), key=found.__getitem__)
    found[largest] += 1 - sum(found)
    return found


def _long(quotient: Fraction) -> Fraction:
    """Round to a fraction of more bits than show, whose denominator is a power of two."""
    places = BITS + quotient.denominator.bit_length() - quotient.numerator.bit_length()
    return Fraction(round(quotient * 2**places), 2**places)


def missed(tree: FlatTree, strategy: Strategy) -> float:
    """Most roundings by which probabilities of a row may miss the sum 1.

    Rows of zeros are those to which a plan never comes.
    """
    sums = strategy.policies.sum(axis=2)
    return tree.missed_by(sums[sums > 0.0])


class ExactReach:
    """Probability, in fractions, with which one mover's steps lead to nodes of a tree.

    The mover is a player with a policy, (R, K), or chance.
    """

    def __init__(self, tree: FlatTree, mover: int, policy: Floats | None = None) -> None:
        self.tree, self.mover, self.policy = tree, mover, policy
        self.reached = {0: Fraction(1)}
        self.steps: dict[int, Fractions] = {}  # by information set, or by node of chance

    def of(self, node: int) -> Fraction:
        """Give the probability of a node."""
        tree, path = self.tree, list[int]()
        while node not in self.reached:
            path.append(node)
            node = int(tree.parent[node])
        come = self.reached[node]
        for after in reversed(path):
            if come and tree.player[node] == self.mover:
                come *= self._step(node, after)
            self.reached[after] = come
            node = after
        return come

    def _step(self, node: int, after: int) -> Fraction:
        tree = self.tree
        first = int(np.searchsorted(tree.parent, np.int32(node)))
        number = node if self.policy is None else int(tree.row[node])
        if number not in self.steps:
            end = int(np.searchsorted(tree.parent, np.int32(node), side="right"))
            if self.policy is None:
                given = tree.chance[first:end]
            else:
                given = self.policy[number, : end - first]
            self.steps[number] = distribution(given.tolist())
        return self.steps[number][after - first]


def paid_in(tree: FlatTree, plays: Ints, *strategies: Strategy) -> Fraction:
    """Sum up what plays, numbers of ends, pay player 0 beyond the level of all, in fractions.

    Each counts by the chance that it comes with, if both players have strategies; else by that of
    the moves of chance.
    """
    ends, level = np.flatnonzero(tree.player == TERMINAL)[plays], tree.shift + tree.centre
    passes = [[(Fraction(1), ExactReach(tree, CHANCE))]]
    for player, one in enumerate(strategies):
        weights = distribution(one.chances.tolist())
        steps = [ExactReach(tree, player, policy) for policy in one.policies]
        passes.append([*zip(weights, steps, strict=True)])
    total = Fraction()
    for end, paid in zip(ends.tolist(), tree.paid[plays].tolist(), strict=True):
        come = Fraction(1)
        for parts in passes:
            if come:
                come *= sum((weight * one.of(end) for weight, one in parts), Fraction())
        if come:
            total += come * (meant(paid + level) - Fraction(level))
    return total
