"""Values by diagonals where turns can stay and something is remembered.

As in :mod:`hogeq.kernels.stay_values` every roll of a diagonal is valued first as if staying won
nothing. Then all its orbits (:mod:`hogeq.kernels.orbits`) are solved, eight at a time, which makes
every memory's worth known, and so what it wins to stay.

Symbols of shapes are those of :mod:`hogeq.kernels.diagonals` and :mod:`hogeq.kernels.orbits`; Q is
the number of players.
"""

from hogeq.kernels.diagonal_rows import CELLS, blocks_of, give_rows, row_at, rows_of
from hogeq.kernels.diagonal_values import (
    average_lines,
    begin_sums,
    land,
    mix_memory,
    publish,
    soften_rows,
    take_best_rows,
)
from hogeq.kernels.gathers import picked, put, where_at_least
from hogeq.kernels.lanes import item, lane_sum, load, splat, store
from hogeq.kernels.orbits import ADD, SET
from hogeq.kernels.roles import ASCEND, COUNTERFACTUAL, SOFTMAX
from hogeq.kernels.stay_values import value_diagonal
from hogeq.kernels.sums import kernel, part, routine


@part
def add_chances(game, situation, block, seat, seats, row, given):
    """Add up what the rows of a block say of staying and leaving."""
    orbits = game.orbits
    for chance in range(orbits.chances):
        value = splat(given, 0.0, game.lane)
        place = situation * orbits.chances + chance
        for x in range(item(orbits.chance_start, place), item(orbits.chance_start, place + 1)):
            weight = item(orbits.chance_weight, x)
            value += weight * load(row, item(orbits.chance_roll, x) * CELLS, game.lane)
        at = ((game.memories + chance) * seats + seat) * game.width + block * CELLS
        store(given, at, value)


@part
def run(game, slots, first, last):
    """Do operations on slots."""
    code, lane = game.orbits.code, game.lane
    for x in range(first, last):
        operation, to = item(code, 4 * x), item(code, 4 * x + 1)
        one = load(slots, item(code, 4 * x + 2), lane)
        other = load(slots, item(code, 4 * x + 3), lane)
        if operation == ADD:
            store(slots, to, load(slots, to, lane) + one * other)
        elif operation == SET:
            store(slots, to, one * other)
        else:
            store(slots, to, one / other)


@part
def eliminate(game, kind, at, seats, given, slots):
    """Read the chances of eight orbits of a kind, and eliminate their states."""
    orbits, lane = game.orbits, game.lane
    rows, listed = seats * game.width, orbits.places.shape[1]
    store(slots, 0, splat(slots, 1.0, lane))
    for x in range(item(orbits.read_start, kind), item(orbits.read_start, kind + 1)):
        page = (game.memories + item(orbits.read, 3 * x + 1)) * rows
        place = item(orbits.read, 3 * x + 2) * listed + at
        value = picked(given, page, orbits.places, place, lane)
        store(slots, item(orbits.read, 3 * x) * CELLS, value)
    none = splat(slots, 0.0, lane)
    for slot in range(item(orbits.clear, 2 * kind), item(orbits.clear, 2 * kind + 1)):
        store(slots, slot * CELLS, none)
    run(game, slots, item(orbits.code_start, 3 * kind), item(orbits.code_start, 3 * kind + 1))


@routine
def _solve(game, total, seats, given, slots, won):
    """Find the worth of all memories at the cells of a diagonal."""
    orbits, lane = game.orbits, game.lane
    kinds, rows, listed = len(orbits.clear), seats * game.width, orbits.places.shape[1]
    one = splat(slots, 1.0, lane)
    for kind in range(kinds):
        first, last = item(orbits.state_start, kind), item(orbits.state_start, kind + 1)
        begin = (seats - 1) * orbits.first.shape[1] + total * kinds + kind
        for at in range(item(orbits.first, begin), item(orbits.first, begin + 1), CELLS):
            eliminate(game, kind, at, seats, given, slots)
            for x in range(first, last):
                place = item(orbits.state, 4 * x + 1) * listed + at
                value = picked(given, item(orbits.state, 4 * x) * rows, orbits.places, place, lane)
                if item(orbits.state, 4 * x + 3) > 0:
                    value = load(slots, item(orbits.state, 4 * x + 2), lane) - value
                store(slots, (1 + x - first) * CELLS, value)
            code = item(orbits.code_start, 3 * kind + 1)
            run(game, slots, code, item(orbits.code_start, 3 * kind + 2))
            for x in range(first, last):
                value = load(slots, (1 + x - first) * CELLS, lane)
                if item(orbits.state, 4 * x + 3) > 0:
                    value = one - value
                place = item(orbits.state, 4 * x + 1) * listed + at
                put(won, item(orbits.state, 4 * x) * rows, orbits.places, place, value)


