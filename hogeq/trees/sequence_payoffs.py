"""Payoffs by the sequences of both players, as shares of the stakes."""

import math
from fractions import Fraction
from typing import Final

import numpy as np
from scipy.sparse import csr_array

from hogeq.support.aliases import Floats
from hogeq.support.messages import HogeqError
from hogeq.trees.enclosures import fits, gamma, numbers_of
from hogeq.trees.exact_numbers import MOST_EXACT, paid_in
from hogeq.trees.flat import TERMINAL, FlatTree, reach
from hogeq.trees.sequences import SequenceForm

LEAST_STAKES: Final = (
    1e-150  # as a share of the largest payoff: what is divided by it keeps its digits
)


def stakes(tree: FlatTree) -> float:
    """Most that players can expect: a payoff counts by the chance that it comes with."""
    if tree.expected < LEAST_STAKES and not fits(tree):
        raise HogeqError(
            f"{tree.name}: players can expect {tree.expected:g} of the largest payoff at most;"
            f" allowed: {LEAST_STAKES:g} of it or more"
        )
    return tree.expected * tree.largest_payoff


def against(payoffs: csr_array, plan: Floats, player: int) -> Floats:
    """Share of the stakes that each sequence of a player ends in, against the other's plan."""
    return np.asarray(payoffs @ plan if player == 0 else -(payoffs.T @ plan))


def sequence_payoffs(first: SequenceForm, second: SequenceForm) -> csr_array:
    """Share of the stakes by the sequences of both, chance's probability included.

    What comes without any move of a player is left out, since nobody can change it.
    """
    tree, numbers = first.tree, numbers_of(first.tree)
    ends = np.flatnonzero(tree.player == TERMINAL)
    size = first.size, second.size
    moved = ends[(first.at[ends] > 0) | (second.at[ends] > 0)]  # after a move of a player
    pairs = first.at[moved], second.at[moved]
    if numbers is None:
        # Nobody's actions but chance's: every action of player 0 counts 1, and so do those of 1.
        chance = reach(tree, np.ones((tree.num_rows, tree.num_actions)), 0)
        payoffs = (chance * tree.shares)[moved] / tree.expected
        return csr_array((payoffs, pairs), size)
    sums: dict[tuple[int, int], Fraction] = {}
    level, unit = Fraction(tree.shift + tree.centre), Fraction(stakes(tree))
    end_numbers = np.searchsorted(ends, moved).tolist()
    for end, own, other in zip(end_numbers, pairs[0].tolist(), pairs[1].tolist(), strict=True):
        payoff = numbers.chance[end] * (numbers.paid[end] - level)
        sums[own, other] = sums.get((own, other), Fraction()) + payoff
    rows, columns = np.array([*sums], np.int64).reshape(-1, 2).T
    shares = np.array([float(payoff / unit) for payoff in sums.values()])
    return csr_array((shares, (rows, columns)), size)


def unmoved(first: SequenceForm, second: SequenceForm) -> tuple[Fraction, Fraction]:
    """Least and most payoff to player 0, less the level, that comes without a move of a player.

    `sequence_payoffs` leaves it out.
    """
    tree, ends = first.tree, np.flatnonzero(first.tree.player == TERMINAL)
    places = np.flatnonzero((first.at[ends] == 0) & (second.at[ends] == 0))
    if not tree.is_rounded and len(places) <= MOST_EXACT:
        total = paid_in(tree, places)
        return total, total
    chance = reach(tree, np.ones((tree.num_rows, tree.num_actions)), 0)
    shares = (chance * tree.shares)[ends[places]]
    middle, size = math.fsum(shares.tolist()), math.fsum(np.abs(shares).tolist())
    error = Fraction(gamma((3 + tree.missed) * len(tree.levels) + 8) * size)
    largest = Fraction(tree.largest_payoff)
    return largest * (Fraction(middle) - error), largest * (Fraction(middle) + error)
