"""What kernels may know of a large game beforehand: its terms as constants, its memory by lifetime.

The generic kernels read terms from the tables and keep every afterstate where :class:`Strides`
says. Kernels with a plan are compiled for the terms of one game, every loop over them written out
(:mod:`hogeq.kernels.unrolled`): the numba type of a plan carries the numbers. That takes some
seconds, once for an edition and machine, so small games have none.

Afterstates live only from the cells whose rolls lead to them to the cell on which they land. With
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


class Target(NamedTuple):
    """An afterstate to which rolls lead, and how."""

    points: int
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


class Constants(NamedTuple):
    """What is the same in every cell, at any goal."""

    lanes: int
    num_actions: int
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
    targets: tuple[Target, ...]
    usual: tuple[tuple[int, int], ...]
    """By roll, as most memories play it: far, offset."""
    alternatives: tuple[Alternative, ...]
    sole: tuple[int, ...]
    """Records left by one number of points alone, so that each afterstate has but one base."""

    @property
    def dense(self) -> int:
        """Numbers kept of a cell's reach: everyone's and every alternative's members', by lane."""
        return -(-(1 + len(self.alternatives)) * self.records // PIECE) * PIECE


class BlockPlaces(NamedTuple):
    """Where blocks lie, in numbers from the first."""

    order: Ints
    """(G * G, 2), own and opponent's score of the cells, as in the tables."""
    at: Ints
    """(G, G + reach), block of opponent's score u and score t; from G on one that nothing reads."""
    none: Ints
    """(G, G), by own and opponent's score, afterstate of no dice."""
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

    def __init__(self, constants: Constants, blocks: BlockPlaces) -> None:
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
        and not tables.correction_gift.any()
        and not tables.zero_gift.any()
    )


def plan_of(tables: Tables, smallest: int = SMALLEST) -> Plan | None:
    """Plan of a game, or None if it has none or fewer afterstates than would pay for it."""
    goal, records = tables.dimensions.goal, tables.dimensions.records
    if not can_plan(tables) or goal * goal * records * len(tables.lane) < smallest:
        return None
    constants = _constants(tables)
    return Plan(constants, _blocks(tables, constants))


def _constants(tables: Tables) -> Constants:
    dimensions = tables.dimensions
    lanes = len(tables.lane)
    strides = tables.strides
    dice = int(tables.plane_dice[0])
    many = int(tables.many_offset) // strides.records
    targets = []
    for correction in range(*tables.correction_start[dice : dice + 2].tolist()):
        points = int(tables.correction_points[correction])
        recorded = (
            int(tables.correction_offset[correction]) - points * strides.scores
        ) // strides.records
        sources = range(*tables.correction_first[correction : correction + 2].tolist())
        ways = [
            (int(tables.correction_source[i]) // lanes, float(tables.correction_prob[i]))
            for i in sources
        ]
        targets.append(Target(points, recorded, tuple(ways)))
    alternatives = []
    for roll in range(dimensions.num_actions):
        for alternative in range(*tables.alternative_start[0, roll : roll + 2].tolist()):
            first, last = tables.member_start[alternative : alternative + 2].tolist()
            far, offset = (
                int(column[alternative])
                for column in (tables.alternative_far, tables.alternative_offset)
            )
            alternatives.append(
                Alternative(roll, far, offset, tuple(tables.member_memory[first:last].tolist()))
            )
    return Constants(
        lanes=lanes,
        num_actions=dimensions.num_actions,
        records=dimensions.records,
        active=dimensions.active_memories,
        start=tables.start,
        bases=dimensions.ring,
        sides=int(tables.sides[dice]),
        ring=tables.sum_ring,
        depth=int(tables.sum_depth[dice]),
        many=many,
        is_sum=tuple(map(bool, tables.is_sum[dice])),
        targets=tuple(targets),
        usual=tuple(
            zip(tables.default_far[0].tolist(), tables.default_offset[0].tolist(), strict=True)
        ),
        alternatives=tuple(alternatives),
        sole=_sole(tables, targets, many),
    )


def _sole(tables: Tables, targets: list[Target], many: int) -> tuple[int, ...]:
    """Find the records of which the points are known, whichever roll it was, even no dice."""
    points: dict[int, set[int]] = {}
    for target in targets:
        points.setdefault(target.record, set()).add(target.points)
    free = np.stack([tables.zero_record.ravel(), tables.zero_points.ravel()], axis=1)
    for recorded, gained in np.unique(free, axis=0).tolist():
        if recorded in points:
            points[recorded].add(gained)
    return tuple(x for x, found in sorted(points.items()) if x != many and len(found) == 1)


def _blocks(tables: Tables, constants: Constants) -> BlockPlaces:
    """Give blocks that live at different times the same place, the last left one first."""
    goal, records = tables.dimensions.goal, tables.dimensions.records
    length = records * len(tables.lane)
    reach = max(2, int(tables.correction_points.max(initial=0)), int(tables.zero_points.max()))
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
    own, other = np.indices((goal, goal))
    none = at[other, own + tables.zero_points[0]] + tables.zero_record[0] * len(tables.lane)
    order = np.stack(np.divmod(tables.cell_order, goal), axis=1)
    return BlockPlaces(
        order=order,
        at=at,
        none=none,
        landed=landed,
        reach=reach,
        spare=count * length,
        length=length,
    )
