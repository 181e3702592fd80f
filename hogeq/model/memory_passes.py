"""Passes over games with large memories, by kernels written for their terms."""

from math import isqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from hogeq.graph.turns import OTHER
from hogeq.kernels.memory_vectors import Shape, write_duel, write_reach, write_values
from hogeq.kernels.program import Program, zeros
from hogeq.model.protocol import Reach, WinRate
from hogeq.model.tables import Tables
from hogeq.support.aliases import Floats, Ints

PIECE = 8  # doubles of a vector
# Lanes that are written out, where rolls are sums and where not: more take long to compile.
WIDEST, WIDEST_DIRECT = 48, 24
SMALLEST = 1 << 16  # afterstates of a player below which a pass takes a tenth of a millisecond
STRIP = 16  # scores of a strip of cells, whose columns fit in a second-level cache


def suit_memory_vectors(tables: Tables, smallest: int = SMALLEST) -> bool:
    """Whether turns only swap the players' memories, and all cells are alike, in a large game."""
    lanes = _padded(tables)
    return bool(
        _records_swap(tables)
        and tables.goal**2 * tables.records * lanes >= smallest
        and lanes <= (WIDEST if tables.dice[0].depth else WIDEST_DIRECT)
        and len(tables.mode_kind) == len(tables.mode) == 1
        and not tables.gives
        and not tables.mode_forces.any()
        and (_bonus(tables) == _bonus(tables)[:, :1]).all()
        and np.isin(tables.bonus, (0, tables.most_bonus)).all()
        and _swap_scores_at_most(tables)
    )


def _records_swap(tables: Tables) -> bool:
    """Whether memories are pairs of records, of which a turn replaces one and swaps both."""
    memories, kept = len(tables.lane), isqrt(len(tables.lane))
    if kept == 1 or kept**2 != memories:
        return False
    record, memory = np.ogrid[: tables.records, :memories]
    follows = tables.following[0][:, tables.lane]
    return np.array_equal(follows, memory % kept * kept + record)


