"""One turn from a position of any graph: values backward, reach forward; what a role does to a row.

A *state* is a position and a memory. A *way* is a distribution over the *ends* of a turn, by which
an action is carried out; which one can depend on the memory. A *lane* is a class of memories from
which each end leads to the same memory: ``following[label, lane]``. The *slot* ``w * J + lane`` is
the w-th way of a situation in a lane; an action's is ``lists.slot[situation, action, memory]``.

Sizes: C positions, H memories, K actions, S situations, W ways (each of one action), at most U in a
situation, J lanes, padded to whole vectors, E ends, R rows. Values are payoffs to the player whose
pass it is. `lists` are :class:`hogeq.kernels.arrays.Lists`: entries of x are ``start[x]`` to before
``start[x + 1]``; in `next`, -1 - t is payoff t, any other number the position that follows.
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
def probabilities_at(lists, position, me, policies, opponent):
    """Return the action probabilities, (K,), of who moves at a position.

    `policies` (1 + n, R, K) are those of player `me` and of n opponents, of which number `opponent`
    plays; a policy alone plays itself. Nature has probabilities of its own.
    """
    row, mover = lists.row[position], lists.player[position]
    if mover == NATURE:
        return lists.fixed[row]
    return policies[0 if mover == me or len(policies) == 1 else 1 + opponent, row]


@part
def way_at(lists, situation, slot):
    """Return the number, among all W, of the way of a situation that has a slot, w * J + lane."""
    return lists.ways[lists.ways_start[situation] + slot // lists.following.shape[1]]


@part
def value_ends(lists, position, values, payoff, ends):
    """Fill `ends`, (E * J,): the payoff, (T,), or next state's value, (C, H), by end and lane."""
    base = lists.base[position]
    lanes = lists.following.shape[1]
    for end in range(lists.ends[lists.situation[position]]):
        next_position = lists.next[base + end]
        first = end * lanes
        low, high = lists.end_lanes[end]
        if next_position < 0:
            final_payoff = payoff[-1 - next_position]
            for lane in range(low, high):
                ends[first + lane] = final_payoff
        else:
            next_memory = lists.following[lists.label[base + end]]
            next_values = values[next_position]
            for lane in range(low, high):
                ends[first + lane] = next_values[next_memory[lane]]


@part
def value_way(lists, way, first_slot, width, ends, way_values):
    """Fill the expected values of a way over its ends, in all its lanes, a vector at a time.

    `ends` and `way_values` have `width` numbers for each lane; the way's begin at `first_slot`.
    """
    end_size = lists.following.shape[1] * width  # numbers of one end
    low = lists.lanes[way, 0] * width
    high = lists.lanes[way, 1] * width
    for lane in range(low, high, len(STEP)):
        expected = splat(0.0, STEP)
        for outcome in range(lists.first[way], lists.first[way + 1]):
            end_values = load(ends, lists.end[outcome] * end_size + lane, STEP)
            expected += lists.chance[outcome] * end_values
        store(way_values, first_slot + lane, expected)


@part
def value_ways(lists, position, probabilities, all_ways, values, payoff, ends, way_values):
    """Fill the expected values, (U * J,), of the ways to play a turn at a position, by lane.

    They are computed from the values of states, (C, H), and payoffs, (T,); `ends`, (E * J,), is
    scratch. Only ways whose action has a positive probability, (K,), unless `all_ways`.
    """
    situation = lists.situation[position]
    lanes = lists.following.shape[1]
    first_way = lists.ways_start[situation]
    value_ends(lists, position, values, payoff, ends)
    for entry in range(first_way, lists.ways_start[situation + 1]):
        way = lists.ways[entry]
        if all_ways or probabilities[lists.action[way]] > 0.0:
            value_way(lists, way, (entry - first_way) * lanes, 1, ends, way_values)


@part
def mix(lists, position, probabilities, way_values, values):
    """Fill the expected `values`, (H,), of a position's memories under action probabilities, (K,).

    `way_values`, (U * J,), are those of ways by lane.
    """
    slots = lists.slot[lists.situation[position]]
    for memory in range(len(values)):
        expected = 0.0
        for action in range(len(probabilities)):
            if probabilities[action] > 0.0:
                expected += probabilities[action] * way_values[slots[action, memory]]
        values[memory] = expected


