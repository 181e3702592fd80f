"""What kernels may know of a large game beforehand: its terms as constants, its memory by lifetime.

The generic kernels read terms from the tables and keep every afterstate where :class:`Strides`
says. Kernels with a plan are compiled for the terms of one game, every loop over them written out
(:mod:`hogeq.kernels.unrolled`): the numba type of a plan carries the numbers. That takes some
seconds, once for an edition and machine, so small games have none.

A *column* is the cells of one opponent's score. With a plan it keeps all that its bases lead to, or
come from, in one piece of memory that a first-level cache can hold, each part in a ring as long as
it is needed: an afterstate only lives from the bases whose rolls lead to it to the cell on which
it lands, which is no more points away than its record tells.
"""

from hashlib import sha256
from typing import Any, NamedTuple

from numba import types
from numba.extending import NativeValue, models, register_model, unbox

from hogeq.kernels.tables import Floats, Ints

WIDEST = 24  # lanes that are written out together
WIDEST_BY_VECTOR = 48  # lanes of which one vector is written out, where rolls are sums
PIECE = 8  # lanes of one vector of the machine, in double precision
CHUNK = 4  # bases whose sums are made together
# Scores of a strip of cells, whose columns are to fit in a second-level cache: of one match in
# double precision, and of a pack's matches together.
STRIP, PACKED_STRIP = 16, 40
SMALLEST = 1 << 16  # afterstates of a player below which a pass takes a tenth of a millisecond

# Places in a source row.
NEAR, FAR, STEP, ROWS = 0, 1, 2, 3
# Places in what is known of a cell: its scores; afterstate of no dice; where its rolls lie, from
# those of the first kind of dice; a bit for each kind that is thrown from its base; the first with
# an extra turn among what lands on it; and 1 if an afterstate of its scores has lost, 2 if won.
OWN, OPPONENT, NONE, KIND, NEEDED, STAYING, ENDED, ORDER = 0, 1, 2, 3, 4, 5, 6, 7


class Target(NamedTuple):
    """An afterstate to which rolls lead, and how."""

    points: int
    gift: int
    """Points that the opponent is given, and so another column."""
    record: int
    rolls: tuple[tuple[int, float], ...]
    """Every roll that leads there, and the weight of it."""


class Alternative(NamedTuple):
    """How some memories play a roll, other than most."""

    roll: int
    far: int
    """1 if it adds the bonus, and so is found at another base."""
    offset: int
    members: tuple[int, ...]


class Dice(NamedTuple):
    """One kind of dice, of which a cell throws one."""

    sides: int
    depth: int
    """Most dice whose outcomes are summed one die at a time."""
    is_sum: tuple[bool, ...]
    """By roll: whether the sum counts for it, or is only a step to the next."""
    targets: tuple[Target, ...]
    ring: int
    """Bases of a column whose sums are kept."""

    @property
    def arriving(self) -> int:
        """Bases below an afterstate whose sums lead to it."""
        return self.sides - 1 if self.depth else 0


