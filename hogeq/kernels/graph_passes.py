"""The two passes over any graph, turn by turn: values backward, reach forward.

This is the reference of every layout, and plays what is not worth compiling for. Sizes are those of
:mod:`hogeq.kernels.graph_turns`; positions that recur are in :mod:`hogeq.kernels.graph_loops`.
"""

from hogeq.kernels.cache import kernel
from hogeq.kernels.graph_loops import settle, visit
from hogeq.kernels.graph_turns import (
    average,
    maximise,
    mix,
    row_of,
    send,
    set_row,
    value_ways,
)
from hogeq.kernels.recurrence import EVALUATE, FULL_MEMORY


@kernel
def backward(lists, how, policies, weights, payoff, reach, values, filled, scratch, loop):
    """Backward induction over all blocks; returns how many rows ASCEND changed.

    `how` has the role, the temperature, the damping, the player whose pass it is; whether only its
    half of mirrored positions is valued, and whether both players take their best action in
    FULL_MEMORY; and what the payoffs of both sum to.

    `policies` (1 + n, R, K) are the player's, whose rows ASCEND and SOFTMAX change, and of its
    opponents; (1, R, K) is self-play. A row is set at once against all opponents, by their
    `weights` (n,). `reach` (n, C, H) is of :func:`forward`, for all but EVALUATE and FULL_MEMORY.
    Filled are `values` (n, C, H), and `filled`: by FULL_MEMORY the last, the choice (C, H); by the
    others counterfactual values (R, K), -inf where there is no action, and the reach of rows (R,).
    """
    role, temperature, damping, me, sole, both, total = how
    averages, row_reach, choice = filled
    changes, row_values = 0, role not in (EVALUATE, FULL_MEMORY)
    for block in range(len(lists.start) - 2, -1, -1):
        begin, over = lists.start[block], lists.start[block + 1]
        positions = lists.order[begin:over]
        if loop is not None:  # noqa: SIM102 - numba leaves out the rest where it is None
            if lists.recurs[block]:
                arrays = policies, weights, payoff, reach, values, filled
                changes += settle(lists, how, positions, arrays, scratch, loop)
                continue
        mover, number = lists.player[positions[0]], lists.row[positions[0]]
        if sole and mover == 1:
            continue  # the mirror of a position that is valued
        mine = mover == me
        if mine and row_values:
            found, here = averages[number], 0.0
            found[:] = 0.0
            for position in positions:
                for pair in range(len(weights)):
                    out = scratch.rolled[pair]
                    row = policies[0, number]
                    value_ways(lists, position, row, True, values[pair], payoff, scratch.ends, out)
                    here += average(
                        lists, position, weights[pair], reach[pair, position], out, found
                    )
            row_reach[number] = here
            legal = lists.legal[lists.situation[positions[0]]]
            changes += set_row(role, legal, policies[0, number], found, here, temperature, damping)
        valued = mine and row_values and len(positions) == 1
        for position in positions:
            for pair in range(len(weights)):
                row, out = row_of(lists, position, me, policies, pair), scratch.rolled[pair]
                best = role == FULL_MEMORY and (mine or (both and mover != 2))
                if not valued:
                    value_ways(lists, position, row, best, values[pair], payoff, scratch.ends, out)
                here_values = values[pair, position]
                if best:
                    sign = 1.0 if mine else -1.0
                    maximise(lists, position, sign, out, here_values, choice[position])
                else:
                    mix(lists, position, row, out, here_values)
                if sole:
                    mirrored = values[pair, lists.mirror[position]]
                    for memory in range(len(mirrored)):
                        mirrored[memory] = total - here_values[memory]
    return changes


@kernel
def forward(lists, me, sole, policies, reach, row_reach, scratch, loop):
    """Reach of every state against one opponent; where positions recur, the expected visits.

    Rows of `policies` (Q, R, K) need not sum to 1, unless positions recur: a row of ones counts
    every action once. To `reach` (C, H), the probability that a play begins in each state, that of
    coming there is added. `row_reach` (R,) is filled for the rows of player `me`.
    """
    row_reach[:] = 0.0
    for block in range(len(lists.start) - 1):
        begin, over = lists.start[block], lists.start[block + 1]
        positions = lists.order[begin:over]
        if loop is not None:  # noqa: SIM102 - as above
            if lists.recurs[block]:
                visit(lists, me, sole, policies, positions, reach, scratch, loop)
        for position in positions:
            mover = lists.player[position]
            if sole and mover == 1:
                continue
            here = 0.0
            for memory in range(reach.shape[1]):
                here += reach[position, memory]
            if mover == me:
                row_reach[lists.row[position]] += here
            if here > 0.0 and not lists.recurs[block]:  # else it is sent
                row = row_of(lists, position, me, policies, 0)
                send(
                    lists,
                    position,
                    row,
                    reach[position],
                    reach,
                    scratch.masses,
                    scratch.flows,
                    sole,
                )


@kernel
def action_values(lists, position, values, payoff, scratch):
    """Value every way at a position, in `scratch.rolled`, by values (C, H) of what follows."""
    row = lists.fixed[0] if len(lists.fixed) else payoff
    value_ways(lists, position, row, True, values, payoff, scratch.ends, scratch.rolled[0])
