"""The passes of :mod:`hogeq.kernels.planned` where turns can stay and something is remembered.

A turn that scores nothing leaves both scores as they were, and the record of no points. So it leads
to the same cell or its mirror image, the players having changed, and if that player's turn stays as
well, both then remember no points. All that comes back is therefore two hidden states, of one
player and the other, the *core*, and all others that staying leads to lead into it:

    v(a) = r(a) + c(a) e    e = 1 - v'    v' = r' + c' e'    e' = 1 - v

where a turn of a player who remembers `a` wins `r(a)` if staying wins nothing, and stays with
probability `c(a)`, `v` and `v'` are the two states of the core, and `e` is what it wins to stay. A
cell and its mirror image are visited together, and their rolls valued as if staying won nothing.
Then the core is solved as in :mod:`hogeq.kernels.stays`, what staying wins is added, and the rest
is as without. Forward, what stays at first is found beforehand, and what comes back is collected
with all else that lands.
"""

from hogeq.kernels.lanes import dot, item, load, prefetch, splat, store, store_one
from hogeq.kernels.plan import CHUNK, NEAR, NONE, OPPONENT, OWN, STEP
from hogeq.kernels.planned import (
    AHEAD,
    begin_values,
    cell_of,
    clear,
    expect,
    expect_weights,
    known_of,
    move_row,
)
from hogeq.kernels.roles import ASCEND, EVALUATE, SOFTMAX
from hogeq.kernels.sums import kernel, part
from hogeq.kernels.unrolled import (
    average_rolls,
    mix_and_publish,
    sum_rolls,
    value_rolls,
    weigh_rolls,
)
from hogeq.kernels.unrolled_reach import carry_sums, clear_shared, pass_reach_on
from hogeq.kernels.unrolled_stays import (
    CHANCE,
    LEAVE,
    ROWS,
    WORTH,
    add_stays,
    first_stays,
    stay_chances,
    stay_worths,
)


@part
def _after(places, first, cell):
    """Which cell of a pair a turn that stays leads to: 0 or 1, from 0 or 1."""
    return cell ^ item(places.turns, first + cell)


@part
def _core(tables, player, cell):
    """Position of a player's core at a cell of the pair."""
    return (2 * player + cell) * ROWS * len(tables.lane)


@part
def _entry(tables, places, cores, core, row):
    """Read a number of a core, of the memory of a turn that stayed, in double precision."""
    return 1.0 * item(cores, core + row * len(tables.lane) + places.idle)


@part
def _leaving(tables, places, cores, one, other):
    """Probability that a player's turn of the core leaves, or the other's after that stayed."""
    leaves = _entry(tables, places, cores, one, LEAVE)
    # Who leaves is added up; 1 less both stay would be less exact.
    return leaves + _entry(tables, places, cores, one, CHANCE) * _entry(
        tables, places, cores, other, LEAVE
    )


@part
def _win_by_staying(tables, places, cores, won, more, player, rival, first, cell):
    """Find what it wins to stay, by lane, and add to `more` what that is above `won`."""
    lane = tables.lane
    size = len(lane)
    there = _after(places, first, cell)
    other = _core(tables, rival, there)
    back = _core(tables, player, _after(places, first, there))
    lost = _entry(tables, places, cores, back, LEAVE) - _entry(tables, places, cores, back, WORTH)
    again = _entry(tables, places, cores, other, WORTH)
    lost += _entry(tables, places, cores, back, CHANCE) * again
    stayed = lost / _leaving(tables, places, cores, back, other)
    worths = load(cores, other + WORTH * size, lane)
    found = 1.0 - (worths + stayed * load(cores, other + CHANCE * size, lane))
    at = (2 * player + cell) * size
    store(more, at, load(more, at, lane) + (found - load(won, at, lane)))
    store(won, at, found)


