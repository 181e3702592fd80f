"""Rows of blocks that recur, set by the role of a pass.

Sizes and arguments are those of :mod:`hogeq.kernels.recurring_values`.
"""

from hogeq.kernels.arrays import (
    ADAPTS,
    ASCEND,
    CHECKS,
    COUNTERFACTUAL,
    MEMBER,
    MOVED,
    SEVERAL,
    SOFTMAX,
    STALE,
    Play,
)
from hogeq.kernels.cache import kernel, part, routine
from hogeq.kernels.graph_passes import sum_row_values
from hogeq.kernels.graph_turns import block_positions, exclude_illegal, set_row
from hogeq.kernels.recurring_values import solve


@part
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
    progress[SEVERAL] = has_several
    progress[ADAPTS] = rule.role != COUNTERFACTUAL
    progress[MEMBER] = progress[CHECKS] = progress[MOVED] = 0.0
    progress[STALE] = 1.0


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
def undo_unless_better(row, row_before, action_values):
    """Restore a row, (K,), to `row_before` unless its change wins; return whether it was restored.

    It wins the difference of the rows times the counterfactual values, (K,), after the change.
    """
    gain = 0.0
    for action in range(len(row)):
        gain += (row[action] - row_before[action]) * action_values[action]
    if gain <= 0.0:
        for action in range(len(row)):
            row[action] = row_before[action]
    return gain <= 0.0


@routine
def settle_row(graph, recurring, block, rule, matches, sums, scratch):
    """Set the next row of a block by the role of a pass; returns whether anything is left to do.

    A row has the probabilities of an information set, a block is a set of positions that play can
    return to. These are steps 2 to 4 of :func:`settle`: sum the row's counterfactual values; set
    it, or if it was set in the last call, check that this wins and else undo it. ``progress`` says
    where the work stands.

    The block is valued. Where the row's change makes its values stale, ``progress[STALE]`` is 1
    afterwards: value it before the next call.
    """
    row_before, progress = recurring.row_before, recurring.progress
    positions = block_positions(graph, block)
    has_several = progress[SEVERAL] > 0.0
    adapts = progress[ADAPTS] > 0.0
    checks = progress[CHECKS] > 0.0
    moved = progress[MOVED] > 0.0
    is_stale = False
    member = next_first_of_row(graph, recurring, rule.me, positions, int(progress[MEMBER]))
    if member < len(positions):
        first = positions[member]
        number = graph.row[first]
        row, action_values = matches.policies[0, number], sums.action_values[number]
        sum_row_values(graph, rule, number, positions, matches, sums, scratch)
        if checks:  # the row is changed, and the block was valued anew
            checks = False
            # A change that wins is the only one of its block in a pass.
            adapts = undo_unless_better(row, row_before, action_values)
            is_stale = adapts
        else:
            for action in range(len(row)):
                row_before[action] = row[action]
            exclude_illegal(graph, first, action_values)
            has_changed = adapts and set_row(rule, row, action_values, sums.reach[number]) > 0
            moved = moved or has_changed
            checks = has_changed and has_several
            is_stale = adapts and (has_changed or rule.role == SOFTMAX)
        if not checks:
            member += 1
    if member == len(positions) and rule.role == ASCEND and moved and not has_several:
        member = 0  # policy iteration: go round until no row changes
        moved = False
    progress[MEMBER] = member
    progress[STALE] = is_stale
    progress[ADAPTS] = adapts
    progress[CHECKS] = checks
    progress[MOVED] = moved
    return is_stale or member < len(positions)


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

    `rule`, `matches` and `sums` are as of :func:`hogeq.kernels.graph_passes.act`.
    """
    by_rows = recurring.no_choice
    for block in range(last - 1, first - 1, -1):
        begin_settling(graph, recurring, block, rule, matches)
        goes_on = True
        while goes_on:
            if recurring.progress[STALE] > 0.0:
                for match in range(len(matches.weights)):
                    play, values = Play(rule.me, matches.policies, match), matches.values[match]
                    solve(graph, recurring, block, block + 1, play, by_rows, values, matches.payoff)
            goes_on = settle_row(graph, recurring, block, rule, matches, sums, scratch)


@kernel
def settle_large(graph, recurring, block, begins, rule, matches, sums, scratch):
    """Begin to set the rows of a large block by the role, or set its next row.

    Between two calls the caller values the block by
    :func:`hogeq.kernels.recurring_values.iterate` if ``recurring.progress[STALE]`` is 1. Returns
    whether anything is left to do; other arguments are as of :func:`settle`.
    """
    if not begins:
        return settle_row(graph, recurring, block, rule, matches, sums, scratch)
    begin_settling(graph, recurring, block, rule, matches)
    return True
