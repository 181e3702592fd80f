"""The two passes over n pairs of strategies at once, of games with a plan.

As :mod:`hogeq.kernels.planned`, by the arithmetic of :mod:`hogeq.kernels.interleaved`. Pairs are in
groups of as many as a vector holds, and a cell is visited for all groups before the next. Either
side of the pairs is one strategy for all or one for each: of the arguments for the two ways, one is
None.
"""

from typing import NamedTuple

import numpy as np

from hogeq.kernels.interleaved import (
    average_lanes,
    clear_lanes,
    land_lanes,
    mix_lanes,
    reach_lanes,
    value_lanes,
)
from hogeq.kernels.interleaving import InterleavedPlan
from hogeq.kernels.lanes import item
from hogeq.kernels.passes import soften, take_best
from hogeq.kernels.plan import Plan
from hogeq.kernels.roles import ASCEND, EVALUATE, SOFTMAX
from hogeq.kernels.sums import kernel, part
from hogeq.kernels.tables import Ints, Tables


class Columns(NamedTuple):
    """Where a group keeps what it keeps; positions are in numbers."""

    order: Ints
    """(G * G, 2), own and opponent's score of the cells, forward."""
    runs: Ints
    """(r + 1,), ranges of it whose cells do not feed each other."""
    slots: Ints
    """(G + reach + 1,), block by score, from its column's first; beyond the goal a spare one."""
    none: Ints
    """(G, G), afterstate of no dice, from its column's first."""
    landed: Ints
    """(y,), block of every arrival of the tables, from the player's first."""
    reach: int
    """Points that a block can be away from a base that leads to it."""
    column: int
    """Numbers of a column of blocks, by the opponent's score; the last block is spare."""
    block: int
    """Numbers of a block."""
    bases: int
    """Bases of a column whose rolls are kept."""
    ring: int
    """Bases of a column whose sums are kept."""
    row: int
    """Numbers of the rolls, and of the sums, of a base."""
    weights: int
    """Numbers that weight a cell's values."""
    start_lane: int


def columns_of(tables: Tables, base: Plan, plan: InterleavedPlan) -> Columns:
    """Lay out a game that has a plan."""
    goal = tables.dimensions.goal
    constants = plan.constants
    points = [target.points for target in base.constants.targets]
    reach = max(2, *points, int(tables.zero_points.max()))
    count = slots_of(tables, reach)
    slots = np.full(goal + reach + 1, count)
    slots[:goal] = np.arange(goal) % count
    slots *= constants.block
    column = (count + 1) * constants.block
    own = np.arange(goal)[:, None]
    record = tables.zero_record[0, :goal] * constants.active * constants.width
    opponent, score = np.divmod(tables.arrival_row, goal)
    return Columns(
        order=np.stack(np.divmod(tables.cell_order, goal), axis=1),
        runs=tables.run_start,
        slots=slots,
        none=slots[np.minimum(own + tables.zero_points[0, :goal], goal)] + record,
        landed=opponent * column + slots[score],
        reach=reach,
        column=column,
        block=constants.block,
        bases=constants.bases,
        ring=constants.ring,
        row=constants.row,
        weights=constants.weights,
        start_lane=constants.start_lane,
    )


def slots_of(tables: Tables, reach: int) -> int:
    """Fewest places of a column's blocks such that none is taken while another needs it.

    A block is needed from the visit of the lowest base that leads to it, `reach` points below, to
    that of the cell on which it lands.
    """
    goal = tables.dimensions.goal
    visit = np.empty(goal * goal, np.int64)
    visit[tables.cell_order] = np.arange(goal * goal)
    opponent, score = np.divmod(tables.arrival_row, goal)
    landing = np.full((goal, goal), -1)
    landing[opponent, score] = visit[np.repeat(np.arange(goal**2), np.diff(tables.arrival_start))]
    visits = visit.reshape(goal, goal).T
    landing = np.maximum(landing, visits)  # the base of these scores itself
    for count in range(reach + 1, goal):
        if (landing[:, :-count] < visits[:, count - reach : goal - reach]).all():
            return count
    return goal


@part
def _row_of(line, score, ring, row):
    """Place of a base's row in a ring of them."""
    return (line * ring + score % ring) * row


@part
def _note_rows(columns, line, own, away, spots):
    """Places of the rows of sums of the bases 2 and more away, up (1) or down (-1)."""
    ring = columns.ring
    for x in range(len(spots)):
        spots[x] = _row_of(line, own + ring + away * (2 + x), ring, columns.row)


@part
def _spread(row, same):
    """Write a row that is the same in all pairs."""
    for roll in range(len(row)):
        same[roll] = row[roll]


@part
def _fill_ends(tables, columns, rolls, width):
    """Write the rolls from bases past the goal."""
    goal, num_actions = tables.dimensions.goal, tables.dimensions.num_actions
    dice = tables.plane_dice[0]
    for group in range(len(rolls)):
        for player in range(2):
            for opponent in range(goal):
                for own in range(goal, goal + columns.bases - 1):
                    line = player * goal + opponent
                    at = _row_of(line, own, columns.bases, columns.row)
                    for roll in range(num_actions):
                        win = tables.terminal_win[dice, own, opponent, roll]
                        for lane in range(at + roll * width, at + columns.row, num_actions * width):
                            for pair in range(width):
                                rolls[group, lane + pair] = win