@part
def _solve(
    plan, places, tables, policies, columns, alone, cores, won, more, first, low, high, players
):
    """Find what it wins to stay at the cells of a component, of both players."""
    goal, num_actions = tables.dimensions.goal, tables.dimensions.num_actions
    for x in range(low, high):
        own = known_of(places, first + x, OWN)
        opponent = known_of(places, first + x, OPPONENT)
        for player in range(players):
            row = ((player * goal + own) * goal + opponent) * num_actions
            core = _core(tables, player, x)
            stay_chances(plan, policies, row, cores, core)
            stay_worths(
                plan,
                columns,
                (player * goal + opponent) * places.column,
                places.source,
                own * places.source.shape[1],
                policies,
                row,
                alone,
                (2 * player + x) * num_actions,
                cores,
                core,
            )
    for x in range(low, high):
        for player in range(players):
            rival = players - 1 - player
            _win_by_staying(tables, places, cores, won, more, player, rival, first, x)


@kernel
def backward(
    plan,
    places,
    tables,
    role,
    policies,
    masses,
    columns,
    totals,
    alone,
    cores,
    won,
    more,
    before,
    counterfactual_values,
    infoset_reach,
    temperature,
    damping,
    roots,
):
    """Backward induction, as :func:`hogeq.kernels.planned.backward`.

    ASCEND changes rows as :func:`hogeq.kernels.cycles.backward` does: of two cells that feed each
    other one only, and if that wins.

    Parameters
    ----------
    plan, places, tables, role, policies, masses, columns, totals, counterfactual_values, \
    infoset_reach, temperature, damping, roots
        As there.
    alone : (2 * Q * K,)
        Scratch, of the precision of columns, as `cores`, `won` and `more`: what the rolls of the
        core win if staying wins nothing, by player and cell of a pair.
    cores : (6 * Q * L,)
        Scratch.
    won, more : (2 * Q * L,)
        Scratch: what it wins to stay, by player, cell of a pair and lane, and what of it is not yet
        added to the rolls.
    before : float64 (K,)
        Scratch.

    Returns
    -------
    int
        How many cells ASCEND changed.
    """
    goal, num_actions = tables.dimensions.goal, tables.dimensions.num_actions
    players, size = len(roots), len(tables.lane)
    width = places.source.shape[1]
    nothing = splat(columns, 0.0, tables.lane)
    changes = 0
    first = goal * goal
    while first > 0:
        # A cell, and its mirror image, which comes right after it.
        cells = (
            1 if known_of(places, first - 1, OWN) == known_of(places, first - 1, OPPONENT) else 2
        )
        first -= cells
        for x in range(cells):
            ahead = max(first + x - AHEAD, 0)
            for which in range(players):
                expect(tables, places, policies, which, ahead)
            if role != EVALUATE:
                there = cell_of(places, goal, ahead)
                expect_weights(tables, masses, ahead)
                prefetch(counterfactual_values, there * num_actions, tables.lane)
            turn = first + x
            own, opponent = known_of(places, turn, OWN), known_of(places, turn, OPPONENT)
            none = known_of(places, turn, NONE)
            base = own * width
            for player in range(players):
                column = (player * goal + opponent) * places.column
                if own == goal - 1:
                    begin_values(tables, places, columns, column, opponent, size, tables.lane)
                if item(places.source, base + STEP) == CHUNK - 1:
                    sum_rolls(plan, columns, column, places.source, base)
                value_rolls(plan, columns, column, places.source, base, none, 1, places.wins, turn)
                at = column + item(places.source, base + NEAR) + places.idle
                for roll in range(num_actions):
                    there = (2 * player + x) * num_actions + roll
                    store_one(alone, there, item(columns, at + roll * size))
                store(won, (2 * player + x) * size, nothing)
                store(more, (2 * player + x) * size, nothing)

        # One component of both, or first the one to which the other leads.
        joint = cells == 2 and item(places.turns, first) + item(places.turns, first + 1) == 2
        swapped = item(places.turns, first)
        for part_of in range(1 if joint else cells):
            low = 0 if joint else part_of ^ swapped
            high = 2 if joint else low + 1
            steps = 2 * (high - low)
            loops = joint or _after(places, first, low) == low
            adapts = loops and role in (ASCEND, SOFTMAX)
            moved, checks, stale = False, False, True
            # A row is changed in one step, and that checked in the next; then all is published.
            for step in range(0 if adapts else steps, steps + high - low):
                proposes, final = step < steps and step % 2 == 0, step >= steps
                if not final and (moved if proposes else not checks):
                    continue
                if stale:
                    _solve(
                        plan,
                        places,
                        tables,
                        policies,
                        columns,
                        alone,
                        cores,
                        won,
                        more,
                        first,
                        low,
                        high,
                        players,
                    )
                    stale = False
                x = low + (step - steps if final else step // 2)
                turn = first + x
                own, opponent = known_of(places, turn, OWN), known_of(places, turn, OPPONENT)
                cell, base = own * goal + opponent, own * width
                for player in range(players if final else 1):
                    column = (player * goal + opponent) * places.column
                    at = (2 * player + x) * size
                    add_stays(plan, columns, column, places.source, base, more, at)
                    store(more, at, nothing)
                    if player == 0 and role != EVALUATE:
                        at = turn * masses.shape[-1]
                        weigh_rolls(
                            plan, columns, column, places.source, base, 0, masses, at, totals, True
                        )
                        found, row = (
                            counterfactual_values[own, opponent],
                            policies[0, own, opponent],
                        )
                        average_rolls(plan, totals, found)
                        here = infoset_reach[own, opponent]
                        if checks:
                            gain = 0.0
                            for roll in range(num_actions):
                                gain += (row[roll] - before[roll]) * found[roll]
                            if gain <= 0.0:
                                for roll in range(num_actions):
                                    row[roll] = before[roll]
                                changes -= 1
                                moved, stale = False, True
                            checks = False
                        elif here > 0.0 and (proposes or not loops):
                            for roll in range(num_actions):
                                before[roll] = row[roll]
                            changed = move_row(
                                tables,
                                role,
                                policies,
                                counterfactual_values,
                                cell * num_actions,
                                here,
                                temperature,
                                damping,
                            )
                            changes += changed
                            moved = loops and changed > 0
                            checks = moved
                            stale = moved or role == SOFTMAX
                    if final:
                        other = (players - 1 - player) * goal * places.column
                        root = mix_and_publish(
                            plan,
                            columns,
                            column,
                            places.source,
                            base,
                            0,
                            policies,
                            (player * goal * goal + cell) * num_actions,
                            other,
                            0,
                            places.landing,
                            places.landed,
                            item(tables.arrival_start, cell),
                            item(tables.arrival_start, cell + 1),
                            item(tables.arrival_start, cell + 1),
                        )
                        if cell == 0:
                            roots[player] = root
    return changes


@part
def _second_stays(tables, places, cores, player, rival, first, cell, cells):
    """Reach of what stays at a cell the turn after it stayed at first."""
    size, found = len(tables.lane), 0.0
    chances = load(cores, _core(tables, player, cell) + CHANCE * size, tables.lane)
    for x in range(cells):
        if _after(places, first, x) == cell:
            stays = load(cores, _core(tables, rival, x) + WORTH * size, tables.lane)
            found += dot(chances, stays)
    return found


@part
def _come_back(tables, places, cores, player, players, first, cell, cells):
    """Reach of what stays at a cell for at least the second turn in a row."""
    rival, there = players - 1 - player, _after(places, first, cell)
    if _after(places, first, there) != cell:
        return 0.0
    one, other = _core(tables, player, cell), _core(tables, rival, there)
    here = _second_stays(tables, places, cores, player, rival, first, cell, cells)
    before = _second_stays(tables, places, cores, rival, player, first, there, cells)
    here += _entry(tables, places, cores, one, CHANCE) * before
    return here / _leaving(tables, places, cores, one, other)


@kernel
def forward(plan, places, tables, policies, columns, cores, flows, masses, infoset_reach):
    """Count expected visits to all hidden states, as :func:`hogeq.kernels.planned.forward`.

    Parameters
    ----------
    plan, places, tables, columns, masses, infoset_reach
        As there.
    policies : float64 (Q, G, G, K)
        Rows summing to 1.
    cores : (6 * Q * L,)
        Scratch, of the precision of columns.
    flows : float64 (2 * Q * L,)
        Scratch: what stays, by player, cell of a pair and lane.
    """
    goal, num_actions = tables.dimensions.goal, tables.dimensions.num_actions
    players, size = len(columns), len(tables.lane)
    width = places.source.shape[1]
    turn = 0
    while turn < goal * goal:
        # A cell, and its mirror image, which comes right after it.
        first = turn
        cells = 1 if known_of(places, first, OWN) == known_of(places, first, OPPONENT) else 2
        turn += cells
        for x in range(cells):
            own = known_of(places, first + x, OWN)
            opponent = known_of(places, first + x, OPPONENT)
            cell, base = own * goal + opponent, own * width
            ahead = min(first + x + AHEAD, goal * goal - 1)
            for player in range(players):
                expect(tables, places, policies, player, ahead)
            if len(masses) > 0:
                expect_weights(tables, masses, ahead)
            for player in range(players if own == 0 else 0):
                column = (player * goal + opponent) * places.column
                clear(columns, column, column + places.given, tables.lane)
        for x in range(cells):
            own = known_of(places, first + x, OWN)
            opponent = known_of(places, first + x, OPPONENT)
            cell, base = own * goal + opponent, own * width
            for player in range(players):
                core = _core(tables, player, x)
                row = (player * goal * goal + cell) * num_actions
                stay_chances(plan, policies, row, cores, core)
                first_stays(
                    plan,
                    columns,
                    (player * goal + opponent) * places.column,
                    places.source,
                    base,
                    (players - 1 - player) * goal * places.column,
                    places.landing,
                    places.landed,
                    item(tables.arrival_start, cell),
                    item(tables.arrival_start, cell + 1),
                    1.0 / players if cell == 0 else 0.0,
                    cores,
                    core,
                    flows,
                    (2 * player + x) * size,
                )
                for lane in range(tables.dimensions.records):
                    cores[core + lane] += flows[(2 * player + x) * size + lane]
        for x in range(cells):
            own = known_of(places, first + x, OWN)
            opponent = known_of(places, first + x, OPPONENT)
            for player in range(players):
                at = (player * goal + opponent) * places.column
                at += item(places.landing, own * places.landing.shape[1] + places.idle)
                store(
                    columns, at, load(cores, _core(tables, player, x) + WORTH * size, tables.lane)
                )
                back = _come_back(tables, places, cores, player, players, first, x, cells)
                store_one(columns, at + places.idle, item(columns, at + places.idle) + back)
        for x in range(cells):
            own = known_of(places, first + x, OWN)
            opponent = known_of(places, first + x, OPPONENT)
            none = known_of(places, first + x, NONE)
            cell, base = own * goal + opponent, own * width
            for player in range(players):
                column = (player * goal + opponent) * places.column
                if own > 0:
                    clear_shared(plan, columns, column, places.source, base)
                here = pass_reach_on(
                    plan,
                    columns,
                    column,
                    places.source,
                    base,
                    none,
                    0,
                    1,
                    policies,
                    (player * goal * goal + cell) * num_actions,
                    (players - 1 - player) * goal * places.column,
                    0,
                    places.landing,
                    places.landed,
                    item(tables.arrival_start, cell),
                    item(tables.arrival_start, cell + 1),
                    item(tables.arrival_start, cell + 1),
                    1.0 / players if cell == 0 else 0.0,
                    masses,
                    first + x if player == 0 and len(masses) > 0 else -1,
                )
                if item(places.source, base + STEP) == CHUNK - 1:
                    carry_sums(plan, columns, column, places.source, base)
                if player == 0:
                    infoset_reach[own, opponent] = here
