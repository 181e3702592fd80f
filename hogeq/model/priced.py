"""Responders that pay for their rolls, by passes over single turns, and claims of cells on them.

Against a policy there is one; against a mixture one for each part, as if it were told the draw.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from hogeq.kernels import priced as kernels
from hogeq.kernels.interpreter import WIN, TurnLists
from hogeq.kernels.priced import Claims, Responder
from hogeq.model.game import MEMORY_LIMIT
from hogeq.model.turn_lists import scratch_for, turn_lists
from hogeq.rules import Rules
from hogeq.rules.memory import Memory, all_memories
from hogeq.support.aliases import Floats, Ints

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
    """One cell's part of a responder's prices: its claims and its loans."""

    cells: Ints  # (R,), those from which play can come to it, and itself
    prices: Floats  # (R, H, K)


class Board:
    """A game's turns as lists, and scratch for passes over them.

    `reach` (2, C, H) is that of a responder's states by mover, when it was last asked for.
    """

    def __init__(self, rules: Rules) -> None:
        rules.require_one_goal()
        self.turns = turns = turn_lists(rules)
        if not _scores_rise(turns):
            raise ValueError(
                f"rules {rules.name}: a turn can leave the total score as it was; allowed: "
                "rules under which it rises"
            )
        memories = all_memories(rules)
        self.memories, self.start = len(memories), memories.index(Memory())
        cells = len(turns.order)
        self.reach = np.zeros((2, cells, self.memories))
        self.scratch = scratch_for(turns)
        self.row = np.full(cells, -1)
        self._claims: dict[int, Claims] = {}

    def claims(self, width: int) -> Claims:
        """Give the arrays of a pass over so many numbers side by side."""
        if width not in self._claims:
            turns, scratch = self.turns, self.scratch
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

    def at_start(self, width: int) -> Floats:
        """Give the last pass's values at the start, the mean over both seats: float64 (W,)."""
        claims = self.claims(width)
        start = slice(self.start * width, (self.start + 1) * width)
        return np.asarray(claims.alive[:, 0] @ claims.values[:, start] / 2.0)

    def bytes_of_a_responder(self, rolls: int) -> int:
        """Give the size in bytes of the arrays of a :class:`PricedResponder`."""
        state = 8 * (rolls + 2) + 3
        return len(self.turns.order) * (self.memories * state + 8 * len(self.scratch.masses))


def _scores_rise(turns: TurnLists) -> bool:
    """Whether every turn lowers neither the lower nor the higher score, and raises one of them."""
    for kind, cell in zip(turns.kind.T, turns.cell.T, strict=True):
        rises = (turns.scores[cell] - turns.scores)[kind < WIN]
        if (rises.min(axis=1) < 0).any() or (rises.max(axis=1) <= 0).any():
            return False
    return True


