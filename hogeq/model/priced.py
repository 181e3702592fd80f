"""A responder that pays for its rolls, by passes over single turns, and what cells claim of it.

The passes are those of :mod:`hogeq.kernels.turns`, :mod:`hogeq.kernels.lifting` and
:mod:`hogeq.kernels.revising`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels import lifting, revising
from hogeq.kernels import turns as turn_passes
from hogeq.kernels.lifting import Lanes
from hogeq.kernels.turns import TurnLists
from hogeq.model.turn_lists import turn_lists
from hogeq.rules import Rules
from hogeq.rules.memory import Memory
from hogeq.rules.outcomes import TurnTable
from hogeq.support.aliases import Floats, Ints

WIDTH = 8
"""Numbers side by side in a pass over claims."""


class _Alike(NamedTuple):
    """Lanes that the opponent plays alike."""

    lanes: Lanes
    differs: NDArray[np.bool_]
    """(C, J), 1 for a lane unlike its base."""


def width_of(rolls: int) -> int:
    """Numbers side by side in a pass over what all rolls claim."""
    return max(WIDTH, 1 << (rolls - 1).bit_length())


def _alike(turns: TurnLists, policy: Floats) -> _Alike:
    """Find lanes after which a policy turns in the same ways: their memories are worth the same."""
    after = turns.following[:, 0]  # (J, R)
    kinds, kind = np.unique(
        np.column_stack([turns.situation, policy > 0.0]), axis=0, return_inverse=True
    )
    lane = turns.lane[after]
    apart = (lane[:, None] != lane).any(axis=-1)
    unlike = np.empty((len(kinds), *apart.shape), bool)
    for number, (situation, *plays) in enumerate(kinds):
        way = turns.way[situation][:, np.array(plays) > 0][after]  # (J, R, rolls)
        unlike[number] = apart | (way[:, None] != way).any(axis=(-1, -2))
    kind = kind.ravel()
    often = np.tensordot(np.bincount(kind), ~unlike, 1) / len(kind)  # (J, J)
    base, left = np.arange(len(often)), np.ones(len(often), bool)
    while left.any():
        saved = (often - 0.5).clip(0.0) * left[:, None] * left
        chosen = int(np.where(left, saved.sum(axis=0), -1.0).argmax())
        like = left & (often[:, chosen] > 0.5)
        base[like] = chosen
        left &= ~like
    differs = unlike[kind][:, np.arange(len(base)), base]
    first = np.concatenate([[0], np.cumsum(differs.sum(axis=1))])
    return _Alike(Lanes(base, np.unique(base), first, np.nonzero(differs)[1]), differs)


def _asked(turns: TurnLists, alike: _Alike, met: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Say which memories sums by lanes need: 1, or 2 where play never comes and 0 does."""
    found = met.copy()
    after = turns.following[:, 0]
    there = met[:, after] > 0  # (C, J, R)
    like = there & ~alike.differs[:, :, None]
    for lane in np.unique(alike.lanes.base):
        group = alike.lanes.base == lane
        known, needed = (np.any(one[:, group], axis=1) for one in (like, there))  # (C, R)
        for record, memory in enumerate(after[lane]):
            here = found[:, memory]
            here[(here != 1) & needed[:, record]] = 2
            here[known[:, record]] = 1
    return found


class Claim(NamedTuple):
    """What one cell claims; see :mod:`hogeq.search.lifted_bound`."""

    rolls: Ints
    """(A,), the rolls that claim, the first claims most."""
    claims: Floats
    """(A, H), of each of them on each memory."""
    fall: Floats
    """(H,), by how much the cell's value falls."""
    weight: float
    """Share that is asked for of what a claim can gain by another roll upstream."""
    lent: float
    """Largest share of the slack of a roll that is lent."""


class Kept(NamedTuple):
    """One cell's part of a responder's prices: what it claims, and what it has been lent."""

    cells: Ints
    """(R,), those from which play can come to it, and itself."""
    prices: Floats
    """(R, H, K)."""