@part
def _weigh(game, situation, block, seat, seats, row, found, base, given):
    """Find what the row of every cell wins, by memory, if staying wins nothing; and its chances."""
    for memory in range(game.memories):
        value = mix_memory(game, situation, memory, row, found, base)
        store(given, (memory * seats + seat) * game.width + block * CELLS, value)
    add_chances(game, situation, block, seat, seats, row, given)


@part
def _tell(game, total, first, last, seats, won, worth):
    """Keep what all memories are worth, for whoever comes there."""
    for seat in range(seats):
        for block in range(first, last):
            for memory in range(game.memories):
                at = (memory * seats + seat) * game.width + block * CELLS
                value = load(won, at, game.lane)
                publish(game, total, block, memory, seat, seats - 1 - seat, worth, value)


@part
def _average(game, total, block, situation, weights, known, found, averages):
    """Values of all rolls, weighted by the reach of each memory; returns this reach."""
    lane, num_actions = game.lane, game.num_actions
    none = splat(found, 0.0, lane)
    for x in range(0, num_actions * CELLS, CELLS):
        store(averages, x, none)
    at = total * game.memories * game.width + block * CELLS
    base = block * (game.lines + 1) * CELLS
    here = average_lines(game, situation, weights, at, 1.0, found, base, averages, none)
    orbits = game.orbits
    row, stays = row_at(game, total, block * CELLS), none
    for memory in range(game.memories):
        page = item(orbits.usual_page, memory) * game.known_page
        stays += load(weights, at + memory * game.width, lane) * load(known, page + row, lane)
    for roll in range(1, num_actions):
        share = item(orbits.usual_share, situation * num_actions + roll)
        value = load(averages, roll * CELLS, lane)
        store(averages, roll * CELLS, value + share * stays)
    for x in range(item(orbits.other_start, situation), item(orbits.other_start, situation + 1)):
        memory, roll = item(orbits.other, 2 * x), item(orbits.other, 2 * x + 1)
        way = (situation * game.memories + memory) * num_actions + roll
        page = item(orbits.page, way) * game.known_page
        usual = item(orbits.usual_page, memory) * game.known_page
        gain = item(orbits.share, way) * load(known, page + row, lane)
        share = item(orbits.usual_share, situation * num_actions + roll)
        gain = gain - share * load(known, usual + row, lane)
        value = load(averages, roll * CELLS, lane)
        value += load(weights, at + memory * game.width, lane) * gain
        store(averages, roll * CELLS, value)
    return here


@part
def _whose_turn(game, total, block, half):
    """1 at the cells of a block whose rows are changed now, 0 elsewhere."""
    turns = game.orbits.turn
    return load(turns, ((half * turns.shape[1]) + total) * game.width + block * CELLS, game.lane)


@part
def _free(game, total, block, moved, turn, arrived):
    """Reach of the cells of a block whose turn it is; 0 if a row that they feed has changed."""
    at, lane = total * game.width + block * CELLS, game.lane
    none, one = splat(moved, 0.0, lane), splat(moved, 1.0, lane)
    mirrored = picked(moved, 0, game.orbits.mirror, at, lane)
    free = one - load(game.orbits.joined, at, lane) * mirrored
    return where_at_least(none, turn * free, none, arrived)


