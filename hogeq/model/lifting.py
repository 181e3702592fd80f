"""Responders that pay for their rolls, one for each part of a mixture, and what cells claim.

Against a policy there is one, a :class:`hogeq.model.priced.PricedResponder`.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from hogeq.model.game import MEMORY_LIMIT
from hogeq.model.priced import WIDTH, Board, Claim, Kept, PricedResponder
from hogeq.rules import Rules
from hogeq.support.aliases import Floats


class KeptClaims:
    """One cell's part of the prices, kept so that it can be revised."""

    def __init__(self) -> None:
        self.parts: dict[int, Kept] = {}
        """By part of the mixture."""
        self.most_reach = 0.0
        """Highest reach of the cell that a responder can have; 0 before anybody asked."""

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        return sum(kept.prices.nbytes for kept in self.parts.values())


class PricedResponders:
    """The same against a mixture: one responder for each part, as if it were told the draw.

    What was drawn is one more thing to remember, kept to the end: a cell has the memories of all
    parts, (part, memory) being one number below n * H.

    Parameters
    ----------
    rules : Rules
    weights : sequence of float, (n,)
        Of the draw.
    policies : sequence of float64 (G, G, K)
        Its n parts.

    Raises
    ------
    ValueError
        If they would not fit in memory, or a turn can leave the sum of scores as it was.
    """

    def __init__(self, rules: Rules, weights: Sequence[float], policies: Sequence[Floats]) -> None:
        board = Board(rules)
        need = len(policies) * board.bytes_of_a_responder(policies[0].shape[-1])
        if need > MEMORY_LIMIT:
            raise ValueError(
                f"mixture: {len(policies)} parts need {need / 2**30:.1f} GiB in a game of this "
                f"size; allowed: {MEMORY_LIMIT >> 30}: fewer parts, lower goal or max_dice"
            )
        self.turns = board.turns
        self.weights = tuple(weights)
        self.parts = [PricedResponder(board, policy) for policy in policies]
        self._lifted: tuple[Claim, Floats, float] | None = None

    def begin(self) -> None:
        """Find out where play can come, and solve."""
        for part in self.parts:
            part.begin()

    @property
    def value(self) -> float:
        """Win rate less what it pays: the mean over the draw."""
        return sum(weight * part.value for weight, part in self._drawn())

    def remember(self) -> float:
        """Solve every part by one backward induction."""
        for part in self.parts:
            part.remember()
        return self.value

    def infoset_reach(self) -> Floats:
        """Reach of all states as chosen when they were last solved: float64 (C, n * H)."""
        return np.hstack([weight * part.infoset_reach() for weight, part in self._drawn()])

    def slack(self, cell: int) -> Floats:
        """Loss by every roll at a cell, by part and memory: float64 (K, n * H)."""
        return np.concatenate([part.slack(cell) for part in self.parts], axis=1)

    def largest_price(self) -> float:
        """Give the largest price, of either sign."""
        return max(max(part.prices.max(), -part.prices.min()) for part in self.parts)

    def lift(self, cell: int, claim: Claim) -> tuple[Floats, float]:
        """As :meth:`PricedResponder.lift` for a claim on the memories of all parts."""
        self._lifted = claim, *self._passes(cell, claim, lends=False)
        return self._lifted[1:]

    def take(self, cell: int, claim: Claim, kept: KeptClaims | None = None) -> Floats:
        """Put what is claimed and lent into the prices, and keep it; value at the start of claims.

        No pass is made where the last one was that of this very claim, and there is one part.
        """
        if self._lifted is not None and self._lifted[0] is claim and len(self.parts) == 1:
            self._lend(0, cell, claim, kept)
            worths = self._lifted[1]
        else:
            worths, _ = self._passes(cell, claim, lends=True, kept=kept)
        self._lifted = None
        return worths

    def _lend(self, number: int, cell: int, claim: Claim, kept: KeptClaims | None) -> None:
        part = self.parts[number]
        if kept is not None:
            kept.parts[number] = part.keep(cell, claim, kept.parts.get(number))
        part.lend(cell, claim)

    def revise(self, cell: int, kept: KeptClaims, more: Floats, lent: float) -> Floats:
        """Claim more at a cell, (K, n * H), and move its prices to where they take off most.

        Returns
        -------
        float64 (K,)
            What the claims of each roll are worth at the start.
        """
        self._lifted = None
        worths, first = np.zeros(len(more)), 0
        for number, (weight, part) in enumerate(self._drawn()):
            end = first + part.board.memories
            part.claim_more(cell, kept.parts[number], more[:, first:end])
            worths += weight * part.revise(cell, kept.parts[number], lent)
            first = end
        return worths

    def most_reach(self, cell: int, kept: KeptClaims) -> float:
        """Give the highest reach of a cell that a responder can have."""
        if kept.most_reach == 0.0:
            self._lifted = None
            kept.most_reach = sum(
                weight * part.most_reach(cell, kept.parts[number])
                for number, (weight, part) in enumerate(self._drawn())
            )
        return kept.most_reach

    def _passes(
        self, cell: int, claim: Claim, *, lends: bool, kept: KeptClaims | None = None
    ) -> tuple[Floats, float]:
        worths, falls, first = np.zeros(min(len(claim.rolls), WIDTH - 1)), 0.0, 0
        for number, (weight, part) in enumerate(self._drawn()):
            end = first + part.board.memories
            claims, fall = claim.claims[:, first:end], claim.fall[first:end]
            own = Claim(claim.rolls, claims, fall, claim.weight, claim.lent)
            worth, lowered = part.lift(cell, own)
            if lends:
                self._lend(number, cell, own, kept)
            worths += weight * worth
            falls += weight * lowered
            first = end
        return worths, falls

    def _drawn(self) -> Iterator[tuple[float, PricedResponder]]:
        return zip(self.weights, self.parts, strict=True)
