"""Passes over single turns, for a responder that remembers and whose rolls have prices.

They go from cell to cell by the sum of scores, which every turn raises, and read turns from lists
(:class:`TurnLists`), one outcome after the other. *Mine* are the hidden states with the responder
to move, *theirs* those with its opponent to move; all values are the responder's.

Sizes: C cells, H memories, K actions, S situations (kinds of cells that differ in the dice), U
ways to roll (dice, their sides, bonus, forced extra turn), N outcomes of all of them, E ends (many
outcomes end in the same cell and record wherever they start), R records, J lanes: memories in one
lane hand over the same.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels.sums import kernel, part

OTHER, AGAIN, WIN, LOSS = range(4)


class TurnLists(NamedTuple):
    """Every way in which a turn can end, as flat arrays."""

    order: NDArray[np.int64]  # (C,) cells, the sum of scores ascending
    total: NDArray[np.int64]  # (C,) that sum
    low: NDArray[np.int64]  # (C,) the smaller score
    high: NDArray[np.int64]  # (C,) the larger
    situation: NDArray[np.int64]  # (C,)
    way: NDArray[np.int64]  # (S, H, K) way to roll
    dice: NDArray[np.int64]  # (U,) of a way
    lane: NDArray[np.int64]  # (H,)
    by_lane: NDArray[np.int64]  # (H,) memories, lane by lane
    following: NDArray[np.int64]  # (J, 2, R) memory of whoever moves next, by again
    first: NDArray[np.int64]  # (U + 1,) outcomes of a way
    chance: NDArray[np.float64]  # (N,)
    end: NDArray[np.int64]  # (N,) of an outcome; many outcomes of several ways share one
    record: NDArray[np.int16]  # (C, E)
    kind: NDArray[np.int8]  # (C, E) OTHER, AGAIN, WIN or LOSS
    cell: NDArray[np.int32]  # (C, E) of whoever moves next


@part
def value_ways(turns, cell, moving, waiting, win, wanted, rolled):
    """Value of every way to roll, by lane, from those of the states that follow."""
    lanes = len(turns.following)
    for way in range(len(turns.dice)):
        for lane in range(lanes):
            rolled[way, lane] = 0.0
        if not wanted[way]:
            continue
        for x in range(turns.first[way], turns.first[way + 1]):
            end = turns.end[x]
            kind, chance, there = turns.kind[cell, end], turns.chance[x], turns.cell[cell, end]
            record = turns.record[cell, end]
            for lane in range(lanes):
                if kind == OTHER:
                    rolled[way, lane] += chance * waiting[there, turns.following[lane, 0, record]]
                elif kind == AGAIN:
                    rolled[way, lane] += chance * moving[there, turns.following[lane, 1, record]]
                elif kind == WIN:
                    rolled[way, lane] += chance * win
                else:
                    rolled[way, lane] += chance * (1.0 - win)


@part
def want_all(turns, wanted):
    """Want every way to roll."""
    for way in range(len(turns.dice)):
        wanted[way] = 1


@part
def want_played(turns, policy, cell, wanted):
    """Want the ways to roll that a policy uses at a cell."""
    for way in range(len(turns.dice)):
        wanted[way] = policy[cell, turns.dice[way]] > 0.0


@part
def reflect(turns, policy, cell, rolled, found, memory):
    """Value of a state with the opponent to move."""
    value = 0.0
    for roll in range(policy.shape[1]):
        if policy[cell, roll] > 0.0:
            way = turns.way[turns.situation[cell], memory, roll]
            value += policy[cell, roll] * rolled[way, turns.lane[memory]]
    found[cell, memory] = value


@kernel
def remember(turns, policy, prices, met, mine, theirs, values, chosen, rolled, wanted):
    """Values of a responder that remembers and pays for its rolls; its choice, the first of equals.

    Parameters
    ----------
    turns : TurnLists
    policy : float64 (C, K)
        Of the opponent.
    prices : float64 (C, H, K)
    met : uint8 (2, C, H)
        1 where play can come, by mover; nothing is computed elsewhere.
    mine, theirs : float64 (C, H)
        Filled.
    values : float64 (C, U, J)
        Filled: of every way to roll, before its price.
    chosen : int8 (C, H)
        Filled.
    rolled : float64 (U, J)
        Scratch.
    wanted : uint8 (U,)
        Scratch.
    """
    memories, rolls = mine.shape[1], policy.shape[1]
    for turn in range(len(turns.order) - 1, -1, -1):
        cell = turns.order[turn]
        want_all(turns, wanted)
        value_ways(turns, cell, mine, theirs, 1.0, wanted, rolled)
        for way in range(values.shape[1]):
            for lane in range(values.shape[2]):
                values[cell, way, lane] = rolled[way, lane]
        for memory in range(memories):
            if met[0, cell, memory]:
                best = -np.inf
                for roll in range(rolls):
                    way = turns.way[turns.situation[cell], memory, roll]
                    value = rolled[way, turns.lane[memory]] - prices[cell, memory, roll]
                    if value > best:
                        best = value
                        chosen[cell, memory] = roll
                mine[cell, memory] = best
        want_played(turns, policy, cell, wanted)
        value_ways(turns, cell, theirs, mine, 0.0, wanted, rolled)
        for memory in range(memories):
            if met[1, cell, memory]:
                reflect(turns, policy, cell, rolled, theirs, memory)


@part
def send(turns, cell, moving, waiting, masses):
    """Send what rolls in every way to the states that follow."""
    lanes = len(turns.following)
    for way in range(len(turns.dice)):
        for lane in range(lanes):
            mass = masses[way, lane]
            if mass > 0.0:
                for x in range(turns.first[way], turns.first[way + 1]):
                    end = turns.end[x]
                    there, record = turns.cell[cell, end], turns.record[cell, end]
                    if turns.kind[cell, end] == OTHER:
                        waiting[there, turns.following[lane, 0, record]] += mass * turns.chance[x]
                    elif turns.kind[cell, end] == AGAIN:
                        moving[there, turns.following[lane, 1, record]] += mass * turns.chance[x]
                masses[way, lane] = 0.0


@kernel
def reach(turns, policy, chosen, start, mine, theirs, masses):
    """Reach of every state; every roll counts once where the choice is -1.

    Parameters
    ----------
    turns : TurnLists
    policy : float64 (C, K)
        Of the opponent.
    chosen : int8 (C, H)
        Of the responder.
    start : int
        Memory at the start; a fair coin says who begins.
    mine, theirs : float64 (C, H)
        Filled.
    masses : float64 (U, J)
        Scratch, 0 before and after.
    """
    memories, rolls = mine.shape[1], policy.shape[1]
    for cell in range(mine.shape[0]):
        for memory in range(memories):
            mine[cell, memory] = theirs[cell, memory] = 0.0
    mine[0, start] = theirs[0, start] = 0.5
    for turn in range(len(turns.order)):
        cell = turns.order[turn]
        situation = turns.situation[cell]
        for memory in range(memories):
            here = mine[cell, memory]
            if here > 0.0:
                for roll in range(rolls):
                    if chosen[cell, memory] == roll or chosen[cell, memory] < 0:
                        masses[turns.way[situation, memory, roll], turns.lane[memory]] += here
        send(turns, cell, mine, theirs, masses)
        for memory in range(memories):
            here = theirs[cell, memory]
            if here > 0.0:
                for roll in range(rolls):
                    way = turns.way[situation, memory, roll]
                    masses[way, turns.lane[memory]] += here * policy[cell, roll]
        send(turns, cell, theirs, mine, masses)
