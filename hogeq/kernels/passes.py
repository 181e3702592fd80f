"""The two passes over the game graph: values backward, reach probabilities forward.

Both walk the cells in strips of the higher score, each with its mirror image, into which swaps
lead. No cell feeds one before it, unless a turn can leave the total as it was. What a column of
cells keeps to itself then stays in the cache between visits.

Player 0 is the one being evaluated or improved; player 1, where there is one, only follows a
policy. With a single player the game is self-play.

Symbols of shapes are those of :mod:`hogeq.kernels.tables`. Besides them, Q is the number of
players, 1 or 2, and N the size of an afterstate array.
"""

import math

import numpy as np

from hogeq.kernels.handover import (
    average_rolls,
    collect,
    depart,
    mix,
    modes_of,
    publish,
    publish_one,
    roll_at,
    sure_roll,
    to_turn,
)
from hogeq.kernels.lanes import prefetch, splat, store
from hogeq.kernels.roles import ASCEND, COUNTERFACTUAL, EVALUATE, FULL_MEMORY, SOFTMAX
from hogeq.kernels.sums import (
    base_of,
    clear_ahead,
    is_lean,
    kernel,
    land_sums,
    part,
    place_of,
    spread_rolls,
    spread_rolls_by_sums,
    value_rolls,
    value_rolls_by_sums,
)

LEAST_WEIGHT = 1e-38  # of reach times temperature: in single precision its inverse is finite
TIE = 1e-12  # rolls whose win probabilities differ by less are equal
AHEAD = 2  # cells along the diagonal


@part
def expect(tables, arrays, cell):
    """Ask for what arrives at a cell, some cells before it is visited."""
    records = tables.dimensions.records
    stride = tables.strides.records
    for arrival in range(tables.arrival_start[cell], tables.arrival_start[cell + 1]):
        at = tables.arrival_base[arrival]
        for record in range(records):
            for player in range(len(arrays)):
                prefetch(arrays[player], at + record * stride, tables.lane)


@part
def expect_rolls(tables, policies, arrays, cell):
    """Ask for what a cell's rolls lead to, and how they are mixed."""
    dimensions = tables.dimensions
    goal, num_actions, records = dimensions.goal, dimensions.num_actions, dimensions.records
    own, opponent = divmod(cell, goal)
    step = tables.strides.scores + tables.strides.records
    for player in range(len(arrays)):
        prefetch(policies, (player * goal * goal + cell) * num_actions, tables.lane)
        for plane in range(len(tables.plane_dice)):
            at = base_of(tables, tables.plane_again[plane], own, opponent)
            for record in range(records):
                prefetch(arrays[player], at + record * step, tables.lane)
    for plane in range(len(tables.plane_dice)):
        row = tables.plane_dice[plane] * tables.terminal_win.shape[1] + own
        prefetch(tables.terminal_win, (row * goal + opponent) * num_actions, tables.lane)


@part
def maximise(tables, buffer, places, situation, modes, slots, choice):
    """Value of every memory slot when each takes its own best roll, the fewest dice on ties."""
    num_actions, active = tables.dimensions.num_actions, tables.dimensions.active_memories
    size = len(tables.lane)
    for memory in range(active):
        for lane in range(size):
            modes_of(tables, situation, memory, lane, modes)
            best = -1.0
            for roll in range(num_actions):
                best = max(best, buffer[roll_at(tables, places, modes[roll], roll) + lane])
            slot = memory * size + lane
            slots[slot] = best
            for roll in range(num_actions):
                if buffer[roll_at(tables, places, modes[roll], roll) + lane] >= best - TIE:
                    if len(choice) > 0:
                        choice[slot] = roll
                    break


@part
def take_best(row, counterfactual_values, infoset_reach):
    """Put all probability on the best roll; keep the present one on a tie. 1 if it changed."""
    best = -1.0
    for roll in range(len(row)):
        best = max(best, counterfactual_values[roll])
    enough = best - TIE * infoset_reach
    chosen = -1
    for roll in range(len(row)):
        if counterfactual_values[roll] >= enough and (chosen < 0 or row[roll] == 1.0):
            chosen = roll
    changed = 1 if row[chosen] != 1.0 else 0
    row[:] = 0.0
    row[chosen] = 1.0
    return changed


