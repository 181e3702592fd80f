"""Passes that value one row's dual prices on a responder, and cut prices before the row.

The game is a graph (:mod:`hogeq.kernels.graph_turns`). A *state* is a position with the value of a
hidden memory. A *row* is an information set: positions that their player cannot tell apart. A
*way* is a distribution over the *ends* of a turn, by which an action is played; a *lane* is the
part of a memory that, with the end, decides the next memory; a *slot* is a way in a lane.

A row charges a responder that knows the state a *dual price* for each action in its states. The
*maximum* of an action's prices in a state is the most that a responder who takes this action in the
whole row can pay of them from there on, in the mean. A *cut* lowers the price of an action in a
state before the row, so that steering towards high prices does not pay; it is at most the action's
*reduced cost*: by how much the action is worth less than the best one.

Sizes are those of :mod:`hogeq.kernels.priced`. W numbers go side by side in a vector, as long as
the tuple `columns`, of W zeros: in :func:`value_rise` the maximum of each action's prices and,
last, by how much the responder's own value falls; in :func:`revise` one maximum for each action.
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

NO_MAXIMUM = -1e9  # less than any maximum of prices
BEFORE_ROW, IN_ROW = 1, 2  # positions from which play can come to a row, and those of the row


class PricePass(NamedTuple):
    """Arrays of a pass over one row's dual prices, backward from the row (an information set).

    W maxima go side by side, each the most that a responder can pay of the prices of one action of
    the row, from a state on. Arrays of W numbers are long enough for any pass; a pass with fewer
    columns fills their begin.
    """

    predecessors: NDArray[np.int32]  # of each position, one position after another
    predecessor_start: NDArray[np.int64]  # (C + 1,) into `predecessors`, by position
    relation: NDArray[np.uint8]  # (C,) BEFORE_ROW, IN_ROW, or 0 where play cannot come to the row
    state_maxima: Floats  # (C * H * W,) maxima of the row's prices from each state on
    price_cuts: Floats  # (O, H, K) by how much the price of each action is to be lowered
    way_value_falls: Floats  # (O, U * J) by how much the values of ways to play fall
    end_maxima: Floats  # (E * J * W,), scratch: maxima after each end of a turn
    slot_maxima: Floats  # (U * J * W,), scratch: maxima by slot, a way in a lane
    gains: Floats  # (U, U), scratch: most that a maximum is larger by one way than another
    has_gains: NDArray[np.uint8]  # (U,), scratch: 1 if the gains over a way are known
    values_now: Floats  # (K,), scratch: values of a state's actions
    values_after: Floats  # (K,), scratch: the same once the responder's values have fallen
    reduced_costs: Floats  # (K,), scratch: reduced costs of a state's actions
    memories_by_lane: NDArray[np.int64]  # (H,) memories, lane by lane


@part
def first_of_state(graph, position, memory, columns):
    """Return where a state's W numbers begin in an array of all states, (C * H * W,).

    A state is one of C positions with one of H memories; W is the length of `columns`.
    """
    return (position * graph.action_slot.shape[2] + memory) * len(columns)


@kernel
def find_positions_before_row(graph, own_index, price_pass, members):
    """Find all positions of a game's graph from which play can come to a row, an information set.

    `members`, (m,), are the row's own positions. Written is `price_pass.relation`, (C,): IN_ROW at
    the members, BEFORE_ROW at the positions found, else 0. Returns the number of both at which the
    responder moves, which `own_index` numbers; or -1 if play can come from one member to another,
    so that a play meets the row twice.
    """
    relation = price_pass.relation
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
            for entry in segment(price_pass.predecessor_start, position):
                predecessor = price_pass.predecessors[entry]
                is_met_twice = is_met_twice or relation[predecessor] == IN_ROW
                relation[predecessor] = BEFORE_ROW
    return -1 if is_met_twice else num_own


@part
def fill_maxima_at_ends(graph, price_pass, position, columns):
    """Fill `end_maxima`: the most paid of one row's dual prices after each end of a turn.

    The turn is that at `position`. For each end and lane (the part of a memory that, with the end,
    decides the next memory) W maxima go side by side, one for each action of the row, which is an
    information set: those of the state to which play comes. They are 0 if no play from there comes
    to the row.
    """
    lanes, width = num_lanes(graph), len(columns)
    for end in range(graph.num_ends[graph.situation[position]]):
        entry = end_entry(graph, position, end)
        next_position = graph.next_position[entry]
        first = end * lanes
        low, high = graph.end_lanes[end]
        if next_position >= 0 and price_pass.relation[next_position]:
            next_memory = graph.next_memory[graph.end_label[entry]]
            for lane in range(low, high):
                next_state = first_of_state(graph, next_position, next_memory[lane], columns)
                maxima = load(price_pass.state_maxima, next_state, columns)
                store(price_pass.end_maxima, (first + lane) * width, maxima)
        else:
            for lane in range(low, high):
                store(price_pass.end_maxima, (first + lane) * width, splat(0.0, columns))


@part
def fill_maxima_of_own_ways(graph, responder, price_pass, position, columns):
    """Fill `slot_maxima` at a position where the responder moves: the most paid of a row's prices.

    They are the W maxima, one for each action of the row (an information set) that has the dual
    prices, after each way to play. A way is a distribution over the ends of a turn; its maxima are
    means over the ends, in each lane (the part of a memory that is handed on).
    """
    end_maxima, way_maxima = price_pass.end_maxima, price_pass.slot_maxima
    fill_maxima_at_ends(graph, price_pass, position, columns)
    value_used_ways(graph, responder, position, len(columns), end_maxima, way_maxima)


@part
def fill_maxima_of_others_states(graph, responder, price_pass, position, columns):
    """Fill `state_maxima` at a position where the other player or nature moves: means over actions.

    A state is the position with a memory. Its W maxima, one for each action of a row (an
    information set), are the most that a responder can pay of the row's dual prices from there on.
    Those after an action lie at its slot: a way to play (a distribution over the ends of a turn) in
    a lane (the part of a memory that is handed on).
    """
    probabilities = probabilities_at(graph, position, responder.play)
    end_maxima, way_maxima = price_pass.end_maxima, price_pass.slot_maxima
    fill_maxima_at_ends(graph, price_pass, position, columns)
    value_played_ways(graph, position, probabilities, len(columns), end_maxima, way_maxima)
    slots = graph.action_slot[graph.situation[position]]
    for memory in range(slots.shape[1]):
        if responder.is_reachable[position, memory]:
            expected = splat(0.0, columns)
            for action in range(len(probabilities)):
                if probabilities[action] > 0.0:
                    maxima = slot_maxima(price_pass, slots[action, memory], columns)
                    expected += probabilities[action] * maxima
            store(
                price_pass.state_maxima, first_of_state(graph, position, memory, columns), expected
            )


@part
def slot_maxima(price_pass, slot, columns):
    """Load the W maxima of a row's dual prices after an action, from the slot of the action.

    A slot is a way to play (a distribution over the ends of a turn) in a lane (the part of a memory
    that is handed on). A maximum is the most that a responder can pay of the prices of one action
    of the row from there on.
    """
    return load(price_pass.slot_maxima, slot * len(columns), columns)


@part
def fill_gains(graph, responder, price_pass, own, reference_slot, weight, columns):
    """Fill `gains`: how much more of a row's dual prices can be paid after a way than a reference.

    A way is a distribution over the ends of a turn, by which an action is played at the own
    position of number `own`. It has W maxima: the most that can be paid of the prices of each
    action of the row afterwards. A way's gain is the largest of the W differences of its maxima and
    the reference's, times `weight`, a vector; 0 if all are negative. The reference is given by its
    slot, ``way * J + lane``; a lane is the part of a memory that is handed on. Ways are compared in
    that lane alone.
    """
    lane, reference_way = reference_slot % num_lanes(graph), reference_slot // num_lanes(graph)
    reference_maxima = slot_maxima(price_pass, reference_slot, columns)
    price_pass.has_gains[reference_way] = 1
    for way in range(len(price_pass.has_gains)):
        if responder.is_used_way[own, way]:
            way_maxima = slot_maxima(price_pass, way * num_lanes(graph) + lane, columns)
            gain = largest(weight * (way_maxima - reference_maxima))
            price_pass.gains[reference_way, way] = max(0.0, gain)


@part
def fill_action_values(responder, price_pass, own, memory, slots, columns):
    """Value the actions of a responder in a state, less their dual prices: now, and after a rise.

    The state is the responder's position of number `own`, with a memory. The rise of prices in a
    later row (an information set) lowers the values of ways to play: by the last of the W numbers
    of a way in `slot_maxima`. Fills `values_now` and `values_after`, (K,), and returns the largest
    of each. ``slots[action, memory]`` is the entry of the action's way in `way_values`.
    """
    fall = len(columns) - 1  # the column of the fall of the responder's value
    values_now, values_after = price_pass.values_now, price_pass.values_after
    best_now = best_after = -np.inf
    for action in range(len(slots)):
        slot = slots[action, memory]
        values_now[action] = responder.way_values[own, slot] - responder.prices[own, memory, action]
        value_fall = price_pass.slot_maxima[slot * len(columns) + fall]
        values_after[action] = values_now[action] - value_fall
        best_now = max(best_now, values_now[action])
        best_after = max(best_after, values_after[action])
    return best_now, best_after


@part
def plan_price_cuts(graph, responder, price_pass, position, memory, weight, cut_share, columns):
    """Plan by how much to lower the dual prices of a responder's actions in a state before a row.

    The state is a position with a memory, the row an information set in which prices rise. Cuts
    keep the responder from steering towards the rise. An action's price is cut by its gain: how
    much more of the rise can be paid after it than after the reference, the action that is best
    once prices have risen. But it is cut by no more than its reduced cost, its loss against the
    best action, so that it stays no better. These are steps 1 to 4 of :func:`value_rise`.

    `weight` is a vector, the share of each gain that cuts cover; `cut_share` the largest share of a
    reduced cost that is cut. Fills `price_cuts`, and the state's `state_maxima`: W - 1 maxima, the
    most that can be paid of the rise of each action of the row from here on, less cuts; and the
    fall of the responder's value.
    """
    own = responder.own_index[position]
    slots = graph.action_slot[graph.situation[position]]
    values_now, values_after = price_pass.values_now, price_pass.values_after
    best_now, best_after = fill_action_values(responder, price_pass, own, memory, slots, columns)
    reference = 0
    while values_after[reference] < best_after - VALUE_TIE:
        reference += 1
    reference_slot = slots[reference, memory]
    reference_way = reference_slot // num_lanes(graph)
    if not price_pass.has_gains[reference_way]:
        fill_gains(graph, responder, price_pass, own, reference_slot, weight, columns)
    maxima = slot_maxima(price_pass, reference_slot, columns)
    for action in range(len(slots)):
        cost = best_now - values_now[action]  # the reduced cost
        # By how much more the rise lowers the value of this action than that of the best one: so
        # much its reduced cost grows.
        growth = values_now[action] - values_after[action] - (best_now - best_after)
        most_cut = max(0.0, min(cost + growth, cut_share * cost + max(0.0, growth)))
        cut = 0.0
        if action != reference:
            slot = slots[action, memory]
            way = slot // num_lanes(graph)
            cut = min(price_pass.gains[reference_way, way], most_cut)
            maxima = larger(maxima, -cut + slot_maxima(price_pass, slot, columns))
        price_pass.price_cuts[own, memory, action] = cut
    first = first_of_state(graph, position, memory, columns)
    store(price_pass.state_maxima, first, maxima)
    price_pass.state_maxima[first + len(columns) - 1] = best_now - best_after


@kernel
def value_rise(graph, responder, price_pass, members, weights, cut_share, columns):
    """Value a rise of one row's dual prices on a responder, and plan cuts of prices before it.

    The row is an information set, its states are positions with a memory. A responder, who knows
    the state, pays the prices of actions there. The maximum of an action of the row is the most
    that a responder who takes it in the whole row can pay of the rise. Cuts keep the responder from
    steering towards the rise. For each state before the row, the last first, where the responder
    moves:

    1. Value its actions: now, and once its own values have fallen by the rise.
    2. The action that is then best is the reference. The gain of another way to play (a
       distribution over the ends of the turn) is how much more of the rise can be paid after it.
    3. Cut an action's price by at most this gain, weighted; at most by the growth of its reduced
       cost by the rise, plus the share `cut_share` of its reduced cost before.
    4. The maximum of each action of the row is the largest over actions here, less their cuts.

    `members`, (m,), are the row's positions. In their states, `state_maxima` of `price_pass` has
    the rises of actions before, and last by how much the value falls. `weights`, (W,), are the
    shares of gains that cuts cover, 0 for a number without an action. Written are `state_maxima`,
    `price_cuts` and `way_value_falls`; prices stay, see :func:`apply_cuts`. False if a play can
    meet the row twice.
    """
    width = len(columns)
    weight = load(weights, 0, columns)
    has_gains = price_pass.has_gains
    if find_positions_before_row(graph, responder.own_index, price_pass, members) < 0:
        return False
    for order_index in range(len(graph.position_order) - 1, -1, -1):
        position = graph.position_order[order_index]
        if price_pass.relation[position] != BEFORE_ROW:
            continue
        own = responder.own_index[position]
        if own < 0:
            fill_maxima_of_others_states(graph, responder, price_pass, position, columns)
            continue
        fill_maxima_of_own_ways(graph, responder, price_pass, position, columns)
        slots = graph.action_slot[graph.situation[position]]
        current_lane = -1
        for memory in price_pass.memories_by_lane:
            if not responder.is_reachable[position, memory]:
                continue
            lane = slots[0, memory] % num_lanes(graph)
            if lane != current_lane:  # gains hold for all memories of a lane
                current_lane = lane
                for way in range(len(has_gains)):
                    has_gains[way] = 0
            plan_price_cuts(
                graph, responder, price_pass, position, memory, weight, cut_share, columns
            )
        for slot in range(responder.way_values.shape[1]):
            value_fall = price_pass.slot_maxima[slot * width + width - 1]
            price_pass.way_value_falls[own, slot] = value_fall
    return True


@part
def note_largest(responder, number):
    """Raise ``responder.largest_size`` to the absolute value of a number, if that is larger."""
    responder.largest_size[0] = max(responder.largest_size[0], abs(number))


@kernel
def apply_cuts(graph, responder, price_pass, row_index, row_prices, columns):
    """Subtract planned cuts from a responder's dual prices before a row, and lower its values.

    The row is an information set. The cuts, `price_cuts` of `price_pass`, and the falls of values,
    the last of a state's W numbers in `state_maxima`, are those of :func:`value_rise`. At positions
    before the row prices and values fall, at those of the row only values. Cuts are also subtracted
    from `row_prices`, (n, H, K), the row's own part of the prices: at index ``row_index[own]`` of
    the position of number `own`, -1 if it has none.
    """
    fall = len(columns) - 1
    for position in range(len(price_pass.relation)):
        if not price_pass.relation[position]:
            continue
        own = responder.own_index[position]
        is_cut = own >= 0 and price_pass.relation[position] == BEFORE_ROW
        for memory in range(responder.is_reachable.shape[1]):
            if not responder.is_reachable[position, memory]:
                continue
            first = first_of_state(graph, position, memory, columns)
            responder.values[position, memory] -= price_pass.state_maxima[first + fall]
            if not is_cut:
                continue
            for action in range(price_pass.price_cuts.shape[2]):
                cut = price_pass.price_cuts[own, memory, action]
                responder.prices[own, memory, action] -= cut
                note_largest(responder, responder.prices[own, memory, action])
                if row_index[own] >= 0:
                    row_prices[row_index[own], memory, action] -= cut
                    note_largest(responder, row_prices[row_index[own], memory, action])
        if is_cut:
            for slot in range(responder.way_values.shape[1]):
                responder.way_values[own, slot] -= price_pass.way_value_falls[own, slot]


@part
def change_price(responder, prices, row_prices, action, change):
    """Add a change to the dual price of an action in a state, and to one row's part of it.

    `prices`, (K,), are those of the state's actions, `row_prices`, (K,), the sum of the changes
    that the row (an information set) has made there.
    """
    row_prices[action] += change
    prices[action] += change
    note_largest(responder, row_prices[action])
    note_largest(responder, prices[action])


@part
def maxima_of_best_actions(graph, responder, price_pass, position, memory, row_prices, columns):
    """Return the most paid of a row's dual prices after the responder's best actions in a state.

    The state, a position with a memory, is before the row, an information set. There are W maxima:
    the most that can be paid of the prices of each action of the row, from the state on. An
    action's reduced cost is by how much it is worth less than the best one; best actions have none.
    `row_prices`, (K,), is the row's part of the state's prices. Also fills
    ``price_pass.reduced_costs``, (K,).
    """
    own = responder.own_index[position]
    slots = graph.action_slot[graph.situation[position]]
    maxima = splat(NO_MAXIMUM, columns)
    for action in range(len(slots)):
        slot = slots[action, memory]
        price = responder.prices[own, memory, action]
        action_value = responder.way_values[own, slot] - price
        reduced_cost = responder.values[position, memory] - action_value
        price_pass.reduced_costs[action] = reduced_cost
        if reduced_cost < VALUE_TIE:
            action_maxima = row_prices[action] + slot_maxima(price_pass, slot, columns)
            maxima = larger(maxima, action_maxima)
    return maxima


@part
def cut_prices(
    responder, price_pass, prices, slots, memory, row_prices, best, idle, cut_share, columns
):
    """Cut prices of actions in a state after which more of a row's prices can be paid than `best`.

    The row is an information set. W maxima are the most that can be paid of the dual prices of each
    action of the row; `best` has those after the state's best actions. A price of another action is
    cut by the largest excess of its maxima, at most by the share `cut_share` of its reduced cost,
    its loss against the best. Returns the maxima over all actions after the cuts. `prices`, (K,),
    are those of the state, `row_prices`, (K,), the row's part of them; `idle`, a vector, is large
    for columns without an action of the row, else 0; ``slots[action, memory]`` is where an action's
    maxima lie.
    """
    maxima = best
    for action in range(len(slots)):
        reduced_cost = price_pass.reduced_costs[action]
        if not reduced_cost < VALUE_TIE:
            slot = slots[action, memory]
            action_maxima = row_prices[action] + slot_maxima(price_pass, slot, columns)
            gain = max(0.0, largest(action_maxima - best - idle))
            cut = min(cut_share * reduced_cost, gain)
            change_price(responder, prices, row_prices, action, -cut)
            maxima = larger(maxima, -cut + action_maxima)
    return maxima


@part
def restore_prices(
    responder, price_pass, prices, slots, memory, row_prices, maxima, idle, restored_share, columns
):
    """Raise prices of actions in a state after which less of all a row's prices can be paid.

    Less than `maxima`: the most that can be paid of the dual prices of each of W actions of the row
    (an information set) after the best of all actions of the state. Then part of the action's
    earlier cut is not needed. The rise is the share `restored_share` of the least difference. Other
    arguments are those of :func:`cut_prices`.
    """
    for action in range(len(slots)):
        slot = slots[action, memory]
        action_maxima = row_prices[action] + slot_maxima(price_pass, slot, columns)
        excess = restored_share * max(0.0, -largest(action_maxima - maxima - idle))
        change_price(responder, prices, row_prices, action, excess)


@part
def revise_price_cuts(
    graph, responder, price_pass, position, memory, row_prices, idle, cut_share, restored_share,
    columns,
):  # fmt: skip
    """Lower or raise the dual prices of actions in a state before a row: steps 2 to 4 of `revise`.

    The state is a position with a memory, the row an information set. Prices before it keep a
    responder from steering towards the row's prices. `row_prices`, (K,), is the row's part of the
    state's prices; `idle`, a vector, is large for columns without an action of the row, else 0.
    Returns the W maxima: the most that can be paid of the prices of each action of the row from the
    state on.
    """
    slots = graph.action_slot[graph.situation[position]]
    prices = responder.prices[responder.own_index[position], memory]
    best = maxima_of_best_actions(
        graph, responder, price_pass, position, memory, row_prices, columns
    )
    maxima = cut_prices(
        responder, price_pass, prices, slots, memory, row_prices, best, idle, cut_share, columns
    )
    restore_prices(
        responder, price_pass, prices, slots, memory, row_prices, maxima, idle, restored_share,
        columns,
    )  # fmt: skip
    return maxima


@kernel
def revise(
    graph, responder, price_pass, scratch, members, row_index, row_prices, idle, cut_share,
    restored_share, columns,
):  # fmt: skip
    """Value all dual prices of one row anew, and move cuts before it so that the bound falls most.

    The row is an information set, its states are positions with a memory. A responder, who knows
    the state, pays the prices of actions there. Cuts lower prices of actions before the row, so
    that the responder does not steer towards it. At each state before the row, the last first,
    where the responder moves:

    1. Choose its best action; the reduced cost of every action is by how much it is worth less.
    2. The maximum of each action of the row is the most that can be paid of its prices from here
       on: the largest over the actions here without a reduced cost.
    3. Of each other action here: if some maximum after it is larger, lower its price by the largest
       difference, but by at most the share `cut_share` of its reduced cost.
    4. If all maxima after an action are smaller, raise its price by the share `restored_share` of
       the least difference: this part of its cut is not needed.
    5. Choose again. However prices move, maxima are no less than those after any action.

    `members`, (m,), are the row's positions, in whose states `state_maxima` has the prices before;
    `row_prices`, (n, H, K), the part of the prices that is this row's, at the ``row_index[own]`` of
    an own position; `idle`, (W,), 0 for actions, larger than any maximum where there is none.
    Written are prices, values, `row_prices` and `state_maxima`. False if a play can meet the row
    twice.
    """
    memories = graph.action_slot.shape[2]
    idle_vector = load(idle, 0, columns)  # subtracted: numbers without an action are never largest
    if find_positions_before_row(graph, responder.own_index, price_pass, members) < 0:
        return False
    for position in members:
        for memory in range(memories):
            if responder.is_reachable[position, memory]:
                choose(graph, responder, position, memory)
    for order_index in range(len(graph.position_order) - 1, -1, -1):
        position = graph.position_order[order_index]
        if price_pass.relation[position] != BEFORE_ROW:
            continue
        own = responder.own_index[position]
        if own < 0:
            fill_maxima_of_others_states(graph, responder, price_pass, position, columns)
            value_others_states(graph, responder, position, scratch)
            continue
        fill_maxima_of_own_ways(graph, responder, price_pass, position, columns)
        value_own_ways(graph, responder, position, scratch.end_values)
        for memory in range(memories):
            if not responder.is_reachable[position, memory]:
                continue
            choose(graph, responder, position, memory)
            maxima = revise_price_cuts(
                graph, responder, price_pass, position, memory, row_prices[row_index[own], memory],
                idle_vector, cut_share, restored_share, columns,
            )  # fmt: skip
            note_largest(responder, largest(maxima))
            note_largest(responder, largest(-1.0 * maxima))
            store(price_pass.state_maxima, first_of_state(graph, position, memory, columns), maxima)
            choose(graph, responder, position, memory)
    return True
