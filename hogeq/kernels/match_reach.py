"""Reach by diagonals of matches side by side, as :mod:`hogeq.kernels.diagonal_reach`.

Symbols of shapes are those of :mod:`hogeq.kernels.diagonals`.
"""

from hogeq.kernels.diagonal_reach import clear_sums, collect_memory, flow_in, spread_lines
from hogeq.kernels.diagonal_rows import bounds, cells_of, row_at, rows_of
from hogeq.kernels.lanes import item, lane_sum, load, splat, store
from hogeq.kernels.matches import (
    block_at,
    expect,
    expect_afterstates,
    expect_common_rows,
    take_common_row,
)
from hogeq.kernels.sums import kernel, routine


@routine
def _arrive(game, total, player, inflow, sums, arrived, rows, scratch):
    """Carry the reach of a total's afterstates to the cells on which they land."""
    matches, cells, pages = len(game.match), cells_of(game), len(game.page_end)
    ends, columns = game.land.shape[0], game.width // matches
    each = pages // ends
    nothing = splat(inflow, 0.0, game.match)
    size = player * 2 * game.memories * game.worth_page
    first, last = max(0, total - game.goal + 1), min(total, game.goal - 1)
    for block in range(first // cells, last // cells + 1):
        for page in range(pages):
            flow = flow_in(game, total, block, player, page, inflow, sums, rows)
            store(scratch, page * len(game.lane), flow)
        for cell in range(max(first, block * cells), min(last, block * cells + cells - 1) + 1):
            from_cell = (cell - block * cells) * matches
            for end in range(ends):
                place = int(item(game.land, (end * game.land.shape[1] + total) * columns + cell))
                there = size + (place >> 1) * matches
                for page in range(end * each, end * each + each):
                    if place & 1:
                        to = there + item(game.page_again, page)
                    else:
                        to = there + item(game.page_other, page)
                    flow = load(scratch, page * len(game.lane) + from_cell, game.match)
                    store(arrived, to, load(arrived, to, game.match) + flow)
                    at = (player * pages + page) * game.known_page
                    store(inflow, at + row_at(game, total, cell * matches), nothing)


@kernel
def forward(
    game,
    policy,
    rows,
    begun,
    weights,
    inflow,
    sums,
    arrived,
    found,
    row,
    scratch,
    infoset_reach,
    pack,
    places,
):
    """Reach probabilities of every hidden state in one pack of matches.

    Parameters
    ----------
    game, policy, rows, sums, found, row, places
        As in :func:`hogeq.kernels.match_values.backward`; of sums those of two players.
    begun : (V,)
        Of all reach, by match, what begins with a player's first turn; then zeros.
    weights : (p * (2 G - 1) * blocks * H * V,)
        Those of the pack are filled with the reach of the player's memories, block by block.
    inflow : (2 * C * known_page,)
        Scratch.
    arrived : (2, 2 H, worth_page)
        Scratch, zero where cells are, before and after.
    scratch : (C * V,)
        Scratch.
    infoset_reach : float64 (G, G)
        The reach of every cell in all these matches is added.
    pack : int
        Whose `rows` the opponents follow.
    """
    lane, goal, cells = game.lane, game.goal, cells_of(game)
    memories, num_actions = game.memories, game.num_actions
    none, played = splat(found, 0.0, lane), num_actions * len(lane)
    for x in range(0, len(inflow), len(lane)):
        store(inflow, x, none)
    for total in range(2 * goal - 1):
        rows_of(game, total, -1, places)
        begin, end = max(0, total - goal + 1) // cells, min(total, goal - 1) // cells + 1
        situation = item(game.situation, total)
        for player in range(2):
            if total % cells == 0 and total < goal:
                clear_sums(game, total // cells, player, sums)
            _arrive(game, total, player, inflow, sums, arrived, places, scratch)
        for player in range(2):
            for block in range(begin, end):
                here = none
                there = block_at(game, pack, total, block)
                chances = row[:played]
                expect_afterstates(game, total, block, player, inflow)
                if player == 0:
                    take_common_row(game, policy, total, block, row)
                    if block + 1 < end:
                        expect_common_rows(game, policy, total, block + 1)
                else:
                    chances = rows[there * played : there * played + played]
                    expect(game, rows, (there + 1) * played, num_actions)
                for x in range(game.lines):
                    store(found, x * len(lane), none)
                for memory in range(memories):
                    reach = collect_memory(game, total, block, memory, player, 2, arrived)
                    if total == 0 and memory == game.start:
                        reach += load(begun, 0, lane)
                    here += reach
                    if player == 0:
                        store(weights, (there * memories + memory) * len(lane), reach)
                    lines = (situation * memories + memory) * num_actions
                    for roll in range(num_actions):
                        at = item(game.source, lines + roll) * len(lane)
                        chance = load(chances, roll * len(lane), lane)
                        store(found, at, load(found, at, lane) + chance * reach)
                if player == 0:
                    store(scratch, 0, here)
                    first, last = bounds(game, total, block)
                    for cell in range(first, last):
                        other = block * cells + cell
                        reached = lane_sum(load(scratch, cell * len(game.match), game.match))
                        infoset_reach[total - other, other] += reached
                spread_lines(game, total, block, situation, inflow, player, sums, places, found)
