"""The two passes over the game graph: values backward, reach probabilities forward.

Both walk the diagonals of equal total score, along which no cell feeds another unless a turn can
leave the total as it was.  Player 0 is the one being evaluated or improved; player 1, where there
is one, only follows a policy.  With a single player the game is self-play.

Symbols of shapes are those of :mod:`hogeq.kernels.tables`.  Besides them, Q is the number of
players, 1 or 2, and N the size of an afterstate array.
"""

import math

import numpy as np
from numba import njit

from hogeq.kernels.lanes import (
    add_difference,
    add_scaled,
    dot,
    dot_difference,
    fill,
    gather_sum,
    lane_sum,
    prefetch,
    scatter_add,
    take_away,
)

FOLLOW = 0  # keep to the policy
MEASURE = 1  # keep to the policy, and report counterfactual values
GREEDY = 2  # move to the roll with the largest counterfactual value
SOFTEN = 3  # move part of the way to the softmax of the counterfactual values
REMEMBER = 4  # maximise in every hidden state on its own: a player with full memory

# Only entries are cached: a cached part would be linked as finished machine code, and every call
# of it would copy the tables onto the stack.
# Parts allocate nothing and leave arrays' owners alone (_nrt): otherwise every call of one would
# count the references to each of the tables up and down, which took longer than the call's work.
_part = njit(error_model="numpy", forceinline=True, _nrt=False)
_entry = njit(cache=True, error_model="numpy", nogil=True)

TIE = 1e-12  # rolls whose win probabilities differ by less are equal


@_part
def _place(tables, player, own, opponent):
    """Position in the ring buffers of roll 0 on plane 0 from base ``(own, opponent)``."""
    goal, rolls, _, _, ring, _ = tables.sizes
    row = (player * goal + opponent) * ring + own % ring
    return row * len(tables.plane_dice) * rolls * len(tables.lane)


@_part
def _wanted(tables, policy, own, opponent, roll):
    """Whether the policy can use a roll at a base, with or without a bonus."""
    bonus = tables.sizes[4] - 1
    if policy[own, opponent, roll] > 0.0:
        return True
    return bonus > 0 and own >= bonus and policy[own - bonus, opponent, roll] > 0.0


@_part
def _base(tables, end, own, opponent):
    """Position of the afterstate of no points with record 0."""
    goal, _, records, _, _, _ = tables.sizes
    return ((end * goal + opponent) * records * goal + own) * len(tables.lane)


@_part
def _value_rolls(tables, policy, everything, values, buffer, place, own, opponent):
    """Win probability of every roll from a base, by lane, into the buffer."""
    rolls = tables.sizes[1]
    size = len(tables.lane)
    for plane in range(len(tables.plane_dice)):
        if tables.plane_needed[own, opponent, plane] == 0:
            continue
        dice = tables.plane_dice[plane]
        base = _base(tables, tables.plane_again[plane], own, opponent)
        for roll in range(rolls):
            if not everything and not _wanted(tables, policy, own, opponent, roll):
                continue
            out = place + (plane * rolls + roll) * size
            fill(buffer, out, tables.terminal_win[dice, own, opponent, roll], tables.lane)
            if roll == 0:
                if _zero_stays(tables, own, opponent):
                    at = base + tables.zero_offset[opponent]
                    add_scaled(buffer, out, 1.0, values, at, tables.lane)
                continue
            start, stop = _outcomes(tables, dice, roll, own, opponent)
            prob, offset = tables.outcome_prob, tables.outcome_offset
            gather_sum(buffer, out, values, base, prob, offset, start, stop, tables.lane)


@_part
def _zero_stays(tables, own, opponent):
    """Whether rolling no dice leaves both scores below the goal."""
    goal = tables.sizes[0]
    if own + tables.zero_points[opponent] >= goal:
        return False
    return opponent + tables.zero_gift[opponent] < goal


