"""The two passes over any game, turn by turn: values backward, reach forward.

They are for games that are not worth compiling for. What positions that recur do to each other is
solved in :mod:`hogeq.kernels.recurring`. Sizes are those of :mod:`hogeq.kernels.turns`.
"""

from hogeq.kernels.cache import kernel
from hogeq.kernels.recurrence import EVALUATE, FULL_MEMORY
from hogeq.kernels.recurring import settle, stay_of, visit_block, visit_pair
from hogeq.kernels.turns import (
    average,
    maximise,
    mix,
    roll_out,
    send,
    set_row,
    value_ends,
    value_ways,
    want,
)


@kernel
def backward(turns, loops, how, policies, weights, reach, values, filled, scratch, links):
    """Backward induction over all cells; returns the changes of ASCEND.

    `how` has the role, the temperature and the damping. `policies` (1 + n, C, K) are of player 0,
    whose rows ASCEND and SOFTMAX change, and of its opponents; (1, C, K) is self-play. A row of
    player 0 is set at once against all opponents, by their `weights` (n,). `reach` (n, 2, C, H) is
    of :func:`forward`, for all but EVALUATE and FULL_MEMORY. Filled are `values` (n, 2, C, H), the
    win probability of player 0 by who moves, and `filled`: by FULL_MEMORY the last, the choice
    (C, H), and by the others (C, K), counterfactual values after COUNTERFACTUAL, and the reach
    (C,).

    `loops` and `links` are None where no position recurs; else there is one opponent.
    """
    role, temperature, damping = how
    averages, infoset_reach, choice = filled
    ends, wanted = scratch.ends, scratch.wanted
    changes = 0
    row_values = role not in (EVALUATE, FULL_MEMORY)
    blocks = len(turns.order) if loops is None else len(loops.start) - 1
    for block in range(blocks):
        is_loop = False
        if loops is None:
            cells = turns.order[blocks - 1 - block : blocks - block]
        else:
            cells = loops.cells[loops.start[block] : loops.start[block + 1]]
            is_loop = loops.block[cells[0]] >= 0
            if is_loop:
                arrays = policies, reach[0], values[0], averages
                changes += settle(turns, loops, how, cells, arrays, scratch, links)
        for cell in cells:
            row, found, here = policies[0, cell], averages[cell], 0.0
            if row_values:
                found[:] = 0.0
            # First player 0 against everybody, then, with its row set, everybody against it.
            for step in range(2 * len(weights)):
                player, pair = step // len(weights), step % len(weights)
                mine, theirs, out = values[pair, 0], values[pair, 1], scratch.rolled[pair]
                if player == 1:
                    if role == FULL_MEMORY:
                        maximise(turns, cell, out, mine, choice)
                    else:
                        if pair == 0 and not is_loop:
                            changes += set_row(role, row, found, here, temperature, damping)
                        mix(turns, row, cell, out, mine)
                    if len(policies) == 1:
                        for memory in range(mine.shape[1]):
                            theirs[cell, memory] = 1.0 - mine[cell, memory]
                        continue
                moving, waiting = (theirs, mine) if player else (mine, theirs)
                played = policies[1 + pair, cell] if player else row
                want(turns, cell, played, player == 0 and role != EVALUATE, wanted)
                value_ends(turns, cell, moving, waiting, 1.0 - player, ends)
                value_ways(turns, wanted, 1, ends, out)
                if player == 1:
                    mix(turns, played, cell, out, theirs)
                elif row_values:
                    here += average(turns, cell, weights[pair], reach[pair, 0], out, found)
            if row_values:
                infoset_reach[cell] = here
    return changes


@kernel
def forward(turns, loops, policies, reach, infoset_reach, scratch, links):
    """Reach of every hidden state by mover; where positions recur, the expected visits.

    Rows of `policies` (P, C, K) need not sum to 1, unless positions recur: a row of ones counts
    every roll once. To `reach` (P, C, H), the probability that a game starts in each state, that of
    coming there is added. `infoset_reach` (C,) is filled with the sums of player 0's.
    """
    players = len(policies)
    blocks = len(turns.order) if loops is None else len(loops.start) - 1
    for block in range(blocks - 1, -1, -1):
        if loops is None:
            cells = turns.order[blocks - 1 - block : blocks - block]
        else:
            cells = loops.cells[loops.start[block] : loops.start[block + 1]]
            if loops.block[cells[0]] >= 0 and loops.in_pairs:
                visit_pair(turns, loops, policies, cells, links.left[0, 0], reach)
            elif loops.block[cells[0]] >= 0:
                visit_block(turns, loops, policies, cells, scratch.masses, reach, links)
        for cell in cells:
            for player in range(players):
                here = 0.0
                for memory in range(reach.shape[2]):
                    here += reach[player, cell, memory]
                if player == 0:
                    infoset_reach[cell] = here
                if here > 0.0:
                    if loops is not None:
                        for way in range(len(turns.dice)):
                            scratch.skipped[way] = stay_of(turns, loops, cell, way) > 0.0
                    roll_out(turns, policies[player, cell], cell, reach[player], scratch.masses)
                    send(turns, cell, reach[player], reach[players - 1 - player], scratch)


@kernel
def roll_values(turns, cell, moving, waiting, win, scratch):
    """Value every way to roll at a cell, in `scratch.rolled`, by values of the next states."""
    for way in range(len(turns.dice)):
        scratch.wanted[way] = turns.usable[turns.situation[cell], way]
    value_ends(turns, cell, moving, waiting, win, scratch.ends)
    value_ways(turns, scratch.wanted, 1, scratch.ends, scratch.rolled[0])
