"""Passes over games with large memories, by kernels written for their terms."""

from itertools import pairwise
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

VECTOR = 8  # doubles of a vector
CACHE_LINE = 2 * VECTOR  # numbers: columns begin at multiples of it
# Most lanes for which kernels are compiled, where rolls are sums of dice and where not: more take
# long to compile.
WIDEST, WIDEST_DIRECT = 48, 24
# Fewest afterstates of a player: with fewer a pass takes a tenth of a millisecond in any layout.
SMALLEST = 1 << 16
STRIP = 16  # scores of a strip of cells, whose columns fit in a second-level cache


def suit_memory_vectors(tables: Tables, smallest: int = SMALLEST) -> bool:
    """Whether a vector can hold the memories of a cell, pairs of the players' records.

    So it must be that turns replace the mover's record and swap both, that all cells are alike,
    with one kind of turn and one bonus, that no turn gives points or forces another, and that
    landings swap scores at most. The game must have `smallest` afterstates to be worth it.
    """
    lane_size = _lane_size(tables)
    most_lanes = WIDEST if tables.dice_of_kind[0].most_summed else WIDEST_DIRECT
    return bool(
        _records_swap(tables)
        and tables.goal**2 * tables.num_records * lane_size >= smallest
        and lane_size <= most_lanes
        and len(tables.mode_kind) == len(tables.roll_mode) == 1
        and not tables.gives_points
        and not tables.mode_forces_turn.any()
        and _own_record_decides_bonus(tables)
        and np.isin(tables.roll_bonus, (0, tables.most_bonus)).all()
        and _swap_scores_at_most(tables)
    )


def _num_records(tables: Tables) -> int:
    """Count the records of one player, if memories are pairs of the own and the opponent's."""
    return isqrt(len(tables.memory_lane))


def _records_swap(tables: Tables) -> bool:
    """Whether memories are pairs of records, of which a turn replaces one and swaps both."""
    memories, num_records = len(tables.memory_lane), _num_records(tables)
    if num_records == 1 or num_records**2 != memories:
        return False
    record, memory = np.ogrid[: tables.num_records, :memories]
    opponents_record = memory % num_records  # the next mover's own
    next_memory = tables.next_memory[0][:, tables.memory_lane]  # (W, H)
    return np.array_equal(next_memory, opponents_record * num_records + record)


def _lane_size(tables: Tables) -> int:
    """Count the numbers of a lane: one for each record, rounded up to whole vectors."""
    return (_num_records(tables) + VECTOR - 1) // VECTOR * VECTOR


def _bonus_by_records(tables: Tables) -> Ints:
    """Bonus by own and opponent's record, and roll: (records, records, K)."""
    num_records = _num_records(tables)
    return tables.roll_bonus[0].reshape(num_records, num_records, -1)


def _own_record_decides_bonus(tables: Tables) -> bool:
    """Whether the bonus is the same for all records of the opponent."""
    bonus = _bonus_by_records(tables)
    return bool((bonus == bonus[:, :1]).all())


def _swap_scores_at_most(tables: Tables) -> bool:
    """Whether every turn that does not win lands on its two scores, in either order."""
    goal = tables.goal
    kind, own_after, opponent_after = (column[:goal, :goal] for column in tables.landings)
    scores_after = np.sort([own_after, opponent_after], axis=0)
    scores_before = np.sort(np.indices((goal, goal)), axis=0)
    return bool((kind == OTHER).all()) and np.array_equal(scores_after, scores_before)


def _arrivals(tables: Tables) -> tuple[Ints, Ints, Ints]:
    """List the afterstates that land on each cell: the scores after the turn before.

    Cells are pairs of scores of the player who moves next and the other. Returns the opponent's
    and own scores of all afterstates, cell by cell, each (G * G,); and where those of each cell
    begin, (G * G + 1,).
    """
    goal = tables.goal
    opponent, own = (axis.ravel() for axis in np.indices((goal, goal)))
    # The other player moves there: the scores change places.
    own_after = tables.landings.own_score[own, opponent]
    opponent_after = tables.landings.opponent_score[own, opponent]
    cell = opponent_after * goal + own_after
    order = np.argsort(cell, kind="stable")
    start = np.searchsorted(cell[order], np.arange(goal**2 + 1))
    return opponent[order], own[order], start