def _padded(tables: Tables) -> int:
    """Numbers of a lane: one for each record, in whole vectors."""
    return -(-isqrt(len(tables.lane)) // PIECE) * PIECE


def _bonus(tables: Tables) -> Ints:
    """Bonus by each player's last turn, and roll."""
    kept = isqrt(len(tables.lane))
    return tables.bonus[0].reshape(kept, kept, -1)


def _swap_scores_at_most(tables: Tables) -> bool:
    """Whether every turn that does not win lands on its two scores, in either order."""
    goal = tables.goal
    kind, *scores = (column[:goal, :goal] for column in tables.landings)
    landed, left = np.sort(scores, axis=0), np.sort(np.indices((goal, goal)), axis=0)
    return bool((kind == OTHER).all()) and np.array_equal(landed, left)


def _arrivals(tables: Tables) -> tuple[Ints, Ints, Ints]:
    """Opponent's and own score of the afterstates that land on each cell, and where it begins."""
    goal = tables.goal
    opponent, own = (axis.ravel() for axis in np.indices((goal, goal)))
    cell = tables.landings.opponent[own, opponent] * goal + tables.landings.own[own, opponent]
    order = np.argsort(cell, kind="stable")
    return opponent[order], own[order], np.searchsorted(cell[order], np.arange(goal**2 + 1))


def memory_shape(tables: Tables) -> Shape:
    """Gather the constants of kernels."""
    (dice,) = tables.dice
    points = _points(tables)
    sole = {
        x.record for x in dice.targets if x.record != dice.record and len(points[x.record]) == 1
    }
    return Shape(
        lanes=_padded(tables),
        num_actions=tables.num_actions,
        active=isqrt(len(tables.lane)),
        records=tables.records,
        bonus=tables.most_bonus,
        members=tuple(tuple(np.flatnonzero(x).tolist()) for x in _bonus(tables)[:, 0].T),
        recorded=tuple(sorted(points)),
        sole=tuple(sorted(sole)),
        shared=tuple(x for x in sorted(points) if x not in sole),
        dice=dice,
    )


def _points(tables: Tables) -> dict[int, set[int]]:
    """Find the points with which turns leave each record, even with no dice."""
    (dice,), found = tables.dice, dict[int, set[int]]()
    for target in dice.targets:
        found.setdefault(target.record, set()).add(target.points)
    if dice.depth:
        found.setdefault(dice.record, set()).update(range(2, dice.sides + 1))
    free = np.stack([tables.zero_record.ravel(), tables.zero_points.ravel()], axis=1)
    for record, points in np.unique(free, axis=0).tolist():
        found.setdefault(record, set()).add(points)
    return found


def pass_order(goal: int, strip: int) -> tuple[Ints, Ints]:
    """Order the cells forward, by own and opponent's score: none leads to one before it.

    Strips of the higher score, and in each by the lower, a cell with its mirror image. A landing
    leaves both scores as high as the afterstate's or higher, or swaps them, and so leads to the
    same pair of cells or further on.
    """
    own, opponent = (axis.ravel() for axis in np.indices((goal, goal)))
    low, high = np.minimum(own, opponent), np.maximum(own, opponent)
    order = np.lexsort([own, high, low, high // strip])
    return own[order], opponent[order]


class _Column(NamedTuple):
    """Layout of a column."""

    at: Ints  # (rows, W + 2), the table of :mod:`hogeq.kernels.memory_vectors`
    size: int
    used: int  # numbers that are not padding
    spare: int  # where what reaches the goal is read, which is 0, and written, which nobody reads


def _column(tables: Tables, shape: Shape) -> _Column:
    """Lay a column out, ring after ring."""
    goal, lanes, bases = tables.goal, shape.lanes, shape.bonus + 1
    points = _points(tables)
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
    """Passes of one player (self-play), or of one player against n opponents."""

    def __init__(
        self, tables: Tables, players: int, dtype: DTypeLike = np.float64, matches: int = 1
    ) -> None:
        goal, shape = tables.goal, memory_shape(tables)
        column = _column(tables, shape)
        own, opponent = pass_order(goal, max(1, STRIP // matches))
        score = own + tables.zero_points[0][own, opponent]
        record = tables.zero_record[0][own, opponent]
        none = column.at[np.minimum(score, goal) + shape.below, record]
        width = PIECE if shape.lanes % (2 * PIECE) else 0
        self._values = Program(write_values, shape, dtype, width)
        self._reach_program = Program(write_reach, shape, dtype, width)
        *landed, start = _arrivals(tables)
        self._both = {
            "players": players,
            "goal": goal,
            "column_size": column.size,
            "visits": np.column_stack([own, opponent, none]),
            "at": column.at,
            "landed": np.column_stack(landed),
            "arrival_start": start,
            "columns": zeros((matches * players * goal * column.size,), dtype),
        }
        points = _points(tables)
        self._forward = {
            "used": column.used,
            "begun": 1.0 / players,
            "most_points": np.array([max(points[x]) for x in shape.shared], np.int64),
        }
        self._reach = zeros((matches, goal * goal * shape.reach_size), dtype)
        self._starts, self._changes = np.zeros((matches, players)), np.zeros(1)
        self.action_values = np.zeros((goal, goal, shape.num_actions))
        self.each_reach = np.zeros((matches, goal, goal))
        self._backward = {
            "matches": matches,
            "spare": column.spare,
            "wins": tables.terminal_win[0][own, opponent],
            "past": np.ascontiguousarray(tables.terminal_win[0][goal:].swapaxes(0, 1)),
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
                policies=policies if match == 0 else policies[[0, 1 + match]],
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
            policies=policies,
            weights=reach.weights,
            infoset_reach=reach.rows,
            temperature=float(temperature),
            damping=float(damping),
        )
        return self._starts, int(self._changes[0])


def can_duel(tables: Tables) -> bool:
    """Whether matrices meet by :func:`hogeq.kernels.memory_vectors.write_duel`."""
    return suit_memory_vectors(tables) and bool(
        (tables.zero_points == tables.zero_points[:, :1]).all()
        and (tables.zero_record == tables.zero_record[:, :1]).all()
    )


class MemoryDuel:
    """The arrays for win rates of two matrices, one pair after the other."""

    def __init__(self, tables: Tables) -> None:
        goal, shape = tables.goal, memory_shape(tables)
        scores, lanes = goal + tables.most_bonus, shape.lanes
        self._members = zeros((tables.num_actions, lanes), np.float64)
        for roll, some in enumerate(shape.members):
            self._members[roll, list(some)] = 1.0
        opponent, score, start = _arrivals(tables)
        self._starts = np.zeros((2, 2, lanes))
        self._program = Program(write_duel, shape)
        (branches,) = tables.branches
        first = np.cumsum([0, *map(len, branches)])
        outcomes = [branch for results in branches for branch in results]
        points = np.array([branch.points for branch in outcomes])
        left = goal - np.arange(goal)
        stop = [
            first[roll] + np.searchsorted(points[first[roll] : first[roll + 1]], left)
            for roll in range(len(branches))
        ]
        self._operands = {
            "goal": goal,
            "scores": scores,
            "visits": np.column_stack(pass_order(goal, STRIP // 2)),
            "wins": tables.terminal_win[0],
            "outcome_start": first,
            "outcome_stop": np.ravel(stop),
            "chances": np.array([*(float(x.probability) for x in outcomes), *[1.0] * goal]),
            "points": np.append(points, tables.zero_points[0, 0]),
            "records": np.append([x.record for x in outcomes], tables.zero_record[0, 0]),
            "bonus": np.where(list(map(bool, shape.members)), tables.most_bonus, 0),
            "members": self._members,
            "landed": opponent * scores + score,
            "arrival_start": start,
            "worth": zeros((4 * goal * scores * lanes,), np.float64),
            "played": np.zeros(2 * goal * scores, np.int64),
            "starts": self._starts,
        }

    def win_rate(self, matrices: Ints) -> WinRate:
        """Exact win rate of the first of two matrices, int64 (2, G, G)."""
        self._program(**self._operands, matrices=matrices)
        value, lost = self._starts[:, :, 0].T
        won = value - self._members[matrices[:, 0, 0], 0] * lost
        return WinRate.from_starts(*won.tolist())
