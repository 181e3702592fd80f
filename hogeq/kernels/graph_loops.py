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
:func:`settle` sets rows, :func:`visit` and :func:`circulate` send reach through them. Kernels of
many rounds return after some, and are called again, so that Python can be interrupted in between.

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
    add_weighted_values,
    maximise,
    mix,
    probabilities_at,
    send,
    set_row,
    value_ways,
    way_at,
)

SETTLED = 3e-16  # changes by this share of the largest payoff, or of visits, are rounding alone
MOST_ROUNDS = 100_000  # of an iteration
MOST_VISITS = 1e300  # expected of a state: times a payoff, and summed, they stay finite
SLICE = 2_000_000  # states that rounds visit before a kernel returns

VALUES, TURNS = range(2)  # phases of an iteration: of values, then of the bound on turns


# --- a small block ------------------------------------------------------------------------------


@routine
def write_chain(lists, loop, me, policies, match, positions, choice, values, payoff):
    """Write the Markov chain on a small block's m states, and return m.

    - ``loop.matrix`` (m, m) gets the probabilities to come from one state to another,
    - ``loop.leave`` (m,) the probability to leave the block by this turn,
    - ``loop.gain`` (m,) the expected payoff, (T,), or value, (C, H), by leaving.

    A state takes its `choice`, (C, H), an action; where that is NO_CHOICE, it acts by its row of
    the policies of `me` and of opponent number `match`.
    """
    memories, lanes = values.shape[1], lists.following.shape[1]
    count = len(positions) * memories
    block = loop.block[positions[0]]
    for state in range(count):
        loop.gain[state] = loop.leave[state] = 0.0
        for other in range(count):
            loop.matrix[state, other] = 0.0
    for position in positions:
        situation, base = lists.situation[position], lists.base[position]
        slots = lists.slot[situation]
        probabilities = probabilities_at(lists, position, me, policies, match)
        for memory in range(memories):
            state = loop.member[position] * memories + memory
            chosen = choice[position, memory]
            for action in range(len(probabilities)):
                action_probability = probabilities[action]
                if chosen != NO_CHOICE:
                    action_probability = 1.0 if action == chosen else 0.0
                if action_probability == 0.0:
                    continue
                lane = slots[action, memory] % lanes
                way = way_at(lists, situation, slots[action, memory])
                for outcome in range(lists.first[way], lists.first[way + 1]):
                    probability = action_probability * lists.chance[outcome]
                    end = base + lists.end[outcome]
                    next_position = lists.next[end]
                    if next_position < 0:  # play is over
                        loop.gain[state] += probability * payoff[-1 - next_position]
                        loop.leave[state] += probability
                        continue
                    next_memory = lists.following[lists.label[end], lane]
                    if loop.block[next_position] == block:
                        next_state = loop.member[next_position] * memories + next_memory
                        loop.matrix[state, next_state] += probability
                    else:
                        loop.gain[state] += probability * values[next_position, next_memory]
                        loop.leave[state] += probability
    return count


