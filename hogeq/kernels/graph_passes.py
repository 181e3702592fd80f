"""The two passes over any graph, turn by turn: values backward, reach forward.

This is the reference of every layout, and plays what is not worth compiling for. Sizes are those of
:mod:`hogeq.kernels.graph_turns`. Blocks of positions that recur have kernels of their own, in
:mod:`hogeq.kernels.graph_loops`.
"""

from hogeq.kernels.arrays import NATURE
from hogeq.kernels.cache import kernel, part
from hogeq.kernels.graph_turns import average, maximise, mix, row_of, send, set_row, value_ways


@part
def fill_mirror(lists, position, total, values):
    """Value a position's mirror, in which the players are exchanged: `total` less its values."""
    own_values, mirrored = values[position], values[lists.mirror[position]]
    for memory in range(len(own_values)):
        mirrored[memory] = total - own_values[memory]


@kernel
def value(lists, first, last, how, policies, payoff, values, choice, scratch):
    """Compute values of states, bottom-up, by rows or by best actions: EVALUATE or FULL_MEMORY.

    Of the blocks from `first`, below `last`, which do not recur. `how` has the player whose pass it
    is; whether it takes its best action in every state, and whether the other does; whether only
    one of two mirrored positions is valued; and what the payoffs of both sum to.

    `policies` (1 + n, R, K) are of the player and of its opponents; (1, R, K) is self-play. Filled
    are `values` (n, C, H), to the player, and `choice` (C, H), the best actions of the last match.
    """
    me, is_best, other_is_best, skips_mirrors, total = how
    for place in range(lists.start[last] - 1, lists.start[first] - 1, -1):
        position = lists.order[place]
        mover = lists.player[position]
        if skips_mirrors and mover == 1:
            continue  # the mirror of a position that is valued
        chooses = is_best if mover == me else other_is_best and mover != NATURE
        for match in range(len(values)):
            row = row_of(lists, position, me, policies, match)
            state_values, way_values = values[match, position], scratch.rolled[match]
            value_ways(
                lists, position, row, chooses, values[match], payoff, scratch.ends, way_values
            )
            if chooses:
                sign = 1.0 if mover == me else -1.0
                maximise(lists, position, sign, way_values, state_values, choice[position])
            else:
                mix(lists, position, row, way_values, state_values)
            if skips_mirrors:
                fill_mirror(lists, position, total, values[match])


@kernel
def act(lists, first, last, how, policies, weights, payoff, reach, values, filled, scratch):
    """Value blocks, the last first, and set the player's rows; returns how many ASCEND changed.

    1. Blocks of the player: add up counterfactual values of its row and its reach, against all
       opponents by their `weights` (n,) and the `reach` (n, C, H) of :func:`forward`.
    2. Set the row by the role.
    3. Every block: values of its states, by rows as they are now.

    `how` has the role, COUNTERFACTUAL, ASCEND or SOFTMAX, the temperature, the damping, the player,
    and the last two of :func:`value`; other arguments are as there. `filled` are counterfactual
    values (R, K), -inf where there is no action, and the reach of rows (R,).
    """
    role, temperature, damping, me, skips_mirrors, total = how
    counterfactual_values, row_reach = filled
    changes = 0
    for block in range(last - 1, first - 1, -1):
        positions = lists.order[lists.start[block] : lists.start[block + 1]]
        mover, number = lists.player[positions[0]], lists.row[positions[0]]
        if skips_mirrors and mover == 1:
            continue
        # Step 0 looks at a row of the player; step 1 sets it and values its positions.
        for step in range(0 if mover == me else 1, 2):
            if step == 0:
                row_reach[number] = 0.0
                counterfactual_values[number] = 0.0
            elif mover == me:
                row, action_values = policies[0, number], counterfactual_values[number]
                legal = lists.legal[lists.situation[positions[0]]]
                total_reach = row_reach[number]
                changes += set_row(
                    role, legal, row, action_values, total_reach, temperature, damping
                )
            for position in positions:
                for match in range(len(weights)):
                    row = row_of(lists, position, me, policies, match)
                    way_values, match_values = scratch.rolled[match], values[match]
                    # With one position they are those of step 0.
                    if step == 0 or mover != me or len(positions) > 1:
                        ends, all_ways = scratch.ends, step == 0
                        value_ways(
                            lists, position, row, all_ways, match_values, payoff, ends, way_values
                        )
                    if step == 0:
                        action_values, weight = counterfactual_values[number], weights[match]
                        state_reach = reach[match, position]
                        row_reach[number] += average(
                            lists, position, weight, state_reach, way_values, action_values
                        )
                        continue
                    mix(lists, position, row, way_values, match_values[position])
                    if skips_mirrors:
                        fill_mirror(lists, position, total, match_values)
    return changes


@kernel
def forward(lists, first, last, me, policies, reach, row_reach, scratch):
    """Compute the reach of every state against one opponent, top-down, by blocks not recurring.

    Rows of `policies` (1 + n, R, K) need not sum to 1: a row of ones counts every action once. To
    `reach` (C, H), the probability that a play begins in each state, that of coming there is added;
    and to `row_reach` (R,) that of the rows of player `me`.
    """
    for place in range(lists.start[first], lists.start[last]):
        position = lists.order[place]
        position_reach = 0.0
        for memory in range(reach.shape[1]):
            position_reach += reach[position, memory]
        if position_reach > 0.0:
            if lists.player[position] == me:
                row_reach[lists.row[position]] += position_reach
            row = row_of(lists, position, me, policies, 0)
            send(lists, position, row, reach[position], reach, scratch.masses, scratch.flows)
