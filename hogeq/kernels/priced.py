"""Passes of a responder with memory that pays for its rolls, and of one cell's claims on it.

*Mine* are the hidden states with the responder to move, *theirs* those with its opponent to move;
all values are the responder's. Sizes are those of :mod:`hogeq.kernels.turns`; W numbers go
side by side. In :func:`lift` they are a value of each claim and, last, by how much the responder's
own value falls; in :func:`revise` one value for each roll that the cell may claim.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels.cache import kernel, part
from hogeq.kernels.turns import (
    AGAIN,
    WIN,
    mix,
    roll_out,
    send,
    value_ends,
    value_ways,
    want,
)
from hogeq.kernels.vectors import larger, largest, load, splat, store

Floats = NDArray[np.float64]

AS_GOOD = 1e-11  # rolls worth less than this apart are as good, however a processor rounds
NONE = -1e9  # less than any claim


class Responder(NamedTuple):
    """A responder against one policy, with its prices and values."""

    policy: Floats  # (C, K) of its opponent
    prices: Floats  # (C, H, K) of its rolls, in win rate
    met: NDArray[np.uint8]  # (2, C, H) 1 where play can come, by mover: nothing else is of use
    used: NDArray[np.uint8]  # (C, U) 1 for ways in which it may roll
    values: Floats  # (2, C, H) by mover: its win rate less what it pays
    rolled: Floats  # (C, U * J) the same of its ways to roll, before their price
    chosen: NDArray[np.int8]  # (C, H) its best roll, the first of equals; -1 before there is one
    largest: Floats  # (1,) largest size of a price, of a cell's part of it, or of its worth


@part
def choose(turns, responder, cell, memory):
    """Choose the best roll of a hidden state, the first of those that are as good."""
    best = -np.inf
    places = turns.place[turns.situation[cell]]
    for roll in range(len(places)):
        value = responder.rolled[cell, places[roll, memory]] - responder.prices[cell, memory, roll]
        best = max(best, value)
    responder.values[0, cell, memory] = best
    for roll in range(len(places) - 1, -1, -1):
        value = responder.rolled[cell, places[roll, memory]] - responder.prices[cell, memory, roll]
        if value >= best - AS_GOOD:
            responder.chosen[cell, memory] = roll


@part
def value_mine(turns, responder, cell, ends, wanted):
    """Value the responder's ways to roll at a cell."""
    values = responder.values
    value_ends(turns, cell, values[0], values[1], 1.0, ends)
    value_ways(turns, wanted, 1, ends, responder.rolled[cell])


@part
def value_theirs(turns, responder, cell, scratch):
    """Value a cell's states with the opponent to move."""
    values, row, rolled = responder.values, responder.policy[cell], scratch.rolled[0]
    want(turns, cell, row, False, scratch.wanted)
    value_ends(turns, cell, values[1], values[0], 0.0, scratch.ends)
    value_ways(turns, scratch.wanted, 1, scratch.ends, rolled)
    mix(turns, row, cell, rolled, values[1])


@kernel
def remember(turns, responder, scratch):
    """Solve a responder by one backward induction: its values and its choice."""
    for turn in range(len(turns.order) - 1, -1, -1):
        cell = turns.order[turn]
        want(turns, cell, responder.policy[cell], True, scratch.wanted)
        value_mine(turns, responder, cell, scratch.ends, scratch.wanted)
        for memory in range(turns.place.shape[2]):
            if responder.met[0, cell, memory]:
                choose(turns, responder, cell, memory)
        value_theirs(turns, responder, cell, scratch)