@_part
def _outcomes(tables, dice, roll, own, opponent):
    """Range of the outcomes of a roll that stay on the board."""
    start = tables.outcome_start[dice, roll]
    gift = tables.gift[dice, roll]
    if gift > 0 and opponent + gift >= tables.sizes[0]:
        start += 1
    return start, tables.outcome_stop[dice, roll, own]


AHEAD = 2  # cells along the diagonal
FEW = 2  # rolls in play up to which reach is carried roll by roll, not afterstate by afterstate


@_part
def _spread_rolls(tables, policy, reach, buffer, place, own, opponent):
    """Carry the reach of every roll from a base to its afterstates, and clear the buffer."""
    goal, rolls, _, _, _, _ = tables.sizes
    size = len(tables.lane)
    for plane in range(len(tables.plane_dice)):
        if tables.plane_needed[own, opponent, plane] == 0:
            continue
        dice = tables.plane_dice[plane]
        base = _base(tables, tables.plane_again[plane], own, opponent)
        sources = place + plane * rolls * size
        alive = 0
        for roll in range(rolls):
            wanted = roll > 0 and _wanted(tables, policy, own, opponent, roll)
            if wanted and lane_sum(buffer, sources + roll * size, tables.lane) > 0.0:
                alive += 1
        if _zero_stays(tables, own, opponent):
            at = base + tables.zero_offset[opponent]
            add_scaled(reach, at, 1.0, buffer, sources, tables.lane)
        if alive > FEW:
            for target in range(tables.target_start[dice], tables.target_start[dice + 1]):
                if own + tables.target_points[target] >= goal:
                    break
                if opponent + tables.target_gift[target] < goal:
                    gather_sum(
                        reach,
                        base + tables.target_offset[target],
                        buffer,
                        sources,
                        tables.source_prob,
                        tables.source_offset,
                        tables.source_start[target],
                        tables.source_start[target + 1],
                        tables.lane,
                    )
        for roll in range(rolls):
            if not _wanted(tables, policy, own, opponent, roll):
                continue
            source = sources + roll * size
            if 0 < alive <= FEW and roll > 0:
                start, stop = _outcomes(tables, dice, roll, own, opponent)
                prob, offset = tables.outcome_prob, tables.outcome_offset
                scatter_add(reach, base, prob, offset, start, stop, buffer, source, tables.lane)
            fill(buffer, source, 0.0, tables.lane)


@_part
def _leave(tables, row, masses, common, buffer, places, own, situation):
    """Add a cell's reach to that of its rolls; ``common`` is the sum of ``masses`` by lane."""
    goal, rolls, _, active, _, _ = tables.sizes
    size = len(tables.lane)
    for roll in range(rolls):
        if row[roll] > 0.0:
            mode = tables.default_mode[situation, roll]
            if own + tables.mode_bonus[mode] < goal:
                at = _roll_at(tables, places, mode, roll)
                add_scaled(buffer, at, row[roll], common, 0, tables.lane)
    for memory in range(active):
        first = tables.exception_start[situation, memory]
        for x in range(first, tables.exception_start[situation, memory + 1]):
            roll = tables.exception_roll[x]
            if row[roll] <= 0.0:
                continue
            low, high = tables.exception_low[x], tables.exception_high[x]
            usual = tables.default_mode[situation, roll]
            if own + tables.mode_bonus[usual] < goal:
                at = _roll_at(tables, places, usual, roll)
                if high - low == size:
                    source = memory * size
                    take_away(buffer, at, row[roll], masses, source, common, tables.lane)
                else:
                    for lane in range(low, high):
                        left = buffer[at + lane] - row[roll] * masses[memory * size + lane]
                        rounding = 1e-14 * row[roll] * common[lane]
                        buffer[at + lane] = left if left > rounding else 0.0
            other = tables.exception_mode[x]
            if own + tables.mode_bonus[other] < goal:
                at = _roll_at(tables, places, other, roll)
                if high - low == size:
                    add_scaled(buffer, at, row[roll], masses, memory * size, tables.lane)
                else:
                    for lane in range(low, high):
                        buffer[at + lane] += row[roll] * masses[memory * size + lane]