@routine
def eliminate(loop, count):
    """Eliminate the `count` states of a Markov chain, the last first, in place.

    Each transition to the eliminated state is replaced by transitions to where it goes on. Nothing
    is subtracted, so that no digits are lost (Grassmann, Taksar and Heyman 1985). Where a state
    goes on nowhere, play never leaves, and is worth ``loop.endless``. Takes count**3 / 3 products.
    """
    matrix, gain, leave = loop.matrix, loop.gain, loop.leave
    for last in range(count - 1, -1, -1):
        # The probability to go on to an earlier state or to leave, rather than to return here.
        pivot = leave[last]
        for state in range(last):
            pivot += matrix[last, state]
        if pivot == 0.0:
            gain[last] = loop.endless
            leave[last] = 1.0
            pivot = 1.0
        loop.pivot[last] = pivot
        gain[last] = gain[last] / pivot
        leave[last] = leave[last] / pivot
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
    """Value the states of small blocks from `first`, below `last`, by elimination, in (C, H).

    For each block, the last first: write its Markov chain (see :func:`write_chain` for the
    arguments), eliminate the states, and substitute values back, from the first state on.
    """
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
def value_once(
    lists, loop, me, policies, match, positions, choice, values, payoff, is_count, scratch
):
    """Do one round of value iteration over a block's states, in place; return the largest change.

    States with a `choice`, (C, H), take the best action for who moves, and note it there; others
    act by their rows. If `is_count`, `values` (C, H) are not payoffs but numbers of turns, which
    1 is added to: then states with a choice take the action that keeps play in the block longest,
    and the change returned is the largest rise, not the largest in size.
    """
    largest_change = -np.inf
    added = 1.0 if is_count else 0.0
    new_values, way_values, ends = loop.fresh, scratch.rolled[0], scratch.ends
    for member in range(len(positions) - 1, -1, -1):
        position = positions[member]
        probabilities = probabilities_at(lists, position, me, policies, match)
        chooses = choice[position, 0] != NO_CHOICE
        value_ways(lists, position, probabilities, chooses, values, payoff, ends, way_values)
        if chooses:
            sign = 1.0 if is_count or lists.player[position] == me else -1.0
            maximise(lists, position, sign, way_values, new_values, choice[position])
        else:
            mix(lists, position, probabilities, way_values, new_values)
        for memory in range(len(new_values)):
            change = new_values[memory] + added - values[position, memory]
            largest_change = max(largest_change, change if is_count else abs(change))
            values[position, memory] = new_values[memory] + added
    return largest_change


