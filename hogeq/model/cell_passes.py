"""Passes over games of Hog with small memories, by kernels that are generated for a game's tables.

A *cell* is a pair of scores before a turn, an *afterstate* the scores that a turn leaves before
they change by landing rules. Vectors run over neighbouring cells of one total of both scores, a
*diagonal*. :class:`CellLayout` says where a game's numbers then lie, :class:`CellPasses` calls the
kernels.
"""

from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

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

Positions = NDArray[np.int32]


def suit_cell_vectors(tables: Tables) -> bool:
    """Whether vectors can run over cells (pairs of scores) of one total of both scores.

    All cells of a total must have one situation, a kind of cell, by which the dice differ; and no
    roll may have a bonus, points that hidden memory adds.
    """
    own, opponent = np.indices(tables.situation.shape)
    situation = by_total(tables.situation)[own + opponent]
    is_alike = bool((situation == tables.situation).all())
    return is_alike and tables.most_bonus == 0


def _landings_on_board(tables: Tables) -> tuple[Ints, ...]:
    """Return where scores below the goal land after a turn: three tables, each (G, G).

    They are by the mover's and the opponent's score before the rules of landing, such as a swap:
    the kind of landing (play goes on, the mover moves again, or it wins), and both scores after it.
    """
    return tuple(column[: tables.goal, : tables.goal] for column in tables.landings)


def by_total(table: NDArray[np.uint8]) -> Ints:
    """Return an entry of a table (G, G) for each total of both scores, (2 * G - 1,).

    The table is by own and opponent's score; the entry is that of the lowest own score.
    """
    goal = len(table)
    totals = np.arange(2 * goal - 1)
    own = np.maximum(totals - goal + 1, 0)
    return table[own, totals - own].astype(np.int64)


def _power_of_two(rows: int) -> int:
    """Return the least power of two that is no less than a number of rows."""
    return 1 << max(0, rows - 1).bit_length()


def _num_vectors(numbers: int, width: int) -> int:
    """Count the vectors of `width` numbers that hold so many numbers: a division, rounded up."""
    return (numbers + width - 1) // width


class _Group(NamedTuple):
    """Rolls that lead to the same afterstates, the scores after a turn: of one mode and one lane.

    A roll is a number of dice, a mode a kind of turn (which dice) and whether the roll forces
    another turn. Memories of one lane carry the same part of themselves to the next turn.
    """

    kind: int  # of the turn, as the mode has it
    situation_rolls: tuple[tuple[int, ...], ...]  # by situation, those that have a line
    lane: int  # part of the memory that the turn only carries
    mode: int  # kind of turn, and whether the roll forces another
    most_summed: int  # most dice that are summed


