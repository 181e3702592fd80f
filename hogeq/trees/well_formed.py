"""Plays through the histories of a player, compared for well-formedness.

Lanctot, Gibson, Burch, Zinkevich and Bowling, "No-regret learning in extensive-form games with
imperfect recall", ICML 2012, ask for a bijection of plays; ``docs/recall.md`` has the definitions.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.support.aliases import Floats, Ints
from hogeq.trees.flat import TERMINAL
from hogeq.trees.sequences import SequenceForm

SAME: Final = 1e-9  # by which equal factors may differ, relative to their size
LEAST_SHARE: Final = -1e300  # stands for the logarithm of 0


class Plays(NamedTuple):
    """Whole plays, once for each history of a player on their way."""

    node: Ints  # (P,), the history
    theirs: Ints  # (P,), what the opponent met and did in the whole play, numbered
    mine: Ints  # (P,), what the player meets and does from the history on, numbered
    chance: Floats  # (P,), logarithm of the play's probability by chance
    payoff: Floats  # (P,)

    @classmethod
    def of(cls, form: SequenceForm, other: SequenceForm) -> "Plays":
        """List the plays through every history."""
        tree = form.tree
        # Of deep trees the product of probabilities would round to 0: exponents are kept apart.
        part, power = np.frexp(tree.chance)
        power = power.astype(np.int64)
        for level in tree.levels[1:]:
            parents = tree.parent[level]
            part[level], more = np.frexp(part[level] * part[parents])
            power[level] += power[parents] + more
        with np.errstate(divide="ignore"):
            chance = np.log(part) + np.log(2.0) * power
        ends = np.flatnonzero(tree.player == TERMINAL)
        at, mine = ends.copy(), np.zeros(len(ends), np.int64)
        numbers: dict[int, int] = {}
        passed: list[tuple[Ints, Ints, Ints]] = []
        while at.any():
            before = np.maximum(tree.parent[at], 0).astype(np.int64)
            own = np.flatnonzero((at > 0) & (tree.mover[at] == form.player))
            if len(own):
                step = tree.edge[at[own]] + tree.num_rows * tree.num_actions * mine[own]
                each, which = np.unique(step, return_inverse=True)
                codes = [numbers.setdefault(one, len(numbers) + 1) for one in each.tolist()]
                mine[own] = np.array(codes, np.int64)[which]
                passed.append((before[own], ends[own], mine[own].copy()))
            at = before
        node, end, later = (np.concatenate(parts) for parts in zip(*passed, strict=True))
        return cls(node, other.at[end], later, chance[end], tree.payoff[end] + tree.centre)

    def forms(self, part: Ints, kind: int) -> dict[int, bytes]:
        """List the invariants of a bijection of plays: there is one if and only if forms are equal.

        Chance's probabilities may differ by one factor, which then is that of their sums, and so
        may utilities; no factor makes a sum of 0 another. Kinds: 0 preserves both, 1 leaves
        utilities out, 2 chance as well, and 3 how many plays there are of a kind.
        """
        columns = [part, self.theirs, self.mine]
        if kind < 2:
            columns.append(_classes(_shares(self.chance, part), 1.0))
        if kind < 1:
            size = np.bincount(part, np.abs(self.payoff))[part]
            shares = self.payoff / np.where(size > 0.0, size, 1.0)
            columns.append(_classes(shares, np.abs(shares)))
        table = np.stack(columns, axis=1)
        table = table[np.lexsort(columns[::-1])]
        if kind == 3:
            table = table[np.diff(table, axis=0, prepend=-1).any(axis=1)]
        starts = np.flatnonzero(np.diff(table[:, 0], prepend=-1))
        pieces = [piece.tobytes() for piece in np.split(table[:, 1:], starts[1:])]
        return dict(zip(table[starts, 0].tolist(), pieces, strict=True))


def _shares(chance: Floats, part: Ints) -> Floats:
    """Logarithms of the shares that plays have in the probability of their part."""
    top = np.full(int(part.max()) + 1, -np.inf)
    np.maximum.at(top, part, chance)
    # Where chance comes to no play of a part, no play has a share.
    chance = chance - np.where(top > -np.inf, top, 0.0)[part]
    total = np.bincount(part, np.exp(chance))
    return np.maximum(chance - np.log(np.where(total > 0.0, total, 1.0))[part], LEAST_SHARE)


def _classes(values: Floats, size: Floats | float) -> Ints:
    """Give one number to values that differ by rounding alone, compared with their size."""
    order = np.argsort(values, kind="stable")
    grows = (
        np.diff(values[order], prepend=values[order[:1]])
        > (SAME * size * np.ones_like(values))[order]
    )
    numbers: NDArray[np.int64] = np.empty(len(values), np.int64)
    numbers[order] = np.cumsum(grows)
    return numbers
