"""An upper bound on best responses, below full memory, for full-size games.

``docs/exact-response.md`` has the idea, its equation and its sources; here its c_I are *claims*.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hogeq.model.priced import Claim, Kept, PricedResponders
from hogeq.rules import Rules
from hogeq.rules.memory import all_memories
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats
from hogeq.support.messages import HogeqError
from hogeq.support.progress import phase

LEAST = 1e-12  # claims below are none
KEPT = 4 * 2**30  # bytes that claims may take which are kept, so that they can be revised
REPLAYED = 8 * 2**30  # bytes that they may take where it is known which are revised
MOST_STEPS = 100_000  # of a certificate
LARGEST = 1e6  # size of a price, of what it is worth, and of a refund
REFRESHED = 25  # steps after which choices and reach are computed anew
SMALLEST = 1e-8  # loss by forgetting that is no loss


class Step(NamedTuple):
    """One cell's claim, as the page has it; all steps together define the prices."""

    score: int
    opponent: int
    roll: int  # b
    share: float  # s
    lent: float  # largest share of a roll's slack that is lent
    weight: float  # share lent of what claims would gain
    cover: float  # k, how far negative claims outweigh positive ones at most


class Revision(NamedTuple):
    """Move all claims and loans of one cell to lower the bound most."""

    score: int
    opponent: int
    lowered: float  # share of a roll's slack in the cell by which a refunded claim is lowered
    lent: float  # largest share of a roll's slack that is lent


