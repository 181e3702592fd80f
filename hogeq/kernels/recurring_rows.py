"""Rows of blocks that recur, set by the role of a pass.

Sizes and arguments are those of :mod:`hogeq.kernels.recurring_values`.
"""

from hogeq.kernels.arrays import (
    ASCEND,
    COUNTERFACTUAL,
    HAS_CHANGED,
    HAS_SEVERAL,
    IS_ADAPTING,
    IS_ON_TRIAL,
    IS_STALE,
    NEXT_MEMBER,
    SOFTMAX,
    Play,
)
from hogeq.kernels.cache import kernel, part
from hogeq.kernels.graph_passes import sum_row_values
from hogeq.kernels.graph_turns import block_positions, exclude_illegal, set_row
from hogeq.kernels.recurring_values import solve


@kernel
def begin_settling(graph, recurring, block, rule, matches):
    """Write to ``recurring.progress`` that setting a block's rows begins, at its first position.

    A block is a set of positions that play can return to, a row an information set's probabilities.
    Unless the role is COUNTERFACTUAL they are set by it. A row *has several* states if there are
    several memories or matches, or if another position of the block has the same row.
    """
    progress = recurring.progress
    num_matches, _, memories = matches.values.shape
    has_several = memories > 1 or num_matches > 1
    for position in block_positions(graph, block):
        is_own = graph.player[position] == rule.me
        has_several = has_several or (is_own and not recurring.is_first_of_row[position])
    progress[NEXT_MEMBER] = 0.0
    progress[HAS_SEVERAL] = has_several
    progress[IS_ADAPTING] = rule.role != COUNTERFACTUAL
    progress[IS_ON_TRIAL] = 0.0
    progress[HAS_CHANGED] = 0.0
    progress[IS_STALE] = 1.0


@part
def next_first_of_row(graph, recurring, me, positions, member):
    """Return the next number, from `member` on, of a position that is the first of a row of `me`.

    Numbers are indices of a block's `positions`; after the last there is their length.
    """
    while member < len(positions):
        position = positions[member]
        if graph.player[position] == me and recurring.is_first_of_row[position]:
            break
        member += 1
    return member


@part
def change_row(recurring, rule, row, action_values, reach):
    """Set a row of a policy, (K,), by the role, and store it as it was; on trial if need be.

    `action_values`, (K,), are counterfactual. A row that can act in several states is on trial:
    only once its block is valued anew it is known whether the change wins.
    """
    progress = recurring.progress
    for action in range(len(row)):
        recurring.row_before[action] = row[action]
    if progress[IS_ADAPTING] > 0.0:
        takes_another = set_row(rule, row, action_values, reach) > 0
        if takes_another:
            progress[HAS_CHANGED] = 1.0
            progress[IS_ON_TRIAL] = progress[HAS_SEVERAL]
        progress[IS_STALE] = takes_another or rule.role == SOFTMAX


@part
def end_trial(recurring, row, action_values):
    """Keep the last change of a row, (K,), if it wins, and then set no other; else undo it.

    It wins the difference of the rows times the counterfactual values, (K,), after the change. A
    change that wins is the only one of its block in a pass.
    """
    progress, row_before = recurring.progress, recurring.row_before
    gain = 0.0
    for action in range(len(row)):
        gain += (row[action] - row_before[action]) * action_values[action]
    is_undone = gain <= 0.0
    if is_undone:
        for action in range(len(row)):
            row[action] = row_before[action]
    progress[IS_ON_TRIAL] = 0.0
    progress[IS_ADAPTING] = is_undone
    progress[IS_STALE] = is_undone


@kernel
def settle_row(graph, recurring, block, rule, matches, sums, scratch):
    """Set the next row of a block by the role of a pass; returns whether anything is left to do.

    A row has the probabilities of an information set, a block is a set of positions that play can
    return to. These are steps 2 to 4 of :func:`settle`: sum the row's counterfactual values; set
    it, or if it was set in the last call, check that this wins and else undo it. The block must be
    valued; if its values are out of date afterwards, ``recurring.progress[IS_STALE]`` is 1. Begin
    with :func:`begin_settling`.
    """
    progress = recurring.progress
    positions = block_positions(graph, block)
    progress[IS_STALE] = 0.0
    member = next_first_of_row(graph, recurring, rule.me, positions, int(progress[NEXT_MEMBER]))
    if member < len(positions):
        row_number = graph.row[positions[member]]
        row, action_values = matches.policies[0, row_number], sums.action_values[row_number]
        sum_row_values(graph, rule, row_number, positions, matches, sums, scratch)
        if progress[IS_ON_TRIAL] > 0.0:
            end_trial(recurring, row, action_values)
        else:
            exclude_illegal(graph, positions[member], action_values)
            change_row(recurring, rule, row, action_values, sums.reach[row_number])
        if progress[IS_ON_TRIAL] == 0.0:
            member += 1
    is_round_over = member == len(positions)
    is_policy_iteration = rule.role == ASCEND and progress[HAS_SEVERAL] == 0.0
    if is_round_over and is_policy_iteration and progress[HAS_CHANGED] > 0.0:
        member = 0  # until no row changes
        progress[HAS_CHANGED] = 0.0
    progress[NEXT_MEMBER] = member
    return progress[IS_STALE] > 0.0 or member < len(positions)


@kernel
def settle(graph, recurring, first, last, rule, matches, sums, scratch):
    """Value small blocks from `first`, below `last`, with rows as the role sets them.

    A block is a set of positions that play can return to, a row an information set's probabilities.
    For each block, the last first:

    1. Value it if it is stale: at first, and when a row of it has changed.
    2. Take its next row of the player, at the first position of it: counterfactual values.
    3. Set the row by the role as long as the block *adapts*.
    4. If the change needs a *check*, value the block, and undo the change unless it wins.

    ASCEND and SOFTMAX take the rows of a block one after the other and value it anew after each.
    Where a row has one state, against one opponent, ASCEND is policy iteration, and every change
    counts. Else a row can act in several states, whose shares a change moves, and the action that
    the slope favours can lose: so a change is kept only if it wins, and in one pass a block changes
    one row only, since the reach of its other rows then is out of date. What a change wins is the
    reach before it, times the difference of the rows, times the values after it.

    `rule`, `matches` and `sums` are as of :func:`hogeq.kernels.graph_passes.value_and_set_rows`.
    """
    by_rows = recurring.no_choice
    for block in range(last - 1, first - 1, -1):
        begin_settling(graph, recurring, block, rule, matches)
        goes_on = True
        while goes_on:
            if recurring.progress[IS_STALE] > 0.0:
                for match in range(len(matches.weights)):
                    play, values = Play(rule.me, matches.policies, match), matches.values[match]
                    solve(graph, recurring, block, block + 1, play, by_rows, values, matches.payoff)
            goes_on = settle_row(graph, recurring, block, rule, matches, sums, scratch)
