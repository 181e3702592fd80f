"""The two passes of :mod:`hogeq.kernels.passes` over games with a plan.

Nothing is kept of values and reach but what the passes return: win probabilities, the averages of
values, and what of player 0's reach these are weighted by.
"""

from hogeq.kernels.gathers import (
    exponential,
    first_at_least,
    first_of,
    largest_of,
    load_few,
    store_few,
    where_at_least,
)
from hogeq.kernels.lanes import item, lane_sum, prefetch, splat, store, store_one
from hogeq.kernels.passes import LEAST_WEIGHT, TIE
from hogeq.kernels.plan import CHUNK, ENDED, KIND, NEEDED, NONE, OPPONENT, ORDER, OWN, STAYING, STEP
from hogeq.kernels.roles import ASCEND, EVALUATE, SOFTMAX
from hogeq.kernels.sums import kernel, part
from hogeq.kernels.unrolled import (
    average_rolls,
    end_here,
    mix_and_publish,
    sum_rolls,
    value_rolls,
    weigh_rolls,
)
from hogeq.kernels.unrolled_reach import carry_sums, clear_shared, pass_reach_on

# How many cells before its visit a cell's rows are asked for.
AHEAD = 4


@part
def known_of(places, turn, what):
    """Look up what is known of a cell beforehand (`hogeq.kernels.plan.Places.order`)."""
    return item(places.order, ORDER * turn + what)


@part
def cell_of(places, goal, turn):
    """Return the cell of a visit."""
    return known_of(places, turn, OWN) * goal + known_of(places, turn, OPPONENT)


@part
def clear(columns, first, last, vector):
    """Set whole vectors to 0, from one position to before another."""
    for at in range(first, last - len(vector) + 1, len(vector)):
        store(columns, at, splat(columns, 0.0, vector))


@part
def expect(tables, places, policies, which, turn):
    """Ask for how a policy plays a cell, some cells before it is visited."""
    goal, num_actions = tables.dimensions.goal, tables.dimensions.num_actions
    cell = cell_of(places, goal, turn)
    prefetch(policies, (which * goal * goal + cell) * num_actions, tables.lane)


@part
def expect_weights(tables, masses, turn):
    """Ask for the reach of a cell that weights its values."""
    numbers = masses.shape[-1]
    for x in range(0, numbers, len(tables.lane)):
        prefetch(masses, turn * numbers + x, tables.lane)


@part
def begin_values(tables, places, columns, column, opponent, lanes, vector):
    """Write what a column's first visit finds: no sums, and rolls that won past the goal.

    Of every lane, of so many numbers, one vector.
    """
    dimensions = tables.dimensions
    goal, num_actions, bases = dimensions.goal, dimensions.num_actions, dimensions.ring
    kinds = len(tables.plane_dice)
    nothing = splat(columns, 0.0, vector)
    store(columns, column + places.spare, nothing)
    for at in range(places.sums, places.given - lanes + 1, lanes):
        store(columns, column + at, nothing)
    for base in range(goal, goal + bases - 1):
        for kind in range(kinds):
            dice = tables.plane_dice[kind]
            first = (base % bases * kinds + kind) * num_actions
            for roll in range(num_actions):
                at = column + places.rolls + (first + roll) * lanes
                win = tables.terminal_win[dice, base, opponent, roll]
                store(columns, at, splat(columns, win, vector))


@part
def _take_best(tables, policies, counterfactual_values, at, here):
    """Change a row as :func:`hogeq.kernels.passes.take_best` does; 1 if it changed."""
    lane, num_actions = tables.lane, tables.dimensions.num_actions
    found = load_few(counterfactual_values, at, num_actions, -1.0, lane)
    enough = largest_of(found) - TIE * here
    one, less = splat(policies, 1.0, lane), splat(policies, -1.0, lane)
    played = load_few(policies, at, num_actions, 0.0, lane)
    if largest_of(where_at_least(played, one, found, less)) >= enough:
        return 0
    store_few(policies, at, num_actions, splat(policies, 0.0, lane))
    store_one(policies, at + first_at_least(found, enough), 1.0)
    return 1


@part
def _soften(tables, policies, counterfactual_values, at, here, temperature, damping):
    """Move a row as :func:`hogeq.kernels.passes.soften` does, all rolls at once."""
    lane, num_actions = tables.lane, tables.dimensions.num_actions
    found = load_few(counterfactual_values, at, num_actions, -1.0, lane)
    best = splat(policies, largest_of(found), lane)
    powers = exponential((1.0 / max(here * temperature, LEAST_WEIGHT)) * (found - best))
    powers = first_of(num_actions, powers, splat(policies, 0.0, lane))
    played = load_few(policies, at, num_actions, 0.0, lane)
    moved = damping * ((1.0 / lane_sum(powers)) * powers - played) + played
    store_few(policies, at, num_actions, moved)


