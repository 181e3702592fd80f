"""Passes of a responder that knows every state and pays dual prices, and of one row's claims on it.

The responder is the Lagrangian relaxation of one that forgets: it may act by the whole state, and
pays a dual price for each action there. A *claim* of a row is the increase of the price of an
action in its states. A *loan* lowers the price of an action in a state before the row, at most by
the *slack*: by how much the action is worth less than the best one (its reduced cost). The *worth*
of a claim in a state is the most that is collected of it, less loans, from there on.

Sizes, states, ways, slots and lanes are those of :mod:`hogeq.kernels.graph_turns`; of the C
positions the responder moves at O, its *own*. W numbers go side by side in a vector, as long as the
tuple `lane`: in :func:`lift` a worth of each claim and, last, by how much the responder's own value
falls; in :func:`revise` one worth for each action that the row may claim.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels.cache import kernel, part
from hogeq.kernels.graph_turns import (
    mix,
    pass_on,
    probabilities_at,
    send,
    value_ends,
    value_way,
    value_ways,
)
from hogeq.kernels.vectors import larger, largest, load, splat, store

Floats = NDArray[np.float64]

AS_GOOD = 1e-11  # actions worth less than this apart are as good, however a processor rounds
NONE = -1e9  # less than the worth of any claim
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
    values: Floats  # (C, H) expected payoff less the prices that it pays from there on
    way_values: Floats  # (O, U * J) the same after each way to play, before the action's price
    chosen: NDArray[np.int8]  # (O, H) its best action, the first of equals; -1 before there is one
    largest: Floats  # (1,) largest size so far of a price, of a row's part of it, or of a worth


@part
def choose(lists, responder, position, memory):
    """Fill the responder's value and best action in an own state; an action pays its dual price.

    The best action is the first of those that are within `AS_GOOD` of the largest value.
    """
    own = responder.own_number[position]
    slots = lists.slot[lists.situation[position]]
    way_values = responder.way_values[own]
    prices = responder.prices[own, memory]
    best_value = -np.inf
    for action in range(len(slots)):
        best_value = max(best_value, way_values[slots[action, memory]] - prices[action])
    responder.values[position, memory] = best_value
    for action in range(len(slots) - 1, -1, -1):
        if way_values[slots[action, memory]] - prices[action] >= best_value - AS_GOOD:
            responder.chosen[own, memory] = action


@part
def value_own_ways(lists, responder, position, ends):
    """Fill the values of the ways that the responder may play at an own position, by lane."""
    lanes = lists.following.shape[1]
    own = responder.own_number[position]
    first_way = lists.ways_start[lists.situation[position]]
    way_values = responder.way_values[own]
    value_ends(lists, position, responder.values, responder.payoff, ends)
    for number in range(responder.used.shape[1]):
        if responder.used[own, number]:
            way = lists.ways[first_way + number]
            value_way(lists, way, number * lanes, 1, ends, way_values)


@part
def value_others_states(lists, responder, position, scratch):
    """Fill the responder's values, (H,), at a position where the other player or nature moves."""
    values, payoff = responder.values, responder.payoff
    way_values, ends = scratch.rolled[0], scratch.ends
    probabilities = probabilities_at(lists, position, responder.me, responder.policies, 0)
    value_ways(lists, position, probabilities, False, values, payoff, ends, way_values)
    mix(lists, position, probabilities, way_values, values[position])


@kernel
def remember(lists, responder, scratch):
    """Solve a responder with full memory at its prices: fill values and actions, bottom-up."""
    for order_index in range(len(lists.order) - 1, -1, -1):
        position = lists.order[order_index]
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
    """Add the reach probability of every state, top-down, to `state_reach` (C, H), zeros before.

    Play begins in the states `start`, (n, 2), position and memory, with probabilities `shares`,
    (n,). The responder takes the actions that it chose. Where it has chosen none, every action is
    taken with weight 1: then positive reach says that play can come to a state.
    """
    for number in range(len(start)):
        state_reach[start[number, 0], start[number, 1]] += shares[number]
    masses, flows = scratch.masses, scratch.flows
    for order_index in range(len(lists.order)):
        position = lists.order[order_index]
        own = responder.own_number[position]
        if own < 0:
            probabilities = probabilities_at(lists, position, responder.me, responder.policies, 0)
            send(lists, position, probabilities, state_reach[position], state_reach, masses, flows)
            continue
        slots = lists.slot[lists.situation[position]]
        for memory in range(state_reach.shape[1]):
            mass = state_reach[position, memory]
            chosen = responder.chosen[own, memory]
            if mass > 0.0:
                for action in range(len(slots)):
                    if chosen == action:
                        masses[slots[action, memory]] += mass
                    elif chosen < 0:
                        # Cut off at 1, or weights would grow with the number of plays.
                        masses[slots[action, memory]] += min(mass, 1.0)
        # All ways are passed on, whatever a policy plays: these probabilities are not looked at.
        unread_probabilities = responder.policies[1, 0]
        pass_on(lists, position, unread_probabilities, True, state_reach, masses, flows)


