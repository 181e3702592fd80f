"""The two passes over any graph, turn by turn: values backward, reach forward.

This is the reference of every layout, and plays what is not worth compiling for. Sizes are those of
:mod:`hogeq.kernels.graph_turns`. Blocks of positions that recur have kernels of their own, in
:mod:`hogeq.kernels.graph_loops`.
"""

from hogeq.kernels.arrays import NATURE
from hogeq.kernels.cache import kernel, part
from hogeq.kernels.graph_turns import (
    add_weighted_values,
    maximise,
    mix,
    probabilities_at,
    send,
    set_row,
    value_ways,
)


@part
def fill_mirror(lists, position, total, values):
    """Fill the values of a position's mirror, in which the players are exchanged.

    Payoffs of both players sum to `total`: so they are `total` less the position's own, (C, H).
    """
    own_values = values[position]
    mirror_values = values[lists.mirror[position]]
    for memory in range(len(own_values)):
        mirror_values[memory] = total - own_values[memory]


@kernel
def value(lists, first, last, how, policies, payoff, values, choice, scratch):
    """Compute values of states, bottom-up, by rows or by best actions: EVALUATE or FULL_MEMORY.

    Of the blocks from `first`, below `last`, which do not recur.

    - `how`: the player `me` whose pass it is; whether it takes its best action in every state, and
      whether the other does; whether of two mirrored positions one is valued; the sum of payoffs.
    - `policies` (1 + n, R, K): those of the player and of its n opponents; (1, R, K) is self-play.

    Filled are `values` (n, C, H), to the player, and `choice` (C, H), the best actions of the last
    match.
    """
    me, is_best, other_is_best, skips_mirrors, total = how
    for order_index in range(lists.start[last] - 1, lists.start[first] - 1, -1):
        position = lists.order[order_index]
        mover = lists.player[position]
        if skips_mirrors and mover == 1:
            continue  # the mirror of a position that is valued
        chooses = is_best if mover == me else other_is_best and mover != NATURE
        for match in range(len(values)):
            probabilities = probabilities_at(lists, position, me, policies, match)
            match_values = values[match]
            way_values, ends = scratch.rolled[match], scratch.ends
            value_ways(
                lists, position, probabilities, chooses, match_values, payoff, ends, way_values
            )
            state_values = match_values[position]
            if chooses:
                sign = 1.0 if mover == me else -1.0
                maximise(lists, position, sign, way_values, state_values, choice[position])
            else:
                mix(lists, position, probabilities, way_values, state_values)
            if skips_mirrors:
                fill_mirror(lists, position, total, match_values)


@part
def sum_row_values(lists, positions, weights, payoff, reach, values, filled, scratch):
    """Fill the counterfactual values, (K,), and the reach of the row at `positions`, in `filled`.

    Both are sums over positions, their memories and opponents, by `weights` (n,) and `reach`
    (n, C, H). `scratch.rolled` keeps the values of ways at the last position, by opponent.
    """
    counterfactual_values, row_reach = filled
    ends, row = scratch.ends, lists.row[positions[0]]
    action_values = counterfactual_values[row]
    row_reach[row] = 0.0
    action_values[:] = 0.0
    for position in positions:
        for match in range(len(weights)):
            way_values, unread_row = scratch.rolled[match], action_values  # all ways are valued
            value_ways(lists, position, unread_row, True, values[match], payoff, ends, way_values)
            row_reach[row] += add_weighted_values(
                lists, position, weights[match], reach[match, position], way_values, action_values
            )


@kernel
def act(lists, first, last, how, policies, weights, payoff, reach, values, filled, scratch):
    """Value blocks, the last first, and set the player's rows; returns how many ASCEND changed.

    Of the blocks from `first`, below `last`, which do not recur; each has the positions of one row.

    1. Blocks of the player: add up counterfactual values of its row and its reach, against all
       opponents by their `weights` (n,) and the `reach` (n, C, H) of :func:`forward`.
    2. Set the row by the role.
    3. Every block: values of its states, by rows as they are now.

    - `how`: the role, COUNTERFACTUAL, ASCEND or SOFTMAX; the temperature and the damping; the
      player `me`; whether only one of two mirrored positions is valued; and what payoffs sum to.
    - `policies` (1 + n, R, K): those of the player and of its n opponents; (1, R, K) is self-play.
    - `payoff` (T,), `values` (n, C, H): to the player.
    - `filled`: counterfactual values (R, K), -inf where there is no action; reach of rows (R,).
    """
    role, temperature, damping, me, skips_mirrors, total = how
    counterfactual_values, row_reach = filled
    changes = 0
    for block in range(last - 1, first - 1, -1):
        positions = lists.order[lists.start[block] : lists.start[block + 1]]
        mover, row = lists.player[positions[0]], lists.row[positions[0]]
        situation = lists.situation[positions[0]]
        if skips_mirrors and mover == 1:
            continue  # the mirrors of positions that are valued
        if mover == me:
            sum_row_values(lists, positions, weights, payoff, reach, values, filled, scratch)
            legal, action_values = lists.legal[situation], counterfactual_values[row]
            changes += set_row(
                role, legal, policies[0, row], action_values, row_reach[row], temperature, damping
            )
        for position in positions:
            for match in range(len(weights)):
                probabilities = probabilities_at(lists, position, me, policies, match)
                way_values, match_values = scratch.rolled[match], values[match]
                # With one position, ways have been valued for the row.
                if mover != me or len(positions) > 1:
                    ends = scratch.ends
                    value_ways(
                        lists,
                        position,
                        probabilities,
                        False,
                        match_values,
                        payoff,
                        ends,
                        way_values,
                    )
                mix(lists, position, probabilities, way_values, match_values[position])
                if skips_mirrors:
                    fill_mirror(lists, position, total, match_values)
    return changes


@kernel
def forward(lists, first, last, me, policies, reach, row_reach, scratch):
    """Compute the reach of every state against one opponent, top-down, by blocks not recurring.

    Of the blocks from `first`, below `last`. Rows of `policies` (1 + n, R, K) need not sum to 1: a
    row of ones counts every action once. To `reach` (C, H), the probability that a play begins in
    each state, that of coming there is added; and to `row_reach` (R,) that of the rows of player
    `me`.
    """
    for order_index in range(lists.start[first], lists.start[last]):
        position = lists.order[order_index]
        position_reach = 0.0
        for memory in range(reach.shape[1]):
            position_reach += reach[position, memory]
        if position_reach > 0.0:
            if lists.player[position] == me:
                row_reach[lists.row[position]] += position_reach
            probabilities = probabilities_at(lists, position, me, policies, 0)
            masses, flows = scratch.masses, scratch.flows
            send(lists, position, probabilities, reach[position], reach, masses, flows)
