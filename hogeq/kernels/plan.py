"""What kernels may know of a large game beforehand: its terms as constants, its memory by lifetime.

The generic kernels read terms from the tables and keep every afterstate where :class:`Strides`
says.  Kernels with a plan are compiled for the terms of one game, every loop over them written out
(:mod:`hogeq.kernels.unrolled`): the numba type of a plan carries the numbers.  That takes some
seconds, once for an edition and machine, so small games have none.

Afterstates live only from the cells whose rolls lead to them to the cell on which they land.  With
a plan those of equal scores form a *block*, and blocks whose lives do not meet share their place in
memory, so that what is alive stays in the cache.
"""

from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import NativeValue, models, register_model, unbox

from hogeq.kernels.tables import Ints, Tables

WIDEST = 16  # lanes; so many vectors of so many lanes just fit in a core's registers
PIECE = 8  # lanes of one vector of the machine
SMALLEST = 1 << 20  # afterstates of a player below which a pass takes a millisecond or two anyway


class Term(NamedTuple):
    """An afterstate to which rolls lead, and how."""

    points: int
    record: int
    rolls: tuple[tuple[int, float], ...]
    """Every roll that leads there, and the weight of it."""


class Other(NamedTuple):
    """How some memories play a roll: an alternative."""

    roll: int
    far: int
    """1 if it adds the bonus, and so is found at another base."""
    offset: int
    members: tuple[int, ...]


