"""Payoffs by the sequences of both players, as shares of the stakes."""

import math
from fractions import Fraction
from typing import Final

import numpy as np
from scipy.sparse import csr_array

from hogeq.support.aliases import Floats, Ints
from hogeq.support.messages import HogeqError
from hogeq.trees.enclosures import Numbers, exact_numbers_of, gamma, has_fractions
from hogeq.trees.exact_numbers import exact_payoff_of_plays, most_exact
from hogeq.trees.flat import MOVE_ROUNDINGS, OTHER_ROUNDINGS, TERMINAL, FlatTree, reach_by_chance
from hogeq.trees.sequences import SequenceForm

LEAST_STAKES: Final = 1e-150  # share of the largest payoff: a quotient by it keeps its digits


def stakes(tree: FlatTree) -> float:
    """Compute the unit of payoffs: the most that players can expect, payoffs times their chance.

    Raises `HogeqError` if that is too small a part of the largest payoff for floating point.
    """
    if tree.largest_expected_share < LEAST_STAKES and not has_fractions(tree):
        raise HogeqError(
            f"{tree.name}: players can expect {tree.largest_expected_share:g} of the largest payoff"
            f" at most; allowed: {LEAST_STAKES:g} of it or more"
        )
    return tree.scale


def payoffs_against(payoffs: csr_array, plan: Floats, player: int) -> Floats:
    """Compute the payoffs of a player's sequences against the other player's realisation plan.

    `payoffs`, (S, T), are to player 0, by the sequences of both; the result, (S,) or (T,), is to
    the player, whose sequences it has.
    """
    return np.asarray(payoffs @ plan if player == 0 else -(payoffs.T @ plan))


def sequence_payoffs(first: SequenceForm, second: SequenceForm) -> csr_array:
    """Compute the payoff matrix of the sequence form, (S, T), to player 0, as shares of the stakes.

    An entry sums the terminal nodes at which both sequences end, each payoff times the probability
    of chance. Terminal nodes that no player's move leads to are left out: nobody can change them.
    Sums are exact, in fractions, if the tree has exact numbers.
    """
    tree = first.tree
    numbers = exact_numbers_of(tree)
    ends = np.flatnonzero(tree.player == TERMINAL)
    is_moved = (first.sequence_of_node[ends] > 0) | (second.sequence_of_node[ends] > 0)
    moved_ends = ends[is_moved]  # after a move of a player
    sequences = first.sequence_of_node[moved_ends], second.sequence_of_node[moved_ends]
    shape = first.num_sequences, second.num_sequences
    if numbers is not None:
        return _sum_in_fractions(tree, numbers, np.flatnonzero(is_moved), sequences, shape)
    chance = reach_by_chance(tree)
    payoffs = (chance * tree.payoff_shares)[moved_ends] / tree.largest_expected_share
    return csr_array((payoffs, sequences), shape)


def _sum_in_fractions(
    tree: FlatTree,
    numbers: Numbers,
    ends: Ints,
    sequences: tuple[Ints, Ints],
    shape: tuple[int, int],
) -> csr_array:
    """Sum the payoffs at n terminal nodes by the sequences of both players, in fractions.

    `ends`, (n,), are indices into `numbers`; `sequences`, (n,) each, are those at these nodes.
    Returns a matrix of a shape, in shares of the stakes.
    """
    sums: dict[tuple[int, int], Fraction] = {}  # by both sequences
    level = Fraction(tree.shift + tree.centre)  # payoffs are relative to it
    unit = Fraction(stakes(tree))
    pairs = zip(*(array.tolist() for array in sequences), strict=True)
    for end, pair in zip(ends.tolist(), pairs, strict=True):
        payoff = numbers.reach_by_chance[end] * (numbers.terminal_payoffs[end] - level)
        sums[pair] = sums.get(pair, Fraction()) + payoff
    rows, columns = np.array([*sums], np.int64).reshape(-1, 2).T
    shares = np.array([float(payoff / unit) for payoff in sums.values()])
    return csr_array((shares, (rows, columns)), shape)


def unmoved_payoff(first: SequenceForm, second: SequenceForm) -> tuple[Fraction, Fraction]:
    """Bound the expected payoff to player 0 of plays in which no player moves, rounding included.

    `sequence_payoffs` leaves these plays out. Payoffs are relative to the tree's level. Returns a
    lower and an upper bound, equal if the payoff is computed in fractions.
    """
    tree = first.tree
    ends = np.flatnonzero(tree.player == TERMINAL)
    is_unmoved = (first.sequence_of_node[ends] == 0) & (second.sequence_of_node[ends] == 0)
    unmoved_ends = np.flatnonzero(is_unmoved)  # numbers of ends
    if not tree.is_rounded and len(unmoved_ends) <= most_exact(tree):
        total = exact_payoff_of_plays(tree, unmoved_ends)
        return total, total
    chance = reach_by_chance(tree)
    shares = (chance * tree.payoff_shares)[ends[unmoved_ends]]
    middle = math.fsum(shares.tolist())
    size = math.fsum(np.abs(shares).tolist())
    num_roundings = (MOVE_ROUNDINGS + tree.chance_sum_error) * len(tree.levels) + OTHER_ROUNDINGS
    error = Fraction(gamma(num_roundings) * size)
    largest = Fraction(tree.largest_payoff)
    return largest * (Fraction(middle) - error), largest * (Fraction(middle) + error)
