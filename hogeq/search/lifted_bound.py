"""An upper bound on best responses to a policy or a mixture, below full memory, in any graph.

``docs/exact-response.md`` has the idea, its equation and its sources; here its c_I are *claims*.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hogeq.model.priced import Claim, Kept, PricedResponders, Problem
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
    """One row's claim, as the page has it; all steps together define the prices."""

    row: int
    action: int  # b
    share: float  # s
    lent: float  # largest share of an action's slack that is lent
    weight: float  # share lent of what claims would gain
    cover: float  # k, how far negative claims outweigh positive ones at most


class Revision(NamedTuple):
    """Move all claims and loans of one row to lower the bound most."""

    row: int
    lowered: float  # share of an action's slack in the row by which a refunded claim is lowered
    lent: float  # largest share of an action's slack that is lent


class LiftedBound:
    """The bound, step by step, on a player's best payoff in some problems, in their mean.

    Claims of the rows `revised` are kept, and no others; by default those of all rows, in the order
    in which they claim, as long as they fit into 4 GiB.
    """

    def __init__(self, problems: Sequence[Problem], revised: frozenset[int] | None = None) -> None:
        self.steps: list[Step | Revision] = []
        self._responder = PricedResponders(problems)
        self._responder.begin()
        self._responder.visit()
        self._refunded = np.zeros(self._responder.shape)
        self._largest = 0.0  # size of a price, of what it was worth, or of a refund, at any time
        self._tried: tuple[Step, Claim, Floats] | None = None  # by the last pass
        self._revised = revised
        self._kept: dict[int, dict[int, Kept] | None] = {}
        self._room = KEPT
        self._error = sum(one.chance * one.error for one in problems)
        self._level = sum(one.chance * one.level for one in problems)
        self.full_memory = self.payoff

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and actions, (R, K)."""
        return self._responder.shape

    @property
    def unit(self) -> float:
        """Power of two that is no less than all payoffs."""
        return self._responder.scale

    @property
    def is_told(self) -> bool:
        """Whether a responder knows what was drawn: a seat has several problems."""
        problems = self._responder.problems
        return len(problems) > len({(id(one.graph), one.seat) for one in problems})

    @property
    def hides(self) -> bool:
        """Whether a row joins several states; else full memory is a best response."""
        return self._responder.hides

    @property
    def value(self) -> float:
        """The bound without its margin, in units of the scale."""
        return self._responder.value + math.fsum(self.refunds())

    @property
    def payoff(self) -> float:
        """The bound without its margin, as a payoff."""
        return self.value * self.unit + self._level

    def margin(self) -> float:
        """Give more than all rounding errors can come to, as the page argues."""
        responder = self._responder
        terms = 4 * responder.outcomes() + 2 * responder.shape[1] + 14
        turns = 2 * (responder.levels() + 1) + len(responder.parts) - 1
        largest = max(2.0, self._largest, responder.largest_value())
        error = terms * float(np.finfo(float).eps) + responder.missing()
        return (len(self.steps) + 2) * turns * largest * error

    def bound(self) -> float:
        """Solve the responder anew at the prices in force; an upper bound, rounding included."""
        self._responder.remember()
        found = (self.value + self.margin()) * self._responder.scale
        for more in (self._error, self._level):
            if more:
                found = math.nextafter(found + more, math.inf)
        return found

    def refunds(self) -> Floats:
        """Give the refund of each row, for the action that claims most: float64 (R,)."""
        return self._refunded.max(axis=1)

    def losses(self) -> Floats:
        """Give the loss by forgetting in each row, as the responder plays now: float64 (R, K)."""
        found = np.zeros(self._responder.shape)
        for row in np.flatnonzero(self._responder.row_reach() > SMALLEST).tolist():
            found[row] = self.loss(row)
        return found

    def loss(self, row: int) -> Floats:
        """Give the loss by forgetting in a row, by action: float64 (K,)."""
        return self._responder.slack(row) @ self._responder.reach(row)

    def claim(self, step: Step) -> Claim:
        """Give the claim of a step at the prices in force: a share of its action's loss."""
        # What is lent before the row, so that nobody steers towards claims, is slack of other
        # actions. Claims of 0 in the mean over the states as they are reached are enough, so
        # negative ones shrink and leave slack for other rows; by less than that (`cover`), since a
        # responder that steers towards claims meets the positive ones more often.
        short, reach = self._responder.slack(step.row), self._responder.reach(step.row)
        claims = step.share * (short[step.action] - short)
        asked = np.flatnonzero((claims > LEAST).any(axis=1))
        claims = claims[asked]
        more = np.maximum(claims, 0.0) @ reach
        less = np.maximum(-claims, 0.0) @ reach
        kept = np.minimum(1.0, step.cover * more / np.maximum(less, LEAST**2))
        claims = np.where(claims < 0.0, kept[:, None] * claims, claims)
        first = np.argsort(-more, kind="stable")
        fall = step.share * short[step.action]
        return Claim(asked[first], claims[first], fall, step.weight, step.lent)

    def gain(self, step: Step) -> tuple[float, float]:
        """Give the fall of the responder's value by a step, and the refund of it."""
        claim = self.claim(step)
        worth, fall = self._responder.lift(step.row, claim)
        self._tried = step, claim, worth
        before = self._refunded[step.row]
        return fall, float((before + self._by_action(claim, worth)).max() - before.max())

    def take(self, step: Step | Revision) -> None:
        """Put a step's claim into the prices, or revise those of a row."""
        if isinstance(step, Revision):
            self._revise(step)
        else:
            self._claim(step)
        self._tried = None
        self.steps.append(step)
        refunded = float(np.abs(self._refunded[step.row]).max())
        self._largest = max(self._largest, refunded, self._responder.largest_price())
        if not self._largest <= LARGEST:
            raise HogeqError(f"{step}: leads to prices of {self._largest:g}; allowed: {LARGEST:g}")
        if len(self.steps) % REFRESHED == 0:
            self._responder.remember()
            self._responder.visit()

    def _claim(self, step: Step) -> None:
        row, claim, lifted = step.row, self.claim(step), None
        if self._tried is not None and self._tried[0] == step:
            _, claim, lifted = self._tried  # its pass need not be made again
        if row not in self._kept:
            self._kept[row] = {} if self._is_to_keep(row) else None
        worth = self._responder.take(row, claim, self._kept[row], lifted)
        self._refunded[row] += self._by_action(claim, worth)

    def _is_to_keep(self, row: int) -> bool:
        if self._revised is not None:
            return row in self._revised
        need = self._responder.bytes_kept(row)
        fits = need <= self._room
        self._room -= need * fits
        return fits

    def _revise(self, step: Revision) -> None:
        # None of four changes raises the bound. Before the row, an action by which all claims are
        # worth less than by others gives back what they are short of; one by which some claim is
        # worth more than by those preferred is lent more, if the responder has slack there by now.
        # In the row, an action whose claims are worth less than the refund claims more; and what is
        # refunded is lowered, by a share of the slack there.
        row, kept = step.row, self._kept.get(step.row)
        if kept is None:
            raise HogeqError(f"{step}: allowed where claims are kept")
        refunded = self._refunded[row]
        reach = self._responder.most_reach(row, kept)
        free = np.minimum((refunded.max() - refunded) / max(reach, LEAST), 1.0)
        lowered = step.lowered * self._responder.slack(row) * (refunded > 0.0)[:, None]
        more = free[:, None] - lowered
        self._refunded[row] = self._responder.revise(row, kept, more, step.lent)

    def is_met_once(self, row: int) -> bool:
        """Whether no play meets a row twice: else it cannot claim."""
        return self._responder.is_met_once(row)

    def is_kept(self, row: int) -> bool:
        """Return whether the claims of a row can be revised."""
        return self._kept.get(row) is not None

    def _by_action(self, claim: Claim, worth: Floats) -> Floats:
        """Give the value of a claim by action, (K,): the last to claim may share a value."""
        found = np.zeros(self._responder.shape[1])
        if len(worth):
            found[claim.actions] = worth[np.minimum(np.arange(len(claim.actions)), len(worth) - 1)]
        return found

    def require_room(self, rows: frozenset[int]) -> None:
        """Refuse to keep the claims of rows if they take too many bytes."""
        need = sum(map(self._responder.bytes_kept, sorted(rows)))
        if need > REPLAYED:
            raise HogeqError(
                f"steps: claims of {len(rows)} revised rows need up to {need / 2**30:.1f} GiB; "
                f"allowed: {REPLAYED >> 30}"
            )


def replay(problems: Sequence[Problem], steps: Sequence[Step | Revision]) -> LiftedBound:
    """Take steps that somebody found: the bound that they prove."""
    revised = frozenset(step.row for step in steps if isinstance(step, Revision))
    found = LiftedBound(problems, revised)
    found.require_room(revised)
    with phase("proof", len(steps), "steps") as told:
        for step in steps:
            found.take(step)
            told.step()
    return found
