"""The two passes of :mod:`hogeq.kernels.passes` for games with a plan; the same arguments."""

import numpy as np

from hogeq.kernels.dice import (
    base_of,
    core,
    kernel,
    part,
    place_of,
    spread_rolls_by_sums,
    value_rolls_by_sums,
    zero_stays,
)
from hogeq.kernels.lanes import load, splat, store
from hogeq.kernels.memory import collect, depart, mix
from hogeq.kernels.passes import (
    AHEAD,
    FOLLOW,
    GREEDY,
    MEASURE,
    SOFTEN,
    expect,
    expect_rolls,
    fill_ends,
    soften,
    take_best,
)
from hogeq.kernels.unrolled import (
    collect_and_average,
    collect_and_depart,
    land_all_sums,
    mix_and_publish,
    spread_all_rolls,
    value_all_rolls,
)


@part
def _value_rolls(tables, plan, values, buffer, place, sums, column, own, opponent):
    """Win probability of every roll from a base far enough from the goal."""
    size = len(tables.lane)
    dice = tables.plane_dice[0]
    base = base_of(tables, 0, own, opponent)
    wins = tables.terminal_win[dice, own, opponent]
    value = splat(values, wins[0], tables.lane)
    if zero_stays(tables, own, opponent):
        value += load(values, base + tables.zero_offset[opponent], tables.lane)
    store(buffer, place, value)
    ring = tables.sum_ring
    many = load(values, base + tables.many_offset + 2 * tables.strides.scores, tables.lane)
    store(sums, column + (own + 2) % ring * tables.sizes[1] * size, many)
    value_all_rolls(plan, values, base, buffer, place, sums, column, own % ring, wins)


@core
def _backward(
    plan,
    tables,
    role,
    policies,
    reach,
    values,
    buffer,
    sums,
    row_values,
    mass,
    temperature,
    damping,
    slots,
    gains,
    places,
    roots,
    most,
):
    goal, rolls, _, _, ring, _ = tables.sizes
    size = len(tables.lane)
    changes = 0
    sums[:] = 0.0
    fill_ends(tables, values, buffer)
    order = tables.cell_order
    for turn in range(len(order) - 1, -1, -1):
        cell = order[turn]
        own, opponent = divmod(cell, goal)
        if turn >= AHEAD:
            expect_rolls(tables, policies, values, order[turn - AHEAD])
            expect(tables, values, order[turn - AHEAD])
            if role != FOLLOW:
                expect(tables, reach, order[turn - AHEAD])
        for player in range(len(values)):
            policy, known = policies[player], values[player]
            row = policy[own, opponent]
            place = place_of(tables, player, own, opponent)
            places[0] = place
            places[1] = place_of(tables, player, own + ring - 1, opponent)
            if own + most < goal:
                column = (player * goal + opponent) * tables.sum_ring * rolls * size
                _value_rolls(tables, plan, known, buffer, place, sums, column, own, opponent)
            else:
                value_rolls_by_sums(
                    tables, policy, True, known, buffer, place, sums, player, own, opponent
                )
            if player == 0 and role != FOLLOW:
                found = row_values[own, opponent]
                here = collect_and_average(
                    plan,
                    reach[len(reach) - 1],
                    tables.arrival_base,
                    tables.arrival_start[cell],
                    tables.arrival_start[cell + 1],
                    1.0 / len(reach) if cell == 0 else 0.0,
                    buffer,
                    places[0],
                    places[1],
                    found,
                )
                mass[own, opponent] = here
                if here > 0.0 and role == GREEDY:
                    changes += take_best(row, found, here)
                elif here > 0.0 and role == SOFTEN:
                    soften(row, found, here, temperature, damping)
            first, last = tables.arrival_start[cell], tables.arrival_start[cell + 1]
            target = values[len(values) - 1 - player]
            mix_and_publish(
                plan,
                row,
                buffer,
                places[0],
                places[1],
                target,
                tables.arrival_base,
                first,
                last,
            )
            if cell == 0:
                mix(tables, row, buffer, places, 0, gains, slots)
                roots[player] = slots[tables.start]
    return roots[0], roots[len(values) - 1], changes


