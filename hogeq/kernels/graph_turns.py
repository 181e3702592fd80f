"""One turn from a position of any graph: values backward, reach forward; what a role does to a row.

Sizes: C positions, H memories, K actions, S situations, W ways (each of one action), at most U in a
situation, J lanes, padded to whole vectors, E ends, R rows. Values are payoffs to the player whose
pass it is.
"""

import math

import numpy as np

from hogeq.kernels import LEAST_WEIGHT, TIE
from hogeq.kernels.arrays import ASCEND, NATURE, SOFTMAX, STEP
from hogeq.kernels.cache import part
from hogeq.kernels.vectors import load, splat, store


@part
def row_of(lists, position, me, policies, opponent):
    """Probabilities by which who moves at a position acts, against one of the opponents."""
    row, mover = lists.row[position], lists.player[position]
    if mover == NATURE:
        return lists.fixed[row]
    # In self-play there is one policy.
    return policies[0 if mover == me or len(policies) == 1 else 1 + opponent, row]


@part
def way_at(lists, situation, place):
    """Way of a place of a situation."""
    return lists.ways[lists.ways_start[situation] + place // lists.following.shape[1]]


@part
def value_ends(lists, position, values, payoff, ends):
    """Value everything in which a turn from a position can end, (E * J,)."""
    base, lanes = lists.base[position], lists.following.shape[1]
    for end in range(lists.ends[lists.situation[position]]):
        there, at = lists.next[base + end], end * lanes
        low, high = lists.end_lanes[end]
        if there < 0:
            paid = payoff[-1 - there]
            for lane in range(low, high):
                ends[at + lane] = paid
        else:
            learned, after = lists.following[lists.label[base + end]], values[there]
            for lane in range(low, high):
                ends[at + lane] = after[learned[lane]]


@part
def value_way(lists, way, at, width, ends, rolled):
    """Value a way by its ends, from `rolled[at]` on; there are `width` numbers side by side."""
    lanes = lists.following.shape[1] * width
    for lane in range(lists.lanes[way, 0] * width, lists.lanes[way, 1] * width, len(STEP)):
        total = splat(0.0, STEP)
        for x in range(lists.first[way], lists.first[way + 1]):
            total += lists.chance[x] * load(ends, lists.end[x] * lanes + lane, STEP)
        store(rolled, at + lane, total)


@part
def value_ways(lists, position, row, everything, values, payoff, ends, rolled):
    """Value the ways that a row uses at a position, or all that it has, (U * J,)."""
    situation, lanes = lists.situation[position], lists.following.shape[1]
    value_ends(lists, position, values, payoff, ends)
    first = lists.ways_start[situation]
    for x in range(first, lists.ways_start[situation + 1]):
        way = lists.ways[x]
        if everything or row[lists.action[way]] > 0.0:
            value_way(lists, way, (x - first) * lanes, 1, ends, rolled)


@part
def mix(lists, position, row, rolled, values):
    """Value of a position's memories whose actions are drawn from a row."""
    places = lists.place[lists.situation[position]]
    for memory in range(len(values)):
        value = 0.0
        for action in range(len(row)):
            if row[action] > 0.0:
                value += row[action] * rolled[places[action, memory]]
        values[memory] = value


@part
def maximise(lists, position, sign, rolled, values, choice):
    """Value of a position's memories, each taking its best action, the first on ties."""
    places = lists.place[lists.situation[position]]
    for memory in range(len(values)):
        best = -np.inf
        for action in range(len(places)):
            best = max(best, sign * rolled[places[action, memory]])
        values[memory] = sign * best
        action = 0
        while sign * rolled[places[action, memory]] < best - TIE:
            action += 1
        choice[memory] = action


@part
def average(lists, position, weight, reach, rolled, found):
    """Add the values of a position's actions, weighted by reach; returns its reach."""
    places = lists.place[lists.situation[position]]
    here = 0.0
    for memory in range(len(reach)):
        mass = weight * reach[memory]
        if mass > 0.0:
            here += mass
            for action in range(len(found)):
                found[action] += mass * rolled[places[action, memory]]
    return here


@part
def act_out(lists, position, row, reach, masses):
    """Add the reach of a position's memories to that of their ways to play, (U * J,)."""
    places = lists.place[lists.situation[position]]
    for action in range(len(row)):
        weight = row[action]
        if weight > 0.0:
            for memory in range(len(reach)):
                masses[places[action, memory]] += weight * reach[memory]


@part
def pass_on(lists, position, row, everything, every, masses, flows):
    """Send the reach of the ways that a row uses, or of all, to states that follow."""
    situation, base = lists.situation[position], lists.base[position]
    lanes, start = lists.following.shape[1], lists.ways_start[situation]
    for x in range(start, lists.ways_start[situation + 1]):
        way, first = lists.ways[x], (x - start) * lanes
        if everything or row[lists.action[way]] > 0.0:
            low, high = lists.lanes[way]
            for lane in range(low, high, len(STEP)):
                mass = load(masses, first + lane, STEP)
                store(masses, first + lane, splat(0.0, STEP))
                for y in range(lists.first[way], lists.first[way + 1]):
                    at = lists.end[y] * lanes + lane
                    store(flows, at, lists.chance[y] * mass + load(flows, at, STEP))
    for end in range(lists.ends[situation]):
        there, at = lists.next[base + end], end * lanes
        low, high = lists.end_lanes[end]
        if there >= 0:
            learned, after = lists.following[lists.label[base + end]], every[there]
            for lane in range(low, high):
                after[learned[lane]] += flows[at + lane]
        for lane in range(low, high):
            flows[at + lane] = 0.0


@part
def send(lists, position, row, reach, every, masses, flows):
    """Send the reach of a position's memories to states that follow: the transpose of values."""
    act_out(lists, position, row, reach, masses)
    pass_on(lists, position, row, False, every, masses, flows)


@part
def take_best(row, found, here):
    """Put all probability on the best action; keep the present one on a tie. 1 if it changed."""
    best = -np.inf
    for action in range(len(row)):
        best = max(best, found[action])
    chosen = -1
    for action in range(len(row)):
        if found[action] >= best - TIE * here and (chosen < 0 or row[action] == 1.0):
            chosen = action
    changed = 1 if row[chosen] != 1.0 else 0
    for action in range(len(row)):
        row[action] = 1.0 if action == chosen else 0.0
    return changed


@part
def soften(row, found, here, temperature, damping):
    """Move a row part of the way to the softmax of its values, given arrival."""
    best = -np.inf
    for action in range(len(row)):
        best = max(best, found[action])
    weight = max(here * temperature, LEAST_WEIGHT)
    total = 0.0
    for action in range(len(row)):
        found[action] = math.exp((found[action] - best) / weight)
        total += found[action]
    for action in range(len(row)):
        row[action] += damping * (found[action] / total - row[action])


@part
def set_row(role, legal, row, found, here, temperature, damping):
    """Change a row as a role does; 1 if ASCEND chose another action. No action is worth -inf."""
    for action in range(len(row)):
        if not legal[action]:
            found[action] = -np.inf
    if here > 0.0 and role == ASCEND:
        return take_best(row, found, here)
    if here > 0.0 and role == SOFTMAX:
        soften(row, found, here, temperature, damping)
    return 0