class Board:
    """A game's turns as lists, and scratch for passes over them.

    Attributes
    ----------
    turns : TurnLists
    memories, start : int
        Number of memories, and the one at the start.
    reach : float64 (2, C, H)
        Of a responder's states by mover, when it was last asked for.
    """

    def __init__(self, rules: Rules) -> None:
        self.turns = turn_lists(rules)
        memories = TurnTable(rules).memories
        self.memories, self.start = len(memories), memories.index(Memory())
        cells, ways, lanes = len(self.turns.order), len(self.turns.dice), len(self.turns.following)
        self.reach = np.zeros((2, cells, self.memories))
        self.rolled = np.zeros((ways, lanes))
        self.wanted = np.zeros((2, ways), np.uint8)
        self.alive = np.zeros((2, cells), np.uint8)
        self.row = np.full(cells, -1)
        self._scratch: dict[int, tuple[Floats, Floats, Floats]] = {}
        self.loans = np.zeros((cells, self.memories, rules.max_dice + 1))
        self.falls = np.zeros((cells, ways, lanes))

    def scratch(self, width: int) -> tuple[Floats, Floats, Floats]:
        """Give what a pass over so many numbers side by side fills: claims, rolled, ends."""
        if width not in self._scratch:
            cells, lanes = len(self.turns.order), len(self.turns.following)
            claims = np.zeros((2, cells * self.memories * width))
            ends = np.zeros(self.turns.kind.shape[1] * lanes * width)
            self._scratch[width] = claims, np.zeros(self.rolled.size * width), ends
        return self._scratch[width]

    def at_start(self, width: int) -> Floats:
        """Give what the last pass has at the start, over who moves first: float64 (W,)."""
        start = slice(self.start * width, (self.start + 1) * width)
        found = np.zeros(width)
        for worths, is_led in zip(self.scratch(width)[0], self.alive[:, 0], strict=True):
            found += worths[start] * is_led / 2.0
        return found

    def bytes_of_a_responder(self, rolls: int) -> int:
        """Give what the arrays of a :class:`PricedResponder` take."""
        state = 8 * (rolls + 2) + 3
        return len(self.turns.order) * (self.memories * state + 8 * self.rolled.size)


