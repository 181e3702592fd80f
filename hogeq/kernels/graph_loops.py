"""Blocks of positions that lead to each other, for the passes of :mod:`hogeq.kernels.graph_passes`.

Under given rows a block is a Markov chain on its states, which is left for values that are known. A
play that never leaves pays `endless`.

A *small* block is solved by elimination, state by state (Grassmann, Taksar and Heyman 1985): all
numbers but payoffs are sums and products of probabilities, nothing is subtracted, and the
probability to leave is added up by itself; so no digit is lost however long play stays. Best
actions are found by policy iteration, which begins with those that stay most: an action takes the
place of another only if it is worth more, so that play stays for ever where that is best.

A *large* block is iterated, from `endless` on, until no value changes. How far that is from the
fixed point: let r be the largest change of one more round, and u a bound on the number of turns in
the block, by whatever actions can be chosen; then no value is off by more than r u. If numbers u
satisfy u >= (1 - d) + P u for some d < 1, with P the chances to stay, then u / (1 - d) is one.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hogeq.kernels import TIE
from hogeq.kernels.cache import part
from hogeq.kernels.graph_turns import (
    NATURE,
    average,
    maximise,
    mix,
    row_of,
    send,
    set_row,
    value_ways,
)
from hogeq.kernels.recurrence import ASCEND, COUNTERFACTUAL, EVALUATE, FULL_MEMORY, SOFTMAX

SETTLED = 3e-16  # share of the largest payoff, or of visits, that is nothing but rounding
MOST_ROUNDS = 100_000  # of an iteration
MOST_DENSE = 256  # states of a small block

# Called, not written into their callers: what is long stands by itself, and is compiled faster.
routine = njit(error_model="numpy", _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)


class Loop(NamedTuple):
    """What blocks need, and scratch: of m states of the largest small one."""

    block: NDArray[np.int64]  # (C,) block of a position that recurs, -1 elsewhere
    member: NDArray[np.int64]  # (C,) its number in the block
    leads: NDArray[np.uint8]  # (C,) 1 for the first position of a row in a block
    endless: float
    size: float  # of the largest payoff
    matrix: NDArray[np.float64]  # (m, m) chances to come from one state to another
    gain: NDArray[np.float64]  # (m,) payoff by leaving; then values
    leave: NDArray[np.float64]  # (m,) probability to leave
    pivot: NDArray[np.float64]  # (m,)
    before: NDArray[np.float64]  # (K,) a row
    turns: NDArray[np.float64]  # (C, H) bound on the turns in a block, zeros elsewhere
    done: NDArray[np.float64]  # (C, H) visits that are sent on
    nothing: NDArray[np.float64]  # (T,) zeros
    no_choice: NDArray[np.int8]  # (0, 0)


@routine
def value_turn(lists, position, row, everything, values, payoff, ends, rolled):
    """Value the ways at a position; see :func:`hogeq.kernels.graph_turns.value_ways`."""
    value_ways(lists, position, row, everything, values, payoff, ends, rolled)


@part
def weight_of(lists, position, memory, row, best, choice, action):
    """Probability of an action in a state: by its row, or 1 for the choice."""
    if best:
        return 1.0 if choice[position, memory] == action else 0.0
    return row[action]


@routine
def link(lists, me, sole, searchers, policies, pair, positions, choice, values, payoff, loop):
    """Write the chain of a small block: where states lead, and what they gain by leaving.

    `searchers` choose their actions: none, player `me`, or both. With `sole` states of player 1
    are those of the mirror.
    """
    memories = values.shape[1]
    count = len(positions) * memories
    home = loop.block[positions[0]]
    for state in range(count):
        loop.gain[state] = loop.leave[state] = 0.0
        for other in range(count):
            loop.matrix[state, other] = 0.0
    for position in positions:
        mover, places = lists.player[position], lists.place[lists.situation[position]]
        if sole and mover == 1:
            continue
        row = row_of(lists, position, me, policies, pair)
        best = mover != NATURE and searchers > (0 if mover == me else 1)
        lanes, base = lists.following.shape[1], lists.base[position]
        for memory in range(memories):
            state = loop.member[position] * memories + memory
            for action in range(len(row)):
                weight = weight_of(lists, position, memory, row, best, choice, action)
                if weight == 0.0:
                    continue
                way, lane = places[action, memory] // lanes, places[action, memory] % lanes
                for x in range(lists.first[way], lists.first[way + 1]):
                    share, end = weight * lists.chance[x], base + lists.end[x]
                    there = lists.next[end]
                    if there < 0:
                        loop.gain[state] += share * payoff[-1 - there]
                        loop.leave[state] += share
                        continue
                    if sole and lists.player[there] == 1:
                        there = lists.mirror[there]
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


@routine
def evaluate_small(lists, me, searchers, policies, pair, positions, choice, values, payoff, loop):
    """Value the states of a small block, in place."""
    memories = values.shape[1]
    count = link(
        lists, me, False, searchers, policies, pair, positions, choice, values, payoff, loop
    )
    eliminate(loop, count)
    for state in range(count):
        for earlier in range(state):
            loop.gain[state] += loop.matrix[state, earlier] * loop.gain[earlier]
        values[positions[state // memories], state % memories] = loop.gain[state]


@routine
def stay_of(lists, loop, position, memory, action):
    """Probability that an action stays in the block."""
    place, stays = lists.place[lists.situation[position], action, memory], 0.0
    way = place // lists.following.shape[1]
    for x in range(lists.first[way], lists.first[way + 1]):
        there = lists.next[lists.base[position] + lists.end[x]]
        if there >= 0 and loop.block[there] == loop.block[position]:
            stays += lists.chance[x]
    return stays


@part
def searches(lists, position, me, searchers):
    """Whether who moves at a position chooses the best actions."""
    mover = lists.player[position]
    return mover != NATURE and searchers > (0 if mover == me else 1)


@routine
def improve(lists, me, whose, positions, choice, values, payoff, scratch, loop):
    """Give a player's states better actions where there are any; returns whether there were."""
    out, changed = scratch.rolled[0], False
    for position in positions:
        if lists.player[position] != whose:
            continue
        places = lists.place[lists.situation[position]]
        row = values[position]  # not looked at
        value_turn(lists, position, row, True, values, payoff, scratch.ends, out)
        sign = 1.0 if whose == me else -1.0
        for memory in range(values.shape[1]):
            best = sign * out[places[choice[position, memory], memory]]
            for action in range(len(places)):
                worth = sign * out[places[action, memory]]
                if worth > best + TIE * loop.size:
                    best, changed = worth, True
                    choice[position, memory] = action
    return changed


