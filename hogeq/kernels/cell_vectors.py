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

    first: int
    end: int
    kind: int  # of the dice, among those of the game
    rolls: tuple[tuple[int, ...], ...]  # by situation, the rolls that have a line
    dice: Dice


class Shape(NamedTuple):
    """Constants of kernels, the same at any goal."""

    num_actions: int
    memories: int
    pages: int  # of afterstates
    lines: int
    sums: int  # vectors that a block keeps of sums
    edge_depth: int
    edge_blocks: int
    most_sides: int
    moves_again: bool  # whether a player can ever move twice
    families: tuple[Family, ...]

    @property
    def situations(self) -> int:
        """Kinds of diagonals, which differ in the dice or in the memories' use of them."""
        return len(self.families[0].rolls)


class Board(NamedTuple):
    """Arguments of kernels that depend on the goal, the same for both passes."""

    goal: int
    width: int  # numbers of a row
    afterstate_rows: int
    cell_rows: int
    beyond: int  # totals past a cell's that its rolls look at
    given: int  # most points that a turn gives to the opponent


class Diagonal:
    """The cells of a total, and where rows of it begin."""

    def __init__(self, code, shape, args, total, edge=None):
        self.code, self.shape, self.args, self.total, self.edge = code, shape, args, total, edge
        self.lowest = total - (args.goal - 1)  # opponent's score on the board
        self.first = self.lowest.at_least(0) // code.width
        self.last = total.at_most(args.goal - 1) // code.width + 1
        self.afterstate_page = args.afterstate_rows * args.width + code.width
        self.cell_page = args.cell_rows * args.width + code.width
        self.sums_size = (args.goal + (code.width - 1)) // code.width * (shape.sums * code.width)

    def afterstates(self, away=0):
        """Position on a page."""
        return ((self.total + away) & (self.args.afterstate_rows - 1)) * self.args.width

    def cells(self):
        """Position on a page."""
        return (self.total & (self.args.cell_rows - 1)) * self.args.width

    def pages_of(self, seat):
        """Return the pages of afterstates of one seat at the table, a player of a match."""
        return self.args.afterstates[seat * self.afterstate_page * self.shape.pages :]

    def cells_of(self, seat):
        """Return the pages of cells of one seat at the table."""
        return self.args.cells[seat * self.cell_page * (2 * self.shape.memories) :]

    def no_dice(self, kind, block):
        """Read the places to which no dice lead, by the kind of dice."""
        row = (self.args.goal * 2 - 1) * kind + self.total
        return self.args.no_dice.indices(row * self.args.width + block * self.code.width)


class Block:
    """Cells of a vector: numbers of each in arrays by own score, then opponent's score."""

    def __init__(self, diagonal, block):
        self.diagonal, self.block = diagonal, block
        self.code = code = diagonal.code
        goal, width, builder = diagonal.args.goal, code.width, code.builder
        self.opponent = block * width
        low = diagonal.lowest - self.opponent
        high = (diagonal.total + 1).at_most(goal) - self.opponent
        lanes = lane_numbers(width)
        self.is_on_board = builder.and_(
            builder.icmp_signed(">=", lanes, code.broadcast(low.value, width)),
            builder.icmp_signed("<", lanes, code.broadcast(high.value, width)),
        )
        self.cell = (diagonal.total - self.opponent) * goal + self.opponent
        self._steps = builder.mul(lanes, code.broadcast((1 - goal).value, width))

    def _places(self, size):
        builder, count = self.code.builder, self._steps.type.count
        return builder.mul(self._steps, self.code.broadcast(self.code.index(size).value, count))

    def read(self, table, size=1):
        """Read so many numbers of each cell, 0 off the board: a list of Vectors."""
        places, first = self._places(size), self.cell * size
        return [gather(table[first + x :], places, self.is_on_board) for x in range(size)]

    def write(self, table, vectors, size=1):
        """Write so many vectors of an array to the cells on the board."""
        places, first = self._places(size), self.cell * size
        for x in range(size):
            vector = vectors.vector(x * self.code.width).converted(DOUBLE)
            scatter(table[first + x :], places, vector, self.is_on_board)