@_part
def _collect(tables, reach, player, cell, masses, common):
    """Reach probability of every memory slot of a player at a cell.

    Fills `masses` (J * L,) and their sums by lane, `common` (L,); returns the sum of all.
    """
    goal, _, records, active, _, _ = tables.sizes
    size = len(tables.lane)
    for memory in range(active):
        fill(masses, memory * size, 0.0, tables.lane)
    for arrival in range(tables.arrival_start[cell], tables.arrival_start[cell + 1]):
        again = tables.arrival_again[arrival]
        source = reach[player if again else len(reach) - 1 - player]
        slots = tables.next_memory[again]
        for record in range(records):
            at = tables.arrival_base[arrival] + record * goal * size
            for lane in range(size):
                masses[slots[record, lane]] += source[at + lane]
    if cell == 0:
        masses[tables.start] += 1.0 / len(reach)
    fill(common, 0, 0.0, tables.lane)
    for memory in range(active):
        add_scaled(common, 0, 1.0, masses, memory * size, tables.lane)
    return lane_sum(common, 0, tables.lane)


@_part
def _publish(tables, slots, values, player, cell):
    """Write a cell's values by memory slot to the afterstates that land on the cell."""
    goal, _, records, _, _, _ = tables.sizes
    size = len(tables.lane)
    for arrival in range(tables.arrival_start[cell], tables.arrival_start[cell + 1]):
        again = tables.arrival_again[arrival]
        target = values[player if again else len(values) - 1 - player]
        after = tables.next_memory[again]
        constant, sign = (0.0, 1.0) if again else (1.0, -1.0)
        for record in range(records):
            at = tables.arrival_base[arrival] + record * goal * size
            for lane in range(size):
                target[at + lane] = constant + sign * slots[after[record, lane]]


@_part
def _expect(tables, arrays, own, opponent):
    """Ask for what a cell will read or write, a few cells before it is visited."""
    goal, _, records, _, _, _ = tables.sizes
    own, opponent = own + AHEAD, opponent - AHEAD
    if own < goal and opponent >= 0:
        cell = own * goal + opponent
        for arrival in range(tables.arrival_start[cell], tables.arrival_start[cell + 1]):
            at = tables.arrival_base[arrival]
            for record in range(records):
                for player in range(len(arrays)):
                    prefetch(arrays[player], at + record * goal * len(tables.lane), tables.lane)


@_part
def _roll_at(tables, places, mode, roll):
    """Position in the buffer of a roll under a mode; ``places[bonus]`` locates the base."""
    rolls = tables.sizes[1]
    offset = (tables.mode_plane[mode] * rolls + roll) * len(tables.lane)
    return places[1 if tables.mode_bonus[mode] > 0 else 0] + offset


@_part
def _mix(tables, row, buffer, places, situation, common, slots):
    """Value of every memory slot when rolls are drawn from ``row``."""
    _, rolls, _, active, _, _ = tables.sizes
    size = len(tables.lane)
    fill(common, 0, 0.0, tables.lane)
    for roll in range(rolls):
        if row[roll] > 0.0:
            at = _roll_at(tables, places, tables.default_mode[situation, roll], roll)
            add_scaled(common, 0, row[roll], buffer, at, tables.lane)
    for memory in range(active):
        out = memory * size
        fill(slots, out, 0.0, tables.lane)
        add_scaled(slots, out, 1.0, common, 0, tables.lane)
        first = tables.exception_start[situation, memory]
        for x in range(first, tables.exception_start[situation, memory + 1]):
            roll = tables.exception_roll[x]
            weight = row[roll]
            if weight > 0.0:
                usual = _roll_at(tables, places, tables.default_mode[situation, roll], roll)
                other = _roll_at(tables, places, tables.exception_mode[x], roll)
                low, high = tables.exception_low[x], tables.exception_high[x]
                if high - low == size:
                    add_difference(slots, out, weight, buffer, other, usual, tables.lane)
                else:
                    for lane in range(low, high):
                        slots[out + lane] += weight * (buffer[other + lane] - buffer[usual + lane])