@kernel
def reach(turns, responder, scratch, start, found):
    """Add the reach of every state by mover to zeros; every roll counts once where none is chosen.

    A fair coin says who begins, with memory `start`.
    """
    found[0, 0, start] = found[1, 0, start] = 0.5
    for turn in range(len(turns.order)):
        cell = turns.order[turn]
        places = turns.place[turns.situation[cell]]
        for memory in range(places.shape[1]):
            here, chosen = found[0, cell, memory], responder.chosen[cell, memory]
            if here > 0.0:
                for roll in range(len(places)):
                    if chosen == roll or chosen < 0:
                        scratch.masses[places[roll, memory]] += here
        send(turns, cell, found[0], found[1], scratch)
        roll_out(turns, responder.policy[cell], cell, found[1], scratch.masses)
        send(turns, cell, found[1], found[0], scratch)


# --- claims ---------------------------------------------------------------------------------------


class Claims(NamedTuple):
    """Arrays of a pass over one cell's claims, at the cells from which play can come to it."""

    values: Floats  # (2, C * H * W) of the claims, by mover
    loans: Floats  # (C, H, K) slack that is lent
    falls: Floats  # (C, U * J) by how much the values of ways to roll fall
    alive: NDArray[np.uint8]  # (2, C) by mover, 1 for these cells, and for the cell itself
    ends: Floats  # (E * J * W,), scratch
    rolled: Floats  # (U * J * W,), scratch
    gaps: Floats  # (U, U), scratch
    wanted: NDArray[np.uint8]  # (2, U), scratch
    row: Floats  # (2, K), scratch
    by_lane: NDArray[np.int64]  # (H,) memories, lane by lane


@part
def is_before(turns, there, cell):
    """Whether play can come from one cell to another: scores rise or trade places."""
    low, high = turns.scores[there]
    last_low, last_high = turns.scores[cell]
    return low <= last_low and high <= last_high and low + high < last_low + last_high


@part
def begin_claims(turns, claims, cell, claimed, lane):
    """Write the claims of a cell, (H * W,), and clear the cells that lead to it."""
    for there in range(len(turns.order)):
        claims.alive[0, there] = there == cell
        claims.alive[1, there] = 0
    size = turns.place.shape[2] * len(lane)
    for at in range(0, size, len(lane)):
        store(claims.values[0], cell * size + at, load(claimed, at, lane))


@part
def is_alive(turns, claims, cell, end, mover):
    """Whether an end that decides nothing leads to where play can come to the claims' cell."""
    mover_there = mover if turns.kind[cell, end] == AGAIN else 1 - mover
    return claims.alive[mover_there, turns.cell[cell, end]] > 0


@part
def value_claims(turns, claims, cell, mover, wanted, lane):
    """Value wanted ways to roll, W values at once, 0 in cells not alive; whether any is led to."""
    lanes, memories, width = turns.following.shape[2], turns.place.shape[2], len(lane)
    led = False
    for end in range(len(turns.end_lanes)):
        kind = turns.kind[cell, end]
        led = led or (kind < WIN and is_alive(turns, claims, cell, end, mover))
    for end in range(len(turns.end_lanes) if led else 0):
        leads = turns.kind[cell, end] < WIN and is_alive(turns, claims, cell, end, mover)
        again = 1 if turns.kind[cell, end] == AGAIN else 0
        source, there = claims.values[mover if again else 1 - mover], turns.cell[cell, end]
        for one in range(turns.end_lanes[end, 0], turns.end_lanes[end, 1]):
            worth = splat(0.0, lane)
            if leads:
                follow = turns.following[again, turns.record[cell, end], one]
                worth = load(source, (there * memories + follow) * width, lane)
            store(claims.ends, (end * lanes + one) * width, worth)
    if led:
        value_ways(turns, wanted, width, claims.ends, claims.rolled)
    return led


@part
def claim_theirs(turns, responder, claims, cell, lane):
    """Value claims at a cell with the opponent to move."""
    row, met, width = responder.policy[cell], responder.met[1], len(lane)
    want(turns, cell, row, False, claims.wanted[1])
    led = value_claims(turns, claims, cell, 1, claims.wanted[1], lane)
    claims.alive[1, cell] = led
    places = turns.place[turns.situation[cell]]
    for memory in range(places.shape[1] if led else 0):
        if met[cell, memory]:
            claimed = splat(0.0, lane)
            for roll in range(len(row)):
                if row[roll] > 0.0:
                    claimed += row[roll] * load(claims.rolled, places[roll, memory] * width, lane)
            store(claims.values[1], (cell * places.shape[1] + memory) * width, claimed)
    return led