class LiftedBound:
    """The bound, step by step, on best responses to a policy or a mixture.

    Claims of the cells `revised` are kept, and no others; by default those of all cells, in the
    order in which they claim, as long as they fit into 4 GiB.
    """

    def __init__(
        self, rules: Rules, strategy: Strategy, revised: frozenset[int] | None = None
    ) -> None:
        self.rules = rules
        self.steps: list[Step | Revision] = []
        weights = strategy.chances.tolist()
        self._responder = PricedResponders(rules, weights, list(strategy.policies))
        self._responder.begin()
        self._refunded = np.zeros((rules.size**2, rules.num_actions))
        self._largest = 0.0  # size of a price, of what it was worth, or of a refund, at any time
        self._tried: tuple[Step, Claim, Floats] | None = None  # by the last pass
        self._revised = revised
        self._kept: dict[int, list[Kept] | None] = {}
        self._room = KEPT
        self._reach = self._responder.infoset_reach()
        self.full_memory = self._responder.value

    @property
    def value(self) -> float:
        """The bound without its margin."""
        return self._responder.value + math.fsum(self.refunds())

    def margin(self) -> float:
        """Give more than all rounding errors can come to, as the page argues."""
        responder = self._responder
        terms = 4 * int(np.diff(responder.turns.first).max()) + 2 * self.rules.num_actions + 14
        levels = 4 * self.rules.size + len(responder.parts) - 1
        largest = max(2.0, self._largest, responder.largest_value())
        error = terms * float(np.finfo(float).eps) + responder.missing()
        return (len(self.steps) + 2) * levels * largest * error

    def bound(self) -> float:
        """Solve the responder anew at the prices in force; an upper bound, rounding included."""
        self._responder.remember()
        return self.value + self.margin()

    def refunds(self) -> Floats:
        """Give the refund of each cell, for the roll that claims most: float64 (C,)."""
        return self._refunded.max(axis=1)

    def losses(self) -> Floats:
        """Give the loss by forgetting in each cell, as the responder plays now: float64 (C, K)."""
        found = np.zeros((len(self._reach), self.rules.num_actions))
        for cell in np.flatnonzero(self._reach.sum(axis=1) > SMALLEST).tolist():
            found[cell] = self.loss(cell)
        return found

    def loss(self, cell: int) -> Floats:
        """Give the loss by forgetting in a cell, by roll: float64 (K,)."""
        return self._responder.slack(cell) @ self._reach[cell]

    def claim(self, step: Step) -> Claim:
        """Give the claim of a step at the prices in force: a share of its roll's loss."""
        # What is lent before the cell, so that nobody steers towards claims, is slack of other
        # rolls. Claims of 0 in the mean over the states as they are reached are enough, so negative
        # ones shrink and leave slack for other cells; by less than that (`cover`), since a
        # responder that steers towards claims meets the positive ones more often.
        cell = self._cell(step)
        short = self._responder.slack(cell)
        claims = step.share * (short[step.roll] - short)
        asked = np.flatnonzero((claims > LEAST).any(axis=1))
        claims = claims[asked]
        more = np.maximum(claims, 0.0) @ self._reach[cell]
        less = np.maximum(-claims, 0.0) @ self._reach[cell]
        kept = np.minimum(1.0, step.cover * more / np.maximum(less, LEAST**2))
        claims = np.where(claims < 0.0, kept[:, None] * claims, claims)
        first = np.argsort(-more, kind="stable")
        fall = step.share * short[step.roll]
        return Claim(asked[first], claims[first], fall, step.weight, step.lent)

    def gain(self, step: Step) -> tuple[float, float]:
        """Give the fall of the responder's value by a step, and the refund of it."""
        claim, cell = self.claim(step), self._cell(step)
        worth, fall = self._responder.lift(cell, claim)
        self._tried = step, claim, worth
        before = self._refunded[cell]
        return fall, float((before + self._by_roll(claim, worth)).max() - before.max())

    def take(self, step: Step | Revision) -> None:
        """Put a step's claim into the prices, or revise those of a cell."""
        cell = self._cell(step)
        if isinstance(step, Revision):
            self._revise(cell, step)
        else:
            self._claim(cell, step)
        self._tried = None
        self.steps.append(step)
        refunded = float(np.abs(self._refunded[cell]).max())
        self._largest = max(self._largest, refunded, self._responder.largest_price())
        if not self._largest <= LARGEST:
            raise HogeqError(f"{step}: leads to prices of {self._largest:g}; allowed: {LARGEST:g}")
        if len(self.steps) % REFRESHED == 0:
            self._responder.remember()
            self._reach = self._responder.infoset_reach()

    def _claim(self, cell: int, step: Step) -> None:
        claim, lifted = self.claim(step), None
        if self._tried is not None and self._tried[0] == step:
            _, claim, lifted = self._tried  # its pass need not be made again
        if cell not in self._kept:
            self._kept[cell] = [] if self._is_to_keep(cell) else None
        worth = self._responder.take(cell, claim, self._kept[cell], lifted)
        self._refunded[cell] += self._by_roll(claim, worth)

    def _is_to_keep(self, cell: int) -> bool:
        if self._revised is not None:
            return cell in self._revised
        need = len(self._responder.parts) * _most_bytes(self.rules, [cell])
        fits = need <= self._room
        self._room -= need * fits
        return fits

    def _revise(self, cell: int, step: Revision) -> None:
        # None of four changes raises the bound. Before the cell, a roll by which all claims are
        # worth less than by others gives back what they are short of; one by which some claim is
        # worth more than by those preferred is lent more, if the responder has slack there by now.
        # In the cell, a roll whose claims are worth less than the refund claims more; and what is
        # refunded is lowered, by a share of the slack there.
        kept = self._kept.get(cell)
        if kept is None:
            raise HogeqError(f"{step}: allowed where claims are kept")
        refunded = self._refunded[cell]
        reach = self._responder.most_reach(cell, kept)
        free = np.minimum((refunded.max() - refunded) / max(reach, LEAST), 1.0)
        lowered = step.lowered * self._responder.slack(cell) * (refunded > 0.0)[:, None]
        more = free[:, None] - lowered
        self._refunded[cell] = self._responder.revise(cell, kept, more, step.lent)

    def is_kept(self, cell: int) -> bool:
        """Return whether the claims of a cell can be revised."""
        return self._kept.get(cell) is not None

    def _by_roll(self, claim: Claim, worth: Floats) -> Floats:
        """Give the value of a claim by roll, float64 (K,): the last to claim may share a value."""
        found = np.zeros(self.rules.num_actions)
        if len(worth):
            found[claim.rolls] = worth[np.minimum(np.arange(len(claim.rolls)), len(worth) - 1)]
        return found

    def _cell(self, step: Step | Revision) -> int:
        return step.score * self.rules.size + step.opponent


def replay(rules: Rules, strategy: Strategy, steps: Sequence[Step | Revision]) -> LiftedBound:
    """Take steps that somebody found: the bound that they prove."""
    cells = {
        step.score * rules.size + step.opponent for step in steps if isinstance(step, Revision)
    }
    need = len(strategy.chances) * _most_bytes(rules, sorted(cells))
    if need > REPLAYED:
        raise HogeqError(
            f"steps: claims of {len(cells)} revised cells need up to {need / 2**30:.1f} GiB; "
            f"allowed: {REPLAYED >> 30}"
        )
    with phase("proof", len(steps), "steps") as told:
        found = LiftedBound(rules, strategy, revised=frozenset(cells))
        for step in steps:
            found.take(step)
            told.step()
    return found


def _most_bytes(rules: Rules, cells: list[int]) -> int:
    """Bytes of cells' claims on one policy, were play to come there from all lower scores."""
    low, high = np.sort(np.indices((rules.size, rules.size)).reshape(2, -1), axis=0)
    before = sum(int(((low <= low[x]) & (high <= high[x])).sum()) for x in cells)
    return before * len(all_memories(rules)) * rules.num_actions * np.dtype(np.float64).itemsize
