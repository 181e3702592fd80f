"""The two passes of :mod:`hogeq.kernels.passes` over games with a plan.

Nothing is kept of values and reach but what the passes return: win probabilities, the averages of
values, the reach of player 0's memories.
"""

import numpy as np

from hogeq.kernels.dice import core, kernel, part
from hogeq.kernels.lanes import item, load, prefetch, splat, store
from hogeq.kernels.passes import FOLLOW, GREEDY, SOFTEN, fill_ends, soften, take_best
from hogeq.kernels.unrolled import (
    average_rolls,
    clear_block,
    land_sums,
    mix_and_publish,
    pass_reach_on,
    publish_certain,
    sum_of,
    sum_rolls,
    value_rolls,
)

AHEAD = 4  # cells


@part
def _expect_wins(tables, own, opponent):
    """Ask for the rolls that win at once from a base."""
    goal, rolls, _, _, _, _ = tables.sizes
    bases = tables.terminal_win.shape[1]
    at = ((tables.plane_dice[0] * bases + own) * goal + opponent) * rolls
    prefetch(tables.terminal_win, at, tables.lane)


@part
def _expect(tables, blocks, policies, turn):
    """Ask for what a cell needs of large arrays, some cells before it is visited."""
    goal, rolls, _, _, _, _ = tables.sizes
    own, opponent = item(blocks.order, 2 * turn), item(blocks.order, 2 * turn + 1)
    for player in range(len(policies)):
        at = ((player * goal + own) * goal + opponent) * rolls
        prefetch(policies, at, tables.lane)
    _expect_wins(tables, own, opponent)


@core
def _backward(
    plan,
    blocks,
    tables,
    role,
    policies,
    masses,
    values,
    buffer,
    sums,
    row_values,
    mass,
    temperature,
    damping,
    roots,
):
    goal = tables.sizes[0]
    size = len(tables.lane)
    players = len(values)
    dice = tables.plane_dice[0]
    changes = 0
    sums[:] = 0.0
    values[:, blocks.spare :] = 0.0
    fill_ends(tables, values, buffer)
    for turn in range(goal * goal - 1, -1, -1):
        own, opponent = item(blocks.order, 2 * turn), item(blocks.order, 2 * turn + 1)
        ahead = max(turn - AHEAD, 0)
        _expect(tables, blocks, policies, ahead)
        if role != FOLLOW:
            there = item(blocks.order, 2 * ahead) * goal + item(blocks.order, 2 * ahead + 1)
            for x in range(0, masses.shape[1], size):
                prefetch(masses, ahead * masses.shape[1] + x, tables.lane)
            prefetch(row_values, there * tables.sizes[1], tables.lane)
        cell = own * goal + opponent
        home = opponent * blocks.at.shape[1] + own
        none = blocks.at[opponent, own + tables.zero_points[opponent]]
        none += tables.zero_record[opponent] * size
        first, last = tables.arrival_start[cell], tables.arrival_start[cell + 1]
        wins = tables.terminal_win[dice, own, opponent]
        for player in range(players):
            line = player * goal + opponent
            row = policies[player, own, opponent]
            known, told = values[player], values[players - 1 - player]
            value_rolls(plan, known, blocks.at, home, none, wins, buffer, sums, line, own)
            if player == 0 and role != FOLLOW:
                found = row_values[own, opponent]
                average_rolls(plan, masses, turn, buffer, line, own, found)
                here = mass[own, opponent]
                if here > 0.0 and role == GREEDY:
                    changes += take_best(row, found, here)
                elif here > 0.0 and role == SOFTEN:
                    soften(row, found, here, temperature, damping)
            root = mix_and_publish(plan, row, buffer, line, own, told, blocks.landed, first, last)
            if cell == 0:
                roots[player] = root
    return roots[0], roots[players - 1], changes


