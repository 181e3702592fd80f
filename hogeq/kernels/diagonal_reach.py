"""Reach by diagonals: the transpose of :mod:`hogeq.kernels.diagonal_values`.

One diagonal after the other: the reach of the afterstates of its total is complete, and goes to the
cells on which they land, of this total or later ones; then, block by block, that of each memory
goes to its rolls, and from these a die further, or straight to afterstates.

Symbols of shapes are those of :mod:`hogeq.kernels.diagonals`; Q is the number of players.
"""

from hogeq.kernels.cache import kernel, part
from hogeq.kernels.diagonal_rows import (
    afterstates_of,
    beside,
    bounds,
    eight_rows,
    pair_of_sums,
    row_at,
    row_of_none,
    rows_of,
    six_rows,
    take_row,
    turned,
)
from hogeq.kernels.gathers import first_of, windows
from hogeq.kernels.lanes import above_rounding, item, load, splat, store, store_one


@part
def clear_sums(game, block, player, sums):
    """Forget the sums of a block, as it comes into play."""
    none = splat(sums, 0.0, game.lane)
    at = player * game.sum_size + block * game.sum_block
    for x in range(0, game.sum_block, len(game.lane)):
        store(sums, at + x, none)


@part
def flow_in(game, total, block, player, page, inflow, sums, rows):
    """Complete the reach of a block of afterstates of one page."""
    lane = game.lane
    at = (player * len(game.page_end) + page) * game.known_page
    at += row_at(game, total, block * len(game.lane))
    summed = splat(sums, 0.0, lane)
    for x in range(item(game.page_start, page), item(game.page_start, page + 1)):
        group = item(game.page_group, x)
        depth = item(game.group_depth, group)
        if depth == 0:
            continue
        dice = item(game.group_dice, group)
        first = player * game.sum_size + block * game.sum_block + item(game.group_sums, group)
        rest = first + depth * item(game.sides, dice) * len(game.lane)
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
    for block in range(first // len(game.lane), last // len(game.lane) + 1):
        low, high = bounds(game, total, block)
        for page in range(pages):
            flow = flow_in(game, total, block, player, page, inflow, sums, rows)
            store(scratch, page * len(game.lane), flow)
        for end in range(ends):
            places = (end * game.land.shape[1] + total) * game.width + block * len(game.lane)
            for cell in range(low, high):
                place = int(item(game.land, places + cell))
                to = player * size + (place >> 1)
                for page in range(end * pages // ends, (end + 1) * pages // ends):
                    if place & 1:
                        at = to + item(game.page_again, page)
                    else:
                        at = to + item(game.page_other, page)
                    flow = item(arrived, at) + item(scratch, page * len(game.lane) + cell)
                    store_one(arrived, at, flow)
    forget(game, total, player, inflow)


@part
def forget(game, total, player, inflow):
    """Forget the reach of a total's afterstates."""
    pages = len(game.page_end)
    none = splat(inflow, 0.0, game.lane)
    first, last = afterstates_of(game, total)
    for page in range(pages):
        row = (player * pages + page) * game.known_page + row_at(game, total, 0)
        for block in range(first, last + 1):
            store(inflow, row + block * len(game.lane), none)


@part
def collect_memory(game, total, block, memory, player, players, arrived):
    """Reach of a memory at the cells of a block; forget it."""
    size = 2 * game.memories * game.worth_page
    there = (total & (game.worth_ring - 1)) * game.width + block * len(game.lane)
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
def _carry_on(game, sums, at, steps, step, depth, share, places, found, line):
    """Carry reach a die further where every roll has the next line: all sums of two totals."""
    to, other = places
    for _ in range(1, depth):
        here, after = windows(sums, at + step, steps, game.lane)
        store(sums, at + other, share * after)
        here = share * here + load(found, line, game.lane)
        store(sums, at + to, here)
        at += step
        line += len(game.lane)
    store(sums, at + other, splat(sums, 0.0, game.lane))
    store(sums, at + to, load(found, line, game.lane))


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
        step = item(game.sides, dice) * len(game.lane)
        page = pages + item(game.group_page, group) * game.known_page
        first = (situation * groups + group) * num_actions
        at = player * game.sum_size + block * game.sum_block + item(game.group_sums, group)
        to, other = item(rows, dice * game.sum_rows), item(rows, beside(game, dice))
        run = item(game.run, situation * groups + group)
        sides, share = item(game.sides, dice), item(game.share, dice)
        if pairs and run >= 0 and sides == 6:
            steps, line = six_rows(rows, dice * game.sum_rows), run * len(lane)
            _carry_on(game, sums, at, steps, step, depth, share, (to, other), found, line)
        elif pairs and run >= 0 and sides == 8:
            steps, line = eight_rows(rows, dice * game.sum_rows), run * len(lane)
            _carry_on(game, sums, at, steps, step, depth, share, (to, other), found, line)
        elif run >= 0 and not pairs:
            for x in range(depth):
                here = load(sums, at + to, lane) + load(found, (run + x) * len(lane), lane)
                store(sums, at + to, here)
                at += step
        else:
            for roll in range(1, depth + 1):
                here, after = none, none
                if pairs:
                    if roll < depth:
                        here, after = pair_of_sums(game, sums, at + step, dice, rows)
                    store(sums, at + other, after)
                else:
                    here = load(sums, at + to, lane)
                line = item(game.line, first + roll)
                if line >= 0 and game.is_sum[dice, roll] != 0:
                    here += load(found, line * len(lane), lane)
                store(sums, at + to, here)
                at += step
        if item(game.active, situation * groups + group) == 0:
            continue
        for target in range(item(game.target_start, dice), item(game.target_start, dice + 1)):
            row = row_at(game, total + item(game.target_total, target), block * len(game.lane))
            to = page + item(game.target_page, target) + row + item(game.target_shift, target)
            flow = load(inflow, to, lane)
            if run >= 0:
                chance = item(game.target_first, target)
                # Two sums, which wait for each other half as long.
                more = none
                for x in range(0, depth - 1, 2):
                    line = (run + x) * len(lane)
                    flow += item(game.target_prob, chance + x) * load(found, line, lane)
                    line += len(lane)
                    more += item(game.target_prob, chance + x + 1) * load(found, line, lane)
                if depth % 2 == 1:
                    line = (run + depth - 1) * len(lane)
                    flow += item(game.target_prob, chance + depth - 1) * load(found, line, lane)
                flow += more
                store(inflow, to, flow)
                continue
            for x in range(item(game.target_first, target), item(game.target_first, target + 1)):
                line = item(game.line, first + item(game.target_roll, x))
                if line >= 0:
                    flow += item(game.target_prob, x) * load(found, line * len(game.lane), lane)
            store(inflow, to, flow)
        line = item(game.line, first)
        if line >= 0:
            there = row_of_none(game, dice, total, block)
            for cell in range(low, high):
                to = page + len(game.match) * item(game.zero, there + cell)
                flow = load(found, line * len(lane) + len(game.match) * cell, game.match)
                store(inflow, to, load(inflow, to, game.match) + flow)


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
        As in :func:`hogeq.kernels.diagonal_values.backward`, but rows need not sum to 1. Single
        precision as there.
    weights : float64 (2 G - 1, H, width) or (0, ...)
        Filled with the reach probability of player 0's memories, by total and opponent's score.
    inflow : float64 (Q * C * known_page,)
        Scratch, zero where afterstates are, before and after: reach of these.
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
    for total in range(2 * goal - 1):
        rows_of(game, total, -1, rows)
        first, last = max(0, total - goal + 1), min(total, goal - 1)
        situation = item(game.situation, total)
        for turn in range(players):
            player = turned(total, turn, players)
            if total % len(game.lane) == 0 and total < goal:
                clear_sums(game, total // len(game.lane), player, sums)
            arrive(game, total, player, inflow, sums, arrived, rows, scratch)
        count = last // len(game.lane) - first // len(game.lane) + 1
        for turn in range(players):
            player = turned(total, turn, players)
            for step in range(count):
                block = first // len(game.lane) + turned(total, step, count)
                here = none
                for x in range(game.lines):
                    store(found, x * len(game.lane), none)
                take_row(game, policies, player * opponent, total, block, row)
                for memory in range(memories):
                    reach = collect_memory(game, total, block, memory, player, players, arrived)
                    if total == 0 and memory == game.start:
                        reach += first_of(1, splat(found, start, lane), none)
                    here += reach
                    if player == 0 and len(weights) > 0:
                        at = (total * memories + memory) * game.width + block * len(game.lane)
                        store(weights, at, reach)
                    lines = (situation * memories + memory) * game.num_actions
                    for roll in range(game.num_actions):
                        at = item(game.source, lines + roll) * len(game.lane)
                        flow = (
                            load(found, at, lane) + load(row, roll * len(game.lane), lane) * reach
                        )
                        store(found, at, flow)
                if player == 0:
                    store(scratch, 0, here)
                    low, high = bounds(game, total, block)
                    for cell in range(low, high):
                        other = block * len(game.lane) + cell
                        infoset_reach[total - other, other] = item(scratch, cell)
                spread_lines(game, total, block, situation, inflow, player, sums, rows, found)
    for player in range(players):
        for total in range(2 * goal - 1, 2 * goal - 1 + game.reach):
            forget(game, total, player, inflow)
