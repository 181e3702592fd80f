"""Reach by diagonals: the transpose of :mod:`hogeq.kernels.diagonal_values`.

One diagonal after the other: the reach of the afterstates of its total is complete, and goes to the
cells on which they land, of this total or later ones; then, block by block, that of each memory
goes to its rolls, and from these a die further, or straight to afterstates.

Symbols of shapes are those of :mod:`hogeq.kernels.diagonals`; Q is the number of players.
"""

from hogeq.kernels.diagonal_rows import (
    CELLS,
    beside,
    bounds,
    pair_of_sums,
    row_at,
    rows_of,
    take_row,
    turned,
)
from hogeq.kernels.gathers import first_of
from hogeq.kernels.lanes import above_rounding, item, load, splat, store, store_one
from hogeq.kernels.sums import kernel, part


@part
def clear_sums(game, block, player, sums):
    """Forget the sums of a block, as it comes into play."""
    none = splat(sums, 0.0, game.lane)
    at = player * game.sum_size + block * game.sum_block
    for x in range(0, game.sum_block, CELLS):
        store(sums, at + x, none)


@part
def _flow_in(game, total, block, player, page, inflow, sums, rows):
    """Complete the reach of a block of afterstates of one page."""
    lane = game.lane
    at = (player * len(game.page_end) + page) * game.known_page
    at += row_at(game, total, block * CELLS)
    summed = splat(sums, 0.0, lane)
    for x in range(item(game.page_start, page), item(game.page_start, page + 1)):
        group = item(game.page_group, x)
        depth = item(game.group_depth, group)
        if depth == 0:
            continue
        dice = item(game.group_dice, group)
        first = player * game.sum_size + block * game.sum_block + item(game.group_sums, group)
        rest = first + depth * (item(game.sides, dice) + 2) * CELLS
        if total % 2 == 0:
            here, after = pair_of_sums(game, sums, first, dice, rows)
            summed += here
            store(sums, rest, after)
        else:
            summed += load(sums, rest, lane)
    # What corrections took away beforehand can leave nothing but rounding.
    return above_rounding(summed + load(inflow, at, lane), summed)