class PricedResponder:
    """A responder that remembers everything and pays for its rolls, against a policy (G, G, K).

    Nothing is computed before :meth:`begin`.
    """

    def __init__(self, board: Board, policy: Floats) -> None:
        self.board, self.turns = board, board.turns
        cells, rolls = len(self.turns.order), policy.shape[-1]
        self.arrays = Responder(
            policy=np.ascontiguousarray(policy.reshape(cells, rolls)),
            prices=np.zeros((cells, board.memories, rolls)),
            met=np.ones((2, cells, board.memories), np.uint8),
            used=np.ones((cells, len(self.turns.dice)), np.uint8),
            values=np.zeros((2, cells, board.memories)),
            rolled=np.zeros((cells, len(board.scratch.masses))),
            chosen=np.full((cells, board.memories), -1, np.int8),
            largest=np.zeros(1),
        )

    @property
    def prices(self) -> Floats:
        """Of its rolls, float64 (C, H, K)."""
        return self.arrays.prices

    def begin(self) -> None:
        """Find out where play can come, and solve."""
        turns, met, used = self.turns, self.arrays.met, self.arrays.used
        self.infoset_reach()
        met[:] = self.board.reach > 0.0
        used[:] = 0
        ways = turns.place // turns.following.shape[2]
        for roll, memory in np.ndindex(ways.shape[1:]):
            here = np.flatnonzero(met[0, :, memory])
            used[here, ways[turns.situation[here], roll, memory]] = 1
        self.remember()

    @property
    def value(self) -> float:
        """Win rate less its payments, the mean over both seats."""
        return float(self.arrays.values[:, 0, self.board.start].sum()) / 2.0

    def remember(self) -> float:
        """Solve it by one backward induction."""
        kernels.remember(self.turns, self.arrays, self.board.scratch)
        return self.value

    def infoset_reach(self) -> Floats:
        """Reach of its states as it chose when it was last solved: float64 (C, H), scratch."""
        board = self.board
        board.reach[:] = 0.0
        kernels.reach(self.turns, self.arrays, board.scratch, board.start, board.reach)
        return board.reach[0]

    def slack(self, cell: int) -> Floats:
        """Loss by every roll at a cell, by memory: float64 (K, H); 0 where play never comes."""
        places = self.turns.place[self.turns.situation[cell]]
        worths = self.arrays.rolled[cell][places] - self.prices[cell].T
        short = self.arrays.values[0, cell] - worths
        return np.where(self.arrays.met[0, cell] > 0, np.maximum(short, 0.0), 0.0)

    def lift(self, cell: int, claim: Claim) -> tuple[Floats, float]:
        """Value at the start of the claims, float64, and how far the responder's value falls.

        Each roll's claim has a value, but those of the last rolls may share one that is no less.
        """
        board = self.board
        asked = min(len(claim.rolls), WIDTH - 1)
        claims, weights = np.zeros((board.memories, WIDTH)), np.zeros(WIDTH)
        if asked:  # rolls for which there is no place are valued together, as the best of them
            claims[:, :asked] = claim.claims[:asked].T
            claims[:, asked - 1] = claim.claims[asked - 1 :].max(axis=0)
        claims[:, -1] = claim.fall
        weights[:asked] = claim.weight
        found, zeros = board.claims(WIDTH), (0.0,) * WIDTH
        kernels.lift(
            self.turns, self.arrays, found, cell, claims.ravel(), weights, claim.lent, zeros
        )
        here = board.at_start(WIDTH)
        return here[:asked], float(here[-1])

    def begin_kept(self, cell: int) -> Kept:
        """Begin the loans to a cell, zeros, at the cells from which the last pass came to it."""
        is_led = self.board.claims(WIDTH).alive[0].astype(bool)
        is_led[cell] = True
        cells = np.flatnonzero(is_led)
        return Kept(cells, np.zeros((len(cells), *self.prices.shape[1:])))

    def lend(self, cell: int, claim: Claim, kept: Kept | None) -> None:
        """Add the claims and loans of the last pass to the prices."""
        if kept is None:
            kept = Kept(np.zeros(0, np.int64), np.zeros((0, *self.prices.shape[1:])))
        claims, zeros = self.board.claims(WIDTH), (0.0,) * WIDTH
        with self._rows(kept) as row:
            kernels.lend(self.turns, self.arrays, claims, cell, row, kept.prices, zeros)
            if row[cell] >= 0:
                kept.prices[row[cell], :, claim.rolls] += claim.claims
        self.prices[cell, :, claim.rolls] += claim.claims
        self._note(claim.claims, self.prices[cell], kept.prices[kept.cells == cell])

    def _note(self, *numbers: Floats) -> None:
        """Keep the size of the largest of some numbers, if it is the largest of all."""
        most = max(float(np.abs(array).max(initial=0.0)) for array in numbers)
        self.arrays.largest[0] = max(self.arrays.largest[0], most)

    @contextmanager
    def _rows(self, kept: Kept) -> Iterator[Ints]:
        row = self.board.row
        row[kept.cells] = np.arange(len(kept.cells))
        yield row
        row[kept.cells] = -1

    def claim_more(self, cell: int, kept: Kept, more: Floats) -> None:
        """Claim so much more at a cell, (K, H), where play comes; values stay."""
        more = np.where(self.arrays.met[0, cell] > 0, more, 0.0).T
        own = kept.prices[np.searchsorted(kept.cells, cell)]
        own += more
        self.prices[cell] += more
        self._note(own, self.prices[cell])

    def revise(self, cell: int, kept: Kept, lent: float) -> Floats:
        """Move a cell's prices to lower the bound most; return the value of its claims by roll."""
        claims = kept.prices[np.searchsorted(kept.cells, cell)]
        return self._revise(cell, kept, claims, lent, 1.0)

    def most_reach(self, cell: int, kept: Kept) -> float:
        """Give the highest reach of a cell that a responder can have."""
        nothing = Kept(kept.cells, np.zeros_like(kept.prices))
        return float(self._revise(cell, nothing, np.ones(self.prices.shape[1:]), 0.0, 0.0).max())

    def _revise(
        self, cell: int, kept: Kept, claims: Floats, lent: float, returned: float
    ) -> Floats:
        board, rolls = self.board, claims.shape[1]
        width = width_of(rolls)
        idle = np.full(width, -2.0 * kernels.NONE)
        idle[:rolls] = 0.0
        claimed = np.zeros((board.memories, width))
        claimed[:, :rolls] = claims
        with self._rows(kept) as row:
            kernels.revise(
                self.turns,
                self.arrays,
                board.claims(width),
                board.scratch,
                cell,
                row,
                kept.prices,
                claimed.ravel(),
                idle,
                lent,
                returned,
                (0.0,) * width,
            )
        return board.at_start(width)[:rolls]


