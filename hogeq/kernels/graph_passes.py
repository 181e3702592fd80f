"""The two passes over any graph, turn by turn: values backward, reach forward.

This is the reference of every layout, and plays what is not worth compiling for. Sizes are those of
:mod:`hogeq.kernels.graph_turns`. Blocks of positions that recur have kernels of their own, in
:mod:`hogeq.kernels.graph_loops`.
"""

from hogeq.kernels.arrays import NATURE
from hogeq.kernels.cache import kernel, part
from hogeq.kernels.graph_turns import average, maximise, mix, row_of, send, set_row, value_ways


@part
def mirror(lists, position, total, values):
    """Give the mirror of a position, in which the players are exchanged, its values."""
    here, mirrored = values[position], values[lists.mirror[position]]
    for memory in range(len(here)):
        mirrored[memory] = total - here[memory]


@kernel
def value(lists, first, last, how, policies, payoff, values, choice, scratch):
    """Value blocks that do not recur, by rows or by best actions: EVALUATE or FULL_MEMORY.

    `how` has the player whose pass it is; whether it takes its best action in every state, and
    whether the other does; whether only one of two mirrored positions is valued; and what the
    payoffs of both sum to.

    `policies` (1 + n, R, K) are of the player and of its opponents; (1, R, K) is self-play. Filled
    are `values` (n, C, H), to the player, and `choice` (C, H), the best actions of the last match.
    """
    me, best, answers, sole, total = how
    for place in range(lists.start[last] - 1, lists.start[first] - 1, -1):
        position = lists.order[place]
        mover = lists.player[position]
        if sole and mover == 1:
            continue  # the mirror of a position that is valued
        chooses = best if mover == me else answers and mover != NATURE
        for match in range(len(values)):
            row, here = row_of(lists, position, me, policies, match), values[match, position]
            out = scratch.rolled[match]
            value_ways(lists, position, row, chooses, values[match], payoff, scratch.ends, out)
            if chooses:
                sign = 1.0 if mover == me else -1.0
                maximise(lists, position, sign, out, here, choice[position])
            else:
                mix(lists, position, row, out, here)
            if sole:
                mirror(lists, position, total, values[match])


@kernel
def act(lists, first, last, how, policies, weights, payoff, reach, values, filled, scratch):
    """Value blocks that do not recur, and set the player's rows; returns how many ASCEND changed.

    `how` has the role, COUNTERFACTUAL, ASCEND or SOFTMAX, the temperature, the damping, the player,
    and the last two of :func:`value`. A row is set at once against all opponents, by their
    `weights` (n,) and the `reach` (n, C, H) of :func:`forward`; `policies` and `values` are as
    there. `filled` are counterfactual values (R, K), -inf where there is no action, and the reach
    of rows (R,).
    """
    role, temperature, damping, me, sole, total = how
    averages, row_reach = filled
    changes = 0
    for block in range(last - 1, first - 1, -1):
        positions = lists.order[lists.start[block] : lists.start[block + 1]]
        mover, number = lists.player[positions[0]], lists.row[positions[0]]
        if sole and mover == 1:
            continue
        # A row of the player is looked at, and set; then its positions are valued.
        for step in range(0 if mover == me else 1, 2):
            if step == 0:
                row_reach[number] = 0.0
                averages[number] = 0.0
            elif mover == me:
                row, found = policies[0, number], averages[number]
                legal = lists.legal[lists.situation[positions[0]]]
                arrived = row_reach[number]
                changes += set_row(role, legal, row, found, arrived, temperature, damping)
            for position in positions:
                for match in range(len(weights)):
                    row, out = row_of(lists, position, me, policies, match), scratch.rolled[match]
                    worth = values[match]
                    if step == 0 or mover != me or len(positions) > 1:
                        value_ways(
                            lists, position, row, step == 0, worth, payoff, scratch.ends, out
                        )
                    if step == 0:
                        found, share = averages[number], weights[match]
                        row_reach[number] += average(
                            lists, position, share, reach[match, position], out, found
                        )
                        continue
                    mix(lists, position, row, out, worth[position])
                    if sole:
                        mirror(lists, position, total, worth)
    return changes


@kernel
def forward(lists, first, last, me, policies, reach, row_reach, scratch):
    """Reach of every state against one opponent, by blocks that do not recur.

    Rows of `policies` (Q, R, K) need not sum to 1: a row of ones counts every action once. To
    `reach` (C, H), the probability that a play begins in each state, that of coming there is added;
    and to `row_reach` (R,) that of the rows of player `me`.
    """
    for place in range(lists.start[first], lists.start[last]):
        position = lists.order[place]
        here = 0.0
        for memory in range(reach.shape[1]):
            here += reach[position, memory]
        if here > 0.0:
            if lists.player[position] == me:
                row_reach[lists.row[position]] += here
            row = row_of(lists, position, me, policies, 0)
            send(lists, position, row, reach[position], reach, scratch.masses, scratch.flows)