class PricedResponder:
    """A responder that remembers everything and pays for its rolls, against a policy.

    Nothing is computed before :meth:`begin`.

    Parameters
    ----------
    board : Board
    policy : float64 (G, G, K)
        Of its opponent.

    Attributes
    ----------
    prices : float64 (C, H, K)
        In win rate, of any sign; C is G * G.
    mine, theirs : float64 (C, H)
        Its win rate less what it pays, with it and with its opponent to move.
    values : float64 (C, U, J)
        Of every way to roll with it to move, before its price.
    """

    def __init__(self, board: Board, policy: Floats) -> None:
        self.board, self.turns = board, board.turns
        cells, rolls = len(self.turns.order), policy.shape[-1]
        self.policy = np.ascontiguousarray(policy.reshape(cells, rolls))
        shape = cells, board.memories
        self.prices = np.zeros((cells, board.memories, rolls))
        self.mine, self.theirs = np.zeros(shape), np.zeros(shape)
        self.values = np.zeros((cells, *board.rolled.shape))
        self.chosen = np.full(shape, -1, np.int8)
        self.met = np.ones((2, *shape), np.uint8)
        self._use()

    def begin(self) -> None:
        """Find out where play can come, and solve."""
        self.infoset_reach()
        self.met[:] = self.board.reach > 0.0
        self._use()
        self.remember()

    def _use(self) -> None:
        """Find out what a pass over claims can leave out."""
        turns = self.turns
        alike = _alike(turns, self.policy)
        self._alike = alike.lanes
        self._asked = _asked(turns, alike, self.met[1])
        self._used = np.zeros(self.values.shape[:2], np.uint8)
        for roll in range(self.policy.shape[1]):
            for memory in range(self.mine.shape[1]):
                met = np.flatnonzero(self.met[0, :, memory])
                self._used[met, turns.way[turns.situation[met], memory, roll]] = 1

    @property
    def value(self) -> float:
        """Win rate less what it pays, over who moves first."""
        start = self.board.start
        return float(self.mine[0, start] + self.theirs[0, start]) / 2.0

    def remember(self) -> float:
        """Solve it by one backward induction."""
        turn_passes.remember(
            self.turns,
            self.policy,
            self.prices,
            self.met,
            self.mine,
            self.theirs,
            self.values,
            self.chosen,
            self.board.rolled,
            self.board.wanted[0],
        )
        return self.value

    def infoset_reach(self) -> Floats:
        """Reach of its states as it chose when it was last solved: float64 (C, H), scratch."""
        board = self.board
        board.rolled[:] = 0.0
        turn_passes.reach(
            self.turns,
            self.policy,
            self.chosen,
            board.start,
            board.reach[0],
            board.reach[1],
            board.rolled,
        )
        return board.reach[0]

    def roll_values(self, cell: int) -> Floats:
        """Value of every roll at a cell, less its price, by memory: float64 (K, H)."""
        ways = self.turns.way[self.turns.situation[cell]].T
        return self.values[cell][ways, self.turns.lane] - self.prices[cell].T

    def slack(self, cell: int) -> Floats:
        """Loss by every roll at a cell, by memory: float64 (K, H); 0 where play never comes."""
        short = self.mine[cell] - self.roll_values(cell)
        return np.where(self.met[0, cell] > 0, np.maximum(short, 0.0), 0.0)

    def lift(self, cell: int, claim: Claim) -> tuple[Floats, float]:
        """Value at the start of the claims, float64, and how far the responder's value falls.

        Each roll's claim has a value, but those of the last rolls may share one that is no less.
        """
        board, width = self.board, WIDTH
        asked = min(len(claim.rolls), width - 1)
        claims, weights = np.zeros((board.memories, width)), np.zeros(width)
        if asked:  # rolls for which there is no place are valued together, as the best of them
            claims[:, :asked] = claim.claims[:asked].T
            claims[:, asked - 1] = claim.claims[asked - 1 :].max(axis=0)
        claims[:, -1] = claim.fall
        weights[:asked] = claim.weight
        worths, rolled, ends = board.scratch(width)
        lifting.lift(
            self.turns,
            self.policy,
            self.prices,
            self.met,
            self._asked,
            self._used,
            self._alike,
            self.mine,
            self.theirs,
            self.values,
            cell,
            claims.ravel(),
            weights,
            claim.lent,
            *worths,
            board.loans,
            board.falls,
            board.alive,
            rolled,
            ends,
            *np.zeros((2, self.prices.shape[2])),
            np.zeros((len(self.turns.dice),) * 2),
            board.wanted,
            (0.0,) * width,
        )
        here = board.at_start(width)
        return here[:asked], float(here[-1])

    def lend(self, cell: int, claim: Claim) -> None:
        """Put into the prices what is claimed and lent by the pass that was last made."""
        board = self.board
        lifting.lend(
            self.turns,
            self.prices,
            self.met,
            self.mine,
            self.theirs,
            self.values,
            cell,
            *board.scratch(WIDTH)[0],
            board.loans,
            board.falls,
            board.alive,
            (0.0,) * WIDTH,
        )
        self.prices[cell, :, claim.rolls] += claim.claims

    def keep(self, cell: int, claim: Claim, kept: Kept | None) -> Kept:
        """Add what :meth:`lend` puts into the prices to what is the cell's."""
        board = self.board
        if kept is None:
            is_led = board.alive[0].astype(bool)
            is_led[cell] = True
            cells = np.flatnonzero(is_led)
            kept = Kept(cells, np.zeros((len(cells), *self.prices.shape[1:])))
        with self._rows(kept) as row:
            revising.keep(self.turns, self.met, cell, row, board.loans, board.alive, kept.prices)
            kept.prices[row[cell], :, claim.rolls] += claim.claims
        return kept

    @contextmanager
    def _rows(self, kept: Kept) -> Iterator[Ints]:
        row = self.board.row
        row[kept.cells] = np.arange(len(kept.cells))
        yield row
        row[kept.cells] = -1

    def claim_more(self, cell: int, kept: Kept, more: Floats) -> None:
        """Claim so much more at a cell, (K, H), where play comes; values are not told."""
        more = np.where(self.met[0, cell] > 0, more, 0.0).T
        kept.prices[np.searchsorted(kept.cells, cell)] += more
        self.prices[cell] += more

    def revise(self, cell: int, kept: Kept, lent: float) -> Floats:
        """Move a cell's prices to where they take off most; what its claims are worth by roll.

        Parameters
        ----------
        cell : int
        kept : Kept
            Changed.
        lent : float
            Largest share of the slack of a roll that is lent.

        Returns
        -------
        float64 (K,)
            At the start.
        """
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
        idle = np.full(width, -2.0 * revising.NONE)
        idle[:rolls] = 0.0
        claimed = np.zeros((board.memories, width))
        claimed[:, :rolls] = claims
        worths, rolled, ends = board.scratch(width)
        with self._rows(kept) as row:
            revising.revise(
                self.turns,
                self.policy,
                self.prices,
                self.met,
                self._asked,
                self._used,
                self._alike,
                self.mine,
                self.theirs,
                self.values,
                self.chosen,
                cell,
                row,
                kept.prices,
                claimed.ravel(),
                idle,
                lent,
                returned,
                *worths,
                board.alive,
                rolled,
                ends,
                board.rolled,
                np.zeros(rolls),
                board.wanted,
                (0.0,) * width,
            )
        return board.at_start(width)[:rolls]
