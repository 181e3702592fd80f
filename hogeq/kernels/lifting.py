"""Passes over single turns, for a responder whose rolls have prices.

They go from cell to cell by the sum of scores, which every turn raises, and read turns from lists
(:class:`TurnLists`), one outcome after the other. *Mine* are the hidden states with the responder
to move, *theirs* those with its opponent to move; all values are the responder's.

Sizes: C cells, H memories, K actions, S situations (kinds of cells that differ in the dice), U
ways to roll (dice, their sides, bonus, forced extra turn), N outcomes of all of them, R records,
J lanes: memories in one lane hand over the same.
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
    following: NDArray[np.int64]  # (J, 2, R) memory of whoever moves next, by again
    first: NDArray[np.int64]  # (U + 1,) outcomes of a way
    chance: NDArray[np.float64]  # (N,)
    record: NDArray[np.int64]  # (C, N)
    kind: NDArray[np.int8]  # (C, N) OTHER, AGAIN, WIN or LOSS
    cell: NDArray[np.int32]  # (C, N) of whoever moves next


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
            kind, chance, there = turns.kind[cell, x], turns.chance[x], turns.cell[cell, x]
            record = turns.record[cell, x]
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
def remember(turns, policy, prices, met, mine, theirs, chosen, rolled, wanted):
    """Values of a responder that remembers and pays for its rolls; its choice, the first of equals.

    Parameters
    ----------
    turns : TurnLists
    policy : float64 (C, K)
        Of the opponent.
    prices : float64 (C, K, H)
    met : uint8 (2, C, H)
        1 where play can come, by mover; nothing is computed elsewhere.
    mine, theirs : float64 (C, H)
        Filled.
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
        for memory in range(memories):
            if met[0, cell, memory]:
                best = -np.inf
                for roll in range(rolls):
                    way = turns.way[turns.situation[cell], memory, roll]
                    value = rolled[way, turns.lane[memory]] - prices[cell, roll, memory]
                    if value > best:
                        best = value
                        chosen[cell, memory] = roll
                mine[cell, memory] = best
        want_played(turns, policy, cell, wanted)
        value_ways(turns, cell, theirs, mine, 0.0, wanted, rolled)
        for memory in range(memories):
            if met[1, cell, memory]:
                reflect(turns, policy, cell, rolled, theirs, memory)


@kernel
def roll_values(turns, prices, cell, mine, theirs, found, rolled, wanted):
    """Value of every roll at a cell, less its price, by memory: `found` is float64 (K, H)."""
    want_all(turns, wanted)
    value_ways(turns, cell, mine, theirs, 1.0, wanted, rolled)
    for roll in range(found.shape[0]):
        for memory in range(found.shape[1]):
            way = turns.way[turns.situation[cell], memory, roll]
            found[roll, memory] = rolled[way, turns.lane[memory]] - prices[cell, roll, memory]


@part
def send(turns, cell, moving, waiting, masses):
    """Send what rolls in every way to the states that follow."""
    lanes = len(turns.following)
    for way in range(len(turns.dice)):
        for lane in range(lanes):
            mass = masses[way, lane]
            if mass > 0.0:
                for x in range(turns.first[way], turns.first[way + 1]):
                    there, record = turns.cell[cell, x], turns.record[cell, x]
                    if turns.kind[cell, x] == OTHER:
                        waiting[there, turns.following[lane, 0, record]] += mass * turns.chance[x]
                    elif turns.kind[cell, x] == AGAIN:
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


@part
def is_before(turns, there, cell):
    """Whether play can come from one cell to another: scores rise or trade places."""
    if turns.total[there] >= turns.total[cell]:
        return False
    return turns.low[there] <= turns.low[cell] and turns.high[there] <= turns.high[cell]


@part
def value_claims(turns, cell, at, moving, waiting, plain, other, win, mine, wanted, rolled):
    """As :func:`value_ways` for several values at once; beyond `at`, where no claim counts, plain.

    `moving` and `waiting` hold the claims and, last, what is worth as much as `plain` or `other`
    beyond.
    """
    lanes, width = len(turns.following), rolled.shape[2]
    for way in range(len(turns.dice)):
        for lane in range(lanes):
            for one in range(width):
                rolled[way, lane, one] = 0.0
        if not wanted[way]:
            continue
        for x in range(turns.first[way], turns.first[way + 1]):
            kind, chance, there = turns.kind[cell, x], turns.chance[x], turns.cell[cell, x]
            record = turns.record[cell, x]
            if kind >= WIN:
                worth = chance * (win if kind == WIN else 1.0 - win)
                if worth > 0.0:
                    for lane in range(lanes):
                        rolled[way, lane, width - 1] += worth
                continue
            inside = is_before(turns, there, at)
            if (kind == AGAIN) == mine:  # the responder moves next
                inside = inside or there == at
            for lane in range(lanes):
                memory = turns.following[lane, int(kind == AGAIN), record]
                if not inside:
                    value = plain[there, memory] if kind == AGAIN else other[there, memory]
                    rolled[way, lane, width - 1] += chance * value
                elif kind == AGAIN:
                    for one in range(width):
                        rolled[way, lane, one] += chance * moving[there, memory, one]
                else:
                    for one in range(width):
                        rolled[way, lane, one] += chance * waiting[there, memory, one]


