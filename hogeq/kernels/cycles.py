"""The two passes over a game in which a turn can leave the total score as it was.

Cells of equal total can then feed each other.  They fall into blocks, the strongly connected
components of that relation, and within a block the game is a small Markov chain on what such turns
leave behind, the block's *entries*: solved exactly, by elimination, it makes the block's values and
reach known, and the passes go from block to block as those of :mod:`hogeq.kernels.passes` go from
cell to cell.

Symbols of shapes are those of :mod:`hogeq.kernels.tables`; besides them, U is the number of states
of a block's chain: its entries, once for each player who can have left them.  Whoever ``who`` left
an entry, the mover there is ``who`` again or the other.  Values in the chain are win probabilities
of player 0, so that all its numbers are probabilities; self-play is a chain of two players too, who
share their arrays.
"""

import numpy as np

from hogeq.kernels.dice import base_of, core, kernel, part, place_of, spread_rolls, value_rolls
from hogeq.kernels.memory import average_rolls, collect, depart, mix, modes_of, publish, roll_at
from hogeq.kernels.passes import (
    ASCEND,
    COUNTERFACTUAL,
    EVALUATE,
    FULL_MEMORY,
    SOFTMAX,
    fill_ends,
    maximise,
    soften,
    take_best,
)

STRICT = 1e-13  # what a roll must gain, in win probability, for full memory to move to it


@part
def _censor(chain, exits, size):
    """Factorise a chain by leaving its last state out of sight, then the last but one, and so on.

    `chain` (U, U) holds the probabilities of moving, `exits` (U,) those of leaving the block; both
    are overwritten.  The probability of moving on from a state is not taken as 1 less that of
    staying but summed, so nothing is ever subtracted and every entry is accurate to rounding
    (Grassmann, Taksar and Heyman 1985), however long the chain stays.
    """
    for last in range(size - 1, -1, -1):
        moves = exits[last]
        for state in range(last):
            moves += chain[last, state]
        for state in range(last):
            share = chain[state, last] / moves
            if share > 0.0:
                chain[state, last] = share
                exits[state] += share * exits[last]
                for other in range(last):
                    chain[state, other] += share * chain[last, other]
        for state in range(last):
            chain[last, state] /= moves
        chain[last, last] = 1.0 / moves


@part
def _absorb(chain, gains, size):
    """Turn the gains of each state into those expected until the block is left."""
    for last in range(size - 1, -1, -1):
        for state in range(last):
            gains[state] += chain[state, last] * gains[last]
    for state in range(size):
        gains[state] *= chain[state, state]
        for other in range(state):
            gains[state] += chain[state, other] * gains[other]


@part
def _flow(chain, inflow, size):
    """Turn what flows into each state into the number of visits to it: the adjoint of _absorb."""
    for last in range(size - 1, -1, -1):
        for state in range(last):
            inflow[state] += inflow[last] * chain[last, state]
    for state in range(size):
        inflow[state] *= chain[state, state]
        for other in range(state):
            inflow[state] += inflow[other] * chain[other, state]


@part
def _staying(tables, dice, roll, opponent):
    """Probability that a roll stays and that it does not, and the offset of what it then leaves."""
    if roll > 0:
        cycles = tables.cycles
        return cycles.stay[dice, roll], cycles.leave[dice, roll], cycles.stay_offset[roll]
    if tables.zero_points[opponent] == 0 and tables.zero_gift[opponent] == 0:
        return 1.0, 0.0, tables.zero_offset[opponent]
    return 0.0, 1.0, 0


@part
def _moves(tables, block, whos, players, places, modes, stay, leave, target, position):
    """Fill how each roll moves each state of a block's chain, arrays (U, K).

    `stay` and `leave` are probabilities, `target` is the state to which staying leads, `position`
    is where the buffer holds the roll.
    """
    goal, rolls, _, _, ring, _ = tables.sizes
    size = len(tables.lane)
    cycles = tables.cycles
    first = cycles.entry_start[block]
    for entry in range(first, cycles.entry_start[block + 1]):
        own, opponent = divmod(cycles.entry_cell[entry], goal)
        memory, lane = divmod(cycles.entry_slot[entry], size)
        situation = tables.situation[own, opponent]
        modes_of(tables, situation, memory, lane, modes)
        for who in range(whos):
            state = (entry - first) * whos + who
            mover = _mover(tables, entry, who, whos)
            seat = min(mover, players - 1)
            places[0] = place_of(tables, seat, own, opponent)
            places[1] = place_of(tables, seat, own + ring - 1, opponent)
            for roll in range(rolls):
                mode = modes[roll]
                plane = tables.mode_plane[mode]
                position[state, roll] = roll_at(tables, places, mode, roll) + lane
                stay[state, roll] = 0.0
                leave[state, roll] = 1.0
                target[state, roll] = 0
                if tables.mode_bonus[mode] > 0:
                    continue
                chance, other, offset = _staying(tables, tables.plane_dice[plane], roll, opponent)
                if chance > 0.0:
                    base = base_of(tables, tables.plane_again[plane], own, opponent)
                    left = cycles.entry_at[base + offset + lane]
                    if left >= 0:
                        stay[state, roll] = chance
                        leave[state, roll] = other
                        target[state, roll] = (left - first) * whos + mover


