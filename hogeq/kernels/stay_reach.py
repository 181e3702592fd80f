"""Reach by diagonals where turns can stay: the transpose of :mod:`hogeq.kernels.stay_values`.

A cell can be come to more than once, so its reach is an expected number of visits. What comes from
earlier diagonals is collected first, then what comes back within pairs is found, for all at once.
A pair that is never left would be visited without end. What comes to it is counted as if it were
left after one visit to each of its cells; :mod:`hogeq.kernels.chains` counts differently there.

Symbols of shapes are those of :mod:`hogeq.kernels.diagonals`; Q is the number of players.
"""

from hogeq.kernels.diagonal_reach import arrive, clear_sums, collect_memory, spread_lines
from hogeq.kernels.diagonal_rows import CELLS, bounds, row_at, rows_of, take_row, turned
from hogeq.kernels.gathers import first_of, picked, where_at_least
from hogeq.kernels.lanes import item, load, splat, store, store_one
from hogeq.kernels.stay_values import chances
from hogeq.kernels.sums import kernel, part


@part
def _pass_tails(game, total, players, arrived, stay):
    """Carry what stays at tails to the cells to which it leads, which feed no other tail."""
    for player in range(players):
        other = (players - 1 - player) * game.width
        for opponent in range(max(0, total - game.goal + 1), min(total, game.goal - 1) + 1):
            at = total * game.width + opponent
            if item(game.stays.tail, at) > 0.0:
                there, to = player * game.width + opponent, other + item(game.stays.partner, at)
                arrived[to] += stay[there] * arrived[there]


@part
def _visits(game, total, block, player, players, arrived, stay, leave):
    """Count expected visits to the cells of a block, those that come back included."""
    lane, at = game.lane, total * game.width + block * CELLS
    there = player * game.width + block * CELLS
    other = (players - 1 - player) * game.width
    here, stays = load(arrived, there, lane), load(stay, there, lane)
    from_there = picked(arrived, other, game.stays.partner, at, lane)
    back = picked(stay, other, game.stays.partner, at, lane)
    leaves = picked(leave, other, game.stays.partner, at, lane)
    # Who leaves is added up; 1 less both stay would be less exact.
    leaving = load(leave, there, lane) + stays * leaves
    none, one = splat(arrived, 0.0, lane), splat(arrived, 1.0, lane)
    leaving = where_at_least(none, leaving, one, leaving)  # a game that never ends
    paired = load(game.stays.pair, at, lane)
    return where_at_least(none, paired, here, (here + back * from_there) / leaving)


@part
def _arrive_beyond(game, total, player, inflow, landed):
    """Carry on what scored nothing and lands on a later diagonal; forget what has stayed."""
    pages = len(game.page_end)
    size = 2 * game.worth_page
    first, last = max(0, total - game.goal + 1), min(total, game.goal - 1)
    none = splat(inflow, 0.0, game.lane)
    for page in range(pages):
        row = (player * pages + page) * game.known_page + row_at(game, total, 0)
        if game.stays.beyond[total] > 0:
            for opponent in range(first, last + 1):
                at = total * game.width + opponent
                if item(game.stays.can, at) == 0.0:
                    place = int(item(game.land, at))
                    to = player * size + (place >> 1)
                    to += item(game.page_again if place & 1 else game.page_other, page)
                    store_one(landed, to, item(landed, to) + item(inflow, row + opponent))
        for x in range(0, game.width, CELLS):
            store(inflow, row + x, none)


@kernel
def forward(
    game,
    policies,
    weights,
    inflow,
    sums,
    landed,
    found,
    row,
    scratch,
    arrived,
    stay,
    leave,
    infoset_reach,
    rows,
    players,
):
    """Reach of every hidden state, as :func:`hogeq.kernels.diagonal_reach.forward`.

    Parameters
    ----------
    game, weights, inflow, sums, found, scratch, infoset_reach, rows, players
        As there.
    policies : float64 (Q, G, G, K)
        Rows summing to 1.
    landed : float64 (Q, 2, worth_page)
        Scratch: `arrived` of that module.
    row : float64 (Q * blocks * K * V,)
        Scratch.
    arrived, stay, leave : float64 (Q * width,)
        Scratch: of the cells of a diagonal, the reach from earlier ones, and the probability of
        staying and of leaving.
    """
    lane, goal, num_actions = game.lane, game.goal, game.num_actions
    played = num_actions * CELLS
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
            arrive(game, total, player, inflow, sums, landed, rows, scratch)
        for player in range(players):
            for block in range(first, last):
                reach = collect_memory(game, total, block, 0, player, players, landed)
                if total == 0:
                    reach += first_of(1, splat(found, 1.0 / players, lane), none)
                store(arrived, player * game.width + block * CELLS, reach)
                place = (player * game.blocks + block) * played
                here = row[place : place + played]
                take_row(game, policies, player, total, block, here)
                chances(game, total, block, situation, player, here, stay, leave)
        if game.stays.tails[total] > 0:
            _pass_tails(game, total, players, arrived, stay)
        for turn in range(players):
            player = turned(total, turn, players)
            for step in range(last - first):
                block = first + turned(total, step, last - first)
                reach = _visits(game, total, block, player, players, arrived, stay, leave)
                if player == 0 and len(weights) > 0:
                    store(weights, total * game.width + block * CELLS, reach)
                for x in range(game.lines):
                    store(found, x * CELLS, none)
                place = (player * game.blocks + block) * played
                for roll in range(num_actions):
                    line = item(game.source, situation * num_actions + roll) * CELLS
                    store(found, line, load(row, place + roll * CELLS, lane) * reach)
                if player == 0:
                    store(scratch, 0, reach)
                    low, high = bounds(game, total, block)
                    for cell in range(low, high):
                        other = block * CELLS + cell
                        infoset_reach[total - other, other] = item(scratch, cell)
                spread_lines(game, total, block, situation, inflow, player, sums, rows, found)
        for player in range(players):
            _arrive_beyond(game, total, player, inflow, landed)
