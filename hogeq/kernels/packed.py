"""The two passes of :mod:`hogeq.kernels.planned`, one vector of a lane after the other.

So they serve lanes too wide to be written out, and many opponents at once, in packs: one player
meets several, of whom one is drawn before the game. Its rows are common to all matches, and nothing
else is. Matches lie side by side (:mod:`hogeq.kernels.packing`).
"""

from hogeq.kernels.lanes import item, lane_sum, load, prefetch, prefetch_nearby, splat, store
from hogeq.kernels.packing import (
    bring_together,
    complete_sums,
    kept_in,
    mix_and_publish,
    pass_reach_on,
)
from hogeq.kernels.plan import CHUNK, ENDED, KIND, NEEDED, NONE, OPPONENT, OWN, STAYING, STEP
from hogeq.kernels.planned import begin_values, cell_of, clear, known_of, move_row
from hogeq.kernels.roles import EVALUATE
from hogeq.kernels.sums import kernel, part
from hogeq.kernels.unrolled import (
    average_rolls,
    end_here,
    sum_rolls,
    value_rolls,
    weigh_rolls,
)
from hogeq.kernels.unrolled_reach import carry_sums, clear_shared

# How many cells before its visit a cell's numbers are asked for.
AHEAD = 2


@part
def _expect(values, at, count, vector):
    """Ask for numbers that will be needed some cells later."""
    for x in range(at, at + count, len(vector)):
        prefetch_nearby(values, x, vector)


@part
def _play(rows, at, policy, cell, num_actions, match):
    """Have the player make its own rolls in all matches of a pack.

    Returns the row where it does: a single match reads it from the policy itself.
    """
    if len(match) == 1:
        return cell * num_actions
    for roll in range(num_actions):
        weight = item(policy, cell * num_actions + roll)
        store(rows, (at + roll) * len(match), splat(rows, weight, match))
    return at


