"""Which games have a plan, and how it is made from their tables: :mod:`hogeq.kernels.plan`."""

from collections.abc import Iterable

import numpy as np

from hogeq.kernels.handover import KEPT, SWAPPED
from hogeq.kernels.plan import (
    CHUNK,
    PACKED_STRIP,
    PIECE,
    SMALLEST,
    STRIP,
    WIDEST,
    WIDEST_BY_VECTOR,
    Alternative,
    Constants,
    Dice,
    Places,
    Plan,
    Target,
)
from hogeq.kernels.tables import Ints, Tables


def can_plan(tables: Tables) -> bool:
    """Whether a game is of the kind that has plans.

    Turns only swap what players remember, or keep it in an extra turn, that has the usual dice, and
    all cells are alike but for their dice.
    """
    lanes = len(tables.lane)
    kinds = tables.plane_dice
    return bool(
        tables.handover[0] == SWAPPED
        and (tables.handover[1] == KEPT or not tables.arrival_again.any())
        and not len(tables.lane_masks)
        and not tables.plane_again.any()
        and lanes % PIECE == 0
        and tables.dimensions.num_actions <= lanes <= WIDEST_BY_VECTOR
        and (lanes <= WIDEST or tables.sum_depth[kinds].all())
        and not tables.zero_gift.any()
        and all(
            (column[kinds] == column[kinds[0]]).all()
            for column in (tables.zero_points, tables.zero_record)
        )
        and _differ_in_dice(tables)
        and _furthest(tables) >= 0
        and (not tables.has_cycles or _one_idle_record(tables))
    )


def _one_idle_record(tables: Tables) -> bool:
    """Whether turns that stay, and they alone, leave one record; rolling no dice never stays.

    Nothing else that makes plans differ goes with it.
    """
    dice, cycles = tables.plane_dice[0], tables.cycles
    idle = np.unique(cycles.stay_offset[cycles.stay[dice] > 0.0])
    scored = tables.correction_points > 0
    left = tables.correction_offset - tables.correction_points * tables.strides.scores
    return bool(
        len(tables.lane) <= WIDEST
        and tables.only_swaps
        and len(tables.plane_dice) == 1
        and not tables.correction_gift.any()
        and not len(tables.fixed_win)
        and _furthest(tables) == 0
        and len(idle) == 1
        and not cycles.zero_stays.any()
        and not len(cycles.certain)
        and not (left[scored] == idle[0]).any()
        and not (tables.zero_record * tables.strides.records == idle[0]).any()
        and tables.many_offset != idle[0]
    )


def _kinds(tables: Tables) -> Ints:
    """Find which kind of dice cells throw, by situation."""
    rolls = tables.dimensions.num_actions * len(tables.lane)
    return tables.default_offset[:, 0] // rolls


def _differ_in_dice(tables: Tables) -> bool:
    """Whether nothing but the kind of dice tells situations apart."""
    shift = _kinds(tables) * tables.dimensions.num_actions * len(tables.lane)
    seen = []
    for situation, start in enumerate(tables.alternative_start):
        first, last = start[[0, -1]]
        members = slice(*tables.member_start[[first, last]])
        seen.append(
            (
                tables.default_far[situation].tolist(),
                (tables.default_offset[situation] - shift[situation]).tolist(),
                (start - first).tolist(),
                tables.alternative_far[first:last].tolist(),
                (tables.alternative_offset[first:last] - shift[situation]).tolist(),
                (tables.member_start[first : last + 1] - members.start).tolist(),
                tables.member_memory[members].tolist(),
            )
        )
    return all(one == seen[0] for one in seen)


def _furthest(tables: Tables) -> int:
    """Find by how many points a landing raises the mover's score at most; -1 if it does more."""
    goal = tables.dimensions.goal
    cell = np.repeat(np.arange(goal * goal), np.diff(tables.arrival_start))
    low, high = np.sort(np.divmod(cell, goal), axis=0)
    opponent, score = np.divmod(tables.arrival_row, goal)
    raised = low + high - opponent - score
    # The opponent's score is the cell's lower or higher one, the mover's the other or less.
    whole = ((low == opponent) | (high == opponent)) & (raised >= 0)
    return int(raised.max()) if whole.all() else -1


def plan_of(tables: Tables, smallest: int = SMALLEST) -> Plan | None:
    """Plan of a game, or None if it has none or fewer afterstates than would pay for it."""
    goal, records = tables.dimensions.goal, tables.dimensions.records
    if not can_plan(tables) or goal * goal * records * len(tables.lane) < smallest:
        return None
    constants = _constants(tables)
    return Plan(constants, _places(tables, constants, STRIP))


