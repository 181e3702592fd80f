"""Revises what a cell claims: lends more where that claims less, takes back what is not needed.

Sizes: :mod:`hogeq.kernels.interpreter`; W numbers go side by side, one value for each roll
that the cell may claim.
"""

from hogeq.kernels.cache import kernel
from hogeq.kernels.lifting import begin_claims, claim_theirs, is_before, value_claims
from hogeq.kernels.responder import TIE, choose, value_mine, value_theirs
from hogeq.kernels.vectors import larger, largest, load, splat, store

NONE = -1e9  # less than any claim


@kernel
def revise(turns, responder, claims, scratch, cell, row, kept, claimed, idle, lent, returned, lane):
    """Value what one cell claims in all, and move its prices to where they take off most.

    Before the cell, a roll at which some claim gains more than by the best rolls is lent more, as
    far as the responder has slack there; and a roll by which every claim has less than by the
    others gives back what it has too little. The responder's own values follow.

    Parameters
    ----------
    turns : TurnLists
    responder : Responder
        Its prices and values are changed.
    claims : Claims
        Filled.
    scratch : Scratch
    cell : int
    row : int64 (C,)
        Row of a cell in `kept`; only those from which play can come to this one are read.
    kept : float64 (R, H, K)
        The part of the prices that is this cell's; changed as they are.
    claimed : float64 (H * W,)
        Its claim of each roll on each memory of the cell.
    idle : float64 (W,)
        0 for rolls, and more than any claim where there is none.
    lent, returned : float
        Largest share of the responder's slack that is lent, and share of what is not needed that is
        given back.
    lane : tuple of W zeros
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
                if slack[roll] < TIE:
                    value = own[roll] + load(rolled, places[roll, memory] * width, lane)
                    best = larger(best, value)
            usual = best
            for roll in range(len(places)):
                if slack[roll] >= TIE:
                    value = own[roll] + load(rolled, places[roll, memory] * width, lane)
                    loan = min(lent * slack[roll], max(0.0, largest(value - usual - none)))
                    own[roll] -= loan
                    prices[roll] -= loan
                    best = larger(best, -loan + value)
            for roll in range(len(places)):
                value = own[roll] + load(rolled, places[roll, memory] * width, lane)
                excess = returned * max(0.0, -largest(value - best - none))
                own[roll] += excess
                prices[roll] += excess
            store(claims.values[0], (here * memories + memory) * width, best)
            choose(turns, responder, here, memory)
        if claim_theirs(turns, responder, claims, here, lane):
            value_theirs(turns, responder, here, scratch.ends, scratch.wanted, scratch.rolled)


@kernel
def keep(turns, responder, claims, cell, row, kept):
    """Note what :func:`hogeq.kernels.lifting.lift` found to be lent, but for the cell's own claims.

    Parameters
    ----------
    turns, responder, claims, cell
        As there.
    row : int64 (C,)
        Row of a cell in `kept`, or -1.
    kept : float64 (R, H, K)
        Changed.
    """
    for here in range(len(turns.order)):
        if claims.alive[0, here] and here != cell and row[here] >= 0:
            for memory in range(kept.shape[1]):
                if responder.met[0, here, memory]:
                    for roll in range(kept.shape[2]):
                        kept[row[here], memory, roll] -= claims.loans[here, memory, roll]
