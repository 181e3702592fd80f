"""Where the numbers of a game lie whose vectors run over cells of a diagonal."""

from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels.cell_vectors import Board, Family, Shape
from hogeq.kernels.recurrence import Dice
from hogeq.model.layout import Tables
from hogeq.model.outcomes import dice_of
from hogeq.support.aliases import Floats, Ints

Places = NDArray[np.int32]


def suit_cell_vectors(tables: Tables) -> bool:
    """Whether cells of a diagonal are alike and do not feed each other, and no roll has a bonus."""
    goal = tables.dimensions.goal
    own, opponent = np.indices((goal, goal))
    situation = by_total(tables.situation)[own + opponent]
    is_alike = bool((situation == tables.situation).all())
    return is_alike and tables.dimensions.ring == 1


def stay_in_pairs(tables: Tables) -> bool:
    """Whether, without memory, no dice alone can leave the scores, and the other moves then."""
    goal = tables.dimensions.goal
    landed, moves_again = np.full(goal**2, -1), np.zeros(goal**2, bool)
    landed[tables.arrival_row] = np.repeat(np.arange(goal**2), np.diff(tables.arrival_start))
    moves_again[tables.arrival_row] = tables.arrival_again
    # Afterstates are numbered as the mirrored cells are.
    mirrored = np.arange(goal**2)
    stays = (tables.zero_points + tables.zero_gift)[0, :goal].T.ravel() == 0
    stays &= (landed >= 0) & (sum(np.divmod(landed, goal)) == sum(np.divmod(mirrored, goal)))
    return bool(
        len(tables.memory_slot) == len(tables.sides) == 1
        and (tables.outcome_points > 0).all()
        and (landed == mirrored)[stays].all()
        and not moves_again[stays].any()
    )


def by_total(table: NDArray[np.uint8]) -> Ints:
    """Of each total, what a table of cells has at the first of its cells."""
    goal = len(table)
    totals = np.arange(2 * goal - 1)
    own = np.maximum(totals - goal + 1, 0)
    return table[own, totals - own].astype(np.int64)


def _power_of_two(rows: int) -> int:
    """Round up to a power of two."""
    return 1 << max(0, rows - 1).bit_length()


class _Group(NamedTuple):
    """A kind of turn and a carried part of the memory; see :mod:`hogeq.kernels.cell_vectors`."""

    plane: int
    lane: int
    """Among those in use."""
    depth: int
    rolls: tuple[tuple[int, ...], ...]
    """By situation."""