class CellLayout:
    """Where a game's numbers lie when vectors run over cells of one total of both scores.

    A *cell* is a pair of scores before a turn. A *page* is a block of memory with one number for
    each cell, or for each afterstate (scores after a turn); a *position* is an index in a page. A
    *line* is the vector of one roll's values. :mod:`hogeq.kernels.cell_vectors` defines these terms
    and diagonals, blocks, groups and families. Vectors have as many numbers as `cells`.
    """

    groups: Ints
    """(groups, 2 + S): first page of afterstates, first vector of sums, first line by situation."""
    line_of_roll: Ints
    """(S, H, K): the line in which the kernels value a roll, by situation and memory."""

    def __init__(self, tables: Tables, cells: int) -> None:
        """Lay out a game's tables for vectors of `cells` neighbouring cells, pairs of scores."""
        self.tables = tables
        self.cells = cells
        self.goal = tables.goal
        self.num_actions = tables.num_actions
        self.memories = len(tables.memory_lane)
        self.lanes = tables.next_memory.shape[2]
        self.ends = 1 + int(tables.mode_forces_turn.max())  # 2 if a roll can force an extra turn
        self.most_sides = max(dice.sides for dice in tables.dice_of_kind)
        self._lay_out_groups()
        self.board = self._board()
        self.shape = self._shape()

    def _board(self) -> Board:
        """Compute the sizes of pages, from the most points by which a turn raises the total score.

        A page is one block of memory: rows of numbers by total score, as many as are in use at
        once, each by opponent's score. There are pages of cells (scores before a turn) and pages of
        afterstates (scores after one). The rows are a ring: a total's row is ``total % rows``.
        """
        tables, goal = self.tables, self.goal
        targets = [target for dice in tables.dice_of_kind for target in dice.targets]
        most_gift = max(int(tables.no_dice_gift.max()), *(target.gift for target in targets))
        most_rise = max(self.most_sides, *(target.points + target.gift for target in targets))
        own, opponent = np.indices((goal, goal))
        # No dice, where both scores stay below the goal.
        stays = (own + tables.no_dice_points < goal) & (opponent + tables.no_dice_gift < goal)
        most_no_dice_rise = int((tables.no_dice_points + tables.no_dice_gift)[stays].max(initial=0))
        kind, own_after, opponent_after = _landings_on_board(tables)
        landing_rise = own_after + opponent_after - own - opponent
        most_landing_rise = int(landing_rise[kind < WIN].max(initial=0))
        diagonal_width = _num_vectors(goal, self.cells) * self.cells  # numbers of its blocks
        row_width = _num_vectors(diagonal_width + most_gift, self.cells) * self.cells
        afterstate_rows = _power_of_two(max(most_rise, most_no_dice_rise) + 1)
        cell_rows = _power_of_two(1 + most_landing_rise)
        return Board(
            goal=goal,
            row_width=row_width,
            afterstate_rows=afterstate_rows,
            cell_rows=cell_rows,
            afterstate_page=afterstate_rows * row_width + self.cells,
            cell_page=cell_rows * row_width + self.cells,
            sums_size=diagonal_width * self.num_sums,
            totals_beyond=most_rise,
            most_gift=most_gift,
        )

    def _shape(self) -> Shape:
        """Gather the sizes of a game's tables, which are constants of its compiled kernels.

        A page is one block of memory. It has the afterstates (scores after a turn) of one end (1
        forces another turn), one lane (part of the memory that the turn carries along) and one
        record (what is remembered of the turn). A line is the vector of one roll's values, for all
        memories for which it is worth the same; `num_sums` counts vectors of sums of dice.
        """
        kind, _, _ = _landings_on_board(self.tables)
        depth = max(family.dice.most_summed for family in self.families)
        return Shape(
            num_actions=self.num_actions,
            num_memories=self.memories,
            num_pages=self.ends * self.lanes * self.tables.num_records,
            most_lines=self.num_lines,
            num_sums=self.num_sums,
            past_goal_depth=max(1, depth),
            past_goal_blocks=_num_vectors(self.most_sides, self.cells) + 1,
            most_sides=self.most_sides,
            moves_again=self.ends > 1 or bool((kind == AGAIN).any()),
            families=self.families,
        )

    # --- groups, families and lines ---

    def _group(self, mode: int, lane: int) -> _Group:
        """Make the group of a mode and a lane: its rolls lead to the same scores after a turn.

        A roll is a number of dice, a mode a kind of turn (which dice) and whether the roll forces
        another. Memories of one lane carry the same part of themselves to the next turn; the rolls
        are those that some memory of the lane plays in the mode. A situation is a kind of cell
        (pair of scores), by which the modes of rolls differ.
        """
        in_lane = self.tables.memory_lane == lane  # (H,)
        rolls = []
        for modes in self.tables.roll_mode:  # of a situation, (H, K)
            is_played = (modes[in_lane] == mode).any(axis=0)  # (K,)
            if is_played[1:].sum() > 1:
                # Rolls that nobody plays do no harm, and groups with equal rolls are of one family.
                is_played[1:] = True
            rolls.append(tuple(np.flatnonzero(is_played).tolist()))
        kind = int(self.tables.mode_kind[mode])
        is_sum = self.tables.dice_of_kind[kind].is_sum
        summed = [
            roll for rolls_of_situation in rolls for roll in rolls_of_situation if is_sum[roll]
        ]
        return _Group(kind, tuple(rolls), lane, mode, max(summed, default=0))

    def _sorted_groups(self) -> list[_Group]:
        """List the groups in use, sorted, so that groups of the same kind and rolls are neighbours.

        A group is the rolls of one kind of turn (the dice) in one lane, the part of the memory that
        a turn carries along; groups of the same kind and rolls are a family.
        """
        pairs = {
            (int(mode), int(lane))
            for memory, lane in enumerate(self.tables.memory_lane)
            for mode in np.unique(self.tables.roll_mode[:, memory])
        }
        return sorted(self._group(mode, lane) for mode, lane in pairs)

    def _lay_out_groups(self) -> None:
        """Lay out the vectors of all groups of rolls: set `groups`, `families`, `line_of_roll`.

        A group has the rolls of one kind of turn and one lane, a part of the memory that the turn
        carries along. Each group gets a row of `groups`: where its numbers begin. These are its
        first page (a block of memory with the scores after a turn, for one record of the turn); its
        first vector of sums of dice; and, in each situation (a kind of cell), its first line (the
        vector of one roll's values). Groups of the same kind and rolls, neighbours in the list,
        join a family, for which the same emitted code serves. Also set are
        `num_sums`, the number of vectors of sums, and `num_lines`, the most lines of a situation.
        """
        tables = self.tables
        families: list[Family] = []
        rows = []  # of `groups`
        num_sums = 0
        num_lines = np.zeros(len(tables.roll_mode), np.int64)  # by situation
        self.line_of_roll = np.zeros_like(tables.roll_mode)
        for number, group in enumerate(self._sorted_groups()):
            family_key = group.kind, group.situation_rolls
            if not families or (families[-1].kind, families[-1].situation_rolls) != family_key:
                dice = self._dice(group)
                families.append(Family(number, number, group.kind, group.situation_rolls, dice))
            families[-1] = families[-1]._replace(end_group=number + 1)
            end_and_lane = int(tables.mode_forces_turn[group.mode]) * self.lanes + group.lane
            rows.append([end_and_lane * tables.num_records, num_sums, *num_lines])
            # Each number of dice has a ring of sums; see `hogeq.kernels.cell_vectors`.
            num_sums += group.most_summed * (families[-1].dice.sides + 1)
            for situation, rolls in enumerate(group.situation_rolls):
                for index, roll in enumerate(rolls):
                    is_of_group = tables.roll_mode[situation, :, roll] == group.mode
                    is_of_group &= tables.memory_lane == group.lane
                    self.line_of_roll[situation, is_of_group, roll] = num_lines[situation] + index
                num_lines[situation] += len(rolls)
        self.families = tuple(families)
        self.groups = np.array(rows, np.int64)
        self.num_sums = num_sums
        self.num_lines = int(num_lines.max())

    def _dice(self, group: _Group) -> Dice:
        """Restrict the dice of a kind of turn to the rolls, numbers of dice, that a group plays.

        A group has the rolls of one kind of turn that lead to the same scores after a turn. The
        dice of a kind mark the rolls that are sums of dice (`is_sum`), and have targets: other
        outcomes, each with its probability (weight) for every roll. Targets that no roll of the
        group has are left out.
        """
        played = {roll for rolls in group.situation_rolls for roll in rolls}
        dice = self.tables.dice_of_kind[group.kind]
        targets = []
        for target in dice.targets:
            weights = tuple(pair for pair in target.roll_weights if pair[0] in played)
            if weights:
                targets.append(target._replace(roll_weights=weights))
        is_sum = tuple(
            is_summed and roll <= group.most_summed for roll, is_summed in enumerate(dice.is_sum)
        )
        return dice._replace(most_summed=group.most_summed, is_sum=is_sum, targets=tuple(targets))

    # --- tables by cell ---

    @cached_property
    def handover(self) -> Ints:
        """Value of the hidden memory that comes after each page of afterstates: (pages, 3).

        An afterstate is the scores after a turn. A page, a block of memory, has the afterstates of
        one end of the turn (1 forces another turn), one lane (part of the hidden memory that is
        carried along), and one record (what is remembered of the turn). Values of the hidden memory
        are numbered from 0 to H - 1. The columns are the end; the next value if the other player
        moves next; and H plus the next value if the same player does.
        """
        next_memory = self.tables.next_memory  # (2, W, J), by whether the same player moves again
        rows = [
            (end, next_memory[0, record, lane], self.memories + next_memory[1, record, lane])
            for end, lane, record in product(
                range(self.ends), range(self.lanes), range(self.tables.num_records)
            )
        ]
        return np.array(rows, np.int64)

    @cached_property
    def landing(self) -> Positions:
        """Index of the cell on which each afterstate, the scores after a turn, lands.

        The table, (ends, totals, n), is by end of the turn (1 forces another), total of both scores
        and opponent's score. A cell is a pair of scores before the next turn. An entry is twice a
        position, plus 1 if the same player moves again. A position is an index into a page, the
        block of memory with one number for each cell: rows by total, that of a total being
        ``total % cell_rows``, each by opponent's score. The last numbers of a page are constants,
        the value of a loss first and that of a win last; an afterstate at which play is over has
        the position of one of them.
        """
        goal, board = self.goal, self.board
        # First the afterstates past the board, of which a landing says whether they win.
        is_win = self.tables.landings.kind == WIN
        total, opponent = np.ogrid[: 2 * goal - 1 + board.totals_beyond, : board.row_width]
        own = total - opponent
        own_within = np.clip(own, 0, len(is_win) - 1)
        opponent_within = np.minimum(opponent, is_win.shape[1] - 1)
        wins = (own >= 0) & is_win[own_within, opponent_within]
        loss_position = board.cell_page - self.cells
        win_position = board.cell_page - 1
        end_position = np.where(wins, win_position, loss_position)
        landing = np.repeat(2 * end_position[None], self.ends, axis=0)
        # Then those that land on a cell.
        kind, own_after, opponent_after = _landings_on_board(self.tables)
        own, opponent = np.nonzero(kind < WIN)
        kind = kind[own, opponent]
        own_after, opponent_after = own_after[own, opponent], opponent_after[own, opponent]
        row = (own_after + opponent_after) % board.cell_rows * board.row_width
        for end in range(self.ends):
            again = (kind == AGAIN) | (end == 1)  # the second end forces an extra turn
            # Cells have the scores of the player who moves there, who is the other unless `again`.
            position = row + np.where(again, opponent_after, own_after)
            landing[end, own + opponent, opponent] = 2 * position + again
        return landing.astype(np.int32)

    @cached_property
    def no_dice(self) -> Positions:
        """Index of the afterstate, the scores after the turn, that rolling no dice leads to.

        The table, (D, 2 * G - 1, n), is by kind of turn, total of both scores and opponent's score
        before the turn. An index counts numbers through several pages, blocks of memory that lie
        one after another, one for each record: what is remembered of the turn. A page has rows by
        total, that of a total being ``total % afterstate_rows``, each by the opponent's score. Its
        last numbers are constants, the value of a loss first and that of a win last; if the turn
        decides the game, the index is that of one of them.
        """
        tables, goal, board = self.tables, self.goal, self.board
        own, opponent = np.indices((goal, goal))  # scores before the turn
        loss_position = board.afterstate_page - self.cells
        win_position = board.afterstate_page - 1
        size = len(tables.dice_of_kind), 2 * goal - 1, board.row_width
        positions = np.full(size, loss_position, np.int64)
        for kind, by_total_and_score in enumerate(positions):
            own_after = own + tables.no_dice_points[kind]
            opponent_after = opponent + tables.no_dice_gift[kind]
            row = (own_after + opponent_after) % board.afterstate_rows
            page = tables.no_dice_record[kind]
            position = page * board.afterstate_page + row * board.row_width + opponent_after
            # Probability 0 or 1, of no dice: the first choice.
            wins = tables.win_at_once[kind, :goal, :, 0] > 0.5
            goes_on = (own_after < goal) & (opponent_after < goal)
            end_position = np.where(wins, win_position, loss_position)
            position = np.where(goes_on, position, end_position)
            by_total_and_score[own + opponent, opponent] = position
        return positions.astype(np.int32)

    @cached_property
    def sums_past_goal(self) -> Floats:
        """Win probability by the sum of n dice without a 1, from own scores at the goal or past it.

        Values of more dice, from scores below the goal, are computed from these: that of n + 1 dice
        is the mean, over the faces of a die, of those of n dice from a score so many points higher;
        the face 1 counts 0. The shape is (D, G - 1 + sides, blocks, depth, cells): by kind of turn,
        total of both scores less the goal, block, n from 0, and cell of the block. A block has as
        many cells (pairs of scores) as a vector has numbers, neighbours of one total. Blocks are
        counted backward, from the one that has the cell whose own score is the goal.
        """
        tables, goal, cells, shape = self.tables, self.goal, self.cells, self.shape
        most_sides, depth = shape.most_sides, shape.past_goal_depth
        wins = (tables.landings.kind == WIN)[:, :goal].astype(np.float64)  # own, opponent's score
        num_totals = goal - 1 + most_sides
        sums = np.zeros(
            (len(tables.dice_of_kind), num_totals, shape.past_goal_blocks, depth, cells)
        )
        total_past_goal, block, cell = np.ogrid[:num_totals, : shape.past_goal_blocks, :cells]
        opponent = (total_past_goal // cells - block) * cells + cell
        own = goal + total_past_goal - opponent
        is_used = (opponent >= 0) & (opponent < goal) & (own >= goal) & (own < goal + most_sides)
        used_own = np.broadcast_to(own, is_used.shape)[is_used]
        used_opponent = np.broadcast_to(opponent, is_used.shape)[is_used]
        # Own scores past those of `wins` are as its last.
        scores = np.minimum(np.arange(goal + most_sides * (depth + 1)), len(wins) - 1)
        for kind, dice in enumerate(tables.dice_of_kind):
            value = wins[scores]  # by own and opponent's score; of no dice yet
            for num_dice in range(depth):
                sums[kind, :, :, num_dice][is_used] = value[used_own, used_opponent]
                # One die more: the mean over its faces of the value so many points higher.
                shifted = [np.roll(value, -face, axis=0) for face in range(2, dice.sides + 1)]
                value = np.add.reduce(shifted) / dice.sides
        return sums


# --- passes ---------------------------------------------------------------------------------------


def _pages(shape: Shape, board: Board, seats: int, dtype: DTypeLike) -> dict[str, NDArray[Any]]:
    """Allocate the pages of all seats, filled with zeros: two arrays, (pages, size), by name.

    A page is a block of memory with one number, a value or a reach probability, for each pair of
    scores: in `afterstates` after a turn, in `cells` before one. A seat is a player of a match. In
    each seat every value of the hidden memory has two pages of cells: one that turns of the other
    player lead to, and one that own turns lead to.
    """
    return {
        "afterstates": zeros((seats * shape.num_pages, board.afterstate_page), dtype),
        "cells": zeros((seats * 2 * shape.num_memories, board.cell_page), dtype),
    }


class CellPasses:
    """Forward and backward passes of one player in self-play, or against n opponents.

    A forward pass computes the reach of all states of the game, a backward pass their values.
    `matches` is n, `players` 1 in self-play and else 2. Dictionaries have the arguments of the
    kernels by name; `hogeq/kernels/cell_passes.py` describes them.
    """

    def __init__(
        self, tables: Tables, players: int, dtype: DTypeLike = np.float64, matches: int = 1
    ) -> None:
        """Make the two kernels of a game, and all arrays that they read and write, by name.

        Kernels are compiled for the `shape`, sizes of the game's tables that do not depend on the
        goal. Their arguments are the sizes of the `board`, which depend on it, tables of the
        `layout`, which say where numbers lie, and arrays to be filled. Pages are blocks of memory
        with a number for each pair of scores; `sums` has the values of sums of dice, `lines` those
        of rolls, for one vector of cells (pairs of scores).
        """
        cells = 64 // np.dtype(dtype).itemsize  # of a vector of 64 bytes
        layout = CellLayout(tables, cells)
        shape, board = layout.shape, layout.board
        self._value_program = Program(write_values, shape, dtype)
        self._reach_program = Program(write_reach, shape, dtype)
        totals = 2 * board.goal - 1
        self._reach = zeros((matches, totals * shape.num_memories * board.row_width), dtype)
        self._starts = np.zeros((matches, players))  # win probability when moving first
        self._changes = np.zeros(1)  # rows that ASCEND changed
        self.action_values = np.zeros((board.goal, board.goal, shape.num_actions))
        self.each_reach = np.zeros((matches, board.goal, board.goal))
        self._arguments = {
            **board._asdict(),
            "players": players,
            "landing": layout.landing,
            "no_dice": layout.no_dice,
            "handover": layout.handover,
            "groups": layout.groups,
            "situation": by_total(tables.situation),
            "line_of_roll": layout.line_of_roll,
            "sums": zeros((matches * players * board.sums_size,), dtype),
            "lines": zeros((matches * shape.most_lines * cells,), dtype),
        }
        self._reach_arguments = {
            "start_probability": 1.0 / players,
            "landing_reach": zeros((shape.num_pages * cells,), dtype),
            **_pages(shape, board, players, dtype),
        }
        value_pages = _pages(shape, board, matches * players, dtype)
        for pages in value_pages.values():
            pages[:, -1] = 1.0  # the last constant of a page: the value of a win
        self._value_arguments = {
            "matches": matches,
            "sums_past_goal": layout.sums_past_goal.astype(dtype),
            **value_pages,
            "row": zeros((shape.num_actions * cells,), np.float64),
            "action_sums": zeros((shape.num_actions * cells,), dtype),
            "reach": self._reach,
            "starts": self._starts,
            "action_values": self.action_values,
            "changes": self._changes,
        }

    def forward(self, policies: Floats, *, memories: bool = True) -> Floats:
        """Compute the probability of reaching the player's cells against each opponent, (n, G, G).

        A cell is a pair of scores. `policies` are (1 + n, G, G, K), the player's first; in
        self-play there is only this one. The reach of states, cells with a value of the hidden
        memory, is stored for a pass backward, unless `memories` is False. The result is
        `each_reach`.
        """
        for match, cell_reach in enumerate(self.each_reach):
            self._reach_program(
                **self._arguments,
                **self._reach_arguments,
                keeps_memories=int(memories),
                opponent=1 + match,
                policies=policies,
                reach=self._reach[match],
                infoset_reach=cell_reach,
            )
        return self.each_reach

    def backward(
        self, role: int, policies: Floats, reach: Reach, temperature: float, damping: float
    ) -> tuple[Floats, int]:
        """Compute values of all cells (pairs of scores) against all opponents, from the end back.

        The `role` says what the pass does at each cell: EVALUATE changes nothing, COUNTERFACTUAL
        fills `action_values`, (G, G, K), ASCEND and SOFTMAX change the row of the player's policy,
        the first of `policies`. `reach` is that of the mixture of opponents. Returns the win
        probability of each player when moving first, (n, players), and how many rows ASCEND
        changed.
        """
        self._value_program(
            **self._arguments,
            **self._value_arguments,
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
        """Compute the exact win rate of the first of two matrices (numbers of dice), (2, G, G)."""
        rolls = matrices.astype(np.float64)
        unread_reach = Reach(self.each_reach[0], np.ones(1))
        # Temperature and damping are for roles that change the policy.
        starts, _ = self.backward(EVALUATE, rolls, unread_reach, temperature=1.0, damping=1.0)
        return WinRate.from_starts(*starts[0].tolist())