class _GroupBase:
    """A base, in the sense of :class:`hogeq.kernels.recurrence.Base`: a block's, in one group."""

    parts = 1

    def __init__(self, diagonal, family, block, page, sums):
        self.code, self.diagonal, self.family, self.block = diagonal.code, diagonal, family, block
        self.page, self.sums, self.edge = page, sums, diagonal.edge
        self.none = None
        """Places of what no dice lead to, if they are rolled here."""

    def _position(self, record, points, gift):
        first = record * self.diagonal.afterstate_page + gift
        return first + self.diagonal.afterstates(points + gift) + self.block * self.code.width

    def afterstate(self, record, points, gift=0):
        return self.page.vector(self._position(record, points, gift))

    def add_to_afterstate(self, record, points, gift, flow):
        at = self._position(record, points, gift)
        self.page.put(at, flow + self.page.vector(at))

    def _sum(self, dice, away):
        ring = self.family.dice.sides + (self.edge is None)
        away = away if self.edge else -away  # sums of values come from above
        row = (self.diagonal.total + (away + ring)) % ring
        return (row + (dice - 1) * ring) * self.code.width

    def sum_of(self, dice, away):
        return self.sums.vector(self._sum(dice, away))

    def put_sum(self, dice, away, value):
        self.sums.put(self._sum(dice, away), value)

    def replace_past_goal(self, dice, away, value):
        if self.edge is None or dice == self.family.dice.depth:  # then nothing is added to it
            return value
        shape, goal, width = self.diagonal.shape, self.diagonal.args.goal, self.code.width
        beyond = self.diagonal.total + (away - goal)  # opponent's score at the goal
        count = beyond + 1 - self.block * width
        row = (beyond + self.family.kind * (goal - 1 + shape.most_sides)) * shape.edge_blocks
        row = (row + beyond // width - self.block) * (shape.edge_depth * width)
        row = self.code.select(count >= 1, row, self.code.index(0))
        return value.with_first_replaced(count, self.edge.vector(row + dice * width))

    def win_at_once(self, roll):  # noqa: ARG002 - the pages' constants have it
        return None

    def no_dice(self):
        if self.none is None:
            return None
        return gather(self.page, self.none)


def each_group(diagonal, block, seat):
    """Write the same for every group: its family, its base, and its row of the table `groups`.

    A row has a page, a vector of the block's sums, and by situation the group's first line.
    """
    code, shape, args, pages = diagonal.code, diagonal.shape, diagonal.args, diagonal.pages_of(seat)
    sums = args.sums[seat * diagonal.sums_size :]
    for family in shape.families:
        with code.loop(family.first, family.end) as group:
            row = args.groups[group * (2 + shape.situations) :]
            page = pages[row.number(0) * diagonal.afterstate_page :]
            piece = sums[(block * shape.sums + row.number(1)) * code.width :]
            yield family, _GroupBase(diagonal, family, block, page, piece), row


def landings(diagonal, block, page):
    """Read where a block of afterstates lands: places among the cells of a seat.

    `landing` has twice the place on a page, and 1 more if the same player moves again, by the way
    of the turn to end, total and opponent's score. A row of `handover` has a page's way to end, and
    the page of the memory that moves next: of the other player, or of the same.
    """
    code, args, builder = diagonal.code, diagonal.args, diagonal.code.builder
    end, other, again = (args.handover.number(page * 3 + x) for x in range(3))
    row = (args.goal * 2 - 1 + args.beyond) * end + diagonal.total
    found = args.landing.indices(row * args.width + block * code.width)
    start = code.broadcast((other * diagonal.cell_page).value, code.width)
    if diagonal.shape.moves_again:
        moves_again = builder.trunc(found, ir.VectorType(BOOL, code.width))
        second = code.broadcast((again * diagonal.cell_page).value, code.width)
        start = builder.select(moves_again, second, start)
    return builder.add(start, builder.ashr(found, ir.Constant(found.type, [1] * code.width)))
