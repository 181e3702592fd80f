"""The passes of :mod:`hogeq.kernels.interpreter` where a turn can leave the total as it was.

Cells of equal total can then feed each other. They fall into *components*, and the passes go from
component to component. Only the first outcome of a way to roll, that of no points, can *stay* in a
component. Hidden states to which a turn stays are *entered*; they are a Markov chain, which
:mod:`hogeq.kernels.chains` solves.

Sizes are those of the interpreter; besides them, n is the number of components, N that of all
entered states, and V twice that of the component with most of them.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels.cache import kernel, part
from hogeq.kernels.chains import solve, visit
from hogeq.kernels.interpreter import (
    AGAIN,
    WIN,
    average,
    clear,
    maximise,
    mix,
    roll_out,
    send,
    set_row,
    value_ends,
    value_ways,
    want,
)
from hogeq.kernels.recurrence import ASCEND, EVALUATE, FULL_MEMORY, SOFTMAX


class Loops(NamedTuple):
    """Which cells and hidden states turns that stay lead to, and what rolls do there."""

    start: NDArray[np.int64]  # (n + 1,) range of the cells of a component
    cells: NDArray[np.int64]  # (C,) in the order in which components can be solved backward
    component: NDArray[np.int64]  # (C,) component of a cell, -1 if nothing stays in it
    number: NDArray[np.int32]  # (C, H) of an entered state in its component
    entered: NDArray[np.int64]  # (n + 1,) range of the entered states of a component
    core: NDArray[np.int64]  # (n,) how many of them, the first, turns that stay at them lead to
    member: NDArray[np.int64]  # (N,) cell of an entered state, counted from the component's first
    memory: NDArray[np.int64]  # (N,)
    # What each roll does at an entered state:
    place: NDArray[np.uint32]  # (N, K) its way and lane
    stay: NDArray[np.float64]  # (N, K) probability that it stays ...
    leave: NDArray[np.float64]  # (N, K) ... and that it leaves, to the last digit
    to: NDArray[np.int64]  # (N, K) number of the state that follows if it stays
    again: NDArray[np.uint8]  # (N, K) 1 if the same player then moves


@part
def stay_of(turns, loops, cell, way):
    """Probability that a way to roll stays in the component of a cell."""
    x = turns.first[way]
    end = turns.end[x]
    home = loops.component[cell]
    if home < 0 or turns.kind[cell, end] >= WIN:
        return 0.0
    return turns.chance[x] if loops.component[turns.cell[cell, end]] == home else 0.0


@part
def after_stay(turns, cell, way, lane):
    """Cell and memory that follow if a way to roll stays, and 1 if the same player moves."""
    end = turns.end[turns.first[way]]
    again = 1 if turns.kind[cell, end] == AGAIN else 0
    return turns.cell[cell, end], turns.following[again, turns.record[cell, end], lane], again


@part
def add_stays(turns, loops, cell, moving, waiting, left, rolled):
    """Value ways to roll, given what they win when they leave the component."""
    for place in range(len(rolled)):
        rolled[place] = left[place]
    for way in range(len(turns.dice)):
        stay = stay_of(turns, loops, cell, way)
        if stay > 0.0:
            for lane in range(turns.lanes[way, 0], turns.lanes[way, 1]):
                there, memory, again = after_stay(turns, cell, way, lane)
                follow = moving[there, memory] if again else waiting[there, memory]
                rolled[way * turns.following.shape[2] + lane] += stay * follow


@part
def weigh_entered(loops, component, movers, policies, left, weight, outside):
    """Fill, by state of a component's chain, probability and wins outside of every roll."""
    low, first = loops.entered[component], loops.start[component]
    for state in range((loops.entered[component + 1] - low) * movers):
        entry, mover = low + state // movers, state % movers
        cell = loops.cells[first + loops.member[entry]]
        for roll in range(policies.shape[2]):
            weight[state, roll] = policies[min(mover, len(policies) - 1), cell, roll]
            outside[state, roll] = left[loops.member[entry], mover, loops.place[entry, roll]]