@part
def _mover(tables, entry, who, whos):
    """Player to move at an entry that `who` left."""
    return who if tables.cycles.entry_again[entry] else whos - 1 - who


@part
def _chain(tables, block, whos, policies, picks, stay, leave, target, rest, chain, exits, gains):
    """Set up a block's chain: each state keeps to its pick (U,), or if that is -1 to the policy.

    Fills `chain` (U, U), `exits` (U,) and `gains` (U,), what the rolls in play win outside.
    """
    goal, rolls, _, _, _, _ = tables.sizes
    first = tables.cycles.entry_start[block]
    size = (tables.cycles.entry_start[block + 1] - first) * whos
    for state in range(size):
        entry = first + state // whos
        own, opponent = divmod(tables.cycles.entry_cell[entry], goal)
        seat = min(_mover(tables, entry, state % whos, whos), len(policies) - 1)
        for other in range(size):
            chain[state, other] = 0.0
        exits[state] = 0.0
        gains[state] = 0.0
        for roll in range(rolls):
            weight = policies[seat, own, opponent, roll]
            if picks[state] >= 0:
                weight = 1.0 if roll == picks[state] else 0.0
            if weight > 0.0:
                chain[state, target[state, roll]] += weight * stay[state, roll]
                exits[state] += weight * leave[state, roll]
                gains[state] += weight * rest[state, roll]
    return size


