"""Revises what a cell claims: lends more where that claims less, takes back what is not needed.

Turns, states and sizes are those of :mod:`hogeq.kernels.turns`; W numbers go side by side, one
value for each roll that the cell may claim.
"""

from hogeq.kernels.lanes import larger, largest, load, splat, store
from hogeq.kernels.lifting import (
    TIE,
    is_before,
    reflect_claims,
    value_my_claims,
    value_their_claims,
)
from hogeq.kernels.sums import kernel, part
from hogeq.kernels.turns import reflect, value_ways, want_played

NONE = -1e9  # less than any claim


@part
def choose(turns, prices, values, cell, memory, mine, chosen):
    """Choose the best roll of a state, the first of equals."""
    best = -float("inf")
    situation, lane = turns.situation[cell], turns.lane[memory]
    for roll in range(prices.shape[2]):
        value = values[cell, turns.way[situation, memory, roll], lane] - prices[cell, memory, roll]
        if value > best:
            best = value
            chosen[cell, memory] = roll
    mine[cell, memory] = best


@kernel
def revise(
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
    chosen,
    cell,
    row,
    kept,
    claims,
    idle,
    lent,
    returned,
    my_claims,
    their_claims,
    alive,
    rolled,
    ends,
    plain,
    slack,
    wanted,
    lane,
):
    """Value what one cell claims in all, and move its prices to where they take off most.

    Before the cell, a roll at which some claim gains more than by the best rolls is lent more, as
    far as the responder has slack there; and a roll by which every claim has less than by the
    others gives back what it has too little. The responder's own values follow.

    Parameters
    ----------
    turns, policy, met, mine, theirs, values, chosen
        As in :func:`hogeq.kernels.turns.remember`; the values in force, changed where they change.
    prices : float64 (C, H, K)
        Changed.
    asked, used, alike, alive, rolled, ends
        As in :func:`hogeq.kernels.lifting.lift`.
    cell : int
    row : int64 (C,)
        Row of a cell in `kept`; only those from which play can come to this one are read.
    kept : float64 (R, H, K)
        The part of the prices that is this cell's; changed as they are.
    claims : float64 (H * W,)
        Its claim of each roll on each memory of the cell.
    idle : float64 (W,)
        0 for rolls, and more than any claim where there is none.
    lent, returned : float
        Largest share of the responder's slack that is lent, and share of what is not needed that is
        given back.
    my_claims, their_claims : float64 (C * H * W,)
        Filled, at the cells from which play can come to this one.
    plain : float64 (U, J)
        Scratch.
    slack : float64 (K,)
        Scratch.
    wanted : uint8 (2, U)
        Scratch.
    lane : tuple of W zeros
    """
    memories, rolls, ways = mine.shape[1], policy.shape[1], values.shape[1]
    lanes, width = len(turns.following), len(lane)
    none = load(idle, 0, lane)
    for there in range(len(turns.order)):
        alive[0, there] = there == cell
        alive[1, there] = 0
    for memory in range(memories):
        place = (cell * memories + memory) * width
        store(my_claims, place, load(claims, memory * width, lane))
        if met[0, cell, memory]:
            choose(turns, prices, values, cell, memory, mine, chosen)
    played = wanted[1]
    for turn in range(len(turns.order) - 1, -1, -1):
        here = turns.order[turn]
        if not is_before(turns, here, cell):
            continue
        situation, at = turns.situation[here], row[here]
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
        alive[0, here] = led
        if led:
            value_ways(turns, here, mine, theirs, 1.0, used[here], plain)
            for way in range(ways):
                for one in range(lanes):
                    values[here, way, one] = plain[way, one]
        for memory in range(memories if led else 0):
            if not met[0, here, memory]:
                continue
            choose(turns, prices, values, here, memory, mine, chosen)
            one = turns.lane[memory]
            best = splat(rolled, NONE, lane)
            for roll in range(rolls):
                way = turns.way[situation, memory, roll]
                worth = values[here, way, one] - prices[here, memory, roll]
                slack[roll] = mine[here, memory] - worth
                if slack[roll] < TIE:
                    claimed = load(rolled, (way * lanes + one) * width, lane)
                    best = larger(best, claimed + splat(rolled, kept[at, memory, roll], lane))
            usual = best
            for roll in range(rolls):
                if slack[roll] < TIE:
                    continue
                way = turns.way[situation, memory, roll]
                claimed = load(rolled, (way * lanes + one) * width, lane)
                claimed = claimed + splat(rolled, kept[at, memory, roll], lane)
                loan = min(lent * slack[roll], max(0.0, largest(claimed - usual - none)))
                kept[at, memory, roll] -= loan
                prices[here, memory, roll] -= loan
                best = larger(best, claimed - splat(rolled, loan, lane))
            for roll in range(rolls):
                way = turns.way[situation, memory, roll]
                claimed = load(rolled, (way * lanes + one) * width, lane)
                claimed = claimed + splat(rolled, kept[at, memory, roll], lane)
                excess = returned * max(0.0, -largest(claimed - best - none))
                kept[at, memory, roll] += excess
                prices[here, memory, roll] += excess
            store(my_claims, (here * memories + memory) * width, best)
            choose(turns, prices, values, here, memory, mine, chosen)
        want_played(turns, policy, here, played)
        led = value_their_claims(
            turns, here, alive[1], alive[0], their_claims, my_claims, played, rolled, lane
        )
        alive[1, here] = led
        if led:
            value_ways(turns, here, theirs, mine, 0.0, played, plain)
        for memory in range(memories if led else 0):
            if met[1, here, memory]:
                reflect(turns, policy, here, plain, theirs, memory)
            reflect_claims(turns, policy, here, memory, asked, rolled, their_claims, lane)


@kernel
def keep(turns, met, cell, row, loans, alive, kept):
    """Note what :func:`hogeq.kernels.lifting.lift` found to be lent, but for the cell's own claims.

    Parameters
    ----------
    turns, met, cell, loans, alive
        As there.
    row : int64 (C,)
        Row of a cell in `kept`, or -1.
    kept : float64 (R, H, K)
        Changed.
    """
    for here in range(len(turns.order)):
        if alive[0, here] and here != cell and row[here] >= 0:
            for memory in range(kept.shape[1]):
                if met[0, here, memory]:
                    for roll in range(kept.shape[2]):
                        kept[row[here], memory, roll] -= loans[here, memory, roll]