# --- claims ---------------------------------------------------------------------------------------


class Claims(NamedTuple):
    """Arrays of a pass over one row's claims, at the positions from which play can come to it."""

    before: NDArray[np.int32]  # predecessors of each position, one position after another
    before_start: NDArray[np.int64]  # (C + 1,) where the predecessors of each position begin
    alive: NDArray[np.uint8]  # (C,) BEFORE where play can come to the row, CLAIMS in the row, or 0
    values: Floats  # (C * H * W,) worths of the claims in each state
    loans: Floats  # (O, H, K) by how much the price of each action is to be lowered
    falls: Floats  # (O, U * J) by how much the values of ways to play fall
    ends: Floats  # (E * J * W,), scratch: worths of claims after each end of a turn
    rolled: Floats  # (U * J * W,), scratch: worths of claims by slot, a way in a lane
    gaps: Floats  # (U, U), scratch: most that a claim gains by one way over another
    compared: NDArray[np.uint8]  # (U,), scratch: 1 if the gaps of a way are known
    row: Floats  # (2, K), scratch
    by_lane: NDArray[np.int64]  # (H,) memories, lane by lane


@kernel
def count_before(lists, own_number, claims, members):
    """Mark a row's positions `members`, (m,), and all from which play can come there.

    Written is `claims.alive`, (C,). Returns how many of the marked positions are the responder's
    own; -1 if play can come from one of the members to another, so that a play meets the row twice.
    """
    alive = claims.alive
    num_own = 0
    is_met_twice = False
    for position in range(len(alive)):
        alive[position] = 0
    for position in members:
        alive[position] = CLAIMS
    for order_index in range(len(lists.order) - 1, -1, -1):
        position = lists.order[order_index]
        if alive[position]:
            num_own += own_number[position] >= 0
            for entry in range(claims.before_start[position], claims.before_start[position + 1]):
                predecessor = claims.before[entry]
                is_met_twice = is_met_twice or alive[predecessor] == CLAIMS
                alive[predecessor] = BEFORE
    return -1 if is_met_twice else num_own


@part
def begin_claims(lists, own_number, claims, members, claimed, lane):
    """Copy a row's claims to the worths at its positions, and mark all positions before them.

    `members`, (m,), are the row's positions, `claimed`, (m * H * W,), the claims in their states.
    Written are `claims.values` and `claims.alive`. Returns False if a play can meet the row twice.
    """
    size = lists.slot.shape[2] * len(lane)  # numbers of a position
    for number in range(len(members)):
        for offset in range(0, size, len(lane)):
            claim = load(claimed, number * size + offset, lane)
            store(claims.values, members[number] * size + offset, claim)
    return count_before(lists, own_number, claims, members) >= 0


@part
def claim_ends(lists, claims, position, lane):
    """Fill the worths of claims after each end of a turn from a position: `claims.ends`.

    They are those of the state that follows, W numbers side by side; 0 where it does not lead to
    the row. `lane` is a tuple of W zeros.
    """
    base, lanes = lists.base[position], lists.following.shape[1]
    memories, width = lists.slot.shape[2], len(lane)
    for end in range(lists.ends[lists.situation[position]]):
        next_position = lists.next[base + end]
        first = end * lanes
        low, high = lists.end_lanes[end]
        if next_position >= 0 and claims.alive[next_position]:
            next_memory = lists.following[lists.label[base + end]]
            for memory_lane in range(low, high):
                next_state = next_position * memories + next_memory[memory_lane]
                worths = load(claims.values, next_state * width, lane)
                store(claims.ends, (first + memory_lane) * width, worths)
        else:
            for memory_lane in range(low, high):
                store(claims.ends, (first + memory_lane) * width, splat(0.0, lane))


@part
def claim_own_ways(lists, responder, claims, position, lane):
    """Fill the expected worths of claims by each way that the responder may play at a position."""
    own = responder.own_number[position]
    way_size = lists.following.shape[1] * len(lane)  # numbers of a way: J lanes, W claims each
    first_way = lists.ways_start[lists.situation[position]]
    claim_ends(lists, claims, position, lane)
    for number in range(responder.used.shape[1]):
        if responder.used[own, number]:
            way = lists.ways[first_way + number]
            value_way(lists, way, number * way_size, len(lane), claims.ends, claims.rolled)