@kernel
def _backward(
    plan,
    columns,
    tables,
    role,
    policy,
    policies,
    opponent_policy,
    opponents,
    weights,
    masses,
    values,
    rolls,
    sums,
    averages,
    arrived,
    counterfactual_values,
    infoset_reach,
    temperature,
    damping,
    starts,
    roots,
    changes,
    spots,
    same,
):
    goal, num_actions = tables.dimensions.goal, tables.dimensions.num_actions
    groups, width = arrived.shape[1], arrived.shape[2]
    dice = tables.plane_dice[0]
    sums[:] = 0.0
    for group in range(groups):
        for line in range(goal):
            for player in range(2):
                spare = (line + 1) * columns.column
                values[group, player, spare - columns.block : spare] = 0.0
    _fill_ends(tables, columns, rolls, width)
    for turn in range(goal * goal - 1, -1, -1):
        own, opponent = item(columns.order, 2 * turn), item(columns.order, 2 * turn + 1)
        cell = own * goal + opponent
        none = columns.none[own, opponent]
        first, last = tables.arrival_start[cell], tables.arrival_start[cell + 1]
        wins = tables.terminal_win[dice, own, opponent]
        for player in range(2):
            line = player * goal + opponent
            near = _row_of(line, own, columns.bases, columns.row)
            far = _row_of(line, own + columns.bases - 1, columns.bases, columns.row)
            level = _row_of(line, own, columns.ring, columns.row)
            _note_rows(columns, line, own, 1, spots)
            for group in range(groups):
                known = values[group, player, opponent * columns.column :]
                value_lanes(
                    plan,
                    known,
                    columns.slots,
                    own,
                    none,
                    wins,
                    rolls[group],
                    near,
                    sums[group],
                    level,
                    spots,
                )
                if player == 0 and role != EVALUATE:
                    at = turn * columns.weights
                    average_lanes(
                        plan, masses[group], at, rolls[group], near, far, averages[turn, group]
                    )
            if player == 0 and role != EVALUATE:
                found = averages[turn]
                here = arrived[turn]
                if policy is not None:
                    total = counterfactual_values[own, opponent]
                    total[:] = 0.0
                    came = 0.0
                    for group in range(groups):
                        for pair in range(width):
                            weight = weights[group * width + pair]
                            came += weight * here[group, pair]
                            for roll in range(num_actions):
                                total[roll] += weight * found[group, roll, pair]
                    infoset_reach[own, opponent] = came
                    row = policy[own, opponent]
                    if came > 0.0 and role == ASCEND:
                        changes[0] += take_best(row, total, came)
                    elif came > 0.0 and role == SOFTMAX:
                        soften(row, total, came, temperature, damping)
                if policies is not None:
                    for group in range(groups):
                        for pair in range(width):
                            came = here[group, pair]
                            row = policies[group, own, opponent, :, pair]
                            one = found[group, :, pair]
                            if came > 0.0 and role == ASCEND:
                                changes[group * width + pair] += take_best(row, one, came)
                            elif came > 0.0 and role == SOFTMAX:
                                soften(row, one, came, temperature, damping)
            if player == 0 and policy is not None:
                _spread(policy[own, opponent], same)
            if player == 1 and opponent_policy is not None:
                _spread(opponent_policy[own, opponent], same)
            for group in range(groups):
                rows = same
                if player == 0 and policies is not None:
                    rows = policies[group, own, opponent]
                if player == 1 and opponents is not None:
                    rows = opponents[group, own, opponent]
                mix_lanes(
                    plan,
                    rows,
                    rolls[group],
                    near,
                    far,
                    values[group, 1 - player],
                    columns.landed,
                    first,
                    last,
                    starts,
                )
                if cell == 0:
                    root = columns.start_lane * width
                    for pair in range(width):
                        roots[player, group * width + pair] = starts[root + pair]