@part
def _improve(tables, block, mover, picks, stay, target, rest, wins):
    """Move the picks of a mover's states to better rolls; whether any moved.

    Player 0 wants the win probabilities `wins` (U,) high, player 1 wants them low.
    """
    rolls = tables.sizes[1]
    first = tables.cycles.entry_start[block]
    size = (tables.cycles.entry_start[block + 1] - first) * 2
    sign = 1.0 if mover == 0 else -1.0
    moved = False
    for state in range(size):
        if picks[state] < 0 or _mover(tables, first + state // 2, state % 2, 2) != mover:
            continue
        roll = picks[state]
        best = sign * (rest[state, roll] + stay[state, roll] * wins[target[state, roll]]) + STRICT
        for roll in range(rolls):
            value = sign * (rest[state, roll] + stay[state, roll] * wins[target[state, roll]])
            if value > best:
                best = value
                picks[state] = roll
                moved = True
    return moved


@core
def _backward(
    tables,
    role,
    policies,
    reach,
    values,
    buffer,
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
    before,
    roots,
    stay,
    leave,
    rest,
    target,
    position,
    chain,
    exits,
    wins,
    picks,
):
    goal, rolls, _, _, ring, _ = tables.sizes
    players = len(values)
    cycles = tables.cycles
    changes = 0
    fill_ends(tables, values, buffer)
    for block in range(len(cycles.block_start) - 1):
        first = cycles.block_start[block]
        members = cycles.block_start[block + 1] - first
        low, high = cycles.entry_start[block], cycles.entry_start[block + 1]
        loops = high > low
        if loops:
            # What every roll wins when staying wins nothing.
            for entry in range(low, high):
                for player in range(players):
                    values[player, cycles.entry_position[entry]] = 0.0
            for member in range(members):
                own, opponent = divmod(cycles.block_cells[first + member], goal)
                for player in range(players):
                    place = place_of(tables, player, own, opponent)
                    everything = player == 0 and role != EVALUATE
                    policy, known = policies[player], values[player]
                    value_rolls(tables, policy, everything, known, buffer, place, own, opponent)
            _moves(tables, block, 2, players, places, modes, stay, leave, target, position)
            for entry in range(low, high):
                for who in range(2):
                    state = (entry - low) * 2 + who
                    mover = _mover(tables, entry, who, 2)
                    picks[state] = 0 if role == FULL_MEMORY and (mover == 0 or players == 1) else -1
                    for roll in range(rolls):
                        win = buffer[position[state, roll]]
                        rest[state, roll] = win if mover == 0 else leave[state, roll] - win

        # Each member makes two turns to change its row and to check that, then one to publish.
        adapts = loops and role in (ASCEND, SOFTMAX)
        moved = False
        checks = False
        repeats = False
        turn = -1 if adapts else 2 * members - 1
        while turn < 3 * members - 1:
            turn += 1
            if turn == 2 * members and repeats:
                turn = 0
                repeats = False
            publishes = turn >= 2 * members
            member = turn - 2 * members if publishes else turn // 2
            proposes = not publishes and turn % 2 == 0
            if not publishes and not proposes and not checks:
                continue
            if proposes and moved and len(slots) > 1:
                continue
            own, opponent = divmod(cycles.block_cells[first + member], goal)
            if loops and (member == 0 or not publishes):
                while True:
                    count = _chain(
                        tables,
                        block,
                        2,
                        policies,
                        picks,
                        stay,
                        leave,
                        target,
                        rest,
                        chain,
                        exits,
                        wins,
                    )
                    _censor(chain, exits, count)
                    _absorb(chain, wins, count)
                    # The reply to player 0's picks is found first, and whole (Hoffman, Karp 1966).
                    if role != FULL_MEMORY:
                        break
                    if _improve(tables, block, 1, picks, stay, target, rest, wins):
                        continue
                    if not _improve(tables, block, 0, picks, stay, target, rest, wins):
                        break
                for entry in range(low, high):
                    at = cycles.entry_position[entry]
                    values[0, at] = wins[2 * (entry - low)]
                    if players == 2:
                        values[1, at] = 1.0 - wins[2 * (entry - low) + 1]

            for player in range(players if publishes else 1):
                acting = role if player == 0 else EVALUATE
                if adapts and player == 0 and not proposes:
                    acting = COUNTERFACTUAL
                cell = own * goal + opponent
                situation = tables.situation[own, opponent]
                policy = policies[player]
                row = policy[own, opponent]
                places[0] = place_of(tables, player, own, opponent)
                places[1] = place_of(tables, player, own + ring - 1, opponent)
                value_rolls(
                    tables,
                    policy,
                    acting != EVALUATE,
                    values[player],
                    buffer,
                    places[0],
                    own,
                    opponent,
                )
                if acting == FULL_MEMORY:
                    maximise(tables, buffer, places, situation, modes, slots, choice[own, opponent])
                else:
                    if acting != EVALUATE:
                        here = collect(tables, reach, player, cell, masses, turned, common)
                        infoset_reach[own, opponent] = here
                        found = counterfactual_values[own, opponent]
                        average_rolls(tables, masses, buffer, places, situation, common, found)
                        if checks:
                            gain = 0.0
                            for roll in range(rolls):
                                gain += (row[roll] - before[roll]) * found[roll]
                            if gain <= 0.0:
                                for roll in range(rolls):
                                    row[roll] = before[roll]
                                changes -= 1
                                moved = False
                            checks = False
                        elif here > 0.0 and acting == ASCEND:
                            for roll in range(rolls):
                                before[roll] = row[roll]
                            moved = take_best(row, found, here) > 0
                            changes += moved
                            checks = moved and loops and len(slots) > 1
                            if moved and not checks:
                                repeats = True
                        elif here > 0.0 and acting == SOFTMAX:
                            soften(row, found, here, temperature, damping)
                    mix(tables, row, buffer, places, situation, gains, slots)
                publish(tables, slots, turned, values, player, cell)
                if cell == 0:
                    roots[player] = slots[tables.start]
    return roots[0], roots[players - 1], changes


@kernel
def backward(
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
):
    """Backward induction over all blocks: :func:`hogeq.kernels.passes.backward` with cycles.

    ASCEND and SOFTMAX take the cells of a block one after the other and solve the block anew after
    each.  Without memory ASCEND is policy iteration, and every change of a row counts.  With memory
    a row can act more than once in a game, in hidden states whose shares it changes, and the roll
    that the slope favours can lose: so a change is kept only if it wins, and in one pass a block
    changes one row only, since the reach of its other rows then is out of date.
    """
    _, rolls, _, active, _, _ = tables.sizes
    size = len(tables.lane)
    slots = np.zeros(max(active, size) * size, values.dtype)
    turned = np.zeros(size * size, values.dtype)
    masses = np.zeros_like(slots)
    common = np.zeros(size, values.dtype)
    gains = np.zeros(max(1, len(tables.alternative_far)) * size, values.dtype)
    places = np.zeros(2, np.int64)
    modes = np.zeros(rolls, np.int64)
    before = np.zeros(rolls)
    roots = np.zeros(2)
    most = 2 * np.diff(tables.cycles.entry_start).max()
    stay, leave, rest = np.zeros((most, rolls)), np.zeros((most, rolls)), np.zeros((most, rolls))
    target, position = np.zeros((most, rolls), np.int64), np.zeros((most, rolls), np.int64)
    chain, exits, wins = np.zeros((most, most)), np.zeros(most), np.zeros(most)
    picks = np.zeros(most, np.int64)
    return _backward(
        tables,
        role,
        policies,
        reach,
        values,
        buffer,
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
        before,
        roots,
        stay,
        leave,
        rest,
        target,
        position,
        chain,
        exits,
        wins,
        picks,
    )


@core
def _forward(
    tables,
    policies,
    reach,
    buffer,
    infoset_reach,
    masses,
    turned,
    common,
    places,
    modes,
    stay,
    leave,
    rest,
    target,
    position,
    chain,
    exits,
    unused,
    visits,
    picks,
):
    goal, rolls, _, _, ring, _ = tables.sizes
    size = len(tables.lane)
    stride = tables.strides.records
    players = len(reach)
    cycles = tables.cycles
    reach[:] = 0.0
    for block in range(len(cycles.block_start) - 2, -1, -1):
        first, last = cycles.block_start[block], cycles.block_start[block + 1]
        low, high = cycles.entry_start[block], cycles.entry_start[block + 1]
        # First what comes from outside leaves each cell, then what comes back to it, all at once.
        for returns in range(2 if high > low else 1):
            if returns:
                for entry in range(low, high):
                    end, opponent, recorded, own = cycles.entry_from[entry]
                    lane = cycles.entry_position[entry] % size
                    for player in range(players):
                        state = (entry - low) * players + player
                        visits[state] = 0.0
                        place = place_of(tables, player, own, opponent)
                        for plane in range(len(tables.plane_dice)):
                            if tables.plane_again[plane] != end:
                                continue
                            for roll in range(rolls):
                                dice = tables.plane_dice[plane]
                                chance, _, offset = _staying(tables, dice, roll, opponent)
                                if chance > 0.0 and offset == recorded * stride:
                                    at = place + (plane * rolls + roll) * size + lane
                                    visits[state] += chance * buffer[at]
                _moves(
                    tables, block, players, players, places, modes, stay, leave, target, position
                )
                count = _chain(
                    tables,
                    block,
                    players,
                    policies,
                    picks,
                    stay,
                    leave,
                    target,
                    rest,
                    chain,
                    exits,
                    unused,
                )
                _censor(chain, exits, count)
                _flow(chain, visits, count)
            for x in range(first, last):
                cell = cycles.block_cells[x]
                own, opponent = divmod(cell, goal)
                situation = tables.situation[own, opponent]
                for player in range(players):
                    row = policies[player, own, opponent]
                    places[0] = place_of(tables, player, own, opponent)
                    places[1] = place_of(tables, player, own + ring - 1, opponent)
                    if returns:
                        masses[:] = 0.0
                        common[:] = 0.0
                        for entry in range(low, high):
                            who = _mover(tables, entry, player, players)  # leaving is symmetric
                            if cycles.entry_cell[entry] == cell:
                                flow = visits[(entry - low) * players + who]
                                masses[cycles.entry_slot[entry]] += flow
                                if player == 0:
                                    infoset_reach[own, opponent] += flow
                                common[cycles.entry_slot[entry] % size] += flow
                        here = 1.0
                    else:
                        here = collect(tables, reach, player, cell, masses, turned, common)
                        if player == 0:
                            infoset_reach[own, opponent] = here
                    if here > 0.0:
                        depart(tables, row, masses, common, buffer, places, own, situation)
        for x in range(first, last):
            own, opponent = divmod(cycles.block_cells[x], goal)
            for player in range(players):
                place = place_of(tables, player, own, opponent)
                spread_rolls(tables, policies[player], reach[player], buffer, place, own, opponent)


@kernel
def forward(tables, policies, reach, buffer, sums, infoset_reach):
    """Count expected visits to hidden states: :func:`hogeq.kernels.passes.forward` with cycles.

    A hidden state can be met more than once, so its reach is an expected number of visits.  The
    rows of the policies must sum to 1.
    """
    _, rolls, _, active, _, _ = tables.sizes
    size = len(tables.lane)
    masses = np.zeros(max(active, size) * size, reach.dtype)
    turned = np.zeros(size * size, reach.dtype)
    common = np.zeros(size, reach.dtype)
    places = np.zeros(2, np.int64)
    modes = np.zeros(rolls, np.int64)
    most = len(reach) * np.diff(tables.cycles.entry_start).max()
    stay, leave, rest = np.zeros((most, rolls)), np.zeros((most, rolls)), np.zeros((most, rolls))
    target, position = np.zeros((most, rolls), np.int64), np.zeros((most, rolls), np.int64)
    chain, exits, unused = np.zeros((most, most)), np.zeros(most), np.zeros(most)
    visits = np.zeros(most)
    picks = np.full(most, -1)
    _forward(
        tables,
        policies,
        reach,
        buffer,
        infoset_reach,
        masses,
        turned,
        common,
        places,
        modes,
        stay,
        leave,
        rest,
        target,
        position,
        chain,
        exits,
        unused,
        visits,
        picks,
    )