@kernel
def lift(turns, responder, claims, cell, claimed, weights, lent, lane):
    """Value the claims of one cell on a responder that pays for its rolls, and lend it slack.

    `claimed` (H * W,) is the claim of each roll on each memory of the cell, last by how much its
    value falls; `weights` (W,) the share of what a claim can gain by another roll that is asked
    for, 0 for what is no claim; `lent` the largest share that is lent of what slack a roll had.
    What a roll gains by this claim is lent whole. Whatever is lent, claims are worth no less than
    by any roll.
    """
    lanes, memories, width = turns.following.shape[2], turns.place.shape[2], len(lane)
    last, weight = width - 1, load(weights, 0, lane)
    worths, fallen, gaps, rolled = claims.row[0], claims.row[1], claims.gaps, claims.rolled
    begin_claims(turns, claims, cell, claimed, lane)
    for turn in range(len(turns.order) - 1, -1, -1):
        here = turns.order[turn]
        if not is_before(turns, here, cell):
            continue
        places, compared = turns.place[turns.situation[here]], claims.wanted[0]
        led = value_claims(turns, claims, here, 0, responder.used[here], lane)
        current, claims.alive[0, here] = -1, led
        for number in range(memories if led else 0):
            memory = claims.by_lane[number]
            if not responder.met[0, here, memory]:
                continue
            one = places[0, memory] % lanes
            if one != current:
                current = one
                for way in range(len(compared)):
                    compared[way] = 0
            best = lower = -np.inf
            for roll in range(len(places)):
                place = places[roll, memory]
                worths[roll] = responder.rolled[here, place] - responder.prices[here, memory, roll]
                fallen[roll] = worths[roll] - rolled[place * width + last]
                best, lower = max(best, worths[roll]), max(lower, fallen[roll])
            usual = 0  # the best roll once values have fallen
            while fallen[usual] < lower - AS_GOOD:
                usual += 1
            like = places[usual, memory] // lanes
            plain = load(rolled, places[usual, memory] * width, lane)
            if not compared[like]:
                compared[like] = 1
                for way in range(len(compared)):
                    if responder.used[here, way]:
                        instead = load(rolled, (way * lanes + one) * width, lane)
                        gaps[like, way] = max(0.0, largest(weight * (instead - plain)))
            value = plain
            for roll in range(len(places)):
                # What a roll falls further than the best is slack of this claim's own making.
                slack, own = best - worths[roll], worths[roll] - fallen[roll] - (best - lower)
                most = max(0.0, min(slack + own, lent * slack + max(0.0, own)))
                loan = 0.0
                if roll != usual:
                    loan = min(gaps[like, places[roll, memory] // lanes], most)
                    value = larger(value, -loan + load(rolled, places[roll, memory] * width, lane))
                claims.loans[here, memory, roll] = loan
            at = (here * memories + memory) * width
            store(claims.values[0], at, value)
            claims.values[0, at + last] = best - lower
        for place in range(responder.rolled.shape[1] if led else 0):
            claims.falls[here, place] = rolled[place * width + last]
        claim_theirs(turns, responder, claims, here, lane)


@part
def note(responder, number):
    """Keep the size of a number, if it is the largest."""
    responder.largest[0] = max(responder.largest[0], abs(number))


@kernel
def lend(turns, responder, claims, cell, row, kept, lane):
    """Add the loans of :func:`lift` to prices and values, but for the cell's own claims.

    It is noted in `kept` (R, H, K) too, at the `row` (C,) of a cell that has one, none being -1.
    """
    memories, width = turns.place.shape[2], len(lane)
    for here in range(len(turns.order)):
        at = row[here]
        for state in range(2 * memories):
            mover, memory = state // memories, state % memories
            if claims.alive[mover, here] and responder.met[mover, here, memory]:
                last = (here * memories + memory + 1) * width - 1
                responder.values[mover, here, memory] -= claims.values[mover, last]
                for roll in range(claims.loans.shape[2] if mover == 0 and here != cell else 0):
                    loan = claims.loans[here, memory, roll]
                    responder.prices[here, memory, roll] -= loan
                    note(responder, responder.prices[here, memory, roll])
                    if at >= 0:
                        kept[at, memory, roll] -= loan
                        note(responder, kept[at, memory, roll])
        if claims.alive[0, here] and here != cell:
            for place in range(responder.rolled.shape[1]):
                responder.rolled[here, place] -= claims.falls[here, place]


@kernel
def revise(turns, responder, claims, scratch, cell, row, kept, claimed, idle, lent, returned, lane):
    """Value all claims of one cell, and move its prices to lower the bound most.

    Before the cell, a roll at which some claim gains more than by the best rolls is lent more, as
    far as the responder has slack there; and a roll by which every claim has less than by the
    others gives back what it has too little. The responder's own values follow.
    Whatever moves, claims are worth no less than by any roll.

    `kept` (R, H, K) is the part of the prices that is this cell's, at the `row` (C,) of a cell;
    `claimed` (H * W,) its claim of each roll on each memory of the cell; `idle` (W,) 0 for rolls
    and more than any claim where there is none; `lent` the largest share of slack that is lent,
    `returned` the share of what is not needed that is given back.
    """
    memories, width = turns.place.shape[2], len(lane)
    none, slack, rolled = load(idle, 0, lane), claims.row[0], claims.rolled
    begin_claims(turns, claims, cell, claimed, lane)
    for memory in range(memories):
        if responder.met[0, cell, memory]:
            choose(turns, responder, cell, memory)
    for turn in range(len(turns.order) - 1, -1, -1):
        here = turns.order[turn]
        if not is_before(turns, here, cell):
            continue
        places = turns.place[turns.situation[here]]
        led = value_claims(turns, claims, here, 0, responder.used[here], lane)
        claims.alive[0, here] = led
        if led:
            value_mine(turns, responder, here, scratch.ends, responder.used[here])
        for memory in range(memories if led else 0):
            if not responder.met[0, here, memory]:
                continue
            choose(turns, responder, here, memory)
            prices, own = responder.prices[here, memory], kept[row[here], memory]
            best = splat(NONE, lane)
            for roll in range(len(places)):
                worth = responder.rolled[here, places[roll, memory]] - prices[roll]
                slack[roll] = responder.values[0, here, memory] - worth
                if slack[roll] < AS_GOOD:
                    value = own[roll] + load(rolled, places[roll, memory] * width, lane)
                    best = larger(best, value)
            usual = best
            for roll in range(len(places)):
                if not slack[roll] < AS_GOOD:
                    value = own[roll] + load(rolled, places[roll, memory] * width, lane)
                    loan = min(lent * slack[roll], max(0.0, largest(value - usual - none)))
                    own[roll] -= loan
                    prices[roll] -= loan
                    note(responder, own[roll])
                    note(responder, prices[roll])
                    best = larger(best, -loan + value)
            for roll in range(len(places)):
                value = own[roll] + load(rolled, places[roll, memory] * width, lane)
                excess = returned * max(0.0, -largest(value - best - none))
                own[roll] += excess
                prices[roll] += excess
                note(responder, own[roll])
                note(responder, prices[roll])
            note(responder, largest(best))
            note(responder, largest(-1.0 * best))
            store(claims.values[0], (here * memories + memory) * width, best)
            choose(turns, responder, here, memory)
        if claim_theirs(turns, responder, claims, here, lane):
            value_theirs(turns, responder, here, scratch)
