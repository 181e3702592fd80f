"""The two passes over any graph, turn by turn: values backward, reach forward.

This is the reference of every layout, and plays what is not worth compiling for. Sizes are those of
:mod:`hogeq.kernels.graph_turns`. Blocks of positions that recur have kernels of their own, from
:mod:`hogeq.kernels.recurring_values` on.
"""

from hogeq.kernels.arrays import FULL_MEMORY, NATURE, Play
from hogeq.kernels.cache import kernel, part
from hogeq.kernels.graph_turns import (
    add_weighted_values,
    average_over_actions,
    block_positions,
    exclude_illegal,
    maximise,
    positions_of_blocks,
    probabilities_at,
    send_on,
    set_row,
    value_ways,
)


@part
def fill_mirror(graph, position, payoff_sum, values):
    """Fill the values of a position's mirror, in which the players are exchanged.

    They are what payoffs of both players sum to, less the position's own, (C, H).
    """
    own_values = values[position]
    mirror_values = values[graph.mirror_position[position]]
    for memory in range(len(own_values)):
        mirror_values[memory] = payoff_sum - own_values[memory]


@kernel
def value(graph, first, last, rule, matches, choice, scratch):
    """Compute values of states, bottom-up, by rows or by best actions: EVALUATE or FULL_MEMORY.

    Of the blocks of positions from `first`, below `last`, which do not recur: play never returns to
    a block. A match is one opponent of the player. Filled are ``matches.values`` (n, C, H), to the
    player, and `choice` (C, H), the best actions of the last match. `rule` and `matches` are as of
    :func:`value_and_set_rows`.
    """
    positions = positions_of_blocks(graph, first, last)
    for order_index in range(len(positions) - 1, -1, -1):
        position = positions[order_index]
        mover = graph.player[position]
        if rule.skips_mirrors and mover == 1:
            continue  # the mirror of a position that is valued
        is_own = mover == rule.me
        responds = is_own or (rule.other_responds and mover != NATURE)
        chooses = rule.role == FULL_MEMORY and responds
        for match in range(len(matches.values)):
            match_values, payoff = matches.values[match], matches.payoff
            state_values = match_values[position]
            if chooses:
                way_values = value_ways(
                    graph, position, scratch.all_actions, match_values, payoff, scratch, match
                )
                sign = 1.0 if is_own else -1.0
                maximise(graph, position, sign, way_values, state_values, choice[position])
            else:
                play = Play(rule.me, matches.policies, match)
                probabilities = probabilities_at(graph, position, play)
                way_values = value_ways(
                    graph, position, probabilities, match_values, payoff, scratch, match
                )
                average_over_actions(graph, position, probabilities, way_values, state_values)
            if rule.skips_mirrors:
                fill_mirror(graph, position, rule.payoff_sum, match_values)


@part
def sum_row_values(graph, rule, row, positions, matches, sums, scratch):
    """Fill the counterfactual values and the reach of a player's row, in `sums`.

    A row is an information set. Both are sums over memories, opponents (`match`) and those of
    `positions` that have the row. `scratch.way_values` keeps the values of ways at the last
    position, by opponent; a way is a distribution over the ends of a turn, by which an action is
    played. `rule`, `matches` and `sums` are as of :func:`value_and_set_rows`.
    """
    action_values = sums.action_values[row]
    sums.reach[row] = 0.0
    action_values[:] = 0.0
    for position in positions:
        if graph.player[position] == rule.me and graph.row[position] == row:
            for match in range(len(matches.weights)):
                values, payoff = matches.values[match], matches.payoff
                way_values = value_ways(
                    graph, position, scratch.all_actions, values, payoff, scratch, match
                )
                weight, reach = matches.weights[match], matches.reach[match, position]
                sums.reach[row] += add_weighted_values(
                    graph, position, weight, reach, way_values, action_values
                )


@kernel
def value_and_set_rows(graph, first, last, rule, matches, sums, scratch):
    """Value blocks, the last first, and set the player's rows.

    A row has the probabilities of an information set, a block the positions of one row. Of those
    from `first`, below `last`, which play does not return to:

    1. Blocks of the player: add up counterfactual values of its row and its reach, in `sums`,
       against all opponents by their weights, and the reach of :func:`forward`.
    2. Set the row by the role: to the best action, or by a softmax; or leave it.
    3. Every block: values of its states, by rows as they are now. If mirrors are skipped, only of
       one of two positions that are alike but for who is who; the other gets what is left of the
       payoffs' sum.

    The arguments are records of :mod:`hogeq.kernels.arrays`: `rule` a PassRule, `matches` Matches,
    `sums` RowSums.
    """
    for block in range(last - 1, first - 1, -1):
        positions = block_positions(graph, block)
        mover, row = graph.player[positions[0]], graph.row[positions[0]]
        if rule.skips_mirrors and mover == 1:
            continue  # the mirrors of positions that are valued
        is_own = mover == rule.me
        if is_own:
            sum_row_values(graph, rule, row, positions, matches, sums, scratch)
            exclude_illegal(graph, positions[0], sums.action_values[row])
            set_row(rule, matches.policies[0, row], sums.action_values[row], sums.reach[row])
        for position in positions:
            for match in range(len(matches.weights)):
                play = Play(rule.me, matches.policies, match)
                probabilities = probabilities_at(graph, position, play)
                way_values, match_values = scratch.way_values[match], matches.values[match]
                # With one position, ways have been valued for the row.
                if not is_own or len(positions) > 1:
                    value_ways(
                        graph, position, probabilities, match_values, matches.payoff, scratch, match
                    )
                average_over_actions(
                    graph, position, probabilities, way_values, match_values[position]
                )
                if rule.skips_mirrors:
                    fill_mirror(graph, position, rule.payoff_sum, match_values)


@kernel
def forward(graph, first, last, me, policies, reach, row_reach, scratch):
    """Compute the reach of every state against one opponent, top-down, by blocks not recurring.

    A block is a set of positions; those from `first`, below `last`, are passed. Rows of `policies`
    (1 + n, R, K) need not sum to 1: a row of ones counts every action once. To `reach` (C, H), the
    probability that a play begins in each state, that of coming there is added; and to `row_reach`
    (R,) that of the rows of player `me`.
    """
    play = Play(me, policies, 0)
    for position in positions_of_blocks(graph, first, last):
        position_reach = 0.0
        for memory in range(reach.shape[1]):
            position_reach += reach[position, memory]
        if position_reach > 0.0:
            if graph.player[position] == me:
                row_reach[graph.row[position]] += position_reach
            probabilities = probabilities_at(graph, position, play)
            send_on(graph, position, probabilities, reach[position], reach, scratch)
