"""Values by diagonals where turns can stay: :mod:`hogeq.kernels.diagonal_values`, pairs solved.

A diagonal is visited twice. First every roll of its cells is valued as if staying won nothing; then
what it wins to stay is found, for all pairs at once, and added. Where player 0 remembers all, a
pair is a game of its own, and is solved by policy iteration as in :mod:`hogeq.kernels.cycles`.

Symbols of shapes are those of :mod:`hogeq.kernels.diagonals`; Q is the number of players.
"""

from hogeq.kernels.chains import (
    absorb,
    build_chain,
    enter_core,
    factorise,
    improve,
    mover_at,
    settle,
)
from hogeq.kernels.diagonal_rows import CELLS, blocks_of, give_rows, rows_of, take_row, turned
from hogeq.kernels.diagonal_values import (
    average_lines,
    begin_sums,
    best_of_memory,
    climb,
    land,
    publish,
    soften_rows,
    take_best_rows,
    value_lines,
)
from hogeq.kernels.gathers import first_of, picked, where_at_least
from hogeq.kernels.lanes import item, lane_sum, load, splat, store
from hogeq.kernels.roles import ASCEND, COUNTERFACTUAL
from hogeq.kernels.sums import kernel, part, routine

MOST_ROUNDS = 100  # of changes within a diagonal: few are needed, and none may go on for ever


@routine
def value_diagonal(game, total, seats, policies, known, sums, rows, found, row):
    """Value all rolls of a diagonal as if staying won nothing, and copy the rows of its cells."""
    size, played = (game.lines + 1) * CELLS, game.num_actions * CELLS
    situation = item(game.situation, total)
    first, last, two = blocks_of(game, total)
    for turn in range(seats):
        seat = turned(total, turn, seats)
        for x in range(last - first + two):
            block = last - 1 - turned(total, x, last - first + two)
            if total % 2 == 0:
                climb(game, total, block, seat, sums, rows)
            if block >= first:
                place = seat * game.blocks + block
                base = place * size
                value_lines(game, total, block, situation, known, seat, sums, rows, found, base)
                here = row[place * played : (place + 1) * played]
                take_row(game, policies, seat, total, block, here)


@part
def chances(game, total, block, situation, seat, row, stay, leave):
    """Probability that the row of every cell of a block stays, and that it does not."""
    at, lane = total * game.width + block * CELLS, game.lane
    dice, idle = load(game.stays.dice, at, lane), load(game.stays.zero, at, lane)
    one = splat(stay, 1.0, lane)
    first = load(row, 0, lane)
    stays, leaves = first * idle, first * (one - idle)
    for roll in range(1, game.num_actions):
        weight = load(row, roll * CELLS, lane)
        place = situation * game.num_actions + roll
        stays += weight * (item(game.stays.share, place) * dice)
        leaves += weight * (item(game.stays.leave, place) * dice + (one - dice))
    there = seat * game.width + block * CELLS
    store(stay, there, stays)
    store(leave, there, leaves)


@part
def _weigh(game, total, block, situation, seat, row, found, base, rest, stay, leave):
    """Beside them, what the row wins if staying wins nothing."""
    value = splat(found, 0.0, game.lane)
    for roll in range(game.num_actions):
        line = item(game.source, situation * game.num_actions + roll) * CELLS
        value += load(row, roll * CELLS, game.lane) * load(found, base + line, game.lane)
    store(rest, seat * game.width + block * CELLS, value)
    chances(game, total, block, situation, seat, row, stay, leave)


