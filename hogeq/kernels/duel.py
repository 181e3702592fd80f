"""Win rate of two matrices, where turns only swap the players' records.

A matrix makes one roll at a cell, so the mover's own record matters only through how that roll
plays: as usual, or the other way for the few records that are its *members*. An afterstate is then
worth one number for each record that the turn left, and what members gain on it: 2 W numbers
instead of W squared. A roll's value, by the record of whoever moves next, is a sum over its
outcomes of the first, plus the second at the lanes of the members.
"""

from typing import NamedTuple

import numpy as np

from hogeq.kernels.lanes import item, load, splat, store
from hogeq.kernels.storage import zeros
from hogeq.kernels.sums import expect_wins, kernel
from hogeq.kernels.tables import Floats, Ints, Tables

AHEAD = 4  # cells


class DuelArrays(NamedTuple):
    """Rolls as :func:`duel` reads them, beside the tables."""

    prob: Floats
    """(n + G,), of every outcome, and then of rolling no dice by the opponent's score: 1."""
    points: Ints
    """(n + G,)"""
    record: Ints
    """(n + G,)"""
    bonus: Ints
    """(K,), what members gain."""
    members: Floats
    """(K * L,), 1 at the lanes of a roll's members, 0 elsewhere."""
    landed: Ints
    """(y,), afterstate of every arrival, u * T + t."""


def can_duel(tables: Tables) -> bool:
    """Whether a game is of the kind that :func:`duel` plays."""
    return bool(
        tables.only_swaps
        and not tables.has_cycles
        and len(tables.plane_dice) == 1
        and len(tables.default_mode) == 1
        and not len(tables.fixed_win)
        and not tables.gift.any()
        and not tables.zero_gift.any()
        and (tables.zero_points == tables.zero_points[:, :1]).all()
        and not tables.default_far.any()
        and np.diff(tables.alternative_start, axis=1).max() <= 1
    )


def duel_arrays(tables: Tables) -> DuelArrays:
    """Arrange the rolls of a game for which :func:`can_duel` holds."""
    dimensions = tables.dimensions
    goal, num_actions, ring = dimensions.goal, dimensions.num_actions, dimensions.ring
    size = len(tables.lane)
    start = tables.alternative_start[0]
    some = np.diff(start) > 0
    bonus = np.zeros(num_actions, np.int64)
    bonus[some] = (ring - 1) * tables.alternative_far
    members = zeros((num_actions, size), np.float64)
    members[some] = tables.member_lanes.reshape(-1, size)
    opponent, score = np.divmod(tables.arrival_row, goal)
    return DuelArrays(
        prob=np.append(tables.outcome_prob, np.ones(goal)),
        points=np.append(tables.outcome_points, tables.zero_points[0, 0]),
        record=np.append(tables.outcome_record, tables.zero_record[0, 0]),
        bonus=bonus,
        members=members.ravel(),
        landed=opponent * (goal + ring - 1) + score,
    )


@kernel
def _duel(tables, arrays, matrices, worth, played, roots):
    goal, ring = tables.dimensions.goal, tables.dimensions.ring
    lane = tables.lane
    size = len(lane)
    scores = goal + ring - 1
    order = tables.cell_order
    dice = tables.plane_dice[0]
    start, record = divmod(tables.start, size)
    none = len(tables.outcome_prob)
    for turn in range(len(order) - 1, -1, -1):
        own, opponent = divmod(order[max(turn - AHEAD, 0)], goal)
        expect_wins(tables, own, opponent)
        expect_wins(tables, own + ring - 1, opponent)
        cell = order[turn]
        own, opponent = divmod(cell, goal)
        first_arrival, last_arrival = tables.arrival_start[cell], tables.arrival_start[cell + 1]
        for player in range(2):
            roll = matrices[player, own, opponent]
            first, last = tables.outcome_start[dice, roll], tables.outcome_stop[dice, roll, own]
            if roll == 0:
                first = none + opponent
                last = first + (own + item(arrays.points, first) < goal)
            bonus = item(arrays.bonus, roll)
            base = (player * goal + opponent) * scores + own
            usual = tables.terminal_win[dice, own, opponent, roll]
            other = tables.terminal_win[dice, own + bonus, opponent, roll]
            usual_gain, other_gain = splat(worth, 0.0, lane), splat(worth, 0.0, lane)
            for i in range(first, last):
                prob, left = item(arrays.prob, i), item(arrays.record, i)
                near = base + item(arrays.points, i)
                far = near + bonus
                usual += prob * item(worth, 2 * near * size + left)
                gain = prob * item(worth, (2 * near + 1) * size + left)
                usual_gain += gain * load(arrays.members, item(played, near), lane)
                other += prob * item(worth, 2 * far * size + left)
                gain = prob * item(worth, (2 * far + 1) * size + left)
                other_gain += gain * load(arrays.members, item(played, far), lane)
            value = usual + usual_gain
            lost = value - (other + other_gain)
            for arrival in range(first_arrival, last_arrival):
                there = (1 - player) * goal * scores + item(arrays.landed, arrival)
                store(worth, 2 * there * size, 1.0 - value)
                store(worth, (2 * there + 1) * size, lost)
                played[there] = roll * size
            if cell == 0:
                store(roots, 0, value - arrays.members[roll * size + start] * lost)
                roots[size + player] = roots[record]


def duel(view, arrays, matrices, worth, played):
    """Win probability of two matrices against each other, exactly.

    Parameters
    ----------
    view : TablesView
        Of a game for which :func:`can_duel` holds.
    arrays : DuelArrays
    matrices : int64 (2, G, G)
    worth : float64 (2 * G * T * 2 * L,)
        Scratch: by afterstate (u, t), what it is worth by its record, and what members gain on it;
        0 from the goal on.
    played : int64 (2 * G * T,)
        Scratch: where `arrays.members` has those of the roll that is made next.

    Returns
    -------
    tuple of float, float
        Win probability of each player when moving first.
    """
    size = len(view.tables.lane)
    roots = np.zeros(size + 2)
    _duel(view, arrays, matrices, worth, played, roots)
    return float(roots[size]), float(roots[size + 1])