@kernel
def backward(
    turns,
    loops,
    role,
    policies,
    reach,
    values,
    averages,
    infoset_reach,
    choice,
    temperature,
    damping,
    ends,
    rolled,
    wanted,
    left,
    weight,
    outside,
    wins,
    chain,
    exits,
    before,
):
    """Backward induction over all components; parameters as of the interpreter's, one opponent.

    ASCEND and SOFTMAX take the cells of a component one after the other and solve it anew after
    each. Without memory ASCEND is policy iteration, and every change of a row counts. With memory a
    row can act more than once in a game, in hidden states whose shares it changes, and the roll
    that the slope favours can lose: so a change is kept only if it wins, and in one pass a
    component changes one row only, since the reach of its other rows then is out of date.

    The arrays from `left` on are scratch; `left` holds what ways to roll win where they leave.
    """
    players, memories, changes = len(policies), values.shape[2], 0
    searches, row_values = role == FULL_MEMORY, role not in (EVALUATE, FULL_MEMORY)
    for component in range(len(loops.start) - 1):
        first, members = loops.start[component], loops.start[component + 1] - loops.start[component]
        low, high = loops.entered[component], loops.entered[component + 1]
        is_loop = high > low
        for state in range(2 * members if is_loop else 0):
            for memory in range(memories):
                values[state % 2, loops.cells[first + state // 2], memory] = 0.0
        for state in range(2 * members):
            member, mover = state // 2, state % 2
            if is_loop or mover < players:
                cell, out = loops.cells[first + member], left[member, mover]
                row = policies[min(mover, players - 1), cell]
                want(turns, cell, row, role != EVALUATE, wanted)
                value_ends(turns, cell, values[mover], values[1 - mover], 1.0 - mover, ends)
                value_ways(turns, wanted, 1, ends, out)

        # Rows are changed one by one, and checked where that need not win. Then all is valued.
        member, checks, moved = 0, False, False
        adapts = is_loop and role in (ASCEND, SOFTMAX)
        while is_loop:
            weigh_entered(loops, component, 2, policies, left, weight, outside)
            solve(
                loops.core[component],
                (2 if players == 1 else 1) if searches else 0,
                weight[: 2 * (high - low)],
                loops.stay[low:high],
                loops.leave[low:high],
                loops.to[low:high],
                loops.again[low:high],
                outside,
                wins[: 2 * (high - low)],
                chain,
                exits,
            )
            for state in range(2 * (high - low)):
                entry = low + state // 2
                there = loops.cells[first + loops.member[entry]]
                values[state % 2, there, loops.memory[entry]] = wins[state]
            if not adapts:
                break
            cell = loops.cells[first + member]
            row, found = policies[0, cell], averages[cell]
            add_stays(turns, loops, cell, values[0], values[1], left[member, 0], rolled)
            clear(found)
            here = average(turns, cell, 1.0, reach[0], rolled, found)
            if checks:
                gain = 0.0
                for roll in range(len(row)):
                    gain += (row[roll] - before[roll]) * found[roll]
                checks, adapts = False, gain <= 0.0
                changes -= adapts
                for roll in range(len(row)):
                    row[roll] = before[roll] if adapts else row[roll]
            else:
                for roll in range(len(row)):
                    before[roll] = row[roll]
                changed = set_row(role, row, found, here, temperature, damping)
                changes += changed
                moved = moved or changed > 0
                checks = changed > 0 and memories > 1
            if not checks:
                member += 1
            if member == members:
                adapts = adapts and moved and memories == 1
                member, moved = 0, False

        for state in range(players * members):
            member, player = state // players, state % players
            cell = loops.cells[first + member]
            moving, waiting = values[player], values[1 - player]
            add_stays(turns, loops, cell, moving, waiting, left[member, player], rolled)
            if searches and player == 0:
                maximise(turns, cell, rolled, moving, choice)
            else:
                row, found = policies[player, cell], averages[cell]
                if row_values and player == 0:
                    clear(found)
                    here = average(turns, cell, 1.0, reach[0], rolled, found)
                    infoset_reach[cell] = here
                    if not is_loop:
                        changes += set_row(role, row, found, here, temperature, damping)
                mix(turns, row, cell, rolled, moving)
            if players == 1:
                for memory in range(memories):
                    values[1, cell, memory] = 1.0 - values[0, cell, memory]
    return changes


@kernel
def forward(
    turns,
    loops,
    policies,
    reach,
    infoset_reach,
    masses,
    skipped,
    ends,
    left,
    weight,
    outside,
    visits,
    chain,
    exits,
    unused,
):
    """Count expected visits to hidden states; parameters as of the interpreter's and above.

    A state can be met more than once. The rows of the policies must sum to 1.
    """
    players, memories, lanes = len(policies), reach.shape[2], turns.following.shape[2]
    for component in range(len(loops.start) - 2, -1, -1):
        first, members = loops.start[component], loops.start[component + 1] - loops.start[component]
        low, high = loops.entered[component], loops.entered[component + 1]
        size = (high - low) * players
        # First what comes from outside stays, and all that follows is counted; then all leaves.
        for state in range(size):
            visits[state] = 0.0
        for x in range(players * members if size else 0):
            cell, player = loops.cells[first + x // players], x % players
            roll_out(turns, policies[player, cell], cell, reach[player], masses)
            for way in range(len(turns.dice)):
                stay = stay_of(turns, loops, cell, way)
                for lane in range(turns.lanes[way, 0], turns.lanes[way, 1]):
                    mass = masses[way * lanes + lane]
                    masses[way * lanes + lane] = 0.0
                    if stay * mass > 0.0:
                        there, memory, again = after_stay(turns, cell, way, lane)
                        mover = player if again else players - 1 - player
                        visits[loops.number[there, memory] * players + mover] += stay * mass
        if size:
            weigh_entered(loops, component, players, policies, left, weight, outside)
            visit(
                loops.core[component],
                players,
                weight,
                loops.stay[low:high],
                loops.leave[low:high],
                loops.to[low:high],
                loops.again[low:high],
                outside,
                visits[:size],
                chain,
                exits,
                unused,
            )
        for state in range(size):
            entry = low + state // players
            cell = loops.cells[first + loops.member[entry]]
            reach[state % players, cell, loops.memory[entry]] += visits[state]
        for x in range(players * members):
            cell, player = loops.cells[first + x // players], x % players
            here = 0.0
            for memory in range(memories):
                here += reach[player, cell, memory]
            if player == 0:
                infoset_reach[cell] = here
            if here > 0.0:
                for way in range(len(turns.dice)):
                    skipped[way] = stay_of(turns, loops, cell, way) > 0.0
                moving, waiting = reach[player], reach[players - 1 - player]
                roll_out(turns, policies[player, cell], cell, moving, masses)
                send(turns, cell, moving, waiting, masses, skipped, ends)