@kernel
def backward(
    plan,
    places,
    tables,
    role,
    policy,
    rows,
    masses,
    shares,
    near,
    columns,
    totals,
    starts,
    counterfactual_values,
    infoset_reach,
    temperature,
    damping,
    wins,
    vector,
    match,
):
    """Backward induction over all cells; any role but FULL_MEMORY, for player 0.

    Only a single match has EVALUATE and COUNTERFACTUAL.

    Parameters
    ----------
    plan : Plan
        Of a pack of W matches (:func:`hogeq.kernels.planning.packed_plan`), or of one by vector.
    places : Places
    tables : Tables
    role, temperature, damping
        As of :func:`hogeq.kernels.passes.backward`.
    policy : float64 (Q, G, G, K)
        Of the player first; ASCEND and SOFTMAX rewrite it.
    rows : (n * G * G * K * W + K * W,) or float64 (Q, G, G, K)
        How often each opponent of a pack makes each roll, pack by pack; then scratch. Of a single
        match the policies themselves.
    masses : (n, 1, G * G, D) or (n, W, G * G, d)
        From :func:`forward`, of each pack; or of each match, from that of
        :mod:`hogeq.kernels.planned`, where the plan keeps them apart.
    shares : (n, W)
        How much each match counts, where they are apart.
    near : (D,)
        Scratch: zeros in padding.
    columns : (n, Q, c)
        Scratch: one column of each player after the other.
    totals : (K * L,)
        Scratch.
    starts : (n, Q, L)
        Filled, by lane and match, with what either player loses by moving first; of the memory
        before the first turn that is one lane.
    counterfactual_values : float64 (G, G, K)
        Filled with the sum of those against each opponent, as `masses` weigh them.
    infoset_reach : float64 (G, G)
        The sum of what :func:`forward` filled.
    wins : (G * G, K)
        As of the places.
    vector, match : tuple
        As long as a vector, and as the matches of a pack.

    Returns
    -------
    int
        How many cells ASCEND changed.
    """
    goal, num_actions = tables.dimensions.goal, tables.dimensions.num_actions
    packs, players, lanes = starts.shape
    piece = len(vector)
    pieces = lanes // piece
    width = places.source.shape[1]
    played = num_actions * len(match)
    theirs = goal * goal if len(match) == 1 else 0  # before the rows of opponents
    apart, cells, numbers = masses.shape[1:]
    changes = 0
    side = places.columns * places.column
    for player in range(packs * players):
        # Gifts that reach the goal have won nothing.
        begin = player * side
        clear(columns, begin + goal * places.column, begin + side, vector)
    for turn in range(goal * goal - 1, -1, -1):
        own, opponent = known_of(places, turn, OWN), known_of(places, turn, OPPONENT)
        none, needed = known_of(places, turn, NONE), known_of(places, turn, NEEDED)
        thrown, staying = known_of(places, turn, KIND), known_of(places, turn, STAYING)
        ended = known_of(places, turn, ENDED)
        ahead = max(turn - AHEAD, 0)
        there = cell_of(places, goal, ahead)
        _expect(policy, there * num_actions, num_actions, vector)
        if role != EVALUATE:
            prefetch(counterfactual_values, there * num_actions, vector)
        for pack in range(packs):
            if players > 1:
                _expect(rows, (theirs + pack * goal * goal + there) * played, played, vector)
            if role != EVALUATE:
                for x in range(pack * apart, (pack + 1) * apart):
                    _expect(masses, (x * cells + ahead) * numbers, numbers, vector)
        cell = own * goal + opponent
        first, last = item(tables.arrival_start, cell), item(tables.arrival_start, cell + 1)
        base = own * width
        for player in range(players):
            weighs = player == 0 and role != EVALUATE
            for pack in range(packs):
                kept = 0
                if weighs:
                    at = (pack * apart * cells + turn) * numbers
                    kept = bring_together(
                        plan, masses, at, cells * numbers, shares, pack * apart, near
                    )
                mine = (pack * players + player) * side
                other = (pack * players + players - 1 - player) * side
                begin = mine + opponent * places.column
                for x in range(pieces):
                    column = begin + x * piece
                    if own == goal - 1:
                        begin_values(tables, places, columns, column, opponent, lanes, vector)
                    if ended > 0:
                        at = own * places.landing.shape[1]
                        end_here(plan, columns, column, places.landing, at, ended - 1.0)
                    if item(places.source, base + STEP) == CHUNK - 1:
                        sum_rolls(plan, columns, column, places.source, base)
                    value_rolls(
                        plan, columns, column, places.source, base, none, needed, wins, turn
                    )
                    if weighs:
                        weigh_rolls(
                            plan,
                            columns,
                            column,
                            places.source,
                            base,
                            thrown,
                            kept_in(plan, masses, near),
                            kept + x * piece,
                            totals,
                            pack + x == 0,
                        )
                    else:
                        # What it has just valued is near.
                        mix_and_publish(
                            plan,
                            columns,
                            column,
                            places.source,
                            base,
                            thrown,
                            rows,
                            (player * theirs + pack * goal * goal + cell) * num_actions,
                            other,
                            mine,
                            places.landing,
                            places.landed,
                            first,
                            staying,
                            last,
                            x,
                            starts[pack, player],
                        )
            if not weighs:
                continue
            average_rolls(plan, totals, counterfactual_values[own, opponent])
            here = infoset_reach[own, opponent]
            at = cell * num_actions
            if here > 0.0:
                changes += move_row(
                    tables, role, policy, counterfactual_values, at, here, temperature, damping
                )
            scratch = packs * goal * goal * num_actions
            row = _play(rows, scratch, policy, cell, num_actions, match)
            for pack in range(packs):
                mine = pack * players * side
                begin = mine + opponent * places.column
                for x in range(pieces - 1, -1, -1):
                    mix_and_publish(
                        plan,
                        columns,
                        begin + x * piece,
                        places.source,
                        base,
                        thrown,
                        rows,
                        row,
                        mine + (players - 1) * side,
                        mine,
                        places.landing,
                        places.landed,
                        first,
                        staying,
                        last,
                        x,
                        starts[pack, 0],
                    )
    return changes


