"""Passes of a responder that knows every state and pays dual prices, and of one row's claims on it.

Sizes are those of :mod:`hogeq.kernels.graph_turns`; of the C positions the responder moves at O,
its *own*. W numbers go side by side: in :func:`lift` a value of each claim and, last, by how much
the responder's own value falls; in :func:`revise` one value for each action that the row may claim.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels.cache import kernel, part
from hogeq.kernels.graph_turns import mix, pass_on, row_of, send, value_ends, value_way, value_ways
from hogeq.kernels.vectors import larger, largest, load, splat, store

Floats = NDArray[np.float64]

AS_GOOD = 1e-11  # actions worth less than this apart are as good, however a processor rounds
NONE = -1e9  # less than any claim
BEFORE, CLAIMS = 1, 2  # positions from which play can come to a row, and those of the row


class Responder(NamedTuple):
    """A responder against one policy, with its prices and values."""

    me: int
    policies: Floats  # (2, R, K); the second is the other player's
    payoff: Floats  # (T,) to the responder
    own: NDArray[np.int64]  # (C,) number among the responder's positions, -1 elsewhere
    prices: Floats  # (O, H, K) of its actions
    met: NDArray[np.uint8]  # (C, H) 1 where play can come: nothing else is of use
    used: NDArray[np.uint8]  # (O, U) 1 for ways in which it may play
    values: Floats  # (C, H) its payoff less what it pays
    rolled: Floats  # (O, U * J) the same of its ways to play, before their price
    chosen: NDArray[np.int8]  # (O, H) its best action, the first of equals; -1 before there is one
    largest: Floats  # (1,) largest size of a price, of a row's part of it, or of its worth


@part
def choose(lists, responder, position, memory):
    """Choose the best action of a state, the first of those that are as good."""
    best, own = -np.inf, responder.own[position]
    places = lists.place[lists.situation[position]]
    rolled, prices = responder.rolled[own], responder.prices[own, memory]
    for action in range(len(places)):
        best = max(best, rolled[places[action, memory]] - prices[action])
    responder.values[position, memory] = best
    for action in range(len(places) - 1, -1, -1):
        if rolled[places[action, memory]] - prices[action] >= best - AS_GOOD:
            responder.chosen[own, memory] = action


@part
def value_mine(lists, responder, position, ends):
    """Value the responder's ways to play at a position."""
    lanes, own = lists.following.shape[1], responder.own[position]
    first, out = lists.ways_start[lists.situation[position]], responder.rolled[own]
    value_ends(lists, position, responder.values, responder.payoff, ends)
    for number in range(responder.used.shape[1]):
        if responder.used[own, number]:
            value_way(lists, lists.ways[first + number], number * lanes, 1, ends, out)


@part
def value_theirs(lists, responder, position, scratch):
    """Value the states of a position at which the other player or nature moves."""
    values, payoff, rolled = responder.values, responder.payoff, scratch.rolled[0]
    row = row_of(lists, position, responder.me, responder.policies, 0)
    value_ways(lists, position, row, False, values, payoff, scratch.ends, rolled)
    mix(lists, position, row, rolled, values[position])


@kernel
def remember(lists, responder, scratch):
    """Solve a responder by one backward induction: its values and its choice."""
    for turn in range(len(lists.order) - 1, -1, -1):
        position = lists.order[turn]
        if responder.own[position] < 0:
            value_theirs(lists, responder, position, scratch)
            continue
        value_mine(lists, responder, position, scratch.ends)
        for memory in range(responder.met.shape[1]):
            if responder.met[position, memory]:
                choose(lists, responder, position, memory)


@kernel
def reach(lists, responder, scratch, start, shares, found):
    """Add the reach of every state (C, H) to zeros, from states `start` (n, 2) with their `shares`.

    Where none is chosen every action counts once, and no state more than once.
    """
    for number in range(len(start)):
        found[start[number, 0], start[number, 1]] += shares[number]
    masses, flows = scratch.masses, scratch.flows
    for turn in range(len(lists.order)):
        position = lists.order[turn]
        own, row = responder.own[position], responder.policies[1, 0]
        if own < 0:
            row = row_of(lists, position, responder.me, responder.policies, 0)
            send(lists, position, row, found[position], found, masses, flows)
            continue
        places = lists.place[lists.situation[position]]
        for memory in range(found.shape[1]):
            here, chosen = found[position, memory], responder.chosen[own, memory]
            if here > 0.0:
                for action in range(len(places)):
                    if chosen == action:
                        masses[places[action, memory]] += here
                    elif chosen < 0:
                        masses[places[action, memory]] += min(here, 1.0)
        pass_on(lists, position, row, True, found, masses, flows)


