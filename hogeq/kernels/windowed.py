"""Win rate of two matrices, faster, where most outcomes of a roll leave one and the same record.

As :mod:`hogeq.kernels.duel`, which serves the other games. In su20 all points of 13 and more are
one record. What afterstates with it are worth is kept a second time, by score, so that these
outcomes are a *window* of neighbours (:mod:`hogeq.kernels.windows`). The *few* others are looked up
one by one, in slots that afterstates whose lives do not meet share: what is read lies in the cache.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels.lanes import item, load, splat, store
from hogeq.kernels.storage import zeros
from hogeq.kernels.sums import expect_wins, kernel, part
from hogeq.kernels.tables import Floats, Ints, Tables
from hogeq.kernels.windows import STEP, store_in_turn, sum_rows, weigh_windows

AHEAD = 6  # cells
LEAST = 3  # outcomes of a window
FEW, FEW_END, FIRST, LENGTH, NEAR, FAR, BONUS = range(7)  # columns of `rolls`


class WindowedArrays(NamedTuple):
    """Rolls as :func:`windowed_duel` reads them, beside the tables."""

    rolls: Ints
    """(K, 7): range of the few outcomes; points of the first in the window, how many there are,
    with a bonus too; where the weights begin, and those with the bonus; the bonus of members."""
    prob: Floats
    """(n + G,), of the few outcomes, and then of rolling no dice by the opponent's score: 1."""
    outcomes: Ints
    """(n + G, 2), their points and record."""
    weights: Floats
    """Of windows, padded by zeros."""
    record: int
    """That which the outcomes of windows leave."""
    members: Floats
    """(K * L,), 1 at the lanes of a roll's members, 0 elsewhere."""
    cells: Ints
    """(G * G, 2), own and opponent's score in the order of the tables."""
    landed: Ints
    """(y,), afterstate of every arrival, u * T + t."""
    landed_slot: Ints
    """(y,), its slot, u * (S + 1) + s."""


class WindowedScratch(NamedTuple):
    """What :func:`windowed_duel` writes; T is what scores can be read, S the slots of a column."""

    worth: Floats
    """(2 * G * (S + 1) * 2 * L,), by slot: of each record, and what members gain on it."""
    usual: Floats
    """(2 * G * T,), by afterstate, what it is worth with that record; 0 from the goal on."""
    lost: Floats
    """The same, of what members gain on it."""
    played: NDArray[np.uint16]
    """(2 * G * T,), where `members` has those of the roll that is made next."""
    near: Floats
    """Products of a window."""
    far: Floats
    """The same, with the bonus."""
    roots: Floats
    """(L + 2,), a row, and the win probability of each player when moving first."""


def common_record(tables: Tables) -> int:
    """Record that most outcomes of all rolls with more than a few leave; -1 if there is no one."""
    dice = tables.plane_dice[0]
    starts, stops = tables.outcome_start[dice], tables.outcome_stop[dice, :, 0]
    counts = [
        np.bincount(tables.outcome_record[first:last])
        for first, last in zip(starts[1:], stops[1:], strict=True)
    ]
    found = {int(count.argmax()) for count in counts if count.max(initial=0) >= LEAST}
    return found.pop() if len(found) == 1 else -1


