"""The two passes over any game, turn by turn: values backward, reach forward.

They are for games that are not worth compiling for. Where positions recur, what cells of equal
total score do to each other is solved in :mod:`hogeq.kernels.recurring`.

Values are win probabilities of player 0 in every hidden state, with player 0 to move (*mine*, or
index 0) and with the other to move (*theirs*, index 1).

Sizes: P players (1 is self-play), C cells (G * G, or twice as many where each player has a goal:
first those in which the player to move has the first player's), H memories, K actions, S situations
(kinds of cells that differ in the dice), U ways to roll (dice, their sides, bonus, forced extra
turn), N outcomes of all of them, E ends (many outcomes end in the same cell and record wherever
they start), R records, J lanes: memories in one lane hand over the same. Lanes are padded to whole
vectors.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels import LEAST_WEIGHT, TIE
from hogeq.kernels.cache import kernel, part
from hogeq.kernels.recurrence import ASCEND, EVALUATE, FULL_MEMORY, SOFTMAX
from hogeq.kernels.vectors import load, splat, store

OTHER, AGAIN, WIN, LOSS = range(4)
STEP = (0,) * 16  # numbers of a vector


class TurnLists(NamedTuple):
    """Every way in which a turn can end."""

    order: NDArray[
        np.int64
    ]  # cells in which a game can be; turns that change the total score lead further on
    scores: NDArray[np.int64]  # (C, 2) the lower of a cell's and the higher
    situation: NDArray[np.int64]  # (C,)
    place: NDArray[np.uint32]  # (S, K, H) way to roll and lane of a memory, way * J + lane
    usable: NDArray[np.uint8]  # (S, U) 1 for ways that some memory rolls
    dice: NDArray[np.int64]  # (U,) of a way
    lanes: NDArray[np.int64]  # (U, 2) range of the lanes in which a way can be
    following: NDArray[np.uint32]  # (2, R, J) memory of whoever moves next, by again
    first: NDArray[np.int64]  # (U + 1,) outcomes of a way, points ascending
    chance: NDArray[np.float64]  # (N,)
    later: NDArray[np.float64]  # (U,) that of all outcomes of a way but the first
    end: NDArray[np.int64]  # (N,) of an outcome; many outcomes of several ways share one
    end_lanes: NDArray[np.int64]  # (E, 2) range of the lanes in which an end can be
    record: NDArray[np.uint16]  # (C, E)
    kind: NDArray[np.uint8]  # (C, E) OTHER, AGAIN, WIN or LOSS
    cell: NDArray[np.uint32]  # (C, E) of whoever moves next


class Scratch(NamedTuple):
    """Arrays that passes work in, zeros before and after unless noted."""

    masses: NDArray[np.float64]  # (U * J,)
    flows: NDArray[np.float64]  # (E * J,)
    ends: NDArray[np.float64]  # (E * J,), of any content
    rolled: NDArray[np.float64]  # (n, U * J), by opponent, of any content
    wanted: NDArray[np.uint8]  # (U,), of any content
    skipped: NDArray[np.uint8]  # (U,), how many first outcomes of a way are not sent on


@part
def want(turns, cell, row, everything, wanted):
    """Want the ways to roll that a row of a policy uses at a cell, or all of the cell's."""
    situation = turns.situation[cell]
    for way in range(len(turns.dice)):
        used = everything or row[turns.dice[way]] > 0.0
        wanted[way] = used and turns.usable[situation, way]


@part
def value_ends(turns, cell, moving, waiting, win, ends):
    """Value of everything in which a turn from a cell can end, (E * J,)."""
    lanes = turns.following.shape[2]
    for end in range(len(turns.end_lanes)):
        kind, there, record = turns.kind[cell, end], turns.cell[cell, end], turns.record[cell, end]
        low, high = turns.end_lanes[end]
        if kind == OTHER:
            for lane in range(low, high):
                ends[end * lanes + lane] = waiting[there, turns.following[0, record, lane]]
        elif kind == AGAIN:
            for lane in range(low, high):
                ends[end * lanes + lane] = moving[there, turns.following[1, record, lane]]
        else:
            for lane in range(low, high):
                ends[end * lanes + lane] = win if kind == WIN else 1.0 - win


