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

from collections.abc import Iterable
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import NativeValue, models, register_model, unbox

from hogeq.kernels.tables import Floats, Ints, Tables

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
    shared: tuple[int, ...]
    """The other records that rolls leave: afterstates that several bases add to."""
    pairs: int = 1
    """Matches whose numbers lie side by side: those of all for one lane, then for the next.

    `lanes` are then all these numbers.
    """
    by_vector: bool = False
    """Whether what is written for a cell is of one vector of its lanes."""
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

    @property
    def ring(self) -> int:
        """Bases of a column whose sums are kept."""
        return CHUNK + self.sides if self.depth else 0

    @property
    def many_row(self) -> int:
        """Place in a source row of the afterstates of sums."""
        return ROWS + self.ring

    @property
    def target_row(self) -> int:
        """Place in a source row of the afterstates of targets."""
        return self.many_row + (self.sides if self.depth else 0)

    @property
    def last_row(self) -> int:
        """Place in a source row of the last afterstates of the shared records."""
        return self.target_row + len(self.targets)


def piece_of(lanes: int, bits: int) -> int:
    """Length of the vectors that hold lanes of numbers of so many bits."""
    wide = PIECE * 64 // bits
    return wide if lanes % wide == 0 else PIECE


class Places(NamedTuple):
    """Where a column keeps what it keeps, in numbers from its first.

    A *source* row is of a base, by own score: rolls of the base, and of the one that the bonus
    leads to; its place in its chunk; sums of the bases from `CHUNK` - 1 below it to `sides` above;
    afterstates of sums, 1 to `sides` points away; those of all targets; and the last afterstate of
    every shared record that the base can lead to.
    A *landing* row is of an afterstate, by score: the place of every record, and the sums of the
    bases 2 to `sides` points below it.
    """

    order: Ints
    """(G * G, 3), own and opponent's score of the cells, forward, and afterstate of no dice."""
    wins: Floats
    """(G * G, K), probability that a roll wins at once, by cell in that order."""
    source: Ints
    """(G, n)"""
    landing: Ints
    """(G, W + sides - 1)"""
    landed: Ints
    """(y, 2), of every arrival of the tables: where its column begins, and its landing row."""
    column: int
    """Numbers of a column."""
    spare: int
    """Where what reaches the goal is read, which is 0, and written, which nobody reads."""
    rolls: int
    """Where the rolls of the bases lie, and before them all afterstates."""
    sums: int
    """Where the sums lie, to the end of the column or its padding."""
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


def can_plan(tables: Tables) -> bool:
    """Whether a game is of the kind that has plans.

    Turns only swap what players remember, all cells are alike, one kind of dice is thrown, and no
    points are given away.
    """
    lanes = len(tables.lane)
    return bool(
        tables.only_swaps
        and lanes % PIECE == 0
        and tables.dimensions.num_actions <= lanes <= WIDEST_BY_VECTOR
        and len(tables.plane_dice) == 1
        and (lanes <= WIDEST or tables.sum_depth[tables.plane_dice[0]] > 0)
        and len(tables.default_mode) == 1
        and not len(tables.fixed_win)
        and not tables.correction_gift.any()
        and not tables.zero_gift.any()
        and _lands_at_home(tables)
        and (not tables.has_cycles or (lanes <= WIDEST and _one_idle_record(tables)))
    )


def _one_idle_record(tables: Tables) -> bool:
    """Whether turns that stay, and they alone, leave one record; rolling no dice never stays."""
    dice, cycles = tables.plane_dice[0], tables.cycles
    idle = np.unique(cycles.stay_offset[cycles.stay[dice] > 0.0])
    scored = tables.correction_points > 0
    left = tables.correction_offset - tables.correction_points * tables.strides.scores
    return bool(
        len(idle) == 1
        and not cycles.zero_stays.any()
        and not len(cycles.certain)
        and not (left[scored] == idle[0]).any()
        and not (tables.zero_record * tables.strides.records == idle[0]).any()
        and tables.many_offset != idle[0]
    )


