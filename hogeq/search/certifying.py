"""The search for steps that lower a certified bound: first claims, then revisions of them.

A cell that has claimed is lent slack, which other cells may need more, and is refunded for what it
could not be lent when there was none. After a while cells are therefore visited anew, those first
where forgetting still costs most or most is refunded: what a cell claims in all is revised, and
then it may claim more. (In the words of dual decomposition: block coordinate descent, in which a
block leaves to the others what it can do without [1]_.)

.. [1] T. Werner, D. Prusa and T. Dlask, "Relative interior rule in block-coordinate descent",
   *CVPR* 2020.
"""

from collections.abc import Callable
from typing import cast

import numpy as np

from hogeq.rules import Rules
from hogeq.rules.outcomes import TurnTable
from hogeq.search.lifted_bound import (
    LEAST,
    MOST_STEPS,
    SMALLEST,
    LiftedBound,
    Revision,
    Step,
)
from hogeq.strategies.strategy import Mixture, parts_of
from hogeq.support.aliases import Floats
from hogeq.support.clock import working_time
from hogeq.support.numbers import percent
from hogeq.support.progress import phase

LENT = (0.25, 0.25, 0.5, 1.0)  # largest share of old slack that is lent, try by try at a cell
COVER = 1.2  # how far claims are covered
SHARES = (0.05, 0.4)  # smallest and largest share that is tried: many small steps reach further
NEAR = 1.3  # shares less than this factor apart are not both tried
PAYS = 0.01  # share of a cell's loss by forgetting that a step must take off
HOPE = 0.35  # share of it that a first step is hoped to take off
BATCH = 100  # cells that are tried before all are put in order again
FIRST = 0.2  # share of the time for claims alone
LOWERED = 0.1  # share of slack in a cell by which what is refunded is lowered
AGAIN = 0.4  # share that a cell claims after a revision
AGAIN_PAYS = 0.003  # share of its loss that this must take off
LEAST_HOPE = 0.02  # of a cell: it is visited again sometime
STEPS_OF_A_VISIT = 2
ENDED = 1e-8  # what a batch of revisions takes off when they have ended


def improve(
    found: LiftedBound,
    seconds: float,
    clock: Callable[[], float] = working_time,
    *,
    revises: bool = True,
) -> None:
    """Take steps that lower a bound, until the seconds are over or none is left."""
    began = clock()

    def has_ended(until: float) -> bool:
        return clock() >= until or len(found.steps) > MOST_STEPS - STEPS_OF_A_VISIT

    search, revisions = _Search(found), _Revisions(found)
    courses = [(began + seconds, revisions.cells, revisions.revise)] if revises else []
    first = FIRST if revises else 1.0
    courses.insert(0, (began + first * seconds, search.cells, search.claim))
    with phase("certificate", 100) as told:
        for until, cells, visit in courses:
            while not has_ended(until) and (batch := cells()):
                told.measured(f"bound {percent(found.value)}")
                for cell in batch:
                    if has_ended(until):
                        break
                    visit(cell)
                    told.reach(int(100.0 * (clock() - began) / seconds))


class _Search:
    """Where steps are looked for: first in those cells that promise most."""

    def __init__(self, bound: LiftedBound) -> None:
        self.bound = bound
        self.hopes = np.full(bound.rules.size**2, HOPE)
        self.tries = np.zeros(bound.rules.size**2, np.int64)
        self.share = SHARES[1]  # that was best of late

    def cells(self) -> list[int]:
        """Give the next cells that may claim, none if nothing is left."""
        return _first(self.bound.losses().min(axis=1) * self.hopes)

    def claim(self, cell: int) -> None:
        """Take the better of two steps at a cell, if it lowers the bound."""
        losses = self.bound.loss(cell)
        roll, loss = int(losses.argmin()), float(losses.min())
        if loss < SMALLEST:
            self.hopes[cell] /= 2.0
            return
        score, opponent = divmod(cell, self.bound.rules.size)
        lent = LENT[min(self.tries[cell], len(LENT) - 1)]
        self.tries[cell] += 1
        step = Step(score, opponent, roll, self.share, lent, 1.0, COVER)
        fall, refund = self.bound.gain(step)
        lowered = fall - refund
        # A fall grows with the share, a refund with its square or so: the best share lies here.
        best = float(np.clip(self.share * fall / (2.0 * max(refund, LEAST)), *SHARES))
        ratio = best / self.share
        hoped = max(fall, 0.0) * ratio - max(refund, 0.0) * ratio**2
        if not 1.0 / NEAR < ratio < NEAR and hoped > max(1.15 * lowered, 3.0 * PAYS * loss):
            other = step._replace(share=best)
            fall, refund = self.bound.gain(other)
            if fall - refund > lowered:
                step, lowered = other, fall - refund
        self.share = float(np.clip(0.9 * self.share + 0.1 * best, 2.0 * SHARES[0], SHARES[1]))
        if lowered > PAYS * loss:
            self.bound.take(step)
            self.hopes[cell] = np.clip(0.5 * lowered / (loss * max(step.share, 0.3)), 0.02, 1.0)
        else:
            self.hopes[cell] /= 5.0


class _Revisions:
    """Where claims are revised: first where most can be won, by what was won there before."""

    def __init__(self, bound: LiftedBound) -> None:
        self.bound = bound
        self.hopes = np.ones(bound.rules.size**2)
        self.promise = np.zeros(bound.rules.size**2)
        self.before = np.inf

    def cells(self) -> list[int]:
        """Give the next cells to visit, none if nothing is left."""
        before, self.before = self.before, self.bound.value
        if before - self.before < ENDED:
            return []
        losses = self.bound.losses().min(axis=1)
        self.promise = losses + np.maximum(self.bound.refunds(), 0.0)
        return _first(self.promise * self.hopes)

    def revise(self, cell: int) -> None:
        """Revise what a cell claims, and let it claim more if that lowers the bound."""
        before = self.bound.value
        score, opponent = divmod(cell, self.bound.rules.size)
        if self.bound.is_kept(cell):
            self.bound.take(Revision(score, opponent, LOWERED, LENT[0]))
        losses = self.bound.loss(cell)
        roll, loss = int(losses.argmin()), float(losses.min())
        if loss > SMALLEST / 10.0:
            step = Step(score, opponent, roll, AGAIN, LENT[0], 1.0, COVER)
            fall, refund = self.bound.gain(step)
            if fall - refund > AGAIN_PAYS * loss:
                self.bound.take(step)
        gained = (before - self.bound.value) / max(self.promise[cell], LEAST)
        hope = 0.2 * self.hopes[cell] + 0.8 * gained
        self.hopes[cell] = np.clip(hope, LEAST_HOPE, 1.0)


def _first(promise: Floats) -> list[int]:
    """Give the cells that promise most."""
    first = np.argsort(-promise, kind="stable")[:BATCH]
    return cast("list[int]", first[promise[first] > PAYS * SMALLEST].tolist())


def certify(
    rules: Rules,
    strategy: Floats | Mixture,
    seconds: float,
    clock: Callable[[], float] = working_time,
) -> LiftedBound:
    """Look for prices that lower the bound."""
    found = LiftedBound(rules, strategy)
    if TurnTable(rules).memories[1:] or len(parts_of(strategy)) > 1:
        improve(found, seconds, clock)
    return found
