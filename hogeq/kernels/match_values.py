"""Values by diagonals of matches side by side, as :mod:`hogeq.kernels.diagonal_values`.

Symbols of shapes are those of :mod:`hogeq.kernels.diagonals`.
"""

from hogeq.kernels.diagonal_rows import afterstates_of, blocks_of, bounds, cells_of, row_at, rows_of
from hogeq.kernels.diagonal_values import begin_sums, climb, mix_memory, publish, value_lines
from hogeq.kernels.lanes import item, lane_sum, load, splat, store
from hogeq.kernels.matches import (
    block_at,
    expect,
    expect_afterstates,
    expect_common_rows,
    take_common_row,
)
from hogeq.kernels.passes import soften, take_best
from hogeq.kernels.roles import ASCEND, SOFTMAX
from hogeq.kernels.sums import kernel, routine


@routine
def _average(game, total, block, situation, pack, weights, found, base, averages):
    """Add a block's values, (K + 1, V), weighted by the reach of each memory; last that itself."""
    lane, memories, num_actions = game.lane, game.memories, game.num_actions
    at = block_at(game, pack, total, block) * memories * len(lane)
    first = situation * memories * num_actions
    for roll in range(num_actions):
        value = load(averages, roll * len(lane), lane)
        for memory in range(memories):
            line = item(game.source, first + memory * num_actions + roll)
            weight = load(weights, at + memory * len(lane), lane)
            value += weight * load(found, base + line * len(lane), lane)
        store(averages, roll * len(lane), value)
    here = load(averages, num_actions * len(lane), lane)
    for memory in range(memories):
        here += load(weights, at + memory * len(lane), lane)
    store(averages, num_actions * len(lane), here)


@routine
def _set_rows(
    game, total, block, role, policy, averages, counterfactual_values, temperature, damping
):
    """Change the common rows of a block as the role has it; how many ASCEND changed."""
    changes = 0
    low, high = bounds(game, total, block)
    for cell in range(low, high):
        opponent, at = block * cells_of(game) + cell, cell * len(game.match)
        found = counterfactual_values[total - opponent, opponent]
        for roll in range(game.num_actions):
            found[roll] = lane_sum(load(averages, roll * len(game.lane) + at, game.match))
        here = lane_sum(load(averages, game.num_actions * len(game.lane) + at, game.match))
        row = policy[total - opponent, opponent]
        if here > 0.0 and role == ASCEND:
            changes += take_best(row, found, here)
        elif here > 0.0 and role == SOFTMAX:
            soften(row, found, here, temperature, damping)
    return changes


@routine
def _land(game, total, player, worth, known):
    """Tell what the afterstates of a total are worth: as much as the cells on which they land."""
    matches = len(game.match)
    ends, columns = game.land.shape[0], game.width // matches
    each = len(game.page_end) // ends
    first, last = afterstates_of(game, total)
    cells = cells_of(game)
    size = player * 2 * game.memories * game.worth_page
    for end in range(ends):
        for cell in range(first * cells, last * cells + cells):
            place = int(item(game.land, (end * game.land.shape[1] + total) * columns + cell))
            there = size + (place >> 1) * matches
            for page in range(end * each, end * each + each):
                at = (player * len(game.page_end) + page) * game.known_page
                at += row_at(game, total, cell * matches)
                if place & 1:
                    value = load(worth, there + item(game.page_again, page), game.match)
                else:
                    value = load(worth, there + item(game.page_other, page), game.match)
                store(known, at, value)


@kernel
def backward(
    game,
    role,
    policy,
    rows,
    weights,
    known,
    sums,
    worth,
    found,
    row,
    averages,
    counterfactual_values,
    temperature,
    damping,
    places,
    roots,
):
    """Backward induction of one player against all opponents, in packs of M matches.

    Parameters
    ----------
    game : TablesView
        Of :class:`hogeq.kernels.diagonals.Diagonals`, for M matches.
    role : int
        COUNTERFACTUAL, ASCEND or SOFTMAX.
    policy : float64 (G, G, K)
        Of the player. ASCEND and SOFTMAX rewrite it.
    rows : (p * (2 G - 1) * blocks * K * V,)
        Of the opponents, block by block.
    weights : (p * (2 G - 1) * blocks * H * V,)
        From :func:`hogeq.kernels.match_reach.forward`.
    known : (2 p, C, known_page)
        Scratch; every page ends with a 0 and a 1 for each match.
    sums : (2 p, sum_size)
        Scratch.
    worth : (2 p, 2 H, worth_page)
        Scratch; constants as in `known`.
    found : (p * lines * V,)
        Scratch.
    row : (K * V,)
        Scratch.
    averages : ((K + 1) * V,)
        Scratch.
    counterfactual_values : float64 (G, G, K)
        Filled; SOFTMAX leaves scratch.
    temperature, damping : float
        Of SOFTMAX.
    places : int64 (D * sum_rows,)
        Scratch.
    roots : (2 p * V,)
        Filled, a block of each player: first its win probabilities when moving first.

    Returns
    -------
    int
        How many cells ASCEND changed.
    """
    lane, goal, memories, num_actions = game.lane, game.goal, game.memories, game.num_actions
    packs, size = len(roots) // (2 * len(game.lane)), game.lines * len(game.lane)
    played = num_actions * len(game.lane)
    none = splat(found, 0.0, lane)
    changes = 0
    for total in range(2 * goal - 2 + game.reach, -1, -1):
        rows_of(game, total, 1, places)
        first, last, two = blocks_of(game, total)
        situation = item(game.situation, min(total, 2 * goal - 2))
        for seat in range(2 if total <= 2 * goal - 2 else 0):
            for block in range(first - two, last):
                for pack in range(packs if block >= first else 0):
                    at = block_at(game, pack, total, block + 1)
                    if seat == 0:
                        expect(game, weights, at * memories * len(lane), memories)
                    else:
                        expect(game, rows, at * played, num_actions)
                    expect_afterstates(game, total, block, 2 * pack + seat, known)
                if total % 2 == 0:
                    for pack in range(packs):
                        climb(game, total, block, 2 * pack + seat, sums, places)
                if block < first:
                    continue
                if seat == 0:
                    for x in range(num_actions + 1):
                        store(averages, x * len(lane), none)
                    if block + 1 < last:
                        expect_common_rows(game, policy, total, block + 1)
                        expect_common_rows(game, counterfactual_values, total, block + 1)
                for pack in range(packs):
                    player, base = 2 * pack + seat, pack * size
                    value_lines(
                        game, total, block, situation, known, player, sums, places, found, base
                    )
                    if seat == 0:
                        _average(
                            game, total, block, situation, pack, weights, found, base, averages
                        )
                if seat == 0:
                    changes += _set_rows(
                        game,
                        total,
                        block,
                        role,
                        policy,
                        averages,
                        counterfactual_values,
                        temperature,
                        damping,
                    )
                    take_common_row(game, policy, total, block, row)
                for pack in range(packs):
                    player, rival, base = 2 * pack + seat, 2 * pack + 1 - seat, pack * size
                    chances = row[:played]
                    if seat == 1:
                        at = block_at(game, pack, total, block) * played
                        chances = rows[at : at + played]
                    for memory in range(memories):
                        value = mix_memory(game, situation, memory, chances, found, base)
                        publish(game, total, block, memory, player, rival, worth, value)
                        if total == 0 and memory == game.start:
                            store(roots, player * len(lane), value)
        for player in range(2 * packs):
            _land(game, total, player, worth, known)
            begin_sums(game, total, player, known, sums, places)
    return changes
