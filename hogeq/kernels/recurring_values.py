"""Values of blocks of positions that lead to each other, or to themselves.

Under given rows a block is a Markov chain on its states, which is left for values that are known. A
play that never leaves pays `endless_payoff`.

A *small* block is solved by elimination, state by state (Grassmann, Taksar and Heyman 1985): all
numbers but payoffs are sums and products of probabilities, nothing is subtracted, and the
probability to leave is added up by itself; so no digit is lost however long play stays. Best
actions are found by policy iteration, which begins with those that stay most: an action takes the
place of another only if it is worth more, so that play stays for ever where that is best.

A *large* block is iterated, from `endless_payoff` on, until no value changes. How far that is from
the fixed point: let r be the largest change of the last round, and u a bound on the number of turns
in the block, by whatever actions can be chosen. A round values states in place, so one more would
change no value by more than r, and no value is off by more than r u. If a round takes numbers u'
to u = 1 + P u, with P the chances to stay and u taken for u' as soon as it is there, and raises
none by more than d < 1, then u >= (1 - d) + P u for all, and u / (1 - d) bounds the turns.

There is a kernel for each thing that is done to blocks, so that a command compiles no more than it
needs: :func:`solve` and :func:`iterate` value them, :func:`choose` finds better actions;
:mod:`hogeq.kernels.recurring_rows` sets rows, and :mod:`hogeq.kernels.recurring_reach` sends reach
through them. Kernels of many rounds return after some, and are called again, so that Python can be
interrupted in between.

Sizes, `graph` and states are those of :mod:`hogeq.kernels.graph_turns`, `recurring` is a
:class:`hogeq.kernels.arrays.RecurringBlocks`. State ``p * H + h`` of a block is memory h at its
p-th position. `play` is a :class:`hogeq.kernels.arrays.Play`.
"""

import numpy as np

from hogeq.kernels import TIE
from hogeq.kernels.arrays import (
    CHANGE,
    LEAVE,
    NO_CHOICE,
    PHASE,
    RISE,
    ROUND_LIMIT,
    ROUNDS,
    STAY,
)
from hogeq.kernels.cache import kernel, part, routine
from hogeq.kernels.graph_turns import (
    average_over_actions,
    block_positions,
    end_entry,
    maximise,
    num_lanes,
    outcomes_of,
    probabilities_at,
    value_ways,
    way_at,
)

SETTLED = 3e-16  # changes by this share of the largest payoff, or of visits, are rounding alone
MOST_ROUNDS = 100_000  # of an iteration
# d of the proof above, at which a bound on turns is good enough: then it is u / (1 - d) = 2 u.
MOST_RISE = 0.5
SLICE = 2_000_000  # states that rounds visit before a kernel returns

VALUES, TURNS = range(2)  # phases of an iteration: of values, then of the bound on turns


# --- a small block ------------------------------------------------------------------------------


@part
def state_in_block(recurring, position, memory, memories):
    """Return the number of a state among those of its block."""
    return recurring.index_in_block[position] * memories + memory


@part
def add_action_to_chain(
    graph, recurring, position, state, slot, action_probability, values, payoff
):
    """Add what follows an action of a state to the Markov chain of its block: :func:`write_chain`.

    A block is a set of positions that play can return to. The action is played with a probability,
    by a slot: a way, its distribution over outcomes, in a lane (what the memory hands on).
    """
    block = recurring.block_of_position[position]
    lane = slot % num_lanes(graph)
    for outcome in outcomes_of(graph, way_at(graph, graph.situation[position], slot)):
        probability = action_probability * graph.outcome_chance[outcome]
        entry = end_entry(graph, position, graph.outcome_end[outcome])
        next_position = graph.next_position[entry]
        if next_position >= 0 and recurring.block_of_position[next_position] == block:
            next_memory = graph.next_memory[graph.end_label[entry], lane]
            next_state = state_in_block(recurring, next_position, next_memory, values.shape[1])
            recurring.transition[state, next_state] += probability
        else:
            if next_position < 0:  # play is over
                value = payoff[-1 - next_position]
            else:
                value = values[next_position, graph.next_memory[graph.end_label[entry], lane]]
            recurring.state_values[state] += probability * value
            recurring.leave_probability[state] += probability