class KeptClaims:
    """One cell's part of the prices, kept so that it can be revised."""

    def __init__(self) -> None:
        self.parts: dict[int, Kept] = {}
        """By part of the mixture."""
        self.most_reach = 0.0
        """Highest reach of the cell that a responder can have; 0 before anybody asked."""


class PricedResponders:
    """The same against a mixture: one responder for each part, as if the draw were public.

    What was drawn is one more thing to remember, kept to the end: a cell has the memories of all
    parts, (part, memory) being one number below n * H.
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
        """Win rate less its payments: the mean over the draw."""
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
        """Size of the largest price that there ever was, of a cell's part, or of its worth."""
        return max(float(part.arrays.largest[0]) for part in self.parts)

    def largest_value(self) -> float:
        """Size of the largest value when they were last solved."""
        return max(float(np.abs(part.arrays.values).max()) for part in self.parts)

    def missing(self) -> float:
        """Give by how much probabilities that sum to 1 miss it at most."""
        sums = [part.arrays.policy.sum(axis=1) for part in self.parts]
        return float(max(np.abs(row - 1.0).max() for row in (*sums, np.sum(self.weights))))

    def lift(self, cell: int, claim: Claim) -> tuple[Floats, float]:
        """As :meth:`PricedResponder.lift` for a claim on the memories of all parts."""
        self._lifted = claim, *self._passes(cell, claim, lends=False)
        return self._lifted[1:]

    def take(self, cell: int, claim: Claim, kept: KeptClaims | None = None) -> Floats:
        """Add claims and loans to the prices, and keep them; return the claims' value at the start.

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
        if kept is not None and number not in kept.parts:
            kept.parts[number] = part.begin_kept(cell)
        part.lend(cell, claim, None if kept is None else kept.parts[number])

    def revise(self, cell: int, kept: KeptClaims, more: Floats, lent: float) -> Floats:
        """Claim more at a cell, (K, n * H), and revise it; return claims' values by roll, (K,)."""
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