class Constants(NamedTuple):
    """What is the same in every cell, at any goal."""

    lanes: int
    rolls: int
    records: int
    active: int
    start: int
    bases: int
    """Bases of a column whose rolls are kept."""
    sides: int
    ring: int
    """Bases of a column whose sums are kept."""
    depth: int
    """Most dice whose outcomes are summed one die at a time."""
    many: int
    """Record of the afterstates to which sums lead."""
    is_sum: tuple[bool, ...]
    """By roll: whether the sum counts for it, or is only a step to the next."""
    terms: tuple[Term, ...]
    usual: tuple[tuple[int, int], ...]
    """By roll, as most memories play it: far, offset."""
    others: tuple[Other, ...]
    sole: tuple[int, ...]
    """Records that but one term leaves, so that its afterstates are reached from one base each."""

    @property
    def dense(self) -> int:
        """Numbers kept of a cell's reach: everyone's and every alternative's members', by lane."""
        return -(-(1 + len(self.others)) * self.records // PIECE) * PIECE


class Blocks(NamedTuple):
    """Where blocks lie, in numbers from the first."""

    order: Ints
    """(G * G, 2), own and opponent's score of the cells, as in the tables."""
    at: Ints
    """(G, G + reach), block of opponent's score u and score t; from G on one that nothing reads."""
    landed: Ints
    """(y,), block of every arrival of the tables."""
    reach: int
    """Points that a block can be away from a base that leads to it."""
    spare: int
    """The block of scores from G on, after all others."""
    length: int


class PlanType(types.Type):
    """Type of a plan: kernels are compiled anew for other constants, and cached by them."""

    def __init__(self, constants: Constants) -> None:
        self.constants = constants
        digest = sha256(repr(constants).encode()).hexdigest()[:16]
        super().__init__(name=f"Plan({digest})")


register_model(PlanType)(models.OpaqueModel)


class Plan:
    """What is handed to a kernel: nothing when it runs, the constants when it is compiled."""

    def __init__(self, constants: Constants, blocks: Blocks) -> None:
        self._numba_type_ = PlanType(constants)
        self.constants = constants
        self.blocks = blocks


@unbox(PlanType)
def _unbox(kind: PlanType, value: Any, handed: Any) -> NativeValue:
    return NativeValue(handed.context.get_dummy_value())


def can_plan(tables: Tables) -> bool:
    """Whether a game is of the kind that has plans.

    Turns only swap what players remember, all cells are alike, one kind of dice is thrown, and no
    points are given away.
    """
    lanes = len(tables.lane)
    return bool(
        tables.only_swaps
        and not tables.has_cycles
        and lanes % PIECE == 0
        and lanes <= WIDEST
        and len(tables.plane_dice) == 1
        and len(tables.default_mode) == 1
        and not len(tables.fixed_win)
        and not tables.mend_gift.any()
        and not tables.zero_gift.any()
    )


def plan_of(tables: Tables, smallest: int = SMALLEST) -> Plan | None:
    """Plan of a game, or None if it has none or fewer afterstates than would pay for it."""
    goal, _, records, *_ = tables.sizes
    if not can_plan(tables) or goal * goal * records * len(tables.lane) < smallest:
        return None
    constants = _constants(tables)
    return Plan(constants, _blocks(tables, constants))


def _constants(tables: Tables) -> Constants:
    _, rolls, records, active, bases, _ = tables.sizes
    lanes = len(tables.lane)
    strides = tables.strides
    dice = int(tables.plane_dice[0])
    many = int(tables.many_offset) // strides.records
    terms = []
    for target in range(*tables.mend_start[dice : dice + 2].tolist()):
        points = int(tables.mend_points[target])
        recorded = (int(tables.mend_offset[target]) - points * strides.scores) // strides.records
        sources = range(*tables.mend_first[target : target + 2].tolist())
        ways = [(int(tables.mend_source[i]) // lanes, float(tables.mend_prob[i])) for i in sources]
        terms.append(Term(points, recorded, tuple(ways)))
    others = []
    for roll in range(rolls):
        for other in range(*tables.alternative_start[0, roll : roll + 2].tolist()):
            first, last = tables.member_start[other : other + 2].tolist()
            far, offset = (
                int(column[other]) for column in (tables.alternative_far, tables.alternative_offset)
            )
            others.append(
                Other(roll, far, offset, tuple(tables.member_memory[first:last].tolist()))
            )
    return Constants(
        lanes=lanes,
        rolls=rolls,
        records=records,
        active=active,
        start=tables.start,
        bases=bases,
        sides=int(tables.sides[dice]),
        ring=tables.sum_ring,
        depth=int(tables.sum_depth[dice]),
        many=many,
        is_sum=tuple(map(bool, tables.is_sum[dice])),
        terms=tuple(terms),
        usual=tuple(
            zip(tables.default_far[0].tolist(), tables.default_offset[0].tolist(), strict=True)
        ),
        others=tuple(others),
        sole=_sole(tables, terms, many),
    )


def _sole(tables: Tables, terms: list[Term], many: int) -> tuple[int, ...]:
    """Find the records of which the points are known, whichever roll it was, even no dice."""
    points: dict[int, set[int]] = {}
    for term in terms:
        points.setdefault(term.record, set()).add(term.points)
    for recorded, gained in zip(tables.zero_record, tables.zero_points, strict=True):
        if recorded in points:
            points[int(recorded)].add(int(gained))
    return tuple(x for x, found in sorted(points.items()) if x != many and len(found) == 1)


def _blocks(tables: Tables, constants: Constants) -> Blocks:
    """Give blocks that live at different times the same place, the last left one first."""
    goal, _, records, *_ = tables.sizes
    length = records * len(tables.lane)
    reach = max(2, int(tables.mend_points.max(initial=0)), int(tables.zero_points.max()))
    visit = np.empty(goal * goal, np.int64)
    visit[tables.cell_order] = np.arange(goal * goal)
    opponent, score = np.divmod(tables.arrival_row, goal)
    born: list[list[int]] = [[] for _ in visit]
    dead: list[list[int]] = [[] for _ in visit]
    first = visit[np.maximum(score - reach, 0) * goal + opponent]
    # A column's first blocks are cleared before anything of their run is visited.
    run = tables.run_start[np.searchsorted(tables.run_start, first, side="right") - 1]
    first = np.where(score <= reach, run, first)
    last = visit[np.repeat(np.arange(goal * goal), np.diff(tables.arrival_start))]
    last = np.maximum(last, visit[score * goal + opponent])  # the base of these scores itself
    for arrival, (begin, end) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
        born[begin].append(arrival)
        dead[end].append(arrival)
    landed = np.zeros(len(score), np.int64)
    free: list[int] = []
    count = 0
    for begin, end in zip(born, dead, strict=True):
        for arrival in begin:
            if not free:
                free.append(count)
                count += 1
            landed[arrival] = free.pop()
        free.extend(int(landed[arrival]) for arrival in end)
    landed *= length
    at = np.full((goal, goal + reach + 1), count * length)
    at[opponent, score] = landed
    order = np.stack(np.divmod(tables.cell_order, goal), axis=1)
    return Blocks(
        order=order,
        at=at,
        landed=landed,
        reach=reach,
        spare=count * length,
        length=length,
    )
