"""Blocks of positions that lead to each other, for the passes of :mod:`hogeq.kernels.graph_passes`.

Under given rows a block is a Markov chain on its states, which is left for values that are known. A
play that never leaves pays `endless`.

A *small* block is solved by elimination, state by state (Grassmann, Taksar and Heyman 1985): all
numbers but payoffs are sums and products of probabilities, nothing is subtracted, and the
probability to leave is added up by itself; so no digit is lost however long play stays. Best
actions are found by policy iteration, which begins with those that stay most: an action takes the
place of another only if it is worth more, so that play stays for ever where that is best.

A *large* block is iterated, from `endless` on, until no value changes. How far that is from the
fixed point: let r be the largest change of the last round, and u a bound on the number of turns in
the block, by whatever actions can be chosen. A round values states in place, so one more would
change no value by more than r, and no value is off by more than r u. If a round takes numbers u'
to u = 1 + P u, with P the chances to stay and u taken for u' as soon as it is there, and raises
none by more than d < 1, then u >= (1 - d) + P u for all, and u / (1 - d) bounds the turns.

There is a kernel for each thing that is done to blocks, so that a command compiles no more than it
needs: :func:`solve` and :func:`iterate` value them, :func:`choose` finds better actions,
:func:`settle` sets rows, :func:`visit` sends reach through them.
"""

import numpy as np

from hogeq.kernels import TIE
from hogeq.kernels.arrays import (
    ASCEND,
    COUNTERFACTUAL,
    IMPROVE,
    LEAVE,
    NO_CHOICE,
    SOFTMAX,
    STAY,
)
from hogeq.kernels.cache import kernel, part, routine
from hogeq.kernels.graph_turns import (
    average,
    maximise,
    mix,
    row_of,
    send,
    set_row,
    value_ways,
    way_at,
)

SETTLED = 3e-16  # share of the largest payoff, or of visits, that is nothing but rounding
MOST_ROUNDS = 100_000  # of an iteration


# --- a small block ------------------------------------------------------------------------------


@routine
def link(lists, loop, me, policies, match, positions, choice, values, payoff):
    """Write the chain of a small block: where states lead, and what they gain by leaving."""
    memories, lanes = values.shape[1], lists.following.shape[1]
    count, home = len(positions) * memories, loop.block[positions[0]]
    for state in range(count):
        loop.gain[state] = loop.leave[state] = 0.0
        for other in range(count):
            loop.matrix[state, other] = 0.0
    for position in positions:
        situation, base = lists.situation[position], lists.base[position]
        places = lists.place[situation]
        row = row_of(lists, position, me, policies, match)
        for memory in range(memories):
            state = loop.member[position] * memories + memory
            chosen = choice[position, memory]
            for action in range(len(row)):
                weight = row[action]
                if chosen != NO_CHOICE:
                    weight = 1.0 if action == chosen else 0.0
                if weight == 0.0:
                    continue
                lane = places[action, memory] % lanes
                way = way_at(lists, situation, places[action, memory])
                for x in range(lists.first[way], lists.first[way + 1]):
                    share, end = weight * lists.chance[x], base + lists.end[x]
                    there = lists.next[end]
                    if there < 0:
                        loop.gain[state] += share * payoff[-1 - there]
                        loop.leave[state] += share
                        continue
                    after = lists.following[lists.label[end], lane]
                    if loop.block[there] == home:
                        loop.matrix[state, loop.member[there] * memories + after] += share
                    else:
                        loop.gain[state] += share * values[there, after]
                        loop.leave[state] += share
    return count


