"""The layout for small memories: a vector holds neighbouring cells of a diagonal.

A *diagonal* is the cells of one total, own score plus opponent's score. They do not feed each
other, and a roll of p points leads from total T to total T + p at the same opponent's score. So
what is kept lies in rows by total, by opponent's score along the row. Neighbouring cells then find
what they need in neighbouring numbers, and all weigh it alike. The memory is an outer index.

A *block* is the cells of one vector: their opponent's scores are a multiple of its width and those
above. A *page* has the afterstates of one record, one part of the memory that is only carried, and
one way of the turn to end; or the cells of one memory. It is a ring of as many rows as are in use,
a power of two, and ends with a vector of constants: 0, and its last number is 1. A *group* is a
kind of turn together with the carried part of the memory: its rolls lead to the same pages. A
*line* is one roll of one group, which some memories play.

Reach goes forward in the same numbers.
"""

from typing import NamedTuple

from llvmlite import ir

from hogeq.kernels.arrays import Dice
from hogeq.kernels.staged import BOOL, DOUBLE, lane_numbers
from hogeq.kernels.vectors import gather, scatter


class Family(NamedTuple):
    """Groups that are alike, neighbours in the table `groups`."""

    first_group: int  # row of the table
    end_group: int  # row after the last
    kind: int  # of the dice, among those of the game
    situation_rolls: tuple[tuple[int, ...], ...]  # by situation, the rolls that have a line
    dice: Dice


class Shape(NamedTuple):
    """Constants of kernels, the same at any goal."""

    num_actions: int  # K
    num_memories: int  # H
    num_pages: int  # of afterstates
    most_lines: int  # of a situation
    num_sums: int  # vectors of sums that a block has
    past_goal_depth: int  # numbers of dice whose sums are in the table `sums_past_goal`
    past_goal_blocks: int  # blocks of each total in it
    most_sides: int  # of any dice
    moves_again: bool  # whether a player can ever move twice
    families: tuple[Family, ...]

    @property
    def situations(self) -> int:
        """Kinds of diagonals, which differ in the dice or in the memories' use of them."""
        return len(self.families[0].situation_rolls)


class Board(NamedTuple):
    """Arguments of kernels that depend on the goal, the same for both passes."""

    goal: int
    row_width: int  # numbers of a row, by opponent's score
    afterstate_rows: int  # of a page: totals that are in use at once
    cell_rows: int
    afterstate_page: int  # numbers of a page: its rows, and a vector of constants
    cell_page: int
    sums_size: int  # numbers of the sums of all blocks
    totals_beyond: int  # totals past a cell's that its rolls look at
    most_gift: int  # most points that a turn gives to the opponent


class Diagonal:
    """The cells of a total of both scores, an Index, and where in arrays their numbers lie.

    `lowest` is the opponent's score if the own is highest. A block is the cells of one vector:
    those of this total go from number `first_block` to before `end_block`. A page of afterstates
    (scores after a turn) or of cells is a ring of rows by total, each by opponent's score;
    positions are indices into an array, known when the emitted code runs. `sums_past_goal` is a
    table of sums of dice from own scores past the goal, None in the pass of reach.
    """

    def __init__(self, code, shape, args, total, sums_past_goal=None):
        self.code = code
        self.shape = shape
        self.args = args
        self.total = total
        self.sums_past_goal = sums_past_goal
        self.lowest = total - (args.goal - 1)
        self.first_block = self.lowest.at_least(0) // code.width
        self.end_block = total.at_most(args.goal - 1) // code.width + 1

    def afterstate_row(self, away=0):
        """Position on a page of the row of afterstates whose total is `away` higher."""
        return ((self.total + away) & (self.args.afterstate_rows - 1)) * self.args.row_width

    def cell_row(self):
        """Position on a page of the diagonal's row of cells."""
        return (self.total & (self.args.cell_rows - 1)) * self.args.row_width

    @property
    def num_totals(self):
        """Number of diagonals, an Index."""
        return self.args.goal * 2 - 1

    def afterstate_position(self, page, block):
        """Position, among the pages of a seat, of a block of afterstates."""
        row = page * self.args.afterstate_page + self.afterstate_row()
        return row + block * self.code.width

    def roll_entries(self, situation, memory):
        """Index, in `line_of_roll`, of a memory's first roll in a situation."""
        return (situation * self.shape.num_memories + memory) * self.shape.num_actions

    def reach_row(self, match):
        """Row of the first memory in the array `reach`, by match, total and memory."""
        return (self.num_totals * match + self.total) * self.shape.num_memories

    def pages_of(self, seat):
        """Return the pages of afterstates of a player of a match: seat match * players + player."""
        return self.args.afterstates[seat * self.args.afterstate_page * self.shape.num_pages :]

    def cells_of(self, seat):
        """Return the pages of cells of a seat."""
        return self.args.cells[seat * self.args.cell_page * (2 * self.shape.num_memories) :]

    def no_dice(self, kind, block):
        """Read the positions, on a group's pages, to which no dice lead from a block's cells.

        By the kind of dice; LLVM's vector.
        """
        row = self.num_totals * kind + self.total
        return self.args.no_dice.indices(row * self.args.row_width + block * self.code.width)