class Constants(NamedTuple):
    """What is the same in every cell, at any goal."""

    lanes: int
    num_actions: int
    records: int
    active: int
    start: int
    bases: int
    """Bases of a column whose rolls are kept."""
    many: int
    """Record of the afterstates to which sums lead."""
    dice: tuple[Dice, ...]
    """A base keeps its rolls with each kind, one kind's after the other's."""
    usual: tuple[tuple[int, int], ...]
    """By roll, as most memories play it: far, offset among those of the cell's kind."""
    alternatives: tuple[Alternative, ...]
    sole: tuple[int, ...]
    """Records left by one number of points alone, so that each afterstate has but one base."""
    shared: tuple[int, ...]
    """The other records that rolls leave: afterstates that several bases add to."""
    given: tuple[int, ...]
    """Records of turns that give points away: bases of several columns lead to an afterstate."""
    keeps: bool
    """Whether a landing can give an extra turn, which keeps memories as they are."""
    ends: bool
    """Whether a landing can end the game from below the goal."""
    pairs: int = 1
    """Matches whose numbers lie side by side: those of all for one lane, then for the next.

    `lanes` are then all these numbers.
    """
    by_vector: bool = False
    """Whether what is written for a cell is of one vector of its lanes."""
    apart: int = 0
    """Lanes of one match, if each is passed forward alone and keeps its reach apart; else 0."""
    idle: int = -1
    """Record of turns that stay, leaving both scores as they were; -1 if none does.

    What they lead to is no target, but found apart (:mod:`hogeq.kernels.planned_stays`).
    """
    stays: tuple[float, ...] = ()
    """By roll, the probability that it stays, ..."""
    leaves: tuple[float, ...] = ()
    """... and that it does not, to the last digit."""

    @property
    def slots(self) -> int:
        """Lanes of a match, with their padding."""
        return self.lanes // self.pairs

    def dense(self, piece: int) -> int:
        """Numbers kept of a cell's reach: everyone's and every alternative's members', by lane.

        Without the padding of the lanes, to a multiple of the vector's length.
        """
        rows = 1 + len(self.alternatives)
        if self.by_vector:
            return rows * self.lanes
        return -(-rows * self.records // piece) * piece

    def dense_places(self, piece: int) -> list[tuple[int, int]]:
        """List the row and the lane of each of these numbers, where lanes are written out."""
        whole = self.records // piece * piece
        parts = range(whole), range(whole, self.records)
        rows = range(1 + len(self.alternatives))
        return [(row, lane) for part in parts for row in rows for lane in part]

    @property
    def kept(self) -> tuple[int, ...]:
        """All records that rolls leave."""
        return tuple(sorted((*self.sole, *self.shared, *self.given)))

    @property
    def rolls(self) -> int:
        """Numbers of all rolls of a base, with every kind of dice."""
        return len(self.dice) * self.num_actions * self.lanes

    def sums_row(self, kind: int) -> int:
        """Place in a source row of the sums of a kind of dice."""
        return ROWS + sum(dice.ring for dice in self.dice[:kind])

    @property
    def many_row(self) -> int:
        """Place in a source row of the afterstates of sums."""
        return self.sums_row(len(self.dice))

    @property
    def reached(self) -> int:
        """Points up to which the afterstates of sums are looked up."""
        return max(dice.sides if dice.depth else 0 for dice in self.dice)

    def target_row(self, kind: int) -> int:
        """Place in a source row of the afterstates of a kind's targets."""
        return self.many_row + self.reached + sum(len(dice.targets) for dice in self.dice[:kind])

    @property
    def last_row(self) -> int:
        """Place in a source row of the last afterstates of the shared records."""
        return self.target_row(len(self.dice))


def piece_of(lanes: int, bits: int) -> int:
    """Length of the vectors that hold lanes of numbers of so many bits."""
    wide = PIECE * 64 // bits
    return wide if lanes % wide == 0 else PIECE


class Places(NamedTuple):
    """Where a column keeps what it keeps, in numbers from its first.

    A *source* row is of a base, by own score: rolls of the base, and of the one that the bonus
    leads to; its place in its chunk; of each kind of dice sums of the bases from `CHUNK` - 1 below
    it to `sides` above; afterstates of sums, 1 to `sides` points away; those of all targets, kind
    by kind; and the last afterstate of every shared record that the base can lead to.
    A *landing* row is of an afterstate, by score: the place of every record, and the sums of the
    bases 2 to `sides` points below it, of each kind of dice.
    """

    order: Ints
    """(G * G, ORDER), what is known of the cells beforehand, forward."""
    wins: Floats
    """(G * G, k, K), probability that a roll wins at once, by cell in that order and dice."""
    source: Ints
    """(G, n)"""
    landing: Ints
    """(G, W + n)"""
    landed: Ints
    """(y, 2), of every arrival at a cell, those with extra turns last: where its column begins, and
    its landing row."""
    column: int
    """Numbers of a column."""
    columns: int
    """Columns of a player: past the goal are those in which gifts end the game."""
    spare: int
    """Where what reaches the goal is read, which is 0, and written, which nobody reads."""
    rolls: int
    """Where the rolls of the bases lie, and before them all afterstates."""
    sums: int
    """Where the sums lie."""
    given: int
    """Where the afterstates of given records lie, to the end of the column or its padding."""
    idle: int
    """Record of turns that stay, or -1."""
    turns: Ints
    """(G * G,) by cell in that order: 1 if one that stays leads to the mirror image, 0 if to the
    same two scores, the players having changed."""


class PlanType(types.Type):
    """Type of a plan: kernels are compiled anew for other constants, and cached by them."""

    def __init__(self, constants: Constants) -> None:
        self.constants = constants
        digest = sha256(repr(constants).encode()).hexdigest()[:16]
        super().__init__(name=f"Plan({digest})")


register_model(PlanType)(models.OpaqueModel)


class Plan:
    """What is handed to a kernel: nothing when it runs, the constants when it is compiled."""

    def __init__(self, constants: Constants, places: Places) -> None:
        self._numba_type_ = PlanType(constants)
        self.constants = constants
        self.places = places


@unbox(PlanType)
def _unbox(kind: PlanType, value: Any, handed: Any) -> NativeValue:
    return NativeValue(handed.context.get_dummy_value())
