"""The two passes of :mod:`hogeq.kernels.passes` over games with a plan.

Nothing is kept of values and reach but what the passes return: win probabilities, the averages of
values, the reach of player 0's memories.
"""

import numpy as np

from hogeq.kernels.dice import core, expect_wins, kernel, part
from hogeq.kernels.lanes import item, prefetch
from hogeq.kernels.passes import FOLLOW, GREEDY, SOFTEN, fill_ends, soften, take_best
from hogeq.kernels.unrolled import (
    average_rolls,
    clear_block,
    land_sums,
    mix_and_publish,
    pass_reach_on,
    value_rolls,
)

AHEAD = 4  # cells


@part
def _expect(tables, blocks, policies, turn):
    """Ask for what a cell needs of large arrays, some cells before it is visited."""
    goal, rolls, _, _, _, _ = tables.sizes
    own, opponent = item(blocks.order, 2 * turn), item(blocks.order, 2 * turn + 1)
    for player in range(len(policies)):
        at = ((player * goal + own) * goal + opponent) * rolls
        prefetch(policies, at, tables.lane)
    expect_wins(tables, own, opponent)


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