class Block:
    """The cells of a vector: reads and writes arrays (G, G, n), by own and opponent's score.

    `opponent` is the opponent's score at the first one. From each cell to the next, the own score
    falls and the opponent's rises by 1: so its number, own * G + opponent's, rises by 1 - G.
    """

    def __init__(self, diagonal, block):
        """Emit which lanes of the vector are cells on the board, and where the first one is."""
        self.diagonal, self.block = diagonal, block
        self.code = diagonal.code
        self.args = diagonal.args
        self.shape = diagonal.shape
        code, goal = diagonal.code, diagonal.args.goal
        width, builder = code.width, code.builder
        self.opponent = block * width
        # Lanes from `low` to below `high` have both scores from 0 to below the goal.
        low = diagonal.lowest - self.opponent
        high = (diagonal.total + 1).at_most(goal) - self.opponent
        lanes = lane_numbers(width)
        self.is_on_board = builder.and_(
            builder.icmp_signed(">=", lanes, code.broadcast(low.value, width)),
            builder.icmp_signed("<", lanes, code.broadcast(high.value, width)),
        )
        self.first_cell = (diagonal.total - self.opponent) * goal + self.opponent
        self._steps = builder.mul(lanes, code.broadcast((1 - goal).value, width))

    def row_position(self, row):
        """Position of the cells in an array of rows by opponent's score."""
        return row * self.args.row_width + self.opponent

    def page_position(self, memory):
        """Position, among the pages of a seat, of the cells in a memory."""
        return memory * self.args.cell_page + self.diagonal.cell_row() + self.opponent

    def _positions(self, size):
        """Emit the cells' positions, from the first one on, in arrays of `size` numbers a cell."""
        builder, count = self.code.builder, self._steps.type.count
        return builder.mul(self._steps, self.code.broadcast(self.code.index(size).value, count))

    def read(self, table, size=1):
        """Read `size` numbers of each cell, 0 off the board: so many Vectors."""
        positions, first = self._positions(size), self.first_cell * size
        return [
            gather(table[first + number :], positions, self.is_on_board) for number in range(size)
        ]

    def write(self, table, vectors, size=1):
        """Write `size` numbers of each cell on the board, from so many vectors in memory."""
        positions, first = self._positions(size), self.first_cell * size
        for number in range(size):
            vector = vectors.nth_vector(number).converted(DOUBLE)
            scatter(table[first + number :], positions, vector, self.is_on_board)