@part
def soften(row, counterfactual_values, infoset_reach, temperature, damping):
    """Move a row part of the way to the softmax of its values, given arrival at the cell."""
    best = -1.0
    for roll in range(len(row)):
        best = max(best, counterfactual_values[roll])
    weight = max(infoset_reach * temperature, LEAST_WEIGHT)
    total = 0.0
    for roll in range(len(row)):
        counterfactual_values[roll] = math.exp((counterfactual_values[roll] - best) / weight)
        total += counterfactual_values[roll]
    for roll in range(len(row)):
        row[roll] += damping * (counterfactual_values[roll] / total - row[roll])


@part
def fill_ends(tables, values, buffer):
    """Write what is decided already: afterstates that win, and rolls from bases past the goal."""
    dimensions = tables.dimensions
    goal, num_actions, ring = dimensions.goal, dimensions.num_actions, dimensions.ring
    size = len(tables.lane)
    for player in range(len(values)):
        for position in tables.fixed_win:
            values[player, position] = 1.0
        for opponent in range(goal):
            for own in range(goal, goal + ring - 1):
                place = place_of(tables, player, own, opponent)
                for plane in range(len(tables.plane_dice)):
                    dice = tables.plane_dice[plane]
                    for roll in range(num_actions):
                        at = place + (plane * num_actions + roll) * size
                        win = tables.terminal_win[dice, own, opponent, roll]
                        store(buffer, at, splat(buffer, win, tables.lane))


@kernel
def _backward(
    tables,
    role,
    policies,
    reach,
    values,
    buffer,
    sums,
    counterfactual_values,
    infoset_reach,
    choice,
    temperature,
    damping,
    slots,
    turned,
    masses,
    common,
    gains,
    places,
    modes,
    roots,
    direct,
):
    goal, ring = tables.dimensions.goal, tables.dimensions.ring
    players = len(values)
    changes = 0
    if len(sums) > 0:
        for player in range(players):
            follows = player > 0 or role == EVALUATE
            direct[player] = follows and is_lean(tables, policies[player])
    fill_ends(tables, values, buffer)
    order = tables.cell_order
    for turn in range(len(order) - 1, -1, -1):
        cell = order[turn]
        own, opponent = divmod(cell, goal)
        situation = tables.situation[own, opponent]
        if turned is not None and turn >= AHEAD:
            expect_rolls(tables, policies, values, order[turn - AHEAD])
            expect(tables, values, order[turn - AHEAD])
            if reach is not None:
                expect(tables, reach, order[turn - AHEAD])
        for player in range(players):
            policy, known = policies[player], values[player]
            everything = player == 0 and role != EVALUATE
            place = place_of(tables, player, own, opponent)
            places[0] = place
            places[1] = place_of(tables, player, own + ring - 1, opponent)
            if direct[player]:
                value_rolls(tables, policy, everything, known, buffer, place, own, opponent)
            else:
                value_rolls_by_sums(
                    tables,
                    policy,
                    everything,
                    known,
                    buffer,
                    place,
                    sums,
                    player,
                    own,
                    opponent,
                )
            if choice is not None and player == 0:
                maximise(tables, buffer, places, situation, modes, slots, choice[own, opponent])
            else:
                row = policy[own, opponent]
                if reach is not None and player == 0:
                    here = collect(tables, reach, player, cell, masses, turned, common)
                    infoset_reach[own, opponent] = here
                    found = counterfactual_values[own, opponent]
                    average_rolls(tables, masses, buffer, places, situation, common, found)
                    if here > 0.0 and role == ASCEND:
                        changes += take_best(row, found, here)
                    elif here > 0.0 and role == SOFTMAX:
                        soften(row, found, here, temperature, damping)
                if turned is not None and tables.only_swaps and cell != 0:
                    sure = sure_roll(row)
                    if sure >= 0:
                        publish_one(tables, sure, buffer, places, situation, values, player, cell)
                        continue
                mix(tables, row, buffer, places, situation, gains, slots)
            publish(tables, slots, turned, values, player, cell)
            if cell == 0:
                roots[player] = slots[tables.start]
    return roots[0], roots[players - 1], changes


