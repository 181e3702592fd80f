"""Small memories: the same arrays by diagonals, where vectors run over cells of equal total.

Cells of equal total ``T = own + opponent's score`` do not feed each other unless positions recur,
and a roll of ``p`` points leads from total T to total T + p at the same opponent's score. So where
afterstates are kept by ``[total][opponent's score]``, neighbouring cells of a diagonal find what
they need in neighbouring numbers, all with the same weight, and the memory is an outer index. That
is how :mod:`hogeq.kernels.diagonal_values` and :mod:`hogeq.kernels.diagonal_reach` compute games
whose lanes would leave vectors empty.

Symbols of shapes are those of :mod:`hogeq.kernels.tables`; besides them, H is the number of
memories, C that of pages, one for each end, lane and record of an afterstate, and V that of
numbers of a block, one vector: 8 doubles or 16 singles, each of a cell, or of M matches that lie
beside one another. A *group* is a plane together with a lane:
its rolls are sums over the same afterstates. A *line* is a roll of a group that some memory plays
somewhere.

Only the last totals are alive, so afterstates lie in rings, of powers of two rows. Whatever is past
the goal is a constant, 0 or 1, and two of them end every page.
"""

from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from hogeq.kernels.tables import Floats, Ints, Tables

CELLS = 8  # of a block in double precision: one vector of the machine
Places = NDArray[np.int32]


class Diagonals(NamedTuple):
    """One compiled game by diagonals; made by :func:`diagonals_of`."""

    lane: tuple[int, ...]  # V zeros
    match: tuple[int, ...]  # M zeros, one for each match that lies beside the others
    goal: int
    num_actions: int
    memories: int  # H
    start: int  # memory before the first turn
    blocks: int  # of a diagonal
    width: int  # numbers in a row of afterstates; past the goal where points can be given away
    reach: int  # totals past a cell's that its rolls look at
    given: int  # most points that a turn gives to the opponent
    known_ring: int  # rows of a page of afterstates
    known_page: int
    worth_ring: int  # rows of a page of cells, by memory
    worth_page: int
    sum_rows: int  # most places of rows that a pass notes: sides + 2
    sum_block: int  # numbers that a block keeps of sums
    sum_size: int  # the same of all blocks of a player
    lines: int
    any_again: bool  # whether a player can ever move twice

    land: Places  # (ends, 2 G - 1 + reach, width / M) twice the place on a page, + 1 for again
    page_end: Ints  # (C,)
    page_other: Ints  # (C,) page of cells on which it lands when the other player moves next ...
    page_again: Ints  # (C,) ... and when the same one does
    page_start: Ints  # (C + 1,) range of the groups whose sums are over it
    page_group: Ints

    group_dice: Ints  # (g,) kind of turn
    group_depth: Ints  # (g,) most dice whose sum is used
    group_page: Ints  # (g,) page of the afterstates with record 0
    group_many: Ints  # (g,) page of those with the record of large sums
    group_sums: Ints  # (g,) where its sums begin in those of a block
    sides: Ints  # (D,)
    share: Floats  # (D,) 1 / sides
    is_sum: NDArray[np.uint8]  # (D, K)
    edge: NDArray[np.floating]  # (D, totals, edges, depth, V) sums from scores past the goal
    edges: int
    situation: Ints  # (2 G - 1,) of every diagonal
    line: Ints  # (S, g, K) line of a group's roll, -1 if nobody plays it
    active: Ints  # (S, g) 1 if a group has lines
    run: Ints  # (S, g) line of one die, if every roll has the next line, a sum and one common term
    source: Ints  # (S, H, K) line that a memory plays

    term_start: Ints  # (D, K + 1) range of the terms of a roll, beside its sum
    term_prob: Floats  # (c,)
    term_page: Ints  # (c,) record
    term_total: Ints  # (c,) points and gift
    term_shift: Ints  # (c,) gift
    common: Ints  # (D,) 1 if the first term of every roll is the same, without record and gift ...
    common_total: int  # ... and its points
    target_start: Ints  # (D + 1,) the same terms by afterstate
    target_page: Ints  # (d,)
    target_total: Ints  # (d,)
    target_shift: Ints  # (d,)
    target_first: Ints  # (d + 1,) range of its rolls
    target_roll: Ints  # (c,)
    target_prob: Floats  # (c,)
    zero: Places  # (D, 2 G - 1, width / M) place of what no dice lead to, from a group's page