@routine
def write_chain(graph, recurring, play, positions, choice, values, payoff):
    """Write the Markov chain on a small block's m states, and return m.

    A block is a set of positions that play can return to, a state one of them and a memory.

    - ``recurring.transition`` (m, m) gets the probabilities to come from one state to another,
    - ``recurring.leave_probability`` (m,) the probability to leave the block by this turn,
    - ``recurring.state_values`` (m,) the expected payoff, (T,), or value, (C, H), by leaving.

    A state takes its `choice`, (C, H), an action; where that is NO_CHOICE, it acts by its row.
    """
    memories = values.shape[1]
    transition, leave_probability = recurring.transition, recurring.leave_probability
    leave_value = recurring.state_values
    count = len(positions) * memories
    for state in range(count):
        leave_value[state] = leave_probability[state] = 0.0
        for other in range(count):
            transition[state, other] = 0.0
    for position in positions:
        situation = graph.situation[position]
        slots = graph.action_slot[situation]
        probabilities = probabilities_at(graph, position, play)
        for memory in range(memories):
            state = state_in_block(recurring, position, memory, memories)
            chosen = choice[position, memory]
            for action in range(len(probabilities)):
                action_probability = probabilities[action]
                if chosen != NO_CHOICE:
                    action_probability = 1.0 if action == chosen else 0.0
                if action_probability != 0.0:
                    slot = slots[action, memory]
                    add_action_to_chain(
                        graph, recurring, position, state, slot, action_probability, values, payoff
                    )
    return count


@routine
def eliminate(recurring, count):
    """Eliminate the `count` states of a Markov chain, the last first, in place.

    Each transition to the eliminated state is replaced by transitions to where it goes on. Nothing
    is subtracted, so that no digits are lost (Grassmann, Taksar and Heyman 1985). Where a state
    goes on nowhere, play never leaves, and is worth ``recurring.endless_payoff``. Takes
    count**3 / 3 products.
    """
    transition, leave_probability = recurring.transition, recurring.leave_probability
    leave_value = recurring.state_values
    for last in range(count - 1, -1, -1):
        # The probability to go on to an earlier state or to leave, rather than to return here.
        pivot = leave_probability[last]
        for state in range(last):
            pivot += transition[last, state]
        if pivot == 0.0:
            leave_value[last] = recurring.endless_payoff
            leave_probability[last] = 1.0
            pivot = 1.0
        recurring.pivot[last] = pivot
        leave_value[last] = leave_value[last] / pivot
        leave_probability[last] = leave_probability[last] / pivot
        for state in range(last):
            transition[last, state] /= pivot
        for source in range(last):
            probability = transition[source, last]
            if probability > 0.0:
                for state in range(last):
                    transition[source, state] += probability * transition[last, state]
                leave_value[source] += probability * leave_value[last]
                leave_probability[source] += probability * leave_probability[last]