@part
def _solve(game, total, first, last, seats, rest, stay, leave, won):
    """Worth of every cell whose turns stay in pairs or never."""
    width, lane = game.width, game.lane
    none, half = splat(won, 0.0, lane), splat(won, 0.5, lane)
    for seat in range(seats):
        other = (seats - 1 - seat) * width
        for block in range(first, last):
            at, there = total * width + block * CELLS, seat * width + block * CELLS
            alone, stays = load(rest, there, lane), load(stay, there, lane)
            rival = picked(rest, other, game.stays.partner, at, lane)
            leaves = picked(leave, other, game.stays.partner, at, lane)
            # Who leaves is added up; 1 less both stay would be less exact.
            leaving = load(leave, there, lane) + stays * leaves
            value = (alone + stays * (leaves - rival)) / leaving
            value = where_at_least(none, leaving, half, value)  # a game that never ends
            paired = load(game.stays.pair, at, lane)
            store(won, there, where_at_least(none, paired, alone, value))


@part
def _pass_on(game, total, first, last, seats, won, onward, to):
    """Find what it wins to stay, from the cells to which that leads, where `to` is 1."""
    width, lane = game.width, game.lane
    one = splat(won, 1.0, lane)
    for seat in range(seats):
        other = (seats - 1 - seat) * width
        for block in range(first, last):
            at, there = total * width + block * CELLS, seat * width + block * CELLS
            found = one - picked(won, other, game.stays.partner, at, lane)
            kept = load(onward, there, lane)
            store(onward, there, where_at_least(load(to, at, lane), one, found, kept))


@part
def _finish(game, total, first, last, seat, rest, stay, onward, won):
    """Add to what a player's rows win what staying wins."""
    for block in range(first, last):
        there = seat * game.width + block * CELLS
        value = load(stay, there, game.lane) * load(onward, there, game.lane)
        store(won, there, load(rest, there, game.lane) + value)


@part
def _add_stays(game, total, block, situation, seat, found, base, onward, to):
    """Write the lines of a block once more, with what it wins to stay."""
    at, lane = total * game.width + block * CELLS, game.lane
    dice, idle = load(game.stays.dice, at, lane), load(game.stays.zero, at, lane)
    worth = load(onward, seat * game.width + block * CELLS, lane)
    rolled = dice * worth
    for roll in range(game.num_actions):
        place = situation * game.num_actions + roll
        line = item(game.source, place) * CELLS
        value = load(found, base + line, lane)
        if roll == 0:
            value += idle * worth
        else:
            value += item(game.stays.share, place) * rolled
        store(found, to + line, value)


@part
def _remember(game, total, first, last, situation, found, scratch, onward, won, choice):
    """Find what player 0 wins with its best rolls."""
    size = (game.lines + 1) * CELLS
    for block in range(first, last):
        _add_stays(game, total, block, situation, 0, found, block * size, onward, scratch)
        best = best_of_memory(game, total, block, situation, 0, found, scratch, choice)
        store(won, block * CELLS, best)


@routine
def _best_of_pairs(
    game, tables, total, situation, seats, policies, found, onward, picks, rest, chain, exits, wins
):
    """Worth of staying at the pairs of a diagonal, where player 0 remembers all."""
    cycles = tables.cycles
    size = (game.lines + 1) * CELLS
    for x in range(game.stays.loops[total], game.stays.loops[total + 1]):
        component = game.stays.component[x]
        low, high = cycles.entry_start[component], cycles.entry_start[component + 1]
        traps = False
        for entry in range(low, high):
            block, cell = divmod(cycles.entry_cell[entry] % game.goal, CELLS)
            for who in range(2):
                state = (entry - low) * 2 + who
                mover = mover_at(tables, entry, who, 2)
                picks[state] = 0 if mover == 0 or seats == 1 else -1
                base = (min(mover, seats - 1) * game.blocks + block) * size + cell
                for roll in range(game.num_actions):
                    line = item(game.source, situation * game.num_actions + roll) * CELLS
                    leave = cycles.move_leave[entry, roll]
                    win = found[base + line]
                    rest[state, roll] = win if mover == 0 else leave - win
                    traps = traps or leave == 0.0
        if traps:
            settle(tables, component, picks, policies, rest, wins, exits)
        better = True
        while better:
            count = build_chain(tables, component, 2, policies, picks, rest, chain, exits, wins)
            factorise(chain, exits, count)
            absorb(chain, exits, wins, count)
            enter_core(tables, component, 2, policies, picks, wins, True)
            better = False
            for mover in (1, 0):
                better = better or improve(tables, component, mover, picks, rest, wins)
        for entry in range(low, high):
            opponent = cycles.entry_from[entry, 1]
            onward[opponent] = wins[2 * (entry - low)]
            if seats == 2:
                onward[game.width + opponent] = 1.0 - wins[2 * (entry - low) + 1]