@kernel
def iterate(
    lists, loop, block, begins, me, policies, match, choice, values, payoff, bounds, scratch
):
    """Value a large block, `values` (C, H), by value iteration; resumable.

    1. From ``loop.endless`` on, value the states round by round until no value changes.
    2. If `bounds`: bound the number of turns in the block from above. A round adds 1 to the number
       after each turn, until no number rises by more than 1/2; then twice these are enough.
    3. Add to ``scratch.error`` the last change, times this bound: no value is off by more.

    `choice` is as of :func:`value_once`. Returns whether that is done; else call it again, with
    `begins` False; ``loop.course`` says where it stands.
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
                lists, loop, me, policies, match, positions, choice, values, payoff, False, scratch
            )
        if not bounds:
            return True
        course[PHASE] = TURNS
        course[ROUNDS] = 0
        course[RISE] = np.inf
    while course[RISE] > 0.5 and course[ROUNDS] < MOST_ROUNDS:
        if rounds_left == 0:
            return False
        rounds_left -= 1
        course[ROUNDS] += 1
        course[RISE] = value_once(
            lists, loop, me, policies, match, positions, choice, turns, loop.nothing, True, scratch
        )
    most_turns = 0.0
    for position in positions:
        for memory in range(turns.shape[1]):
            most_turns = max(most_turns, turns[position, memory])
            turns[position, memory] = 0.0
    rise = course[RISE]
    error_of_turn = max(course[CHANGE], SETTLED * loop.size)
    # Were a round more to raise the numbers by `rise` < 1, they are too small by 1 / (1 - rise).
    error = error_of_turn * most_turns / (1.0 - max(rise, 0.0)) if rise < 1.0 else np.inf
    scratch.error[0] += error
    return True


# --- best actions -------------------------------------------------------------------------------


@part
def stay_probability(lists, loop, position, memory, action):
    """Return the probability that an action at a state leads to a state of the same block."""
    situation, probability = lists.situation[position], 0.0
    way = way_at(lists, situation, lists.slot[situation, action, memory])
    for outcome in range(lists.first[way], lists.first[way + 1]):
        next_position = lists.next[lists.base[position] + lists.end[outcome]]
        if next_position >= 0 and loop.block[next_position] == loop.block[position]:
            probability += lists.chance[outcome]
    return probability


@part
def stay_or_leave(lists, loop, position, memory, aim, best_value, sign, way_values, chosen):
    """Return the action of a state by the aim STAY or LEAVE of :func:`choose`, or else `chosen`."""
    slots = lists.slot[lists.situation[position]]
    most_stay = -1.0  # the highest probability to stay, of the actions so far
    takes_staying = True  # whether `chosen` stays for certain
    has_chosen = False
    for action in range(len(slots)):
        action_value = sign * way_values[slots[action, memory]]
        stays = stay_probability(lists, loop, position, memory, action)
        if aim == STAY and stays > most_stay:
            most_stay = stays
            chosen = action
        if aim == LEAVE and action_value >= best_value - TIE * loop.size:
            if not has_chosen or (takes_staying and stays < 1.0):
                chosen = action
                takes_staying = stays >= 1.0
            has_chosen = True
    return chosen


@kernel
def choose(lists, loop, block, me, mover, aim, choice, values, payoff, scratch):
    """Choose actions, `choice` (C, H), in the states of a block in which `mover` moves.

    - `aim` STAY: take the action that stays in the block with the highest probability.
    - `aim` IMPROVE: take the best action where it is worth more than the present one.
    - `aim` LEAVE: take the first of the best actions, of those that do not stay for certain if
      there are any; to stay is worth as much as what follows, be it one's own leaving a turn later.

    Returns whether an action was improved. Policy iteration begins with STAY and ends with LEAVE,
    so that play stays for ever only where that is best.
    """
    way_values = scratch.rolled[0]
    has_improved = False
    sign = 1.0 if mover == me else -1.0
    for entry in range(lists.start[block], lists.start[block + 1]):
        position = lists.order[entry]
        if lists.player[position] != mover:
            continue
        slots = lists.slot[lists.situation[position]]
        unread_row = values[position]  # all ways are valued, whatever is played
        value_ways(lists, position, unread_row, True, values, payoff, scratch.ends, way_values)
        for memory in range(values.shape[1]):
            chosen = choice[position, memory]
            best_action, best_value = 0, -np.inf
            for action in range(len(slots)):
                action_value = sign * way_values[slots[action, memory]]
                if action_value > best_value:
                    best_action = action
                    best_value = action_value
            if aim == IMPROVE:
                present_value = sign * way_values[slots[chosen, memory]]
                if present_value < best_value - TIE * loop.size:
                    chosen = best_action
                    has_improved = True
            else:
                chosen = stay_or_leave(
                    lists, loop, position, memory, aim, best_value, sign, way_values, chosen
                )
            choice[position, memory] = chosen
    return has_improved


# --- rows ---------------------------------------------------------------------------------------


@part
def value_row(lists, me, row, positions, weights, payoff, reach, values, q_values, scratch):
    """Fill the counterfactual values, `q_values` (K,), of a row of `me`; return the row's reach.

    Both are sums over the row's positions among those of a block, and over opponents, who have
    `weights` (n,), `reach` and `values` (n, C, H).
    """
    row_reach = 0.0
    way_values, ends = scratch.rolled[0], scratch.ends
    q_values[:] = 0.0
    for position in positions:
        if lists.player[position] == me and lists.row[position] == row:
            for match in range(len(weights)):
                match_values = values[match]
                # All ways are valued, so that the probabilities (here `q_values`) are not read.
                value_ways(lists, position, q_values, True, match_values, payoff, ends, way_values)
                state_reach = reach[match, position]
                row_reach += add_weighted_values(
                    lists, position, weights[match], state_reach, way_values, q_values
                )
    return row_reach


@part
def begin_settling(lists, loop, block, me, memories, matches, adapts):
    """Write to ``loop.course`` that the setting of a block's rows begins, at its first position.

    `adapts` says whether rows are set by the role. A row *has several* states if there are several
    memories or matches, or if another position of the block has the same row.
    """
    course = loop.course
    has_several = memories > 1 or matches > 1
    for entry in range(lists.start[block], lists.start[block + 1]):
        position = lists.order[entry]
        shares_row = lists.player[position] == me and not loop.leads[position]
        has_several = has_several or shares_row
    course[SEVERAL] = 1.0 if has_several else 0.0
    course[ADAPTS] = 1.0 if adapts else 0.0
    course[MEMBER] = course[CHECKS] = course[MOVED] = 0.0
    course[STALE] = 1.0


@part
def undo_unless_better(row, before, q_values):
    """Restore a row, (K,), to `before` unless its change wins; return whether it was restored.

    It wins the difference of the rows times the counterfactual values, (K,), after the change.
    """
    gain = 0.0
    for action in range(len(row)):
        gain += (row[action] - before[action]) * q_values[action]
    if gain <= 0.0:
        for action in range(len(row)):
            row[action] = before[action]
    return gain <= 0.0


@routine
def settle_row(lists, loop, block, how, policies, weights, payoff, reach, values, filled, scratch):
    """Do steps 2 to 4 of :func:`settle` for one row; returns whether anything is left to do.

    The block is valued. Where the row's change makes its values stale, ``loop.course[STALE]`` is 1
    afterwards: value it before the next call.
    """
    role, temperature, damping, me, _, _ = how
    all_q_values, row_reach = filled
    before, course = loop.before, loop.course
    positions = lists.order[lists.start[block] : lists.start[block + 1]]
    member = int(course[MEMBER])
    has_several = course[SEVERAL] > 0.0
    adapts = course[ADAPTS] > 0.0
    checks = course[CHECKS] > 0.0
    moved = course[MOVED] > 0.0
    is_stale = False
    while member < len(positions):  # find the next position that leads a row of the player
        position = positions[member]
        if lists.player[position] == me and loop.leads[position]:
            break
        member += 1
    if member < len(positions):
        number = lists.row[position]
        row, q_values = policies[0, number], all_q_values[number]
        reach_of_row = value_row(
            lists, me, number, positions, weights, payoff, reach, values, q_values, scratch
        )
        row_reach[number] = reach_of_row
        if checks:  # the row is changed, and the block was valued anew
            checks = False
            # A change that wins is the only one of its block in a pass.
            adapts = undo_unless_better(row, before, q_values)
            is_stale = adapts
        else:
            for action in range(len(row)):
                before[action] = row[action]
            legal = lists.legal[lists.situation[position]]
            role_here = role if adapts else COUNTERFACTUAL
            count = set_row(role_here, legal, row, q_values, reach_of_row, temperature, damping)
            has_changed = count > 0
            moved = moved or has_changed
            checks = has_changed and has_several
            is_stale = adapts and (has_changed or role == SOFTMAX)
        if not checks:
            member += 1
    if member == len(positions) and role == ASCEND and moved and not has_several:
        member = 0  # policy iteration: go round until no row changes
        moved = False
    course[MEMBER] = member
    course[STALE] = 1.0 if is_stale else 0.0
    course[ADAPTS] = 1.0 if adapts else 0.0
    course[CHECKS] = 1.0 if checks else 0.0
    course[MOVED] = 1.0 if moved else 0.0
    return is_stale or member < len(positions)


@kernel
def settle(lists, loop, first, last, how, *arrays):
    """Value small blocks from `first`, below `last`, with rows as the role sets them.

    For each block, the last first:

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

    `how` and `arrays` (from `policies` on) are as of :func:`hogeq.kernels.graph_passes.act`.
    """
    policies, weights, payoff, _, values, _, _ = arrays
    role, _, _, me, _, _ = how
    for block in range(last - 1, first - 1, -1):
        memories, matches = values.shape[2], len(weights)
        begin_settling(lists, loop, block, me, memories, matches, role != COUNTERFACTUAL)
        goes_on = True
        while goes_on:
            if loop.course[STALE] > 0.0:
                for match in range(matches):
                    match_values, rows = values[match], loop.no_choice
                    solve(
                        lists, loop, block, block + 1, me, policies, match, rows, match_values,
                        payoff,
                    )  # fmt: skip
            goes_on = settle_row(lists, loop, block, how, *arrays)


@kernel
def settle_large(lists, loop, block, begins, how, *arrays):
    """Begin to set the rows of a large block by the role, or set its next row.

    Between two calls the caller values the block by :func:`iterate` if ``loop.course[STALE]`` is 1.
    Returns whether anything is left to do; `how` and `arrays` are as of :func:`settle`.
    """
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
    """Compute the expected visits of a small block's states, in ``loop.gain``.

    The flow into each state, `reach` (C, H), goes round in the block. By elimination:

    1. Eliminate the states of the Markov chain, the last first.
    2. Pass flow from each state on to the earlier ones, the last first.
    3. From the first state on, add the visits by way of earlier states; divide by the pivot.
    """
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
    """Move the flow into the states of a block from `reach`, (C, H), to `masses`, (C, H)."""
    for position in positions:
        for memory in range(reach.shape[1]):
            masses[position, memory] = reach[position, memory]
            reach[position, memory] = 0.0


@part
def send_masses(lists, loop, me, policies, positions, is_small, reach, scratch):
    """Move the masses that wait in a block's states one turn on; returns whether there were any.

    They wait in ``loop.turns``, (C, H), where those that leave the block are collected, too; their
    sum is added to `reach`, (C, H). In a small block the mass of a state is its expected visits, in
    ``loop.gain``: what comes back to the block is among them, and need not go round. Masses that
    are only rounding are not sent.
    """
    waiting, sent = loop.turns, loop.fresh
    memories = reach.shape[1]
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
            probabilities = probabilities_at(lists, position, me, policies, 0)
            send(lists, position, probabilities, sent, waiting, scratch.masses, scratch.flows)
    return any_sent


@part
def leave_block(lists, loop, block, me, positions, reach, row_reach):
    """Add up the reach of rows of `me`, `row_reach` (R,), and send what leaves to later blocks.

    Masses that wait in ``loop.turns`` move to `reach`, (C, H), at states of later blocks.
    """
    waiting = loop.turns
    for position in positions:
        for memory in range(reach.shape[1]):
            if lists.player[position] == me:
                row_reach[lists.row[position]] += reach[position, memory]
        base = lists.base[position]
        for end in range(lists.ends[lists.situation[position]]):
            next_position = lists.next[base + end]
            if next_position >= 0:
                for memory in range(reach.shape[1]):
                    if loop.block[next_position] != block:
                        reach[next_position, memory] += waiting[next_position, memory]
                    waiting[next_position, memory] = 0.0


@kernel
def visit(lists, loop, first, last, me, policies, reach, row_reach, scratch):
    """Turn the flow into the states of small blocks, `reach` (C, H), into expected visits.

    For each block from `first`, below `last`:

    1. Expected visits of its states, by elimination.
    2. The reach of rows of `me`, `row_reach` (R,), is the sum of the visits of its states.
    3. The masses that leave are added to `reach` in later blocks.

    A play that never leaves is followed to where that is certain, and no further.
    """
    for block in range(first, last):
        positions = lists.order[lists.start[block] : lists.start[block + 1]]
        count_visits(lists, loop, me, policies, positions, reach)
        take_masses(positions, reach, loop.turns)
        send_masses(lists, loop, me, policies, positions, True, reach, scratch)
        leave_block(lists, loop, block, me, positions, reach, row_reach)


@kernel
def circulate(lists, loop, block, begins, me, policies, reach, row_reach, scratch):
    """Turn the flow into the states of a large block, `reach` (C, H), into expected visits.

    As :func:`visit` does for small blocks, but masses go round in the block, turn by turn, until
    nothing but rounding is left. Returns whether that is so; else call it again, with `begins`
    False.
    """
    positions = lists.order[lists.start[block] : lists.start[block + 1]]
    course = loop.course
    if begins:
        take_masses(positions, reach, loop.turns)
        course[ROUNDS] = 0.0
    rounds_left = max(1, SLICE // (len(positions) * reach.shape[1]))
    any_sent = True
    while any_sent and course[ROUNDS] < MOST_ROUNDS:
        if rounds_left == 0:
            return False
        rounds_left -= 1
        course[ROUNDS] += 1
        any_sent = send_masses(lists, loop, me, policies, positions, False, reach, scratch)
    leave_block(lists, loop, block, me, positions, reach, row_reach)
    return True