@part
def value_ways(turns, wanted, width, ends, rolled):
    """Value of every wanted way to roll, (U * J * width,), from those of the ends.

    Each has `width` values, side by side.
    """
    lanes = turns.following.shape[2] * width
    for way in range(len(turns.dice)):
        if wanted[way]:
            low, high = turns.lanes[way]
            for lane in range(low * width, high * width, len(STEP)):
                total = splat(0.0, STEP)
                for x in range(turns.first[way], turns.first[way + 1]):
                    total += turns.chance[x] * load(ends, turns.end[x] * lanes + lane, STEP)
                store(rolled, way * lanes + lane, total)


@part
def mix(turns, row, cell, rolled, values):
    """Value of a cell's memories whose rolls are drawn from a row."""
    situation = turns.situation[cell]
    for memory in range(values.shape[1]):
        value = 0.0
        for roll in range(len(row)):
            if row[roll] > 0.0:
                value += row[roll] * rolled[turns.place[situation, roll, memory]]
        values[cell, memory] = value


@part
def roll_out(turns, row, cell, reach, masses):
    """Add the reach of a cell's memories to that of their ways to roll, (U * J,)."""
    situation = turns.situation[cell]
    for roll in range(len(row)):
        weight = row[roll]
        if weight > 0.0:
            for memory in range(reach.shape[1]):
                masses[turns.place[situation, roll, memory]] += weight * reach[cell, memory]


@part
def send(turns, cell, moving, waiting, scratch):
    """Send the mass of each way to roll to the next states; the transpose of valuing."""
    masses, skipped, ends = scratch.masses, scratch.skipped, scratch.flows
    lanes = turns.following.shape[2]
    situation = turns.situation[cell]
    for way in range(len(turns.dice)):
        if not turns.usable[situation, way]:
            continue
        for lane in range(turns.lanes[way, 0], turns.lanes[way, 1], len(STEP)):
            mass = load(masses, way * lanes + lane, STEP)
            store(masses, way * lanes + lane, splat(0.0, STEP))
            for x in range(turns.first[way] + skipped[way], turns.first[way + 1]):
                at = turns.end[x] * lanes + lane
                store(ends, at, turns.chance[x] * mass + load(ends, at, STEP))
    for end in range(len(turns.end_lanes)):
        kind, there, record = turns.kind[cell, end], turns.cell[cell, end], turns.record[cell, end]
        low, high = turns.end_lanes[end]
        if kind == OTHER:
            for lane in range(low, high):
                waiting[there, turns.following[0, record, lane]] += ends[end * lanes + lane]
        elif kind == AGAIN:
            for lane in range(low, high):
                moving[there, turns.following[1, record, lane]] += ends[end * lanes + lane]
        for lane in range(low, high):
            ends[end * lanes + lane] = 0.0


@part
def maximise(turns, cell, rolled, values, choice):
    """Value of a cell's memories, each taking its own best roll, the fewest dice on ties."""
    situation = turns.situation[cell]
    for memory in range(values.shape[1]):
        best = -1.0
        for roll in range(turns.place.shape[1]):
            best = max(best, rolled[turns.place[situation, roll, memory]])
        values[cell, memory] = best
        roll = 0
        while rolled[turns.place[situation, roll, memory]] < best - TIE:
            roll += 1
        choice[cell, memory] = roll


@part
def clear(averages):
    """Set the counterfactual values of a cell to 0."""
    for roll in range(len(averages)):
        averages[roll] = 0.0


@part
def average(turns, cell, weight, reach, rolled, averages):
    """Add the counterfactual values of all rolls at a cell; returns its reach."""
    situation = turns.situation[cell]
    here = 0.0
    for memory in range(reach.shape[1]):
        mass = weight * reach[cell, memory]
        if mass > 0.0:
            here += mass
            for roll in range(len(averages)):
                averages[roll] += mass * rolled[turns.place[situation, roll, memory]]
    return here


@part
def take_best(row, averages, here):
    """Put all probability on the best roll; keep the present one on a tie. 1 if it changed."""
    best = -1.0
    for roll in range(len(row)):
        best = max(best, averages[roll])
    chosen = -1
    for roll in range(len(row)):
        if averages[roll] >= best - TIE * here and (chosen < 0 or row[roll] == 1.0):
            chosen = roll
    changed = 1 if row[chosen] != 1.0 else 0
    for roll in range(len(row)):
        row[roll] = 1.0 if roll == chosen else 0.0
    return changed