def windowed_arrays(tables: Tables) -> tuple[WindowedArrays, WindowedScratch]:
    """Arrange the rolls of a game that has duels and a common record, and make room for them."""
    dimensions = tables.dimensions
    goal, num_actions, ring = dimensions.goal, dimensions.num_actions, dimensions.ring
    size = len(tables.lane)
    start = tables.alternative_start[0]
    some = np.diff(start) > 0
    rolls = np.zeros((num_actions, 7), np.int64)
    rolls[some, BONUS] = (ring - 1) * tables.alternative_far
    members = zeros((num_actions * size,), np.float64)
    members.reshape(num_actions, size)[some] = tables.member_lanes.reshape(-1, size)
    kept = common_record(tables)
    found = _windows(tables, rolls, kept)
    few = np.concatenate([np.arange(0), *found.few])
    prob = np.append(tables.outcome_prob[few], np.ones(goal))
    outcomes = np.stack(
        [
            np.append(tables.outcome_points[few], tables.zero_points[0, 0]),
            np.append(tables.outcome_record[few], tables.zero_record[0, 0]),
        ],
        axis=1,
    )
    opponent, score = np.divmod(tables.arrival_row, goal)
    longest = int(rolls[:, LENGTH].max()) + STEP
    reach = int(outcomes[:, 0].max()) + ring - 1
    scores = goal + max(reach, int(rolls[:, FIRST].max()) + longest)
    count = _slots(tables, reach)
    arrays = WindowedArrays(
        rolls=rolls,
        prob=prob,
        outcomes=outcomes,
        weights=found.weights,
        record=kept,
        members=members,
        cells=np.stack(np.divmod(tables.cell_order, goal), axis=1),
        landed=opponent * scores + score,
        landed_slot=opponent * (count + 1) + score % count,
    )
    afterstates = 2 * goal * scores
    scratch = WindowedScratch(
        worth=zeros((2 * goal * (count + 1) * 2 * size,), np.float64),
        usual=zeros((afterstates,), np.float64),
        lost=zeros((afterstates,), np.float64),
        played=np.zeros(afterstates, np.uint16),
        near=zeros((longest,), np.float64),
        far=zeros((longest,), np.float64),
        roots=zeros((size + 2,), np.float64),
    )
    return arrays, scratch


class _Windows(NamedTuple):
    few: list[Ints]
    """Outcomes of every roll from one die on that are in no window."""
    weights: Floats


