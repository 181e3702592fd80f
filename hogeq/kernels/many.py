"""The pass backward of one player against many opponents at once, cell by cell.

A mixture of opponents is one of them, drawn before the game. Which one it is the player does not
learn, so a cell has one row, and the value of a roll there is the weighted sum of its values
against each. All opponents have come to a cell before the row is set; it then counts against all.
"""

import numpy as np

from hogeq.kernels.handover import average_rolls, collect, mix, publish
from hogeq.kernels.passes import fill_ends, soften, take_best
from hogeq.kernels.roles import ASCEND, COUNTERFACTUAL, EVALUATE, SOFTMAX
from hogeq.kernels.sums import kernel, place_of, value_rolls


@kernel
def _backward(
    tables,
    role,
    policy,
    opponents,
    weights,
    reach,
    values,
    buffer,
    counterfactual_values,
    infoset_reach,
    each,
    temperature,
    damping,
    slots,
    turned,
    masses,
    common,
    gains,
    places,
    roots,
):
    dimensions = tables.dimensions
    goal, num_actions, ring = dimensions.goal, dimensions.num_actions, dimensions.ring
    changes = 0
    count = len(opponents)
    for k in range(count):
        fill_ends(tables, values[k], buffer[k])
    order = tables.cell_order
    for turn in range(len(order) - 1, -1, -1):
        cell = order[turn]
        own, opponent = divmod(cell, goal)
        situation = tables.situation[own, opponent]
        row = policy[own, opponent]
        for player in range(2):
            place = place_of(tables, player, own, opponent)
            places[0] = place
            places[1] = place_of(tables, player, own + ring - 1, opponent)
            everything = player == 0 and role != EVALUATE
            for k in range(count):
                played = policy if player == 0 else opponents[k]
                known = values[k, player]
                value_rolls(tables, played, everything, known, buffer[k], place, own, opponent)
            if reach is not None and player == 0:
                found = counterfactual_values[own, opponent]
                found[:] = 0.0
                here = 0.0
                for k in range(count):
                    arrived = collect(tables, reach[k], 0, cell, masses, turned, common)
                    here += weights[k] * arrived
                    one = each[k, own, opponent]
                    average_rolls(tables, masses, buffer[k], places, situation, common, one)
                    for roll in range(num_actions):
                        found[roll] += weights[k] * one[roll]
                infoset_reach[own, opponent] = here
                if here > 0.0 and role == ASCEND:
                    changes += take_best(row, found, here)
                elif here > 0.0 and role == SOFTMAX:
                    soften(row, found, here, temperature, damping)
            for k in range(count):
                chosen = row if player == 0 else opponents[k, own, opponent]
                mix(tables, chosen, buffer[k], places, situation, gains, slots)
                publish(tables, slots, turned, values[k], player, cell)
                if cell == 0:
                    roots[player, k] = slots[tables.start]
    return changes


def backward(
    view,
    role,
    policy,
    opponents,
    weights,
    reach,
    values,
    buffer,
    counterfactual_values,
    infoset_reach,
    each,
    temperature,
    damping,
):
    """Backward induction over all cells of a game whose positions do not recur.

    Parameters
    ----------
    view : TablesView
    role : int
        EVALUATE, COUNTERFACTUAL, ASCEND or SOFTMAX.
    policy : float64 (G, G, K)
        ASCEND and SOFTMAX rewrite it.
    opponents : float64 (n, G, G, K)
    weights : float64 (n,)
        Of the opponents in the mixture.
    reach : float64 (n, 2, N)
        From :func:`hogeq.kernels.passes.forward`, against each; not read by EVALUATE.
    values : float64 (n, 2, N)
        Filled.
    buffer : float64 (n, 2 * G * ring * P * K * L)
        Scratch.
    counterfactual_values : float64 (G, G, K)
        Filled with the weighted sum of `each`; SOFTMAX leaves scratch.
    infoset_reach : float64 (G, G)
        Filled with the weighted sum of the reach of every cell.
    each : float64 (n, G, G, K)
        Filled with counterfactual values against each opponent.
    temperature, damping : float
        Of SOFTMAX.

    Returns
    -------
    tuple of (2, n), int
        Win probability of the player and of each opponent when that one moves first, and the number
        of cells that ASCEND changed.
    """
    tables = view.tables
    active = tables.dimensions.active_memories
    size = len(tables.lane)
    slots = np.zeros(max(active, size) * size, values.dtype)
    roots = np.zeros((2, len(opponents)))
    changes = _backward(
        view,
        role,
        policy,
        opponents,
        weights,
        reach if role in (COUNTERFACTUAL, ASCEND, SOFTMAX) else None,
        values,
        buffer,
        counterfactual_values,
        infoset_reach,
        each,
        temperature,
        damping,
        slots,
        np.zeros(size * size, values.dtype),
        np.zeros_like(slots),
        np.zeros(size, values.dtype),
        np.zeros(max(1, len(tables.alternative_far)) * size, values.dtype),
        np.zeros(2, np.int64),
        roots,
    )
    return roots, changes
