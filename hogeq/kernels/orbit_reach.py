"""Reach by diagonals where turns can stay and something is remembered.

The transpose of :mod:`hogeq.kernels.orbit_values`. What comes to the cells of a diagonal from
earlier ones is collected first; how often all memories are then visited, those that come back
included, is found for eight orbits at a time, and goes to rolls as in
:mod:`hogeq.kernels.diagonal_reach`.

Symbols of shapes are those of :mod:`hogeq.kernels.diagonals` and :mod:`hogeq.kernels.orbits`; Q is
the number of players.
"""

from hogeq.kernels.diagonal_reach import arrive, clear_sums, collect_memory, spread_lines
from hogeq.kernels.diagonal_rows import CELLS, bounds, row_at, rows_of, take_row, turned
from hogeq.kernels.gathers import first_of, picked, put
from hogeq.kernels.lanes import item, load, splat, store
from hogeq.kernels.orbit_values import add_chances, eliminate, run
from hogeq.kernels.sums import kernel, part


@part
def _visit(game, total, players, given, slots, visits):
    """Count expected visits to all memories at the cells of a diagonal."""
    orbits, lane = game.orbits, game.lane
    kinds, rows, listed = len(orbits.clear), players * game.width, orbits.places.shape[1]
    for x in range(0, game.memories * rows, CELLS):
        store(visits, x, splat(visits, 0.0, lane))
    for kind in range(kinds):
        first, last = item(orbits.state_start, kind), item(orbits.state_start, kind + 1)
        begin = (players - 1) * orbits.first.shape[1] + total * kinds + kind
        for at in range(item(orbits.first, begin), item(orbits.first, begin + 1), CELLS):
            eliminate(game, kind, at, players, given, slots)
            for x in range(first, last):
                place = item(orbits.state, 4 * x + 1) * listed + at
                value = picked(given, item(orbits.state, 4 * x) * rows, orbits.places, place, lane)
                store(slots, (1 + x - first) * CELLS, value)
            code = item(orbits.code_start, 3 * kind + 2)
            run(game, slots, code, item(orbits.code_start, 3 * kind + 3))
            for x in range(first, last):
                place = item(orbits.state, 4 * x + 1) * listed + at
                value = load(slots, (1 + x - first) * CELLS, lane)
                put(visits, item(orbits.state, 4 * x) * rows, orbits.places, place, value)


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
    given,
    slots,
    visits,
    infoset_reach,
    rows,
    players,
):
    """Count expected visits to every hidden state, as :func:`hogeq.kernels.diagonal_reach.forward`.

    Parameters
    ----------
    game, weights, inflow, sums, arrived, found, scratch, infoset_reach, rows, players
        As there.
    policies : float64 (Q, G, G, K)
        Rows summing to 1.
    row : float64 (Q * blocks * K * V,)
        Scratch.
    given, slots, visits
        Scratch: `given`, `slots` and `won` of :func:`hogeq.kernels.orbit_values.backward`, with the
        reach from earlier diagonals and visits instead of what is won.
    """
    lane, goal, num_actions, memories = game.lane, game.goal, game.num_actions, game.memories
    played, pages = num_actions * CELLS, len(game.page_end)
    none = splat(found, 0.0, lane)
    for x in range(0, len(inflow), CELLS):
        store(inflow, x, none)
    for total in range(2 * goal - 1):
        rows_of(game, total, -1, rows)
        first, last = max(0, total - goal + 1) // CELLS, min(total, goal - 1) // CELLS + 1
        situation = item(game.situation, total)
        for turn in range(players):
            player = turned(total, turn, players)
            if total % CELLS == 0 and total < goal:
                clear_sums(game, total // CELLS, player, sums)
            arrive(game, total, player, inflow, sums, arrived, rows, scratch)
        for player in range(players):
            for block in range(first, last):
                for memory in range(memories):
                    reach = collect_memory(game, total, block, memory, player, players, arrived)
                    if total == 0 and memory == game.start:
                        reach += first_of(1, splat(found, 1.0 / players, lane), none)
                    at = (memory * players + player) * game.width + block * CELLS
                    store(given, at, reach)
                place = (player * game.blocks + block) * played
                here = row[place : place + played]
                take_row(game, policies, player, total, block, here)
                add_chances(game, situation, block, player, players, here, given)
        _visit(game, total, players, given, slots, visits)
        for turn in range(players):
            player = turned(total, turn, players)
            for step in range(last - first):
                block = first + turned(total, step, last - first)
                place = (player * game.blocks + block) * played
                everyone = none
                for x in range(game.lines):
                    store(found, x * CELLS, none)
                for memory in range(memories):
                    at = (memory * players + player) * game.width + block * CELLS
                    reach = load(visits, at, lane)
                    everyone += reach
                    if player == 0 and len(weights) > 0:
                        at = (total * memories + memory) * game.width + block * CELLS
                        store(weights, at, reach)
                    lines = (situation * memories + memory) * num_actions
                    for roll in range(num_actions):
                        at = item(game.source, lines + roll) * CELLS
                        weight = load(row, place + roll * CELLS, lane)
                        store(found, at, load(found, at, lane) + weight * reach)
                if player == 0:
                    store(scratch, 0, everyone)
                    low, high = bounds(game, total, block)
                    for cell in range(low, high):
                        other = block * CELLS + cell
                        infoset_reach[total - other, other] = item(scratch, cell)
                spread_lines(game, total, block, situation, inflow, player, sums, rows, found)
        # What stayed has been counted.
        for page in range(players * pages):
            there = page * game.known_page + row_at(game, total, 0)
            for x in range(0, game.width, CELLS):
                store(inflow, there + x, none)