def backward(
    view,
    role,
    policies,
    reach,
    values,
    buffer,
    sums,
    counterfactual_values,
    infoset_reach,
    choice,
    temperature,
    damping,
):
    """Backward induction over all cells; the role says how player 0's rolls come about.

    Parameters
    ----------
    view : TablesView
    role : int
        EVALUATE, COUNTERFACTUAL, ASCEND, SOFTMAX or FULL_MEMORY, for player 0; player 1 follows.
    policies : float64 (Q, G, G, K)
        Rows summing to 1. ASCEND and SOFTMAX rewrite those of player 0.
    reach : float64 (Q, N)
        From :func:`forward`; read by COUNTERFACTUAL, ASCEND and SOFTMAX only.
    values : float64 (Q, N)
        Filled with the win probability of whoever just moved, by afterstate.
    buffer : float64 (Q * G * ring * P * K * L,)
        Scratch; afterwards it holds the win probability of every roll at the last bases visited
        of each column (all of them if its ring is as long as the game).
    sums : float64 (Q * G * P * R * K * L,)
        Scratch, R the length of a ring of sums.
    counterfactual_values : float64 (G, G, K)
        Counterfactual value of every roll: the sum over hidden states of reach times value
        (COUNTERFACTUAL). SOFTMAX leaves scratch here.
    infoset_reach : float64 (G, G)
        Reach probability of every cell for player 0 (COUNTERFACTUAL, ASCEND, SOFTMAX).
    choice : int8 (G, G, J * L) or (G, G, 0)
        Best roll of every memory slot (FULL_MEMORY).
    temperature, damping : float
        Of SOFTMAX; win probability, and share of the way to the softmax.

    Returns
    -------
    tuple of float, float, int
        Win probability of player 0 and of the last player when each moves first, and the number
        of cells that ASCEND changed.
    """
    tables = view.tables
    num_actions, active = tables.dimensions.num_actions, tables.dimensions.active_memories
    size = len(tables.lane)
    slots = np.zeros(max(active, size) * size, values.dtype)
    turned = to_turn(size, values.dtype)
    masses = np.zeros_like(slots)
    common = np.zeros(size, values.dtype)
    gains = np.zeros(max(1, len(tables.alternative_far)) * size, values.dtype)
    places = np.zeros(2, np.int64)
    modes = np.zeros(num_actions, np.int64)
    roots = np.zeros(2)
    direct = np.ones(len(values), np.bool_)
    # What a role does not need is None, and left out when the pass is compiled for it.
    return _backward(
        view,
        role,
        policies,
        reach if role in (COUNTERFACTUAL, ASCEND, SOFTMAX) else None,
        values,
        buffer,
        sums,
        counterfactual_values,
        infoset_reach,
        choice if role == FULL_MEMORY else None,
        temperature,
        damping,
        slots,
        turned,
        masses,
        common,
        gains,
        places,
        modes,
        roots,
        direct,
    )


@kernel
def _forward(
    tables,
    policies,
    reach,
    buffer,
    sums,
    infoset_reach,
    masses,
    turned,
    common,
    places,
    direct,
):
    goal, ring = tables.dimensions.goal, tables.dimensions.ring
    players = len(reach)
    if len(sums) > 0:
        for player in range(players):
            direct[player] = is_lean(tables, policies[player])
    if tables.gives:
        reach[:] = 0.0
    order, runs = tables.cell_order, tables.run_start
    for run in range(len(runs) - 1):
        for turn in range(runs[run], runs[run + 1]):
            own, opponent = divmod(order[turn], goal)
            for player in range(players):
                if not tables.gives:
                    clear_ahead(tables, reach[player], own, opponent)
                if not direct[player]:
                    land_sums(tables, reach[player], sums, player, own, opponent)
        for turn in range(runs[run], runs[run + 1]):
            cell = order[turn]
            own, opponent = divmod(cell, goal)
            situation = tables.situation[own, opponent]
            if turned is not None and turn + AHEAD < len(order):
                expect_rolls(tables, policies, reach, order[turn + AHEAD])
                expect(tables, reach, order[turn + AHEAD])
            for player in range(players):
                policy, known = policies[player], reach[player]
                place = place_of(tables, player, own, opponent)
                places[0] = place
                places[1] = place_of(tables, player, own + ring - 1, opponent)
                here = collect(tables, reach, player, cell, masses, turned, common)
                if player == 0:
                    infoset_reach[own, opponent] = here
                if here > 0.0:
                    row = policy[own, opponent]
                    depart(tables, row, masses, common, buffer, places, own, situation)
                if direct[player]:
                    spread_rolls(tables, policy, known, buffer, place, own, opponent)
                else:
                    spread_rolls_by_sums(
                        tables, policy, known, buffer, place, sums, player, own, opponent
                    )