class CellLayout:
    """Where a game's numbers lie when vectors run over cells of a diagonal.

    Attributes
    ----------
    shape : Shape
    board : Board
    blocks : int
        Of a diagonal.
    """

    def __init__(self, tables: Tables, cells: int) -> None:
        self.tables, self.cells = tables, cells
        goal = tables.dimensions.goal
        self.goal, self.num_actions = goal, tables.dimensions.num_actions
        self.slots = tables.memory_slot.tolist()
        width = len(tables.lane)
        self.lanes = sorted({slot % width for slot in self.slots})
        self.lane_of = [self.lanes.index(slot % width) for slot in self.slots]
        self.ends = 1 + int(tables.plane_again.max())
        gifts = max(int(tables.target_gift.max(initial=0)), int(tables.zero_gift.max()))
        rows = tables.target_points + tables.target_gift
        beyond = max(int(tables.sides.max()), int(rows.max(initial=0)))
        self.blocks = -(-goal // cells)
        own, opponent = np.indices((goal, goal))
        inside = (own + tables.zero_points < goal) & (opponent + tables.zero_gift < goal)
        furthest = int((tables.zero_points + tables.zero_gift)[inside].max(initial=0))
        self.board = Board(
            goal=goal,
            width=-(-(self.blocks * cells + gifts) // cells) * cells,
            afterstate_rows=_power_of_two(max(beyond, furthest) + 1),
            cell_rows=_power_of_two(1 + self._furthest_landing()),
            beyond=beyond,
            given=gifts,
        )
        self.planes = tables.mode_plane[self._modes()]  # by situation, memory and roll
        self._lay_out_groups()
        depth = max(family.dice.depth for family in self.families)
        most = int(tables.sides.max())
        self.shape = Shape(
            num_actions=self.num_actions,
            memories=len(self.slots),
            start=self.slots.index(tables.start),
            pages=self.ends * len(self.lanes) * tables.dimensions.records,
            lines=int(self.line_count),
            sums=self.sums,
            edge_depth=max(1, depth),
            edge_blocks=-(-most // cells) + 1,
            most_sides=most,
            moves_again=bool(tables.arrival_again.any()),
            stays=bool(self.stays.any()),
            families=self.families,
        )

    @property
    def afterstate_page(self) -> int:
        """Numbers of a page."""
        return self.board.afterstate_rows * self.board.width + self.cells

    @property
    def cell_page(self) -> int:
        """Numbers of a page."""
        return self.board.cell_rows * self.board.width + self.cells

    def _furthest_landing(self) -> int:
        """Find by how much a landing raises the total at most."""
        cell = np.repeat(np.arange(self.goal**2), np.diff(self.tables.arrival_start))
        raised = sum(np.divmod(cell, self.goal)) - sum(
            np.divmod(self.tables.arrival_row, self.goal)
        )
        return int(np.max(raised, initial=0))

    def _modes(self) -> Ints:
        """Mode of every roll, by situation and memory: (S, H, K)."""
        tables, width = self.tables, len(self.tables.lane)
        modes = np.repeat(tables.default_mode[:, None], len(self.slots), axis=1)
        for situation, bounds in enumerate(tables.exception_start):
            for memory, slot in enumerate(self.slots):
                active, lane = divmod(slot, width)
                for x in range(bounds[active], bounds[active + 1]):
                    if tables.exception_low[x] <= lane < tables.exception_high[x]:
                        modes[situation, memory, tables.exception_roll[x]] = tables.exception_mode[
                            x
                        ]
        return modes

    # --- groups, families and lines ---

    def _group(self, plane: int, lane: int) -> _Group:
        """List which rolls of a group some memory plays."""
        dice = self.tables.plane_dice[plane]
        members = np.array(self.lane_of) == lane
        rolls = []
        for planes in self.planes:
            is_played = (planes[members] == plane).any(axis=0)
            if is_played[1:].sum() > 1:
                # Rolls that nobody plays do no harm, and leave fewer families.
                is_played[1:] = True
            rolls.append(tuple(np.flatnonzero(is_played).tolist()))
        summed = [roll for some in rolls for roll in some if self.tables.is_sum[dice, roll]]
        return _Group(plane, lane, max(summed, default=0), tuple(rolls))

    def _lay_out_groups(self) -> None:
        """Sort groups by family; number their sums, and their lines in each situation."""
        tables = self.tables
        pairs = {
            (int(plane), lane)
            for memory, lane in enumerate(self.lane_of)
            for plane in np.unique(self.planes[:, memory])
        }
        groups = [self._group(*pair) for pair in pairs]
        groups.sort(key=lambda x: (int(tables.plane_dice[x.plane]), x.rolls, x.lane, x.plane))
        families: list[Family] = []
        rows, sums = [], 0
        self.source = np.zeros((len(self.planes), len(self.slots), self.num_actions), np.int64)
        lines = np.zeros(len(self.planes), np.int64)
        for number, group in enumerate(groups):
            kind = int(tables.plane_dice[group.plane])
            alike = families[-1] if families else None
            if alike is None or (alike.kind, alike.rolls) != (kind, group.rolls):
                alike = Family(number, number, kind, group.rolls, self._dice(kind, group))
                families.append(alike)
            families[-1] = alike._replace(end=number + 1)
            page = int(tables.plane_again[group.plane]) * len(self.lanes) + group.lane
            rows.append([page * tables.dimensions.records, sums, *lines])
            sums += group.depth * (alike.dice.sides + 1)
            for situation, rolls in enumerate(group.rolls):
                for x, roll in enumerate(rolls):
                    plays = self.planes[situation, :, roll] == group.plane
                    plays &= np.array(self.lane_of) == group.lane
                    self.source[situation, plays, roll] = lines[situation] + x
                lines[situation] += len(rolls)
        self.families, self.groups = tuple(families), np.array(rows, np.int64)
        self.sums, self.line_count = sums, lines.max()

    def _dice(self, kind: int, group: _Group) -> Dice:
        """Describe what a group's rolls lead to."""
        played = {roll for rolls in group.rolls for roll in rolls}
        dice, targets = dice_of(self.tables, kind), []
        for target in dice.targets:
            ways = tuple(way for way in target.ways if way[0] in played)
            if ways:
                targets.append(target._replace(ways=ways))
        is_sum = tuple(x and roll <= group.depth for roll, x in enumerate(dice.is_sum))
        return dice._replace(depth=group.depth, is_sum=is_sum, targets=tuple(targets))

    # --- tables by cell ---

    @cached_property
    def handover(self) -> Ints:
        """Of every page of afterstates, its end and the memories that move next, (C, 3)."""
        memory_of = {slot: memory for memory, slot in enumerate(self.slots)}
        rows = [
            (
                end,
                *(
                    again * len(self.slots)
                    + memory_of.get(int(self.tables.next_memory[again, record, lane]), 0)
                    for again in (0, 1)
                ),
            )
            for end, lane, record in product(
                range(self.ends), self.lanes, range(self.tables.dimensions.records)
            )
        ]
        return np.array(rows, np.int64)

    @cached_property
    def landing(self) -> Places:
        """Twice the place of the cell on which an afterstate lands, + 1 for the same player."""
        tables, goal, board = self.tables, self.goal, self.board
        opponent, own = np.divmod(tables.arrival_row, goal)
        cell = np.repeat(np.arange(goal**2), np.diff(tables.arrival_start))
        wins = tables.wins.astype(np.int64)
        total, there = np.ogrid[: 2 * goal - 1 + board.beyond, : board.width]
        here = total - there
        won = wins[np.clip(here, 0, len(wins) - 1), np.minimum(there, wins.shape[1] - 1)]
        lands = np.zeros(won.shape, bool)
        lands[own + opponent, opponent] = True
        won = np.where((here >= 0) & ~lands, won, 0)
        constants = self.cell_page - self.cells
        found = np.repeat(2 * (constants + won * (self.cells - 1))[None], self.ends, axis=0)
        mover, other = np.divmod(cell, goal)
        place = (mover + other) % board.cell_rows * board.width + other
        found[tables.arrival_end, own + opponent, opponent] = 2 * place + tables.arrival_again
        return found.astype(np.int32)

    @cached_property
    def no_dice(self) -> Places:
        """Place of what no dice lead to, by kind of turn, from a group's first page."""
        tables, goal, board = self.tables, self.goal, self.board
        own, opponent = np.indices((goal, goal))
        constants = self.afterstate_page - self.cells
        found = np.full((len(tables.sides), 2 * goal - 1, board.width), constants, np.int64)
        for kind, rows in enumerate(found):
            to, other = own + tables.zero_points[kind], opponent + tables.zero_gift[kind]
            place = (to + other) % board.afterstate_rows * board.width + other
            place += tables.zero_record[kind] * self.afterstate_page
            won = tables.terminal_win[kind, :goal, :, 0] > 0.5
            constant = constants + won * (self.cells - 1)
            inside = (to < goal) & (other < goal) & ~self.stays[own + opponent, opponent]
            rows[own + opponent, opponent] = np.where(inside, place, constant)
        return found.astype(np.int32)

    @cached_property
    def stays(self) -> NDArray[np.bool_]:
        """By total and opponent's score, whether no dice leave both scores as they were."""
        own, opponent = np.indices((self.goal, self.goal))
        points = (self.tables.zero_points + self.tables.zero_gift)[0, : self.goal]
        mirrored = (own + opponent) % self.board.cell_rows * self.board.width + own
        lands = self.landing[0][own + opponent, opponent] == 2 * mirrored
        found = np.zeros((2 * self.goal - 1, self.board.width), bool)
        found[own + opponent, opponent] = (points == 0) & lands
        return found

    @cached_property
    def edge(self) -> Floats:
        """Sums of dice from scores past the goal, by kind, total, block before it and number."""
        tables, goal, cells, shape = self.tables, self.goal, self.cells, self.shape
        most, depth, edges = shape.most_sides, shape.edge_depth, shape.edge_blocks
        found = np.zeros((len(tables.sides), goal - 1 + most, edges, depth, cells))
        beyond, edge, cell = np.ogrid[: found.shape[1], :edges, :cells]
        there = (beyond // cells - edge) * cells + cell
        past = beyond + goal - there
        used = (there >= 0) & (there < goal) & (past >= goal) & (past < goal + most)
        at = np.broadcast_to(past, used.shape)[used], np.broadcast_to(there, used.shape)[used]
        rows = np.minimum(np.arange(goal + most * (depth + 1)), len(tables.wins) - 1)
        for kind, sides in enumerate(tables.sides.tolist()):
            sums = tables.wins[rows, :goal].astype(np.float64)
            for dice in range(depth):
                found[kind, :, :, dice][used] = sums[at]
                further = [np.roll(sums, -face, axis=0) for face in range(2, sides + 1)]
                sums = np.add.reduce(further) / sides
        return found
