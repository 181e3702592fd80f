"""Passes of a responder that knows every state and pays dual prices, and of one row's claims on it.

The responder is the Lagrangian relaxation of one that forgets: it may act by the whole state, and
pays a dual price for each action there. A *claim* is what a row asks of it for an action.

Sizes, states, ways, places and lanes are those of :mod:`hogeq.kernels.graph_turns`; of the C
positions the responder moves at O, its *own*. W numbers go side by side in a vector, as long as the
tuple `lane`: in :func:`lift` a value of each claim and, last, by how much the responder's own value
falls; in :func:`revise` one value for each action that the row may claim.
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
    own_number: NDArray[np.int64]  # (C,) number among the own positions, -1 where others move
    prices: Floats  # (O, H, K) of its actions
    is_reachable: NDArray[np.uint8]  # (C, H) 1 where play can come: nothing else is of use
    used: NDArray[np.uint8]  # (O, U) 1 for ways in which it may play
    values: Floats  # (C, H) its payoff less what it pays
    way_values: Floats  # (O, U * J) the same after its ways to play, before their price
    chosen: NDArray[np.int8]  # (O, H) its best action, the first of equals; -1 before there is one
    largest: Floats  # (1,) largest size of a price, of a row's part of it, or of its worth


@part
def choose(lists, responder, position, memory):
    """Fill the value of an own state and its best action: the first of those that are as good.

    An action's value is that of its way less the price.
    """
    own = responder.own_number[position]
    places = lists.place[lists.situation[position]]
    way_values, prices = responder.way_values[own], responder.prices[own, memory]
    best = -np.inf
    for action in range(len(places)):
        best = max(best, way_values[places[action, memory]] - prices[action])
    responder.values[position, memory] = best
    for action in range(len(places) - 1, -1, -1):
        if way_values[places[action, memory]] - prices[action] >= best - AS_GOOD:
            responder.chosen[own, memory] = action


@part
def value_own_ways(lists, responder, position, ends):
    """Value the responder's ways to play at an own position; `ends` (E * J,) is scratch."""
    lanes, own = lists.following.shape[1], responder.own_number[position]
    first, way_values = lists.ways_start[lists.situation[position]], responder.way_values[own]
    value_ends(lists, position, responder.values, responder.payoff, ends)
    for number in range(responder.used.shape[1]):
        if responder.used[own, number]:
            value_way(lists, lists.ways[first + number], number * lanes, 1, ends, way_values)


@part
def value_others_states(lists, responder, position, scratch):
    """Fill expected values of a position's states where the other player or nature moves."""
    values, payoff, way_values = responder.values, responder.payoff, scratch.rolled[0]
    row = row_of(lists, position, responder.me, responder.policies, 0)
    value_ways(lists, position, row, False, values, payoff, scratch.ends, way_values)
    mix(lists, position, row, way_values, values[position])


@kernel
def remember(lists, responder, scratch):
    """Fill the responder's best-response values and actions, in all reachable states, bottom-up."""
    for turn in range(len(lists.order) - 1, -1, -1):
        position = lists.order[turn]
        is_own = responder.own_number[position] >= 0
        if not is_own:
            value_others_states(lists, responder, position, scratch)
            continue
        value_own_ways(lists, responder, position, scratch.ends)
        for memory in range(responder.is_reachable.shape[1]):
            if responder.is_reachable[position, memory]:
                choose(lists, responder, position, memory)


@kernel
def reach(lists, responder, scratch, start, shares, state_reach):
    """Add the reach of every state, top-down, to `state_reach` (C, H), which is zeros before.

    Play begins in states `start` (n, 2) with probabilities `shares` (n,). The responder takes the
    actions that it chose. Where none is chosen every action counts once, and no state more than
    once.
    """
    for number in range(len(start)):
        state_reach[start[number, 0], start[number, 1]] += shares[number]
    masses, flows = scratch.masses, scratch.flows
    for turn in range(len(lists.order)):
        position = lists.order[turn]
        own, row = responder.own_number[position], responder.policies[1, 0]
        if own < 0:
            row = row_of(lists, position, responder.me, responder.policies, 0)
            send(lists, position, row, state_reach[position], state_reach, masses, flows)
            continue
        places = lists.place[lists.situation[position]]
        for memory in range(state_reach.shape[1]):
            mass, chosen = state_reach[position, memory], responder.chosen[own, memory]
            if mass > 0.0:
                for action in range(len(places)):
                    if chosen == action:
                        masses[places[action, memory]] += mass
                    elif chosen < 0:
                        masses[places[action, memory]] += min(mass, 1.0)
        # All ways are passed on, so that the row is not looked at.
        pass_on(lists, position, row, True, state_reach, masses, flows)