def diagonals_of(
    tables: Tables, dtype: DTypeLike = np.float64, matches: int = 1
) -> Diagonals | None:
    """Lay a game out by diagonals; None for games that other kernels play.

    Of several matches, numbers of all for one cell come before those for the next, so that a block
    has as many fewer cells.
    """
    single = np.dtype(dtype) == np.float32
    if not _suits(tables):
        return None
    numbers = 2 * CELLS if single else CELLS
    alone = _Layout(tables, numbers // matches, np.dtype(dtype)).diagonals()
    return alone if matches == 1 else _abreast(alone, matches)


def _abreast(alone: Diagonals, matches: int) -> Diagonals:
    """Widen all that counts numbers; what counts cells, or pages, remains."""
    return alone._replace(
        lane=(0,) * matches * len(alone.lane),
        match=(0,) * matches,
        edge=np.repeat(alone.edge, matches, axis=-1),
        **{name: matches * getattr(alone, name) for name in _NUMBERS},
    )


_NUMBERS = (
    "width",
    "known_page",
    "worth_page",
    "sum_block",
    "sum_size",
    "page_other",
    "page_again",
    "group_sums",
    "term_page",
    "term_shift",
    "target_page",
    "target_shift",
)


def _suits(tables: Tables) -> bool:
    dimensions = tables.dimensions
    own, opponent = np.indices((dimensions.goal, dimensions.goal))
    situation = _by_total(tables.situation)
    return bool(dimensions.ring == 1 and (situation[own + opponent] == tables.situation).all())


def _by_total(table: NDArray[np.uint8]) -> Ints:
    """Of each total, what a table of cells has at the first of its cells."""
    goal = len(table)
    totals = np.arange(2 * goal - 1)
    own = np.maximum(totals - goal + 1, 0)
    return table[own, totals - own].astype(np.int64)


def _ring(rows: int) -> int:
    """Round up to a power of two."""
    return 1 << max(0, rows - 1).bit_length()


class _Layout:
    """What is computed once from the tables of a game."""

    def __init__(self, tables: Tables, cells: int, dtype: np.dtype[np.floating]) -> None:
        self.tables, self.cells, self.dtype = tables, cells, dtype
        dimensions = tables.dimensions
        self.goal, self.rolls = dimensions.goal, dimensions.num_actions
        self.width_of_lanes = len(tables.lane)
        self.memories = tables.memory_slot.tolist()
        self.lanes = sorted({slot % self.width_of_lanes for slot in self.memories})
        self.ends = 1 + int(tables.plane_again.max())
        self.record_of = self._records()
        gifts = max(int(tables.correction_gift.max(initial=0)), int(tables.zero_gift.max()))
        rows = tables.correction_points + tables.correction_gift
        self.given = gifts
        self.reach = max(int(tables.sides.max()), int(rows.max(initial=0)))
        self.width = self._whole(self._whole(self.goal) + gifts)
        self.totals = 2 * self.goal - 1
        own, opponent = np.indices((self.goal, self.goal))
        inside = (own + tables.zero_points < self.goal) & (opponent + tables.zero_gift < self.goal)
        farthest = int((tables.zero_points + tables.zero_gift)[inside].max(initial=0))
        self.known_ring = _ring(max(self.reach, farthest) + 1)
        self.known_page = self.known_ring * self.width + max(2, self.cells)
        self.modes = self._modes()

    def _whole(self, cells: int) -> int:
        """Round up to whole blocks."""
        return -(-cells // self.cells) * self.cells

    def _records(self) -> Any:
        strides = self.tables.strides

        def record(offset: Any, points: Any, gift: Any) -> Any:
            return (offset - gift * strides.columns - points * strides.scores) // strides.records

        return record

    def _modes(self) -> Ints:
        """Mode of every roll, by situation and memory: (S, H, K)."""
        tables = self.tables
        found = np.repeat(tables.default_mode[:, None], len(self.memories), axis=1)
        for place, bounds in enumerate(tables.exception_start):
            for memory, slot in enumerate(self.memories):
                active, lane = divmod(slot, self.width_of_lanes)
                for x in range(bounds[active], bounds[active + 1]):
                    if tables.exception_low[x] <= lane < tables.exception_high[x]:
                        found[place, memory, tables.exception_roll[x]] = tables.exception_mode[x]
        return found

    def diagonals(self) -> Diagonals:
        tables = self.tables
        land, worth_ring, any_again = self._landings()
        worth_page = worth_ring * self.width + max(2, self.cells)
        groups = self._groups()
        depth = int(groups["group_depth"].max(initial=0))
        edge = self._edges(depth)
        return Diagonals(
            lane=(0,) * self.cells,
            match=(0,),
            goal=self.goal,
            num_actions=self.rolls,
            memories=len(self.memories),
            start=self.memories.index(tables.start),
            blocks=self._whole(self.goal) // self.cells,
            width=self.width,
            reach=self.reach,
            given=self.given,
            known_ring=self.known_ring,
            known_page=self.known_page,
            worth_ring=worth_ring,
            worth_page=worth_page,
            sum_rows=int(tables.sides.max()) + 2,
            any_again=any_again,
            land=land,
            **self._pages(worth_page),
            **groups,
            sides=tables.sides,
            share=1.0 / tables.sides,
            is_sum=tables.is_sum,
            edge=edge,
            edges=edge.shape[2],
            situation=_by_total(tables.situation),
            zero=self._zero(),
        )

    def _place(self, ring: int, own: Ints, opponent: Ints) -> Ints:
        return (own + opponent) % ring * self.width + opponent

    def _landings(self) -> tuple[Places, int, bool]:
        """Place on a page of cells of every afterstate, the rows of a page, and whether again."""
        tables, goal = self.tables, self.goal
        end = (tables.arrival_base - tables.strides.origin) // tables.strides.ends
        opponent, own = np.divmod(tables.arrival_row, goal)
        cell = np.repeat(np.arange(goal**2), np.diff(tables.arrival_start))
        mover, other = np.divmod(cell, goal)
        ring = _ring(1 + int((mover + other - own - opponent).max(initial=0)))
        wins = tables.wins.astype(np.int64)
        totals = self.totals + self.reach
        total, there = np.ogrid[:totals, : self.width]
        here = total - there
        outside = (here >= goal) | (there >= goal)
        inside = (here >= 0) & ~outside
        last = np.array(wins.shape) - 1
        past = wins[np.clip(here, 0, last[0]), np.minimum(there, last[1])]
        won = np.where(outside & (here >= 0), past, 0)
        constant = ring * self.width
        land = np.repeat((2 * (constant + won))[None], self.ends, axis=0)
        fixed = np.zeros((goal, goal), np.int64)
        landed = np.zeros((goal, goal), bool)
        landed[own[end == 0], opponent[end == 0]] = True
        fixed[~landed] = wins[:goal, :goal][~landed]
        at = np.nonzero(inside)
        land[:, *at] = 2 * (constant + fixed[here[at], np.broadcast_to(there, here.shape)[at]])
        place = self._place(ring, mover, other)
        again = tables.arrival_again.astype(np.int64)
        land[end, own + opponent, opponent] = 2 * place + again
        return land.astype(np.int32), ring, bool(again.any())

    def _pages(self, worth_page: int) -> dict[str, Ints]:
        """Page on which each page of afterstates lands."""
        tables = self.tables
        memory_of = {slot: memory for memory, slot in enumerate(self.memories)}
        rows = [
            (
                end,
                *(
                    (again * len(self.memories) + memory_of.get(int(slot), 0)) * worth_page
                    for again, slot in enumerate(tables.next_memory[:, record, lane])
                ),
            )
            for end, lane, record in product(
                range(self.ends), self.lanes, range(tables.dimensions.records)
            )
        ]
        columns = np.array(rows, np.int64).T.copy()
        return dict(zip(("page_end", "page_other", "page_again"), columns, strict=True))

    def _groups(self) -> dict[str, Any]:
        """List groups, their lines, and which of these a memory plays."""
        tables, goal = self.tables, self.goal
        records = tables.dimensions.records
        lane_of = [slot % self.width_of_lanes for slot in self.memories]
        planes = tables.mode_plane[self.modes]
        found: list[tuple[int, int]] = sorted(
            {
                (int(plane), lane)
                for memory, lane in enumerate(lane_of)
                for plane in np.unique(planes[:, memory])
            },
            key=lambda group: (group[1], group[0]),
        )
        situations = len(planes)
        line = np.full((situations, len(found), self.rolls), -1, np.int64)
        source = np.zeros((situations, len(lane_of), self.rolls), np.int64)
        depths = np.zeros(len(found), np.int64)
        lines = 0
        for place in range(situations):
            lines_here = 0
            for g, (plane, lane) in enumerate(found):
                dice = tables.plane_dice[plane]
                many = (planes[place, np.array(lane_of) == lane, 1:] == plane).any(axis=0).sum() > 1
                for roll in range(self.rolls):
                    who = [
                        memory
                        for memory, its in enumerate(lane_of)
                        if its == lane and planes[place, memory, roll] == plane
                    ]
                    if not who and not (many and roll > 0):
                        continue
                    line[place, g, roll] = lines_here
                    source[place, who, roll] = lines_here
                    lines_here += 1
                    if tables.is_sum[dice, roll]:
                        depths[g] = max(depths[g], roll)
            lines = max(lines, lines_here)
        many = tables.many_offset // tables.strides.records
        page = [
            (tables.plane_again[plane] * len(self.lanes) + self.lanes.index(lane)) * records
            for plane, lane in found
        ]
        rings = [int(tables.sides[tables.plane_dice[plane]]) for plane, _ in found]
        rows = [depth * ring + 2 for depth, ring in zip(depths, rings, strict=True)]
        sums = np.cumsum([0, *(self.cells * row * (row > 2) for row in rows)])
        over = np.array(page, np.int64) + many
        pages = self.ends * len(self.lanes) * records
        terms = self._terms()
        alone = terms["common"] & (np.diff(terms["term_start"][:, 1:]) == 1).all(axis=1)
        dices = [tables.plane_dice[plane] for plane, _ in found]
        fast = (alone[dices] > 0) & (depths == self.rolls - 1) & (line[:, :, 1:] >= 0).all(axis=2)
        return {
            **terms,
            "run": np.where(fast, line[:, :, 1], -1),
            "page_start": np.searchsorted(np.sort(over), np.arange(pages + 1)).astype(np.int64),
            "page_group": np.argsort(over, kind="stable").astype(np.int64),
            "lines": lines,
            "line": line,
            "active": (line >= 0).any(axis=2).astype(np.int64),
            "source": source,
            "group_dice": np.array([tables.plane_dice[plane] for plane, _ in found], np.int64),
            "group_depth": depths,
            "group_page": np.array(page, np.int64),
            "group_many": over,
            "group_sums": sums[:-1].astype(np.int64),
            "sum_block": int(sums[-1]),
            "sum_size": int(sums[-1]) * self._whole(goal) // self.cells,
        }

    def _edges(self, depth: int) -> NDArray[np.floating]:
        """Sum up to depth - 1 dice from scores past the goal, in the blocks before the edge."""
        tables, goal, cells = self.tables, self.goal, self.cells
        wins = tables.wins
        most = int(tables.sides.max())
        edges = -(-most // cells) + 1
        shape = len(tables.sides), goal - 1 + most, edges, max(1, depth), cells
        found = np.zeros(shape, self.dtype)
        if depth == 0:
            return found
        scores = goal + most * (depth + 1)
        total, edge, cell = np.ogrid[: found.shape[1], :edges, :cells]
        there = (total // cells - edge) * cells + cell
        past = total + goal - there
        used = (there >= 0) & (there < goal) & (past >= goal) & (past < goal + most)
        for dice, sides in enumerate(tables.sides.tolist()):
            rows = np.minimum(np.arange(scores), len(wins) - 1)
            level = wins[rows, :goal].astype(np.float64)
            for dice_rolled in range(depth):
                found[dice, :, :, dice_rolled][used] = level[
                    np.broadcast_to(past, used.shape)[used],
                    np.broadcast_to(there, used.shape)[used],
                ]
                further = [np.roll(level, -face, axis=0) for face in range(2, sides + 1)]
                level = np.add.reduce(further) / sides
        return found

    def _terms(self) -> dict[str, Any]:
        """Corrections by roll, and by afterstate."""
        tables = self.tables
        kinds = len(tables.sides)
        start = np.zeros((kinds, self.rolls + 1), np.int64)
        counts = np.diff(tables.correction_first)
        target = np.repeat(np.arange(len(counts)), counts)
        roll = tables.correction_source // self.width_of_lanes
        kind = np.searchsorted(tables.correction_start, target, side="right") - 1
        order = np.lexsort((target, roll, kind))
        points, gift = tables.correction_points, tables.correction_gift
        record = self.record_of(tables.correction_offset, points, gift)
        keys = (kind * self.rolls + roll)[order]
        start = np.searchsorted(
            keys, np.arange(kinds)[:, None] * self.rolls + np.arange(self.rolls + 1)
        ).astype(np.int64)
        page = record * self.known_page
        totals, pages = (points + gift)[target][order], page[target][order]
        shifts = gift[target][order]
        heads = start[:, 1:-1]
        common = np.zeros(kinds, np.int64)
        if len(totals) and (start[:, 1:-1] < start[:, 2:]).all():
            same = (totals[heads] == totals[0]) & (pages[heads] == 0) & (shifts[heads] == 0)
            common = same.all(axis=1).astype(np.int64)
        return {
            "common": common,
            "common_total": int(totals[0]) if len(totals) else 0,
            "term_start": start,
            "term_prob": tables.correction_prob[order],
            "term_page": pages,
            "term_total": totals,
            "term_shift": shifts,
            "target_start": tables.correction_start,
            "target_page": page,
            "target_total": points + gift,
            "target_shift": gift,
            "target_first": tables.correction_first,
            "target_roll": roll,
            "target_prob": tables.correction_prob,
        }

    def _zero(self) -> Places:
        """Place of what no dice lead to, by kind of turn, from a group's first page."""
        tables, goal = self.tables, self.goal
        kinds = len(tables.sides)
        found = np.zeros((kinds, self.totals, self.width), np.int64)
        own, opponent = np.indices((goal, goal))
        constant = self.known_ring * self.width
        found[:] = constant
        for kind in range(kinds):
            to, other = own + tables.zero_points[kind], opponent + tables.zero_gift[kind]
            inside = (to < goal) & (other < goal)
            place = tables.zero_record[kind] * self.known_page + self._place(
                self.known_ring, to, other
            )
            won = constant + (tables.terminal_win[kind, :goal, :, 0] > 0.5)
            found[kind, own + opponent, opponent] = np.where(inside, place, won)
        return found.astype(np.int32)