def forward(view, policies, reach, buffer, sums, infoset_reach):
    """Reach probabilities of every hidden state under both players' policies.

    Parameters
    ----------
    view : TablesView
    policies : float64 (Q, G, G, K)
        Rows need not sum to 1: a row of ones counts every roll of a player once, which leaves the
        probability of the other player and of chance alone.
    reach : float64 (Q, N)
        Filled with the probability that a player reaches an afterstate by moving; with two players
        a fair coin says who starts, with one the start has probability 1.
    buffer : float64 (Q * G * ring * P * K * L,)
        Scratch, all zero before and after.
    sums : float64 (Q * G * P * R * K * L,)
        Scratch, R the length of a ring of sums.
    infoset_reach : float64 (G, G)
        Filled with the reach probability of every cell, player 0 to move.
    """
    tables = view.tables
    active = tables.dimensions.active_memories
    size = len(tables.lane)
    masses = np.zeros(max(active, size) * size, reach.dtype)
    turned = to_turn(size, reach.dtype)
    common = np.zeros(size, reach.dtype)
    places = np.zeros(2, np.int64)
    direct = np.ones(len(reach), np.bool_)
    _forward(
        view,
        policies,
        reach,
        buffer,
        sums,
        infoset_reach,
        masses,
        turned,
        common,
        places,
        direct,
    )


@kernel
def _hidden_reach(tables, reach, player, out, masses, turned, common):
    goal = tables.dimensions.goal
    for own in range(goal):
        for opponent in range(goal):
            collect(tables, reach, player, own * goal + opponent, masses, turned, common)
            for slot in range(out.shape[2]):
                out[own, opponent, slot] = masses[slot]


def hidden_reach(view, reach, player, out):
    """Reach probability of every memory slot at every cell.

    Parameters
    ----------
    view : TablesView
    reach : float64 (Q, N)
        From :func:`forward`.
    player : int
        The player to move.
    out : float64 (G, G, J * L)
        Filled.
    """
    active = view.tables.dimensions.active_memories
    size = len(view.tables.lane)
    masses = np.zeros(max(active, size) * size, reach.dtype)
    turned = to_turn(size, reach.dtype)
    common = np.zeros(size, reach.dtype)
    _hidden_reach(view, reach, player, out, masses, turned, common)


@kernel
def _hidden_values(tables, values, own, opponent, out, buffer, places, everything, modes):
    dimensions = tables.dimensions
    goal, num_actions, ring = dimensions.goal, dimensions.num_actions, dimensions.ring
    size = len(tables.lane)
    for base in range(1 if ring == 1 else 2):
        score = own + base * (ring - 1)
        if score < goal:
            value_rolls(tables, everything, True, values, buffer, places[base], score, opponent)
            continue
        for plane in range(len(tables.plane_dice)):
            for roll in range(num_actions):
                at = places[base] + (plane * num_actions + roll) * size
                win = tables.terminal_win[tables.plane_dice[plane], score, opponent, roll]
                store(buffer, at, splat(buffer, win, tables.lane))
    situation = tables.situation[own, opponent]
    for memory in range(dimensions.active_memories):
        for lane in range(size):
            modes_of(tables, situation, memory, lane, modes)
            for roll in range(num_actions):
                at = roll_at(tables, places, modes[roll], roll)
                out[memory * size + lane, roll] = buffer[at + lane]


def hidden_values(view, values, own, opponent, out):
    """Win probability of every roll in every memory slot of one cell.

    Parameters
    ----------
    view : TablesView
    values : float64 (N,)
        Of the player to move, from :func:`backward`.
    own, opponent : int
        Scores of the player to move and of the other.
    out : float64 (J * L, K)
        Filled.
    """
    tables = view.tables
    num_actions = tables.dimensions.num_actions
    bases = len(tables.plane_dice) * num_actions * len(tables.lane)
    buffer = np.zeros(2 * bases, values.dtype)
    everything = np.ones((1, 1, num_actions))
    modes = np.zeros(num_actions, np.int64)
    places = np.array([0, bases])
    _hidden_values(view, values, own, opponent, out, buffer, places, everything, modes)