@kernel
def backward(
    plan,
    blocks,
    tables,
    role,
    policies,
    masses,
    values,
    buffer,
    sums,
    row_values,
    mass,
    temperature,
    damping,
):
    """Backward induction over all cells; any role but REMEMBER, for player 0.

    Parameters
    ----------
    plan : Plan
    blocks : Blocks
    tables : Tables
    role, policies, row_values, temperature, damping
        As of :func:`hogeq.kernels.passes.backward`.
    masses : float64 (G * G, J * L)
        Reach of player 0's memories at every cell, in the order of visits, and ...
    mass : float64 (G, G)
        ... their sums by cell, from :func:`forward`; read by MEASURE, GREEDY and SOFTEN only.
    values : float64 (Q, n)
        Scratch: the blocks.
    buffer, sums : float64
        Scratch, as of :func:`hogeq.kernels.passes.backward`.

    Returns
    -------
    tuple of float, float, int
        Win probability of player 0 and of the last player when each moves first, and the number
        of cells that GREEDY changed.
    """
    roots = np.zeros(2)
    return _backward(
        plan,
        blocks,
        tables,
        role,
        policies,
        masses,
        values,
        buffer,
        sums,
        row_values,
        mass,
        temperature,
        damping,
        roots,
    )


@core
def _forward(plan, blocks, tables, policies, reach, buffer, sums, masses, mass):
    goal = tables.sizes[0]
    size = len(tables.lane)
    players = len(reach)
    sums[:] = 0.0
    runs = tables.run_start
    for run in range(len(runs) - 1):
        for turn in range(runs[run], runs[run + 1]):
            own, opponent = item(blocks.order, 2 * turn), item(blocks.order, 2 * turn + 1)
            for player in range(players):
                if own == 0:
                    for score in range(blocks.reach + 1):
                        clear_block(plan, reach[player], blocks.at[opponent, score], True)
                line = player * goal + opponent
                land_sums(plan, reach[player], blocks.at[opponent, own], sums, line, own)
        for turn in range(runs[run], runs[run + 1]):
            own, opponent = item(blocks.order, 2 * turn), item(blocks.order, 2 * turn + 1)
            _expect(tables, blocks, policies, min(turn + AHEAD, goal * goal - 1))
            cell = own * goal + opponent
            home = opponent * blocks.at.shape[1] + own
            none = blocks.at[opponent, own + tables.zero_points[opponent]]
            none += tables.zero_record[opponent] * size
            first, last = tables.arrival_start[cell], tables.arrival_start[cell + 1]
            begun = 1.0 / players if cell == 0 else 0.0
            for player in range(players):
                line = player * goal + opponent
                row = policies[player, own, opponent]
                known, told = reach[player], reach[players - 1 - player]
                if own > 0:
                    clear_block(plan, known, blocks.at[opponent, own + blocks.reach], False)
                here = pass_reach_on(
                    plan,
                    told,
                    blocks.landed,
                    first,
                    last,
                    begun,
                    row,
                    masses,
                    turn if player == 0 and len(masses) > 0 else -1,
                    known,
                    blocks.at,
                    home,
                    none,
                    buffer,
                    sums,
                    line,
                    own,
                )
                if player == 0:
                    mass[own, opponent] = here
    buffer[:] = 0.0


@kernel
def forward(plan, blocks, tables, policies, reach, buffer, sums, masses, mass):
    """Reach probabilities of every hidden state under both players' policies.

    Parameters
    ----------
    plan : Plan
    blocks : Blocks
    tables : Tables
    policies : float64 (Q, G, G, K)
        As of :func:`hogeq.kernels.passes.forward`.
    reach : float64 (Q, n)
        Scratch: the blocks.
    buffer, sums : float64
        Scratch, as of :func:`hogeq.kernels.passes.forward`.
    masses : float64 (G * G, J * L)
        Filled with the reach of player 0's memories at every cell, in the order of visits, and ...
    mass : float64 (G, G)
        ... with their sums by cell.  These alone if `masses` is of shape (0, J * L).
    """
    _forward(plan, blocks, tables, policies, reach, buffer, sums, masses, mass)