def _lands_at_home(tables: Tables) -> bool:
    """Whether all afterstates land on cells of the same two scores."""
    goal = tables.dimensions.goal
    cell = np.repeat(np.arange(goal * goal), np.diff(tables.arrival_start))
    pairs = [np.sort(np.divmod(cells, goal), axis=0) for cells in (cell, tables.arrival_row)]
    return bool((pairs[0] == pairs[1]).all())


def plan_of(tables: Tables, smallest: int = SMALLEST) -> Plan | None:
    """Plan of a game, or None if it has none or fewer afterstates than would pay for it."""
    goal, records = tables.dimensions.goal, tables.dimensions.records
    if not can_plan(tables) or goal * goal * records * len(tables.lane) < smallest:
        return None
    constants = _constants(tables)
    return Plan(constants, _places(tables, constants, STRIP))


def packed_plan(tables: Tables, plan: Plan, pairs: int, bits: int) -> Plan:
    """Plan of 2, 4 or 8 matches side by side, in numbers of so many bits."""
    one = plan.constants
    piece = PIECE * 64 // bits
    lanes = -(-max(one.records, one.active) * pairs // piece) * piece

    def moved(offset: int) -> int:
        return offset // one.lanes * lanes + offset % one.lanes

    constants = one._replace(
        pairs=pairs,
        by_vector=True,
        lanes=lanes,
        start=moved(one.start),
        usual=tuple((far, moved(offset)) for far, offset in one.usual),
        alternatives=tuple(x._replace(offset=moved(x.offset)) for x in one.alternatives),
    )
    return Plan(constants, _places(tables, constants, PACKED_STRIP // pairs))


def _constants(tables: Tables) -> Constants:
    dimensions = tables.dimensions
    lanes = len(tables.lane)
    strides = tables.strides
    dice = int(tables.plane_dice[0])
    many = int(tables.many_offset) // strides.records
    idle = -1
    if tables.has_cycles:
        stays = tables.cycles.stay[dice] > 0.0
        idle = int(tables.cycles.stay_offset[stays][0]) // strides.records
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
        if recorded != idle:
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
    points = _points(tables, targets, many, idle)
    written = {target.record for target in targets} - {many} | {idle} - {-1}
    sole = tuple(sorted(x for x in written if len(points[x]) == 1))
    return Constants(
        lanes=lanes,
        num_actions=dimensions.num_actions,
        records=dimensions.records,
        active=dimensions.active_memories,
        start=tables.start,
        bases=dimensions.ring,
        sides=int(tables.sides[dice]),
        depth=int(tables.sum_depth[dice]),
        many=many,
        is_sum=tuple(map(bool, tables.is_sum[dice])),
        targets=tuple(targets),
        usual=tuple(
            zip(tables.default_far[0].tolist(), tables.default_offset[0].tolist(), strict=True)
        ),
        alternatives=tuple(alternatives),
        sole=sole,
        shared=tuple(x for x in sorted(points) if x not in sole),
        by_vector=lanes > WIDEST,
        idle=idle,
        stays=tuple(tables.cycles.stay[dice].tolist()) if idle >= 0 else (),
        leaves=tuple(tables.cycles.leave[dice].tolist()) if idle >= 0 else (),
    )


def _points(tables: Tables, targets: Iterable[Target], many: int, idle: int) -> dict[int, set[int]]:
    """Find the points with which rolls leave each record, even no dice."""
    found: dict[int, set[int]] = {idle: {0}} if idle >= 0 else {}
    for target in targets:
        found.setdefault(target.record, set()).add(target.points)
    dice = int(tables.plane_dice[0])
    if tables.sum_depth[dice]:
        found.setdefault(many, set()).update(range(2, int(tables.sides[dice]) + 1))
    free = np.stack([tables.zero_record.ravel(), tables.zero_points.ravel()], axis=1)
    for recorded, gained in np.unique(free, axis=0).tolist():
        found.setdefault(recorded, set()).add(gained)
    return found


def _places(tables: Tables, constants: Constants, strip: int) -> Places:
    """Lay a column out, ring after ring, and find what bases and afterstates need in it."""
    goal, lanes = tables.dimensions.goal, constants.lanes
    ring, sides, bases = constants.ring, constants.sides, constants.bases
    points = _points(tables, constants.targets, constants.many, constants.idle)
    spans = np.array([1 + max(points.get(x, {-1})) for x in range(constants.records)])
    begin = np.append(0, np.cumsum(spans)) * lanes
    spare = int(begin[-1])
    unused = spare + lanes  # of records that no roll leaves, which only packs read and write
    rolls = unused + (lanes if constants.by_vector else 0)
    sums = rolls + bases * constants.num_actions * lanes
    used = -(-(sums + ring * constants.depth * lanes) // (2 * PIECE))
    column = (used + 1 - used % 2) * 2 * PIECE  # odd, so that columns do not share cache sets

    def afterstate(score: Ints, record: int) -> Ints:
        there = begin[record] + score % max(1, spans[record]) * lanes
        return np.where(score < goal, there, spare)

    def rolls_of(base: Ints) -> Ints:
        return rolls + base % bases * constants.num_actions * lanes

    def sums_of(base: Ints) -> Ints:
        return sums + (base + 2 * goal * ring) % max(1, ring) * constants.depth * lanes

    own = np.arange(goal)
    source = [rolls_of(own), rolls_of(own + bases - 1), (own - goal) % CHUNK]
    if ring:
        source += [sums_of(own + x) for x in range(1 - CHUNK, sides + 1)]
        source += [afterstate(own + x, constants.many) for x in range(1, sides + 1)]
    source += [afterstate(own + target.points, target.record) for target in constants.targets]
    source += [afterstate(own + spans[record] - 1, record) for record in constants.shared]
    landing = [afterstate(own, record) for record in range(constants.records)]
    if constants.by_vector:
        landing = [
            landing[x] if x in points else np.full(goal, unused) for x in range(constants.slots)
        ]
    landing += [sums_of(own - x) for x in range(2, sides + 1)]
    base, record = own[:, None] + tables.zero_points[0], tables.zero_record[0]
    none = begin[record] + base % spans[record] * lanes
    none = np.where(base < goal, none, spare)
    opponent, score = np.divmod(tables.arrival_row, goal)
    order = _order(goal, strip)
    visited = order[:, 0], order[:, 1]
    return Places(
        order=np.column_stack([order, none[visited]]),
        wins=tables.terminal_win[tables.plane_dice[0]][visited],
        source=np.stack(source, axis=1),
        landing=np.stack(landing, axis=1),
        landed=np.stack([opponent * column, score * len(landing)], axis=1),
        column=column,
        spare=spare,
        rolls=rolls,
        sums=sums,
        idle=constants.idle,
        turns=_turns(tables)[visited],
    )


def _turns(tables: Tables) -> Ints:
    """Whether a turn that stays leads to the mirror image of its cell, (G, G)."""
    goal = tables.dimensions.goal
    cell = np.repeat(np.arange(goal * goal), np.diff(tables.arrival_start))
    opponent, own = np.divmod(tables.arrival_row, goal)
    found = np.zeros((goal, goal), np.int64)
    found[own, opponent] = (cell == opponent * goal + own) & (own != opponent)
    return found


def _order(goal: int, strip: int) -> Ints:
    """Order of the cells: strips of the higher score, and in each by the lower, with mirror images.

    Half of all cells then come right after their neighbour of the same column, and what a strip
    comes back to are its own columns and those of one lower score.
    """
    own, opponent = (axis.ravel() for axis in np.indices((goal, goal)))
    low, high = np.minimum(own, opponent), np.maximum(own, opponent)
    order = np.lexsort([own, high, low, high // strip])
    return np.stack([own[order], opponent[order]], axis=1)