@routine
def best_small(lists, me, searchers, policies, pair, arrays, scratch, loop):
    """Solve a small block in which players choose their actions, by policy iteration."""
    positions, choice, values, payoff = arrays
    for position in positions:
        for memory in range(values.shape[1] if searches(lists, position, me, searchers) else 0):
            most = -1.0
            for action in range(lists.place.shape[1]):
                stays = stay_of(lists, loop, position, memory, action)
                if stays > most:
                    most, choice[position, memory] = stays, action
    improved = True
    while improved:
        answers = True
        while answers:
            evaluate_small(
                lists, me, searchers, policies, pair, positions, choice, values, payoff, loop
            )
            answers = searchers > 1 and improve(
                lists, me, 1 - me, positions, choice, values, payoff, scratch, loop
            )
        improved = improve(lists, me, me, positions, choice, values, payoff, scratch, loop)


@routine
def leave_on_ties(lists, me, searchers, arrays, scratch, loop):
    """Choose the first of the best actions, of those that do not stay for certain if there are any.

    To stay is worth as much as what follows, be it one's own leaving a turn later.
    """
    positions, choice, values, payoff = arrays
    out = scratch.rolled[0]
    for position in positions:
        if not searches(lists, position, me, searchers):
            continue
        places = lists.place[lists.situation[position]]
        row, sign = values[position], 1.0 if lists.player[position] == me else -1.0
        value_turn(lists, position, row, True, values, payoff, scratch.ends, out)
        for memory in range(values.shape[1]):
            best, first = -np.inf, -1
            for action in range(len(places)):
                best = max(best, sign * out[places[action, memory]])
            for action in range(len(places) - 1, -1, -1):
                if sign * out[places[action, memory]] >= best - TIE * loop.size:
                    is_sure = stay_of(lists, loop, position, memory, action) >= 1.0
                    if first < 0 or not is_sure:
                        first = action
            choice[position, memory] = first


# --- large blocks -----------------------------------------------------------------------------