@part
def soften(row, averages, here, temperature, damping):
    """Move a row part of the way to the softmax of its values, given arrival at the cell."""
    best = -1.0
    for roll in range(len(row)):
        best = max(best, averages[roll])
    weight = max(here * temperature, LEAST_WEIGHT)
    total = 0.0
    for roll in range(len(row)):
        averages[roll] = math.exp((averages[roll] - best) / weight)
        total += averages[roll]
    for roll in range(len(row)):
        row[roll] += damping * (averages[roll] / total - row[roll])


@part
def set_row(role, row, averages, here, temperature, damping):
    """Change a row as a role does; 1 if ASCEND chose another roll."""
    if here > 0.0 and role == ASCEND:
        return take_best(row, averages, here)
    if here > 0.0 and role == SOFTMAX:
        soften(row, averages, here, temperature, damping)
    return 0


@kernel
def backward(turns, role, policies, weights, reach, values, filled, temperature, damping, scratch):
    """Backward induction over all cells where no position recurs; returns the changes of ASCEND.

    `policies` (1 + n, C, K) are of player 0, whose rows ASCEND and SOFTMAX change, and of its
    opponents; (1, C, K) is self-play. A row of player 0 is set at once against all opponents, by
    their `weights` (n,). `reach` (n, 2, C, H) is of :func:`forward`, for all but EVALUATE and
    FULL_MEMORY. Filled are `values` (n, 2, C, H), the win probability of player 0 by who moves, and
    `filled`: by FULL_MEMORY the last, the choice (C, H), and by the others (C, K), counterfactual
    values after COUNTERFACTUAL, and the reach (C,).
    """
    averages, infoset_reach, choice = filled
    ends, wanted = scratch.ends, scratch.wanted
    changes = 0
    row_values = role not in (EVALUATE, FULL_MEMORY)
    for turn in range(len(turns.order) - 1, -1, -1):
        cell = turns.order[turn]
        row, found, here = policies[0, cell], averages[cell], 0.0
        if row_values:
            clear(found)
        # First player 0 against everybody, then, with its row set, everybody against it.
        for step in range(2 * len(weights)):
            player, pair = step // len(weights), step % len(weights)
            mine, theirs, out = values[pair, 0], values[pair, 1], scratch.rolled[pair]
            if player == 1:
                if role == FULL_MEMORY:
                    maximise(turns, cell, out, mine, choice)
                else:
                    if pair == 0:
                        changes += set_row(role, row, found, here, temperature, damping)
                    mix(turns, row, cell, out, mine)
                if len(policies) == 1:
                    for memory in range(mine.shape[1]):
                        theirs[cell, memory] = 1.0 - mine[cell, memory]
                    continue
            moving, waiting = (theirs, mine) if player else (mine, theirs)
            played = policies[1 + pair, cell] if player else row
            want(turns, cell, played, player == 0 and role != EVALUATE, wanted)
            value_ends(turns, cell, moving, waiting, 1.0 - player, ends)
            value_ways(turns, wanted, 1, ends, out)
            if player == 1:
                mix(turns, played, cell, out, theirs)
            elif row_values:
                here += average(turns, cell, weights[pair], reach[pair, 0], out, found)
        if row_values:
            infoset_reach[cell] = here
    return changes


@kernel
def forward(turns, policies, reach, infoset_reach, scratch):
    """Reach of every hidden state by mover, where no position recurs.

    Rows of `policies` (P, C, K) need not sum to 1: a row of ones counts every roll once. To `reach`
    (P, C, H), the probability that a game starts in each state, that of coming there is added.
    `infoset_reach` (C,) is filled with the sums of player 0's.
    """
    players = len(policies)
    for turn in range(len(turns.order)):
        cell = turns.order[turn]
        for player in range(players):
            here = 0.0
            for memory in range(reach.shape[2]):
                here += reach[player, cell, memory]
            if player == 0:
                infoset_reach[cell] = here
            if here > 0.0:
                roll_out(turns, policies[player, cell], cell, reach[player], scratch.masses)
                send(turns, cell, reach[player], reach[players - 1 - player], scratch)


@kernel
def roll_values(turns, cell, moving, waiting, win, scratch):
    """Value every way to roll at a cell, in `scratch.rolled`, by values of the next states."""
    for way in range(len(turns.dice)):
        scratch.wanted[way] = turns.usable[turns.situation[cell], way]
    value_ends(turns, cell, moving, waiting, win, scratch.ends)
    value_ways(turns, scratch.wanted, 1, scratch.ends, scratch.rolled[0])
