"""Sums over the dice: from afterstates to the rolls that lead to them, and back.

The value of a roll is a sum over its outcomes, up to ``5 n + 2`` of them for n six-sided dice.
Summed as they stand (*directly*) they cost 230 terms for all rolls of 0 to 10 dice. But n dice
are one die and n - 1 more, so with ``S(0, x)`` the value of an afterstate of score x,

    S(n, x) = 1/6 (S(n - 1, x + 2) + ... + S(n - 1, x + 6))

holds the value of n dice that show no 1, from every score x at once: 5 terms a roll, *by sums*.
It takes every outcome to leave the record of large sums; what differs for small ones, and pig out,
are few terms that correct it. Reach flows the other way through exactly the same numbers: one is
the adjoint of the other, and neither takes differences of running totals.
"""

from numba import njit

from hogeq.kernels.cache import cached
from hogeq.kernels.lanes import above_rounding, gather, item, lane_sum, load, prefetch, splat, store

# Parts are written into their callers, and each is compiled once, there. Kernels are what Python
# calls, and what is kept. They leave arrays' owners alone (_nrt), or else every look at an array
# would count references up and down, which took longer than the work; so they allocate nothing.
# Routines are called: numba takes longer than in proportion to a kernel's length, so what is long
# and called seldom stands by itself.
part = njit(error_model="numpy", inline="always")
routine = njit(error_model="numpy", _nrt=False)


def kernel(function):
    """Compile a function when it is first called, and keep it."""
    return cached(njit(error_model="numpy", nogil=True, _nrt=False)(function))


FEW = 2  # rolls in play up to which reach is carried roll by roll, not afterstate by afterstate


@part
def place_of(tables, player, own, opponent):
    """Position in the ring buffers of roll 0 on plane 0 from base ``(own, opponent)``."""
    dimensions = tables.dimensions
    goal, num_actions, ring = dimensions.goal, dimensions.num_actions, dimensions.ring
    row = (player * goal + opponent) * ring + own % ring
    return row * len(tables.plane_dice) * num_actions * len(tables.lane)


@part
def base_of(tables, end, own, opponent):
    """Position of the afterstate of no points with record 0."""
    strides = tables.strides
    return strides.origin + end * strides.ends + opponent * strides.columns + own * strides.scores


@part
def is_wanted(tables, policy, own, opponent, roll):
    """Whether the policy can use a roll at a base, with or without a bonus."""
    bonus = tables.dimensions.ring - 1
    if policy[own, opponent, roll] > 0.0:
        return True
    return bonus > 0 and own >= bonus and policy[own - bonus, opponent, roll] > 0.0


@part
def zero_row(tables, own):
    """Row of what no dice do."""
    return min(own, tables.zero_offset.shape[1] - 1)


@part
def expect_wins(tables, own, opponent):
    """Ask for the rolls that win at once from a base, some time before they are read."""
    goal, num_actions = tables.dimensions.goal, tables.dimensions.num_actions
    bases = tables.terminal_win.shape[1]
    at = ((tables.plane_dice[0] * bases + own) * goal + opponent) * num_actions
    prefetch(tables.terminal_win, at, tables.lane)


@part
def _outcomes(tables, dice, roll, own, opponent):
    """Range of the outcomes of a roll that stay on the board."""
    start = tables.outcome_start[dice, roll]
    gift = tables.gift[dice, roll]
    if gift > 0 and opponent + gift >= tables.dimensions.goal:
        start += 1
    return start, tables.outcome_stop[dice, roll, own]


@part
def _corrections(tables, dice, roll, own, opponent):
    """Range of the terms that are added to a roll's sum and stay on the board."""
    start = tables.term_start[dice, roll]
    gift = tables.gift[dice, roll]
    if gift > 0 and opponent + gift >= tables.dimensions.goal:
        start += 1
    return start, tables.term_stop[dice, roll, own]


@part
def _sums_of(tables, player, opponent, plane):
    """Position of a column's ring of sums."""
    goal, num_actions = tables.dimensions.goal, tables.dimensions.num_actions
    row = (player * goal + opponent) * len(tables.plane_dice) + plane
    return row * tables.sum_ring * num_actions * len(tables.lane)


@part
def _window(sums, column, spot, faces, ring, step, away, zero, lane):
    """Add the sums of the bases 2 to `faces` steps away, up (1) or down (-1), around the ring."""
    total = zero
    first, last = (spot + 2, spot + faces) if away > 0 else (spot - faces, spot - 2)
    low = max(first, 0)
    high = min(last, ring - 1)
    for there in range(low, high + 1):
        total += load(sums, column + there * step, lane)
    # What lies beyond the end of the ring, on either side.
    for there in range(max(first - ring, 0), last - ring + 1):
        total += load(sums, column + there * step, lane)
    for there in range(first + ring, min(last, -1) + ring + 1):
        total += load(sums, column + there * step, lane)
    return total


