"""One turn from a position of any graph: values backward, reach forward; what a role does to a row.

A *state* is a position and a memory. A *way* is a distribution over the *ends* of a turn, by which
an action is carried out; which one can depend on the memory. A *lane* is a class of memories from
which each end leads to the same memory: ``following[label, lane]``. The *place* ``w * J + lane`` is
the w-th way of a situation in a lane; an action's is ``lists.place[situation, action, memory]``.

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
def row_of(lists, position, me, policies, opponent):
    """Give the action probabilities, (K,), of who moves at a position, against an opponent."""
    row, mover = lists.row[position], lists.player[position]
    if mover == NATURE:
        return lists.fixed[row]
    # (1 + n, R, K), that of `me` first; in self-play there is one policy.
    return policies[0 if mover == me or len(policies) == 1 else 1 + opponent, row]


@part
def way_at(lists, situation, place):
    """Give the number, among all W, of the way of a place of a situation, ``w * J + lane``."""
    return lists.ways[lists.ways_start[situation] + place // lists.following.shape[1]]


@part
def value_ends(lists, position, values, payoff, ends):
    """Fill `ends`, (E * J,): the payoff, (T,), or the value, (C, H), after each end and lane."""
    base, lanes = lists.base[position], lists.following.shape[1]
    for end in range(lists.ends[lists.situation[position]]):
        next_position, first = lists.next[base + end], end * lanes
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
def value_way(lists, way, first_place, width, ends, way_values):
    """Fill the expected values of a way over its ends, in all its lanes, a vector at a time.

    `ends` and `way_values` have `width` numbers for each lane; the way's begin at `first_place`.
    """
    numbers = lists.following.shape[1] * width  # of one end
    low, high = lists.lanes[way, 0] * width, lists.lanes[way, 1] * width
    for lane in range(low, high, len(STEP)):
        expected = splat(0.0, STEP)
        for outcome in range(lists.first[way], lists.first[way + 1]):
            at = lists.end[outcome] * numbers + lane
            expected += lists.chance[outcome] * load(ends, at, STEP)
        store(way_values, first_place + lane, expected)


@part
def value_ways(lists, position, row, all_ways, values, payoff, ends, way_values):
    """Fill values of ways that `row` uses, or `all_ways`, (U * J,), from those of states (C, H)."""
    situation, lanes = lists.situation[position], lists.following.shape[1]
    value_ends(lists, position, values, payoff, ends)
    first = lists.ways_start[situation]
    for entry in range(first, lists.ways_start[situation + 1]):
        way = lists.ways[entry]
        if all_ways or row[lists.action[way]] > 0.0:
            value_way(lists, way, (entry - first) * lanes, 1, ends, way_values)


@part
def mix(lists, position, row, way_values, values):
    """Fill the expected value of each memory at a position, (H,), if it acts by `row`, (K,)."""
    places = lists.place[lists.situation[position]]
    for memory in range(len(values)):
        expected = 0.0
        for action in range(len(row)):
            if row[action] > 0.0:
                expected += row[action] * way_values[places[action, memory]]
        values[memory] = expected


@part
def maximise(lists, position, sign, way_values, values, choice):
    """Fill the best value and action of each memory at a position, (H,); the first on ties.

    With `sign` -1 the least is best: the other player chooses.
    """
    places = lists.place[lists.situation[position]]
    for memory in range(len(values)):
        best = -np.inf
        for action in range(len(places)):
            best = max(best, sign * way_values[places[action, memory]])
        values[memory] = sign * best
        action = 0
        while sign * way_values[places[action, memory]] < best - TIE:
            action += 1
        choice[memory] = action


@part
def average(lists, position, weight, reach, way_values, action_values):
    """Add a position's action values, by `weight` and reach (H,), to (K,); give that reach."""
    places = lists.place[lists.situation[position]]
    total_reach = 0.0
    for memory in range(len(reach)):
        mass = weight * reach[memory]
        if mass > 0.0:
            total_reach += mass
            for action in range(len(action_values)):
                action_values[action] += mass * way_values[places[action, memory]]
    return total_reach


@part
def act_out(lists, position, row, reach, masses):
    """Add the reach of a position's memories, (H,), to that of its places, `masses` (U * J,)."""
    places = lists.place[lists.situation[position]]
    for action in range(len(row)):
        probability = row[action]
        if probability > 0.0:
            for memory in range(len(reach)):
                masses[places[action, memory]] += probability * reach[memory]


@part
def pass_on(lists, position, row, all_ways, state_reach, masses, flows):
    """Send the reach of a position's places, `masses` (U * J,), to the states that follow, (C, H).

    First from ways that `row` uses, or `all_ways`, to ends, `flows` (E * J,), a vector of lanes at
    a time; then from ends that are no payoffs to states. `masses` and `flows` are zeros afterwards.
    """
    situation, base = lists.situation[position], lists.base[position]
    lanes, start = lists.following.shape[1], lists.ways_start[situation]
    for entry in range(start, lists.ways_start[situation + 1]):
        way, first_place = lists.ways[entry], (entry - start) * lanes
        if all_ways or row[lists.action[way]] > 0.0:
            low, high = lists.lanes[way]
            for lane in range(low, high, len(STEP)):
                mass = load(masses, first_place + lane, STEP)
                store(masses, first_place + lane, splat(0.0, STEP))
                for outcome in range(lists.first[way], lists.first[way + 1]):
                    at = lists.end[outcome] * lanes + lane
                    store(flows, at, lists.chance[outcome] * mass + load(flows, at, STEP))
    for end in range(lists.ends[situation]):
        next_position, first = lists.next[base + end], end * lanes
        low, high = lists.end_lanes[end]
        if next_position >= 0:
            next_memory = lists.following[lists.label[base + end]]
            next_reach = state_reach[next_position]
            for lane in range(low, high):
                next_reach[next_memory[lane]] += flows[first + lane]
        for lane in range(low, high):
            flows[first + lane] = 0.0


@part
def send(lists, position, row, reach, state_reach, masses, flows):
    """Send the reach of a position's memories, (H,), acting by `row`, to what follows, (C, H)."""
    act_out(lists, position, row, reach, masses)
    pass_on(lists, position, row, False, state_reach, masses, flows)


@part
def set_row(role, legal, row, action_values, reach, temperature, damping):
    """Change a row, (K,), as a role does, if it is reached; 1 if ASCEND chose another action."""
    for action in range(len(row)):
        if not legal[action]:
            action_values[action] = -np.inf
    if reach > 0.0 and role == ASCEND:
        return take_best(row, action_values, reach)
    if reach > 0.0 and role == SOFTMAX:
        soften(row, action_values, reach, temperature, damping)
    return 0