@routine
def a_round(lists, me, searchers, policies, pair, arrays, add, keep, scratch, loop):
    """Value all states of a block once, and `add` to each; returns the largest change, signed.

    With `keep` values stay as they are.
    """
    positions, choice, values, payoff = arrays
    largest = -np.inf
    for member in range(len(positions) - 1, -1, -1):
        position = positions[member]
        row, out = row_of(lists, position, me, policies, pair), scratch.rolled[0]
        best = searches(lists, position, me, searchers)
        value_turn(lists, position, row, best, values, payoff, scratch.ends, out)
        fresh = loop.done[position]  # scratch here
        if best:
            sign = 1.0 if add > 0.0 or lists.player[position] == me else -1.0
            maximise(lists, position, sign, out, fresh, choice[position])
        else:
            mix(lists, position, row, out, fresh)
        for memory in range(len(fresh)):
            change = fresh[memory] + add - values[position, memory]
            largest = max(largest, change if add > 0.0 else abs(change))
            if not keep:
                values[position, memory] = fresh[memory] + add
            fresh[memory] = 0.0
    return largest


@routine
def iterate(lists, me, searchers, policies, pair, arrays, bounds, scratch, loop):
    """Value a large block by iteration; add a bound on what is missed to `scratch.error`."""
    positions, choice, _, _ = arrays
    change, rounds, most = np.inf, 0, MOST_ROUNDS
    while change > 0.0 and rounds < most:
        rounds += 1
        if change <= SETTLED * loop.size and most == MOST_ROUNDS:
            most = 2 * rounds  # the rest is rounding, which may go round in a circle
        change = a_round(lists, me, searchers, policies, pair, arrays, 0.0, False, scratch, loop)
    if not bounds:
        return
    missed = a_round(lists, me, searchers, policies, pair, arrays, 0.0, True, scratch, loop)
    turns = positions, choice, loop.turns, loop.nothing
    short, rounds = np.inf, 0
    while short > 0.5 and rounds < MOST_ROUNDS:
        rounds += 1
        short = a_round(lists, me, searchers, policies, pair, turns, 1.0, False, scratch, loop)
    short = a_round(lists, me, searchers, policies, pair, turns, 1.0, True, scratch, loop)
    most = 0.0
    for position in positions:
        for memory in range(loop.turns.shape[1]):
            most = max(most, loop.turns[position, memory])
            loop.turns[position, memory] = 0.0
    missed = max(missed, SETTLED * loop.size)
    scratch.error[0] += missed * most / (1.0 - short) if short < 1.0 else np.inf


# --- whatever the size --------------------------------------------------------------------------


@routine
def evaluate(lists, me, searchers, policies, pair, arrays, bounds, scratch, loop):
    """Value the states of a block against one opponent."""
    positions, choice, values, payoff = arrays
    if len(positions) * values.shape[1] > len(loop.gain):
        iterate(lists, me, searchers, policies, pair, arrays, bounds, scratch, loop)
    elif searchers:
        best_small(lists, me, searchers, policies, pair, arrays, scratch, loop)
    else:
        evaluate_small(
            lists, me, searchers, policies, pair, positions, choice, values, payoff, loop
        )


@routine
def value_row(lists, me, number, positions, weights, payoff, reach, values, found, scratch):
    """Add up the values of a row's actions in a block, weighted by reach; returns its reach."""
    here, out = 0.0, scratch.rolled[0]
    found[:] = 0.0
    for position in positions:
        if lists.player[position] == me and lists.row[position] == number:
            for pair in range(len(weights)):
                value_turn(lists, position, found, True, values[pair], payoff, scratch.ends, out)
                here += average(lists, position, weights[pair], reach[pair, position], out, found)
    return here


