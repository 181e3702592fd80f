"""Responders that pay for their rolls, by passes over single turns, and claims of cells on them.

Against a policy there is one; against a mixture one for each component, as if it were told the
draw: what was drawn is one more thing to remember, kept to the end. So a cell has the memories of
all components, (component, memory) being one number below n * H.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from hogeq.kernels import priced as kernels
from hogeq.kernels.priced import Claims, Responder
from hogeq.kernels.turns import WIN, TurnLists
from hogeq.model.game import MEMORY_LIMIT
from hogeq.model.turn_lists import scratch_for, turn_lists
from hogeq.rules import Rules
from hogeq.rules.memory import Memory, all_memories
from hogeq.support.aliases import Floats, Ints
from hogeq.support.messages import HogeqError

WIDTH = 8  # numbers side by side in a pass over claims


def width_of(rolls: int) -> int:
    """Numbers side by side in a pass over the claims of all rolls."""
    return max(WIDTH, 1 << (rolls - 1).bit_length())


class Claim(NamedTuple):
    """Claims of one cell; see :mod:`hogeq.search.lifted_bound`."""

    rolls: Ints  # (A,), the rolls that claim, the first claims most
    claims: Floats  # (A, H), of each of them on each memory
    fall: Floats  # (H,), by how much the cell's value falls
    weight: float  # share that is asked for of what a claim can gain by another roll upstream
    lent: float  # largest share of the slack of a roll that is lent


class Kept(NamedTuple):
    """One cell's part of a responder's prices, so that it can be revised: its claims and loans."""

    cells: Ints  # (R,), those from which play can come to it, and itself
    prices: Floats  # (R, H, K)


def _scores_rise(turns: TurnLists) -> bool:
    """Whether every turn lowers neither the lower nor the higher score, and raises one of them."""
    for kind, cell in zip(turns.kind.T, turns.cell.T, strict=True):
        rises = (turns.scores[cell] - turns.scores)[kind < WIN]
        if (rises.min(axis=1) < 0).any() or (rises.max(axis=1) <= 0).any():
            return False
    return True


class PricedResponders:
    """Responders that remember everything and pay for their rolls, against policies (n, G, G, K).

    Nothing is computed before :meth:`begin`.
    """

    def __init__(self, rules: Rules, weights: Sequence[float], policies: Sequence[Floats]) -> None:
        rules.require_one_goal()
        self.turns = turns = turn_lists(rules)
        if not _scores_rise(turns):
            raise HogeqError(
                f"rules {rules.name}: a turn can leave the total score as it was; allowed: "
                "rules under which it rises"
            )
        memories = all_memories(rules)
        self.memories, self._start = len(memories), memories.index(Memory())
        self._scratch, rolls = scratch_for(turns), rules.num_actions
        cells, ways = len(turns.order), len(self._scratch.masses)
        state = 8 * (rolls + 2) + 3
        need = len(policies) * cells * (self.memories * state + 8 * ways)
        if need > MEMORY_LIMIT:
            raise HogeqError(
                f"mixture: {len(policies)} parts need {need / 2**30:.1f} GiB in a game of this "
                f"size; allowed: {MEMORY_LIMIT >> 30}: fewer parts, lower goal or max_dice"
            )
        self._visits = np.zeros((2, cells, self.memories))  # of states by mover, of one responder
        self._row = np.full(cells, -1)
        self._claims: dict[int, Claims] = {}
        self.weights = np.array(weights)
        self.parts = [
            Responder(
                policy=np.ascontiguousarray(policy.reshape(cells, rolls)),
                prices=np.zeros((cells, self.memories, rolls)),
                met=np.ones((2, cells, self.memories), np.uint8),
                used=np.ones((cells, len(turns.dice)), np.uint8),
                values=np.zeros((2, cells, self.memories)),
                rolled=np.zeros((cells, ways)),
                chosen=np.full((cells, self.memories), -1, np.int8),
                largest=np.zeros(1),
            )
            for policy in policies
        ]
        self._most_reach: dict[int, float] = {}  # by cell

    def _claims_of(self, width: int) -> Claims:
        """Give the arrays of a pass over so many numbers side by side."""
        if width not in self._claims:
            turns, scratch = self.turns, self._scratch
            cells, rolls, ways = len(turns.order), turns.place.shape[1], len(turns.dice)
            shared = next(iter(self._claims.values()), None)
            self._claims[width] = Claims(
                values=np.zeros((2, cells * self.memories * width)),
                loans=shared.loans if shared else np.zeros((cells, self.memories, rolls)),
                falls=shared.falls if shared else np.zeros((cells, len(scratch.masses))),
                alive=shared.alive if shared else np.zeros((2, cells), np.uint8),
                ends=np.zeros(len(scratch.ends) * width),
                rolled=np.zeros(len(scratch.masses) * width),
                gaps=np.zeros((ways, ways)),
                wanted=np.zeros((2, ways), np.uint8),
                row=np.zeros((2, rolls)),
                by_lane=np.argsort(turns.place[0, 0] % turns.following.shape[2], kind="stable"),
            )
        return self._claims[width]

    def _at_start(self, width: int) -> Floats:
        """Give the last pass's values at the start, the mean over both seats: float64 (W,)."""
        claims = self._claims_of(width)
        start = slice(self._start * width, (self._start + 1) * width)
        return np.asarray(claims.alive[:, 0] @ claims.values[:, start] / 2.0)

    def begin(self) -> None:
        """Find out where play can come, and solve."""
        ways = self.turns.place // self.turns.following.shape[2]
        for part in self.parts:
            self._reach(part)
            part.met[:] = self._visits > 0.0
            part.used[:] = 0
            for roll, memory in np.ndindex(ways.shape[1:]):
                here = np.flatnonzero(part.met[0, :, memory])
                part.used[here, ways[self.turns.situation[here], roll, memory]] = 1
        self.remember()

    @property
    def value(self) -> float:
        """Win rate less the payments: the mean over both seats and the draw."""
        starts = [float(part.values[:, 0, self._start].sum()) / 2.0 for part in self.parts]
        return float(sum(weight * one for weight, one in zip(self.weights, starts, strict=True)))

    def remember(self) -> float:
        """Solve every responder by one backward induction."""
        for part in self.parts:
            kernels.remember(self.turns, part, self._scratch)
        return self.value

    def infoset_reach(self) -> Floats:
        """Reach of all states as chosen when they were last solved: float64 (C, n * H)."""
        drawn = zip(self.weights, self.parts, strict=True)
        return np.hstack([weight * self._reach(part) for weight, part in drawn])

    def _reach(self, part: Responder) -> Floats:
        """Reach of one responder's states, float64 (C, H), scratch."""
        self._visits[:] = 0.0
        kernels.reach(self.turns, part, self._scratch, self._start, self._visits)
        return self._visits[0]

    def slack(self, cell: int) -> Floats:
        """Loss by every roll at a cell, float64 (K, n * H); 0 where play never comes."""
        places, found = self.turns.place[self.turns.situation[cell]], []
        for part in self.parts:
            short = part.values[0, cell] - (part.rolled[cell][places] - part.prices[cell].T)
            found.append(np.where(part.met[0, cell] > 0, np.maximum(short, 0.0), 0.0))
        return np.concatenate(found, axis=1)

    def largest_price(self) -> float:
        """Size of the largest price that there ever was, of a cell's part, or of its worth."""
        return max(float(part.largest[0]) for part in self.parts)

    def largest_value(self) -> float:
        """Size of the largest value when they were last solved."""
        return max(float(np.abs(part.values).max()) for part in self.parts)

    def missing(self) -> float:
        """Give by how much probabilities that sum to 1 miss it at most."""
        sums = [part.policy.sum(axis=1) for part in self.parts]
        return float(max(np.abs(row - 1.0).max() for row in (*sums, np.sum(self.weights))))

    # --- claims ---

    def lift(self, cell: int, claim: Claim) -> tuple[Floats, float]:
        """Value at the start of the claims, float64, and how far the responders' value falls.

        Each roll's claim has a value, but those of the last rolls may share one that is no less.
        """
        worths, falls = np.zeros(min(len(claim.rolls), WIDTH - 1)), 0.0
        for number, own in enumerate(self._own(claim)):
            worth, lowered = self._lift(number, cell, own)
            worths += self.weights[number] * worth
            falls += self.weights[number] * lowered
        return worths, falls

    def take(
        self, cell: int, claim: Claim, kept: list[Kept] | None, lifted: Floats | None
    ) -> Floats:
        """Add claims and loans to the prices, and to the sums kept of the cell, one for each part.

        Return the claims' value at the start: `lifted`, if the last pass was that of this claim. No
        other is then made, if there is one part.
        """
        if lifted is not None and len(self.parts) == 1:
            self.lend(0, cell, claim, kept)
            return lifted
        worths = np.zeros(min(len(claim.rolls), WIDTH - 1))
        for number, own in enumerate(self._own(claim)):
            worths += self.weights[number] * self._lift(number, cell, own)[0]
            self.lend(number, cell, own, kept)
        return worths

    def _own(self, claim: Claim) -> Iterator[Claim]:
        """Take a claim on the memories of all parts apart."""
        claims, falls = (np.split(x, len(self.parts), axis=-1) for x in (claim.claims, claim.fall))
        for own, fall in zip(claims, falls, strict=True):
            yield claim._replace(claims=own, fall=fall)

    def _lift(self, number: int, cell: int, claim: Claim) -> tuple[Floats, float]:
        asked = min(len(claim.rolls), WIDTH - 1)
        claims, weights = np.zeros((self.memories, WIDTH)), np.zeros(WIDTH)
        if asked:  # rolls for which there is no place are valued together, as the best of them
            claims[:, :asked] = claim.claims[:asked].T
            claims[:, asked - 1] = claim.claims[asked - 1 :].max(axis=0)
        claims[:, -1] = claim.fall
        weights[:asked] = claim.weight
        found, lane = self._claims_of(WIDTH), (0.0,) * WIDTH
        asked_for = cell, claims.ravel(), weights, claim.lent, lane
        kernels.lift(self.turns, self.parts[number], found, *asked_for)
        here = self._at_start(WIDTH)
        return here[:asked], float(here[-1])

    def lend(self, number: int, cell: int, claim: Claim, kept: list[Kept] | None) -> None:
        """Add the claims and loans of the last pass, of one part, to its prices."""
        part, claims, lane = self.parts[number], self._claims_of(WIDTH), (0.0,) * WIDTH
        shape = part.prices.shape[1:]
        if kept is None:
            own = Kept(np.zeros(0, np.int64), np.zeros((0, *shape)))
        else:
            if number == len(kept):  # zeros, at the cells from which the pass came to it
                is_led = claims.alive[0].astype(bool)
                is_led[cell] = True
                cells = np.flatnonzero(is_led)
                kept.append(Kept(cells, np.zeros((len(cells), *shape))))
            own = kept[number]
        with self._rows(own) as row:
            kernels.lend(self.turns, part, claims, cell, row, own.prices, lane)
            if row[cell] >= 0:
                own.prices[row[cell], :, claim.rolls] += claim.claims
        part.prices[cell, :, claim.rolls] += claim.claims
        _note(part, claim.claims, part.prices[cell], own.prices[own.cells == cell])

    @contextmanager
    def _rows(self, kept: Kept) -> Iterator[Ints]:
        row = self._row
        row[kept.cells] = np.arange(len(kept.cells))
        yield row
        row[kept.cells] = -1

    # --- revisions ---

    def revise(self, cell: int, kept: list[Kept], more: Floats, lent: float) -> Floats:
        """Claim more at a cell, (K, n * H), and move its prices to lower the bound most.

        Return the value of its claims by roll, (K,).
        """
        worths = np.zeros(len(more))
        for number, asked in enumerate(np.split(more, len(self.parts), axis=1)):
            part, own = self.parts[number], kept[number]
            claims = own.prices[np.searchsorted(own.cells, cell)]
            added = np.where(part.met[0, cell] > 0, asked, 0.0).T
            claims += added
            part.prices[cell] += added
            _note(part, claims, part.prices[cell])
            worths += self.weights[number] * self._revise(number, cell, own, claims, lent, 1.0)
        return worths

    def most_reach(self, cell: int, kept: list[Kept]) -> float:
        """Give the highest reach of a cell that a responder can have."""
        if cell not in self._most_reach:
            found = 0.0
            for number, (weight, own) in enumerate(zip(self.weights, kept, strict=True)):
                nothing = Kept(own.cells, np.zeros_like(own.prices))
                ones = np.ones(own.prices.shape[1:])
                found += weight * self._revise(number, cell, nothing, ones, 0.0, 0.0).max()
            self._most_reach[cell] = float(found)
        return self._most_reach[cell]

    def _revise(
        self, number: int, cell: int, kept: Kept, claims: Floats, lent: float, returned: float
    ) -> Floats:
        rolls = claims.shape[1]
        width = width_of(rolls)
        idle = np.full(width, -2.0 * kernels.NONE)
        idle[:rolls] = 0.0
        claimed = np.zeros((self.memories, width))
        claimed[:, :rolls] = claims
        with self._rows(kept) as row:
            kernels.revise(
                self.turns,
                self.parts[number],
                self._claims_of(width),
                self._scratch,
                cell,
                row,
                kept.prices,
                claimed.ravel(),
                idle,
                lent,
                returned,
                (0.0,) * width,
            )
        return self._at_start(width)[:rolls]


def _note(part: Responder, *numbers: Floats) -> None:
    """Keep the size of the largest of some numbers, if it is the largest of all."""
    most = max(float(np.abs(array).max(initial=0.0)) for array in numbers)
    part.largest[0] = max(part.largest[0], most)