@kernel
def backward(
    plan,
    most,
    tables,
    role,
    policies,
    reach,
    values,
    buffer,
    sums,
    row_values,
    mass,
    temperature,
    damping,
):
    """As :func:`hogeq.kernels.passes.backward`, in any role but REMEMBER."""
    active = tables.sizes[3]
    size = len(tables.lane)
    slots = np.zeros(max(active, size) * size, values.dtype)
    gains = np.zeros(max(1, len(tables.alternative_far)) * size, values.dtype)
    places = np.zeros(2, np.int64)
    roots = np.zeros(2)
    return _backward(
        plan,
        tables,
        role,
        policies,
        reach,
        values,
        buffer,
        sums,
        row_values,
        mass,
        temperature,
        damping,
        slots,
        gains,
        places,
        roots,
        most,
    )


@core
def _forward(
    plan, most, tables, policies, reach, buffer, sums, mass, masses, turned, common, places
):
    goal, rolls, _, _, ring, _ = tables.sizes
    size = len(tables.lane)
    players = len(reach)
    length = tables.sum_ring * rolls * size
    strides = tables.strides
    reach[:] = 0.0
    sums[:] = 0.0
    order, runs = tables.cell_order, tables.run_start
    for run in range(len(runs) - 1):
        for turn in range(runs[run], runs[run + 1]):
            own, opponent = divmod(order[turn], goal)
            at = base_of(tables, 0, own, opponent) + tables.many_offset
            for player in range(players):
                column = (player * goal + opponent) * length
                land_all_sums(plan, reach[player], at, sums, column, own % tables.sum_ring)
        for turn in range(runs[run], runs[run + 1]):
            cell = order[turn]
            own, opponent = divmod(cell, goal)
            if turn + AHEAD < len(order):
                expect_rolls(tables, policies, reach, order[turn + AHEAD])
                expect(tables, reach, order[turn + AHEAD])
            first, last = tables.arrival_start[cell], tables.arrival_start[cell + 1]
            begun = 1.0 / players if cell == 0 else 0.0
            for player in range(players):
                policy, known = policies[player], reach[player]
                row = policy[own, opponent]
                place = place_of(tables, player, own, opponent)
                places[0] = place
                places[1] = place_of(tables, player, own + ring - 1, opponent)
                if own + most < goal:
                    here = collect_and_depart(
                        plan,
                        reach[players - 1 - player],
                        tables.arrival_base,
                        first,
                        last,
                        begun,
                        row,
                        buffer,
                        places[0],
                        places[1],
                    )
                    base = base_of(tables, 0, own, opponent)
                    if zero_stays(tables, own, opponent):
                        at = base + tables.zero_offset[opponent]
                        flow = load(buffer, place, tables.lane)
                        store(known, at, load(known, at, tables.lane) + flow)
                    column = (player * goal + opponent) * length
                    spread_all_rolls(
                        plan, known, base, buffer, place, sums, column, own % tables.sum_ring
                    )
                else:
                    here = collect(tables, reach, player, cell, masses, turned, common)
                    if here > 0.0:
                        depart(tables, row, masses, common, buffer, places, own, 0)
                    spread_rolls_by_sums(
                        tables, policy, known, buffer, place, sums, player, own, opponent
                    )
                if player == 0:
                    mass[own, opponent] = here


@kernel
def forward(plan, most, tables, policies, reach, buffer, sums, mass):
    """As :func:`hogeq.kernels.passes.forward`."""
    active = tables.sizes[3]
    size = len(tables.lane)
    masses = np.zeros(max(active, size) * size, reach.dtype)
    turned = np.zeros(size * size, reach.dtype)
    common = np.zeros(size, reach.dtype)
    places = np.zeros(2, np.int64)
    _forward(
        plan, most, tables, policies, reach, buffer, sums, mass, masses, turned, common, places
    )
