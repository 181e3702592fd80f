"""Plays through the histories of a player, compared for well-formedness.

Lanctot, Gibson, Burch, Zinkevich and Bowling, "No-regret learning in extensive-form games with
imperfect recall", ICML 2012, ask for a bijection of plays; ``docs/recall.md`` has the definitions.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.support.aliases import Floats, Ints
from hogeq.trees.flat import TERMINAL, FlatTree
from hogeq.trees.sequences import SequenceForm

RELATIVE_TOLERANCE: Final = 1e-9  # by which equal factors may differ, relative to their size
LOG_OF_ZERO: Final = -1e300  # stands for the logarithm of 0

# What a bijection of plays preserves, from the strictest kind on.
ALL: Final = 0  # sequences of both players, payoffs, and probabilities of chance
SKEW: Final = 1  # sequences and probabilities of chance
CHANCE_RELAXED: Final = 2  # sequences
ENDINGS: Final = 3  # sequences, but not how many plays have them


class Plays(NamedTuple):
    """Whole plays, once for each history of a player on their way."""

    history_node: Ints  # (P,), the history
    opponent_sequence: Ints  # (P,), what the opponent met and did in the whole play, numbered
    own_future: Ints  # (P,), what the player meets and does from the history on, numbered
    log_chance: Floats  # (P,), logarithm of the play's probability by chance
    payoff: Floats  # (P,)

    @classmethod
    def of(cls, form: SequenceForm, other: SequenceForm) -> "Plays":
        """List the plays through every history of a player, by walking up from all ends at once.

        A form has the player's information sets and sequences of own actions; `other` the other's.
        What the player does from a history on is numbered: 0 is nothing, and a step followed by
        what has a number gets the next free number when it first occurs.
        """
        tree = form.tree
        log_chance = _log_chances(tree)
        ends = np.flatnonzero(tree.player == TERMINAL)
        at = ends.copy()  # node on the way to each end, one step further up each time
        later_moves = np.zeros(len(ends), np.int64)  # number of what the player does below it
        numbers: dict[int, int] = {}  # by the step and what follows, as one number
        plays: list[tuple[Ints, Ints, Ints]] = []  # nodes, ends and numbers, a step at a time
        while at.any():
            before = np.maximum(tree.parent[at], 0).astype(np.int64)
            own = np.flatnonzero((at > 0) & (tree.mover[at] == form.player))
            if len(own):
                num_actions = len(tree.action_numbers)  # of all rows
                step = tree.incoming_move[at[own]] + num_actions * later_moves[own]
                distinct, inverse = np.unique(step, return_inverse=True)
                codes = [numbers.setdefault(code, len(numbers) + 1) for code in distinct.tolist()]
                later_moves[own] = np.array(codes, np.int64)[inverse]
                plays.append((before[own], ends[own], later_moves[own].copy()))
            at = before
        node, end, mine = (np.concatenate(arrays) for arrays in zip(*plays, strict=True))
        payoff = tree.payoff[end] + tree.centre
        return cls(node, other.sequence_of_node[end], mine, log_chance[end], payoff)

    def forms(self, part: Ints, kind: int) -> dict[int, bytes]:
        """Give each part of an information set's histories a key, equal if their plays match.

        The key is bytes, by part: the sorted table of what is preserved of each play through it.
        Two parts have a bijection of their plays if and only if their bytes are equal. Chance's
        probabilities may differ by a common factor, and so may payoffs: they are taken as shares of
        the sums over the part, of probabilities and of the sizes of payoffs.

        `part`, (P,), is the number of the part that the history of each play is in. `kind` says
        what the bijection preserves: `ALL`, `SKEW`, `CHANCE_RELAXED` or `ENDINGS`.
        """
        columns = [part, self.opponent_sequence, self.own_future]
        if kind < CHANCE_RELAXED:
            columns.append(_classes(_log_shares(self.log_chance, part), 1.0))
        if kind < SKEW:
            size = np.bincount(part, np.abs(self.payoff))[part]
            shares = self.payoff / np.where(size > 0.0, size, 1.0)
            columns.append(_classes(shares, np.abs(shares)))
        table = np.stack(columns, axis=1)
        table = table[np.lexsort(columns[::-1])]  # lines by part, then by the other columns
        if kind == ENDINGS:  # without repeated lines
            table = table[np.diff(table, axis=0, prepend=-1).any(axis=1)]
        starts = np.flatnonzero(np.diff(table[:, 0], prepend=-1))  # first line of each part
        lines_of_part = [lines.tobytes() for lines in np.split(table[:, 1:], starts[1:])]
        return dict(zip(table[starts, 0].tolist(), lines_of_part, strict=True))


def _log_chances(tree: FlatTree) -> Floats:
    """Compute the logarithm of the reach probability of each node, (N,), by chance alone.

    Products of many probabilities would round to 0, so each is fraction * 2**power.
    """
    fraction, power = np.frexp(tree.chance)
    power = power.astype(np.int64)
    for level in tree.levels[1:]:
        parents = tree.parent[level]
        fraction[level], shift = np.frexp(fraction[level] * fraction[parents])
        power[level] += power[parents] + shift
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(fraction) + np.log(2.0) * power)


def _log_shares(chance: Floats, part: Ints) -> Floats:
    """Compute the logarithm of each play's share in the probability of its part, (P,).

    `chance` are logarithms of probabilities. The largest of each part is subtracted before
    exponentials are taken, so that none overflows or rounds to 0.
    """
    largest = np.full(int(part.max()) + 1, -np.inf)  # of each part
    np.maximum.at(largest, part, chance)
    # A part whose plays all have probability 0 has -inf; its plays get `LOG_OF_ZERO`.
    chance = chance - np.where(largest > -np.inf, largest, 0.0)[part]
    total = np.bincount(part, np.exp(chance))
    return np.maximum(chance - np.log(np.where(total > 0.0, total, 1.0))[part], LOG_OF_ZERO)


def _classes(values: Floats, size: Floats | float) -> Ints:
    """Assign class numbers, (P,), to values: equal ones where values differ by rounding alone.

    In the sorted values a new class begins where a value exceeds the last by more than
    `RELATIVE_TOLERANCE` times its `size`.
    """
    order = np.argsort(values, kind="stable")
    tolerance = RELATIVE_TOLERANCE * size * np.ones_like(values)
    begins_class = np.diff(values[order], prepend=values[order[:1]]) > tolerance[order]
    numbers: NDArray[np.int64] = np.empty(len(values), np.int64)
    numbers[order] = np.cumsum(begins_class)
    return numbers