@part
def maximise(lists, position, sign, way_values, values, choice):
    """Fill the best value and best action of each memory at a position: `values`, `choice`, (H,).

    With `sign` -1 the least value is best: the other player chooses. Values within `TIE` of the
    best are as good, and the first such action is taken.
    """
    slots = lists.slot[lists.situation[position]]
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
def add_weighted_values(lists, position, weight, reach, way_values, action_values):
    """Add a position's action values, weighted by `weight` and reach, to `action_values`, (K,).

    `reach` (H,) is that of the position's memories. Returns their reach in all, times `weight`.
    """
    slots = lists.slot[lists.situation[position]]
    total_reach = 0.0
    for memory in range(len(reach)):
        weighted_reach = weight * reach[memory]
        if weighted_reach > 0.0:
            total_reach += weighted_reach
            for action in range(len(action_values)):
                action_values[action] += weighted_reach * way_values[slots[action, memory]]
    return total_reach


@part
def act_out(lists, position, probabilities, reach, masses):
    """Add the reach of a position's memories, (H,), to that of ways by lane, `masses` (U * J,)."""
    slots = lists.slot[lists.situation[position]]
    for action in range(len(probabilities)):
        probability = probabilities[action]
        if probability > 0.0:
            for memory in range(len(reach)):
                masses[slots[action, memory]] += probability * reach[memory]


@part
def pass_on(lists, position, probabilities, all_ways, state_reach, masses, flows):
    """Send the reach of a position's ways, `masses` (U * J,), to the states that follow, (C, H).

    1. From ways to ends, `flows` (E * J,), a vector of lanes at a time: ways whose action has a
       positive probability, (K,), or `all_ways`.
    2. From ends to states, unless play is over.

    `masses` and `flows` are zeros afterwards.
    """
    situation, base = lists.situation[position], lists.base[position]
    lanes = lists.following.shape[1]
    first_way = lists.ways_start[situation]
    for entry in range(first_way, lists.ways_start[situation + 1]):
        way = lists.ways[entry]
        first_slot = (entry - first_way) * lanes
        if all_ways or probabilities[lists.action[way]] > 0.0:
            low, high = lists.lanes[way]
            for lane in range(low, high, len(STEP)):
                mass = load(masses, first_slot + lane, STEP)
                store(masses, first_slot + lane, splat(0.0, STEP))
                for outcome in range(lists.first[way], lists.first[way + 1]):
                    first_flow = lists.end[outcome] * lanes + lane
                    flow = load(flows, first_flow, STEP)
                    store(flows, first_flow, lists.chance[outcome] * mass + flow)
    for end in range(lists.ends[situation]):
        next_position = lists.next[base + end]
        first_flow = end * lanes
        low, high = lists.end_lanes[end]
        if next_position >= 0:
            next_memory = lists.following[lists.label[base + end]]
            next_reach = state_reach[next_position]
            for lane in range(low, high):
                next_reach[next_memory[lane]] += flows[first_flow + lane]
        for lane in range(low, high):
            flows[first_flow + lane] = 0.0


@part
def send(lists, position, probabilities, reach, state_reach, masses, flows):
    """Send the reach of a position's memories, (H,), to the states that follow, (C, H).

    They act by `probabilities`, (K,); `masses` and `flows` are scratch, zeros before and after.
    """
    act_out(lists, position, probabilities, reach, masses)
    pass_on(lists, position, probabilities, False, state_reach, masses, flows)


@part
def set_row(role, legal, row, action_values, reach, temperature, damping):
    """Change a policy's row, (K,), as a role does, if it is reached.

    ASCEND takes the best action, SOFTMAX moves towards the softmax; other roles change nothing.
    Values of illegal actions become -inf. Returns 1 if ASCEND chose another action, else 0.
    """
    for action in range(len(row)):
        if not legal[action]:
            action_values[action] = -np.inf
    if reach > 0.0 and role == ASCEND:
        return take_best(row, action_values, reach)
    if reach > 0.0 and role == SOFTMAX:
        soften(row, action_values, reach, temperature, damping)
    return 0
