"""An upper bound on best responses below full memory, at full size: cells claim what memory gains.

A responder who remembers everything is a flow: mu(x, a), how often it is in state x and rolls a.
Its win rate is linear in mu. Take any functions c_I of states and rolls, one for each of some cells
I, and write F for all flows. For every responder who forgets, making one roll a(I) in a cell,

    win rate  =  (win rate - sum over I of c_I mu) + sum over I of c_I mu
              <= max over F of (win rate - sum over I of c_I mu)
                 + sum over I of max over a of max over F_a of c_I mu

where F_a are the flows that in I make no roll but a. The first term is one backward induction,
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
a quarter of it is lent at most when a cell is tried for the first time. A cell that claims in
several steps still makes one roll: what it is refunded is the most that any one roll claims in all
of them.

But a claim makes slack too, and that is its own. A roll that leads to I more often than the best
one falls further by the claims in I, and what it falls further is new slack, lent whole. It is
found where it is needed, at the rolls that steer towards claims, even if they were as good as the
best before.

Nor does a cell use up slack that it can do without. Where a is worse than b, the claim above is
negative: it makes a as good as b, and leaves no slack to lend. But claims of 0 in the mean, over
the states as they are reached, are enough. So a negative claim is multiplied by

    min(1, k (mean of the positive claims of a) / (mean of its negative ones))

and what is left of the slack in those states is there for other cells; k > 1, since a responder
that steers towards claims meets the positive ones more often.

A cell can be *revised*. All that is its own of the prices, c_I, has been kept, and one pass finds
what the claims of each roll are worth from every state on. It moves c_I in four ways, none of which
raises the bound. Before I, a roll by which all claims are worth less than by others gives back what
they are short of: the responder pays more, and the refund stays. A roll by which some claim is
worth more than by those that the responder prefers is lent more, if the responder has slack there
by now: the refund falls, and the responder does not gain. In I, a roll whose claims are worth less
than the refund claims more; and what is refunded is lowered, by a share of the slack there. So what
a cell was lent early, and can do without, comes back to the others.

Against a mixture the responder is told what was drawn, and pays for using that too: the draw is one
more thing that it remembers. Flows are of (scores, memory, part), and a cell has the memories of
all parts; that a part is kept to the end makes each maximum a mean over the parts.

.. [1] E. Balas, "Disjunctive programming", *Annals of Discrete Mathematics* 5, 1979.
.. [2] M. Guignard and S. Kim, "Lagrangean decomposition", *Mathematical Programming* 39, 1987.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hogeq.model.priced import Claim, KeptClaims, PricedResponders
from hogeq.rules import Rules
from hogeq.rules.memory import all_memories
from hogeq.strategies.strategy import Strategy
from hogeq.support.aliases import Floats
from hogeq.support.progress import phase

LEAST = 1e-12  # claims below are none
KEPT = 3 * 2**30  # bytes of claims that are kept, so that they can be revised
REPLAYED = 8 * 2**30  # bytes that claims may take where it is known which are revised
MOST_STEPS = 100_000  # of a certificate
REFRESHED = 25  # steps after which choices and reach are computed anew
SMALLEST = 1e-8  # loss by forgetting that is no loss


class Step(NamedTuple):
    """One cell's claim; with the steps before it, it says all prices."""

    score: int
    opponent: int
    roll: int  # b in the module's words
    share: float  # s
    lent: float  # largest share of a roll's slack that is lent
    weight: float  # share lent of what claims would gain
    cover: float  # k, how far negative claims outweigh positive ones at most


class Revision(NamedTuple):
    """What one cell claims in all, and is lent, moved to where that takes off most."""

    score: int
    opponent: int
    lowered: float  # share of a roll's slack in the cell by which a refunded claim is lowered
    lent: float  # largest share of a roll's slack that is lent


