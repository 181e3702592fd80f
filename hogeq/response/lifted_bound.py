"""An upper bound on best responses below full memory, at full size: cells claim what memory gains.

A responder who remembers everything is a flow: mu(x, a), how often it is in state x and rolls a.
Its win rate is linear in mu. Take any functions c_I of states and rolls, one for each of some cells
I, and write F for all flows. For every responder who forgets, making one roll a(I) in a cell,

    win rate  =  (win rate - sum over I of c_I mu) + sum over I of c_I mu
              <= max over F of (win rate - sum over I of c_I mu)
                 + sum over I of max over a of max over F of c_I(a) mu

where c_I(a) is c_I, but 0 for rolls in I other than a. The first term is one backward induction,
in which rolls have prices of any sign, and each of the others is one more. So *any* c_I give a
bound. This is Lagrangian decomposition [2]_ of the lift-and-project relaxation [1]_, in which the
flow must be, for each cell on its own, a mixture of flows that make one roll there.

What is claimed. Let V(x) and Q(x, a) be the values with the prices so far, and b a roll that loses
little in the cell over all. In the states of I,

    c(x, a) = s (Q(x, a) - Q(x, b))        for every roll a that is better than b in some state,

by which the worth of each state falls by a share s of what the roll b loses in it: memory gains
nothing any more. Over the states of the cell as they are reached, no roll claims more than 0. But a
responder that only collects claims would come to those states where its roll claims much. Whatever
it does on the way there instead of the best rolls loses V(x) - Q(x, a), its *slack*. So slack is
lent to the cell: before I, c(x, a) = -q(x, a), where q is what claims would gain by rolling a
instead, or the slack if that is less. The responder that plays does not gain by what is lent, and
the claims do not gain by steering. Slack that is lent once is gone for the cells that follow, so
they borrow in rounds, those first at which forgetting costs most. A cell that claims in several
steps still makes one roll: what it is refunded is the most that any one roll claims in all of them.

Nor does a cell use up slack that it can do without. Where a is worse than b, the claim above is
negative: it makes a as good as b, and leaves no slack to lend. But claims of 0 in the mean, over
the states as they are reached, are enough. So a negative claim is multiplied by

    min(1, k (mean of the positive claims of a) / (mean of its negative ones))

and what is left of the slack in those states is there for other cells; k > 1, since a responder
that steers towards claims meets the positive ones more often.

Against a mixture the responder is told what was drawn, and pays for using that too: the draw is one
more thing that it remembers. Flows are of (scores, memory, part), and a cell has the memories of
all parts; that a part is kept to the end makes each maximum a mean over the parts.

.. [1] E. Balas, "Disjunctive programming", *Annals of Discrete Mathematics* 5, 1979.
.. [2] M. Guignard and S. Kim, "Lagrangean decomposition", *Mathematical Programming* 39, 1987.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from hogeq.model.lifting import Claim, PricedResponders
from hogeq.rules import Rules
from hogeq.rules.outcomes import TurnTable
from hogeq.strategies.arrays import as_policy
from hogeq.strategies.mixtures import Mixture, parts_of
from hogeq.support.aliases import Floats
from hogeq.support.clock import working_time

LEAST = 1e-12  # claims below are none
ROUNDS = (0.25, 0.25, 0.25, 0.5, 0.5, 1.0)  # largest share of slack that is lent, round by round
# Share of the time by which each round ends: the first finds most.
ENDS = (0.5, 0.7, 0.8, 0.9, 0.95, 1.0)
TRIALS = ((0.5, 2.0), (0.5, 5.0), (0.2, 2.0), (0.2, 5.0))  # shares, and how far they are covered
WEIGHTS = (0.6, 0.36)
FREE = 0.05  # share of what a step takes off up to which it is as good as free
REFRESHED = 25  # steps after which choices and reach are computed anew
SMALLEST = 1e-8  # loss by forgetting below which a cell is left alone


class Step(NamedTuple):
    """One cell's claim; with the steps before it, it says all prices."""

    score: int
    opponent: int
    roll: int
    """b in the module's words."""
    share: float
    """s."""
    lent: float
    """Largest share of a roll's slack that is lent."""
    weight: float
    """Share lent of what claims would gain."""
    cover: float
    """k, how far negative claims outweigh positive ones at most."""