@part
def is_lean(tables, policy):
    """Whether a policy makes so few rolls that they cost less directly than by sums."""
    dimensions = tables.dimensions
    goal, num_actions, ring = dimensions.goal, dimensions.num_actions, dimensions.ring
    made = 0
    for own in range(goal):
        for opponent in range(goal):
            for roll in range(1, num_actions):
                made += policy[own, opponent, roll] > 0.0
    share = made * (1 if ring == 1 else 2) / (goal * goal * (num_actions - 1))
    return share * tables.direct_terms < tables.sum_terms + share * tables.corrections


# --- values ---------------------------------------------------------------------------------------


@part
def _value_of_none(tables, dice, values, base, win, own, opponent):
    value = splat(values, win, tables.lane)
    row = zero_row(tables, own)
    if own < tables.zero_stop[dice, row, opponent]:
        value += load(values, base + tables.zero_offset[dice, row, opponent], tables.lane)
    return value


@part
def value_rolls(tables, policy, everything, values, buffer, place, own, opponent):
    """Win probability of every roll from a base, by lane, into the buffer: directly."""
    num_actions = tables.dimensions.num_actions
    size = len(tables.lane)
    for plane in range(len(tables.plane_dice)):
        if tables.plane_needed[own, opponent, plane] == 0:
            continue
        dice = tables.plane_dice[plane]
        base = base_of(tables, tables.plane_again[plane], own, opponent)
        for roll in range(num_actions):
            if not everything and not is_wanted(tables, policy, own, opponent, roll):
                continue
            win = tables.terminal_win[dice, own, opponent, roll]
            if roll == 0:
                value = _value_of_none(tables, dice, values, base, win, own, opponent)
            else:
                start, stop = _outcomes(tables, dice, roll, own, opponent)
                value = gather(
                    splat(values, win, tables.lane),
                    values,
                    base,
                    tables.outcome_prob,
                    tables.outcome_offset,
                    start,
                    stop,
                )
            store(buffer, place + (plane * num_actions + roll) * size, value)


@part
def value_rolls_by_sums(
    tables, policy, everything, values, buffer, place, sums, player, own, opponent
):
    """Win probability of every roll from a base, by lane, into the buffer: by sums."""
    goal, num_actions = tables.dimensions.goal, tables.dimensions.num_actions
    size = len(tables.lane)
    ring = tables.sum_ring
    for plane in range(len(tables.plane_dice)):
        dice = tables.plane_dice[plane]
        base = base_of(tables, tables.plane_again[plane], own, opponent)
        column = _sums_of(tables, player, opponent, plane)
        here = column + own % ring * num_actions * size
        faces = min(tables.sides[dice], goal - 1 - own)
        share = 1.0 / tables.sides[dice]
        needed = tables.plane_needed[own, opponent, plane] != 0
        if needed and (everything or is_wanted(tables, policy, own, opponent, 0)):
            win = tables.terminal_win[dice, own, opponent, 0]
            value = _value_of_none(tables, dice, values, base, win, own, opponent)
            store(buffer, place + plane * num_actions * size, value)
        step = num_actions * size
        spot = own % ring
        if tables.sum_depth[dice] > 0 and own + 2 < goal:
            # The only afterstates of these that no base further on has asked for.
            many = load(values, base + tables.many_offset + 2 * tables.strides.scores, tables.lane)
            store(sums, column + (own + 2) % ring * step, many)
        zero = splat(values, 0.0, tables.lane)
        for roll in range(1, num_actions):
            total = zero
            if roll <= tables.sum_depth[dice]:
                level = column + (roll - 1) * size
                total = _window(sums, level, spot, faces, ring, step, 1, zero, tables.lane)
                total = share * total
                store(sums, here + roll * size, total)
                if tables.is_sum[dice, roll] == 0:
                    total = zero
            if needed and (everything or is_wanted(tables, policy, own, opponent, roll)):
                start, stop = _corrections(tables, dice, roll, own, opponent)
                value = gather(
                    tables.terminal_win[dice, own, opponent, roll] + total,
                    values,
                    base,
                    tables.term_prob,
                    tables.term_offset,
                    start,
                    stop,
                )
                store(buffer, place + (plane * num_actions + roll) * size, value)


# --- reach ----------------------------------------------------------------------------------------


@part
def _clear(tables, buffer, sources):
    num_actions = tables.dimensions.num_actions
    size = len(tables.lane)
    for roll in range(num_actions):
        store(buffer, sources + roll * size, splat(buffer, 0.0, tables.lane))