@part
def claim_others_states(lists, responder, claims, position, lane):
    """Fill the expected worths of claims at a position where the other player or nature moves."""
    situation = lists.situation[position]
    width = len(lane)
    first_way = lists.ways_start[situation]
    way_size = lists.following.shape[1] * width  # numbers of a way: J lanes, W claims each
    probabilities = probabilities_at(lists, position, responder.me, responder.policies, 0)
    claim_ends(lists, claims, position, lane)
    for entry in range(first_way, lists.ways_start[situation + 1]):
        way = lists.ways[entry]
        if probabilities[lists.action[way]] > 0.0:
            first_number = (entry - first_way) * way_size
            value_way(lists, way, first_number, width, claims.ends, claims.rolled)
    slots = lists.slot[situation]
    memories = slots.shape[1]
    for memory in range(memories):
        if responder.is_reachable[position, memory]:
            expected = splat(0.0, lane)
            for action in range(len(probabilities)):
                if probabilities[action] > 0.0:
                    worths = load(claims.rolled, slots[action, memory] * width, lane)
                    expected += probabilities[action] * worths
            store(claims.values, (position * memories + memory) * width, expected)


@kernel
def lift(lists, responder, claims, members, claimed, weights, lent, lane):
    """Value the claims of one row on a responder that pays dual prices, and plan loans before it.

    For each state before the row, the last first, where the responder moves:

    1. Values of its actions: now, and once its own values have fallen by these claims.
    2. The action that is then best is the reference; the most that a claim gains by each other way.
    3. Loans: an action's price is lowered by at most what a claim gains, weighted; by the slack
       that these claims make themselves, and by at most the share `lent` of the slack before.
    4. The worth of a claim is the largest over actions, less their loans.

    `members`, (m,), are the row's positions; `claimed`, (m * H * W,), the claims of actions in its
    states, and last by how much its value falls; `weights`, (W,), the share of a claim's gain that
    loans cover, 0 for what is no claim; `lane` W zeros. Written are `values`, `loans` and `falls`
    of `claims`; prices stay, see :func:`lend`. False if a play can meet the row twice.
    """
    lanes = lists.following.shape[1]
    memories = lists.slot.shape[2]
    width = len(lane)
    last = width - 1  # the column of the fall of the responder's value
    weight = load(weights, 0, lane)
    values_now = claims.row[0]  # (K,) of actions
    values_after = claims.row[1]  # (K,) of actions, once values have fallen
    gaps, rolled, compared = claims.gaps, claims.rolled, claims.compared
    if not begin_claims(lists, responder.own_number, claims, members, claimed, lane):
        return False
    for order_index in range(len(lists.order) - 1, -1, -1):
        position = lists.order[order_index]
        if claims.alive[position] != BEFORE:
            continue
        own = responder.own_number[position]
        if own < 0:
            claim_others_states(lists, responder, claims, position, lane)
            continue
        claim_own_ways(lists, responder, claims, position, lane)
        slots = lists.slot[lists.situation[position]]
        current_lane = -1
        for number in range(memories):
            memory = claims.by_lane[number]
            if not responder.is_reachable[position, memory]:
                continue
            memory_lane = slots[0, memory] % lanes
            if memory_lane != current_lane:  # gaps hold for all memories of a lane
                current_lane = memory_lane
                for way in range(len(compared)):
                    compared[way] = 0
            best_now = best_after = -np.inf
            for action in range(len(slots)):
                slot = slots[action, memory]
                price = responder.prices[own, memory, action]
                values_now[action] = responder.way_values[own, slot] - price
                values_after[action] = values_now[action] - rolled[slot * width + last]
                best_now = max(best_now, values_now[action])
                best_after = max(best_after, values_after[action])
            reference = 0
            while values_after[reference] < best_after - AS_GOOD:
                reference += 1
            reference_way = slots[reference, memory] // lanes
            reference_worths = load(rolled, slots[reference, memory] * width, lane)
            if not compared[reference_way]:
                compared[reference_way] = 1
                for way in range(len(compared)):
                    if responder.used[own, way]:
                        way_worths = load(rolled, (way * lanes + memory_lane) * width, lane)
                        most_gained = largest(weight * (way_worths - reference_worths))
                        gaps[reference_way, way] = max(0.0, most_gained)
            worths = reference_worths
            for action in range(len(slots)):
                slack = best_now - values_now[action]
                # An action that falls further than the best one gains slack by these claims.
                new_slack = values_now[action] - values_after[action] - (best_now - best_after)
                most_lent = max(0.0, min(slack + new_slack, lent * slack + max(0.0, new_slack)))
                loan = 0.0
                if action != reference:
                    slot = slots[action, memory]
                    loan = min(gaps[reference_way, slot // lanes], most_lent)
                    worths = larger(worths, -loan + load(rolled, slot * width, lane))
                claims.loans[own, memory, action] = loan
            first_number = (position * memories + memory) * width
            store(claims.values, first_number, worths)
            claims.values[first_number + last] = best_now - best_after
        for slot in range(responder.way_values.shape[1]):
            claims.falls[own, slot] = rolled[slot * width + last]
    return True


@part
def note(responder, number):
    """Raise ``responder.largest`` to the size of a number, if that is larger."""
    responder.largest[0] = max(responder.largest[0], abs(number))


@kernel
def lend(responder, claims, row, kept, lane):
    """Carry out the loans of :func:`lift`: lower prices and values at all positions before the row.

    At the positions of the row itself only `values` fall. Loans are taken off `kept`, (n, H, K),
    too: the row's part of the prices, at the ``row[own]`` of an own position; -1 where it has none.
    The last of the W worths of a state, W the length of `lane`, is the fall of its value.
    """
    memories = responder.is_reachable.shape[1]
    width = len(lane)
    for position in range(len(claims.alive)):
        if not claims.alive[position]:
            continue
        own = responder.own_number[position]
        lends = own >= 0 and claims.alive[position] == BEFORE
        for memory in range(memories):
            if not responder.is_reachable[position, memory]:
                continue
            last = (position * memories + memory + 1) * width - 1
            responder.values[position, memory] -= claims.values[last]
            if not lends:
                continue
            for action in range(claims.loans.shape[2]):
                loan = claims.loans[own, memory, action]
                responder.prices[own, memory, action] -= loan
                note(responder, responder.prices[own, memory, action])
                if row[own] >= 0:
                    kept[row[own], memory, action] -= loan
                    note(responder, kept[row[own], memory, action])
        if lends:
            for slot in range(responder.way_values.shape[1]):
                responder.way_values[own, slot] -= claims.falls[own, slot]


@kernel
def revise(
    lists, responder, claims, scratch, members, row, kept, claimed, idle, lent, returned, lane
):
    """Value all claims of one row anew, and move its loans so that the bound falls most.

    At each state before the row, the last first, where the responder moves:

    1. Choose its best action; the slack of every action is by how much it is worth less.
    2. Worths of the claims: the largest over the actions without slack.
    3. Other actions: if some claim gains more there, lower the price by this gain, but by at most
       the share `lent` of the slack.
    4. If every claim collects less by an action than by the best, raise its price by the share
       `returned` of the least difference: so much of its loan is not needed.
    5. Choose again. However prices move, worths are no less than by any action.

    `members`, (m,), are the row's positions; `kept`, (n, H, K), the part of the prices that is this
    row's, at the ``row[own]`` of an own position; `claimed`, (m * H * W,), its claims of actions in
    its states; `idle`, (W,), 0 for actions, more than any claim where there is none; `lane` W
    zeros. Written are prices, values, `kept` and `claims.values`. False if a play can meet the row
    twice.
    """
    memories = lists.slot.shape[2]
    width = len(lane)
    none = load(idle, 0, lane)  # subtracted, so that numbers without an action are never largest
    slack = claims.row[0]  # (K,)
    rolled = claims.rolled
    if not begin_claims(lists, responder.own_number, claims, members, claimed, lane):
        return False
    for position in members:
        for memory in range(memories):
            if responder.is_reachable[position, memory]:
                choose(lists, responder, position, memory)
    for order_index in range(len(lists.order) - 1, -1, -1):
        position = lists.order[order_index]
        if claims.alive[position] != BEFORE:
            continue
        own = responder.own_number[position]
        slots = lists.slot[lists.situation[position]]
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
            prices = responder.prices[own, memory]
            row_prices = kept[row[own], memory]
            best_worths = splat(NONE, lane)
            for action in range(len(slots)):
                slot = slots[action, memory]
                action_value = responder.way_values[own, slot] - prices[action]
                slack[action] = responder.values[position, memory] - action_value
                if slack[action] < AS_GOOD:
                    worths = row_prices[action] + load(rolled, slot * width, lane)
                    best_worths = larger(best_worths, worths)
            reference_worths = best_worths
            for action in range(len(slots)):
                if not slack[action] < AS_GOOD:
                    slot = slots[action, memory]
                    worths = row_prices[action] + load(rolled, slot * width, lane)
                    gain = max(0.0, largest(worths - reference_worths - none))
                    loan = min(lent * slack[action], gain)
                    row_prices[action] -= loan
                    prices[action] -= loan
                    note(responder, row_prices[action])
                    note(responder, prices[action])
                    best_worths = larger(best_worths, -loan + worths)
            for action in range(len(slots)):
                worths = row_prices[action] + load(rolled, slots[action, memory] * width, lane)
                excess = returned * max(0.0, -largest(worths - best_worths - none))
                row_prices[action] += excess
                prices[action] += excess
                note(responder, row_prices[action])
                note(responder, prices[action])
            note(responder, largest(best_worths))
            note(responder, largest(-1.0 * best_worths))
            first_number = (position * memories + memory) * width
            store(claims.values, first_number, best_worths)
            choose(lists, responder, position, memory)
    return True