class LiftedBound:
    """The bound, step by step.

    Parameters
    ----------
    rules : Rules
    strategy : float64 (G, G, K) or Mixture
        Of the opponent: a policy, or several of which one is drawn before the game.
    fixed : mapping of int to int, optional
        Rolls by cell, ``score * G + opponent``: the bound is on those who make them there.

    Attributes
    ----------
    steps : list of Step
    full_memory : float
        The bound before the first step.

    Raises
    ------
    ValueError
        If a turn can leave the sum of scores as it was, or a mixture has too many parts for the
        memory.
    """

    def __init__(
        self,
        rules: Rules,
        strategy: Floats | Mixture,
        fixed: Mapping[int, int] = MappingProxyType({}),
    ) -> None:
        self.rules = rules
        self.steps: list[Step] = []
        weights, parts = zip(*parts_of(strategy), strict=True)
        policies = [as_policy(part, rules.max_dice + 1) for part in parts]
        self._responder = PricedResponders(rules, weights, policies)
        self._responder.begin()
        if fixed:
            for cell, roll in fixed.items():
                self._responder.fix(cell, roll)
            self._responder.remember()
        self._refunded = np.zeros((rules.goal**2, rules.max_dice + 1))
        self._reach = self._responder.infoset_reach()
        self.full_memory = self._responder.value

    @property
    def value(self) -> float:
        """The bound without its margin."""
        return self._responder.value + float(self.refunds().sum())

    def margin(self) -> float:
        """Give more than all rounding errors can come to.

        Each value is a sum of products over the outcomes of one roll and over rolls, from values a
        level further on: its relative error grows by so many roundings a level. What claims are
        worth is summed as a value and differences from it, in four roundings a term.
        """
        terms = 4 * int(np.diff(self._responder.turns.first).max()) + 2 * self.rules.max_dice + 16
        largest = 2.0 + self._responder.largest_price()
        levels = 4 * self.rules.goal + len(self._responder.parts) - 1
        return (len(self.steps) + 2) * levels * terms * largest * float(np.finfo(float).eps)

    def bound(self) -> float:
        """Solve the responder anew at the prices in force; an upper bound, rounding included."""
        return self._responder.remember() + float(self.refunds().sum()) + self.margin()

    def refunds(self) -> Floats:
        """Give what each cell is refunded, for the roll that claims most: float64 (C,)."""
        return self._refunded.max(axis=1)

    def losses(self) -> Floats:
        """Say what forgetting costs in each cell as the responder plays now: float64 (C, K)."""
        found = np.zeros((len(self._reach), self.rules.max_dice + 1))
        for cell in np.flatnonzero(self._reach.sum(axis=1) > SMALLEST).tolist():
            found[cell] = self._responder.slack(cell) @ self._reach[cell]
        return found

    def claim(self, step: Step) -> Claim:
        """Give what a step claims at the prices in force."""
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
        """How far a step would lower the responder's value, and what it would refund."""
        claim, cell = self.claim(step), self._cell(step)
        worth, fall = self._responder.lift(cell, claim, commit=False)
        before = self._refunded[cell]
        return fall, float((before + self._by_roll(claim, worth)).max() - before.max())

    def take(self, step: Step) -> None:
        """Put a step's claim into the prices."""
        claim, cell = self.claim(step), self._cell(step)
        worth, _ = self._responder.lift(cell, claim, commit=True)
        self._refunded[cell] += self._by_roll(claim, worth)
        self.steps.append(step)
        if len(self.steps) % REFRESHED == 0:
            self._responder.remember()
            self._reach = self._responder.infoset_reach()

    def _by_roll(self, claim: Claim, worth: Floats) -> Floats:
        """Give what a claim is worth by roll, float64 (K,): the last to claim may share a worth."""
        found = np.zeros(self.rules.max_dice + 1)
        if len(worth):
            found[claim.rolls] = worth[np.minimum(np.arange(len(claim.rolls)), len(worth) - 1)]
        return found

    def bound_with(self, cell: int, roll: int) -> float:
        """Give the bound on those who make one roll at a cell, at the prices in force."""
        refunds = self.refunds()
        refunds[cell] = self._refunded[cell, roll]
        return self._responder.value_with(cell, roll) + float(refunds.sum()) + self.margin()

    def _cell(self, step: Step) -> int:
        return step.score * self.rules.goal + step.opponent

    def improve(self, seconds: float, clock: Callable[[], float] = working_time) -> None:
        """Take steps that lower the bound, for so many seconds or until none is left."""
        begun = clock()
        for lent, end in zip(ROUNDS, ENDS, strict=True):
            until = begun + seconds * end
            for cell in self._worst_first():
                if clock() >= until:
                    break
                self._try(*divmod(cell, self.rules.goal), lent)

    def _worst_first(self) -> Iterator[int]:
        losses = self.losses().min(axis=1)
        cells = np.argsort(-losses, kind="stable")
        yield from cells[losses[cells] > SMALLEST].tolist()

    def _try(self, score: int, opponent: int, lent: float) -> None:
        """Take the best step found at a cell, if any lowers the bound."""
        cell = score * self.rules.goal + opponent
        losses = self._responder.slack(cell) @ self._reach[cell]
        roll = int(losses.argmin())
        if losses[roll] < SMALLEST:
            return
        found, best, free = None, 0.0, False
        for share, cover in TRIALS:
            step = Step(score, opponent, roll, share, lent, 1.0, cover)
            lowered, free = self._lowered(step)
            if lowered > best:
                found, best = step, lowered
            if free or best > 0.5 * share * losses[roll]:
                break
        if found is None:
            return
        if free:
            whole = found._replace(share=1.0)
            lowered, _ = self._lowered(whole)
            if lowered > best:
                found, best = whole, lowered
            for weight in WEIGHTS:  # of two as good, the one that borrows less
                step = found._replace(weight=weight)
                if self._lowered(step)[0] < 0.98 * best:
                    break
                found = step
        self.take(found)

    def _lowered(self, step: Step) -> tuple[float, bool]:
        """By how much a step would lower the bound, and whether next to nothing is refunded."""
        fall, refund = self.gain(step)
        return fall - refund, refund <= FREE * fall


def certify(
    rules: Rules,
    strategy: Floats | Mixture,
    seconds: float,
    clock: Callable[[], float] = working_time,
) -> LiftedBound:
    """Look for prices that lower the bound.

    Parameters
    ----------
    rules : Rules
    strategy : float64 (G, G, K) or Mixture
        Of the opponent: a policy, or several of which one is drawn before the game.
    seconds : float
        How long to look.
    clock : callable
        Counts them; by default not while kernels are compiled.

    Returns
    -------
    LiftedBound

    Raises
    ------
    ValueError
        As :class:`LiftedBound` does.
    """
    found = LiftedBound(rules, strategy)
    if TurnTable(rules).memories[1:] or len(parts_of(strategy)) > 1:
        found.improve(seconds, clock)
    return found


def replay(rules: Rules, strategy: Floats | Mixture, steps: Iterable[Step]) -> LiftedBound:
    """Take steps that somebody found: the bound that they prove."""
    found = LiftedBound(rules, strategy)
    for step in steps:
        found.take(step)
    return found