@kernel
def backward(
    game,
    role,
    policies,
    weights,
    known,
    sums,
    worth,
    found,
    row,
    before,
    averages,
    given,
    slots,
    won,
    moved,
    counterfactual_values,
    kept,
    temperature,
    damping,
    rows,
    roots,
):
    """Backward induction, as :func:`hogeq.kernels.stay_values.backward`, but for FULL_MEMORY.

    ASCEND changes rows as :func:`hogeq.kernels.cycles.backward` does: of two cells that feed each
    other one only, and if that wins.

    Parameters
    ----------
    game, role, policies, weights, known, sums, worth, found, row, averages, \
    counterfactual_values, kept, temperature, damping, rows, roots
        As there.
    before : float64 (blocks * K * V,)
        Scratch.
    given : float64 ((H + X) * Q * width,)
        Scratch: what the cells of a diagonal win, by memory, if staying wins nothing, and chances.
    slots : float64 (slots * V,)
        Scratch.
    won : float64 (H * Q * width,)
        Scratch: what the cells of a diagonal win, by memory.
    moved : float64 (width,)
        Scratch: 1 where ASCEND changed a row of the diagonal.

    Returns
    -------
    float
        How many cells ASCEND changed.
    """
    seats = len(roots) // CELLS
    goal, num_actions, memories, lane = game.goal, game.num_actions, game.memories, game.lane
    size, played = (game.lines + 1) * CELLS, num_actions * CELLS
    pages = len(game.page_end)
    none, one = splat(found, 0.0, lane), splat(found, 1.0, lane)
    changes = 0.0
    for total in range(2 * goal - 2 + game.reach, -1, -1):
        rows_of(game, total, 1, rows)
        inside = total <= 2 * goal - 2
        first, last, situation = 0, 0, 0
        if inside:
            first, last, _ = blocks_of(game, total)
            situation = item(game.situation, total)
            # What a turn that stays wins is not known yet.
            for page in range(seats * pages):
                there = page * game.known_page + row_at(game, total, 0)
                for x in range(0, game.width, CELLS):
                    store(known, there + x, none)
            value_diagonal(game, total, seats, policies, known, sums, rows, found, row)
            for seat in range(seats):
                for block in range(first, last):
                    place = seat * game.blocks + block
                    here = row[place * played : (place + 1) * played]
                    _weigh(game, situation, block, seat, seats, here, found, place * size, given)
            for x in range(0, game.width, CELLS):
                store(moved, x, none)
        # Rows of one half change, which is checked if it has to win; then of the other.
        steps = 0
        if weights is not None and inside:
            steps = 4 if role == ASCEND else 2 if role == SOFTMAX else 0
        for step in range(steps + 1):
            half, checks = (step // 2, step % 2) if role == ASCEND else (step, 0)
            if inside:
                _solve(game, total, seats, given, slots, won)
                _tell(game, total, first, last, seats, won, worth)
            for seat in range(seats if step == steps else 1):
                land(game, total, seat, worth, known)
            if weights is not None:
                # At the end counterfactual values are all that is still asked for.
                stop = last if step < steps or role == COUNTERFACTUAL else first
                for block in range(first, stop):
                    turn = _whose_turn(game, total, block, half)
                    if role != COUNTERFACTUAL and lane_sum(turn) == 0.0:
                        continue
                    here = row[block * played : (block + 1) * played]
                    arrived = _average(
                        game, total, block, situation, weights, known, found, averages
                    )
                    if role == COUNTERFACTUAL:
                        give_rows(game, total, block, averages, counterfactual_values)
                        continue
                    at = total * game.width + block * CELLS
                    if checks > 0:
                        gain = none
                        for x in range(0, played, CELLS):
                            more = load(here, x, lane) - load(before, block * played + x, lane)
                            gain += more * load(averages, x, lane)
                        bad = where_at_least(none, gain, one, none)
                        bad = bad * load(moved, block * CELLS, lane) * turn
                        bad = bad * load(game.orbits.loops, at, lane)
                        for x in range(0, played, CELLS):
                            old = load(before, block * played + x, lane)
                            value = where_at_least(none, bad, load(here, x, lane), old)
                            store(here, x, value)
                        changes -= lane_sum(bad)
                        store(moved, block * CELLS, load(moved, block * CELLS, lane) - bad)
                    else:
                        arrived = _free(game, total, block, moved, turn, arrived)
                        if role == ASCEND:
                            for x in range(0, played, CELLS):
                                store(before, block * played + x, load(here, x, lane))
                            changed = take_best_rows(game, arrived, here, averages)
                            changes += lane_sum(changed)
                            now = load(moved, block * CELLS, lane) + changed
                            store(moved, block * CELLS, now)
                        else:
                            soften_rows(game, arrived, here, averages, temperature, damping)
                    give_rows(game, total, block, here, policies)
                    _weigh(game, situation, block, 0, seats, here, found, block * size, given)
        if inside:
            for seat in range(seats):
                for memory in range(memories if len(kept) > 0 else 0):
                    at = ((seat * (2 * goal - 1) + total) * memories + memory) * game.width
                    there = (memory * seats + seat) * game.width
                    for x in range(first * CELLS, last * CELLS, CELLS):
                        store(kept, at + x, load(won, there + x, lane))
                if total == 0:
                    value = load(won, (game.start * seats + seat) * game.width, lane)
                    store(roots, seat * CELLS, value)
        for seat in range(seats):
            begin_sums(game, total, seat, known, sums, rows)
    return changes
