"""The two passes over a game in which a turn can leave the total score as it was.

Cells of equal total can then feed each other. They fall into strongly connected components of that
relation, and within a component the game is a small Markov chain on what such turns leave behind,
the component's *entries*. Solved exactly (:mod:`hogeq.kernels.chains`), it makes the component's
values and reach known, and the passes go from component to component as those of
:mod:`hogeq.kernels.passes` go from cell to cell.
"""

import numpy as np

from hogeq.kernels.chains import (
    absorb,
    build_chain,
    count_visits,
    enter_core,
    factorise,
    improve,
    mover_at,
    settle,
    staying,
)
from hogeq.kernels.handover import average_rolls, collect, depart, mix, publish, to_turn
from hogeq.kernels.passes import fill_ends, maximise, soften, take_best
from hogeq.kernels.roles import ASCEND, COUNTERFACTUAL, EVALUATE, FULL_MEMORY, SOFTMAX
from hogeq.kernels.sums import kernel, place_of, spread_rolls, value_rolls

# What is done with a component that loops, in this order; with one that does not, the last alone.
MEASURE = 0  # find what its rolls win when staying wins nothing
ADAPT = 1  # change its rows, as long as that wins
PUBLISH = 2
DONE = 3


@kernel
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
    rest,
    chain,
    exits,
    wins,
    picks,
):
    dimensions = tables.dimensions
    goal, num_actions, ring = dimensions.goal, dimensions.num_actions, dimensions.ring
    players = len(values)
    cycles = tables.cycles
    changes = 0
    fill_ends(tables, values, buffer)
    for component in range(len(cycles.component_start) - 1):
        first = cycles.component_start[component]
        members = cycles.component_start[component + 1] - first
        low, high = cycles.entry_start[component], cycles.entry_start[component + 1]
        loops = high > low
        if loops:
            for entry in range(low, high):
                for player in range(players):
                    values[player, cycles.entry_position[entry]] = 0.0

        adapts = loops and role in (ASCEND, SOFTMAX)
        moved = False
        checks = False
        repeats = False
        phase = MEASURE if loops else PUBLISH
        while phase != DONE:
            # A row is changed in one turn, and that checked in the next.
            for turn in range(2 * members if phase == ADAPT else members):
                member = turn // 2 if phase == ADAPT else turn
                proposes = phase == ADAPT and turn % 2 == 0
                if phase == ADAPT and not proposes and not checks:
                    continue
                if proposes and moved and len(slots) > 1:
                    continue
                own, opponent = divmod(cycles.component_cells[first + member], goal)
                if phase == ADAPT or (phase == PUBLISH and loops and member == 0):
                    while True:
                        count = build_chain(
                            tables, component, 2, policies, picks, rest, chain, exits, wins
                        )
                        factorise(chain, exits, count)
                        absorb(chain, exits, wins, count)
                        enter_core(tables, component, 2, policies, picks, wins, True)
                        # The reply to player 0's picks is found first, and whole (Hoffman, Karp
                        # 1966).
                        if choice is None:
                            break
                        if improve(tables, component, 1, picks, rest, wins):
                            continue
                        if not improve(tables, component, 0, picks, rest, wins):
                            break
                    for entry in range(low, high):
                        at = cycles.entry_position[entry]
                        values[0, at] = wins[2 * (entry - low)]
                        if players == 2:
                            values[1, at] = 1.0 - wins[2 * (entry - low) + 1]

                for player in range(1 if phase == ADAPT else players):
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
                    if phase == MEASURE:
                        continue
                    if choice is not None and player == 0:
                        maximise(
                            tables, buffer, places, situation, modes, slots, choice[own, opponent]
                        )
                    else:
                        if reach is not None and player == 0:
                            here = collect(tables, reach, player, cell, masses, turned, common)
                            infoset_reach[own, opponent] = here
                            found = counterfactual_values[own, opponent]
                            average_rolls(tables, masses, buffer, places, situation, common, found)
                            if checks:
                                gain = 0.0
                                for roll in range(num_actions):
                                    gain += (row[roll] - before[roll]) * found[roll]
                                if gain <= 0.0:
                                    for roll in range(num_actions):
                                        row[roll] = before[roll]
                                    changes -= 1
                                    moved = False
                                checks = False
                            elif here > 0.0 and acting == ASCEND:
                                for roll in range(num_actions):
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

            if phase == MEASURE:
                traps = False
                for entry in range(low, high):
                    for who in range(2):
                        state = (entry - low) * 2 + who
                        mover = mover_at(tables, entry, who, 2)
                        picks[state] = -1
                        if choice is not None and (mover == 0 or players == 1):
                            picks[state] = 0
                        seat = min(mover, players - 1) * (len(buffer) // players)
                        for roll in range(num_actions):
                            leave = cycles.move_leave[entry, roll]
                            win = buffer[seat + cycles.move_at[entry, roll]]
                            rest[state, roll] = win if mover == 0 else leave - win
                            traps = traps or leave == 0.0
                if choice is not None and traps:
                    settle(tables, component, picks, policies, rest, wins, exits)
                phase = ADAPT if adapts else PUBLISH
            elif phase == ADAPT and repeats:
                repeats = False
            else:
                phase += 1
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
    """Backward induction over all components: :func:`hogeq.kernels.passes.backward` with cycles.

    ASCEND and SOFTMAX take the cells of a component one after the other and solve it anew after
    each. Without memory ASCEND is policy iteration, and every change of a row counts. With memory a
    row can act more than once in a game, in hidden states whose shares it changes, and the roll
    that the slope favours can lose: so a change is kept only if it wins, and in one pass a
    component changes one row only, since the reach of its other rows then is out of date.
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
    before = np.zeros(num_actions)
    roots = np.zeros(2)
    most = 2 * np.diff(tables.cycles.entry_start).max()
    rest = np.zeros((most, num_actions))
    chain, exits, wins = np.zeros((most, most)), np.zeros(most), np.zeros(most)
    picks = np.zeros(most, np.int64)
    # As in passes: what a role does not need is left out.
    return _backward(
        view,
        role,
        policies,
        reach if role in (COUNTERFACTUAL, ASCEND, SOFTMAX) else None,
        values,
        buffer,
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
        before,
        roots,
        rest,
        chain,
        exits,
        wins,
        picks,
    )


@kernel
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
    rest,
    chain,
    exits,
    unused,
    visits,
    picks,
):
    dimensions = tables.dimensions
    goal, num_actions, ring = dimensions.goal, dimensions.num_actions, dimensions.ring
    size = len(tables.lane)
    stride = tables.strides.records
    players = len(reach)
    cycles = tables.cycles
    reach[:] = 0.0
    for component in range(len(cycles.component_start) - 2, -1, -1):
        first, last = cycles.component_start[component], cycles.component_start[component + 1]
        low, high = cycles.entry_start[component], cycles.entry_start[component + 1]
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
                            for roll in range(num_actions):
                                dice = tables.plane_dice[plane]
                                chance, offset = staying(tables, dice, roll, own, opponent)
                                if chance > 0.0 and offset == recorded * stride:
                                    at = place + (plane * num_actions + roll) * size + lane
                                    visits[state] += chance * buffer[at]
                count = build_chain(
                    tables, component, players, policies, picks, rest, chain, exits, unused
                )
                factorise(chain, exits, count)
                enter_core(tables, component, players, policies, picks, visits, False)
                count_visits(chain, visits, count)
            for x in range(first, last):
                cell = cycles.component_cells[x]
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
                            who = mover_at(tables, entry, player, players)  # leaving is symmetric
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
            own, opponent = divmod(cycles.component_cells[x], goal)
            for player in range(players):
                place = place_of(tables, player, own, opponent)
                spread_rolls(tables, policies[player], reach[player], buffer, place, own, opponent)


def forward(view, policies, reach, buffer, sums, infoset_reach):
    """Count expected visits to hidden states: :func:`hogeq.kernels.passes.forward` with cycles.

    A hidden state can be met more than once, so its reach is an expected number of visits. The
    rows of the policies must sum to 1.
    """
    tables = view.tables
    num_actions, active = tables.dimensions.num_actions, tables.dimensions.active_memories
    size = len(tables.lane)
    masses = np.zeros(max(active, size) * size, reach.dtype)
    turned = to_turn(size, reach.dtype)
    common = np.zeros(size, reach.dtype)
    places = np.zeros(2, np.int64)
    most = len(reach) * np.diff(tables.cycles.entry_start).max()
    rest = np.zeros((most, num_actions))
    chain, exits, unused = np.zeros((most, most)), np.zeros(most), np.zeros(most)
    visits = np.zeros(most)
    picks = np.full(most, -1)
    _forward(
        view,
        policies,
        reach,
        buffer,
        infoset_reach,
        masses,
        turned,
        common,
        places,
        rest,
        chain,
        exits,
        unused,
        visits,
        picks,
    )
