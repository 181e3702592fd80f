"""Reach through blocks that recur: the flow into a block becomes expected visits of its states.

Sizes and arguments are those of :mod:`hogeq.kernels.recurring_values`.
"""

from hogeq.kernels.arrays import ROUNDS, Play
from hogeq.kernels.cache import kernel, part
from hogeq.kernels.graph_turns import block_positions, end_entry, probabilities_at, send_on
from hogeq.kernels.recurring_values import (
    MOST_ROUNDS,
    SETTLED,
    eliminate,
    rounds_of_call,
    state_in_block,
    write_chain,
)

MOST_VISITS = 1e300  # expected of a state: times a payoff, and summed, they stay finite


@part
def count_visits(graph, recurring, play, positions, reach):
    """Compute the expected visits of a small block's states, in ``recurring.visits``.

    A block is a set of positions that play can return to: under given rows, a Markov chain. The
    flow into each state, `reach` (C, H), goes round in the block. By elimination:

    1. Eliminate the states of the Markov chain, the last first.
    2. Pass flow from each state on to the earlier ones, the last first.
    3. From the first state on, add the visits by way of earlier states; divide by the pivot.
    """
    memories, visits, transition = reach.shape[1], recurring.visits, recurring.transition
    by_rows, unread_payoffs = recurring.no_choice, recurring.zero_payoffs
    count = write_chain(graph, recurring, play, positions, by_rows, reach, unread_payoffs)
    eliminate(recurring, count)
    for state in range(count):
        visits[state] = reach[positions[state // memories], state % memories]
    for last in range(count - 1, -1, -1):
        for state in range(last):
            visits[state] += visits[last] * transition[last, state]
    for state in range(count):
        for earlier in range(state):
            visits[state] += visits[earlier] * transition[earlier, state]
        visits[state] = min(visits[state] / recurring.pivot[state], MOST_VISITS)


@part
def take_arriving(positions, reach, waiting_reach):
    """Move the flow into the states of a block from `reach`, (C, H), to `waiting_reach`, (C, H)."""
    for position in positions:
        for memory in range(reach.shape[1]):
            waiting_reach[position, memory] = reach[position, memory]
            reach[position, memory] = 0.0


@part
def send_waiting(graph, recurring, play, positions, is_small, reach, scratch):
    """Send the reach that waits in a block's states one turn on; returns whether there was any.

    A block is a set of positions that play can return to. Reach that has come to a state and not
    yet been sent on waits in ``recurring.waiting_reach``, (C, H), where that which leaves the block
    is collected, too. It is added to `reach`, (C, H). In a small block a state sends its expected
    visits: what comes back to the block is among them, and need not go round. Reach that is only
    rounding is not sent.
    """
    waiting_reach, sent_reach = recurring.waiting_reach, recurring.sent_reach
    memories = reach.shape[1]
    any_sent = False
    for position in positions:
        total_sent = 0.0
        for memory in range(memories):
            sent = waiting_reach[position, memory]
            if is_small:
                sent = recurring.visits[state_in_block(recurring, position, memory, memories)]
            reach[position, memory] += sent
            waiting_reach[position, memory] = 0.0
            sent_reach[memory] = sent if sent > SETTLED * reach[position, memory] else 0.0
            total_sent += sent_reach[memory]
        if total_sent > 0.0:
            any_sent = True
            probabilities = probabilities_at(graph, position, play)
            send_on(graph, position, probabilities, sent_reach, waiting_reach, scratch)
    return any_sent


@part
def leave_block(graph, recurring, block, me, positions, reach, row_reach):
    """Add up the reach of rows of `me`, `row_reach` (R,), and send what leaves to later blocks.

    A block is a set of positions that play can return to. What waits in ``recurring.waiting_reach``
    moves to `reach`, (C, H), at states of later blocks.
    """
    waiting_reach = recurring.waiting_reach
    for position in positions:
        for memory in range(reach.shape[1]):
            if graph.player[position] == me:
                row_reach[graph.row[position]] += reach[position, memory]
        for end in range(graph.num_ends[graph.situation[position]]):
            next_position = graph.next_position[end_entry(graph, position, end)]
            if next_position >= 0:
                for memory in range(reach.shape[1]):
                    if recurring.block_of_position[next_position] != block:
                        reach[next_position, memory] += waiting_reach[next_position, memory]
                    waiting_reach[next_position, memory] = 0.0


@kernel
def visit(graph, recurring, first, last, me, policies, reach, row_reach, scratch):
    """Turn the flow into the states of small blocks, `reach` (C, H), into expected visits.

    A block is a set of positions that play can return to. For each block from `first`, below
    `last`:

    1. Expected visits of its states, by elimination.
    2. The reach of rows of `me`, `row_reach` (R,), is the sum of the visits of its states.
    3. The reach that leaves is added to `reach` in later blocks.

    A play that never leaves is followed to where that is certain, and no further.
    """
    play, is_small = Play(me, policies, 0), True
    for block in range(first, last):
        positions = block_positions(graph, block)
        count_visits(graph, recurring, play, positions, reach)
        take_arriving(positions, reach, recurring.waiting_reach)
        send_waiting(graph, recurring, play, positions, is_small, reach, scratch)
        leave_block(graph, recurring, block, me, positions, reach, row_reach)


@kernel
def circulate(graph, recurring, block, me, policies, reach, row_reach, scratch):
    """Turn the flow into the states of a large block, `reach` (C, H), into expected visits.

    A block is a set of positions that play can return to. As :func:`visit` does for small ones, but
    reach goes round in the block, turn by turn, until nothing but rounding is left. Returns whether
    it is done; else call it again. ``recurring.progress[ROUNDS]`` is 0 before the first call.
    """
    positions = block_positions(graph, block)
    progress = recurring.progress
    play, is_small = Play(me, policies, 0), False
    if progress[ROUNDS] == 0:
        take_arriving(positions, reach, recurring.waiting_reach)
    rounds_left = rounds_of_call(positions, reach.shape[1])
    any_sent = True
    while any_sent and progress[ROUNDS] < MOST_ROUNDS:
        if rounds_left == 0:
            return False
        rounds_left -= 1
        progress[ROUNDS] += 1
        any_sent = send_waiting(graph, recurring, play, positions, is_small, reach, scratch)
    leave_block(graph, recurring, block, me, positions, reach, row_reach)
    return True