# --- claims ---------------------------------------------------------------------------------------


class Claims(NamedTuple):
    """Arrays of a pass over one row's claims, at the positions from which play can come to it."""

    before: NDArray[np.int32]  # positions before each, one after another
    before_start: NDArray[np.int64]  # (C + 1,)
    alive: NDArray[np.uint8]  # (C,) BEFORE for these positions, CLAIMS for those of the row, or 0
    values: Floats  # (C * H * W,) of the claims
    loans: Floats  # (O, H, K) slack that is lent
    falls: Floats  # (O, U * J) by how much the values of ways to play fall
    ends: Floats  # (E * J * W,), scratch
    rolled: Floats  # (U * J * W,), scratch
    gaps: Floats  # (U, U), scratch
    compared: NDArray[np.uint8]  # (U,), scratch
    row: Floats  # (2, K), scratch
    by_lane: NDArray[np.int64]  # (H,) memories, lane by lane


@part
def find_before(lists, own, claims, members):
    """Find the positions from which play can come to `members`, and count the own among all of it.

    -1 if play can come from one of the members to another: a row that is met twice.
    """
    alive, count, twice = claims.alive, 0, False
    for position in range(len(alive)):
        alive[position] = 0
    for position in members:
        alive[position] = CLAIMS
    for turn in range(len(lists.order) - 1, -1, -1):
        position = lists.order[turn]
        if alive[position]:
            count += own[position] >= 0
            for x in range(claims.before_start[position], claims.before_start[position + 1]):
                twice = twice or alive[claims.before[x]] == CLAIMS
                alive[claims.before[x]] = BEFORE
    return -1 if twice else count


@kernel
def count_before(lists, own, claims, members):
    """Call :func:`find_before`."""
    return find_before(lists, own, claims, members)


@part
def begin_claims(lists, own, claims, members, claimed, lane):
    """Write the claims of a row's positions, (m * H * W,), and find those before them.

    False if a play can meet the row twice.
    """
    size = lists.place.shape[2] * len(lane)
    for number in range(len(members)):
        for at in range(0, size, len(lane)):
            worth = load(claimed, number * size + at, lane)
            store(claims.values, members[number] * size + at, worth)
    return find_before(lists, own, claims, members) >= 0


@part
def claim_ends(lists, claims, position, lane):
    """Value claims at the ends of a position, W values at once, 0 where nothing leads to them."""
    base, lanes = lists.base[position], lists.following.shape[1]
    memories, width = lists.place.shape[2], len(lane)
    for end in range(lists.ends[lists.situation[position]]):
        there, at = lists.next[base + end], end * lanes
        low, high = lists.end_lanes[end]
        if there >= 0 and claims.alive[there]:
            learned = lists.following[lists.label[base + end]]
            for one in range(low, high):
                worth = load(claims.values, (there * memories + learned[one]) * width, lane)
                store(claims.ends, (at + one) * width, worth)
        else:
            for one in range(low, high):
                store(claims.ends, (at + one) * width, splat(0.0, lane))


@part
def claim_mine(lists, responder, claims, position, lane):
    """Value claims by the responder's ways to play at a position."""
    own, size = responder.own[position], lists.following.shape[1] * len(lane)
    first = lists.ways_start[lists.situation[position]]
    claim_ends(lists, claims, position, lane)
    for number in range(responder.used.shape[1]):
        if responder.used[own, number]:
            way = lists.ways[first + number]
            value_way(lists, way, number * size, len(lane), claims.ends, claims.rolled)