@_part
def _average_rolls(tables, masses, buffer, places, situation, common, row_values):
    """Counterfactual value of every roll: its values weighted by the reach of each memory slot."""
    _, rolls, _, active, _, _ = tables.sizes
    size = len(tables.lane)
    for roll in range(rolls):
        at = _roll_at(tables, places, tables.default_mode[situation, roll], roll)
        row_values[roll] = dot(common, 0, buffer, at, tables.lane)
    for memory in range(active):
        first = tables.exception_start[situation, memory]
        for x in range(first, tables.exception_start[situation, memory + 1]):
            roll = tables.exception_roll[x]
            usual = _roll_at(tables, places, tables.default_mode[situation, roll], roll)
            other = _roll_at(tables, places, tables.exception_mode[x], roll)
            low, high = tables.exception_low[x], tables.exception_high[x]
            at = memory * size
            if high - low == size:
                row_values[roll] += dot_difference(masses, at, buffer, other, usual, tables.lane)
            else:
                for lane in range(low, high):
                    row_values[roll] += masses[at + lane] * (
                        buffer[other + lane] - buffer[usual + lane]
                    )


@_part
def _modes_of(tables, situation, memory, lane, modes):
    """Fill `modes` (K,) with how each roll plays from one memory slot."""
    for roll in range(len(modes)):
        modes[roll] = tables.default_mode[situation, roll]
    first = tables.exception_start[situation, memory]
    for x in range(first, tables.exception_start[situation, memory + 1]):
        if tables.exception_low[x] <= lane < tables.exception_high[x]:
            modes[tables.exception_roll[x]] = tables.exception_mode[x]


@_part
def _maximise(tables, buffer, places, situation, modes, slots, choice):
    """Value of every memory slot when each takes its own best roll, the fewest dice on ties."""
    _, rolls, _, active, _, _ = tables.sizes
    size = len(tables.lane)
    for memory in range(active):
        for lane in range(size):
            _modes_of(tables, situation, memory, lane, modes)
            best = -1.0
            for roll in range(rolls):
                best = max(best, buffer[_roll_at(tables, places, modes[roll], roll) + lane])
            slot = memory * size + lane
            slots[slot] = best
            for roll in range(rolls):
                if buffer[_roll_at(tables, places, modes[roll], roll) + lane] >= best - TIE:
                    if len(choice) > 0:
                        choice[slot] = roll
                    break


@_part
def _take_best(row, row_values, mass):
    """Put all probability on the best roll; keep the present one on a tie. 1 if it changed."""
    best = -1.0
    for roll in range(len(row)):
        best = max(best, row_values[roll])
    enough = best - TIE * mass
    chosen = -1
    for roll in range(len(row)):
        if row_values[roll] >= enough and (chosen < 0 or row[roll] == 1.0):
            chosen = roll
    changed = 1 if row[chosen] != 1.0 else 0
    row[:] = 0.0
    row[chosen] = 1.0
    return changed


@_part
def _soften(row, row_values, mass, temperature, damping):
    """Move a row part of the way to the softmax of its values, given arrival at the cell."""
    best = -1.0
    for roll in range(len(row)):
        best = max(best, row_values[roll])
    total = 0.0
    for roll in range(len(row)):
        row_values[roll] = math.exp((row_values[roll] - best) / (mass * temperature))
        total += row_values[roll]
    for roll in range(len(row)):
        row[roll] += damping * (row_values[roll] / total - row[roll])