def memory_shape(tables: Tables) -> Shape:
    """Gather the constants that kernels of a game are compiled with.

    A memory is a pair of records: what is remembered of the last turn of the mover and of the
    opponent. A turn leaves an afterstate: scores, and the record of this turn. The constants say
    how many records there are; with which the mover gains a bonus on a roll (`bonus_members`); and
    which are left by turns of one number of points alone (`records_of_one_base`), so that an
    afterstate with such a record comes from one own score. In kernels the numbers of all records of
    the opponent lie side by side, `lanes` of them, and are computed by one vector operation.
    """
    (dice,) = tables.dice_of_kind
    points_of_record = _points_by_record(tables)  # by each record that a turn can leave
    left_records = sorted(points_of_record)
    # Sums of several dice come to their record die by die, from more than one score.
    left_by_one_score = {
        target.record
        for target in dice.targets
        if target.record != dice.sum_record and len(points_of_record[target.record]) == 1
    }
    # The opponent's record does not matter to the bonus: the first stands for all.
    gains_bonus = _bonus_by_records(tables)[:, 0] > 0  # (records, K), by own record and roll
    members_by_roll = [np.flatnonzero(gains).tolist() for gains in gains_bonus.T]
    return Shape(
        lanes=_lane_size(tables),
        num_actions=tables.num_actions,
        active_records=_num_records(tables),
        num_records=tables.num_records,
        bonus_points=tables.most_bonus,
        bonus_members=tuple(map(tuple, members_by_roll)),
        left_records=tuple(left_records),
        records_of_one_base=tuple(sorted(left_by_one_score)),
        shared_records=tuple(record for record in left_records if record not in left_by_one_score),
        dice=dice,
    )


def _points_by_record(tables: Tables) -> dict[int, set[int]]:
    """Map each record, what is remembered of a turn, to the points of the turns that leave it.

    Turns roll some dice or none. A target of the dice is one outcome, its points and its record.
    Outcomes with the record `sum_record` are computed die by die instead, so its points are those
    of the last die alone.
    """
    (dice,) = tables.dice_of_kind
    points: dict[int, set[int]] = {}
    for target in dice.targets:
        points.setdefault(target.record, set()).add(target.points)
    if dice.most_summed:
        # Sums come to an afterstate by their last die, from up to so many points below.
        points.setdefault(dice.sum_record, set()).update(range(2, dice.sides + 1))
    no_dice = np.stack([tables.no_dice_record.ravel(), tables.no_dice_points.ravel()], axis=1)
    for record, no_dice_points in np.unique(no_dice, axis=0).tolist():
        points.setdefault(record, set()).add(no_dice_points)
    return points