@kernel
def _forward(
    plan,
    columns,
    tables,
    policy,
    policies,
    opponent_policy,
    opponents,
    masses,
    reach,
    rolls,
    sums,
    arrived,
    unused,
    spots,
    same,
):
    goal = tables.dimensions.goal
    groups = arrived.shape[1]
    sums[:] = 0.0
    rolls[:] = 0.0
    for run in range(len(columns.runs) - 1):
        for turn in range(columns.runs[run], columns.runs[run + 1]):
            own, opponent = item(columns.order, 2 * turn), item(columns.order, 2 * turn + 1)
            for player in range(2):
                line = player * goal + opponent
                _note_rows(columns, line, own, -1, spots)
                for group in range(groups):
                    known = reach[group, player, opponent * columns.column :]
                    if own == 0:
                        for score in range(columns.reach + 1):
                            clear_lanes(plan, known, columns.slots[score], True)
                    land_lanes(plan, known, columns.slots[own], sums[group], spots)
        for turn in range(columns.runs[run], columns.runs[run + 1]):
            own, opponent = item(columns.order, 2 * turn), item(columns.order, 2 * turn + 1)
            cell = own * goal + opponent
            none = columns.none[own, opponent]
            first, last = tables.arrival_start[cell], tables.arrival_start[cell + 1]
            begun = 0.5 if cell == 0 else 0.0
            for player in range(2):
                line = player * goal + opponent
                near = _row_of(line, own, columns.bases, columns.row)
                far = _row_of(line, own + columns.bases - 1, columns.bases, columns.row)
                level = _row_of(line, own, columns.ring, columns.row)
                _note_rows(columns, line, own, -1, spots)
                if player == 0 and policy is not None:
                    _spread(policy[own, opponent], same)
                if player == 1 and opponent_policy is not None:
                    _spread(opponent_policy[own, opponent], same)
                for group in range(groups):
                    known = reach[group, player, opponent * columns.column :]
                    if own > 0:
                        clear_lanes(plan, known, columns.slots[own + columns.reach], False)
                    at = turn * columns.weights if player == 0 else -1
                    rows = same
                    if player == 0 and policies is not None:
                        rows = policies[group, own, opponent]
                    if player == 1 and opponents is not None:
                        rows = opponents[group, own, opponent]
                    reach_lanes(
                        plan,
                        reach[group, 1 - player],
                        columns.landed,
                        first,
                        last,
                        begun,
                        rows,
                        masses[group],
                        at,
                        known,
                        columns.slots,
                        own,
                        none,
                        rolls[group],
                        near,
                        far,
                        sums[group],
                        level,
                        spots,
                        arrived[turn, group] if player == 0 else unused,
                    )


def backward(
    plan,
    columns,
    view,
    role,
    policy,
    policies,
    opponent,
    opponents,
    weights,
    masses,
    values,
    rolls,
    sums,
    averages,
    arrived,
    counterfactual_values,
    infoset_reach,
    temperature,
    damping,
    starts,
    spots,
    same,
):
    """Backward induction over all cells; any role but FULL_MEMORY, for the player of every pair.

    Parameters
    ----------
    plan : InterleavedPlan
    columns : Columns
    view : TablesView
    role : int
    policy : float64 (G, G, K) or None
        Of the player in all pairs; ASCEND and SOFTMAX rewrite it, by the weighted sum of all.
    policies : float64 (m, G, G, K, V) or None
        Of the player in each pair, by group; ASCEND and SOFTMAX rewrite them.
    opponent, opponents
        The same for the other side, never rewritten.
    weights : float64 (m * V,)
    masses, arrived
        From :func:`forward`; not read by EVALUATE.
    values, rolls, sums : float64 or float32
        Scratch of every group.
    averages : float64 (G * G, m, K, V)
        Filled with counterfactual values of every pair, in the order of visits.
    counterfactual_values : float64 (G, G, K)
        Filled with their weighted sum, if there is one policy; SOFTMAX leaves scratch.
    infoset_reach : float64 (G, G)
        Filled with the weighted sum of `arrived`, if there is one policy.
    temperature, damping : float
    starts, spots, same
        Scratch: rows of a lane, places of sums, a row for all pairs.

    Returns
    -------
    tuple of float64 (2, m * V), int64 (m * V,)
        Win probability of each player and of each opponent when moving first, and the cells that
        ASCEND changed, those of one policy at 0.
    """
    pairs = arrived.shape[1] * arrived.shape[2]
    roots, changes = np.zeros((2, pairs)), np.zeros(pairs, np.int64)
    _backward(
        plan,
        columns,
        view,
        role,
        policy,
        policies,
        opponent,
        opponents,
        weights,
        masses,
        values,
        rolls,
        sums,
        averages,
        arrived,
        counterfactual_values,
        infoset_reach,
        temperature,
        damping,
        starts,
        roots,
        changes,
        spots,
        same,
    )
    return roots, changes


def forward(
    plan,
    columns,
    view,
    policy,
    policies,
    opponent,
    opponents,
    masses,
    reach,
    rolls,
    sums,
    arrived,
    spots,
    same,
):
    """Reach probabilities of every hidden state, for all pairs.

    Parameters
    ----------
    plan, columns, view, policy, policies, opponent, opponents, rolls, sums, spots, same
        As of :func:`backward`.
    masses : (m, G * G * columns.weights)
        Filled with what weights values of the player, in the order of visits.
    reach : (m, 2, n)
        Scratch.
    arrived : float64 (G * G, m, V)
        Filled with the reach of every cell, the player to move, in the order of visits.
    """
    _forward(
        plan,
        columns,
        view,
        policy,
        policies,
        opponent,
        opponents,
        masses,
        reach,
        rolls,
        sums,
        arrived,
        np.zeros(arrived.shape[2]),
        spots,
        same,
    )
