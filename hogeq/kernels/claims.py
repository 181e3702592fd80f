"""Passes over one row's claims on a responder that pays dual prices, and its loans before the row.

A *claim* of a row is a rise of the price of an action in its states. A *loan* cuts the price of an
action in a state before the row, at most by its *reduced cost*: by how much it is worth less than
the best action. The *worth* of a claim in a state is the most that is collected of it, less loans,
from there on.

Sizes are those of :mod:`hogeq.kernels.priced`. W numbers go side by side in a vector, as long as
the tuple `columns`, of W zeros: in :func:`lift` a worth of each claim and, last, by how much the
responder's own value falls; in :func:`revise` one worth for each action that the row may claim.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hogeq.kernels.cache import kernel, part
from hogeq.kernels.graph_turns import (
    end_entry,
    num_lanes,
    probabilities_at,
    value_played_ways,
)
from hogeq.kernels.priced import (
    VALUE_TIE,
    choose,
    value_others_states,
    value_own_ways,
    value_used_ways,
)
from hogeq.kernels.segments import segment
from hogeq.kernels.vectors import larger, largest, load, splat, store
from hogeq.support.aliases import Floats

NONE = -1e9  # less than the worth of any claim
BEFORE_ROW, IN_ROW = 1, 2  # positions from which play can come to a row, and those of the row


class ClaimPass(NamedTuple):
    """Arrays of a pass over one row's claims, at the positions from which play can come to it.

    Those of W numbers are long enough for any pass, and one with fewer columns fills their begin.
    """

    predecessors: NDArray[np.int32]  # of each position, one position after another
    predecessor_start: NDArray[np.int64]  # (C + 1,) into `predecessors`, by position
    relation: NDArray[np.uint8]  # (C,) BEFORE_ROW, IN_ROW, or 0 where play cannot come to the row
    state_worths: Floats  # (C * H * W,) worths of the claims in each state
    price_cuts: Floats  # (O, H, K) loans: by how much the price of each action is to be lowered
    way_value_falls: Floats  # (O, U * J) by how much the values of ways to play fall
    end_worths: Floats  # (E * J * W,), scratch: worths of claims after each end of a turn
    slot_worths: Floats  # (U * J * W,), scratch: worths of claims by slot, a way in a lane
    gains: Floats  # (U, U), scratch: most that a claim gains by one way over another
    has_gains: NDArray[np.uint8]  # (U,), scratch: 1 if the gains over a way are known
    values_now: Floats  # (K,), scratch: values of a state's actions
    values_after: Floats  # (K,), scratch: the same once the responder's values have fallen
    reduced_costs: Floats  # (K,), scratch: reduced costs of a state's actions
    memories_by_lane: NDArray[np.int64]  # (H,) memories, lane by lane


@part
def first_of_state(graph, position, memory, columns):
    """Return where the W numbers of a state begin in an array of all states, (C * H * W,)."""
    return (position * graph.action_slot.shape[2] + memory) * len(columns)


@kernel
def find_before_row(graph, own_index, claim_pass, members):
    """Find all positions of a graph from which play can come to a row, an information set.

    Its own positions are `members`, (m,). Written is `claim_pass.relation`, (C,): IN_ROW at those,
    BEFORE_ROW at the positions found, else 0. Returns at how many of both the responder moves; -1
    if play can come from one member to another, so that a play meets the row twice.
    """
    relation = claim_pass.relation
    num_own = 0
    is_met_twice = False
    for position in range(len(relation)):
        relation[position] = 0
    for position in members:
        relation[position] = IN_ROW
    for order_index in range(len(graph.position_order) - 1, -1, -1):
        position = graph.position_order[order_index]
        if relation[position]:
            num_own += own_index[position] >= 0
            for entry in segment(claim_pass.predecessor_start, position):
                predecessor = claim_pass.predecessors[entry]
                is_met_twice = is_met_twice or relation[predecessor] == IN_ROW
                relation[predecessor] = BEFORE_ROW
    return -1 if is_met_twice else num_own


@part
def value_claims_at_ends(graph, claim_pass, position, columns):
    """Fill `end_worths`: what claims of one row are worth after each end of a turn at a position.

    A claim is a rise of a dual price in the row (an information set); its worth in a state is the
    most that play can still collect of it. Ends lead to states; where one cannot lead to the row,
    the worths are 0. There are W claims side by side, for each end and lane: a lane is the part of
    a memory that, with the end, decides the next memory.
    """
    lanes, width = num_lanes(graph), len(columns)
    for end in range(graph.num_ends[graph.situation[position]]):
        entry = end_entry(graph, position, end)
        next_position = graph.next_position[entry]
        first = end * lanes
        low, high = graph.end_lanes[end]
        if next_position >= 0 and claim_pass.relation[next_position]:
            next_memory = graph.next_memory[graph.end_label[entry]]
            for lane in range(low, high):
                next_state = first_of_state(graph, next_position, next_memory[lane], columns)
                worths = load(claim_pass.state_worths, next_state, columns)
                store(claim_pass.end_worths, (first + lane) * width, worths)
        else:
            for lane in range(low, high):
                store(claim_pass.end_worths, (first + lane) * width, splat(0.0, columns))


@part
def value_claims_of_own_ways(graph, responder, claim_pass, position, columns):
    """Fill the expected worths of claims by each way that the responder may play at a position.

    A way is a distribution over the ends of a turn, a claim a rise of a dual price further on.
    """
    end_worths, way_worths = claim_pass.end_worths, claim_pass.slot_worths
    value_claims_at_ends(graph, claim_pass, position, columns)
    value_used_ways(graph, responder, position, len(columns), end_worths, way_worths)


@part
def value_claims_of_others(graph, responder, claim_pass, position, columns):
    """Fill the expected worths of claims at a position where the other player or nature moves.

    A claim is a rise of a dual price further on; its worth is the most that is collected of it. For
    each memory: the mean over actions, of the worths in an action's slot. A slot is a way (a
    distribution over the ends of a turn) in a lane (what the memory hands on).
    """
    probabilities = probabilities_at(graph, position, responder.play)
    end_worths, way_worths = claim_pass.end_worths, claim_pass.slot_worths
    value_claims_at_ends(graph, claim_pass, position, columns)
    value_played_ways(graph, position, probabilities, len(columns), end_worths, way_worths)
    slots = graph.action_slot[graph.situation[position]]
    for memory in range(slots.shape[1]):
        if responder.is_reachable[position, memory]:
            expected = splat(0.0, columns)
            for action in range(len(probabilities)):
                if probabilities[action] > 0.0:
                    worths = slot_worths(claim_pass, slots[action, memory], columns)
                    expected += probabilities[action] * worths
            store(
                claim_pass.state_worths, first_of_state(graph, position, memory, columns), expected
            )


@part
def slot_worths(claim_pass, slot, columns):
    """Return the W worths of claims by a slot: what each collects if an action plays by that way.

    A slot is a way (a distribution over the ends of a turn) in a lane (what the memory hands on).
    """
    return load(claim_pass.slot_worths, slot * len(columns), columns)


@part
def fill_gains(graph, responder, claim_pass, own, reference_slot, weight, columns):
    """Fill `gains`: by each way to play, the most that a claim collects more than by a reference.

    A claim is a rise of a dual price further on, a way a distribution over the ends of a turn. The
    reference is given by its slot, ``way * J + lane``, and compared in that lane alone. `weight` is
    a vector by which the W claims count. A gain below 0 is none.
    """
    lane, reference_way = reference_slot % num_lanes(graph), reference_slot // num_lanes(graph)
    reference_worths = slot_worths(claim_pass, reference_slot, columns)
    claim_pass.has_gains[reference_way] = 1
    for way in range(len(claim_pass.has_gains)):
        if responder.is_used_way[own, way]:
            way_worths = slot_worths(claim_pass, way * num_lanes(graph) + lane, columns)
            gain = largest(weight * (way_worths - reference_worths))
            claim_pass.gains[reference_way, way] = max(0.0, gain)


@part
def fill_action_values(responder, claim_pass, own, memory, slots, columns):
    """Value the actions of a responder in a state, less their dual prices: now, and after claims.

    Claims raise prices further on, by which the values of ways fall: by the last of the W numbers
    of a way's worths. Filled are `values_now` and `values_after`, (K,), at the responder's position
    of number `own`; returned the largest of each. ``slots[action, memory]`` is where the value of
    the action's way lies in `way_values`.
    """
    fall = len(columns) - 1  # the column of the fall of the responder's value
    values_now, values_after = claim_pass.values_now, claim_pass.values_after
    best_now = best_after = -np.inf
    for action in range(len(slots)):
        slot = slots[action, memory]
        values_now[action] = responder.way_values[own, slot] - responder.prices[own, memory, action]
        value_fall = claim_pass.slot_worths[slot * len(columns) + fall]
        values_after[action] = values_now[action] - value_fall
        best_now = max(best_now, values_now[action])
        best_after = max(best_after, values_after[action])
    return best_now, best_after


@part
def plan_loans(graph, responder, claim_pass, position, memory, weight, lent_share, columns):
    """Plan by how much to lower the dual prices of actions in a state before a row: loans.

    The row's claims raise prices further on. Loans keep the responder from steering towards them:
    an action is lent what a claim gains by it over the reference, the best action after the claims;
    but no more than its reduced cost, so that it stays no better. These are steps 1 to 4 of
    :func:`lift`.

    `weight` is a vector, the share of each claim's gain that is lent; `lent_share` the largest
    share of a reduced cost that is. Filled are the loans, `price_cuts`, and the state's worths: the
    most that is collected of each claim from here on, less loans.
    """
    own = responder.own_index[position]
    slots = graph.action_slot[graph.situation[position]]
    values_now, values_after = claim_pass.values_now, claim_pass.values_after
    best_now, best_after = fill_action_values(responder, claim_pass, own, memory, slots, columns)
    reference = 0
    while values_after[reference] < best_after - VALUE_TIE:
        reference += 1
    reference_slot = slots[reference, memory]
    reference_way = reference_slot // num_lanes(graph)
    if not claim_pass.has_gains[reference_way]:
        fill_gains(graph, responder, claim_pass, own, reference_slot, weight, columns)
    worths = slot_worths(claim_pass, reference_slot, columns)
    for action in range(len(slots)):
        cost = best_now - values_now[action]  # the reduced cost
        # The claims lower values. By how much more they lower this action's than the best one: what
        # its reduced cost rises by.
        rise = values_now[action] - values_after[action] - (best_now - best_after)
        most_lent = max(0.0, min(cost + rise, lent_share * cost + max(0.0, rise)))
        loan = 0.0
        if action != reference:
            slot = slots[action, memory]
            way = slot // num_lanes(graph)
            loan = min(claim_pass.gains[reference_way, way], most_lent)
            worths = larger(worths, -loan + slot_worths(claim_pass, slot, columns))
        claim_pass.price_cuts[own, memory, action] = loan
    first = first_of_state(graph, position, memory, columns)
    store(claim_pass.state_worths, first, worths)
    claim_pass.state_worths[first + len(columns) - 1] = best_now - best_after


@kernel
def lift(graph, responder, claim_pass, members, weights, lent_share, columns):
    """Value the claims of one row on a responder that pays dual prices, and plan loans before it.

    A claim raises the dual price of an action in the row, an information set; loans lower prices
    before it, so that the responder does not steer towards the claims. For each state before the
    row, the last first, where the responder moves:

    1. Values of its actions: now, and once its own values have fallen by these claims.
    2. The action that is then best is the reference; the most that a claim gains by each other way.
    3. Loans: an action's price is lowered by at most what a claim gains, weighted; by the reduced
       cost that these claims make themselves, and by at most the share `lent_share` of that before.
    4. The worth of a claim is the largest over actions, less their loans.

    `members`, (m,), are the row's positions. In their states, `state_worths` of `claim_pass` has
    the claims of actions before, and last by how much the value falls. `weights`, (W,), are the
    shares of claims' gains that loans cover, 0 for what is no claim. Written are `state_worths`,
    `price_cuts` and `way_value_falls`; prices stay, see :func:`lend`. False if a play can meet the
    row twice.
    """
    width = len(columns)
    weight = load(weights, 0, columns)
    has_gains = claim_pass.has_gains
    if find_before_row(graph, responder.own_index, claim_pass, members) < 0:
        return False
    for order_index in range(len(graph.position_order) - 1, -1, -1):
        position = graph.position_order[order_index]
        if claim_pass.relation[position] != BEFORE_ROW:
            continue
        own = responder.own_index[position]
        if own < 0:
            value_claims_of_others(graph, responder, claim_pass, position, columns)
            continue
        value_claims_of_own_ways(graph, responder, claim_pass, position, columns)
        slots = graph.action_slot[graph.situation[position]]
        current_lane = -1
        for memory in claim_pass.memories_by_lane:
            if not responder.is_reachable[position, memory]:
                continue
            lane = slots[0, memory] % num_lanes(graph)
            if lane != current_lane:  # gains hold for all memories of a lane
                current_lane = lane
                for way in range(len(has_gains)):
                    has_gains[way] = 0
            plan_loans(graph, responder, claim_pass, position, memory, weight, lent_share, columns)
        for slot in range(responder.way_values.shape[1]):
            value_fall = claim_pass.slot_worths[slot * width + width - 1]
            claim_pass.way_value_falls[own, slot] = value_fall
    return True


@part
def note_largest(responder, number):
    """Raise ``responder.largest_size`` to the size of a number, if that is larger."""
    responder.largest_size[0] = max(responder.largest_size[0], abs(number))


@kernel
def lend(graph, responder, claim_pass, row_index, row_prices, columns):
    """Subtract planned loans from the dual prices at all positions before a row, and lower values.

    The loans are those of :func:`lift`: `price_cuts` of `claim_pass`. At the positions of the row
    itself only `values` fall. Loans are taken off `row_prices`, (n, H, K), too: the row's part of
    the prices, at the ``row_index[own]`` of an own position; -1 where it has none. The last of the
    W worths of a state is the fall of its value.
    """
    fall = len(columns) - 1
    for position in range(len(claim_pass.relation)):
        if not claim_pass.relation[position]:
            continue
        own = responder.own_index[position]
        lends = own >= 0 and claim_pass.relation[position] == BEFORE_ROW
        for memory in range(responder.is_reachable.shape[1]):
            if not responder.is_reachable[position, memory]:
                continue
            first = first_of_state(graph, position, memory, columns)
            responder.values[position, memory] -= claim_pass.state_worths[first + fall]
            if not lends:
                continue
            for action in range(claim_pass.price_cuts.shape[2]):
                loan = claim_pass.price_cuts[own, memory, action]
                responder.prices[own, memory, action] -= loan
                note_largest(responder, responder.prices[own, memory, action])
                if row_index[own] >= 0:
                    row_prices[row_index[own], memory, action] -= loan
                    note_largest(responder, row_prices[row_index[own], memory, action])
        if lends:
            for slot in range(responder.way_values.shape[1]):
                responder.way_values[own, slot] -= claim_pass.way_value_falls[own, slot]


@part
def change_price(responder, prices, row_prices, action, change):
    """Change an action's price in a state, in `prices` (K,) and in `row_prices` (K,).

    The latter are one row's part of them: the sum of the changes that the row has made there.
    """
    row_prices[action] += change
    prices[action] += change
    note_largest(responder, row_prices[action])
    note_largest(responder, prices[action])


@part
def best_worths(graph, responder, claim_pass, position, memory, row_prices, columns):
    """Return the worths of a row's claims by the best actions of a state, those of no reduced cost.

    A worth is the most that is collected of a claim, a rise of a dual price, from the state on;
    there are W side by side. `row_prices` (K,) is the row's part of the state's prices. Filled is
    ``claim_pass.reduced_costs``, (K,): by how much each action is worth less than the best.
    """
    own = responder.own_index[position]
    slots = graph.action_slot[graph.situation[position]]
    worths = splat(NONE, columns)
    for action in range(len(slots)):
        slot = slots[action, memory]
        price = responder.prices[own, memory, action]
        action_value = responder.way_values[own, slot] - price
        reduced_cost = responder.values[position, memory] - action_value
        claim_pass.reduced_costs[action] = reduced_cost
        if reduced_cost < VALUE_TIE:
            action_worths = row_prices[action] + slot_worths(claim_pass, slot, columns)
            worths = larger(worths, action_worths)
    return worths


@part
def lend_more(
    responder, claim_pass, prices, slots, memory, row_prices, best, idle, lent_share, columns
):
    """Lower the prices of actions in a state, (K,), by which some claim collects more than `best`.

    `best` are the worths of the W claims by the best actions. An action is lent the largest
    difference, at most the share `lent_share` of its reduced cost. Returns the worths by all
    actions then. `row_prices`, (K,), are one row's part of the prices, `idle` is large for numbers
    that are no claim; ``slots[action, memory]`` is where an action's worths lie.
    """
    worths = best
    for action in range(len(slots)):
        reduced_cost = claim_pass.reduced_costs[action]
        if not reduced_cost < VALUE_TIE:
            slot = slots[action, memory]
            action_worths = row_prices[action] + slot_worths(claim_pass, slot, columns)
            gain = max(0.0, largest(action_worths - best - idle))
            loan = min(lent_share * reduced_cost, gain)
            change_price(responder, prices, row_prices, action, -loan)
            worths = larger(worths, -loan + action_worths)
    return worths


@part
def take_back(
    responder, claim_pass, prices, slots, memory, row_prices, worths, idle, returned_share, columns
):
    """Raise the prices of actions in a state, (K,), by which every claim collects less.

    Less than its worth, one of W: by the share `returned_share` of the least difference, so much of
    the action's loan is not needed. Other arguments are as of :func:`lend_more`.
    """
    for action in range(len(slots)):
        slot = slots[action, memory]
        action_worths = row_prices[action] + slot_worths(claim_pass, slot, columns)
        excess = returned_share * max(0.0, -largest(action_worths - worths - idle))
        change_price(responder, prices, row_prices, action, excess)


@part
def move_loans(
    graph, responder, claim_pass, position, memory, row_prices, idle, lent_share, returned_share,
    columns,
):  # fmt: skip
    """Lower or raise the dual prices of actions in a state before a row: steps 2 to 4 of `revise`.

    `row_prices` (K,) is the row's part of the state's prices; `idle` is large for numbers that are
    no claim, a rise of a price in the row. Returns the worths: the most that is collected of each
    claim from the state on.
    """
    slots = graph.action_slot[graph.situation[position]]
    prices = responder.prices[responder.own_index[position], memory]
    best = best_worths(graph, responder, claim_pass, position, memory, row_prices, columns)
    worths = lend_more(
        responder, claim_pass, prices, slots, memory, row_prices, best, idle, lent_share, columns
    )
    take_back(
        responder, claim_pass, prices, slots, memory, row_prices, worths, idle, returned_share,
        columns,
    )  # fmt: skip
    return worths


@kernel
def revise(
    graph, responder, claim_pass, scratch, members, row_index, row_prices, idle, lent_share,
    returned_share, columns,
):  # fmt: skip
    """Value all claims of one row anew, and move its loans so that the bound falls most.

    Claims are the row's dual prices, loans cuts of prices before the row. At each state before the
    row, the last first, where the responder moves:

    1. Choose its best action; the reduced cost of every action is by how much it is worth less.
    2. Worths of the claims: the largest over the actions without a reduced cost.
    3. Other actions: if some claim gains more there, lower the price by this gain, but by at most
       the share `lent_share` of the reduced cost.
    4. If every claim collects less by an action than by the best, raise its price by the share
       `returned_share` of the least difference: so much of its loan is not needed.
    5. Choose again. However prices move, worths are no less than by any action.

    `members`, (m,), are the row's positions, in whose states `state_worths` has the claims before;
    `row_prices`, (n, H, K), the part of the prices that is this row's, at the ``row_index[own]`` of
    an own position; `idle`, (W,), 0 for actions, more than any claim where there is none. Written
    are prices, values, `row_prices` and `state_worths`. False if a play can meet the row twice.
    """
    memories = graph.action_slot.shape[2]
    idle_vector = load(idle, 0, columns)  # subtracted: numbers without an action are never largest
    if find_before_row(graph, responder.own_index, claim_pass, members) < 0:
        return False
    for position in members:
        for memory in range(memories):
            if responder.is_reachable[position, memory]:
                choose(graph, responder, position, memory)
    for order_index in range(len(graph.position_order) - 1, -1, -1):
        position = graph.position_order[order_index]
        if claim_pass.relation[position] != BEFORE_ROW:
            continue
        own = responder.own_index[position]
        if own < 0:
            value_claims_of_others(graph, responder, claim_pass, position, columns)
            value_others_states(graph, responder, position, scratch)
            continue
        value_claims_of_own_ways(graph, responder, claim_pass, position, columns)
        value_own_ways(graph, responder, position, scratch.end_values)
        for memory in range(memories):
            if not responder.is_reachable[position, memory]:
                continue
            choose(graph, responder, position, memory)
            worths = move_loans(
                graph, responder, claim_pass, position, memory, row_prices[row_index[own], memory],
                idle_vector, lent_share, returned_share, columns,
            )  # fmt: skip
            note_largest(responder, largest(worths))
            note_largest(responder, largest(-1.0 * worths))
            store(claim_pass.state_worths, first_of_state(graph, position, memory, columns), worths)
            choose(graph, responder, position, memory)
    return True
