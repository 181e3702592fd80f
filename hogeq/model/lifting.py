"""A responder that pays for its rolls, by passes over single turns, and what cells claim of it.

The passes are those of :mod:`hogeq.kernels.turns` and :mod:`hogeq.kernels.lifting`.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels import lifting
from hogeq.kernels import turns as turn_passes
from hogeq.kernels.lifting import Lanes
from hogeq.kernels.turns import TurnLists
from hogeq.model.game import MEMORY_LIMIT
from hogeq.model.turn_lists import turn_lists
from hogeq.rules import Rules
from hogeq.rules.memory import Memory
from hogeq.rules.outcomes import TurnTable
from hogeq.support.aliases import Floats, Ints

WIDTH = 8
"""Numbers side by side in a pass over claims."""


MORE = 4.0  # than can be won


class _Alike(NamedTuple):
    """Lanes that the opponent plays alike."""

    lanes: Lanes
    differs: NDArray[np.bool_]
    """(C, J), 1 for a lane unlike its base."""


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
    """What one cell claims; see :mod:`hogeq.response.lifted_bound`."""

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
        self.ends = np.zeros(self.turns.kind.shape[1] * lanes * WIDTH)
        self.claims = np.zeros((2, cells * self.memories * WIDTH))
        self.loans = np.zeros((cells, self.memories, rules.max_dice + 1))
        self.falls = np.zeros((cells, ways, lanes))

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
            *board.claims,
            board.loans,
            board.falls,
            board.alive,
            np.zeros(board.rolled.size * width),
            board.ends,
            *np.zeros((2, self.prices.shape[2])),
            np.zeros((len(self.turns.dice),) * 2),
            board.wanted,
            (0.0,) * width,
        )
        start = slice(board.start * width, (board.start + 1) * width)
        here = np.zeros(width)
        for worths, is_led in zip(board.claims, board.alive[:, 0], strict=True):
            here += worths[start] * is_led / 2.0
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
            *board.claims,
            board.loans,
            board.falls,
            board.alive,
            (0.0,) * WIDTH,
        )
        self.prices[cell, :, claim.rolls] += claim.claims


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

    def fix(self, cell: int, roll: int) -> None:
        """Let it make one roll at a cell: others cost more than can be won."""
        for part in self.parts:
            part.prices[cell][:, np.arange(part.prices.shape[2]) != roll] += MORE

    def value_with(self, cell: int, roll: int) -> float:
        """Give its value if it makes one roll at a cell."""
        kept = [part.prices[cell].copy() for part in self.parts]
        self.fix(cell, roll)
        value = self.remember()
        for part, prices in zip(self.parts, kept, strict=True):
            part.prices[cell] = prices
        self.remember()
        return value

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

    def take(self, cell: int, claim: Claim) -> Floats:
        """Put what is claimed and lent into the prices; value at the start of the claims.

        No pass is made where the last one was that of this very claim, and there is one part.
        """
        if self._lifted is not None and self._lifted[0] is claim and len(self.parts) == 1:
            self.parts[0].lend(cell, claim)
            worths = self._lifted[1]
        else:
            worths, _ = self._passes(cell, claim, lends=True)
        self._lifted = None
        return worths

    def _passes(self, cell: int, claim: Claim, *, lends: bool) -> tuple[Floats, float]:
        worths, falls, first = np.zeros(min(len(claim.rolls), WIDTH - 1)), 0.0, 0
        for weight, part in self._drawn():
            end = first + part.board.memories
            claims, fall = claim.claims[:, first:end], claim.fall[first:end]
            own = Claim(claim.rolls, claims, fall, claim.weight, claim.lent)
            worth, lowered = part.lift(cell, own)
            if lends:
                part.lend(cell, own)
            worths += weight * worth
            falls += weight * lowered
            first = end
        return worths, falls

    def _drawn(self) -> Iterator[tuple[float, PricedResponder]]:
        return zip(self.weights, self.parts, strict=True)