def pass_order(goal: int, strip: int) -> tuple[Ints, Ints]:
    """Order the cells forward, by own and opponent's score, so that none leads to one before it.

    Cells are in strips of `strip` scores by the higher score, in each by the lower, a cell next to
    its mirror image. A landing leaves both scores as high as the afterstate's or higher, or swaps
    them, and so leads to the same pair of cells or further on.
    """
    own, opponent = (axis.ravel() for axis in np.indices((goal, goal)))
    low, high = np.minimum(own, opponent), np.maximum(own, opponent)
    order = np.lexsort([own, high, low, high // strip])
    return own[order], opponent[order]


class _Column(NamedTuple):
    """Layout of a column, the numbers of the cells of one opponent's score."""

    positions: Ints  # (rows, W + 2), `column_positions` of :mod:`hogeq.kernels.memory_vectors`
    size: int
    used_size: int  # without padding
    past_goal_position: int  # of all afterstates from the goal on: read as 0, written in vain


def _column(tables: Tables, shape: Shape) -> _Column:
    """Lay out the numbers of the cells (pairs of scores) of one opponent's score: a column.

    1. A column has a ring for each record (what is remembered of a turn), of the afterstates with
       this record: scores after a turn. Then come a ring for the rolls and one for sums of dice.
    2. A ring has as many entries as own scores are in use at once: of n entries, a score has the
       number ``score % n``. An entry has one number for each record of the opponent, or as many for
       each roll, or each sum.
    3. The table `positions` says, by own score, where its entries begin in the column: (scores, W +
       2), for each record, for the rolls and for the sums.
    """
    goal, lane_size = tables.goal, shape.lanes
    points = _points_by_record(tables)
    most_points = {record: max(points[record]) for record in shape.left_records}
    most_rise = max(shape.dice.sides, shape.bonus_points, *most_points.values())
    score = np.arange(-shape.rows_below, goal + most_rise + 1)
    positions = np.zeros((len(score), shape.row_size), np.int64)  # by score and what lies there
    size = 0
    for record in shape.left_records:
        ring = min(most_points[record] + 1, goal)
        positions[:, record] = size + score % ring * lane_size
        size += ring * lane_size
    past_goal_position = size  # one entry for all afterstates from the goal on
    positions[score >= goal, : shape.num_records] = past_goal_position
    size += lane_size
    rolls_ring = shape.bonus_points + 1  # a roll with the bonus is read from so far above
    rolls_size = shape.num_actions * lane_size
    positions[:, shape.num_records] = size + score % rolls_ring * rolls_size
    size += rolls_ring * rolls_size
    sums_size = shape.dice.most_summed * lane_size
    positions[:, shape.num_records + 1] = size + score % max(1, shape.sums_ring) * sums_size
    used_size = size + shape.sums_ring * sums_size
    # An odd number of lines of the cache, so that columns do not share its sets.
    num_lines = (used_size + CACHE_LINE - 1) // CACHE_LINE | 1
    return _Column(positions, num_lines * CACHE_LINE, used_size, past_goal_position)


def _visits(tables: Tables, shape: Shape, column: _Column, own: Ints, opponent: Ints) -> Ints:
    """List the cells in the order in which a pass visits them, with the afterstate of no dice.

    `own` and `opponent` are the scores of the cells, (G * G,). Returns (G * G, 3): both
    scores, own first, and the position in a column of the scores that rolling no dice leaves. A
    column has the numbers of all own scores at one opponent's score.
    """
    kind_of_turn = 0  # the only one
    score = own + tables.no_dice_points[kind_of_turn][own, opponent]
    record = tables.no_dice_record[kind_of_turn][own, opponent]
    no_dice = column.positions[np.minimum(score, tables.goal) + shape.rows_below, record]
    return np.column_stack([own, opponent, no_dice])


class MemoryPasses:
    """Passes of one player (self-play), or of one player against n opponents."""

    def __init__(
        self, tables: Tables, players: int, dtype: DTypeLike = np.float64, matches: int = 1
    ) -> None:
        """Make the two kernels of a game, and all arrays that they read and write, by name.

        A cell is a pair of scores. A column has the numbers of all cells of one opponent's score:
        of rolls, sums of dice, and afterstates (scores after a turn) by record, what is remembered
        of the turn. An order of visits says when a pass comes to each cell. `matches` is the
        number of opponents; `players` is 1 in self-play and else 2. The kernels' docstrings,
        :func:`hogeq.kernels.memory_vectors.write_values`, describe their arguments.
        """
        goal, shape = tables.goal, memory_shape(tables)
        column = _column(tables, shape)
        own, opponent = pass_order(goal, max(1, STRIP // matches))  # of cells, by visit
        (win_at_once,) = tables.win_at_once  # by own and opponent's score, and roll
        # 0 for the widest vectors, 64 bytes; half as wide in single precision if these do not fit.
        width = VECTOR if shape.lanes % (2 * VECTOR) else 0
        self._value_program = Program(write_values, shape, dtype, width)
        self._reach_program = Program(write_reach, shape, dtype, width)
        opponent_left, own_left, arrival_start = _arrivals(tables)
        self._arguments = {
            "players": players,
            "goal": goal,
            "column_size": column.size,
            "visits": _visits(tables, shape, column, own, opponent),
            "column_positions": column.positions,
            "landing_scores": np.column_stack([opponent_left, own_left]),
            "arrival_start": arrival_start,
            "columns": zeros((matches * players * goal * column.size,), dtype),
        }
        points = _points_by_record(tables)
        most_points = [max(points[record]) for record in shape.shared_records]
        self._reach_arguments = {
            "used_size": column.used_size,
            "start_probability": 1.0 / players,
            "most_points": np.array(most_points, np.int64),
        }
        self._reach = zeros((matches, goal * goal * shape.reach_size), dtype)
        self._starts = np.zeros((matches, players))  # win probability when moving first
        self._changes = np.zeros(1)  # rows that ASCEND changed
        self.action_values = np.zeros((goal, goal, shape.num_actions))
        self.each_reach = np.zeros((matches, goal, goal))
        self._value_arguments = {
            "matches": matches,
            "past_goal_position": column.past_goal_position,
            "wins_at_once": win_at_once[own, opponent],  # by visit and roll
            "wins_past_goal": np.ascontiguousarray(win_at_once[goal:].swapaxes(0, 1)),
            "reach": self._reach,
            "starts": self._starts,
            "action_values": self.action_values,
            "changes": self._changes,
        }

    def forward(self, policies: Floats, *, memories: bool = True) -> Floats:
        """Compute the reach of the player's cells against each opponent: `each_reach`, (n, G, G).

        `policies` are (1 + n, G, G, K), the player's first, or one alone in self-play. The reach of
        hidden states is stored for a pass backward, unless `memories` is False.
        """
        for match, cell_reach in enumerate(self.each_reach):
            self._reach_program(
                **self._arguments,
                **self._reach_arguments,
                keeps_memories=int(memories),
                policies=policies if match == 0 else policies[[0, 1 + match]],
                reach=self._reach[match],
                infoset_reach=cell_reach,
            )
        return self.each_reach

    def backward(
        self, role: int, policies: Floats, reach: Reach, temperature: float, damping: float
    ) -> tuple[Floats, int]:
        """Compute values of all cells against all opponents, the player acting by its role.

        COUNTERFACTUAL fills `action_values`, (G, G, K); ASCEND and SOFTMAX change the first of the
        `policies`. `reach` is that of the mixture of opponents. Returns the win probability of each
        player when moving first, (n, players), and how many rows ASCEND changed.
        """
        self._value_program(
            **self._arguments,
            **self._value_arguments,
            role=int(role),
            policies=policies,
            weights=reach.weights,
            infoset_reach=reach.rows,
            temperature=float(temperature),
            damping=float(damping),
        )
        return self._starts, int(self._changes[0])


def can_duel(tables: Tables) -> bool:
    """Whether :func:`write_duel` can compute win rates of two matrices in the game.

    No dice must score the same, and leave the same record, whatever the mover's own score.
    """
    return suit_memory_vectors(tables) and bool(
        (tables.no_dice_points == tables.no_dice_points[:, :1]).all()
        and (tables.no_dice_record == tables.no_dice_record[:, :1]).all()
    )


def _outcome_operands(tables: Tables) -> dict[str, Floats | Ints]:
    """List the outcomes of every roll, as :func:`write_duel` reads them, by name of the operand.

    Outcomes of one or more dice lie side by side, roll by roll and by rising points: the points,
    probability (`chances`) and record, what is remembered of the turn. `outcome_start` says where
    those of a roll begin, `outcome_stop`, by roll and own score, where those begin that reach the
    goal. Those of no dice, one for each opponent's score, come last.
    """
    goal = tables.goal
    (branches,) = tables.branches_of_kind
    outcomes = [branch for results in branches for branch in results]
    outcome_start = np.cumsum([0, *map(len, branches)])  # by roll
    points = np.array([branch.points for branch in outcomes])
    to_goal = goal - np.arange(goal)  # by own score
    outcome_stop = []  # by roll: up to the first outcome that reaches the goal, (G,)
    for first, end in pairwise(outcome_start):
        outcome_stop.append(first + np.searchsorted(points[first:end], to_goal))
    chances = [float(branch.probability) for branch in outcomes]
    end_records = [branch.record for branch in outcomes]
    return {
        "outcome_start": outcome_start,
        "outcome_stop": np.ravel(outcome_stop),
        "chances": np.array(chances + [1.0] * goal),
        "points": np.append(points, tables.no_dice_points[0, 0]),
        "records": np.append(end_records, tables.no_dice_record[0, 0]),
    }


class MemoryDuel:
    """The arrays for win rates of two matrices, one pair after the other."""

    def __init__(self, tables: Tables) -> None:
        """Make the kernel, and all arrays that it reads and writes, by name.

        Arrays have `lane_size` numbers side by side, one for each record: what is remembered of a
        player's last turn. Members of a roll are the own records that gain the bonus by
        it; own scores reach past the goal by the bonus.
        """
        goal, shape = tables.goal, memory_shape(tables)
        scores, lane_size = goal + tables.most_bonus, shape.lanes
        self._members = zeros((tables.num_actions, lane_size), np.float64)
        for roll, records in enumerate(shape.bonus_members):
            self._members[roll, list(records)] = 1.0
        opponent, score, arrival_start = _arrivals(tables)
        self._starts = np.zeros((2, 2, lane_size))
        self._program = Program(write_duel, shape)
        self._operands = {
            "goal": goal,
            "scores": scores,
            "visits": np.column_stack(pass_order(goal, STRIP // 2)),
            "wins_at_once": tables.win_at_once[0],
            **_outcome_operands(tables),
            "bonus": np.where(list(map(bool, shape.bonus_members)), tables.most_bonus, 0),
            "members": self._members,
            "landing_afterstates": opponent * scores + score,
            "arrival_start": arrival_start,
            "worth": zeros((4 * goal * scores * lane_size,), np.float64),
            "next_roll": np.zeros(2 * goal * scores, np.int64),
            "starts": self._starts,
        }

    def win_rate(self, matrices: Ints) -> WinRate:
        """Exact win rate of the first of two matrices, int64 (2, G, G)."""
        self._program(**self._operands, matrices=matrices)
        # Each player's win probability when it begins, and by how much the bonus would lower it.
        value, lost_by_bonus = self._starts[:, :, 0].T
        first_rolls = matrices[:, 0, 0]
        # 1 if a player that begins gains the bonus on its first roll.
        gains_bonus = self._members[first_rolls, 0]
        win_probability = value - gains_bonus * lost_by_bonus
        return WinRate.from_starts(*win_probability.tolist())
