"""The two passes of :mod:`hogeq.kernels.passes` over games with a plan.

Nothing is kept of values and reach but what the passes return: win probabilities, the averages of
values, and what of player 0's reach these are weighted by.
"""

from hogeq.kernels.lanes import item, prefetch
from hogeq.kernels.passes import fill_ends, soften, take_best
from hogeq.kernels.roles import ASCEND, EVALUATE, SOFTMAX
from hogeq.kernels.sums import expect_wins, kernel, part
from hogeq.kernels.unrolled import (
    average_rolls,
    clear_block,
    land_sums,
    mix_and_publish,
    pass_reach_on,
    value_rolls,
)

# How many cells before its visit a cell's rows are asked for.
AHEAD = 4


@part
def _expect(tables, blocks, policies, turn):
    """Ask for what a cell needs of large arrays, some cells before it is visited."""
    goal, num_actions = tables.dimensions.goal, tables.dimensions.num_actions
    own, opponent = item(blocks.order, 2 * turn), item(blocks.order, 2 * turn + 1)
    for player in range(len(policies)):
        at = ((player * goal + own) * goal + opponent) * num_actions
        prefetch(policies, at, tables.lane)
    expect_wins(tables, own, opponent)


@part
def _expect_landings(tables, blocks, afterstates, turn):
    """Ask for a block that lands on a cell, for each player, just before it is visited."""
    goal, records = tables.dimensions.goal, tables.dimensions.records
    cell = item(blocks.order, 2 * turn) * goal + item(blocks.order, 2 * turn + 1)
    block = item(blocks.landed, item(tables.arrival_start, cell))
    for player in range(len(afterstates)):
        for record in range(records):
            prefetch(afterstates[player], block + record * len(tables.lane), tables.lane)


@part
def _expect_weights(tables, masses, turn):
    """Ask for the reach of a cell that weights its values."""
    numbers = masses.shape[1]
    for x in range(0, numbers, len(tables.lane)):
        prefetch(masses, turn * numbers + x, tables.lane)


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
    counterfactual_values,
    infoset_reach,
    temperature,
    damping,
):
    """Backward induction over all cells; any role but FULL_MEMORY, for player 0.

    Parameters
    ----------
    plan : Plan
    blocks : BlockPlaces
    tables : Tables
    role, policies, counterfactual_values, temperature, damping
        As of :func:`hogeq.kernels.passes.backward`.
    masses, infoset_reach
        From :func:`forward`; read by COUNTERFACTUAL, ASCEND and SOFTMAX only.
    values : float64 (Q, n)
        Scratch: the blocks.
    buffer, sums : float64
        Scratch, as of :func:`hogeq.kernels.passes.backward`.

    Returns
    -------
    tuple of float, float, int
        Win probability of player 0 and of the last player when each moves first, and the number
        of cells that ASCEND changed.
    """
    goal = tables.dimensions.goal
    players = len(values)
    dice = tables.plane_dice[0]
    changes = 0
    first_root = root = 0.0
    sums[:] = 0.0
    values[:, blocks.spare :] = 0.0
    fill_ends(tables, values, buffer)
    for turn in range(goal * goal - 1, -1, -1):
        own, opponent = item(blocks.order, 2 * turn), item(blocks.order, 2 * turn + 1)
        ahead = max(turn - AHEAD, 0)
        _expect(tables, blocks, policies, ahead)
        _expect_landings(tables, blocks, values, max(turn - 1, 0))
        if role != EVALUATE:
            there = item(blocks.order, 2 * ahead) * goal + item(blocks.order, 2 * ahead + 1)
            _expect_weights(tables, masses, ahead)
            prefetch(counterfactual_values, there * tables.dimensions.num_actions, tables.lane)
        cell = own * goal + opponent
        home = opponent * blocks.at.shape[1] + own
        none = blocks.none[own, opponent]
        first, last = tables.arrival_start[cell], tables.arrival_start[cell + 1]
        wins = tables.terminal_win[dice, own, opponent]
        for player in range(players):
            line = player * goal + opponent
            row = policies[player, own, opponent]
            known, told = values[player], values[players - 1 - player]
            value_rolls(plan, known, blocks.at, home, none, wins, buffer, sums, line, own)
            if player == 0 and role != EVALUATE:
                found = counterfactual_values[own, opponent]
                average_rolls(plan, masses, turn, buffer, line, own, found)
                here = infoset_reach[own, opponent]
                if here > 0.0 and role == ASCEND:
                    changes += take_best(row, found, here)
                elif here > 0.0 and role == SOFTMAX:
                    soften(row, found, here, temperature, damping)
            root = mix_and_publish(plan, row, buffer, line, own, told, blocks.landed, first, last)
            if player == 0:
                first_root = root
    return first_root, root, changes


@kernel
def forward(plan, blocks, tables, policies, reach, buffer, sums, masses, infoset_reach):
    """Reach probabilities of every hidden state under both players' policies.

    Parameters
    ----------
    plan : Plan
    blocks : BlockPlaces
    tables : Tables
    policies : float64 (Q, G, G, K)
        As of :func:`hogeq.kernels.passes.forward`.
    reach : float64 (Q, n)
        Scratch: the blocks.
    buffer, sums : float64
        Scratch, as of :func:`hogeq.kernels.passes.forward`.
    masses : float64 (G * G, D)
        Filled with the reach of player 0 at every cell, in the order of visits: of all memories,
        and of the members of every alternative, by lane without the padding (`Constants.dense`).
    infoset_reach : float64 (G, G)
        Filled with the reach of every cell; this alone if `masses` is of shape (0, D).
    """
    goal = tables.dimensions.goal
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
            ahead = min(turn + AHEAD, goal * goal - 1)
            _expect(tables, blocks, policies, ahead)
            if len(masses) > 0:
                _expect_weights(tables, masses, ahead)
            _expect_landings(tables, blocks, reach, min(turn + 1, goal * goal - 1))
            cell = own * goal + opponent
            home = opponent * blocks.at.shape[1] + own
            none = blocks.none[own, opponent]
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
                    infoset_reach[own, opponent] = here
    buffer[:] = 0.0