@kernel
def solve(graph, recurring, first, last, play, choice, values, payoff):
    """Value the states of small blocks from `first`, below `last`, by elimination, in (C, H).

    For each block (positions that play can return to), the last first: write its Markov chain (see
    :func:`write_chain` for the arguments), eliminate the states, and substitute values back, from
    the first state on.
    """
    memories, state_values = values.shape[1], recurring.state_values
    for block in range(last - 1, first - 1, -1):
        positions = block_positions(graph, block)
        count = write_chain(graph, recurring, play, positions, choice, values, payoff)
        eliminate(recurring, count)
        for state in range(count):
            for earlier in range(state):
                state_values[state] += recurring.transition[state, earlier] * state_values[earlier]
            values[positions[state // memories], state % memories] = state_values[state]


# --- a large block ------------------------------------------------------------------------------


@routine
def value_once(graph, recurring, play, positions, choice, values, payoff, is_count, scratch):
    """Do one round of value iteration over a block's states, in place; return the largest change.

    A block is a set of positions that play can return to. States with a `choice`, (C, H), take the
    best action for who moves, and note it there; others act by their rows. If `is_count`, `values`
    (C, H) are not payoffs but numbers of turns, which 1 is added to: then states with a choice take
    the action that keeps play in the block longest, and the change returned is the largest rise,
    not the largest in size.
    """
    largest_change = -np.inf
    added = 1.0 if is_count else 0.0
    new_values = recurring.new_values
    for member in range(len(positions) - 1, -1, -1):
        position = positions[member]
        probabilities = probabilities_at(graph, position, play)
        chooses = choice[position, 0] != NO_CHOICE
        played = scratch.all_actions if chooses else probabilities
        way_values = value_ways(graph, position, played, values, payoff, scratch, 0)
        if chooses:
            sign = 1.0 if is_count or graph.player[position] == play.me else -1.0
            maximise(graph, position, sign, way_values, new_values, choice[position])
        else:
            average_over_actions(graph, position, probabilities, way_values, new_values)
        for memory in range(len(new_values)):
            change = new_values[memory] + added - values[position, memory]
            largest_change = max(largest_change, change if is_count else abs(change))
            values[position, memory] = new_values[memory] + added
    return largest_change


@part
def rounds_of_call(positions, memories):
    """Return how many rounds over the states of some positions a kernel makes in one call."""
    return max(1, SLICE // (len(positions) * memories))


@part
def iterate_values(graph, recurring, play, positions, choice, values, payoff, scratch):
    """Do rounds of value iteration over a block, `values` (C, H); return whether none is left.

    A block is a set of positions that play can return to. The iteration begins with
    ``recurring.endless_payoff``, and ends when no value changes. Changes as small as rounding may
    go on in a circle: after the first such round, as many rounds are made as before it.
    ``recurring.progress`` has the rounds so far and the largest change of the last.
    """
    progress = recurring.progress
    if progress[ROUNDS] == 0:
        for position in positions:
            values[position] = recurring.endless_payoff
        progress[ROUND_LIMIT] = MOST_ROUNDS
        progress[CHANGE] = np.inf
    rounds_left = rounds_of_call(positions, values.shape[1])
    is_count = False
    while progress[CHANGE] > 0.0 and progress[ROUNDS] < progress[ROUND_LIMIT]:
        if rounds_left == 0:
            return False
        rounds_left -= 1
        progress[ROUNDS] += 1
        is_settled = progress[CHANGE] <= SETTLED * recurring.largest_payoff
        if is_settled and progress[ROUND_LIMIT] == MOST_ROUNDS:
            progress[ROUND_LIMIT] = 2 * progress[ROUNDS]
        progress[CHANGE] = value_once(
            graph, recurring, play, positions, choice, values, payoff, is_count, scratch
        )
    return True


@part
def iterate_turns(graph, recurring, play, positions, choice, scratch):
    """Do rounds that bound the number of turns in a block, (C, H); return whether none is left.

    A block is a set of positions that play can return to. From 0 on, a round adds 1 to the number
    after each turn, until no number rises by more than `MOST_RISE`. ``recurring.progress`` has the
    rounds so far and the largest rise of the last.
    """
    turns, progress = recurring.turns, recurring.progress
    if progress[ROUNDS] == 0:
        for position in positions:
            turns[position] = 0.0
        progress[RISE] = np.inf
    rounds_left = rounds_of_call(positions, turns.shape[1])
    no_payoffs, is_count = recurring.zero_payoffs, True
    while progress[RISE] > MOST_RISE and progress[ROUNDS] < MOST_ROUNDS:
        if rounds_left == 0:
            return False
        rounds_left -= 1
        progress[ROUNDS] += 1
        progress[RISE] = value_once(
            graph, recurring, play, positions, choice, turns, no_payoffs, is_count, scratch
        )
    return True


@part
def take_iteration_error(recurring, positions):
    """Bound how far the values of an iterated block are off; sets its numbers of turns to 0.

    The bound is the largest change of the last round times a bound on the number of turns, that of
    :func:`iterate_turns`: were a round more to raise its numbers by d < 1, they are too small by
    1 / (1 - d).
    """
    turns, progress = recurring.turns, recurring.progress
    most_turns = 0.0
    for position in positions:
        for memory in range(turns.shape[1]):
            most_turns = max(most_turns, turns[position, memory])
            turns[position, memory] = 0.0
    rise = progress[RISE]
    if not rise < 1.0:
        return np.inf
    error_of_turn = max(progress[CHANGE], SETTLED * recurring.largest_payoff)
    return error_of_turn * most_turns / (1.0 - max(rise, 0.0))


@kernel
def iterate(graph, recurring, block, play, choice, values, payoff, bounds, scratch):
    """Value a large block, `values` (C, H), by value iteration; resumable.

    A block is a set of positions that play can return to.

    1. Value the states round by round until no value changes.
    2. If `bounds`: bound the number of turns in the block from above.
    3. Add to ``scratch.iteration_error`` the last change times this bound: no value is off more.

    `choice` is as of :func:`value_once`. ``recurring.progress`` says where it stands: `PHASE` and
    `ROUNDS` are 0 before the first call. Returns whether it is done; else call it again.
    """
    positions = block_positions(graph, block)
    progress = recurring.progress
    if progress[PHASE] == VALUES:
        if not iterate_values(graph, recurring, play, positions, choice, values, payoff, scratch):
            return False
        if not bounds:
            return True
        progress[PHASE] = TURNS
        progress[ROUNDS] = 0
    if not iterate_turns(graph, recurring, play, positions, choice, scratch):
        return False
    scratch.iteration_error[0] += take_iteration_error(recurring, positions)
    return True


# --- best actions -------------------------------------------------------------------------------


@part
def stay_probability(graph, recurring, position, memory, action):
    """Return the probability that an action at a state leads to a state of the same block.

    A block is a set of positions that play can return to, a way the action's outcome distribution.
    """
    situation = graph.situation[position]
    way = way_at(graph, situation, graph.action_slot[situation, action, memory])
    block = recurring.block_of_position[position]
    probability = 0.0
    for outcome in outcomes_of(graph, way):
        entry = end_entry(graph, position, graph.outcome_end[outcome])
        next_position = graph.next_position[entry]
        if next_position >= 0 and recurring.block_of_position[next_position] == block:
            probability += graph.outcome_chance[outcome]
    return probability


@part
def most_staying_action(graph, recurring, position, memory):
    """Return the action of a state that stays in the block with the highest probability.

    A block is a set of positions that play can return to. Of equals the first.
    """
    slots = graph.action_slot[graph.situation[position]]
    best_action, highest = 0, -1.0
    for action in range(len(slots)):
        probability = stay_probability(graph, recurring, position, memory, action)
        if probability > highest:
            best_action = action
            highest = probability
    return best_action


@part
def first_leaving_action(graph, recurring, position, memory, least_good, sign, way_values):
    """Return the first good action of a state that may leave the block; if none may, the first.

    A block is a set of positions that play can return to. An action is good if it is worth
    `least_good`: the entry of `way_values` at its slot, the way by which it is played in the
    memory, times `sign`, -1 if the other player chooses. There is one.
    """
    slots = graph.action_slot[graph.situation[position]]
    chosen = -1
    for action in range(len(slots)):
        if sign * way_values[slots[action, memory]] >= least_good:
            if chosen < 0:
                chosen = action
            if stay_probability(graph, recurring, position, memory, action) < 1.0:
                return action
    return chosen


@kernel
def choose(graph, recurring, block, me, mover, aim, choice, values, payoff, scratch):
    """Choose actions, `choice` (C, H), in a block's states where `mover` moves: policy iteration.

    A block is a set of positions that play can return to. Actions are compared by `values` (C, H)
    and `payoff` (T,), those of the player `me`: a mover that is another wants them low.

    - `aim` STAY: take the action that stays in the block with the highest probability.
    - `aim` IMPROVE: take the best action where it is worth more than the present one.
    - `aim` LEAVE: take the first of the best actions, of those that do not stay for certain if
      there are any; to stay is worth as much as what follows, be it one's own leaving a turn later.

    Returns whether an action was improved. Policy iteration begins with STAY and ends with LEAVE,
    so that play stays for ever only where that is best.
    """
    has_improved = False
    sign = 1.0 if mover == me else -1.0
    for position in block_positions(graph, block):
        if graph.player[position] != mover:
            continue
        slots = graph.action_slot[graph.situation[position]]
        way_values = value_ways(graph, position, scratch.all_actions, values, payoff, scratch, 0)
        for memory in range(values.shape[1]):
            best_action, best_value = 0, -np.inf
            for action in range(len(slots)):
                action_value = sign * way_values[slots[action, memory]]
                if action_value > best_value:
                    best_action = action
                    best_value = action_value
            least_good = best_value - TIE * recurring.largest_payoff
            if aim == STAY:
                choice[position, memory] = most_staying_action(graph, recurring, position, memory)
            elif aim == LEAVE:
                choice[position, memory] = first_leaving_action(
                    graph, recurring, position, memory, least_good, sign, way_values
                )
            elif sign * way_values[slots[choice[position, memory], memory]] < least_good:
                choice[position, memory] = best_action
                has_improved = True
    return has_improved