@part
def _whose_turn(game, total, block, tails, half, halves):
    """1 at the cells of a block whose rows are changed now, 0 elsewhere."""
    at, lane = total * game.width + block * CELLS, game.lane
    tail, one = load(game.stays.tail, at, lane), splat(game.stays.tail, 1.0, lane)
    found = tail if tails > 0 else one - tail
    if halves > 1:
        # In self-play both cells of a pair have the same player: one is changed after the other.
        lower = (total + 1) // 2 - block * CELLS
        none = splat(game.stays.tail, 0.0, lane)
        found = first_of(lower, found, none) if half > 0 else first_of(lower, none, found)
    return found


@routine
def _adapt(
    game,
    total,
    first,
    last,
    situation,
    seats,
    role,
    policies,
    weights,
    found,
    row,
    averages,
    rest,
    stay,
    leave,
    won,
    onward,
    counterfactual_values,
    temperature,
    damping,
    tails,
):
    """Change player 0's rows, or keep their values: at cells that are tails, or at the others."""
    size, played = (game.lines + 1) * CELLS, game.num_actions * CELLS
    scratch = seats * game.blocks * size
    none = splat(found, 0.0, game.lane)
    halves = 2 if seats == 1 else 1
    changes = 0.0
    adapts, rounds = True, 0
    while adapts and rounds < MOST_ROUNDS:
        adapts, rounds = False, rounds + 1
        for half in range(halves):
            for block in range(first, last):
                base = block * size
                here = row[block * played : (block + 1) * played]
                _add_stays(game, total, block, situation, 0, found, base, onward, scratch)
                for x in range(0, played, CELLS):
                    store(averages, x, none)
                at = total * game.width + block * CELLS
                arrived = average_lines(
                    game, situation, weights, at, 1.0, found, scratch, averages, none
                )
                if role == COUNTERFACTUAL:
                    give_rows(game, total, block, averages, counterfactual_values)
                    continue
                arrived = arrived * _whose_turn(game, total, block, tails, half, halves)
                if role == ASCEND:
                    moved = lane_sum(take_best_rows(game, arrived, here, averages))
                    changes += moved
                    adapts = adapts or moved > 0.0
                else:
                    soften_rows(game, arrived, here, averages, temperature, damping)
                give_rows(game, total, block, here, policies)
                _weigh(game, total, block, situation, 0, here, found, base, rest, stay, leave)
            if role != COUNTERFACTUAL:
                _solve(game, total, first, last, seats, rest, stay, leave, won)
                _pass_on(game, total, first, last, seats, won, onward, game.stays.can)
    return changes