@part
def move_row(tables, role, policies, counterfactual_values, at, here, temperature, damping):
    """Change a row that is reached as the role has it; 1 if ASCEND changed it."""
    changed = 0
    if role == ASCEND:
        changed = _take_best(tables, policies, counterfactual_values, at, here)
    elif role == SOFTMAX:
        _soften(tables, policies, counterfactual_values, at, here, temperature, damping)
    return changed


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
    counterfactual_values,
    infoset_reach,
    temperature,
    damping,
    roots,
):
    """Backward induction over all cells; any role but FULL_MEMORY, for player 0.

    Parameters
    ----------
    plan : Plan
    places : Places
    tables : Tables
    role, temperature, damping
        As of :func:`hogeq.kernels.passes.backward`.
    policies : float64 (Q, G, G, K)
        Of the players. ASCEND and SOFTMAX rewrite the first.
    masses : (G * G, D)
        From :func:`forward`; read by COUNTERFACTUAL, ASCEND and SOFTMAX only.
    columns : (Q, c)
        Scratch: one column of each player after the other.
    totals : (K * W,)
        Scratch.
    counterfactual_values : float64 (G, G, K)
        Filled.
    infoset_reach : float64 (G, G)
        From :func:`forward`.
    roots : float64 (Q,)
        Filled with the win probability of each player when moving first.

    Returns
    -------
    int
        How many cells ASCEND changed.
    """
    goal, num_actions = tables.dimensions.goal, tables.dimensions.num_actions
    players = len(roots)
    width = places.source.shape[1]
    changes = 0
    theirs = places.columns * places.column
    for player in range(players):
        # Gifts that reach the goal have won nothing.
        clear(columns, player * theirs + goal * places.column, (player + 1) * theirs, tables.lane)
    for turn in range(goal * goal - 1, -1, -1):
        own, opponent = known_of(places, turn, OWN), known_of(places, turn, OPPONENT)
        none, needed = known_of(places, turn, NONE), known_of(places, turn, NEEDED)
        thrown, staying = known_of(places, turn, KIND), known_of(places, turn, STAYING)
        ended = known_of(places, turn, ENDED)
        ahead = max(turn - AHEAD, 0)
        for which in range(players):
            expect(tables, places, policies, which, ahead)
        if role != EVALUATE:
            expect_weights(tables, masses, ahead)
            there = cell_of(places, goal, ahead) * num_actions
            prefetch(counterfactual_values, there, tables.lane)
        cell = own * goal + opponent
        first, last = item(tables.arrival_start, cell), item(tables.arrival_start, cell + 1)
        base = own * width
        for player in range(players):
            mine, other = player * theirs, (players - 1 - player) * theirs
            column = mine + opponent * places.column
            if own == goal - 1:
                size = len(tables.lane)
                begin_values(tables, places, columns, column, opponent, size, tables.lane)
            if ended > 0:
                at = own * places.landing.shape[1]
                end_here(plan, columns, column, places.landing, at, ended - 1.0)
            if item(places.source, base + STEP) == CHUNK - 1:
                sum_rolls(plan, columns, column, places.source, base)
            value_rolls(plan, columns, column, places.source, base, none, needed, places.wins, turn)
            if player == 0 and role != EVALUATE:
                at = turn * masses.shape[-1]
                weigh_rolls(
                    plan, columns, column, places.source, base, thrown, masses, at, totals, True
                )
                average_rolls(plan, totals, counterfactual_values[own, opponent])
                here = infoset_reach[own, opponent]
                at = cell * num_actions
                if here > 0.0:
                    changes += move_row(
                        tables,
                        role,
                        policies,
                        counterfactual_values,
                        at,
                        here,
                        temperature,
                        damping,
                    )
            root = mix_and_publish(
                plan,
                columns,
                column,
                places.source,
                base,
                thrown,
                policies,
                (player * goal * goal + cell) * num_actions,
                other,
                mine,
                places.landing,
                places.landed,
                first,
                staying,
                last,
            )
            if cell == 0:
                roots[player] = root
    return changes


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
    columns : (Q, c)
        Scratch: one column of each player after the other.
    masses : float64 (G * G, D)
        Filled with the reach of player 0 at every cell, in the order of visits: of all memories,
        and of the members of every alternative, by lane without the padding (`Constants.dense`).
    infoset_reach : float64 (G, G)
        Filled with the reach of every cell; this alone if `masses` is of shape (0, D).
    """
    goal, num_actions = tables.dimensions.goal, tables.dimensions.num_actions
    players = len(columns)
    width = places.source.shape[1]
    theirs = places.columns * places.column
    for player in range(players):
        for start in range(player * theirs, (player + 1) * theirs, places.column):
            clear(columns, start + places.given, start + places.column, tables.lane)
    for turn in range(goal * goal):
        own, opponent = known_of(places, turn, OWN), known_of(places, turn, OPPONENT)
        none, needed = known_of(places, turn, NONE), known_of(places, turn, NEEDED)
        thrown, staying = known_of(places, turn, KIND), known_of(places, turn, STAYING)
        ahead = min(turn + AHEAD, goal * goal - 1)
        for player in range(players):
            expect(tables, places, policies, player, ahead)
        if len(masses) > 0:
            expect_weights(tables, masses, ahead)
        cell = own * goal + opponent
        first, last = item(tables.arrival_start, cell), item(tables.arrival_start, cell + 1)
        begun = 1.0 / players if cell == 0 else 0.0
        base = own * width
        if own == 0:
            for player in range(players):
                column = player * theirs + opponent * places.column
                clear(columns, column, column + places.given, tables.lane)
        for player in range(players):
            mine, other = player * theirs, (players - 1 - player) * theirs
            column = mine + opponent * places.column
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
                thrown,
                needed,
                policies,
                row,
                other,
                mine,
                places.landing,
                places.landed,
                first,
                staying,
                last,
                begun,
                masses,
                turn if player == 0 and len(masses) > 0 else -1,
            )
            if item(places.source, base + STEP) == CHUNK - 1:
                carry_sums(plan, columns, column, places.source, base)
            if player == 0:
                infoset_reach[own, opponent] = here
