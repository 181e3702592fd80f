"""The compiler: from rules, one turn at a time, to the flat arrays that kernels read."""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import groupby, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from hogeq.kernels.cycles import find_blocks
from hogeq.kernels.memory import KEPT, SCATTERED, SWAPPED
from hogeq.kernels.plan import Plan, plan_of
from hogeq.kernels.tables import Cycles, Floats, Ints, Strides, Tables
from hogeq.rules import Rules
from hogeq.rules.turn import (
    Memory,
    bonus,
    dice_sides,
    given,
    land,
    memory_sizes,
    next_memory,
    points_distribution,
    record,
    sums_without_ones,
    trots,
    zero_points,
)
from hogeq.workspace import Workspace

LANE_STEP = 8  # lanes are padded to whole vectors, so that few widths are ever compiled
TILE = 8  # scores on a side of a tile of cells, whose columns are to fit in a core's cache
MEMORY_LIMIT = 4 << 30  # bytes of one game's largest arrays


@dataclass(frozen=True, eq=False)
class Game:
    """A compiled game.

    Attributes
    ----------
    rules : Rules
    tables : Tables
        What the kernels read.
    memories : tuple of Memory, length H
        Every value of the hidden memory of the player to move.
    memory_slot : int64 (H,)
        Where the kernels keep each of them, ``active memory * L + lane``.
    plan : Plan or None
        With which passes are compiled for this game, if it is large.
    """

    rules: Rules
    tables: Tables
    memories: tuple[Memory, ...]
    memory_slot: Ints
    plan: Plan | None

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel between processes as rules, and be compiled once in each."""
        return compile_game, (self.rules,)

    @property
    def goal(self) -> int:
        """Points that win, G."""
        return self.rules.goal

    @property
    def rolls(self) -> int:
        """Number of actions, K: 0 to the most dice."""
        return self.rules.max_dice + 1

    @property
    def memory_size(self) -> int:
        """Number of values of the hidden memory, H."""
        return len(self.memories)

    @property
    def has_memory(self) -> bool:
        """Whether the rules look at anything that a strategy does not see."""
        return self.memory_size > 1

    @property
    def shape(self) -> tuple[int, int, int]:
        """Shape of a policy, (G, G, K)."""
        return self.goal, self.goal, self.rolls

    def workspace(self, players: int, dtype: DTypeLike = np.float64) -> Workspace:
        """Fresh arrays for passes over this game, for one player (self-play) or two."""
        return Workspace(self.tables, players, dtype, self.plan)


class _Layout:
    """How memory is split into an active part and a lane, and where afterstates lie.

    The active part (extra turn, own record) decides how rolls play and is forgotten or replaced;
    the lane (turn number, opponent's record) is only carried to the next mover.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.goal = rules.goal
        self.turns, self.extras, self.records = memory_sizes(rules)
        self.active = self.extras * self.records
        self.lanes = self.turns * self.records
        self.width = 1 if self.lanes == 1 else -(-self.lanes // LANE_STEP) * LANE_STEP

    def slot(self, memory: Memory) -> int:
        active = memory.extra * self.records + memory.own
        return active * self.width + memory.turn * self.records + memory.opponent

    def memory(self, active: int, lane: int) -> Memory:
        extra, own = divmod(active, self.records)
        turn, opponent = divmod(lane, self.records)
        return Memory(turn, extra, own, opponent)

    @property
    def strides(self) -> Strides:
        """Where afterstates lie: by what one base can score, if points are remembered."""
        width = self.width
        if self.rules.feral_hogs == "points":
            scores = self.records * width
            columns = (self.goal + self.records - 1) * scores
            origin = (self.records - 1) * scores
            return Strides(origin, self.goal * columns, columns, scores, width - scores)
        columns = self.records * self.goal * width
        return Strides(0, self.goal * columns, columns, width, self.goal * width)

    def base(self, end: int, own: int, opponent: int) -> int:
        """Position of an afterstate with record 0."""
        strides = self.strides
        return (
            strides.origin + end * strides.ends + opponent * strides.columns + own * strides.scores
        )

    def offset(self, points: int, gift: int, recorded: int) -> int:
        """Distance of an outcome's afterstate from that of no points with record 0."""
        strides = self.strides
        return gift * strides.columns + points * strides.scores + recorded * strides.records

    def all_memories(self) -> list[Memory]:
        return [
            Memory(*parts)
            for parts in product(
                range(self.turns), range(self.extras), range(self.records), range(self.records)
            )
        ]


def required_bytes(rules: Rules) -> int:
    """Bytes of the largest arrays of a game: values and reach of two players, and its tables."""
    layout = _Layout(rules)
    ends = 2 if rules.time_trot else 1
    cells = rules.goal**2
    states = ends * layout.strides.ends * 8
    table = cells * (rules.max_dice + 1) * 8
    return 4 * states + 6 * table


@cache
def compile_game(rules: Rules) -> Game:
    """Compile rules to flat arrays.

    Parameters
    ----------
    rules : Rules

    Returns
    -------
    Game

    Raises
    ------
    ValueError
        If the arrays would not fit in memory, or if the game may never end.
    """
    need = required_bytes(rules)
    if need > MEMORY_LIMIT:
        raise ValueError(
            f"rules: a game to {rules.goal} with {rules.max_dice} dice and this memory needs "
            f"{need / 2**30:.1f} GiB, allowed are {MEMORY_LIMIT >> 30}: lower goal or max_dice"
        )
    layout = _Layout(rules)
    sides, situation, modes, chosen = _modes(layout)
    planes = sorted({(kind, trot) for kind, _, trot in modes})
    ring = 1 + max(extra for _, extra, _ in modes)
    default, exceptions = _exceptions(layout, chosen)
    points = _Outcomes(layout, sides)
    landing = _Landings(layout, points, ring)
    ends = 1 + max(int(trot) for _, trot in planes)
    handed = _next_memory(layout)
    order, runs = _order(rules.goal)
    tables = Tables(
        lane=(0,) * layout.width,
        sizes=(
            rules.goal,
            rules.max_dice + 1,
            layout.records,
            layout.active,
            ring,
            len(sides),
        ),
        strides=layout.strides,
        cell_order=order,
        run_start=runs,
        start=layout.slot(Memory()),
        terminal_win=landing.terminal_win(),
        outcome_prob=points.prob,
        outcome_offset=points.offset,
        outcome_points=points.points,
        outcome_record=points.record,
        outcome_start=points.start,
        outcome_stop=points.stop(ring),
        gift=points.gift,
        **points.targets(),
        **points.sums(ring),
        zero_points=points.zero_points,
        zero_gift=points.zero_gift,
        zero_record=points.zero_record,
        zero_offset=points.zero_offset,
        plane_dice=np.array([kind for kind, _ in planes], np.int64),
        plane_again=np.array([int(trot) for _, trot in planes], np.int64),
        plane_needed=_needed(situation, modes, chosen, planes),
        mode_plane=np.array([planes.index((kind, trot)) for kind, _, trot in modes], np.int64),
        mode_bonus=np.array([extra for _, extra, _ in modes], np.int64),
        situation=situation,
        default_mode=default,
        **exceptions,
        **_alternatives(layout, default, exceptions, modes, planes),
        **landing.arrivals(ends),
        next_memory=handed,
        handover=_handover(layout, handed),
        only_swaps=False,
        has_cycles=False,
        cycles=points.cycles(),
    )
    swapped = tables.handover[0] == SWAPPED and not tables.arrival_again.any()
    tables = tables._replace(only_swaps=bool(swapped and not len(tables.lane_masks)))
    try:
        tables = find_blocks(tables, layout.lanes)
    except ValueError as error:
        raise ValueError(
            f"rules: {error} (zero_dice is {rules.zero_dice}, pig_out {rules.pig_out}, "
            f"piggy_back {rules.piggy_back}, feral_hogs {rules.feral_hogs}, "
            f"time_trot {rules.time_trot})"
        ) from None
    memories = tuple(layout.all_memories())
    slots = np.array([layout.slot(memory) for memory in memories], np.int64)
    return Game(rules, tables, memories, slots, plan_of(tables))


Mode = tuple[int, int, bool]  # kind of dice, bonus, whether the roll forces an extra turn


def _modes(
    layout: _Layout,
) -> tuple[list[int], NDArray[np.uint8], list[Mode], Ints]:
    """Find how rolls can play.

    Returns the kinds of dice by their sides, the situation of every cell, the modes, and the mode
    of every roll by (situation, active memory, lane, roll).
    """
    rules, goal = layout.rules, layout.goal
    seen: dict[tuple[int, ...], int] = {}
    situation = np.zeros((goal, goal), np.uint8)
    example: list[tuple[int, int]] = []
    for own, opponent in product(range(goal), repeat=2):
        kinds = tuple(
            dice_sides(rules, own, opponent, Memory(extra=extra)) for extra in range(layout.extras)
        )
        if kinds not in seen:
            seen[kinds] = len(seen)
            example.append((own, opponent))
        situation[own, opponent] = seen[kinds]
    sides = sorted({kind for kinds in seen for kind in kinds})
    modes: list[Mode] = []
    chosen = np.zeros((len(seen), layout.active, layout.lanes, rules.max_dice + 1), np.int64)
    for place, (own, opponent) in enumerate(example):
        for active, lane in product(range(layout.active), range(layout.lanes)):
            memory = layout.memory(active, lane)
            kind = sides.index(dice_sides(rules, own, opponent, memory))
            for roll in range(rules.max_dice + 1):
                mode = (kind, bonus(rules, memory, roll), trots(rules, memory, roll))
                if mode not in modes:
                    modes.append(mode)
                chosen[place, active, lane, roll] = modes.index(mode)
    if len({extra for _, extra, _ in modes} - {0}) > 1:
        raise ValueError("rules: bonuses of different sizes cannot be compiled together")
    return sides, situation, modes, chosen


def _exceptions(layout: _Layout, chosen: Ints) -> tuple[Ints, dict[str, Any]]:
    """Split modes into the most common one of every roll and the exceptions to it."""
    situations, active, _, rolls = chosen.shape
    default = np.zeros((situations, rolls), np.int64)
    start = np.zeros((situations, active + 1), np.int64)
    found: list[tuple[int, int, int, int]] = []
    for place in range(situations):
        for roll in range(rolls):
            default[place, roll] = Counter(chosen[place, :, :, roll].flat).most_common(1)[0][0]
        for memory in range(active):
            start[place, memory] = len(found)
            for roll in range(rolls):
                low = 0
                for mode, run in groupby(chosen[place, memory, :, roll]):
                    high = low + len(list(run))
                    if mode != default[place, roll]:
                        whole = low == 0 and high == layout.lanes
                        found.append((roll, mode, low, layout.width if whole else high))
                    low = high
        start[place, active] = len(found)
    columns = np.array(found, np.int64).reshape(-1, 4).T.copy()
    names = ("exception_roll", "exception_mode", "exception_low", "exception_high")
    return default, {"exception_start": start, **dict(zip(names, columns, strict=True))}


def _alternatives(
    layout: _Layout,
    default: Ints,
    exceptions: dict[str, Any],
    modes: list[Mode],
    planes: list[tuple[int, bool]],
) -> dict[str, Any]:
    """Group the exceptions by roll and mode: what the kernels add and take away, a lane at once."""
    situations, rolls = default.shape
    width = layout.width

    def home(mode: int, roll: int) -> tuple[int, int]:
        kind, extra, trot = modes[mode]
        return int(extra > 0), (planes.index((kind, trot)) * rolls + roll) * width

    homes = np.array([[home(mode, roll) for roll, mode in enumerate(row)] for row in default])
    masks: dict[tuple[int, int], int] = {(0, width): -1}
    for low, high in zip(exceptions["exception_low"], exceptions["exception_high"], strict=True):
        masks.setdefault((int(low), int(high)), (len(masks) - 1) * width)
    lanes = [
        [low <= lane < high for lane in range(width)]
        for (low, high), at in masks.items()
        if at >= 0
    ]
    columns = [exceptions[f"exception_{name}"] for name in ("roll", "mode", "low", "high")]
    rows = [tuple(map(int, row)) for row in zip(*columns, strict=True)]
    start = np.zeros((situations, rolls + 1), np.int64)
    places: list[tuple[int, int]] = []
    members: list[list[tuple[int, int]]] = []
    gain = np.zeros(len(rows), np.int64)
    mask = np.zeros(len(rows), np.int64)
    for place in range(situations):
        bounds = exceptions["exception_start"][place]
        memory_of = np.searchsorted(bounds, np.arange(bounds[0], bounds[-1]), side="right") - 1
        for roll in range(rolls):
            start[place, roll] = len(places)
            found: dict[int, list[tuple[int, int]]] = {}
            for x, memory in enumerate(memory_of.tolist(), bounds[0]):
                if rows[x][0] == roll:
                    mode = rows[x][1]
                    mask[x] = masks[rows[x][2], rows[x][3]]
                    at = list(found).index(mode) if mode in found else len(found)
                    found.setdefault(mode, []).append((memory, int(mask[x])))
                    gain[x] = len(places) + at - start[place, 0]
            places.extend(home(mode, roll) for mode in found)
            members.extend(found.values())
        start[place, rolls] = len(places)
    flat = np.array([member for group in members for member in group], np.int64).reshape(-1, 2)
    table = np.array(places, np.int64).reshape(-1, 2)
    lanes_of = np.zeros((len(members), width), np.uint8)
    for alternative, group in enumerate(members):
        lanes_of[alternative, [memory for memory, _ in group if memory < width]] = 1
    return {
        "member_lanes": lanes_of.ravel(),
        "default_far": homes[:, :, 0].copy(),
        "default_offset": homes[:, :, 1].copy(),
        "alternative_start": start,
        "alternative_far": table[:, 0].copy(),
        "alternative_offset": table[:, 1].copy(),
        "member_start": np.cumsum([0, *map(len, members)]).astype(np.int64),
        "member_memory": flat[:, 0].copy(),
        "member_mask": flat[:, 1].copy(),
        "exception_gain": gain,
        "exception_mask": mask,
        "lane_masks": np.array(lanes, np.uint8).ravel(),
    }


def _needed(
    situation: NDArray[np.uint8],
    modes: list[Mode],
    chosen: Ints,
    planes: list[tuple[int, bool]],
) -> NDArray[np.uint8]:
    """Which planes a roll can be on at each base: without a bonus, or arriving there with one."""
    goal = len(situation)
    needed = np.zeros((goal, goal, len(planes)), np.uint8)
    for place in range(len(chosen)):
        here = situation == place
        for mode in np.unique(chosen[place]):
            kind, extra, trot = modes[mode]
            plane = planes.index((kind, trot))
            if extra < goal:
                needed[extra:, :, plane] |= here[: goal - extra]
    return needed


class _Term(NamedTuple):
    """One afterstate that a roll leaves, and how much it counts."""

    kind: int
    roll: int
    points: int
    gift: int
    offset: int
    prob: float


class _Outcomes:
    """What rolling can score: outcomes grouped by kind of dice and roll, points ascending."""

    def __init__(self, layout: _Layout, sides: list[int]) -> None:
        rules, goal = layout.rules, layout.goal
        rolls = rules.max_dice + 1
        self.layout = layout
        self.sides = sides
        self.start = np.zeros((len(sides), rolls), np.int64)
        self.end = np.zeros((len(sides), rolls), np.int64)
        self.gift = np.zeros((len(sides), rolls), np.int64)
        self.stay = np.zeros((len(sides), rolls))
        self.leave = np.ones((len(sides), rolls))
        prob: list[float] = []
        offset: list[int] = []
        points: list[int] = []
        records: list[int] = []
        for kind, roll in product(range(len(sides)), range(1, rolls)):
            self.start[kind, roll] = len(prob)
            for gained, chance in points_distribution(rules, roll, sides[kind]).items():
                gift = given(rules, roll, gained)
                if gift:
                    self.gift[kind, roll] = gift
                elif gained == 0:
                    self.stay[kind, roll] = float(chance)
                    self.leave[kind, roll] = float(1 - chance)
                prob.append(float(chance))
                points.append(gained)
                records.append(record(rules, roll, gained))
                offset.append(layout.offset(gained, gift, record(rules, roll, gained)))
            self.end[kind, roll] = len(prob)
        self.prob = np.array(prob)
        self.points = np.array(points, np.int64)
        self.record = np.array(records, np.int64)
        self.offset = np.array(offset, np.int64)
        none = [zero_points(rules, opponent) for opponent in range(goal)]
        gifts = [given(rules, 0, gained) for gained in none]
        self.zero_points = np.array(none, np.int64)
        self.zero_gift = np.array(gifts, np.int64)
        self.zero_record = np.array([record(rules, 0, gained) for gained in none], np.int64)
        self.zero_offset = np.array(
            [
                layout.offset(gained, gift, record(rules, 0, gained))
                for gained, gift in zip(none, gifts, strict=True)
            ],
            np.int64,
        )

    @property
    def most(self) -> int:
        return int(max(self.points.max(initial=0), self.zero_points.max()))

    @property
    def most_given(self) -> int:
        return int(max(self.gift.max(), self.zero_gift.max()))

    def cycles(self) -> Cycles:
        """Which rolls can leave both scores as they were; no blocks yet."""
        layout, none = self.layout, np.zeros(0, np.int64)
        rolls = range(layout.rules.max_dice + 1)
        offsets = [layout.offset(0, 0, record(layout.rules, roll, 0)) for roll in rolls]
        return Cycles(
            stay=self.stay,
            leave=self.leave,
            stay_offset=np.array(offsets, np.int64),
            block_start=none,
            block_cells=none,
            entry_start=none,
            entry_position=none,
            entry_from=none.reshape(0, 4),
            entry_cell=none,
            entry_slot=none,
            entry_again=none,
            entry_at=none,
        )

    def targets(self) -> dict[str, Any]:
        """Group the outcomes once more, by kind of dice and afterstate instead of roll."""
        kinds, rolls = self.start.shape
        terms = [
            _Term(
                kind,
                roll,
                int(self.points[i]),
                0 if self.points[i] else int(self.gift[kind, roll]),
                int(self.offset[i]),
                float(self.prob[i]),
            )
            for kind, roll in product(range(kinds), range(1, rolls))
            for i in range(self.start[kind, roll], self.end[kind, roll])
        ]
        return dict(
            zip(
                (
                    "target_points",
                    "target_gift",
                    "target_offset",
                    "target_start",
                    "source_start",
                    "source_prob",
                    "source_offset",
                ),
                self._by_afterstate(terms),
                strict=True,
            )
        )

    def _by_afterstate(self, terms: list[_Term]) -> tuple[Ints | Floats, ...]:
        """Points, gift, offset and starts of each afterstate, then its sources."""
        kinds = len(self.start)
        found = sorted(terms, key=lambda x: (x.kind, x.points, x.gift, x.offset, x.roll))
        heads = [
            list(run)
            for _, run in groupby(found, key=lambda x: (x.kind, x.points, x.gift, x.offset))
        ]
        rows = np.array(
            [(run[0].kind, run[0].points, run[0].gift, run[0].offset) for run in heads], np.int64
        ).reshape(-1, 4)
        return (
            rows[:, 1].copy(),
            rows[:, 2].copy(),
            rows[:, 3].copy(),
            np.searchsorted(rows[:, 0], np.arange(kinds + 1)).astype(np.int64),
            np.cumsum([0, *map(len, heads)]).astype(np.int64),
            np.array([term.prob for term in found], np.float64),
            np.array([term.roll * self.layout.width for term in found], np.int64),
        )

    def sums(self, ring: int) -> dict[str, Any]:
        """Find which rolls are cheaper as the sum of one die and the dice before it.

        Summing takes all outcomes to leave one record, and no points to be boosted; the terms that
        correct this are found by comparison with the true outcomes, so wherever an edition has
        other ideas there are too many of them, and its rolls are summed directly.  One term more
        still pays, since other rolls correct the same afterstates.
        """
        layout = self.layout
        rules, goal = layout.rules, layout.goal
        kinds, rolls = self.start.shape
        many = layout.offset(0, 0, record(rules, rolls - 1, int(self.points.max(initial=0))))
        used = np.zeros((kinds, rolls), np.uint8)
        depth = np.zeros(kinds, np.int64)
        start = np.zeros((kinds, rolls), np.int64)
        stop = np.zeros((kinds, rolls, goal + ring - 1), np.int64)
        left = goal - np.arange(goal + ring - 1)
        terms: list[_Term] = []
        costs = np.zeros((kinds, 3), np.int64)
        for kind in range(kinds):
            found = [self._corrected(kind, roll, many) for roll in range(1, rolls)]
            pays = [len(corrected) <= len(true) + 1 for true, corrected in found]
            deepest = max((roll for roll, pay in enumerate(pays, 1) if pay), default=0)
            chain = deepest * (self.sides[kind] - 1)
            true_terms = sum(len(true) for true, _ in found)
            kept = sum(
                len(corrected if pay else true)
                for pay, (true, corrected) in zip(pays, found, strict=True)
            )
            if chain + kept >= true_terms:
                pays, deepest, chain, kept = [False] * len(pays), 0, 0, true_terms
            depth[kind] = deepest
            costs[kind] = true_terms, chain, kept
            for roll, (pay, (true, corrected)) in enumerate(zip(pays, found, strict=True), 1):
                used[kind, roll] = pay
                chosen = corrected if pay else true
                start[kind, roll] = len(terms)
                points = [term.points for term in chosen]
                stop[kind, roll] = len(terms) + np.searchsorted(points, left)
                terms.extend(chosen)
        names = ("points", "gift", "offset", "start", "first", "prob", "source")
        mends = zip(names, self._by_afterstate(terms), strict=True)
        direct, chain, kept = costs.mean(axis=0).round().astype(int).tolist()
        return {
            "sides": np.array(self.sides, np.int64),
            "sum_ring": max(self.sides) + 1,
            "sum_depth": depth,
            "is_sum": used,
            "many_offset": many,
            "direct_terms": direct,
            "sum_terms": chain,
            "corrections": kept,
            "term_prob": np.array([term.prob for term in terms], np.float64),
            "term_offset": np.array([term.offset for term in terms], np.int64),
            "term_start": start,
            "term_stop": stop,
            **{f"mend_{name}": column for name, column in mends},
        }

    def _corrected(self, kind: int, roll: int, many: int) -> tuple[list[_Term], list[_Term]]:
        """List the outcomes of a roll, and what is left of them when its sum is taken away."""
        rules, layout, sides = self.layout.rules, self.layout, self.sides[kind]
        true: dict[tuple[int, int, int], Fraction] = {}
        for gained, chance in points_distribution(rules, roll, sides).items():
            gift = given(rules, roll, gained)
            true[gained, gift, layout.offset(gained, gift, record(rules, roll, gained))] = chance
        left = dict(true)
        for total, ways in enumerate(sums_without_ones(roll, sides)):
            if ways:
                key = (total, 0, many + total * layout.strides.scores)
                left[key] = left.get(key, Fraction(0)) - Fraction(ways, sides**roll)

        def listed(chances: dict[tuple[int, int, int], Fraction]) -> list[_Term]:
            return [
                _Term(kind, roll, *key, float(chance))
                for key, chance in sorted(chances.items())
                if chance
            ]

        return listed(true), listed(left)

    def stop(self, ring: int) -> Ints:
        """One past the last outcome that stays below the goal, by (kind of dice, roll, base)."""
        goal = self.layout.goal
        kinds, rolls = self.start.shape
        stop = np.zeros((kinds, rolls, goal + ring - 1), np.int64)
        left = goal - np.arange(goal + ring - 1)
        for kind, roll in product(range(kinds), range(1, rolls)):
            start, end = self.start[kind, roll], self.end[kind, roll]
            stop[kind, roll] = start + np.searchsorted(self.points[start:end], left)
        return stop


class _Landings:
    """Where afterstates land, from every pair of scores a turn can leave behind."""

    def __init__(self, layout: _Layout, points: _Outcomes, ring: int) -> None:
        self.layout, self.points, self.ring = layout, points, ring
        goal = layout.goal
        own = goal + ring + points.most
        opponent = goal + points.most_given
        self.cell = np.full((own, opponent), -1, np.int64)  # from the next mover's side
        self.again = np.zeros((own, opponent), bool)
        self.wins = np.zeros((own, opponent), bool)
        self.forced = np.full((own, opponent), -1, np.int64)  # if the roll forces an extra turn
        for score, other in product(range(own), range(opponent)):
            after = land(layout.rules, score, other)
            if after.winner is not None:
                self.wins[score, other] = after.winner == 0
                continue
            if max(score, other) >= goal:
                raise ValueError(
                    f"rules: a landing lowers scores {score}, {other} past the goal {goal} back "
                    "below it, which no edition does and the kernels cannot play"
                )
            mine, yours = after.score, after.opponent
            self.again[score, other] = after.again
            self.forced[score, other] = mine * goal + yours
            self.cell[score, other] = mine * goal + yours if after.again else yours * goal + mine

    def terminal_win(self) -> Floats:
        """Probability that a roll wins at once past the board, by (kind of dice, base, roll)."""
        points, goal = self.points, self.layout.goal
        kinds, rolls = points.start.shape
        bases = goal + self.ring - 1
        win = np.zeros((kinds, bases, goal, rolls))
        outside = self.wins.copy()
        outside[:goal, :goal] = False
        own, other = np.ogrid[:bases, :goal]
        for kind in range(kinds):
            win[kind, :, :, 0] = outside[own + points.zero_points, other + points.zero_gift]
            for roll in range(1, rolls):
                for i in range(points.start[kind, roll], points.end[kind, roll]):
                    gift = points.gift[kind, roll] if points.points[i] == 0 else 0
                    gained = points.points[i]
                    if gained == 0 or gift or bases + gained > goal:
                        win[kind, :, :, roll] += (
                            points.prob[i] * outside[own + gained, other + gift]
                        )
        return win

    def arrivals(self, ends: int) -> dict[str, Any]:
        """Afterstates by the cell on which they land, and those that win inside the board."""
        goal, layout = self.layout.goal, self.layout
        rows: list[tuple[int, int, bool, int]] = []
        fixed: list[int] = []
        for end, own, other in product(range(ends), range(goal), range(goal)):
            if self.forced[own, other] >= 0:
                cell = self.forced[own, other] if end else self.cell[own, other]
                again = bool(end or self.again[own, other])
                rows.append((int(cell), layout.base(end, own, other), again, other * goal + own))
            elif self.wins[own, other]:
                for recorded in range(layout.records):
                    at = layout.base(end, own, other) + layout.offset(0, 0, recorded)
                    fixed.extend(range(at, at + layout.width))
        rows.sort()
        columns = np.array(rows, np.int64).reshape(-1, 4).T.copy()
        return {
            "arrival_start": np.searchsorted(columns[0], np.arange(goal**2 + 1)).astype(np.int64),
            "arrival_base": columns[1],
            "arrival_row": columns[3],
            "arrival_again": columns[2].astype(np.uint8),
            "fixed_win": np.array(fixed, np.int64),
        }


def _next_memory(layout: _Layout) -> NDArray[np.uint64]:
    """Slot of the next mover's memory by (moves again, record, lane); padding maps to itself."""
    table = np.tile(np.arange(layout.width, dtype=np.uint64), (2, layout.records, 1))
    for again, recorded, lane in product((0, 1), range(layout.records), range(layout.lanes)):
        # The active part does not matter: what is kept of it is the record, given here.
        before = layout.memory(0, lane)
        table[again, recorded, lane] = layout.slot(
            next_memory(layout.rules, before, recorded, bool(again))
        )
    return table


def _order(goal: int) -> tuple[Ints, Ints]:
    """Order of the cells, and the starts of its runs.

    A landing leaves both scores as high as the afterstate's or higher, or swaps them.  So it leads
    from a tile to itself, to its mirror image, or to tiles further on.
    """
    own, opponent = (axis.ravel() for axis in np.indices((goal, goal)))
    row, column = own // TILE, opponent // TILE
    keys = np.stack([row + column, np.minimum(row, column), own + opponent, row, own])
    order = np.lexsort(keys[::-1])
    starts = np.flatnonzero(np.diff(keys[:3, order], axis=1, prepend=-1).any(axis=0))
    return order.astype(np.int64), np.append(starts, goal**2).astype(np.int64)


def _handover(layout: _Layout, next_memory: NDArray[np.uint64]) -> Ints:
    """How the next mover's memory is made, by again: see :mod:`hogeq.kernels.memory`."""
    record, lane = np.ogrid[: layout.records, : layout.lanes]
    kept = record * layout.width + lane
    swapped = lane * layout.width + record
    found = [SCATTERED, SCATTERED]
    for again in (0, 1):
        table = next_memory[again, :, : layout.lanes]
        if np.array_equal(table, kept):
            found[again] = KEPT
        elif not again and layout.active == layout.lanes and np.array_equal(table, swapped):
            found[again] = SWAPPED
    return np.array(found, np.int64)
