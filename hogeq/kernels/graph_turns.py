"""One turn from a position of any graph: values backward, reach forward; what a role does to a row.

A *state* is a position and a memory. A *way* is a distribution over the *ends* of a turn, by which
an action is carried out; which one can depend on the memory. A *lane* is a class of memories from
which each end leads to the same memory: ``next_memory[label, lane]``. The *slot* ``w * J + lane``
is the w-th way of a situation in a lane; ``action_slot[situation, action, memory]`` is an action's.

Sizes: C positions, H memories, K actions, S situations, W ways (each of one action), at most U in a
situation, J lanes, padded to whole vectors, E ends, R rows. Values are payoffs to the player whose
pass it is; in `next_position`, -1 - t is payoff t. `graph` is a
:class:`hogeq.kernels.arrays.PassGraph`.

Lanes are taken ``len(STEP)`` at a time, as vectors: :func:`splat` fills one, :func:`load` and
:func:`store` read and write one from an index on.
"""

import numpy as np

from hogeq.kernels import TIE
from hogeq.kernels.arrays import ASCEND, NATURE, SOFTMAX, STEP
from hogeq.kernels.cache import part
from hogeq.kernels.row_roles import soften, take_best
from hogeq.kernels.vectors import load, splat, store


@part
def probabilities_at(graph, position, play):
    """Return the action probabilities, (K,), of who moves at a position.

    `play` is a :class:`hogeq.kernels.arrays.Play`; nature has probabilities of its own.
    """
    row, mover = graph.row[position], graph.player[position]
    if mover == NATURE:
        return graph.nature_policy[row]
    is_own = mover == play.me or len(play.policies) == 1
    return play.policies[0 if is_own else 1 + play.opponent, row]


@part
def positions_of_blocks(graph, first, last):
    """Return the positions of the blocks from `first`, below `last`, (n,), in their order."""
    return graph.position_order[graph.block_start[first] : graph.block_start[last]]


@part
def block_positions(graph, block):
    """Return the positions of a block, (n,)."""
    return positions_of_blocks(graph, block, block + 1)


@part
def num_lanes(graph):
    """Return the number of lanes, J."""
    return graph.next_memory.shape[1]


@part
def ways_of(graph, situation):
    """Return the ways of a situation, (n,), by their numbers among all W."""
    first, last = graph.situation_start[situation], graph.situation_start[situation + 1]
    return graph.situation_ways[first:last]