@routine
def settle(lists, how, positions, arrays, scratch, loop):
    """Value a block, with rows as the role sets them; returns how many rows ASCEND changed.

    ASCEND and SOFTMAX take its rows one after the other and value it anew after each. Where a row
    has one state, against one opponent, ASCEND is policy iteration, and every change counts. Else
    a row can act in several states, whose shares a change moves, and the action that the slope
    favours can lose: so a change is kept only if it wins, and in one pass a block changes one row
    only, since the reach of its other rows then is out of date. What a change wins is the reach
    before it, times the difference of the rows, times the values after it.
    """
    role, temperature, damping, me, _, both, _ = how
    policies, weights, payoff, reach, values, filled = arrays
    averages, row_reach, choice = filled
    searchers = 0 if role != FULL_MEMORY else 2 if both else 1
    bounds = role in (EVALUATE, FULL_MEMORY, COUNTERFACTUAL)
    for pair in range(len(weights)):
        for position in positions:
            values[pair, position] = loop.endless
        block = positions, choice, values[pair], payoff
        evaluate(lists, me, searchers, policies, pair, block, bounds, scratch, loop)
        if searchers:
            leave_on_ties(lists, me, searchers, block, scratch, loop)
    if role in (EVALUATE, FULL_MEMORY):
        return 0
    adapts, checks, moved, changes, member = role in (ASCEND, SOFTMAX), False, False, 0, 0
    several = values.shape[2] > 1 or len(weights) > 1
    for position in positions:
        several = several or (lists.player[position] == me and not loop.leads[position])
    before = loop.before
    while member < len(positions):
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
                changes -= adapts
                for action in range(len(row)):
                    row[action] = before[action] if adapts else row[action]
                fresh = adapts
            else:
                for action in range(len(row)):
                    before[action] = row[action]
                legal = lists.legal[lists.situation[position]]
                its_role = role if adapts else COUNTERFACTUAL
                changed = set_row(its_role, legal, row, found, here, temperature, damping)
                changes += changed
                moved = moved or changed > 0
                checks = changed > 0 and several
                fresh = adapts and (changed > 0 or role == SOFTMAX)
            for pair in range(len(weights) if fresh else 0):
                block = positions, choice, values[pair], payoff
                evaluate(lists, me, 0, policies, pair, block, False, scratch, loop)
            member += 0 if checks else 1
        if member == len(positions) and role == ASCEND and moved and not several:
            member, moved = 0, False
    return changes


@routine
def leave(lists, positions, reach, loop, sole):
    """Add the masses that left a block to the reach of where they went."""
    for position in positions:
        base = lists.base[position]
        for end in range(lists.ends[lists.situation[position]]):
            there = lists.next[base + end]
            if there >= 0:
                if sole and lists.player[there] == 1:
                    there = lists.mirror[there]
                for memory in range(reach.shape[1]):
                    if loop.block[there] != loop.block[position]:
                        reach[there, memory] += loop.turns[there, memory]
                    loop.turns[there, memory] = 0.0


@routine
def visit(lists, me, sole, policies, positions, reach, scratch, loop):
    """Turn the flow into the states of a block into the expected visits, and send them on.

    A play that never leaves is followed to where that is certain, and no further.
    """
    memories = reach.shape[1]
    small = len(positions) * memories <= len(loop.gain)
    if small:
        count = link(
            lists, me, sole, 0, policies, 0, positions, loop.no_choice, reach, loop.nothing, loop
        )
        eliminate(loop, count)
        visits = loop.gain
        for state in range(count):
            visits[state] = reach[positions[state // memories], state % memories]
        for last in range(count - 1, -1, -1):
            for state in range(last):
                visits[state] += visits[last] * loop.matrix[last, state]
        for state in range(count):
            for earlier in range(state):
                visits[state] += visits[earlier] * loop.matrix[earlier, state]
            visits[state] /= loop.pivot[state]
    for position in positions:
        for memory in range(memories):
            loop.turns[position, memory] = reach[position, memory]
            reach[position, memory] = 0.0
    # Masses wait in `turns`, where those that leave the block are collected, too.
    grows, rounds = True, 0
    while grows and rounds < (1 if small else MOST_ROUNDS):
        grows, rounds = False, rounds + 1
        for position in positions:
            if sole and lists.player[position] == 1:
                continue
            masses, here = loop.done[position], 0.0  # scratch here
            for memory in range(memories):
                mass = loop.turns[position, memory]
                if small:  # the visits are known, and what comes back is among them
                    mass = loop.gain[loop.member[position] * memories + memory]
                reach[position, memory] += mass
                loop.turns[position, memory] = 0.0
                masses[memory] = mass if mass > SETTLED * reach[position, memory] else 0.0
                here += masses[memory]
            if here > 0.0:
                grows = True
                row, into = row_of(lists, position, me, policies, 0), loop.turns
                send(lists, position, row, masses, into, scratch.masses, scratch.flows, sole)
            for memory in range(memories):
                masses[memory] = 0.0
    leave(lists, positions, reach, loop, sole)
