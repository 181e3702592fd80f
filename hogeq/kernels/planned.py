"""The two passes of :mod:`hogeq.kernels.passes` over games with a plan.

Nothing is kept of values and reach but what the passes return: win probabilities, the averages of
values, and what of player 0's reach these are weighted by.
"""

from hogeq.kernels.lanes import item, prefetch, splat, store
from hogeq.kernels.passes import soften, take_best
from hogeq.kernels.plan import CHUNK, STEP
from hogeq.kernels.roles import ASCEND, EVALUATE, SOFTMAX
from hogeq.kernels.sums import kernel, part
from hogeq.kernels.unrolled import (
    average_rolls,
    carry_sums,
    clear_shared,
    mix_and_publish,
    pass_reach_on,
    sum_rolls,
    value_rolls,
)

# How many cells before its visit a cell's rows are asked for.
AHEAD = 4


@part
def _expect(tables, places, policies, turn):
    """Ask for how a cell is played, some cells before it is visited."""
    goal, num_actions = tables.dimensions.goal, tables.dimensions.num_actions
    cell = item(places.order, 3 * turn) * goal + item(places.order, 3 * turn + 1)
    for player in range(len(policies)):
        prefetch(policies, (player * goal * goal + cell) * num_actions, tables.lane)


@part
def _expect_weights(tables, masses, turn):
    """Ask for the reach of a cell that weights its values."""
    numbers = masses.shape[1]
    for x in range(0, numbers, len(tables.lane)):
        prefetch(masses, turn * numbers + x, tables.lane)


@part
def _begin_values(tables, places, columns, column, opponent):
    """Write what a column's first visit finds: no sums, and rolls that won past the goal."""
    dimensions = tables.dimensions
    goal, num_actions, bases = dimensions.goal, dimensions.num_actions, dimensions.ring
    size = len(tables.lane)
    dice = tables.plane_dice[0]
    nothing = splat(columns, 0.0, tables.lane)
    store(columns, column + places.spare, nothing)
    for at in range(column + places.sums, column + places.column - size + 1, size):
        store(columns, at, nothing)
    for base in range(goal, goal + bases - 1):
        for roll in range(num_actions):
            at = column + places.rolls + (base % bases * num_actions + roll) * size
            win = tables.terminal_win[dice, base, opponent, roll]
            store(columns, at, splat(columns, win, tables.lane))


@kernel
def backward(
    plan,
    places,
    tables,
    role,
    policies,
    masses,
    columns,
    counterfactual_values,
    infoset_reach,
    temperature,
    damping,
):
    """Backward induction over all cells; any role but FULL_MEMORY, for player 0.

    Parameters
    ----------
    plan : Plan
    places : Places
    tables : Tables
    role, policies, counterfactual_values, temperature, damping
        As of :func:`hogeq.kernels.passes.backward`.
    masses, infoset_reach
        From :func:`forward`; read by COUNTERFACTUAL, ASCEND and SOFTMAX only.
    columns : float64 (Q, n)
        Scratch: one column of each player after the other.

    Returns
    -------
    tuple of float, float, int
        Win probability of player 0 and of the last player when each moves first, and the number
        of cells that ASCEND changed.
    """
    goal, num_actions = tables.dimensions.goal, tables.dimensions.num_actions
    players = len(columns)
    width = places.source.shape[1]
    changes = 0
    first_root = root = 0.0
    for turn in range(goal * goal - 1, -1, -1):
        own, opponent = item(places.order, 3 * turn), item(places.order, 3 * turn + 1)
        none = item(places.order, 3 * turn + 2)
        ahead = max(turn - AHEAD, 0)
        _expect(tables, places, policies, ahead)
        if role != EVALUATE:
            there = item(places.order, 3 * ahead) * goal + item(places.order, 3 * ahead + 1)
            _expect_weights(tables, masses, ahead)
            prefetch(counterfactual_values, there * num_actions, tables.lane)
        cell = own * goal + opponent
        first, last = item(tables.arrival_start, cell), item(tables.arrival_start, cell + 1)
        base = own * width
        for player in range(players):
            column = (player * goal + opponent) * places.column
            other = (players - 1 - player) * goal * places.column
            row = (player * goal * goal + cell) * num_actions
            if own == goal - 1:
                _begin_values(tables, places, columns, column, opponent)
            if item(places.source, base + STEP) == CHUNK - 1:
                sum_rolls(plan, columns, column, places.source, base)
            value_rolls(plan, columns, column, places.source, base, none, places.wins, turn)
            if player == 0 and role != EVALUATE:
                found = counterfactual_values[own, opponent]
                average_rolls(plan, columns, column, places.source, base, masses, turn, found)
                here = infoset_reach[own, opponent]
                played = policies[0, own, opponent]
                if here > 0.0 and role == ASCEND:
                    changes += take_best(played, found, here)
                elif here > 0.0 and role == SOFTMAX:
                    soften(played, found, here, temperature, damping)
            root = mix_and_publish(
                plan,
                columns,
                column,
                places.source,
                base,
                policies,
                row,
                other,
                places.landing,
                places.landed,
                first,
                last,
            )
            if player == 0:
                first_root = root
    return first_root, root, changes


@kernel
def forward(plan, places, tables, policies, columns, masses, infoset_reach):
    """Reach probabilities of every hidden state under both players' policies.

    Parameters
    ----------
    plan : Plan
    places : Places
    tables : Tables
    policies : float64 (Q, G, G, K)
        As of :func:`hogeq.kernels.passes.forward`.
    columns : float64 (Q, n)
        Scratch: one column of each player after the other.
    masses : float64 (G * G, D)
        Filled with the reach of player 0 at every cell, in the order of visits: of all memories,
        and of the members of every alternative, by lane without the padding (`Constants.dense`).
    infoset_reach : float64 (G, G)
        Filled with the reach of every cell; this alone if `masses` is of shape (0, D).
    """
    goal, num_actions = tables.dimensions.goal, tables.dimensions.num_actions
    players = len(columns)
    size = len(tables.lane)
    width = places.source.shape[1]
    nothing = splat(columns, 0.0, tables.lane)
    for turn in range(goal * goal):
        own, opponent = item(places.order, 3 * turn), item(places.order, 3 * turn + 1)
        none = item(places.order, 3 * turn + 2)
        ahead = min(turn + AHEAD, goal * goal - 1)
        _expect(tables, places, policies, ahead)
        if len(masses) > 0:
            _expect_weights(tables, masses, ahead)
        cell = own * goal + opponent
        first, last = item(tables.arrival_start, cell), item(tables.arrival_start, cell + 1)
        begun = 1.0 / players if cell == 0 else 0.0
        base = own * width
        if own == 0:
            for player in range(players):
                column = (player * goal + opponent) * places.column
                for at in range(column, column + places.column - size + 1, size):
                    store(columns, at, nothing)
        for player in range(players):
            column = (player * goal + opponent) * places.column
            other = (players - 1 - player) * goal * places.column
            row = (player * goal * goal + cell) * num_actions
            if own > 0:
                clear_shared(plan, columns, column, places.source, base)
            here = pass_reach_on(
                plan,
                columns,
                column,
                places.source,
                base,
                none,
                policies,
                row,
                other,
                places.landing,
                places.landed,
                first,
                last,
                begun,
                masses,
                turn if player == 0 and len(masses) > 0 else -1,
            )
            if item(places.source, base + STEP) == CHUNK - 1:
                carry_sums(plan, columns, column, places.source, base)
            if player == 0:
                infoset_reach[own, opponent] = here
