"""Passes over games with large memories, by kernels written for their terms."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from hogeq.kernels.memory_duel import DuelShape, write_duel
from hogeq.kernels.memory_vectors import Shape, write_reach, write_values
from hogeq.kernels.program import Program, zeros
from hogeq.kernels.recurrence import Dice
from hogeq.model.layout import Tables, pass_order
from hogeq.model.outcomes import dice_of
from hogeq.support.aliases import Floats, Ints

PIECE = 8  # doubles of a vector
# Lanes that are written out, where rolls are sums and where not: more take long to compile.
WIDEST, WIDEST_DIRECT = 48, 24
SMALLEST = 1 << 16  # afterstates of a player below which a pass takes a tenth of a millisecond
STRIP = 16  # scores of a strip of cells, whose columns fit in a second-level cache


def suit_memory_vectors(tables: Tables, smallest: int = SMALLEST) -> bool:
    """Whether turns only swap what players remember, and all cells are alike, in a large game."""
    goal, lanes = tables.dimensions.goal, len(tables.lane)
    return bool(
        goal**2 * tables.dimensions.records * lanes >= smallest
        and lanes % PIECE == 0
        and lanes <= (WIDEST if tables.sum_depth.all() else WIDEST_DIRECT)
        and tables.swaps_records
        and len(tables.plane_dice) == len(tables.default_mode) == 1
        and not tables.gives
        and not tables.plane_again.any()
        and not tables.arrival_again.any()
        and not tables.mode_bonus[tables.default_mode].any()
        and tables.mode_bonus[tables.exception_mode].all()
        and not tables.exception_low.any()
        and (tables.exception_high == lanes).all()
        and _swap_scores_at_most(tables)
    )


def members_of(tables: Tables) -> tuple[tuple[int, ...], ...]:
    """List, by roll, the active memories that gain a bonus on it."""
    members: list[list[int]] = [[] for _ in range(tables.dimensions.num_actions)]
    for memory, (first, last) in enumerate(pairwise(tables.exception_start[0].tolist())):
        for roll in tables.exception_roll[first:last].tolist():
            members[roll].append(memory)
    return tuple(map(tuple, members))


def _swap_scores_at_most(tables: Tables) -> bool:
    """Whether every turn that does not win lands on its two scores, in either order."""
    goal = tables.dimensions.goal
    cell = np.repeat(np.arange(goal * goal), np.diff(tables.arrival_start))
    landed = np.sort(np.divmod(cell, goal), axis=0)
    left = np.sort(np.divmod(tables.arrival_row, goal), axis=0)
    return len(np.unique(tables.arrival_row)) == goal**2 and np.array_equal(landed, left)


def memory_shape(tables: Tables) -> Shape:
    """Gather what kernels are written for."""
    dimensions, kind = tables.dimensions, int(tables.plane_dice[0])
    dice = dice_of(tables, kind)
    points = _points(tables, dice)
    sole = {
        x.record for x in dice.targets if x.record != dice.record and len(points[x.record]) == 1
    }
    return Shape(
        lanes=len(tables.lane),
        num_actions=dimensions.num_actions,
        active=dimensions.active_memories,
        start=tables.start,
        records=dimensions.records,
        bonus=dimensions.ring - 1,
        members=members_of(tables),
        recorded=tuple(sorted(points)),
        sole=tuple(sorted(sole)),
        shared=tuple(x for x in sorted(points) if x not in sole),
        dice=dice,
    )


def _points(tables: Tables, dice: Dice) -> dict[int, set[int]]:
    """Find the points with which turns leave each record, even with no dice."""
    found: dict[int, set[int]] = {}
    for target in dice.targets:
        found.setdefault(target.record, set()).add(target.points)
    if dice.depth:
        found.setdefault(dice.record, set()).update(range(2, dice.sides + 1))
    free = np.stack([tables.zero_record.ravel(), tables.zero_points.ravel()], axis=1)
    for record, points in np.unique(free, axis=0).tolist():
        found.setdefault(record, set()).add(points)
    return found


class _Column(NamedTuple):
    """Where a column keeps what it keeps."""

    at: Ints
    """(rows, W + 2), the table of :mod:`hogeq.kernels.memory_vectors`."""
    size: int
    used: int
    """Numbers that are not padding."""
    spare: int
    """Where what reaches the goal is read, which is 0, and written, which nobody reads."""


def _column(tables: Tables, shape: Shape) -> _Column:
    """Lay a column out, ring after ring."""
    goal, lanes, bases = tables.dimensions.goal, shape.lanes, shape.bonus + 1
    points = _points(tables, shape.dice)
    most = {record: max(points[record]) for record in shape.recorded}
    above = max(shape.dice.sides, shape.bonus, *most.values())
    score = np.arange(-shape.below, goal + above + 1)
    at = np.zeros((len(score), shape.width), np.int64)
    end = 0
    for record in shape.recorded:
        span = min(most[record] + 1, goal)
        at[:, record] = end + score % span * lanes
        end += span * lanes
    at[score >= goal, : shape.records] = spare = end
    rolls = spare + lanes
    at[:, shape.records] = rolls + score % bases * shape.num_actions * lanes
    sums = rolls + bases * shape.num_actions * lanes
    at[:, shape.records + 1] = sums + score % max(1, shape.sums_ring) * shape.dice.depth * lanes
    used = sums + shape.sums_ring * shape.dice.depth * lanes
    # An odd number of lines of the cache, so that columns do not share its sets.
    size = (-(-used // (2 * PIECE)) | 1) * 2 * PIECE
    return _Column(at, size, used, spare)


class MemoryPasses:
    """Passes of one player (self-play), or of one player against n opponents.

    Attributes
    ----------
    weights : float64 (n,)
        Of the opponents in the mixture against which rows are set.
    """

    def __init__(
        self, tables: Tables, players: int, dtype: DTypeLike = np.float64, matches: int = 1
    ) -> None:
        goal, shape = tables.dimensions.goal, memory_shape(tables)
        column = _column(tables, shape)
        own, opponent = pass_order(goal, max(1, STRIP // matches))
        kind = tables.plane_dice[0]
        score = own + tables.zero_points[kind][own, opponent]
        record = tables.zero_record[kind][own, opponent]
        none = column.at[np.minimum(score, goal) + shape.below, record]
        visits = np.column_stack([own, opponent, none]).ravel()
        landed = np.column_stack(np.divmod(tables.arrival_row, goal)).ravel()
        width = PIECE if shape.lanes % (2 * PIECE) else 0
        self._values = Program(write_values, shape, dtype, width)
        self._forward = Program(write_reach, shape, dtype, width)
        self._players, self._goal, self._column = players, goal, column
        self._where = column.at.ravel(), landed, tables.arrival_start
        self._visits = visits
        points = _points(tables, shape.dice)
        self._most = np.array([max(points[x]) for x in shape.shared], np.int64)
        self._wins = tables.terminal_win[kind][own, opponent].ravel()
        self._past = tables.terminal_win[kind][goal:].swapaxes(0, 1).ravel()
        self._columns = zeros((matches * players * goal * column.size,), dtype)
        self._reach = zeros((matches, goal * goal * shape.reach_size), dtype)
        self._starts = np.zeros((matches, players))
        self._changes = np.zeros(1)
        self.weights = np.full(matches, 1.0 / matches)

    def forward(self, policies: Floats, infoset_reach: Floats, *, memories: bool = True) -> None:
        """Fill the reach of cells against each opponent, (n, G, G).

        Keep what weights values, unless that of `memories` is not needed.
        """
        size, used = self._column.size, self._column.used
        numbers = int(memories), self._players, self._goal, size, used, 1.0 / self._players
        for match, cells in enumerate(infoset_reach):
            played = policies if match == 0 else policies[[0, 1 + match]]
            rows, reach = played.reshape(-1), self._reach[match]
            arrays = (
                self._most,
                self._visits,
                *self._where,
                rows,
                self._columns,
                reach,
                cells.reshape(-1),
            )
            self._forward(numbers, arrays)

    def backward(
        self,
        role: int,
        policies: Floats,
        action_values: Floats,
        infoset_reach: Floats,
        temperature: float,
        damping: float,
    ) -> tuple[Floats, int]:
        """Pass over all cells; any role but FULL_MEMORY, for the player, against all opponents.

        Returns the win probability of each player when moving first, (n, Q), and how many rows
        ASCEND changed.
        """
        matches, size, spare = len(self._starts), self._column.size, self._column.spare
        sizes = self._players, matches, self._goal, size, spare
        self._values(
            (int(role), *sizes, float(temperature), float(damping)),
            (
                self._visits,
                self._wins,
                self._past,
                *self._where,
                policies.reshape(-1),
                self._columns,
                self._starts.reshape(-1),
                self._reach.reshape(-1),
                self.weights,
                infoset_reach.reshape(-1),
                action_values.reshape(-1),
                self._changes,
            ),
        )
        return self._starts, int(self._changes[0])


def can_duel(tables: Tables) -> bool:
    """Whether matrices meet by :mod:`hogeq.kernels.memory_duel`."""
    return suit_memory_vectors(tables) and bool(
        (tables.zero_points == tables.zero_points[:, :1]).all()
        and (tables.zero_record == tables.zero_record[:, :1]).all()
    )


class MemoryDuel:
    """The arrays for win rates of two matrices, one pair after the other."""

    def __init__(self, tables: Tables) -> None:
        dimensions, lanes = tables.dimensions, len(tables.lane)
        goal, kind = dimensions.goal, tables.plane_dice[0]
        scores = goal + dimensions.ring - 1
        members = members_of(tables)
        self._members = zeros((dimensions.num_actions, lanes), np.float64)
        for roll, some in enumerate(members):
            self._members[roll, list(some)] = 1.0
        opponent, score = np.divmod(tables.arrival_row, goal)
        afterstates = 2 * goal * scores
        self._start = divmod(tables.start, lanes)
        self._starts = np.zeros((2, 2, lanes))
        self._program = Program(write_duel, DuelShape(lanes, dimensions.num_actions))
        self._numbers = goal, scores
        self._before = (
            np.column_stack(pass_order(goal)).ravel(),
            tables.terminal_win[kind].ravel(),
            np.append(tables.outcome_start[kind], len(tables.outcome_prob)),
            tables.outcome_stop[kind].ravel(),
            np.append(tables.outcome_prob, np.ones(goal)),
            np.append(tables.outcome_points, tables.zero_points[kind, 0]),
            np.append(tables.outcome_record, tables.zero_record[kind, 0]),
            np.where(list(map(bool, members)), dimensions.ring - 1, 0),
            self._members.ravel(),
            opponent * scores + score,
            tables.arrival_start,
        )
        self._after = (
            zeros((afterstates * 2 * lanes,), np.float64),
            np.zeros(afterstates, np.int64),
            self._starts.ravel(),
        )

    def starts(self, matrices: NDArray[np.int64]) -> tuple[float, float]:
        """Win probability of each of two matrices, int64 (2, G, G), when it moves first."""
        self._program(self._numbers, (*self._before, matrices.reshape(-1), *self._after))
        active, lane = self._start
        value, lost = self._starts[:, :, lane].T
        won = value - self._members[matrices[:, 0, 0], active] * lost
        return float(won[0]), float(won[1])
