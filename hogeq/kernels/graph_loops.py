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
:func:`settle` sets rows, :func:`visit` and :func:`circulate` send reach through them. What takes
many rounds returns after some, to be called again, so that Python can be interrupted in between.

Sizes, `lists` and states are those of :mod:`hogeq.kernels.graph_turns`, `loop` is a
:class:`hogeq.kernels.arrays.Loop`. State ``p * H + h`` of a block is memory h at its p-th position.
"""

import numpy as np

from hogeq.kernels import TIE
from hogeq.kernels.arrays import (
    ADAPTS,
    ASCEND,
    CHANGE,
    CHECKS,
    COUNTERFACTUAL,
    IMPROVE,
    LEAVE,
    LIMIT,
    MEMBER,
    MOVED,
    NO_CHOICE,
    PHASE,
    RISE,
    ROUNDS,
    SEVERAL,
    SOFTMAX,
    STALE,
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
MOST_VISITS = 1e300  # expected of a state: times a payoff, and summed, they stay finite
SLICE = 2_000_000  # states that rounds visit before a kernel returns

VALUES, TURNS = range(2)  # phases of an iteration: of values, then of the bound on turns


# --- a small block ------------------------------------------------------------------------------


@routine
def write_chain(lists, loop, me, policies, match, positions, choice, values, payoff):
    """Write the Markov chain of a small block's m states; returns m.

    `loop.matrix` (m, m) gets the probabilities to come from one state to another, `loop.leave` (m,)
    that to leave the block, and `loop.gain` (m,) the expected payoff, (T,), or value, (C, H), by
    leaving. A state takes its `choice`, (C, H); by NO_CHOICE, it acts by its row.
    """
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
                action_probability = row[action]
                if chosen != NO_CHOICE:
                    action_probability = 1.0 if action == chosen else 0.0
                if action_probability == 0.0:
                    continue
                lane = places[action, memory] % lanes
                way = way_at(lists, situation, places[action, memory])
                for outcome in range(lists.first[way], lists.first[way + 1]):
                    probability = action_probability * lists.chance[outcome]
                    end = base + lists.end[outcome]
                    next_position = lists.next[end]
                    if next_position < 0:
                        loop.gain[state] += probability * payoff[-1 - next_position]
                        loop.leave[state] += probability
                        continue
                    next_memory = lists.following[lists.label[end], lane]
                    if loop.block[next_position] == home:
                        next_state = loop.member[next_position] * memories + next_memory
                        loop.matrix[state, next_state] += probability
                    else:
                        loop.gain[state] += probability * values[next_position, next_memory]
                        loop.leave[state] += probability
    return count


@routine
def eliminate(loop, count):
    """Eliminate the states of a chain, the last first (Grassmann, Taksar and Heyman 1985).

    Each transition to a state is replaced by those from it; where none go on, play never leaves.
    """
    matrix, gain, leave = loop.matrix, loop.gain, loop.leave
    for last in range(count - 1, -1, -1):
        pivot = leave[last]
        for state in range(last):
            pivot += matrix[last, state]
        if pivot == 0.0:
            gain[last], leave[last], pivot = loop.endless, 1.0, 1.0
        loop.pivot[last] = pivot
        gain[last], leave[last] = gain[last] / pivot, leave[last] / pivot
        for state in range(last):
            matrix[last, state] /= pivot
        for source in range(last):
            probability = matrix[source, last]
            if probability > 0.0:
                for state in range(last):
                    matrix[source, state] += probability * matrix[last, state]
                gain[source] += probability * gain[last]
                leave[source] += probability * leave[last]


@kernel
def solve(lists, loop, first, last, me, policies, match, choice, values, payoff):
    """Value the states of small blocks from `first`, below `last`, by elimination, in (C, H)."""
    memories = values.shape[1]
    for block in range(last - 1, first - 1, -1):
        positions = lists.order[lists.start[block] : lists.start[block + 1]]
        count = write_chain(lists, loop, me, policies, match, positions, choice, values, payoff)
        eliminate(loop, count)
        for state in range(count):
            for earlier in range(state):
                loop.gain[state] += loop.matrix[state, earlier] * loop.gain[earlier]
            values[positions[state // memories], state % memories] = loop.gain[state]


# --- a large block ------------------------------------------------------------------------------


@routine
def value_once(lists, loop, me, policies, match, positions, choice, values, payoff, add, scratch):
    """Do one round of value iteration: value all states of a block in place, and `add` to each.

    States with a `choice`, (C, H), do what is best for who moves, or, if `add` is above 0, what is
    worth most. Returns the largest change; with 0 to add, in size.
    """
    largest, new_values, way_values = -np.inf, loop.fresh, scratch.rolled[0]
    for member in range(len(positions) - 1, -1, -1):
        position = positions[member]
        row = row_of(lists, position, me, policies, match)
        chooses = choice[position, 0] != NO_CHOICE
        value_ways(lists, position, row, chooses, values, payoff, scratch.ends, way_values)
        if chooses:
            sign = 1.0 if add > 0.0 or lists.player[position] == me else -1.0
            maximise(lists, position, sign, way_values, new_values, choice[position])
        else:
            mix(lists, position, row, way_values, new_values)
        for memory in range(len(new_values)):
            change = new_values[memory] + add - values[position, memory]
            largest = max(largest, change if add > 0.0 else abs(change))
            values[position, memory] = new_values[memory] + add
    return largest


@kernel
def iterate(
    lists, loop, block, begins, me, policies, match, choice, values, payoff, bounds, scratch
):
    """Value a large block, `values` (C, H), by value iteration; see the head of this file.

    From `endless` on, until none changes but by rounding. With `bounds`, what is missed at most is
    added to `scratch.error`: the last change, times a bound on the turns, from rounds that add 1.
    Returns whether that is done; else it is to be called again, and then not `begins`.
    """
    positions = lists.order[lists.start[block] : lists.start[block + 1]]
    turns, course = loop.turns, loop.course
    rounds_left = max(1, SLICE // (len(positions) * values.shape[1]))
    if begins:
        for position in positions:
            values[position] = loop.endless
            turns[position] = 0.0
        course[PHASE] = VALUES
        course[ROUNDS] = 0
        course[LIMIT] = MOST_ROUNDS
        course[CHANGE] = np.inf
    if course[PHASE] == VALUES:
        while course[CHANGE] > 0.0 and course[ROUNDS] < course[LIMIT]:
            if rounds_left == 0:
                return False
            rounds_left -= 1
            course[ROUNDS] += 1
            if course[CHANGE] <= SETTLED * loop.size and course[LIMIT] == MOST_ROUNDS:
                course[LIMIT] = 2 * course[ROUNDS]  # the rest is rounding, maybe in a circle
            course[CHANGE] = value_once(
                lists, loop, me, policies, match, positions, choice, values, payoff, 0.0, scratch
            )
        if not bounds:
            return True
        course[PHASE], course[ROUNDS], course[RISE] = TURNS, 0, np.inf
    while course[RISE] > 0.5 and course[ROUNDS] < MOST_ROUNDS:
        if rounds_left == 0:
            return False
        rounds_left -= 1
        course[ROUNDS] += 1
        course[RISE] = value_once(
            lists, loop, me, policies, match, positions, choice, turns, loop.nothing, 1.0, scratch
        )
    most_turns, rise = 0.0, course[RISE]
    for position in positions:
        for memory in range(turns.shape[1]):
            most_turns = max(most_turns, turns[position, memory])
            turns[position, memory] = 0.0
    missed = max(course[CHANGE], SETTLED * loop.size)
    scratch.error[0] += missed * most_turns / (1.0 - max(rise, 0.0)) if rise < 1.0 else np.inf
    return True


# --- best actions -------------------------------------------------------------------------------


@part
def stay_probability(lists, loop, position, memory, action):
    """Compute the probability that an action at a state stays in the block."""
    situation, probability = lists.situation[position], 0.0
    way = way_at(lists, situation, lists.place[situation, action, memory])
    for outcome in range(lists.first[way], lists.first[way + 1]):
        next_position = lists.next[lists.base[position] + lists.end[outcome]]
        if next_position >= 0 and loop.block[next_position] == loop.block[position]:
            probability += lists.chance[outcome]
    return probability


@kernel
def choose(lists, loop, block, me, mover, aim, choice, values, payoff, scratch):
    """Choose actions, `choice` (C, H), in the states of a block in which `mover` moves.

    The aim is to STAY: take the action that stays in the block most. Or to IMPROVE: take the best
    action where it is worth more than the present one. Or to LEAVE: take the first of the best, of
    those that do not stay for certain if there are any; to stay is worth as much as what follows,
    be it one's own leaving a turn later. Returns whether an action was improved.
    """
    way_values, changed, sign = scratch.rolled[0], False, 1.0 if mover == me else -1.0
    for entry in range(lists.start[block], lists.start[block + 1]):
        position = lists.order[entry]
        if lists.player[position] != mover:
            continue
        places = lists.place[lists.situation[position]]
        row = values[position]  # not looked at
        value_ways(lists, position, row, True, values, payoff, scratch.ends, way_values)
        for memory in range(values.shape[1]):
            chosen, best, only_stays = choice[position, memory], -np.inf, True
            for action in range(len(places)):
                action_value = sign * way_values[places[action, memory]]
                best = max(best, action_value)
            most = -1.0  # to STAY, the highest probability; to LEAVE, 0 once an action is taken
            for action in range(len(places)):
                action_value = sign * way_values[places[action, memory]]
                if aim == IMPROVE:
                    present = way_values[places[chosen, memory]] * sign
                    if action_value == best and present < best - TIE * loop.size:
                        chosen, changed = action, True
                    continue
                stays = stay_probability(lists, loop, position, memory, action)
                if aim == STAY and stays > most:
                    most, chosen = stays, action
                if aim == LEAVE and action_value >= best - TIE * loop.size:
                    if most < 0.0 or (only_stays and stays < 1.0):
                        chosen, only_stays = action, stays >= 1.0
                    most = 0.0
            choice[position, memory] = chosen
    return changed


# --- rows ---------------------------------------------------------------------------------------


@part
def value_row(lists, me, number, positions, weights, payoff, reach, values, q_values, scratch):
    """Fill counterfactual values, (K,), of row `number` in a block; give its reach.

    Opponents have `weights` (n,), `reach` and `values` (n, C, H).
    """
    row_reach, way_values, ends = 0.0, scratch.rolled[0], scratch.ends
    q_values[:] = 0.0
    for position in positions:
        if lists.player[position] == me and lists.row[position] == number:
            for match in range(len(weights)):
                weight, state_reach = weights[match], reach[match, position]
                match_values = values[match]
                value_ways(lists, position, q_values, True, match_values, payoff, ends, way_values)
                row_reach += average(lists, position, weight, state_reach, way_values, q_values)
    return row_reach


@part
def begin_settling(lists, loop, block, me, memories, matches, adapts):
    """Begin with the rows of a block; `loop.course` says where its settling stands."""
    course, has_several = loop.course, memories > 1 or matches > 1
    for entry in range(lists.start[block], lists.start[block + 1]):
        position = lists.order[entry]
        is_second = lists.player[position] == me and not loop.leads[position]
        has_several = has_several or is_second
    course[SEVERAL] = 1.0 if has_several else 0.0
    course[ADAPTS] = 1.0 if adapts else 0.0
    course[MEMBER] = course[CHECKS] = course[MOVED] = 0.0
    course[STALE] = 1.0


@routine
def settle_row(lists, loop, block, how, policies, weights, payoff, reach, values, filled, scratch):
    """Do steps 2 to 4 of :func:`settle` for the next row; returns whether anything is left to do.

    The block is valued. Where the row makes that stale, it is to be valued again.
    """
    role, temperature, damping, me, _, _ = how
    all_q_values, row_reach = filled
    before, course = loop.before, loop.course
    positions = lists.order[lists.start[block] : lists.start[block + 1]]
    member, has_several = int(course[MEMBER]), course[SEVERAL] > 0.0
    adapts, checks, moved = course[ADAPTS] > 0.0, course[CHECKS] > 0.0, course[MOVED] > 0.0
    is_stale = False
    while member < len(positions):
        position = positions[member]
        if lists.player[position] == me and loop.leads[position]:
            break
        member += 1
    if member < len(positions):
        number = lists.row[position]
        row, q_values = policies[0, number], all_q_values[number]
        its_reach = value_row(
            lists, me, number, positions, weights, payoff, reach, values, q_values, scratch
        )
        row_reach[number] = its_reach
        if checks:  # the row is changed, and the block was valued anew
            gain = 0.0
            for action in range(len(row)):
                gain += (row[action] - before[action]) * q_values[action]
            checks, adapts = False, gain <= 0.0
            for action in range(len(row)):
                row[action] = before[action] if adapts else row[action]
            is_stale = adapts
        else:
            for action in range(len(row)):
                before[action] = row[action]
            legal = lists.legal[lists.situation[position]]
            its_role = role if adapts else COUNTERFACTUAL
            count = set_row(its_role, legal, row, q_values, its_reach, temperature, damping)
            changed = count > 0
            moved = moved or changed
            checks = changed and has_several
            is_stale = adapts and (changed or role == SOFTMAX)
        member += 0 if checks else 1
    if member == len(positions) and role == ASCEND and moved and not has_several:
        member, moved = 0, False
    course[MEMBER], course[STALE] = member, 1.0 if is_stale else 0.0
    course[ADAPTS], course[CHECKS] = 1.0 if adapts else 0.0, 1.0 if checks else 0.0
    course[MOVED] = 1.0 if moved else 0.0
    return is_stale or member < len(positions)


@kernel
def settle(lists, loop, first, last, how, *arrays):
    """Value small blocks, with rows as the role sets them.

    Other arguments are those of :func:`hogeq.kernels.graph_passes.act`. For each block, the last
    first:

    1. Value it if it is stale: at first, and when a row of it has changed.
    2. Take its next row of the player, at the position that leads it: counterfactual values.
    3. Set the row by the role as long as the block *adapts*.
    4. If the change needs a *check*, value the block, and undo the change unless it wins.

    ASCEND and SOFTMAX take the rows of a block one after the other and value it anew after each.
    Where a row has one state, against one opponent, ASCEND is policy iteration, and every change
    counts. Else a row can act in several states, whose shares a change moves, and the action that
    the slope favours can lose: so a change is kept only if it wins, and in one pass a block changes
    one row only, since the reach of its other rows then is out of date. What a change wins is the
    reach before it, times the difference of the rows, times the values after it.
    """
    policies, weights, payoff, _, values, _, _ = arrays
    role, _, _, me, _, _ = how
    for block in range(last - 1, first - 1, -1):
        memories, matches = values.shape[2], len(weights)
        begin_settling(lists, loop, block, me, memories, matches, role != COUNTERFACTUAL)
        goes_on = True
        while goes_on:
            for match in range(matches if loop.course[STALE] > 0.0 else 0):
                out, rows = values[match], loop.no_choice
                solve(lists, loop, block, block + 1, me, policies, match, rows, out, payoff)
            goes_on = settle_row(lists, loop, block, how, *arrays)


@kernel
def settle_large(lists, loop, block, begins, how, *arrays):
    """Begin to settle a large block, or settle its next row, after :func:`iterate` valued it."""
    _, weights, _, _, values, _, _ = arrays
    role, _, _, me, _, _ = how
    if not begins:
        return settle_row(lists, loop, block, how, *arrays)
    memories, matches = values.shape[2], len(weights)
    begin_settling(lists, loop, block, me, memories, matches, role != COUNTERFACTUAL)
    return True


# --- reach --------------------------------------------------------------------------------------


@part
def count_visits(lists, loop, me, policies, positions, reach):
    """Compute expected visits of a small block's states, in `loop.gain`, by flow into it (C, H)."""
    memories, visits, rows = reach.shape[1], loop.gain, loop.no_choice
    count = write_chain(lists, loop, me, policies, 0, positions, rows, reach, loop.nothing)
    eliminate(loop, count)
    for state in range(count):
        visits[state] = reach[positions[state // memories], state % memories]
    for last in range(count - 1, -1, -1):
        for state in range(last):
            visits[state] += visits[last] * loop.matrix[last, state]
    for state in range(count):
        for earlier in range(state):
            visits[state] += visits[earlier] * loop.matrix[earlier, state]
        visits[state] = min(visits[state] / loop.pivot[state], MOST_VISITS)


@part
def take_masses(positions, reach, masses):
    """Move the flow into the states of a block, `reach` (C, H), to the masses that wait there."""
    for position in positions:
        for memory in range(reach.shape[1]):
            masses[position, memory] = reach[position, memory]
            reach[position, memory] = 0.0


@part
def send_masses(lists, loop, me, policies, positions, is_small, reach, scratch):
    """Send the masses that wait in the states of a block on; returns whether there were any.

    They wait in `loop.turns`, where those that leave the block are collected, too. In a small block
    the visits are known, in `loop.gain`, and what comes back is among them.
    """
    waiting, sent, memories = loop.turns, loop.fresh, reach.shape[1]
    any_sent = False
    for position in positions:
        total_mass = 0.0
        for memory in range(memories):
            mass = waiting[position, memory]
            if is_small:
                mass = loop.gain[loop.member[position] * memories + memory]
            reach[position, memory] += mass
            waiting[position, memory] = 0.0
            sent[memory] = mass if mass > SETTLED * reach[position, memory] else 0.0
            total_mass += sent[memory]
        if total_mass > 0.0:
            any_sent = True
            row = row_of(lists, position, me, policies, 0)
            send(lists, position, row, sent, waiting, scratch.masses, scratch.flows)
    return any_sent


@part
def leave_block(lists, loop, block, me, positions, reach, row_reach):
    """Add up the reach of rows of `me`, `row_reach` (R,), and send what leaves to later blocks."""
    waiting = loop.turns
    for position in positions:
        for memory in range(reach.shape[1]):
            if lists.player[position] == me:
                row_reach[lists.row[position]] += reach[position, memory]
        base = lists.base[position]
        for end in range(lists.ends[lists.situation[position]]):
            after = lists.next[base + end]
            if after >= 0:
                for memory in range(reach.shape[1]):
                    if loop.block[after] != block:
                        reach[after, memory] += waiting[after, memory]
                    waiting[after, memory] = 0.0


@kernel
def visit(lists, loop, first, last, me, policies, reach, row_reach, scratch):
    """Turn the flow into the states of small blocks, `reach` (C, H), into expected visits.

    By elimination. Then the reach of rows of `me`, `row_reach` (R,), and the masses that leave, to
    later blocks. A play that never leaves is followed to where that is certain, and no further.
    """
    for block in range(first, last):
        positions = lists.order[lists.start[block] : lists.start[block + 1]]
        count_visits(lists, loop, me, policies, positions, reach)
        take_masses(positions, reach, loop.turns)
        send_masses(lists, loop, me, policies, positions, True, reach, scratch)
        leave_block(lists, loop, block, me, positions, reach, row_reach)


@kernel
def circulate(lists, loop, block, begins, me, policies, reach, row_reach, scratch):
    """Do what :func:`visit` does for a large block, by masses that go round.

    Until nothing but rounding is left. Returns whether that is so; else it is to be called again,
    and then not `begins`.
    """
    positions = lists.order[lists.start[block] : lists.start[block + 1]]
    course = loop.course
    if begins:
        take_masses(positions, reach, loop.turns)
        course[ROUNDS] = 0.0
    rounds_left, any_sent = max(1, SLICE // (len(positions) * reach.shape[1])), True
    while any_sent and course[ROUNDS] < MOST_ROUNDS:
        if rounds_left == 0:
            return False
        rounds_left -= 1
        course[ROUNDS] += 1
        any_sent = send_masses(lists, loop, me, policies, positions, False, reach, scratch)
    leave_block(lists, loop, block, me, positions, reach, row_reach)
    return True