@_part
def _fill_ends(tables, values, buffer):
    """Write what is decided already: afterstates that win, and rolls from bases past the goal."""
    goal, rolls, _, _, ring, _ = tables.sizes
    size = len(tables.lane)
    for player in range(len(values)):
        for position in tables.fixed_win:
            values[player, position] = 1.0
        for opponent in range(goal):
            for own in range(goal, goal + ring - 1):
                place = _place(tables, player, own, opponent)
                for plane in range(len(tables.plane_dice)):
                    dice = tables.plane_dice[plane]
                    for roll in range(rolls):
                        at = place + (plane * rolls + roll) * size
                        fill(
                            buffer, at, tables.terminal_win[dice, own, opponent, roll], tables.lane
                        )


@_entry
def backward(
    tables, role, policies, reach, values, buffer, row_values, mass, choice, temperature, damping
):
    """Backward induction over all cells; the role says how player 0's rolls come about.

    Parameters
    ----------
    tables : Tables
    role : int
        FOLLOW, MEASURE, GREEDY, SOFTEN or REMEMBER, for player 0; player 1 follows.
    policies : float64 (Q, G, G, K)
        Rows summing to 1.  GREEDY and SOFTEN rewrite those of player 0.
    reach : float64 (Q, N)
        From :func:`forward`; read by MEASURE, GREEDY and SOFTEN only.
    values : float64 (Q, N)
        Filled with the win probability of whoever just moved, by afterstate.
    buffer : float64 (Q * G * ring * P * K * L,)
        Scratch; afterwards it holds the win probability of every roll at the last bases visited
        of each column (all of them if its ring is as long as the game).
    row_values : float64 (G, G, K)
        Counterfactual value of every roll: sum over hidden states of reach times value (MEASURE).
        SOFTEN leaves scratch here.
    mass : float64 (G, G)
        Reach probability of every cell for player 0 (MEASURE, GREEDY, SOFTEN).
    choice : int8 (G, G, J * L) or (G, G, 0)
        Best roll of every memory slot (REMEMBER).
    temperature, damping : float
        Of SOFTEN; win probability, and share of the way to the softmax.

    Returns
    -------
    tuple of float, float, int
        Win probability of player 0 and of the last player when each moves first, and the number
        of cells that GREEDY changed.
    """
    goal, rolls, _, active, ring, _ = tables.sizes
    size = len(tables.lane)
    players = len(values)
    slots = np.zeros(active * size, values.dtype)
    masses = np.zeros(active * size, values.dtype)
    common = np.zeros(size, values.dtype)
    places = np.zeros(2, np.int64)
    modes = np.zeros(rolls, np.int64)
    roots = np.zeros(2)
    changes = 0
    _fill_ends(tables, values, buffer)
    for total in range(2 * goal - 2, -1, -1):
        for own in range(max(0, total - goal + 1), min(total, goal - 1) + 1):
            opponent = total - own
            cell = own * goal + opponent
            situation = tables.situation[own, opponent]
            _expect(tables, values, own, opponent)
            if role in (MEASURE, GREEDY, SOFTEN):
                _expect(tables, reach, own, opponent)
            for player in range(players):
                policy = policies[player]
                acting = role if player == 0 else FOLLOW
                places[0] = _place(tables, player, own, opponent)
                places[1] = _place(tables, player, own + ring - 1, opponent)
                _value_rolls(
                    tables,
                    policy,
                    acting != FOLLOW,
                    values[player],
                    buffer,
                    places[0],
                    own,
                    opponent,
                )
                if acting == REMEMBER:
                    _maximise(
                        tables, buffer, places, situation, modes, slots, choice[own, opponent]
                    )
                else:
                    if acting != FOLLOW:
                        here = _collect(tables, reach, player, cell, masses, common)
                        mass[own, opponent] = here
                        found = row_values[own, opponent]
                        _average_rolls(tables, masses, buffer, places, situation, common, found)
                        if here > 0.0 and acting == GREEDY:
                            changes += _take_best(policy[own, opponent], found, here)
                        elif here > 0.0 and acting == SOFTEN:
                            _soften(policy[own, opponent], found, here, temperature, damping)
                    _mix(tables, policy[own, opponent], buffer, places, situation, common, slots)
                _publish(tables, slots, values, player, cell)
                if cell == 0:
                    roots[player] = slots[tables.start]
    return roots[0], roots[players - 1], changes