class _GroupBase:
    """The bases of a block's cells in one group: where the numbers that their rolls need lie.

    A base, in the sense of :class:`hogeq.kernels.recurrence.Base`, is the scores from which a roll
    counts its points; here a block of them, the cells of one vector. A group is a kind of turn with
    one part of the memory carried along, a family has the groups of equal rolls. A page is a block
    of memory with a number for each afterstate, the scores after a turn, of one record (what is
    remembered of the turn): `page` has the numbers from the group's first page on. `sums` has what
    sums of n dice are worth from the block's cells, or their reach. The diagonal's `sums_past_goal`
    has those of own scores past the goal, and is None in the pass of reach.
    """

    num_registers = 1

    def __init__(self, diagonal, family, block, page, sums):
        self.code = diagonal.code
        self.diagonal = diagonal
        self.family = family
        self.block = block
        self.page = page
        self.sums = sums
        self.is_reach = diagonal.sums_past_goal is None
        self.no_dice_positions = None
        """Positions of the afterstates of no dice on the group's pages, if they are rolled."""

    def _position(self, record, points, gift):
        """Index, from `page` on, of the scores after a turn; a gift raises the opponent's score."""
        first = record * self.diagonal.args.afterstate_page + gift
        return first + self.diagonal.afterstate_row(points + gift) + self.block * self.code.width

    def afterstate(self, record, points, gift=0):
        return self.page.vector(self._position(record, points, gift))

    def add_to_afterstate(self, record, points, gift, flow):
        position = self._position(record, points, gift)
        self.page.put(position, flow + self.page.vector(position))

    def _sum_position(self, dice, away):
        """Position, in `sums`, of S(dice, x): what so many dice are worth from a score `away`.

        The sums of a number of dice lie in a ring, of as many totals as a pass still needs.
        """
        ring = self.family.dice.sides + (1 if self.is_reach else 0)
        # Sums of values come from above, those of reach from below.
        away = -away if self.is_reach else away
        row = (self.diagonal.total + (away + ring)) % ring
        return (row + (dice - 1) * ring) * self.code.width

    def sum_of(self, dice, away):
        return self.sums.vector(self._sum_position(dice, away))

    def put_sum(self, dice, away, value):
        self.sums.put(self._sum_position(dice, away), value)

    def replace_past_goal(self, dice, away, value):
        """Replace sums of dice, S(dice, x), where the own score is past the goal, by known ones.

        `value` is the Vector of the win probabilities by the sum of so many dice, from own scores
        `away` points above those of the base. It has neighbouring cells of one total of both scores
        (a block), by the opponent's score from the lowest on. So the cells past the goal are its
        first `count` numbers. Their sums are in the table `sums_past_goal`, by kind of dice, total
        less the goal, block (counted back from that of the cell at the goal), number of dice, and
        cell of the block; :attr:`hogeq.model.cell_passes.CellLayout.sums_past_goal` makes it. The
        pass of reach has no such table.
        """
        is_unread = dice == self.family.dice.most_summed  # no sum reads that of the most dice
        if self.is_reach or is_unread:
            return value
        shape, goal, width = self.diagonal.shape, self.diagonal.args.goal, self.code.width
        beyond = self.diagonal.total + (away - goal)  # opponent's score of the cell at the goal
        count = beyond + 1 - self.block * width
        num_totals = goal - 1 + shape.most_sides  # of each kind of dice
        total_row = (beyond + self.family.kind * num_totals) * shape.past_goal_blocks
        first_sum = (total_row + beyond // width - self.block) * (shape.past_goal_depth * width)
        first_sum = self.code.select(count >= 1, first_sum, self.code.index(0))
        known_sums = self.diagonal.sums_past_goal.vector(first_sum + dice * width)
        return value.with_first_replaced(count, known_sums)

    def win_at_once(self, roll):  # noqa: ARG002 - the pages' constants have it
        return None

    def no_dice(self):
        if self.no_dice_positions is None:
            return None
        return gather(self.page, self.no_dice_positions)


def each_group(diagonal, block, seat):
    """Emit a loop over the groups of each family; the body of the `for` statement emits its body.

    A group is a kind of turn with one part of the memory carried along; a family has groups of
    equal rolls, and its body is emitted once for all of them. Yields, for a block (the cells of one
    vector) and a seat (a player of a match): the family; the group's base, which reads and writes
    the numbers that its rolls need; and the group's row of the table `groups`, which is Data: its
    first page (block of memory of the scores after a turn), its first vector of sums of dice, and
    its first line (vector of one roll) by situation, a kind of cell.
    """
    code, shape, args, pages = diagonal.code, diagonal.shape, diagonal.args, diagonal.pages_of(seat)
    sums = args.sums[seat * args.sums_size :]
    for family in shape.families:
        with code.loop(family.first_group, family.end_group) as group:
            row = args.groups[group * (2 + shape.situations) :]
            page = pages[row.number(0) * args.afterstate_page :]
            sums_of_group = sums[(block * shape.num_sums + row.number(1)) * code.width :]
            yield family, _GroupBase(diagonal, family, block, page, sums_of_group), row


def landing_positions(diagonal, block, page):
    """Read the positions of the cells that follow a block of afterstates, once the turn has passed.

    Afterstates are the scores after a turn, cells those before the next, a block the neighbours in
    one vector; a page is a block of memory with the afterstates of one end of the turn, or the
    cells of one memory. Returned are positions among the cells of a seat (player of a match),
    LLVM's vector.

    The table `landing` has, by end of the turn, total and opponent's score, twice the position on a
    page, and 1 more if the same player moves again. A row of `handover` has the end of the turn of
    a page of afterstates, and the page of cells of the memory that moves next: of the other player,
    or of the same.
    """
    code, args, builder = diagonal.code, diagonal.args, diagonal.code.builder
    end, other_memory, own_memory = (args.handover.number(page * 3 + column) for column in range(3))
    row = (diagonal.num_totals + args.totals_beyond) * end + diagonal.total
    coded = args.landing.indices(row * args.row_width + block * code.width)
    page_start = code.broadcast((other_memory * args.cell_page).value, code.width)
    if diagonal.shape.moves_again:
        moves_again = builder.trunc(coded, ir.VectorType(BOOL, code.width))  # the lowest bit
        own_start = code.broadcast((own_memory * args.cell_page).value, code.width)
        page_start = builder.select(moves_again, own_start, page_start)
    position_on_page = builder.ashr(coded, ir.Constant(coded.type, [1] * code.width))
    return builder.add(page_start, position_on_page)
