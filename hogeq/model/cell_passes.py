"""Passes over games with small memories, by kernels written for their terms.

Vectors run over cells of a diagonal; first, where the numbers of a game then lie.
"""

from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from hogeq.graph.turns import AGAIN, WIN
from hogeq.kernels.arrays import EVALUATE, Dice
from hogeq.kernels.cell_passes import write_reach, write_values
from hogeq.kernels.cell_vectors import Board, Family, Shape
from hogeq.kernels.program import Program, zeros
from hogeq.model.protocol import Reach, WinRate
from hogeq.model.tables import Tables
from hogeq.support.aliases import Floats, Ints

Places = NDArray[np.int32]


def suit_cell_vectors(tables: Tables) -> bool:
    """Whether cells of a diagonal are alike and do not feed each other, and no roll has a bonus."""
    own, opponent = np.indices(tables.situation.shape)
    situation = by_total(tables.situation)[own + opponent]
    is_alike = bool((situation == tables.situation).all())
    return is_alike and tables.most_bonus == 0


def _inside(tables: Tables) -> tuple[Ints, ...]:
    """Landings from scores below the goal."""
    return tuple(column[: tables.goal, : tables.goal] for column in tables.landings)


def by_total(table: NDArray[np.uint8]) -> Ints:
    """Entry of a table of cells at the first cell of each total."""
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
    lane: int  # among those in use
    depth: int
    rolls: tuple[tuple[int, ...], ...]  # by situation