def _windows(tables: Tables, rolls: Ints, kept: int) -> _Windows:
    """Part the outcomes of all rolls; fill the columns of `rolls`."""
    dice = tables.plane_dice[0]
    starts, stops = tables.outcome_start[dice], tables.outcome_stop[dice, :, 0]
    ranges = [np.arange(*both) for both in zip(starts[1:], stops[1:], strict=True)]
    few: list[Ints] = []
    weights = [np.zeros(STEP)]
    for roll, here in enumerate(ranges, 1):
        among = tables.outcome_record[here] == kept
        if among.any():
            points = tables.outcome_points[here[among]]
            first, bonus = points.min(), rolls[roll, BONUS]
            length = points.max() + 1 - first + bonus
            both = np.zeros((2, -(-length // STEP) * STEP))
            prob = tables.outcome_prob[here[among]]
            both[0, points - first] = prob
            both[1, points - first + bonus] = prob
            near = sum(map(len, weights))
            rolls[roll, FIRST:BONUS] = first, length, near, near + both.shape[1]
            weights.append(both.ravel())
        rolls[roll, FEW] = sum(map(len, few))
        few.append(here[~among])
        rolls[roll, FEW_END] = sum(map(len, few))
    rolls[0, FEW] = sum(map(len, few))
    flat = np.concatenate(weights)
    aligned = zeros(flat.shape, np.float64)
    aligned[:] = flat
    return _Windows(few, aligned)


def _slots(tables: Tables, reach: int) -> int:
    """Slots of a column such that no afterstate is overwritten before it is last read."""
    goal = tables.dimensions.goal
    visit = np.empty(goal * goal, np.int64)
    visit[tables.cell_order] = np.arange(goal * goal)
    opponent, score = np.divmod(tables.arrival_row, goal)
    written = np.full((goal, goal), -1)
    cells = np.repeat(np.arange(goal * goal), np.diff(tables.arrival_start))
    written[opponent, score] = visit[cells]
    visits = visit.reshape(goal, goal).T  # by the opponent's score and the own one of a base
    count = 1 << reach.bit_length()
    while count < goal:
        last = np.stack([visits[:, np.maximum(np.arange(goal) - x, 0)] for x in range(reach + 1)])
        if (written[:, :-count] < last.min(axis=0)[:, count:]).all():
            break
        count *= 2
    return count


@part
def _slot(score, goal, count):
    """Slot of a score, or the last one, which holds nothing."""
    return score & (count - 1) if score < goal else count


@kernel
def _duel(tables, arrays, matrices, scratch):
    goal, ring = tables.dimensions.goal, tables.dimensions.ring
    num_actions = tables.dimensions.num_actions
    lane = tables.lane
    size = len(lane)
    worth, usual, lost, roots = scratch.worth, scratch.usual, scratch.lost, scratch.roots
    rolls, members = arrays.rolls, arrays.members
    scores = len(scratch.played) // (2 * goal)
    column = len(worth) // (2 * goal * 2 * size)
    bases = tables.terminal_win.shape[1]
    start, record = divmod(tables.start, size)
    for turn in range(goal * goal - 1, -1, -1):
        ahead = max(turn - AHEAD, 0)
        own, opponent = item(arrays.cells, 2 * ahead), item(arrays.cells, 2 * ahead + 1)
        expect_wins(tables, own, opponent)
        expect_wins(tables, own + ring - 1, opponent)
        own, opponent = item(arrays.cells, 2 * turn), item(arrays.cells, 2 * turn + 1)
        cell = own * goal + opponent
        first_arrival = item(tables.arrival_start, cell)
        last_arrival = item(tables.arrival_start, cell + 1)
        for player in range(2):
            roll = item(matrices, player * goal * goal + cell)
            plays = 7 * roll
            bonus = item(rolls, plays + BONUS)
            line = player * goal + opponent
            wins = ((tables.plane_dice[0] * bases + own) * goal + opponent) * num_actions + roll
            near = item(tables.terminal_win, wins)
            far = item(tables.terminal_win, wins + bonus * goal * num_actions)
            near_gain, far_gain = splat(worth, 0.0, lane), splat(worth, 0.0, lane)
            window = own + item(rolls, plays + FIRST)
            count = min(item(rolls, plays + LENGTH), goal - window)
            if count > 0:
                at = line * scores + window
                sums = weigh_windows(
                    usual,
                    lost,
                    at,
                    arrays.weights,
                    item(rolls, plays + NEAR),
                    item(rolls, plays + FAR),
                    count,
                    scratch.near,
                    scratch.far,
                )
                near += sums[0]
                far += sums[1]
                near_gain, far_gain = sum_rows(
                    members, scratch.played, at, count, scratch.near, scratch.far, lane
                )
            first, last = item(rolls, plays + FEW), item(rolls, plays + FEW_END)
            if roll == 0:
                first += opponent
                last = first + 1
            for i in range(first, last):
                prob = item(arrays.prob, i)
                points, left = item(arrays.outcomes, 2 * i), item(arrays.outcomes, 2 * i + 1)
                there = own + points
                at = ((line * column + _slot(there, goal, column - 1)) * size + left) * 2
                near += prob * item(worth, at)
                gain = prob * item(worth, at + 1)
                place = np.int64(item(scratch.played, line * scores + there))
                near_gain += gain * load(members, place, lane)
                there += bonus
                at = ((line * column + _slot(there, goal, column - 1)) * size + left) * 2
                far += prob * item(worth, at)
                gain = prob * item(worth, at + 1)
                place = np.int64(item(scratch.played, line * scores + there))
                far_gain += gain * load(members, place, lane)
            value = near + near_gain
            loss = value - (far + far_gain)
            for arrival in range(first_arrival, last_arrival):
                there = (1 - player) * goal * scores + item(arrays.landed, arrival)
                at = ((1 - player) * goal * column + item(arrays.landed_slot, arrival)) * size * 2
                store_in_turn(worth, at, 1.0 - value, loss)
                usual[there] = item(worth, at + 2 * arrays.record)
                lost[there] = item(worth, at + 2 * arrays.record + 1)
                scratch.played[there] = np.uint16(roll * size)
            if cell == 0:
                store(roots, 0, value - members[roll * size + start] * loss)
                roots[size + player] = roots[record]


def windowed_duel(view, arrays, matrices, scratch):
    """Win probability of two matrices against each other, exactly.

    Parameters
    ----------
    view : TablesView
        Of a game that has duels and a common record.
    arrays : WindowedArrays
    matrices : int64 (2, G, G)
    scratch : WindowedScratch

    Returns
    -------
    tuple of float, float
        Win probability of each player when moving first.
    """
    _duel(view, arrays, matrices, scratch)
    first, other = scratch.roots[-2:]
    return float(first), float(other)