@part
def claim_theirs(lists, responder, claims, position, lane):
    """Value claims at a position at which the other player or nature moves."""
    situation, width = lists.situation[position], len(lane)
    first, size = lists.ways_start[situation], lists.following.shape[1] * width
    row = row_of(lists, position, responder.me, responder.policies, 0)
    claim_ends(lists, claims, position, lane)
    for x in range(first, lists.ways_start[situation + 1]):
        way = lists.ways[x]
        if row[lists.action[way]] > 0.0:
            value_way(lists, way, (x - first) * size, width, claims.ends, claims.rolled)
    places = lists.place[situation]
    for memory in range(places.shape[1]):
        if responder.met[position, memory]:
            claimed = splat(0.0, lane)
            for action in range(len(row)):
                if row[action] > 0.0:
                    claimed += row[action] * load(
                        claims.rolled, places[action, memory] * width, lane
                    )
            store(claims.values, (position * places.shape[1] + memory) * width, claimed)


@kernel
def lift(lists, responder, claims, members, claimed, weights, lent, lane):
    """Value the claims of one row on a responder that pays its prices, and lend it slack.

    `claimed` (m * H * W,) is the claim of each action on each state of the row, last by how much
    its value falls; `weights` (W,) the share of what a claim can gain by another action that is
    asked for, 0 for what is no claim; `lent` the largest share that is lent of what slack an action
    had. What an action gains by this claim is lent whole. Whatever is lent, claims are worth no
    less than by any action. False if a play can meet the row twice.
    """
    lanes, memories, width = lists.following.shape[1], lists.place.shape[2], len(lane)
    last, weight = width - 1, load(weights, 0, lane)
    worths, fallen, gaps, rolled = claims.row[0], claims.row[1], claims.gaps, claims.rolled
    compared = claims.compared
    if not begin_claims(lists, responder.own, claims, members, claimed, lane):
        return False
    for turn in range(len(lists.order) - 1, -1, -1):
        here = lists.order[turn]
        if claims.alive[here] != BEFORE:
            continue
        own = responder.own[here]
        if own < 0:
            claim_theirs(lists, responder, claims, here, lane)
            continue
        claim_mine(lists, responder, claims, here, lane)
        places, current = lists.place[lists.situation[here]], -1
        for number in range(memories):
            memory = claims.by_lane[number]
            if not responder.met[here, memory]:
                continue
            one = places[0, memory] % lanes
            if one != current:
                current = one
                for way in range(len(compared)):
                    compared[way] = 0
            best = lower = -np.inf
            for action in range(len(places)):
                place = places[action, memory]
                worths[action] = (
                    responder.rolled[own, place] - responder.prices[own, memory, action]
                )
                fallen[action] = worths[action] - rolled[place * width + last]
                best, lower = max(best, worths[action]), max(lower, fallen[action])
            usual = 0  # the best action once values have fallen
            while fallen[usual] < lower - AS_GOOD:
                usual += 1
            like = places[usual, memory] // lanes
            plain = load(rolled, places[usual, memory] * width, lane)
            if not compared[like]:
                compared[like] = 1
                for way in range(len(compared)):
                    if responder.used[own, way]:
                        instead = load(rolled, (way * lanes + one) * width, lane)
                        gaps[like, way] = max(0.0, largest(weight * (instead - plain)))
            value = plain
            for action in range(len(places)):
                # What an action falls further than the best is slack of this claim's own making.
                slack = best - worths[action]
                made = worths[action] - fallen[action] - (best - lower)
                most = max(0.0, min(slack + made, lent * slack + max(0.0, made)))
                loan = 0.0
                if action != usual:
                    place = places[action, memory]
                    loan = min(gaps[like, place // lanes], most)
                    value = larger(value, -loan + load(rolled, place * width, lane))
                claims.loans[own, memory, action] = loan
            at = (here * memories + memory) * width
            store(claims.values, at, value)
            claims.values[at + last] = best - lower
        for place in range(responder.rolled.shape[1]):
            claims.falls[own, place] = rolled[place * width + last]
    return True


@part
def note(responder, number):
    """Keep the size of a number, if it is the largest."""
    responder.largest[0] = max(responder.largest[0], abs(number))


@kernel
def lend(responder, claims, row, kept, lane):
    """Add the loans of :func:`lift` to prices and values, but for the row's own claims.

    It is noted in `kept` (n, H, K) too, at the `row` (O,) of an own position that has one, none
    being -1.
    """
    memories, width = responder.met.shape[1], len(lane)
    for here in range(len(claims.alive)):
        own, lends = responder.own[here], claims.alive[here] == BEFORE
        for memory in range(memories if claims.alive[here] else 0):
            if not responder.met[here, memory]:
                continue
            last = (here * memories + memory + 1) * width - 1
            responder.values[here, memory] -= claims.values[last]
            for action in range(claims.loans.shape[2] if own >= 0 and lends else 0):
                loan = claims.loans[own, memory, action]
                responder.prices[own, memory, action] -= loan
                note(responder, responder.prices[own, memory, action])
                if row[own] >= 0:
                    kept[row[own], memory, action] -= loan
                    note(responder, kept[row[own], memory, action])
        if own >= 0 and lends:
            for place in range(responder.rolled.shape[1]):
                responder.rolled[own, place] -= claims.falls[own, place]


@kernel
def revise(
    lists, responder, claims, scratch, members, row, kept, claimed, idle, lent, returned, lane
):
    """Value all claims of one row, and move its prices to lower the bound most.

    Before the row, an action at which some claim gains more than by the best ones is lent more, as
    far as the responder has slack there; and an action by which every claim has less than by the
    others gives back what it has too little. The responder's own values follow. Whatever moves,
    claims are worth no less than by any action. False if a play can meet the row twice.

    `kept` (n, H, K) is the part of the prices that is this row's, at the `row` (O,) of an own
    position; `claimed` (m * H * W,) the row's claim of each action on each of its states; `idle`
    (W,) 0 for actions and more than any claim where there is none; `lent` the largest share of
    slack that is lent, `returned` the share of what is not needed that is given back.
    """
    memories, width = lists.place.shape[2], len(lane)
    none, slack, rolled = load(idle, 0, lane), claims.row[0], claims.rolled
    if not begin_claims(lists, responder.own, claims, members, claimed, lane):
        return False
    for position in members:
        for memory in range(memories):
            if responder.met[position, memory]:
                choose(lists, responder, position, memory)
    for turn in range(len(lists.order) - 1, -1, -1):
        here = lists.order[turn]
        if claims.alive[here] != BEFORE:
            continue
        own, places = responder.own[here], lists.place[lists.situation[here]]
        if own < 0:
            claim_theirs(lists, responder, claims, here, lane)
            value_theirs(lists, responder, here, scratch)
            continue
        claim_mine(lists, responder, claims, here, lane)
        value_mine(lists, responder, here, scratch.ends)
        for memory in range(memories):
            if not responder.met[here, memory]:
                continue
            choose(lists, responder, here, memory)
            prices, part_of_row = responder.prices[own, memory], kept[row[own], memory]
            best = splat(NONE, lane)
            for action in range(len(places)):
                worth = responder.rolled[own, places[action, memory]] - prices[action]
                slack[action] = responder.values[here, memory] - worth
                if slack[action] < AS_GOOD:
                    value = part_of_row[action] + load(rolled, places[action, memory] * width, lane)
                    best = larger(best, value)
            usual = best
            for action in range(len(places)):
                if not slack[action] < AS_GOOD:
                    value = part_of_row[action] + load(rolled, places[action, memory] * width, lane)
                    loan = min(lent * slack[action], max(0.0, largest(value - usual - none)))
                    part_of_row[action] -= loan
                    prices[action] -= loan
                    note(responder, part_of_row[action])
                    note(responder, prices[action])
                    best = larger(best, -loan + value)
            for action in range(len(places)):
                value = part_of_row[action] + load(rolled, places[action, memory] * width, lane)
                excess = returned * max(0.0, -largest(value - best - none))
                part_of_row[action] += excess
                prices[action] += excess
                note(responder, part_of_row[action])
                note(responder, prices[action])
            note(responder, largest(best))
            note(responder, largest(-1.0 * best))
            store(claims.values, (here * memories + memory) * width, best)
            choose(lists, responder, here, memory)
    return True