class CellLayout:
    """Where a game's numbers lie when vectors run over cells of a diagonal."""

    def __init__(self, tables: Tables, cells: int) -> None:
        self.tables, self.cells = tables, cells
        self.goal = goal = tables.goal
        self.num_actions, self.memories = tables.num_actions, len(tables.lane)
        self.lanes = tables.following.shape[2]
        self.ends = 1 + int(tables.plane_forces.max())
        self.most_sides = max(dice.sides for dice in tables.dice)
        targets = [target for dice in tables.dice for target in dice.targets]
        gifts = max(int(tables.zero_gift.max()), *(target.gift for target in targets))
        beyond = max(self.most_sides, *(target.points + target.gift for target in targets))
        self.blocks = -(-goal // cells)
        own, opponent = np.indices((goal, goal))
        inside = (own + tables.zero_points < goal) & (opponent + tables.zero_gift < goal)
        furthest = int((tables.zero_points + tables.zero_gift)[inside].max(initial=0))
        kind, mine, yours = _inside(tables)
        raised = int((mine + yours - own - opponent)[kind < WIN].max(initial=0))
        self.board = Board(
            goal=goal,
            width=-(-(self.blocks * cells + gifts) // cells) * cells,
            afterstate_rows=_power_of_two(max(beyond, furthest) + 1),
            cell_rows=_power_of_two(1 + raised),
            beyond=beyond,
            given=gifts,
        )
        self.afterstate_page = self.board.afterstate_rows * self.board.width + cells  # numbers
        self.cell_page = self.board.cell_rows * self.board.width + cells
        self._lay_out_groups()
        depth = max(family.dice.depth for family in self.families)
        self.shape = Shape(
            num_actions=self.num_actions,
            memories=self.memories,
            pages=self.ends * self.lanes * tables.records,
            lines=int(self.line_count),
            sums=self.sums,
            edge_depth=max(1, depth),
            edge_blocks=-(-self.most_sides // cells) + 1,
            most_sides=self.most_sides,
            moves_again=self.ends > 1 or bool((kind == AGAIN).any()),
            families=self.families,
        )

    # --- groups, families and lines ---

    def _group(self, plane: int, lane: int) -> _Group:
        """List which rolls of a group some memory plays."""
        members, rolls = self.tables.lane == lane, []
        for planes in self.tables.plane:
            is_played = (planes[members] == plane).any(axis=0)
            if is_played[1:].sum() > 1:
                # Rolls that nobody plays do no harm, and leave fewer families.
                is_played[1:] = True
            rolls.append(tuple(np.flatnonzero(is_played).tolist()))
        is_sum = self.tables.dice[self.tables.plane_kind[plane]].is_sum
        summed = [roll for some in rolls for roll in some if is_sum[roll]]
        return _Group(plane, lane, max(summed, default=0), tuple(rolls))

    def _lay_out_groups(self) -> None:
        """Sort groups by family; number their sums, and their lines in each situation."""
        tables = self.tables
        pairs = {
            (int(plane), int(lane))
            for memory, lane in enumerate(tables.lane)
            for plane in np.unique(tables.plane[:, memory])
        }
        groups = [self._group(*pair) for pair in pairs]
        groups.sort(key=lambda x: (int(tables.plane_kind[x.plane]), x.rolls, x.lane, x.plane))
        families: list[Family] = []
        rows, sums = [], 0
        self.source = np.zeros_like(tables.plane)
        lines = np.zeros(len(tables.plane), np.int64)
        for number, group in enumerate(groups):
            kind = int(tables.plane_kind[group.plane])
            alike = families[-1] if families else None
            if alike is None or (alike.kind, alike.rolls) != (kind, group.rolls):
                alike = Family(number, number, kind, group.rolls, self._dice(kind, group))
                families.append(alike)
            families[-1] = alike._replace(end=number + 1)
            page = int(tables.plane_forces[group.plane]) * self.lanes + group.lane
            rows.append([page * tables.records, sums, *lines])
            sums += group.depth * (alike.dice.sides + 1)
            for situation, rolls in enumerate(group.rolls):
                for x, roll in enumerate(rolls):
                    plays = tables.plane[situation, :, roll] == group.plane
                    plays &= tables.lane == group.lane
                    self.source[situation, plays, roll] = lines[situation] + x
                lines[situation] += len(rolls)
        self.families, self.groups = tuple(families), np.array(rows, np.int64)
        self.sums, self.line_count = sums, lines.max()

    def _dice(self, kind: int, group: _Group) -> Dice:
        """Describe the targets of a group's rolls."""
        played = {roll for rolls in group.rolls for roll in rolls}
        dice, targets = self.tables.dice[kind], []
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
        following = self.tables.following
        rows = [
            (end, *(again * self.memories + following[again, record, lane] for again in (0, 1)))
            for end, lane, record in product(
                range(self.ends), range(self.lanes), range(self.tables.records)
            )
        ]
        return np.array(rows, np.int64)

    @cached_property
    def landing(self) -> Places:
        """Twice the place of the cell on which an afterstate lands, + 1 for the same player."""
        goal, board = self.goal, self.board
        wins = (self.tables.landings.kind == WIN).astype(np.int64)
        total, there = np.ogrid[: 2 * goal - 1 + board.beyond, : board.width]
        here = total - there
        won = wins[np.clip(here, 0, len(wins) - 1), np.minimum(there, wins.shape[1] - 1)]
        constants = self.cell_page - self.cells
        place = 2 * (constants + np.where(here >= 0, won, 0) * (self.cells - 1))
        found = np.repeat(place[None], self.ends, axis=0)
        kind, mine, yours = _inside(self.tables)
        own, opponent = np.nonzero(kind < WIN)
        mine, yours = mine[own, opponent], yours[own, opponent]
        for forced in range(self.ends):
            again = (kind[own, opponent] == AGAIN) | bool(forced)
            place = (mine + yours) % board.cell_rows * board.width + np.where(again, yours, mine)
            found[forced, own + opponent, opponent] = 2 * place + again
        return found.astype(np.int32)

    @cached_property
    def no_dice(self) -> Places:
        """Place of the afterstate of no dice, by kind of turn, from a group's first page."""
        tables, goal, board = self.tables, self.goal, self.board
        own, opponent = np.indices((goal, goal))
        constants = self.afterstate_page - self.cells
        found = np.full((len(tables.dice), 2 * goal - 1, board.width), constants, np.int64)
        for kind, rows in enumerate(found):
            to, other = own + tables.zero_points[kind], opponent + tables.zero_gift[kind]
            place = (to + other) % board.afterstate_rows * board.width + other
            place += tables.zero_record[kind] * self.afterstate_page
            won = tables.terminal_win[kind, :goal, :, 0] > 0.5
            constant = constants + won * (self.cells - 1)
            inside = (to < goal) & (other < goal)
            rows[own + opponent, opponent] = np.where(inside, place, constant)
        return found.astype(np.int32)

    @cached_property
    def edge(self) -> Floats:
        """Sums of dice from scores past the goal, by kind, total, block before it and number."""
        tables, goal, cells, shape = self.tables, self.goal, self.cells, self.shape
        most, depth, edges = shape.most_sides, shape.edge_depth, shape.edge_blocks
        wins = (tables.landings.kind == WIN)[:, :goal].astype(np.float64)
        found = np.zeros((len(tables.dice), goal - 1 + most, edges, depth, cells))
        beyond, edge, cell = np.ogrid[: found.shape[1], :edges, :cells]
        there = (beyond // cells - edge) * cells + cell
        past = beyond + goal - there
        used = (there >= 0) & (there < goal) & (past >= goal) & (past < goal + most)
        at = np.broadcast_to(past, used.shape)[used], np.broadcast_to(there, used.shape)[used]
        rows = np.minimum(np.arange(goal + most * (depth + 1)), len(wins) - 1)
        for kind, sides in enumerate(dice.sides for dice in tables.dice):
            sums = wins[rows]
            for dice in range(depth):
                found[kind, :, :, dice][used] = sums[at]
                further = [np.roll(sums, -face, axis=0) for face in range(2, sides + 1)]
                sums = np.add.reduce(further) / sides
        return found


# --- passes ---------------------------------------------------------------------------------------


class CellPasses:
    """Passes of one player (self-play), or of one player against n opponents."""

    def __init__(
        self, tables: Tables, players: int, dtype: DTypeLike = np.float64, matches: int = 1
    ) -> None:
        cells = 64 // np.dtype(dtype).itemsize
        layout = CellLayout(tables, cells)
        shape, board = layout.shape, layout.board
        seats = matches * players
        self._values = Program(write_values, shape, dtype)
        self._reach_program = Program(write_reach, shape, dtype)
        self._both = {
            **board._asdict(),
            "players": players,
            "landing": layout.landing,
            "no_dice": layout.no_dice,
            "handover": layout.handover,
            "groups": layout.groups,
            "situation": by_total(tables.situation),
            "source": layout.source,
            "sums": zeros((seats * layout.blocks * shape.sums * cells,), dtype),
            "lines": zeros((matches * shape.lines * cells,), dtype),
        }
        self._forward = {
            "begun": 1.0 / players,
            "landed": zeros((shape.pages * cells,), dtype),
            "afterstates": zeros((players * shape.pages, layout.afterstate_page), dtype),
            "cells": zeros((players * 2 * shape.memories, layout.cell_page), dtype),
        }
        afterstates = zeros((seats * shape.pages, layout.afterstate_page), dtype)
        values = zeros((seats * 2 * shape.memories, layout.cell_page), dtype)
        afterstates[:, -1] = values[:, -1] = 1.0
        totals = 2 * board.goal - 1
        self._reach = zeros((matches, totals * shape.memories * board.width), dtype)
        self._starts, self._changes = np.zeros((matches, players)), np.zeros(1)
        self.action_values = np.zeros((board.goal, board.goal, shape.num_actions))
        self.each_reach = np.zeros((matches, board.goal, board.goal))
        self._backward = {
            "matches": matches,
            "edge": layout.edge.astype(dtype),
            "afterstates": afterstates,
            "cells": values,
            "row": zeros((shape.num_actions * cells,), np.float64),
            "averages": zeros((shape.num_actions * cells,), dtype),
            "reach": self._reach,
            "starts": self._starts,
            "action_values": self.action_values,
            "changes": self._changes,
        }

    def forward(self, policies: Floats, *, memories: bool = True) -> Floats:
        """Fill the reach of cells; see :meth:`hogeq.model.workspace.Layout.forward`."""
        for match, cells in enumerate(self.each_reach):
            self._reach_program(
                **self._both,
                **self._forward,
                keeps_memories=int(memories),
                opponent=1 + match,
                policies=policies,
                reach=self._reach[match],
                infoset_reach=cells,
            )
        return self.each_reach

    def backward(
        self, role: int, policies: Floats, reach: Reach, temperature: float, damping: float
    ) -> tuple[Floats, int]:
        """Pass over all cells; see :meth:`hogeq.model.workspace.Layout.backward`."""
        self._values(
            **self._both,
            **self._backward,
            role=int(role),
            are_matrices=int(policies.ndim == 3),
            policies=policies.reshape(-1),
            weights=reach.weights,
            infoset_reach=reach.rows,
            temperature=float(temperature),
            damping=float(damping),
        )
        return self._starts, int(self._changes[0])

    def win_rate(self, matrices: Ints) -> WinRate:
        """Exact win rate of the first of two matrices, int64 (2, G, G)."""
        rolls = matrices.astype(np.float64)
        reach = Reach(self.each_reach[0], np.ones(1))
        starts, _ = self.backward(EVALUATE, rolls, reach, 1.0, 1.0)
        return WinRate.from_starts(*starts[0].tolist())