def packed_plan(tables: Tables, plan: Plan, pairs: int, bits: int, *, apart: bool = False) -> Plan:
    """Plan of 2, 4 or 8 matches side by side, in numbers of so many bits.

    Their reach is passed forward one match after the other if they keep it `apart`.
    """
    one = plan.constants
    piece = PIECE * 64 // bits
    lanes = -(-max(one.records, one.active) * pairs // piece) * piece

    def moved(offset: int) -> int:
        return offset // one.lanes * lanes + offset % one.lanes

    constants = one._replace(
        pairs=pairs,
        by_vector=True,
        apart=one.lanes if apart else 0,
        lanes=lanes,
        start=moved(one.start),
        usual=tuple((far, moved(offset)) for far, offset in one.usual),
        alternatives=tuple(x._replace(offset=moved(x.offset)) for x in one.alternatives),
    )
    # Cells are visited as in the matches that are passed forward alone.
    return Plan(constants, _places(tables, constants, STRIP if apart else PACKED_STRIP // pairs))


def _targets(tables: Tables, kind: int, idle: int) -> tuple[Target, ...]:
    lanes, strides = len(tables.lane), tables.strides
    targets = []
    for correction in range(*tables.correction_start[kind : kind + 2].tolist()):
        points, gift = (
            int(column[correction]) for column in (tables.correction_points, tables.correction_gift)
        )
        offset = int(tables.correction_offset[correction])
        recorded = (offset - gift * strides.columns - points * strides.scores) // strides.records
        sources = range(*tables.correction_first[correction : correction + 2].tolist())
        ways = [
            (int(tables.correction_source[i]) // lanes, float(tables.correction_prob[i]))
            for i in sources
        ]
        if recorded != idle:
            targets.append(Target(points, gift, recorded, tuple(ways)))
    return tuple(targets)


def _constants(tables: Tables) -> Constants:
    dimensions = tables.dimensions
    lanes = len(tables.lane)
    many = int(tables.many_offset) // tables.strides.records
    chances = tables.cycles.stay[tables.plane_dice[0]]
    idle = -1
    if tables.has_cycles:
        idle = int(tables.cycles.stay_offset[chances > 0.0][0]) // tables.strides.records
    # What is recorded of a turn waits until the cell is visited on which it lands.
    wait = max(CHUNK, _furthest(tables) + 1)
    dice = tuple(
        Dice(
            sides=int(tables.sides[kind]),
            depth=int(tables.sum_depth[kind]),
            is_sum=tuple(map(bool, tables.is_sum[kind])),
            targets=_targets(tables, kind, idle),
            ring=wait + int(tables.sides[kind]) if tables.sum_depth[kind] else 0,
        )
        for kind in tables.plane_dice.tolist()
    )
    shift = int(_kinds(tables)[0]) * dimensions.num_actions * lanes
    alternatives = []
    for roll in range(dimensions.num_actions):
        for alternative in range(*tables.alternative_start[0, roll : roll + 2].tolist()):
            first, last = tables.member_start[alternative : alternative + 2].tolist()
            far, offset = (
                int(column[alternative])
                for column in (tables.alternative_far, tables.alternative_offset)
            )
            members = tuple(tables.member_memory[first:last].tolist())
            alternatives.append(Alternative(roll, far, offset - shift, members))
    points = _points(tables, dice, many, idle)
    written = [target for kind in dice for target in kind.targets]
    given = tuple(sorted({target.record for target in written if target.gift}))
    sole = {target.record for target in written} - {many, *given} | {idle} - {-1}
    # With several kinds of dice more than one adds to an afterstate.
    sole = {x for x in sole if len(points[x]) == 1 and len(dice) == 1}
    return Constants(
        lanes=lanes,
        num_actions=dimensions.num_actions,
        records=dimensions.records,
        active=dimensions.active_memories,
        start=tables.start,
        bases=dimensions.ring,
        many=many,
        dice=dice,
        usual=tuple(
            (far, offset - shift)
            for far, offset in zip(
                tables.default_far[0].tolist(), tables.default_offset[0].tolist(), strict=True
            )
        ),
        alternatives=tuple(alternatives),
        sole=tuple(sorted(sole)),
        shared=tuple(x for x in sorted(points) if x not in {*sole, *given}),
        given=given,
        keeps=bool(tables.arrival_again.any()),
        ends=bool(_ended(tables).any()),
        by_vector=lanes > WIDEST,
        idle=idle,
        stays=tuple(chances.tolist()) if idle >= 0 else (),
        leaves=tuple(tables.cycles.leave[tables.plane_dice[0]].tolist()) if idle >= 0 else (),
    )


def _points(tables: Tables, dice: Iterable[Dice], many: int, idle: int) -> dict[int, set[int]]:
    """Find the points with which rolls leave each record, even no dice."""
    found: dict[int, set[int]] = {idle: {0}} if idle >= 0 else {}
    for kind in dice:
        for target in kind.targets:
            found.setdefault(target.record, set()).add(target.points)
        if kind.depth:
            found.setdefault(many, set()).update(range(2, kind.sides + 1))
    free = np.stack([tables.zero_record.ravel(), tables.zero_points.ravel()], axis=1)
    for recorded, gained in np.unique(free, axis=0).tolist():
        found.setdefault(recorded, set()).add(gained)
    return found


def _places(tables: Tables, constants: Constants, strip: int) -> Places:
    """Lay a column out, ring after ring, and find what bases and afterstates need in it."""
    goal, lanes = tables.dimensions.goal, constants.lanes
    dice, bases = constants.dice, constants.bases
    points = _points(tables, dice, constants.many, constants.idle)
    most = np.array([max(points.get(x, {-1})) for x in range(constants.records)])
    spans = np.where(most < 0, 0, np.minimum(1 + most + _furthest(tables), goal))
    spans[list(constants.given)] = 0
    begin = np.append(0, np.cumsum(spans)) * lanes
    spare = int(begin[-1])
    unused = spare + lanes  # of records that no roll leaves, which only packs read and write
    rolls = unused + (lanes if constants.by_vector else 0)
    sums = [rolls + bases * constants.rolls]
    for kind in dice:
        sums.append(sums[-1] + kind.ring * kind.depth * lanes)
    given = sums.pop()
    # Bases of many columns lead to these, so they live for long, each at a place of its own.
    for x, record in enumerate(constants.given):
        spans[record], begin[record] = goal, given + x * goal * lanes
    used = -(-(given + len(constants.given) * goal * lanes) // (2 * PIECE))
    column = (used + 1 - used % 2) * 2 * PIECE  # odd, so that columns do not share cache sets

    def afterstate(score: Ints, record: int) -> Ints:
        there = begin[record] + score % max(1, spans[record]) * lanes
        return np.where(score < goal, there, spare)

    def rolls_of(base: Ints) -> Ints:
        return rolls + base % bases * constants.rolls

    def sums_of(kind: int, base: Ints) -> Ints:
        ring, depth = max(1, dice[kind].ring), dice[kind].depth
        return sums[kind] + (base + 2 * goal * ring) % ring * depth * lanes

    own = np.arange(goal)
    source = [rolls_of(own), rolls_of(own + bases - 1), (own - goal) % CHUNK]
    for kind, thrown in enumerate(dice):
        source += [sums_of(kind, own + x + 1 - CHUNK) for x in range(thrown.ring)]
    source += [afterstate(own + x + 1, constants.many) for x in range(constants.reached)]
    for thrown in dice:
        for target in thrown.targets:
            there = afterstate(own + target.points, target.record)
            source.append(there + target.gift * column)
    source += [afterstate(own + most[record], record) for record in constants.shared]
    landing = [afterstate(own, record) for record in range(constants.records)]
    if constants.by_vector:
        landing = [
            landing[x] if x in points else np.full(goal, unused) for x in range(constants.slots)
        ]
    for kind, thrown in enumerate(dice):
        landing += [sums_of(kind, own - x - 2) for x in range(thrown.arriving)]
    order = _order(goal, strip)
    visited = order[:, 0], order[:, 1]
    recorded = tables.zero_record[tables.plane_dice[0]]
    base = own[:, None] + tables.zero_points[tables.plane_dice[0]]
    none = np.where(base < goal, begin[recorded] + base % spans[recorded] * lanes, spare)
    thrown_here = (_kinds(tables) * constants.num_actions * lanes)[tables.situation]
    needed = tables.plane_needed @ (1 << np.arange(len(dice)))
    cell = np.repeat(np.arange(goal * goal), np.diff(tables.arrival_start))
    again = tables.arrival_again.astype(np.int64)
    by_cell = np.lexsort([again, cell])
    staying = tables.arrival_start[1:] - np.bincount(cell, again, goal * goal).astype(np.int64)
    opponent, score = np.divmod(tables.arrival_row[by_cell], goal)
    known = [none, thrown_here, needed, staying.reshape(goal, goal), _ended(tables)]
    gifts = [target.gift for thrown in dice for target in thrown.targets]
    return Places(
        order=np.column_stack([order, *[column[visited] for column in known]]).astype(np.int64),
        wins=tables.terminal_win[tables.plane_dice][:, *visited].swapaxes(0, 1).copy(),
        source=np.stack(source, axis=1),
        landing=np.stack(landing, axis=1),
        landed=np.stack([opponent * column, score * len(landing)], axis=1),
        column=column,
        columns=goal + max(gifts, default=0),
        spare=spare,
        rolls=rolls,
        sums=sums[0],
        given=given,
        idle=constants.idle,
        turns=_turns(tables)[visited],
    )


def _ended(tables: Tables) -> Ints:
    """Whether an afterstate below the goal has ended the game, (G, G): 1 if lost, 2 if won."""
    goal = tables.dimensions.goal
    opponent, score = np.divmod(tables.arrival_row, goal)
    ended = 1 + tables.wins[:goal, :goal].astype(np.int64)
    ended[score, opponent] = 0
    return ended


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