# --- claims ---------------------------------------------------------------------------------------


class Claims(NamedTuple):
    """Arrays of a pass over one row's claims, at the positions from which play can come to it."""

    before: NDArray[np.int32]  # positions before each, one after another
    before_start: NDArray[np.int64]  # (C + 1,) where those before each begin
    alive: NDArray[np.uint8]  # (C,) BEFORE for these positions, CLAIMS for those of the row, or 0
    values: Floats  # (C * H * W,) of the claims
    loans: Floats  # (O, H, K) slack that is lent
    falls: Floats  # (O, U * J) by how much the values of ways to play fall
    ends: Floats  # (E * J * W,), scratch: values of claims at ends
    rolled: Floats  # (U * J * W,), scratch: values of claims at places
    gaps: Floats  # (U, U), scratch: most that a claim gains by one way over another
    compared: NDArray[np.uint8]  # (U,), scratch: 1 if the gaps of a way are known
    row: Floats  # (2, K), scratch
    by_lane: NDArray[np.int64]  # (H,) memories, lane by lane


@kernel
def count_before(lists, own_number, claims, members):
    """Mark in `claims.alive` the positions `members` (m,), and all from which play can come there.

    Returns how many of them are own; -1 if play can come from one of the members to another, so
    that the row is met twice.
    """
    alive, count, is_met_twice = claims.alive, 0, False
    for position in range(len(alive)):
        alive[position] = 0
    for position in members:
        alive[position] = CLAIMS
    for turn in range(len(lists.order) - 1, -1, -1):
        position = lists.order[turn]
        if alive[position]:
            count += own_number[position] >= 0
            for entry in range(claims.before_start[position], claims.before_start[position + 1]):
                is_met_twice = is_met_twice or alive[claims.before[entry]] == CLAIMS
                alive[claims.before[entry]] = BEFORE
    return -1 if is_met_twice else count


@part
def begin_claims(lists, own_number, claims, members, claimed, lane):
    """Write the claims of a row's positions, (m * H * W,), and find those before them.

    False if a play can meet the row twice.
    """
    size = lists.place.shape[2] * len(lane)  # numbers of a position
    for number in range(len(members)):
        for at in range(0, size, len(lane)):
            claim = load(claimed, number * size + at, lane)
            store(claims.values, members[number] * size + at, claim)
    return count_before(lists, own_number, claims, members) >= 0


@part
def claim_ends(lists, claims, position, lane):
    """Value claims at the ends of a position, W values at once, 0 where nothing leads to them."""
    base, lanes = lists.base[position], lists.following.shape[1]
    memories, width = lists.place.shape[2], len(lane)
    for end in range(lists.ends[lists.situation[position]]):
        next_position, first = lists.next[base + end], end * lanes
        low, high = lists.end_lanes[end]
        if next_position >= 0 and claims.alive[next_position]:
            next_memory = lists.following[lists.label[base + end]]
            for memory_lane in range(low, high):
                state = next_position * memories + next_memory[memory_lane]
                claim = load(claims.values, state * width, lane)
                store(claims.ends, (first + memory_lane) * width, claim)
        else:
            for memory_lane in range(low, high):
                store(claims.ends, (first + memory_lane) * width, splat(0.0, lane))


@part
def claim_own_ways(lists, responder, claims, position, lane):
    """Value claims by the responder's ways to play at a position, in `claims.rolled`."""
    own, size = responder.own_number[position], lists.following.shape[1] * len(lane)
    first = lists.ways_start[lists.situation[position]]
    claim_ends(lists, claims, position, lane)
    for number in range(responder.used.shape[1]):
        if responder.used[own, number]:
            way = lists.ways[first + number]
            value_way(lists, way, number * size, len(lane), claims.ends, claims.rolled)