@part
def arrive(game, total, player, inflow, sums, arrived, rows, scratch):
    """Carry the reach of a total's afterstates to the cells on which they land."""
    pages = len(game.page_end)
    first, last = max(0, total - game.goal + 1), min(total, game.goal - 1)
    size = 2 * game.memories * game.worth_page
    ends = game.land.shape[0]
    for block in range(first // CELLS, last // CELLS + 1):
        low, high = bounds(game, total, block)
        for page in range(pages):
            flow = _flow_in(game, total, block, player, page, inflow, sums, rows)
            store(scratch, page * CELLS, flow)
        for end in range(ends):
            places = (end * game.land.shape[1] + total) * game.width + block * CELLS
            for cell in range(low, high):
                place = int(item(game.land, places + cell))
                to = player * size + (place >> 1)
                for page in range(end * pages // ends, (end + 1) * pages // ends):
                    if place & 1:
                        at = to + item(game.page_again, page)
                    else:
                        at = to + item(game.page_other, page)
                    flow = item(arrived, at) + item(scratch, page * CELLS + cell)
                    store_one(arrived, at, flow)
    none = splat(sums, 0.0, game.lane)
    for page in range(pages):
        row = (player * pages + page) * game.known_page + row_at(game, total, 0)
        for cell in range(0, game.width, CELLS):
            store(inflow, row + cell, none)


@part
def collect_memory(game, total, block, memory, player, players, arrived):
    """Reach of a memory at the cells of a block; forget it."""
    size = 2 * game.memories * game.worth_page
    there = (total & (game.worth_ring - 1)) * game.width + block * CELLS
    none = splat(arrived, 0.0, game.lane)
    other = (players - 1 - player) * size + memory * game.worth_page + there
    value = load(arrived, other, game.lane)
    store(arrived, other, none)
    if game.any_again:
        again = player * size + (game.memories + memory) * game.worth_page + there
        value += load(arrived, again, game.lane)
        store(arrived, again, none)
    return value


@part
def spread_lines(game, total, block, situation, inflow, player, sums, rows, found):
    """Carry the reach of every line at the cells of a block a die further, or to afterstates."""
    num_actions, lane = game.num_actions, game.lane
    pages = player * len(game.page_end) * game.known_page
    groups = len(game.group_dice)
    pairs = total % 2 == 0
    low, high = bounds(game, total, block)
    none = splat(sums, 0.0, lane)
    for group in range(groups):
        dice = item(game.group_dice, group)
        depth = item(game.group_depth, group)
        step = (item(game.sides, dice) + 2) * CELLS
        page = pages + item(game.group_page, group) * game.known_page
        first = (situation * groups + group) * num_actions
        at = player * game.sum_size + block * game.sum_block + item(game.group_sums, group)
        to, other = item(rows, dice * game.sum_rows), item(rows, beside(game, dice))
        run = item(game.run, situation * groups + group)
        for roll in range(1, depth + 1):
            here, after = none, none
            if pairs:
                if roll < depth:
                    here, after = pair_of_sums(game, sums, at + step, dice, rows)
                store(sums, at + other, after)
            else:
                here = load(sums, at + to, lane)
            if run >= 0:
                here += load(found, (run + roll - 1) * CELLS, lane)
            else:
                line = item(game.line, first + roll)
                if line >= 0 and game.is_sum[dice, roll] != 0:
                    here += load(found, line * CELLS, lane)
            store(sums, at + to, here)
            at += step
        if item(game.active, situation * groups + group) == 0:
            continue
        for target in range(item(game.target_start, dice), item(game.target_start, dice + 1)):
            row = row_at(game, total + item(game.target_total, target), block * CELLS)
            to = page + item(game.target_page, target) + row + item(game.target_shift, target)
            flow = load(inflow, to, lane)
            if run >= 0:
                chance = item(game.target_first, target)
                for x in range(depth):
                    flow += item(game.target_prob, chance + x) * load(
                        found, (run + x) * CELLS, lane
                    )
                store(inflow, to, flow)
                continue
            for x in range(item(game.target_first, target), item(game.target_first, target + 1)):
                line = item(game.line, first + item(game.target_roll, x))
                if line >= 0:
                    flow += item(game.target_prob, x) * load(found, line * CELLS, lane)
            store(inflow, to, flow)
        line = item(game.line, first)
        if line >= 0:
            there = (dice * (2 * game.goal - 1) + total) * game.width + block * CELLS
            for cell in range(low, high):
                to = page + item(game.zero, there + cell)
                store_one(inflow, to, item(inflow, to) + item(found, line * CELLS + cell))


@kernel
def forward(
    game,
    policies,
    weights,
    inflow,
    sums,
    arrived,
    found,
    row,
    scratch,
    infoset_reach,
    rows,
    players,
    opponent,
):
    """Reach probabilities of every hidden state under the players' policies.

    Parameters
    ----------
    game, policies, sums, found, row, rows
        As in :func:`hogeq.kernels.diagonal_values.backward`, but rows need not sum to 1.
    weights : float64 (2 G - 1, H, width) or (0, ...)
        Filled with the reach probability of player 0's memories, by total and opponent's score.
    inflow : float64 (Q * C * known_page,)
        Scratch: reach probability of afterstates.
    arrived : float64 (Q, 2 H, worth_page)
        Scratch, zero where cells are, before and after: reach of cells, by who moved last.
    scratch : float64 (C * V,)
    infoset_reach : float64 (G, G)
        Filled with the reach probability of every cell, player 0 to move.
    opponent : int
        Whose policy player 1 follows.
    players : int
        With two a fair coin says who starts, with one the start has probability 1.
    """
    lane, goal, memories = game.lane, game.goal, game.memories
    none = splat(found, 0.0, lane)
    start = 1.0 / players
    for x in range(0, len(inflow), CELLS):
        store(inflow, x, none)
    for total in range(2 * goal - 1):
        rows_of(game, total, -1, rows)
        first, last = max(0, total - goal + 1), min(total, goal - 1)
        situation = item(game.situation, total)
        for turn in range(players):
            player = turned(total, turn, players)
            if total % CELLS == 0 and total < goal:
                clear_sums(game, total // CELLS, player, sums)
            arrive(game, total, player, inflow, sums, arrived, rows, scratch)
        count = last // CELLS - first // CELLS + 1
        for turn in range(players):
            player = turned(total, turn, players)
            for step in range(count):
                block = first // CELLS + turned(total, step, count)
                here = none
                for x in range(game.lines):
                    store(found, x * CELLS, none)
                take_row(game, policies, player * opponent, total, block, row)
                for memory in range(memories):
                    reach = collect_memory(game, total, block, memory, player, players, arrived)
                    if total == 0 and memory == game.start:
                        reach += first_of(1, splat(found, start, lane), none)
                    here += reach
                    if player == 0 and len(weights) > 0:
                        at = (total * memories + memory) * game.width + block * CELLS
                        store(weights, at, reach)
                    lines = (situation * memories + memory) * game.num_actions
                    for roll in range(game.num_actions):
                        at = item(game.source, lines + roll) * CELLS
                        flow = load(found, at, lane) + load(row, roll * CELLS, lane) * reach
                        store(found, at, flow)
                if player == 0:
                    store(scratch, 0, here)
                    low, high = bounds(game, total, block)
                    for cell in range(low, high):
                        other = block * CELLS + cell
                        infoset_reach[total - other, other] = item(scratch, cell)
                spread_lines(game, total, block, situation, inflow, player, sums, rows, found)
