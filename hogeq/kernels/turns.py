"""One turn of any game of Hog, for the passes of :mod:`hogeq.kernels.priced`: values and reach.

Values are win probabilities of player 0 in every hidden state, with player 0 to move (*mine*, or
index 0) and with the other to move (*theirs*, index 1).

Sizes: P players (1 is self-play), C cells (G * G, or twice as many where each player has a goal:
first those in which the player to move has the first player's), H memories, K actions, S situations
(kinds of cells that differ in the dice), U ways to roll (dice, their sides, bonus, forced extra
turn), N outcomes of all of them, E ends (many outcomes end in the same cell and record wherever
they start), R records, J lanes: memories in one lane hand over the same. Lanes are padded to whole
vectors.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels.cache import part
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
    masses, ends = scratch.masses, scratch.flows
    lanes = turns.following.shape[2]
    situation = turns.situation[cell]
    for way in range(len(turns.dice)):
        if not turns.usable[situation, way]:
            continue
        for lane in range(turns.lanes[way, 0], turns.lanes[way, 1], len(STEP)):
            mass = load(masses, way * lanes + lane, STEP)
            store(masses, way * lanes + lane, splat(0.0, STEP))
            for x in range(turns.first[way], turns.first[way + 1]):
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