@kernel
def backward(
    game,
    tables,
    role,
    policies,
    weights,
    known,
    sums,
    worth,
    found,
    row,
    averages,
    rest,
    stay,
    leave,
    won,
    onward,
    counterfactual_values,
    choice,
    chained,
    kept,
    temperature,
    damping,
    rows,
    roots,
):
    """Backward induction, as :func:`hogeq.kernels.diagonal_values.backward` against one opponent.

    Parameters
    ----------
    game, role, policies, known, sums, worth, averages, counterfactual_values, choice, kept,
    temperature, damping, rows, roots
        As there.
    tables : TablesView
        Of :class:`hogeq.kernels.tables.Tables`.
    weights : float64 (2 G - 1, 1, width) or None
        From :func:`hogeq.kernels.stay_reach.forward`.
    found : float64 ((Q * blocks + 1) * (lines + 1) * V,)
        Scratch.
    row : float64 (Q * blocks * K * V,)
        Scratch.
    rest, stay, leave, won, onward : float64 (Q * width,)
        Scratch: of the cells of a diagonal, what they win if staying wins nothing, the probability
        of staying and of leaving, what they win, and what it wins to stay.
    chained : tuple of arrays or None
        Scratch of :mod:`hogeq.kernels.chains`, for FULL_MEMORY.

    Returns
    -------
    float
        How many cells ASCEND changed.
    """
    seats = len(roots) // CELLS
    goal, num_actions, lane = game.goal, game.num_actions, game.lane
    size, played = (game.lines + 1) * CELLS, num_actions * CELLS
    scratch = seats * game.blocks * size
    none = splat(found, 0.0, lane)
    changes = 0.0
    for total in range(2 * goal - 2 + game.reach, -1, -1):
        rows_of(game, total, 1, rows)
        if total <= 2 * goal - 2:
            first, last, _ = blocks_of(game, total)
            situation = item(game.situation, total)
            # What a turn that stays wins is not known yet, but where it lands on a later diagonal.
            for seat in range(seats):
                there = (total & (game.worth_ring - 1)) * game.width
                at = seat * 2 * game.worth_page + there
                for x in range(0, game.width, CELLS):
                    store(worth, at + x, none)
            for seat in range(seats):
                land(game, total, seat, worth, known)
            value_diagonal(game, total, seats, policies, known, sums, rows, found, row)
            for seat in range(seats):
                for block in range(first, last):
                    place = seat * game.blocks + block
                    here = row[place * played : (place + 1) * played]
                    base = place * size
                    _weigh(
                        game, total, block, situation, seat, here, found, base, rest, stay, leave
                    )
            if choice is not None:
                picks, outside, chain, exits, wins = chained
                for x in range(0, len(onward), CELLS):
                    store(onward, x, none)
                _best_of_pairs(
                    game,
                    tables,
                    total,
                    situation,
                    seats,
                    policies,
                    found,
                    onward,
                    picks,
                    outside,
                    chain,
                    exits,
                    wins,
                )
                for tails in range(1 + game.stays.tails[total]):
                    if tails > 0:
                        _pass_on(game, total, first, last, seats, won, onward, game.stays.tail)
                    if seats == 2:
                        _finish(game, total, first, last, 1, rest, stay, onward, won)
                    _remember(
                        game, total, first, last, situation, found, scratch, onward, won, choice
                    )
            else:
                _solve(game, total, first, last, seats, rest, stay, leave, won)
                _pass_on(game, total, first, last, seats, won, onward, game.stays.can)
                if weights is not None:
                    for tails in range(1 + game.stays.tails[total]):
                        changes += _adapt(
                            game,
                            total,
                            first,
                            last,
                            situation,
                            seats,
                            role,
                            policies,
                            weights,
                            found,
                            row,
                            averages,
                            rest,
                            stay,
                            leave,
                            won,
                            onward,
                            counterfactual_values,
                            temperature,
                            damping,
                            tails,
                        )
                for seat in range(seats):
                    _finish(game, total, first, last, seat, rest, stay, onward, won)
            for seat in range(seats):
                for block in range(first, last):
                    value = load(won, seat * game.width + block * CELLS, lane)
                    publish(game, total, block, 0, seat, seats - 1 - seat, worth, value)
                    if len(kept) > 0:
                        at = seat * (2 * goal - 1) + total
                        store(kept, at * game.width + block * CELLS, value)
                    if total == 0:
                        store(roots, seat * CELLS, value)
        for seat in range(seats):
            land(game, total, seat, worth, known)
            begin_sums(game, total, seat, known, sums, rows)
    return changes