@part
def claim_others_states(lists, responder, claims, position, lane):
    """Fill expected values of claims where the other player or nature moves, W side by side."""
    situation, width = lists.situation[position], len(lane)
    first, size = lists.ways_start[situation], lists.following.shape[1] * width
    row = row_of(lists, position, responder.me, responder.policies, 0)
    claim_ends(lists, claims, position, lane)
    for entry in range(first, lists.ways_start[situation + 1]):
        way = lists.ways[entry]
        if row[lists.action[way]] > 0.0:
            value_way(lists, way, (entry - first) * size, width, claims.ends, claims.rolled)
    places = lists.place[situation]
    for memory in range(places.shape[1]):
        if responder.is_reachable[position, memory]:
            expected = splat(0.0, lane)
            for action in range(len(row)):
                if row[action] > 0.0:
                    at = places[action, memory] * width
                    expected += row[action] * load(claims.rolled, at, lane)
            store(claims.values, (position * places.shape[1] + memory) * width, expected)


@kernel
def lift(lists, responder, claims, members, claimed, weights, lent, lane):
    """Value the claims of one row on a responder that pays its prices, and lend it slack.

    For each state before the row, the last first, where the responder moves:

    1. Values of its actions: now, and once its own values have fallen by this claim.
    2. The action that is then best, `usual`, and the most that a claim gains by each other way.
    3. Loans: what an action gains by this claim is lent whole, and of the slack it had at most the
       share `lent`; no more than the claims ask for.
    4. Claims are worth the largest over actions, less its loan: no less than by any action.

    Written are `values`, `loans` and `falls` of `claims`. `members` are the row's positions, (m,);
    `claimed` (m * H * W,) the claim of each action on each state of the row, last by how much its
    value falls; `weights` (W,) the share of what a claim can gain by another action that is asked
    for, 0 for what is no claim. False if a play can meet the row twice.
    """
    lanes, memories, width = lists.following.shape[1], lists.place.shape[2], len(lane)
    last, weight = width - 1, load(weights, 0, lane)
    worths, fallen, gaps, rolled = claims.row[0], claims.row[1], claims.gaps, claims.rolled
    compared = claims.compared
    if not begin_claims(lists, responder.own_number, claims, members, claimed, lane):
        return False
    for turn in range(len(lists.order) - 1, -1, -1):
        position = lists.order[turn]
        if claims.alive[position] != BEFORE:
            continue
        own = responder.own_number[position]
        if own < 0:
            claim_others_states(lists, responder, claims, position, lane)
            continue
        claim_own_ways(lists, responder, claims, position, lane)
        places, current_lane = lists.place[lists.situation[position]], -1
        for number in range(memories):
            memory = claims.by_lane[number]
            if not responder.is_reachable[position, memory]:
                continue
            memory_lane = places[0, memory] % lanes
            if memory_lane != current_lane:  # gaps hold for all memories of a lane
                current_lane = memory_lane
                for way in range(len(compared)):
                    compared[way] = 0
            best = best_fallen = -np.inf
            for action in range(len(places)):
                place = places[action, memory]
                price = responder.prices[own, memory, action]
                worths[action] = responder.way_values[own, place] - price
                fallen[action] = worths[action] - rolled[place * width + last]
                best = max(best, worths[action])
                best_fallen = max(best_fallen, fallen[action])
            usual = 0  # the best action once values have fallen
            while fallen[usual] < best_fallen - AS_GOOD:
                usual += 1
            usual_way = places[usual, memory] // lanes
            usual_claims = load(rolled, places[usual, memory] * width, lane)
            if not compared[usual_way]:
                compared[usual_way] = 1
                for way in range(len(compared)):
                    if responder.used[own, way]:
                        instead = load(rolled, (way * lanes + memory_lane) * width, lane)
                        most_gained = largest(weight * (instead - usual_claims))
                        gaps[usual_way, way] = max(0.0, most_gained)
            value = usual_claims
            for action in range(len(places)):
                # What an action falls further than the best is slack of this claim's own making.
                slack = best - worths[action]
                made = worths[action] - fallen[action] - (best - best_fallen)
                most = max(0.0, min(slack + made, lent * slack + max(0.0, made)))
                loan = 0.0
                if action != usual:
                    place = places[action, memory]
                    loan = min(gaps[usual_way, place // lanes], most)
                    value = larger(value, -loan + load(rolled, place * width, lane))
                claims.loans[own, memory, action] = loan
            at = (position * memories + memory) * width
            store(claims.values, at, value)
            claims.values[at + last] = best - best_fallen
        for place in range(responder.way_values.shape[1]):
            claims.falls[own, place] = rolled[place * width + last]
    return True


@part
def note(responder, number):
    """Keep the size of a number, if it is the largest."""
    responder.largest[0] = max(responder.largest[0], abs(number))


@kernel
def lend(responder, claims, row, kept, lane):
    """Subtract the loans of :func:`lift` from prices, and the falls from values.

    At positions before the row, and in `values` at those of the row. Loans are noted in `kept`
    (n, H, K) too, at the ``row[own]`` of an own position; `row`, (O,), is -1 where there is none.
    """
    memories, width = responder.is_reachable.shape[1], len(lane)
    for position in range(len(claims.alive)):
        own, lends = responder.own_number[position], claims.alive[position] == BEFORE
        for memory in range(memories if claims.alive[position] else 0):
            if not responder.is_reachable[position, memory]:
                continue
            last = (position * memories + memory + 1) * width - 1
            responder.values[position, memory] -= claims.values[last]
            for action in range(claims.loans.shape[2] if own >= 0 and lends else 0):
                loan = claims.loans[own, memory, action]
                responder.prices[own, memory, action] -= loan
                note(responder, responder.prices[own, memory, action])
                if row[own] >= 0:
                    kept[row[own], memory, action] -= loan
                    note(responder, kept[row[own], memory, action])
        if own >= 0 and lends:
            for place in range(responder.way_values.shape[1]):
                responder.way_values[own, place] -= claims.falls[own, place]


@kernel
def revise(
    lists, responder, claims, scratch, members, row, kept, claimed, idle, lent, returned, lane
):
    """Value all claims of one row, and move its prices to lower the bound most.

    At each state before the row, the last first, where the responder moves:

    1. Choose its best action, and find the slack of the others: by how much they are worth less.
    2. Actions without slack: claims are worth the best of them.
    3. Others: if some claim gains more there, lend the gain, at most the share `lent` of the slack.
    4. An action by which every claim has less than by the others gives back the share `returned` of
       what it has too little.
    5. Choose again. Whatever moves, claims are worth no less than by any action.

    `members` are the row's positions, (m,); `kept` (n, H, K) is the part of the prices that is this
    row's, at the ``row[own]`` of an own position; `claimed` (m * H * W,) the row's claim of each
    action on each of its states; `idle` (W,) 0 for actions and more than any claim where there is
    none. False if a play can meet the row twice.
    """
    memories, width = lists.place.shape[2], len(lane)
    none, slack, rolled = load(idle, 0, lane), claims.row[0], claims.rolled
    if not begin_claims(lists, responder.own_number, claims, members, claimed, lane):
        return False
    for position in members:
        for memory in range(memories):
            if responder.is_reachable[position, memory]:
                choose(lists, responder, position, memory)
    for turn in range(len(lists.order) - 1, -1, -1):
        position = lists.order[turn]
        if claims.alive[position] != BEFORE:
            continue
        own, places = responder.own_number[position], lists.place[lists.situation[position]]
        if own < 0:
            claim_others_states(lists, responder, claims, position, lane)
            value_others_states(lists, responder, position, scratch)
            continue
        claim_own_ways(lists, responder, claims, position, lane)
        value_own_ways(lists, responder, position, scratch.ends)
        for memory in range(memories):
            if not responder.is_reachable[position, memory]:
                continue
            choose(lists, responder, position, memory)
            prices, part_of_row = responder.prices[own, memory], kept[row[own], memory]
            best = splat(NONE, lane)
            for action in range(len(places)):
                worth = responder.way_values[own, places[action, memory]] - prices[action]
                slack[action] = responder.values[position, memory] - worth
                if slack[action] < AS_GOOD:
                    value = part_of_row[action] + load(rolled, places[action, memory] * width, lane)
                    best = larger(best, value)
            usual = best
            for action in range(len(places)):
                if not slack[action] < AS_GOOD:
                    value = part_of_row[action] + load(rolled, places[action, memory] * width, lane)
                    gain = max(0.0, largest(value - usual - none))
                    loan = min(lent * slack[action], gain)
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
            store(claims.values, (position * memories + memory) * width, best)
            choose(lists, responder, position, memory)
    return True
