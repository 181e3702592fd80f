"""Passes over what one cell claims of a responder whose rolls have prices, and what it is lent.

Turns, states and sizes are those of :mod:`hogeq.kernels.turns`; W numbers go side by side, one
value of each claim and, last, by how much the responder's own value falls.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels.lanes import item, larger, largest, load, splat, store, store_one
from hogeq.kernels.sums import kernel, part
from hogeq.kernels.turns import AGAIN, OTHER, want_played

TIE = 1e-11  # rolls worth less than this apart are as good: the first of them is usual


class Lanes(NamedTuple):
    """Which lanes of a cell a mover plays alike, so that most need not be summed one by one."""

    base: NDArray[np.int64]  # (J,) lane that a lane is like in most cells
    bases: NDArray[np.int64]  # those that are their own
    first: NDArray[np.int64]  # (C + 1,) where a cell's others begin
    others: NDArray[np.int64]  # lanes unlike their base, cell by cell


@part
def is_before(turns, there, cell):
    """Whether play can come from one cell to another: scores rise or trade places."""
    if turns.total[there] >= turns.total[cell]:
        return False
    return turns.low[there] <= turns.low[cell] and turns.high[there] <= turns.high[cell]


@part
def store_zeros(rolled, start, stop, lane):
    """Set vectors from start to stop to 0."""
    for place in range(start, stop):
        store(rolled, place * len(lane), splat(rolled, 0.0, lane))


@part
def value_their_claims(turns, cell, again, other, moving, waiting, wanted, rolled, lane):
    """Value ways to roll, W values at once, each 0 but in marked cells; say if any is led to.

    Those are the cells of `again` with the same player to move next, of `other` with the other.
    """
    lanes, width, memories = len(turns.following), len(lane), len(turns.lane)
    led = False
    for way in range(len(turns.dice)):
        if not wanted[way]:
            continue
        store_zeros(rolled, way * lanes, (way + 1) * lanes, lane)
        for x in range(turns.first[way], turns.first[way + 1]):
            end = turns.end[x]
            kind, chance, there = turns.kind[cell, end], turns.chance[x], turns.cell[cell, end]
            record = turns.record[cell, end]
            if kind == OTHER and other[there]:
                led = True
                for one in range(lanes):
                    at = (there * memories + turns.following[one, 0, record]) * width
                    place = (way * lanes + one) * width
                    total = load(rolled, place, lane) + chance * load(waiting, at, lane)
                    store(rolled, place, total)
            elif kind == AGAIN and again[there]:
                led = True
                for one in range(lanes):
                    at = (there * memories + turns.following[one, 1, record]) * width
                    place = (way * lanes + one) * width
                    total = load(rolled, place, lane) + chance * load(moving, at, lane)
                    store(rolled, place, total)
    return led


@part
def value_my_claims(turns, cell, again, other, moving, waiting, alike, wanted, ends, rolled, lane):
    """Do the same where the lanes of `other` are `alike`: most are worth what their base lane is.

    Every end is looked up once, for all outcomes that end there.
    """
    lanes, width, memories = len(turns.following), len(lane), len(turns.lane)
    base, led = alike.base, False
    for end in range(turns.kind.shape[1]):
        kind, there, record = turns.kind[cell, end], turns.cell[cell, end], turns.record[cell, end]
        start, place = there * memories, end * lanes
        if kind == OTHER and other[there]:
            led = True
            for x in range(len(alike.bases)):
                one = alike.bases[x]
                at = (start + turns.following[one, 0, record]) * width
                store(ends, (place + one) * width, load(waiting, at, lane))
            for x in range(alike.first[there], alike.first[there + 1]):
                one = alike.others[x]
                at = (start + turns.following[one, 0, record]) * width
                more = load(waiting, at, lane) - load(ends, (place + base[one]) * width, lane)
                store(ends, (place + one) * width, more)
        elif kind == AGAIN and again[there]:
            led = True
            for one in range(lanes):
                at = (start + turns.following[one, 1, record]) * width
                more = load(moving, at, lane)
                if base[one] != one:
                    usual = (start + turns.following[base[one], 1, record]) * width
                    more = more - load(moving, usual, lane)
                store(ends, (place + one) * width, more)
    for way in range(len(turns.dice)):
        if not led or not wanted[way]:
            continue
        here = way * lanes
        store_zeros(rolled, here, here + lanes, lane)
        for x in range(turns.first[way], turns.first[way + 1]):
            end, chance = turns.end[x], turns.chance[x]
            kind, there, start = turns.kind[cell, end], turns.cell[cell, end], end * lanes
            if kind == OTHER and other[there]:
                for y in range(len(alike.bases)):
                    one = alike.bases[y]
                    place = (here + one) * width
                    term = chance * load(ends, (start + one) * width, lane)
                    store(rolled, place, load(rolled, place, lane) + term)
                for y in range(alike.first[there], alike.first[there + 1]):
                    one = alike.others[y]
                    place = (here + one) * width
                    term = chance * load(ends, (start + one) * width, lane)
                    store(rolled, place, load(rolled, place, lane) + term)
            elif kind == AGAIN and again[there]:
                for one in range(lanes):
                    place = (here + one) * width
                    term = chance * load(ends, (start + one) * width, lane)
                    store(rolled, place, load(rolled, place, lane) + term)
        for one in range(lanes):
            if base[one] != one:
                place = (here + one) * width
                total = load(rolled, place, lane) + load(rolled, (here + base[one]) * width, lane)
                store(rolled, place, total)
    return led


@part
def reflect_claims(turns, policy, cell, memory, asked, rolled, their_claims, lane):
    """Value claims of a state with the opponent to move, W at once, where that is asked for."""
    lanes, width, memories = len(turns.following), len(lane), len(turns.lane)
    if not asked[cell, memory]:
        return
    claimed = splat(rolled, 0.0, lane)
    if asked[cell, memory] == 1:
        for roll in range(policy.shape[1]):
            if policy[cell, roll] > 0.0:
                way = turns.way[turns.situation[cell], memory, roll]
                at = (way * lanes + turns.lane[memory]) * width
                claimed = claimed + policy[cell, roll] * load(rolled, at, lane)
    store(their_claims, (cell * memories + memory) * width, claimed)


@kernel
def lift(
    turns,
    policy,
    prices,
    met,
    asked,
    used,
    alike,
    mine,
    theirs,
    values,
    cell,
    claims,
    weights,
    lent,
    my_claims,
    their_claims,
    loans,
    falls,
    alive,
    rolled,
    ends,
    worths,
    fallen,
    gaps,
    wanted,
    lane,
):
    """Value what one cell claims of a responder that pays for its rolls and lends it slack.

    Parameters
    ----------
    turns, policy, prices, met, mine, theirs, values
        As in :func:`hogeq.kernels.turns.remember`; the prices and values in force.
    asked : uint8 (C, H)
        Of states with the opponent to move, 1 where claims are valued, 2 where they are 0.
    used : uint8 (C, U)
        1 for ways in which the responder may roll.
    alike : Lanes
        Of the opponent.
    cell : int
    claims : float64 (H * W,)
        Claim of each roll on each memory of the cell; last, by how much its value falls.
    weights : float64 (W,)
        Share of what a claim can gain by another roll that is asked for; 0 for what is no claim.
    lent : float
        Largest share that is lent of what slack a roll had; what it gains by this claim is free.
    my_claims, their_claims : float64 (C * H * W,)
        Filled, at the cells from which play can come to this one.
    loans : float64 (C, H, K)
        Filled, there: slack that is lent.
    falls : float64 (C, U, J)
        Filled, there: by how much `values` fall.
    alive : uint8 (2, C)
        Filled: by mover, 1 for cells from which play can come to this one, and for itself.
    rolled : float64 (U * J * W,)
        Scratch.
    ends : float64 (E * J * W,)
        Scratch.
    worths, fallen : float64 (K,)
        Scratch.
    gaps : float64 (U, U)
        Scratch.
    wanted : uint8 (2, U)
        Scratch.
    lane : tuple of W zeros
    """
    memories, rolls, ways = mine.shape[1], policy.shape[1], values.shape[1]
    lanes, width = len(turns.following), len(lane)
    last = width - 1
    weight = load(weights, 0, lane)
    partly = False
    for x in range(last):
        partly = partly or 0.0 < weights[x] < 1.0
    for there in range(len(turns.order)):
        alive[0, there] = there == cell
        alive[1, there] = 0
    for memory in range(memories):
        place = (cell * memories + memory) * width
        store(my_claims, place, load(claims, memory * width, lane))
    compared, played = wanted[0], wanted[1]
    for turn in range(len(turns.order) - 1, -1, -1):
        here = turns.order[turn]
        if not is_before(turns, here, cell):
            continue
        situation = turns.situation[here]
        led = value_my_claims(
            turns,
            here,
            alive[0],
            alive[1],
            my_claims,
            their_claims,
            alike,
            used[here],
            ends,
            rolled,
            lane,
        )
        current, alive[0, here] = -1, led
        for number in range(memories if led else 0):
            memory = turns.by_lane[number]
            if not met[0, here, memory]:
                continue
            one = turns.lane[memory]
            if one != current:
                current = one
                for way in range(ways):
                    compared[way] = 0
            best = lower = -np.inf
            for roll in range(rolls):
                way = turns.way[situation, memory, roll]
                worths[roll] = values[here, way, one] - prices[here, memory, roll]
                fallen[roll] = worths[roll] - item(rolled, (way * lanes + one) * width + last)
                best, lower = max(best, worths[roll]), max(lower, fallen[roll])
            usual = 0  # the best roll once values have fallen
            while fallen[usual] < lower - TIE:
                usual += 1
            like = turns.way[situation, memory, usual]
            plain = load(rolled, (like * lanes + one) * width, lane)
            if not compared[like]:
                compared[like] = 1
                for way in range(ways):
                    if used[here, way]:
                        instead = load(rolled, (way * lanes + one) * width, lane)
                        gaps[like, way] = max(0.0, largest(weight * (instead - plain)))
            claimed = plain
            loans[here, memory, usual] = 0.0
            for roll in range(rolls):
                if roll == usual:
                    continue
                way = turns.way[situation, memory, roll]
                # What a roll falls further than the best is slack of this claim's own making.
                slack, own = best - worths[roll], worths[roll] - fallen[roll] - (best - lower)
                most = max(0.0, min(slack + own, lent * slack + max(0.0, own)))
                need = gaps[like, way]
                if need > most or partly:  # else no claim gains by this roll
                    need = min(need, most)
                    at = (way * lanes + one) * width
                    claimed = larger(claimed, -need + load(rolled, at, lane))
                loans[here, memory, roll] = need
            place = (here * memories + memory) * width
            store(my_claims, place, claimed)
            store_one(my_claims, place + last, best - lower)
        for way in range(ways if led else 0):
            for one in range(lanes):
                falls[here, way, one] = item(rolled, (way * lanes + one) * width + last)
        want_played(turns, policy, here, played)
        led = value_their_claims(
            turns, here, alive[1], alive[0], their_claims, my_claims, played, rolled, lane
        )
        alive[1, here] = led
        for memory in range(memories if led else 0):
            reflect_claims(turns, policy, here, memory, asked, rolled, their_claims, lane)


@kernel
def lend(
    turns,
    prices,
    met,
    mine,
    theirs,
    values,
    cell,
    my_claims,
    their_claims,
    loans,
    falls,
    alive,
    lane,
):
    """Put what :func:`lift` found to be lent into prices and values, but for the cell's own claims.

    Parameters
    ----------
    turns, prices, met, mine, theirs, values, cell, my_claims, their_claims, loans, falls, alive
        As there.
    lane : tuple of W zeros
    """
    memories, width = mine.shape[1], len(lane)
    for here in range(len(turns.order)):
        for memory in range(memories):
            last = (here * memories + memory + 1) * width - 1
            if alive[0, here] and met[0, here, memory]:
                mine[here, memory] -= item(my_claims, last)
                for roll in range(prices.shape[2] if here != cell else 0):
                    prices[here, memory, roll] -= loans[here, memory, roll]
            if alive[1, here] and met[1, here, memory]:
                theirs[here, memory] -= item(their_claims, last)
        if alive[0, here] and here != cell:
            for way in range(values.shape[1]):
                for one in range(values.shape[2]):
                    values[here, way, one] -= falls[here, way, one]