@_entry
def forward(tables, policies, reach, buffer):
    """Reach probabilities of every hidden state under both players' policies.

    Parameters
    ----------
    tables : Tables
    policies : float64 (Q, G, G, K)
        Rows need not sum to 1: a row of ones counts every roll of a player once, which leaves the
        probability of the other player and of chance alone.
    reach : float64 (Q, N)
        Filled with the probability that a player reaches an afterstate by moving; with two players
        a fair coin says who starts, with one the start has probability 1.
    buffer : float64 (Q * G * ring * P * K * L,)
        Scratch, all zero before and after.
    """
    goal, _, _, active, ring, _ = tables.sizes
    size = len(tables.lane)
    players = len(reach)
    masses = np.zeros(active * size, reach.dtype)
    common = np.zeros(size, reach.dtype)
    places = np.zeros(2, np.int64)
    reach[:] = 0.0
    for total in range(2 * goal - 1):
        for own in range(max(0, total - goal + 1), min(total, goal - 1) + 1):
            opponent = total - own
            cell = own * goal + opponent
            situation = tables.situation[own, opponent]
            _expect(tables, reach, own, opponent)
            for player in range(players):
                row = policies[player, own, opponent]
                places[0] = _place(tables, player, own, opponent)
                places[1] = _place(tables, player, own + ring - 1, opponent)
                if _collect(tables, reach, player, cell, masses, common) > 0.0:
                    _leave(tables, row, masses, common, buffer, places, own, situation)
                _spread_rolls(
                    tables, policies[player], reach[player], buffer, places[0], own, opponent
                )


@_entry
def hidden_reach(tables, reach, player, out):
    """Reach probability of every memory slot at every cell.

    Parameters
    ----------
    tables : Tables
    reach : float64 (Q, N)
        From :func:`forward`.
    player : int
        The player to move.
    out : float64 (G, G, J * L)
        Filled.
    """
    goal = tables.sizes[0]
    common = np.zeros(len(tables.lane), reach.dtype)
    for own in range(goal):
        for opponent in range(goal):
            _collect(tables, reach, player, own * goal + opponent, out[own, opponent], common)


@_entry
def hidden_values(tables, values, own, opponent, out):
    """Win probability of every roll in every memory slot of one cell.

    Parameters
    ----------
    tables : Tables
    values : float64 (N,)
        Of the player to move, from :func:`backward`.
    own, opponent : int
        Scores of the player to move and of the other.
    out : float64 (J * L, K)
        Filled.
    """
    goal, rolls, _, active, ring, _ = tables.sizes
    size = len(tables.lane)
    planes = len(tables.plane_dice)
    bases = planes * rolls * size
    buffer = np.zeros(2 * bases, values.dtype)
    places = np.array([0, bases])
    everything = np.ones((1, 1, rolls))
    for base in range(1 if ring == 1 else 2):
        score = own + base * (ring - 1)
        if score < goal:
            _value_rolls(tables, everything, True, values, buffer, places[base], score, opponent)
            continue
        for plane in range(planes):
            for roll in range(rolls):
                at = places[base] + (plane * rolls + roll) * size
                win = tables.terminal_win[tables.plane_dice[plane], score, opponent, roll]
                fill(buffer, at, win, tables.lane)
    situation = tables.situation[own, opponent]
    for memory in range(active):
        first = tables.exception_start[situation, memory]
        last = tables.exception_start[situation, memory + 1]
        for lane in range(size):
            for roll in range(rolls):
                mode = tables.default_mode[situation, roll]
                out[memory * size + lane, roll] = buffer[
                    _roll_at(tables, places, mode, roll) + lane
                ]
            for x in range(first, last):
                if tables.exception_low[x] <= lane < tables.exception_high[x]:
                    roll = tables.exception_roll[x]
                    at = _roll_at(tables, places, tables.exception_mode[x], roll)
                    out[memory * size + lane, roll] = buffer[at + lane]