class LiftedBound:
    """The bound, step by step, on what wins from a policy or a mixture.

    Claims of the cells `revised` are kept, and no others; by default those of all cells, in the
    order in which they claim, as long as they fit into 3 GiB. A `ValueError` if a turn can leave
    the sum of scores as it was, or a mixture has too many parts for the memory.
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
        self._tried: tuple[Step, Claim] | None = None
        self._revised = revised
        self._kept: dict[int, KeptClaims | None] = {}
        self._room = KEPT
        self._reach = self._responder.infoset_reach()
        self.full_memory = self._responder.value

    @property
    def value(self) -> float:
        """The bound without its margin."""
        return self._responder.value + float(self.refunds().sum())

    def margin(self) -> float:
        """Give more than all rounding errors can come to."""
        # Each value is a sum of products over the outcomes of one roll and over rolls, from values
        # a level further on: its relative error grows by so many roundings a level. What claims are
        # worth is summed as a value and differences from it, in four roundings a term.
        terms = (
            4 * int(np.diff(self._responder.turns.first).max()) + 2 * self.rules.num_actions + 14
        )
        largest = 2.0 + self._responder.largest_price()
        levels = 4 * self.rules.size + len(self._responder.parts) - 1
        return (len(self.steps) + 2) * levels * terms * largest * float(np.finfo(float).eps)

    def bound(self) -> float:
        """Solve the responder anew at the prices in force; an upper bound, rounding included."""
        return self._responder.remember() + float(self.refunds().sum()) + self.margin()

    def refunds(self) -> Floats:
        """Give what each cell is refunded, for the roll that claims most: float64 (C,)."""
        return self._refunded.max(axis=1)

    def losses(self) -> Floats:
        """Say what forgetting costs in each cell as the responder plays now: float64 (C, K)."""
        found = np.zeros((len(self._reach), self.rules.num_actions))
        for cell in np.flatnonzero(self._reach.sum(axis=1) > SMALLEST).tolist():
            found[cell] = self.loss(cell)
        return found

    def loss(self, cell: int) -> Floats:
        """Say what forgetting costs in a cell, by the roll that is made: float64 (K,)."""
        return self._responder.slack(cell) @ self._reach[cell]

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
        self._tried = step, claim
        worth, fall = self._responder.lift(cell, claim)
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
        if len(self.steps) % REFRESHED == 0:
            self._responder.remember()
            self._reach = self._responder.infoset_reach()

    def _claim(self, cell: int, step: Step) -> None:
        claim = self.claim(step)
        if self._tried is not None and self._tried[0] == step:
            claim = self._tried[1]  # its pass need not be made again
        kept = self._kept.setdefault(cell, self._to_keep(cell))
        before = 0 if kept is None else kept.nbytes
        worth = self._responder.take(cell, claim, kept)
        self._room -= 0 if kept is None else kept.nbytes - before
        self._refunded[cell] += self._by_roll(claim, worth)

    def _to_keep(self, cell: int) -> KeptClaims | None:
        is_kept = self._room > 0 if self._revised is None else cell in self._revised
        return KeptClaims() if is_kept else None

    def _revise(self, cell: int, step: Revision) -> None:
        kept = self._kept.get(cell)
        if kept is None:
            raise ValueError(f"{step}: allowed where claims are kept")
        refunded = self._refunded[cell]
        reach = self._responder.most_reach(cell, kept)
        free = np.minimum((refunded.max() - refunded) / max(reach, LEAST), 1.0)
        lowered = step.lowered * self._responder.slack(cell) * (refunded > 0.0)[:, None]
        more = free[:, None] - lowered
        self._refunded[cell] = self._responder.revise(cell, kept, more, step.lent)

    def is_kept(self, cell: int) -> bool:
        """Say whether what a cell claims can be revised."""
        return self._kept.get(cell) is not None

    def _by_roll(self, claim: Claim, worth: Floats) -> Floats:
        """Give what a claim is worth by roll, float64 (K,): the last to claim may share a worth."""
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
        raise ValueError(
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
    """Bytes of what cells claim of one policy, were play to come there from all lower scores."""
    low, high = np.sort(np.indices((rules.size, rules.size)).reshape(2, -1), axis=0)
    before = sum(int(((low <= low[x]) & (high <= high[x])).sum()) for x in cells)
    return before * len(all_memories(rules)) * rules.num_actions * np.dtype(np.float64).itemsize