@routine
def eliminate(loop, count):
    """Eliminate the states of a chain, the last first; those of which play never leaves end it."""
    matrix, gain, leave = loop.matrix, loop.gain, loop.leave
    for last in range(count - 1, -1, -1):
        out = leave[last]
        for state in range(last):
            out += matrix[last, state]
        if out == 0.0:
            gain[last], leave[last], out = loop.endless, 1.0, 1.0
        loop.pivot[last] = out
        gain[last], leave[last] = gain[last] / out, leave[last] / out
        for state in range(last):
            matrix[last, state] /= out
        for source in range(last):
            share = matrix[source, last]
            if share > 0.0:
                for state in range(last):
                    matrix[source, state] += share * matrix[last, state]
                gain[source] += share * gain[last]
                leave[source] += share * leave[last]


@kernel
def solve(lists, loop, first, last, me, policies, match, choice, values, payoff):
    """Value the states of small blocks, in place."""
    memories = values.shape[1]
    for block in range(last - 1, first - 1, -1):
        positions = lists.order[lists.start[block] : lists.start[block + 1]]
        count = link(lists, loop, me, policies, match, positions, choice, values, payoff)
        eliminate(loop, count)
        for state in range(count):
            for earlier in range(state):
                loop.gain[state] += loop.matrix[state, earlier] * loop.gain[earlier]
            values[positions[state // memories], state % memories] = loop.gain[state]


# --- a large block ------------------------------------------------------------------------------


@routine
def a_round(lists, loop, me, policies, match, positions, choice, values, payoff, add, scratch):
    """Value all states of a block once, and `add` to each; returns the largest change.

    With 0 to add, states that choose do what is best for who moves; else what is worth most, and
    the change has a sign.
    """
    largest, fresh, out = -np.inf, loop.fresh, scratch.rolled[0]
    for member in range(len(positions) - 1, -1, -1):
        position = positions[member]
        row, chooses = (
            row_of(lists, position, me, policies, match),
            choice[position, 0] != NO_CHOICE,
        )
        value_ways(lists, position, row, chooses, values, payoff, scratch.ends, out)
        if chooses:
            sign = 1.0 if add > 0.0 or lists.player[position] == me else -1.0
            maximise(lists, position, sign, out, fresh, choice[position])
        else:
            mix(lists, position, row, out, fresh)
        for memory in range(len(fresh)):
            change = fresh[memory] + add - values[position, memory]
            largest = max(largest, change if add > 0.0 else abs(change))
            values[position, memory] = fresh[memory] + add
    return largest


@kernel
def iterate(lists, loop, block, me, policies, match, choice, values, payoff, bounds, scratch):
    """Value a large block by iteration; add a bound on what is missed to `scratch.error`."""
    positions = lists.order[lists.start[block] : lists.start[block + 1]]
    for position in positions:
        values[position] = loop.endless
    change, rounds, most = np.inf, 0, MOST_ROUNDS
    while change > 0.0 and rounds < most:
        rounds += 1
        if change <= SETTLED * loop.size and most == MOST_ROUNDS:
            most = 2 * rounds  # the rest is rounding, which may go round in a circle
        change = a_round(
            lists, loop, me, policies, match, positions, choice, values, payoff, 0.0, scratch
        )
    if not bounds:
        return
    turns, short, rounds = loop.turns, np.inf, 0
    while short > 0.5 and rounds < MOST_ROUNDS:
        rounds += 1
        short = a_round(
            lists, loop, me, policies, match, positions, choice, turns, loop.nothing, 1.0, scratch
        )
    most_turns = 0.0
    for position in positions:
        for memory in range(turns.shape[1]):
            most_turns = max(most_turns, turns[position, memory])
            turns[position, memory] = 0.0
    missed = max(change, SETTLED * loop.size)
    scratch.error[0] += missed * most_turns / (1.0 - max(short, 0.0)) if short < 1.0 else np.inf


# --- best actions -------------------------------------------------------------------------------


@part
def stay_of(lists, loop, position, memory, action):
    """Probability that an action stays in the block."""
    situation, stays = lists.situation[position], 0.0
    way = way_at(lists, situation, lists.place[situation, action, memory])
    for x in range(lists.first[way], lists.first[way + 1]):
        there = lists.next[lists.base[position] + lists.end[x]]
        if there >= 0 and loop.block[there] == loop.block[position]:
            stays += lists.chance[x]
    return stays


@kernel
def choose(lists, loop, block, me, whose, aim, choice, values, payoff, scratch):
    """Choose actions in the states of a block in which one of the players moves.

    The aim is to STAY: take the action that stays in the block most. Or to IMPROVE: take the best
    action where it is worth more than the present one. Or to LEAVE: take the first of the best, of
    those that do not stay for certain if there are any; to stay is worth as much as what follows,
    be it one's own leaving a turn later. Returns whether an action was improved.
    """
    out, changed, sign = scratch.rolled[0], False, 1.0 if whose == me else -1.0
    for place in range(lists.start[block], lists.start[block + 1]):
        position = lists.order[place]
        if lists.player[position] != whose:
            continue
        places = lists.place[lists.situation[position]]
        row = values[position]  # not looked at
        value_ways(lists, position, row, True, values, payoff, scratch.ends, out)
        for memory in range(values.shape[1]):
            now, best, surely = choice[position, memory], -np.inf, True
            for action in range(len(places)):
                worth = sign * out[places[action, memory]]
                best = max(best, worth)
            most = -1.0
            for action in range(len(places)):
                worth = sign * out[places[action, memory]]
                if aim == IMPROVE:
                    if worth == best and out[places[now, memory]] * sign < best - TIE * loop.size:
                        now, changed = action, True
                    continue
                stays = stay_of(lists, loop, position, memory, action)
                if aim == STAY and stays > most:
                    most, now = stays, action
                if aim == LEAVE and worth >= best - TIE * loop.size:
                    if most < 0.0 or (surely and stays < 1.0):
                        now, surely = action, stays >= 1.0
                    most = 0.0
            choice[position, memory] = now
    return changed


# --- rows ---------------------------------------------------------------------------------------


@part
def value_row(lists, me, number, positions, weights, payoff, reach, values, found, scratch):
    """Add up the values of a row's actions in a block, weighted by reach; returns its reach."""
    here, out = 0.0, scratch.rolled[0]
    found[:] = 0.0
    for position in positions:
        if lists.player[position] == me and lists.row[position] == number:
            for match in range(len(weights)):
                share, worth = weights[match], values[match]
                value_ways(lists, position, found, True, worth, payoff, scratch.ends, out)
                here += average(lists, position, share, reach[match, position], out, found)
    return here


@kernel
def settle(lists, loop, first, last, how, large, *arrays):
    """Value blocks, with rows as the role sets them.

    `large` is None if they are small; the other arguments are those of
    :func:`hogeq.kernels.graph_passes.act`.

    ASCEND and SOFTMAX take the rows of a block one after the other and value it anew after each.
    Where a row has one state, against one opponent, ASCEND is policy iteration, and every change
    counts. Else a row can act in several states, whose shares a change moves, and the action that
    the slope favours can lose: so a change is kept only if it wins, and in one pass a block changes
    one row only, since the reach of its other rows then is out of date. What a change wins is the
    reach before it, times the difference of the rows, times the values after it.
    """
    policies, weights, payoff, reach, values, filled, scratch = arrays
    role, temperature, damping, me, _, _ = how
    averages, row_reach = filled
    bounds, before = role == COUNTERFACTUAL, loop.before
    for block in range(last - 1, first - 1, -1):
        positions = lists.order[lists.start[block] : lists.start[block + 1]]
        several = values.shape[2] > 1 or len(weights) > 1
        for position in positions:
            several = several or (lists.player[position] == me and not loop.leads[position])
        adapts, checks, moved, member, is_stale = not bounds, False, False, 0, True
        while is_stale or member < len(positions):
            for match in range(len(weights) if is_stale else 0):
                out, rows = values[match], loop.no_choice
                if large is None:
                    stop = block + 1
                    solve(lists, loop, block, stop, me, policies, match, rows, out, payoff)
                else:
                    iterate(
                        lists, loop, block, me, policies, match, rows, out, payoff, bounds, scratch
                    )
            is_stale = False
            if member == len(positions):
                break
            position = positions[member]
            if lists.player[position] != me or not loop.leads[position]:
                member += 1
            else:
                number = lists.row[position]
                row, found = policies[0, number], averages[number]
                here = value_row(
                    lists, me, number, positions, weights, payoff, reach, values, found, scratch
                )
                row_reach[number] = here
                if checks:
                    gain = 0.0
                    for action in range(len(row)):
                        gain += (row[action] - before[action]) * found[action]
                    checks, adapts = False, gain <= 0.0
                    for action in range(len(row)):
                        row[action] = before[action] if adapts else row[action]
                    is_stale = adapts
                else:
                    for action in range(len(row)):
                        before[action] = row[action]
                    legal = lists.legal[lists.situation[position]]
                    its_role = role if adapts else COUNTERFACTUAL
                    changed = set_row(its_role, legal, row, found, here, temperature, damping) > 0
                    moved = moved or changed
                    checks = changed and several
                    is_stale = adapts and (changed or role == SOFTMAX)
                member += 0 if checks else 1
            if member == len(positions) and role == ASCEND and moved and not several:
                member, moved = 0, False


# --- reach --------------------------------------------------------------------------------------


@part
def count_visits(lists, loop, me, policies, positions, reach):
    """Count the visits of states of a small block, in `loop.gain`, by the flow into them."""
    memories, visits = reach.shape[1], loop.gain
    count = link(lists, loop, me, policies, 0, positions, loop.no_choice, reach, loop.nothing)
    eliminate(loop, count)
    for state in range(count):
        visits[state] = reach[positions[state // memories], state % memories]
    for last in range(count - 1, -1, -1):
        for state in range(last):
            visits[state] += visits[last] * loop.matrix[last, state]
    for state in range(count):
        for earlier in range(state):
            visits[state] += visits[earlier] * loop.matrix[earlier, state]
        visits[state] /= loop.pivot[state]


@kernel
def visit(lists, loop, first, last, me, policies, reach, row_reach, scratch):
    """Turn the flow into the states of blocks into the expected visits, and send them on.

    A play that never leaves is followed to where that is certain, and no further.
    """
    memories, masses, turns = reach.shape[1], loop.fresh, loop.turns
    for block in range(first, last):
        positions = lists.order[lists.start[block] : lists.start[block + 1]]
        small = len(positions) * memories <= len(loop.gain)
        if small:
            count_visits(lists, loop, me, policies, positions, reach)
        for position in positions:
            for memory in range(memories):
                turns[position, memory] = reach[position, memory]
                reach[position, memory] = 0.0
        # Masses wait in `turns`, where those that leave the block are collected, too.
        grows, rounds = True, 0
        while grows and rounds < (1 if small else MOST_ROUNDS):
            grows, rounds = False, rounds + 1
            for position in positions:
                here = 0.0
                for memory in range(memories):
                    mass = turns[position, memory]
                    if small:  # the visits are known, and what comes back is among them
                        mass = loop.gain[loop.member[position] * memories + memory]
                    reach[position, memory] += mass
                    turns[position, memory] = 0.0
                    masses[memory] = mass if mass > SETTLED * reach[position, memory] else 0.0
                    here += masses[memory]
                if here > 0.0:
                    grows = True
                    row = row_of(lists, position, me, policies, 0)
                    send(lists, position, row, masses, turns, scratch.masses, scratch.flows)
        for position in positions:
            for memory in range(memories):
                if lists.player[position] == me:
                    row_reach[lists.row[position]] += reach[position, memory]
            base = lists.base[position]
            for end in range(lists.ends[lists.situation[position]]):
                there = lists.next[base + end]
                if there >= 0:
                    for memory in range(memories):
                        if loop.block[there] != block:
                            reach[there, memory] += turns[there, memory]
                        turns[there, memory] = 0.0