@part
def _certain(plan, blocks, tables, values, roll, sums, line, own, opponent):
    """Win probability of one roll from a base, as a vector over the lane."""
    goal = tables.sizes[0]
    win = tables.terminal_win[tables.plane_dice[0], own, opponent, roll]
    value = splat(values, win, tables.lane)
    if own < goal:
        home = opponent * blocks.at.shape[1] + own
        if roll == 0:
            at = item(blocks.at, home + item(tables.zero_points, opponent))
            at += item(tables.zero_record, opponent) * len(tables.lane)
            value += load(values, at, tables.lane)
        elif item(blocks.is_sum, roll) != 0:
            value += sum_of(plan, sums, line, own, roll)
        for term in range(item(blocks.term_first, roll), item(blocks.term_first, roll + 1)):
            at = item(blocks.at, home + item(blocks.term_points, term))
            there = load(values, at + item(blocks.term_offset, term), tables.lane)
            value += item(blocks.term_prob, term) * there
    return value


@core
def _duel(plan, blocks, tables, matrices, values, sums, usual, other, roots):
    goal, _, _, _, bases, _ = tables.sizes
    size = len(tables.lane)
    start, lane = divmod(tables.start, size)
    sums[:] = 0.0
    values[:, blocks.spare :] = 0.0
    for turn in range(goal * goal - 1, -1, -1):
        own, opponent = item(blocks.order, 2 * turn), item(blocks.order, 2 * turn + 1)
        ahead = max(turn - AHEAD, 0)
        there = item(blocks.order, 2 * ahead)
        _expect_wins(tables, there, item(blocks.order, 2 * ahead + 1))
        _expect_wins(tables, there + bases - 1, item(blocks.order, 2 * ahead + 1))
        cell = own * goal + opponent
        home = opponent * blocks.at.shape[1] + own
        first, last = tables.arrival_start[cell], tables.arrival_start[cell + 1]
        for player in range(2):
            line = player * goal + opponent
            roll = matrices[player, own, opponent]
            known, told = values[player], values[1 - player]
            sum_rolls(plan, known, blocks.at, home, sums, line, own)
            value = _certain(plan, blocks, tables, known, roll, sums, line, own, opponent)
            store(usual, 0, 1.0 - value)
            alternative = tables.alternative_start[0, roll]
            if tables.alternative_start[0, roll + 1] > alternative:
                far = own + (bases - 1 if tables.alternative_far[alternative] else 0)
                value = _certain(plan, blocks, tables, known, roll, sums, line, far, opponent)
            else:
                alternative = 0  # whose members then play as all others do
            store(other, 0, 1.0 - value)
            members = alternative * size
            publish_certain(
                plan, usual, other, tables.member_lanes, members, told, blocks.landed, first, last
            )
            if cell == 0:
                chosen = other if tables.member_lanes[members + start] != 0 else usual
                roots[player] = 1.0 - chosen[lane]


@kernel
def duel(plan, blocks, tables, matrices, values, sums):
    """Win probability of two matrices against each other, exactly.

    Parameters
    ----------
    plan : Plan
    blocks : Blocks
    tables : Tables
        Of a game for which :func:`hogeq.kernels.duel.can_duel` holds.
    matrices : int64 (2, G, G)
    values : float64 (2, n)
        Scratch: the blocks.
    sums : float64
        Scratch, as of :func:`backward`.

    Returns
    -------
    tuple of float, float
        Win probability of each player when moving first.
    """
    size = len(tables.lane)
    usual = np.zeros(size, values.dtype)
    other = np.zeros(size, values.dtype)
    roots = np.zeros(2)
    _duel(plan, blocks, tables, matrices, values, sums, usual, other, roots)
    return roots[0], roots[1]