@part
def way_at(graph, situation, slot):
    """Return the number, among all W, of the way of a situation that has a slot, w * J + lane."""
    first = graph.situation_start[situation]
    return graph.situation_ways[first + slot // num_lanes(graph)]


@part
def outcomes_of(graph, way):
    """Return the range of the outcomes of a way."""
    return range(graph.outcome_start[way], graph.outcome_start[way + 1])


@part
def end_entry(graph, position, end):
    """Return the index, in `next_position` and `end_label`, of an end of a turn at a position."""
    return graph.end_start[position] + end


@part
def value_ends(graph, position, values, payoff, end_values):
    """Fill `end_values`, (E * J,): what each end of a turn at a position is worth, by lane.

    That is the payoff, of `payoff` (T,), or the value of the next state, of `values` (C, H). A lane
    is a class of memories from which an end leads to the same next memory.
    """
    lanes = num_lanes(graph)
    for end in range(graph.num_ends[graph.situation[position]]):
        entry = end_entry(graph, position, end)
        next_position = graph.next_position[entry]
        first = end * lanes
        low, high = graph.end_lanes[end]
        if next_position < 0:
            final_payoff = payoff[-1 - next_position]
            for lane in range(low, high):
                end_values[first + lane] = final_payoff
        else:
            next_memory = graph.next_memory[graph.end_label[entry]]
            next_values = values[next_position]
            for lane in range(low, high):
                end_values[first + lane] = next_values[next_memory[lane]]


@part
def value_way(graph, way, number, width, end_values, way_values):
    """Fill the expected values of a way, a distribution over the ends of a turn.

    By lane: a class of memories that an end leads to the same next memory. `end_values` and
    `way_values` have `width` numbers for each lane, and are read and written a vector at a time.
    The way has a `number` among those of its kind of position, by which `way_values` are laid out.
    """
    end_size = num_lanes(graph) * width  # numbers of one end, and of one way
    first_value = number * end_size
    low = graph.way_lanes[way, 0] * width
    high = graph.way_lanes[way, 1] * width
    for lane in range(low, high, len(STEP)):
        expected = splat(0.0, STEP)
        for outcome in outcomes_of(graph, way):
            value = load(end_values, graph.outcome_end[outcome] * end_size + lane, STEP)
            expected += graph.outcome_chance[outcome] * value
        store(way_values, first_value + lane, expected)


@part
def value_played_ways(graph, position, probabilities, width, end_values, way_values):
    """Fill the expected values of the ways to play a turn at a position, from those of its ends.

    A way is a distribution over ends. Only ways whose action has a positive probability, (K,), are
    valued. `end_values` and `way_values` have `width` numbers for each lane, a class of memories.
    """
    ways = ways_of(graph, graph.situation[position])
    for number in range(len(ways)):
        way = ways[number]
        if probabilities[graph.way_action[way]] > 0.0:
            value_way(graph, way, number, width, end_values, way_values)


@part
def value_ways(graph, position, probabilities, values, payoff, scratch, match):
    """Fill the expected values of the ways to play a turn at a position; return them, (U * J,).

    They are computed from the values of states, (C, H), and payoffs, (T,), by slot, in the
    `scratch` of a match. Only of ways whose action has a positive probability, (K,).
    """
    way_values = scratch.way_values[match]
    value_ends(graph, position, values, payoff, scratch.end_values)
    value_played_ways(graph, position, probabilities, 1, scratch.end_values, way_values)
    return way_values


@part
def average_over_actions(graph, position, probabilities, way_values, values):
    """Fill the expected `values`, (H,), of a position's memories under action probabilities, (K,).

    An action in a memory is worth the entry of `way_values`, (U * J,), at its slot: the expected
    value of the way by which it is played, in the memory's lane.
    """
    slots = graph.action_slot[graph.situation[position]]
    for memory in range(len(values)):
        expected = 0.0
        for action in range(len(probabilities)):
            if probabilities[action] > 0.0:
                expected += probabilities[action] * way_values[slots[action, memory]]
        values[memory] = expected


@part
def maximise(graph, position, sign, way_values, values, choice):
    """Fill the best value and best action of each memory at a position: `values`, `choice`, (H,).

    With `sign` -1 the least value is best: the other player chooses. Values within `TIE` of the
    best are as good, and the first such action is taken. The value of an action in a memory is the
    entry of `way_values`, (U * J,), at its slot: the expected value of the way (a distribution over
    the ends of a turn) by which it is played, in the memory's lane.
    """
    slots = graph.action_slot[graph.situation[position]]
    for memory in range(len(values)):
        best_value = -np.inf
        for action in range(len(slots)):
            best_value = max(best_value, sign * way_values[slots[action, memory]])
        values[memory] = sign * best_value
        action = 0
        while sign * way_values[slots[action, memory]] < best_value - TIE:
            action += 1
        choice[memory] = action


@part
def add_weighted_values(graph, position, weight, reach, way_values, action_values):
    """Add a position's action values, weighted by `weight` and reach, to `action_values`, (K,).

    `reach` (H,) is that of the position's memories. Returns their reach in all, times `weight`. The
    value of an action in a memory is the entry of `way_values`, (U * J,), at its slot: the expected
    value of the way (a distribution over the ends of a turn) by which it is played there.
    """
    slots = graph.action_slot[graph.situation[position]]
    total_reach = 0.0
    for memory in range(len(reach)):
        weighted_reach = weight * reach[memory]
        if weighted_reach > 0.0:
            total_reach += weighted_reach
            for action in range(len(action_values)):
                action_values[action] += weighted_reach * way_values[slots[action, memory]]
    return total_reach


@part
def spread_over_ways(graph, position, probabilities, reach, way_reach):
    """Add the reach of a position's memories, (H,), times action probabilities, to `way_reach`.

    That has an entry for each slot, (U * J,): a way to play (a distribution over the ends of a
    turn) in a lane (what the memory hands on). An action plays, in each memory, by one slot: so
    memories with the same way and lane are added up before their turn is played out.
    """
    slots = graph.action_slot[graph.situation[position]]
    for action in range(len(probabilities)):
        probability = probabilities[action]
        if probability > 0.0:
            for memory in range(len(reach)):
                way_reach[slots[action, memory]] += probability * reach[memory]


@part
def send_to_ends(graph, way, first_slot, way_reach, end_reach):
    """Move the reach of a way to its ends, by their chances; afterwards that of the way is 0.

    A way is a distribution over the ends of a turn. Its reach is by lane (what the memory hands
    on), from `first_slot` on in `way_reach`; that of an end is by lane too, in `end_reach`, (E, J)
    one row after another. Lanes are moved a vector at a time, from the first that the way has.
    """
    low, high = graph.way_lanes[way]
    for lane in range(low, high, len(STEP)):
        reach = load(way_reach, first_slot + lane, STEP)
        store(way_reach, first_slot + lane, splat(0.0, STEP))
        for outcome in outcomes_of(graph, way):
            first = graph.outcome_end[outcome] * num_lanes(graph) + lane
            reach_so_far = load(end_reach, first, STEP)
            store(end_reach, first, graph.outcome_chance[outcome] * reach + reach_so_far)


@part
def send_to_states(graph, position, end_reach, state_reach):
    """Move the reach of the ends of a position's turn to the states that follow, (C, H).

    A state is a position and a memory. `end_reach` is by end and lane (what the memory hands on),
    (E, J) one row after another. The end decides the next position, an entry of `next_position`
    below 0 if play is over; the end's label and the lane decide the next memory. Reach with which
    play is over is dropped; afterwards `end_reach` is 0.
    """
    for end in range(graph.num_ends[graph.situation[position]]):
        entry = end_entry(graph, position, end)
        next_position = graph.next_position[entry]
        first = end * num_lanes(graph)
        low, high = graph.end_lanes[end]
        if next_position >= 0:
            next_memory = graph.next_memory[graph.end_label[entry]]
            next_reach = state_reach[next_position]
            for lane in range(low, high):
                next_reach[next_memory[lane]] += end_reach[first + lane]
        for lane in range(low, high):
            end_reach[first + lane] = 0.0


@part
def send_ways_on(graph, position, probabilities, state_reach, scratch):
    """Send the reach of a position's ways to the states that follow, (C, H).

    A way is a distribution over the ends of a turn; each end leads to a state, or play is over.

    1. From ways, ``scratch.way_reach``, to ends: if their action has a positive probability, (K,).
    2. From ends, ``scratch.end_reach``, to states, unless play is over.

    The reach of ways and that of ends are zeros afterwards.
    """
    ways = ways_of(graph, graph.situation[position])
    for number in range(len(ways)):
        way = ways[number]
        if probabilities[graph.way_action[way]] > 0.0:
            first_slot = number * num_lanes(graph)
            send_to_ends(graph, way, first_slot, scratch.way_reach, scratch.end_reach)
    send_to_states(graph, position, scratch.end_reach, state_reach)


@part
def send_on(graph, position, probabilities, reach, state_reach, scratch):
    """Send the reach of a position's memories, (H,), to the states that follow, (C, H).

    They act by `probabilities`, (K,).
    """
    spread_over_ways(graph, position, probabilities, reach, scratch.way_reach)
    send_ways_on(graph, position, probabilities, state_reach, scratch)


@part
def exclude_illegal(graph, position, action_values):
    """Make the values, (K,), of actions that do not exist at a position -inf."""
    is_legal = graph.is_legal[graph.situation[position]]
    for action in range(len(action_values)):
        if not is_legal[action]:
            action_values[action] = -np.inf


@part
def set_row(rule, row, action_values, reach):
    """Change a policy's row, (K,), as a role does, if it is reached.

    ASCEND takes the best action, SOFTMAX moves towards the softmax; other roles change nothing.
    Returns 1 if ASCEND chose another action, else 0.
    """
    if reach > 0.0 and rule.role == ASCEND:
        return take_best(row, action_values, reach)
    if reach > 0.0 and rule.role == SOFTMAX:
        soften(row, action_values, reach, rule.temperature, rule.damping)
    return 0