@kernel
def lift(
    turns,
    policy,
    prices,
    met,
    mine,
    theirs,
    cell,
    claims,
    weights,
    lent,
    commit,
    my_claims,
    their_claims,
    rolled,
    rolled_now,
    wanted,
):
    """Value what one cell claims of a responder that pays for its rolls and lends it slack.

    Parameters
    ----------
    turns, policy, prices, met, mine, theirs
        As in :func:`remember`; the prices and values in force.
    cell : int
    claims : float64 (H, A + 1)
        Claim of each of A rolls on each memory of the cell; last, by how much its value falls.
    weights : float64 (A,)
        Share of what a claim can gain by another roll that is asked for.
    lent : float
        Largest share of the slack of a roll that is lent.
    commit : bool
        Whether to put what is lent into the prices, and the new values into `mine` and `theirs`.
    my_claims, their_claims : float64 (C, H, A + 1)
        Filled, at the cells before this one: the value of each claim, and of the responder.
    rolled : float64 (U, J, A + 1)
        Scratch.
    rolled_now : float64 (U, J)
        Scratch.
    wanted : uint8 (U,)
        Scratch.
    """
    memories, rolls = mine.shape[1], policy.shape[1]
    asked = len(weights)
    for memory in range(memories):
        for one in range(asked):
            my_claims[cell, memory, one] = claims[memory, one]
        my_claims[cell, memory, asked] = mine[cell, memory] - claims[memory, asked]
    for turn in range(len(turns.order) - 1, -1, -1):
        here = turns.order[turn]
        if not is_before(turns, here, cell):
            continue
        situation = turns.situation[here]
        want_all(turns, wanted)
        value_ways(turns, here, mine, theirs, 1.0, wanted, rolled_now)
        value_claims(
            turns, here, cell, my_claims, their_claims, mine, theirs, 1.0, True, wanted, rolled
        )
        for memory in range(memories):
            if not met[0, here, memory]:
                continue
            lane = turns.lane[memory]
            best, usual = -np.inf, 0
            for roll in range(rolls):
                way = turns.way[situation, memory, roll]
                value = rolled_now[way, lane] - prices[here, roll, memory]
                if value > best:
                    best, usual = value, roll
            chosen = turns.way[situation, memory, usual]
            for one in range(asked):
                my_claims[here, memory, one] = rolled[chosen, lane, one]
            value = rolled[chosen, lane, asked] - prices[here, usual, memory]
            for roll in range(rolls):
                if roll == usual:
                    continue
                way = turns.way[situation, memory, roll]
                need = 0.0
                for one in range(asked):
                    gain = rolled[way, lane, one] - rolled[chosen, lane, one]
                    need = max(need, gain * weights[one])
                price = prices[here, roll, memory]
                need = min(need, lent * (best - (rolled_now[way, lane] - price)))
                for one in range(asked):
                    left = rolled[way, lane, one] - need
                    my_claims[here, memory, one] = max(my_claims[here, memory, one], left)
                if commit:
                    prices[here, roll, memory] = price - need
                value = max(value, rolled[way, lane, asked] - (price - need))
            my_claims[here, memory, asked] = value
        want_played(turns, policy, here, wanted)
        value_claims(
            turns, here, cell, their_claims, my_claims, theirs, mine, 0.0, False, wanted, rolled
        )
        for memory in range(memories):
            if not met[1, here, memory]:
                continue
            for one in range(asked + 1):
                value = 0.0
                for roll in range(rolls):
                    if policy[here, roll] > 0.0:
                        way = turns.way[situation, memory, roll]
                        value += policy[here, roll] * rolled[way, turns.lane[memory], one]
                their_claims[here, memory, one] = value
    if commit:
        for memory in range(memories):
            mine[cell, memory] = my_claims[cell, memory, asked]
        for there in range(len(turns.order)):
            if is_before(turns, there, cell):
                for memory in range(memories):
                    mine[there, memory] = my_claims[there, memory, asked]
                    theirs[there, memory] = their_claims[there, memory, asked]