@kernel
def forward(
    plan,
    places,
    tables,
    policy,
    rows,
    begun,
    columns,
    masses,
    arrived,
    infoset_reach,
    pack,
    vector,
    match,
):
    """Reach probabilities of every hidden state in one pack of matches.

    Parameters
    ----------
    plan, places, tables, policy, rows, vector, match
        As of :func:`backward`.
    begun : (2, L)
        Of all reach, by lane and match, what begins with a player's first turn; then zeros.
    columns : (Q, c)
        Scratch: one column of each player after the other.
    masses : (G * G, D)
        Filled with the reach of the player at every cell, in the order of visits: of all memories,
        and of the members of every alternative, by lane and match; not if its shape is (0, D).
    arrived : (L,)
        Scratch.
    infoset_reach : float64 (G, G)
        The reach of every cell in all these matches is added.
    pack : int
        Whose `rows` the opponents follow.
    """
    goal, num_actions = tables.dimensions.goal, tables.dimensions.num_actions
    lanes = begun.shape[1]
    piece = len(vector)
    pieces = lanes // piece
    width = places.source.shape[1]
    played = num_actions * len(match)
    numbers = masses.shape[-1]
    theirs = goal * goal if len(match) == 1 else 0  # before the rows of opponents
    scratch = rows.size // len(match) - num_actions
    players = len(columns)
    nothing = splat(columns, 0.0, vector)
    side = places.columns * places.column
    for begin in range(0, players * side, places.column):
        clear(columns, begin + places.given, begin + places.column, vector)
    for turn in range(goal * goal):
        own, opponent = known_of(places, turn, OWN), known_of(places, turn, OPPONENT)
        none, needed = known_of(places, turn, NONE), known_of(places, turn, NEEDED)
        thrown, staying = known_of(places, turn, KIND), known_of(places, turn, STAYING)
        ahead = min(turn + AHEAD, goal * goal - 1)
        there = cell_of(places, goal, ahead)
        _expect(policy, there * num_actions, num_actions, vector)
        if players > 1:
            _expect(rows, (theirs + pack * goal * goal + there) * played, played, vector)
        if len(masses) > 0:
            _expect(masses, ahead * numbers, numbers, vector)
        cell = own * goal + opponent
        first, last = item(tables.arrival_start, cell), item(tables.arrival_start, cell + 1)
        base = own * width
        played_here = _play(rows, scratch, policy, cell, num_actions, match)
        if own == 0:
            for player in range(players):
                column = player * side + opponent * places.column
                clear(columns, column, column + places.given, vector)
        for player in range(players):
            mine, other = player * side, (players - 1 - player) * side
            begin = mine + opponent * places.column
            row = played_here
            if player == 1:
                row = (theirs + pack * goal * goal + cell) * num_actions
            for x in range(pieces):
                if own > 0:
                    clear_shared(plan, columns, begin + x * piece, places.source, base)
                complete_sums(
                    plan,
                    columns,
                    other + x * piece,
                    mine + x * piece,
                    places.landing,
                    places.landed,
                    first,
                    staying,
                    last,
                )
            for x in range(pieces):
                column = begin + x * piece
                pass_reach_on(
                    plan,
                    columns,
                    column,
                    places.source,
                    base,
                    none,
                    thrown,
                    needed,
                    rows,
                    row,
                    other,
                    mine,
                    places.landing,
                    places.landed,
                    first,
                    staying,
                    last,
                    x,
                    begun,
                    0 if turn == 0 else lanes,
                    masses,
                    turn if player == 0 and len(masses) > 0 else -1,
                    arrived,
                )
                if item(places.source, base + STEP) == CHUNK - 1:
                    carry_sums(plan, columns, column, places.source, base)
            if player == 0:
                here = nothing
                for x in range(pieces):
                    here += load(arrived, x * piece, vector)
                infoset_reach[own, opponent] += lane_sum(here)