@part
def spread_rolls(tables, policy, reach, buffer, place, own, opponent):
    """Carry the reach of every roll from a base to its afterstates, directly; clear the buffer."""
    goal, num_actions = tables.dimensions.goal, tables.dimensions.num_actions
    size = len(tables.lane)
    for plane in range(len(tables.plane_dice)):
        if tables.plane_needed[own, opponent, plane] == 0:
            continue
        dice = tables.plane_dice[plane]
        base = base_of(tables, tables.plane_again[plane], own, opponent)
        sources = place + plane * num_actions * size
        alive = 0
        for roll in range(1, num_actions):
            if is_wanted(tables, policy, own, opponent, roll):
                flow = lane_sum(load(buffer, sources + roll * size, tables.lane))
                alive += 1 if flow > 0.0 else 0
        row = zero_row(tables, own)
        if own < tables.zero_stop[dice, row, opponent]:
            at = base + tables.zero_offset[dice, row, opponent]
            flow = load(buffer, sources, tables.lane)
            store(reach, at, load(reach, at, tables.lane) + flow)
        if alive > FEW:
            for target in range(tables.target_start[dice], tables.target_start[dice + 1]):
                if own + tables.target_points[target] >= goal:
                    break
                if opponent + tables.target_gift[target] < goal:
                    at = base + tables.target_offset[target]
                    total = gather(
                        load(reach, at, tables.lane),
                        buffer,
                        sources,
                        tables.source_prob,
                        tables.source_offset,
                        tables.source_start[target],
                        tables.source_start[target + 1],
                    )
                    store(reach, at, total)
        elif alive > 0:
            for roll in range(1, num_actions):
                if not is_wanted(tables, policy, own, opponent, roll):
                    continue
                flow = load(buffer, sources + roll * size, tables.lane)
                start, stop = _outcomes(tables, dice, roll, own, opponent)
                for i in range(start, stop):
                    at = base + item(tables.outcome_offset, i)
                    total = load(reach, at, tables.lane) + item(tables.outcome_prob, i) * flow
                    store(reach, at, total)
        _clear(tables, buffer, sources)


@part
def clear_ahead(tables, reach, own, opponent):
    """Set to 0 the afterstates to which a base is the first of its column that can lead."""
    strides, goal = tables.strides, tables.dimensions.goal
    for end in range(len(reach) // strides.ends):
        base = base_of(tables, end, own, opponent)
        for record in range(tables.dimensions.records):
            far = item(tables.record_reach, record)
            for points in range(far if own > 0 else 0, min(far, goal - 1 - own) + 1):
                at = base + points * strides.scores + record * strides.records
                store(reach, at, splat(reach, 0.0, tables.lane))


@part
def land_sums(tables, reach, sums, player, own, opponent):
    """Complete the reach of the afterstates to which sums lead, before a cell collects it."""
    num_actions = tables.dimensions.num_actions
    size = len(tables.lane)
    ring = tables.sum_ring
    step = num_actions * size
    spot = own % ring
    for end in range(len(reach) // tables.strides.ends):
        landed = splat(reach, 0.0, tables.lane)
        for plane in range(len(tables.plane_dice)):
            dice = tables.plane_dice[plane]
            if tables.plane_again[plane] != end or tables.sum_depth[dice] == 0:
                continue
            column = _sums_of(tables, player, opponent, plane)
            faces = min(tables.sides[dice], own)
            zero = splat(reach, 0.0, tables.lane)
            total = _window(sums, column + size, spot, faces, ring, step, -1, zero, tables.lane)
            landed += (1.0 / tables.sides[dice]) * total
        at = base_of(tables, end, own, opponent) + tables.many_offset
        # What corrections took away beforehand can leave nothing but rounding.
        left = above_rounding(landed + load(reach, at, tables.lane), landed)
        store(reach, at, left)


@part
def spread_rolls_by_sums(tables, policy, reach, buffer, place, sums, player, own, opponent):
    """Carry the reach of every roll from a base one die further; clear the buffer."""
    goal, num_actions = tables.dimensions.goal, tables.dimensions.num_actions
    size = len(tables.lane)
    ring = tables.sum_ring
    for plane in range(len(tables.plane_dice)):
        dice = tables.plane_dice[plane]
        base = base_of(tables, tables.plane_again[plane], own, opponent)
        sources = place + plane * num_actions * size
        column = _sums_of(tables, player, opponent, plane)
        step = num_actions * size
        spot = own % ring
        share = 1.0 / tables.sides[dice]
        faces = min(tables.sides[dice], own)
        for roll in range(tables.sum_depth[dice], 0, -1):
            total = splat(reach, 0.0, tables.lane)
            if roll < tables.sum_depth[dice]:
                level = column + (roll + 1) * size
                total = _window(sums, level, spot, faces, ring, step, -1, total, tables.lane)
                total = share * total
            if tables.is_sum[dice, roll] != 0:
                total += load(buffer, sources + roll * size, tables.lane)
            store(sums, column + spot * step + roll * size, total)
        if tables.plane_needed[own, opponent, plane] == 0:
            continue
        row = zero_row(tables, own)
        if own < tables.zero_stop[dice, row, opponent]:
            at = base + tables.zero_offset[dice, row, opponent]
            flow = load(buffer, sources, tables.lane)
            store(reach, at, load(reach, at, tables.lane) + flow)
        for target in range(tables.correction_start[dice], tables.correction_start[dice + 1]):
            if own + tables.correction_points[target] >= goal:
                break
            if opponent + tables.correction_gift[target] < goal:
                at = base + tables.correction_offset[target]
                total = gather(
                    load(reach, at, tables.lane),
                    buffer,
                    sources,
                    tables.correction_prob,
                    tables.correction_source,
                    tables.correction_first[target],
                    tables.correction_first[target + 1],
                )
                store(reach, at, total)
        _clear(tables, buffer, sources)
